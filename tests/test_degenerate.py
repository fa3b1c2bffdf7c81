"""Inputs at the edge, given to every measure, curve and synthesis of the register: a finite number or a sentence."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dossier import evaluate, reading
from dossier.core.register import CurveMaker, Metric, fill
from dossier.core.types import Absent, Curve, DecisionCounts, Estimate, Feature, ReaderStudy, find
from dossier.evaluate.offered import ask
from dossier.record import results
from dossier.typeset.methods import method_text
from dossier.typeset.reasons import reason_text
from tests.reasons import Said
from tests.smallest import HEAD, release_in
from tests.test_laws import METRICS, numbers, offered, one_rater, table

CURVES = list(fill("metrics").curves.values())
MAKERS: list[Metric | CurveMaker] = [*METRICS, *CURVES]
Site = dict[str, Any]
Corruption = Callable[[Site], Site]


def asked(maker: Metric | CurveMaker, site: Mapping[str, Any]) -> Any:
    """The answer, with every warning taken for a fault."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return ask(maker, offered(site), "a site")


def is_said(found: Any) -> bool:
    """Whether an answer is a finite number, a finite curve or a reason that reads as a sentence without its stop."""
    if isinstance(found, Absent):
        return (
            bool(reason_text(found.reason).strip())
            and reason_text(found.reason)[-1] not in ".:,;"
            and "nan" not in reason_text(found.reason).split()
        )
    if isinstance(found, Curve):
        every = [each for column in found.columns.values() for each in column if each is not None]
        return len({len(column) for column in found.columns.values()}) == 1 and all(map(math.isfinite, every))
    assert isinstance(found, Estimate)
    bounded = found.low is None or found.high is None or found.low <= found.value <= found.high
    return bounded and all(map(math.isfinite, numbers(found))) and method_text(found.method) != ""


# ---- what can go wrong with a site ----------------------------------------------------------------------------------


def with_outcome(value: float) -> Corruption:
    def corruption(site: Site) -> Site:
        flat = np.full_like(site["outcome"], value)
        return {**site, "outcome": flat, "truth": flat}

    return corruption


def one_of(value: float) -> Corruption:
    """One case among others, or one other among cases."""

    def corruption(site: Site) -> Site:
        outcome = np.full_like(site["outcome"], 1 - value)
        outcome[:1] = value
        return {**site, "outcome": outcome, "truth": outcome}

    return corruption


def with_risk(value: float) -> Corruption:
    return lambda site: {**site, "risk": np.full_like(site["risk"], value), "rival": np.full_like(site["rival"], value)}


def without_rows(_: Site) -> Site:
    return table(0)


def certain(site: Site) -> Site:
    return {**site, "risk": np.round(site["risk"]), "rival": 1 - np.round(site["risk"])}


def perfect(site: Site) -> Site:
    return {**site, "risk": site["outcome"].copy()}


def opposite(site: Site) -> Site:
    return {**site, "risk": 1 - site["outcome"]}


def separated(site: Site) -> Site:
    return {**site, "risk": np.where(site["outcome"] == 1, 0.31, 0.3)}


def right_by_far(site: Site) -> Site:
    return {**site, "risk": np.where(site["outcome"] == 1, 0.9, 0.1)}


def rival_is_the_model(site: Site) -> Site:
    return {**site, "rival": site["risk"].copy()}


def development_is_external(site: Site) -> Site:
    return {**site, "development": site["predictors"]}


def all_agree(site: Site) -> Site:
    return {**site, "labels": np.repeat(site["outcome"][:, None], 4, axis=1)}


def one_label(site: Site) -> Site:
    return {**site, "labels": np.zeros_like(site["labels"])}


def unrated(site: Site) -> Site:
    return {**site, "labels": np.full_like(site["labels"], math.nan)}


def without_confidence(site: Site) -> Site:
    return {**site, "confidence": np.zeros_like(site["confidence"])}


def without_complexity(site: Site) -> Site:
    return {**site, "rater_complexity": np.zeros_like(site["rater_complexity"])}


def without_relevance(site: Site) -> Site:
    return {**site, "case_relevance": np.zeros_like(site["case_relevance"])}


def sure_raters(site: Site) -> Site:
    return {**site, "confidence": np.ones_like(site["confidence"]), "rater_accuracy": (1.0, 1.0, 0.0, 0.5)}


def flat(features: tuple[Feature, ...], value: float) -> tuple[Feature, ...]:
    return tuple(Feature(feature.name, np.full_like(feature.values, value), feature.levels) for feature in features)


