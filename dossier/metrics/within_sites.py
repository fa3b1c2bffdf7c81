"""Groups of patients compared within hospitals: a group and the other patients of its own site, taken over the sites.

Hospitals differ, and a group is not spread evenly over them: what all its patients have beside what all others have is
then a matter of where they were treated. So every site gives one comparison, and these are averaged with weights that
are the same for both parts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy

from dossier.core import bands, register
from dossier.core.facts import Count, Fact, Method
from dossier.core.types import Absent, Estimate, Floats
from dossier.metrics import calibration, discrimination, intervals, logistic, pooled, time_to_event, updating, weighted
from dossier.metrics.intervals import Scale, back, forward, off_scale, stretch
from dossier.metrics.stratified import Stratum, auroc_of_site, design, freedom
from dossier.metrics.utility import contributions, net_benefit_gain
from dossier.metrics.weighted import Mean, Measure, Rows

CHAPTER = "subgroups"

HETEROGENEOUS = 0.1
"""From such a p value of Cochran's Q down, the variance between the sites enters."""

MOST_CERTAIN = 0.99
"""The highest risk under the null that the group is no better calibrated than the others."""


@dataclass(frozen=True, eq=False)
class Pair:
    """The rows of a group at one site, and those of the other patients there; a site may have several, one a time."""

    name: str
    ours: Stratum
    rest: Stratum

    @property
    def parts(self) -> tuple[Stratum, Stratum]:
        """Both."""
        return self.ours, self.rest

    @cached_property
    def recalibrated(self) -> tuple[Recalibrated, Recalibrated]:
        """Both with the risks of a logistic recalibration to all rows of the site.

        What case mix explains must not rest on risks that are wrong for everybody there. Risks that rank nobody are
        all the rate of the outcome; where no line can be fitted they stay as they are.
        """
        each = [part.rows() for part in self.parts]
        shares = [1.0 if part.design.weights is None else part.design.weights.mean() for part in self.parts]
        outcome, risk = (np.concatenate([getattr(rows, name) for rows in each]) for name in ("outcome", "risk"))
        rows = Rows(outcome, risk, np.concatenate([of.weights * share for of, share in zip(each, shares, strict=True)]))
        found = [coefficient(rows) for coefficient in (calibration.JOINT, calibration.SLOPE)]
        line = [each for each in found if not isinstance(each, Absent)]
        towards = np.zeros((2, len(risk)))
        if len(line) == 2 and line[1].value > 0:
            risk = updating.Update(line[0].value, line[1].value).risk(risk)
            towards = np.array([each.linearized for each in line])
        elif len(line) == 2:
            risk = np.full(len(risk), weighted.mean(outcome, rows.weights))
        at = len(each[0].risk)
        return Recalibrated(risk[:at], towards[:, :at]), Recalibrated(risk[at:], towards[:, at:])


@dataclass(frozen=True)
class Recalibrated:
    """The risks of a part of a site (n), and what its rows contribute to intercept and slope of the line (2, n)."""

    risk: Floats
    towards: Floats


@dataclass(frozen=True)
class Part:
    """A measure in one part of a site, or over sites: value, what it is a mean over, the centre of its interval."""

    value: float
    size: float
    centre: float
    variance: float


@dataclass(frozen=True)
class Comparison:
    """A difference at one site with its variance under no difference, and the weight of the site."""

    value: float
    variance: float
    weight: float
    of_rows: float = 0.0
    """Its variance by what the rows contribute, whatever the difference."""


@dataclass(frozen=True)
class Tested:
    """The difference over the sites, held against none."""

    value: float
    variance: float
    """Under no difference; where the sites differ visibly, with the variance between them."""
    between: float
    """The part of it that is between the sites."""
    details: Mapping[str, float | None]

    @property
    def with_p_value(self) -> dict[str, float | None]:
        """The details with the two-sided p value of the normal test."""
        z = self.value / math.sqrt(self.variance) if self.variance > 0 else 0.0
        return {**self.details, "z": z, "p_value": p_value([z])}


def p_value(statistics: Sequence[float]) -> float:
    """The two-sided p value of a normal statistic, or by Rubin's rules of those of several imputations."""
    count = len(statistics)
    imputed = 0.0 if count < 2 else (1 + 1 / count) * float(np.var(statistics, ddof=1))
    return 2 * float(scipy.special.ndtr(-abs(float(np.mean(statistics))) / math.sqrt(1 + imputed)))


@dataclass(frozen=True)
class Found:
    """A measure in a group and in the others over the sites, how far apart they are, and the test of that."""

    ours: Estimate
    rest: Estimate
    apart: Estimate
    tested: Tested | None = None


Ends = tuple[float | None, float | None]
NOWHERE = Absent(Fact("nowhere_in_both_parts"))
ANYWHERE: Ends = (None, None)


# ---- one part of a site ---------------------------------------------------------------------------------------------

