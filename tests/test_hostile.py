"""What nobody sends by accident: files that are none, sizes beyond reason, and texts that ask for other places."""

from __future__ import annotations

import contextlib
import csv
import datetime
import http.server
import io
import os
import re
import resource
import subprocess
import sys
import threading
import time
import timeit
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

from dossier import evaluate, reading
from dossier.command_line import initial
from dossier.core.contents import Edition
from dossier.core.errors import DossierError, PageError
from dossier.core.types import Document, Gallery, Study
from dossier.reading import isolation, parquet, signatures
from dossier.record import results, results_csv
from dossier.report import compose, draw, press
from tests.bench.fault_places import answered_here
from tests.estimated import present, refused
from tests.smallest import HEAD, SITE, release_in

EDITIONS: tuple[Edition, ...] = ("regulatory", "supplement", "committee")


def _release(folder: Path, text: str, **tables: str) -> Path:
    return release_in(folder, HEAD + text, **tables)


def _told(folder: Path, allow_outside: bool = False) -> list[str]:
    return [fault.what for fault in refused(reading.study, folder, allow_outside).faults]


# ---- files that are none --------------------------------------------------------------------------------------------


def test_a_pipe_and_a_device_are_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "zero.csv").symlink_to("/dev/zero")
    pipe, device = (SITE.replace("site", name) for name in ("pipe", "zero"))
    folder = _release(tmp_path, pipe + "outside = true\n" + device + "outside = true\n")
    assert _told(folder, allow_outside=True) == [
        "pipe.csv is no file but a device, a pipe or a socket.",
        "zero.csv lies outside the release folder, and is no table.",
    ]


def test_links_in_a_circle_are_told(tmp_path: Path) -> None:
    (tmp_path / "site.csv").symlink_to(tmp_path / "other.csv")
    (tmp_path / "other.csv").symlink_to(tmp_path / "site.csv")
    assert _told(_release(tmp_path, SITE)) == ["site.csv cannot be opened: too many levels of symbolic links."]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32-le", "latin-1"])
def test_a_release_in_another_encoding_is_told(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "release.toml").write_bytes(("# ä\n" + HEAD + SITE).encode(encoding))
    assert _told(tmp_path) == ["release.toml is not UTF-8 text."]


def test_a_folder_that_is_a_link_out_of_the_release_is_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "site.csv").write_text("outcome,risk\n0,0.1\n1,0.2\n", encoding="utf-8")
    folder = tmp_path / "release"
    folder.mkdir()
    (folder / "inside").symlink_to(tmp_path / "elsewhere")
    text = SITE.replace("site.csv", "inside/site.csv") + '[statements]\n4 = { file = "inside/site.csv" }\n'
    assert _told(_release(folder, text)) == ["inside/site.csv lies outside the release folder."] * 2


# ---- sizes beyond reason --------------------------------------------------------------------------------------------


@pytest.fixture
def little_memory() -> Iterator[None]:
    """No more than two GiB above what is in use: who asks for more fails."""
    used = int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[0]) * os.sysconf("SC_PAGE_SIZE")
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + (2 << 30), before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


@pytest.mark.usefixtures("little_memory")
def test_ten_thousand_columns_are_read(tmp_path: Path) -> None:
    names = ",".join(f"x{k}" for k in range(9_998))
    rows = "".join(f"{k % 2},0.{k % 9 + 1}," + ",".join(["1"] * 9_998) + "\n" for k in range(20))
    study = reading.study(_release(tmp_path, SITE, site__csv=f"outcome,risk,{names}\n{rows}"))
    assert study.datasets[0].rows_read == 20


@pytest.mark.usefixtures("little_memory")
def test_a_cell_of_a_megabyte_is_no_category_and_no_message(tmp_path: Path) -> None:
    long = "a" * 1_000_000
    for text, table in (
        (SITE, f"outcome,risk\n0,0.1\n1,{long}\n"),
        (SITE, f"outcome,risk\n0,0.1\n{long},0.2\n"),
        (SITE, f"outcome,{long}\n0,0.1\n1,0.2\n"),
        (SITE + 'predictors = ["note"]\n', f"outcome,risk,note\n0,0.1,x\n1,0.2,{long}\n"),
        (SITE + 'site_column = "ward"\n', f"outcome,risk,ward\n0,0.1,x\n1,0.2,{long}\n"),
    ):
        assert len(str(refused(reading.study, _release(tmp_path, text, site__csv=table)))) < 2_000


