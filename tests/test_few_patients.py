"""Without a policy too, no hospital, category, day or group of fewer than five patients is described."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dossier import evaluate, reading
from dossier.record import results
from tests.estimated import refused
from tests.smallest import HEAD, QUICK

DATASET = '[[dataset]]\nname = "{name}"\nrole = "{role}"\nfile = "{name}.csv"\nsite = "{site}"\n{more}'
SUBGROUPS = '[[subgroup]]\ncolumn = "origin"\n[[subgroup]]\ncolumn = "age"\ncuts = [89]\n'
DAYS = 'date = "seen"\nperiods = "month"\n'


def _release(folder: Path, few: int, alone: int = 1) -> dict[str, Any]:
    """A hospital with a category, a group and a month of few patients, and one of few patients."""
    folder.mkdir(exist_ok=True)
    rng = np.random.default_rng(20261125)
    head = "outcome,risk,blood,origin,age,seen,ward"
    rows = []
    for row in range(200):
        rare = row < few
        risk = rng.uniform(0.05, 0.9)
        words = ("Zebrablood" if rare else "ABC"[row % 3], "Zemblan" if rare else ("here", "there")[row % 2])
        day = "2024-03-17" if rare else f"2024-0{4 + row % 3}-0{1 + row % 9}"
        age = 95 if rare else 40 + row % 40
        ward = "Zeppelin" if rare else "north"
        rows.append(f"{rng.random() < risk:d},{risk:.4f},{words[0]},{words[1]},{age},{day},{ward}")
    plain = "\n".join([head, *rows[20:]]).replace(",north", ",east") + "\n"
    (folder / "training.csv").write_text(plain)
    (folder / "north.csv").write_text("\n".join([head, *rows]) + "\n")
    (folder / "alone.csv").write_text("\n".join([head, *rows[100 : 100 + alone]]) + "\n")
    datasets = DATASET.format(name="training", role="development", site="Maker", more="")
    datasets += DATASET.format(name="north", role="external", site="North", more=DAYS)
    datasets += DATASET.format(name="alone", role="external", site="Hermitage", more="")
    (folder / "release.toml").write_text(HEAD + QUICK + SUBGROUPS + datasets)
    found: dict[str, Any] = json.loads(results.of(evaluate.evidence(reading.study(folder))).text())
    return found


@pytest.mark.parametrize(("few", "alone"), [(1, 1), (4, 1), (3, 40)])
def test_no_category_group_or_day_of_few_is_described(tmp_path: Path, few: int, alone: int) -> None:
    """Nor is it named at another hospital, none of whose 40 patients is in it."""
    printed = _release(tmp_path, few, alone)
    text = json.dumps(printed)
    assert "Zebrablood" not in text
    assert "Zemblan" not in text
    assert "no_category_in_both" in text
    assert "Zeppelin" not in text
    assert "2024-03-17" not in text
    (north,) = (dataset for dataset in printed["datasets"] if dataset["name"] == "north")
    assert north["dates"][0] == "2024-03-01"
    # A group that the release itself spells is named, and not said to be anybody.
    (old,) = (each for each in printed["subgroups"] if each["dataset"] == "north" and "89" in each["subset"]["level"]
              and "under" not in each["subset"]["level"])  # fmt: skip
    assert (old["status"], old["n"], old["events"]) == ("withheld", None, None)
    months = [curve for curve in printed["curves"] if curve["dataset"] == "north" and "period" in curve["columns"]]
    assert months
    for curve in months:
        assert curve["columns"]["n"][0] is None
        assert curve["columns"]["events"][0] is None
        assert curve["columns"]["value"][0] is None
        assert all(n >= 5 for n in curve["columns"]["n"][1:])


def test_of_five_each_is_described(tmp_path: Path) -> None:
    """The control."""
    text = json.dumps(_release(tmp_path, 5, 5))
    assert all(word in text for word in ("Zebrablood", "Zemblan", "2024-03-17", "Hermitage"))


@pytest.mark.parametrize("alone", [1, 4])
def test_a_hospital_of_few_is_named_nowhere(tmp_path: Path, alone: int) -> None:
    printed = _release(tmp_path, 5, alone)
    assert [dataset["name"] for dataset in printed["datasets"]] == ["training", "north"]
    assert "Hermitage" not in json.dumps({**printed, "declared": None})
    assert "dataset_withheld" in {flag["flag"] for flag in printed["flags"]}


def test_a_release_of_hospitals_of_few_is_refused(tmp_path: Path) -> None:
    _release(tmp_path, 5)
    (tmp_path / "north.csv").write_text((tmp_path / "alone.csv").read_text())
    assert [fault.code for fault in refused(reading.study, tmp_path).faults] == ["all_datasets_small"]
