"""Mutation: one sign, constant or comparison of a metric file is changed, and some test must fail.

    python -m tests.bench.mutation [--sample N] [--seed N] [--jobs N] [--write] [file ...]

Nothing is written to the sources. Each mutant lives in a process of its own, in which the changed module is compiled
from memory before anything of ours is imported; then the tests of its chapter run there until the first that fails.
A mutant that uses more processor time than its tests can need, or ends its process, counts as killed. `--write` puts
the result into MUTATION.md beside this file.
"""

from __future__ import annotations

import argparse
import ast
import copy
import importlib.abc
import importlib.machinery
import os
import random
import resource
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
METRICS = ROOT / "dossier" / "metrics"
REPORT = Path(__file__).with_name("MUTATION.md")

TWINS = "tests/metrics/test_two_ways.py"
GOLDEN = "tests/reference/test_every_golden_number.py"
LAWS = "tests/test_laws.py"
SMALL_PRINT = "tests/metrics/test_small_print.py"

OWN: dict[str, tuple[str, ...]] = {
    "resampling": ("tests/metrics/test_discrimination.py", "tests/metrics/test_calibration.py"),
    "intervals": ("tests/metrics/test_intervals.py", "tests/metrics/test_discrimination.py"),
    "changes": ("tests/test_changes.py",),
    "clusters": ("tests/test_clusters.py",),
    "imputations": ("tests/test_imputations.py",),
    "weighted": ("tests/test_weights.py",),
    "once": ("tests/metrics/test_many_rows.py",),
    "inversion": ("tests/metrics/test_inversion.py", "tests/metrics/test_calibration.py"),
}
"""Files whose tests stand in other chapters; the others have a file of tests of their name."""

BESIDE: dict[str, tuple[str, ...]] = {
    "accuracy": (TWINS,),
    "calibration": (TWINS, GOLDEN),
    "comparison": (GOLDEN,),
    "correspondence": (GOLDEN,),
    "discrimination": (TWINS, GOLDEN),
    "human_factors": (TWINS, GOLDEN),
    "intervals": (GOLDEN,),
    "pooled": (GOLDEN,),
    "reliability": (GOLDEN,),
    "sample": (TWINS, GOLDEN),
    "utility": (GOLDEN,),
}
"""What a file's mutants must also pass by after its own tests; the laws of its measures come last, for every file."""

UNTOLD = frozenset(("bootstrap", "seed", "permutations", "level"))
"""Defaults that a release always sets: 1,000 replicates or 1,001 are no difference that a test should see."""

PROCESSOR_SECONDS = 120
"""What a mutant may use; the tests of a file need some thirty. Unlike the clock it does not run while others work."""


# ---- what a mutant is -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Mutant:
    """One change of one file: where it stands, in which function, and what it was and became."""

    file: str
    number: int
    line: int
    function: str
    before: str
    after: str

    @property
    def name(self) -> str:
        """What the list of equivalent mutants calls it: without the line, which moves."""
        return f"{self.file}.{self.function}: {self.before} -> {self.after}"


ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.Pow: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.MatMult: ast.Add,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
COMPARISON: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}


def changes(node: ast.AST) -> Iterator[ast.AST]:
    """Every changed copy of one node; none when it holds nothing to change."""
    changed = copy.deepcopy(node)
    match changed:
        case ast.BinOp(op=op) if type(op) in ARITHMETIC and not _joins_words(changed):
            changed.op = ARITHMETIC[type(op)]()
            yield changed
        case ast.Compare(ops=ops) if type(ops[0]) in COMPARISON:
            changed.ops[0] = COMPARISON[type(ops[0])]()
            yield changed
        case ast.BoolOp(op=ast.And()):
            changed.op = ast.Or()
            yield changed
        case ast.BoolOp(op=ast.Or()):
            changed.op = ast.And()
            yield changed
        case ast.UnaryOp(op=ast.USub() | ast.Not() | ast.Invert()):
            yield changed.operand
        case ast.Constant(value=bool(value)):
            changed.value = not value
            yield changed
        case ast.Constant(value=int() | float() as value):
            changed.value = value + 1
            yield changed


