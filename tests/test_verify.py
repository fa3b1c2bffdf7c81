"""verify: a sound dossier is printed again to the byte, and whatever is altered, added or hostile is named."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import re
import shutil
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from pypdf import PdfReader, PdfWriter
from pypdf.generic import ContentStream, NameObject

from dossier.command_line import cli, initial
from dossier.core import limited
from dossier.core.errors import DataError, DossierError, OutputError, ReleaseError
from dossier.outputs import verify
from dossier.record import results, versions
from dossier.signing import signed
from tests.conftest import RELEASES, held

GBSG = RELEASES["breast"] / "gbsg.csv"


def asked(*words: str | Path) -> Result:
    """What the command line answers."""
    return CliRunner().invoke(cli.dossier, [str(word) for word in words], standalone_mode=False)


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example release with few replicates, whose version, seed and site look like results."""
    folder = tmp_path_factory.mktemp("release")
    for name, content in initial.files().items():
        (folder / name).write_bytes(content)
    text = (folder / "release.toml").read_text()
    text = re.sub(r"(bootstrap|permutations) = \d+", r"\1 = 9", text)
    for key, value in (("version", '"2.1.0"'), ("seed", "20261123")):
        text, changed = re.subn(rf'^{key} = ("[^"]*"|\d+)', f"{key} = {value}", text, count=1, flags=re.M)
        assert changed == 1
    assert "Another hospital" in text
    text = text.replace("Another hospital", "Ward 5, 2024")
    (folder / "release.toml").write_text(text)
    return folder


@pytest.fixture(scope="module")
def built(release: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The dossier of the example release."""
    out = tmp_path_factory.mktemp("built") / "out"
    assert asked("build", release, "-o", out, "--jobs", "1", "--quiet").exception is None
    return out


def looked_at(folder: Path, table: Path, *words: str) -> Path:
    """The dossier of a quick look."""
    out, more = folder / "out", ("--risk", "risk", "--threshold", "0.2", "--seed", "7")
    assert asked("quick", table, *words, *more, "-o", out, "--jobs", "1", "--quiet").exception is None
    return out


@pytest.fixture(scope="module")
def glance(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The dossier of a quick look, which is printed again in a quarter of the time."""
    return looked_at(tmp_path_factory.mktemp("glance"), GBSG, "--outcome", "outcome")


@pytest.fixture(scope="module")
def glance_by_horizon(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same of an outcome by a horizon, to which some patients were not followed."""
    words = ("--time", "years", "--event", "event", "--at", "5")
    return looked_at(tmp_path_factory.mktemp("horizon"), RELEASES["relapse"] / "gbsg.csv", *words)


@pytest.fixture
def out(glance: Path, tmp_path: Path) -> Path:
    """A copy of the quick look that may be altered."""
    return Path(shutil.copytree(glance, tmp_path / "out"))


@pytest.fixture(params=["glance", "glance_by_horizon"])
def either(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A copy of each quick look."""
    return Path(shutil.copytree(request.getfixturevalue(request.param), tmp_path / "out"))


def changed_manifest(out: Path, **changes: object) -> None:
    """Put other values into the manifest, written as dossier writes it."""
    manifest = json.loads((out / "manifest.json").read_bytes()) | changes
    text = json.dumps(manifest, sort_keys=True, ensure_ascii=False, indent=1) + "\n"
    (out / "manifest.json").write_text(text, encoding="utf-8")


def renew(out: Path) -> None:
    """Make the manifest agree with whatever files there are, as a careful forger would."""
    paths = sorted(path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file())
    contents = {name: (out / name).read_bytes() for name in paths if name != "manifest.json"}
    outputs = [
        {"name": name, "sha256": hashlib.sha256(content).hexdigest(), "size": len(content)}
        for name, content in contents.items()
    ]
    changed_manifest(out, outputs=outputs)


def edited(out: Path, change: Callable[[Any], object]) -> None:
    """Change results.json, written as dossier writes it, and make the manifest good."""
    document = json.loads((out / "results.json").read_bytes())
    change(document)
    (out / "results.json").write_bytes(results.written(document))
    renew(out)


# ---- a sound dossier ------------------------------------------------------------------------------------------------


def test_a_sound_dossier_holds_and_a_rebuild_is_the_same(built: Path, release: Path) -> None:
    """Its version 2.1.0, its seed 20261123 and its site "Ward 5, 2024" are no false alarm."""
    result = asked("verify", built, "--release", release)
    assert result.exception is None
    assert result.return_value == 0
    said = result.stdout.splitlines()
    count = len(held(built))
    assert said[0] == f"files: {count - 1} by size and SHA-256, and none beside them"
    assert said[1] == f"printed again: {count} files from results.json, byte by byte"
    assert said[2].startswith("inputs: ")
    assert said[3] == f"rebuild: {count} files, byte by byte"
    assert said[4] == "Verified: this release gives every byte of this dossier."
    assert result.stderr == ""


def test_without_a_release_it_is_said_what_was_not_checked(glance: Path) -> None:
    result = asked("verify", glance)
    assert (result.exception, result.return_value, result.stderr) == (None, 0, "")
    assert result.stdout.splitlines()[2:] == [
        "inputs and rebuild: not checked, no release was given",
        "The files are what results.json prints; results.json itself was not checked against data.",
        "Nobody vouches for it: who changes results.json and prints anew leaves no trace here.",
    ]
    assert "verified" not in result.stdout.lower()


def test_the_command_and_the_model_file_are_printed(built: Path) -> None:
    last = " ".join(page.extract_text() for page in PdfReader(built / "dossier-supplement.pdf").pages[-2:]).split()
    assert "Command: dossier build --edition all --page a4." in " ".join(last)
    assert "was tested. The hash of its file is not stated." in " ".join(last)


# ---- printing -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--edition", "regulatory", "--page", "letter", "--draft"),
        ("--edition", "committee", "--page", "letter", "--local-site", "ward 5,  2024"),
    ],
    ids=" ".join,
)
def test_print_makes_every_byte_of_a_build(built: Path, release: Path, tmp_path: Path, words: tuple[str, ...]) -> None:
    made = built
    if words:
        made = tmp_path / "made"
        assert asked("build", release, *words, "-o", made, "--jobs", "1", "--quiet").exception is None
    # Alone, so that it is printed from nothing else.
    alone = Path(shutil.copy(made / "results.json", tmp_path / "alone.json"))
    result = asked("print", alone, *words, "-o", tmp_path / "printed", "--jobs", "1", "--quiet")
    assert result.exception is None
    assert held(tmp_path / "printed") == held(made)
    assert held(made)["results.json"] == held(built)["results.json"]


