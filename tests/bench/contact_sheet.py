"""Every figure of all releases and of the extremes on PNG pages, to be looked at: python -m tests.bench.contact_sheet.

Each figure stands at its printed size (120 dots an inch) with its name above and its caption and alternative text
below. Pages are named after the figure, so that one figure is seen on every study at once; `--by study` turns it round.
"""

from __future__ import annotations

import argparse
import sys
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from dossier import evaluate, reading
from dossier.core.register import fill
from dossier.core.types import Absent, Evidence
from dossier.report.figures import canvas, ink
from dossier.report.figures.canvas import styled
from tests.conftest import RELEASES
from tests.figures.drawings import Drawing, drawn
from tests.figures.studies import EXTREMES
from tests.figures.studies import evidence as simulated
from tests.reference import tables

DOTS = 120
LETTERS = 105
"""Letters in a line of a caption at its printed size."""
MARGIN = 6.0
PAGE = 420.0
"""The height of a page in mm; two columns."""


@dataclass(frozen=True)
class Entry:
    """One figure of one study, ready to be put on a page."""

    study: str
    name: str
    drawing: Drawing

    def words(self) -> str:
        """What stands below the figure."""
        picture = self.drawing.picture
        parts = (f"{picture.title}. {picture.caption}", f"[{picture.alternative}]")
        return "\n".join(line for part in parts for line in textwrap.wrap(part, LETTERS))

    def height(self) -> float:
        """How much of a column it takes, in mm."""
        return 6.0 + self.drawing.picture.height + (self.words().count("\n") + 1) * 4.2 + 8.0


def few_resamples(release: str) -> Evidence:
    """The evidence of a release; how often one draws moves no mark that an eye would see."""
    study = reading.study(RELEASES[release])
    few = study.release.resampling.model_copy(update={"bootstrap": 20, "permutations": 19})
    return evaluate.evidence(replace(study, release=study.release.model_copy(update={"resampling": few})))


def entries(names: Sequence[str], studies: Sequence[str]) -> Iterable[Entry]:
    """The figures of those names, study by study; what is absent is said aloud."""
    for study in studies:
        if study in tables.lacking():
            say(f"{study}: its tables are not at hand")
            continue
        extreme = next((candidate for candidate in EXTREMES if candidate.name == study), None)
        evidence = few_resamples(study) if extreme is None else simulated(extreme)
        for name in names:
            made = drawn(name, evidence)
            if isinstance(made, Absent):
                say(f"{study}, {name}: absent, {made.reason}")
            else:
                yield Entry(study, name, made)


def say(text: str) -> None:
    """One line to whoever waits."""
    sys.stderr.write(f"{text}\n")


def columns(found: Sequence[Entry]) -> list[list[Entry]]:
    """The entries in columns that fill a page downwards."""
    filled: list[list[Entry]] = [[]]
    for entry in found:
        if filled[-1] and sum(row.height() for row in filled[-1]) + entry.height() > PAGE:
            filled.append([])
        filled[-1].append(entry)
    return filled


def image(figure: Figure) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    """The figure as dots, on white."""
    sheet = FigureCanvasAgg(figure)
    figure.set_facecolor("white")
    figure.set_dpi(DOTS)
    sheet.draw()  # type: ignore[no-untyped-call]
    dots = np.asarray(sheet.buffer_rgba()).copy()  # type: ignore[no-untyped-call]
    figure.set_dpi(72)
    return dots


def page(two: Sequence[Sequence[Entry]]) -> Figure:
    """One page of up to two columns."""
    width, height = (
        2 * (canvas.FULL + 2 * MARGIN),
        max(sum(entry.height() for entry in column) for column in two) + MARGIN,
    )
    made = canvas.sheet(width, height)
    for index, column in enumerate(two):
        x, y = MARGIN + index * (canvas.FULL + 2 * MARGIN), MARGIN / 2
        for entry in column:
            picture = entry.drawing.picture
            canvas.write(made, x, y + 2, f"{entry.study}: {entry.name}", weight=600, color=ink.ALERT)
            axes = canvas.panel(made, x, y + 6, picture.width, picture.height)
            axes.imshow(image(entry.drawing.figure), aspect="auto", interpolation="none")
            axes.set_axis_off()
            canvas.write(made, x, y + 8 + picture.height, entry.words(), va="top", color=ink.INK_2)
            y += entry.height()
    return made


def write(folder: Path, name: str, found: Sequence[Entry]) -> list[Path]:
    """The pages of one figure or study."""
    filled = columns(found)
    paths = []
    for number, start in enumerate(range(0, len(filled), 2), start=1):
        path = folder / f"{name.replace(' ', '-')}-{number}.png"
        with styled():
            made = page(filled[start : start + 2])
            made.set_facecolor("white")
            FigureCanvasAgg(made)
            made.savefig(path, dpi=DOTS)
        paths.append(path)
    return paths


def main() -> None:
    """Write the pages that were asked for."""
    every = tuple(fill("report.figures").figures)
    studies = (*RELEASES, *(extreme.name for extreme in EXTREMES))
    asked = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    asked.add_argument("--figure", action="append", choices=every, help="only this figure; may be repeated")
    asked.add_argument("--study", action="append", choices=studies, help="only this study; may be repeated")
    asked.add_argument("--by", choices=("figure", "study"), default="figure", help="what a page is about")
    asked.add_argument("folder", type=Path, nargs="?", default=Path("contact-sheet"))
    given = asked.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    found = list(entries(given.figure or every, given.study or studies))
    for about in dict.fromkeys(getattr(entry, "name" if given.by == "figure" else "study") for entry in found):
        mine = [entry for entry in found if about in (entry.name, entry.study)]
        for path in write(given.folder, about, mine):
            say(str(path))


if __name__ == "__main__":
    main()
