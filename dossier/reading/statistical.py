"""The tables of SAS, Stata and SPSS -> cells, with the labels of coded values."""

from __future__ import annotations

import datetime
import io
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow

from dossier.core.errors import DataError
from dossier.core.faults.locations import File
from dossier.reading.cells import whole

READERS = {".xpt": "read_xport", ".sas7bdat": "read_sas7bdat", ".dta": "read_dta", ".sav": "read_sav"}
PACKAGES = {".xpt": "SAS transport file", ".sas7bdat": "SAS table", ".dta": "Stata file", ".sav": "SPSS file"}
DURATIONS = "DTIME"
"""The format of days and times in SPSS; its TIME and that of SAS may be times of day too."""
A_DAY = 86_400
"""The seconds of a day."""
RECORD = 80
"""The bytes of a record of a transport file, which does not say how many rows it holds: only this shows a cut."""


@dataclass(frozen=True)
class Variables:
    """The variables of a file: the cells of each, and of those with labels for all their values also these."""

    cells: Mapping[str, list[Any]]
    labelled: Mapping[str, list[str | None]]


def variables(content: bytes, file: str, ending: str) -> Variables:
    """The variables of a file of SAS, Stata or SPSS; what it declares as missing is missing, durations are days."""
    try:
        import pyreadstat
    except ModuleNotFoundError:
        raise DataError.one("reader_not_installed", File(file), file=file, package="pyreadstat") from None
    read = getattr(pyreadstat, READERS[ending])
    cut = DataError.one("not_a_whole_file", File(file), file=file, kind=PACKAGES[ending])
    if ending == ".xpt" and len(content) % RECORD:
        raise cut
    try:
        found, about = read(io.BytesIO(content), output_format="dict")
        names = about.column_names
        timed = [name for name in names if any(isinstance(value, datetime.time) for value in found[name])]
        if timed and ending != ".dta":
            options = {"output_format": "dict", "usecols": timed, "disable_datetime_conversion": True}
            seconds, _ = read(io.BytesIO(content), **options)
            for name in (name for name in timed if _is_duration(seconds[name], about, name)):
                found[name] = [None if _present(value) is None else value / A_DAY for value in seconds[name]]
    except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, ValueError, OverflowError, OSError):
        raise cut from None
    if not all(isinstance(name, str) for name in about.column_names):
        raise cut
    cells = {name: [_present(value) for value in found[name]] for name in about.column_names}
    single = [name for name, kind in about.readstat_variable_types.items() if kind == "float"]
    cells |= {name: _as_spelled(cells[name]) for name in single}
    labels = about.variable_value_labels
    labelled = {name: _labelled(cells[name], labels[name]) for name in cells if name in labels}
    return Variables(cells, {name: texts for name, texts in labelled.items() if texts is not None})


def _is_duration(seconds: list[Any], about: Any, name: str) -> bool:
    """Whether a column is of durations and not of times of day: by its format, or as some are no time of a day.

    What reads the file makes times of day of both, and loses the days.
    """
    if about.original_variable_types[name].startswith(DURATIONS):
        return True
    return any(not 0 <= value < A_DAY for value in seconds if _present(value) is not None)


def _as_spelled(values: list[Any]) -> list[Any]:
    """Numbers of 32 bits, which Stata's are by default, as the doubles that their digits spell."""
    if not all(value is None or isinstance(value, float) for value in values):
        # A day is kept as a number too, and is read as a day.
        return values
    return list(whole(pyarrow.chunked_array([pyarrow.array(values, pyarrow.float32())])).to_pylist())


def _present(value: Any) -> Any:
    """The cell; None where it is missing, which is NaN in a number and nothing in a text."""
    if value is None or value != value:
        return None
    return (value.strip() or None) if isinstance(value, str) else value


def _labelled(cells: list[Any], labels: Mapping[Any, str]) -> list[str | None] | None:
    """Each cell by its label; None when a value has no label, so that they are marks on a scale of numbers."""
    if any(value is not None and value not in labels for value in cells):
        return None
    return [None if value is None else labels[value].strip() for value in cells]
