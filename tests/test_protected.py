"""Small counts protected: every count of persons has as many values as asked for, whatever else is printed."""

from __future__ import annotations

import csv
import dataclasses
import io
import itertools
import json
import pickle
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import LinearConstraint, milp

from dossier import evaluate
from dossier.core.facts import Count, Fact
from dossier.core.register import REGISTER, fill
from dossier.core.types import CountRange, Dataset, Estimate, Flag, Floats, Study
from dossier.evaluate import disclosure
from dossier.evaluate.disclosure import chains, curves, measures
from dossier.metrics.discrimination import ppv, sensitivity
from dossier.metrics.utility import net_benefit
from dossier.record import results, results_csv
from dossier.typeset.flags import flag_text
from tests.attacker import SMALLEST, Attack, attacked, attacked_with_ranks, site_of
from tests.estimated import interval_of, present
from tests.reasons import limitation
from tests.test_neighbours import document, protected


@pytest.fixture(scope="module")
def printed(planted: Study) -> dict[str, Any]:
    """results.json under the policy."""
    return document(planted)


# ---- ranges ---------------------------------------------------------------------------------------------------------


@given(st.integers(0, 10**6), st.integers(1, 40), st.lists(st.integers(1, 4), max_size=3))
def test_a_count_lies_in_its_range_which_is_as_wide_as_asked(count: int, smallest: int, levels: list[int]) -> None:
    wide = chains.width(smallest, levels)
    found = chains.ranged(count, wide)
    assert found.low <= count <= found.high
    assert found.high - found.low + 1 == wide >= smallest
    assert wide % 2 == 1


def test_a_range_counts_as_its_middle_and_prints_its_ends() -> None:
    found = CountRange(1_232, 1_242)
    assert (int(found), f"{found:,}", str(found)) == (1_237, "1,232–1,242", "1232–1242")
    assert pickle.loads(pickle.dumps(found)) == found != CountRange(1_231, 1_243)
    assert sum([found, CountRange(0, 10)]) == CountRange(1_232, 1_252)
    assert CountRange(33, 43) - CountRange(11, 21) == CountRange(12, 32)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=200), st.integers(1, 30))
def test_tails_are_ordered_and_hold_the_truth(risks: list[float], wide: int) -> None:
    risk, at = np.array(risks), chains.grid([0.37])
    found = chains.counts(np.ones(len(risk)), risk, at, wide, 1).events
    assert all(first.low >= other.low for first, other in itertools.pairwise(found.tails))
    assert all(
        tail.low <= (risk >= threshold).sum() <= tail.high for tail, threshold in zip(found.tails, at, strict=True)
    )


@pytest.mark.parametrize(("persons", "step"), [(20, 0.05), (24, 0.05), (120, 0.01), (600, 0.002), (2_400, 0.001)])
def test_a_step_is_no_less_than_what_a_person_adds(persons: int, step: float) -> None:
    assert measures.step_of(persons) == step
    assert step * persons >= 1


# ---- from ranges alone ----------------------------------------------------------------------------------------------


def _protected(study: Study, outcome: Floats, risk: Floats) -> measures.Protected:
    site = site_of(study)
    bare: dict[str, Any] = {"rival": None, "further_rivals": (), "subgroups": (), "predictors": ()}
    dataset = dataclasses.replace(site.dataset, outcome=outcome, risk=risk, **bare)
    return present(disclosure._Policy.of(dataclasses.replace(site, dataset=dataset)).all_rows)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_rows_with_the_same_ranges_give_the_same_measures_and_curves(planted: Study, seed: int) -> None:
    """Of one outcome as many are added to a bin of the risk as its tails leave room for."""
    rng = np.random.default_rng(seed)
    outcome, risk = (rng.random(300) < 0.4).astype(float), rng.random(300)
    before = _protected(planted, outcome, risk)
    wide, at = before.counts.wide, before.counts.events.grid
    for label in (0.0, 1.0):
        room = wide - 1 - max(int((risk[outcome == label] >= value).sum()) % wide for value in at)
        if room:
            outcome, risk = np.append(outcome, [label] * room), np.append(risk, [0.999] * room)
    after = _protected(planted, outcome, risk)
    assert after.counts == before.counts
    fill("metrics")
    for term in ("net_benefit", "ppv", "mcc"):
        found = REGISTER.metrics[term]
        first, other = (measures.hull(each, found, {"threshold": 0.3}, 0.3) for each in (before, after))
        assert first == other
    for rule in curves.RULES.values():
        assert rule(before) == rule(after)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_the_interval_holds_that_of_every_table_of_the_ranges(planted: Study, seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(120, 800))
    outcome, risk = (rng.random(n) < rng.uniform(0.15, 0.6)).astype(float), rng.beta(2, 3, n)
    protected = _protected(planted, outcome, risk)
    functions: dict[str, Callable[..., Any]] = {"sensitivity": sensitivity, "ppv": ppv, "net_benefit": net_benefit}
    for term, function in functions.items():
        hull = measures.hull(protected, REGISTER.metrics[term], {"threshold": 0.3}, 0.3)
        exact = function(outcome, risk, 0.3)
        if isinstance(hull, Estimate) and isinstance(exact, Estimate):
            low, high = interval_of(hull)
            assert low <= (exact.low or 0) + 1e-9
            assert (exact.high or 0) <= high + 1e-9


