"""The first page: whether the model works, by the criteria that were declared before, hospital by hospital."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from dossier.core import bands, binding, tripod, types
from dossier.core.multiplicity import discrimination, is_worse, of_site, size_of_risks
from dossier.report.chapters import acceptance, changes, classes, comparison, limitations, results, sentence
from dossier.report.chapters.chapter import chapters
from dossier.typeset.flags import topic
from dossier.typeset.measures import cell, needs_words
from dossier.typeset.names import events_of, with_short_sites
from dossier.typeset.numbers import TIED, bare, level_of, number, short, threshold, value_of
from dossier.typeset.tables import Cell, Column, Reasons, Row, Table, worded
from dossier.typeset.widths import lines_of
from dossier.typeset.words import counted, how_many, in_words, listing, sentence_case, within_sentence

LINES, LINES_OF_FEW, FEW_SITES, LINE = 12, 16, 4, 58.0
"""Lines, so many mm wide, of what is to be settled, more where few sites leave room; the rest is counted."""
MOST_NAMED = 3


@dataclass(frozen=True)
class Point:
    """Something that a review has to settle: what it is, how it stands, and the chapter that says more."""

    what: str
    standing: str
    chapter: str
    is_open: bool


def finding(evidence: types.Evidence) -> sentence.Sentence:
    """What forbids the use, then whether the declared criteria are met, at how many hospitals, what is missed where."""
    found = _finding(evidence)
    first = f"{forbidding(evidence)} {separating(evidence)}".strip()
    return sentence.Sentence(first, f"{found.lead} {found.rest}".strip()) if first else found


def forbidding(evidence: types.Evidence) -> str:
    """Where the maker says that the model is not to be used, and where a stop rule of theirs is crossed."""
    out = [site.site for site in binding.ruled_out(evidence)]
    stopped = [site.site for site in binding.stopped(evidence)]
    parts = []
    if binding.is_for_nobody(evidence.release):
        parts.append("the maker states that the model is not to be used for patients")
    elif out:
        where = sentence.named_with_the_rest(out, MOST_NAMED)
        parts.append(f"the maker states that the model is not to be used in {where}")
    if stopped:
        parts.append(f"a declared stop rule is crossed in {sentence.named_with_the_rest(stopped, MOST_NAMED)}")
    return f"{sentence_case('; '.join(parts))}." if parts else ""


def separating(evidence: types.Evidence) -> str:
    """Where the model is shown not to separate patients, with the AUROC."""
    sentences = []
    for kind, found in sentence.not_separating(evidence, types.externals(evidence)).items():
        places = []
        for name, each in found:
            value, low, high = (short(evidence, "auroc", end) for end in (each.value, each.low or 0, each.high or 1))
            places.append(f"{name} (AUROC{TIED}{value}, {low} to {high})")
        where = sentence.named_with_the_rest(places, MOST_NAMED)
        sentences.append(sentence.phrase("not_separating", kind, places=where))
    return " ".join(sentences)


def _finding(evidence: types.Evidence) -> sentence.Sentence:
    every = acceptance.counted_ones(evidence)
    if not every:
        return _without_criteria(evidence)
    sites = types.externals(evidence)
    # How the criteria stand at each hospital that they ask something of: the worst of them.
    stands = {}
    for site in sites:
        here = tuple(criterion for everywhere in every for criterion in everywhere if criterion.dataset == site.name)
        if here:
            stands[site.name] = acceptance.verdict(here)
    missed = [_missed(evidence, criteria) for criteria in every if acceptance.verdict(criteria) == "against"]
    off = [(site.site, found) for site, found in sentence.refuted(evidence, sentence.estimated(evidence, "oe_ratio"))]
    asked_of_risks = any(row[0].measure == "oe_ratio" for row in every)
    rest = [
        comparison.where_better(evidence),
        changes.what_is_worse(evidence),
        f"Shown not to hold: {'; '.join(missed)}." if missed else "",
        sentence.new_hospital(evidence),
        "" if asked_of_risks or classes.labels(evidence) else sentence.where_risks_are_off(off),
    ]
    return sentence.Sentence(
        _lead(every, stands, any(site.minimum_cell for site in evidence.datasets)),
        " ".join(text for text in rest if text),
    )


def _without_criteria(evidence: types.Evidence) -> sentence.Sentence:
    """What was found: first of all at how many hospitals the model is of use, where the gains have intervals."""
    none = "No criterion that counts was declared: nothing here is passed or failed."
    found = results.finding(evidence)
    better = f"{comparison.where_better(evidence)} {changes.what_is_worse(evidence)}".strip()
    at, gains = ("", []) if classes.labels(evidence) else _gains(evidence)
    if not gains:
        return sentence.Sentence(found.lead, " ".join(text for text in (better, found.rest, none) if text))
    use = _use(at, [gain for _, gain in gains], len(types.externals(evidence)))
    return sentence.Sentence(use, f"{better} {none} {found.lead} {found.rest}".strip())


def _use(at: str, gains: Sequence[types.Estimate], sites: int) -> str:
    """At how many of the hospitals the interval of the gain lies above 0, and at how many below."""
    above, below = sum(map(sentence.is_above, gains)), sum(map(is_worse, gains))
    where = "the hospital" if sites == 1 else _of(above, sites) if above else "any hospital"
    less = f", and worse at {'every one' if below == sites else in_words(below)}" if below else ""
    shown = "is better" if above else "is not shown to be better"
    return f"At {at} the model {shown} than flagging everyone or no one at {where}{less}."


def _of(some: int, sites: int) -> str:
    """So many of the hospitals."""
    if some == sites:
        return {1: "the hospital", 2: "both hospitals"}.get(sites, "every hospital")
    return f"{in_words(some)} of {in_words(sites)} hospitals"


def _lead(every: Sequence[tuple[types.Criterion, ...]], stands: Mapping[str, types.State], is_protected: bool) -> str:
    """At how many hospitals the criteria are shown to be met, and at how many shown not to be."""
    what = "its declared criterion" if len(every) == 1 else "its declared criteria"
    why = "the ranges of counts cannot tell" if is_protected else "too few patients to tell"
    states = list(stands.values())
    together = {
        acceptance.verdict(criteria) for criteria in every if any(each.dataset == types.POOLED for each in criteria)
    } - {"shown"}
    if "against" in states:
        shown = states.count("shown")
        rest = f", and shown to at {in_words(shown)}" if shown else ""
        return f"The model is shown not to meet {what} at {_of(states.count('against'), len(states))}{rest}."
    if "against" in together:
        return f"The model is shown not to meet {what} over all hospitals together."
    unsure = len(states) - states.count("shown")
    if unsure:
        return (
            f"The model is shown to meet {what} at {_of(len(states) - unsure, len(states))}; "
            f"{'the rest is' if unsure < len(states) else 'this is'} open: {why}."
        )
    if together:
        return f"Whether the model meets {what} over all hospitals together is open: {why}."
    where = f"at {_of(len(states), len(states))}" if states else "over all hospitals"
    return f"The model is shown to meet {what} {where}."


def _missed(evidence: types.Evidence, everywhere: tuple[types.Criterion, ...]) -> str:
    """A criterion that is not met, and where."""
    names = {site.name: site.site for site in types.externals(evidence)}
    where = [names.get(each.dataset, "all hospitals together") for each in everywhere if each.state == "against"]
    what = within_sentence(acceptance.label(evidence, everywhere[0]))
    return f"{what} {acceptance.asked(evidence, everywhere[0])} ({sentence.named_with_the_rest(where, MOST_NAMED)})"


# ---- the table ------------------------------------------------------------------------------------------------------


def table(evidence: types.Evidence) -> Table:
    """The criteria by hospital, what is not met standing out, and beside them the gain and the slope."""
    every = list(acceptance.counted_ones(evidence))
    shown = acceptance.on_the_first_page(evidence)
    sites = types.externals(evidence)
    at = sentence.primary_threshold(evidence)
    asked = {(row[0].measure, row[0].at.get("threshold")) for row in shown if row[0].subset is None}
    beside = _beside(evidence, bool(shown))
    # A gain that is asked for stands among the criteria.
    beside = beside[1:] if ("net_benefit_gain", at) in asked and not classes.labels(evidence) else beside
    columns = [column for column in beside if column is not None]
    rows = [
        Row(
            f"{mark}{TIED}{site.site}" if (mark := binding.marks(evidence, site)) else site.site,
            (
                Cell.count(site.n),
                *([] if classes.labels(evidence) else [Cell.plain(events_of(site))]),
                *(_cell(evidence, criteria, site.name) for criteria in shown),
                *(column.cell(site) for column in columns),
            ),
        )
        for site in named_ones(evidence)
    ]
    if len(sites) > 1 or _over_all_asked(shown):
        rows += _over_all(evidence, shown, columns)
    heads = [] if classes.labels(evidence) else [Column("Events")]
    heads += [Column(f"{acceptance.label(evidence, row[0])} {acceptance.asked(evidence, row[0])}") for row in shown]
    return worded(
        "verdict",
        rows,
        [*heads, *(Column(column.head, intervals=column.has_intervals) for column in columns)],
        _footnotes(evidence, every, len(shown)),
        criteria=shown,
        note=only_some(evidence) + _note(evidence, shown, columns),
    )


def standing_out(evidence: types.Evidence) -> tuple[types.DatasetSummary, ...]:
    """The hospitals where something is shown not to hold, or whose maker rules the model out; the worst first."""
    at, every = sentence.primary_threshold(evidence), acceptance.counted_ones(evidence)
    setting = {} if at is None else {"threshold": at}

    def against(site: types.DatasetSummary) -> int:
        found = [criterion.state for everywhere in every for criterion in everywhere if criterion.dataset == site.name]
        for label in classes.labels(evidence) or ("",):
            gain = types.find(evidence, "net_benefit_gain", site.name, **setting, **classes.at(label))
            found += [size_of_risks(evidence, site.name, label)]
            found += [discrimination(types.find(evidence, "auroc", site.name, **classes.at(label)))]
            found += [_of_gain(gain)] if isinstance(gain, types.Estimate) and gain.low is not None else []
        return found.count("against") + bool(binding.marks(evidence, site))

    def off(site: types.DatasetSummary) -> float:
        ratio = types.find(evidence, "oe_ratio", site.name)
        return sentence.times_off(ratio.value) if isinstance(ratio, types.Estimate) else 1.0

    counts = {site.name: against(site) for site in types.externals(evidence)}
    return tuple(
        sorted((s for s in types.externals(evidence) if counts[s.name]), key=lambda s: (-counts[s.name], -off(s)))
    )


def named_ones(evidence: types.Evidence) -> tuple[types.DatasetSummary, ...]:
    """The hospitals that pages list: all; of many the worst that stand out, and one's own before them."""
    sites = types.externals(evidence)
    if len(sites) < bands.MANY_SITES:
        return sites
    worst = standing_out(evidence)[: bands.NAMED_OF_MANY]
    return (*(site for site in sites if site.name == evidence.local_site and site not in worst), *worst)