@pytest.mark.usefixtures("little_memory")
def test_ten_thousand_datasets_are_told_of_once(tmp_path: Path) -> None:
    many = "".join(SITE.replace('"site"', f'"site-{k}"') for k in range(10_000))
    assert _told(_release(tmp_path, many, site__csv="outcome,risk\n0,0.1\n1,0.2\n")) == [
        "There are 10000 datasets, more than 1000."
    ]


@pytest.mark.parametrize(
    ("file", "says"),
    [
        ("site.csv", "site.csv is larger than the 2,047 MB that a table may have."),
        ("site.xlsx", "site.xlsx is larger than the 2,047 MB that a table may have."),
        ("site.sav", "site.sav is larger than the 2,047 MB that a table may have."),
        ("site.parquet", "site.parquet is not a parquet file."),
    ],
)
@pytest.mark.usefixtures("little_memory")
def test_a_file_of_forty_gigabytes_of_nothing_is_told_at_once(tmp_path: Path, file: str, says: str) -> None:
    with (tmp_path / file).open("wb") as hollow:
        hollow.truncate(40 << 30)
    before = time.monotonic()
    assert _told(_release(tmp_path, SITE.replace("site.csv", file))) == [says]
    assert time.monotonic() - before < 10


def test_texts_and_previous_results_have_sizes_of_their_own(tmp_path: Path) -> None:
    for name, size in (("long.md", 2 << 20), ("results.json", 1 << 29)):
        with (tmp_path / name).open("wb") as hollow:
            hollow.truncate(size)
    text = SITE + '[statements]\n4 = { file = "long.md" }\n'
    folder = _release(tmp_path, text, site__csv="outcome,risk\n0,0.1\n1,0.2\n")
    release = folder / "release.toml"
    release.write_text(release.read_text().replace("[release]\n", '[release]\nprevious = "results.json"\n'))
    assert _told(folder) == [
        "long.md is larger than the 1 MB that a text may have.",
        "results.json is larger than the 256 MB that a results.json may have.",
    ]
    release.write_bytes(b"#" * (5 << 20))
    assert _told(folder) == ["release.toml is larger than the 4 MB that a release may have."]


def test_a_column_that_declares_more_than_can_be_held_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = pyarrow.table({"outcome": [0, 1], "risk": [0.1, 0.2], "note": ["a" * 1000, "b" * 1000]})
    pyarrow.parquet.write_table(table, tmp_path / "site.parquet", use_dictionary=False)
    monkeypatch.setattr(isolation, "asked", answered_here)
    monkeypatch.setattr(parquet, "MOST_COLUMN_BYTES", 1000)
    (what,) = _told(_release(tmp_path, SITE.replace("site.csv", "site.parquet")))
    assert re.fullmatch(r"note declares \d,\d\d\d bytes in site\.parquet, more than 1,000\.", what)


def test_a_text_that_is_too_long_only_once_it_is_utf_8_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "site.csv").write_text("outcome,risk,ward\n0,0.1,ä\n1,0.2,ä\n", encoding="latin-1")
    monkeypatch.setattr(isolation, "asked", answered_here)
    monkeypatch.setattr(signatures, "MOST_BYTES", 34)
    assert (tmp_path / "site.csv").stat().st_size == 34
    assert _told(_release(tmp_path, SITE + 'encoding = "latin-1"\n')) == [
        "site.csv has more than 34 bytes as UTF-8 text."
    ]


# ---- files outside of the release -----------------------------------------------------------------------------------


@pytest.fixture
def beside(tmp_path: Path) -> Path:
    """A release folder, with files of the machine beside it."""
    (tmp_path / "secrets").write_text("user:password\n", encoding="utf-8")
    (tmp_path / "site.csv").write_text("outcome,risk\n0,0.1\n1,0.2\n", encoding="utf-8")
    (tmp_path / "ethics.md").write_text("Approved.\n", encoding="utf-8")
    (tmp_path / "release").mkdir()
    return tmp_path / "release"


