"""Gallery -> one HTML file for the screen: the words of the editions, in what browsers and readers of screens know.

Nothing is written here: each edition is composed as for the press, and what only a page has becomes what a screen has.
Counters become numbers in the text, references to pages the numbers of chapters, pictures SVG within the page, and
tables and figures regions that scroll by themselves. The file asks for nothing: its policy lets no request out, and
names its one style sheet and its one script by their hashes.
"""

from __future__ import annotations

import base64
import hashlib
import io
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from fontTools import subset
from markupsafe import Markup

from dossier.core import contents, material
from dossier.core.types import Gallery, Picture, externals
from dossier.report import by_hospital, compose
from dossier.typeset.numbers import plain
from dossier.typeset.words import SETTING

FACE = re.compile(r"@font-face \{[^}]*url\(([^)]+)\)[^}]*\}")
"""A font of the pages, in the style sheet that they share."""
LOWER = {"h1": "h3", "h2": "h4"}
"""The headings of an edition within the one page: above them stand its title and the names of the editions."""
MARKS = " †‡§"
"""What stands behind the name of a hospital, and is said below."""
LAYOUT = ["kern", "lnum", "mark", "mkmk"]
"""What is kept of the features of a font: those that the pages use."""
STROKE = re.compile(r"([MLQCZ])([^A-Z]*)")
"""A part of a path: what is drawn, and through which points."""
DRAWN = {"clipPath", "defs", "g", "path", "rect", "svg", "text"}
"""The elements that a figure may be made of: none runs, links or loads."""


