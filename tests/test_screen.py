"""The file for the screen, read without a browser: what it loads, its build, and that it says what the PDF says."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pytest
import tinyhtml5

from dossier.core import contents, types
from dossier.core.bands import MANY_SITES
from dossier.core.material import styles
from dossier.core.types import Floats
from dossier.record import results
from dossier.report import by_hospital, compose, draw, screen
from dossier.typeset.numbers import plain
from dossier.typeset.words import of_curves
from tests.conftest import PDFS, Book

VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
LOADING = {"src", "srcset", "poster", "data", "background", "action", "formaction", "ping", "manifest", "xlink:href"}
"""Attributes by which an element asks for something."""
LARGEST = 2_000_000


class Read(HTMLParser):
    """The elements of a page in order, each with its attributes, its ancestors and its own place in the text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str], tuple[int, ...]]] = []
        self.spans: list[list[int]] = []
        self.text: list[str] = []
        self._open: list[int] = []
        self.feed(text)
        self.close()
        assert not self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), (tag, names)
        self.elements.append((tag, {name: value or "" for name, value in attrs}, tuple(self._open)))
        self.spans.append([len(self.text), len(self.text)])
        if tag not in VOID:
            self._open.append(len(self.elements) - 1)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in VOID:
            return
        index = self._open.pop()
        assert self.elements[index][0] == tag, f"</{tag}> closes <{self.elements[index][0]}>"
        self.spans[index][1] = len(self.text)

    def handle_data(self, data: str) -> None:
        self.text.append(data)

    def all(self, *tags: str) -> Iterator[tuple[int, dict[str, str]]]:
        """The elements of these names, each with its number."""
        return ((index, found[1]) for index, found in enumerate(self.elements) if found[0] in tags)

    def within(self, index: int) -> str:
        """The text of an element."""
        begin, end = self.spans[index]
        return "".join(self.text[begin:end])

    def above(self, index: int) -> list[tuple[str, dict[str, str]]]:
        """The elements around one, the nearest last."""
        return [self.elements[at][:2] for at in self.elements[index][2]]


@pytest.fixture(
    scope="module",
    params=[
        "breast",
        "protected",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("knee", "biopsy", "covid")),
    ],
)
def printed(request: pytest.FixtureRequest, books: dict[str, Book]) -> Book:
    """Each release, of which the quick tests look at one, and at it under a policy."""
    return request.getfixturevalue("protected") if request.param == "protected" else books[request.param]


@pytest.fixture(scope="module")
def read(printed: Book) -> Read:
    """Its file for the screen."""
    return Read(printed.screen)


# ---- what it may load -----------------------------------------------------------------------------------------------


