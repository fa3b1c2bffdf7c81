"""disk -> Study: the only place that reads data. After it the data are right, and nobody checks them again."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dossier.core import command, errors, facts, looks, statements, types
from dossier.core.faults.locations import Cell, File, Key, Location, listed_table
from dossier.core.release import MOST_LINES_IN_CORE, DatasetRole, Release
from dossier.reading import isolation, letters
from dossier.reading.faults import noted
from dossier.reading.files import LEDGER, LOGO, RELEASE, SEAL, Folder

if TYPE_CHECKING:
    from dossier.reading.datasets import Cohort
    from dossier.reading.given_tables import Hint


def study(release: str | Path, allow_outside: bool = False) -> types.Study:
    """Read a release: its folder, or the path of its release.toml.

    Every fault of the release and of all its tables is collected before one DossierError says them all. With
    `allow_outside` the release may name files that lie outside of its folder; they are read as who calls this.
    """
    from dossier.reading.declared import declared

    isolation.start()
    faults: list[errors.Fault] = []
    file, named, content = _opened(release, faults)
    faults += letters.fault(letters.NAME_OF_FILE_READ, file.name, File(file.name), name=True)
    if content is None:
        raise errors.ReleaseError(faults)
    folder = replace(named, is_named=False, allow_outside=allow_outside)
    found = declared(content, folder)
    faults = list(dict.fromkeys([*faults, *found.faults]))
    if found.release is None:
        raise errors.ReleaseError(faults)
    known = len(faults)
    try:
        return _study(found.release, folder, faults)
    except errors.DossierError as error:
        raise type(error)([*error.faults[:known], *found.reported(error.faults[known:])]) from None


def release_alone(release: Path) -> tuple[Path, Release]:
    """The folder of a release and what its release.toml declares, without a look at any table.

    A ReleaseError says every fault of it.
    """
    from dossier.reading.declared import declared

    faults: list[errors.Fault] = []
    file, folder, content = _opened(release, faults)
    found = None if content is None else declared(content, folder)
    faults += () if found is None else found.faults
    if faults or found is None or found.release is None:
        raise errors.ReleaseError(list(dict.fromkeys(faults)))
    return file.parent, found.release


def _opened(release: str | Path, faults: list[errors.Fault]) -> tuple[Path, Folder, bytes | None]:
    """The release.toml of a release, its folder, and its bytes; None, and a fault, when they cannot be had."""
    file = Path(release, "release.toml") if Path(release).is_dir() else Path(release)
    folder, at = Folder(file.parent, is_named=True), File(str(file))
    if file.is_file() and not file.name.lower().endswith(RELEASE.endings):
        faults.append(errors.Fault("another_file_for_release", at, file=file.name))
        return file, folder, None
    return file, folder, noted(faults, folder.read, file.name, at, True, RELEASE)


def quick(
    table: Path, outcome: str, risk: str, thresholds: tuple[float, ...] = (), name: str | None = None, **about: Any
) -> types.Study:
    """Read one table without a release file: one external dataset, or one a site, named after the table.

    `about` are the further options of `dossier quick` as `core.command.Quick` has them. With `time`, how long each
    patient was followed, and `at`, by when the outcome counts, it is one by that horizon, and `outcome` the column of
    what happened when the follow-up ended.
    """
    table = Path(table)
    asked = command.Quick(outcome, risk, name, thresholds, **about)
    return replace(given({table.name: "external"}, table.parent, asked), declared=False)


def given(tables: Mapping[str, DatasetRole], folder: Path, asked: command.Quick) -> types.Study:
    """Read tables by what options say of them; `tables` are the files in the folder by name, with their roles."""
    from dossier.reading import given_tables

    faults = given_tables.faults(asked, tuple(tables))
    release = given_tables.release(asked, tables, bool(faults))
    isolation.start()
    try:
        return _study(release, Folder(folder, is_named=True), faults)
    except errors.DossierError as error:
        raise type(error)([fault.of_command for fault in error.faults]) from None


def hints(release: Release, folder: Path) -> Mapping[str, tuple[Hint, ...]]:
    """What the columns of the tables of a release may be that no key names, by the names of its datasets."""
    from dossier.reading import given_tables

    return given_tables.hints(release, Folder(folder, is_named=True))


def _study(release: Release, folder: Folder, faults: list[errors.Fault]) -> types.Study:
    from dossier.reading import criteria, datasets, flags, horizons, model, previous, readers
    from dossier.reading.reader_study import reader_study

    of_the_release = len(faults)
    found, settled = datasets.sites(release, folder, faults)
    # A table that could not be read lacks predictors only as a consequence.
    if release.model is not None and len(faults) == of_the_release:
        faults += model.faults(release.model, found)
        of_the_release = len(faults)
    judged = readers.readers(release, folder, found, _unread(release, found), faults)
    doubts: list[types.Flag] = [flag for tables in judged for flag in readers.flags(tables)]
    decided = noted(faults, reader_study, release.reader_study, folder, doubts)
    declared = _statements(release, folder, faults)
    before = noted(faults, previous.previous, release, folder)
    release = _with_chapters(noted(faults, _with_logo, release, folder) or release, folder, faults)
    sealed = noted(faults, _seal, release, folder)
    ledger = noted(faults, _ledger, release, folder)
    unread = _unread(release, found)
    names = [*unread, *(site.dataset.name for site in found)]
    groups = [group.subset for site in found for group in site.dataset.subgroups]
    faults += criteria.faults(release, names, None if unread else groups)
    faults += criteria.text_faults(_texts(release, declared), release, names, None if unread else groups)
    faults += criteria.severity_faults(release, None if unread else groups)
    external = {site.dataset.name: _predictors(site) for site in found if site.dataset.role == "external"}
    developed = [_predictors(site) for site in found if site.dataset.role == "development"]
    external |= dict.fromkeys(unread, frozenset())
    faults += criteria.correspondence_faults(release, external, frozenset().union(*developed))
    faults += criteria.reply_faults(release, [*names, *(types.READERS for tables in judged if tables.dataset is None)])
    if not faults:
        faults += datasets.emptied(release, found) or datasets.small_throughout(release, found)
    if not faults:
        faults += horizons.beyond((site.dataset for site in found), release.horizon)
    if not faults and datasets.minimum_cell(release):
        faults += flags.repeated(found)
    if faults:
        plain = list(dict.fromkeys(faults))
        raise errors.ReleaseError(plain) if len(faults) == of_the_release else errors.DataError(plain)
    found_all = types.Study(
        release=release,
        datasets=tuple(site.dataset for site in found),
        readers=judged,
        inputs=tuple(folder.inputs[name] for name in sorted(folder.inputs)),
        flags=(*flags.flags(found, settled, release), *doubts),
        statements=declared,
        reader_study=decided,
        previous=before,
        tables=settled,
        seal=sealed,
        ledger=ledger,
    )
    errors.DataError.raise_for(letters.of_tables(found_all))
    return found_all


def _predictors(site: Cohort) -> frozenset[str]:
    return frozenset(predictor.name for predictor in site.dataset.predictors)


def _unread(release: Release, found: Sequence[Cohort]) -> list[str]:
    """The datasets that are declared, and of which nothing could be read."""
    read = {site.declaration.name for site in found}
    return [dataset.name for dataset in release.dataset if dataset.name not in read]


def _with_logo(release: Release, folder: Folder) -> Release:
    """The release with its logo in the place of the file, so that pages are printed without that."""
    name, where = release.report.logo, Key("report", "logo")
    if name is None:
        return release
    content = folder.read(name, where, False, LOGO)
    if not looks.only_draws(content):
        raise errors.DataError.one("not_a_logo", where, file=name)
    return release.model_copy(update={"report": release.report.model_copy(update={"logo": looks.embedded(content)})})


def _with_chapters(release: Release, folder: Folder, faults: list[errors.Fault]) -> Release:
    """The release with the words of its own chapters in the place of their files."""
    if not release.report.chapters:
        return release

    def held(name: str) -> str:
        text = noted(faults, folder.text, name, Key("report", "chapters"), False)
        if text is None:
            return ""
        faults.extend(_wide(text, Key("report", "chapters"), name))
        found, first = statements.titled(text.strip()), Cell(name, rows=(1,))
        if found is None or len(found[0]) > statements.LONGEST_TITLE:
            faults.append(errors.Fault("chapter_without_title", first, file=name))
        return text.strip()

    report = release.report.with_chapters(held)
    for each, own in zip(release.report.own, report.own, strict=True):
        at = Cell(each.file, rows=(1,))
        if own.has_title_of_ours:
            faults.append(errors.Fault("title_of_ours", at, title=own.title))
        if own.is_beyond_core:
            lines = looks.lines(own.file)
            faults.append(errors.Fault("long_chapter", at, title=own.title, lines=lines, most=MOST_LINES_IN_CORE))
    return release.model_copy(update={"report": report})


def _seal(release: Release, folder: Folder) -> types.Seal | None:
    """What was sealed before the data were opened; None where the release names no seal."""
    from dossier.record import seal

    name = release.release.sealed
    return None if name is None else seal.seal(folder.read(name, seal.WHERE, False, SEAL), name, release)


def _ledger(release: Release, folder: Folder) -> types.Ledger | None:
    """What earlier releases gave; None where the release names no ledger."""
    from dossier.record import ledger

    name, where = None if release.disclosure is None else release.disclosure.ledger, Key("disclosure", "ledger")
    if name is None:
        return None
    path = folder.allowed(name, where, True, LEDGER)
    content = folder.read(name, where, True, LEDGER) if os.path.lexists(path) else b""
    # It is no input: who checks the dossier has none, and it changes with each release.
    folder.inputs.pop(name, None)
    found = ledger.released(content) if content else ()
    if found is None:
        raise errors.DataError.one("not_a_ledger", where, file=name)
    about = release.release
    return types.Ledger(os.path.realpath(path), f"{about.model} {about.version}", found)


def _texts(release: Release, declared: Mapping[str, str]) -> Iterator[tuple[Location, str]]:
    """Every declared text in which numbers may be named, and where it stands."""
    yield from ((Key("statements", item), text) for item, text in declared.items())
    yield from ((Key("report", key), text) for key, text in release.report.markdown)
    use = release.intended_use
    yield from ((Key("intended_use", "for"), text) for text in (use.for_,) if text)
    yield from ((Key("intended_use", "not_for"), text) for text in use.not_for)
    replies = enumerate(release.reply, start=1)
    yield from ((listed_table("reply", number).of("says"), reply.says) for number, reply in replies)


def _wide(text: str, where: Location, file: str = "") -> Iterator[errors.Fault]:
    """The tables of a declared text that no page holds."""
    for row, columns in statements.wide_tables(text):
        at = Cell(file, rows=(row,)) if file else where
        yield errors.Fault("wide_table", at, columns=facts.Count(columns, "column"), most=statements.MOST_COLUMNS)


def _statements(release: Release, folder: Folder, faults: list[errors.Fault]) -> Mapping[str, str]:
    texts: dict[str, str] = {}
    for item, statement in release.statements.items():
        where = Key("statements", item)
        if statement.file is None:
            texts[item] = statement.text or statement.none or ""
            faults += _wide(texts[item], where)
        elif (text := noted(faults, folder.text, statement.file, where, statement.outside)) is not None:
            texts[item] = text.strip()
            faults += _wide(text, where, statement.file)
    return texts
