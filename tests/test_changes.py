"""Changes since the previous release: what is read of it, what a difference may say, and what is recorded."""

from __future__ import annotations

import dataclasses
import datetime
import hashlib
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dossier import evaluate, reading
from dossier.core import bands, claims, flags, multiplicity, types
from dossier.core.facts import Method
from dossier.core.types import Absent, DatasetSummary, Estimate, Evidence, Gallery, Predicted, Result
from dossier.metrics.changes import _farther, change, judged
from dossier.metrics.comparison import auroc_difference
from dossier.metrics.discrimination import auroc
from dossier.metrics.intervals import wilson
from dossier.record import results
from dossier.record.manifest import SCHEMA
from dossier.report import compose
from dossier.report.chapters import acceptance, verdict
from dossier.report.chapters import changes as chapter
from dossier.report.chapters.committee import declared, first_page
from dossier.typeset import labels
from dossier.typeset.methods import method_text
from dossier.typeset.numbers import plain
from dossier.typeset.reasons import reason_text
from tests.estimated import estimated, interval_of, present, refused
from tests.reasons import Said, because
from tests.smallest import HEAD, release_in
from tests.test_results import faults

ABOUT = (
    HEAD.replace('"1"', '"{version}"').replace("[outcome]", "{more}\n[outcome]")
    + """
{rival}
[thresholds]
declared = [{thresholds}]
[resampling]
bootstrap = 2
permutations = 9
"""
)
SITE = """
[[dataset]]
name = "{name}"
role = "external"
file = "{name}.csv"
site = "Hospital {name}"
dates = {dates}
"""
THIS_YEAR, LAST_YEAR = "[2026-01-01, 2026-06-30]", "[2025-01-01, 2025-06-30]"
MET = (
    '[[acceptance]]\nmeasure = "auroc"\ndataset = "north"\nbound = "value"\nat_least = {0}\ndeclared_on = 2026-01-01\n'
)


def _table(seed: int, n: int, spread: float = 1.2) -> str:
    """A simulated table with the risks of two versions; those of the first have a slope of 1 / spread."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    outcome = (rng.uniform(size=n) < 1 / (1 + np.exp(-x))).astype(int)
    risk, old = 1 / (1 + np.exp(-spread * x)), 1 / (1 + np.exp(-0.8 * x - rng.normal(size=n)))
    rows = [f"{a},{b:.4f},{c:.4f}" for a, b, c in zip(outcome, risk, old, strict=True)]
    return "\n".join(["outcome,risk,risk_previous", *rows]) + "\n"


def _release(
    folder: Path,
    sites: dict[str, tuple[int, int, str]],
    version: str,
    previous: str = "",
    rival: str = "",
    thresholds: str = "0.3",
    criteria: str = "",
    spread: float = 1.2,
) -> Evidence:
    """The evidence of a release with these sites: seed, patients and dates of each."""
    folder.mkdir(parents=True)
    more = f'previous = "{previous}"' if previous else ""
    text = ABOUT.format(version=version, more=more, rival=rival, thresholds=thresholds)
    for name, (seed, n, dates) in sites.items():
        text += SITE.format(name=name, dates=dates)
        (folder / f"{name}.csv").write_text(_table(seed, n, spread), encoding="utf-8")
    return evaluate.evidence(reading.study(release_in(folder, text + criteria), allow_outside=True))


def _printed(folder: Path, evidence: Evidence, manifest: dict[str, Any] | None = None) -> None:
    """What a build of this evidence would leave behind for the next release."""
    folder.mkdir()
    content = results.of(evidence).text()
    (folder / "results.json").write_bytes(content)
    if manifest is not None:
        own = {"name": "results.json", "sha256": hashlib.sha256(content).hexdigest(), "size": len(content)}
        about = {"schema": SCHEMA, "command": "dossier build --edition all --page a4", "seed": 1}
        (folder / "manifest.json").write_text(json.dumps({**about, "outputs": [own], **manifest}), encoding="utf-8")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A place with a first release: hospitals north and south, last year."""
    position = tmp_path_factory.mktemp("changes")
    sites = {"north": (1, 120, LAST_YEAR), "south": (2, 90, LAST_YEAR)}
    first = _release(position / "first", sites, "1.0.0", thresholds="0.3, 0.5", criteria=MET.format(0.5))
    versions = {"dossier": "0.0.9", "numpy": "1.0"}
    inputs = [{"name": file.name, "sha256": file.sha256, "size": file.size} for file in first.inputs]
    _printed(position / "out", first, {"versions": versions, "inputs": inputs, "artifact_sha256": "ab" * 32})
    return position


@pytest.fixture(scope="module")
def same(folder: Path) -> Evidence:
    """The first release again, with itself as the previous one."""
    sites = {"north": (1, 120, LAST_YEAR), "south": (2, 90, LAST_YEAR)}
    previous = "../out/results.json"
    return _release(folder / "same", sites, "1.0.0", previous, thresholds="0.3, 0.5", criteria=MET.format(0.5))


@pytest.fixture(scope="module")
def later(folder: Path) -> Evidence:
    """Version 1.1.0: north this year, a third hospital in place of south, another threshold, a harder criterion."""
    sites = {"north": (3, 150, THIS_YEAR), "west": (4, 80, THIS_YEAR)}
    previous = "../out/results.json"
    return _release(folder / "later", sites, "1.1.0", previous, thresholds="0.3, 0.4", criteria=MET.format(0.99))


@pytest.fixture(scope="module")
def paired(folder: Path) -> Evidence:
    """Version 1.1.0 on the patients of before, with the risks of version 1.0.0 beside its own."""
    sites = {"north": (1, 120, LAST_YEAR), "south": (2, 90, LAST_YEAR)}
    return _release(folder / "paired", sites, "1.1.0", "../out/results.json", 'previous = "risk_previous"')


def _differences(evidence: Evidence, measure: str = "auroc", **at: float) -> dict[str, Estimate | Absent]:
    wanted = {**at, "against": "previous"}
    return {
        result.dataset: result.found
        for result in present(evidence.changes).results
        if result.measure == measure and dict(result.at) == wanted
    }


def _whole(evidence: Evidence, measure: str, dataset: str, **at: float) -> Estimate:
    (found,) = (
        result.found
        for result in evidence.results
        if (result.measure, result.dataset, result.subset, dict(result.at)) == (measure, dataset, None, at)
    )
    return estimated(found)


# ---- the formula ----------------------------------------------------------------------------------------------------


def _share(successes: int, n: int) -> Estimate:
    return Estimate(successes / n, *wilson(successes, n, 0.95), 0.95, n, Method("wilson"), successes)


