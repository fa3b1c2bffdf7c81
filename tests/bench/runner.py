"""Where mutants live: the tests are collected once, and each mutant meets those that run its lines, in its own process.

A plugin of pytest takes the place of the loop over the tests. First every test runs once without a mutant, in a process
of its own that notes which lines of the metric files it runs and how long it takes. Then each mutant gets a copy of the
whole process, in which the code of its one function, or the value of its one constant, is exchanged; there the tests
that run its lines follow one another, the quickest first, until one fails. Nothing is written to the sources.
"""

from __future__ import annotations

import ast
import contextlib
import copy
import gc
import itertools
import os
import pickle
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import CodeType, FunctionType, ModuleType
from typing import IO

import pytest

from tests.bench.mutants import Mutant, mutated, parsed, path_of

Key = tuple[str, int]
"""A piece of code by its qualified name and first line."""

SURVIVED, KILLED, CRASH, NOT_TRIED = 0, 1, 70, 71
"""How the process of a mutant ends."""

LEAST_SECONDS, TIMES_AS_LONG = 20, 5
"""Processor seconds that a mutant may use at least, and how many times what its tests need without it."""


@dataclass(frozen=True)
class Run:
    """What a test did without a mutant: how long it took, and which lines of which metric files it ran."""

    seconds: float
    lines: Mapping[str, frozenset[int]]

    def meets(self, mutant: Mutant) -> bool:
        """Whether it ran a line where the mutant acts."""
        lines = self.lines.get(mutant.file, frozenset())
        return not lines.isdisjoint(mutant.lines or lines)


@dataclass(frozen=True)
class Fate:
    """What became of a mutant: killed by a failing test, by its time, or not."""

    mutant: Mutant
    killed: bool
    how: str


# ---- how the running program is changed -----------------------------------------------------------------------------


def transplant(mutant: Mutant) -> None:
    """Change the metric file that is already imported; ValueError where that cannot be done."""
    before, after = parsed(mutant.file), mutated(mutant.file, mutant.number)
    module = sys.modules[f"dossier.metrics.{mutant.file}"]
    if exchanged(mutant.file, before, after):
        return
    index = next(
        number
        for number, (old, new) in enumerate(zip(before.body, after.body, strict=True))
        if _said(old) != _said(new)
    )
    _rebind(after.body[index], module)


def _said(node: ast.AST) -> str:
    return ast.dump(node)


def exchanged(file: str, before: ast.Module, after: ast.Module) -> bool:
    """Give every function whose code differs its new code; whether there was one."""
    old, new = (_codes(compile(tree, str(path_of(file)), "exec")) for tree in (before, after))
    differing = {key for key in old if old[key] != new[key]} - {("<module>", 1)}
    found = False
    for function in living(file):
        key = (function.__code__.co_qualname, function.__code__.co_firstlineno)
        if key in differing:
            function.__code__ = new[key]
            found = True
    return found


@cache
def living(file: str) -> list[FunctionType]:
    """Every function of a metric file that the program holds, decorated or not."""
    name = str(path_of(file))
    return [
        entry for entry in gc.get_objects() if isinstance(entry, FunctionType) and entry.__code__.co_filename == name
    ]


def _codes(code: CodeType) -> dict[Key, CodeType]:
    found = {(code.co_qualname, code.co_firstlineno): code}
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            found |= _codes(constant)
    return found


def _rebind(statement: ast.stmt, module: ModuleType) -> None:
    """Let a changed statement of a module act: a constant, the default of an argument or of a field."""
    bare = copy.deepcopy(statement)
    scratch = dict(module.__dict__)
    if isinstance(bare, ast.FunctionDef):
        bare.decorator_list = []
    exec(compile(ast.Module([bare], []), module.__file__ or "", "exec"), scratch)
    if isinstance(bare, ast.FunctionDef):
        for function in living(module.__name__.rpartition(".")[2]):
            if function.__qualname__ == bare.name:
                function.__defaults__ = scratch[bare.name].__defaults__
        return
    if isinstance(bare, ast.ClassDef):
        getattr(module, bare.name).__init__.__defaults__ = scratch[bare.name].__init__.__defaults__
        return
    names = [name for name, value in scratch.items() if module.__dict__.get(name) is not value]
    if not names:
        raise ValueError(f"{module.__name__}: this statement gives no name a new value: {ast.unparse(bare)}")
    for name in names:
        for holder in (module, *_importers(module, name)):
            setattr(holder, name, scratch[name])


def _importers(module: ModuleType, name: str) -> Iterator[ModuleType]:
    """The modules of ours that import this name from this module."""
    for each in list(sys.modules.values()):
        file = getattr(each, "__file__", None)
        if file and each.__name__.startswith(("dossier.", "tests.")) and hasattr(each, name):
            with open(file, encoding="utf-8") as source:  # noqa: PTH123
                tree = ast.parse(source.read())
            if any(
                isinstance(node, ast.ImportFrom)
                and node.module == module.__name__
                and any(alias.name == name for alias in node.names)
                for node in ast.walk(tree)
            ):
                yield each


# ---- the tests without a mutant -------------------------------------------------------------------------------------


def watched(tree: ast.Module, name: str) -> ast.Module:
    """A module that, before each statement of a function, puts its lines into the set of this name."""
    for node in ast.walk(tree):
        for block in ("body", "orelse", "finalbody"):
            statements = getattr(node, block, None)
            if isinstance(statements, list) and not isinstance(node, ast.Module | ast.ClassDef):
                setattr(node, block, [each for statement in statements for each in (_note(statement, name), statement)])
    return ast.fix_missing_locations(tree)


