"""The bench in a short form: every side of ours runs, and the table says what was found. No time is asserted."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.bench import bench, regions
from tests.bench.bench import OURS, SHORT, Row, Run, report, run, write_release


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The releases that the sides read."""
    made = tmp_path_factory.mktemp("bench")
    for rows in (SHORT.few, SHORT.million):
        write_release(made / str(rows), rows)
    for sites in SHORT.sites:
        write_release(made / f"sites-{sites}", SHORT.a_site, sites)
    regions.write(made / "regions", *SHORT.regions)
    return made


@pytest.mark.parametrize("name", sorted(set(OURS) - {"covid", "few", "of_regions", "by_horizon"}))
def test_every_side_of_ours_takes_some_time(name: str, folder: Path) -> None:
    found = OURS[name](SHORT, folder)
    assert isinstance(found, float)
    assert found > 0


@pytest.mark.parametrize(
    ("name", "parts"), [("by_horizon", {"auroc", "brier", "uno_c"}), ("of_regions", {"correspondence", "others"})]
)
def test_measures_by_a_horizon_and_chapters_of_regions_are_timed_one_by_one(
    folder: Path, name: str, parts: set[str]
) -> None:
    found = OURS[name](SHORT, folder)
    assert isinstance(found, dict)
    assert set(found) == parts
    assert min(found.values()) > 0


def test_a_row_takes_the_place_of_the_one_about_the_same_or_stands_last() -> None:
    head = "| what | |\n|---|--:|--:|---|--:|--:|--:|---|---|\n"
    one = bench.with_row(f"{head}| a build (load 1 s) | 2 s |\n\n## Next\n", "| a build (load 3 s) | 4 s |")
    assert one == f"{head}| a build (load 3 s) | 4 s |\n\n## Next\n"
    assert bench.with_row(one, "| another | 5 s |") == one.replace("4 s |\n", "4 s |\n| another | 5 s |\n")


def test_a_side_is_timed_with_its_memory() -> None:
    found = run([sys.executable, "-c", "x = bytearray(60_000_000); sum(range(2_000_000))"], 1)
    assert found.seconds is not None
    assert found.seconds > 0
    assert found.megabytes > 57


def test_a_side_that_fails_says_why() -> None:
    found = run([sys.executable, "-c", "raise SystemExit('no such package')"], 1)
    assert (found.seconds, found.error) == (None, "no such package")


def test_a_side_that_does_not_end_is_ended() -> None:
    found = run([sys.executable, "-c", "import time; time.sleep(60)"], 1, patience=0.3)
    assert (found.seconds, found.error) == (None, "not finished after 0 s")


def test_the_table_has_the_ratio_or_the_reason() -> None:
    rows = [
        bench._at_most("ours", Run(2.0, 10), "theirs", Run(5.0, 20), "not slower", 1),
        bench._at_most("ours", Run(2.0, 10), "theirs", Run(5.0, 20), "ten times", 1 / 10),
        bench._at_most("ours", Run(2.0, 10), "theirs", Run(None, error="not installed"), "not slower", 1),
    ]
    lines = report(rows, SHORT).splitlines()[-3:]
    assert [row.met for row in rows] == ["met", "**not met**", "not known"]
    assert "| 2.5 |" in lines[0]
    assert "not installed" in lines[2]


def test_a_row_over_its_memory_is_not_met() -> None:
    row: Row = bench._at_most("ours", Run(2.0, 2000), "theirs", Run(5.0, 20), "faster", 1, megabytes=1000)
    assert row.met == "**not met**"


def test_a_build_whose_criterion_is_not_met_has_done_its_work() -> None:
    words = [sys.executable, "-c", "raise SystemExit(3)"]
    assert run(words, 1, well=bench.BUILT).seconds is not None
    assert run(words, 1).error == "exit code 3"


def test_a_side_that_a_signal_ends_says_which() -> None:
    found = run([sys.executable, "-c", "import os; os.kill(os.getpid(), 9)"], 1)
    assert found.seconds is None
    assert found.error.startswith("ended by signal 9 with ")


@pytest.mark.parametrize("met", [True, False])
def test_without_a_measurement_there_is_no_verdict(met: bool) -> None:
    assert bench._said(met, Run(1.0), Run(None, error="failed")) == "not known"


def test_a_build_that_failed_is_not_faster_than_its_limit() -> None:
    loop = Run(1.0)
    row = bench._beside_the_loop("build", Run(None, error="failed"), loop, 0.5)
    assert row.met == "not known"
    assert bench._beside_the_loop("build", Run(7.9, wall=12.0), loop, 0.5).met == "met"
    assert bench._beside_the_loop("build", Run(8.1, wall=12.0), loop, 0.5).met == "**not met**"
    assert bench._beside_the_loop("build", Run(7.9, wall=18.0), loop, 0.5).met == "**not met**"


def test_a_side_that_wants_all_memory_says_so() -> None:
    found = run([sys.executable, "-c", "bytearray(20_000_000_000)"], 1)
    assert (found.seconds, found.error) == (None, "MemoryError")