SCORES: Mapping[str, Mean] = {
    "sensitivity": discrimination.SENSITIVITY,
    "specificity": discrimination.SPECIFICITY,
    "net_benefit": Mean(lambda rows: contributions(rows.outcome, rows.risk, rows.threshold)),
}
"""The measures that are means of what single rows add at a threshold."""
OVER_PAIRS = ("auroc", "model_based_concordance")
"""The measures that are shares of the pairs of a case and another."""


def _information(part: Stratum, of_slope: bool) -> float:
    """How much the rows would tell of a coefficient if every risk were right; the outcome has no say in it."""
    inside = (part.risk > 0) & (part.risk < 1)
    risk, weights = part.risk[inside], part.relative_weights[inside]
    spread = weights * risk * (1 - risk)
    if not of_slope or not spread.any():
        return float(spread.sum())
    linear = logistic.logit(risk)
    return float((spread * (linear - weighted.mean(linear, spread)) ** 2).sum())


INFORMATION = {"calibration_slope": True, "calibration_intercept": False, "calibration_intercept_joint": False}
"""The coefficients, which are means over what rows tell of them: of the slope, or of an intercept."""


def is_known(measure: str, influence: Measure | None) -> bool:
    """Whether a measure can be compared from the rows."""
    return measure in {*SCORES, "oe_ratio", "net_benefit_gain"} or influence is not None


def _part(measure: str, influence: Measure | None, part: Stratum, threshold: float | None) -> Part | None:
    """A measure in one part of a site; None where it has none."""
    followed = part.design.censoring is not None
    if measure in SCORES and threshold is not None and not followed:
        levels = (1.0, -threshold / (1 - threshold)) if measure == "net_benefit" else (1.0,)
        return _of_scores(part, SCORES[measure], part.rows(threshold), levels)
    if influence is None:
        raise TypeError(f"nobody knows what a row contributes to {measure}")
    rows = part.rows(threshold)
    found = rows.obstacle or influence(rows)
    if isinstance(found, Absent):
        return None
    n = float(len(part.outcome))
    made = Part(found.value, n, found.value, part.design.variance(found.linearized))
    if followed:
        return made if made.variance > 0 else None
    if measure in INFORMATION:
        few = min(part.outcome.sum(), n - part.outcome.sum()) < bands.FEWEST_JUDGED
        size = _information(part, INFORMATION[measure])
        return replace(made, size=size) if size > 0 and not few else None
    if measure not in OVER_PAIRS:
        return made
    cases = float((part.relative_weights * part.outcome).sum())
    of_site = auroc_of_site(part) if measure == "auroc" else None
    if of_site is not None:
        inside = found.value if 0 < found.value < 1 else (n * found.value + 0.5) / (n + 1)
        made = replace(made, variance=of_site.variance, centre=inside)
    return replace(made, size=cases * (n - cases)) if 0 < cases < n else None


def _of_scores(part: Stratum, scores: Mean, rows: Rows, levels: tuple[float, ...]) -> Part | None:
    """A mean of what rows add, 0 or one of the levels; of independent ones the interval is that of shares each of
    which gets one more, of n + 2.
    """
    found, among, added = scores(rows), scores.among(rows), scores.added(rows)
    if isinstance(found, Absent):
        return None
    size = float((among * rows.weights).sum())
    if part.is_dependent:
        return Part(found.value, size, found.value, part.design.variance(found.linearized))
    shares = [(level, (float((among * (added == level)).sum()) + 1) / (size + 2)) for level in levels]
    centre = math.fsum(level * share for level, share in shares)
    spread = math.fsum(level**2 * share for level, share in shares) - centre**2
    return Part(found.value, size, centre, spread / (size + 2))


# ---- over the sites -------------------------------------------------------------------------------------------------


