"""Arguments in, exit code out: the only place that prints, and that lets anything be written."""

from __future__ import annotations

import os
import shlex
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from dossier.contents import Edition
    from dossier.errors import DossierError
    from dossier.evaluate import Progress
    from dossier.types import Evidence, Gallery, SettledTable, Study
    from dossier.verify import Report

DONE, BAD_INPUT, NOT_MET, DIFFERS, INTERRUPTED = 0, 2, 3, 4, 130
BOTH: tuple[Edition, ...] = ("regulatory", "committee")
MOST_THRESHOLDS = 8
"""More do not fit the eight pages of a quick look."""
ROWS_WORTH_A_WORKER = 50_000
"""A dataset of so many rows keeps one more worker busy than its start costs."""
SECONDS_BETWEEN_LOOKS = 0.5
SECONDS_IDLE = 86_400
"""A worker waits as long for work while others are still busy: one that left would have to be started again."""
SHORTEST_WAIT = 2.0
"""Seconds: who waits less wants no estimate, and who has waited less has seen too little to give one."""
TELLING_SHARE = 0.1
"""Before this share is done the pace is not known."""
STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
STOPPED = threading.Event()
"""Set when we were asked to stop."""

# One thread for linear algebra: with more, sums are taken in another order and the last digits change.
for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"


@dataclass(frozen=True)
class Options:
    """What every command that writes pages is told."""

    out: Path
    page: str
    jobs: int | None
    seed: int | None
    quiet: bool
    scheduler: str | None = None


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="validation-dossier", prog_name="dossier")
def dossier() -> None:
    """Is a medical prediction model any good in hospitals that did not make it?

    A release (predictions and outcomes, a release.toml) goes in; a validation dossier comes out as PDF and JSON.

    Exit codes: 0 done; 1 a fault of ours; 2 bad input, options or OUT; 3 built, but a criterion is not met, or with
    --strict something is open; 4 verify found a difference; 130 interrupted.
    """


@dossier.command(short_help="Write an example release that builds at once.")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
def init(folder: Path) -> None:
    """Write a commented release.toml and tiny tables: a release that builds at once.

    DIR is a new folder, or one that is empty.
    """
    from dossier import initial, output

    files = initial.files()
    with output.told(folder):
        output.refuse_what_is_not_empty(folder)
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            (folder / name).write_bytes(content)
    for name in files:
        _print(folder / name)


@dossier.command(short_help="Report every fault and flag of a release.")
@click.argument("release", metavar="RELEASE", type=click.Path(path_type=Path))
def check(release: Path) -> None:
    """Read everything and report every fault and flag in one go; compute nothing.

    RELEASE is a folder with a release.toml, or the path of one.
    """
    from dossier import checklist, load

    study = load.study(release)
    for dataset in study.datasets:
        events = "" if dataset.outcome is None else f", {int(dataset.outcome.sum())} events"
        if dataset.classes is not None:
            counts = ((label, int((dataset.classes == k).sum())) for k, label in enumerate(dataset.class_labels))
            events = "".join(f", {count} {label}" for label, count in counts)
        left = "".join(f", {count} {reason}" for reason, count in dataset.excluded.items() if count)
        _print(
            f"{dataset.name} ({dataset.role}): {dataset.rows_read} rows, {dataset.rows_analysed} analysed{events}{left}"
        )
    if study.readers is not None:
        cases, raters = study.readers.labels.shape
        _print(f"readers (of {study.readers.dataset or 'no dataset'}): {cases} cases, {raters} raters")
    for table in study.tables:
        _print(f"\n{table.dataset}, {table.file}: {table.rows} rows")
        for line in _columns(table):
            _print(line)
    _print("")
    for flag in study.flags:
        _print(f"flag {flag.flag}, {flag.dataset}: {flag.says}")
    for item in checklist.unanswered(study.statements):
        _print(f"open {item.number}, {item.topic}: {item.asks}")
    _print("No fault found.")


