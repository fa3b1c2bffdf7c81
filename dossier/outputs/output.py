"""OUT complete or untouched: files are written beside it and change places with it in one step."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import hashlib
import json
import os
import re
import secrets
import shutil
import signal
import tempfile
import threading
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from dossier.core import errors, facts
from dossier.core.faults.locations import File, Option, Out, TemporaryFolder
from dossier.record import manifest

AT_WORKING_FOLDER = -100
RENAME_EXCHANGE = 2
MENDS = {errno.ENOSPC: "full_disk", errno.EDQUOT: "full_quota", errno.EFBIG: "limited_file", errno.EBUSY: "mounted"}
"""How to mend what the system refuses, by its number."""
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
SCARCE = (errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ENOMEM)
TRIES = 100
LOOKS = 5
NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EINVAL)
NO_SYNC = (errno.EINVAL, errno.ENOTSUP, errno.EACCES)
"""What file systems say that cannot write the names of a folder through to the disk, or let it not be opened."""
JOURNAL = b'{"schema": "dossier-journal/1", '
"""How a journal of ours begins."""
LARGEST_JOURNAL = 10_000
REPORT = b"<?xml version='1.0' encoding='utf-8'?>\n<testsuites name=\"dossier\""
"""How a JUnit report of ours begins."""


@contextmanager
def held(out: Path) -> Iterator[Path]:
    """Keep OUT for one program, wherever it is, and give its full path.

    What builds that were killed have left is cleared away first. Raises OutputError where OUT cannot be written, and
    where another build has it. The system frees the lock of a program that ends, however it ends. A file system without
    locks lets two work at once; each still writes OUT whole.
    """
    with reported(out):
        target = _target(out)
        # What another build takes away while we look at it is no fault, and looks like one for a moment only.
        faults = [fault for _ in range(LOOKS) if (fault := _why_not_below(target, out)) is not None]
        if len(faults) == LOOKS:
            raise errors.OutputError(faults[:1])
    with _parents_of(target), _locked(target, out) as alone:
        with reported(out):
            _restore(target)
            if alone:
                # Remove what killed builds left: whoever has the lock of OUT is the only one at work.
                ours = re.compile(rf"\.{re.escape(target.name)}\.building-[0-9a-f]{{8}}")
                for path in target.parent.iterdir():
                    if ours.fullmatch(path.name) and not path.is_symlink():
                        shutil.rmtree(path, ignore_errors=True)
        yield target


@contextmanager
def unchanged(out: Path) -> Iterator[None]:
    """Refuse what is found in OUT meanwhile where it is gone at the end, or another folder is in its place."""
    # While it is open no other folder has its number.
    descriptor = os.open(out, os.O_RDONLY) if out.is_dir() else None
    try:
        yield
    finally:
        if descriptor is not None:
            is_same = out.exists() and os.path.samestat(os.fstat(descriptor), out.stat())
            os.close(descriptor)
            if not is_same:
                raise errors.OutputError.one("out_changed_meanwhile", Out(str(out)), out=out.name or str(out))


@contextmanager
def reserved(out: Path, replace: bool = False) -> Iterator[None]:
    """Keep OUT for one build, from before anything is computed until it is written.

    `out` need not exist; with `replace` it may hold files of ours that somebody has altered, or signatures. Raises
    OutputError also where OUT cannot be replaced: that is known at once, not after the work.
    """
    with reported(out):
        _refuse_where_we_are(_target(out), out)
    with held(out) as target:
        with reported(out):
            _refuse_what_is_not_ours(target, out, replace)
        yield


def write_signatures(out: Path, files: Mapping[str, bytes]) -> tuple[Path, ...]:
    """Put these files in the place of OUT/signed in one step; OUT is held while this is done."""
    with reported(out):
        target = _target(out)
        signed = target / manifest.SIGNED
        with _working_folder(target) as working:
            _fill(working, files)
            with _uninterrupted():
                if not signed.exists():
                    working.rename(signed)
                elif not _exchange(working, signed):
                    # Each by itself: a kill leaves a signature that is not on every file, and none is lost.
                    for name in files:
                        (working / name).replace(signed / name)
                _sync(signed)
                _sync(target)
    return tuple(out / manifest.SIGNED / name for name in sorted(files))


def write(
    out: Path, files: Mapping[str, bytes], replace: bool = False, beside: Mapping[Path, bytes] | None = None
) -> tuple[Path, ...]:
    """Write all files, then put them in the place of OUT in one step; OUT is reserved while this is done.

    Every file, and every name of one, is on the disk before OUT changes, and the change is before the older files go:
    after a cut of the power OUT is the older or the newer one, whole. Those `beside` OUT are on the disk before it
    changes too, and get their names right after: none is new where OUT is not.
    """
    beside = beside or {}
    with reported(out):
        target = _target(out)
        _refuse_where_we_are(target, out)
        with _working_folder(target) as working, _written_through(beside) as parts:
            _fill(working, files)
            with _uninterrupted():
                # The look of `reserved` is minutes old by now.
                _refuse_what_is_not_ours(target, out, replace)
                _swap(working, target, out)
                for file, part in parts.items():
                    with reported(file):
                        part.replace(file)
    return (*(out / name for name in files), *beside)


@contextmanager
def _written_through(files: Mapping[Path, bytes]) -> Iterator[Mapping[Path, Path]]:
    """Files under names that they keep until they get their own, or are gone."""
    parts = {file: file.with_name(f".{file.name}.{secrets.token_hex(4)}") for file in files}
    for file in files:
        _refuse_in_a_dossier(file)
    try:
        for file, part in parts.items():
            with reported(file):
                part.write_bytes(files[file])
                _sync(part)
        yield parts
    finally:
        for part in parts.values():
            with suppress(OSError):
                part.unlink()


def _refuse_in_a_dossier(file: Path) -> None:
    """Refuse a place inside a dossier: it would hold a file that its manifest does not list, and no longer verify."""
    for folder in Path(os.path.realpath(file)).parents:
        if manifest.read(folder) is not None:
            raise errors.OutputError.one("file_in_dossier", File(str(file)), file=file.name, out=folder.name)


def place_beside(out: Path, name: str) -> Path:
    """Where a file goes that belongs to OUT and to nobody who gets it: beside it, under its name."""
    with reported(out):
        return _target(out).with_name(f"{_target(out).name}-{name}")


def _fill(working: Path, files: Mapping[str, bytes]) -> None:
    for name, content in files.items():
        path = working / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    for path in (*working.rglob("*"), working):
        _sync(path)


def leaving(out: Path, kept: Collection[str], suffix: str | tuple[str, ...] = "") -> tuple[str, ...]:
    """The files of the dossier in OUT, those with this suffix, that go when these take their place."""
    with reported(out):
        target = _target(out)
        known = manifest.read(target)
        if known is None:
            return ()
        signatures = known.signatures(target) - {manifest.SIGNED}
        names = (*(file.name for file in known.outputs), *signatures)
    return tuple(sorted(name for name in names if name.endswith(suffix) and name not in kept))


def refuse_what_is_not_empty(folder: Path) -> None:
    """Refuse a place for a new release where something stands already."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise errors.OutputError.one("folder_not_empty", Out(str(folder)), folder=folder.name or str(folder))


