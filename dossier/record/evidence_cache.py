"""Evidence of earlier builds in the user's cache folder: where nothing changed that a number depends on, none is made.

An entry is a results.json after disclosure control. The name of its file is the hash of all that it was computed from,
and its own hash; whatever does not fit its name, or is not the user's alone, is as if it were not there.
"""

from __future__ import annotations

import datetime
import hashlib
import os
import platform
import stat
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from importlib.metadata import distributions
from pathlib import Path

import numpy as np
from pydantic import BaseModel

from dossier.core.errors import ReleaseError
from dossier.core.types import Evidence, Study
from dossier.record import results, versions

MOST_ENTRIES = 20
MOST_BYTES = 1 << 30
PRIVATE = 0o077
"""What nobody but the user may do with folder and files."""


def of_user() -> EvidenceCache | None:
    """The cache in `dossier` in the user's cache folder, or in that of XDG_CACHE_HOME; None for a user without home."""
    given = Path(os.environ.get("XDG_CACHE_HOME", ""))
    try:
        return EvidenceCache((given if given.is_absolute() else Path.home() / ".cache") / "dossier")
    except RuntimeError:
        return None


@dataclass(frozen=True)
class EvidenceCache:
    """The evidence that is kept in a folder."""

    folder: Path

    def found(self, key: str) -> Evidence | None:
        """The evidence of a key; None where there is none that can be trusted.

        Parameters
        ----------
        key : str
            What `key` gives for the study.
        """
        try:
            if not self._is_private():
                return None
            for path in sorted(self.folder.glob(f"{key}-*.json")):
                evidence = _evidence(path)
                if evidence is not None:
                    os.utime(path)
                    return evidence
        except OSError:
            # Without a cache everything is computed, and nothing is lost but time.
            return None
        return None

    def keep(self, key: str, evidence: Evidence) -> Evidence:
        """Keep evidence under a key, and let the oldest entries go; the evidence as it was given."""
        content = results.of(evidence).text()
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if self._is_private() and len(content) <= MOST_BYTES:
                self._write(self.folder / f"{key}-{hashlib.sha256(content).hexdigest()}.json", content)
                self._let_the_oldest_go()
        except OSError:
            # A full disk or a folder that cannot be written costs the next build its time, and this one nothing.
            return evidence
        return evidence

    def _is_private(self) -> bool:
        return _is_own(self.folder.lstat(), stat.S_ISDIR)

    def _write(self, path: Path, content: bytes) -> None:
        # mkstemp gives the file 0600; a reader sees all of it or nothing.
        descriptor, name = tempfile.mkstemp(dir=self.folder, prefix=".", suffix=".part")
        try:
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(content)
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise

    def _let_the_oldest_go(self) -> None:
        """Remove what is beyond the newest entries, and what broken builds left behind."""
        known = [(path, path.lstat()) for path in self.folder.iterdir() if path.suffix in (".json", ".part")]
        total = 0
        for position, (path, about) in enumerate(sorted(known, key=lambda row: -row[1].st_mtime_ns)):
            total += about.st_size
            if position >= MOST_ENTRIES or total > MOST_BYTES:
                path.unlink(missing_ok=True)


def _is_own(about: os.stat_result, is_kind: Callable[[int], bool]) -> bool:
    """Whether a file or folder is of that kind, the user's, and closed to everybody else."""
    return is_kind(about.st_mode) and about.st_uid == os.geteuid() and not about.st_mode & PRIVATE


def _evidence(path: Path) -> Evidence | None:
    """The evidence in a file; None where it is not the user's own, or not what was written."""
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as stream:
        about = os.fstat(stream.fileno())
        if not _is_own(about, stat.S_ISREG) or about.st_size > results.LARGEST:
            return None
        content = stream.read()
    if path.stem.rpartition("-")[2] != hashlib.sha256(content).hexdigest():
        return None
    try:
        return results.read(content).evidence
    except ReleaseError:
        return None


# ---- what evidence depends on ---------------------------------------------------------------------------------------


def key(study: Study) -> str:
    """The hash of all that numbers depend on: the study that measures see, our code, and every library.

    Parameters
    ----------
    study : Study
        Without what is only printed; see `evaluate.inputs.of`.

    Returns
    -------
    str
        A SHA-256 in hexadecimal.
    """
    digest = hashlib.sha256(_program().encode())
    _add(study, digest.update)
    return digest.hexdigest()


@cache
def _program() -> str:
    """The hash of our code, of the versions of all packages and of what this processor can do."""
    digest = hashlib.sha256()
    package = Path(__file__).parents[1]
    for path in sorted(package.rglob("*.py")):
        digest.update(f"{path.relative_to(package)} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    packages = sorted(f"{distribution.name} {distribution.version}" for distribution in distributions())
    processor = [platform.machine(), np.show_config(mode="dicts")["SIMD Extensions"]]
    digest.update(repr((packages, sorted(versions.installed().items()), processor)).encode())
    return digest.hexdigest()


def _add(value: object, update: Callable[[bytes | memoryview[int]], None]) -> None:
    """Add a value to a hash, so that no two different values add the same bytes.

    A TypeError for a kind of value that nobody has thought of.
    """
    if isinstance(value, np.ndarray):
        if value.dtype.hasobject:
            raise TypeError("an array of objects has no bytes of its own")
        update(f"array {value.dtype.str} {value.shape}\n".encode())
        update(np.ascontiguousarray(value).data.cast("B") if value.size else b"")
    elif isinstance(value, (type(None), bool, int, float, str, datetime.date)):
        update(f"{type(value).__name__} {value!r}\n".encode("utf-8", "surrogatepass"))
    else:
        inner = _inner(value)
        update(f"{type(value).__name__} {len(inner)}\n".encode())
        for part in inner:
            _add(part, update)


def _inner(value: object) -> Sequence[object]:
    """What a value is made of."""
    if isinstance(value, BaseModel):
        # What is left out and what is declared as the default are two things.
        return [tuple(sorted(value.model_fields_set)), dict(value)]
    if is_dataclass(value):
        return [(field.name, getattr(value, field.name)) for field in fields(value)]
    if isinstance(value, Mapping):
        return list(value.items())
    if isinstance(value, (tuple, list)):
        return value
    raise TypeError(f"{type(value).__name__} is nothing that evidence can depend on")
