"""The script that changes the metric files one place at a time: it changes one place, and always the same."""

from __future__ import annotations

import ast

import pytest

from tests.bench import mutation
from tests.bench.mutation import Fate, Mutant, changes, faced_by, mutants, mutated, report, survivors

FILES = sorted(path.stem for path in mutation.METRICS.glob("*.py") if path.stem != "__init__")


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
def test_every_file_has_mutants_and_tests(file: str) -> None:
    found = mutants(file)
    assert found == mutants(file)
    assert [one.number for one in found] == list(range(len(found)))
    assert len(faced_by(file)) >= 2
    for one in (found[0], found[-1]):
        assert mutated(file, one.number).co_filename.endswith(f"{file}.py")


def test_one_place_is_changed_and_no_other() -> None:
    original = ast.unparse(mutation._tree("severity")).splitlines()
    for one in mutants("severity"):
        tree, count = mutation._tree("severity"), 0
        for place, node in list(mutation.places(tree)):
            for changed in changes(node):
                if count == one.number:
                    if place.index is None:
                        setattr(place.parent, place.field, changed)
                    else:
                        getattr(place.parent, place.field)[place.index] = changed
                count += 1
        differing = [pair for pair in zip(original, ast.unparse(tree).splitlines(), strict=True) if pair[0] != pair[1]]
        assert len(differing) == 1, one


def test_decorators_and_words_are_left_alone() -> None:
    said = {one.before for one in mutants("severity")}
    assert not any(one.startswith("'") for one in said)
    assert not any(one.function == "" and one.before in ("0", "10", "1") for one in mutants("severity"))


def test_survivors_are_those_that_live_and_have_no_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    mutant = [Mutant("a", number, 1, "f", "x + y", f"x - {number}") for number in range(3)]
    found = [Fate(mutant[0], True, "test"), Fate(mutant[1], False, "survived"), Fate(mutant[2], False, "survived")]
    monkeypatch.setattr(mutation, "EQUIVALENT", {mutant[1].name: "the same in other words"})
    assert survivors(found) == [found[2]]
    text = report(found, {"a": 9}, seed=1, sample=3, seconds=120)
    assert "3 of 9 mutants (3 drawn from each file with seed 1), 2 minutes." in text
    assert "| a | 9 | 3 | 1 | 1 | 1 |" in text
    assert "`x + y` becomes `x - 1`. the same in other words" in text