@pytest.mark.parametrize(
    ("first", "other", "low", "high"),
    [
        ((56, 70), (48, 80), 0.0524, 0.3339),
        ((9, 10), (3, 10), 0.1705, 0.8090),
        ((6, 7), (2, 7), 0.0582, 0.8062),
        ((5, 56), (0, 29), -0.0381, 0.1926),
        ((0, 10), (0, 20), -0.1611, 0.2775),
        ((10, 10), (0, 20), 0.6791, 1.0000),
    ],
)
def test_independent_rows_give_the_intervals_of_newcombe(
    first: tuple[int, int], other: tuple[int, int], low: float, high: float
) -> None:
    """Newcombe 1998, Stat Med 17:873, table II, method 10: square-and-add of Wilson's intervals, four digits."""
    found = change(_share(*first), _share(*other), None)
    assert found.value == pytest.approx(first[0] / first[1] - other[0] / other[1], abs=1e-12)
    assert found.low == pytest.approx(low, abs=5e-5)
    assert found.high == pytest.approx(high, abs=5e-5)
    assert (found.n, found.events) == (first[1] + other[1], first[0] + other[0])


def test_rows_that_may_be_shared_give_the_unpaired_interval_and_say_so() -> None:
    found = change(_share(9, 10), _share(3, 10), Absent(because("they are the same")))
    independent = change(_share(9, 10), _share(3, 10), None)
    assert (found.value, found.low, found.high) == (independent.value, independent.low, independent.high)
    assert found.reason == Said("they are the same")
    assert method_text(found.method).startswith("minus the previous release, not paired, square-and-add")


@pytest.mark.parametrize(
    ("best", "now", "before", "low", "high", "worse"),
    [
        ("higher", 0.7, 0.8, -0.15, -0.05, 0.1),
        ("lower", 0.2, 0.1, 0.05, 0.15, 0.1),
        ("one", 0.57, 1.07, -0.75, -0.25, 0.36),
        ("one", 1.3, 0.7, 0.4, 0.8, 0.0),
        ("one", 1.0, 0.6, 0.2, 0.6, -0.4),
    ],
)
def test_worse_is_lower_higher_or_farther_from_1(
    best: str, now: float, before: float, low: float, high: float, worse: float
) -> None:
    present, past = (Estimate(each, each - 0.05, each + 0.05, 0.95, 100, Method("wilson")) for each in (now, before))
    found = judged(Estimate(now - before, low, high, 0.95, 100, Method("wilson")), present, best, past)
    half, off = (high - low) / 2, max(abs(now - 1), abs(before - 1))
    p_value = math.erfc(abs(now - before) / (half / 1.959964) / math.sqrt(2))
    if best == "one":
        p_value = max(p_value, math.erfc(off / (0.05 / 1.959964) / math.sqrt(2)))
    if worse == 0:
        p_value = 1.0  # as far from 1 on one side as before on the other
    assert found.details["worse_by"] == pytest.approx(worse, abs=1e-12)
    assert found.details["p_value"] == pytest.approx(p_value, abs=1e-6)


@pytest.mark.parametrize("way", [1, -1])
def test_a_ratio_that_is_as_far_from_1_on_the_other_side_is_neither_better_nor_worse(way: int) -> None:
    """Of 2,000 pairs of an O/E of 0.8 and one of 1.2, in either order, on the same patients or on others."""
    rng, error, z = np.random.default_rng(11), 0.05, 1.959964
    for correlation in (0.0, 0.9):
        noise = rng.multivariate_normal([0, 0], error**2 * np.array([[1, correlation], [correlation, 1]]), 2000)
        of_difference, called = z * error * math.sqrt(2 - 2 * correlation), 0
        for own, other in noise:
            now, before = 1 + 0.2 * way + own, 1 - 0.2 * way + other
            here, past = (Estimate(v, v - z * error, v + z * error, 0.95, 900, Method("delta")) for v in (now, before))
            apart = now - before
            moved = Estimate(apart, apart - of_difference, apart + of_difference, 0.95, 900, Method("paired"))
            own_error = dataclasses.replace(moved, details={"se_before": error})
            ways = (judged(moved, here, "one", past), judged(own_error, here, "one"))
            p_value, other_p = (way.details["p_value"] or 0 for way in ways)
            assert p_value == pytest.approx(other_p, rel=1e-5)
            called += p_value < 0.05
        assert called / 2000 <= 0.065


def test_better_is_said_after_the_same_correction_as_worse() -> None:
    details: dict[str, float | None] = {"p_value": 0.02, "p_adjusted": 0.2, "p_at_site": 0.04, "looks": 10.0}
    for worse, state in ((0.1, "against"), (-0.1, "shown")):
        found = Estimate(0.1, 0.02, 0.2, 0.95, 200, Method("paired"), details={**details, "worse_by": worse})
        assert multiplicity.since_last_release(found) == "open"
        assert multiplicity.since_last_release(found, is_own=True) == state
        found.details["p_adjusted"] = 0.04  # type: ignore[index]
        assert multiplicity.since_last_release(found) == state


@pytest.mark.parametrize(("level", "state"), [(0.95, "against"), (0.99, "open")])
def test_flag_and_register_call_the_same_worse(later: Evidence, level: float, state: types.State) -> None:
    """A difference whose interval of the release's level holds none accuses in neither, at no level."""
    details: dict[str, float | None] = {"p_value": 0.02, "p_adjusted": 0.03, "worse_by": 0.1, "looks": 1.0}
    found = Estimate(-0.1, -0.2, 0.01, level, 200, Method("paired"), details=details)
    result = dataclasses.replace(later.results[0], measure="auroc", term="auroc", at={}, subset=None, found=found)
    result = dataclasses.replace(result, dataset=types.externals(later)[0].name)
    changes = dataclasses.replace(present(later.changes), results=(result,))
    (claim,) = claims.about(dataclasses.replace(later, changes=changes), "since_last_release", "hospital")
    assert claim.state == state
    assert bool(flags.worse_than_before(changes, later.datasets)) is (state == "against")


def test_what_is_worse_at_a_later_threshold_names_it(same: Evidence) -> None:
    (result,) = (
        each
        for each in same.results
        if (each.measure, each.dataset, dict(each.at)) == ("sensitivity", "north", {"threshold": 0.5})
    )
    details: dict[str, float | None] = dict.fromkeys(("p_value", "p_adjusted", "p_at_site"), 0.001)
    found = Estimate(
        -0.1, -0.15, -0.05, 0.95, 200, Method("paired"), details={**details, "worse_by": 0.1, "looks": 4.0}
    )
    worse = dataclasses.replace(result, at={**result.at, "against": "previous"}, found=found)
    evidence = dataclasses.replace(same, changes=dataclasses.replace(present(same.changes), results=(worse,)))
    assert "(Hospital north: misses 10 more of 100 at the 50% line)" in plain(declared.than_before(evidence))
    assert "sensitivity at 0.50 at Hospital north" in plain(chapter.what_is_worse(evidence))


@pytest.mark.parametrize(("value", "p_value"), [(-0.1, 0.0), (0.0, 1.0)])
def test_a_difference_without_width_is_sure_or_none(value: float, p_value: float) -> None:
    now = Estimate(0.7, 0.65, 0.75, 0.95, 5000, Method("paired"))
    found = judged(Estimate(value, value, value, 0.95, 5000, Method("paired")), now, "higher")
    assert found.details["p_value"] == p_value


