"""The words of both editions: nothing declared is taken for markup, no name goes unknown, and the HTML is in order."""

from __future__ import annotations

import dataclasses
import itertools
import math
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jinja2
import pytest

from dossier.core import material
from dossier.core.contents import ON_PAPER, SUBMITTED, Edition
from dossier.core.errors import PageError
from dossier.core.types import Estimate, Evidence, Gallery
from dossier.record import results
from dossier.report import compose, draw, press
from dossier.report.chapters.chapter import chapters
from dossier.report.figures.committee import committee_thousand
from dossier.typeset import numbers
from dossier.typeset.methods import method_text
from tests.conftest import Book, by_hand, tool
from tests.estimated import present
from tests.figures.evidence import Case

# ---- reading HTML ---------------------------------------------------------------------------------------------------


@dataclasses.dataclass
class Element:
    """An element of a page with what is in it."""

    tag: str
    attributes: dict[str, str]
    children: list[Element | str] = dataclasses.field(default_factory=list)

    def all(self, *tags: str) -> Iterator[Element]:
        """Every element below of these tags, in the order of the page."""
        for child in self.children:
            if isinstance(child, Element):
                if not tags or child.tag in tags:
                    yield child
                yield from child.all(*tags)

    @property
    def text(self) -> str:
        """What one reads, on one line."""
        return " ".join("".join(self._texts()).split())

    def _texts(self) -> Iterator[str]:
        for child in self.children:
            yield child if isinstance(child, str) else child.text + " "


def element(read: ElementTree.Element) -> Element:
    """An element of XML with what is in it."""
    children: list[Element | str] = [read.text or ""]
    for child in read:
        children += [element(child), child.tail or ""]
    return Element(read.tag, dict(read.attrib), children)


def tree(html: str) -> Element:
    """The page, or a part of one, as elements."""
    return element(ElementTree.fromstring(f"<all>{html.removeprefix('<!DOCTYPE html>')}</all>"))


@pytest.fixture(scope="module", params=ON_PAPER)
def page(request: pytest.FixtureRequest, book: Book) -> Element:
    """Each edition of each release."""
    edition: Edition = request.param
    return tree(book.html(edition))


# ---- in order -------------------------------------------------------------------------------------------------------


def test_the_page_says_its_language_and_title(page: Element, book: Book) -> None:
    (html,) = page.all("html")
    (title,) = page.all("title")
    assert html.attributes["lang"] == "en"
    assert book.evidence.release.release.model in title.text


def test_each_chapter_has_one_heading_of_the_first_level(page: Element) -> None:
    sections = [
        element for element in page.all("section") if "chapter" in (element.attributes.get("class") or "").split()
    ]
    for section in sections:
        assert len(list(section.all("h1"))) == 1, section.attributes["id"]
    # The committee's pages are no chapters: each has its own title.
    pages = len(list(page.all("section")))
    assert len(list(page.all("h1"))) == (len(sections) or pages)


def test_an_apostrophe_and_a_share_have_one_form(book: Book) -> None:
    results = (*book.evidence.results, *book.evidence.subgroups.results)
    methods = {method_text(result.found.method) for result in results if isinstance(result.found, Estimate)}
    terms = {text for term in book.evidence.terms.values() for text in (term.label, term.sentence, term.formula)}
    assert methods
    assert not [text for text in methods | terms if re.search(r"\d %", text)]
    assert not re.search("[\u2019\u02bc]", compose.document(book.gallery, "regulatory").html)


def test_no_level_of_headings_is_skipped(page: Element) -> None:
    levels = [int(element.tag[1]) for element in page.all("h1", "h2", "h3", "h4", "h5", "h6")]
    assert levels[0] == 1
    for before, after in itertools.pairwise(levels):
        assert after <= before + 1


def test_no_heading_and_no_cell_of_a_heading_is_empty(page: Element) -> None:
    for element in page.all("h1", "h2", "h3", "th", "caption", "figcaption", "dt", "dd"):
        assert element.text, element


def test_every_image_has_a_text_in_its_place(page: Element) -> None:
    for image in page.all("img"):
        alternative = image.attributes.get("alt") or ""
        assert len(alternative) > 20, image.attributes
        assert alternative.rstrip().endswith("."), alternative


def test_every_header_cell_says_what_it_heads(page: Element) -> None:
    for cell in page.all("th"):
        assert cell.attributes.get("scope") in ("col", "row", "rowgroup", "colgroup"), cell.text


def test_every_table_opens_with_its_caption(page: Element) -> None:
    for table in page.all("table"):
        first = next(child for child in table.children if isinstance(child, Element))
        assert first.tag == "caption", table.text[:80]
        assert first.text


