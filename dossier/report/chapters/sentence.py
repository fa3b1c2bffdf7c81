"""What a finding is made of, and the questions that several chapters ask of the evidence."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from dossier.core import bands, binding, claims, multiplicity, types
from dossier.core.facts import gathered
from dossier.core.types import (
    POOLED,
    Absent,
    At,
    DatasetSummary,
    Estimate,
    Evidence,
    expected_range,
    externals,
    find,
    is_telling,
)
from dossier.typeset import reasons
from dossier.typeset.names import RESTS_ON, by_when, ends_of_range, of_all_periods
from dossier.typeset.numbers import TIED, in_text, level_of, number, short
from dossier.typeset.tables import Table
from dossier.typeset.words import counted, in_words, listing, named_or_counted, span
from dossier.words import entries, sentence


@dataclass(frozen=True)
class Sentence:
    """A chapter's answer: the clause that a hurried reader takes away, and what completes it."""

    lead: str
    rest: str = ""

    @property
    def is_short(self) -> bool:
        """Whether both have room in three lines; else what completes the answer goes on as text."""
        return len(self.lead) + len(self.rest) < THREE_LINES


def phrase(section: str, code: str, **values: object) -> str:
    """A phrase of `words/pages.toml` with its values."""
    return sentence.Sentence().filled(entries("pages")[section][code], values)


NOTHING = Sentence("")
"""The answer of a chapter that repeats those of others."""
THREE_LINES = 270
"""Letters of a finding that stand on three lines."""


def estimated(evidence: Evidence, measure: str, /, **at: float | str) -> list[tuple[DatasetSummary, Estimate]]:
    """The external sites at which a measure could be estimated, from the lowest value to the highest."""
    return sorted(types.estimated(evidence, measure, **at), key=lambda pair: pair[1].value)


def sites_without(evidence: Evidence, measure: str, /, **at: float | str) -> str:
    """Which sites have no value of a measure, and why; where the reasons differ, that the table gives them."""
    gaps: dict[str, list[str]] = {}
    for site in externals(evidence):
        found = find(evidence, measure, site.name, **at)
        if isinstance(found, Absent):
            gaps.setdefault(reasons.why(evidence, found.reason, site.name), []).append(site.site)
    if not gaps:
        return ""
    reason = next(iter(gaps)) if len(gaps) == 1 else "reasons below the table"
    where = named_or_counted([site for sites in gaps.values() for site in sites], 2)
    return f"Not computable at {where} ({reason})."


OF_PAGE_1 = ("key-results", "criteria", "impact", "performance", "thresholds", "pooled")
"""The tables by which a model is judged that are not called by measures."""


def with_all_times(evidence: Evidence, table: Table) -> Table:
    """A table that says below it of which hospitals its estimates are of no time, as their risks turn."""
    labels, is_pooled = {row.label for row in table.rows}, table.name == "table-pooled"
    turning = [site.site for site in binding.turning(evidence) if is_pooled or site.site in labels]
    # Only under numbers by which the model is judged; a table is called by its first measure and its last.
    judged = {str(claim.measure).replace("_", "-") for claim in claims.of(evidence)}
    if not turning or not any(name in table.name for name in (*OF_PAGE_1, *judged)):
        return table
    said = f"Of all periods, which differ (¶): {listing(turning)}; there only what each of them shows counts as shown."
    return replace(table, footnotes=(*table.footnotes, said))


def at_the_primary_threshold(evidence: Evidence) -> Evidence:
    """The evidence without what was measured at the other thresholds."""
    primary = evidence.release.thresholds.primary
    kept = (result for result in evidence.results if result.at.get("threshold", primary) == primary)
    return replace(evidence, results=tuple(kept))


def not_separating(evidence: Evidence, sites: Sequence[DatasetSummary]) -> dict[str, list[tuple[str, Estimate]]]:
    """Where, of classes also for which, risks are shown not to separate patients: reversed, not at all, or hardly."""
    places: dict[str, list[tuple[str, Estimate]]] = {"reversed": [], "absent": [], "hardly": []}
    for site, at in ((site, at) for site in sites for at in evidence.release.each_outcome if "horizon" not in at):
        found, kind = find(evidence, "auroc", site.name, **at), multiplicity.separation(evidence, site.name, **at)
        if kind and isinstance(found, Estimate):
            places[kind].append((f"{site.site} for {at['class']}" if at else site.site, found))
    return {kind: where for kind, where in places.items() if where}