def test_what_may_still_lie_at_1_is_not_worse() -> None:
    """A change of a hundredth is sure on the same patients, and says nothing of which value is the better one."""
    moved = Estimate(-0.01, -0.011, -0.009, 0.95, 5000, Method("paired"))
    found = judged(moved, Estimate(0.99, 0.94, 1.04, 0.95, 5000, Method("paired")), "one")
    assert found.details["worse_by"] == pytest.approx(0.01, abs=1e-12)
    assert (found.details["p_value"] or 0) > 0.5


ENDS = st.floats(-1, 3, allow_nan=False).map(lambda value: round(value, 3))


@given(*(ENDS for _ in range(4)))
def test_how_much_farther_from_1_lies_between_the_ends_of_a_grid(
    one: float, other: float, by: float, to: float
) -> None:
    then, moved = sorted((one, other)), sorted((by - 1, to - 1))
    low, high = _farther(Estimate(then[0], then[0], then[1], 0.95, 100, Method()), moved[0], moved[1])
    assert low is not None
    assert high is not None
    was, change_by = (np.linspace(ends[0], ends[1], 201) for ends in (then, moved))
    every = np.abs(was[:, None] + change_by[None, :] - 1) - np.abs(was[:, None] - 1)
    step = (then[1] - then[0] + moved[1] - moved[0]) / 200
    assert low - 1e-9 <= every.min() <= low + 2 * step + 1e-9
    assert high - 2 * step - 1e-9 <= every.max() <= high + 1e-9


NOT_WORSE = """
[[acceptance]]
measure = "{measure}"
dataset = "{dataset}"
{more}
not_worse_by = {by}
than = "previous"
declared_on = 2024-12-01
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("measure", "dataset", "more", "by"),
    [
        ("oe_ratio", "north", "", 0.1),
        ("calibration_slope", "north", "", 0.2),
        ("calibration_slope", "south", "", 2.0),
        ("auroc", "pooled", 'subset = { column = "sex", level = "f" }', 0.1),
        ("oe_ratio", "pooled", 'subset = { column = "sex", level = "f" }', 0.5),
    ],
)
def test_how_much_worse_than_before_may_be_asked_of_every_measure_with_a_direction(
    folder: Path, tmp_path: Path, measure: str, dataset: str, more: str, by: float
) -> None:
    sites = {"north": (1, 600, LAST_YEAR), "south": (2, 480, LAST_YEAR)}
    asked = NOT_WORSE.format(measure=measure, dataset=dataset, more=more, by=by)
    evidence, _ = _by_sex(folder / tmp_path.name, sites, 'previous = "risk_previous"', asked)
    (criterion,) = evidence.criteria
    at = {**criterion.at, "against": "previous"}
    place = (measure, dataset, criterion.subset, at)
    (found,) = (
        each.found
        for each in present(evidence.changes).results
        if (each.measure, each.dataset, each.subset, dict(each.at)) == place
    )
    assert isinstance(found, Estimate)
    if measure == "auroc":
        worse, low, high = (None if end is None else -end for end in (found.value, found.high, found.low))
    else:
        worse, low, high = (found.details[name] for name in ("worse_by", "worse_low", "worse_high"))
    assert low is not None
    assert high is not None
    assert low <= present(worse) <= high
    state = "shown" if high <= by else "against" if low > by else "open"
    assert criterion.state == state
    (claim,) = (each for each in claims.made(evidence) if each.limit_source == "declared")
    assert (claim.question, claim.state) == ("since_last_release", state)
    label = acceptance.label(evidence, criterion)
    assert ("farther from 1 than the previous release" in label) == (measure != "auroc")


def test_intervals_of_two_levels_are_not_put_together() -> None:
    before = dataclasses.replace(_share(3, 10), level=0.9)
    found = change(_share(9, 10), before, None)
    assert found.low is None
    assert found.reason == Said("the previous interval is at 90%, the present one at 95%")


# ---- a release against another --------------------------------------------------------------------------------------


def test_without_a_previous_release_nothing_is_said(tmp_path: Path) -> None:
    evidence = _release(tmp_path / "only", {"north": (1, 120, LAST_YEAR)}, "1.0.0")
    assert evidence.changes is None
    assert json.loads(results.of(evidence).text())["previous"] is None
    html = compose.document(Gallery(evidence, {}, {}), "regulatory").html
    assert 'id="chapter-changes"' not in html
    assert "Give the results of the previous release." in html


def test_its_own_results_differ_by_nothing_and_are_not_paired(same: Evidence) -> None:
    for measure, at in (("auroc", {}), ("net_benefit", {"threshold": 0.3}), ("net_benefit", {"threshold": 0.5})):
        found = _differences(same, measure, **at)
        for name in ("north", "south"):
            estimate = estimated(found[name])
            assert estimate.value == 0.0
            low, high = interval_of(estimate)
            assert low < 0 < high
            assert not method_text(estimate.method).startswith("paired")
            assert "taken for the same" in reason_text(present(estimate.reason))
    unchanged = present(chapter.criteria(same))
    assert [cell.text for row in unchanged.rows for cell in row.cells[1:]] == ["shown: ≥\N{NO-BREAK SPACE}0.50"] * 2
    assert "no dataset came or went, and no criterion changed state" in chapter.finding(same).lead


def test_another_period_is_compared_as_independent_rows(later: Evidence, folder: Path) -> None:
    found = estimated(_differences(later)["north"])
    before = next(
        estimate
        for estimate in json.loads((folder / "out" / "results.json").read_text())["estimates"]
        if (estimate["measure"], estimate["dataset"], estimate["at"]) == ("auroc", "north", {})
    )
    now = _whole(later, "auroc", "north")
    assert found.value == pytest.approx(now.value - before["value"], abs=1e-12)
    down = np.hypot(now.value - present(now.low), before["high"] - before["value"])
    assert present(found.low) == pytest.approx(found.value - down, abs=1e-12)
    assert method_text(found.method).startswith("minus the previous release, independent rows, square-and-add")


def test_what_is_new_has_no_difference_and_says_so(later: Evidence) -> None:
    assert _differences(later)["west"] == Said("west is not in the previous release")
    gap = _differences(later, "net_benefit", threshold=0.4)["north"]
    assert gap == Said("the previous release does not have this measure at these settings")


def test_the_previous_version_as_rival_is_compared_patient_by_patient(paired: Evidence, folder: Path) -> None:
    outcome, risk, old = np.loadtxt(folder / "paired" / "north.csv", delimiter=",", skiprows=1).T
    both = auroc(outcome, risk), auroc(outcome, old)
    assert all(isinstance(estimate, Estimate) for estimate in both)
    expected = estimated(auroc_difference(outcome, risk, old))
    found = estimated(_differences(paired)["north"])
    assert (found.value, found.low, found.high) == (expected.value, expected.low, expected.high)
    assert method_text(found.method).startswith("paired, both versions on the same rows")


def _rows(folder: Path, name: str) -> tuple[np.ndarray[Any, Any], ...]:
    return tuple(np.loadtxt(folder / f"{name}.csv", delimiter=",", skiprows=1).T)


def test_shares_of_both_versions_are_compared_patient_by_patient(paired: Evidence, folder: Path) -> None:
    """McNemar's exact test, counted by hand: patients whom one version alone flags."""
    outcome, risk, old = _rows(folder / "paired", "south")
    for measure, kind in (("sensitivity", 1), ("specificity", 0)):
        now, before = ((each[outcome == kind] >= 0.3) == (kind == 1) for each in (risk, old))
        alone, other, n = int((now & ~before).sum()), int((before & ~now).sum()), int((outcome == kind).sum())
        found = estimated(_differences(paired, measure, threshold=0.3)["south"])
        assert found.value == pytest.approx((alone - other) / n, abs=1e-12)
        tail = sum(math.comb(alone + other, k) for k in range(min(alone, other) + 1)) / 2 ** (alone + other)
        assert found.details["p_value"] == pytest.approx(min(1.0, 2 * tail), rel=1e-9)
        assert method_text(found.method).startswith("paired, both versions on the same rows")


