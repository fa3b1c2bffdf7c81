"""Results -> words: the only place where a number becomes text, and where results become tables."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Literal

from dossier.bands import FEWEST_WITH_A_VALUE, SIMILARITY
from dossier.types import (
    MACRO,
    POOLED,
    Absent,
    At,
    DatasetSummary,
    Description,
    Estimate,
    Evidence,
    Result,
    Term,
    Withheld,
)

MINUS = "\N{MINUS SIGN}"
DASH = "\N{EN DASH}"
TIED = "\N{NO-BREAK SPACE}"
MEASURE = 168.0
"""The width of the page's live area in mm."""

HALF_MEASURE = MEASURE / 2
"""What is narrower may stand beside something else."""

CHARACTER = 1.8
"""The width of a character of a table in mm: digits are a little wider, letters a little narrower."""

LONG_LABEL = 22
"""Characters of a row's label that columns leave room for; a longer one may be broken."""

SHORT_CONTENTS = 26
"""With more chapters the contents name them alone, without what each finds: the lists that follow shall not spill onto
a page of a few lines."""

NAMES = {
    "Brier",
    "Cohen's",
    "Fleiss'",
    "Krippendorff's",
    "Mann-Whitney",
    "Matthews",
    "Nagelkerke's",
    "Spiegelhalter's",
    "Tjur's",
    "Youden's",
}
"""Words of labels that keep their capital everywhere."""

NUMBERS_IN_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
SETTING = {
    "threshold": "Threshold",
    "priority": "Priority",
    "tau": "Confidence",
    "complexity": "Complexity",
    "measure": "Measure",
    "minimum": "Minimum",
    "against": "Against",
    "gamma": "Gamma",
    "relevance": "Relevance",
    "calibration": "Calibration",
    "group": "Group",
    "class": "Class",
    "fpr": "False positive rate",
}
SETTING_VALUE = {
    "auroc": "AUROC",
    "brier": "Brier score",
    "standardized_net_benefit": "Standardized net benefit",
    "worst_split": "worst split",
    "quantile_05": "5% quantile of the splits",
    "declared": "declared minimum",
    "prevalence": "prevalence",
    "ece": "expected error (ECE)",
    "eci": "interval-based index (ECI)",
    "confidence": "raters' confidence",
    "cost_benefit": "costs and benefits",
    "complement": "1 − prevalence",
    "net_benefit": "net benefit",
    "right_80": "80% of right answers",
    "right_50": "50% of right answers",
    "right_25": "25% of right answers",
    "mean_confidence": "raters' mean",
    "best_rater": "most accurate rater",
}


# ---- numbers --------------------------------------------------------------------------------------------------------


def number(value: float, digits: int = 2, percent: bool = False) -> str:
    """A number as it is printed: a true minus, commas between thousands, and never a zero that is not one."""
    scaled = value * 100 if percent else value
    text = f"{abs(scaled):,.{digits}f}"
    is_zero = not text.strip("0.,")
    if is_zero and scaled > 0:
        return f"<{10.0**-digits:.{digits}f}"
    return f"{MINUS}{text}" if scaled < 0 and not is_zero else text


def per_cent(value: float, digits: int = 0) -> str:
    """A share in per cent, with its sign."""
    return f"{number(value, digits, percent=True)}%"


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """A count with its noun, never parted at the end of a line."""
    return f"{count:,}{TIED}{noun if count == 1 else plural or noun + 's'}"


def in_words(count: int) -> str:
    """A count up to ten as a word."""
    return NUMBERS_IN_WORDS[count] if count < len(NUMBERS_IN_WORDS) else f"{count:,}"


def how_many(count: int) -> str:
    """A count up to ten as a word that stands without its noun: none of ten."""
    return in_words(count) if count else "none"


def listing(words: Sequence[str]) -> str:
    """Words joined as in a sentence: a, b and c; by semicolons where one has a comma itself: Rho, Italy; and Bari."""
    if len(words) < 2:
        return "".join(words)
    has_comma = any(", " in BRACKETED.sub("", word) for word in words)
    between, last = ("; ", "; and ") if has_comma else (", ", " and ")
    return f"{between.join(words[:-1])}{last}{words[-1]}"


BRACKETED = re.compile(r"\([^)]*\)")


def level_of(evidence: Evidence) -> str:
    """The level of the intervals, as it is printed."""
    return f"{evidence.release.release.level * 100:g}%"


def date(value: datetime.date | None) -> str:
    """A date in words."""
    return "not dated" if value is None else f"{value.day}{TIED}{value:%B %Y}"


def dates(value: tuple[datetime.date, datetime.date] | None) -> str:
    """From when to when."""
    return "not stated" if value is None else f"{_short_date(value[0])} to {_short_date(value[1])}"


def _short_date(value: datetime.date) -> str:
    return f"{value.day}{TIED}{value:%b}{TIED}{value.year}"


def threshold(value: float) -> str:
    """A threshold with as many digits as it needs, at least two."""
    return f"{value:.2f}" if round(value, 2) == value else f"{value:g}"


def as_declared(value: float) -> str:
    """A number with the digits that somebody wrote, and a true minus."""
    return f"{value:.12g}".replace("-", MINUS)


def setting(value: float | str) -> str:
    """The value of a setting, as a heading names it."""
    if isinstance(value, str) and re.fullmatch(r"[\d.]+-[\d.]+", value):
        return value.replace("-", " to ")
    if isinstance(value, str):
        return SETTING_VALUE.get(value, value.replace("_", " "))
    return threshold(value)


