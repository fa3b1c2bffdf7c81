"""Numbers become text, results become tables: held against what a reader may conclude from the text."""

from __future__ import annotations

import dataclasses
import math
import re
from decimal import ROUND_HALF_EVEN, Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dossier.core.facts import Count, Fact, Method
from dossier.core.register import fill
from dossier.core.types import POOLED, Absent, Curve, Estimate, Evidence, Predicted, Result, Term, externals
from dossier.report.chapters import glossary, methods
from dossier.typeset import measures, numbers
from dossier.typeset.measures import chapter_tables, in_appendix_only
from dossier.typeset.names import foretold, label_of
from dossier.typeset.notes import intervals_of, note_of
from dossier.typeset.reasons import why
from dossier.typeset.tables import LONG_LABEL, Reasons, packed
from dossier.typeset.widths import text_width
from dossier.typeset.words import counted, how_many, in_words, listing, part_of, setting, within_sentence
from tests.conftest import Book, by_hand, terms
from tests.figures.evidence import COVID, Case, _long
from tests.reasons import because

VALUES = st.floats(-1e7, 1e7, allow_nan=False)
DIGITS = st.integers(0, 4)
PLAIN = Term("m", "m", "Some measure", "What it is.", "discrimination")
POSITIVE = dataclasses.replace(PLAIN, range=(0, None))
RATIO = dataclasses.replace(POSITIVE, best="one")
OE = dataclasses.replace(RATIO, measure="oe_ratio")
GAIN = dataclasses.replace(PLAIN, digits=1, unit="per 100")
SHARE = dataclasses.replace(PLAIN, digits=0, unit="%")
EIGHT = by_hand(Case("eight", COVID))


def estimate(value: float, low: float | None = None, high: float | None = None) -> Estimate:
    """An estimate with these bounds."""
    return Estimate(value, low, high, 0.95, 100, Method("wald"))


def subgroup(value: float, low: float, high: float) -> Estimate:
    """A difference of a subgroup from the others."""
    return dataclasses.replace(estimate(value, low, high), details={"complement": 0.7})


def read(text: str) -> Decimal:
    """The number that a reader takes from its text."""
    return Decimal(text.replace(numbers.MINUS, "-").replace(",", "").removeprefix("<"))


# ---- numbers --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "digits", "percent", "text"),
    [
        (0.5, 2, False, "0.50"),
        (-0.126, 2, False, "−0.13"),
        (1234567.0, 0, False, "1,234,567"),
        (-1234.5, 1, False, "−1,234.5"),
        (0.004, 2, False, "<0.01"),
        (0.0004, 3, False, "<0.001"),
        (0.0, 2, False, "0.00"),
        (-0.0, 2, False, "0.00"),
        (-0.004, 2, False, "0.00"),
        (0.3, 0, False, "<1"),
        (0.004, 0, True, "<1"),
        (0.389, 1, True, "38.9"),
        (-0.678, 1, True, "−67.8"),
        (1.0, 0, True, "100"),
    ],
)
def test_a_number_is_printed_as_the_style_guide_says(value: float, digits: int, percent: bool, text: str) -> None:
    assert numbers.number(value, digits, percent) == text


@given(VALUES, DIGITS)
def test_a_number_is_the_nearest_of_its_digits(value: float, digits: int) -> None:
    text = numbers.number(value, digits)
    step = Decimal(1).scaleb(-digits)
    if text.startswith("<"):
        assert 0 < Decimal(value) < read(text)
        assert read(text) == step
    else:
        assert read(text) == Decimal(value).quantize(step, ROUND_HALF_EVEN)


@given(VALUES, DIGITS, st.booleans())
def test_a_number_has_a_true_minus_and_never_a_negative_zero(value: float, digits: int, percent: bool) -> None:
    text = numbers.number(value, digits, percent)
    assert re.fullmatch(rf"(<|{numbers.MINUS})?\d{{1,3}}(,\d{{3}})*(\.\d+)?", text), text
    assert len(text.partition(".")[2]) == digits
    if text.startswith(numbers.MINUS):
        assert value < 0
        assert read(text) != 0


@given(st.floats(1e-300, 1e6), DIGITS)
def test_what_is_above_zero_is_never_printed_as_zero(value: float, digits: int) -> None:
    assert read(numbers.number(value, digits)) > 0


@given(VALUES, VALUES, DIGITS)
def test_a_larger_number_never_prints_smaller(first: float, other: float, digits: int) -> None:
    low, high = sorted((first, other))
    printed = [numbers.number(value, digits) for value in (low, high)]
    if not any(text.startswith("<") for text in printed):
        assert read(printed[0]) <= read(printed[1])


@pytest.mark.parametrize(
    ("value", "text"), [(0.5, "0.50"), (0.25, "0.25"), (0.125, "0.125"), (0.005, "0.005"), (0.1, "0.10")]
)
def test_a_threshold_keeps_its_digits(value: float, text: str) -> None:
    assert numbers.threshold(value) == text


