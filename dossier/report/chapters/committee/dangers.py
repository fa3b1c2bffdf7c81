"""What could go wrong: the limitations that the run found, in plain words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dossier.core import over_time
from dossier.core.types import CountRange, Estimate, Evidence, Flag, Withheld, externals, find, summary_of
from dossier.report.chapters import classes
from dossier.report.chapters.committee.better import better_defaults
from dossier.report.chapters.committee.percentages import SLOPES, as_a_whole, crossing, slope_off
from dossier.report.chapters.committee.plain import LINE, abridged, as_sentence, doing, few_named, line, risk_of
from dossier.typeset.words import in_words, listing, sentence_case


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
PLAIN = {
    "wrong_order": "those who had the outcome got lower percentages than those who did not.",
    "never_wrong": "the model is never wrong. That is too good to be true: it may have known the outcome.",
    "no_event": "nobody had the outcome, though many should have: perhaps it was not recorded.",
    "risks_off": "its percentages are wrong for the patients as a whole.",
    "default_better": "doing the same for everyone would be better.",
    "flagged_alike": "at a line that was set it marks everyone, or no one: it tells nobody apart there.",
    "changed_since_sealed": "what was to be met was changed after it had been laid down.",
    "stop_rule_crossed": "the maker's rule to switch it off was broken.",
    "subgroup_differs": "it does better, or worse, for some groups of patients: see above.",
    "shared_rows": "some patients had been used to make the model: the test is too kind.",
    "same_table": "the same patients were counted as two hospitals.",
    "version_differs": "another version was tested, not this one.",
    "model_differs": "the formula of the model gives other percentages than those that were tested.",
    "other_units": "something that the model needs is measured in another way.",
    "other_categories": "some facts about the patients are written in other words.",
    "code_for_missing": "some facts that were not known may have been counted as known.",
    "missing_predictor": "something that the model needs was never recorded, or has another name.",
    "looks_like_classes": "the model gave no percentages: all are 0% or 100%.",
    "fitted_on_these_rows": "its percentages seem to have been fitted to these very patients: the test is too kind.",
    "repeated_patients": "some patients may have been counted several times.",
    "near_copies": "some patients may have been counted several times.",
    "hidden_rows": "rows that are hidden in the table were counted, too.",
    "totals_row": "a row of totals may have been counted as a patient.",
    "risks_rounded": "some percentages were off by a rounding, and were put right.",
    "read_as_missing": "some facts were read as not known.",
    "encoding_guessed": "some letters of the table may have been misread.",
    "one_class": "all patients had the outcome, or none had.",
    "constant_risk": "all patients got the same percentage.",
    "certain_risks": "the model is certain of some patients: it gave them exactly 0% or 100%.",
    "slope_off": "high and low percentages lie too far apart for some classes, too close for others.",
    "prevalence_shift": "the outcome is more, or less, common than where the model was made.",
    "case_mix_shift": "the patients differ from those it was made with.",
    "rows_selected": "the maker chose which of the patients to count.",
    "rows_excluded": "patients are missing from the test.",
    "missing_values": "some facts that the model needs are often not known.",
    "imputed": "facts that were not known were filled in by a computer.",
    "constant_predictor": "something that the model needs is the same for all patients.",
    "few_clusters": "the patients come from fewer than ten doctors or wards: this could be coincidence.",
    "few_events": "too few patients for sure numbers.",
    "few_in_subgroup": "too few patients of one group to say much of them.",
    "precision_missed": "too few patients for sure numbers.",
    "heterogeneity": "the hospitals truly differ from each other.",
    "wide_prediction_interval": "what a new hospital may expect is hard to say.",
    "dataset_withheld": "one hospital had too few patients to show.",
    "declared_withheld": "a result of the maker's own is not shown, to protect patients.",
    "previous_withheld": "it is not compared with the version before, to protect patients.",
    "few_sites": "so few hospitals were tested that nothing can be said of a new one.",
    "duplicate_rows": "some patients may have been counted twice.",
    "class_missing": "one of the classes had no patients.",
    "empty_subgroup": "one of the groups had no patients.",
    "in_no_subgroup": "some patients belong to none of the groups.",
    "rater_accuracy_assumed": "how often those who judged the cases are right is not known.",
    "same_as_rival": "the other model gave every patient the same percentage: nothing was compared.",
    "rival_incomplete": "the other model gave no percentage for some patients.",
    "no_threshold": "no line is set from which somebody should act.",
    "number_not_found": "a number in the words of its maker is not one that was found here.",
    "threshold_without_reason": "nobody says why the line is where it is.",
    "stop_rule_not_evaluable": "nobody can tell whether the maker's rule to switch it off was broken.",
    "severity_without_source": "nobody says who decided how bad each mistake is.",
    "dates_missing": "the maker does not say when the patients came.",
    "criterion_not_dated": "the maker does not say when a goal was set.",
    "criterion_dated_late": "a goal was set when all patients had come: it counts for nothing.",
    "criterion_not_estimable": "whether a goal is met cannot be known.",
    "answer_without_flag": "an answer was given to a doubt that was not raised.",
}
"""What a limitation means, for who knows no statistics; the most telling come first."""


def could_go_wrong(evidence: Evidence) -> tuple[Danger, ...]:
    """The limitations that the run found, each kind once with its hospitals and the answer; those of ours first."""
    return tuple(_danger(evidence, kind, None) for kind in _kinds(evidence)[:MOST_DANGERS])


def wrong_here(evidence: Evidence) -> tuple[Danger, ...]:
    """The most telling limitations of our own hospital, for the first page."""
    ours = evidence.local_site
    kinds = [kind for kind in _kinds(evidence) if any(_means(f, kind) and f.dataset == ours for f in evidence.flags)]
    return tuple(_danger(evidence, kind, ours) for kind in kinds[:MOST_FLAGS])


def further_dangers(evidence: Evidence) -> str:
    """How many kinds of limitations stand in the full report alone."""
    every = {PLAIN[flag.flag] for flag in evidence.flags}
    more = len(every) - min(len(_kinds(evidence)), MOST_DANGERS)
    return f"{sentence_case(in_words(more))} more: full report, under Limitations." if more > 0 else ""


def _kinds(evidence: Evidence) -> list[str]:
    """What was found, the most telling first; what concerns our site before the rest."""
    telling = _of_the_model(evidence)
    # Two kinds that mean the same are reported once.
    kinds = list({PLAIN[kind]: kind for kind in PLAIN if any(flag.flag == kind for flag in telling)}.values())
    ours = evidence.local_site
    here = [kind for kind in kinds if any(_means(flag, kind) and flag.dataset == ours for flag in telling)]
    return [*here, *(kind for kind in kinds if kind not in here)]


def _means(flag: Flag, kind: str) -> bool:
    return PLAIN[flag.flag] == PLAIN[kind]


def _of_the_model(evidence: Evidence) -> list[Flag]:
    """The limitations without those of columns that the declared formula does not use: nobody is asked for them."""
    formula = evidence.release.model
    used = set() if formula is None else set(formula.predictors)
    return [flag for flag in evidence.flags if not used or not flag.columns or used & set(flag.columns)]


def _danger(evidence: Evidence, kind: str, only: str | None) -> Danger:
    """A limitation with its hospitals, or of the only one that is asked for."""
    flags = [flag for flag in _of_the_model(evidence) if _means(flag, kind) and only in (None, flag.dataset)]
    known = {site.name: site.site for site in externals(evidence)}
    told_at: dict[str, list[str]] = {}
    for name, site in known.items():
        if any(flag.dataset == name for flag in flags):
            told_at.setdefault(_plain(evidence, kind, name), []).append(site)
    where = {plain: [] if only else sites for plain, sites in told_at.items()} or {PLAIN[kind]: []}
    text = " ".join(_at(sites, plain, len(known)) for plain, sites in where.items())
    replies = list(dict.fromkeys(flag.reply for flag in flags if flag.reply is not None))
    missing = list(dict.fromkeys(known.get(flag.dataset, "all hospitals") for flag in flags if flag.reply is None))
    if not replies:
        return Danger(text, "", "Not answered.")
    left = f"Not answered for {few_named(missing)}." if missing else ""
    if all(reply.strip(" .").lower() in AGREED for reply in replies):
        return Danger(text, "The maker agrees; no action given.", left)
    return Danger(text, f"The maker answers: {as_sentence(abridged(' '.join(replies), LINE))}", left)


def _at(where: Sequence[str], plain: str, among: int) -> str:
    """A limitation with the hospitals that have it."""
    at = f"{few_named(where)}: " if where and len(where) < among else "Every hospital: " if len(where) > 1 else ""
    return sentence_case(f"{at}{plain}")


def _plain(evidence: Evidence, kind: str, name: str) -> str:
    """What a limitation of a place means, with its direction where it has one there."""
    if kind == "slope_off":
        asked: list[dict[str, str]] = [{"class": label} for label in classes.labels(evidence)] or [{}]
        found = [find(evidence, "calibration_slope", name, **at) for at in asked]
        slopes = [estimate for estimate in found if isinstance(estimate, Estimate)]
        ways = [slope_off(slope) for slope in slopes]
        below, above = any(way[0] for way in ways), any(way[1] for way in ways)
        site = summary_of(evidence, name)
        turn = crossing(evidence, site) if evidence.local_site == name and asked == [{}] else None
        if turn is not None and below != above:
            first, then = ("low", "high") if below else ("high", "low")
            return f"percentages are too {first} up to about {risk_of(round(turn, 2))}, too {then} above."
        whole = as_a_whole(evidence, site)
        if whole.way and asked == [{}] and any(whole.slope):
            return f"on the whole its percentages are {whole.way}, {whole.farthest}."
        return f"{SLOPES[below, above]}." if below != above else PLAIN[kind]
    if kind == "risks_off" and (way := as_a_whole(evidence, summary_of(evidence, name)).way):
        return f"its percentages are {way} for the patients as a whole."
    if kind == "stop_rule_not_evaluable" and any(verdict.is_withheld for verdict in over_time.of_evidence(evidence)):
        return "whether the maker's rule to switch it off was broken is kept back."
    if kind == "rows_excluded" and all(map(_may_be_none, summary_of(evidence, name).excluded.values())):
        return "patients may be missing from the test: how many is kept back."
    if kind == "default_better":
        return _same_for_all(evidence, name) or PLAIN[kind]
    if kind == "prevalence_shift":
        origin = next(
            (dataset for dataset in evidence.datasets if dataset.role == "development" and dataset.events), None
        )
        site = summary_of(evidence, name)
        if origin is not None and origin.events and site.events:
            more = site.events / site.n > origin.events / origin.n
            return f"the outcome is {'more' if more else 'less'} common than where the model was made."
    return PLAIN[kind]


def _same_for_all(evidence: Evidence, name: str) -> str:
    """What would be better at a hospital, and at which lines; empty where that is everyone and no one."""
    better = better_defaults(evidence, name)
    if len(better) != 1:
        return ""
    ((whom, lines),) = better.items()
    return f"{doing(evidence, whom)} would be better at the {listing([line(at) for at in dict.fromkeys(lines)])}."


def _may_be_none(count: int | Withheld) -> bool:
    """Whether a count that is protected, or is 0, may be of nobody."""
    return (count.low if isinstance(count, CountRange) else count) == 0
