"""The table of hot spots: names without paths, sorted, and kept when the other tables are written anew."""

from __future__ import annotations

import cProfile
import pstats
import re

from tests.bench import hot_spots
from tests.bench.hot_spots import HEADING, HotSpot, hottest, kept, section


def _work() -> None:
    for _ in range(50):
        sorted(range(2_000), key=lambda number: -number)
        re.sub("a", "b", "a" * 2_000)


def test_the_slowest_come_first_under_names_without_paths() -> None:
    watch = cProfile.Profile()
    watch.runcall(_work)
    found = hottest(pstats.Stats(watch), 5)
    assert [spot.seconds for spot in found] == sorted((spot.seconds for spot in found), reverse=True)
    assert "tests/bench/test_hot_spots.py: <lambda>" in {spot.name for spot in found}
    assert not any(spot.name.startswith("/") or "0x" in spot.name for spot in found)


def test_a_function_of_a_package_is_named_from_the_package_on() -> None:
    assert hot_spots._named("/a/lib/site-packages/numpy/core.py", 1, "dot") == "numpy/core.py: dot"
    assert hot_spots._named("/usr/lib/python3.11/re.py", 1, "sub") == "re.py: sub"
    assert hot_spots._named("~", 0, "<built-in method numpy.array>") == "numpy.array"
    assert hot_spots._named("~", 0, "<method 'reduce' of 'numpy.ufunc' objects>") == "reduce"


def test_the_table_says_what_was_done() -> None:
    lines = section([HotSpot("a.py: slow", 1_000, 2.0)], 8.0).splitlines()
    assert lines[0] == HEADING
    assert lines[-1] == f"| `a.py: slow` | 1,000 | 2.00 | 25.0 % | {hot_spots.NOTHING} |"


def test_the_section_stays_when_the_rest_is_written_anew() -> None:
    text = section([], 1.0)
    assert kept(f"# Speed\n\nrows\n\n{text}") == f"\n{text}"
    assert kept("# Speed\n") == ""
