"""results.csv: one line an estimate, for a spreadsheet."""

from __future__ import annotations

import csv
import io

from dossier.record.results import EstimateRow, Results
from dossier.typeset.reasons import reason_text

COLUMNS = (
    *("measure", "dataset", "subset_column", "subset_level", "at", "value", "low", "high", "se", "level", "p_value"),
    *("prediction_low", "prediction_high", "tau", "i2", "k", "df", "method", "n", "events", "tier", "status", "reason"),
)


def text(results: Results) -> bytes:
    """results.csv to the byte: settings as `name=value` joined by semicolons; empty where there is no value."""
    page = io.StringIO(newline="")
    writer = csv.writer(page, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(_line(row) for row in results.estimates)
    return page.getvalue().encode()


def _line(row: EstimateRow) -> list[object]:
    cells: dict[str, object] = {**row.details, **row.model_dump(exclude={"subset", "at"}), "method": row.method_text}
    # Counts of persons as they are printed: a number, or under a policy a range.
    cells |= {name: None if count is None else str(count) for name, count in (("n", row.n), ("events", row.events))}
    cells["reason"] = None if row.reason is None else reason_text(row.reason)
    if row.subset is not None:
        cells |= {"subset_column": row.subset.column, "subset_level": row.subset.level}
    cells["at"] = ";".join(f"{name}={value}" for name, value in sorted(row.at.items()))
    return [_cell(cells.get(name)) for name in COLUMNS]


def _cell(value: object) -> object:
    """A cell that a spreadsheet shows and does not run: a name from a table may look like a formula."""
    if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r")):
        return f"'{value}"
    return "" if value is None else value
