"""The files of a release: where they may lie, what they may hold, their bytes, and their hashes."""

from __future__ import annotations

import errno
import hashlib
import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from dossier.core import facts, types
from dossier.core.errors import DataError, Fault
from dossier.core.faults.locations import Cell, File, Location
from dossier.reading import dialects, isolation, letters, signatures, tables
from dossier.reading.faults import nearest, noted
from dossier.words import wording

PIECE = 1 << 24
"""The bytes of a file that are held at once where only its hash is wanted."""


@dataclass(frozen=True)
class Kind:
    """What a key of release.toml may name."""

    noun: str
    endings: tuple[str, ...]
    """How the name of the file ends; asked where it lies outside the release folder, where nobody else has a say."""
    most: int | None
    """The bytes that it may have; None for any number, where it is not read whole."""
    fix: facts.Fact
    """What to do with a larger one."""


SPLIT = facts.Fact("give_as_parquet")
TABLE = Kind("table", signatures.KINDS, signatures.MOST_BYTES, SPLIT)
STORED_TABLE = Kind("table", (".parquet",), None, SPLIT)
RELEASE = Kind("release", (".toml",), 4 << 20, facts.Fact("texts_into_files"))
"""A thousand datasets are declared in a quarter of it."""
STATEMENT = Kind("text", (".md", ".markdown", ".txt"), 1 << 20, facts.Fact("fewer_words"))
"""Three hundred pages."""
STYLE = Kind("style", (".toml",), 1 << 16, facts.Fact("fewer_words"))
LOGO = Kind("picture", (".svg", ".png"), 1 << 18, facts.Fact("smaller_picture"))
SEAL = Kind("seal", (".json",), 4 << 20, facts.Fact("unchanged_seal"))
LEDGER = Kind("ledger", (".json",), 1 << 28, facts.Fact("unchanged_ledger"))
FORMULAS = Kind("file of formulas", (".toml",), 4 << 20, facts.Fact("unchanged_formulas"))
RESULTS = Kind("results.json", (".json",), 1 << 28, facts.Fact("unchanged_results"))
"""Those of a thousand sites have a quarter of it."""


