"""Each compared measure beside that of the previous release: paired, as independent rows, or unpaired and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from dossier.core import types
from dossier.core.facts import Fact, Method
from dossier.core.multiplicity import with_holm
from dossier.core.release import Release
from dossier.metrics.changes import change, judged

AGAINST = "previous"
"""What `against` is in `at` for a difference from the previous release."""

SAME_ROWS = Fact("same_rows_as_before")


def changes(
    release: Release,
    previous: types.Previous | None,
    datasets: Sequence[types.DatasetSummary],
    results: Sequence[types.Result],
    terms: Mapping[str, types.Term],
) -> types.Changes | None:
    """The differences of what is compared, of every tested dataset and of all sites; None without a previous release.

    Where a rival is the previous version, the difference is that of the two on the same rows. Nothing else is
    compared with another outcome, nor a site with another one whose dataset had the same name.
    """
    if previous is None:
        return None
    tested = {dataset.name for dataset in datasets if dataset.role != "development"} | {types.POOLED}
    core = [result for result in results if types.is_compared(result, terms) and result.dataset in tested]
    rival = rival_of(release, previous)
    paired = {} if rival is None else _rival_differences(results, core, rival)
    other = _other_outcome(release, previous)
    found = []
    for result in core:
        difference = _judged(result, _difference(result, previous, datasets, paired, other), terms)
        found.append(replace(result, at={**result.at, "against": AGAINST}, found=difference))
    looks = {
        index: result.found.details["p_value"] or 0.0
        for index, result in enumerate(found)
        if isinstance(result.found, types.Estimate) and "worse_by" in result.found.details
        if _is_looked_at(release, result, datasets)
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
    return judged(difference, result.found.value, result.found.value - difference.value, best)


def _is_looked_at(release: Release, result: types.Result, datasets: Sequence[types.DatasetSummary]) -> bool:
    """Whether a difference may say that a hospital has it worse: of what is told by the gain, at the first line."""
    external = {dataset.name for dataset in datasets if dataset.role == "external"}
    at_primary = result.at.get("threshold") in (None, *release.thresholds.declared[:1])
    return result.dataset in external and at_primary and result.measure != "net_benefit"


def rival_of(release: Release, previous: types.Previous) -> str | None:
    """The rival that is the previous version, as the release says; None where none is."""
    return next((rival.name for rival in release.rivals if rival.version == previous.version), None)


Place = tuple[str, str, tuple[tuple[str, float | str], ...]]
"""A measure of a dataset at its settings."""


def _place(measure: str, dataset: str, at: Mapping[str, float | str]) -> Place:
    return measure, dataset, tuple(sorted(at.items()))


def _rival_differences(
    results: Sequence[types.Result], core: Sequence[types.Result], rival: str
) -> Mapping[Place, types.Estimate]:
    """The differences of core measures from a rival, by the place of the measure itself."""
    known = {_place(result.measure, result.dataset, result.at): result.found for result in results}
    against = {"against": rival}
    differences = {
        _place(result.measure, result.dataset, result.at): known.get(
            _place(f"{_told_by(result.measure)}_difference", result.dataset, {**result.at, **against})
        )
        for result in core
    }
    return {key: found for key, found in differences.items() if isinstance(found, types.Estimate)}


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
