"""Readers of the labels that the model learnt from, and readers of several datasets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dossier import evaluate, reading
from dossier.core.types import Estimate, Evidence, find
from dossier.record import results
from dossier.report import compose, draw
from dossier.report.chapters import reliability
from tests import reasons
from tests.estimated import refused
from tests.smallest import HEAD, QUICK, SITE, release_in

DEVELOPED = '[[dataset]]\nname = "made"\nrole = "development"\nfile = "made.csv"\n'
READERS_OF = '[[readers]]\nlabels = "{name}-labels.csv"\nconfidence = "{name}-confidence.csv"\ndataset = "{name}"\n'
LABELS = ("1,1,1", "1,1,0", "0,0,0", "0,0,0", "1,0,0", "1,1,1", "0,0,0", "0,1,0", "1,1,1", "0,0,0")
"""Three raters of ten cases: seven agree wholly, three by one pair of three, so 8 of 10 agree."""


def _write(folder: Path, more: str, learnt: bool = True) -> Path:
    for name in ("made", "site"):
        rows = "".join(f"{line[0]},{0.2 if line[0] == '0' else 0.7}\n" for line in LABELS)
        (folder / f"{name}.csv").write_text(f"outcome,risk\n{rows}")
        (folder / f"{name}-labels.csv").write_text("a,b,c\n" + "\n".join(LABELS) + "\n")
        (folder / f"{name}-confidence.csv").write_text("a,b,c\n" + "1,0.8,0.9\n" * len(LABELS))
    return release_in(folder, f"{HEAD}{QUICK}{SITE}{DEVELOPED if learnt else ''}{more}")


def _evidence(folder: Path, more: str) -> Evidence:
    return evaluate.evidence(reading.study(_write(folder, more)))


def rows_of(evidence: Evidence) -> dict[tuple[str, str], dict[str, Any]]:
    document = json.loads(results.of(evidence).text())
    return {
        (estimate["measure"], estimate["dataset"]): estimate
        for estimate in document["estimates"]
        if estimate["subset"] is None
    }


def test_readers_of_the_development_table_have_a_chapter(tmp_path: Path) -> None:
    """Before, the release had no fault, and neither a number nor a chapter of theirs."""
    evidence = _evidence(tmp_path, READERS_OF.format(name="made").replace("[[readers]]", "[readers]"))
    rows = rows_of(evidence)
    assert rows["observed_agreement", "made"]["value"] == pytest.approx(0.8)
    assert "apparent" not in json.dumps(rows["observed_agreement", "made"]["method"])
    assert reasons.read(rows["observed_agreement", "site"]["reason"]) == (
        "the readers judged the cases of made, not those of site"
    )
    assert "of the labels that the model learnt from is" in reliability.finding(evidence).lead
    html = compose.document(draw.gallery(evidence), "regulatory").html
    assert 'id="chapter-reliability"' in html
    assert "Development (apparent): made" not in html.split('id="chapter-reliability"')[1].split('id="chapter-')[0]


def test_no_accuracy_of_the_model_is_read_at_the_labels_that_it_learnt_from(tmp_path: Path) -> None:
    """Against the rows it was fitted to every accuracy is apparent."""
    rows = rows_of(_evidence(tmp_path, READERS_OF.format(name="made")))
    assert ("actual_accuracy", "made") not in rows
    assert ("weighted_utility", "made") not in rows


def test_two_tables_of_readers_stand_side_by_side(tmp_path: Path) -> None:
    both = READERS_OF.format(name="made") + READERS_OF.format(name="site")
    evidence = _evidence(tmp_path, both)
    for dataset in ("made", "site"):
        assert isinstance(find(evidence, "weighted_concordance", dataset), Estimate)
    assert isinstance(find(evidence, "actual_accuracy", "site"), Estimate)
    said = reliability.finding(evidence)
    assert said.lead.startswith("The reliability of the labels is")
    assert "of the labels that the model learnt from is" in said.rest
    html = compose.document(draw.gallery(evidence), "regulatory").html
    assert "Development: " in html.split('id="chapter-reliability"')[1].split('id="chapter-')[0]


def test_a_table_that_stands_alone_is_a_list_of_one(tmp_path: Path) -> None:
    listed = READERS_OF.format(name="site")
    texts = []
    for index, more in enumerate((listed, listed.replace("[[readers]]", "[readers]"))):
        folder = tmp_path / str(index)
        folder.mkdir()
        texts.append(results.of(_evidence(folder, more)).text())
    inputs = [json.loads(text)["estimates"] for text in texts]
    assert inputs[0] == inputs[1]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (
            READERS_OF.format(name="site") * 2,
            "release.toml, [[readers]] 2, dataset: Two tables of readers are of the dataset site.",
        ),
        (
            READERS_OF.format(name="site").replace('dataset = "site"\n', "") * 2,
            "release.toml, [[readers]] 2, dataset: Two tables of readers name no dataset.",
        ),
        (
            READERS_OF.format(name="site") + READERS_OF.format(name="made").replace("made-labels", "lost"),
            "release.toml, [[readers]] 2, labels: There is no file lost.csv.",
        ),
        (
            READERS_OF.format(name="made") + '[h_accuracy]\ntau_from = ["raters"]\n',
            "release.toml, [h_accuracy] tau_from: tau_from asks the raters, and [readers] names no dataset that the "
            "model is tested on.",
        ),
        ('readers = "labels.csv"\n', 'release.toml, readers: readers is "labels.csv", not a table.'),
    ],
)
def test_what_does_not_fit_together_is_a_fault(tmp_path: Path, more: str, said: str) -> None:
    text = more if more.startswith("[[") else ""
    folder = _write(tmp_path, text)
    if not text:
        whole = (folder / "release.toml").read_text()
        (folder / "release.toml").write_text(more + whole)
    assert said in [f"{fault.where}: {fault.what}" for fault in refused(reading.study, folder).faults]


def test_labels_of_the_development_table_are_withheld_like_all_others(tmp_path: Path) -> None:
    rows = rows_of(_evidence(tmp_path, f"{READERS_OF.format(name='made')}[disclosure]\nminimum_cell = 4\n"))
    assert rows["observed_agreement", "made"]["status"] == "withheld"
    assert rows["weighted_concordance", "made"]["status"] == "withheld"
