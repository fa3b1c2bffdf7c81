"""The printed pages: what a reader finds on them, where it stands, and what the files say of themselves."""

from __future__ import annotations

import hashlib
import importlib
import itertools
import json
import re
import subprocess
import unicodedata
import xml.etree.ElementTree
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from html import unescape
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from pypdf import PdfReader

from dossier.core import claims
from dossier.core.contents import ON_PAPER, SUBMITTED, Edition
from dossier.core.types import Evidence, externals
from dossier.record import results
from dossier.report import compose, draw, press
from dossier.report.chapters.chapter import chapters
from dossier.report.chapters.sentence import Sentence
from dossier.typeset import labels
from dossier.typeset.labels import labelled
from tests.conftest import RELEASES, Book, tool
from tests.estimated import present

MM = 72 / 25.4
LEFT, RIGHT, TOP, BOTTOM = 24.0, 192.0, 26.0, 271.0
"""The live area of an A4 page in mm."""

EVERY: tuple[Edition, ...] = ON_PAPER
TITLES = {chapter.title: chapter.name for chapter in chapters()}
JARGON = (
    *("AUROC", "ROC", "O/E", "calibration", "net benefit", "Brier", "logit", "DeLong", "bootstrap", "Wald", "Wilson"),
    *("confidence interval", "CI", "prevalence", "specificity", "sensitivity", "quantile", "percentile", "regression"),
    *("p value", "standard deviation", "hypothesis", "spline", "covariate", "predictor", "discrimination", "event"),
)
NEVER = (
    r"\b(nan|inf)\b",
    r"\bNone\b(?! of )",
    r"\{\{|\}\}",
    r"Absent\(|Estimate\(",
    r"\bTrue\b(?! positive)",
    "\ufffd",
)


# ---- reading a PDF --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Word:
    """A word of a page and its box in mm."""

    text: str
    left: float
    top: float
    right: float
    bottom: float


@cache
def layout(path: Path) -> list[str]:
    """The text of each page, laid out as it stands on the paper."""
    return tool("pdftotext", "-layout", path, "-").split("\f")[:-1]


def squeezed(text: str) -> str:
    """The text on one line, ligatures taken apart and blanks made plain."""
    return " ".join(unicodedata.normalize("NFKC", text).split())


@cache
def reading(path: Path) -> list[str]:
    """The text of each page on one line, in the order of reading."""
    return [squeezed(page) for page in tool("pdftotext", path, "-").split("\f")[:-1]]


@cache
def opened(path: Path) -> PdfReader:
    """The file as a tree of objects."""
    return PdfReader(path)


@cache
def boxes(path: Path) -> list[list[Word]]:
    """The words of each page with their boxes."""
    # Characters that XML cannot hold would end the reading.
    text = re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f]", "", tool("pdftotext", "-bbox", path, "-"))
    root = xml.etree.ElementTree.fromstring(re.sub(r"^<!DOCTYPE[^>]*>", "", text))
    space = "{http://www.w3.org/1999/xhtml}"
    return [
        [
            Word(
                squeezed(word.text or ""), *(float(word.attrib[name]) / MM for name in ("xMin", "yMin", "xMax", "yMax"))
            )
            for word in page.iter(f"{space}word")
        ]
        for page in root.iter(f"{space}page")
    ]


def first_line(words: list[Word]) -> str:
    """The first line below the head."""
    # The words between head and foot.
    body = [word for word in words if word.top >= TOP - 2 and word.bottom <= BOTTOM + 2]
    highest = min((word.bottom for word in body), default=0.0)
    return " ".join(word.text for word in sorted(body, key=lambda word: word.left) if abs(word.bottom - highest) < 1.2)


HEADING = re.compile(r"\s*(S?\d{1,2}) +(\S.*?)(?: +Continued in S\d{1,2})?\s*")
"""The line of a chapter's title, with where it goes on."""


def opened_on(book: Book, edition: Edition = "regulatory") -> dict[str, int]:
    """The page, from 1, on which each chapter opens."""
    pages = {}
    for number, page in enumerate(layout(book.pdf(edition)), start=1):
        for line in page.splitlines():
            found = HEADING.fullmatch(unicodedata.normalize("NFKC", line))
            if found and found[2] in TITLES:
                pages[TITLES[found[2]]] = number
    return pages


def opening_of(chapter: str, evidence: Evidence) -> Sentence:
    """What a chapter opens with: the key results as page 1 of the core does."""
    module = importlib.import_module(f"dossier.report.chapters.{'verdict' if chapter == 'results' else chapter}")
    opening: Sentence = (module.key_results if chapter == "results" else module.finding)(evidence)
    return opening


def chapter_texts(book: Book) -> dict[str, str]:
    """The text of each chapter on one line, without the heads and feet of its pages."""
    lines: dict[str, list[str]] = {}
    inside = ""
    for page in (page for edition in SUBMITTED for page in layout(book.pdf(edition))):
        body = [line for line in unicodedata.normalize("NFKC", page).splitlines() if line.strip()]
        for line in body[1:-1]:
            found = HEADING.fullmatch(line)
            if found and found[2] in TITLES:
                inside = TITLES[found[2]]
            elif inside:
                lines.setdefault(inside, []).append(line)
    return {name: squeezed(" ".join(found)) for name, found in lines.items()}


