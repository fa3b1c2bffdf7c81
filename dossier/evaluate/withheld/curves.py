"""Which curves are withheld, and what is left of the others: even steps in place of patients, no bin of a few."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dossier.evaluate.withheld.results import counts_few, was_pooled
from dossier.evaluate.withheld.tables import (
    HALF,
    Policy,
    external_names,
    is_few,
    place_of,
    rounded_down,
    splits_few,
)
from dossier.facts import Fact
from dossier.metrics.intervals import wilson
from dossier.types import (
    MODEL,
    POOLED,
    READER_STUDY,
    Absent,
    Curve,
    CurveResult,
    DatasetSummary,
    Estimate,
    Evidence,
    Floats,
    Result,
    SubgroupSize,
    Withheld,
)

STEP = 0.01
"""The step of the grid that curves over risks and thresholds are read at."""

ROC_STEP = 0.05

DATA_SPLITS = 5
"""A fifth of the rows is held out where the model was not refitted."""

Column = tuple[float | None, ...]


@dataclass(frozen=True)
class Setting:
    """What a curve is judged by: the smallest count, the rows that it rests on, and the thresholds that are shown."""

    below: int
    n: int
    events: int
    level: float
    allowed: tuple[float, ...]
    primary: Withheld | None
    half: Withheld | None
    outcome: Withheld | None
    confusion: Withheld | None
    changed: bool

    @property
    def why(self) -> Withheld:
        """The reason of a curve that itself holds or tells a small count."""
        return Withheld(Fact("small_count_readable", below=self.below), self.below)

    @property
    def others(self) -> int:
        """How many did not have the outcome."""
        return self.n - self.events


Rule = Callable[[Curve, Setting], Curve | Withheld]


def shown(
    curves: Sequence[CurveResult], evidence: Evidence, policy: Policy, results: Sequence[Result]
) -> tuple[CurveResult, ...]:
    """Every curve as it may be shown, in its order."""
    if not curves:
        return ()
    sizes = {one.name: one for one in evidence.datasets}
    changed = not any(
        one.curve == "changed_decisions" and isinstance(one.found, Curve) and _holds_few_decisions(one.found, policy)
        for one in curves
    )
    study = next(
        (one.found for one in results if one.dataset == READER_STUDY and isinstance(one.found, Withheld)), None
    )
    confusions = _confusions(curves, policy)
    first = [
        one
        if one.dataset == POOLED
        else _judged(one, _setting(one, evidence, policy, sizes, confusions, changed), study)
        for one in curves
    ]
    return tuple(
        _of_all(one, curves, first, evidence, policy, confusions) if one.dataset == POOLED else one for one in first
    )


def _confusions(curves: Sequence[CurveResult], policy: Policy) -> dict[str, Withheld]:
    """The datasets whose table of predicted and true classes holds a small count."""
    return {
        one.dataset: Withheld(
            Fact("few_patients_in_a_cell", below=policy.smallest[one.dataset]), policy.smallest[one.dataset]
        )
        for one in curves
        if one.curve in ("confusion_matrix", "confusion_matrix_all_sites")
        and isinstance(one.found, Curve)
        and any(is_few(count or 0, policy.smallest[one.dataset]) for count in one.found.columns["count"])
    }


def _setting(
    one: CurveResult,
    evidence: Evidence,
    policy: Policy,
    sizes: Mapping[str, DatasetSummary],
    confusions: Mapping[str, Withheld],
    changed: bool,
) -> Setting:
    place = place_of(one.dataset, one.subset, one.at)
    dataset = sizes.get(one.dataset)
    declared = evidence.release.thresholds.declared
    n, events = _size(one, dataset, evidence)
    subset = policy.subgroups.get((one.dataset, one.subset)) if one.subset else None
    return Setting(
        below=policy.smallest[one.dataset],
        n=n,
        events=events,
        level=evidence.release.release.level,
        allowed=tuple(float(at) for at in declared if policy.threshold(place, at) is None),
        primary=policy.threshold(place, declared[0]) if declared else policy.halves.get(place),
        half=policy.halves.get(place) or policy.threshold(place, HALF),
        outcome=subset or policy.outcomes.get(one.dataset),
        confusion=confusions.get(one.dataset),
        changed=changed,
    )


def _size(one: CurveResult, dataset: DatasetSummary | None, evidence: Evidence) -> tuple[int, int]:
    """The rows and events behind a curve."""
    if one.subset is not None:
        for summary in evidence.subgroups.summaries:
            same = (summary.dataset, summary.subset) == (one.dataset, one.subset)
            if same and isinstance(summary.size, SubgroupSize):
                of_class = summary.size.class_counts.get(str(one.at.get("class")), 0)
                return summary.size.n, of_class if summary.size.events is None else summary.size.events
    if isinstance(one.found, Curve):
        if "class" in one.at and dataset is not None:
            return dataset.n, dataset.class_counts.get(str(one.at["class"]), 0)
        return one.found.n, one.found.events or 0
    return 0, 0


def _judged(one: CurveResult, setting: Setting, study: Withheld | None) -> CurveResult:
    if not setting.below:
        return one
    if isinstance(one.found, Absent):
        return replace(one, found=setting.why) if counts_few(one.found.reason, setting.below) else one
    if setting.outcome is not None and (one.subset or one.curve not in WITHOUT_OUTCOME):
        return replace(one, found=setting.outcome)
    if one.dataset == READER_STUDY and study is not None:
        return replace(one, found=study)
    rule = RULES.get(one.curve, _never)
    found = rule(one.found, setting)
    if one.dataset == MODEL and isinstance(found, Curve):
        # The rows with a value would tell how many have none.
        found = replace(found, n=rounded_down(found.n, setting.below))
    return replace(one, found=found)


# ---- all sites ------------------------------------------------------------------------------------------------------

MADE_FROM = {
    "calibration_curve_all_sites": "calibration_curve",
    "decision_curve_all_sites": "decision_curve",
    "decision_curve_wide_all_sites": "decision_curve_wide",
    "per_thousand": "per_thousand_of_site",
    "confusion_matrix_all_sites": "confusion_matrix",
}
"""The curve of one site that a curve of all sites is made from."""


def _of_all(
    one: CurveResult,
    complete: Sequence[CurveResult],
    shown: Sequence[CurveResult],
    evidence: Evidence,
    policy: Policy,
    confusions: Mapping[str, Withheld],
) -> CurveResult:
    """A curve of all sites is withheld with any that it is made from."""
    source = MADE_FROM.get(one.curve)
    if source is None or isinstance(one.found, Absent):
        return one
    external = external_names(evidence)
    sizes = {site.name: site for site in evidence.datasets}
    for before, after in zip(complete, shown, strict=True):
        same = before.curve == source and before.subset is None and before.dataset in external
        same = same and dict(before.at) == dict(one.at)
        if same and isinstance(after.found, Withheld) and _counted(one.curve, before.found):
            why = Fact("site_withheld", below=after.found.below)
            return replace(one, found=Withheld(why, after.found.below))
    declared = evidence.release.thresholds.declared
    of_sites = [place_of(name, None, one.at) for name in external]
    setting = replace(
        _setting(one, evidence, policy, sizes, confusions, changed=True),
        allowed=tuple(float(at) for at in declared if not any(policy.threshold(place, at) for place in of_sites)),
    )
    return _judged(one, setting, None)


def _counted(curve: str, found: Curve | Absent) -> bool:
    """Whether the curve of a site may be in that of all sites."""
    if isinstance(found, Absent):
        return False
    if curve != "calibration_curve_all_sites":
        return True
    return was_pooled(Estimate(0.0, None, None, None, found.n, found.method, found.events))


# ---- the rules ------------------------------------------------------------------------------------------------------


def _never(curve: Curve, setting: Setting) -> Withheld:
    return setting.why


def _kept(curve: Curve, setting: Setting) -> Curve:
    return curve


def _even(curve: Curve, setting: Setting, step: float = STEP) -> Curve | Withheld:
    """The curve read at multiples of a step inside its range, so that no end is a patient's."""
    names = list(curve.columns)
    at = _numbers(curve.columns[names[0]])
    first, last = math.ceil(at[0] / step - 1e-9), math.floor(at[-1] / step + 1e-9)
    if last - first < 2:
        return setting.why
    grid = np.array([round(place * step, 10) for place in range(first, last + 1)])
    read = {name: _column(np.interp(grid, at, _numbers(curve.columns[name]))) for name in names[1:]}
    return replace(curve, columns={names[0]: _column(grid), **read})


