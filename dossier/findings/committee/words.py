"""The fourth page: the words that the others use."""

from __future__ import annotations

from dossier.findings import classes, subgroups
from dossier.findings.committee.answers import better_without, has_rival
from dossier.findings.committee.goals_met import GOALS
from dossier.types import Evidence
from dossier.typeset.numbers import level_of


def glossary(evidence: Evidence) -> tuple[tuple[str, str], ...]:
    """Every word of these pages that is not an everyday one, in plain words."""
    several = bool(classes.labels(evidence))
    words = [
        ("Chance", "What would happen with no cause behind it, as with a coin. Small numbers differ by chance."),
        ("Dossier", "The full report of the test, from which these pages are drawn. It holds every number and method."),
        ("Goal", "What the owner said that the model must reach."),
        ("Model", "A rule, often run by a computer, that turns facts about a patient into a risk."),
        ("Outcome", f"What the model foretells: {evidence.release.outcome.name}."),
        ("Place", "A hospital, a group of them, or a span of time, whose patients took part in the test."),
        (
            "Range",
            f"In brackets or after a dash: made so that it holds the true number {level_of(evidence)} "
            "of the time. A wide one means few patients.",
        ),
        ("Ranking", "How well the model puts those with the outcome before those without it."),
        ("Release", "This version of the model, with what its owner says of it."),
        ("Risk", "How likely the model says the outcome is, from 0 (never) to 100% (for sure)."),
        ("SHA-256", "A code that changes when one letter of a file does. It shows that two files are the same."),
        ("Threshold", "The risk from which on somebody should act."),
    ]
    if several:
        words += [
            ("Class", "One of the forms that the outcome can take. Each patient has just one."),
            ("Named rightly", "The class with the largest risk is the one that the patient had."),
            (
                "Ranked right",
                "Take one patient of the class and one of another: how often, of 100 times, the first has "
                "the higher risk of it. By chance it is 50.",
            ),
            (
                "Came, for 100 expected",
                "Add up the risks of the class until they make 100: so many patients were of it. More than "
                "100 means that the risks are too low.",
            ),
        ]
    else:
        words += [
            (
                "Flagged, found, missed",
                "Flagged: the risk is high enough that somebody should act. Found: flagged, and the "
                "outcome came. Missed: not flagged, and it came all the same.",
            ),
            ("Treated in error", "Flagged or treated, though the outcome did not come. Also called a false alarm."),
            (
                "Ranked right",
                "Take one patient with the outcome and one without: how often, of 100 times, the first has "
                "the higher risk. By chance it is 50.",
            ),
            (
                "Came, for 100 expected",
                "Add up the risks until they make 100: so many patients did have the outcome. More than "
                "100 means that the risks are too low.",
            ),
        ]
    if subgroups.is_declared(evidence):
        words.append(("Subgroups", "The part of the dossier that holds the numbers of groups of patients."))
    known = {one.measure for one in evidence.criteria}
    if "net_benefit" in known:
        words.append(
            (
                "Net benefit",
                "Patients found, less the false alarms. The threshold says how much a false alarm weighs. "
                "Below 0 it is better to treat no one; to treat all may still be better.",
            )
        )
    if "net_benefit_gain" in known or better_without(evidence) or has_rival(evidence):
        words.append(
            (
                "Gain, more good",
                "Patients found, less the false alarms, beyond what treating all or no one would do, or the other "
                "model. The threshold says how much a false alarm weighs.",
            )
        )
    if "specificity" in known:
        words.append(("Left alone", "Of 100 without the outcome: how many are not flagged."))
    words += [(evidence.terms[name].label, evidence.terms[name].sentence) for name in sorted(known - set(GOALS))]
    return tuple(sorted(words, key=lambda one: one[0].lower()))
