"""The architecture, as tests: who may import whom, which words name a chapter, what only one place may do."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path

import pytest

from dossier import contents, material
from dossier.register import fill

PACKAGE = Path(__file__).resolve().parent.parent / "dossier"
MODULES = sorted(PACKAGE.rglob("*.py"))
NOUNS = {"types", "errors", "contents", "bands", "bibliography", "command", "terminal", "limited"}
TOOLS = {"register", "typeset", "record"}
STAGES = {"reading", "evaluate", "draw", "compose", "press"}
STATISTICS_PACKAGES = {"sklearn", "statsmodels", "dcurves", "lifelines", "pingouin", "krippendorff", "torchmetrics"}


def imported(path: Path) -> set[str]:
    """The modules that a file imports when it runs, those for type checking left out."""
    tree = ast.parse(path.read_text())
    typing_only = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for inner in ast.walk(node)
    }
    names: set[str] = set()
    for node in ast.walk(tree):
        if id(node) in typing_only:
            continue
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def ours(path: Path) -> set[str]:
    """The first word after `dossier.` of each import."""
    return {name.split(".")[1] for name in imported(path) if name.startswith("dossier.")}


def files_of(name: str) -> list[Path]:
    """The file of this name, or those of the folder that it became."""
    return [path for path in MODULES if path.relative_to(PACKAGE).parts[0] in (name, f"{name}.py")]


def theirs(path: Path) -> set[str]:
    """The packages of others that a file imports."""
    return {name.split(".")[0] for name in imported(path) if not name.startswith("dossier")}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_no_package_that_computes_clinical_statistics_is_imported(path: Path) -> None:
    assert not theirs(path) & STATISTICS_PACKAGES


@pytest.mark.parametrize("name", sorted(NOUNS))
def test_values_import_nothing_of_ours(name: str) -> None:
    assert not ours(PACKAGE / f"{name}.py")


@pytest.mark.parametrize("name", sorted(TOOLS))
def test_tools_import_values_only(name: str) -> None:
    for path in files_of(name):
        assert ours(path) <= NOUNS | {name}, path


@pytest.mark.parametrize("path", sorted((PACKAGE / "metrics").glob("*.py")), ids=lambda path: path.stem)
def test_metrics_know_numbers_only(path: Path) -> None:
    assert ours(path) <= {"register", "types", "bands", "metrics"}
    assert theirs(path) <= {"numpy", "scipy"} | standard_library()


@pytest.mark.parametrize("path", sorted((PACKAGE / "figures").glob("*.py")), ids=lambda path: path.stem)
def test_figures_never_compute(path: Path) -> None:
    assert ours(path) <= {"register", "types", "typeset", "bands", "material", "figures"}
    assert theirs(path) <= {"matplotlib", "numpy"} | standard_library()


@pytest.mark.parametrize("path", sorted((PACKAGE / "findings").rglob("*.py")), ids=lambda path: path.stem)
def test_findings_know_words_only(path: Path) -> None:
    assert ours(path) <= {
        "types",
        "typeset",
        "bands",
        "between_groups",
        "bibliography",
        "checklist",
        "flags",
        "findings",
    }
    assert theirs(path) <= standard_library()


@pytest.mark.parametrize("stage", sorted(STAGES))
def test_no_stage_imports_another(stage: str) -> None:
    for path in files_of(stage):
        assert not ours(path) & (STAGES - {stage}), path


def test_only_load_reads_tables() -> None:
    readers = {path.relative_to(PACKAGE).parts[0] for path in MODULES if {"pandas", "pyarrow"} & theirs(path)}
    # A frame is written as a release, and frames come out.
    assert readers == {"api.py", "reading"}


def test_only_compose_reads_templates() -> None:
    assert [path.stem for path in MODULES if "jinja2" in theirs(path)] == ["compose"]


def test_only_the_command_line_prints() -> None:
    # What runs in a process of its own hands its answer over on its standard output, which is a pipe.
    speaking = r"\bprint\(|click\.echo|sys\.std(out|err)|sys\.__std"
    assert {path.stem for path in MODULES if re.search(speaking, path.read_text())} == {"cli", "isolated", "limited"}
    assert len(re.findall(r"\.write\(", (PACKAGE / "cli.py").read_text())) == len(
        ["_write", "output.write of a build", "output.write of a print"]
    )


def test_no_drawer_for_what_has_no_name() -> None:
    assert not {path.stem for path in MODULES} & {"utils", "util", "helpers", "helper", "common", "misc", "manager"}


def test_every_chapter_has_its_template_and_its_finding() -> None:
    for chapter in contents.CHAPTERS:
        assert (material.templates() / f"{chapter.name}.html").is_file(), chapter.name
        assert (PACKAGE / "findings" / f"{chapter.name}.py").is_file(), chapter.name


def test_every_template_and_finding_has_its_chapter() -> None:
    chapters = {chapter.name for chapter in contents.CHAPTERS}
    beside = {"book", "cover", "table_of_contents"}
    pages = {path.stem for path in material.templates().glob("*.html") if not path.stem.startswith("_")}
    assert pages - beside == chapters
    sentences = {path.stem for path in (PACKAGE / "findings").glob("*.py")} - {
        "__init__",
        "sentence",
        "classes",
        "verdict",
    }
    assert sentences == chapters


def test_every_measure_belongs_to_a_chapter() -> None:
    register = fill("metrics")
    chapters = {chapter.name for chapter in contents.CHAPTERS}
    shelves = (register.metrics, register.class_metrics, register.syntheses)
    assert {entry.term.chapter for shelf in shelves for entry in shelf.values()} <= chapters


def test_every_figure_is_on_a_page_or_a_file_beside_it() -> None:
    pages = "".join(path.read_text() for path in material.templates().rglob("*.html"))
    for name in fill("figures").figures:
        assert (f'"{name}"' in pages) != (name in contents.FIGURES_AS_FILES), name


def test_templates_do_no_arithmetic_and_ask_for_no_edition() -> None:
    for path in material.templates().rglob("*.html"):
        for tag in re.findall(r"{[{%](.*?)[}%]}", path.read_text(), re.DOTALL):
            assert not re.search(r"\bedition ==|\bround\b|\| *(sum|int|float|abs)\b|\d+ *[*/] ", tag), (path.name, tag)


def test_no_html_in_python() -> None:
    allowed = {"compose.py", "press.py"}
    for path in MODULES:
        if path.name not in allowed:
            assert not re.search(r"</?(p|b|td|tr|th|div|span|table|section)\b[^>]*>", path.read_text()), path


def test_public_functions_are_explained_in_one_plain_sentence_first() -> None:
    register = fill("metrics")
    shelves = (
        *(register.metrics, register.syntheses, register.curves, register.curve_syntheses),
        *(register.class_metrics, register.class_curves, register.class_curve_syntheses),
    )
    for entry in (entry for shelf in shelves for entry in shelf.values()):
        first = (inspect.getdoc(entry.function) or "").split("\n")[0]
        assert first[:1].isupper(), entry.function


def test_the_command_line_loads_nothing_heavy() -> None:
    heavy = {"numpy", "pandas", "matplotlib", "weasyprint", "scipy", "pydantic"}
    tree = ast.parse((PACKAGE / "cli.py").read_text())
    names = {alias.name for node in tree.body if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module or "" for node in tree.body if isinstance(node, ast.ImportFrom)}
    assert not {name.split(".")[0] for name in names} & heavy
    assert not any(name.startswith("dossier") for name in names)


def standard_library() -> set[str]:
    """The modules that Python itself brings."""
    import sys

    return set(sys.stdlib_module_names) | {"__future__"}
