"""The same input, seed and versions give the same bytes in every file, wherever and however it is built."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import RELEASES, held
from tests.reference.built import example

CHECKOUT = Path(__file__).resolve().parents[1]
HERE = {"PYTHONHASHSEED": "1", "TZ": "Pacific/Kiritimati", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8"}
THERE = {"PYTHONHASHSEED": "2", "TZ": "America/Los_Angeles", "LANG": "de_DE.ISO-8859-1", "LC_ALL": "POSIX"}


def release(folder: Path, name: str) -> Path:
    """The example release, or one that ships, with few replicates, in a folder of any name."""
    if name == "example":
        folder.mkdir(parents=True)
        example(folder)
    else:
        shutil.copytree(RELEASES[name], folder)
    text = (folder / "release.toml").read_text()
    (folder / "release.toml").write_text(re.sub(r"(bootstrap|permutations) = \d+", r"\1 = 9", text))
    return folder


def started(folder: Path, surroundings: dict[str, str], *words: str) -> subprocess.Popen[str]:
    """A command in a place and surroundings of its own."""
    temporary = folder / "temporary files"
    temporary.mkdir(parents=True)
    own = {"TMPDIR": str(temporary), "PYTHONPATH": str(CHECKOUT)}
    return subprocess.Popen(
        [sys.executable, "-m", "dossier", *words],
        cwd=folder,
        env=os.environ | surroundings | own,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.fixture(scope="module", params=["example", "relapse"])
def built(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[dict[str, bytes], dict[str, bytes]]:
    """What two builds side by side wrote, with everything different that must not matter."""
    here, there = tmp_path_factory.mktemp("here"), tmp_path_factory.mktemp("there") / "deeper"
    release(here / "release", request.param)
    other = release(there / "elsewhere" / "another name", request.param)
    builds = (
        started(here, HERE, "build", "release", "-o", "out", "--jobs", "1", "--quiet"),
        started(there, THERE, "build", str(other / "release.toml"), "-o", "a/b", "--jobs", "2", "--quiet"),
    )
    for build in builds:
        _, errors = build.communicate()
        assert (build.returncode, errors) == (0, "")
    return held(here / "out"), held(there / "a" / "b")


def test_two_builds_write_the_same_bytes(built: tuple[dict[str, bytes], dict[str, bytes]]) -> None:
    first, other = built
    assert {
        "dossier-regulatory.pdf",
        "dossier-supplement.pdf",
        "dossier-committee.pdf",
        "dossier.html",
        "results.json",
        "manifest.json",
    } < set(first)
    assert first.keys() == other.keys()
    assert [name for name in first if first[name] != other[name]] == []


def test_no_file_holds_a_path_or_the_year_of_the_clock(
    built: tuple[dict[str, bytes], dict[str, bytes]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    machine = {str(CHECKOUT), str(tmp_path_factory.getbasetemp()), os.uname().nodename, sys.prefix}
    for name, content in built[0].items():
        assert not [word for word in machine if len(word) > 3 and word.encode() in content], name
        assert b"CreationDate" not in content or b"D:20261001" in content, name
