"""Withheld cells are unknowns of linear equations: the printed totals must leave each more than one value."""

from __future__ import annotations

import ast
import dataclasses
import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp

from dossier import evaluate, reading, results
from dossier.evaluate import withheld
from dossier.evaluate.withheld import curves, descriptions, tables
from dossier.evaluate.withheld.results import names_few, of_counts
from dossier.evaluate.withheld.tables import _Row as Row
from dossier.metrics.logistic import clipped
from dossier.metrics.subgroups import too_few_of_classes
from dossier.register import fill
from dossier.types import CountedRows, Estimate, Flag, Study, Subset, Withheld
from tests.canaries import plant
from tests.smallest import HEAD, SITE

Equation = tuple[Mapping[str, float], float]
"""The cells with their factors, and what they add up to."""

MOST = 10_000
"""More patients than any table has."""

POLICY = "[disclosure]\nminimum_cell = 10\n"


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """A release with small cells in every table."""
    folder = tmp_path_factory.mktemp("cells") / "release"
    plant(folder, POLICY)
    return reading.study(folder)


def _results(study: Study) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(results.of(evaluate.evidence(study)).text())
    return found


@pytest.fixture(scope="module")
def printed(study: Study) -> dict[str, Any]:
    """results.json under the policy."""
    return _results(study)


# ---- the equations of what is printed -------------------------------------------------------------------------------


def equations(results: dict[str, Any], study: Study) -> Iterator[Equation]:
    """What a reader can write down: rows of the flow, subgroups, categories, and tables at each threshold."""
    described: dict[tuple[str, str, str], dict[str | None, float | None]] = {}
    for row in results["description"]:
        key = (row["dataset"], row["variable"], row["statistic"])
        described.setdefault(key, {})[row["level"]] = row["value"]
    estimates: dict[tuple[str, str, float], float] = {
        (row["dataset"], row["measure"], row["at"]["threshold"]): row["value"]
        for row in results["estimates"]
        if row["subset"] is None and set(row["at"]) == {"threshold"} and row["value"] is not None
    }
    of_subsets = {
        (row["dataset"], Subset(**row["subset"]), row["at"]["threshold"]): row["value"]
        for row in results["estimates"]
        if row["subset"]
        and row["measure"] == "net_benefit"
        and set(row["at"]) == {"threshold"}
        and row["value"] is not None
    }
    for dataset in results["datasets"]:
        name, n = dataset["name"], dataset["n"]
        lost = {f"{name} lost {one['reason']}": _number(one["rows"]) for one in dataset["excluded"]}
        yield from _known({f"{name} read": _number(dataset["rows_read"]), f"{name} events": dataset["events"], **lost})
        yield {f"{name} read": 1, **dict.fromkeys(lost, -1)}, n
        yield {f"{name} events": 1, f"{name} non-events": 1}, n
        if dataset["role"] != "development":
            for column in ("sex", "ward"):
                yield from _subgroups(name, column, results["subgroups"], of_subsets, study)
        for threshold in study.release.thresholds.declared:
            cells = {kind: f"{name} {kind} {threshold}" for kind in ("tp", "fp", "fn", "tn")}
            yield {cells["tp"]: 1, cells["fn"]: 1, f"{name} events": -1}, 0
            yield {cells["fp"]: 1, cells["tn"]: 1, f"{name} non-events": -1}, 0
            shares = (("sensitivity", "tp", "fn"), ("specificity", "tn", "fp"))
            for measure, right, wrong in shares:
                share = estimates.get((name, measure, threshold))
                if share is not None:
                    yield {cells[right]: 1 - share, cells[wrong]: -share}, 0
        yield from _categories(name, n, described)


def _number(count: int | Mapping[str, Any]) -> int | None:
    """A count of results.json; None where it is withheld."""
    return count if isinstance(count, int) else None


def _known(counts: Mapping[str, float | None]) -> Iterator[Equation]:
    for cell, count in counts.items():
        if count is not None:
            yield {cell: 1}, count