def _columns(table: SettledTable) -> list[str]:
    """The columns of a table under each other, each as wide as its longest cell."""
    rows = [("column", "role", "type", "range", "missing")]
    for one in table.columns:
        values = f"{one.levels} value{'' if one.levels == 1 else 's'}" if one.levels is not None else ""
        span = f"{one.range[0]:.6g} to {one.range[1]:.6g}" if one.range is not None else values
        missing = f"{one.missing}" if one.sample is None else f"{one.missing} of {one.sample} rows drawn"
        rows.append((" ".join(one.name.split()), one.role, one.kind, span, missing))
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    return [
        "  " + "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]


def _output_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that every command that writes pages has."""
    options = (
        click.option("-o", "--out", required=True, type=click.Path(path_type=Path), help="The folder to write."),
        click.option("--page", type=click.Choice(["a4", "letter"]), default="a4", show_default=True, help="Paper."),
        click.option("--jobs", type=click.IntRange(min=1), help="Worker processes; default: one a processor."),
        click.option("--seed", type=click.IntRange(min=0), help="Start of random draws; default: the release's, or 1."),
        click.option("--quiet", is_flag=True, help="No progress."),
    )
    for option in reversed(options):
        command = option(command)
    return command


@dossier.command(short_help="Build the dossier of a release.")
@click.argument("release", metavar="RELEASE", type=click.Path(path_type=Path))
@click.option("--edition", type=click.Choice([*BOTH, "all"]), default="all", show_default=True, help="What to print.")
@_output_options
@click.option("--strict", is_flag=True, help="Exit with 3 while a row of the checklist or a flag is open.")
@click.option("--draft", is_flag=True, help="Mark every page as a draft, and list what is open.")
@click.option("--local-site", metavar="NAME", help="Our hospital: an external dataset, first in the committee edition.")
@click.option(
    "--backend",
    type=click.Choice(["loky", "dask"]),
    default="loky",
    show_default=True,
    help="Who evaluates: processes of this machine, or a Dask cluster that runs.",
)
@click.option("--scheduler", metavar="ADDRESS", help="Of the Dask cluster, such as tcp://10.0.0.1:8786.")
def build(
    release: Path,
    edition: str,
    strict: bool,
    draft: bool,
    local_site: str | None,
    backend: str,
    scheduler: str | None,
    **common: Any,
) -> int:
    """Build the dossier of a release: both editions, the figures, results.json and a manifest.

    RELEASE is a folder with a release.toml, or the path of one.
    """
    from dossier import load, output

    _refuse_half_a_cluster(backend, scheduler)
    options = Options(**common, scheduler=scheduler)
    editions = tuple(one for one in BOTH if edition in ("all", one))
    command = _command("build", options, f"--edition {edition}", *(["--draft"] if draft else []))
    with output.reserved(options.out):
        evidence = _make(lambda: load.study(release), options, editions, command, draft, local_site)
    return _judge(evidence, strict)


@dossier.command(short_help="Look at one table of predictions.")
@click.argument("table", metavar="TABLE", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--outcome", required=True, metavar="COL", help="The column of the outcome, 0 or 1.")
@click.option("--risk", required=True, metavar="COL", help="The column of the risk, from 0 to 1.")
@click.option("--threshold", "thresholds", type=click.FloatRange(0, 1, True, True), multiple=True, help="Repeatable.")
@click.option("--name", help="The model's name; default: the table's.")
@_output_options
def quick(table: Path, outcome: str, risk: str, thresholds: tuple[float, ...], name: str | None, **common: Any) -> None:
    """Look at one table of predictions: no release file, one short PDF, no checklist."""
    from dossier import load, output

    if not table.name:
        raise click.BadParameter("It is empty; name a table.", param_hint="TABLE")
    if len(set(thresholds)) > MOST_THRESHOLDS:
        fix = "write a release.toml for more."
        raise click.BadParameter(f"A quick look has at most {MOST_THRESHOLDS}; {fix}", param_hint="--threshold")
    options = Options(**common)
    named = {"--outcome": outcome, "--risk": risk, "--name": name}
    words = [f"{option} {shlex.quote(value)}" for option, value in named.items() if value is not None]
    words += [f"--threshold {threshold!r}" for threshold in thresholds]
    command = _command("quick", options, *words)
    with output.reserved(options.out):
        evidence = _make(lambda: load.quick(table, outcome, risk, thresholds, name), options, ("quick",), command)
    if flags := len(evidence.flags):
        click.echo(f"{flags} flag{'' if flags == 1 else 's'}: see Limitations in dossier-quick.pdf.", err=True)


@dossier.command()
@_output_options
def demo(**common: Any) -> None:
    """Build the releases that ship."""
    from contextlib import ExitStack
    from dataclasses import replace

    from dossier import load, material, output

    options = Options(**common)
    folders = sorted(path.parent for path in material.fixtures().glob("*/release.toml"))
    with ExitStack() as all_of_them:
        for folder in folders:
            all_of_them.enter_context(output.reserved(options.out / folder.name))
        for folder in folders:
            one = replace(options, out=options.out / folder.name)
            _make(lambda folder=folder: load.study(folder), one, BOTH, _command("build", one, "--edition all"))  # type: ignore[misc]


@dossier.command()
def schema() -> None:
    """Print the JSON Schemas of results.json and of release.toml."""
    import json

    from dossier import record
    from dossier import release as declared

    schemas = {"results.json": record.schema(), "release.toml": declared.schema()}
    _print(json.dumps(schemas, indent=1, sort_keys=True))


@dossier.command(short_help="Compare a dossier with its results.")
@click.argument("out", metavar="OUT", type=click.Path(path_type=Path))
@click.option("--release", type=click.Path(path_type=Path), help="What it was built from: compare inputs and rebuild.")
def verify(out: Path, release: Path | None) -> int:
    """Compare every file of a dossier with its manifest, and the printed numbers with its results.

    The numbers of tables and sentences are looked for in results.json, those of figures in figures/*.svg; texts that
    are exempt are counted by kind. OUT is a folder that dossier build has written. Exit code 4 where something differs.
    """
    from dossier import verify as verification
    from dossier.errors import ReleaseError
    from dossier.load.faults import counted

    if release is not None and not release.exists():
        fix = "Name the folder or the table that the dossier was built from."
        raise ReleaseError.one(f"There is no {release}.", "--release", fix)
    reports = [verification.report(out)]
    if release is not None:
        reports.append(verification.inputs(out, release))
        # Other inputs give another dossier, or none: nothing would be learnt.
        if not reports[-1].differences:
            reports.append(_rebuilt(out, release))
    for text in (text for report in reports for text in report.checked):
        _print(text)
    if release is None:
        _print("inputs and rebuild: not checked, no release was given")
    differences = [text for report in reports for text in report.differences]
    for text in differences:
        click.echo(f"differs: {text}", err=True)
    _print(f"{counted(len(differences), 'difference')}." if differences else "Everything holds.")
    return DIFFERS if differences else DONE


def _rebuilt(out: Path, release: Path) -> Report:
    """The dossier against a second build by its own command, in a folder that is gone afterwards."""
    import io
    import tempfile
    from contextlib import redirect_stderr, redirect_stdout

    from dossier import verify as verification

    with tempfile.TemporaryDirectory() as folder:
        again = Path(folder) / "out"
        words = verification.command(out)
        words = [words[0], str(release), *words[1:], "-o", str(again), "--quiet"]
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            dossier.main(words, standalone_mode=False)
        return verification.rebuilt(out, again)


# ---- the job --------------------------------------------------------------------------------------------------------


def _refuse_half_a_cluster(backend: str, scheduler: str | None) -> None:
    from dossier.errors import WorkerError

    if backend == "dask" and not scheduler:
        fix = "Add --scheduler with the address that `dask scheduler` prints, such as tcp://10.0.0.1:8786."
        raise WorkerError.one("The backend dask needs the address of a scheduler.", "--scheduler", fix)
    if backend != "dask" and scheduler is not None:
        fix = "Add --backend dask, or leave the scheduler out."
        raise WorkerError.one(f"The backend {backend} has no scheduler.", "--scheduler", fix)


def _command(name: str, options: Options, *words: str) -> str:
    """The command as the manifest holds it: without paths, workers and noise."""
    seed = [] if options.seed is None else [f"--seed {options.seed}"]
    return " ".join([f"dossier {name}", *words, f"--page {options.page}", *seed])


def _judge(evidence: Evidence, strict: bool) -> int:
    """The exit code of a dossier that is built, and what keeps it from 0."""
    judged = [one for one in evidence.criteria if not one.met]
    said = [f"{one.measure} at {one.dataset}: {'not met' if one.met is False else 'not estimable'}" for one in judged]
    if strict:
        said += [f"checklist row {row.item}: missing" for row in evidence.checklist if row.status == "MISSING"]
        said += [f"flag {flag.flag}, {flag.dataset}: not answered" for flag in evidence.flags if flag.reply is None]
    for text in said:
        click.echo(text, err=True)
    return NOT_MET if said else DONE


def _make(
    read: Callable[[], Study],
    options: Options,
    editions: Sequence[Edition],
    command: str,
    draft: bool = False,
    local_site: str | None = None,
) -> Evidence:
    """The whole job: read, evaluate, draw, print, and only then write."""
    from dataclasses import replace

    with _progress(options.quiet) as tell:
        tell("read", "tables", 0, 1)
        study = _seeded(read(), options.seed)
        # Only now: what is wrong with a release is told before all that it takes to print it is loaded.
        from dossier import draw, evaluate, model_card, output, record
        from dossier.load import local_site as local

        if local_site is not None:
            local_site = local.local_site(study, local_site)
            command = f"{command} --local-site {shlex.quote(local_site)}"
        tell("read", "tables", 1, 1)
        worth = sum(1 + dataset.rows_read // ROWS_WORTH_A_WORKER for dataset in study.datasets)
        jobs = _jobs(options.jobs, max(worth, len(editions)))
        with _workers(jobs):
            tell("evaluate", "", 0, 1)
            evidence = replace(
                evaluate.evidence(study, jobs, tell, options.scheduler), local_site=local_site, command=command
            )
            tell("draw", "figures", 0, 1)
            gallery = draw.gallery(evidence, jobs)
            tell("draw", "figures", 1, 1)
            files = _printed(gallery, editions, options.page, draft, jobs, tell)
        files["results.json"] = record.text(evidence)
        files["results.csv"] = record.table(evidence)
        files["model-card.xml"] = model_card.text(evidence)
        files |= {f"figures/{name}.svg": picture.svg for name, picture in sorted(gallery.pictures.items())}
        files[record.MANIFEST] = output.manifest(evidence, files)
        written = output.write(options.out, files)
    for path in written:
        _print(path)
    return evidence


def _seeded(study: Study, seed: int | None) -> Study:
    """The study with the seed of the command line, when it gives one."""
    if seed is None:
        return study
    from dataclasses import replace

    card = study.release.release.model_copy(update={"seed": seed})
    return replace(study, release=study.release.model_copy(update={"release": card}))


def _printed(
    gallery: Gallery, editions: Sequence[Edition], page: str, draft: bool, jobs: int, tell: Progress
) -> dict[str, bytes]:
    """Each edition as PDF, side by side when there are workers."""
    import joblib

    tell("print", "", 0, len(editions))
    made = joblib.Parallel(n_jobs=jobs, return_as="generator")(
        joblib.delayed(_edition)(gallery, edition, page, draft) for edition in editions
    )
    pages: dict[str, bytes] = {}
    for edition, pdf in zip(editions, made, strict=True):
        pages[f"dossier-{edition}.pdf"] = pdf
        tell("print", edition, len(pages), len(editions))
    return pages


def _edition(gallery: Gallery, edition: Edition, page: str, draft: bool) -> bytes:
    from dossier import compose, press

    return press.pdf(compose.document(gallery, edition, page, draft))


# ---- workers --------------------------------------------------------------------------------------------------------


def _jobs(wanted: int | None, tasks: int) -> int:
    """As many workers as are wanted, or as the machine allows, but none without a task: each costs a start."""
    import joblib

    return min(wanted or joblib.cpu_count(), tasks)


@contextmanager
def _workers(jobs: int) -> Iterator[None]:
    """Workers that leave an interruption to us, and that end when we are killed."""
    from concurrent.futures.process import BrokenProcessPool

    import joblib

    from dossier.errors import WorkerError

    try:
        with joblib.parallel_config(
            backend="loky",
            initializer=_start_worker,
            initargs=(os.getpid(),),
            idle_worker_timeout=SECONDS_IDLE,
        ):
            if jobs > 1:
                _start_workers(jobs)
            yield
    except BrokenProcessPool:
        # Ctrl-C ends workers as well, and is told as what it is.
        if STOPPED.is_set():
            raise
        what = "A worker process ended before its work was done."
        fix = "Memory may have run out: use fewer workers, such as --jobs 1, or free some."
        raise WorkerError.one(what, "--jobs", fix) from None


def _start_workers(jobs: int) -> None:
    """Start all workers deaf to Ctrl-C, which goes to every process of the terminal: only the first one speaks."""
    import multiprocessing.resource_tracker

    import joblib
    from joblib.externals.loky.backend import resource_tracker

    # Both trackers open our ears again when they start; they start first.
    with _trackers_hushed():
        multiprocessing.resource_tracker.ensure_running()
        resource_tracker.ensure_running()
    with _later():
        # A new process inherits the block and keeps it.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            ready = joblib.Parallel(n_jobs=jobs, return_as="generator")(
                joblib.delayed(os.getpid)() for _ in range(jobs)
            )
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        list(ready)


@contextmanager
def _trackers_hushed() -> Iterator[None]:
    """A tracker started here clears up after a killed worker without a word: what happened is told by us."""
    before = os.environ.get("PYTHONWARNINGS")
    os.environ["PYTHONWARNINGS"] = ",".join(filter(None, (before, "ignore:resource_tracker:UserWarning")))
    try:
        yield
    finally:
        if before is None:
            del os.environ["PYTHONWARNINGS"]
        else:
            os.environ["PYTHONWARNINGS"] = before


@contextmanager
def _later() -> Iterator[None]:
    """Let a stop wait for what must not be left half done: a worker that is half started cries out."""
    before = {number: signal.getsignal(number) for number in STOPS}
    for number in STOPS:
        if before[number] == _stop:
            signal.signal(number, lambda number, frame: _hush())
    try:
        yield
    finally:
        for number in STOPS:
            signal.signal(number, before[number])
    if STOPPED.is_set():
        raise KeyboardInterrupt


def _start_worker(parent: int) -> None:
    from joblib.externals.loky import process_executor

    # Where psutil is installed, a worker that has grown by 300 MB is taken for a leak: it leaves in the middle of the
    # work, with a warning. Ours grow because tables, fonts and pages are large.
    process_executor._USE_PSUTIL = False
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    """End this worker when its parent is gone; a killed parent cannot end it."""
    import time

    while os.getppid() == parent:
        time.sleep(SECONDS_BETWEEN_LOOKS)
    os._exit(INTERRUPTED)


# ---- what is said ---------------------------------------------------------------------------------------------------


@contextmanager
def _progress(quiet: bool) -> Iterator[Progress]:
    """Stage, site, group of measures and the time left on a terminal; silence elsewhere."""
    if quiet or sys.stderr is None or not sys.stderr.isatty():
        yield lambda stage, name, done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskProgressColumn, TextColumn
    from rich.progress import TimeElapsedColumn as Elapsed
    from rich.text import Text

    class Left(ProgressColumn):
        """Drawn anew between two steps, so that the seconds run down."""

        def render(self, task: Task) -> Text:
            share = task.completed / task.total if task.total else 0.0
            return Text(time_left(share, task.fields["at"], task.elapsed or 0.0))

    name_of_step = TextColumn("{task.fields[site]}", markup=False)
    columns = (
        TextColumn("{task.description:<9}"),
        BarColumn(10),
        TaskProgressColumn(),
        Elapsed(),
        Left(),
        name_of_step,
    )
    with Progress(*columns, console=Console(stderr=True)) as bars:
        tasks: dict[str, Any] = {}

        def tell(stage: str, name: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(stage, total=total, site=name, at=0.0)
            at = bars.tasks[tasks[stage]].elapsed or 0.0
            bars.update(tasks[stage], completed=done, total=total, site=name, at=at)

        yield tell


def time_left(share: float, at: float, now: float) -> str:
    """How long a stage still takes at its pace so far, in words; nothing when that is not known or not worth saying.

    `share` of its work was done `at` so many seconds after it began, and it is `now` so many.
    """
    if share < TELLING_SHARE or now < SHORTEST_WAIT:
        return ""
    left = at / share - now
    if left < SHORTEST_WAIT:
        return ""
    return f"about {left:.0f} s left" if left < 90 else f"about {left / 60:.0f} min left"


def _print(line: object) -> None:
    """One line of standard output."""
    try:
        click.echo(line)
    except BrokenPipeError:
        # Who read the list has closed it (`| head -1`); the work goes on and nothing more is said.
        _be_silent()
    except OSError as error:
        from dossier.errors import OutputError

        _be_silent()
        what = f"Standard output could not be written: {(error.strerror or type(error).__name__).lower()}."
        raise OutputError.one(what, "standard output", "Make room where it is sent, or send it elsewhere.") from None


def _be_silent() -> None:
    """Send what is still to be printed nowhere; Python would try again at the end, and fail."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _say(error: DossierError) -> None:
    click.echo(str(error), err=True)
    if len(error.faults) > 1:
        click.echo(f"{len(error.faults)} faults.", err=True)


def main() -> None:
    """Run the command line: a fault of the user's is told without a traceback, an interruption ends with 130."""
    _speak_any_name()
    _listen()
    sys.exit(_exit_code())


def _exit_code() -> int:
    try:
        return _answer()
    except (click.Abort, KeyboardInterrupt):
        pass
    except Exception:
        # An interruption while a library is imported or a worker starts can come out as another error.
        if not STOPPED.is_set():
            raise
    click.echo("Interrupted.", err=True)
    return INTERRUPTED


def _answer() -> int:
    """Do what the arguments say, and tell what the user can mend."""
    from dossier.errors import DossierError, PageError

    try:
        code = dossier.main(standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return BAD_INPUT
    except PageError:
        # Templates and styles are ours: this is no fault of the user's, and the traceback belongs to it.
        raise
    except DossierError as error:
        _say(error)
        return BAD_INPUT
    except OSError as error:
        # Not above: it imports numpy, for which --help should not wait.
        from dossier import output

        # The press and the workers keep files of their own for a while, which may find no room either.
        full = output.full(error)
        if full is None:
            raise
        _say(full)
        return BAD_INPUT
    return code if isinstance(code, int) else DONE


def _speak_any_name() -> None:
    """A name that the terminal's encoding does not know is no reason to fail after the work is done."""
    if sys.stdout is not None and hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")


def _listen() -> None:
    """Take the SIGTERM of a service manager, and the end of the terminal, like Ctrl-C: what is half done goes."""
    for number in STOPS:
        # Whoever started us with `nohup` or in the background wants it ignored.
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _stop)


def _stop(number: int, frame: object) -> None:
    _hush()
    raise KeyboardInterrupt


def _hush() -> None:
    """Remember that we were asked to stop; what the libraries say of work broken off by it helps nobody."""
    import warnings

    STOPPED.set()
    warnings.simplefilter("ignore")
    threading.excepthook = lambda told: None
