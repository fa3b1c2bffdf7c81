"""The flow of the participants: rows read, left out and why, analysed, with the outcome and without."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from dossier.core import facts, types
from dossier.report.figures import canvas, captions, ink, marks
from dossier.typeset import names, numbers, widths, words

TOP, GAP, BOX, PAD, BAR, ACROSS = 6.0, 1.6, 5.0, 1.6, 15.0, 3.2
"""In mm: the head, the space below a row, a box, the space within one, a bar, and the space between two columns."""
SHORTEST_WAY, LONGEST_WAY, NARROWEST_NAME, TALLEST = 24.0, 46.0, 30.0, 200.0
"""In mm: the way from box to box, along which it is said what was left out, the room of a name, and all rows."""


@dataclass(frozen=True)
class Flow:
    """What is said of a dataset: when and where, what was left out, and how many had each outcome."""

    of: types.DatasetSummary
    about: tuple[str, ...]
    left_out: tuple[str, ...]
    outcomes: tuple[str, ...]

    @classmethod
    def through(cls, dataset: types.DatasetSummary, beside: Iterable[str]) -> Flow:
        """What the release declares of a dataset, and what was counted, `beside` the outcome at the horizon too."""
        period = "" if dataset.dates is None else words.dates(dataset.dates)
        about = ("period withheld" if dataset.dates_withheld else period, dataset.country, dataset.setting)
        lost = (f"{names.count_of(count)} {words.exclusion(why)}" for why, count in dataset.excluded.items() if count)
        if dataset.class_counts:
            outcomes = tuple(f"{count:,}" for count in dataset.class_counts.values())
        elif dataset.events is None:
            outcomes = (names.events_of(dataset, "not known"), "")
        else:
            share = "" if dataset.prevalence is None else f" ({numbers.per_cent(dataset.prevalence)})"
            outcomes = (f"{dataset.events:,}{share}", f"{dataset.others:,}", *names.counted_at_horizon(dataset, beside))
        return cls(dataset, tuple(text for text in about if text), tuple(lost), outcomes)

    def in_words(self, heads: Sequence[str]) -> str:
        """The same in words."""
        lost = f", left out {captions.joined(self.left_out)}" if self.left_out else ""
        found = [f"{text} {head}" for text, head in zip(self.outcomes, heads, strict=False) if text]
        rows = f"{names.rows_read_of(self.of)} rows read{lost}, {self.of.n:,} analysed"
        return f"{names.label_of(self.of)}: {rows}, {captions.joined(found, len(found))}"


@canvas.figure("Flow of the participants")
def participant_flow(evidence: types.Evidence) -> canvas.Drawn | types.Absent:
    """How many rows of each dataset were read, left out and why, analysed, and had the outcome."""
    beside = names.heads_at_horizon(names.shown(evidence), "heads_of_flow")
    flows = [Flow.through(dataset, beside) for dataset in names.shown(evidence)]
    classes = next((list(flow.of.class_counts) for flow in flows if flow.of.class_counts), [])
    heads = classes or ["with outcome", "without", *beside.values()]
    bar = 0.0 if classes or beside else BAR + ACROSS
    read = _widest(["read", *(names.rows_read_of(flow.of) for flow in flows)]) + 2 * PAD
    analysed = _widest(["analysed", *(f"{flow.of.n:,}" for flow in flows)]) + 2 * PAD
    lost = _widest([text for flow in flows for text in flow.left_out]) + 5.0
    way = min(max(lost, SHORTEST_WAY), LONGEST_WAY)
    # The first head may stand over the bar.
    columns = [
        _widest(
            [*([] if bar and not at else [head]), *(flow.outcomes[at] for flow in flows if at < len(flow.outcomes))]
        )
        for at, head in enumerate(heads)
    ]
    rest = canvas.FULL - read - way - analysed - bar - sum(columns) - ACROSS * len(heads)
    # Beside wide numbers, as ranges are, names have no room: they stand above their rows.
    is_above = rest - ACROSS < NARROWEST_NAME
    if is_above:
        rest, way = rest + way - SHORTEST_WAY, SHORTEST_WAY
    room = canvas.FULL if is_above else rest - ACROSS
    labels = widths.on_lines([names.label_of(flow.of) for flow in flows], [room] * len(flows), 2)
    texts = [_beside(label, ", ".join(flow.about), room) for flow, label in zip(flows, labels, strict=True)]
    lines = [1 + max(row for row, *_ in parts) for parts in texts]
    tall = [
        (high + 1.25 + len(flow.left_out) if is_above else max(high, 1 + len(flow.left_out))) * canvas.LINE + GAP
        for high, flow in zip(lines, flows, strict=True)
    ]
    if rest < 0 or sum(tall) > TALLEST:
        return types.Absent(facts.Fact("more_than_a_page_holds", what="the flow of the participants"))
    drawn = canvas.sheet(canvas.FULL, TOP + sum(tall))
    axes = canvas.in_millimetres(drawn)
    start = rest + read
    end = start + way
    first = end + analysed + ACROSS
    ends = [first + bar + wide + ACROSS * at for at, wide in enumerate(accumulate(columns))]
    for x, text in [(start - PAD, "read"), (end + analysed - PAD, "analysed"), *zip(ends, heads, strict=True)]:
        canvas.write(drawn, x, 2.0, text, ha="right", color=ink.INK_2)
    developed = (flow.of.prevalence for flow in flows if flow.of.role == "development" and flow.of.n)
    reference = next((share for share in developed if share is not None), None)
    rows = list(zip(flows, texts, lines, accumulate(tall, initial=TOP), strict=False))
    for flow, parts, high, above in canvas.of_each(drawn, rows, lambda each: each[0].of):
        for row, place, line, colour in parts:
            canvas.write(drawn, place, above + (row + 0.5) * canvas.LINE, line, color=colour)
        middle = above + (high + 0.75 if is_above else 0.5) * canvas.LINE
        _left_out(axes, flow, start, end, middle)
        _box(axes, start - read, middle, read, names.rows_read_of(flow.of))
        _box(axes, end, middle, analysed, f"{flow.of.n:,}")
        if bar and flow.of.prevalence is not None:
            _bar(axes, first, middle, flow.of, reference)
        for at, (x, count) in enumerate(zip(ends, flow.outcomes, strict=False)):
            canvas.write(drawn, x, middle, count, ha="right", weight=400 if at or classes else 600)
    said = "; ".join(flow.in_words(heads) for flow in flows)
    return canvas.Drawn(drawn, _caption(evidence, flows, reference), f"{said}.", _message(types.externals(evidence)))


def _widest(texts: Iterable[str]) -> float:
    return max((widths.text_width(text, 600) for text in texts), default=0.0)


def _beside(label: str, about: str, room: float) -> list[tuple[int, float, str, str]]:
    """The name of a dataset, and when and where behind it or else below: the line, its place, the text, the colour."""
    name = label.split("\n")
    parts = [(row, 0.0, line, ink.INK) for row, line in enumerate(name)]
    behind = widths.text_width(label) + 2.4
    if len(name) == 1 and behind + widths.text_width(about) <= room:
        return [*parts, (0, behind, about, ink.INK_2)] if about else parts
    below = widths.on_lines([about], [room], 3)[0].split("\n")
    return [*parts, *((row, 0.0, line, ink.INK_2) for row, line in enumerate(below, len(name)))]


def _left_out(axes: Axes, flow: Flow, start: float, end: float, middle: float) -> None:
    """The arrow from box to box, and below it what was left out on the way."""
    axes.plot([start, end - 0.8], [middle] * 2, color=ink.MID, lw=0.7)
    marks.dot(axes, end - 0.8, middle, ">", 3.6, ink.MID)
    for row, text in enumerate(flow.left_out, 1):
        short, y = widths.shortened([text], canvas.FULL - start - 5.0)[0], middle + row * canvas.LINE
        axes.plot([start + 2.0] * 2, [middle, y + 1.6], color=ink.MID, lw=0.7)
        axes.text(start + 3.2, y, short, va="center_baseline", color=ink.INK_2)


def _box(axes: Axes, x: float, middle: float, wide: float, text: str) -> None:
    axes.add_patch(Rectangle((x, middle - BOX / 2), wide, BOX, fc="white", ec=ink.INK_2, lw=0.5))
    axes.text(x + wide - PAD, middle, text, ha="right", va="center_baseline")


def _bar(axes: Axes, x: float, middle: float, dataset: types.DatasetSummary, reference: float | None) -> None:
    """The analysed patients as a bar, those with the outcome dark, and how far it goes in the development data."""
    share = dataset.prevalence or 0.0
    for wide, colour, gid in ((BAR, "white", None), (BAR * share, ink.BLUE, f"share-{dataset.name}")):
        axes.add_patch(Rectangle((x, middle - 1.4), wide, 2.8, fc=colour, ec=ink.INK_2, lw=0.5, gid=gid))
    if reference is not None:
        axes.plot([x + BAR * reference] * 2, [middle - 2.2, middle + 2.2], color=ink.INK, lw=1.2, gid="reference")


def _caption(evidence: types.Evidence, flows: Sequence[Flow], reference: float | None) -> str:
    datasets = [flow.of for flow in flows]
    external = [each for each in datasets if each.role == "external"]
    return captions.said(
        "participants",
        evidence,
        external,
        sites=captions.sites_word(len(external)),
        lost=any(flow.left_out for flow in flows),
        bars=not any(each.class_counts for each in datasets) and not names.heads_at_horizon(datasets),
        horizon=names.at_horizon(external, "below_flow", evidence.release.outcome.competing_events),
        reference="" if reference is None else numbers.per_cent(reference),
        splits=any(each.splits for each in datasets),
        unweighted=names.unweighted(datasets),
    )


def _message(sites: Sequence[types.DatasetSummary]) -> str:
    lost, least = names.lost_rows(sites)
    rows = sum(site.n for site in sites) + lost
    if not lost and not least:
        return f"All {rows:,} rows that were read are analysed."
    return f"Of {least}{rows:,} rows {least}{lost:,} {names.not_analysed(sites)}."
