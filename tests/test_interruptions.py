"""Broken off in any stage: OUT is as it was, nothing runs on, nothing stays that the next build does not clear away.

Where a build is at the moment is known for certain: a module that Python loads at the start makes one function of a
stage say its process number and wait.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dossier import initial
from tests.test_cli import group, held, results, until

CHECKOUT = Path(__file__).resolve().parents[1]
STAGES = {
    "load": ("dossier.load.datasets", "sites", ""),
    "evaluate": ("dossier.evaluate", "_of_dataset", ""),
    "draw": ("dossier.draw", "_drawn", ""),
    "compose": ("dossier.compose", "document", ""),
    "press": ("dossier.press", "_rendered", ""),
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
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release of two small hospitals and no resamples to speak of."""
    folder = tmp_path_factory.mktemp("releases") / "two"
    folder.mkdir()
    files = initial.files()
    text = files["release.toml"].decode()
    head, *datasets = text.split("[[dataset]]\n")
    one = next(part for part in datasets if 'name = "hospital-1"' in part)
    text = "[[dataset]]\n".join([head, one.replace("hospital-1", "hospital-0").split("\n\n")[0] + "\n\n", one])
    (folder / "release.toml").write_text(re.sub(r"(bootstrap|permutations) = \d+", r"\1 = 5", text))
    for name in ("hospital-0.csv", "hospital-1.csv"):
        (folder / name).write_bytes(files["hospital-1.csv"])
    return folder


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory, release: Path) -> Path:
    """An OUT of an earlier build."""
    out = tmp_path_factory.mktemp("earlier") / "out"
    subprocess.run(command(release, out), check=True, capture_output=True, env=environment())
    return out


def environment(*first: Path) -> dict[str, str]:
    """The environment of a build, with these folders before ours."""
    return os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (*first, CHECKOUT)))}


def command(release: Path, out: Path, jobs: int = 1) -> list[str]:
    """The build of one edition."""
    words = ["build", str(release), "-o", str(out), "--edition", "committee", "--jobs", str(jobs), "--seed", "2"]
    return [sys.executable, "-m", "dossier", *words]


def stopped_in(stage: str, release: Path, out: Path, jobs: int = 1) -> tuple[subprocess.Popen[str], int]:
    """A build that waits in this stage, and the process that does."""
    folder = out.parent.parent / f"stop-{stage}"
    folder.mkdir(exist_ok=True)
    mark = folder / "mark"
    mark.unlink(missing_ok=True)
    module, name, ending = STAGES[stage]
    (folder / "sitecustomize.py").write_text(WAIT.format(mark=str(mark), module=module, name=name, ending=ending))
    build = subprocess.Popen(
        command(release, out, jobs),
        env=environment(folder) | {"PYTHONDONTWRITEBYTECODE": "1"},
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
def test_killed_in_any_stage_out_is_as_it_was_and_the_next_build_works(release: Path, out: Path, stage: str) -> None:
    earlier = held(out)
    build, _ = stopped_in(stage, release, out)
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
    broken = out.parent.parent / "nothing"
    again = command(release if stage == "write" else broken, out)
    done = subprocess.run(again, env=environment(), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr[:8]) == ((0, "") if stage == "write" else (2, "There is"))
    assert [path.name for path in out.parent.iterdir()] == ["out"]
    assert held(out).keys() == earlier.keys()
    assert results(out)["release"]["seed"] == 2


@pytest.mark.parametrize("stage", list(STAGES))
def test_interrupted_in_any_stage_nothing_is_left(release: Path, out: Path, stage: str) -> None:
    earlier = held(out)
    build, _ = stopped_in(stage, release, out)
    os.killpg(build.pid, signal.SIGINT)
    said, errors = build.communicate(timeout=60)
    assert (build.returncode, said, errors) == (130, "", "Interrupted.\n")
    until(lambda: not group(build.pid))
    assert held(out) == earlier
    assert [path.name for path in out.parent.iterdir()] == ["out"]


@pytest.mark.parametrize("stage", ["evaluate", "draw"])
def test_a_worker_that_is_killed_in_a_stage_is_told(release: Path, out: Path, stage: str) -> None:
    earlier = held(out)
    build, worker = stopped_in(stage, release, out, jobs=2)
    assert worker != build.pid
    os.kill(worker, signal.SIGKILL)
    said, errors = build.communicate(timeout=60)
    assert (build.returncode, said) == (2, "")
    assert errors == (
        "A worker process ended before its work was done.\n  where: --jobs\n"
        "  fix:   Memory may have run out: use fewer workers, such as --jobs 1, or free some.\n"
    )
    until(lambda: not group(build.pid))
    assert held(out) == earlier
    assert [path.name for path in out.parent.iterdir()] == ["out"]
