"""What an update would do: risks that are recalibrated at the hospital where they are tested, and how they do there.

An update is fitted to the rows that it would be judged by. So each row gets the risk of updates that were fitted
without it, and every measure of an updated model is one of these risks. Nothing is ever applied to patients.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import scipy
from numpy.typing import NDArray

from dossier.core import bands, register, types
from dossier.core.facts import Count, Fact, Method
from dossier.core.register import absent_with_its_parts, metric, present, synthesis
from dossier.core.types import CHANGES, UPDATED, Absent, Estimate, Floats
from dossier.metrics import calibration, discrimination, intervals, logistic, once, sample, shares, utility, weighted
from dossier.metrics.calibration_errors import bounds_after_update
from dossier.metrics.inversion import estimate_from_tests
from dossier.metrics.smooth_curve import curve_at, smooth_curve

FOLDS, REPEATS = 10, 10
LEVEL = 0.05
"""The level of each step of the closed test."""
MOVED = 0.5
"""By so many standard errors coefficients are moved to see how the closed test follows them; Ye 1998 has .5 to 1."""
BY_OUTCOME = ("sensitivity", "specificity", "reclassified")
"""The measures that are conditional on the outcome, and the counts that stand beside them."""


@dataclass(frozen=True)
class Update:
    """A recalibration: the log odds of the new risk are intercept + slope times those of the old one."""

    intercept: float = 0.0
    slope: float = 1.0
    changes: str = "as_is"

    def risk(self, risk: Floats) -> Floats:
        """The new risks; those of 0 and 1 have no log odds and stay."""
        new = logistic.expit(self.intercept + self.slope * logistic.logit(risk))
        return np.where(logistic.has_logit(risk), new, risk)


@absent_with_its_parts
def fitted(outcome: Floats, risk: Floats, method: str, design: shares.Sampled = None) -> Update | Absent:
    """The update by a method, fitted to all of these rows at their weights.

    `method` is "intercept", "logistic" (intercept and slope) or "closed_test", which changes as much as the rows
    support: nothing unless intercept and slope together differ from 0 and 1, the intercept alone unless the slope then
    differs from 1, each at a level of 0.05. Source: Vergouwe 2017, without re-estimated predictors.
    """
    design = design or shares.Design(len(outcome))
    if method == "closed_test":
        method, _ = present(closed_test(outcome, risk, design))
    if method == "as_is":
        return Update()
    rows = weighted.Rows.sampled(outcome, risk, design.weights)
    if method == "intercept":
        return Update(float(present(calibration.INTERCEPT.fitted(rows)).fit.coefficients[0]), changes=method)
    intercept, slope = present(calibration.SLOPE.fitted(rows)).fit.coefficients.tolist()
    return Update(intercept, slope, method)


@absent_with_its_parts
def closed_test(outcome: Floats, risk: Floats, design: shares.Design) -> tuple[str, dict[str, float | None]] | Absent:
    """What the closed test changes, with the statistics and p values of its steps."""
    joint = present(calibration.calibration_test(outcome, risk, design=design))
    p_joint = joint.details["p_value"]
    slope, p_slope = present(calibration.test_of_slope(outcome, risk, design))
    if p_joint is None or p_slope is None:
        return Absent(design.obstacle() or Fact("no_row_with_weight"))
    details: dict[str, float | None] = {"joint": joint.value, "p_joint": p_joint, "slope": slope, "p_slope": p_slope}
    return CHANGES[0 if p_joint > LEVEL else 1 if p_slope > LEVEL else 2], details


# ---- risks by updates of other rows ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class HeldOut:
    """The risk of each row by updates that were fitted without it, on average over the repeats."""

    risk: Floats
    changes: tuple[str, ...]
    """What the updates change, each once."""


def folds(design: shares.Design, seed: int, outcome: Floats | None = None) -> Iterator[NDArray[np.int64]]:
    """The fold of each row in each repeat: all rows of a cluster are in one.

    With the `outcome` of single rows, those with it are spread evenly over the folds, and so are the others.
    """
    rows = np.arange(design.n) if design.cluster is None else design.cluster
    unit = np.unique(rows, return_inverse=True)[1]
    rng, units = np.random.default_rng(seed), int(unit.max()) + 1
    kind = np.zeros(units) if outcome is None or design.cluster is not None else outcome
    for _ in range(REPEATS):
        place = np.empty(units, dtype=np.int64)
        place[np.lexsort((rng.random(units), kind))] = np.arange(units) % FOLDS
        yield place[unit]


@absent_with_its_parts
def in_folds(
    outcome: Floats, risk: Floats, method: str, design: shares.Design, each: Iterator[NDArray[np.int64]]
) -> HeldOut | Absent:
    """The risk of each row by updates of the other folds, on average over some ways to fold the rows."""
    risks, changes = [], set()
    for fold in each:
        risks.append(np.empty(len(risk)))
        for number in np.unique(fold):
            out = fold == number
            fit = present(fitted(outcome[~out], risk[~out], method, design.of(~out)))
            risks[-1][out] = fit.risk(risk[out])
            changes.add(fit.changes)
    return HeldOut(np.mean(risks, axis=0), tuple(sorted(changes)))


@once.remembered(16)
def held_out(
    outcome: Floats, risk: Floats, method: str, design: shares.Design, seed: int, by_outcome: bool = False
) -> HeldOut | Absent:
    """The updated risk of each row by updates of the other folds; Absent with few rows of either outcome.

    With `by_outcome` the folds hold alike shares with the outcome, as a measure that is conditional on it asks; then a
    mean over all rows would not be honest, for an update knows the share of the rows that it is judged by.
    """
    if min(outcome.sum(), len(outcome) - outcome.sum()) < bands.FEW_FOR_POOLING:
        return Absent(Fact("too_few_to_update", fewest=Count(bands.FEW_FOR_POOLING, "patient", is_limit=True)))
    # In an order of their own, so that the order of the file cannot matter.
    keys = (design.strata, design.cluster, design.weights, risk, outcome)
    order = np.lexsort(tuple(each for each in keys if each is not None))
    design = design.of(order)
    each = folds(design, seed, outcome[order] if by_outcome else None)
    found = in_folds(outcome[order], risk[order], method, design, each)
    if isinstance(found, Absent):
        return Absent(Fact("a_fold_without_update", reason=found.reason))
    return replace(found, risk=found.risk[np.argsort(order)])


# ---- how the updated model does --------------------------------------------------------------------------------------


for measure in (
    *(calibration.oe_ratio, calibration.brier, utility.net_benefit_gain, sample.mss_slope),
    *(discrimination.sensitivity, discrimination.specificity),
):
    register.of_updates(measure, __name__)


@absent_with_its_parts
def covariance_with_rows(outcome: Floats, risk: Floats, method: str, design: shares.Design) -> Floats | Absent:
    """The covariance of the coefficients of an update with those that fit these rows best, the choice included.

    Without a choice it is their variance. For the closed test the best coefficients are moved by half a standard error
    in all directions: what the test makes of them follows the moves by so much (generalized degrees of freedom).
    """
    rows = weighted.Rows.sampled(outcome, risk, design.weights)
    measures = (calibration.INTERCEPT,) if method == "intercept" else (calibration.JOINT, calibration.SLOPE)
    found = [present(each(rows)) for each in measures]
    covariance = design.covariance(design.totals(np.array([each.linearized for each in found])))
    if method != "closed_test":
        return covariance
    if design.units <= len(found):
        return Absent(Fact("too_few_units_for_test", units=design.over))
    length, turn = (-np.log((np.arange(40) + 0.5) / 40)) ** 0.5, np.exp(2j * np.pi * np.arange(64) / 64)
    moves = np.outer(length, turn).view(np.float64).reshape(-1, 2)
    # As normal ones, evenly spread, with means of 0 and variances of 1 exactly.
    moves = MOVED * moves / np.sqrt(np.mean(moves**2)) @ np.linalg.cholesky(covariance).T
    apart = moves + np.array([found[0].value, found[1].value - 1])
    joint = np.einsum("mi,ij,mj->m", apart, np.linalg.inv(covariance), apart)
    of_slope, of_joint = (count * scipy.special.fdtri(count, min(design.freedom, 1e9), 1 - LEVEL) for count in (1, 2))
    # The intercept beside a slope of 1 is what of the best one goes together with no slope.
    alone = apart @ [[1.0, 0.0], [-covariance[0, 1] / covariance[1, 1], 0.0]]
    chosen = np.where((apart[:, 1:] ** 2 <= of_slope * covariance[1, 1]), alone, apart) * (joint > of_joint)[:, None]
    return np.asarray(moves.T @ chosen / (len(moves) * MOVED**2))


of_an_update = partial(
    metric,
    roles=("external",),
    fixed={"model": UPDATED},
    breaks=("perfect is best", "narrower with more rows", "one class is absent"),
)


@of_an_update(measure="ici", breaks=tuple(register.LAWS))
def ici_of_update(
    outcome: Floats,
    risk: Floats,
    rival: Floats,
    update: str,
    level: float = 0.95,
    bootstrap: int = 1000,
    seed: int = 1,
    design: shares.Sampled = None,
) -> Estimate | Absent:
    """Of an updated model: how far the risks lie from the observed frequencies, on average over the people.

    As many other patients of the hospital are expected to show as much; the interval is that of the distance in all of
    them, as that of the model is. Curve and update follow the same outcomes here, which brings them together; in other
    patients each errs for itself, so that twice the covariance of both is added (Efron 2004). That of a closed test
    carries its choice: the coefficients that fit best are moved by half a standard error in all directions, and the
    test chooses anew (Ye 1998). Of a test in doubt at 200 patients the value stays up to 12 % too low (simulated).

    Parameters
    ----------
    update : str
        "intercept", "logistic" or "closed_test": by which `risk` came from `rival`, the risks of the model as it is.

    Returns
    -------
    Estimate or Absent
        The distance, with the interval of that of the update of all rows: quantiles of what is seen beside the
        coefficients that it changes, together with the error of these, which is drawn. Of a test that changes nothing
        it is that of `ici`, its upper bound no lower than that of curves drawn around the fitted one. Absent as `ici`
        is, and where the update cannot be fitted.
    """
    sampled = design or shares.Design(len(outcome))
    y, p, rows = calibration.in_order(outcome, risk, sampled)
    curve = present(smooth_curve(y, p, None, None if sampled.is_simple else rows))
    covariance = present(covariance_with_rows(outcome, rival, update, sampled))
    columns = np.vstack((np.ones(len(risk)), logistic.logit(rival)))[: len(covariance)]
    variance = np.einsum("in,ij,jn->n", columns, covariance, columns)
    error = np.maximum(np.sqrt(2 * np.maximum(variance, 0.0)) * risk * (1 - risk), np.finfo(float).eps)
    distance = curve_at(curve, risk) - risk
    apart = distance / error
    value = sampled.mean(
        error * np.sqrt(2 / np.pi) * np.exp(-(apart**2) / 2) + distance * scipy.special.erf(apart / np.sqrt(2))
    )
    fit = present(fitted(outcome, rival, update, sampled))
    found = present(calibration.error("ici_of_update", outcome, fit.risk(rival), level, bootstrap, seed, design))
    low, high = found.low, found.high
    if low is None or high is None:
        return replace(found, value=value)
    if changed := CHANGES.index(fit.changes):
        y, p, rows = calibration.in_order(outcome, fit.risk(rival), sampled)
        low, high = present(bounds_after_update(y, p, changed, level, bootstrap, seed, rows))
    method = found.method.without("one_sided")
    made = estimate_from_tests(value, min(low, value), max(high, value), level, outcome, method)
    return replace(made, details=found.details)


@of_an_update(
    scale="wilson",
    at=("threshold",),
    weighted=weighted.Mean(lambda rows: np.asarray(rows.flagged != rows.of_rival.flagged, dtype=float)),
    followed="refused",
)
def reclassified(
    outcome: Floats, risk: Floats, rival: Floats, threshold: float, level: float = 0.95
) -> Estimate | Absent:
    """The share of the patients whom the updated model flags and the model does not, or the other way round.

    `risk` are the risks of the updated model, `rival` those of the model that is tested.

    Returns
    -------
    Estimate or Absent
        The share with Wilson's interval. Details: `newly_flagged` and `no_longer_flagged`, and of these the `cases`
        of either kind: rows, not weights. Absent without rows.
    """
    moved = (risk >= threshold) != (rival >= threshold)
    details: dict[str, float | None] = {}
    for side, rows in (
        ("newly_flagged", moved & (risk >= threshold)),
        ("no_longer_flagged", moved & (risk < threshold)),
    ):
        details |= {side: float(rows.sum()), f"{side}_cases": float(outcome[rows].sum())}
    low, high = intervals.wilson(int(moved.sum()), len(moved), level)
    share, events = float(moved.mean()), int(outcome.sum())
    return Estimate(share, low, high, level, len(moved), Method("wilson"), events, details=details)


@of_an_update(independent_rows=True, clustered="as it is")
def updated_coefficients(
    outcome: Floats, rival: Floats, update: str, seed: int = 1, design: shares.Sampled = None
) -> Estimate | Absent:
    """How many coefficients an update changes: none, the intercept, or the intercept and the slope.

    Of the closed test as many as the rows support: it keeps the risks unless intercept and slope together differ from
    0 and 1 by more than chance, and the slope unless it then differs from 1.

    Parameters
    ----------
    update : str
        "intercept", "logistic" or "closed_test".

    Returns
    -------
    Estimate or Absent
        The number, without an interval. Details: `fewest` and `most` of the updates of single folds, and of the closed
        test the statistics `joint` and `slope` of its steps with `p_joint` and `p_slope`. Absent with fewer than 20
        rows of either outcome, and where a fold allows no fit.
    """
    design = design or shares.Design(len(outcome))
    known = [CHANGES.index(each) for each in present(held_out(outcome, rival, update, design, seed)).changes]
    details: dict[str, float | None] = {"fewest": float(min(known)), "most": float(max(known))}
    changes, steps = present(closed_test(outcome, rival, design)) if update == "closed_test" else (update, {})
    number, why = float(CHANGES.index(changes)), Fact("a_choice_has_no_interval")
    method = Method("closed_test" if steps else "as_declared")
    return intervals.without_interval(number, len(outcome), method, why, int(outcome.sum()), details | steps)


# ---- what it changes -------------------------------------------------------------------------------------------------


@absent_with_its_parts
def _coefficient(site: types.SiteResults, model: str, names: Sequence[str], unchanged: float) -> Estimate | Absent:
    """A coefficient of an update: by the number of changes the measure whose value it is, where it is any.

    Where the closed test may change more or less, the interval reaches as far as those of all that it may choose.
    """
    method, counted = model.removeprefix(UPDATED), types.found(site, "updated_coefficients", model=model)
    if isinstance(counted, Estimate):
        chosen = int(counted.value)
        fewest, most = (int(counted.details.get(name) or 0) for name in ("fewest", "most"))
    elif isinstance(counted, types.Withheld) and method in CHANGES:
        chosen = fewest = most = CHANGES.index(method)
    else:
        return counted
    if not names[chosen]:
        return Absent(Fact("not_changed_by_update"))
    own = present(types.found(site, names[chosen]))
    others = [present(types.found(site, names[number])) for number in range(fewest, most + 1) if names[number]]
    held = [unchanged] if "" in names[fewest : most + 1] else []
    if own.low is None or own.high is None or (len(others) == 1 and not held):
        # A value of its own: a cell is known by it.
        return replace(own)
    low = min([*held, *(each.low for each in others if each.low is not None)])
    high = max([*held, *(each.high for each in others if each.high is not None)])
    return replace(own, low=low, high=high, se=None, method=own.method + "over_what_it_may_choose")


coefficient = partial(synthesis, each="external", at=("model",))


@coefficient()
def updated_intercept(site: types.SiteResults, model: str) -> Estimate | Absent:
    """What an update adds to the log odds of every risk.

    It is the calibration intercept of the model here, or where the slope is updated too that which belongs to it, as
    these are given, with their interval. Absent where the closed test changes nothing.
    """
    return _coefficient(site, model, ("", "calibration_intercept", "calibration_intercept_joint"), 0.0)


@coefficient()
def updated_slope(site: types.SiteResults, model: str) -> Estimate | Absent:
    """By what an update multiplies the log odds of every risk.

    It is the calibration slope of the model here, as that is given, with its interval. Absent where an update leaves
    the slope as it is.
    """
    return _coefficient(site, model, ("", "", "calibration_slope"), 1.0)
