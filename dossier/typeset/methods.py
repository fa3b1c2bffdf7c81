"""The words of every step of a method: the only place where how a number was made becomes text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from dossier.core.facts import Count, Fact, Value
from dossier.core.types import unit_of
from dossier.typeset.reasons import reason_text
from dossier.typeset.words import period

NOT_REFUTED = "it does not refute perfect calibration"
"""Why an interval of a calibration error has one side."""


@dataclass(frozen=True)
class Words:
    """What a step is called.

    Parameters
    ----------
    said : str or function
        A template that the values of the fact fill, or a function of the fact.
    in_kind : str or function, optional
        The same without what holds for one site alone: "" where nothing is left; None where all of it stays.
    joined : str
        What stands between the step before and this one.
    leads : str, optional
        What stands between this step and the next, whatever that would ask for.
    """

    said: str | Callable[[Fact], str]
    in_kind: str | Callable[[Fact], str] | None = None
    joined: str = "; "
    leads: str | None = None


def method_text(method: Iterable[Fact]) -> str:
    """How something was made, as one sentence without a full stop: "DeLong, logit"."""
    return "".join(_joined(_pieces(method, in_kind=False)))


def method_parts(method: Iterable[Fact], in_kind: bool = False) -> tuple[str, ...]:
    """The parts of the sentence that semicolons join; `in_kind` without what holds for one site alone."""
    parts: list[str] = []
    for lead, text in _links(_pieces(method, in_kind)):
        if lead in ("", "; "):
            parts.append(text)
        else:
            parts[-1] += lead + text
    return tuple(parts)


Piece = tuple[str, str, str | None]
"""What joins a text to the one before, the text, and what joins the next to it."""


def _pieces(method: Iterable[Fact], in_kind: bool) -> Iterator[Piece]:
    for step in method:
        if step.code == "each_its_own":
            yield from _side_by_side(_facts_of(step["one"]), _facts_of(step["other"]), in_kind)
            continue
        words = WORDS[step.code]
        text = _said(step, in_kind)
        if text:
            yield words.joined, text, words.leads


def _side_by_side(facts: Iterable[Fact], other: Iterable[Fact], in_kind: bool) -> Iterator[Piece]:
    """Two methods, said once where they read the same."""
    first, second = list(_pieces(facts, in_kind)), list(_pieces(other, in_kind))
    yield from first
    if first != second:
        (_, text, leads), *rest = second
        yield from ((" and ", text, leads), *rest)


def _links(pieces: Iterable[Piece]) -> Iterator[tuple[str, str]]:
    """Each text behind what joins it to the one before; nothing stands before the first."""
    lead: str | None = ""
    for joined, text, leads in pieces:
        yield joined if lead is None else lead, text
        lead = leads


def _joined(pieces: Iterable[Piece]) -> Iterator[str]:
    return (lead + text for lead, text in _links(pieces))


def _said(step: Fact, in_kind: bool) -> str:
    words = WORDS[step.code]
    said = words.said if not in_kind or words.in_kind is None else words.in_kind
    if not isinstance(said, str):
        return said(step)
    return said.format(**{name: _value(value, in_kind) for name, value in step.values})


def _value(value: Value, in_kind: bool) -> object:
    """A value as a template takes it: counts as numbers, facts in words."""
    if isinstance(value, Count):
        return value.number
    if isinstance(value, Fact):
        return _said(value, in_kind)
    if isinstance(value, tuple) and any(isinstance(each, Fact) for each in value):
        return "".join(_joined(_pieces(_facts_of(value), in_kind)))
    return value


def _facts_of(value: Value) -> tuple[Fact, ...]:
    return tuple(each for each in value if isinstance(each, Fact)) if isinstance(value, tuple) else ()


def _number(step: Fact, name: str) -> float:
    value = step[name]
    if isinstance(value, Count):
        return value.number
    if not isinstance(value, (int, float)):
        raise TypeError(f"{name} of {step.code} is a number")
    return value


def _some(step: Fact, name: str, single: str, several: str) -> str:
    """A number with its noun: 1 row, 1,200 rows."""
    number = int(_number(step, name))
    return f"{number:,} {single if number == 1 else several}"


# ---- steps whose words depend on their values -----------------------------------------------------------------------


def _at_value(step: Fact) -> str:
    return f"at {_number(step, 'at'):.4g}"


def _jackknife(step: Fact) -> str:
    each = "leaving out" if step["groups"] is None else f"leaving out {_number(step, 'groups'):.0f} groups of"
    return f"jackknife {each} {_number(step, 'clusters'):,} clusters, {_student(step)}"


def _student(step: Fact) -> str:
    """Student's distribution; of unequal clusters its degrees of freedom are no whole number."""
    freedom = _number(step, "df")
    return f"t with {freedom:,.{0 if freedom == int(freedom) else 1}f} degrees of freedom"