def only_some(evidence: types.Evidence) -> str:
    """That of many hospitals those are listed that stand out, and how many do."""
    if len(types.externals(evidence)) < bands.MANY_SITES:
        return ""
    out = len(standing_out(evidence))
    where = f"{how_many(out)} of {len(types.externals(evidence)):,} something is shown not to hold"
    listed = f", the worst {in_words(bands.NAMED_OF_MANY)} listed" if out > bands.NAMED_OF_MANY else ""
    return f"At {where}{listed}; all stand in the chapters by name. "


_Found = Sequence[tuple[types.DatasetSummary, types.Estimate]]


@dataclass(frozen=True)
class _Beside:
    """A column that is no criterion: its head, its cells, and at how many hospitals it is as it should be."""

    head: str
    cells: dict[str, Cell]
    verdict: str
    """At how many; empty where nothing is asked of it."""
    note: str = ""

    @property
    def has_intervals(self) -> bool:
        """Whether an interval stands beside each value."""
        return any(cell.interval for cell in self.cells.values())

    def cell(self, site: types.DatasetSummary) -> Cell:
        return self.cells.get(site.name, Cell.absent("–"))


def _beside(evidence: types.Evidence, has_criteria: bool) -> list[_Beside | None]:
    """What is no criterion: where there are none, what the model does, each value with its interval."""
    if classes.labels(evidence):
        # The class whose O/E and slope are farthest from 1, and of how many the gain excludes 0.
        slope = _farthest(evidence, "calibration_slope", "Slope", SLOPES)
        mean, ratio = _plain(evidence, "auroc", "AUROC, mean"), _farthest(evidence, "oe_ratio", "O/E")
        return [] if has_criteria else [mean, ratio, _gains_of_classes(evidence), slope]
    if has_criteria:
        return [_gain(evidence, is_whole=False), _slope(evidence)]
    first = _plain(evidence, "auroc", "AUROC"), _plain(evidence, "oe_ratio", "O/E"), _gain(evidence, is_whole=True)
    return [*first, _plain(evidence, "calibration_slope", "Slope", SLOPES)]


