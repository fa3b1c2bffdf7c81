"""Fuzzing: corrupt releases, each of which must end in a dossier or in faults that are told, within its time.

    python -m tests.bench.fuzz [--count N] [--seed N] [--jobs N] [--short] [--write] [--only N [--keep FOLDER]]

Input number n depends on the seed and n alone. It is read, and if it can be, evaluated, recorded and composed into the
pages of one edition; of every twenty-fifth the figures are drawn too, and every hundredth is printed as both PDFs.
Inputs run inside worker processes, so that the packages are loaded once. `--short` draws and
prints nothing and starts from the lightest releases alone; `--write` puts the figures into FUZZ.md
beside this file; `--only` runs one input, with `--keep` writes its files.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import io
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
REPORT = Path(__file__).with_name("FUZZ.md")
SECONDS = 60.0
"""What one input may take of the processor; printed ones three times as long."""
MEMORY = 4 << 30
DRAWN, PRINTED = 25, 100
LEAST_BUILT = 0.30
LEAST_MET = 20
COUNT = 22_000
COMMAND = (sys.executable, "-m", "tests.bench.fuzz")


class TooLongError(Exception):
    """An input that did not end within its time."""


@dataclass
class Ended:
    """How one input ended."""

    number: int
    base: str
    done: list[str]
    how: str
    """built, told, failed, warned or too long"""
    seconds: float
    places: dict[str, int] = field(default_factory=dict)
    """How often a fault was said in each place, as file:line."""
    said: str = ""
    stage: str = ""


# ---- one input ------------------------------------------------------------------------------------------------------


def run(seed: int, number: int, folder: Path, short: bool = False) -> Ended:
    """Write an input into an empty folder and let dossier have it; in short nothing is drawn or printed."""
    from tests.bench import odd_inputs

    case = odd_inputs.case(seed, number, short)
    for name, content in case.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    start = time.process_time()
    ended = Ended(number, case.base, list(case.done), "built", 0.0)
    from tests.bench.fault_places import heard

    with (
        heard() as places,
        warnings.catch_warnings(record=True) as leaked,
        _within(SECONDS * (1 + 2 * _printed(number))),
    ):
        warnings.simplefilter("always")
        # WeasyPrint reads its own colour profile and leaves the closing to the garbage collector.
        warnings.filterwarnings("ignore", "unclosed file .*sRGB2014", ResourceWarning)
        _job(number, folder, ended, short)
    ended.seconds = time.process_time() - start
    ended.places = {f"{file}:{line}": count for (file, line), count in places.items()}
    if leaked and ended.how in ("built", "told"):
        ended.how = "warned"
        ended.said = "; ".join(
            sorted({f"{each.category.__name__}: {each.message} ({each.filename}:{each.lineno})" for each in leaked})
        )
    return ended


def _job(number: int, folder: Path, ended: Ended, short: bool) -> None:
    from dossier.core.errors import DossierError, PageError

    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            _build(number, folder, ended, short)
        if said.getvalue():
            ended.how, ended.said = "warned", said.getvalue()[:2000]
    except PageError:
        # Templates and styles are ours: no input may bring this about.
        ended.how, ended.said = "failed", traceback.format_exc()
    except TooLongError:
        ended.how, ended.said = "too long", traceback.format_exc()
    except DossierError as error:
        ended.how, ended.said = "told", str(error)
    except Exception:  # noqa: BLE001  # what it is, is the finding
        ended.how, ended.said = "failed", traceback.format_exc()


def _printed(number: int) -> bool:
    return number % PRINTED == 0


def _build(number: int, folder: Path, ended: Ended, short: bool) -> None:
    from dossier import evaluate, reading
    from dossier.core.contents import ON_PAPER, Edition
    from dossier.core.types import Gallery
    from dossier.record import results, results_csv
    from dossier.report import compose, draw, model_card, press

    editions: tuple[Edition, ...] = ON_PAPER
    ended.stage = "load"
    study = reading.study(folder)
    ended.stage = "evaluate"
    evidence = evaluate.evidence(study)
    ended.stage = "record"
    json.loads(results.of(evidence).text())
    results_csv.text(results.of(evidence))
    model_card.text(evidence)
    ended.stage = "draw"
    gallery = Gallery(evidence, {}, {}) if short or number % DRAWN else draw.gallery(evidence)
    ended.stage = "compose"
    printed = _printed(number) and not short
    for edition in editions if printed else (editions[number % len(editions)],):
        document = compose.document(gallery, edition)
        if printed:
            ended.stage = "press"
            press.pdf(document)
    ended.stage = "done"


@contextlib.contextmanager
def _within(seconds: float) -> Iterator[None]:
    """Break off what takes longer; what does not even hear that ends the process."""

    def stop(number: int, frame: object) -> None:
        raise TooLongError

    # Processor time does not run while other programs have the machine; who sleeps for ever is ended by the clock.
    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    faulthandler.dump_traceback_later(20 * seconds, exit=True, file=2)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


# ---- many -----------------------------------------------------------------------------------------------------------


def work(seed: int, numbers: Sequence[int], short: bool, out: Any) -> None:
    """One worker: a line of JSON when an input is begun, and one when it has ended."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    for number in numbers:
        out.write(json.dumps({"begun": number}) + "\n")
        out.flush()
        with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as folder:
            out.write(json.dumps(asdict(run(seed, number, Path(folder), short))) + "\n")


