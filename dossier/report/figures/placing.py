"""Labels at marks and lines, placed where they collide with nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dossier.core.types import Floats
from dossier.report.figures.canvas import LINE, Panel
from dossier.typeset.widths import text_width


@dataclass(frozen=True)
class Mark:
    """A mark that wants a label: its text, its centre in mm, and the half axes of the ellipse round it."""

    text: str
    x: float
    y: float
    across: float = 0.0
    down: float = 0.0
    weight: int = 400
    aside: tuple[float, float] = (0.0, 0.0)
    """How far the middle of the ellipse lies from the mark, in mm: intervals are not symmetric."""


LABEL_HEIGHT = 3.9
Spot = tuple[float, float]
"""The centre of a label, in mm."""
Box = tuple[float, float, float, float]
"""What a text takes, in mm: its centre and half its size."""


def _candidates(mark: Mark, radius: float) -> Floats:
    """The centres at which a label may stand: 24 directions at 5 distances."""
    half = (text_width(mark.text, mark.weight) + 1) / 2
    angles = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    places = []
    for reach, rise in (
        (radius + 0.5, radius + 0.4),
        (max(mark.across + abs(mark.aside[0]), radius) + 0.5, max(mark.down + abs(mark.aside[1]), radius) + 0.4),
        (radius + 2.2, radius + 2.2),
        (radius + 4.5, radius + 4.5),
        (radius + 7.0, radius + 7.0),
    ):
        x, y = np.cos(angles) * (reach + half), np.sin(angles) * (rise + LABEL_HEIGHT / 2)
        places.append(np.column_stack((mark.x + x, mark.y + y)))
    return np.concatenate(places)


def _crossed(places: Floats, half: Floats, points: Floats) -> Floats:
    """How many points lie inside a box of that half size at each place."""
    if not len(points):
        return np.zeros(len(places))
    across = np.abs(np.subtract.outer(places[:, 0], points[:, 0])) < half[0]
    down = np.abs(np.subtract.outer(places[:, 1], points[:, 1])) < half[1]
    return np.asarray((across & down).sum(axis=1), dtype=np.float64)


def outline(mark: Mark) -> Floats:
    """Points along the ellipse round a mark, none where it has none."""
    if not mark.across and not mark.down:
        return np.empty((0, 2))
    angles = np.linspace(0, 2 * np.pi, 48, endpoint=False)
    x, y = mark.x + mark.aside[0], mark.y + mark.aside[1]
    return np.column_stack((x + mark.across * np.cos(angles), y + mark.down * np.sin(angles)))


def place_labels(
    marks: Sequence[Mark], width: float, height: float, radius: float, lines: Floats, taken: Sequence[Box] = ()
) -> tuple[Spot | None, ...]:
    """The centre of each mark's label in a panel, crossing as little as can be.

    `radius` is that of the discs, `lines` holds points (mm) on lines that a label should not cross, and `taken` the
    boxes of other texts, as centre and half size. A label that could stand only on another label, at another disc or
    beyond the panel is None: better left out than misread.
    """
    if not marks:
        return ()
    crowd = _Crowd(marks, (width, height), radius, lines, taken)
    places, half, standing = crowd.places, crowd.half, [crowd.cost(index) for index in range(len(marks))]
    # The orders in which labels may choose: as given, then from each side, then the most crowded first.
    x, y = crowd.centres.T
    apart = np.hypot(x[:, None] - x, y[:, None] - y).sum(axis=1)
    orders = [np.argsort(key, kind="stable").tolist() for key in (np.arange(len(x)), x, -x, y, -y, apart, -apart)]
    tries = []
    for order in orders[: 7 if len(marks) <= CROWD else 1]:
        chosen = np.full((len(marks), 2), np.nan)
        for _ in range(6):
            for index in order:
                others = [other for other in order if other != index and not np.isnan(chosen[other, 0])]
                boxes = [(*chosen[other], *half[other]) for other in others]
                cost = standing[index] + 200 * _covered(places[index], half[index], boxes)
                chosen[index] = places[index][int(np.argmin(cost))]
        readable = crowd.readable(chosen)
        if None not in readable:
            return readable
        tries.append(readable)
    return min(tries, key=lambda each: each.count(None))


CROWD = 14
"""With more marks than this one order of choosing has to do: every further one takes its time and finds little."""


def _covered(places: Floats, half: Floats, boxes: Sequence[Box]) -> Floats:
    """How many boxes a box of that half size would cover at each place."""
    total = np.zeros(len(places))
    for x, y, across, down in boxes:
        total += (np.abs(places - np.array((x, y))) < half + np.array((across, down))).all(axis=1)
    return total


DOUBT = 0.5
"""By how much, in mm, a label may stand nearer to another mark than to its own, unless the two lie on each other."""


class _Crowd:
    """Marks of a panel of that size that want labels, with where each may stand."""

    def __init__(
        self, marks: Sequence[Mark], size: tuple[float, float], radius: float, lines: Floats, taken: Sequence[Box]
    ) -> None:
        self.size, self.radius, self.lines, self.taken = np.array(size), radius, lines, list(taken)
        self.half = [np.array([(text_width(mark.text, mark.weight) + 1) / 2, LABEL_HEIGHT / 2]) for mark in marks]
        self.centres = np.array([(mark.x, mark.y) for mark in marks])
        self.places = [_candidates(mark, radius) for mark in marks]
        self.outlines = [outline(mark) for mark in marks]

    def cost(self, index: int) -> Floats:
        """What each place costs whatever the other labels do: crossings, distance, doubt about whose label it is."""
        places, half, centres = self.places[index], self.half[index], self.centres
        others = [outline for other, outline in enumerate(self.outlines) if other != index]
        cost = 2.2 * _crossed(places, half, self.outlines[index]) + 1.6 * _crossed(places, half, self.lines)
        if others:
            cost += 3 * _crossed(places, half, np.concatenate(others))
        cost += 60 * _crossed(places, half + self.radius, centres)
        gaps = np.maximum(np.abs(places[:, None, :] - centres[None, :, :]) - half, 0)
        distance = np.hypot(gaps[:, :, 0], gaps[:, :, 1])
        own = distance[:, index]
        nearest = np.delete(distance, index, axis=1).min(axis=1) if len(centres) > 1 else own + 99
        cost += 0.55 * own + 12 * (nearest < own + 0.6) + 0.4 * (places[:, 0] < centres[index, 0])
        outside = (places < half + 0.3).any(axis=1) | (places > self.size - half - 0.3).any(axis=1)
        return np.asarray(cost + 1e6 * outside + 1e6 * _covered(places, half, self.taken))

    def readable(self, chosen: Floats) -> tuple[Spot | None, ...]:
        """The places inside that cover neither a kept label nor another's disc, and stand at their own mark."""
        kept: list[Spot | None] = []
        centres, boxes = self.centres, list(self.taken)
        for index, position in enumerate(chosen):
            half = self.half[index]
            off = (position < half).any() or (position > self.size - half).any()
            near = np.abs(np.delete(centres, index, axis=0) - position) < half + self.radius * 0.6
            gaps = np.maximum(np.abs(centres - position) - half, 0)
            distance = np.hypot(gaps[:, 0], gaps[:, 1])
            apart = np.hypot(*(centres - centres[index]).T) > self.radius
            is_anothers = bool((distance[apart] < distance[index] - DOUBT).any())
            on_text = _covered(position[None], half, boxes).any()
            lost = off or near.all(axis=1).any() or on_text or is_anothers
            kept.append(None if lost else (float(position[0]), float(position[1])))
            boxes += [] if lost else [(*position, *half)]
        return tuple(kept)


