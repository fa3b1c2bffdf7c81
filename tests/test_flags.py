"""Flags: each raised just beyond its bound and not at it, and the answers to them."""

from __future__ import annotations

import dataclasses
import datetime
import re
from pathlib import Path

import pytest

from dossier.core import flags, types
from dossier.core.facts import Method
from dossier.core.release import Release, Reply
from dossier.reading import signs
from dossier.typeset.flags import flag_text
from dossier.words import entries
from tests.reasons import because, limitation
from tests.test_severity_weights import PLAIN

BEFORE = types.DatasetSummary("training", "development", "Here", 1000, 200, 1000, {}, ())


def site(n: int = 1000, events: int = 200, name: str = "bari") -> types.DatasetSummary:
    return types.DatasetSummary(name, "external", name.title(), n, events, n, {}, ())


def result(
    measure: str, value: float, low: float | None = None, high: float | None = None, **details: float
) -> types.Result:
    dataset = "pooled" if details else "bari"
    return types.Result(
        measure, measure, dataset, {}, types.Estimate(value, low, high, 0.95, 1000, Method("wald"), details=details)
    )


def names(
    *results: types.Result, dataset: types.DatasetSummary | None = None, rows: tuple[types.DescriptionResult, ...] = ()
) -> set[str]:
    here = (BEFORE, dataset or site(), *(site(name=name) for name in ("turin", "genoa", "parma", "lucca")))
    return {flag.flag for flag in flags.raised(flags.Shown(here, results, rows))}


def described(
    dataset: str, statistic: str, value: float, variable: str = "linear predictor"
) -> types.DescriptionResult:
    of: types.Described = "linear_predictor" if variable == "linear predictor" else "column"
    return types.DescriptionResult(dataset, types.Description(variable, statistic, value, 100, of=of))


def test_nothing_is_raised_where_nothing_is_odd() -> None:
    assert names(result("oe_ratio", 1, 0.9, 1.1), result("calibration_slope", 1, 0.9, 1.1)) == set()


@pytest.mark.parametrize(("events", "raised"), [(99, True), (100, False), (900, False), (901, True)])
def test_few_events_or_few_others(events: int, raised: bool) -> None:
    assert ("few_events" in names(dataset=site(events=events))) is raised


@pytest.mark.parametrize(
    ("sites", "p_value", "apart", "code"),
    [
        (1, 0.04, 0.0, "censoring_by_risk"),
        (8, 0.04, 0.0, None),
        (8, 0.006, 0.0, "censoring_by_risk"),
        (1, 0.5, 1.1, "weights_part"),
        (1, 0.5, 0.9, None),
        (8, 0.5, 1.3, None),
        (8, 0.5, 1.5, "weights_part"),
    ],
)
def test_leaving_is_looked_at_once_at_each_site(sites: int, p_value: float, apart: float, code: str | None) -> None:
    """Of eight where leaving has nothing to do with the risk chance alone would accuse one in three releases."""
    every, results = [site(name=f"site-{index}") for index in range(sites)], list[types.Result]()
    for each in every:
        p, errors = (p_value, apart) if each is every[0] else (0.5, 0.0)
        leaving = types.Estimate(1.2, 1.0, 1.4, 0.95, 900, Method("wald"), details={"p_value": p})
        results.append(types.Result("censoring_by_risk", "censoring_by_risk", each.name, {}, leaving))
        for value, at in ((0.7, dict[str, float | str]()), (0.7 + 0.05 * errors, types.MARGINAL)):
            auroc = types.Estimate(value, 0.6, 0.8, 0.95, 900, Method("wald"), se=0.05)
            results.append(types.Result("auroc", "auroc", each.name, at, auroc))
    found = flags.raised(flags.Shown((BEFORE, *every), results))
    raised = [flag for flag in found if flag.flag == "censoring_by_risk"]
    assert [(flag.dataset, flag.fact.code) for flag in raised] == ([] if code is None else [("site-0", code)])


def of_subgroups(*sizes: types.SubgroupSize | types.Absent, dataset: str = "bari") -> list[str]:
    groups = [types.SubgroupSummary(dataset, "Sex", label, size) for label, size in zip("abc", sizes, strict=False)]
    return [
        flag_text(flag.fact)
        for flag in flags.raised(flags.Shown((BEFORE, site()), subgroups=tuple(groups)))
        if flag.flag == "few_in_subgroup"
    ]