@pytest.mark.parametrize("measure", ["oe_ratio", "calibration_slope"])
def test_both_versions_move_with_the_same_patients(paired: Evidence, folder: Path, measure: str) -> None:
    """The error of the paired difference is that of leaving out each patient in turn."""
    from dossier.metrics import calibration

    of = getattr(calibration, measure)
    outcome, risk, old = _rows(folder / "paired", "north")

    def apart(kept: Any) -> float:
        return float(of(outcome[kept], risk[kept]).value - of(outcome[kept], old[kept]).value)

    n = len(outcome)
    each = np.array([apart(np.arange(n) != k) for k in range(n)])
    found = estimated(_differences(paired, measure)["north"])
    assert found.value == pytest.approx(apart(np.arange(n)), abs=1e-9)
    jackknife = math.sqrt((n - 1) / n * float(((each - each.mean()) ** 2).sum()))
    assert found.se == pytest.approx(jackknife, rel=0.06)


@pytest.mark.slow
def test_both_versions_move_with_the_same_clusters(folder: Path) -> None:
    """Of patients with several rows the error of the paired difference is that of leaving out each patient in turn."""
    head, *lines = _table(6, 150).splitlines()
    rng = np.random.default_rng(6)
    # A patient has one to three rows of one risk and one outcome, so that rows alone would be too sure.
    copies, place = rng.integers(1, 4, len(lines)), folder / "clustered"
    table = [f"{line},p{k}" for k, line in enumerate(lines) for _ in range(copies[k])]
    place.mkdir()
    (place / "north.csv").write_text("\n".join([f"{head},patient", *table]) + "\n", encoding="utf-8")
    about = ABOUT.format(
        version="1.1.0", more='previous = "../out/results.json"', rival='previous = "risk_previous"', thresholds="0.3"
    )
    site = SITE.format(name="north", dates=f'{LAST_YEAR}\ncluster = "patient"')
    evidence = evaluate.evidence(reading.study(release_in(place, about + site), allow_outside=True))
    rows = np.repeat(np.loadtxt(lines, delimiter=","), copies, axis=0)
    patient = np.repeat(np.arange(len(lines)), copies)

    def flagged_cases(outcome: Any, risk: Any) -> float:
        return float(np.mean(risk[outcome == 1] >= 0.3))

    of: dict[str, tuple[Any, dict[str, float]]] = {
        "auroc": (lambda *given: present(auroc(*given)).value, {}),
        "oe_ratio": (lambda outcome, risk: outcome.sum() / risk.sum(), {}),
        "brier": (lambda outcome, risk: float(np.mean((risk - outcome) ** 2)), {}),
        "sensitivity": (flagged_cases, {"threshold": 0.3}),
    }
    for measure, (value, at) in of.items():

        def apart(kept: Any, value: Any = value) -> float:
            outcome, risk, old = rows[kept].T
            return float(value(outcome, risk) - value(outcome, old))

        each = np.array([apart(patient != k) for k in range(len(lines))])
        jackknife = math.sqrt((len(each) - 1) / len(each) * float(((each - each.mean()) ** 2).sum()))
        found = present(_differences(evidence, measure, **at)["north"])
        assert found.value == pytest.approx(apart(patient >= 0), abs=1e-9)
        assert found.se == pytest.approx(jackknife, rel=0.06), measure


def test_over_all_hospitals_it_is_the_mean_over_the_patients(paired: Evidence) -> None:
    for measure in ("auroc", "oe_ratio", "calibration_slope"):
        found = _differences(paired, measure)
        north, south, both = (estimated(found[name]) for name in ("north", "south", "pooled"))
        if measure != "auroc":  # of which pairs are the unit
            assert both.value == pytest.approx((120 * north.value + 90 * south.value) / 210, abs=1e-12)
        assert method_text(both.method).startswith("paired")


def test_a_hospital_that_tells_nothing_is_left_out_of_all_and_named(folder: Path) -> None:
    """Twelve patients with one case give no error of the AUROC: the others are compared, and the page says why."""
    sites = {f"h{seed}": (seed, 150, LAST_YEAR) for seed in range(3)} | {"west": (4, 12, LAST_YEAR)}
    position = folder / "a-small-one"
    _release(position, sites, "1.1.0", "../out/results.json", 'previous = "risk_previous"')
    head, *rows = (position / "west.csv").read_text(encoding="utf-8").split()
    rows = [f"{int(k == 3)},{row.split(',', 1)[1]}" for k, row in enumerate(rows)]
    (position / "west.csv").write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")
    found = evaluate.evidence(reading.study(position, allow_outside=True))
    asked = {"auroc": {}, "oe_ratio": {}, "calibration_slope": {}, "net_benefit_gain": {"threshold": 0.3}}
    for measure, at in asked.items():
        every = _differences(found, measure, **at)
        known = [present(every[f"h{seed}"]) for seed in range(3)]
        both, n = present(every["pooled"]), sum(each.n for each in known)
        assert both.value == pytest.approx(sum(each.n * each.value for each in known) / n, abs=1e-12)
        error = math.sqrt(sum((each.n * (each.se or 0) / n) ** 2 for each in known))
        assert both.se == pytest.approx(error, abs=1e-12)
        assert "not pooled: west (fewer than 10 events)" in method_text(both.method)
        assert multiplicity.since_last_release(both) is not None
        assert multiplicity.since_last_release(every["west"]) is None
    assert any("west (fewer than 10 events)" in note for note in chapter.measures(found).footnotes)
    # Without it the numbers over all are the same.
    without = _release(
        folder / "without",
        {k: v for k, v in sites.items() if k != "west"},
        "1.1.0",
        "../out/results.json",
        'previous = "risk_previous"',
    )
    for measure, at in asked.items():
        ours, theirs = (present(_differences(each, measure, **at)["pooled"]) for each in (found, without))
        assert (ours.value, ours.low, ours.high) == (theirs.value, theirs.low, theirs.high)


