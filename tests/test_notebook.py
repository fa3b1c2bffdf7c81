"""The notebook and the gallery of the docs: every cell runs and shows what the page says, every figure is shown."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import nbformat

DOCS = Path(__file__).parents[1] / "docs"
RUN = """
import sys, nbclient, nbformat
notebook = nbformat.read(sys.argv[1], as_version=4)
folder = {"metadata": {"path": sys.argv[2]}}
nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3", resources=folder).execute()
nbformat.write(notebook, sys.argv[3])
"""


def test_every_cell_of_the_notebook_runs_and_shows_what_it_says(tmp_path: Path) -> None:
    source, executed = DOCS / "a-dataframe.ipynb", tmp_path / "executed.ipynb"
    # In a process of its own: the sockets of a kernel outlive it, and a warning of theirs would be a fault of ours.
    own = {"IPYTHONDIR": str(tmp_path), "JUPYTER_RUNTIME_DIR": str(tmp_path), "PYDEVD_DISABLE_FILE_VALIDATION": "1"}
    command = [sys.executable, "-c", RUN, str(source), str(DOCS), str(executed)]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | own, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    shown = [cell.outputs for cell in nbformat.read(executed, as_version=4).cells if cell.cell_type == "code"]
    assert "AUROC" in shown[0][0].data["text/html"]
    assert "auroc" in shown[1][0].data["text/html"]
    assert shown[2][0].data["image/png"]
    assert "flag" in shown[3][0].data["text/html"]
    assert "%PDF-" in shown[4][0].data["text/plain"]


def test_the_notebook_is_kept_without_what_a_run_leaves() -> None:
    notebook = nbformat.read(DOCS / "a-dataframe.ipynb", as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(not cell.outputs and cell.execution_count is None for cell in code)
    assert sum(bool(line.strip()) for cell in code for line in cell.source.splitlines()) <= 10


def test_the_site_shows_every_figure_of_a_release_and_the_dossier_itself() -> None:
    made = dict(runpy.run_path(str(DOCS / "gallery.py"))["gallery"]({"breast": "Real"}))
    page = made.pop("gallery.md")
    figures = {f"gallery/breast-{name}.svg" for name in re.findall(r'v\.figure\("(\w+)"\)', page)}
    assert len(figures) > 20
    assert figures == {name for name in made if name.endswith(".svg")}
    linked = {f"gallery/{name}" for name in re.findall(r"\]\(gallery/([\w.-]+)\)", page)}
    assert linked == made.keys() - figures
    assert {"gallery/dossier.html", "gallery/dossier-regulatory.pdf"} <= linked
    assert page.count("alt=") == len(figures)