def compared(
    measure: str,
    influence: Measure | None,
    pairs: Sequence[Pair],
    level: float,
    scale: Scale,
    ends: Ends,
    threshold: float | None,
) -> Found | Absent:
    """A measure in a group and in the other patients, both over the sites with the same weights.

    A site weighs w = n1 n0/(n1 + n0), n1 and n0 what the measure is a mean over in either part: cases, non-cases, rows,
    pairs of a case and another, or expected events. The value of the group is sum of w M1 over sum of w, that of the
    others sum of w M0 over sum of w, and the difference is that of the two. Variances are those within the sites; where
    the sites differ visibly in the difference, the variance between them is added to that of the difference. Where the
    outcome is by a horizon n1 and n0 are the patients, and the difference is tested by its own error.
    """
    followed = is_followed(pairs)
    if measure == "oe_ratio" and not followed:
        return _observed_over_expected(pairs, level)
    if measure == "net_benefit_gain" and threshold is not None and not followed:
        return _gains(pairs, level, threshold)
    every = [[_part(measure, influence, part, threshold) for part in pair.parts] for pair in pairs]
    known = [
        (pair, ours, rest)
        for pair, (ours, rest) in zip(pairs, every, strict=True)
        if ours is not None and rest is not None
    ]
    if not known:
        return NOWHERE
    kept = [pair for pair, _, _ in known]
    tests: list[Comparison | None] = []
    if measure in SCORES and threshold is not None and not followed:
        tests = [_scores_apart(measure, pair, threshold) for pair in kept]
    if followed:
        tests = [_apart(ours, rest) for _, ours, rest in known]
    # Net benefit runs from 1 less 1/(1 - t), everyone flagged and nobody with the outcome, to 1.
    low = 1 - 1 / (1 - threshold) if measure == "net_benefit" and threshold is not None else ends[0]
    widest = math.inf if low is None or ends[1] is None else ends[1] - low
    tested = _tested(kept if tests else (), tests, level, widest)
    if tested is not None and threshold is not None and measure in EXPECTED:
        tested = _beyond_risks(tested, measure, kept, tests, threshold, level)
    weights = np.array([ours.size * rest.size / (ours.size + rest.size) for _, ours, rest in known])
    weights = weights / weights.sum()
    ours, rest = _over(weights, [ours for _, ours, _ in known]), _over(weights, [rest for _, _, rest in known])
    variance = ours.variance + rest.variance + (0.0 if tested is None else tested.between)
    apart = Part(ours.value - rest.value, 0.0, ours.centre - rest.centre, variance)
    made = _together(kept, ours, rest, apart, level, scale, ends, tested)
    few = [pair.name for pair, test in zip(kept, tests, strict=False) if test is None]
    alone = [pair.name for pair in pairs if pair not in kept]
    return _named(made, alone, few, _heaviest([pair.name for pair in kept], weights))


MOSTLY = 0.8
"""From this share of the weight on, of several sites one is named whose value the mean is about."""


def _heaviest(names: Sequence[str], weights: Floats) -> list[Fact]:
    """The site that a mean over several rests on, with its share of the weight, where it is mostly of that one."""
    shares = {name: math.fsum(weights[[each == name for each in names]]) for name in names}
    name = max(shares, key=lambda each: shares[each])
    return [Fact("rests_on", dataset=name, share=shares[name])] if len(shares) > 1 and shares[name] >= MOSTLY else []


def is_followed(pairs: Sequence[Pair]) -> bool:
    """Whether the outcome is one by a horizon."""
    return any(part.design.censoring is not None for pair in pairs for part in pair.parts)


def _apart(ours: Part, rest: Part) -> Comparison:
    """The difference of two parts of a site, tested by its own error."""
    return Comparison(
        ours.value - rest.value, ours.variance + rest.variance, ours.size * rest.size / (ours.size + rest.size)
    )


def sites_of(pairs: Sequence[Pair]) -> int:
    """How many sites there are, into however many times one is divided."""
    return len({pair.name for pair in pairs})


def _gains(pairs: Sequence[Pair], level: float, threshold: float) -> Found | Absent:
    """The gain over flagging everyone, or no one, at all sites: which is better at one site alone is often chance."""
    ours, rest = (_gain(pairs, side, level, threshold) for side in (0, 1))
    if isinstance(ours, Absent) or isinstance(rest, Absent) or isinstance(apart := difference(ours, rest), Absent):
        return NOWHERE
    return Found(ours, rest, replace(apart, details={**apart.details, "k": float(sites_of(pairs))}))


@register.absent_with_its_parts
def _gain(pairs: Sequence[Pair], side: int, level: float, threshold: float) -> Estimate | Absent:
    """That of the group (0) or the others (1), each site a stratum whose rows count together as much as its weight."""
    if not pairs:
        return NOWHERE
    parts, others = ([pair.parts[which] for pair in pairs] for which in (side, 1 - side))
    sampled, (own, beside) = design(parts), (np.array([part.design.n for part in each]) for each in (parts, others))
    outcome, risk = (np.concatenate([getattr(part, name) for part in parts]) for name in ("outcome", "risk"))
    weights = np.repeat(beside / (own + beside), own) * sampled.relative_weights
    found = register.present(net_benefit_gain(outcome, risk, threshold, level, replace(sampled, weights=weights)))
    method = Method(Fact("within_sites", sites=sites_of(pairs)), "mover", "at_effective_rows")
    return replace(found, method=method, details={**found.details, "k": float(sites_of(pairs))})


def _over(weights: Floats, parts: Sequence[Part]) -> Part:
    """The mean of the parts of several sites, by weights that add up to 1."""
    columns = (np.array([getattr(part, name) for part in parts]) for name in ("value", "size", "centre", "variance"))
    values, sizes, centres, variances = columns
    # Rounding must not move a value of exactly 1 off it.
    value = float(values[0]) if np.ptp(values) == 0 else float((weights * values).sum())
    return Part(value, float(sizes.sum()), float((weights * centres).sum()), float((weights**2 * variances).sum()))


