"""check: all that can be known before anything is drawn, by the code that the build uses."""

from __future__ import annotations

import json
import os
import re
import tempfile
import warnings
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from dossier import evaluate, reading
from dossier.command_line import check
from dossier.core import between_groups, flags, types
from dossier.core.errors import Fault
from dossier.core.facts import Method
from dossier.core.faults.locations import Key
from dossier.core.register import fill
from dossier.core.release import Acceptance, written_count
from dossier.outputs import junit, output
from dossier.reading.declared import declared
from dossier.record import acceptance
from dossier.typeset.flags import flag_text
from tests import gusto
from tests.bench import odd_inputs
from tests.canaries import plant
from tests.conftest import RELEASES, Book, held
from tests.estimated import present
from tests.reasons import because, limitation
from tests.reference.built import example, hurried
from tests.smallest import HEAD, QUICK, SITE, release_in
from tests.test_cli import Run, release, run
from tests.test_results import faults as departures

__all__ = ["release", "run"]


# ---- one code path --------------------------------------------------------------------------------------------------


def test_every_flag_and_open_row_of_a_build_is_told_beforehand(any_book: Book) -> None:
    found = evaluate.preview(reading.study(RELEASES[any_book.name]))
    assert found.flags == any_book.evidence.flags
    assert len(found.flags) >= 5
    open_rows = [row.item for row in any_book.evidence.checklist if row.status == "missing"]
    assert [item.number for item in found.missing] == open_rows


def test_no_measure_that_flags_rest_on_is_drawn_and_each_is_one() -> None:
    """Then the preview, which draws nothing, has the same results."""
    register = fill("metrics")
    shelves = (register.metrics, register.class_metrics, register.followed_metrics)
    every = [metric for shelf in shelves for metric in shelf.values()]
    # Of a measure of several classes that has the name of one of two outcomes neither is drawn.
    needed: dict[str, set[str]] = {}
    for metric in every:
        if metric.term.measure == metric.term.name:
            needed.setdefault(metric.term.measure, set()).update(metric.needs)
    # Groups are compared from rows and a level alone, in measures of their own: nothing is drawn for these.
    of_groups = {entry.term.measure for entry in register.syntheses.values() if entry.each == "groups"}
    assert flags.MEASURES - set(needed) == of_groups == set(between_groups.MADE_OF)
    # Of another model's Brier score the flag rests on the interval, by t; its sign flips alone are drawn.
    for name in flags.MEASURES - of_groups - {"brier_difference"}:
        assert not {"bootstrap", "permutations"} & needed[name], name


def test_a_rule_sees_the_results_of_the_measures_that_it_names_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[list[str]] = []

    def look(shown: flags.Shown) -> Any:
        seen.append([result.measure for result in shown.results])
        return iter(())

    monkeypatch.setattr(flags, "RULES", (flags.Rule(look), flags.Rule(look, ("brier", "auroc"))))
    every = [types.Result(name, name, "a", {}, types.Absent(because("none"))) for name in ("auroc", "ici", "brier")]
    assert flags.raised(flags.Shown((), every)) == ()
    assert seen == [[], ["brier", "auroc"]]


ODD = 110


def test_odd_releases_end_in_told_faults_or_in_the_flags_of_their_build() -> None:
    """No traceback and no warning, whatever was done to the release; and no flag that the build would raise later."""
    ended = {"faults": 0, "flags": 0}
    for number in range(ODD):
        case = odd_inputs.case(24, number, short=True)
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("error")
            for name, content in case.files.items():
                (Path(folder) / name).parent.mkdir(parents=True, exist_ok=True)
                (Path(folder) / name).write_bytes(content)
            found = check.check(Path(folder))
            json.dumps(check.document(found), allow_nan=False)
            assert list(check.lines(found)) or found.faults
            if found.study is None:
                ended["faults"] += 1
                continue
            ended["flags"] += 1
            assert found.flags == evaluate.evidence(hurried(found.study)).flags, (number, case.base, case.done)
    assert min(ended.values()) > ODD / 5


