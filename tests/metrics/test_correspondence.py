"""Correspondence against the values of methods.md, against loops, and at the edges."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dossier.core.types import Absent, Estimate, Feature, Floats
from dossier.metrics import correspondence
from dossier.metrics.correspondence import (
    auroc_of_halves,
    conformal_p_values,
    correspondence_averaged,
    degree_of_correspondence,
    energy_coefficient,
    feature_shift,
    membership_auroc,
    membership_design,
    membership_drivers,
    ridge_logistic,
)
from dossier.metrics.distances import canonical, distances, tables
from dossier.metrics.distances import drawn as draw
from dossier.typeset.methods import method_text
from dossier.typeset.reasons import reason_text
from tests.estimated import absent, curved, estimated, interval_of, present
from tests.reasons import Said
from tests.reference.tables import COVID, GOLDEN, needs_covid
from tests.reference.tables import HEART as HEART_TABLES

HEART = ("age", "sex", "cp", "trestbps", "chol", "fbs", "restecg", "thalach", "exang", "oldpeak", "slope", "ca", "thal")

Features = tuple[Feature, ...]


def _features(path: Path, names: tuple[str, ...]) -> Features:
    table = pd.read_csv(path)
    if "chol" in table:
        table["chol"] = table["chol"].where(table["chol"] != 0)
    return tuple(Feature(name, table[name].to_numpy(dtype=float)) for name in names)


def _numeric(values: Floats) -> Features:
    return tuple(Feature(f"x{index}", column) for index, column in enumerate(values.T))


# ---- the values of methods.md ---------------------------------------------------------------------------------------


def _covid(site: str) -> tuple[Features, Features]:
    names = tuple(str(name) for name in pd.read_csv(COVID / "training.csv", nrows=1) if name != "outcome")
    return _features(COVID / "training.csv", names), _features(COVID / f"{site}.csv", names)


def _heart(site: str) -> tuple[Features, Features]:
    return _features(HEART_TABLES / "development.csv", HEART), _features(HEART_TABLES / f"{site}.csv", HEART)


@pytest.mark.parametrize(
    ("sides", "n", "statistic", "averaged", "energy"),
    [
        pytest.param(("covid", "italy-1"), 337, 905.428461, 0.399699, 0.021516, marks=needs_covid),
        pytest.param(("covid", "italy-2"), 249, 1178.556194, 0.433989, 0.022178, marks=needs_covid),
        (("heart", "hungarian"), 294, 54.651748, 0.494305, 0.048554),
        (("heart", "switzerland"), 122, 80.621045, 0.422724, 0.072759),
        (("heart", "va"), 147, 59.780435, 0.485074, 0.088873),
    ],
)
def test_real_sites_have_the_values_of_the_methods(
    sides: tuple[str, str], n: int, statistic: float, averaged: float, energy: float
) -> None:
    """To the six digits printed, the averaged form with all ties as farther; ties halved it is ours.

    Bounds are checked for sense only: no reference for them exists.
    """
    development, predictors = _covid(sides[1]) if sides[0] == "covid" else _heart(sides[1])
    psi = estimated(degree_of_correspondence(development, predictors, permutations=9))
    mean = estimated(correspondence_averaged(development, predictors))
    distance = estimated(energy_coefficient(development, predictors, permutations=9, bootstrap=200))
    assert psi.details["statistic"] == pytest.approx(statistic, abs=6e-7)
    as_printed, halved = _averaged_of_all(development, predictors)
    assert as_printed == pytest.approx(averaged, abs=6e-7)
    assert mean.value == pytest.approx(halved, abs=1e-9)
    assert distance.value == pytest.approx(energy, abs=6e-7)
    assert psi.n == mean.n == distance.n == n
    for estimate in (mean, distance):
        low, high = interval_of(estimate)
        assert 0 <= low < estimate.value < high <= 1


def _averaged_of_all(development: Features, predictors: Features) -> tuple[float, float]:
    """The averaged form from the distances of A and x to each other, ties counted as farther, and half."""
    a, b = (np.column_stack([each.values for each in side]) for side in (development, predictors))
    order = np.argsort([each.name for each in development])
    a, b = (
        canonical(side[np.isnan(side).sum(axis=1) * 2 <= side.shape[1]]) for side in _scaled(a[:, order], b[:, order])
    )
    within = _distances_of(a, a)
    found = []
    for to_x in _distances_of(b, a):
        distance = np.block([[within, to_x[:, None]], [to_x[None, :], np.zeros((1, 1))]])
        nearest = (distance + np.diag(np.full(len(distance), np.inf))).argmin(axis=1)
        sums = distance.sum(axis=1)
        statistic = sums - sums[nearest] + distance[np.arange(len(distance)), nearest]
        gap = statistic[:-1] - statistic[-1]
        ties = int((np.abs(gap) < 1e-6).sum())
        farther = int((gap >= 1e-6).sum())
        found.append(((1 + farther + ties) / len(distance), (farther + (1 + ties) / 2) / len(distance)))
    old, new = np.mean(found, axis=0)
    return float(old), float(new)


def _distances_of(left: Floats, right: Floats) -> Floats:
    """Euclidean over the features both have, scaled up for the missing."""
    shared = (~np.isnan(left)).astype(float) @ (~np.isnan(right)).astype(float).T
    squared = sum(
        np.nan_to_num(np.subtract.outer(left[:, column], right[:, column]) ** 2) for column in range(left.shape[1])
    )
    distance: Floats = np.sqrt(squared * left.shape[1] / shared)
    return distance


@pytest.mark.parametrize(("site", "psi"), [("hungarian", 0.73), ("switzerland", 0.03), ("va", 0.33)])
def test_psi_of_the_heart_sites(site: str, psi: float) -> None:
    """The reference is a draw of about 1,000 permutations too: three standard errors of both are allowed."""
    found = estimated(degree_of_correspondence(*_heart(site), permutations=3999))
    assert found.value == pytest.approx(psi, abs=0.005 + 3 * math.sqrt(psi * (1 - psi) * (1 / 999 + 1 / 3999)))


def test_the_energy_coefficient_is_made_of_the_energy_distance() -> None:
    """The E-statistic of the golden table, 2E|X-Y| - E|X-X'| - E|Y-Y'|, is value x 2E|X-Y| on unscaled columns."""
    table = pd.read_csv(GOLDEN / "python/two_sample.csv")
    values = table[["x1", "x2", "x3"]].to_numpy(dtype=float)
    values = values / values.std(axis=0, ddof=1)
    first = (table["sample"] == table["sample"].iloc[0]).to_numpy()
    across, left, right = (
        np.mean([math.dist(a, b) for a in each for b in other])
        for each, other in (
            (values[first], values[~first]),
            (values[first], values[first]),
            (values[~first], values[~first]),
        )
    )
    found = estimated(
        energy_coefficient(_numeric(values[first]), _numeric(values[~first]), permutations=9, bootstrap=9)
    )
    assert found.value == pytest.approx(float((2 * across - left - right) / (2 * across)), abs=1e-8)


# ---- slow and obvious versions --------------------------------------------------------------------------------------


def _slow_distance(left: Floats, right: Floats) -> float:
    gaps = [(a - b) ** 2 for a, b in zip(left, right, strict=True) if not (math.isnan(a) or math.isnan(b))]
    return math.sqrt(sum(gaps) * len(left) / len(gaps))


def _scaled(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    spread = np.nanstd(np.vstack([a, b]), axis=0, ddof=1)
    return a / spread, b / spread


def _slow_statistic(a: Floats, b: Floats) -> float:
    total = 0.0
    for x in b:
        nearest = min(a, key=lambda row: _slow_distance(row, x))
        total += sum(_slow_distance(row, x) - _slow_distance(row, nearest) for row in a)
    return total / len(b)


def _slow_averaged(a: Floats, b: Floats) -> float:
    shares = []
    for x in b:
        own = _slow_statistic(a, np.array([x]))
        farther = 0.5
        for j in range(len(a)):
            others = np.vstack([np.delete(a, j, axis=0), x])
            gap = _slow_statistic(others, a[[j]]) - own
            farther += 0.5 if abs(gap) < 1e-9 else float(gap > 0)
        shares.append(farther / (len(a) + 1))
    return float(np.mean(shares))


def _random_sides(seed: int, missing: bool) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(11, 4)), rng.normal(0.4, 1.3, size=(6, 4))
    if missing:
        a[rng.random(a.shape) < 0.12] = np.nan
        b[rng.random(b.shape) < 0.12] = np.nan
        a[:, 0], b[:, 0] = rng.normal(size=11), rng.normal(size=6)
        a[:, 1], b[:, 1] = rng.normal(size=11), rng.normal(size=6)
    return a, b


@pytest.mark.parametrize(("seed", "missing"), list(itertools.product(range(3), (False, True))))
def test_against_loops(seed: int, missing: bool) -> None:
    a, b = _random_sides(seed, missing)
    scaled = _scaled(a, b)
    psi = estimated(degree_of_correspondence(_numeric(a), _numeric(b), permutations=19))
    assert psi.details["statistic"] == pytest.approx(_slow_statistic(*scaled), abs=1e-6)
    averaged = estimated(correspondence_averaged(_numeric(a), _numeric(b)))
    assert averaged.value == pytest.approx(_slow_averaged(*scaled), abs=1e-12)


def test_averaged_with_ties_between_the_tables() -> None:
    """Rows that occur in both tables tie exactly, whatever was added to what."""
    a = np.array([[0.0, 0.1], [0.0, 0.1], [1.0, 0.3], [2.0, 0.7], [2.0, 0.7], [5.0, 0.9]])
    b = np.array([[2.0, 0.7], [0.0, 0.1], [9.0, 0.2]])
    found = estimated(correspondence_averaged(_numeric(a), _numeric(b)))
    assert found.value == pytest.approx(_slow_averaged(*_scaled(a, b)), abs=1e-12)


def test_psi_is_the_share_of_all_permutations_when_there_are_few() -> None:
    """Six rows can be parted into four and two in 15 ways; the drawn p-value must approach the exact share."""
    a, b = _random_sides(5, missing=False)
    a, b = _scaled(a[:4], b[:2])
    rows = np.vstack([a, b])
    observed = _slow_statistic(a, b)
    statistics = [
        _slow_statistic(rows[list(chosen)], np.delete(rows, list(chosen), axis=0))
        for chosen in itertools.combinations(range(6), 4)
    ]
    exact = float(np.mean([statistic >= observed - 1e-9 for statistic in statistics]))
    found = estimated(degree_of_correspondence(_numeric(a), _numeric(b), permutations=20_000))
    assert found.value == pytest.approx(exact, abs=0.015)


def test_energy_p_is_the_share_of_all_permutations_when_there_are_few() -> None:
    a, b = _random_sides(6, missing=False)
    a, b = _scaled(a[:4], b[:2])
    rows = np.vstack([a, b])

    def coefficient(first: Floats, other: Floats) -> float:
        across = np.mean([math.dist(x, y) for x in first for y in other])
        inside = np.mean([math.dist(x, y) for x in first for y in first]) + np.mean(
            [math.dist(x, y) for x in other for y in other]
        )
        return float((2 * across - inside) / (2 * across))

    all_ways = [
        coefficient(rows[list(chosen)], np.delete(rows, list(chosen), axis=0))
        for chosen in itertools.combinations(range(6), 4)
    ]
    exact = float(np.mean([way >= coefficient(a, b) - 1e-9 for way in all_ways]))
    found = estimated(energy_coefficient(_numeric(a), _numeric(b), permutations=20_000, bootstrap=9))
    assert found.value == pytest.approx(coefficient(a, b), abs=1e-8)
    assert found.details["p_value"] == pytest.approx(exact, abs=0.015)


def test_neighbours_are_searched_for_when_the_sorted_list_is_too_short(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = _random_sides(3, missing=True)
    distance = _distance_of_all(_numeric(a), _numeric(b))
    members = np.arange(17) % 3 == 0
    outside = np.flatnonzero(~members)
    closest = np.flatnonzero(members)[distance[np.ix_(outside, members)].argmin(axis=1)]
    for nearest in (None, *(correspondence._nearest_others(distance, width) for width in (1, 2, 5, 16))):
        assert correspondence._neighbours(distance, nearest, members, outside).tolist() == closest.tolist()


def _distance_of_all(ours: Features, theirs: Features) -> Floats:
    table = present(tables(ours, theirs))
    every = np.arange(table.development_n + table.external_n)
    return distances(table, every, every)


@pytest.mark.parametrize("digits", [0, 1, 9])
def test_the_nearest_rows_are_those_of_a_stable_sort(digits: int) -> None:
    """Rounded, so that whole blocks of rows lie equally near, also across the guess of how far the nearest lie."""
    rng = np.random.default_rng(digits)
    distance = _distance_of_all(*(_numeric(rng.normal(size=(n, 2)).round(digits)) for n in (400, 300)))
    np.fill_diagonal(distance, np.inf)
    for width in (1, 32, 400):
        found = correspondence._nearest_others(distance, width)
        np.testing.assert_array_equal(found, np.argsort(distance, axis=1, kind="stable")[:, :width].T)


def test_few_development_rows_have_the_psi_of_loops() -> None:
    """So few that every one of them is looked at, and not a list of the nearest."""
    rng = np.random.default_rng(6)
    a, b = rng.normal(size=(5, 2)), rng.normal(size=(40, 2))
    psi = estimated(degree_of_correspondence(_numeric(a), _numeric(b), permutations=19))
    assert psi.details["statistic"] == pytest.approx(_slow_statistic(*_scaled(a, b)), abs=1e-6)


def test_blocks_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = _random_sides(4, missing=True)
    whole = energy_coefficient(_numeric(a), _numeric(b)), correspondence_averaged(_numeric(a), _numeric(b))
    for size in ("BLOCK", "ROWS_AT_ONCE"):
        monkeypatch.setattr(correspondence, size, 3)
    for shared in ("_permuted", "_shares_as_far"):
        monkeypatch.setattr(correspondence, shared, getattr(correspondence, shared).__wrapped__)
    parts = energy_coefficient(_numeric(a), _numeric(b)), correspondence_averaged(_numeric(a), _numeric(b))
    for first, other in zip(whole, parts, strict=True):
        assert estimated(other).value == pytest.approx(estimated(first).value, abs=1e-12)
        assert estimated(other).low == pytest.approx(estimated(first).low, abs=1e-12)


PAIRED = (degree_of_correspondence, energy_coefficient, correspondence_averaged)
LIMITS = ("LARGEST_PERMUTED", "LARGEST_PAIRED", "LARGEST_CLASSIFIED")


@pytest.fixture
def small_limits(monkeypatch: pytest.MonkeyPatch) -> int:
    """The most rows a side, made so small that a draw costs little."""
    for limit in LIMITS:
        monkeypatch.setattr(correspondence, limit, 120)
    return 120


def _populations() -> tuple[Floats, Floats]:
    """Two tables that differ a little, with a predictor of two values, so that rows tie."""
    rng = np.random.default_rng(2)
    sides = tuple(rng.normal(shift, 1, size=(n, 4)) for n, shift in ((500, 0.0), (300, 0.15)))
    for side in sides:
        side[:, 1] = side[:, 1] > 0
    return sides[0], sides[1]


@pytest.mark.parametrize("measure", [*PAIRED, membership_auroc])
def test_above_the_limit_rows_are_drawn_and_counted(
    measure: Callable[..., Estimate | Absent], small_limits: int
) -> None:
    a, b = (_numeric(side) for side in _populations())
    found = estimated(measure(a, b))
    assert "at most 120 rows a side drawn by seed" in method_text(found.method)
    assert (found.n, found.details["development_n"]) == (small_limits, small_limits)
    assert (found.details["development_of"], found.details["external_of"]) == (500, 300)
    assert measure(*(_numeric(side[::-1]) for side in _populations())) == found
    assert measure(a, b, seed=2) != found


@pytest.mark.parametrize("measure", [*PAIRED, membership_auroc])
def test_at_the_limit_nothing_is_drawn(measure: Callable[..., Estimate | Absent], small_limits: int) -> None:
    a, b = (_numeric(side[:small_limits]) for side in _populations())
    found = estimated(measure(a, b))
    assert found.n == small_limits
    assert "drawn" not in method_text(found.method)
    assert not {"development_of", "external_of", "sampling_error"} & found.details.keys()


@pytest.mark.parametrize("measure", [*PAIRED, membership_auroc])
@pytest.mark.parametrize("external", [1, 30])
def test_a_table_within_the_limit_is_kept_whole_beside_a_larger_one(
    measure: Callable[..., Estimate | Absent], external: int, small_limits: int
) -> None:
    if measure is membership_auroc and external == 1:
        external = 10
    a, b = _populations()
    found = estimated(measure(_numeric(a), _numeric(b[:external])))
    assert (found.n, found.details["development_n"]) == (external, small_limits)
    error = present(found.details["sampling_error"])
    assert error > 0
    assert (found.details["development_of"], found.details["external_of"]) == (500, external)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("measure", "few_draws"),
    [
        (degree_of_correspondence, {"permutations": 199}),
        (energy_coefficient, {"permutations": 9, "bootstrap": 200}),
        (correspondence_averaged, {}),
    ],
)
@pytest.mark.parametrize("external", [300, 60])
def test_the_error_of_the_draw_is_that_between_draws(
    measure: Callable[..., Estimate | Absent], few_draws: dict[str, int], external: int, small_limits: int
) -> None:
    """Over 60 seeds, of which the standard deviation is known to a tenth. It may be stated too large, not too small."""
    a, b = (_numeric(side) for side in (_populations()[0], _populations()[1][:external]))
    found = [estimated(measure(a, b, seed=seed, **few_draws)) for seed in range(60)]
    between = float(np.std([estimate.value for estimate in found], ddof=1))
    # Of so many permutations a p-value has an error of its own, which is no part of that of the draw.
    p = float(np.mean([estimate.value for estimate in found])) if measure is degree_of_correspondence else 0.0
    stated = np.sqrt(
        np.mean([(estimate.details["sampling_error"] or 0.0) ** 2 for estimate in found]) + p * (1 - p) / 199
    )
    assert 0.8 * between < stated < 1.8 * between


def test_the_limits_are_those_of_the_methods() -> None:
    """Distances grow as the square of the rows: at these sizes a site takes two seconds at most."""
    assert [getattr(correspondence, limit) for limit in LIMITS] == [2_000, 5_000, 20_000]


def test_the_rows_of_the_sample_are_drawn_from_all_of_them() -> None:
    """Each of 20 rows is in half of the samples, however often it occurs: binomial, four standard errors."""
    values = np.repeat([[0.0, 1.0], [-0.0, 2.0], [np.nan, 3.0], [4.0, 5.0]], [14, 1, 1, 4], axis=0)
    drawn = [draw(values, 10, np.random.default_rng(seed)) for seed in range(400)]
    assert all(len(pair) == 10 for pair in drawn)
    times = [sum(int((pair[:, 1] == kind).sum()) for pair in drawn) for kind in (1.0, 2.0, 3.0, 5.0)]
    for count, rows in zip(times, (14, 1, 1, 4), strict=True):
        assert abs(count - 200 * rows) < 4 * np.sqrt(400 * rows / 4)


def test_rows_are_drawn_alike_whatever_their_order() -> None:
    """0 and -0 are one value, and so is whatever is missing."""
    rng = np.random.default_rng(4)
    values = rng.integers(-1, 2, size=(300, 3)) * rng.choice([1.0, -1.0], size=(300, 3))
    values[rng.random(values.shape) < 0.2] = np.nan
    other = rng.permutation(values)
    other[other == 0] = 0.0
    other[np.isnan(other)] = np.array([0x7FF8_0000_0000_0001], dtype=np.uint64).view(float)[0]
    first, second = (canonical(draw(each, 50, np.random.default_rng(9))) for each in (values, other))
    np.testing.assert_array_equal(first, second)


def test_a_draw_keeps_the_scale_and_the_gaps_of_all_rows(small_limits: int) -> None:
    """The distance counts in standard deviations of all rows, and every row with too few predictors is counted."""
    a, b = _populations()
    a[::10, :3] = np.nan
    whole, part = (tables(_numeric(a), _numeric(b), most) for most in (500, 40))
    assert not isinstance(whole, Absent)
    assert not isinstance(part, Absent)
    assert part.development_left_out == whole.development_left_out == 50
    assert (part.development_of, part.external_of) == (450, 300)
    rows = {tuple(row) for row in whole.complete.round(9).tolist()}
    assert {tuple(row) for row in part.complete.round(9).tolist()} <= rows


def test_of_rows_equally_near_the_first_counts_however_many_there_are() -> None:
    """Nobody shares the level of the external rows: 300 rows lie 1 away, and the first is one of the 4 of level a."""
    levels = tuple("abcdefg")
    ours = (Feature("ward", np.repeat([5.0, 4.0, 3.0, 2.0, 1.0, 0.0], [90, 80, 70, 40, 16, 4]), levels),)
    found = estimated(degree_of_correspondence(ours, (Feature("ward", np.full(20, 6.0), levels),), permutations=9))
    assert found.details["statistic"] == 300 - 296


def test_the_first_of_rows_equally_near_does_not_depend_on_the_order_of_the_columns() -> None:
    """The external row (no, no) is 1 from each; (no, yes) comes first by name, with twice the root of 2 to the others.

    The others are (yes, no), root of 2 from it and 0 from one another.
    """
    levels = ("no", "yes")
    ours = (Feature("fever", np.array([0.0, 1.0, 1.0]), levels), Feature("rash", np.array([1.0, 0.0, 0.0]), levels))
    theirs = (Feature("fever", np.zeros(1), levels), Feature("rash", np.zeros(1), levels))
    for columns in (ours, ours[::-1]):
        found = estimated(degree_of_correspondence(columns, theirs, permutations=9))
        assert found.details["statistic"] == pytest.approx(3 - 2 * math.sqrt(2), abs=1e-8)


@pytest.mark.parametrize(
    "measure",
    [
        degree_of_correspondence,
        correspondence_averaged,
        energy_coefficient,
        membership_auroc,
        membership_drivers,
        conformal_p_values,
    ],
)
def test_the_order_of_the_columns_does_not_matter_where_rows_tie(measure: Callable[..., object]) -> None:
    rng = np.random.default_rng(12)
    ours, theirs = (
        (
            Feature("x", rng.normal(shift, 1, n).round()),
            Feature("y", rng.normal(0, 1, n).round()),
            Feature("s", rng.integers(0, 3, n).astype(float), ("f", "m", "u")),
        )
        for n, shift in ((60, 0.0), (30, 0.5))
    )
    found = measure(ours, theirs)
    assert [
        measure(permutation, other) for permutation in itertools.permutations(ours) for other in (theirs, theirs[::-1])
    ] == [found] * 12


def test_a_development_row_goes_before_an_external_row_as_near() -> None:
    """Development 0, 1, 5, 6; T of 2 is 10 - 10, T of 100 is 388 - 12.

    Beside 2 the development rows have 14 - 10, 11 - 13 (0 is as near to 1 as 2 is), 13 - 15 and 16 - 12: two are
    farther, and x is half of itself. Beside 100 none has more than 4: x alone.
    """
    sides = _numeric(np.array([[0.0], [1.0], [5.0], [6.0]])), _numeric(np.array([[2.0], [100.0]]))
    assert estimated(correspondence_averaged(*sides)).value == pytest.approx((2.5 / 5 + 0.5 / 5) / 2)


def test_every_permutation_that_ties_counts() -> None:
    """Three rows of three levels lie equally far apart in every order: more permutations than are drawn at once."""
    levels = ("a", "b", "c")
    sides = (Feature("ward", np.array([0.0, 1.0]), levels),), (Feature("ward", np.array([2.0]), levels),)
    found = estimated(degree_of_correspondence(*sides, permutations=1_500))
    assert (found.value, found.details["statistic"]) == (1, 1)
    energy = estimated(energy_coefficient(*sides, permutations=1_500))
    assert (energy.value, energy.details["p_value"]) == (0.75, 1)


@pytest.mark.parametrize(
    ("theirs", "low", "value", "high"),
    [
        # Twice 11 across; 1 and 2 inside, of which resamples hold half: four times that in one of both rows. One that
        # holds a single row a side is all distance.
        ([10.0, 14.0], 1 - 12 / 22, 1 - 3 / 22, 1.0),
        # A resample of zeros alone has no distance at all: 0 too.
        ([0.0, 2.0], 0.0, 0.0, 1.0),
    ],
)
def test_the_energy_interval_of_two_rows_a_side(theirs: list[float], low: float, value: float, high: float) -> None:
    sides = _numeric(np.array([[0.0], [2.0]])), _numeric(np.array(theirs)[:, None])
    found = estimated(energy_coefficient(*sides, permutations=9))
    assert (found.low, found.value, found.high) == pytest.approx((low, value, high), abs=1e-8)


def test_energy_of_tables_that_are_almost_equal() -> None:
    """One row of 20 differs: across 2 x 1/20, inside 2 x 1/20 x 19/20."""
    ours = _numeric(np.eye(20)[:, :1])
    found = estimated(energy_coefficient(ours, _numeric(np.zeros((20, 1))), permutations=9, bootstrap=9))
    assert found.value == pytest.approx(0.05, abs=1e-8)


# ---- what the measures mean -----------------------------------------------------------------------------------------


POPULATIONS: dict[str, Callable[[np.random.Generator, int], Floats]] = {
    "continuous": lambda rng, n: rng.standard_normal((n, 5)),
    "whole numbers": lambda rng, n: rng.normal(60, 12, (n, 1)).round(),
    "flags": lambda rng, n: (rng.standard_normal((n, 5)) > [0, 0.5, 1, -0.5, 1.5]).astype(float),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", POPULATIONS)
def test_tables_of_one_population_have_an_averaged_correspondence_of_one_half(kind: str) -> None:
    """Whatever they hold: the mean over 60 pairs within four of its errors, and one half in the intervals of 50."""
    rng, draw_of = np.random.default_rng(7), POPULATIONS[kind]
    found = [
        estimated(correspondence_averaged(_numeric(draw_of(rng, 60)), _numeric(draw_of(rng, 90)))) for _ in range(60)
    ]
    values = np.array([each.value for each in found])
    assert abs(values.mean() - 0.5) < 4 * values.std() / math.sqrt(60)
    held = sum((each.low or 0) <= 0.5 <= (each.high or 0) for each in found)
    # Fewer than 51 of 60 has a probability of .0008 where the coverage is .95.
    assert held >= 51


def test_the_interval_of_the_averaged_form_knows_that_the_development_rows_vary_too() -> None:
    """Of 3,000 rows beside 40 the error is that of the 40: it hardly falls with more external rows."""
    rng = np.random.default_rng(1)
    ours = _numeric(rng.normal(size=(40, 3)))
    theirs = (_numeric(rng.normal(size=(n, 3))) for n in (40, 3000))
    few, many = (present(estimated(correspondence_averaged(ours, each)).se) for each in theirs)
    assert 0.5 * few < many < few
    assert many > 0.8 * math.sqrt(1 / 12 / 40)


def test_the_energy_interval_holds_0_where_both_tables_come_from_one_population() -> None:
    """20 pairs of 60 rows of five predictors: the interval of the biased form held 0 in 1 of 20."""
    rng = np.random.default_rng(5)
    for _ in range(20):
        ours, theirs = (_numeric(rng.normal(size=(60, 5))) for _ in range(2))
        found = estimated(energy_coefficient(ours, theirs, permutations=9, bootstrap=200))
        assert found.low == 0
        assert "one-sided because the tables may come from one population" in method_text(found.method)


def test_psi_is_uniform_when_the_tables_are_exchangeable() -> None:
    rng = np.random.default_rng(8)
    p_values = [
        estimated(
            degree_of_correspondence(_numeric(rng.normal(size=(30, 2))), _numeric(rng.normal(size=(15, 2))), 99)
        ).value
        for _ in range(120)
    ]
    assert np.mean(p_values) == pytest.approx(0.5, abs=0.1)
    assert 0.02 <= np.mean(np.array(p_values) <= 0.1) <= 0.2


def test_a_far_table_corresponds_in_no_way() -> None:
    rng = np.random.default_rng(9)
    a, b = _numeric(rng.normal(size=(40, 2))), _numeric(rng.normal(30, 1, size=(20, 2)))
    assert estimated(degree_of_correspondence(a, b, permutations=199)).value == 1 / 200
    assert estimated(correspondence_averaged(a, b)).value == pytest.approx(0.5 / 41)
    assert estimated(energy_coefficient(a, b)).value > 0.8


def test_the_order_of_rows_and_of_features_does_not_matter() -> None:
    a, b = _random_sides(2, missing=True)
    rng = np.random.default_rng(0)
    shuffled = _numeric(a[rng.permutation(len(a))]), tuple(reversed(_numeric(b[rng.permutation(len(b))])))
    for measure in (degree_of_correspondence, correspondence_averaged, energy_coefficient):
        assert measure(*shuffled) == measure(_numeric(a), _numeric(b))


def test_rows_that_tie_in_one_feature_are_ordered_by_the_other() -> None:
    rng = np.random.default_rng(10)
    a, b = (np.column_stack([rng.normal(size=n), rng.integers(0, 2, n)]) for n in (14, 9))
    for measure in (degree_of_correspondence, energy_coefficient):
        assert measure(_numeric(a[::-1]), _numeric(b[::-1])) == measure(_numeric(a), _numeric(b))


def test_sums_of_distances_are_exact_in_any_order() -> None:
    a, b = _random_sides(8, missing=True)
    found = distances(present(tables(_numeric(a), _numeric(b))), np.arange(17), np.arange(17)) * 2**30
    assert found.tolist() == np.round(found).tolist()


def test_categories_that_no_row_misses_count_one_where_they_differ() -> None:
    levels = ("a", "b", "c")
    ours = (Feature("c", np.array([0.0, 1.0, 2.0]), levels), Feature("x", np.array([0.0, 1.0, 2.0])))
    theirs = (Feature("c", np.array([0.0, 1.0]), levels), Feature("x", np.array([0.0, 2.0])))
    spread = np.std([0, 1, 2, 0, 2], ddof=1)
    found = distances(present(tables(ours, theirs)), np.arange(3), np.array([3, 4]))
    expected = [
        math.hypot(code != other, (code - number) / spread)
        for code in range(3)
        for other, number in ((0.0, 0.0), (1.0, 2.0))
    ]
    assert found.ravel().tolist() == pytest.approx(expected, abs=1e-8)


def test_categories_count_one_where_they_differ() -> None:
    """One-hot divided by the root of 2, beside a number divided by its standard deviation."""
    levels = ("a", "b", "c")
    ours = (Feature("c", np.array([0.0, 1.0, 2.0]), levels), Feature("x", np.array([0.0, 1.0, 2.0])))
    theirs = (Feature("c", np.array([0.0, np.nan]), levels), Feature("x", np.array([0.0, 2.0])))
    spread = np.std([0, 1, 2, 0, 2], ddof=1)
    found = distances(present(tables(ours, theirs)), np.array([0, 1, 2]), np.array([3, 4]))
    # Development rows sort to (0, 0), (1, 1), (2, 2); the external row without category comes last.
    expected = [
        math.sqrt((code > 0) + (code / spread) ** 2) if column == 0 else math.sqrt(2) * (2 - code) / spread
        for code in range(3)
        for column in range(2)
    ]
    assert found.ravel().tolist() == pytest.approx(expected, abs=1e-8)


def test_what_was_dropped_is_named_and_counted() -> None:
    a, b = _random_sides(1, missing=False)
    a[:, 3], b[:, 3] = 7.0, 7.0
    b[0, :2] = np.nan
    found = estimated(correspondence_averaged(_numeric(a), _numeric(b)))
    assert "without x3 (constant)" in method_text(found.method)
    assert "1 row with less than half of the predictors left out" in method_text(found.method)
    assert (found.n, found.details["external_left_out"], found.details["features"]) == (5, 1, 3)


# ---- reasons --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("measure", [degree_of_correspondence, correspondence_averaged, energy_coefficient])
@pytest.mark.parametrize(
    ("ours", "theirs", "reason"),
    [
        ({"x": [1.0, 2.0]}, {"y": [1.0]}, "the external table shares no predictor with the development table"),
        ({"x": [1.0, 1.0]}, {"x": [1.0]}, "no shared predictor varies"),
        ({"x": [np.nan, np.nan]}, {"x": [np.nan]}, "no shared predictor varies"),
        ({"x": [1.0, np.nan]}, {"x": [2.0]}, "fewer than two development rows have half of the predictors"),
        ({"x": [1.0, 2.0]}, {"x": [np.nan]}, "no external row has half of the predictors"),
        ({"x": [1.0, 2.0]}, {"x": []}, "no external row has half of the predictors"),
        (
            {"x": [1.0, 2.0, 3.0], "y": [np.nan, 2.0, 3.0]},
            {"x": [np.nan, 1.0], "y": [2.0, 4.0]},
            "two rows share no predictor that both have, so their distance is unknown",
        ),
    ],
)
def test_each_gap_has_its_reason(
    measure: object, ours: dict[str, list[float]], theirs: dict[str, list[float]], reason: str
) -> None:
    assert callable(measure)
    sides = [tuple(Feature(name, np.array(values)) for name, values in side.items()) for side in (ours, theirs)]
    assert measure(*sides) == Said(reason)


def test_one_external_row_has_a_value_without_an_interval() -> None:
    sides = _numeric(np.array([[1.0], [2.0], [4.0]])), _numeric(np.array([[3.0]]))
    for measure in (correspondence_averaged, energy_coefficient):
        found = estimated(measure(*sides))
        assert (found.low, found.high, found.reason) == (None, None, Said("one external row gives no interval"))


# ---- feature by feature ---------------------------------------------------------------------------------------------


def test_shift_against_r() -> None:
    """smd and ks of age and crp in golden/r.json: sites A and D of golden/binary.csv; R took A minus D."""
    golden = json.loads((GOLDEN / "r.json").read_text())["similarity"]
    table = pd.read_csv(GOLDEN / "binary.csv")
    sides = [
        tuple(Feature(name, table[name][table["site"] == site].to_numpy(dtype=float)) for name in ("age", "crp"))
        for site in ("A", "D")
    ]
    found = {(row.variable, row.statistic): row.value for row in feature_shift(*sides)}
    for name in ("age", "crp"):
        assert found[name, "standardized_mean_difference"] == pytest.approx(-golden[f"smd_{name}"], rel=1e-9)
        assert found[name, "kolmogorov_smirnov"] == pytest.approx(golden[f"ks_{name}"]["D"], rel=1e-9)


def test_shift_by_hand() -> None:
    ours = (Feature("x", np.array([0.0, 1.0, 2.0, np.nan])), Feature("s", np.array([0.0, 0.0, 1.0, 1.0]), ("f", "m")))
    theirs = (Feature("x", np.array([1.0, 2.0, 3.0])), Feature("s", np.array([1.0, 1.0, 1.0, 0.0]), ("f", "m")))
    rows = {(row.variable, row.statistic, row.level): row for row in feature_shift(ours, theirs)}
    assert rows["x", "share_missing_development", None].value == 0.25
    assert rows["x", "share_missing", None].value == 0
    assert rows["x", "standardized_mean_difference", None].value == pytest.approx(1.0)
    assert rows["x", "kolmogorov_smirnov", None].value == pytest.approx(1 / 3)
    by_level = rows["s", "standardized_mean_difference", "m"]
    assert by_level.value == pytest.approx(0.25 / math.sqrt(0.21875))
    assert by_level.n == 4


def test_shift_leaves_out_what_cannot_be_standardized() -> None:
    constant = (Feature("x", np.ones(3)), Feature("gone", np.full(2, np.nan)), Feature("theirs only", np.ones(2)))
    rows = {(row.variable, row.statistic) for row in feature_shift(constant[:2], constant)}
    assert ("x", "standardized_mean_difference") not in rows
    assert ("x", "kolmogorov_smirnov") in rows
    assert {row for row in rows if row[0] == "gone"} == {
        ("gone", "share_missing"),
        ("gone", "share_missing_development"),
    }


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (np.full(10, 0.1), np.full(7, 0.1)),
        (np.full(1000, 36.6), np.full(333, 36.6)),
        (np.full(1624, 0.7), np.full(120, 0.7)),
        (np.full(100, 1.1), np.full(100, 1.2)),
    ],
)
def test_a_constant_whose_variance_is_rounding_cannot_be_standardized(ours: Floats, theirs: Floats) -> None:
    assert ours.var(ddof=1) + theirs.var(ddof=1) > 0
    rows = feature_shift((Feature("x", ours),), (Feature("x", theirs),))
    assert "standardized_mean_difference" not in {row.statistic for row in rows}


@pytest.mark.parametrize(("ours", "theirs", "sign"), [((0.1,) * 10, (0.0, 1.0), 1), ((0.0, 1.0), (0.1,) * 10, -1)])
def test_a_constant_side_is_standardized_by_the_other(
    ours: tuple[float, ...], theirs: tuple[float, ...], sign: int
) -> None:
    """The variances are 0 and 1/2, the means .1 and .5."""
    rows = feature_shift((Feature("x", np.array(ours)),), (Feature("x", np.array(theirs)),))
    found = next(row.value for row in rows if row.statistic == "standardized_mean_difference")
    assert found == pytest.approx(sign * 0.4 / math.sqrt(0.25))


def test_each_level_that_is_seen_has_its_shift() -> None:
    """f falls from 3 in 4 to 1 in 4, each of variance 3/16; nobody has u on either side."""
    levels = ("f", "m", "u")
    rows = feature_shift(
        (Feature("s", np.array([0.0, 0.0, 0.0, 1.0]), levels),), (Feature("s", np.array([1.0, 1.0, 1.0, 0.0]), levels),)
    )
    shifts = {row.level: row.value for row in rows if row.statistic == "standardized_mean_difference"}
    assert shifts == pytest.approx({"f": -0.5 / math.sqrt(3 / 16), "m": 0.5 / math.sqrt(3 / 16)})


@pytest.mark.parametrize("levels", [None, ("f", "m")])
def test_a_predictor_that_one_side_lacks_has_only_its_gaps(levels: tuple[str, ...] | None) -> None:
    known, gone = (Feature("x", np.array([0.0, 1.0]), levels),), (Feature("x", np.full(2, np.nan), levels),)
    for sides, gaps in (((known, gone), [0.0, 1.0]), ((gone, known), [1.0, 0.0])):
        rows = feature_shift(*sides)
        assert [row.statistic for row in rows] == ["share_missing_development", "share_missing"]
        assert [row.value for row in rows] == gaps


# ---- membership -----------------------------------------------------------------------------------------------------


def _coded(values: pd.Series, levels: tuple[str, ...]) -> Floats:
    return np.array([levels.index(value) for value in values], dtype=float)


def _golden_side(table: pd.DataFrame) -> Features:
    return (
        Feature("age", np.asarray(table["age"], dtype=float)),
        Feature("crp", np.asarray(table["crp"], dtype=float)),
        Feature("stage", _coded(table["stage"], ("I", "II", "III")), ("I", "II", "III")),
        Feature("sex", _coded(table["sex"], ("F", "M")), ("F", "M")),
    )


def test_the_membership_model_is_that_of_r() -> None:
    expected = json.loads((GOLDEN / "r.json").read_text())["similarity"]
    table = pd.read_csv(GOLDEN / "binary.csv")
    table = table[table["site"].isin(["A", "D"])]
    x = np.column_stack(
        [table["age"], table["crp"], table["stage"] == "II", table["stage"] == "III", table["sex"] == "M"]
    ).astype(float)
    member = np.asarray(table["site"] == "D", dtype=float)
    found = ridge_logistic((x - x.mean(axis=0)) / x.std(axis=0), member, ridge=0.0)
    slopes = found[1:] / x.std(axis=0)
    coefficients = list(expected["membership_coef"].values())
    sign = math.copysign(1, coefficients[1] * slopes[0])
    assert sign * slopes == pytest.approx(coefficients[1:], rel=1e-6)
    assert sign * (found[0] - slopes @ x.mean(axis=0)) == pytest.approx(coefficients[0], rel=1e-6)
    # Out of fold it is a little less than on the rows of the fit.
    ours = membership_auroc(_golden_side(table[table["site"] == "A"]), _golden_side(table[table["site"] == "D"]))
    assert expected["membership_auc"] - 0.02 < estimated(ours).value < expected["membership_auc"]


def test_the_ridge_fit_solves_its_equations_even_when_the_tables_are_separated() -> None:
    x = np.column_stack([np.r_[np.full(20, -1.0), np.full(20, 1.0)], np.tile([0.3, -0.3], 20)])
    y = np.r_[np.zeros(20), np.ones(20)]
    found = ridge_logistic(x, y)
    mean = 1 / (1 + np.exp(-(found[0] + x @ found[1:])))
    assert x.T @ (y - mean) == pytest.approx(0.01 * found[1:], abs=1e-6)
    assert (y - mean).sum() == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("ridge", [0.01, 2.0])
@pytest.mark.parametrize(
    ("points", "ones", "zeros"),
    [
        ([[-1, 0], [0, 1], [1, 0]], [9, 4, 1], [1, 6, 9]),
        ([[17, 0], [0, -1], [-1, 0], [-5, -1], [-4, -2]], [1, 0, 2, 0, 68], [0, 99, 0, 0, 9]),
        ([[0, 1], [11, -1], [2, -197], [12, -3], [-58, -7]], [72, 0, 0, 1, 0], [10, 12, 4, 0, 1]),
    ],
)
def test_the_ridge_fit_solves_its_equations_where_whole_steps_lead_astray(
    points: list[list[int]], ones: list[int], zeros: list[int], ridge: float
) -> None:
    """At the second and third points, found by chance, whole steps of Newton raise the loss or never end."""
    x = np.repeat(np.array(points + points, dtype=float), ones + zeros, axis=0)
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    y = np.repeat([1.0, 0.0], [sum(ones), sum(zeros)])
    found = ridge_logistic(x, y, ridge)
    mean = 1 / (1 + np.exp(-(found[0] + x @ found[1:])))
    assert x.T @ (y - mean) == pytest.approx(ridge * found[1:], abs=1e-8)
    assert (y - mean).sum() == pytest.approx(0, abs=1e-8)


def test_the_columns_of_the_membership_model_are_standardized() -> None:
    rng = np.random.default_rng(11)
    design = present(
        membership_design(_numeric(rng.normal(50, 9, size=(30, 2))), _numeric(rng.normal(60, 9, size=(20, 2))))
    )
    assert design.columns.mean(axis=0) == pytest.approx([0, 0], abs=1e-12)
    assert design.columns.std(axis=0) == pytest.approx([1, 1])


def test_ten_rows_are_enough() -> None:
    found = estimated(membership_auroc(_numeric(np.arange(12.0)[:, None]), _numeric(np.arange(10.0)[:, None])))
    assert (found.n, found.details) == (10, {"development_n": 12})


def test_each_half_is_predicted_by_a_fit_to_the_other() -> None:
    rng = np.random.default_rng(5)
    design = present(membership_design(_numeric(rng.normal(size=(60, 3))), _numeric(rng.normal(0.4, 1, size=(41, 3)))))
    found = auroc_of_halves(design, seed=3)
    draws = np.random.default_rng(3)
    for halving in range(10):
        first = np.concatenate([draws.permutation(np.arange(n) % 2) == 0 for n in (60, 41)])
        for half, held in enumerate((first, ~first)):
            fit = ridge_logistic(design.columns[~held], design.external[~held])
            risk, member = design.columns[held] @ fit[1:], design.external[held] == 1
            wins = np.sign(np.subtract.outer(risk[member], risk[~member]))
            assert found[2 * halving + half] == pytest.approx((1 + wins.mean()) / 2, abs=1e-12)


def test_membership_is_one_half_for_one_population_and_1_for_two() -> None:
    """60 pairs: with tenths and DeLong's error one half was in .82 of the intervals."""
    rng = np.random.default_rng(6)
    found = [
        estimated(membership_auroc(_numeric(rng.normal(size=(120, 3))), _numeric(rng.normal(size=(80, 3))), seed=seed))
        for seed in range(60)
    ]
    assert np.mean([estimate.value for estimate in found]) == pytest.approx(0.5, abs=0.02)
    assert sum((each.low or 0) <= 0.5 <= (each.high or 0) for each in found) >= 51
    apart = estimated(membership_auroc(_numeric(rng.normal(size=(50, 2))), _numeric(rng.normal(9, 1, size=(50, 2)))))
    assert (apart.value, apart.high) == (1, 1)
    assert 0.9 < present(apart.low) < 1
    assert apart.n == 50
    assert "10 random halvings" in method_text(apart.method)