def _together(
    kept: Sequence[Pair],
    ours: Part,
    rest: Part,
    apart: Part,
    level: float,
    scale: Scale,
    ends: Ends,
    tested: Tested | None = None,
) -> Found:
    """The two values with their intervals, and their difference with those of the other patients and its test."""
    both = [part for pair in kept for part in pair.parts]
    here = _estimate(ours, [pair.ours for pair in kept], sites_of(kept), level, scale, ends)
    there = _estimate(rest, [pair.rest for pair in kept], sites_of(kept), level, scale, ends)
    between = _estimate(apart, both, sites_of(kept), level, "plain", ANYWHERE)
    others = {"complement": there.value, "complement_n": float(there.n), "complement_events": float(there.events or 0)}
    details = {**between.details, **others, **({} if tested is None else tested.with_p_value)}
    return Found(here, there, replace(between, details=details), tested)


def _estimate(made: Part, strata: Sequence[Stratum], sites: int, level: float, scale: Scale, ends: Ends) -> Estimate:
    """A value with its interval, symmetric on the scale around its centre and within the ends."""
    df, n = freedom(strata), sum(len(part.outcome) for part in strata)
    events = sum(int(part.outcome.sum()) for part in strata)
    method = Method(Fact("within_sites", sites=sites), *([] if scale == "plain" else [Fact("on_scale", scale=scale)]))
    details: dict[str, float | None] = {"k": float(sites), **({} if df is None else {"df": df})}
    none = intervals.NO_SPREAD if made.variance <= 1e-24 or df == 0 else off_scale(made.centre, scale)
    if none is not None:
        return Estimate(made.value, None, None, None, n, method, events, None, details, none)
    se = math.sqrt(made.variance)
    reach = intervals.two_sided_student(level, math.inf if df is None else df) * se / stretch(made.centre, scale)
    low, high = (back(forward(made.centre, scale) + sign * reach, scale) for sign in (-1, 1))
    low = min(made.value, low if ends[0] is None else max(low, ends[0]))
    high = max(made.value, high if ends[1] is None else min(high, ends[1]))
    return Estimate(made.value, low, high, level, n, method, events, se, details)


def _named(found: Found, alone: Sequence[str], few: Sequence[str], heaviest: Sequence[Fact] = ()) -> Found:
    """With the site that it rests on, those that have no part in it, and those that have none in the test."""
    steps = [*heaviest, *([Fact("sites_without_both_parts", sites=(*dict.fromkeys(alone),))] if alone else [])]
    tested = [Fact("sites_too_small_to_test", sites=(*dict.fromkeys(few),))] if few else []
    ours, rest = (replace(each, method=Method(*each.method, *steps)) for each in (found.ours, found.rest))
    return replace(
        found, ours=ours, rest=rest, apart=replace(found.apart, method=Method(*found.apart.method, *steps, *tested))
    )


# ---- the test of a difference ---------------------------------------------------------------------------------------


def _tested(
    pairs: Sequence[Pair], comparisons: Sequence[Comparison | None], level: float, most: float = math.inf
) -> Tested | None:
    """The mean of the differences of the sites, with its variance if there were none; None where no site has one.

    The variance between the sites is that of Paule and Mandel in the details, with the interval by the generalised Q
    statistic, its standard deviation at `most` half of how far differences can lie apart; in the test it is by moments
    for the weights of the sites, where Cochran's Q has a p value of .1 at most.
    """
    known = [each for each in comparisons if each is not None]
    if not known:
        return None
    values, variances, weights = (
        np.array([getattr(each, name) for each in known]) for name in ("value", "variance", "weight")
    )
    weights = weights / weights.sum()
    value, variance = float((weights * values).sum()), float((weights**2 * variances).sum())
    at = sites_of([pair for pair, each in zip(pairs, comparisons, strict=True) if each is not None])
    varying, details, between = variances > 0, {"tested_at": float(at)}, 0.0
    freedom = int(varying.sum()) - 1
    if freedom > 0:
        kept, spread = values[varying], variances[varying]
        fixed = 1 / spread
        q = float((fixed * (kept - (fixed * kept).sum() / fixed.sum()) ** 2).sum())
        p_value = float(scipy.special.chdtrc(freedom, q))
        shares = np.array([0.5 + level / 2, 0.5 - level / 2])
        wanted = np.array([float(freedom), *scipy.special.chdtri(freedom, 1 - shares)])
        tau, low, high = np.minimum(np.sqrt(pooled.at_generalised_q(wanted, kept, spread)), most)
        details |= {"q": q, "q_p_value": p_value, "tau": float(tau), "tau_low": float(low), "tau_high": float(high)}
        if p_value <= HETEROGENEOUS:
            moved = float((weights * (values - value) ** 2).sum() - ((weights - weights**2) * variances).sum())
            concentration = float((weights**2).sum())
            between = max(0.0, moved / (1 - concentration)) * concentration
    return Tested(value, variance + between, between, details)