@pytest.mark.parametrize(
    ("size", "few"),
    [
        (types.SubgroupSize(40, 20, 0), None),
        (types.SubgroupSize(40, 19, 0), "Sex a (19\N{NO-BREAK SPACE}events)"),
        (types.SubgroupSize(40, 21, 0), "Sex a (19\N{NO-BREAK SPACE}non-events)"),
        (types.SubgroupSize(20, 4, 0), "Sex a (4\N{NO-BREAK SPACE}events, 16\N{NO-BREAK SPACE}non-events)"),
        (types.SubgroupSize(2, 1, 0), "Sex a (1\N{NO-BREAK SPACE}event, 1\N{NO-BREAK SPACE}non-event)"),
        (types.SubgroupSize(0, 0, 0), None),
        (types.SubgroupSize(90, None, 0, {"mild": 20, "grave": 70}), None),
        (types.SubgroupSize(89, None, 0, {"mild": 19, "grave": 70}), "Sex a (19 mild)"),
        (types.Absent(because("the dataset has no column Sex")), None),
    ],
)
def test_a_subgroup_with_fewer_than_twenty_of_one_outcome(
    size: types.SubgroupSize | types.Absent, few: str | None
) -> None:
    """An empty one has a flag of its own."""
    raised = of_subgroups(size, types.SubgroupSize(400, 200, 0))
    assert len(raised) == (few is not None)
    assert all(says.endswith(f"fewer than 20 events or non-events in {few}.") for says in raised)


def test_a_small_subgroup_of_several_classes_has_too_few_of_a_class() -> None:
    counts = {"G0": 11, "G1": 16, "G2": 30}
    here = types.DatasetSummary(
        "bari", "external", "Bari", 900, None, 900, {}, (), class_counts=dict.fromkeys(counts, 300)
    )
    group = types.SubgroupSummary("bari", "Sex", "a", types.SubgroupSize(57, None, 0, counts))
    raised = flags.raised(flags.Shown((here,), subgroups=(group,)))
    assert [flag_text(flag.fact) for flag in raised if flag.flag == "few_in_subgroup"] == [
        "Bari has fewer than 20 of a class in Sex a (11 G0, 16 G1)."
    ]


def test_the_small_subgroups_of_a_site_stand_in_one_flag() -> None:
    (says,) = of_subgroups(types.SubgroupSize(40, 3, 0), types.SubgroupSize(40, 20, 0), types.SubgroupSize(30, 12, 0))
    assert "Sex a (3 events) and Sex c (12 events, 18 non-events)" in says.replace("\N{NO-BREAK SPACE}", " ")
    assert of_subgroups(types.SubgroupSize(40, 3, 0), dataset="training") == []


@pytest.mark.parametrize(
    ("low", "high", "raised"),
    [(0.7, 0.8, False), (0.7, 0.79, True), (1.25, 1.4, False), (1.26, 1.4, True), (0.7, 1.4, False)],
)
def test_risks_off_when_the_whole_interval_is(low: float, high: float, raised: bool) -> None:
    """Without a p value, as where counts are protected, the interval decides alone."""
    assert ("risks_off" in names(result("oe_ratio", (low + high) / 2, low, high))) is raised


@pytest.mark.parametrize(("p_holm", "raised"), [(0.0099, True), (0.0101, False)])
def test_risks_are_off_only_where_the_joint_test_rejects_after_holm(p_holm: float, raised: bool) -> None:
    """An interval of one among many hospitals leaves out what is tolerated by chance."""
    off = (result("oe_ratio", 1.6, 1.26, 2.0), result("calibration_slope", 1.4, 1.05, 1.8), joint_test(p_holm))
    assert {"risks_off", "slope_off"} & names(*off) == ({"risks_off", "slope_off"} if raised else set())
    inside = (result("oe_ratio", 1.2, 1.1, 1.3), result("calibration_slope", 1.1, 1.05, 1.15), joint_test(1e-9))
    assert not {"risks_off", "slope_off"} & names(*inside)


