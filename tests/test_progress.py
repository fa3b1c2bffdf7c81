"""Progress where there is no terminal: a line now and then, also while one step takes long; none where all is quick."""

from __future__ import annotations

import re
import time

from dossier.command_line import progress


def test_the_last_step_is_said_again_while_it_lasts() -> None:
    said: list[str] = []
    with progress.lines(said.append, interval=0.05) as tell:
        tell("evaluate", "north, calibration", 1, 4)
        time.sleep(0.3)
    assert len(said) >= 3
    assert {line.rpartition(",")[0] for line in said} == {"evaluate 25%, north, calibration"}
    assert all(re.search(r", \d+ s$", line) for line in said)


def test_what_is_done_before_the_interval_says_nothing() -> None:
    said: list[str] = []
    with progress.lines(said.append, interval=30.0) as tell:
        tell("read", "tables", 0, 1)
    assert said == []
    assert progress.SECONDS_BETWEEN_LINES == 10.0


def test_nothing_is_said_before_anything_is_told_nor_afterwards() -> None:
    said: list[str] = []
    with progress.lines(said.append, interval=0.02) as tell:
        time.sleep(0.1)
        assert said == []
        tell("draw", "", 0, 0)
    after = len(said)
    time.sleep(0.1)
    assert len(said) == after
