"""Both editions of every release against the rules that archives, readers' aids and regulators have.

    make conformance

veraPDF's rules for PDF/A and PDF/UA, qpdf's check of the file's structure, pdffonts, a lint of the HTML for what
veraPDF does not see, and what FDA's specification asks of a PDF. Signed once and by three, each PDF is held against
veraPDF and qpdf again, and pdfsig is asked of the signatures. `--write` puts the table into CONFORMANCE.md.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, get_args

from pypdf import PdfReader

from dossier import evaluate, reading
from dossier.core.contents import SUBMITTED, Edition
from dossier.core.types import Document
from dossier.report import compose, draw, press
from dossier.signing import sign
from dossier.typeset.numbers import plain
from tests.certificates_of_tests import PASSWORD, Owner, owner
from tests.conftest import RELEASES
from tests.reference import tables

HERE = Path(__file__).resolve().parent
VERAPDF = HERE.parents[1] / ".ci" / "verapdf"
PROFILES = {"regulatory": "ua1,2a", "supplement": "ua1,2a", "committee": "ua1,3a"}
MM = 72 / 25.4
LEFT, ELSEWHERE = 54.0, 27.0
"""Points: three quarters and three eighths of an inch."""
SMALLEST = 9.0
ZOOM = 3
"""pdftohtml cuts sizes off to whole numbers: at three times the size they tell a third of a point."""
LARGEST = 50 * 1024 * 1024
"""Bytes of a file that a portal takes without asking."""
SIGNERS = ("Author of the evaluation", "Statistician", "Quality assurance")
"""Who signs one after the other; the PDF is looked at after the first and after the last."""
EMPTY = frozenset(("area", "br", "col", "hr", "img", "input", "link", "meta", "wbr"))


class Lint(HTMLParser):
    """What an HTML page lacks for those who do not see it, which no rule of PDF/UA can find afterwards."""

    def __init__(self) -> None:
        super().__init__()
        self.faults: list[str] = []
        self.open: list[tuple[str, dict[str, str | None], list[str]]] = []
        self.heading = 0
        self.titled = False

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Look at an element as it opens."""
        given = dict(attributes)
        if tag == "html" and not given.get("lang"):
            self.faults.append("html without lang")
        if tag == "img" and not (given.get("alt") or "").strip():
            self.faults.append(f"img without alt: {given.get('src')}")
        if tag == "th" and given.get("scope") not in ("col", "row", "rowgroup", "colgroup"):
            self.faults.append("th without scope")
        if tag in ("h1", "h2", "h3", "h4", "h5", "h6"):
            level = int(tag[1])
            if level > self.heading + 1:
                self.faults.append(f"heading {tag} after level {self.heading}")
            self.heading = level
        if self.open:
            parent, _, children = self.open[-1]
            if parent == "table" and not children and tag != "caption":
                self.faults.append(f"table begins with {tag}, not with its caption")
            children.append(tag)
        if tag not in EMPTY:
            self.open.append((tag, given, []))

    def handle_data(self, text: str) -> None:
        """Words make the elements around them more than empty."""
        if text.strip():
            for tag, _, children in self.open:
                if tag in ("a", "title"):
                    children.append("text")

    def handle_endtag(self, tag: str) -> None:
        """Look at an element as it closes."""
        while self.open:
            name, given, children = self.open.pop()
            if name == "a" and not children and not given.get("aria-label"):
                self.faults.append(f"link without words: {given.get('href')}")
            if name == "title" and children:
                self.titled = True
            if name == tag:
                return


def lint(html: str) -> list[str]:
    """The faults of a page."""
    reader = Lint()
    reader.feed(html)
    reader.close()
    return [*reader.faults, *([] if reader.titled else ["no title"])]


def fda(path: Path, edition: str) -> Iterator[str]:
    """What FDA's specification of PDFs asks and a file lacks; attachments and whole fonts in the regulatory edition."""
    reader = PdfReader(path)
    root: Any = reader.trailer["/Root"]
    if reader.pdf_header not in ("%PDF-1.4", "%PDF-1.5", "%PDF-1.6", "%PDF-1.7"):
        yield f"version {reader.pdf_header}"
    if reader.is_encrypted:
        yield "encrypted"
    if edition == "regulatory" and reader.attachments:
        yield "attachments"
    if root.get("/PageMode") != "/UseOutlines":
        yield "does not open on the bookmarks"
    if not root.get("/Lang") or reader.metadata is None or not reader.metadata.title:
        yield "no title or language"
    if _depth(reader.outline) > 4:
        yield "bookmarks of more than four levels"
    if path.name != path.name.lower() or " " in path.name:
        yield "file name"
    if path.stat().st_size > LARGEST:
        yield "larger than 50 MB"
    yield from _objects(reader, edition)
    yield from _sheets(reader)
    yield from _leads(reader)
    yield from small_type(said("pdftohtml", "-xml", "-zoom", str(ZOOM), "-i", "-stdout", path))
    yield from out_of_margins(said("pdftotext", "-bbox", path, "-"))