def joint_test(p_holm: float) -> types.Result:
    details = {"p_value": p_holm, "p_holm": p_holm}
    found = types.Estimate(9.0, None, None, None, 100, Method("likelihood_ratio"), details=details)
    return types.Result("calibration_test", "calibration_test", "bari", {}, found)


def no_event(high: float, expected: float = 165, events: int = 0) -> types.Result:
    found = types.Estimate(0.0, 0.0, high, 0.95, 500, Method("wald"), events, details={"expected": expected})
    return types.Result("oe_ratio", "oe_ratio", "bari", {}, found)


def test_no_event_where_many_are_expected_shouts_in_a_flag_of_its_own() -> None:
    here = site(500, 0)
    assert [
        saying.replace("\N{NO-BREAK SPACE}", " ") for saying in sayings("no_event", no_event(0.022), dataset=here)
    ] == [
        "at Bari none of 500 patients had the outcome, and the risks add up to 165 (O/E 0, interval up to 0.02): it "
        "may not have been recorded there, or the risks are far too high."
    ]
    assert "risks_off" not in names(no_event(0.022), dataset=here)
    for quiet in (no_event(1.0, 3.5), no_event(0.022, events=4)):  # of 4 events none has a weight
        assert sayings("no_event", quiet, dataset=here) == []
    assert "no_event" not in names(result("oe_ratio", 0.5, 0.4, 0.6))


@pytest.mark.parametrize(
    ("low", "high", "raised"), [(1.0, 1.5, False), (1.01, 1.5, True), (0.5, 1.0, False), (0.5, 0.99, True)]
)
def test_slope_off_when_its_interval_leaves_one_out(low: float, high: float, raised: bool) -> None:
    slope = result("calibration_slope", 1.3 if high > 1 else 0.7, low, high)
    assert ("slope_off" in names(slope, joint_test(0.001))) is raised


def sayings(kind: str, *results: types.Result, dataset: types.DatasetSummary | None = None) -> list[str]:
    found = flags.raised(flags.Shown((dataset or site(),), results))
    return [flag_text(flag.fact).replace("\N{MINUS SIGN}", "-") for flag in found if flag.flag == kind]


@pytest.mark.parametrize(("high", "raised"), [(0.499, True), (0.5, False), (0.6, False)])
def test_an_auroc_below_chance_ranks_in_the_wrong_order(high: float, raised: bool) -> None:
    assert bool(sayings("wrong_order", result("auroc", 0.4, 0.3, high))) is raised


def test_risks_that_run_backwards_are_not_called_too_extreme() -> None:
    backwards = (result("auroc", 0.23, 0.18, 0.29), result("calibration_slope", -0.97, -1.2, -0.74))
    assert sayings("slope_off", *backwards) == []
    assert sayings("wrong_order", *backwards) == [
        "the AUROC at Bari is 0.23 (0.18 to 0.29), below 0.5: the risks rank patients in the wrong order; the outcome "
        "or the risk may be coded the wrong way round.",
        "the calibration slope at Bari is -0.97 (-1.20 to -0.74), below 0: the risks run the wrong way there.",
    ]


@pytest.mark.parametrize(("high", "kind"), [(-0.01, "wrong_order"), (0.0, "slope_off")])
def test_a_slope_runs_the_wrong_way_when_its_interval_does(high: float, kind: str) -> None:
    assert names(result("calibration_slope", -0.5, -1.0, high)) == {kind}


@pytest.mark.parametrize(
    ("value", "events", "raised"),
    [(1.0, 20, True), (1.0, 19, False), (1.0, 980, True), (1.0, 981, False), (0.9999, 500, False)],
)
def test_an_auroc_of_one_is_too_good_to_be_true(value: float, events: int, raised: bool) -> None:
    here = site(events=events)
    assert bool(sayings("never_wrong", result("auroc", value, 0.99, 1.0), dataset=here)) is raised


