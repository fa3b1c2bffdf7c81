"""Releases that are evaluated and printed once a session, and evidence made by hand."""

from __future__ import annotations

import dataclasses
import fcntl
import gc
import hashlib
import json
import pickle
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from dossier import evaluate, reading
from dossier.core import limited, types
from dossier.core.contents import Edition
from dossier.core.facts import Method
from dossier.core.register import fill
from dossier.core.types import RIVAL, Absent, Document, Estimate, Evidence, Gallery, Result, Study, Term
from dossier.record import results, versions
from dossier.report import compose, draw, press, screen
from dossier.typeset.numbers import plain
from tests.canaries import plant
from tests.figures.evidence import THRESHOLD, Case
from tests.figures.evidence import evidence as drawn_evidence
from tests.reasons import because
from tests.reference import built, tables
from tests.reference.built import hurried

gc.set_threshold(20_000, 10, 10)
"""As many objects, not 700, between two looks for rubbish, which took a sixth of the time of all tests."""
ROOT = Path(__file__).resolve().parent.parent
RELEASES = {
    "knee": ROOT / "fixtures" / "knee",
    "breast": ROOT / "fixtures" / "breast",
    "biopsy": ROOT / "fixtures" / "biopsy",
    "relapse": ROOT / "fixtures" / "relapse",
    "covid": ROOT / "tests" / "releases" / "covid",
    "heart": ROOT / "tests" / "releases" / "heart",
}


# ---- evidence that workers share ------------------------------------------------------------------------------------

KEPT = ROOT / ".pytest_cache" / "evidence"


