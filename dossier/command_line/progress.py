"""A line of progress now and then, where no terminal draws bars."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

SECONDS_BETWEEN_LINES = 10.0


@dataclass
class Lines:
    """What was reported last, said again and again while the work goes on: a step may take longer than the interval."""

    say: Callable[[str], None]
    interval: float
    began: float = field(default_factory=time.monotonic)
    last: tuple[str, str, int, int] | None = None
    done: threading.Event = field(default_factory=threading.Event)

    def tell(self, stage: str, name: str, done: int, total: int) -> None:
        """Remember what was just finished."""
        self.last = (stage, name, done, total)

    def run(self) -> None:
        """Say a line whenever the interval has passed, until the work is done."""
        while not self.done.wait(self.interval):
            if self.last is not None:
                self.say(self.line(self.last))

    def line(self, last: tuple[str, str, int, int]) -> str:
        """Stage, share done, what was finished last, and the seconds since the beginning."""
        stage, name, done, total = last
        share = f" {100 * done // total}%" if total else ""
        after = f", {name}" if name else ""
        return f"{stage}{share}{after}, {time.monotonic() - self.began:.0f} s"


@contextmanager
def lines(
    say: Callable[[str], None], interval: float = SECONDS_BETWEEN_LINES
) -> Iterator[Callable[[str, str, int, int], None]]:
    """Say a line every so many seconds while the work goes on; yields what takes the report of each step."""
    reporter = Lines(say, interval)
    thread = threading.Thread(target=reporter.run, daemon=True)
    thread.start()
    try:
        yield reporter.tell
    finally:
        reporter.done.set()
        thread.join()
