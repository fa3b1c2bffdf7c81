"""dossier: what a medical prediction model is worth in hospitals that did not make it.

    study = dossier.load("release.toml")
    evidence = dossier.evaluate(study)
    gallery = dossier.draw(evidence)
    document = dossier.compose(gallery, "regulatory")
    pdf = dossier.press(document)

Each verb is a module, named after what it does, and can be called. Every measure is a plain function on arrays in
`dossier.metrics`.
"""

# Nothing is imported here: `python -m dossier` comes by before modules of the current folder are shut out.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from dossier.contents import Edition

__all__ = ["compose", "draw", "evaluate", "load", "make", "press"]


def make(release: "str | Path", edition: "Edition" = "regulatory", allow_outside: bool = False) -> bytes:
    """The whole job: a release in, one edition as PDF out; `allow_outside` as in `load`."""
    from dossier import compose, draw, evaluate, load, press

    study = load.study(release, allow_outside)
    evidence = evaluate.evidence(study)
    gallery = draw.gallery(evidence)
    document = compose.document(gallery, edition)
    return press.pdf(document)


def __getattr__(name: str) -> "Any":
    """Import a stage when it is first named: nothing heavy is loaded before it is needed."""
    if name in __all__:
        import importlib

        return importlib.import_module(f"dossier.{name}")
    raise AttributeError(f"module 'dossier' has no attribute {name!r}")