def interval(found: Estimate, term: Term, wordy: bool = False) -> str:
    """The interval: 0.73–0.96 in a cell, 0.73 to 0.96 in a sentence or beside a negative bound."""
    low, high = (None if bound is None else bound_of(bound, term, found) for bound in (found.low, found.high))
    if low is None or high is None:
        return f"up to {high}" if high else f"from {low}" if low else ""
    return f"{low}{' to ' if wordy or (found.low or 0.0) < 0 else DASH}{high}"


def value_of(found: Estimate, term: Term) -> str:
    """The value of a measure, with enough digits to show its sign and in which band of similarity it lies."""
    bands = CUT_OFFS if term.measure == "correspondence_averaged" else ()
    return _on_its_side(found.value, term, (*_zero(found.value, term, found), *bands))


def bound_of(value: float, term: Term, found: Estimate) -> str:
    """A bound of an interval, with enough digits to show its sign, of a ratio or a slope also the side of 1."""
    one = (1.0,) if term.best == "one" and not _is_difference(found) else ()
    return _on_its_side(value, term, (*_zero(value, term, found), *one))


CUT_OFFS = tuple(end for end in SIMILARITY if end < 1)
"""Where one band of similarity ends and the next begins."""


def _zero(value: float, term: Term, found: Estimate) -> tuple[float, ...]:
    """The cut-off between a loss and a gain, of what may be either and is not 0 but for the last digits of a fit."""
    lowest, smallest = term.range[0], 0.5 * 10.0 ** -(term.digits + MORE_FOR_THE_SIGN)
    may_be_either = lowest is None or lowest < 0 or _is_difference(found)
    return (0.0,) if may_be_either and abs(value) * (100 if term.unit else 1) > smallest else ()


MORE_FOR_THE_SIGN = 2
"""As many digits more as a number may have that its sign be seen."""


def _is_difference(found: Estimate) -> bool:
    """Whether a number is that of a subgroup less that of the others, on the scale of the measure itself."""
    return "complement" in found.details


def _on_its_side(value: float, term: Term, cut_offs: Iterable[float]) -> str:
    scale = 100 if term.unit else 1
    digits = showing_the_side(value * scale, term.digits, (round(cut * scale, 6) for cut in cut_offs))
    return number(value, digits, bool(term.unit))


def in_text(evidence: Evidence, measure: str, found: Estimate) -> str:
    """An estimate as a sentence gives it: 0.88 (95% CI 0.73 to 0.96)."""
    term = evidence.terms[measure]
    value = value_of(found, term)
    bounds = interval(found, term, wordy=True)
    return f"{value}{_unit(term)} ({level_of(evidence)}{TIED}CI {bounds})" if bounds else f"{value}{_unit(term)}"


def short(evidence: Evidence, measure: str, value: float, cut_offs: Iterable[float] = ()) -> str:
    """A value of a measure without its interval, with more digits where fewer would hide the side of a cut-off."""
    term = evidence.terms[measure]
    return _on_its_side(value, term, cut_offs) + _unit(term)


def _unit(term: Term) -> str:
    return "" if not term.unit else "%" if term.unit == "%" else f"{TIED}per{TIED}100"


def sentence_case(text: str) -> str:
    """The text with its first letter in upper case."""
    return text[:1].upper() + text[1:]


def within_sentence(label: str) -> str:
    """A label in the middle of a sentence: in lower case, unless it opens with a name or an abbreviation."""
    first = label.split()[0]
    keeps = first in NAMES or any(letter.isupper() or letter.isdigit() for letter in first[1:]) or len(first) == 1
    return label if keeps or "-" in first else label[:1].lower() + label[1:]


def named(evidence: Evidence, text: str) -> str:
    """A reason in which datasets and measures stand under the names that a reader knows."""
    known = {term.measure: within_sentence(term.label) for term in evidence.terms.values() if "_" in term.measure}
    sites = {dataset.name: dataset.site for dataset in evidence.datasets}
    # A dataset may be called "one" or "internal": its name stands only where reasons speak of a dataset.
    wanted = rf"(?<![\w-])({_any_of(known)})(?![\w-])|{BEFORE_A_NAME}({_any_of(sites)}){AFTER_A_NAME}"
    return re.sub(wanted, lambda found: known[found[1]] if found[1] else sites[found[2]], text)


BEFORE_A_NAME = "(?:^|(?<= of )|(?<=[Ii]n )|(?<=, )|(?<=: ))"
AFTER_A_NAME = r"(?=$|[,.:]| has | have | are | is | and | in no subgroup | the curve | \(| \d)"


def _any_of(names: Iterable[str]) -> str:
    """A pattern that matches each of these names, and nothing where there are none."""
    return "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True)) or "(?!)"


def showing_the_side(value: float, digits: int, cut_offs: Iterable[float]) -> int:
    """As many digits as it takes until one sees on which side of every cut-off the value lies; of six no more."""
    cuts = tuple(cut_offs)
    enough = (
        more for more in range(digits, MOST_DIGITS + 1) if not any(round(value, more) == cut != value for cut in cuts)
    )
    return next(enough, digits)


MOST_DIGITS = 6
"""What differs from a cut-off by less is no different."""


UNSTATED = "not stated"
"""What a quick look has in place of a version and an owner."""


def model(evidence: Evidence) -> str:
    """The model with the version that was tested, when it has one, and the released one where it is another."""
    version = evidence.release.release.version
    return tested_model(evidence) + ("" if tested_version(evidence) == version else f" (the release is {version})")