def over_sites(
    evidence: Evidence, measure: str, sites: Sequence[tuple[DatasetSummary, Estimate]], /, **at: float | str
) -> str:
    """The values of sorted sites as the end of a sentence: pooled with the interval, where they are, else each by name.

    Of more sites than stand by name only the ends, of those that are not too small to tell.
    """
    first, last = (short(evidence, measure, found.value) for _, found in (sites[0], sites[-1]))
    pooled = find(evidence, measure, POOLED, **at)
    if len(sites) == 1:
        return f"is {in_text(evidence, measure, sites[0][1])} in {sites[0][0].site}"
    if first == last:
        return f"is {first} at {'both' if len(sites) == 2 else 'all'} sites"
    if isinstance(pooled, Estimate) and is_telling(pooled):
        among = of_all_periods([site.site for site, _ in sites], binding.turning(evidence))
        many = in_words(int(pooled.details["k"] or 0))
        return f"is {in_text(evidence, measure, pooled)}, pooled over {many} sites{among}"
    against = multiplicity.sites_against(evidence, measure)
    ends, few = (sites, "") if len(sites) <= MOST_BY_NAME else ends_of_range(sites, measure, against)
    named = [f"{short(evidence, measure, found.value)} ({site.site}{_on_few(site, measure)})" for site, found in ends]
    if len(ends) <= MOST_BY_NAME:
        return f"is {listing(named)}{few}{of_all_periods([site.site for site, _ in ends], binding.turning(evidence))}"
    among = "" if len(ends) < bands.MANY_SITES else f", over {len(ends):,} sites"
    turning = of_all_periods([ends[0][0].site, ends[-1][0].site], binding.turning(evidence))
    return f"is {named[0]} to {named[-1]}{among}{few}{turning}"


MOST_BY_NAME = 3
"""Sites that a sentence gives the values of."""


def _on_few(site: DatasetSummary, measure: str) -> str:
    """How few events, non-events or patients of a class a value at the end of a range rests on; else nothing."""
    parts = [
        f"{count:,} of class {of}" if site.class_counts else counted(count, of)
        for of, count in scarce(site, bands.FEW_FOR_POOLING).items()
        if site.class_counts or of == RESTS_ON.get(measure, of)
    ]
    return f", {listing(parts)}" if parts else ""


def scarce(site: DatasetSummary, below: int) -> dict[str, int]:
    """Of what a site has fewer than so many: events, non-events or, of several classes, each class; with the count."""
    if not site.class_counts and site.events is None:
        return {}
    counts = site.class_counts or {"event": site.events or 0, "non-event": site.others or 0}
    return {of: count for of, count in counts.items() if count < below}


def new_hospital(evidence: Evidence) -> str:
    """What AUROC a new hospital may expect, after a sentence that gives the pooled one; empty where none is pooled."""
    pooled = find(evidence, "auroc", POOLED)
    if not isinstance(pooled, Estimate):
        return ""
    new = expected_range(pooled)
    if new is None:
        return f"No prediction interval: fewer than {in_words(bands.FEWEST_FOR_A_NEW_SITE)} sites."
    low, high = (short(evidence, "auroc", value) for value in new)
    level = level_of(evidence)
    return f"In a new hospital like these the AUROC may lie between {low} and {high} ({level} prediction interval)."


def not_pooled(evidence: Evidence) -> str:
    """Which sites the pooled numbers leave out, and the O/E over all rows."""
    left = left_out(evidence)
    every = find(evidence, "oe_ratio", POOLED, estimator="stratified")
    beside = f" Over all rows O/E is {in_text(evidence, 'oe_ratio', every)}." if isinstance(every, Estimate) else ""
    return f"{left}{beside}" if left else ""


def left_out(evidence: Evidence) -> str:
    """Which sites the pooled numbers leave out, and why."""
    which = not_among_pooled(evidence)
    return f"Left out, under {bands.FEW_FOR_POOLING} events or non-events: {which}." if which else ""


