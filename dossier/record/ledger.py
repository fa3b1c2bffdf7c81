"""What was given of the rows of earlier releases, in a file that stays with its maker.

It holds the ranges and numbers that a dossier gave already, by the name of the dataset, and nothing else: no row, no
exact count, no hash of either, for patients are few enough to be tried out.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import replace

from pydantic import TypeAdapter

from dossier.core import register, types
from dossier.core.errors import Fault
from dossier.core.faults.locations import File
from dossier.record import acceptance

SCHEMA = "dossier-ledger/1"
RELEASED = TypeAdapter(tuple[types.Released, ...])
OF_ROWS = ("ranks", "mean", "fit", "ratio")
"""The protections of measures that are no function of the ranges."""


def text(ledger: types.Ledger) -> bytes:
    """The file of a ledger."""
    released = RELEASED.dump_python(ledger.released, mode="json")
    sha256 = hashlib.sha256(json.dumps(released, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
    content = {"schema": SCHEMA, "sha256": sha256, "released": released}
    return (json.dumps(content, ensure_ascii=False, allow_nan=False, indent=1) + "\n").encode()


def released(content: bytes) -> tuple[types.Released, ...] | None:
    """What the file of a ledger holds, in the order of the releases; None where it is none, or was altered."""
    try:
        found = json.loads(content)
        made = RELEASED.validate_python(found["released"])
        return made if content == text(types.Ledger("", "", made)) else None
    except (ValueError, TypeError, KeyError, RecursionError):
        return None


def after(ledger: types.Ledger, evidence: types.Evidence) -> tuple[types.Ledger, tuple[Fault, ...]]:
    """The ledger with what this release gives, and the faults of datasets that give another number of the same rows."""
    new, faults = list(ledger.released), []
    for each in evidence.audit:
        made = replace(each.released, model=ledger.model, values=dict(_values(ledger.model, evidence, each.dataset)))
        known = [entry for entry in ledger.released if entry.dataset == made.dataset and _is_of_as_many(entry, made)]
        apart = {key for entry in known for key, value in entry.values.items() if made.values.get(key, value) != value}
        if apart:
            faults.append(Fault("ledger_other_number", File(ledger.path), dataset=made.dataset, number=min(apart)))
        elif made not in new:
            new.append(made)
    return replace(ledger, released=tuple(new)), tuple(faults)


def _is_of_as_many(entry: types.Released, made: types.Released) -> bool:
    """Whether all rows have the same ranges; those of which none are given may be the same."""
    first, other = ([(each.events[0], each.others[0]) for each in of.ranges[:1]] for of in (entry, made))
    return first == other or not (first and other)


def _values(model: str, evidence: types.Evidence, dataset: str) -> Iterator[tuple[str, tuple[float | None, ...]]]:
    """The numbers that are given of a dataset and do not follow from the ranges of its risks, each under its name."""
    measures = register.metrics_of(evidence.release)
    for row in (*evidence.results, *evidence.subgroups.results):
        of_rows = row.term in measures and measures[row.term].protection in OF_ROWS
        if row.dataset == dataset and of_rows and isinstance(row.found, types.Estimate):
            yield ", ".join((row.measure, *acceptance.listed(row), model)), (row.found.value, row.found.se)
    for description in evidence.descriptions:
        about = description.described
        if description.dataset == dataset:
            yield ", ".join((about.statistic, about.variable, about.level or "")), (about.value,)
    for summary in evidence.datasets:
        if summary.name == dataset:
            counts = {"n": summary.n, "clusters": summary.clusters, **summary.excluded, **summary.class_counts}
            ranges = {name: count for name, count in counts.items() if isinstance(count, types.CountRange)}
            yield from ((name, (float(count.low), float(count.high))) for name, count in ranges.items())
