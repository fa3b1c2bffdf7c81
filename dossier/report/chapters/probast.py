"""Evidence for a judgement of the risk of bias: where each question of PROBAST+AI finds its answer, unjudged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dossier.core.types import Evidence
from dossier.report.chapters import checklist, sentence
from dossier.report.chapters.chapter import chapter, is_checked
from dossier.typeset.words import counted, within_sentence
from dossier.words import entries


@dataclass(frozen=True)
class Question:
    """A question in our words, the rows of the checklist and the chapters that hold evidence, and the flags on it."""

    domain: str
    asks: str
    items: Sequence[str]
    chapters: Sequence[str] = ()
    flags: Sequence[str] = ()


QUESTIONS = tuple(Question(**each) for each in entries("pages")["probast"])


@dataclass(frozen=True)
class Line:
    """A question with its evidence: the rows that answer it, further chapters, and what speaks against it."""

    question: Question
    rows: tuple[tuple[str, checklist.Line], ...]
    """Each row in words and as the checklist prints it, so that both name the same page."""
    further: tuple[str, ...]
    against: str


def finding(evidence: Evidence) -> sentence.Sentence:
    """What this page is, and what it leaves to the assessor."""
    return sentence.Sentence(
        f"Evidence for {counted(len(QUESTIONS), 'question')}, and no judgement.",
        "An assessor, not the author of the model, fills the boxes.",
    )


def domains(evidence: Evidence) -> list[tuple[str, list[Line]]]:
    """The questions with their evidence, domain by domain."""
    lines = [_line(evidence, question) for question in QUESTIONS]
    domains = dict.fromkeys(line.question.domain for line in lines)
    return [(domain, [line for line in lines if line.question.domain == domain]) for domain in domains]


def _line(evidence: Evidence, question: Question) -> Line:
    known = {row.item.number: row for row in checklist.lines(evidence)}
    named = [known[item] for item in question.items if item in known]
    rows = tuple((_named(row), row) for row in named)
    pointed_to = {"context", *(row.where for row in named if not row.is_said)}
    raised = [flag for flag in evidence.flags if flag.flag in question.flags]
    answered = sum(flag.reply is not None for flag in raised)
    against = f"{counted(len(raised), 'limitation')}, {answered or 'none'} answered" if raised else ""
    return Line(question, rows, tuple(chapter for chapter in question.chapters if chapter not in pointed_to), against)


def _named(row: checklist.Line) -> str:
    """A row of the checklist by its number; how it stands only where it does not simply answer."""
    answers = row.state in ("computed", "declared", "narrative")
    return row.item.number if answers else f"{row.item.number} {within_sentence(row.status)}"


CHAPTER = chapter("probast", finding, is_checked)