def not_among_pooled(evidence: Evidence) -> str:
    """The sites that the pooled numbers leave out, those farthest off by name, as one of them may be the worst."""
    if isinstance(find(evidence, "oe_ratio", POOLED), Absent) or evidence.release.outcome.classes:
        return ""
    left = [site for site in externals(evidence) if scarce(site, bands.FEW_FOR_POOLING)]
    ratios = {site.name: find(evidence, "oe_ratio", site.name) for site in left}
    values = {name: ratio.value for name, ratio in ratios.items() if isinstance(ratio, Estimate)}
    order = claims.by_harm(evidence)
    left.sort(key=lambda site: order[(site.name,)])
    names = [
        f"{site.site} (O/E{TIED}{number(values[site.name])})" if site.name in values else site.site for site in left
    ]
    return named_with_the_rest(names, MOST_LEFT_OUT)


MOST_LEFT_OUT = 2
"""Sites that are not pooled that a sentence names."""


def to_show_calibration(evidence: Evidence, sites: Sequence[DatasetSummary], elsewhere: bool = False) -> str:
    """How many patients like theirs would show right risks to be right, where that is open and fewer came; or of any of
    these sites, for a hospital `elsewhere`.

    A number, or from the least of a site to the most; of several classes so many as all of them take.
    """
    needed: dict[str, float] = {}
    off = {each.dataset for each in claims.about(evidence, "calibration") if claims.is_off_by_an_open_amount(each)}
    for site, at, _ in _places(evidence):
        test = find(evidence, "calibration_test", site, **at)
        is_open = multiplicity.size_of_risks(evidence, site, **at) == "open" and site not in off
        if isinstance(test, Estimate) and (is_open or elsewhere):
            needed[site] = max(needed.get(site, 0.0), test.details.get("needed") or 0.0)
    more = [needed[each.name] for each in sites if needed.get(each.name, 0.0) > (0 if elsewhere else each.n)]
    return span(rounded_up, more) if more else ""


def rounded_up(patients: float) -> str:
    """A number of patients in two digits, rounded up."""
    step = 10 ** max(math.floor(math.log10(max(patients, 1))) - 1, 0)
    return f"{math.ceil(patients / step) * step:,}"


def _places(evidence: Evidence) -> list[tuple[str, At, str]]:
    """Each external site with its class or horizon, if any, as a setting, and what a sentence calls the two."""
    every = [(site, at) for site in externals(evidence) for at in evidence.release.each_outcome]
    return [(site.name, at, place(evidence, site.site, at)) for site, at in every]


def place(evidence: Evidence, site: str, at: At, joint: str = " at ") -> str:
    """What a sentence calls a class of a site, or a site by a further horizon."""
    return joint.join([str(at["class"]), site] if "class" in at else [f"{site}{by_when(evidence, at)}"])


def calibration_by_state(
    evidence: Evidence, ratio: str, who: Callable[[list[str]], str], preposition: str = "in"
) -> Sentence:
    """Where calibration is shown to be off, and how, to be good, or is open, beside what `ratio` says of all together;
    `who` names the places.

    What is shown to be off comes first, the gravest by name: no mean, and no first horizon, may hide it. How many
    patients would show right risks to be right is that of the register.
    """
    called: dict[object, tuple[str, At]] = {(site, *at.values()): (name, at) for site, at, name in _places(evidence)}
    stands: dict[str, list[str]] = {state: [] for state in CALIBRATION_IS}
    for claim in claims.worst_first(claims.counted(evidence, "calibration")):
        # The gravest claim of a place is how it stands, as in the table of page 1.
        stands_so, (name, at) = claims.standing(evidence, claim), called.pop(claims.place(claim), ("", {}))
        state = "off" if stands_so == "open" and claims.is_off_by_an_open_amount(claim) else stands_so
        if name and state in stands:
            stands[state].append(f"{name}{_how_off(evidence, claim.dataset, at) if state == 'against' else ''}")
    where = {state: who(names) for state, names in stands.items() if names}
    if stands["against"]:
        where["against"] = named_with_the_rest(stands["against"], MOST_WITHOUT_VALUE)
    said = "; ".join(f"{CALIBRATION_IS[state]} {preposition} {which}" for state, which in where.items())
    needed = (
        to_show_calibration(evidence, externals(evidence), elsewhere=True) if stands["off"] or stands["open"] else ""
    )
    more = f"{needed} patients would show a right model (for narrow intervals see Sample size)" if needed else ""
    if stands["against"]:
        return Sentence(f"Calibration is {said}.", f"{ratio} {f'{more}.' if more else ''}".strip())
    return Sentence(ratio, f"Calibration is {said}{f': {more}' if more else ''}." if said else "")


