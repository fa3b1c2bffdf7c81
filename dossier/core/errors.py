"""What can go wrong.

DossierError          something the user can mend: exit code 2
├── ReleaseError      the release.toml asks for something impossible
├── DataError         a table does not hold what it should
├── OutputError       OUT cannot be written or replaced
├── SigningError      a key does not sign, or what makes and reads signatures is not there
├── WorkerError       a worker process ended before its work was done
└── PageError         the page came out wrong (a fault of the material, not of the data)
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from dossier.core.facts import Fact, Value, gathered
from dossier.core.faults.locations import Key, Location, Option
from dossier.words.wording import Voice


@dataclass(frozen=True, init=False)
class Fault(Fact):
    """One thing that is wrong: what, where, and how to mend it.

    Parameters
    ----------
    code : str
        What is wrong, an entry of the catalogue.
    at : Location
        Where it is.
    **values
        What the words of the entry name.

    Notes
    -----
    `what`, `where` and `fix` are for people: whoever asks something of a fault asks its code, location and values.
    """

    at: Location
    voice: Voice
    """Whether it is shown to who has a release.toml, a table and a command, or a frame."""

    def __init__(self, code: str, at: Location, /, **values: Value) -> None:
        super().__init__(code, **values)
        object.__setattr__(self, "at", at)
        object.__setattr__(self, "voice", "release")

    def __str__(self) -> str:
        return "\n".join(lines_of([self]))

    @property
    def what(self) -> str:
        """What is wrong, in a sentence."""
        from dossier.core.faults import catalogue

        return _readable(catalogue.what(self, self.voice))

    @property
    def where(self) -> str:
        """Where it is, in the words of who has to mend it."""
        of_table = self.voice == "command" and isinstance(self.at, Key) and self.at.section == "dataset"
        return _readable(str(Option("TABLE") if of_table else self.at))

    @property
    def fix(self) -> str:
        """How to mend it: in release.toml; where there is none in the table, on the command line, in the arguments."""
        from dossier.core.faults import catalogue

        return _readable(catalogue.fix(self, self.voice))

    def moved(self, at: Location) -> Self:
        """The same fault elsewhere."""
        return self._with(at=at)

    @property
    def of_command(self) -> Self:
        """The fault as `dossier quick` tells it."""
        return self._with(voice="command")

    @property
    def of_frame(self) -> Self:
        """The fault as `dossier.validate` tells it."""
        return self._with(voice="frame")

    def _with(self, **changes: object) -> Self:
        other = copy.copy(self)
        for name, value in changes.items():
            object.__setattr__(other, name, value)
        return other

    @property
    def as_json(self) -> dict[str, object]:
        """The fault as one process hands it to another."""
        return {"fact": super().as_json, "at": self.at.as_json}

    @classmethod
    def of_json(cls, row: Mapping[str, Any]) -> Self:
        """The fault that another process hands over."""
        fact = Fact.of_json(row["fact"])
        return cls(fact.code, Location.of_json(row["at"]), **dict(fact.values))


LONGEST_WORD, LONGEST_TEXT = 1_000, 4_000
"""Letters of a word, and of a text, of which more is not repeated: a file may hold a key as long as itself."""


def _readable(text: str) -> str:
    """A text of a fault without the rest of words and texts that nobody reads."""
    words = re.sub(rf"\S{{{LONGEST_WORD},}}", lambda word: f"{word[0][: LONGEST_WORD // 10]}…", text)
    return words if len(words) <= LONGEST_TEXT else f"{words[:LONGEST_TEXT]}…"


MOST_PLACES = 4
"""So many places of one fault are all named; of more one less, and how many there are."""


def lines_of(faults: Sequence[Fault]) -> Iterator[str]:
    """The lines in which faults are reported: what is wrong and mended in the same words once, with its places."""
    for (what, fix), places in gathered(((fault.what, fault.fix), fault.where) for fault in faults).items():
        named = places if len(places) <= MOST_PLACES else places[: MOST_PLACES - 1]
        yield what
        yield from (f"  where: {place}" for place in named)
        if len(named) < len(places):
            yield f"         and {len(places) - len(named)} more places"
        yield f"  fix:   {fix}"


class DossierError(Exception):
    """An error that the user can mend; it carries every fault that was found, not only the first."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__(self.faults)

    def __str__(self) -> str:
        return "\n".join(lines_of(self.faults))

    @classmethod
    def one(cls, code: str, at: Location, /, **values: Value) -> Self:
        """The error that holds a single fault."""
        return cls([Fault(code, at, **values)])

    @classmethod
    def raise_for(cls, faults: Sequence[Fault]) -> None:
        """Raises the error of these faults, where there are some."""
        if faults:
            raise cls(faults)


class ReleaseError(DossierError):
    """The release.toml asks for something impossible."""


class DataError(DossierError):
    """A table does not hold what it should."""


class OutputError(DossierError):
    """OUT cannot be written or replaced."""


class SigningError(DossierError):
    """A key does not sign, or what makes and reads signatures is not there."""


class WorkerError(DossierError):
    """A worker process ended before its work was done."""


class PageError(DossierError):
    """The page came out wrong."""
