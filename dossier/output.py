"""OUT complete or untouched: files are written beside it and change places with it in one step."""

from __future__ import annotations

import ctypes
import errno
import hashlib
import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dossier.errors import OutputError
from dossier.types import Evidence

MANIFEST = "manifest.json"
MANIFEST_SCHEMA = "dossier-manifest/1"
AT_WORKING_FOLDER = -100
RENAME_EXCHANGE = 2


def prepare(out: Path) -> None:
    """Make sure, before anything is computed, that OUT may be written; restore what an interrupted build left aside."""
    previous = out.with_name(f"{out.name}.previous")
    if previous.exists() and not out.exists():
        previous.rename(out)
    _remove_abandoned(out)
    if out.is_symlink() or (out.exists() and not out.is_dir()):
        raise OutputError.one(
            f"{out.name} is not a folder.", str(out), "Name a folder, or a path that does not exist yet."
        )
    if out.is_dir():
        _refuse_what_is_not_ours(out)
    parent = _existing(out.parent)
    if not parent.is_dir() or not os.access(parent, os.W_OK):
        raise OutputError.one(
            f"The folder of {out.name} cannot be written.", str(parent), "Choose another folder for -o."
        )


def write(out: Path, files: Mapping[str, bytes]) -> tuple[Path, ...]:
    """Write all files, then put them in the place of OUT in one step."""
    out.parent.mkdir(parents=True, exist_ok=True)
    working = out.with_name(f".{out.name}.building-{os.getpid()}")
    try:
        for name, content in files.items():
            path = working / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        _swap(working, out)
    except OSError as error:
        what = error.strerror or type(error).__name__
        raise OutputError.one(
            f"{out.name} could not be written: {what}.", str(out), "Make room, or choose another folder."
        ) from None
    finally:
        shutil.rmtree(working, ignore_errors=True)
    return tuple(out / name for name in files)


def manifest(evidence: Evidence, files: Mapping[str, bytes], command: str) -> bytes:
    """The manifest: what went in, what came out, with which programs, by which command; no time and no path."""
    content: dict[str, Any] = {
        "schema": MANIFEST_SCHEMA,
        "command": command,
        "seed": evidence.release.release.seed,
        "versions": dict(evidence.versions),
        "inputs": [{"name": one.name, "sha256": one.sha256, "size": one.size} for one in evidence.inputs],
        "outputs": [
            {"name": name, "sha256": hashlib.sha256(body).hexdigest(), "size": len(body)}
            for name, body in sorted(files.items())
        ],
    }
    return (json.dumps(content, sort_keys=True, ensure_ascii=False, indent=1) + "\n").encode()


def _existing(path: Path) -> Path:
    """The nearest folder above that exists."""
    while not path.exists() and path != path.parent:
        path = path.parent
    return path


def _refuse_what_is_not_ours(out: Path) -> None:
    """Replace a folder only if it holds our manifest and nothing that it does not list."""
    present = {path.relative_to(out).as_posix() for path in out.rglob("*") if not path.is_dir() or path.is_symlink()}
    if not present:
        return
    fix = "Choose another folder for -o, or empty this one yourself."
    try:
        listed = json.loads((out / MANIFEST).read_bytes())
        known = {str(entry["name"]) for entry in listed["outputs"]} | {MANIFEST}
        ours = listed["schema"] == MANIFEST_SCHEMA
    except (OSError, ValueError, KeyError, TypeError):
        ours, known = False, set()
    if not ours:
        raise OutputError.one(f"{out.name} holds files that dossier did not write.", str(out), fix)
    strange = sorted(present - known)
    if strange:
        shown = ", ".join(strange[:5]) + (f" and {len(strange) - 5} more" if len(strange) > 5 else "")
        raise OutputError.one(f"{out.name} holds files that its manifest does not list: {shown}.", str(out), fix)


def _remove_abandoned(out: Path) -> None:
    """Remove what a killed build left: only folders of a process that no longer runs."""
    for path in out.parent.glob(f".{out.name}.building-*"):
        owner = path.name.rpartition("-")[2]
        if owner.isdigit() and not _runs(int(owner)):
            shutil.rmtree(path, ignore_errors=True)


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _swap(working: Path, out: Path) -> None:
    """Put the finished folder in the place of OUT; where the system can, both change names in one step."""
    if not out.exists():
        working.rename(out)
        return
    if _exchange(working, out):
        shutil.rmtree(working)
        return
    previous = out.with_name(f"{out.name}.previous")
    out.rename(previous)
    working.rename(out)
    shutil.rmtree(previous)


def _exchange(one: Path, other: Path) -> bool:
    """Exchange two names atomically; False where the system or the file system does not know how."""
    renameat2 = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if renameat2 is None:
        return False
    done = renameat2(
        AT_WORKING_FOLDER, os.fsencode(one), AT_WORKING_FOLDER, os.fsencode(other), ctypes.c_uint(RENAME_EXCHANGE)
    )
    if done == 0:
        return True
    if ctypes.get_errno() in (errno.ENOSYS, errno.EINVAL, errno.EXDEV):
        return False
    raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
