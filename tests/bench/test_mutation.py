"""The script that changes the metric files one place at a time: it changes one place, and always the same."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.bench import mutation, runner
from tests.bench.mutants import FILES, METRICS, Mutant, changes, mutants, mutated, parsed, places
from tests.bench.mutation import equivalent, kept, report, survivors
from tests.bench.runner import Fate, Run, Runner, watched


def mutant(number: int, lines: tuple[int, ...] = (3, 4)) -> Mutant:
    return Mutant("a", number, 3, frozenset(lines), "f", "x + y", f"x - {number}")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a + b", ["a - b"]),
        ("a / b", ["a * b"]),
        ("a ** b", ["a * b"]),
        ("-a", ["a"]),
        ("not a", ["a"]),
        ("a < b", ["a <= b"]),
        ("a >= b", ["a > b"]),
        ("a == b", ["a != b"]),
        ("a and b", ["a or b"]),
        ("2", ["3"]),
        ("True", ["False"]),
        ("'word'", []),
        ("'a' + b", []),
        ("a", []),
    ],
)
def test_what_one_node_becomes(before: str, after: list[str]) -> None:
    node = ast.parse(before, mode="eval").body
    assert [ast.unparse(changed) for changed in changes(node)] == after
    assert ast.unparse(node) == ast.unparse(ast.parse(before, mode="eval").body), "the original is left as it was"


@pytest.mark.parametrize("file", FILES)
def test_every_file_has_mutants_by_number_and_name(file: str) -> None:
    found = mutants(file)
    assert [mutant.number for mutant in found] == list(range(len(found)))
    assert len({mutant.name for mutant in found}) == len(found)
    assert found == mutants(file)


def test_one_place_is_changed_and_no_other() -> None:
    original = ast.unparse(parsed("severity")).splitlines()
    for mutant in mutants("severity"):
        changed = ast.unparse(mutated("severity", mutant.number)).splitlines()
        assert len([pair for pair in zip(original, changed, strict=True) if pair[0] != pair[1]]) == 1, mutant
    with pytest.raises(ValueError, match=f"severity has no mutant {len(mutants('severity'))}"):
        mutated("severity", len(mutants("severity")))


def test_decorators_words_and_types_are_left_alone() -> None:
    said = {mutant.before for mutant in mutants("severity")}
    assert not any(text.startswith("'") for text in said)
    assert not any(mutant.function == "" and mutant.before in ("0", "10", "1") for mutant in mutants("severity"))
    assert not any(mutant.before == "Weighted | Absent" for mutant in mutants("weighted"))


def test_the_name_of_a_mutant_counts_what_a_function_has_twice() -> None:
    tree = ast.parse("def f(x):\n    return x + 1 - 1\n")
    assert [ast.unparse(node) for _, node in places(tree) if list(changes(node))] == ["x + 1 - 1", "x + 1", "1", "1"]
    twice = [mutant for mutant in mutants("severity") if mutant.name.endswith("(2)")]
    assert twice
    assert all(mutant.name[: -len(" (2)")] in {first.name for first in mutants("severity")} for mutant in twice)


# ---- which tests meet a mutant --------------------------------------------------------------------------------------

SOURCE = """\
def sign(x):
    if x < 0:
        return -1
    elif (x
          > 0):
        return [
            one
            for one in (1,)
        ][0]
    return 0