def test_an_intercept_that_is_off_by_a_half_is_told(run: Run, tmp_path: Path) -> None:
    gusto.write(tmp_path / "right")
    gusto.write(tmp_path / "off", gusto.MODEL.replace("-3.0203", "-2.5203"))
    assert "flag model_differs" not in run("check", "right").out
    output = run("check", "off")
    assert output.code == 0
    assert "flag model_differs, west: at West the declared formula gives another risk than the table" in output.out


def test_a_typed_number_that_is_no_result_is_told_beforehand(tmp_path: Path) -> None:
    found = told(
        tmp_path, '[statements]\n2 = "The AUROC was 0.95, and O/E {oe_ratio@site}. The sensitivity was 99%."\n'
    )
    (said,) = (flag_text(flag.fact) for flag in found.flags if flag.flag == "number_not_found")
    assert said.endswith(": AUROC 0.95 in statement 2, Sensitivity 99% in statement 2.")
    assert found.flags == evaluate.evidence(hurried(present(found.study))).flags


# ---- criteria that can never be estimated ---------------------------------------------------------------------------


def asks(measure: str, dataset: str = "site", **more: Any) -> str:
    keys = {"measure": measure, "dataset": dataset, "at_least": 0.1, **more}
    return "[[acceptance]]\n" + "".join(f"{key} = {_toml(value)}\n" for key, value in keys.items())


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_toml(each)}" for key, each in value.items()) + " }"
    return json.dumps(value)


def told(folder: Path, criterion: str, more: str = "") -> check.Check:
    rows = "".join(f"{k % 2},{(k * 37 % 100) / 101 + 0.005:.3f},{k % 3}\n" for k in range(150))
    release_in(folder, HEAD + QUICK + SITE + more + criterion, site__csv=f"outcome,risk,ward\n{rows}")
    return check.check(folder)


@pytest.mark.parametrize(
    ("criterion", "why", "instead"),
    [
        (
            asks("degree_of_correspondence", reason="As the protocol says."),
            "degree_of_correspondence can never be estimated for site: ",
            "There can be asked: ",
        ),
        (asks("auroc", "pooled"), "auroc can never be estimated for pooled: ", "It can be asked of site."),
        (asks("brier", "pooled"), "brier is not computed for all sites together", "It can be asked of site."),
        (
            asks("auroc", subset={"column": "ward", "level": "9"}),
            "is not a subgroup of this release",
            "The subgroups are ward=",
        ),
        (
            asks("auroc", at={"class": "macro"}),
            "auroc at class macro can never be estimated for site: ",
            "It can be asked there without at.",
        ),
        (
            asks("h_accuracy", at={"priority": 0.9, "tau": 0.5, "complexity": "constant"}, reason="The board's."),
            "at priority 0.9, tau 0.5, complexity constant can never be estimated",
            'It can be asked there at = { priority = 0.25, tau = 0.5, complexity = "constant" }, at = ',
        ),
        (
            asks("membership_auroc", subset={"column": "ward", "level": "0"}),
            "membership_auroc at ward=0 can never be estimated for site: ",
            "There can be asked: auroc, ",
        ),
    ],
)
def test_a_criterion_that_can_never_be_estimated_is_a_fault(
    tmp_path: Path, criterion: str, why: str, instead: str
) -> None:
    (fault,) = told(tmp_path, criterion, '[[subgroup]]\ncolumn = "ward"\n').faults
    assert why in fault.what
    assert fault.where.startswith("release.toml, [[acceptance]] 1")
    assert instead in fault.fix


@pytest.mark.parametrize(
    "criterion",
    [
        asks("auroc", bound="low"),
        asks("ici", bound="high"),
        asks("ici", bound="low"),
        asks("net_benefit", at={"threshold": 0.5}),
        asks("auroc", subset={"column": "ward", "level": "1"}),
    ],
)
def test_one_that_may_be_estimated_is_none(tmp_path: Path, criterion: str) -> None:
    assert told(tmp_path, criterion, '[[subgroup]]\ncolumn = "ward"\n').faults == ()


