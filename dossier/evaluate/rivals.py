"""Other models and updates of the same rows: which measures are asked of each, and their p values as one family."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import replace

from dossier.core import facts, multiplicity, register
from dossier.core.release import Release
from dossier.core.types import RIVAL, UPDATED, Absent, Estimate, Result
from dossier.evaluate.offered import Site, ask, columns, named
from dossier.metrics import updating

FEWEST_TO_TEST = 10
"""Of fewer events or non-events the tests of two AUROCs and of two Brier scores accuse too often."""


def each(release: Release, metric: register.Metric) -> tuple[register.Metric, ...]:
    """A measure as it is asked: what is of another model once for each, under the name that the release gives it.

    What is of an updated model is asked of each update that the release declares, and of none where it declares none;
    so is what another model gives alone. A difference from it is absent with its reason then.
    """
    held = next((value for value in metric.fixed.values() if value in (RIVAL, UPDATED)), None)
    if held is None:
        return (metric,)
    labels = release.updates if held == UPDATED else names(release) or ((RIVAL,) if "against" in metric.fixed else ())
    return tuple(_named(metric, held, label) for label in labels)


def _named(metric: register.Metric, held: str, label: str) -> register.Metric:
    return replace(metric, fixed={name: label if value == held else value for name, value in metric.fixed.items()})


def names(release: Release) -> tuple[str, ...]:
    """The names of the other models, the version of the previous release among them."""
    return tuple(rival.name for rival in release.beside)


@register.absent_with_its_parts
def facing(site: Site, metric: register.Metric) -> Site | Absent:
    """The site with the other model that a measure of `each` is of; as it is for every other measure.

    A measure of the other model is asked as if that were the one that is tested, or absent where it has no risks here.
    """
    model = metric.fixed.get("model")
    if model is not None and model.startswith(UPDATED):
        # The site as if an update were the model and the model another one, or why it cannot be updated here.
        method = model.removeprefix(UPDATED)
        found = register.present(_held_out(site, method, metric.term.measure in updating.BY_OUTCOME))
        dataset = replace(site.dataset, risk=found.risk, rival=site.dataset.risk, further_rivals=())
        return replace(site, dataset=dataset, update=method)
    if model is not None:
        return in_place_of_the_model(site, model)
    return replace(site, dataset=site.dataset.facing(metric.fixed.get("against", "")))


def _held_out(site: Site, method: str, by_outcome: bool = False) -> updating.HeldOut | Absent:
    offered = {**named(site, "updating"), "method": method, "by_outcome": by_outcome}
    found: updating.HeldOut | Absent = ask(register.Maker(updating.held_out), offered, site.dataset.name)
    return found


def may_be_chosen(site: Site, metric: register.Metric) -> tuple[register.Metric, ...]:
    """A measure of an update that a test chooses, of each that it chose on some of the rows; of others nothing.

    A measure that takes the update knows of its choice itself.
    """
    model = metric.fixed.get("model", "")
    is_chosen = model == f"{UPDATED}closed_test" and "update" not in metric.needs
    found = _held_out(site, "closed_test") if is_chosen else None
    return tuple(_named(metric, model, f"{UPDATED}{each}") for each in getattr(found, "changes", ()))


@register.absent_with_its_parts
def in_place_of_the_model(site: Site, rival: str) -> Site | Absent:
    """The site as if another model were the one that is tested, or why that has no risks here."""
    dataset = site.dataset.facing(rival)
    several = bool(dataset.class_labels)
    risk = register.present(columns(replace(site, dataset=dataset))["class_rival" if several else "rival"])
    as_model = replace(dataset, **{"class_risk" if several else "risk": risk}, rival=None, class_rival=None)
    return replace(site, dataset=as_model)


def adjusted(release: Release, results: Sequence[Result], external: Set[str]) -> list[Result]:
    """The results, with Holm's p values beside those of differences from other models.

    `p_holm` is that of one measure of one dataset at one setting, over several other models; `p_adjusted` that of all
    that is looked at to say that another model is better, measures (and classes) by models by external hospitals by
    horizons: `looks` of them, and `p_at_site` that of those at its hospital. It is None of rows that are no independent
    sample, which have no test.
    """
    given, every = list(results), release.rivals_by_any_horizon
    families: dict[object, dict[int, float]] = {}
    looks: dict[int, float] = {}
    for index, result in enumerate(given):
        if not isinstance(result.found, Estimate) or result.at.get("against") not in every:
            continue
        p_value = result.found.details.get("p_value")
        if p_value is not None:
            setting = tuple(sorted((name, value) for name, value in result.at.items() if name != "against"))
            families.setdefault((result.term, result.dataset, result.subset, setting), {})[index] = p_value
        if result.dataset in external and _is_looked_at(release, result):
            # The lowest P of a test by draws is no lower than 1 over the draws: too high for many looks.
            p_value = result.found.details.get("p_by_interval", p_value)
            given[index] = result.with_details({"p_adjusted": None})
            looks |= {} if p_value is None else {index: p_value}
    for family in families.values() if len(every) > 1 else ():
        multiplicity.with_holm(given, "p_holm", family)
    multiplicity.with_holm(given, "p_adjusted", looks, looks=float(len(looks)))
    for here in facts.gathered((given[index].dataset, index) for index in looks).values():
        multiplicity.with_holm(given, "p_at_site", {index: looks[index] for index in here})
    return given


def _is_looked_at(release: Release, result: Result) -> bool:
    """Whether a difference may say that the other model is better: for patients, in ranking or by its risks."""
    of_classes, primary = bool(release.outcome.classes), release.primary(result.at)
    at = result.at.get("threshold")
    if result.subset is not None or (at is not None and at not in primary) or not isinstance(result.found, Estimate):
        return False
    if result.measure in ("auroc_difference", "brier_difference"):
        events, others = result.found.events, result.found.others
        return events is None or others is None or min(events, others) >= FEWEST_TO_TEST
    # Of two classes accuracy is that at a threshold, which says less than the net benefit there.
    of_named_class = ("accuracy_difference", "mean_severity_difference") if of_classes else ()
    return result.measure in ("net_benefit_difference", *of_named_class)