def _rounded(curve: Curve, bases: Mapping[str, float], base: float) -> Curve:
    """Every column but the first in whole steps of `base`, or of what `bases` says for it."""
    names = list(curve.columns)

    def steps(name: str) -> Column:
        step = bases.get(name, base)
        return _column(np.round(_numbers(curve.columns[name]) / step) * step)

    return replace(curve, columns={names[0]: curve.columns[names[0]], **{name: steps(name) for name in names[1:]}})


def _net_benefit(curve: Curve, setting: Setting) -> Curve | Withheld:
    """Net benefit at even thresholds, in steps of as many patients as may be printed."""
    even = _even(curve, setting)
    if isinstance(even, Withheld):
        return even
    standardized = {name: setting.below / setting.events for name in curve.columns if name.startswith("standardized")}
    found = _rounded(even, standardized, setting.below / setting.n)
    return replace(found, method=f"{curve.method}; in steps of {setting.below} patients")


def _roc(curve: Curve, setting: Setting) -> Curve:
    """Sensitivity at even false positive rates, in steps of as many patients as may be printed."""
    fpr, tpr = (_numbers(curve.columns[name]) for name in ("fpr", "tpr"))
    grid = np.array([round(place * ROC_STEP, 10) for place in range(round(1 / ROC_STEP) + 1)])
    # The highest sensitivity at each rate: a step of the curve stands upright there.
    reached = np.array([tpr[fpr <= at + 1e-12].max() for at in grid])
    step = setting.below / setting.events
    found = np.minimum(1.0, np.floor(reached / step + 1e-9) * step)
    found[-1] = 1.0
    columns = {"fpr": (0.0, *_column(grid)), "tpr": (0.0, *_column(found))}
    return replace(curve, columns=columns, method=f"at even false positive rates, in steps of {setting.below} patients")


