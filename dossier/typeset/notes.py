"""What a table of measures rests on: the level, and how each measure was taken where."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set

from dossier.core import facts, types
from dossier.typeset import methods, numbers
from dossier.typeset.names import shown
from dossier.typeset.words import listing, named_or_counted, sentence_case, within_sentence
from dossier.words import entries


def note_of(evidence: types.Evidence, results: Sequence[types.Result], terms: Sequence[types.Term]) -> str:
    """What a table rests on: the level, and how each measure was taken, measures that were taken alike named together.

    Where a site's way is another, it is said with the site; once where that holds for every measure of the table.
    """
    bounded = any(isinstance(result.found, types.Estimate) and result.found.low is not None for result in results)
    opening = f"Value and {numbers.level_of(evidence)} interval. " if bounded else ""
    ways = {term.label: found for term in terms if (found := _ways(evidence, results, term))}
    others = [set(found[1:]) for found in ways.values()]
    everywhere = set.intersection(*others) if len(ways) > 1 else set()
    own = {label: "; ".join(way for way in found if way not in everywhere) for label, found in ways.items()}
    shared = facts.gathered((text, label) for label, text in own.items())
    said = [
        text if len(shared) == 1 else f"{listing([within_sentence(label) for label in labels])}: {text}"
        for text, labels in shared.items()
    ]
    said += [way for way in next(iter(ways.values()), ()) if way in everywhere]
    return opening + " ".join(f"{sentence_case(word)}." for word in said)


def _ways(evidence: types.Evidence, results: Sequence[types.Result], term: types.Term) -> tuple[str, ...]:
    """How a measure was taken at most sites, and then how and where it was taken otherwise."""
    taken = [
        (result.found, result.dataset)
        for result in results
        if result.term == term.name and result.dataset != types.POOLED and isinstance(result.found, types.Estimate)
    ]
    # Where a bound is missing, its table shows none: how it is taken elsewhere is no word about this one.
    with_bounds = [(found, name) for found, name in taken if (found.low, found.high) != (None, None)]
    named = ((methods.method_parts(found.method, in_kind=True), name) for found, name in with_bounds or taken)
    ways = {way: set(names) for way, names in facts.gathered(named).items()}
    if not ways:
        return ()
    sites = {dataset.name for dataset in evidence.datasets if dataset.role == "external"}
    usual = max(ways, key=lambda way: (len(ways[way]), len(ways[way] & sites), -len("; ".join(way))))
    others = (
        _elsewhere(evidence, otherwise(usual, way), ways[way], ways[usual])
        for way in sorted(ways, key="; ".join)
        if way != usual
    )
    return ("; ".join(usual), *others)


def _elsewhere(evidence: types.Evidence, way: str, names: Set[str], usual: Set[str]) -> str:
    """A way that is not the usual one, with the datasets that have it; without them where they have that one too."""
    if names & usual:
        return f"or {way}"
    of_role = {role: {dataset.name for dataset in evidence.datasets if dataset.role == role} for role in WITHIN}
    whole = [role for role, members in of_role.items() if members and members <= names]
    sites = [dataset.site for dataset in shown(evidence) if dataset.name in names and dataset.role not in whole]
    where = [*([f"at {named_or_counted(sites)}"] if sites else []), *(WITHIN[role] for role in whole)]
    return f"{listing(where)}: {way}" if where else way


WITHIN = {"internal": "in the internal test", "development": "in development"}
"""Where a number is that no external site gave."""
INTERVALS: Mapping[str, str] = entries("terms")["interval"]


def intervals_of(found: Iterable[tuple[str, types.Estimate | types.Curve | types.Absent]]) -> str:
    """How the bounds or bands of these sites were made: the way of most of them, and where it is another.

    `found` gives each site with what was found there, whose bands a curve always has. No word is said of sites without
    bounds.
    """
    ways = facts.gathered(
        (estimate.method.interval, site)
        for site, estimate in found
        if isinstance(estimate, types.Curve)
        or (isinstance(estimate, types.Estimate) and (estimate.low, estimate.high) != (None, None))
    )
    if not ways:
        return "no interval"
    usual = max(ways, key=lambda way: len(ways[way]))
    others = [f"{INTERVALS[str(way)]} at {named_or_counted(sites)}" for way, sites in ways.items() if way != usual]
    return "; ".join([INTERVALS[str(usual)], *others])


def otherwise(first: Sequence[str], second: Sequence[str]) -> str:
    """The parts of the second method that the first does not have."""
    return "; ".join([part for part in second if part not in first] or second)
