"""What the model, the release and its datasets are called, and how many patients they hold."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from typing import TypeVar

from dossier.core import bands, types
from dossier.typeset import numbers, widths
from dossier.typeset.words import counted, dates, in_words, listing, named_or_counted, sentence_case
from dossier.words import entries, sentence

Found = TypeVar("Found")

UNSTATED = "not stated"
"""What a quick look has in place of a version and an owner."""


def model(evidence: types.Evidence) -> str:
    """The model with the version that was tested, when it has one, and the released one where it is another."""
    version = evidence.release.release.version
    return tested_model(evidence) + ("" if tested_version(evidence) == version else f" (the release is {version})")


WIDEST_HEAD = 95.0
"""How much of each of the two lines at the head of a page the model may take, in mm."""


def running_head(evidence: types.Evidence, own: str = "") -> str:
    """What the head of every page says: the model, as short as it has room for, and what was done with it."""
    by = own or evidence.release.report.organisation
    name = widths.shortened([model(evidence)], WIDEST_HEAD, lines=1 if by else 2)[0]
    return f"{f'{by} · ' if by else ''}{name}: external validation"


def tested_model(evidence: types.Evidence) -> str:
    """The model with the version that was tested, when it has one."""
    name, tested = evidence.release.release.model, tested_version(evidence)
    return name if numbers.plain(tested) == UNSTATED else f"{name}{numbers.TIED}{tested}"


def tested_version(evidence: types.Evidence) -> str:
    """The version that every number is of; the released one, where the release names no other."""
    release = evidence.release.release
    return release.tested_version or release.version


def points_of(evidence: types.Evidence, name: str) -> list[types.Description]:
    """The categories on an axis of the nomogram, with their points."""
    rows = (row for row in evidence.by_variable[name] if row.dataset == types.MODEL)
    return [row.described for row in rows if row.described.statistic == "points"]


def foretold(evidence: types.Evidence) -> str:
    """What the model gives the probability of: the outcome with its horizon, of several classes each of them."""
    outcome = evidence.release.outcome
    return f"{f'each of {listing(outcome.classes)}: ' if outcome.classes else ''}{predicted(evidence)}"


def predicted(evidence: types.Evidence) -> str:
    """The outcome with each horizon by which it has a risk."""
    own = types.Predicted.by(evidence.release)
    later = [by_when(evidence, {"horizon": each.at}, "") for each in evidence.release.horizon[1:]]
    first = [] if own.horizon is None or own.words == own.outcome else [own.horizon]
    return f"{own.outcome}, {'' if first else 'and '}{listing([*first, *later])}" if later else own.words


def by_first(evidence: types.Evidence, before: str = " ") -> str:
    """By when the outcome counts of the first of several horizons, which settings do not name; else nothing."""
    first, *later = evidence.release.horizon or (None,)
    return by_when(evidence, {"horizon": first.at}, before) if first is not None and later else ""


def by_when(evidence: types.Evidence, at: types.At, before: str = " ") -> str:
    """By when the outcome counts, with what stands `before` it, where settings name a further horizon; else nothing."""
    named = (each for each in evidence.release.horizon if each.at == at.get("horizon"))
    return "".join(f"{before}{each.says or f'by {each.at:g}'}" for each in named)


def development(evidence: types.Evidence) -> str | None:
    """What the tables hold that the model was made from; None where the release gives none."""
    tables = [dataset for dataset in evidence.datasets if dataset.role == "development"]
    return " ".join(_size_and_dates(dataset) for dataset in tables) or None


def _size_and_dates(dataset: types.DatasetSummary) -> str:
    counts = [f"{count:,} of {label}" for label, count in dataset.class_counts.items()]
    if not counts and (events := events_of(dataset)):
        counts = [f"events {events}" if dataset.outcome_withheld else counted(dataset.events or 0, "event")]
    lost, least = lost_rows([dataset])
    parts = [f"{dataset.site}: {counted(dataset.n, 'patient')}", *counts]
    parts += [f"{least}{counted(lost, 'row')} not analysed"] if lost or least else []
    parts += [dates(dataset.dates)] if dataset.dates else []
    return f"{', '.join(parts)}."


def identity(evidence: types.Evidence) -> str:
    """The dossier's name on every page: model, released version, date."""
    release = evidence.release.release
    model, version, date = release.model, release.version, "" if release.date is None else release.date.isoformat()
    # As long as the foot of a page has room for.
    words = [re.sub(r"[^a-z0-9.]+", "-", text.lower()).strip("-") for text in (model, version)]
    cut = [word[:most].strip("-") for word, most in zip(words, LONGEST_IN_IDENTITY, strict=True)]
    return "-".join(word for word in (cut[0], "" if numbers.plain(version) == UNSTATED else cut[1], date) if word)