def _scores_apart(measure: str, pair: Pair, threshold: float) -> Comparison | None:
    """The difference of a mean of scores at a site, its variance that of both parts together."""
    scores, parts = SCORES[measure], [part.rows(threshold) for part in pair.parts]
    added, among = [scores.added(rows) for rows in parts], [scores.among(rows) for rows in parts]
    if min(int(rows.sum()) for rows in among) < bands.FEWEST_JUDGED:
        return None
    weights = [rows.weights * of for rows, of in zip(parts, among, strict=True)]
    ours, rest = map(weighted.mean_of_rows, added, weights)
    every, of_all, n = np.concatenate(added), np.concatenate(weights), float(np.concatenate(among).sum())
    spread = weighted.mean((every - weighted.mean(every, of_all)) ** 2, of_all) * n / (n - 1)
    sizes = [float(weight.sum()) ** 2 / float((weight**2).sum()) for weight in weights]
    variance = spread * (1 / sizes[0] + 1 / sizes[1])
    if pair.ours.is_dependent:
        ours_and_rest = ((pair.ours, ours), (pair.rest, rest))
        variance = max(variance, sum(part.design.variance(found.linearized) for part, found in ours_and_rest))
    return Comparison(ours.value - rest.value, variance, sizes[0] * sizes[1] / (sizes[0] + sizes[1]))


EXPECTED = ("sensitivity", "specificity")
"""The shares that risks foretell."""


def _expected(measure: str, part: Stratum, risk: Floats, threshold: float) -> tuple[float, Floats, Floats]:
    """A share by what these risks foretell, by how much each row is of those it is a share of, and what it adds."""
    among = part.relative_weights * (risk if measure == "sensitivity" else 1 - risk)
    hits = SCORES[measure].added(part.rows(threshold))
    return float((among * hits).sum() / among.sum()), among, hits


def _as_observed(part: Stratum, risk: Floats) -> Floats:
    """These risks times the O/E ratio that the part has by them."""
    observed, awaited = _sums(replace(part, risk=risk))
    return np.minimum(MOST_CERTAIN, risk * observed / awaited) if awaited > 0 else risk


def _variance_if_right(measure: str, part: Stratum, threshold: float) -> float:
    """The variance of a share less what risks foretell, if these were right but for the O/E ratio of the part."""
    right = _as_observed(part, part.risk)
    share, among, hits = _expected(measure, part, right, threshold)
    moved = part.relative_weights * (hits - share) / among.sum()
    alone = float((moved**2 * right * (1 - right)).sum())
    by_unit = float((part.design.totals(moved * (part.outcome - right)) ** 2).sum()) if part.is_dependent else 0.0
    return max(alone, by_unit)


def _beyond_risks(
    tested: Tested,
    measure: str,
    pairs: Sequence[Pair],
    tests: Sequence[Comparison | None],
    threshold: float,
    level: float,
) -> Tested:
    """The test of a difference in a share that also asks whether the risks of both parts explain it.

    Groups of another case mix differ in sensitivity and specificity though every risk is right. So the difference less
    that which the risks foretell is tested too, its variance that of the outcomes if the risks were right but for O/E;
    both have to be there for a group to be worse off.
    """
    judged = [(pair, test) for pair, test in zip(pairs, tests, strict=True) if test is not None]
    foretold, gaps = [], []
    for pair, test in judged:
        values = [_expected(measure, part, part.risk, threshold)[0] for part in pair.parts]
        # Of an outcome by a horizon the error is that of the difference, which may not be so small.
        of_outcomes = (_variance_if_right(measure, part, threshold) for part in pair.parts)
        variance = test.variance if is_followed([pair]) else sum(of_outcomes)
        foretold.append(values)
        gaps.append(replace(test, value=test.value - (values[0] - values[1]), variance=variance))
    beyond = _tested([pair for pair, _ in judged], gaps, level)
    if beyond is None:
        return tested
    weights = np.array([gap.weight for gap in gaps])
    ours, rest = (weights @ np.array(foretold) / weights.sum()).tolist()
    # One-sided: the difference that is to be explained has its direction.
    p_beyond = (beyond.with_p_value["p_value"] or 0.0) / 2 if beyond.value * tested.value > 0 else 1.0
    return replace(
        tested, details={**tested.details, "expected": ours, "expected_complement": rest, "p_beyond": p_beyond}
    )


# ---- ranking beyond case mix ----------------------------------------------------------------------------------------


