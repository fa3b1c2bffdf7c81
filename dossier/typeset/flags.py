"""What a flag says, in words: `words/flags.toml` has every code, `words/consequences.toml` what follows from it."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Any, ClassVar

from dossier.core import bands, facts, reasons, types
from dossier.core.faults import catalogue
from dossier.typeset.numbers import number, patients_needed, per_cent, threshold
from dossier.typeset.words import counted, date, exclusion, listing, periods
from dossier.words import entries, sentence, wording

DATASETS = reasons.DATASETS | {"where", "earlier"}


def flag_text(fact: facts.Fact, names: reasons.Names | None = None) -> str:
    """What a flag says; names of the input as they are, unless others are given."""
    return _Flag(names or reasons.Names()).filled(entries("flags")[fact.code]["text"], dict(fact.values))


def brief(fact: facts.Fact, names: reasons.Names | None = None) -> str:
    """The number that a flag is raised for, in a few words, for a list of what is open; empty where none is short."""
    inner = fact.get("difference") if fact.code == "subgroup_differs" else fact
    text = entries("flags").get(inner.code, {}).get("brief", "") if isinstance(inner, facts.Fact) else ""
    return _Flag(names or reasons.Names()).filled(text, dict(inner.values)) if isinstance(inner, facts.Fact) else ""


def topic(kind: str) -> str:
    """What a flag is about, in a few words."""
    return str(entries("topics")[kind])


def consequence(kind: str) -> str:
    """What a flag means for who uses the results; empty where its own sentence says so."""
    return str(entries("consequences").get(kind, ""))


def quantity(measure: str) -> str:
    """What sites are pooled in, what stop rules are on, and what samples are sized for, within a sentence."""
    return str(entries("terms")["quantity"][measure])


def sealed(table: str) -> str:
    """What a table that is sealed holds."""
    return str(entries("terms")["sealed"][table])


def _sites(sites: Sequence[str]) -> str:
    """Sites by name; of many the first."""
    left = len(sites) - bands.NAMED_OF_MANY
    return listing(sites if len(sites) < bands.MANY_SITES else (*sites[: bands.NAMED_OF_MANY], f"{left:,} more"))


class _Flag(reasons.Reason):
    """Writes the values of a flag into its text."""

    datasets = DATASETS
    joiners: ClassVar[sentence.Joiners] = {
        **reasons.Reason.joiners,
        "listing": lambda texts, _: listing(texts),
        "sites": lambda sites, _: _sites(sites),
        "classes": lambda labels, _: f"{', '.join(labels[:-1])} and {labels[-1]}",
    }
    ways: ClassVar[sentence.Ways] = {
        **reasons.Reason.ways,
        "number": lambda value, digits: number(value, int(digits or 2)),
        "numbers": lambda values, digits: listing([number(value, int(digits)) for value in values]),
        "per_cent": lambda share, _: per_cent(share),
        "thresholds": lambda values, _: listing([threshold(value) for value in values]),
        "all_typed": lambda values, _: wording.listed(map(wording.number, values)),
        # Of rows that are not counted, that there are some.
        "counted": lambda count, noun: f"{count} {noun}s" if isinstance(count, str) else counted(count, noun),
        "rows": lambda count, _: f"{count} {'row' if count == 1 else 'rows'}",
        "patients_needed": lambda value, _: patients_needed(value),
        "quantity": lambda measure, _: quantity(measure),
        "date": lambda day, _: date(datetime.date.fromisoformat(day)),
        "exclusion": lambda code, _: exclusion(code),
        "periods": lambda numbers, unit: periods(numbers, types.unit_of(unit)),
        "sealed": lambda tables, _: listing([sealed(table) for table in entries("terms")["sealed"] if table in tables]),
    }

    def named(self, name: str, value: Any) -> Any:
        """A horizon too as it is called where the flag is read."""
        if name == "horizon":
            return self.names.horizons.get(value, f"by {value:.6g}")
        return super().named(name, value)

    def plain(self, value: Any) -> Any:
        """A value as Python's own, a range of counts as a range."""
        if isinstance(value, facts.Fact) and value.code == "from_to":
            low, high = value["low"], value["high"]
            if not isinstance(low, int) or not isinstance(high, int):
                raise ValueError("an end of a range of counts is a whole number")
            return types.CountRange(low, high)
        return super().plain(value)

    def rendered(self, fact: facts.Fact, how: str) -> str:
        """A range, another flag, a part of a fault or a reason within a flag."""
        if fact.code == "from_to":
            return format(self.plain(fact), how)
        if fact.code in entries("flags"):
            return flag_text(fact, self.names)
        return catalogue.phrase(fact) if fact.code in entries("phrases") else reasons.reason_text(fact, self.names)
