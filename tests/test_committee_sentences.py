"""What the committee is told of evidence made by hand: directions, hospitals, and no more than a range allows."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st

from dossier.core import between_groups, claims, multiplicity, types
from dossier.core.facts import Count, Fact, Method
from dossier.report.chapters import committee, comparison
from dossier.report.chapters.committee import better
from tests.conftest import by_hand
from tests.estimated import interval_of, present
from tests.figures.evidence import Case
from tests.reasons import because, limitation
from tests.test_committee import with_release
from tests.test_findings import KINDS, given, jointly_tested

# ---- the model against the same for all -----------------------------------------------------------------------------


def of_gain(evidence: types.Evidence, at: float, treat_all: float, **gains: tuple[float, float]) -> types.Evidence:
    """The evidence with these ranges of the gain over the better default at its sites, at one threshold."""
    release = evidence.release.model_copy(
        update={"thresholds": evidence.release.thresholds.model_copy(update={"declared": (at,)})}
    )
    kept = [result for result in evidence.results if result.measure not in ("net_benefit", "net_benefit_gain")]
    for position, (low, high) in gains.items():
        dataset = position.replace("_", "-")
        default = {"default": max(treat_all, 0.0)}
        gain = types.Estimate((low + high) / 2, low, high, 0.95, 300, Method("wald"), details=default)
        good = types.Estimate(0.1, 0.0, 0.2, 0.95, 300, Method("wald"), details={"treat_all": treat_all})
        kept.append(types.Result("net_benefit_gain", "net_benefit_gain", dataset, {"threshold": at}, gain))
        kept.append(types.Result("net_benefit", "net_benefit", dataset, {"threshold": at}, good))
    return dataclasses.replace(evidence, release=release, results=tuple(kept))


def test_it_would_be_better_to_do_the_same_for_all_only_where_the_range_says_so() -> None:
    evidence = of_gain(KINDS["two"], 0.5, 0.3, site_0=(-0.3, -0.1), site_1=(-0.1, 0.1))
    (words,) = committee.than_the_same_for_all(evidence)
    assert words.replace("\N{NO-BREAK SPACE}", " ") == (
        "At the 50% line, flagging everyone would be better in Italy 1. In Spain it is not clear "
        "whether the model or flagging everyone or no one is better."
    )
    for case, nowhere in (("two", "in neither hospital"), ("eight", "in none of the eight hospitals")):
        open_yet = {f"site_{index}": (-0.1, 0.1) for index in range(len(KINDS[case].datasets))}
        (words,) = committee.than_the_same_for_all(of_gain(KINDS[case], 0.5, 0.3, **open_yet))
        assert words.endswith(f"{nowhere} is it clear whether the model or flagging everyone or no one is better.")
    looked_at = [
        dataclasses.replace(each, found=dataclasses.replace(each.found, details={**each.found.details, "p_holm": 0.02}))
        if each.measure == "net_benefit_gain" and isinstance(each.found, types.Estimate)
        else each
        for each in evidence.results
    ]
    (words,) = committee.than_the_same_for_all(dataclasses.replace(evidence, results=tuple(looked_at)))
    assert "flagging everyone may be better in Italy 1, or this is coincidence." in words.replace(
        "\N{NO-BREAK SPACE}", " "
    )
    loss = of_gain(KINDS["two"], 0.5, -0.2, site_0=(-0.3, -0.1), site_1=(0.1, 0.2))
    (words,) = committee.than_the_same_for_all(loss)
    assert words.replace("\N{NO-BREAK SPACE}", " ") == (
        "At the 50% line, the model is better than flagging everyone or no one in Spain. "
        "Flagging no one would be better in Italy 1."
    )
    here = dataclasses.replace(loss, local_site="site-0")
    (warning,) = committee.better_if_the_same_for_all(here)
    assert warning.replace("\N{NO-BREAK SPACE}", " ") == "At the 50% line, flagging no one would be better here."


def test_every_hospital_where_another_model_is_shown_to_be_better_is_named_or_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By other measures than at the first one, the gravest first."""
    sites, made = types.externals(KINDS["eight"]), list[claims.Claim]()
    at: types.At = {"against": "old", "threshold": 0.5}
    for site, measure in zip(sites, [*multiplicity.BESIDE_RIVALS, "brier_difference"], strict=False):
        limit = multiplicity.BESIDE_RIVALS[measure]
        claim = claims.Claim("comparators", "hospital", "against", site.name, measure, at=at, value=0.02, limit=limit)
        made.append(dataclasses.replace(claim, low=0.01, high=0.03, alone="against"))
    monkeypatch.setattr(comparison, "better_rivals", lambda _: made)
    answer = better.another_is_better(KINDS["eight"])
    assert f"{sites[3].site}, {sites[4].site} and one more" in answer


