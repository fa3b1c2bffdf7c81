"""OUT is complete or untouched, whatever happens meanwhile, and nobody else's files are ever replaced."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from dossier.core.errors import OutputError
from dossier.outputs import output
from dossier.record import manifest
from tests.conftest import held

CHECKOUT = Path(__file__).resolve().parents[1]
WRITER = """
import sys
from pathlib import Path
from dossier.outputs import output
from tests.test_output import dossier_files
out, mark = Path(sys.argv[1]), sys.argv[2]
files = dossier_files(mark.encode() * 40_000, *(f"figures/{number}.svg" for number in range(60)))
if sys.argv[3] == "two steps":
    output._exchange = lambda one, other: False
with output.reserved(out):
    print("ready", flush=True)
    sys.stdin.readline()
    while True:
        output.write(out, files)
        if sys.argv[4] == "once":
            break
"""
RIVAL = """
import os, sys
from pathlib import Path
from dossier.outputs import output
from dossier.core.errors import OutputError
out, alone = Path(sys.argv[1]), Path(sys.argv[2])
had = 0
for _ in range(400):
    try:
        with output.reserved(out):
            os.close(os.open(alone, os.O_CREAT | os.O_EXCL))
            had += 1
            alone.unlink()
    except OutputError as error:
        assert "at work" in error.faults[0].what, error
print(had)
"""


@pytest.fixture(params=["exchange", "two steps"])
def each_system(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """A system that exchanges two names in one step, and one that cannot."""
    if request.param == "two steps":
        monkeypatch.setattr(output, "_exchange", lambda first, other: False)
    return str(request.param)


def dossier_files(mark: bytes, *names: str) -> dict[str, bytes]:
    """What a build hands over: some files, and a manifest that lists them."""
    names = names or ("results.json", "figures/roc.svg")
    digest = hashlib.sha256(mark).hexdigest()
    listed = {
        "schema": manifest.SCHEMA,
        "command": "dossier build --edition all --page a4",
        "seed": 1,
        "artifact_sha256": None,
        "versions": {},
        "inputs": [],
        "outputs": [{"name": name, "sha256": digest, "size": len(mark)} for name in names],
    }
    return dict.fromkeys(names, mark) | {manifest.MANIFEST: json.dumps(listed).encode()}


def beside(out: Path) -> list[str]:
    """What stands in the folder of OUT."""
    return sorted(path.name for path in out.parent.iterdir())


def clear_up(out: Path) -> None:
    """What the next build does before it works."""
    with output.reserved(out):
        pass


def fault(error: pytest.ExceptionInfo[OutputError]) -> str:
    """The one fault that was told."""
    (only,) = error.value.faults
    return only.what


# ---- replacing ------------------------------------------------------------------------------------------------------


def test_a_new_out_is_written_as_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    out = Path("new/out")
    with output.reserved(out):
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
    clear_up(out)
    output.write(out, dossier_files(b"two"))
    assert held(out) == dossier_files(b"two")
    assert out.stat().st_mode & 0o777 == 0o700
    assert beside(out) == ["out"]


def test_an_empty_out_is_filled(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    clear_up(out)
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
        clear_up(out)
    with pytest.raises(OutputError, match=strange.rstrip("/")):
        output.write(out, dossier_files(b"two"))
    assert held(out) == before
    assert beside(out) == ["out"]


@pytest.mark.parametrize("text", [None, "", "[]", "{}", '{"schema": "another/1", "outputs": []}', '{"outputs": 1}'])
def test_a_folder_without_our_manifest_stays(tmp_path: Path, text: str | None) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "letter.txt").write_text("mine")
    if text is not None:
        (out / manifest.MANIFEST).write_text(text)
    with pytest.raises(OutputError) as error:
        clear_up(out)
    assert fault(error) == "out holds files that dossier did not write."
    assert (out / "letter.txt").read_text() == "mine"


# ---- places that cannot be -----------------------------------------------------------------------------------------


def test_a_file_or_a_link_is_no_out(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path)
    for name, what in (("file", "file is not a folder."), ("link", "link is a link.")):
        with pytest.raises(OutputError) as error:
            clear_up(tmp_path / name)
        assert fault(error) == what
    with pytest.raises(OutputError) as error:
        clear_up(tmp_path / "file" / "out")
    assert fault(error) == "file is a file; nothing can be written below it."
    assert (tmp_path / "file").read_text() == "mine"
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(OutputError, match="could not be written"):
        clear_up(tmp_path / "loop" / "out")


@pytest.mark.parametrize("out", [".", "", "..", "/", "below/.."])
def test_the_folder_that_one_is_in_is_no_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, out: str) -> None:
    (tmp_path / "here/below").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "here")
    with pytest.raises(OutputError) as error:
        clear_up(Path(out))
    assert fault(error) == "OUT would take the place of the folder that you are in."


def test_a_parent_that_cannot_be_written_is_told_before_anything_is_computed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Root may write everywhere, so the system's answer is put in its mouth.
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != tmp_path)
    with pytest.raises(OutputError) as error:
        clear_up(tmp_path / "new" / "out")
    assert fault(error) == "The folder that is to hold out cannot be written."


@pytest.mark.usefixtures("each_system")
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO])
def test_a_full_disk_leaves_out_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    out = tmp_path / "out"
    output.write(out, dossier_files(b"one"))
    plain = Path.write_bytes

    def full(path: Path, content: bytes) -> int:
        if path.name == manifest.MANIFEST:
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


@pytest.mark.slow
@pytest.mark.parametrize("system", ["exchange", "two steps"])
def test_killed_at_any_moment_out_is_whole(tmp_path: Path, system: str) -> None:
    out = tmp_path / "out"
    draw = random.Random(1)
    whole = ({"o"}, {"a"}, {"b"})
    output.write(out, dossier_files(b"o", "results.json"))
    for turn in range(6):
        process = writer(out, "ab"[turn % 2], system)
        start(process)
        time.sleep(draw.uniform(0.0, 0.12))
        process.send_signal(signal.SIGKILL)
        end(process)
        clear_up(out)
        # Where the change takes two steps, the older one may still stand there, whole, until the next build ends.
        assert [name for name in beside(out) if name != "out.previous" or system == "exchange"] == ["out"], turn
        marks = {content[:1].decode() for name, content in held(out).items() if name != manifest.MANIFEST}
        assert marks in whole, turn
        known = {entry["name"] for entry in json.loads((out / manifest.MANIFEST).read_bytes())["outputs"]}
        assert known == set(held(out)) - {manifest.MANIFEST}, turn
    last = writer(out, "a", system, "once")
    start(last)
    end(last)
    assert beside(out) == ["out"]


CRASHES = """
import os, sys
from pathlib import Path
from dossier.outputs import output
from tests.test_output import beside, dossier_files, held
out = Path(sys.argv[1])
if sys.argv[2] == "two steps":
    output._exchange = lambda one, other: False
