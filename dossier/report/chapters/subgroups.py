"""Whether the model works alike in the subgroups that were declared, and in which there are too few to tell."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from dossier.core import bands, between_groups, claims, multiplicity, types
from dossier.core.facts import gathered
from dossier.report.chapters import classes, sentence
from dossier.report.chapters.chapter import chapter
from dossier.typeset import measures, names, numbers
from dossier.typeset.flags import flag_text
from dossier.typeset.tables import NOT_COMPUTED, Cell, Column, Reasons, Row, Table, label_fits, worded
from dossier.typeset.words import counted, how_many, in_words, listing, part_of, sentence_case, setting, within_sentence
from dossier.words import entries

HEADS = {"auroc": "AUROC", "oe_ratio": "O/E"}
SHOWN = tuple(HEADS)
"""The measures of each group that the tables print site by site."""

MOST_NAMED = 3
"""Differences that the finding names; of more the rest is counted, and the tables hold all."""

NAMES: dict[str, str] = entries("pages")["compared_in"]
"""What groups are compared in."""
SHORT = {measure: within_sentence(name.split(",")[0]) for measure, name in NAMES.items()}
"""The same within a sentence, without what a table says of it."""

STATES: dict[str, str] = entries("pages")["subgroup"]


def finding(evidence: types.Evidence) -> sentence.Sentence:
    """Which groups differ from the other patients of their own sites, over all sites, and what else is known."""
    looks = between_groups.looks(evidence.subgroups.summaries, evidence.subgroups.results)
    external = {site.name for site in types.externals(evidence)}
    sizes = [each.size for each in evidence.subgroups.summaries if each.dataset in external]
    sized = [size for size in sizes if isinstance(size, types.SubgroupSize)]
    few = [size for size in sized if size.is_few]
    of_what = "patients of a class" if evidence.release.outcome.classes else "events or non-events"
    rest = f" Too few {of_what}: {part_of(len(few), len(sized))} subgroups, site by site." if few else ""
    rest += _mostly_of_one(evidence)
    declared = [claim.state for claim in claims.counted(evidence, "groups") if claim.limit_source == "declared"]
    # How the criteria stand that are declared for subgroups, which page 1 counts too.
    words: Mapping[types.State, str] = entries("pages")["standing"]
    parts = [f"{how_many(declared.count(state))} {says}" for state, says in words.items() if state in declared]
    of_criteria = f" Of {counted(len(declared), 'check')} of declared criteria: {listing(parts)}." if declared else ""
    if not looks:
        return sentence.Sentence(
            "No subgroup could be compared with the other patients within the sites.", f"{of_criteria}{rest}".strip()
        )
    apart = _against(evidence)
    counts = _counts(looks)
    others = [*apart[1:], *(look for look in looks if look.state == "explained" and look.is_worse)]
    more = sentence.named_with_the_rest([_said(evidence, look) for look in others], MOST_NAMED - 1)
    said = f"{sentence_case(more)}. " if more else ""
    slight = sentence.named_with_the_rest([flag_text(look.fact) for look in looks if look.is_slight], MOST_NAMED - 1)
    said += f"{sentence_case(slight)}; whether by more than the limits is open. " if slight else ""
    if not apart:
        beyond = " beyond the limits and what risks foretell" if said else ""
        none = (
            f"In none of {counted(len(looks), 'comparison')} within sites is a subgroup shown to be worse off{beyond}."
        )
        if "against" in declared:
            return sentence.Sentence(of_criteria.strip(), f"{none} {said}{counts}{rest}")
        return sentence.Sentence(none, f"{said}{counts}{of_criteria}{rest}")
    first = f"{_where(evidence, apart[0])} {_said(evidence, apart[0])}".strip()
    return sentence.Sentence(f"{sentence_case(first)}.", f"{said}{counts}{of_criteria}{rest}")


def _mostly_of_one(evidence: types.Evidence) -> str:
    """Of which groups the AUROC over all sites is nearly that of a single one: of two, one always is."""
    resting = gathered(
        (_called(evidence)[str(on["dataset"])], each.subset.level)
        for each in evidence.subgroups.results
        if each.dataset == types.POOLED and each.term == "auroc" and not each.at and each.subset
        if isinstance(each.found, types.Estimate) and (on := each.found.method.first("rests_on"))
    )
    parts = [f"of {sentence.named_with_the_rest(groups, MOST_NAMED)} ({site})" for site, groups in resting.items()]
    return f" Mostly of one site: the AUROC {listing(parts)}." if parts and len(_called(evidence)) > 2 else ""


def worse_off(evidence: types.Evidence) -> str:
    """The worst comparison of a group that is shown to be against it, and how many more there are."""
    counted_ones = claims.worst_first(claims.counted(evidence, "groups"))
    against = [claim for claim in counted_ones if (claim.state, claim.limit_source) == ("against", "default")]
    facts = [
        _said(evidence, look)
        for claim in against
        for look in _against(evidence)
        if (look.dataset, look.measure, types.Subset(look.column, look.label), look.at)
        == (claim.dataset, claim.measure, claim.subset, claim.at)
    ]
    return f"{sentence_case(sentence.named_with_the_rest(facts, MOST_NAMED - 1))}." if facts else ""


def _against(evidence: types.Evidence) -> list[between_groups.Look]:
    """What is against a group: over all sites, and then at one of them alone."""
    groups = evidence.subgroups
    over_all = [look for look in between_groups.looks(groups.summaries, groups.results) if look.state == "against"]
    return [*over_all, *between_groups.at_single_sites(groups.summaries, groups.results)]


def _said(evidence: types.Evidence, look: between_groups.Look) -> str:
    """A comparison within a sentence, with its site where it is of one."""
    named = f"in {_called(evidence)[look.dataset]} " if look.is_single else ""
    return f"{named}{flag_text(look.fact)}"


def _counts(looks: Sequence[between_groups.Look]) -> str:
    """How many comparisons show what, and which look different by their own interval alone."""
    count = {state: sum(look.state == state for look in looks) for state in STATES}
    parts = [f"{how_many(count[state])} {words}" for state, words in COUNTED.items() if count[state]]
    text = f"Of {counted(len(looks), 'comparison')}, corrected for their number: {listing(parts)}."
    if favoured := sum(look.state == "explained" and not look.is_worse for look in looks):
        text += f" {sentence.phrase('data', 'favoured', many=favoured > 1, count=sentence_case(how_many(favoured)))}"
    if unsure := [look for look in looks if look.state == "open" and look.excludes_none]:
        by_chance = numbers.number(len(looks) * (1 - (looks[0].apart.level or 0.95)), 1)
        sure = sum(look.is_sure for look in unsure)
        who = f"Of those that cannot tell, {how_many(len(unsure))} {'has' if len(unsure) == 1 else 'have'}"
        slight = f", {in_words(sure)} after the correction too, by an open amount" if sure else ""
        text += f" {who} a CI that excludes equality (by chance {by_chance} of all){slight}."
    return text


COUNTED: dict[str, str] = entries("pages")["subgroups"]


def sites_with(evidence: types.Evidence, column: str) -> list[str]:
    """The external sites whose patients have the column, in order."""
    found = between_groups.sites_with(evidence.subgroups.summaries, column)
    return [site.site for site in types.externals(evidence) if site.name in found]


def _where(evidence: types.Evidence, look: between_groups.Look) -> str:
    """In which sites a subgroup is looked at: all, those that have the column, or those with enough of either part.

    Empty of a single site, which is named with the comparison.
    """
    if look.is_single:
        return ""
    sites = sites_with(evidence, look.column)
    if (some := look.rests_on(len(sites))) < len(sites):
        return f"At {in_words(some)} of {in_words(len(sites))} sites"
    if len(sites) == len(types.externals(evidence)) > 1:
        return "Over all sites"
    return f"In {listing(sites)}" if len(sites) <= 3 else f"Over the {in_words(len(sites))} sites that record it"


# ---- what there is --------------------------------------------------------------------------------------------------


def is_declared(evidence: types.Evidence) -> bool:
    """Whether any subgroup was declared, be nothing known of one."""
    return bool(evidence.release.subgroup or evidence.subgroups.summaries)


def what_is_few(evidence: types.Evidence) -> str:
    """Which subgroups are too small to tell anything."""
    limit, fewest = bands.FEW_FOR_POOLING, in_words(bands.FEWEST_JUDGED)
    small = f"with fewer than {limit} events or {limit} non-events is too small for values of its own"
    if classes.labels(evidence):
        small = f"with fewer than {limit} patients of a class is too small for values of that class and of all classes"
    return (
        f"At a site a subgroup {small}, and is listed as such. A comparison there needs {fewest} in the group and "
        f"{fewest} others of the patients whom its measure counts."
    )


def together(sizes: Sequence[types.SubgroupSize]) -> types.SubgroupSize:
    """The patients of one subgroup at several sites, as if they were one."""
    events = [size.events for size in sizes if size.events is not None]
    labels = dict.fromkeys(label for size in sizes for label in size.class_counts)
    unassigned = [size.unassigned for size in sizes if not isinstance(size.unassigned, types.Withheld)]
    withheld = next((size.unassigned for size in sizes if isinstance(size.unassigned, types.Withheld)), None)
    return types.SubgroupSize(
        n=sum(size.n for size in sizes),
        events=sum(events) if len(events) == len(sizes) else None,
        unassigned=withheld or sum(unassigned),
        class_counts={label: sum(size.class_counts.get(label, 0) for size in sizes) for label in labels},
    )


# ---- tables ---------------------------------------------------------------------------------------------------------

GAIN = "Gain: net benefit per 100 patients over the better of flagging everyone and flagging no one."
Asked = tuple[str, str, types.At]
"""The head of a column, its measure, and the settings at which it is taken."""


def tables(evidence: types.Evidence) -> tuple[Table, ...]:
    """The subgroups site by site, and how each differs from the other patients over the sites."""
    means: list[Asked] = [("AUROC, mean", "auroc", {}), ("Brier score", "brier", {}), ("Log score", "log_score", {})]
    over_classes = (_values(evidence, column, means) for column in types.subgroup_columns(evidence))
    made = over_classes if classes.labels(evidence) else _across(evidence)
    return tuple(table for table in (*made, _apart(evidence)) if table.rows)


def _values(evidence: types.Evidence, column: str, asked: Sequence[Asked]) -> Table:
    """The subgroups of a column site by site with their sizes, those that are too small included."""
    reasons = Reasons(evidence)
    rows: list[Row] = []
    for dataset in _shown(evidence, column, reasons):
        rows.append(Row(names.label_of(dataset), kind="group"))
        for label, size in types.subgroup_sizes(evidence, column, dataset.name).items():
            subset, cells = types.Subset(column, label), [Cell.absent("too few")] * len(asked)
            if not size.is_few:
                cells = [_cell(evidence, subset, dataset.name, each, reasons) for each in asked]
            rows.append(Row(sentence_case(label), (Cell.count(size.n), Cell.count(size.shown), *cells)))
        # Those that are withheld, size and all.
        for label, gap in _sizes(evidence, column, dataset.name).items():
            if isinstance(gap, types.Withheld):
                rows.append(Row(sentence_case(label), (reasons.cell(gap),) * (len(asked) + 2)))
    rows += _pooled(evidence, column, asked)
    return worded(
        "subgroups",
        rows,
        [Column("Patients"), Column("Rarest class"), *(Column(head, intervals=True) for head, _, _ in asked)],
        (*reasons.footnotes(), *_unassigned(evidence, column)),
        at=column,
        classes=True,
        column=sentence_case(column),
        level=numbers.level_of(evidence),
        few=bands.FEW_FOR_POOLING,
    )


def _across(evidence: types.Evidence) -> list[Table]:
    """The subgroups beside each other, site by site, with the measures whose differences are counted.

    All columns stand in one table where they have room and the same sites, else each in its own. What the sites give
    together stands in the figure.
    """
    columns = types.subgroup_columns(evidence)
    alone = [_of_columns(evidence, [column]) for column in columns]
    heads = [sentence_case(column) for column, labels in columns.items() for _ in labels]
    together = _by_measure(_of_columns(evidence, list(columns)), heads)
    alike = len({tuple(row.label for row in table.rows) for table in alone}) == 1
    if len(columns) > 1 and alike and label_fits(together):
        return [together]
    return [table if label_fits(table) else _by_measure(table) for table in alone]


def _of_columns(evidence: types.Evidence, columns: Sequence[str]) -> Table:
    """The subgroups of these columns at the sites that know the first of them, the measures of each side by side."""
    reasons = Reasons(evidence)
    sites, *_ = [_shown(evidence, column, reasons) for column in columns]
    subsets = [types.Subset(column, label) for column in columns for label in types.subgroup_columns(evidence)[column]]
    asked = [(subset, measure) for subset in subsets for measure in SHOWN]
    heads = [Column(HEADS[measure], intervals=True, over=sentence_case(subset.level)) for subset, measure in asked]

    def cells(dataset: types.DatasetSummary) -> tuple[Cell, ...]:
        return tuple(_judged_cell(evidence, subset, dataset.name, each, reasons) for subset, each in asked)

    return worded(
        "subgroups",
        [Row(names.label_of(dataset), cells(dataset)) for dataset in sites],
        heads,
        (*reasons.footnotes(), *_unassigned(evidence, *columns)),
        at="-".join(columns),
        classes=False,
        column=sentence_case(listing(columns)),
        level=numbers.level_of(evidence),
        few=bands.FEW_FOR_POOLING,
    )


def _by_measure(across: Table, over: Sequence[str] = ()) -> Table:
    """The same numbers with the measures below each other, where they have no room beside each other."""
    rows: list[Row] = []
    for index, measure in enumerate(SHOWN):
        rows.append(Row(HEADS[measure], kind="group"))
        rows += [replace(row, cells=row.cells[index :: len(SHOWN)]) for row in across.rows]
    levels = [column.over for column in across.columns[:: len(SHOWN)]]
    heads = zip(levels, over or [""] * len(levels), strict=True)
    columns = tuple(Column(level, intervals=True, over=head) for level, head in heads)
    return replace(across, columns=columns, rows=tuple(rows))


def _judged_cell(evidence: types.Evidence, subset: types.Subset, dataset: str, measure: str, reasons: Reasons) -> Cell:
    """A measure of a subgroup, or that it is too small, empty or withheld."""
    size = _sizes(evidence, subset.column, dataset).get(subset.level)
    if isinstance(size, types.Withheld):
        return reasons.cell(size)
    if not isinstance(size, types.SubgroupSize):
        return Cell.absent("–")
    if size.is_few:
        return Cell.absent("too few")
    return _cell(evidence, subset, dataset, ("", measure, {}), reasons)


def _shown(evidence: types.Evidence, column: str, reasons: Reasons) -> list[types.DatasetSummary]:
    """The datasets that know the column; the others are named below the table."""
    kept = []
    for dataset in names.shown(evidence, ("external", "internal")):
        if types.subgroup_sizes(evidence, column, dataset.name):
            kept.append(dataset)
            continue
        sizes = list(_sizes(evidence, column, dataset.name).values())
        if any(isinstance(size, types.Withheld) for size in sizes):
            kept.append(dataset)
        elif sizes and isinstance(sizes[0], types.Absent):
            reasons.leave_out(names.label_of(dataset), dataset.name, sizes[0].reason)
    return kept


def _sizes(evidence: types.Evidence, column: str, dataset: str) -> dict[str, types.SubgroupSize | types.Absent]:
    """The sizes of the subgroups of a column at a dataset, those that are not known or withheld included."""
    every = evidence.subgroups.summaries
    return {each.label: each.size for each in every if (each.dataset, each.column) == (dataset, column)}


def _cell(evidence: types.Evidence, subset: types.Subset, dataset: str, asked: Asked, reasons: Reasons) -> Cell:
    _, measure, at = asked
    found = types.find_in_subgroup(evidence, subset, measure, dataset, **at)
    return measures.cell(found, evidence.terms[measure], reasons, _is_wordy(evidence, measure, at))


def _is_wordy(evidence: types.Evidence, measure: str, at: types.At) -> bool:
    """Whether a bound of the column is negative."""
    every = evidence.subgroups.by_measure[measure]
    return measures.needs_words(each.found for each in every if dict(each.at) == dict(at))


def _pooled(evidence: types.Evidence, column: str, asked: Sequence[Asked]) -> list[Row]:
    """The rows of all sites together: what has a scale on which it is pooled."""
    rows = []
    for label in types.subgroup_columns(evidence)[column]:
        group = types.Subset(column, label)
        found = [types.find_in_subgroup(evidence, group, name, types.POOLED, **at) for _, name, at in asked]
        usable = [estimate for estimate in found if isinstance(estimate, types.Estimate) and types.is_telling(estimate)]
        if not usable:
            continue
        known = usable[0]
        cells = [Cell.count(known.n), Cell.plain("" if known.events is None else f"{known.events:,}")]
        for (_, measure, at), estimate in zip(asked, found, strict=True):
            term, wordy = evidence.terms[measure], _is_wordy(evidence, measure, at)
            is_absent = isinstance(estimate, types.Absent)
            cells.append(NOT_COMPUTED if is_absent else measures.cell(estimate, term, Reasons(evidence), wordy))
        rows.append(Row(sentence_case(label), tuple(cells)))
    return [Row(names.ALL_POOLED if classes.labels(evidence) else ALL_STRATIFIED, kind="group"), *rows] if rows else []


ALL_STRATIFIED = "All, within sites"


def _unassigned(evidence: types.Evidence, *columns: str) -> tuple[str, ...]:
    """How many patients are in no subgroup of each column, site by site; columns of which the same is said share it."""
    of_columns: dict[str, list[str]] = {}
    for column in columns:
        # The sites with patients in no subgroup of a column, with how many.
        losing, withheld = [], 0
        for dataset in names.shown(evidence, ("external", "internal")):
            known = types.subgroup_sizes(evidence, column, dataset.name)
            count = next(iter(known.values())).unassigned if known else 0
            if isinstance(count, types.Withheld):
                withheld += 1
            elif count:
                losing.append(f"{names.label_of(dataset)} {count:,}")
        if lost := listing([*losing, *([f"withheld at {counted(withheld, 'site')}"] if withheld else [])]):
            of_columns.setdefault(lost, []).append(column)
    return tuple(
        f"In no subgroup{f' of {listing(named)}' if len(columns) > 1 else ''}, the value missing or not among the "
        f"levels: {lost}."
        for lost, named in of_columns.items()
    )


def _apart(evidence: types.Evidence) -> Table:
    """How far each subgroup lies from the other patients within the sites, measure by measure, and what that shows."""
    groups, declared = evidence.subgroups, evidence.release.thresholds.declared[:1]
    looks = between_groups.looks(groups.summaries, groups.results, measures=between_groups.COMPARED)
    looks = tuple(look for look in looks if look.threshold in (None, *declared))
    judged = sum(look.measure in between_groups.TESTED for look in looks)
    alone, called = between_groups.at_single_sites(groups.summaries, groups.results), _called(evidence)
    rows: list[Row] = []
    for measure, name in NAMES.items():
        here = [look for look in looks if look.measure == measure]
        at = f" at {setting(here[0].threshold)}" if here and here[0].threshold is not None else ""
        rows += [Row(f"{name}{at}", kind="group")] if here else []
        rows += [_row(look, called) for look in (*here, *alone) if look.measure == measure]
    return worded(
        "subgroup-differences",
        rows,
        footnotes=tuple(_left_out(evidence, looks)),
        level=numbers.level_of(evidence),
        judged=counted(judged, "comparison"),
        at_most=between_groups.AT_MOST,
        flagged=any(look.measure in between_groups.AT_THRESHOLD for look in looks),
        benefit=any(look.measure == "net_benefit" for look in looks),
        alone=bool(alone),
        at_most_alone=multiplicity.LEVEL,
    )


def _row(look: between_groups.Look, called: Mapping[str, str]) -> Row:
    found, tau, digits = look.apart, NOT_COMPUTED, 1 if look.measure == "net_benefit" else 2
    details, margins = found.details, between_groups.MARGINS.get(look.measure, ())
    # What accuses a group has to pass both tests, where there are two.
    both = (look.p_value, details.get("p_beyond_over_sites" if look.is_single else "p_beyond_holm"))
    p_values = "/".join(numbers.number(p_value, 3) for p_value in both if p_value is not None)

    def said(*values: float | None, cut_offs: Collection[float] = ()) -> str:
        known = [value * (100 if digits == 1 else 1) for value in values if value is not None]
        shown = (numbers.number(value, numbers.showing_the_side(value, digits, cut_offs)) for value in known)
        return " to ".join(shown) if len(known) == len(values) else ""

    if (value := details.get("tau")) is not None:
        tau = Cell(said(value), said(details["tau_low"], details["tau_high"]))
    cells = (
        Cell.plain(said(look.here.value)),
        Cell.plain(said(look.rest)),
        Cell(
            said(found.value, cut_offs=margins),
            said(found.low, found.high, cut_offs=margins),
            "alert" if look.state == "against" else "value",
        ),
        tau,
        NOT_COMPUTED if look.state == "not judged" else Cell.plain(p_values),
        NOT_COMPUTED if look.is_single else Cell.plain(f"{details.get('tested_at') or 0:g}"),
        Cell.word(STATES[look.state]),
    )
    of_what = ", ".join(filter(None, (look.column, look.of_class, called.get(look.dataset))))
    return Row(f"{sentence_case(look.label)} ({of_what})", cells)


def _called(evidence: types.Evidence) -> dict[str, str]:
    """The sites by the names of their datasets."""
    return {site.name: site.site for site in types.externals(evidence)}


LEFT_OUT: dict[str, str] = entries("pages")["left_out_of_subgroups"]
"""Why a site has no part in a comparison."""


def _left_out(evidence: types.Evidence, looks: Sequence[between_groups.Look]) -> Iterator[str]:
    """The sites that have no part in some comparison, with the subgroups, and in what where that is not in all."""
    called, every = _called(evidence), {look.measure for look in looks}
    whole = {measure: {_of_class(look) for look in looks if look.measure == measure} for measure in every}
    for code, words in LEFT_OUT.items():
        left = dict.fromkeys(
            (look.measure, called.get(str(name), str(name)), _of_class(look))
            for look in looks
            for step in look.apart.method
            if step.code == code and isinstance(sites := step["sites"], tuple)
            for name in sites
        )
        of_measure = gathered((measure, (site, label)) for measure, site, label in left)
        texts = gathered((_of_sites(of_site, whole[measure]), measure) for measure, of_site in of_measure.items())
        if any({*measures} == every for measures in texts.values()):
            yield f"{words}: {next(iter(texts))}."
        elif texts:
            said = [(listing([SHORT[measure] for measure in alike]), text) for text, alike in texts.items()]
            yield " ".join([f"{words}.", *(f"{sentence_case(which)}: {text}." for which, text in said)])


def _of_class(look: between_groups.Look) -> str:
    return ", ".join(filter(None, (look.label, look.of_class)))


def _of_sites(left: Sequence[tuple[str, str]], whole: Collection[str]) -> str:
    """Sites with their subgroups, those with the same ones together; without them where these are all."""
    alike = gathered((tuple(labels), site) for site, labels in gathered(left).items())
    return "; ".join(
        listing(sites) if {*labels} == whole else f"{listing(sites)} ({listing(labels)})"
        for labels, sites in alike.items()
    )


CHAPTER = chapter("subgroups", finding, lambda evidence: bool(evidence.subgroups.summaries))