def test_where_nobody_knows_the_gain_nothing_is_said_of_it() -> None:
    assert committee.than_the_same_for_all(of_gain(KINDS["two"], 0.5, 0.3)) == ()


# ---- people ---------------------------------------------------------------------------------------------------------


def studied(low: float, value: float, high: float, **clustered: float) -> types.Evidence:
    """The evidence with a reader study: 20 of 100 wrong without the model, and so many fewer with it."""
    rates = {"error_rate_unaided": 0.20, "error_rate_aided": 0.20 - value}
    results = [
        types.Result(name, name, types.READER_STUDY, {}, types.Estimate(rate, None, None, None, 300, Method("wald")))
        for name, rate in rates.items()
    ]
    fewer = types.Estimate(value, low, high, 0.95, 300, Method("wald"), details=dict(clustered))
    results.append(types.Result("absolute_risk_reduction", "absolute_risk_reduction", types.READER_STUDY, {}, fewer))
    return dataclasses.replace(KINDS["one"], results=(*KINDS["one"].results, *results))


@pytest.mark.parametrize(
    ("evidence", "start", "ending"),
    [
        (studied(0.02, 0.05, 0.08), "Yes, in a study.", "They decided better (range 2 to 8 fewer wrong)."),
        (studied(0.0, 0.0, 0.0), "Not shown.", "This could be coincidence (range 0 more to 0 fewer wrong)."),
        (studied(-0.02, 0.05, 0.12), "Not shown.", "This could be coincidence (range 2 more to 12 fewer wrong)."),
        (
            studied(0.02, 0.05, 0.08, low_clustered=-0.01, high_clustered=0.11),
            "Not shown.",
            "This could be coincidence (range 1 more to 11 fewer wrong).",
        ),
        (studied(-0.08, -0.05, -0.02), "No: in a study they decided worse (range 2 to 8 more wrong).", ""),
        (KINDS["one"], "Not known: no study compared decisions with and without it.", ""),
    ],
)
def test_people_decide_better_only_where_the_range_says_so(evidence: types.Evidence, start: str, ending: str) -> None:
    words = committee.people_decide(evidence)
    assert words.startswith(start)
    assert words.endswith(ending)
    assert ("Without it 20 of 100 decisions were wrong" in words) == (evidence is not KINDS["one"])


def with_changes(evidence: types.Evidence) -> types.Evidence:
    """The same study with two groups of two readers: what changed, and what became of advice."""
    benefits = [
        types.Result("decision_benefit", "decision_benefit", types.READER_STUDY, {"group": group}, found)
        for group, found in (("nurse", of_arms(0.7, 0.8)), ("surgeon", of_arms(0.9, 0.9)))
    ]
    advice = [
        types.Result(
            name,
            name,
            types.READER_STUDY,
            {},
            types.Estimate(0.2, 0.1, 0.3, 0.95, of, Method("wilson"), details={"decisions": n}),
        )
        for name, n, of in (("wrong_advice_followed", 4.0, 20), ("right_advice_resisted", 3.0, 15))
    ]
    columns = {"corrected": (20.0, 5.0, 3.0, 2.0), "misled": (9.0, 1.0, 3.0, 2.0), "group": (0.0, 0.0, 1.0, 1.0)}
    curve = types.CurveResult("changed_decisions", types.READER_STUDY, types.Curve(columns, 300, Method("counted")))
    return dataclasses.replace(
        evidence, results=(*evidence.results, *benefits, *advice), curves=(*evidence.curves, curve)
    )


def of_arms(unaided: float, aided: float) -> types.Estimate:
    """A decision benefit with the readers' accuracy without and with the model."""
    return types.Estimate(
        aided - unaided, 0.0, 0.2, 0.95, 2, Method("student_t"), details={"unaided": unaided, "aided": aided}
    )


