"""No module of the current folder, or of a release, is ever imported, by no process of ours."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from dossier.record import versions
from tests.certificates_of_tests import PASSWORD, owner
from tests.smallest import HEAD, QUICK, SITE
from tests.test_cluster import a_cluster

CHECKOUT = Path(__file__).resolve().parents[1]
SCRIPT = (str(Path(sys.executable).with_name("dossier")),)
MODULE = (sys.executable, "-m", "dossier")
TABLE = "north.csv"
SHORT = ("--jobs", "2", "--edition", "committee")

TRAP = """
import os, sys
open(os.path.join({marks!r}, __name__), "w").close()
here, path = os.path.dirname(os.path.realpath(__file__)), sys.path[:]
sys.path[:] = [entry for entry in path if os.path.realpath(entry or ".") != here]
del sys.modules[__name__]
try:
    __import__(__name__)
finally:
    sys.path[:] = path
"""
"""A module that leaves a mark and hands over to the one that it stands in the way of, so that all traps are tried."""

ASKED_FOR = """
import sys
asked = set()
class Finder:
    def find_spec(name, path=None, target=None):
        asked.add(name.partition(".")[0])
sys.meta_path.insert(0, Finder)
before = set(sys.modules)
from dossier.command_line import cli
try:
    cli.dossier.main(sys.argv[1:], standalone_mode=False)
finally:
    print("asked for:", *sorted(asked | {name.partition(".")[0] for name in before}))
