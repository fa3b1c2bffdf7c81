"""Nobody's data out: planted values are looked for in every output, and withheld cells are solved for."""

from __future__ import annotations

import dataclasses
import io
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from pypdf import PdfReader, PdfWriter

from dossier.core.types import Audited, Released, SmallCount, Subset
from dossier.outputs import printing
from dossier.record import results
from tests.bench.conformance import unembedded
from tests.canaries import Canaries, leaks, numbers_of, plant, results_of, texts

POLICY = "[disclosure]\nminimum_cell = 10\n"


@dataclass(frozen=True)
class Built:
    """A build of the release, what was planted in it, and all that can be read in its output."""

    planted: Canaries
    out: Path
    found: dict[str, str]
    said: str
    """What the command told on standard error."""

    @property
    def report(self) -> Path:
        """Where whoever releases it is told of its protection."""
        return self.out.with_name("out-disclosure-report.pdf")


def _built(folder: Path, policy: str) -> Built:
    planted = plant(folder / "wombatfolder" / "release", policy, people=True)
    out = folder / "out"
    command = [sys.executable, "-m", "dossier", "build", str(folder / "wombatfolder" / "release"), "-o", str(out)]
    ran = subprocess.run([*command, "--quiet", "--jobs", "1"], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return Built(planted, out, texts(out), ran.stderr)


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The release built under a policy."""
    return _built(tmp_path_factory.mktemp("guarded"), POLICY)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The release built without one."""
    return _built(tmp_path_factory.mktemp("plain"), "")


@pytest.mark.parametrize(
    "kind", ["identifiers", "dates", "days", "predictors", "risks", "rare_words", "places", "readers"]
)
def test_under_a_policy_no_planted_value_is_in_any_output(guarded: Built, kind: str) -> None:
    assert leaks(guarded.found, getattr(guarded.planted, kind)) == []


def test_under_a_policy_no_number_of_the_results_is_a_patients(guarded: Built) -> None:
    planted, out = guarded.planted, guarded.out
    patients = {float(value) for value in (*planted.predictors, *planted.risks)}
    assert not patients & numbers_of(results_of(out))


@pytest.mark.parametrize("kind", ["identifiers", "dates", "places"])
def test_without_a_policy_no_planted_value_is_in_any_output(plain: Built, kind: str) -> None:
    assert leaks(plain.found, getattr(plain.planted, kind)) == []


def test_without_a_policy_no_risk_is_in_any_output(plain: Built) -> None:
    """Not as the end of a curve, nor as the mean of a group of one."""
    assert leaks(plain.found, plain.planted.risks) == []


def test_without_a_policy_no_number_of_the_results_tells_a_risk(plain: Built) -> None:
    """Neither the risk, nor what is as good: 1 less it, its odds and their logarithm, its squared error, its score."""
    risks = np.array([float(value) for value in plain.planted.risks])
    reported = np.concatenate(
        (risks, 1 - risks, risks / (1 - risks), np.log(risks / (1 - risks)), risks**2, (1 - risks) ** 2)
    )
    reported = np.sort(np.concatenate((reported, -np.log(risks), -np.log(1 - risks), 1 / risks)))
    numbers = np.array(sorted(numbers_of(results_of(plain.out))))
    beside = np.clip(np.searchsorted(reported, numbers), 1, len(reported) - 1)
    nearest = np.minimum(np.abs(reported[beside] - numbers), np.abs(reported[beside - 1] - numbers))
    assert numbers[nearest < 1e-12].tolist() == []


def test_without_a_policy_a_predictors_value_is_printed_only_as_a_median_or_quartile(plain: Built) -> None:
    """A median of an odd number of patients is the value of one; of 20 or more it does not tell whose."""
    described = results_of(plain.out)["description"]
    assert isinstance(described, list)
    quantiles = [row for row in described if row["statistic"] in ("quantile_25", "median", "quantile_75")]
    assert min(row["n"] for row in quantiles) >= 20
    assert "tiny" not in {row["dataset"] for row in quantiles}
    middle = {row["value"] for row in quantiles}
    others = tuple(value for value in plain.planted.predictors if float(value) not in middle)
    assert leaks(plain.found, others) == []


def test_the_search_finds_what_is_planted_in_any_kind_of_output(guarded: Built, tmp_path: Path) -> None:
    planted, out = guarded.planted, guarded.out
    leaky = tmp_path / "leaky"
    shutil.copytree(out, leaky)
    identifier, predictor = planted.identifiers[0], planted.predictors[0]
    svg = next(leaky.glob("figures/*.svg"))
    svg.write_text(svg.read_text().replace("</svg>", f'<path d="M 3 {predictor}"/></svg>'))
    (leaky / "results.json").write_text(f'{{"value": {predictor}}}')
    pdf = leaky / "dossier-committee.pdf"
    writer = PdfWriter(clone_from=PdfReader(pdf))
    writer.add_metadata({"/Subject": identifier})
    writer.add_attachment("rows.csv", f"{identifier},{predictor}".encode())
    for page in writer.pages:
        page.compress_content_streams()
    writer.write(pdf)
    found = leaks(texts(leaky), (identifier, predictor))
    assert f"{predictor} in figures/{svg.name}" in found
    assert f"{predictor} in results.json" in found
    assert f"{identifier} in dossier-committee.pdf: metadata" in found
    assert any(f"{predictor} in dossier-committee.pdf: stream" in text for text in found)


def test_verify_passes_under_a_policy(guarded: Built) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "dossier", "verify", str(guarded.out)], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout
    assert "files from results.json, byte by byte" in ran.stdout