def _weights_or_clusters(step: Fact) -> str:
    return f"sampling weights or clusters, {_student(step)}"


def _linearization(step: Fact) -> str:
    over = step["over"]
    if not isinstance(over, Count):
        return "linearization"
    return f"linearization over {over.number:,} {over.of}s, {_student(step)}"


def _rubin(step: Fact) -> str:
    test = " and their test" if step["test"] else ""
    scale = "" if step["scale"] is None else f", {step['scale']} scale"
    return f"{_number(step, 'imputations'):.0f} imputations{test} by Rubin's rules{scale}"


def _spline(step: Fact) -> str:
    at = step["at"]
    quantiles = [100 * quantile for quantile in at if isinstance(quantile, float)] if isinstance(at, tuple) else []
    places = ", ".join(f"{quantile:g}" for quantile in quantiles)
    return f"{SPLINE}, {_number(step, 'knots'):.0f} knots at {places}%"


SPLINE = "logistic, restricted cubic spline of logit p"


def _replicates(step: Fact) -> str:
    lost = f", {step['lost']} without a value left out" if step["lost"] else ""
    return f"{step['kept']} replicates{lost}"


def _two_way(step: Fact) -> str:
    who = "readers of each arm and cases" if step["each_arm"] else "readers and cases"
    return f"clustered: bootstrap over {who}, with the variance of two-way clusters"


def _two_way_in_full(step: Fact) -> str:
    return f"{_two_way(step)}, {step['replicates']} replicates"


def _cases_left_out(step: Fact) -> str:
    why = "a missing label" if step["incomplete"] else "fewer than two labels"
    number = int(_number(step, "cases"))
    return f"{number} {'case' if number == 1 else 'cases'} with {why} left out"


def _rows_drawn(step: Fact) -> str:
    error = step["error"]
    known = f", the error of which is {_said(error, in_kind=False)}" if isinstance(error, Fact) else ""
    return f"at most {_number(step, 'most'):,} rows a side drawn by seed{known}"


def _constant(step: Fact) -> str:
    return f"without {_list_of(step, 'predictors')} (constant)"


def _incomplete(step: Fact) -> str:
    number = int(_number(step, "rows"))
    return f"{number} {'row' if number == 1 else 'rows'} with less than half of the predictors left out"


def _list_of(step: Fact, name: str) -> str:
    names = step[name]
    return ", ".join(str(each) for each in names) if isinstance(names, tuple) else ""


def _permutation_test(step: Fact) -> str:
    bins = "" if step["bins"] is None else f" on {_number(step, 'bins'):,} bins of risk"
    return f"permutation, one-sided, {step['draws']} draws{bins}{', stopped early' if step['stopped_early'] else ''}"


def _reml(step: Fact) -> str:
    scale = "" if step["scale"] is None else f" on the {step['scale']} scale"
    freedom = int(_number(step, "df"))
    return f"REML{scale}, Hartung-Knapp, t with {freedom} degree{'' if freedom == 1 else 's'} of freedom"


def _entered(step: Fact) -> str:
    moved = _facts_of(step["sites"])
    return _by_site(moved, [f"{_number(fact, 'value'):g} as {_number(fact, 'entered_as'):.4g}" for fact in moved])


def _not_pooled(step: Fact) -> str:
    left_out = _facts_of(step["sites"])
    return _by_site(left_out, [reason_text(why) for fact in left_out if isinstance(why := fact["why"], Fact)])


