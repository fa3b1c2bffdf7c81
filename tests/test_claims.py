"""The register of judgements: every question has an answer, every page the same one, and pipelines may stop at it."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, logit

import dossier
from dossier.api import Record
from dossier.core import between_groups, claims, multiplicity, types
from dossier.core.facts import Method
from dossier.outputs import junit
from dossier.record import results
from dossier.report.chapters import acceptance, committee, comparison, grid, limitations, sentence
from dossier.report.chapters.acceptance import WORDS
from dossier.report.chapters.committee import missed
from dossier.typeset import living_text
from dossier.typeset.numbers import plain
from tests.conftest import Book
from tests.estimated import estimated, present
from tests.test_acceptance import faults
from tests.test_findings import KINDS, jointly_tested
from tests.test_findings import given as estimated_as


@pytest.mark.parametrize("name", sorted(KINDS))
def test_every_question_is_answered_whatever_a_release_has(name: str) -> None:
    every = claims.of(KINDS[name])
    overall = {claim.question for claim in every if claim.scope == "overall"}
    assert overall == set(claims.QUESTIONS)
    assert [claim.harm for claim in every] == sorted(claim.harm for claim in every)
    for claim in every:
        assert (claim.state == "untested") <= (claim.value is None)
        assert claim.state != "untested" or claim.reason is not None


def test_the_file_holds_what_the_pages_print(any_book: Book) -> None:
    written = results.of(any_book.evidence)
    again = results.read(written.text())
    assert again.claims == written.claims
    assert tuple(map(results.ClaimRow.of, claims.of(again.evidence))) == written.claims
    rows = json.loads(written.text())["claims"]
    assert set(rows[0]) >= {"question", "scope", "about", "state", "harm", "limit", "limit_source", "worst", "needs_n"}
    # A row of page 1 for each question that something answers.
    answered = {claim.question for claim in claims.of(any_book.evidence) if claim.state != "untested"}
    labels = [row.label for row in grid.table(any_book.evidence).rows]
    assert len(labels) == len(answered)
    assert all(any(label.startswith(grid.QUESTION[each]) for label in labels) for each in answered)


def test_a_frame_of_claims_has_a_row_each_the_gravest_first(knee: Book) -> None:
    frame = Record(results.of(knee.evidence)).to_frame("claims")
    assert len(frame) == len(claims.of(knee.evidence))
    assert list(frame["harm"]) == sorted(frame["harm"])
    first = frame.iloc[0]
    assert (first["question"], first["state"], first["worst"]) == ("over_time", "against", "knee-2")
    assert set(frame["state"]) <= set(get_args(types.State))


@pytest.mark.parametrize(
    ("named", "fails"), [("against:over_time", True), ("open:calibration", True), ("against:labels", False)]
)
def test_a_pipeline_stops_at_a_claim_that_it_names(knee: Book, named: str, fails: bool) -> None:
    cases = junit.cases(knee.evidence, junit.Demands(named=frozenset({named})))
    question = named.partition(":")[2]
    stopped = [case for case in cases if case.suite == "claims" and case.status == "fails"]
    assert bool(stopped) == fails
    assert all(case.name.startswith(f"{question}, ") for case in stopped)
    # The worst group is what is said over all: it fails once, with what was asked of it.
    said = [case.says for case in cases if case.name.startswith("groups, ")]
    assert not any(each.startswith("groups, overall") for each in said)
    assert all("; asked for is at least " in each or WORDS["untested"] in each for each in said)
    assert len({case.name for case in cases if case.suite == "claims"}) == len(claims.of(knee.evidence)) - 1


def test_what_its_maker_says_binds_and_a_crossed_rule_is_the_gravest(knee: Book) -> None:
    says = dataclasses.replace(knee.evidence.flags[0], dataset="knee-1", reply="Not to be used there.")
    evidence = dataclasses.replace(knee.evidence, flags=(says,))
    first = [claim for claim in claims.of(evidence) if claim.harm == 1 and claim.scope == "hospital"]
    assert {(claim.question, claim.dataset, claim.limit_source) for claim in first} == {
        ("benefit", "knee-1", "maker"),
        ("over_time", "knee-2", "declared"),
    }


@given(st.floats(-0.2, 0.2), st.floats(0.001, 0.1), st.floats(0.0, 1.0), st.floats(0.0, 1.0))
@settings(max_examples=60, deadline=None)
def test_no_state_is_both_praise_and_accusation(value: float, se: float, p_worse: float, p_better: float) -> None:
    """A gain is shown only beyond both defaults, against only after its looks; its own hospital has one look."""
    details = {"p_holm": p_worse, "p_better": p_better}
    gain = types.Estimate(value, value - 2 * se, value + 2 * se, 0.95, 100, Method("mover"), 20, details=details)
    state, alone = multiplicity.gain(gain), multiplicity.gain(gain, is_own=True)
    assert (state == "shown") <= (p_better <= 0.025)
    assert (state == "against") <= (p_worse <= multiplicity.LEVEL and (gain.high or 0) < 0)
    assert (alone == "against") == ((gain.high or 0) < 0)


def test_only_an_accusation_has_to_pass_its_looks() -> None:
    for value, alone in ((0.1, "shown"), (0.0, "open"), (-0.1, "against")):
        found = types.Estimate(value, value - 0.05, value + 0.05, 0.95, 100, Method("paired"), 20)
        for p_value in (0.0, 1.0):
            tested = dataclasses.replace(found, details={"p_adjusted": p_value})
            state = "open" if alone == "against" and p_value == 1.0 else alone
            assert multiplicity.beside_rival("auroc_difference", tested) == state


# ---- numbers that texts name ----------------------------------------------------------------------------------------


def test_a_text_gives_the_numbers_that_it_names_with_interval_and_n(knee: Book) -> None:
    """`{auroc@knee-1}` is that AUROC; a group and a threshold are named beside it, and a gap says why."""
    evidence = knee.evidence
    group = '{sensitivity@pooled threshold=0.5 Age="under 50"}'
    asked = f"{{auroc@knee-1}}|{{oe_ratio@pooled}}|{{events@knee-2}}|{{patients@pooled}}|{group}"
    shown = living_text.resolved(dataclasses.replace(evidence, statements={"4": asked})).statements["4"]
    auroc, ratio, events, patients, group = (part.replace("\N{NO-BREAK SPACE}", " ") for part in shown.split("|"))
    found = estimated(types.find(evidence, "auroc", "knee-1"))
    assert auroc == f"{found.value:.2f} (95% CI {found.low:.2f} to {found.high:.2f}; n {found.n})"
    assert ratio.startswith("0.9")
    assert (events, patients) == ("524", "3,752")
    assert "95% CI" in group
    assert (
        "not estimated"
        in living_text.resolved(
            dataclasses.replace(evidence, statements={"4": "{auroc_beyond_case_mix@knee-1}"})
        ).statements["4"]
    )


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{auroc@nowhere}", "nowhere is not a dataset"),
        ("{aurok@pooled}", "aurok is not a measure"),
        ("{events@nobody}", "nobody is not a dataset"),
        ("{auroc@pooled Sex=female}", "names Sex=female, which is no setting"),
        ("{sensitivity@site}", "names no threshold that is declared"),
        ("{AUROC@site}", "is no name of a number"),
        ("{auroc}", "is no name of a number"),
        ("{patients@pooled} and {a set} {auroc@site}", ""),
    ],
)
def test_a_number_that_nothing_gives_is_a_fault(tmp_path: Path, text: str, says: str) -> None:
    found = faults(tmp_path, f'[statements]\n4 = "{text}"\n')
    assert len(found) == bool(says)
    assert says in " ".join(str(each) for each in found)


GROUPS: dict[str, object] = {"question": "groups", "scope": "group", "state": "open"}


@given(
    st.lists(
        st.tuples(st.sampled_from(("sensitivity", "specificity", "auroc_beyond_case_mix")), st.floats(-0.4, 0.4)),
        min_size=2,
        max_size=8,
    )
)
def test_the_worst_group_is_the_one_farthest_on_the_bad_side(found: list[tuple[str, float]]) -> None:
    """A group that is better off by more than another is worse off is not the worst."""
    made = [
        claims.Claim(
            **GROUPS,  # type: ignore[arg-type]
            measure=measure,
            value=value,
            low=value - 0.01,
            high=value + 0.01,
            limit=between_groups.MARGINS[measure],
        )
        for measure, value in found
    ]
    worst = claims.worst_first(made)[0]
    margins = [value / between_groups.MARGINS[measure][1] for measure, value in found]
    assert worst.value == found[margins.index(min(margins))][1]
    assert claims.looks_worse(worst) is (worst.value is not None and worst.value + 0.01 < 0)


def test_the_gravest_is_the_one_farthest_off_where_it_is_shown_and_surest_where_measures_differ() -> None:
    """A hospital of few patients may be the gravest only where it is shown to fail."""
    gain = claims.Claim("benefit", "hospital", "against", "few", value=-0.6, low=-0.7, high=-0.5, limit=(0.0, None))
    other = dataclasses.replace(gain, dataset="many", value=-0.1, low=-0.2, high=-0.05)
    assert claims.worst_first([other, gain], {"few"})[0] is gain
    vague, known = (dataclasses.replace(each, state="open") for each in (gain, other))
    assert claims.worst_first([vague, known], {"few"})[0] is known
    ours = claims.Claim("comparators", "hospital", "open", value=-0.016, low=-0.042, high=0.011, limit=(None, 0.0))
    theirs = dataclasses.replace(ours, value=0.01, low=-0.1, high=0.12, limit=(0.0, None))
    assert claims.worst_first([ours, theirs])[0] is theirs
    # Of what is shown, what matters most to patients, however sure the rest is.
    rough = dataclasses.replace(
        theirs, state="against", measure="accuracy_difference", value=-0.13, high=-0.06, low=-0.2
    )
    fine = dataclasses.replace(ours, state="against", measure="mean_severity_difference", value=0.06, low=0.05)
    assert claims.worst_first([fine, rough])[0] is rough


def test_of_risks_the_gravest_lie_farthest_from_what_happened_whatever_their_ratio_is(knee: Book) -> None:
    """A slope of 3.52 harms fewer than an O/E of 2.45 whose mean distance is three times as large."""
    known = [
        claims.Claim("calibration", "hospital", "against", site, value=value, limit=(0.8, 1.25), distance=distance)
        for site, value, distance in (("slope", 3.52, 0.169), ("ratio", 2.45, 0.572), ("open", 1.3, None))
    ]
    known[2] = dataclasses.replace(known[2], state="open")
    assert [claim.dataset for claim in claims.worst_first(known)] == ["ratio", "slope", "open"]
    # Where one of those that stand alike has none, all are ordered by their ratios.
    without = [known[0], dataclasses.replace(known[1], distance=None)]
    assert [claim.dataset for claim in claims.worst_first(without)] == ["slope", "ratio"]
    # Knee 7 has the lower O/E, 0.71 beside 0.76, and the smaller ICI, 0.067 beside 0.105.
    assert "too high in Knee 3 and Knee 7" in sentence.where_risks_are_off(knee.evidence)
    (off,) = (kind for kind in limitations.raised(knee.evidence) if kind.kind == "risks_off")
    assert off.briefly[0].startswith("Knee 3")
    # Nobody came when the O/E of Knee 2 was that of all its periods.
    (row,) = (row for row in grid.table(knee.evidence).rows if row.label.startswith("Risks are right in size"))
    assert plain(row.cells[2].text) == "Knee 2 in 2025 Q4: O/E 2.29 (2.11 to 2.49)"


def test_where_all_risks_are_too_low_that_is_what_is_named() -> None:
    """A slope that is farther off stands behind it: the headline says that they are too low, and so does page 1."""
    found = estimated_as(KINDS["one"], "oe_ratio", site_0=(1.4, 1.3, 1.5))
    found = jointly_tested(estimated_as(found, "calibration_slope", site_0=(0.5, 0.4, 0.6)), site_0=0.001)
    (claim,) = claims.about(found, "calibration", "hospital")
    assert (claim.state, claim.measure, claim.value) == ("against", "oe_ratio", 1.4)
    assert "too low in" in plain(sentence.where_risks_are_off(found))
    right = estimated_as(found, "oe_ratio", site_0=(1.0, 0.95, 1.05))
    assert claims.about(right, "calibration", "hospital")[0].measure == "calibration_slope"


def test_page_1_and_the_committee_name_the_same_group(knee: Book) -> None:
    # One of the criteria is asked of all hospitals together only.
    assert acceptance.finding(knee.evidence).lead == "Neither of two criteria is shown to be met wherever asked."
    (new,) = (row for row in grid.table(knee.evidence).rows if row.label.startswith("Holds in a new hospital"))
    assert new.cells[2].text.startswith("Net benefit gain 9.5")
    row = next(row for row in grid.table(knee.evidence).rows if row.label.startswith("No group is worse off"))
    assert row.cells[2].text.startswith("Under 50 (Age): sensitivity")
    assert any("patients aged under 50" in text for text in missed.who_is_missed(knee.evidence))
    better = next(
        claim
        for claim in claims.about(knee.evidence, "groups", "group")
        if (claim.dataset, claim.measure, claim.subset)
        == (types.POOLED, "sensitivity", types.Subset("Age", "70 or more"))
    )
    assert present(better.value) > 0.1
    assert better.state == "shown"


@pytest.mark.parametrize(
    ("n", "slope", "state"), [(1500, 0.4, "against"), (150, 1.0, "open"), (260, 0.9, "open"), (9000, 1.0, "shown")]
)
def test_the_size_of_risks_is_asked_of_the_slope_where_a_criterion_asks_of_the_ratio_alone(
    n: int, slope: float, state: types.State
) -> None:
    """At the hospital whose O/E is right, and whose slope is far too low, or told by too few patients."""
    rng = np.random.default_rng(3)
    risk = expit(rng.normal(-0.5, 2.0, n))
    outcome = rng.random(n) < expit(slope * logit(risk) - (0.35 if slope < 0.5 else 0.0))
    frame = pd.DataFrame({"site": "A", "outcome": outcome.astype(int), "risk": risk})
    asked = [
        {
            "measure": "oe_ratio",
            "dataset": "each external",
            "at_least": 0.5,
            "at_most": 2.0,
            "declared_on": "2020-01-01",
        }
    ]
    found = dossier.validate(frame, outcome="outcome", risk="risk", site="site", acceptance=asked)
    here = claims.counted(found.evidence, "calibration")
    assert {claim.state for claim in here if claim.limit_source == "declared"} == {"shown"}
    # What both say in the same words stands once.
    assert {claim.state for claim in here if claim.limit_source == "default"} <= {state}
    assert claims.worst_first(here)[0].state == state
    how = {"against": "shown to be off", "open": "open", "shown": "shown to be good"}[state]
    said = sentence.calibration_by_state(found.evidence, "", ", ".join)
    assert f"{said.lead}{said.rest}".startswith(f"Calibration is {how} in Data A")
    right = committee.are_right(found.evidence).lead
    assert right.startswith("Yes") is (state == "shown")
    assert right.startswith("Nobody can tell") is (state == "open")


def test_page_1_tells_of_harm_at_any_declared_threshold() -> None:
    """The gain is there at the first threshold, and flagging no one is better at the second."""
    rng = np.random.default_rng(8)
    true = expit(rng.normal(-1.2, 1.5, 6000))
    risk = np.where(true > 0.3, np.sqrt(np.sqrt(true)), true)
    frame = pd.DataFrame({"site": "A", "outcome": (rng.random(6000) < true).astype(int), "risk": risk})
    found = dossier.validate(frame, outcome="outcome", risk="risk", site="site", thresholds=[0.1, 0.85]).evidence
    by_threshold = {claim.at["threshold"]: claim.state for claim in claims.about(found, "benefit", "hospital")}
    assert by_threshold == {0.1: "shown", 0.85: "against"}
    row = next(row for row in grid.table(found).rows if row.label.startswith("Better than flagging"))
    assert row.cells[1].kind == "alert"
    assert "1 against" in row.cells[1].text.replace("\N{NO-BREAK SPACE}", " ")
    assert row.cells[2].text.replace("\N{NO-BREAK SPACE}", " ").startswith("Data A at 0.85: \N{MINUS SIGN}")


def test_a_mean_that_leaves_out_a_hospital_that_fails_shows_nothing_of_all() -> None:
    """Where nearly everyone has the outcome flagging everyone is better, and too few are without it to be pooled."""
    rng = np.random.default_rng(8)
    frames = [pd.DataFrame({"site": site, "risk": expit(rng.normal(-0.5, 1.5, 800))}) for site in "ABCDE"]
    frame = pd.concat([each.assign(outcome=(rng.random(800) < each["risk"]).astype(int)) for each in frames])
    failing = pd.DataFrame({"site": "F", "risk": rng.uniform(0.05, 0.9, 400), "outcome": 1}).assign(
        outcome=[0] * 8 + [1] * 392
    )
    stands = []
    for table in (frame, pd.concat([frame, failing])):
        found = dossier.validate(table, outcome="outcome", risk="risk", site="site", thresholds=[0.5]).evidence
        stands.append([claim.state for claim in claims.about(found, "benefit")])
    assert {*stands[0]} == {"shown"}
    # The hospital that fails, then all of them together, then the five.
    assert stands[1] == ["against", "open", *["shown"] * 5]


@pytest.mark.parametrize(
    ("question", "n", "declared", "reason"),
    [
        ("groups", 60, {}, "no_subgroup_declared"),
        ("groups", 60, {"subgroups": ["ward"]}, "nothing_compared"),
        ("groups", 60, {"subgroups": ["ward"], "disclosure": {"minimum_cell": 10}}, "not_given_where_protected"),
        ("comparators", 20, {}, "no_rival_declared"),
        ("comparators", 20, {"rival": "other"}, "nothing_compared"),
        ("updating", 60, {}, "no_update_declared"),
        ("updating", 9000, {"update": {"methods": ["intercept"]}}, "nothing_to_mend"),
    ],
)
def test_a_question_that_nothing_answers_says_the_true_reason(
    question: claims.Question, n: int, declared: dict[str, object], reason: str
) -> None:
    rng = np.random.default_rng(5)
    risk = expit(rng.normal(-0.8, 1.6, n))
    frame = pd.DataFrame({"outcome": (rng.random(n) < risk).astype(int), "risk": risk, "other": 0.9 * risk})
    frame["ward"] = np.where(rng.random(n) < 0.2, "surgery", "medicine")
    # Too few with the outcome for a comparison of two models.
    frame.loc[frame.index[3 * (n == 20) :], "outcome"] *= n != 20
    found = dossier.validate(frame, outcome="outcome", risk="risk", **declared).evidence  # type: ignore[arg-type]
    (overall,) = claims.about(found, question, "overall")
    assert overall.state == "untested"
    assert present(overall.reason).code == reason


def test_a_curve_that_is_kept_back_leaves_what_is_shown_of_the_percentages() -> None:
    rng = np.random.default_rng(6)
    risk = expit(rng.normal(-0.8, 1.6, 12000))
    frame = pd.DataFrame({"outcome": (rng.random(12000) < risk).astype(int), "risk": risk})
    sites = {"A": frame[:9000], "B": frame[9000:9200]}
    found = dossier.validate(sites, outcome="outcome", risk="risk", disclosure={"minimum_cell": 10}).evidence
    stands = {claim.dataset: claim.state for claim in claims.counted(found, "calibration")}
    assert list(stands.values()).count("shown") == 1
    assert committee.are_right(found).lead.startswith("Close to what happened in")


@pytest.mark.parametrize("asked", [{}, {"thresholds": (0.3,)}, {"thresholds": (0.3,), "cluster": "family"}])
def test_another_model_with_the_same_risks_is_no_better_and_beaten_by_nothing(asked: dict[str, object]) -> None:
    rng = np.random.default_rng(9)
    risk = expit(rng.normal(-0.8, 1.6, 400))
    frame = pd.DataFrame({"outcome": (rng.random(400) < risk).astype(int), "risk": risk, "twin": risk, "near": risk})
    frame.loc[0, "near"] = 0.01
    frame["site"], frame["family"] = "A", np.arange(400) // 8
    rivals = [{"name": name, "column": name.lower()} for name in ("Twin", "Near")]
    few: dict[str, Any] = {"resampling": {"bootstrap": 2, "permutations": 9}, **asked}
    found = dossier.validate(frame, outcome="outcome", risk="risk", site="site", rival=rivals, **few)
    stands = {
        (claim.at["against"], claims.is_same(claim))
        for claim in claims.about(found.evidence, "comparators", "hospital")
    }
    assert stands == {("Twin", True), ("Near", False)}
    assert "found the same risks" in comparison.finding(found.evidence).lead
    assert "found the model better" not in comparison.finding(found.evidence).lead
    said = committee.than_the_other_model(found.evidence)
    assert "Beside Twin: it gives the same percentages" in said
    assert "Beside Near: it gives" not in said
