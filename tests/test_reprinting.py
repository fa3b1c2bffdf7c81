"""Every release printed from its results.json, and odd versions, seeds and names, each twice, without a false alarm.

That a text changed in a PDF, a bent curve and a cell of the csv are each named, and nothing else, is shown by
`tests/test_verify.py::test_an_altered_word_curve_and_cell_are_named_and_nothing_else` and by the more than a hundred
alterations of `tests/test_alterations.py`.
"""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dossier.core.command import Build
from dossier.outputs import printing, verify
from dossier.record import results
from dossier.report import draw
from tests.conftest import Book, held
from tests.test_verify import glance, renew

__all__ = ["glance"]


@pytest.mark.parametrize("name", ["knee", "breast", "relapse"])
def test_print_makes_every_byte_of_the_build(name: str, books: dict[str, Book], tmp_path: Path) -> None:
    """The file alone, in other processes, gives what evidence in memory gives."""
    _, made = printing.printed(results.of(books[name].evidence), Build(), ours=True)
    alone = tmp_path / "alone.json"
    alone.write_bytes(made["results.json"])
    out = tmp_path / "printed"
    words = ("print", str(alone), "-o", str(out), "--jobs", "2", "--quiet")
    assert subprocess.run([sys.executable, "-m", "dossier", *words], check=True, capture_output=True).stderr == b""
    printed = held(out)
    assert sorted(printed) == sorted(made)
    assert [name for name, content in printed.items() if content != made[name]] == []


VERSIONS = (
    *("2.1.0", "0.005", "7", 'the "last" one', "v1 – beta—2", "Größe ß"),
    *("αβγ Ω", "O'Neill & <sons>", "1e-3", "100%"),
)
NAMES = (
    "A",
    "Ward 5, 2024",
    "12345",
    'St. "Mary"',
    "Zürich–Höngg",
    "Αθήνα Ω",
    "0.005",
    "x" * 60,
    "{site} $x$ #1",
    "2.1.0",
)
SEEDS = (0, 2**31 - 1, 1, 5, 20, 2024, 20261123, 95, 100, 686)
ODD = [
    (version, SEEDS[(3 * row + 5 * beside) % 10], NAMES[(row + beside) % 10])
    for beside in (0, 1)
    for row, version in enumerate(VERSIONS)
]


@pytest.fixture
def odd(glance: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The results of a quick look, as JSON; its figures are drawn once, for nothing of what is odd changes a curve."""
    content = (glance / "results.json").read_bytes()
    drawn = draw.gallery(results.read(content).evidence)
    monkeypatch.setattr(draw, "gallery", lambda evidence, jobs=1: dataclasses.replace(drawn, evidence=evidence))
    found: dict[str, Any] = json.loads(content)
    return found


def test_no_odd_version_seed_or_name_is_a_false_alarm(odd: dict[str, Any], tmp_path: Path) -> None:
    assert [len(set(each)) for each in zip(*ODD, strict=True)] == [10, 10, 10]
    alarms = {}
    for index, (version, seed, name) in enumerate(ODD):
        odd["release"].update(version=version, seed=seed)
        odd["datasets"][0]["site"] = name
        out = tmp_path / str(index)
        content = json.dumps(odd, ensure_ascii=False, indent=1).encode() + b"\n"
        read = results.read(content)
        _, made = printing.printed(read, printing.command_for(read.evidence, Build()))
        for file, text in made.items():
            (out / file).parent.mkdir(parents=True, exist_ok=True)
            (out / file).write_bytes(text)
        held = json.loads(made["results.json"])
        assert (held["release"]["version"], held["release"]["seed"]) == (version, seed)
        assert held["datasets"][0]["site"] == name
        checked, differences = verify.printed_again(str(out))
        assert checked == [f"printed again: {len(made)} files from results.json, byte by byte"]
        if differences:
            alarms[version, seed, name] = differences
    assert alarms == {}
    # The last of them with another cell is named: an alarm is possible.
    (out / "results.csv").write_bytes((out / "results.csv").read_bytes().replace(b"0.", b"0.1", 1))
    renew(out)
    _, differences = verify.printed_again(str(out))
    assert "results.csv is not what results.json prints" in differences