@given(st.integers(1, 10**12 - 1), st.integers(2, 12))
def test_a_threshold_is_printed_as_no_other_number(numerator: int, decimals: int) -> None:
    value = (numerator % (10**decimals - 1) + 1) / 10**decimals
    assert float(numbers.threshold(value)) == value
    assert float(Decimal(numbers.threshold(value, percent=True).removesuffix("%")) / 100) == value


@given(st.floats(0, 1, exclude_min=True, exclude_max=True))
def test_no_threshold_is_printed_as_0_or_1(value: float) -> None:
    assert 0 < Decimal(numbers.threshold(value)) < 1
    assert 0 < Decimal(numbers.threshold(value, percent=True).removesuffix("%")) < 100


@given(st.integers(0, 10**7))
def test_a_count_and_its_noun_are_never_parted(count: int) -> None:
    text = counted(count, "patient")
    assert " " not in text
    assert text == f"{count:,}{numbers.TIED}{'patient' if count == 1 else 'patients'}"


def test_a_noun_may_have_its_own_plural() -> None:
    assert counted(2, "file was", "files were") == f"2{numbers.TIED}files were"
    assert counted(1, "file was", "files were") == f"1{numbers.TIED}file was"


@pytest.mark.parametrize(
    ("count", "text"), [(0, "no"), (1, "one"), (8, "eight"), (10, "ten"), (11, "11"), (1200, "1,200")]
)
def test_small_counts_are_words(count: int, text: str) -> None:
    assert in_words(count) == text


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ((), ""),
        (("a",), "a"),
        (("a", "b"), "a and b"),
        (("a", "b", "c"), "a, b and c"),
        (("Rho, Italy", "Bari"), "Rho, Italy; and Bari"),
        (("Rho, Italy", "Bari", "Basel"), "Rho, Italy; Bari; and Basel"),
        (("Rho (Milan, Italy)", "Bari"), "Rho (Milan, Italy) and Bari"),
        (("1,797 patients", "one"), "1,797 patients and one"),
    ],
)
def test_words_are_joined_as_in_a_sentence(words: tuple[str, ...], text: str) -> None:
    assert listing(words) == text


@pytest.mark.parametrize(
    ("label", "text"),
    [
        ("Sensitivity", "sensitivity"),
        ("Net benefit", "net benefit"),
        ("AUROC", "AUROC"),
        ("O/E", "O/E"),
        ("Brier score", "Brier score"),
        ("Fleiss' kappa", "Fleiss' kappa"),
        ("Krippendorff's alpha", "Krippendorff's alpha"),
        ("Cohen's kappa of rater pairs, mean", "Cohen's kappa of rater pairs, mean"),
        ("H-accuracy", "H-accuracy"),
        ("Scaled Brier score", "scaled Brier score"),
        ("90% calibration error (E90)", "90% calibration error (E90)"),
    ],
)
def test_a_label_within_a_sentence_keeps_only_the_capitals_of_names(label: str, text: str) -> None:
    assert within_sentence(label) == text


NAMED_AFTER = ("Brier", "Matthews", "Mann", "Whitney", "Hoorde")
"""Names that no apostrophe shows."""


def test_every_label_can_stand_within_a_sentence() -> None:
    followed = (entry.term for entry in fill("metrics").followed_metrics.values())
    for term in (*terms().values(), *followed):
        text = within_sentence(term.label)
        assert text.lower() == term.label.lower()
        assert "'" not in term.label.split()[0] or text == term.label, "names in dossier/words/terms.toml"
        for name in NAMED_AFTER:
            assert (name in text) == (name in term.label), f"{term.label} loses the capital of {name}"


# ---- intervals ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("found", "term", "wordy", "text"),
    [
        (estimate(0.88, 0.731, 0.957), PLAIN, False, f"0.73{numbers.DASH}0.96"),
        (estimate(0.88, 0.731, 0.957), PLAIN, True, "0.73 to 0.96"),
        (estimate(0.1, -0.126, 0.3), PLAIN, True, "−0.13 to 0.30"),
        (estimate(0.9, 0.851, 0.983), SHARE, False, f"85{numbers.DASH}98"),
        (estimate(0.1, None, 0.257), PLAIN, False, "up to 0.26"),
        (estimate(0.1, 0.057, None), PLAIN, False, "from 0.06"),
        (estimate(0.1), PLAIN, False, ""),
        (estimate(0.001, 0.0001, 0.02), POSITIVE, False, f"<0.01{numbers.DASH}0.02"),
        (estimate(0.03, -0.0026, 0.09), PLAIN, True, "−0.003 to 0.09"),
        (estimate(0.05, 0.0039, 0.1), PLAIN, False, f"0.004{numbers.DASH}0.10"),
        (estimate(0.05, -1e-9, 0.1), PLAIN, True, "0.00 to 0.10"),
        (estimate(0.02, -0.0001, 0.1), GAIN, True, "−0.01 to 10.0"),
        (estimate(0.9, 0.7996, 1.2501), OE, False, f"0.7996{numbers.DASH}1.2501"),
        (subgroup(-0.04, -0.09, -0.002), POSITIVE, True, "−0.09 to −0.002"),
        (subgroup(0.1, 0.003, 1.001), RATIO, True, "0.003 to 1.00"),
        (estimate(0.1, -0.126, 2.0), PLAIN, False, "−0.13 to 2.00"),
        (estimate(0.88, 0.77, 0.9976), RATIO, False, f"0.77{numbers.DASH}0.998"),
        (estimate(1.09, 1.0006, 1.19), RATIO, False, f"1.001{numbers.DASH}1.19"),
        (estimate(1.0, 0.9, 1.0), RATIO, False, f"0.90{numbers.DASH}1.00"),
        (estimate(0.9, 0.8, 0.9976), PLAIN, False, f"0.80{numbers.DASH}1.00"),
    ],
)
def test_an_interval_reads_as_its_bounds(found: Estimate, term: Term, wordy: bool, text: str) -> None:
    assert numbers.interval(found, term, wordy) == text