def test_a_release_reads_files_outside_only_where_who_reads_it_allows_that(beside: Path) -> None:
    text = SITE.replace("site.csv", "../site.csv") + "outside = true\n"
    text += '[statements]\n4 = { file = "../ethics.md", outside = true }\n'
    folder = _release(beside, text)
    assert _told(folder) == [f"../{file} lies outside the release folder." for file in ("site.csv", "ethics.md")]
    assert reading.study(folder, allow_outside=True).statements == {"4": "Approved."}


def test_what_lies_outside_is_read_for_what_its_key_may_hold(beside: Path) -> None:
    (beside / "linked.csv").symlink_to(beside.parent / "secrets")
    (beside / "linked.json").symlink_to(beside.parent / "secrets")
    text = SITE.replace("site.csv", "linked.csv") + "outside = true\n"
    text += '[statements]\n4 = { file = "../secrets", outside = true }\n5a = { file = "../site.csv", outside = true }\n'
    folder = _release(beside, text)
    release = folder / "release.toml"
    release.write_text(release.read_text().replace("[release]\n", '[release]\nprevious = "linked.json"\n'))
    caught = refused(reading.study, folder, allow_outside=True)
    assert [fault.what for fault in caught.faults] == [
        "linked.csv lies outside the release folder, and is no table.",
        "../secrets lies outside the release folder, and is no text.",
        "../site.csv lies outside the release folder, and is no text.",
        "linked.json lies outside the release folder, and is no results.json.",
    ]
    assert "password" not in str(caught)


@pytest.mark.parametrize("command", ["check", "build"])
def test_the_command_line_allows_files_outside(beside: Path, command: str) -> None:
    folder = _release(beside, SITE.replace("site.csv", "../nowhere.csv") + "outside = true\n")
    words = [command, str(folder), *(["-o", str(beside / "out")] if command == "build" else [])]
    faults = {}
    for more in ([], ["--allow-outside"]):
        done = subprocess.run(
            [sys.executable, "-m", "dossier", *words, *more], capture_output=True, text=True, check=False
        )
        assert done.returncode == 2
        faults[bool(more)] = done.stderr.partition("\n")[0]
    assert faults == {
        False: "../nowhere.csv lies outside the release folder.",
        True: "There is no file ../nowhere.csv.",
    }


def test_a_path_that_no_folder_can_have_is_told_wherever_it_stands(tmp_path: Path) -> None:
    long = "a" * 300
    text = SITE.replace("site.csv", long) + f'[readers]\nlabels = "{long}"\n[reader_study]\nfile = "{long}"\n'
    folder = _release(tmp_path, text + f'[statements]\n4 = {{ file = "{long}" }}\n')
    release = folder / "release.toml"
    release.write_text(release.read_text().replace("[release]\n", f'[release]\nprevious = "{long}"\n'))
    faults = _told(folder)
    assert [what.removeprefix(long) for what in faults] == [
        *(3 * [" is no kind of table that is read."]),
        *(2 * [" cannot be opened: file name too long."]),
    ]


# ---- texts that ask for other places --------------------------------------------------------------------------------


@pytest.fixture
def asked() -> Iterator[tuple[str, list[str]]]:
    """A server on this machine: its address, and what it was asked for."""
    seen: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append(self.path)
            self.send_error(404)

        do_HEAD = do_POST = do_GET  # noqa: N815

        def log_message(self, format: str, *values: object) -> None:
            return

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", seen
        server.shutdown()
        thread.join()


WAYS = (
    '<img src="{}" alt="x"/>',
    '<link rel="stylesheet" href="{}"/>',
    '<style>@import url("{}");</style>',
    '<p style="background: url({})">x</p>',
    '<style>@font-face {{ font-family: x; src: url("{}") }} p {{ font-family: x }}</style><p>x</p>',
    '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><image href="{}"/></svg>',
    '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><use href="{}#a"/></svg>',
    '<object data="{}"></object>',
    '<embed src="{}"/>',
    '<iframe src="{}"></iframe>',
    '<a href="{}">x</a>',
    "![x]({})",
    "[x]({})",
    "<{}>",
)


def _study(folder: Path, statement: str) -> Study:
    """The example release with a statement, few draws and one external table."""
    files = initial.files()
    for name, content in files.items():
        (folder / name).write_bytes(b"".join(content.splitlines(keepends=True)[:41]) if ".csv" in name else content)
    study = reading.study(folder)
    few = study.release.resampling.model_copy(update={"bootstrap": 5, "permutations": 5})
    release = study.release.model_copy(update={"resampling": few})
    return replace(study, release=release, statements={**study.statements, "4": statement, "26": statement})


