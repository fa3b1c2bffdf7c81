"""How much a reader may rely on the model's advice."""

from __future__ import annotations

from dossier.core.types import Curve, DatasetSummary, Evidence, externals, find_curve
from dossier.report.chapters.chapter import any_with_both, chapter, measured
from dossier.report.chapters.sentence import Sentence, estimated
from dossier.typeset.numbers import DASH, in_text, number, per_cent, short
from dossier.typeset.tables import Cell, Column, Row, Table, worded


def finding(evidence: Evidence) -> Sentence:
    """The advisor value of each site, on the scale of the expected calibration error."""
    sites = estimated(evidence, "advisor_value", calibration="ece")
    if not sites:
        return Sentence("At no external site can the value of the advice be estimated.")
    if len(sites) == 1:
        lead = f"The advisor value is {in_text(evidence, 'advisor_value', sites[0][1])}."
    else:
        low, high = sites[0], sites[-1]
        lead = (
            f"The advisor value runs from {short(evidence, 'advisor_value', low[1].value)} ({low[0].site}) to "
            f"{short(evidence, 'advisor_value', high[1].value)} ({high[0].site})."
        )
    classes = evidence.release.outcome.classes
    most = f"1/{len(classes)}" if classes else "one half"
    rest = f"A value of 1 means always sure and always right; advice at even odds is worth at most {most}."
    return Sentence(lead, rest)


def distribution(evidence: Evidence) -> tuple[Table, ...]:
    """The advice value of each bin of confidence at each site, with the share of the advice that falls in it."""
    curves = [(site, find_curve(evidence, "advice_value", site.name)) for site in externals(evidence)]
    drawn = [(site, found) for site, found in curves if isinstance(found, Curve)]
    if not drawn:
        return ()
    lower, upper = drawn[0][1].columns["lower"], drawn[0][1].columns["upper"]
    edges = zip(lower, upper, strict=True)
    heads = (Column(f"{number(low or 0.0, 1)}{DASH}{number(high or 0.0, 1)}", True) for low, high in edges)
    return (worded("advice-value", (_row(site, found) for site, found in drawn), heads),)


def _row(site: DatasetSummary, found: Curve) -> Row:
    pairs = zip(found.columns["value_ece"], found.columns["share"], strict=True)
    cells = (Cell(DASH if value is None else number(value), per_cent(share or 0.0)) for value, share in pairs)
    return Row(site.site, tuple(cells))


CHAPTER = chapter("advice", finding, measured("advice"), is_given=any_with_both)
