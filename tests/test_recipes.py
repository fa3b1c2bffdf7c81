"""The recipes of the docs, followed word for word in a copy of the code: what they add is found where they say."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest

from dossier.command_line import initial
from dossier.metrics import calibration
from dossier.typeset.reasons import reason_text
from dossier.words import entries
from tests.conftest import by_hand
from tests.estimated import absent
from tests.figures.evidence import COVID, Case
from tests.shelves import register_put_back
from tests.test_methods import check

ROOT = Path(__file__).parents[1]
RECIPES = (ROOT / "docs" / "recipes.md").read_text(encoding="utf-8")
STEP = re.compile(r"^(At the end of|The new file|In) `([\w./]+)`:\n\n```(\w+)\n(.*?)```$", re.MULTILINE | re.DOTALL)
SITE = 'file = "hospital-1.csv"'
FEW_DRAWS = ("bootstrap = 1000", "bootstrap = 20"), ("permutations = 999", "permutations = 19")
RELEASES = {
    "plain": "",
    "weights": 'weights = "w"',
    "cluster": 'cluster = "ward_number"',
    "small_cells": "minimum_cell = 30",
}
SITES = ("hospital-1", "hospital-2", "hospital-3")
BUILD = """
import json, sys
from pathlib import Path
from dossier.core import contents
from dossier.report import compose, draw
from dossier import evaluate, reading
from dossier.record import results, results_csv
import dossier
from dossier.core.errors import DossierError

assert Path(dossier.__file__).is_relative_to(sys.argv[1]), dossier.__file__
for folder in map(Path, sys.argv[2:]):
    try:
        study = reading.study(folder)
    except DossierError as error:
        (folder / "faults.txt").write_text(str(error))
        continue
    evidence = evaluate.evidence(study)
    made = results.of(evidence)
    (folder / "results.json").write_bytes(made.text())
    (folder / "results.csv").write_bytes(results_csv.text(made))
    dossier.read_results(folder / "results.json").to_frame().to_csv(folder / "frame.csv", index=False)
    if folder.name == "plain":
        gallery = draw.gallery(evidence)
        pages = [compose.document(gallery, edition).html for edition in contents.SUBMITTED]
        (folder / "submitted.html").write_text("".join(pages))
