"""dossier: what a medical prediction model is worth in hospitals that did not make it.

    v = dossier.validate(frame, outcome="died", risk="risk", site="hospital", thresholds=[0.2])
    v.to_frame()
    v.plot("calibration")
    v.save("out")

A release on disk comes by `dossier.load("release.toml").validate()`, what a build has written by
`dossier.read_results("out/results.json")`; every measure is a function in `dossier.metrics`.
"""

# Nothing is imported here: `python -m dossier` comes by before modules of the current folder are shut out.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from dossier import metrics
    from dossier.api import Validation, load, read_results, validate

    __version__: str

__all__ = ["Validation", "__version__", "load", "metrics", "read_results", "validate"]


def __getattr__(name: str) -> "Any":
    """Import what is named when it is first named: nothing heavy is loaded before it is needed."""
    import importlib

    if name == "__version__":
        from importlib.metadata import version

        return version("validation-dossier")
    if name in ("Validation", "load", "read_results", "validate"):
        return getattr(importlib.import_module("dossier.api"), name)
    if name == "metrics":
        return importlib.import_module("dossier.metrics")
    raise AttributeError(f"module 'dossier' has no attribute {name!r}")


def __dir__() -> "list[str]":
    return sorted(__all__)