def tested_model(evidence: Evidence) -> str:
    """The model with the version that was tested, when it has one."""
    name, tested = evidence.release.release.model, tested_version(evidence)
    return name if tested == UNSTATED else f"{name} {tested}"


def tested_version(evidence: Evidence) -> str:
    """The version that every number is of; the released one, where the release names no other."""
    release = evidence.release.release
    return release.tested_version or release.version


def foretold(evidence: Evidence) -> str:
    """What the model gives the probability of: the outcome with its horizon, of several classes each of them."""
    outcome = evidence.release.outcome
    each = f"each of {listing(outcome.classes)}: " if outcome.classes else ""
    horizon = f", {outcome.horizon}" if outcome.horizon else ""
    return f"{each}{outcome.name}{horizon}"


def development(evidence: Evidence) -> str | None:
    """What the tables hold that the model was made from; None where the release gives none."""
    tables = [one for one in evidence.datasets if one.role == "development"]
    return " ".join(_size_and_dates(one) for one in tables) or None


def _size_and_dates(dataset: DatasetSummary) -> str:
    counts = [f"{count:,} of {label}" for label, count in dataset.class_counts.items()]
    if not counts and (events := events_of(dataset)):
        counts = [f"events {events}" if dataset.outcome_withheld else counted(dataset.events or 0, "event")]
    lost, least = lost_rows([dataset])
    parts = [f"{dataset.site}: {counted(dataset.n, 'patient')}", *counts]
    parts += [f"{least}{counted(lost, 'row')} not analysed"] if lost or least else []
    parts += [dates(dataset.dates)] if dataset.dates else []
    return f"{', '.join(parts)}."


def identity(evidence: Evidence) -> str:
    """The dossier's name on every page: model, released version, date."""
    release = evidence.release.release
    name = release.model if release.version == UNSTATED else f"{release.model} {release.version}"
    words = re.sub(r"[^a-z0-9.]+", "-", name.lower()).strip("-")
    return words if release.date is None else f"{words}-{release.date.isoformat()}"


def anchor(text: str) -> str:
    """A text as the name of a place in the document."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


# ---- tables ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cell:
    """What stands in one cell: a value with its interval, or a word in its place."""

    text: str
    interval: str = ""
    kind: Literal["value", "plain", "word", "absent", "alert", "label"] = "value"
    """What it is: a number, a plain one, words, a gap, a number not met, or the label of the cells to its right."""


@dataclass(frozen=True)
class Row:
    """A row of a table, or the name of a group of rows."""

    label: str
    cells: tuple[Cell, ...] = ()
    kind: Literal["row", "group", "total"] = "row"


@dataclass(frozen=True)
class Column:
    """The head of a column, and whether its cells have intervals, words, or are labels themselves."""

    label: str
    intervals: bool = False
    words: bool = False
    labels: bool = False
    """Whether its cells name what stands to their right, as the first column does."""
    over: str = ""
    """What is said once above it and its neighbours that share it."""


@dataclass(frozen=True)
class Table:
    """A table in its final words."""

    name: str
    title: str
    note: str
    head: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    footnotes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Spanner:
    """A head above neighbouring columns; no name where they have none."""

    label: str
    cells: int


def spanners(table: Table) -> tuple[Spanner, ...]:
    """The heads above the columns in order, each with the cells that it spans; none where no column has one."""
    found: list[Spanner] = []
    for column in table.columns:
        cells = 2 if column.intervals else 1
        if found and found[-1].label == column.over:
            cells += found.pop().cells
        found.append(Spanner(column.over, cells))
    return tuple(found) if any(one.label for one in found) else ()


TALL = 24
"""A group of more rows than this may be parted at the end of a page, so each page must name it."""


def pages_of(table: Table) -> tuple[Table, ...]:
    """A table as it is set: whole, or group by group, the group's name in the head, where every group is tall."""
    groups = groups_of(table)
    if len(groups) < 2 or min(len(group.rows) for group in groups) <= TALL:
        return (table,)
    parts = []
    for place, group in enumerate(groups, start=1):
        name = f"{table.name}-{place}" if place > 1 else table.name
        title = table.title if place == 1 else f"{table.title.removesuffix('.')}, continued ({place})."
        note = table.note if place == 1 else ""
        notes = table.footnotes if place == len(groups) else ()
        parts.append(Table(name, title, note, group.label or table.head, table.columns, group.rows, notes))
    return tuple(parts)


@dataclass(frozen=True)
class Group:
    """Rows under one name, which stay on one page; no name where the table has no groups."""

    label: str
    rows: tuple[Row, ...]


def groups_of(table: Table) -> tuple[Group, ...]:
    """The rows of a table by group."""
    found: list[Group] = []
    for row in table.rows:
        if row.kind == "group":
            found.append(Group(row.label, ()))
        elif found:
            found[-1] = Group(found[-1].label, (*found[-1].rows, row))
        else:
            found.append(Group("", (row,)))
    return tuple(found)


def with_short_labels(table: Table) -> Table:
    """The table with its sites up to the first comma, where the whole names have no room and these still differ."""
    labels = list(dict.fromkeys(row.label for row in table.rows if row.kind == "row"))
    short = {label: label.split(",")[0] for label in labels}
    if label_fits(table) or len(set(short.values())) < len(labels):
        return table
    return replace(table, rows=tuple(replace(row, label=short.get(row.label, row.label)) for row in table.rows))


def label_fits(table: Table) -> bool:
    """Whether the longest label of a row stands on one line beside the columns."""
    longest = max((len(row.label) for row in table.rows if row.kind != "group"), default=0)
    return longest * LETTER + sum(_column_width(table, place) for place in range(len(table.columns))) <= MEASURE