def _cumulative(curve: Curve, setting: Setting) -> Curve:
    """Shares above each risk in steps of as many patients as may be printed, each with the interval of its step."""
    columns: dict[str, Column] = {"risk": curve.columns["risk"]}
    for name, whole in (("cases", setting.events), ("others", setting.others)):
        counts = np.round(_numbers(curve.columns[name]) * whole / setting.below) * setting.below
        counts = np.minimum(counts, whole)
        bounds = [wilson(float(count), whole, setting.level) for count in counts]
        columns[name] = _column(counts / whole)
        columns[f"{name}_low"] = tuple(low for low, _ in bounds)
        columns[f"{name}_high"] = tuple(high for _, high in bounds)
    return replace(curve, columns=columns, method=f"{curve.method}; in steps of {setting.below} patients")


def _groups(curve: Curve, setting: Setting) -> Curve | Withheld:
    """Neighbouring groups put together until none holds few events or few others."""
    n = _numbers(curve.columns["n"])
    events, risks = n * _numbers(curve.columns["observed"]), n * _numbers(curve.columns["mean_risk"])
    parts = merged([events, n - events], setting.below)
    if parts is None:
        return setting.why
    sizes, happened, expected = (np.array([column[part].sum() for part in parts]) for column in (n, events, risks))
    bounds = [wilson(float(k), float(of), setting.level) for k, of in zip(happened, sizes, strict=True)]
    columns = {
        "mean_risk": _column(expected / sizes),
        "observed": _column(happened / sizes),
        "low": tuple(low for low, _ in bounds),
        "high": tuple(high for _, high in bounds),
        "n": _column(sizes),
    }
    put = f"{curve.method}; neighbours put together where fewer than {setting.below} had or had not the outcome"
    return replace(curve, columns=columns, method=put)