@pytest.mark.parametrize(
    ("found", "term", "text"),
    [
        (estimate(-0.0026), PLAIN, "−0.003"),
        (estimate(0.0039), PLAIN, "0.004"),
        (estimate(0.0039), POSITIVE, "<0.01"),
        (estimate(0.0), PLAIN, "0.00"),
        (estimate(-0.0), PLAIN, "0.00"),
        (estimate(-1e-12), PLAIN, "0.00"),
        (estimate(0.00006), PLAIN, "0.0001"),
        (estimate(-0.00001), PLAIN, "0.00"),
        (estimate(0.00001), PLAIN, "<0.01"),
        (estimate(0.998), RATIO, "1.00"),
        (estimate(0.3997), dataclasses.replace(POSITIVE, measure="correspondence_averaged"), "0.3997"),
        (estimate(0.4), dataclasses.replace(POSITIVE, measure="correspondence_averaged"), "0.40"),
    ],
)
def test_a_value_shows_its_sign_and_its_band(found: Estimate, term: Term, text: str) -> None:
    assert numbers.value_of(found, term) == text


@pytest.mark.parametrize(
    ("value", "low", "high", "text"),
    [
        (0.9996, 0.9983, 0.99995, "99.960 99.83\N{EN DASH}99.9950"),
        (0.99946, 0.999, 0.9997, "99.946 99.90\N{EN DASH}99.970"),
        (1.0, 0.982, 1.0, "100 98\N{EN DASH}100"),
        (0.004, 0.0, 0.031, "0.40 0\N{EN DASH}3"),
        (0.87, 0.801, 0.92, "87 80\N{EN DASH}92"),
    ],
)
def test_a_share_that_is_not_whole_is_not_printed_as_all_or_none(
    value: float, low: float, high: float, text: str
) -> None:
    """The NPV of an outcome that 9 of 2,000 have was printed as 100%, with the bounds 100 and 100; another as 99.9 in
    the table and as 99.946% beside it."""
    npv, found = dataclasses.replace(SHARE, range=(0, 1)), estimate(value, low, high)
    assert f"{numbers.value_of(found, npv)} {numbers.interval(found, npv)}" == text


@pytest.mark.parametrize(
    ("share", "among", "words", "cell"),
    [
        (0.0045, 100, "fewer than 1", "<1"),
        (0.0045, 1000, "4", "4"),
        (0.9996, 100, "more than 99", ">99"),
        (0.0, 100, "0", "0"),
        (1.0, 10_000, "10,000", "10,000"),
        (0.5, 100, "50", "50"),
    ],
)
def test_people_are_none_and_all_only_where_they_are(share: float, among: int, words: str, cell: str) -> None:
    assert (numbers.people(share, among), numbers.people(share, among, in_cell=True)) == (words, cell)


@pytest.mark.parametrize(
    ("share", "printed"),
    [
        (0.0016, "0.16%"),
        (0.0045, "0.45%"),
        (0.000449, "0.045%"),
        (0.99946, "99.946%"),
        (0.01, "1%"),
        (0, "0%"),
        (1, "100%"),
    ],
)
def test_a_share_of_few_in_per_cent_has_its_digits(share: float, printed: str) -> None:
    """Two hospitals of .16 and .45% both had "<1%", and an outcome "in <1% at A and in <1%" of the others."""
    assert numbers.per_cent(share) == printed
    assert numbers.per_cent(1 - 1e-13) == "100%"


@pytest.mark.parametrize(("frequency", "among"), [(0.5, 100), (0.05, 100), (0.02, 1000), (0.0045, 10_000), (0, 10_000)])
def test_what_is_rare_is_told_of_more_people(frequency: float, among: int) -> None:
    assert numbers.of_how_many(frequency) == among


