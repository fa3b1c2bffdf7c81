"""Where the patients come from: the way of the rows into the analysis, and when each dataset was gathered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from dossier.facts import Fact
from dossier.figures.canvas import (
    BLUE,
    FULL,
    INK,
    INK_2,
    LINE,
    RULE,
    TINTS,
    Key,
    panel,
    patients,
    picture,
    sheet,
    shortened,
    styled,
    text_width,
    wrapped,
    write,
)
from dossier.register import figure
from dossier.types import Absent, DatasetSummary, Evidence, Picture, Withheld, externals
from dossier.typeset.names import count_of, events_of, label_of, lost_rows, sum_known
from dossier.typeset.names import shown as in_order
from dossier.typeset.words import counted, exclusion, listing, sentence_case

MOST_ROWS = 40
MOST_REASONS = 4
WIDEST_NAME = 51.0
BOX = 9.4
"""The height of a box of the flow, in mm."""
RISE = 4.0
"""From the line of the flow up to the boxes of what was excluded, in mm."""
GAP = 3.2
LEAST_BARS, LEAST_PLAIN_BARS = 16.0, 10.0
"""The room for the bars in mm, and for those that show no events."""
LEAST_NAME = 30.0
LEAST_BOX = 16.0
"""The width of a box that holds its longest word, in mm."""
BAR = 2.6
LEAST_BAR = 0.3
"""A count above 0 is never shorter than this, in mm."""


# ---- from the rows that were read to the events ---------------------------------------------------------------------


ANALYSED = "Analysed"


@dataclass(frozen=True)
class Stage:
    """One box of the flow: its words, how many rows of each dataset are in it, and whether they leave there."""

    words: str
    counts: tuple[str, ...]
    total: str
    leaves: bool = False
    of_class: bool = False
    """Whether it holds the patients of one of several classes."""


def reasons_of(datasets: Sequence[DatasetSummary]) -> tuple[str, ...]:
    """Why rows were excluded, in the order of appearance."""
    return tuple(dict.fromkeys(reason for one in datasets for reason, count in one.excluded.items() if count))


def stages(evidence: Evidence, datasets: Sequence[DatasetSummary]) -> tuple[Stage, ...]:
    """The boxes of the flow from left to right; rare reasons beyond the fourth stand together."""
    every = reasons_of(in_order(evidence))
    alone = every if len(every) <= MOST_REASONS else every[: MOST_REASONS - 1]
    named: list[tuple[str, tuple[str, ...]]] = [(exclusion(reason), (reason,)) for reason in alone]
    if len(alone) < len(every):
        named.append(("other reasons", every[len(alone) :]))
    sites = externals(evidence)
    excluded = [
        Stage(
            sentence_case(words),
            tuple(_lost([one], reasons) for one in datasets),
            _lost(sites, reasons),
            leaves=True,
        )
        for words, reasons in named
    ]
    return (
        Stage("Rows read", tuple(_read([one]) for one in datasets), _read(sites)),
        *excluded,
        Stage(ANALYSED, tuple(f"{one.n:,}" for one in datasets), f"{sum(one.n for one in sites):,}"),
        *(_by_class if evidence.release.outcome.classes else _by_outcome)(evidence, datasets),
    )


def _by_outcome(evidence: Evidence, datasets: Sequence[DatasetSummary]) -> tuple[Stage, ...]:
    """The boxes after the analysis: how many had the outcome, and how many had not."""
    sites = externals(evidence)
    events = [one.events for one in sites if one.events is not None]
    known = len(events) == len(sites)
    return (
        Stage(
            "Events",
            tuple(events_of(one, "–") for one in datasets),
            f"{sum(events):,}" if known else "–",
        ),
        Stage(
            "No events",
            tuple(events_of(one, "–") if one.events is None else f"{one.n - one.events:,}" for one in datasets),
            f"{sum(one.n for one in sites) - sum(events):,}" if known else "–",
        ),
    )


MOST_CLASSES = 5
"""Of more classes than this the flow ends with the analysis: there is no room for a box for each."""


def _by_class(evidence: Evidence, datasets: Sequence[DatasetSummary]) -> tuple[Stage, ...]:
    """The boxes after the analysis where the outcome has several classes: how many were of each."""
    classes = evidence.release.outcome.classes or ()
    if len(classes) > MOST_CLASSES:
        return ()
    sites = externals(evidence)
    made = []
    for label in classes:
        known = [one.class_counts[label] for one in sites if label in one.class_counts]
        counts = tuple(_of_class(one, label) for one in datasets)
        made.append(Stage(label, counts, f"{sum(known):,}" if len(known) == len(sites) else "–", of_class=True))
    return tuple(made)


def _of_class(dataset: DatasetSummary, label: str) -> str:
    """How many patients of a class a dataset has, in figures."""
    return f"{dataset.class_counts[label]:,}" if label in dataset.class_counts else events_of(dataset, "–")


def _lost(datasets: Sequence[DatasetSummary], reasons: Sequence[str]) -> str:
    """How many rows the datasets lose for these reasons; together with one that is withheld it is withheld too."""
    counts = [dataset.excluded.get(reason, 0) for dataset in datasets for reason in reasons]
    withheld = next((count for count in counts if isinstance(count, Withheld)), None)
    if withheld is None:
        return f"{sum_known(counts):,}"
    return count_of(withheld) if len(counts) == 1 else "withheld"


def _read(datasets: Sequence[DatasetSummary]) -> str:
    """How many rows were read."""
    if any(isinstance(dataset.rows_read, Withheld) for dataset in datasets):
        return "withheld"
    return f"{sum_known(dataset.rows_read for dataset in datasets):,}"


def draw_flow(evidence: Evidence) -> Figure | Absent:
    """Boxes and arrows for the stages, one row a dataset below them, and how large each is at the right."""
    every = in_order(evidence)
    if not every:
        return Absent(Fact("no_dataset"))
    shown = every[:MOST_ROWS]
    boxes = stages(evidence, shown)
    name, spans = _spans(boxes, [label_of(one) for one in shown])
    high = BOX + RISE if any(box.leaves for box in boxes) else RISE
    totals = len(externals(evidence)) > 1
    rows = len(shown) + totals + (len(shown) < len(every))
    top = high + BOX + 2.0
    drawn = sheet(FULL, top + rows * LINE + 1.0)
    page = panel(drawn, 0, 0, FULL, top + rows * LINE + 1.0)
    page.set_xlim(0, FULL)
    page.set_ylim(top + rows * LINE + 1.0, 0)
    page.axis("off")
    _boxes(drawn, page, boxes, spans, high)
    names = shortened([label_of(one) for one in shown], name)
    right = [end - 1.2 for _, end in spans]
    if totals:
        write(drawn, 0, top + 0.5 * LINE, "All external", weight=600)
        for box, place in zip(boxes, right, strict=True):
            write(drawn, place, top + 0.5 * LINE, box.total, ha="right", weight=600)
    start, most = spans[-1][1] + GAP + 1.0, max(_longest(shown), 1)
    for row, one in enumerate(shown, start=int(totals)):
        y = top + (row + 0.5) * LINE
        write(drawn, 0, y, names[row - totals])
        for box, place in zip(boxes, right, strict=True):
            count = box.counts[row - totals]
            write(drawn, place, y, count, ha="right", color=INK_2 if box.leaves or count == "0" else INK)
        if one.n <= most:
            _bar(page, one, (start, y), (FULL - start - 0.3) / most)
    if len(shown) < len(every):
        rest = f"and {counted(len(every) - len(shown), 'dataset')} more"
        write(drawn, 0, top + (rows - 0.5) * LINE, rest, color=INK_2)
    return drawn


def _longest(shown: Sequence[DatasetSummary]) -> int:
    """The patients of the longest bar: the rows of refitted splits are many times the patients, and flatten all."""
    return max((one.n for one in shown if not one.splits), default=max(one.n for one in shown))


def _spans(boxes: Sequence[Stage], labels: Sequence[str]) -> tuple[float, list[tuple[float, float]]]:
    """The width of the names, and where each box begins and ends: classes as narrow as they can be, the rest alike."""
    slim = [_slim(box) if box.of_class else None for box in boxes]
    taken = sum(width for width in slim if width is not None) + len(boxes) * GAP
    wide = sum(width is None for width in slim)
    bars = LEAST_BARS if wide == len(boxes) else LEAST_PLAIN_BARS
    room = max(LEAST_NAME, FULL - GAP - bars - taken - wide * LEAST_BOX)
    name = min(max(map(text_width, labels)), WIDEST_NAME, room)
    name = max(name, text_width("All external", 600))
    alike = min(19.0, (FULL - name - GAP - bars - taken) / wide)
    # Ranges of counts are longer than counts: then each box is as wide as its own.
    longest = [max(text_width(text, 600) for text in (box.total, *box.counts)) + 1.6 for box in boxes]
    if max(longest) > alike:
        alike = LEAST_BOX
    spans, left = [], name + GAP
    for width, least in zip(slim, longest, strict=True):
        spans.append((left, left + (max(alike, least) if width is None else width)))
        left = spans[-1][1] + GAP
    return name, spans


def _slim(box: Stage) -> float:
    """The least width of a box that holds its name and its counts, in mm."""
    return min(LEAST_BOX, max(text_width(text, 600) for text in (box.words, box.total, *box.counts)) + 1.6)


def _boxes(
    drawn: Figure, page: Axes, boxes: Sequence[Stage], spans: Sequence[tuple[float, float]], high: float
) -> None:
    """The boxes, the line from the first to the last, the ways out upwards, and the fork into events and no events."""
    middle = high + BOX / 2
    for box, (left, right) in zip(boxes, spans, strict=True):
        width, centre = right - left, (left + right) / 2
        top = 0.0 if box.leaves else high
        fill = "white" if box.leaves else TINTS[1]
        page.add_patch(Rectangle((left, top + 0.2), width, BOX - 0.4, fc=fill, ec=RULE, lw=0.5, zorder=2))
        words = wrapped(box.words, width - 1.0, 2, 600) or shortened([box.words], width - 1.0, 600)[0]
        for line, text in enumerate(words.split("\n")):
            offset = (line - words.count("\n") / 2) * HEAD
            write(drawn, centre, top + BOX / 2 + offset, text, ha="center", weight=600)
        if box.leaves:
            _arrow(page, [(centre, middle), (centre, BOX)])
    analysed = next(place for place, box in enumerate(boxes) if box.words == ANALYSED)
    begin, end = spans[analysed]
    _arrow(page, [(spans[0][1], middle), (begin, middle)])
    for left, _ in spans[analysed + 1 : analysed + 2]:
        _arrow(page, [(end, middle), (left, middle)])
    fork, above = end + GAP / 2, high - RISE / 2
    for left, right in spans[analysed + 2 :]:
        centre = (left + right) / 2
        _arrow(page, [(fork, middle), (fork, above), (centre, above), (centre, high)])


HEAD = 3.7


def _arrow(page: Axes, path: Sequence[tuple[float, float]]) -> None:
    """A line along a path with a head at its end."""
    page.plot([x for x, _ in path], [y for _, y in path], color=INK_2, lw=0.7, zorder=1, solid_capstyle="butt")
    (before_x, before_y), (x, y) = path[-2], path[-1]
    towards = ">" if x > before_x else "v" if y > before_y else "^"
    back = 0.5
    place = (x - back, y) if towards == ">" else (x, y - back) if towards == "v" else (x, y + back)
    page.plot(*([value] for value in place), towards, ms=3.2, mfc=INK_2, mec="none", color=INK_2, zorder=3)


def _bar(page: Axes, dataset: DatasetSummary, corner: tuple[float, float], scale: float) -> None:
    """The patients of a dataset to scale: events filled, the others outlined."""
    x, y = corner
    whole = max(dataset.n * scale, LEAST_BAR if dataset.n else 0.0)
    page.add_patch(Rectangle((x, y - BAR / 2), whole, BAR, fc=TINTS[2], ec=INK_2, lw=0.5, zorder=2))
    if dataset.events:
        events = max(dataset.events * scale, LEAST_BAR)
        page.add_patch(Rectangle((x, y - BAR / 2), events, BAR, fc=BLUE, ec="none", zorder=3))


@figure("Participant flow")
def participant_flow(evidence: Evidence) -> Picture | Absent:
    """How many rows of every dataset were read, left out and why, and analysed, and how many had the outcome."""
    with styled():
        drawn = draw_flow(evidence)
        if isinstance(drawn, Absent):
            return drawn
        sites, shown = externals(evidence), in_order(evidence)[:MOST_ROWS]
        caption = f"{patients(sites)} analysed at {counted(len(sites), 'external site')}. Bars: to scale"
        caption += "." if evidence.release.outcome.classes else ", events filled, the others light."
        if any(dataset.splits for dataset in evidence.datasets):
            caption += " Rows of refitted splits count each patient once a split"
            is_longer = any(dataset.splits and dataset.n > _longest(shown) for dataset in shown)
            caption += "; longer than every bar, they have none." if is_longer else "."
        return picture("participant_flow", drawn, caption, _flow_told(evidence), _flow_told(evidence, reasons=False))


def _flow_told(evidence: Evidence, *, reasons: bool = True) -> str:
    """Rows in, rows out and why, and events, of the external sites."""
    sites = externals(evidence)
    analysed = sum(one.n for one in sites)
    told = [f"{_lost(sites, [reason])} {exclusion(reason)}" for reason in reasons_of(sites)]
    lost, least = lost_rows(sites)
    out = f"{least}{lost:,} are left out{f' ({listing(told)})' if reasons else ''}, " if told else ""
    events = [one.events for one in sites if one.events is not None]
    had = f", and {sum(events):,} of them had the outcome" if len(events) == len(sites) else ""
    if evidence.release.outcome.classes:
        told = [f"{box.total} {box.words}" for box in _by_class(evidence, sites) if box.total != "–"]
        had = f": {listing(told)}" if told else ""
    read = f"{_read(sites)} rows" if least else counted(analysed + lost, "row")
    read = read.replace("withheld rows", "a number of rows that is withheld")
    return f"Of {read} of external data {out}{analysed:,} are analysed{had}."


# ---- when the data were gathered ------------------------------------------------------------------------------------


LOOKS = {
    "external": Key("external", BLUE, fill=True),
    "internal": Key("internal", TINTS[2], fill=True, edge=INK_2),
    "development": Key("development", "white", fill=True, edge=INK_2),
}
