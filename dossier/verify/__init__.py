"""OUT -> Report: whether a dossier still says what its results say, file by file and number by number."""

from __future__ import annotations

import io
import json
import logging
import os
import re
import xml.etree.ElementTree
from collections import Counter
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from fontTools.pens.recordingPen import DecomposingRecordingPen
from fontTools.ttLib import TTFont, TTLibError
from pypdf import PdfReader

from dossier import command, limited, material
from dossier import manifest as manifests
from dossier.errors import OutputError
from dossier.manifest import Manifest
from dossier.record import MANIFEST
from dossier.verify import numbers, pages

RESULTS = "results.json"
WITH_RESULTS_INSIDE = "dossier-committee.pdf"
SECONDS, SECONDS_A_MEGABYTE, MOST_SECONDS = 60, 20, 600
"""Of the processor, for one edition; ours take 5 for each megabyte of pages and results."""

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
    manifest: Manifest

    def content(self, name: str) -> bytes | None:
        """A file of the folder; None where it is gone."""
        path = self.folder / name
        return path.read_bytes() if path.is_file() else None


def report(out: Path) -> Report:
    """Look at every file of a dossier: hashes, numbers, figures, attachments and fonts."""
    dossier = _opened(out)
    found = manifests.present(out)
    altered = dossier.manifest.altered(out)
    differences = [f"{one.name} is missing" for one in dossier.manifest.outputs if one.name not in found]
    differences += [f"{name} differs from the manifest" for name in altered]
    differences += [f"{name} is not listed in the manifest" for name in sorted(found - dossier.manifest.listed)]
    checked = [f"files: {len(dossier.manifest.outputs)} by size and SHA-256, and none beside them"]
    for one in dossier.manifest.outputs:
        # The pages of a file that differs prove nothing.
        if one.name.endswith(".pdf") and one.name in found and one.name not in altered:
            told, wrong = _within_limits(dossier, one)
            checked += told
            differences += wrong
    return Report(tuple(checked), tuple(dict.fromkeys(differences)))


def _within_limits(dossier: _Dossier, pdf: manifests.Output) -> tuple[list[str], list[str]]:
    """What was looked at in a PDF, and what differs; it is read in a process that ends when it takes too long."""
    sizes = pdf.size + sum(one.size for one in dossier.manifest.outputs if one.name == RESULTS)
    seconds = min(SECONDS + SECONDS_A_MEGABYTE * (sizes >> 20), MOST_SECONDS)
    answer = limited.call("dossier.verify:edition", str(dossier.folder), pdf.name, seconds=seconds)
    if isinstance(answer, limited.Ended):
        return [], [f"{pdf.name} cannot be read as a PDF of dossier: {answer.reason}"]
    told, wrong = answer
    return told, wrong


def inputs(out: Path, release: Path) -> Report:
    """Compare the files that a release reads with those that the dossier was made from.

    Only files of the release folder are opened by the word of a manifest; what it names elsewhere is left to the
    rebuild, which reads what the release names.
    """
    folder = release if release.is_dir() else release.parent
    listed = _opened(out).manifest.inputs
    inside = [one for one in listed if not PurePath(one.name).is_absolute() and ".." not in PurePath(one.name).parts]
    differences = []
    for one in inside:
        path = folder / one.name
        if not os.path.lexists(path):
            differences.append(f"input {one.name} is missing")
        elif not one.is_at(path):
            differences.append(f"input {one.name} differs from the one that was read")
    outside = len(listed) - len(inside)
    more = f", {outside} outside the release by the rebuild" if outside else ""
    return Report((f"inputs: {len(inside)} by SHA-256{more}",), tuple(differences))


def asked_for(out: Path) -> command.Build | command.Quick:
    """The command that made the dossier, read as a value from its manifest; UnknownCommandError says why it is none."""
    return command.read(_opened(out).manifest.command)


def rebuilt(out: Path, again: Path) -> Report:
    """Compare every file of a dossier with those of a second build."""
    one, other = (_opened(folder).manifest for folder in (out, again))
    names, others = ({entry.name for entry in found.outputs} for found in (one, other))
    differences = [f"{name} is missing in the rebuild" for name in sorted(names - others)]
    differences += [f"{name} comes only with the rebuild" for name in sorted(others - names)]
    # The rebuild's manifest was written for its files a moment ago.
    built = {entry.name: entry for entry in other.outputs}
    differences += [
        f"{name} differs in the rebuild" for name in sorted(names & others) if not built[name].is_at(out / name)
    ]
    if one.model_copy(update={"command": None}) != other.model_copy(update={"command": None}):
        differences.append(f"{MANIFEST} differs in the rebuild")
    if differences and one.versions != other.versions:
        changed = [name for name in sorted(one.versions) if one.versions[name] != other.versions.get(name)]
        differences.append(f"the rebuild was made with other versions of {', '.join(changed)}")
    return Report((f"rebuild: {len(names) + 1} files, byte by byte",), tuple(differences))


def _opened(out: Path) -> _Dossier:
    """The dossier in a folder; refused where there is none."""
    found = manifests.read(out)
    if found is None:
        fix = "Name a folder that dossier build has written."
        raise OutputError.one("There is no dossier: no manifest.json of ours.", str(out), fix)
    return _Dossier(out, found)


# ---- one edition ----------------------------------------------------------------------------------------------------


def edition(folder: str, name: str) -> tuple[list[str], list[str]]:
    """What was looked at in a PDF, and what differs; whatever it raises says that the PDF is none of ours."""
    dossier = _opened(Path(folder))
    source = _source(dossier)
    if source is None:
        return [], [f"{RESULTS} cannot be read: no number was checked"]
    content = dossier.content(name) or b""
    reader = PdfReader(io.BytesIO(content))
    _refuse_more_objects_than_bytes(reader, content)
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


def _source(dossier: _Dossier) -> numbers.Source | None:
    try:
        results = json.loads(dossier.content(RESULTS) or b"")
    except (ValueError, RecursionError):
        return None
    return numbers.Source(results, dossier.manifest.model_dump()) if isinstance(results, dict) else None


def _refuse_more_objects_than_bytes(reader: PdfReader, content: bytes) -> None:
    """The fonts are looked for among all objects, as many as the PDF says that it has."""
    trailer: Any = reader.trailer
    if int(trailer["/Size"]) > len(content):
        raise ValueError("it says that it has more objects than bytes")


def _not_drawn(dossier: _Dossier, drawn: tuple[str, ...]) -> list[str]:
    """The texts within figures that stand in no SVG beside the PDF; blanks are drawn by moving on, so do not count."""
    known: Counter[str] = Counter()
    for entry in dossier.manifest.outputs:
        content = dossier.content(entry.name) if entry.name.endswith(".svg") else None
        if content is not None:
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
