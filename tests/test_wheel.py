"""A wheel installed elsewhere prints the same dossier as the checkout."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[1]


def run(*command: str, code: Path | None = None, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run Python with the package of that folder; its output is kept for the message of a failing test."""
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}
    if code is not None:
        environment["PYTHONPATH"] = str(code)
    return subprocess.run(
        [sys.executable, *command], env=environment, cwd=cwd, capture_output=True, text=True, check=False
    )


def pip(*arguments: str) -> None:
    """Run pip offline."""
    done = run("-m", "pip", "--disable-pip-version-check", *arguments, "--no-deps", "--no-index")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that holds the package as the wheel brings it."""
    wheels, target = tmp_path_factory.mktemp("wheels"), tmp_path_factory.mktemp("installed")
    pip("wheel", "--no-build-isolation", "--wheel-dir", str(wheels), str(CHECKOUT))
    (wheel,) = wheels.glob("validation_dossier-*.whl")
    pip("install", "--target", str(target), str(wheel))
    return target


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The release that `dossier init` makes: tiny, and it builds at once."""
    folder = tmp_path_factory.mktemp("release") / "release"
    done = run("-m", "dossier", "init", str(folder), code=CHECKOUT)
    assert done.returncode == 0, done.stderr
    return folder


def files(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, with what it holds."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }


def built(code: Path, release: Path, folder: Path) -> dict[str, bytes]:
    """What a build with the package of that folder writes."""
    where = run("-c", "import dossier; print(dossier.__file__)", code=code, cwd=folder)
    assert Path(where.stdout.strip()).is_relative_to(code), where.stdout + where.stderr
    out = folder / "out"
    done = run("-m", "dossier", "build", str(release), "-o", str(out), "--quiet", code=code, cwd=folder)
    assert done.returncode in (0, 3), done.stderr
    return files(out)


@pytest.mark.parametrize("material", ["templates", "styles", "fixtures/biopsy", "fixtures/breast", "fixtures/knee"])
def test_the_material_travels(installed: Path, material: str) -> None:
    travelled = files(installed / "dossier" / material)
    assert travelled
    assert travelled == files(CHECKOUT / material)


def test_the_wheel_prints_what_the_checkout_prints(installed: Path, release: Path, tmp_path: Path) -> None:
    outputs = []
    for name, code in (("from wheel", installed), ("from checkout", CHECKOUT)):
        folder = tmp_path / name
        folder.mkdir()
        outputs.append(built(code, release, folder))
    wheel, checkout = outputs
    assert "dossier-regulatory.pdf" in wheel
    assert wheel.keys() == checkout.keys()
    assert [name for name in wheel if wheel[name] != checkout[name]] == []
