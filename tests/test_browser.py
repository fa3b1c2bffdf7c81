"""The file for the screen in a browser: with its script and without, with the keys alone, narrow, and on paper."""

from __future__ import annotations

import base64
import csv
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from pypdf import PdfReader

from tests import browser
from tests.conftest import ROOT, Book

AXE = ROOT / ".axe" / "axe.min.js"
pytestmark = pytest.mark.skipif(browser.PROGRAM is None, reason="there is no Chromium; make browser installs it")


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[browser.Browser]:
    """One browser for all of it."""
    with browser.running(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.fixture(scope="module")
def file(knee: Book, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of the release that has everything."""
    path = tmp_path_factory.mktemp("screen") / "dossier.html"
    path.write_text(knee.screen, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def page(chromium: browser.Browser, file: Path) -> browser.Page:
    """It on a screen of common width."""
    return chromium.page(file)


@pytest.fixture(scope="module")
def files(breast: Book, file: Path, protected: Book) -> dict[str, Path]:
    """The files that are looked at by the rules of WCAG."""
    made = {"knee": file}
    for book in (breast, protected):
        made[book.name] = file.with_name(f"{book.name}.html")
        made[book.name].write_text(book.screen, encoding="utf-8")
    return made


RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa", "best-practice"]
by_axe = pytest.mark.skipif(not AXE.is_file(), reason="there is no axe-core; make browser fetches it")


def broken(page: browser.Page) -> dict[str, list[str]]:
    """The rules that a page breaks, each with the first elements that do."""
    page.says(f"{AXE.read_text(encoding='utf-8')}; 0")
    told = "found.violations.map(each => [each.id, each.nodes.slice(0, 3).map(node => node.html)])"
    asked = json.dumps({"runOnly": RULES, "resultTypes": ["violations"]})
    return dict(page.says(f"axe.run({asked}).then(found => {told})"))


@by_axe
@pytest.mark.parametrize("colours", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 1440])
@pytest.mark.parametrize("name", ["breast", "knee", "protected"])
def test_it_breaks_no_rule_of_wcag(
    chromium: browser.Browser, files: dict[str, Path], name: str, width: int, colours: str
) -> None:
    page = chromium.page(files[name], width)
    page.looks(prefers_color_scheme=colours)
    page.says("document.querySelectorAll('details').forEach(each => { each.open = true })")
    assert broken(page) == {}
    assert page.says("matchMedia('(prefers-color-scheme: dark)').matches") is (colours == "dark")


@by_axe
def test_a_page_that_breaks_rules_is_told_of(chromium: browser.Browser, files: dict[str, Path]) -> None:
    page = chromium.page(files["breast"])
    pale = "const pale = document.querySelector('p.answer'); pale.style.color = '#dddddd'"
    page.says(f"{pale}; pale.after(document.createElement('img'))")
    page.says("document.querySelector('label').replaceWith(document.getElementById('hospital'))")
    assert broken(page).keys() == {"color-contrast", "image-alt", "select-name"}


def test_it_loads_nothing_and_says_nothing_in_the_console(page: browser.Page, file: Path) -> None:
    assert [each for each in page.asked_for if not each.startswith("data:font/")] == [file.as_uri()]
    assert page.complaints == []
    # One that no letter is set in is not unpacked.
    assert page.says("[...document.fonts].map(each => each.status).sort()") == ["loaded"] * 4 + ["unloaded"]


@pytest.mark.parametrize("width", [320, 375, 768, 1440])
def test_no_page_is_wider_than_its_screen(chromium: browser.Browser, file: Path, width: int) -> None:
    page = chromium.page(file, width)
    page.says("document.querySelectorAll('details').forEach(each => { each.open = true })")
    long = "each.append(' and the Holy Trinity University Teaching Hospital')"
    page.says(f"document.querySelectorAll('option').forEach(each => {long})")
    assert page.says("document.documentElement.scrollWidth") <= width
    outside = "getComputedStyle(each).overflowX === 'auto' || each.scrollWidth <= each.clientWidth"
    assert page.says(f"[...document.querySelectorAll('.scroll')].every(each => {outside})")


def test_without_its_script_all_of_it_can_be_read(chromium: browser.Browser, file: Path) -> None:
    page = chromium.page(file, script=False)
    hidden = "[...document.querySelectorAll('main *')].filter(each => each.closest('[hidden]:not([data-for])')).length"
    assert page.says(hidden) == 0
    assert page.says(FOLLOWED) == {"0": True}
    values = "document.querySelector('#regulatory-figure-roc_by_site details')"
    page.says(f"{values}.querySelector('summary').click()")
    assert page.says(f"[...{values}.querySelectorAll('td')].every(each => each.offsetHeight > 0)")
    assert page.says("document.getElementById('tools').hidden")
    assert page.says("document.querySelectorAll('button').length") == 0


FOLLOWED = """(() => {
  const found = {};
  for (const each of document.querySelectorAll("[data-for]"))
    if (each.offsetParent) for (const at of each.dataset.for.split(" ")) found[at] = true;
  const whole = Object.keys(found).filter(at => [...document.querySelectorAll("[data-for]")].every(
    each => Boolean(each.offsetParent) === each.dataset.for.split(" ").includes(at)));
  return Object.fromEntries(whole.map(at => [at, true]));
})()"""
"""For whom the committee edition is that one sees: all of theirs is there, and nothing else."""


def test_the_committee_edition_follows_our_hospital(page: browser.Page) -> None:
    sentence = "document.querySelector('.page-one .answer:not([hidden])').textContent"
    assert page.says(FOLLOWED) == {"0": True}
    overall = page.says(sentence)
    choose(page, "Knee 2")
    assert page.says(FOLLOWED) == {"2": True}
    assert "Here in Knee 2, of 100 patients" in page.says(sentence)
    assert page.says("document.getElementById('followed').textContent").startswith(
        "The committee edition and tables show Knee 2"
    )
    choose(page, "")
    assert page.says(FOLLOWED) == {"0": True}
    assert page.says(sentence) == overall


def test_the_tables_follow_our_hospital(page: browser.Page) -> None:
    rows = "[...document.querySelectorAll('tr[data-site]')]"
    seen = f"{rows}.filter(each => each.offsetParent).map(each => each.dataset.site)"
    others = "[...document.querySelectorAll('tbody tr:not([data-site])')].filter(each => each.offsetParent).length"
    every, rest = set(page.says(seen)), page.says(others)
    choose(page, "Knee 2")
    assert set(page.says(seen)) == {"Knee 2"}
    assert set(page.says(PALE)) == every - {"Knee 2"}
    assert "Knee 2" in page.says("document.getElementById('followed').textContent")
    # What stands below the name of another hospital goes with it, and nothing else does.
    assert 0 < page.says(others) <= rest
    choose(page, "")
    assert set(page.says(seen)) == every == {f"Knee {number}" for number in range(1, 9)}
    assert page.says(others) == rest
    assert page.says(PALE) == []


PALE = "[...document.querySelectorAll('g.other')].map(each => each.dataset.site)"
"""The hospitals whose marks are pale in the figures."""
AT = r"""(() => {
  const tables = [...document.querySelectorAll("table")];
  const shown = [...document.querySelectorAll("td[data-key*=' threshold=']")].filter(each => each.offsetParent);
  return shown.map(each => [tables.indexOf(each.closest("table")), each.dataset.key.match(/ threshold=(\S+)/)[1]]);
})()"""
"""The table of each number at a threshold that one sees, and its threshold."""


def test_tables_with_rows_at_several_thresholds_follow_the_one_that_is_chosen(page: browser.Page) -> None:
    every = {(table, at) for table, at in page.says(AT)}
    tables = {table for table, _ in every}
    several = {table for table in tables if {(table, "0.5"), (table, "0.2")} <= every}
    assert several
    choose(page, "0.2", "threshold")
    shown = {(table, at) for table, at in page.says(AT)}
    # What has both on one row keeps both; what has one alone keeps it.
    assert {(table, at) for table, at in every if table not in several} <= shown
    gone = every - shown
    assert {at for _, at in gone} == {"0.5"}
    assert {table for table, _ in gone} <= several
    assert len(gone) > 3
    assert "show those at 0.20" in page.says("document.getElementById('followed').textContent")
    choose(page, "Knee 2")
    assert "show those at 0.20" in page.says("document.getElementById('followed').textContent")
    assert "Knee 2" in page.says("document.getElementById('followed').textContent")
    choose(page, "", "threshold")
    choose(page, "")
    assert {(table, at) for table, at in page.says(AT)} == every


def choose(page: browser.Page, value: str, of: str = "hospital") -> None:
    """Choose a hospital, or a threshold, as a reader does."""
    page.says(
        f"(() => {{ const list = document.getElementById('{of}'); "
        f"list.value = '{value}'; list.dispatchEvent(new Event('change')) }})()"
    )


SORTED = """(() => {
  const numbers = 'td[data-key]';
  const tables = [...document.querySelectorAll('main table')];
  const heads = of => [...of.querySelectorAll('th:has(button)')].filter(each => each.textContent === 'AUROC');
  const table = tables.find(each => heads(each).length && each.querySelector(numbers));
  const [head] = heads(table);
  const rows = () => [...table.tBodies[0].rows].filter(each => !each.matches('.total'));
  const column = () => rows().map(each => parseFloat(each.querySelector(numbers).textContent));
  const seen = [column()];
  for (let turn = 0; turn < 3; turn += 1) {
    head.querySelector('button').click();
    seen.push([head.getAttribute('aria-sort'), column()]);
  }
  return seen;
})()"""


def test_numbers_of_a_table_are_numbers_of_its_csv(page: browser.Page) -> None:
    """The link that would save the file is caught, and its content read."""
    asked = """(async () => {
      let made; const keep = URL.createObjectURL;
      URL.createObjectURL = (blob) => { made = blob; return "#"; };
      const all = [];
      for (const button of document.querySelectorAll("button.csv")) { button.click(); all.push(await made.text()); }
      URL.createObjectURL = keep;
      return all;
    })()"""
    cells = [cell for text in page.says(asked) for line in csv.reader(io.StringIO(text)) for cell in line]
    assert any(re.fullmatch(r"-\d+\.\d+", cell) for cell in cells)
    assert any(re.fullmatch(r"\d{4}", cell) for cell in cells)
    assert not [cell for cell in cells if re.fullmatch(r"\N{MINUS SIGN}[\d.,]+|\d[\d,]*,\d{3}", cell)]


def test_a_table_is_sorted_up_down_and_back(page: browser.Page) -> None:
    first, up, down, back = page.says(SORTED)
    assert up == ["ascending", sorted(first)]
    assert down == ["descending", sorted(first, reverse=True)]
    assert back == ["none", first]


def test_what_is_copied_of_a_number_says_what_stands_behind_it(page: browser.Page) -> None:
    """By keys, and of a number of the committee edition, which says it in people."""
    copied = """(() => {
      const number = [...document.querySelectorAll(".hospitals td[data-key]")].find(each => each.offsetParent);
      number.focus();
      const data = new DataTransfer();
      const event = new ClipboardEvent("copy", { clipboardData: data, cancelable: true, bubbles: true });
      document.dispatchEvent(event);
      return [number.textContent, number.dataset.key, data.getData("text/plain"), event.defaultPrevented];
    })()"""
    number, key, text, prevented = page.says(copied)
    assert prevented
    assert text.startswith(f"{number}; sensitivity ")
    assert "95% interval" in text
    assert text.endswith(f"results.json: {key}")


def test_a_number_says_what_stands_behind_it_at_the_pointer(page: browser.Page) -> None:
    said = """(() => {
      const number = [...document.querySelectorAll("td[data-key]")].filter(each => each.offsetParent)[3];
      number.dispatchEvent(new MouseEvent("mouseover", { bubbles: true }));
      const said = [number.dataset.key, document.getElementById("more").textContent];
      document.body.dispatchEvent(new MouseEvent("mouseover", { bubbles: true }));
      return said;
    })()"""
    key, text = page.says(said)
    assert text.endswith(f"results.json: {key}")


def test_a_question_leads_to_its_claims_and_to_its_chapter(page: browser.Page) -> None:
    asked = """[...document.querySelectorAll("#regulatory-behind details")].map(each => {
      const link = each.querySelector("p a[href]");
      const there = link && document.querySelector(link.getAttribute("href"));
      return [each.querySelectorAll("tbody tr").length, Boolean(there && there.querySelector("h2, h3, h4"))];
    })"""
    found = page.says(asked)
    assert len(found) >= 4
    assert all(lines for lines, _ in found)
    assert sum(leads for _, leads in found) >= len(found) - 1


def test_a_number_says_what_stands_behind_it_to_who_has_only_keys(page: browser.Page) -> None:
    page.says("[...document.querySelectorAll('td[data-key]')].find(each => each.offsetParent).focus()")
    said = page.says("document.getElementById('more').textContent")
    number, key = (page.says(f"document.activeElement.{what}") for what in ("textContent", "dataset.key"))
    assert key in said
    assert "n " in said
    page.press("ArrowRight")
    assert page.says("document.activeElement.textContent") not in ("", number)
    assert page.says("document.activeElement.dataset.key")
    assert page.says("document.getElementById('more').textContent") != said
    assert page.says(
        "[...document.querySelectorAll('table')].every(each => each.querySelectorAll('[tabindex=\"0\"]').length <= 1)"
    )
    page.press("Escape")
    assert page.says("document.getElementById('more').hidden")


def test_the_first_key_offers_a_way_past_the_head(chromium: browser.Browser, file: Path) -> None:
    page = chromium.page(file)
    page.press("Tab", windowsVirtualKeyCode=9)
    assert page.says("document.activeElement.className") == "skip"
    assert page.says("document.activeElement.getBoundingClientRect().left") >= 0
    assert page.says("getComputedStyle(document.activeElement).outlineStyle") != "none"


def test_nothing_moves_where_no_movement_is_wanted(chromium: browser.Browser, file: Path) -> None:
    page = chromium.page(file)
    moving = "getComputedStyle(document.documentElement).scrollBehavior"
    page.looks(prefers_reduced_motion="no-preference")
    assert page.says(moving) == "smooth"
    page.looks(prefers_reduced_motion="reduce")
    assert page.says(moving) == "auto"
    still = "each => ['', '0s'].includes(getComputedStyle(each).transitionDuration) && !each.getAnimations().length"
    assert page.says(f"[...document.querySelectorAll('*')].every({still})")


def test_who_has_only_keys_chooses_a_hospital_and_a_threshold(chromium: browser.Browser, file: Path) -> None:
    page = chromium.page(file, 320)
    page.looks(prefers_color_scheme="dark")
    met: list[str] = []
    while met[-1:] != ["threshold"]:
        page.press("Tab", windowsVirtualKeyCode=9)
        assert page.says("getComputedStyle(document.activeElement).outlineStyle") != "none"
        met.append(page.says("document.activeElement.id || document.activeElement.textContent"))
        assert len(met) < 12, met
        if met[-1] in ("hospital", "threshold"):
            page.press("ArrowDown", windowsVirtualKeyCode=40)
    assert met[0] == "Skip to the content"
    assert page.says(FOLLOWED) == {"1": True}
    assert page.says("document.getElementById('threshold').value") == "0.5"
    said = page.says("document.getElementById('followed').textContent")
    assert "Knee 1" in said
    assert "0.50" in said
    assert page.complaints == []


def test_paper_says_where_the_record_is(chromium: browser.Browser, file: Path) -> None:
    page = chromium.page(file)
    page.looks(media="print")
    assert page.says(
        "document.querySelector('p.record').offsetHeight > 0 && document.querySelector('.foot').offsetHeight > 0"
    )
    unseen = ".skip, select, button.csv, .more"
    assert page.says(f"[...document.querySelectorAll('{unseen}')].every(each => !each.offsetParent)")
    # Who gets the paper is told that the rows of others are not on it.
    choose(page, "Knee 2")
    assert page.says("document.getElementById('followed').offsetHeight") > 0


def test_the_paper_has_every_chapter_and_no_empty_page(chromium: browser.Browser, file: Path) -> None:
    page = chromium.page(file)
    asked = {"paperWidth": 8.27, "paperHeight": 11.69, "printBackground": True}
    printed = PdfReader(io.BytesIO(base64.b64decode(chromium.ask("Page.printToPDF", page.session, **asked)["data"])))
    texts = [" ".join(sheet.extract_text().split()) for sheet in printed.pages]
    assert "The PDF is the record" in texts[0]
    assert min(len(text) for text in texts) > 100
    whole = "".join("".join(texts).split())
    titles = page.says(
        "[...document.querySelectorAll('h3')].filter(each => each.offsetParent).map(each => each.innerText)"
    )
    assert len(titles) > 20
    assert [title for title in titles if "".join(title.split()) not in whole] == []
    (record,) = re.findall(r"[0-9a-f]{64}", page.says("document.querySelector('.foot').innerText"))[:1]
    assert record in whole