def test_what_a_study_changed_is_said_in_whole_people_and_by_group() -> None:
    """By hand: 20 + 5 + 3 + 2 decisions were put right, 9 + 1 + 3 + 2 made wrong; nurses were wrong in 30, then 20."""
    words = committee.people_decide(with_changes(studied(0.02, 0.05, 0.08)))
    assert words.replace("\N{NO-BREAK SPACE}", " ") == (
        "Yes, in a study. Without it 20 of 100 decisions were wrong, with it 15. It put 30 right and made 15 wrong. "
        "Wrong of 100 by group: nurse 30, then 20; surgeon 10, then 10. Where people first thought otherwise, they "
        "followed wrong advice 4 of 20 times and refused right advice 3 of 15 times. "
        "They decided better (range 2 to 8 fewer wrong)."
    )


def test_a_study_that_is_kept_back_is_not_said_to_be_missing() -> None:
    hidden = types.Withheld(Fact("too_few_sites_to_pool", usable=Count(0, "site")), below=10)
    found = studied(0.02, 0.05, 0.08)
    kept = tuple(
        dataclasses.replace(result, found=hidden) if result.measure == "error_rate_aided" else result
        for result in found.results
    )
    withheld = dataclasses.replace(found, results=kept)
    study = {"file": "study.csv"}
    assert committee.people_decide(with_release(withheld, reader_study=study)).startswith("A study compared decisions")
    assert committee.people_decide(withheld) == "Not known: no study compared decisions with and without it."


@pytest.mark.parametrize(("assumed", "word"), [(None, "about"), (1.0, "at best")])
def test_how_sure_the_truth_is_is_said_in_whole_people(assumed: float | None, word: str) -> None:
    """The paper's example: at rho .57 a measured accuracy of .90 is .80 against the truth."""
    actual = types.Estimate(0.801993, 0.77, 0.83, 0.95, 300, Method("wald"), details={"measured_accuracy": 0.9})
    rho = types.Estimate(0.57, 0.5, 0.6, 0.95, 300, Method("wald"), details={"accuracy_assumed": assumed})
    results = (
        types.Result("actual_accuracy", "actual_accuracy", "site-0", {}, actual),
        types.Result("weighted_concordance", "weighted_concordance", "site-0", {}, rho),
    )
    bare = dataclasses.replace(
        KINDS["two"],
        results=tuple(
            result
            for result in KINDS["two"].results
            if result.measure not in ("actual_accuracy", "weighted_concordance")
        ),
    )
    assert committee.labels_are_right(bare) == ""
    assert committee.labels_are_right(dataclasses.replace(bare, results=(*bare.results, *results))) == (
        f"If people like those at Italy 1 say what is true, 90 of 100 answers look right. People are wrong too: "
        f"{word} 80 are right (range 77 to 83). Not so if a test says it."
    )


# ---- the answer -----------------------------------------------------------------------------------------------------


def with_counts(evidence: types.Evidence, *counts: tuple[int, int]) -> types.Evidence:
    """The evidence with so many patients and events at its sites."""
    pairs = zip(evidence.datasets, counts, strict=True)
    return dataclasses.replace(
        evidence, datasets=tuple(dataclasses.replace(dataset, n=n, events=events) for dataset, (n, events) in pairs)
    )


def pooled_as(evidence: types.Evidence, found: types.Estimate | types.Absent) -> types.Evidence:
    """The evidence with another AUROC of all hospitals together, and no flag."""
    results = tuple(
        dataclasses.replace(result, found=found)
        if (result.measure, result.dataset) == ("auroc", types.POOLED)
        else result
        for result in evidence.results
    )
    return dataclasses.replace(evidence, results=results, flags=())


def test_a_hospital_of_few_patients_is_no_end_of_a_range() -> None:
    few = with_counts(KINDS["two"], (12, 1), (500, 100))
    low, high = (site.site for site in KINDS["two"].datasets)
    for said in (committee.answer(few), committee.who_is_missed(few)[0]):
        assert f"({low})" not in said
        assert f"({high})" in said
        assert f"; {low} left out: few of one outcome." in said.replace("\N{NO-BREAK SPACE}", " ")
    for said in (committee.answer(KINDS["two"]), committee.who_is_missed(KINDS["two"])[0]):
        assert "left out" not in said
    # Where all are so small, both are named: the range of each stands beside.
    assert "left out" not in committee.who_is_missed(with_counts(KINDS["two"], (12, 1), (12, 2)))[0]