# ---- the attacker ---------------------------------------------------------------------------------------------------


LARGE = pytest.param("large", marks=pytest.mark.slow)
"""A solution with its columns takes seconds."""


@pytest.mark.parametrize("name", [LARGE, "middle", "own"])
@pytest.mark.parametrize("attack", [attacked, attacked_with_ranks])
def test_an_attacker_with_a_solver_is_left_as_many_values_as_asked_for(
    planted: Study, attack: Callable[..., Iterator[Any]], name: str
) -> None:
    """Nor is one who has the AUROC, and knows every person of the other outcome, left fewer."""
    cells = list(attack(planted, name, most=8))
    assert len(cells) == 8
    assert all(cell.low <= cell.true <= cell.high for cell in cells)
    assert min(cell.values for cell in cells) >= SMALLEST


def test_the_solver_finds_a_patient_where_the_counts_are_printed(planted: Study) -> None:
    """The control: with one more number, the exact count of a tail, some cell is left a single value."""
    attack = Attack(planted, "large")
    label, where, held, true = attack.small()[0]
    attack.add(attack.mask(label, where, held), true, true)
    assert attack.ends(label, where, held) == (true, true)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["internal", *(f"knee-{number}" for number in range(1, 9))])
def test_small_counts_of_the_knees_are_left_as_many_values(name: str) -> None:
    """Six drawn of each hospital: a solution with all columns of subgroups takes up to ten seconds."""
    knee = protected("knee")
    cells = [*attacked(knee, name, most=6), *attacked_with_ranks(knee, name, most=6)]
    assert len(cells) == 12
    assert all(cell.values >= SMALLEST for cell in cells)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(200))
def test_random_sites_leave_an_attacker_as_many_values_as_asked_for(planted: Study, seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(60, 1_200))
    site = site_of(planted)
    outcome = (rng.random(n) < rng.uniform(0.05, 0.5)).astype(float)
    groups = rng.integers(0, 3, n)
    subgroups = tuple(
        dataclasses.replace(subgroup, rows=groups == index)
        for index, subgroup in enumerate(subgroup for subgroup in site.dataset.subgroups if subgroup.column == "sex")
    )
    dataset = dataclasses.replace(
        site.dataset,
        rows_read=n,
        excluded={},
        outcome=outcome,
        risk=rng.beta(1.2, 3, n),
        rival=None,
        further_rivals=(),
        subgroups=subgroups,
        predictors=(),
    )
    random = dataclasses.replace(planted, datasets=(dataset,))
    assert all(cell.values >= SMALLEST for cell in attacked(random, "large", seed, most=4))
    assert all(cell.values >= SMALLEST for cell in attacked_with_ranks(random, "large", seed, most=4))


