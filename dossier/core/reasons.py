"""Why something is missing, in words: `words/reasons.toml` has the text of every code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from dossier.core.facts import Fact
from dossier.words import entries, sentence, wording


@dataclass(frozen=True)
class Names:
    """What datasets and measures are called where the words are read, and which dataset is named beside them."""

    datasets: Mapping[str, str] = field(default_factory=dict)
    measures: Mapping[str, str] = field(default_factory=dict)
    beside: str | None = None
    """The dataset whose name stands beside the words already."""
    horizons: Mapping[float, str] = field(default_factory=dict)
    """What is said of a further horizon, which has its number where the release says nothing."""


DATASETS = frozenset(("dataset", "judged"))
"""The values that are names of datasets."""


def reason_text(fact: Fact, names: Names = Names()) -> str:
    """A reason as one sentence without a full stop; names of the input as they are, unless others are given."""
    text = entries("reasons")[fact.code]
    if not isinstance(text, str):
        text = text["beside" if names.beside is not None and fact.get("dataset") == names.beside else "text"]
    return Reason(names).filled(text, dict(fact.values))


class Reason(sentence.Sentence):
    """Writes the values of a reason into its text."""

    datasets = DATASETS
    ways: ClassVar[sentence.Ways] = {**sentence.Sentence.ways, "threshold": lambda value, _: wording.threshold(value)}

    def __init__(self, names: Names) -> None:
        self.names = names

    def named(self, name: str, value: Any) -> Any:
        """A dataset or a measure as it is called where the reason is read."""
        if name in self.datasets and isinstance(value, tuple):
            return tuple(self.named(name, each) for each in value)
        called = self.names.datasets if name in self.datasets else self.names.measures if name == "measure" else {}
        return called.get(value, value) if called else value

    def rendered(self, fact: Fact, how: str) -> str:
        """A reason within a reason."""
        return reason_text(fact, self.names)

    def real(self, value: float, how: str) -> str:
        """A number with a true minus."""
        return format(value, how).replace("-", wording.MINUS)
