"""Curves of the risks by outcome: who is flagged at which threshold, what a result changes, where readers stand."""

from __future__ import annotations

import numpy as np

from dossier.core.facts import Count, Fact, Method
from dossier.core.register import Band, Line, curve
from dossier.core.types import Absent, Curve, Estimate, Floats
from dossier.metrics import discrimination
from dossier.metrics.intervals import column, wilson

Cells = tuple[float | None, ...]
STEPS = 100
"""Into how many steps the cumulative curves divide the range in which 99 of 100 risks lie."""
STEPS_BEYOND = 10


@curve(
    "Share with at least this risk, by outcome",
    cites="Dinga 2019",
    band=Band("risk", (Line("cases", "cases_"), Line("others", "others_"))),
    protection="cumulative",
    given="both outcomes",
)
def cumulative_risks(outcome: Floats, risk: Floats, level: float = 0.95) -> Curve | Absent:
    """The share of people with the outcome, and of those without, whose risk is at least so high.

    Read at a threshold, the two are the cases found and the false alarms; the area between them is Tjur's R2.

    Arguments: `outcome` (n, 0 or 1), `risk` (n, 0 to 1), `level`. Returns 101 even risks from 0 to the end of the equal
    bins of `risk_distribution`, below which 99 % of the risks lie, and ten more up to 1 where that end is smaller:
    `risk`, `cases` and `others` (the shares with a risk at or above it), each with Wilson's `..._low` and `..._high`.
    The risks are even steps, never those of people. Absent when all rows are of one class. Source: Dinga 2019,
    Figure 2.
    """
    end = discrimination.risk_end(risk)
    grid = np.round(np.arange(STEPS + 1) * end / STEPS, 10)
    if end < 1:
        grid = np.append(grid, np.linspace(end, 1, STEPS_BEYOND + 1)[1:])
    columns: dict[str, Cells] = {"risk": column(grid)}
    for name, label in (("cases", 1), ("others", 0)):
        chosen = np.sort(risk[outcome == label])
        reached = len(chosen) - np.searchsorted(chosen, grid, side="left")
        bounds = [wilson(float(count), float(len(chosen)), level) for count in reached]
        columns[name] = column(reached / len(chosen))
        columns[f"{name}_low"] = tuple(low for low, _ in bounds)
        columns[f"{name}_high"] = tuple(high for _, high in bounds)
    return Curve(columns, len(outcome), Method(Fact("shares_at_even_risks", by=Fact("wilson"))), int(outcome.sum()))


@curve("Raters in the plane of the ROC curve", cites=("Cabitza 2019", "Wilson 1927"))
def rater_rates(
    labels: Floats,
    truth: Floats,
    rater_groups: tuple[str, ...] | None = None,
    level: float = 0.95,
    class_labels: tuple[str, ...] = (),
) -> Curve | Absent:
    """How often each rater calls cases and non-cases positive, beside which the model's ROC curve can be read.

    Arguments: `labels` (cases x raters; 1 positive, NaN where a rater gave none), `truth` (cases; 0 or 1, NaN where
    unknown), `level`. Returns for each rater, in the order of the table, `rater` (the number, from 1),
    `false_positive_rate` and `true_positive_rate` with Wilson's `..._low` and `..._high`, and `cases` and `others`, on
    which they rest; with `rater_groups` also `group`, the place of the rater's among the groups in the order of their
    names. A rater who judged no case or no non-case is left out and counted in the method. Absent when none
    is left, with more than 250 raters, and of more than two classes. Source: Cabitza 2019, Figure 4.
    """
    if len(class_labels) > 2:
        return Absent(Fact("of_two_classes_only"))
    if labels.shape[1] > discrimination.POINTS:
        return Absent(
            Fact("more_raters_than_points", raters=Count(labels.shape[1], "rater"), points=discrimination.POINTS)
        )
    judged = ~np.isnan(labels) & ~np.isnan(truth)[:, None]
    called = judged & (labels == 1)
    is_case = (truth == 1)[:, None]
    counts = np.array(
        [who.sum(axis=0) for who in (called & is_case, judged & is_case, called & ~is_case, judged & ~is_case)]
    )
    kept = np.flatnonzero((counts[1] > 0) & (counts[3] > 0))
    if not len(kept):
        return Absent(Fact("no_rater_of_cases_and_non_cases"))
    hits, cases, alarms, others = counts[:, kept].astype(float)
    columns: dict[str, Cells] = {
        "rater": column([rater + 1.0 for rater in kept]),
        "cases": column(cases),
        "others": column(others),
    }
    if rater_groups is not None:
        groups = sorted(set(rater_groups))
        columns["group"] = column([float(groups.index(rater_groups[rater])) for rater in kept])
    for name, some, every in (("true_positive_rate", hits, cases), ("false_positive_rate", alarms, others)):
        bounds = [wilson(part, whole, level) for part, whole in zip(some, every, strict=True)]
        columns[name] = column(np.asarray(some / every, dtype=np.float64))
        columns[f"{name}_low"] = tuple(low for low, _ in bounds)
        columns[f"{name}_high"] = tuple(high for _, high in bounds)
    left_out = labels.shape[1] - len(kept)
    method = Method(Fact("each_rater", by=Fact("wilson")))
    method = method + Fact("raters_left_out", raters=Count(left_out, "rater")) if left_out else method
    known = judged.any(axis=1)
    return Curve(columns, int(known.sum()), method, int((truth[known] == 1).sum()))