GAIN = "Gain: net benefit per 100 over the better of flagging everyone and no one."
SLOPES = "Slope: too extreme below 1, too moderate above."


def _gain(evidence: types.Evidence, is_whole: bool) -> _Beside | None:
    """The net benefit over the better default at the primary threshold: with its interval, or its lower limit."""
    (at, found), term, reasons = _gains(evidence), evidence.terms["net_benefit_gain"], Reasons(evidence)
    wordy = needs_words(each for _, each in found)

    def made(each: types.Estimate) -> Cell:
        return cell(each, term, reasons, wordy) if is_whole else Cell.plain(number(100 * (each.low or 0.0), 1))

    head = f"Gain at{TIED}{at}{'' if is_whole else ', lower limit'}"
    return _column(evidence, term.measure, head, found, made, GAIN)


def _gains(evidence: types.Evidence) -> tuple[str, _Found]:
    """The primary threshold, and the gain there at every hospital where it has an interval."""
    at = sentence.primary_threshold(evidence)
    if at is None:
        return "", []
    found = sentence.estimated(evidence, "net_benefit_gain", threshold=at)
    return threshold(at), [(site, estimate) for site, estimate in found if estimate.low is not None]


def _of_gain(found: types.Estimate) -> types.State:
    """How a gain stands: an interval that ends at 0 shows none."""
    return "against" if is_worse(found) else "shown" if (found.low or 0.0) > 0 else "open"