def constant_predictors(site: Site) -> Site:
    return {**site, "predictors": flat(site["predictors"], 0.0), "development": flat(site["development"], 0.0)}


def missing_predictors(site: Site) -> Site:
    return {**site, "predictors": flat(site["predictors"], math.nan)}


def missing_everywhere(site: Site) -> Site:
    empty = missing_predictors(site)
    return {**empty, "development": flat(site["development"], math.nan)}


def one_development_row(site: Site) -> Site:
    return {**site, "development": tuple(Feature(x.name, x.values[:1], x.levels) for x in site["development"])}


def no_study(site: Site) -> Site:
    return {**site, "study": ReaderStudy("parallel", DecisionCounts(0, 0, 0, 0))}


def no_errors(site: Site) -> Site:
    return {**site, "study": ReaderStudy("paired", DecisionCounts(0, 9, 0, 9))}


def only_aided(site: Site) -> Site:
    return {**site, "study": ReaderStudy("parallel", DecisionCounts(3, 9, 0, 0))}


def splits(site: Site) -> Site:
    return {**site, "split": np.arange(len(site["outcome"])) % 3}


def splits_of_one_class(site: Site) -> Site:
    return {**site, "split": site["outcome"].astype(np.int64)}


CORRUPTED: dict[str, Corruption] = {
    "nothing else": dict,
    "no rows": without_rows,
    "risk exactly 0 or 1": certain,
    "no ratings": unrated,
    "no confidence": without_confidence,
    "prevalence 0": with_outcome(0.0),
    "prevalence 1": with_outcome(1.0),
    "one event": one_of(1.0),
    "one non-event": one_of(0.0),
    "risk all 0": with_risk(0.0),
    "risk all 1": with_risk(1.0),
    "risk all at the threshold": with_risk(0.3),
    "risk all one half": with_risk(0.5),
    "perfect risk": perfect,
    "opposite risk": opposite,
    "barely separated": separated,
    "right by far": right_by_far,
    "rival equal to the model": rival_is_the_model,
    "development equal to external": development_is_external,
    "constant predictors": constant_predictors,
    "predictors missing": missing_predictors,
    "predictors missing on both sides": missing_everywhere,
    "one development row": one_development_row,
    "one rater": one_rater,
    "raters who all agree": all_agree,
    "one label": one_label,
    "zero complexity": without_complexity,
    "zero relevance": without_relevance,
    "sure raters, one always wrong": sure_raters,
    "no decisions": no_study,
    "no wrong decisions": no_errors,
    "decisions with the model only": only_aided,
    "three splits": splits,
    "splits of one class": splits_of_one_class,
}
SIZES = (1, 2, 3, 24)


@pytest.mark.parametrize("name", CORRUPTED)
def test_every_corrupted_site_is_answered(name: str) -> None:
    for rows in SIZES:
        site = CORRUPTED[name](table(rows))
        for maker in MAKERS:
            found = asked(maker, site)
            assert is_said(found), (maker.function.__name__, rows, found)


def test_an_error_of_rounding_gives_no_interval() -> None:
    """Each risk is .1 off: the squares are alike, and what their sums differ by is rounding."""
    found = asked(fill("metrics").metrics["brier"], right_by_far(table(24)))
    assert isinstance(found, Estimate)
    reason = Said("the rows do not vary enough to estimate an interval")
    assert (found.low, found.high, found.reason) == (None, None, reason)


@pytest.mark.parametrize("first", ["prevalence 1", "one event"])
@pytest.mark.parametrize("other", ["risk all 0", "risk all 1", "perfect risk", "one rater"])
def test_two_faults_at_once(first: str, other: str) -> None:
    for maker in MAKERS:
        for rows in (1, 2, 9):
            found = asked(maker, CORRUPTED[other](CORRUPTED[first](table(rows))))
            assert is_said(found), (maker.function.__name__, rows, found)


# ---- settings at the edge -------------------------------------------------------------------------------------------