def _bins(curve: Curve, setting: Setting) -> Curve | Withheld:
    """Neighbouring bins put together until none holds a small count; shares are added, edges widened."""
    counted = [name for name in ("events", "non_events", "count") if name in curve.columns]
    shares = [name for name in curve.columns if name.startswith("share")]
    counts = [_numbers(curve.columns[name]) for name in counted]
    if not counted:
        counts = [_numbers(curve.columns[name]) * setting.n for name in shares]
    parts = merged(counts, setting.below)
    if parts is None:
        return setting.why
    columns: dict[str, Column] = {}
    for name, column in curve.columns.items():
        values = _numbers(column)
        if name in ("low", "lower"):
            read = [values[part][0] for part in parts]
        elif name in ("high", "upper"):
            read = [values[part][-1] for part in parts]
        else:
            read = [values[part].sum() for part in parts]
        columns[name] = _column(np.array(read))
    return replace(curve, columns=columns)


def merged(counts: Sequence[Floats], below: int) -> list[slice] | None:
    """Runs of neighbours in which every count is 0 or large enough, as many as there can be from the left.

    What is left over at the end joins the last run. None where even all together hold a small count.
    """
    parts: list[slice] = []
    start = 0
    for end in range(1, len(counts[0]) + 1):
        if not any(is_few(float(column[start:end].sum()), below) for column in counts):
            parts.append(slice(start, end))
            start = end
    if start < len(counts[0]):
        if not parts:
            return None
        parts[-1] = slice(parts[-1].start, len(counts[0]))
    return parts


def _at_thresholds(curve: Curve, setting: Setting) -> Curve | Withheld:
    """The declared thresholds that may be shown; nothing where the primary one may not."""
    if "threshold" not in curve.columns:
        return setting.confusion or curve
    if setting.primary is not None:
        return setting.primary
    rows = [row for row, at in enumerate(curve.columns["threshold"]) if at in setting.allowed]
    if not rows:
        return setting.why
    return replace(curve, columns={name: tuple(column[row] for row in rows) for name, column in curve.columns.items()})


def _matrix(curve: Curve, setting: Setting) -> Curve | Withheld:
    return setting.confusion or setting.primary or curve


def _at_primary(curve: Curve, setting: Setting) -> Curve | Withheld:
    return setting.primary or setting.confusion or curve


def _at_half(curve: Curve, setting: Setting) -> Curve | Withheld:
    return setting.half or setting.confusion or curve


def _accuracies(curve: Curve, setting: Setting) -> Curve | Withheld:
    """Nothing where the errors of a model are few."""
    few = any(splits_few((share or 0.0) * setting.n, setting.n, setting.below) for share in curve.columns["accuracy"])
    return setting.primary or setting.confusion or (setting.why if few else curve)


def _answers(curve: Curve, setting: Setting) -> Curve | Withheld:
    """Nothing where a bin holds few answers, or few right or wrong ones."""
    share = curve.columns["share_right"] if "share_right" in curve.columns else curve.columns["accuracy"]
    for count, right in zip(curve.columns["count"], share, strict=True):
        whole = count or 0.0
        if is_few(whole, setting.below) or splits_few((right or 0.0) * whole, whole, setting.below):
            return setting.why
    return curve


def _raters(curve: Curve, setting: Setting) -> Curve | Withheld:
    """Nothing where a rater judged, missed, or was right or wrong in few cases."""
    pairs = (("cases", "accuracy"), ("cases", "true_positive_rate"), ("others", "false_positive_rate"))
    for whole, share in (pair for pair in pairs if set(pair) <= set(curve.columns)):
        of_all = setting.others if whole == "others" else setting.events if "others" in curve.columns else setting.n
        for count, rate in zip(curve.columns[whole], curve.columns[share], strict=True):
            judged = count or 0.0
            if splits_few(judged, of_all, setting.below) or splits_few((rate or 0.0) * judged, judged, setting.below):
                return setting.why
    return curve


