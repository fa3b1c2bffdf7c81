"""Gallery -> Document: the templates of one edition, filled. After this the words are final."""

from __future__ import annotations

import datetime
import functools
import hashlib
import importlib
import pkgutil
import re
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jinja2
from markdown_it.common.utils import escapeHtml
from markupsafe import Markup, escape

from dossier import typeset
from dossier.core import contents, errors, looks, material, statements
from dossier.core.faults import locations
from dossier.core.register import fill
from dossier.core.types import Attachment, Audited, Document, Estimate, Evidence, Gallery, Picture, Result, externals
from dossier.record.results import called
from dossier.record.results import of as results_of
from dossier.report import chapters as findings
from dossier.report import disclosure_report as released
from dossier.report import history as released_before
from dossier.report import own_words, unfilled
from dossier.report.chapters import checklist, grid, provenance, sentence, verdict
from dossier.report.chapters import results as key_results
from dossier.report.chapters import statements as declared
from dossier.report.chapters.chapter import Chapter, chapters
from dossier.typeset import labels, living_text, methods, numbers, reasons, widths, words
from dossier.typeset.names import identity, model
from dossier.typeset.tables import Table
from dossier.words import entries

UNDATED = datetime.date(2000, 1, 1)
"""The date of a PDF whose release has none: the clock must not be asked."""

TITLE: Mapping[contents.Edition, str] = entries("pages")["editions"]
OTHER: Mapping[contents.Edition, str] = {"regulatory": "supplement", "supplement": "core"}
"""What each file of a submission calls the other one."""
SHEETS: Mapping[contents.Edition, tuple[str, ...]] = {"supplement": ("regulatory", "supplement")}
"""The style sheets of an edition that has more than its own: each says only where it differs from those before."""


@dataclass(frozen=True)
class Opened:
    """A chapter that this dossier holds, with its number and its finding."""

    chapter: Chapter
    number: str
    """A number, in the supplement behind an S."""
    finding: sentence.Sentence
    is_continued: bool = False
    """Whether the supplement goes on with what the core says of it."""


def document(
    gallery: Gallery, edition: contents.Edition, page: str = "a4", draft: bool = False, text: bytes | None = None
) -> Document:
    """One edition of a dossier, word for word; `page` is "a4" or "letter"; a draft says so on every page.

    `text` is the results.json of the evidence, where it is written already.
    """
    results = results_of(gallery.evidence).text() if text is None else text
    whole = labels.in_full(living_text.resolved(gallery.evidence))
    evidence = labels.short_names(whole)
    gallery = replace(gallery, evidence=evidence)
    html = _book(gallery, edition, hashlib.sha256(results).hexdigest(), draft, whole)
    styles = material.styles()
    report = evidence.release.report
    own = {
        "letterhead": report.templates is not None and report.templates.letterhead is not None,
        "sans": report.style is not None and report.style.family == "sans",
        "draft": draft,
    }
    names = ("book", page, *SHEETS.get(edition, (edition,)), *(name for name, is_asked in own.items() if is_asked))
    images = {f"figures/{name}.svg": picture.svg for name, picture in gallery.pictures.items()}
    attachments = (Attachment("results.json", "Every number of this dossier", results),)
    return Document(
        html=html,
        stylesheets=tuple(styles / f"{name}.css" for name in names),
        images=images,
        title=numbers.plain(_title(evidence)),
        language="en",
        identifier=hashlib.sha256(html.encode() + results + page.encode()).digest()[:16],
        date=evidence.release.release.date or UNDATED,
        attachments=attachments if edition == "committee" else (),
        archival="pdf/a-3a" if edition == "committee" else "pdf/a-2a",
        full_fonts=edition in contents.SUBMITTED,
    )


def for_the_screen(galleries: Sequence[Gallery], draft: bool, text: bytes, *editions: contents.Edition) -> list[str]:
    """Editions as the file for the screen holds them: word for word, but that a place is a chapter there and no page.

    The galleries are of the same evidence, each for another hospital; `text` is the results.json of the evidence.
    """
    evidence, sha256 = galleries[0].evidence, hashlib.sha256(text).hexdigest()
    # The results under the names of results.json, by the very number that a cell prints.
    since = () if evidence.changes is None else evidence.changes.results
    recorded = {id(result.found): result for result in (*evidence.results, *evidence.subgroups.results, *since)}
    whole = labels.in_full(living_text.resolved(evidence))
    final = labels.short_names(whole)
    shown = [replace(each, evidence=final.at_hospital(each.evidence.local_site)) for each in galleries]
    return [_book(each, edition, sha256, draft, whole, recorded) for edition in editions for each in shown]


