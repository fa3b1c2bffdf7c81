"""One release after the other, from their results alone: core measures by hospital, and which answers changed."""

from __future__ import annotations

from collections.abc import Sequence

from dossier.core import claims, types
from dossier.core.facts import Fact
from dossier.report.chapters.sentence import Sentence
from dossier.typeset.measures import cell
from dossier.typeset.names import ALL_POOLED, label_of
from dossier.typeset.tables import Cell, Column, Reasons, Row, Table, worded
from dossier.typeset.widths import shortened
from dossier.typeset.words import counted, date, listing, sentence_case, setting, within_sentence
from dossier.words import entries

MOST_RELEASES, MOST_SITES = 4, 5
"""The latest releases and the hospitals that two pages have room for."""
WIDEST_NAME = 40.0
"""Of a hospital, in mm, so that each has one line."""
SHOWN = ("auroc", "oe_ratio", "calibration_slope", "ici", "brier", "net_benefit_gain", "sensitivity", "specificity")
"""The measures of the page, at the first threshold of the latest release where they have one."""


def finding(every: Sequence[types.Evidence]) -> Sentence:
    """How many releases there are, from when to when, and what the latest one is compared with that before it."""
    first, last = every[0].release.release, every[-1].release.release
    changed = len(_changed(every))
    said = f"{counted(changed, 'answer')} changed" if changed else "no answer changed"
    days = f"{date(first.date)} to {date(last.date)}"
    return Sentence(f"{counted(len(every), 'release')}, {first.version} to {last.version}: {said}.", f"{days}.")


def measures(every: Sequence[types.Evidence]) -> Table:
    """Each core measure at each hospital and over all, a column a release."""
    last, reasons = every[-1], Reasons(every[-1])
    at = last.release.thresholds.declared[:1]
    sites = [(site.name, site.site) for site in types.externals(last)]
    labels = shortened([label_of(site) for site in types.externals(last)], WIDEST_NAME)
    left = len(sites) - MOST_SITES
    places = [*zip(sites, labels, strict=True)][:MOST_SITES]
    rows: list[Row] = []
    for measure in SHOWN:
        term = last.terms[measure]
        settings: types.At = {"threshold": at[0]} if "threshold" in term.at and at else {}
        if ("threshold" in term.at) != bool(settings):
            continue
        unit = {"per 100": " per 100", "%": ", %,"}.get(term.unit, "")
        where = f" at {setting(at[0])}" if settings else ""
        rows.append(Row(f"{sentence_case(term.label)}{unit}{where}", kind="group"))
        for (name, site), label in [*places, ((types.POOLED, ""), ALL_POOLED)]:
            found = [_found(each, last, measure, name, site, settings) for each in every]
            if any(isinstance(each, types.Estimate) for each in found):
                cells = tuple(cell(each, term, reasons) for each in found)
                rows.append(Row(label, cells, "total" if name == types.POOLED else "row"))
    more = counted(left, "more hospital") if left > 0 else ""
    columns = [Column(each.release.release.version, intervals=True) for each in every]
    return worded("history-measures", rows, columns, reasons.footnotes(), more=more)


def _found(
    evidence: types.Evidence, last: types.Evidence, measure: str, name: str, site: str, at: types.At
) -> types.Estimate | types.Absent:
    """A measure of a hospital in a release: nothing of another outcome, and of another hospital of that name."""
    then, now = types.Predicted.by(evidence.release), types.Predicted.by(last.release)
    if then.is_other(now):
        return types.Absent(Fact("another_outcome_before", before=then.words, now=now.words))
    here = next((each.site for each in evidence.datasets if each.name == name), site)
    if types.folded(here) != types.folded(site):
        return types.Absent(Fact("another_site_before", before=here, now=site))
    results = types.compared(evidence.results, evidence.terms)
    alike = (each.found for each in results if (each.measure, each.dataset, dict(each.at)) == (measure, name, dict(at)))
    return next(alike, types.Absent(Fact("not_measured_before")))


def answers(every: Sequence[types.Evidence]) -> Table:
    """The questions whose answer over all is not the same in every release, and which kept theirs."""
    words = entries("pages")["question"]
    changed = _changed(every)
    rows = [Row(words[question], tuple(Cell.word(state) for state in states)) for question, states in changed.items()]
    same = [within_sentence(words[question]) for question in claims.QUESTIONS if question not in changed]
    columns = [Column(each.release.release.version, words=True) for each in every]
    return worded("history-answers", rows, columns, same=listing(same))


def _changed(every: Sequence[types.Evidence]) -> dict[claims.Question, list[str]]:
    """How each question stood in each release over all, of those that did not always stand alike."""
    stood = {
        question: [claims.about(each, question, "overall")[0].state for each in every] for question in claims.QUESTIONS
    }
    return {question: list(states) for question, states in stood.items() if len(set(states)) > 1}
