"""The writer of SVG: what it writes looks as matplotlib's own painter paints it, and holds nothing besides."""

from __future__ import annotations

import datetime
import io
import re
import subprocess
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Circle, Rectangle
from matplotlib.path import Path as Outline
from matplotlib.transforms import IdentityTransform
from PIL import Image

from dossier.core.types import DatasetSummary, Document, Floats
from dossier.report import press
from dossier.report.figures import svg
from dossier.report.figures.canvas import of_each, panel, sheet, styled, ticks, write
from tests.figures.evidence import CASES, evidence

SPACE = "{http://www.w3.org/2000/svg}"
DOTS = 144


def everything() -> Figure:
    """A figure with each kind of line, area, mark and place to be kept to."""
    figure = sheet(80, 60)
    left, right = panel(figure, 8, 4, 30, 40), panel(figure, 46, 4, 30, 40)
    x = np.linspace(0, 1, 60)
    left.set(xlim=(0, 1), ylim=(0, 1))
    left.fill_between(x, x**2, np.sqrt(x), color="#c6d7e4", lw=0)
    left.plot(x, x**2, lw=1.4)
    left.plot([0, 1], [1, 0], color="#9c3f0c", lw=0.8, ls=(1, (3, 2)))
    left.plot([-1, 2], [0.2, 0.8], color="#000000", lw=2)
    left.plot([0.2, 0.5, 0.8], [0.5] * 3, "o", ms=5, mfc="white", mec="#14507f")
    left.plot([0.2, 0.22, 0.24], [0.9] * 3, "s", ms=6, mfc="#e08a4f", mec="#16181b")
    left.scatter([0.6, 0.7], [0.1, 0.12], s=30, color="#14507f", alpha=0.4)
    right.set(xlim=(0, 1), ylim=(0, 1))
    right.add_patch(Rectangle((0.1, 0.1), 0.3, 0.6, fc="#dfe4e8", ec="#16181b", lw=1.5))
    right.add_patch(Rectangle((0.3, 0.3), 0.3, 0.6, fc="#9c3f0c", alpha=0.5))
    right.add_patch(Circle((0.8, 0.8), 0.4, fc="none", ec="#14507f", lw=1))
    right.stairs([0.1, 0.4, 0.2], [0, 0.3, 0.6, 1], fill=True, color="#aeb4ba")
    ticks(left, "x", [0, 0.5, 1], [""] * 3)
    return figure


def printed(drawing: bytes, width: float, height: float, folder: Path) -> Floats:
    """An SVG as the page prints it, in shades of grey."""
    style = folder / "sheet.css"
    style.write_text(
        f"@page {{ size: {width}pt {height}pt; margin: 0 }} body, h1 {{ margin: 0 }} img {{ display: block }}"
    )
    body = (
        '<!DOCTYPE html><html lang="en"><head><title>a</title></head><body><h1><img src="dossier:a.svg" alt="A."/>'
        "</h1></body></html>"
    )
    document = Document(
        html=body,
        stylesheets=(style,),
        images={"a.svg": drawing},
        title="a",
        language="en",
        identifier=bytes(16),
        date=datetime.date(2026, 10, 1),
    )
    path = folder / "out.pdf"
    path.write_bytes(press.pdf(document))
    made = subprocess.run(["pdftoppm", "-r", str(DOTS), "-gray", str(path)], capture_output=True, check=True).stdout
    return np.asarray(Image.open(io.BytesIO(made)), dtype=float)


def elements(figure: Figure, kind: str = "path") -> list[dict[str, str]]:
    """The attributes of every element of a kind."""
    root = ElementTree.fromstring(svg.written(figure))
    return [each.attrib for each in root.iter(f"{SPACE}{kind}")]


def numbers(data: str) -> list[float]:
    """The numbers of a path."""
    return [float(match) for match in re.findall(r"-?[\d.]+", data)]


def bare() -> Figure:
    """A sheet of 20 by 20 mm with a panel all over it, from 0 to 1, without a frame."""
    figure = sheet(20, 20)
    axes = panel(figure, 0, 0, 20, 20)
    axes.set(xlim=(0, 1), ylim=(0, 1))
    axes.spines[:].set_visible(False)
    return figure