def tables(evidence: Evidence) -> Mapping[str, Table]:
    """Every table of the editions by its name, as its chapter makes it, and the key results of a quick look.

    The editions are composed for it, so that no table is made in another way than for the page.
    """
    # In a table of its own a name has room.
    gallery = Gallery(labels.in_full(living_text.resolved(evidence)), {}, {})
    made = [key_results.essentials(gallery.evidence)]
    quick: Sequence[contents.Edition] = ("quick",)
    for edition in contents.ON_PAPER if evidence.has_release_file else quick:
        _book(gallery, edition, "", False, gallery.evidence, made=made)
    if evidence.checklist:
        # Where each chapter of a submission stands, in the core where it stands in both files.
        held = [chapter for chapter in chapters() if chapter.name not in gallery.evidence.release.report.leave_out]
        found = {"cover": f"{TITLE['regulatory']}, page 1"}
        for file in contents.SUBMITTED:
            for each in _opened(gallery.evidence, held, file):
                found.setdefault(each.chapter.name, f"{TITLE[file]}, {each.number} {each.chapter.title}")
        made.append(checklist.table(gallery.evidence, found))
    named: dict[str, Table] = {}
    for table in made:
        named.setdefault(table.name.removeprefix("table-").replace("-", "_"), table)
    return named


def around(gallery: Gallery, draft: bool, **values: Any) -> str:
    """The page that holds what stands on the screen: its head, its tools and what it says of the record."""
    evidence = labels.in_full(living_text.resolved(gallery.evidence))
    given = {"title": _title(evidence), "evidence": evidence, "identity": identity(evidence), "draft": draft, **values}
    return _environment(material.templates(), "html").get_template("book.html").render(say=typeset, **given)


def disclosure_report(evidence: Evidence, audit: Sequence[Audited], text: bytes, page: str = "a4") -> Document:
    """What whoever releases a dossier learns of its protection, on one sheet that is no part of it.

    `audit` is what was found of the small counts, `text` the results.json of the evidence.
    """
    evidence = labels.in_full(evidence)
    return _sheet(
        evidence,
        "disclosure",
        "Disclosure report",
        page,
        identity=f"Beside dossier {identity(evidence)}, and no part of it",
        results_sha256=provenance.grouped(hashlib.sha256(text).hexdigest()),
        finding=released.outcome(evidence, audit),
        datasets=released.datasets(evidence, audit),
        withheld=released.withheld(evidence),
        taken=released.taken(evidence, audit),
    )


def history(every: Sequence[tuple[Evidence, bytes]], page: str = "a4") -> Document:
    """Releases of one model side by side, the earliest first: evidence and results.json of each."""
    known = [labels.in_full(evidence) for evidence, _ in every][-released_before.MOST_RELEASES :]
    return _sheet(
        known[-1],
        "history",
        "History",
        page,
        identity=f"From the results of {words.listing([each.release.release.version for each in known])}",
        hashes=[hashlib.sha256(text).hexdigest()[:16] for _, text in every],
        finding=released_before.finding(known),
        measures=released_before.measures(known),
        answers=released_before.answers(known),
    )


def _sheet(evidence: Evidence, name: str, kind: str, page: str, **values: Any) -> Document:
    """A document of a page or two that is no edition: the templates of a folder, filled."""
    title = numbers.plain(_title(evidence))
    html = _page(evidence, name, title=title, edition_title=kind, **values)
    return Document(
        html=html,
        stylesheets=tuple(material.styles() / f"{sheet}.css" for sheet in ("book", page, "sheet")),
        images={},
        title=f"{kind}: {title}",
        language="en",
        identifier=hashlib.sha256(html.encode() + page.encode()).digest()[:16],
        date=evidence.release.release.date or UNDATED,
    )