def test_classes_that_are_told_without_an_error_are_counted_one_against_the_rest() -> None:
    here = types.DatasetSummary(
        "bari", "external", "Bari", 90, None, 90, {}, (), class_counts={"mild": 30, "grave": 60}
    )
    found = types.Result(
        "auroc", "auroc", "bari", {"class": "mild"}, types.Estimate(1.0, 0.95, 1.0, 0.95, 90, Method("wald"))
    )
    assert sayings("never_wrong", found, dataset=here) == [
        "at Bari the AUROC is exactly 1: all 30 patients with class mild have a higher risk than all 60 without; a "
        "predictor may hold the outcome itself."
    ]


@pytest.mark.parametrize(("needed", "raised"), [(1000.0, False), (1000.5, True)])
def test_precision_is_missed_below_the_size_asked_for(needed: float, raised: bool) -> None:
    assert ("precision_missed" in names(result("mss_auroc", needed))) is raised


def too_small(declared: bool) -> list[str]:
    """1,000 patients: enough for the AUROC, too few for the slope and for the second threshold."""

    def of_benefit(threshold: float, needed: float) -> types.Result:
        found = result("mss_snb", needed)
        return types.Result("mss_snb", "mss_snb", "bari", {"threshold": threshold}, found.found)

    asked = (result("mss_slope", 1200.0), result("mss_auroc", 999.0), of_benefit(0.1, 1000.0), of_benefit(0.2, 1320.0))
    raised = flags.raised(flags.Shown((site(),), asked, widths_declared=declared))
    return [
        flag_text(flag.fact).replace("\N{NO-BREAK SPACE}", " ") for flag in raised if flag.flag == "precision_missed"
    ]


def test_a_sample_too_small_for_the_net_benefit_says_at_which_threshold() -> None:
    (says,) = too_small(declared=True)
    assert says == (
        "Bari has 1,000 patients, fewer than the declared widths ask for: the calibration slope (1,200) and the "
        "standardized net benefit at a threshold of 0.20 (1,320)."
    )


def test_widths_of_ours_are_not_called_declared() -> None:
    (says,) = too_small(declared=False)
    assert says.startswith("Bari has 1,000 patients, fewer than the usual widths of intervals ask for: ")


@pytest.mark.parametrize(("events", "raised"), [(400, False), (401, True), (100, False), (99, True)])
def test_an_outcome_more_than_twice_as_common_or_rare(events: int, raised: bool) -> None:
    """Development has 20 %."""
    assert ("prevalence_shift" in names(dataset=site(events=events))) is raised


@pytest.mark.parametrize(("n", "events", "raised"), [(12, 1, False), (12, 9, False), (90, 1, False), (110, 1, True)])
def test_a_few_patients_do_not_say_how_common_an_outcome_is(n: int, events: int, raised: bool) -> None:
    """By hand: of 90 patients 18 would be expected by the 20 % of development, of 110 there would be 22."""
    assert ("prevalence_shift" in names(dataset=site(n=n, events=events))) is raised


@pytest.mark.parametrize(("spread", "raised"), [(0.8, False), (0.79, True), (1.25, False), (1.26, True)])
def test_case_mix_narrower_or_wider_than_in_development(spread: float, raised: bool) -> None:
    rows = (described("training", "sd", 1.0), described("bari", "sd", spread))
    assert ("case_mix_shift" in names(rows=rows)) is raised


@pytest.mark.parametrize(("missing", "raised"), [(20, False), (21, True), (99, True), (100, False)])
def test_many_missing_values_but_not_all(missing: int, raised: bool) -> None:
    """A predictor that is always missing has a flag of its own."""
    assert ("missing_values" in names(rows=(described("bari", "missing", missing, "age"),))) is raised


@pytest.mark.parametrize(("high", "raised"), [(0.9, False), (0.91, True)])
def test_a_new_hospital_that_is_hard_to_predict(high: float, raised: bool) -> None:
    found = result("auroc", 0.85, 0.8, 0.9, prediction_low=0.8, prediction_high=high, i2=0.5, k=5)
    assert ("wide_prediction_interval" in names(found)) is raised


@pytest.mark.parametrize(("clusters", "raised"), [(None, False), (9, True), (10, False)])
def test_few_clusters_are_told_without_their_number(clusters: int | None, raised: bool) -> None:
    few = dataclasses.replace(site(), clusters=clusters)
    texts = [
        flag_text(flag.fact) for flag in flags.raised(flags.Shown((BEFORE, few), ())) if flag.flag == "few_clusters"
    ]
    says = f"the rows of {few.site} come from fewer than 10 clusters: intervals by cluster are unsure there."
    assert texts == ([says] if raised else [])


