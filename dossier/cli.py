"""Arguments in, exit code out: the only place that prints, and that lets anything be written."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from dossier.contents import Edition
    from dossier.errors import DossierError
    from dossier.evaluate import Progress
    from dossier.types import Evidence, Gallery, Study

NOT_BUILT = "is not built yet; leave it out until a later version of dossier"

# One thread for linear algebra: with more, sums are taken in another order and the last digits change.
for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="validation-dossier", prog_name="dossier")
def dossier() -> None:
    """Is a medical prediction model any good in hospitals that did not make it?

    A release (predictions and outcomes, a release.toml) goes in; a validation dossier comes out as PDF and JSON.

    Exit codes: 0 done; 1 a fault of ours; 2 bad input, options or OUT; 130 interrupted.
    """


@dossier.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
def init(folder: Path) -> None:
    """Write a commented release.toml and tiny tables: a release that builds at once."""
    from dossier import initial
    from dossier.errors import OutputError

    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise OutputError.one(
            f"{folder.name} is not an empty folder.", str(folder), "Name a folder that is empty or new."
        )
    for name, content in initial.files().items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        click.echo(path)


@dossier.command()
@click.argument("release", metavar="RELEASE", type=click.Path(path_type=Path))
def check(release: Path) -> None:
    """Read everything and report every fault and flag in one go; compute nothing."""
    study = _load(release)
    for dataset in study.datasets:
        analysed = dataset.rows_read - sum(dataset.excluded.values())
        events = "" if dataset.outcome is None else f", {int(dataset.outcome.sum())} events"
        left = "".join(f", {count} {reason}" for reason, count in dataset.excluded.items() if count)
        click.echo(f"{dataset.name} ({dataset.role}): {dataset.rows_read} rows, {analysed} analysed{events}{left}")
    for flag in study.flags:
        click.echo(f"flag {flag.flag}, {flag.dataset}: {flag.says}")
    click.echo("No fault found.")


def _output_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that every command that writes pages has."""
    options = (
        click.option("-o", "--out", required=True, type=click.Path(path_type=Path), help="The folder to write."),
        click.option("--page", type=click.Choice(["a4", "letter"]), default="a4", show_default=True, help="Paper."),
        click.option("--jobs", type=click.IntRange(min=1), default=os.cpu_count() or 1, help="Worker processes."),
        click.option("--seed", type=click.IntRange(min=0), default=None, help="Instead of the release's seed."),
        click.option("--quiet", is_flag=True, help="No progress."),
    )
    for option in reversed(options):
        command = option(command)
    return command


@dossier.command()
@click.argument("release", metavar="RELEASE", type=click.Path(path_type=Path))
@click.option("--edition", type=click.Choice(["regulatory", "committee", "all"]), default="all", show_default=True)
@_output_options
@click.option("--strict", is_flag=True, hidden=True)
@click.option("--draft", is_flag=True, hidden=True)
@click.option("--local-site", hidden=True)
@click.option("--backend", hidden=True)
@click.option("--scheduler", hidden=True)
def build(
    release: Path, edition: str, out: Path, page: str, jobs: int, seed: int | None, quiet: bool, **later: Any
) -> None:
    """Build the dossier of a release: both editions, the figures and results.json."""
    _refuse_later(later)
    editions: tuple[Edition, ...] = ("regulatory", "committee") if edition == "all" else (edition,)  # type: ignore[assignment]
    _prepare(out)
    study = _load(release)
    _build(_seeded(study, seed), out, editions, page, jobs, quiet, _command("build", edition, page, seed))


@dossier.command()
@click.argument("table", metavar="TABLE", type=click.Path(path_type=Path))
@click.option("--outcome", required=True, help="The column of the outcome, 0 or 1.")
@click.option("--risk", required=True, help="The column of the risk, from 0 to 1.")
@click.option("--threshold", "thresholds", type=click.FloatRange(0, 1, True, True), multiple=True, help="Repeatable.")
@click.option("--name", default=None, help="The model's name; default: the table's.")
@_output_options
def quick(
    table: Path,
    outcome: str,
    risk: str,
    thresholds: tuple[float, ...],
    name: str | None,
    out: Path,
    page: str,
    jobs: int,
    seed: int | None,
    quiet: bool,
) -> None:
    """Look at one table of predictions: no release file, one short PDF, no checklist."""
    from dossier import load

    _prepare(out)
    study = load.quick(table, outcome, risk, thresholds, name)
    given = "".join(f" --threshold {one:g}" for one in thresholds)
    command = f"{_command('quick', None, page, seed)} --outcome {outcome} --risk {risk}{given}"
    _build(_seeded(study, seed), out, ("quick",), page, jobs, quiet, command)


