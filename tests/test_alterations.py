"""More than a hundred ways to alter a built dossier, the manifest made good each time: verify names the very file."""

from __future__ import annotations

import io
import itertools
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fontTools.ttLib import TTFont
from pypdf import PdfReader, PdfWriter
from pypdf.annotations import FreeText, Link
from pypdf.generic import (
    ArrayObject,
    ContentStream,
    DecodedStreamObject,
    DictionaryObject,
    NameObject,
    NumberObject,
    RectangleObject,
    TextStringObject,
)

from dossier.core import limited
from dossier.outputs import printing, verify
from tests.test_verify import asked, built, changed_manifest, edited, release, renew

__all__ = ["built", "release"]

EDITIONS = ("dossier-regulatory.pdf", "dossier-supplement.pdf", "dossier-committee.pdf")


@pytest.fixture(scope="module")
def printed_once() -> Any:
    """What a results.json prints, printed once for each: the same bytes give the same files."""
    known: dict[tuple[bytes, str], Any] = {}
    whole = printing.printed

    def printed(found: Any, command: Any, jobs: int = 1, tell: Any = None, **more: Any) -> Any:
        key = (found.text(), str(command))
        if key not in known:
            known[key] = whole(found, command, jobs, tell, **more)
        return known[key]

    return printed


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch, printed_once: Any) -> None:
    monkeypatch.setattr(printing, "printed", printed_once)
    monkeypatch.setattr(limited, "call", lambda function, *words, seconds: verify.printed_again(*words))


def differences(out: Path) -> set[str]:
    return set(verify.report(out).differences)


def test_the_control_has_no_difference(built: Path, tmp_path: Path) -> None:
    out = Path(shutil.copytree(built, tmp_path / "out"))
    renew(out)
    assert differences(out) == set()


# ---- pages ----------------------------------------------------------------------------------------------------------

Page = Callable[[PdfWriter], object]


def content_of(writer: PdfWriter, change: Callable[[Any], object], number: int = 1) -> None:
    """Change the operations of a page."""
    page: Any = writer.pages[number]
    content = ContentStream(page.get_contents(), writer)
    change(content.operations)
    page[NameObject("/Contents")] = writer._add_object(content)


def words_exchanged(operations: Any) -> None:
    shown = [operands for operands, operator in operations if operator == b"TJ"]
    first, other = next((candidate, two) for candidate, two in itertools.pairwise(shown) if candidate != two)
    first[:], other[:] = list(other), list(first)


def last_word_gone(operations: Any) -> None:
    del operations[max(at for at, (_, operator) in enumerate(operations) if operator == b"TJ")]


def hidden_text(operations: Any) -> None:
    at = next(at for at, (_, operator) in enumerate(operations) if operator == b"TJ")
    operations.insert(at, ([NumberObject(3)], b"Tr"))


def covered(operations: Any) -> None:
    box = [NumberObject(at) for at in (0, 0, 600, 400)]
    operations += [([NumberObject(1)], b"g"), (box, b"re"), ([], b"f")]


def shifted(operations: Any) -> None:
    operations.insert(0, ([NumberObject(at) for at in (1, 0, 0, 1, 0, 1)], b"cm"))


def blanked(operations: Any) -> None:
    del operations[:]


def with_key(key: str, value: Any) -> Page:
    def change(writer: PdfWriter) -> None:
        writer.root_object[NameObject(key)] = value

    return change


def without(key: str) -> Page:
    def change(writer: PdfWriter) -> None:
        del writer.root_object[NameObject(key)]

    return change


def objects(writer: PdfWriter, wanted: Callable[[Any], bool]) -> list[Any]:
    found = [entry for entry in writer._objects if isinstance(entry, DictionaryObject) and wanted(entry)]
    assert found
    return found


def first(wanted: Callable[[Any], bool], key: str, value: Any) -> Page:
    def change(writer: PdfWriter) -> None:
        entry = objects(writer, wanted)[0]
        assert entry.get(key) != value
        entry[NameObject(key)] = value

    return change


