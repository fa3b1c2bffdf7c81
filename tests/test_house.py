"""The architecture, as tests: who may import whom, which words name a chapter, what only one place may do."""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from dossier.core import contents, facts, material
from dossier.core.register import fill
from dossier.report.chapters import results
from dossier.report.chapters.chapter import chapters
from dossier.words import entries
from tests.reasons import OF_TESTS
from tests.words import asked, texts

PACKAGE = Path(__file__).resolve().parent.parent / "dossier"
MODULES = sorted(PACKAGE.rglob("*.py"))
ROOMS = {"core", "record", "report", "outputs", "signing", "command_line"}
NOUNS = {"living_text", "facts", "types", "contents", "bands", "command", "terminal", "limited"}
TOOLS = {"register", "typeset"}
FAULTS = {"errors", "faults", "reasons"}
"""Faults and reasons are values too, that bring their words along: they are read where they are raised or returned."""
STAGES = {"reading", "evaluate", "draw", "compose", "press"}
STATISTICS_PACKAGES = {"sklearn", "statsmodels", "dcurves", "lifelines", "pingouin", "krippendorff", "torchmetrics"}


def imported(path: Path, typed: bool = False) -> set[str]:
    """The modules that a file imports when it runs; with `typed` those for type checking too."""
    tree = ast.parse(path.read_text())
    typing_only = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test) and not typed
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
    """What each import of ours names: a module or folder, without the room that it stands in."""
    parts = [name.split(".")[1:] for name in imported(path) if name.startswith("dossier.")]
    return {names[1] if names[0] in ROOMS and len(names) > 1 else names[0] for names in parts}


def files_of(name: str) -> list[Path]:
    """The file of this name in its room, or those of the folder that it became."""
    return [path for path in MODULES if _in_its_room(path)[0] in (name, f"{name}.py")]


def _in_its_room(path: Path) -> tuple[str, ...]:
    parts = path.relative_to(PACKAGE).parts
    return parts[1:] if parts[0] in ROOMS else parts


def theirs(path: Path) -> set[str]:
    """The packages of others that a file imports."""
    return {name.split(".")[0] for name in imported(path) if not name.startswith("dossier")}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_no_package_that_computes_clinical_statistics_is_imported(path: Path) -> None:
    assert not theirs(path) & STATISTICS_PACKAGES


@pytest.mark.parametrize("name", sorted(NOUNS))
def test_values_import_nothing_of_ours(name: str) -> None:
    assert not ours(files_of(name)[0]) - {"facts", "bands", "values", "reasons"}


@pytest.mark.parametrize("name", sorted(TOOLS))
def test_tools_import_values_only(name: str) -> None:
    # The letters of the fonts that ship are measured where they lie.
    for path in files_of(name):
        assert ours(path) <= NOUNS | FAULTS | {name, "words"} | ({"material"} if path.stem == "widths" else set()), path


@pytest.mark.parametrize("name", sorted(FAULTS))
def test_faults_import_values_only(name: str) -> None:
    for path in files_of(name):
        assert ours(path) <= {"facts", "words", *FAULTS}, path


@pytest.mark.parametrize("path", sorted((PACKAGE / "metrics").glob("*.py")), ids=lambda path: path.stem)
def test_metrics_know_numbers_only(path: Path) -> None:
    assert ours(path) <= {"register", "facts", "types", "bands", "equation", "metrics"}
    assert theirs(path) <= {"numpy", "scipy"} | standard_library()


@pytest.mark.parametrize("path", sorted((PACKAGE / "report" / "figures").glob("*.py")), ids=lambda path: path.stem)
def test_figures_never_compute(path: Path) -> None:
    assert ours(path) <= {
        *("register", "facts", "types", "typeset", "bands", "instances", "multiplicity", "over_time"),
        # What is judged stands in the register of claims, and what binds beside it: figures read it as pages do.
        *("binding", "claims", "material", "figures"),
    }
    assert theirs(path) <= {"matplotlib", "numpy", "seaborn"} | standard_library()


