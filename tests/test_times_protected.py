"""Times are nobody's business: how long single patients were followed is in no output, with a policy or without.

Under a policy all that is given of an outcome by a horizon is a function of counts, which three things make: who is
known to have the outcome by the horizon, who is known to be free of it, and who left before.
"""

from __future__ import annotations

import itertools
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dossier
from dossier import evaluate, reading
from dossier.core import types
from dossier.core.types import POOLED, CountRange, Estimate, Evidence, Study, Withheld, find, find_curve
from dossier.evaluate.disclosure.measures import half_followed, left_over
from dossier.metrics.censoring import TimeToEvent
from dossier.metrics.description import follow_up
from dossier.record import results
from tests.attacker import SMALLEST, Attack, attacked
from tests.canaries import leaks, numbers_of, results_of, texts
from tests.estimated import estimated, interval_of, present, refused

POLICY = "[disclosure]\nminimum_cell = 10\n"
RELEASE = """
[release]
model = "Relapse score"
version = "1"
owner = "The owner"
date = 2026-10-01
[resampling]
bootstrap = 20
permutations = 19
[outcome]
name = "relapse"
time = "days"
event = "event"
unit = "days"
[[horizon]]
at = 1000
says = "within 1000 days"
risk = "risk"
thresholds = { declared = [0.5, 0.4], range = [0.2, 0.7], rationale = "Why." }
[[subgroup]]
column = "sex"
"""
DATASET = """
[[dataset]]
name = "{name}"
role = "external"
file = "{name}.csv"
site = "{name}"
predictors = []
"""
HORIZON = 1000.0


def patients(rows: int, seed: int) -> pandas.DataFrame:
    """Patients of whom a third left before the horizon; no two times are alike."""
    rng = np.random.default_rng(seed)
    risk = rng.uniform(0.02, 0.98, rows)
    had = HORIZON * rng.exponential(-1 / np.log1p(-risk))
    left = HORIZON * rng.exponential(1.6, rows)
    frame = pandas.DataFrame({"days": np.minimum(had, left).round(7), "event": (had <= left).astype(int)})
    return frame.assign(risk=risk.round(4), sex=rng.choice(["f", "m"], rows))


def other_times(frame: pandas.DataFrame, seed: int) -> pandas.DataFrame:
    """The same patients at other times, each on the same side of the horizon."""
    rng = np.random.default_rng(seed)
    before = rng.uniform(0, HORIZON, len(frame))
    return frame.assign(days=np.where(frame.days > HORIZON, HORIZON + before, before).round(7))


def study(folder: Path, frames: dict[str, pandas.DataFrame], policy: str = POLICY) -> Study:
    """What is read of a release of these hospitals."""
    folder.mkdir(parents=True, exist_ok=True)
    text = RELEASE + "".join(DATASET.format(name=name) for name in frames) + policy
    (folder / "release.toml").write_text(text, encoding="utf-8")
    for name, frame in frames.items():
        frame.to_csv(folder / f"{name}.csv", index=False)
    return reading.study(folder)


@pytest.fixture(scope="module")
def three() -> dict[str, pandas.DataFrame]:
    return {name: patients(400, seed) for seed, name in enumerate(("North", "East", "South"))}