@pytest.mark.parametrize("thresholds", ["0.3", ""])
def test_the_same_risks_are_neither_open_nor_better(folder: Path, thresholds: str) -> None:
    position = folder / f"alike-{thresholds}"
    sites = {"north": (1, 120, LAST_YEAR), "south": (2, 90, LAST_YEAR)}
    _release(position, sites, "1.1.0", "../out/results.json", 'previous = "risk_previous"', thresholds)
    head, *rows = (position / "south.csv").read_text(encoding="utf-8").split()
    rows = [f"{row.split(',')[0]},{row.split(',')[2]},{row.split(',')[2]}" for row in rows]
    (position / "south.csv").write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")
    found = evaluate.evidence(reading.study(position, allow_outside=True))
    of_south = [each for each in claims.about(found, "since_last_release") if each.dataset == "south"]
    assert all(claims.is_same(each) and each.state == "shown" for each in of_south)
    assert not any(claims.is_same(each) for each in claims.of(found) if each.dataset == "north")
    assert [site.name for site in chapter.stands(found)["same"]] == ["south"]
    said = chapter.finding(found)
    assert "The same risks as before: Hospital south." in f"{said.lead} {said.rest}"
    assert "the same percentages at 1" in declared.than_before(found)


def test_the_tables_of_before_pair_as_a_column_does(folder: Path, paired: Evidence) -> None:
    """The same risks from the tables of the previous release, in another order of rows; no identifier is kept."""
    position = folder / "tables"
    sites, order = {"north": (1, 120, LAST_YEAR), "south": (2, 90, LAST_YEAR)}, np.random.default_rng(5)
    _release(position, sites, "1.1.0")
    (position / "before").mkdir()
    for name in sites:
        rows = (position / f"{name}.csv").read_text(encoding="utf-8").split()[1:]
        now = [f"secret-{k},{row.rsplit(',', 1)[0]}" for k, row in enumerate(rows)]
        then = [f"secret-{k},{row.split(',')[0]},{row.split(',')[2]}" for k, row in enumerate(rows)]
        for path, lines in ((position, now), (position / "before", list(order.permutation(then)))):
            (path / f"{name}.csv").write_text("\n".join(["patient,outcome,risk", *lines]) + "\n", encoding="utf-8")
    text = (position / "release.toml").read_text(encoding="utf-8")
    text = text.replace("[outcome]", 'previous = "../out/results.json"\nprevious_tables = "before"\n[outcome]', 1)
    text = text.replace("[[dataset]]", '[[dataset]]\nid = "patient"')
    found = evaluate.evidence(reading.study(release_in(position, text), allow_outside=True))
    for ours, theirs in zip(present(found.changes).results, present(paired.changes).results, strict=True):
        assert (ours.measure, ours.dataset, ours.at, ours.found) == (
            theirs.measure,
            theirs.dataset,
            theirs.at,
            theirs.found,
        )
    assert b"secret" not in results.of(found).text()
    # A patient whose outcome was another one then is not the same, and without him nothing is paired.
    wrong = (position / "before" / "north.csv").read_text(encoding="utf-8").replace(",1,", ",0,", 1)
    (position / "before" / "north.csv").write_text(wrong, encoding="utf-8")
    other = evaluate.evidence(reading.study(position, allow_outside=True))
    for name, is_paired in (("north", False), ("south", True)):
        difference = estimated(_differences(other)[name])
        assert difference.method.has("paired_versions") == is_paired
    assert ("rival_incomplete", "north") in {(flag.flag, flag.dataset) for flag in other.flags}


GROUPS = '[[subgroup]]\ncolumn = "sex"\n[release]'


def _by_sex(
    folder: Path, sites: dict[str, tuple[int, int, str]], rival: str = "", criteria: str = ""
) -> tuple[Evidence, Any]:
    """A release of men and women, and the rows of the women: outcome, both risks, site."""
    _release(folder, sites, "1.1.0", "../out/results.json", rival)
    women = []
    for number, name in enumerate(sites):
        path = folder / f"{name}.csv"
        head, *rows = path.read_text(encoding="utf-8").split()
        path.write_text("\n".join([f"{head},sex", *(f"{row},{'mf'[k % 3 > 0]}" for k, row in enumerate(rows))]) + "\n")
        women += [[*map(float, row.split(",")), number] for k, row in enumerate(rows) if k % 3]
    text = (folder / "release.toml").read_text(encoding="utf-8")
    (folder / "release.toml").write_text(text.replace("[release]", GROUPS, 1) + criteria, encoding="utf-8")
    return evaluate.evidence(reading.study(folder, allow_outside=True)), np.array(women).T


def test_a_group_is_compared_over_all_its_patients(folder: Path) -> None:
    """Shares by McNemar's test and O/E counted from the rows; the AUROC from pairs of one site, by their number."""
    sites = {"north": (1, 240, LAST_YEAR), "south": (2, 180, LAST_YEAR)}
    found, (outcome, risk, old, site) = _by_sex(folder / "by-sex", sites, 'previous = "risk_previous"')
    women = {
        each.measure: each.found
        for each in present(found.changes).results
        if each.subset is not None and each.subset.level == "f" and isinstance(each.found, Estimate)
    }
    assert all(each.method.has("paired_versions") for each in women.values())
    case = outcome == 1
    assert women["oe_ratio"].value == pytest.approx(case.sum() / risk.sum() - case.sum() / old.sum(), abs=1e-12)
    alone, other = (int((a[case] >= 0.3)[b[case] < 0.3].sum()) for a, b in ((risk, old), (old, risk)))
    assert women["sensitivity"].value == pytest.approx((alone - other) / case.sum(), abs=1e-12)
    tail = sum(math.comb(alone + other, k) for k in range(min(alone, other) + 1)) / 2 ** (alone + other)
    assert women["sensitivity"].details["p_value"] == pytest.approx(min(1.0, 2 * tail), rel=1e-9)

    def ordered(risks: Any) -> float:
        pairs = np.subtract.outer(risks[case], risks[~case])
        alike = np.equal.outer(site[case], site[~case])
        return float(((pairs > 0) + 0.5 * (pairs == 0))[alike].mean())

    assert women["auroc"].value == pytest.approx(ordered(risk) - ordered(old), abs=1e-12)
    groups = claims.about(found, "since_last_release", "group")
    assert {claim.measure for claim in groups} == {"sensitivity", "specificity", "oe_ratio", "auroc"}
    assert (
        len({claim.looks for claim in claims.about(found, "since_last_release") if claim.p_adjusted is not None}) == 1
    )
    table = present(chapter.groups(found))
    assert {row.label for row in table.rows if row.kind == "row"} == {"f (sex)", "m (sex)"}


def test_a_group_that_has_no_number_says_why(folder: Path) -> None:
    found, _ = _by_sex(folder / "few", {"north": (1, 60, LAST_YEAR)})
    table = present(chapter.groups(found))
    assert any("Too few to tell" in note for note in table.footnotes)
    assert not claims.about(found, "since_last_release", "group")


def test_every_measure_that_may_be_worse_has_its_words(later: Evidence) -> None:
    of = {result.measure for result in types.compared(later.results, later.terms)} - {*bands.OF_PATIENTS_AND_LABELS}
    assert of <= set(declared.WORSE_IN)