def _joins_words(node: ast.BinOp) -> bool:
    return any(isinstance(side, ast.JoinedStr | ast.Constant) and _is_text(side) for side in (node.left, node.right))


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


@dataclass(frozen=True)
class Place:
    """Where a node hangs in its tree, and the function around it."""

    parent: ast.AST
    field: str
    index: int | None
    function: str


def places(tree: ast.Module) -> Iterator[tuple[Place, ast.AST]]:
    """Every node that may be changed, in the order of the file: no decorator, type, word or release's default."""
    yield from _below(tree, "")


def _below(parent: ast.AST, function: str) -> Iterator[tuple[Place, ast.AST]]:
    for field, value in ast.iter_fields(parent):
        if field in ("decorator_list", "annotation", "returns", "type_params"):
            continue
        if isinstance(parent, ast.keyword) and parent.arg == "strict":
            continue  # zip's guard: columns of one length are one length with it and without
        for index, node in enumerate(value) if isinstance(value, list) else ((None, value),):
            if not isinstance(node, ast.AST) or isinstance(node, ast.JoinedStr):
                continue
            inside = node.name if isinstance(node, ast.FunctionDef | ast.ClassDef) else function
            if isinstance(node, ast.arguments):
                yield from _defaults(node, inside or function)
                continue
            yield Place(parent, field, index, inside), node
            yield from _below(node, inside)


def _defaults(arguments: ast.arguments, function: str) -> Iterator[tuple[Place, ast.AST]]:
    named = [*arguments.posonlyargs, *arguments.args][-len(arguments.defaults) :] if arguments.defaults else []
    for index, (name, node) in enumerate(zip(named, arguments.defaults, strict=True)):
        if name.arg not in UNTOLD:
            yield Place(arguments, "defaults", index, function), node


def mutants(file: str) -> list[Mutant]:
    """Every mutant of a metric file, numbered in the order of the file."""
    found: list[Mutant] = []
    for place, node in places(_tree(file)):
        for changed in changes(node):
            said = (ast.unparse(node), ast.unparse(changed))
            found.append(Mutant(file, len(found), getattr(node, "lineno", 0), place.function, *said))
    return found


def mutated(file: str, number: int) -> CodeType:
    """The compiled module with one change in it."""
    tree, count = _tree(file), 0
    for place, node in places(tree):
        for changed in changes(node):
            if count == number:
                ast.copy_location(changed, node)
                if place.index is None:
                    setattr(place.parent, place.field, changed)
                else:
                    getattr(place.parent, place.field)[place.index] = changed
                return compile(ast.fix_missing_locations(tree), str(METRICS / f"{file}.py"), "exec")
            count += 1
    raise ValueError(f"{file} has no mutant {number}")


def _tree(file: str) -> ast.Module:
    return ast.parse((METRICS / f"{file}.py").read_text(encoding="utf-8"))


# ---- how a mutant lives ---------------------------------------------------------------------------------------------


