"""What the sites say together, and what a new one may expect."""

from __future__ import annotations

from collections.abc import Callable

from dossier.core import bands
from dossier.core.types import MACRO, POOLED, Absent, Estimate, Evidence, Result, Term, expected_range, find
from dossier.report.chapters import sentence
from dossier.report.chapters.chapter import chapter
from dossier.typeset import measures, tables, words
from dossier.typeset.numbers import bound_of, in_text, level_of, number, threshold
from dossier.typeset.reasons import why


def finding(evidence: Evidence) -> sentence.Sentence:
    """The pooled O/E with its prediction interval; the AUROC, which other chapters give, where classes have no O/E."""
    auroc, ratio = find(evidence, "auroc", POOLED), find(evidence, "oe_ratio", POOLED)
    if isinstance(auroc, Absent):
        rest, fixed = "", find(evidence, "auroc", POOLED, estimator="stratified")
        if isinstance(fixed, Estimate):
            rest = f"Stratified, sites taken as fixed, the AUROC is {in_text(evidence, 'auroc', fixed)}."
        return sentence.Sentence(f"Sites are not pooled: {why(evidence, auroc.reason)}.", rest)
    if isinstance(ratio, Absent):
        averaged = " and averaged over the classes" if evidence.release.outcome.classes else ""
        lead = f"Pooled{averaged}, the AUROC is {in_text(evidence, 'auroc', auroc)}."
        return sentence.Sentence(lead, sentence.left_out(evidence))
    lead = f"Pooled, O/E is {in_text(evidence, 'oe_ratio', ratio)}."
    new = expected_range(ratio)
    few = f"With fewer than {words.in_words(bands.FEWEST_FOR_A_NEW_SITE)} sites, no prediction interval is given."
    expected = few if new is None else f"In a new site it may lie between {number(new[0])} and {number(new[1])}"
    expected += "" if new is None else f" ({level_of(evidence)} prediction interval)."
    return sentence.Sentence(lead, f"{expected} {sentence.left_out(evidence)}".strip())


def prediction(evidence: Evidence) -> tables.Table:
    """Every pooled measure with its interval, what a new site may expect, and how far the sites differ."""
    reasons = tables.Reasons(evidence)
    known = {
        result.term for result in evidence.results if result.dataset != POOLED and isinstance(result.found, Estimate)
    }
    together = [
        result
        for result in evidence.by_dataset[POOLED]
        if result.term in known and evidence.terms[result.term].chapter not in ("pooled", "robustness", "comparison")
    ]
    rows = []
    for result in together:
        term, found = evidence.terms[result.term], result.found
        head = measures.cell(found, term, reasons)
        rest = (tables.NOT_COMPUTED,) * 6 if isinstance(found, Absent) else _spread(found, term)
        # The class and the threshold of a result, and whether it rests on all rows.
        label, at = result.at.get("class"), result.at.get("threshold")
        parts = [] if label is None else ["mean of classes" if label == MACRO else str(label)]
        parts += [f"at {threshold(at)}"] if isinstance(at, float) else []
        parts += ["stratified"] if is_stratified(result) else []
        rows.append(tables.Row(words.sentence_case(term.label) + "".join(f", {part}" for part in parts), (head, *rest)))
    return tables.worded(
        "pooled",
        rows,
        footnotes=reasons.footnotes(),
        level=level_of(evidence),
        stratified=any(map(is_stratified, together)),
        few=bands.FEW_FOR_POOLING,
    )


def is_stratified(result: Result) -> bool:
    """Whether a result over all sites rests on all of their rows, beside one of sites that differ at random."""
    return result.at.get("estimator") == "stratified"


def _spread(found: Estimate, term: Term) -> tuple[tables.Cell, ...]:
    new = expected_range(found)
    # Shares are pooled as logits, on whose scale tau is; what is printed per 100 is pooled as it is.
    scale = 100 if term.unit not in ("", "%") else 1
    sites, freedom, tau = (found.details.get(name) for name in ("k", "df", "tau"))
    expected = None if tau is None else "too few sites"
    if new is not None:
        expected = " to ".join(bound_of(value, term, found) for value in new)
    return (
        _plain(expected),
        tables.Cell.count(found.n),
        _plain(None if sites is None else f"{sites:.0f}"),
        _plain(None if freedom is None else f"{freedom:,.0f}"),
        _heterogeneity(found, "tau", lambda value: number(scale * value, 2)),
        _heterogeneity(found, "i2", lambda value: number(value, 0, percent=True)),
    )


def _heterogeneity(found: Estimate, name: str, printed: Callable[[float], str]) -> tables.Cell:
    """How much the sites differ, with its interval: a value alone would say that they do not where nothing is known."""
    known = [value for end in ("", "_low", "_high") if (value := found.details.get(f"{name}{end}")) is not None]
    if len(known) < 3:
        return tables.NOT_COMPUTED
    return _plain("{} ({} to {})".format(*map(printed, known)))


def _plain(text: str | None) -> tables.Cell:
    return tables.NOT_COMPUTED if text is None else tables.Cell.plain(text)


CHAPTER = chapter("pooled", finding, lambda evidence: any(map(measures.is_estimated, evidence.by_dataset[POOLED])))