def test_it_prints_what_matplotlib_paints(tmp_path: Path) -> None:
    # Straight edges stay where they are, not on whole dots.
    with styled(), matplotlib.rc_context({"path.snap": False}):
        figure = everything()
        drawing = svg.written(figure)
        width, height = figure.get_size_inches() * 72
        # As matplotlib paints it, in shades of grey.
        canvas = FigureCanvasAgg(figure)
        stream = io.BytesIO()
        canvas.print_figure(stream, dpi=DOTS, facecolor="white")
        theirs = np.asarray(Image.open(stream).convert("L"), dtype=float)
    ours = printed(drawing, width, height, tmp_path)[: theirs.shape[0], : theirs.shape[1]]
    away = np.abs(ours - theirs[: ours.shape[0], : ours.shape[1]])
    # Edges fall between dots, where two painters mix shades in their own way.
    assert (away > 128).mean() < 0.002
    assert away.mean() < 1.5
    assert theirs.mean() < 245


def test_strokes_of_one_look_are_one_path_and_those_one_sees_through_are_not() -> None:
    with styled():
        figure = bare()
        for position in (0.2, 0.4, 0.6):
            figure.axes[0].plot([0.1, 0.9], [position] * 2, color="#14507f", lw=1)
        (path,) = elements(figure)
        assert path["d"].count("M") == 3
        assert (path["stroke"], path["stroke-width"], "fill" in path) == ("#14507f", "1", False)
        for line in figure.axes[0].lines:
            line.set_alpha(0.5)
        assert [element["stroke-opacity"] for element in elements(figure)] == ["0.5"] * 3


@pytest.mark.parametrize(("places", "paths"), [((0.1, 0.5, 0.9), 1), ((0.1, 0.12, 0.9), 3)])
def test_marks_that_cover_each_other_stay_apart(places: tuple[float, ...], paths: int) -> None:
    with styled():
        figure = bare()
        figure.axes[0].plot(places, [0.5] * 3, "o", ms=6, mfc="white", mec="#14507f")
        found = elements(figure)
    assert len(found) == paths
    assert sum(record["d"].count("M") for record in found) == 3


def test_only_what_leaves_its_panel_is_kept_to_it() -> None:
    with styled():
        figure = sheet(20, 20)
        axes = panel(figure, 5, 5, 10, 10)
        axes.set(xlim=(0, 1), ylim=(0, 1))
        axes.spines[:].set_visible(False)
        axes.plot([0.2, 0.8], [0.5, 0.5], lw=1)
        axes.plot([0.2, 1.8], [0.5, 0.5], lw=2)
        within, beyond = elements(figure)
        (kept,) = elements(figure, "clipPath")
        (bounds,) = elements(figure, "rect")
    assert "clip-path" not in within
    assert beyond["clip-path"] == f"url(#{kept['id']})"
    millimetre = 72 / 25.4
    assert [float(bounds[name]) for name in ("x", "y", "width", "height")] == pytest.approx(
        [5 * millimetre, 5 * millimetre, 10 * millimetre, 10 * millimetre], abs=0.005
    )


def test_what_is_not_seen_is_not_written() -> None:
    with styled():
        figure = bare()
        axes = figure.axes[0]
        axes.plot([0, 1], [0, 1], lw=0)
        axes.plot([0, 1], [0, 1], alpha=0)
        axes.plot([], [], "o")
        axes.add_patch(Rectangle((0, 0), 1, 1, fc="none", ec="none"))
        assert elements(figure) == []


def test_texts_stand_where_they_are_held() -> None:
    with styled():
        figure = sheet(50.8, 25.4)
        write(figure, 12.7, 12.7, "a < b & “c”", ha="right")
        write(figure, 12.7, 12.7, "middle", ha="center", weight=600, color="#14507f")
        write(figure, 12.7, 12.7, "up", rotation=90)
        root = ElementTree.fromstring(svg.written(figure))
    right, middle, up = root.iter(f"{SPACE}text")
    assert right.text == "a < b & “c”"
    assert (right.attrib["text-anchor"], right.attrib["x"]) == ("end", "36")
    assert (middle.attrib["text-anchor"], middle.attrib["x"]) == ("middle", "36")
    assert (middle.attrib["font-weight"], middle.attrib["fill"]) == ("600", "#14507f")
    assert up.attrib["transform"] == f"rotate(-90 {up.attrib['x']} {up.attrib['y']})"
    assert "text-anchor" not in up.attrib