def lane(seed: int, count: int, jobs: int, short: bool = False) -> list[Ended]:
    """All inputs, dealt out to workers like cards; a worker that dies is started again after what killed it."""
    with tempfile.TemporaryDirectory() as folder:
        waiting = [list(range(count))[index::jobs] for index in range(jobs)]
        hands = {index: hand for index, hand in enumerate(waiting) if hand}
        running = {
            position: _worker(seed, hand, short, Path(folder) / str(position)) for position, hand in hands.items()
        }
        found: list[Ended] = []
        while running:
            time.sleep(0.2)
            for position, worker in list(running.items()):
                if worker.poll() is None:
                    continue
                del running[position]
                ended, lost = _read(Path(folder) / str(position), worker.returncode)
                found += ended
                seen = {each.number for each in ended}
                waiting[position] = [number for number in waiting[position] if number not in seen]
                if waiting[position] and lost:
                    running[position] = _worker(seed, waiting[position], short, Path(folder) / str(position))
        return sorted(found, key=lambda each: each.number)


def _worker(seed: int, numbers: Sequence[int], short: bool, folder: Path) -> subprocess.Popen[bytes]:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    (folder / "numbers.json").write_text(json.dumps(list(numbers)))
    one_thread = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    with (folder / "ended").open("wb") as out, (folder / "errors").open("wb") as errors:
        return subprocess.Popen(
            [*COMMAND, "--worker", str(folder), "--seed", str(seed), *(["--short"] if short else [])],
            stdout=out,
            stderr=errors,
            cwd=ROOT,
            env=os.environ | one_thread | {"PYTHONPATH": str(ROOT)},
        )


def _read(folder: Path, code: int) -> tuple[list[Ended], bool]:
    """What a worker said, and whether it died over an input: then that one has failed."""
    lines = [json.loads(line) for line in (folder / "ended").read_text().splitlines()]
    ended = [Ended(**line) for line in lines if "begun" not in line]
    begun = {line["begun"] for line in lines if "begun" in line} - {each.number for each in ended}
    errors = (folder / "errors").read_text(errors="replace")
    said = f"The worker ended with {code}.\n{errors[-3000:]}"
    ended += [Ended(number, "", [], "failed", 0.0, said=said) for number in begun]
    if not lines or (errors and not begun):
        raise RuntimeError(f"a worker ended with {code}: {errors[-3000:]}")
    return ended, bool(begun)


# ---- what was found -------------------------------------------------------------------------------------------------


def met(found: Sequence[Ended]) -> dict[tuple[str, int], int]:
    """For every place that says faults, in how many inputs it did."""
    from tests.bench.fault_places import places

    counts: Counter[str] = Counter(position for ended in found for position in ended.places)
    return {position: counts[f"{position[0]}:{position[1]}"] for position in places()}


def failures(found: Sequence[Ended]) -> list[Ended]:
    """The inputs that ended in neither a dossier nor told faults, or not in silence."""
    return [ended for ended in found if ended.how not in ("built", "told")]


