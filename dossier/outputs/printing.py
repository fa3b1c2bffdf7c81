"""results.json -> every file of a dossier: its editions, figures, tables and card, and the manifest of them all."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import joblib

from dossier.core import collector, contents
from dossier.core import command as commands
from dossier.core.errors import OutputError, PageError, ReleaseError
from dossier.core.faults.locations import File, Location, Option
from dossier.core.types import Evidence, Gallery
from dossier.outputs import output, single
from dossier.outputs.outlined import outlined
from dossier.reading import letters
from dossier.reading.local_site import WHERE, local_site
from dossier.record import ledger, manifest, results, results_csv, updated_model
from dossier.report import compose, draw, model_card, press, screen
from dossier.report import disclosure_report as report_of_disclosure
from dossier.typeset import living_text

Progress = Callable[[str, str, int, int], None]
OF_OTHER_CONTENT = (LookupError, ValueError, TypeError, AttributeError, ArithmeticError, AssertionError, PageError)
"""What printing raises where a file holds less, or other things, than dossier writes."""
LONGEST = 200
"""Characters of such an error that are said."""


def printed(
    found: results.Results,
    command: commands.Build | commands.Quick,
    jobs: int = 1,
    tell: Progress | None = None,
    ours: bool = False,
) -> tuple[Evidence, dict[str, bytes]]:
    """The evidence that a results.json holds, and every file of the dossier that a command makes of it, by name.

    `found` is what the file holds, which is one of the files, or what is `ours` and to be written into it; nothing else
    is read. `command` says which editions, on which paper, as a draft or not, and for which hospital. `jobs` so many
    processes draw and print; `tell` hears of it. A ReleaseError says why a file of others cannot be printed.
    """
    if ours:
        # Everything is printed from what the file holds, so that it can be printed from it again.
        return _printed(results.read(found.text()), command, jobs, tell)
    with _of_others(found):
        return _printed(found, command, jobs, tell)


def figures(found: results.Results, kind: single.Kind, dpi: int, names: Sequence[str] = ()) -> dict[str, bytes]:
    """The figures that a results.json allows, or those named, as files of a kind by their names."""
    with _of_others(found):
        evidence = found.evidence
        drawn = {name: single.figure(evidence, name, Option("--figure")) for name in names} or single.figures(evidence)
        return {f"{name}.{kind}": figure.content(kind, dpi) for name, figure in drawn.items()}


@contextmanager
def _of_others(found: results.Results) -> Iterator[None]:
    """Say of a results.json that holds less, or other things, than dossier writes that it cannot be printed."""
    try:
        # A file that was written by others may hold what steers a terminal or a page.
        ReleaseError.raise_for(letters.of_results(found, results.RESULTS))
        yield
    except OF_OTHER_CONTENT as error:
        reason = f"{type(error).__name__}: {error}"[:LONGEST]
        at = File(results.RESULTS)
        raise ReleaseError.one("unprintable_results", at, file=results.RESULTS, reason=reason) from error


def _printed(
    read: results.Results, command: commands.Build | commands.Quick, jobs: int, tell: Progress | None
) -> tuple[Evidence, dict[str, bytes]]:
    said: Progress = tell or (lambda stage, name, done, total: None)
    # Others may have written the same in other bytes.
    text = read.text()
    ours = command.local_site if isinstance(command, commands.Build) else None
    evidence = replace(read.evidence, local_site=ours, command=str(command))
    said("draw", "figures", 0, 1)
    gallery = draw.gallery(evidence, jobs)
    said("draw", "figures", 1, 1)
    # Each edition as PDF, side by side when there are workers; at last the file for the screen, with their hashes.
    editions, page = command.editions, command.page
    printed = [edition for edition in editions if edition != "html"]
    draft = isinstance(command, commands.Build) and command.draft
    said("print", "", 0, len(editions))
    made = joblib.Parallel(n_jobs=jobs, return_as="generator")(
        joblib.delayed(edition_of)(gallery, text, edition, page, draft) for edition in printed
    )
    files: dict[str, bytes] = {}
    for edition, pdf in zip(printed, made, strict=True):
        files[contents.file_of(edition)] = pdf
        said("print", edition, len(files), len(editions))
    if "html" in editions:
        with collector.held_off():
            files[contents.file_of("html")] = screen.page(gallery, text, draft, files)
        said("print", "html", len(files), len(editions))
    files[results.RESULTS] = text
    files["results.csv"] = results_csv.text(read)
    files["model-card.xml"] = model_card.text(living_text.resolved(evidence))
    files |= {updated_model.UPDATED_MODEL: formulas} if (formulas := updated_model.text(evidence)) else {}
    files |= {f"figures/{name}.svg": outlined(picture.svg) for name, picture in sorted(gallery.pictures.items())}
    files[manifest.MANIFEST] = manifest.text(evidence, files)
    return evidence, files


def edition_of(gallery: Gallery, text: bytes, edition: contents.Edition, page: str, draft: bool) -> bytes:
    """One edition as PDF; `text` is the results.json of its evidence."""
    return press.pdf(compose.document(gallery, edition, page, draft, text))


def history(files: Sequence[Path], page: str = "a4") -> bytes:
    """A page or two of releases of one model, from the results.json of each, as PDF; the earliest stands first.

    A ReleaseError says which file is no results.json, of another model than the first, or given twice.
    """
    every: list[tuple[Evidence, bytes]] = []
    for file in files:
        path = file / results.RESULTS if file.is_dir() else file
        if not path.is_file():
            raise ReleaseError.one("no_file", File(str(path)), file=str(path), near=None)
        read = results.read(path.read_bytes(), str(path))
        ReleaseError.raise_for(letters.of_results(read, str(path)))
        first = every[0][0].release.release.model if every else read.release.model
        if read.release.model != first:
            named = {"file": str(path), "other": read.release.model, "model": first}
            raise ReleaseError.one("previous_of_other_model", File(str(path)), **named)
        if read.text() in (text for _, text in every):
            raise ReleaseError.one("release_twice", File(str(path)), file=str(path))
        every.append((read.evidence, read.text()))
    order = sorted(every, key=lambda pair: pair[0].release.release.date or datetime.date.min)
    return press.pdf(compose.history(order, page))


DISCLOSURE_REPORT = "disclosure-report.pdf"


def beside(out: Path, evidence: Evidence, found: Evidence, text: bytes, page: str) -> tuple[str, dict[Path, bytes]]:
    """What whoever releases a dossier that protects small counts reads in one line, and what is written beside OUT.

    `evidence` is what results.json holds, whose bytes are `text`, and `found` what was found of the rows. A sheet says
    it at length, and a ledger keeps what was given where the release names one. Nothing where nothing is protected.
    """
    if not found.audit:
        return "", {}
    sheet = press.pdf(compose.disclosure_report(evidence, found.audit, text, page))
    files = {output.place_beside(out, DISCLOSURE_REPORT): sheet}
    if found.ledger is not None:
        path, after = Path(found.ledger.path), found.ledger.released
        known = ledger.released(path.read_bytes()) if path.exists() else ()
        if known is None or known != after[: len(known)]:
            raise OutputError.one("ledger_changed", File(str(path)), file=path.name)
        files[path] = ledger.text(found.ledger)
    return report_of_disclosure.line(evidence, found.audit), files


def command_for(evidence: Evidence, asked: commands.Build, at: Location = WHERE) -> commands.Build | commands.Quick:
    """The command that prints this evidence as asked: of a quick look itself; else with the local site by its dataset.

    A ReleaseError says that the local site is none of the evidence.
    """
    release = evidence.release
    if not evidence.has_release_file:
        return commands.Quick(
            outcome=release.outcome.column,
            risk=release.prediction.column or "",
            name=release.release.model,
            time=release.outcome.time,
            at=release.horizon[0].at if release.horizon else None,
            thresholds=release.thresholds.declared,
            wishes=tuple(wish.replace(" ", "=") for wish in release.thresholds.wishes),
            page=asked.page,
        )
    if asked.local_site is None:
        return asked
    sites = {dataset.name: dataset.site for dataset in evidence.datasets if dataset.role == "external"}
    return replace(asked, local_site=local_site(sites, asked.local_site, at))
