"""verify: a sound dossier holds, and one altered digit, attachment, input byte, font or file is named."""

from __future__ import annotations

import ast
import hashlib
import json
import os
import re
import shutil
import socket
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib
import pytest
from click.testing import CliRunner, Result
from pypdf import PdfReader, PdfWriter
from pypdf.generic import (
    ArrayObject,
    ByteStringObject,
    ContentStream,
    DictionaryObject,
    NameObject,
    NumberObject,
    StreamObject,
    TextStringObject,
)

from dossier import cli, initial, limited, verify
from dossier.contents import Edition
from dossier.errors import ReleaseError
from dossier.typeset.numbers import MINUS
from dossier.verify import numbers, pages
from tests.conftest import ROOT, Book


def asked(*words: str | Path) -> Result:
    """What the command line answers."""
    return CliRunner().invoke(cli.dossier, [str(word) for word in words], standalone_mode=False)


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example release with few replicates."""
    folder = tmp_path_factory.mktemp("release")
    for name, content in initial.files().items():
        (folder / name).write_bytes(content)
    text = (folder / "release.toml").read_text()
    (folder / "release.toml").write_text(re.sub(r"(bootstrap|permutations) = \d+", r"\1 = 9", text))
    return folder


@pytest.fixture(scope="module")
def built(release: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The dossier of the example release."""
    out = tmp_path_factory.mktemp("built") / "out"
    result = asked("build", release, "-o", out, "--jobs", "1", "--quiet")
    assert result.exception is None
    return out


@pytest.fixture
def out(built: Path, tmp_path: Path) -> Path:
    """A copy of the dossier that may be spoilt."""
    return Path(shutil.copytree(built, tmp_path / "out"))


def renew(out: Path, name: str) -> None:
    """Make the manifest agree with an altered file, as a careful forger would."""
    manifest = json.loads((out / "manifest.json").read_bytes())
    for entry in manifest["outputs"]:
        if entry["name"] == name:
            content = (out / name).read_bytes()
            entry |= {"sha256": hashlib.sha256(content).hexdigest(), "size": len(content)}
    (out / "manifest.json").write_text(json.dumps(manifest))


def altered(out: Path, name: str, change: Callable[[PdfWriter], object]) -> tuple[str, ...]:
    """What verify says after a PDF was changed and its hash made good."""
    writer = PdfWriter(clone_from=PdfReader(out / name))
    change(writer)
    writer.write(out / name)
    renew(out, name)
    return verify.report(out).differences


def untouched(writer: PdfWriter) -> None:
    """No change."""


# ---- a sound dossier ------------------------------------------------------------------------------------------------


def test_a_sound_dossier_holds_and_a_rebuild_is_the_same(built: Path, release: Path) -> None:
    alone, both = asked("verify", built), asked("verify", built, "--release", release)
    assert (alone.return_value, both.return_value) == (0, 0)
    assert alone.stdout.splitlines()[-1] == both.stdout.splitlines()[-1] == "Everything holds."
    assert "inputs and rebuild: not checked" in alone.stdout
    assert "rebuild: " in both.stdout
    assert "not checked" not in both.stdout
    found = [int(number) for number in re.findall(r"pdf: (\d+) numbers found", alone.stdout)]
    assert len(found) == 2
    assert min(found) > 20


def test_the_command_and_the_model_file_are_printed(built: Path) -> None:
    last = " ".join(page.extract_text() for page in PdfReader(built / "dossier-regulatory.pdf").pages[-2:]).split()
    assert "Command: dossier build --edition all --page a4." in " ".join(last)
    assert "was tested. The hash of its file is not stated." in " ".join(last)


def test_another_writer_of_the_same_page_changes_nothing(out: Path) -> None:
    assert altered(out, "dossier-regulatory.pdf", untouched) == ()


@pytest.mark.parametrize("edition", ["regulatory", "committee"])
def test_every_number_of_the_releases_is_found(book: Book, edition: Edition) -> None:
    read = pages.read(PdfReader(book.pdf(edition)))
    count = numbers.count(read, source(book))
    assert count.unmatched == ()
    assert count.matched > (60 if edition == "committee" else 1500)


