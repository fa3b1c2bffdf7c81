"""Broken off in any stage: OUT is as it was, nothing runs on, nothing stays that the next build does not clear away.

Where a build is at the moment is known for certain: a module that Python loads at the start makes one function of a
stage say its process number and wait.
"""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from dossier.command_line import initial
from tests.conftest import held
from tests.smallest import HEAD, SITE, release_in
from tests.test_cli import group, results, until

CHECKOUT = Path(__file__).resolve().parents[1]
STAGES = {
    "load": ("dossier.reading.datasets", "sites", ""),
    "evaluate": ("dossier.evaluate.pieces", "found", ""),
    "draw": ("dossier.report.draw", "_drawn", ""),
    "compose": ("dossier.report.compose", "document", ""),
    "press": ("dossier.report.press", "_rendered", ""),
    "write": ("pathlib", "Path.write_bytes", "manifest.json"),
}
"""In each stage the function that is stopped, and how its first argument ends: the manifest is written last."""
WAIT = """
import importlib, os, time
from operator import attrgetter
from pathlib import Path

place, _, name = {name!r}.rpartition(".")
owner = importlib.import_module({module!r})
owner = attrgetter(place)(owner) if place else owner
real = getattr(owner, name)

def stop(*words, **more):
    if not str(words[0]).endswith({ending!r}):
        return real(*words, **more)
    mark = Path({mark!r})
    half = mark.with_suffix(f".{{os.getpid()}}")
    half.write_text(str(os.getpid()))
    half.rename(mark)
    time.sleep(120)

setattr(owner, name, stop)
"""


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of sixty patients."""
    path = tmp_path_factory.mktemp("tables") / "hospital.csv"
    path.write_bytes(b"".join(initial.files()["hospital-1.csv"].splitlines(keepends=True)[:61]))
    return path


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory, table: Path) -> Path:
    """An OUT of an earlier build."""
    out = tmp_path_factory.mktemp("earlier") / "out"
    subprocess.run(quick(table, out, seed=1), check=True, capture_output=True, env=environment())
    return out


def quick(table: Path, out: Path, seed: int = 2, jobs: str = "1") -> list[str]:
    """The shortest build that goes through all stages."""
    words = ["quick", str(table), "--outcome", "outcome", "--risk", "risk", "-o", str(out), "--jobs", jobs]
    return [sys.executable, "-m", "dossier", *words, "--seed", str(seed)]


def environment(*first: Path) -> dict[str, str]:
    """The environment of a build, with these folders before ours."""
    return os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (*first, CHECKOUT)))}


def stopped_in(stage: str, command: list[str], out: Path, **more: str) -> tuple[subprocess.Popen[str], int]:
    """A build that waits in this stage, and the process that does."""
    folder = out.parent.parent / f"stop-{stage}"
    folder.mkdir(exist_ok=True)
    mark = folder / "mark"
    mark.unlink(missing_ok=True)
    module, name, ending = STAGES[stage]
    (folder / "sitecustomize.py").write_text(WAIT.format(mark=str(mark), module=module, name=name, ending=ending))
    build = subprocess.Popen(
        command,
        env=environment(folder) | {"PYTHONDONTWRITEBYTECODE": "1"} | more,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    end = time.monotonic() + 180
    while not mark.exists():
        if build.poll() is not None or time.monotonic() > end:
            os.killpg(build.pid, signal.SIGKILL)
            pytest.fail(f"never came to {stage}: {build.communicate()}")
        time.sleep(0.05)
    return build, int(mark.read_text())


@pytest.fixture
def out(tmp_path: Path, before: Path) -> Path:
    """OUT with an earlier dossier in it, alone in its folder."""
    (tmp_path / "place").mkdir()
    shutil.copytree(before, tmp_path / "place" / "out")
    return tmp_path / "place" / "out"


@pytest.mark.parametrize("stage", list(STAGES))
def test_killed_in_any_stage_out_is_as_it_was_and_the_next_build_works(table: Path, out: Path, stage: str) -> None:
    earlier = held(out)
    build, _ = stopped_in(stage, quick(table, out), out)
    os.kill(build.pid, signal.SIGKILL)
    build.communicate(timeout=30)
    assert build.returncode == -signal.SIGKILL
    until(lambda: not group(build.pid))
    assert held(out) == earlier
    left = sorted(path.name for path in out.parent.iterdir())
    working = [name for name in left if name.startswith(".out.building-")]
    assert len(working) == (stage == "write")
    assert set(left) - set(working) == {".out.building", "out"}
    # A build that fails clears up as well; only after the last stage a whole one is made.
    again = table if stage == "write" else table.with_name("nothing.csv")
    done = subprocess.run(quick(again, out), env=environment(), capture_output=True, text=True, check=False)
    assert (done.returncode, ("3 flags:" if stage == "write" else "There is") in done.stderr) == (
        0 if stage == "write" else 2,
        True,
    )
    assert [path.name for path in out.parent.iterdir()] == ["out"]
    assert held(out).keys() == earlier.keys()
    assert results(out)["release"]["seed"] == (2 if stage == "write" else 1)


@pytest.mark.parametrize("stage", list(STAGES))
def test_interrupted_in_any_stage_nothing_is_left(table: Path, out: Path, stage: str) -> None:
    earlier = held(out)
    build, _ = stopped_in(stage, quick(table, out), out)
    os.killpg(build.pid, signal.SIGINT)
    said, errors = build.communicate(timeout=60)
    assert (build.returncode, said, errors.strip()) == (130, "", "Interrupted.")
    until(lambda: not group(build.pid))
    assert held(out) == earlier
    assert [path.name for path in out.parent.iterdir()] == ["out"]


@pytest.mark.parametrize("stage", ["evaluate", "draw"])
def test_a_worker_that_is_killed_in_a_stage_is_told(table: Path, out: Path, stage: str) -> None:
    earlier = held(out)
    folder = out.parent.parent / "release"
    folder.mkdir()
    text = HEAD
    for name in ("north", "south"):
        text += SITE.replace("site", name)
        shutil.copy(table, folder / f"{name}.csv")
    (folder / "release.toml").write_text(text)
    words = ["build", str(folder), "-o", str(out), "--edition", "committee", "--jobs", "2"]
    build, worker = stopped_in(stage, [sys.executable, "-m", "dossier", *words], out)
    assert worker != build.pid
    os.kill(worker, signal.SIGKILL)
    said, errors = build.communicate(timeout=60)
    assert (build.returncode, said) == (2, "")
    assert errors.endswith(
        "A worker process ended before its work was done.\n  where: --jobs\n"
        "  fix:   Memory may have run out: use fewer workers, such as --jobs 1, or free some.\n"
    )
    until(lambda: not group(build.pid))
    assert held(out) == earlier
    assert [path.name for path in out.parent.iterdir()] == ["out"]


def test_killed_with_all_its_workers_a_build_leaves_no_rows_anywhere(tmp_path: Path) -> None:
    """Rows of so many patients are larger than what joblib hands to its workers without a file in shared memory."""
    (tmp_path / "place").mkdir()
    large, temporary = tmp_path / "large.csv", tmp_path / "temporary"
    temporary.mkdir()
    large.write_text("outcome,risk\n" + "".join(f"{k % 3 == 0:d},0.{k % 997 + 1:04d}\n" for k in range(200_000)))
    folders = {"JOBLIB_TEMP_FOLDER": str(temporary), "TMPDIR": str(temporary)}
    for more in ({}, folders):
        command = quick(large, tmp_path / "place" / "out", jobs="2")
        build, worker = stopped_in("evaluate", command, tmp_path / "place" / "out", **more)
        assert worker != build.pid
        os.killpg(build.pid, signal.SIGKILL)
        build.communicate(timeout=30)
        until(lambda leader=build.pid: not group(leader))  # type: ignore[misc]
        folders_of_it = list(Path("/dev/shm").glob(f"joblib_memmapping_folder_{build.pid}_*"))
        assert [path for folder in folders_of_it for path in folder.iterdir()] == []
        # joblib makes them whether it needs them or not.
        for folder in folders_of_it:
            folder.rmdir()
        assert [path for path in temporary.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize(("rows", "jobs"), [(60, "1"), (400_000, "2")])
def test_a_build_that_ends_well_leaves_no_file_and_no_process(tmp_path: Path, rows: int, jobs: str) -> None:
    temporary, table = tmp_path / "temporary", tmp_path / "hospital.csv"
    temporary.mkdir()
    table.write_text("outcome,risk\n" + "".join(f"{k % 3 == 0:d},0.{k % 997 + 1:04d}\n" for k in range(rows)))
    command = quick(table, tmp_path / "out", jobs=jobs)
    subprocess.run(command, check=True, capture_output=True, env=environment() | {"TMPDIR": str(temporary)})
    # The command lines of the processes that were told to keep temporary files there.
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if f"TMPDIR={temporary}".encode() in (process / "environ").read_bytes().split(b"\0"):
                found.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode())
    assert found == []
    assert list(temporary.iterdir()) == []


# ---- no room, and wrong places --------------------------------------------------------------------------------------


def test_where_no_temporary_file_may_grow_out_is_as_it_was(table: Path, out: Path) -> None:
    """The press copies fonts of more than 20 kB."""
    earlier, limit = held(out), 20_000
    done = subprocess.run(
        quick(table, out),
        env=environment(),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "A file for temporary use could not be written: file too large.\n"
        f"  where: the folder for temporary files, {tempfile.gettempdir()}\n"
        "  fix:   Make room there, or name another folder in TMPDIR.\n"
    )
    assert held(out) == earlier
    assert [path.name for path in out.parent.iterdir()] == ["out"]


def test_the_release_itself_is_no_out(table: Path, tmp_path: Path) -> None:
    folder = tmp_path / "release"
    release_in(folder, HEAD + SITE)
    shutil.copy(table, folder / "site.csv")
    earlier = held(folder)
    for out in (folder, tmp_path):
        words = [sys.executable, "-m", "dossier", "build", str(folder), "-o", str(out)]
        done = subprocess.run(words, env=environment(), capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith(f"{out.name} holds files that dossier did not write.\n")
        assert held(folder) == earlier


LEAKING = """
from dossier.command_line import cli
from joblib.externals.loky.backend import resource_tracker as tracker
cli._start_workers(1)
tracker._resource_tracker.register("/loky-of-a-killed-worker", "semlock")
"""


def test_the_tracker_clears_up_after_a_killed_worker_without_a_word() -> None:
    """Whether a killed worker leaves something behind is chance; here something is left behind for certain."""
    done = subprocess.run([sys.executable, "-c", LEAKING], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")