def test_print_makes_every_byte_of_a_quick_look(glance: Path, tmp_path: Path) -> None:
    for named, out in ((glance / "results.json", tmp_path / "printed"), (glance, tmp_path / "again")):
        assert asked("print", named, "-o", out, "--quiet").exception is None
        assert held(out) == held(glance)


def test_print_refuses_what_is_no_results_json(built: Path, tmp_path: Path) -> None:
    (tmp_path / "empty.json").write_text("{}")
    for words, what in (
        ((built / "results.csv",), "results.csv is not valid JSON."),
        ((tmp_path / "empty.json",), 'empty.json names no schema; what can be read is "dossier-results/1".'),
        ((tmp_path / "nowhere.json",), "There is no file nowhere.json."),
        ((tmp_path,), "There is no file results.json."),
        (
            (built / "results.json", "--local-site", "nowhere"),
            '"nowhere" is no external dataset of this release, and no site of one.',
        ),
    ):
        result = asked("print", *words, "-o", tmp_path / "printed", "--quiet")
        assert isinstance(result.exception, DossierError)
        assert result.exception.faults[0].what.startswith(what)
    assert not (tmp_path / "printed").exists()


@pytest.mark.parametrize("text", ["\x1b[2J\u202e\0", "a name\x07", "\ue000"], ids=ascii)
def test_what_steers_a_terminal_or_a_page_is_refused_and_named(glance: Path, tmp_path: Path, text: str) -> None:
    raw = json.loads((glance / "results.json").read_text())
    raw["release"]["model"] = text
    path = tmp_path / "results.json"
    path.write_text(json.dumps(raw))
    result = asked("print", path, "-o", tmp_path / "printed", "--quiet")
    assert isinstance(result.exception, ReleaseError)
    (fault,) = result.exception.faults
    assert fault.where == "results.json, release, model"
    assert fault.what.startswith("A text holds what cannot be printed: U+")
    assert text not in str(result.exception)


