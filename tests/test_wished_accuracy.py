"""The nomogram read the other way: how reliable the labels must be for an accuracy that is wished."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dossier import evaluate, reading
from dossier.core.types import Evidence, find
from dossier.report.chapters import reliability
from dossier.report.figures.canvas import styled
from tests.estimated import estimated, refused
from tests.figures.drawings import sheet_of
from tests.smallest import HEAD, QUICK, SITE

READERS = '[readers]\nlabels = "labels.csv"\nconfidence = "confidence.csv"\ndataset = "site"\n'


def _evidence(folder: Path, more: str) -> Evidence:
    """100 cases of which the model gets 90 right, and three raters who agree on most."""
    rng = np.random.default_rng(7)
    outcome = np.repeat((0, 1), 50)
    right = np.tile(np.arange(10) != 3, 10)
    risk = np.where(right == (outcome == 1), 0.8, 0.2)
    labels = np.where(rng.random((100, 3)) < 0.9, outcome[:, None], 1 - outcome[:, None])
    rows = "".join(f"{truth},{value}\n" for truth, value in zip(outcome, risk, strict=True))
    (folder / "site.csv").write_text(f"outcome,risk\n{rows}")
    (folder / "labels.csv").write_text("a,b,c\n" + "\n".join(",".join(map(str, row)) for row in labels) + "\n")
    (folder / "confidence.csv").write_text("a,b,c\n" + "0.9,0.8,1\n" * 100)
    (folder / "release.toml").write_text(f"{HEAD}{QUICK}{SITE}{READERS}{more}")
    return evaluate.evidence(reading.study(folder))


def test_the_reliability_that_is_needed_is_the_finding(tmp_path: Path) -> None:
    """The worked example of the paper the other way: .801993 of .90 needs .57."""
    evidence = _evidence(tmp_path, "desired_accuracy = 0.801993\n")
    needed = estimated(find(evidence, "required_reliability", "site"))
    assert needed.value == pytest.approx(0.57, abs=5e-6)  # the paper's .801993 has six digits
    lead = reliability.finding(evidence).lead
    assert "; 0.57 (95%" in lead
    assert lead.endswith("is needed for the wished accuracy of 0.80 against the truth.")


def test_the_second_path_is_drawn_and_only_where_an_accuracy_is_wished(tmp_path: Path) -> None:
    lines = {}
    for more in ("", "desired_accuracy = 0.75\n"):
        folder = tmp_path / str(len(more))
        folder.mkdir()
        evidence = _evidence(folder, more)
        with styled():
            drawn = sheet_of("reliability")(evidence)
            assert not hasattr(drawn, "reason")
            lines[more] = {text.get_text() for axes in drawn.axes for text in axes.texts} | {
                text.get_text() for text in drawn.texts
            }
    assert "0.75 wished" in lines["desired_accuracy = 0.75\n"] - lines[""]
    needed = (2 * 0.75 - 1) ** 2 / (2 * 0.9 - 1) ** 2
    assert f"{needed:.2f}" in lines["desired_accuracy = 0.75\n"]


def test_an_accuracy_above_the_measured_one_cannot_be_had_and_it_is_said_why(tmp_path: Path) -> None:
    lead = reliability.finding(_evidence(tmp_path, "desired_accuracy = 0.95\n")).lead
    assert "; which is needed cannot be said: the desired accuracy is 0.95, above the measured 0.90" in lead


def test_a_wish_goes_before_a_criterion(tmp_path: Path) -> None:
    criterion = (
        '[[acceptance]]\nmeasure = "actual_accuracy"\ndataset = "site"\nat_least = 0.6\ndeclared_on = 2026-01-01\n'
        'reason = "The outcome is a judgement."\n'
    )
    found: list[float | None] = []
    for more in (criterion, f"desired_accuracy = 0.7\n{criterion}"):
        folder = tmp_path / str(len(found))
        folder.mkdir()
        needed = estimated(find(_evidence(folder, more), "required_reliability", "site"))
        found.append(needed.details["desired_accuracy"])
    assert found == [0.6, 0.7]


def test_less_than_one_half_is_no_wish(tmp_path: Path) -> None:
    (fault,) = refused(_evidence, tmp_path, "desired_accuracy = 0.4\n").faults
    assert fault.where == "release.toml, [readers] desired_accuracy"
