"""Whom the model misses: at which hospitals, and in which groups of patients it errs which way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace

from dossier.core import between_groups
from dossier.core.bands import FEW_FOR_POOLING as VERY_FEW
from dossier.core.types import (
    POOLED,
    Absent,
    Estimate,
    Evidence,
    SubgroupSize,
    Subset,
    Withheld,
    externals,
    find_in_subgroup,
    is_telling,
    subgroup_columns,
    subgroup_sizes,
)
from dossier.report.chapters import classes, subgroups
from dossier.report.chapters.committee.percentages import way_off
from dossier.report.chapters.committee.places import alone, in_question, is_here, is_protected, short_names, tells_apart
from dossier.report.chapters.committee.plain import (
    MOST_NAMED,
    all_hospitals,
    counted_hospitals,
    first_named,
    hundred,
    line,
    missing,
    of_hundred,
    with_it,
)
from dossier.report.chapters.sentence import estimated, named_with_the_rest, primary_threshold
from dossier.typeset.tables import Cell, Column, Row, Table
from dossier.typeset.words import counted, in_words, listing, sentence_case, within_sentence

HALF = 0.5
EN_DASH = "\N{EN DASH}"


def who_is_missed(evidence: Evidence) -> tuple[str, ...]:
    """Whom the model misses: by hospital, and then the groups, as few sentences as the first page has room for."""
    return tuple(text for text in (_by_hospital(evidence), *groups_in_brief(evidence)) if text)


def _by_hospital(evidence: Evidence) -> str:
    """From where to where patients are missed, and where it is surely more than half of them."""
    at = primary_threshold(evidence)
    if classes.labels(evidence):
        return _classes_missed(evidence)
    if at is None:
        return "No line is set, so nobody can say who is missed."
    found = [
        (site, estimate)
        for site, estimate in estimated(evidence, "sensitivity", threshold=at)
        if is_here(site.name, evidence)
    ]
    if not found:
        return "Too few patients were tested to say who is missed."
    names = short_names(evidence)
    most = [names[site.name] for site, estimate in found if estimate.high is not None and estimate.high < HALF]
    if len(found) == 1:
        share = 100 - round(100 * found[0][1].value)
        return f"At the {line(at)} it misses {share} of 100 patients {with_it(evidence)}{_range(found[0][1])}."
    (low_site, low), (high_site, high) = found[-1], found[0]
    fewest, largest = (100 - round(100 * estimate.value) for estimate in (low, high))
    ends = f"from {fewest} of 100 ({names[low_site.name]}) to {largest} ({names[high_site.name]})"
    if fewest == largest:
        return (
            f"At the {line(at)} it misses {fewest} of 100 patients {with_it(evidence)} in {all_hospitals(len(found))}."
        )
    over = f" More than half are missed in {first_named(most)}." if most else ""
    return f"At the {line(at)} it misses {ends} of those {with_it(evidence)}.{over}"


def _classes_missed(evidence: Evidence) -> str:
    """The classes that are named rightly least often."""
    shares = [
        (share, label, site)
        for site in in_question(evidence)
        for label, share in zip(classes.labels(evidence), classes.named_rightly_by_class(evidence, site), strict=True)
        if share is not None
    ]
    if not shares:
        return "Nobody counted which patients are named rightly."
    least, label, site = min(shares, key=lambda row: row[0])
    text = f"Least often named rightly: {label} in {short_names(evidence)[site.name]}, {of_hundred(least)} of 100."
    worse = sum(share < HALF for share, _, _ in shares)
    checks = f"{subgroups.part_of(worse, len(shares))} checks, one for each class and hospital"
    return f"{text} In {checks}, fewer than half are." if worse else text


# ---- groups of patients ---------------------------------------------------------------------------------------------


def groups_in_brief(evidence: Evidence) -> tuple[str, ...]:
    """Which groups are missed most and least, for which the percentages are wrong and which way; or that nobody can
    tell.
    """
    gap = _no_groups(evidence)
    if gap:
        return (gap,)
    errors = _errors(evidence)
    ends = max(_ends(evidence), key=lambda each: (each.is_disjoint, each.gap), default=None)
    shown = [error for error in errors.get(MISSED_MORE, ()) if ends is not None and error.column == ends.column]
    kept = [
        (how, which)
        for how, which in sorted(errors.items(), key=lambda pair: pair[0] in BESIDE_OTHERS)
        if not (ends and how == MISSED_MORE)
    ][: 1 if ends else MOST_ERRORS]
    if ends is not None and ends.is_disjoint:
        # Of single hospitals a correction for all comparisons may find nothing where all together do.
        shown = [error for error in shown if error.is_sure]
    by_group = [] if ends is None else [_from_to(ends), "" if shown else _doubt(ends)]
    parts = [f"{how} {named_with_the_rest([error.who for error in which], MOST_NAMED)}." for how, which in kept]
    brief = (*by_group, *parts, _coincidence(evidence, [*kept, (MISSED_MORE, shown)]), _known_at(evidence))
    return tuple(text for text in brief if text)


MOST_ERRORS = 2
"""Kinds of errors that the first page has room for."""


@dataclass(frozen=True)
class MissedOf:
    """A group of patients, and which share of those with the outcome is found in it."""

    who: str
    found: Estimate

    @property
    def words(self) -> str:
        """How many of 100 are missed."""
        return f"{of_missed(self.found).text} of 100 {self.who}"


@dataclass(frozen=True)
class Ends:
    """Of the groups of one column, that of which fewest are missed and that of which most are."""

    column: str
    fewest: MissedOf
    most: MissedOf

    @property
    def gap(self) -> float:
        """How far the two lie apart."""
        return self.fewest.found.value - self.most.found.value

    @property
    def is_disjoint(self) -> bool:
        """Whether their ranges have nothing in common."""
        low, high = self.fewest.found.low, self.most.found.high
        return low is not None and high is not None and high < low

    @property
    def is_apart(self) -> bool:
        """Whether the range of each leaves out the value of the other."""
        fewest, most = self.fewest.found, self.most.found
        return fewest.low is not None and most.high is not None and most.value < fewest.low and most.high < fewest.value


def _ends(evidence: Evidence) -> list[Ends]:
    """Of each column with two groups or more that of which fewest are missed and that of which most are."""
    known: dict[str, list[MissedOf]] = {}
    for (column, label), sizes in _groups_here(evidence).items():
        found = _found_in(evidence, column, label)
        if isinstance(found, Estimate) and not subgroups.is_few(subgroups.together(sizes)):
            known.setdefault(column, []).append(MissedOf(_group(column, label), found))
    ordered = {column: sorted(each, key=lambda one: -one.found.value) for column, each in known.items()}
    return [Ends(column, each[0], each[-1]) for column, each in ordered.items() if len(each) > 1]


def _from_to(ends: Ends) -> str:
    """How many are missed of the two groups, each with its range."""
    fewest, most = (f"{each.words}{_range(each.found)}" for each in (ends.fewest, ends.most))
    return f"By {within_sentence(ends.column)}, it misses from {fewest} to {most}."


def _doubt(ends: Ends) -> str:
    """What to make of a difference that no hospital shows by itself."""
    if ends.is_disjoint:
        return "The ranges do not overlap: take it as real for now."
    return "The ranges overlap: this could be coincidence."


def _not_shown(evidence: Evidence) -> str:
    """That a difference of all together is neither shown nor ruled out."""
    why = "no hospital by itself can tell" if alone(evidence) is None else "too few patients to tell"
    return f"This may be real or coincidence: {why}."


def _missed_apart(evidence: Evidence, shown: Sequence[Error]) -> str:
    """The groups of which many more are missed than of others, though no comparison shows it; empty without any."""
    columns = {error.column for error in shown}
    apart = [each for each in _ends(evidence) if each.is_apart and each.column not in columns]
    pairs = [f"{each.most.words}, but {each.fewest.words}" for each in apart]
    return f"It misses {listing(pairs)}. {_not_shown(evidence)}" if pairs else ""


def _range(found: Estimate) -> str:
    """How few and how many of 100 may be missed, in brackets."""
    low, high = _bounds_of_missed(found)
    return f" (range {low} to {high})" if low and high else ""


def of_missed(found: Estimate) -> Cell:
    """How many of 100 are missed, with the range."""
    missed = f"{100 - round(100 * found.value)}"
    low, high = _bounds_of_missed(found)
    return Cell(missed, f"{low}{EN_DASH}{high}") if low and high else Cell(missed)


def _bounds_of_missed(found: Estimate) -> tuple[str, str]:
    """How few and how many of 100 may be missed; empty without an interval."""
    if found.low is None or found.high is None:
        return "", ""
    return of_hundred(1 - found.high), of_hundred(1 - found.low)


def _found_in(evidence: Evidence, column: str, label: str) -> Estimate | Absent | None:
    """Whom the model finds in a group at the first threshold: at our hospital, or at all of them together."""
    at, site = primary_threshold(evidence), alone(evidence)
    if at is None or classes.labels(evidence):
        return None
    where = POOLED if site is None else site.name
    found = find_in_subgroup(evidence, Subset(column, label), "sensitivity", where, threshold=at)
    return found if where != POOLED or isinstance(found, Absent) or is_telling(found) else None


@dataclass(frozen=True)
class Error:
    """A group for which the model does otherwise, and both values."""

    who: str
    values: str
    is_sure: bool
    """Whether it stands out among all that was compared too."""
    column: str
    """What the groups are made by."""


def _errors(evidence: Evidence) -> dict[str, list[Error]]:
    """What the model does otherwise for which groups, the errors that miss patients first.

    Over all hospitals together; at our own where it is named, and hospital by hospital where nothing differs over all.
    """
    sure = _sure(evidence)
    every = [] if evidence.local_site else list(_over_all(evidence, sure))
    every = [*(every or list(_at_hospitals(evidence, sure))), *_missed_more(evidence, sure)]
    words = OF_CLASSES if classes.labels(evidence) else {}
    found: dict[str, list[Error]] = {}
    for how in ERRORS:
        which = [error for kind, error in every if kind == how]
        if which:
            found[words.get(how, how)] = which
    return found


MISSED_MORE = "It more often misses"
UNDERESTIMATED = "The model underestimates the risk of"
MORE_CASES = "More actual cases per 100 predicted than among the others:"
LESS_TOO_HIGH = "The model overestimates, but less than for the others, the risk of"
LOWER_AUROC = "It tells sick from well less often among"
ALIKE = "It tells sick from well less often, as they are more alike, among"
OVERESTIMATED = "The model overestimates the risk of"
FEWER_CASES = "Fewer actual cases per 100 predicted than among the others:"
LESS_TOO_LOW = "The model underestimates, but less than for the others, the risk of"
HIGHER_AUROC = "It tells sick from well more often among"
ERRORS = (
    *(MISSED_MORE, UNDERESTIMATED, MORE_CASES, LESS_TOO_HIGH, LOWER_AUROC, ALIKE),
    *(OVERESTIMATED, FEWER_CASES, LESS_TOO_LOW, HIGHER_AUROC),
)
"""What the model may do otherwise for a group; what misses patients comes first."""
OF_RISK = {
    (True, "too low"): UNDERESTIMATED,
    (True, "too high"): LESS_TOO_HIGH,
    (True, ""): MORE_CASES,
    (False, "too high"): OVERESTIMATED,
    (False, "too low"): LESS_TOO_LOW,
    (False, ""): FEWER_CASES,
}
"""What is said of a group's percentages, by whether more came of them than of the others' and by their own error."""
OF_CLASSES = {
    LOWER_AUROC: "It tells the classes apart less often among",
    ALIKE: "It tells the classes apart less often, as they are more alike, among",
    HIGHER_AUROC: "It tells the classes apart more often among",
}
"""The same of several classes."""


BESIDE_OTHERS = (
    *(MORE_CASES, LESS_TOO_HIGH, LOWER_AUROC, ALIKE, FEWER_CASES, LESS_TOO_LOW, HIGHER_AUROC),
    *OF_CLASSES.values(),
)
"""What is so beside the others alone; the first page names what is wrong by itself before it."""


def differing_groups(evidence: Evidence) -> tuple[str, ...]:
    """All that is known of groups: which differ, with the numbers, how many were compared, and what nobody counted."""
    gap = _no_groups(evidence)
    if gap:
        return (gap,)
    errors = _errors(evidence)
    parts = [
        f"{how} {named_with_the_rest([f'{error.who} ({error.values})' for error in which], MOST_NAMED)}."
        for how, which in errors.items()
    ]
    apart = _missed_apart(evidence, errors.get(MISSED_MORE, ()))
    made = _comparisons(evidence)
    if parts:
        parts += [_coincidence(evidence, list(errors.items())), apart]
    elif made:
        parts += [apart, _none_shown(made)]
    else:
        parts += [apart, "No group could be compared with the others: too few patients."]
    return tuple(text for text in (*parts, _few_groups(evidence), _not_counted(evidence)) if text)


def _none_shown(made: int) -> str:
    """That no comparison shows a difference, which is not to say that there is none."""
    start = f"{sentence_case(counted(made, 'comparison'))} with the other patients could be made"
    return f"{start}; in none was a difference shown. With small numbers a real one can stay hidden."


def _not_counted(evidence: Evidence) -> str:
    """That nobody can say how many are missed in each group, where the table does not."""
    if classes.labels(evidence):
        return "How many are named rightly in each group was not counted."
    known = (_found_in(evidence, column, label) for column, label in _groups_here(evidence))
    if any(isinstance(estimate, Estimate) for estimate in known):
        return ""
    kept = ", kept back" if is_protected(evidence) else ""
    return f"How many are missed in each group is not known: too few patients{kept}, or no line."


def _coincidence(evidence: Evidence, found: Sequence[tuple[str, Sequence[Error]]]) -> str:
    """Which of what is said may stand out by chance, as so many comparisons were looked at; empty where none may."""
    every = [error for _, which in found for error in which]
    unsure = list(dict.fromkeys(error.who for error in every if not error.is_sure))
    if not unsure:
        return ""
    whom = "" if all(not error.is_sure for error in every) else f" for {named_with_the_rest(unsure, MOST_NAMED)}"
    return f"The difference could be coincidence{whom} ({counted(_comparisons(evidence), 'comparison')})."


def _comparisons(evidence: Evidence) -> int:
    """How many times a group was compared with the others, over all hospitals and at each of them."""
    return len(_compared(evidence))


def _compared(evidence: Evidence) -> list[Estimate]:
    """Every difference of a group to the others: at each hospital, and over all where none is ours."""
    here = [difference.found for difference in subgroups.compared(evidence, evidence.local_site)]
    groups = evidence.subgroups
    together = () if evidence.local_site else between_groups.compared(groups.summaries, groups.results)
    return [*here, *together]


def _sure(evidence: Evidence) -> list[Estimate]:
    """The differences that so many comparisons do not explain."""
    every = _compared(evidence)
    level = evidence.release.release.level
    return [found for found, is_held in zip(every, between_groups.survives(every, level), strict=True) if is_held]


def _missed_more(evidence: Evidence, sure: Sequence[Estimate]) -> Iterator[tuple[str, Error]]:
    """The groups of which more are missed than of the other patients of their hospital, beyond the range."""
    for difference in subgroups.compared(evidence, evidence.local_site):
        here = find_in_subgroup(
            evidence, difference.subset, difference.measure, difference.dataset.name, **difference.at
        )
        if difference.threshold is None or not difference.is_apart or isinstance(here, Absent):
            continue
        missed = [100 - round(100 * share) for share in (here.value, here.value - difference.found.value)]
        label = difference.label
        if difference.found.value > 0:
            rest = [other for other in subgroup_columns(evidence)[difference.column] if other != label]
            if len(rest) > 1:
                continue
            label, missed = rest[0], missed[::-1]
        where = "" if alone(evidence) else f" in {short_names(evidence)[difference.dataset.name]}"
        values = f"{missed[0]} of 100, of the others {missed[1]}"
        who = f"{_group(difference.column, label)}{where}"
        yield MISSED_MORE, Error(who, values, difference.found in sure, difference.column)


def _no_groups(evidence: Evidence) -> str:
    """That groups were not looked at, or that the data do not say who is in which."""
    if not subgroups.is_declared(evidence):
        return "Groups, such as women and men, were not looked at one by one."
    here = [summary for summary in evidence.subgroups.summaries if is_here(summary.dataset, evidence)]
    if not any(isinstance(subgroup.size, SubgroupSize) for subgroup in here):
        columns = listing([within_sentence(name) for name in dict.fromkeys(subgroup.column for subgroup in here)])
        return f"By {columns}: not known, as the data do not say."
    return ""


def _over_all(evidence: Evidence, sure: Sequence[Estimate]) -> Iterator[tuple[str, Error]]:
    """The groups that differ from the others over all hospitals together, with the direction."""
    for result in between_groups.over_all_sites(evidence.subgroups.summaries, evidence.subgroups.results):
        how = _how(result.measure, result.here, result.difference, result.is_case_mix)
        yield (
            how,
            Error(
                _group(result.column, result.label, result.of_class),
                _values(result.measure, result.here, result.difference),
                result.apart in sure,
                result.column,
            ),
        )


def _at_hospitals(evidence: Evidence, sure: Sequence[Estimate]) -> Iterator[tuple[str, Error]]:
    """The groups that stand out from the other patients of their hospital."""
    for difference in subgroups.compared(evidence, evidence.local_site):
        if difference.threshold is not None or not difference.is_apart:
            continue
        here = find_in_subgroup(
            evidence, difference.subset, difference.measure, difference.dataset.name, **difference.at
        )
        if isinstance(here, Absent):
            continue
        who = _group(difference.column, difference.label, difference.of_class)
        where = "" if alone(evidence) else f" in {short_names(evidence)[difference.dataset.name]}"
        how = _how(difference.measure, here, difference.found.value, subgroups.is_case_mix(evidence, difference))
        values = _values(difference.measure, here, difference.found.value)
        yield how, Error(f"{who}{where}", values, difference.found in sure, difference.column)


def _how(measure: str, here: Estimate, difference: float, is_case_mix: bool) -> str:
    """What the model does otherwise for a group: it errs the way that the table says, or differs from the others."""
    if measure == "auroc":
        return HIGHER_AUROC if difference > 0 else ALIKE if is_case_mix else LOWER_AUROC
    return OF_RISK[difference > 0, way_off(here)]


def _values(measure: str, here: Estimate, difference: float) -> str:
    """Both values, in people."""
    of_what = "of 100" if measure == "auroc" else "actual cases per 100 predicted"
    return f"{of_hundred(here.value)} {of_what}, the others {of_hundred(here.value - difference)}"


def _group(column: str, label: str, of_class: str | None = None) -> str:
    """A group of patients by its column and level; of several classes with the class."""
    of_what, level = within_sentence(column), within_sentence(label)
    named = f'patients with {of_what} "{level}"'
    if of_what == "age":
        named = f"patients aged {level}"
    if of_what in ("sex", "gender"):
        named = f"{level} patients" if level in ("female", "male") else level
    return f"{named}, for {of_class}" if of_class else named


def _few_groups(evidence: Evidence) -> str:
    """In how many groups too few patients were tested, and at how many hospitals the groups are known."""
    sized = [summary for summary in evidence.subgroups.summaries if is_here(summary.dataset, evidence)]
    known = [subgroup for subgroup in sized if isinstance(subgroup.size, SubgroupSize)]
    few = [
        subgroup for subgroup in known if isinstance(subgroup.size, SubgroupSize) and subgroups.is_few(subgroup.size)
    ]
    each = "" if alone(evidence) else ", counted hospital by hospital,"
    parts = [_known_at(evidence)]
    if few:
        verb = "is" if len(few) == 1 else "are"
        parts.append(f"{sentence_case(subgroups.part_of(len(few), len(known)))} groups{each} {verb} too small to tell.")
    return " ".join(text for text in parts if text)


def _known_at(evidence: Evidence) -> str:
    """At how many hospitals the groups are known, where this is not at all of them."""
    sites = in_question(evidence)
    of_count: dict[int, list[str]] = {}
    for column in dict.fromkeys(summary.column for summary in evidence.subgroups.summaries):
        count = sum(bool(subgroup_sizes(evidence, column, site.name)) for site in sites)
        if 0 < count < len(sites):
            of_count.setdefault(count, []).append(within_sentence(column))
    return " ".join(
        f"Data by {listing(columns)} come from {in_words(count)} of {counted_hospitals(len(sites))} only."
        for count, columns in of_count.items()
    )


# ---- the table of groups --------------------------------------------------------------------------------------------

MOST_GROUPS = 8
"""Groups of patients in the table, and in a sentence of its page."""
NO_ERROR = "–"
"""In place of a direction where the range holds 100, or there is none."""
TOO_FEW, NOT_COMBINED = "too few", "not combined"


def _together(evidence: Evidence, columns: Set[str]) -> str:
    """Which hospitals are counted together: all, or those that record one of the columns."""
    having = {site for column in columns for site in subgroups.sites_with(evidence, column)}
    if len(having) == len(externals(evidence)):
        return "all hospitals together"
    names = [short_names(evidence)[site.name] for site in externals(evidence) if site.site in having]
    return f"{listing(names) if len(names) <= 3 else f'{in_words(len(names))} hospitals'} together"


def groups(evidence: Evidence) -> Table | None:
    """Each group of patients at our hospital, the only one, or all together: how many, and how the model does."""
    site = alone(evidence)
    where = POOLED if site is None else site.name
    several = bool(classes.labels(evidence))
    known = _groups_here(evidence)
    rows: list[Row] = []
    for (column, label), sizes in list(known.items())[:MOST_GROUPS]:
        size = subgroups.together(sizes)
        cells = [Cell(f"{size.n:,}", kind="plain"), Cell(f"{size.shown:,}", kind="plain")]
        # Of two classes all hospitals are combined, however few patients of the group each has.
        is_few = all(map(subgroups.is_few, sizes)) if several else subgroups.is_few(size)
        found = {
            measure: find_in_subgroup(evidence, Subset(column, label), measure, where)
            for measure in (("auroc",) if several else ("auroc", "oe_ratio"))
        }
        cells += [_of_group(estimate, where, is_few) for estimate in found.values()]
        if not several:
            cells.append(_direction(found["oe_ratio"], cells[-1]))
            cells += [_missed(evidence, column, label, is_few)] if primary_threshold(evidence) is not None else []
        rows.append(Row(f"{sentence_case(label)} ({within_sentence(column)})", tuple(cells)))
    if not rows:
        return None
    columns: tuple[Column, ...] = (
        Column("Patients"),
        Column("In the least common class" if several else sentence_case(with_it(evidence))),
        Column(f"{sentence_case(tells_apart(evidence))}, of 100", intervals=True),
        *(
            ()
            if several
            else (Column("Actual cases per 100 predicted", intervals=True), Column("Percentages", words=True))
        ),
        *((Column("Missed, of 100", intervals=True),) if not several and primary_threshold(evidence) else ()),
    )
    at = primary_threshold(evidence)
    missed_at = "" if several or at is None else f" Missed: at the {line(at)}."
    texts = {cell.text for row in rows for cell in row.cells[2:] if cell.kind == "absent"}
    of_risk = "" if several else f" {NO_ERROR}: no error was shown."
    if all(cell.kind == "absent" or cell.text == NO_ERROR for row in rows for cell in row.cells[2:]):
        of_risk = missed_at = ""
        rows, columns = [replace(row, cells=row.cells[:2]) for row in rows], columns[:2]
    name = _together(evidence, {column for column, _ in known}) if site is None else short_names(evidence)[site.name]
    return Table(
        name="table-groups",
        title=f"Groups of patients, {name}.",
        note=f"{_note(evidence, texts, len(known))}{of_risk}{missed_at}{_protected(evidence)}".strip(),
        head="Group",
        columns=columns,
        rows=tuple(rows),
    )


def _direction(found: Estimate | Absent, shown: Cell) -> Cell:
    """Which way the model errs for a group, where the range says so."""
    if shown.kind == "absent" or isinstance(found, Absent):
        return Cell(NO_ERROR, kind="plain")
    return Cell(way_off(found) or NO_ERROR, kind="word")


def _missed(evidence: Evidence, column: str, label: str, is_few: bool) -> Cell:
    """How many of 100 are missed in a group."""
    found = _found_in(evidence, column, label)
    if is_few:
        return Cell(TOO_FEW, kind="absent")
    if found is None or (isinstance(found, Absent) and alone(evidence) is None):
        return Cell(NOT_COMBINED, kind="absent")
    return missing(found) if isinstance(found, Absent) else of_missed(found)


def _note(evidence: Evidence, texts: set[str], known: int) -> str:
    what = "of a class" if classes.labels(evidence) else f"{with_it(evidence)}, or without"
    notes = [f"Too few: under {VERY_FEW} patients {what}."] if TOO_FEW in texts else []
    if NOT_COMBINED in texts:
        notes.append("Not combined: too few hospitals have enough of the group. The full report has each by itself.")
    if known > MOST_GROUPS:
        notes.append(f"{sentence_case(in_words(known - MOST_GROUPS))} more groups: full report, under Subgroups.")
    return " ".join(notes)


def _protected(evidence: Evidence) -> str:
    """That the counts of groups are protected one by one, and which groups are kept back."""
    if not is_protected(evidence):
        return ""
    shown = _groups_here(evidence)
    hidden = dict.fromkeys(
        (summary.column, summary.label)
        for summary in evidence.subgroups.summaries
        if isinstance(summary.size, Withheld) and is_here(summary.dataset, evidence)
    )
    gone = ""
    for start, groups_of in (
        ("Kept back", [group for group in hidden if group not in shown]),
        ("Kept back at some hospitals", [group for group in hidden if group in shown]),
    ):
        names = [f"{within_sentence(label)} ({within_sentence(column)})" for column, label in groups_of]
        gone += f" {start}: {named_with_the_rest(names, MOST_NAMED)}." if names else ""
    return f" To protect patients, each group is counted by itself: groups need not add up.{gone}"


def _groups_here(evidence: Evidence) -> dict[tuple[str, str], list[SubgroupSize]]:
    """The sizes of each group at our hospital, or at all of them, by column and label."""
    sizes: dict[tuple[str, str], list[SubgroupSize]] = {}
    for summary in evidence.subgroups.summaries:
        if isinstance(summary.size, SubgroupSize) and is_here(summary.dataset, evidence):
            sizes.setdefault((summary.column, summary.label), []).append(summary.size)
    return sizes


def _of_group(found: Estimate | Absent, where: str, few: bool) -> Cell:
    """A value of a group, where enough hospitals are combined: the range over two of them holds nearly everything."""
    if few:
        return Cell(TOO_FEW, kind="absent")
    if where != POOLED:
        return hundred(found)
    enough = isinstance(found, Estimate) and is_telling(found)
    return hundred(found) if enough else Cell(NOT_COMBINED, kind="absent")