@drawn(needed=st.floats(50, 90_000), local=st.booleans())
def test_one_page_gives_one_answer_to_how_many_patients_it_takes(needed: float, local: bool) -> None:
    """Beside "about 4,600 patients would show it" stood "sure numbers need 8,000"."""
    test = types.Estimate(1.0, None, None, None, 500, Method("likelihood_ratio"), details={"needed": needed})
    kept = [each for each in KINDS["two"].results if each.measure != "calibration_test"]
    tests = [
        types.Result("calibration_test", "calibration_test", site.name, {}, test) for site in KINDS["two"].datasets
    ]
    found = dataclasses.replace(KINDS["two"], results=(*kept, *tests), local_site="site-0" if local else None)
    said = " ".join((committee.are_right(found).rest, *committee.steps(found))).replace("\N{NO-BREAK SPACE}", " ")
    counts = re.findall(r"(?:bout|percentages,) ([\d,]+(?: to [\d,]+)?)(?: patients|[.;])", said)
    assert len(set(counts)) <= 1
    assert "sure numbers" not in said


def test_what_to_expect_in_ours_is_said_only_where_enough_hospitals_tell() -> None:
    known = types.Estimate(
        0.8, 0.7, 0.9, 0.95, 5000, Method("wald"), details={"prediction_low": 0.6, "prediction_high": 0.95, "k": 7}
    )
    words = committee.answer(pooled_as(KINDS["eight"], known))
    assert words.endswith(" In another hospital it may tell sick from well 60 to 95 times of 100.")
    flagged = dataclasses.replace(
        pooled_as(KINDS["eight"], known), flags=(types.Flag("heterogeneity", types.POOLED, limitation("so.")),)
    )
    assert committee.answer(flagged).endswith("60 to 95 times of 100.")
    low = dataclasses.replace(known, details={**known.details, "prediction_low": 0.3})
    assert committee.answer(pooled_as(KINDS["eight"], low)).endswith("30 to 95 times of 100 (50: a coin toss).")
    wide = dataclasses.replace(pooled_as(KINDS["eight"], types.Absent(Fact("no_rows"))), flags=flagged.flags)
    assert committee.answer(wide).endswith(
        "Results differed so much that those of another hospital cannot be predicted."
    )
    # Two that differ are two: no number of so few says what another may expect.
    both = dataclasses.replace(pooled_as(KINDS["two"], types.Absent(Fact("no_rows"))), flags=flagged.flags)
    assert committee.answer(both).endswith("These two hospitals cannot tell what to expect in another.")
    few = committee.answer(
        pooled_as(KINDS["two"], types.Absent(Fact("too_few_sites_to_pool", usable=Count(0, "site"))))
    )
    assert few.endswith("These two hospitals cannot tell what to expect in another.")


def test_without_goals_the_ends_of_what_was_found_are_named() -> None:
    evidence = dataclasses.replace(KINDS["two"], criteria=())
    at = evidence.release.thresholds.declared[0]
    results = tuple(result for result in evidence.results if result.measure != "sensitivity")
    for dataset, share in (("site-0", 0.9), ("site-1", 0.3)):
        found = types.Estimate(share, share - 0.05, share + 0.05, 0.95, 300, Method("wald"))
        results = (*results, types.Result("sensitivity", "sensitivity", dataset, {"threshold": at}, found))
    words = committee.answer(dataclasses.replace(evidence, results=results))
    assert words.startswith("No goal was set before the test, so it cannot pass or fail. Of 100 patients with")
    assert "it found from 30 (Spain) to 90 (Italy 1)." in words


def test_every_hospital_has_its_row() -> None:
    names = tuple(f"Ward {chr(ord('A') + index)}" for index in range(12))
    evidence = with_counts(by_hand(Case("twelve", names)), *((200, 100),) * 12)
    assert {row.label for row in committee.by_site(evidence).rows} == set(names)
    first = committee.hospitals(evidence)
    assert [row.name for row in first.rows] == list(names)
    assert "hospitals between them" not in first.note


def test_false_alarms_are_those_who_are_not_left_alone() -> None:
    evidence = KINDS["two"]
    at = evidence.release.thresholds.declared[0]
    found = types.find(evidence, "specificity", "site-0", threshold=at)
    assert isinstance(found, types.Estimate)
    low, high = interval_of(found)
    row = next(row for row in committee.by_site(evidence).rows if row.label == "Italy 1")
    ends = f"{100 * (1 - high):.0f}\N{EN DASH}{100 * (1 - low):.0f}"
    assert (row.cells[-1].text, row.cells[-1].interval) == (f"{100 - round(100 * found.value)}", ends)