def _alerted(shown: Cell, state: types.State) -> Cell:
    return replace(shown, kind="alert") if state == "against" else shown


def _plain(evidence: types.Evidence, measure: str, head: str, note: str = "") -> _Beside | None:
    """A measure where nothing was asked of it."""
    term, reasons = evidence.terms[measure], Reasons(evidence)
    found = sentence.estimated(evidence, measure)
    return _column(evidence, measure, head, found, lambda each: cell(each, term, reasons), note)


def _column(
    evidence: types.Evidence, measure: str, head: str, found: _Found, made: Callable[[types.Estimate], Cell], note: str
) -> _Beside | None:
    """The cells of a measure, standing out where it is refuted; how often is not counted of discrimination."""

    def state(site: types.DatasetSummary, each: types.Estimate) -> types.State:
        if measure == "net_benefit_gain":
            return _of_gain(each)
        return discrimination(each) if measure == "auroc" else of_site(evidence, each, site.name)

    states = {site.name: state(site, each) for site, each in found}
    cells = {site.name: _alerted(made(each), states[site.name]) for site, each in found}
    counted = "" if measure == "auroc" else acceptance.counts(list(states.values()))
    return _Beside(head, cells, counted, note) if found else None


def _farthest(evidence: types.Evidence, measure: str, head: str, note: str = "") -> _Beside | None:
    """The class of each hospital whose value is farthest from 1, with its interval."""
    term, reasons = evidence.terms[measure], Reasons(evidence)
    every = {site.name: _classes_with(evidence, measure, site, {}) for site in types.externals(evidence)}
    cells = {}
    for name, found in every.items():
        if found:
            label, estimate = max(found, key=lambda pair: abs(pair[1].value - 1))
            made = cell(estimate, term, reasons)
            state = of_site(evidence, estimate, name, label)
            cells[name] = _alerted(replace(made, text=f"{label} {made.text}"), state)
    states = [of_site(evidence, each, name, label) for name, found in every.items() for label, each in found]
    return _Beside(f"{head}, class farthest from 1", cells, acceptance.counts(states), note) if cells else None


