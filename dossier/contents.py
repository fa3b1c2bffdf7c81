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
    Chapter("caution", "Other measures, to be read with caution", "Back matter"),
    Chapter("glossary", "Glossary", "Back matter"),
    Chapter("references", "References", "Back matter"),
    Chapter("provenance", "Provenance", "Back matter"),
)

EDITIONS: Mapping[Edition, tuple[str, ...]] = {
    "regulatory": tuple(chapter.name for chapter in CHAPTERS),
    "quick": ("results", "discrimination", "calibration", "utility", "glossary", "provenance"),
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

TOPICS: Mapping[str, str] = {
    "1": "Title",
    "3a": "Background",
    "3b": "Intended use",
    "3c": "Known inequalities",
    "4": "Objectives",
    "5a": "Sources of data",
    "6a": "Settings",
    "6b": "Eligibility",
    "6c": "Treatments",
    "7": "Preparation of the data",
    "8a": "Outcome",
    "8b": "Assessors of the outcome",
    "8c": "Blinding of the assessors",
    "9b": "Predictors",
    "9c": "Assessors of the predictors",
    "10": "Size of the study",
    "11": "Missing data",
    "12e": "Measures",
    "12g": "How the risks were computed",
    "14": "Fairness",
    "15": "Output of the model",
    "16": "Differences from development",
    "17": "Ethics",
    "18a": "Funding",
    "18b": "Interests",
    "18c": "Protocol",
    "18d": "Registration",
    "18e": "Sharing of data",
    "18f": "Sharing of code",
    "19": "Patients and the public",
    "25": "Interpretation",
    "26": "Limitations",
    "27a": "Bad or missing inputs",
    "27b": "Skills of the user",
    "27c": "Next steps",
}
"""What an item of TRIPOD+AI is about: the heading of its declared text."""

PRINTED_ELSEWHERE = ("7", "11", "10", "25", "26", "27a", "27b", "27c")
"""Items whose texts stand in the chapters on data, sample size and limitations."""

CONTEXT = tuple(item for item in TOPICS if item not in PRINTED_ELSEWHERE)
"""Items whose texts make the chapter on purpose and setting."""
