"""How much a reader may rely on the model's advice."""

from __future__ import annotations

from dossier.core.types import Curve, Evidence, externals, find_curve
from dossier.report.chapters.chapter import any_with_both, chapter, measured
from dossier.report.chapters.sentence import Sentence, estimated, over_sites
from dossier.typeset.numbers import DASH, number, per_cent
from dossier.typeset.tables import Cell, Column, Row, Table, worded


def finding(evidence: Evidence) -> Sentence:
    """The advisor value of each site, on the scale of the expected calibration error."""
    sites = estimated(evidence, "advisor_value", calibration="ece")
    if not sites:
        return Sentence("At no external site can the value of the advice be estimated.")
    lead = f"The advisor value {over_sites(evidence, 'advisor_value', sites, calibration='ece')}."
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
    rows = []
    for site, found in drawn:
        pairs = zip(found.columns["value_ece"], found.columns["share"], strict=True)
        cells = (Cell(DASH if value is None else number(value), per_cent(share or 0.0)) for value, share in pairs)
        rows.append(Row(site.site, tuple(cells)))
    return (worded("advice-value", rows, heads),)


CHAPTER = chapter("advice", finding, measured("advice"), is_given=any_with_both)