def captions(book: Book, kind: str, edition: Edition) -> list[tuple[int, int]]:
    """The number of each table or figure, and its page; two may stand beside each other."""
    return [
        (int(number), index)
        for index, page in enumerate(layout(book.pdf(edition)), start=1)
        for number in re.findall(rf"(?:^|  ) *{kind} (\d+)\. ", page, re.MULTILINE)
    ]


# ---- the chapters ---------------------------------------------------------------------------------------------------


def test_every_chapter_opens_with_its_finding(book: Book) -> None:
    texts = chapter_texts(book)
    assert len(texts) >= 15
    for name, text in texts.items():
        finding = opening_of(name, labelled(book.evidence))
        # A line may end behind the hyphen of a word.
        said, printed = (part.replace("- ", "-") for part in (squeezed(f"{finding.lead} {finding.rest}"), text))
        assert printed.startswith(said), name


@pytest.mark.parametrize("edition", SUBMITTED)
def test_no_chapter_begins_with_one_sentence_alone_at_the_foot_of_a_page(book: Book, edition: Edition) -> None:
    for number, page in enumerate(layout(book.pdf(edition)), start=1):
        body = [line for line in unicodedata.normalize("NFKC", page).splitlines() if line.strip()][1:-1]
        heads = [HEADING.fullmatch(line) for line in body]
        opened = [index for index, found in enumerate(heads) if found and found[2] in TITLES]
        if not opened:
            continue
        name = TITLES[heads[opened[-1]][2]]  # type: ignore[index]
        finding = opening_of(name, labelled(book.evidence))
        below = squeezed(" ".join(body[opened[-1] + 1 :])).replace("- ", "-")
        rest = re.sub(r"^Continued from chapter \d+ of the core\.", "", below).strip()
        assert rest, (number, name)
        assert not squeezed(finding.lead).endswith(rest), (number, name)


def estimates(book: Book, measure: str, **at: float | str) -> dict[str, dict[str, Any]]:
    """The estimates of a measure by the name of the external site, from results.json alone."""
    external = [dataset for dataset in book.results["datasets"] if dataset["role"] == "external"]
    sites = {dataset["name"]: dataset["site"] for dataset in external}
    few = {each["name"] for each in external if each["events"] and min(each["events"], each["n"] - each["events"]) < 20}
    return {
        sites.get(estimate["dataset"], estimate["dataset"]): estimate | {"is_few": estimate["dataset"] in few}
        for estimate in book.results["estimates"]
        if estimate["measure"] == measure
        and estimate["at"] == at
        and estimate["subset"] is None
        and estimate["status"] == "estimated"
        and (estimate["dataset"] in sites or estimate["dataset"] == "pooled")
    }


def ends(found: dict[str, dict[str, Any]], digits: int = 2, factor: float = 1.0, unit: str = "") -> list[str]:
    """The lowest and the highest value as a sentence gives them, each with its site; how few it has may follow."""
    enough = {site: record for site, record in found.items() if not record.get("is_few")} or found
    values = {site: record["value"] * factor for site, record in enough.items() if site != "pooled"}
    low, high = min(values, key=lambda site: values[site]), max(values, key=lambda site: values[site])
    shown = [f"{values[site]:.{digits}f}" for site in (low, high)]
    shown = ["<0.01" if text == "0.00" else text for text in shown]
    if shown[0] == shown[1]:
        return [shown[0]]
    return [f"{text}{unit} ({site}" for text, site in zip(shown, (low, high), strict=True)]


def together(found: dict[str, Any], digits: int = 2, factor: float = 1, unit: str = "") -> list[str]:
    """The pooled value where sites are pooled; else both ends."""
    pooled = found.get("pooled")
    if pooled is None:
        return ends(found, digits, factor, unit)
    return [f"is {pooled['value'] * factor:.{digits}f}{unit} (95% CI", f"pooled over {WORDS[int(pooled['k'])]} sites"]


WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight")


def instances(book: Book) -> dict[str, list[float]]:
    """The named instances of H-accuracy by external site: one setting apart from alike, or all with a complexity."""
    external = [dataset["name"] for dataset in book.results["datasets"] if dataset["role"] == "external"]
    found: dict[str, list[float]] = {}
    for estimate in book.results["estimates"]:
        if (
            estimate["measure"] != "h_accuracy"
            or estimate["status"] != "estimated"
            or estimate["dataset"] not in external
        ):
            continue
        bare = [estimate["at"][name] == 0.5 for name in ("priority", "tau")]
        form = estimate["at"]["complexity"]
        if any(bare) if form == "constant" else all(bare) or form == "raters":
            found.setdefault(estimate["dataset"], []).append(estimate["value"])
    return found