def _classes_with(
    evidence: types.Evidence, measure: str, site: types.DatasetSummary, threshold: Mapping[str, float]
) -> list[tuple[str, types.Estimate]]:
    """The classes of which a measure could be estimated at a hospital."""
    found = []
    for label in classes.labels(evidence):
        at: dict[str, float | str] = {"class": label, **threshold}
        if isinstance(estimate := types.find(evidence, measure, site.name, **at), types.Estimate):
            found.append((label, estimate))
    return found


def _gains_of_classes(evidence: types.Evidence) -> _Beside | None:
    """Of how many classes the gain at the primary threshold has an interval above 0."""
    at = sentence.primary_threshold(evidence)
    if at is None:
        return None
    setting = {"threshold": at}
    every = {
        site.name: _classes_with(evidence, "net_benefit_gain", site, setting) for site in types.externals(evidence)
    }
    states = {name: [_of_gain(estimate) for _, estimate in found] for name, found in every.items() if found}
    cells = {
        name: Cell(f"{here.count('shown')} of {len(here)}", kind="alert" if "against" in here else "plain")
        for name, here in states.items()
    }
    verdict = acceptance.counts([state for here in states.values() for state in here])
    return _Beside(f"Gain at{TIED}{threshold(at)} above 0, classes", cells, verdict, GAIN) if cells else None


def _slope(evidence: types.Evidence) -> _Beside | None:
    """The calibration slope alone."""
    found = [pair for pair in sentence.estimated(evidence, "calibration_slope") if pair[1].low is not None]
    term = evidence.terms["calibration_slope"]
    return _column(evidence, term.measure, "Slope", found, lambda each: Cell.plain(value_of(each, term)), SLOPES)


def _cell(evidence: types.Evidence, everywhere: tuple[types.Criterion, ...], dataset: str) -> Cell:
    here = next((criterion for criterion in everywhere if criterion.dataset == dataset), None)
    if here is None:
        return Cell.plain("")
    if here.observed is None:
        return Cell.absent(acceptance.WORDS[here.state])
    cuts = [bound for bound in (here.at_least, here.at_most) if bound is not None]
    mark = OPEN if here.state == "open" else ""
    return _alerted(Cell.plain(f"{bare(evidence, here.measure, here.observed, cuts)}{mark}"), here.state)


