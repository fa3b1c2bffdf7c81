"""What could go wrong: the limitations that the run found, in plain words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dossier.findings import classes
from dossier.findings.committee.places import places
from dossier.findings.committee.plain import LINE, abridged, few_named
from dossier.types import Estimate, Evidence, Flag, find, summary_of
from dossier.typeset.words import in_words, sentence_case


@dataclass(frozen=True)
class Danger:
    """A limitation in plain words, and what the owner answers."""

    text: str
    reply: str
    open: str
    """What is not answered, or nothing."""
    elsewhere: str = ""
    """Where an answer stands that is too long for this page."""


MOST_FLAGS = 2
"""Limitations on the first page."""
MOST_DANGERS = 4
"""Limitations on the third page; the dossier holds them all."""
PLAIN = {
    "wrong_order": "the ranking is the wrong way: those with the outcome have risks below those without it.",
    "never_wrong": "the model is never wrong. That is too good to be true: it may have known the outcome.",
    "no_event": "nobody had the outcome, though the risks say that many would: perhaps it was not recorded.",
    "subgroup_differs": "the model does better, or worse, for some groups of patients, see page 3.",
    "risks_off": "the risks are off, see page 2.",
    "default_better": "to do the same for all did more good than to go by the model.",
    "shared_rows": "some patients had been used to make the model: the test is too kind.",
    "same_table": "the same patients were counted as two places.",
    "version_differs": "what was tested is not this very version.",
    "model_differs": "the formula of the model gives other risks than those that were tested.",
    "other_units": "something that the model asks for is measured in another way.",
    "other_categories": "some of the facts about the patients are written in other words.",
    "code_for_missing": "some facts that were not known may have been counted as known.",
    "missing_predictor": "something about the patients was never recorded, or is called something else.",
    "one_class": "all patients had the outcome, or none had.",
    "constant_risk": "all patients got the same risk.",
    "certain_risks": "the model is certain of some patients: it gave them a risk of exactly 0 or 100%.",
    "slope_off": "high and low risks lie too far apart for some classes, too close for others.",
    "prevalence_shift": "the outcome is more, or less, common than where it was made.",
    "case_mix_shift": "the patients differ from those it was made with.",
    "rows_selected": "the maker chose which of the patients to count.",
    "rows_excluded": "some patients could not be counted.",
    "missing_values": "some facts that the model asks for are often not known.",
    "imputed": "facts that were not known were filled in by a computer.",
    "constant_predictor": "something that the model asks for is the same for all patients.",
    "few_clusters": "the rows belong to fewer than ten patients, doctors or wards: chance may play a large part.",
    "few_events": "too few patients to say much.",
    "few_in_subgroup": "too few patients of one group to say much of them.",
    "precision_missed": "fewer patients than it takes to be sure of the numbers.",
    "heterogeneity": "the places differ by more than chance.",
    "wide_prediction_interval": "what a new place may expect is hard to say.",
    "dataset_withheld": "one place had too few patients to show.",
    "few_sites": "so few places were tested that nothing can be said of a new one.",
    "duplicate_rows": "some patients may have been counted twice.",
    "class_missing": "one of the classes had no patients.",
    "empty_subgroup": "one of the groups had no patients.",
    "in_no_subgroup": "some patients belong to none of the groups.",
    "sampled": "so many patients were counted that some facts were read of a part of them.",
    "rater_accuracy_assumed": "how often those who judged the cases are right is not known.",
    "rival_incomplete": "the other model gave no risk for some patients.",
    "no_threshold": "no threshold is set.",
    "threshold_without_reason": "nobody says why the threshold is what it is.",
    "dates_missing": "when the patients came is not said.",
    "changed_since_sealed": "what was to be met was changed after it had been laid down.",
    "criterion_not_dated": "when a goal was set is not said.",
    "criterion_not_estimable": "whether a goal is met cannot be known.",
    "answer_without_flag": "an answer was given to a doubt that was not raised.",
}
"""What a limitation means, for who knows no statistics; the most telling come first."""
SLOPES = {
    (True, False): "high risks are too high, low ones too low.",
    (False, True): "high risks are too low, low ones too high.",
}
"""The same of slopes, by whether one is below 1 and one above it: of several classes both may be."""


def could_go_wrong(evidence: Evidence, most: int = MOST_FLAGS) -> tuple[Danger, ...]:
    """The limitations that the run found, each kind once with its places and the answer; those of our site first."""
    return tuple(
        _danger(evidence, kind, LINE // 2 if most == MOST_FLAGS else 2 * LINE) for kind in _kinds(evidence)[:most]
    )


def further_dangers(evidence: Evidence) -> str:
    """How many kinds of limitations stand in the dossier alone."""
    every = {flag.flag for flag in evidence.flags}
    more = len(every) - min(len(_kinds(evidence)), MOST_DANGERS)
    return f"{sentence_case(in_words(more))} more in the dossier." if more > 0 else ""


def _kinds(evidence: Evidence) -> list[str]:
    """What was found, the most telling first; what concerns our site before the rest."""
    telling = _of_the_model(evidence)
    kinds = [kind for kind in PLAIN if any(flag.flag == kind for flag in telling)]
    ours = evidence.local_site
    here = [kind for kind in kinds if any((flag.flag, flag.dataset) == (kind, ours) for flag in telling)]
    return [*here, *(kind for kind in kinds if kind not in here)]


def _of_the_model(evidence: Evidence) -> list[Flag]:
    """The limitations without those of columns that the declared formula does not use: nobody is asked for them."""
    formula = evidence.release.model
    used = set() if formula is None else set(formula.predictors)
    return [flag for flag in evidence.flags if not used or not flag.columns or used & set(flag.columns)]


def _danger(evidence: Evidence, kind: str, room: int) -> Danger:
    flags = [flag for flag in _of_the_model(evidence) if flag.flag == kind]
    known = {site.name: site.site for site in places(evidence)}
    told_at: dict[str, list[str]] = {}
    for name, site in known.items():
        if any(flag.dataset == name for flag in flags):
            told_at.setdefault(_plain(evidence, kind, name), []).append(site)
    text = " ".join(_at(where, plain, len(known)) for plain, where in (told_at or {PLAIN[kind]: []}).items())
    replies = list(dict.fromkeys(flag.reply for flag in flags if flag.reply is not None))
    missing = list(dict.fromkeys(known.get(flag.dataset, "all places") for flag in flags if flag.reply is None))
    if not replies:
        return Danger(text, "", "Not answered.")
    left = f"Not answered for {few_named(missing)}." if missing else ""
    told = " ".join(replies)
    if len(text) + len(told) > room and room < LINE:
        return Danger(text, "", left, "See page 3.")
    return Danger(text, f"Owner: {abridged(told, room)}", left)


def _at(where: Sequence[str], plain: str, among: int) -> str:
    """A limitation with the places that have it."""
    at = f"{few_named(where)}: " if where and len(where) < among else "Every place: " if len(where) > 1 else ""
    return sentence_case(f"{at}{plain}")


def _plain(evidence: Evidence, kind: str, place: str) -> str:
    """What a limitation of a place means, with its direction where it has one there."""
    if kind == "slope_off":
        asked: list[dict[str, str]] = [{"class": label} for label in classes.labels(evidence)] or [{}]
        found = [find(evidence, "calibration_slope", place, **at) for at in asked]
        slopes = [one for one in found if isinstance(one, Estimate)]
        below = any(one.high is not None and one.high < 1 for one in slopes)
        above = any(one.low is not None and one.low > 1 for one in slopes)
        return SLOPES.get((below, above), PLAIN[kind])
    if kind == "prevalence_shift":
        origin = next((one for one in evidence.datasets if one.role == "development" and one.events), None)
        site = summary_of(evidence, place)
        if origin is not None and origin.events and site.events:
            more = site.events / site.n > origin.events / origin.n
            return f"the outcome is {'more' if more else 'less'} common than where it was made."
    return PLAIN[kind]
