"""Chapters that stay away: told what would fill them, or why all that is given does not."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from dossier.core.facts import Fact
from dossier.core.release import Release
from dossier.core.types import Absent, Evidence, Result
from dossier.report.chapters.chapter import chapters
from dossier.report.unfilled import filled
from tests.conftest import by_hand, terms
from tests.figures.evidence import Case

FILL = {chapter.name: chapter.fill for chapter in chapters()}
TWO = dataclasses.replace(by_hand(Case("two", ("Italy 1", "Spain"))), terms=terms())


def fill(evidence: Evidence, chapter: str) -> str:
    """What the contents say of a chapter that stays away."""
    return filled(evidence, next(candidate for candidate in chapters() if candidate.name == chapter)).fill


def absent(term: str, reasons: Mapping[str, Fact]) -> Evidence:
    """Evidence in which a measure is absent from these sites for these reasons, and nothing else is known."""
    measure = TWO.terms[term].measure
    found = [Result(term, measure, site, {}, Absent(reason)) for site, reason in reasons.items()]
    return dataclasses.replace(TWO, results=tuple(found))


def with_rival(evidence: Evidence) -> Evidence:
    """The evidence of a release that names a rival."""
    release: Release = evidence.release
    prediction = release.prediction.model_copy(update={"rival": "old"})
    return dataclasses.replace(evidence, release=release.model_copy(update={"prediction": prediction}))


def test_what_a_release_does_not_give_is_asked_for() -> None:
    evidence = absent("auroc_difference", {"site-0": Fact("has_no", dataset="site-0", what="risk of a rival")})
    assert fill(evidence, "comparison") == FILL["comparison"]
    assert fill(TWO, "nomogram") == FILL["nomogram"]


def test_what_is_given_is_not_asked_for_again() -> None:
    reasons = {
        "site-0": Fact("rival_incomplete", dataset="site-0"),
        "site-1": Fact("has_no", dataset="site-1", what="risk of a rival"),
    }
    assert fill(with_rival(absent("auroc_difference", reasons)), "comparison") == (
        "The other model has no risk in some rows of Italy 1. Spain has no risk of a rival."
    )


def test_a_reason_of_several_sites_is_said_once() -> None:
    reasons = {site: Fact("measure_without_weights", dataset=site) for site in ("site-0", "site-1")}
    assert fill(absent("h_accuracy", reasons), "accuracy") == (
        "The rows of Italy 1 (and one more) have sampling weights, which this measure does not honour."
    )
    assert fill(absent("h_accuracy", {}), "accuracy") == FILL["accuracy"]


def test_a_site_with_one_class_does_not_give_both() -> None:
    evidence = absent("h_accuracy", {"site-0": Fact("no_row_has_outcome")})
    alike = tuple(dataclasses.replace(site, events=0) for site in evidence.datasets)
    assert fill(dataclasses.replace(evidence, datasets=alike), "accuracy") == FILL["accuracy"]


def test_the_name_of_a_site_within_a_word_is_no_name() -> None:
    named_so = tuple(
        dataclasses.replace(site, name=name, site=name.capitalize())
        for site, name in zip(TWO.datasets, ("clu", "big"), strict=True)
    )
    reasons = {name: Fact("clustered_rows", dataset=name) for name in ("clu", "big")}
    evidence = dataclasses.replace(absent("h_accuracy", reasons), datasets=named_so)
    assert fill(evidence, "accuracy") == (
        "The rows of Clu (and one more) are clustered, and this needs independent rows."
    )
