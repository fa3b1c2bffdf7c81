"""The first page's verdict, groups that differ over all sites, and the other model in the committee's words."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Mapping
from typing import Any, Literal

import pytest

from dossier.core import between_groups, flags, types
from dossier.core.contents import SUBMITTED
from dossier.core.facts import Method
from dossier.outputs import junit
from dossier.report import compose
from dossier.report.chapters import acceptance, committee, grid, model_card, results, subgroups, verdict
from dossier.report.figures.subgroups import forest_caption
from dossier.typeset.flags import flag_text
from dossier.typeset.numbers import TIED
from tests.conftest import Book
from tests.reasons import limitation
from tests.test_committee import with_release
from tests.test_findings import KINDS, given, jointly_tested

DAY = datetime.date(2026, 5, 1)


def asked(measure: str = "auroc", dataset: str = "each external", **more: Any) -> dict[str, Any]:
    return {"measure": measure, "dataset": dataset, "at_least": 0.75, "declared_on": DAY, **more}


def held(
    evidence: types.Evidence,
    *criteria: dict[str, Any],
    met: Mapping[tuple[int, str], bool | None],
    bound: Literal["value", "low"] = "low",
) -> types.Evidence:
    """The evidence with these criteria on a bound, met or not by number and dataset."""
    judged = tuple(
        types.Criterion(
            number,
            criteria[number - 1]["measure"],
            dataset,
            None,
            {},
            bound,
            0.75,
            None,
            None if answer is None else 0.7,
            "untested" if answer is None else "shown" if answer else "against",
        )
        for (number, dataset), answer in met.items()
    )
    release = with_release(evidence, acceptance=criteria).release
    return dataclasses.replace(evidence, release=release, criteria=judged)


EIGHT = KINDS["eight"]
SITES = tuple(f"site-{index}" for index in range(8))


@pytest.mark.parametrize(
    ("missed", "unknown", "said"),
    [
        ((), (), "The model is shown to meet its declared criterion at every hospital."),
        (
            SITES[:3],
            (),
            "The model is shown not to meet its declared criterion at three of eight hospitals, "
            "and to meet it at five.",
        ),
        (SITES, (), "The model is shown not to meet its declared criterion at every hospital."),
        (
            (),
            SITES[:2],
            "The model is shown to meet its declared criterion at six of eight hospitals; the rest is open: the "
            "intervals cannot tell.",
        ),
        (
            SITES[:1],
            SITES[1:2],
            "The model is shown not to meet its declared criterion at one of eight hospitals, and to meet it at six.",
        ),
    ],
)
def test_the_verdict_counts_hospitals(missed: tuple[str, ...], unknown: tuple[str, ...], said: str) -> None:
    met = {(1, site): None if site in unknown else site not in missed for site in SITES}
    evidence = held(EIGHT, asked(), met=met)
    assert verdict.finding(evidence).lead == said
    assert [len(letters_of(evidence, state)) for state in ("against", "untested")] == [len(missed), len(unknown)]
    row = next(row for row in grid.table(evidence).rows if row.label.startswith("Tells patients apart"))
    assert ([cell.kind for cell in row.cells[:2]] == ["alert", "alert"]) == bool(missed)


def letters_of(evidence: types.Evidence, state: str, question: str = "Tells patients apart") -> list[str]:
    """The hospitals, by their letters, that stand so in a row of the first page."""
    cells = next(row.cells for row in grid.table(evidence).rows if row.label.startswith(question))
    stands = [part.replace(TIED, " ").split() for part in cells[1].text.split("; ")]
    return next((letters for how, *letters in stands if how == state), [])


def test_twelve_patients_neither_pass_nor_fail() -> None:
    """What is open stands beside what is shown and what is against."""
    declared = held(EIGHT, asked(), met={(1, site): True for site in SITES})
    states: tuple[types.State, ...] = ("open", "against", *("shown",) * 6)
    criteria = tuple(
        dataclasses.replace(criterion, state=state) for criterion, state in zip(declared.criteria, states, strict=True)
    )
    evidence = dataclasses.replace(declared, criteria=criteria)
    assert [letters_of(evidence, state) for state in ("open", "against")] == [["a"], ["b"]]
    assert letters_of(evidence, "shown") == list("cdefgh")


@pytest.mark.parametrize("measure", ["auroc", "oe_ratio", "net_benefit"])
@pytest.mark.parametrize(
    ("ratio", "slope", "says"),
    [
        ((0.6, 0.5, 0.7), (1.0, 0.9, 1.1), "Risks are far too high in {place} (O/E 0.60)."),
        ((1.4, 1.1, 1.7), (0.5, 0.4, 0.6), "Risks are too low in {place} (O/E 1.40)."),
        ((1.0, 0.9, 1.1), (0.4, 0.3, 0.5), "Risks are too extreme in {place} (slope 0.40)."),
        ((1.0, 0.9, 1.1), (1.0, 0.9, 1.1), ""),
    ],
)
def test_the_headline_says_which_risks_are_wrong_whatever_was_declared(
    measure: str, ratio: tuple[float, float, float], slope: tuple[float, float, float], says: str
) -> None:
    found = given(given(EIGHT, "oe_ratio", site_2=ratio), "calibration_slope", site_2=slope)
    found = jointly_tested(found, **{site: 1e-6 if site == "site-2" else 1.0 for site in SITES})
    found = held(found, asked(measure), met={(1, site): True for site in SITES})
    place = types.externals(found)[2].site
    said = verdict.finding(found)
    assert says.format(place=place) in f"{said.lead} {said.rest}".replace(TIED, " ")
    assert ("Risks are" in said.rest) == bool(says)
    assert (f"Its percentages are wrong in {place}." in committee.answer(found)) == bool(says)
    at_home = committee.answer(dataclasses.replace(found, local_site="site-2"))
    assert ("percentages are wrong here: " in at_home) == bool(says)


def test_the_headline_says_for_whom_it_does_worse_and_at_which_threshold_it_does_harm() -> None:
    evidence = grouped("oe_ratio_ratio", number(1.36, 1.28, 1.45), 0.98, number(1.39, 1.28, 1.51))
    first = evidence.release.thresholds.declared[0]
    release = with_release(evidence, thresholds={"declared": (first, 0.7), "rationale": "."}).release
    worse = types.Estimate(-0.05, -0.08, -0.02, 0.95, 4000, Method("wald"), 300, details={"treat_all": -0.2})
    result = types.Result("net_benefit_gain", "net_benefit_gain", "site-4", {"threshold": 0.7}, worse)
    evidence = dataclasses.replace(evidence, release=release, results=(*evidence.results, result))
    place = types.externals(evidence)[4].site
    for each in (evidence, held(evidence, asked(), met={(1, site): True for site in SITES})):
        said = f"{verdict.finding(each).lead} {verdict.finding(each).rest}"
        assert f"At 0.70 flagging everyone or no one is shown to be better in {place}." in said
        assert "The model underestimates the risk of the subgroup women (sex): O/E 1.36 against 0.98" in said
        assert "The model underestimates the risk of women." in committee.answer(each)
    alike = grouped("oe_ratio_ratio", number(1.1, 1.0, 1.2), 0.98, number(1.12, 0.99, 1.2), p_holm=0.4)
    assert "women" not in committee.answer(alike) + verdict.finding(alike).rest


def test_a_criterion_over_all_hospitals_is_no_hospital_s() -> None:
    for met, said in (
        (True, "is shown to meet its declared criterion over all hospitals."),
        (False, "over all hospitals together."),
    ):
        evidence = held(EIGHT, asked(dataset="pooled"), met={(1, types.POOLED): met})
        assert verdict.finding(evidence).lead.endswith(said)


@pytest.mark.parametrize(
    ("at_sites", "said"),
    [
        (1, "not to meet its declared criterion for single hospitals"),
        (2, "to miss one or more of its declared criteria for single hospitals"),
    ],
)
def test_a_criterion_over_all_hospitals_is_not_among_those_of_each(at_sites: int, said: str) -> None:
    """Beside one that is asked of all together, only the others are missed or met at a hospital."""
    numbers = range(1, at_sites + 1)
    met = {(number, site): (number, site) != (1, SITES[0]) for number in numbers for site in SITES}
    criteria = [asked(name) for name in ("auroc", "brier_skill")[:at_sites]]
    evidence = held(EIGHT, *criteria, asked("oe_ratio", "pooled"), met={**met, (at_sites + 1, types.POOLED): True})
    assert verdict.finding(evidence).lead.startswith(f"The model is shown {said} at one of eight hospitals")


@pytest.mark.parametrize("stands", [True, False, None])
@pytest.mark.parametrize("at_sites", [True, False])
def test_the_committee_names_every_goal_and_how_it_stands(stands: bool | None, at_sites: bool) -> None:
    """Beside a goal of each hospital that of all together went unsaid."""
    first = {(1, site): True for site in SITES} if at_sites else {(1, types.POOLED): True}
    goals = (asked(dataset="each external" if at_sites else "pooled"), asked("oe_ratio", "pooled"))
    said = committee.answer(held(EIGHT, *goals, met={**first, (2, types.POOLED): stands}))
    how = {True: "met", False: "missed", None: "could not be tested"}[stands]
    among = "telling sick from well and number of cases" if stands and not at_sites else "number of cases"
    assert f"{how} ({among})" in said
    assert "telling sick from well" in said


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ("against", "missed"),
        ("open", "cannot tell yet"),
        ("withheld", "kept back to protect"),
        ("untested", "could not be tested"),
    ],
)
def test_page_1_says_of_a_goal_what_the_table_of_goals_says(state: types.State, words: str) -> None:
    """A goal that was kept back on page 2 could not be told yet on page 1."""
    evidence = held(EIGHT, asked(), met={(1, site): True for site in SITES})
    first, *others = evidence.criteria
    found = dataclasses.replace(evidence, criteria=(dataclasses.replace(first, state=state, observed=None), *others))
    assert f"met in seven; {words}" in committee.answer(found)
    cells = [cell.text for row in committee.hospitals(found).rows for cell in row.cells[-1:]]
    assert cells.count("met") == 7


@pytest.mark.parametrize("few", [0, 1, 3])
def test_the_row_over_all_hospitals_is_of_those_that_are_pooled(few: int) -> None:
    sites = [dataclasses.replace(site, events=3 if k < few else 50) for k, site in enumerate(types.externals(EIGHT))]
    n = sum(site.n for site in sites[few:])
    pooled = types.Estimate(0.75, 0.7, 0.8, 0.95, n, Method("reml"), details={"k": 8.0 - few})
    made = dataclasses.replace(
        EIGHT, datasets=tuple(sites), results=(types.Result("auroc", "auroc", types.POOLED, {}, pooled),)
    )
    table = results.essentials(made)
    row = next(row for row in table.rows if row.label == "All, pooled")
    assert [cell.text for cell in row.cells[:2]] == [f"{pooled.n:,}", f"{50 * (8 - few)}"]
    said = f"Pooled are {8 - few} of 8 sites, with {pooled.n:,}\N{NO-BREAK SPACE}patients."
    assert (said in table.note) is (few > 0)


def test_a_criterion_without_a_date_or_after_the_dossier_does_not_count() -> None:
    dated = with_release(EIGHT, release={**EIGHT.release.release.model_dump(), "date": DAY})
    late = asked(declared_on=DAY + datetime.timedelta(days=1))
    undated = {name: value for name, value in asked(dataset="pooled").items() if name != "declared_on"}
    met = {**{(1, site): True for site in SITES}, (2, types.POOLED): False, **{(3, site): False for site in SITES}}
    evidence = held(dated, asked(), undated, late, met=met)
    assert verdict.finding(evidence).lead == "The model is shown to meet its declared criterion at every hospital."
    notes = " ".join(grid.table(evidence).footnotes)
    assert "Not counted, for it is not dated" in notes
    assert "after this dossier" in notes


def test_a_criterion_that_was_declared_when_all_patients_had_come_counts_for_nothing() -> None:
    last = DAY - datetime.timedelta(days=1)
    span = (last - datetime.timedelta(days=90), last)
    sites = tuple(dataclasses.replace(dataset, dates=span) for dataset in EIGHT.datasets)
    met = {(1, site): True for site in SITES}
    late = held(dataclasses.replace(EIGHT, datasets=sites), asked(), met=met)
    assert acceptance.counted_ones(late) == []
    assert "No criterion that counts was declared" in verdict.finding(late).rest
    assert "after the last patient had come" in " ".join(grid.table(late).footnotes)
    raised = {flag.flag for flag in flags.unsaid(late.release, late.datasets)}
    assert "criterion_dated_late" in raised
    cases = [case.status for case in junit.cases(late, junit.Demands()) if case.suite == "acceptance"]
    assert cases == ["open"] * 8
    in_time = held(dataclasses.replace(EIGHT, datasets=sites), asked(declared_on=last), met=met)
    assert len(acceptance.counted_ones(in_time)) == 1
    one_unknown = (dataclasses.replace(sites[0], dates=None), *sites[1:])
    assert len(acceptance.counted_ones(dataclasses.replace(late, datasets=one_unknown))) == 1


@pytest.mark.parametrize(
    ("says", "rules_out"),
    [
        ("Confirmed: not to be used there.", True),
        ("It must not be used in this hospital.", True),
        ("Do not use it here before recalibration.", True),
        ("The column is not used by the model.", False),
        ("To be checked on the spot first.", False),
    ],
)
def test_what_its_maker_rules_out_stands_first_and_at_the_row(says: str, rules_out: bool) -> None:
    raised = (types.Flag("few_events", "site-1", limitation("few."), says),)
    evidence = dataclasses.replace(EIGHT, flags=raised, criteria=())
    site = next(dataset for dataset in EIGHT.datasets if dataset.name == "site-1")
    lead = verdict.finding(evidence).lead
    assert (lead == f"The maker states that the model is not to be used in {site.site}.") == rules_out
    assert (f"‡{site.site} (" in grid.table(evidence).footnotes[0]) == rules_out
    assert committee.answer(evidence).startswith("Its maker says that it must not be used in ") == rules_out
    # At seven others it rules nothing out.
    assert committee.approving(evidence) == "Approve, though an error was shown"
    ours = committee.approving(dataclasses.replace(evidence, local_site="site-1"))
    assert (ours == "Approve against the maker's statement") == rules_out
    assert committee.purpose(evidence).not_for.endswith(f"{site.site}.") == rules_out
    (not_for,) = (text for label, text, _ in model_card.about(evidence) if label == "Not for")
    assert (f"{site.site}: not to be used there, its maker states." in not_for) == rules_out
    elsewhere = dataclasses.replace(evidence, local_site="site-0")
    assert committee.approving(elsewhere) == "Approve"


@pytest.mark.parametrize(
    ("use", "rules_out"),
    [
        ({"for": "Nobody: an example."}, True),
        ({"not_for": ("any patient",)}, True),
        ({"not_for": ("Any decision about a patient.",)}, True),
        ({"not_for": ("Any decision about a patient: the rows are of a study.",)}, True),
        ({"for": "Adults.", "not_for": ("Any use without a doctor.", "Children.")}, False),
    ],
)
def test_a_model_for_nobody_is_said_to_be_so_first(use: dict[str, Any], rules_out: bool) -> None:
    evidence = with_release(EIGHT, intended_use=use)
    said = "The maker states that the model is not to be used for patients."
    assert (verdict.finding(evidence).lead == said) == rules_out
    assert (committee.approving(evidence) == "Approve against the maker's statement") == rules_out
    assert committee.steps(evidence)[0].startswith("Do not use it: its maker says so.") == rules_out


def test_a_crossed_stop_rule_stands_first_and_at_the_row(knee: Book) -> None:
    said = "A declared stop rule is crossed in Knee 2; flagging everyone then did better."
    assert verdict.finding(knee.evidence).lead == said
    assert "§¶Knee 2 (" in grid.table(knee.evidence).footnotes[0]
    assert grid.table(knee.evidence).rows[0].label.startswith("No stop rule is crossed")
    assert committee.answer(knee.evidence).startswith("By the maker's rule it must be switched off in Knee 2.")
    assert committee.approving(knee.evidence) == "Approve, though an error was shown"
    ours = dataclasses.replace(knee.evidence, local_site="knee-2")
    assert committee.approving(ours) == "Approve against the maker's rule"
    assert committee.approving(dataclasses.replace(knee.evidence, local_site="knee-1")) == "Approve"


def test_without_a_criterion_there_is_no_verdict_but_what_was_found() -> None:
    evidence = dataclasses.replace(EIGHT, criteria=())
    found = verdict.finding(evidence)
    assert found.lead == "At 0.50 the model is better than flagging everyone or no one at six of eight hospitals."
    assert found.rest.startswith("No criterion that counts was declared: nothing here is passed or failed. The ")
    assert "AUROC" in found.rest
    assert letters_of(evidence, "shown", "Better than") == list("bcdegh")


@pytest.mark.parametrize(
    ("states", "sites", "said"),
    [
        (["shown"], 1, "is better than flagging everyone or no one at the hospital."),
        (["open"], 1, "is not shown to be better than flagging everyone or no one at the hospital."),
        (["shown", "shown"], 2, "is better than flagging everyone or no one at both hospitals."),
        (["shown", "open"], 3, "is better than flagging everyone or no one at one of three hospitals."),
        (
            ["against", "open", "open"],
            3,
            "is not shown to be better than flagging everyone or no one at any hospital, and worse at one.",
        ),
    ],
)
def test_without_a_criterion_the_first_words_are_at_how_many_hospitals_the_model_is_of_use(
    states: list[types.State], sites: int, said: str
) -> None:
    assert verdict._use("0.20", states, sites) == f"At 0.20 the model {said}"


def test_what_is_open_comes_first_and_leads_to_its_chapter(covid: Book) -> None:
    points = verdict.to_settle(covid.evidence)
    assert [point.is_open for point in points] == sorted((point.is_open for point in points), reverse=True)
    assert {point.chapter for point in points} <= {"limitations", "checklist"}
    topics = [point.what.split(":")[0] for point in points if not point.is_open]
    assert topics[:3] == [
        "Flagging everyone or no one is better",
        "Risks too low or too high",
        "Risks too extreme or too moderate",
    ]
    missing = [row.item for row in covid.evidence.checklist if row.status == "missing"]
    named = [point.what for point in points if point.chapter == "checklist"]
    assert [what.split(",")[0] for what in named] == [f"TRIPOD+AI {item}" for item in missing]
    whats = [point.what for point in points]
    # Of Brazil 3 it is answered.
    assert "Few patients of one outcome: Spain (78 events, 42 non-events)" in whats


def test_every_site_stands_in_the_key_results_and_on_page_1(any_book: Book) -> None:
    names = [dataset.site for dataset in any_book.evidence.datasets if dataset.role == "external"]
    labels = [row.label for row in results.essentials(any_book.evidence).rows][: len(names)]
    assert labels in (names, [name.split(",")[0] for name in names])
    legend = " ".join(grid.table(any_book.evidence).footnotes)
    assert len(names) == 1 or all(name.split(",")[0] in legend for name in names)


# ---- groups of patients over all sites ------------------------------------------------------------------------------


def number(value: float, low: float, high: float) -> types.Estimate:
    return types.Estimate(value, low, high, 0.95, 4000, Method("wald"), 300, details={"k": 8.0})


def grouped(
    measure: str, here: types.Estimate, rest: float, apart: types.Estimate, p_holm: float = 0.001
) -> types.Evidence:
    """Evidence with two groups, women and men, of whom this was found within all sites."""
    women, against = types.Subset("sex", "women"), {"against": "complement"}
    base = between_groups.MADE_OF.get(measure, measure)
    at = {"threshold": 0.5} if measure in between_groups.AT_THRESHOLD else {}
    tested = dataclasses.replace(apart, details={**apart.details, "p_holm": p_holm, "looks": 5.0})
    beside = types.Estimate(here.value - rest, -1.0, 1.0, 0.95, 4000, Method("wald"), 300, details={"k": 8.0})
    results = [
        types.Result(base, base, types.POOLED, at, here, women),
        types.Result(base, base, types.POOLED, {**at, **against}, tested if base == measure else beside, women),
    ]
    if base != measure:
        results.append(types.Result(measure, measure, types.POOLED, against, tested, women))
    size = types.SubgroupSize(500, 40, 0)
    summaries = tuple(types.SubgroupSummary(site, "sex", label, size) for site in SITES for label in ("women", "men"))
    return dataclasses.replace(EIGHT, subgroups=types.SubgroupEvidence(summaries, tuple(results)))


def flags_of(evidence: types.Evidence) -> list[str]:
    raised = flags.raised(dataclasses.replace(flags.Shown.of(evidence), results=()))
    return [flag_text(flag.fact) for flag in raised if flag.flag == "subgroup_differs"]


def test_a_difference_over_all_sites_is_a_finding_and_a_limitation_with_its_direction() -> None:
    """GUSTO-I: O/E 1.16 among women, 1.08 to 1.25, stood in no sentence."""
    evidence = grouped("oe_ratio_ratio", number(1.36, 1.28, 1.45), 0.98, number(1.39, 1.28, 1.51))
    group = "the model underestimates the risk of the subgroup women (sex)"
    said = f"{group}: O/E 1.36 against 0.98 (ratio 1.39, 1.28 to 1.51)"
    assert subgroups.finding(evidence).lead == f"Over all sites {said}."
    assert flags_of(evidence) == [f"over all sites {said}."]
    assert committee.differing_groups(evidence)[0] == (
        "The model underestimates the risk of women (136 actual cases per 100 predicted, the others there 98)."
    )


def test_women_who_are_missed_more_are_a_finding_in_both_editions() -> None:
    """heart: .48 of the women with the disease were found, .83 of the men; the committee read that none differed."""
    evidence = grouped("sensitivity", number(0.48, 0.3, 0.65), 0.83, number(-0.35, -0.54, -0.16))
    said = (
        "the sensitivity at 0.50 is lower in the subgroup women (sex) than in the others: 0.48 against 0.83 "
        "(difference \N{MINUS SIGN}0.35, \N{MINUS SIGN}0.54 to \N{MINUS SIGN}0.16)"
    )
    assert subgroups.finding(evidence).lead == f"Over all sites {said}."
    assert flags_of(evidence) == [f"over all sites {said}."]
    words = "It more often misses women (52 of 100, the others there 17"
    assert committee.differing_groups(evidence)[0] == f"{words}; 16 to 54 of 100 more)."
    assert f"{words})." in committee.who_is_missed(evidence)
    assert not [text for text in committee.who_is_missed(evidence) if "overlap" in text or "coincidence" in text]


@pytest.mark.parametrize(
    ("apart", "p_holm", "state"),
    [
        (number(-0.35, -0.54, -0.16), 0.06, "open"),
        (number(-0.09, -0.15, -0.03), 0.001, "open"),
        (number(-0.04, -0.09, 0.01), 1.0, "shown"),
        (number(-0.04, -0.09, 0.02), 0.001, "shown"),
        (number(-0.04, -0.12, 0.02), 1.0, "open"),
        (number(-0.2, -0.3, -0.1), 0.01, "against"),
        (number(0.2, 0.1, 0.3), 0.01, "better"),
    ],
)
def test_the_state_of_a_comparison_is_by_its_margin_and_its_corrected_p_value(
    apart: types.Estimate, p_holm: float, state: str
) -> None:
    evidence = grouped("sensitivity", number(0.5, 0.4, 0.6), 0.5 - apart.value, apart, p_holm)
    several = tuple(
        dataclasses.replace(evidence.subgroups.summaries[0], label=label) for label in ("women", "men", "others")
    )
    (look,) = between_groups.looks(several, evidence.subgroups.results)
    assert look.state == state
    assert bool(flags_of(evidence)) == (state == "against")


def test_a_difference_names_the_sites_that_record_the_group_and_how_many_comparisons_there_are(covid: Book) -> None:
    """Two of eight hospitals record sex and age: nothing of them is said over all."""
    said = subgroups.finding(covid.evidence)
    looks = between_groups.looks(covid.evidence.subgroups.summaries, covid.evidence.subgroups.results)
    assert f"{len(looks)}\N{NO-BREAK SPACE}comparisons" in f"{said.lead} {said.rest}"
    table = committee.groups(covid.evidence)
    assert table is not None
    assert table.title == "Groups of patients, Italy 1 and Italy 2 together."
    assert "Diamond: over the sites (strokes), weighed as the others." in forest_caption(covid.evidence)
    raised = [flag_text(flag.fact) for flag in covid.evidence.flags if flag.flag == "subgroup_differs"]
    assert len(raised) == sum(look.state == "against" for look in looks)
    assert all(text.startswith("in Italy 1 and Italy 2 ") for text in raised)


def test_a_group_that_is_wrong_beside_the_others_alone_is_said_to_be_so() -> None:
    evidence = grouped("oe_ratio_ratio", number(1.25, 0.97, 1.53), 0.9, number(1.39, 1.2, 1.6))
    lead = subgroups.finding(evidence).lead
    assert lead.startswith("Over all sites O/E is higher in the subgroup women (sex) than in the others: 1.25 against")
    assert "underestimates" not in lead, "the interval of its own O/E includes 1"
    assert committee.differing_groups(evidence)[0].startswith(
        "More actual cases per 100 predicted than among the others: women ("
    )


def test_an_auroc_is_judged_beyond_its_case_mix() -> None:
    """.73 against .84 of which .74 was to be expected was on page 1."""
    by_mix = grouped("auroc_beyond_case_mix", number(0.73, 0.7, 0.76), 0.84, number(-0.01, -0.04, 0.02), 1.0)
    assert flags_of(by_mix) == []
    beyond = grouped("auroc_beyond_case_mix", number(0.73, 0.7, 0.76), 0.84, number(-0.1, -0.14, -0.06))
    assert flags_of(beyond) == [
        "over all sites beyond case mix the AUROC is lower in the subgroup women (sex) than in the others: 0.73 "
        "against 0.84 (gap \N{MINUS SIGN}0.10, \N{MINUS SIGN}0.14 to \N{MINUS SIGN}0.06)."
    ]


def test_no_negative_is_told_of_groups_that_were_not_compared() -> None:
    few = types.SubgroupSize(9, 2, 0)
    summaries = tuple(types.SubgroupSummary(site, "sex", label, few) for site in SITES for label in ("women", "men"))
    evidence = dataclasses.replace(EIGHT, subgroups=types.SubgroupEvidence(summaries))
    sentences = committee.differing_groups(evidence)
    assert sentences[0] == "No group could be compared with the others: too few patients."
    assert "stood out" not in " ".join((*sentences, *committee.who_is_missed(evidence)))


# ---- the other model ------------------------------------------------------------------------------------------------


def beside(evidence: types.Evidence, difference: types.Estimate) -> str:
    rival = {"rival": "other", "rival_name": "Old score"}
    release = with_release(
        evidence, prediction={**evidence.release.prediction.model_dump(by_alias=True), **rival}
    ).release
    difference = dataclasses.replace(difference, details={"p_adjusted": 0.01})
    found = types.Result("auroc_difference", "auroc_difference", "site-0", {"against": "Old score"}, difference)
    return committee.than_the_other_model(
        dataclasses.replace(evidence, release=release, results=(*evidence.results, found))
    )


@pytest.mark.parametrize(
    ("difference", "said"),
    [
        (
            number(0.03, 0.01, 0.05),
            "Beside Old score: it tells sick from well better (by 30 of 1,000 pairs, range 10 to 50).",
        ),
        (number(-0.03, -0.05, -0.01), "it tells sick from well worse (by 30 of 1,000 pairs, range 10 to 50)"),
        (
            number(0.01, -0.01, 0.03),
            "not shown that it tells sick from well better (by 10 of 1,000 pairs, range −10 to 30)",
        ),
    ],
)
def test_the_committee_hears_whether_the_model_is_better_than_the_other(difference: types.Estimate, said: str) -> None:
    assert said in beside(EIGHT, difference)


def test_without_another_model_nothing_is_said_of_one() -> None:
    assert committee.than_the_other_model(EIGHT) == ""


def test_a_criterion_that_flagging_everyone_passes_better_says_so_where_it_is_counted(covid: Book) -> None:
    assert "yet flagging everyone has the higher net benefit" in " ".join(grid.table(covid.evidence).footnotes)
    sentences = " ".join(committee.than_the_same_for_all(covid.evidence))
    assert "Isolating everyone would be better in Brazil 3." in sentences


@pytest.mark.slow
def test_what_the_owner_leaves_out_is_named_on_the_first_page_and_has_no_chapter(breast: Book) -> None:
    left = with_release(breast.evidence, report={"leave_out": ("advice", "caution")})
    gallery = dataclasses.replace(breast.gallery, evidence=left)
    first, rest = (compose.document(gallery, edition).html for edition in SUBMITTED)
    first, contents = first.split('id="contents"')
    assert "Left out by the owner" in first
    assert "Value of the advice and Measures to read with caution. Every number" in first
    for name in ("advice", "caution"):
        assert f'id="chapter-{name}"' not in rest
        assert f'id="chapter-{name}"' in compose.document(breast.gallery, "supplement").html
    assert "Value of the advice." not in contents + rest.split('id="chapter-results"')[0]


def test_a_net_benefit_that_follows_the_prevalence_of_a_group_is_no_finding() -> None:
    evidence = grouped("net_benefit", number(0.02, 0.01, 0.03), 0.3, number(-0.28, -0.3, -0.26))
    assert not between_groups.looks(evidence.subgroups.summaries, evidence.subgroups.results)
    assert not flags_of(evidence)