def test_a_file_that_lost_a_part_is_told_and_not_a_traceback(glance: Path, tmp_path: Path) -> None:
    raw = json.loads((glance / "results.json").read_text())
    next(curve for curve in raw["curves"] if "share_events" in curve["columns"])["columns"].pop("share_events")
    (tmp_path / "results.json").write_text(json.dumps(raw))
    result = asked("print", tmp_path / "results.json", "-o", tmp_path / "printed", "--quiet")
    assert isinstance(result.exception, ReleaseError)
    assert result.exception.faults[0].what.startswith("results.json cannot be printed as it stands (KeyError: ")
    assert not (tmp_path / "printed").exists()


# ---- altered ones ---------------------------------------------------------------------------------------------------


def word_changed(path: Path) -> None:
    """Exchange two texts of a page, in the content of that page."""
    writer = PdfWriter(clone_from=PdfReader(path))
    page: Any = writer.pages[1]
    content = ContentStream(page.get_contents(), writer)
    shown = [operands for operands, operator in content.operations if operator == b"TJ"]
    first, other = next((candidate, two) for candidate, two in itertools.pairwise(shown) if candidate != two)
    first[:], other[:] = list(other), list(first)
    page[NameObject("/Contents")] = writer._add_object(content)
    writer.write(path)


def changed_once(path: Path, pattern: bytes, instead: Callable[[re.Match[bytes]], bytes]) -> None:
    """Change the first place of a file that looks so."""
    content, count = re.subn(pattern, instead, path.read_bytes(), count=1)
    assert count == 1
    assert content != path.read_bytes()
    path.write_bytes(content)


def other_digit(found: re.Match[bytes]) -> bytes:
    """The same text with another last digit."""
    return found[0][:-1] + str((int(found[0][-1:]) + 5) % 10).encode()


def test_an_altered_word_curve_and_cell_are_named_and_nothing_else(either: Path) -> None:
    out = either
    word_changed(out / "dossier-quick.pdf")
    changed_once(out / "figures" / "roc_by_site.svg", rb'd="M[0-9.]+ [0-9.]+L[0-9.]+ [0-9.]*[0-9]', other_digit)
    changed_once(out / "results.csv", rb"\nauroc,.*?0\.[0-9]+", other_digit)
    renew(out)
    result = asked("verify", out)
    assert result.return_value == 4
    assert result.stderr.splitlines() == [
        f"differs: {name} is not what results.json prints"
        # The manifest is printed too, and has other hashes.
        for name in ("dossier-quick.pdf", "figures/roc_by_site.svg", "manifest.json", "results.csv")
    ]
    assert "4 differences." in result.stdout.splitlines()


def test_an_altered_number_of_results_json_is_on_no_page(either: Path) -> None:
    out = either

    def better(document: Any) -> None:
        for estimate in document["estimates"]:
            if estimate["measure"] == "auroc" and estimate["status"] == "estimated":
                estimate["value"] += 0.05

    edited(out, better)
    said = verify.report(out).differences
    assert {f"{name} is not what results.json prints" for name in ("dossier-quick.pdf", "results.csv")} < set(said)
    assert "results.json is not what results.json prints" not in said


def test_results_json_in_other_bytes_is_named(out: Path) -> None:
    document = json.loads((out / "results.json").read_bytes())
    (out / "results.json").write_text(json.dumps(document), encoding="utf-8")
    renew(out)
    assert set(verify.report(out).differences) == {
        "results.json is not what results.json prints",
        "manifest.json is not what results.json prints",
    }


@pytest.mark.parametrize("change", [{"seed": 8}, {"artifact_sha256": "0" * 64}, {"note": "approved"}])
def test_an_altered_manifest_is_named(out: Path, change: dict[str, object], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limited, "call", lambda function, *words, seconds: verify.printed_again(*words))
    changed_manifest(out, **change)
    assert verify.report(out).differences == ("manifest.json is not what results.json prints",)


