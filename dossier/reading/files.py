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
from dossier.core.errors import Fault
from dossier.core.faults.locations import File, Location
from dossier.reading import dialects, isolation, letters, signatures, tables
from dossier.reading.faults import nearest
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
    ) -> tables.RawTable | None:
        """The table of a file, or of all parquet files of a folder; None, and faults, when there is none.

        Without a `head` the first row of a text or a workbook is one of cells, and its columns are numbered.
        """
        kind = signatures.kind(name)
        if self.is_folder(name):
            paths = self.parts(name, where, outside, faults)
        elif kind == ".parquet":
            path = self.located(name, where, outside, faults, STORED_TABLE)
            paths = None if path is None else {name: path}
        elif kind is None:
            faults.append(
                Fault("unread_kind", where, file=name, endings=signatures.KINDS[:-1], last=signatures.KINDS[-1])
            )
            return None
        else:
            content = self.read(name, where, outside, faults)
            return None if content is None else isolation.table(content, name, faults, dialect, head)
        raw = None if paths is None else isolation.table(paths, name, faults)
        # They are hashed once their footers say that they are such, for they may be large.
        sound = raw is not None and [self.hashed(each, where, path, faults) for each, path in (paths or {}).items()]
        return raw if sound and all(sound) else None

    def read(self, name: str, where: Location, outside: bool, faults: list[Fault], kind: Kind = TABLE) -> bytes | None:
        """The bytes of a file as the release names it; None, and a fault, when it cannot be had."""
        path = self.located(name, where, outside, faults, kind)
        pieces: list[bytes] = []
        if path is None or not self.hashed(name, where, path, faults, kind, pieces.append):
            return None
        content = b"".join(pieces)
        if content.isspace():
            faults.append(self._empty(name))
            return None
        return content

    def located(self, name: str, where: Location, outside: bool, faults: list[Fault], kind: Kind) -> Path | None:
        """The path of a file as the release names it; None, and a fault, when it cannot be had."""
        path = self.allowed(name, where, outside, faults, kind)
        if path is None:
            return None
        try:
            if path.exists() and not path.is_file() and not path.is_dir():
                faults.append(Fault("device", where, file=name))
                return None
            with path.open("rb") as file:
                is_empty, size = not file.read(1), path.stat().st_size
        except OSError as error:
            faults.append(self._closed(name, where, path, error))
            return None
        if is_empty:
            faults.append(self._empty(name))
        elif kind.most is not None and size > kind.most:
            faults.append(_too_large(name, where, kind, kind.most))
        else:
            return path
        return None

    def hashed(
        self,
        name: str,
        where: Location,
        path: Path,
        faults: list[Fault],
        kind: Kind = STORED_TABLE,
        take: Callable[[bytes], None] | None = None,
    ) -> bool:
        """Whether the bytes of a file could be hashed, and taken where they are wanted; a fault where not."""
        sha256, length = hashlib.sha256(), 0
        try:
            with path.open("rb") as file:
                at_once = PIECE if take is None else path.stat().st_size + 1
                while piece := file.read(at_once):
                    sha256.update(piece)
                    length += len(piece)
                    # It may have grown.
                    if kind.most is not None and length > kind.most:
                        faults.append(_too_large(name, where, kind, kind.most))
                        return False
                    if take is not None:
                        take(piece)
        except OSError as error:
            faults.append(self._closed(name, where, path, error))
            return False
        self.inputs[name] = types.InputFile(name, sha256.hexdigest(), length)
        return True

    def is_folder(self, name: str) -> bool:
        """Whether there is a folder; a path that cannot even be asked is none, and opening it reports that."""
        try:
            return (self.path / name).is_dir()
        except (OSError, ValueError):
            return False

    def parts(self, name: str, where: Location, outside: bool, faults: list[Fault]) -> dict[str, Path] | None:
        """The parquet files of a folder in the order of their names; None, and a fault, when it is no such folder.

        Names that begin with a point or a line below are what other programs left behind.
        """
        path = self.allowed(name, where, outside, faults, None)
        if path is None:
            return None
        found = sorted(file_name.name for file_name in path.iterdir() if not file_name.name.startswith((".", "_")))
        others = [
            file_name
            for file_name in found
            if not file_name.lower().endswith(".parquet") or (path / file_name).is_dir()
        ]
        if others or not found:
            holds = tuple(others) or facts.Fact("no_file")
            faults.append(Fault("folder_of_other_files", where, folder=name, holds=holds))
            return None
        for file_name in found:
            faults += letters.fault(letters.NAME_OF_FILE, file_name, where, name=True)
        every = {
            f"{name}/{each}": self.located(f"{name}/{each}", where, outside, faults, STORED_TABLE) for each in found
        }
        kept = {file: path for file, path in every.items() if path is not None}
        return kept if len(kept) == len(every) else None

    def allowed(self, name: str, where: Location, outside: bool, faults: list[Fault], kind: Kind | None) -> Path | None:
        """The path of a file, or without a kind of a folder, that the release may name; None, and a fault, if not."""
        if "\0" in name:
            faults.append(Fault("no_name_of_file", where))
            return None
        path = self.path / name
        real = Path(os.path.realpath(path))
        inside = not Path(name).is_absolute() and real.is_relative_to(os.path.realpath(self.path))
        if self.is_named or inside:
            return path
        if not outside:
            faults.append(Fault("file_outside", where, file=name))
        elif not self.allow_outside:
            faults.append(Fault("file_outside_not_allowed", where, file=name))
        elif kind is not None and not real.name.lower().endswith(kind.endings):
            faults.append(Fault("other_file_outside", where, file=name, noun=kind.noun, endings=kind.endings))
        else:
            return path
        return None

    def _closed(self, name: str, where: Location, path: Path, error: OSError) -> Fault:
        """The fault of a file that cannot be opened or read."""
        if isinstance(error, FileNotFoundError):
            return self._absent(name if name.isprintable() else wording.shortened(name), where, path)
        if isinstance(error, IsADirectoryError):
            return Fault("folder_for_file", where, file=name)
        code = "long_name_of_file" if error.errno == errno.ENAMETOOLONG else "closed_file"
        code = "link_to_itself" if error.errno == errno.ELOOP else code
        return Fault(code, where, file=name, reason=(error.strerror or "unknown reason").lower())

    def _empty(self, name: str) -> Fault:
        return Fault("empty_release" if name.endswith(".toml") else "empty_file", File(name), file=name)

    def _absent(self, name: str, where: Location, path: Path) -> Fault:
        # In a text with " TOML reads \t, \n and the like as signs that no name of a file has.
        if re.search(r"[\\\x00-\x1f]", path.name):
            return Fault("no_file_with_backslash", where, file=name)
        neighbours = sorted(found.name for found in path.parent.iterdir()) if path.parent.is_dir() else []
        return Fault("no_file", where, file=name, near=nearest(path.name, neighbours))


def _too_large(name: str, where: Location, kind: Kind, most: int) -> Fault:
    return Fault("large_file", where, file=name, megabytes=most >> 20, noun=kind.noun, mend=kind.fix)