# ---- directions -----------------------------------------------------------------------------------------------------


def test_each_place_hears_the_direction_of_its_own_slope() -> None:
    right = given(KINDS["two"], "oe_ratio", site_0=(1.0, 0.9, 1.1), site_1=(1.0, 0.9, 1.1))
    evidence = given(right, "calibration_slope", site_0=(0.7, 0.6, 0.8), site_1=(1.4, 1.2, 1.6))
    evidence = jointly_tested(evidence, site_0=0.001, site_1=0.001)
    flags = (types.Flag("slope_off", "site-0", limitation("so.")), types.Flag("slope_off", "site-1", limitation("so.")))
    (words,) = committee.could_go_wrong(dataclasses.replace(evidence, flags=flags))
    assert words.text == (
        "Italy 1: on the whole high percentages are too high, low ones too low. "
        "Spain: on the whole high percentages are too low, low ones too high."
    )
    # Of those that are off both ways beside the lines page 1 does not name one way alone.
    lead = committee.are_right(evidence).lead
    assert ("too low" in lead) == ("too high" in lead)
    off = given(evidence, "oe_ratio", site_0=(0.6, 0.5, 0.7), site_1=(1.0, 0.9, 1.1))
    (words,) = committee.could_go_wrong(dataclasses.replace(off, flags=flags[:1]))
    assert words.text == "Italy 1: on the whole its percentages are too high, above all the high ones."


def test_each_place_hears_whether_the_outcome_is_more_or_less_common() -> None:
    evidence = with_counts(KINDS["two"], (100, 40), (100, 5))
    origin = dataclasses.replace(evidence.datasets[0], name="origin", role="development", n=1000, events=200)
    flags = (
        types.Flag("prevalence_shift", "site-0", limitation("so.")),
        types.Flag("prevalence_shift", "site-1", limitation("so.")),
    )
    changed = dataclasses.replace(evidence, datasets=(*evidence.datasets, origin), flags=flags)
    (words,) = committee.could_go_wrong(changed)
    assert words.text == (
        "Italy 1: the outcome is more common than where the model was made. "
        "Spain: the outcome is less common than where the model was made."
    )


# ---- groups ---------------------------------------------------------------------------------------------------------


TOO_FEW = "Too few: under 20 patients with infection, or without."
MISSED_AT = "Missed: at the 50%\N{NO-BREAK SPACE}line."


def with_groups(
    evidence: types.Evidence, sizes: Mapping[str, Sequence[types.SubgroupSize | types.Absent]], *results: types.Result
) -> types.Evidence:
    """The evidence with these groups by sex, a size a site."""
    summaries = tuple(
        types.SubgroupSummary(site.name, "sex", label, size)
        for label, of_sites in sizes.items()
        for site, size in zip(evidence.datasets, of_sites, strict=True)
    )
    return dataclasses.replace(evidence, subgroups=types.SubgroupEvidence(summaries, results, ()))


def of_group(label: str, dataset: str, value: float, measure: str = "auroc", **more: float) -> types.Result:
    """A measure of a group."""
    found = types.Estimate(value, value - 0.07, value + 0.07, 0.95, 200, Method("wald"), details=more)
    return types.Result(measure, measure, dataset, {}, found, types.Subset("sex", label))


def test_groups_of_the_only_place_have_its_own_numbers() -> None:
    sizes = {"female": [types.SubgroupSize(200, 57, 0)], "male": [types.SubgroupSize(200, 19, 0)]}
    table = present(committee.groups(with_groups(KINDS["one"], sizes, of_group("female", "site-0", 0.76))))
    assert table.title == "Groups of patients, Desio, Italy."
    assert table.rows[0].cells[2].text == "76"
    assert table.rows[1].cells[2].text == "too few"
    assert table.note == f"{TOO_FEW} {MISSED_AT}"


def test_as_many_cases_of_a_group_as_predicted_are_a_hundred_not_fewer() -> None:
    """A ratio has no largest value: 99.6 cases per 100 predicted round to 100, where 99.6 of 100 people are not all."""
    found = (of_group("female", "site-0", 0.996, "auroc"), of_group("female", "site-0", 0.996, "oe_ratio"))
    table = present(committee.groups(with_groups(KINDS["one"], {"female": [types.SubgroupSize(200, 57, 0)]}, *found)))
    assert [cell.text for cell in table.rows[0].cells[2:4]] == [">99", "100"]