LONGEST_IN_IDENTITY = (90, 24)
"""Letters of the model and of its version."""


def shown(
    evidence: types.Evidence, roles: Sequence[str] = ("development", "internal", "external")
) -> list[types.DatasetSummary]:
    """The datasets of these roles, external ones first, each group in the order of the release."""
    order = [role for role in ("external", "internal", "development") if role in roles]
    return [dataset for role in order for dataset in evidence.datasets if dataset.role == role]


def without_predictors(evidence: types.Evidence) -> str:
    """Which datasets have no column in what is said of predictors, after a sentence; empty where all have."""
    without = [label_of(dataset) for dataset in shown(evidence) if not dataset.features]
    return f" No predictors are given of {named_or_counted(without, bands.NAMED_OF_MANY)}." if without else ""


def count_of(count: int | types.Withheld) -> str:
    """A count in figures; one that is withheld as below the smallest that is printed."""
    return f"<{count.below}" if isinstance(count, types.Withheld) else f"{count:,}"


def rows_read_of(dataset: types.DatasetSummary) -> str:
    """How many rows were read, at least those that are analysed where a count of excluded ones is withheld."""
    return f"{dataset.n:,} or more" if isinstance(dataset.rows_read, types.Withheld) else f"{dataset.rows_read:,}"


def events_of(dataset: types.DatasetSummary, unknown: str = "") -> str:
    """How many had the outcome, in figures; the word for nobody knows where the dataset has no outcome."""
    if dataset.outcome_withheld is not None:
        return "withheld"
    return unknown if dataset.events is None else f"{dataset.events:,}"


def at_least(datasets: Sequence[types.DatasetSummary]) -> str:
    """The words before a sum of events that leaves out what is withheld."""
    return f"at least{numbers.TIED}" if any(dataset.outcome_withheld for dataset in datasets) else ""


RESTS_ON = {
    "sensitivity": "event",
    "specificity": "non-event",
    **dict.fromkeys(("net_benefit_gain", "classification", "brier", "mean_severity"), "patient"),
}
"""Whom a measure rests on, of whom a site may have few, where these are not both events and non-events."""


def ends_of_range(
    found: Sequence[tuple[types.DatasetSummary, Found]], measure: str = "", against: Collection[str] = ()
) -> tuple[list[tuple[types.DatasetSummary, Found]], str]:
    """What was found at the sites that may be the ends of a range, and words behind it that others are none.

    Values that rest on few lie anywhere; where no site has more, all may be ends. A site that is found `against` is
    always one of them: no range may hide what the page accuses the model of.
    """
    enough = [(site, each) for site, each in found if site.name in against or not _has_few(site, measure)]
    left = [site.site for site, _ in found if site not in [each for each, _ in enough]] if enough else []
    who = left[0] if len(left) == 1 and len(left[0]) <= SHORT else f"{in_words(len(left))} more"
    of = "patients" if RESTS_ON.get(measure) == "patient" else "of one outcome"
    return enough or list(found), f"; {who} left out: few {of}" if left else ""


def of_all_periods(ends: Iterable[str], turning: Iterable[types.DatasetSummary]) -> str:
    """What a range says behind it of an end whose risks turn over time: its number is that of no time."""
    where = [site.site for site in turning if site.site in set(ends)]
    return f"; {listing(where)} of all periods, which differ" if where else ""


