"""A drawn figure as SVG that holds what is seen and nothing else.

Matplotlib's own writer gives every artist a group, every look a style of its own and every mark a reference to another
element; reading those again took most of the time that a page spends on its figures.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Literal, cast
from weakref import WeakKeyDictionary
from xml.sax.saxutils import escape, quoteattr

import numpy as np
from matplotlib.artist import Artist
from matplotlib.backend_bases import GraphicsContextBase, RendererBase
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, weight_dict
from matplotlib.path import Path
from matplotlib.text import Text
from matplotlib.textpath import TextToPath
from matplotlib.transforms import Affine2D, Transform

from dossier.core.types import DatasetSummary, Floats
from dossier.typeset.numbers import plain

Looks = dict[str, str]

FAMILY, SIZE = "Inter Tab", 9
"""What most texts are set in: said once, for all of them."""
DECIMALS = 2
"""Of a point: a hundredth of it is finer than any printer."""
ROUNDING = 0.5 * 10**-DECIMALS
"""How far a written number may lie from the true one."""
MOST_MARKS = 500
"""Of one look: more are not compared with each other."""

CLOSED = "</g>"
WHOSE = WeakKeyDictionary[Artist, DatasetSummary]()
"""The dataset of what is drawn for one alone."""
OF = "of site "
"""What an artist of a hospital is called while it is written."""

_LETTERS = {Path.MOVETO: "M", Path.LINETO: "L", Path.CURVE3: "Q", Path.CURVE4: "C", Path.CLOSEPOLY: "Z"}
_ANCHORS = {"left": "start", "center": "middle", "right": "end"}
_CAPS = {"butt": "butt", "round": "round", "projecting": "square"}


def written(figure: Figure) -> bytes:
    """The figure as SVG: the same figure gives the same bytes."""
    width, height = (float(length) * 72 for length in figure.get_size_inches())
    sheet = _Sheet(width, height)
    # A sheet that is drawn on learns of an artist nothing but its name.
    whose = {each: of for each, of in WHOSE.items() if each.get_figure() is figure and of.role == "external"}
    names = {artist: artist.get_gid() for artist in whose}
    for artist, dataset in whose.items():
        artist.set_gid(f"{OF}{dataset.site}")
    figure.draw(sheet)
    for artist, name in names.items():
        artist.set_gid(name)
    return sheet.document()


class _Sheet(RendererBase):
    """What matplotlib's artists draw on; successive strokes of one look become one path."""

    def __init__(self, width: float, height: float) -> None:
        super().__init__()
        self._width, self._height = width, height
        self._upright = Affine2D().scale(1, -1).translate(0, height)
        self._texts = TextToPath()
        self._clips: dict[str, str] = {}
        self._elements: list[str] = []
        self._whose: list[str | None] = []
        self._last: str | None = None
        self._looks: Looks = {}
        self._strokes: list[str] = []

    def document(self) -> bytes:
        """Everything that was drawn, as a file."""
        self._finish_path()
        size = f'width="{_number(self._width)}pt" height="{_number(self._height)}pt"'
        box = f'viewBox="0 0 {_number(self._width)} {_number(self._height)}"'
        looks = f'fill="none" stroke-linejoin="round" font-family="{FAMILY}" font-size="{SIZE}"'
        head = f'<svg xmlns="http://www.w3.org/2000/svg" version="1.1" {size} {box} {looks}>'
        clips = ["<defs>", *self._clips.values(), "</defs>"] if self._clips else []
        lines = ['<?xml version="1.0" encoding="utf-8"?>', head, *clips, *self._elements, "</svg>"]
        return ("\n".join(lines) + "\n").encode()

    # ---- what matplotlib asks -------------------------------------------------------------------

    def get_canvas_width_height(self) -> tuple[float, float]:
        """The size of the sheet in points."""
        return self._width, self._height

    def open_group(self, s: str, gid: str | None = None) -> None:
        """Begin what is of one hospital: on the screen the marks of others turn pale."""
        self._whose.append(gid)
        if _is_site(gid):
            self._finish_path()
            if self._elements[-1:] == [CLOSED] and self._last == gid:
                self._elements.pop()
            else:
                self._elements.append(f"<g data-site={quoteattr(plain(str(gid)).removeprefix(OF))}>")

    def close_group(self, s: str) -> None:
        """End it."""
        if _is_site(gid := self._whose.pop()):
            self._finish_path()
            self._elements.append(CLOSED)
            self._last = gid

    def get_text_width_height_descent(
        self, s: str, prop: FontProperties, ismath: bool | Literal["TeX"]
    ) -> tuple[float, float, float]:
        """The size of a text as its font has it, not rounded to the dots of a screen."""
        width, height, descent = self._texts.get_text_width_height_descent(s, prop, ismath)
        return float(width), float(height), float(descent)

    def draw_path(self, gc: GraphicsContextBase, path: Path, transform: Transform, rgbFace: Any = None) -> None:  # noqa: N803  # matplotlib's word
        """Draw a line or an area."""
        looks = _looks(gc, rgbFace)
        if not looks:
            return
        bounds = None if rgbFace is not None else (0.0, 0.0, self._width, self._height)
        shape = _cleaned(path, transform + self._upright, bounds, None if rgbFace is None else False)
        self._draw(looks | self._clip(gc, looks, np.asarray(shape.vertices)), _data(shape))

    def draw_markers(
        self,
        gc: GraphicsContextBase,
        marker_path: Path,
        marker_trans: Transform,
        path: Path,
        trans: Transform,
        rgbFace: Any = None,  # noqa: N803  # matplotlib's word
    ) -> None:
        """Draw a mark at every point of a line: as one path, unless a mark covers the edge of another."""
        looks = _looks(gc, rgbFace)
        places = [end[-2:] for end, _ in path.iter_segments(trans + self._upright, simplify=False)]
        if not looks or not places:
            return
        mark = _cleaned(marker_path, marker_trans + Affine2D().scale(1, -1))
        centres = np.array(places)
        marks = [Path(np.asarray(mark.vertices) + centre, mark.codes) for centre in centres]
        looks |= self._clip(gc, looks, np.concatenate([np.asarray(shape.vertices) for shape in marks]))
        together = _only_strokes(looks) or _stand_apart(centres, np.ptp(np.asarray(mark.vertices), axis=0))
        drawn = [_data(shape) for shape in marks]
        for data in ["".join(drawn)] if together else drawn:
            self._draw(looks, data)

    def draw_text(
        self,
        gc: GraphicsContextBase,
        x: float,
        y: float,
        s: str,
        prop: FontProperties,
        angle: float,
        ismath: bool | str = False,
        mtext: Text | None = None,
    ) -> None:
        """Draw one line of text, as text; held where its words are, so that another font moves it least."""
        anchor = "start"
        if mtext is not None and (angle == 0 or mtext.get_rotation_mode() == "anchor"):
            anchor = _ANCHORS[mtext.get_horizontalalignment()]
            held = self._upright.transform(mtext.get_transform().transform(mtext.get_unitless_position()))
            along = np.array([np.cos(np.radians(angle)), -np.sin(np.radians(angle))])
            x, y = np.array([x, y]) + ((held - (x, y)) @ along) * along
        setting = {"x": _number(x), "y": _number(y)}
        if anchor != "start":
            setting["text-anchor"] = anchor
        if angle % 360:
            setting["transform"] = f"rotate({_number(-angle)} {setting['x']} {setting['y']})"
        self._finish_path()
        looks = {"fill": _colour(tuple(gc.get_rgb()[:3]))}
        looks |= _opacity("opacity", gc.get_alpha() if gc.get_forced_alpha() else gc.get_rgb()[3])
        family, weight = ", ".join(prop.get_family()), prop.get_weight()
        weight = weight_dict[weight] if isinstance(weight, str) else weight
        if family != FAMILY:
            looks["font-family"] = family
        if prop.get_size() != SIZE:
            looks["font-size"] = _number(prop.get_size())
        if weight != 400:
            looks["font-weight"] = str(weight)
        if prop.get_style() != "normal":
            looks["font-style"] = prop.get_style()
        self._elements.append(f"<text{_attributes(setting | looks)}>{escape(plain(s))}</text>")

    # ---- paths ----------------------------------------------------------------------------------

    def _draw(self, looks: Looks, data: str) -> None:
        if not data:
            return
        # An area on an area, or a stroke that one sees through, would look another way in one path.
        if looks != self._looks or not _only_strokes(looks):
            self._finish_path()
            self._looks = looks
        self._strokes.append(data)

    def _finish_path(self) -> None:
        if self._strokes:
            self._elements.append(f"<path{_attributes(self._looks)} d={quoteattr(''.join(self._strokes))}/>")
        self._looks, self._strokes = {}, []

    def _clip(self, gc: GraphicsContextBase, looks: Looks, points: Floats) -> Looks:
        """The part of the sheet to which the artist is kept, where it does not lie within by itself."""
        bounds = gc.get_clip_rectangle()
        if bounds is None or not len(points):
            return {}
        (left, bottom), (right, top) = self._upright.transform(bounds.get_points())
        # A pointed corner reaches beyond half the width of its stroke.
        edge = float(looks.get("stroke-width", 0)) - ROUNDING
        low, high = points.min(axis=0) - edge, points.max(axis=0) + edge
        if (low >= (left, top)).all() and (high <= (right, bottom)).all():
            return {}
        x, y, width, height = (_number(each) for each in (left, top, right - left, bottom - top))
        name = f"clip_{x}_{y}_{width}_{height}"
        self._clips[name] = (
            f'<clipPath id="{name}"><rect x="{x}" y="{y}" width="{width}" height="{height}"/></clipPath>'
        )
        return {"clip-path": f"url(#{name})"}