@pytest.mark.parametrize(
    ("events", "printed"),
    [(160, "0.126 0.034\N{EN DASH}0.148"), (2000, "0.13 0.03\N{EN DASH}0.15"), (9000, "0.1 0.03\N{EN DASH}0.1")],
)
def test_the_net_benefit_of_a_rare_outcome_has_its_digits(events: int, printed: str) -> None:
    """Of .16 % it was 0.1 per 100 patients, 0.03 to 0.1."""
    term = fill("metrics").metrics["net_benefit"].term
    found = dataclasses.replace(estimate(0.00126, 0.00034, 0.00148), n=100_000, events=events)
    assert f"{numbers.value_of(found, term)} {numbers.interval(found, term)}" == printed


@given(st.floats(0.011, 2), st.integers(1, 1999), st.booleans())
def test_a_number_shows_on_which_side_of_a_declared_limit_it_lies(
    value: float, thousandths: int, is_near: bool
) -> None:
    limit = thousandths / 1000
    value = limit + value / 1000 if is_near else value
    term = dataclasses.replace(PLAIN, limits=(limit,))
    for text in (numbers.value_of(estimate(value), term), numbers.bound_of(value, term, estimate(value))):
        assert (float(text) > limit) == (value > limit) or abs(value - limit) < 1e-6
        assert (float(text) < limit) == (value < limit) or abs(value - limit) < 1e-6
    assert numbers.value_of(estimate(limit), term).startswith(f"{limit:.3f}".removesuffix("0"))


def test_a_bound_of_zero_is_a_bound() -> None:
    assert numbers.interval(estimate(0.1, 0.0, 0.2), PLAIN) == f"0.00{numbers.DASH}0.20"
    assert numbers.interval(estimate(-0.1, None, 0.0), PLAIN) == "up to 0.00"


def test_n_stands_beside_psi_which_falls_with_it() -> None:
    values = {"site-0": (0.12, 320), "site-1": (0.47, 1400)}
    results = tuple(
        Result(PSI, PSI, name, {}, Estimate(value, None, None, None, n, Method("wald")))
        for name, (value, n) in values.items()
    )
    kept = tuple(result for result in EIGHT.results if result.measure != PSI)
    (table, *_) = chapter_tables(dataclasses.replace(EIGHT, results=(*kept, *results)), "correspondence")
    psi, n = [column.label for column in table.columns][:2]
    assert (psi, n) == (EIGHT.terms[PSI].label, "n")
    assert [row.cells[1].text for row in table.rows[:2]] == ["320", "1,400"]


PSI = "degree_of_correspondence"


@settings(max_examples=30)
@given(st.floats(-5, 5), st.floats(0, 3), st.floats(0, 3))
def test_no_dash_stands_beside_a_minus_in_a_table(value: float, below: float, above: float) -> None:
    results = [Result("auroc", "auroc", "site-0", {}, estimate(value, value - below, value + above))]
    (table,) = chapter_tables(dataclasses.replace(EIGHT, results=tuple(results)), "discrimination")
    printed = table.rows[0].cells[0].interval
    assert not (numbers.MINUS in printed and numbers.DASH in printed), printed
    assert " to " in printed or numbers.DASH in printed


def test_one_negative_bound_gives_the_whole_column_words() -> None:
    results = tuple(
        Result("auroc", "auroc", f"site-{index}", {}, estimate(0.5, low, 0.9)) for index, low in enumerate((0.2, -0.2))
    )
    (table,) = chapter_tables(dataclasses.replace(EIGHT, results=results), "discrimination")
    assert [row.cells[0].interval for row in table.rows] == ["0.20 to 0.90", "−0.20 to 0.90"]


def test_a_dataset_that_lacks_several_measures_is_left_out_once() -> None:
    reasons = Reasons(EIGHT)
    for label in ("Rho", "Rho", "Desio"):
        reasons.leave_out(label, EIGHT.datasets[0].name, Fact("no_event", rows=90))
    (said,) = reasons.footnotes()
    assert said.endswith(": Rho and Desio.")


def test_no_part_of_a_count_is_none_and_no_site_is_no() -> None:
    parts = [part_of(*each) for each in ((0, 8), (0, 2), (1, 2), (3, 12))]
    assert parts == ["none of eight", "neither of two", "one of two", "three of 12"]
    assert [how_many(count) for count in (1, 10, 11)] == ["one", "ten", "11"]


def test_the_horizon_is_said_once() -> None:
    for name, horizon, expected in (
        ("death", "within 30 days", "death, within 30 days"),
        ("death Within  30 days", "within 30 days", "death Within  30 days"),
        ("relapse within 12 years", "2 years", "relapse within 12 years, 2 years"),
        ("death in hospital", None, "death in hospital"),
    ):
        assert Predicted(name, horizon, ()).words == expected


def test_a_required_sample_size_is_printed_in_whole_patients_rounded_up() -> None:
    """methods.md keeps 211.09 and 1,070.4 in results.json: 211 patients would be too few."""
    term = Term("mss_snb", "mss_snb", "Sample size", "A size.", "sample", digits=0)
    sizes = {211.09: "212", 1070.4: "1,071", 906.0: "906", 906.0000000001: "906", 0.2: "1"}
    for value, text in sizes.items():
        assert numbers.value_of(Estimate(value, None, None, None, 300, Method("log_closed_form")), term) == text


