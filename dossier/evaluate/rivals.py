"""Other models on the same rows: which measures and curves are asked of each, and their p values as one family."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dossier.core.multiplicity import holm
from dossier.core.register import Metric
from dossier.core.release import Release
from dossier.core.types import RIVAL, Absent, Estimate, Result
from dossier.evaluate.offered import Site, columns


def each(release: Release, metric: Metric) -> tuple[Metric, ...]:
    """A measure as it is asked: what is of another model once for each, under the name that the release gives it."""
    if RIVAL not in metric.fixed.values():
        return (metric,)
    return tuple(
        replace(metric, fixed={name: label if value == RIVAL else value for name, value in metric.fixed.items()})
        for label in names(release) or (RIVAL,)
    )


def names(release: Release) -> tuple[str, ...]:
    """The names of the other models."""
    return tuple(rival.name for rival in release.rivals)


def facing(site: Site, metric: Metric) -> Site:
    """The site with the other model that a measure of `each` is of; as it is for every other measure."""
    label = metric.fixed.get("against", metric.fixed.get("model", ""))
    return replace(site, dataset=site.dataset.facing(label))


def in_place_of_the_model(site: Site, rival: str) -> Site | Absent:
    """The site as if another model were the one that is tested, or why that has no risks here."""
    dataset = site.dataset.facing(rival)
    several = bool(dataset.class_labels)
    risk = columns(replace(site, dataset=dataset))["class_rival" if several else "rival"]
    if isinstance(risk, Absent):
        return risk
    as_model = replace(dataset, **{"class_risk" if several else "risk": risk}, rival=None, class_rival=None)
    return replace(site, dataset=as_model)


def adjusted(release: Release, results: Sequence[Result]) -> list[Result]:
    """The results, with Holm's p values beside those of differences from several other models.

    A family is one measure of one dataset at one setting, over the other models.
    """
    every, given = names(release), list(results)
    if len(every) < 2:
        return given
    families: dict[object, dict[int, float]] = {}
    for index, result in enumerate(given):
        p_value = result.found.details.get("p_value") if isinstance(result.found, Estimate) else None
        if p_value is not None and result.at.get("against") in every:
            setting = tuple(sorted((name, value) for name, value in result.at.items() if name != "against"))
            families.setdefault((result.term, result.dataset, result.subset, setting), {})[index] = p_value
    for family in families.values():
        for key, p_value in zip(family, holm(tuple(family.values())), strict=True):
            given[key] = _with_detail(given[key], p_value)
    return given


def _with_detail(result: Result, p_holm: float) -> Result:
    if not isinstance(result.found, Estimate):
        raise TypeError("what has a p value is an estimate")
    return replace(result, found=replace(result.found, details={**result.found.details, "p_holm": p_holm}))
