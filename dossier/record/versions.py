"""The programs that can change a byte of a dossier, with the versions that this machine has."""

from __future__ import annotations

import ctypes
import platform
import re
import zlib
from collections.abc import Callable, Mapping
from functools import cache
from importlib.metadata import version

NUMBERS = ("numpy", "scipy", "pyarrow", "matplotlib", "jinja2", "markdown-it-py", "weasyprint", "pydantic")
"""The packages whose version can change a number, and those that draw and set the pages; workers need the same."""
PAGES = ("pydyf", "fonttools", "pyphen", "tinycss2", "cssselect2", "tinyhtml5", "seaborn", "pandas")
"""The packages that WeasyPrint writes a page with, and those that draw distributions."""
PLAIN = r"[0-9][0-9A-Za-z.+!]{0,40}"
"""How a version is written; anything else is nothing to be given to a shell."""


@cache
def installed() -> Mapping[str, str]:
    """Every program by its name, with its version; a library of the system that is not there is left out.

    The system's libraries are asked themselves: what the package manager says of them may be of another copy.
    """
    return {
        "dossier": version("validation-dossier"),
        "python": platform.python_version(),
        **{package: version(package) for package in (*NUMBERS, *PAGES)},
        **{name: found for name, ask in LIBRARIES.items() if (found := _answer(ask)) is not None},
        "zlib": zlib.ZLIB_RUNTIME_VERSION,
    }


def install(others: Mapping[str, str]) -> str:
    """What to install where these versions are wanted, in words; they come from a file that anybody may have made."""
    plain = {name: text for name, text in others.items() if re.fullmatch(PLAIN, text)}
    of_python = [f"{name}=={text}" for name, text in plain.items() if name in (*NUMBERS, *PAGES)]
    elsewhere = [f"{name} {text}" for name, text in plain.items() if name in ("dossier", "python", "zlib", *LIBRARIES)]
    asked = [f"pip install {' '.join(of_python)}"] if of_python else []
    return "; ".join([*asked, *([f"beside pip {', '.join(elsewhere)}"] if elsewhere else [])])


def _answer(ask: Callable[[], str]) -> str | None:
    try:
        return ask()
    except (OSError, AttributeError):
        # Without it no page is set, and WeasyPrint says so; the numbers need none of it.
        return None


def _text_of(library: str, function: str) -> Callable[[], str]:
    """How to ask a library for its version where a function of it gives it as text."""

    def ask() -> str:
        found = getattr(ctypes.CDLL(library), function)
        found.restype = ctypes.c_char_p
        return bytes(found()).decode("ascii")

    return ask


def _fontconfig() -> str:
    number: int = ctypes.CDLL("libfontconfig.so.1").FcGetVersion()
    return f"{number // 10_000}.{number // 100 % 100}.{number % 100}"


def _freetype() -> str:
    library, handle = ctypes.CDLL("libfreetype.so.6"), ctypes.c_void_p()
    numbers = [ctypes.c_int() for _ in range(3)]
    if library.FT_Init_FreeType(ctypes.byref(handle)) != 0:
        raise OSError
    library.FT_Library_Version(handle, *(ctypes.byref(number) for number in numbers))
    library.FT_Done_FreeType(handle)
    return ".".join(str(number.value) for number in numbers)


LIBRARIES: Mapping[str, Callable[[], str]] = {
    "pango": _text_of("libpango-1.0.so.0", "pango_version_string"),
    "harfbuzz": _text_of("libharfbuzz.so.0", "hb_version_string"),
    "freetype": _freetype,
    "fontconfig": _fontconfig,
}
"""The libraries of the system that WeasyPrint loads, and how each is asked."""