def _nearest(places: Floats, half: Floats, points: Floats) -> Floats:
    """How far the box of that half size at each place is from the nearest of the points."""
    if not len(points):
        return np.full(len(places), np.inf)
    every = points[::3]
    across = np.maximum(np.abs(np.subtract.outer(places[:, 0], every[:, 0])) - half[0], 0)
    down = np.maximum(np.abs(np.subtract.outer(places[:, 1], every[:, 1])) - half[1], 0)
    return np.asarray(np.sqrt((across**2 + down**2).min(axis=1)), dtype=np.float64)


def drawn(axes: Panel, x: Sequence[float] | Floats, y: Sequence[float] | Floats) -> Floats:
    """Points along a line of the data in a panel, in mm, close together."""
    return resampled(*axes.spots(np.asarray(x, dtype=float), np.asarray(y, dtype=float)).T)


def resampled(x: Floats, y: Floats, step: float = 0.4) -> Floats:
    """Points along a line (mm), close enough together that a label cannot slip between them."""
    known = ~(np.isnan(x) | np.isnan(y))
    x, y = x[known], y[known]
    if len(x) < 2:
        return np.column_stack((x, y))
    along = np.concatenate(([0.0], np.cumsum(np.hypot(np.diff(x), np.diff(y)))))
    every = np.linspace(0, along[-1], max(2, min(1000, int(along[-1] / step))))
    return np.column_stack((np.interp(every, along, x), np.interp(every, along, y)))