def test_the_policy_and_the_withheld_are_said_on_the_pages(guarded: Built) -> None:
    pages = guarded.found["dossier-regulatory.pdf: pages"].replace("\N{NO-BREAK SPACE}", " ")
    words = " ".join(pages.split())
    assert words.count("To protect patients, counts are given as ranges") == 1
    assert "withheld (<10)" in words
    assert "fewer analysed rows than the smallest count that is printed" in words
    assert re.search(r"\d{3}–\d{3} patients", words)


# ---- the sheet beside it --------------------------------------------------------------------------------------------


def test_who_releases_it_is_told_the_narrowest_count_on_one_sheet_beside_it(guarded: Built) -> None:
    disclosed = results_of(guarded.out)["disclosure"]
    assert isinstance(disclosed, dict)
    (page,) = PdfReader(guarded.report).pages
    words = " ".join(page.extract_text().replace("\N{NO-BREAK SPACE}", " ").split())
    narrowest = re.search(r"keeps (\d+) values or more", words)
    assert narrowest is not None
    assert int(narrowest[1]) >= 10
    assert f"{disclosed['cells']:,} counts may be below 10" in words
    assert "It is not given where counts below 10 are protected" in words
    for said in ("What was not settled", "Nothing was taken away", "What was not looked at", "AUROC, Brier score"):
        assert said in words
    (line,) = (line for line in guarded.said.splitlines() if line.startswith("disclosure: "))
    assert f"keeps {narrowest[1]} values or more" in line
    assert line.endswith("Nothing was taken away.")


def test_no_file_of_the_dossier_knows_of_it(guarded: Built, plain: Built) -> None:
    """`test_verify_passes_under_a_policy` holds that it is neither missed nor strange."""
    assert "disclosure-report" not in guarded.found["manifest.json"]
    assert "narrowest" not in guarded.found["results.json"]
    assert not plain.report.exists()
    assert "disclosure:" not in plain.said


def test_the_sheet_holds_no_planted_value_and_conforms(guarded: Built, tmp_path: Path) -> None:
    sheet = tmp_path / "sheet"
    sheet.mkdir()
    shutil.copy(guarded.report, sheet)
    planted = guarded.planted
    assert leaks(texts(sheet), (*planted.identifiers, *planted.risks, *planted.predictors, *planted.days)) == []
    assert unembedded(guarded.report) == []
    assert b"pdfuaid:part>1<" in guarded.report.read_bytes()


def test_another_build_gives_the_same_sheet(guarded: Built, tmp_path: Path) -> None:
    release = guarded.out.parent / "wombatfolder" / "release"
    command = [sys.executable, "-m", "dossier", "build", str(release), "--quiet", "--edition", "committee"]
    subprocess.run([*command, "-o", str(tmp_path / "out")], capture_output=True, check=True)
    assert (tmp_path / "out-disclosure-report.pdf").read_bytes() == guarded.report.read_bytes()


def test_many_hospitals_of_long_names_fit_on_one_sheet(guarded: Built) -> None:
    text = (guarded.out / "results.json").read_bytes()
    evidence = results.read(text).evidence
    first = evidence.datasets[0]
    names = [f"Hospital of the {number} Sisters of Perpetual Mercy, Campus West, {'x' * 30}" for number in range(40)]
    many = tuple(dataclasses.replace(first, name=f"d{index}", site=name) for index, name in enumerate(names))
    at = SmallCount(True, 0.25, 0.3, Subset("age at the first visit", "70 or more"))
    none = Released("", "", "", 10, 13, (), {})
    audit = tuple(Audited(each.name, 250, 12, at, (), False, none) for each in many)
    found = dataclasses.replace(evidence, datasets=many, audit=audit)
    _, files = printing.beside(guarded.out, found, found, text, "letter")
    (sheet,) = files.values()
    assert len(PdfReader(io.BytesIO(sheet)).pages) == 1