def stream_altered(wanted: Callable[[Any], bool], change: Callable[[bytes], bytes]) -> Page:
    """Other bytes in the first stream of a kind."""

    def alter(writer: PdfWriter) -> None:
        each = next(entry for entry in objects(writer, wanted) if hasattr(entry, "get_data"))
        made = DecodedStreamObject()
        made.update({key: value for key, value in each.items() if key not in ("/Filter", "/Length", "/DecodeParms")})
        assert change(each.get_data()) != each.get_data()
        made.set_data(change(each.get_data()))
        writer._objects[writer._objects.index(each)] = made

    return alter


def digits_read_otherwise(content: bytes) -> bytes:
    """A map to Unicode under which one digit is read as another: the page looks right, and its text is wrong."""
    return content.replace(b"<0031>", b"<0039>") if b"<0031>" in content else content.replace(b"<00", b"<01", 1)


def has(key: str) -> Callable[[Any], bool]:
    return lambda each: key in each


def maps(each: Any) -> bool:
    return hasattr(each, "get_data") and b"begincmap" in each.get_data()[:2000]


def digits_drawn_otherwise(writer: PdfWriter) -> None:
    """Two digits with each other's outlines: the text that is read stays right, and the page shows another number."""
    for font in objects(writer, has("/ToUnicode")):
        glyphs = digits(font["/ToUnicode"].get_data())
        held = font["/DescendantFonts"][0]["/FontDescriptor"].get("/FontFile2")
        if len(glyphs) < 2 or held is None:
            continue
        stream = held.get_object()
        face = TTFont(io.BytesIO(stream.get_data()))
        first, other = (face.getGlyphName(glyph) for glyph in glyphs[:2])
        outlines = face["glyf"]
        outlines.glyphs[first], outlines.glyphs[other] = outlines[other], outlines[first]
        written = io.BytesIO()
        face.save(written)
        assert written.getvalue() != stream.get_data()
        made = DecodedStreamObject()
        made[NameObject("/Length1")] = NumberObject(len(written.getvalue()))
        made.set_data(written.getvalue())
        writer._objects[writer._objects.index(stream)] = made
        return
    pytest.fail("no font draws two digits")


def digits(to_unicode: bytes) -> list[int]:
    """The glyphs that a map to Unicode reads as digits."""
    pairs = re.findall(rb"<([0-9A-Fa-f]{4})> <(003[0-9])>", to_unicode)
    return [int(glyph, 16) for glyph, _ in pairs]


def all_pages_blanked(writer: PdfWriter) -> None:
    for number in range(len(writer.pages)):
        content_of(writer, blanked, number)


def words_between_the_lines(operations: Any) -> None:
    """A text that is read aloud and copied, and never seen."""
    at = next(at for at, (_, operator) in enumerate(operations) if operator == b"TJ")
    operations[at:at] = [([NumberObject(3)], b"Tr"), operations[at], ([NumberObject(0)], b"Tr")]


def order_of_reading(writer: PdfWriter) -> None:
    """The parts of a list, a table or a section in another order for who has them read."""
    kids = next(
        entry["/K"]
        for entry in objects(writer, has("/S"))
        if isinstance(entry.get("/K"), ArrayObject) and len(entry["/K"]) > 1
    )
    kids.reverse()


def swap_pages(writer: PdfWriter) -> None:
    kids = writer.root_object["/Pages"]["/Kids"]  # type: ignore[index]
    kids[0], kids[1] = kids[1], kids[0]


def drop_page(writer: PdfWriter) -> None:
    writer.remove_page(writer.pages[-1])


def same_page_twice(writer: PdfWriter) -> None:
    writer.add_page(writer.pages[0])


def script(writer: PdfWriter) -> None:
    action = {NameObject("/S"): NameObject("/JavaScript"), NameObject("/JS"): TextStringObject("app.alert(1)")}
    writer.root_object[NameObject("/OpenAction")] = DictionaryObject(action)


def scripted_page(writer: PdfWriter) -> None:
    action = {NameObject("/S"): NameObject("/JavaScript"), NameObject("/JS"): TextStringObject("x")}
    writer.pages[0][NameObject("/AA")] = DictionaryObject({NameObject("/O"): DictionaryObject(action)})


