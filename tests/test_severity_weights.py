"""The declared weights of errors on the page: whose they are, where they come from, and what is not reported."""

from __future__ import annotations

import datetime

from dossier.core.release import Release
from dossier.core.types import Evidence
from dossier.report.chapters import severity

PLAIN = {
    "release": {"model": "Example", "version": "2", "date": None, "owner": "Owner"},
    "outcome": {"name": "Readmission", "column": "outcome"},
    "prediction": {"column": "risk"},
    "dataset": ({"name": "bari", "role": "external", "file": "bari.csv"},),
}
WEIGHTS = ((0, 0.6), (0.3, 0))
SAID = {
    "source": "A survey of 40 surgeons.",
    "rationale": "A missed case waits a year",
    "set_by": "the board",
    "declared_on": datetime.date(2026, 5, 4),
}


def release(**declared: object) -> Release:
    return Release.model_validate({**PLAIN, "severity": {"weights": WEIGHTS, **declared}})


def of(declared: Release) -> Evidence:
    return Evidence(declared, (), (), (), (), (), {}, {}, (), {})


def evidence(**declared: object) -> Evidence:
    return of(release(**declared))


def test_rows_are_predicted_and_columns_true() -> None:
    (table,) = severity.weights(evidence())
    assert table.head == "Predicted"
    assert [(column.label, column.over) for column in table.columns] == [
        ("no", "Observed class"),
        ("yes", "Observed class"),
    ]
    assert [(row.label, *(cell.text for cell in row.cells)) for row in table.rows] == [
        ("no", "0", "0.6"),
        ("yes", "0.3", "0"),
    ]


def test_who_set_them_when_and_why() -> None:
    (table,) = severity.weights(evidence(**SAID))
    assert table.note == (
        "0 harmless, 1 the gravest. Source: A survey of 40 surgeons. Set by the board on 4\N{NO-BREAK SPACE}May 2026. "
        "A missed case waits a year."
    )
    (dated,) = severity.weights(evidence(declared_on=datetime.date(2026, 5, 4)))
    assert "Set on 4\N{NO-BREAK SPACE}May 2026." in dated.note


def test_what_is_not_said_is_said_to_be_missing() -> None:
    (table,) = severity.weights(evidence())
    assert table.note.endswith("Source: not reported. Who set them and when: not reported.")
    assert not severity.weights(of(Release.model_validate(PLAIN)))
