"""Numbers: one file a chapter, numpy and scipy only; every measure is a function, checked when it is called from here.

    dossier.metrics.auroc([0, 1, 0, 1], [0.2, 0.7, 0.6, 0.9])

Columns may be lists, arrays of numpy or Arrow, or Series of pandas, whose index counts for nothing. What no measure can
be taken of raises a ValueError that names the column; what the numbers do not allow comes back as `Absent` with its
reason. The functions of the chapters' own modules take arrays of numpy, and check nothing.
"""

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any


def __getattr__(name: str) -> Callable[..., Any]:
    """A measure by its name, with its columns checked."""
    # Its own modules ask for each other while they are imported, when not every measure is known.
    if not name.startswith("_") and find_spec(f"{__name__}.{name}") is None:
        from dossier.core.register import measures
        from dossier.metrics.checked import checked

        if name in measures():
            return checked(name)
    raise AttributeError(f"module 'dossier.metrics' has no attribute {name!r}")


def __dir__() -> list[str]:
    from dossier.core.register import measures

    return sorted(measures())