@pytest.mark.parametrize("path", sorted((PACKAGE / "report" / "chapters").rglob("*.py")), ids=lambda path: path.stem)
def test_findings_know_words_only(path: Path) -> None:
    assert ours(path) <= {
        *("claims", "facts", "types", "typeset", "bands", "contents", "alterations", "binding", "multiplicity"),
        *("between_groups", "over_time", "instances", "words", "checklist", "flags", "tripod", "chapters"),
    }
    assert theirs(path) <= standard_library()


@pytest.mark.parametrize("stage", sorted(STAGES))
def test_no_stage_imports_another(stage: str) -> None:
    for path in files_of(stage):
        assert not ours(path) & (STAGES - {stage}), path


def test_only_load_reads_tables() -> None:
    readers = {path for path in MODULES if {"pandas", "pyarrow"} & theirs(path) and path.parent.name != "reading"}
    # A frame is written as a release, and frames come out.
    of_outputs = (PACKAGE / "outputs" / f"{name}.py" for name in ("checked", "plots", "single"))
    assert readers == {PACKAGE / "api.py", *of_outputs}


def test_only_compose_reads_templates() -> None:
    assert [path.stem for path in MODULES if "jinja2" in theirs(path)] == ["compose"]


def test_only_the_command_line_prints() -> None:
    # What runs in a process of its own hands its answer over on its standard output, which is a pipe.
    speaking = r"\bprint\(|click\.echo|sys\.std(out|err)|sys\.__std"
    # An example in a docstring shows what a reader would print.
    code = {path.stem: re.sub(r"^ *>>> .*$", "", path.read_text(), flags=re.MULTILINE) for path in MODULES}
    assert {name for name, text in code.items() if re.search(speaking, text)} == {"cli", "limited"}
    assert len(re.findall(r"\.write\(", (PACKAGE / "command_line" / "cli.py").read_text())) == len(
        ["_write", "output.write of a build", "output.write of a print"]
    )


def module_of(path: Path) -> str:
    """The dotted name of a file."""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def read_by() -> Mapping[str, frozenset[str]]:
    """Which modules of ours each module imports, those included that a function imports late, and those for types."""
    names = {module_of(path) for path in MODULES}

    def known(name: str) -> str:
        while name not in names:
            name = name.rpartition(".")[0]
        return name

    return {
        module_of(path): frozenset(known(name) for name in imported(path, typed=True) if name.startswith("dossier."))
        - {module_of(path)}
        for path in MODULES
    }


def circle(read: Mapping[str, frozenset[str]]) -> list[str]:
    """Names that import each other in a ring, where there are any."""
    done: set[str] = set()

    def walk(name: str, trail: list[str]) -> list[str]:
        if name in trail:
            return trail[trail.index(name) :]
        if name in done:
            return []
        for other in sorted(read.get(name, ())):
            if found := walk(other, [*trail, name]):
                return found
        done.add(name)
        return []

    return next((found for name in sorted(read) if (found := walk(name, []))), [])


def test_no_module_imports_itself_by_way_of_others() -> None:
    read = {name: others - {"dossier"} for name, others in read_by().items()}
    assert circle({"a": frozenset("b"), "b": frozenset("c"), "c": frozenset("b")}) == ["b", "c"]
    assert circle(read) == []
    rooms: dict[str, set[str]] = {}
    for name, others in read.items():
        room = ".".join(name.split(".")[:2])
        rooms.setdefault(room, set()).update({".".join(other.split(".")[:2]) for other in others} - {room})
    assert not rooms["dossier.words"]
    assert circle({room: frozenset(others) for room, others in rooms.items()}) == []


def test_nothing_before_the_record_knows_a_word() -> None:
    before = ("reading", "evaluate", "metrics", "flags", "checklist", "between_groups", "register", "versions", "seal")
    paths = [path for name in before for path in files_of(name)]
    assert {path.name for path in paths if "typeset" in ours(path)} == set()
    words = {(path.name, name) for path in paths for name in imported(path) if name.startswith("dossier.words")}
    # What a measure is called is a value of the evidence; what an argument may be is data.
    others = {each for each in words if not each[1].startswith("dossier.words.wording")}
    assert others == {(name, "dossier.words.entries") for name in ("arguments.py", "register.py")} < words


def _codes(node: ast.AST) -> set[str]:
    """The codes that an expression may be."""
    if isinstance(node, ast.IfExp):
        return _codes(node.body) | _codes(node.orelse)
    return {node.value} if isinstance(node, ast.Constant) and isinstance(node.value, str) else {ast.unparse(node)}


