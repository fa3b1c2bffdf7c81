"""No two pages say different things of one subject: what each prints is the register's word."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Mapping

import pytest
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st

from dossier.core import claims, flags, types
from dossier.core.facts import Method
from dossier.report.chapters import acceptance, committee, grid, limitations, sentence, subgroups, utility
from dossier.report.chapters.committee import dangers, first_page, missed, percentages
from dossier.report.figures.committee import committee_percentages
from dossier.typeset.numbers import plain
from dossier.typeset.words import listing
from tests.conftest import Book
from tests.test_committee import with_release
from tests.test_findings import KINDS, given, jointly_tested

TWO = KINDS["two"]


def said(*texts: str) -> str:
    return " ".join(texts).replace("\N{NO-BREAK SPACE}", " ")


def with_goal(
    evidence: types.Evidence, state: types.State, dataset: str, subset: types.Subset | None
) -> types.Evidence:
    """A goal on sensitivity, set before the data, that stands so."""
    at = {"threshold": evidence.release.thresholds.declared[0]}
    declared: Mapping[str, object] = {
        "measure": "sensitivity",
        "dataset": dataset,
        "at": at,
        "at_least": 0.8,
        "declared_on": datetime.date(2020, 1, 1),
    }
    release = with_release(evidence, acceptance=(declared,)).release
    goal = types.Criterion(1, "sensitivity", dataset, subset, at, "value", 0.8, None, 0.5, state, None)
    return dataclasses.replace(evidence, release=release, criteria=(goal,))


@pytest.mark.parametrize(("state", "word"), [("shown", "met"), ("against", "missed"), ("open", "cannot tell yet")])
def test_a_goal_of_a_group_is_told_wherever_page_1_counts_it(state: types.State, word: str) -> None:
    group = types.SubgroupSummary("site-0", "sex", "female", types.SubgroupSize(200, 57, 0))
    women, at = types.Subset("sex", "female"), {"threshold": TWO.release.thresholds.declared[0]}
    share = types.Estimate(0.5, 0.4, 0.6, 0.95, 200, Method("wilson"))
    found = types.Result("sensitivity", "sensitivity", types.POOLED, at, share, women)
    evidence = dataclasses.replace(TWO, subgroups=types.SubgroupEvidence((group,), (found,)))
    evidence = with_goal(evidence, state, types.POOLED, women)
    (row,) = (row for row in grid.table(evidence).rows if row.label.startswith(grid.QUESTION["groups"]))
    assert row.cells[1].text == f"1\N{NO-BREAK SPACE}{state}"
    first, missed = said(*committee.who_is_missed(evidence)), state == "against"
    assert (f"Its goals for groups, in 1 check: {word} in one." in first) is not missed
    assert ("Its goal for a group was missed: patients found for female patients." in first) is missed
    chapter = said(str(subgroups.finding(evidence).lead), str(subgroups.finding(evidence).rest))
    assert f"Of 1 check of declared criteria: one {acceptance.WORDS[state]}." in chapter


@pytest.mark.parametrize(
    ("state", "box"), [("shown", "Approve"), ("open", "Approve"), ("against", "Approve, though a goal was missed")]
)
def test_the_box_that_approves_says_what_was_missed(state: types.State, box: str) -> None:
    right = given(TWO, "oe_ratio", site_0=(1, 0.9, 1.1), site_1=(1, 0.9, 1.1))
    evidence = with_goal(right, state, "site-0", None)
    assert not [claim for claim in claims.of(right) if claim.state == "against"]
    assert first_page.approving(evidence) == box
    off = jointly_tested(given(right, "oe_ratio", site_0=(0.5, 0.4, 0.6), site_1=(1, 0.9, 1.1)), site_0=0.0001)
    assert first_page.approving(off) == "Approve, though an error was shown"
    elsewhere = dataclasses.replace(off, local_site="site-1")
    assert first_page.approving(elsewhere) == "Approve"


@pytest.mark.parametrize("state", ["shown", "open", "against"])
def test_what_was_met_is_said(state: types.State) -> None:
    answer = said(committee.answer(with_goal(TWO, state, "site-0", None)))
    assert "goals (patients found) in" in answer or "goals (patients found), in" in answer


def test_the_chapter_of_criteria_says_that_they_are_not_sealed_and_which_version_was_tested() -> None:
    evidence = with_goal(TWO, "shown", "site-0", None)
    about = evidence.release.release.model_copy(update={"tested_version": "0.9"})
    evidence = dataclasses.replace(evidence, release=evidence.release.model_copy(update={"release": about}))
    (row,) = (row for row in grid.table(evidence).rows if row.label.startswith(grid.QUESTION["test_itself"]))
    rest = said(acceptance.finding(evidence).rest)
    assert row.cells[-1].link == "acceptance"
    assert "Version 0.9 was tested, and 1 is released. The criteria are not sealed." in rest
    (bare,) = (
        row
        for row in grid.table(dataclasses.replace(evidence, criteria=())).rows
        if row.label.startswith(grid.QUESTION["test_itself"])
    )
    assert bare.cells[-1].link == "provenance"


def test_a_rival_that_is_better_is_a_limitation() -> None:
    at = {"against": "Old score"}
    worse = types.Estimate(-0.1, -0.14, -0.06, 0.95, 900, Method("wald"), details={"p_adjusted": 0.001, "looks": 2.0})
    lower = types.Estimate(0.1, 0.06, 0.14, 0.95, 900, Method("wald"), details={"p_adjusted": 0.2, "looks": 2.0})
    found = (
        types.Result("auroc_difference", "auroc_difference", "site-0", at, worse),
        types.Result("mean_severity_difference", "mean_severity_difference", "site-1", at, lower),
    )
    raised = flags.raised(flags.Shown(TWO.datasets, found))
    assert [flag.dataset for flag in raised if flag.flag == "rival_better"] == ["site-0"]
    evidence = dataclasses.replace(TWO, flags=tuple(flag for flag in raised if flag.flag == "rival_better"))
    (kind,) = limitations.raised(evidence)
    assert "Old score in AUROC, by 0.100 (0.060 to 0.140)" in said(kind.said[0][0])
    assert "another model does better" in said(committee.could_go_wrong(evidence)[0].text).lower()


def test_the_p_value_of_a_calibration_is_called_that_of_the_joint_test() -> None:
    evidence = jointly_tested(given(TWO, "calibration_slope", site_0=(0.5, 0.4, 0.6)), site_0=0.001, site_1=0.9)
    for claim in claims.about(evidence, "calibration", "hospital"):
        assert (claim.measure == "calibration_test", claim.p_of) == (False, "calibration_test")


@drawn(
    st.lists(
        st.tuples(st.floats(0.4, 2.2), st.floats(0.02, 0.5), st.floats(0.3, 2.0), st.floats(0.05, 0.6)),
        min_size=2,
        max_size=2,
    ),
    st.tuples(st.floats(0, 1), st.floats(0, 1)),
)
@settings(max_examples=60, deadline=None)
def test_the_committee_doubts_no_percentages_that_page_1_shows_right_and_praises_none_that_it_refutes(
    places: list[tuple[float, float, float, float]], p_values: tuple[float, float]
) -> None:
    ends = [(o, o / (1 + w), o * (1 + w), s, s - v, s + v) for o, w, s, v in places]
    evidence = given(TWO, "oe_ratio", site_0=ends[0][:3], site_1=ends[1][:3])
    evidence = given(evidence, "calibration_slope", site_0=ends[0][3:], site_1=ends[1][3:])
    evidence = jointly_tested(evidence, site_0=p_values[0], site_1=p_values[1])
    states = {claim.dataset: claim.state for claim in claims.about(evidence, "calibration", "hospital")}
    lead = said(committee.are_right(evidence).lead)
    names = {site.name: site.site for site in types.externals(evidence)}
    for site, state in states.items():
        doubted = "may be wrong" in lead and names[site] in lead
        assert not (doubted and state == "shown"), lead
    assert (lead == "Yes: close to what happened.") == (set(states.values()) == {"shown"}), lead
    assert not (lead.startswith(("Yes", "Close", "Nobody")) and "against" in states.values()), lead


def test_pages_say_which_is_which_where_they_could_read_as_a_contradiction(knee: Book) -> None:
    """Which hospitals are wrong, who is seen where, what thin lines are, and what each count is of."""
    evidence = knee.evidence
    right = plain(percentages.are_right(evidence).rest)
    named = [site for site in ("Knee 2", "Knee 3", "Knee 5", "Knee 7", "Knee 8") if site in right]
    assert len(named) == len(percentages.off_as_a_whole(evidence)) == 5
    table = missed.groups(evidence)
    assert table is not None
    assert "Under 50 (age): seen in six of them." in table.note
    drawn = committee_percentages(evidence)
    assert "thin: not sure that it is off" in getattr(drawn, "caption", "")
    assert "add up to 1,000" in utility.impact(evidence).note
    assert "Over all: the mean of all hospitals, open where one fails that it leaves out" in grid.table(evidence).note
    assert "Hospitals: all periods, but where risks turn;" in grid.table(evidence).note
    assert "narrow intervals" in sentence.calibration_by_state(evidence, "", listing).rest
    assert "Every\N{NO-BREAK SPACE}hospital: " in dangers._at(["a", "b"], "few patients", 2)