def test_groups_that_are_not_added_up_are_not_said_to_be_too_few() -> None:
    enough, few = types.SubgroupSize(200, 57, 0), types.SubgroupSize(200, 9, 0)
    evidence = with_groups(
        KINDS["two"],
        {"female": [enough, enough], "male": [few, few], "other": [enough, enough]},
        of_group("other", "pooled", 0.8, k=3.0),
    )
    table = present(committee.groups(evidence))
    assert [row.cells[2].text for row in table.rows] == ["not combined", "too few", "80"]
    assert TOO_FEW in table.note
    assert "Not combined: too few hospitals have enough of the group" in table.note
    none = present(committee.groups(with_groups(KINDS["two"], {"female": [enough, enough]})))
    assert none.note.startswith("Not combined: too few hospitals")
    assert [each.title.endswith(" together.") for each in (table, none)] == [True, False]


def test_it_is_said_at_how_many_places_the_groups_are_known() -> None:
    half: list[types.SubgroupSize | types.Absent] = [
        types.SubgroupSize(30, 15, 0),
        types.Absent(because("no column sex")),
    ]
    sizes = {"female": half, "male": half}
    words = committee.differing_groups(with_groups(with_counts(KINDS["two"], (60, 30), (540, 100)), sizes))
    assert "Sex: known in one of two hospitals." in " ".join(words)


def test_groups_that_the_table_has_no_room_for_are_counted() -> None:
    labels = [f"group {index}" for index in range(11)]
    table = committee.groups(with_groups(KINDS["one"], {label: [types.SubgroupSize(90, 30, 0)] for label in labels}))
    assert table is not None
    assert len(table.rows) == 8
    assert table.note.endswith("Three more groups: full report, under Subgroups.")


def ratio_in(ratio: float, rest: float) -> tuple[types.Result, ...]:
    """O/E of women against that of men at the only place, a difference that the number of looks does not explain."""
    of_sex, against = types.Subset("sex", "female"), {"against": "complement"}
    apart = types.Estimate(ratio - rest, None, None, 0.95, 200, Method("wald"))
    quotient = types.Estimate(
        ratio / rest, ratio / rest / 1.2, 1.2 * ratio / rest, 0.95, 200, Method("wald"), details={"p_holm": 0.01}
    )
    return (
        of_group("female", types.POOLED, ratio, "oe_ratio", k=2.0),
        of_group("female", "site-0", ratio, "oe_ratio"),
        types.Result("oe_ratio", "oe_ratio", types.POOLED, against, apart, of_sex),
        types.Result("oe_ratio_ratio", "oe_ratio_ratio", types.POOLED, against, quotient, of_sex),
    )


@pytest.mark.parametrize(
    ("ratio", "rest", "says"),
    [
        (1.4, 0.9, "The model underestimates the risk of female patients ("),
        (0.6, 1.1, "The model overestimates the risk of female patients ("),
        (1.05, 0.6, ""),
        (0.98, 0.985, ""),
    ],
)
def test_what_is_said_of_a_group_never_contradicts_its_own_row(ratio: float, rest: float, says: str) -> None:
    """A group that differs from the others is wrong the way that its own range says, or is not said to be wrong."""
    sizes = {"female": [types.SubgroupSize(200, 57, 0)], "male": [types.SubgroupSize(200, 57, 0)]}
    words = committee.differing_groups(with_groups(KINDS["one"], sizes, *ratio_in(ratio, rest)))[0]
    assert words.startswith(says) if says else "estimates" not in words


def missed(value: float, rest: float, p_holm: float, half: float = 0.1) -> tuple[types.Result, ...]:
    """Which share of women is found at the first line, and how far from that of the others it lies."""
    at, of_sex = {"threshold": KINDS["one"].release.thresholds.declared[0]}, types.Subset("sex", "female")
    found = types.Estimate(value, value - 0.1, value + 0.1, 0.95, 200, Method("wald"))
    gap = value - rest
    apart = types.Estimate(gap, gap - half, gap + half, 0.95, 200, Method("wald"), details={"p_holm": p_holm})
    return (
        types.Result("sensitivity", "sensitivity", types.POOLED, at, found, of_sex),
        types.Result("sensitivity", "sensitivity", types.POOLED, {**at, "against": "complement"}, apart, of_sex),
    )