@pytest.mark.parametrize(
    ("measure", "low", "high", "raised"),
    [
        ("oe_ratio", 0.8, 1.25, False),
        ("oe_ratio", 0.8, 1.26, True),
        ("oe_ratio", 1.3, 1.4, False),
        ("calibration_slope", 0.8, 1.2, False),
        ("calibration_slope", 0.8, 1.21, True),
    ],
)
def test_calibration_that_is_hard_to_predict_in_a_new_hospital(
    measure: str, low: float, high: float, raised: bool
) -> None:
    found = result(measure, 1.0, 0.9, 1.1, prediction_low=low, prediction_high=high, i2=0.5, k=5)
    assert ("wide_prediction_interval" in names(found)) is raised


def test_what_is_hard_to_predict_stands_in_one_sentence() -> None:
    found = [
        result("auroc", 0.85, 0.8, 0.9, prediction_low=0.7, prediction_high=0.95, i2=0.9, k=5),
        result("oe_ratio", 1.0, 0.9, 1.1, prediction_low=0.6, prediction_high=1.7, i2=0.8, k=5),
        result("calibration_slope", 1.0, 0.9, 1.1, prediction_low=-0.5, prediction_high=2.5, i2=0.1, k=5),
    ]
    said = {
        flag.flag: flag_text(flag.fact)
        for flag in flags.raised(flags.Shown((BEFORE, site(), site(name="turin")), found))
    }
    assert said["wide_prediction_interval"] == (
        "the expected range in a new hospital like these is wide: AUROC 0.70 to 0.95, O/E ratio 0.60 to 1.70 and "
        "calibration slope \N{MINUS SIGN}0.50 to 2.50."
    )
    assert said["heterogeneity"] == (
        "sampling error does not explain 90% in the AUROC and 80% in the O/E ratio of the variance between the sites "
        "(I2)."
    )


def benefit(value: float, low: float, high: float, default: float, at: float = 0.5) -> types.Result:
    found = types.Estimate(value, low, high, 0.95, 1000, Method("wald"), details={"default": default})
    return types.Result("net_benefit_gain", "net_benefit_gain", "bari", {"threshold": at}, found)


@pytest.mark.parametrize(("high", "raised"), [(0.0, False), (-0.001, True)])
def test_a_threshold_at_which_the_model_does_less_good_than_a_default(high: float, raised: bool) -> None:
    assert ("default_better" in names(benefit(-0.1, -0.2, high, 0.3))) is raised


def test_it_is_said_which_default_does_more_good_by_how_much_and_where() -> None:
    here = (benefit(-0.62, -0.68, -0.56, 0.94), benefit(-0.012, -0.02, -0.004, 0.0, 0.25))
    (texts,) = (flag for flag in flags.raised(flags.Shown((BEFORE, site()), here)) if flag.flag == "default_better")
    assert texts.dataset == "bari"
    assert flag_text(texts.fact) == (
        f"at {site().site} another net benefit is higher than the model's: at 0.50 that of flagging everyone, by 62.0 "
        "per 100 patients (56.0 to 68.0); and at 0.25 that of flagging no one, by 1.2 per 100 patients (0.4 to 2.0)."
    )


@pytest.mark.parametrize(("share", "raised"), [(0.75, False), (0.76, True)])
def test_sites_that_differ(share: float, raised: bool) -> None:
    found = result("auroc", 0.85, 0.8, 0.9, prediction_low=0.8, prediction_high=0.85, i2=share)
    assert ("heterogeneity" in names(found)) is raised


def test_results_of_subgroups_and_differences_raise_nothing() -> None:
    off = types.Estimate(2.0, 1.9, 2.1, 0.95, 100, Method("wald"))
    parts = (
        types.Result("oe_ratio", "oe_ratio", "bari", {}, off, types.Subset("Sex", "female")),
        types.Result("oe_ratio_of_rival", "oe_ratio", "bari", {"model": "the rival"}, off),
    )
    assert names(*parts) == set()


