"""OUT is complete or untouched, whatever happens meanwhile, and nobody else's files are ever replaced."""

from __future__ import annotations

import errno
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from dossier import output
from dossier.errors import OutputError

CHECKOUT = Path(__file__).resolve().parents[1]
WRITER = """
import json, sys
from pathlib import Path
from dossier import output
out, mark = Path(sys.argv[1]), sys.argv[2]
names = [f"figures/{number}.svg" for number in range(60)]
listed = {"schema": output.MANIFEST_SCHEMA, "outputs": [{"name": name} for name in names]}
files = {name: mark.encode() * 40_000 for name in names} | {output.MANIFEST: json.dumps(listed).encode()}
if sys.argv[3] == "two steps":
    output._exchange = lambda one, other: False
output.prepare(out)
print("ready", flush=True)
sys.stdin.readline()
while True:
    output.write(out, files)
    if sys.argv[4] == "once":
        break
"""


@pytest.fixture(params=["exchange", "two steps"])
def each_system(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """A system that exchanges two names in one step, and one that cannot."""
    if request.param == "two steps":
        monkeypatch.setattr(output, "_exchange", lambda one, other: False)
    return str(request.param)


def dossier_files(mark: bytes, *names: str) -> dict[str, bytes]:
    """What a build hands over: some files, and a manifest that lists them."""
    names = names or ("results.json", "figures/roc.svg")
    listed = {"schema": output.MANIFEST_SCHEMA, "outputs": [{"name": name} for name in names]}
    return dict.fromkeys(names, mark) | {output.MANIFEST: json.dumps(listed).encode()}


def held(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, with what it holds."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def beside(out: Path) -> list[str]:
    """What stands in the folder of OUT."""
    return sorted(path.name for path in out.parent.iterdir())


def fault(error: pytest.ExceptionInfo[OutputError]) -> str:
    """The one fault that was told."""
    (only,) = error.value.faults
    return only.what


# ---- replacing ------------------------------------------------------------------------------------------------------


def test_a_new_out_is_written_as_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    out = Path("new/out")
    output.prepare(out)
    assert not out.exists()
    written = output.write(out, dossier_files(b"one"))
    assert written == (out / "results.json", out / "figures/roc.svg", out / "manifest.json")
    assert held(out) == dossier_files(b"one")
    assert beside(out) == ["out"]


@pytest.mark.usefixtures("each_system")
def test_our_own_out_is_replaced_whole(tmp_path: Path) -> None:
    out = tmp_path / "out"
    output.write(out, dossier_files(b"one", "results.json", "figures/gone.svg"))
    out.chmod(0o700)
    output.prepare(out)
    output.write(out, dossier_files(b"two"))
    assert held(out) == dossier_files(b"two")
    assert out.stat().st_mode & 0o777 == 0o700
    assert beside(out) == ["out"]


def test_an_empty_out_is_filled(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    output.prepare(out)
    output.write(out, dossier_files(b"one"))
    assert held(out) == dossier_files(b"one")


@pytest.mark.parametrize("strange", ["notes.txt", "figures/mine.svg", "empty folder/"])
def test_what_the_manifest_does_not_list_stays(tmp_path: Path, strange: str) -> None:
    out = tmp_path / "out"
    output.write(out, dossier_files(b"one"))
    if strange.endswith("/"):
        (out / strange).mkdir()
    else:
        (out / strange).write_text("mine")
    before = held(out)
    with pytest.raises(OutputError, match=strange.rstrip("/")):
        output.prepare(out)
    with pytest.raises(OutputError, match=strange.rstrip("/")):
        output.write(out, dossier_files(b"two"))
    assert held(out) == before
    assert beside(out) == ["out"]


@pytest.mark.parametrize("manifest", [None, "", "[]", "{}", '{"schema": "another/1", "outputs": []}', '{"outputs": 1}'])
def test_a_folder_without_our_manifest_stays(tmp_path: Path, manifest: str | None) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "letter.txt").write_text("mine")
    if manifest is not None:
        (out / output.MANIFEST).write_text(manifest)
    with pytest.raises(OutputError) as error:
        output.prepare(out)
    assert fault(error) == "out holds files that dossier did not write."
    assert (out / "letter.txt").read_text() == "mine"


# ---- places that cannot be -----------------------------------------------------------------------------------------


def test_a_file_or_a_link_is_no_out(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path)
    for name, what in (("file", "file is not a folder."), ("link", "link is a link.")):
        with pytest.raises(OutputError) as error:
            output.prepare(tmp_path / name)
        assert fault(error) == what
    with pytest.raises(OutputError) as error:
        output.prepare(tmp_path / "file" / "out")
    assert fault(error) == "file is a file; nothing can be written below it."
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.parametrize("out", [".", "", "..", "/", "below/.."])
def test_the_folder_that_one_is_in_is_no_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, out: str) -> None:
    (tmp_path / "here/below").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "here")
    with pytest.raises(OutputError) as error:
        output.prepare(Path(out))
    assert fault(error) == "OUT would take the place of the folder that you are in."