@pytest.mark.parametrize(("here", "rest", "more"), [(1.06, 0.9, False), (1.15, 0.97, True), (0.8, 1.0, True)])
def test_percentages_that_differ_are_worse_for_the_group_that_they_are_farther_off_for(
    here: float, rest: float, more: bool
) -> None:
    """Held against the others alone, those nearest to the truth would be accused where the others' are too high."""
    known, ratio = types.Estimate(here, None, None, None, 300, Method("wald")), here / rest
    apart = types.Estimate(ratio, ratio / 1.1, ratio * 1.1, 0.95, 300, Method("wald"), details={"p_holm": 0.3})
    look = between_groups.Look("age", "70 or more", between_groups.RATIO, None, None, types.POOLED, known, rest, apart)
    assert look.is_doubtful
    assert look.errs_more is more


@pytest.mark.parametrize(
    ("results", "says"),
    [
        (
            missed(0.48, 0.83, 0.001),
            "It more often misses female patients (52 of 100, the others there 17; 25 to 45 of 100 more).",
        ),
        (missed(0.60, 0.75, 0.2), "It may do worse for female patients (more missed), or this is coincidence."),
        (
            missed(0.66, 0.75, 0.001, 0.08),
            "It does worse for female patients (more missed), but it may be only a little.",
        ),
        (
            missed(0.70, 0.75, 1.0),
            "Of 1 comparison with the other patients of the same hospital, one cannot tell, or not by how much.",
        ),
    ],
)
def test_all_sentences_about_a_group_rest_on_one_comparison(results: tuple[types.Result, ...], says: str) -> None:
    sizes = {name: [types.SubgroupSize(200, 57, 0)] for name in ("female", "male")}
    evidence = with_groups(KINDS["one"], sizes, *results)
    first, later = " ".join(committee.who_is_missed(evidence)), " ".join(committee.differing_groups(evidence))
    # The first page has no room for whom they are compared with, nor for ranges.
    in_brief = re.sub(r"; \d+ to \d+ of 100 more", "", says)
    in_brief = in_brief.replace("with the other patients of the same hospital", "of groups")
    for words, said in ((first, in_brief), (later, says)):
        assert said in words.replace("\N{NO-BREAK SPACE}", " ")
        assert "overlap" not in words
        assert "was a difference shown" not in words
    assert ("coincidence" in later) == ("coincidence" in says)


def ratio_of_women(ratio: float, rest: float) -> tuple[types.Result, ...]:
    """The O/E of women, that lies off that of the others after all looks."""
    of_sex, apart = types.Subset("sex", "female"), ratio / rest
    here, beside, between = (
        types.Estimate(value, 0.95 * value, 1.05 * value, 0.95, 200, Method("wald"), details={"p_holm": 0.001})
        for value in (ratio, ratio - rest, apart)
    )
    return (
        types.Result("oe_ratio", "oe_ratio", types.POOLED, {}, here, of_sex),
        types.Result("oe_ratio", "oe_ratio", types.POOLED, {"against": "complement"}, beside, of_sex),
        types.Result("oe_ratio_ratio", "oe_ratio_ratio", types.POOLED, {"against": "complement"}, between, of_sex),
    )


def foretold(found: Sequence[types.Result], share: float, rest: float) -> tuple[types.Result, ...]:
    """The same where the risks foretell these shares."""
    more = {"expected": share, "expected_complement": rest, "p_beyond_holm": 1.0}
    return tuple(each.with_details(more) if "against" in each.at else each for each in found)


def test_who_is_wronged_stands_before_those_whom_the_risks_explain() -> None:
    sizes = {name: [types.SubgroupSize(200, 57, 0)] for name in ("female", "male")}
    explained = foretold(missed(0.48, 0.83, 0.001), 0.5, 0.8)
    alarms = tuple(dataclasses.replace(each, term="specificity", measure="specificity") for each in explained)
    evidence = with_groups(KINDS["one"], sizes, *explained, *alarms, *ratio_of_women(1.5, 1.0))
    groups = [text for text in committee.who_is_missed(evidence) if "female" in text]
    assert groups[0].startswith("The model underestimates the risk of female patients (150 actual cases")
    assert len(groups) == 2
    assert "Right percentages may do some of this too, as groups differ in risk." in committee.who_is_missed(evidence)
    assert committee.differing_groups(evidence)[0].startswith("The model underestimates")
    # Of more errors than there is room for it is said that they are there.
    every = missed(0.48, 0.83, 0.001)
    alarms = tuple(dataclasses.replace(each, term="specificity", measure="specificity") for each in every)
    found = with_groups(KINDS["one"], sizes, *every, *alarms, *ratio_of_women(1.5, 1.0))
    assert "More is wrong for groups: table of groups." in committee.who_is_missed(found)
    assert "More is wrong" not in " ".join(committee.who_is_missed(evidence))


