"""What the run itself holds against its results, and what the author answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dossier.core.flags import FLAGS
from dossier.core.types import Evidence, Flag, externals
from dossier.report.chapters.chapter import Chapter
from dossier.report.chapters.sentence import Sentence, scarce
from dossier.typeset.flags import CONSEQUENCES, brief, flag_text
from dossier.typeset.reasons import known_names
from dossier.typeset.words import counted, in_words, listing, sentence_case


@dataclass(frozen=True)
class Raised:
    """Flags of one kind: what each says, what follows, and what is answered; an answer to all of them is said once."""

    topic: str
    briefly: tuple[str, ...]
    """The sites and numbers that it is raised for, in a few words each; empty where it is about no site."""
    consequence: str
    """What it means for who uses the results; empty where each flag says so itself."""
    said: tuple[tuple[str, str | None], ...]
    answered_at_once: str | None

    @property
    def is_alike(self) -> bool:
        """Whether one answer holds for all of them, or none is answered."""
        return self.answered_at_once is not None or not any(reply for _, reply in self.said)


def finding(evidence: Evidence) -> Sentence:
    """How many limitations were raised by the run, and how many are answered."""
    flags = evidence.flags
    if not flags:
        return Sentence("No automated finding.")
    open_flags = sum(flag.reply is None for flag in flags)
    lead = f"{sentence_case(counted(len(flags), 'automated finding'))}."
    if not evidence.checklist:
        return Sentence(lead, "A quick look holds no answers.")
    if not open_flags:
        return Sentence(lead, "The author has answered each.")
    if open_flags == len(flags):
        return Sentence(lead, "They are not answered." if len(flags) > 1 else "It is not answered.")
    return Sentence(lead, f"{sentence_case(in_words(open_flags))} {'is' if open_flags == 1 else 'are'} not answered.")


def raised(evidence: Evidence) -> list[Raised]:
    """The flags kind by kind, in the order in which they were raised."""
    kinds = list(dict.fromkeys(flag.flag for flag in evidence.flags))
    return [_kind(evidence, kind) for kind in kinds]


def _kind(evidence: Evidence, kind: str) -> Raised:
    flags = [flag for flag in evidence.flags if flag.flag == kind]
    briefly, follows = _briefly(evidence, flags), CONSEQUENCES.get(kind, "")
    replies = {flag.reply for flag in flags}
    at_once = flags[0].reply if len(replies) == 1 else None
    said = tuple(
        (sentence_case(flag_text(flag.fact, known_names(evidence))), None if at_once is not None else flag.reply)
        for flag in flags
    )
    if len(replies) == 1 and kind == TOO_FEW and len(flags) > 1 and _has_chapter(evidence, "sample"):
        said = ((_in_the_table(evidence, flags), None),)
    if len(replies) == 1 and kind == DIFFERS and _has_chapter(evidence, "subgroups"):
        said = ((f"{sentence_case(listing(briefly))}: see the chapter on subgroups.", None),)
    return Raised(FLAGS[kind], briefly, follows, said, at_once)


def _briefly(evidence: Evidence, flags: Sequence[Flag]) -> tuple[str, ...]:
    names, sites = known_names(evidence), {site.name: site.site for site in externals(evidence)}
    if {flag.flag for flag in flags} <= OF_FEW:
        fewest = {site.name: min(scarce(site, site.n + 1).values(), default=site.n) for site in externals(evidence)}
        flags = sorted(flags, key=lambda flag: fewest.get(flag.dataset, 0))
    texts = [brief(flag.fact, names) or sites.get(flag.dataset, "") for flag in flags]
    return tuple(dict.fromkeys(text for text in texts if text))


OF_FEW = {"few_events", "few_in_subgroup", "precision_missed"}
"""Flags of few patients: the site with the fewest is named first."""
TOO_FEW = "precision_missed"
"""The flag of a site that has fewer patients than the declared widths ask for: the chapter on sample size has each
number."""


DIFFERS = "subgroup_differs"
"""The flag of a group for which the model does otherwise: the chapter on subgroups has each number."""


def _has_chapter(evidence: Evidence, chapter: str) -> bool:
    """Whether the chapter that says the same with every number is in this dossier."""
    return bool(evidence.checklist) and chapter not in evidence.release.report.leave_out


def _in_the_table(evidence: Evidence, flags: Sequence[Flag]) -> str:
    """Which sites have too few patients; by how many, the table says."""
    sites = [site.site for site in externals(evidence) if any(flag.dataset == site.name for flag in flags)]
    return f"{listing(sites)} have fewer patients than precise intervals need: see the table of the sample sizes."


def answers(evidence: Evidence) -> tuple[str, bool]:
    """How many flags wait for an answer, for the cover, and whether none does."""
    count = sum(flag.reply is None for flag in evidence.flags)
    return (f"{count} open" if count else "all answered" if evidence.flags else "none", not count)


CHAPTER = Chapter("limitations", "Limitations", finding, editions=("regulatory", "quick"))
