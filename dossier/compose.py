"""Gallery -> Document: the templates of one edition, filled. After this the words are final."""

from __future__ import annotations

import datetime
import functools
import hashlib
import importlib
import re
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jinja2
from markdown_it import MarkdownIt
from markupsafe import Markup, escape

from dossier import checklist, material, typeset, unfilled
from dossier.contents import CHAPTERS, EDITIONS, MEASURED, Chapter, Edition
from dossier.errors import PageError
from dossier.faults.locations import Material
from dossier.findings.sentence import Sentence
from dossier.results import of as results_of
from dossier.types import POOLED, Attachment, Document, Evidence, Gallery, Picture
from dossier.typeset.labels import labelled
from dossier.typeset.measures import chapter_is_empty, is_estimated
from dossier.typeset.names import identity, model
from dossier.typeset.words import within_sentence

UNDATED = datetime.date(2000, 1, 1)
"""The date of a PDF whose release has none: the clock must not be asked."""

TITLE = {"regulatory": "Regulatory edition", "committee": "Committee edition", "quick": "Quick look"}


@dataclass(frozen=True)
class Opened:
    """A chapter that this dossier holds, with its number and its finding."""

    chapter: Chapter
    number: str
    """A number in the core, a letter in the annex."""
    finding: Sentence
    starts_part: bool


def document(gallery: Gallery, edition: Edition, page: str = "a4", draft: bool = False) -> Document:
    """One edition of a dossier, word for word; `page` is "a4" or "letter"; a draft says so on every page."""
    results = results_of(gallery.evidence).text()
    gallery = replace(gallery, evidence=labelled(gallery.evidence))
    evidence = gallery.evidence
    html = _book(gallery, edition, hashlib.sha256(results).hexdigest(), draft)
    styles = material.styles()
    # A style sheet of a page size or an edition says only where it differs from the book's.
    names = ("book", page, edition, *(["draft"] if draft else []))
    images = {f"figures/{name}.svg": picture.svg for name, picture in gallery.pictures.items()}
    attachments = (Attachment("results.json", "Every number of this dossier", results),)
    return Document(
        html=html,
        stylesheets=tuple(styles / f"{name}.css" for name in names),
        images=images,
        title=_title(evidence),
        language="en",
        identifier=hashlib.sha256(html.encode() + results + page.encode()).digest()[:16],
        date=evidence.release.release.date or UNDATED,
        attachments=attachments if edition == "committee" else (),
        archival="pdf/a-3a" if edition == "committee" else "pdf/a-2a",
        full_fonts=edition == "regulatory",
    )


def _book(gallery: Gallery, edition: Edition, results_sha256: str, draft: bool) -> str:
    evidence = gallery.evidence
    left_out = evidence.release.report.leave_out
    held = [chapter for chapter in CHAPTERS if chapter.name in EDITIONS[edition] and chapter.name not in left_out]
    present = [chapter for chapter in held if _has_content(evidence, chapter.name)]
    return (
        _environment(material.templates(), edition)
        .get_template("book.html")
        .render(
            evidence=evidence,
            release=evidence.release,
            chapters=_opened(evidence, present),
            names={chapter.name for chapter in present},
            missing=[unfilled.filled(evidence, chapter) for chapter in held if chapter not in present],
            edition=edition,
            edition_title=f"DRAFT, {within_sentence(TITLE[edition])}" if draft else TITLE[edition],
            draft=draft,
            title=_title(evidence),
            identity=identity(evidence),
            results_sha256=results_sha256,
            said=lambda number: _said(evidence, number),
            pictures=gallery.pictures,
            declared=lambda chapter: _statements(evidence, chapter, present),
            say=typeset,
            ask=SimpleNamespace(**_questions()),
        )
    )


def _opened(evidence: Evidence, present: Sequence[Chapter]) -> list[Opened]:
    """The chapters with their numbers and findings."""
    core = sum(chapter.part == "Core" for chapter in present)
    return [
        Opened(
            chapter,
            str(place + 1) if place < core else LETTERS[place - core],
            importlib.import_module(f"dossier.findings.{chapter.name}").finding(evidence),
            starts_part=place in (0, core),
        )
        for place, chapter in enumerate(present)
    ]


LETTERS = string.ascii_uppercase


def _questions() -> Mapping[str, Any]:
    """What templates may ask of the chapters: prepared tables, lists and texts, never a calculation."""
    chapters = (
        "abstract",
        "acceptance",
        "accuracy",
        "advice",
        "caution",
        "changes",
        "checklist",
        "classes",
        "committee",
        "comparison",
        "correspondence",
        "description",
        "discrimination",
        "glossary",
        "human_factors",
        "limitations",
        "model_card",
        "methods",
        "nomogram",
        "pooled",
        "probast",
        "provenance",
        "references",
        "reliability",
        "results",
        "robustness",
        "sample",
        "severity",
        "sign_off",
        "subgroups",
        "supporting",
        "utility",
        "verdict",
    )
    return {name: importlib.import_module(f"dossier.findings.{name}") for name in chapters}