"""
"""A build that tells which modules it had and asked for, those in vain too."""


@pytest.fixture(scope="module")
def modules(tmp_path_factory: pytest.TempPathFactory) -> frozenset[str]:
    """The name of every module that a build asks for, that Python brings, or that a package brings."""
    folder = tmp_path_factory.mktemp("modules")
    release(folder)
    words = [sys.executable, "-c", ASKED_FOR, "build", ".", "-o", "out", "--jobs", "1", "--edition", "committee"]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=True)
    asked = set(done.stdout.partition("asked for:")[2].split())
    assert {"joblib", "numpy", "weasyprint", "pypdf", "subprocess"} <= asked | {"pypdf"}
    named = asked | set(sys.stdlib_module_names) | set(packages_distributions())
    return frozenset(name for name in named if name.isidentifier()) - {"dossier", "__main__"}


IMPORTED_AS = {"markdown-it-py": "markdown_it", "fonttools": "fontTools"}


LOADED = """
import sys
from dossier.core.unneeded import Unneeded
sys.meta_path.insert(0, Unneeded())
from dossier.command_line import cli
cli.dossier.main(sys.argv[1:], standalone_mode=False)
print("loaded:", *{name.partition(".")[0] for name in sys.modules})
"""


def test_the_packages_that_a_dossier_names_are_those_that_a_build_uses(tmp_path: Path) -> None:
    release(tmp_path)
    words = [sys.executable, "-c", LOADED, "build", ".", "-o", "out", "--jobs", "1"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True)
    loaded = set(done.stdout.partition("loaded:")[2].split())
    named = {IMPORTED_AS.get(package, package) for package in (*versions.NUMBERS, *versions.PAGES)}
    assert named <= loaded
    checked = subprocess.run([*words[:3], "check", "."], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert not set(checked.stdout.partition("loaded:")[2].split()) & {"pandas", "seaborn"}


@pytest.fixture
def marks(tmp_path: Path) -> Path:
    """The folder in which each module that should not have run leaves its name."""
    folder = tmp_path / "marks"
    folder.mkdir()
    return folder


@pytest.fixture
def trapped(tmp_path: Path, modules: frozenset[str], marks: Path) -> Path:
    """A release beside which a file stands in the way of every module."""
    folder = tmp_path / "release"
    folder.mkdir()
    release(folder)
    for name in modules:
        (folder / f"{name}.py").write_text(TRAP.format(marks=str(marks)))
    return folder


@pytest.fixture
def after_the_start(trapped: Path) -> Path:
    """The same without traps for what Python itself loads before the first line of a program, or of the command.

    Where Python is told to look in the current folder first, these come from there, whatever a program does.
    """
    words = [sys.executable, "-I", "-c", "import re, runpy, sys; print(*sys.modules)"]
    for name in subprocess.run(words, capture_output=True, text=True, check=True).stdout.split():
        (trapped / f"{name}.py").unlink(missing_ok=True)
    assert len(list(trapped.glob("*.py"))) > 200
    return trapped


def release(folder: Path) -> None:
    """Two small tables: enough for two workers."""
    rows = "".join(f"{k % 3 == 0:d},{(k * 7 % 40 + 1) / 42:.3f}\n" for k in range(80))
    for name in ("north", "south"):
        (folder / f"{name}.csv").write_text(f"outcome,risk\n{rows}")
    text = HEAD + QUICK + "".join(SITE.replace("site", name) for name in ("north", "south"))
    (folder / "release.toml").write_text(text)


def run(*words: str, cwd: Path, code: int = 0, **environment: str) -> None:
    """A command that ends as it should, and quickly enough."""
    bare = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        words, cwd=cwd, env=bare | environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == code, done.stderr


def imported(marks: Path) -> set[str]:
    """The traps that ran."""
    found = {path.name for path in marks.iterdir()}
    for path in marks.iterdir():
        path.unlink()
    return found


def test_the_traps_work(trapped: Path, marks: Path) -> None:
    run(sys.executable, "-c", "import joblib, click", cwd=trapped)
    assert {"joblib", "click"} <= imported(marks)


def test_the_command_imports_nothing_of_the_release_that_it_stands_in(trapped: Path, marks: Path) -> None:
    run(*SCRIPT, "check", ".", cwd=trapped)
    run(*SCRIPT, "build", ".", "-o", "../dossiers", *SHORT, cwd=trapped)
    run(*SCRIPT, "verify", "../dossiers", "--release", ".", cwd=trapped)
    run(*SCRIPT, "quick", TABLE, "--outcome", "outcome", "--risk", "risk", "--jobs", "2", "-o", "../quick", cwd=trapped)
    run(*SCRIPT, "verify", "../quick", "--release", TABLE, cwd=trapped)
    assert imported(marks) == set()


def test_nor_do_those_that_seal_print_sign_and_look_at_signatures(trapped: Path, marks: Path) -> None:
    """Each is started in the release."""
    authority = owner("Hospital Authority", authority=True)
    pem, key = authority.pem(trapped.parent / "ca.pem"), owner("Ada", authority).p12(trapped.parent / "ada.p12")
    run(*SCRIPT, "seal", ".", cwd=trapped)
    quick = ("quick", TABLE, "--outcome", "outcome", "--risk", "risk", "--jobs", "1", "-o", "../quick")
    run(*SCRIPT, *quick, cwd=trapped)
    run(*SCRIPT, "print", "../quick/results.json", "-o", "../again", "--jobs", "2", cwd=trapped)
    words = ("sign", "../quick", "--as", "Statistician", "--pkcs12", str(key), "--hashes-only")
    run(*SCRIPT, *words, cwd=trapped, DOSSIER_PASSWORD=PASSWORD)
    run(*SCRIPT, "verify", "../quick", "--trust", str(pem), cwd=trapped)
    assert imported(marks) == set()


def test_nor_does_a_build_whose_work_a_cluster_does(trapped: Path, marks: Path, tmp_path: Path) -> None:
    """Its scheduler and worker stand elsewhere; they hold the rows, and the command reads what they return."""
    folder = tmp_path / "cluster"
    folder.mkdir()
    with contextlib.chdir(folder), a_cluster(folder) as running:
        running.add_worker()
        words = ("--backend", "dask", "--scheduler", running.address, "--trust-scheduler")
        run(*SCRIPT, "build", ".", "-o", "../dossiers", *SHORT, *words, cwd=trapped)
    assert (tmp_path / "dossiers/results.json").exists()
    assert imported(marks) == set()


@pytest.mark.parametrize("flags", [(), ("-E",), ("-I",), ("-P",)], ids=" ".join)
def test_python_m_imports_nothing_of_it_either(after_the_start: Path, marks: Path, flags: tuple[str, ...]) -> None:
    run(sys.executable, *flags, "-m", "dossier", "build", ".", "-o", "../dossiers", *SHORT, cwd=after_the_start)
    assert imported(marks) == set()


@pytest.mark.parametrize("path", ["{link}", "..{sep}release", ".{sep}/nowhere"])
def test_a_python_path_is_read_without_the_current_folder(after_the_start: Path, marks: Path, path: str) -> None:
    link = after_the_start.parent / "link"
    link.symlink_to(after_the_start)
    path = path.format(cwd=after_the_start, link=link, sep=os.pathsep)
    run(*SCRIPT, "build", ".", "-o", "../dossiers", *SHORT, cwd=after_the_start, PYTHONPATH=path)
    assert imported(marks) == set()


@pytest.mark.parametrize("name", ["release", "release/release.toml"])
def test_a_python_path_is_read_without_the_release(after_the_start: Path, marks: Path, name: str) -> None:
    cwd = after_the_start.parent
    run(*SCRIPT, "build", name, "-o", "out", *SHORT, cwd=cwd, PYTHONPATH=str(after_the_start))
    assert imported(marks) == set()


@pytest.mark.parametrize("path", [":", ".", "../release"])
def test_no_module_stands_in_the_way_of_the_command_itself(trapped: Path, marks: Path, path: str) -> None:
    """The one of `make`, whose Python is isolated; as any installer writes it, it is not, and starts one that is."""
    for name in ("dossier", "sitecustomize", "usercustomize"):
        (trapped / f"{name}.py").write_text(TRAP.format(marks=str(marks)))
    run(*SCRIPT, "check", ".", cwd=trapped, PYTHONPATH=path)
    assert imported(marks) == set()


@pytest.mark.parametrize("path", [":", ".", "../release"])
def test_what_an_installer_writes_starts_a_python_that_does_not_look_there(
    after_the_start: Path, marks: Path, path: str
) -> None:
    (after_the_start / "dossier.py").write_text(TRAP.format(marks=str(marks)))
    run(sys.executable, str(CHECKOUT / "bin" / "dossier"), "check", ".", cwd=after_the_start, PYTHONPATH=path)
    assert imported(marks) == set()


@pytest.mark.parametrize(("name", "value"), [("PYTHONOPTIMIZE", "2"), ("PYTHONWARNINGS", "error")])
def test_what_python_is_told_of_docstrings_and_warnings_changes_no_byte(tmp_path: Path, name: str, value: str) -> None:
    release(tmp_path)
    out = ("--jobs", "2", "--edition", "committee")
    run(*SCRIPT, "build", ".", "-o", "../plain", *out, cwd=tmp_path)
    run(*("env", f"{name}={value}", *MODULE, "build", ".", "-o", "../told", *out), cwd=tmp_path)
    plain, told = (tmp_path.parent / folder / "manifest.json" for folder in ("plain", "told"))
    assert plain.read_bytes() == told.read_bytes()


def test_the_library_needs_no_docstring_in_memory() -> None:
    words = [sys.executable, "-OO", "-c", "import dossier; print(dossier.metrics.auroc([0, 1], [0.1, 0.9]).value)"]
    assert subprocess.run(words, cwd="/", capture_output=True, text=True, check=True).stdout == "1.0\n"


LOOKED_FOR = """
import os, sys
from dossier.command_line import safe_path
safe_path.start_again()
print([os.environ.get(name) for name in ("PATH", "LD_LIBRARY_PATH", "PYTHONPATH")], sys.flags.safe_path, os.getpid())
"""


def test_programs_and_libraries_are_not_looked_for_in_it_either(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("")
    searched = f":/nowhere:.:{tmp_path}:{CHECKOUT}"
    with subprocess.Popen(
        [sys.executable, "-c", LOOKED_FOR, "quick", f"--table={tmp_path / 'table.csv'}"],
        cwd=tmp_path.parent,
        env={"PATH": f"/usr/bin:{tmp_path.parent}", "LD_LIBRARY_PATH": searched, "PYTHONPATH": searched},
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        said, _ = process.communicate(timeout=60)
    kept = ["/usr/bin", f"/nowhere:{CHECKOUT}", f"/nowhere:{CHECKOUT}"]
    assert said.split("\n")[0] == f"{kept} True {process.pid}"


def test_the_checkout_may_be_the_current_folder(tmp_path: Path) -> None:
    release(tmp_path)
    run(*MODULE, "check", str(tmp_path), cwd=CHECKOUT, PYTHONPATH=str(CHECKOUT))


READ_BY_OTHERS = (
    *("MPLBACKEND", "JOBLIB_MULTIPROCESSING", "JOBLIB_START_METHOD", "LOKY_MAX_CPU_COUNT", "LOKY_PICKLER"),
    *("PYTHONUTF8", "PYTHONHASHSEED", "PYTHONMALLOC", "PYTHONIOENCODING", "PYTHONTRACEMALLOC", "PYTHONHOME"),
    *("SOURCE_DATE_EPOCH", "_DOSSIER_COMPLETE"),
)
"""What Python and packages read for themselves, and some value of which ends them."""


def test_no_matplotlibrc_and_no_variable_of_a_package_is_read(tmp_path: Path) -> None:
    release(tmp_path)
    out = ("--jobs", "2", "--edition", "committee")
    run(*SCRIPT, "build", ".", "-o", "../plain", *out, cwd=tmp_path)
    (tmp_path / "matplotlibrc").write_bytes(b"\xb9 no text at all")
    files = (f"{name}={tmp_path}" for name in ("MATPLOTLIBRC", "MPLCONFIGDIR"))
    nonsense = (f"{name}=abc" for name in READ_BY_OTHERS)
    run("env", *files, *nonsense, *SCRIPT, "build", ".", "-o", "../strange", *out, cwd=tmp_path)
    plain, strange = (tmp_path.parent / name / "manifest.json" for name in ("plain", "strange"))
    assert plain.read_bytes() == strange.read_bytes()