def test_what_is_foretold_names_the_classes_and_the_horizon() -> None:
    release = EIGHT.release
    outcome = release.outcome.model_copy(update={"name": "grade", "horizon": "at the biopsy", "classes": ("G0", "G1")})
    several = dataclasses.replace(EIGHT, release=release.model_copy(update={"outcome": outcome}))
    assert foretold(several) == "each of G0 and G1: grade, at the biopsy"
    each = outcome.model_copy(update={"classes": (), "horizon": None})
    binary = dataclasses.replace(EIGHT, release=release.model_copy(update={"outcome": each}))
    assert foretold(binary) == "grade"


def test_an_estimate_in_a_sentence_carries_its_level_and_unit() -> None:
    assert numbers.in_text(EIGHT, "auroc", estimate(0.884, 0.731, 0.957)) == f"0.88 (95%{numbers.TIED}CI 0.73 to 0.96)"
    assert numbers.in_text(EIGHT, "sensitivity", estimate(0.9, 0.85, 0.95)) == f"90% (95%{numbers.TIED}CI 85 to 95)"
    assert numbers.in_text(EIGHT, "net_benefit", estimate(0.389)) == f"38.9{numbers.TIED}per{numbers.TIED}100"


# ---- tables ---------------------------------------------------------------------------------------------------------


def test_a_gap_has_one_letter_for_one_reason() -> None:
    reasons = Reasons(EIGHT)
    cells = [reasons.cell(Absent(because(text))) for text in ("too few events", "no risk", "too few events")]
    assert [cell.text for cell in cells] == [
        f"absent{numbers.TIED}†a",
        f"absent{numbers.TIED}†b",
        f"absent{numbers.TIED}†a",
    ]
    assert reasons.footnotes() == (f"†a{numbers.TIED}Too few events.", f"†b{numbers.TIED}No risk.")


def test_the_same_gap_at_several_sites_is_said_once() -> None:
    reasons = Reasons(EIGHT)
    reasons.leave_out("Italy 3", "site-2", Fact("has_no", dataset="site-2", what="predictors"))
    reasons.leave_out("Spain", "site-3", Fact("has_no", dataset="site-3", what="predictors"))
    reasons.leave_out("Brazil 1", "site-4", because("one class only"))
    footnotes = reasons.footnotes()
    assert len(footnotes) == 2
    assert "no predictors: Italy 3 and Spain." in footnotes[0]
    assert "one class only: Brazil 1." in footnotes[1]
    assert "site-" not in " ".join(footnotes)


def _called(name: str) -> Evidence:
    """The evidence with the site of Milan, whose dataset has this name."""
    first = dataclasses.replace(EIGHT.datasets[0], name=name, site="Milan")
    return dataclasses.replace(EIGHT, datasets=(first, *EIGHT.datasets[1:]))


@pytest.mark.parametrize("name", ["one", "men", "two", "left", "event"])
def test_a_dataset_may_be_called_by_a_word_of_the_text(name: str) -> None:
    """It is named where a method names a dataset, and nowhere else."""
    left = Fact("not_pooled", sites=(Fact("site", name=name, why=Fact("no_event_expected")),))
    pooled = Estimate(0.8, 0.7, 0.9, 0.95, 100, Method(Fact("reml", scale=None, df=1), left))
    evidence = dataclasses.replace(_called(name), results=(Result("auroc", "auroc", POOLED, {}, pooled),))
    said = methods.pooling(evidence)
    assert said.startswith("AUROC: REML, Hartung-Knapp, factor at least 1, t with 1 degree of freedom; ")
    assert said.endswith("Milan (every risk is 0, so that no event is expected).")


NO_EVENTS = Fact("site_not_pooled", dataset="one", reason=Fact("fewer_events", fewest=Count(20, "event")))


@pytest.mark.parametrize(
    ("name", "reason", "printed"),
    [
        ("internal", Fact("internal_test_gives_no_value"), "the internal test gives no value"),
        (
            "internal",
            Fact("refitted_splits_no_patients", dataset="internal"),
            "the rows of Milan are refitted splits, not independent patients",
        ),
        ("none", Fact("no_event", rows=Count(5, "row")), "none of the 5 rows has the outcome"),
        (
            "one",
            Fact("too_few_sites_pooled", usable=Count(1, "site"), not_pooled=(NO_EVENTS,)),
            "pooling needs three sites, and 1 can enter it (left out: Milan (fewer than 20 events))",
        ),
        ("no", Fact("has_no", dataset="no", what="risk"), "Milan has no risk"),
        (
            "readers",
            Fact("readers_judged_elsewhere", judged="a", dataset="readers"),
            "the readers judged the cases of a, not those of Milan",
        ),
        (
            "rows",
            Fact("for_one_model", model="other model", reason=Fact("has_no", dataset="rows", what="clusters")),
            "for the other model, Milan has no clusters",
        ),
        ("auroc", Fact("not_computed", measure="auroc", dataset="auroc"), "auroc was not computed for Milan"),
        (
            "a",
            Fact("no_minimum_declared", measure="standardized_net_benefit"),
            "no minimum is declared for standardized net benefit",
        ),
        (
            "a",
            Fact("minimum_below_no_benefit", measure="standardized_net_benefit", minimum=-0.333),
            "a minimum of \N{MINUS SIGN}0.33 is no better than no model, so that reaching it shows no use",
        ),
    ],
)
def test_a_reason_names_a_site_and_a_measure_as_the_reader_knows_them(name: str, reason: Fact, printed: str) -> None:
    assert why(_called(name), reason) == printed