def test_every_row_of_a_table_is_as_wide_as_its_head(page: Element) -> None:
    for table in page.all("table"):
        widths = {
            sum(int(cell.attributes.get("colspan") or 1) for cell in row.all("th", "td")) for row in table.all("tr")
        }
        assert len(widths) == 1, (widths, table.text[:80])


def test_ids_are_unique_and_every_link_has_its_place(page: Element) -> None:
    names = Counter(element.attributes["id"] for element in page.all() if "id" in element.attributes)
    assert [name for name, count in names.items() if count > 1] == []
    links = [element.attributes.get("href") or "" for element in page.all("a")]
    inside = [link[1:] for link in links if link.startswith("#")]
    assert [link for link in inside if link not in names] == []
    assert all(name and re.fullmatch(r"[A-Za-z][\w.-]*", name) for name in names)


def test_the_page_asks_for_nothing_from_outside(page: Element) -> None:
    for element in page.all():
        for name in ("src", "srcset", "data", "action"):
            address = element.attributes.get(name)
            assert address is None or address.startswith("dossier:"), address
        assert element.tag not in ("script", "iframe", "object", "embed", "form", "link")


def test_the_key_results_of_the_supplement_open_as_page_1_does(book: Book) -> None:
    opening = r'.*?<p class="finding"><b>(.*?)</b>\s*(?:</p>\s*<p>)?(.*?)</p>'
    page_1, key_results = (
        next(re.finditer(f'id="chapter-{name}"{opening}', html, re.DOTALL)).groups()
        for html, name in ((book.html("regulatory"), "cover"), (book.html("supplement"), "results"))
    )
    assert page_1[0] == key_results[0]
    assert page_1[1].strip() in key_results[1]


def test_a_chapter_of_the_core_and_its_contents_name_where_the_supplement_goes_on(book: Book) -> None:
    core, supplement = book.html("regulatory"), book.html("supplement")
    head = r'id="chapter-(\w+)">\s*<header>\s*<h1><span class="no">(S\d+)</span> ([^<]+)</h1>\s*</header>\s*'
    goes_on = re.findall(head + r'<p class="finding"><b>Continued from', supplement)
    assert len(goes_on) > 3
    for name, number, title in goes_on:
        opening = core.split(f'id="chapter-{name}"')[1].split("</header>")[0]
        assert f"Continued in {number}<" in opening
        assert f"{number} {title};" in core.split("In the supplement")[1]


def test_every_chapter_that_has_something_to_say_is_there_and_every_other_is_named(book: Book) -> None:
    for edition in SUBMITTED:
        page = tree(book.html(edition))
        there = {(element.attributes.get("id") or "").removeprefix("chapter-") for element in page.all("section")}
        (contents,) = (element for element in page.all("section") if element.attributes.get("id") == "contents")
        for chapter in chapters():
            if [edition] != [e for e in SUBMITTED if e in chapter.editions][:1] or chapter.name in there:
                continue
            assert f"{chapter.title}. {chapter.fill}" in contents.text
            assert chapter.fill, f"{chapter.name} may stay away, and nothing says what would fill it"


# ---- what was declared is printed as it stands ----------------------------------------------------------------------

HOSTILE = (
    "<b>bold</b><script>alert(1)</script>",
    "{{ 7*7 }}{% for x in y %}",
    "</style><style>* { display: none }",
    "![picture](http://example.org/x.png)",
    '"><img src=x onerror=alert(1)>',
    r"\textbf{x} $x^2$ \input{/etc/passwd}",
    "&lt;b&gt; &amp; &copy;",
    "100 % # ~ ` ' \" ; -- /* */",
)


def hostile(text: str) -> Gallery:
    """A gallery in which everything that may be declared holds this text."""
    evidence = by_hand(Case("hostile", (f"Site {text}", "Spain")))
    release = evidence.release
    release = release.model_copy(
        update={
            "release": release.release.model_copy(
                update={"model": text, "version": text, "owner": text, "tester": text}
            ),
            "outcome": release.outcome.model_copy(update={"name": text, "horizon": text}),
            "thresholds": release.thresholds.model_copy(update={"rationale": text}),
        }
    )
    statements = {"3b": text, "26": text}
    return Gallery(dataclasses.replace(evidence, release=release, statements=statements), {}, {})


@pytest.mark.parametrize("edition", ON_PAPER)
@pytest.mark.parametrize("text", HOSTILE)
def test_names_are_printed_as_they_are(text: str, edition: Edition) -> None:
    page = tree(numbers.plain(compose.document(hostile(text), edition).html))
    squeezed = " ".join(text.split())
    (title,) = page.all("title")
    assert squeezed in title.text
    seen = page.text
    if edition != "committee":
        assert seen.count(squeezed) >= 6
        assert f"Site {squeezed}" in seen
    else:
        assert f"Owner: {squeezed}." in seen
        # Of a long name a row has both ends.
        assert f"Site {squeezed}"[:18].rstrip() in seen
    assert "49" not in title.text
    assert not list(page.all("script", "style", "img"))
    (body,) = page.all("body")
    assert squeezed in " ".join((body.attributes["data-model"] or "").split())