def _book(
    gallery: Gallery,
    edition: contents.Edition,
    results_sha256: str,
    draft: bool,
    whole: Evidence,
    recorded: Mapping[int, Result] | None = None,
    made: list[Table] | None = None,
) -> str:
    """An edition as HTML, its tables beside those `made`; for the screen with what is `recorded` of a cell's number.

    `whole` is the evidence with the whole names of its hospitals.
    """
    evidence = gallery.evidence
    held = [chapter for chapter in chapters() if chapter.name not in evidence.release.report.leave_out]
    files = contents.SUBMITTED if edition in contents.SUBMITTED else (edition,)
    opened = {file: _opened(evidence, held, file) for file in files}
    here = {each.chapter.name: each.number for each in opened[edition]}
    beside = [each for file in files if file != edition for each in opened[file]]
    others = [each for each in beside if each.chapter.name not in here or each.is_continued]
    submitted = [chapter for chapter in held if set(files) & set(chapter.editions) and chapter.has(evidence)]
    return _page(
        evidence,
        edition,
        release=evidence.release,
        cut=[both for both in zip(externals(evidence), externals(whole), strict=True) if both[0].site != both[1].site],
        chapters=opened[edition],
        submitted=submitted,
        names={chapter.name for chapter in submitted},
        here=here,
        other=OTHER.get(edition, ""),
        others=others,
        continued={each.chapter.name: each.number for each in others if each.is_continued},
        elsewhere={"cover": "cover of the core" if recorded is not None else "core p. 1"}
        | {each.chapter.name: f"{OTHER[edition]} {each.number}" for each in others},
        missing=[
            unfilled.filled(evidence, chapter)
            for chapter in held
            # Said once: by the first of the files that would print it.
            if [edition] == [file for file in files if file in chapter.editions][:1] and chapter.name not in here
        ],
        edition_title=f"DRAFT, {words.within_sentence(TITLE[edition])}" if draft else TITLE[edition],
        draft=draft,
        on_screen=recorded is not None,
        behind=functools.partial(_behind, evidence, recorded or {}),
        title=_title(evidence),
        results_sha256=results_sha256,
        pictures=gallery.pictures,
        why_absent=lambda name: _why_absent(gallery, name),
        whose_words=_whose_words(evidence, "part"),
        declared=lambda: [
            (item.topic, markdown(text, item.topic), item.number) for item, text in declared.texts(evidence).items()
        ],
        own={chapter.name: markdown(text, chapter.title, own=True) for chapter, _, text in _own(evidence)},
        # What templates may ask of the chapters: prepared tables, lists and texts, never a calculation.
        ask=SimpleNamespace(
            **{
                found.name: importlib.import_module(f"dossier.report.chapters.{found.name}")
                for found in pkgutil.iter_modules(findings.__path__)
            }
        ),
        made=made,
    )


def _page(evidence: Evidence, book: str, made: list[Table] | None = None, **values: Any) -> str:
    """The HTML of an edition, filled with values and what all of them share."""
    template = _environment(material.templates(), book).get_template("book.html")
    names = [dataset.site for dataset in evidence.datasets]
    unlisted = {site.site for site in externals(evidence)}.difference(verdict.listed(evidence))

    def pages_of(table: Table, folds: bool) -> Sequence[Table]:
        table = sentence.with_all_times(evidence, table)
        if made is not None:
            made.append(table)
        return typeset.tables.pages_of(table, names, folds, unlisted)

    given = {"evidence": evidence, "pages_of": pages_of, "identity": identity(evidence), "say": typeset}
    about = [values.get(name, "") for name in ("title", "edition_title", "results_sha256")]
    given |= {"around": own_words.around(evidence, *about), "markdown": markdown}
    given |= {"on_screen": False, "logo": Markup(looks.logo(evidence.release.report.logo or "")), **values}
    # XML reads the end of a line in an attribute as a blank.
    html = ATTRIBUTE.sub(lambda found: found[0].replace("\n", "&#10;"), template.render(given))
    long = LONG_WORD.sub(lambda found: found[0] if found[0].startswith("<") else widths.hyphenated(found[0]), html)
    return PARTED.sub(lambda found: found[0] if found[0].startswith("<") else f"<span>{found[0]}</span>", long)


