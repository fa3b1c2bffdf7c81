"""What the run itself holds against its results, and what the author answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dossier.core import claims, facts, types
from dossier.report.chapters.chapter import chapter
from dossier.report.chapters.sentence import Sentence, scarce, worst_named
from dossier.typeset.flags import DATASETS, brief, consequence, flag_text, topic
from dossier.typeset.reasons import known_names
from dossier.typeset.words import counted, in_words, listing, sentence_case


@dataclass(frozen=True)
class Raised:
    """Flags of one kind: what each says, what follows, and what is answered; an answer to all of them is said once."""

    kind: str
    topic: str
    briefly: tuple[str, ...]
    """The sites and numbers that it is raised for, in a few words each; empty where it is about no site."""
    consequence: str
    """What it means for who uses the results; empty where each flag says so itself."""
    said: tuple[tuple[str, str | None], ...]
    answered_at_once: str | None
    open_briefly: tuple[str, ...] = ()
    """Of these the sites and numbers that no answer was given to."""

    @property
    def is_alike(self) -> bool:
        """Whether one answer holds for all of them, or none is answered."""
        return self.answered_at_once is not None or not any(reply for _, reply in self.said)


def finding(evidence: types.Evidence) -> Sentence:
    """How many limitations were raised by the run, and how many are answered."""
    flags = evidence.flags
    if not flags:
        return Sentence("No automated finding.")
    open_flags = sum(flag.reply is None for flag in flags)
    kinds = len({flag.flag for flag in flags})
    of = f" of {counted(kinds, 'kind')}" if kinds < len(flags) else ""
    lead = f"{sentence_case(counted(len(flags), 'automated finding'))}{of}."
    if not evidence.checklist:
        return Sentence(
            lead, "A quick look holds no answers, and is not asked for what a release says: dates, and why a threshold."
        )
    if not open_flags:
        return Sentence(lead, "The author has answered each.")
    if open_flags == len(flags):
        return Sentence(lead, "They are not answered." if len(flags) > 1 else "It is not answered.")
    return Sentence(lead, f"{sentence_case(in_words(open_flags))} {'is' if open_flags == 1 else 'are'} not answered.")


def raised(evidence: types.Evidence) -> list[Raised]:
    """The flags kind by kind, in the order in which they were raised."""
    return [_kind(evidence, kind) for kind in dict.fromkeys(flag.flag for flag in evidence.flags)]


def _kind(evidence: types.Evidence, kind: str) -> Raised:
    flags = _worst_first(evidence, [flag for flag in evidence.flags if flag.flag == kind])
    briefly, follows = _briefly(evidence, flags), consequence(kind)
    replies = {flag.reply for flag in flags}
    at_once = flags[0].reply if len(replies) == 1 else None
    said = tuple(
        (text, None if at_once is not None else cause[0].reply)
        for cause in _by_cause(flags)
        for text in _texts(evidence, cause)
    )
    is_quick, left_out = not evidence.checklist, evidence.release.report.leave_out
    if len(replies) == 1 and kind == "subgroup_differs" and not is_quick and "subgroups" not in left_out:
        said = ((f"{sentence_case(listing(briefly))}: see the chapter on subgroups.", None),)
    without = _briefly(evidence, [flag for flag in flags if flag.reply is None])
    return Raised(kind, topic(kind), briefly, follows, said, at_once, without)


def _worst_first(evidence: types.Evidence, flags: Sequence[types.Flag]) -> list[types.Flag]:
    """The flags of a kind: those of the fewest patients first, those of the risks that are farthest off."""
    fewest = {site.name: min(scarce(site, site.n + 1).values(), default=site.n) for site in types.externals(evidence)}
    order = claims.by_harm(evidence)

    def rank(flag: types.Flag) -> int:
        if flag.flag in OF_FEW:
            return fewest.get(flag.dataset, 0)
        of_class, by = flag.fact.get("of_class"), flag.fact.get("horizon")
        at = of_class["label"] if isinstance(of_class, facts.Fact) else by
        return order[(flag.dataset, at) if at else (flag.dataset,)] if flag.flag in OFF else 0

    return sorted(flags, key=rank)


def _by_cause(flags: Sequence[types.Flag]) -> list[list[types.Flag]]:
    """Together the flags that differ in nothing but the site and its numbers: what they say, and what is answered."""
    causes: dict[object, list[types.Flag]] = {}
    for flag in flags:
        values = tuple(
            (name, value.code if isinstance(value, facts.Fact) else value)
            for name, value in flag.fact.values
            if name not in OF_A_SITE and isinstance(value, (str, bool, facts.Fact))
        )
        predictor = flag.columns if len(flag.columns) == 1 else ()
        causes.setdefault((flag.fact.code, values, predictor, flag.reply), []).append(flag)
    return list(causes.values())


def _texts(evidence: types.Evidence, cause: Sequence[types.Flag]) -> list[str]:
    """What flags of one cause say: each in full while they are few, else where it is so, and the first in full."""
    texts = [sentence_case(flag_text(flag.fact, known_names(evidence))) for flag in cause[:MOST_IN_FULL]]
    if len(cause) <= MOST_IN_FULL:
        return texts
    sites, where = len(types.externals(evidence)), len({flag.dataset for flag in cause})
    at = "At every site" if where == sites else f"At {in_words(where)} of {in_words(sites)} sites"
    at = "Over all sites" if all(flag.dataset == types.POOLED for flag in cause) else at
    return [f"{at}: {worst_named(evidence, _briefly(evidence, cause))}. The first: {texts[0]}"]


MOST_IN_FULL = 3
"""Flags of one cause that are said in full."""


def _briefly(evidence: types.Evidence, flags: Sequence[types.Flag]) -> tuple[str, ...]:
    names, sites = known_names(evidence), {site.name: site.site for site in types.externals(evidence)}
    texts = [brief(flag.fact, names) or sites.get(flag.dataset, "") for flag in flags]
    return tuple(dict.fromkeys(text for text in texts if text))


OF_A_SITE = DATASETS | {"site", "file"}
"""The values of a flag that say of which site it is."""
OF_FEW = {"few_events", "few_in_subgroup", "precision_missed"}
"""Flags of few patients: the site with the fewest is named first."""
OFF = {"risks_off", "slope_off"}
"""Flags of ratios that should be 1: the farthest off is named first."""


def answers(evidence: types.Evidence) -> tuple[str, bool]:
    """How many flags wait for an answer, for the cover, and whether none does."""
    count = sum(flag.reply is None for flag in evidence.flags)
    return (f"{count} open" if count else "all answered" if evidence.flags else "none", not count)


CHAPTER = chapter("limitations", finding)