def note(writer: PdfWriter) -> None:
    writer.add_annotation(0, FreeText(text="APPROVED", rect=(50, 50, 200, 100)))


def web_link(writer: PdfWriter) -> None:
    writer.add_annotation(0, Link(rect=(50, 50, 200, 100), url="https://elsewhere.example"))


def box_of(name: str) -> Page:
    def change(writer: PdfWriter) -> None:
        writer.pages[0][NameObject(name)] = RectangleObject((0, 0, 300, 300))

    return change


def turned(writer: PdfWriter) -> None:
    writer.pages[0][NameObject("/Rotate")] = NumberObject(180)


def link_elsewhere(writer: PdfWriter) -> None:
    """A link, or where there is none a bookmark."""
    links = objects(writer, has("/Dest"))
    links[0][NameObject("/Dest")] = next(link["/Dest"] for link in links if link["/Dest"] != links[0]["/Dest"])


OF_PAGES: dict[str, Page] = {
    "words exchanged": lambda writer: content_of(writer, words_exchanged),
    "words exchanged on page 1": lambda writer: content_of(writer, words_exchanged, 0),
    "a word gone": lambda writer: content_of(writer, last_word_gone),
    "text hidden": lambda writer: content_of(writer, hidden_text),
    "a page covered": lambda writer: content_of(writer, covered),
    "a page shifted by a point": lambda writer: content_of(writer, shifted),
    "a page blanked": lambda writer: content_of(writer, blanked),
    "the last page gone": drop_page,
    "pages exchanged": swap_pages,
    "a page twice": same_page_twice,
    "a script": script,
    "a script of a page": scripted_page,
    "a note": note,
    "a link to the web": web_link,
    "a link elsewhere": link_elsewhere,
    "a file attached": lambda writer: writer.add_attachment("patients.csv", b"id,risk\n1,0.5\n"),
    "another title": lambda writer: writer.add_metadata({"/Title": "Approved"}),
    "another date": lambda writer: writer.add_metadata({"/CreationDate": "D:20200101000000Z"}),
    "other metadata": stream_altered(
        lambda each: each.get("/Type") == "/Metadata", lambda content: content.replace(b"<", b" <", 1)
    ),
    "no language": without("/Lang"),
    "no bookmarks": without("/Outlines"),
    "no structure": without("/StructTreeRoot"),
    "another alternative text": first(has("/Alt"), "/Alt", TextStringObject("All is well.")),
    "another text for readers": first(has("/S"), "/ActualText", TextStringObject("0.99")),
    "a heading that is none": first(lambda text: text.get("/S") == "/H1", "/S", NameObject("/P")),
    "another bookmark": first(lambda text: "/Title" in text and "/Dest" in text, "/Title", TextStringObject("Met")),
    "digits read as others": stream_altered(maps, digits_read_otherwise),
    "another font": stream_altered(has("/Length1"), lambda content: content[:-4] + bytes(4)),
    "other widths": first(has("/W"), "/W", ArrayObject()),
    "no colour profile": without("/OutputIntents"),
    "a crop": box_of("/CropBox"),
    "another size": box_of("/MediaBox"),
    "a page turned": turned,
    "digits drawn as others": digits_drawn_otherwise,
    "all pages blanked": all_pages_blanked,
    "words between the lines": lambda writer: content_of(writer, words_between_the_lines),
    "another order of reading": order_of_reading,
    "a form": with_key("/AcroForm", DictionaryObject({NameObject("/Fields"): ArrayObject()})),
    "a script by name": with_key(
        "/Names", DictionaryObject({NameObject("/JavaScript"): DictionaryObject({NameObject("/Names"): ArrayObject()})})
    ),
    "layers": with_key("/OCProperties", DictionaryObject()),
    "full screen": with_key("/PageMode", NameObject("/FullScreen")),
    "not tagged": with_key("/MarkInfo", DictionaryObject()),
    "encrypted": lambda writer: writer.encrypt("", "owner"),
    "written anew": lambda writer: None,
}


def flipped(content: bytes) -> bytes:
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


