"""The package for R: the same bytes as in Python, tables of the same values, faults in the words of its arguments."""

from __future__ import annotations

import inspect
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pyarrow
import pytest
from click.testing import CliRunner

import dossier
from dossier.command_line.cli import dossier as command

R = shutil.which("R")
PACKAGE = Path(__file__).parents[1] / "r"
needs_r = pytest.mark.skipif(R is None, reason="there is no R; make r installs it")

ROWS = """
set.seed(7)
n <- 400
risk <- plogis(rnorm(n, -0.5, 1.2))
rows <- data.frame(
  died = rbinom(n, 1, risk), risk = risk, other = sqrt(risk),
  clinic = rep(c("Saint-\\u00c9tienne", "South \\"B\\", new"), n / 2),
  size = factor(sample(c("<=20", "20-50", ">50"), n, TRUE), levels = c("<=20", "20-50", ">50")),
  sex = sample(c("F", "T", NA), n, TRUE), treated = sample(c(TRUE, FALSE, NA), n, TRUE),
  age = sample(c(18:90, NA), n, TRUE), on = as.Date("2024-01-31") + seq_len(n)
)
rows$risk[5] <- NA
rows <- rows[!is.na(rows$risk), ]
"""
ASKED = """
found <- validate(rows, outcome = "died", risk = "risk", site = "clinic", thresholds = c(0.2, 1 / 3),
                  subgroups = c("size", "sex"), rival = list(Old = "other"), model = "Score",
                  date = as.Date("2026-10-01"),
                  acceptance = list(list(measure = "auroc", dataset = "each external", at_least = 0.7)))
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the package is installed."""
    folder = tmp_path_factory.mktemp("library")
    subprocess.run([str(R), "CMD", "INSTALL", f"--library={folder}", str(PACKAGE)], check=True, capture_output=True)
    return folder


