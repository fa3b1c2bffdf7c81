"""Arguments in, exit code out: the only place that prints, and that lets anything be written."""

from __future__ import annotations

import gc
import os
import resource
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TextIO, TypeVar

import click

if TYPE_CHECKING:
    from dossier.command_line.outcome import Outcome
    from dossier.core.command import Build, Quick
    from dossier.core.errors import Fault
    from dossier.core.release import DatasetRole
    from dossier.core.types import Evidence, Study
    from dossier.evaluate import Progress
    from dossier.outputs.single import Kind
    from dossier.outputs.verify import Report

Command = TypeVar("Command", bound=Callable[..., Any])
DONE, BAD_INPUT, NOT_MET, DIFFERS, UNSIGNED, INTERRUPTED = 0, 2, 3, 4, 5, 130
PLACE = click.Path(path_type=Path)
LEAST = (
    ("-v", resource.RLIMIT_AS, 2.5, 1 << 30, "GB of address space"),
    ("-n", resource.RLIMIT_NOFILE, 64, 1, "open files"),
)
"""What the libraries take at most, their threads on two processors and a worker included."""
ROWS_WORTH_A_WORKER = 50_000
"""A dataset of so many rows keeps one more worker busy than its start costs."""
SECONDS_BETWEEN_LOOKS = 0.5
SECONDS_IDLE = 86_400
"""A worker waits as long for work while others are still busy: one that left would have to be started again."""
LONGEST_PASSWORD = 10_000
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
# None of Arrow's either, which only gives memory back: a process of one thread can be copied.
os.environ["JE_ARROW_MALLOC_CONF"] = "background_thread:false"


@dataclass(frozen=True)
class Options:
    """The options of every command that writes pages; they change no byte of them."""

    out: Path
    jobs: int | None
    quiet: bool
    replace: bool = False
    scheduler: str | None = None
    allow_outside: bool = False
    recorded: bool = True
    """Whether it is reported what protects small counts, and written beside OUT."""


class _Command(click.Command):
    """A command that refuses an option of one value that is given twice: click takes the last without a word."""

    def parse_args(self, context: click.Context, words: list[str]) -> list[str]:
        """The words that are left, once each option stands where it belongs."""
        _, _, given = self.make_parser(context).parse_args(list(words))
        for option in given:
            if isinstance(option, click.Option) and not (option.multiple or option.is_flag) and given.count(option) > 1:
                raise click.UsageError(
                    f"{option.opts[-1]} is given {given.count(option)} times: give it once.", context
                )
        return super().parse_args(context, words)


class _Commands(click.Group):
    command_class = _Command


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="validation-dossier", prog_name="dossier")
def dossier() -> None:
    """Is a medical prediction model any good in hospitals that did not make it?

    A release (predictions and outcomes, a release.toml) goes in; a validation dossier comes out as PDF and JSON.

    Exit codes: 0 done; 1 a fault of ours; 2 bad input, options, OUT or surroundings; 3 built, but a criterion is not
    shown, or with --strict something is open; 4 verify found a difference; 5 a signature that --require-signatories
    asks for is not there; 130 interrupted.
    """


def _wishes(_: click.Context, option: click.Parameter, words: tuple[str, ...]) -> tuple[str, ...]:
    """The wishes of the options; each names a measure and a share."""
    from dossier.core.command import wish

    if unread := [word for word in words if wish(word) is None]:
        raise click.BadParameter(f"{unread[0]!r} is none; give sensitivity=0.95 or specificity=0.9.", param=option)
    if len({word.partition("=")[0].strip() for word in words}) < len(words):
        raise click.BadParameter("give at most one sensitivity and one specificity.", param=option)
    return words


def _taken(context: click.Context, option: click.Parameter, descriptor: int | None) -> int | None:
    """The descriptor, under another number: later its own, if nobody has opened it, may be that of a file of ours."""
    try:
        return descriptor if descriptor is None else os.dup(descriptor)
    except (OSError, OverflowError):
        raise click.BadParameter("Nothing can be read from it. Open a file: --password-fd 3 3<FILE.") from None


def _types() -> Mapping[str, Any]:
    """The kinds of values of options, by their names in `words/options.toml`."""
    from dossier.core import command

    return {
        "path": PLACE,
        "number": float,
        "threshold": click.FloatRange(command.LEAST_THRESHOLD, 1 - command.LEAST_THRESHOLD),
        "scale": click.Choice(command.SCALES),
        "encoding": click.Choice(command.ENCODINGS),
        "separator": click.Choice(command.SEPARATORS),
        "decimal": click.Choice(command.DECIMALS),
        "edition": click.Choice(tuple(command.EDITIONS)),
        "page": click.Choice(command.PAGES),
        "kind": click.Choice(("png", "pdf", "svg", "tiff")),
        "backend": click.Choice(("loky", "dask")),
        "from_0": click.IntRange(min=0),
        "jobs": click.IntRange(min=1),
        "dpi": click.IntRange(50, 1200),
    }