def test_what_is_missing_tells_the_tables_apart_and_is_named() -> None:
    rng = np.random.default_rng(7)
    ours, theirs = rng.normal(size=(80, 2)), rng.normal(size=(60, 2))
    theirs[:50, 1] = np.nan
    assert estimated(membership_auroc(_numeric(ours), _numeric(theirs))).value > 0.85
    drivers = {(row.variable, row.level): row.value for row in membership_drivers(_numeric(ours), _numeric(theirs))}
    assert set(drivers) == {("x0", None), ("x1", None), ("x1", "missing")}
    assert max(drivers, key=lambda key: abs(drivers[key])) == ("x1", "missing")
    assert drivers["x1", "missing"] > 0


def test_the_drivers_of_a_category_are_its_levels_but_the_most_common() -> None:
    levels = ("a", "b", "c")
    ours = (Feature("kind", np.tile([0.0, 0, 1, 2], 10), levels), Feature("flat", np.ones(40)))
    theirs = (Feature("kind", np.tile([0.0, 1, 1, 2], 10), levels), Feature("flat", np.ones(40)))
    found = membership_drivers(ours, theirs)
    # Codes 0 and 1 are both seen 30 times: the first of them is the one that is left out.
    assert [(row.variable, row.level) for row in found] == [("kind", "b"), ("kind", "c")]
    assert found[0].value > 0