def report(found: Sequence[Ended], seed: int, seconds: float, jobs: int) -> str:
    """The figures, as FUZZ.md has them."""
    from tests.bench.fault_places import places, unreached

    kinds = Counter(ended.how for ended in found)
    named, counts, not_reached = places(), met(found), unreached()
    seldom = [position for position, count in counts.items() if count < LEAST_MET and position not in not_reached]
    slowest = sorted(found, key=lambda ended: -ended.seconds)[:10]
    changes = Counter(change for ended in found for change in ended.done)
    lines = [
        "# Fuzzing",
        "",
        f"`make fuzz`: {len(found):,} corrupt releases, seed {seed}, {jobs} workers, {seconds / 60:.0f} minutes.",
        "",
        f"Each input is a small form ({ROWS_SAID}) of a release that ships or of what `dossier init` writes, or a",
        "folder of `fixtures/broken`, changed at random by the seed and its number. It is read and, if it can be,",
        f"evaluated, recorded and composed into one edition; of one in {DRAWN} the figures are drawn; one in {PRINTED}",
        "is printed as both PDFs.",
        f"An input may take {SECONDS:.0f} processor seconds ({3 * SECONDS:.0f} if printed) and {MEMORY >> 30} GiB.",
        "",
        "| Ended | Inputs | Share |",
        "|---|---:|---:|",
        *(f"| {how} | {kinds[how]:,} | {kinds[how] / len(found):.1%} |" for how in HOWS),
        "",
        f"Printed as PDF: {sum(ended.how == 'built' and _printed(ended.number) for ended in found):,}; drawn: "
        f"{sum(ended.how == 'built' and ended.number % DRAWN == 0 for ended in found):,}.",
        f"A build took {_mean(found, 'built'):.2f} s on average, told faults {_mean(found, 'told'):.3f} s.",
        "",
        "## Classes of faults",
        "",
        f"A class is a place in the code that says a fault: {len(named)} places, {len(not_reached)} of them out of",
        f"reach of a release, {len(seldom)} of the others met by fewer than {LEAST_MET} inputs.",
        "",
        "| File | Function | Line | Inputs |",
        "|---|---|---:|---:|",
        *(
            f"| {place[0]} | {named[place]} | {place[1]} | "
            + (f"none: {not_reached[place]} |" if place in not_reached else f"{counts[place]:,} |")
            for place in sorted(named)
        ),
        "",
        "## The slowest",
        "",
        "| Input | From | Changes | Ended | Seconds |",
        "|---:|---|---|---|---:|",
        *(
            f"| {each.number} | {each.base} | {', '.join(each.done)} | {each.how} | {each.seconds:.1f} |"
            for each in slowest
        ),
        "",
        "## Changes",
        "",
        "| Change | Inputs |",
        "|---|---:|",
        *(f"| {change} | {count:,} |" for change, count in sorted(changes.items())),
        "",
    ]
    for each in failures(found):
        lines += [
            f"## Input {each.number}: {each.how}",
            "",
            f"{each.base}: {', '.join(each.done)}; {each.stage}",
            "",
            "```",
        ]
        lines += [each.said.strip()[-2000:], "```", ""]
    return "\n".join(lines)


HOWS = ("built", "told", "failed", "warned", "too long")
ROWS_SAID = "30 rows a table, few draws"


def _mean(found: Sequence[Ended], how: str) -> float:
    seconds = [ended.seconds for ended in found if ended.how == how]
    return sum(seconds) / max(len(seconds), 1)


def wanting(found: Sequence[Ended], every_class: bool) -> list[str]:
    """What keeps the lane from being passed."""
    said = [f"input {each.number} {each.how}: {each.said.strip().splitlines()[-1:]}" for each in failures(found)]
    built = sum(ended.how == "built" for ended in found) / max(len(found), 1)
    if built < LEAST_BUILT:
        said.append(f"only {built:.1%} of the inputs build")
    if every_class:
        from tests.bench.fault_places import unreached

        not_reached = unreached()
        said += [
            f"{file}:{line} said a fault in {count} inputs only"
            for (file, line), count in met(found).items()
            if count < LEAST_MET and (file, line) not in not_reached
        ]
    return said


def main() -> int:
    """The lane from the command line."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--count", type=int, default=COUNT)
    asked.add_argument("--seed", type=int, default=1)
    asked.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    asked.add_argument("--only", type=int)
    asked.add_argument("--keep", type=Path)
    asked.add_argument("--short", action="store_true")
    asked.add_argument("--write", action="store_true")
    asked.add_argument("--worker", type=Path, help=argparse.SUPPRESS)
    given = asked.parse_args()
    if given.worker is not None:
        work(given.seed, json.loads((given.worker / "numbers.json").read_text()), given.short, sys.stdout)
        return 0
    if given.only is not None:
        return _one(given.seed, given.only, given.keep)
    start = time.monotonic()
    found = lane(given.seed, given.count, given.jobs, given.short)
    text = report(found, given.seed, time.monotonic() - start, given.jobs)
    if given.write:
        REPORT.write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)
    lacking = wanting(found, every_class=given.count >= COUNT)
    for line in lacking:
        sys.stderr.write(f"{line}\n")
    return 1 if lacking else 0


def _one(seed: int, number: int, keep: Path | None) -> int:
    with tempfile.TemporaryDirectory() as temporary:
        folder = keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        ended = run(seed, number, folder)
    how = f"{ended.how} after {ended.seconds:.2f} s, at {ended.stage}"
    sys.stdout.write(f"{ended.base}: {', '.join(ended.done)}\n{how}\n{ended.said}\n")
    return 0 if ended.how in ("built", "told") else 1


if __name__ == "__main__":
    sys.exit(main())