SHORT = 24
"""The letters of a name that stands behind a range."""


def _has_few(site: types.DatasetSummary, measure: str) -> bool:
    """Whether a site has few of those whom a measure rests on."""
    counts = {"event": site.events, "non-event": site.others, "patient": site.n}
    # One against the rest, each class has events of its own.
    known = counts.get(RESTS_ON.get(measure, ""))
    return site.is_few if known is None else known < bands.FEW_FOR_POOLING


def few_beside(evidence: types.Evidence, site: types.DatasetSummary, at: float) -> tuple[int, bool] | None:
    """How many patients of a site have a risk on the emptier side of a threshold, and whether below it, where these are
    few; None of more, and where nobody counted them there.
    """
    curves = (types.find_curve(evidence, name, site.name) for name in ("classification", "risk_distribution"))
    flagged, spread = (each.columns if isinstance(each, types.Curve) else {} for each in curves)
    sides: tuple[list[float | None], list[float | None]] = ([], [])
    if at in flagged.get("threshold", ()):
        row = flagged["threshold"].index(at)
        hit, alarm, miss, rest = (flagged[name][row] for name in types.CELLS)
        sides = [miss, rest], [hit, alarm]
    elif at in spread.get("low", ()):
        row = spread["low"].index(at)
        both = [spread[name] for name in ("events", "non_events")]
        sides = [each for column in both for each in column[:row]], [each for column in both for each in column[row:]]
    if site.class_counts or not all(sides) or None in [*sides[0], *sides[1]]:
        return None
    below, above = (sum(each or 0.0 for each in side) for side in sides)
    least = round(min(below, above))
    return (least, below < above) if least < bands.FEW_FOR_POOLING else None


def with_few_beside(evidence: types.Evidence) -> str:
    """The external sites with few patients on one side of a declared threshold, and how many, where there are some."""
    declared, sites = evidence.release.thresholds.declared, types.externals(evidence)
    few = [(site.site, at, found) for site in sites for at in declared if (found := few_beside(evidence, site, at))]
    said: dict[str, list[str]] = {}
    for name, at, (count, is_below) in few:
        line = numbers.threshold(at)
        side = f"below {line}" if is_below else f"from {line} on"
        said.setdefault(name, []).append(f"{count:,}{numbers.TIED}{side}")
    left = f"{bands.FEW_FOR_POOLING}{numbers.TIED}patients on one side of the threshold"
    where = named_or_counted([f"{name} ({', '.join(each)})" for name, each in said.items()])
    return f"Under {left}: {where}." if said else ""


def all_events(datasets: Sequence[types.DatasetSummary]) -> str:
    """The events of all datasets that tell theirs; where none does, that they are withheld or not known."""
    known = [dataset.events for dataset in datasets if dataset.events is not None]
    if not known:
        return f"events {'withheld' if at_least(datasets) else 'not known'}"
    return f"{at_least(datasets)}{counted(sum(known), 'event')}"


FAR_FROM_MEAN = 1.5
"""A share of so many times that of all is named with its site."""


def at_horizon(datasets: Sequence[types.DatasetSummary], said: str = "after_events", events: Sequence[str] = ()) -> str:
    """What a section of `words/pages.toml` says of each count at the horizon that is not 0, with competing `events`."""
    n, fill, parts = sum(each.n for each in datasets), sentence.Sentence().filled, []
    for code, text in entries("pages")[said].items():
        if count := sum(getattr(each, code) or 0 for each in datasets):
            share, site = max(((getattr(each, code) or 0) / each.n, each.site) for each in datasets)
            most = numbers.people(share) if share > FAR_FROM_MEAN * count / n else ""
            values = {"count": count, "events": tuple(events), "people": numbers.people(count / n), "most": most}
            values |= {"site": site}
            parts.append(fill(text, {**values, "ranged": isinstance(count, types.CountRange)}))
    return "".join(parts)


def told_apart(evidence: types.Evidence, words: str = "told_apart") -> str:
    """What the model tells from what, for who knows no statistics; or what `pairs` of patients are of."""
    known = "by_horizon" if evidence.release.horizon else "known"
    text: str = entries("pages")[words]["classes" if evidence.release.outcome.classes else known]
    return text


