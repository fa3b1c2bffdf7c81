"""Each compared measure beside that of the previous release: paired, as independent rows, or unpaired and why."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from dossier.core import bands, facts, types
from dossier.core.multiplicity import with_holm
from dossier.core.register import Metric, absent_with_its_parts, metrics_of, present
from dossier.core.release import PREVIOUS, Release
from dossier.evaluate import classes, offered, rivals
from dossier.metrics import comparison, intervals, pooled, shares, weighted
from dossier.metrics.changes import change, judged
from dossier.metrics.stratified import Stratum, mean_of_sites
from dossier.metrics.stratified import design as design_of_sites

SAME_ROWS = facts.Fact("same_rows_as_before")
Found = types.Estimate | types.Absent


def changes(
    release: Release,
    previous: types.Previous | None,
    datasets: Sequence[types.DatasetSummary],
    results: Sequence[types.Result],
    terms: Mapping[str, types.Term],
    rows: Sequence[types.Dataset] = (),
) -> types.Changes | None:
    """The differences of what is compared, of every tested dataset and of all sites; None without a previous release.

    `rows` are the datasets with their patients: where these hold the risks of the previous version, the difference is
    that of the two on the same rows. Nothing is compared with another outcome, nor a site with another one whose
    dataset had the same name.
    """
    if previous is None:
        return None
    tested = {dataset.name for dataset in datasets if dataset.role != "development"} | {types.POOLED}
    core = [result for result in types.compared(results, terms) if result.dataset in tested]
    # No measure can be compared where the previous release predicts something else.
    then, now = previous.other_outcome(release), types.Predicted.by(release)
    other = types.Absent(facts.Fact("another_outcome_before", before=then.words, now=now.words)) if then else None
    paired = {} if other else dict(_paired(release, core, results, rows, datasets))
    found = []
    for result in core:
        difference = _judged(result, _difference(result, previous, datasets, paired, other), terms, previous)
        found.append(replace(result, at={**result.at, "against": PREVIOUS}, found=difference))
    looks = {
        index: result.found.details["p_value"] or 0.0
        for index, result in enumerate(found)
        if isinstance(result.found, types.Estimate) and "worse_by" in result.found.details
        if _is_looked_at(release, result, result.found, datasets)
    }
    with_holm(found, "p_adjusted", looks, looks=float(len(looks)))
    for name in tested:
        with_holm(found, "p_at_site", {index: p for index, p in looks.items() if found[index].dataset == name})
    return types.Changes(previous, tuple(found))


def _judged(result: types.Result, difference: Found, terms: Mapping[str, types.Term], before: types.Previous) -> Found:
    """The difference with how much worse the measure became, where it has a direction."""
    worse = terms[result.term].worse
    if (
        isinstance(difference, types.Absent)
        or isinstance(result.found, types.Absent)
        or worse is None
        or result.measure in bands.OF_PATIENTS_AND_LABELS
    ):
        return difference
    return judged(difference, result.found, worse, value_before(before, result))


OF_THE_PATIENTS = ("brier", "ici", "net_benefit_gain")
"""What changes with how common the outcome is, the model being the same: judged on the same patients alone."""


def _is_looked_at(
    release: Release, result: types.Result, found: types.Estimate, datasets: Sequence[types.DatasetSummary]
) -> bool:
    """Whether a difference may say that patients have it worse: at the declared thresholds, each is looked at.

    Of several classes each is looked at, and no mean over them; of a group all its patients, who are enough wherever
    they have a value; over all hospitals those that are large enough.
    """
    sites = [each for each in datasets if each.role == "external" and result.dataset in (each.name, types.POOLED)]
    is_declared, label = result.at.get("threshold") in (None, *release.thresholds.declared), result.at.get("class")
    if not sites or not is_declared or label == types.MACRO or result.measure == "net_benefit":
        return False
    enough = [each for each in sites if _too_small(each, result) is None]
    if result.subset is None and len(enough) < min(len(sites), 2):
        return False
    is_of_same = found.method.has("paired_versions") or found.reason == SAME_ROWS
    return is_of_same or result.measure not in OF_THE_PATIENTS


def _too_small(site: types.DatasetSummary, result: types.Result) -> facts.Fact | None:
    """Why a hospital has too few patients with the outcome, or of a class, or too few others, for a test there."""
    label = result.at.get("class")
    if label is None:
        return pooled.too_few(site.events, site.others, rivals.FEWEST_TO_TEST)
    inside = site.class_counts.get(str(label))
    return pooled.too_few(inside, None if inside is None else site.n - inside, rivals.FEWEST_TO_TEST)


# ---- both versions on the same rows ----------------------------------------------------------------------------------

Place = tuple[str, str, types.Subset | None, tuple[tuple[str, float | str], ...]]
"""A measure of a dataset, or of a group of its patients, at its settings."""


def _place(result: types.Result, measure: str | None = None, **more: str) -> Place:
    at = tuple(sorted({**result.at, **more}.items()))
    return measure or result.measure, result.dataset, result.subset, at


def _paired(
    release: Release,
    core: Sequence[types.Result],
    results: Sequence[types.Result],
    rows: Sequence[types.Dataset],
    datasets: Sequence[types.DatasetSummary],
) -> Iterator[tuple[Place, types.Estimate]]:
    """The differences from the previous version on the same rows, by the place of the measure itself.

    The operators are those of other models: the difference that a measure of two models has as such, or else that of
    what the rows contribute to it. Over all sites it is their mean over the patients, where every site has both risks;
    of a group of patients that of all of them.
    """
    known = {_place(result): result.found for result in results}
    metrics, level = metrics_of(release), release.release.level
    external = [each for each in rows if each.role == "external"]
    if PREVIOUS not in (model.name for model in release.beside):
        return
    faced = {each.name: each.facing(PREVIOUS) for each in rows}
    found: dict[Place, types.Estimate] = {}
    for result in sorted(core, key=lambda each: each.dataset == types.POOLED):
        difference: Found | None = None
        if result.subset is not None:
            parts = [_of_group(faced[site.name], result.subset) for site in external]
            kept = [part for part in parts if part is not None]
            difference = _of_groups(metrics[result.term], kept, result.at, level) if kept else None
        elif result.dataset == types.POOLED:
            at_sites = {site.name: found.get(_place(replace(result, dataset=site.name))) for site in external}
            have_both = all(faced[name].rival is not None or faced[name].class_rival is not None for name in at_sites)
            difference = _of_all(result, at_sites, datasets, level) if have_both else None
        elif result.dataset in faced:
            # On the same rows the better default does not change: the gain differs by as much as the net benefit.
            told_by = "net_benefit" if result.measure == "net_benefit_gain" else result.measure
            difference = known.get(_place(result, f"{told_by}_difference", against=PREVIOUS))
            if difference is None and result.term in metrics:
                difference = _of_rows(metrics[result.term], [faced[result.dataset]], result.at, level)
        if isinstance(difference, types.Estimate):
            found[_place(result)] = difference
            yield _place(result), difference


def _of_all(
    result: types.Result,
    at_sites: Mapping[str, types.Estimate | None],
    datasets: Sequence[types.DatasetSummary],
    level: float,
) -> Found | None:
    """The mean of the differences over the patients of all sites; None where there is none.

    As of a pooled value, a site is left out with its reason where it is small or has no error, unless next to none
    would stay. Where both versions are alike the difference is 0 without an error.
    """
    kept, out = list[types.Estimate](), list[facts.Fact]()
    for site in (each for each in datasets if each.name in at_sites):
        one = at_sites[site.name]
        has_error = one is not None and (one.se is not None or one.value == 0)
        lacks = None if has_error else facts.Fact("not_estimated" if one is None else "no_standard_error")
        why = _too_small(site, result) or lacks
        out += [] if why is None else [facts.Fact("site", name=site.name, why=why)]
        kept += [one] if one is not None and why is None else []
    if len(kept) < min(len(at_sites), 2):
        kept, out = [one for one in at_sites.values() if one is not None], []
        if len(kept) < len(at_sites):
            return None
    vary = any(one.se is not None for one in kept)
    mean = mean_of_sites([replace(one, se=one.se or 0.0) if vary and one.value == 0 else one for one in kept], level)
    if isinstance(mean, types.Absent) or not out:
        return mean
    return replace(mean, method=mean.method + facts.Fact("not_pooled", sites=tuple(out)))


def _of_group(dataset: types.Dataset, group: types.Subset) -> types.Dataset | None:
    """The rows of a group of patients; None where the dataset does not tell them, or has next to none."""
    for each in dataset.subgroups:
        if (
            each.subset == group
            and not isinstance(each.rows, types.Absent)
            and each.rows.sum() >= types.FEWEST_PATIENTS
        ):
            return offered.part_of(dataset, each.rows)
    return None


def _of_groups(metric: Metric, sites: Sequence[types.Dataset], at: types.At, level: float) -> Found | None:
    """The difference in a group of patients of all sites; of pairs of a case and another in those of one site."""
    if metric.term.name != "auroc":
        found, pair = _of_rows(metric, sites, at, level), _stacked(sites, float(at.get("threshold", 0.5)))
        if found is None or pair is None or metric.of_rows is None:
            return found
        # Of the same patients: what stands for all sites elsewhere weighs them otherwise.
        now, before = (metric.of_rows(rows) for rows in (pair[0], pair[0].of_rival))
        return replace(found, details={**found.details, "now": now.value, "before": before.value})
    each = [_of_rows(metric, [site], at, level) for site in sites]
    # Where both versions rank alike the difference is 0 without an error.
    known = [replace(one, se=one.se or 0.0) for one in each if one is not None and (one.se or one.value == 0)]
    return mean_of_sites(known, level, by_pairs=True)


def _of_rows(metric: Metric, sites: Sequence[types.Dataset], at: types.At, level: float) -> types.Estimate | None:
    """The difference of a measure between the model and the other one of the rows of some sites; None where there is no
    such thing.

    Of a share of plain rows by McNemar's test, of all else by linearization; a mean over the classes is one of what
    the rows contribute to each.
    """
    measure = metric.of_rows
    if measure is None or any(each.split is not None or each.minimum_cell or each.imputations for each in sites):
        return None
    label, threshold = at.get("class"), float(at.get("threshold", 0.5))
    labels = sites[0].class_labels if label == types.MACRO else (None if label is None else str(label),)
    views = [[each if name is None else classes.of_one_class(each, name) for each in sites] for name in labels]
    made = [stacked for view in views if (stacked := _stacked(view, threshold)) is not None]
    if not made or len(made) < len(labels):
        return None
    rows, design = made[0]
    if isinstance(measure, weighted.Mean) and "threshold" in metric.needs and design.is_simple and len(made) == 1:
        among = measure.among(rows)
        right, before = (measure.added(of_one)[among] == 1 for of_one in (rows, rows.of_rival))
        return comparison.mcnemar(right, before, rows.outcome[among], level) if among.any() else None
    apart = [weighted.difference_to_rival(measure)(of_class) for of_class, _ in made]
    known = [found for found in apart if isinstance(found, weighted.Weighted)]
    if len(known) < len(apart):
        return None
    value, linearized = (np.mean([getattr(found, name) for found in known], axis=0) for name in ("value", "linearized"))
    events = int(rows.outcome.sum()) if len(made) == 1 else None
    if design.is_simple:
        se = math.sqrt(design.variance(linearized)) or None
        plain = intervals.estimate(float(value), se, level, rows.outcome, facts.Method("paired", "linearization"))
        then = measure(rows.of_rival) if len(made) == 1 else None
        error = math.sqrt(design.variance(then.linearized)) if isinstance(then, weighted.Weighted) else None
        return replace(plain, events=events, details={**plain.details, "se_before": error})
    bare = types.Estimate(float(value), None, None, None, len(rows.outcome), facts.Method("paired"), events)
    return shares.by_linearization(bare, linearized, design, level, "plain")


def _stacked(sites: Sequence[types.Dataset], threshold: float) -> tuple[weighted.Rows, shares.Design] | None:
    """The rows of some sites one after the other with both risks, and how they were sampled; None where a site has not
    both.
    """
    columns = [(each.outcome, each.risk, each.rival) for each in sites]
    given = [[values for values in each if values is not None] for each in columns]
    if any(len(each) < 3 for each in given):
        return None
    outcome, risk, other = (np.concatenate(values) for values in zip(*given, strict=True))
    designs = [offered.design_of(each) for each in sites]
    design = designs[0] if len(sites) == 1 else shares.Design(len(outcome))
    if len(sites) > 1 and not all(each.is_simple for each in designs):
        design = design_of_sites([Stratum(each[0], each[1], of) for each, of in zip(given, designs, strict=True)])
    weights = np.ones(len(outcome)) if design.weights is None else design.weights
    return weighted.Rows(outcome, risk, weights, threshold, other, design.weights is None), design


def _other_site(
    result: types.Result, previous: types.Previous, datasets: Sequence[types.DatasetSummary]
) -> types.Absent | None:
    """Why a dataset is not compared with that of the same name, where that one is of another site."""
    now = next((dataset for dataset in datasets if dataset.name == result.dataset), None)
    before = None if now is None else previous.elsewhere(now)
    if now is None or before is None:
        return None
    return types.Absent(facts.Fact("another_site_before", before=before.site, now=now.site))


@absent_with_its_parts
def _difference(
    result: types.Result,
    previous: types.Previous,
    datasets: Sequence[types.DatasetSummary],
    paired: Mapping[Place, types.Estimate],
    other_outcome: types.Absent | None,
) -> Found:
    found = present(result.found)
    on_same_rows = paired.get(_place(result))
    if on_same_rows is not None:
        return replace(on_same_rows, method=facts.Method("paired_versions", *on_same_rows.method))
    before = present(other_outcome or _other_site(result, previous, datasets) or value_before(previous, result))
    together = _together(result.dataset, previous, datasets)
    if paired and together == types.Absent(SAME_ROWS):
        # The risks of before are there, and of this measure rows add nothing by themselves.
        together = types.Absent(facts.Fact("same_rows_not_paired"))
    return change(found, before, together)


def value_before(previous: types.Previous, now: types.Result) -> Found:
    """The same measure in the previous release, or why it has none."""
    if now.dataset != types.POOLED and previous.named(now.dataset) is None:
        return types.Absent(facts.Fact("not_in_previous_release", dataset=now.dataset))
    for result in previous.results:
        if _place(result) == _place(now):
            return (
                result.found
                if isinstance(result.found, types.Estimate)
                else types.Absent(facts.Fact("before", reason=result.found.reason))
            )
    return types.Absent(facts.Fact("not_measured_before"))


# ---- may the two intervals be combined -------------------------------------------------------------------------------


def _together(dataset: str, previous: types.Previous, datasets: Sequence[types.DatasetSummary]) -> types.Absent | None:
    """Why the rows of now and of before are not independent, or None where they are."""
    if dataset == types.POOLED:
        # All sites are independent of those of before when no hospital stands in both with rows that may be shared.
        before, here = ([each for each in some if each.role == "external"] for some in (previous.datasets, datasets))
        # Both may be of one hospital: by the name of the dataset, or under another name by that of the site.
        pairs = [
            (one, other)
            for one, other in itertools.product(here, before)
            if (previous.of(one) is other if one.name == other.name else one.site == other.site)
        ]
        if all(_of_dataset(first, other) is None for first, other in pairs):
            return None
        same = [each.name for each, _ in pairs] == [each.name for each in here] and len(before) == len(here)
        return types.Absent(facts.Fact("pooled_in_both_releases", same_hospitals=same))
    now = next(summary for summary in datasets if summary.name == dataset)
    return _of_dataset(now, next(summary for summary in previous.datasets if summary.name == dataset))


def _of_dataset(now: types.DatasetSummary, before: types.DatasetSummary) -> types.Absent | None:
    if now.dates is not None and before.dates is not None:
        apart = now.dates[0] > before.dates[1] or before.dates[0] > now.dates[1]
        if apart:
            return None
    if (now.n, now.events, dict(now.class_counts)) == (before.n, before.events, dict(before.class_counts)):
        return types.Absent(SAME_ROWS)
    if now.dates is None or before.dates is None:
        return types.Absent(facts.Fact("dates_missing"))
    return types.Absent(facts.Fact("dates_overlap"))