old, new = dossier_files(b"old"), dossier_files(b"new", "results.json", "figures/another.svg")
outcomes, last, ended = [], 0, 1
while ended:
    with output.reserved(out):
        output.write(out, old)
    child = os.fork()
    if not child:
        left = last
        def end(event, arguments):
            global left
            left -= event.startswith(("os.", "open", "shutil.", "ctypes."))
            if left < 0:
                os._exit(1)
        sys.addaudithook(end)
        with output.reserved(out):
            output.write(out, new)
        os._exit(0)
    ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with output.reserved(out):
        pass
    assert held(out) in (old, new), (last, held(out))
    assert beside(out) == ["out"], (last, beside(out))
    outcomes.append(held(out) == new)
    last += 1
print(len(outcomes), sum(outcomes))
"""
"""Ends a build before each call that it makes to the system, one after the other, as kill -9 would."""


@pytest.mark.slow
@pytest.mark.parametrize("system", ["exchange", "two steps"])
def test_killed_before_any_call_to_the_system_out_is_the_older_or_the_newer_one(tmp_path: Path, system: str) -> None:
    out = tmp_path / "a" / "out"
    words = [sys.executable, "-c", CRASHES, str(out), system]
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=CHECKOUT)
    assert done.returncode == 0, done.stderr
    tried, newer = map(int, done.stdout.split())
    assert tried > 40
    assert 3 < newer < tried - 20


def test_every_byte_and_name_is_on_the_disk_before_out_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "new" / "out"
    steps: list[object] = []
    plain_sync, plain_swap, plain_remove = os.fsync, output._exchange, shutil.rmtree

    def sync(handle: int) -> None:
        steps.append(os.fstat(handle).st_ino)
        plain_sync(handle)

    def swap(first: Path, other: Path) -> bool:
        steps.append("swap")
        unsynced = [path for path in (first, *first.rglob("*")) if path.stat().st_ino not in steps]
        assert unsynced == []
        return plain_swap(first, other)

    def remove(path: Path, ignore_errors: bool = False) -> None:
        steps.append("remove")
        plain_remove(path, ignore_errors)

    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(output, "_exchange", swap)
    monkeypatch.setattr(shutil, "rmtree", remove)
    for mark in (b"one", b"two"):
        with output.reserved(out):
            output.write(out, dossier_files(mark))
        assert tmp_path.stat().st_ino in steps
    after = steps[steps.index("swap") :]
    assert after.index(out.parent.stat().st_ino) < after.index("remove")


# ---- what is not ours -----------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("each_system")
@pytest.mark.parametrize("state", ["no OUT", "OUT", "another journal", "no journal at all"])
def test_a_backup_of_the_users_own_stays(tmp_path: Path, each_system: str, state: str) -> None:
    """A copy of a dossier under the name that OUT itself has while it is replaced in two steps."""
    out, backup, journal = tmp_path / "out", tmp_path / "out.previous", tmp_path / ".out.journal"
    output.write(backup, dossier_files(b"mine"))
    if state != "no OUT":
        output.write(out, dossier_files(b"one"))
    if state == "another journal":
        journal.write_bytes(output._about(out, out))
    if state == "no journal at all":
        journal.mkdir()
    clear_up(out)
    assert held(backup) == dossier_files(b"mine")
    assert out.exists() == (state != "no OUT")
    if each_system == "two steps" and out.exists():
        with pytest.raises(OutputError, match=r"out\.previous stands where dossier has to put its own"):
            output.write(out, dossier_files(b"two"))
        assert held(out) == dossier_files(b"one")
    else:
        output.write(out, dossier_files(b"two"))
    assert held(backup) == dossier_files(b"mine")


@pytest.mark.parametrize("said", [b"mine", b'{"schema": "another/1"}', b"\0" * 20_000])
def test_a_journal_of_the_users_own_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: bytes) -> None:
    monkeypatch.setattr(output, "_exchange", lambda first, other: False)
    out, journal = tmp_path / "out", tmp_path / ".out.journal"
    output.write(out, dossier_files(b"one"))
    journal.write_bytes(said)
    clear_up(out)
    with pytest.raises(OutputError, match=r"\.out\.journal stands where dossier has to put its own"):
        output.write(out, dossier_files(b"two"))
    assert journal.read_bytes() == said
    assert held(out) == dossier_files(b"one")


@pytest.mark.parametrize("length", [0, 10, 60])
def test_a_journal_that_was_cut_short_goes(tmp_path: Path, length: int) -> None:
    out, journal = tmp_path / "out", tmp_path / ".out.journal"
    output.write(out, dossier_files(b"one"))
    journal.write_bytes(output._about(out, out)[:length])
    clear_up(out)
    assert beside(out) == ["out"]
    assert held(out) == dossier_files(b"one")


@pytest.mark.parametrize("added", ["notes.txt", "results.json"])
def test_what_made_way_stays_where_somebody_has_worked_in_it(tmp_path: Path, added: str) -> None:
    out, previous = tmp_path / "out", tmp_path / "out.previous"
    output.write(out, dossier_files(b"two"))
    output.write(previous, dossier_files(b"one"))
    (tmp_path / ".out.journal").write_bytes(output._about(out, previous))
    (previous / added).write_text("mine")
    clear_up(out)
    assert (previous / added).read_text() == "mine"
    assert beside(out) == ["out", "out.previous"]


def test_folders_and_files_of_the_users_own_beside_out_stay(tmp_path: Path) -> None:
    out = tmp_path / "out"
    for name in (".out.building-notes", ".out.building-0123abcdef", ".out.building-0123ABCD"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "letter.txt").write_text("mine")
    clear_up(out)
    assert len(list(tmp_path.rglob("letter.txt"))) == 3
    (tmp_path / ".out.building").write_text("mine")
    with pytest.raises(OutputError, match="is not the lock of a build"):
        clear_up(out)
    assert (tmp_path / ".out.building").read_text() == "mine"


@pytest.mark.usefixtures("each_system")
def test_an_altered_file_is_replaced_only_when_that_is_asked_for(tmp_path: Path) -> None:
    out = tmp_path / "out"
    output.write(out, dossier_files(b"one"))
    (out / "results.json").write_bytes(b"eno")
    before = held(out)
    for refused in (lambda: clear_up(out), lambda: output.write(out, dossier_files(b"two"))):
        with pytest.raises(OutputError) as error:
            refused()
        assert fault(error) == "out holds files that were altered after dossier wrote them: results.json."
        assert "--replace" in error.value.faults[0].fix
        assert held(out) == before
    with output.reserved(out, replace=True):
        output.write(out, dossier_files(b"two"), replace=True)
    assert held(out) == dossier_files(b"two")
    assert beside(out) == ["out"]


def test_a_missing_file_is_no_altered_one_and_a_strange_one_is_never_replaced(tmp_path: Path) -> None:
    out = tmp_path / "out"
    output.write(out, dossier_files(b"one"))
    (out / "results.json").unlink()
    clear_up(out)
    (out / "notes.txt").write_text("mine")
    with pytest.raises(OutputError, match=r"does not list: notes\.txt"), output.reserved(out, replace=True):
        pytest.fail("somebody's notes would go")


def test_a_previous_that_is_not_ours_is_not_taken(tmp_path: Path) -> None:
    (tmp_path / "out.previous").mkdir()
    (tmp_path / "out.previous" / "letter.txt").write_text("mine")
    clear_up(tmp_path / "out")
    assert beside(tmp_path / "out") == ["out.previous"]


def test_an_interruption_in_the_second_step_puts_out_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "_exchange", lambda first, other: False)
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


@pytest.mark.slow
@pytest.mark.parametrize("parent", ["", "new/newer"])
def test_a_second_build_is_refused_at_once(tmp_path: Path, parent: str) -> None:
    out = tmp_path / parent / "out"
    first = writer(out, "a", "exchange", "once")
    working = out.parent / ".out.building-0123abcd"
    working.mkdir()
    with pytest.raises(OutputError) as error, output.reserved(out):
        pytest.fail("two builds have OUT")
    (said,) = error.value.faults
    assert said.what == "Another build is at work on out."
    assert said.where == str(out)
    assert said.fix == "Wait until it has ended, or choose another folder for -o."
    assert working.is_dir()
    clear_up(out.with_name("another"))
    start(first)
    end(first)
    assert first.returncode == 0
    assert len(held(out)) == 61
    clear_up(out)
    assert beside(out) == ["out"]


@pytest.mark.slow
def test_a_build_that_is_killed_keeps_nobody_waiting(tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = writer(out, "a", "exchange")
    first.send_signal(signal.SIGKILL)
    end(first)
    assert beside(out) == [".out.building"]
    second = writer(out, "b", "exchange", "once")
    start(second)
    end(second)
    assert second.returncode == 0
    assert beside(out) == ["out"]


def test_many_builds_at_once_have_out_one_after_the_other(tmp_path: Path) -> None:
    command = [sys.executable, "-c", RIVAL, str(tmp_path / "new" / "out"), str(tmp_path / "alone")]
    rivals = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=CHECKOUT) for _ in range(3)]
    said = [rival.communicate(timeout=60)[0] for rival in rivals]
    assert [rival.returncode for rival in rivals] == [0, 0, 0]
    assert sum(int(had) for had in said) > 0
    assert list(tmp_path.rglob("*out*")) == []


def test_where_files_cannot_be_locked_a_build_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(handle: int, how: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", unknown)
    out, working = tmp_path / "out", tmp_path / ".out.building-0123abcd"
    working.mkdir()
    with output.reserved(out):
        output.write(out, dossier_files(b"one"))
    assert held(out) == dossier_files(b"one")
    # Nobody knows whether another build is at work there.
    assert beside(out) == [".out.building-0123abcd", "out"]


def test_folders_above_out_are_new_only_where_something_was_written(tmp_path: Path) -> None:
    out = tmp_path / "new" / "newer" / "out"
    with pytest.raises(KeyboardInterrupt), output.reserved(out):
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []
    with output.reserved(out):
        output.write(out, dossier_files(b"one"))
    assert beside(out) == ["out"]


def test_outside_the_main_thread_it_writes_as_well(tmp_path: Path) -> None:
    out = tmp_path / "out"
    thread = threading.Thread(target=output.write, args=(out, dossier_files(b"one")))
    thread.start()
    thread.join()
    assert held(out) == dossier_files(b"one")
