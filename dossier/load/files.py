"""The files of a release: where they may lie, their bytes, and their hashes."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, field
from pathlib import Path

from dossier.errors import Fault
from dossier.load.faults import nearest
from dossier.types import InputFile


@dataclass(frozen=True)
class Folder:
    """The release folder, and what was read from it so far."""

    path: Path
    inputs: dict[str, InputFile] = field(default_factory=dict)

    def read(self, name: str, where: str, outside: bool, faults: list[Fault]) -> bytes | None:
        """The bytes of a file as the release names it; None, and a fault, when it cannot be had."""
        path = self._allowed(name, where, outside, faults)
        if path is None:
            return None
        try:
            if path.exists() and not path.is_file() and not path.is_dir():
                what = f"{name} is no file but a device, a pipe or a socket."
                faults.append(Fault(what, where, "Save what it gives as a file, and name that."))
                return None
            content = path.read_bytes()
        except FileNotFoundError:
            faults.append(Fault(f"There is no file {name}.", where, self._hint(path)))
            return None
        except IsADirectoryError:
            what = f"{name} is a folder; reading folders is not built yet."
            faults.append(Fault(what, where, "Name a .csv, .tsv or .parquet file."))
            return None
        except OSError as error:
            what = f"{name} cannot be opened: {(error.strerror or 'unknown reason').lower()}."
            faults.append(Fault(what, where, "Make the file readable."))
            return None
        self.inputs[name] = InputFile(name, hashlib.sha256(content).hexdigest(), len(content))
        if not content.strip():
            faults.append(Fault(f"{name} is empty.", name, self._filling(name)))
            return None
        return content

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
        neighbours = sorted(found.name for found in path.parent.iterdir()) if path.parent.is_dir() else []
        near = nearest(path.name, neighbours)
        return f"Did you mean {near}?" if near else "Put the file there, or mend its name."
