"""Pages of the site that are made when it is built: the notebook as it runs, and every figure of two releases.

A hook of mkdocs (`mkdocs.yml`). Nothing that it makes is kept in the repository, so nothing of it can be out of date.
"""

from __future__ import annotations

import html
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import nbclient
import nbformat
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

import dossier

DOCS = Path(__file__).resolve().parent
FIXTURES = DOCS.parent / "fixtures"
SHOWN = {
    "breast": "Two hospitals and development data, real",
    "knee": "Eight hospitals, readers, groups, severities, all that there is; simulated",
}
WHOLE = "breast"
"""The release of which the dossier itself lies in the site."""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """The files of the site with those that are made."""
    for name, content in (("a-dataframe.md", notebook()), *gallery()):
        files.append(File.generated(config, name, content=content))
    return files


def on_page_markdown(markdown: str, **_: object) -> str:
    """A page that leads to the notebook's file leads to its page here."""
    return markdown.replace("(a-dataframe.ipynb)", "(a-dataframe.md)")


def notebook() -> str:
    """The notebook as Markdown, with what each cell shows."""
    read = nbformat.read(DOCS / "a-dataframe.ipynb", as_version=4)
    nbclient.NotebookClient(read, kernel_name="python3", resources={"metadata": {"path": str(DOCS)}}).execute()
    return "\n\n".join(part for cell in read.cells for part in _of_cell(cell))


def _of_cell(cell: nbformat.NotebookNode) -> Iterator[str]:
    if cell.cell_type != "code":
        yield cell.source
        return
    yield f"```python\n{cell.source}\n```"
    for shown in (output.data for output in cell.outputs if "data" in output):
        if "text/html" in shown:
            yield f"<div>{''.join(shown['text/html'].splitlines())}</div>"
        elif "image/png" in shown:
            yield f'<img alt="What the cell shows" src="data:image/png;base64,{"".join(shown["image/png"].split())}">'
        else:
            yield f"```text\n{shown['text/plain']}\n```"


def gallery(shown: Mapping[str, str] = SHOWN) -> Iterator[tuple[str, bytes | str]]:
    """Each figure as a file, the dossier of one release, and the page that shows them."""
    page = ["# Gallery", "Every figure as the page has it, with its message and how it is read."]
    for name, what in shown.items():
        made = dossier.load(FIXTURES / name).validate()
        page += [f"## {what}"]
        if name == WHOLE:
            links = []
            with tempfile.TemporaryDirectory() as folder:
                made.save(Path(folder) / "out")
                for file in sorted((Path(folder) / "out").glob("dossier*.*")):
                    yield f"gallery/{file.name}", file.read_bytes()
                    links.append(f"[{file.name}](gallery/{file.name})")
            page += ["The whole of it: " + ", ".join(links) + "."]
        for each in made.figures:
            figure = made.figure(each)
            yield f"gallery/{name}-{each}.svg", figure.content("svg")
            said = html.escape(figure.picture.alternative, quote=True)
            page += [
                f'### <code>v.figure("{each}")</code>',
                f"**{figure.picture.message}** {figure.picture.caption}",
                f'<img alt="{said}" src="../gallery/{name}-{each}.svg">',
            ]
    yield "gallery.md", "\n\n".join(page)