def _sheets(reader: PdfReader) -> Iterator[str]:
    """Pages that are too large, carry more than links, or do not count from 1."""
    for number, page in enumerate(reader.pages, start=1):
        if "/AA" in page or any(each.get_object()["/Subtype"] != "/Link" for each in page.get("/Annots", ())):
            yield f"page {number}: something else than a link"
        if float(page.mediabox.width) > 216 * MM or float(page.mediabox.height) > 297.1 * MM:
            yield f"page {number}: larger than A4 and Letter"
    foot = reader.pages[0].extract_text().split()
    if "1" not in foot:
        yield "page 1 does not print its number"


def _leads(reader: PdfReader) -> Iterator[str]:
    """Links and bookmarks that change how large the reader sees a page."""
    marks = [(each.title, each) for each in _flat(reader.outline)] + list(reader.named_destinations.items())
    for name, destination in marks:
        if destination.typ != "/XYZ" or destination.zoom:
            yield f"{name}: does not inherit the zoom"
    for number, page in enumerate(reader.pages, start=1):
        for annotation in page.get("/Annots", ()):
            if "/Dest" in annotation.get_object() and annotation.get_object()["/Dest"] not in reader.named_destinations:
                yield f"page {number}: a link to nowhere"


def _flat(outline: Sequence[Any]) -> Iterator[Any]:
    for bookmark in outline:
        yield from _flat(bookmark) if isinstance(bookmark, list) else (bookmark,)


def small_type(xml: str) -> Iterator[str]:
    """The type below 9 points, in figures too, as pdftohtml tells it."""
    sizes = [int(size) / ZOOM for size in re.findall(r'<fontspec [^>]*size="(\d+)"', xml)]
    if not sizes:
        yield "no type is told"
    for size in sizes:
        if size < SMALLEST:
            yield f"type of {size:.1f} pt"


def out_of_margins(xml: str) -> Iterator[str]:
    """The words that stand nearer to an edge than a printer or a binder takes, as pdftotext tells them."""
    pages = xml.split("<page ")[1:]
    if not pages:
        yield "no page is told"
    for number, page in enumerate(pages, start=1):
        width, height = (float(size) for size in re.findall(r'(?:width|height)="([\d.]+)"', page)[:2])
        for *box, word in re.findall(
            r'<word xMin="([-\d.]+)" yMin="([-\d.]+)" xMax="([-\d.]+)" yMax="([-\d.]+)">(.*?)</word>', page
        ):
            left, top, right, bottom = map(float, box)
            if left < LEFT or top < ELSEWHERE or right > width - ELSEWHERE or bottom > height - ELSEWHERE:
                yield f"page {number}: “{unescape(word)}” stands in the margin"


def promised(html: str) -> list[str]:
    """The chapters of the contents, then the captions of tables and figures, in the words of a bookmark, in order."""
    contents = html.partition('<section class="contents')[2].partition("</section>")[0]
    chapters = re.findall(r'<span class="no">(S?\d+)</span><a href="#chapter-[^"]*">(.*?)</a>', contents)
    names = [f"{number} {title}" for number, title in chapters]
    for kind, tag in (("Table", "caption"), ("Figure", "figcaption")):
        titles = re.findall(rf"<{tag}[^>]*>\s*<b>(.*?)</b>", html, re.DOTALL)
        names += [f"{kind} {number}. {title}" for number, title in enumerate(titles, start=1)]
    return [_plain(name) for name in names]


def unmarked(html: str, outline: Sequence[Any]) -> list[str]:
    """What the contents name and the bookmarks do not, or the other way round, in kind, number, words and order."""
    marks = [_plain(each.title) for each in _flat(outline)]
    kinds = (r"Table \d+\. ", r"Figure \d+\. ", r"S?\d+ ")
    faults = []
    for kind in kinds:
        asked = [name for name in promised(html) if re.match(kind, name)]
        # Chapters are the first level; a heading below may open with a number too.
        level = (
            [_plain(bookmark.title) for bookmark in outline if not isinstance(bookmark, list)]
            if kind == kinds[-1]
            else marks
        )
        output = [name for name in level if re.match(kind, name)]
        faults += [f"without a bookmark: {name}" for name in asked if name not in output]
        faults += [f"not in the contents: {name}" for name in output if name not in asked]
        if not faults and asked != output:
            faults.append("bookmarks stand in another order than the contents")
    return faults


def _plain(name: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]*>", "", name)).split()).removesuffix(".")


def _objects(reader: PdfReader, edition: str) -> Iterator[str]:
    """Scripts, and fonts that are not embedded, or not whole where they must be."""
    trailer: Any = reader.trailer
    sizes = {path.stat().st_size for path in (HERE.parents[1] / "styles" / "fonts").glob("*.ttf")}
    for number in range(1, int(trailer["/Size"])):
        item: Any = reader.get_object(number)
        if not isinstance(item, dict):
            continue
        if item.get("/S") in ("/JavaScript", "/Launch") or "/JS" in item:
            yield "a script"
        if item.get("/Type") == "/FontDescriptor":
            if "/FontFile2" not in item:
                yield f"font {item['/FontName']} is not embedded"
            elif edition in SUBMITTED and len(item["/FontFile2"].get_data()) not in sizes:
                yield f"font {item['/FontName']} is not embedded whole"