def source(book: Book) -> numbers.Source:
    """What the numbers of a book are compared with."""
    inputs = [{"name": one.name, "size": one.size, "sha256": one.sha256} for one in book.evidence.inputs]
    return numbers.Source(book.results, {"inputs": inputs, "versions": dict(book.evidence.versions)})


def test_declared_texts_are_exempt_and_what_follows_them_is_not() -> None:
    column = ("/Sect", "/Div", "/Div", "/Div")
    blocks = [
        pages.Block("Data", path, text, 0)
        for path, text in (
            ((*column, "/H2"), "Dates"),
            ((*column, "/Div", "/P"), "From 1978 on, 1167 patients"),
            (("/Sect", "/Div", "/Div", "/Table", "/TBody", "/TR", "/TD"), "1815"),
            (("/Sect", "/Div", "/Div", "/H2"), "What it cannot show"),
            (("/Sect", "/Div", "/Div", "/P"), "0.84"),
            (("/Sect", "/Div", "/Table", "/TBody", "/TR", "/TD"), "0.85"),
        )
    ]
    tally = numbers._Tally()
    kept = numbers._without_declared(blocks, tally)
    assert [one.text for one in kept] == ["What it cannot show", "0.84", "0.85"]
    assert tally.exempt["declared texts"] == 3


def test_the_name_of_the_digest_is_no_number() -> None:
    text = "Results, SHA-256 of 12 files"
    for kind, form in numbers.BY_FORM:
        text = numbers._masked(form, text, Counter(), kind)
    assert numbers.TOKEN.findall(text) == ["12"]


def test_the_words_with_digits_of_every_caption_and_finding_are_known() -> None:
    """Those of the committee's folder too; a bare number of the code must not hide a result."""
    fixed = numbers.Source({}, {}).fixed
    package = Path(verify.__file__).parents[1]
    missed = set()
    for path in (*(package / "figures").rglob("*.py"), *(package / "findings").rglob("*.py")):
        for one in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            said = str(one.value) if isinstance(one, ast.Constant) else ""
            sentences = (" ".join(part.strip(" .,:;").split()) for part in re.split(r"(?<=[.:;,]) ", said))
            printed = {part for part in sentences if re.search(r"\d", part) and re.search(r"[a-z]{2}.*[a-z]", part)}
            missed |= {(path.name, part) for part in printed if not fixed.fullmatch(part)}
    assert missed == set()


def test_nearly_every_altered_value_of_a_table_is_noticed(breast: Book) -> None:
    read = pages.read(PdfReader(breast.pdf("regulatory")))
    known = source(breast)
    cells = [
        place
        for place, (one, following) in enumerate(zip(read.blocks, read.blocks[1:], strict=False))
        if one.kind == following.kind == "/TD"
        and numbers.BOUNDS.fullmatch(following.text)
        and len(re.findall(r"\d", one.text)) >= 3
    ]
    assert len(cells) > 100
    noticed = 0
    for place in cells:
        block = read.blocks[place]
        last = str((int(block.text[-1]) + 5) % 10)
        row = [one for one in read.blocks if one.row == block.row]
        spoilt = tuple(replace(one, text=one.text[:-1] + last) if one is block else one for one in row)
        noticed += bool(numbers.count(pages.Pages(spoilt, (), ()), known).unmatched)
    assert noticed / len(cells) > 0.98


# ---- spoilt ones ----------------------------------------------------------------------------------------------------


def digit_changed(writer: PdfWriter, text: str, wrong: str) -> int:
    """Change the first cell that reads `text` into `wrong`, in the content of its page."""
    every: Any = writer.pages
    for page in every:
        content = ContentStream(page.get_contents(), writer)
        known: dict[int, str] = {}
        for operands, operator in content.operations:
            if operator == b"Tf":
                known = pages._unicode(page["/Resources"]["/Font"][operands[0]], {})
            if operator != b"TJ":
                continue
            if "".join(pages._decoded(one, known) for one in pages._strings(operands)) == text:
                codes = {character: code for code, character in known.items()}
                operands[0][:] = [ByteStringObject(b"".join(codes[one].to_bytes(2, "big") for one in wrong))]
                page[NameObject("/Contents")] = writer._add_object(content)
                return 1
    return 0