def expected_in_findings(book: Book) -> Iterator[tuple[str, list[str]]]:
    """What each finding must say, computed from results.json and nothing else."""
    external = [dataset for dataset in book.results["datasets"] if dataset["role"] == "external"]
    at = book.evidence.release.thresholds.declared[0]
    auroc, ratio = estimates(book, "auroc"), estimates(book, "oe_ratio")
    pooled = auroc.get("pooled")
    if pooled is None:  # two sites are not pooled: they are said themselves
        yield "results", ["The AUROC", *ends(auroc)]
    else:
        mean = f"{pooled['value']:.2f} (95% CI {pooled['low']:.2f} to {pooled['high']:.2f})"
        yield "results", [f"The pooled AUROC is {mean}"]
        new = (pooled["prediction_low"], pooled["prediction_high"])
        yield "results", [f"{new[0]:.2f} and {new[1]:.2f} (95% prediction interval)"]
        ratio_new = (ratio["pooled"]["prediction_low"], ratio["pooled"]["prediction_high"])
        yield "pooled", [f"{ratio_new[0]:.2f} and {ratio_new[1]:.2f} (95% prediction interval)"]
    patients, events = (sum(each[name] for each in external) for name in ("n", "events"))
    yield "description", [f"{patients:,} patients, {events:,} events."]
    shares = {each["site"]: {"value": each["events"] / each["n"]} for each in external}
    yield "description", ends(shares, 0, 100, "%")
    yield "discrimination", together(estimates(book, "sensitivity", threshold=at), 0, 100, "%")
    yield "calibration", together(ratio)
    yield "utility", together(estimates(book, "net_benefit_gain", threshold=at), 1, 100, " per 100")
    values = max(instances(book).values(), key=len)
    runs = f"H-accuracy there is {min(values):.2f} to {max(values):.2f}"
    yield "accuracy", [f"over {len(values)} choices of its settings, {runs}"]
    if pooled is None:
        yield "pooled", ["Sites are not pooled", "Stratified, sites taken as fixed, the AUROC is"]
    else:
        record = ratio["pooled"]
        # Where two digits would hide on which side of what is tolerated a bound lies, it has three.
        low, high = (f"{end:.{3 if round(end, 2) in (0.8, 1.25) else 2}f}" for end in (record["low"], record["high"]))
        yield "pooled", [f"Pooled, O/E is {record['value']:.2f} (95% CI {low} to {high})"]
    yield "provenance", ["The same input with the same versions gives the same bytes"]
    flags = book.results["flags"]
    yield "limitations", [f"{len(flags)} automated findings"]
    short = [site for site, found in estimates(book, "mss_auroc").items() if found["n"] < found["value"]]
    if 1 < len(short) < len(external):
        yield "sample", [f"for the AUROC: {WORDS[len(short)]} of {WORDS[len(external)]}"]


def test_the_numbers_of_the_findings_are_those_of_the_results(book: Book) -> None:
    texts = chapter_texts(book)
    for chapter, fragments in expected_in_findings(book):
        finding = opening_of(chapter, book.evidence)
        opening = texts[chapter][: len(squeezed(f"{finding.lead} {finding.rest}"))]
        for fragment in fragments:
            signed = re.sub(r"-(?=\d)", "\N{MINUS SIGN}", fragment)
            assert fragment in opening or signed in opening, f"{chapter} should say {fragment}: {opening}"


def test_the_rival_and_the_readers_have_their_numbers(knee: Book) -> None:
    texts = chapter_texts(knee)
    differences = estimates(knee, "auroc_difference", against=knee.evidence.release.rival_label)
    together = differences.pop("pooled")
    enough = [
        difference
        for difference in differences.values()
        if min(difference["events"], difference["n"] - difference["events"]) >= 20
    ]
    assert together["k"] == len(enough) < len(differences)
    looked_at = claims.counted(knee.evidence, "comparators")
    better = sum(claim.state == "shown" for claim in looked_at)
    assert (
        f"Of {len(looked_at)} comparisons with two other models, {better} found the model better" in texts["comparison"]
    )
    for difference in differences.values():
        value, low, high = (
            f"{number:.3f}".replace("-", "\N{MINUS SIGN}")
            for number in (difference["value"], difference["low"], difference["high"])
        )
        assert f"{value} {low} to {high}" in texts["comparison"]
    (rho,) = (
        estimate
        for estimate in knee.results["estimates"]
        if estimate["measure"] == "weighted_concordance"
        and estimate["status"] == "estimated"
        and estimate["dataset"] == "knee-1"
    )
    said = f"{rho['value']:.2f} (95% CI {rho['low']:.2f} to {rho['high']:.2f})"
    assert said in texts["reliability"][:150]


def flow_of(folder: Path) -> dict[str, tuple[int, int, int, int]]:
    """Rows, missing outcomes, missing risks and events of the simulated hospitals, counted from their files."""
    third = pd.read_csv(folder / "knee-3.tsv", sep="\t", na_values=["NA", "."])
    tables = {
        "Knee 1": pd.read_csv(folder / "knee-1.csv"),
        "Knee 2": pd.read_parquet(folder / "knee-2.parquet"),
        "Knee 3": third.rename(columns={"oa_mri": "outcome", "model_output": "risk"}),
        "Knee 4": pd.read_csv(folder / "knee-4.csv"),
        "Knee 8": pd.read_csv(folder / "knee-8.csv"),
    }
    region = pd.read_csv(folder / "region.csv")
    tables |= {f"Knee {position}": rows for position, rows in region.groupby("hospital")}
    counted = {}
    for site, table in tables.items():
        known = table["outcome"].notna()
        whole = known & table["risk"].notna()
        events = int(table.loc[whole, "outcome"].astype(float).sum())
        counted[site] = (len(table), int((~known).sum()), int((known & table["risk"].isna()).sum()), events)
    return counted


