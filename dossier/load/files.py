"""The files of a release: where they may lie, their bytes, and their hashes."""

from __future__ import annotations

import errno
import hashlib
import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from dossier.errors import Fault
from dossier.load import letters
from dossier.load.faults import listed, nearest, shortened
from dossier.types import InputFile

WHOLE = -1
PIECE = 1 << 24
"""The bytes of a file that are held at once where only its hash is wanted."""


@dataclass(frozen=True)
class Folder:
    """The release folder, and what was read from it so far."""

    path: Path
    inputs: dict[str, InputFile] = field(default_factory=dict)

    def read(self, name: str, where: str, outside: bool, faults: list[Fault]) -> bytes | None:
        """The bytes of a file as the release names it; None, and a fault, when it cannot be had."""
        pieces: list[bytes] = []
        path = self._gone_through(name, where, outside, faults, WHOLE, pieces.append)
        return None if path is None else b"".join(pieces)

    def located(self, name: str, where: str, outside: bool, faults: list[Fault]) -> Path | None:
        """The path of a file as the release names it, hashed piece by piece; None, and a fault, as for `read`."""
        return self._gone_through(name, where, outside, faults, PIECE, lambda piece: None)

    def _gone_through(
        self, name: str, where: str, outside: bool, faults: list[Fault], size: int, take: Callable[[bytes], None]
    ) -> Path | None:
        """The path of a file whose pieces were all hashed and taken."""
        path = self._allowed(name, where, outside, faults)
        if path is None:
            return None
        sha256, length, blank = hashlib.sha256(), 0, True
        try:
            if path.exists() and not path.is_file() and not path.is_dir():
                what = f"{name} is no file but a device, a pipe or a socket."
                faults.append(Fault(what, where, "Save what it gives as a file, and name that."))
                return None
            with path.open("rb") as file:
                while piece := file.read(size):
                    sha256.update(piece)
                    length += len(piece)
                    blank = blank and not piece.strip()
                    take(piece)
        except FileNotFoundError:
            shown = name if name.isprintable() else shortened(name)
            faults.append(Fault(f"There is no file {shown}.", where, self._hint(path)))
            return None
        except IsADirectoryError:
            faults.append(Fault(f"{name} is a folder, not a file.", where, "Name the file."))
            return None
        except OSError as error:
            what = f"{name} cannot be opened: {(error.strerror or 'unknown reason').lower()}."
            fix = "Give the file a shorter name." if error.errno == errno.ENAMETOOLONG else "Make the file readable."
            faults.append(Fault(what, where, fix))
            return None
        self.inputs[name] = InputFile(name, sha256.hexdigest(), length)
        if blank:
            faults.append(Fault(f"{name} is empty.", name, self._filling(name)))
            return None
        return path

    def parts(self, name: str, where: str, outside: bool, faults: list[Fault]) -> dict[str, Path] | None:
        """The parquet files of a folder in the order of their names; None, and a fault, when it is no such folder.

        Names that begin with a point or a line below are what other programs left behind.
        """
        path = self._allowed(name, where, outside, faults)
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
        every = {f"{name}/{one}": self.located(f"{name}/{one}", where, outside, faults) for one in found}
        kept = {file: path for file, path in every.items() if path is not None}
        return kept if len(kept) == len(every) else None

    def _allowed(self, name: str, where: str, outside: bool, faults: list[Fault]) -> Path | None:
        if "\0" in name:
            faults.append(
                Fault("The name of the file holds a character that no file may have.", where, "Name the file as it is.")
            )
            return None
        path = self.path / name
        real = Path(os.path.realpath(path))
        if not outside and (Path(name).is_absolute() or not real.is_relative_to(os.path.realpath(self.path))):
            fix = "Copy the file into the folder, or write outside = true beside it."
            faults.append(Fault(f"{name} lies outside the release folder.", where, fix))
            return None
        return path

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
