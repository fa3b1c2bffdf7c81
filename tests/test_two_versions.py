"""Two releases of one model: the second is better over all, and worse at one hospital, which is named first."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.conftest import ROOT
from tests.releases.two_versions import make

WORSE = (
    "Compared with version 1.4.0: better at 3, worse at 1 (GBSG trial: 33 more false alarms of 100, and misses 17 "
    'fewer of 100 at the 25% line), worse for patients with menopause "after" over all hospitals (77 cases for 100 it '
    "said, 86 before)."
)


def _built(folder: Path, name: str, *more: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "dossier", "build", name, "-o", f"{name}-out", "--allow-outside", "--quiet", *more]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """Both releases, one after the other, and how the build of the second ended."""
    folder = tmp_path_factory.mktemp("versions") / "two"
    shutil.copytree(ROOT / "tests" / "releases" / "two_versions", folder)
    assert _built(folder, "first", "--edition", "committee").returncode == 0
    return folder, _built(folder, "second", "--junit", "junit.xml", "--fail-on", "against:since_last_release")


@pytest.fixture(scope="module")
def found(built: tuple[Path, subprocess.CompletedProcess[str]]) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((built[0] / "second-out" / "results.json").read_text(encoding="utf-8"))
    return document


def _text(folder: Path, edition: str, last: int = 1) -> str:
    file = folder / "second-out" / f"dossier-{edition}.pdf"
    command = ["pdftotext", "-l", str(last), str(file), "-"]
    return " ".join(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())


def test_the_tables_are_those_that_the_script_makes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "two_versions"
    for name in ("first", "second"):
        (folder / name).mkdir(parents=True)
    monkeypatch.setattr(make, "HERE", folder)
    make.main()
    kept = ROOT / "tests" / "releases" / "two_versions"
    for file in (*(f"{name}.csv" for name in make.SITES), "first/release.toml", "second/release.toml"):
        assert (folder / file).read_bytes() == (kept / file).read_bytes()


def test_what_became_worse_stands_first_on_both_first_pages(
    built: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    page = _text(built[0], "regulatory")
    lead = "The model is shown not to meet its declared criterion at one of four hospitals, and to meet it at three."
    assert f"{lead} Worse than version 1.4.0" in page
    assert "specificity at 0.25 at GBSG trial 54% before, 21% now" in page
    assert "in return sensitivity 17%" in page
    assert WORSE in _text(built[0], "committee")


def test_every_page_counts_what_is_worse_alike(
    built: tuple[Path, subprocess.CompletedProcess[str]], found: dict[str, Any]
) -> None:
    """In the headline two are named and the rest counted; the row counts them, and so do the flags."""
    against = [
        each
        for each in found["claims"]
        if (each["question"], each["state"], each["limit_source"]) == ("since_last_release", "against", "default")
        and each["scope"] != "overall"
    ]
    assert len(against) == 10
    page = _text(built[0], "regulatory", 20)
    assert "paired); and eight more. Risks are" in page
    assert " shown, 10 against, " in page
    flagged = [int(number) for number in re.findall(r"worse than version 1\.4\.0 in (\d+) measure", page)]
    assert sum(flagged) == 10


def test_it_ends_the_build_and_fails_in_the_pipeline(built: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    folder, ended = built
    assert ended.returncode == 3
    assert "1. specificity at gbsg" in ended.stderr
    root = ElementTree.parse(folder / "junit.xml").getroot()
    failed = {case.get("name") for case in root.iter("testcase") if case.find("failure") is not None}
    assert "1. specificity at gbsg, threshold 0.25, against previous" in failed
    assert "since_last_release, hospital: calibration_slope, against previous, gbsg" in failed
    assert not any("north" in (name or "") for name in failed)


def test_each_hospital_has_its_claims_and_all_together_too(found: dict[str, Any]) -> None:
    every = [claim for claim in found["claims"] if claim["question"] == "since_last_release"]
    stand = {
        (claim["about"]["dataset"], claim["measure"]): claim["state"]
        for claim in every
        if claim["value"] is not None and claim["limit_source"] == "default"
    }
    worse = {measure for (dataset, measure), state in stand.items() if state == "against"}
    assert {dataset for (dataset, _), state in stand.items() if state == "against"} == {"gbsg"}
    assert {"oe_ratio", "calibration_slope", "brier", "net_benefit_gain"} <= worse
    assert stand["pooled", "auroc"] == stand["pooled", "net_benefit_gain"] == "shown"
    assert (every[0]["scope"], every[0]["state"]) == ("overall", "against")
    groups = {
        (claim["about"]["subset"]["level"], claim["measure"]): claim["state"]
        for claim in every
        if claim["scope"] == "group"
    }
    assert groups["after", "oe_ratio"] == "against"
    assert groups["after", "sensitivity"] == groups["before", "auroc"] == "shown"
    assert len({claim["looks"] for claim in every if claim["p_adjusted"] is not None}) == 1
    declared = [claim for claim in every if claim["limit_source"] == "declared"]
    assert {claim["about"]["dataset"] for claim in declared if claim["state"] == "against"} == {"gbsg"}


def test_the_numbers_are_those_of_the_rows(found: dict[str, Any], built: object) -> None:
    """O/E and specificity of both versions, counted from the table of the trial."""
    rows = [line.split(",") for line in (make.HERE / "gbsg.csv").read_text(encoding="utf-8").split()[1:]]
    outcome, first, second = ([float(row[k]) for row in rows] for k in range(3))
    spared = [
        sum(risk < 0.25 for risk, y in zip(risks, outcome, strict=True) if y == 0) / outcome.count(0)
        for risks in (first, second)
    ]
    expected = {
        "oe_ratio_difference": sum(outcome) / sum(second) - sum(outcome) / sum(first),
        "specificity_difference": spared[1] - spared[0],
    }
    for measure, value in expected.items():
        (row,) = (
            row
            for row in found["estimates"]
            if (row["measure"], row["dataset"], row["at"].get("threshold", 0.25)) == (measure, "gbsg", 0.25)
            if row["at"]["against"] == "previous"
        )
        assert row["value"] == pytest.approx(value, abs=1e-9)


def where(claim: dict[str, Any]) -> tuple[str, str, str]:
    return claim["question"], claim["scope"], claim["about"]["dataset"]


def test_the_history_is_two_pages_from_the_results_alone(
    built: tuple[Path, subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    """The earlier release stands first in whatever order they are named, and the same results give the same bytes."""
    named = [str(built[0] / f"{name}-out" / "results.json") for name in ("second", "first")]
    pages = []
    for number, files in enumerate((named, named[::-1])):
        out = tmp_path / f"{number}.pdf"
        command = [sys.executable, "-m", "dossier", "history", *files, "-o", str(out)]
        subprocess.run(command, check=True, capture_output=True)
        pages.append(out.read_bytes())
    assert pages[0] == pages[1]
    # Once more over its own file; what is another stays as it is.
    subprocess.run(command, check=True, capture_output=True)
    out.write_bytes(b"altered")
    again = subprocess.run(command, check=False, capture_output=True, text=True)
    assert (again.returncode, out.read_bytes()) == (2, b"altered")
    assert "--replace" in again.stderr
    assert "seal" not in again.stderr
    text = subprocess.run(
        ["pdftotext", "-layout", str(tmp_path / "0.pdf"), "-"], capture_output=True, text=True, check=True
    ).stdout
    assert text.count("\f") == 2
    assert "2 releases, 1.4.0 to 1.5.0: 1 answer changed." in text
    # Of each question the gravest claim of the hospital, which stands first, in either release.
    stood = [
        next(
            (
                each["state"]
                for each in json.loads(Path(file).read_text())["claims"]
                if where(each) == ("calibration", "hospital", "gbsg")
            ),
            None,
        )
        for file in named[::-1]
    ]
    assert len(set(stood)) == 2
    printed = text.split("Risks are right in size")[1].split("Core measures by release")[0]
    assert next(line.split()[-2:] for line in printed.splitlines() if "GBSG" in line) == stood
    slopes = text.split("Calibration slope")[1]
    assert slopes.split("Integrated calibration index")[0].count("All external sites") == 1
    assert next(line.split() for line in slopes.splitlines() if "GBSG" in line)[2::2] == ["1.07", "0.57"]
    rows = [json.loads((built[0] / f"{name}-out" / "results.json").read_text()) for name in ("first", "second")]
    for label, measure in (("Integrated calibration index", "ici"), ("Brier score", "brier")):
        numbers = next(line.split() for line in text.split(label)[1].splitlines() if "GBSG" in line)[2::2]
        held = [
            next(
                row["value"]
                for row in each["estimates"]
                if (row["measure"], row["dataset"], row["at"], row["subset"]) == (measure, "gbsg", {}, None)
            )
            for each in rows
        ]
        assert [float(value) for value in numbers] == pytest.approx(held, abs=6e-4)
    twice = subprocess.run(
        [*command[:4], named[0], named[0], *command[-2:]], check=False, capture_output=True, text=True
    )
    assert twice.returncode == 2
    assert "given twice" in twice.stderr


def test_the_history_is_of_one_model(built: tuple[Path, subprocess.CompletedProcess[str]], tmp_path: Path) -> None:
    file = built[0] / "first-out" / "results.json"
    other = tmp_path / "other.json"
    other.write_text(file.read_text(encoding="utf-8").replace("Breast cancer recurrence model", "Another"))
    command = [sys.executable, "-m", "dossier", "history", str(file), str(other), "-o", str(tmp_path / "h.pdf")]
    ended = subprocess.run(command, check=False, capture_output=True, text=True)
    assert ended.returncode == 2
    assert "Another" in ended.stderr + ended.stdout
    assert not (tmp_path / "h.pdf").exists()


def test_what_was_promised_is_said_with_what_became_of_it(
    found: dict[str, Any], built: tuple[Path, subprocess.CompletedProcess[str]]
) -> None:
    """An answer with its number of then, what is watched, what nobody says any more, and a criterion asked again."""
    kept = {each["about"]: each["says"] for each in found["previous"]["promises"]}
    assert kept["precision_missed"].startswith("More patients by the next release; O/E is 0.88 (95%")
    assert kept["review"] == "After a year."
    supplement, core = (_text(built[0], edition, 99) for edition in ("supplement", "regulatory"))
    assert "More patients by the next release; O/E is 0.88" in supplement
    assert "raised again: not answered" in supplement
    assert "now: O/E, every month." in supplement
    assert "not said any more" in supplement
    assert "not declared; by the numbers now shown" in core


def test_a_flag_names_the_hospital(found: dict[str, Any]) -> None:
    flags = [flag for flag in found["flags"] if flag["flag"] == "worse_than_before"]
    assert [flag["dataset"] for flag in flags] == ["gbsg", "pooled", "pooled"]