@pytest.mark.slow
def test_a_statement_reaches_no_file_and_no_server(tmp_path: Path, asked: tuple[str, list[str]]) -> None:
    address, seen = asked
    places = (f"{address}/secret", "file:///etc/passwd", "/etc/passwd")
    statement = "\n\n".join(way.format(position) for way in WAYS for position in places)
    evidence = evaluate.evidence(_study(tmp_path, statement))
    for edition in EDITIONS:
        pdf = press.pdf(compose.document(Gallery(evidence, {}, {}), edition))
        assert b"root:" not in pdf
    assert seen == []


@pytest.mark.parametrize("way", WAYS[:10])
def test_even_a_page_that_asks_reaches_no_file_and_no_server(
    tmp_path: Path, asked: tuple[str, list[str]], way: str
) -> None:
    """Were a text to get into a page as HTML: the press itself gives nothing out."""
    address, seen = asked
    style = tmp_path / "style.css"
    style.write_text("html { font: 400 10pt 'Source Serif 4' }", encoding="utf-8")
    for name in (f"{address}/secret", "file:///etc/passwd"):
        html = f"<!DOCTYPE html><html lang='en'><head><title>x</title></head><body>{way.format(name)}</body></html>"
        document = Document(html, (style,), {}, "x", "en", b"0" * 16, datetime.date(2026, 10, 1), (), "pdf/a-2a", False)
        said = b""
        with contextlib.suppress(PageError):
            said = press.pdf(document)
        assert b"root:" not in said
    assert seen == []


def test_a_name_from_a_table_is_no_formula_no_markup_and_no_mathematics(tmp_path: Path) -> None:
    names = ("=1+1", "+x", "@y", "<b>z</b>")
    cells = ("$x^2$", "{{ 7 * 7 }}", "=cmd()", "</svg>")
    rows = "".join(f"{k % 2},0.{k % 9 + 1}," + ",".join(cells[(k + j) % 4] for j in range(4)) + "\n" for k in range(48))
    table = f"outcome,risk,{','.join(names)}\n{rows}"
    groups = "".join(f'[[subgroup]]\ncolumn = "{name}"\n' for name in names)
    text = (
        SITE
        + 'site = "$x^2$ <b>Bari</b>"\n'
        + "predictors = ["
        + ", ".join(f'"{name}"' for name in names)
        + "]\n"
        + groups
    )
    text += "[resampling]\nbootstrap = 5\npermutations = 5\n"
    evidence = evaluate.evidence(reading.study(_release(tmp_path, text, site__csv=table)))
    for row in csv.reader(io.StringIO(results_csv.text(results.of(evidence)).decode())):
        for cell in row:
            assert not cell.startswith(("=", "+", "@", "\t", "\r"))
            assert not cell.startswith("-") or float(cell) < 0
    gallery = draw.gallery(evidence)
    drawn = b"".join(picture.svg for picture in gallery.pictures.values())
    assert b"$x^2$ &lt;b&gt;Bari" in drawn
    assert b"<b>" not in drawn
    for edition in EDITIONS:
        html = compose.document(gallery, edition).html
        assert "<b>z" not in html
        assert "{{ 7 * 7 }}" in html or edition != "regulatory"


def test_letters_that_no_font_has_are_told_with_their_place(tmp_path: Path) -> None:
    study = _release(tmp_path, SITE + 'site = "病院"\n', site__csv="outcome,risk\n0,0.1\n1,0.2\n")
    with pytest.raises(DossierError, match=r"site holds what cannot be printed: 病 \(U\+75C5\), 院 \(U\+9662\)\."):
        reading.study(study)
    with pytest.raises(DossierError, match=r"The name holds what cannot be printed: U\+202E\."):
        reading.quick(tmp_path / "site.csv", "outcome", "risk", (), "\u202ename")


