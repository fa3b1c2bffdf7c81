"""Results -> tables: the measures of a chapter side by side, down a list or across a setting."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import replace
from typing import Literal

from dossier.core import bands, facts, types
from dossier.typeset import methods, notes, numbers, tables, widths
from dossier.typeset.names import ALL_POOLED, label_of, measured_label, shown
from dossier.typeset.words import SETTING, anchor, listing, sentence_case, setting, within_sentence
from dossier.words import entries


def chapter_tables(
    evidence: types.Evidence, chapter: str, without: Sequence[str] = (), more: Sequence[str] = ()
) -> tuple[tables.Table, ...]:
    """Every measure that a chapter may show, in tables, and some more; what stands in the files alone is left out."""
    members = [term for term in _members(evidence, chapter) if term.on_page and term.name not in without]
    return tables_of(evidence, [*members, *(evidence.terms[name] for name in more if name in evidence.terms)])


def tables_of(evidence: types.Evidence, terms: Sequence[types.Term]) -> tuple[tables.Table, ...]:
    """These measures in tables: those that depend on the same settings stand side by side."""
    evidence = _by_model(evidence)
    terms = [evidence.terms[term.name] for term in terms]
    groups = facts.gathered((term.at, term) for term in terms)
    made: list[tables.Table] = []
    for at, members in groups.items():
        kept = [term for term in members if any(map(is_estimated, evidence.by_term[term.name]))]
        holders = _holders(evidence, kept)
        if len([name for name in at if name != "class"]) > 1:
            made += [_across(evidence, term) for term in kept]
        elif len(holders) == 1:
            # A table of one row would say less.
            made.append(_listed(evidence, kept, *holders))
        else:
            made += [
                _across(evidence, part[0]) if _reads_across(evidence, part) else _side_by_side(evidence, part)
                for part in _parts(evidence, kept)
            ]
    whole = [tables.groups_across(table) for table in made]
    # Of very many sites a table has few rows on the page, and needs no halves.
    return tuple(whole if len(types.externals(evidence)) > bands.MOST_LISTED else map(tables.folded, whole))


def _by_model(evidence: types.Evidence) -> types.Evidence:
    """The evidence with the other or updated model among the settings of what is of one of several."""
    several = ({rival.name for rival in evidence.release.rivals}, set(evidence.release.updates))
    names = {name for kind in several if len(kind) > 1 for name in kind}
    of_term = {
        result.term: name
        for result in evidence.results
        for name in ("against", "model")
        if result.at.get(name) in names
    }
    terms = {
        name: replace(term, at=(*term.at, of_term[name])) if name in of_term and of_term[name] not in term.at else term
        for name, term in evidence.terms.items()
    }
    return replace(evidence, terms=terms)


def _reads_across(evidence: types.Evidence, terms: Sequence[types.Term]) -> bool:
    """Whether a measure stands alone and its setting takes so few values that they can be columns."""
    if len(terms) != 1 or len(terms[0].at) != 1:
        return False
    term, name = terms[0], terms[0].at[0]
    results = evidence.by_term[term.name]
    values = {result.at[name] for result in results if name in result.at}
    room = tables.MEASURE - tables.LONG_LABEL
    return len(values) >= 2 and len(values) * _width(evidence, term) <= room and not _tests(results, term)


def _side_by_side(evidence: types.Evidence, terms: Sequence[types.Term]) -> tables.Table:
    """Measures as columns; a single one that is taken class by class has the classes as columns where they fit."""
    term = terms[0]
    results = evidence.by_term[term.name]
    classes = {result.at.get("class") for result in results}
    if (
        len(terms) == 1
        and term.at == ("class",)
        and 1 < len(classes) <= tables.MEASURE / (2 * _width(evidence, term)) + 1
    ):
        return table_across(evidence, results, "class", f"{term.label} by class")
    return _beside(evidence, terms)


def _members(evidence: types.Evidence, chapter: str) -> list[types.Term]:
    """The measures of a chapter without those that belong in the appendix only."""
    return [term for term in evidence.terms.values() if printed_in(evidence, term) == chapter]


def in_appendix_only(evidence: types.Evidence, term: types.Term) -> bool:
    """Whether a measure calls for caution, or is a test against chance, and so stays out of the chapters."""
    against = (result.at.get("against") for result in evidence.by_term[term.name])
    return term.tier == "caution" or "chance" in against


def printed_in(evidence: types.Evidence, term: types.Term) -> str:
    """The chapter in which a measure is printed."""
    return "caution" if in_appendix_only(evidence, term) else term.chapter


def chapter_is_empty(evidence: types.Evidence, chapter: str) -> bool:
    """Whether nothing that a chapter may show could be estimated."""
    names = {term.name for term in _members(evidence, chapter)}
    return not any(result.term in names and is_estimated(result) for result in evidence.by_chapter[chapter])


def is_estimated(result: types.Result) -> bool:
    """Whether a result is a number."""
    return isinstance(result.found, types.Estimate)


def _holders(evidence: types.Evidence, terms: Sequence[types.Term]) -> set[str]:
    """The datasets that have a number for any of these measures."""
    return {result.dataset for term in terms for result in evidence.by_term[term.name] if is_estimated(result)}


def _listed(evidence: types.Evidence, terms: Sequence[types.Term], dataset: str) -> tables.Table:
    """Measures of a single dataset, one below the other."""
    reasons = tables.Reasons(evidence)
    named_so = {term.name: term for term in terms}
    found = [result for result in evidence.by_dataset[dataset] if result.term in named_so]
    rows: list[tables.Row] = []
    for head, here in _by_place(found, found, lambda result: _varying(evidence, result)):
        rows += [*head, *(_line(named_so[result.term], result.found, reasons) for result in here)]
    where = next(
        (_naming(terms)(summary) for summary in evidence.datasets if summary.name == dataset),
        ELSEWHERE.get(dataset, dataset),
    )
    methods = "the methods" if evidence.has_release_file else "results.json"
    return tables.Table(
        name=_table_name(terms),
        title=f"Measures of this chapter, {where}.",
        note=f"Value and {numbers.level_of(evidence)} interval; how each was taken: in {methods}.",
        head="Measure",
        columns=(tables.Column("Value", intervals=True), tables.Column("Patients")),
        rows=tuple(rows),
        footnotes=reasons.footnotes(),
    )


def _table_name(terms: Sequence[types.Term]) -> str:
    """The name of a table of measures: its first and its last."""
    return anchor(f"table-{' to '.join(dict.fromkeys((terms[0].name, terms[-1].name)))}")


ELSEWHERE = {types.POOLED: "all external sites together", types.READERS: "cases of no dataset"}
"""What is said where measures are of no dataset."""


def _line(term: types.Term, found: types.Estimate | types.Absent, reasons: tables.Reasons) -> tables.Row:
    """A measure with its value and the rows it rests on."""
    value = cell(found, term, reasons)
    if isinstance(found, types.Absent):
        return tables.Row(_heading(term), (value, tables.NOT_COMPUTED))
    return tables.Row(_heading(term), (value, tables.Cell.count(found.n)))


def _parts(evidence: types.Evidence, terms: Sequence[types.Term]) -> list[list[types.Term]]:
    """The terms in as few tables as the page's width allows."""
    printed = _holders(evidence, terms)
    longest = max(widths.text_width(label) for label in ("Site", *(each[1] for each in _row_labels(evidence, printed))))
    return tables.packed(
        terms, [_width(evidence, term) for term in terms], tables.MEASURE - min(longest, tables.LONG_LABEL)
    )