def _is_site(gid: str | None) -> bool:
    return gid is not None and gid.startswith(OF)


# ---- looks ----------------------------------------------------------------------------------------------------------


def _looks(gc: GraphicsContextBase, face: Any) -> Looks:
    """How an area and its edge look; empty when nothing of it is seen."""
    if gc.get_hatch() is not None or gc.get_clip_path()[0] is not None:
        raise NotImplementedError("no figure of dossier is hatched, or kept to a shape that is no rectangle")
    looks: Looks = {}
    if face is not None:
        seen = gc.get_alpha() if gc.get_forced_alpha() else (face[3] if len(face) == 4 else 1.0)
        looks = {"fill": _colour(tuple(face[:3]))} | _opacity("fill-opacity", seen) if seen else {}
    return looks | _stroke(gc)


def _stroke(gc: GraphicsContextBase) -> Looks:
    red, green, blue, alpha = gc.get_rgb()
    seen = gc.get_alpha() if gc.get_forced_alpha() else alpha
    if not gc.get_linewidth() or not seen:
        return {}
    looks = {"stroke": _colour((red, green, blue)), "stroke-width": _number(gc.get_linewidth())}
    looks |= _opacity("stroke-opacity", seen)
    offset, dashes = cast("tuple[float, Sequence[float] | None]", gc.get_dashes())
    if dashes is not None:
        looks["stroke-dasharray"] = ",".join(_number(length) for length in dashes)
        if offset:
            looks["stroke-dashoffset"] = _number(offset)
    if gc.get_joinstyle() != "round":
        looks["stroke-linejoin"] = str(gc.get_joinstyle())
    if gc.get_capstyle() != "butt":
        looks["stroke-linecap"] = _CAPS[gc.get_capstyle()]
    return looks


