"""Nothing that a terminal obeys is ever printed, whatever names of files, columns and sites hold."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dossier.command_line import cli
from dossier.command_line.terminal import Guarded, visible
from dossier.outputs import output
from tests.smallest import HEAD, QUICK, SITE, release_in
from tests.test_output import dossier_files

CHECKOUT = Path(__file__).resolve().parents[1]
CLEAR = "\x1b[2J\x1b[H"
TITLE = "\x1b]0;owned\x07"
UP = "\x1b[1A\x1b[2K"
TURNED = "\u202egnp.\u2066"
ONE_BYTE = "\x9b31m\x85"
LINES = "\nEverything holds.\r"
HOSTILE = CLEAR + TITLE + UP + TURNED + ONE_BYTE + LINES + "\x7f\x08\u2028\u200b"
"""Clears the screen, names the window, wipes the line above, turns the rest round, colours it, and starts lines."""


@given(st.text())
def test_what_is_visible_is_all_that_is_left(text: str) -> None:
    found = visible(text)
    assert all(sign.isprintable() or unicodedata.category(sign) == "Zs" for sign in found)
    assert visible(found) == found
    assert visible(text, keep="\n\t").count("\n") == text.count("\n")


def test_every_sign_that_is_obeyed_is_spelled_out() -> None:
    controls = [chr(code) for code in (*range(0x20), *range(0x7F, 0xA0))]
    turning = [chr(code) for code in (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))]
    others = ["\ud800", "\ufeff", "\u2028", "\u2029", "\U000e0041", "\x00"]
    for sign in (*controls, *turning, *others):
        assert visible(f"a{sign}b") == f"a{sign.encode('unicode_escape').decode()}b"
    plain = "Köln, 5\u00a0% − 0.25–0.75 · “x” Ελλάς 7\u202f000 ½ \\x1b"
    assert visible(plain) == plain


@pytest.fixture
def said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Iterator[Callable[..., str]]:
    """Run a command in an empty folder, and give all that it says."""
    monkeypatch.chdir(tmp_path)
    before = {number: signal.getsignal(number) for number in cli.STOPS}

    def command(*words: str) -> str:
        monkeypatch.setattr(sys, "argv", ["dossier", *words])
        with pytest.raises(SystemExit):
            cli.main()
        heard = capfd.readouterr()
        return heard.out + heard.err

    yield command
    for number, handler in before.items():
        signal.signal(number, handler)


def harmless(text: str) -> None:
    """Nothing in a text but what is seen, and no line that somebody else has begun."""
    assert text.strip()
    assert {sign for sign in text if not sign.isprintable() and unicodedata.category(sign) != "Zs"} <= {"\n"}
    assert "Everything holds." not in text.splitlines()


def release(folder: Path, more: str = "", table: str = "outcome,risk\n1,0.5\n0,0.25\n", file: str = "site.csv") -> None:
    """A release of one table."""
    release_in(folder, HEAD + QUICK + SITE.replace("site.csv", file) + more)
    (folder / "site.csv").write_text(table, encoding="utf-8", newline="")


def escaped(text: str) -> str:
    """A text as TOML spells it."""
    return "".join(sign if sign.isalnum() else f"\\U{ord(sign):08x}" for sign in text)


def test_what_is_refused_of_the_arguments(said: Callable[..., str]) -> None:
    for words in (
        ("check", f"no{HOSTILE}where"),
        ("check", ".", f"{HOSTILE}"),
        ("build", ".", f"--{HOSTILE}"),
        ("build", ".", "-o", "out", "--page", HOSTILE),
        ("build", ".", "-o", HOSTILE),
        (HOSTILE,),
        ("quick", f"{HOSTILE}.csv", "--outcome", HOSTILE, "--risk", f"r{HOSTILE}", "--name", HOSTILE, "-o", "out"),
        ("verify", HOSTILE),
        ("verify", ".", "--release", HOSTILE),
        ("build", ".", "-o", "out", "--backend", "dask", "--scheduler", HOSTILE),
        ("build", ".", "-o", "out", "--backend", HOSTILE),
        ("init", f"{HOSTILE}/\x1b[31m"),
    ):
        harmless(said(*words))


@pytest.mark.parametrize(
    ("more", "table"),
    [
        (f'site = "{escaped(HOSTILE)}"', None),
        (f'columns = {{ "{escaped(HOSTILE)}" = "outcome" }}', None),
        (f'cluster = "{escaped(HOSTILE)}"', None),
        (f'"{escaped(HOSTILE)}" = 1', None),
        (f'predictors = ["{escaped(HOSTILE)}"]', None),
        (f'[statements]\n17 = {{ file = "{escaped(HOSTILE)}" }}', None),
        (f'[[reply]]\nflag = "{escaped(HOSTILE)}"\nsays = "x"', None),
        ("", f'outcome,risk,"{HOSTILE}"\n1,0.5,1\n0,0.25,2\n'),
        ("", f'"{HOSTILE}",risk\n1,0.5\n0,0.25\n'),
        ("", f'outcome,risk\n1,"{HOSTILE}"\n0,0.25\n'),
        ("", f'outcome,risk\n"{HOSTILE}",0.5\n0,0.25\n'),
        ("", f'outcome,risk,x\n1,0.5,"{HOSTILE}"\n0,0.25,a\n'),
    ],
)
def test_what_is_refused_of_a_release(said: Callable[..., str], tmp_path: Path, more: str, table: str | None) -> None:
    release(tmp_path / "release", more, table or "outcome,risk\n1,0.5\n0,0.25\n")
    harmless(said("check", "release"))


def test_a_file_that_is_not_there_and_one_that_is_strange(said: Callable[..., str], tmp_path: Path) -> None:
    release(tmp_path / "release", file=escaped(HOSTILE))
    harmless(said("check", "release"))
    output.write(tmp_path / "out", dossier_files(b"one"))
    (tmp_path / "out" / HOSTILE).write_text("mine")
    for words in (("build", "release", "-o", "out"), ("verify", "out"), ("build", "release", "-o", f"out/{HOSTILE}")):
        heard = said(*words)
        harmless(heard)
        assert "\\x1b[2J" in heard or words[0] == "build"


def test_a_command_of_a_manifest(said: Callable[..., str], tmp_path: Path) -> None:
    files = dossier_files(b"one")
    files["manifest.json"] = files["manifest.json"].replace(
        b"--page a4", f"--page a4 --{HOSTILE}".encode("unicode_escape").replace(b"\\x", b"\\u00")
    )
    output.write(tmp_path / "out", files)
    heard = said("verify", "out")
    harmless(heard)
    assert "which is not taken from a manifest" in heard


TRACEBACK = """
import sys, warnings
from dossier.command_line import cli
def fail():
    warnings.warn(sys.argv[1])
    raise RuntimeError(sys.argv[1])
