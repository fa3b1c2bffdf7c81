"""How each number of this dossier is computed: formula, interval, source, and where a paper prints another formula."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from dossier.core import facts, types
from dossier.report.chapters import glossary
from dossier.report.chapters.chapter import Chapter, chapter
from dossier.report.chapters.sentence import Sentence
from dossier.typeset import notes, numbers, reasons
from dossier.typeset.measures import printed_in
from dossier.typeset.methods import method_parts, method_text
from dossier.typeset.tables import Cell, Row, Table, worded
from dossier.typeset.words import MOST_NAMED, counted, listing, sentence_case, within_sentence


def finding(evidence: types.Evidence) -> Sentence:
    """How many measures there are, and for how many a paper prints something else."""
    printed = [term for term in _estimated(evidence) if term.on_page]
    other = [term for term in printed if term.differs]
    rest = f"{counted(len(other), 'of them differs', 'of them differ')} from the published form, each with the reason."
    return Sentence(f"Definitions and CI methods of {counted(len(printed), 'measure')}.", rest if other else "")


def tables(evidence: types.Evidence, chapters: Sequence[Chapter]) -> tuple[Table, ...]:
    """A table a chapter: each measure that was estimated, with its formula, its interval as taken, and its source."""
    terms = [term for term in glossary.used(evidence, {each.name for each in chapters}) if term.on_page]
    found = {
        each: [term for term in evidence.terms.values() if term in terms and printed_in(evidence, term) == each.name]
        for each in chapters
    }
    made = []
    for each, members in found.items():
        rows = []
        for term, interval in zip(members, _intervals(evidence, members), strict=True):
            texts = (formula(term), sentence_case(interval), "; ".join(cite.rstrip(".") for cite in term.cites))
            rows.append(Row(sentence_case(term.label), tuple(map(Cell.word, texts))))
        made += [worded("methods", rows, at=each.name, chapter=each.title)] if rows else []
    return tuple(made)


def only_in_files(evidence: types.Evidence) -> tuple[str, ...]:
    """The measures that stand in results.csv alone, by name."""
    return tuple(sentence_case(term.label) for term in _estimated(evidence) if not term.on_page)


def _estimated(evidence: types.Evidence) -> list[types.Term]:
    return glossary.used(evidence, {printed_in(evidence, term) for term in evidence.terms.values()})


def formula(term: types.Term) -> str:
    """The formula with true minus signs; the hyphen of a word stays one."""
    return re.sub(r"(?<![A-Za-z])-|-(?![A-Za-z])", numbers.MINUS, term.formula)


def _intervals(evidence: types.Evidence, terms: list[types.Term]) -> list[str]:
    """How each interval was taken, in all its ways; what neighbours share is said once."""
    said = []
    above = ""
    for term in terms:
        here = _in_all_ways(evidence, _ways(evidence, term))
        said.append("as above" if here and here == above else here)
        above = here
    return said


def _in_all_ways(evidence: types.Evidence, ways: Sequence[tuple[facts.Method, str]]) -> str:
    """The method of most datasets, then what is otherwise in the others, and where that is when it is nowhere else."""
    counts = Counter(method_text(method) for method, _ in ways)
    general: dict[tuple[str, ...], set[str]] = {}
    for method, dataset in sorted(ways, key=lambda way: (-counts[method_text(way[0])], method_text(way[0]))):
        general.setdefault(method_parts(method.without("one_sided")), set()).add(dataset)
    if not general:
        return ""
    first, *others = general
    texts = ["; ".join(first)]
    for way in others:
        where = [site.site for site in types.externals(evidence) if site.name in general[way]]
        alone = len(where) == len(general[way]) <= MOST_NAMED and not general[way] & general[first]
        texts.append(f"{'at ' + listing(where) + ':' if alone else 'or'} {notes.otherwise(first, way)}")
    if any(method.is_one_sided for method, _ in ways):
        texts.append("one-sided where it does not refute perfect calibration")
    return "; ".join(texts)


def _ways(evidence: types.Evidence, term: types.Term) -> list[tuple[facts.Method, str]]:
    """How the interval was taken, with the dataset where it was; not over splits, which is said once for all."""
    found = [
        (each.found.method, each.dataset)
        for each in evidence.by_term[term.name]
        if isinstance(each.found, types.Estimate) and not each.found.method.has(OVER_SPLITS)
    ]
    alone = all(dataset == types.POOLED for _, dataset in found)
    # Without what is said of one dataset alone: counts of clipped risks, of rows left out, of lost replicates.
    return [
        (facts.Method(*(_none_lost(step) for step in method.without("apparent", "risks_clipped", INCOMPLETE))), dataset)
        for method, dataset in found
        if alone or dataset != types.POOLED
    ]


OVER_SPLITS = "mean_over_splits"
"""The step of a method that takes the mean over refitted splits."""


def over_splits(evidence: types.Evidence) -> str:
    """How numbers of refitted splits were taken; empty where there are none."""
    internal = {dataset.name for dataset in evidence.datasets if dataset.role == "internal"}
    own = (result.found for result in evidence.results if result.dataset in internal)
    ways = (found.method for found in own if isinstance(found, types.Estimate))
    return listing(list(dict.fromkeys(method_text(method) for method in ways if method.has(OVER_SPLITS))))


INCOMPLETE = "incomplete_rows"
"""The step of a method that leaves out rows with less than half of the predictors."""


def incomplete(evidence: types.Evidence) -> str:
    """How many rows the measures of similarity leave out at each site, once for all of them; empty for none."""
    left_out = {
        (result.dataset, rows.number)
        for result in evidence.results
        if isinstance(result.found, types.Estimate)
        for step in result.found.method
        if step.code == INCOMPLETE and isinstance(rows := step["rows"], facts.Count)
    }
    said = [
        f"{rows:,} at {site.site}"
        for site in types.externals(evidence)
        for name, rows in sorted(left_out)
        if name == site.name
    ]
    return f"Rows with less than half of the predictors are left out of similarity: {listing(said)}." if said else ""


def _none_lost(step: facts.Fact) -> facts.Fact:
    """Replicates as if none of them had been lost."""
    kept, lost = step.get("kept"), step.get("lost")
    if step.code != "replicates" or not isinstance(kept, int) or not isinstance(lost, int):
        return step
    return facts.Fact("replicates", kept=kept + lost, lost=0)


def pooling(evidence: types.Evidence) -> str:
    """How the sites were taken together, in one sentence; empty when nothing was pooled."""
    pooled = [
        (evidence.terms[result.term].label, method_text(_with_sites(evidence, result.found.method)))
        for result in evidence.by_dataset[types.POOLED]
        if result.term in evidence.terms and isinstance(result.found, types.Estimate)
        if evidence.terms[result.term].chapter not in ("robustness", "pooled")
    ]
    ways = facts.gathered((method, within_sentence(label)) for label, method in pooled)
    # A measure that is taken class by class is pooled once for each class.
    return " ".join(f"{sentence_case(listing(list(dict.fromkeys(labels))))}: {way}." for way, labels in ways.items())


def _with_sites(evidence: types.Evidence, method: facts.Method) -> facts.Method:
    """A method in which datasets and measures stand under the names that a reader knows."""
    names = reasons.known_names(evidence)

    def named(fact: facts.Fact, name: str, value: facts.Value) -> facts.Value:
        if not isinstance(value, str):
            return value
        if name in reasons.DATASETS or (fact.code, name) == ("site", "name"):
            return names.datasets.get(value, value)
        return names.measures.get(value, value) if name == "measure" else value

    return facts.Method(*(step.with_values(named) for step in method))


CHAPTER = chapter("methods", finding)