OF_BYTES: dict[str, Callable[[bytes], bytes]] = {
    "a bit": flipped,
    "a byte more": lambda content: content + b"\n",
    "a byte before": lambda content: b"\n" + content,
    "cut": lambda content: content[:-100],
    "empty": lambda content: b"",
    "another version": lambda content: content.replace(b"%PDF-1.7", b"%PDF-1.4", 1),
    "another identifier": lambda content: re.sub(rb"/ID \[ ?<..", b"/ID [<00", content),
}


def named(out: Path, name: str) -> None:
    """The altered file is named, and no other that was not altered."""
    found = differences(out)
    assert f"{name} is not what results.json prints" in found
    assert found <= {f"{text} is not what results.json prints" for text in (name, "manifest.json")}


@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("kind", OF_PAGES)
def test_altered_pages_are_named(built: Path, tmp_path: Path, edition: str, kind: str) -> None:
    out = Path(shutil.copytree(built, tmp_path / "out"))
    writer = PdfWriter(clone_from=PdfReader(out / edition))
    OF_PAGES[kind](writer)
    writer.write(out / edition)
    renew(out)
    named(out, edition)


@pytest.mark.parametrize(
    "name", [*EDITIONS, "dossier.html", "results.csv", "model-card.xml", "figures/roc_by_site.svg"]
)
@pytest.mark.parametrize("kind", OF_BYTES)
def test_altered_bytes_are_named(built: Path, tmp_path: Path, name: str, kind: str) -> None:
    before = (built / name).read_bytes()
    after = OF_BYTES[kind](before)
    if after == before:
        assert not name.endswith(".pdf") or kind == "another identifier"
        return
    out = Path(shutil.copytree(built, tmp_path / "out"))
    (out / name).write_bytes(after)
    renew(out)
    named(out, name)


# ---- figures, tables, cards -----------------------------------------------------------------------------------------

Text = Callable[[str], str]


def once(pattern: str, instead: str) -> Text:
    return lambda text: re.sub(pattern, instead, text, count=1, flags=re.DOTALL)


OF_TEXTS: dict[str, tuple[str, Text]] = {
    "a curve bent": ("figures/roc_by_site.svg", once(r"L([0-9]+)\.", r"L1\1.")),
    "a curve gone": ("figures/calibration_by_site.svg", once(r"<path stroke[^>]*/>", "")),
    "a figure's words": ("figures/decision_by_site.svg", once(r'label="([A-Z][a-z]+)', r'label="Not \1')),
    "a figure's colour": ("figures/roc_by_site.svg", once(r"#[0-9a-f]{6}", "#ffffff")),
    "a figure's script": ("figures/roc_by_site.svg", once(r"</svg>", "<script>x</script></svg>")),
    "a figure's link": ("figures/roc_by_site.svg", once(r"</svg>", '<image href="https://x.example/"/></svg>')),
    "a figure hidden": ("figures/forest_results.svg", once(r"<g ", '<g display="none" ')),
    "a figure's frame": ("figures/risk_results.svg", once(r'viewBox="0 0', 'viewBox="9 9')),
    "a comment": ("figures/risk_results.svg", once(r"</svg>", "<!-- approved --></svg>")),
    "a value": ("results.csv", once(r"(\nauroc,.*?0\.)[0-9]", r"\g<1>99")),
    "a line gone": ("results.csv", once(r"\nauroc,[^\n]*", "")),
    "a line more": ("results.csv", once(r"(\nauroc,[^\n]*)", r"\1\1")),
    "a heading": ("results.csv", once(r"^measure,dataset", "dataset,measure")),
    "a status": ("results.csv", once(r"absent", "estimated")),
    "line ends": ("results.csv", lambda text: text.replace("\n", "\r\n")),
    "a mark at the beginning": ("results.csv", lambda text: f"\N{ZERO WIDTH NO-BREAK SPACE}{text}"),
    "a formula": ("results.csv", once(r"\nauroc,", "\n=1+1,")),
    "a card's word": ("model-card.xml", once(r">([A-Z][a-z]+ )", r">Never \1")),
    "a card's element gone": ("model-card.xml", once(r"<([a-zA-Z]+)>[^<]*</\1>", "")),
    "a card's entity": ("model-card.xml", once(r"\?>", '?><!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]>')),
}


