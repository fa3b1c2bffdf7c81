"""What `help` shows of the public names: sections as numpydoc has them, and examples that run."""

from __future__ import annotations

import ast
import doctest
import inspect
import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import dossier
from dossier.api import Loaded, Record, Validation
from dossier.core.register import fill, measures
from dossier.metrics import stub
from dossier.metrics.censoring import TimeToEvent

fill("metrics")
FACE: dict[str, Callable[..., Any]] = {
    "validate": dossier.validate,
    "load": dossier.load,
    "read_results": dossier.read_results,
    **{
        f"{owner.__name__}.{name}": method
        for owner in (Loaded, Record, Validation)
        for name, method in vars(owner).items()
        if inspect.isfunction(method) and not name.startswith("_")
    },
}
MEASURES: dict[str, Callable[..., Any]] = {f"metrics.{name}": getattr(dossier.metrics, name) for name in measures()}
PUBLIC = FACE | MEASURES | {"TimeToEvent": TimeToEvent}


def sections(function: Callable[..., Any]) -> list[str]:
    """The heads that numpydoc sees."""
    lines = (inspect.getdoc(function) or "").splitlines()
    return [head for head, rule in itertools.pairwise(lines) if head and rule == "-" * len(head)]


@pytest.mark.parametrize("name", MEASURES)
def test_a_measure_says_what_it_takes_returns_raises_and_how_it_is_computed(name: str) -> None:
    function = MEASURES[name]
    assert sections(function)[:4] == ["Parameters", "Returns", "Raises", "Notes"]
    text = inspect.getdoc(function) or ""
    of_parameters = text.partition("\nParameters\n----------\n")[2].partition("\n\nReturns\n")[0]
    named = [line.split(" : ")[0] for line in of_parameters.splitlines() if not line.startswith(" ")]
    assert named == list(inspect.signature(function).parameters)
    assert f"Formula: {measures()[name.removeprefix('metrics.')].term.formula}." in text


@pytest.mark.parametrize("name", [name for name in FACE if name not in ("Loaded.validate", "Validation.check")])
def test_a_function_of_the_face_says_what_it_returns(name: str) -> None:
    assert "Returns" in sections(FACE[name])
    parameters = [parameter for parameter in inspect.signature(FACE[name]).parameters if parameter != "self"]
    assert ("Parameters" in sections(FACE[name])) is bool(parameters)


@pytest.mark.parametrize("name", MEASURES)
def test_every_measure_has_an_example(name: str) -> None:
    assert "Examples" in sections(MEASURES[name]), "write what it gives in dossier/metrics/examples.toml"


@pytest.mark.parametrize("name", [name for name in PUBLIC if ">>>" in (inspect.getdoc(PUBLIC[name]) or "")])
def test_the_examples_run_and_give_what_they_show(name: str) -> None:
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    text = inspect.getdoc(PUBLIC[name]) or ""
    example = doctest.DocTestParser().get_doctest(text, {}, name, None, 0)
    said: list[str] = []
    runner.run(example, out=said.append)
    assert not runner.failures, "".join(said)
    assert runner.tries >= 3


def test_an_editor_sees_every_measure() -> None:
    folder = Path(dossier.__file__).parent
    assert (folder / "metrics" / "__init__.pyi").read_text() == stub.page(), "run make stub"
    assert (folder / "py.typed").is_file()
    shown = {node.name for node in ast.parse(stub.page()).body if isinstance(node, ast.FunctionDef)}
    assert shown == set(measures())
