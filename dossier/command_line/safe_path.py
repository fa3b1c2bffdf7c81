"""Where code comes from: never the folder that one stands in, and never a release.

Python looks for modules in the current folder first when it runs `-m` or `-c`, and so do the workers and the trackers
that libraries start; a file `joblib.py` beside a release.toml would be run. What stands here runs before that is
mended, so it imports nothing that Python has not loaded by itself.
"""

import os
import sys

_OURS = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))  # noqa: PTH120
"""The folder that this package is in: of a checkout, it may be the one that one stands in."""
_SEARCHED = ("PYTHONPATH", "LD_LIBRARY_PATH", "PATH")
"""Where modules, libraries and programs are looked for; an empty entry, which is easily left, is the current folder."""
_STEERING = ("PYTHON", "MPLBACKEND", "JOBLIB_", "LOKY_", "SOURCE_DATE_EPOCH", "_DOSSIER_")
"""How variables begin that Python and packages read for themselves: none is to change a byte, and nonsense in one would
end a process of ours. PYTHONOPTIMIZE would take the docstrings, which are printed; numpy reads SOURCE_DATE_EPOCH."""
_KEPT = (*_SEARCHED, "PYTHONDONTWRITEBYTECODE")


def start_again() -> None:
    """Start this process anew on a safe path, unless it is on one; its number, arguments and files stay the same.

    Two things then hold for it and for every process that it starts: Python adds no folder by itself (`-P`, and
    PYTHONSAFEPATH for children that are not handed our flags), and nothing is looked for in the current folder, in one
    relative to it, or in that of a release or a table among the arguments.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:  # A file that we open would get its number, and be taken for standard output.
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
    environment = {name: value for name, value in os.environ.items() if name in _KEPT or not name.startswith(_STEERING)}
    environment["PYTHONSAFEPATH"] = "1"
    # The current folder, each folder that an argument names, and that of each file.
    paths = [path for word in sys.argv[1:] for path in (word, word.partition("=")[2])]
    files = [path for path in paths if os.path.isfile(path)]  # noqa: PTH113
    strange = [os.curdir, *paths, *(os.path.dirname(path) or os.curdir for path in files)]  # noqa: PTH120
    for name in _SEARCHED:
        entries = environment.pop(name, "").split(os.pathsep)
        kept = [entry for entry in entries if os.path.isabs(entry)]  # noqa: PTH117
        # The folder that holds this package stays, whatever it is called.
        if kept := [entry for entry in kept if _same(entry, _OURS) or not any(_same(entry, each) for each in strange)]:
            environment[name] = os.pathsep.join(kept)
    if not sys.flags.safe_path or environment != os.environ:
        os.execve(sys.executable, [sys.executable, "-P", *sys.orig_argv[1:]], environment)


def _same(first: str, other: str) -> bool:
    try:
        return os.path.samefile(first, other)  # noqa: PTH121
    except (OSError, ValueError):
        return False  # No such folder: no code comes from it.
