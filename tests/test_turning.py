"""A hospital whose risks are too high at first and then too low: what is said of it, and what is not said of others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import dossier
from dossier import evaluate, reading
from dossier.core import claims, over_time, types
from dossier.core.types import Evidence
from dossier.record import results
from dossier.report.chapters import committee, limitations, monitoring, sentence, subgroups
from dossier.report.chapters.committee import missed, percentages
from dossier.report.figures import discrimination
from dossier.report.figures import subgroups as forests
from dossier.typeset.numbers import plain
from tests.estimated import estimated, present
from tests.smallest import HEAD, release_in

RELEASE = f"""{HEAD}
[thresholds]
declared = [0.3]
[resampling]
bootstrap = 2
permutations = 9
[[subgroup]]
column = "sex"
"""
SITE = """
[[dataset]]
name = "{name}"
role = "external"
file = "{name}.csv"
site = "{site}"
date = "seen"
periods = "quarter"
"""


def _table(rng: np.random.Generator, n: int, turns: bool) -> str:
    """Patients of a year; where the risks turn women come mostly in the first half, in which they are too high."""
    rows = ["outcome,risk,seen,sex"]
    for _ in range(n):
        month, truth = int(rng.integers(1, 13)), rng.normal(-0.5, 1)
        early = month <= 6
        shift = (1.5 if early else -1.5) if turns else 0.0
        woman = rng.random() < ((0.8 if early else 0.2) if turns else 0.5)
        outcome, risk = rng.random() < 1 / (1 + np.exp(-truth)), 1 / (1 + np.exp(-truth - shift))
        rows.append(f"{int(outcome)},{risk:.6f},2025-{month:02d}-15,{'f' if woman else 'm'}")
    return "\n".join(rows) + "\n"


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    """One hospital whose risks are right, and one where they turn."""
    folder, rng, text = tmp_path_factory.mktemp("turning"), np.random.default_rng(4), RELEASE
    for name, site in (("right", "Bari"), ("turning", "Rome")):
        (folder / f"{name}.csv").write_text(_table(rng, 1200, name == "turning"), encoding="utf-8")
        text += SITE.format(name=name, site=site)
    return evaluate.evidence(reading.study(release_in(folder, text)))


def test_it_is_said_of_that_hospital_alone_and_of_no_average(evidence: Evidence) -> None:
    flags = {(flag.flag, flag.dataset) for flag in evidence.flags}
    assert ("calibration_drift", "turning") in flags
    assert not flags & {("risks_off", "turning"), ("slope_off", "turning"), ("calibration_drift", "right")}
    assert plain(monitoring.finding(evidence).lead) == "Risks are too high at first and then too low at Rome."
    dangers = " ".join(danger.text for danger in committee.could_go_wrong(evidence))
    assert "Rome: its percentages were too high at first and then too low." in dangers
    steps = " ".join(committee.steps(replace(evidence, local_site="turning")))
    assert "Ask what changed between the times" in steps
    assert any("too low at others" in kind.topic for kind in limitations.raised(evidence))


def test_who_came_when_accuses_no_group(evidence: Evidence) -> None:
    """Women are flagged in error more often there because of when they came: no error of the model is one of theirs."""
    looks = [each for each in claims.about(evidence, "groups", "group") if each.dataset == "turning"]
    apart = [each for each in looks if each.measure == "specificity" and each.high is not None and each.high < -0.1]
    assert apart
    assert {(each.alone, each.reason is None) for each in looks} == {("open", False)}
    ours = replace(evidence, local_site="turning")
    assert missed.worse_for(ours) == ""
    brief = " ".join(missed.groups_in_brief(ours))
    assert "No group could be compared with the others in this hospital alone: its percentages changed over" in brief


def test_a_right_hospital_has_its_groups_as_ever(evidence: Evidence) -> None:
    alone = {each.alone for each in claims.about(evidence, "groups", "group") if each.dataset == "right"}
    assert alone <= {"open", "shown"}
    right: set[types.State] = {each.state for each in claims.about(evidence, "calibration") if each.dataset == "right"}
    assert right <= {"open", "shown"}


def test_the_committee_is_told_where(evidence: Evidence) -> None:
    right, first, then = (
        percentages.are_right(replace(evidence, local_site=where)) for where in (None, "turning", "right")
    )
    assert right.lead == "Not reliably: some are too high at first and then too low in Rome."
    assert "too high at first" in first.lead
    assert "Rome" not in first.lead
    assert "too high" not in then.lead


def test_all_together_are_compared_within_the_times_of_a_hospital_that_turns(evidence: Evidence) -> None:
    """Of both hospitals women were flagged in error more often because of one, in which they came early."""
    pooled = [each for each in claims.about(evidence, "groups", "group") if each.dataset == types.POOLED]
    assert {each.state for each in pooled} <= {"open", "shown"}
    (table,) = (each for each in subgroups.tables(evidence) if each.name.endswith("subgroup-differences"))
    assert any(note.startswith("Compared within the times") and "Rome" in note for note in table.footnotes)
    assert "Bari" not in " ".join(table.footnotes)


def test_the_forest_of_groups_says_which_hospital_enters_by_its_times(evidence: Evidence) -> None:
    """With its diamonds by times its strokes, which are of all times, may lie elsewhere."""
    said = forests.forest_caption(evidence)
    assert "Rome: within its times." in said
    assert "Rome of all periods" in discrimination.forest_alternative(evidence, discrimination.AUROC)
    assert "Bari" not in said


def test_of_one_hospital_alone_too(tmp_path: Path) -> None:
    """The ratio of both O/E within the two halves, each weighed by its expected events: nearly 1, where it is not over
    all of the year."""
    (tmp_path / "turning.csv").write_text(_table(np.random.default_rng(4), 1200, True), encoding="utf-8")
    (tmp_path / "release.toml").write_text(RELEASE + SITE.format(name="turning", site="Rome"), encoding="utf-8")
    alone = evaluate.evidence(reading.study(tmp_path))
    within, over = (
        types.find_in_subgroup(alone, types.Subset("sex", "f"), "oe_ratio_ratio", dataset, against="complement")
        for dataset in (types.POOLED, "turning")
    )
    assert present(estimated(over).high) < 0.8
    assert estimated(within).value == pytest.approx(1, abs=0.15)
    assert not [flag for flag in alone.flags if flag.flag == "subgroup_differs"]
    assert "against" not in {each.state for each in claims.about(alone, "groups")}


def test_a_gain_of_all_times_is_not_shown_there_and_counts_by_its_periods(evidence: Evidence) -> None:
    """Right risks gain at Bari; at Rome the number of the year is of no time, and two bad quarters are against it."""
    stands = {each.dataset: each for each in claims.about(evidence, "benefit", "hospital")}
    assert stands["right"].state == "shown"
    assert stands["turning"].state == "open"
    curve = present(over_time.followed(evidence.by_curve[over_time.OVER_TIME], "turning", "net_benefit_gain"))
    assert isinstance(curve.found, types.Curve)
    for worse, state in ((1, "open"), (2, "against")):
        high = tuple(-0.01 if index >= 4 - worse else 0.2 for index in range(4))
        found = replace(curve.found, columns={**curve.found.columns, "value": (0.1, 0.1, -0.3, -0.1), "high": high})
        changed = [replace(each, found=found) if each is curve else each for each in evidence.curves]
        whole = replace(evidence, curves=tuple(changed))
        here = claims.about(whole, "benefit", "hospital")
        (claim,) = (each for each in here if each.dataset == "turning")
        assert (claim.state, claim.period is not None) == (state, state == "against")
        written = [row.period for row in results.of(whole).claims if row.question == "benefit"]
        assert claim.period in written
        assert claim.value == (-0.3 if worse == 2 else stands["turning"].value), "the worst, not the last"


def test_patients_told_apart_over_all_times_are_so_where_each_period_shows_it(evidence: Evidence) -> None:
    """The order of patients may come of when they were there: the AUROC of a year holds in no quarter by itself."""
    curve = over_time.followed(evidence.by_curve[over_time.OVER_TIME], "turning", "auroc")
    assert curve is not None
    assert isinstance(curve.found, types.Curve)
    for low, state in ((0.51, "shown"), (0.49, "open")):
        found = replace(curve.found, columns={**curve.found.columns, "low": (0.6, 0.6, low, 0.6)})
        whole = replace(
            evidence, curves=tuple(replace(each, found=found) if each is curve else each for each in evidence.curves)
        )
        stands = {each.dataset: each for each in claims.about(whole, "discrimination")}
        assert (stands["right"].state, stands["turning"].state) == ("shown", state)
        assert (stands["turning"].reason is None) == (state == "shown")


@pytest.mark.parametrize(("shares", "whom"), [((0.7, 0.6), "everyone"), ((0.1,), "no one"), ((0.7, 0.1), None)])
def test_whom_it_was_better_to_flag_is_what_the_shares_say(shares: tuple[float, ...], whom: str | None) -> None:
    """Flagging everyone has a net benefit above 0 where more have the outcome than the threshold says."""
    worse = [over_time.Period(number, -0.1, -0.2, -0.01, share) for number, share in enumerate(shares)]
    assert over_time.better_to_flag(worse, 0.3) == (whom or "everyone or no one")
    assert over_time.better_to_flag(worse, None) == "everyone or no one"


def test_of_several_classes_each_turns_by_itself() -> None:
    """Risks of a class that are too high first and too low then are called neither right on average nor too extreme."""
    rng, n = np.random.default_rng(3), 1200
    early, odds = np.arange(n) < n // 2, np.column_stack([np.zeros(n), rng.normal(-0.3, 1, n), rng.normal(-0.6, 1, n)])
    said = odds + np.outer(np.where(early, 1.5, -2.0), [0, 0, 1])
    truth, risk = (np.exp(each) / np.exp(each).sum(axis=1, keepdims=True) for each in (odds, said))
    number = (rng.random(n)[:, None] > truth.cumsum(axis=1)).sum(axis=1)
    days = [f"2025-{2 if each else 8:02}-{1 + index % 28:02}" for index, each in enumerate(early)]
    columns = {name: risk[:, index] for index, name in enumerate("abc")}
    frame = pd.DataFrame({"y": np.array([*"ABC"])[number], "day": days, **columns})
    asked = {"classes": [*"ABC"], "dataset": {"date": "day", "periods": "quarter"}}
    found = dossier.validate(frame, outcome="y", risk=[*"abc"], thresholds=[0.2], **asked).evidence  # type: ignore[arg-type]
    (claim,) = (each for each in claims.about(found, "calibration", "hospital") if each.at == {"class": "C"})
    assert (claim.state, claim.measure, claim.period is not None) == ("against", "oe_ratio", True)
    assert "too high at first and then too low for C" in plain(sentence.where_risks_are_off(found, "for"))