def _options(*names: str) -> Callable[[Command], Command]:
    """The options of these names, in their order; `words/options.toml` has what each is, and what --help says of it."""
    from dossier.words import entries

    kinds, callbacks = _types(), {"wishes": _wishes, "password_fd": _taken}

    def decorated(command: Command) -> Command:
        for name in reversed(names):
            about = {"names": (f"--{name.replace('_', '-')}", name), "type": "", **entries("options")[name]}
            typed, kind = about.pop("names"), kinds.get(about.pop("type"))
            command = click.option(*typed, type=kind, callback=callbacks.get(name), **about)(command)
        return command

    return decorated


OF_TABLES = (
    *("outcome", "time", "event", "at", "risk", "site", "thresholds", "wishes", "missing", "positive", "censored"),
    *("competing", "scale", "encoding", "separator", "decimal", "sheet", "name"),
)
"""The options that say how a table is written and what its columns mean, the same for every command."""
OF_OUTPUT = ("out", "page", "jobs", "quiet", "replace")
"""The options that every command that writes pages has."""


def _of_output(asked: dict[str, Any]) -> Options:
    """The options of output among those that are asked for, which are taken out of them."""
    return Options(**{each.name: asked.pop(each.name) for each in fields(Options) if each.name in asked})


def _asked(**asked: Any) -> Quick:
    """What the options of a table ask for."""
    from dossier.core.command import Quick

    if asked["risk"] is None:
        raise click.UsageError("Missing option '--risk'.")
    return Quick(outcome=_outcome(**{name: asked.pop(name) for name in ("outcome", "event")}, **asked), **asked)


def _outcome(outcome: str | None, event: str | None, time: str | None, at: float | None, **_: Any) -> str:
    """The column of the outcome, or of what happened when the follow-up ended; exactly one of both is named."""
    if outcome is not None and [event, time, at] == [None] * 3:
        return outcome
    if outcome is not None:
        raise click.UsageError("--outcome stands beside --time, --event or --at. Give it alone, or these three.")
    if event is None or time is None or at is None:
        raise click.UsageError("Give --outcome, or all of --time, --event and --at.")
    if not 0 < at < float("inf"):
        raise click.BadParameter("It is a number above 0, in the unit of --time.", param_hint="--at")
    return event


@dossier.command(short_help="Write an example release, or that of your tables.")
@click.argument("folder", metavar="DIR", type=PLACE)
@_options("tables", "development", *OF_TABLES)
def init(folder: Path, tables: Sequence[Path], development: Path | None, **asked: Any) -> None:
    """Write a commented release.toml and tiny tables: a release that builds at once.

    With --table, --outcome and --risk it is that of your tables: they are read, copied, and what their columns may be
    stands in release.toml, to be taken or left.

    DIR is a new folder, or one that is empty.
    """
    from dossier.command_line import initial
    from dossier.outputs import output

    if tables:
        with output.reported(folder):
            output.refuse_what_is_not_empty(folder)
        roles: dict[str, DatasetRole] = {} if development is None else {str(development): "development"}
        _write_release(folder, Path(), {**roles, **{str(table): "external" for table in tables}}, _asked(**asked))
        return
    if development is not None or any(value not in (None, (), "probability") for value in asked.values()):
        raise click.UsageError("These options say how a table is read: name one with --table.")
    _print(*output.write_new(folder, initial.files()))


def _write_release(folder: Path, source: Path, tables: Mapping[str, DatasetRole], asked: Quick) -> None:
    """The release of tables as a folder, with what their columns may be."""
    from dossier import reading
    from dossier.command_line import initial

    study = _seeded(reading.given(tables, source, asked), asked.seed)
    _print(*initial.written(folder, source, study.release, reading.hints(study.release, source)))


@dossier.command(short_help="Report every fault and flag of a release.")
@click.argument("release", metavar="RELEASE", type=PLACE)
@_options("as_json", "allow_outside")
def check(release: Path, as_json: bool, allow_outside: bool) -> int:
    """Read everything and report every fault, and every flag that a build will raise; draw nothing.

    RELEASE is a folder with a release.toml, or the path of one.
    """
    from dossier.command_line import check as checking

    found = checking.check(release, allow_outside)
    if as_json:
        _print_json(checking.document(found))
    else:
        _print(*checking.lines(found))
        _say(found.faults)
    return BAD_INPUT if found.faults else DONE


@dossier.command(short_help="Seal what a release declares, before its data are opened.")
@click.argument("release", metavar="RELEASE", type=PLACE)
def seal(release: Path) -> None:
    """Print the hash of what is declared before data are opened, and write it with that into seal.json.

    Sealed are criteria, thresholds, subgroups, severity, utility and intended use.

    RELEASE is a folder with a release.toml, or the path of one; no table is opened. Publish the hash, or send it to
    somebody: with `sealed = "seal.json"` in [release] a later build says whether anything was changed since.
    """
    import datetime

    from dossier import reading
    from dossier.outputs import output
    from dossier.record import seal as sealing

    folder, declared = reading.release_alone(release)
    file = folder / sealing.SEAL
    output.refuse_what_is_there(file)
    sealed, today = sealing.declared(declared), datetime.datetime.now(datetime.UTC).date()
    output.write_report(file, sealing.text(sealed, today))
    _print(file, sealing.sha256(sealed, today))