# ---- what the release leaves unsaid ---------------------------------------------------------------------------------


def release(**added: object) -> Release:
    return Release.model_validate({**PLAIN, **added})


REASONED = {"declared": (0.2,), "rationale": "As agreed."}


def test_no_threshold_and_no_dates() -> None:
    said = {flag.flag: flag_text(flag.fact) for flag in flags.unsaid(release(), [site()])}
    assert said.keys() == {"no_threshold", "dates_missing"}
    assert said["dates_missing"] == "when the patients were seen is not stated for Bari."


def test_a_threshold_without_a_reason() -> None:
    found = flags.unsaid(release(thresholds={"declared": (0.2,)}), [])
    assert [flag.flag for flag in found] == ["threshold_without_reason"]
    assert not [*flags.unsaid(release(thresholds=REASONED), [])]


def test_severity_weights_without_a_source() -> None:
    weights = ((0, 0.6), (0.3, 0))
    found = flags.unsaid(release(thresholds=REASONED, severity={"weights": weights}), [])
    assert [(flag.flag, flag_text(flag.fact)) for flag in found] == [
        ("severity_without_source", "where the severity weights come from is not stated.")
    ]
    assert not [*flags.unsaid(release(thresholds=REASONED, severity={"weights": weights, "source": "A survey."}), [])]


def test_criteria_without_a_date_and_with_a_late_one() -> None:
    days = (None, datetime.date(2026, 10, 1), datetime.date(2026, 10, 2), datetime.date(2027, 5, 1))
    asked = tuple(
        {"measure": "auroc", "dataset": "pooled", "at_least": 0.5} | ({"declared_on": day} if day else {})
        for day in days
    )
    about = {"model": "Example", "version": "2", "date": days[1], "owner": "Owner"}
    found = flags.unsaid(release(release=about, thresholds=REASONED, acceptance=asked), [])
    assert [(flag.flag, flag_text(flag.fact)) for flag in found] == [
        ("criterion_not_dated", "when acceptance criterion 1 was declared is not stated."),
        ("criterion_dated_late", "acceptance criteria 3 and 4 were declared after the date of this dossier."),
    ]


def test_another_version_was_tested() -> None:
    about = {"model": "Example", "version": "2", "date": None, "owner": "Owner", "tested_version": "1"}
    (_, found) = flags.unsaid(release(release=about), [])
    assert (found.flag, flag_text(found.fact)) == (
        "version_differs",
        "version 1 was tested, and version 2 is released.",
    )


def test_criteria_without_a_date() -> None:
    asked = {"measure": "auroc", "dataset": "bari", "at_least": 0.7}
    (_, found) = flags.unsaid(release(acceptance=(asked, asked)), [])
    assert flag_text(found.fact) == "when acceptance criteria 1 and 2 were declared is not stated."


def test_every_flag_has_its_topic_and_every_topic_its_flag() -> None:
    source = "".join(path.read_text(encoding="utf-8") for path in Path(flags.__file__).parents[1].rglob("*.py"))
    used = set(re.findall(r'Flag(?:\(|\.of\([^"]*Fact\()\s*"(\w+)"', source))
    assert used | set(signs.NOTES.values()) == set(flags.FLAGS) == set(entries("topics"))


# ---- answers --------------------------------------------------------------------------------------------------------

RAISED = (
    types.Flag("few_events", "bari", limitation("a.")),
    types.Flag("few_events", "turin", limitation("b.")),
    types.Flag("few_sites", "pooled", limitation("c.")),
)


def test_an_answer_for_a_dataset_goes_before_one_for_all() -> None:
    replies = (Reply(flag="few_events", says="all"), Reply(flag="few_events", dataset="turin", says="Turin"))
    assert [flag.reply for flag in flags.answered(RAISED, replies)] == ["all", "Turin", None]


def test_an_answer_to_nothing_is_a_flag_itself() -> None:
    *_, found = flags.answered(RAISED, (Reply(flag="risks_off", dataset="bari", says="We know."),))
    assert (found.flag, found.dataset, found.reply) == ("answer_without_flag", "bari", None)
    assert flag_text(found.fact) == "the release answers risks_off for bari, which this run did not raise."