def test_an_altered_digit_of_a_table_is_caught(out: Path) -> None:
    results = json.loads((out / "results.json").read_bytes())
    found = next(one for one in results["estimates"] if one["measure"] == "auroc" and one["status"] == "estimated")
    right = f"{found['value']:.2f}"
    wrong = right[:-1] + str((int(right[-1]) + 4) % 10)
    changed: list[int] = []
    said = altered(out, "dossier-regulatory.pdf", lambda writer: changed.append(digit_changed(writer, right, wrong)))
    assert changed == [1]
    assert any(wrong in one and "is not in results.json" in one for one in said)
    assert asked("verify", out).return_value == 4


def test_an_altered_result_is_caught(out: Path) -> None:
    results = json.loads((out / "results.json").read_bytes())
    for one in results["estimates"]:
        if one["measure"] == "auroc" and one["status"] == "estimated":
            one["value"] -= 0.05
    (out / "results.json").write_text(json.dumps(results))
    renew(out, "results.json")
    said = verify.report(out).differences
    assert any("dossier-committee.pdf: the attachment results.json differs" in one for one in said)
    assert any("is not in results.json" in one for one in said)


def attachment_changed(writer: PdfWriter) -> None:
    """Change one byte of what the PDF carries."""
    objects: list[Any] = list(writer._objects)
    (specification,) = [one for one in objects if isinstance(one, dict) and one.get("/Type") == "/Filespec"]
    stream: Any = specification["/EF"]["/F"].get_object()
    stream.set_data(stream.get_data().replace(b"dossier-results/1", b"dossier-results/2", 1))


def test_an_altered_attachment_is_caught(out: Path) -> None:
    said = altered(out, "dossier-committee.pdf", attachment_changed)
    assert said == ("dossier-committee.pdf: the attachment results.json differs from the file",)


def test_an_attachment_where_none_may_be_is_caught(out: Path) -> None:
    said = altered(out, "dossier-regulatory.pdf", lambda writer: writer.add_attachment("note.txt", b"note"))
    assert said == ("dossier-regulatory.pdf: note.txt is attached and should not be",)


