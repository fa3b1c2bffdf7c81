"""The recipes of the docs fit the code as it is: each step has its place, and each name that it uses is known there.

What a recipe adds is looked for in whole builds by `tests/test_recipes.py`; a place that moved is told here.
"""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
from pathlib import Path

from tests.test_recipes import RECIPES, ROOT, STEP, follow


def test_every_step_has_its_place_and_uses_names_that_are_known_there(tmp_path: Path) -> None:
    for folder in ("dossier", "templates"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    assert follow(RECIPES, tmp_path) == RECIPES.count("```") / 2
    for path in {tmp_path / name for _, name, _, _ in STEP.findall(RECIPES) if name.endswith(".py")}:
        read = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        modules = {
            each.asname or each.name: (tmp_path / step.module.replace(".", "/") / each.name).with_suffix(".py")
            for step in read
            if isinstance(step, ast.ImportFrom) and step.module
            for each in step.names
        }
        for each in read:
            if isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name):
                where = modules.get(each.value.id)
                assert where is None or not where.is_file() or re.search(rf"\b{each.attr}\b", where.read_text()), (
                    each.attr
                )
    command = [sys.executable, "-m", "ruff", "check", "--config", str(ROOT / "pyproject.toml"), "--quiet", "."]
    command += ["--select", "F821,I001"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