def _subgroups(
    name: str,
    column: str,
    rows: Sequence[Mapping[str, Any]],
    of_subsets: Mapping[tuple[str, Subset, float], float],
    study: Study,
) -> Iterator[Equation]:
    sizes = [
        row for row in rows if (row["dataset"], row["subset"]["column"]) == (name, column) and row["n"] is not None
    ]
    patients = {row["subset"]["level"]: row["n"] for row in sizes}
    happened = {row["subset"]["level"]: row["events"] for row in sizes}
    # The levels are known to whoever knows the column.
    here = next(one for one in study.datasets if one.name == name)
    levels = [one.label for one in here.subgroups if one.column == column]
    places = [*levels, None]
    for kind in ("events", "non-events"):
        yield {f"{name} {column} {level} {kind}": 1 for level in places} | {f"{name} {kind}": -1}, 0
    for level, count in happened.items():
        yield {f"{name} {column} {level} events": 1}, count
    for level, count in patients.items():
        yield {f"{name} {column} {level} events": 1, f"{name} {column} {level} non-events": 1}, count
    for count in {row["unassigned"] for row in sizes if isinstance(row["unassigned"], int)}:
        yield {f"{name} {column} None events": 1, f"{name} {column} None non-events": 1}, count
    for threshold in study.release.thresholds.declared:
        for kind in ("tp", "fp", "fn", "tn"):
            yield (
                {f"{name} {column} {level} {kind} {threshold}": 1 for level in places}
                | {f"{name} {kind} {threshold}": -1},
                0,
            )
        for place in places:
            cell = f"{name} {column} {place}"
            yield {f"{cell} tp {threshold}": 1, f"{cell} fn {threshold}": 1, f"{cell} events": -1}, 0
            yield {f"{cell} fp {threshold}": 1, f"{cell} tn {threshold}": 1, f"{cell} non-events": -1}, 0
        for level in levels:
            cell = f"{name} {column} {level}"
            benefit = of_subsets.get((name, Subset(column, level), threshold))
            if benefit is not None:
                odds = threshold / (1 - threshold)
                yield {f"{cell} tp {threshold}": 1, f"{cell} fp {threshold}": -odds}, benefit * patients[level]


def _categories(
    name: str, n: int, described: Mapping[tuple[str, str, str], Mapping[str | None, float | None]]
) -> Iterator[Equation]:
    for (dataset, variable, statistic), counts in described.items():
        if dataset == name and statistic == "missing":
            levels = described.get((name, variable, "count"), {})
            yield from _known({f"{name} {variable} missing": counts[None]})
            yield from _known({f"{name} {variable} {level}": count for level, count in levels.items()})
            cells = [f"{name} {variable} {level}" for level in levels] or [f"{name} {variable} known"]
            yield dict.fromkeys([*cells, f"{name} {variable} missing"], 1), n


# ---- the solver -----------------------------------------------------------------------------------------------------


def solved(found: list[Equation], below: int = 10) -> dict[str, int]:
    """The cells of 1 up to below the smallest count that have one value only."""
    groups: list[tuple[set[str], list[Equation]]] = []
    for equation in found:
        cells = set(equation[0])
        touching = [group for group in groups if group[0] & cells]
        groups = [group for group in groups if not group[0] & cells]
        joined: set[str] = cells.union(*(group[0] for group in touching))
        groups.append((joined, [*(one for group in touching for one in group[1]), equation]))
    told: dict[str, int] = {}
    for cells, these in groups:
        told |= _solved(sorted(cells), these, below)
    return told


def _solved(cells: list[str], found: list[Equation], below: int) -> dict[str, int]:
    matrix = np.array([[factors.get(cell, 0.0) for cell in cells] for factors, _ in found])
    totals = np.array([total for _, total in found])
    rules = LinearConstraint(matrix, totals - 1e-6, totals + 1e-6)
    told: dict[str, int] = {}
    for place, cell in enumerate(cells):
        ends = []
        for sign in (1, -1):
            aim = np.zeros(len(cells))
            aim[place] = sign
            answer = milp(aim, constraints=rules, integrality=np.ones(len(cells)), bounds=Bounds(0, MOST))
            assert answer.status == 0, answer.message
            ends.append(round(sign * answer.fun))
            if sign == 1 and ends[0] >= below:
                break
        if len(ends) == 2 and ends[0] == ends[1] and 0 < ends[0] < below:
            told[cell] = ends[0]
    return told


def test_no_small_cell_has_a_single_solution(printed: dict[str, Any], study: Study) -> None:
    assert solved(list(equations(printed, study))) == {}


def test_the_printed_tables_hold_withheld_cells(printed: dict[str, Any]) -> None:
    flow = {one["name"]: one for one in printed["datasets"]}
    assert flow["rare"]["events"] is None
    assert flow["large"]["rows_read"].keys() == {"withheld", "below"}
    assert "tiny" not in flow
    assert any(one["status"] == "withheld" for one in printed["estimates"])
    assert not any(
        one["value"] is not None and 0 < one["value"] < 10
        for one in printed["description"]
        if one["statistic"] in ("count", "missing", "events")
    )