@register.synthesis(each="groups")
def auroc_beyond_case_mix(pairs: Sequence[Pair], level: float = 0.95) -> Estimate | Absent:
    """How much better the model ranks a group than the other patients of its own sites, beyond what case mix explains.

    The difference in AUROC less the difference in model-based concordance, which is what the AUROCs would be if every
    risk were right after a logistic recalibration to all patients of its site: risks that are wrong for everybody there
    say nothing of a group. The variance of the test is that of the outcomes if these were right but for the O/E ratio
    of each part; that of the interval is by linearization in outcome and risk within each part of a site. Sites with
    fewer than five events or non-events in either part have none. Absent where all are such.
    """
    tests = [_ranks_apart(pair) for pair in pairs]
    # An AUROC less a concordance, of at least 0.5, lies between -1 and 0.5.
    tested = _tested(pairs, tests, level, 1.5)
    if tested is None:
        return Absent(Fact("too_few_to_rank_in_both_parts", fewest=bands.FEWEST_JUDGED))
    kept = [pair for pair, test in zip(pairs, tests, strict=True) if test is not None]
    both = [part for pair in kept for part in pair.parts]
    weights, of_rows = np.array([(test.weight, test.of_rows) for test in tests if test is not None]).T
    variance = float(((weights / weights.sum()) ** 2 * of_rows).sum()) + tested.between
    value = Part(tested.value, 0.0, tested.value, variance)
    made = _estimate(value, both, sites_of(kept), level, "plain", ANYWHERE)
    return _judged(made, pairs, pairs, tests, tested)


def _ranks_apart(pair: Pair) -> Comparison | None:
    counts = [(int(part.known.sum()), int((1 - part.known).sum())) for part in pair.parts]
    if min(min(each) for each in counts) < bands.FEWEST_JUDGED:
        return None
    found = [_beyond_case_mix(part, by.risk) for part, by in zip(pair.parts, pair.recalibrated, strict=True)]
    if any(each is None for each in found):
        return None
    ours, rest = (each for each in found if each is not None)
    weight = ours.size * rest.size / (ours.size + rest.size)
    by_line, of_rows = ours.by_line - rest.by_line, 0.0
    for sign, part, each, by in zip((1, -1), pair.parts, (ours, rest), pair.recalibrated, strict=True):
        of_rows += part.design.variance(sign * each.linearized - np.sum(by_line[:, None] * by.towards, axis=0))
    return Comparison(ours.value - rest.value, ours.variance + rest.variance, weight, of_rows)


@dataclass(frozen=True)
class _Beyond:
    """The AUROC of a part less its model-based concordance, by how many pairs of a case and another."""

    value: float
    size: float
    variance: float
    """If the risks are right but for O/E."""
    linearized: Floats
    """What the rows contribute to it (n), the risks as they are."""
    by_line: Floats
    """By how much the concordance moves with the intercept and slope of the line of the site (2)."""


def _beyond_case_mix(part: Stratum, risk: Floats) -> _Beyond | None:
    weights = part.relative_weights
    rows = part.rows()
    ranked, expected = rows.obstacle or weighted.auroc(rows), discrimination.expected_concordance(risk, weights)
    if isinstance(ranked, Absent) or expected is None:
        return None
    concordance, of_rows, moved = expected
    steep, linearized = moved * risk * (1 - risk), ranked.linearized - of_rows
    by_line = np.array([steep.sum(), (steep * logistic.logit(part.risk)).sum()])
    if part.design.censoring is not None:
        variance, size = part.design.variance(linearized), float(part.known.sum() * (1 - part.known).sum())
    else:
        right, events = _as_observed(part, risk), float((weights * part.outcome).sum())
        variance, size = float((moved**2 * right * (1 - right)).sum()), events * (len(part.outcome) - events)
        if part.is_dependent:
            variance = max(variance, float((part.design.totals(moved * (part.outcome - right)) ** 2).sum()))
    return _Beyond(ranked.value - concordance, size, variance, linearized, by_line)


# ---- observed over expected -----------------------------------------------------------------------------------------


def _sums(part: Stratum) -> tuple[float, float]:
    """The events of a part, and those that were expected."""
    weights = part.relative_weights
    return float((weights * part.outcome).sum()), float((weights * part.risk).sum())


@dataclass(frozen=True)
class _Ratios:
    """O/E of a group and of the others by the weights of Mantel and Haenszel, with what rows contribute to each."""

    kept: Sequence[Pair]
    ours: float
    rest: float
    to_ours: Sequence[Floats]
    """What the rows of each part, one after the other, contribute to the value of the group."""
    to_rest: Sequence[Floats]

    def variance(self, ours: float, rest: float) -> float:
        """That of a sum of both values with these factors, centred within each part of a site."""
        parts = [part for pair in self.kept for part in pair.parts]
        return math.fsum(
            part.design.variance(ours * one + rest * other)
            for one, other, part in zip(self.to_ours, self.to_rest, parts, strict=True)
        )