@pytest.mark.parametrize(
    ("reason", "printed"),
    [
        (Fact("has_no", dataset="men", what="risk"), "no risk"),
        (Fact("has_no_column", dataset="men", column="age"), "no column age"),
        (Fact("has_no", dataset="site-1", what="risk"), "Italy 2 has no risk"),
        (
            Fact("readers_judged_elsewhere", judged="site-1", dataset="men"),
            "the readers judged the cases of Italy 2 only",
        ),
        (
            Fact("refitted_splits_no_patients", dataset="men"),
            "the rows of Milan are refitted splits, not independent patients",
        ),
    ],
)
def test_a_dataset_that_is_named_beside_a_reason_is_not_named_again(reason: Fact, printed: str) -> None:
    assert why(_called("men"), reason, beside="men") == printed


def test_letters_do_not_run_out() -> None:
    reasons = Reasons(EIGHT)
    words = [reasons.cell(Absent(because(f"reason {index}"))).text.partition(numbers.TIED)[2] for index in range(60)]
    assert words[:2] == ["†a", "†b"]
    assert words[25:28] == ["†z", "†aa", "†ab"]
    assert len(set(words)) == 60


def test_no_number_gives_way_to_one_of_another_model_or_setting(book: Book) -> None:
    for term in filter(lambda term: term.on_page, book.evidence.terms.values()):
        results = [each for each in book.evidence.by_term[term.name] if "estimator" not in each.at]
        rows = [row for table in measures.tables_of(book.evidence, [term]) for row in table.rows]
        cells = [cell for row in rows for cell in row.cells if re.search(r"\d", cell.text) and "†" not in cell.text]
        assert len(cells) >= sum(isinstance(each.found, Estimate) for each in results), term.name


def test_a_site_without_any_number_is_named_below_the_table_and_has_no_row() -> None:
    results = [Result("auroc", "auroc", f"site-{position}", {}, estimate(0.8, 0.7, 0.9)) for position in (0, 1)]
    results.append(Result("auroc", "auroc", "site-3", {}, Absent(Fact("has_no", dataset="site-3", what="risk"))))
    (table,) = chapter_tables(dataclasses.replace(EIGHT, results=tuple(results)), "discrimination")
    assert [row.label for row in table.rows] == ["Italy 1", "Italy 2"]
    assert "Spain" in " ".join(table.footnotes)


def places(found: Evidence, chapter: str) -> list[list[Term]]:
    """The measures without a second setting of a chapter, as they are dealt out to tables."""
    members = [term for term in found.terms.values() if term.chapter == chapter and len(term.at) < 2]
    return measures._parts(found, members)


@pytest.mark.parametrize("chapter", ["discrimination", "calibration", "utility", "comparison", "correspondence"])
@pytest.mark.parametrize("sites", [COVID, _long(8), ("A",)], ids=["eight", "long", "one"])
def test_tables_stay_within_the_page(chapter: str, sites: tuple[str, ...]) -> None:
    found = by_hand(Case("wide", sites))
    label = min(max(text_width(label_of(site)) for site in found.datasets), LONG_LABEL)
    parts = places(found, chapter)
    for part in parts:
        assert label + sum(measures._width(found, term) for term in part) <= 168 or len(part) == 1
    assert [term for part in parts for term in part] == [
        term for term in found.terms.values() if term.chapter == chapter and len(term.at) < 2
    ]


@given(st.lists(st.floats(5, 200), min_size=1, max_size=12), st.floats(40, 168))
def test_packing_keeps_the_order_never_overfills_and_takes_no_part_too_many(widths: list[float], room: float) -> None:
    parts = packed(range(len(widths)), widths, room)
    assert [item for part in parts for item in part] == list(range(len(widths)))
    for part in parts:
        assert len(part) == 1 or math.fsum(widths[item] for item in part) <= room + 1e-9
    filled, left = 1, room
    for width in widths:
        if width > left and left < room:
            filled, left = filled + 1, room
        left -= width
    assert len(parts) == filled


def test_the_rows_of_a_table_say_what_is_apparent_and_what_is_pooled() -> None:
    developed = dataclasses.replace(EIGHT.datasets[0], name="development", role="development", site="Rho: Milan")
    evidence = dataclasses.replace(EIGHT, datasets=(*EIGHT.datasets, developed))
    labels = [label for _, label, _ in measures._row_labels(evidence, {"site-0", "development", "pooled"})]
    assert labels == ["Italy 1", "Development (apparent): Rho: Milan", "All external sites, pooled"]