def font_changed(writer: PdfWriter) -> None:
    """Put the program of another font in the place of one of ours."""
    other = StreamObject()
    other.set_data((Path(matplotlib.get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf").read_bytes())
    objects: list[Any] = list(writer._objects)
    descriptor = next(one for one in objects if isinstance(one, dict) and "/FontFile2" in one)
    descriptor[NameObject("/FontFile2")] = writer._add_object(other)


@pytest.mark.parametrize("edition", ["regulatory", "committee"])
def test_another_font_is_caught(out: Path, edition: str) -> None:
    said = altered(out, f"dossier-{edition}.pdf", font_changed)
    assert len(said) == 1
    assert "is not one that ships" in said[0]


def test_an_altered_input_byte_is_caught(built: Path, release: Path, tmp_path: Path) -> None:
    other = Path(shutil.copytree(release, tmp_path / "release"))
    table = next(other.glob("*.csv"))
    content = table.read_bytes()
    table.write_bytes(content[:-3] + bytes([content[-3] ^ 1]) + content[-2:])
    result = asked("verify", built, "--release", other)
    assert result.return_value == 4
    assert f"input {table.name} differs from the one that was read" in result.stderr


def test_another_seed_of_the_manifest_is_caught_by_the_rebuild(out: Path, release: Path) -> None:
    manifest = json.loads((out / "manifest.json").read_bytes())
    manifest["command"] += " --seed 7"
    (out / "manifest.json").write_text(json.dumps(manifest))
    result = asked("verify", out, "--release", release)
    assert result.return_value == 4
    assert "results.json differs in the rebuild" in result.stderr


def test_a_damaged_pdf_is_one_difference_and_its_reader_says_nothing_beside_it(out: Path) -> None:
    (out / "dossier-regulatory.pdf").write_bytes(b"no PDF at all")
    renew(out, "dossier-regulatory.pdf")
    result = asked("verify", out)
    (said,) = result.stderr.splitlines()
    assert said.startswith("differs: dossier-regulatory.pdf cannot be read as a PDF of dossier: ")
    assert result.stdout.splitlines()[-1] == "1 difference."


def test_an_altered_missing_or_unlisted_file_is_named(out: Path) -> None:
    (out / "results.csv").write_bytes((out / "results.csv").read_bytes() + b"\n")
    (svg,) = sorted((out / "figures").glob("*.svg"))[:1]
    svg.unlink()
    (out / "notes.txt").write_text("mine")
    said = verify.report(out).differences
    assert {"results.csv differs from the manifest", f"figures/{svg.name} is missing"} <= set(said)
    assert "notes.txt is not listed in the manifest" in said


@pytest.mark.parametrize(
    "manifest",
    ["", "{}", '{"schema": "dossier-manifest/1"}', '{"schema": "another/1", "outputs": []}', "[" * 100_000],
    ids=["empty", "nothing", "no-outputs", "another", "endless"],
)
def test_what_is_no_dossier_is_refused(tmp_path: Path, manifest: str) -> None:
    (tmp_path / "manifest.json").write_text(manifest)
    assert "There is no dossier" in str(asked("verify", tmp_path).exception)
    assert "There is no dossier" in str(asked("verify", tmp_path / "nowhere").exception)


def test_a_release_that_is_not_there_is_no_difference(tmp_path: Path) -> None:
    found = asked("verify", tmp_path, "--release", tmp_path / "nosuch")
    assert isinstance(found.exception, ReleaseError)
    assert found.exception.faults[0].what == f"There is no {tmp_path / 'nosuch'}."


# ---- hostile ones ---------------------------------------------------------------------------------------------------


def told_of_the_command(out: Path, command: object) -> None:
    """Put a command into the manifest."""
    manifest = json.loads((out / "manifest.json").read_bytes())
    manifest["command"] = command
    (out / "manifest.json").write_text(json.dumps(manifest))


def without(out: Path, *names: str) -> Path:
    """A dossier from which these files are gone, and from its manifest."""
    manifest = json.loads((out / "manifest.json").read_bytes())
    manifest["outputs"] = [one for one in manifest["outputs"] if one["name"] not in names]
    (out / "manifest.json").write_text(json.dumps(manifest))
    for name in names:
        (out / name).unlink()
    return out


@pytest.mark.parametrize("with_release", [False, True])
def test_no_command_of_a_manifest_is_run(
    out: Path, release: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, with_release: bool
) -> None:
    """Neither is the attacker's scheduler asked, nor anything built."""
    without(out, "dossier-regulatory.pdf", "dossier-committee.pdf")
    monkeypatch.setattr(cli, "_made", lambda *words: pytest.fail("something was built"))
    elsewhere = tmp_path / "elsewhere"
    with socket.create_server(("127.0.0.1", 0)) as attacker:
        attacker.setblocking(False)
        address = f"tcp://127.0.0.1:{attacker.getsockname()[1]}"
        for command in (
            f"dossier build --edition all --page a4 --backend dask --scheduler {address}",
            f"dossier build --edition all --page a4 --backend dask --scheduler {address} --trust-scheduler",
            f"dossier build --edition all --page a4 -o {elsewhere}",
            "dossier build --edition all --page a4 --release /etc",
            f"dossier init {elsewhere}",
            "dossier build 'all",
            "",
            None,
            ["dossier", "build"],
            "dossier build " + "--draft " * 100_000,
        ):
            told_of_the_command(out, command)
            result = asked("verify", out, *(("--release", release) if with_release else ()))
            assert result.return_value == 4, command
            (named,) = [line for line in result.stderr.splitlines() if "command in manifest.json" in line]
            assert named.endswith(": nothing is rebuilt by it")
        with pytest.raises(BlockingIOError):
            attacker.accept()
    assert not elsewhere.exists()


def test_a_rebuild_that_the_release_does_not_allow_is_a_difference(out: Path, release: Path) -> None:
    told_of_the_command(
        without(out, "dossier-regulatory.pdf"), "dossier build --edition all --page a4 --local-site nowhere"
    )
    result = asked("verify", out, "--release", release)
    assert result.return_value == 4
    assert 'builds nothing from this release: "nowhere" is no external dataset' in result.stderr


def test_inputs_that_a_manifest_names_elsewhere_are_not_opened(out: Path, release: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    link = release / "link.csv"
    link.symlink_to(pipe)
    manifest = json.loads((out / "manifest.json").read_bytes())
    some = {"sha256": "0" * 64, "size": 1}
    names = (str(pipe), "../../../../../../../../etc/passwd", "/dev/zero", "link.csv", "x" * 5000, "a\0b", "")
    manifest["inputs"] = [{"name": name, **some} for name in names]
    (out / "manifest.json").write_text(json.dumps(manifest))
    try:
        found = verify.inputs(out, release)
    finally:
        link.unlink()
    assert found.checked == ("inputs: 4 by SHA-256, 3 outside the release by the rebuild",)
    assert len(found.differences) == 4


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
    manifest = json.loads((out / "manifest.json").read_bytes())
    manifest.update(changes)
    (out / "manifest.json").write_text(json.dumps(manifest))
    assert "There is no dossier" in str(asked("verify", out).exception)


def root_of(writer: PdfWriter) -> Any:
    """The tag that all others are below."""
    return writer._root_object["/StructTreeRoot"]


def in_a_circle(writer: PdfWriter) -> None:
    """The first tag stands below itself."""
    tree = root_of(writer)
    first = (tree["/K"][0] if isinstance(tree["/K"], list) else tree["/K"]).get_object()
    first[NameObject("/K")] = ArrayObject([first.indirect_reference])


def twice_each(writer: PdfWriter) -> None:
    """Sixty tags below each other, each of which stands there twice: 2 to the power of 60 of them."""
    tree = root_of(writer)
    below: Any = writer._add_object(DictionaryObject({NameObject("/S"): NameObject("/P")}))
    for _ in range(60):
        one = {NameObject("/S"): NameObject("/Sect"), NameObject("/K"): ArrayObject([below, below])}
        below = writer._add_object(DictionaryObject(one))
    tree[NameObject("/K")] = ArrayObject([below])


def deep_below(writer: PdfWriter) -> None:
    """Five thousand tags below each other."""
    tree = root_of(writer)
    below: Any = writer._add_object(DictionaryObject({NameObject("/S"): NameObject("/P")}))
    for _ in range(5000):
        one = {NameObject("/S"): NameObject("/Sect"), NameObject("/K"): ArrayObject([below])}
        below = writer._add_object(DictionaryObject(one))
    tree[NameObject("/K")] = ArrayObject([below])


def number_for_tags(writer: PdfWriter) -> None:
    writer._root_object[NameObject("/StructTreeRoot")] = NumberObject(5)


def no_tags(writer: PdfWriter) -> None:
    del writer._root_object["/StructTreeRoot"]


def text_for_a_page_size(writer: PdfWriter) -> None:
    page: Any = writer.pages[0]
    page[NameObject("/MediaBox")] = TextStringObject("a4")


def form_in_itself(writer: PdfWriter) -> None:
    """A drawing that draws itself twice."""
    page: Any = writer.pages[0]
    form = StreamObject()
    form.set_data(b"/F Do /F Do")
    form[NameObject("/Subtype")] = NameObject("/Form")
    reference = writer._add_object(form)
    resources = DictionaryObject({NameObject("/XObject"): DictionaryObject({NameObject("/F"): reference})})
    form[NameObject("/Resources")] = resources
    page[NameObject("/Resources")] = resources
    page[NameObject("/Contents")] = reference


def bomb(writer: PdfWriter) -> None:
    """A page whose content is a thousand times as long as it looks."""
    page: Any = writer.pages[0]
    content = StreamObject()
    content.set_data(b"0 0 m\n" * 10_000_000)
    page[NameObject("/Contents")] = writer._add_object(content.flate_encode())


def font_of_nothing(writer: PdfWriter) -> None:
    objects: list[Any] = list(writer._objects)
    for one in objects:
        if isinstance(one, dict) and "/ToUnicode" in one:
            one[NameObject("/ToUnicode")] = NumberObject(1)


def broken_font(writer: PdfWriter) -> None:
    objects: list[Any] = list(writer._objects)
    for one in objects:
        if isinstance(one, dict) and "/FontFile2" in one:
            one["/FontFile2"].get_object().set_data(b"\0\1\0\0" + b"\xff" * 400)


def pages_in_a_circle(writer: PdfWriter) -> None:
    root: Any = writer._root_object
    root["/Pages"]["/Kids"].append(root.raw_get("/Pages"))


@pytest.fixture(scope="module")
def committee(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dossier of one edition, which is read in half the time."""
    folder = Path(shutil.copytree(built, tmp_path_factory.mktemp("committee") / "out"))
    without(folder, "dossier-regulatory.pdf")
    assert verify.report(folder).differences == ()
    return folder


@pytest.mark.parametrize(
    "change",
    [
        *(in_a_circle, twice_each, deep_below, number_for_tags, no_tags, text_for_a_page_size, form_in_itself, bomb),
        *(font_of_nothing, broken_font, pages_in_a_circle),
    ],
)
def test_a_hostile_pdf_ends_in_a_difference(
    committee: Path, tmp_path: Path, change: Callable[[PdfWriter], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    out = Path(shutil.copytree(committee, tmp_path / "out"))
    monkeypatch.setattr(verify, "SECONDS", 20)
    said = altered(out, "dossier-committee.pdf", change)
    assert said
    assert all(one.startswith("dossier-committee.pdf") for one in said)


def as_bytes(find: bytes, instead: bytes) -> Callable[[bytes], bytes]:
    """Put other bytes where these stand last."""

    def changed(content: bytes) -> bytes:
        before, found, after = content.rpartition(find)
        assert found
        return before + instead + after

    return changed


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("dossier-committee.pdf", as_bytes(b"/Size ", b"/Size 99999999999")),
        ("dossier-committee.pdf", as_bytes(b"/Size ", b"/Size /Many % ")),
        ("dossier-committee.pdf", lambda content: content[: len(content) // 2]),
        ("dossier-committee.pdf", lambda content: b""),
        ("results.json", lambda content: b"[" * 100_000),
        ("results.json", lambda content: b"[]"),
        ("results.json", lambda content: b'{"release": 5}'),
        ("results.json", lambda content: content.replace(b'"estimates": [', b'"estimates": [7, ', 1)),
        ("results.json", lambda content: content.replace(b'"at": {', b'"at": 5, "was": {')),
        ("results.json", lambda content: content.replace(b'"level": ', b'"level": 1e999, "was": ', 1)),
        ("figures/*.svg", lambda content: b"<svg"),
        ("figures/*.svg", lambda content: entities(12)),
    ],
)
def test_hostile_bytes_end_in_a_difference(
    committee: Path, tmp_path: Path, name: str, change: Callable[[bytes], bytes]
) -> None:
    out = Path(shutil.copytree(committee, tmp_path / "out"))
    if name == "dossier-committee.pdf":
        PdfWriter(clone_from=PdfReader(out / name)).write(out / name)
    path = min(out.glob(name))
    path.write_bytes(change(path.read_bytes()))
    renew(out, path.relative_to(out).as_posix())
    result = asked("verify", out)
    assert result.exception is None
    assert result.return_value == 4


def entities(levels: int) -> bytes:
    """A text of XML whose entities are ten times as long at each level."""
    named = "".join(f'<!ENTITY e{k} "{f"&e{k - 1};" * 10}">' for k in range(1, levels))
    return f'<!DOCTYPE svg [<!ENTITY e0 "x">{named}]><svg>&e{levels - 1};</svg>'.encode()


def test_a_file_of_another_size_is_not_read(out: Path) -> None:
    with (out / "dossier-regulatory.pdf").open("r+b") as file:
        file.truncate(40 << 30)
    before = time.monotonic()
    assert "dossier-regulatory.pdf differs from the manifest" in verify.report(out).differences
    assert time.monotonic() - before < 120


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
    monkeypatch.setattr(limited, "WAITING", 2)
    assert limited.call("builtins:eval", "__import__('time').sleep(60)", seconds=1) == limited.Ended(
        "it takes more than 1 seconds"
    )


# ---- numbers as they are printed ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tokens", "found"),
    [
        (("0.88", "0.77", "0.998"), True),
        (("0.88", "0.77", "1.00"), True),
        (("0.88", "0.77", "0.999"), False),
        (("0.88", "0.8", "1.0"), False),
        (("88", "77", "99.8"), True),
    ],
)
def test_a_bound_may_have_more_digits_than_its_value_and_never_fewer(tokens: tuple[str, ...], found: bool) -> None:
    pool = numbers.Pool((), [(0.88, 0.77, 0.9976)])
    assert pool.has_span(tokens) == found
    assert pool.has_bounds((tokens[1], tokens[2])) or not found


@pytest.mark.parametrize(
    ("tokens", "found"),
    [
        ((f"{MINUS}0.003", f"{MINUS}0.06", "0.05"), True),
        (("0.3997", "0.38", "0.42"), True),
        (("0.456", "0.40", "0.51"), False),
    ],
)
def test_a_value_has_more_digits_than_its_bounds_on_a_cut_off_alone(tokens: tuple[str, ...], found: bool) -> None:
    pool = numbers.Pool((), [(-0.0026, -0.06, 0.05), (0.3997, 0.38, 0.42), (0.456, 0.4, 0.51)])
    assert pool.has_span(tokens) == found


def test_a_correct_value_near_a_cut_off_is_found_however_it_rounds() -> None:
    """0.0049 needs three digits to show its sign, and reads 0.005, of which two digits would be 0.01."""
    pool = numbers.Pool((), [(0.0049, -0.01, 0.02), (0.0051, -0.02, 0.03)])
    assert pool.has_span(("0.005", f"{MINUS}0.01", "0.02"))
    assert not pool.has_span(("0.005", f"{MINUS}0.02", "0.03"))


# ---- the example of the README --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def readme(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The release of the README's own table and lines, at a site and with a seed that hold numbers."""
    folder = tmp_path_factory.mktemp("readme")
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (lines,) = [block for block in re.findall(r"```toml\n(.*?)```", text, re.DOTALL) if "Sepsis score" in block]
    assert 'version = "2.1.0"' in lines
    changed = lines.replace("North Hospital", "Ward 5, 2024").replace("declared = [0.2]", "declared = [0.2, 0.005]")
    quick = "release.seed = 20261123\nresampling = { bootstrap = 20, permutations = 19 }\n"
    head, dataset = changed.split("dataset = [")
    (folder / "release.toml").write_text(f"{head}{quick}dataset = [{dataset}", encoding="utf-8")
    with (ROOT / "fixtures" / "breast" / "gbsg.csv").open(encoding="utf-8") as file:
        rows = [",".join(line.rstrip("\n").split(",")[9:11]) for line in file]
    (folder / "predictions.csv").write_text("\n".join(["died,risk", *rows[1:]]) + "\n", encoding="utf-8")
    result = asked("build", folder, "-o", folder.parent / "readme-out", "--jobs", "1", "--quiet")
    assert result.exception is None
    return folder.parent / "readme-out"


def test_the_example_of_the_readme_holds(readme: Path) -> None:
    found = verify.report(readme)
    assert found.differences == ()
    assert asked("verify", readme).return_value == 0


@pytest.mark.parametrize(("before", "after"), [("20261123", "20261124"), ("0.72", "0.79")])
def test_what_is_altered_in_it_is_still_seen(readme: Path, tmp_path: Path, before: str, after: str) -> None:
    out = Path(shutil.copytree(readme, tmp_path / "out"))
    results = json.loads((out / "results.json").read_bytes())
    auroc = next(one for one in results["estimates"] if one["measure"] == "auroc" and not one["at"])
    assert f"{auroc['value']:.2f}" == "0.72"
    results["release"]["seed"] = int(after) if before == "20261123" else results["release"]["seed"]
    auroc["value"] = float(after) if before == "0.72" else auroc["value"]
    (out / "results.json").write_text(json.dumps(results))
    renew(out, "results.json")
    assert any(f": {before}" in one for one in verify.report(out).differences)