def _behind(evidence: Evidence, recorded: Mapping[int, Result], found: Estimate) -> Mapping[str, str] | None:
    """What a screen says of a number: its interval, patients and method, and how results.json calls it."""
    result = recorded.get(id(found))
    if result is None:
        return None
    # The committee's words may be of the rest of a share: the measure is named with its own value.
    term = evidence.terms[result.term]
    value = f"{words.within_sentence(term.label)} {numbers.value_of(found, term)}{numbers.unit(term)}"
    bounds = numbers.interval(found, term, wordy=True)
    events = "" if found.events is None else f", {words.counted(found.events, 'event')}"
    more = [value, f"{numbers.level_of(evidence)} interval {bounds}" if bounds else "", f"n {found.n:,}{events}"]
    subset = () if result.subset is None else ((result.subset.column, result.subset.level),)
    at = "".join(f" {name}={value}" for name, value in (*result.at.items(), *subset))
    said = "; ".join(filter(None, (*more, methods.method_text(found.method.steps))))
    return {"more": said, "key": f"{called(result)}@{result.dataset}{at}"}


ATTRIBUTE = re.compile(r'="[^"]*"')
"""What an attribute says, in its quotes."""
LONG_WORD = re.compile(r"<[^>]*>|\b(?![0-9a-f]{64}\b)\w{25,}")
"""A tag, or a word but a hash for which the narrowest lines of the page have no room."""
PARTED = re.compile(rf"<title>.*?</title>|<[^>]*>|[^\s<>]*{numbers.SOFT_HYPHEN}[^\s<>]*", re.DOTALL)
"""A tag, or a word with soft hyphens: as an element of its own, for a column is as narrow as the words before the first
soft hyphen of its text together.
"""


def _why_absent(gallery: Gallery, name: str) -> str:
    """Why the evidence does not allow a picture; a document may be composed before any is drawn."""
    reason = gallery.absent.get(name)
    return "Not drawn." if reason is None else f"{words.sentence_case(reasons.why(gallery.evidence, reason))}."


def _opened(evidence: Evidence, held: Sequence[Chapter], edition: contents.Edition) -> list[Opened]:
    """The chapters of a file that have something to say, with their numbers and findings."""
    here = [chapter for chapter in held if edition in chapter.editions and chapter.has(evidence)]
    if edition != "supplement":
        # The chapters with those of the questions in the order in which page 1 asks them.
        order = grid.chapters(evidence) if here else ()
        asked = iter(sorted((each for each in here if each.name in order), key=lambda each: order.index(each.name)))
        here = _with_own(evidence, [next(asked) if each.name in order else each for each in here], edition)
        return [Opened(each, str(index), each.finding(evidence)) for index, each in enumerate(here, 1)]
    core = {each.chapter.name: each.number for each in _opened(evidence, held, "regulatory")}
    here = [chapter for chapter in here if chapter.name not in core or chapter.continues(evidence)]
    here = _with_own(evidence, here, edition)
    return [
        Opened(each, f"S{index}", sentence.Sentence(f"Continued from chapter {core[each.name]} of the core."), True)
        if each.name in core
        else Opened(each, f"S{index}", (verdict.key_results if each.name == "results" else each.finding)(evidence))
        for index, each in enumerate(here, 1)
    ]


def _own(evidence: Evidence) -> list[tuple[Chapter, str | None, str]]:
    """The chapters that an institution adds, each with the one before it, if it names one, and its text."""
    said = _whose_words(evidence, "chapter")
    parts = [(own, statements.titled(own.file)) for own in evidence.release.report.own]
    return [
        (Chapter(f"own-{number}", part[0], lambda _: said, (own.edition,)), own.after, part[1])
        for number, (own, part) in enumerate(((own, part) for own, part in parts if part is not None), start=1)
    ]


def _whose_words(evidence: Evidence, what: str) -> sentence.Sentence:
    return sentence.Sentence(
        f"The words of this {what} are those of {own_words.whose(evidence)}.",
        "Nobody else answers for them; a number with its interval and n is one of this dossier.",
    )


def _with_own(evidence: Evidence, here: Sequence[Chapter], edition: contents.Edition) -> list[Chapter]:
    """The chapters of a file with those of an institution between them, or behind them all.

    Where the one before is not in this dossier the last one that would stand before that takes its place.
    """
    groups = [[each] for each in here]
    for own, after, _ in _own(evidence):
        if edition in own.editions and groups:
            reached = contents.ORDER[: contents.ORDER.index(after) + 1] if after in contents.ORDER else contents.ORDER
            before = [group for group in groups if group[0].name in reached]
            named = [group for group in before if group[0].name == after]
            nearest = max(before, key=lambda group: contents.ORDER.index(group[0].name), default=groups[0])
            (named or [groups[-1] if after is None else nearest])[0].append(own)
    return [each for group in groups for each in group]


