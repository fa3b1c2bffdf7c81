"""OUT -> Report: whether a dossier still says what its results say, file by file and number by number."""

from __future__ import annotations

import hashlib
import io
import json
import logging
import re
import shlex
import xml.etree.ElementTree
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from fontTools.pens.recordingPen import DecomposingRecordingPen
from fontTools.ttLib import TTFont, TTLibError
from pypdf import PdfReader
from pypdf.errors import PyPdfError

from dossier import material
from dossier.errors import OutputError
from dossier.record import MANIFEST, MANIFEST_SCHEMA
from dossier.verify import numbers, pages

RESULTS = "results.json"
WITH_RESULTS_INSIDE = "dossier-committee.pdf"

# What it has to say of a damaged PDF stands among the differences.
logging.getLogger("pypdf").addHandler(logging.NullHandler())


@dataclass(frozen=True)
class Report:
    """What was looked at, each with its count, and everything that differs; no difference means that all holds."""

    checked: tuple[str, ...]
    differences: tuple[str, ...]


@dataclass(frozen=True)
class _Dossier:
    """The folder of a dossier with what its manifest says."""

    folder: Path
    manifest: Mapping[str, Any]

    def content(self, name: str) -> bytes | None:
        """A file of the folder; None where it is gone."""
        path = self.folder / name
        return path.read_bytes() if path.is_file() else None

    @property
    def pdfs(self) -> list[str]:
        """The editions that the manifest lists and the folder holds."""
        names = (entry["name"] for entry in self.manifest["outputs"])
        return [name for name in names if name.endswith(".pdf") and (self.folder / name).is_file()]


def report(out: Path) -> Report:
    """Look at every file of a dossier: hashes, numbers, figures, attachments and fonts."""
    dossier = _opened(out)
    checked: list[str] = []
    differences = list(_files(dossier))
    checked.append(f"files: {len(dossier.manifest['outputs'])} by size and SHA-256, and none beside them")
    source = _source(dossier)
    if source is None:
        return Report(tuple(checked), (*differences, f"{RESULTS} cannot be read: no number was checked"))
    for name in dossier.pdfs:
        try:
            told, wrong = _edition(dossier, name, source)
        except (PyPdfError, KeyError, IndexError, TypeError, ValueError) as error:
            told, wrong = [], [f"{name} cannot be read as a PDF of dossier: {type(error).__name__}: {error}"]
        checked += told
        differences += wrong
    return Report(tuple(checked), tuple(differences))


def inputs(out: Path, release: Path) -> Report:
    """Compare the files that a release reads with those that the dossier was made from."""
    manifest = _opened(out).manifest
    folder = release if release.is_dir() else release.parent
    differences = []
    for entry in manifest["inputs"]:
        path = folder / entry["name"]
        if not path.is_file():
            differences.append(f"input {entry['name']} is missing")
        elif _sha256(path.read_bytes()) != entry["sha256"]:
            differences.append(f"input {entry['name']} differs from the one that was read")
    return Report((f"inputs: {len(manifest['inputs'])} by SHA-256",), tuple(differences))


def command(out: Path) -> list[str]:
    """The words of the command that made the dossier, so that it can be given again."""
    return shlex.split(str(_opened(out).manifest["command"]))[1:]


def rebuilt(out: Path, again: Path) -> Report:
    """Compare every file of a dossier with those of a second build."""
    one, other = _contents(out), _contents(again)
    differences = [f"{name} is missing in the rebuild" for name in sorted(one.keys() - other.keys())]
    differences += [f"{name} comes only with the rebuild" for name in sorted(other.keys() - one.keys())]
    differences += [
        f"{name} differs in the rebuild" for name in sorted(one.keys() & other.keys()) if one[name] != other[name]
    ]
    versions = [_opened(folder).manifest["versions"] for folder in (out, again)]
    if differences and versions[0] != versions[1]:
        changed = [name for name in sorted(versions[0]) if versions[0][name] != versions[1].get(name)]
        differences.append(f"the rebuild was made with other versions of {', '.join(changed)}")
    return Report((f"rebuild: {len(one)} files, byte by byte",), tuple(differences))


# ---- files ----------------------------------------------------------------------------------------------------------


def _opened(out: Path) -> _Dossier:
    """The dossier in a folder; refused where there is none."""
    try:
        manifest = json.loads((out / MANIFEST).read_bytes())
        if manifest["schema"] != MANIFEST_SCHEMA:
            raise ValueError(manifest["schema"])
        entries = [(str(one["name"]), str(one["sha256"]), int(one["size"])) for one in manifest["outputs"]]
        manifest["inputs"], manifest["versions"], manifest["command"]
        inside = all(
            not PurePosixPath(name).is_absolute() and ".." not in PurePosixPath(name).parts for name, *_ in entries
        )
        if not inside:
            raise ValueError("a name leads out of the folder")
    except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
        fix = "Name a folder that dossier build has written."
        raise OutputError.one("There is no dossier: no manifest.json of ours.", str(out), fix) from None
    return _Dossier(out, manifest)


def _files(dossier: _Dossier) -> Iterator[str]:
    """Every file that is missing, altered or not listed."""
    for entry in dossier.manifest["outputs"]:
        content = dossier.content(entry["name"])
        if content is None:
            yield f"{entry['name']} is missing"
        elif len(content) != entry["size"] or _sha256(content) != entry["sha256"]:
            yield f"{entry['name']} differs from the manifest"
    listed = {PurePosixPath(entry["name"]) for entry in dossier.manifest["outputs"]} | {PurePosixPath(MANIFEST)}
    listed |= {folder for name in listed for folder in name.parents}
    present = {PurePosixPath(path.relative_to(dossier.folder).as_posix()) for path in dossier.folder.rglob("*")}
    for name in sorted(present - listed):
        yield f"{name} is not listed in the manifest"


