"""What the build itself finds to be left of small counts, beside enumeration, and what it takes away."""

from __future__ import annotations

import dataclasses
import itertools
import json
from typing import Any

import numpy as np
import pandas
import pytest

import dossier
from dossier import evaluate
from dossier.core.types import CountRange, Estimate, Evidence, SubgroupSize
from dossier.evaluate import disclosure
from dossier.evaluate.disclosure import audit, chains, measures
from dossier.evaluate.disclosure.audit import Left, Part, values_left
from dossier.record import results
from tests.estimated import present
from tests.test_neighbours import protected

GRID = (0.0, 0.3, 0.6)


def _part(rows: list[bool], outcome: list[int], risk: list[float], wide: int) -> Part:
    held, happened, risks = np.array(rows), np.array(outcome), np.array(risk)

    def chain(label: int) -> chains.Chain:
        mine = risks[held & (happened == label)]
        return chains.Chain(GRID, tuple(chains.ranged(int((mine >= at).sum()), wide) for at in GRID))

    return Part(held, {1: chain(1), 0: chain(0)})


@pytest.mark.parametrize("seed", range(12))
def test_what_is_left_is_what_enumeration_finds(seed: int) -> None:
    """Of a score of three risks, all rows and a group, every table of one outcome is tried."""
    rng = np.random.default_rng(seed)
    risk = [0.1, 0.4, 0.8]
    counts = rng.integers(0, 7, (2, 3))
    wide = int(rng.integers(3, 6))
    rows, outcome, risks = [], [], []
    for group, level in itertools.product(range(2), range(3)):
        rows += [group == 0] * counts[group, level]
        outcome += [1] * counts[group, level]
        risks += [risk[level]] * counts[group, level]
    if not any(rows) or len(set(risks)) < 3:
        return
    every = _part([True] * len(rows), outcome, risks, wide)
    first = _part(rows, outcome, risks, wide)
    tables = np.array(list(itertools.product(range(7 + wide), repeat=6))).reshape(-1, 2, 3)
    tails = np.cumsum(tables[:, :, ::-1], axis=2)[:, :, ::-1]
    fits = np.full(len(tables), True)
    for part, held in ((every, tails.sum(axis=1)), (first, tails[:, 0])):
        for index, span in enumerate(part.chains[1].tails):
            fits &= (held[:, index] >= span.low) & (held[:, index] <= span.high)
    asked = []
    for part, of_tails, cells in (
        (every, tails[fits].sum(axis=1), tables[fits].sum(axis=1)),
        (first, tails[fits][:, 0], tables[fits][:, 0]),
    ):
        spans = [*part.chains[1].tails, CountRange(0, 0)]
        for index in range(3):
            if spans[index].low < wide:
                asked.append(of_tails[:, index])
            if spans[index].low - spans[index + 1].high < wide:
                asked.append(cells[:, index])
    narrowest = min(int(cell.max() - cell.min()) + 1 for cell in asked)
    found = present(values_left(np.array(outcome, dtype=float), np.array(risks), [every, first], wide).narrowest)
    # As many as are asked for of each cell are looked for, and no more.
    assert found <= narrowest
    assert (found >= wide) is (narrowest >= wide)


def test_how_many_counts_are_asked_for_follows_from_their_ranges_alone() -> None:
    """Of tables of one set of ranges, one has a risk that the other has not: the number is printed."""
    rows, outcome = [True] * 40, [1, 0] * 20
    first = [0.1] * 40
    other = [0.1] * 36 + [0.4] * 4
    both = [
        values_left(np.array(outcome, dtype=float), np.array(risk), [_part(rows, outcome, risk, 11)], 11)
        for risk in (first, other)
    ]
    # Of each 20, told as 11 to 21: 0 to 10 from 0.3 and from 0.6 on, and 1 to 21 below 0.3 or 0 to 10 between.
    assert [left.cells for left in both] == [8, 8]


def test_the_knees_keep_as_many_values_as_asked_for() -> None:
    study = protected("knee")
    site = next(site for site in evaluate._sites(study) if site.dataset.name == "knee-6")
    left = disclosure._Policy.of(site).left
    assert left.cells > 50
    assert present(left.narrowest) >= 10


@pytest.mark.parametrize("nodes", ["few values", "no table in time"])
def test_what_is_not_left_or_not_settled_takes_columns_away_and_then_all(
    monkeypatch: pytest.MonkeyPatch, nodes: str
) -> None:
    study = protected("knee")
    study = dataclasses.replace(study, datasets=tuple(each for each in study.datasets if each.name == "knee-6"))
    seen: list[int] = []

    def of(outcome: object, risk: object, parts: list[Part], least: int) -> Left:
        seen.append(len(parts))
        return Left(7, 3 if len(parts) > 1 else 10)

    if nodes == "few values":
        monkeypatch.setattr(audit, "values_left", of)
    else:
        monkeypatch.setattr(audit._Tables, "_table", lambda self, aim: None)
    found = evaluate._complete(study, evaluate._Workers(), frozenset({"auroc", "sensitivity"}))
    groups = [each for each in found.subgroups.results if isinstance(each.found, Estimate)]
    rows = {each.measure for each in found.results if isinstance(each.found, Estimate) and each.dataset == "knee-6"}
    assert groups == []
    if nodes == "few values":
        assert len(seen) == 3
        assert rows == {"sensitivity"}
    else:
        assert rows == set()


