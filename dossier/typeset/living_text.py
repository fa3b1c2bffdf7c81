"""Declared texts with the numbers that they ask for in the place of their names, each with its interval and n."""

from __future__ import annotations

from dataclasses import replace

from dossier.core import living_text, types
from dossier.typeset import names, numbers, reasons


def resolved(evidence: types.Evidence) -> types.Evidence:
    """The evidence whose statements, own chapters and intended use give the numbers that they name."""

    def said(text: str) -> str:
        return living_text.PLACE.sub(lambda match: in_words(evidence, living_text.Place.of(match)), text)

    release, use = evidence.release, evidence.release.intended_use
    for_ = None if use.for_ is None else said(use.for_)
    use = use.model_copy(update={"for_": for_, "not_for": tuple(map(said, use.not_for))})
    return replace(
        evidence,
        release=release.model_copy(update={"intended_use": use, "report": release.report.said(said)}),
        statements={item: said(text) for item, text in evidence.statements.items()},
        flags=tuple(flag if flag.reply is None else replace(flag, reply=said(flag.reply)) for flag in evidence.flags),
    )


def in_words(evidence: types.Evidence, place: living_text.Place) -> str:
    """The number that a place stands for: with its interval and n, or why there is none."""
    if place.measure in living_text.COUNTS:
        sites = [site for site in evidence.datasets if site.name == place.dataset] or types.externals(evidence)
        if place.measure == "patients":
            return f"{sum(site.n for site in sites):,}"
        if len(sites) == 1:
            return names.events_of(sites[0])
        known = [site.events for site in sites if site.events is not None]
        return f"{names.at_least(sites)}{sum(known):,}" if known else names.all_events(sites)
    found = find(evidence, place)
    if isinstance(found, types.Absent):
        return f"(not estimated: {reasons.why(evidence, found.reason, place.dataset)})"
    return (
        f"{numbers.in_text(evidence, place.measure, found)[:-1]}; n {found.n:,})"
        if found.low is not None
        else (f"{numbers.in_text(evidence, place.measure, found)} (n {found.n:,})")
    )


def find(evidence: types.Evidence, place: living_text.Place) -> types.Estimate | types.Absent:
    """The result that a place names: settings are those of its measure, anything else a column of groups."""
    known = {*evidence.terms[place.measure].at, "class", "against", "model", "estimator"}
    at = {name: value for name in place.settings if name in known and (value := place.value(name)) is not None}
    if groups := [types.Subset(name, level) for name, level in place.settings.items() if name not in known]:
        return types.find_in_subgroup(evidence, groups[0], place.measure, place.dataset, **at)
    return types.find(evidence, place.measure, place.dataset, **at)
