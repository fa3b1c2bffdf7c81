"""The places in the code where a fault is said: what a class of faults is, so that none can be forgotten."""

from __future__ import annotations

import ast
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from dossier.core import errors, release
from dossier.reading import isolation

PACKAGE = Path(errors.__file__).resolve().parents[1]
SAYS = {"Fault", "UnfitError", "by_row", "no_column", "_later"}
"""Who makes a fault; the last three for others, so that the place is where they are called."""
FOR_OTHERS = {"by_row", "no_column", "_later", "_holds"}

Place = tuple[str, int]
"""A file of the package, and a line of it."""


UNREACHED: dict[str, str] = tomllib.loads(Path(__file__).with_name("unreached.toml").read_text(encoding="utf-8"))
"""Parts of the calls that make faults which no release and no table of a test can bring about, and what would."""


def places() -> dict[Place, str]:
    """Every place where the release or a table is found to be wrong, with the function that it stands in."""
    return {location: function for file in _files() for location, function, _ in _of_file(file)}


def _files() -> list[Path]:
    return sorted([*(PACKAGE / "reading").glob("*.py"), PACKAGE / "core" / "release.py"])


def unreached() -> dict[Place, str]:
    """The places that no release and no table can bring to speak, each with the reason."""
    calls = [(location, call) for file in _files() for location, _, call in _of_file(file)]
    return {location: reason for location, call in calls for words, reason in UNREACHED.items() if words in call}


def _of_file(file: Path) -> Iterator[tuple[Place, str, str]]:
    """Each place of a file with its function and its call."""
    name = file.relative_to(PACKAGE).as_posix()
    for function in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(function, ast.FunctionDef) and function.name not in FOR_OTHERS:
            for call in ast.walk(function):
                if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in SAYS:
                    yield (name, call.lineno), function.name, ast.unparse(call)
        elif isinstance(function, ast.ClassDef):
            tables = [node.value for node in function.body if isinstance(node, ast.Assign | ast.AnnAssign)]
            for table in (table for table in tables if isinstance(table, ast.Dict)):
                yield from (((f"{function.name} {ast.literal_eval(key)}", 0), "", "") for key in table.keys if key)


@contextmanager
def heard() -> Iterator[Counter[Place]]:
    """Counts, while it is open, how often a fault was said in each place; tables are read in this process meanwhile."""
    counts: Counter[Place] = Counter()
    kinds: tuple[Any, ...] = (errors.Fault, release.UnfitError)
    plain = {kind: kind.__init__ for kind in kinds}

    def listening(kind: Any) -> Any:
        def made(self: Any, *given: Any, **named: Any) -> None:
            counts[_place(sys._getframe(1))] += 1
            plain[kind](self, *given, **named)

        return made

    elsewhere = isolation.asked
    for kind in kinds:
        kind.__init__ = listening(kind)
    isolation.asked = answered_here
    try:
        yield counts
    finally:
        isolation.asked = elsewhere
        for kind in kinds:
            kind.__init__ = plain[kind]


def answered_here(function: Any, file: str, size: int, arguments: Any, content: bytes = b"", limits: Any = None) -> Any:
    """What the process that reads tables would answer."""
    return [(said, isolation.valid(body)) for said, body in function(content, *arguments)]


def _place(frame: FrameType | None) -> Place:
    """The line that said it, past those who make faults for others; of a rule its table and its code."""
    if frame is not None and frame.f_code.co_name == "_holds":
        return f"{type(frame.f_locals['self']).__name__} {frame.f_locals['code']}", 0
    while frame is not None and (frame.f_code.co_name in FOR_OTHERS or _is_inner(frame)):
        frame = frame.f_back
    assert frame is not None
    file = Path(frame.f_code.co_filename).resolve()
    inside = file.relative_to(PACKAGE).as_posix() if file.is_relative_to(PACKAGE) else file.name
    return inside, frame.f_lineno


def _is_inner(frame: FrameType) -> bool:
    """A comprehension of one who makes faults for others, which has a frame of its own in older Pythons."""
    back = frame.f_back
    return frame.f_code.co_name.startswith("<") and back is not None and back.f_code.co_name in FOR_OTHERS