def _by_site(sites: tuple[Fact, ...], said: list[str]) -> str:
    """What is said of each site, by its name; by the number of the sites that share it where they have no names."""
    if all(site["name"] is not None for site in sites):
        return ", ".join(f"{site['name']} ({why})" for site, why in zip(sites, said, strict=True))
    counts = {why: said.count(why) for why in said}
    return ", ".join(f"{count} {'site' if count == 1 else 'sites'} ({why})" for why, count in counts.items())


def _reason(step: Fact) -> str:
    why = step["why"]
    if not isinstance(why, Fact):
        raise TypeError(f"{step.code} needs a reason")
    return reason_text(why)


def _without_value(step: Fact) -> str:
    """The period that has no value, and why."""
    return f"not in {period(int(_number(step, 'period')), unit_of(step['unit']))}: {_reason(step)}"


# ---- every step -----------------------------------------------------------------------------------------------------

WORDS: Mapping[str, Words] = {
    # Which rows and sites.
    "all_rows_of_sites": Words("all rows of {sites} of {of} sites"),
    "apparent": Words("apparent", "", ", "),
    "none_in_complete_cases": Words(lambda step: f"none in the complete cases: {_reason(step)}", ""),
    "complete_cases_unknown": Words("without the rows before imputing, what it changed is not known", ""),
    "constant_predictors": Words(_constant, joined=", "),
    "incomplete_rows": Words(_incomplete, "", ", "),
    "by_period": Words("by {unit}, each on its own rows; at least {fewest} events and non-events"),
    "period_without_value": Words(_without_value, ""),
    "rows_without_day": Words(lambda step: f"{_some(step, 'rows', 'row', 'rows')} without a day", ""),
    "paired": Words("paired", leads=", "),
    "paired_versions": Words("paired, both versions on the same rows"),
    "rows_drawn": Words(_rows_drawn, joined=", "),
    "same_risks": Words("the same risks"),
    "of_its_interval": Words("that of its interval"),
    "of_mean_over_both_tables": Words("that of the mean over both tables"),
    "of_random_halves": Words("that of T over random halves of the development rows"),
    "of_single_tables": Words("that of resamples of one table at a time"),
    "sampling_weights": Words("sampling weights"),
    "sites_too_small": Words(lambda step: f"without {_list_of(step, 'sites')}, of fewer than five rows"),
    "certain_rows_left_out": Words(
        lambda step: f"{_some(step, 'rows', 'row', 'rows')} with a risk of 0 or 1 left out", joined=", "
    ),
    "without_certain_risks": Words("without risks of 0 or 1"),
    # What a value or a curve is.
    "all_tied": Words("every risk tied"),
    "as_declared": Words("as declared"),
    "average_precision": Words("average precision"),
    "bins_of_confidence": Words("10 equal-width bins of confidence on 0 to 1"),
    "bins_of_equal_width": Words("{bins} bins of equal width"),
    "brought_to_1000": Words("brought to 1,000 by largest remainder", joined=", "),
    "cases_left_out": Words(_cases_left_out, joined=", "),
    "closed_form_of_independent_errors": Words("closed form, errors of model and labels independent"),
    "closed_form_without_assumption": Words("closed form, free of assumption"),
    "counted": Words("counted"),
    "counted_by_reader": Words("counted, by reader"),
    "counts": Words("counts"),
    "counts_and_weighted_shares": Words("counts of rows, shares of their sampling weights"),
    "counts_from_threshold_on": Words("counts, positive from the threshold on"),
    "counts_of_class_1": Words("counts, class 1 from {threshold:g} on"),
    "counts_of_sites": Words("counts of {sites} of {of} external sites"),
    "declared_by": Words("declared, not computed here: {source}", "declared"),
    "declared_bounds": Words(lambda step: f"declared, its bounds read as a {_number(step, 'level') * 100:g}% interval"),
    "each_rater": Words("each rater against the outcome, {by}"),
    "empirical": Words("empirical"),
    "equal_width_bins": Words("{bins} equal-width bins"),
    "first_of_them": Words("the first {shown}", joined=", "),
    "formula_recomputed": Words("formula recomputed row by row"),
    "halves_classified": Words("logistic regression, {halvings} random halvings, each half by a fit to the other"),
    "harder_of_equal_classes": Words("neither is larger, the harder one to beat"),
    "inverse_of_risk_reduction": Words("inverse of the absolute risk reduction", leads=": "),
    "kappa": Words("kappa"),
    "kappa_of_complete_cases": Words("kappa of complete cases"),
    "kappa_of_shared_cases": Words("Cohen's kappa over the cases both raters labelled"),
    "kappa_with_other_raters": Words("Cohen's kappa, mean over the other raters"),
    "mean_over_cases": Words("mean over cases"),
    "mean_over_pairs_of_raters": Words(lambda step: f"mean over {_some(step, 'pairs', 'pair', 'pairs')} of raters"),
    "minus_other_patients": Words("minus the other patients"),
    "minus_previous_release": Words("minus the previous release"),
    "nominal": Words("nominal"),
    "points": Words("100 points for the widest effect, {per_unit:.6g} points a unit of the linear predictor"),
    "prevalence_and_predictive_values": Words("prevalence and predictive values of the site, {by}"),
    "random_subsets": Words("{subsets} random subsets of {share:.0%} of the rows, the model not refitted"),
    "raters_against_outcome": Words("raters' accuracy against the outcome", joined=", "),
    "raters_as_declared": Words("raters' accuracy as declared", joined=", "),
    "raters_left_out": Words("{raters} left out"),
    "raters_taken_as_right": Words("raters' accuracy unknown and taken as 1", joined=", "),
    "reference_of_draws": Words("reference of {draws} random draws"),
    "refitted_splits": Words("{splits} refitted splits"),
    "risks_clipped": Words("logit of {risks} risks clipped to 1e-12 from 0 or 1", ""),
    "share_farther": Words("share of development rows farther from the others, ties counted half"),
    "shares_at_even_risks": Words("shares at even steps of the risk, {by}"),
    "observed_at_each_risk": Words("observed share at each risk"),
    "single_level": Words("logistic, one level"),
    "sites_judged": Words("count of {sites} judged of {of} external sites"),
    "spline": Words(_spline, SPLINE),
    "straight_line": Words("logistic, straight line in logit p"),
    "stratified_by_class": Words("stratified by class"),
    "tenths_of_risk": Words("groups by tenths of risk, {by}"),
    "ties": Words("ties for the largest risk in {rows} rows, the first class taken"),
    "value_only": Words("value only"),
    "values_of_scale": Words("counted at the values of the scale"),
    # Where small counts are protected.
    "at_risks_of_grid": Words("at the risks of a grid"),
    "from_ranges": Words("from ranges of {wide} persons", joined=", "),
    "in_steps_of_persons": Words("in steps of {step:g}, of no more than one person", joined=", "),
    "neighbouring_bins": Words("neighbouring bins of the risk, its mean from their middles"),
    "of_given_values": Words("of the two values that are given"),
    "on_log_scale": Words("log scale"),
    "over_ranges": Words("over all tables that ranges of {wide} allow", joined=", "),
    "shares_at_risks_of_grid": Words("shares at the risks of a grid", leads=", "),
    # How an interval is made.
    "agresti_min": Words("Agresti and Min"),
    "as_each_measure": Words("as for each measure"),
    "at_each_threshold": Words("pointwise", leads=" "),
    "at_effective_rows": Words("at their effective numbers of rows", joined=" "),
    "at_value_inside": Words(_at_value, joined=" "),
    "bootstrap": Words("bootstrap"),
    "bootstrap_over_both_tables": Words("bootstrap over the rows of both tables"),
    "jackknife_over_cases": Words("jackknife over cases", joined=", "),
    "parts_without_value": Words("cases without which there is no value: {parts}", joined=", "),
    "log_of_the_rest": Words("Student's t on the log of 1 − value", joined=", "),
    "exact_where_all_agree": Words("exact binomial lower bound, for all agree", joined=", "),
    "fisher_z": Words("Student's t on Fisher's z", joined=", "),
    "bootstrap_over_rows": Words("bootstrap over rows"),
    "bootstrap_within_classes": Words("bootstrap within cases and within non-cases"),
    "decisions_as_independent": Words("decisions taken as independent", joined=", "),
    "delong": Words("DeLong"),
    "delong_over_classes": Words("DeLong over all classes"),
    "delta": Words("delta, normal"),
    "delta_log": Words("delta method, log scale"),
    "delta_method": Words("normal, delta method"),
    "equal_readers_and_cases": Words("neither the readers nor the cases vary"),
    "equal_replicates": Words("the bootstrap replicates do not vary"),
    "exact_variance": Words("normal, exact variance under right risks"),
    "exact_with_events_alone": Words(
        "exact lower bound of no non-event combined with the delta method, log scale (MOVER)"
    ),
    "exact_without_event": Words("exact upper bound of no event"),
    "haldane": Words("0.5 added to every count as one is 0 (Haldane)", joined=", "),
    "independent_rows": Words("independent rows", joined=", "),
    "inverted_tests": Words("bounds by inverting tests (hybrid resampling), {draws} draws"),
    "jackknife": Words(_jackknife, "jackknife over clusters"),
    "katz": Words("Katz, log scale"),
    "likelihood_ratio": Words("chi-squared of the likelihood ratio"),
    "linearization": Words(_linearization),
    "log_method": Words("log"),
    "mean_of_bounds": Words(
        "mean over the classes of value and bounds, as wide as any dependence between them asks for"
    ),
    "mean_of_imputations": Words("mean of {imputations} imputations"),
    "mean_over_classes": Words("mean over the classes, normal"),
    "mean_over_pairs": Words("mean over pairs", joined=", "),
    "mean_over_rows": Words("mean over rows", joined=", "),
    "mean_over_splits": Words("mean over {splits} refitted splits"),
    "mover": Words("MOVER of Wilson intervals"),
    "mover_of_bands": Words("pointwise MOVER of the sites' bands, sites taken as fixed"),
    "nadeau_bengio": Words("Nadeau-Bengio, Student t", joined=", "),
    "newcombe": Words("Newcombe"),
    "newcombe_inside": Words("Newcombe at (n AUROC + .5)/(n + 1)"),
    "normal": Words("normal", joined=", "),
    "not_paired": Words("not paired", joined=", "),
    "of_rho_and_accuracy": Words("intervals of rho and of the measured accuracy combined (MOVER)"),
    "on_scale": Words("{scale}", joined=", "),
    "one_sided_at_0": Words("one-sided because the tables may come from one population", "", ", "),
    "one_sided": Words(f"one-sided because {NOT_REFUTED}", "", ", "),
    "only_counts": Words("no interval by readers and cases: only counts are given"),
    "paired_delong": Words("paired DeLong, normal"),
    "paired_delong_over_classes": Words("paired DeLong over all classes, normal"),
    "one_of_each_kind_added": Words("variance of the differences, one row of each kind added"),
    "paired_t": Words("paired t"),
    "pearson_over_answers": Words("Pearson, over answers"),
    "pearson": Words("Pearson, Fisher's z, {sites} sites"),
    "percentile": Words("percentile", joined=", "),
    "placements_of_both_tables": Words("DeLong's placements over both tables, by the spread of random divisions"),
    "pointwise": Words("pointwise, {by}"),
    "ratio_of_means": Words("normal, delta method of a ratio of means"),
    "replicates": Words(_replicates, "", ", "),
    "rubin": Words(_rubin),
    "rubin_of_bounds": Words(
        "{imputations:.0f} imputations: mean bounds, as much wider as Rubin's rules make a standard error"
    ),
    "shared_replicates": Words("{replicates} bootstrap replicates of rows shared by the classes"),
    "single_arm": Words("there is one arm only"),
    "square_and_add": Words("square-and-add", joined=", "),
    "stratified_delta": Words("stratified delta, normal"),
    "student_t": Words("Student t"),
    "t_over_readers": Words("t, over readers"),
    "thirds_of_both_scales": Words("thirds of both scales; cells of fewer than five answers left out"),
    "too_few_readers_or_cases": Words(
        "too few readers or cases for clusters: at least two readers an arm and two cases"
    ),
    "too_few_replicates": Words("too few bootstrap replicates hold decisions of both kinds"),
    "two_way_bootstrap": Words(_two_way_in_full, _two_way),
    "upper_above_mean_confidence": Words(f"the upper bound above the mean confidence because {NOT_REFUTED}", "", ", "),
    "wald": Words("Wald"),
    "wald_of_model": Words("Wald, model's standard error"),
    "wald_sandwich": Words("Wald, sandwich standard error (HC3)"),
    "wald_band": Words("pointwise Wald on the logit scale"),
    "welch": Words("Welch"),
    "wide_at_maximum": Words("wide because the place of the maximum is uncertain too", joined=", "),
    "wilson": Words("Wilson"),
    "wilson_at_effective_rows": Words("Wilson at the effective number of rows"),
    "wilson_carried_through": Words("Wilson of the measured accuracy, carried through"),
    "wilson_in_each_class": Words("Wilson in each class, combined (MOVER)"),
    "wilson_of_answers": Words("Wilson, answers taken as independent"),
    "wilson_of_missed_cases": Words("Wilson, of the share of missed cases among the errors"),
    "woolf": Words("Woolf, log scale"),
    # Over sites.
    "entered": Words(lambda step: f"entered: {_entered(step)}"),
    "not_pooled": Words(lambda step: f"not pooled: {_not_pooled(step)}"),
    "pairs_within_sites": Words("pairs within sites", joined=", "),
    "prediction": Words("prediction interval from the confidence distribution of tau"),
    "q_profile": Words("tau and I2 with Q-profile intervals"),
    "random_effects_at_each_risk": Words(
        "{sites} sites, random effects at each risk on the logit scale (REML, Hartung-Knapp)"
    ),
    "reml": Words(_reml),
    "single_intercept": Words("one intercept, Wald", joined=", "),
    "single_slope": Words("one slope, an intercept a site, Wald", joined=", "),
    "sites_left_out": Words("{sites} not pooled"),
    "within_sites": Words(lambda step: f"within {_some(step, 'sites', 'site', 'sites')}, both groups weighted alike"),
    "sites_without_both_parts": Words(lambda step: f"without {_list_of(step, 'sites')}, where one of the two has none"),
    "sites_too_small_to_test": Words(
        lambda step: f"tested without {_list_of(step, 'sites')}, with fewer than five in one of the two"
    ),
    "stratified": Words(lambda step: f"stratified over {_some(step, 'sites', 'site', 'sites')}"),
    "sums": Words("sums", joined=", "),
    "weights_or_clusters": Words(_weights_or_clusters, joined=", "),
    # Tests and sample sizes.
    "declared_minimum": Words("the declared minimum"),
    "exact_paired_test": Words("exact paired test, one-sided, against always naming the larger class"),
    "fisher_with_one_sided_test": Words(
        "Fisher's combination of the correspondence and of a one-sided z test against {against}"
    ),
    "fisher_with_two_sided_test": Words("Fisher's combination of a two-sided z test and of the correspondence"),
    "internal_quantile": Words("the {share:.0%} quantile of the internal values of {of}"),
    "interval_wanted": Words("95% interval {width:g} wide", joined=", "),
    "log_closed_form": Words("log scale, closed form"),
    "logistic_information": Words("information of the logistic model"),
    "mann_whitney_exact": Words("Mann-Whitney, one-sided, exact"),
    "mann_whitney_normal": Words("Mann-Whitney, one-sided, normal, corrected for ties and continuity"),
    "newcombe_variance": Words("Newcombe's variance"),
    "p_by_interval": Words("p by the interval"),
    "p_by_mcnemar": Words("p by the exact McNemar test"),
    "p_by_permutations": Words("p by {permutations} permutations"),
    "p_by_sign_flips": Words("p by {flips} sign flips"),
    "permutation": Words("permutation, {draws} draws"),
    "permutation_test": Words(_permutation_test),
    "riley_variance_needed": Words("Riley's variance"),
    "variance_of_squared_errors": Words("variance of the squared errors"),
    "worst_internal_value": Words("the worst internal value of {of}"),
}
"""The words of each step; `each_its_own`, of two methods side by side, has those of both."""