LETTER = 1.72
"""The width of a letter of a label in mm."""


def _column_width(table: Table, place: int) -> float:
    """The width in mm of a column: its widest cell, or the longest word of its head."""
    column = table.columns[place]
    cells = [row.cells[place] for row in table.rows if place < len(row.cells)]
    if column.labels:
        return 7.0 + max(len(cell.text) for cell in cells) * LETTER
    if column.words:
        return MEASURE / 3
    widest = max((len(cell.text) + len(cell.interval) for cell in cells), default=0)
    heading = max(map(len, column.label.split()), default=0)
    return 2.4 + (1.4 if column.intervals else 0.0) + max(widest, heading) * CHARACTER


class Reasons:
    """The reasons for what is absent from one table: each with its letter, or for a whole row in a sentence."""

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence
        self.letters: dict[str, str] = {}
        self.left_out: dict[str, list[str]] = {}

    def cell(self, absent: Absent) -> Cell:
        """The word for a gap, with the letter of its reason."""
        word = f"withheld{TIED}(<{absent.below})" if isinstance(absent, Withheld) else "absent"
        return Cell(f"{word}{TIED}{self.letter(absent.reason)}", kind="absent")

    def letter(self, reason: str) -> str:
        """The mark of a reason, which a footnote spells out: a letter alone would read as an article."""
        said = sentence_case(named(self.evidence, reason))
        return self.letters.setdefault(said, f"†{_letter(len(self.letters))}")

    def leave_out(self, label: str, dataset: str, reason: str) -> None:
        """Remember a dataset that has no row because nothing of the table exists for it."""
        # The same gap at several sites is said once: "no predictors: Spain and Brazil 1".
        without_name = re.sub(rf"^{re.escape(dataset)} has no ", "no ", reason)
        without_name = re.sub(rf", not those of {re.escape(dataset)}$", " only", without_name)
        self.left_out.setdefault(named(self.evidence, without_name), []).append(label)

    def footnotes(self) -> tuple[str, ...]:
        """Each letter with its reason, and each reason with the datasets that it left out."""
        lettered = [f"{letter}{TIED}{reason}." for reason, letter in self.letters.items()]
        return (*lettered, *(f"Not shown, {reason}: {listing(who)}." for reason, who in self.left_out.items()))


def _letter(count: int) -> str:
    return chr(ord("a") + count) if count < 26 else f"{chr(ord('a') + count // 26 - 1)}{chr(ord('a') + count % 26)}"


def shown(evidence: Evidence, roles: Sequence[str] = ("development", "internal", "external")) -> list[DatasetSummary]:
    """The datasets of these roles, external ones first, each group in the order of the release."""
    order = [role for role in ("external", "internal", "development") if role in roles]
    return [dataset for role in order for dataset in evidence.datasets if dataset.role == role]


def has_enough(described: Description) -> bool:
    """Whether so many patients have a value that their mean says something, as for the characteristics."""
    return not isinstance(described.n, int) or described.n >= FEWEST_WITH_A_VALUE


def count_of(count: int | Withheld) -> str:
    """A count in figures; one that is withheld as below the smallest that is printed."""
    return f"<{count.below}" if isinstance(count, Withheld) else f"{count:,}"


def rows_read_of(dataset: DatasetSummary) -> str:
    """How many rows were read, at least those that are analysed where a count of excluded ones is withheld."""
    return f"{dataset.n:,} or more" if isinstance(dataset.rows_read, Withheld) else f"{dataset.rows_read:,}"


def events_of(dataset: DatasetSummary, unknown: str = "") -> str:
    """How many had the outcome, in figures; the word for nobody knows where the dataset has no outcome."""
    if dataset.outcome_withheld is not None:
        return "withheld"
    return unknown if dataset.events is None else f"{dataset.events:,}"


def sum_known(counts: Iterable[int | Withheld]) -> int:
    """The sum of the counts that are not withheld."""
    return sum(count for count in counts if isinstance(count, int))


def at_least(datasets: Sequence[DatasetSummary]) -> str:
    """The words before a sum of events that leaves out what is withheld."""
    return f"at least{TIED}" if any(dataset.outcome_withheld for dataset in datasets) else ""


def lost_rows(datasets: Sequence[DatasetSummary]) -> tuple[int, str]:
    """How many rows were excluded as far as that is told, and the words before the number where it is not all."""
    counts = [count for dataset in datasets for count in dataset.excluded.values()]
    return sum_known(counts), f"at least{TIED}" if any(isinstance(count, Withheld) for count in counts) else ""


def label_of(dataset: DatasetSummary) -> str:
    """A dataset as a table's row names it; what is not external says so first."""
    return dataset.site if dataset.role == "external" else f"{sentence_case(dataset.role)}: {dataset.site}"


def measured_label(dataset: DatasetSummary) -> str:
    """A dataset as a row of measures names it: those of the development data are apparent."""
    apparent = " (apparent)" if dataset.role == "development" else ""
    return label_of(dataset).replace(":", f"{apparent}:", 1) if apparent else label_of(dataset)


ALL_POOLED = "All external sites, pooled"
"""The row of what is pooled: never of the internal test or the development data."""


def chapter_tables(evidence: Evidence, chapter: str, without: Sequence[str] = ()) -> tuple[Table, ...]:
    """Every measure that a chapter may show, in tables."""
    return tables_of(evidence, [term for term in _members(evidence, chapter) if term.name not in without])