def test_two_releases_of_the_same_rows_and_one_more_leave_as_many_values_as_asked_for() -> None:
    """For one who knows that it is one more: of each outcome ten bins, before and what came."""
    rng = np.random.default_rng(20261124)
    wide, bins = chains.width(SMALLEST, []), 10
    for _ in range(25):
        before = rng.integers(0, 25, (2, bins))
        after = before.copy()
        after[rng.integers(2), rng.integers(bins)] += 1
        rows, ranges = [], []
        for label, first in itertools.product(range(2), range(bins)):
            tail = np.zeros((2, 2, bins))
            tail[0, label, first:] = 1
            both = tail.copy()
            both[1, label, first:] = 1
            rows += [tail.ravel(), both.ravel()]
            ranges += [chains.ranged(int(each[label, first:].sum()), wide) for each in (before, after)]
        came = np.zeros((2, 2, bins))
        came[1] = 1
        rows.append(came.ravel())
        ranges.append(CountRange(1, 1))
        known = LinearConstraint(np.array(rows), [span.low for span in ranges], [span.high for span in ranges])
        small = [index for index in range(2 * bins) if 0 < before.ravel()[index] < SMALLEST]
        for position in small[:2]:
            aim = np.zeros(4 * bins)
            aim[position] = 1
            low, high = (
                sign * round(milp(sign * aim, constraints=known, integrality=np.ones(4 * bins)).fun) for sign in (1, -1)
            )
            assert high - low + 1 >= SMALLEST


