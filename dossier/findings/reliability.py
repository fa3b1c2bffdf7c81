"""How far the labels themselves can be trusted."""

from __future__ import annotations

from dossier.facts import Fact
from dossier.findings.sentence import Sentence
from dossier.types import READERS, Absent, Estimate, Evidence, find_all
from dossier.typeset.numbers import in_text, number
from dossier.typeset.reasons import why
from dossier.typeset.words import sentence_case


def finding(evidence: Evidence) -> Sentence:
    """The reliability of the readers' labels, and what it makes of the model's accuracy."""
    rho = _first(evidence, "weighted_concordance")
    if isinstance(rho, Absent):
        return Sentence(f"Reliability cannot be estimated: {why(evidence, rho.reason)}.")
    lead = f"The reliability of the labels is {in_text(evidence, 'weighted_concordance', rho)}{_if_off(rho)}."
    actual = _first(evidence, "actual_accuracy")
    if isinstance(actual, Absent):
        return Sentence(lead)
    measured = actual.details.get("measured_accuracy")
    if measured is None:
        return Sentence(lead)
    return Sentence(
        lead,
        f"Where the outcome itself is made of such labels, the measured accuracy of {number(measured)} stands for "
        f"{in_text(evidence, 'actual_accuracy', actual)} against the truth.",
    )


def _if_off(rho: Estimate) -> str:
    """Between which values the reliability lies if the readers' confidence is off by the declared coherence."""
    low, high = rho.details.get("coherence_low"), rho.details.get("coherence_high")
    if low is None or high is None:
        return ""
    return f", and {number(low)} to {number(high)} if confidence is off by the declared coherence"


def _first(evidence: Evidence, measure: str) -> Estimate | Absent:
    """The measure where it is a number; else why there is none where the readers judged."""
    made = list(find_all(evidence, measure))
    estimates = [one.found for one in made if isinstance(one.found, Estimate)]
    readers = evidence.release.readers
    judged = [one.found for one in made if readers is not None and one.dataset == (readers.dataset or READERS)]
    return next(iter((*estimates, *judged)), Absent(Fact("no_readers_judged")))


def accuracy_of_readers(evidence: Evidence) -> str:
    """The accuracy of the readers, from the least to the most accurate, mean and spread; or that it is unknown."""
    rho = _first(evidence, "weighted_concordance")
    if isinstance(rho, Estimate) and rho.details.get("accuracy_assumed"):
        return "How often the readers are right is unknown and taken as always: rho is the highest that it can be."
    rows = [row.described for row in evidence.descriptions if row.described.variable.startswith("rater accuracy")]
    if not rows:
        return ""
    known = {row.statistic: number(row.value) for row in rows}
    spread = f" (standard deviation {known['standard_deviation']})" if "standard_deviation" in known else ""
    span = f"from {known['minimum']} to {known['maximum']}, mean {known['mean']}{spread}"
    return f"{sentence_case(rows[0].variable)}: {span}."
