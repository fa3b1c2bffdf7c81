"""Numbers that the author typed into a statement, held against what was found."""

from __future__ import annotations

import dataclasses

import pytest

from dossier.core.types import find
from dossier.evaluate.typed_numbers import not_found
from dossier.typeset.flags import flag_text
from tests.conftest import Book
from tests.estimated import estimated


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("AUROC was 0.95 everywhere.", "AUROC 0.95 in statement 4"),
        ("The AUROC of knee-1 is {auroc:.2f}.", ""),
        ("The auroc was {auroc:.3f}, and the sensitivity at 0.5 was {sensitivity:.0f}%.", ""),
        ("Sensitivity at 0.5 was 99.9%.", "Sensitivity 99.9% in statement 4"),
        (
            "The O/E was 7.5, and PPV 99.7%.",
            "Observed to expected ratio 7.5 in statement 4, Positive predictive value 99.7%",
        ),
        ("The c statistic was somewhat 0.994.", "AUROC 0.994 in statement 4"),
        ("The ICI was 0.9.", "Integrated calibration index 0.9 in statement 4"),
        ("The AUROC should be at least 0.99; 2,000 patients of 65 years were asked for.", ""),
        ("A sensitivity analysis left out 12.5% of the rows.", ""),
        ("Of the patients 37.5% smoked. The Brier score was .5.", "Brier score .5 in statement 4"),
    ],
)
def test_a_typed_number_that_is_no_result_is_a_flag(books: dict[str, Book], text: str, said: str) -> None:
    evidence = books["knee"].evidence
    auroc, found = find(evidence, "auroc", "knee-1"), find(evidence, "sensitivity", "knee-1", threshold=0.5)
    typed = text.format(auroc=estimated(auroc).value, sensitivity=100 * estimated(found).value)
    flags = not_found(dataclasses.replace(evidence, statements={"4": typed}))
    assert [flag.flag for flag in flags] == (["number_not_found"] if said else [])
    assert all(said in flag_text(flag.fact) for flag in flags)


def test_no_release_of_ours_types_a_number_that_is_no_result(any_book: Book) -> None:
    assert not [flag for flag in any_book.evidence.flags if flag.flag == "number_not_found"]