def _note(statement: ast.stmt, name: str) -> ast.stmt:
    inner = [each for block in ("body", "cases") for each in getattr(statement, block, ())]
    first_inside = min((node.lineno for node in inner if isinstance(node, ast.stmt)), default=None)
    last = max(statement.lineno, first_inside - 1) if first_inside else statement.end_lineno or statement.lineno
    note = ast.parse(f"{name}.update(range({statement.lineno}, {last + 1}))").body[0]
    for node in ast.walk(note):
        ast.copy_location(node, statement)
    return note


def _run(item: pytest.Item, seen: Mapping[str, set[int]]) -> Run:
    for lines in seen.values():
        lines.clear()
    began = time.process_time()
    if _fails(item):
        os.write(2, f"{item.nodeid} fails without a mutant\n".encode())
        raise RuntimeError(item.nodeid)
    return Run(time.process_time() - began, {file: frozenset(lines) for file, lines in seen.items() if lines})


def _fails(item: pytest.Item) -> bool:
    """Run one test with all its fixtures made anew."""
    from _pytest.runner import runtestprotocol

    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    return any(report.failed for report in runtestprotocol(item, nextitem=None, log=False))


# ---- the tests with a mutant ----------------------------------------------------------------------------------------


@dataclass
class Runner:
    """The plugin: it holds the mutants to try and hands out what becomes of each."""

    chosen: Sequence[Mutant]
    jobs: int
    seconds: float
    """Processor seconds of tests that a mutant meets at most."""
    tell: Callable[[Fate], None]

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """In place of the loop over the tests."""
        # What lives is found among all objects, of which those before the tests were left out.
        gc.unfreeze()
        runs = self._runs(session.items)
        for file in {mutant.file for mutant in self.chosen}:
            living(file)  # looked for once, not in every copy of the process
        waiting, running = list(reversed(self.chosen)), dict[int, Mutant]()
        while waiting or running:
            while waiting and len(running) < self.jobs:
                mutant = waiting.pop()
                facing = self._facing(mutant, runs)
                if facing:
                    needed = sum(runs[position].seconds for position in facing)
                    running[self._live(mutant, [session.items[position] for position in facing], needed)] = mutant
                else:
                    self.tell(Fate(mutant, False, "no test runs it"))
            if running:
                process, status = os.wait()
                self.tell(_fate(running.pop(process), os.waitstatus_to_exitcode(status)))
        return True

    def _facing(self, mutant: Mutant, runs: Sequence[Run]) -> list[int]:
        """The tests that the mutant meets, the quickest first, as far as the time goes."""
        places = [index for index, run in enumerate(runs) if run.meets(mutant)]
        places.sort(key=lambda position: runs[position].seconds)
        used = itertools.accumulate(runs[position].seconds for position in places)
        return [position for position, seconds in zip(places, used, strict=True) if seconds <= self.seconds]

    def _runs(self, items: Sequence[pytest.Item]) -> list[Run]:
        """What every test does without a mutant."""
        files = sorted({mutant.file for mutant in self.chosen})
        shares = [range(first, len(items), self.jobs) for first in range(self.jobs)]
        with contextlib.ExitStack() as stack:
            kept = [stack.enter_context(tempfile.TemporaryFile()) for _ in shares]
            processes = [_child(items, share, files, into) for share, into in zip(shares, kept, strict=True)]
            ended = [os.waitpid(process, 0)[1] for process in processes]
            if any(ended):
                raise RuntimeError("the tests without a mutant did not end well")
            runs: dict[int, Run] = {}
            for share, into in zip(shares, kept, strict=True):
                into.seek(0)
                runs |= dict(zip(share, pickle.load(into), strict=True))
        return [runs[index] for index in range(len(items))]

    def _live(self, mutant: Mutant, items: Sequence[pytest.Item], needed: float) -> int:
        process = os.fork()
        if process:
            return process
        code = NOT_TRIED
        try:
            transplant(mutant)
            allowed = int(LEAST_SECONDS + TIMES_AS_LONG * needed)
            resource.setrlimit(resource.RLIMIT_CPU, (allowed, allowed))
            code = CRASH
            code = KILLED if any(_fails(item) for item in items) else SURVIVED
        finally:
            os._exit(code)


def _child(items: Sequence[pytest.Item], share: Sequence[int], files: Sequence[str], into: IO[bytes]) -> int:
    """Start a process that runs these tests without a mutant and keeps what they did; its number."""
    process = os.fork()
    if process:
        return process
    code = 1
    try:
        # From now on each of these files puts the lines that it runs into the set given back for it.
        seen: dict[str, set[int]] = {}
        for file in files:
            seen[file] = sys.modules[f"dossier.metrics.{file}"].__dict__["__lines_that_ran__"] = set()
            exchanged(file, parsed(file), watched(parsed(file), "__lines_that_ran__"))
        pickle.dump([_run(items[position], seen) for position in share], into)
        into.flush()
        code = 0
    finally:
        os._exit(code)


def _fate(mutant: Mutant, code: int) -> Fate:
    how = {
        SURVIVED: "survived",
        KILLED: "a test fails",
        CRASH: "the process ends",
        NOT_TRIED: "could not be tried",
        -signal.SIGXCPU: "no end",
        -signal.SIGKILL: "no end",
    }[code]
    return Fate(mutant, code not in (SURVIVED, NOT_TRIED), how)