@dossier.command()
@_output_options
def demo(out: Path, page: str, jobs: int, seed: int | None, quiet: bool) -> None:
    """Build the releases that ship."""
    from dossier import material

    folders = sorted(path.parent for path in material.fixtures().glob("*/release.toml"))
    for folder in folders:
        _prepare(out / folder.name)
        study = _load(folder)
        command = _command("demo", "all", page, seed)
        _build(_seeded(study, seed), out / folder.name, ("regulatory", "committee"), page, jobs, quiet, command)


@dossier.command()
def schema() -> None:
    """Print the JSON Schemas of results.json and of release.toml."""
    import json

    from dossier import record
    from dossier import release as declared

    schemas = {"results.json": record.schema(), "release.toml": declared.schema()}
    click.echo(json.dumps(schemas, indent=1, sort_keys=True))


@dossier.command(hidden=True, context_settings={"ignore_unknown_options": True})
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def verify(arguments: tuple[str, ...]) -> None:
    """Compare a dossier with its results; not built yet."""
    del arguments
    raise click.UsageError(f"verify {NOT_BUILT}.")


# ---- the job --------------------------------------------------------------------------------------------------------


def _load(release: Path) -> Study:
    from dossier import load

    return load.study(release)


def _prepare(out: Path) -> None:
    from dossier import output

    output.prepare(out)


def _seeded(study: Study, seed: int | None) -> Study:
    """The study with the seed of the command line, when it gives one."""
    if seed is None:
        return study
    from dataclasses import replace

    card = study.release.release.model_copy(update={"seed": seed})
    return replace(study, release=study.release.model_copy(update={"release": card}))


def _refuse_later(options: dict[str, Any]) -> None:
    for name, value in options.items():
        if value:
            raise click.UsageError(f"--{name.replace('_', '-')} {NOT_BUILT}.")


def _command(name: str, edition: str | None, page: str, seed: int | None) -> str:
    """The command as the manifest holds it: without paths, workers and noise."""
    words = [f"dossier {name}", f"--edition {edition}" if edition else "", f"--page {page}"]
    words.append("" if seed is None else f"--seed {seed}")
    return " ".join(word for word in words if word)


def _build(
    study: Study, out: Path, editions: tuple[Edition, ...], page: str, jobs: int, quiet: bool, command: str
) -> None:
    from dossier import draw, evaluate, output, record

    with _progress(quiet) as tell:
        evidence: Evidence = evaluate.evidence(study, jobs, tell)
        tell("draw", "figures", 0, 1)
        gallery: Gallery = draw.gallery(evidence)
        tell("draw", "figures", 1, 1)
        files = {"results.json": record.text(evidence)}
        files |= {f"figures/{name}.svg": picture.svg for name, picture in gallery.pictures.items()}
        files |= _printed(gallery, editions, page, jobs, tell)
        files[output.MANIFEST] = output.manifest(evidence, files, command)
        written = output.write(out, files)
    for path in written:
        click.echo(path)


def _printed(gallery: Gallery, editions: tuple[Edition, ...], page: str, jobs: int, tell: Progress) -> dict[str, bytes]:
    """Each edition as PDF, side by side when there are workers."""
    import joblib

    workers = min(jobs, len(editions))
    pages: dict[str, bytes] = {}
    tell("print", "pages", 0, len(editions))
    made = joblib.Parallel(n_jobs=workers, return_as="generator")(
        joblib.delayed(_edition)(gallery, edition, page) for edition in editions
    )
    for edition, pdf in zip(editions, made, strict=True):
        pages[f"dossier-{edition}.pdf"] = pdf
        tell("print", edition, len(pages), len(editions))
    return pages


def _edition(gallery: Gallery, edition: Edition, page: str) -> bytes:
    from dossier import compose, press

    return press.pdf(compose.document(gallery, edition, page))


@contextmanager
def _progress(quiet: bool) -> Iterator[Progress]:
    """Stage and site on a terminal; silence elsewhere."""
    if quiet or not sys.stderr.isatty():
        yield lambda stage, name, done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description:<9}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[site]}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=False) as bars:
        tasks: dict[str, Any] = {}

        def tell(stage: str, name: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(stage, total=total, site=name)
            bars.update(tasks[stage], completed=done, total=total, site=name)

        yield tell


def main() -> None:
    """Run the command line: a fault of the user's is told without a traceback, an interruption ends with 130."""
    from dossier.errors import DossierError

    try:
        dossier.main(standalone_mode=False)
    except click.exceptions.Exit as done:
        sys.exit(done.exit_code)
    except click.Abort:
        sys.exit(130)
    except KeyboardInterrupt:
        sys.exit(130)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except DossierError as error:
        _say(error)
        sys.exit(2)


def _say(error: DossierError) -> None:
    click.echo(str(error), err=True)
    if len(error.faults) > 1:
        click.echo(f"{len(error.faults)} faults.", err=True)
