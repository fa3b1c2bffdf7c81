"""results.csv: one line an estimate, and below them one line a calendar period, for a spreadsheet.

What is of the model stands first, then what is of its rivals, then what is absent.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping

from dossier.core import facts, over_time, types
from dossier.record.results import CurveRow, EstimateRow, Results
from dossier.typeset import methods, reasons

COLUMNS = (
    *("measure", "dataset", "site", "role", "model", "subset_column", "subset_level", "at"),
    *("value", "low", "high", "se", "level", "p_value"),
    *("prediction_low", "prediction_high", "tau", "tau_low", "tau_high", "i2", "i2_low", "i2_high", "k", "df"),
    *("method", "n", "events", "tier", "status", "reason"),
)


def text(results: Results) -> bytes:
    """results.csv to the byte: settings as `name=value` joined by semicolons; empty where there is no value."""
    page = io.StringIO(newline="")
    writer = csv.writer(page, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(_line(row, results) for row in results.in_order(results.estimates))
    tiers = {row.measure: row.tier for row in results.estimates}
    for row in results.in_order(results.curves):
        if row.curve == over_time.OVER_TIME:
            writer.writerows(
                _ordered({"tier": tiers[str(row.at["measure"])], **cells}) for cells in _periods(row, results)
            )
    return page.getvalue().encode()


def _line(row: EstimateRow, results: Results) -> list[object]:
    cells: dict[str, object] = {**row.details, **row.model_dump(exclude={"subset", "at"}), "method": row.method_text}
    # Counts of persons as they are printed: a number, or under a policy a range.
    cells |= {name: None if count is None else str(count) for name, count in (("n", row.n), ("events", row.events))}
    cells["reason"] = None if row.reason is None else reasons.reason_text(row.reason)
    return _ordered({**cells, **results.where(row), "at": settings(row.at)})


def _periods(row: CurveRow, results: Results) -> Iterator[dict[str, object]]:
    """The cells of a measure in each calendar period; of what is withheld or absent whole, those of one line."""
    unit = types.unit_of(str(row.at["periods"]))
    at = {name: value for name, value in row.at.items() if name != "measure"}
    shared: dict[str, object] = {"measure": row.at["measure"], **results.where(row)}
    curve = row.result.found
    if isinstance(curve, types.Absent):
        yield {**shared, "at": settings(at), "status": row.status, "reason": reasons.reason_text(curve.reason)}
        return
    del at["periods"]
    without = {step["period"]: step["why"] for step in curve.method if step.code == "period_without_value"}
    method = methods.method_text([next(iter(curve.method))])
    names = ("value", "low", "high", "n", "events")
    for number, *found in zip(curve.columns["period"], *(curve.columns[name] for name in names), strict=True):
        period = int(number or 0)
        cells: dict[str, object] = dict(zip(names, found, strict=True))
        cells |= {name: None if cells[name] is None else f"{cells[name]:.0f}" for name in ("n", "events")}
        why = without.get(period)
        yield {
            **shared,
            **cells,
            "level": None if cells["low"] is None else results.release.level,
            "at": settings({**at, "period": over_time.code(period, unit)}),
            "method": method,
            "status": "absent" if isinstance(why, facts.Fact) else "estimated",
            "reason": reasons.reason_text(why) if isinstance(why, facts.Fact) else None,
        }


def settings(at: Mapping[str, object]) -> str:
    """All settings but the model, which is a column."""
    return ";".join(f"{name}={value}" for name, value in sorted(at.items()) if name != "model")


def _ordered(cells: Mapping[str, object]) -> list[object]:
    return [_cell(cells.get(name)) for name in COLUMNS]


def _cell(value: object) -> object:
    """A cell that a spreadsheet shows and does not run: a name from a table may look like a formula."""
    if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r")):
        return f"'{value}"
    return "" if value is None else value