def test_rows_in_no_subgroup_are_not_told_where_they_are_withheld(printed: dict[str, Any]) -> None:
    withheld = {(row["dataset"], row["column"]) for row in printed["unassigned_withheld"]}
    shown = [row for row in printed["subgroups"] if row["status"] == "estimated"]
    hidden = [row for row in shown if (row["dataset"], row["subset"]["column"]) in withheld]
    assert hidden
    assert all(row["unassigned"].keys() == {"withheld", "below"} for row in hidden)
    assert all(row["unassigned"] == 0 or row["unassigned"] >= 10 for row in shown if row not in hidden)


def test_without_secondary_suppression_the_solver_finds_the_cells(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "suppressed", lambda rows, below: [row for row in rows if row.is_small(below)])
    monkeypatch.setattr(
        descriptions, "together", lambda counts, below: frozenset(k for k, v in counts.items() if 0 < v < below)
    )
    told = solved(list(equations(_results(study), study)))
    assert any(" sex " in cell for cell in told)
    truth = {(one.name, sub.label): sub for one in study.datasets for sub in one.subgroups}
    assert truth
    assert any("fever" in cell or "ward" in cell for cell in told)


@pytest.mark.parametrize("seed", range(200))
def test_what_is_left_of_a_total_is_never_one_line_nor_a_small_count(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(0, 60, rng.integers(2, 7))
    rows = [Row(str(place), int(n), int(rng.integers(0, n + 1))) for place, n in enumerate(sizes)]
    hidden = tables.suppressed(rows, 10)
    assert all(row in hidden for row in rows if row.is_small(10))
    if hidden and len(hidden) < sum(row.n > 0 for row in rows):
        assert len([row for row in hidden if row.n]) >= 2
        n, events = sum(row.n for row in hidden), sum(row.events for row in hidden)
        assert min(events, n - events) >= 10


def test_a_site_without_events_has_no_share_of_them_under_a_policy(tmp_path: Path) -> None:
    rows = "\n".join(f"0,{0.1 + 0.008 * k:.3f}" for k in range(100))
    (tmp_path / "site.csv").write_text(f"outcome,risk\n{rows}\n", encoding="utf-8")
    (tmp_path / "release.toml").write_text(f"{HEAD}{POLICY}[resampling]\nbootstrap = 2\n{SITE}", encoding="utf-8")
    found = _results(reading.study(tmp_path))
    (risks,) = (one for one in found["curves"] if one["curve"] == "risk_distribution" and one["dataset"] == "site")
    assert set(risks["columns"]["share_events"]) == {None}
    assert sum(risks["columns"]["share_non_events"]) == pytest.approx(1)


def test_every_curve_has_a_rule() -> None:
    register = fill("metrics")
    shelves = (register.curves, register.class_curves, register.curve_syntheses, register.class_curve_syntheses)
    made = {name for shelf in shelves for name in shelf} | {"points", "points_total", "points_risk"}
    assert made == set(curves.RULES)


def test_without_a_policy_the_evidence_is_untouched(study: Study) -> None:
    free = dataclasses.replace(
        study, datasets=tuple(dataclasses.replace(one, minimum_cell=0) for one in study.datasets)
    )
    assert not any(one["status"] == "withheld" for one in _results(free)["estimates"])


# ---- flags ----------------------------------------------------------------------------------------------------------

EQUAL = CountedRows(3, "In north 5,000 rows are read, of which ", " are equal.", " is equal.")


@pytest.mark.parametrize(
    ("flag", "says"),
    [
        (
            Flag.of_rows("duplicate_rows", "north", EQUAL),
            "In north 5,000 rows are read, of which fewer than 10 rows are",
        ),
        (
            Flag.of_rows("duplicate_rows", "north", dataclasses.replace(EQUAL, count=1)),
            "In north 5,000 rows are read, of which fewer than 10 rows are",
        ),
        (
            Flag.of_rows("duplicate_rows", "north", dataclasses.replace(EQUAL, count=10)),
            "In north 5,000 rows are read, of which 10 rows are",
        ),
        (Flag("other_categories", "north", "ward is 2 rows in north are"), "ward is 2 rows in north are"),
        (
            Flag.of_rows("code_for_missing", "north", CountedRows(4, 'ward is "2 rows" in ', " of north are")),
            'ward is "2 rows" in fewer than 10 rows of north are',
        ),
    ],
)
def test_a_flag_withholds_the_rows_that_it_counts_and_no_other_word(flag: Flag, says: str) -> None:
    told = withheld._flag(flag, 10, withheld=False)
    assert told.says.removesuffix(" equal.") == says
    assert told.rows is None or told.rows.count >= 10


def test_a_withheld_number_of_rows_is_said_as_one() -> None:
    found = withheld._flag(Flag.of_rows("in_no_subgroup", "north", dataclasses.replace(EQUAL, count=40)), 10, True)
    assert found.says == "In north 5,000 rows are read, of which a number of rows that is withheld are equal."
    assert found.rows is None


def test_one_row_is_not_in_the_plural() -> None:
    assert dataclasses.replace(EQUAL, count=1).says().endswith("of which 1 row is equal.")
    assert CountedRows(1, "No risk in ", " of north.").says() == "No risk in 1 row of north."


@pytest.mark.parametrize(("drawn_from", "is_withheld"), [(40, True), (45, False), (30, False)])
def test_rows_that_chance_leaves_out_are_no_small_count(drawn_from: float, is_withheld: bool) -> None:
    """Of 45 rows 38 are drawn, which is no secret; that 5 had no predictors, and could not be drawn, is one."""
    found = Estimate(0.5, None, None, None, 38, "permutation", details={"external_of": drawn_from})
    shown = of_counts(fill("metrics").metrics["degree_of_correspondence"], found, 10, 45)
    assert isinstance(shown, Withheld) is is_withheld


# ---- the counts in a method or a reason -----------------------------------------------------------------------------

OF_PATIENTS = ("cases", "events", "non-events", "patients", "risks", "row", "rows", "decisions", "clusters")
OF_OTHERS = (
    *(
        "answers",
        "bins",
        "characters",
        "clusters",
        "columns",
        "datasets",
        "degrees",
        "dimensions",
        "values",
        "draws",
        "equal-width",
        "external",
        "groups",
        "hours",
        "imputations",
    ),
    *("knots", "pairs", "parts", "permutations", "points", "raters", "readers", "replicates", "sign", "sites"),
    *("subsamples", "bootstrap", "random", "refitted"),
)
"""What else is counted in these sentences, or stands between the number and what is."""
NO_NOUNS = (
    *("against", "allow", "asks", "count", "does", "has", "holds", "judged", "labelled", "scale", "spread", "quantile"),
    *("is", "as", "wide", "decided", "ended"),
)


COUNTED_WORD = re.compile(r"^ ([a-z][a-z-]*s|row|external|random|refitted|bootstrap|sign)\b")


def _counted_in_the_sources() -> set[str]:
    """The words that stand behind a value in the sentences of the measures."""
    folder = Path(evaluate.__file__).parent
    found = set()
    for path in sorted([*folder.rglob("*.py"), *(folder.parent / "metrics").rglob("*.py")]):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            parts = node.values if isinstance(node, ast.JoinedStr) else []
            for value, text in itertools.pairwise(parts):
                if isinstance(value, ast.FormattedValue) and isinstance(text, ast.Constant):
                    found |= set(COUNTED_WORD.findall(str(text.value)))
    return found


def test_every_count_that_a_method_or_a_reason_can_hold_is_seen() -> None:
    assert _counted_in_the_sources() <= {*OF_PATIENTS, *OF_OTHERS, *NO_NOUNS}
    for noun in OF_PATIENTS:
        assert names_few(f"logit; 3 {noun} left out", 10)
        assert not names_few(f"logit; 10 {noun} left out", 10)


def test_the_sentences_that_count_in_other_words_are_seen() -> None:
    assert [names_few(clipped(np.array([0.0] * few + [0.5])), 10) for few in (0, 1, 9, 10)] == [
        False,
        True,
        True,
        False,
    ]
    for counts, seen in (({"G0": 12, "G1": 3}, True), ({"G0": 3, "G1": 12}, True), ({"G0": 12, "G1": 10}, False)):
        said = too_few_of_classes(counts, " of women")
        assert said is not None
        assert names_few(said.reason, 10) is seen
    assert names_few("the raters judged 3 of the 12 cases", 10)
    assert not names_few("count of 3 judged of 8 external sites", 10)