def test_hostile_names_pass_the_press(tmp_path: Path) -> None:
    path = tmp_path / "hostile.pdf"
    path.write_bytes(press.pdf(compose.document(hostile(HOSTILE[0]), "committee")))
    seen = " ".join(tool("pdftotext", path, "-").split())
    assert "<script>alert(1)</script>" in seen.replace(" ", "")


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("<b>x</b>", "<b>x</b>"),
        ("{{ 7*7 }}", "{{ 7*7 }}"),
        ("a <script>alert(1)</script>", "a <script>alert(1)</script>"),
        ("# Not a heading", "# Not a heading"),
        (r"$x^2$ \frac{1}{2}", r"$x^2$ \frac{1}{2}"),
    ],
)
def test_a_statement_is_markdown_without_html(text: str, printed: str) -> None:
    html = tree(str(compose.markdown(text, "Dates")))
    assert html.text == printed
    assert {element.tag for element in html.all()} == {"p"}


def test_a_statement_shows_no_picture() -> None:
    html = tree(str(compose.markdown("![a picture](http://example.org/x.png)", "Dates")))
    assert not list(html.all("img")) + list(html.all("a"))
    assert "a picture" in html.text


def test_a_statement_runs_no_script_through_a_link() -> None:
    links = "[x](javascript:alert(1)) [y](file:///etc/passwd) [z](data:text/html;x) [p](#page)"
    assert not list(tree(str(compose.markdown(links, "Dates"))).all("a"))


def test_a_statement_may_have_lists_tables_and_emphasis() -> None:
    html = tree(str(compose.markdown("*a* **b**\n\n- c\n\n| d | e |\n|---|---|\n| 1 | 2 |", "Dates")))
    assert {"em", "strong", "ul", "li", "table", "th", "td"} <= {element.tag for element in html.all()}
    assert all(cell.attributes.get("scope") == "col" for cell in html.all("th"))


def test_a_table_that_was_declared_keeps_its_columns_to_the_right() -> None:
    html = tree(str(compose.markdown("| d | e |\n|---|---:|\n| 1 | 2 |", "Dates")))
    assert "Dates, as declared." in str(compose.markdown("| d |\n|---|\n| 1 |", "Dates"))
    assert [cell.attributes.get("style") for cell in html.all("td")] == [None, "text-align:right"]


# ---- names that nobody gave -----------------------------------------------------------------------------------------


