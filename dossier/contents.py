"""The book: its chapters in order, which edition holds which, and what would fill a chapter that stays away."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Edition = Literal["regulatory", "committee", "quick"]


@dataclass(frozen=True)
class Chapter:
    """A chapter: its word in file and template, its title, its part, and what to add to a release to fill it."""

    name: str
    title: str
    part: str
    fill: str = ""


CHAPTERS = (
    Chapter("results", "First results", "Results"),
    Chapter("acceptance", "Acceptance criteria", "Results", "Declare criteria in [[acceptance]]."),
    Chapter(
        "changes",
        "Changes since the previous release",
        "Results",
        "Name the results.json of the previous release as previous in [release].",
    ),
    Chapter("abstract", "Structured abstract", "Results"),
    Chapter("context", "Purpose and setting", "Data", "Write texts in [statements]."),
    Chapter("nomogram", "The model", "Data", "Give the formula of the model in [model]."),
    Chapter("description", "Data", "Data"),
    Chapter("discrimination", "Discrimination", "Performance"),
    Chapter("calibration", "Calibration", "Performance"),
    Chapter("utility", "Net benefit", "Performance", "Declare thresholds in [thresholds]."),
    Chapter("accuracy", "H-accuracy", "Performance", "Give an outcome with both classes at a site."),
    Chapter("severity", "Severity of errors", "Performance", "Give weights in [severity], and thresholds."),
    Chapter("advice", "Value of the advice", "Performance", "Give risks and an outcome at a site."),
    Chapter("comparison", "Comparison with the rival", "Performance", "Name a rival column in [prediction]."),
    Chapter("pooled", "All sites together", "Performance", "Add a second external dataset."),
    Chapter("subgroups", "Subgroups", "Performance", "Declare a [[subgroup]]."),
    Chapter(
        "correspondence",
        "Correspondence with the development data",
        "Performance",
        "Give predictors in a development dataset and in an external one.",
    ),
    Chapter(
        "robustness",
        "Robustness",
        "Performance",
        "Give predictors, and an internal dataset or a [[declared_performance]].",
    ),
    Chapter("sample", "Sample size", "Performance", "Give an outcome with both classes at a site."),
    Chapter("reliability", "Reliability of the labels", "Performance", "Name the readers' tables in [readers]."),
    Chapter(
        "human_factors",
        "Readers with and without the model",
        "Performance",
        "Give the decisions of a study, or their counts, in [reader_study].",
    ),
    Chapter("limitations", "Limitations", "Performance"),
    Chapter("model_card", "Model card", "Back matter"),
    Chapter("sign_off", "Signatures", "Back matter"),
    Chapter("caution", "Other measures, to be read with caution", "Back matter"),
    Chapter("checklist", "TRIPOD+AI checklist", "Back matter"),
    Chapter("probast", "Evidence for the risk of bias", "Back matter"),
    Chapter("methods", "Methods", "Back matter"),
    Chapter("glossary", "Glossary", "Back matter"),
    Chapter("references", "References", "Back matter"),
    Chapter("provenance", "Provenance", "Back matter"),
)

FILL_OF_CLASSES: Mapping[str, str] = {
    "accuracy": "Give rows of every class at a site.",
    "severity": "Give weights for every pair of classes in [severity].",
    "advice": "It is defined for a binary outcome.",
    "comparison": "Name rivals, one column a class, in [prediction].",
    "sample": "Give rows of every class at a site.",
    "reliability": "It is built for the labels of a binary outcome.",
}
"""What would fill a chapter that stays away when the outcome has several classes, where that is something else."""

EDITIONS: Mapping[Edition, tuple[str, ...]] = {
    "regulatory": tuple(chapter.name for chapter in CHAPTERS),
    "quick": ("results", "discrimination", "calibration", "utility", "limitations", "glossary", "provenance"),
    "committee": ("results", "glossary"),
}
"""Which chapters an edition holds, in the order of the book."""

MEASURED = frozenset(
    (
        "discrimination",
        "calibration",
        "utility",
        "accuracy",
        "severity",
        "advice",
        "comparison",
        "pooled",
        "correspondence",
        "robustness",
        "sample",
        "reliability",
        "human_factors",
    )
)
"""Chapters that stand on measures, and stay away when none of them could be estimated."""
