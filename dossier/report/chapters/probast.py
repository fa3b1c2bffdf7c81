"""Evidence for a judgement of the risk of bias: where each question of PROBAST+AI finds its answer, unjudged."""

from __future__ import annotations

from dataclasses import dataclass

from dossier.core.types import Evidence
from dossier.report.chapters import checklist
from dossier.report.chapters.chapter import chapter, is_checked
from dossier.report.chapters.sentence import Sentence
from dossier.typeset.words import counted, within_sentence

DOMAINS = ("Participants and data sources", "Predictors", "Outcome", "Analysis")


@dataclass(frozen=True)
class Question:
    """A question in our words, the rows of the checklist and the chapters that hold evidence, and the flags on it."""

    domain: str
    asks: str
    items: tuple[str, ...]
    chapters: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()


QUESTIONS = (
    Question(DOMAINS[0], "Was the source of data suitable and traceable?", ("5a",), ("context", "provenance")),
    Question(DOMAINS[0], "Was the design suitable for the task?", ("5a", "6a"), ("context",), ("prevalence_shift",)),
    Question(
        DOMAINS[0],
        "Do inclusions and exclusions leave a representative set?",
        ("6b", "20a"),
        ("description", "correspondence"),
        ("rows_excluded", "rows_selected", "case_mix_shift"),
    ),
    Question(DOMAINS[1], "Were predictors defined and assessed alike for all?", ("9b",), ("context", "description")),
    Question(DOMAINS[1], "Was pre-processing alike for all?", ("7",), ("description",)),
    Question(DOMAINS[1], "Were predictors assessed without knowing the outcome?", ("9b", "9c"), ("context",)),
    Question(DOMAINS[1], "Were predictors available when the model is meant to be used?", ("3b", "9b"), ("context",)),
    Question(DOMAINS[2], "Was the outcome defined and assessed well?", ("8a", "8b"), ("context",), ("wrong_order",)),
    Question(DOMAINS[2], "Was it so for all participants?", ("8a",), ("context", "description"), ("prevalence_shift",)),
    Question(DOMAINS[2], "Was it assessed without knowing the predictors?", ("8c",), ("context",), ("never_wrong",)),
    Question(
        DOMAINS[2],
        "Was the time between predictors and outcome right?",
        ("8a", "5b"),
        ("description",),
        ("dates_missing",),
    ),
    Question(DOMAINS[3], "Is it more than apparent performance?", ("5a", "20c"), ("correspondence",), ("shared_rows",)),
    Question(
        DOMAINS[3],
        "Was the sample large enough?",
        ("10",),
        ("sample",),
        ("few_events", "few_in_subgroup", "precision_missed"),
    ),
    Question(
        DOMAINS[3],
        "Were missing and censored data handled rightly?",
        ("11",),
        ("description",),
        ("rows_excluded", "missing_values", "missing_predictor"),
    ),
    Question(DOMAINS[3], "If classes were rebalanced, was the test run on uncorrected data?", ("13",), ("context",)),
    Question(
        DOMAINS[3], "Splitting: was leakage avoided?", ("12a",), ("description",), ("shared_rows", "duplicate_rows")
    ),
    Question(DOMAINS[3], "Resampling: were all steps repeated?", ("12a",), ("robustness",)),
    Question(
        DOMAINS[3],
        "Was performance judged by calibration, discrimination and net benefit?",
        ("12e", "23a"),
        ("discrimination", "calibration", "utility"),
    ),
)


@dataclass(frozen=True)
class Line:
    """A question with its evidence: the rows that answer it, further chapters, and what speaks against it."""

    question: Question
    rows: tuple[tuple[str, checklist.Line], ...]
    """Each row in words and as the checklist prints it, so that both name the same page."""
    further: tuple[str, ...]
    against: str


def finding(evidence: Evidence) -> Sentence:
    """What this page is, and what it leaves to the assessor."""
    return Sentence(
        f"Evidence for {counted(len(QUESTIONS), 'question')}, and no judgement.",
        "An assessor, not the author of the model, fills the boxes.",
    )


def domains(evidence: Evidence) -> list[tuple[str, list[Line]]]:
    """The questions with their evidence, domain by domain."""
    lines = [_line(evidence, question) for question in QUESTIONS]
    return [(domain, [line for line in lines if line.question.domain == domain]) for domain in DOMAINS]


def _line(evidence: Evidence, question: Question) -> Line:
    known = {row.item.number: row for row in checklist.lines(evidence)}
    named = [known[item] for item in question.items if item in known]
    rows = tuple((_named(row), row) for row in named)
    pointed_to = {"context", *(row.where for row in named if not row.is_said)}
    raised = [flag for flag in evidence.flags if flag.flag in question.flags]
    answered = sum(flag.reply is not None for flag in raised)
    against = f"{counted(len(raised), 'limitation')}, {answered or 'none'} answered" if raised else ""
    further = tuple(chapter for chapter in question.chapters if chapter not in pointed_to)
    return Line(question, rows, further, against)


def _named(row: checklist.Line) -> str:
    """A row of the checklist by its number; how it stands only where it does not simply answer."""
    answers = row.state in ("computed", "declared", "narrative")
    return row.item.number if answers else f"{row.item.number} {within_sentence(row.status)}"


CHAPTER = chapter("probast", finding, is_checked)