def test_of_several_classes_each_is_compared_patient_by_patient(folder: Path) -> None:
    """Both versions stand in one table, and each class against the rest is as that of two classes."""
    place = folder / "classes"
    place.mkdir()
    rng = np.random.default_rng(4)
    truth = rng.integers(0, 3, 300)
    old, risks = (np.array([rng.dirichlet(1 + 3 * by * np.eye(3)[k]) for k in truth]) for by in (0.7, 1.5))
    # The third version no longer flags at .5 those of class c whom the second found.
    worse = np.where((risks[:, 2] >= 0.5)[:, None], [0.255, 0.255, 0.49], risks)
    columns = [[f"{label}{number}" for label in "abc"] for number in range(3)]
    frame = pd.DataFrame(np.hstack([old, risks, worse]), columns=[*columns[0], *columns[1], *columns[2]])
    frame.assign(outcome=[*map("abc".__getitem__, truth)]).to_csv(place / "north.csv", index=False)
    given = {name: f"{{{name}}}" for name in ("version", "more", "rival")}
    text = (ABOUT + SITE).format(**given, thresholds="0.3, 0.5", name="north", dates=LAST_YEAR)
    text = text.replace('column = "outcome"', 'column = "outcome"\nclasses = ["a", "b", "c"]')
    releases = []
    for number, own in enumerate(columns):
        more, before = (f'previous = "{number - 1}.json"', f"previous = {columns[number - 1]}") if number else ("", "")
        told = text.replace('column = "risk"', f"columns = {own}").format(version=number, more=more, rival=before)
        releases.append(evaluate.evidence(reading.study(release_in(place, told))))
        (place / f"{number}.json").write_bytes(results.of(releases[-1]).text())
    found = releases[1]
    known = {
        (each.measure, each.at.get("class")): each.found
        for each in present(found.changes).results
        if each.dataset == "north" and isinstance(each.found, Estimate) and each.at.get("threshold") in (None, 0.3)
    }
    for number, label in enumerate("abc"):
        case = truth == number
        expected = case.sum() / risks[:, number].sum() - case.sum() / old[:, number].sum()
        assert known["oe_ratio", label].value == pytest.approx(expected, abs=1e-9)
        gain = [(each[case, number] >= 0.3).sum() - 3 / 7 * (each[~case, number] >= 0.3).sum() for each in (risks, old)]
        assert known["net_benefit_gain", label].value == pytest.approx((gain[0] - gain[1]) / 300, abs=1e-9)
        assert known["net_benefit_gain", label].method.has("one_of_each_kind_added")
        assert known["sensitivity", label].method.has("p_by_mcnemar")
    judged_ones = [claim for claim in claims.about(found, "since_last_release", "hospital") if "class" in claim.at]
    assert {claim.at["class"] for claim in judged_ones} == {"a", "b", "c"}
    mean = np.mean([known["auroc", label].value for label in "abc"])
    assert known["auroc", "macro"].value == pytest.approx(mean, abs=1e-9)
    gains = {("net_benefit_gain", 0.5, label) for label in "abc"}
    against = {
        (claim.measure, claim.at.get("threshold"), claim.at.get("class"))
        for claim in claims.about(releases[2], "since_last_release", "hospital")
        if claim.state == "against"
    }
    assert against & gains == {("net_benefit_gain", 0.5, "c")}
    rows = [row.label for row in chapter.measures(releases[2]).rows if row.kind == "group"]
    assert any("class c" in label and "0.5" in label for label in rows[: len(against)])


def test_under_a_policy_nothing_of_the_previous_version_is_given(folder: Path) -> None:
    """Two versions on the same rows are two equations of one patient: their risks stay away like their results."""
    sites = {"north": (1, 120, LAST_YEAR), "south": (2, 90, LAST_YEAR)}
    more = 'previous = "risk_previous"\n[disclosure]\nminimum_cell = 10'
    found = _release(folder / "protected", sites, "1.1.0", "../out/results.json", more)
    assert found.changes is None
    assert "previous_withheld" in {flag.flag for flag in found.flags}
    given = json.loads(results.of(found).text())
    assert not [each["at"] for each in (*given["estimates"], *given["curves"]) if "previous" in each["at"].values()]
    assert "risk_previous" not in json.dumps(given)
    without = _release(folder / "bare", sites, "1.1.0", "", "[disclosure]\nminimum_cell = 10")
    assert [each.found for each in found.results] == [each.found for each in without.results]


def test_under_a_policy_nothing_of_a_group_or_a_promise_of_before_is_given(folder: Path) -> None:
    sites = {"north": (1, 240, LAST_YEAR), "south": (2, 180, LAST_YEAR)}
    more = 'previous = "risk_previous"\n[disclosure]\nminimum_cell = 10'
    found, _ = _by_sex(folder / "protected-groups", sites, more)
    given = json.loads(results.of(found).text())
    assert given["previous"] is None
    assert not [each for each in given["estimates"] if each["at"].get("against") == "previous"]
    assert {each["state"] for each in given["claims"] if each["question"] == "since_last_release"} == {"untested"}


def test_staff_who_acted_on_it_make_it_look_worse(folder: Path) -> None:
    sites = {"north": (1, 120, LAST_YEAR)}
    found = _release(folder / "in-use", sites, "1.0.0", criteria="[care]\nmodel_in_use = true\n")
    assert "model_in_use" in {flag.flag for flag in found.flags}
    assert "model_in_use" not in {flag.flag for flag in _release(folder / "idle", sites, "1.0.0").flags}


def test_on_other_patients_nothing_is_judged_that_follows_how_common_the_outcome_is(later: Evidence) -> None:
    """A Brier score or a gain is another one where fewer have the outcome, though the model is the same."""
    for measure, at in (("brier", {}), ("net_benefit_gain", {"threshold": 0.3})):
        found = estimated(_differences(later, measure, **at)["north"])
        assert "p_adjusted" not in found.details
    found = estimated(_differences(later, "calibration_slope")["north"])
    assert "p_adjusted" in found.details


def _summary(n: int, year: int | None) -> DatasetSummary:
    dates = None if year is None else (datetime.date(year, 1, 1), datetime.date(year, 6, 30))
    return DatasetSummary("north", "external", "North", n, 40, n, {}, (), dates=dates)


@pytest.mark.parametrize(
    ("now", "before", "reason"),
    [
        ((120, 2026), (120, 2025), None),
        ((120, 2026), (120, 2026), "taken for the same"),
        ((120, None), (120, None), "taken for the same"),
        ((150, None), (120, 2025), "dates that would tell them apart are missing"),
        ((150, 2025), (120, 2025), "their dates overlap"),
    ],
)
def test_rows_are_independent_only_when_dates_say_so(
    same: Evidence, now: tuple[int, int | None], before: tuple[int, int | None], reason: str | None
) -> None:
    from dossier.evaluate.changes import changes

    assert same.changes is not None
    estimate = _whole(same, "auroc", "north")
    old = dataclasses.replace(
        same.changes.previous, datasets=(_summary(*before),), results=(Result("auroc", "auroc", "north", {}, estimate),)
    )
    found = changes(same.release, old, [_summary(*now)], [Result("auroc", "auroc", "north", {}, estimate)], same.terms)
    (only,) = present(found).results
    assert isinstance(only.found, Estimate)
    assert only.found.low is not None
    assert (only.found.reason is None) == (reason is None)
    assert reason is None or (only.found.reason is not None and reason in reason_text(only.found.reason))


