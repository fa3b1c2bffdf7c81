"""The short form of the fuzz lane, and that its inputs are the same everywhere."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

import pytest

from dossier import evaluate, reading
from dossier.core.contents import ON_PAPER
from dossier.core.errors import DossierError
from dossier.report import compose, draw
from tests.bench import fuzz, odd_inputs

INPUTS = 250
SEED = 2027


def test_every_corrupt_release_ends_in_a_dossier_or_in_faults_that_are_reported() -> None:
    found = fuzz.lane(SEED, INPUTS, min(os.cpu_count() or 1, 4), short=True)
    assert [ended.number for ended in found] == list(range(INPUTS))
    assert fuzz.wanting(found, every_class=False) == []


def test_an_input_depends_on_its_seed_and_number_alone() -> None:
    for number in (3, 4, 5):
        assert odd_inputs.case(1, number) == odd_inputs.case(1, number)
    assert odd_inputs.case(1, 3) != odd_inputs.case(2, 3)


def test_the_small_releases_are_written_as_they_were_read() -> None:
    for files in odd_inputs.bases().values():
        release = tomllib.loads(files["release.toml"].decode())
        assert tomllib.loads(odd_inputs.toml(release).decode()) == release


def _without_a_block() -> list[tuple[str, tuple[str, ...]]]:
    """Each small release without one of its blocks, and without its thresholds too."""
    cases: list[tuple[str, tuple[str, ...]]] = []
    for base, files in odd_inputs.bases().items():
        blocks = tomllib.loads(files["release.toml"].decode()).keys() - {"release", "outcome", "prediction", "dataset"}
        cases += [(base, ()), *((base, (block,)) for block in sorted(blocks))]
        cases += [(base, (block, "thresholds")) for block in sorted(blocks - {"thresholds"})]
    return cases


@pytest.mark.parametrize(("base", "left_out"), _without_a_block())
def test_every_block_may_be_left_out(base: str, left_out: tuple[str, ...], tmp_path: Path) -> None:
    files = odd_inputs.bases()[base]
    release = tomllib.loads(files["release.toml"].decode())
    less = {key: value for key, value in release.items() if key not in left_out}
    for name, content in {**files, "release.toml": odd_inputs.toml(less)}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    try:
        found = evaluate.evidence(reading.study(tmp_path))
    except DossierError:
        # What another block names must be there; a release that is whole has no fault.
        assert left_out
        return
    gallery = draw.gallery(found)
    for edition in ON_PAPER:
        assert "<h1" in compose.document(gallery, edition).html
