"""Laws over every measure: what must hold of each, whoever wrote it and however it is computed."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from dossier.core.facts import Method
from dossier.core.register import Metric, fill
from dossier.core.release import Model
from dossier.core.types import Absent, DecisionCounts, Estimate, Feature, Floats, ReaderStudy
from dossier.evaluate.offered import ask
from dossier.metrics.shares import Design
from dossier.typeset.methods import method_text
from dossier.typeset.reasons import reason_text
from tests.estimated import absent, estimated, present
from tests.reasons import because

REGISTER = fill("metrics")
METRICS = list(REGISTER.metrics.values())
SETTINGS: dict[str, Any] = {
    "class_labels": (),
    "level": 0.95,
    "seed": 7,
    "bootstrap": 100,
    "permutations": 99,
    "threshold": 0.3,
    "primary_threshold": 0.3,
    "threshold_range": (0.05, 0.6),
    "declared_thresholds": (0.3, 0.5),
    "priority": 0.5,
    "tau": 0.75,
    "complexity": "constant",
    "gamma": 1.0,
    "relevance": "constant",
    "calibration": "ece",
    "update": "logistic",
    "severity_weights": ((0.0, 0.6), (0.3, 0.0)),
    "group": "",
    "fpr": "0-0.2",
    "wish": "sensitivity 0.9",
    "desired_accuracy": 0.55,
    "survey": (("0", 0.3, 0.25, 0.35), ("1", 0.5, None, None)),
    "complexity_source": "raters",
    "auroc_width": 0.1,
    "oe_ratio_width": 0.2,
    "calibration_slope_width": 0.2,
    "standardized_net_benefit_width": 0.2,
    "brier_width": 0.05,
    "declared_minimum": {},
    "model": Model.model_validate(
        {
            "intercept": -1.0,
            "term": ({"predictor": "age", "coefficient": 0.8}, {"predictor": "sex", "levels": {"m": 0.5}}),
        }
    ),
}


def table(rows: int, seed: int = 1) -> dict[str, Any]:
    """A site with everything a measure may ask for."""
    rng = np.random.default_rng(seed)
    risk = np.round(rng.beta(1.5, 2.5, rows), 3)
    outcome = (rng.uniform(size=rows) < risk).astype(float)
    labels = (rng.uniform(size=(rows, 4)) < np.where(outcome[:, None] == 1, 0.85, 0.2)).astype(float)
    return {
        "outcome": outcome,
        "risk": risk,
        "rival": np.clip(risk + rng.normal(0, 0.15, rows), 0.001, 0.999),
        "weights": 0.5 + np.arange(rows) % 3,
        "split": Absent(because("no splits")),
        "predictors": features(rng, rows, shift=0.4),
        "development": features(np.random.default_rng(3), 60),
        "labels": labels,
        "confidence": np.round(rng.uniform(0.2, 1, labels.shape), 1),
        "rater_complexity": np.round(rng.uniform(0, 1, labels.shape), 1),
        "truth": outcome,
        "rater_accuracy": (0.8, 0.85, 0.9, 0.75),
        "rater_groups": ("b", "a", "b", "a"),
        "coherence": 0.05,
        "case_relevance": np.round(rng.uniform(0.1, 1, rows), 1),
        "cost": np.round(rng.uniform(0, 1, rows), 1),
        "benefit": np.round(rng.uniform(0.1, 1, rows), 1),
        "case_complexity": np.round(rng.uniform(0.1, 1, rows), 1),
        "study": study(),
    }


def study() -> ReaderStudy:
    """Five readers on eight cases, each decided without and with the model."""
    rng = np.random.default_rng(4)
    reader, case = np.repeat(np.arange(5), 8), np.tile(np.arange(8), 5)
    truth = np.tile(np.arange(8) % 2, 5).astype(float)
    unaided = np.where(rng.uniform(size=40) < 0.7, truth, 1 - truth)
    aided = np.where(rng.uniform(size=40) < 0.85, truth, 1 - truth)
    wrong, without = int(np.sum(aided != truth)), int(np.sum(unaided != truth))
    counts = DecisionCounts(wrong, 40 - wrong, without, 40 - without)
    # In half of the cases the advice is wrong.
    advice = np.where(case % 4 < 2, truth, 1 - truth)
    return ReaderStudy("paired", counts, reader, case, truth, unaided, aided, advice, ("a", "a", "b", "b", "b"))


def features(rng: np.random.Generator, rows: int, shift: float = 0.0) -> tuple[Feature, ...]:
    """Three numeric predictors and a category, some missing."""
    numeric = [Feature(name, rng.normal(shift, 1, rows)) for name in ("age", "pressure", "marker")]
    values = rng.normal(shift, 1, rows)
    values[rng.uniform(size=rows) < 0.1] = math.nan
    return (*numeric, Feature("gappy", values), Feature("sex", rng.integers(0, 2, rows).astype(float), ("f", "m")))


ROWS = (
    *("outcome", "risk", "rival", "weights", "labels", "confidence", "rater_complexity", "truth"),
    *("case_relevance", "cost", "benefit", "case_complexity"),
)


def rearranged(site: Mapping[str, Any], rows: Any) -> dict[str, Any]:
    """The same site with other rows."""
    moved = {name: site[name][rows] for name in ROWS}
    shuffled = tuple(
        Feature(predictor.name, predictor.values[rows], predictor.levels) for predictor in site["predictors"]
    )
    return {**site, **moved, "predictors": shuffled}


def offered(site: Mapping[str, Any]) -> dict[str, Any]:
    return {**SETTINGS, **site, "design": Design(len(site["risk"]), None, site["weights"])}


def value(metric: Metric, site: Mapping[str, Any]) -> Estimate | Absent:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found: Estimate | Absent = ask(metric, offered(site), "a site")
    return found


def numbers(found: Estimate) -> list[float]:
    """Every number of an estimate."""
    listed = [found.value, found.low, found.high, found.se, *found.details.values()]
    return [value for value in listed if value is not None]


def of_law(law: str) -> list[Metric]:
    return [metric for metric in METRICS if law in metric.laws]


def named(metric: Metric) -> str:
    return metric.term.name


@pytest.mark.parametrize("metric", METRICS, ids=named)
def test_every_measure_can_be_estimated_and_lies_in_its_range(metric: Metric) -> None:
    found = estimated(value(metric, table(200)))
    low, high = metric.term.range
    assert all(map(math.isfinite, numbers(found)))
    for bound in (found.value, found.low, found.high):
        assert bound is None or low is None or bound >= low - 1e-12
        assert bound is None or high is None or bound <= high + 1e-12
    assert method_text(found.method)
    assert found.n > 0


@pytest.mark.parametrize("metric", METRICS, ids=named)
def test_the_interval_holds_the_value(metric: Metric) -> None:
    found = estimated(value(metric, table(200)))
    assert found.low is None or found.low <= found.value + 1e-12
    assert found.high is None or found.high >= found.value - 1e-12
    if found.low is None and found.high is None:
        assert found.level is None, "a level without an interval"


@pytest.mark.parametrize("metric", of_law("rows in any order"), ids=named)
def test_the_order_of_rows_is_irrelevant(metric: Metric) -> None:
    site = table(120)
    order = np.random.default_rng(9).permutation(120)
    first, other = value(metric, site), value(metric, rearranged(site, order))
    assert numbers(estimated(first)) == pytest.approx(numbers(estimated(other)), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("metric", of_law("rows doubled"), ids=named)
def test_doubling_the_rows_keeps_the_value(metric: Metric) -> None:
    site = table(120)
    first, other = value(metric, site), value(metric, rearranged(site, np.tile(np.arange(120), 2)))
    assert estimated(other).value == pytest.approx(estimated(first).value, rel=1e-8, abs=1e-10)


@pytest.mark.parametrize("metric", of_law("narrower with more rows"), ids=named)
def test_doubling_the_rows_narrows_the_interval(metric: Metric) -> None:
    site = table(120)
    first, other = value(metric, site), value(metric, rearranged(site, np.tile(np.arange(120), 4)))
    assert isinstance(first, Estimate)
    assert isinstance(other, Estimate)
    if None not in (first.low, first.high, other.low, other.high):
        assert other.high - other.low < first.high - first.low  # type: ignore[operator]


@pytest.mark.parametrize("metric", of_law("perfect is best"), ids=named)
def test_a_perfect_prediction_reaches_the_best_value(metric: Metric) -> None:
    site = table(120)
    found = estimated(value(metric, {**site, "risk": site["outcome"].copy()}))
    low, high = metric.term.range
    best = present({"higher": high, "lower": low, "one": 1.0, "zero": 0.0, "half": 0.5}.get(metric.term.best or ""))
    assert found.value == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("metric", of_law("one class is absent"), ids=named)
@pytest.mark.parametrize("only", [0.0, 1.0])
def test_one_class_gives_a_reason(metric: Metric, only: float) -> None:
    site = table(60)
    outcome = np.full(60, only)
    found = absent(value(metric, {**site, "outcome": outcome, "truth": outcome}))
    assert found.reason
    assert not reason_text(found.reason).endswith(".")


@pytest.mark.parametrize("metric", METRICS, ids=named)
def test_same_seed_same_answer_and_inputs_unchanged(metric: Metric) -> None:
    site = table(100)
    before = {name: site[name].copy() for name in ROWS}
    assert value(metric, site) == value(metric, site)
    for name in ROWS:
        np.testing.assert_array_equal(site[name], before[name])


def one_rater(site: dict[str, Any]) -> dict[str, Any]:
    each = {name: site[name][:, :1] for name in ("labels", "confidence", "rater_complexity")}
    return {**site, **each, "rater_accuracy": (0.8,), "rater_groups": ("a",)}


@pytest.mark.parametrize("rows", [0, 1, 2, 40])
@pytest.mark.parametrize("maker", list(REGISTER.curves.values()), ids=lambda maker: maker.name)
def test_curves_are_even_thin_and_finite(maker: Any, rows: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = ask(maker, offered(table(rows)), "a site")
    if isinstance(found, Absent):
        assert found.reason
        return
    lengths = {len(column) for column in found.columns.values()}
    assert len(lengths) == 1
    assert max(lengths) <= 250
    assert all(math.isfinite(each) for column in found.columns.values() for each in column if each is not None)


def test_a_measure_that_calls_for_caution_says_why_and_what_to_read_beside_it() -> None:
    for metric in METRICS:
        term = metric.term
        assert (term.tier == "caution") == bool(term.caution) == bool(term.counterpart), term.name
        if term.caution:
            beside = REGISTER.metrics[term.counterpart].term
            assert term.caution.endswith("."), term.name
            assert beside.tier in ("core", "supporting"), term.name
            assert beside.at in ((), term.at), "the counterpart is read at the same threshold"
        assert not term.differs or term.differs.startswith("differs from the published"), term.name


def test_the_laws_have_teeth() -> None:
    """A measure that breaks a law must be caught by it: here one that depends on the order of the rows."""
    fickle = next(metric for metric in METRICS if metric.term.name == "brier")

    def first_row(outcome: Floats, risk: Floats) -> Estimate:
        return Estimate(float((risk[0] - outcome[0]) ** 2), None, None, None, len(risk), Method("wald"))

    from dataclasses import replace

    broken = replace(fickle, function=first_row, needs=("outcome", "risk"))
    with pytest.raises(AssertionError):
        test_the_order_of_rows_is_irrelevant(broken)
