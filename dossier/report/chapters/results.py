"""The first page's answer: does the model rank, are its risks right, what to expect elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from dossier.core.bands import FEW_FOR_POOLING as VERY_FEW
from dossier.core.bands import OE_TOLERATED
from dossier.core.types import POOLED, At, DatasetSummary, Estimate, Evidence, expected_range, externals, find, find_all
from dossier.report.chapters import classes, sentence, subgroups
from dossier.report.chapters.chapter import chapter
from dossier.typeset import notes, numbers, words
from dossier.typeset.measures import cell, needs_words
from dossier.typeset.names import all_events, at_horizon, at_least, events_of, marks_of_rivals
from dossier.typeset.tables import Cell, Column, Reasons, Row, Table, worded
from dossier.words import entries


def finding(evidence: Evidence) -> sentence.Sentence:
    """Discrimination over all sites, what a new site may expect, and where the risks are off."""
    if classes.labels(evidence):
        return classes.results(evidence)
    pooled = find(evidence, "auroc", POOLED)
    if isinstance(pooled, Estimate):
        lead = f"The pooled AUROC is {numbers.in_text(evidence, 'auroc', pooled)}."
        return sentence.Sentence(lead, f"{sentence.new_hospital(evidence)} {_risks(evidence)}")
    sites = sentence.estimated(evidence, "auroc")
    span = f"The AUROC {sentence.over_sites(evidence, 'auroc', sites)}." if sites else ""
    return sentence.Sentence(span or "At no external site can discrimination be estimated.", _risks(evidence))


def _risks(evidence: Evidence) -> str:
    """Where more or fewer events came than the risks add up to; else the range of O/E."""
    sites = sentence.estimated(evidence, "oe_ratio")
    off = sentence.where_risks_are_off(evidence)
    if off or not sites:
        return off
    return f"Observed over expected events (O/E) {sentence.over_sites(evidence, 'oe_ratio', sites)}."


def essentials(evidence: Evidence) -> Table:
    """The four essentials by site: how many, AUROC, O/E and slope, net benefit at the primary threshold."""
    at = evidence.release.thresholds.primary
    known = classes.labels(evidence)
    asked: list[tuple[str, str, dict[str, float | str]]] = []
    asked += [("AUROC", "auroc", {}), ("O/E", "oe_ratio", {}), ("Slope", "calibration_slope", {})]
    if known:
        asked = [("AUROC", "auroc", {}), ("Brier", "brier", {})]
        asked += [("Severity", "mean_severity", {})] if evidence.release.severity else []
    elif at is not None:
        asked.append((f"Gain at{numbers.TIED}{numbers.threshold(at)}", "net_benefit_gain", {"threshold": at}))
    reasons = Reasons(evidence)
    sites = externals(evidence)
    rows = []
    for site in sites:
        # The events of a site, or of several classes the one with the fewest patients.
        label, count = min(site.class_counts.items(), key=lambda pair: pair[1], default=("", 0))
        cells = [Cell.count(site.n), Cell.plain(f"{label}: {count:,}" if label else events_of(site))]
        cells += [_of_site(evidence, site.name, measure, setting, reasons) for _, measure, setting in asked]
        rows.append(Row(site.site, tuple(cells)))
    if len(sites) > 1:
        rows += _together(evidence, [(measure, setting) for _, measure, setting in asked], reasons)
    lowest, highest = (numbers.number(end) for end in OE_TOLERATED)
    return worded(
        "key-results",
        rows,
        [Column(label, intervals=True) for label, _, _ in asked],
        reasons.footnotes(),
        level=numbers.level_of(evidence),
        lowest=lowest,
        highest=highest,
        known=known,
        gain="" if at is None or known else subgroups.GAIN,
        left=not_pooled(evidence, asked),
        stratified=rows[-1].label == ALL_ROWS,
    )


def _of_site(evidence: Evidence, dataset: str, measure: str, setting: dict[str, float | str], reasons: Reasons) -> Cell:
    found = find(evidence, measure, dataset, **setting)
    term = evidence.terms[measure]
    if classes.labels(evidence):
        # The measures of several classes stand side by side only with so many digits; their chapters print all.
        term = replace(term, digits=min(term.digits, 2))
    return cell(found, term, reasons, wordy=_has_negative(evidence, measure))


def _has_negative(evidence: Evidence, measure: str) -> bool:
    """Whether a bound of this measure is negative at any site."""
    return needs_words(result.found for result in find_all(evidence, measure) if "against" not in result.at)


def _together(evidence: Evidence, asked: Sequence[tuple[str, At]], reasons: Reasons) -> list[Row]:
    """The last rows: what is pooled, and where sites cannot be pooled what the rows of all of them say."""
    every = externals(evidence)
    # The sites with enough of both outcomes to be pooled, where every pooled number rests on them; else all sites.
    kept = [site for site in every if not sentence.scarce(site, VERY_FEW)]
    each = (find(evidence, measure, POOLED, **setting) for measure, setting in asked)
    same = {found.n for found in each if isinstance(found, Estimate)} == {sum(site.n for site in kept)}
    rows = [_total(evidence, "All, pooled", kept if same else every, asked, reasons)]
    stratified: list[tuple[str, At]] = [(measure, {**setting, "estimator": "stratified"}) for measure, setting in asked]
    if any(isinstance(find(evidence, measure, POOLED, **setting), Estimate) for measure, setting in stratified):
        rows.append(_total(evidence, ALL_ROWS, every, stratified, reasons))
    return rows


ALL_ROWS = "All rows, stratified"


def _total(
    evidence: Evidence, label: str, sites: Sequence[DatasetSummary], asked: Sequence[tuple[str, At]], reasons: Reasons
) -> Row:
    """What all sites say together, with the patients and events that it rests on."""
    cells = [Cell.count(sum(site.n for site in sites)), Cell.plain("" if classes.labels(evidence) else _events(sites))]
    for measure, setting in asked:
        found = find(evidence, measure, POOLED, **setting)
        cells.append(cell(found, evidence.terms[measure], reasons, _has_negative(evidence, measure)))
    return Row(label, tuple(cells), "total")


def not_pooled(evidence: Evidence, asked: Iterable[tuple[str, str, At]]) -> str:
    """On how many sites and patients what is pooled rests, where that is not all of them."""
    every = len(externals(evidence))
    pooled = [(label, find(evidence, measure, POOLED, **setting)) for label, measure, setting in asked]
    rests = {
        label: (int(found.details.get("k") or every), found.n) for label, found in pooled if isinstance(found, Estimate)
    }
    if all(count == every for count, _ in rests.values()):
        return ""
    if len(set(rests.values())) == 1:
        count, patients = next(iter(rests.values()))
        return f" Pooled are {count} of {every:,} sites, with {words.counted(patients, 'patient')}."
    texts = [f"{label} {count} ({words.counted(patients, 'patient')})" for label, (count, patients) in rests.items()]
    return f" Pooled, of {every:,} sites: {words.listing(texts)}."


def _events(sites: Sequence[DatasetSummary]) -> str:
    """The events of all sites that tell theirs; a word where none does."""
    known = [site.events for site in sites if site.events is not None]
    return f"{at_least(sites)}{sum(known):,}" if known else "withheld" if at_least(sites) else "absent"


def caption(evidence: Evidence) -> str:
    """What the four pictures of the first page rest on, in one breath; each chapter says more."""
    sites, at = externals(evidence), evidence.release.thresholds.primary
    pooled, scarce = find(evidence, "auroc", POOLED), [bool(sentence.scarce(site, VERY_FEW)) for site in sites]
    is_single = len(sites) == 1
    return sentence.phrase(
        "caption",
        "classes" if classes.labels(evidence) else "two",
        patients=words.counted(sum(site.n for site in sites), "patient"),
        events=all_events(sites),
        less=at_horizon(sites),
        level=numbers.level_of(evidence),
        made=notes.intervals_of((site.site, find(evidence, "auroc", site.name)) for site in sites),
        new=isinstance(pooled, Estimate) and expected_range(pooled) is not None,
        several=not is_single,
        left=not is_single and any(scarce),
        others="".join(f"; small {mark}, {name}" for mark, name in marks_of_rivals(evidence).items()),
        at="" if at is None else numbers.threshold(at),
        alone=is_single or all(scarce),
    )


PANELS: tuple[tuple[str, str], ...] = tuple(entries("pages")["panels"].items())
PANELS_OF_CLASSES: tuple[tuple[str, str], ...] = tuple(entries("pages")["panels_of_classes"].items())


def panels(evidence: Evidence) -> tuple[tuple[str, str], ...]:
    """The four pictures with what each shows, two of them beside each other."""
    return PANELS_OF_CLASSES if classes.labels(evidence) else PANELS


CHAPTER = chapter("results", finding)