@curve(
    "Probability before and after the result",
    cites=("Fagan 1975", "Wilson 1927", "Simel 1991"),
    band=Band("", tuple(Line(name, f"{name}_") for name in ("before", "after_positive", "after_negative"))),
    given="both outcomes",
)
def fagan_nomogram(
    outcome: Floats, risk: Floats, declared_thresholds: tuple[float, ...], level: float = 0.95
) -> Curve | Absent:
    """The probability of the outcome before the model speaks, and after it has called a person positive or negative.

    The probability before is the share of cases at this very site, so that those after are its predictive values.

    Arguments: `outcome` (n, 0 or 1), `risk` (n, 0 to 1), `declared_thresholds` (0 to 1; positive means risk >=
    threshold), `level`. Returns a row for each threshold: `threshold`; `before`, the prevalence; `after_positive`, the
    positive predictive value; `after_negative`, 1 less the negative one, each with Wilson's `..._low` and `..._high`;
    `likelihood_ratio_positive` and `_negative`. What does not exist is missing: the probability after a result that
    nobody has, a likelihood ratio that would be 0 or infinite. odds(after) = odds(before) x likelihood ratio. Absent
    without a threshold, and when all rows are of one class. Source: Fagan 1975.
    """
    if not declared_thresholds:
        return Absent(Fact("no_threshold_declared"))
    n, events = len(outcome), int(outcome.sum())
    low, high = wilson(events, n, level)
    rows: list[dict[str, float | None]] = []
    for threshold in declared_thresholds:
        found = discrimination.confusion(outcome, risk, threshold)
        ratios = [
            ratio(outcome, risk, threshold, level)
            for ratio in (discrimination.likelihood_ratio_positive, discrimination.likelihood_ratio_negative)
        ]
        positive, negative = (ratio.value if isinstance(ratio, Estimate) else None for ratio in ratios)
        rows.append(
            {"threshold": threshold, "before": events / n, "before_low": low, "before_high": high}
            | _after(found, level)
            | {"likelihood_ratio_positive": positive, "likelihood_ratio_negative": negative}
        )
    columns = {name: tuple(row[name] for row in rows) for name in rows[0]}
    return Curve(columns, n, Method(Fact("prevalence_and_predictive_values", by=Fact("wilson"))), events)


def _after(found: discrimination.Confusion, level: float) -> dict[str, float | None]:
    """The share of cases among the positive and the negative results, each missing where nobody has the result."""
    after: dict[str, float | None] = {}
    for name, some, every in (
        ("after_positive", found.true_positive, found.flagged),
        ("after_negative", found.false_negative, found.n - found.flagged),
    ):
        bounds = wilson(some, every, level) if every else (None, None)
        after |= {name: some / every if every else None, f"{name}_low": bounds[0], f"{name}_high": bounds[1]}
    return after
