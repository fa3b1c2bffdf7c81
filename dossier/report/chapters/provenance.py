"""What this dossier was made from, and with what."""

from __future__ import annotations

from dossier.core import types
from dossier.report.chapters import sentence
from dossier.report.chapters.chapter import chapter
from dossier.typeset import numbers, tables, words
from dossier.typeset.names import tested_version


def finding(evidence: types.Evidence) -> sentence.Sentence:
    """How many files were read, and under which promise."""
    count = len(evidence.inputs)
    read = f"{words.sentence_case(words.in_words(count))} {'file was' if count == 1 else 'files were'} read"
    return sentence.Sentence(f"{read}.", "The same input with the same versions gives the same bytes.")


def files(evidence: types.Evidence) -> tables.Table:
    """Every file that was read, with its size and its SHA-256; a folder that they share is said once."""
    names = [file.name.replace("../", "") for file in evidence.inputs]
    folders = {name.rpartition("/")[0] for name in names if "/" in name}
    folder = f"{folders.pop()}/" if len(folders) == 1 else ""
    elsewhere = words.listing([name for name in names if "/" not in name])
    rows = (
        tables.Row(
            name.removeprefix(folder),
            (
                tables.Cell.plain("not given" if file.size is None else f"{file.size:,}"),
                tables.Cell.word("not given" if file.sha256 is None else grouped(file.sha256)),
            ),
        )
        for name, file in zip(names, evidence.inputs, strict=True)
    )
    return tables.worded("files", rows, folder=folder, elsewhere=elsewhere)


def model(evidence: types.Evidence) -> str:
    """Which version was tested, which is released, and the hash of the model file."""
    release, tested = evidence.release.release, tested_version(evidence)
    versions = f"version {tested} was tested" + (
        "." if tested == release.version else f", {release.version} is released."
    )
    known = release.artifact_sha256
    return f"{versions} " + (
        f"SHA-256 of its file: {grouped(known)}." if known else "The hash of its file is not stated."
    )


def command(evidence: types.Evidence) -> str:
    """The command that made the dossier, without paths and workers."""
    return f"{evidence.command}." if evidence.command else "none, a program made these pages through the library."


def grouped(sha256: str) -> str:
    """A hash in groups of sixteen, so that it can be compared by eye."""
    return " ".join(sha256[start : start + 16] for start in range(0, len(sha256), 16))


def versions(evidence: types.Evidence) -> str:
    """Every program that had a part in the numbers or the pages, with its version."""
    return words.listing([f"{name}{numbers.TIED}{version}" for name, version in evidence.versions.items()])


CHAPTER = chapter("provenance", finding)