@pytest.mark.parametrize(("share", "says"), [(0.68, True), (0.8, False)])
def test_a_small_difference_has_the_reason_of_the_register(share: float, says: bool) -> None:
    sizes = {name: [types.SubgroupSize(200, 57, 0)] for name in ("female", "male")}
    found = foretold(missed(0.66, 0.75, 0.001, 0.08), share, 0.74)
    found = found if says else tuple(each.with_details({"p_beyond_holm": 0.001}) for each in found)
    evidence = with_groups(KINDS["one"], sizes, *found)
    claim = next(each for each in claims.about(evidence, "groups", "group") if each.measure == "sensitivity")
    assert (claim.reason == Fact("explained_by_risks")) is says
    text = " ".join(committee.differing_groups(evidence))
    assert "It does worse for female patients (more missed), but it may be only a little" in text
    assert ("right percentages may do so too" in text) is says


def test_a_group_that_it_does_worse_for_is_not_said_to_be_open_in_another_way() -> None:
    def under(measure: str, p_holm: float) -> tuple[types.Result, ...]:
        return tuple(dataclasses.replace(each, term=measure, measure=measure) for each in missed(0.48, 0.83, p_holm))

    sizes = {name: [types.SubgroupSize(200, 57, 0)] for name in ("female", "male")}
    found = (*under("sensitivity", 0.001), *under("specificity", 0.2))
    words = " ".join(committee.differing_groups(with_groups(KINDS["one"], sizes, *found)))
    assert "It more often misses female patients" in words
    assert "may do worse for female patients" not in words
    alone = " ".join(committee.differing_groups(with_groups(KINDS["one"], sizes, *under("specificity", 0.2))))
    assert "It may do worse for female patients (more false alarms), or this is coincidence." in alone


def test_protected_counts_are_said_to_be_once_and_a_group_that_is_kept_back_is_named() -> None:
    hidden = types.Withheld(Fact("outcome_of_few", below=10), 10)
    sizes: Mapping[str, Sequence[types.SubgroupSize | types.Absent]]
    sizes = {"female": [types.SubgroupSize(types.CountRange(180, 208), types.CountRange(30, 44), 0)], "other": [hidden]}
    plain = with_groups(KINDS["one"], sizes, of_group("female", "site-0", 0.76))
    kept = dataclasses.replace(
        plain, datasets=tuple(dataclasses.replace(dataset, minimum_cell=10) for dataset in plain.datasets)
    )
    said = "Counts are given as ranges, to protect patients."
    assert " ".join(committee.works_here(kept)).count(said) == 1
    assert said in committee.hospitals(kept).note
    assert said not in " ".join((*committee.works_here(plain), committee.hospitals(plain).note))
    table, exact = committee.groups(kept), committee.groups(plain)
    assert present(table).note.endswith(
        "To protect patients, each group is counted by itself: groups need not add up. Kept back: other (sex)."
    )
    assert "Kept back" not in present(exact).note


def test_a_group_that_is_a_few_somewhere_is_not_said_to_be_nobody() -> None:
    """0 patients stood in the table where two of another hospital were kept back."""
    evidence = KINDS["one"]
    few = types.Withheld(Fact("fewer_persons", below=5), 5)
    sizes = (("old", types.SubgroupSize(0, 0, 0)), ("old", few), ("young", types.SubgroupSize(30, 9, 0)))
    site = types.externals(evidence)[0].name
    summaries = tuple(types.SubgroupSummary(site, "age", label, size) for label, size in sizes)
    groups = dataclasses.replace(evidence.subgroups, summaries=summaries)
    table = present(committee.groups(dataclasses.replace(evidence, subgroups=groups)))
    assert [row.label for row in table.rows] == ["Young (age)"]
