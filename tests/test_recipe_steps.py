"""The recipes of the docs fit the code as it is: each step has its place, and each name that it uses is known there.

What a recipe adds is looked for in whole builds by `tests/test_recipes.py`; a place that moved is told here.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from tests.test_recipes import RECIPES, ROOT, follow


def test_every_step_has_its_place_and_uses_names_that_are_known_there(tmp_path: Path) -> None:
    for folder in ("dossier", "templates"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    assert follow(RECIPES, tmp_path) == RECIPES.count("```") / 2
    command = [sys.executable, "-m", "ruff", "check", "--config", str(ROOT / "pyproject.toml"), "--quiet", "."]
    command += ["--select", "F821,I001"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