def _pairs_of_raters(curve: Curve, setting: Setting) -> Curve | Withheld:
    few = any(splits_few((share or 0.0) * setting.n, setting.n, setting.below) for share in curve.columns["agreement"])
    return setting.why if few else curve


def _counts(curve: Curve, setting: Setting) -> Curve | Withheld:
    return setting.why if any(is_few(count or 0.0, setting.below) for count in curve.columns["count"]) else curve


def _decisions(curve: Curve, setting: Setting) -> Curve | Withheld:
    return curve if setting.changed else setting.why


def _splits(curve: Curve, setting: Setting) -> Curve | Withheld:
    """Nothing where the parts are so small that each holds few events."""
    parts = DATA_SPLITS if "not refitted" in curve.method else max(len(curve.columns["split"]), 1)
    least = min(setting.events, setting.others) if setting.events else setting.n
    return setting.why if least / parts < setting.below else curve


def _holds_few_decisions(curve: Curve, policy: Policy) -> bool:
    below = policy.smallest[READER_STUDY]
    kinds = ("confirmed", "corrected", "misled", "unmoved", "followed", "resisted")
    return any(is_few(count or 0.0, below) for kind in kinds for count in curve.columns.get(kind, ()))


def _numbers(column: Column) -> Floats:
    return np.array([math.nan if value is None else value for value in column], dtype=float)


def _column(values: Floats) -> Column:
    return tuple(None if math.isnan(value) else float(value) for value in values)


RULES: Mapping[str, Rule] = {
    "accuracy_by_prevalence": _at_primary,
    "actual_accuracy_bounds": _kept,
    "advice_value": _answers,
    "calibration_curve": _even,
    "calibration_curve_all_sites": _even,
    "calibration_groups": _groups,
    "changed_decisions": _decisions,
    "classification": _at_thresholds,
    "complexity_distribution": _bins,
    "confidence_by_rater": _counts,
    "confidence_of_right_answers": _never,
    "conformal_p_values": _bins,
    "confusion_matrix": _matrix,
    "confusion_matrix_all_sites": _matrix,
    "cumulative_risks": _cumulative,
    "decision_benefit_by_reader": _decisions,
    "decision_curve": _net_benefit,
    "decision_curve_all_sites": _net_benefit,
    "decision_curve_wide": _net_benefit,
    "decision_curve_wide_all_sites": _net_benefit,
    "fagan_nomogram": _at_thresholds,
    "h_accuracy_by_complexity": _at_half,
    "h_accuracy_by_priority": _at_half,
    "h_accuracy_profile": _at_half,
    "h_accuracy_surface": _at_half,
    "per_thousand": _at_thresholds,
    "per_thousand_of_site": _at_thresholds,
    "points": _kept,
    "points_risk": _kept,
    "points_total": _kept,
    "rater_accuracy_by_complexity": _answers,
    "rater_accuracy_by_confidence": _answers,
    "rater_agreement": _pairs_of_raters,
    "rater_rates": _raters,
    "raters_one_by_one": _raters,
    "reliability_nomogram": _kept,
    "risk_distribution": _bins,
    "roc": _roc,
    "severity_of_models": _accuracies,
    "split_performance": _splits,
    "survey_of_priorities": _kept,
    "utility_profile": _net_benefit,
}
"""What becomes of each curve; one that is not named here is withheld."""

WITHOUT_OUTCOME = frozenset(
    (
        *("changed_decisions", "complexity_distribution", "confidence_by_rater", "conformal_p_values"),
        *("decision_benefit_by_reader", "points", "points_risk", "points_total", "rater_agreement"),
        *("reliability_nomogram", "survey_of_priorities"),
    )
)
"""The curves that do not rest on the outcome."""
