"""What must be done before the model is used: computed from what was found and from what the maker has not said."""

from __future__ import annotations

from collections.abc import Iterator

from dossier.core import binding, claims
from dossier.core.bands import FEW_FOR_A_BAND as FEW
from dossier.core.facts import gathered
from dossier.core.types import Evidence, externals, summary_of
from dossier.report.chapters import classes, sentence
from dossier.report.chapters.committee import declared, first_page, missed, percentages, places
from dossier.report.chapters.committee.plain import acted_on, few_named, line, with_it
from dossier.typeset import names
from dossier.typeset.words import sentence_case
from dossier.words import entries

MOST_STEPS = 6
"""Steps that the first page has room for."""
MOST_CHECKS = 2
CHECKS: dict[str, str] = entries("pages")["checks"]
"""What a flag asks of a hospital, the most pressing first; flags that the other steps answer are not here."""


def steps(evidence: Evidence) -> tuple[str, ...]:
    """What must be done before the model is used, in the order in which it is done."""
    at, care = evidence.release.thresholds.primary, evidence.release.care
    every = list(_test(evidence))
    if binding.is_for_nobody(evidence.release) or (evidence.local_site and declared.ruled_out_here(evidence)):
        # What follows would read as a permission.
        every = ["Do not use it: its maker says so. The rest is for when its maker says otherwise.", *every]
    # Agree who owns the line, and what it costs.
    said = "" if care.threshold_owner else " The maker names nobody."
    cost = "wrong answers" if classes.labels(evidence) else "missed patients"
    if at is None:
        every.append(f"Set the line from which a patient is {acted_on(evidence)}, and agree who here owns it.")
    else:
        every.append(f"Agree who here owns the {line(at)}, and how many {cost} we accept.{said}")
    if percentages.off_as_a_whole(evidence):
        every.append(f"Do not show patients its percentages before they are corrected here.{_mended(evidence)}")
    every.append("Keep to what we do now: nobody has shown that the model can replace it.")
    # Name who watches it, and when it is switched off.
    said = 'Its rule: "When to stop".' if care.stop_rule or care.stop else "The maker gives no rule."
    if declared.broken_here(evidence):
        every.append("Leave it off where the maker's rule says so, ask why, and name who watches it.")
    else:
        every.append(f"Name who watches it, and when it is switched off. {said}")
    # What the flags ask for, the most pressing first; of our own hospital where it is named.
    here = {site.name for site in places.in_question(evidence)}
    known = {site.name for site in externals(evidence)}
    raised = {flag.flag for flag in evidence.flags if flag.dataset in here or flag.dataset not in known}
    if evidence.local_site is not None:
        # Groups that differ over all hospitals together: page 3 is then of our own.
        raised.discard("subgroup_differs")
    which = {"offered": evidence.release.release.version, "tested": names.tested_version(evidence)}
    asked = [text.format(**which) for kind, text in CHECKS.items() if kind in raised]
    return (*every, *asked[:MOST_CHECKS])[:MOST_STEPS]


LINE, ROOM, FULL = 80, 26, 40
"""The letters of a line of page 1, and the lines of its own and of smaller letters that leave the decision room."""


def fullness(evidence: Evidence) -> str:
    """How the first page is set that needs smaller letters for all that it says of several hospitals, as classes."""
    table, right = first_page.hospitals(evidence), percentages.are_right(evidence)
    said = (first_page.answer(evidence), first_page.what_it_is(evidence), right.lead, right.rest, table.note)
    letters = sum(map(len, (*said, *missed.who_is_missed(evidence), *steps(evidence))))
    lines = 0.0 if places.alone(evidence) else table.lines + letters / LINE
    return " full" * (lines > ROOM) + " fuller" * (lines > FULL)


def _mended(evidence: Evidence) -> str:
    """Where a correction of wrong percentages was tried: where it put them right, where not, or nobody can tell."""
    wrong = {each.site.name for each in percentages.off_as_a_whole(evidence)}
    every = (claim for claim in claims.about(evidence, "updating", "hospital") if claim.dataset in wrong)
    stands = gathered((str(claim.state), summary_of(evidence, claim.dataset).site) for claim in every)
    tried = [(says, stands[state]) for state, says in MENDED.items() if state in stands]
    return f" {sentence_case('; '.join(f'in {few_named(sites)} {says}' for says, sites in tried))}." if tried else ""


MENDED: dict[str, str] = entries("pages")["mended"]
"""What is said of a correction that was tried where percentages are wrong."""


def _test(evidence: Evidence) -> Iterator[str]:
    """Test it on our own past patients, on how many, and against which goals."""
    ours = places.local(evidence)
    goal = "" if any(places.goals_at(evidence, site) for site in externals(evidence)) else " Set our own goals first."
    if ours is None:
        several = bool(classes.labels(evidence))
        who = f"{FEW} of each class" if several else f"{FEW} {with_it(evidence)} and {FEW} without"
        start = (
            "If that hospital is not ours" if len(externals(evidence)) == 1 else "If ours is not one of these hospitals"
        )
        needed = sentence.to_show_calibration(evidence, externals(evidence), elsewhere=True)
        sure = f", or {needed} to be sure of its percentages" if needed else ""
        yield f"{start}, test it on our own past patients: at least {who}{sure}.{goal}"
        return
    needed = sentence.to_show_calibration(evidence, [ours])
    if needed:
        sure = f"to be sure of its percentages it takes {needed}"
        yield f"Test more of our own patients: {ours.n:,} were tested; {sure}.{goal}"
    elif goal:
        yield goal.strip()