"""


@pytest.mark.parametrize(("x", "lines"), [(-1, {2, 3}), (1, {2, 4, 5, 6, 7, 8, 9}), (0, {2, 4, 5, 10})])
def test_a_watched_module_notes_the_lines_that_run(x: int, lines: set[int]) -> None:
    module = ModuleType("watched")
    seen = module.__dict__["seen"] = set[int]()
    exec(compile(watched(ast.parse(SOURCE), "seen"), "watched", "exec"), module.__dict__)
    assert not seen, "nothing is noted before a function runs"
    assert module.__dict__["sign"](x) == x
    assert seen == lines


def test_a_mutant_meets_the_tests_that_run_its_lines() -> None:
    run = Run(1.0, {"a": frozenset((1, 4))})
    assert run.meets(mutant(0))
    assert not run.meets(mutant(0, (2, 3)))
    assert run.meets(mutant(0, ())), "what has no lines may act wherever its file is at work"
    assert not Run(1.0, {"b": frozenset((3, 4))}).meets(mutant(0, ()))


def test_a_constant_acts_where_it_is_read_and_a_default_in_its_function() -> None:
    named = {mutant.name: mutant for file in ("advice", "correspondence", "weighted") for mutant in mutants(file)}
    source = (METRICS / "advice.py").read_text(encoding="utf-8").splitlines()
    bins = named["advice.: 10 -> 11"].lines
    assert bins
    assert all("BINS" in source[line - 1] for line in bins)
    assert len(named["correspondence.ridge_logistic: 0.01 -> 1.01"].lines) > 10
    assert named["weighted.Rows: 0.5 -> 1.5"].lines == frozenset()


def test_a_mutant_meets_the_quickest_tests_first_as_far_as_the_time_goes() -> None:
    runs = [Run(seconds, {"a": frozenset((4,))}) for seconds in (3.0, 1.0, 2.0)]
    assert Runner([], 1, 10.0, print)._facing(mutant(0), runs) == [1, 2, 0]
    assert Runner([], 1, 5.0, print)._facing(mutant(0), runs) == [1, 2]


@pytest.mark.parametrize(
    ("name", "ask", "before", "after"),
    [
        ("advice.: 10 -> 11", "advice.BINS", "10", "11"),
        ("inversion.: 20 -> 21", "(inversion.INWARD, inversion.OUTWARD)", "(40, 20)", "(40, 21)"),
        (
            "correspondence.ridge_logistic: 0.01 -> 1.01",
            "correspondence.ridge_logistic.__defaults__",
            "(0.01,)",
            "(1.01,)",
        ),
        ("severity.confusion: predicted * k -> predicted / k", "severity.confusion.__code__.co_code", None, None),
    ],
)
def test_a_transplanted_mutant_acts_in_the_running_program(
    name: str, ask: str, before: str | None, after: str | None
) -> None:
    file = name.partition(".")[0]
    number = next(mutant.number for mutant in mutants(file) if mutant.name == name)
    program = f"""\
from dossier.metrics import {file}
from tests.bench.mutants import mutants
from tests.bench.runner import transplant
before = {ask}
transplant(mutants("{file}")[{number}])
after = {ask}
print(before if type(before) is not bytes else "old")
print(after if type(after) is not bytes else "new" if after != before else "old")
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=mutation.ROOT, check=True
    )
    assert done.stdout.splitlines() == [before or "old", after or "new"]


def test_a_mutant_is_killed_or_survives_and_the_log_keeps_it(tmp_path: Path) -> None:
    names = (
        "severity.confusion: predicted * k -> predicted / k",
        "severity.index_of_classes: root > 1e-12 -> root >= 1e-12",
    )
    log = tmp_path / "log.jsonl"
    program = f"""\
import sys
from pathlib import Path
from tests.bench import mutation
from tests.bench.mutants import mutants
chosen = [one for one in mutants("severity") if one.name in {names!r}]
mutation.tried(chosen, 2, 30.0, Path({str(log)!r}), ["tests/metrics/test_severity.py"])
"""
    subprocess.run([sys.executable, "-c", program], capture_output=True, cwd=mutation.ROOT, check=True)
    found = kept(log)
    assert {name: found[name].killed for name in names} == dict(zip(names, (True, False), strict=True))
    assert json.loads(log.read_text(encoding="utf-8").splitlines()[0]).keys() == {"name", "killed", "how"}
    assert kept(None) == kept(tmp_path / "none") == {}


# ---- the report -----------------------------------------------------------------------------------------------------


def test_every_equivalent_mutant_exists_and_has_its_reason() -> None:
    known = {mutant.name for file in FILES for mutant in mutants(file)}
    assert sorted(equivalent().keys() - known) == []
    assert all(reason.endswith(".") and len(reason) > 20 for reason in equivalent().values())


def test_survivors_are_those_that_live_and_have_no_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [
        Fate(mutant(0), True, "a test fails"),
        Fate(mutant(1), False, "survived"),
        Fate(mutant(2), False, "no test runs it"),
    ]
    monkeypatch.setattr(mutation, "equivalent", lambda: {mutant(1).name: "The same in other words."})
    assert survivors(found) == [found[2]]
    text = report(found, {"a": 9}, seed=1, sample=3, seconds=120)
    assert "3 of 9 mutants (3 drawn from each file with seed 1), 2 minutes." in text
    assert "| a | 9 | 3 | 1 | 1 | 1 |" in text
    assert "`x + y` becomes `x - 1`: The same in other words." in text
    assert "`x + y` becomes `x - 2`: no test runs it" in text


def test_how_the_process_of_a_mutant_ended() -> None:
    ended = {code: runner._fate(mutant(0), code) for code in (0, 1, 70, 71, -24)}
    assert [fate.killed for fate in ended.values()] == [False, True, True, False, True]
    assert len({fate.how for fate in ended.values()}) == 5
    assert METRICS.is_dir()
