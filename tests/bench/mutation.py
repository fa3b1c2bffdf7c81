"""Mutation: one sign, constant or comparison of a metric file is changed, and some test must fail.

    python -m tests.bench.mutation [--sample N] [--seed N] [--jobs N] [--seconds N] [--log FILE] [--write] [file ...]
        [--tests PATH ...]

What can be changed stands in `mutants.py`, how a mutant meets the tests in `runner.py`, and which mutants compute the
same, with the reason, in `equivalent_mutants.toml`. `--log` keeps what became of each mutant; the next run with that
log tries again only those that are not yet killed. `--write` puts the result into MUTATION.md beside this file.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import time
import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from tests.bench.mutants import FILES, Mutant, mutants
from tests.bench.runner import Fate, Runner

ROOT = Path(__file__).resolve().parents[2]
REPORT = Path(__file__).with_name("MUTATION.md")
EQUIVALENT = Path(__file__).with_name("equivalent_mutants.toml")

TESTS = (
    "tests/metrics",
    *(f"tests/reference/test_{name}.py" for name in ("against_r", "every_golden_number")),
    *(f"tests/test_{name}.py" for name in ("laws", "changes", "clusters", "imputations", "weights")),
)
"""The tests of the numbers; those of whole releases, of the pages and of the command are not asked."""


@cache
def equivalent() -> dict[str, str]:
    """By name, the mutants that compute the same, with the reason."""
    read: dict[str, str] = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8"))
    return read


def survivors(found: Sequence[Fate]) -> list[Fate]:
    """Those that lived and are not known to compute the same."""
    return [fate for fate in found if not fate.killed and fate.mutant.name not in equivalent()]


# ---- the report -----------------------------------------------------------------------------------------------------


def report(found: Sequence[Fate], totals: dict[str, int], seed: int, sample: int | None, seconds: float) -> str:
    """MUTATION.md."""
    lines = ["# Mutation", ""]
    how = "all of them" if sample is None else f"{sample} drawn from each file with seed {seed}"
    lines.append(f"{len(found)} of {sum(totals.values())} mutants ({how}), {seconds / 60:.0f} minutes.")
    lines.append(
        "Made by `make mutation`; `mutants.py` tells what a mutant is, and `runner.py` how it meets the tests."
    )
    lines += ["", "| file | mutants | tried | killed | equivalent | survived |", "|---|---|---|---|---|---|"]
    for file in sorted(totals):
        mine = [fate for fate in found if fate.mutant.file == file]
        killed, lived = sum(fate.killed for fate in mine), len(survivors(mine))
        lines.append(f"| {file} | {totals[file]} | {len(mine)} | {killed} | {len(mine) - killed - lived} | {lived} |")
    alike = [fate for fate in found if not fate.killed and fate.mutant.name in equivalent()]
    for title, fates_of in (("Survivors", survivors(found)), ("Equivalent", alike)):
        lines += ["", f"## {title}", ""]
        lines += [_line(fate) for fate in fates_of] or ["None."]
    return "\n".join(lines) + "\n"


def _line(fate: Fate) -> str:
    mutant = fate.mutant
    before, after = (text.replace("\n", " ").replace("`", "'") for text in (mutant.before, mutant.after))
    reason = equivalent().get(mutant.name)
    which = f" (number {mutant.occurrence})" if mutant.occurrence > 1 else ""
    return f"- {mutant.file}, {mutant.function or 'module'}: `{before}` becomes `{after}`{which}: {reason or fate.how}"


def kept(log: Path | None) -> dict[str, Fate]:
    """What became of the mutants in the runs before, by name."""
    if log is None or not log.is_file():
        return {}
    known = {mutant.name: mutant for file in FILES for mutant in mutants(file)}
    rows = (json.loads(line) for line in log.read_text(encoding="utf-8").splitlines())
    return {row["name"]: Fate(known[row["name"]], row["killed"], row["how"]) for row in rows if row["name"] in known}


def tried(
    chosen: Sequence[Mutant], jobs: int, seconds: float, log: Path | None, tests: Sequence[str] = TESTS
) -> list[Fate]:
    """Let these mutants meet the tests, and tell of each when it is over."""
    import hypothesis
    import pytest

    found: list[Fate] = []

    def tell(fate: Fate) -> None:
        found.append(fate)
        sys.stderr.write(f"{len(found)}/{len(chosen)} {fate.how}: {fate.mutant.line} {fate.mutant.name}\n")
        if log is not None:
            with log.open("a", encoding="utf-8") as lines:
                lines.write(json.dumps({"name": fate.mutant.name, "killed": fate.killed, "how": fate.how}) + "\n")

    hypothesis.settings.register_profile("mutation", derandomize=True, database=None, deadline=None)
    hypothesis.settings.load_profile("mutation")
    silent = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--assert=plain", "--capture=sys"]
    pytest.main([*silent, *tests], plugins=[Runner(chosen, jobs, seconds, tell)])
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """0 when no mutant survives, 1 otherwise."""
    parser = argparse.ArgumentParser(prog="mutation")
    parser.add_argument("files", nargs="*", help="metric files without their ending; default: all")
    parser.add_argument("--sample", type=int, default=None, help="so many mutants of each file; default: all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=20.0, help="of tests that a mutant meets, the quickest first")
    parser.add_argument("--tests", nargs="+", default=TESTS, metavar="PATH", help="ask only these")
    parser.add_argument("--log", type=Path, default=None, help="keep what became of each mutant, and go on from there")
    parser.add_argument("--write", action="store_true", help="write MUTATION.md")
    asked = parser.parse_args(arguments)
    began = time.monotonic()
    every = {file: mutants(file) for file in asked.files or FILES}
    chosen: list[Mutant] = []
    for file, members in every.items():
        drawn = random.Random(f"{asked.seed}/{file}")
        chosen += members if asked.sample is None else drawn.sample(members, min(asked.sample, len(members)))
    before = kept(asked.log)
    settled = [before[mutant.name] for mutant in chosen if mutant.name in before and before[mutant.name].killed]
    waiting = [mutant for mutant in chosen if not (mutant.name in before and before[mutant.name].killed)]
    random.Random(asked.seed).shuffle(waiting)  # so that a run that is cut short has seen something of every file
    os.chdir(ROOT)
    found = [*settled, *tried(waiting, asked.jobs, asked.seconds, asked.log, asked.tests)]
    if len(found) < len(chosen):
        return 1
    found.sort(key=lambda fate: (fate.mutant.file, fate.mutant.number))
    totals = {file: len(members) for file, members in every.items()}
    text = report(found, totals, asked.seed, asked.sample, time.monotonic() - began)
    sys.stdout.write(text)
    if asked.write:
        REPORT.write_text(text, encoding="utf-8")
    return 1 if survivors(found) else 0


if __name__ == "__main__":
    for library in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(library, "1")
    sys.exit(main())
