"""Where a build of the covid release spends its time: the twenty functions that take most, with what was done.

    python -m tests.bench.hot_spots --write

One process, both editions, processor seconds under Python's profiler, which makes small functions look slower than they
are. `--write` puts the table at the end of RESULTS.md.
"""

from __future__ import annotations

import argparse
import cProfile
import os
import pstats
import re
import sys
import time
from dataclasses import dataclass
from pathlib import Path

# One thread for linear algebra, as every command of dossier has it; said before numpy is loaded.
os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1"))

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
HEADING = "## Where a build spends its time"
NOTHING = "nothing yet"
BOXES = "nothing more: asked of each of WeasyPrint's boxes, with Python's garbage collector held off"
LINES = "each page is laid out once, one with page references twice; WeasyPrint breaks the lines"
LENGTHS = "nothing yet: the lengths of each box, inside WeasyPrint"
WRITING = "a number of a page or a figure at a time; a curve holds at most 250 points"
RESULTS = "left simple: results.json, a row a line, once"
WHAT_WAS_DONE = {
    **dict.fromkeys(("builtins.isinstance", "builtins.setattr", "builtins.getattr", "append", "get"), BOXES),
    **dict.fromkeys((f"weasyprint/text/line_break.py: {name}" for name in ("get_first_line", "setup")), LINES),
    **dict.fromkeys((f"weasyprint/text/line_break.py: {name}" for name in ("split_first_line", "strut")), LINES),
    "weasyprint/layout/inline.py: split_inline_box": LINES,
    "weasyprint/layout/block.py: block_container_layout": LINES,
    "cffi/api.py: new": LINES,
    **dict.fromkeys(
        (f"weasyprint/layout/percent.py: {name}" for name in ("resolve_one_percentage", "resolve_percentages")), LENGTHS
    ),
    "weasyprint/layout/percent.py: percentage": LENGTHS,
    "weasyprint/formatting_structure/boxes.py: descendants": BOXES,
    "weasyprint/formatting_structure/boxes.py: is_in_normal_flow": BOXES,
    "weasyprint/css/__init__.py: __missing__": "nothing yet: the styles of each box, inside WeasyPrint",
    "weasyprint/svg/utils.py: size": WRITING,
    "pydyf/__init__.py: _to_bytes": WRITING,
    "encode": WRITING,
    "encoder.py: _iterencode_dict": RESULTS,
    "encoder.py: _iterencode_list": RESULTS,
}
"""What was done about a function, by its name in the table."""


@dataclass(frozen=True)
class HotSpot:
    """A function with its calls and the processor seconds in it, those of what it calls left out."""

    name: str
    calls: int
    seconds: float


def build() -> None:
    """Both editions of the covid release, nothing written."""
    from dossier import evaluate, reading
    from dossier.report import compose, draw, press

    gallery = draw.gallery(evaluate.evidence(reading.study(ROOT / "tests" / "releases" / "covid", allow_outside=True)))
    for edition in ("regulatory", "committee"):
        press.pdf(compose.document(gallery, edition))


def hottest(found: pstats.Stats, count: int = 20) -> list[HotSpot]:
    """The functions that take most, the slowest first."""
    rows = found.stats.items()  # type: ignore[attr-defined]
    every = [HotSpot(_named(*key), calls, seconds) for key, (_, calls, seconds, _, _) in rows]
    return sorted(every, key=lambda spot: (-spot.seconds, spot.name))[:count]


def _named(file: str, _: int, function: str) -> str:
    """A function under its package, without the folder in which that lies on this machine."""
    if file == "~":
        # What is compiled has an address, which is another one in each run.
        return re.sub(r"^<built-in method |^<method '(\w+)' of .*|>$| object at 0x\w+", r"\1", function)
    parts = Path(file).parts
    inside = next((k + 1 for k in range(len(parts) - 1, -1, -1) if parts[k] == "site-packages"), None)
    if inside is None and Path(file).is_relative_to(ROOT):
        return f"{Path(file).relative_to(ROOT)}: {function}"
    return f"{'/'.join(parts[inside:] if inside is not None else parts[-1:])}: {function}"


def section(found: list[HotSpot], total: float) -> str:
    """The table in Markdown."""
    lines = [
        f"{HEADING}\n",
        f"The covid release, both editions in one process: {total:.0f} processor seconds under the profiler. The",
        "functions that take most themselves, and what was done about each.\n",
        "| function | calls | seconds | share | what was done |",
        "|---|--:|--:|--:|---|",
    ]
    for spot in found:
        share = f"{100 * spot.seconds / total:.1f} %"
        done = WHAT_WAS_DONE.get(spot.name, NOTHING)
        lines.append(f"| `{spot.name}` | {spot.calls:,} | {spot.seconds:.2f} | {share} | {done} |")
    return "\n".join(lines) + "\n"


def kept(results: str) -> str:
    """The section of an earlier RESULTS.md, from its heading on; nothing where it has none."""
    _, heading, after = results.partition(HEADING)
    return f"\n{heading}{after}" if heading else ""


def main() -> None:
    """Profile a build."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    # The profile of a build, in processor seconds.
    watch = cProfile.Profile(time.process_time)
    watch.runcall(build)
    found = pstats.Stats(watch)
    text = section(hottest(found), found.total_tt)  # type: ignore[attr-defined]
    if given.write:
        results = HERE / "RESULTS.md"
        whole = results.read_text()
        results.write_text(f"{whole.removesuffix(kept(whole))}\n{text}")
    sys.stdout.write(text)


if __name__ == "__main__":
    main()
