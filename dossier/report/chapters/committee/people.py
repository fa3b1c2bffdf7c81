"""Whether people decide better with the model, and what the answers are worth that it was tested on."""

from __future__ import annotations

from dossier.core import claims, types
from dossier.report.chapters import human_factors
from dossier.report.chapters.committee.plain import between
from dossier.typeset.numbers import number, people
from dossier.typeset.words import counted

MOST_GROUPS = 4
"""Groups of people that a sentence has room for."""
NO_STUDY = "Not known: no study compared decisions with and without it."
KEPT_BACK = "A study compared decisions with and without it. Its numbers are kept back, to protect those in it."


def people_decide(evidence: types.Evidence) -> str:
    """Whether people decide better with the model: wrong decisions of 100 without and with it."""
    without = types.find(evidence, "error_rate_unaided", types.READER_STUDY)
    aided = types.find(evidence, "error_rate_aided", types.READER_STUDY)
    fewer = types.find(evidence, "absolute_risk_reduction", types.READER_STUDY)
    if isinstance(without, types.Absent) or isinstance(aided, types.Absent) or isinstance(fewer, types.Absent):
        # Where counts are protected, what nobody has is withheld too: the release says whether there was a study.
        is_withheld = any(isinstance(estimate, types.Withheld) for estimate in (without, aided, fewer))
        return KEPT_BACK if is_withheld and evidence.release.reader_study else NO_STUDY
    claim = claims.about(evidence, "people", "overall")[0]
    rates = f"Without it {_in_hundred(without.value)} of 100 decisions were wrong, with it {_in_hundred(aided.value)}."
    readers = types.find_curve(evidence, "decision_benefit_by_reader", types.READER_STUDY)
    many = len(readers.columns["reader"]) if isinstance(readers, types.Curve) else 0
    # Who decides alone first and then with the model may change a decision by looking again alone.
    study = evidence.release.reader_study
    twice = ", each twice (may help)" if study is not None and study.design == "paired" else ""
    took_part = f"{counted(many, 'person', 'people')} took part{twice}. " if many else ""
    start = f"{took_part}{rates}{_changed(evidence)}{_by_group(evidence)}{_advised(evidence)}"
    if claim.low is None or claim.high is None:
        return start
    low, high = (_in_hundred(abs(end)) for end in (claim.low, claim.high))
    ways = {"shown": f"{low} to {high} fewer", "against": f"{high} to {low} more"}
    bounds = f"(range {ways.get(claim.state, f'{low} more to {high} fewer')} wrong)"
    if claim.state == "shown":
        return f"Yes, in a study. {start} They decided better {bounds}."
    if claim.state == "against":
        return f"No: in a study they decided worse {bounds}. {start}"
    return f"Not shown. {start} This could be coincidence {bounds}."


def _in_hundred(share: float) -> str:
    return number(100 * share, 0 if abs(share) >= 0.01 or share == 0 else 1)


# ---- what it changed ------------------------------------------------------------------------------------------------


def _changed(evidence: types.Evidence) -> str:
    """How many decisions the model turned right and turned wrong."""
    changed = types.find_curve(evidence, "changed_decisions", types.READER_STUDY)
    if isinstance(changed, types.Absent):
        return ""
    right, wrong = (human_factors.changes_of(evidence, changed, kind) for kind in ("corrected", "misled"))
    return f" It put {right:,} right and made {wrong:,} wrong."


def _by_group(evidence: types.Evidence) -> str:
    """How many of 100 decisions of each group of people were wrong without and with the model, while groups are few."""
    found = [
        (str(result.at["group"]), result.found)
        for result in types.find_all(evidence, "decision_benefit")
        if "group" in result.at and isinstance(result.found, types.Estimate)
    ]
    if not 1 < len(found) <= MOST_GROUPS:
        return ""
    wrong = [[_in_hundred(1 - (estimate.details[arm] or 0.0)) for arm in ("unaided", "aided")] for _, estimate in found]
    said = [f"{name} {before}, then {after}" for (name, _), (before, after) in zip(found, wrong, strict=True)]
    return f" Wrong of 100 by group: {'; '.join(said)}."


def _advised(evidence: types.Evidence) -> str:
    """How often people followed the model where it was wrong, and did not where it was right."""
    followed, resisted = (types.find(evidence, measure, types.READER_STUDY) for measure in human_factors.ADVICE)
    if isinstance(followed, types.Absent) or isinstance(resisted, types.Absent):
        return ""
    return (
        f" Where people first thought otherwise, they followed wrong advice {_times(followed)} "
        f"and refused right advice {_times(resisted)}."
    )


def _times(found: types.Estimate) -> str:
    return f"{int(found.details['decisions'] or 0):,} of {counted(found.n, 'time')}"


# ---- the answers that it was tested on ------------------------------------------------------------------------------


def labels_are_right(evidence: types.Evidence) -> str:
    """How many of 100 answers of the model labels call right, and how many are; empty without readers of a test."""
    tested = {summary.name: summary.site for summary in evidence.datasets if summary.role != "development"}
    found = {
        result.dataset: result.found
        for result in types.find_all(evidence, "actual_accuracy")
        if result.dataset in tested and isinstance(result.found, types.Estimate)
    }
    if not found:
        return ""
    dataset = evidence.local_site if evidence.local_site in found else next(iter(found))
    return _of_labels(evidence, tested[str(dataset)], str(dataset), found[str(dataset)])


def _of_labels(evidence: types.Evidence, site: str, dataset: str, actual: types.Estimate) -> str:
    rho = types.find(evidence, "weighted_concordance", dataset)
    about = "at best" if isinstance(rho, types.Estimate) and rho.details.get("accuracy_assumed") else "about"
    called = people(actual.details["measured_accuracy"] or 0.0)
    bounds = f" (range {between(actual)})" if between(actual) else ""
    return (
        f"If people like those at {site} say what is true, {called} of 100 answers look right. "
        f"People are wrong too: {about} {people(actual.value)} are right{bounds}. Not so if a test says it."
    )