def test_an_altered_missing_or_foreign_file_is_named(out: Path) -> None:
    (out / "results.csv").write_bytes((out / "results.csv").read_bytes() + b"\n")
    (out / "figures" / "roc_by_site.svg").unlink()
    (out / "notes.txt").write_text("mine")
    said = set(verify.report(out).differences)
    assert said == {
        "results.csv differs from the manifest",
        "results.csv is not what results.json prints",
        "figures/roc_by_site.svg is missing",
        "figures/roc_by_site.svg is not what results.json prints",
        "notes.txt is not listed in the manifest",
        "notes.txt is not printed from results.json",
    }


def test_a_foreign_file_that_the_manifest_lists_is_named(out: Path) -> None:
    (out / "figures" / "approval.svg").write_bytes(b"<svg/>")
    renew(out)
    assert set(verify.report(out).differences) == {
        "figures/approval.svg is not printed from results.json",
        "manifest.json is not what results.json prints",
    }


def test_other_versions_are_told_with_what_to_install_and_hashes_alone_are_compared_on_demand(out: Path) -> None:
    def newer(document: Any) -> None:
        document["versions"] |= {"numpy": "1.0", "pango": "1.40.0", "zlib": "1.2; rm -rf ~", "typewriter": "2.0"}
        del document["versions"]["freetype"]

    edited(out, newer)
    result = asked("verify", out, "--release", GBSG)
    assert result.return_value == 4
    (said,) = [line for line in result.stderr.splitlines() if "other versions" in line]
    ours = versions.installed()
    for text in (
        f"freetype not recorded (here {ours['freetype']})",
        f"numpy 1.0 (here {ours['numpy']})",
        f"pango 1.40.0 (here {ours['pango']})",
        "typewriter 2.0 (here none)",
        "; install pip install numpy==1.0; beside pip pango 1.40.0, or add --hashes-only",
    ):
        assert text in said
    # What somebody else wrote is never part of what is to be typed.
    assert "rm -rf" not in said.partition("install")[2]
    assert "rebuild: " not in result.stdout.replace("inputs and rebuild: ", "")
    result = asked("verify", out, "--hashes-only")
    assert (result.return_value, result.stderr) == (0, "")
    assert result.stdout.splitlines()[1] == "printed again: nothing, hashes only"
    assert result.stdout.splitlines()[3].startswith("Self-consistent: every file has the hash")
    assert "verified" not in result.stdout.lower()
    (out / "dossier-quick.pdf").write_bytes(b"%PDF-1.7")
    assert verify.report(out, hashes_only=True).differences == ("dossier-quick.pdf differs from the manifest",)


def test_the_libraries_that_set_the_pages_are_among_the_versions(built: Path) -> None:
    recorded = json.loads((built / "manifest.json").read_bytes())["versions"]
    assert recorded == json.loads((built / "results.json").read_bytes())["versions"] == dict(versions.installed())
    assert {"pango", "harfbuzz", "freetype", "fontconfig", "zlib", "pydyf"} <= recorded.keys()
    for name in ("pango", "harfbuzz", "freetype", "fontconfig", "zlib"):
        assert re.fullmatch(r"\d+\.\d+\.\d+(\.\d+)?", recorded[name]), name


def test_an_altered_input_byte_is_caught(built: Path, release: Path, tmp_path: Path) -> None:
    other = Path(shutil.copytree(release, tmp_path / "release"))
    table = next(other.glob("*.csv"))
    content = table.read_bytes()
    table.write_bytes(content[:-3] + bytes([content[-3] ^ 1]) + content[-2:])
    assert verify.inputs(built, other).differences == (f"input {table.name} differs from the one that was read",)
    table.unlink()
    assert verify.inputs(built, other).differences == (f"input {table.name} is missing",)


def test_files_that_a_rebuild_makes_otherwise_are_named(glance: Path, out: Path) -> None:
    (out / "results.csv").write_bytes((out / "results.csv").read_bytes() + b"\n")
    (out / "model-card.xml").unlink()
    renew(out)
    assert set(verify.rebuilt(out, glance).differences) == {
        "model-card.xml comes only with the rebuild",
        "results.csv differs in the rebuild",
        "manifest.json differs in the rebuild",
    }
    assert verify.rebuilt(glance, glance).differences == ()


@pytest.mark.parametrize(
    "manifest",
    ["", "{}", '{"schema": "dossier-manifest/1"}', '{"schema": "another/1", "outputs": []}', "[" * 100_000],
    ids=["empty", "nothing", "no-outputs", "another", "endless"],
)
def test_what_is_no_dossier_is_refused(tmp_path: Path, manifest: str) -> None:
    (tmp_path / "manifest.json").write_text(manifest)
    assert "There is no dossier" in str(asked("verify", tmp_path).exception)
    assert "There is no dossier" in str(asked("verify", tmp_path / "nowhere").exception)


