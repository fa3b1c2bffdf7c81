"""release: the keys of release.toml, their defaults and their schema."""

from __future__ import annotations

import datetime
import json
import random
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import ValidationError

from dossier import evaluate, reading, words
from dossier.command_line import initial
from dossier.core.errors import Fault
from dossier.core.register import fill
from dossier.core.release import CHECKLIST_ITEMS, ModelFile, Release, Statement, Table, schema
from dossier.reading.declared import declared
from tests.reference.tables import REFERENCE
from tests.smallest import HEAD, SITE

MINIMAL = HEAD + SITE


def _release(text: str) -> Release:
    found = declared(text.encode())
    assert found.faults == ()
    assert found.release is not None
    return found.release


def _faults(text: str) -> tuple[Fault, ...]:
    return declared(text.encode()).faults


def test_the_defaults_of_the_contract() -> None:
    release = _release(MINIMAL)
    assert (release.release.level, release.release.seed) == (0.95, 1)
    assert (release.resampling.bootstrap, release.resampling.permutations) == (1000, 999)
    assert (release.h_accuracy.priority, release.h_accuracy.tau) == ((0.25, 0.5, 0.75), (0.6, 0.75, 1.0))
    assert dict(release.sample.width) == {
        "oe_ratio": 0.2,
        "calibration_slope": 0.2,
        "auroc": 0.1,
        "standardized_net_benefit": 0.2,
        "brier": 0.05,
    }
    assert release.thresholds.declared == ()
    assert release.thresholds.range is None


def test_one_width_leaves_the_others() -> None:
    assert not _release(MINIMAL).sample.is_declared
    sample = _release(MINIMAL + "[sample]\nwidth = { auroc = 0.3 }\n").sample
    assert sample.is_declared
    width = sample.width
    assert (width["auroc"], width["brier"]) == (0.3, 0.05)


def test_statements_are_text_file_or_none() -> None:
    text = '[statements]\n4 = "Aim."\n11 = { file = "a.md" }\n18a = { none = "No funding." }\n'
    assert dict(_release(MINIMAL + text).statements) == {
        "4": Statement(text="Aim."),
        "11": Statement(file="a.md"),
        "18a": Statement(none="No funding."),
    }


def test_a_release_is_frozen() -> None:
    release = _release(MINIMAL)
    with pytest.raises(ValidationError):
        release.release.seed = 2  # type: ignore[misc]


def test_the_items_are_those_of_the_checklist() -> None:
    lines = (REFERENCE / "tripod_ai.csv").read_text(encoding="utf-8").splitlines()
    assert list(CHECKLIST_ITEMS) == [line.split(",")[0] for line in lines[1:] if line]


@pytest.mark.parametrize(
    ("added", "what", "fix"),
    [
        ("[thresholds]\ndeclared = [0.2, 1]\n", "declared, value 2 is 1, not below 1.", "Give a number below 1."),
        ("[thresholds]\ndeclared = [0]\n", "declared, value 1 is 0, not above 0.", "Give a number above 0."),
        (
            "[thresholds]\nrange = [0.5, 0.2]\n",
            "The range does not end above its beginning.",
            "Write two values, the smaller one first.",
        ),
        ("[thresholds]\nrange = [0.5]\n", "range has 1 value, not 2.", "Give 2 values."),
        ("[thresholds]\nrange = [0.1, 0.2, 0.3]\n", "range has 3 values, not 2.", "Give 2 values."),
        ("[resampling]\nbootstrap = 1\n", "bootstrap is 1, not at least 2.", "Give a number at least 2."),
        ("[resampling]\nbootstrap = 10.5\n", "bootstrap is 10.5, not a whole number.", "Give a whole number."),
        ("[resampling]\nbootstrap = true\n", "bootstrap is true, not a whole number.", "Give a whole number."),
        ("[resampling]\nbootstrap = 1000.0\n", "bootstrap is 1000.0, not a whole number.", "Give a whole number."),
        ("[sample]\nwidth = { auc = 0.1 }\n", "auc cannot stand here.", None),
        ("[robustness]\nminimum = { auroc = nan }\n", "minimum.auroc is nan, not a finite number.", "Give a number."),
        ("[h_accuracy]\ntau = [0.6, 0.6]\n", "A value stands twice in the list.", "Write every value once."),
        ('[statements]\n99 = "x"\n', "99: no such item of TRIPOD+AI.", None),
        ("[statements]\n4 = { }\n", "The statement is not one text, one file or one none.", None),
        ("[statements]\n4 = 3\n", "4 is 3, not a table.", None),
        (
            '[readers]\nlabels = "l.csv"\naccuracy = "x"\n',
            'accuracy is "x", not a number or a list.',
            "Give a number or a list.",
        ),
        (
            '[readers]\nlabels = "l.csv"\naccuracy = [0.5, 2]\n',
            "accuracy, value 2 is 2, not at most 1.",
            "Give a number at most 1.",
        ),
        ("[roc]\nparts = 3\n", "parts is 3, not a list.", "Give a list."),
    ],
)
def test_a_value_that_does_not_fit(added: str, what: str, fix: str | None) -> None:
    found = [fault for fault in _faults(MINIMAL + added) if "not built" not in fault.what]
    assert [fault.what for fault in found] == [what]
    assert fix is None or found[0].fix == fix


