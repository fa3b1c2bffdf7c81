"""How far the labels themselves can be trusted."""

from __future__ import annotations

from collections.abc import Sequence

from dossier.core.facts import Fact
from dossier.core.types import READERS, Absent, Description, Estimate, Evidence, find, find_all
from dossier.report.chapters.chapter import Chapter, measured
from dossier.report.chapters.sentence import Sentence
from dossier.typeset.numbers import in_text, number
from dossier.typeset.reasons import why
from dossier.typeset.words import sentence_case


def finding(evidence: Evidence) -> Sentence:
    """The reliability of the readers' labels, and what it makes of the model's accuracy."""
    rho = _first(evidence, "weighted_concordance")
    learnt = _learnt(evidence)
    if isinstance(rho, Absent):
        return Sentence(learnt or f"Reliability cannot be estimated: {why(evidence, rho.reason)}.")
    return _of_test(evidence, rho, learnt)


def _learnt(evidence: Evidence) -> str:
    """The reliability of the labels that the model learnt from, where readers of the development data were given."""
    for dataset in _development(evidence):
        rho = find(evidence, "weighted_concordance", dataset)
        if isinstance(rho, Estimate):
            value = in_text(evidence, "weighted_concordance", rho)
            return f"The reliability of the labels that the model learnt from is {value}{_if_off(rho)}."
        agreement = find(evidence, "observed_agreement", dataset)
        if isinstance(agreement, Estimate):
            value = in_text(evidence, "observed_agreement", agreement)
            return f"Readers agreed on {value} of the labels that the model learnt from."
    return ""


def _development(evidence: Evidence) -> list[str]:
    return [one.name for one in evidence.datasets if one.role == "development"]


def _of_test(evidence: Evidence, rho: Estimate, learnt: str) -> Sentence:
    """The reliability of the labels that the model was tested on, and then of those that it learnt from."""
    lead = f"The reliability of the labels is {in_text(evidence, 'weighted_concordance', rho)}{_if_off(rho)}"
    lead = f"{lead}{_needed(evidence)}."
    actual = _first(evidence, "actual_accuracy")
    if isinstance(actual, Absent):
        return Sentence(lead, learnt)
    measured = actual.details.get("measured_accuracy")
    if measured is None:
        return Sentence(lead, learnt)
    rest = (
        f"Where the outcome itself is made of such labels, the measured accuracy of {number(measured)} stands for "
        f"{in_text(evidence, 'actual_accuracy', actual)} against the truth."
    )
    return Sentence(lead, f"{rest} {learnt}".rstrip())


def _needed(evidence: Evidence) -> str:
    """The reliability at which the accuracy is the one that is wished, or that none makes it so."""
    needed = _first(evidence, "required_reliability")
    if isinstance(needed, Estimate):
        wished = number(needed.details["desired_accuracy"] or 0)
        value = in_text(evidence, "required_reliability", needed)
        return f"; {value} is needed for the wished accuracy of {wished} against the truth"
    if not any(readers.desired_accuracy is not None for readers in evidence.release.readers):
        return ""
    return f"; which is needed cannot be said: {why(evidence, needed.reason)}"


def _if_off(rho: Estimate) -> str:
    """Between which values the reliability lies if the readers' confidence is off by the declared coherence."""
    low, high = rho.details.get("coherence_low"), rho.details.get("coherence_high")
    if low is None or high is None:
        return ""
    return f", and {number(low)} to {number(high)} if confidence is off by the declared coherence"


def _first(evidence: Evidence, measure: str) -> Estimate | Absent:
    """The measure where it is a number, but for the development data; else why there is none where readers judged."""
    learnt = _development(evidence)
    made = [result for result in find_all(evidence, measure) if result.dataset not in learnt]
    estimates = [one.found for one in made if isinstance(one.found, Estimate)]
    places = {readers.dataset or READERS for readers in evidence.release.readers}
    judged = [one.found for one in made if one.dataset in places]
    return next(iter((*estimates, *judged)), Absent(Fact("no_readers_judged")))


def accuracy_of_readers(evidence: Evidence) -> str:
    """The accuracy of the readers, from the least to the most accurate, mean and spread; or that it is unknown."""
    rho = _first(evidence, "weighted_concordance")
    if isinstance(rho, Estimate) and rho.details.get("accuracy_assumed"):
        return "How often the readers are right is unknown and taken as always: rho is the highest that it can be."
    made = [one for one in evidence.descriptions if one.described.of == "rater_accuracy"]
    places = list(dict.fromkeys(one.dataset for one in made))
    said = [_of_one(evidence, [one.described for one in made if one.dataset == place], place) for place in places]
    return " ".join(said)


def _of_one(evidence: Evidence, rows: Sequence[Description], dataset: str) -> str:
    """The accuracy of the readers of a dataset; of the labels that the model learnt from it says so."""
    known = {row.statistic: number(row.value) for row in rows}
    spread = f" (standard deviation {known['standard_deviation']})" if "standard_deviation" in known else ""
    span = f"from {known['minimum']} to {known['maximum']}, mean {known['mean']}{spread}"
    learnt = " (of the labels that the model learnt from)" if dataset in _development(evidence) else ""
    return f"{sentence_case(rows[0].variable)}{learnt}: {span}."


CHAPTER = Chapter(
    "reliability",
    "Reliability of the labels",
    finding,
    has=measured("reliability"),
    fill="Name the readers' tables in [readers].",
    fill_of_classes="It is built for the labels of a binary outcome.",
    is_given=lambda evidence: not evidence.release.outcome.classes and bool(evidence.release.readers),
)
