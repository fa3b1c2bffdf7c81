"""The command `dossier`, and `python -m dossier`."""

from collections.abc import Callable


def main() -> None:
    """Run the command line; first of all, modules of the current folder are shut out."""
    from dossier.command_line import safe_path

    safe_path.start_again()
    import atexit
    import ctypes.util
    import gc
    import os
    import sys
    import threading

    from dossier.core.unneeded import Unneeded

    sys.meta_path.insert(0, Unneeded())
    ctypes.util.find_library = _found(ctypes.util.find_library)  # type: ignore[assignment]
    # What one command makes is few cycles and all in use: the memory goes with the process.
    gc.disable()
    from dossier.command_line import cli

    try:
        cli.main()
    except SystemExit as ended:
        # Python would give back all that is held, value by value: half a second for what goes with the process.
        try:
            threading._shutdown()  # type: ignore[attr-defined]  # ends the workers
            atexit._run_exitfuncs()
        finally:
            os._exit(ended.code)  # type: ignore[arg-type]


def _found(searched: Callable[[str], str | None]) -> Callable[[str], str | None]:
    """How WeasyPrint finds its libraries: it asks for each by the names of other systems first, and for each of those
    Python starts a compiler and a linker, fifty programs in all. Where Linux finds them by the name that is asked for
    last, nothing is searched for.
    """
    import ctypes

    def found(name: str) -> str | None:
        try:
            ctypes.CDLL("libpangoft2-1.0.so.0")
        except OSError:
            return searched(name)
        return None

    return found


if __name__ == "__main__":
    main()
