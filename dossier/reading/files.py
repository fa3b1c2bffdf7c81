"""The files of a release: where they may lie, what they may hold, their bytes, and their hashes."""

from __future__ import annotations

import errno
import hashlib
import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from dossier.errors import Fault
from dossier.reading import letters, signatures
from dossier.reading.faults import listed, nearest, shortened
from dossier.reading.unpacked import MOST_BYTES, SPLIT
from dossier.types import InputFile

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
    fix: str
    """What to do with a larger one."""


TABLE = Kind("table", signatures.KINDS, MOST_BYTES, f"{SPLIT}.")
STORED_TABLE = Kind("table", (".parquet",), None, "")
RELEASE = Kind("release", (".toml",), 4 << 20, "Put its texts into files, and the rows of many sites into one table.")
"""A thousand datasets are declared in a quarter of it."""
STATEMENT = Kind("text", (".md", ".markdown", ".txt"), 1 << 20, "Say it in fewer words.")
"""Three hundred pages."""
SEAL = Kind("seal", (".json",), 4 << 20, "Name the seal.json that dossier wrote, unchanged.")
RESULTS = Kind("results.json", (".json",), 1 << 28, "Name the results.json that dossier wrote, unchanged.")
"""Those of a thousand sites have a quarter of it."""


@dataclass(frozen=True)
class Folder:
    """The release folder, and what was read from it so far."""

    path: Path
    allow_outside: bool = False
    """Whether the release may name files outside of the folder, which only who reads it can allow."""
    is_named: bool = False
    """Whether who reads it has named the very file, so that it may lie and be called as it does."""
    inputs: dict[str, InputFile] = field(default_factory=dict)

    def read(self, name: str, where: str, outside: bool, faults: list[Fault], kind: Kind = TABLE) -> bytes | None:
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

    def located(self, name: str, where: str, outside: bool, faults: list[Fault], kind: Kind) -> Path | None:
        """The path of a file as the release names it; None, and a fault, when it cannot be had."""
        path = self._allowed(name, where, outside, faults, kind)
        if path is None:
            return None
        try:
            if path.exists() and not path.is_file() and not path.is_dir():
                what = f"{name} is no file but a device, a pipe or a socket."
                faults.append(Fault(what, where, "Save what it gives as a file, and name that."))
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
        where: str,
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
        self.inputs[name] = InputFile(name, sha256.hexdigest(), length)
        return True

    def is_folder(self, name: str) -> bool:
        """Whether there is a folder; a path that cannot even be asked is none, and is told when it cannot be opened."""
        try:
            return (self.path / name).is_dir()
        except (OSError, ValueError):
            return False

    def parts(self, name: str, where: str, outside: bool, faults: list[Fault]) -> dict[str, Path] | None:
        """The parquet files of a folder in the order of their names; None, and a fault, when it is no such folder.

        Names that begin with a point or a line below are what other programs left behind.
        """
        path = self._allowed(name, where, outside, faults, None)
        if path is None:
            return None
        found = sorted(one.name for one in path.iterdir() if not one.name.startswith((".", "_")))
        strangers = [one for one in found if not one.lower().endswith(".parquet") or (path / one).is_dir()]
        if strangers or not found:
            what = f"{name} holds {listed(strangers, 3)}" if strangers else f"{name} holds no file"
            fix = "A folder is read as one table when it holds parquet files and nothing else."
            faults.append(Fault(f"{what}, and not only parquet files.", where, fix))
            return None
        for one in found:
            faults += letters.fault("The name of a file", one, where, name=True)
        every = {f"{name}/{one}": self.located(f"{name}/{one}", where, outside, faults, STORED_TABLE) for one in found}
        kept = {file: path for file, path in every.items() if path is not None}
        return kept if len(kept) == len(every) else None

    def _allowed(self, name: str, where: str, outside: bool, faults: list[Fault], kind: Kind | None) -> Path | None:
        """The path of a file, or without a kind of a folder, that the release may name; None, and a fault, if not."""
        if "\0" in name:
            faults.append(
                Fault("The name of the file holds a character that no file may have.", where, "Name the file as it is.")
            )
            return None
        path = self.path / name
        real = Path(os.path.realpath(path))
        inside = not Path(name).is_absolute() and real.is_relative_to(os.path.realpath(self.path))
        if self.is_named or inside:
            return path
        what = f"{name} lies outside the release folder."
        if not outside:
            faults.append(Fault(what, where, "Copy the file into the folder, or write outside = true beside it."))
        elif not self.allow_outside:
            fix = "Copy the file into the folder; or add --allow-outside, if the release may read this machine's files."
            faults.append(Fault(what, where, fix))
        elif kind is not None and not real.name.lower().endswith(kind.endings):
            fix = f"Name a file that ends in {listed(kind.endings)}, or copy it into the folder."
            faults.append(Fault(f"{name} lies outside the release folder, and is no {kind.noun}.", where, fix))
        else:
            return path
        return None

    def _closed(self, name: str, where: str, path: Path, error: OSError) -> Fault:
        """The fault of a file that cannot be opened or read."""
        if isinstance(error, FileNotFoundError):
            shown = name if name.isprintable() else shortened(name)
            return Fault(f"There is no file {shown}.", where, self._hint(path))
        if isinstance(error, IsADirectoryError):
            return Fault(f"{name} is a folder, not a file.", where, "Name the file.")
        what = f"{name} cannot be opened: {(error.strerror or 'unknown reason').lower()}."
        fix = "Give the file a shorter name." if error.errno == errno.ENAMETOOLONG else "Make the file readable."
        return Fault(what, where, fix)

    def _empty(self, name: str) -> Fault:
        return Fault(f"{name} is empty.", name, self._filling(name))

    def _filling(self, name: str) -> str:
        if name.endswith(".toml"):
            return "Write the release into it; dossier init DIR makes an example with a comment on every key."
        return "Put the rows in it, or take it out of the release."

    def _hint(self, path: Path) -> str:
        # In a text with " TOML reads \t, \n and the like as signs that no name of a file has.
        if re.search(r"[\\\x00-\x1f]", path.name):
            return "Write / instead of \\ between the folders and the name, as in data/site.csv."
        neighbours = sorted(found.name for found in path.parent.iterdir()) if path.parent.is_dir() else []
        near = nearest(path.name, neighbours)
        return f"Did you mean {near}?" if near else "Put the file there, or mend its name."


def _too_large(name: str, where: str, kind: Kind, most: int) -> Fault:
    return Fault(f"{name} is larger than the {most >> 20:,} MB that a {kind.noun} may have.", where, kind.fix)