@pytest.fixture(scope="module")
def guarded(three: dict[str, pandas.DataFrame], tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    return evaluate.evidence(study(tmp_path_factory.mktemp("guarded"), three))


# ---- what is given --------------------------------------------------------------------------------------------------


def test_all_that_is_given_is_the_same_at_any_other_times(
    three: dict[str, pandas.DataFrame], guarded: Evidence, tmp_path: Path
) -> None:
    moved = {name: other_times(frame, seed) for seed, (name, frame) in enumerate(three.items())}
    assert all((moved[name].days != three[name].days).all() for name in three)
    found = results.of(evaluate.evidence(study(tmp_path / "moved", moved))).text()
    assert found == results.of(guarded).text()
    plain = [results.of(evaluate.evidence(study(tmp_path / str(k), each, ""))) for k, each in enumerate((three, moved))]
    assert plain[0].text() != plain[1].text(), "without a policy times count"


def test_counts_are_ranges_of_one_width_and_those_who_left_are_among_neither(
    three: dict[str, pandas.DataFrame], guarded: Evidence
) -> None:
    for site in guarded.datasets:
        followed = three[site.name]
        left = int(((followed.event == 0) & (followed.days < HORIZON)).sum())
        cases = int(((followed.event == 1) & (followed.days <= HORIZON)).sum())
        assert isinstance(site.n, CountRange)
        assert isinstance(site.events, CountRange)
        assert isinstance(site.left, CountRange)
        for true, given_as in ((left, site.left), (cases, site.events), (len(followed), site.n)):
            assert given_as.low <= true <= given_as.high
        assert {each.high - each.low for each in (site.left, site.events)} == {12}
        assert site.prevalence is None
    for summary in guarded.subgroups.summaries:
        assert isinstance(summary.size, types.SubgroupSize)
        assert isinstance(summary.size.left, CountRange)


def test_what_rests_on_times_or_ranks_is_withheld_with_its_reason(guarded: Evidence) -> None:
    for measure in ("auroc", "brier", "calibration_slope"):
        found = find(guarded, measure, "North")
        assert isinstance(found, Withheld)
        assert found.reason.code == "rests_on_follow_up"
    for measure in ("oe_ratio", "net_benefit"):
        at: dict[str, Any] = {} if measure == "oe_ratio" else {"threshold": 0.5}
        assert isinstance(find(guarded, measure, "North", **at), Estimate)
        # What follow-up leaves open at each hospital is no chance, of which three have less than one.
        assert isinstance(find(guarded, measure, POOLED, **at), types.Absent)
    assert isinstance(find_curve(guarded, "decision_curve", "North"), types.Curve)
    assert isinstance(find_curve(guarded, "decision_curve_all_sites", POOLED), types.Absent)
    assert not [row for row in guarded.descriptions if row.described.of == "follow_up"]


@pytest.mark.parametrize("measure", ["sensitivity", "specificity", "ppv", "npv", "net_benefit", "oe_ratio"])
def test_the_interval_holds_the_value_of_kaplan_and_meier_at_any_times(
    measure: str, three: dict[str, pandas.DataFrame], guarded: Evidence
) -> None:
    at: dict[str, Any] = {} if measure == "oe_ratio" else {"threshold": 0.5}
    for (name, frame), seed in itertools.product(three.items(), range(6)):
        moved = other_times(frame, seed)
        if seed > 3:
            # All who left did so at once, or at the horizon.
            moved.loc[(frame.event == 0) & (frame.days < HORIZON), "days"] = 0.0 if seed == 4 else HORIZON - 1e-6
        followed = TimeToEvent(moved.days.to_numpy(float), moved.event.to_numpy(float), HORIZON, "marginal")
        true = estimated(getattr(dossier.metrics, measure)(followed, moved.risk.to_numpy(float), **at)).value
        given_as = estimated(find(guarded, measure, name, **at))
        low, high = interval_of(given_as)
        assert low <= true <= high


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 60))
def test_the_risk_of_kaplan_and_meier_lies_between_its_two_ends(seed: int, rows: int) -> None:
    rng = np.random.default_rng(seed)
    time, event = rng.integers(0, 8, rows).astype(float), rng.integers(0, 2, rows).astype(float)
    weights = TimeToEvent(time, event, 5.0, "marginal").weights(np.full(rows, 0.5))
    if weights.obstacle is not None:
        return
    had, left = int(weights.case.sum()), int(weights.left.sum())
    found = float((weights.values * weights.case).mean())
    assert had / rows <= found + 1e-12
    assert found <= had / max(rows - left, 1) + 1e-12
    table = (had, had, rows - left - had, rows - left - had)
    shares = [right / max(right + wrong, 1) for right, _, wrong, _ in left_over(table, (left, left))]
    assert min(shares) - 0.51 / max(rows - left, 1) <= found <= max(shares) + 0.51 / max(rows - left, 1)