def replaced(out: Path) -> None:
    """Another folder in the place of a dossier, which has the same files."""
    shutil.copytree(out, out.with_name("other"))
    shutil.rmtree(out)
    out.with_name("other").rename(out)


@pytest.mark.parametrize("change", [shutil.rmtree, replaced, lambda out: out.rename(out.with_name("away"))])
@pytest.mark.parametrize(("module", "step"), [(verify, "_within_limits"), (signed, "found")])
def test_a_folder_that_goes_while_it_is_verified_is_a_folder_that_is_missing(
    out: Path, change: Callable[[Path], object], module: object, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = getattr(module, step)

    def gone(*given: object) -> object:
        change(out)
        return real(*given)

    monkeypatch.setattr(module, step, gone)
    error = asked("verify", out).exception
    assert isinstance(error, OutputError)
    assert error.faults[0].what == "out was deleted or replaced while it was verified."


def test_a_release_that_is_not_there_is_no_difference(tmp_path: Path) -> None:
    found = asked("verify", tmp_path, "--release", tmp_path / "nosuch")
    assert isinstance(found.exception, ReleaseError)
    assert found.exception.faults[0].what == f"There is no {tmp_path / 'nosuch'}."


# ---- hostile ones ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("with_release", [False, True])
def test_no_command_of_a_manifest_is_run(
    out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, with_release: bool
) -> None:
    """Neither is the attacker's scheduler asked, nor anything built."""
    monkeypatch.setattr(cli, "_made", lambda *words: pytest.fail("something was built"))
    # What is done in the process of its own is the same here, and quicker by its start.
    monkeypatch.setattr(limited, "call", lambda function, *words, seconds: verify.printed_again(*words))
    elsewhere = tmp_path / "elsewhere"
    with socket.create_server(("127.0.0.1", 0)) as attacker:
        attacker.setblocking(False)
        address = f"tcp://127.0.0.1:{attacker.getsockname()[1]}"
        for command in (
            f"dossier build --edition all --page a4 --backend dask --scheduler {address}",
            f"dossier build --edition all --page a4 --backend dask --scheduler {address} --trust-scheduler",
            f"dossier build --edition all --page a4 -o {elsewhere}",
            "dossier build --edition all --page a4 --release /etc",
            "dossier build --edition all --page a4 --seed 7",
            f"dossier init {elsewhere}",
            f"dossier print results.json -o {elsewhere}",
            "dossier build 'all",
            "",
            None,
            ["dossier", "build"],
            "dossier build " + "--draft " * 100_000,
        ):
            changed_manifest(out, command=command)
            result = asked("verify", out, *(("--release", GBSG) if with_release else ()))
            assert result.return_value == 4, command
            assert result.stderr.startswith("differs: the command in manifest.json ")
            assert len(result.stderr.splitlines()) == 1
        with pytest.raises(BlockingIOError):
            attacker.accept()
    assert not elsewhere.exists()


@pytest.mark.parametrize(
    "command",
    [
        "dossier build --edition all --page a4 --local-site nowhere",
        "dossier build --edition committee --page a4",
        "dossier quick --outcome a --risk b --name c --page letter",
    ],
)
def test_another_command_prints_something_else(out: Path, command: str) -> None:
    changed_manifest(out, command=command)
    result = asked("verify", out)
    assert (result.exception, result.return_value) == (None, 4)


def test_a_rebuild_that_the_release_does_not_allow_is_a_difference(
    built: Path, release: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verify, "report", lambda out, hashes_only: verify.Report((), ()))
    out = Path(shutil.copytree(built, tmp_path / "built"))
    changed_manifest(out, command="dossier build --edition all --page a4 --local-site nowhere")
    result = asked("verify", out, "--release", release)
    assert result.return_value == 4
    assert 'builds nothing from this release: "nowhere" is no external dataset' in result.stderr


def test_a_rebuild_that_lacks_an_option_names_it_and_accuses_nobody(
    release: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verify, "report", lambda out, hashes_only: verify.Report((), ()))
    elsewhere = Path(shutil.copytree(release, tmp_path / "release"))
    toml = elsewhere / "release.toml"
    name = re.findall(r'^file = "(.+)"', toml.read_text(encoding="utf-8"), flags=re.MULTILINE)[0]
    (elsewhere / name).rename(tmp_path / name)
    text = toml.read_text(encoding="utf-8").replace(f'file = "{name}"', f'file = "../{name}"\noutside = true')
    toml.write_text(text, encoding="utf-8")
    out = tmp_path / "out"
    made = asked("build", elsewhere, "-o", out, "--edition", "committee", "--jobs", "1", "--quiet", "--allow-outside")
    assert made.exception is None
    result = asked("verify", out, "--release", elsewhere)
    assert isinstance(result.exception, DataError)
    assert "add --allow-outside" in str(result.exception)


SOME = {"sha256": "0" * 64, "size": 1}


@pytest.mark.parametrize(
    "changes",
    [
        {"outputs": [{"name": 5, **SOME}]},
        {"outputs": [{"name": "../escape.pdf", **SOME}]},
        {"outputs": [{"name": "/etc/passwd", **SOME}]},
        {"outputs": [{"name": "figures/../../x.svg", **SOME}]},
        {"outputs": [{"name": "\x1b[2Jx.pdf", **SOME}]},
        {"outputs": [{"name": "x" * 5000, **SOME}]},
        {"outputs": [{"name": "a\0b", **SOME}]},
        {"outputs": [{"name": "x.pdf", "sha256": 7, "size": 1}]},
        {"outputs": [{"name": "x.pdf", "sha256": "0" * 64, "size": "1"}]},
        {"outputs": [{"name": "x.pdf", "sha256": "0" * 64, "size": -1}]},
        {"outputs": [{"name": "x.pdf", "sha256": "0" * 64, "size": 1e400}]},
        {"outputs": {"name": "x.pdf"}},
        {"outputs": None},
        {"inputs": 3},
        {"inputs": [None]},
        {"versions": ["numpy"]},
        {"versions": {"numpy": 2}},
        {"seed": "1"},
    ],
    ids=lambda changes: json.dumps(changes)[:60],
)
def test_a_manifest_of_odd_types_is_no_manifest(out: Path, changes: dict[str, object]) -> None:
    changed_manifest(out, **changes)
    assert "There is no dossier" in str(asked("verify", out).exception)


def test_inputs_that_a_manifest_names_elsewhere_are_not_opened(out: Path, release: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    link = release / "link.csv"
    link.symlink_to(pipe)
    names = (str(pipe), "../../../../../../../../etc/passwd", "/dev/zero", "link.csv", "x" * 5000, "a\0b", "")
    changed_manifest(out, inputs=[{"name": name, **SOME} for name in names])
    try:
        found = verify.inputs(out, release)
    finally:
        link.unlink()
    assert found.checked == ("inputs: 4 by SHA-256, 3 outside the release by the rebuild",)
    assert len(found.differences) == 4


HOSTILE: dict[str, Callable[[bytes], bytes]] = {
    "endless": lambda content: b"[" * 100_000,
    "a list": lambda content: b"[]",
    "empty": lambda content: b"",
    "no text": lambda content: b"\xff" * 100,
    "half": lambda content: content[: len(content) // 2],
    "another release": lambda content: content.replace(b'"release": {', b'"release": 5, "was": {', 1),
    "no row": lambda content: content.replace(b'"estimates": [', b'"estimates": [7, ', 1),
    "no settings": lambda content: content.replace(b'"at": {', b'"at": 5, "was": {'),
    "infinite": lambda content: content.replace(b'"level": 0.95', b'"level": 1e999', 1),
    "not a number": lambda content: content.replace(b'"level": 0.95', b'"level": NaN', 1),
    "many digits": lambda content: content.replace(b'"n": ', b'"n": ' + b"9" * 5000, 1),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_results_end_in_a_difference(out: Path, kind: str) -> None:
    path = out / "results.json"
    content = HOSTILE[kind](path.read_bytes())
    assert content != path.read_bytes()
    path.write_bytes(content)
    renew(out)
    before = time.monotonic()
    result = asked("verify", out)
    assert (result.exception, result.return_value) == (None, 4)
    assert len(result.stderr.splitlines()) == 1
    assert result.stderr.startswith("differs: nothing was printed again: ")
    assert time.monotonic() - before < 60


def no_curve(document: Any) -> None:
    for curve in document["curves"]:
        curve["columns"] = {}


def no_dataset(document: Any) -> None:
    document["datasets"] = []


def of_nobody(document: Any) -> None:
    for record in (*document["estimates"], *document["curves"]):
        record["dataset"] = "\x1b[2J<script>"


def unknown_measures(document: Any) -> None:
    for estimate in document["estimates"]:
        estimate["measure"] = "unheard_of"


def beyond_all_numbers(document: Any) -> None:
    for estimate in document["estimates"]:
        if estimate["status"] == "estimated":
            estimate |= {"value": 1e308, "low": -1e308, "high": 1e308, "n": 10**30}


@pytest.mark.parametrize("change", [no_curve, no_dataset, of_nobody, unknown_measures, beyond_all_numbers])
def test_results_that_nothing_can_be_printed_from_end_in_a_difference(
    out: Path, change: Callable[[Any], object]
) -> None:
    """They keep to the schema, and say what no build would: a table without rows, numbers without end."""
    edited(out, change)
    results.read((out / "results.json").read_bytes())
    result = asked("verify", out)
    assert (result.exception, result.return_value) == (None, 4)
    assert "\x1b" not in result.stderr


def test_what_takes_too_long_is_ended(built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verify, "SECONDS", 1)
    monkeypatch.setattr(verify, "SECONDS_A_MEGABYTE", 0)
    assert verify.report(built).differences == ("results.json cannot be printed again: it takes more than 1 seconds",)


def test_what_is_no_file_is_neither_read_nor_waited_for(out: Path) -> None:
    for name in ("results.csv", "figures/roc_by_site.svg"):
        (out / name).unlink()
        os.mkfifo(out / name)
    (out / "model-card.xml").unlink()
    (out / "model-card.xml").symlink_to("/dev/zero")
    said = set(verify.report(out).differences)
    for name in ("results.csv", "figures/roc_by_site.svg", "model-card.xml"):
        assert {f"{name} differs from the manifest", f"{name} is not what results.json prints"} <= said
    (out / "results.json").unlink()
    os.mkfifo(out / "results.json")
    assert "nothing was printed again: There is no file results.json." in verify.report(out).differences


def test_a_link_to_the_same_bytes_is_named(out: Path, tmp_path: Path) -> None:
    path = out / "figures" / "roc_by_site.svg"
    path.rename(tmp_path / "kept.svg")
    path.symlink_to(tmp_path / "kept.svg")
    link = "figures/roc_by_site.svg is a link, whose target can change"
    assert link in verify.report(out).differences
    assert link in verify.report(out, hashes_only=True).differences


def test_a_file_of_another_size_is_not_read(out: Path) -> None:
    for name in ("dossier-quick.pdf", "results.json"):
        with (out / name).open("r+b") as file:
            file.truncate(40 << 30)
    before = time.monotonic()
    said = verify.report(out).differences
    assert "dossier-quick.pdf differs from the manifest" in said
    assert "nothing was printed again: results.json has more than 512 MB." in said
    assert time.monotonic() - before < 60


def test_what_a_reader_may_use_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    assert limited.call("operator:concat", "a", "b", seconds=20) == "ab"
    for function, argument, reason in (
        ("builtins:eval", "sum(range(10**12))", "it takes more than 1 seconds"),
        ("builtins:eval", "len(bytearray(3 << 30))", "MemoryError"),
        ("builtins:eval", "__import__('os').abort()", "its reader was ended by SIGABRT"),
        ("builtins:eval", "1 / 0", "ZeroDivisionError: division by zero"),
        ("builtins:eval", "__import__('sys').exit(3)", "its reader ended without a reason"),
    ):
        assert limited.call(function, argument, seconds=1) == limited.Ended(reason)
    with pytest.raises(OSError, match="No space left"):
        limited.call("builtins:exec", "raise OSError(28, 'No space left on device')", seconds=20)
    monkeypatch.setattr(limited, "WAITING", 2)
    assert limited.call("builtins:eval", "__import__('time').sleep(60)", seconds=1) == limited.Ended(
        "it takes more than 1 seconds"
    )