class _OneModule(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports one module of ours from code that was compiled from memory."""

    def __init__(self, name: str, code: CodeType) -> None:
        self.name, self.code = name, code

    def find_spec(self, name: str, path: object = None, target: object = None) -> importlib.machinery.ModuleSpec | None:
        return importlib.machinery.ModuleSpec(name, self) if name == self.name else None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        module.__file__ = self.code.co_filename
        exec(self.code, module.__dict__)


def preload() -> None:
    """Import what is slow and not ours, once, so that every mutant starts with it."""
    import hypothesis
    import jinja2  # noqa: F401
    import joblib  # noqa: F401
    import matplotlib.pyplot  # noqa: F401
    import numpy  # noqa: F401
    import pandas  # noqa: F401
    import pyarrow.csv  # noqa: F401
    import pydantic  # noqa: F401
    import pytest  # noqa: F401
    import scipy.optimize
    import scipy.stats  # noqa: F401
    import weasyprint  # noqa: F401

    hypothesis.settings.register_profile("mutation", derandomize=True, database=None, deadline=None)
    hypothesis.settings.load_profile("mutation")
    if any(name == "dossier" or name.startswith("dossier.") for name in sys.modules):
        raise RuntimeError("ours was imported before the mutant")


def faced_by(file: str) -> list[str]:
    """The tests that belong to a metric file, its own first."""
    own = OWN.get(file, (f"tests/metrics/test_{file}.py",))
    return [one for one in (*own, SMALL_PRINT, *BESIDE.get(file, ()), LAWS) if (ROOT / one).is_file()]


class _LawsOf:
    """Leaves out the laws of the measures of other files."""

    def __init__(self, file: str) -> None:
        self.module = f"dossier.metrics.{file}"

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        items[:] = [item for item in items if self._belongs(item)]

    def _belongs(self, item: Any) -> bool:
        asked = getattr(item, "callspec", None)
        maker = None if asked is None else asked.params.get("metric", asked.params.get("maker"))
        function = getattr(maker, "function", None)
        return function is None or function.__module__ == self.module


def live(file: str, number: int) -> int:
    """Start a process that runs the tests of a file with this mutant; the process's number."""
    process = os.fork()
    if process:
        return process
    code = 70
    try:
        resource.setrlimit(resource.RLIMIT_CPU, (PROCESSOR_SECONDS, PROCESSOR_SECONDS))
        sys.meta_path.insert(0, _OneModule(f"dossier.metrics.{file}", mutated(file, number)))
        code = _tested(faced_by(file), _LawsOf(file))
    finally:
        os._exit(code)


def _tested(files: Sequence[str], *plugins: object) -> int:
    """Run these tests in silence until the first that fails."""
    import pytest

    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    return int(pytest.main(["-x", "-q", "-p", "no:cacheprovider", "--assert=plain", *files], plugins=list(plugins)))


def without_mutants(files: Sequence[str]) -> None:
    """Run the tests of all these files once as they are; they must pass, or every mutant would seem killed."""
    process = os.fork()
    if process == 0:
        code = 70
        try:
            code = _tested(list(dict.fromkeys(test for file in files for test in faced_by(file))))
        finally:
            os._exit(code)
    _, status = os.waitpid(process, 0)
    if os.waitstatus_to_exitcode(status) != 0:
        raise RuntimeError("the tests fail without a mutant")


@dataclass(frozen=True)
class Fate:
    """What became of a mutant: killed by a failing test, by its time, or not."""

    mutant: Mutant
    killed: bool
    how: str


def fates(chosen: Sequence[Mutant], jobs: int) -> Iterator[Fate]:
    """Let the mutants live, so many at once, and tell of each when it is over."""
    waiting, running = list(reversed(chosen)), dict[int, Mutant]()
    while waiting or running:
        while waiting and len(running) < jobs:
            mutant = waiting.pop()
            running[live(mutant.file, mutant.number)] = mutant
        process, status = os.wait()
        code = os.waitstatus_to_exitcode(status)
        how = {0: "survived", 1: "test", -signal.SIGXCPU: "time", -signal.SIGKILL: "time"}.get(code, "import or crash")
        yield Fate(running.pop(process), code != 0, how)


# ---- the mutants that no test can kill ------------------------------------------------------------------------------

EQUIVALENT: dict[str, str] = {
    "advice.advisor_value: 1.0 -> 2.0": "The mean confidence does not pass 1, so that the cut never acts.",
    "advice.calibration_refuted: chi2.sf(statistic, max(1, int(np.sum(~sure)))) < (1 - level) / 2 -> "
    "chi2.sf(statistic, max(1, int(np.sum(~sure)))) <= (1 - level) / 2": "A p value never equals the level.",
    "calibration._bin_sums: 10 -> 11": "An eleventh bin into which no risk falls.",
    "correspondence.: 1e-09 -> 1.000000001": "It damps the steps of the fit and does not move where they end.",
    "correspondence.ridge_logistic: weight + NEVER_SINGULAR -> weight - NEVER_SINGULAR": "It damps the steps only.",
    "correspondence.ridge_logistic: 40 -> 41": "More halvings than a step can need.",
    "correspondence.ridge_logistic: 100 -> 101": "More steps than a fit can need.",
    "discrimination._multinomial_error: se > 1e-12 -> se >= 1e-12": "A standard error never equals 1e-12.",
    "pooled._restricted_maximum_likelihood: slope(upper) > 0 -> slope(upper) >= 0": "A slope is never exactly 0 there.",
    "utility.automation_bias: yes >= raters / 2 -> yes > raters / 2": "With half of them d is 1: both give .5.",
}
"""By name, the mutants that compute the same, with the reason."""


def survivors(found: Sequence[Fate]) -> list[Fate]:
    """Those that lived and are not known to compute the same."""
    return [fate for fate in found if not fate.killed and fate.mutant.name not in EQUIVALENT]


# ---- the report -----------------------------------------------------------------------------------------------------


def report(found: Sequence[Fate], totals: dict[str, int], seed: int, sample: int | None, seconds: float) -> str:
    """MUTATION.md."""
    lines = ["# Mutation", ""]
    how = "all of them" if sample is None else f"{sample} drawn from each file with seed {seed}"
    lines.append(f"{len(found)} of {sum(totals.values())} mutants ({how}), {seconds / 60:.0f} minutes.")
    lines.append("Made by `make mutation`; what a mutant is, and which tests it must face, stands in `mutation.py`.")
    lines += ["", "| file | mutants | tried | killed | equivalent | survived |", "|---|---|---|---|---|---|"]
    for file in sorted(totals):
        mine = [fate for fate in found if fate.mutant.file == file]
        killed, lived = sum(fate.killed for fate in mine), len(survivors(mine))
        lines.append(f"| {file} | {totals[file]} | {len(mine)} | {killed} | {len(mine) - killed - lived} | {lived} |")
    alike = [fate for fate in found if not fate.killed and fate.mutant.name in EQUIVALENT]
    for title, fates_of in (("Survivors", survivors(found)), ("Equivalent", alike)):
        lines += ["", f"## {title}", ""]
        lines += [_line(fate.mutant) for fate in fates_of] or ["None."]
    return "\n".join(lines) + "\n"


def _line(mutant: Mutant) -> str:
    before, after = (text.replace("\n", " ").replace("`", "'") for text in (mutant.before, mutant.after))
    reason = EQUIVALENT.get(mutant.name)
    return f"- {mutant.file}, {mutant.function or 'module'}: `{before}` becomes `{after}`" + (
        f". {reason}" if reason else ""
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """0 when no mutant survives, 1 otherwise."""
    parser = argparse.ArgumentParser(prog="mutation")
    parser.add_argument("files", nargs="*", help="metric files without their ending; default: all")
    parser.add_argument("--sample", type=int, default=None, help="so many mutants of each file; default: all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--write", action="store_true", help="write MUTATION.md")
    asked = parser.parse_args(arguments)
    os.chdir(ROOT)
    known = sorted(path.stem for path in METRICS.glob("*.py") if path.stem != "__init__")
    files = asked.files or known
    began = time.monotonic()
    preload()
    every = {file: mutants(file) for file in files}
    chosen: list[Mutant] = []
    for file, members in every.items():
        drawn = random.Random(f"{asked.seed}/{file}")
        kept = members if asked.sample is None else drawn.sample(members, min(asked.sample, len(members)))
        chosen += kept
    random.Random(asked.seed).shuffle(chosen)  # so that a run that is cut short has seen something of every file
    without_mutants(files)
    found = []
    for fate in fates(chosen, asked.jobs):
        found.append(fate)
        sys.stderr.write(f"{len(found)}/{len(chosen)} {fate.how}: {fate.mutant.line} {fate.mutant.name}\n")
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