def _ratios(pairs: Sequence[Pair]) -> _Ratios | None:
    known = [(pair, *_sums(pair.ours), *_sums(pair.rest)) for pair in pairs]
    known = [each for each in known if each[2] > 0 and each[4] > 0]
    if not known:
        return None
    below = math.fsum(e1 * e0 / (e1 + e0) for _, _, e1, _, e0 in known)
    ours = math.fsum(o1 * e0 / (e1 + e0) for _, o1, e1, _, e0 in known) / below
    rest = math.fsum(o0 * e1 / (e1 + e0) for _, _, e1, o0, e0 in known) / below
    to_ours: list[Floats] = []
    to_rest: list[Floats] = []
    for pair, o1, e1, o0, e0 in known:
        whole = e1 + e0
        for part, mine, is_ours in ((pair.ours, e0, True), (pair.rest, e1, False)):
            outcome, risk = part.relative_weights * part.outcome, part.relative_weights * part.risk
            own, far = (o1, o0) if is_ours else (o0, o1)
            # Events weigh by the share of the other part; a risk moves that share of both, and the weight of the site.
            of_own = outcome * mine / whole - risk * own * mine / whole**2
            of_other = risk * far * mine / whole**2
            weight = risk * (mine / whole) ** 2
            first, second = (of_own, of_other) if is_ours else (of_other, of_own)
            to_ours.append((first - ours * weight) / below)
            to_rest.append((second - rest * weight) / below)
    return _Ratios([each[0] for each in known], ours, rest, to_ours, to_rest)


def _observed_over_expected(pairs: Sequence[Pair], level: float) -> Found | Absent:
    found = _ratios(pairs)
    if found is None:
        return NOWHERE
    each = ((found.ours, (1, 0)), (found.rest, (0, 1)), (found.ours - found.rest, (1, -1)))
    ours, rest, apart = (Part(value, 0.0, value, found.variance(*factors)) for value, factors in each)
    made = _together(found.kept, ours, rest, apart, level, "log", ANYWHERE)
    return _named(made, [pair.name for pair in pairs if pair not in found.kept], [])


@register.synthesis(each="groups")
def oe_ratio_ratio(pairs: Sequence[Pair], level: float = 0.95) -> Estimate | Absent:
    """How many times as many events came for those expected in a group as in the other patients of its own sites.

    The rate ratio of Mantel and Haenszel with the expected events in place of time: the O/E ratio of the group over
    that of the others, both with weights E1 E0/E of the sites. The interval is symmetric on the log scale, by
    linearization in outcome and risk within each part of a site. The test of 1 is the score test with the O/E ratio
    that both parts of a site have together. Absent where no site has both parts, or one part has no event.
    """
    if is_followed(pairs):
        return _ratio_of_followed(pairs, level)
    found = _ratios(pairs)
    if found is None or min(found.ours, found.rest) <= 0:
        return NOWHERE if found is None else Absent(Fact("no_event_in_a_part"))
    tests = [_ratio_apart(pair) for pair in found.kept]
    tested = _tested(found.kept, tests, level)
    ratio = found.ours / found.rest
    variance = found.variance(1 / found.ours, -1 / found.rest) + (0.0 if tested is None else tested.between)
    both = [part for pair in found.kept for part in pair.parts]
    made = _estimate(Part(ratio, 0.0, ratio, ratio**2 * variance), both, sites_of(found.kept), level, "log", ANYWHERE)
    return _judged(made, pairs, found.kept, tests, tested)


def _ratio_of_followed(pairs: Sequence[Pair], level: float) -> Estimate | Absent:
    """The same where the outcome is by a horizon: the mean of the logarithms at the sites, weighed by E1 E0/E."""
    tests = [_logs_apart(pair) for pair in pairs]
    tested = _tested(pairs, tests, level)
    if tested is None:
        return NOWHERE
    kept, ratio = [pair for pair, test in zip(pairs, tests, strict=True) if test is not None], math.exp(tested.value)
    both, part = [each for pair in kept for each in pair.parts], Part(ratio, 0.0, ratio, ratio**2 * tested.variance)
    return _judged(_estimate(part, both, sites_of(kept), level, "log", ANYWHERE), pairs, pairs, tests, tested)


def _logs_apart(pair: Pair) -> Comparison | None:
    """How far the logarithms of O/E of the parts of a site lie apart; None with few events or next to none."""
    rows = [part.rows() for part in pair.parts]
    ratios = [each.obstacle or weighted.oe_ratio(each) for each in rows]
    if min(int(each.cases.sum()) for each in rows) < bands.FEWEST_JUDGED:
        return None
    (ours, rest), (e1, e0) = ratios, (float(part.risk.sum()) for part in pair.parts)
    if isinstance(ours, Absent) or isinstance(rest, Absent):
        return None
    each = zip(pair.parts, (ours, rest), strict=True)
    variance = math.fsum(part.design.variance(found.linearized) / found.value**2 for part, found in each)
    return Comparison(math.log(ours.value / rest.value), variance, e1 * e0 / (e1 + e0))


def _judged(
    made: Estimate,
    pairs: Sequence[Pair],
    kept: Sequence[Pair],
    tests: Sequence[Comparison | None],
    tested: Tested | None,
) -> Estimate:
    """The estimate with its test, and with the sites that have no part in it or in the test."""
    alone = [pair.name for pair in pairs if pair not in kept]
    few = [pair.name for pair, test in zip(kept, tests, strict=True) if test is None]
    found = _named(Found(made, made, made), alone, few).apart
    return found if tested is None else replace(found, details={**found.details, **tested.with_p_value})


