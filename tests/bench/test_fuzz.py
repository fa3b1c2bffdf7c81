"""The short form of the fuzz lane, and that its inputs are the same everywhere."""

from __future__ import annotations

import os
import tomllib

from tests.bench import fuzz, odd_inputs

INPUTS = 500
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