def kept(name: str, what: str, make: Callable[[], bytes]) -> bytes:
    """What is made of a release, its results.json, figures or pages, by the first of all workers and runs.

    It is made anew when a file of the code or of the release is another, or the version of a package.
    """
    KEPT.mkdir(parents=True, exist_ok=True)
    with (KEPT / f"{name}-{what}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        path = KEPT / f"{name}-{_depends_on(name)}-{what}"
        if not path.is_file():
            content = make()
            for old in KEPT.glob(f"{name}-*-{what}"):
                old.unlink()
            path.write_bytes(content)
        return path.read_bytes()


def held(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, with what it holds."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@cache
def _depends_on(name: str) -> str:
    """A hash of all that a release is evaluated and printed from."""
    code = (ROOT / folder for folder in ("dossier", "templates", "styles"))
    folders = [*code, RELEASES.get(name, RELEASES["breast"])]
    files = [path for folder in folders for path in folder.rglob("*") if path.suffix != ".pyc"]
    files += [Path(__file__), Path(built.__file__)]
    known = hashlib.sha256(repr((sys.version, sorted(versions.installed().items()))).encode())
    for path in sorted(path for path in files if path.is_file()):
        known.update(f"{path}\n".encode() + hashlib.sha256(path.read_bytes()).digest())
    return known.hexdigest()[:32]


PDFS = {"dossier-regulatory.pdf": b"%PDF-1.7"}
"""What a file for the screen is told to stand beside, where nobody prints it."""


# ---- releases that are printed --------------------------------------------------------------------------------------


@dataclass
class Book:
    """A release on its way to the paper; each stage runs when it is first asked for, and once."""

    name: str
    folder: Path
    _made: dict[tuple[str, ...], Any] = field(default_factory=dict)

    def _once(self, *what: str, make: Callable[[], Any]) -> Any:
        """What a stage gave. A stage that fails is not tried again: a hundred tests would wait for the same fault."""
        if what not in self._made:
            try:
                self._made[what] = make()
            except Exception as fault:
                self._made[what] = fault
                raise
        made = self._made[what]
        if isinstance(made, Exception):
            pytest.fail(f"{self.name}: {' '.join(what)} failed before: {type(made).__name__}: {made}")
        return made

    @property
    def evidence(self) -> Evidence:
        """The evidence, with few resamples: how often one draws moves no word and no line of a page."""
        evidence: Evidence = self._once("evidence", make=self._evidence)
        return evidence

    def _evidence(self) -> Evidence:
        made = kept(self.name, "results.json", lambda: results.of(self.evaluated).text())
        return results.read(made).evidence

    @property
    def evaluated(self) -> Evidence:
        """The evidence as `evaluate` gave it to this process, for those who ask what a file does to it."""
        evidence: Evidence = self._once("evaluated", make=self._evaluated)
        return evidence

    def _evaluated(self) -> Evidence:
        return evaluate.evidence(hurried(reading.study(RELEASES[self.name]), bootstrap=20, permutations=19))

    @property
    def results(self) -> dict[str, Any]:
        """What a program reads: results.json."""
        found: dict[str, Any] = self._once("results", make=lambda: json.loads(results.of(self.evidence).text()))
        return found

    @property
    def gallery(self) -> Gallery:
        """The evidence with its figures."""
        gallery: Gallery = self._once("gallery", make=self._gallery)
        return gallery

    def _gallery(self) -> Gallery:
        def drawn() -> bytes:
            made = draw.gallery(self.evidence)
            return pickle.dumps((dict(made.pictures), dict(made.absent)))

        return Gallery(self.evidence, *pickle.loads(kept(self.name, "figures", drawn)))

    def html(self, edition: Edition, page: str = "a4") -> str:
        """The words of an edition, before the press, without what keeps names on one line."""
        return plain(self.document(edition, page).html)

    def document(self, edition: Edition, page: str = "a4") -> Document:
        """An edition before the press."""
        document: Document = self._once(
            "document", edition, page, make=lambda: compose.document(self.gallery, edition, page)
        )
        return document

    @property
    def screen(self) -> str:
        """The file for the screen."""
        made: bytes = self._once(
            "screen", make=lambda: screen.page(self.gallery, results.of(self.evidence).text(), pdfs=PDFS)
        )
        return made.decode()

    def pdf(self, edition: Edition, page: str = "a4") -> Path:
        """The file of a printed edition."""
        path: Path = self._once("pdf", edition, page, make=lambda: self._pdf(edition, page))
        return path

    def _pdf(self, edition: Edition, page: str) -> Path:
        path = self.folder / f"{self.name}-{edition}-{page}.pdf"
        made = kept(self.name, f"{edition}-{page}.pdf", lambda: press.pdf(self.document(edition, page)))
        path.write_bytes(made)
        return path


@pytest.fixture(scope="session")
def books(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Book]:
    """Every release, none of them printed yet."""
    folder = tmp_path_factory.mktemp("books")
    return {name: Book(name, folder) for name in RELEASES}


@pytest.fixture(scope="session", params=["knee", "breast", "covid"])
def book(request: pytest.FixtureRequest, books: dict[str, Book]) -> Book:
    """Each release whose pages are looked at one by one."""
    return books[request.param]


SLOW = """
bench/coverage bench/fuzz bench/mutation figures/every_figure figures/figures figures/readers metrics/committee
metrics/updating_simulated reference/expected_values acceptance alterations attacks audit browser check cli cluster
clusters committee compose conformance determinism disclosure hostile installation interruptions ledger library load
neighbours notebook own_chapters pages protected r recipes released_again reprinting results room safe_path screen
seal shared_counts sign single subgroups times_protected two_versions updating verify versions_simulated wheel
witnesses
"""
"""The files that print whole books, start processes or simulate, beside single tests that are marked so: `make test`
leaves them to `make test-all`."""


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out the files that `make test` leaves out whole: importing them takes every worker seconds."""
    return True if config.option.markexpr == "not slow" and _is_slow(collection_path) else None


def _is_slow(file: Path) -> bool:
    """Whether all tests of a file are slow."""
    return f"{file.relative_to(Path(__file__).parent).with_suffix('')}".replace("test_", "") in SLOW.split()


def pytest_report_header() -> list[str]:
    """What this run leaves out, and how to run it."""
    named = " and ".join(sorted(tables.lacking()))
    return [f"left out: tests on the tables of {named}, which may not travel; make tables FROM=DIR"] if named else []


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what is slow, and leave out what needs a table that may not travel and is not there."""
    for item in items:
        if _is_slow(item.path):
            item.add_marker(pytest.mark.slow)
    left_out = [item for item in items if _tables(item) & tables.lacking()]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in set(left_out)]


def pytest_collection_finish() -> None:
    """Look for no rubbish among the modules and the tests themselves, some millions of objects that stay."""
    gc.freeze()


def _tables(item: pytest.Item) -> frozenset[str]:
    """The tables that a test says it needs: by its mark, by a fixture, by the release that it is given."""
    named = {str(name) for mark in item.iter_markers("tables") for name in mark.args}
    if isinstance(item, pytest.Function):
        given = item.callspec.params.values() if hasattr(item, "callspec") else ()
        parts = (part for value in given for part in (value if isinstance(value, tuple) else (value,)))
        named |= {*item.fixturenames, *(part for part in parts if isinstance(part, str))}
    return frozenset(named)


@pytest.fixture(scope="session", params=list(RELEASES))
def any_book(request: pytest.FixtureRequest, books: dict[str, Book]) -> Book:
    """Each release, also those of which only the committee edition is printed."""
    return books[request.param]


@pytest.fixture(scope="session")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """Six datasets under a policy, with a rival, readers, two columns of subgroups and small cells in every table."""
    folder = tmp_path_factory.mktemp("planted") / "release"
    plant(folder, "[disclosure]\nminimum_cell = 10\n")
    return reading.study(folder)


@pytest.fixture(scope="session")
def knee(books: dict[str, Book]) -> Book:
    """The simulated release: every key that is built."""
    return books["knee"]


@pytest.fixture(scope="session")
def breast(books: dict[str, Book]) -> Book:
    """The real release that ships."""
    return books["breast"]


class Protected(Book):
    """A real release under a policy that protects small counts."""

    def _evidence(self) -> Evidence:
        return results.read(results.of(self.evaluated).text()).evidence

    def _evaluated(self) -> Evidence:
        shutil.copytree(RELEASES["breast"], self.folder / self.name)
        with (self.folder / self.name / "release.toml").open("a") as declared:
            declared.write("\n[disclosure]\nminimum_cell = 10\n")
        return evaluate.evidence(built.hurried(reading.study(self.folder / self.name), bootstrap=20, permutations=19))


@pytest.fixture(scope="session")
def protected(tmp_path_factory: pytest.TempPathFactory) -> Book:
    """It, as its file of results gives it."""
    return Protected("protected", tmp_path_factory.mktemp("protected"))


@pytest.fixture(scope="session")
def covid(books: dict[str, Book]) -> Book:
    """The eight hospitals of the COVID-19 study."""
    return books["covid"]


READING = frozenset(
    {
        *("test_formats.py", "test_load.py", "test_isolation.py", "test_hostile.py", "test_release.py"),
        *("test_faults.py", "test_readers_tables.py"),
    }
)
"""Files whose tests read tables of a few rows and show nothing of them."""


@pytest.fixture(scope="module", autouse=True)
def tables_of_few_rows(request: pytest.FixtureRequest) -> Iterator[None]:
    """Let tests of reading read them; that a release of so few patients is refused stands in test_few_patients.py.

    The other quick tests read in this process: some thousand copies of the one that reads take a tenth of all time.
    """
    with pytest.MonkeyPatch.context() as patch:
        if request.path.name in READING:
            patch.setattr(types, "FEWEST_PATIENTS", 1)
        elif request.config.option.markexpr == "not slow":
            patch.setattr(limited, "asked", _answered_here)
        yield


def _answered_here(function: str, arguments: Sequence[Any], content: bytes = b"", **_: object) -> list[limited.Answer]:
    """What the process that reads files answers, by the same JSON and bytes."""
    answers = limited._named(function)(content, *arguments)
    return [(json.loads(json.dumps(said)), bytearray(body)) for said, body in answers]


def tool(*command: str | Path) -> str:
    """What one of Poppler's tools says about a PDF."""
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=True).stdout