def test_every_code_has_words_and_all_words_have_a_code() -> None:
    made: set[str] = set()
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("Fact", "facts.Fact"):
                made |= _codes(node.args[0])
            elif isinstance(node, ast.Call) and ast.unparse(node.func) == "partial" and len(node.args) > 1:
                made |= _codes(node.args[1]) if ast.unparse(node.args[0]) in ("Fact", "facts.Fact") else set()
    # As they are read: tests add words of their own to what is kept.
    read = entries.__wrapped__
    reasons, flags, steps, phrases = map(set, map(read, ("reasons", "flags", "methods", "phrases")))
    assert reasons - OF_TESTS <= made
    assert flags - OF_TESTS <= made
    assert not reasons & (steps | phrases)
    assert not flags - OF_TESTS & (reasons | steps | phrases)


def test_who_takes_something_for_present_answers_where_it_is_absent() -> None:
    for path in (PACKAGE / "metrics").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef) and not node.decorator_list:
                assert not re.search(r"(?<!\w)present\(", ast.unparse(node)), f"{path.stem}.{node.name}"


def test_no_drawer_for_what_has_no_name() -> None:
    assert not {path.stem for path in MODULES} & {"utils", "util", "helpers", "helper", "common", "misc", "manager"}


def test_every_chapter_has_its_template_and_its_finding() -> None:
    for name, chapter in zip(contents.ORDER, chapters(), strict=True):
        assert (material.templates() / f"{name}.html").is_file(), name
        assert chapter.name == name
        assert chapter.finding.__module__ == f"dossier.report.chapters.{name}"


def test_every_template_and_finding_has_its_chapter() -> None:
    beside = {"book", "cover", "head", "table_of_contents"}
    pages = {path.stem for path in material.templates().glob("*.html") if not path.stem.startswith("_")}
    assert pages - beside == set(contents.ORDER)
    sentences = {path.stem for path in (PACKAGE / "report" / "chapters").glob("*.py")} - {
        "__init__",
        "chapter",
        "sentence",
        "classes",
        "grid",
        "verdict",
    }
    assert sentences == set(contents.ORDER)


def test_every_measure_belongs_to_a_chapter() -> None:
    register = fill("metrics")
    shelves = (register.metrics, register.class_metrics, register.syntheses)
    assert {entry.term.chapter for shelf in shelves for entry in shelf.values()} <= set(contents.ORDER)


LISTS_OF_MEASURES = {
    # What a page or a notebook holds, in its order.
    *("api.CURVES", "plots.CURVES", "between_groups.MEASURES", "figures.subgroups.MEANS", "figures.subgroups.MEASURES"),
    *("figures.subgroups.REFERENCES", "chapters.discrimination.AT_A_THRESHOLD"),
    *("chapters.discrimination.WHATEVER", "chapters.human_factors.ADVICE", "chapters.human_factors.MEASURES"),
    *("chapters.reliability.MEASURES", "chapters.sample.CRITERIA", "typeset.names.RESTS_ON"),
    "chapters.severity.MEASURES",
    *("chapters.subgroups.HEADS", "chapters.subgroups.NAMES", "chapters.committee.missed.AT_THRESHOLD"),
    *("between_groups.AT_THRESHOLD", "between_groups.MADE_OF", "between_groups.MARGINS"),
    *("chapters.supporting.PRINTED", "chapters.supporting.PRINTED_OF_CLASSES"),
    *("figures.monitoring.SHORT", "history.SHOWN", "model_card.GROUPS"),
    # What a flag looks at, in the order in which it names it, and the words of flags, samples and comparisons.
    *(
        "flags.CALIBRATION",
        "multiplicity.BESIDE_RIVALS",
        "flags.POOLED_MEASURES",
        "flags.RULES",
        "flags.SIZES",
        "flags.WIDE",
    ),
    *("chapters.comparison.IN_WORDS", "chapters.sample.IN_A_SENTENCE", "chapters.updating.(COEFFICIENTS, SIZES)"),
    *("typeset.words.SETTING_VALUE", "claims.BY_PATIENT"),
    # The measures of similarity and performance that robustness is read at, and the keys of [sample] width and of
    # [care] stop.
    *(
        "bands.COMPARED_IN_GROUPS",
        "bands.COMPARED_WITH_BEFORE",
        "bands.OF_PATIENTS_AND_LABELS",
        "bands.JUDGED_BY",
        "bands.PERFORMANCE",
        "bands.SIMILARITIES",
        "release.WIDTHS",
        "release.Watched",
    ),
    # The panels of the external performance diagrams.
    *("figures.robustness.PLANS", "figures.performance_by_class.MEASURES"),
    *("evaluate.disclosure.measures.JOINT", "evaluate.changes.OF_THE_PATIENTS"),
}
"""The lists that name measures though what a measure is stands at its decorator: choices of an order, and words."""


