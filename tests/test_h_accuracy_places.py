"""At which settings H-accuracy is computed: every priority and tau, and the named instances of a complexity."""

from __future__ import annotations

from typing import Any

import pytest

from dossier.core.register import fill
from dossier.core.release import Release
from dossier.core.types import Absent
from dossier.evaluate.offered import complexity_sources, places, settings
from tests import test_flags as flags


def release(**declared: Any) -> Release:
    return flags.release(h_accuracy=declared)


def computed(found: Release) -> list[tuple[Any, Any, Any]]:
    term = fill("metrics").metrics["h_accuracy"].term
    return [(at["priority"], at["tau"], at["complexity"]) for at in places(found, term)]


def test_without_sources_every_priority_meets_every_tau() -> None:
    found = computed(release(priority=(0.25,), priority_from=(), tau=(0.75,)))
    assert found == [(p, t, "constant") for p in (0.25, 0.5) for t in (0.5, 0.75)]


def test_a_complexity_adds_the_practical_and_the_composite_instances_alone() -> None:
    found = computed(
        release(
            priority=(),
            priority_from=("survey",),
            survey={"0": 0.3, "1": 0.5},
            tau=(),
            tau_from=("raters",),
            complexity={"from": "raters"},
            cut=(0.33,),
        )
    )
    graded = [row for row in found if row[2] != "constant"]
    forms = ("raters", "raters_two_levels", "raters_above_mean", "raters_top_33%")
    assert graded == [
        *((0.5, 0.5, form) for form in forms),
        *(("survey", tau, form) for tau in ("right_80", "right_50") for form in forms),
    ]
    assert len(found) == len(set(found))
    assert sum(row[2] == "constant" for row in found) == 2 * 6


def test_composites_stand_at_every_declared_confidence_and_at_two_of_the_raters() -> None:
    """methods.md: tau, p and d together, at every declared tau and at right_80 and right_50."""
    found = computed(
        release(
            priority_from=("prevalence", "raters"), tau=(0.6, 1.0), tau_from=("raters",), complexity={"from": "raters"}
        )
    )
    composites = {(p, t) for p, t, form in found if form == "raters" and (p, t) != (0.5, 0.5)}
    taus = (0.6, 1.0, "right_80", "right_50")
    assert composites == {(source, tau) for source in ("prevalence", "raters") for tau in taus}


@pytest.mark.parametrize(
    ("declared", "first"),
    [
        ({"complexity": "hardness", "cut": (0.5,)}, "hardness"),
        ({"complexity": {"from": "rater_errors", "weighted": True, "cut": (0.5,)}}, "rater_errors_weighted"),
    ],
)
def test_the_source_names_every_form(declared: dict[str, Any], first: str) -> None:
    forms = complexity_sources(release(**declared))
    assert forms == (first, f"{first}_two_levels", f"{first}_above_mean", f"{first}_top_50%")


def test_the_survey_is_offered_with_its_intervals_or_its_absence() -> None:
    survey = {"1": {"value": 0.5, "low": 0.4, "high": 0.6}, "0": 0.3}
    assert settings(release(survey=survey))["survey"] == (("0", 0.3, None, None), ("1", 0.5, 0.4, 0.6))
    assert isinstance(settings(release())["survey"], Absent)
    assert isinstance(settings(release())["complexity_source"], Absent)


def of_classes(**declared: Any) -> Release:
    two = release(**declared)
    classes = two.outcome.model_copy(update={"classes": ("a", "b", "c")})
    return two.model_copy(update={"outcome": classes})


def test_several_classes_are_offered_a_bare_majority_where_no_confidence_is_declared() -> None:
    """methods.md: tau .51 for several classes; who declares other confidences gets those alone."""
    term = fill("metrics").metrics["h_accuracy"].term
    assert {at["tau"] for at in places(of_classes(), term)} == {1 / 3, 0.51, 0.6, 0.75, 1.0}
    assert {at["tau"] for at in places(of_classes(tau=(0.75,)), term)} == {1 / 3, 0.75}
    assert {at["tau"] for at in places(release(), term)} == {0.5, 0.6, 0.75, 1.0}