def _over_all(
    evidence: types.Evidence, shown: Sequence[tuple[types.Criterion, ...]], columns: Sequence[_Beside]
) -> list[Row]:
    """What all hospitals say: those that ask of them together, and at how many of them each criterion is met."""
    rows, over_all = [], _over_all_asked(shown)
    sites = results.pooled_sites(evidence, ((each.measure, each.at) for each in over_all if not each.subset))
    size = [Cell.count(sum(site.n for site in sites))]
    if not classes.labels(evidence):
        size.append(Cell.count(sum(site.events or 0 for site in sites)))
    if over_all:
        pooled = [_cell(evidence, everywhere, types.POOLED) for everywhere in shown]
        rows.append(Row("All, pooled", (*size, *pooled, *(Cell.plain("") for _ in columns)), "total"))
        size = [Cell.plain("") for _ in size]
    verdicts = (_verdict(everywhere) for everywhere in shown)
    called = "Verdict" if shown else "In all"
    rows.append(Row(called, (*size, *verdicts, *(Cell.word(column.verdict) for column in columns)), "total"))
    return rows


def _over_all_asked(shown: Sequence[tuple[types.Criterion, ...]]) -> list[types.Criterion]:
    """The criteria that ask of all hospitals together."""
    return [each for everywhere in shown for each in everywhere if each.dataset == types.POOLED]


def _verdict(everywhere: tuple[types.Criterion, ...]) -> Cell:
    """How many hospitals are shown, against and open; of a criterion that asks of all together how that stands."""
    states = [criterion.state for criterion in everywhere if criterion.dataset != types.POOLED]
    said = acceptance.counts(states) if len(states) > 1 else sentence_case(acceptance.WORDS[everywhere[0].state])
    return Cell.word(said)


def _note(evidence: types.Evidence, shown: Sequence[tuple[types.Criterion, ...]], columns: Sequence[_Beside]) -> str:
    tinted = "Tinted: shown not to hold."
    when = acceptance.when(evidence, "declared", counted_only=True) if shown else ""
    beside = " ".join(column.note for column in columns if column.note)
    counts = "" if len(types.externals(evidence)) == 1 and not classes.labels(evidence) else LAST_ROW
    counts = counts if any(column.verdict for column in columns) else ""
    return " ".join(text for text in (tinted, when, beside, f"Limits at {level_of(evidence)}.", counts) if text)


OPEN = "*"
"""The mark of what is neither shown to meet a criterion nor shown not to."""
LAST_ROW = (
    "Last row: CI on the good side (gain above 0; O/E, slope 0.8 to 1.25), on the bad side (after Holm; these two by "
    "a joint test) or neither."
)


MARKED = {"‡": "Not to be used there, its maker states.", "§": "A declared stop rule is crossed there."}
"""What the marks beside a hospital say."""


def _footnotes(evidence: types.Evidence, every: Sequence[tuple[types.Criterion, ...]], shown: int) -> tuple[str, ...]:
    """What a default passes better, which criteria do not count, and how many more there are."""
    here = acceptance.on_the_first_page(evidence)
    is_open = any(each.state == "open" and each.observed is not None for row in here for each in row)
    marked = {mark for site in types.externals(evidence) for mark in binding.marks(evidence, site)}
    texts = [f"{mark}{TIED}{says}" for mark, says in MARKED.items() if mark in marked]
    texts += [f"{OPEN}{TIED}Open: the CI neither meets nor excludes what is asked."] if is_open else []
    over_all = [each for each in _over_all_asked(here) if not each.subset]
    left = results.not_pooled(
        evidence, ((acceptance.label(evidence, each), each.measure, each.at) for each in over_all)
    )
    texts += [left.strip()] if left else []
    texts += acceptance.not_the_better_choice(evidence, every)
    for everywhere in acceptance.uncounted(evidence):
        criterion = everywhere[0]
        why = acceptance.why_uncounted(evidence, criterion)
        what = f"{acceptance.label(evidence, criterion)} {acceptance.asked(evidence, criterion)}"
        stands = [acceptance.WORDS[acceptance.verdict(everywhere)]]
        if len(everywhere) == 1 and criterion.observed is not None:
            stands.append(short(evidence, criterion.measure, criterion.observed))
        texts.append(f"Not counted, for it {why}: {within_sentence(what)} ({': '.join(stands)}).")
    if len(every) > shown:
        texts.append(f"{sentence_case(counted(len(every) - shown, 'more criterion', 'more criteria'))} in the chapter.")
    return tuple(texts)