# ---- evidence made by hand ------------------------------------------------------------------------------------------


def terms() -> dict[str, Term]:
    """What the measures are called."""
    register = fill("metrics")
    return {name: entry.term for name, entry in (register.metrics | register.syntheses).items()}


MORE: tuple[tuple[str, dict[str, float | str], float], ...] = (
    ("calibration_slope", {}, 1.1),
    ("sensitivity", {"threshold": THRESHOLD}, 0.7),
    ("specificity", {"threshold": THRESHOLD}, 0.8),
    ("h_accuracy", {"priority": 0.5, "tau": 0.5, "complexity": "constant"}, 0.75),
    ("h_accuracy", {"priority": 0.5, "tau": 1.0, "complexity": "constant"}, 0.5),
    ("auroc_difference", {"against": RIVAL}, 0.05),
    ("spr", {"measure": "auroc"}, 0.42),
    ("wpr", {"measure": "auroc", "minimum": "declared"}, 0.9),
    ("degree_of_correspondence", {}, 0.2),
)
"""What the evidence of the figures leaves out, at every site a hundredth higher than at the one before."""


def by_hand(case: Case, absent: bool = False) -> Evidence:
    """Evidence of a case with every chapter in it; `absent` takes every number away and leaves a reason."""
    drawn, known = drawn_evidence(case), terms()
    results = list(drawn.results)
    for index, site in enumerate(drawn.datasets):
        for name, at, value in MORE:
            shifted = value + index / 100
            found = Estimate(shifted, shifted - 0.04, shifted + 0.04, 0.95, site.n, Method("wald"))
            results.append(Result(name, known[name].measure, site.name, at, found))
    rho = Estimate(0.57, 0.52, 0.61, 0.95, 427, Method("wald"))
    results.append(Result("weighted_concordance", "weighted_concordance", drawn.datasets[0].name, {}, rho))
    if absent:
        results = [
            dataclasses.replace(each, found=Absent(because(f"{each.dataset} has one class only"))) for each in results
        ]
    curves = tuple(
        dataclasses.replace(curve, found=Absent(because(f"{curve.dataset} has one class only"))) if absent else curve
        for curve in drawn.curves
    )
    subgroups = drawn.subgroups
    if absent:
        gone = tuple(
            dataclasses.replace(result, found=Absent(because("too few to tell"))) for result in subgroups.results
        )
        subgroups = dataclasses.replace(subgroups, results=gone, curves=())
    return dataclasses.replace(
        drawn, results=tuple(results), curves=curves, terms=known, versions={"dossier": "0"}, subgroups=subgroups
    )
