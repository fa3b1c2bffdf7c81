"""The book: the order of its chapters. Each one knows itself, in the file of its word in `report/chapters/`."""

from __future__ import annotations

from typing import Literal

Edition = Literal["regulatory", "supplement", "committee", "quick", "html"]

ON_SCREEN: tuple[Edition, ...] = ("committee", "regulatory", "supplement")
"""What the one file for the screen holds, in its order."""

SUBMITTED: tuple[Edition, ...] = ("regulatory", "supplement")
"""The core and its supplement, two files of one submission: a chapter stands in one, or in both by its parts."""

ON_PAPER: tuple[Edition, ...] = (*SUBMITTED, "committee")
"""The editions of a release that have pages."""

ORDER = (
    *(
        "results",
        "context",
        "description",
        "acceptance",
        "changes",
        "discrimination",
        "calibration",
        "utility",
        "pooled",
    ),
    *("comparison", "subgroups", "monitoring", "updating", "correspondence", "sample", "reliability", "human_factors"),
    *("limitations", "sign_off"),
    # What is wholly in the supplement.
    *("abstract", "statements", "supporting", "accuracy", "severity", "advice", "robustness", "caution", "further"),
    *("nomogram", "model_card", "checklist", "probast", "methods", "glossary", "references", "provenance"),
)
"""The chapters of the book, in the order of its pages."""

LEAVABLE = (
    *("correspondence", "sample", "reliability", "human_factors", "probast", "supporting", "accuracy", "severity"),
    *("advice", "robustness", "caution", "further", "nomogram", "model_card"),
)
"""Those that the owner may leave out; without the others nobody could judge the model, or check the dossier."""


def file_of(edition: Edition) -> str:
    """The name of the file that holds an edition."""
    return "dossier.html" if edition == "html" else f"dossier-{edition}.pdf"