def test_its_policy_names_the_one_style_sheet_and_the_one_script_and_nothing_else(read: Read) -> None:
    (policy,) = [each["content"] for _, each in read.all("meta") if each.get("http-equiv") == "Content-Security-Policy"]
    rules = dict(rule.strip().partition(" ")[::2] for rule in policy.split(";"))
    (style,), (script,) = ([read.within(index) for index, _ in read.all(tag)] for tag in ("style", "script"))
    assert rules == {
        "default-src": "'none'",
        "style-src": f"'sha256-{base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()}'",
        "script-src": f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'",
        "img-src": "data:",
        "font-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }


def test_it_asks_for_nothing(read: Read, printed: Book) -> None:
    for tag, attributes, _ in read.elements:
        assert tag not in {"link", "iframe", "object", "embed", "form", "base", "img", "image", "use", "foreignobject"}
        assert not LOADING & attributes.keys(), (tag, attributes)
        assert "style" not in attributes, (tag, attributes)
        assert not [name for name in attributes if name.startswith("on")], (tag, attributes)
        assert all(value.startswith("url(#") for value in attributes.values() if "url(" in value.replace(" ", ""))
    assert {link["href"].partition(":")[0] for _, link in read.all("a")} <= {"https"} | {
        link["href"] for _, link in read.all("a") if link["href"].startswith("#")
    }
    (style,) = [read.within(index) for index, _ in read.all("style")]
    assert "@import" not in style
    loaded = re.findall(r"url\(([^)]{0,30})", style)
    assert len(loaded) == 5
    assert {each[:22] for each in loaded} == {"data:font/woff;base64,"}


def test_it_is_small_and_the_same_whenever_it_is_written(printed: Book) -> None:
    assert len(printed.screen.encode()) <= LARGEST
    again = screen.page(printed.gallery, results.of(printed.evidence).text(), pdfs=PDFS)
    assert again.decode() == printed.screen


def test_it_says_which_files_are_the_record(read: Read, printed: Book) -> None:
    said = "".join(read.text)
    assert "The PDF is the record." in said
    held = [results.of(printed.evidence).text(), *PDFS.values()]
    assert all(hashlib.sha256(content).hexdigest() in said for content in held)


# ---- how it is built ------------------------------------------------------------------------------------------------


def test_every_name_is_one_and_every_reference_leads_somewhere(read: Read) -> None:
    names = [attributes["id"] for _, attributes, _ in read.elements if "id" in attributes]
    assert sorted(names) == sorted(set(names))
    for tag, attributes, _ in read.elements:
        wanted = [
            attributes[key]
            for key in ("for", "aria-labelledby", "aria-describedby", "aria-controls")
            if key in attributes
        ]
        wanted += re.findall(r"url\(#([^)]+)\)", " ".join(attributes.values()))
        wanted += [attributes["href"][1:]] if attributes.get("href", "").startswith("#") else []
        assert set(wanted) <= set(names), (tag, attributes)


def test_headings_go_down_one_step_at_a_time(read: Read) -> None:
    levels = [int(tag[1]) for tag, _, _ in read.elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert all(read.within(index).strip() for index, _ in read.all("h1", "h2", "h3", "h4"))


def test_it_has_a_language_a_title_landmarks_and_a_way_past_its_head(read: Read) -> None:
    assert next(read.all("html"))[1]["lang"] == "en"
    assert read.within(next(read.all("title"))[0]).startswith("External validation: ")
    assert len(list(read.all("main"))) == 1
    first = next(read.all("a"))[1]["href"]
    assert first == f"#{next(read.all('main'))[1]['id']}"
    labels = [each["aria-label"] for _, each in read.all("nav")]
    assert len(labels) == len(set(labels)) == 3


def test_tables_have_a_caption_heads_with_a_scope_and_a_region_that_keys_reach(read: Read) -> None:
    tables = list(read.all("table"))
    captions = [read.above(index)[-1] for index, _ in read.all("caption")]
    assert [tag for tag, _ in captions] == ["table"] * len(tables)
    assert all(each.get("scope") in {"col", "row", "colgroup", "rowgroup"} for _, each in read.all("th"))
    for index, _ in tables:
        tag, region = read.above(index)[-1]
        assert (tag, region["role"], region["tabindex"]) == ("div", "group", "0")
        assert region["aria-label"].strip()


def test_figures_have_the_alternative_texts_of_the_pages(read: Read, printed: Book) -> None:
    said = [each["aria-label"] for index, each in read.all("svg") if is_for(read, index, 0)]
    assert all(each["role"] == "img" for _, each in read.all("svg"))
    shown = [
        name
        for edition in contents.ON_SCREEN
        for name in re.findall(r'src="dossier:figures/(\w+)\.svg"', printed.document(edition).html)
    ]
    assert said == [plain(printed.gallery.pictures[name].alternative) for name in shown]
    assert not {"image", "script", "foreignobject"} & {tag for tag, _, _ in read.elements if tag != "script"}


def test_paths_lead_where_those_of_the_pages_lead(printed: Book) -> None:
    for picture in printed.gallery.pictures.values():
        for element in ElementTree.fromstring(picture.svg).iter("{http://www.w3.org/2000/svg}path"):
            (said, ours), (written, theirs) = (
                places_of(path) for path in (screen._stepwise(element.attrib["d"]), element.attrib["d"])
            )
            assert said == written
            # Half a tenth of a point, however many steps lead there.
            assert np.abs(ours - theirs).max() < 0.0501


def places_of(path: str) -> tuple[str, Floats]:
    """The letters of a path, and where each of its steps ends or bends on the sheet (SVG 1.1, chapter 8.3)."""
    places, start = [np.zeros(2)], np.zeros(2)
    parts = re.findall(r"([A-Za-z])([^A-Za-z]*)", path)
    for letter, numbers in parts:
        steps = np.array([float(each) for each in re.findall(r"-?(?:\d*\.\d+|\d+)", numbers)]).reshape(-1, 2)
        of_one = {"Q": 2, "C": 3}.get(letter.upper(), 1)
        for step in steps.reshape(-1, of_one, 2):
            places += list(step + places[-1] if letter.islower() else step)
        start = places[-1] if letter in "Mm" else start
        places += [start] if letter in "Zz" else []
    return "".join(letter.upper() for letter, _ in parts), np.array(places)


def test_words_can_be_read_on_what_is_behind_them() -> None:
    sheet = (styles() / "screen.css").read_text()
    # Light, dark, and on paper.
    for rule in re.findall(r":root \{([^}]*)\}", sheet):
        colours = dict(re.findall(r"--([\w-]+): (#\w{6})", rule))
        for word in ("ink", "ink2", "blue", "alert"):
            assert contrast(colours[word], colours["page"]) >= 4.5, (word, colours)
        assert contrast(colours["alert"], colours["alert-tint"]) >= 4.5
        assert contrast(colours["blue"], colours["page"]) >= 3
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.01)  # the example of WCAG 2


def contrast(first: str, other: str) -> float:
    """The ratio of WCAG 2 between two colours."""

    def luminance(colour: str) -> float:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    low, high = sorted([luminance(first), luminance(other)])
    return (high + 0.05) / (low + 0.05)


def test_what_stands_behind_a_number_is_what_the_file_of_results_holds(read: Read, printed: Book) -> None:
    held = {
        (
            row["measure"],
            row["dataset"],
            *(f"{name}={value}" for name, value in row["at"].items()),
            *(() if row["subset"] is None else (f"{row['subset']['column']}={row['subset']['level']}",)),
        ): row
        for row in printed.results["estimates"]
    }
    said = [each for _, each in read.all("td") if "data-key" in each]
    assert said
    for each in said:
        measure, _, rest = each["data-key"].partition("@")
        known = [row for key, row in held.items() if f"{key[0]}@{' '.join(key[1:])}" == f"{measure}@{rest}"]
        assert len(known) == 1, each
        n = known[0]["n"]
        assert (f"n {n:,}" if isinstance(n, int) else f"n {n['lo']:,}–{n['hi']:,}") in each["data-more"]


def test_shares_of_the_committee_and_numbers_of_the_questions_say_what_stands_behind_them(read: Read) -> None:
    """But for counts and what is read off a curve; of questions most do, for some are of no number."""
    of_hospitals = [index for index, each in read.all("table") if "table-hospitals" in each.get("id", "")]
    cells = [
        each
        for index, each in read.all("td")
        if each.get("class") == "value" and set(read.elements[index][2]) & set(of_hospitals)
    ]
    assert of_hospitals
    assert all("data-key" in each for each in cells)
    (cover,) = [index for index, each in read.all("section") if each.get("id") == "regulatory-chapter-cover"]
    keys = [each for index, each in read.all("td") if cover in read.elements[index][2] and "data-key" in each]
    rows = [index for index, _ in read.all("tr") if cover in read.elements[index][2]]
    assert 2 * len(keys) >= len(rows) - 1


@pytest.mark.parametrize(
    ("label", "site"),
    [
        ("North", "North"),
        ("North †§", "North"),
        ("North, AUROC", "North"),
        ("Saint Mary's…", None),
        ("Saint… East", "Saint Mary's East"),
        ("Saint Mary's W…", "Saint Mary's West"),
        ("Over all", None),
        ("…", None),
        ("Nor", None),
    ],
)
def test_a_row_is_of_the_hospital_that_it_names_and_of_no_other(label: str, site: str | None) -> None:
    sites = ["North", "Saint Mary's East", "Saint Mary's West"]
    rows = f"<html><body><table><tr><th>{label}</th><td>1</td></tr></table></body></html>"
    given = by_hospital.Edition(by_hospital.parsed(rows), {})
    (row,) = [each for _, each in Read(screen._Part("committee", given, sites, screen.Looks()).content()).all("tr")]
    assert row.get("data-site") == site


@pytest.mark.parametrize(("beside", "site"), [("", "North"), ("North", "North"), ("South", None), ("Over all", None)])
def test_rows_beside_each_other_fold_away_where_both_are_of_one_hospital(beside: str, site: str | None) -> None:
    pair = f"<tr><th>North</th><td>1</td><th scope='row'>{beside}</th><td>2</td></tr>"
    rows = f"<html><body><table>{pair}</table></body></html>"
    given = by_hospital.Edition(by_hospital.parsed(rows), {})
    part = screen._Part("committee", given, ["North", "South"], screen.Looks())
    (row,) = [each for _, each in Read(part.content()).all("tr")]
    assert row.get("data-site") == site


@pytest.mark.parametrize("edition", contents.ON_SCREEN)
def test_pages_are_read_as_a_browser_reads_them(printed: Book, edition: contents.Edition) -> None:
    html = printed.document(edition).html
    ours, theirs = by_hospital.parsed(html), tinyhtml5.parse(html, namespace_html_elements=False).find("body")
    read, known = ([ElementTree.tostring(each).strip() for each in body] for body in (ours, theirs))
    assert read == known


# ---- that it says what the PDF says ---------------------------------------------------------------------------------

PLACES = re.compile(r"\b(?:p\.|pages?|chapters?)(?=\W|$)|\bcover of the core\b|\bcore 1(?=\W|$)", re.IGNORECASE)
"""What a page calls by its number and the screen by its chapter."""


def words_of(read: Read, index: int) -> list[str]:
    """The words of an element without the numbers that a page counts, and those of places."""
    begin, end = read.spans[index]
    text = list(read.text)
    for at, each in read.all("a", "b"):
        within = read.within(at)
        counted = read.elements[at][0] == "b" and re.fullmatch(r"(?:Table|Figure) \d+\. ", within)
        named = each.get("href", "").startswith("#") and re.fullmatch(r"S?\d+|Figure \d+", within)
        if counted or named:
            text[read.spans[at][0] : read.spans[at][1]] = [""] * (read.spans[at][1] - read.spans[at][0])
    return PLACES.sub(" ", plain(" ".join(text[begin:end])).replace("core p. 1", "")).split()


@pytest.mark.parametrize("edition", contents.ON_SCREEN)
def test_each_chapter_says_what_it_says_in_the_pdf(read: Read, printed: Book, edition: contents.Edition) -> None:
    page = Read(printed.document(edition).html)
    chapters = {each["id"]: at for at, each in page.all("section") if each.get("id", "").startswith("chapter-")}
    here = {each["id"]: at for at, each in read.all("section") if each.get("id", "").startswith(f"{edition}-chapter-")}
    assert list(here) == [f"{edition}-{name}" for name in chapters]
    for name, at in chapters.items():
        # A section has its figures as pictures on the page, and as text on the screen.
        shown = words_of(without_figures(read, here[f"{edition}-{name}"]), here[f"{edition}-{name}"])
        assert shown == words_of(page, at), name
    if edition == "committee":
        body, part = (
            next(page.all("body"))[0],
            next(at for at, each in read.all("section") if each.get("id") == edition),
        )
        # The title of the part stands before it.
        assert words_of(without_figures(only_for(read, 0), part), part)[2:] == words_of(page, body)


def test_the_committee_edition_of_each_hospital_says_what_its_pdf_says(printed: Book) -> None:
    names = by_hospital.whose(printed.gallery)
    assert len(names) > 2
    for at, gallery in enumerate(draw.at_hospitals(printed.gallery, names)):
        page, read = Read(compose.document(gallery, "committee").html), Read(printed.screen)
        body, part = next(page.all("body"))[0], next(i for i, each in read.all("section") if each["id"] == "committee")
        assert words_of(without_figures(only_for(read, at), part), part)[2:] == words_of(page, body), names[at]
        alternatives = [each["aria-label"] for index, each in read.all("svg") if is_for(read, index, at)]
        shown = re.findall(r'src="dossier:figures/(\w+)\.svg"', compose.document(gallery, "committee").html)
        assert alternatives[: len(shown)] == [plain(gallery.pictures[name].alternative) for name in shown]


def test_what_is_for_others_is_hidden_until_they_are_chosen(read: Read, printed: Book) -> None:
    marked = [(index, attributes) for index, (_, attributes, _) in enumerate(read.elements) if "data-for" in attributes]
    assert {int(at) for _, each in marked for at in each["data-for"].split()} == set(
        range(len(by_hospital.whose(printed.gallery)))
    )
    hidden = [each for _, each, _ in read.elements if "hidden" in each and each.get("id") not in {"tools", "more"}]
    assert hidden == [each for _, each in marked if "0" not in each["data-for"].split()]


def test_of_one_hospital_and_of_very_many_it_holds_the_edition_that_was_asked_for(breast: Book) -> None:
    (first, *_) = (each for each in breast.evidence.datasets if each.role == "external")
    for count, expected in ((1, 1), (2, 3), (MANY_SITES - 1, MANY_SITES), (MANY_SITES, 1)):
        sites = tuple(dataclasses.replace(first, name=f"site-{at}") for at in range(count))
        evidence = dataclasses.replace(breast.evidence, datasets=sites, local_site="site-0")
        assert len(names := by_hospital.whose(types.Gallery(evidence, {}, {}))) == expected
        assert "site-0" in names


def is_for(read: Read, index: int, at: int) -> bool:
    """Whether an element is shown to the hospital of that place, of which 0 is none."""
    around = [*read.above(index), read.elements[index][:2]]
    return all(str(at) in each.get("data-for", str(at)).split() for _, each in around)


def only_for(read: Read, at: int) -> Read:
    """The page with what is not for a hospital blotted out."""
    for index, (_, attributes, _) in enumerate(read.elements):
        if "data-for" in attributes and not is_for(read, index, at):
            begin, end = read.spans[index]
            read.text[begin:end] = [" "] * (end - begin)
    return read


def test_what_a_figure_draws_of_single_hospitals_follows_the_one_that_is_chosen(read: Read, printed: Book) -> None:
    sites = {each["site"] for each in printed.results["datasets"] if each["role"] == "external"}
    for at, _ in read.all("svg"):
        own = {index for index, (*_, around) in enumerate(read.elements) if at in around}
        said = [read.within(index) for index, _ in read.all("text") if index in own]
        # The panel of a class names it behind its hospital.
        named = {site for site in sites if any(text == site or text.startswith(f"{site}, ") for text in said)}
        followed = {each["data-site"] for index, each in read.all("g") if index in own and "data-site" in each}
        assert len(named) < 2 or named <= followed, (read.above(at), named - followed)


def test_the_values_of_a_figure_are_those_of_the_file_of_results(printed: Book) -> None:
    read = Read(printed.screen)
    external = [each for each in printed.results["datasets"] if each["role"] == "external"]
    counted = [each for each in external if isinstance(each["n"], int) and each["events"]]
    few = {each["site"] for each in counted if min(each["events"], each["n"] - each["events"]) < 20}
    held: dict[str, dict[str, list[float]]] = {}
    for each in printed.results["curves"]:
        if each["status"] == "estimated" and "model" not in each["at"]:
            known = [value for column in each["columns"].values() for value in column if value is not None]
            held.setdefault(each["curve"], {}).setdefault(each["dataset"], []).extend(known)
    below = {at for at, each in read.all("details") if each.get("class") == "values"}
    tables = [(at, each["id"]) for at, each in read.all("div") if below & {*read.elements[at][2]} and "id" in each]
    curves = [(at, name.partition("-table-")[2].replace("-", "_")) for at, name in tables]
    # Those of the committee stand in blocks of a hospital, which have a number.
    curves = [(at, re.sub(r"_\d+$", "", name)) for at, name in curves]
    assert {name for _, name in curves} >= {"calibration_curve", "roc", "decision_curve"} & held.keys()
    for index, curve in curves:
        if curve not in held:
            continue
        own, site = {at for at, (*_, around) in enumerate(read.elements) if index in around}, ""
        for at, each in read.all("th", "td"):
            if at not in own or each.get("scope") == "col":
                continue
            said = read.within(at)
            if each.get("scope") == "rowgroup":
                site = next((of["name"] for of in external if said.split(", ")[0] == of["site"]), types.READER_STUDY)
                # The bins of few patients are drawn nowhere.
                assert curve not in of_curves("ridges") or said not in few
            elif number := re.fullmatch(r"−?[\d,]*\.?\d+", said):
                value = float(number[0].replace("−", "-").replace(",", ""))
                assert any(abs(value - each) <= 0.00051 for each in held[curve][site]), (curve, site, said)


def test_under_a_policy_it_is_made_of_nothing_but_the_file_of_results(protected: Book) -> None:
    """Who attacks it has what an attacker of results.json has: with the rows at hand it is the same to the byte."""
    text = results.of(protected.evidence).text()
    assert screen.page(draw.gallery(protected.evaluated), text, pdfs=PDFS).decode() == protected.screen


def test_no_count_of_fewer_than_five_patients_stands_below_a_figure(printed: Book) -> None:
    read = Read(printed.screen)
    for index, table in read.all("div"):
        if re.search("confusion_by_site-table|over_time-table", table.get("id", "")):
            own = {at for at, (*_, around) in enumerate(read.elements) if index in around}
            counts = [read.within(at) for at, each in read.all("td") if at in own and each.get("class") == "plain"]
            assert all(int(each.replace(",", "")) in {0, *range(5, 10**6)} for each in counts), counts


def test_every_figure_has_its_values_below_it_or_says_where_they_stand(printed: Book) -> None:
    read = Read(printed.screen)
    by_text = {plain(each.alternative): name for name, each in printed.gallery.pictures.items()}
    figures = [(at, by_text.get(each["aria-label"], "")) for at, each in read.all("svg")]
    for (at, name), (after, _) in zip(figures, [*figures[1:], (len(read.elements), "")], strict=True):
        below = [each for each in range(at, after) if "values" in read.elements[each][1].get("class", "").split()]
        said = [each for each in below if len(read.within(each).split()) > 5]
        # The two of the formula stand one below the other, above one note.
        assert said or name == "nomogram", name


def without_figures(read: Read, index: int) -> Read:
    """The page with the letters of its figures blotted out, and the tables of their values."""
    for at, each in read.all("svg", "details", "p"):
        if read.elements[at][0] != "svg" and "values" not in each.get("class", "").split():
            continue
        begin, end = read.spans[at]
        read.text[begin:end] = [" "] * (end - begin)
    return read
