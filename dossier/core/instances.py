"""The instances of H-accuracy beside plain accuracy, and whether an accuracy reaches the acceptable minimum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from dossier.core.release import Acceptable
from dossier.core.types import Absent, At, Estimate, Evidence, Result, find

Kind = Literal["plain", "balanced", "prioritized", "confident", "practical", "composite"]
"""What an instance asks beyond the right class: nothing, equal weights, a priority, a confidence, a complexity, all."""
KINDS: tuple[Kind, ...] = get_args(Kind)
Standing = Literal["reaches", "open", "does not reach"]
"""How an accuracy stands to a minimum: with its whole interval above it, across it, or below it."""


@dataclass(frozen=True)
class Instance:
    """An accuracy of a dataset, with the settings that make it what it is."""

    kind: Kind
    at: At
    found: Estimate

    @property
    def rests_on_raters(self) -> bool:
        """Whether it takes more than numbers, which every site has: raters, or the complexity of the cases."""
        of_raters = self.at.get("priority") == "raters" or isinstance(self.at.get("tau"), str)
        return of_raters or self.kind in ("practical", "composite")


def accuracy_threshold(evidence: Evidence) -> float | None:
    """The threshold of plain accuracy of two classes: one half where it is declared, else the primary one."""
    declared = evidence.release.thresholds.declared
    return None if not declared else 0.5 if 0.5 in declared else declared[0]


def plain_accuracy(evidence: Evidence, dataset: str) -> Estimate | Absent:
    """The share of right answers of a dataset."""
    threshold = accuracy_threshold(evidence)
    if evidence.release.outcome.classes or threshold is None:
        return find(evidence, "accuracy", dataset)
    return find(evidence, "accuracy", dataset, threshold=threshold)


def of_dataset(evidence: Evidence, dataset: str) -> tuple[Instance, ...]:
    """Plain accuracy and every named instance of H-accuracy that a dataset has, kind by kind.

    A composite takes the complexity as it is graded; cuts of it are variants.
    """
    plain = plain_accuracy(evidence, dataset)
    made = [Instance("plain", {}, plain)] if isinstance(plain, Estimate) else []
    for result in evidence.of_measure["h_accuracy", dataset]:
        kind = _kind(evidence, result)
        if kind is not None and isinstance(result.found, Estimate):
            made.append(Instance(kind, result.at, result.found))
    graded = evidence.release.h_accuracy.graded
    kept = (instance for instance in made if instance.kind != "composite" or instance.at["complexity"] == graded)
    return tuple(sorted(kept, key=lambda instance: KINDS.index(instance.kind)))


def _kind(evidence: Evidence, result: Result) -> Kind | None:
    """What sets a result of H-accuracy apart; None of a subgroup, and where a priority meets a confidence alone."""
    labels = evidence.release.outcome.classes
    even, lowest = ("equal", 1 / len(labels)) if labels else (0.5, 0.5)
    if result.subset is not None:
        return None
    bare = (result.at.get("priority") == even, result.at.get("tau") == lowest)
    if result.at.get("complexity") != "constant":
        return "practical" if all(bare) else "composite"
    kinds: dict[tuple[bool, bool], Kind] = {
        (True, True): "balanced",
        (False, True): "prioritized",
        (True, False): "confident",
    }
    return kinds.get(bare)


def standing(found: Estimate, minimum: Acceptable) -> Standing:
    """How an accuracy stands to the minimum; where both have an interval, these must not overlap to say so."""
    if found.low is None or found.high is None:
        return "open"
    least, most = (minimum.value if end is None else end for end in (minimum.low, minimum.high))
    return "reaches" if found.low >= most else "does not reach" if found.high < least else "open"