def _title(evidence: Evidence) -> str:
    about = f"{model(evidence)} for {evidence.release.outcome.name}"
    return evidence.release.report.title or f"External validation: {about}"


# ---- the templates --------------------------------------------------------------------------------------------------


HELD = re.compile(r"(?<![\w/.-])[A-Z]-(?=[a-z])|(?:(?<![\w/.-])[A-Za-z]{1,5}|(?<!\S))/(?=[A-Za-z]\w{0,2}(?!\w))")
"""What no line ends with: a single capital with its hyphen, as in H-accuracy; a slash in short words, as in O/E."""


def _held(given: object) -> object:
    """A text as the page holds it: a joiner after what no line may end with."""
    if not isinstance(given, str) or isinstance(given, Markup):
        return given
    return HELD.sub(rf"\g<0>{numbers.JOINER}", given).replace(numbers.HYPHEN, f"-{numbers.JOINER}")


@functools.cache
class _Compiled(jinja2.FileSystemBytecodeCache):
    """Templates, kept as Python keeps modules: compiled once, beside ours, where these may be written."""

    def dump_bytecode(self, bucket: jinja2.bccache.Bucket) -> None:
        """Keep what was compiled."""
        if not sys.dont_write_bytecode:
            with suppress(OSError):
                super().dump_bytecode(bucket)


def _environment(folder: Path, edition: str) -> jinja2.Environment:
    """Templates of the edition first, then those of the book; a name that nobody gave is an error."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader([folder / edition, folder]),
        bytecode_cache=_Compiled(str(Path(__file__).with_name("__pycache__")), "%s.template"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_held,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["fail"] = _fail
    environment.globals["picture_named"] = _picture_named
    return environment


def _fail(what: str) -> None:
    raise errors.PageError.one("template", locations.Material("templates"), message=what)


def _picture_named(pictures: Mapping[str, Picture], name: str) -> Picture | None:
    """A picture, or None when the evidence does not allow it; a misspelt name is an error."""
    if name not in fill("report.figures").figures:
        _fail(f"no figure is called {name}")
    return pictures.get(name)


# ---- declared texts -------------------------------------------------------------------------------------------------


LINE = 163.2
"""The width of a table among declared texts, in mm."""
GAP = 2.4
"""Between two of its columns."""
MOST_BY_NEED = 6
"""Columns that are as wide as their words need; more of them are equally wide."""


def markdown(text: str, topic: str, own: bool = False) -> Markup:
    """A declared text as HTML; its tables are called by the topic that it is on.

    An institution's own has headings, all of one level, and its tables no number: it moves none of ours.
    """
    parser = statements.parser().enable("heading") if own else statements.parser()
    parser.add_render_rule("heading_open", lambda *_: "<h2>")
    parser.add_render_rule("heading_close", lambda *_: "</h2>")
    parser.add_render_rule("table_open", _captioned_table)
    parser.add_render_rule("table_close", _table_end)
    parser.add_render_rule("th_open", lambda *_: '<th scope="col">')
    parser.add_render_rule("text", _text)
    parser.add_render_rule("code_inline", lambda *found: f"<code>{_text(*found)}</code>")
    parser.add_render_rule("image", _text)
    return Markup(parser.render(text, {"topic": topic, "caption": 'caption class="own"' if own else "caption"}))


def _captioned_table(self: Any, tokens: Sequence[Any], index: int, options: Any, env: Any) -> str:
    columns = statements.columns_from(tokens, index)
    env["room"] = (LINE + GAP) / columns - GAP
    # One in a list has less room.
    kind = ' class="even"' if columns > MOST_BY_NEED or tokens[index].level else ""
    return f"<table{kind}><{env['caption']}><b>{escape(env['topic'])}, as declared.</b></caption>"


def _table_end(self: Any, tokens: Sequence[Any], index: int, options: Any, env: Any) -> str:
    del env["room"]
    return "</table>"


def _text(self: Any, tokens: Sequence[Any], index: int, options: Any, env: Any) -> str:
    text = tokens[index].content
    return escapeHtml(str(_held(widths.parted(text, env["room"]) if "room" in env else text)))