"""


def follow(recipes: str, copy: Path) -> int:
    """Do in a copy of the code what each block says; returns how many there are."""
    steps = STEP.findall(recipes)
    for how, name, language, block in steps:
        path = copy / name
        if how == "The new file":
            assert not path.exists(), name
            path.write_text(block, encoding="utf-8")
        elif language == "diff":
            lines = block.splitlines()
            before = "\n".join(line[1:] for line in lines if line[0] in " -")
            after = "\n".join(line[1:] for line in lines if line[0] in " +")
            text = path.read_text(encoding="utf-8")
            assert text.count(f"\n{before}\n") == 1, f"{name} has not just one place for:\n{before}"
            path.write_text(text.replace(f"\n{before}\n", f"\n{after}\n"), encoding="utf-8")
        else:
            path.write_text(f"{path.read_text(encoding='utf-8')}\n\n{block}", encoding="utf-8")
    return len(steps)


def write_release(folder: Path, more: str, model: str = "Example model") -> None:
    """The example release with a key more for its hospital, whose rows have weights and wards."""
    folder.mkdir()
    for name, content in initial.files().items():
        (folder / name).write_bytes(content)
    release = initial.files()["release.toml"].decode().replace(SITE, f"{SITE}\n{more}")
    for old, new in (*FEW_DRAWS, ('"Example model"', f'"{model}"')):
        assert old in release
        release = release.replace(old, new, 1)
    (folder / "release.toml").write_text(release, encoding="utf-8")
    rows = pandas.read_csv(folder / "hospital-1.csv", dtype={"glucose": str})
    rows["w"], rows["ward_number"] = np.arange(len(rows)) % 3 + 1, np.arange(len(rows)) % 7
    rows.to_csv(folder / "hospital-1.csv", index=False)


def write_sites(folder: Path) -> None:
    """The example release with three hospitals, and each ward beside the others."""
    write_release(folder, "")
    release = (folder / "release.toml").read_text(encoding="utf-8")
    start = release.index('[[dataset]]\nname = "hospital-1"')
    block = release[start : release.index("\n[", start)]
    others = [block.replace("hospital-1", name).replace("Another hospital", name) for name in SITES[1:]]
    text = "\n".join([release, *others, '[[subgroup]]\ncolumn = "ward"\n'])
    (folder / "release.toml").write_text(text, encoding="utf-8")
    whole = pandas.read_csv(folder / "hospital-1.csv", dtype={"glucose": str})
    for seed, name in enumerate(SITES):
        rows = whole.sample(frac=0.7, random_state=seed)
        # No risk is quite that of another hospital.
        rows["risk"] = (rows.risk * (1 - 0.05 * seed)).round(4)
        rows.to_csv(folder / f"{name}.csv", index=False)


@pytest.fixture(scope="module")
def followed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The releases built by a copy of the code in which every recipe was followed."""
    copy, releases = tmp_path_factory.mktemp("copy"), tmp_path_factory.mktemp("releases")
    for folder in ("dossier", "templates", "styles"):
        shutil.copytree(ROOT / folder, copy / folder, ignore=shutil.ignore_patterns("__pycache__"))
    assert follow(RECIPES, copy) == RECIPES.count("```") / 2
    for name, more in RELEASES.items():
        write_release(releases / name, more)
    write_release(releases / "fault", "", model="hospital-1")
    write_sites(releases / "sites")
    folders = [str(releases / name) for name in (*RELEASES, "sites", "fault")]
    own = os.environ | {"PYTHONPATH": str(copy)}
    command = [sys.executable, "-P", "-c", BUILD, str(copy), *folders]
    done = subprocess.run(command, env=own, cwd=copy, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return releases


def found(releases: Path, name: str, measure: str = "mean_absolute_error") -> dict[str, Any]:
    """What results.json has of a measure at the hospital."""
    every = json.loads((releases / name / "results.json").read_text(encoding="utf-8"))["estimates"]
    (each,) = (row for row in every if (row["measure"], row["dataset"], row["subset"]) == (measure, "hospital-1", None))
    return dict(each)


def of_measure(rows: pandas.DataFrame) -> pandas.DataFrame:
    """The rows of the measure of the recipe, by the name of the dataset."""
    return rows[rows.measure == "mean_absolute_error"].set_index("dataset")


def distances(rows: pandas.DataFrame) -> pandas.Series[float]:
    return (rows.risk - rows.outcome).abs()


def test_the_measure_has_its_value_of_plain_weighted_and_clustered_rows(followed: Path) -> None:
    rows = pandas.read_csv(followed / "plain" / "hospital-1.csv")
    plain, weighted, clustered = (found(followed, name) for name in ("plain", "weights", "cluster"))
    assert plain["value"] == pytest.approx(distances(rows).mean())
    assert plain["se"] == pytest.approx(distances(rows).sem())
    assert weighted["value"] == pytest.approx(np.average(distances(rows), weights=rows.w))
    assert "weights" in str(weighted["method"])
    assert clustered["value"] == plain["value"]
    # Leaving each of the seven wards out in turn: what it moves, by the share of the rows that stay.
    without = np.array([distances(rows[rows.ward_number != ward]).mean() for ward in range(7)])
    kept = np.array([(rows.ward_number != ward).mean() for ward in range(7)])
    assert clustered["se"] == pytest.approx(np.sqrt((kept * (without - plain["value"]) ** 2).sum()), rel=1e-6)


def test_the_measure_is_given_in_steps_of_a_person_where_small_counts_are_protected(followed: Path) -> None:
    far_off = int((distances(pandas.read_csv(followed / "plain" / "hospital-1.csv")) > 0.7).sum())
    assert 1 <= far_off < 30
    assert found(followed, "plain")["far_off"] == far_off
    protected = found(followed, "small_cells")
    assert protected["status"] == "estimated"
    step = next(each["step"] for each in protected["method"] if "step" in each)
    assert protected["value"] / step == pytest.approx(round(protected["value"] / step), abs=1e-9)
    assert abs(protected["value"] - found(followed, "plain")["value"]) <= step / 2 + 1e-9
    assert "far_off" not in protected


def test_the_measure_is_taken_in_subgroups_and_over_the_sites(followed: Path) -> None:
    folder = followed / "sites"
    every = json.loads((folder / "results.json").read_text(encoding="utf-8"))["estimates"]
    ours = [row for row in every if row["measure"] == "mean_absolute_error" and row["dataset"] in (*SITES, "pooled")]
    whole = {row["dataset"]: row for row in ours if row["subset"] is None}
    tables = {name: pandas.read_csv(folder / f"{name}.csv") for name in SITES}
    for name, rows in tables.items():
        assert whole[name]["value"] == pytest.approx(distances(rows).mean())
    groups = {(row["dataset"], row["subset"]["level"]): row for row in ours if row["subset"] is not None}
    wards = set(tables["hospital-1"].ward)
    assert {level for site, level in groups if site == "hospital-1"} == wards
    estimated = {
        position: row for position, row in groups.items() if row["status"] == "estimated" and position[0] in SITES
    }
    assert {name for name, ward in estimated if ward == "medicine"} == {*SITES}
    for (name, ward), row in estimated.items():
        assert row["value"] == pytest.approx(distances(tables[name][tables[name].ward == ward]).mean())
    assert groups["pooled", "medicine"]["k"] == 3
    # The mean of random effects, at the spread between sites that it found.
    pooled = whole["pooled"]
    found = [(whole[name]["value"], 1 / (whole[name]["se"] ** 2 + pooled["tau"] ** 2)) for name in SITES]
    assert pooled["value"] == pytest.approx(
        np.average([value for value, _ in found], weights=[number for _, number in found])
    )
    assert pooled["k"] == 3


def test_the_measure_is_in_the_csv_and_in_the_frame(followed: Path) -> None:
    folder = followed / "sites"
    every = json.loads((folder / "results.json").read_text(encoding="utf-8"))["estimates"]
    ours = {
        (row["dataset"], None if row["subset"] is None else row["subset"]["level"]): row["value"]
        for row in every
        if row["measure"] == "mean_absolute_error"
    }
    for file in ("results.csv", "frame.csv"):
        rows = of_measure(pandas.read_csv(folder / file))
        levels = [None if pandas.isna(level) else level for level in rows.subset_level]
        values = [None if pandas.isna(value) else value for value in rows.value]
        assert dict(zip(zip(rows.index, levels, strict=True), values, strict=True)) == ours, file
    frame = of_measure(pandas.read_csv(folder / "frame.csv"))
    assert frame.role["pooled"].unique().tolist() == ["pooled"]
    assert set(frame.role["hospital-2"]) == {"external"}


def test_the_measure_the_figure_the_sentence_and_the_chapter_are_on_the_pages(followed: Path) -> None:
    html = (followed / "plain" / "submitted.html").read_text(encoding="utf-8")
    assert "The mean distance between the risk and what happened." in html
    assert "mean of |p \N{MINUS SIGN} y|" in html
    assert "Advantages of the mean absolute error" in html
    assert "30:79–82.." not in html
    assert "At least 30 events at every hospital" in html
    assert re.search(r"\d\spatients,\s[\d,]+\sevents\.\sDots:", html)
    assert "figures/absolute_error_by_site.svg" in html
    assert f"The mean absolute error is {found(followed, 'plain')['value']:.3f}" in html
    assert "Sites tested before deployment: 1." in html
    assert "A test at other hospitals comes before the use in one's own." in html


def test_the_fault_is_told_with_its_place_and_its_mend(followed: Path) -> None:
    estimated = (followed / "fault" / "faults.txt").read_text(encoding="utf-8")
    assert "The model and a dataset are both named hospital-1." in estimated
    assert "where: release.toml, [release] model" in estimated
    assert "Give the dataset the name of its hospital." in estimated


def test_the_measure_is_all_that_a_measure_must_be(monkeypatch: pytest.MonkeyPatch) -> None:
    (added,) = (block for _, _, _, block in STEP.findall(RECIPES) if "metric(" in block)
    (said,) = (tomllib.loads(block) for _, _, language, block in STEP.findall(RECIPES) if language == "toml")
    monkeypatch.setitem(entries("measures"), "measures", said["measures"])
    with register_put_back() as shelves:
        # Where the page says that it is to be written.
        exec(compile(added, "recipes.md", "exec"), dict(vars(calibration)))
        entry = shelves.metrics["mean_absolute_error"]
        check(entry.term)
        estimate = entry.function(np.array([0.0, 1.0, 1.0, 0.0]), np.array([0.2, 0.7, 0.9, 0.6]))
    assert entry.term.chapter == "calibration"
    # .2, .3, .1 and .6
    assert estimate.value == pytest.approx(0.3)


def test_the_figure_says_why_it_is_not_there() -> None:
    (added,) = (block for _, name, _, block in STEP.findall(RECIPES) if name.startswith("dossier/report/figures/"))
    with register_put_back() as shelves:
        exec(compile(added, "recipes.md", "exec"), {"__name__": "dossier.report.figures.absolute_error"})
        drawn = shelves.figures["absolute_error_by_site"].function(by_hand(Case("eight", COVID)))
    assert reason_text(absent(drawn).reason) == "the mean absolute error could not be estimated at any external site"