def page(gallery: Gallery, text: bytes, draft: bool = False, pdfs: Mapping[str, bytes] | None = None) -> bytes:
    """The dossier as one file that a browser opens from the disk; the same evidence gives the same bytes.

    `text` is the results.json of the evidence; `pdfs` are those that are printed beside it, whose hashes it names.
    """
    sites = [plain(dataset.site) for dataset in externals(gallery.evidence)]
    looks = Looks()
    editions = {"committee": by_hospital.committee(gallery, draft, text)}
    others = compose.for_the_screen([gallery], draft, text, *contents.SUBMITTED)
    for name, html in zip(contents.SUBMITTED, others, strict=True):
        editions[name] = by_hospital.Edition(by_hospital.parsed(html), gallery.pictures)
    parts = [_Part(name, editions[name], sites, looks) for name in contents.ON_SCREEN]
    everywhere = {name: place for part in parts for name, place in part.printed().items()}
    for part in parts:
        part.name_tables(everywhere)
    titles = {part.edition: compose.TITLE[part.edition] for part in parts}
    given = [{"edition": part.edition, "title": titles[part.edition], "content": part.content()} for part in parts]
    sheet, script = (_source(f"screen.{kind}") for kind in ("css", "js"))
    known = {
        "parts": given,
        "sites": sites,
        "ours": [plain(site.site) for site in externals(gallery.evidence) if site.name == gallery.evidence.local_site],
        "follows": len(by_hospital.whose(gallery)) > 1,
        "results_sha256": hashlib.sha256(text).hexdigest(),
        "hashes": {name: hashlib.sha256(pdf).hexdigest() for name, pdf in (pdfs or {}).items()},
    }
    bare = compose.around(gallery, draft, policy="", style="", script="", **known)
    letters = {ord(letter) for letter in set(bare + sheet + script)} | set(range(32, 127))
    report = gallery.evidence.release.report
    colours = "; ".join(f"--{name}: {colour}" for name, colour in report.colours.items())
    light = f"@media (prefers-color-scheme: light) {{ :root {{ {colours} }} }}\n" if colours else ""
    if report.style is not None and report.style.family == "sans":
        light += '.part h3, .part h4, .name { font-family: "Inter Tab", sans-serif }\n'
    # The fonts of the pages as rules that hold them, with the letters of this file alone.
    faces = FACE.finditer(_source("book.css"))
    fonts = "".join(f"{face[0].replace(face[1], _font(face[1], letters))}\n" for face in faces)
    style = f"{fonts}{sheet}{light}{looks.rules()}"
    policy = (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; img-src data:; font-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    return compose.around(gallery, draft, policy=policy, style=Markup(style), script=Markup(script), **known).encode()


def _source(name: str) -> str:
    return (material.styles() / name).read_text(encoding="utf-8")


def _hash(source: str) -> str:
    """How a policy names what may stand in the page."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}'"


def _font(name: str, letters: Collection[int]) -> str:
    options = subset.Options(flavor="woff", layout_features=LAYOUT, recalc_timestamp=False)
    cutter, held = subset.Subsetter(options), io.BytesIO()
    cutter.populate(unicodes=letters)
    with subset.load_font(str(material.styles() / name), options) as font:
        # To look in every table for names that are asked for takes half of the time: what is kept asks for none.
        names = font["name"]
        names.names = [each for each in names.names if each.nameID in options.name_IDs]
        del font["name"]
        cutter.subset(font)
        font["name"] = names
        subset.save_font(font, held, options)
    return f"data:font/woff;base64,{base64.b64encode(held.getvalue()).decode()}"


@dataclass
class Looks:
    """What single elements look like, as rules: no element has a style of its own."""

    names: dict[str, str] = field(default_factory=dict)

    def named(self, style: str) -> str:
        """The class that looks so."""
        return self.names.setdefault(style, f"s{len(self.names)}")

    def rules(self) -> str:
        """A rule for each."""
        return "".join(f".{name} {{ {style} }}\n" for style, name in self.names.items())


@dataclass(frozen=True)
class _Part:
    """An edition, as it stands among the others."""

    edition: contents.Edition
    given: by_hospital.Edition
    sites: Collection[str]
    looks: Looks

    def content(self) -> Markup:
        """What its body holds."""
        body = self.given.body
        self._number(body)
        self._refer(body)
        for parent in list(body.iter()):
            for at, child in enumerate(parent):
                parent[at] = self._on_screen(child)
        for element in body.iter():
            self._settle(element)
        return Markup("".join(ElementTree.tostring(child, encoding="unicode", method="html") for child in body))

    def printed(self) -> dict[str, tuple[str, str]]:
        """Where a number of each measure stands first, also by its dataset: the place of the table, and its name."""
        own, found = self.given.body.findall(".//caption[@class]"), dict[str, tuple[str, str]]()
        tables = (each for each in self.given.body.iterfind(".//div[table]") if each.find("table/caption") not in own)
        for number, table in enumerate(tables, 1):
            said = f"#{self.edition}-{table.get('id')}", f"Table {number} ({compose.TITLE[self.edition].lower()})"
            for cell in table.iterfind(".//td[@data-key]"):
                (key, *at), measure = cell.attrib["data-key"].split(), cell.attrib["data-key"].partition("@")[0]
                is_of_all = all(each.partition("=")[0] in SETTING for each in at)
                found = dict.fromkeys([key, measure] if is_of_all else [f"{measure}@subgroup"], said) | found
        return found

    def name_tables(self, printed: Mapping[str, tuple[str, str]]) -> None:
        """Name the tables that print the measures of a figure, those of this edition where it has any, each once."""
        printed = {**printed, **self.printed()}
        for note in self.given.body.iterfind(".//p[@class='note values']"):
            named = dict.fromkeys(printed[each.attrib["href"]] for each in note if each.attrib["href"] in printed)
            note.text = note.text if named else ""
            note[:] = [Element("a", {"class": "there", "href": place}) for place, _ in named]
            for link, (_, text) in zip(note, named, strict=True):
                link.text, link.tail = text, "." if link is note[-1] else "; "

    def _number(self, body: Element) -> None:
        """Write the numbers of tables and figures, which pages count; the committee's have none."""
        for tag, word in {"caption": "Table", "figcaption": "Figure"}.items():
            for number, caption in enumerate([each for each in body.iter(tag) if each.get("class") != "own"], 1):
                if self.edition != "committee":
                    # Put a bold text before all that an element holds.
                    first = Element("b")
                    first.text, first.tail = f"{word} {number}. ", caption.text
                    caption.text = None
                    caption.insert(0, first)

    def _refer(self, body: Element) -> None:
        """Say of what stands elsewhere the chapter instead of the page, and the number of a figure."""
        chapter_of: dict[str, str] = {}
        for section in body.iter("section"):
            number = section.find("header/h1/span[@class='no']")
            if number is not None:
                chapter_of |= {f"#{element.get('id')}": number.text or "" for element in section.iter()}
        figures = {f"#{each.get('id')}": str(number) for number, each in enumerate(body.iter("figcaption"), 1)}
        for listed in body.iterfind(".//section[@class='contents']//li"):
            listed.remove(listed.find("a[@class='page']"))  # type: ignore[arg-type]  # each has one
        for link in body.iter("a"):
            if link.attrib.pop("aria-label", None) is not None:
                link.text = chapter_of[link.get("href", "")]
        for mention in body.iterfind(".//span[@class='mention']"):
            mention.tag, target = "a", mention.attrib.pop("data-figure")
            mention.attrib["href"], mention.text = target, f"Figure {figures[target]}"

    def _on_screen(self, element: Element) -> Element:
        """An element as a screen has it: a table and a picture in a region that scrolls."""
        if element.tag == "img" and element.get("class") != "logo":
            picture = self.given.pictures[by_hospital.named(element)]
            return _scrolling(self._drawn(picture), picture.title, element.tail)
        if element.tag == "table":
            after, element.tail = element.tail, None
            caption = element.find("caption")
            label = _title(caption)
            if caption is not None:
                # Held in sight while the table scrolls below it.
                # All that an element holds, in one that it may hold instead.
                held = Element("span")
                held.text, held[:] = caption.text, list(caption)
                caption[:], caption.text, caption.tail = [held], None, None
            return _scrolling(element, label, after)
        return element

    def _drawn(self, picture: Picture) -> Element:
        """A figure as a part of the page, whose letters are text in the page's own fonts."""
        svg = ElementTree.fromstring(picture.svg)
        for element in svg.iter():
            element.tag = element.tag.rpartition("}")[2]
            if element.tag not in DRAWN:
                raise ValueError(f"a figure holds an element {element.tag}")
            if of := element.attrib.pop("data-site", ""):
                # The panel of a class names it behind its hospital.
                own = [site for site in self.sites if of == site or of.startswith(f"{site}, ")]
                element.attrib |= {"data-site": max(own, key=len)} if own else {}
            for key, value in element.attrib.items():
                if key == "id":
                    element.attrib[key] = f"{picture.name}-{value}"
                elif key == "d":
                    element.attrib[key] = _stepwise(value)
                elif key in ("x", "y"):
                    element.attrib[key] = _tenths(round(float(value) * 10))
                elif value.startswith("url(#"):
                    element.attrib[key] = f"url(#{self.edition}-{picture.name}-{value.removeprefix('url(#')}"
        svg.attrib |= {"role": "img", "aria-label": picture.alternative}
        svg.attrib.pop("version", None)
        return svg

    def _settle(self, element: Element) -> None:
        """Give an element its place among those of the other editions, and its text without what only lines need."""
        element.text, element.tail = (text and plain(text) for text in (element.text, element.tail))
        if "style" in element.attrib:
            style = element.attrib.pop("style")
            if element.tag == "i":
                element.attrib["class"] += f" {self.looks.named(style)}"
        for key, value in element.attrib.items():
            if key == "id":
                element.attrib[key] = f"{self.edition}-{value}"
            elif key == "href" and value.startswith("#") and element.get("class") != "there":
                element.attrib[key] = f"#{self.edition}-{value.removeprefix('#')}"
            elif key in ("aria-label", "alt"):
                element.attrib[key] = plain(value)
        self._rename(element)

    def _rename(self, element: Element) -> None:
        """Call an element what it is on the screen."""
        element.tag = LOWER.get(element.tag, element.tag)
        if element.get("class") == "contents":
            element.tag = "nav"
            element.attrib["aria-label"] = f"Contents of the {compose.TITLE[self.edition].lower()}"
        elif element.get("class") == "heading":
            element.tag = "h3"
        elif element.tag == "th" and element.text == "Page":
            element.text = "Chapter"
        elif element.tag == "th" and not "".join(element.itertext()).strip():
            # A head without words heads nothing.
            element.tag = "td"
            del element.attrib["scope"]
        elif element.tag == "tr" and len(element):
            # Two rows beside each other, which have a head each, may be of two hospitals.
            labels = ["".join(each.itertext()) for each in dict.fromkeys((element[0], *element.iterfind("th")))]
            sites = {self._site(label) for label in labels if label.strip()}
            if len(sites) == 1 and (site := sites.pop()):
                element.attrib["data-site"] = site

    def _site(self, label: str) -> str | None:
        """The hospital that a row is of: by its name, more behind it, or by what is left of a shortened one.

        A name that is short for several hospitals, or for none, is of none: such a row never folds away.
        """
        said = plain(label).strip().rstrip(MARKS)
        left = re.compile(".*".join(re.escape(part.strip()) for part in said.split("…")))
        named = [site for site in self.sites if said == site or said.startswith(f"{site}, ")]
        found = [max(named, key=len)] if named else [site for site in self.sites if left.fullmatch(site)]
        return found[0] if len(found) == 1 else None


def _stepwise(path: str) -> str:
    """A path from point to point: steps have fewer digits than places on the sheet."""
    # Between places in whole tenths of a point, of which one is an eighth of a pixel: no error adds up.
    said, here, start = [], (0, 0), (0, 0)
    for letter, places in STROKE.findall(path):
        tenths = [round(float(place) * 10) for place in places.split()]
        points = list(zip(tenths[::2], tenths[1::2], strict=True))
        # The points of one curve are all told from where it begins.
        each = {"Q": 2, "C": 3}.get(letter, 1)
        steps = []
        for at in range(0, len(points), each):
            steps += [end - begin for point in points[at : at + each] for end, begin in zip(point, here, strict=True)]
            here = points[at + each - 1]
        start, here = (here, here) if letter == "M" else (start, start if letter == "Z" else here)
        said.append(letter.lower() + " ".join(map(_tenths, steps)).replace(" -", "-"))
    return "".join(said)


def _tenths(count: int) -> str:
    """So many tenths in as few letters as SVG reads."""
    whole, tenth = divmod(abs(count), 10)
    return f"{'-' if count < 0 else ''}{whole or ('' if tenth else 0)}{f'.{tenth}' if tenth else ''}"


def _title(caption: Element | None) -> str:
    """The sentence that a caption begins with, and its number."""
    if caption is None:
        return "Table"
    bold = ["".join(each.itertext()).strip() for each in caption.iterfind("b")]
    return " ".join(bold[:2] or ["".join(caption.itertext())]).strip()


def _scrolling(element: Element, label: str, after: str | None) -> Element:
    """An element in a region that scrolls by itself, also with the keys."""
    region = Element("div", {"class": "scroll", "role": "group", "tabindex": "0", "aria-label": label})
    region.append(element)
    region.tail = after
    return region
