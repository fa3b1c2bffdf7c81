"""Labels of SPSS and Stata, or the codes behind them: where a column is to hold numbers, words hide what it holds."""

from __future__ import annotations

from typing import Any

from dossier.reading.columns import column
from dossier.reading.tables import RawTable


def numbers(raw: RawTable, name: str) -> Any:
    """The cells of a column that is to hold numbers: by their labels where these are some, else by their codes."""
    labelled = raw.columns[name]
    in_words = name in raw.codes and column(name, labelled).kind in ("texts", "mixed")
    return raw.codes[name] if in_words else labelled