def refuse_what_is_there(file: Path) -> None:
    """Refuse to write over a file that cannot be made again."""
    if os.path.lexists(file):
        raise errors.OutputError.one("sealed_already", File(str(file)), file=file.name)


def refuse_as_report(file: Path, out: Path) -> None:
    """Refuse a place for a report before the work begins: a folder, one that is not there, and one inside OUT.

    OUT would then hold a file that its manifest does not list, and never be replaced again.
    """
    target, inside = Path(os.path.realpath(file)), Path(os.path.realpath(out))
    if inside == target or inside in target.parents:
        raise errors.OutputError.one("report_in_out", Option("--junit"), file=file.name)
    # What takes the place of a device takes it from every program.
    if (os.path.lexists(target) and not target.is_file()) or not target.parent.is_dir():
        raise errors.OutputError.one("report_not_writable", Option("--junit"), file=str(file))
    _refuse_what_is_no_report(target, file)
    with _written_through({file: b""}):
        """The folder takes a file of this length of name, and we may write there."""


def _refuse_what_is_no_report(target: Path, file: Path) -> None:
    """Refuse to write a report over a file of somebody else; an empty one holds nothing."""
    with reported(file), suppress(FileNotFoundError), target.open("rb") as stream:
        if stream.read(len(REPORT)) not in (b"", REPORT):
            raise errors.OutputError.one("no_report_of_ours", Option("--junit"), file=str(file))


