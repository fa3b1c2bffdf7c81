"""Readers' tables that name no dataset: what they tell stands under "readers", and nothing is dropped in silence."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from dossier import evaluate, reading
from dossier.core.types import READERS, Study
from dossier.report import compose, draw
from tests import reasons
from tests.estimated import refused
from tests.reference.tables import RATERS, needs_raters
from tests.smallest import HEAD, QUICK, SITE, release_in
from tests.test_readers_of_development import rows_of

TABLES = {
    "labels.csv": "a,b\n1,1\n1,0\n0,0\n0,0\n1,1\n",
    "confidence.csv": "a,b\n1,0.8\n0.6,0.5\n1,1\n0.9,0.7\n0.4,1\n",
}
ALONE = '[readers]\nlabels = "labels.csv"\nconfidence = "confidence.csv"\n'
PUBLISHED = (RATERS / "preds.csv", RATERS / "confs.csv")


def _study(folder: Path, more: str = ALONE, site: str = SITE) -> Study:
    rows = "".join(f"{int(k % 3 == 0)},{0.1 + 0.02 * k:.2f}\n" for k in range(30))
    for name, text in {"site.csv": f"outcome,risk\n{rows}", **TABLES}.items():
        (folder / name).write_text(text)
    return reading.study(release_in(folder, f"{HEAD}{QUICK}{site}{more}"))


def _published(folder: Path, more: str = "") -> Study:
    for name, source in zip(TABLES, PUBLISHED, strict=True):
        (folder / name).write_bytes(source.read_bytes())
    rows = "".join(f"{int(k % 3 == 0)},{0.1 + 0.02 * k:.2f}\n" for k in range(30))
    return reading.study(release_in(folder, f"{HEAD}{QUICK}{SITE}{ALONE}{more}", site__csv=f"outcome,risk\n{rows}"))


@needs_raters
def test_the_published_values_come_out(tmp_path: Path) -> None:
    """methods.md: 427 cases, 13 raters; a declared coherence of .05 gives .570613 to .653449."""
    rows = rows_of(evaluate.evidence(_published(tmp_path, "coherence = 0.05\n")))
    values = {"observed_agreement": 0.81841110, "fleiss_kappa": 0.63163046, "krippendorff_alpha": 0.63169683}
    for measure, value in values.items():
        assert rows[measure, READERS]["value"] == pytest.approx(value, abs=5e-9)
        assert rows[measure, READERS]["n"] == 427
    rho = rows["weighted_concordance", READERS]
    assert rho["value"] == pytest.approx(0.616899, abs=5e-7)
    assert (rho["coherence_low"], rho["coherence_high"]) == pytest.approx((0.570613, 0.653449), abs=5e-7)
    assert rho["accuracy_assumed"] == 1


@needs_raters
def test_a_declared_accuracy_takes_the_place_of_the_truth(tmp_path: Path) -> None:
    study = _published(tmp_path, "accuracy = 0.81\n")
    evidence = evaluate.evidence(study)
    rho = rows_of(evidence)["weighted_concordance", READERS]
    assert rho["value"] == pytest.approx(0.584726, abs=5e-7)
    assert rho["accuracy_assumed"] == 0
    assert not [flag for flag in study.flags if flag.flag == "rater_accuracy_assumed"]
    of_readers = (row.described for row in evidence.descriptions if row.dataset == READERS)
    (mean,) = (row for row in of_readers if row.statistic == "mean")
    assert mean.value == pytest.approx(0.81)


def test_agreement_is_that_of_the_tables_and_no_dataset_has_any(tmp_path: Path) -> None:
    """Four of five cases agree; labels are half 0 and half 1, so that kappa is (.8 - .5)/.5."""
    rows = rows_of(evaluate.evidence(_study(tmp_path)))
    assert rows["observed_agreement", READERS]["value"] == pytest.approx(0.8)
    assert rows["fleiss_kappa", READERS]["value"] == pytest.approx(0.6)
    assert reasons.read(rows["fleiss_kappa", "site"]["reason"]) == "the readers' tables name no dataset"
    needs_a_model = rows["actual_accuracy", READERS]
    assert needs_a_model["status"] == "absent"
    assert (
        reasons.read(needs_a_model["reason"]) == "the readers' tables name no dataset, whose outcome and risks it needs"
    )


def test_raters_of_unknown_accuracy_are_flagged_and_the_flag_can_be_answered(tmp_path: Path) -> None:
    reply = f'{ALONE}[[reply]]\nflag = "rater_accuracy_assumed"\ndataset = "readers"\nsays = "They are experts."\n'
    evidence = evaluate.evidence(_study(tmp_path, reply))
    (flag,) = (each for each in evidence.flags if each.flag == "rater_accuracy_assumed")
    assert (flag.dataset, flag.reply) == (READERS, "They are experts.")


def test_readers_of_a_dataset_have_no_results_of_their_own(tmp_path: Path) -> None:
    linked = ALONE + 'dataset = "site"\n'
    (tmp_path / "cut").mkdir()
    for name, text in TABLES.items():
        (tmp_path / "cut" / name).write_text(text)
    rows = "1,0.8\n0,0.3\n0,0.2\n1,0.4\n1,0.9\n"
    release_in(tmp_path / "cut", f"{HEAD}{QUICK}{SITE}{linked}", site__csv=f"outcome,risk\n{rows}")
    study = reading.study(tmp_path / "cut")
    assert not [flag for flag in study.flags if flag.flag == "rater_accuracy_assumed"]
    assert not [measure for measure, dataset in rows_of(evaluate.evidence(study)) if dataset == READERS]


def test_a_dataset_cannot_be_called_readers(tmp_path: Path) -> None:
    assert "readers" in refused(_study, tmp_path, site=SITE.replace('name = "site"', 'name = "readers"')).faults[0].what


def test_check_says_what_it_read_of_them(tmp_path: Path) -> None:
    _study(tmp_path)
    command = [sys.executable, "-m", "dossier", "check", str(tmp_path)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "readers (of no dataset): 5 cases, 2 raters" in said
    assert "flag rater_accuracy_assumed, readers" in said


def test_the_chapter_is_printed(tmp_path: Path) -> None:
    html = compose.document(draw.gallery(evaluate.evidence(_study(tmp_path))), "regulatory").html
    assert "Reliability of the labels cannot" not in html
    assert "Cases of no dataset" in html
    assert "How often the readers are right is unknown and taken as always" in html
    assert "Name the readers' tables in [readers]" not in html


def test_few_disagreements_are_withheld(tmp_path: Path) -> None:
    """One of five cases divides the raters: under a policy nobody may count it."""
    evidence = evaluate.evidence(_study(tmp_path, f"{ALONE}[disclosure]\nminimum_cell = 4\n"))
    assert rows_of(evidence)["observed_agreement", READERS]["status"] == "withheld"
