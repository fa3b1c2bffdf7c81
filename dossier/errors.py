"""What can go wrong, and how it is said.

DossierError          something the user can mend: exit code 2
├── ReleaseError      the release.toml asks for something impossible
├── DataError         a table does not hold what it should
├── OutputError       OUT cannot be written or replaced
├── SigningError      a key does not sign, or what makes and reads signatures is not there
├── WorkerError       a worker process ended before its work was done
└── PageError         the page came out wrong (a fault of the material, not of the data)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong: what, where, and how to mend it."""

    what: str
    where: str
    fix: str

    def __str__(self) -> str:
        return f"{self.what}\n  where: {self.where}\n  fix:   {self.fix}"


class DossierError(Exception):
    """An error that the user can mend; it carries every fault that was found, not only the first."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(str(fault) for fault in self.faults))

    @classmethod
    def one(cls, what: str, where: str, fix: str) -> DossierError:
        """The error that holds a single fault."""
        return cls([Fault(what, where, fix)])


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