def test_faults_of_criteria_hide_no_flag_and_a_build_refuses_them(run: Run, tmp_path: Path) -> None:
    (tmp_path / "rel").mkdir()
    found = told(tmp_path / "rel", asks("auroc", "pooled"))
    assert {flag.flag for flag in found.flags} >= {"few_events", "few_sites"}
    checked = run("check", "rel")
    assert checked.code == 2
    assert "flag few_events" in checked.out
    assert "No fault found" not in checked.out
    built = run("build", "rel", "-o", "out", "--quiet")
    assert built.code == 2
    assert built.err == checked.err
    assert not Path("out").exists()


SITES = tuple(types.DatasetSummary(name, "external", name.title(), 100, 40, 100, {}, ()) for name in ("bari", "turin"))


def test_where_some_sites_allow_it_the_others_are_flagged() -> None:
    criterion = Acceptance(measure="auroc", dataset="each external", at_least=0.7)
    here = types.Result("auroc", "auroc", "bari", {}, types.Estimate(0.8, 0.7, 0.9, 0.95, 100, Method("wald")))
    gone = types.Result("auroc", "auroc", "turin", {}, types.Absent(because("turin has no risk")))
    faults, raised = acceptance.never_estimated([criterion], SITES, [here, gone])
    assert faults == ()
    (found,) = raised
    assert (found.flag, found.dataset) == ("criterion_not_estimable", "turin")
    says = "acceptance criterion 1 (auroc) cannot be estimated at Turin: turin has no risk."
    assert flag_text(found.fact) == says


def test_what_is_withheld_is_estimated() -> None:
    criterion = Acceptance(measure="auroc", dataset="bari", at_least=0.7)
    hidden = types.Result("auroc", "auroc", "bari", {}, types.Withheld(because("too few"), 10))
    assert acceptance.never_estimated([criterion], SITES, [hidden]) == ((), ())


# ---- for machines ---------------------------------------------------------------------------------------------------


def test_json_keeps_to_its_schema_and_says_the_same(run: Run, tmp_path: Path) -> None:
    example(tmp_path)
    plain, asked = run("check", "."), run("check", ".", "--json")
    assert (plain.code, asked.code) == (0, 0)
    document = json.loads(asked.out)
    assert departures(document, check.schema()) == []
    assert document["faults"] == []
    for flag in document["flags"]:
        assert f"flag {flag['flag']}, {flag['dataset']}: {flag['says']}" in plain.out
    assert len(document["flags"]) == plain.out.count("\nflag ")
    assert "\\n" not in plain.out
    assert [dataset["name"] for dataset in document["datasets"]] == ["development", "internal", "hospital-1"]
    assert document["tables"][0]["columns"][1]["range"] == [25, 95] or document["tables"][0]["columns"][1]["range"]


def test_json_of_a_release_that_cannot_be_read_has_its_faults(run: Run, tmp_path: Path) -> None:
    (tmp_path / "release.toml").write_text(HEAD + SITE)
    asked = run("check", ".", "--json")
    document = json.loads(asked.out)
    assert (asked.code, asked.err) == (2, "")
    assert departures(document, check.schema()) == []
    assert (document["release"], document["flags"]) == (None, None)
    assert [(fault["code"], fault["where"]) for fault in document["faults"]] == [
        ("no_file", "release.toml, [[dataset]] 1 (site), file")
    ]


def test_rows_of_one_cause_are_one_fault(run: Run, tmp_path: Path) -> None:
    rows = [f"{k % 2},0.5" for k in range(200)]
    for row in (3, 5, 8, 20, 31, 44):
        rows[row - 2] = "1,1.7"
    release_in(tmp_path, HEAD + SITE, site__csv="outcome,risk\n" + "\n".join(rows) + "\n")
    assert run("check", ".").err == (
        "risk is 1.7, outside 0 to 1.\n"
        "  where: site.csv, rows 3, 5, 8 and 3 more, column risk\n"
        "  fix:   Give risks as probabilities, or declare another column in [prediction].\n"
    )


# ---- what a pipeline is told ----------------------------------------------------------------------------------------


def criterion(state: types.State, bound: str = "low", **more: Any) -> types.Criterion:
    given = {"number": 1, "measure": "auroc", "dataset": "bari", "subset": None, "at": {}, "bound": bound}
    limits = {"at_least": 0.75, "at_most": None, "observed": 0.5612346, "state": state}
    return types.Criterion(**{**given, **limits, **more})