@pytest.mark.parametrize("kind", OF_TEXTS)
def test_altered_figures_tables_and_cards_are_named(built: Path, tmp_path: Path, kind: str) -> None:
    name, change = OF_TEXTS[kind]
    out = Path(shutil.copytree(built, tmp_path / "out"))
    text = (out / name).read_bytes().decode()
    assert change(text) != text
    (out / name).write_bytes(change(text).encode())
    renew(out)
    named(out, name)


@pytest.mark.parametrize(
    "changes",
    [
        {"seed": 8},
        {"artifact_sha256": "0" * 64},
        {"approved": True},
        {"inputs": []},
        {"command": "dossier build --edition all --draft --page a4"},
        {"command": "dossier build --edition all --page letter"},
        {"versions": {"dossier": "9.9.9"}},
    ],
    ids=str,
)
def test_an_altered_manifest_is_named(built: Path, tmp_path: Path, changes: dict[str, object]) -> None:
    out = Path(shutil.copytree(built, tmp_path / "out"))
    changed_manifest(out, **changes)
    assert "manifest.json is not what results.json prints" in differences(out)


@pytest.mark.parametrize(
    ("alter", "says"),
    [
        (lambda out: (out / "figures" / "roc_by_site.svg").unlink(), "figures/roc_by_site.svg is not what"),
        (lambda out: (out / "results.csv").rename(out / "results2.csv"), "results2.csv is not printed from"),
        (lambda out: (out / "approval.pdf").write_bytes(b"%PDF"), "approval.pdf is not printed from"),
        (lambda out: shutil.copy(out / EDITIONS[0], out / EDITIONS[1]), f"{EDITIONS[1]} is not what"),
    ],
)
def test_files_that_come_and_go_are_named(
    built: Path, tmp_path: Path, alter: Callable[[Path], object], says: str
) -> None:
    out = Path(shutil.copytree(built, tmp_path / "out"))
    alter(out)
    renew(out)
    result = asked("verify", out)
    assert result.return_value == 4
    assert says in result.stderr


def test_a_hidden_file_is_named_and_a_manifest_that_lists_it_is_none_of_ours(built: Path, tmp_path: Path) -> None:
    out = Path(shutil.copytree(built, tmp_path / "out"))
    (out / "figures" / ".hidden").write_bytes(b"x")
    result = asked("verify", out)
    assert result.return_value == 4
    assert "figures/.hidden" in result.stderr
    renew(out)
    assert "no manifest.json of ours" in str(asked("verify", out).exception)


# ---- results.json itself --------------------------------------------------------------------------------------------


def better(document: Any) -> None:
    for estimate in document["estimates"]:
        if estimate["measure"] == "auroc" and estimate["status"] == "estimated":
            estimate["value"] = 0.99


def no_flags(document: Any) -> None:
    document["flags"] = []


def no_inputs(document: Any) -> None:
    document["inputs"] = []


@pytest.mark.parametrize("change", [better, no_flags, no_inputs])
def test_results_alone_are_named_and_printed_again_they_are_said_to_be_untestable(
    built: Path, release: Path, tmp_path: Path, change: Callable[[Any], object]
) -> None:
    """Whoever edits results.json and prints anew gets a sound set: it is never called verified."""
    out = Path(shutil.copytree(built, tmp_path / "out"))
    edited(out, change)
    assert differences(out) - {"manifest.json is not what results.json prints"}
    anew = tmp_path / "anew"
    assert asked("print", out / "results.json", "-o", anew, "--jobs", "1", "--quiet").exception is None
    assert differences(anew) == set()
    said = asked("verify", anew)
    assert said.return_value == 0
    assert "results.json itself was not checked against data." in said.stdout
    assert "verified" not in said.stdout.lower()
    with_release = asked("verify", anew, "--release", release)
    assert with_release.return_value == 4
    assert "results.json differs in the rebuild" in with_release.stderr
    assert json.loads((anew / "results.json").read_bytes()) != json.loads((built / "results.json").read_bytes())


def test_there_are_a_hundred_of_them() -> None:
    assert len(EDITIONS) * len(OF_PAGES) + len(OF_TEXTS) + 4 * len(OF_BYTES) > 100
