"""Tables are read in a process of their own: what a file does to its reader is a fault of the file and nothing else."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas
import pyarrow
import pyarrow.feather
import pyarrow.parquet
import pyreadstat
import pytest

from dossier import reading
from dossier.core import limited
from dossier.reading import isolation
from tests.estimated import present, refused
from tests.reference.tables import REFERENCE
from tests.smallest import HEAD, release_in

CRASHES = sorted((REFERENCE / "crash").glob("*"))
TABLE = "outcome,risk\n" + "0,0.1\n1,0.2\n0,0.3\n1,0.4\n" * 2


def _release(folder: Path, *files: str) -> Path:
    text = "".join(
        f'[[dataset]]\nname = "site-{k}"\nrole = "external"\nfile = "{file}"\n' for k, file in enumerate(files)
    )
    return release_in(folder, HEAD + text)


def _faults(folder: Path) -> list[str]:
    return [fault.what for fault in refused(reading.study, folder).faults]


# ---- what a file does to its reader ---------------------------------------------------------------------------------


@pytest.mark.parametrize("file", CRASHES, ids=lambda file: file.name)
def test_a_file_that_ended_dossier_with_a_signal_is_a_fault(file: Path) -> None:
    assert all(fault.where.startswith(file.name) for fault in refused(reading.quick, file, "outcome", "risk").faults)


def _crashing(file: Path) -> None:
    """A file of SPSS whose labels belong to a variable far behind the last one."""
    table = pandas.DataFrame({"outcome": [0.0, 1.0], "risk": [0.1, 0.2]})
    pyreadstat.write_sav(table, file, variable_value_labels={"outcome": {0.0: "no", 1.0: "yes"}})
    content = file.read_bytes()
    labels_of_the_first = b"".join(number.to_bytes(4, "little") for number in (4, 1, 1))
    assert content.count(labels_of_the_first) == 1
    far = labels_of_the_first[:8] + (1 << 30).to_bytes(4, "little")
    file.write_bytes(content.replace(labels_of_the_first, far))


def test_a_crash_is_told_of_the_file_that_brought_it_about_and_hides_no_fault_of_the_others(tmp_path: Path) -> None:
    (tmp_path / "first.csv").write_text(TABLE.replace("0.3", "1.7", 1), encoding="utf-8")
    _crashing(tmp_path / "second.sav")
    (tmp_path / "third.csv").write_text(TABLE.replace("0.4", "9", 1), encoding="utf-8")
    assert _faults(_release(tmp_path, "first.csv", "second.sav", "third.csv")) == [
        "second.sav cannot be read: what reads such files ended with SIGSEGV.",
        "risk is 1.7, outside 0 to 1.",
        "risk is 9, outside 0 to 1.",
    ]


def test_after_a_crash_tables_are_read_as_before(tmp_path: Path) -> None:
    _crashing(tmp_path / "site.sav")
    _faults(_release(tmp_path, "site.sav"))
    (tmp_path / "site.csv").write_text(TABLE, encoding="utf-8")
    assert reading.study(_release(tmp_path, "site.csv")).datasets[0].rows_read == 8


def test_quick_ends_with_bad_input_where_a_reader_crashes(tmp_path: Path) -> None:
    _crashing(tmp_path / "site.sav")
    words = [
        sys.executable,
        "-m",
        "dossier",
        "quick",
        "site.sav",
        "--outcome",
        "outcome",
        "--risk",
        "risk",
        "-o",
        "out",
    ]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, "Traceback" in done.stderr) == (2, False)
    assert not (tmp_path / "out").exists()


def test_a_small_file_that_takes_all_memory_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Thirty million times one text of 100 letters: a few kilobytes in the file, and 3 GB in memory.
    monkeypatch.setattr(isolation, "memory", lambda: 1 << 30)
    array = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0] * 1_000_000, pyarrow.int8()), ["a" * 100])
    batch = pyarrow.table({"outcome": pyarrow.nulls(1_000_000), "risk": array})
    with pyarrow.parquet.ParquetWriter(tmp_path / "site.parquet", batch.schema, store_schema=False) as writer:
        for _ in range(30):
            writer.write_table(batch)
    assert (tmp_path / "site.parquet").stat().st_size < 1 << 20
    assert _faults(_release(tmp_path, "site.parquet"))[:1] == [
        "Reading site.parquet takes more memory than there is, or than 1 GB."
    ]


ENDLESS = """
from dossier.reading import isolation
def work(*_):
    while True:
        pass