def _ratio_apart(pair: Pair) -> Comparison | None:
    """How far the logarithms of O/E of the parts of a site lie apart, by one step of the score from none."""
    (o1, e1), (o0, e0) = map(_sums, pair.parts)
    if min(e1, e0) < bands.FEWEST_JUDGED or o1 + o0 == 0:
        return None
    whole = e1 + e0
    highest = max(float(part.risk.max()) for part in pair.parts)
    ratio = min((o1 + o0) / whole, MOST_CERTAIN / highest)
    score, variance, by_unit = 0.0, 0.0, 0.0
    for part, factor in ((pair.ours, e0 / whole), (pair.rest, -e1 / whole)):
        risk, weights = ratio * part.risk, part.relative_weights
        each = factor * weights * (part.outcome - risk)
        score += float(each.sum())
        variance += float((factor**2 * weights**2 * risk * (1 - risk)).sum())
        by_unit += float((part.design.totals(each) ** 2).sum()) if part.is_dependent else 0.0
    information = ratio * e1 * e0 / whole
    return Comparison(score / information, max(variance, by_unit) / information**2, information)


# ---- how few rows tell nothing, and one site's difference -----------------------------------------------------------

BY_NATURE = (None, calibration.A_TEST, time_to_event.NO_INTERVAL)
"""Why a number has no interval when no rows could give it one."""


def too_few(events: int, others: int, among: Fact | None = None, label: str = "") -> Absent | None:
    """Why these rows are too few to tell anything, or None when they are enough.

    `events` and `others` are the rows with the outcome, or of the class that `label` names, and all others; `among`
    says whose they are. Too few are fewer than 20 of either; of fewer than five rows in all it is not said how many
    had the event.
    """
    if min(events, others) >= bands.FEW_FOR_POOLING:
        return None
    if 0 < events + others < bands.SMALLEST_GROUP:
        return Absent(_not_described(among))
    if label:
        counts = {"inside": Count(events, "row"), "outside": Count(others, "row")}
        return Absent(Fact("too_few_of_class", among=among, label=label, **counts))
    counts = {"events": Count(events, "event"), "non_events": Count(others, "non-event")}
    return Absent(Fact("too_few_to_tell", among=among, **counts))


def too_few_of_classes(counts: Mapping[str, int], among: Fact | None = None) -> Absent | None:
    """Why rows of several classes are too few to tell anything about all classes together, or None when enough.

    `counts` are the rows of each class; `among` says whose they are. Too few are fewer than 20 of any class: a
    mean over the classes is no surer than its rarest class.
    """
    if 0 < sum(counts.values()) < bands.SMALLEST_GROUP:
        return Absent(_not_described(among))
    few = tuple(
        Fact("of_a_class", rows=Count(count, "row"), label=label)
        for label, count in counts.items()
        if count < bands.FEW_FOR_POOLING
    )
    return Absent(Fact("too_few_of_classes", among=among, classes=few)) if few else None


def _not_described(among: Fact | None) -> Fact:
    return Fact("too_few_to_describe", among=among, fewest=bands.SMALLEST_GROUP)


def difference(ours: Estimate, rest: Estimate) -> Estimate | Absent:
    """How much higher a measure is in a subgroup than in the other patients of the same site.

    `ours` and `rest` are the estimates of one measure on two sets of rows that share none. Returns the value of the
    subgroup minus that of the others, on the measure's own scale for every measure, ratios too, with the interval by
    square-and-add: low = d - sqrt((v1 - l1)^2 + (u2 - v2)^2), high = d + sqrt((u1 - v1)^2 + (v2 - l2)^2). The standard
    error is that of independent rows where both have one. Details: `complement`, its value, and `complement_n`,
    `complement_events`, its rows. The bounds are missing, with the reason, where one of the two intervals is one-sided
    or missing. Absent for a measure that has no interval by its nature, such as a sample size. Source: Zou and Donner
    2008; Newcombe 1998.
    """
    if any(estimate.level is None and estimate.reason in BY_NATURE for estimate in (ours, rest)):
        return Absent(Fact("not_compared_without_interval"))
    value = ours.value - rest.value
    bounds = intervals.square_and_add(ours, rest, "subgroup", "other patients")
    return Estimate(
        value=value,
        low=None if isinstance(bounds, Absent) else min(value, value - bounds[0]),
        high=None if isinstance(bounds, Absent) else max(value, value + bounds[1]),
        level=None if isinstance(bounds, Absent) else ours.level,
        n=ours.n + rest.n,
        method=Method("minus_other_patients", "square_and_add", *intervals.methods_of(ours, rest)),
        events=None if ours.events is None or rest.events is None else ours.events + rest.events,
        se=None if ours.se is None or rest.se is None else math.hypot(ours.se, rest.se),
        details={
            "complement": rest.value,
            "complement_n": float(rest.n),
            "complement_events": None if rest.events is None else float(rest.events),
        },
        reason=bounds.reason if isinstance(bounds, Absent) else None,
    )
