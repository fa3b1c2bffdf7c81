"""The commands, from outside: what they write, what they say, and how they end."""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import pypdf
import pytest

from dossier import __main__ as dossier_main
from dossier.command_line import cli, initial
from dossier.core import material
from dossier.core.contents import ON_PAPER
from dossier.core.errors import PageError
from dossier.core.facts import Fact
from dossier.core.faults.locations import Material
from dossier.core.release import Release
from dossier.outputs import output
from dossier.reading import declared
from dossier.typeset.flags import flag_text
from tests.conftest import held
from tests.test_output import dossier_files

CHECKOUT = Path(__file__).resolve().parents[1]
COMMAND = (sys.executable, "-m", "dossier")


@dataclass(frozen=True)
class Ended:
    """How a command ended, and what it said."""

    code: int
    out: str
    err: str


Run = Callable[..., Ended]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> Iterator[Run]:
    """Run a command in this process, in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def command(*words: str) -> Ended:
        monkeypatch.setattr(sys, "argv", ["dossier", *words])
        capfd.readouterr()
        with pytest.raises(SystemExit) as end:
            cli.main()
        said = capfd.readouterr()
        assert isinstance(end.value.code, int)
        return Ended(end.value.code, said.out, said.err)

    before = {number: signal.getsignal(number) for number in cli.STOPS}
    yield command
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example release with one external table and few replicates: it builds in a few seconds."""
    folder = tmp_path_factory.mktemp("releases") / "tiny"
    folder.mkdir()
    files = initial.files()
    text = files["release.toml"].decode()
    parts = text.split("[[dataset]]\n")
    external = next(part for part in parts if 'name = "hospital-1"' in part)
    text = re.sub(r"(bootstrap|permutations) = \d+", r"\1 = 19", f"{parts[0]}[[dataset]]\n{external}")
    (folder / "release.toml").write_text(text)
    (folder / "hospital-1.csv").write_bytes(files["hospital-1.csv"])
    return folder


def results(out: Path) -> Any:
    """What results.json holds."""
    return json.loads((out / "results.json").read_bytes())