def test_the_glossary_says_what_apparent_is_where_a_measure_is() -> None:
    evidence = dataclasses.replace(EIGHT, terms={"auroc": dataclasses.replace(PLAIN, name="auroc")})
    developed = dataclasses.replace(EIGHT.datasets[0], name="development", role="development")
    measured = Result("auroc", "auroc", "development", {}, estimate(0.8, 0.7, 0.9))
    with_it = dataclasses.replace(evidence, datasets=(developed,), results=(measured,))
    assert glossary.has_apparent(with_it, {"discrimination"})
    assert not glossary.has_apparent(with_it, {"calibration"})
    assert not glossary.has_apparent(evidence, {"discrimination"})


def noted(*terms: Term, **ways: tuple[Method, ...]) -> str:
    """The note of a table in which each dataset took the measures, one after the other, in these ways."""
    kinds = by_hand(Case("four", ("Italy 1", "Spain", "Brazil 1", "Ethiopia")))
    internal = dataclasses.replace(kinds.datasets[0], name="internal", role="internal", site="Milan")
    developed = dataclasses.replace(kinds.datasets[0], name="development", role="development", site="Rho")
    evidence = dataclasses.replace(kinds, datasets=(*externals(kinds), internal, developed))
    results = [
        Result(term.name, term.measure, name.replace("_", "-"), {}, Estimate(0.7, 0.6, 0.8, 0.95, 100, way))
        for name, each in ways.items()
        for term, way in zip(terms, each, strict=True)
    ]
    return note_of(evidence, results, terms).removeprefix("Value and 95% interval. ")


OTHER = Term("o", "o", "Another", "What it is.", "discrimination")


LOGIT = Fact("on_scale", scale="logit")
DELONG, EXACT, WALD, WILSON = (Method(code) for code in ("delong", "exact_variance", "wald", "wilson"))
LOG, WELCH = Method("log_method"), Method("welch")


def jackknife(clusters: int, groups: int | None = None) -> Method:
    """The interval of leaving out clusters, each or so many groups of them."""
    of = Count(clusters, "cluster")
    return Method(Fact("jackknife", groups=groups, clusters=of, df=(groups or clusters) - 1), LOGIT)


def test_a_note_says_every_way_and_where_it_was_taken() -> None:
    clustered = {"site_0": (jackknife(119),), "site_1": (jackknife(1355, 250),)}
    assert noted(PLAIN, development=(DELONG + LOGIT + "apparent",), **clustered) == (
        "Jackknife over clusters, logit; in development: DeLong, logit."
    )
    assert noted(PLAIN, site_0=(DELONG,), site_1=(jackknife(9),), internal=(DELONG,)) == (
        "DeLong; at Spain: jackknife over clusters, logit."
    )
    imputed = DELONG + Fact("rubin", imputations=5, test=False, scale=None)
    assert noted(PLAIN, site_0=(imputed,), site_1=(DELONG,)) == "DeLong; at Italy 1: 5 imputations by Rubin's rules."
    assert noted(PLAIN, site_0=(WALD,), internal=(LOG,), development=(LOG,), site_1=(WALD,)) == (
        "Wald; in the internal test and in development: log."
    )


def test_a_note_says_once_what_is_otherwise_for_every_measure() -> None:
    both = (WILSON, LOG)
    assert noted(PLAIN, OTHER, site_0=both, site_1=both, internal=(WELCH, WELCH)) == (
        "Some measure: Wilson. Another: log. In the internal test: Welch."
    )
    assert noted(PLAIN, OTHER, site_0=both, site_1=both, internal=(WELCH, LOG)) == (
        "Some measure: Wilson; in the internal test: Welch. Another: log."
    )


def test_a_note_leaves_out_what_holds_for_one_site_alone() -> None:
    tested = Fact("inverted_tests", draws=9)
    three, four = (Fact("spline", knots=len(at), at=at) for at in ((0.1, 0.5, 0.9), (0.05, 0.35, 0.65, 0.95)))
    assert noted(
        PLAIN,
        site_0=(Method(three, Fact("risks_clipped", risks=Count(2, "risk")), tested),),
        site_1=(Method(four, tested, "one_sided"),),
        site_2=(Method("straight_line", tested),),
    ) == (
        "Logistic, restricted cubic spline of logit p; bounds by inverting tests (hybrid resampling), 9 draws; at "
        "Brazil 1: logistic, straight line in logit p."
    )
    left_out = Fact("incomplete_rows", rows=Count(53, "row"))
    assert noted(PLAIN, site_0=(Method(Fact("permutation", draws=9), left_out),)) == "Permutation, 9 draws."
    lost = Method("bootstrap", Fact("replicates", kept=7, lost=2), "percentile", "complete_cases_unknown")
    assert noted(PLAIN, site_0=(lost,)) == "Bootstrap, percentile."


