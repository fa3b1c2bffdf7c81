"""The previous release: its results.json, and the manifest beside it."""

from __future__ import annotations

import hashlib
from os import PathLike
from pathlib import Path, PurePosixPath
from typing import Any

from dossier.core.errors import DataError, ReleaseError
from dossier.core.facts import Fact
from dossier.core.faults.locations import Argument, File, Key
from dossier.core.release import Release
from dossier.core.types import Absent, Predicted, Previous, PreviousManifest, compared
from dossier.reading import letters
from dossier.reading.faults import nearest
from dossier.reading.files import RESULTS, Folder
from dossier.record import manifest as manifests
from dossier.record import promises, results

WHERE = Key("release", "previous")


def carried(release: dict[str, Any]) -> dict[str, bytes]:
    """The results that `release` names as previous, and the manifest beside them, as files of it that it then names."""
    named = release.get("previous")
    if not isinstance(named, str | PathLike):
        return {}
    path = Path(named)
    path = path / results.RESULTS if path.is_dir() else path
    if not path.is_file():
        beside = [file.name for file in path.parent.glob(f"*{path.suffix}")] if path.parent.is_dir() else []
        raise ReleaseError.one("no_file", Argument("previous"), file=str(path), near=nearest(path.name, sorted(beside)))
    release["previous"] = f"previous/{path.name}"
    files = (path, path.with_name(manifests.MANIFEST))
    return {f"previous/{file.name}": file.read_bytes() for file in files if file.is_file()}


def previous(release: Release, folder: Folder) -> Previous | None:
    """What the previous release recorded; None where this one names none.

    The file may lie outside the release folder: it is of another release. The manifest beside it is read where there
    is one, and must be of that very file.
    """
    name = release.release.previous
    if name is None:
        return None
    if folder.is_folder(name):
        raise DataError.one("previous_is_folder", WHERE, file=name)
    content, model = folder.read(name, WHERE, True, RESULTS), release.release.model
    found, sha256 = results.read(content, name), hashlib.sha256(content).hexdigest()
    about, evidence = found.release, found.evidence
    if about.model != model:
        raise DataError.one("previous_of_other_model", WHERE, file=name, other=about.model, model=model)
    DataError.raise_for(letters.of_results(found, name))
    return Previous(
        file=name,
        sha256=sha256,
        version=about.version,
        date=about.date,
        level=about.level,
        seed=about.seed,
        thresholds=evidence.release.thresholds.declared,
        datasets=evidence.datasets,
        results=compared((*evidence.results, *evidence.subgroups.results), evidence.terms),
        criteria=evidence.criteria,
        manifest=_manifest(folder, name, sha256),
        predicted=Predicted.by(evidence.release),
        promises=tuple(promises.promises(evidence)),
        stop=evidence.release.care.stop,
    )


def _manifest(folder: Folder, of: str, sha256: str) -> PreviousManifest | Absent:
    """The manifest beside the results; Absent where there is none."""
    name = str(PurePosixPath(of).with_name(manifests.MANIFEST))
    if not (folder.path / name).is_file():
        return Absent(Fact("no_manifest"))
    found, own = manifests.of(folder.read(name, WHERE, True, RESULTS)), PurePosixPath(of).name
    if found is None:
        raise DataError.one("not_a_manifest", File(name), file=name)
    if not any((file.name, file.sha256) == (own, sha256) for file in found.outputs):
        raise DataError.one("manifest_of_other_results", WHERE, file=name, results=own)
    return PreviousManifest(dict(found.versions), tuple(file.value for file in found.inputs), found.artifact_sha256)