def started(*words: str, cwd: Path, **more: Any) -> subprocess.Popen[str]:
    """A command in a process group of its own, like one on a terminal."""
    return subprocess.Popen(
        [*COMMAND, *words],
        cwd=cwd,
        env=os.environ | {"PYTHONPATH": str(CHECKOUT)},
        start_new_session=True,
        # What runs in the background of a script inherits its deafness to Ctrl-C; a terminal's programs do not.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        text=True,
        **({"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | more),
    )


def group(leader: int) -> list[str]:
    """The processes of a group that still run."""
    running = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(fields[2]) == leader and fields[0] != "Z":
            running.append(status.parent.name)
    return running


def until(condition: Callable[[], object], seconds: float = 30.0) -> None:
    """Wait for something that other processes do."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


# ---- the simple ones ------------------------------------------------------------------------------------------------


def test_libraries_are_searched_for_only_where_the_system_has_them_by_no_name(monkeypatch: pytest.MonkeyPatch) -> None:
    found = dossier_main._found(lambda name: f"searched {name}")
    monkeypatch.setattr(ctypes, "CDLL", lambda _: None)
    assert found("pango-1.0-0") is None

    def missing(name: str) -> None:
        raise OSError(name)

    monkeypatch.setattr(ctypes, "CDLL", missing)
    assert found("pango-1.0-0") == "searched pango-1.0-0"


def test_help_names_every_command() -> None:
    done = subprocess.run([*COMMAND, "--help"], capture_output=True, text=True, check=True, cwd=CHECKOUT)
    commands = re.findall(r"^  (\w+) +\S", done.stdout.partition("Commands:")[2], re.MULTILINE)
    assert commands == [
        "build",
        "check",
        "demo",
        "figures",
        "history",
        "init",
        "print",
        "quick",
        "schema",
        "seal",
        "sign",
        "table",
        "validate",
        "verify",
    ]
    assert "..." not in done.stdout.partition("Commands:")[2]


def test_without_arguments_it_prints_its_usage_line_by_line() -> None:
    asked = subprocess.run([*COMMAND, "--help"], capture_output=True, text=True, check=True, cwd=CHECKOUT)
    done = subprocess.run(COMMAND, capture_output=True, text=True, check=False, cwd=CHECKOUT)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == asked.stdout
    assert "[OPTIONS] COMMAND [ARGS]...\n\n  Is a medical" in done.stderr


def test_help_loads_nothing_heavy() -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "dossier", "build", "--help"],
        capture_output=True,
        text=True,
        check=True,
        cwd=CHECKOUT,
    )
    loaded = {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines()}
    assert not loaded & {
        "numpy",
        "scipy",
        "pandas",
        "pyarrow",
        "matplotlib",
        "weasyprint",
        "pydantic",
        "rich",
        "joblib",
    }


def test_init_writes_a_release_without_a_fault(run: Run) -> None:
    done = run("init", "new/release")
    assert done.code == 0
    assert done.out.splitlines() == [f"new/release/{name}" for name in initial.files()]
    assert held(Path("new/release")) == initial.files()
    checked = run("check", "new/release")
    assert (checked.code, checked.err) == (0, "")
    assert checked.out.endswith("No fault found.\n")
    for line in (
        "development (development): 200 rows, 200 analysed",
        "internal (internal): 200 rows, 200 analysed",
        "hospital-1 (external): 200 rows, 200 analysed",
        "hospital-1, hospital-1.csv: 200 rows",
        "  column         role          type     range             missing",
        "  case_id        id            text                       0",
        "  ward           predictor     text     3 values          0",
        "  outcome        outcome       numbers  0 to 1            0",
    ):
        assert line in checked.out
    assert run("check", "new/release/release.toml") == checked


def test_check_lists_the_rows_of_the_checklist_that_are_still_open(run: Run) -> None:
    run("init", "new")
    path = Path("new/release.toml")
    blank = path.read_text()

    def still_open(statement: str) -> list[str]:
        path.write_text(blank.replace("\n3b =", f"\n{statement}\n3b =", 1))
        done = run("check", "new")
        assert done.code == 0
        return [line for line in done.out.splitlines() if line.startswith("open ")]

    every = still_open("")
    assert "open 6b, Eligibility: Who could enter and who could not" in every
    assert not {"open 3b", "open 4", "open 18a"} & {line.partition(",")[0] for line in every}, "these are answered"
    without = [line for line in every if not line.startswith("open 6b")]
    assert still_open('6b = "Adults."') == without
    assert still_open('6b = { none = "Nobody was left out." }') == without
    assert still_open('6b = "TBD"') == every
    asked = [line.removeprefix("open ").partition(",")[0] for line in every]
    assert still_open("\n".join(f'{number} = "Said."' for number in asked)) == []


def test_init_fills_an_empty_folder_and_no_other(run: Run) -> None:
    Path("empty").mkdir()
    assert run("init", "empty").code == 0
    before = held(Path("empty"))
    again = run("init", "empty")
    assert (again.code, again.out) == (2, "")
    assert again.err.splitlines()[0] == "empty is not an empty folder."
    assert held(Path("empty")) == before
    Path("file").write_text("mine")
    assert run("init", "file").code == 2
    below = run("init", "file/below")
    assert below.code == 2
    assert "Traceback" not in below.err


def test_check_tells_all_faults_of_all_tables_at_once(run: Run) -> None:
    run("init", "bad")
    for name, column in (("hospital-1", 5), ("internal", 4)):
        path = Path(f"bad/{name}.csv")
        lines = path.read_text().splitlines()
        cells = lines[3].split(",")
        cells[column] = "7.5"
        lines[3] = ",".join(cells)
        path.write_text("\n".join(lines) + "\n")
    for words in (("check", "bad"), ("build", "bad", "-o", "out")):
        done = run(*words)
        assert (done.code, done.out) == (2, "")
        assert re.search(r"where: hospital-1\.csv, row 4, column risk\n  fix:   \S", done.err)
        assert re.search(r"where: internal\.csv, row 4, column outcome\n  fix:   \S", done.err)
        assert done.err.splitlines()[-1] == "2 faults."
        assert "Traceback" not in done.err
    assert not Path("out").exists()


def test_schema_is_json_for_both_files(run: Run) -> None:
    done = run("schema")
    assert (done.code, done.err) == (0, "")
    schemas = json.loads(done.out)
    outcome = "dossier build --json, dossier verify --json"
    assert sorted(schemas) == [outcome, "dossier check --json", "release.toml", "results.json"]
    assert {"schema", "estimates", "curves"} <= set(schemas["results.json"]["properties"])
    assert {"release", "outcome", "dataset"} <= set(schemas["release.toml"]["properties"])


@pytest.mark.parametrize(
    ("name", "fix"), [("hospital-l", 'Did you mean "hospital-1"?'), ("", "Name one of"), ("internal", "Name one of")]
)
def test_a_local_site_that_is_not_external_is_refused_with_the_nearest(run: Run, name: str, fix: str) -> None:
    run("init", "release")
    done = run("build", "release", "-o", "out", "--quiet", f"--local-site={name}")
    assert (done.code, done.out) == (2, "")
    assert "where: --local-site" in done.err
    assert fix in done.err
    assert not Path("out").exists()


def test_a_local_site_goes_into_the_command_under_the_name_of_its_dataset(run: Run) -> None:
    run("init", "release")
    words = ("build", "release", "-o", "out", "--edition", "committee", "--quiet", "--jobs", "1")
    assert run(*words).code == 0
    before = Path("out/results.json").read_bytes()
    assert run(*words, "--local-site", " HOSPITAL-1").code == 0
    manifest = json.loads(Path("out/manifest.json").read_bytes())
    assert manifest["command"] == "dossier build --edition committee --page a4 --local-site hospital-1"
    assert Path("out/results.json").read_bytes() == before


def test_every_line_that_init_comments_out_may_be_uncommented() -> None:
    text = initial.files()["release.toml"].decode()
    every = re.sub(r"^# (?=\[|[\w.]+ +=)", "", text, flags=re.MULTILINE)
    assert every.count("\n# ") < text.count("\n# ") - 60
    strange = [fault.what for fault in declared.declared(every.encode()).faults]
    assert [what for what in strange if "no such" in what or "not a key" in what or "TOML" in what] == []


CRITERION = '[[acceptance]]\nmeasure = "auroc"\ndataset = "hospital-1"\nat_least = {}\n'


@pytest.mark.parametrize(("least", "code"), [(0.01, 0), (0.999, 3)])
def test_a_criterion_that_is_not_met_ends_with_3_and_the_dossier_is_written(run: Run, least: float, code: int) -> None:
    run("init", "release")
    with Path("release/release.toml").open("a", encoding="utf-8") as file:
        file.write(CRITERION.format(least))
    done = run("build", "release", "-o", "out", "--edition", "committee", "--quiet")
    assert done.code == code
    assert (code == 3) == ("auroc at hospital-1: shown not to hold" in done.err)
    assert Path("out/manifest.json").is_file()
    (judged,) = json.loads(Path("out/results.json").read_text(encoding="utf-8"))["acceptance"]
    assert judged["met"] is (code == 0)


@pytest.mark.parametrize(("least", "verdict"), [(0.01, "shown"), (0.999, "against")])
def test_build_and_verify_say_what_they_came_to_as_one_document(run: Run, least: float, verdict: str) -> None:
    (schema,) = (each for name, each in json.loads(run("schema").out).items() if "verify" in name)

    def outcome(*words: str) -> dict[str, Any]:
        done = run(*words, "--json")
        said: dict[str, Any] = json.loads(done.out)
        jsonschema.validate(said, schema)
        assert (said["command"], said["exit_code"]) == (words[0], done.code)
        return said

    run("init", "release")
    with Path("release/release.toml").open("a", encoding="utf-8") as file:
        file.write(CRITERION.format(least) + "declared_on = 2000-01-01\n")
    asked = ("build", "release", "-o", "out", "--edition", "committee", "--quiet", "--junit", "report.xml")
    built = outcome(*asked)
    assert (built["verdict"], bool(built["fails"])) == (verdict, verdict == "against")
    assert built["flags"] == len(results(Path("out"))["flags"])
    assert {Path(path) for path in built["written"]} == {Path("out") / name for name in held(Path("out"))} | {
        Path("report.xml")
    }
    sound = outcome("verify", "out")
    assert (sound["differences"], sound["verdict"], sound["exit_code"]) == ([], verdict, 0)
    assert sound["flags"] == built["flags"]
    Path("out/results.csv").write_text("")
    altered = outcome("verify", "out")
    assert altered["exit_code"] == 4
    assert any(text.startswith("results.csv") for text in altered["differences"])
    # What is refused is a document too, with the faults that standard error tells.
    (refused,) = outcome(*asked)["faults"]
    assert refused["code"] == "altered_files"


def test_strict_ends_with_3_while_a_row_or_a_flag_is_open(run: Run) -> None:
    run("init", "release")
    lax = run("build", "release", "-o", "out", "--edition", "committee", "--quiet")
    assert (lax.code, lax.err) == (0, "")
    strict = run("build", "release", "-o", "out", "--edition", "committee", "--quiet", "--strict")
    assert strict.code == 3
    results = json.loads(Path("out/results.json").read_text(encoding="utf-8"))
    missing = [f"checklist row {row['item']}: missing" for row in results["checklist"] if row["status"] == "missing"]
    unanswered = [
        f"flag {flag['flag']}, {flag['dataset']}: not answered: {flag_text(Fact.of_json(flag['fact']))}"
        for flag in results["flags"]
    ]
    assert strict.err.splitlines() == missing + unanswered


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((), "Usage:"),
        (("frobnicate",), "No such command 'frobnicate'"),
        (("build", "nowhere", "-o", "out"), "There is no file nowhere."),
        (("build", "", "-o", "out"), "There is no file release.toml."),
        (("build", "release"), "Missing option '-o'"),
        (("build", "release", "-o", "out", "--edition", "pocket"), "'pocket' is not one of"),
        (("build", "release", "-o", "out", "--page", "a3"), "'a3' is not one of"),
        (("build", "release", "-o", "out", "--jobs", "0"), "0 is not in the range"),
        (("build", "release", "-o", "out", "--seed", "-1"), "-1 is not in the range"),
        (("build", "release", "-o", "."), "OUT would take the place of the folder that you are in."),
        (("build", "release", "-o", "table.csv"), "table.csv is not a folder."),
        (("demo", "-o", "table.csv"), "table.csv is a file"),
        (("verify",), "Missing argument 'OUT'"),
        (("verify", "out"), "There is no dossier"),
        (("verify", "table.csv"), "There is no dossier"),
        (("quick", "table.csv", "--risk", "risk", "-o", "out"), "Give --outcome, or all of --time, --event and --at."),
        (("quick", "table.csv", "--outcome", "died", "--risk", "risk", "-o", "out"), "There is no column died."),
        (("quick", "table.csv", "--outcome", "risk", "--risk", "risk", "-o", "out"), "The risk is the outcome itself."),
        (("quick", "table.csv", "--outcome", "o", "--risk", "r", "-o", "out", "--threshold", "1"), "not in the range"),
        (("quick", "nowhere.csv", "--outcome", "o", "--risk", "r", "-o", "out"), "There is no file nowhere.csv."),
        (("quick", "", "--outcome", "o", "--risk", "r", "-o", "out"), "It is empty"),
        (("quick", "nowhere.csv", "--outcome", "结局", "--risk", "r", "-o", "out"), "结 (U+7ED3), 局 (U+5C40)."),
        (("quick", "\x1b北.csv", "--outcome", "o", "--risk", "r", "-o", "out"), "U+001B, 北 (U+5317)."),
        (("quick", ".", "--outcome", "o", "--risk", "r", "-o", "out"), "is a directory"),
        (("check", "table.csv"), "table.csv is no release.toml."),
        (("check", "a" * 300), "cannot be used: file name too long."),
        (("quick", "table.csv", "--outcome", "o", "--risk", "r" * 1001, "-o", "out"), "--risk has 1,001 characters"),
        (("sign", "/", "--as", "Me", "--pkcs12", "key"), "where: /"),
        (("sign", "out", "--as", "Me", "--pkcs12", "key", "--password-fd", "99"), "Open a file: --password-fd 3"),
        (("build", "release", "-o", "out", "--junit", "a" * 300), "file name too long"),
        (("init", "/"), "/ is not an empty folder."),
    ],
)
def test_bad_input_ends_with_2_and_no_traceback(run: Run, words: tuple[str, ...], says: str) -> None:
    Path("table.csv").write_bytes(initial.files()["hospital-1.csv"])
    done = run(*words)
    assert (done.code, done.out) == (2, "")
    assert says in done.err
    assert "Traceback" not in done.err
    assert sorted(path.name for path in Path().iterdir()) == ["table.csv"]


@pytest.mark.parametrize(
    "error", [ZeroDivisionError("ours"), PageError.one("template", Material("templates"), message="ours")]
)
def test_a_fault_of_ours_keeps_its_traceback(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    monkeypatch.setattr(cli, "_listen", lambda: None)

    def fail(**settings: Any) -> None:
        raise error

    monkeypatch.setattr(cli.dossier, "main", fail)
    with pytest.raises(type(error), match="ours"):
        cli.main()


def test_an_interruption_that_comes_out_as_another_error_is_one(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(**settings: Any) -> None:
        try:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(1)
        except KeyboardInterrupt:
            raise ImportError("half a library") from None

    # Tests that run in the background of a script have inherited its deafness, which `_listen` respects.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    monkeypatch.setattr(cli.dossier, "main", fail)
    monkeypatch.setattr(cli, "STOPPED", threading.Event())
    monkeypatch.setattr(threading, "excepthook", threading.excepthook)
    assert run("schema") == Ended(130, "", "Interrupted.\n")


def test_a_fault_of_ours_ends_with_1(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import dossier.record.results\ndossier.record.results.schema = lambda: 1 / 0\n"
    )
    done = subprocess.run(
        [*COMMAND, "schema"],
        env=os.environ | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{CHECKOUT}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert "Traceback" in done.stderr
    assert "ZeroDivisionError" in done.stderr


def piped(words: str, streams: str, cwd: Path) -> tuple[int, str]:
    """The exit code of a command whose streams a shell sends elsewhere, and what it says on standard error."""
    script = f'"{sys.executable}" -P -m dossier {words} {streams}; exit ${{PIPESTATUS[0]}}'
    done = subprocess.run([shutil.which("bash") or "", "-c", script], capture_output=True, text=True, cwd=cwd)
    return done.returncode, done.stderr


@pytest.mark.parametrize("streams", ["2>&-", "2>/dev/full", ">&-", "<&- >&- 2>&-", "| true", "2>&1 >/dev/null | true"])
@pytest.mark.parametrize(("words", "code"), [("--version", 0), ("schema", 0), ("check .", 0), ("check nowhere", 2)])
def test_the_exit_code_is_the_commands_own_whatever_becomes_of_its_streams(
    release: Path, words: str, code: int, streams: str
) -> None:
    ended, said = piped(words, streams, release)
    assert ended == code
    assert said == "" or (code == 2 and said.startswith("There is no file nowhere."))


@pytest.mark.parametrize("words", ["--help", "schema", "check ."])
def test_a_full_standard_output_is_told(release: Path, words: str) -> None:
    assert piped(words, ">/dev/full", release) == (
        2,
        "Standard output could not be written: no space left on device.\n  where: standard output\n"
        "  fix:   Make room where it is sent, or send it elsewhere.\n",
    )


def test_no_surroundings_end_in_a_traceback(tmp_path: Path) -> None:
    """Too few open files, and a folder that is gone."""
    assert piped("schema", "", tmp_path)[0] == 0
    shell = f'mkdir gone; cd gone; rmdir ../gone; "{sys.executable}" -P -m dossier schema'
    for script, says in (
        (f'ulimit -n 20; "{sys.executable}" -P -m dossier schema', "dossier needs 64 open files, and is given 20."),
        (shell, "The folder that you are in is gone."),
    ):
        done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, cwd=tmp_path)
        assert (done.returncode, done.stderr.splitlines()[0]) == (2, says)


# ---- builds ---------------------------------------------------------------------------------------------------------


def test_a_build_on_a_terminal_shows_stage_and_site_and_lists_what_it_wrote(release: Path, tmp_path: Path) -> None:
    screen, terminal = pty.openpty()
    with started(
        "build", str(release / "release.toml"), "-o", "a/out", "--jobs", "2", cwd=tmp_path, stderr=terminal
    ) as build:
        os.close(terminal)
        shown = b"".join(_read(screen, build))
        os.close(screen)
        assert build.stdout
        listed = build.stdout.read().splitlines()
    assert build.returncode == 0, shown
    for word in (b"read", b"evaluate", b"draw", b"print", b"committee"):
        assert word in shown, word
    # Which pieces are seen depends on the pace: the line is drawn ten times a second.
    assert re.search(rb"hospital-\d, [a-z]{4}", shown)
    out = tmp_path / "a" / "out"
    files = held(out)
    assert sorted(listed) == sorted(f"a/out/{name}" for name in files)
    assert listed[:3] == [f"a/out/dossier-{edition}.pdf" for edition in ON_PAPER]
    figures = [name for name in files if re.fullmatch(r"figures/\w+\.svg", name)]
    pages = {f"dossier-{edition}.pdf" for edition in ON_PAPER}
    others = pages | {"dossier.html", "results.json", "results.csv", "model-card.xml", "manifest.json"}
    assert set(files) == others | set(figures)
    # Every input and output is in the manifest with its hash and size, and nothing of the machine.
    manifest = json.loads(files["manifest.json"])
    assert manifest["command"] == "dossier build --edition all --page a4"
    assert manifest["seed"] == 1
    outputs = {entry["name"]: (entry["sha256"], entry["size"]) for entry in manifest["outputs"]}
    sums = {name: (hashlib.sha256(body).hexdigest(), len(body)) for name, body in files.items()}
    assert outputs == {name: value for name, value in sums.items() if name != "manifest.json"}
    inputs = {entry["name"]: entry["sha256"] for entry in manifest["inputs"]}
    assert inputs == {name: hashlib.sha256(body).hexdigest() for name, body in held(release).items()}
    assert {"dossier", "python", "numpy", "weasyprint"} <= set(manifest["versions"])
    for name in ("manifest.json", "results.json"):
        assert str(release.parent).encode() not in files[name]
    assert len(pypdf.PdfReader(out / "dossier-committee.pdf").pages) <= 4
    assert [path.name for path in out.parent.iterdir()] == ["out"]


PROGRESS = re.compile(r"[a-z]+( \d+%)?(, [^\n]+)?, \d+ s")
"""A line of progress where there is no terminal: one every ten seconds, so that a slow machine has some."""

STEPS = """
import time
from dossier.command_line import cli
with cli._progress(False) as tell:
    for step in range(5):
        tell("evaluate", f"hospital-{step}, utility", step, 5)
        time.sleep(1.2)
"""


def test_an_estimate_of_the_time_left_comes_on_a_terminal_once_the_pace_is_known() -> None:
    screen, terminal = pty.openpty()
    words, environment = [sys.executable, "-c", STEPS], os.environ | {"PYTHONPATH": str(CHECKOUT), "COLUMNS": "120"}
    with subprocess.Popen(words, env=environment, stderr=terminal, text=True) as steps:
        os.close(terminal)
        shown = b"".join(_read(screen, steps)).decode()
        os.close(screen)
    assert steps.returncode == 0, shown
    assert "hospital-4, utility" in shown
    first, _, _ = shown.partition("hospital-1")
    assert "left" not in first
    assert re.search(r"20%|40%", shown)
    assert re.search(r"about [2-9] s left", shown)
    silent = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
    assert silent.stdout == ""
    assert all(PROGRESS.fullmatch(line) for line in silent.stderr.splitlines())


GROWING = """
import os, sys, time, joblib
from dossier.command_line import cli

def grown(megabytes):
    vars(sys).setdefault("kept", []).append(bytearray(b"x") * (megabytes << 20))
    time.sleep(0.3)
    return os.getpid()

def main():
    with cli._workers(2):
        print(len(set(joblib.Parallel(n_jobs=2)(joblib.delayed(grown)(60) for _ in range(24)))))

main()
"""


def test_a_worker_that_grows_by_what_it_works_on_stays_at_work() -> None:
    """With psutil beside it joblib sends such a worker away, with a warning, while it has work to do."""
    environment = os.environ | {"PYTHONPATH": str(CHECKOUT)}
    done = subprocess.run([sys.executable, "-c", GROWING], env=environment, capture_output=True, text=True, timeout=120)
    assert (done.stderr, done.stdout.split()) == ("", ["2"])


@pytest.mark.parametrize(
    ("share", "at", "now", "says"),
    [
        (0.0, 0.0, 30.0, ""),
        (0.05, 30.0, 31.0, ""),
        (0.5, 1.0, 1.0, ""),
        (0.5, 10.0, 10.0, "about 10 s left"),
        (0.5, 10.0, 14.0, "about 6 s left"),
        (0.5, 10.0, 19.0, ""),
        (0.5, 10.0, 40.0, ""),
        (0.2, 60.0, 60.0, "about 4 min left"),
        (1.0, 60.0, 60.0, ""),
    ],
)
def test_the_time_left_is_that_of_the_pace_so_far(share: float, at: float, now: float, says: str) -> None:
    assert cli.time_left(share, at, now) == says


def _read(screen: int, process: subprocess.Popen[str]) -> Iterator[bytes]:
    """What a process shows on a terminal until it ends."""
    while True:
        ready, _, _ = select.select([screen], [], [], 0.1)
        if ready:
            try:
                shown = os.read(screen, 65536)
            except OSError:
                return
            if not shown:
                return
            yield shown
        elif process.poll() is not None:
            return


def test_a_build_of_one_edition_off_a_terminal_says_no_more_than_its_progress(run: Run, release: Path) -> None:
    words = ("build", str(release), "--edition", "committee", "--jobs", "1", "-o", "out")
    first = run(*words)
    assert first.code == 0
    assert all(PROGRESS.fullmatch(line) for line in first.err.splitlines())
    assert "out/dossier-committee.pdf" in first.out.splitlines()
    assert not Path("out/dossier-regulatory.pdf").exists()
    before = results(Path("out"))
    assert before["release"]["seed"] == 1
    again = run(*words, "--seed", "7", "--page", "letter", "--quiet")
    assert (again.code, again.err) == (0, "")
    after = results(Path("out"))
    assert after["release"]["seed"] == 7
    assert after["datasets"] == before["datasets"]
    manifest = json.loads(Path("out/manifest.json").read_bytes())
    assert manifest["command"] == "dossier build --edition committee --page letter"
    assert manifest["seed"] == 7
    assert manifest["seed"] == 7
    box = pypdf.PdfReader("out/dossier-committee.pdf").pages[0].mediabox
    assert (float(box.width), float(box.height)) == pytest.approx((612, 792), abs=0.5)


def test_a_build_of_another_edition_says_what_it_removes_before_and_a_fault_removes_nothing(
    run: Run, release: Path, tmp_path: Path
) -> None:
    words = ("build", str(release), "-o", "out", "--jobs", "1", "--quiet")
    assert run(*words).err == ""
    files = held(tmp_path / "out")
    refused = run("build", str(release), "-o", "out", "--edition", "committee", "--local-site", "nowhere", "--quiet")
    leaves = (
        "To be removed from out, for this build does not make it: dossier-regulatory.pdf, dossier-supplement.pdf, "
        "dossier.html.\n"
    )
    assert (refused.code, refused.err.startswith(leaves)) == (2, True)
    assert held(tmp_path / "out") == files
    # A figure of another release goes with it.
    (tmp_path / "out/figures/old.svg").write_text("<svg/>")
    manifest = json.loads((tmp_path / "out/manifest.json").read_bytes())
    manifest["outputs"].append({"name": "figures/old.svg", "sha256": hashlib.sha256(b"<svg/>").hexdigest(), "size": 6})
    (tmp_path / "out/manifest.json").write_text(json.dumps(manifest))
    done = run(*words, "--edition", "committee")
    assert (done.code, done.err) == (
        0,
        f"{leaves}Removed from out, for this build does not make it: figures/old.svg.\n",
    )
    assert set(files) - set(held(tmp_path / "out")) == {
        *("dossier-regulatory.pdf", "dossier-supplement.pdf", "dossier.html")
    }


def test_demo_builds_every_release_that_ships(
    run: Run, release: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    shipped = sorted(path.parent.name for path in material.fixtures().glob("*/release.toml"))
    assert shipped == ["biopsy", "breast", "knee", "relapse"]
    monkeypatch.setattr(material, "fixtures", lambda: release.parent)
    done = run("demo", "-o", "demo", "--jobs", "1", "--quiet")
    assert (done.code, done.err) == (0, "")
    assert sorted(done.out.splitlines()) == sorted(f"demo/tiny/{name}" for name in held(tmp_path / "demo/tiny"))
    assert {f"dossier-{edition}.pdf" for edition in ON_PAPER} <= set(held(tmp_path / "demo/tiny"))
    manifest = json.loads((tmp_path / "demo/tiny/manifest.json").read_bytes())
    assert manifest["command"] == "dossier build --edition all --page a4"


def test_the_example_names_every_key_of_a_release() -> None:
    definitions = Release.model_json_schema(by_alias=True)
    objects = [definitions, *definitions["$defs"].values()]
    keys = {key for entry in objects for key in entry.get("properties", ())}
    text = initial.files()["release.toml"].decode()
    said = set(re.findall(r"(\w+) = ", text)) | set(re.findall(r"\[(?:\w+\.)?(\w+)\]", text))
    assert {"intercept", "rivals", "caution_reason"} <= keys
    assert keys - said == set()


# ---- quick ----------------------------------------------------------------------------------------------------------

THRESHOLD_MEASURES = {"sensitivity", "specificity", "ppv", "npv", "net_benefit", "standardized_net_benefit"}


def text_of(pdf: Path) -> str:
    """The words of a PDF on one line."""
    return " ".join(" ".join(page.extract_text() for page in pypdf.PdfReader(pdf).pages).split())


def test_quick_without_a_threshold(run: Run) -> None:
    table = Path("p.csv")
    table.write_bytes(initial.files()["hospital-1.csv"])
    done = run("quick", "p.csv", "--outcome", "outcome", "--risk", "risk", "-o", "out", "--page", "letter", "--quiet")
    written = results(Path("out"))
    text = f"{len(written['flags'])} flags: see Limitations in dossier-quick.pdf.\n"
    assert (done.code, done.err) == (0, text)
    estimated = {estimate["measure"] for estimate in written["estimates"] if estimate["status"] == "estimated"}
    assert {"auroc", "oe_ratio", "brier"} <= estimated
    assert not estimated & THRESHOLD_MEASURES
    assert not [
        estimate
        for estimate in written["estimates"]
        if estimate["status"] == "estimated" and "threshold" in estimate["at"]
    ]
    assert [(dataset["name"], dataset["role"]) for dataset in written["datasets"]] == [("p", "external")]
    assert written["checklist"] == []
    (curve,) = (record for record in written["curves"] if record["curve"] == "decision_curve")
    rows = [line.split(",") for line in table.read_text().splitlines()]
    risks = sorted(float(row[rows[0].index("risk")]) for row in rows[1:])

    def percentile(share: float) -> float:
        position = share * (len(risks) - 1)
        below = int(position)
        return risks[below] + (position - below) * (risks[below + 1] - risks[below])

    thresholds = curve["columns"]["threshold"]
    # Cut inwards to even steps, a tenth to a hundredth of the range: a percentile may be the risk of a patient.
    step = (percentile(0.99) - percentile(0.01)) / 10
    assert percentile(0.01) <= thresholds[0] < percentile(0.01) + step
    assert percentile(0.99) - step < thresholds[-1] <= percentile(0.99)
    assert not {thresholds[0], thresholds[-1]} & set(risks)
    words = text_of(Path("out/dossier-quick.pdf"))
    assert "from the 1st to the 99th percentile of the risks" in words
    assert "no checklist" in words
    assert len(pypdf.PdfReader("out/dossier-quick.pdf").pages) <= 9


def test_quick_prints_what_the_run_holds_against_it(run: Run) -> None:
    rows = [f"{int(row < 9)},0.3{row % 2}" for row in range(80)] + [",0.5"] * 7
    Path("p.csv").write_text("\n".join(["o,r", *rows]) + "\n")
    given = [word for number in range(1, 9) for word in ("--threshold", f"0.{number}")]
    done = run("quick", "p.csv", "--outcome", "o", "--risk", "r", *given, "-o", "out", "--quiet")
    raised = results(Path("out"))["flags"]
    assert (done.code, done.err) == (0, f"{len(raised)} flags: see Limitations in dossier-quick.pdf.\n")
    words = text_of(Path("out/dossier-quick.pdf"))
    assert f"{len(raised)} automated findings. A quick look holds no answers, and is not asked" in words
    assert "7 of 87 rows of P are not analysed (outcome missing: 7)" in words
    assert "Not answered" not in words
    assert len(pypdf.PdfReader("out/dossier-quick.pdf").pages) <= 9


def test_quick_refuses_more_thresholds_than_fit(run: Run) -> None:
    given = [word for number in range(1, 10) for word in ("--threshold", f"0.{number}")]
    done = run("quick", "p.csv", "--outcome", "outcome", "--risk", "risk", *given, "-o", "out")
    assert (done.code, done.out) == (2, "")
    assert "at most 8" in done.err


def test_quick_with_many_thresholds_stays_short(run: Run) -> None:
    Path("p.csv").write_bytes(initial.files()["hospital-1.csv"])
    thresholds = [f"0.{number}" for number in range(1, 8)] + ["0.12345678"]
    given = [word for threshold in thresholds for word in ("--threshold", threshold)]
    done = run("quick", "p.csv", "--outcome", "outcome", "--risk", "risk", "--name", "Köln 2", *given, "-o", "out")
    assert done.code == 0
    written = results(Path("out"))
    assert written["release"]["model"] == "Köln 2"
    asked = {estimate["at"]["threshold"] for estimate in written["estimates"] if estimate["measure"] == "sensitivity"}
    assert asked == {float(threshold) for threshold in thresholds}
    command = json.loads(Path("out/manifest.json").read_bytes())["command"]
    assert command.startswith("dossier quick --outcome outcome --risk risk --name 'Köln 2' --threshold 0.1 ")
    assert command.endswith("--threshold 0.12345678 --page a4")
    assert len(pypdf.PdfReader("out/dossier-quick.pdf").pages) <= 9


# ---- interrupted ----------------------------------------------------------------------------------------------------


def test_interrupted_nothing_is_left_and_out_is_as_it_was(release: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    output.write(out, dossier_files(b"before"))
    before = held(out)
    stops = [(signal.SIGINT, True, 130), (signal.SIGTERM, False, 130), (signal.SIGHUP, False, 130)]
    if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
        # Who runs the tests under nohup wants what they start to go on as well.
        stops.pop()
    for number, to_all, code in (*stops, (signal.SIGKILL, False, -9)):
        with started("build", str(release), "-o", "out", "--jobs", "2", cwd=tmp_path) as build:
            # Workers start: the leader, a tracker of resources, and the first two of them.
            until(lambda leader=build.pid: len(group(leader)) >= 4)  # type: ignore[misc]
            (os.killpg if to_all else os.kill)(build.pid, number)
            said, errors = build.communicate(timeout=30)
        assert build.returncode == code
        # A worker may cry out when the first process is killed outright; nobody can answer for it any more.
        assert number == signal.SIGKILL or (said, errors.strip()) == ("", "Interrupted.")
        until(lambda leader=build.pid: not group(leader), 10)  # type: ignore[misc]
        assert held(out) == before
        # Killed outright it leaves its lock, which the system has freed; the next build takes it away.
        left = {".out.building", "out"} if number == signal.SIGKILL else {"out"}
        assert {path.name for path in tmp_path.iterdir()} == left
    assert not list(Path("/dev/shm").glob(f"joblib_memmapping_folder_{build.pid}_*"))


def children(leader: int) -> list[int]:
    """The workers of a build: its children that do its work, not those that keep account of them."""
    found = []
    for process in group(leader):
        try:
            words = Path(f"/proc/{process}/cmdline").read_text(encoding="utf-8", errors="replace")
        except (FileNotFoundError, ProcessLookupError):
            continue
        if "popen_loky" in words and "resource_tracker" not in words:
            found.append(int(process))
    return found


def test_a_worker_that_dies_is_told_without_a_traceback(release: Path, tmp_path: Path) -> None:
    with started("build", str(release), "-o", "out", "--jobs", "2", cwd=tmp_path) as build:
        until(lambda: len(children(build.pid)) >= 2, 120)
        os.kill(children(build.pid)[0], signal.SIGKILL)
        said, errors = build.communicate(timeout=240)
    assert (build.returncode, said) == (2, "")
    assert errors.startswith("A worker process ended before its work was done.\n  where: --jobs\n")
    assert "Traceback" not in errors
    assert list(tmp_path.iterdir()) == []
    until(lambda: not group(build.pid), 30)