# ---- another hospital, another outcome -------------------------------------------------------------------------------


def _with(evidence: Evidence, **changed: Any) -> Evidence:
    """The evidence beside a previous release of which this is otherwise, compared anew."""
    from dossier.evaluate.changes import changes

    previous = dataclasses.replace(present(evidence.changes).previous, **changed)
    found = changes(evidence.release, previous, evidence.datasets, evidence.results, evidence.terms)
    return dataclasses.replace(evidence, changes=found)


def _of_site(evidence: Evidence, site: str) -> Evidence:
    """The same, but that north was of this site before."""
    before = present(evidence.changes).previous.datasets
    moved = tuple(dataclasses.replace(dataset, site=site) if dataset.name == "north" else dataset for dataset in before)
    return _with(evidence, datasets=moved)


@pytest.fixture(scope="module")
def moved(later: Evidence) -> Evidence:
    """Version 1.1.0, whose north has its name from quite another hospital."""
    return _of_site(later, "Quite another hospital")


def test_a_dataset_of_another_hospital_is_not_compared(moved: Evidence) -> None:
    reason = "the dataset of this name was of another site before: Quite another hospital; now it is of Hospital north"
    assert _differences(moved)["north"] == Said(reason)
    assert _differences(moved, "net_benefit", threshold=0.3)["north"] == Said(reason)
    assert not any("differs by" in part for part in (chapter.finding(moved).lead, chapter.finding(moved).rest))


def test_a_dataset_of_another_hospital_came_and_the_other_went(moved: Evidence) -> None:
    said = chapter.finding(moved)
    assert "two datasets came, two went, and no criterion changed state" in said.lead
    assert "north (Quite another hospital before, Hospital north now)" in said.rest
    rows = {row.label: [cell.text for cell in row.cells] for row in chapter.data(moved).rows}
    assert (rows["Hospital north"][0], rows["Hospital north"][-1]) == ("", "came")
    assert (rows["Quite another hospital"][1], rows["Quite another hospital"][-1]) == ("", "went")
    setting = {row.label: [cell.text for cell in row.cells] for row in chapter.settings(moved).rows}
    assert setting["Site of north"] == ["Quite another hospital", "Hospital north"]
    assert "2\N{NO-BREAK SPACE}new hospitals, 2 no longer here, 0\N{NO-BREAK SPACE}goals met then" in chapter.line(
        moved
    )


def test_a_hospital_of_a_long_name_neither_came_nor_went(later: Evidence) -> None:
    """The committee's pages shorten names; six hospitals of 62 letters were "6 new hospitals, 6 no longer here"."""
    assert later.changes is not None
    known = chapter.line(labels.short_names(later))
    long = {each.site: f"{each.site} {'of the Northern Uplands ' * 3}" for each in later.datasets}
    found = labels._called(later, long)
    short = labels.short_names(found)
    assert {each.site for each in short.datasets} != {each.site for each in found.datasets}
    assert chapter.line(short) == known


def test_no_number_of_another_hospital_stands_as_before(moved: Evidence) -> None:
    table = chapter.measures(moved)
    assert {row.cells[0].text for row in table.rows if row.label == "Hospital north"} == {""}
    assert any("of another site before: Quite another hospital" in note for note in table.footnotes)
    criteria = present(chapter.criteria(moved))
    assert [[cell.text for cell in row.cells] for row in criteria.rows] == [
        ["Hospital north", "not declared", "shown not to hold: ≥\N{NO-BREAK SPACE}0.99"],
        ["Quite another hospital", "shown: ≥\N{NO-BREAK SPACE}0.50", "not declared"],
    ]


def test_the_same_site_in_other_capitals_is_the_same(later: Evidence) -> None:
    assert isinstance(_differences(_of_site(later, "hospital  NORTH"))["north"], Estimate)
    assert isinstance(_differences(_of_site(later, "North"))["north"], Absent)


def test_a_hospital_under_another_dataset_name_is_pooled_in_both(folder: Path) -> None:
    sites = {"north": (1, 120, LAST_YEAR), "south": (2, 90, LAST_YEAR), "east": (5, 110, LAST_YEAR)}
    _printed(folder / "three-out", _release(folder / "three", sites, "1.0.0"))
    same = _release(folder / "three-again", sites, "1.0.0", "../three-out/results.json")
    before = present(same.changes).previous.datasets
    assert _pooled(same)
    renamed = tuple(dataclasses.replace(dataset, name=f"{dataset.name}-1") for dataset in before)
    assert all(found.reason is not None for found in _pooled(_with(same, datasets=renamed)))
    others = tuple(dataclasses.replace(dataset, site=f"{dataset.site} of the coast") for dataset in before)
    assert any(found.reason is None for found in _pooled(_with(same, datasets=others)))


def _pooled(evidence: Evidence) -> list[Estimate]:
    found = [result.found for result in present(evidence.changes).results if result.dataset == "pooled"]
    return [estimate for estimate in found if isinstance(estimate, Estimate)]


@pytest.mark.parametrize(
    ("outcome", "horizon", "words"),
    [("death", None, "death"), ("Readmission", "within a year", None), ("readmission", None, None)],
)
def test_another_outcome_is_not_compared(later: Evidence, outcome: str, horizon: str | None, words: str | None) -> None:
    found = _with(later, predicted=Predicted(outcome, horizon, ("risk",)))
    said = chapter.finding(found)
    raised = flags.previous_outcome_differs(found.changes, found.release)
    assert [dict(flag.fact.values) for flag in raised] == [
        {"before": each, "now": "Readmission"} for each in (words,) if each is not None
    ]
    if words is None:
        assert isinstance(_differences(found)["north"], Estimate)
        assert "nother outcome" not in said.rest + chapter.line(found)
        return
    reason = f"another outcome was predicted before: {words}; now it is Readmission"
    differences = _differences(found)
    assert {name for name, difference in differences.items() if difference == Said(reason)} == set(differences)
    assert reason[1:] in said.rest
    assert f"The outcome was another one then: {words}." in chapter.line(found)
    assert {row.cells[0].text for row in chapter.measures(found).rows if row.kind == "row"} == {""}
    setting = {row.label: [cell.text for cell in row.cells] for row in chapter.settings(found).rows}
    assert setting["Outcome"] == ["death", "Readmission"]


def _found(evidence: Evidence, beside: Result, measure: str) -> Estimate:
    """What changed by another measure at the same place."""
    (found,) = (
        result.found
        for result in present(evidence.changes).results
        if (result.measure, result.dataset, result.at) == (measure, beside.dataset, beside.at)
    )
    return estimated(found)