@pytest.mark.parametrize(
    ("criterion", "says"),
    [
        (
            criterion("open"),
            "1. auroc at bari: not shown: the lower limit is 0.561235, asked for is at least 0.75; the interval "
            "neither meets nor excludes that",
        ),
        (
            criterion("untested", "value", observed=None, reason=because("bari has no events"), at_most=0.9),
            "1. auroc at bari: not tested: bari has no events; the value was to be at least 0.75 and at most 0.9",
        ),
        (
            criterion("against", "high", subset=types.Subset("Sex", "female"), at={"threshold": 0.2}),
            "1. auroc at bari, Sex=female, threshold 0.2: shown not to hold: the upper limit is 0.561235, asked for "
            "is at least 0.75",
        ),
    ],
)
def test_an_unmet_criterion_says_what_was_observed_and_asked(criterion: types.Criterion, says: str) -> None:
    (case,) = [case for case in junit.cases(judged((criterion,)), junit.Demands()) if case.suite == "acceptance"]
    assert (case.status, case.says) == ("fails", says)


DATED = "".join(
    f'[[acceptance]]\nmeasure = "auroc"\ndataset = "site"\nat_least = 0.75\n{day}\n'
    for day in ("declared_on = 2026-05-01", "", "declared_on = 2027-05-01")
)
"""A criterion that counts, one without a date and one with a late one."""


@pytest.mark.parametrize(
    ("number", "why"), [(2, "is not dated"), (3, "was declared on 1 May 2027, after this dossier")]
)
def test_a_criterion_that_does_not_count_says_why(number: int, why: str) -> None:
    one = criterion("open", number=number)
    (case,) = [case for case in junit.cases(judged((one,)), junit.Demands()) if case.suite == "acceptance"]
    assert case.status == "fails"
    assert case.says.endswith(f"meets nor excludes that; it {why}, and the verdict on page 1 leaves it out")


def judged(criteria: tuple[types.Criterion, ...] = (), raised: tuple[types.Flag, ...] = ()) -> types.Evidence:
    rows = (types.ChecklistRow("3a", "missing"), types.ChecklistRow("10", "computed", "sample"))
    found = present(declared((HEAD + SITE + DATED).encode()).release)
    return types.Evidence(
        release=found,
        datasets=(),
        results=(),
        curves=(),
        descriptions=(),
        flags=raised,
        terms={},
        statements={},
        inputs=(),
        versions={},
        criteria=criteria,
        checklist=rows,
    )


RAISED = (
    types.Flag("few_events", "bari", limitation("Few <of> them."), "Known."),
    types.Flag("few_sites", "pooled", limitation("Two.")),
)


@pytest.mark.parametrize(
    ("demands", "failing"),
    [
        (junit.Demands(), set()),
        (junit.Demands(named=frozenset({"few_events"})), {"few_events, bari"}),
        (junit.Demands(named=frozenset({"slope_off"})), set()),
        (junit.Demands(strict=True), {"few_sites, pooled", "3a"}),
    ],
)
def test_a_report_has_a_case_for_each_and_fails_where_the_build_does(demands: junit.Demands, failing: set[str]) -> None:
    cases = junit.cases(judged((criterion("shown"),), RAISED), demands)
    root = ElementTree.fromstring(junit.text(cases))
    suites = {suite.get("name"): suite for suite in root}
    assert set(suites) == {"acceptance", "claims", "checklist", "flags"}
    assert {case.get("name") for case in root.iter("testcase") if case.find("failure") is not None} == failing
    assert root.get("failures") == str(len(failing))
    assert sum(int(suite.get("tests") or 0) for suite in root) == len(cases)
    # A kind of flag that was not raised holds, under its name.
    assert len(suites["flags"]) == len(flags.FLAGS)
    for suite in root:
        assert int(suite.get("skipped") or 0) == sum(case.find("skipped") is not None for case in suite)