def _contents(folder: Path) -> dict[str, bytes]:
    """Every file of a dossier; of the manifest what does not name the command."""
    found = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    manifest = json.loads(found.pop(MANIFEST))
    del manifest["command"]
    return found | {MANIFEST: json.dumps(manifest, sort_keys=True).encode()}


def _source(dossier: _Dossier) -> numbers.Source | None:
    try:
        results = json.loads(dossier.content(RESULTS) or b"")
    except (ValueError, RecursionError):
        return None
    return numbers.Source(results, dossier.manifest) if isinstance(results, dict) else None


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


# ---- one edition ----------------------------------------------------------------------------------------------------


def _edition(dossier: _Dossier, name: str, source: numbers.Source) -> tuple[list[str], list[str]]:
    """What was looked at in a PDF, and what differs."""
    reader = PdfReader(io.BytesIO(dossier.content(name) or b""))
    text = pages.read(reader)
    count = numbers.count(text, source)
    exempt = ", ".join(f"{number} {label}" for label, number in count.exempt.items())
    checked = [
        f"{name}: {count.matched} numbers found in {RESULTS}, {len(count.unmatched)} not found",
        f"{name}: exempt {sum(count.exempt.values())}: {exempt}",
    ]
    differences = [f"{name}, page {one.page}: {one.text} is not in {RESULTS}: {one.around}" for one in count.unmatched]
    strange = _not_drawn(dossier, text.drawn)
    checked.append(f"{name}: {len(text.drawn)} texts of figures compared with figures/*.svg")
    differences += [f"{name}: a figure says {one!r}, which no file of figures/ does" for one in strange]
    attached = reader.attachments
    due = {RESULTS: dossier.content(RESULTS)} if name == WITH_RESULTS_INSIDE else {}
    checked.append(f"{name}: {len(due) or 'no'} attachment{'s' if not due else ''}")
    for file in sorted(attached.keys() | due.keys()):
        if file not in due:
            differences.append(f"{name}: {file} is attached and should not be")
        elif attached.get(file) != [due[file]]:
            differences.append(f"{name}: the attachment {file} differs from the file")
    fonts = _fonts(reader)
    checked.append(f"{name}: {len(fonts)} fonts compared with those that ship")
    differences += [f"{name}: the font {font} is not one that ships" for font, ours in fonts.items() if not ours]
    return checked, differences


def _not_drawn(dossier: _Dossier, drawn: tuple[str, ...]) -> list[str]:
    """The texts within figures that stand in no SVG beside the PDF; blanks are drawn by moving on, so do not count."""
    known: Counter[str] = Counter()
    for entry in dossier.manifest["outputs"]:
        content = dossier.content(entry["name"])
        if content is not None and entry["name"].endswith(".svg"):
            root = xml.etree.ElementTree.fromstring(content)
            texts = (
                part
                for one in root.iter()
                if one.tag.endswith("}text")
                for part in ("".join(one.itertext()), *one.itertext())
            )
            known.update(_without_blanks(text) for text in texts)
    return sorted({text for text in drawn if _without_blanks(text) not in known})


def _without_blanks(text: str) -> str:
    return re.sub(r"\s", "", text)


# ---- fonts ----------------------------------------------------------------------------------------------------------


def _fonts(reader: PdfReader) -> dict[str, bool]:
    """Every font of a PDF, and whether each of its shapes is that of a font that ships."""
    ours = [(path.read_bytes(), path) for path in sorted((material.styles() / "fonts").glob("*.ttf"))]
    drawn = [_shapes(TTFont(path)) for _, path in ours]
    found: dict[str, bool] = {}
    trailer: Any = reader.trailer
    for number in range(1, int(trailer["/Size"])):
        item: Any = reader.get_object(number)
        if isinstance(item, dict) and item.get("/Type") == "/Font" and "/DescendantFonts" not in item:
            program = item.get("/FontDescriptor", {}).get("/FontFile2")
            name = str(item.get("/BaseFont", f"object {number}")).lstrip("/")
            found[name] = program is not None and _is_ours(program.get_data(), [one for one, _ in ours], drawn)
    return found


def _is_ours(program: bytes, whole: list[bytes], drawn: list[list[Any]]) -> bool:
    """Whether a font is one that ships, whole or with fewer shapes under the same numbers."""
    if program in whole:
        return True
    try:
        shapes = _shapes(TTFont(io.BytesIO(program)))
    except (TTLibError, KeyError, AssertionError):
        return False
    return any(len(shapes) <= len(other) and _all_drawn(shapes, other) for other in drawn)


def _all_drawn(shapes: list[Any], ours: list[Any]) -> bool:
    """Whether each glyph is the one of the same number; parts of glyphs, which have no width, may have moved."""
    outlines = [one[1] for one in ours if one]
    return all(
        not mine or mine == its or (mine[0] == 0 and mine[1] in outlines)
        for mine, its in zip(shapes, ours, strict=False)
    )


def _shapes(font: Any) -> list[Any]:
    """The outline of each glyph with its width; nothing for a glyph without an outline."""
    glyphs = font.getGlyphSet()
    shapes = []
    for name in font.getGlyphOrder():
        pen = DecomposingRecordingPen(glyphs)
        glyphs[name].draw(pen)
        shapes.append((glyphs[name].width, pen.value) if pen.value else None)
    return shapes