def refuse_as_ledger(file: Path, out: Path) -> None:
    """Refuse a ledger that cannot be written, or that OUT would hold, before the work begins."""
    if file.is_relative_to(os.path.realpath(out)):
        raise errors.OutputError.one("report_in_out", File(str(file)), file=file.name)
    writable = os.access(file if file.exists() else file.parent, os.W_OK) and file.parent.is_dir()
    if not writable or (file.exists() and not file.is_file()):
        raise errors.OutputError.one("ledger_not_writable", File(str(file)), file=file.name)


def write_report(file: Path, content: bytes) -> None:
    """Write a report in one step: who reads it meanwhile has the old one or the new."""
    _refuse_what_is_no_report(file, file)
    write_file(file, content)


def write_file(file: Path, content: bytes) -> None:
    """Write a file in one step, over one of its name."""
    with _written_through({file: content}) as parts, reported(file):
        parts[file].replace(file)


def write_again(files: Mapping[Path, bytes], replace: bool) -> tuple[Path, ...]:
    """Write files that can be made again: one that is there and holds something else is refused unless `replace`."""
    for file, content in files.items():
        _refuse_in_a_dossier(file)
        with reported(file):
            if os.path.lexists(file) and not replace and (not file.is_file() or file.read_bytes() != content):
                raise errors.OutputError.one("file_holds_other", File(str(file)), file=file.name)
            file.parent.mkdir(parents=True, exist_ok=True)
        write_file(file, content)
    return tuple(files)


def write_new(folder: Path, files: Mapping[str, bytes]) -> tuple[Path, ...]:
    """Write files into a folder that is new, or empty."""
    _refuse_in_a_dossier(folder)
    with reported(folder):
        refuse_what_is_not_empty(folder)
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_bytes(content)
    return tuple(folder / name for name in files)


@contextmanager
def reported(out: Path) -> Iterator[None]:
    """Say what the system refuses as a fault that the user can mend."""
    try:
        yield
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        mend = facts.Fact(MENDS.get(error.errno or 0, "another_folder"))
        name = out.name or str(out)
        raise errors.OutputError.one("out_not_written", Out(str(out)), out=name, reason=reason, mend=mend) from None


def refused(error: OSError) -> errors.OutputError | None:
    """What to tell of what the system refuses and nobody has reported nearer to its cause; None of an error of ours."""
    reason = (error.strerror or type(error).__name__).lower()
    try:
        folder = tempfile.gettempdir()
    except FileNotFoundError:
        at, none = TemporaryFolder(os.environ.get("TMPDIR", "/tmp")), "neither it nor another takes a file"
        return errors.OutputError.one("temporary_file_not_written", at, reason=none)
    if error.errno in FULL:
        return errors.OutputError.one("temporary_file_not_written", TemporaryFolder(folder), reason=reason)
    if error.errno in SCARCE:
        return errors.OutputError.one("limit_reached", Option("--jobs"), reason=reason)
    if error.filename is None:
        return None
    name = str(error.filename)
    return errors.OutputError.one("system_refuses", File(name), file=name, reason=reason)


# ---- where OUT is ---------------------------------------------------------------------------------------------------


def _target(out: Path) -> Path:
    """OUT in full, refused where it cannot change places with another folder."""
    if out.is_symlink() or (out.exists() and not out.is_dir()):
        code = "out_is_link" if out.is_symlink() else "out_is_no_folder"
        raise errors.OutputError.one(code, Out(str(out)), out=out.name)
    # Not resolve, which fails where a link leads back to itself.
    target = Path(os.path.realpath(out))
    if not target.name:
        raise errors.OutputError.one("out_is_current_folder", Out(str(out)))
    return target