isolation.read_table = work
limited.serve("""
"""Before the process begins: a reader that no machine is fast enough for."""


def test_a_file_that_keeps_its_reader_busy_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolation, "SECONDS", 1)
    monkeypatch.setattr(limited, "START", limited.START.replace("limited.serve(", ENDLESS.strip("\n")))
    monkeypatch.setattr(limited, "_SERVERS", {})
    (tmp_path / "site.csv").write_text(TABLE, encoding="utf-8")
    assert _faults(_release(tmp_path, "site.csv")) == ["Reading site.csv takes longer than 1 second."]


# ---- what comes back ------------------------------------------------------------------------------------------------


def _with_text_that_is_none() -> pyarrow.Table:
    offsets = np.array([0, 1, 2], dtype=np.int32)
    text = pyarrow.StringArray.from_buffers(2, pyarrow.py_buffer(offsets), pyarrow.py_buffer(b"a\xff"))
    return pyarrow.table({"outcome": [0, 1], "risk": [0.1, 0.2], "ward": text})


@pytest.mark.parametrize("write", [pyarrow.feather.write_feather, pyarrow.parquet.write_table])
def test_text_that_is_not_utf_8_is_told_with_its_column(tmp_path: Path, write: Callable[..., None]) -> None:
    ending = {"write_feather": "feather", "write_table": "parquet"}[write.__name__]
    write(_with_text_that_is_none(), tmp_path / f"site.{ending}")
    assert _faults(_release(tmp_path, f"site.{ending}")) == ["The column ward is damaged, or its text is not UTF-8."]


def test_what_comes_back_is_checked_before_it_is_used() -> None:
    with pytest.raises(pyarrow.ArrowInvalid, match="UTF8"):
        isolation.valid(isolation.stream(_with_text_that_is_none()["ward"]))


def test_an_error_of_ours_is_no_fault_of_the_file() -> None:
    with pytest.raises(RuntimeError, match=r"(?s)in the process that reads site.csv.*TypeError"):
        isolation.asked(isolation.read_table, "site.csv", 0, ("too", "few"))


# ---- the process ----------------------------------------------------------------------------------------------------


def _children(process: int) -> list[str]:
    return Path(f"/proc/{process}/task/{process}/children").read_text(encoding="ascii").split()


def test_nothing_holds_a_table_once_it_is_read(tmp_path: Path) -> None:
    pyarrow.parquet.write_table(pyarrow.table({"outcome": [0, 1], "risk": [0.1, 0.2]}), tmp_path / "site.parquet")
    reading.study(_release(tmp_path, "site.parquet"))
    server = limited.running().process.pid
    until = time.monotonic() + 5
    while _children(server) and time.monotonic() < until:
        time.sleep(0.01)
    assert _children(server) == []


def test_where_somebody_ended_it_between_two_tables_it_is_started_again(tmp_path: Path) -> None:
    (tmp_path / "site.csv").write_text(TABLE, encoding="utf-8")
    for _ in range(2):
        assert reading.study(_release(tmp_path, "site.csv")).datasets[0].rows_read == 8
        process = limited.running().process
        process.kill()
        process.wait()


READS = """
import sys, time
from dossier import reading
from dossier.core import limited
reading.study(sys.argv[1])
print(limited.running().process.pid, flush=True)
time.sleep(60)
"""


def test_it_ends_with_the_process_that_asks_however_that_ends(tmp_path: Path) -> None:
    (tmp_path / "site.csv").write_text(TABLE, encoding="utf-8")
    words = [sys.executable, "-c", READS, str(_release(tmp_path, "site.csv"))]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as asking:
        server = int(present(asking.stdout).readline())
        assert Path(f"/proc/{server}").exists()
        asking.send_signal(signal.SIGKILL)
    until = time.monotonic() + 10
    while Path(f"/proc/{server}/cmdline").exists() and time.monotonic() < until:
        time.sleep(0.05)
    # Who takes in orphans may leave its name for a while.
    assert not Path(f"/proc/{server}/cmdline").exists() or not Path(f"/proc/{server}/cmdline").read_bytes()


def test_it_imports_nothing_from_the_folder_that_is_current(tmp_path: Path) -> None:
    (tmp_path / "site.csv").write_text(TABLE, encoding="utf-8")
    _release(tmp_path, "site.csv")
    for module in ("pyarrow", "numpy", "dossier", "socket", "pickle", "json", "resource", "sitecustomize", "openpyxl"):
        (tmp_path / f"{module}.py").write_text("open('trapped', 'w')\nraise SystemExit(9)\n", encoding="utf-8")
    words = [sys.executable, "-P", "-m", "dossier", "check", "."]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert not (tmp_path / "trapped").exists()