def test_the_flow_is_that_of_the_files(knee: Book) -> None:
    text = chapter_texts(knee)["context"]
    flow = flow_of(RELEASES["knee"])
    assert len(flow) == 8
    for site, (rows, outcomes, risks, events) in flow.items():
        left = rows - outcomes - risks
        cells = rf"{site}(?: 2025)? {rows:,} {left:,} {events} \({100 * events / left:.0f}%\) {left - events:,} (.*?)"
        row = present(re.search(rf"{cells}(?=Knee \d|Internal)", text))
        for count, why in ((outcomes, "outcome missing"), (risks, "risk missing")):
            assert (f"{count} {why}" in row[1]) == (count > 0), row[0]


def test_the_bias_of_censoring_is_shown_and_stated(breast: Book) -> None:
    """Beside the naive rate stands the Kaplan-Meier risk; at three years O/E would be 13 % too high."""
    texts = chapter_texts(breast)
    gbsg = pd.read_csv(RELEASES["breast"] / "gbsg.csv")
    known = gbsg["outcome"].dropna()
    naive = f"{100 * known.mean():.1f} %"
    row = re.search(r"GBSG, 2 years 686 63 \(9\.2 %\) (\d+) ([\d.]+ %) ([\d.]+ %) ([\d.]+)", texts["statements"])
    assert row is not None, texts["statements"]
    assert (int(row[1]), row[2]) == (int(known.sum()), naive)
    # The ratio of the printed shares; each is rounded to a tenth of a per cent.
    assert abs(float(row[2][:-2]) / float(row[3][:-2]) - float(row[4])) < 0.005
    assert "naive" in texts["statements"].lower()
    assert "Kaplan-Meier" in texts["statements"]
    assert re.search(r"13 ?% too high", texts["statements"])


def test_deaths_after_the_last_visit_are_spoken_of(breast: Book) -> None:
    assert re.search(r"recurrence follow-up (had )?ended", chapter_texts(breast)["statements"])


@pytest.mark.parametrize("edition", EVERY)
def test_what_is_simulated_says_so_on_every_page(knee: Book, edition: Edition) -> None:
    for number, page in enumerate(reading(knee.pdf(edition)), start=1):
        assert "simulated" in page.lower(), f"page {number}"


@pytest.mark.parametrize("edition", SUBMITTED)
def test_what_is_missing_is_named_with_what_would_bring_it(book: Book, edition: Edition) -> None:
    there = set(opened_on(book, edition))
    contents = " ".join(reading(book.pdf(edition))[:2])
    first = [chapter for chapter in chapters() if [edition] == [e for e in SUBMITTED if e in chapter.editions][:1]]
    missing = [chapter for chapter in first if chapter.name not in there]
    assert ("Not in this dossier" in contents) == bool(missing)
    for chapter in missing:
        assert f"{chapter.title}. {chapter.fill}" in contents
    asked_of_both = {"changes", "comparison", "human_factors", "reliability"}
    own = {
        ("breast", "regulatory"): {"acceptance", "monitoring", *asked_of_both},
        ("breast", "supplement"): {"severity"},
        ("covid", "regulatory"): {"monitoring", "updating", *asked_of_both},
        ("covid", "supplement"): {"nomogram", "severity"},
    }
    if book.name != "knee":
        assert {chapter.name for chapter in missing} == own[book.name, edition]


def test_the_first_page_says_at_how_many_hospitals_a_criterion_is_met_and_which_do_not_count(covid: Book) -> None:
    aurocs = [
        criterion
        for criterion in covid.results["acceptance"]
        if criterion["measure"] == "auroc" and criterion["bound"] == "low"
    ]
    hospitals = {each["dataset"] for each in aurocs}
    at_sites = [row for row in covid.results["estimates"] if row["measure"] == "auroc" and row["dataset"] in hospitals]
    ends = [(row["low"], row["high"]) for row in at_sites if row["subset"] is None and row["at"] == {} and row["low"]]
    assert len(ends) == len(aurocs)
    shown, against = sum(low >= 0.75 for low, _ in ends), sum(high < 0.75 for _, high in ends)
    assert [sum(each["state"] == state for each in aurocs) for state in ("shown", "against")] == [shown, against]
    assert (0 < shown < len(aurocs), against) == (True, 0)
    page = reading(covid.pdf("regulatory"))[0]
    said = "The model is shown to miss one or more of its declared criteria at two of eight hospitals, "
    assert f"{said}and to meet all at four." in page
    lettered = dict(zip("abcdefgh", (low for low, _ in ends), strict=True))
    above = [letter for letter, low in lettered.items() if low >= 0.75]
    assert f"open {' '.join(sorted({*lettered} - {*above}))}; shown {' '.join(above)}" in page
    assert "Not counted, for it is not dated" in page
    assert "To be settled in review" in page