def test_a_build_fails_on_a_named_flag_and_writes_its_report(run: Run, release: Path) -> None:
    words = ("build", str(release), "-o", "out", "--edition", "committee", "--jobs", "1", "--quiet")
    done = run(*words, "--fail-on", "few_events, few_sites", "--junit", "report.xml")
    assert done.code == 3
    assert done.out.splitlines()[-1] == "report.xml"
    assert [line.partition(":")[0] for line in done.err.splitlines()] == [
        "flag few_events, hospital-1",
        "flag few_sites, pooled",
    ]
    root = ElementTree.parse("report.xml").getroot()
    assert root.get("failures") == "2"
    output.refuse_as_report(Path("report.xml"), Path("out"))
    output.write_report(Path("report.xml"), Path("report.xml").read_bytes())
    before = held(Path("out"))
    other = run(*words, "--fail-on", "slope_off,")
    assert (other.code, other.err) == (0, "")
    # What is failed on is no part of what is written.
    assert held(Path("out")) == before


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--fail-on", "few_event"), "few_event is not a flag.\n  where: --fail-on\n  fix:   Did you mean few_events?"),
        (
            ("--fail-on", "against:group"),
            "against:group is not a claim.\n  where: --fail-on\n  fix:   Did you mean against:groups?",
        ),
        (("--junit", "out/report.xml"), "report.xml lies in OUT."),
        (("--junit", "nowhere/report.xml"), "nowhere/report.xml cannot be written."),
        (("--junit", "pipe"), "pipe cannot be written."),
        (("--junit", "loop"), "loop cannot be written."),
        (("--junit", "notes.xml"), "notes.xml is there, and is no report of dossier."),
        (("--junit", "linked.xml"), "linked.xml is there, and is no report of dossier."),
    ],
)
def test_what_cannot_be_asked_is_refused_before_the_work(
    run: Run, release: Path, words: tuple[str, ...], says: str
) -> None:
    os.mkfifo("pipe")
    Path("loop").symlink_to("loop")
    Path("notes.xml").write_text("<testsuites>")
    Path("linked.xml").symlink_to("notes.xml")
    done = run("build", str(release), "-o", "out", *words)
    assert done.code == 2
    assert says in done.err
    assert {path.name for path in Path().iterdir()} == {"pipe", "loop", "notes.xml", "linked.xml"}
    assert Path("pipe").is_fifo()


def test_a_check_without_a_study_has_a_fault() -> None:
    with pytest.raises(ValueError, match="is read"):
        check.Check(())
    assert check.Check((Fault("no_dataset", Key("dataset")),)).study is None


# ---- under a policy -------------------------------------------------------------------------------------------------


def test_under_a_policy_check_gives_the_ranges_of_the_build_and_no_size(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "protected"
    plant(folder, "[disclosure]\nminimum_cell = 10\n")
    asked, plain = run("check", str(folder), "--json"), run("check", str(folder))
    document = json.loads(asked.out)
    assert departures(document, check.schema()) == []
    shown = evaluate.evidence(hurried(reading.study(folder), 5, 5)).datasets
    assert [dataset["name"] for dataset in document["datasets"]] == [dataset.name for dataset in shown]
    assert [dataset["n"] for dataset in document["datasets"]] == [written_count(dataset.n) for dataset in shown]
    assert all(isinstance(dataset["n"], dict) for dataset in document["datasets"])
    assert {table["rows"] for table in document["tables"]} == {None}
    assert {(column["missing"], column["values"]) for table in document["tables"] for column in table["columns"]} == {
        (None, None)
    }
    assert all(f"rows, {dataset.n} analysed" in plain.out for dataset in shown)
    assert not re.search(r"\.csv: \d+ rows|  range +missing", plain.out)


def test_without_one_it_gives_the_numbers(run: Run, tmp_path: Path) -> None:
    """The control."""
    folder = tmp_path / "free"
    plant(folder, "")
    document = json.loads(run("check", str(folder), "--json").out)
    assert {column["values"] for table in document["tables"] for column in table["columns"]} >= {2, 4}
    found = {dataset["name"]: dataset for dataset in document["datasets"]}
    assert (found["large"]["rows_read"], found["large"]["n"]) == (240, 238)
    plain = run("check", str(folder)).out
    assert "large (external): 240 rows, 238 analysed" in plain
    assert re.search(r"\.csv: \d+ rows|  range +missing", plain)