def _width(evidence: types.Evidence, term: types.Term) -> float:
    """The width in mm of a measure's columns: its widest value, interval and word of the heading."""
    results = evidence.by_term[term.name]
    found = [result.found for result in results if isinstance(result.found, types.Estimate)]
    wordy = needs_words(found)
    values = max((widths.text_width(numbers.value_of(estimate, term), 600) for estimate in found), default=0.0)
    bounds = max((widths.text_width(numbers.interval(estimate, term, wordy)) for estimate in found), default=0.0)
    return (
        tables.GAP
        + tables.INTERVAL_GAP
        + max(values + bounds, widths.widest_word(_heading(term)))
        + A_TEST * len(_tests(results, term))
    )


A_TEST = 12.6
"""The width in mm of a p value under its heading."""


def _beside(evidence: types.Evidence, terms: Sequence[types.Term]) -> tables.Table:
    """Measures as columns, sites as rows, the values of their one setting as groups."""
    names = {term.name for term in terms}
    every = [result for result in evidence.results if result.term in names]
    reasons = tables.Reasons(evidence)
    results = _without_empty_rows(evidence, every, reasons)
    tested = [_tests(results, term) for term in terms]
    rows: list[tables.Row] = []
    for head, here in _by_place(every, results, lambda result: _varying(evidence, result)):
        by_term = [[result for result in here if result.term == term.name] for term in terms]
        rows += [*head, *_site_rows(evidence, by_term, terms, reasons, tested)]
    return tables.Table(
        name=_table_name(terms),
        title=sentence_case(listing([within_sentence(term.label) for term in terms])) + ".",
        note=notes.note_of(evidence, results, terms),
        head="Site",
        columns=tuple(
            column
            for term, tests in zip(terms, tested, strict=True)
            for column in (
                tables.Column(_heading(term), intervals=True, unit=_unit(term)),
                *(
                    tables.Column(LOSS if term.measure == "net_benefit_gain" else tables.P_VALUES.get(name, name))
                    for name in tests
                ),
            )
        ),
        rows=tuple(rows),
        footnotes=reasons.footnotes(),
    )