def test_a_parent_that_cannot_be_written_is_told_before_anything_is_computed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Root may write everywhere, so the system's answer is put in its mouth.
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != tmp_path)
    with pytest.raises(OutputError) as error:
        output.prepare(tmp_path / "new" / "out")
    assert fault(error) == "The folder that is to hold out cannot be written."


@pytest.mark.usefixtures("each_system")
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO])
def test_a_full_disk_leaves_out_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    out = tmp_path / "out"
    output.write(out, dossier_files(b"one"))
    plain = Path.write_bytes

    def full(path: Path, content: bytes) -> int:
        if path.name == output.MANIFEST:
            raise OSError(number, os.strerror(number))
        return plain(path, content)

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OutputError) as error:
        output.write(out, dossier_files(b"two"))
    assert fault(error) == f"out could not be written: {os.strerror(number).lower()}."
    assert ("Make room" in error.value.faults[0].fix) == (number in (errno.ENOSPC, errno.EDQUOT))
    assert held(out) == dossier_files(b"one")
    assert beside(out) == ["out"]


def test_a_disk_that_is_full_indeed(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("only an administrator may mount a small disk")
    try:
        out = disk / "out"
        output.write(out, dossier_files(b"one"))
        with pytest.raises(OutputError, match="no space left"):
            output.write(out, dossier_files(b"two" * 40_000))
        assert held(out) == dossier_files(b"one")
        assert beside(out) == ["out"]
    finally:
        subprocess.run(["umount", disk], check=True)


# ---- killed ---------------------------------------------------------------------------------------------------------


def writer(out: Path, mark: str, system: str, times: str = "for ever") -> subprocess.Popen[str]:
    """A process that is ready to write OUT, and starts when it is told to."""
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(out), mark, system, times],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=CHECKOUT,
    )
    assert process.stdout
    assert process.stdout.readline() == "ready\n"
    return process


def start(process: subprocess.Popen[str]) -> None:
    """Let it write."""
    assert process.stdin
    process.stdin.write("\n")
    process.stdin.flush()


def end(process: subprocess.Popen[str]) -> None:
    """Wait for it, and close its pipes."""
    process.communicate(timeout=20)


@pytest.mark.parametrize("system", ["exchange", "two steps"])
def test_killed_at_any_moment_out_is_whole(tmp_path: Path, system: str) -> None:
    out = tmp_path / "out"
    draw = random.Random(1)
    whole = ({"o"}, {"a"}, {"b"})
    first = dossier_files(b"o", "results.json")
    output.write(out, first)
    for turn in range(6):
        process = writer(out, "ab"[turn % 2], system)
        start(process)
        time.sleep(draw.uniform(0.0, 0.12))
        process.send_signal(signal.SIGKILL)
        end(process)
        output.prepare(out)
        # Where the change takes two steps, the older one may still stand there, whole, until the next build ends.
        assert [name for name in beside(out) if name != "out.previous" or system == "exchange"] == ["out"], turn
        marks = {content[:1].decode() for name, content in held(out).items() if name != output.MANIFEST}
        assert marks in whole, turn
        known = {entry["name"] for entry in json.loads((out / output.MANIFEST).read_bytes())["outputs"]}
        assert known == set(held(out)) - {output.MANIFEST}, turn
    last = writer(out, "a", system, "once")
    start(last)
    end(last)
    assert beside(out) == ["out"]