def _refuse_where_we_are(target: Path, out: Path) -> None:
    if Path.cwd().is_relative_to(target):
        raise errors.OutputError.one("out_is_current_folder", Out(str(out)))


def _working(target: Path) -> Path:
    """A new name beside OUT, of the kind that `reserved` clears away."""
    return target.with_name(f".{target.name}.building-{secrets.token_hex(4)}")


def _refuse_what_is_not_ours(target: Path, out: Path, replace: bool) -> None:
    """Replace a folder only if every byte in it is ours, by our manifest; an empty one loses nothing."""
    present = manifest.present(target) if target.exists() else frozenset()
    if not present:
        return
    known = manifest.read(target)
    if known is None:
        raise errors.OutputError.one("out_of_others", Out(str(out)), out=target.name)
    if strange := known.strange(target):
        raise errors.OutputError.one("unlisted_files", Out(str(out)), out=target.name, files=tuple(strange))
    if not replace and (altered := known.altered(target)):
        raise errors.OutputError.one("altered_files", Out(str(out)), out=target.name, files=tuple(altered))
    if not replace and known.signatures(target):
        raise errors.OutputError.one("signed_output", Out(str(out)), out=target.name, folder=manifest.SIGNED)


# ---- one build at a time --------------------------------------------------------------------------------------------


def _why_not_below(target: Path, out: Path) -> errors.Fault | None:
    """Why nothing can be written where OUT is to lie."""
    parent = next((folder for folder in target.parents if folder.exists()), target)
    if not parent.is_dir():
        return errors.Fault("file_above_out", Out(str(out)), file=parent.name)
    if not os.access(parent, os.W_OK | os.X_OK):
        return errors.Fault("folder_of_out_not_writable", Out(str(out)), out=target.name)
    return None


@contextmanager
def _parents_of(target: Path) -> Iterator[None]:
    """The folders above OUT; those that are new are gone again when nothing was written."""
    new = [folder for folder in target.parents if not folder.exists()]
    try:
        yield
    finally:
        with _uninterrupted():
            for folder in new:
                # What holds something, or never came to be, stays as it is.
                with suppress(OSError):
                    folder.rmdir()
            for folder in new:
                if folder.exists():
                    _sync(folder.parent)


@contextmanager
def _locked(target: Path, out: Path) -> Iterator[bool]:
    """The lock of OUT, a file beside it; False where the file system knows no locks."""
    path = target.with_name(f".{target.name}.building")
    with reported(out):
        handle = _lock(path, out)
    try:
        yield handle is not None
    finally:
        if handle is not None:
            with _uninterrupted():
                path.unlink(missing_ok=True)
                os.close(handle)


def _lock(path: Path, out: Path) -> int | None:
    """A lock on this file that the system lets go when the process ends, however it ends; None when there are none."""
    while True:
        handle = _opened(path)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            raise errors.OutputError.one("another_build", Out(str(out)), out=out.name) from None
        except OSError as error:
            os.close(handle)
            if error.errno not in NO_LOCKS:
                raise
            path.unlink(missing_ok=True)
            return None
        if os.fstat(handle).st_size:
            os.close(handle)
            raise errors.OutputError.one("not_a_lock", Out(str(out)), file=path.name)
        # Who had the lock before may have removed the file between our opening it and our locking it.
        with suppress(FileNotFoundError):
            if os.path.samestat(path.stat(), os.fstat(handle)):
                return handle
        os.close(handle)


def _opened(path: Path) -> int:
    """The file, made with its folders if need be."""
    for _ in range(TRIES):
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            return os.open(path, os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW, 0o666)
        except (FileNotFoundError, FileExistsError) as error:
            # Another build that ends may remove a folder that it had made, before we have put anything there or while
            # we look whether what stands in the way is a folder.
            gone = error
    raise gone


