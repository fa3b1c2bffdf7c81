"""The architecture, as tests: who may import whom, which words name a chapter, what only one place may do."""

from __future__ import annotations

import ast
import inspect
import re
import string
from collections.abc import Iterator
from pathlib import Path

import pytest

from dossier import contents, facts, material
from dossier.faults import catalogue
from dossier.register import fill
from dossier.typeset import flags, reasons
from dossier.typeset.methods import WORDS
from tests.reasons import OF_TESTS

PACKAGE = Path(__file__).resolve().parent.parent / "dossier"
MODULES = sorted(PACKAGE.rglob("*.py"))
NOUNS = {"facts", "types", "contents", "bands", "bibliography", "command", "terminal", "limited"}
TOOLS = {"register", "typeset", "record"}
FAULTS = {"errors", "faults"}
"""Faults are values too, that bring their words along: an error is read where it is raised."""
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
    assert not ours(PACKAGE / f"{name}.py") - {"facts"}


@pytest.mark.parametrize("name", sorted(TOOLS))
def test_tools_import_values_only(name: str) -> None:
    for path in files_of(name):
        assert ours(path) <= NOUNS | FAULTS | {name}, path


@pytest.mark.parametrize("name", sorted(FAULTS))
def test_faults_import_values_only(name: str) -> None:
    for path in files_of(name):
        assert ours(path) <= {"facts", *FAULTS}, path


@pytest.mark.parametrize("path", sorted((PACKAGE / "metrics").glob("*.py")), ids=lambda path: path.stem)
def test_metrics_know_numbers_only(path: Path) -> None:
    assert ours(path) <= {"register", "facts", "types", "bands", "metrics"}
    assert theirs(path) <= {"numpy", "scipy"} | standard_library()


@pytest.mark.parametrize("path", sorted((PACKAGE / "figures").glob("*.py")), ids=lambda path: path.stem)
def test_figures_never_compute(path: Path) -> None:
    assert ours(path) <= {"register", "facts", "types", "typeset", "bands", "material", "figures"}
    assert theirs(path) <= {"matplotlib", "numpy"} | standard_library()


