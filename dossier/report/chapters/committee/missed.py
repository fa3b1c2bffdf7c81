"""Whom the model misses: at which hospitals, and in which groups of patients it errs which way."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Set
from dataclasses import replace

from dossier.core import bands, between_groups, claims, facts, multiplicity, types
from dossier.report.chapters import classes, subgroups
from dossier.report.chapters.committee import goals_met, places, plain
from dossier.report.chapters.sentence import estimated, named_with_the_rest
from dossier.typeset.names import ends_of_range, told_apart
from dossier.typeset.numbers import people
from dossier.typeset.tables import Cell, Column, Row, Table, worded
from dossier.typeset.words import counted, how_many, in_words, listing, part_of, sentence_case, within_sentence
from dossier.words import entries

EN_DASH = "\N{EN DASH}"


def who_is_missed(evidence: types.Evidence) -> tuple[str, ...]:
    """Whom the model misses: by hospital, and then the groups, as few sentences as the first page has room for."""
    return tuple(text for text in (_by_hospital(evidence), *groups_in_brief(evidence)) if text)


def _by_hospital(evidence: types.Evidence) -> str:
    """From where to where patients are missed."""
    at = evidence.release.thresholds.primary
    if classes.labels(evidence):
        return _classes_missed(evidence)
    if at is None:
        return "No line is set, so nobody can say who is missed."
    every = estimated(evidence, "sensitivity", threshold=at)
    found = [pair for pair in every if places.is_here(pair[0].name, evidence)]
    if not found:
        return "Too few patients were tested to say who is missed."
    found, few = ends_of_range(found, "sensitivity")
    if len(found) == 1:
        site, only = found[0]
        named = places.where(evidence, site) if few else ""
        whom = f"{people(1 - only.value)} of 100 patients {plain.with_it(evidence)}"
        return f"At the {plain.line(at)} it misses {whom}{named}{_range(only)}{few}."
    (low_site, low), (high_site, high) = found[-1], found[0]
    fewest, largest = (people(1 - estimate.value) for estimate in (low, high))
    ends = f"from {fewest} of 100{places.where(evidence, low_site)} to {largest}{places.where(evidence, high_site)}"
    if fewest == largest:
        whom = f"{fewest} of 100 patients {plain.with_it(evidence)} in {plain.all_hospitals(len(found))}"
        return f"At the {plain.line(at)} it misses {whom}{few}."
    return f"At the {plain.line(at)} it misses {ends} {plain.with_it(evidence)}{few}."


def _classes_missed(evidence: types.Evidence) -> str:
    """The classes that are named rightly least often."""
    shares = [
        (share, label, site)
        for site in places.in_question(evidence)
        for label, share in zip(classes.labels(evidence), classes.named_rightly_by_class(evidence, site), strict=True)
        if share is not None
    ]
    if not shares:
        return f"Which patients are named rightly is {'kept back' if evidence.is_protected else 'not known'}."
    least, label, site = min(shares, key=lambda row: row[0])
    return f"Least often named rightly: {label} in {site.site}, {people(least)} of 100."


# ---- groups of patients ---------------------------------------------------------------------------------------------


def groups_in_brief(evidence: types.Evidence) -> tuple[str, ...]:
    """For which groups the model does worse than for the other patients of their hospitals; or that nobody can tell."""
    if gap := _no_groups(evidence):
        return (gap,)
    errors = dict(list(_errors(evidence, in_brief=True).items())[:MOST_ERRORS])
    parts = [f"{how} {plain.first_named(which, GROUP)}." for how, which in errors.items()]
    left = {_how(evidence, look) for look in _worse_off(evidence) if look.state == "against"} - set(errors)
    parts += ["More is wrong for groups: table of groups."] if left else []
    parts = [*parts, _even_if_right(evidence, errors)] if parts else [_counts(evidence, in_brief=True)]
    return tuple(text for text in (*parts, _of_goals(evidence), _known_at(evidence)) if text)


def worse_for(evidence: types.Evidence) -> str:
    """Which errors are shown for which groups: for the first words of the first page."""
    shown = [look for look in _worse_off(evidence) if look.state == "against"]
    kinds = facts.gathered((_how(evidence, look), _whom(evidence, look)) for look in shown)
    said = [f"{how} {plain.first_named(list(dict.fromkeys(who)), GROUP)}." for how, who in kinds.items()]
    return " ".join((*said[:MOST_ERRORS], *(["More is wrong for groups."] if said[MOST_ERRORS:] else [])))


def _even_if_right(evidence: types.Evidence, errors: Collection[str]) -> str:
    """That the risks may explain some or all of these errors; the later page says what one would expect by them."""
    states = {look.state for look in _worse_off(evidence) if _how(evidence, look) in errors}
    if "explained" not in states:
        return ""
    what = "some of this" if "against" in states else "this"
    return f"Right percentages may do {what} too, as groups differ in risk."


def _of_goals(evidence: types.Evidence) -> str:
    """How the goals stand that were set for groups, and for whom which was missed."""
    every = [claim for claim in claims.counted(evidence, "groups") if claim.limit_source == "declared"]
    here = [each for each in every if each.dataset == types.POOLED or places.is_here(each.dataset, evidence)]
    if not here:
        return ""
    counts = {words: sum(claim.state == state for claim in here) for state, words in goals_met.STANDS.items()}
    parts = [f"{words} in {how_many(count)}" for words, count in counts.items() if count]
    missed = dict.fromkeys(
        f"{goals_met.goal_word(evidence, claim.measure)} for {patients_of(claim.subset.column, claim.subset.level)}"
        for claim in here
        if claim.state == "against" and claim.subset is not None and claim.measure is not None
    )
    which = named_with_the_rest(list(missed), plain.MOST_NAMED)
    if len(here) == len(missed) == 1:
        return f"Its goal for a group was missed: {which}."
    whom = f" Missed: {which}." if missed else ""
    return f"Its goals for groups, in {counted(len(here), 'check')}: {listing(parts)}.{whom}"


GROUP = "group"
"""What those of patients are called who are not named."""
MOST_ERRORS = 2
"""Kinds of errors that the first page has room for."""


def _looks(evidence: types.Evidence) -> tuple[between_groups.Look, ...]:
    """Every comparison of a group with the others: at our hospital, or within all of them.

    None at a hospital whose risks turn over time: who came when tells its groups apart.
    """
    groups = evidence.subgroups
    if _turns(evidence):
        return ()
    return between_groups.looks(groups.summaries, groups.results, evidence.local_site or types.POOLED)


def _worse_off(evidence: types.Evidence) -> list[between_groups.Look]:
    """The groups that are worse off: within all hospitals, or at one of them alone; what accuses comes first."""
    groups = evidence.subgroups
    alone = () if evidence.local_site else between_groups.at_single_sites(groups.summaries, groups.results)
    every = (look for look in (*_looks(evidence), *alone) if look.is_worse_off)
    return sorted(every, key=lambda look: look.state != "against")


def _whom(evidence: types.Evidence, look: between_groups.Look) -> str:
    """The patients of a comparison, with the hospital where it is of one of several."""
    who = patients_of(look.column, look.label, look.of_class)
    of_one = [
        site.site for site in types.externals(evidence) if site.name == look.dataset and not places.alone(evidence)
    ]
    return " in ".join([who, *of_one])


def _turns(evidence: types.Evidence) -> bool:
    """Whether it is our hospital whose risks turn over time."""
    return evidence.local_site is not None and multiplicity.misfit(evidence, evidence.local_site).turn is not None


def _range(found: types.Estimate) -> str:
    """How few and how many of 100 may be missed, in brackets."""
    low, high = _bounds_of_missed(found)
    return f" (range {low} to {high})" if low and high else ""


def of_missed(found: types.Estimate) -> Cell:
    """How many of 100 are missed, with the range."""
    missed = people(1 - found.value, in_cell=True)
    low, high = _bounds_of_missed(found)
    return Cell(missed, f"{low}{EN_DASH}{high}" if low and high else "", of=found)


def _bounds_of_missed(found: types.Estimate) -> tuple[str, str]:
    """How few and how many of 100 may be missed; empty without an interval."""
    if found.low is None or found.high is None:
        return "", ""
    return people(1 - found.high, in_cell=True), people(1 - found.low, in_cell=True)


def _found_in(evidence: types.Evidence, column: str, label: str) -> types.Estimate | types.Absent | None:
    """Whom the model finds in a group at the first threshold: at our hospital, or at all of them together."""
    at, site = evidence.release.thresholds.primary, places.alone(evidence)
    if at is None or classes.labels(evidence):
        return None
    where = types.POOLED if site is None else site.name
    found = types.find_in_subgroup(evidence, types.Subset(column, label), "sensitivity", where, threshold=at)
    return found if where != types.POOLED or isinstance(found, types.Absent) or types.is_telling(found) else None


MISSED_MORE = "It more often misses"
MORE_ALARMS = "It more often gives a false alarm for"
UNDERESTIMATED = "The model underestimates the risk of"
OVERESTIMATED = "The model overestimates the risk of"
MORE_CASES = "More actual cases per 100 predicted than among the others:"
FEWER_CASES = "Fewer actual cases per 100 predicted than among the others:"
LESS_OFTEN = "less often than the kind of patients explains among"
AT_THRESHOLD = {"sensitivity": MISSED_MORE, "specificity": MORE_ALARMS}
"""What is said of a group that is worse off at the first threshold."""


def _errors(evidence: types.Evidence, in_brief: bool = False) -> dict[str, list[str]]:
    """What the model does otherwise for which groups, with both values; what accuses it comes before what the risks may
    explain, and of one kind the groups that are farthest off.
    """
    is_single = evidence.local_site is None
    kinds = facts.gathered((_how(evidence, look), look) for look in _worse_off(evidence))

    def said(look: between_groups.Look) -> str:
        more = "" if in_brief else f"{_told_in(evidence, look)}{_range_of(look)}{_expected(look)}"
        return f"{_whom(evidence, look)} ({_values(look)}{more})"

    def order(look: between_groups.Look) -> tuple[bool, bool, float]:
        return look.state != "against", is_single and look.dataset != types.POOLED, -look.distance

    return {how: list(map(said, sorted(looks, key=order))) for how, looks in kinds.items()}


def _how(evidence: types.Evidence, look: between_groups.Look) -> str:
    """What the model does otherwise for a group: it errs the way that the table says, or differs from the others."""
    if look.measure == between_groups.RATIO:
        own, beside = (UNDERESTIMATED, MORE_CASES) if look.is_worse else (OVERESTIMATED, FEWER_CASES)
        return beside if look.fact["is_relative"] else own
    return AT_THRESHOLD.get(look.measure, f"It {places.tells_apart(evidence)} {LESS_OFTEN}")


def _values(look: between_groups.Look) -> str:
    """Both values in people."""
    here, rest = look.here.value, look.rest
    if look.measure in between_groups.AT_THRESHOLD:
        here, rest = 1 - here, 1 - rest
    is_ratio = look.measure == between_groups.RATIO
    rendered, of_what = (plain.per_hundred, "actual cases per 100 predicted") if is_ratio else (people, "of 100")
    return f"{rendered(here)} {of_what}, the others there {rendered(rest)}"


def _told_in(evidence: types.Evidence, look: between_groups.Look) -> str:
    """At how many hospitals the group was compared with the others, where that is not at all."""
    sites = len(types.externals(evidence))
    fewer = look.rests_on(sites) if look.dataset == types.POOLED else sites
    tested = int(look.apart.details.get("tested_at") or fewer)
    enough = f", enough to test in {in_words(tested)}" if tested < fewer else ""
    return f"; in {in_words(fewer)} of {in_words(sites)} hospitals{enough}" if fewer < sites or enough else ""


def _range_of(look: between_groups.Look) -> str:
    """How far both may lie apart."""
    low, high = look.apart.low, look.apart.high
    if look.measure not in between_groups.AT_THRESHOLD or low is None or high is None:
        return ""
    ends = sorted(round(100 * abs(bound)) for bound in (low, high))
    return f"; {ends[0]} to {ends[1]} of 100 more"


def _expected(look: between_groups.Look) -> str:
    """What one would expect by the risks of the group and of the others."""
    expected = [people(1 - share) for share in look.expected or ()]
    return f"; by its percentages one would expect {listing(expected)}" if expected else ""


def differing_groups(evidence: types.Evidence) -> tuple[str, ...]:
    """All that is known of groups: which differ, with the numbers, how many were compared, and what nobody counted."""
    if gap := _no_groups(evidence):
        return (gap,)
    parts = [
        f"{how} {named_with_the_rest(which, plain.MOST_NAMED, what=GROUP)}." for how, which in _errors(evidence).items()
    ]
    # In how many groups too few patients were tested, and at how many hospitals the groups are known.
    here = [summary.size for summary in evidence.subgroups.summaries if places.is_here(summary.dataset, evidence)]
    known = [size for size in here if isinstance(size, types.SubgroupSize)]
    few = [size for size in known if size.is_few]
    each = "" if places.alone(evidence) else ", counted hospital by hospital,"
    sizes = [_known_at(evidence)]
    if few:
        verb = "is" if len(few) == 1 else "are"
        sizes.append(f"{sentence_case(part_of(len(few), len(known)))} groups{each} {verb} too small to tell.")
    parts += [_counts(evidence), _of_goals(evidence), " ".join(filter(None, sizes)), _not_counted(evidence)]
    return tuple(filter(None, parts))


def _counts(evidence: types.Evidence, in_brief: bool = False) -> str:
    """What the comparisons show, and for whom the model may do worse though this could be coincidence."""
    looks = _looks(evidence)
    if not looks:
        why = "their numbers are kept back" if evidence.is_protected else "too few patients"
        why = "its percentages changed over the time of the test" if _turns(evidence) else why
        where = " in this hospital alone" if places.alone(evidence) else ""
        return f"No group could be compared with the others{where}: {why}."
    counts = (sum(look.state == state for look in looks) for state in SHOWS)
    parts = [f"{how_many(count)} {words}" for count, words in zip(counts, SHOWS.values(), strict=True) if count]
    worse = [look for look in looks if look.is_slight or (look.is_doubtful and look.errs_more)]
    whose = "of groups" if in_brief else "with the other patients of the same hospital"
    is_told_apart = not evidence.local_site and any(look.is_single for look in _worse_off(evidence))
    over = ", all hospitals together" if is_told_apart else ""
    text = f"Of {counted(len(looks), 'comparison')} {whose}{over}, {listing(parts)}."
    # For a group that it does worse for in one way, another way would read as if that were open.
    known = {patients_of(look.column, look.label, look.of_class) for look in looks if look.is_worse_off}
    for is_sure, is_explained, start, end in (
        (True, False, "It does worse for", "but it may be only a little"),
        (True, True, "It does worse for", "but it may be only a little, and right percentages may do so too"),
        (False, False, "It may do worse for", "or this is coincidence"),
    ):
        here = [look for look in worse if (look.is_sure, look.is_explained) == (is_sure, is_explained)]
        groups = dict.fromkeys((patients_of(look.column, look.label, look.of_class), _in_what(look)) for look in here)
        if names := [f"{name} ({what})" for name, what in groups if name not in known]:
            text += f" {start} {named_with_the_rest(names, plain.MOST_NAMED, what=GROUP)}, {end}."
    return text


def _in_what(look: between_groups.Look) -> str:
    return WORSE[look.measure] + (f" {look.risks_are}" if look.measure == between_groups.RATIO else "")


WORSE: dict[str, str] = entries("pages")["may_do_worse"]
"""In what the model may do worse for a group."""
SHOWS: dict[str, str] = entries("pages")["groups"]
"""What comparisons show, by their state."""


def _not_counted(evidence: types.Evidence) -> str:
    """That nobody can say how many are missed in each group, where the table does not."""
    if classes.labels(evidence):
        kept = "is kept back" if evidence.is_protected else "was not counted"
        return f"How many are named rightly in each group {kept}."
    known = (_found_in(evidence, column, label) for column, label in _groups_here(evidence))
    if any(isinstance(estimate, types.Estimate) for estimate in known):
        return ""
    kept = ", kept back" if evidence.is_protected else ""
    return f"How many are missed in each group is not known: too few patients{kept}, or no line."


def _no_groups(evidence: types.Evidence) -> str:
    """That groups were not looked at, or that the data do not say who is in which."""
    if not subgroups.is_declared(evidence):
        return "Groups of patients were not looked at one by one."
    here = [summary for summary in evidence.subgroups.summaries if places.is_here(summary.dataset, evidence)]
    if here and not any(isinstance(subgroup.size, types.SubgroupSize) for subgroup in here):
        columns = listing([within_sentence(name) for name in dict.fromkeys(subgroup.column for subgroup in here)])
        at = " here" if evidence.local_site else ""
        return f"By {columns}: not known{at}, as the data do not say."
    return ""


def patients_of(column: str, label: str, of_class: str | None = None) -> str:
    """A group of patients by its column and level; of several classes with the class."""
    of_what, level = within_sentence(column), within_sentence(label)
    named = f'patients with {of_what} "{level}"'
    if of_what == "age":
        named = f"patients aged {level}"
    if of_what in ("sex", "gender"):
        named = f"{level} patients" if level in ("female", "male") else level
    return f"{named}, for {of_class}" if of_class else named


def _known_at(evidence: types.Evidence) -> str:
    """At how many hospitals the groups are known, where this is not at all of them."""
    sites = places.in_question(evidence)
    of_count: dict[int, list[str]] = {}
    for column in dict.fromkeys(summary.column for summary in evidence.subgroups.summaries):
        count = sum(bool(types.subgroup_sizes(evidence, column, site.name)) for site in sites)
        if 0 < count < len(sites):
            of_count.setdefault(count, []).append(within_sentence(column))
    known = "given of" if evidence.is_protected else "known in"
    return " ".join(
        f"{sentence_case(listing(columns))}: {known} {in_words(count)} of {plain.counted_hospitals(len(sites))}."
        for count, columns in of_count.items()
    )


# ---- the table of groups --------------------------------------------------------------------------------------------

MOST_GROUPS = 8
"""Groups of patients in the table, and in a sentence of its page."""
TOO_FEW, NOT_COMBINED, NOT_ALIKE = "too few", "not combined", "see below"


def _together(evidence: types.Evidence, columns: Set[str]) -> str:
    """Which hospitals are counted: all, or those that record one of the columns."""
    having = {site for column in columns for site in subgroups.sites_with(evidence, column)}
    if len(having) == len(types.externals(evidence)):
        return "all hospitals"
    names = [site.site for site in types.externals(evidence) if site.site in having]
    return listing(names) if len(names) <= 3 else f"{in_words(len(names))} hospitals"


def groups(evidence: types.Evidence) -> Table | None:
    """Each group of patients at our hospital, the only one, or all together: how many, and how the model does."""
    site, at = places.alone(evidence), evidence.release.thresholds.primary
    where = types.POOLED if site is None else site.name
    several, known = bool(classes.labels(evidence)), _groups_here(evidence)
    rows, fewer, resting = list[Row](), "", list[tuple[tuple[str, str], str]]()
    ratios = (look for look in _worse_off(evidence) if look.is_single and look.measure == between_groups.RATIO)
    apart = {(look.column, look.label) for look in ratios if site is None}
    for (column, label), sizes in list(known.items())[:MOST_GROUPS]:
        size = subgroups.together(sizes)
        cells = [Cell.count(size.n), Cell.count(size.shown)]
        # Of two classes all hospitals are combined, however few patients of the group each has.
        is_few = all(each.is_few for each in sizes) if several else size.is_few
        found = {
            measure: types.find_in_subgroup(evidence, types.Subset(column, label), measure, where)
            for measure in (("auroc",) if several else ("auroc", "oe_ratio"))
        }
        cells += [
            Cell.absent(NOT_ALIKE)
            if name == "oe_ratio" and (column, label) in apart
            else _of_group(estimate, where, is_few, name == "oe_ratio")
            for name, estimate in found.items()
        ]
        if not several:
            cells += [_missed(evidence, column, label, is_few)] if at is not None else []
        rows.append(Row(f"{sentence_case(label)} ({within_sentence(column)})", tuple(cells)))
        seen = sum(bool(each.n) for each in sizes)
        if site is None and seen < len(subgroups.sites_with(evidence, column)):
            fewer += f" {rows[-1].label}: seen in {in_words(seen)} of them."
        if site is None and not several and not is_few:
            those = (told_apart(evidence), "actual cases", "missed")
            said = dict(zip(those, (*found.values(), _found_in(evidence, column, label)), strict=True))
            fewer += _of_fewer(rows[-1].label, (seen, size.n), said)
            resting += _mostly_at(label, said)
    if not rows:
        return None
    least = "In the least common class" if several else sentence_case(plain.with_it(evidence))
    columns = [Column("Patients"), Column(least)]
    columns.append(Column(f"{sentence_case(places.tells_apart(evidence))}, of 100", intervals=True))
    if not several:
        columns += [Column("Actual cases per 100 predicted", intervals=True)]
        columns += [Column("Missed, of 100", intervals=True)] if at else []
    missed_at = "" if several or at is None else f" Missed: at the {plain.line(at)}."
    texts = {cell.text for row in rows for cell in row.cells[2:] if cell.kind == "absent"}
    joint = " together" if site is None else ""
    if all(cell.kind == "absent" for row in rows for cell in row.cells[2:]):
        missed_at = joint = ""
        rows, columns = [replace(row, cells=row.cells[:2]) for row in rows], columns[:2]
    name = _together(evidence, {column for column, _ in known}) if site is None else site.site
    site_of = {each.name: each.site for each in types.externals(evidence)}
    mostly = [
        f' Mostly of {site_of[dataset]}: "{head}" of {listing(groups)}.'
        for (dataset, head), groups in facts.gathered(resting).items()
    ]
    note = f"{_note(evidence, texts, len(known))}{missed_at}{fewer}{''.join(mostly)}{_protected(evidence)}"
    return worded("groups", rows, columns, where=f"{name}{joint}", note=note)


def _mostly_at(
    group: str, found: Mapping[str, types.Estimate | types.Absent | None]
) -> list[tuple[tuple[str, str], str]]:
    """The hospitals that values of a group are mostly of, each with its value and, as what stands there, the group: a
    hospital counts by how many it has in the group and beside it.
    """
    of_each = {head: each.method.first("rests_on") for head, each in found.items() if isinstance(each, types.Estimate)}
    return [((str(on["dataset"]), head), f"{group} ({on['share']:.0%})") for head, on in of_each.items() if on]


def _of_fewer(group: str, everybody: tuple[int, int], found: Mapping[str, types.Estimate | types.Absent | None]) -> str:
    """Of how many patients values of a group are that rest on fewer hospitals than it was seen at."""
    among: dict[tuple[int, int], list[str]] = {everybody: []}
    for head, each in found.items():
        if isinstance(each, types.Estimate) and types.is_telling(each):
            among.setdefault((int(each.details.get("k") or 0), each.n), []).append(f'"{head}"')
    fewer = [(sites, n, listing(heads)) for (sites, n), heads in among.items() if sites < max(among)[0]]
    return "".join(f" {group}: {heads} of {n:,} patients in {in_words(sites)} hospitals." for sites, n, heads in fewer)


def _missed(evidence: types.Evidence, column: str, label: str, is_few: bool) -> Cell:
    """How many of 100 are missed in a group."""
    found = _found_in(evidence, column, label)
    if is_few:
        return Cell.absent(TOO_FEW)
    if found is None or (isinstance(found, types.Absent) and places.alone(evidence) is None):
        return Cell.absent(NOT_COMBINED)
    return plain.missing(found) if isinstance(found, types.Absent) else of_missed(found)


def _note(evidence: types.Evidence, texts: set[str], known: int) -> str:
    what = "of a class" if classes.labels(evidence) else f"{plain.with_it(evidence)}, or without"
    notes = [f"Too few: under {bands.FEW_FOR_POOLING} patients {what}."] if TOO_FEW in texts else []
    if NOT_COMBINED in texts:
        what = "class" if classes.labels(evidence) else "one by itself"
        notes.append(f"Not combined: too few hospitals have enough of the group. The full report has each {what}.")
    if NOT_ALIKE in texts:
        notes.append("See below: the percentages of the group are not alike in all hospitals.")
    if known > MOST_GROUPS:
        notes.append(f"{sentence_case(in_words(known - MOST_GROUPS))} more groups: full report, under Subgroups.")
    return " ".join(notes)


def _protected(evidence: types.Evidence) -> str:
    """That the counts of groups are protected one by one, and which groups are kept back."""
    if not evidence.is_protected:
        return ""
    shown = _groups_here(evidence)
    hidden = dict.fromkeys(
        (summary.column, summary.label)
        for summary in evidence.subgroups.summaries
        if isinstance(summary.size, types.Withheld) and places.is_here(summary.dataset, evidence)
    )
    gone = ""
    for start, is_shown in (("Kept back", False), ("Kept back at some hospitals", True)):
        of_start = [group for group in hidden if (group in shown) is is_shown]
        names = [f"{within_sentence(label)} ({within_sentence(column)})" for column, label in of_start]
        gone += f" {start}: {named_with_the_rest(names, plain.MOST_NAMED, what=GROUP)}." if names else ""
    return f" To protect patients, each group is counted by itself: groups need not add up.{gone}"


def _groups_here(evidence: types.Evidence) -> dict[tuple[str, str], list[types.SubgroupSize]]:
    """The sizes of each group at our hospital, or at all of them, by column and label."""
    sizes: dict[tuple[str, str], list[types.SubgroupSize]] = {}
    for summary in evidence.subgroups.summaries:
        if isinstance(summary.size, types.SubgroupSize) and places.is_here(summary.dataset, evidence):
            sizes.setdefault((summary.column, summary.label), []).append(summary.size)
    # Nobody here may be a few elsewhere, who are kept back.
    return {group: here for group, here in sizes.items() if any(size.n for size in here)}


def _of_group(found: types.Estimate | types.Absent, where: str, few: bool, is_ratio: bool) -> Cell:
    """A value of a group, where enough hospitals are combined: the range over two of them holds nearly everything."""
    if few:
        return Cell.absent(TOO_FEW)
    if where != types.POOLED:
        return plain.hundred(found, is_ratio)
    enough = isinstance(found, types.Estimate) and types.is_telling(found)
    return plain.hundred(found, is_ratio) if enough else Cell.absent(NOT_COMBINED)
