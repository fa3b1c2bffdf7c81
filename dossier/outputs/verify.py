"""OUT -> Report: whether a dossier is what its results.json prints, byte by byte; no page is read.

Every file of a dossier is printed from results.json, so that each is printed again and compared. Who changes a number
on a page, a curve or a cell without results.json is found out; who changes results.json and prints anew is found out by
the rows (`inputs` and `rebuilt`) or by a signature alone.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath

from dossier.core import command, errors, limited
from dossier.record import manifest as manifests
from dossier.record import results, versions
from dossier.record.manifest import MANIFEST, Manifest
from dossier.words.wording import listed

SECONDS, SECONDS_A_MEGABYTE, MOST_SECONDS = 300, 120, 3600
"""Of the processor, to print a dossier; ours take a tenth of it for each megabyte of results."""
LONGEST, MOST_VERSIONS = 40, 30
"""Characters of a version, and how many of them are shown: they come from a file that anybody may have made."""
NO_DATA = f"{results.RESULTS} itself was not checked against data."


@dataclass(frozen=True)
class Report:
    """What was looked at, each with its count, and everything that differs; no difference means that all holds."""

    checked: tuple[str, ...]
    differences: tuple[str, ...]
    printed: bool = False
    """Whether every file was printed again and compared."""


def report(out: Path, hashes_only: bool = False) -> Report:
    """Look at every file of a dossier: its hash, and whether results.json prints it again to the byte.

    With `hashes_only` nothing is printed, so that other versions are no difference; little is known then.
    """
    manifest = manifests.opened(out)
    found = manifests.present(out)
    differences = [f"{file.name} is missing" for file in manifest.outputs if file.name not in found]
    differences += [f"{name} differs from the manifest" for name in manifest.altered(out)]
    differences += [f"{name} is not listed in the manifest" for name in manifest.strange(out)]
    differences += [f"{name} is a link, whose target can change" for name in sorted(found) if (out / name).is_symlink()]
    checked = [f"files: {len(manifest.outputs)} by size and SHA-256, and none beside them"]
    if hashes_only:
        return Report((*checked, "printed again: nothing, hashes only"), tuple(differences))
    again, wrong = _within_limits(out, manifest)
    return Report((*checked, *again), tuple(dict.fromkeys([*differences, *wrong])), printed=not wrong)


def conclusion(found: Report, rebuilt: bool, signers: Sequence[str]) -> tuple[str, ...]:
    """What may be said of a dossier without a difference: no more than was looked at.

    `rebuilt` where a release gave all of it again; `signers` are those, under a root that was named, who signed
    results.json and the manifest.
    """
    by = listed(list(signers), 3)
    if rebuilt:
        return ("Verified: this release gives every byte of this dossier.", *([f"Signed by {by}."] if by else []))
    if by and found.printed:
        return (f"Verified: results.json is what {by} signed, and every other file is what it prints.", NO_DATA)
    if by:
        return (f"Verified by signature alone: every file has the hash in the manifest that {by} signed.", NO_DATA)
    if found.printed:
        said = f"The files are what {results.RESULTS} prints; {results.RESULTS} itself was not checked against data."
    else:
        said = f"Self-consistent: every file has the hash that {MANIFEST} lists. Nothing was checked against data."
    return (said, f"Nobody vouches for it: who changes {results.RESULTS} and prints anew leaves no trace here.")


def _within_limits(out: Path, manifest: Manifest) -> tuple[list[str], list[str]]:
    """What was printed again, and what differs; it is done in a process that ends when it takes too long."""
    size = next((file.size for file in manifest.outputs if file.name == results.RESULTS), 0)
    seconds = min(SECONDS + SECONDS_A_MEGABYTE * (size >> 20), MOST_SECONDS)
    answer = limited.call("dossier.outputs.verify:printed_again", str(out.absolute()), seconds=seconds)
    if isinstance(answer, limited.Ended):
        return [], [f"{results.RESULTS} cannot be printed again: {answer.reason}"]
    again, wrong = answer
    return again, wrong


def printed_again(folder: str) -> tuple[list[str], list[str]]:
    """What of a dossier was printed again from its results.json, and what differs from that."""
    out = Path(folder)
    manifest = manifests.opened(out)
    try:
        asked = command.read(manifest.command)
        read = results.opened(out)
        if others := _other_versions(read.versions):
            # Other libraries draw other bytes, and nothing would be learnt.
            return [], [others]
        from dossier.outputs import printing

        # One process: what it may use of the processor is limited, and no worker outlives it where it is ended.
        _, files = printing.printed(read, asked, jobs=1)
    except command.UnknownCommandError as error:
        return [], [f"the command in {MANIFEST} {error}"]
    except errors.ReleaseError as error:
        return [], [f"nothing was printed again: {error.faults[0].what}"]
    return [f"printed again: {len(files)} files from {results.RESULTS}, byte by byte"], _apart(out, files)


def _other_versions(recorded: Mapping[str, str]) -> str:
    """Which versions made a dossier where ours are others, and what to install; empty where they are the same."""
    ours = versions.installed()
    others = [name for name in sorted({*ours, *recorded}) if ours.get(name) != recorded.get(name)]
    if not others:
        return ""
    absent = "not recorded"
    said = [
        f"{name[:LONGEST]} {recorded.get(name, absent)[:LONGEST]} (here {ours.get(name, 'none')})" for name in others
    ]
    mend = versions.install({name: recorded[name] for name in others if name in recorded})
    install = f"install {mend}, or" if mend else "find them, or"
    return (
        f"nothing was printed again, for this dossier was made with other versions: {listed(said, MOST_VERSIONS)}; "
        f"{install} add --hashes-only"
    )


def _apart(out: Path, files: Mapping[str, bytes]) -> list[str]:
    """The files that are not what is printed."""
    wrong = []
    for name, content in sorted(files.items()):
        path = out / name
        if not path.is_file() or path.stat().st_size != len(content) or path.read_bytes() != content:
            wrong.append(f"{name} is not what {results.RESULTS} prints")
    printed = {*files, *(parent.as_posix() for name in files for parent in PurePath(name).parents)}
    strange = sorted(manifests.present(out) - printed - manifests.opened(out).signatures(out))
    return wrong + [f"{name} is not printed from {results.RESULTS}" for name in strange]


def inputs(out: Path, release: Path) -> Report:
    """Compare the files that a release reads with those that the dossier was made from.

    Only files of the release folder are opened by the word of a manifest; what it names elsewhere is left to the
    rebuild, which reads what the release names.
    """
    folder = release if release.is_dir() else release.parent
    listed = manifests.opened(out).inputs
    inside = [
        entry for entry in listed if not PurePath(entry.name).is_absolute() and ".." not in PurePath(entry.name).parts
    ]
    differences = []
    for entry in inside:
        path = folder / entry.name
        if not os.path.lexists(path):
            differences.append(f"input {entry.name} is missing")
        elif entry.file is not None and not entry.file.is_at(path):
            differences.append(f"input {entry.name} differs from the one that was read")
    outside = len(listed) - len(inside)
    hashed = sum(entry.file is not None for entry in inside)
    unknown = len(inside) - hashed
    more = f", {outside} outside the release by the rebuild" if outside else ""
    more += f", {unknown} with rows by the rebuild: their hashes are not given" if unknown else ""
    return Report((f"inputs: {hashed} by SHA-256{more}",), tuple(differences))


def asked_for(out: Path) -> command.Build | command.Quick | None:
    """The command that made the dossier, with its seed, read as a value from its manifest; None where it is none."""
    manifest = manifests.opened(out)
    try:
        return replace(command.read(manifest.command), seed=manifest.seed)
    except command.UnknownCommandError:
        return None


def rebuilt(out: Path, again: Path) -> Report:
    """Compare every file of a dossier with those of a second build."""
    first, other = (manifests.opened(folder) for folder in (out, again))
    names, others = ({entry.name for entry in found.outputs} for found in (first, other))
    differences = [f"{name} is missing in the rebuild" for name in sorted(names - others)]
    differences += [f"{name} comes only with the rebuild" for name in sorted(others - names)]
    # The rebuild's manifest was written for its files a moment ago.
    built = {entry.name: entry for entry in other.outputs}
    differences += [
        f"{name} differs in the rebuild" for name in sorted(names & others) if not built[name].is_at(out / name)
    ]
    if first != other:
        differences.append(f"{MANIFEST} differs in the rebuild")
    if differences and first.versions != other.versions:
        changed = [name for name in sorted(first.versions) if first.versions[name] != other.versions.get(name)]
        differences.append(f"the rebuild was made with other versions of {', '.join(changed)}")
    return Report((f"rebuild: {len(names) + 1} files, byte by byte",), tuple(differences))