def tables_of(evidence: Evidence, terms: Sequence[Term], beside: Sequence[Term] = ()) -> tuple[Table, ...]:
    """These measures in tables: those that depend on the same settings stand side by side.

    `beside` are measures that stand last in every table of sites whose settings are theirs.
    """
    groups: dict[tuple[str, ...], list[Term]] = {}
    for term in terms:
        groups.setdefault(term.at, []).append(term)
    tables: list[Table] = []
    for at, members in groups.items():
        kept = [term for term in members if _computed(evidence, term)]
        last = [term for term in beside if term.at == at and _computed(evidence, term)]
        alone = _only_dataset(evidence, kept)
        if len([name for name in at if name != "class"]) > 1:
            tables += [_across(evidence, term) for term in kept]
        elif alone is not None:
            tables.append(_listed(evidence, [*kept, *last], alone))
        else:
            parts = [[*part, *last] for part in _parts(evidence, kept, last)]
            tables += [
                _across(evidence, part[0]) if _reads_across(evidence, part) else _side_by_side(evidence, part)
                for part in parts
            ]
    return tuple(with_short_labels(table if beside else folded(groups_across(table))) for table in tables)


def _reads_across(evidence: Evidence, terms: Sequence[Term]) -> bool:
    """Whether a measure stands alone and its setting takes so few values that they can be columns."""
    if len(terms) != 1 or len(terms[0].at) != 1:
        return False
    term, name = terms[0], terms[0].at[0]
    results = [one for one in evidence.results if one.term == term.name]
    values = {one.at[name] for one in results if name in one.at}
    room = MEASURE - LONG_LABEL * CHARACTER
    return len(values) >= 2 and len(values) * _width(evidence, term) <= room and not _is_tested(results, term)


def groups_across(table: Table) -> Table:
    """A table whose groups have the same rows, with the groups beside each other; every other table as it is."""
    groups = groups_of(table)
    names = [[(row.kind, row.label) for row in group.rows] for group in groups]
    alike = len(groups) > 1 and all(group.label for group in groups) and all(one == names[0] for one in names)
    if not alike or any(one.words for one in table.columns):
        return table
    alone = len(table.columns) == 1
    # A measure alone with its p value is named by the title.
    tested = len(table.columns) == 2 and table.columns[1].label == "p"
    own = (replace(table.columns[0], label="Value"), table.columns[1]) if tested else table.columns
    columns = tuple(
        replace(column, label=group.label) if alone else replace(column, over=group.label)
        for group in groups
        for column in own
    )
    lines = zip(*(group.rows for group in groups), strict=True)
    rows = tuple(replace(line[0], cells=tuple(cell for row in line for cell in row.cells)) for line in lines)
    across = replace(table, columns=columns, rows=rows)
    return across if label_fits(across) else table


MANY_ROWS = 7
"""A narrow table of so many rows or more is folded."""