# ---- the core and its supplement -------------------------------------------------------------------------------------

MOST_PAGES = {"breast": 12, "covid": 16, "knee": 20}
"""Of the core: of two hospitals, of eight, and of eight with everything."""


def test_the_core_is_short(book: Book) -> None:
    assert len(opened(book.pdf("regulatory")).pages) <= MOST_PAGES[book.name]


def test_no_part_stands_in_both_files(any_book: Book) -> None:
    core, supplement = (re.findall(r'id="((?:table|figure)-[^"]*)"', any_book.html(edition)) for edition in SUBMITTED)
    assert len(core) >= 10
    assert len(supplement) >= 10
    assert set(core).isdisjoint(supplement)


def test_the_questions_stand_in_the_order_in_which_page_1_asks_them(any_book: Book) -> None:
    page_1, chapters_of_core = any_book.html("regulatory").split('id="contents"')
    asked = re.findall(r'href="#chapter-(\w+)"', page_1.split('id="table-claims"')[1].split("</table>")[0])
    there = re.findall(r'<section class="chapter" id="chapter-(\w+)"', chapters_of_core)
    assert len(asked) >= 3
    # A number of a period leads to the chapter of periods.
    assert list(dict.fromkeys(asked)) == [name for name in there if name in asked]


# ---- the committee --------------------------------------------------------------------------------------------------


def test_the_committee_reads_at_most_four_pages(any_book: Book) -> None:
    assert 1 <= len(opened(any_book.pdf("committee")).pages) <= 4


LONG_NAMES = """University Hospital of the Northern Region, Campus West, Department of Orthopaedics
Fondazione Ospedale Maggiore della Misericordia, Policlinico di Portogruaro
Royal National Orthopaedic Hospital NHS Trust, Stanmore and Bolsover Street
Centre hospitalier universitaire de Clermont, groupe hospitalier Montpied
Hospital Universitario Nuestra Virgen del Camino, Servicio de Radiodiagnóstico
Universitätsklinikum Würzburg, Klinik und Poliklinik für Orthopädie
Szpital Kliniczny imienia Świętej Rodziny w Poznaniu, Oddział Ortopedii
Onze Lieve Vrouwe Gasthuis, locatie Oost, afdeling Radiologie""".splitlines()


@pytest.mark.parametrize(
    ("edition", "most"), [("committee", 4), pytest.param("regulatory", 20, marks=pytest.mark.slow)]
)
def test_long_names_take_no_more_pages(any_book: Book, edition: Edition, most: int, tmp_path: Path) -> None:
    evidence = any_book.evidence
    names = dict(zip((site.site for site in externals(evidence)), LONG_NAMES, strict=False))
    path = tmp_path / "long.pdf"
    path.write_bytes(press.pdf(compose.document(draw.gallery(labels._called(evidence, names)), edition)))
    pages = [" ".join(page.extract_text().split()) for page in opened(path).pages]
    assert len(pages) <= most
    assert edition == "committee" or all(name in " ".join(pages) for name in names.values())


def test_a_long_goal_leaves_its_result_the_room_of_two_hospitals(books: dict[str, Book]) -> None:
    """In mm from its head to the margin: a goal of one long line left it 33."""
    (head,) = (word for page in boxes(books["knee"].pdf("committee")) for word in page if word.text == "Result")
    assert RIGHT - head.left > 40


@pytest.mark.parametrize("term", JARGON)
def test_the_committee_reads_no_jargon(any_book: Book, term: str) -> None:
    text = " ".join(reading(any_book.pdf("committee")))
    declared = any_book.evidence.statements.get("3b", "")
    text = text.replace(squeezed(declared), " ")
    explained = any(term.lower() in word.lower() for word in re.findall(r"<dt>(.*?)</dt>", any_book.html("committee")))
    found = re.search(rf"(?<![\w/]){re.escape(term)}s?(?![\w/])", text, 0 if term.isupper() else re.IGNORECASE)
    assert found is None or explained, f"…{text[max(0, found.start() - 60) : found.end() + 40]}…"


@pytest.mark.parametrize(
    "question",
    [
        *("What is it for?", "Are its percentages right?", "Who is missed?", "What must we do before using it?"),
        *("For whom is it better or worse?", "Better than", "Do people decide better with it?"),
        *("What could go wrong?", "What changed?", "What does the maker declare?", "Who is responsible?"),
    ],
)
def test_the_committee_has_each_question_answered(any_book: Book, question: str) -> None:
    html = any_book.html("committee")
    answers = dict(part.split("</h2>", 1) for part in re.split('<div class="question(?: parts)?"><h2>', html)[1:])
    answer = next((said for asked, said in answers.items() if asked.startswith(question)), "").partition(
        "</div></div>"
    )[0]
    assert re.search(r"\w", re.sub(r"<[^>]+>", "", answer))