@pytest.mark.parametrize("path", sorted((PACKAGE / "findings").rglob("*.py")), ids=lambda path: path.stem)
def test_findings_know_words_only(path: Path) -> None:
    assert ours(path) <= {
        "facts",
        "types",
        "typeset",
        "bands",
        "contents",
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
    # An example in a docstring shows what a reader would print.
    code = {path.stem: re.sub(r"^ *>>> .*$", "", path.read_text(), flags=re.MULTILINE) for path in MODULES}
    assert {name for name, text in code.items() if re.search(speaking, text)} == {"cli", "isolated", "limited"}
    assert len(re.findall(r"\.write\(", (PACKAGE / "cli.py").read_text())) == len(
        ["_write", "output.write of a build", "output.write of a print"]
    )


TEXT_METHODS = {"startswith", "endswith", "partition", "removeprefix", "replace", "split", "find", "count", "lower"}


def _is_reason(node: ast.AST) -> bool:
    """Whether it is a reason, or the words of one."""
    named = isinstance(node, ast.Attribute) and node.attr == "reason"
    return named or (
        isinstance(node, ast.Call) and ast.unparse(node.func) in ("reason_text", "why", "reasons.why", "flag_text")
    )


def _reads_words(node: ast.AST) -> bool:
    """Whether it takes the words of a reason apart, or compares them with words."""
    if isinstance(node, ast.Call):
        method = isinstance(node.func, ast.Attribute) and node.func.attr in TEXT_METHODS and _is_reason(node.func.value)
        return method or (ast.unparse(node.func).startswith("re.") and any(_is_reason(one) for one in node.args))
    if not isinstance(node, ast.Compare):
        return False
    sides = [node.left, *node.comparators]
    in_words = isinstance(node.ops[0], ast.In | ast.NotIn) and any(_is_reason(one) for one in sides[1:])
    texts = any(isinstance(one, ast.JoinedStr) or (isinstance(one, ast.Constant) and one.value) for one in sides)
    return in_words or (texts and any(_is_reason(one) for one in sides))


@pytest.mark.parametrize(
    ("line", "reads"),
    [
        ("found.reason.startswith('no ')", True),
        ("re.sub('^no ', '', one.found.reason)", True),
        ("'the same' in found.reason", True),
        ("reason_text(found.reason) == 'no rows'", True),
        ("found.reason.code == 'same_at_every_site'", False),
        ("flag_text(flag.fact).startswith('over all')", True),
        ("one.reason in BY_NATURE or found.reason == NO_ERRORS", False),
        ("one.reason is None", False),
    ],
)
def test_what_reads_the_words_of_a_reason_is_recognized(line: str, reads: bool) -> None:
    assert any(_reads_words(node) for node in ast.walk(ast.parse(line))) is reads


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_nobody_reads_the_words_of_a_reason(path: Path) -> None:
    assert not [ast.unparse(node) for node in ast.walk(ast.parse(path.read_text())) if _reads_words(node)]


def _codes(node: ast.AST) -> set[str]:
    """The codes that an expression may be."""
    if isinstance(node, ast.IfExp):
        return _codes(node.body) | _codes(node.orelse)
    return {node.value} if isinstance(node, ast.Constant) and isinstance(node.value, str) else {ast.unparse(node)}


def test_every_code_has_words_and_all_words_have_a_code() -> None:
    made: set[str] = set()
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "Fact":
                made |= _codes(node.args[0])
            elif isinstance(node, ast.Call) and ast.unparse(node.func) == "partial" and len(node.args) > 1:
                made |= _codes(node.args[1]) if ast.unparse(node.args[0]) == "Fact" else set()
    assert set(reasons.WORDS) - OF_TESTS <= made
    assert set(flags.WORDS) - OF_TESTS <= made
    assert not set(reasons.WORDS) & set(WORDS)
    assert not set(flags.WORDS) - OF_TESTS & (set(reasons.WORDS) | set(WORDS) | set(catalogue.PHRASES))
    assert set(reasons.BESIDE) <= set(reasons.WORDS)


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


# ---- facts stay facts until they are printed ------------------------------------------------------------------------

TEXTUAL = {"startswith", "endswith", "split", "partition", "rpartition", "removeprefix", "removesuffix", "replace"}


def names_a_method(node: ast.AST) -> bool:
    """Whether what is written there is the method of something: found.method, or a name for it."""
    return (isinstance(node, ast.Attribute) and node.attr == "method") or (
        isinstance(node, ast.Name) and node.id == "method"
    )


def is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def reads_as_text(node: ast.AST) -> bool:
    """Whether a method is searched there, compared with a text, or put into one."""
    if isinstance(node, ast.Attribute):
        return node.attr in TEXTUAL and names_a_method(node.value)
    if isinstance(node, ast.FormattedValue):
        return names_a_method(node.value)
    if isinstance(node, ast.Compare):
        sides = (node.left, *node.comparators)
        return any(map(names_a_method, sides)) and any(map(is_text, sides))
    if isinstance(node, ast.Call):
        return ast.unparse(node.func).startswith("re.") and any(map(names_a_method, node.args))
    return False


def read_as_text(tree: ast.AST) -> list[str]:
    """Every place where a method is read as a text."""
    return [ast.unparse(node) for node in ast.walk(tree) if reads_as_text(node)]


def test_no_method_is_read_as_text() -> None:
    for path in MODULES:
        if "typeset" not in path.relative_to(PACKAGE).parts:
            assert not read_as_text(ast.parse(path.read_text())), path


@pytest.mark.parametrize(
    "line",
    [
        'found.method.startswith("Wilson")',
        '"one-sided" in found.method',
        'f"{found.method}, apparent"',
        'found.method.split(";")[0]',
        're.search("clusters", method)',
        'found.method == "DeLong, logit"',
    ],
)
def test_a_method_that_is_read_as_text_is_seen(line: str) -> None:
    assert read_as_text(ast.parse(line))
    assert not read_as_text(ast.parse('found.method.has("wilson") and row.method is None and found.method == other'))


def calls(*names: str) -> Iterator[ast.Call]:
    """Where metrics, evaluate and figures call these."""
    for folder in ("metrics", "evaluate", "figures"):
        for path in (PACKAGE / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names:
                    yield node


def codes_of(call: ast.Call) -> set[str]:
    """The codes that a call names: the first argument of a fact, every one of a method."""
    given = call.args[:1] if isinstance(call.func, ast.Name) and call.func.id == "Fact" else call.args
    either = [one for node in given for one in ([node.body, node.orelse] if isinstance(node, ast.IfExp) else [node])]
    return {one.value for one in either if isinstance(one, ast.Constant) and isinstance(one.value, str)}


def test_every_step_of_a_method_has_words_and_every_word_its_step() -> None:
    """Whatever measures, figures, disclosure or imputation say can be printed; nothing else has words."""
    made = set().union(*(codes_of(call) for call in calls("Fact", "Method")))
    assert made - {"each_its_own", "site"} <= set(WORDS) | set(reasons.WORDS) | set(flags.WORDS)
    makers = [path for folder in ("metrics", "evaluate") for path in (PACKAGE / folder).rglob("*.py")]
    nodes = [node for path in makers for node in ast.walk(ast.parse(path.read_text()))]
    assert set(WORDS) <= {node.value for node in nodes if isinstance(node, ast.Constant)}


def test_the_words_of_a_step_ask_for_no_value_that_it_is_not_given() -> None:
    asked = 0
    for call in calls("Fact"):
        given = {keyword.arg for keyword in call.keywords}
        for words in (WORDS[code].said for code in codes_of(call) if code in WORDS):
            if isinstance(words, str):
                assert {name for _, name, _, _ in string.Formatter().parse(words) if name} <= given, words
                asked += 1
            else:
                assert set(re.findall(r"\bstep(?:\[|, )['\"](\w+)", inspect.getsource(words))) <= given, words
    assert asked > 20


def test_what_facts_say_of_codes_is_said_of_steps() -> None:
    assert {*facts.INTERVALS, *facts.OF_VALUE} <= set(WORDS)


def test_every_figure_is_on_a_page() -> None:
    pages = "".join(path.read_text() for path in material.templates().rglob("*.html"))
    for name in fill("figures").figures:
        assert f'"{name}"' in pages, name


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
