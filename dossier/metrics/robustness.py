"""Does the model keep its performance elsewhere, given how different the patients there are?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dossier.core import bands, register
from dossier.core.facts import Fact, Method
from dossier.core.types import Absent, Curve, Estimate, Floats, SiteResults, found, found_curve
from dossier.metrics import calibration, discrimination, intervals, utility

Integers = NDArray[np.int64]
SUBSETS = 100
SHARE_HELD_OUT = 0.2
LONGEST_CURVE = 250

# ---- the internal test ----------------------------------------------------------------------------------------------


def over_splits(
    values: Floats, n_test: float, n_train: float | None, n: int, events: int | None, level: float = 0.95
) -> Estimate:
    """The mean of a measure over refitted splits, with an interval that knows that the splits share patients.

    `values` holds one value a split; `n_test` and `n_train` are the rows a split tests on and is fitted on; `n` and
    `events` are counted over all splits. SE = sqrt((1/J + n_test/n_train) var), var with ddof 1 over the J splits
    (Nadeau and Bengio 2003), interval by Student t with J - 1 degrees of freedom. Without `n_train`, with a single
    split, or where all splits have the same value there is no interval, and its reason is given.
    """
    j = len(values)
    value = float(values.mean())
    method = Method(Fact("mean_over_splits", splits=j))
    if n_train is None or j < 2:
        unknown = Fact("rows_of_fit_not_known")
        reason = unknown if n_train is None else Fact("one_split")
        return Estimate(value, None, None, None, n, method, events, reason=reason)
    if values.min() == values.max():
        return Estimate(value, None, None, None, n, method, events, reason=intervals.NO_SPREAD)
    se = math.sqrt((1 / j + n_test / n_train) * float(np.var(values, ddof=1)))
    reach = intervals.two_sided_student(level, j - 1) * se
    return Estimate(value, value - reach, value + reach, level, n, method + "nadeau_bengio", events, se)


def declared_estimate(value: float, low: float, high: float, level: float, n: int, events: int | None) -> Estimate:
    """A performance that its owner declares, with the standard error that its interval implies.

    `value`, `low` and `high` in 0..1, read as an interval at `level`, which is that of the release: the method says so,
    for nobody declares another. SE = (logit high - logit low) / (2 z) A (1 - A). A bound or value of
    exactly 0 or 1 has no logit: the SE is then missing, with its reason.
    """
    method = Method(Fact("declared_bounds", level=level))
    if not all(0 < number < 1 for number in (value, low, high)):
        return Estimate(value, low, high, level, n, method, events, reason=Fact("bound_of_zero_or_one"))
    z = intervals.two_sided(level)
    width = math.log(high / (1 - high)) - math.log(low / (1 - low))
    return Estimate(value, low, high, level, n, method, events, width / (2 * z) * value * (1 - value))


def declared_similarity(form: str, value: float, n: int, source: str) -> Estimate:
    """A similarity that was computed elsewhere from `n` patients of the site; its method says by whom."""
    reason = Fact("p_value_has_no_interval" if form == "psi" else "declared_without_interval")
    return Estimate(value, None, None, None, n, Method(Fact("declared_by", source=source)), reason=reason)


@register.curve(roles=("internal",))
def split_performance(
    outcome: Floats, risk: Floats, split: Integers | None = None, primary_threshold: float | None = None, seed: int = 1
) -> Curve | Absent:
    """How much the performance varies between parts of the internal test.

    `outcome` is 0/1, `risk` 0..1, `split` the number of the refitted split of each row. Columns `split`, `auroc`,
    `standardized_net_benefit` (at the primary threshold) and `brier`, one row a split; without splits, one row for each
    of 100 seeded subsets of 20 % of the rows, which the method says. A value that a split does not allow is None.
    Absent without rows. Of more than 250 splits the first 250 are shown; the minima of `wpr` are those of all.
    """
    rows, method = parts_of((risk, outcome), split, seed)
    columns: dict[str, tuple[float | None, ...]] = {"split": tuple(float(number) for number in range(1, len(rows) + 1))}
    for measure in bands.JUDGED_BY:
        columns[measure] = tuple(_performance(measure, outcome[part], risk[part], primary_threshold) for part in rows)
    return Curve(columns, len(outcome), method, int(outcome.sum()))


def first_splits(found: Curve | Absent) -> Curve | Absent:
    """The performance of the splits as it is shown: of more than 250 splits the first 250."""
    if isinstance(found, Absent) or len(found.columns["split"]) <= LONGEST_CURVE:
        return found
    columns = {name: values[:LONGEST_CURVE] for name, values in found.columns.items()}
    return replace(found, columns=columns, method=found.method + Fact("first_of_them", shown=LONGEST_CURVE))


def parts_of(rows: Sequence[Floats | Integers], split: Integers | None, seed: int) -> tuple[list[Integers], Method]:
    """The rows of each refitted split, or without any seeded subsets, and the step that says which.

    Subsets are drawn from rows in an order of their own, by their columns, so that the file's order cannot matter.
    """
    if split is not None:
        parts = [np.flatnonzero(split == part) for part in np.unique(split)]
        return parts, Method(Fact("refitted_splits", splits=len(parts)))
    order, rng = np.lexsort(tuple(rows)), np.random.default_rng(seed)
    size = max(1, round(SHARE_HELD_OUT * len(order)))
    drawn = [order[rng.choice(len(order), size, replace=False)] for _ in range(SUBSETS)]
    return drawn, Method(Fact("random_subsets", subsets=SUBSETS, share=SHARE_HELD_OUT))


def _performance(measure: str, outcome: Floats, risk: Floats, threshold: float | None) -> float | None:
    """One measure on one split; None where it is absent."""
    estimate: Estimate | Absent
    if measure == "auroc":
        estimate = discrimination.auroc(outcome, risk)
    elif measure == "brier":
        estimate = calibration.brier(outcome, risk)
    elif threshold is None:
        return None
    else:
        estimate = utility.standardized_net_benefit(outcome, risk, threshold)
    return estimate.value if isinstance(estimate, Estimate) else None


# ---- strong and weak potential robustness ---------------------------------------------------------------------------


def combined(product: float) -> float:
    """The probability that the product of two chances is at least as small by luck alone: k (1 - ln k), and 0 at 0."""
    return product * (1 - math.log(product)) if product > 0 else 0.0


@register.synthesis(each="external", at=("measure",))
def spr(
    site: SiteResults,
    internal: SiteResults | None,
    measure: str,
    primary_threshold: float | None = None,
    judged_by: JudgedBy | None = None,
    similarity: str = "averaged",
) -> Estimate | Absent:
    """How well the model keeps its internal performance here, the more so the more this hospital differs.

    k (1 - ln k), k = P_perf (1 - P_sim) (Fisher's combination). P_perf: two-sided z test on the plain scale between the
    `measure` at this `site` (auroc, brier, or standardized_net_benefit at the primary threshold; of `judged_by`, which
    names other measures with their settings, any) and in the `internal` test; P_sim: `correspondence_averaged`, or
    `degree_of_correspondence` where `similarity` is "psi".
    Details: `p_performance`, `p_similarity`, `internal_value`. Absent, with the reason of what lacks, without P_sim,
    without an internal test or without a standard error on either side. No interval: it is made of p-values. [Trust]
    compares with training performance; ours is the internal test.
    """
    alike = register.present(found(site, bands.SIMILARITIES[similarity]))
    if internal is None:
        return Absent(Fact("no_internal_test"))
    judged_by = judged_by or by_default(primary_threshold)
    here, there = register.present(_measured(site, measure, judged_by)), _measured(internal, measure, judged_by)
    if isinstance(there, Absent):
        return Absent(Fact("internal_test_gives_no", measure=measure, reason=there.reason))
    p = register.present(_two_sided_p(here, there))
    details = {"p_performance": p, "p_similarity": alike.value, "internal_value": there.value}
    return _score(p, alike, here, Method("fisher_with_two_sided_test"), details)


def _score(p: float, alike: Estimate, here: Estimate, method: Method, details: Mapping[str, float]) -> Estimate:
    """The score of a performance with this p value at a site so unlike the development."""
    reason = Fact("score_of_p_values_has_no_interval")
    return intervals.without_interval(combined(p * (1 - alike.value)), here.n, method, reason, here.events, details)


JudgedBy: TypeAlias = Mapping[str, Mapping[str, float | str]]
"""The measures that sites are judged by, each with its settings."""


def by_default(primary_threshold: float | None) -> JudgedBy:
    """The three measures of the diagram where nothing else is chosen."""
    at = {} if primary_threshold is None else {"threshold": primary_threshold}
    return {measure: at if measure in AT_A_THRESHOLD else {} for measure in bands.JUDGED_BY}


AT_A_THRESHOLD = ("standardized_net_benefit", "weighted_utility")


def _measured(site: SiteResults, measure: str, judged_by: JudgedBy) -> Estimate | Absent:
    """The measure at a site, at its settings."""
    at = judged_by.get(measure, {})
    if measure in AT_A_THRESHOLD and not at:
        return Absent(Fact("no_threshold_declared"))
    return found(site, measure, **at)


def _two_sided_p(here: Estimate, there: Estimate) -> float | Absent:
    """The two-sided p-value of the difference between two independent estimates."""
    if here.se is None:
        return Absent(Fact("no_standard_error_here"))
    if there.se is None:
        return Absent(Fact("no_internal_standard_error"))
    se = math.hypot(here.se, there.se)
    if se == 0:
        return Absent(Fact("no_spread_on_either_side"))
    return 2 * intervals.beyond(abs(here.value - there.value) / se)


@register.synthesis(each="external", at=("measure", "minimum"))
def wpr(
    site: SiteResults,
    internal: SiteResults | None,
    measure: str,
    minimum: str,
    declared_minimum: Mapping[str, float],
    primary_threshold: float | None = None,
    judged_by: JudgedBy | None = None,
    similarity: str = "averaged",
) -> Estimate | Absent:
    """How well the model stays above the lowest performance that is acceptable, the more so the more this hospital
    differs.

    t (1 - ln t), t = P_acc (1 - P_sim). P_acc = Phi((A - A_min) / SE), A the `measure` at this `site` (for the Brier
    score Phi((A_max - A) / SE)); P_sim: `correspondence_averaged`, or `degree_of_correspondence` where `similarity` is
    "psi". `minimum` says what A_min is: the `worst_split` or the `quantile_05` of the `split_performance` of the
    `internal` test (for the Brier score the highest, the 95 % quantile), or `declared`, from `declared_minimum` by
    measure. Without refitted splits there is no worst one: the worst of 100 random subsets depends on the draw, and the
    quantile is theirs, the model not refitted, which the method says. Details: `p_acceptable`, `p_similarity`,
    `minimum_value`. Absent, with the reason of what lacks, without P_sim, without that minimum or without a standard
    error, and where the minimum gives no benefit, for to reach it shows no use: a standardized net benefit below 0, an
    AUROC of at most .5, a Brier score no better than that of the prevalence of the site. No interval: it is made of
    p-values.
    """
    alike = register.present(found(site, bands.SIMILARITIES[similarity]))
    found_minimum = register.present(_minimum(internal, measure, minimum, declared_minimum, primary_threshold))
    bound, against = found_minimum
    if not bands.gives_benefit(measure, bound, _brier_of_prevalence(site)):
        return Absent(Fact("minimum_below_no_benefit", measure=measure, minimum=bound))
    here = register.present(_measured(site, measure, judged_by or by_default(primary_threshold)))
    if here.se is None or here.se == 0:
        return Absent(Fact("no_standard_error_here"))
    ahead = bound - here.value if measure in bands.LOSSES else here.value - bound
    p = intervals.beyond(-ahead / here.se)
    details = {"p_acceptable": p, "p_similarity": alike.value, "minimum_value": bound}
    return _score(p, alike, here, Method(Fact("fisher_with_one_sided_test", against=against)), details)


def _brier_of_prevalence(site: SiteResults) -> float:
    """The Brier score of giving everyone the prevalence of the site, phi (1 - phi), as its scaled form implies.

    Where that is not known it is the largest that any prevalence gives.
    """
    plain, scaled = found(site, "brier"), found(site, "scaled_brier")
    if isinstance(plain, Absent) or isinstance(scaled, Absent) or scaled.value >= 1:
        return bands.LARGEST_BRIER_OF_PREVALENCE
    return plain.value / (1 - scaled.value)


@register.absent_with_its_parts
def _minimum(
    internal: SiteResults | None,
    measure: str,
    minimum: str,
    declared_minimum: Mapping[str, float],
    primary_threshold: float | None,
) -> tuple[float, Fact] | Absent:
    """The lowest acceptable performance, for a loss the highest, and where it is from."""
    if minimum == "declared":
        if measure in declared_minimum:
            return declared_minimum[measure], Fact("declared_minimum")
        return Absent(Fact("no_minimum_declared", measure=measure))
    if internal is None:
        return Absent(Fact("no_internal_test"))
    if not any(result.curve == "split_performance" for result in internal.curves):
        return Absent(Fact("no_splits" if measure in declared_minimum else "no_splits_and_no_minimum"))
    if measure == "standardized_net_benefit" and primary_threshold is None:
        return Absent(Fact("no_threshold_declared"))
    splits = register.present(found_curve(internal, "split_performance"))
    values = [value for value in splits.columns.get(measure, ()) if value is not None]
    if not values:
        return Absent(Fact("no_internal_split_allows", measure=measure))
    loss = measure in bands.LOSSES
    if minimum == "worst_split":
        if splits.method.has("random_subsets"):
            return Absent(Fact("worst_subset_is_a_draw"))
        return max(values) if loss else min(values), Fact("worst_internal_value", of=splits.method.steps)
    share = 0.95 if loss else 0.05
    return float(np.quantile(values, share)), Fact("internal_quantile", share=share, of=splits.method.steps)


# ---- all external sites ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Judged:
    """One external site for which similarity and all three measures are known."""

    n: int
    similarity: Mapping[str, Estimate]
    """By its form, psi or averaged; without those that are absent."""
    shown: bool
    """Whether each of the three is shown to be acceptable, by at least 100 rows."""

    def supports(self, form: str) -> bool:
        """Whether the site counts as external support by that form of similarity."""
        return self.shown and form in self.similarity and self.similarity[form].value < bands.SUPPORT


@register.synthesis(each="pooled")
def externally_supported(
    sites: Sequence[SiteResults],
    primary_threshold: float | None = None,
    class_labels: Sequence[str] = (),
    similarity: str = "averaged",
    judged_by: JudgedBy | None = None,
) -> Estimate | Absent:
    """The number of hospitals that differ from the development data and where all three measures are shown to be
    acceptable.

    `sites` are the external sites. `similarity` is "averaged" for `correspondence_averaged` or "psi" for
    `degree_of_correspondence`, and different means below .4; shown means, of at least 100 rows, the whole interval of
    the AUROC at least .7, of the standardized net benefit at the primary threshold (or weighted utility, where
    `judged_by` chooses it) at least .4, of the Brier score at most .25 (or ECI at least .8). Details: `k`, the sites
    that could be judged, `by_psi` and `by_averaged`, the numbers by each form of similarity, and `reaching_the_cut`,
    how many of those counted have a similarity whose interval does not end below .4 (0 by psi, which has none); n is
    the rows of the sites that could be judged. One such site is what
    [Trust] asks for. Absent when no site has that similarity and all three measures, and for an outcome of several
    classes (`class_labels`). No interval: a count.
    """
    if class_labels:
        return Absent(Fact("cut_offs_for_binary_outcome"))
    judged_by = judged_by or by_default(primary_threshold)
    judged = [verdict for verdict in _judged(sites, judged_by) if similarity in verdict.similarity]
    if not judged:
        if not sites:
            return Absent(Fact("no_external_site"))
        if any(measure in AT_A_THRESHOLD and not at for measure, at in judged_by.items()):
            return Absent(Fact("no_threshold_for_net_benefit"))
        return Absent(Fact("no_site_with_similarity_and_measures"))
    return intervals.without_interval(
        float(sum(verdict.supports(similarity) for verdict in judged)),
        sum(verdict.n for verdict in judged),
        Method(Fact("sites_judged", sites=len(judged), of=len(sites))),
        Fact("count_of_sites_has_no_interval"),
        details={
            "k": len(judged),
            "reaching_the_cut": sum(
                verdict.supports(similarity) and (verdict.similarity[similarity].high or 0) >= bands.SUPPORT
                for verdict in judged
            ),
            **{f"by_{form}": sum(verdict.supports(form) for verdict in judged) for form in bands.SIMILARITIES},
        },
    )


def _judged(sites: Sequence[SiteResults], judged_by: JudgedBy) -> Iterator[Judged]:
    for site in sites:
        similarity = {form: found(site, measure) for form, measure in bands.SIMILARITIES.items()}
        performance = {measure: _measured(site, measure, judged_by) for measure in judged_by}
        values = {name: estimate for name, estimate in performance.items() if isinstance(estimate, Estimate)}
        if len(values) == len(judged_by):
            yield Judged(
                n=site.summary.n,
                similarity={form: estimate for form, estimate in similarity.items() if isinstance(estimate, Estimate)},
                shown=site.summary.n >= bands.FEWEST_TO_SUPPORT
                and all(bands.is_shown(name, each.low, each.high) for name, each in values.items()),
            )


ON_A_LINE = 1e-12
"""How near to 1 a correlation is that misses it by rounding only."""


TOO_FEW_FOR_CORRELATION = (
    Fact("no_site_for_correlation"),
    Fact("one_site_for_correlation"),
    Fact("two_sites_for_correlation"),
)
"""Why there is no correlation over so many sites."""


@register.synthesis(each="pooled", at=("measure", "similarity"))
def performance_against_similarity(
    sites: Sequence[SiteResults],
    measure: str,
    primary_threshold: float | None = None,
    similarity: str = "averaged",
    level: float = 0.95,
    judged_by: JudgedBy | None = None,
) -> Estimate | Absent:
    """Whether the model does better where the patients resemble those it was developed on: the correlation over the
    hospitals.

    Pearson's r between the `similarity` ("averaged" for `correspondence_averaged`, or "psi" for
    `degree_of_correspondence`) and the `measure` over the external `sites` that have both. Details: `p_value` (t test
    on k - 2), `k`, and `slope` and `intercept` of the straight line through the sites (least squares, each site
    counting the same); n is the rows of those k sites.
    The interval is Fisher's z, from four sites on. Absent below three sites, or when either does not vary. It rests on
    as many points as there are hospitals: with 8 sites an r of .39 has p = .34.
    """
    judged_by = judged_by or by_default(primary_threshold)
    both = [
        (site.summary.n, left.value, right.value)
        for site in sites
        if isinstance(left := found(site, bands.SIMILARITIES[similarity]), Estimate)
        and isinstance(right := _measured(site, measure, judged_by), Estimate)
    ]
    pairs = [(left, right) for _, left, right in both]
    if len(pairs) < 3:
        return Absent(TOO_FEW_FOR_CORRELATION[len(pairs)])
    r = pearson([left for left, _ in pairs], [right for _, right in pairs])
    if r is None:
        return Absent(Fact("same_at_every_site"))
    k = len(pairs)
    low, high, reason = None, None, None
    if k > 3 and abs(r) < 1 - ON_A_LINE:
        reach = intervals.two_sided(level) / math.sqrt(k - 3)
        low, high = math.tanh(math.atanh(r) - reach), math.tanh(math.atanh(r) + reach)
    else:
        reason = Fact("interval_needs_four_sites") if k == 3 else Fact("sites_on_one_line")
    return Estimate(
        value=r,
        low=low,
        high=high,
        level=None if low is None else level,
        n=sum(n for n, _, _ in both),
        method=Method(Fact("pearson", sites=k)),
        details={"p_value": correlation_p_value(r, k), "k": k, **_least_squares(pairs)},
        reason=reason,
    )


def _least_squares(pairs: Sequence[tuple[float, float]]) -> dict[str, float | None]:
    """The slope and the intercept of the line through the pairs that misses them least; the lefts differ."""
    x, y = np.array(pairs).T
    away = x - x.mean()
    slope = float((away * (y - y.mean())).sum() / (away**2).sum())
    return {"slope": slope, "intercept": float(y.mean()) - slope * float(x.mean())}


def pearson(left: Sequence[float], right: Sequence[float]) -> float | None:
    """Pearson's correlation; None when either side does not vary, and of two pairs, which always lie on a line."""
    if len(left) < 3 or min(left) == max(left) or min(right) == max(right):
        return None
    x, y = np.array(left) - np.mean(left), np.array(right) - np.mean(right)
    size = math.sqrt(float((x**2).sum())) * math.sqrt(float((y**2).sum()))
    return max(-1.0, min(1.0, float((x * y).sum()) / size)) if size > 0 else None


def correlation_p_value(r: float, k: int) -> float:
    """The two-sided p-value of a correlation over k sites, t test on k - 2."""
    if abs(r) >= 1:
        return 0.0
    return 2 * intervals.beyond_student(abs(r) * math.sqrt((k - 2) / (1 - r**2)), k - 2)