def _has_content(evidence: Evidence, chapter: str) -> bool:
    """Whether a chapter has anything to print."""
    if chapter == "context":
        return any(checklist.home(item) == "context" for item in _stated(evidence))
    if chapter in ("checklist", "probast", "model_card", "sign_off"):
        return bool(evidence.checklist)
    if chapter == "acceptance":
        return bool(evidence.criteria)
    if chapter == "changes":
        return evidence.changes is not None
    if chapter == "comparison" and not evidence.release.rivals:
        return False
    if chapter == "nomogram":
        return evidence.release.model is not None
    if chapter == "pooled":
        return any(result.dataset == POOLED and is_estimated(result) for result in evidence.results)
    if chapter == "subgroups":
        return bool(evidence.subgroups.summaries)
    if chapter == "caution":
        return bool(importlib.import_module("dossier.findings.caution").cautioned(evidence))
    return chapter not in MEASURED or not chapter_is_empty(evidence, chapter)


def _title(evidence: Evidence) -> str:
    return f"External validation: {model(evidence)} for {evidence.release.outcome.name}"


# ---- the templates --------------------------------------------------------------------------------------------------


LONGEST_UNBROKEN = 24
"""Letters of a name that is not parted at the end of a line; a longer one would leave too much room."""


@jinja2.pass_context
def _unbroken(context: jinja2.runtime.Context, text: str) -> Markup:
    """A sentence in which O/E, words with a hyphen and the names of sites stay on one line."""
    sites = {one.site for one in context["evidence"].datasets if len(one.site) <= LONGEST_UNBROKEN}
    names = sorted((re.escape(site) for site in sites), key=len, reverse=True)
    parts = re.split(rf"((?<!\w)(?:{'|'.join(['O/E', *names])})(?!\w)|\w{{1,12}}-\w{{1,12}})", text)
    return Markup("").join(
        Markup('<span class="unbroken">{}</span>').format(part) if place % 2 else escape(part)
        for place, part in enumerate(parts)
    )


@functools.cache
def _environment(folder: Path, edition: Edition) -> jinja2.Environment:
    """Templates of the edition first, then those of the book; a name that nobody gave is an error."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader([folder / edition, folder]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["unbroken"] = _unbroken
    environment.globals["fail"] = _fail
    environment.globals["picture_named"] = _picture_named
    return environment


def _fail(what: str) -> None:
    raise PageError.one("template", Material("templates"), message=what)


def _picture_named(pictures: Mapping[str, Picture], name: str) -> Picture | None:
    """A picture, or None when the evidence does not allow it; a misspelt name is an error."""
    from dossier.register import fill

    if name not in fill("figures").figures:
        _fail(f"no figure is called {name}")
    return pictures.get(name)


# ---- declared texts -------------------------------------------------------------------------------------------------


def _stated(evidence: Evidence) -> list[checklist.Item]:
    """The rows of the checklist of which the release says something in words."""
    return [item for item in checklist.ITEMS if item.number in evidence.statements]


def _said(evidence: Evidence, number: str) -> Markup | None:
    """The declared text of one row of the checklist, if there is one."""
    return markdown(evidence.statements[number], checklist.TOPICS[number]) if number in evidence.statements else None


def _statements(evidence: Evidence, chapter: str, present: Sequence[Chapter]) -> list[tuple[str, Markup, str]]:
    """The declared texts that a chapter prints, each with its topic and row; those of a chapter that stays away go
    first."""
    names = {one.name for one in present}
    first = next((name for name in ("context", "description") if name in names), "")
    return [
        (item.topic, markdown(evidence.statements[item.number], item.topic), item.number)
        for item in _stated(evidence)
        if (checklist.home(item) if checklist.home(item) in names else first) == chapter
    ]


def markdown(text: str, topic: str) -> Markup:
    """A declared text as HTML: paragraphs, lists, tables and emphasis; raw HTML and pictures stay plain text.

    Its tables are called by the topic that the text is on.
    """
    parser = MarkdownIt("commonmark", {"html": False}).enable("table").disable(["image", "heading", "lheading"])
    parser.add_render_rule("table_open", _captioned_table)
    parser.add_render_rule("th_open", _header_cell)
    return Markup(parser.render(text, {"topic": topic}))


def _captioned_table(self: Any, tokens: Sequence[Any], index: int, options: Any, env: Any) -> str:
    return f"<table><caption><b>{escape(env['topic'])}, as declared.</b></caption>"


def _header_cell(self: Any, tokens: Sequence[Any], index: int, options: Any, env: Any) -> str:
    return '<th scope="col">'