# ---- the order of the book ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("edition", SUBMITTED)
def test_the_contents_give_the_pages_on_which_chapters_open(book: Book, edition: Edition) -> None:
    contents = unicodedata.normalize("NFKC", "".join(layout(book.pdf(edition))[:2]))
    promised = {}
    for title, name in TITLES.items():
        # A long title goes on below its line.
        words = title.split()
        parts = "|".join(re.escape(" ".join(words[:most])) for most in range(len(words), 1, -1)) or re.escape(title)
        named = rf"^ *S?\d+ +(?:{parts}|{re.escape(title)}) .*?(\d+)$"
        found = re.search(named, contents, re.MULTILINE)
        if found:
            promised[name] = int(found[1])
    assert promised == opened_on(book, edition)


@pytest.mark.parametrize("edition", SUBMITTED)
@pytest.mark.parametrize("kind", ["Table", "Figure"])
def test_tables_and_figures_are_numbered_without_gaps(book: Book, kind: str, edition: Edition) -> None:
    numbers = [number for number, _ in captions(book, kind, edition)]
    assert len(numbers) >= (8 if kind == "Table" else 5)
    assert numbers == list(range(1, len(numbers) + 1))


@pytest.mark.parametrize("edition", SUBMITTED)
def test_every_figure_stands_within_a_page_of_its_first_mention(book: Book, edition: Edition) -> None:
    """Its chapter's opening counts as one, and so does a word of the text: "Figure 4"."""
    opened = sorted(opened_on(book, edition).values())
    pages = reading(book.pdf(edition))
    for number, position in captions(book, "Figure", edition):
        mentions = [page for page, text in enumerate(pages, start=1) if re.search(rf"\bFigure {number}\b(?!\.)", text)]
        mentions.append(max(page for page in opened if page <= position))
        nearest = min(abs(position - page) for page in mentions)
        assert nearest <= 1, f"figure {number} stands on page {position}, its chapter opens on page {mentions[-1]}"


def own_chapters(book: Book, edition: Edition) -> list[str]:
    """The chapter of each figure, in the order of their numbers."""
    inside, found = "", []
    for chapter, figure in re.findall(r'id="chapter-(\w+)"|<figure (id)=', book.html(edition)):
        inside = chapter or inside
        found += [inside] if figure else []
    return found


def ends_of_chapters(book: Book, edition: Edition) -> dict[str, int]:
    """The page on which the text of each chapter ends: where the next one opens, or before it at the head of a page."""
    opened_at = sorted(opened_on(book, edition).items(), key=lambda chapter: chapter[1])
    titles = {name: title for title, name in TITLES.items()}
    pages = boxes(book.pdf(edition))
    ends = {}
    for (name, _), (following, page) in itertools.pairwise(opened_at):
        at_the_head = first_line(pages[page - 1]).endswith(titles[following])
        ends[name] = page - 1 if at_the_head else page
    ends[opened_at[-1][0]] = len(pages)
    return ends


@pytest.mark.parametrize("edition", SUBMITTED)
def test_no_figure_stands_after_its_chapter(book: Book, edition: Edition) -> None:
    ends, chapters_of_figures, found = (
        ends_of_chapters(book, edition),
        own_chapters(book, edition),
        captions(book, "Figure", edition),
    )
    assert len(found) == len(chapters_of_figures)
    late = [
        (number, chapter, page - ends[chapter])
        for (number, page), chapter in zip(found, chapters_of_figures, strict=True)
        if page > ends[chapter]
    ]
    assert late == []


@pytest.mark.parametrize("edition", SUBMITTED)
def test_a_table_that_goes_on_repeats_its_head(book: Book, edition: Edition) -> None:
    # The text of every row of every table below its head.
    html = book.html(edition)
    found = []
    for body in re.findall(r"<tbody>(.*?)</tbody>", html, re.DOTALL):
        rows = re.findall(r"<tr[^>]*>(.*?)</tr>", body, re.DOTALL)
        found += [squeezed(unescape(re.sub(r"<[^>]+>", " ", row))) for row in rows]
    rows = [row for row in found if row]
    # A list of measures may open a page with the name of a measure or of its chapter, which is no row of a table.
    names = {*(term.label for term in book.evidence.terms.values()), *TITLES}
    for number, words in enumerate(boxes(book.pdf(edition)), start=1):
        line = first_line(words)
        if number > 2 and len(line.split()) > 1 and line not in names:
            assert not any(row.startswith(line) for row in rows), f"page {number} opens with the row: {line}"


def test_a_head_is_seen_again_where_a_table_goes_on(knee: Book) -> None:
    heads = re.findall(r"<thead>(.*?)</thead>", knee.html("supplement"), re.DOTALL)
    heads = [squeezed(unescape(re.sub(r"<[^>]+>", " ", head))) for head in heads]
    again = [line for line in map(first_line, boxes(knee.pdf("supplement"))) if line in heads]
    assert again, "no table of the largest dossier spans two pages: this test needs another one"


# ---- the look -------------------------------------------------------------------------------------------------------


def voids(path: Path) -> list[float]:
    """The largest unbroken void of each live area, from 0 to 1: between two lines of ink, above the first or below the
    last."""
    images = subprocess.run(["pdftoppm", "-r", "20", "-gray", str(path)], capture_output=True, check=True).stdout
    found = []
    while images:
        head = present(re.match(rb"P5\s+(\d+)\s+(\d+)\s+255\s", images))
        width, height = int(head[1]), int(head[2])
        pixels = images[head.end() : head.end() + width * height]
        images = images[head.end() + width * height :]
        mm = 20 / 25.4
        rows = range(round(TOP * mm), round(BOTTOM * mm))
        inked = [row for row in rows if min(pixels[row * width : (row + 1) * width]) < 235]
        ends = [rows.start, *inked, rows.stop]
        found.append(max(below - above for above, below in itertools.pairwise(ends)) / len(rows))
    return found


