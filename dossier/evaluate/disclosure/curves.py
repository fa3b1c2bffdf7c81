"""The curves that are read off the ranges of counts; every other is withheld."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise

from dossier.core import facts, register
from dossier.core.types import Absent, CountRange, Curve, CurveResult, Estimate, Withheld
from dossier.evaluate.disclosure import chains, measures
from dossier.metrics.intervals import wilson

Column = tuple[float | None, ...]
Found = tuple[dict[str, Column], tuple[str, ...]]
"""The columns, none where no part rests on enough persons, and the steps of the method."""


def of_curve(protected: measures.Protected, curve: CurveResult) -> Curve | Absent:
    """A curve of one site as it may be given."""
    maker = register.REGISTER.curves.get(curve.curve)
    # The ranges are those of the model's risks.
    rule = None if maker is None or "model" in curve.at else RULES.get(maker.protection)
    if rule is _roc and protected.counts.left is not None:
        rule = None  # like the AUROC, it rests on when each patient left
    if rule is None or (isinstance(curve.found, Absent) and not isinstance(curve.found, Withheld)):
        return measures.not_given(protected.below)
    if not protected.counts.tells_outcome or protected.counts.rows_each > 1:
        return measures.outcome_withheld(protected.below)
    columns, method = rule(protected)
    if not columns:
        return Withheld(facts.Fact("no_part_of_enough_persons"), protected.below)
    counts = protected.counts
    made = facts.Method(*method, facts.Fact("from_ranges", wide=counts.wide))
    return Curve(columns, counts.n, made, counts.events.total)


def _shares(chain: chains.Chain) -> Column:
    return tuple(int(tail) / int(chain.total) for tail in chain.tails)


def _roc(protected: measures.Protected) -> Found:
    counts = protected.counts
    wrong, right = (tuple(reversed(_shares(chain))) for chain in (counts.others, counts.events))
    return {"fpr": (0.0, *wrong), "tpr": (0.0, *right)}, ("at_risks_of_grid",)


def _cumulative(protected: measures.Protected) -> Found:
    """The shares of either outcome above each risk, with the outermost of Wilson's intervals."""
    counts = protected.counts
    columns: dict[str, Column] = {"risk": counts.events.grid}
    for name, chain in (("cases", counts.events), ("others", counts.others)):
        bounds = [_wilson(tail, chain.total, protected.level) for tail in chain.tails]
        columns[name] = _shares(chain)
        columns[f"{name}_low"] = tuple(low for low, _ in bounds)
        columns[f"{name}_high"] = tuple(high for _, high in bounds)
    return columns, ("shares_at_risks_of_grid", "wilson")


def _wilson(part: CountRange, whole: CountRange, level: float) -> tuple[float, float]:
    """The outermost of Wilson's intervals of a part of a whole."""
    low = wilson(min(part.low, whole.high), whole.high, level)[0]
    high = 1.0 if part.high >= whole.low else wilson(part.high, whole.low, level)[1]
    return low, high


def _bins(protected: measures.Protected) -> Found:
    """How many of either outcome lie between two risks of the grid."""
    counts = protected.counts
    columns: dict[str, Column] = {"low": counts.events.grid, "high": (*counts.events.grid[1:], 1.0)}
    for name, chain in (("events", counts.events), ("non_events", counts.others)):
        tails = [*map(int, chain.tails), 0]
        columns[name] = tuple(float(above - beyond) for above, beyond in pairwise(tails))
        columns[f"share_{name}"] = tuple((above - beyond) / tails[0] for above, beyond in pairwise(tails))
    return columns, ("counts",)


def _groups(protected: measures.Protected) -> Found:
    """Neighbouring bins of the grid put together until each holds three widths: the share with the outcome."""
    counts = protected.counts
    edges = (*counts.events.grid, 1.0)
    columns: dict[str, list[float | None]] = {name: [] for name in ("mean_risk", "observed", "low", "high", "n")}
    start = 0
    for end in range(1, len(edges)):
        events, others, *gone = (_between(chain, start, end, counts.wide) for chain in counts.chains.values())
        left = sum(gone, CountRange(0, 0))
        n = int(events) + int(others) + int(left)
        if n - int(left) < 3 * counts.wide:
            continue
        most = events.low + others.high + left.high
        low = wilson(events.low, most, protected.level)[0] if most else 0.0
        high = wilson(events.high, events.high + others.low, protected.level)[1]
        row = (_middle(protected, edges, start, end), int(events) / (n - int(left) / 2), low, high, float(n))
        for name, value in zip(columns, row, strict=True):
            columns[name].append(value)
        start = end
    made = {name: tuple(values) for name, values in columns.items()} if columns["n"] else {}
    return made, ("neighbouring_bins", "wilson", *counts.bounded)


def _between(chain: chains.Chain, start: int, end: int, wide: int) -> CountRange:
    """How many lie between two risks of the grid."""
    above = chain.tails[start]
    if end == len(chain.tails):
        return above
    beyond = chain.tails[end]
    return CountRange(max(above.low - beyond.high, 0), above.high - beyond.low)


def _middle(protected: measures.Protected, edges: tuple[float, ...], start: int, end: int) -> float:
    """The mean of the middles of the bins, by how many each holds."""
    parts = []
    for index in range(start, end):
        held = sum(
            int(chain.tails[index]) - (int(chain.tails[index + 1]) if index + 1 < len(chain.tails) else 0)
            for chain in protected.counts.chains.values()
        )
        parts.append((held, (edges[index] + edges[index + 1]) / 2))
    return sum(held * middle for held, middle in parts) / sum(held for held, _ in parts)


def _decisions(protected: measures.Protected) -> Found:
    """Net benefit at the risks of the grid within the declared range, or at all of them."""
    release, counts = protected.site.release, protected.counts
    first, last = release.thresholds.range or (0.0, 1.0)
    metric = register.REGISTER.metrics["net_benefit"]
    columns: dict[str, list[float | None]] = {
        name: [] for name in ("threshold", "net_benefit", "low", "high", "se", "treat_all", "treat_none")
    }
    for threshold in counts.events.grid:
        found = measures.hull(protected, metric, {"threshold": threshold}, threshold)
        if not first <= threshold <= last or not isinstance(found, Estimate) or found.low is None or found.high is None:
            continue
        row = (threshold, found.value, found.low, found.high, found.se, found.details["treat_all"], 0.0)
        for name, value in zip(columns, row, strict=True):
            columns[name].append(value)
    made = {name: tuple(values) for name, values in columns.items()} if len(columns["se"]) > 1 else {}
    return made, ("at_each_threshold", "mover", *counts.bounded)


RULES: Mapping[register.CurveProtection, Callable[[measures.Protected], Found]] = {
    "groups": _groups,
    "cumulative": _cumulative,
    "decisions": _decisions,
    "bins": _bins,
    "roc": _roc,
}
"""How a curve of each kind is read off; one that is withheld has no rule."""