@dossier.command(short_help="Build the dossier of a release.")
@click.argument("release", metavar="RELEASE", type=PLACE)
@_options("edition", *OF_OUTPUT, "seed", "strict", "fail_on", "junit", "as_json", "draft", "local_site")
@_options("backend", "scheduler", "trust_scheduler", "allow_outside")
def build(
    release: Path,
    strict: bool,
    fail_on: str,
    junit: Path | None,
    as_json: bool,
    backend: str,
    trust_scheduler: bool,
    **asked: Any,
) -> int:
    """Build the dossier of a release: its editions, the figures, results.json and a manifest.

    Under [disclosure] what was found of small counts is reported, and written beside OUT into a disclosure-report.pdf
    under its name, for whoever releases the dossier.

    RELEASE is a folder with a release.toml, or the path of one.
    """
    from dossier.core.command import Build
    from dossier.outputs import output

    with _documented("build", as_json) as outcome:
        options = _of_output(asked)
        _refuse_half_a_cluster(backend, options.scheduler, trust_scheduler)
        failing = _flags_named(fail_on)
        if junit is not None:
            output.refuse_as_report(junit, options.out)
        with output.reserved(options.out, options.replace):
            evidence, written = _made(release, Build(**asked), options)
            outcome.written += map(str, written)
        _judge(evidence, strict, failing, junit, outcome)
    return outcome.exit_code


@dossier.command(short_help="Look at one table of predictions.")
@click.argument("table", metavar="TABLE", type=click.Path(path_type=Path, dir_okay=False))
@_options(*OF_TABLES, "folder", *OF_OUTPUT, "seed")
def quick(table: Path, folder: Path | None, **asked: Any) -> None:
    """Look at one table of predictions: no release file, one short PDF, no checklist."""
    from dossier.core.command import MOST_THRESHOLDS
    from dossier.outputs import output

    options = _of_output(asked)
    command = _asked(**asked)
    if not table.name:
        raise click.BadParameter("It is empty; name a table.", param_hint="TABLE")
    if len(set(command.thresholds)) > MOST_THRESHOLDS:
        fix = "write a release.toml for more."
        raise click.BadParameter(f"A quick look has at most {MOST_THRESHOLDS}; {fix}", param_hint="--threshold")
    if folder is not None:
        from dossier.command_line import initial

        initial.refuse_within(folder, options.out)
    with output.reserved(options.out, options.replace):
        evidence, written = _made(table, command, options)
        _print(*written)
    if folder is not None:
        _write_release(folder, table.parent, {table.name: "external"}, command)
    if flags := len(evidence.flags):
        _tell(f"{flags} flag{'' if flags == 1 else 's'}: see Limitations in dossier-quick.pdf.")


@dossier.command()
@_options(*OF_OUTPUT, "seed")
def demo(**asked: Any) -> None:
    """Build the releases that ship."""
    from dossier.core import material
    from dossier.core.command import Build
    from dossier.outputs import output

    folders = sorted(path.parent for path in material.fixtures().glob("*/release.toml"))
    options = _of_output(asked)
    with ExitStack() as all_of_them:
        for folder in folders:
            all_of_them.enter_context(output.reserved(options.out / folder.name, options.replace))
        for folder in folders:
            _, written = _made(folder, Build(**asked), replace(options, out=options.out / folder.name))
            _print(*written)
    if not options.quiet:
        _tell(f"Open {options.out / folders[0].name / 'dossier-regulatory.pdf'} first.")


@dossier.command("print", short_help="Print a dossier from its results.json.")
@click.argument("results_file", metavar="RESULTS", type=PLACE)
@_options("edition", *OF_OUTPUT, "draft", "local_site")
def print_(results_file: Path, **asked: Any) -> None:
    """Print every edition, figure and table from a results.json alone: the same bytes as the build that wrote it.

    RESULTS is the file of a dossier, with the numbers and no row of a patient, or the folder that holds it.
    """
    from dossier.core.command import Build
    from dossier.core.register import fill
    from dossier.outputs import output, printing
    from dossier.record import results

    read = results.opened(results_file)
    fill("report.figures")
    options = _of_output(asked)
    command = printing.command_for(read.evidence, Build(**asked))
    # The first that have a thread are the workers and the progress, and OUT is held by none that is a copy.
    copied = len(list(Path("/proc/self/task").glob("*"))) == 1
    jobs = _jobs(options.jobs, (), len(command.editions), copied)
    with _workers(jobs, copied), output.reserved(options.out, options.replace), _progress(options.quiet) as tell:
        _, files = printing.printed(read, command, jobs, tell)
        _print(*output.write(options.out, files, options.replace))


