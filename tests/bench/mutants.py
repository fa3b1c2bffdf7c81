"""Mutants: every way in which one sign, constant or comparison of a metric file can be changed.

Words, types, decorators, what decorators share and the defaults that a release always sets are left alone.
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

METRICS = Path(__file__).resolve().parents[2] / "dossier" / "metrics"
FILES = tuple(sorted(path.stem for path in METRICS.glob("*.py") if path.stem != "__init__"))

UNTOLD = frozenset(("bootstrap", "seed", "permutations", "level"))
"""Defaults that a release always sets: 1,000 replicates or 1,001 are no difference that a test should see."""


@dataclass(frozen=True)
class Mutant:
    """One change of one file: in which function, what it was and what it became.

    A test that runs none of the `lines` cannot see it: those it stands on, those that read a constant, or the whole
    function of a default. Without lines it may act wherever its file is at work.
    """

    file: str
    number: int
    line: int
    lines: frozenset[int]
    function: str
    before: str
    after: str
    occurrence: int = 1

    @property
    def name(self) -> str:
        """What the list of equivalent mutants calls it: without the line, which moves."""
        again = f" ({self.occurrence})" if self.occurrence > 1 else ""
        return f"{self.file}.{self.function}: {self.before} -> {self.after}{again}"


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
    if not isinstance(node, ast.BinOp | ast.Compare | ast.BoolOp | ast.UnaryOp | ast.Constant):
        return
    changed = copy.deepcopy(node)
    match changed:
        case ast.BinOp(op=op) if type(op) in ARITHMETIC and not (_is_text(changed.left) or _is_text(changed.right)):
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
    if isinstance(parent, ast.Call) and ast.unparse(parent).startswith("partial(metric,"):
        return  # what the labels of a family share
    for field, value in ast.iter_fields(parent):
        if field in ("decorator_list", "annotation", "returns", "type_params"):
            continue
        if isinstance(parent, ast.keyword) and parent.arg == "strict":
            continue  # zip's guard: columns of one length are one length with it and without
        for index, node in enumerate(value) if isinstance(value, list) else ((None, value),):
            if not isinstance(node, ast.AST) or isinstance(node, ast.JoinedStr):
                continue
            inside = node.name if isinstance(node, ast.FunctionDef | ast.ClassDef) else function
            if isinstance(parent, ast.Assign) and not function and _is_type(node):
                continue
            if isinstance(node, ast.arguments):
                yield from _defaults(node, inside or function)
                continue
            yield Place(parent, field, index, inside), node
            yield from _below(node, inside)


def _is_type(node: ast.AST) -> bool:
    """A name given to a type, as in `Found = Weighted | Absent`."""
    match node:
        case ast.BinOp(op=ast.BitOr()):
            return True
        case ast.Subscript(value=ast.Name(id="tuple" | "Sequence" | "Callable")):
            return True
    return False


def _defaults(arguments: ast.arguments, function: str) -> Iterator[tuple[Place, ast.AST]]:
    named = [*arguments.posonlyargs, *arguments.args][-len(arguments.defaults) :] if arguments.defaults else []
    for index, (name, node) in enumerate(zip(named, arguments.defaults, strict=True)):
        if name.arg not in UNTOLD:
            yield Place(arguments, "defaults", index, function), node


def mutants(file: str) -> list[Mutant]:
    """Every mutant of a metric file, numbered in the order of the file."""
    found: list[Mutant] = []
    occurrences: Counter[tuple[str, str, str]] = Counter()
    tree = parsed(file)
    for position, node in places(tree):
        for changed in changes(node):
            said = (position.function, ast.unparse(node), ast.unparse(changed))
            occurrences[said] += 1
            line = int(getattr(node, "lineno", 0))
            found.append(Mutant(file, len(found), line, _where_it_acts(tree, node, line), *said, occurrences[said]))
    return found


def _where_it_acts(tree: ast.Module, node: ast.AST, line: int) -> frozenset[int]:
    statement = next(part for part in tree.body if part.lineno <= line <= (part.end_lineno or part.lineno))
    if isinstance(statement, ast.FunctionDef) and line < statement.body[0].lineno:
        return _lines(statement)
    if isinstance(statement, ast.FunctionDef) or _is_inside_a_method(statement, line):
        return _lines(node)
    if isinstance(statement, ast.ClassDef):
        return frozenset()
    named = {
        child.id for child in ast.walk(statement) if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store)
    }
    readers = [dataset for dataset in ast.walk(tree) if isinstance(dataset, ast.Name) and dataset.id in named]
    return frozenset(reader.lineno for reader in readers if isinstance(reader.ctx, ast.Load))


def _is_inside_a_method(statement: ast.stmt, line: int) -> bool:
    methods = (node for node in getattr(statement, "body", ()) if isinstance(node, ast.FunctionDef))
    return any(line in _lines(method) for method in methods)


def _lines(node: ast.AST) -> frozenset[int]:
    first = int(getattr(node, "lineno", 0))
    return frozenset(range(first, int(getattr(node, "end_lineno", first)) + 1))


def mutated(file: str, number: int) -> ast.Module:
    """The module with one change in it."""
    tree, count = parsed(file), 0
    for position, node in places(tree):
        for changed in changes(node):
            if count == number:
                ast.copy_location(changed, node)
                if position.index is None:
                    setattr(position.parent, position.field, changed)
                else:
                    getattr(position.parent, position.field)[position.index] = changed
                return ast.fix_missing_locations(tree)
            count += 1
    raise ValueError(f"{file} has no mutant {number}")


def parsed(file: str) -> ast.Module:
    """A metric file as a tree."""
    return ast.parse(path_of(file).read_text(encoding="utf-8"))


def path_of(file: str) -> Path:
    """Where a metric file lies."""
    return METRICS / f"{file}.py"