def _depth(outline: Sequence[Any]) -> int:
    return 1 + max((_depth(bookmark) for bookmark in outline if isinstance(bookmark, list)), default=0)


def ran(*command: str | Path) -> list[str]:
    """What a program complains about; nothing when it is content."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    return [] if done.returncode == 0 else (done.stdout + done.stderr).splitlines() or ["failed"]


def said(*command: str | Path) -> str:
    """What a program of Poppler writes about a file."""
    words = [str(word) for word in command]
    return subprocess.run(words, capture_output=True, text=True, check=True, errors="replace").stdout


def unembedded(path: Path) -> list[str]:
    """The fonts that pdffonts does not find in the file."""
    done = subprocess.run(["pdffonts", str(path)], capture_output=True, text=True, check=True)
    return [line for line in done.stdout.splitlines()[2:] if line.split()[-5] != "yes"]


def signed_by(path: Path, signers: Sequence[tuple[str, Owner]], folder: Path) -> list[Path]:
    """The PDF after each of these signatures, as `dossier sign` puts them in."""
    content, made = path.read_bytes(), []
    for number, (meaning, signer) in enumerate(signers, start=1):
        request = sign.Request(meaning, sign.KeyFile(signer.p12(folder / "key.p12"), PASSWORD))
        content = sign._asked(sign._embedded(content, number, meaning, sign._signer(request), None))
        made.append(folder / f"{path.stem}-signed-{number}.pdf")
        made[-1].write_bytes(content)
    return made


def unsound(path: Path, signatures: int) -> list[str]:
    """What pdfsig finds amiss: each signature is valid, and the last one covers the whole file."""
    output = said("pdfsig", "-nocert", path)
    valid = output.count("Signature Validation: Signature is Valid.")
    asked = output.count("Signature Validation:")
    whole = output.count("  - Total document signed")
    faults = [] if valid == asked == signatures else [f"{valid} of {asked} signatures are valid, not {signatures}"]
    return faults if whole == 1 else [*faults, f"{whole} signatures cover the whole file"]


COLUMNS = (
    *("veraPDF", "qpdf", "fonts", "HTML", "FDA", "bookmarks"),
    *(f"{by}, signed {by_whom}" for by_whom in ("once", f"by {len(SIGNERS)}") for by in ("veraPDF", "qpdf", "pdfsig")),
)


def _found(document: Document, edition: Edition, path: Path) -> dict[str, list[str]]:
    """What fails at an edition, by who finds it."""
    # What fails after one signature and after three.
    authority = owner("Hospital Authority", authority=True)
    every = signed_by(path, [(role, owner(role, authority)) for role in SIGNERS], path.parent)
    found = {}
    for number, words in ((1, "signed once"), (len(every), f"signed by {len(every)}")):
        file = every[number - 1]
        found[f"veraPDF, {words}"] = ran(VERAPDF, PROFILES[edition], file)
        found[f"qpdf, {words}"] = ran("qpdf", "--check", file)
        found[f"pdfsig, {words}"] = unsound(file, number)
    if not every[-1].read_bytes().startswith(path.read_bytes()):
        found[f"qpdf, {words}"].append("does not begin with the unsigned file")
    return {
        "veraPDF": ran(VERAPDF, PROFILES[edition], path),
        "qpdf": ran("qpdf", "--check", path),
        "fonts": unembedded(path),
        "HTML": lint(document.html),
        "FDA": list(fda(path, edition)),
        "bookmarks": unmarked(plain(document.html), PdfReader(path).outline) if edition in SUBMITTED else [],
        **found,
    }


def main() -> int:
    """Print and check every edition of every release; 1 where something fails."""
    editions = [edition for edition in get_args(Edition) if edition in PROFILES]
    lines = [f"| release | edition | pages | {' | '.join(COLUMNS)} |", "|---" * (3 + len(COLUMNS)) + "|"]
    failures: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        for name, release in RELEASES.items():
            if name in tables.lacking():
                sys.stdout.write(f"{name}: its tables are not ours to publish, and are not at hand\n")
                continue
            gallery = draw.gallery(evaluate.evidence(reading.study(release)))
            for edition in editions:
                document = compose.document(gallery, edition)
                path = Path(folder) / f"{name}-{edition}.pdf"
                path.write_bytes(press.pdf(document))
                found = _found(document, edition, path)
                counts = " | ".join(str(len(found[column])) for column in COLUMNS)
                lines.append(f"| {name} | {edition} | {len(PdfReader(path).pages)} | {counts} |")
                sys.stdout.write(lines[-1] + "\n")
                failures += [
                    f"{name}, {edition}, {check}: {word}" for check, faults in found.items() for word in faults
                ]
    sys.stdout.write("\n".join(failures) + "\n")
    if "--write" in sys.argv:
        found_amiss = failures or ["No failure."]
        text = [
            "# Conformance",
            "",
            "`make conformance` writes this; a cell counts the failures.",
            "",
            *lines,
            "",
            *found_amiss,
        ]
        (HERE / "CONFORMANCE.md").write_text("\n".join(text) + "\n", encoding="utf-8")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