def test_a_share_of_a_category_leaves_as_many_values_as_asked_for() -> None:
    """Of three categories, those without a value, and all rows, which add up."""
    rng = np.random.default_rng(20261123)
    for _ in range(40):
        parts = [int(integer) for integer in rng.integers(1, 80, 4)]
        wide = chains.width(SMALLEST, [3, len(parts)])
        halves = [sum(parts) // 3, sum(parts) - sum(parts) // 3]
        totals = sum((chains.ranged(half, chains.width(SMALLEST, [3])) for half in halves), CountRange(0, 0))
        ranges = [chains.ranged(number, wide) for number in parts]
        for index, true in enumerate(parts):
            rest = sum((first for other, first in enumerate(ranges) if other != index), CountRange(0, 0))
            low = max(ranges[index].low, totals.low - rest.high)
            high = min(ranges[index].high, totals.high - rest.low)
            assert low <= true <= high
            assert true >= SMALLEST or high - low + 1 >= SMALLEST


# ---- what has no protection -----------------------------------------------------------------------------------------


def test_no_curve_but_those_of_ranges_is_given(printed: dict[str, Any]) -> None:
    given_out = {
        curve["curve"] for curve in printed["curves"] if curve["status"] == "estimated" and curve["dataset"] != "pooled"
    }
    assert given_out
    assert given_out <= {name for name, maker in REGISTER.curves.items() if maker.protection in curves.RULES}
    assert "predictive_values" in {curve["curve"] for curve in printed["curves"]} - given_out


def test_counts_are_ranges_in_the_flat_table(planted: Study) -> None:
    lines = list(csv.DictReader(io.StringIO(results_csv.text(results.of(evaluate.evidence(planted))).decode())))
    counts = [line[name] for line in lines for name in ("n", "events") if line[name]]
    assert any("\N{EN DASH}" in count for count in counts)
    assert all(re.fullmatch(r"\d+(\N{EN DASH}\d+)?", count) for count in counts)


def test_no_size_of_a_file_with_rows_and_no_hash_is_given(printed: dict[str, Any]) -> None:
    tables = [file for file in printed["inputs"] if file["name"] != "release.toml"]
    assert tables
    assert all(table["size"] is None and table["sha256"] is None for table in tables)


def test_clusters_are_given_as_ranges_and_their_rows_in_steps_of_persons(planted: Study) -> None:
    """Seven wards of 36 rows each are seven persons: nothing that rests on ranks is given, no count of them is told."""
    datasets = tuple(
        dataclasses.replace(dataset, cluster=np.arange(dataset.rows_analysed) % 7)
        if dataset.name == "large"
        else dataset
        for dataset in planted.datasets
    )
    found = document(dataclasses.replace(planted, datasets=datasets))
    (large,) = (dataset for dataset in found["datasets"] if dataset["name"] == "large")
    assert large["clusters"]["lo"] == 0
    assert large["n"]["hi"] - large["n"]["lo"] >= 50
    rows = [estimate for estimate in found["estimates"] if estimate["dataset"] == "large"]
    assert {row["status"] for row in rows} == {"withheld"}
    assert '"of": "cluster"' not in json.dumps(found)


def test_without_a_policy_the_evidence_is_untouched(planted: Study) -> None:
    free = dataclasses.replace(
        planted, datasets=tuple(dataclasses.replace(dataset, minimum_cell=0) for dataset in planted.datasets)
    )
    found = document(free)
    assert not any(estimate["status"] == "withheld" for estimate in found["estimates"])
    assert all(isinstance(dataset["n"], int) for dataset in found["datasets"])


def test_two_builds_give_the_same_ranges(planted: Study, printed: dict[str, Any]) -> None:
    assert document(planted) == printed


# ---- flags ----------------------------------------------------------------------------------------------------------

EQUAL = Fact("duplicate_rows", dataset="north", rows=Count(3, "row"))


def test_a_flag_of_rows_gives_no_number_of_them(planted: Study, printed: dict[str, Any]) -> None:
    summary = evaluate.evidence(planted).datasets[0]
    flags = (Flag("duplicate_rows", summary.name, EQUAL), Flag("one_class", summary.name, limitation("in no row")))
    (found,) = disclosure.flags(flags, [summary])
    assert (
        flag_text(found.fact) == "In north some rows are equal to an earlier one in outcome, risk and every predictor."
    )
    assert disclosure.flags(flags, [dataclasses.replace(summary, minimum_cell=0)]) == flags
    # The ends of a range may be any number; a count alone may not.
    exact = re.compile(r"(?<![\d–])(240|200|120|237|197|118)(?![\d–])")
    assert not [flag["fact"] for flag in printed["flags"] if exact.search(flag_text(Fact.of_json(flag["fact"])))]


def test_one_row_is_not_in_the_plural() -> None:
    single = Fact("duplicate_rows", dataset="north", rows=Count(1, "row"))
    assert flag_text(single) == "In north 1 row is equal to an earlier one in outcome, risk and every predictor."


# ---- scores of few risks --------------------------------------------------------------------------------------------

OF_ROWS = ("auroc", "brier", "oe_ratio", "calibration_intercept", "calibration_slope")


def _alone(study: Study, name: str) -> Study:
    """One dataset of a release, which is evaluated in a fraction of the time."""
    return dataclasses.replace(study, datasets=tuple(each for each in study.datasets if each.name == name), readers=())


def _given(study: Study, name: str, column: str | None = None) -> set[str]:
    found = evaluate.evidence(_alone(study, name))
    results = found.results if column is None else found.subgroups.results
    return {
        result.measure
        for result in results
        if result.dataset == name
        and (column is None or (result.subset is not None and result.subset.column == column))
        and isinstance(result.found, Estimate)
        and "model" not in result.at
    }


def _with_risks(study: Study, change: Callable[[Floats], Floats]) -> Study:
    def changed(dataset: Dataset) -> Dataset:
        return dataset if dataset.risk is None else dataclasses.replace(dataset, risk=change(dataset.risk))

    return dataclasses.replace(study, datasets=tuple(map(changed, study.datasets)))


@pytest.mark.parametrize("levels", [2, 3, 8, 49])
def test_nothing_that_rests_on_rows_is_given_of_a_score_of_few_risks(planted: Study, levels: int) -> None:
    """Who knows the risks that a score can give has an equation in a handful of counts with each such number."""
    score = _with_risks(planted, lambda risk: (np.floor(risk * levels).clip(0, levels - 1) + 0.5) / levels)
    assert {"auroc", "oe_ratio"} <= _given(planted, "large")
    given = _given(score, "large")
    assert not given & set(OF_ROWS)
    assert "sensitivity" in given


def test_nothing_that_rests_on_rows_is_given_of_a_group() -> None:
    given = _given(protected("knee"), "knee-2", "Sex")
    assert not given & set(OF_ROWS)
    assert "sensitivity" in given


def test_another_model_of_few_risks_is_given_no_auroc_beside_one_of_many(planted: Study) -> None:
    few = dataclasses.replace(
        planted,
        datasets=tuple(
            dataset if dataset.rival is None else dataclasses.replace(dataset, rival=np.round(dataset.rival, 1))
            for dataset in planted.datasets
        ),
    )
    name = planted.release.rivals[0].name

    def aurocs(of: Study) -> set[str]:
        return {
            str(result.at.get("model", ""))
            for result in evaluate.evidence(_alone(of, "large")).results
            if result.measure == "auroc" and isinstance(result.found, Estimate)
        }

    assert aurocs(planted) - aurocs(few) == {name}