def place_on_line(
    text: str,
    line: Floats,
    others: Floats,
    taken: Sequence[Box],
    size: tuple[float, float],
    weight: int = 400,
    prefer: float = 0.4,
    *,
    apart: bool = True,
) -> Spot | None:
    """The centre of a label beside a line (points in mm), off every other line and label; None when there is no room.

    `taken` are boxes as centre and half size; `prefer` is the share of the line's length where the label stands best;
    with `apart` it costs to stand nearer to another line.
    """
    half = label_half(text, weight) + np.array([0.5, 0.0])
    inside = line[((line >= 0) & (line <= np.array(size))).all(axis=1)]
    if not len(inside):
        return None
    anchors = inside[np.unique(np.linspace(0, len(inside) - 1, 40).astype(int))]
    share = np.linspace(0, 1, len(anchors))
    moves = [
        (side * (half[0] + 0.8), rise * (half[1] + gap))
        for side, rise in ((0, -1), (0, 1), (1, -1), (-1, -1), (1, 1), (-1, 1), (1, 0), (-1, 0))
        for gap in (0.5, 1.5, 3.0, 4.8)
    ]
    places = np.concatenate([anchors + np.array(move) for move in moves])
    cost = np.tile(8 * np.abs(share - prefer), len(moves))
    sideways = [abs(move[1]) * 0.1 + abs(move[0]) * 0.02 + (0.4 if move[0] < 0 else 0.0) for move in moves]
    cost += np.repeat(sideways, len(anchors))
    crossings = _crossed(places, half, line) + _crossed(places, half, others)
    if apart:
        cost += 2.5 * (_nearest(places, half, others) < _nearest(places, half, line))
    outside = (places < half + 0.2).any(axis=1) | (places > np.array(size) - half - 0.2).any(axis=1)
    cost += 5 * crossings + 1e4 * (outside | (_covered(places, half, taken) > 0))
    best = int(np.argmin(cost))
    return None if cost[best] >= 1e4 else (float(places[best, 0]), float(places[best, 1]))


def label(
    axes: Panel,
    text: str,
    line: Floats,
    others: Floats,
    taken: list[Box],
    *,
    prefer: float = 0.4,
    apart: bool = True,
    half: float = LABEL_HEIGHT / 2,
    **looks: Any,
) -> None:
    """Label a line (points in mm) of a panel where `place_on_line` finds room, and add its box to what is taken."""
    weight = int(looks.get("weight", 400))
    spot = place_on_line(text, line, others, taken, (axes.width, axes.height), weight, prefer, apart=apart)
    if spot is not None:
        axes.text(*axes.point(spot), text, ha="center", va="center", **{"zorder": 5} | looks)
        taken.append((*spot, text_width(text, weight) / 2 + 0.5, half))


def label_half(text: str, weight: int = 400) -> Floats:
    """Half the width and half the height of a label of one line or more, in mm."""
    lines = text.split("\n")
    return np.array([max(text_width(line, weight) for line in lines) / 2, (LABEL_HEIGHT + (len(lines) - 1) * LINE) / 2])


def stands_on_a_line(text: str, spot: Spot, lines: Floats, weight: int = 400) -> bool:
    """Whether a line (points in mm) runs through the letters of a label whose centre is that spot."""
    half = np.array([text_width(text, weight) / 2, LABEL_HEIGHT / 2 - 0.6])
    return bool(_crossed(np.array([spot]), half, lines).any())


def is_clear(text: str, spot: Spot, line: Floats, others: Floats, weight: int = 400, apart: float = 0.0) -> bool:
    """Whether a label crosses no line (points in mm) and stands nearer to its own than to any other, by `apart` mm."""
    half = label_half(text, weight) - np.array([0.0, 0.4])
    position = np.array([spot])
    crosses = bool((_crossed(position, half, others) + _crossed(position, half, line)).any())
    return not crosses and bool((_nearest(position, half, line) + apart <= _nearest(position, half, others)).all())
