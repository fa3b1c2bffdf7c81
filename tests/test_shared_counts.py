"""One policy and one width for all rows of a release, and no count beside those that it is the sum of."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dossier import evaluate, reading
from dossier.evaluate.disclosure import chains, shared
from tests.estimated import refused
from tests.smallest import HEAD, QUICK, release_in

POLICY = "[disclosure]\nminimum_cell = 10\n"


def _release(folder: Path, datasets: str, more: str = "", seed: int = 20261125) -> dict[str, Any]:
    """What is printed of a development table and two hospitals."""
    folder.mkdir(exist_ok=True)
    rng = np.random.default_rng(seed)
    for name, n in (("training", 347), ("north", 412), ("south", 290)):
        lines = ["outcome,risk,stage,advanced,smoker,age,sex,woman,seen"]
        for _ in range(n):
            risk, stage, sex = rng.beta(2, 4), int(rng.integers(4)), int(rng.integers(2))
            own = f"{rng.random() < risk:d},{risk:.5f},{'ABCD'[stage]},{'yes' if stage > 1 else 'no'}"
            lines.append(
                f"{own},{'yn'[int(rng.integers(2))]},{rng.integers(30, 90)},{'mf'[sex]},{['no', 'yes'][sex]},1"
            )
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")
    study = reading.study(release_in(folder, HEAD + QUICK + more + datasets))
    printed: dict[str, Any] = json.loads(evaluate_text(study))
    return printed


def evaluate_text(study: Any) -> str:
    """results.json."""
    from dossier.record import results

    return results.of(evaluate.evidence(study)).text().decode()


def _dataset(name: str, role: str = "external", more: str = "") -> str:
    return f'[[dataset]]\nname = "{name}"\nrole = "{role}"\nfile = "{name}.csv"\n{more}'


EVERY = _dataset("training", "development") + _dataset("north") + _dataset("south")


def _exact(printed: Any) -> list[str]:
    """Where a number of rows stands that is no range."""
    found = [
        f"{row.get('dataset')} {row.get('measure')} {row[name]}"
        for row in (*printed["estimates"], *printed["datasets"])
        for name in ("n", "events", "rows_read")
        if isinstance(row.get(name), int)
    ]
    return found + [f"{row['dataset']} {row['variable']}" for row in printed["description"] if type(row["n"]) is int]


def test_the_policy_of_the_development_table_is_that_of_every_row(tmp_path: Path) -> None:
    """Distances and mean differences of hospitals are of its rows too, and told them in full digits."""
    only = _dataset("training", "development", "minimum_cell = 10\n") + _dataset("north") + _dataset("south")
    printed = _release(tmp_path, only)
    assert {dataset["minimum_cell"] for dataset in printed["datasets"]} == {10}
    assert _exact(printed) == []
    of_rows = [row for row in printed["estimates"] if row["measure"] in ("smd", "ks_distance", "case_mix_auroc")]
    assert {row["status"] for row in of_rows} <= {"withheld"}


@pytest.mark.parametrize("own", [0, 4, 10, 17])
def test_the_strictest_policy_of_any_table_holds(tmp_path: Path, own: int) -> None:
    printed = _release(tmp_path, EVERY + f"minimum_cell = {own}\n", POLICY)
    assert {dataset["minimum_cell"] for dataset in printed["datasets"]} == {max(10, own)}
    spans = [dataset["events"]["hi"] - dataset["events"]["lo"] + 1 for dataset in printed["datasets"]]
    assert len(set(spans)) == 1
    assert spans[0] >= max(10, own)


def _told(printed: Any, variable: str) -> set[str]:
    return {
        row["statistic"] for row in printed["description"] if row["variable"] == variable and row["withheld"] is None
    }


def test_of_predictors_that_say_the_same_one_is_counted(tmp_path: Path) -> None:
    """Advanced is stage C or D: a range of their sum beside their own pins them."""
    printed = _release(tmp_path, EVERY, POLICY)
    for shown, other in (("stage", "advanced"), ("sex", "woman")):
        assert {"share"} <= _told(printed, shown) | _told(printed, other)
        assert not ("share" in _told(printed, shown) and "share" in _told(printed, other))
    assert "share" in _told(printed, "smoker")


def test_of_columns_that_say_the_same_one_makes_subgroups(tmp_path: Path) -> None:
    columns = '[[subgroup]]\ncolumn = "sex"\n[[subgroup]]\ncolumn = "woman"\n[[subgroup]]\ncolumn = "smoker"\n'
    printed = _release(tmp_path, EVERY, POLICY + columns)
    estimated = [row for row in printed["estimates"] if row["status"] == "estimated"]
    given = {row["subset"]["column"] for row in estimated if row["subset"] is not None}
    assert "smoker" in given
    assert len(given & {"sex", "woman"}) == 1


def test_a_column_that_follows_from_the_risk_is_not_counted_beside_it(tmp_path: Path) -> None:
    _release(tmp_path, EVERY, POLICY)
    for name in ("training", "north", "south"):
        head, *rows = (tmp_path / f"{name}.csv").read_text().splitlines()
        high = ["yes" if float(row.split(",")[1]) >= 0.35 else "no" for row in rows]
        lines = [f"{head},flagged", *(f"{row},{word}" for row, word in zip(rows, high, strict=True))]
        (tmp_path / f"{name}.csv").write_text("\n".join(lines) + "\n")
    printed = json.loads(evaluate_text(reading.study(tmp_path)))
    assert "share" not in _told(printed, "flagged")
    assert "share" in _told(printed, "smoker")


def test_columns_that_fewer_rows_tell_apart_than_may_be_told_are_the_same(tmp_path: Path) -> None:
    """Otherwise it would be told whether there is somebody between them."""
    said = []
    for differing in (0, 9):
        folder = tmp_path / str(differing)
        _release(folder, EVERY, POLICY)
        head, *rows = (folder / "north.csv").read_text().splitlines()
        for index in range(differing):
            row = rows[index].split(",")
            row[7] = "no" if row[7] == "yes" else "yes"
            rows[index] = ",".join(row)
        (folder / "north.csv").write_text("\n".join([head, *rows]) + "\n")
        said.append(shared.of_release(reading.study(folder)))
    assert said[0] == said[1]
    assert said[0][1] & {"sex", "woman"}


def test_rows_of_every_split_are_rows_of_the_same_persons(tmp_path: Path) -> None:
    """Twenty splits of one table hold each count twenty times: a range of the whole would pin the part."""
    _release(tmp_path, EVERY, POLICY)
    head, *rows = (tmp_path / "training.csv").read_text().splitlines()
    repeated = [f"{row},{split}" for split in range(20) for row in rows]
    (tmp_path / "internal.csv").write_text("\n".join([f"{head},split", *repeated]) + "\n")
    text = (tmp_path / "release.toml").read_text() + _dataset("internal", "internal", 'split = "split"\n')
    study = reading.study(release_in(tmp_path, text))
    wide = shared.of_release(study)[0]
    printed = {dataset["name"]: dataset for dataset in json.loads(evaluate_text(study))["datasets"]}
    events, n = (printed["internal"][name] for name in ("events", "n"))
    assert events["hi"] - events["lo"] + 1 == 20 * wide
    assert n["hi"] - n["lo"] >= 20 * wide
    split = next(dataset for dataset in study.datasets if dataset.name == "internal")
    assert chains.rows_of_a_person(split) == 20


def test_rows_that_are_not_selected_are_not_counted(tmp_path: Path) -> None:
    """They may be the rows of another dataset of the file."""
    parts = "".join(
        _dataset("north").replace('"north"', f'"{name}"', 1) + f'rows = {{ sex = ["{sex}"] }}\n'
        for name, sex in (("men", "m"), ("women", "f"))
    )
    printed = _release(tmp_path, parts, POLICY)
    for dataset in printed["datasets"]:
        (rows,) = (lost["rows"] for lost in dataset["excluded"] if lost["reason"] == "not_selected")
        assert "withheld" in rows


def _rounded(folder: Path, levels: int) -> None:
    """Every table with so many different risks; 0 leaves them, and of -1 all but every tenth patient have one risk."""
    for name in ("training", "north", "south") if levels else ():
        head, *rows = (folder / f"{name}.csv").read_text().splitlines()
        cells = [row.split(",") for row in rows]
        made = [f"{np.ceil(float(cell[1]) * levels) / levels:.3f}" for cell in cells]
        heap = [cell[1] if index % 10 == 0 else "0.01" for index, cell in enumerate(cells)]
        new = heap if levels < 0 else made
        rows = [",".join([own, risk, *rest]) for (own, _, *rest), risk in zip(cells, new, strict=True)]
        (folder / f"{name}.csv").write_text("\n".join([head, *rows]) + "\n")


@pytest.mark.parametrize(("levels", "part"), [(0, 1), (0, 0.5), (0, 0.1), (5, 1), (2, 1), (-1, 0.9)])
def test_rows_that_another_file_repeats_are_refused(tmp_path: Path, levels: int, part: float) -> None:
    """A ninth table of the rows of eight left a count 7 to 12 values."""
    _release(tmp_path, EVERY)
    _rounded(tmp_path, levels)
    (_, *north), (head, *south) = ((tmp_path / f"{name}.csv").read_text().splitlines() for name in ("north", "south"))
    (tmp_path / "all.csv").write_text("\n".join([head, *north[: round(part * len(north))], *south]) + "\n")
    (tmp_path / "release.toml").write_text(HEAD + QUICK + POLICY + "".join(map(_dataset, ("north", "south", "all"))))
    assert {fault.code for fault in refused(reading.study, tmp_path).faults} == {"rows_of_two_datasets"}


@pytest.mark.parametrize("levels", [-1, 0, 2, 5, 100, 1000])
def test_rows_that_are_equal_by_chance_are_not(tmp_path: Path, levels: int) -> None:
    _release(tmp_path, EVERY, POLICY)
    _rounded(tmp_path, levels)
    assert len(reading.study(tmp_path).datasets) == 3