@dossier.command(short_help="Print releases of one model side by side.")
@click.argument("outs", metavar="OUT...", nargs=-1, required=True, type=PLACE)
@_options("out_of_history", "page", "replace_files")
def history(outs: tuple[Path, ...], out: Path, page: str, replace: bool) -> None:
    """Print a page or two of the releases of a model, from the results.json of each: core measures, and what changed.

    OUT is a dossier that was built, or its results.json; they are put in the order of their dates.
    """
    from dossier.outputs import output, printing

    _print(*output.write_again({out: printing.history(outs, page)}, replace))


@dossier.command(short_help="Validate the rows of another program.")
@click.argument("arguments", metavar="ARGUMENTS", type=PLACE)
@_options("out_of_validate")
def validate(arguments: Path, out: Path) -> None:
    """Do what dossier.validate does in Python for a program in another language, such as the package for R.

    ARGUMENTS is a file of JSON with its arguments. OUT gets results.json, from which dossier print makes every edition,
    its frames as estimates.csv and claims.csv, and how the criteria stand as verdict.txt.
    """
    from dossier import api
    from dossier.outputs import output
    from dossier.reading import other_languages

    with output.reported(out):
        output.refuse_what_is_not_empty(out)
    found = api.validate(**other_languages.arguments(arguments))
    frames = {"estimates.csv": found.to_frame(), "claims.csv": found.to_frame("claims")}
    files = {name: frame.to_csv(index=False, lineterminator="\n").encode() for name, frame in frames.items()}
    files |= {"results.json": found.results.text(), "verdict.txt": found.verdict.encode()}
    _print(*output.write_new(out, files))


@dossier.command(short_help="Draw the figures of a dossier as files.")
@click.argument("results_file", metavar="OUT", type=PLACE)
@_options("out_of_figures", "kind", "dpi", "figures", "replace_files")
def figures(results_file: Path, out: Path | None, kind: Kind, dpi: int, names: tuple[str, ...], replace: bool) -> None:
    """Draw every figure of a dossier as a file for a paper, from its results.json alone: the same bytes each time.

    OUT is a dossier that was built, which stays as it is, or its results.json.
    """
    from dossier.outputs import output, printing
    from dossier.record import results

    read = results.opened(results_file)
    place = out or output.place_beside(results_file if results_file.is_dir() else results_file.parent, "figures")
    drawn = printing.figures(read, kind, dpi, names)
    _print(*output.write_again({place / name: figure for name, figure in drawn.items()}, replace))


@dossier.command(short_help="Write a table of a dossier as a file.")
@click.argument("results_file", metavar="OUT", type=PLACE)
@click.argument("name", metavar="NAME")
@_options("out_of_table")
def table(results_file: Path, name: str, out: Path) -> None:
    """Write a table of a dossier with the cells of its page: checklist, key_results, claims, criteria and others.

    OUT is a dossier that was built, which stays as it is, or its results.json. A NAME that is none lists all.
    """
    from dossier import api
    from dossier.core.faults.locations import Option
    from dossier.outputs import single
    from dossier.reading.faults import not_a_choice

    found = api.read_results(results_file)
    if name not in found.tables:
        raise not_a_choice(Option("NAME"), "NAME", name, found.tables)
    if out.suffix.lower() not in single.TABLES:
        raise not_a_choice(Option("-o"), "The ending of -o", out.suffix, single.TABLES)
    _print(found.table(name).save(out))


@dossier.command(short_help="Print the JSON Schemas.")
def schema() -> None:
    """Print the JSON Schemas of results.json, of release.toml and of what --json prints."""
    from dossier.command_line import check as checking
    from dossier.command_line import outcome
    from dossier.core import release as declared
    from dossier.record import results

    schemas = {
        "results.json": results.schema(),
        "release.toml": declared.schema(),
        "dossier check --json": checking.schema(),
        "dossier build --json, dossier verify --json": outcome.Outcome.model_json_schema(mode="serialization"),
    }
    _print_json(schemas)