@pytest.fixture
def rewritten(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """A template in other words, for this test only."""

    def rewrite(text: str) -> Gallery:
        folder = tmp_path / "templates"
        folder.mkdir()
        for path in material.templates().glob("*.html"):
            (folder / path.name).write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
        (folder / "limitations.html").write_text(text, encoding="utf-8")
        monkeypatch.setattr(material, "templates", lambda: folder)
        return Gallery(by_hand(Case("one", ("Desio, Italy",))), {}, {})

    return rewrite


def test_a_rewritten_template_is_used(rewritten: Any) -> None:
    assert "nothing but this" in compose.document(rewritten("nothing but this"), "regulatory").html


@pytest.mark.parametrize(
    "text", ["{{ unknown }}", "{{ evidence.unknown }}", "{{ say.unknown(1) }}", "{{ ask.unknown }}"]
)
def test_a_name_that_nobody_gave_is_an_error(rewritten: Any, text: str) -> None:
    gallery = rewritten(text)
    with pytest.raises((jinja2.UndefinedError, AttributeError)):
        compose.document(gallery, "regulatory")


def test_a_misspelt_figure_is_an_error(rewritten: Any) -> None:
    gallery = rewritten('{{ parts.figure("roc_by_sites") }}')
    with pytest.raises(PageError, match="roc_by_sites"):
        compose.document(gallery, "regulatory")


def test_a_figure_that_the_evidence_does_not_allow_leaves_no_trace(rewritten: Any) -> None:
    html = compose.document(rewritten('{{ parts.figure("roc_by_site") }}'), "regulatory").html
    assert "figure-roc_by_site" not in html


@pytest.mark.parametrize("edition", [*ON_PAPER, "quick"])
def test_every_edition_stands_up_to_evidence_without_a_number(edition: Edition) -> None:
    gallery = draw.gallery(by_hand(Case("absent", ("Italy 1", "Spain", "Ethiopia")), absent=True))
    page = tree(compose.document(gallery, edition).html)
    assert not re.search(r"\b(nan|None(?! of )|Absent\()\b", page.text)


# ---- both editions say the same -------------------------------------------------------------------------------------


def rows(page: Element, table: str) -> dict[str, list[str]]:
    """The rows of a table by their label."""
    (found,) = (element for element in page.all("div") if element.attributes.get("id") == table)
    return {
        next(row.all("th")).text: [cell.text for cell in row.all("td")]
        for body in found.all("tbody")
        for row in body.all("tr")
    }


def plain(evidence: Evidence, measure: str, site: str, **at: float) -> dict[str, Any]:
    """A result as results.json holds it."""
    (row,) = (
        result
        for result in results.of(evidence).estimates
        if (result.measure, result.dataset, result.at, result.subset) == (measure, site, at, None)
    )
    return row.model_dump()


def of_hundred(bound: float, outwards: int, is_ratio: bool) -> str:
    """A bound out of a hundred; one that only rounding puts on 100 is the next whole number outwards (-1 down, 1 up); a
    ratio has more digits where that is 100 too, a share that rounding puts on 0 goes outwards as well."""
    if not is_ratio and 0 < bound < 1 and f"{100 * bound:.0f}" in ("0", "100"):
        return str(math.ceil(100 * bound) if outwards > 0 else math.floor(100 * bound))
    if f"{100 * bound:.0f}" == "100" and bound != 1 and (outwards < 0) == (bound < 1):
        return str(100 + outwards)
    return next(
        text for digits in range(7) if (text := f"{100 * bound:.{digits}f}") and (float(text) != 100 or bound == 1)
    )


def test_both_editions_print_the_numbers_of_the_same_evidence(any_book: Book) -> None:
    evidence = any_book.evidence
    regulatory = any_book.html("regulatory")
    performance = {} if evidence.release.outcome.classes else rows(tree(regulatory), "table-performance")
    told = rows(tree(any_book.html("committee")), "table-by-site")
    by_site = {name.removesuffix(" ¶"): cells for name, cells in told.items()}
    threshold = evidence.release.thresholds.declared[0]
    externals = [site for site in evidence.datasets if site.role == "external"]
    assert set(by_site) == {site.site for site in externals}
    for site in externals:
        cells = by_site[site.site]
        if site.class_counts:
            assert cells[0] == f"{site.n:,}"
            assert f"{site.site} ({site.n:,})" in regulatory.replace("&nbsp;", " ")
            continue
        printed = performance[site.site]
        assert cells[:2] == printed[:2] == [f"{site.n:,}", f"{site.events:,}"]
        asked: tuple[tuple[str, int, dict[str, float]], ...] = (
            ("auroc", 2, {}),
            ("oe_ratio", 4, {}),
            ("sensitivity", 6, {"threshold": threshold}),
        )
        for measure, position, at in asked:
            found = plain(evidence, measure, site.name, **at)
            assert cells[position] == f"{100 * found['value']:.0f}", (site.site, measure)
            is_ratio = measure == "oe_ratio"
            ends = [of_hundred(found["low"], -1, is_ratio), of_hundred(found["high"], 1, is_ratio)]
            assert cells[position + 1] == "–".join(ends), (site.site, measure)
        for measure, position in (("auroc", 2), ("oe_ratio", 4)):
            digits = max(2, len(printed[position].partition(".")[2]))
            assert printed[position] == f"{plain(evidence, measure, site.name)['value']:.{digits}f}"


def test_the_squares_of_the_committee_are_the_rates_of_the_regulator(any_book: Book) -> None:
    """In 1,000 patients of our hospital, found and missed are its cases, counted at the primary threshold."""
    evidence = any_book.evidence
    if evidence.release.outcome.classes:
        pytest.skip("several classes are counted in words: tests/test_classes.py")
    at = evidence.release.thresholds.declared[0]
    for site in evidence.datasets:
        if site.role != "external" or site.events is None or site.left:
            continue
        picture = present(committee_thousand(dataclasses.replace(evidence, local_site=site.name)))
        said = re.search(
            r"patients (\d+) have the outcome: (\d+) are flagged and (\d+) missed; "
            r"of the others (\d+) are flagged in error and (\d+) are not",
            picture.alternative,
        )
        cases, caught, missed, false, spared = (int(text) for text in present(said).groups())
        assert caught + missed == cases
        assert cases + false + spared == 1000
        hits = site.events * plain(evidence, "sensitivity", site.name, threshold=at)["value"]
        alarms = (site.n - site.events) * (1 - plain(evidence, "specificity", site.name, threshold=at)["value"])
        for printed, rate in ((cases, site.events), (caught, hits), (false, alarms)):
            assert abs(printed - 1000 * rate / site.n) < 1


def test_an_edition_and_its_results_name_each_other(book: Book) -> None:
    first, supplement, other = (book.document(edition) for edition in ON_PAPER)
    assert len({first.identifier, supplement.identifier, other.identifier}) == 3
    assert first.attachments == supplement.attachments == ()
    assert [attachment.content for attachment in other.attachments] == [results.of(book.evidence).text()]
