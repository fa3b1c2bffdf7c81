"""Whether the ranges of a dataset may be given beside those that a ledger says were given of it before.

Two ranges of nearly the same rows tell of those in which they differ, and two models of the same rows of those whose
risks differ, be they few. So all that was given before is given again of the same model, or it is clear from the ranges
themselves that many have come; then the solver has both at once. A dataset that the ledger does not know may hold any
of the rows that it does, whatever its name and its risks, unless the release declares that it holds none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from dossier.core import errors, types
from dossier.core.faults.locations import File
from dossier.evaluate.disclosure.chains import Counts, rows_of_a_person
from dossier.evaluate.offered import Site

RANGES_THAT_COME = 2
"""How many ranges of either outcome lie between those of two releases of one dataset at least."""

Now = Callable[[types.Subset | None, tuple[float, ...]], Counts | None]
"""The ranges of all rows or of a subgroup at the risks of a grid; None where it is declared no more."""


def of_counts(subset: types.Subset | None, counts: Counts) -> types.ReleasedRanges:
    """Ranges as a ledger holds them: where each begins."""
    events, others = (tuple(tail.low for tail in chain.tails) for chain in (counts.events, counts.others))
    return types.ReleasedRanges(subset, counts.events.grid, events, others)


def given_before(site: Site, now: Now) -> tuple[types.Released, ...] | None:
    """What was given of fewer rows of a dataset; None where too few came since, or others, for it to be given anew."""
    entries = [entry for entry in site.earlier if entry.ranges or entry.model != site.model]

    def is_now(each: types.ReleasedRanges) -> bool:
        counts = now(each.subset, each.grid)
        return counts is not None and of_counts(each.subset, counts) == each

    as_now = [entry for entry in entries if entry.model == site.model and all(map(is_now, entry.ranges))]
    last = {entry.model: entry for entry in entries}.values()
    if not as_now and not all(_has_grown(entry, now) for entry in last):
        return None
    before = entries[: entries.index(as_now[-1])] if as_now else entries
    return tuple(entry for entry in before if entry not in as_now)


def _has_grown(entry: types.Released, now: Now) -> bool:
    """Whether so many of either outcome came that no range tells of few; it is asked of ranges, which are printed."""
    counts = now(None, (0.0,))
    if counts is None or not entry.ranges:
        return False
    pairs = ((counts.events, entry.ranges[0].events), (counts.others, entry.ranges[0].others))
    return all(chain.total.low - (lows[0] + counts.wide - 1) >= RANGES_THAT_COME * counts.wide for chain, lows in pairs)


def faults(ledger: types.Ledger, sites: Sequence[Site], of_site: Callable[[Site], Now]) -> Iterator[errors.Fault]:
    """Why a release may not be given beside those of the ledger."""
    at, known = File(ledger.path), tuple(sorted({entry.dataset for entry in ledger.released}))
    for site in sites:
        policy, name = site.release.disclosure, site.dataset.name
        if site.earlier:
            yield from _of_one(site, at, of_site(site))
        elif known and (policy is None or name not in policy.other_patients):
            yield errors.Fault("ledger_other_name", at, dataset=name, known=known)


def _of_one(site: Site, at: File, now: Now) -> Iterator[errors.Fault]:
    name = site.dataset.name
    wide = {(entry.minimum_cell, entry.wide) for entry in site.earlier}
    if wide != {(site.dataset.minimum_cell, _wide(site))}:
        smallest, other = max(wide)
        yield errors.Fault("ledger_other_policy", at, dataset=name, wide=other, minimum=smallest, now=_wide(site))
    elif {entry.outcome for entry in site.earlier} != {site.release.outcome.column}:
        yield errors.Fault("ledger_other_outcome", at, dataset=name, outcome=site.earlier[-1].outcome)
    elif gone := {each.subset for entry in site.earlier for each in entry.ranges if now(each.subset, (0.0,)) is None}:
        names = tuple(sorted(str(subset or "all rows") for subset in gone))
        yield errors.Fault("ledger_group_gone", at, dataset=name, groups=names)
    elif given_before(site, now) is None:
        yield errors.Fault("ledger_few_came", at, dataset=name, least=RANGES_THAT_COME * site.wide)


def released(site: Site, ranges: tuple[types.ReleasedRanges, ...]) -> types.Released:
    """What a dataset gives, but for the numbers beside its ranges."""
    cell, outcome = site.dataset.minimum_cell, site.release.outcome.column
    return types.Released(site.dataset.name, outcome, "", cell, _wide(site), ranges, {})


def _wide(site: Site) -> int:
    return site.wide * rows_of_a_person(site.dataset)
