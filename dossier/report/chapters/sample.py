"""Whether there were enough patients for the precision that is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from dossier.core.multiplicity import is_short_of
from dossier.core.types import Absent, DatasetSummary, Estimate, Evidence, externals, find
from dossier.report.chapters import classes, sentence, utility
from dossier.report.chapters.chapter import any_with_both, chapter, measured
from dossier.typeset.names import events_of
from dossier.typeset.numbers import patients_needed, threshold
from dossier.typeset.tables import Cell, Column, Reasons, Row, Table, worded
from dossier.typeset.words import in_words, listing, named_or_counted, sentence_case, within_sentence
from dossier.words import entries

CRITERIA = {"mss_auroc": "AUROC", "mss_oe": "O/E", "mss_slope": "Slope", "mss_brier": "Brier score"}
IN_A_SENTENCE: Mapping[str, str] = entries("pages")["sample"]


def finding(evidence: Evidence) -> sentence.Sentence:
    """At how many sites, or pairs of class and site, the patients suffice for every criterion, and which are missed."""
    places = [(name, asked) for name, asked in _places(evidence) if asked]
    if not places:
        return sentence.Sentence("The minimum sample size cannot be computed.")
    missed = {
        # Where there are fewer patients than a criterion asks for.
        measure: [
            index
            for index, (_, asked) in enumerate(places)
            if any(of == measure and is_short_of(found, found.n) for (of, _), found in asked.items())
        ]
        for measure in IN_A_SENTENCE
    }
    enough = len(places) - len({name for short in missed.values() for name in short})
    computed = {criterion for _, asked in places for criterion in asked}
    # What is kept back may be a target that nobody meets.
    some = " that are given" if evidence.is_protected else " that can be computed"
    which = "" if not evidence.is_protected and all(set(asked) == computed for _, asked in places) else some
    both = ("pair of class and site", "pairs of class and site") if classes.labels(evidence) else ("site", "sites")
    noun, subject = both[0], _who_meets(enough, [name for name, _ in places], *both)
    lead = f"{subject} all sample-size targets{which}."
    most_missed = sorted((measure for measure in missed if missed[measure]), key=lambda measure: -len(missed[measure]))
    if not most_missed:
        return sentence.Sentence(lead)
    if len(places) == 1:
        return sentence.Sentence(lead, f"Too few for {listing([IN_A_SENTENCE[measure] for measure in most_missed])}.")
    where = [
        f"for {IN_A_SENTENCE[measure]}: {_where([places[name][0] for name in missed[measure]], len(places), noun)}"
        for measure in most_missed
    ]
    return sentence.Sentence(lead, f"Too few {'; '.join(where)}.")


def _who_meets(enough: int, every: list[str], noun: str, nouns: str) -> str:
    """The subject and its verb: who meets what is required."""
    if len(every) == 1:
        return f"{every[0]} {'meets' if enough else 'does not meet'}"
    if enough in (0, len(every)):
        return f"{'Every' if enough else 'No'} {noun} meets"
    meeting, among = sentence_case(in_words(enough)), in_words(len(every))
    return f"{meeting} of {among} {nouns} {'meets' if enough == 1 else 'meet'}"


def _where(names: list[str], among: int, noun: str) -> str:
    """A place by its name, several by their number."""
    return f"every {noun}" if len(names) == among else named_or_counted(names, 1, among, "").rstrip()


Criterion = tuple[str, float | None]
"""What is asked for, and at which declared threshold."""


def _places(evidence: Evidence) -> Iterator[tuple[str, dict[Criterion, Estimate]]]:
    """Each site, or each class at each site, with the criteria that could be computed."""
    for site in externals(evidence):
        for label in site.class_counts or (None,):
            asked = _asked(evidence, site, label, evidence.release.thresholds.declared)
            known = {criterion: found for criterion, found in asked.items() if isinstance(found, Estimate)}
            yield f"{label} in {site.site}" if label else site.site, known


def _asked(
    evidence: Evidence, site: DatasetSummary, label: str | None, thresholds: Sequence[float]
) -> dict[Criterion, Estimate | Absent]:
    """What each criterion asks of a site, or of one of its classes; the Brier score is that of all classes."""
    which = classes.at(label)
    asked: dict[Criterion, Estimate | Absent] = {
        (measure, None): find(evidence, measure, site.name, **({} if measure == "mss_brier" else which))
        for measure in CRITERIA
    }
    return asked | {
        ("mss_snb", at): find(evidence, "mss_snb", site.name, **{"threshold": at, **which}) for at in thresholds
    }


def needed(evidence: Evidence) -> Table:
    """The patients that each criterion asks for beside those that there are; what is not reached stands out."""
    thresholds = evidence.release.thresholds.declared[: utility.MOST_THRESHOLDS]
    reasons = Reasons(evidence)
    rows, known = list(_rows(evidence, thresholds, reasons)), classes.labels(evidence)
    heads = map(Column, (*CRITERIA.values(), *(f"Net benefit at {threshold(at)}" for at in thresholds)))
    return worded("sample", rows, heads, reasons.footnotes(), known=known)


def _rows(evidence: Evidence, thresholds: Sequence[float], reasons: Reasons) -> Iterator[Row]:
    """A row a site, or of several classes a row each below the name of the site."""
    for site in externals(evidence):
        if site.class_counts:
            yield Row(site.site, kind="group")
        for label in site.class_counts or (None,):
            events = f"{site.class_counts[label]:,}" if label else events_of(site, "0")
            cells = [Cell(f"{site.n:,}"), Cell.plain(events)]
            for found in _asked(evidence, site, label, thresholds).values():
                if isinstance(found, Absent):
                    cells.append(reasons.cell(found))
                    continue
                kind: Literal["alert", "plain"] = "alert" if is_short_of(found, site.n) else "plain"
                cells.append(Cell(patients_needed(found.value), kind=kind))
            yield Row(label or site.site, tuple(cells))


def widths(evidence: Evidence) -> str:
    """The widths of the 95% intervals that a sample is sized for, and who asks for them."""
    sample = evidence.release.sample
    asked = listing(
        [f"{within_sentence(evidence.terms[measure].label)} {width:g}" for measure, width in sample.width.items()]
    )
    how = (
        "no wider than the release asks for"
        if sample.is_declared
        else "of the usual widths, as the release declares none"
    )
    return f"{how}: {asked}"


CHAPTER = chapter("sample", finding, measured("sample"), is_given=any_with_both)