@dataclass(frozen=True)
class Folder:
    """The release folder, and what was read from it so far."""

    path: Path
    allow_outside: bool = False
    """Whether the release may name files outside of the folder, which only who reads it can allow."""
    is_named: bool = False
    """Whether who reads it has named the very file, so that it may lie and be called as it does."""
    inputs: dict[str, types.InputFile] = field(default_factory=dict)

    def table(
        self,
        name: str,
        where: Location,
        outside: bool,
        faults: list[Fault],
        dialect: dialects.Dialect | None = None,
        head: bool = True,
    ) -> tables.RawTable:
        """The table of a file, or of all parquet files of a folder; a DataError says why there is none.

        Without a `head` the first row of a text or a workbook is one of cells, and its columns are numbered.
        """
        kind = signatures.kind(name)
        if self.is_folder(name):
            paths = self.parts(name, where, outside, faults)
        elif kind == ".parquet":
            paths = {name: self.located(name, where, outside, STORED_TABLE)}
        elif kind is None:
            *endings, last = signatures.KINDS
            raise DataError.one("unread_kind", where, file=name, endings=tuple(endings), last=last)
        else:
            return isolation.table(self.read(name, where, outside), name, faults, dialect, head)
        raw = isolation.table(paths, name, faults)
        # They are hashed once their footers say that they are such, for they may be large.
        for each, path in paths.items():
            self.hashed(each, where, path)
        return raw

    def read(self, name: str, where: Location, outside: bool, kind: Kind = TABLE) -> bytes:
        """The bytes of a file as the release names it; a DataError says why it cannot be had."""
        pieces: list[bytes] = []
        self.hashed(name, where, self.located(name, where, outside, kind), kind, pieces.append)
        content = b"".join(pieces)
        if content.isspace():
            raise _empty(name)
        return content

    def text(self, name: str, where: Location, outside: bool) -> str:
        """The declared words of a file, line by line; a DataError says why they cannot be had."""
        try:
            return re.sub(r"\r\n?", "\n", self.read(name, where, outside, STATEMENT).decode("utf-8-sig"))
        except UnicodeDecodeError as error:
            row = error.object[: error.start].count(b"\n") + 1
            raise DataError.one("statement_not_utf8", Cell(name, rows=(row,)), file=name) from None

    def located(self, name: str, where: Location, outside: bool, kind: Kind) -> Path:
        """The path of a file as the release names it; a DataError says why it cannot be had."""
        path = self.allowed(name, where, outside, kind)
        try:
            if path.exists() and not path.is_file() and not path.is_dir():
                raise DataError.one("device", where, file=name)
            with path.open("rb") as file:
                is_empty, size = not file.read(1), path.stat().st_size
        except OSError as error:
            raise _closed(name, where, path, error) from None
        if is_empty:
            raise _empty(name)
        _refuse_too_large(name, where, kind, size)
        return path

    def hashed(
        self,
        name: str,
        where: Location,
        path: Path,
        kind: Kind = STORED_TABLE,
        take: Callable[[bytes], None] | None = None,
    ) -> None:
        """Hash the bytes of a file, and take them where they are wanted; a DataError says why they cannot be had."""
        sha256, length = hashlib.sha256(), 0
        try:
            with path.open("rb") as file:
                at_once = PIECE if take is None else path.stat().st_size + 1
                while piece := file.read(at_once):
                    sha256.update(piece)
                    length += len(piece)
                    # It may have grown.
                    _refuse_too_large(name, where, kind, length)
                    if take is not None:
                        take(piece)
        except OSError as error:
            raise _closed(name, where, path, error) from None
        self.inputs[name] = types.InputFile(name, sha256.hexdigest(), length)

    def is_folder(self, name: str) -> bool:
        """Whether there is a folder; a path that cannot even be asked is none, and opening it reports that."""
        try:
            return (self.path / name).is_dir()
        except (OSError, ValueError):
            return False

    def names(self, name: str, where: Location, outside: bool) -> list[str]:
        """The names of the files of a folder in their order; a DataError says why they cannot be had.

        Names that begin with a point or a line below are what other programs left behind.
        """
        path = self.allowed(name, where, outside, None)
        try:
            found = sorted(each.name for each in path.iterdir())
        except NotADirectoryError:
            raise DataError.one("file_for_folder", where, file=name) from None
        except OSError as error:
            raise _closed(name, where, path, error) from None
        return [each for each in found if not each.startswith((".", "_"))]

    def parts(self, name: str, where: Location, outside: bool, faults: list[Fault]) -> dict[str, Path]:
        """The parquet files of a folder in the order of their names; a DataError says why it is no such folder."""
        found, path = self.names(name, where, outside), self.path / name
        others = [
            file_name
            for file_name in found
            if not file_name.lower().endswith(".parquet") or (path / file_name).is_dir()
        ]
        if others or not found:
            holds = tuple(others) or facts.Fact("no_file")
            raise DataError.one("folder_of_other_files", where, folder=name, holds=holds)
        for file_name in found:
            faults += letters.fault(letters.NAME_OF_FILE, file_name, where, name=True)
        wrong: list[Fault] = []
        files = [f"{name}/{each}" for each in found]
        every = {file: noted(wrong, self.located, file, where, outside, STORED_TABLE) for file in files}
        DataError.raise_for(wrong)
        return {file: path for file, path in every.items() if path is not None}

    def allowed(self, name: str, where: Location, outside: bool, kind: Kind | None) -> Path:
        """The path of a file, or without a kind of a folder, that the release may name; a DataError if it may not."""
        if "\0" in name:
            raise DataError.one("no_name_of_file", where)
        path = self.path / name
        real = Path(os.path.realpath(path))
        inside = not Path(name).is_absolute() and real.is_relative_to(os.path.realpath(self.path))
        if self.is_named or inside:
            return path
        if not outside:
            raise DataError.one("file_outside", where, file=name)
        if not self.allow_outside:
            raise DataError.one("file_outside_not_allowed", where, file=name)
        if kind is not None and not real.name.lower().endswith(kind.endings):
            raise DataError.one("other_file_outside", where, file=name, noun=kind.noun, endings=kind.endings)
        return path


def _closed(name: str, where: Location, path: Path, error: OSError) -> DataError:
    """The error of a file that cannot be opened or read."""
    if isinstance(error, FileNotFoundError):
        name = name if name.isprintable() else wording.shortened(name)
        # In a text with " TOML reads \t, \n and the like as signs that no name of a file has.
        if re.search(r"[\\\x00-\x1f]", path.name):
            return DataError.one("no_file_with_backslash", where, file=name)
        neighbours = sorted(found.name for found in path.parent.iterdir()) if path.parent.is_dir() else []
        return DataError.one("no_file", where, file=name, near=nearest(path.name, neighbours))
    if isinstance(error, IsADirectoryError):
        return DataError.one("folder_for_file", where, file=name)
    code = {errno.ENAMETOOLONG: "long_name_of_file", errno.ELOOP: "link_to_itself"}.get(error.errno or 0, "closed_file")
    return DataError.one(code, where, file=name, reason=(error.strerror or "unknown reason").lower())


def _empty(name: str) -> DataError:
    return DataError.one("empty_release" if name.endswith(".toml") else "empty_file", File(name), file=name)


def _refuse_too_large(name: str, where: Location, kind: Kind, size: int) -> None:
    if kind.most is not None and size > kind.most:
        raise DataError.one("large_file", where, file=name, megabytes=kind.most >> 20, noun=kind.noun, mend=kind.fix)