def test_the_contents_fit_their_page(book: Book) -> None:
    """The chapters on page 2, each with its finding, and what is not there; the first chapter follows."""
    pages = layout(book.pdf("regulatory"))
    assert "Contents" in pages[1]
    assert "Not in this dossier" not in "".join(pages[2:4])
    assert min(opened_on(book).values()) in (2, 3)


@pytest.mark.parametrize("edition", SUBMITTED)
def test_the_bookmarks_go_down_to_tables_and_no_deeper_than_four_levels(book: Book, edition: Edition) -> None:
    def titles(items: Any, level: int) -> list[tuple[int, str]]:
        found: list[tuple[int, str]] = []
        for item in items:
            found += titles(item, level + 1) if isinstance(item, list) else [(level, str(item.title))]
        return found

    marks = titles(opened(book.pdf(edition)).outline, 1)
    assert max(level for level, _ in marks) <= 4
    for kind in ("Table", "Figure"):
        numbers = [int(found[1]) for _, text in marks if (found := re.match(rf"{kind} (\d+)\. ", text))]
        assert numbers == [number for number, _ in captions(book, kind, edition)]


MOST_VOID = {"regulatory": 0.3, "supplement": 0.3, "committee": 0.6}
"""The largest void of a page, as a share of its live area. A committee's page is a form, and its chapters are pages."""


@pytest.mark.parametrize("edition", EVERY)
def test_no_page_is_left_half_empty(book: Book, edition: Edition) -> None:
    """But the first, whose height the release decides, and the last."""
    path = book.pdf(edition)
    found = voids(path)
    assert len(found) == len(opened(path).pages)
    wide = {number: f"{void:.0%}" for number, void in enumerate(found, start=1) if void > MOST_VOID[edition]}
    assert not wide.keys() - {1, len(found)}, wide


SHEETS = [
    *itertools.product(("knee", "covid"), ("regulatory", "supplement", "committee"), ("a4",)),
    *itertools.product(("breast",), ("regulatory", "committee"), ("a4",)),
    *itertools.product(("breast",), ("regulatory", "supplement"), ("letter",)),
    ("knee", "committee", "letter"),
]


@pytest.fixture(params=SHEETS, ids="-".join)
def sheet(request: pytest.FixtureRequest, books: dict[str, Book]) -> Path:
    """An edition on a size of paper."""
    name, edition, page = request.param
    return books[name].pdf(edition, page)


def test_no_word_leaves_the_live_area(sheet: Path) -> None:
    pages = boxes(sheet)
    outside = [
        (number, word.text, round(word.left, 1), round(word.right, 1))
        for number, words in enumerate(pages, start=1)
        for word in words
        if word.left < LEFT - 0.15 or word.right > RIGHT + 0.15
    ]
    assert outside == []


def test_no_word_leaves_the_sheet_above_or_below(sheet: Path) -> None:
    height = float(opened(sheet).pages[0].mediabox.height) / MM
    # A printer of the other size crops up to 9 mm at either end.
    edge = 9.0
    outside = [
        (number, word.text)
        for number, words in enumerate(boxes(sheet), start=1)
        for word in words
        if word.top < edge or word.bottom > height - edge
    ]
    assert outside == []


def test_no_word_lies_on_another(sheet: Path) -> None:
    """Level words whose boxes share more than a third of the smaller one's width."""
    clashes = []
    for number, words in enumerate(boxes(sheet), start=1):
        level = sorted((word for word in words if len(word.text) > 1), key=lambda word: (round(word.top), word.left))
        for first, other in itertools.pairwise(level):
            shared = min(first.right, other.right) - max(first.left, other.left)
            if abs(first.top - other.top) < 1 and shared > 0.33 * min(
                first.right - first.left, other.right - other.left
            ):
                clashes.append((number, first.text, other.text))
    assert clashes == []


def test_no_type_is_smaller_than_nine_points(sheet: Path) -> None:
    """Within figures too: they are set at their printed size."""
    # At three times the size: whole numbers, cut off, tell a third of a point.
    fonts = re.findall(
        r'<fontspec [^>]*size="(\d+)"[^>]*>', tool("pdftohtml", "-xml", "-i", "-stdout", "-zoom", "3", sheet)
    )
    assert len(fonts) >= 5
    assert min(map(int, fonts)) >= 27


# ---- the text behind the look ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("edition", EVERY)
def test_no_leak_of_the_machine_is_printed(book: Book, edition: Edition) -> None:
    for number, page in enumerate(layout(book.pdf(edition)), start=1):
        for pattern in NEVER:
            found = re.search(pattern, page)
            assert found is None, f"page {number}: {page[max(0, found.start() - 40) : found.end() + 40]!r}"