EDGES: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(("threshold", "primary_threshold", "coherence"), (0.0, 1.0)),
    "tau": (0.5, 1.0),
    **dict.fromkeys(("gamma", "desired_accuracy"), (0.0, 0.5, 1.0)),
    "priority": (0.0, 1.0, "prevalence"),
    "relevance": ("constant", "raters", "column"),
    "complexity": ("constant", "raters"),
    "fpr": ("0-0", "0-1", "1-1", "0.5-0.5"),
    "calibration": ("ece", "eci"),
    "severity_weights": (((0.0, 0.0), (0.0, 0.0)), ((0.0, 1.0), (1.0, 0.0))),
    "level": (0.5, 0.999),
    "bootstrap": (1, 2),
    "permutations": (1,),
    "threshold_range": ((0.0, 0.0), (0.0, 1.0), (0.3, 0.3)),
    "declared_thresholds": ((), (0.0, 1.0)),
}
SOURCES_OF_TAU = (0.0, 1.0, "confidence", "persuasion", "automation_bias", "cost_benefit")
"""In the chapter on utility tau is the threshold of each case."""


@pytest.mark.parametrize("maker", MAKERS, ids=lambda maker: maker.function.__name__)
def test_settings_at_their_ends_are_answered(maker: Metric | CurveMaker) -> None:
    edges = {**EDGES, "tau": SOURCES_OF_TAU} if maker.function.__module__.endswith(".utility") else EDGES
    for name in (need for need in maker.needs if need in edges):
        for value, rows in itertools.product(edges[name], (1, 2, 24)):
            found = asked(maker, {**table(rows), name: value})
            assert is_said(found), (name, value, rows, found)


def test_zero_complexity_and_tau_of_1_at_once() -> None:
    (metric,) = (each for each in METRICS if each.term.name == "weighted_utility")
    for tau, gamma, relevance in itertools.product((0.0, 1.0), (0.0, 1.0), ("constant", "column", "raters")):
        site = without_relevance(without_complexity(table(24)))
        found = asked(metric, {**site, "tau": tau, "gamma": gamma, "relevance": relevance})
        assert is_said(found), (tau, gamma, relevance, found)


# ---- a whole release of such sites ----------------------------------------------------------------------------------


def written(folder: Path, tables: Mapping[str, tuple[str, pd.DataFrame]]) -> Path:
    text = HEAD + "[thresholds]\ndeclared = [0.3]\n[resampling]\nbootstrap = 5\npermutations = 5\n"
    for name, (role, frame) in tables.items():
        frame.to_csv(folder / f"{name}.csv", index=False)
        text += f'[[dataset]]\nname = "{name}"\nrole = "{role}"\nfile = "{name}.csv"\n'
        text += 'split = "split"\n' if "split" in frame else ""
    return release_in(folder, text)


def rows(outcome: list[int], risk: list[float], **more: Any) -> pd.DataFrame:
    return pd.DataFrame({"outcome": outcome, "risk": risk, "age": np.arange(len(outcome)) % 3 + 50.0, **more})


def test_a_release_of_edges_is_evaluated_and_recorded(tmp_path: Path) -> None:
    """Splits of one class, sites of one class, of two rows, of certain risks; development and external the same."""
    two = rows([0, 1], [0.2, 0.8])
    plain = rows([0, 1, 0, 1, 1, 0], [0.1, 0.9, 0.4, 0.4, 0.7, 0.2])
    tables = {
        "development": ("development", plain[["outcome", "age"]]),
        "internal": ("internal", rows([0, 0, 0, 1, 1, 1], [0.1, 0.2, 0.3, 0.7, 0.8, 0.9], split=[1, 1, 1, 2, 2, 2])),
        "same": ("external", plain),
        "well": ("external", rows([0] * 5, [0.1, 0.2, 0.3, 0.4, 0.5])),
        "ill": ("external", rows([1] * 5, [0.1, 0.2, 0.3, 0.4, 0.5])),
        "two": ("external", two),
        "certain": ("external", rows([0, 1, 0, 1, 0], [0.0, 1.0, 1.0, 0.0, 0.0])),
        "constant": ("external", rows([0, 1, 0, 1, 0], [0.5] * 5)),
    }
    study = reading.study(written(tmp_path, tables))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        evidence = evaluate.evidence(study)
    assert {site.name for site in evidence.datasets} == set(tables) - {"two"}
    for result in evidence.results:
        assert is_said(result.found), result
    for curve in evidence.curves:
        assert is_said(curve.found), curve
    assert find(evidence, "auroc", "internal") == Said(
        "at least one split allows no value: none of the 3 rows has the outcome"
    )
    named = {each.dataset for each in evidence.results} | {each.dataset for each in evidence.curves}
    assert "two" not in named | {each.dataset for each in evidence.descriptions}
    assert b"NaN" not in results.of(evidence).text()
    assert b"Infinity" not in results.of(evidence).text()
