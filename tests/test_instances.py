"""The table of the instances of H-accuracy: every one once, with the settings that it rests on."""

from __future__ import annotations

import dataclasses

from dossier.core.facts import Method
from dossier.core.register import fill
from dossier.core.types import Estimate, Evidence, Result
from dossier.report.chapters import accuracy
from tests.figures.evidence import CASES, evidence


def with_instances() -> Evidence:
    found = evidence(next(case for case in CASES if case.name == "two"))
    terms = {name: entry.term for name, entry in fill("metrics").metrics.items()}
    made: list[Result] = []
    for value, priority, tau, complexity, details in (
        (0.70, 0.5, 0.5, "constant", {}),
        (0.71, "survey", 0.5, "constant", {"priority": 0.62}),
        (0.72, 0.5, "right_80", "constant", {"tau": 0.6}),
        (0.73, 0.5, 0.5, "raters", {"left_out": 0.0}),
        (0.74, 0.5, 0.5, "raters_top_33%", {"left_out": 0.0, "cut": 0.48}),
        (0.75, "survey", "right_80", "raters", {"priority": 0.62, "tau": 0.6, "left_out": 0.0}),
    ):
        at = {"priority": priority, "tau": tau, "complexity": complexity}
        one = Estimate(value, value - 0.1, value + 0.1, 0.95, 90, Method("wald"), details=details)
        made.append(Result("h_accuracy", "h_accuracy", "site-0", at, one))
    plain = Estimate(0.5, 0.4, 0.6, 0.95, 90, Method("wald"))
    at = {"priority": 0.5, "tau": 0.5, "complexity": "constant"}
    made.append(Result("h_accuracy", "h_accuracy", "site-1", at, plain))
    return dataclasses.replace(found, results=(*found.results, *made), terms=terms)


def test_every_instance_stands_once_with_its_settings() -> None:
    (table,) = accuracy.side_by_side(with_instances())
    rows = {row.label: [cell.text for cell in row.cells] for row in table.rows if row.kind == "row"}
    assert rows == {
        "Both classes alike": ["0.70", "0.50", "0.50", "all alike"],
        "Priority from survey": ["0.71", "0.62", "0.50", "all alike"],
        "80% of right answers": ["0.72", "0.50", "0.60", "all alike"],
        "Raters top 33%": ["0.74", "0.50", "0.50", "from 0.48"],
        "Raters": ["0.73", "0.50", "0.50", "as graded"],
    }
    assert [row.label for row in table.rows if row.kind == "group"] == [
        "Balanced",
        "Prioritized",
        "Confident, by the raters",
        "Practical",
    ]
    assert len([row for row in table.rows if row.kind == "row"]) == 5


def test_the_tables_over_all_sites_leave_to_it_what_only_raters_say() -> None:
    (confident,) = accuracy.instances(with_instances())
    assert [column.label for column in confident.columns] == ["Confidence 0.50"]
