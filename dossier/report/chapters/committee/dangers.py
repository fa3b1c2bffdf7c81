"""What could go wrong: the limitations that the run found, in plain words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from dossier.core import binding, claims, multiplicity, over_time, types
from dossier.core.facts import gathered
from dossier.core.multiplicity import DEFAULTS
from dossier.report.chapters import classes
from dossier.report.chapters.committee import plain
from dossier.report.chapters.committee.better import better_defaults
from dossier.report.chapters.committee.percentages import SLOPES, as_a_whole, crossing
from dossier.report.chapters.committee.places import tells_apart
from dossier.report.chapters.sentence import phrase
from dossier.typeset.names import by_when
from dossier.typeset.numbers import TIED
from dossier.typeset.words import in_words, listing, sentence_case
from dossier.words import entries


@dataclass(frozen=True)
class Danger:
    """A limitation in plain words, and what the owner answers."""

    text: str
    reply: str
    open: str
    """What is not answered, or nothing."""


AGREED = ("confirmed", "agreed", "yes")
"""Answers that agree and say no more."""
MOST_FLAGS = 2
"""Limitations on the first page, where it is of one hospital."""
MOST_DANGERS = 4
"""Limitations on the third page; the full report holds them all."""
OF_FEW = "few_events"
"""It is told on that page whatever else is: nothing else there says which hospitals are too small to tell."""
PLAIN: dict[str, str] = entries("pages")["dangers"]
"""What a limitation means, for who knows no statistics; the most telling come first."""


def could_go_wrong(evidence: types.Evidence) -> tuple[Danger, ...]:
    """The limitations that the run found, each kind once with its hospitals and the answer; those of ours first."""
    return tuple(_danger(evidence, kind, None) for kind in _told(evidence))


def _told(evidence: types.Evidence) -> list[str]:
    kinds = _kinds(evidence)
    return [*kinds[:MOST_DANGERS], *(kind for kind in kinds[MOST_DANGERS:] if PLAIN[kind] == PLAIN[OF_FEW])]


def wrong_here(evidence: types.Evidence) -> tuple[Danger, ...]:
    """The most telling limitations of our own hospital, for the first page."""
    ours = evidence.local_site
    kinds = [kind for kind in _kinds(evidence) if any(_means(f, kind) and f.dataset == ours for f in evidence.flags)]
    return tuple(_danger(evidence, kind, ours) for kind in kinds[:MOST_FLAGS])


def further_dangers(evidence: types.Evidence) -> str:
    """How many kinds of limitations the full report lists, where not all of them are told here."""
    every, told = {flag.flag for flag in evidence.flags}, _told(evidence)
    is_all = {PLAIN[kind] for kind in every} == {PLAIN[kind] for kind in told}
    return "" if is_all else f"All {in_words(len(every))}: full report, under Limitations."


def _kinds(evidence: types.Evidence) -> list[str]:
    """What was found, the most telling first; what concerns our site before the rest."""
    telling = _of_the_model(evidence)
    # Two kinds that mean the same are reported once.
    kinds = list({PLAIN[kind]: kind for kind in PLAIN if any(flag.flag == kind for flag in telling)}.values())
    ours = evidence.local_site
    here = [kind for kind in kinds if any(_means(flag, kind) and flag.dataset == ours for flag in telling)]
    return [*here, *(kind for kind in kinds if kind not in here)]


def _means(flag: types.Flag, kind: str) -> bool:
    return PLAIN[flag.flag] == PLAIN[kind]


def _of_the_model(evidence: types.Evidence) -> list[types.Flag]:
    """The limitations without those of columns that the declared formula does not use: nobody is asked for them."""
    formula = evidence.release.model
    used = set() if formula is None else set(formula.predictors)
    return [flag for flag in evidence.flags if not used or not flag.columns or used & set(flag.columns)]


def _danger(evidence: types.Evidence, kind: str, only: str | None) -> Danger:
    """A limitation with its hospitals, or of the only one that is asked for."""
    flags = [flag for flag in _of_the_model(evidence) if _means(flag, kind) and only in (None, flag.dataset)]
    known = {site.name: site.site for site in types.externals(evidence)}
    told_at: dict[str, list[str]] = {}
    for name, site in known.items():
        if any(flag.dataset == name for flag in flags):
            # What it means, with its direction where it has one there.
            means = (kind in IN_PLACE and IN_PLACE[kind](evidence, name)) or PLAIN[kind]
            told_at.setdefault(means, []).append(site)
    where = {means: [] if only else sites for means, sites in told_at.items()} or {PLAIN[kind]: []}
    text = " ".join(_at(sites, means, len(known)) for means, sites in where.items())
    if kind == OF_FEW:
        text += _not_known(evidence, list(dict.fromkeys(flag.dataset for flag in flags)))
    # Kinds that mean the same may be answered apart: each answer stands beside the hospitals that it was given for.
    replies: dict[str, list[str]] = {}
    missing: list[str] = []
    for flag in flags:
        sites = missing if flag.reply is None else replies.setdefault(flag.reply, [])
        sites.append(known.get(flag.dataset, "all hospitals"))
    if not replies:
        return Danger(text, "", "The maker has not answered.")
    answered = {site for sites in replies.values() for site in sites}
    what = " all of it" if answered & {*missing} else ""
    left = f"The maker has not answered{what} for {plain.few_named(list(dict.fromkeys(missing)))}." if missing else ""
    if all(reply.strip(" .").lower() in AGREED for reply in replies):
        return Danger(text, "The maker agrees; no action given.", left)
    answers = " ".join(
        reply if answered <= {*sites, *missing} else f"{plain.few_named(list(dict.fromkeys(sites)))}: {reply}"
        for reply, sites in replies.items()
    )
    return Danger(text, f"The maker answers: {plain.as_sentence(plain.abridged(answers, plain.LINE))}", left)


def _at(where: Sequence[str], means: str, among: int) -> str:
    """A limitation with the hospitals that have it."""
    every = f"Every{TIED}hospital: " if len(where) > 1 else ""
    at = f"{plain.few_named(where)}: " if where and len(where) < among else every
    return sentence_case(f"{at}{means}")


def _of_slope(evidence: types.Evidence, name: str) -> str:
    site, off = types.summary_of(evidence, name), _misfits(evidence, name)
    ways = gathered((each.spread, at) for at, each in off if each.spread in SLOPES)
    turn = crossing(evidence, site) if evidence.local_site == name and len(off) == 1 else None
    if turn is not None and len(ways) == 1:
        first, then = ("low", "high") if "below 1" in ways else ("high", "low")
        return f"percentages are too {first} up to about {plain.risk_of(round(turn, 2))}, too {then} above."
    whole = as_a_whole(evidence, site)
    if whole.way and len(off) == 1 and ways:
        return f"on the whole its percentages are {whole.way}, {whole.farthest}."
    return "".join(f"{SLOPES[way]}{_when(evidence, each)}." for way, each in ways.items()) if len(ways) == 1 else ""


def _misfits(evidence: types.Evidence, name: str) -> list[tuple[types.At, multiplicity.Misfit]]:
    """How the percentages of a hospital are off, for each class or by each horizon."""
    return [(at, multiplicity.misfit(evidence, name, **at)) for at in evidence.release.each_outcome]


def _when(evidence: types.Evidence, places: Sequence[types.At]) -> str:
    """By which further horizons something is so, and whether by the first too."""
    when = [by_when(evidence, at, "") for at in places if "horizon" in at]
    return f"{', also' if len(when) < len(places) else ''} {listing(when)}" if when else ""


def _of_turn(evidence: types.Evidence, name: str) -> str:
    turn = multiplicity.misfit(evidence, name).turn
    return f"its percentages were {turn.how}." if turn else ""


def _of_risks(evidence: types.Evidence, name: str) -> str:
    off = _misfits(evidence, name)
    if classes.labels(evidence):
        wrong = [str(at["class"]) for at, each in off if each.level]
        return f"its percentages are wrong for {listing(wrong)}." if wrong else ""
    ways = gathered((each.level, at) for at, each in off if each.level and not each.is_reversed)
    said = [f"{level} for the patients as a whole{_when(evidence, each)}" for level, each in ways.items()]
    return f"its percentages are {'; '.join(said)}." if said else ""


def _of_stop_rule(evidence: types.Evidence, name: str) -> str:
    harmed = name in {site.name for site in binding.harmed(evidence)}
    return f"{PLAIN['stop_rule_crossed']} {plain.then_the_same(evidence)}." if harmed else ""


def _of_unseen_stop_rule(evidence: types.Evidence, name: str) -> str:
    is_withheld = any(verdict.withheld for verdict in over_time.of_evidence(evidence))
    return "whether it must be off by the maker's rule is kept back." if is_withheld else ""


def _of_rows(evidence: types.Evidence, name: str) -> str:
    excluded = types.summary_of(evidence, name).excluded.values()
    # A count that is protected, or is 0, may be of nobody.
    if any(isinstance(count, types.CountRange) for count in excluded):
        unknown = all((count.low if isinstance(count, types.CountRange) else count) == 0 for count in excluded)
        return "patients may be missing from the test: how many is kept back." if unknown else ""
    left, site = sum(count for count in excluded if isinstance(count, int)), types.summary_of(evidence, name)
    return f"{left:,} of {left + site.n:,} patients are missing from the test." if left else ""


def _of_prevalence(evidence: types.Evidence, name: str) -> str:
    origin = next((dataset for dataset in evidence.datasets if dataset.role == "development" and dataset.events), None)
    site = types.summary_of(evidence, name)
    if origin is None or origin.prevalence is None or site.prevalence is None:
        return ""
    more = "more" if site.prevalence > origin.prevalence else "less"
    return f"the outcome is {more} common than where the model was made."


def _same_for_all(evidence: types.Evidence, name: str) -> str:
    """What would be better at a hospital, and at which lines."""
    parts = [
        f"{plain.doing(evidence, whom)} would be better at the {listing([*dict.fromkeys(map(plain.line, lines))])}"
        for whom, lines in better_defaults(evidence, name).items()
    ]
    return f"{'; '.join(parts)}." if parts else ""


def _not_known(evidence: types.Evidence, sites: Sequence[str]) -> str:
    """What is not known at hospitals of few patients: what is neither shown nor shown not to hold there."""
    said = {"apart": tells_apart(evidence), "same": plain.doing(evidence, DEFAULTS[None])}
    parts = []
    for question in entries("pages")["unknown_where_few"]:
        # A goal may ask for more than the question does: one that is open leaves what is known.
        asks = (claim for claim in claims.about(evidence, question) if claims.is_primary(evidence, claim))
        every = [claim for claim in asks if claim.limit_source == "default" or claim.state == "against"]
        here = [where for name in sites if (where := _where_open(evidence, name, every))]
        if here:
            those = in_words(len(here)) if len(sites) > plain.MOST_NAMED else plain.few_named(here)
            where = "" if [evidence.local_site] == [*sites] else f" in {those}"
            parts.append(f"{phrase('unknown_where_few', question, **said)}{where}")
    return f" Nobody can tell yet {'; '.join(parts)}." if parts else ""


def _where_open(evidence: types.Evidence, name: str, every: Sequence[claims.Claim]) -> str:
    """The hospital where nothing is shown, with the classes for which that is so where it is known of others."""
    here = [claim for claim in every if claim.dataset == name]
    stands = {
        types.class_of(claim.at): claims.standing(evidence, claim) for claim in reversed(claims.worst_first(here))
    }
    unknown = [str(label) for label, state in stands.items() if state not in ("shown", "against")]
    site = types.summary_of(evidence, name).site
    if len(unknown) == len(stands):
        return site
    return f"{site} for {listing(sorted(unknown))}" if unknown and "against" not in stands.values() else ""


IN_PLACE: Mapping[str, Callable[[types.Evidence, str], str]] = {
    "slope_off": _of_slope,
    "calibration_drift": _of_turn,
    "risks_off": _of_risks,
    "stop_rule_crossed": _of_stop_rule,
    "stop_rule_not_evaluable": _of_unseen_stop_rule,
    "rows_excluded": _of_rows,
    "default_better": _same_for_all,
    "prevalence_shift": _of_prevalence,
}
"""What says more of a limitation where its place is known; empty where there is no more to say."""