def test_no_other_list_names_measures() -> None:
    register = fill("metrics")
    known = {name for folder, shelf in vars(register).items() if folder != "figures" for name in shelf}
    lists: set[str] = set()
    for path in MODULES:
        module = ".".join(path.with_suffix("").relative_to(path.parents[len(_in_its_room(path)) - 1]).parts)
        for node in ast.parse(path.read_text()).body if not module.startswith("metrics.") else ():
            if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
                texts = (child.value for child in ast.walk(node.value) if isinstance(child, ast.Constant))
                target = node.targets[0] if isinstance(node, ast.Assign) else node.target
                lists |= {f"{module}.{ast.unparse(target)}"} if len(known.intersection(texts)) > 1 else set()
    assert lists <= LISTS_OF_MEASURES


INDEXED = {"results": {"term", "measure", "dataset"}, "curves": {"curve"}}
"""What results and curves of an evidence are indexed by."""


def _searched(node: ast.AST) -> set[str]:
    """By what a loop over all results or curves of an evidence looks for one, where an index would give it."""
    if isinstance(node, ast.For):
        loops, asked = [node.iter], [part.test for part in node.body if isinstance(part, ast.If)]
    elif isinstance(node, ast.GeneratorExp | ast.ListComp | ast.SetComp):
        loops, asked = (
            [generator.iter for generator in node.generators],
            [test for generator in node.generators for test in generator.ifs],
        )
        asked += [node.elt] if isinstance(node.elt, ast.BoolOp | ast.Compare) else []
    else:
        return set()
    every = {loop.attr for loop in loops if isinstance(loop, ast.Attribute) and ast.unparse(loop.value) == "evidence"}
    compared = [child for test in asked for child in ast.walk(test) if isinstance(child, ast.Compare)]
    equal = [
        difference
        for difference in compared
        if isinstance(difference.ops[0], ast.Eq | ast.NotEq) and not _leaves_the_rest(difference)
    ]
    named = {
        side.attr for child in equal for side in (child.left, *child.comparators) if isinstance(side, ast.Attribute)
    }
    return named & set().union(*(INDEXED.get(each, set()) for each in every))


def _leaves_the_rest(compared: ast.Compare) -> bool:
    """Whether all but one kind is looked for, as in `one.dataset != POOLED`."""
    return isinstance(compared.ops[0], ast.NotEq) and ast.unparse(compared.comparators[0]) in ("POOLED", "READERS")


@pytest.mark.parametrize(
    ("line", "searched"),
    [
        ("[one for one in evidence.results if one.term == term.name]", {"term"}),
        ("any(one.dataset == POOLED and one.found for one in evidence.results)", {"dataset"}),
        ("any(one.found for one in evidence.results if one.dataset == POOLED and one.found)", {"dataset"}),
        ("[one for one in evidence.curves if one.curve == 'roc']", {"curve"}),
        ("[one for one in evidence.results if one.dataset != POOLED]", set()),
        ("[replace(one, at={}) if one.term == 'auroc' else one for one in evidence.results]", set()),
        ("[one for one in evidence.by_term['auroc'] if one.dataset == 'north']", set()),
    ],
)
def test_a_search_through_all_results_is_seen(line: str, searched: set[str]) -> None:
    assert set().union(*(_searched(node) for node in ast.walk(ast.parse(line)))) == searched


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_nobody_searches_all_results_for_what_an_index_holds(path: Path) -> None:
    nodes = ast.walk(ast.parse(path.read_text()))
    assert not [ast.unparse(node) for node in nodes if _searched(node)], path


