"""Each compared measure beside that of the previous release: paired, as independent rows, or unpaired and why."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from dossier.core import types
from dossier.core.facts import Fact, Method
from dossier.core.multiplicity import with_holm
from dossier.core.register import Metric, metrics_of
from dossier.core.release import PREVIOUS, Release
from dossier.evaluate.offered import design_of
from dossier.metrics.changes import change, judged
from dossier.metrics.clusters import by_linearization
from dossier.metrics.comparison import mcnemar
from dossier.metrics.intervals import estimate
from dossier.metrics.stratified import mean_of_sites
from dossier.metrics.weighted import Mean, Rows, difference_to_rival, oe_ratio

SAME_ROWS = Fact("same_rows_as_before")


FEWEST_TO_TEST = 10
"""Of fewer patients with or without the outcome no difference may say that a hospital has it worse."""


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
    other = _other_outcome(release, previous)
    paired = {} if other else dict(_paired(release, core, results, rows))
    found = []
    for result in core:
        difference = _judged(result, _difference(result, previous, datasets, paired, other), terms)
        found.append(replace(result, at={**result.at, "against": PREVIOUS}, found=difference))
    looks = {
        index: result.found.details["p_value"] or 0.0
        for index, result in enumerate(found)
        if isinstance(result.found, types.Estimate) and "worse_by" in result.found.details
        if _is_looked_at(release, result, result.found, datasets)
    }
    with_holm(found, "p_adjusted", looks, looks=float(len(looks)))
    return types.Changes(previous, tuple(found))


def _judged(
    result: types.Result, difference: types.Estimate | types.Absent, terms: Mapping[str, types.Term]
) -> types.Estimate | types.Absent:
    """The difference with how much worse the measure became, where it has a direction."""
    best = terms[result.term].best
    if (
        isinstance(difference, types.Absent)
        or isinstance(result.found, types.Absent)
        or best not in ("higher", "lower", "one")
    ):
        return difference
    return judged(difference, result.found, best)


OF_THE_PATIENTS = ("brier", "net_benefit_gain")
"""What changes with how common the outcome is, the model being the same: judged on the same patients alone."""


def _is_looked_at(
    release: Release, result: types.Result, found: types.Estimate, datasets: Sequence[types.DatasetSummary]
) -> bool:
    """Whether a difference may say that a hospital has it worse: of what the gain answers, at the first threshold."""
    sites = [each for each in datasets if each.role == "external" and result.dataset in (each.name, types.POOLED)]
    at_primary = result.at.get("threshold") in (None, *release.thresholds.declared[:1])
    if not sites or not at_primary or result.measure == "net_benefit":
        return False
    if any(each.events is not None and min(each.events, each.n - each.events) < FEWEST_TO_TEST for each in sites):
        return False
    is_of_same = found.method.has("paired_versions") or found.reason == SAME_ROWS
    return is_of_same or result.measure not in OF_THE_PATIENTS


# ---- both versions on the same rows ----------------------------------------------------------------------------------

Place = tuple[str, str, tuple[tuple[str, float | str], ...]]
"""A measure of a dataset at its settings."""


def _place(measure: str, dataset: str, at: Mapping[str, float | str]) -> Place:
    return measure, dataset, tuple(sorted(at.items()))


def _paired(
    release: Release, core: Sequence[types.Result], results: Sequence[types.Result], rows: Sequence[types.Dataset]
) -> Iterator[tuple[Place, types.Estimate]]:
    """The differences from the previous version on the same rows, by the place of the measure itself.

    The operators are those of other models: the difference that a measure of two models has as such, or else that of
    what the rows contribute to it. Over all sites it is their mean over the patients, where every site has it.
    """
    known = {_place(result.measure, result.dataset, result.at): result.found for result in results}
    metrics, external = metrics_of(release), [each.name for each in rows if each.role == "external"]
    faced = {each.name: each.facing(PREVIOUS) for each in rows if PREVIOUS in (model.name for model in release.beside)}
    found: dict[Place, types.Estimate] = {}
    for result in sorted(core, key=lambda each: each.dataset == types.POOLED):
        place, at = _place(result.measure, result.dataset, result.at), {**result.at, "against": PREVIOUS}
        each = [found.get(_place(result.measure, name, result.at)) for name in external]
        every = tuple(one for one in each if one is not None)
        difference: types.Estimate | types.Absent | None = None
        if result.dataset == types.POOLED:
            difference = mean_of_sites(every, release.release.level) if each and len(every) == len(each) else None
        elif result.dataset in faced:
            difference = known.get(_place(f"{_told_by(result.measure)}_difference", result.dataset, at))
            if difference is None and result.term in metrics:
                difference = _of_rows(metrics[result.term], faced[result.dataset], result.at, release.release.level)
        if isinstance(difference, types.Estimate):
            found[place] = difference
            yield place, difference


def _of_rows(metric: Metric, rows: types.Dataset, at: types.At, level: float) -> types.Estimate | None:
    """The difference of a measure between the model and the other one of its rows; None where there is no such thing.

    Of a share of plain rows by McNemar's test, of all else by linearization.
    """
    measure = oe_ratio if metric.term.name == "oe_ratio" else metric.weighted
    outcome, risk, other, design = rows.outcome, rows.risk, rows.rival, design_of(rows)
    if measure is None or outcome is None or risk is None or other is None or rows.split is not None:
        return None
    if rows.minimum_cell or rows.imputations:
        return None
    threshold = float(at.get("threshold", 0.5))
    if isinstance(measure, Mean) and "threshold" in metric.needs and design.is_simple:
        among = measure.among(Rows.counted(outcome, risk, threshold))
        right, before = (measure.added(Rows.counted(outcome, each, threshold))[among] == 1 for each in (risk, other))
        return mcnemar(right, before, outcome[among], level) if among.any() else None
    weights = np.ones(len(risk)) if rows.weights is None else rows.weights
    found = difference_to_rival(measure)(Rows(outcome, risk, weights, threshold, other, rows.weights is None))
    if isinstance(found, types.Absent):
        return None
    if design.is_simple:
        se = math.sqrt(design.variance(found.linearized)) or None
        return estimate(found.value, se, level, outcome, Method("paired", "linearization"))
    bare = types.Estimate(found.value, None, None, None, len(risk), Method("paired"), int(outcome.sum()))
    return by_linearization(bare, found.linearized, design, level, "plain")


def _told_by(measure: str) -> str:
    """The measure whose difference is the same on the same rows: the better default does not change there."""
    return "net_benefit" if measure == "net_benefit_gain" else measure


def _other_outcome(release: Release, previous: types.Previous) -> types.Absent | None:
    """Why no measure can be compared, where the previous release predicts something else."""
    then = previous.other_outcome(release)
    if then is None:
        return None
    return types.Absent(Fact("another_outcome_before", before=then.words, now=types.Predicted.by(release).words))


def _other_site(
    result: types.Result, previous: types.Previous, datasets: Sequence[types.DatasetSummary]
) -> types.Absent | None:
    """Why a dataset is not compared with that of the same name, where that one is of another site."""
    now = next((dataset for dataset in datasets if dataset.name == result.dataset), None)
    before = None if now is None else previous.elsewhere(now)
    if now is None or before is None:
        return None
    return types.Absent(Fact("another_site_before", before=before.site, now=now.site))


def _difference(
    result: types.Result,
    previous: types.Previous,
    datasets: Sequence[types.DatasetSummary],
    paired: Mapping[Place, types.Estimate],
    other_outcome: types.Absent | None,
) -> types.Estimate | types.Absent:
    if isinstance(result.found, types.Absent):
        return result.found
    on_same_rows = paired.get(_place(result.measure, result.dataset, result.at))
    if on_same_rows is not None:
        return replace(on_same_rows, method=Method("paired_versions", *on_same_rows.method))
    before = other_outcome or _other_site(result, previous, datasets) or value_before(previous, result)
    if isinstance(before, types.Absent):
        return before
    return change(result.found, before, _together(result.dataset, previous, datasets))


def value_before(previous: types.Previous, now: types.Result) -> types.Estimate | types.Absent:
    """The same measure in the previous release, or why it has none."""
    if now.dataset != types.POOLED and previous.named(now.dataset) is None:
        return types.Absent(Fact("not_in_previous_release", dataset=now.dataset))
    wanted = _place(now.measure, now.dataset, now.at)
    for result in previous.results:
        if _place(result.measure, result.dataset, result.at) == wanted:
            return (
                result.found
                if isinstance(result.found, types.Estimate)
                else types.Absent(Fact("before", reason=result.found.reason))
            )
    return types.Absent(Fact("not_measured_before"))


# ---- may the two intervals be combined -------------------------------------------------------------------------------


def _together(dataset: str, previous: types.Previous, datasets: Sequence[types.DatasetSummary]) -> types.Absent | None:
    """Why the rows of now and of before are not independent, or None where they are."""
    if dataset == types.POOLED:
        return _all_sites(previous, datasets)
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
        return types.Absent(Fact("dates_missing"))
    return types.Absent(Fact("dates_overlap"))


def _all_sites(previous: types.Previous, datasets: Sequence[types.DatasetSummary]) -> types.Absent | None:
    """All sites are independent of those of before when no hospital stands in both with rows that may be shared."""
    before, now = ([each for each in some if each.role == "external"] for some in (previous.datasets, datasets))
    pairs = [(dataset, other) for dataset in now for other in before if _may_share(dataset, other, previous)]
    if all(_of_dataset(first, other) is None for first, other in pairs):
        return None
    same = [each.name for each, _ in pairs] == [each.name for each in now] and len(before) == len(now)
    return types.Absent(Fact("pooled_in_both_releases", same_hospitals=same))


def _may_share(now: types.DatasetSummary, before: types.DatasetSummary, previous: types.Previous) -> bool:
    """Whether both may be of one hospital: by the name of the dataset, or under another name by that of the site."""
    return previous.of(now) is before if now.name == before.name else now.site == before.site
