"""What an editor reads of `dossier.metrics`: the signature of every measure, in `__init__.pyi` beside this file."""

from __future__ import annotations

import inspect
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from dossier.core.register import measures
from dossier.metrics import censoring, checked

HEAD = '"""The measures with their parameters, for editors and type checkers; `make stub` writes this file."""'
COLUMN = "ArrayLike"
RELEASE = "dossier.core.release"
INDENT, WIDTH = " " * 4, 116
BUILT_IN = frozenset(("float", "int", "str", "bool", "tuple", "dict", "None"))


def page() -> str:
    """The whole file."""
    each = dict(sorted(measures().items()))
    homes: dict[str, set[str]] = {"numpy.typing": {COLUMN}}
    for metric in each.values():
        for name in _types(metric.function):
            homes.setdefault(_home(metric.function, name), set()).add(name)
    blocks = [
        "\n".join(f"from {home} import {', '.join(sorted(homes[home]))}" for home in sorted(homes) if home in group)
        for group in _groups(homes)
    ]
    shown = [_signature(name, metric.function, metric.term.sentence) for name, metric in each.items()]
    return "\n\n".join([HEAD, *blocks, *shown]) + "\n"


def _groups(homes: Iterable[str]) -> tuple[frozenset[str], ...]:
    """The modules that are imported from in three groups: Python's own, those of other packages, ours."""
    ours = frozenset(home for home in homes if home.split(".")[0] == "dossier")
    python = frozenset(home for home in homes if home.split(".")[0] in sys.stdlib_module_names)
    return python, frozenset(homes) - ours - python, ours


def _signature(name: str, function: Callable[..., Any], sentence: str) -> str:
    of = checked.signature_of(function)
    parameters = [f"    {name}: {_annotation(each)}{_default(each)},\n" for name, each in of.parameters.items()]
    head = f"def {name}(\n{''.join(parameters)}) -> {of.return_annotation}:"
    text = textwrap.fill(f'"""{sentence}', WIDTH, initial_indent=INDENT, subsequent_indent=INDENT)
    return f'{head}\n{text}"""' if "\n" not in text else f'{head}\n{text}\n{INDENT}"""'


def _annotation(parameter: inspect.Parameter) -> str:
    if parameter.name not in checked.COLUMNS:
        return str(parameter.annotation)
    if parameter.name == "outcome":
        return f"{COLUMN} | TimeToEvent"
    return COLUMN if parameter.default is not None else f"{COLUMN} | None"


def _default(parameter: inspect.Parameter) -> str:
    default = parameter.default
    written = f'"{default}"' if isinstance(default, str) else repr(default)
    return "" if default is inspect.Parameter.empty else f" = {written}"


def _types(function: Callable[..., Any]) -> Iterator[str]:
    """The names in a signature that have to be imported."""
    of = checked.signature_of(function)
    for text in (*map(_annotation, of.parameters.values()), str(of.return_annotation)):
        yield from set(re.findall(r"[A-Za-z_]\w*", text)) - BUILT_IN - {COLUMN}


def _home(function: Callable[..., Any], name: str) -> str:
    """The module that a type of a signature is imported from."""
    found = censoring.TimeToEvent if name == "TimeToEvent" else inspect.unwrap(function).__globals__.get(name)
    if found is None:  # imported for type checkers alone
        return RELEASE
    module = getattr(found, "__module__", None)
    return str(module) if isinstance(found, type) and module else function.__module__