@given(st.lists(st.tuples(*[st.floats(0, 1)] * 2), min_size=2, max_size=30))
def test_points_are_a_hundredth_of_a_point_true(points: list[tuple[float, float]]) -> None:
    path = Outline(np.array(points) * 400)
    found = np.array(numbers(svg._data(svg._cleaned(path, IdentityTransform())))).reshape(-1, 2)
    assert np.abs(found - np.array(points) * 400).max() <= 0.005 + 1e-9


def test_curves_and_closed_shapes_keep_their_letters() -> None:
    codes = [Outline.MOVETO, Outline.CURVE3, Outline.CURVE3, *[Outline.CURVE4] * 3, Outline.LINETO, Outline.CLOSEPOLY]
    path = Outline([(0, 0), (1, 1), (2, 0), (3, 1), (4, 1), (5, 0), (5, -3), (0, 0)], codes)
    assert svg._data(svg._cleaned(path, IdentityTransform())) == "M0 0Q1 1 2 0C3 1 4 1 5 0L5 -3Z"


@pytest.mark.parametrize("changed", [{"hatch": "//"}, {"clip_path": Circle((0.5, 0.5), 0.2)}], ids=["hatch", "shape"])
def test_what_it_cannot_write_is_refused(changed: dict[str, object]) -> None:
    with styled():
        figure = bare()
        box = figure.axes[0].add_patch(Rectangle((0, 0), 1, 1))
        box.set(**changed)
        with pytest.raises(NotImplementedError, match="no figure of dossier is hatched"):
            svg.written(figure)


def test_a_line_with_gaps_is_written_in_parts() -> None:
    with styled():
        figure = bare()
        figure.axes[0].add_line(Line2D([0.1, 0.2, np.nan, 0.6, 0.7], [0.5] * 5))
        (path,) = elements(figure)
    assert path["d"].count("M") == 2
    assert "nan" not in path["d"]


def test_what_is_of_one_hospital_stands_together_and_looks_as_it_did(tmp_path: Path) -> None:
    def drawn(marked: bool, said: bool) -> Figure:
        figure = sheet(40, 30)
        axes = panel(figure, 4, 4, 30, 20)
        rows = [replace(summary(), site="At 0 & more"), replace(summary(), site="At 1 & more")]
        rows.append(replace(summary(), site="At 2 & more", role="development"))
        for row, of in enumerate(of_each(figure, rows, lambda each: each) if marked else rows):
            write(figure, 0, 4 + row * 5, of.site if said else "")
            axes.plot([0.2, 0.8], [0.1 + row / 4] * 2, gid=f"own-{row}")
            panel(figure, 30, 4 + row * 5, 5, 4).plot([0, 1], [0, 1])
        return figure

    with styled():
        marked = drawn(True, said=True)
        found = list(ElementTree.fromstring(svg.written(marked)).iter(f"{SPACE}g"))
    assert {group.get("data-site") for group in found} == {"At 0 & more", "At 1 & more"}
    for group in found:
        assert {text.text for text in group.iter(f"{SPACE}text")} <= {group.get("data-site")}
        assert not list(group.iter(f"{SPACE}g"))[1:]
    assert [line.get_gid() for line in marked.axes[0].lines] == ["own-0", "own-1", "own-2"]
    with styled():
        pair = [svg.written(drawn(each, said=False)) for each in (False, True)]
    first, second = (printed(each, 40 * 72 / 25.4, 30 * 72 / 25.4, tmp_path) for each in pair)
    assert np.array_equal(first, second)


def summary() -> DatasetSummary:
    """A dataset of which nothing else is asked."""
    return evidence(CASES[0]).datasets[-1]