def _tests(results: Sequence[types.Result], term: types.Term) -> tuple[str, ...]:
    """What has a column of its own beside a measure: its p values, and n where the value falls with it."""
    found = [
        result.found for result in results if result.term == term.name and isinstance(result.found, types.Estimate)
    ]
    count = (N,) if found and term.measure == bands.SIMILARITIES["psi"] else ()
    return (*count, *(name for name in tables.P_VALUES if any(name in estimate.details for estimate in found)))


N = "n"
LOSS = f"p{numbers.TIED}(Holm) of a loss"
"""The p value beside a gain: that it is below 0, whatever shows that it is above."""


def _beside_measure(found: types.Estimate | types.Absent | None, name: str) -> tables.Cell:
    """A p value or the number of patients of a measure."""
    if name == N:
        return tables.Cell.plain(f"{found.n:,}" if isinstance(found, types.Estimate) else "")
    p_value = found.details.get(name) if isinstance(found, types.Estimate) else None
    return tables.NOT_COMPUTED if p_value is None else tables.Cell.plain(numbers.number(p_value, 3))


def _across(evidence: types.Evidence, term: types.Term) -> tables.Table:
    """One measure with several settings: the last that varies as columns, the others as groups of rows."""
    results = evidence.by_term[term.name]
    values = {name: {result.at[name] for result in results if name in result.at} for name in term.at}
    varying = [name for name in term.at if len(values[name]) > 1] or [term.at[-1]]
    across = varying[-1]
    return table_across(
        evidence, results, across, f"{term.label} by {ACROSS.get(across, SETTING[across].lower())}", varying[:-1]
    )


ACROSS = {"against": "other model"}
"""What a title calls a setting whose own name says how it is compared."""


def table_across(
    evidence: types.Evidence, results: Sequence[types.Result], across: str, title: str, held: Sequence[str] = ()
) -> tables.Table:
    """Results of one measure: one setting as columns, sites as rows, the settings that are held as groups of rows."""
    term = evidence.terms[results[0].term]
    reasons = tables.Reasons(evidence)
    kept = _without_empty_rows(evidence, results, reasons)
    values = list(dict.fromkeys(result.at[across] for result in results if across in result.at))
    rows: list[tables.Row] = []
    for head, here in _by_place(kept, kept, lambda result: {name: result.at[name] for name in held}):
        columns = [[result for result in here if result.at.get(across) == value] for value in values]
        rows += [*head, *_site_rows(evidence, columns, [term] * len(columns), reasons)]
    return tables.Table(
        name=anchor(f"table-{term.name}-{across}"),
        title=f"{sentence_case(title)}.",
        note=notes.note_of(evidence, kept, [term]),
        head="Site",
        columns=tuple(tables.Column(setting_name(across, value), intervals=True) for value in values),
        rows=tuple(rows),
        footnotes=reasons.footnotes(),
    )


def _without_empty_rows(
    evidence: types.Evidence, results: Sequence[types.Result], reasons: tables.Reasons
) -> list[types.Result]:
    """The results of the datasets that have at least one number; the others are named below the table."""
    labels = {dataset.name: measured_label(dataset) for dataset in evidence.datasets}
    kept = {result.dataset for result in results if is_estimated(result)}
    for name in dict.fromkeys(result.dataset for result in results if result.dataset not in kept):
        reason = next(
            result.found.reason
            for result in results
            if result.dataset == name and isinstance(result.found, types.Absent)
        )
        reasons.leave_out(labels.get(name, within_sentence(ALL_POOLED)), name, reason)
    return [result for result in results if result.dataset in kept]


def _by_place(
    every: Sequence[types.Result], kept: Sequence[types.Result], place: Callable[[types.Result], types.At]
) -> Iterator[tuple[list[tables.Row], list[types.Result]]]:
    """The results that are kept at each setting of them all, under the row that names it, if any does."""
    places: list[types.At] = []
    places += (at for at in map(place, every) if at not in places)
    for at in places:
        head = [tables.Row(", ".join(setting_name(*each) for each in at.items()), kind="group")] if at else []
        yield head, [result for result in kept if place(result) == at]


def _varying(evidence: types.Evidence, result: types.Result) -> types.At:
    """The settings that a measure runs over; what always holds for it is said in its label."""
    return {name: value for name, value in result.at.items() if name in evidence.terms[result.term].at}