@dossier.command(short_help="Compare a dossier with its results.")
@click.argument("out", metavar="OUT", type=PLACE)
@_options("release", "roots", "self_signed", "required", "hashes_only", "as_json", "allow_outside")
def verify(
    out: Path,
    release: Path | None,
    roots: tuple[Path, ...],
    self_signed: bool,
    required: bool,
    hashes_only: bool,
    as_json: bool,
    allow_outside: bool,
) -> int:
    """Compare every file of a dossier with its manifest, and with what its results print.

    Everything is printed again from results.json, and every byte compared. OUT is a folder that dossier build has
    written. Exit code 4 where something differs, or where the versions of this machine print other bytes.

    A manifest says nothing about who made the dossier, and nothing that it says is run. With --release the dossier is
    built again, and every byte compared. With --trust the signatures of OUT/signed count that an authority of yours
    vouches for; no network is asked. With --require-signatories each person of [[signatory]] must be among them, or
    somebody where the release names nobody: exit code 5.
    """
    from dossier.core.errors import ReleaseError
    from dossier.core.faults.locations import Option
    from dossier.outputs import output
    from dossier.outputs import verify as verification
    from dossier.record import results
    from dossier.report.chapters import acceptance
    from dossier.signing import signed
    from dossier.words.wording import counted

    if hashes_only and release is not None:
        raise click.UsageError("--release builds and prints everything again, and --hashes-only nothing: give one.")
    if (self_signed or required) and not roots:
        raise click.UsageError("--self-signed and --require-signatories need whom you trust: give --trust too.")
    with _documented("verify", as_json) as outcome:
        if release is not None and not release.exists():
            raise ReleaseError.one("no_release", Option("--release"), path=str(release))
        trust = signed.Trust(roots, self_signed)
        signed.refuse_no_roots(trust)
        with output.unchanged(out):
            first = verification.report(out, hashes_only)
            signatures = signed.found(out, trust)
            reports = [first, verification.Report(tuple(signatures.lines()), signatures.differences)]
            if release is not None:
                reports.append(verification.inputs(out, release))
                # A command that is none is reported first. Other inputs give another dossier, or none.
                command = verification.asked_for(out)
                if command is not None and not first.differences and not reports[-1].differences:
                    reports.append(_rebuilt(out, release, command, allow_outside))
        outcome.says += [text for report in reports for text in report.checked]
        if release is None:
            outcome.says.append("inputs and rebuild: not checked, no release was given")
        outcome.differences += [text for report in reports for text in report.differences]
        outcome.fails += signatures.lacking() if required else ()
        # That nothing is signed is a difference by itself: it has the code of what was asked for.
        if outcome.fails and outcome.differences == list(() if signatures.signatures else signatures.differences):
            outcome.exit_code = UNSIGNED
        elif outcome.differences:
            outcome.says.append(f"{counted(len(outcome.differences), 'difference')}.")
            outcome.exit_code = DIFFERS
        else:
            outcome.says += verification.conclusion(first, release is not None, signatures.by_trusted())
        if not outcome.differences:
            evidence = results.opened(out).evidence
            outcome.verdict, outcome.flags = acceptance.verdict_of_all(evidence), len(evidence.flags)
    _tell(*(f"differs: {text}" for text in outcome.differences), *(f"required: {text}" for text in outcome.fails))
    return outcome.exit_code


@dossier.command(short_help="Sign a dossier.")
@click.argument("out", metavar="OUT", type=PLACE)
@_options("meaning", "pkcs12", "pkcs11", "token", "key", "tsa", "self_signed_signer", "password_fd")
@_options("hashes_only_before")
def sign(
    out: Path,
    meaning: str,
    pkcs12: Path | None,
    pkcs11: Path | None,
    token: str | None,
    key: str | None,
    tsa: str | None,
    self_signed: bool,
    password_fd: int | None,
    hashes_only: bool,
) -> None:
    """Sign the PDFs, the results and the manifest of a dossier: copies and signatures go into OUT/signed.

    OUT is verified first. The password, or the PIN, comes from the variable DOSSIER_PASSWORD, from a file descriptor,
    or from you, and never from an argument. docs/trust.md says what a signature means.
    """
    from dossier.outputs import output
    from dossier.signing import sign as signing

    if (pkcs12 is None) == (pkcs11 is None):
        raise click.UsageError("Give --pkcs12 with a file, or --pkcs11 with the library of a token.")
    if pkcs11 is not None and not (token and key):
        raise click.UsageError("A token needs --token and --key, the labels of the token and of the key on it.")
    if tsa is not None and not tsa.startswith(("https://", "http://")):
        raise click.BadParameter("It is no address of the web.", param_hint="--tsa")
    with output.held(out):
        signing.refuse_unsound(out, meaning, hashes_only)
        password = _password(password_fd)
        if pkcs12 is not None:
            own: signing.KeyFile | signing.Token = signing.KeyFile(pkcs12, password)
        else:
            own = signing.Token(pkcs11 or Path(), token or "", key or "", password)
        made = signing.signatures(out, signing.Request(meaning, own, tsa, self_signed))
        _print(*output.write_signatures(out, made))


def _password(descriptor: int | None) -> str:
    """The password of a key, which stands in no argument, and in no variable of a process that we start."""
    given = os.environ.pop("DOSSIER_PASSWORD", None)
    if descriptor is not None:
        try:
            with os.fdopen(descriptor, encoding="utf-8") as stream:
                return stream.readline(LONGEST_PASSWORD).rstrip("\n")
        except (OSError, UnicodeDecodeError):
            raise click.BadParameter("Nothing can be read from it.", param_hint="--password-fd") from None
    if given is not None:
        return given
    if sys.stdin is None or not sys.stdin.isatty():
        raise click.UsageError("There is no terminal to ask for the password: give DOSSIER_PASSWORD or --password-fd.")
    return str(click.prompt("Password or PIN", hide_input=True, default="", show_default=False, err=True))


def _rebuilt(out: Path, release: Path, command: Build | Quick, allow_outside: bool) -> Report:
    """The dossier against a second build by its own command, in a folder that is gone afterwards."""
    import tempfile

    from dossier.core.errors import DataError, ReleaseError
    from dossier.outputs import verify as verification

    with tempfile.TemporaryDirectory() as folder:
        again = Path(folder) / "out"
        try:
            _made(release, command, Options(again, None, True, allow_outside=allow_outside, recorded=False))
        except (ReleaseError, DataError) as error:
            if any(fault.code == "file_outside_not_allowed" for fault in error.faults):
                raise  # nothing differs: what was asked lacks an option
            what = f"the command in manifest.json builds nothing from this release: {error.faults[0].what}"
            return verification.Report((), (what,))
        return verification.rebuilt(out, again)