def _opacity(name: str, seen: float) -> Looks:
    return {} if seen == 1 else {name: _number(seen)}


def _only_strokes(looks: Looks) -> bool:
    return "fill" not in looks and "stroke-opacity" not in looks


def _stand_apart(centres: Floats, size: Floats) -> bool:
    """Whether no two marks of that size overlap, their edges included."""
    if len(centres) > MOST_MARKS:
        return False
    return int((np.abs(centres[:, None] - centres[None, :]) <= size + 2).all(axis=2).sum()) == len(centres)


@lru_cache(maxsize=256)
def _colour(colour: tuple[float, float, float]) -> str:
    return to_hex(colour)


# ---- letters and digits ---------------------------------------------------------------------------------------------


def _attributes(values: Looks) -> str:
    return "".join(f" {name}={quoteattr(value)}" for name, value in values.items())


def _number(value: float) -> str:
    # Adding 0 takes the sign off a zero.
    return f"{round(float(value), DECIMALS) + 0.0:.10g}"


def _cleaned(
    path: Path,
    transform: Transform,
    bounds: tuple[float, float, float, float] | None = None,
    simplify: bool | None = False,
) -> Path:
    """The path on the sheet, without gaps in its numbers, what lies outside of the bounds, and the mark of its end."""
    shape = path.cleaned(transform, remove_nans=True, clip=bounds, simplify=simplify, curves=True)
    return Path(np.asarray(shape.vertices)[:-1], np.asarray(shape.codes)[:-1])


def _data(path: Path) -> str:
    """The points of a path in the letters of SVG, each letter said once for all points that follow."""
    points = (np.round(np.asarray(path.vertices), DECIMALS) + 0.0).tolist()
    parts, last = [], None
    for code, (x, y) in zip(np.asarray(path.codes).tolist(), points, strict=True):
        if code == Path.CLOSEPOLY:
            parts.append("Z")
        elif code == last and code != Path.MOVETO:
            parts.append(f" {x:.10g} {y:.10g}")
        else:
            parts.append(f"{_LETTERS[code]}{x:.10g} {y:.10g}")
        last = code
    return "".join(parts)