def heads_at_horizon(datasets: Sequence[types.DatasetSummary], words: str = "heads_at_horizon") -> dict[str, str]:
    """The counts at the horizon that are not 0 in all datasets, with the head of a column of each, or of a flow."""
    heads = entries("pages")[words]
    return {code: head for code, head in heads.items() if any(getattr(each, code) for each in datasets)}


def counted_at_horizon(dataset: types.DatasetSummary, counts: Iterable[str]) -> list[str]:
    """These counts of a dataset, in figures; empty where its outcome is known of all."""
    return ["" if (count := getattr(dataset, code)) is None else f"{count:,}" for code in counts]


def lost_rows(datasets: Sequence[types.DatasetSummary], but: str = "") -> tuple[int, str]:
    """How many rows were excluded as far as that is known, and the words before the number where it is not all.

    Those that were excluded for the reason `but` do not count.
    """
    counts = [count for dataset in datasets for why, count in dataset.excluded.items() if why != but]
    return types.sum_known(counts), f"at least{numbers.TIED}" if any(
        isinstance(count, types.Withheld) for count in counts
    ) else ""


def not_analysed(datasets: Sequence[types.DatasetSummary]) -> str:
    """What is said of the excluded rows: those that the release does not select could have been analysed."""
    chosen = any(dataset.excluded.get(types.NOT_SELECTED) for dataset in datasets)
    return "are not analysed" if chosen else "could not be analysed"


def unweighted(datasets: Sequence[types.DatasetSummary]) -> str:
    """At which sites patients are counted here without their weights; empty where none has any."""
    sites = [dataset.site for dataset in datasets if dataset.weighted]
    return f" Sampling weights are not used here, where each patient counts once: {listing(sites)}." if sites else ""


def label_of(dataset: types.DatasetSummary) -> str:
    """A dataset as a table's row names it; what is not external says so first."""
    return dataset.site if dataset.role == "external" else f"{sentence_case(dataset.role)}: {dataset.site}"


def measured_label(dataset: types.DatasetSummary) -> str:
    """A dataset as a row of measures names it: those of the development data are apparent."""
    if dataset.role != "development":
        return label_of(dataset)
    return f"{sentence_case(dataset.role)} (apparent): {dataset.site}"


ALL_POOLED = "All external sites, pooled"
"""The row of what is pooled: never of the internal test or the development data."""


def groups_of_readers(evidence: types.Evidence) -> tuple[str, ...]:
    """The groups of the readers in alphabetical order, which is that of their numbers in the curves."""
    return tuple(sorted({str(result.at["group"]) for result in evidence.results if "group" in result.at}))


def groups_of_raters(evidence: types.Evidence, dataset: str) -> tuple[str, ...]:
    """The groups of the raters of a dataset in alphabetical order, which is that of their numbers in the curves."""
    declared = [
        reader.groups
        for reader in evidence.release.readers
        if (reader.dataset or types.READERS) == dataset and reader.groups
    ]
    return tuple(sorted({group for groups in declared for group in groups.values()}))


def axis_name(at: types.At) -> str:
    """What an axis of the nomogram is called: its predictor, and of a product the value of the other one."""
    return f"{at['predictor']} ({at['with']} {at['level']})" if "with" in at else str(at["predictor"])


MARKS = ("circle", "triangle", "diamond")
"""The hollow marks of the first other models in a forest of sites."""


def marks_of_rivals(evidence: types.Evidence) -> dict[str, str]:
    """The first other models that have an AUROC at an external site, by the mark that each has in the forest."""
    marks = zip(MARKS, (rival.name for rival in evidence.release.rivals), strict=False)
    return {mark: name for mark, name in marks if types.estimated(evidence, "auroc", model=name)}


def tier(term: types.Term) -> str:
    """How much weight a measure has, as pages say it: what the papers on trust propose is not yet usual."""
    return "proposed" if term.tier == "mission" else term.tier