def folded(table: Table) -> Table:
    """A narrow table without groups as two halves beside each other; every other table as it is."""
    body = [row for row in table.rows if row.kind == "row"]
    last = [row for row in table.rows if row.kind == "total"]
    width = min(max((len(row.label) for row in body), default=0), LONG_LABEL) * LETTER
    width += sum(_column_width(table, place) for place in range(len(table.columns)))
    grouped = len(body) + len(last) < len(table.rows)
    if len(body) < MANY_ROWS or grouped or any(one.words for one in table.columns) or width > MEASURE / 2 - 4:
        return table
    half = -(-len(body) // 2)
    nothing = tuple(Cell("", kind="plain") for _ in table.columns)
    right: list[tuple[Cell, ...]] = [(Cell(row.label, kind="label"), *row.cells) for row in body[half:]]
    right += [(Cell("", kind="plain"), *nothing)] * (half - len(right))
    rows = [replace(row, cells=(*row.cells, *more)) for row, more in zip(body[:half], right, strict=True)]
    rows += [replace(row, cells=(*row.cells, Cell("", kind="plain"), *nothing)) for row in last]
    columns = (*table.columns, Column(table.head, words=True, labels=True), *table.columns)
    return replace(table, columns=columns, rows=tuple(rows))


def _side_by_side(evidence: Evidence, terms: Sequence[Term]) -> Table:
    """Measures as columns; a single one that is taken class by class has the classes as columns where they fit."""
    term = terms[0]
    results = [one for one in evidence.results if one.term == term.name]
    classes = {one.at.get("class") for one in results}
    if len(terms) == 1 and term.at == ("class",) and 1 < len(classes) <= MEASURE / (2 * _width(evidence, term)) + 1:
        return table_across(evidence, results, "class", f"{term.label} by class")
    return _beside(evidence, terms)


def _members(evidence: Evidence, chapter: str) -> list[Term]:
    """The measures of a chapter without those that belong in the appendix only."""
    return [
        term for term in evidence.terms.values() if term.chapter == chapter and not in_appendix_only(evidence, term)
    ]


def in_appendix_only(evidence: Evidence, term: Term) -> bool:
    """Whether a measure calls for caution, or is a test against chance, and so stays out of the chapters."""
    return term.tier == "caution" or is_against_chance(evidence, term)


def printed_in(evidence: Evidence, term: Term) -> str:
    """The chapter in which a measure is printed."""
    return "caution" if in_appendix_only(evidence, term) else term.chapter


def is_against_chance(evidence: Evidence, term: Term) -> bool:
    """Whether a measure is a test against chance."""
    return any(one.term == term.name and one.at.get("against") == "chance" for one in evidence.results)


def chapter_is_empty(evidence: Evidence, chapter: str) -> bool:
    """Whether nothing that a chapter may show could be estimated."""
    names = {term.name for term in _members(evidence, chapter)}
    return not any(result.term in names and isinstance(result.found, Estimate) for result in evidence.results)


def is_estimated(result: Result) -> bool:
    """Whether a result is a number."""
    return isinstance(result.found, Estimate)


def _computed(evidence: Evidence, term: Term) -> bool:
    return any(result.term == term.name and isinstance(result.found, Estimate) for result in evidence.results)


def _only_dataset(evidence: Evidence, terms: Sequence[Term]) -> str | None:
    """The dataset that alone has numbers for these measures, if there is one."""
    names = {term.name for term in terms}
    holders = {result.dataset for result in evidence.results if result.term in names and is_estimated(result)}
    return holders.pop() if len(holders) == 1 else None


def _listed(evidence: Evidence, terms: Sequence[Term], dataset: str) -> Table:
    """Measures of a single dataset, one below the other: a table of one row would say less."""
    reasons = Reasons(evidence)
    named_so = {term.name: term for term in terms}
    found = [one for one in evidence.results if one.dataset == dataset and one.term in named_so]
    places = list(dict.fromkeys(tuple(sorted(_varying(evidence, one).items())) for one in found))
    rows: list[Row] = []
    for place in places:
        if place:
            rows.append(Row(_place_name(dict(place)), kind="group"))
        here = [one for one in found if tuple(sorted(_varying(evidence, one).items())) == place]
        rows += [_line(named_so[one.term], one.found, reasons) for one in here]
    where = next(
        (measured_label(one) for one in evidence.datasets if one.name == dataset), "all external sites together"
    )
    return Table(
        name=anchor("-".join(["table", *(term.name for term in terms)])[:80]),
        title=f"Measures of this chapter, {where}.",
        note=f"Value and {level_of(evidence)} interval.",
        head="Measure",
        columns=(Column("Value", intervals=True), Column("Patients"), Column("Method", words=True)),
        rows=tuple(rows),
        footnotes=reasons.footnotes(),
    )


def _line(term: Term, found: Estimate | Absent, reasons: Reasons) -> Row:
    """A measure with its value, the rows it rests on and its method."""
    value = cell(found, term, reasons, wordy=isinstance(found, Estimate) and (found.low or 0.0) < 0)
    if isinstance(found, Absent):
        return Row(_heading(term), (value, Cell("", kind="plain"), Cell("", kind="word")))
    return Row(
        _heading(term), (value, Cell(f"{found.n:,}", kind="plain"), Cell(sentence_case(found.method), kind="word"))
    )


def _parts(evidence: Evidence, terms: Sequence[Term], last: Sequence[Term] = ()) -> list[list[Term]]:
    """The terms in as few tables as the page's width allows, when `last` stand in each of them too."""
    names = {term.name for term in (*terms, *last)}
    printed = {result.dataset for result in evidence.results if result.term in names and is_estimated(result)}
    longest = max((len(label) for _, label, _ in _row_labels(evidence, printed)), default=0)
    taken = sum(_width(evidence, term) for term in last)
    room = MEASURE - min(longest, LONG_LABEL) * CHARACTER - taken
    widths = [_width(evidence, term) for term in terms]
    fewest = len(_packed(terms, widths, room))
    # Tables of nearly equal width, as long as that takes no more of them.
    for share in (1.0, 1.1, 1.25, 1.5):
        even = _packed(terms, widths, min(room, share * sum(widths) / max(fewest, 1)))
        if len(even) == fewest:
            return even
    return _packed(terms, widths, room)


def _packed(terms: Sequence[Term], widths: Sequence[float], room: float) -> list[list[Term]]:
    """The terms in order, in tables of at most this width; one that is wider stands alone."""
    parts: list[list[Term]] = []
    left = 0.0
    for term, width in zip(terms, widths, strict=True):
        if not parts or width > left:
            parts.append([])
            left = room
        parts[-1].append(term)
        left -= width
    return parts


def _width(evidence: Evidence, term: Term) -> float:
    """The width in mm of a measure's columns: its widest value, interval and word of the heading."""
    results = [one for one in evidence.results if one.term == term.name]
    found = [one.found for one in results if isinstance(one.found, Estimate)]
    wordy = _needs_words(results)
    values = max((len(value_of(one, term)) for one in found), default=0)
    bounds = max((len(interval(one, term, wordy)) for one in found), default=0)
    heading = max(map(len, _heading(term).split()))
    test = 7 if any("p_value" in one.details for one in found) else 0
    return 4.6 + max(values + bounds, heading) * CHARACTER + test * CHARACTER


def _beside(evidence: Evidence, terms: Sequence[Term]) -> Table:
    """Measures as columns, sites as rows, the values of their one setting as groups."""
    names = {term.name for term in terms}
    results = [result for result in evidence.results if result.term in names]
    places = list(dict.fromkeys(tuple(sorted(_varying(evidence, result).items())) for result in results))
    reasons = Reasons(evidence)
    results = _without_empty_rows(evidence, results, reasons)
    rows: list[Row] = []
    for place in places:
        if any(place):
            rows.append(Row(_place_name(dict(place)), kind="group"))
        here = [result for result in results if tuple(sorted(_varying(evidence, result).items())) == place]
        rows += _site_rows(evidence, [[one for one in here if one.term == term.name] for term in terms], terms, reasons)
    tested = [_is_tested(results, term) for term in terms]
    return Table(
        name=anchor("-".join(["table", *(term.name for term in terms)])),
        title=_title(terms),
        note=_note(evidence, results, terms),
        head="Site",
        columns=tuple(
            column
            for term, has_p in zip(terms, tested, strict=True)
            for column in (Column(_heading(term), intervals=True), *([Column("p")] if has_p else []))
        ),
        rows=tuple(rows),
        footnotes=reasons.footnotes(),
    )


def _is_tested(results: Sequence[Result], term: Term) -> bool:
    """Whether a measure comes with the p value of a test, which then has a column of its own."""
    return any(
        "p_value" in one.found.details for one in results if one.term == term.name and isinstance(one.found, Estimate)
    )


def _p_value(found: Estimate | Absent) -> Cell:
    p_value = found.details.get("p_value") if isinstance(found, Estimate) else None
    return Cell("" if p_value is None else number(p_value, 3), kind="plain")


def _across(evidence: Evidence, term: Term) -> Table:
    """One measure with several settings: the last that varies as columns, the others as groups of rows."""
    results = [result for result in evidence.results if result.term == term.name]
    values = {name: {result.at[name] for result in results if name in result.at} for name in term.at}
    varying = [name for name in term.at if len(values[name]) > 1] or [term.at[-1]]
    across = varying[-1]
    return table_across(evidence, results, across, f"{term.label} by {SETTING[across].lower()}", varying[:-1])


def table_across(
    evidence: Evidence, results: Sequence[Result], across: str, title: str, held: Sequence[str] = ()
) -> Table:
    """Results of one measure: one setting as columns, sites as rows, the settings that are held as groups of rows."""
    term = evidence.terms[results[0].term]
    reasons = Reasons(evidence)
    kept = _without_empty_rows(evidence, results, reasons)
    values = list(dict.fromkeys(result.at[across] for result in results if across in result.at))
    places = list(dict.fromkeys(tuple((name, result.at[name]) for name in held) for result in kept))
    rows: list[Row] = []
    for place in places:
        if place:
            rows.append(Row(_place_name(dict(place)), kind="group"))
        here = [one for one in kept if all(one.at[name] == value for name, value in place)]
        columns = [[one for one in here if one.at.get(across) == value] for value in values]
        rows += _site_rows(evidence, columns, [term] * len(columns), reasons)
    return Table(
        name=anchor(f"table-{term.name}-{across}"),
        title=f"{sentence_case(title)}.",
        note=_note(evidence, kept, [term]),
        head="Site",
        columns=tuple(Column(sentence_case(_column_name(across, value)), intervals=True) for value in values),
        rows=tuple(rows),
        footnotes=reasons.footnotes(),
    )


def _without_empty_rows(evidence: Evidence, results: Sequence[Result], reasons: Reasons) -> list[Result]:
    """The results of the datasets that have at least one number; the others are named below the table."""
    labels = {dataset.name: measured_label(dataset) for dataset in evidence.datasets}
    kept = {result.dataset for result in results if is_estimated(result)}
    for name in dict.fromkeys(result.dataset for result in results if result.dataset not in kept):
        reason = next(one.found.reason for one in results if one.dataset == name and isinstance(one.found, Absent))
        reasons.leave_out(labels.get(name, within_sentence(ALL_POOLED)), name, reason)
    return [result for result in results if result.dataset in kept]


def _varying(evidence: Evidence, result: Result) -> At:
    """The settings that a measure runs over; what always holds for it is said in its label."""
    return {name: value for name, value in result.at.items() if name in evidence.terms[result.term].at}


def _place_name(place: Mapping[str, float | str]) -> str:
    return ", ".join(
        "Mean of the classes" if (name, value) == ("class", MACRO) else f"{SETTING[name]} {setting(value)}"
        for name, value in place.items()
    )


def _column_name(name: str, value: float | str) -> str:
    """A setting as the head of a column."""
    if (name, value) == ("class", MACRO):
        return "mean of the classes"
    return f"{SETTING[name].lower()} {setting(value)}"


def _title(terms: Sequence[Term]) -> str:
    return sentence_case(listing([within_sentence(term.label) for term in terms])) + "."


def _heading(term: Term) -> str:
    label = sentence_case(term.label)
    return label if not term.unit else f"{label}, %" if term.unit == "%" else f"{label} per 100"


def _site_rows(
    evidence: Evidence, columns: Sequence[Sequence[Result]], terms: Sequence[Term], reasons: Reasons
) -> list[Row]:
    """A row for each dataset in which any of these measures was tried, and one for all sites together."""
    rows = []
    tried = {result.dataset for column in columns for result in column}
    for name, label, kind in _row_labels(evidence, tried):
        found = [next((one for one in column if one.dataset == name), None) for column in columns]
        wordy = [_needs_words(column) for column in columns]
        tested = [any(_is_tested([one], term) for one in column) for column, term in zip(columns, terms, strict=True)]
        cells: list[Cell] = []
        for one, term, words, has_p in zip(found, terms, wordy, tested, strict=True):
            cells.append(Cell("", kind="plain") if one is None else cell(one.found, term, reasons, wordy=words))
            cells += [_p_value(Absent("") if one is None else one.found)] if has_p else []
        rows.append(Row(label, tuple(cells), kind))
    return rows


def _row_labels(evidence: Evidence, names: Set[str]) -> list[tuple[str, str, Literal["row", "total"]]]:
    """Datasets as the rows of a table: each with its label, declared ones after known ones, all together last."""
    known = {dataset.name for dataset in evidence.datasets}
    labels: list[tuple[str, str, Literal["row", "total"]]] = []
    labels += [(dataset.name, measured_label(dataset), "row") for dataset in shown(evidence) if dataset.name in names]
    labels += [(name, f"Declared: {name}", "row") for name in sorted(names - known - {POOLED})]
    labels += [(POOLED, ALL_POOLED, "total")] if POOLED in names else []
    return labels


def _needs_words(column: Sequence[Result]) -> bool:
    """Whether a bound of this column may be negative, so that a dash would be misread."""
    bounds = [one.found.low for one in column if isinstance(one.found, Estimate) and one.found.low is not None]
    return any(bound < 0 for bound in bounds)


def cell(found: Estimate | Absent, term: Term, reasons: Reasons, wordy: bool = False) -> Cell:
    """A result as one cell."""
    if isinstance(found, Absent):
        return reasons.cell(found)
    return Cell(value_of(found, term), interval(found, term, wordy))


def _note(evidence: Evidence, results: Sequence[Result], terms: Sequence[Term]) -> str:
    """What a table rests on: the level, and how each measure was taken, measures that were taken alike named together.

    Where a site's way is another, it is said with the site; once where that holds for every measure of the table.
    """
    bounded = any(isinstance(result.found, Estimate) and result.found.low is not None for result in results)
    opening = f"Value and {level_of(evidence)} interval. " if bounded else ""
    ways = {term.label: found for term in terms if (found := _ways(evidence, results, term))}
    others = [set(found[1:]) for found in ways.values()]
    everywhere = set.intersection(*others) if len(ways) > 1 else set()
    shared: dict[str, list[str]] = {}
    for label, found in ways.items():
        told = "; ".join(way for way in found if way not in everywhere)
        shared.setdefault(told, []).append(label)
    said = [
        told if len(shared) == 1 else f"{listing([within_sentence(label) for label in labels])}: {told}"
        for told, labels in shared.items()
    ]
    said += [way for way in next(iter(ways.values()), ()) if way in everywhere]
    return opening + " ".join(f"{sentence_case(one)}." for one in said)


def _ways(evidence: Evidence, results: Sequence[Result], term: Term) -> tuple[str, ...]:
    """How a measure was taken at most sites, and then how and where it was taken otherwise."""
    taken = [
        (one.found, one.dataset)
        for one in results
        if one.term == term.name and one.dataset != POOLED and isinstance(one.found, Estimate)
    ]
    # Where a bound is missing, its table shows none: how it is taken elsewhere is no word about this one.
    with_bounds = [(found, name) for found, name in taken if (found.low, found.high) != (None, None)]
    ways: dict[str, set[str]] = {}
    for found, name in with_bounds or taken:
        ways.setdefault(_in_kind(found.method), set()).add(name)
    if not ways:
        return ()
    sites = {one.name for one in evidence.datasets if one.role == "external"}
    usual = max(ways, key=lambda way: (len(ways[way]), len(ways[way] & sites), -len(way)))
    others = (
        _elsewhere(evidence, otherwise(usual, way), ways[way], ways[usual]) for way in sorted(ways) if way != usual
    )
    return (usual, *others)


def _elsewhere(evidence: Evidence, way: str, names: Set[str], usual: Set[str]) -> str:
    """A way that is not the usual one, with the datasets that have it; without them where they have that one too."""
    if names & usual:
        return f"or {way}"
    of_role = {role: {one.name for one in evidence.datasets if one.role == role} for role in WITHIN}
    whole = [role for role, members in of_role.items() if members and members <= names]
    sites = [one.site for one in shown(evidence) if one.name in names and one.role not in whole]
    few = listing(sites) if len(sites) <= MOST_NAMED else f"{in_words(len(sites))} sites"
    where = [*([f"at {few}"] if sites else []), *(WITHIN[role] for role in whole)]
    return f"{listing(where)}: {way}" if where else way


WITHIN = {"internal": "in the internal test", "development": "in development"}
"""Where a number is that no external site gave."""

MOST_NAMED = 3
"""Sites that are named beside a way of theirs."""


def otherwise(first: str, second: str) -> str:
    """The parts of the second method that the first does not have."""
    parts = second.split("; ")
    return "; ".join([part for part in parts if part not in first.split("; ")] or parts)


CLIPPED = r"logit of \d+ risks clipped to 1e-12 from 0 or 1"
OF_ONE_SITE = (
    (re.compile(r", apparent$"), ""),
    (re.compile(rf"; {CLIPPED}|^{CLIPPED}; "), ""),
    (re.compile(r", (one-sided|the upper bound above the mean confidence) because [^;]*"), ""),
    (re.compile(r", [\d,]+ rows? with less than half of the predictors left out"), ""),
    (re.compile(r"; (without the rows before imputing, what it changed|none in the complete cases: ).*$"), ""),
    (
        re.compile(r"jackknife leaving out (\d+ groups of )?[\d,]+ (\w+), t with \d+ degrees of freedom"),
        r"jackknife over \2",
    ),
    (re.compile(r", \d+ replicates(, \d+ without a \w+ left out)?"), ""),
    (re.compile(r", \d knots at [\d, ]+%"), ""),
)
"""What the method of one site says of that site alone, and what stands for it."""


def _in_kind(method: str) -> str:
    """A method without the counts and the remarks that hold for one site alone."""
    for pattern, instead in OF_ONE_SITE:
        method = pattern.sub(instead, method)
    return method


def plain_rows(labels_and_cells: Iterable[tuple[str, Sequence[str]]]) -> tuple[Row, ...]:
    """Rows of plain words."""
    return tuple(Row(label, tuple(Cell(text, kind="plain") for text in cells)) for label, cells in labels_and_cells)