def run(library: Path, folder: Path, lines: str) -> str:
    """What a program in R prints."""
    program = shutil.which("dossier", path=str(Path(sys.executable).parent))
    start = f'library(dossier, lib.loc = "{library}")\noptions(dossier.program = "{program}")\n'
    (folder / "program.R").write_text(start + ROWS + lines, encoding="utf-8")
    # A locale of UTF-8, as every desktop has one.
    environment = {**os.environ, "LC_ALL": "C.UTF-8"}
    done = subprocess.run(
        ["Rscript", "program.R"], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def written(library: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what R has found, and its rows as R writes them to be read by others."""
    folder = tmp_path_factory.mktemp("found")
    lines = """
    # As text, for jsonlite writes fifteen digits.
    as_written <- function(table) {
      for (name in names(table)) if (is.double(table[[name]])) table[[name]] <- sprintf("%.17g", table[[name]])
      for (name in names(table)) table[[name]][table[[name]] == "NA"] <- NA
      table
    }
    writeBin(found$results, "results.json")
    for (name in c("estimates", "claims")) {
      stopifnot(inherits(found[[name]], "tbl_df"))
      jsonlite::write_json(as_written(found[[name]]), paste0(name, ".json"), na = "null")
    }
    rows$size <- as.character(rows$size)
    rows$on <- format(rows$on)
    jsonlite::write_json(as_written(rows), "rows.json", na = "null")
    save_dossier(found, "saved", edition = "committee")
    criterion <- list(measure = "auroc", dataset = "each external", declared_on = "2023-05-01")
    dated <- function(least) list(c(criterion, at_least = least))
    ask <- function(least) validate(rows, outcome = "died", risk = "risk", acceptance = dated(least))$verdict
    writeLines(c(found$verdict, ask(0.4), ask(0.999)), "verdicts.txt")
    """
    run(library, folder, ASKED + lines)
    return folder


@pytest.fixture(scope="module")
def validation(written: Path) -> Any:
    """What Python finds of the same rows."""
    rows = pandas.DataFrame(json.loads((written / "rows.json").read_text(encoding="utf-8")))
    kinds = {"died": "int32", "treated": "bool", "age": "int32"}
    columns = {}
    for name in rows.columns:
        numbers = name in ("risk", "other")
        values: list[Any] = [None if pandas.isna(value) else value for value in rows[name]]
        values = [float(value) for value in values] if numbers else values
        kind = kinds.get(name, "double" if numbers else "string")
        if name == "on":
            columns[name] = pyarrow.array(pandas.to_datetime(rows[name]).dt.date)
        elif name == "size":
            known = pyarrow.array(["<=20", "20-50", ">50"])
            codes = pyarrow.array([known.to_pylist().index(value) for value in values], "int32")
            columns[name] = pyarrow.DictionaryArray.from_arrays(codes, known, ordered=True)
        else:
            columns[name] = pyarrow.array(values, kind)
    return dossier.validate(
        pyarrow.table(columns),
        outcome="died",
        risk="risk",
        site="clinic",
        thresholds=[0.2, 1 / 3],
        subgroups=["size", "sex"],
        rival={"Old": "other"},
        model="Score",
        date="2026-10-01",
        acceptance=[{"measure": "auroc", "dataset": "each external", "at_least": 0.7}],
    )


@needs_r
def test_the_record_has_the_bytes_that_python_gives(written: Path, validation: Any) -> None:
    assert (written / "results.json").read_bytes() == validation.results.text()


@needs_r
@pytest.mark.parametrize("name", ["estimates", "claims"])
def test_a_tibble_has_the_columns_and_values_of_the_frame(written: Path, validation: Any, name: str) -> None:
    frame = validation.to_frame(name)
    rows = json.loads((written / f"{name}.json").read_text(encoding="utf-8"))
    assert len(rows) == len(frame) > 20
    assert {column for row in rows for column in row} == set(frame.columns)
    for row, expected in zip(rows, frame.to_dict("records"), strict=True):
        for column, value in expected.items():
            if pandas.isna(value) or value == "":
                assert row[column] is None, (column, row)
            else:
                assert (float(row[column]) if isinstance(value, float) else row[column]) == value, column


@needs_r
def test_the_verdict_is_that_of_the_criteria_that_count(written: Path, validation: Any) -> None:
    # The first has no day, so that it counts for nothing; no model of these rows reaches the third.
    assert (written / "verdicts.txt").read_text().split() == ["untested", "shown", "against"]
    assert validation.verdict == "untested"


@needs_r
def test_a_dossier_is_printed_from_what_was_found(written: Path, validation: Any, tmp_path: Path) -> None:
    assert (written / "saved" / "dossier-committee.pdf").read_bytes() == validation.pdf("committee")


@needs_r
def test_what_is_wrong_is_told_in_the_words_of_the_arguments(library: Path, tmp_path: Path) -> None:
    lines = """
    told <- function(...) tryCatch(validate(...), dossier_error = function(error) cat(conditionMessage(error), "\\n"))
    told(rows, outcome = "dead", risk = "risk", fun = 1)
    told(transform(rows, follow_up = on - on[1]), outcome = "died", risk = "risk")
    told(rows, outcome = "died", risk = "age")
    told(list(1), outcome = "died", risk = "age")
    """
    said = run(library, tmp_path, lines)
    assert "There is no column dead." in said
    assert "Did you mean died? The argument outcome names it." in said
    assert "fun is no argument of dossier.validate" in said
    assert "Column follow_up of frame is of class difftime." in said
    assert "[outcome]" not in said
    assert "Traceback" not in said


@needs_r
def test_hospitals_and_development_come_as_frames_of_their_own(library: Path, tmp_path: Path) -> None:
    lines = """
    parts <- split(rows, rows$clinic)
    names(parts) <- c("North", "South")
    found <- validate(parts, outcome = "died", risk = "risk", development = rows, predictors = c("age", "treated"))
    alike <- found$estimates$measure == "similarity_averaged" | found$estimates$measure == "auroc"
    print(unique(found$estimates$site[alike]))
    print(sort(unique(found$estimates$role)))
    """
    said = run(library, tmp_path, lines)
    assert '"North"' in said
    assert '"South"' in said
    assert '"development"' in said


@needs_r
def test_the_example_of_the_docs_shows_each_hospital_once_and_the_print_each_question(
    library: Path, tmp_path: Path
) -> None:
    page = (PACKAGE.parent / "docs" / "r.md").read_text(encoding="utf-8")
    example = page[page.index("subset(v$estimates") : page.index("# of whole hospitals")].replace("v$", "found$")
    lines = f"""
    shown <- {example}
    stopifnot(nrow(shown) == 4, !anyDuplicated(shown[c("site", "model")]), !anyNA(shown$value))
    printed <- trimws(capture.output(print(found)))
    stopifnot(!anyDuplicated(printed))
    cat(length(printed), "lines")
    """
    assert "lines" in run(library, tmp_path, ASKED + lines)


@needs_r
def test_r_has_nothing_to_say_against_the_package(tmp_path: Path) -> None:
    build = [str(R), "CMD", "build", str(PACKAGE)]
    subprocess.run(build, cwd=tmp_path, check=True, capture_output=True)
    (archive,) = tmp_path.glob("dossier_*.tar.gz")
    check = [str(R), "CMD", "check", "--no-manual", archive.name]
    done = subprocess.run(check, cwd=tmp_path, check=False, capture_output=True, text=True)
    assert done.stdout.rstrip().endswith("Status: OK"), done.stdout


def test_the_package_has_the_version_and_the_arguments_of_the_library() -> None:
    assert f"Version: {dossier.__version__}\n" in (PACKAGE / "DESCRIPTION").read_text(encoding="utf-8")
    own = (PACKAGE / "R" / "validate.R").read_text(encoding="utf-8").partition(") {")[0]
    for name in inspect.signature(dossier.validate).parameters:
        if name not in ("frame", "tables"):
            assert f"{name} = NULL" in own or f"{name}," in own, name


# ---- the command behind it ------------------------------------------------------------------------------------------


def asked(folder: Path, arguments: Any, rows: str = "died,risk\n1,.8\n0,.1\n") -> Any:
    """What the command says of these arguments."""
    (folder / "rows.csv").write_text(rows, encoding="utf-8")
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    (folder / "arguments.json").write_text(text, encoding="utf-8")
    return CliRunner().invoke(command, ["validate", str(folder / "arguments.json"), "-o", str(folder / "out")])


TABLE: dict[str, Any] = {"table": "rows.csv", "columns": {"died": "int32", "risk": "double"}}


@pytest.mark.parametrize(
    "more",
    [
        {"thresholds": 0.2},
        {"thresholds": {"declared": 0.2, "wish": {"sensitivity": 0.5}}},
        {"thresholds": [0.2], "update": {"methods": "intercept"}},
        {"acceptance": {"measure": "auroc", "dataset": "data", "at_least": 0.5}},
    ],
)
def test_a_single_value_is_a_list_of_one_where_a_list_is_asked(more: dict[str, Any], tmp_path: Path) -> None:
    rows = "died,risk\n" + "".join(f"{k % 2},{(k % 7 + 1 + k % 2) / 10}\n" for k in range(60))
    done = asked(tmp_path, {"frame": TABLE, "outcome": "died", "risk": "risk", **more}, rows)
    assert done.exit_code == 0, done.exception


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("[1]", "it holds no object"),
        ("{", "expecting property name"),
        ('{"frame": NaN}', "frame is nan"),
        ("[" * 100_000, "recursion"),
        ({"frame": TABLE | {"table": "none.csv"}}, "none.csv cannot be read"),
        ({"frame": TABLE | {"columns": {"died": "whole"}}}, "no type alias for whole"),
        ({"frame": TABLE | {"columns": {"died": "date32"}}}, "invalid value"),
        ({"frame": TABLE | {"columns": {"dead": ["0", "1"]}}}, "dead"),
        ({"frame": TABLE | {"columns": 3}}, "rows.csv cannot be read"),
        ({"frame": TABLE, "outcome": "died", "risk": "risks"}, "There is no column risks"),
        ({"frame": TABLE, "outcome": "died"}, "risk is None"),
        ({}, "frame is None"),
    ],
)
def test_arguments_that_cannot_be_taken_are_told(tmp_path: Path, arguments: Any, says: str) -> None:
    done = asked(tmp_path, arguments)
    error = done.exception
    assert isinstance(error, dossier.core.errors.DossierError), done.exc_info
    assert any(says in fault.what for fault in error.faults), [fault.what for fault in error.faults]
    assert not (tmp_path / "out").exists()


def test_a_folder_that_holds_something_is_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "own.txt").write_text("mine", encoding="utf-8")
    assert asked(tmp_path, {"frame": TABLE, "outcome": "died", "risk": "risk"}).exception is not None
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["own.txt"]


def test_rows_keep_their_types_and_the_order_of_their_categories(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    risk = rng.uniform(size=120) ** 2
    died = (rng.uniform(size=120) < risk).astype(int)
    sizes = rng.choice(["large", "small", "middle"], size=120)
    lines = [
        f'{outcome},{value!r},"{size}"' for outcome, value, size in zip(died, map(float, risk), sizes, strict=True)
    ]
    table = TABLE | {"columns": TABLE["columns"] | {"size": ["small", "middle", "large"]}}
    arguments = {"frame": table, "outcome": "died", "risk": "risk", "subgroups": ["size"]}
    done = asked(tmp_path, arguments, "\n".join(["died,risk,size", *lines, ""]))
    assert done.exit_code == 0, done.output
    frame = pandas.DataFrame({"died": died.astype("int32"), "risk": risk})
    frame["size"] = pandas.Categorical(sizes, ["small", "middle", "large"], ordered=True)
    found = dossier.validate(frame, outcome="died", risk="risk", subgroups=["size"])
    assert (tmp_path / "out" / "results.json").read_bytes() == found.results.text()
    read = pandas.read_csv(tmp_path / "out" / "estimates.csv")
    pandas.testing.assert_series_equal(read.value, found.to_frame().value)
