"""All sites together: one number for the hospitals on average, and a range for the next one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy

from dossier.core.bands import FEW_FOR_POOLING, FEWEST_FOR_A_NEW_SITE, FEWEST_POOLED
from dossier.core.facts import Count, Fact, Method, gathered
from dossier.core.types import Absent, Estimate, Floats
from dossier.metrics import intervals

MIXED = 1_000
"""At how many probabilities the confidence distribution of the variance between sites is taken."""


@dataclass(frozen=True)
class RandomEffects:
    """A pooled mean with its interval, and how much the sites differ."""

    value: float
    se: float
    low: float
    high: float
    tau: float
    i2: float
    k: int

    @property
    def df(self) -> int:
        """The degrees of freedom of the interval of the mean."""
        return self.k - 1


def random_effects(values: Floats, standard_errors: Floats, level: float = 0.95) -> RandomEffects:
    """The mean over sites that really differ from each other, with how much they do.

    `values` and `standard_errors` are those of at least two sites, on one scale, the standard errors above 0. The
    variance between sites, tau squared, is the restricted maximum likelihood one (REML), at the highest of its peaks.
    The interval is Hartung's and Knapp's, mean -+ t(k-1) se, with a variance that is never below the plain one (factor
    at least 1: metafor's `knha` may go below). i2 = tau^2 / (tau^2 + s^2), s^2 the typical variance within a site
    (Higgins and Thompson).
    """
    variances = standard_errors**2
    between = _restricted_maximum_likelihood(values, variances)
    weights = 1 / (variances + between)
    mean = float((weights * values).sum() / weights.sum())
    k = len(values)
    factor = max(1.0, float((weights * (values - mean) ** 2).sum() / (k - 1)))
    se = math.sqrt(factor / float(weights.sum()))
    reach = intervals.two_sided_student(level, k - 1) * se
    return RandomEffects(
        value=mean,
        se=se,
        low=mean - reach,
        high=mean + reach,
        tau=math.sqrt(between),
        i2=between / (between + _typical(variances)),
        k=k,
    )


def expected_range(values: Floats, standard_errors: Floats, level: float = 0.95) -> tuple[float, float]:
    """The range in which the true value of a new site is expected: a prediction interval.

    `values` and `standard_errors` are those of at least three sites, as for `random_effects`. The variance between
    sites is not taken as known: each of 1,000 quantiles of its confidence distribution gives a normal distribution of
    the new value, with mean and variance mu(tau^2) and tau^2 + 1/sum of w, w = 1/(s^2 + tau^2), and the bounds are the
    quantiles of their mixture. The confidence distribution is that of the generalised Q statistic, the sum of w (y -
    mu)^2, which has the chi-squared distribution with k - 1 degrees of freedom at the true tau^2; where even tau^2 = 0
    leaves it too small, tau^2 is 0. The idea is Nagashima's, Noma's and Furukawa's, who take the distribution of
    Cochran's Q and draw at random; this form needs no draws, and in simulation holds more evenly (`make coverage`).
    Source: Nagashima 2019; Viechtbauer 2007.
    """
    variances = standard_errors**2
    shares = (np.arange(MIXED) + 0.5) / MIXED
    between = at_generalised_q(scipy.special.chdtri(len(values) - 1, shares), values, variances)
    weights = 1 / (variances + between[:, None])
    total = weights.sum(axis=1)
    mean = (weights * values).sum(axis=1) / total
    spread = np.sqrt(between + 1 / total)
    ends = (float((mean - 9 * spread).min()), float((mean + 9 * spread).max()))

    def bound(share: float) -> float:
        return float(
            scipy.optimize.brentq(lambda at: scipy.special.ndtr((at - mean) / spread).mean() - share, *ends, xtol=1e-13)
        )

    return bound(0.5 - level / 2), bound(0.5 + level / 2)


def heterogeneity_bounds(values: Floats, standard_errors: Floats, level: float = 0.95) -> dict[str, float]:
    """The intervals of tau and of i2: `tau_low`, `tau_high`, `i2_low`, `i2_high`.

    Arguments as for `random_effects`. The generalised Q statistic (`expected_range`) lies between its chi-squared
    quantiles at the variances between sites that are not refuted (Q profile, Viechtbauer 2007), and i2 follows from
    these.
    """
    variances, k = standard_errors**2, len(values)
    quantiles = scipy.special.chdtri(k - 1, np.array([0.5 - level / 2, 0.5 + level / 2]))
    bounds, typical = at_generalised_q(quantiles, values, variances), _typical(variances)
    ends = dict(zip(("low", "high"), bounds.tolist(), strict=True))
    tau = {f"tau_{end}": math.sqrt(between) for end, between in ends.items()}
    return tau | {f"i2_{end}": between / (between + typical) for end, between in ends.items()}


def _typical(variances: Floats) -> float:
    """The typical variance within a site (Higgins and Thompson 2002)."""
    fixed = 1 / variances
    return (len(variances) - 1) / float(fixed.sum() - (fixed**2).sum() / fixed.sum())


def at_generalised_q(wanted: Floats, values: Floats, variances: Floats) -> Floats:
    """The variance between sites at which the generalised Q statistic is as large as each of these; 0 where none is."""
    low = np.zeros(len(wanted))
    # Q falls with tau^2, and is at most the sum of squares over tau^2.
    high = float(((values - values.mean()) ** 2).sum()) / wanted
    for _ in range(60):
        middle = (low + high) / 2
        weights = 1 / (variances + middle[:, None])
        mean = (weights * values).sum(axis=1) / weights.sum(axis=1)
        larger = (weights * (values - mean[:, None]) ** 2).sum(axis=1) > wanted
        low, high = np.where(larger, middle, low), np.where(larger, high, middle)
    # Where Q is too small at every variance that was tried, it is at 0 too, which the search only comes near.
    return np.where(low > 0, (low + high) / 2, 0.0)


SCANNED = 100
"""At how many variances between sites the slope of the restricted likelihood is looked at for its peaks."""


def _restricted_maximum_likelihood(values: Floats, variances: Floats) -> float:
    """The variance between sites at which the restricted likelihood is highest; the smallest of equally high ones."""

    def slope(between: float) -> float:
        return float(_slopes(np.array([between]), values, variances)[0])

    def likelihood(between: float) -> float:
        weights = 1 / (variances + between)
        total = weights.sum()
        mean = (weights * values).sum() / total
        return float(np.log(weights).sum() - math.log(total) - (weights * (values - mean) ** 2).sum())

    # Where standard errors are very unequal it can fall from 0 and rise again to a higher peak. No peak is narrow over
    # the logarithm of the surest site's variance with that between sites; beyond the last point it only falls.
    least, last = variances.min(), np.ptp(values) ** 2 + variances.max()
    scan = least * np.expm1(np.linspace(0, math.log1p(last / least), SCANNED))
    rising = _slopes(scan, values, variances) > 0
    peaks = [
        float(scipy.optimize.brentq(slope, scan[position], scan[position + 1], xtol=1e-15, rtol=1e-14))
        for position in np.flatnonzero(rising[:-1] & ~rising[1:])
    ]
    return max(peaks if rising[0] else [0.0, *peaks], key=likelihood)


def _slopes(between: Floats, values: Floats, variances: Floats) -> Floats:
    """Twice the slope of the logarithm of the restricted likelihood at each of these variances between sites."""
    weights = 1 / (variances + between[:, None])
    total = weights.sum(axis=1)
    mean = (weights * values).sum(axis=1) / total
    away = ((weights * (values - mean[:, None])) ** 2).sum(axis=1)
    return np.asarray(away - total + (weights**2).sum(axis=1) / total)


def pool(
    estimates: tuple[Estimate, ...],
    scale: intervals.Scale,
    level: float = 0.95,
    names: tuple[str, ...] | None = None,
    known: tuple[Fact | None, ...] = (),
) -> Estimate | Absent:
    """One number for all external sites together, with the range to be expected in a new hospital.

    `estimates` are those of one measure, one a site, each with its SE on its own scale; `scale` is where they are
    pooled: logit (AUROC, SE / (A (1 - A))), log (O/E, SE / value) or plain. A site with fewer than 20 events or
    non-events, or without an SE, is listed in the method and not pooled; `names` are the sites' names for that list,
    `known` further reasons not to pool a site, one a site or None. An AUROC of exactly 1 or 0 enters with (n AUROC +
    .5)/(n + 1) and its SE, Newcombe's there, and is listed too. Details: `tau` (on the scale) and `i2` with their
    intervals (`tau_low` ...), `k`, `df` of the interval, and `left_out`; from five sites on `prediction_low` and
    `prediction_high`. Absent below three sites: with two the interval has one degree of freedom, and goes from .11 to
    .97 where the sites have an AUROC of .70 and .60. See `random_effects`, `expected_range` and `heterogeneity_bounds`.
    """
    called, reasons = names or (None,) * len(estimates), known or (None,) * len(estimates)
    entered = tuple(_inside(estimate, scale) for estimate in estimates)
    obstacles = tuple(why or _obstacle(estimate, scale) for estimate, why in zip(entered, reasons, strict=True))
    usable = tuple(estimate for estimate, obstacle in zip(entered, obstacles, strict=True) if obstacle is None)
    if len(usable) < FEWEST_POOLED:
        return Absent(_too_few(called, obstacles))
    values = np.array([intervals.forward(estimate.value, scale) for estimate in usable])
    errors = _errors(usable, scale)
    found = random_effects(values, errors, level)
    names_of_ends = ("prediction_low", "prediction_high") if found.k >= FEWEST_FOR_A_NEW_SITE else ()
    ahead = expected_range(values, errors, level) if names_of_ends else ()
    value = intervals.back(found.value, scale)
    moved = tuple(
        Fact("site", name=name, value=estimate.value, entered_as=inside.value)
        for name, estimate, inside, why in zip(called, estimates, entered, obstacles, strict=True)
        if estimate is not inside and why is None
    )
    others = tuple(
        Fact("site", name=name, why=why) for name, why in zip(called, obstacles, strict=True) if why is not None
    )
    method = Method(
        Fact("reml", scale=None if scale == "plain" else scale, df=found.df),
        "prediction" if ahead else Fact("no_prediction", fewest=Count(FEWEST_FOR_A_NEW_SITE, "site", is_limit=True)),
        "q_profile",
        *((Fact("entered", sites=moved),) if moved else ()),
        *((Fact("not_pooled", sites=others),) if others else ()),
    )
    events = [estimate.events for estimate in usable]
    return Estimate(
        value=value,
        low=intervals.back(found.low, scale),
        high=intervals.back(found.high, scale),
        level=level,
        n=sum(estimate.n for estimate in usable),
        method=method,
        events=None if None in events else sum(count for count in events if count is not None),
        se=found.se * intervals.stretch(value, scale),
        details={
            **{name: intervals.back(end, scale) for name, end in zip(names_of_ends, ahead, strict=True)},
            "tau": found.tau,
            "i2": found.i2,
            **heterogeneity_bounds(values, errors, level),
            "k": found.k,
            "df": found.df,
            "left_out": len(estimates) - len(usable),
        },
    )


def shares(estimates: Sequence[Estimate], scale: intervals.Scale, tau: float) -> tuple[float | None, ...]:
    """The weight of each site in the mean over sites that differ by `tau`, as a share of all; None of one left out."""
    entered = [_inside(estimate, scale) for estimate in estimates]
    is_usable = [_obstacle(estimate, scale) is None for estimate in entered]
    weights = 1 / (
        _errors([each for each, usable in zip(entered, is_usable, strict=True) if usable], scale) ** 2 + tau**2
    )
    each = iter((weights / weights.sum()).tolist())
    return tuple(next(each) if usable else None for usable in is_usable)


def _errors(usable: Sequence[Estimate], scale: intervals.Scale) -> Floats:
    """The standard errors on the scale, by the delta method."""
    return np.array([(estimate.se or 0.0) / intervals.stretch(estimate.value, scale) for estimate in usable])


def _inside(estimate: Estimate, scale: intervals.Scale) -> Estimate:
    """The estimate where it has a logit: a share of exactly 0 or 1 moved by half a row."""
    if scale != "logit" or 0 < estimate.value < 1:
        return estimate
    return replace(estimate, value=(estimate.n * estimate.value + 0.5) / (estimate.n + 1))


def too_few(events: int | None, others: int | None, fewest: int) -> Fact | None:
    """Why nothing is said of so few rows with the outcome, or without; None of enough, and where they are not known."""
    if events is not None and events < fewest:
        return Fact("fewer_events", fewest=Count(fewest, "event", is_limit=True))
    if others is not None and others < fewest:
        return Fact("fewer_non_events", fewest=Count(fewest, "non-event", is_limit=True))
    return None


def _obstacle(estimate: Estimate, scale: intervals.Scale) -> Fact | None:
    """Why a site cannot be pooled."""
    reason = too_few(estimate.events, estimate.others, FEW_FOR_POOLING) or intervals.off_scale(estimate.value, scale)
    if reason is None and (estimate.se is None or estimate.se <= 0):
        return Fact("no_standard_error")
    return reason


def _too_few(names: Sequence[str | None], obstacles: Sequence[Fact | None]) -> Fact:
    """Why so few sites are not pooled: the reasons in order of appearance, each with its sites, or with how many."""
    count = Count(obstacles.count(None), "site")
    by_reason = gathered((why, name) for name, why in zip(names, obstacles, strict=True) if why is not None)
    if not by_reason:
        return Fact("too_few_sites_to_pool", usable=count)
    not_pooled = tuple(
        Fact("sites_not_pooled", sites=Count(len(sites), "site"), reason=why)
        if None in sites
        else Fact("site_not_pooled", dataset=tuple(sites), reason=why)
        for why, sites in by_reason.items()
    )
    return Fact("too_few_sites_pooled", usable=count, not_pooled=not_pooled)