@pytest.mark.parametrize("key", ["entry", "duration", "censoring"])
def test_keys_of_other_tools_for_follow_up_lead_to_ours(key: str) -> None:
    (fault,) = _faults(MINIMAL.replace("[prediction]", f'{key} = "x"\n[prediction]'))
    assert fault.what == f"{key} is no key of an outcome by a horizon."
    assert "entry times" in fault.fix


@pytest.mark.parametrize("added", ["[updating]\nx = 1\n", "[recalibration]\n", "refit = true\n", 'update = "slope"\n'])
def test_refitting_is_refused_by_name(added: str) -> None:
    faults = _faults(MINIMAL + added)
    assert len(faults) == 1
    assert "asks to refit or update the model, which is out of scope." in faults[0].what


@pytest.mark.parametrize("blank", ["", "   "])
def test_a_text_of_blanks_is_empty(blank: str) -> None:
    (found,) = _faults(MINIMAL.replace('model = "Example"', f'model = "{blank}"'))
    assert (found.what, found.where) == ("model is empty.", "release.toml, [release] model")


@pytest.mark.parametrize("path", ["data\\a.csv", "C:\\Users\\x\\a.csv"])
def test_the_path_of_another_system_is_told_how_to_be_written(path: str) -> None:
    (found,) = _faults(MINIMAL.replace("site.csv", path))
    assert found.what.startswith("The file is not valid TOML: ")
    assert found.fix == "In a path write / instead of \\, as in data/site.csv; in another text write each \\ twice."


def test_a_dataset_with_one_bracket() -> None:
    assert [fault.fix for fault in _faults(MINIMAL.replace("[[dataset]]", "[dataset]"))] == [
        "Write [[dataset]] with two brackets."
    ]