def _how_off(evidence: Evidence, site: str, at: At) -> str:
    """In brackets the O/E and the slope of a place that are shown to be off, and which way."""
    wrong = multiplicity.misfit(evidence, site, **at)
    if wrong.turn is not None:
        return f" (risks {wrong.turn.how})"
    ways = {"oe_ratio": ("O/E", wrong.level), "calibration_slope": ("slope", SPREAD.get(wrong.spread, ""))}
    found = ((find(evidence, measure, site, **at), *way) for measure, way in ways.items())
    said = [
        f"{way}, {what}{TIED}{number(each.value)}" for each, what, way in found if way and isinstance(each, Estimate)
    ]
    return f" (risks {'; '.join(said)})" if said else ""


CALIBRATION_IS = {
    "against": "shown to be off",
    "shown": "shown to be good",
    "off": "off, open whether by much,",
    "open": "open",
}
"""What is said of calibration that stands so, what is open last."""
SPREAD = {"below 0": "the wrong way round", "below 1": "too extreme", "above 1": "too moderate"}
"""What risks are where their slope lies there."""


def named_with_the_rest(names: Sequence[str], most: int, room: int | None = None, what: str = "") -> str:
    """The first of a list, at most so many and, but for the very first, in so many characters; the rest by count.

    `what` is one of the rest, where its name alone does not say so.
    """
    kept = list(names[:most])
    while room is not None and len(kept) > 1 and len(listing(kept)) > room:
        kept.pop()
    left = len(names) - len(kept)
    more = f" {what}{'s' if left > 1 else ''}" if what else ""
    return listing([*kept, f"{in_words(left)} more{more}"] if left else kept)


def worst_named(evidence: Evidence, names: Sequence[str]) -> str:
    """Sites by name, the worst first; of many so many as are named."""
    is_many = len(externals(evidence)) >= bands.MANY_SITES
    return named_with_the_rest(names, bands.NAMED_OF_MANY if is_many else len(names))


MOST_OFF = 4
"""Places whose risks are off that a sentence names, with their O/E while they are no more; of more it names the
farthest off."""
MOST_WITHOUT_VALUE = 5
"""So many are named without their O/E before any is counted: the words "one more" are no shorter than a name."""


def where_risks_are_off(evidence: Evidence, preposition: str = "in") -> str:
    """Where the risks are shown to be wrong in size, too low or too high, in words, else how they are spread; the
    farthest off first.
    """
    found: list[tuple[int, str, str, str]] = []
    order = claims.by_harm(evidence)
    for site, at, name in _places(evidence):
        wrong, rank = multiplicity.misfit(evidence, site, **at), order[site, *at.values()]
        measure, named = ("oe_ratio", "O/E") if wrong.level else ("calibration_slope", "slope")
        each = find(evidence, measure, site, **at)
        words = (f"far {wrong.level}" if wrong.is_far else wrong.level) or SPREAD.get(wrong.spread, "")
        if wrong.turn is not None:
            values = [period.value for period in wrong.turn.every]
            said = f"O/E{TIED}{number(min(values))} to {number(max(values))} over time"
            found.append((rank, wrong.turn.how, name, said))
        elif words and not wrong.is_reversed and isinstance(each, Estimate):
            found.append((rank, words, name, f"{named}{TIED}{number(each.value)}"))
    has_room = len(found) <= MOST_OFF
    ways = gathered((words, f"{name} ({value})" if has_room else name) for _, words, name, value in sorted(found))
    most = MOST_WITHOUT_VALUE if len(found) <= MOST_WITHOUT_VALUE else max(MOST_OFF // len(ways), 1)
    parts = [f"{words} {preposition} {named_with_the_rest(names, most)}" for words, names in ways.items()]
    return f"Risks are {'; '.join(parts)}." if parts else ""


def severity_of_errors(evidence: Evidence, indices: Sequence[tuple[DatasetSummary, Estimate]]) -> str:
    """The index of severity at the lowest and the highest site, and on how few errors each rests where they are few."""
    ends = []
    indices, small = ends_of_range(indices)
    for site, found in indices:
        errors = int(found.details.get("errors") or 0)
        few = "" if errors >= bands.FEW_FOR_POOLING else f", {counted(errors, 'error')}"
        ends.append(f"{short(evidence, 'error_severity_index', found.value)} ({site.site}{few})")
    runs = f"is {ends[0]}" if len(ends) == 1 else f"is {ends[0]} to {ends[-1]}" if ends else ""
    return f"The error severity index {runs}, of 10{small}." if ends else ""
