"""How accurate the model is when confidence and the importance of each class count."""

from __future__ import annotations

from dossier.findings.sentence import Sentence, estimated, range_over_sites
from dossier.types import Evidence, Result
from dossier.typeset import Table, setting, table_across


def finding(evidence: Evidence) -> Sentence:
    """Balanced H-accuracy over the sites, and how much of it is left when confidence is asked for."""
    places = [result.at for result in evidence.results if result.measure == "h_accuracy"]
    taus = sorted({at["tau"] for at in places if isinstance(at.get("tau"), float)}, key=float)
    if not taus:
        return Sentence("H-accuracy cannot be estimated.")
    plain = estimated(evidence, "h_accuracy", priority=0.5, tau=taus[0], complexity="constant")
    strict = estimated(evidence, "h_accuracy", priority=0.5, tau=taus[-1], complexity="constant")
    if not plain or not strict:
        return Sentence("At no external site can H-accuracy be estimated.")
    return Sentence(
        f"With both classes of equal weight, H-accuracy {range_over_sites(evidence, 'h_accuracy', plain)}.",
        f"When full credit asks for a confidence of {setting(taus[-1])}, it "
        f"{range_over_sites(evidence, 'h_accuracy', strict)}.",
    )


def instances(evidence: Evidence) -> tuple[Table, ...]:
    """Confident H-accuracy (both classes alike, rising confidence) and prioritized H-accuracy (no confidence asked)."""
    results = [one for one in evidence.results if one.measure == "h_accuracy"]

    def at(name: str, value: float) -> list[Result]:
        return [one for one in results if one.at.get(name) == value]

    return (
        table_across(evidence, at("priority", 0.5), "tau", "Confident H-accuracy, both classes of equal weight"),
        table_across(evidence, at("tau", 0.5), "priority", "Prioritized H-accuracy, no confidence asked for"),
    )