# ---- beneath --------------------------------------------------------------------------------------------------------


def most_open(evidence: types.Evidence) -> int:
    """How much of what is to be settled the first page has room for."""
    whats = (with_short_sites(evidence, point.what) for point in to_settle(evidence))
    lines = list(accumulate(lines_of(what, LINE) for what in whats))
    return bisect_right(lines, LINES_OF_FEW if len(types.externals(evidence)) <= FEW_SITES else LINES)


GRAVEST = [
    *("stop_rule_crossed", "changed_since_sealed", "wrong_order", "default_better", "flagged_alike", "risks_off"),
    *("slope_off", "subgroup_differs", "shared_rows", "same_as_rival", "other_units"),
]
"""What is settled before all else, in this order: what was declared beforehand forbids the use or was declared anew,
what harms patients where the model is wrong, and what makes the test another one than it seems.
"""


def to_settle(evidence: types.Evidence) -> tuple[Point, ...]:
    """What a review has to settle, what is open first: limitations without an answer, rows of the checklist."""
    gravest = [topic(name) for name in GRAVEST]
    points = []
    for kind in sorted(limitations.raised(evidence), key=lambda kind: [*gravest, kind.topic].index(kind.topic)):
        # What a limitation is about, and the sites and numbers that it is raised for.
        where = [sentence.named_with_the_rest(kind.briefly, MOST_SITES)] if kind.briefly else []
        what = ": ".join([kind.topic, *where])
        is_open = not (kind.answered_at_once or all(reply for _, reply in kind.said))
        points.append(Point(what, "unanswered" if is_open else "answered", "limitations", is_open))
    points += [
        Point(f"TRIPOD+AI {row.item}, {within_sentence(tripod.TOPICS[row.item])}", "missing", "checklist", True)
        for row in evidence.checklist
        if row.status == "missing"
    ]
    return tuple(sorted(points, key=lambda point: not point.is_open))


MOST_SITES = 2
"""Sites of a limitation that the first page names; the rest is counted."""


def tested(evidence: types.Evidence) -> list[tuple[str, str]]:
    """What was tested, line by line."""
    release, thresholds = evidence.release.release, evidence.release.thresholds
    declared = [threshold(each) for each in thresholds.declared]
    at = "none declared"
    if declared:
        at = f"{declared[0]} (primary){''.join(f', {text}' for text in declared[1:])}"
    if thresholds.range:
        at += f"; range {threshold(thresholds.range[0])} to {threshold(thresholds.range[1])}"
    sites = types.externals(evidence)
    patients = counted(sum(site.n for site in sites), "patient")
    where = listing([site.site for site in sites])
    where = where if len(sites) <= MOST_NAMED else f"{in_words(len(sites))} hospitals"
    version = release.tested_version or release.version
    released = "" if version == release.version else f"; {release.version} is released"
    return [
        ("Output", f"Probability of {types.Predicted.by(evidence.release).words}"),
        ("Version", f"{version}{released}"),
        ("Tested in", f"{patients} of {where}"),
        ("Thresholds", at),
        ("Intended for", evidence.release.intended_use.for_ or "not stated"),
        ("Owner", release.owner or "not stated"),
        ("Tested by", release.tester or "not stated"),
        *_left_out(evidence),
    ]


def _left_out(evidence: types.Evidence) -> list[tuple[str, str]]:
    """The chapters that the owner left out; nothing where all are there."""
    names = set(evidence.release.report.leave_out)
    titles = [chapter.title for chapter in chapters() if chapter.name in names]
    return [("Left out by the owner", f"{listing(titles)}. Every number is in results.csv")] if titles else []
