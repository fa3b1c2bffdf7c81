"""Readers' tables of an outcome of several classes: labels by name or number, and what does not apply is absent."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dossier import evaluate, reading
from dossier.core.types import Absent, Evidence, Floats, Withheld, find, find_curve
from dossier.metrics.reliability import weighted_concordance
from dossier.report import compose, draw
from tests.estimated import estimated, present, refused
from tests.reasons import Said
from tests.smallest import ABOUT, QUICK, release_in

RELEASE = (
    ABOUT
    + """[outcome]
name = "Grade"
column = "grade"
classes = {classes}
[prediction]
columns = {columns}
{quick}
[[dataset]]
name = "site"
role = "external"
file = "site.csv"
[readers]
labels = "labels.csv"
confidence = "confidence.csv"
dataset = "site"
header = {header}
{more}
"""
)
NAMES = ("low", "middle", "high")
ONE, OTHER, TRUE = (np.array(list(text), dtype=int) for text in ("0120120120", "0120110120", "0120120121"))
"""Two readers of ten cases who agree on nine; the first errs once, the second twice."""


def _write(folder: Path, names: tuple[str, ...], cells: tuple[str, ...], header: bool = True, more: str = "") -> Path:
    columns = [f"p{k}" for k in range(len(names))]
    risks = [[f"{0.8 if k == true else 0.2 / (len(names) - 1):g}" for k in range(len(names))] for true in TRUE]
    rows = [",".join([names[true], *risk]) for true, risk in zip(TRUE, risks, strict=True)]
    (folder / "site.csv").write_text("\n".join([",".join(["grade", *columns]), *rows]) + "\n")
    head = ["anna,bob"] if header else []
    labels = [f"{cells[a]},{cells[b]}" for a, b in zip(ONE, OTHER, strict=True)]
    (folder / "labels.csv").write_text("\n".join([*head, *labels]) + "\n")
    (folder / "confidence.csv").write_text("\n".join([*head, *["0.5,0.5"] * len(ONE)]) + "\n")
    text = RELEASE.format(classes=list(names), columns=columns, quick=QUICK, header=str(header).lower(), more=more)
    return release_in(folder, text)


def _labels(folder: Path) -> Floats:
    (found,) = reading.study(folder).readers
    assert list(present(found.truth)) == list(TRUE)
    return found.labels


def _evidence(folder: Path, more: str = "") -> Evidence:
    return evaluate.evidence(reading.study(_write(folder, NAMES, NAMES, more=more)))


@pytest.mark.parametrize(
    ("names", "cells"),
    [
        (NAMES, NAMES),
        (NAMES, ("0", "1", "2")),
        (("1", "2", "3"), ("1", "2", "3")),
        (("low", "middle", "2"), ("low", "middle", "2")),
    ],
    ids=["by name", "by number", "classes called by numbers", "one class called by a number"],
)
@pytest.mark.parametrize("header", [True, False])
def test_a_label_is_the_name_of_a_class_or_its_number(
    names: tuple[str, ...], cells: tuple[str, ...], header: bool, tmp_path: Path
) -> None:
    labels = _labels(_write(tmp_path, names, cells, header))
    assert list(labels[:, 0]) == list(ONE)
    assert list(labels[:, 1]) == list(OTHER)


def test_where_a_class_is_called_by_a_number_no_other_number_is_taken(tmp_path: Path) -> None:
    """0 could be the class that is called 1: it is asked instead."""
    raised = refused(reading.study, _write(tmp_path, ("1", "2", "3"), ("0", "1", "2")))
    assert {fault.code for fault in raised.faults} == {"label_not_class"}


def test_the_confidence_of_a_class_is_weighed_by_how_many_there_are(tmp_path: Path) -> None:
    """By hand: c = .5 of 3 classes is .5 / (.5 + .5 / 3) = .75; right in 9 and 8 of 10, they agree on 9 of 10."""
    evidence = _evidence(tmp_path)
    rho = estimated(find(evidence, "weighted_concordance", "site"))
    assert rho.value == pytest.approx(0.9 * 0.75**2 * 0.72 / (0.72 + 0.1 * 0.2))
    agreement = estimated(find(evidence, "observed_agreement", "site"))
    assert agreement.value == pytest.approx(0.9)


def test_of_two_classes_the_numbers_are_those_of_a_binary_outcome() -> None:
    """Also where nobody gave one of more classes: how many there are is declared, not seen."""
    rng = np.random.default_rng(2)
    labels, confidence = rng.integers(2, size=(30, 4)).astype(float), rng.random((30, 4))
    plain = weighted_concordance(labels, confidence)
    assert weighted_concordance(labels, confidence, class_labels=("no", "yes")) == plain
    more = estimated(weighted_concordance(labels, confidence, class_labels=("no", "yes", "unseen")))
    assert more.value > estimated(plain).value


def test_what_is_of_two_classes_says_so(tmp_path: Path) -> None:
    evidence = _evidence(tmp_path)
    for name in ("rater_rates", "reliability_nomogram", "actual_accuracy_bounds"):
        assert find_curve(evidence, name, "site") == Said("it is of an outcome of two classes")
    for measure in ("actual_accuracy", "required_reliability"):
        assert isinstance(find(evidence, measure, "site"), Absent)


def test_the_chapter_of_classes_has_its_table_and_no_line(tmp_path: Path) -> None:
    html = compose.document(draw.gallery(_evidence(tmp_path)), "regulatory").html
    part = html.split('id="chapter-reliability"')[1].split('id="chapter-')[0]
    assert "Fleiss" in part
    assert "shaded area" not in part
    assert "<figure" not in part


def test_where_small_counts_are_protected_nothing_of_the_readers_is_given(tmp_path: Path) -> None:
    evidence = _evidence(tmp_path, more="[disclosure]\nminimum_cell = 5\n")
    for measure in ("observed_agreement", "weighted_concordance", "fleiss_kappa"):
        assert isinstance(find(evidence, measure, "site"), Withheld)
    assert isinstance(find_curve(evidence, "raters_one_by_one", "site"), Withheld)
