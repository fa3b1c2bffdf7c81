"""Severity weights of subgroups: which rows they hold for, in a subgroup, over all rows, and under a policy."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from dossier import evaluate, reading
from dossier.core.facts import Fact
from dossier.core.types import Absent, Estimate, Evidence, Subset, Withheld, find, find_in_subgroup
from dossier.record import seal
from dossier.report.chapters import severity
from dossier.typeset.numbers import plain
from tests.estimated import absent, estimated, interval_of
from tests.reasons import Said
from tests.smallest import HEAD, QUICK

RELEASE = f"""{HEAD}{QUICK}
[[dataset]]
name = "rome"
role = "external"
file = "rome.csv"
[[dataset]]
name = "bari"
role = "external"
file = "bari.csv"
[[subgroup]]
column = "sex"
[severity]
source = "A survey"
weights = [[0, 0.6], [0.3, 0]]
"""
OWN = '[[severity.subgroup]]\ncolumn = "sex"\nlevel = "f"\nweights = [[0, 1.0], [0.5, 0]]\n'
THRESHOLD = 0.5
MAIN, OF_WOMEN = ((0.0, 0.6), (0.3, 0.0)), ((0.0, 1.0), (0.5, 0.0))


def rows() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """400 patients; the sex of every tenth is not known."""
    rng = np.random.default_rng(11)
    y = (rng.random(400) < 0.45).astype(int)
    p = np.round(np.clip(0.5 + 0.2 * (2 * y - 1) + rng.normal(0, 0.25, 400), 0.01, 0.99), 4)
    sex = np.array([["f", "m"][k] for k in rng.integers(0, 2, 400)], dtype=object)
    sex[::10] = ""
    return y, p, sex


def folder(path: Path, more: str = OWN) -> Path:
    y, p, sex = rows()
    lines = [f"{a},{b},{c}" for a, b, c in zip(y, p, sex, strict=True)]
    (path / "rome.csv").write_text("\n".join(["outcome,risk,sex", *lines]) + "\n")
    (path / "bari.csv").write_text("\n".join(["outcome,risk", *(line.rsplit(",", 1)[0] for line in lines)]) + "\n")
    (path / "release.toml").write_text(RELEASE + more)
    return path


@pytest.fixture(scope="module")
def weighed(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    return evaluate.evidence(reading.study(folder(tmp_path_factory.mktemp("weighed"))))


def by_hand(which: Mapping[str, tuple[tuple[float, ...], ...]], of: tuple[str, ...]) -> tuple[float, float]:
    """The mean severity and the index at the threshold, row by row."""
    total, errors, count = 0.0, 0, 0
    for y, p, sex in zip(*rows(), strict=True):
        if sex in of:
            predicted = int(p >= THRESHOLD)
            total += which[str(sex)][predicted][int(y)]
            errors += predicted != y
            count += 1
    return total / count, 10 * total / errors


def value(found: Estimate | Absent) -> float:
    return estimated(found).value


BY_SEX = {"f": OF_WOMEN, "m": MAIN, "": MAIN}


@pytest.mark.parametrize("level", ["f", "m"])
def test_a_subgroup_is_weighed_by_its_own_matrix(weighed: Evidence, level: str) -> None:
    mean, index = by_hand(BY_SEX, (level,))
    for measure, wanted in (("mean_severity", mean), ("error_severity_index", index)):
        found = find_in_subgroup(weighed, Subset("sex", level), measure, "rome", threshold=THRESHOLD)
        assert value(found) == pytest.approx(wanted, abs=1e-12)


def apart(evidence: Evidence, dataset: str, measure: str) -> Estimate | Absent:
    """How far women lie from men."""
    return find_in_subgroup(evidence, Subset("sex", "f"), measure, dataset, threshold=THRESHOLD, against="complement")


@pytest.mark.slow
@pytest.mark.parametrize("measure", ["mean_severity", "error_severity_index"])
@pytest.mark.parametrize("policy", ["", "[disclosure]\nminimum_cell = 5\n"])
def test_severities_on_two_scales_are_not_compared(tmp_path: Path, measure: str, policy: str) -> None:
    evidence = evaluate.evidence(reading.study(folder(tmp_path, policy + OWN)))
    assert absent(apart(evidence, "rome", measure)).reason == Fact("severity_of_two_scales", column="sex")
    assert isinstance(find_in_subgroup(evidence, Subset("sex", "f"), measure, "rome", threshold=THRESHOLD), Estimate)


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["", "[disclosure]\nminimum_cell = 5\n"])
def test_severities_on_one_scale_are_compared(tmp_path: Path, policy: str) -> None:
    alike = OWN.replace("[[0, 1.0], [0.5, 0]]", "[[0, 0.6], [0.3, 0]]")
    evidence = evaluate.evidence(reading.study(folder(tmp_path, policy + alike)))
    women, men = (
        value(find_in_subgroup(evidence, Subset("sex", level), "mean_severity", "rome", threshold=THRESHOLD))
        for level in ("f", "m")
    )
    assert value(apart(evidence, "rome", "mean_severity")) == pytest.approx(women - men, abs=1e-9)


def test_the_page_has_the_severity_of_each_level(weighed: Evidence) -> None:
    (table,) = severity.by_subgroup(weighed)
    (row,) = table.rows
    assert (row.label, [column.label for column in table.columns]) == ("Rome", ["F", "M"])
    for level, printed in zip("fm", row.cells, strict=True):
        assert plain(printed.text).startswith(f"{by_hand(BY_SEX, (level,))[0]:.3f}")


def test_over_all_rows_each_has_its_own_and_who_is_in_none_the_main_one(weighed: Evidence) -> None:
    mean, index = by_hand(BY_SEX, ("f", "m", ""))
    assert value(find(weighed, "mean_severity", "rome", threshold=THRESHOLD)) == pytest.approx(mean, abs=1e-12)
    assert value(find(weighed, "error_severity_index", "rome", threshold=THRESHOLD)) == pytest.approx(index, abs=1e-12)


def test_a_site_without_the_column_has_the_main_matrix(weighed: Evidence) -> None:
    mean, _ = by_hand(dict.fromkeys(BY_SEX, MAIN), ("f", "m", ""))
    assert value(find(weighed, "mean_severity", "bari", threshold=THRESHOLD)) == pytest.approx(mean, abs=1e-12)


def test_the_page_has_every_matrix_under_one_source(weighed: Evidence) -> None:
    (table,) = severity.weights(weighed)
    assert [(row.label, *(cell.text for cell in row.cells)) for row in table.rows] == [
        ("All others",),
        ("no", "0", "0.6"),
        ("yes", "0.3", "0"),
        ("Sex: f",),
        ("no", "0", "1"),
        ("yes", "0.5", "0"),
    ]
    assert "Source: A survey." in table.note
    assert "All rows together: each answer by its own matrix." in table.note


def test_the_seal_holds_them(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    plain, own = (
        seal.declared(reading.study(folder(tmp_path / name, more)).release) for name, more in (("a", ""), ("b", OWN))
    )
    assert plain["severity"] != own["severity"]


@pytest.mark.slow
def test_ranges_are_weighed_by_the_matrix_of_their_rows_and_of_several_matrices_nothing_is_given(
    tmp_path: Path,
) -> None:
    """The tables that ranges allow have no rows: the one matrix of a subgroup weighs them, and two cannot."""
    policy = "[disclosure]\nminimum_cell = 5\n"
    (tmp_path / "own").mkdir()
    (tmp_path / "alike").mkdir()
    alike = OWN.replace("[[0, 1.0], [0.5, 0]]", "[[0, 0.6], [0.3, 0]]")
    own = evaluate.evidence(reading.study(folder(tmp_path / "own", policy + OWN)))
    other = evaluate.evidence(reading.study(folder(tmp_path / "alike", policy + alike)))
    asked = {"threshold": THRESHOLD}
    women, of_main = (
        find_in_subgroup(evidence, Subset("sex", "f"), "mean_severity", "rome", **asked) for evidence in (own, other)
    )
    assert value(women) > value(of_main) * 1.2
    mean, _ = by_hand(BY_SEX, ("f",))
    assert isinstance(women, Estimate)
    low, high = interval_of(women)
    assert low <= mean <= high
    men, of_all = (
        value(find_in_subgroup(evidence, Subset("sex", "m"), "mean_severity", "rome", **asked))
        for evidence in (own, other)
    )
    assert men == of_all
    found = absent(find(own, "mean_severity", "rome", **asked))
    assert not isinstance(found, Withheld)
    assert found == Said("which of several severity weights a row has is not known row by row")
    assert isinstance(find(own, "mean_severity", "bari", **asked), Estimate)