def setting_name(name: str, value: float | str) -> str:
    if (name, value) == ("class", types.MACRO):
        return "Mean of the classes"
    if name == "model":
        # Another model has the name that the release gives it, letter by letter.
        updates = {f"{types.UPDATED}{update}": label for update, label in entries("pages")["update"].items()}
        return str(updates.get(str(value), value))
    return f"{SETTING[name]} {value if name == 'against' else setting(value)}"


def _heading(term: types.Term) -> str:
    unit = _unit(term)
    return f"{sentence_case(term.label)}{', ' if unit == '%' else ' ' if unit else ''}{unit}"


def _unit(term: types.Term) -> str:
    """What the values of a measure are counted in."""
    return term.unit if term.unit in ("", "%") else "per 100"


def _site_rows(
    evidence: types.Evidence,
    columns: Sequence[Sequence[types.Result]],
    terms: Sequence[types.Term],
    reasons: tables.Reasons,
    tested: Sequence[tuple[str, ...]] = (),
) -> list[tables.Row]:
    """A row for each dataset in which any of these measures was tried, and one for all sites together.

    `tested` names what has columns of its own beside each measure.
    """
    rows = []
    places = [{result.dataset: result for result in reversed(column)} for column in columns]
    wordy = [needs_words(result.found for result in column) for column in columns]
    for name, label, kind in _row_labels(evidence, set().union(*places), _naming(terms)):
        found = [place.get(name) for place in places]
        cells: list[tables.Cell] = []
        for result, term, words, names in zip(found, terms, wordy, tested or [()] * len(terms), strict=True):
            cells.append(
                tables.NOT_COMPUTED if result is None else cell(result.found, term, reasons, words, result.dataset)
            )
            cells += [_beside_measure(None if result is None else result.found, name) for name in names]
        rows.append(tables.Row(label, tuple(cells), kind))
    return rows


def _row_labels(
    evidence: types.Evidence, names: Set[str], name_of: Callable[[types.DatasetSummary], str] = measured_label
) -> list[tuple[str, str, Literal["row", "total"]]]:
    """Datasets as the rows of a table: each with its label, declared ones after known ones, all together last."""
    known = {dataset.name for dataset in evidence.datasets}
    labels: list[tuple[str, str, Literal["row", "total"]]] = []
    labels += [(dataset.name, name_of(dataset), "row") for dataset in shown(evidence) if dataset.name in names]
    labels += [(types.READERS, sentence_case(ELSEWHERE[types.READERS]), "row")] if types.READERS in names else []
    declared = dict.fromkeys(result.dataset for result in evidence.results if result.dataset in names - known)
    labels += [(name, f"Declared: {name}", "row") for name in declared if name not in (types.POOLED, types.READERS)]
    labels += [(types.POOLED, ALL_POOLED, "total")] if types.POOLED in names else []
    return labels


def _naming(terms: Sequence[types.Term]) -> Callable[[types.DatasetSummary], str]:
    """How datasets are named: what is of the labels alone is not apparent in the development data."""
    return label_of if all(term.chapter == "reliability" for term in terms) else measured_label


def needs_words(found: Iterable[types.Estimate | types.Absent | None]) -> bool:
    """Whether a bound of a column may be negative, so that a dash would be misread."""
    return any(isinstance(estimate, types.Estimate) and (estimate.low or 0.0) < 0 for estimate in found)


def cell(
    found: types.Estimate | types.Absent,
    term: types.Term,
    reasons: tables.Reasons,
    wordy: bool = False,
    beside: str | None = None,
) -> tables.Cell:
    """A result as one cell; a gap need not name the dataset whose row it stands in."""
    if isinstance(found, types.Absent):
        return reasons.cell(found, beside)
    bounds = numbers.TIED.join(filter(None, (numbers.interval(found, term, wordy), _mark(found, reasons))))
    return tables.Cell(numbers.value_of(found, term), bounds, of=found)


USUAL_KNOTS, FEWER_KNOTS = 4, 3
"""Knots of a calibration curve where events and non-events are many, and where they are fewer."""


def _mark(found: types.Estimate, reasons: tables.Reasons) -> str:
    """The mark of a number that cannot be compared with its neighbours; a footnote spells out why."""
    declared = found.method.first("declared_by")
    if declared is not None:
        return reasons.letter(methods.method_text([declared]))
    knots = found.details.get("knots")
    if knots is None or knots == USUAL_KNOTS:
        return ""
    curve = {0.0: "a straight line", float(FEWER_KNOTS): "a spline of 3 knots"}
    # Of imputations it is the mean: those whose curves differ have no number of knots of their own.
    which = curve.get(knots, "curves that differ between the imputations")
    return reasons.letter(f"from {which}, not a spline of 4 knots: not comparable with values from one")
