"""What numbers are computed from: a study without what is only printed beside them."""

from __future__ import annotations

from dataclasses import replace

from dossier.core.register import terms_of
from dossier.core.release import About, Release
from dossier.core.types import Evidence, Study
from dossier.record import versions

PRINTED_TABLES = ("reply", "intended_use", "care", "model_card", "signatory", "revision", "statements")
"""The tables of release.toml that no number depends on."""
COMPUTED_WITH = ("level", "seed")
"""The keys of [release] that numbers depend on; the others are printed."""
ORIGIN_OF_WEIGHTS = ("source", "rationale", "set_by", "declared_on")
"""The keys of [severity] that are printed."""
NAMELESS = "-"
"""In place of a name that is only printed."""


def of(study: Study) -> Study:
    """The study as measures see it: texts, names and dates that are only printed are gone, and cannot be read.

    Two studies that differ in such a text alone are equal then, and have the same numbers.
    """
    return replace(
        study,
        release=_computed_with(study.release),
        inputs=(),
        flags=(),
        statements={},
        previous=None,
        tables=(),
        seal=None,
    )


def with_printed(computed: Evidence, study: Study) -> Evidence:
    """What was computed from a study, with all that is printed beside it taken from the study."""
    return replace(
        computed,
        release=_with_every_setting(study.release),
        terms=terms_of(study.release),
        statements=study.statements,
        inputs=study.inputs,
        versions=versions.installed(),
        has_release_file=study.declared,
    )


def _computed_with(release: Release) -> Release:
    about = {name: getattr(release.release, name) for name in COMPUTED_WITH}
    severity, minimum = release.severity, release.h_accuracy.acceptable
    empty = {name: Release.model_fields[name].get_default(call_default_factory=True) for name in PRINTED_TABLES}
    criteria = [
        criterion.model_copy(update={"declared_on": None, "reason": None, "caution_reason": None})
        for criterion in release.acceptance
    ]
    return release.model_copy(
        update={
            **empty,
            "release": About(model=NAMELESS, version=NAMELESS, owner=NAMELESS, **about),
            "outcome": release.outcome.model_copy(update={"name": NAMELESS, "horizon": None}),
            "thresholds": release.thresholds.model_copy(update={"rationale": None}),
            "acceptance": tuple(criteria),
            "h_accuracy": release.h_accuracy
            if minimum is None
            else release.h_accuracy.model_copy(update={"acceptable": minimum.model_copy(update={"source": NAMELESS})}),
            "severity": None if severity is None else severity.model_copy(update=dict.fromkeys(ORIGIN_OF_WEIGHTS)),
        }
    )


def _with_every_setting(release: Release) -> Release:
    """The release as results.json holds it: its first table with what it leaves out said too."""
    about = release.release
    whole = type(about).model_validate(about.model_dump())
    return release.model_copy(update={"release": whole})
