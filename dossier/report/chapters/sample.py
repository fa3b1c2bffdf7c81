"""Whether there were enough patients for the precision that is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from dossier.core.multiplicity import is_short_of
from dossier.core.types import Absent, DatasetSummary, Estimate, Evidence, externals, find
from dossier.report.chapters import classes, sentence
from dossier.report.chapters.chapter import any_with_both, chapter, measured
from dossier.typeset.names import events_of
from dossier.typeset.numbers import patients_needed, threshold
from dossier.typeset.tables import Cell, Column, Reasons, Row, Table, worded
from dossier.typeset.words import in_words, listing, sentence_case, within_sentence
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
        measure: [index for index, (_, asked) in enumerate(places) if (f := asked.get(measure)) and is_short_of(f, f.n)]
        for measure in IN_A_SENTENCE
    }
    enough = len(places) - len({name for short in missed.values() for name in short})
    computed = {measure for _, asked in places for measure in asked}
    # What is kept back may be a target that nobody meets.
    some = " that are given" if evidence.is_protected else " that can be computed"
    which = "" if not evidence.is_protected and all(set(asked) == computed for _, asked in places) else some
    noun: Noun = "pair of class and site" if classes.labels(evidence) else "site"
    subject = _who_meets(enough, [name for name, _ in places], noun)
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


Noun = Literal["site", "pair of class and site"]
PLURAL: Mapping[Noun, str] = {"site": "sites", "pair of class and site": "pairs of class and site"}


def _who_meets(enough: int, every: list[str], noun: Noun) -> str:
    """The subject and its verb: who meets what is required."""
    if len(every) == 1:
        return f"{every[0]} {'meets' if enough else 'does not meet'}"
    if enough in (0, len(every)):
        return f"{'Every' if enough else 'No'} {noun} meets"
    meeting, among = sentence_case(in_words(enough)), in_words(len(every))
    return f"{meeting} of {among} {PLURAL[noun]} {'meets' if enough == 1 else 'meet'}"


def _where(names: list[str], among: int, noun: Noun) -> str:
    """A place by its name, several by their number."""
    if len(names) == 1:
        return names[0]
    return f"every {noun}" if len(names) == among else f"{in_words(len(names))} of {in_words(among)}"


def _places(evidence: Evidence) -> Iterator[tuple[str, dict[str, Estimate]]]:
    """Each site, or each class at each site, with the criteria that could be computed."""
    for site in externals(evidence):
        if not site.class_counts:
            yield site.site, _estimated(evidence, site, {})
        for label in site.class_counts:
            yield f"{label} in {site.site}", _estimated(evidence, site, {"class": label})


def _estimated(evidence: Evidence, site: DatasetSummary, which: dict[str, float | str]) -> dict[str, Estimate]:
    asked = _asked(evidence, site, sentence.primary_threshold(evidence), which)
    return {measure: found for measure, found in asked.items() if isinstance(found, Estimate)}


def _asked(
    evidence: Evidence, site: DatasetSummary, at: float | None, which: dict[str, float | str]
) -> dict[str, Estimate | Absent]:
    """What each criterion asks of a site, or of one of its classes; the Brier score is that of all classes."""
    asked = {
        measure: find(evidence, measure, site.name, **({} if measure == "mss_brier" else which)) for measure in CRITERIA
    }
    if at is not None:
        asked["mss_snb"] = find(evidence, "mss_snb", site.name, threshold=at, **which)
    return asked


def needed(evidence: Evidence) -> Table:
    """The patients that each criterion asks for beside those that there are; what is not reached stands out."""
    at = sentence.primary_threshold(evidence)
    reasons = Reasons(evidence)
    rows, known = list(_rows(evidence, at, reasons)), classes.labels(evidence)
    of_threshold = [] if at is None else [f"Net benefit at {threshold(at)}"]
    heads = map(Column, (*CRITERIA.values(), *of_threshold))
    return worded("sample", rows, heads, reasons.footnotes(), known=known)


def _rows(evidence: Evidence, at: float | None, reasons: Reasons) -> Iterator[Row]:
    """A row a site, or of several classes a row each below the name of the site."""
    for site in externals(evidence):
        if not site.class_counts:
            yield Row(site.site, _needed(evidence, site, events_of(site, "0"), at, reasons, {}))
            continue
        yield Row(site.site, kind="group")
        for label, count in site.class_counts.items():
            yield Row(label, _needed(evidence, site, f"{count:,}", at, reasons, {"class": label}))


def _needed(
    evidence: Evidence,
    site: DatasetSummary,
    events: str,
    at: float | None,
    reasons: Reasons,
    which: dict[str, float | str],
) -> tuple[Cell, ...]:
    cells = [Cell(f"{site.n:,}"), Cell.plain(events)]
    for found in _asked(evidence, site, at, which).values():
        if isinstance(found, Absent):
            cells.append(reasons.cell(found))
        else:
            cells.append(Cell(patients_needed(found.value), kind="alert" if is_short_of(found, site.n) else "plain"))
    return tuple(cells)


def widths(evidence: Evidence) -> str:
    """The widths of the 95% intervals that a sample is sized for, and who asks for them."""
    sample = evidence.release.sample
    asked = listing(
        [f"{within_sentence(evidence.terms[measure].label)} {width:g}" for measure, width in sample.width.items()]
    )
    if sample.is_declared:
        return f"no wider than the release asks for: {asked}"
    return f"of the usual widths, as the release declares none: {asked}"


CHAPTER = chapter("sample", finding, measured("sample"), is_given=any_with_both)
