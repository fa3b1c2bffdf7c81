"""Faults as values: every code has words and is raised somewhere, every word has its value, nobody reads the words."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

from dossier import reading
from dossier.core.errors import DataError, DossierError, Fault
from dossier.core.facts import Count, Fact
from dossier.core.faults import locations
from dossier.core.faults.catalogue import page
from dossier.core.faults.locations import Cell, File, Header, Key, Line, Location, Option, listed_table
from dossier.reading.faults import by_row
from dossier.words import entries
from tests.words import asked, texts

PACKAGE = Path(__file__).resolve().parent.parent / "dossier"
CATALOGUE, PHRASES = entries("faults"), entries("phrases")
TEXTS = {"what", "where", "fix"}
"""What of a fault is for people."""
READS = {"startswith", "endswith", "split", "rsplit", "partition", "rpartition", "find", "index", "count", "replace"}
READS |= {"removeprefix", "removesuffix", "match", "fullmatch", "search", "sub", "findall", "finditer"}
PLACE_OF_CODE = {"Fault": 0, "UnfitError": 0, "one": 0, "by_row": 0, "in_column": 0}


@cache
def modules() -> dict[Path, ast.Module]:
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(PACKAGE.rglob("*.py"))}


def name_of(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")


def constants(node: ast.AST) -> set[str]:
    return {child.value for child in ast.walk(node) if isinstance(child, ast.Constant) and isinstance(child.value, str)}


def functions(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    """The outermost functions and methods."""
    for node in tree.body:
        yield from (child for child in (node, *getattr(node, "body", ())) if isinstance(child, ast.FunctionDef))


def codes(call: ast.Call, function: ast.FunctionDef, tree: ast.Module) -> set[str]:
    """The codes that a call may give: written there, assigned in the function, or given to it by its callers."""
    first = call.args[0]
    if not isinstance(first, ast.Name):
        return (
            {constant for constant in constants(first) if constant in CATALOGUE}
            if isinstance(first, ast.IfExp)
            else constants(first)
        )
    if first.id not in {arg.arg for arg in function.args.args}:
        blocks = sorted(blocks_with(call, function), key=lambda block: sum(1 for _ in ast.walk(block)))
        found = (codes_of(first.id, block) for block in blocks)
        return next((some for some in found if some), set())
    callers = (node for node in ast.walk(tree) if isinstance(node, ast.Call) and name_of(node) == function.name)
    return {code for caller in callers for arg in caller.args for code in constants(arg)} & CATALOGUE.keys()


def blocks_with(call: ast.Call, function: ast.FunctionDef) -> list[ast.Module]:
    """The blocks of statements that a call stands in."""
    lists = [getattr(node, name, None) for node in ast.walk(function) for name in ("body", "orelse")]
    blocks = [ast.Module(body, []) for body in lists if isinstance(body, list)]
    return [block for block in blocks if any(node is call for node in ast.walk(block))]


def codes_of(name: str, block: ast.Module) -> set[str]:
    """The codes that are assigned to a name."""
    assigned = [node.value for node in ast.walk(block) if isinstance(node, ast.Assign) and name in names(node)]
    return {constant for value in assigned for constant in constants(value)} & CATALOGUE.keys()


def names(assignment: ast.Assign) -> set[str]:
    return {node.id for target in assignment.targets for node in ast.walk(target) if isinstance(node, ast.Name)}


def given(call: ast.Call, function: ast.FunctionDef) -> set[str] | None:
    """The names of the values of a call; None where they come from elsewhere."""
    found: set[str] = set()
    for keyword in call.keywords:
        if keyword.arg is not None:
            found.add(keyword.arg)
            continue
        named = [keyword.value.id] if isinstance(keyword.value, ast.Name) else []
        spread = [node.value for node in ast.walk(function) if isinstance(node, ast.Assign) and {*named} & names(node)]
        tables = [node for value in spread for node in ast.walk(value) if isinstance(node, ast.Dict)]
        if not tables:
            return None
        found |= {key for node in tables for name in node.keys if name is not None for key in constants(name)}
    if name_of(call) in ("by_row", "in_column") and len(call.args) > 4:
        case = call.args[4]
        bodies = (
            [case] if isinstance(case, ast.Lambda) else [node for node in ast.walk(function) if is_named(node, case)]
        )
        tables = [node for body in bodies for node in ast.walk(body) if isinstance(node, ast.Dict)]
        found |= {key for node in tables for name in node.keys if name is not None for key in constants(name)}
    return found


def is_named(node: ast.AST, name: ast.expr) -> bool:
    return isinstance(node, ast.FunctionDef) and isinstance(name, ast.Name) and node.name == name.id


@cache
def raised() -> tuple[tuple[str, str, frozenset[str] | None], ...]:
    """Where each code is given: the place, the code, and the names of its values."""
    found = []
    for path, tree in modules().items():
        for function in functions(tree):
            for call in (node for node in ast.walk(function) if isinstance(node, ast.Call)):
                if name_of(call) in PLACE_OF_CODE and call.args and path.name != "errors.py":
                    values = given(call, function)
                    name = f"{path.relative_to(PACKAGE)}:{call.lineno}"
                    found += [
                        (name, code, None if values is None else frozenset(values))
                        for code in codes(call, function, tree)
                    ]
        for table in (node for node in ast.walk(tree) if isinstance(node, ast.Dict) and path.name == "release.py"):
            for key, rule in zip(table.keys, table.values, strict=True):
                if isinstance(rule, ast.Lambda | ast.Name) and key is not None:
                    said = [each for node in ast.walk(rule) if isinstance(node, ast.Dict) for each in node.keys if each]
                    named = frozenset(name for each in said for name in constants(each))
                    found += [(f"{path.name}:{key.lineno}", code, named) for code in constants(key) & CATALOGUE.keys()]
    return tuple(found)


def fields_of(entry: str | Mapping[str, str]) -> set[str]:
    return asked(*texts(entry)) | ({"near"} & set(() if isinstance(entry, str) else entry))


def test_every_code_that_is_given_has_words() -> None:
    assert len(raised()) > 250
    assert {code for _, code, _ in raised()} <= CATALOGUE.keys()


def test_every_entry_is_given_somewhere() -> None:
    assert not CATALOGUE.keys() - {code for _, code, _ in raised()}


def test_every_fault_gives_the_values_that_its_words_name_and_no_others() -> None:
    beside: dict[str, set[str]] = {}
    wrong = []
    for position, code, values in raised():
        if values is not None:
            missing, idle = fields_of(CATALOGUE[code]) - values, values - fields_of(CATALOGUE[code])
            if missing:
                wrong.append((position, code, missing))
            beside.setdefault(position, set(idle)).intersection_update(idle)
    assert not wrong
    # One call may give several codes: a value is idle where none of them names it.
    assert not {position: idle for position, idle in beside.items() if idle}


def test_every_phrase_is_a_part_of_some_fault_and_has_its_values() -> None:
    used: dict[str, list[set[str]]] = {}
    spoken = set()
    for tree in modules().values():
        spoken |= constants(tree)
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            if name_of(call) == "Fact" and call.args and all(keyword.arg for keyword in call.keywords):
                for code in constants(call.args[0]) & PHRASES.keys():
                    used.setdefault(code, []).append({keyword.arg or "" for keyword in call.keywords})
    spoken |= {what for door in entries("arguments").values() for _, what, _ in door.values()}
    assert not PHRASES.keys() - spoken
    for code, values in used.items():
        assert fields_of(PHRASES[code]) in values, code


def test_nobody_reads_the_words_of_a_fault() -> None:
    reading = []
    for path, tree in modules().items():
        if not {"Fault", "DossierError"} & {
            alias.name
            for node in ast.walk(tree)
            for alias in getattr(node, "names", ())
            if isinstance(alias, ast.alias)
        }:
            continue
        reading += [
            f"{path.relative_to(PACKAGE)}:{getattr(node, 'lineno', 0)}" for node in ast.walk(tree) if asks_words(node)
        ]
    assert not reading


def asks_words(node: ast.AST) -> bool:
    """Whether an expression compares a text of a fault, or looks into it."""
    if isinstance(node, ast.Compare):
        asked = [side for side in (node.left, *node.comparators) if is_text(side)]
        return bool(asked) and not all(isinstance(operator, (ast.Is, ast.IsNot)) for operator in node.ops)
    if isinstance(node, ast.Subscript):
        return is_text(node.value)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in READS:
        return is_text(node.func.value) or any(map(is_text, node.args))
    return False


def is_text(node: ast.AST) -> bool:
    if isinstance(node, ast.Call) and name_of(node) == "str" and node.args:
        return "fault" in ast.unparse(node.args[0])
    return isinstance(node, ast.Attribute) and node.attr in TEXTS and ast.unparse(node.value) != "np"


@pytest.mark.parametrize(
    ("source", "reads"),
    [
        ('fault.what == "x"', True),
        ('"x" in fault.fix', True),
        ('fault.where.startswith("release.toml")', True),
        ('re.match("x", fault.where)', True),
        ('fault.where.split(", ", 1)', True),
        ("str(fault)[:5]", True),
        ('fault.code == "x"', False),
        ("np.where(values == 1, 0, 1)", False),
        ("dialect.where is None", False),
    ],
)
def test_the_scan_sees_who_reads(source: str, reads: bool) -> None:
    assert any(map(asks_words, ast.walk(ast.parse(source)))) == reads


# ---- values ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("at", "text"),
    [
        (Cell("a.csv"), "a.csv"),
        (Cell("a.csv", "risk", (5,)), "a.csv, row 5, column risk"),
        (Cell("a.csv", "risk", (5, 8)), "a.csv, rows 5 and 8, column risk"),
        (Cell("a.csv", None, (3, 5, 8)), "a.csv, rows 3, 5 and 8"),
        (Cell("a.csv", "risk", (3, 5, 8), 3), "a.csv, rows 3, 5, 8 and 3 more, column risk"),
        (Cell("a.csv", ("a", "b"), (3,)), "a.csv, row 3, columns a, b"),
        (Cell("a.csv", "risk", site=("hosp", "B")), "a.csv, column risk, hosp B"),
        (Cell("a.csv", "x", other="b.csv"), "a.csv and b.csv, column x"),
        (Cell("r.json", rows=(2,), character=7), "r.json, row 2, character 7"),
        (Header("a.csv"), "a.csv, first row"),
        (Key(), "release.toml"),
        (Key(key="top level"), "release.toml, top level"),
        (Key("outcome", "column"), "release.toml, [outcome] column"),
        (listed_table("dataset"), "release.toml, [[dataset]]"),
        (listed_table("dataset", 2, "north").of("file"), "release.toml, [[dataset]] 2 (north), file"),
        (listed_table("model.term", 1).of("with"), "release.toml, [[model.term]] 1, with"),
        (Line("release.toml", 3, 4), "release.toml, line 3, column 4"),
        (Line("release.toml"), "release.toml, last line"),
        (File("a.csv", "b.csv"), "a.csv and b.csv"),
        (Option("--risk"), "--risk"),
        (locations.Memory(), "the memory of this process"),
    ],
)
def test_a_location_is_written_in_one_way_and_survives_json(at: Location, text: str) -> None:
    assert str(at) == text
    assert Location.of_json(at.as_json) == at


def test_a_fault_survives_the_way_between_processes() -> None:
    fault = Fault(
        "row_of_other_width",
        Cell("a.csv", rows=(4,)),
        cases=(Fact("row_of_other_width", number=Count(3, "cell")),),
        others=Count(0, "row"),
        width=2,
        mend=Fact("cells_in_every_row", width=2),
    )
    again = Fault.of_json(fault.as_json)
    assert (again, str(again)) == (fault, str(fault))


def test_rows_of_one_cause_are_one_fault() -> None:
    values = ["x", "y", "x", "z", "w", *["x"] * 30]
    [fault] = by_row("outcome_not_binary", "a.csv", "died", range(2, 37), lambda k: {"value": values[k]})
    assert fault.what == (
        "outcome is x, not 0 or 1. outcome is y, not 0 or 1. outcome is z, not 0 or 1. And 16 more of this kind."
    )
    assert fault.where == "a.csv, rows 2, 3, 4 and 32 more, column died"


@pytest.mark.parametrize(("count", "named"), [(1, 1), (4, 4), (5, 3), (200, 3)])
def test_one_fault_in_many_places_is_told_once(count: int, named: int) -> None:
    faults = [Fault("empty_file", listed_table("dataset", place, "x").of("file"), file="x") for place in range(count)]
    other = Fault("empty_file", listed_table("dataset", 0, "y").of("file"), file="y")
    lines = str(DossierError([*faults, other])).splitlines()
    assert lines.count(faults[0].what) == lines.count(other.what) == 1
    assert [line.removeprefix("  where: ") for line in lines if "where" in line] == [
        *(fault.where for fault in faults[:named]),
        other.where,
    ]
    assert (f"         and {count - named} more places" in lines) == (named < count)


def test_a_command_hears_of_what_it_can_mend() -> None:
    fault = Fault("empty_file", listed_table("dataset", 1, "table").of("file"), file="table.csv")
    assert (fault.where, fault.fix) == (
        "release.toml, [[dataset]] 1 (table), file",
        "Put the rows in it, or take it out of the release.",
    )
    assert (fault.of_command.where, fault.of_command.fix) == ("TABLE", "Put the rows in it.")
    assert fault.of_command.code == fault.code


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        *(
            ("table.csv", cells)
            for cells in ("yes,0.1", "2,0.1", "3,x", "1,17%", '1,"0,5"', "1,\u22120.5", "1,inf", "1,1.7")
        ),
        *(("table.csv", cells) for cells in ("1,", ",", '"1,0.2', "1,2,0.1", "1;0.1,", "1,1.234.567")),
        *((f"table.{ending}", "1,0.1") for ending in ("tsv", "xlsx", "parquet", "dta", "txt")),
    ],
)
def test_no_command_is_told_to_mend_a_release(tmp_path: Path, name: str, cells: str) -> None:
    (tmp_path / name).write_text(f"died,risk\n0,0.2\n{cells}\n", encoding="utf-8")
    of_a_release = re.compile(r"release\.toml|\[|declare|out of the release| = ")
    for columns in (("died", "risk"), ("dies", "risks"), ("risk", "risk")):
        for fault in faults_of(tmp_path / name, *columns):
            assert not of_a_release.search(fault.where + fault.fix), fault


def faults_of(table: Path, outcome: str, risk: str) -> tuple[Fault, ...]:
    try:
        reading.quick(table, outcome, risk)
    except DossierError as error:
        return error.faults
    return ()


def test_the_page_is_written_from_the_catalogue() -> None:
    assert (PACKAGE.parent / "docs" / "faults.md").read_text(encoding="utf-8") == page(), "run make faults"


def test_a_text_of_the_user_is_never_taken_for_a_value() -> None:
    fault = Fault("no_file", File("{near}"), file="{near:short} {0}", near="{file}")
    assert (fault.what, fault.fix) == ("There is no file {near:short} {0}.", "Did you mean {file}?")


def test_an_error_survives_pickling() -> None:
    import pickle

    error = DataError.one("no_rows", File("a.csv"), file="a.csv")
    again = pickle.loads(pickle.dumps(error))
    assert (again.faults, str(again)) == (error.faults, str(error))


@pytest.mark.parametrize("key", ["x" * 200_000, "a b " * 50_000])
def test_a_key_as_long_as_a_file_is_not_repeated_whole(key: str) -> None:
    assert len(str(Fault("unknown_table", Key(key), key=key, known=("release",), near=None))) < 10_000
