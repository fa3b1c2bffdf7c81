"""The contract with users: commands, exit codes, standard output, and what an OUT is allowed to become."""

from __future__ import annotations

import hashlib
import json
import os
import pty
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[1]


def dossier(*arguments: str, cwd: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command line as a user does."""
    return subprocess.run(
        [sys.executable, "-m", "dossier", *arguments],
        env=os.environ | environment,
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
    )


def contents(folder: Path) -> dict[str, str]:
    """Every file below a folder, by its SHA-256."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The release that `init` writes."""
    folder = tmp_path_factory.mktemp("release") / "mine"
    done = dossier("init", str(folder))
    assert done.returncode == 0, done.stderr
    assert "release.toml" in {Path(line).name for line in done.stdout.splitlines()}
    return folder


@pytest.fixture(scope="module")
def built(release: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """A whole build of it."""
    out = tmp_path_factory.mktemp("built") / "out"
    done = dossier("build", str(release), "-o", str(out), "--jobs", "1")
    assert done.returncode == 0, done.stderr
    return out, done


def test_help_names_every_command_of_the_contract() -> None:
    done = dossier("--help")
    assert done.returncode == 0
    for command in ("init", "check", "build", "quick", "demo", "schema"):
        assert f"\n  {command} " in done.stdout


def test_a_build_writes_what_the_contract_lists_and_says_so(
    built: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    out, done = built
    named = {Path(line).relative_to(out).as_posix() for line in done.stdout.splitlines()}
    assert named == set(contents(out))
    assert {"dossier-regulatory.pdf", "dossier-committee.pdf", "results.json", "manifest.json"} <= named
    assert all(name.startswith("figures/") for name in named if name.endswith(".svg"))
    assert done.stderr == ""


def test_the_manifest_holds_hashes_and_neither_time_nor_path(
    built: tuple[Path, subprocess.CompletedProcess[str]], release: Path
) -> None:
    out, _ = built
    text = (out / "manifest.json").read_text()
    manifest = json.loads(text)
    assert manifest["command"] == "dossier build --edition all --page a4"
    hashes = contents(out)
    for entry in manifest["outputs"]:
        assert hashes[entry["name"]] == entry["sha256"]
        assert (out / entry["name"]).stat().st_size == entry["size"]
    assert {entry["name"] for entry in manifest["outputs"]} == set(hashes) - {"manifest.json"}
    for entry in manifest["inputs"]:
        assert hashlib.sha256((release / entry["name"]).read_bytes()).hexdigest() == entry["sha256"]
    assert str(release) not in text
    assert str(out) not in text


def test_no_output_holds_a_path_of_the_machine(
    built: tuple[Path, subprocess.CompletedProcess[str]], release: Path
) -> None:
    out, _ = built
    for path in out.rglob("*"):
        if path.is_file():
            body = path.read_bytes()
            for secret in (str(release), str(out), str(CHECKOUT)):
                assert secret.encode() not in body, path


def test_check_computes_nothing_and_ends_well(release: Path) -> None:
    done = dossier("check", str(release / "release.toml"))
    assert done.returncode == 0, done.stderr
    assert "No fault found." in done.stdout
    assert contents(release) == contents(release)


def test_faults_come_all_at_once_without_a_traceback(tmp_path: Path) -> None:
    (tmp_path / "release.toml").write_text(
        '[release]\nmodel = "m"\nversion = "1"\ndate = 2026-01-01\nowner = "o"\nlevl = 0.9\n'
        '[outcome]\nname = "death"\ncolumn = "y"\n[prediction]\ncolumn = "p"\n'
        '[[dataset]]\nname = "a"\nrole = "external"\nfile = "a.csv"\n'
    )
    (tmp_path / "a.csv").write_text("y,p\n1,1.7\n0,abc\n")
    for command in (("check", str(tmp_path)), ("build", str(tmp_path), "-o", str(tmp_path / "out"))):
        done = dossier(*command)
        assert done.returncode == 2
        assert done.stdout == ""
        assert "Did you mean level?" in done.stderr
        assert "risk is 1.7, outside 0 to 1.\n  where: a.csv, row 2, column p" in done.stderr
        assert 'risk is "abc", not a number.' in done.stderr
        assert "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ("--strict",),
        ("--draft",),
        ("--local-site", "a"),
        ("--backend", "dask"),
        ("--scheduler", "tcp://127.0.0.1:1"),
    ],
)
def test_options_that_are_not_built_are_refused_by_name(release: Path, tmp_path: Path, arguments: list[str]) -> None:
    done = dossier("build", str(release), "-o", str(tmp_path / "out"), *arguments)
    assert done.returncode == 2
    assert f"{arguments[0]} is not built yet" in done.stderr


def test_verify_is_refused_by_name(tmp_path: Path) -> None:
    done = dossier("verify", str(tmp_path))
    assert done.returncode == 2
    assert "verify is not built yet" in done.stderr


@pytest.mark.parametrize(
    "arguments", [("build",), ("nonsense",), ("build", "x", "-o", "y", "--jobs", "0"), ("quick", "t.csv")]
)
def test_bad_options_end_with_two(arguments: list[str]) -> None:
    assert dossier(*arguments).returncode == 2


def test_init_refuses_a_folder_that_is_not_empty(release: Path) -> None:
    done = dossier("init", str(release))
    assert done.returncode == 2
    assert "is not an empty folder" in done.stderr


def test_schema_prints_both_schemas() -> None:
    schemas = json.loads(dossier("schema").stdout)
    assert set(schemas) == {"results.json", "release.toml"}
    assert schemas["results.json"]["properties"]["schema"] == {"const": "dossier-results/1"}


@pytest.mark.parametrize("thresholds", [(), ("0.2", "0.4")])
def test_quick_needs_no_release_file(release: Path, tmp_path: Path, thresholds: tuple[str, ...]) -> None:
    table = next(path for path in release.glob("*.csv") if "hospital" in path.name)
    out = tmp_path / "out"
    given = [word for one in thresholds for word in ("--threshold", one)]
    done = dossier("quick", str(table), "--outcome", "outcome", "--risk", "risk", "-o", str(out), *given)
    assert done.returncode == 0, done.stderr
    results = json.loads((out / "results.json").read_text())
    assert [dataset["role"] for dataset in results["datasets"]] == ["external"]
    at = {
        estimate["at"]["threshold"]
        for estimate in results["estimates"]
        if estimate["measure"] == "net_benefit" and "threshold" in estimate["at"] and estimate["value"] is not None
    }
    assert at == {float(one) for one in thresholds}
    pages = subprocess.run(["pdfinfo", str(out / "dossier-quick.pdf")], capture_output=True, text=True, check=True)
    assert int(pages.stdout.split("Pages:")[1].split()[0]) <= 8
    words = subprocess.run(
        ["pdftotext", "-layout", str(out / "dossier-quick.pdf"), "-"], capture_output=True, text=True, check=True
    )
    assert "It has no checklist" in " ".join(words.stdout.split())
    labelled = "runs from the 1st to the 99th percentile of the risks" in " ".join(words.stdout.split())
    assert labelled == (not thresholds)


def test_one_edition_is_written_alone(release: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = dossier("build", str(release), "-o", str(out), "--edition", "committee", "--page", "letter", "--seed", "5")
    assert done.returncode == 0, done.stderr
    assert (out / "dossier-committee.pdf").exists()
    assert not (out / "dossier-regulatory.pdf").exists()
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["command"] == "dossier build --edition committee --page letter --seed 5"
    assert manifest["seed"] == 5
    size = subprocess.run(["pdfinfo", str(out / "dossier-committee.pdf")], capture_output=True, text=True, check=True)
    assert "612 x 792 pts (letter)" in size.stdout.replace("611.972", "612").replace("792.0", "792")


def test_progress_goes_to_a_terminal_only(release: Path, tmp_path: Path) -> None:
    """On a terminal the stages and the sites are named; `--quiet` keeps silent."""
    spoken = {}
    for quiet in ((), ("--quiet",)):
        main, terminal = pty.openpty()
        command = [sys.executable, "-m", "dossier", "build", str(release), "--edition", "committee"]
        process = subprocess.Popen(
            [*command, "-o", str(tmp_path / f"out{len(quiet)}"), *quiet], stderr=terminal, stdout=subprocess.DEVNULL
        )
        os.close(terminal)
        heard = b""
        while True:
            try:
                part = os.read(main, 4096)
            except OSError:
                break
            if not part:
                break
            heard += part
        assert process.wait() == 0
        os.close(main)
        spoken[quiet] = heard.decode()
    assert spoken[("--quiet",)] == ""
    for word in ("evaluate", "draw", "print", "hospital-1"):
        assert word in spoken[()]


# ---- OUT complete or untouched --------------------------------------------------------------------------------------


def test_an_existing_dossier_is_replaced(
    built: tuple[Path, subprocess.CompletedProcess[str]], release: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    assert dossier("build", str(release), "-o", str(out), "--edition", "committee").returncode == 0
    assert dossier("build", str(release), "-o", str(out), "--jobs", "1").returncode == 0
    assert contents(out) == contents(built[0])
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_folder_that_is_not_ours_is_left_alone(release: Path, tmp_path: Path) -> None:
    strange = tmp_path / "strange"
    strange.mkdir()
    (strange / "thesis.docx").write_text("three years of work")
    before = contents(strange)
    done = dossier("build", str(release), "-o", str(strange))
    assert done.returncode == 2
    assert "holds files that dossier did not write" in done.stderr
    assert contents(strange) == before


def test_a_dossier_with_a_file_of_somebody_else_is_left_alone(
    built: tuple[Path, subprocess.CompletedProcess[str]], release: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    shutil.copytree(built[0], out)
    (out / "notes.txt").write_text("mine")
    before = contents(out)
    done = dossier("build", str(release), "-o", str(out))
    assert done.returncode == 2
    assert "notes.txt" in done.stderr
    assert contents(out) == before


def test_out_that_is_a_file_is_refused(release: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.write_text("a file")
    done = dossier("build", str(release), "-o", str(out))
    assert done.returncode == 2
    assert "is not a folder" in done.stderr
    assert out.read_text() == "a file"


def test_what_an_interrupted_swap_left_aside_is_restored(
    built: tuple[Path, subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    from dossier import output

    out = tmp_path / "out"
    shutil.copytree(built[0], tmp_path / "out.previous")
    output.prepare(out)
    assert contents(out) == contents(built[0])
    assert not (tmp_path / "out.previous").exists()


def running(release: Path, out: Path, temporary: Path) -> subprocess.Popen[bytes]:
    """A build with workers, in a process group of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "dossier", "build", str(release), "-o", str(out), "--jobs", "2"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=os.environ | {"TMPDIR": str(temporary)},
        start_new_session=True,
    )


@pytest.mark.parametrize("after", [0.2, 1.0, 2.0, 3.0, 4.5, 6.0])
def test_a_killed_build_leaves_out_as_it_was(
    built: tuple[Path, subprocess.CompletedProcess[str]], release: Path, tmp_path: Path, after: float
) -> None:
    """`kill -9` of the whole group at any moment: the old dossier or, had it just finished, the whole new one."""
    out = tmp_path / "out"
    shutil.copytree(built[0], out)
    before = contents(out)
    process = running(release, out, tmp_path)
    time.sleep(after)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    if process.stderr:
        process.stderr.close()
    assert contents(out) == before


def test_the_next_build_clears_what_a_killed_one_left(release: Path, tmp_path: Path) -> None:
    out, left = tmp_path / "out", tmp_path / ".out.building-4194304"
    left.mkdir()
    (left / "half.pdf").write_text("half")
    assert dossier("build", str(release), "-o", str(out), "--edition", "committee").returncode == 0
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_an_interrupted_build_ends_with_130_and_leaves_nothing(release: Path, tmp_path: Path) -> None:
    place, temporary = tmp_path / "place", tmp_path / "temporary"
    place.mkdir()
    temporary.mkdir()
    process = running(release, place / "out", temporary)
    time.sleep(2.5)
    os.killpg(process.pid, signal.SIGINT)
    _, heard = process.communicate(timeout=30)
    assert process.returncode == 130, heard.decode()
    assert b"Traceback" not in heard
    assert list(place.iterdir()) == []
    assert not [path for path in temporary.iterdir() if not path.name.startswith("joblib_memmapping")]
    assert _stays_empty(process.pid)


def _stays_empty(group: int) -> bool:
    """Whether the process group has ended, workers included."""
    for _ in range(50):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False


# ---- same input, same bytes -----------------------------------------------------------------------------------------

WORLDS: list[tuple[Mapping[str, str], str]] = [
    ({"PYTHONHASHSEED": "1", "TZ": "Pacific/Auckland", "LANG": "C"}, "1"),
    ({"PYTHONHASHSEED": "77", "TZ": "America/New_York", "LANG": "it_IT.UTF-8", "LC_ALL": "C.UTF-8"}, "3"),
]


def test_two_worlds_give_the_same_bytes(
    built: tuple[Path, subprocess.CompletedProcess[str]], release: Path, tmp_path: Path
) -> None:
    """Other hash seed, time zone, locale, number of workers, working and temporary folder: every file is the same."""
    expected = contents(built[0])
    for number, (world, jobs) in enumerate(WORLDS):
        place = tmp_path / f"place {number}"
        place.mkdir()
        done = dossier("build", str(release), "-o", "out", "--jobs", jobs, cwd=place, TMPDIR=str(place), **world)
        assert done.returncode == 0, done.stderr
        assert contents(place / "out") == expected
