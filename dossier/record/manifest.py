"""manifest.json: what went in, what came out, with which programs, by which command; no time and no path."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections import deque
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from dossier.core import errors, types
from dossier.core.faults.locations import Out

MANIFEST = "manifest.json"
SIGNED = "signed"
"""The folder of OUT that holds signatures: no manifest lists it, for they are made later, and over the manifest."""
SCHEMA: Literal["dossier-manifest/1"] = "dossier-manifest/1"
LARGEST = 1 << 26
"""Bytes; that of a release of 100,000 files is smaller."""
NAME_OF_AN_OUTPUT = r"^(?:[A-Za-z0-9_][A-Za-z0-9_-]{0,200}/)?[A-Za-z0-9_][A-Za-z0-9_.-]{0,200}$"
"""A file of OUT, or of a folder in it: neither leads out of it, nor to any sign that a terminal obeys."""


class File(BaseModel):
    """A file by its name, its SHA-256 and its size in bytes."""

    model_config = ConfigDict(frozen=True, strict=True)

    name: str
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    size: Annotated[int, Field(ge=0)]

    def is_at(self, path: Path) -> bool:
        """Whether there is a plain file of these bytes that can be read; one of another size is not read."""
        try:
            if not path.is_file() or path.stat().st_size != self.size:
                return False
            with path.open("rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest() == self.sha256
        except OSError:
            return False


class Input(BaseModel):
    """A file that was read; of one with rows whose small counts are protected the name alone."""

    model_config = ConfigDict(frozen=True, strict=True)

    name: str
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")] | None
    size: Annotated[int, Field(ge=0)] | None

    @property
    def value(self) -> types.InputFile:
        """The file, as a study names it."""
        return types.InputFile(self.name, self.sha256, self.size)

    @property
    def file(self) -> File | None:
        """The file with its bytes, where these are known."""
        known = self.sha256 is not None and self.size is not None
        return File(name=self.name, sha256=self.sha256 or "", size=self.size or 0) if known else None


class Output(File):
    """A file that was written: its name is one that dossier gives."""

    name: Annotated[str, Field(pattern=NAME_OF_AN_OUTPUT)]


class Manifest(BaseModel):
    """What a manifest holds; of what a later version adds nothing is known but that it is there.

    `command` is whatever stands there: `dossier.core.command.read` makes a value of it, or refuses it.
    """

    model_config = ConfigDict(frozen=True, strict=True, extra="allow")

    schema_: Literal["dossier-manifest/1"] = Field(alias="schema")
    command: Any
    seed: int
    artifact_sha256: str | None
    versions: Mapping[str, str]
    inputs: tuple[Input, ...]
    outputs: tuple[Output, ...]

    @property
    def listed(self) -> frozenset[str]:
        """Every file and folder of OUT that it accounts for, itself among them."""
        files = [PurePosixPath(MANIFEST), *(PurePosixPath(file.name) for file in self.outputs)]
        return frozenset(path.as_posix() for file in files for path in (file, *file.parents)) - {"."}

    @property
    def signable(self) -> tuple[str, ...]:
        """The files that a signature is made over: the results, the manifest that lists all files, and the pages."""
        names = [file.name for file in self.outputs]
        pages = [name for name in names if name.endswith((".pdf", ".html")) and "/" not in name]
        return (*(name for name in names if name == "results.json"), MANIFEST, *pages)

    def signatures(self, folder: Path) -> frozenset[str]:
        """What there is in the folder of signatures, by the names that `dossier sign` gives, and that folder."""
        if (folder / SIGNED).is_symlink() or not (folder / SIGNED).is_dir():
            return frozenset()
        pages = [name for name in self.signable if name.endswith(".pdf")]
        beside = re.compile(rf"(?:{'|'.join(map(re.escape, self.signable))})\.[1-9][0-9]?\.p7s")
        names = [path.name for path in (folder / SIGNED).iterdir() if path.is_file() and not path.is_symlink()]
        known = [name for name in names if name in pages or beside.fullmatch(name)]
        return frozenset({SIGNED, *(f"{SIGNED}/{name}" for name in known)})

    def strange(self, folder: Path) -> list[str]:
        """What is in the folder of a dossier and neither listed nor a signature."""
        return sorted(present(folder) - self.listed - self.signatures(folder))

    def altered(self, folder: Path) -> list[str]:
        """The files that are there with other bytes than it lists; one that is gone is not among them."""
        there = (file for file in self.outputs if os.path.lexists(folder / file.name))
        return [output.name for output in there if not output.is_at(folder / output.name)]


def text(evidence: types.Evidence, files: Mapping[str, bytes]) -> bytes:
    """The manifest of a dossier that is about to be written."""
    content: dict[str, Any] = {
        "schema": SCHEMA,
        "command": evidence.command,
        "seed": evidence.release.release.seed,
        "artifact_sha256": evidence.release.release.artifact_sha256,
        "versions": dict(evidence.versions),
        "inputs": [{"name": file.name, "sha256": file.sha256, "size": file.size} for file in evidence.inputs],
        "outputs": [
            {"name": name, "sha256": hashlib.sha256(body).hexdigest(), "size": len(body)}
            for name, body in sorted(files.items())
        ],
    }
    return (json.dumps(content, sort_keys=True, ensure_ascii=False, indent=1) + "\n").encode()


def read(folder: Path) -> Manifest | None:
    """The manifest of a folder; None where there is none of ours."""
    path = folder / MANIFEST
    try:
        if not path.is_file() or path.stat().st_size > LARGEST:
            return None
        return of(path.read_bytes())
    except OSError:
        return None


def of(content: bytes) -> Manifest | None:
    """The manifest that these bytes are; None where they are none of ours."""
    try:
        return Manifest.model_validate_json(content)
    except ValidationError:
        return None


def opened(folder: Path) -> Manifest:
    """The manifest of the dossier in a folder; refused where there is none."""
    found = read(folder)
    if found is None:
        raise errors.OutputError.one("no_dossier", Out(str(folder)))
    return found


def present(folder: Path) -> frozenset[str]:
    """Every file and folder below a folder, however deep; links are not followed."""
    found: set[str] = set()
    waiting = deque([folder])
    while waiting:
        with os.scandir(waiting.popleft()) as entries:
            for entry in entries:
                found.add(Path(entry.path).relative_to(folder).as_posix())
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(Path(entry.path))
    return frozenset(found)