# ---- facts stay facts until they are printed ------------------------------------------------------------------------


def calls(*names: str) -> Iterator[ast.Call]:
    """Where metrics, evaluate and figures call these."""
    for folder in ("metrics", "evaluate", "report/figures"):
        for path in (PACKAGE / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Call) and ast.unparse(node.func).removeprefix("facts.") in names:
                    yield node


def codes_of(call: ast.Call) -> set[str]:
    """The codes that a call names: the first argument of a fact, every one of a method."""
    given = call.args[:1] if ast.unparse(call.func) in ("Fact", "facts.Fact") else call.args
    either = [each for node in given for each in ([node.body, node.orelse] if isinstance(node, ast.IfExp) else [node])]
    return {node.value for node in either if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def test_every_step_of_a_method_has_words_and_every_word_its_step() -> None:
    """Whatever measures, figures, disclosure or imputation say can be printed; nothing else has words."""
    made = set().union(*(codes_of(call) for call in calls("Fact", "Method")))
    assert made - {"each_its_own"} <= set().union(*map(entries, ("methods", "reasons", "flags")))
    makers = [path for folder in ("metrics", "evaluate") for path in (PACKAGE / folder).rglob("*.py")]
    nodes = [node for path in makers for node in ast.walk(ast.parse(path.read_text()))]
    assert set(entries("methods")) <= {node.value for node in nodes if isinstance(node, ast.Constant)}


def test_the_words_of_a_step_ask_for_no_value_that_it_is_not_given() -> None:
    checked = 0
    for call in calls("Fact"):
        given = {keyword.arg for keyword in call.keywords}
        # A site tells either why it is left out or as what it entered.
        for code in codes_of(call) & entries("methods").keys() - {"site"}:
            assert asked(*texts(entries("methods")[code])) <= given, code
            checked += 1
    assert checked > 50


ENTRIES: Mapping[str, set[str]] = {
    "consequences": set(),
    "faults": {"what", "fix", "near", "command", "frame"},
    "flags": {"text", "brief"},
    "methods": {"text", "in_kind", "joined", "leads"},
    "phrases": {"text", "command", "frame"},
    "reasons": {"text", "beside"},
    "sources": {"text", "doi"},
}
"""What the tables of each file of words may hold; an entry may also be a text alone."""


def test_every_entry_is_words_and_holds_nothing_else() -> None:
    others = {
        "terms",
        "topics",
        "chapters",
        "pages",
        "tables",
        "curves",
        "figures",
        "keys",
        "measures",
        "options",
        "check",
        "arguments",
    }
    assert ENTRIES.keys() | others == {path.stem for path in (PACKAGE / "words").glob("*.toml")}
    for name, keys in ENTRIES.items():
        for code, entry in entries(name).items():
            assert isinstance(entry, str) or (entry.keys() & {"what", "text"} and entry.keys() <= keys), code
            assert all(isinstance(text, str) for text in texts(entry)), code


def test_what_facts_say_of_codes_is_said_of_steps() -> None:
    assert {*facts.INTERVALS, *facts.OF_VALUE} <= set(entries("methods"))


def test_every_figure_is_on_a_page() -> None:
    pages = "".join(path.read_text() for path in material.templates().rglob("*.html"))
    first = {name for four in (results.PANELS, results.PANELS_OF_CLASSES) for name, _ in four}
    for name in fill("report.figures").figures:
        assert f'"{name}"' in pages or name in first, name


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
    tree = ast.parse((PACKAGE / "command_line" / "cli.py").read_text())
    names = {alias.name for node in tree.body if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module or "" for node in tree.body if isinstance(node, ast.ImportFrom)}
    assert not {name.split(".")[0] for name in names} & heavy
    assert not any(name.startswith("dossier") for name in names)


def standard_library() -> set[str]:
    """The modules that Python itself brings."""
    import sys

    return set(sys.stdlib_module_names) | {"__future__"}


OWN_WORDS = re.compile(r"spoilt|hushed|strangers|\bdeaf\b|\bears\b|\bblot\b|nursery|\bits like\b", re.IGNORECASE)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_code_speaks_the_language_of_its_trade(path: Path) -> None:
    assert not OWN_WORDS.findall(path.read_text())


# ---- a clone has nothing beside it ----------------------------------------------------------------------------------

ROOT = PACKAGE.parent
TEXTS = sorted({*(ROOT / "tests").rglob("*.py")} - {Path(__file__).resolve()}) + sorted(
    (ROOT / "tests" / "releases").rglob("release.toml")
)


WAYS_OUT = (
    (re.compile(r"parents\[(\d+)\]"), lambda found: int(found[1])),
    (re.compile(r"__file__\)(?:\.resolve\(\))?((?:\.parent\b)+)"), lambda found: found[1].count(".parent") - 1),
    (re.compile(r"^file = \"((?:\.\./)+)", re.MULTILINE), lambda found: found[1].count("/")),
    (re.compile(r"\b(?:ROOT|REPOSITORY)\.parent\b"), lambda found: sys.maxsize),
)
"""What names a folder further up, and how many folders above that of its file it is."""


def above(text: str, depth: int) -> list[str]:
    """Every way out of the repository that a file as deep in it names."""
    return [found[0] for pattern, up in WAYS_OUT for found in pattern.finditer(text) if up(found) > depth]


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_no_test_looks_outside_the_repository(path: Path) -> None:
    assert not above(path.read_text(), len(path.relative_to(ROOT).parts) - 1)


@pytest.mark.parametrize(
    "way", ["parents[2] / 'x'", "Path(__file__).parent.parent.parent", "ROOT.parent", 'file = "../../x.csv"']
)
def test_a_way_out_of_the_repository_is_seen(way: str) -> None:
    assert above(way, 1)
    assert not above("parents[1], Path(__file__).resolve().parent.parent, ROOT", 1)


NUMBERS = {"value", "low", "high", "p", "p_value", "p_holm", "p_adjusted"}
"""What an estimate or a claim holds that a judgement would compare."""
DRAWN = frozenset(
    {
        "chapters/committee/dangers.py: (count.low if isinstance(count, types.CountRange) else count) == 0",
        "figures/funnel.py: estimate.value <= 0",
        "figures/marks.py: left <= found.value <= right",
        "figures/performance_by_class.py: scale.clipped(found.value) == found.value",
        "figures/reliability.py: 0.5 <= found.value <= 1",
        "figures/reliability.py: abs(bound - case.value) <= CLEAR",
        "figures/robustness.py: field.scale.clipped(stands.value) != stands.value",
        "figures/robustness.py: least.value > 0",
        "figures/robustness.py: scale.clipped(stands.value) != stands.value",
        "figures/robustness.py: scaled.value <= 0",
        "figures/similarity.py: value != stands.value",
    }
)
"""Comparisons that judge nothing: what has a place on an axis, an end of a count, the same number. It only shrinks."""


def test_pages_and_figures_compare_no_estimate_with_a_bound() -> None:
    """What an estimate says is judged in the register and the judges beside it; pages print the judgement."""
    report, compared = PACKAGE / "report", set[str]()
    for path in sorted([*(report / "chapters").rglob("*.py"), *(report / "figures").rglob("*.py")]):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            is_test = isinstance(node, ast.Compare) and not all(isinstance(op, ast.Is | ast.IsNot) for op in node.ops)
            parts = ast.walk(node) if is_test else ()
            names = {part.attr for part in parts if isinstance(part, ast.Attribute)}
            if names & NUMBERS or (is_test and any(name in ast.unparse(node) for name in NUMBERS if name[:2] == "p_")):
                compared.add(f"{path.relative_to(report)}: {ast.unparse(node)}")
    assert compared == DRAWN


MOST_LINES = {"dossier": 67_544, "tests": 70_888}
"""Lines of Python, which only fall: who adds deletes, and lowers the figure with what is left over."""


@pytest.mark.parametrize("folder", MOST_LINES)
def test_the_house_does_not_grow(folder: str) -> None:
    files = (PACKAGE.parent / folder).rglob("*.py")
    more = sum(path.read_text(encoding="utf-8").count("\n") for path in files) - MOST_LINES[folder]
    assert more <= 0, f"{folder} has {more} lines more than MOST_LINES allows: CONTRIBUTING.md, House rules"