@contextmanager
def _working_folder(target: Path) -> Iterator[Path]:
    """A new folder beside OUT, gone afterwards; when we are killed the next build removes it."""
    working = _working(target)
    try:
        working.mkdir()
        yield working
    finally:
        with _uninterrupted():
            shutil.rmtree(working, ignore_errors=True)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Let a stop wait for a step of a few milliseconds that must not be left half done."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {
        number: signal.signal(number, signal.SIG_IGN) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


# ---- the change of places -------------------------------------------------------------------------------------------


def _swap(working: Path, target: Path, out: Path) -> None:
    """Put the finished folder in the place of OUT; where the system can, both change names in one step."""
    held = target.exists() and any(target.iterdir())
    if target.exists():
        shutil.copymode(target, working)
    if not held:
        working.rename(target)
    elif not _exchange(working, target):
        # The change in two steps; killed between them, the next build finds in a journal under which name OUT is.
        previous, journal = _previous(target), _journal(target)
        for path in (previous, journal):
            if os.path.lexists(path):
                raise errors.OutputError.one("name_taken", Out(str(out)), file=path.name, out=target.name)
        journal.write_bytes(_about(target, target))
        _sync(journal)
        _sync(target.parent)
        target.rename(previous)
        try:
            working.rename(target)
        except BaseException:
            previous.rename(target)
            journal.unlink()
            raise
        _sync(target.parent)
        _discard(previous, target)
        journal.unlink()
    _sync(target.parent)


def _about(target: Path, folder: Path) -> bytes:
    """What a journal says of a folder that makes way for another: both names, and which manifest is in it."""
    held = hashlib.sha256((folder / manifest.MANIFEST).read_bytes()).hexdigest()
    said = {"out": target.name, "previous": _previous(target).name, "manifest_sha256": held}
    return JOURNAL + json.dumps(said).encode().removeprefix(b"{")


def _discard(folder: Path, target: Path) -> None:
    """Remove a folder under a name that the next build clears away, so that half of it never stands in the way."""
    doomed = _working(target)
    folder.rename(doomed)
    shutil.rmtree(doomed)


def _restore(target: Path) -> None:
    """End the change of a build that was killed in it: OUT gets its name back, or what made way for the newer one goes.

    Only the folder that a journal of ours is about is touched, and none with a file that its manifest does not have.
    """
    previous, journal = _previous(target), _journal(target)
    if journal.is_symlink() or not journal.is_file() or journal.stat().st_size > LARGEST_JOURNAL:
        return
    said = journal.read_bytes()
    # One that a cut of the power has shortened was written before anything changed.
    if said[: len(JOURNAL)] != JOURNAL[: len(said)]:
        return
    known = None if previous.is_symlink() else manifest.read(previous)
    if known is not None and said == _about(target, previous):
        if not target.exists():
            previous.rename(target)
        elif not known.strange(previous) and not known.altered(previous):
            _discard(previous, target)
    journal.unlink()
    _sync(target.parent)


def _previous(target: Path) -> Path:
    return target.with_name(f"{target.name}.previous")


def _journal(target: Path) -> Path:
    return target.with_name(f".{target.name}.journal")


def _sync(path: Path) -> None:
    """Write a file, or the names in a folder, through to the disk, where the file system knows how."""
    handle = None
    try:
        handle = os.open(path, os.O_RDONLY)
        os.fsync(handle)
    except OSError as error:
        if error.errno not in NO_SYNC or path.is_file():
            raise
    finally:
        if handle is not None:
            os.close(handle)


def _exchange(first: Path, other: Path) -> bool:
    """Exchange two names atomically; False where the system or the file system does not know how."""
    renameat2 = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if renameat2 is None:
        return False
    done = renameat2(
        AT_WORKING_FOLDER, os.fsencode(first), AT_WORKING_FOLDER, os.fsencode(other), ctypes.c_uint(RENAME_EXCHANGE)
    )
    if done == 0:
        return True
    if ctypes.get_errno() in (errno.ENOSYS, errno.EINVAL, errno.EXDEV):
        return False
    raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