def test_a_note_speaks_of_the_intervals_that_are_printed() -> None:
    """A site without an interval says nothing of how that is made; where none has one, all speak of the values."""
    bare = Result("m", "m", "site-1", {}, dataclasses.replace(estimate(0.5), method=Method("value_only")))
    whole = Result("m", "m", "site-0", {}, dataclasses.replace(estimate(0.5, 0.4, 0.6), method=Method("wald")))
    assert note_of(EIGHT, [bare, whole], [PLAIN]) == "Value and 95% interval. Wald."
    assert note_of(EIGHT, [bare], [PLAIN]) == "Value only."


def test_a_caption_names_how_most_intervals_were_made_and_where_others_were() -> None:
    bare, whole = estimate(0.7), estimate(0.7, 0.6, 0.8)
    usual, other = (dataclasses.replace(whole, method=way) for way in (DELONG, jackknife(9)))
    found: list[tuple[str, Estimate | Curve | Absent]] = [("Rome", usual), ("Oslo", usual), ("Bern", bare)]
    assert intervals_of([*found, ("Ulm", Absent(because("one class")))]) == "DeLong"
    assert intervals_of([*found, ("Ulm", other)]) == "DeLong; jackknife over clusters at Ulm"
    assert intervals_of([*[("Ulm", other)] * 3, *found]) == ("jackknife over clusters; DeLong at Rome and Oslo"), (
        "that of most stands first"
    )
    assert intervals_of([*((f"site {k}", other) for k in range(4)), *[("Rome", usual)] * 5]).endswith(" at four sites")


def test_a_caption_claims_no_way_that_is_not_known() -> None:
    """Without a bound there is nothing to name; bounds made in another way are spelled out in the methods alone."""
    assert intervals_of([("Bern", estimate(0.7)), ("Ulm", Absent(because("one class")))]) == "no interval"
    assert intervals_of([("Bern", estimate(0.7, 0.6, 0.8))]) == "see Methods"
    assert intervals_of([("Bern", Curve({"low": (0.1,)}, 9, Method("wald")))]) == "see Methods"


@pytest.mark.parametrize(
    ("knots", "curve"),
    [
        (0.0, "a straight line"),
        (3.0, "a spline of 3 knots"),
        (3.4, "curves that differ between the imputations"),
        (4.0, None),
        (None, None),
    ],
)
def test_a_calibration_error_of_a_simpler_curve_is_marked_in_its_table(knots: float | None, curve: str | None) -> None:
    """On 99 events ICI is .020 with three knots and .027 with four: beside each other they mislead."""
    usual = dataclasses.replace(estimate(0.05, 0.02, 0.09), details={"knots": 4.0})
    marked = dataclasses.replace(usual, details={} if knots is None else {"knots": knots})
    results = tuple(
        Result("ici", "ici", name, {}, found)
        for name, found in (("site-0", usual), ("site-1", marked), ("site-2", usual))
    )
    table = next(
        candidate
        for candidate in chapter_tables(dataclasses.replace(EIGHT, results=results), "calibration")
        if any("0.05" in cell.text for row in candidate.rows for cell in row.cells)
    )
    marks = ["†" in cell.interval for row in table.rows for cell in row.cells if cell.text]
    expected = [footnote for footnote in table.footnotes if "spline of 4 knots" in footnote]
    assert marks == [False, curve is not None, False]
    assert len(expected) == (curve is not None)
    assert all(f"rom {curve}, not a spline of 4 knots" in text for text in expected)


def test_every_row_of_every_table_has_a_cell_for_every_column(book: Book) -> None:
    for chapter in {term.chapter for term in book.evidence.terms.values()}:
        for table in chapter_tables(book.evidence, chapter):
            for row in table.rows:
                assert len(row.cells) == (0 if row.kind == "group" else len(table.columns)), (table.name, row.label)


def test_every_estimate_of_a_chapter_stands_in_one_of_its_tables(book: Book) -> None:
    """Each external estimate that is printed is one cell; what the rows of all sites say stands under Pooled."""
    evidence = book.evidence
    for chapter in ("discrimination", "calibration", "utility"):
        terms = [term for term in evidence.terms.values() if term.chapter == chapter]
        names = {term.name for term in terms if term.on_page and not in_appendix_only(evidence, term)}
        here = [result for result in evidence.results if result.term in names and "estimator" not in result.at]
        wanted = sum(1 for result in here if isinstance(result.found, Estimate))
        cells = [
            cell
            for table in chapter_tables(evidence, chapter)
            for row in table.rows
            for cell in row.cells
            if cell.kind == "value"
        ]
        assert len(cells) == wanted, chapter


@pytest.mark.parametrize("site", [r"a\b", r"\1", "site-1", "North of site-1"])
def test_a_site_may_be_called_anything(site: str) -> None:
    first = dataclasses.replace(EIGHT.datasets[0], site=site)
    evidence = dataclasses.replace(EIGHT, datasets=(first, *EIGHT.datasets[1:]))
    assert why(evidence, Fact("has_no", dataset="site-0", what="risk")) == f"{site} has no risk"


def test_a_range_of_false_positive_rates_is_said_in_words() -> None:
    assert setting("0.2-1") == "0.2 to 1"
    assert setting("worst_split") == "worst split"
