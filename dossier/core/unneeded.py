"""Packages that other packages import with themselves, and no command needs: found by nobody, they cost no time."""

from __future__ import annotations

import sys
from importlib.abc import MetaPathFinder

ALONG_WITH_SEABORN = ("scipy.stats", "scipy.cluster")
"""What seaborn has a stand-in for, or does without: a third of a second for kernel densities and trees nobody draws."""


class Unneeded(MetaPathFinder):
    """Finds everything but pandas, which Arrow imports with its first array, and what seaborn imports along.

    seaborn, which draws some figures of the supplement, gets pandas, and the library, which writes frames, all of it.
    """

    def find_spec(self, fullname: str, path: object, target: object = None) -> None:
        """Refuse what is not needed, and leave every other module to the finders that follow."""
        if "dossier.api" in sys.modules:
            return
        seaborn = sys.modules.get("seaborn")
        # The last that it says of itself.
        is_loading = seaborn is not None and not hasattr(seaborn, "__version__")
        if (fullname == "pandas" and seaborn is None) or (fullname in ALONG_WITH_SEABORN and is_loading):
            raise ModuleNotFoundError(f"No module named '{fullname}'", name=fullname)