@pytest.mark.parametrize("edition", EVERY)
def test_no_name_of_the_code_is_printed(book: Book, edition: Edition) -> None:
    """A reader knows a site and a measure by its words, not as results.json calls it."""
    names = {term.measure for term in book.evidence.terms.values() if "_" in term.measure}
    names |= {
        dataset.name for dataset in book.evidence.datasets if dataset.name != dataset.site and "-" in dataset.name
    }
    pages = reading(book.pdf(edition))
    # The last chapter gives the names of files.
    last = opened_on(book, edition).get("provenance", len(pages) + 1)
    for number, page in enumerate(pages[: last - 1], start=1):
        for name in sorted(names):
            found = re.search(rf"(?<![\w./-]){re.escape(name)}(?![\w./-])", page)
            assert found is None, f"page {number}: {page[max(0, found.start() - 60) : found.end() + 20]}"


@pytest.mark.parametrize("edition", EVERY)
def test_every_word_can_be_searched_for(book: Book, edition: Edition) -> None:
    """What is copied from the page is what was written: a ligature is still two or three letters."""
    html = re.sub(r"<head>.*?</head>|<[^>]+>", " ", book.html(edition), flags=re.DOTALL)
    written = set(re.findall(r"[A-Za-z]{3,}", unescape(html)))
    # The plain mode joins what a line end parted at a hyphen; the other one does not.
    texts = tool("pdftotext", book.pdf(edition), "-") + tool("pdftotext", "-layout", book.pdf(edition), "-")
    assert sorted(written - set(re.findall(r"[A-Za-z]{3,}", texts))) == []


# ---- the file -------------------------------------------------------------------------------------------------------


def every_pdf(book: Book) -> Iterator[tuple[Edition, PdfReader]]:
    """Every file, opened."""
    for edition in EVERY:
        yield edition, opened(book.pdf(edition))


def test_the_files_say_their_title_and_language(book: Book) -> None:
    about = book.evidence.release
    version, tested = about.release.version, about.release.tested_version
    named = f"{about.release.model} {version if tested is None else f'{tested} (the release is {version})'}"
    for _, reader in every_pdf(book):
        trailer: Any = reader.trailer
        assert present(reader.metadata).title == f"External validation: {named} for {about.outcome.name}"
        assert trailer["/Root"]["/Lang"] == "en"


def test_the_files_are_tagged(book: Book) -> None:
    for _, reader in every_pdf(book):
        trailer: Any = reader.trailer
        assert trailer["/Root"]["/MarkInfo"]["/Marked"] == True  # noqa: E712 - pypdf's own boolean
        assert "/StructTreeRoot" in trailer["/Root"]


@pytest.mark.parametrize("edition", SUBMITTED)
def test_each_chapter_has_a_bookmark_that_leads_to_it(book: Book, edition: Edition) -> None:
    reader = opened(book.pdf(edition))
    top = [item for item in reader.outline if not isinstance(item, list)]
    led = {}
    for item in top:
        title = str(item.title).partition(" ")[2]
        page = present(reader.get_destination_page_number(item))
        if title.strip() in TITLES:
            led[TITLES[title.strip()]] = page + 1
    assert led == opened_on(book, edition)


def test_the_printed_page_number_is_the_one_of_the_reader(book: Book) -> None:
    for edition, reader in every_pdf(book):
        assert reader.page_labels == [str(number) for number in range(1, len(reader.pages) + 1)]
        for number, page in enumerate(layout(book.pdf(edition)), start=1):
            foot = [line for line in page.splitlines() if line.strip()][-1]
            assert foot.split()[-1] == str(number)


def test_only_our_fonts_are_embedded_and_all_of_them_are(book: Book) -> None:
    for edition in EVERY:
        lines = tool("pdffonts", book.pdf(edition)).splitlines()[2:]
        assert lines
        for line in lines:
            name = line.split()[0].partition("+")[2] or line.split()[0]
            assert re.fullmatch(r"(Inter-Tab|Source-Serif-4)(-[A-Z][A-Za-z-]*)?", name), line
            assert re.search(r"\byes +(yes|no) +yes\b", line), line


def test_the_regulator_gets_no_attachment_and_the_committee_the_results(book: Book) -> None:
    (_, regulatory), (_, supplement), (_, committee) = every_pdf(book)
    assert dict(regulatory.attachments) == dict(supplement.attachments) == {}
    assert list(committee.attachments) == ["results.json"]
    (content,) = committee.attachments["results.json"]
    assert content == results.of(book.evidence).text()
    assert json.loads(content)["schema"] == "dossier-results/1"


def test_the_hash_of_the_results_is_printed(book: Book) -> None:
    digest = hashlib.sha256(results.of(book.evidence).text()).hexdigest()
    pages, supplement = reading(book.pdf("regulatory")), reading(book.pdf("supplement"))
    assert digest in pages[opened_on(book)["sign_off"] - 1].replace(" ", "")
    assert digest in supplement[opened_on(book, "supplement")["provenance"] - 1].replace(" ", "")
    assert digest in supplement[0].replace(" ", "")
    # Where the questions fill page 1, what was tested stands above the contents.
    assert f"SHA-256 {digest[:8]}" in " ".join(pages[:2])