cli._answer = fail
cli.main()
"""


def test_tracebacks_and_warnings() -> None:
    done = subprocess.run(
        [sys.executable, "-c", TRACEBACK, HOSTILE.replace("\n", "")],
        capture_output=True,
        text=True,
        cwd=CHECKOUT,
        check=False,
    )
    assert done.returncode == 1
    assert "RuntimeError" in done.stderr
    assert "Warning" in done.stderr
    harmless(done.stderr)


STEPS = """
import io, sys
from dossier.command_line import cli
class Terminal(io.TextIOWrapper):
    def isatty(self):
        return True
sys.stderr = Terminal(sys.stderr.buffer, encoding="utf-8", write_through=True)
cli._guard_what_is_said()
with cli._progress(False) as tell:
    tell("evaluate", sys.argv[1], 0, 2)
    tell("evaluate", sys.argv[1], 2, 2)
"""


def test_the_line_of_progress_obeys_nobody() -> None:
    """It moves on the screen by signs of its own; those of a site's name are no part of them."""
    words = [sys.executable, "-c", STEPS, CLEAR + TITLE + TURNED + ONE_BYTE]
    environment = os.environ | {"COLUMNS": "200", "TERM": "xterm"}
    steps = subprocess.run(words, stderr=subprocess.PIPE, cwd=CHECKOUT, env=environment, check=True)
    text = steps.stderr.decode()
    assert "\r" in text or "\x1b[" in text
    assert "\\x1b[2J" in text
    for sign in (CLEAR, TITLE, "\x1b]", "\x07", "\u202e", "\u2066", "\x9b", "\x85"):
        assert sign not in text, repr(sign)


def test_a_guarded_stream_is_a_stream(tmp_path: Path) -> None:
    with (tmp_path / "said").open("w", encoding="utf-8") as file:
        stream = Guarded(file, print)
        assert stream.write("a\x1bb\n") == 4
        assert stream.fileno() == file.fileno()
        assert not stream.isatty()
        assert not hasattr(stream, "buffer")
        with pytest.raises(TypeError):
            stream.write(b"\x1b")  # type: ignore[arg-type]
    assert (tmp_path / "said").read_text(encoding="utf-8") == "a\\x1bb\n"
