"""One release after the other, from their results alone: core measures by hospital, and which answers changed."""

from __future__ import annotations

from collections.abc import Sequence

from dossier.core import claims, types
from dossier.core.facts import Fact
from dossier.report.chapters.sentence import Sentence
from dossier.typeset.measures import cell
from dossier.typeset.names import ALL_POOLED, label_of
from dossier.typeset.tables import NOT_COMPUTED, Cell, Column, Reasons, Row, Table, worded
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
    changed = sum(name == types.POOLED for _, name in _changed(every))
    said = f"{counted(changed, 'answer')} changed" if changed else "no answer changed"
    days = f"{date(first.date)} to {date(last.date)}"
    return Sentence(f"{counted(len(every), 'release')}, {first.version} to {last.version}: {said}.", f"{days}.")


def measures(every: Sequence[types.Evidence]) -> Table:
    """Each core measure at each hospital and over all, a column a release."""
    last, reasons = every[-1], Reasons(every[-1])
    at = last.release.thresholds.declared[:1]
    places = _places(last)
    left = len(places) - 1 - MOST_SITES
    rows: list[Row] = []
    for measure in SHOWN:
        term = last.terms[measure]
        settings: types.At = {"threshold": at[0]} if "threshold" in term.at and at else {}
        if ("threshold" in term.at) != bool(settings):
            continue
        unit = {"per 100": " per 100", "%": ", %,"}.get(term.unit, "")
        where = f" at {setting(at[0])}" if settings else ""
        rows.append(Row(f"{sentence_case(term.label)}{unit}{where}", kind="group"))
        for name, (site, label) in [*[*places.items()][:-1][:MOST_SITES], (types.POOLED, places[types.POOLED])]:
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


def _places(evidence: types.Evidence) -> dict[str, tuple[str, str]]:
    """The hospital of each external dataset with its label, and last all of them together."""
    sites = types.externals(evidence)
    labels = shortened([label_of(site) for site in sites], WIDEST_NAME)
    named = {site.name: (site.site, label) for site, label in zip(sites, labels, strict=True)}
    return {**named, types.POOLED: ("", ALL_POOLED)}


def answers(every: Sequence[types.Evidence]) -> Table:
    """The questions whose answer is not the same in every release, over all or at a hospital, and which kept theirs."""
    words, changed, labels, rows = entries("pages")["question"], _changed(every), _places(every[-1]), list[Row]()
    for question in dict.fromkeys(question for question, _ in changed):
        rows.append(Row(words[question], kind="group"))
        for name in (name for asked, name in changed if asked == question):
            cells = [Cell.word(state) if state else NOT_COMPUTED for state in changed[question, name]]
            rows.append(Row(labels[name][1], tuple(cells), "total" if name == types.POOLED else "row"))
    same = [within_sentence(words[each]) for each in claims.QUESTIONS if each not in {asked for asked, _ in changed}]
    columns = [Column(each.release.release.version, words=True) for each in every]
    return worded("history-answers", rows, columns, same=listing(same))


def _changed(every: Sequence[types.Evidence]) -> dict[tuple[claims.Question, str], list[types.State | None]]:
    """How each question stood in each release, at each hospital and over all, where it did not always stand alike."""
    stood = {
        (question, name): [_state(each, question, name, site) for each in every]
        for question in claims.QUESTIONS
        for name, (site, _) in _places(every[-1]).items()
    }
    return {where: states for where, states in stood.items() if len({*states} - {None}) > 1}


def _state(evidence: types.Evidence, question: claims.Question, name: str, site: str) -> types.State | None:
    """The gravest answer at a hospital, or that over all; None where the hospital, or an answer of it, is not there."""
    if name == types.POOLED:
        return claims.about(evidence, question, "overall")[0].state
    here = {(each.name, types.folded(each.site)) for each in evidence.datasets}
    known = claims.about(evidence, question, "hospital") if (name, types.folded(site)) in here else ()
    return next((claim.state for claim in known if claim.dataset == name), None)
