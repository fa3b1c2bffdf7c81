"""The book: its chapters in order, which edition holds which, and what would fill a chapter that stays away."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Edition = Literal["regulatory", "committee", "quick"]


Part = Literal["Core", "Annex"]


@dataclass(frozen=True)
class Chapter:
    """A chapter: its word in file and template, its title, its part, and what to add to a release to fill it."""

    name: str
    title: str
    part: Part
    fill: str = ""


CHAPTERS = (
    Chapter("results", "Key results", "Core"),
    Chapter("acceptance", "Acceptance criteria", "Core", "Declare criteria in [[acceptance]]."),
    Chapter(
        "changes",
        "Changes since the previous release",
        "Core",
        "Name the results.json of the previous release as previous in [release].",
    ),
    Chapter("abstract", "Structured abstract", "Core"),
    Chapter("context", "Intended use and setting", "Core", "Write texts in [statements]."),
    Chapter("description", "Data", "Core"),
    Chapter("discrimination", "Performance at each site", "Core"),
    Chapter("calibration", "Calibration", "Core"),
    Chapter("utility", "Net benefit", "Core", "Declare thresholds in [thresholds]."),
    Chapter("pooled", "Pooled performance and heterogeneity", "Core", "Add a second external dataset."),
    Chapter("comparison", "Comparison with another model", "Core", "Name other models in [[rival]]."),
    Chapter("subgroups", "Subgroups", "Core", "Declare a [[subgroup]]."),
    Chapter(
        "correspondence",
        "Similarity to the development data",
        "Core",
        "Give predictors in a development dataset and in an external one.",
    ),
    Chapter("sample", "Sample size", "Core", "Give an outcome with both classes at a site."),
    Chapter("reliability", "Reliability of the labels", "Core", "Name the readers' tables in [readers]."),
    Chapter(
        "human_factors",
        "Readers with and without the model",
        "Core",
        "Give the decisions of a study, or their counts, in [reader_study].",
    ),
    Chapter("limitations", "Limitations", "Core"),
    Chapter("sign_off", "Sign-off", "Core"),
    Chapter("checklist", "TRIPOD+AI checklist", "Annex"),
    Chapter("probast", "Evidence for the risk of bias", "Annex"),
    Chapter("supporting", "Supporting measures", "Annex"),
    Chapter("accuracy", "H-accuracy", "Annex", "Give an outcome with both classes at a site."),
    Chapter("severity", "Severity of errors", "Annex", "Give weights in [severity], and thresholds."),
    Chapter("advice", "Value of the advice", "Annex", "Give risks and an outcome at a site."),
    Chapter(
        "robustness",
        "Potential robustness",
        "Annex",
        "Give predictors, and an internal dataset or a [[declared_performance]].",
    ),
    Chapter("caution", "Other measures, to be read with caution", "Annex"),
    Chapter("nomogram", "The model", "Annex", "Give the formula of the model in [model]."),
    Chapter("methods", "Methods and glossary", "Annex"),
    Chapter("glossary", "Glossary", "Annex"),
    Chapter("model_card", "Model card", "Annex"),
    Chapter("references", "References", "Annex"),
    Chapter("provenance", "Provenance", "Annex"),
)

FILL_OF_CLASSES: Mapping[str, str] = {
    "accuracy": "Give rows of every class at a site.",
    "severity": "Give weights for every pair of classes in [severity].",
    "advice": "It is defined for a binary outcome.",
    "comparison": "Name other models, one column a class, in [[rival]].",
    "sample": "Give rows of every class at a site.",
    "reliability": "It is built for the labels of a binary outcome.",
}
"""What would fill a chapter that stays away when the outcome has several classes, where that is something else."""

EDITIONS: Mapping[Edition, tuple[str, ...]] = {
    # What a measure means stands with its formula in the methods.
    "regulatory": tuple(chapter.name for chapter in CHAPTERS if chapter.name != "glossary"),
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

LEAVABLE = frozenset(
    (
        *("correspondence", "sample", "reliability", "human_factors", "probast", "supporting", "accuracy", "severity"),
        *("advice", "robustness", "caution", "nomogram", "model_card"),
    )
)
"""Chapters that an owner may leave out; without the others nobody could judge the model, or check the dossier."""

ONLY_IN_FILES = frozenset(
    (
        *("calibration_intercept_joint", "e50", "e90", "emax", "eci", "scaled_brier", "nagelkerke_r2", "tjur_r2"),
        *("spiegelhalter_z", "likelihood_ratio_positive", "likelihood_ratio_negative", "log_score_difference"),
        *("accuracy_difference", "majority_class_test", "mann_whitney_u", "brier_permutation_test"),
        *("log_score_permutation_test", "cost_weighted_accuracy", "h_accuracy_risk"),
    )
)
"""Measures that stand in results.csv and results.json, and on no page: another one of their chapter says it better."""