def test_the_order_of_rows_does_not_matter_to_membership() -> None:
    rng = np.random.default_rng(8)
    ours, theirs = rng.normal(size=(50, 2)), rng.normal(0.5, 1, size=(45, 2))
    theirs[3, 0] = np.nan
    turned = membership_auroc(_numeric(ours[rng.permutation(50)]), _numeric(theirs[rng.permutation(45)]), seed=4)
    assert turned == membership_auroc(_numeric(ours), _numeric(theirs), seed=4)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (_numeric(np.zeros((20, 1))), _numeric(np.zeros((20, 1)))),
        (_numeric(np.arange(9.0)[:, None]), _numeric(np.arange(30.0)[:, None])),
        (_numeric(np.arange(30.0)[:, None]), _numeric(np.arange(9.0)[:, None])),
        (_numeric(np.arange(30.0)[:, None]), (Feature("other", np.arange(30.0)),)),
        (_numeric(np.full((20, 1), np.nan)), _numeric(np.full((20, 1), np.nan))),
    ],
)
def test_a_membership_that_cannot_be(ours: Features, theirs: Features) -> None:
    assert not reason_text(absent(membership_auroc(ours, theirs)).reason).endswith(".")
    assert membership_drivers(ours, theirs) == ()


# ---- conformal p values ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(8))
def test_conformal_bins_against_loops(seed: int) -> None:
    """Each external row on its own beside all development rows, counted into tenths that hold their upper end."""
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(23, 2)), rng.normal(0.4, 1.2, size=(17, 2))
    ours, theirs = _scaled(a, b)
    counts = [0] * 10
    for row in theirs:
        p = _slow_averaged(ours, row[None, :])
        counts[next(k for k in range(10) if p <= (k + 1) / 10 + 1e-12)] += 1
    found = curved(conformal_p_values(_numeric(a), _numeric(b)))
    assert found.columns["share"] == pytest.approx([count / 17 for count in counts], abs=1e-12)
    assert list(found.columns["low"]) == [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
    assert list(found.columns["high"]) == [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1]
    assert found.n == 17


def test_conformal_bins_of_exchangeable_rows_hold_a_tenth_each() -> None:
    rng = np.random.default_rng(3)
    total = np.zeros(10)
    for _ in range(60):
        found = curved(conformal_p_values(_numeric(rng.normal(size=(59, 3))), _numeric(rng.normal(size=(40, 3)))))
        total += np.array(found.columns["share"], dtype=float)
    np.testing.assert_allclose(total / 60, 0.1, atol=0.03)


def test_large_tables_are_binned_from_the_rows_of_the_averaged_form(small_limits: int) -> None:
    ours, theirs = (_numeric(side) for side in _populations())
    found, averaged = curved(conformal_p_values(ours, theirs)), estimated(correspondence_averaged(ours, theirs))
    assert found.n == averaged.n == small_limits
    assert "at most 120 rows a side drawn by seed" in method_text(found.method)
    middles = (np.arange(10) + 0.5) / 10
    shares = np.array(found.columns["share"], dtype=float)
    assert float(shares @ middles) == pytest.approx(averaged.value, abs=0.05)