def test_the_results_say_what_was_looked_at_and_what_is_withheld_why() -> None:
    study = protected("knee")
    study = dataclasses.replace(study, datasets=tuple(each for each in study.datasets if each.name == "knee-8"))
    found = evaluate._complete(study, evaluate._Workers(), frozenset({"auroc", "brier", "log_score"}))
    assert found.disclosure is not None
    assert found.disclosure.cells > 10
    assert found.disclosure.withheld["not_given_where_protected"] > 0
    assert results.of(found).evidence.disclosure == found.disclosure
    assert json.loads(results.of(dataclasses.replace(found, disclosure=None)).text())["disclosure"] is None


def test_no_quartile_of_a_predictor_that_the_risk_follows_from_is_given() -> None:
    """A quartile of 67 where the risk is high from 65 on says that a quarter of all have it."""
    rng = np.random.default_rng(1)
    of_level = [(0.07, 30, 46, 10, 20), (0.22, 46, 60, 9, 21), (0.42, 66, 90, 9, 12)]
    rows = [
        {"y": happened, "risk": risk, "age": int(rng.integers(first, last))}
        for risk, first, last, events, others in of_level
        for happened in [1] * events + [0] * others
    ]
    found = _protected(pandas.DataFrame(rows), [0.15], predictors=["age"])
    statistics = {row.described.statistic for row in found.descriptions if row.described.variable == "age"}
    assert not statistics & {"quantile_25", "median", "quantile_75"}


def test_subgroups_that_an_equation_joins_do_not_pin_a_count() -> None:
    """Of the score c0 + c1 + 2 c2 the patients with c0 and those with c1 at a score of 2 are the same."""
    patterns = np.array(list(itertools.product([0, 1], repeat=3)))
    scores, risks = patterns @ np.array([1, 1, 2]), np.array([0.02, 0.07, 0.12, 0.17, 0.22])
    events = [14, 16, 1, 11, 15, 11, 3, 15]
    repeats = np.repeat(np.arange(8), [count + 60 for count in events])
    rows = pandas.DataFrame(patterns[repeats], columns=["c0", "c1", "c2"]).replace({0: "no", 1: "yes"})
    rows["y"] = np.concatenate([[1] * count + [0] * 60 for count in events])
    rows["risk"] = risks[scores[repeats]]
    found = _protected(rows, [0.05, 0.1, 0.15, 0.2], subgroups=["c0", "c1", "c2"])
    given = {each.subset.column for each in found.subgroups.summaries if isinstance(each.size, SubgroupSize)}
    # With c0 and c1 both, their ranges at 0.1 and 0.15 bound the same patients from both sides.
    assert not {"c0", "c1"} <= given


def _protected(rows: pandas.DataFrame, thresholds: list[float], **columns: list[str]) -> Evidence:
    policy = {"disclosure": {"minimum_cell": 10}, "resampling": {"bootstrap": 2, "permutations": 1}}
    every: dict[str, Any] = {**policy, **columns}
    return dossier.validate(rows, outcome="y", risk="risk", thresholds=thresholds, **every).evidence


def _pinned(outcome: Any, risk: Any) -> set[str]:
    """By which rules nothing is given of a model, at ranges of 13."""
    counts = chains.counts(outcome, risk, chains.grid([0.3]), 13, 1)
    return {rule for rule, coarser in audit.coarser(counts, 10).items() if coarser == measures.NOT}


@pytest.mark.parametrize("seed", range(8))
def test_a_sum_of_a_nearly_perfect_model_is_not_given(seed: int) -> None:
    """Its Brier score is the number of those whom it puts wrong."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(150, 1_500))
    outcome = (rng.random(n) < rng.uniform(0.1, 0.5)).astype(float)
    high = (outcome == 1) ^ (rng.random(n) < 0.01)
    risk = np.where(high, rng.uniform(0.96, 0.999, n), rng.uniform(0.001, 0.04, n))
    assert _pinned(outcome, risk) >= {"mean", "fit"}


@pytest.mark.parametrize(
    ("rule", "value", "withheld"),
    [
        *(("ratio", 0.004, True), ("ratio", 0.02, False), ("ratio", 0.995, True), ("mean", 0.008, True)),
        *(("mean", 0.09, False), ("ranks", 0.97, True), ("ranks", 0.85, False), ("ranks", 0.03, True)),
        ("fit", 0.0, False),
    ],
)
def test_a_sum_over_fewer_persons_than_may_be_counted_is_withheld(rule: str, value: float, withheld: bool) -> None:
    """A mean risk of .004 is that of four among a thousand; a Brier score of .008 that of eight who are put wrong."""
    outcome, risk = (np.arange(1000) % 5 == 0).astype(float), np.linspace(0.01, 0.99, 1000)
    counts = chains.counts(outcome, risk, chains.grid([0.3]), 13, 1)
    site: Any = None
    assert measures.is_of_few(measures.Protected(site, counts, 10, 0.95, 0.3, {"": 1000}), rule, value) is withheld


@pytest.mark.parametrize("seed", range(8))
def test_of_a_model_as_most_are_every_number_is_given(seed: int) -> None:
    rng = np.random.default_rng(seed)
    log_odds = rng.normal(-0.5, 1.2, int(rng.integers(300, 1_500)))
    risk = 1 / (1 + np.exp(-log_odds))
    assert _pinned((rng.random(len(risk)) < risk).astype(float), risk) == set()