# ---- the job --------------------------------------------------------------------------------------------------------


def _refuse_half_a_cluster(backend: str, scheduler: str | None, trusted: bool) -> None:
    from dossier.core.errors import WorkerError
    from dossier.core.faults.locations import Option

    if backend == "dask":
        if scheduler is None:
            raise WorkerError.one("no_scheduler_named", Option("--scheduler"))
        from dossier.evaluate import cluster

        cluster.refuse_untrusted(scheduler, trusted)
    elif scheduler is not None or trusted:
        raise WorkerError.one("backend_without_scheduler", Option("--scheduler"), backend=backend)


def _flags_named(names: str) -> frozenset[str]:
    """The flags and claims of --fail-on; a name that is neither is refused with the nearest."""
    from dossier.core import claims, flags
    from dossier.core.errors import Fault, ReleaseError
    from dossier.core.faults.locations import Option
    from dossier.reading.faults import nearest

    known = (*flags.FLAGS, *sorted(claims.NAMED))
    named = frozenset(name.strip() for name in names.split(",") if name.strip())
    unknown = sorted(named.difference(known))
    where = Option("--fail-on")
    faults = [
        Fault("not_a_claim", where, name=name, known=claims.QUESTIONS, near=nearest(name, known))
        if ":" in name
        else Fault("not_a_flag", where, name=name, known=tuple(flags.FLAGS), near=nearest(name, known))
        for name in unknown
    ]
    ReleaseError.raise_for(faults)
    return named


def _judge(evidence: Evidence, strict: bool, failing: frozenset[str], junit: Path | None, outcome: Outcome) -> None:
    """The verdict and the exit code of a dossier that is built, and what keeps it from 0."""
    from dossier.outputs import junit as report
    from dossier.outputs import output
    from dossier.report.chapters import acceptance

    cases = report.cases(evidence, report.Demands(strict, failing))
    outcome.verdict, outcome.flags = acceptance.verdict_of_all(evidence), len(evidence.flags)
    outcome.fails += [case.says for case in cases if case.status == "fails"]
    outcome.exit_code = NOT_MET if outcome.fails else DONE
    if junit is not None:
        output.write_report(junit, report.text(cases))
        outcome.written.append(str(junit))
    _tell(*outcome.fails)


@contextmanager
def _documented(command: Literal["build", "verify"], as_json: bool) -> Iterator[Outcome]:
    """What a command came to, which is printed, as JSON where that is asked, also where a fault ends it."""
    from dossier.command_line import check, outcome
    from dossier.core.errors import DossierError, PageError

    found = outcome.Outcome(command=command)
    try:
        yield found
    except PageError:
        raise
    except DossierError as error:
        found.faults += map(check.fault_of, error.faults)
        found.exit_code = BAD_INPUT
        raise
    finally:
        if not as_json:
            _print(*found.written, *found.says)
        elif found.faults or not sys.exc_info()[0]:
            _print_json(found.model_dump())


def _print_json(document: object) -> None:
    import json

    _print(*json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False).splitlines())


def _made(source: Path, command: Build | Quick, options: Options) -> tuple[Evidence, tuple[Path, ...]]:
    """The whole job: read, evaluate, draw, print, and only then write."""
    from dossier.core.contents import file_of
    from dossier.outputs import output

    # Who wants to keep another edition can still stop.
    said = output.leaving(options.out, [file_of(edition) for edition in command.editions], (".pdf", ".html"))
    _say_what_leaves(options.out, said, "To be removed from")
    with _progress(options.quiet) as tell:
        tell("read", "tables", 0, 1)
        study, command = _read(source, command, options.allow_outside)
        # Only now: what is wrong with a release is reported before all that it takes to print it is loaded.
        from dossier import evaluate
        from dossier.outputs import printing
        from dossier.record import results

        tell("read", "tables", 1, 1)
        if study.ledger is not None and options.recorded:
            output.refuse_as_ledger(Path(study.ledger.path), options.out)
        jobs = _jobs(options.jobs, [dataset.rows_read for dataset in study.datasets], len(command.editions))
        with _workers(jobs):
            tell("evaluate", "", 0, 1)
            found = evaluate.evidence(study, jobs, tell, options.scheduler)
            evidence, files = printing.printed(results.of(found), command, jobs, tell, ours=True)
            said_of_counts, beside = printing.beside(options.out, evidence, found, files[results.RESULTS], command.page)
        leaving = output.leaving(options.out, files)
        written = output.write(options.out, files, options.replace, beside if options.recorded else None)
    _say_what_leaves(options.out, [name for name in leaving if name not in said], "Removed from")
    if said_of_counts and options.recorded:
        _tell(said_of_counts)
    return evidence, written