def test_where_nobody_left_the_table_is_the_one_that_was_counted() -> None:
    for table in ((30, 40, 20, 90), (0, 10, 0, 10), (25, 25, 25, 25)):
        assert set(left_over(table, (0, 0))) == {table}
        assert half_followed(table, (0, 0)) == table


def test_who_left_counts_as_followed_for_half_of_the_time() -> None:
    """Above 30 of 100 known and 20 who left, below 10 of 100 and none: risks of 30/110 and 10/100."""
    right, events, wrong, rest = half_followed((30, 40, 50, 140), (20, 20))
    assert right / (right + wrong) == pytest.approx(30 / 90, abs=0.01)
    assert (events - right) / (events + rest - right - wrong) == pytest.approx(0.1, abs=0.01)
    assert (right + wrong) / (events + rest) == pytest.approx(0.5, abs=0.01)
    assert events + rest == 180


# ---- who attacks it -------------------------------------------------------------------------------------------------


def test_an_attacker_with_a_solver_is_left_as_many_values_as_asked_for(
    three: dict[str, pandas.DataFrame], tmp_path: Path
) -> None:
    """Of those with the outcome, of the others and of those who left, of all rows and of either sex."""
    read = evaluate.disclosure.without_what_tells(study(tmp_path, three))
    assert Attack(read, "North").labels == (1, 0, 2)
    cells = list(attacked(read, "North", most=None))
    assert {cell.name.split()[1] for cell in cells} == {"0", "1", "2"}
    assert min(cell.values for cell in cells) >= SMALLEST


def test_the_build_looks_for_few_of_those_who_left_too(guarded: Evidence) -> None:
    plain = sum(each.cells for each in guarded.audit)
    assert present(guarded.disclosure).cells == plain
    assert all(each.narrowest is not None and each.narrowest >= SMALLEST for each in guarded.audit)


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ('[[horizon]]\nat = 500\nrisk = "risk"\n', "a further horizon stands beside protected counts"),
        ('ledger = "ledger.json"\n', "ledger stands beside protected counts"),
    ],
)
def test_ranges_that_would_tell_more_together_are_refused(
    more: str, says: str, three: dict[str, pandas.DataFrame], tmp_path: Path
) -> None:
    policy = f"{more}{POLICY}" if more.startswith("[[") else f"{POLICY}{more}"
    assert says in str(refused(study, tmp_path, {"North": three["North"]}, policy))


# ---- every file -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("patients", [20, 60, 686])
def test_no_quantile_of_follow_up_is_the_time_of_one_patient(patients: int) -> None:
    """Whole days have three digits; rounded to them they would be those of a patient."""
    rng = np.random.default_rng(patients)
    days, event = np.round(rng.gamma(3, 150, patients)), (rng.random(patients) < 0.4).astype(int)
    found = follow_up(TimeToEvent(days, event, 400))
    times = [row.value for row in found if row.statistic != "competing"]
    assert len(times) == 3
    for time in times:
        digits = len(f"{time:.3g}".rstrip("0").replace(".", ""))
        same = [float(f"{each:.{digits}g}") == time for each in days]
        assert digits == 1 or sum(same) >= 5, time


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["", POLICY], ids=["no policy", "policy"])
def test_no_time_of_a_patient_is_in_any_output(policy: str, three: dict[str, pandas.DataFrame], tmp_path: Path) -> None:
    study(tmp_path / "release", three, policy)
    out = tmp_path / "out"
    command = [sys.executable, "-m", "dossier", "build", str(tmp_path / "release"), "-o", str(out), "--quiet"]
    ran = subprocess.run([*command, "--edition", "all"], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    found = texts(out)
    assert {Path(name).suffix.split(":")[0] for name in found} >= {".json", ".csv", ".svg", ".html"}
    times = np.concatenate([frame.days.to_numpy(float) for frame in three.values()])
    written = {f"{time:.{digits}f}" for time in times for digits in (4, 5, 6, 7)}
    assert leaks(found, tuple(sorted(written))) == []
    numbers = np.array(sorted(numbers_of(results_of(out))))
    nearest = np.abs(times[:, None] - numbers[None, :]).min(axis=0)
    assert numbers[nearest < 1e-6].tolist() == []
