"""How tables are set: groups that stay together, halves beside each other, names that fit."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from dossier.typeset import tables, widths
from dossier.typeset.numbers import SOFT_HYPHEN, TIED, as_declared


def table(labels: list[str], groups: int = 0, columns: int = 1) -> tables.Table:
    """A table of one number a column, once or under so many groups."""
    body = [
        tables.Row(label, tuple(tables.Cell("0.50", "0.40\N{EN DASH}0.60") for _ in range(columns))) for label in labels
    ]
    rows = (
        [row for k in range(groups) for row in (tables.Row(f"Threshold {k}", kind="group"), *body)] if groups else body
    )
    heads = tuple(tables.Column(f"Measure {k}", intervals=True) for k in range(columns))
    return tables.Table("table-a", "A.", "Note.", "Site", heads, tuple(rows), ("a because.",))


def test_tall_groups_become_tables_that_name_their_group_in_the_head() -> None:
    parts = tables.pages_of(table([f"Hospital {k}" for k in range(40)], groups=2))
    assert [part.head for part in parts] == ["Threshold 0", "Threshold 1"]
    assert [len(part.rows) for part in parts] == [40, 40]
    assert [part.footnotes for part in parts] == [(), ("a because.",)]
    assert len({part.name for part in parts}) == 2


@pytest.mark.parametrize("columns", range(4, 12))
@pytest.mark.parametrize("head", ["Site", "Hospital", "Comparison"])
@pytest.mark.parametrize("digits", range(2, 8))
def test_beside_short_labels_their_head_has_its_room(columns: int, head: str, digits: int) -> None:
    whole = table(["A", "B"], columns=columns)
    cells = tuple(tables.Cell("0." + "5" * digits, "0.40\N{EN DASH}0.60") for _ in range(columns))
    whole = dataclasses.replace(whole, head=head, rows=tuple(tables.Row(label, cells) for label in "AB"))
    for part in tables.pages_of(whole):
        assert tables.label_room(part) >= widths.widest_word(head)


def test_small_groups_stay_in_one_table() -> None:
    whole = table([f"Hospital {k}" for k in range(9)], groups=2)
    assert tables.pages_of(whole) == (whole,)
    assert [(group.label, len(group.rows)) for group in tables.groups_of(whole)] == [
        ("Threshold 0", 9),
        ("Threshold 1", 9),
    ]


def test_a_narrow_table_is_folded_without_losing_a_row() -> None:
    names = [f"Hospital {k}" for k in range(9)]
    whole = table(names)
    total = tables.Row("All, pooled", whole.rows[0].cells, "total")
    found = tables.folded(tables.Table(**{**vars(whole), "rows": (*whole.rows, total)}))
    labels = [row.label for row in found.rows if row.kind == "row"]
    labels += [cell.text for row in found.rows for cell in row.cells if cell.kind == "label"]
    assert labels == names
    assert len(found.rows) == 6
    assert found.rows[-1].label == "All, pooled"
    assert {len(row.cells) for row in found.rows} == {len(found.columns)} == {3}


def test_grouped_wide_and_short_tables_are_not_folded() -> None:
    names = [f"Hospital {k}" for k in range(9)]
    for whole in (table(names, groups=2), table(names, columns=4), table(names[:4])):
        assert tables.folded(whole) == whole


def lines(label: str, room: float) -> list[str]:
    """The lines on which a label stands in a cell of this width."""
    found = [""]
    for word in label.split(" "):
        for number, piece in enumerate(word.split(SOFT_HYPHEN)):
            joined = f"{found[-1]} {piece}" if found[-1] and number == 0 else found[-1] + piece
            if found[-1] and widths.text_width(joined, 600) > room:
                found.append(piece)
            else:
                found[-1] = joined
    return found


@pytest.mark.parametrize("columns", [1, 4, 7, 20])
@pytest.mark.parametrize("letters", range(5, 95, 5))
@pytest.mark.parametrize("of_words", [True, False])
def test_no_table_is_wider_than_the_page_whatever_its_sites_are_called(
    letters: int, columns: int, of_words: bool
) -> None:
    text = "University Hospital of the Holy Cross and Saint Bartholomew in Marlborough North Trust " * 2
    text = text if of_words else text.replace(" ", "").lower()
    names = [f"{text[: letters - 2].strip()}{' ' if of_words else ''}{end}" for end in (1, 2)]
    parts = tables.pages_of(table(names, columns=columns), names)
    assert [column.label for part in parts for column in part.columns] == [f"Measure {k}" for k in range(columns)]
    for part in parts:
        room = tables.label_room(part)
        labels = [row.label for row in part.rows]
        assert len(set(labels)) == len(names)
        assert all(widths.text_width(line, 600) <= room for label in labels for line in lines(label, room))
        assert all(len(lines(label, room)) <= tables.LINES for label in labels)
        assert not of_words or not any(SOFT_HYPHEN in label for label in labels)
        assert all(label.endswith(name[-1]) for label, name in zip(labels, names, strict=True))


def test_a_site_stands_whole_on_three_lines_before_it_is_shortened() -> None:
    names = ["Marlborough Central Hospital N.", "Brookham and Winter's Hospital"]
    (part,) = tables.pages_of(table(names, columns=5), names)
    assert [row.label for row in part.rows] == names
    longer = [f"{name} and the Northern Infirmary for Eyes" for name in names]
    (part,) = tables.pages_of(table(longer, columns=5), longer)
    assert [row.label for row in part.rows] == [
        "Marlborough Central Hospital N. and the Northern Infirmary…",
        "Brookham and Winter's Hospital and the Northern Infirmary…",
    ]


@pytest.mark.parametrize("count", [6, 9, 14])
def test_each_part_of_a_table_explains_its_own_columns_alone(count: int) -> None:
    """A note above the first part explained a measure whose column stood in the second."""
    whole = table(["Bari", "Graz"], columns=count)
    heads = [f"Measure {index}" for index in range(count)]
    columns = tuple(dataclasses.replace(each, label=head) for each, head in zip(whole.columns, heads, strict=True))
    lettered = [
        dataclasses.replace(cell, text=f"0.5{TIED}†{'ab'[at % 2]}") for at, cell in enumerate(whole.rows[0].cells)
    ]
    lettered = [cell if at in (0, count - 1) else whole.rows[0].cells[at] for at, cell in enumerate(lettered)]
    rows = (dataclasses.replace(whole.rows[0], cells=tuple(lettered)), *whole.rows[1:])
    note = " ".join(["Estimate and interval.", *(f"{head}: what it is." for head in heads)])
    last = "ab"[(count - 1) % 2]
    footnotes = tuple(f"†{letter}{TIED}Why {letter}." for letter in dict.fromkeys(("a", last)))
    made = dataclasses.replace(whole, columns=columns, rows=rows, note=note, footnotes=footnotes)
    parts = tables.pages_of(made)
    assert parts[0].note.startswith("Estimate and interval.")
    for part in parts:
        own = [column.label for column in part.columns]
        assert [head for head in heads if f"{head}: " in part.note] == own
        said = {text[:2] for text in part.footnotes}
        assert said == {
            f"†{letter}" for letter in "ab" if any(f"†{letter}" in c.text for r in part.rows for c in r.cells)
        }


@pytest.mark.parametrize("is_there", [True, False])
def test_the_note_of_groups_explains_the_measures_that_are_there(is_there: bool) -> None:
    values: Any = {"level": "95%", "judged": "8 comparisons", "at_most": 0.05, "flagged": is_there, "benefit": is_there}
    note = tables.worded("subgroup-differences", [], **values).note
    rows = [tables.Row("Rho", (tables.Cell("9", kind="alert" if is_there else "value"),))]
    assert [
        "Tinted" in tables.worded(name, rows, level="95%", declared=(0.5,), known=()).note
        for name in ("thresholds", "sample")
    ] == [is_there] * 2
    assert ("sensitivity" in note, "net benefit" in note.lower()) == (is_there, is_there)


def test_only_sites_are_shortened() -> None:
    measures = ["Weighted utility of the advice as declared for every patient", "Sensitivity"]
    (part,) = tables.pages_of(table(measures, columns=4), ["Bari"])
    assert [row.label for row in part.rows] == measures


@pytest.mark.parametrize("words", [("withheld", "too few"), ("absent",)])
def test_a_table_without_any_number_is_a_line(words: tuple[str, ...]) -> None:
    whole = table(["Bari", "Graz"], columns=3)
    gaps = [tables.Cell.absent(f"{words[at % len(words)]}{TIED}†a") for at in range(3)]
    rows = tuple(dataclasses.replace(row, cells=tuple(gaps)) for row in whole.rows)
    without = dataclasses.replace(whole, rows=rows, footnotes=(f"†a{TIED}Fewer than 10.",))
    (part,) = tables.pages_of(without)
    assert not part.rows
    assert part.footnotes == (f"No number is given: {' and '.join(words)}.", "Fewer than 10.")
    known = dataclasses.replace(without, rows=(*rows, whole.rows[0]))
    assert tables.pages_of(known)[0].rows


@pytest.mark.parametrize("rest", ["and the Holy Trinity", "of the Northern Infirmary", "der Oberen Donau"])
@pytest.mark.parametrize("width", [20.0, 40.0, 50.0])
def test_no_name_begins_in_its_middle(rest: str, width: float) -> None:
    names = [f"St Bartholomew {rest} University Teaching Hospital", "St Bartholomew Women's", "Bartlow"]
    long, *_ = widths.shortened(names, width, lines=2)
    assert long.startswith(("St", "…"))
    alike = [f"Universitätsklinikum Marienbad und Oberes Tal, Klinik für Innere Medizin {at}" for at in "12"]
    assert widths.shortened(alike, 48.0) == ("Medizin 1", "Medizin 2")


def test_declared_numbers_keep_their_digits() -> None:
    assert as_declared(-0.055628) == "\N{MINUS SIGN}0.055628"
    assert as_declared(36.0) == "36"


def test_groups_of_the_same_rows_stand_beside_each_other_where_they_fit() -> None:
    alone = tables.groups_across(table(["Bari", "Graz"], groups=2))
    assert [column.label for column in alone.columns] == ["Threshold 0", "Threshold 1"]
    assert [(row.label, row.kind, len(row.cells)) for row in alone.rows] == [("Bari", "row", 2), ("Graz", "row", 2)]
    assert alone.footnotes == ("a because.",)
    several = tables.groups_across(table(["Bari", "Graz"], groups=2, columns=2))
    assert [(column.over, column.label) for column in several.columns] == [
        ("Threshold 0", "Measure 0"),
        ("Threshold 0", "Measure 1"),
        ("Threshold 1", "Measure 0"),
        ("Threshold 1", "Measure 1"),
    ]


def test_what_stands_above_columns_spans_their_values_and_intervals() -> None:
    assert tables.spanners(table(["Bari"], columns=2)) == ()
    across = tables.groups_across(table(["Bari", "Graz"], groups=2, columns=2))
    spanners = [(spanner.label, spanner.cells) for spanner in tables.spanners(across)]
    assert spanners == [("Threshold 0", 4), ("Threshold 1", 4)]


def test_a_measure_alone_with_its_p_value_is_named_by_the_title() -> None:
    whole = table(["Bari", "Graz"], groups=2, columns=2)
    tested = tables.Table(**{**vars(whole), "columns": (whole.columns[0], tables.Column("p"))})
    across = tables.groups_across(tested)
    assert [(column.over, column.label) for column in across.columns] == [
        ("Threshold 0", "Value"),
        ("Threshold 0", "p"),
        ("Threshold 1", "Value"),
        ("Threshold 1", "p"),
    ]


def test_groups_that_do_not_fit_or_differ_stay_below_each_other() -> None:
    wide = table(["Bari", "Graz"], groups=3, columns=4)
    assert tables.groups_across(wide) == wide
    whole = table(["Bari", "Graz"], groups=2)
    other = tables.Table("table-a", "A.", "Note.", "Site", whole.columns, whole.rows[:-1])
    assert tables.groups_across(other) == other
    plain = table(["Bari", "Graz"])
    assert tables.groups_across(plain) == plain