def _read(source: Path, command: Build | Quick, allow_outside: bool) -> tuple[Study, Build | Quick]:
    """The study that a command is about, and the command with the local site under the name of its dataset."""
    from dossier import reading
    from dossier.core.command import Build
    from dossier.reading import local_site

    if isinstance(command, Build):
        study = _seeded(reading.study(source, allow_outside), command.seed)
        if command.local_site is not None:
            command = replace(command, local_site=local_site.of_study(study, command.local_site))
        return study, command
    found = replace(reading.given({source.name: "external"}, source.parent, command), declared=False)
    return _seeded(found, command.seed), replace(command, name=found.release.release.model)


def _say_what_leaves(out: Path, names: Sequence[str], how: str) -> None:
    """Name the files of an older dossier that the new one has no place for."""
    from dossier.words.wording import listed

    if names:
        _tell(f"{how} {out}, for this build does not make it: {listed(names, 5)}.")


def _seeded(study: Study, seed: int | None) -> Study:
    """The study with the seed of the command line, when it gives one."""
    if seed is None:
        return study
    card = study.release.release.model_copy(update={"seed": seed})
    return replace(study, release=study.release.model_copy(update={"release": card}))


# ---- workers --------------------------------------------------------------------------------------------------------


def _jobs(wanted: int | None, rows: Sequence[int], editions: int, copied: bool = False) -> int:
    """As many workers as are wanted, but none without a task; unasked, only so many as save more than they cost.

    Each that is no copy loads the whole program first: as long as the rows are few, one process is done sooner.
    """
    import joblib

    busy = sum(count // ROWS_WORTH_A_WORKER for count in rows)
    if wanted is None:
        return min(int(joblib.cpu_count()), editions if copied else 1 + busy)
    return min(wanted, max(len(rows) + busy, editions))


@contextmanager
def _workers(jobs: int, copied: bool = False) -> Iterator[None]:
    """Workers that leave an interruption to us, and that end when we are killed; or copies of this process as such."""
    from concurrent.futures.process import BrokenProcessPool

    import joblib
    from joblib.externals.loky.backend import context

    from dossier.core.errors import WorkerError

    try:
        with joblib.parallel_config(
            backend="loky",
            initializer=_start_worker,
            initargs=(os.getpid(),),
            idle_worker_timeout=SECONDS_IDLE,
            # Without this joblib lays large arrays into /dev/shm, where rows of patients outlive whoever is killed.
            max_nbytes=None,
        ):
            if copied:
                # They have loaded and read what we have. The warning is of threads, and there is one.
                warnings.filterwarnings("ignore", "`fork` start method", UserWarning)
                context.set_start_method("fork", force=True)
            if jobs > 1:
                _start_workers(jobs)
            yield
    except BrokenProcessPool:
        # Ctrl-C ends workers as well, and is reported as what it is.
        if STOPPED.is_set():
            raise
        from dossier.core.faults.locations import Option

        raise WorkerError.one("worker_ended", Option("--jobs")) from None


def _start_workers(jobs: int) -> None:
    """Start all workers, which ignore Ctrl-C: it goes to every process of the terminal, and only the first speaks."""
    import multiprocessing.resource_tracker

    import joblib
    from joblib.externals.loky.backend import resource_tracker

    # Both trackers reset the handler when they start; they start first. Those that are started here clear up after a
    # killed worker without a word: what happened is reported by us.
    os.environ["PYTHONWARNINGS"] = "ignore:resource_tracker:UserWarning"
    try:
        multiprocessing.resource_tracker.ensure_running()
        resource_tracker.ensure_running()
    finally:
        del os.environ["PYTHONWARNINGS"]
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
    # Where not, it looks for garbage among all that is loaded after every second of work.
    process_executor._MEMORY_LEAK_CHECK_DELAY = float("inf")
    gc.freeze()
    # A copy has ours.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    """End this worker when its parent is gone; a killed parent cannot end it."""
    while os.getppid() == parent:
        time.sleep(SECONDS_BETWEEN_LOOKS)
    os._exit(INTERRUPTED)


# ---- what is said ---------------------------------------------------------------------------------------------------


@contextmanager
def _progress(quiet: bool) -> Iterator[Progress]:
    """Stage, site, group of measures and the time left on a terminal; elsewhere a line every ten seconds."""
    if quiet or sys.stderr is None:
        yield lambda stage, name, done, total: None
        return
    if not sys.stderr.isatty():
        from dossier.command_line import progress

        with progress.lines(_tell) as tell:
            yield tell
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskProgressColumn, TextColumn
    from rich.progress import TimeElapsedColumn as Elapsed
    from rich.text import Text

    from dossier.command_line.terminal import unguarded, visible

    class Left(ProgressColumn):
        """Drawn anew between two steps, so that the seconds run down."""

        def render(self, task: Task) -> Text:
            share = task.completed / task.total if task.total else 0.0
            return Text(time_left(share, task.fields["at"], task.elapsed or 0.0))

    columns = (
        TextColumn("{task.description:<9}"),
        BarColumn(10),
        TaskProgressColumn(),
        Elapsed(),
        Left(),
        TextColumn("{task.fields[site]}", markup=False),
    )
    console = Console(file=unguarded(sys.stderr))
    with Progress(*columns, console=console, redirect_stdout=False, redirect_stderr=False) as bars:
        tasks: dict[str, Any] = {}

        def drawn(stage: str, name: str, done: int, total: int) -> None:
            name = visible(name)
            if stage not in tasks:
                tasks[stage] = bars.add_task(stage, total=total, site=name, at=0.0)
            at = bars.tasks[tasks[stage]].elapsed or 0.0
            bars.update(tasks[stage], completed=done, total=total, site=name, at=at)

        yield drawn


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


def _print(*lines: object) -> None:
    """Lines of standard output."""
    _write(sys.stdout, *map(str, lines))


def _tell(*lines: str) -> None:
    """Lines of standard error."""
    _write(sys.stderr, *lines)


def _write(stream: TextIO | None, *lines: str) -> None:
    """The only place that prints: a line is one line, whatever names are in it."""
    from dossier.command_line.terminal import visible

    if stream is not None:
        for line in lines:
            stream.write(f"{visible(line)}\n")
            stream.flush()


def _refused(error: OSError) -> None:
    """Report that standard output takes no more; where its reader has gone (`| head -1`), the work goes on."""
    from dossier.core.errors import OutputError
    from dossier.core.faults.locations import StandardOutput

    if not isinstance(error, BrokenPipeError):
        reason = (error.strerror or type(error).__name__).lower()
        raise OutputError.one("standard_output", StandardOutput(), reason=reason) from None


def _say(faults: Sequence[Fault]) -> None:
    from dossier.core import errors

    _tell(*errors.lines_of(faults))
    if len(faults) > 1:
        _tell(f"{len(faults)} faults.")


def _say_usage(error: click.ClickException) -> None:
    """What click itself would say of wrong arguments, which may be names of files; where there are none, the usage."""
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        _tell(*error.format_message().splitlines())
        return
    if isinstance(error, click.UsageError) and error.ctx is not None:
        _tell(*error.ctx.get_usage().splitlines(), f"Try '{error.ctx.command_path} -h' for help.", "")
    _tell(f"Error: {error.format_message()}")


def main() -> None:
    """Run the command line: a fault of the user's is reported without a traceback, an interruption ends with 130."""
    _guard_what_is_said()
    _listen()
    try:
        sys.exit(_answer())
    except (click.Abort, KeyboardInterrupt):
        pass
    except Exception:
        # An interruption while a library is imported or a worker starts can come out as another error.
        if not STOPPED.is_set():
            raise
    _tell("Interrupted.")
    sys.exit(INTERRUPTED)


def _answer() -> int:
    """Do what the arguments say, and tell what the user can mend."""
    from dossier.core.errors import DossierError, PageError

    try:
        _refuse_bad_surroundings()
        code = dossier.main(standalone_mode=False)
    except click.ClickException as error:
        _say_usage(error)
        return BAD_INPUT
    except PageError:
        # Templates and styles are ours: this is no fault of the user's, and the traceback belongs to it.
        raise
    except DossierError as error:
        _say(error.faults)
        return BAD_INPUT
    except MemoryError:
        from dossier.core.errors import Fault
        from dossier.core.faults.locations import Memory

        _say([Fault("memory_ran_out", Memory())])
        return BAD_INPUT
    except OSError as error:
        # Not above: it imports numpy, for which --help should not wait.
        from dossier.outputs import output

        refused = output.refused(error)
        if refused is None:
            raise
        _say(refused.faults)
        return BAD_INPUT
    return code if isinstance(code, int) else DONE


def _refuse_bad_surroundings() -> None:
    """Say that a limit is too low for the libraries, which end the process where they cannot map a file or a thread."""
    from dossier.core.errors import ReleaseError
    from dossier.core.faults.locations import File, Option

    for limit, kind, needed, unit, noun in LEAST:
        given, _ = resource.getrlimit(kind)
        if given != resource.RLIM_INFINITY and given < needed * unit:
            at, rounded = Option(f"ulimit {limit}"), round(given / unit, 1)
            raise ReleaseError.one("low_limit", at, limit=limit, needed=needed, given=rounded, noun=noun)
    try:
        os.getcwd()  # noqa: PTH109
    except FileNotFoundError:
        raise ReleaseError.one("no_current_folder", File(os.curdir)) from None


def _guard_what_is_said() -> None:
    """Let nothing be printed that a terminal obeys; a name that its encoding does not know is no reason to fail."""
    from dossier.command_line.terminal import Guarded

    if sys.stdout is not None and hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")
    # A fault that standard error does not take is nowhere to be reported; the exit code says that there is one.
    for name, refused in (("stdout", _refused), ("stderr", lambda error: None)):
        stream = getattr(sys, name)
        if stream is not None and not isinstance(stream, Guarded):
            setattr(sys, name, Guarded(stream, refused))


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
    STOPPED.set()
    warnings.simplefilter("ignore")
    threading.excepthook = lambda failure: None
