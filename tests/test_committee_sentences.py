"""What the committee is told of evidence made by hand: directions, places, and on how few a number rests."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import pytest

from dossier.facts import Method
from dossier.findings import classes, committee, subgroups
from dossier.types import (
    Absent,
    Curve,
    CurveResult,
    Estimate,
    Evidence,
    Flag,
    Result,
    SubgroupEvidence,
    SubgroupSize,
    SubgroupSummary,
    Subset,
)
from tests.conftest import by_hand
from tests.figures.evidence import COVID, Case
from tests.reasons import because
from tests.test_findings import KINDS, given, of_net_benefit

# ---- the model against none -----------------------------------------------------------------------------------------


def test_the_committee_hears_where_it_would_be_better_to_treat_all_or_no_one() -> None:
    # By hand: 0.1 against 0.3 if all are treated; a loss against a greater loss, so that 0, no one treated, is best.
    found = {("site-0", 0.5): (0.1, 0.3), ("site-1", 0.5): (-0.1, -0.4), ("site-0", 0.2): (0.3, 0.2)}
    evidence = of_net_benefit(found | {("site-1", 0.2): (0.3, 0.2)}, 0.5, 0.2)
    assert committee.better_without(evidence) == (
        "To treat all would do more good than the model in Italy 1 (threshold 50%). "
        "To treat no one would do more good than the model in Spain (threshold 50%)."
    )
    at_home = dataclasses.replace(evidence, local_site="site-1")
    assert committee.better_without(at_home) == (
        "To treat no one would do more good than the model here (threshold 50%)."
    )


def test_the_committee_hears_that_nowhere_it_would_be_better_to_do_without_the_model() -> None:
    evidence = of_net_benefit({("site-0", 0.5): (0.3, 0.2), ("site-1", 0.5): (0.1, -0.2)}, 0.5)
    assert committee.better_without(evidence) == (
        "At no threshold that was set would it do more good to treat all, or no one."
    )
    everywhere = of_net_benefit({("site-0", 0.5): (0.1, 0.2), ("site-1", 0.5): (0.1, 0.2)}, 0.5)
    assert "the model in every place (threshold 50%)." in committee.better_without(everywhere)


# ---- the risks, place by place --------------------------------------------------------------------------------------


def with_counts(evidence: Evidence, *counts: tuple[int, int]) -> Evidence:
    """The evidence with so many patients and events at its sites."""
    pairs = zip(evidence.datasets, counts, strict=True)
    return dataclasses.replace(
        evidence, datasets=tuple(dataclasses.replace(one, n=n, events=events) for one, (n, events) in pairs)
    )


def test_the_places_farthest_off_are_named_first_and_the_rest_counted() -> None:
    above = {f"site_{place}": (value, 1.01, 3.0) for place, value in enumerate((1.2, 2.0, 1.4, 1.6))}
    below = {"site_4": (0.9, 0.8, 0.99), "site_5": (0.5, 0.4, 0.6), "site_6": (1, 0.5, 2), "site_7": (1, 0.5, 2)}
    told = committee.everywhere(given(KINDS["eight"], "oe_ratio", **above, **below))
    assert told[0] == "Too low in Italy 2 (200), Spain (160), Italy 3 (140) and one more."
    assert told[1] == "Too high in Brazil 2 (50) and Brazil 1 (90)."


def test_a_place_with_few_patients_is_named_with_how_few() -> None:
    evidence = given(KINDS["two"], "oe_ratio", site_0=(1.0, 0.9, 1.1), site_1=(0.11, 0.05, 0.25))
    told = committee.everywhere(with_counts(evidence, (400, 124), (150, 5)))
    assert told[0] == "Too high in Spain (11; 5 with the outcome)."


@pytest.mark.parametrize(
    ("ratio", "intercept", "told"),
    [
        ((1.2, 0.99, 1.4), (0.2, -0.01, 0.4), "The difference may be chance."),
        ((1.2, 0.99, 1.4), (0.2, 0.01, 0.4), "Too low."),
        ((0.8, 0.6, 1.01), (-0.3, -0.5, -0.1), "Too high."),
        ((0.8, 0.6, 0.99), (-0.3, -0.6, 0.0), "Too high."),
        ((1.2, 1.01, 1.4), (0.2, -0.1, 0.5), "Too low."),
    ],
)
def test_a_difference_may_be_chance_only_where_the_intercept_says_so_too(
    ratio: tuple[float, float, float], intercept: tuple[float, float, float], told: str
) -> None:
    evidence = given(KINDS["one"], "oe_ratio", site_0=ratio)
    kept = tuple(one for one in evidence.results if one.measure != "calibration_intercept")
    one = next(one for one in kept if one.measure == "oe_ratio" and one.dataset == "site-0")
    found = Estimate(*intercept, 0.95, 300, Method("wald"))
    as_well = dataclasses.replace(one, term="calibration_intercept", measure="calibration_intercept", found=found)
    evidence = dataclasses.replace(evidence, results=(*kept, as_well))
    ours = " ".join(committee.risks_are_right(dataclasses.replace(evidence, local_site="site-0")))
    everywhere = " ".join(committee.everywhere(evidence))
    assert told in ours
    assert ("may be chance" in ours) == ("may be chance" in everywhere) == ("chance" in told)
    assert told.split(".")[0] in everywhere or "chance" in told


def test_of_several_classes_the_pairs_farthest_off_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    evidence = KINDS["one"]
    site = dataclasses.replace(evidence.datasets[0], class_counts={"G0": 100, "G1": 100, "G2": 100, "G3": 12})
    values = {"G3": (0.47, 0.30, 0.72), "G2": (0.77, 0.60, 0.99), "G1": (0.82, 0.70, 0.97), "G0": (1.09, 1.001, 1.2)}
    rising = [
        classes.OneAgainstRest(site, label, Estimate(value, low, high, 0.95, 312, Method("wald")))
        for label, (value, low, high) in values.items()
    ]
    monkeypatch.setattr(classes, "by_class", lambda *_: rising)
    told = classes.risks_are_right(evidence)
    assert told[0].startswith("Too low for G0 at Desio, Italy (109): more")
    assert (
        told[1]
        .replace("\N{NO-BREAK SPACE}", " ")
        .startswith(
            "Too high for G3 at Desio, Italy (47; only 12 patients); G2 at Desio, Italy (77); and one more: fewer"
        )
    )


# ---- what the large numbers rest on ---------------------------------------------------------------------------------


def pooled_as(evidence: Evidence, found: Estimate | Absent) -> Evidence:
    """The evidence with another AUROC of all places together."""
    results = tuple(
        dataclasses.replace(one, found=found) if (one.measure, one.dataset) == ("auroc", "pooled") else one
        for one in evidence.results
    )
    return dataclasses.replace(evidence, results=results)


def test_each_number_of_some_places_says_of_how_many() -> None:
    """The ranking and the risks may rest on other places."""
    found = Estimate(0.82, 0.02, 1.0, 0.95, 494, Method("wald"), details={"k": 2.0})
    ranking, risks = (
        one.meaning.replace("\N{NO-BREAK SPACE}", " ")
        for one in committee.numbers(pooled_as(KINDS["eight"], found))[:2]
    )
    assert ranking.endswith("(2 to 100; by chance 50), in two of eight places")
    assert "of eight places" not in risks
    ours = dataclasses.replace(pooled_as(KINDS["eight"], found), local_site="site-0")
    assert all("of eight places" not in one.meaning for one in committee.numbers(ours))


def counted_at(evidence: Evidence, names: tuple[str, ...], weights: str | None) -> Evidence:
    """The evidence with decisions that are counted at these sites alone."""
    curves = tuple(CurveResult("classification", name, Curve({}, 1, Method("counts"))) for name in names)
    datasets = tuple(source.model_copy(update={"weights": weights}) for source in evidence.release.dataset)
    release = evidence.release.model_copy(update={"dataset": datasets})
    return dataclasses.replace(evidence, curves=(*evidence.curves, *curves), release=release)


def test_a_thousand_of_some_places_say_whose_they_are() -> None:
    evidence = KINDS["two"]
    assert committee.finding(counted_at(evidence, ("site-0", "site-1"), None)).rest == ""
    some = committee.finding(counted_at(evidence, ("site-1",), "w")).rest.replace("\N{NO-BREAK SPACE}", " ")
    patients = next(site.n for site in evidence.datasets if site.name == "site-1")
    assert some == (
        f"Counted are the {patients:,} patients of one of two places; of the others some stand for more patients than "
        "others."
    )
    assert committee.finding(counted_at(evidence, ("site-1",), None)).rest.endswith(
        "of the others none could be counted."
    )


def test_where_nothing_is_added_up_the_places_with_enough_patients_give_the_number() -> None:
    evidence = pooled_as(KINDS["two"], Absent(because("one site can be pooled, and pooling needs two")))
    evidence = given(evidence, "auroc", site_0=(0.74, 0.69, 0.79), site_1=(1.0, 0.11, 1.0))
    alone = committee.numbers(with_counts(evidence, (400, 124), (150, 5)))[0]
    assert alone.value == "74 of 100"
    rests = "(69 to 79; by chance 50), in one of two places"
    assert alone.meaning.replace("\N{NO-BREAK SPACE}", " ").endswith(rests)
    both = committee.numbers(with_counts(evidence, (400, 124), (150, 50)))[0]
    assert (both.value, both.meaning) == ("74 to 100 of 100", "times ranked right (by chance 50), in every place")


def test_it_is_said_why_nothing_can_be_said_of_a_new_place() -> None:
    reason = Absent(because("no site can be pooled, and pooling needs two"))
    few = committee.uncertain(pooled_as(KINDS["two"], reason))[-1]
    assert few == "Too few places can be added up to say anything of a new one."


# ---- a row for every place that is named ----------------------------------------------------------------------------


def test_every_place_has_its_row() -> None:
    names = tuple(f"Ward {chr(ord('A') + place)}" for place in range(12))
    evidence = by_hand(Case("twelve", names))
    ranking = {f"site_{place}": (0.60 + place / 100, 0.5, 0.8) for place in range(12)}
    ratios = {f"site_{place}": (1.0, 0.9, 1.1) for place in range(12)} | {"site_6": (1.21, 1.05, 1.4)}
    evidence = with_counts(evidence, *((200, 100),) * 12)
    changed = given(given(evidence, "auroc", **ranking), "oe_ratio", **ratios)
    assert committee.everywhere(changed)[0] == "Too low in Ward G (121)."
    rows = [row.label for row in committee.by_site(changed).rows]
    assert set(rows) == set(names)


# ---- directions -----------------------------------------------------------------------------------------------------


def test_each_place_hears_the_direction_of_its_own_slope() -> None:
    evidence = given(KINDS["two"], "calibration_slope", site_0=(0.7, 0.6, 0.8), site_1=(1.4, 1.2, 1.6))
    flags = (Flag("slope_off", "site-0", "so."), Flag("slope_off", "site-1", "so."))
    (told,) = committee.could_go_wrong(dataclasses.replace(evidence, flags=flags))
    assert told.text == (
        "Italy 1: high risks are too high, low ones too low. Spain: high risks are too low, low ones too high."
    )


def test_each_place_hears_whether_the_outcome_is_more_or_less_common() -> None:
    evidence = with_counts(KINDS["two"], (100, 40), (100, 5))
    origin = dataclasses.replace(evidence.datasets[0], name="origin", role="development", n=1000, events=200)
    flags = (Flag("prevalence_shift", "site-0", "so."), Flag("prevalence_shift", "site-1", "so."))
    changed = dataclasses.replace(evidence, datasets=(*evidence.datasets, origin), flags=flags)
    (told,) = committee.could_go_wrong(changed)
    assert told.text == (
        "Italy 1: the outcome is more common than where it was made. "
        "Spain: the outcome is less common than where it was made."
    )


# ---- groups ---------------------------------------------------------------------------------------------------------


def with_groups(evidence: Evidence, sizes: Mapping[str, Sequence[SubgroupSize | Absent]], *results: Result) -> Evidence:
    """The evidence with these groups by sex, a size a site."""
    summaries = tuple(
        SubgroupSummary(site.name, "sex", label, size)
        for label, of_sites in sizes.items()
        for site, size in zip(evidence.datasets, of_sites, strict=True)
    )
    return dataclasses.replace(evidence, subgroups=SubgroupEvidence(summaries, results, ()))


def of_group(label: str, dataset: str, value: float, measure: str = "auroc", **more: float) -> Result:
    """A measure of a group."""
    found = Estimate(value, value - 0.07, value + 0.07, 0.95, 200, Method("wald"), details=more)
    return Result(measure, measure, dataset, {}, found, Subset("sex", label))


def test_groups_of_the_only_place_have_its_own_numbers() -> None:
    sizes = {"female": [SubgroupSize(200, 57, 0)], "male": [SubgroupSize(200, 19, 0)]}
    table = committee.groups(with_groups(KINDS["one"], sizes, of_group("female", "site-0", 0.76)))
    assert table is not None
    assert table.title == "Groups of patients, Desio, Italy."
    assert table.rows[0].cells[2].text == "76"
    assert table.rows[1].cells[2].text == "too few"
    assert table.note == "Too few: under 20 patients with, or without, the outcome."


def test_groups_that_are_not_added_up_are_not_said_to_be_too_few() -> None:
    enough, few = SubgroupSize(200, 57, 0), SubgroupSize(200, 9, 0)
    evidence = with_groups(
        KINDS["two"],
        {"female": [enough, enough], "male": [few, few], "other": [enough, enough]},
        of_group("other", "pooled", 0.8, k=3.0),
    )
    table = committee.groups(evidence)
    assert table is not None
    assert [row.cells[2].text for row in table.rows] == ["not added up", "too few", "80"]
    assert "Too few: under 20 patients with, or without, the outcome." in table.note
    assert "Not added up: too few places have enough of the group" in table.note
    none = committee.groups(with_groups(KINDS["two"], {"female": [enough, enough]}))
    assert none is not None
    assert none.note.startswith("Too few places have enough of a group for its numbers to be added up.")


def test_it_is_said_at_how_many_places_the_groups_are_known() -> None:
    half: list[SubgroupSize | Absent] = [SubgroupSize(30, 15, 0), Absent(because("no column sex"))]
    sizes = {"female": half, "male": half}
    table = committee.groups(with_groups(with_counts(KINDS["two"], (60, 30), (540, 100)), sizes))
    assert table is not None
    assert table.note.replace("\N{NO-BREAK SPACE}", " ").endswith(
        "Known are sex at one of two places (60 of 600 patients)."
    )


def test_groups_that_the_table_has_no_room_for_are_counted() -> None:
    labels = [f"group {place}" for place in range(11)]
    table = committee.groups(with_groups(KINDS["one"], {label: [SubgroupSize(90, 30, 0)] for label in labels}))
    assert table is not None
    assert len(table.rows) == 8
    assert table.note.endswith("Three more groups stand in the dossier, under Subgroups.")


def test_groups_that_differ_come_with_their_direction() -> None:
    evidence = by_hand(Case("eight", COVID))
    moved = {("auroc", "site-1"): 0.2, ("auroc", "site-2"): -0.2, ("oe_ratio", "site-4"): 0.3}
    results = tuple(
        dataclasses.replace(one, found=Estimate(change, change - 0.1, change + 0.1, 0.95, 100, Method("wald")))
        if one.at.get("against")
        and one.subset == evidence.subgroups.summaries[0].subset
        and (change := moved.get((one.measure, one.dataset), 0.0))
        else one
        for one in evidence.subgroups.results
    )
    changed = dataclasses.replace(evidence, subgroups=dataclasses.replace(evidence.subgroups, results=results))
    assert len([one for one in subgroups.compared(changed) if one.is_apart]) == 3
    told = committee.differing_groups(changed)
    assert "ranked better: sex female (Italy 2); ranked worse: sex female (Italy 3)" in told
    assert "more came for each 100 expected: sex female (Brazil 1)." in told