def test_another_horizon_is_another_outcome() -> None:
    first, other = (Predicted("death", horizon, ("risk",)) for horizon in ("within 30 days", "within 90 days"))
    assert first.is_other(other)
    assert not first.is_other(Predicted("Death", "within  30 days", ("score",)))


def test_the_next_release_knows_what_was_predicted(later: Evidence) -> None:
    assert present(later.changes).previous.predicted == Predicted("Readmission", None, ("risk",))


# ---- what is recorded and printed -----------------------------------------------------------------------------------


def test_a_release_whose_slope_fell_says_so_first(tmp_path: Path) -> None:
    """ "No criterion changed state" stood over a slope that fell from 1.07 to .57, and a gain that turned negative."""
    sites = {"north": (11, 900, LAST_YEAR), "south": (12, 700, LAST_YEAR)}
    good = _release(tmp_path / "good", sites, "1.0.0", criteria=MET.format(0.5), spread=1.0)
    _printed(tmp_path / "out", good)
    bad = _release(tmp_path / "bad", sites, "1.1.0", "../out/results.json", criteria=MET.format(0.5), spread=1.9)
    said = chapter.finding(bad)
    start = "Worse than version 1.0.0, after Holm's correction for 17 comparisons: "
    assert said.lead.startswith(start)
    assert "calibration slope at Hospital north" in said.lead
    assert "unpaired)" in said.lead
    assert "no criterion changed state" in said.rest
    assert verdict.finding(bad).lead.startswith(start)
    assert "Compared with version 1.0.0: worse at 2 (" in first_page.answer(bad)
    assert "its percentages are more wrong" in declared.than_before(bad)
    # What a line trades is said with what is lost by it.
    missed = next(worse for worse in chapter.worse_ones(bad) if worse.result.measure == "sensitivity")
    gained = _found(bad, missed.result, "specificity").value
    assert 0 < gained == getattr(chapter.in_return(bad, missed), "value", None)
    assert f", and {100 * gained:.0f} fewer false alarms of 100" in declared.than_before(bad)
    measures = {row.label for row in chapter.measures(bad).rows if row.kind == "group"}
    assert {
        "Observed to expected ratio",
        "Calibration slope",
        "Integrated calibration index",
        "Brier score",
    } <= measures
    better = _release(tmp_path / "better", sites, "1.2.0", "../out/results.json", criteria=MET.format(0.5), spread=1.0)
    assert (
        chapter.finding(better).lead == "Since version 1.0.0, no dataset came or went, and no criterion changed state."
    )
    assert chapter.finding(better).rest == "None of 17\xa0comparisons shows it to be worse."
    assert not chapter.what_is_worse(better)


@pytest.mark.parametrize("which", ["same", "later", "paired"])
def test_results_json_keeps_to_its_schema(which: str, request: pytest.FixtureRequest) -> None:
    document = json.loads(results.of(request.getfixturevalue(which)).text())
    assert faults(document, results.schema()) == []
    before = document["previous"]
    assert (before["version"], before["manifest"]["versions"]) == ("1.0.0", {"dossier": "0.0.9", "numpy": "1.0"})
    against = [estimate for estimate in document["estimates"] if estimate["at"].get("against") == "previous"]
    assert {record["measure"] for record in against} == {
        *("auroc_difference", "net_benefit_difference", "net_benefit_gain_difference"),
        *("oe_ratio_difference", "calibration_slope_difference", "ici_difference", "brier_difference"),
        *("sensitivity_difference", "specificity_difference", "weighted_concordance_difference"),
        *("correspondence_averaged_difference", "degree_of_correspondence_difference"),
    }
    assert {record["tier"] for record in against} == {"core", "descriptive", "mission", "supporting"}


def test_its_results_can_be_the_previous_ones_of_the_next(later: Evidence, folder: Path) -> None:
    """Also what holds a previous release itself, and has no manifest beside it."""
    _printed(folder / "out-later", later)
    sites = {"north": (3, 150, THIS_YEAR), "west": (4, 80, THIS_YEAR)}
    third = _release(folder / "third", sites, "1.2.0", "../out-later/results.json", thresholds="0.3, 0.4")
    assert third.changes is not None
    assert third.changes.previous.version == "1.1.0"
    assert third.changes.previous.thresholds == (0.3, 0.4)
    assert third.changes.previous.manifest == Said("there is no manifest.json beside the previous results")
    assert all(result.at.get("against") is None for result in third.changes.previous.results)
    for found in _differences(third).values():
        assert isinstance(found, Absent) or found.value == 0.0
    assert "are not known" in chapter.settings(third).footnotes[0]


def test_the_tables_say_what_came_and_went(later: Evidence) -> None:
    rows = {row.label: [cell.text for cell in row.cells] for row in chapter.data(later).rows}
    assert (rows["Hospital north"][:2], rows["Hospital north"][-1]) == (["120", "150"], "other size")
    assert (rows["Hospital west"][0], rows["Hospital west"][-1]) == ("", "came")
    assert (rows["Hospital south"][1], rows["Hospital south"][-1]) == ("", "went")
    setting = {row.label: [cell.text for cell in row.cells] for row in chapter.settings(later).rows}
    assert setting["Version of the model"] == ["1.0.0", "1.1.0"]
    assert setting["Thresholds"] == ["0.30, 0.50", "0.30, 0.40"]
    assert setting["numpy"] == ["1.0", np.__version__]
    assert setting["Model file, SHA-256"] == [" ".join(["ab" * 8] * 4), "not stated"]
    assert "Same name, other content: north.csv and release.toml." in chapter.files(later)
    assert "Came: west.csv." in chapter.files(later)
    assert "Went: south.csv." in chapter.files(later)


def test_a_criterion_that_is_no_longer_met_is_named(later: Evidence) -> None:
    (row,) = present(chapter.criteria(later)).rows
    assert [cell.text for cell in row.cells] == [
        "Hospital north",
        "shown: ≥\N{NO-BREAK SPACE}0.50",
        "shown not to hold: ≥\N{NO-BREAK SPACE}0.99",
    ]
    assert "1\N{NO-BREAK SPACE}criterion changed state" in chapter.finding(later).lead
    assert "1\N{NO-BREAK SPACE}goal met then but not now" in chapter.line(later)


def test_the_chapter_is_printed_in_the_regulatory_edition(later: Evidence) -> None:
    html = compose.document(Gallery(later, {}, {}), "regulatory").html
    assert 'id="chapter-changes"' in html
    assert "Measures before and now." in html


# ---- what is refused ------------------------------------------------------------------------------------------------


def test_faults_of_the_previous_release_stand_beside_those_of_the_tables(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "both"
    path.mkdir()
    text = ABOUT.format(version="2", more='previous = "nowhere.json"', rival="", thresholds="0.3")
    release_in(path, text + SITE.format(name="north", dates=THIS_YEAR), north__csv="outcome,risk\n0,0.1\n1,1.7\n")
    assert [fault.what for fault in refused(reading.study, path, allow_outside=True).faults] == [
        "risk is 1.7, outside 0 to 1.",
        "There is no file nowhere.json.",
    ]