PAGE = (Path(__file__).parents[1] / "docs" / "releases.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.split("\n")[0])
def test_the_examples_of_the_page_on_releases_have_no_fault(example: str, tmp_path: Path) -> None:
    raw = tomllib.loads(example)
    named = [correspondence["dataset"] for correspondence in raw.get("declared_correspondence", ())]
    more = named or ([] if "dataset" in raw else ["site"])
    predictors = 'predictors = ["sysbp", "pulse", "age", "killip"]\n'
    datasets = "".join(SITE.replace("site", name) + predictors for name in more)
    (tmp_path / "release.toml").write_text(("" if "release" in raw else HEAD) + example + datasets, encoding="utf-8")
    draw, begin = random.Random(1), datetime.date(2025, 1, 1)
    head = "patient,outcome,risk,sysbp,pulse,age,killip,sex,admitted\n"
    rows = [
        (
            *(k, k % 2, draw.uniform(0.1, 0.9), *(draw.randrange(40, 180) for _ in range(3))),
            *(draw.choice(["I", "II", "III"]), draw.choice(["male", "female"]), begin + datetime.timedelta(k % 365)),
        )
        for k in range(400)
    ]
    text = head + "".join(",".join(map(str, row)) + "\n" for row in rows)
    for name in ("milan", "site", *more):
        (tmp_path / f"{name}.csv").write_text(text, encoding="utf-8")
    formulas = Path(__file__).parents[1] / "fixtures" / "broken" / "model-update" / "updated-model.toml"
    (tmp_path / formulas.name).write_bytes(formulas.read_bytes())
    (tmp_path / "local.md").write_text("# How we use it\n\nRarely.\n", encoding="utf-8")
    (tmp_path / "ward.md").write_text("# Who calls whom\n\nWe do.\n", encoding="utf-8")
    (tmp_path / "hospital.toml").write_text('band = "#f6e9f1"\n', encoding="utf-8")
    (tmp_path / "hospital").mkdir()
    (tmp_path / "hospital" / "letterhead.txt").write_text("Hospital Road 1\n", encoding="utf-8")
    (tmp_path / "logo.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg"/>', encoding="utf-8")
    for name, ratings in (("labels", "1,0"), ("confidence", "0.5,0.9")):
        given = "".join(f"{k},{ratings}\n" for k in range(20))
        (tmp_path / f"{name}.csv").write_text(f"patient,anna,bob\n{given}", encoding="utf-8")
    assert evaluate.preview(reading.study(tmp_path)).faults == ()


def test_the_page_on_releases_names_measures_by_their_names() -> None:
    (names,) = re.findall(r"Measures have the names of results.csv \((.*?) and 70 more\)", PAGE, re.DOTALL)
    register = fill("metrics")
    known = {metric.term.measure for metric in register.metrics.values()}
    named = set(re.findall(r"`(\w+)`", names))
    assert named <= known
    assert len(known) - len(named) >= 70


def test_an_empty_release_names_what_is_missing() -> None:
    assert [fault.what for fault in _faults("")] == [
        "There is no [release].",
        "There is no [outcome].",
        "There is no [prediction].",
        "There is no [[dataset]].",
    ]


def _models(model: type[Table]) -> Iterator[type[Table]]:
    yield model
    for field in model.model_fields.values():
        for inner in _inside(field.annotation):
            yield from _models(inner)


def _inside(annotation: Any) -> Iterator[type[Table]]:
    if isinstance(annotation, type) and issubclass(annotation, Table):
        yield annotation
    for part in get_args(annotation):
        yield from _inside(part)


def test_every_key_has_one_sentence_and_every_sentence_its_key() -> None:
    sentences = words.entries("keys")
    every: tuple[type[Table], ...] = (*_models(Release), ModelFile)
    of_table = {of.__name__: [each.alias or name for name, each in of.model_fields.items()] for of in every}
    assert {table: list(keys) for table, keys in sentences.items()} == of_table
    assert all(sentence.endswith(".") for keys in sentences.values() for sentence in keys.values())


def test_the_schema_is_json_and_knows_every_section() -> None:
    written = json.loads(json.dumps(schema()))
    assert written["additionalProperties"] is False
    assert set(written["properties"]) == set(Release.model_fields)


def test_the_contract_parses() -> None:
    text = (REFERENCE / "contract.md").read_text(encoding="utf-8").split("```toml\n")[1].split("```")[0]
    # Some lines of the page show alternatives that cannot stand together, and a digest that is left open.
    text = text.replace('artifact_sha256 = "…"', f'artifact_sha256 = "{"0" * 64}"')
    text = text.replace('site = "Desio, Italy"\n', "").replace('role = "external" ', 'role = "internal" ')
    # Splits make their own intervals, so that the keys of rows that are not independent cannot stand beside them.
    text = re.sub(r"^split = .*\n", "", text, flags=re.MULTILINE)
    # A subgroup has been a table of its own since.
    text = re.sub(r'subset = "([^"=]+)=([^"]+)"', r'subset = { column = "\1", level = "\2" }', text)
    # The answers that the survey needs stand in a comment of the page.
    text = re.sub(r"^(priority_from = .*?)\s*# (survey = .*)$", r"\1\n\2", text, flags=re.MULTILINE)
    other = '[[dataset]]\nname = "other"\nrole = "external"\nfile = "other.csv"\n'
    faults = _faults(
        text + other if "[statements]" not in text else text.replace("[[dataset]]", other + "[[dataset]]", 1)
    )
    assert not faults


STRANGE = (
    *('"x"', '""', "3", "-1", "2.5", "inf", "true", "[]", "{}"),
    *("[[1]]", "[{}]", "[1, 2, 3]", "2026-10-01", "{ a = 1 }"),
)


@pytest.mark.parametrize(
    "value",
    [pytest.param(value, marks=[] if value in {'"x"', "inf", "[{}]"} else [pytest.mark.slow]) for value in STRANGE],
)
def test_no_value_of_any_key_escapes_as_another_error(value: str) -> None:
    for section, field in Release.model_fields.items():
        rest = "" if section in MINIMAL else MINIMAL
        assert isinstance(_faults(f"{section} = {value}\n" + rest), tuple)
        model = next(_inside(field.annotation), None)
        for key, inner in model.model_fields.items() if model is not None else ():
            brackets = f"[[{section}]]" if "tuple" in str(field.annotation) else f"[{section}]"
            faults = _faults(f"{brackets}\n{inner.alias or key} = {value}\n" + MINIMAL)
            for fault in faults:
                assert "Input" not in fault.what
                assert "another kind" not in fault.what


def test_what_init_writes_shows_every_key_that_is_built() -> None:
    text = initial.files()["release.toml"].decode()
    shown = "\n".join(line.lstrip("# ") for line in text.splitlines() if "=" in line or "[" in line)
    for section in Release.model_fields:
        if f"[{section}]" not in shown:
            assert section in {"model", *("acceptance", "disclosure", "reply")}, section
    assert tomllib.loads(text)["release"]["model"] == "Example model"


def test_some_chapters_may_be_left_out_and_no_others() -> None:
    (unknown,) = _faults(f'{HEAD}{SITE}[report]\nleave_out = ["acuracy"]\n')
    assert (unknown.code, unknown.get("near")) == ("unknown_chapter", "accuracy")
    (needed,) = _faults(f'{HEAD}{SITE}[report]\nleave_out = ["limitations"]\n')
    assert (needed.code, needed.get("name")) == ("chapter_not_left_out", "limitations")
    assert _release(f'{HEAD}{SITE}[report]\nleave_out = ["advice"]\n').report.leave_out == ("advice",)
