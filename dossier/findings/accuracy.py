"""How accurate the model is when confidence and the importance of each class count."""

from __future__ import annotations

from dossier.findings.sentence import Sentence, estimated, range_over_sites
from dossier.types import Evidence, Result
from dossier.typeset import Table, setting, table_across

EQUAL = "equal"
"""The priority of several classes that all weigh alike."""


def finding(evidence: Evidence) -> Sentence:
    """Balanced H-accuracy over the sites, and how much of it is left when confidence is asked for."""
    places = [result.at for result in evidence.results if result.measure == "h_accuracy"]
    taus = sorted({at["tau"] for at in places if isinstance(at.get("tau"), float)}, key=float)
    if not taus:
        return Sentence("H-accuracy cannot be estimated.")
    even: float | str = EQUAL if evidence.release.outcome.classes else 0.5
    plain = estimated(evidence, "h_accuracy", priority=even, tau=taus[0], complexity="constant")
    strict = estimated(evidence, "h_accuracy", priority=even, tau=taus[-1], complexity="constant")
    if not plain or not strict:
        return Sentence("At no external site can H-accuracy be estimated.")
    which = "all" if evidence.release.outcome.classes else "both"
    return Sentence(
        f"With {which} classes of equal weight, H-accuracy {range_over_sites(evidence, 'h_accuracy', plain)}.",
        f"When full credit asks for a confidence of {setting(taus[-1])}, it "
        f"{range_over_sites(evidence, 'h_accuracy', strict)}.",
    )


def instances(evidence: Evidence) -> tuple[Table, ...]:
    """Confident H-accuracy (both classes alike, rising confidence) and prioritized H-accuracy (no confidence asked)."""
    results = [one for one in evidence.results if one.measure == "h_accuracy"]

    def at(name: str, value: float | str) -> list[Result]:
        return [one for one in results if one.at.get(name) == value]

    labels = evidence.release.outcome.classes
    even: float | str = EQUAL if labels else 0.5
    words = "all classes" if labels else "both classes"
    return (
        table_across(evidence, at("priority", even), "tau", f"Confident H-accuracy, {words} of equal weight"),
        table_across(
            evidence,
            at("tau", 1 / len(labels) if labels else 0.5),
            "priority",
            "Prioritized H-accuracy, no confidence asked for",
        ),
    )