def test_killed_between_the_two_steps_out_gets_its_name_back(tmp_path: Path) -> None:
    out = tmp_path / "out"
    output.write(out, dossier_files(b"one"))
    out.rename(tmp_path / "out.previous")
    (tmp_path / ".out.building-0123abcd").mkdir()
    output.prepare(out)
    assert held(out) == dossier_files(b"one")
    assert beside(out) == ["out"]


def test_killed_after_the_second_step_the_older_one_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "_exchange", lambda one, other: False)
    out = tmp_path / "out"
    output.write(tmp_path / "out.previous", dossier_files(b"one"))
    output.write(out, dossier_files(b"two"))
    output.prepare(out)
    output.write(out, dossier_files(b"three"))
    assert held(out) == dossier_files(b"three")
    assert beside(out) == ["out"]


def test_a_previous_that_is_not_ours_is_not_taken(tmp_path: Path) -> None:
    (tmp_path / "out.previous").mkdir()
    (tmp_path / "out.previous" / "letter.txt").write_text("mine")
    output.prepare(tmp_path / "out")
    assert beside(tmp_path / "out") == ["out.previous"]


def test_an_interruption_in_the_second_step_puts_out_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "_exchange", lambda one, other: False)
    out = tmp_path / "out"
    output.write(out, dossier_files(b"one"))
    plain = Path.rename

    def interrupted(path: Path, target: Path) -> Path:
        if path.name.startswith(".out"):
            raise KeyboardInterrupt
        return plain(path, target)

    monkeypatch.setattr(Path, "rename", interrupted)
    with pytest.raises(KeyboardInterrupt):
        output.write(out, dossier_files(b"two"))
    assert held(out) == dossier_files(b"one")
    assert beside(out) == ["out"]


# ---- two at once ----------------------------------------------------------------------------------------------------


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Path]:
    """The folder in which a build is at work at this moment."""
    working = tmp_path / ".out.building-0123abcd"
    with output._claimed(working):
        yield working


def test_a_build_does_not_clear_away_another_that_runs(tmp_path: Path, running: Path) -> None:
    output.prepare(tmp_path / "out")
    assert running.is_dir()


@pytest.mark.parametrize("system", ["exchange", "two steps"])
def test_two_builds_at_once_never_mix(tmp_path: Path, system: str) -> None:
    out = tmp_path / "out"
    output.write(out, dossier_files(b"o", "results.json"))
    processes = [writer(out, mark, system) for mark in "ab"]
    looked: set[str] = set()
    for process in processes:
        start(process)
    until = time.monotonic() + 1.0
    while time.monotonic() < until:
        time.sleep(0.02)
        looked.update(path.name for path in tmp_path.iterdir())
    assert [process.poll() for process in processes] == [None, None]
    for process in processes:
        process.send_signal(signal.SIGKILL)
        end(process)
    output.prepare(out)
    files = held(out)
    assert len({content[:1] for name, content in files.items() if name != output.MANIFEST}) == 1
    assert len(files) == 61
    assert [name for name in beside(out) if name != "out.previous" or system == "exchange"] == ["out"]
    assert any(name.startswith(".out.building-") for name in looked)


def test_outside_the_main_thread_it_writes_as_well(tmp_path: Path) -> None:
    out = tmp_path / "out"
    thread = threading.Thread(target=output.write, args=(out, dossier_files(b"one")))
    thread.start()
    thread.join()
    assert held(out) == dossier_files(b"one")
