"""The README's lines of installation, the Dockerfile and the pipeline example: run where they can be, else compared."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import venv
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

from tests.conftest import ROOT
from tests.test_cli import release

__all__ = ["release"]

OFFLINE = {"PIP_NO_INDEX": "1", "PIP_NO_BUILD_ISOLATION": "0", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
"""pip without an index; by a whim of pip's, 0 is what switches the isolation of builds off."""


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment that knows the packages of ours, and not the project; its folder of programs."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    ours = Path(sysconfig.get_paths()["purelib"])
    for path in ours.iterdir():
        # An editable install keeps templates and fixtures in a folder `dossier`, which must not be installed into.
        own = ("validation_dossier", "__editable__", "_validation_dossier", "dossier")
        of_the_project = path.name.lower().startswith(own)
        if not of_the_project and not (packages / path.name).exists():
            (packages / path.name).symlink_to(path)
    return folder / "bin"


@pytest.fixture
def fresh(environment: Path, tmp_path: Path) -> Path:
    """The same without the project that another test has installed."""
    done = shell("pip uninstall --yes --quiet validation-dossier", tmp_path, environment)
    assert done.returncode == 0, done.stderr
    return environment


def sources(folder: Path) -> Path:
    """A clone without what was made in it."""
    made = shutil.ignore_patterns(".venv", ".git", ".*_cache", ".hypothesis", "__pycache__", "demo", "dist", ".bench")
    return Path(shutil.copytree(ROOT, folder / "clone", ignore=made))


def shell(script: str, folder: Path, programs: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **OFFLINE, "PATH": f"{programs}:{os.environ['PATH']}", "PYTHONDONTWRITEBYTECODE": "1"}
    environment.pop("PYTHONPATH", None)
    return subprocess.run(
        ["sh", "-eu", "-c", script], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def blocks(start: str) -> list[str]:
    """The blocks of the README's section on installation that begin like this."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    section = text.partition("## Installing")[2].partition("\n## ")[0]
    return [block for block in re.findall(r"```\n(.*?)```", section, re.DOTALL) if block.startswith(start)]


@pytest.mark.parametrize("start", ["pip install", "pip wheel"])
def test_the_lines_of_the_readme_install_a_command_that_works(tmp_path: Path, fresh: Path, start: str) -> None:
    (lines,) = blocks(start)
    clone = sources(tmp_path)
    done = shell(lines, clone, fresh)
    assert done.returncode == 0, done.stdout + done.stderr
    shutil.rmtree(clone)
    said = shell("dossier --version && dossier init new && dossier check new", tmp_path, fresh)
    assert said.returncode == 0, said.stderr
    assert "No fault found." in said.stdout
    where = shell("python -c 'import dossier; print(dossier.__file__)'", tmp_path, fresh)
    assert Path(where.stdout.strip()).is_relative_to(fresh.parent)


def test_no_line_installs_from_an_index_that_does_not_have_the_package() -> None:
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").iterdir()), *sorted((ROOT / "dossier").rglob("*.py"))):
        assert 'pip install "validation-dossier' not in path.read_text(encoding="utf-8"), path


# ---- the image ------------------------------------------------------------------------------------------------------


def instructions(kind: str) -> list[str]:
    """The instructions of this kind, each on one line."""
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    return [" ".join(line.split()[1:]) for line in text.splitlines() if line.startswith(f"{kind} ")]


def test_the_image_has_the_libraries_and_packages_of_the_checkout() -> None:
    asked = (ROOT / ".ci" / "system-libraries").read_text(encoding="utf-8")
    of_pages = re.findall(r"loadable \S+ \|\| missing\+=\((\S+)\)", asked)
    run = instructions("RUN")
    assert set(run[0].split("--no-install-recommends ")[1].split(" && ")[0].split()) == set(of_pages)
    made = (ROOT / ".ci" / "environment").read_text(encoding="utf-8")
    (flags,) = re.findall(r'"\$\{pip\[@\]\}" (--only-binary .*? -r requirements\.lock)', made)
    assert run[1] == f"python -m pip install --no-cache-dir {flags}"


def test_what_the_image_copies_is_enough_for_its_last_line_of_installation(tmp_path: Path, fresh: Path) -> None:
    folder = tmp_path / "image"
    folder.mkdir()
    for line in instructions("COPY"):
        *names, to = line.split()
        for name in names:
            source, path = ROOT / name, folder / (name if to == "./" else to)
            assert source.exists(), name
            shutil.copytree(source, path) if source.is_dir() else shutil.copy(source, path)
    install = next(line for line in instructions("RUN") if "--no-build-isolation ." in line)
    done = shell(install.replace("/usr/local/bin", str(fresh)), folder, fresh)
    assert done.returncode == 0, done.stdout + done.stderr
    (entry,) = instructions("ENTRYPOINT")
    words = " ".join(json.loads(entry))
    assert shell(f"{words} --version", tmp_path, fresh).returncode == 0


# ---- the pipeline ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the command of the checkout."""
    folder = tmp_path_factory.mktemp("programs")
    (folder / "dossier").write_text(f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m dossier "$@"\n')
    (folder / "dossier").chmod(0o755)
    return folder


def pipeline(folder: Path, programs: Path) -> subprocess.CompletedProcess[str]:
    (folder / "docs").mkdir()
    shutil.copy(ROOT / "docs" / "pipeline.sh", folder / "docs")
    job: dict[str, Any] = yaml.safe_load((ROOT / "docs" / "pipeline.yml").read_text(encoding="utf-8"))["validation"]
    (script,) = job["script"]
    done = shell(script, folder, programs)
    if done.returncode in (0, 3):
        named = {*job["artifacts"]["paths"], job["artifacts"]["reports"]["junit"]}
        assert {path for path in named if not (folder / path).is_file()} == set()
        assert job["allow_failure"]["exit_codes"] == [3]
    return done


UNMET = '[[acceptance]]\nmeasure = "auroc"\ndataset = "hospital-1"\nat_least = 0.999\n'


def test_the_pipeline_ends_with_3_where_a_criterion_is_not_met(tmp_path: Path, programs: Path, release: Path) -> None:
    shutil.copytree(release, tmp_path / "release")
    text = (tmp_path / "release" / "release.toml").read_text()
    (tmp_path / "release" / "release.toml").write_text(text.replace("\n[statements]", f"\n{UNMET}[statements]"))
    done = pipeline(tmp_path, programs)
    assert done.returncode == 3, done.stderr
    assert "asked for is at least 0.999" in done.stderr
    assert "Verified: this release gives every byte of this dossier." in done.stdout
    assert ElementTree.parse(tmp_path / "report.xml").getroot().get("failures") == "1"
    assert json.loads((tmp_path / "check.json").read_text())["faults"] == []
    with tarfile.open(tmp_path / "dossier-out.tar.gz") as packed:
        assert "dossier-out/manifest.json" in packed.getnames()


def test_the_pipeline_ends_with_2_and_no_dossier_where_a_table_is_faulty(
    tmp_path: Path, programs: Path, release: Path
) -> None:
    shutil.copytree(release, tmp_path / "release")
    table = tmp_path / "release" / "hospital-1.csv"
    table.write_text(table.read_text().replace("0.", "1.", 5))
    done = pipeline(tmp_path, programs)
    assert done.returncode == 2
    assert json.loads((tmp_path / "check.json").read_text())["faults"]
    assert not (tmp_path / "dossier-out").exists()