def test_a_file_whose_name_cannot_be_printed_is_told_before_anything_is_evaluated(tmp_path: Path) -> None:
    (tmp_path / "部分.toml").write_text(HEAD + SITE, encoding="utf-8")
    (tmp_path / "site.csv").write_text("outcome,risk\n0,0.1\n1,0.2\n", encoding="utf-8")
    with pytest.raises(DossierError, match=r"^The name of the file holds what cannot be printed: 部 "):
        reading.study(tmp_path / "部分.toml")
    (tmp_path / "parts").mkdir()
    pyarrow.parquet.write_table(pyarrow.table({"outcome": [0, 1], "risk": [0.1, 2]}), tmp_path / "parts/1😀.parquet")
    assert _told(_release(tmp_path, SITE.replace("site.csv", "parts"))) == [
        "The name of a file holds what cannot be printed: 😀 (U+1F600).",
        "risk is 2, outside 0 to 1.",
    ]


@pytest.mark.parametrize(
    ("literal", "says"),
    [
        ("[" * 2000 + "]" * 2000, "release.toml holds tables in tables without end."),
        ("{ a = " * 2000 + "1" + " }" * 2000, "release.toml holds tables in tables without end."),
        (".".join(["{ a"] + ["a"] * 3000) + " = 1 }", "release.toml holds tables in tables without end."),
        ("9" * 5000, "release.toml holds a whole number of more than 64 bits."),
        ("0x" + "f" * 4000, "release.toml holds a whole number of more than 64 bits."),
        (str(2**63), "release.toml holds a whole number of more than 64 bits."),
    ],
)
def test_what_is_too_deep_or_too_long_is_told(tmp_path: Path, literal: str, says: str) -> None:
    assert _told(_release(tmp_path, SITE + f"split = {literal}\n")) == [says]


def test_a_previous_release_of_lists_without_end_is_told(tmp_path: Path) -> None:
    text = (HEAD + SITE).replace("[release]\n", '[release]\nprevious = "p.json"\n', 1)
    release_in(tmp_path, text, site__csv="outcome,risk\n0,0.1\n1,0.2\n", p__json="[" * 100_000)
    assert _told(tmp_path) == ["p.json holds lists in lists without end."]


@pytest.mark.parametrize("megabytes", [300, 800, 1600, 2400])
def test_too_little_memory_is_told(tmp_path: Path, megabytes: int) -> None:
    words = (sys.executable, "-m", "dossier", "check", str(_release(tmp_path, SITE, site__csv="outcome,risk\n0,0.1\n")))
    limit = (megabytes << 20, megabytes << 20)
    done = subprocess.run(
        words,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, limit),
    )
    said = f"dossier needs 2.5 GB of address space, and is given {megabytes / 1024:.1f}."
    assert (done.returncode, done.stderr.splitlines()[0]) == (2, said)


@pytest.mark.parametrize(
    "keys", ["a" + ".a" * 100_000 + " = 1\n", "[" + "a." * 100_000 + "a]\n", "a = " + "[" * 900 + "]" * 900 + "\n"]
)
def test_keys_within_keys_end_in_a_fault_in_little_memory(tmp_path: Path, keys: str) -> None:
    (tmp_path / "release.toml").write_text(keys + HEAD, encoding="utf-8")
    with subprocess.Popen([sys.executable, "-m", "dossier", "check", str(tmp_path)], stderr=subprocess.PIPE) as check:
        assert b"release.toml holds tables in tables without end." in present(check.stderr).read()
        _, state, used = os.wait4(check.pid, 0)
        check.returncode = os.waitstatus_to_exitcode(state)
    assert used.ru_utime + used.ru_stime < 10
    assert used.ru_maxrss < 2 << 20


@pytest.mark.parametrize("place", ["before", "within"])
def test_ten_thousand_unknown_keys_are_told_in_time_that_grows_with_their_number(tmp_path: Path, place: str) -> None:
    seconds = []
    for number in (1_000, 8_000):
        keys = "".join(f"key{k} = 1\n" for k in range(number))
        text = keys + HEAD if place == "before" else HEAD + SITE + keys
        (tmp_path / "release.toml").write_text(text, encoding="utf-8")
        assert len(_told(tmp_path)) >= number
        seconds.append(min(timeit.repeat(lambda: _told(tmp_path), timer=time.process_time, number=1, repeat=3)))
    # In proportion is 8 times, by the square 64: what lies between is left to a machine that is busy.
    assert seconds[1] < 24 * seconds[0]
