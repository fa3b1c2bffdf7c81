"""Every word has its room on the page: names of any length, up to twenty thresholds, every edition, both papers."""

from __future__ import annotations

import dataclasses
import re
from functools import cache
from itertools import product
from typing import Any, get_args

import numpy as np
import pandas
import pytest
from weasyprint.text.fonts import FontConfiguration

import dossier
from dossier.core import statements
from dossier.core.command import Page
from dossier.core.contents import ON_PAPER, Edition
from dossier.core.errors import PageError
from dossier.core.types import Document, Evidence, Gallery
from dossier.report import compose, draw, press
from dossier.typeset import labels
from dossier.typeset.numbers import plain
from tests.test_press import sample, sheet

LETTERS = (5, 22, 40, 90)
THRESHOLDS = (1, 5, 20)
ONE_WORD = "kreiskrankenhausverwaltungsgesellschaftszentralgebäude"
WORDS = "University Hospital of the Holy Cross and Saint Bartholomew in Marlborough North Trust"


@cache
def evidence(thresholds: int, hospitals: int = 2) -> Evidence:
    """Hospitals with 300 patients together at so many thresholds, with a rival and a subgroup."""
    rng = np.random.default_rng(34)
    risk = rng.uniform(0.02, 0.9, 300)
    rows = {"y": rng.binomial(1, risk), "p": risk.round(3), "q": rng.uniform(0, 1, 300).round(3)}
    rows |= {
        "site": np.repeat(["first", "second", "third"][:hospitals], 300 // hospitals),
        "sex": np.tile(["woman", "man"], 150),
    }
    levels = np.linspace(0.05, 0.8, thresholds).round(3).tolist()
    given: dict[str, Any] = {"thresholds": levels, "rival": {"another": "q"}, "subgroups": ["sex"]}
    resampling = {"bootstrap": 200, "permutations": 200}
    return dossier.validate(
        pandas.DataFrame(rows), outcome="y", risk="p", site="site", **given, resampling=resampling
    ).evidence


def named(found: Evidence, letters: int, words: bool) -> Evidence:
    """The evidence with sites whose names have so many letters and differ in the last."""
    text = (WORDS if words else ONE_WORD) * 3
    names = [f"{text[: letters - 2].strip()}{' ' if words else 'x'}{end}" for end in "ABC"]
    sites = zip(found.datasets, names, strict=False)
    return dataclasses.replace(found, datasets=tuple(dataclasses.replace(site, site=name) for site, name in sites))


def refused(document: Document) -> list[str]:
    """The words for which the laid out pages have no room, page by page."""
    try:
        press._refuse_words_without_room(document, press._rendered(document, FontConfiguration()).pages)
    except PageError as error:
        return [f"{fault['page']}: {fault['words']}" for fault in error.faults]
    return []


AT_EVERY_PUSH = {
    (90, True, 20, "regulatory", "letter"),
    (40, False, 5, "regulatory", "a4"),
    (90, False, 20, "committee", "letter"),
    (22, True, 5, "committee", "a4"),
    (90, True, 1, "quick", "a4"),
}
ALL = list(product(LETTERS, (True, False), THRESHOLDS, (*ON_PAPER, "quick"), get_args(Page)))
PAGES = [pytest.param(*each, marks=[] if each in AT_EVERY_PUSH else pytest.mark.slow) for each in ALL]


@pytest.mark.parametrize(("letters", "words", "thresholds", "edition", "page"), PAGES)
def test_every_word_has_its_room(letters: int, words: bool, thresholds: int, edition: Edition, page: Page) -> None:
    found = named(evidence(thresholds), letters, words)
    assert refused(compose.document(Gallery(found, {}, {}), edition, page)) == []


LONG = {"no syllable": "W" * 400, "syllables": "Vorhersage" * 40, "hyphens": "H-ab-" * 80, "versions": "1.2.3." * 66}


@pytest.mark.parametrize(
    ("word", "edition"), [*zip(LONG, ["regulatory", "committee", "quick", "regulatory"], strict=True)]
)
def test_a_word_of_400_letters_has_its_room_as_any_name(word: str, edition: Edition) -> None:
    found, name = evidence(1), LONG[word]
    about = found.release.release.model_copy(update=dict.fromkeys(("model", "version", "owner", "tester"), name))
    outcome = found.release.outcome.model_copy(update={"name": name})
    release = found.release.model_copy(update={"release": about, "outcome": outcome})
    document = compose.document(Gallery(dataclasses.replace(found, release=release), {}, {}), edition)
    assert refused(document) == []
    assert name in plain(document.html)


@pytest.mark.parametrize("edition", [*ON_PAPER, "quick"])
def test_a_version_that_nobody_stated_is_in_no_title_head_or_foot(edition: Edition) -> None:
    document = compose.document(Gallery(evidence(1), {}, {}), edition)
    (body,) = re.findall(r"<body[^>]*>", document.html)
    assert "not stated" not in plain(document.title + body.replace("-", " "))


NEXT_TO_ANOTHER = (0.99999999, 0.000000001, 0.50000001, 0.125)


@pytest.mark.parametrize("element", ["figure", "table"])
def test_a_figure_that_comes_onto_no_page_stops_the_press(tmp_path: Any, element: str) -> None:
    inside = {"figure": "<p>Bari</p>", "table": "<tr><td>Bari</td></tr>"}[element]
    held, lost = (f'<{element} id="{name}"{style}>{inside}</{element}>' for name, style in LEFT_OUT.items())
    press.pdf(sample(sheet(tmp_path), held))
    with pytest.raises(PageError) as caught:
        press.pdf(sample(sheet(tmp_path), held + lost))
    (fault,) = caught.value.faults
    assert (fault.code, fault["names"]) == ("on_no_page", ("lost",))


LEFT_OUT = {"held": "", "lost": ' style="display: none"'}


@pytest.mark.slow
@pytest.mark.parametrize("hospitals", [1, 2])
def test_a_threshold_is_one_number_wherever_it_is_printed(hospitals: int) -> None:
    rng = np.random.default_rng(34)
    risk = np.where(np.arange(300) % 30 == 0, 0.999999999, rng.uniform(0.02, 0.9, 300))
    rows = {"y": rng.binomial(1, risk), "p": risk, "q": rng.uniform(0, 1, 300), "site": np.arange(300) % hospitals}
    found = dossier.validate(
        pandas.DataFrame(rows | {"sex": np.tile(["woman", "man"], 150)}), outcome="y", risk="p", site="site",
        thresholds=NEXT_TO_ANOTHER, subgroups=["sex"], rival={"other": "q"},
        resampling={"bootstrap": 20, "permutations": 19},
    ).evidence  # fmt: skip
    gallery = draw.gallery(found)
    pages = [compose.document(gallery, edition).html for edition in (*ON_PAPER, "quick")]
    # The name of a measure may end with "threshold", and its value stands in the next cell.
    text = " ".join(plain(re.sub(r"<[^>]+>", " ", re.sub(r"</t[dh]>", " | ", page))) for page in pages)
    said = re.findall(
        r"(?:[Aa]t|threshold|thresholds? of|line|said|From|Flagged:)\s+(<?\d+(?:\.\d+)?(?:e[−-]?\d+)?)(%?)", text
    )
    numbers = {
        round(float(number) / (100 if sign else 1), 12) for number, sign in said if "0000" in number or "999" in number
    }
    assert numbers == {0.99999999, 0.000000001, 0.50000001}
    assert {number for number, _ in said} & {"<0.01", "1.00", "1e-09", "1e−09", "0.12"} == set()


CELLS = ("Column 9", "W" * 24, "0.73 (0.61 to 0.80)", "`/usr/share/WWWWWWWWWWWWWW`", "." * 60)


@pytest.mark.parametrize("inside", ["", "  "], ids=["table", "table in lists"])
@pytest.mark.parametrize("columns", [2, 6, 7, statements.MOST_COLUMNS])
def test_a_table_of_as_many_columns_as_are_allowed_has_its_room(columns: int, inside: str) -> None:
    rows = [[cell] * columns for cell in (CELLS[0], "---", *CELLS[1:])]
    lists = "".join(f"{inside * depth}- a\n" for depth in range(8)) if inside else ""
    table = "\n".join(f"{inside * 8}| {' | '.join(row)} |" for row in rows)
    found = dataclasses.replace(evidence(1), statements={"3b": f"{lists}\n{table}\n"})
    document = compose.document(Gallery(found, {}, {}), "supplement")
    assert document.html.count("Column 9") == columns
    assert refused(document) == []


@pytest.mark.parametrize("height", range(60, 81, 4))
def test_a_tight_line_at_the_foot_of_a_page_has_its_room(tmp_path: Any, height: int) -> None:
    """The height of a font is more than that of a line of 11 pt, whose letters stand on the page nevertheless."""
    tight = "<p style=\"font: 9pt/11pt 'Source Serif 4'; margin: 0\">" + "Marienbad <b>(ward)</b> " * 900 + "</p>"
    assert refused(sample(sheet(tmp_path), f'<div style="height: {height / 10}mm"></div>{tight}')) == []


@pytest.mark.parametrize(
    ("more", "word"),
    [
        ('<p style="white-space: nowrap">{} end</p>', "end"),
        ('<table><tr><th scope="row" style="white-space: nowrap">{} end</th><td>1</td></tr></table>', "end"),
        ('<p style="position: relative; top: 260mm">below</p>', "below"),
        ('<p style="position: relative; top: -260mm">above</p>', "above"),
        ('<table style="width: 40mm; table-layout: fixed"><tr><td>Bari</td><td>Marienbad0Marienbad</td></tr></table>',
         "Marienbad0Marienbad"),
        ('<div style="display: grid; grid-template-columns: 20mm 60mm"><p>Marienbad0Marienbad</p><p>1</p></div>',
         "Marienbad0Marienbad"),
    ],
    ids=["paper", "table", "below", "above", "cell", "column"],
)  # fmt: skip
def test_a_word_without_room_stops_the_press(tmp_path: Any, more: str, word: str) -> None:
    document = sample(sheet(tmp_path), more.format("Marienbad " * 20))
    with pytest.raises(PageError) as caught:
        press.pdf(document)
    (fault,) = caught.value.faults
    assert fault.code == "words_without_room"
    assert f"{word}'" in str(fault["words"])


@pytest.mark.slow
def test_long_names_push_neither_cover_nor_contents_over_their_page() -> None:
    document = compose.document(Gallery(named(evidence(1), 90, words=True), {}, {}), "regulatory")
    pages = press._rendered(document, FontConfiguration()).pages
    where = {anchor: index for index, page in enumerate(pages) for anchor in page.anchors}
    assert (where["chapter-cover"], where["contents"], where["chapter-context"]) == (0, 1, 1)


def test_a_name_in_another_is_shortened_by_itself() -> None:
    found = named(evidence(1), 90, words=True)
    sites = ("Holy Cross", f"Holy Cross {WORDS}")
    datasets = tuple(dataclasses.replace(each, site=site) for each, site in zip(found.datasets, sites, strict=False))
    short = labels.short_names(dataclasses.replace(found, datasets=datasets))
    first, second = (each.site for each in short.datasets[:2])
    assert first == "Holy Cross"
    assert "…" in second
    assert len(second) < 50


MANY_WORDS = """Well differentiated adenocarcinoma of the colon
Poorly differentiated carcinoma with necrosis
Normal
Hyperplastic polyp without any dysplasia at all
Uncertain"""


@pytest.mark.parametrize(
    "labels", [["Adenocarcinoma, A", "Adenocarcinoma, B", "Squamous", "No tumour", "Other"], MANY_WORDS.splitlines()]
)
def test_five_classes_with_long_words_have_their_columns(labels: list[str]) -> None:
    rng = np.random.default_rng(5)
    rows = pandas.DataFrame(rng.dirichlet(np.ones(5), 200), columns=list("abcde"))
    rows["y"], rows["site"] = rng.choice(labels, 200), np.repeat(["first", "second"], 100)
    given: dict[str, Any] = {"classes": labels, "resampling": {"bootstrap": 20, "permutations": 19}}
    found = dossier.validate(rows, outcome="y", risk=list("abcde"), site="site", **given).evidence
    assert refused(compose.document(Gallery(named(found, 22, words=True), {}, {}), "committee", "a4")) == []


def test_a_caption_beside_its_figure_has_room_for_a_name_of_one_word() -> None:
    gallery = draw.gallery(named(evidence(1, hospitals=3), 90, words=False))
    assert refused(compose.document(gallery, "regulatory")) == []
