"""Where values are missing: predictor by predictor, dataset by dataset."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from matplotlib.patches import Rectangle

from dossier.core import facts, types
from dossier.core.bands import MAP_ROWS, MAP_WITH_NUMBERS
from dossier.report.figures import canvas, captions, ink
from dossier.typeset import numbers, widths
from dossier.typeset.names import label_of, shown, without_predictors
from dossier.typeset.words import counted, listing

SHADES: Mapping[float, str] = {0.05: "white", 0.2: ink.TINTS[0], 0.5: ink.TINTS[1], 0.999: ink.TINTS[2], 1.0: "#8b939b"}
"""The shade of a share by its upper end."""

ROW = canvas.LINE
NAMES, LONGEST = 46.0, 70.0
"""The width that names of predictors have in any case, and where columns are few, in mm."""
NARROWEST = 8.0
"""How narrow a column becomes, in mm."""
WIDEST = 24.0
"""How wide a column becomes where there is room, in mm."""
MOST_COLUMNS = 48


def shares(evidence: types.Evidence) -> dict[tuple[str, str], float]:
    """The share of missing values by dataset and predictor."""
    return {
        (row.dataset, row.described.variable): row.described.value / row.described.n
        for row in evidence.descriptions
        if row.described.statistic == "missing" and isinstance(row.described.n, int) and row.described.n
    }


def gappy(known: Mapping[tuple[str, str], float]) -> list[str]:
    """The predictors that miss a value anywhere, the one with the most missing first."""
    every = facts.gathered((predictor, share) for (_, predictor), share in known.items())
    most = {predictor: max(shares) for predictor, shares in every.items() if max(shares) > 0}
    return sorted(most, key=lambda predictor: -most[predictor])


def shade(share: float) -> str:
    """The shade of a share: the more is missing, the darker."""
    return next(colour for upper, colour in SHADES.items() if share <= upper)


def _least(dataset: types.DatasetSummary, *, numbered: bool) -> float:
    """The least width of a column in mm: the longest word above it, or a share."""
    words = label_of(dataset).split() if numbered else []
    return max([NARROWEST, *(widths.text_width(word) + 1.6 for word in words)])


def _edges(datasets: Sequence[types.DatasetSummary], left: float, *, numbered: bool) -> list[float]:
    """Where the columns begin and end: as wide as the longest word above them, and wider while there is room."""
    room = canvas.FULL - left - 1.5
    alike = min(room / len(datasets), WIDEST)
    least = [_least(dataset, numbered=True) if numbered else 0.0 for dataset in datasets]
    wide = [max(alike, width) for width in least]
    if sum(wide) > room:
        spare = max(0.0, room - sum(least)) / len(datasets)
        wide = [width + spare for width in least] if sum(least) <= room else [room / len(datasets)] * len(datasets)
    return list(itertools.accumulate(wide, initial=left))


def _word(share: float | None, across: float) -> tuple[str, str]:
    """What stands in a field: nothing missing, the share in per cent, all, or that the predictor is not held."""
    if share is None:
        return ("not held" if across >= widths.text_width("not held") + 1 else "\N{EN DASH}"), ink.INK_2
    if share == 0:
        return "0", ink.INK_2
    return ("all" if share == 1 else numbers.number(share, 0, percent=True)), ink.INK


@canvas.figure("Missing values")
def missingness(evidence: types.Evidence) -> canvas.Drawn | types.Absent:
    """Which predictors lack values in which dataset, and how many."""
    known = shares(evidence)
    rows = gappy(known)[:MAP_ROWS]
    if not rows:
        return types.Absent(facts.Fact("no_missing_value"))
    datasets = [dataset for dataset in shown(evidence) if dataset.features][:MOST_COLUMNS]
    numbered = len(datasets) <= MAP_WITH_NUMBERS
    # The names may be as wide as the columns leave room, at their least width.
    room = canvas.FULL - 4.0 - sum(_least(dataset, numbered=numbered) for dataset in datasets)
    names = widths.shortened(rows, max(NAMES, min(LONGEST, room)))
    edges = _edges(datasets, max(map(widths.text_width, names)) + 2.5, numbered=numbered)
    spans = [(start, end - start) for start, end in itertools.pairwise(edges)]
    heads = (
        widths.on_lines([label_of(dataset) for dataset in datasets], [across - 1.5 for _, across in spans], 4)
        if numbered
        else [str(index) for index in range(1, len(datasets) + 1)]
    )
    top = max(text.count("\n") + 1 for text in heads) * 3.9 + 2.2
    drawn = canvas.sheet(canvas.FULL, top + len(rows) * ROW + 1.0)
    axes = canvas.in_millimetres(drawn)
    for index, text in enumerate(heads):
        start, across = spans[index]
        if not numbered and across < 5.5 and index % 2:
            continue
        middle = start + across / 2
        for above, line in enumerate(reversed(text.split("\n"))):
            axes.text(middle, top - 2.6 - above * 3.9, line, ha="center", va="center_baseline", color=ink.INK)
    for row, predictor in enumerate(rows):
        y = top + row * ROW
        axes.text(0, y + ROW / 2, names[row], ha="left", va="center_baseline", color=ink.INK)
        for index, dataset in canvas.of_each(drawn, list(enumerate(datasets)), lambda each: each[1]):
            share = known.get((dataset.name, predictor))
            start, across = spans[index]
            corner = (start + 0.3, y + 0.3)
            colour, name = "white" if share is None else shade(share), f"{dataset.name}/{predictor}"
            axes.add_patch(Rectangle(corner, across - 0.6, ROW - 0.6, linewidth=0.5, fc=colour, ec=ink.RULE, gid=name))
            centre = (start + across / 2, y + ROW / 2)
            if numbered:
                text, colour = _word(share, across)
                axes.text(*centre, text, ha="center", va="center_baseline", color=colour)
            elif share is None:
                axes.plot([corner[0], corner[0] + across - 0.6], [y + ROW - 0.3, y + 0.3], color=ink.RULE, lw=0.5)
    return canvas.Drawn(drawn, _caption(evidence, known), _alternative(evidence, known))


def _caption(evidence: types.Evidence, known: Mapping[tuple[str, str], float]) -> str:
    every = gappy(known)
    datasets = [dataset for dataset in shown(evidence) if dataset.features]
    whole = {predictor for _, predictor in known} - set(every)
    complete, more = len(whole), len(every) - MAP_ROWS
    # How many of the predictors without a gap not all of these datasets hold, and which do not.
    lacking = {label_of(dataset): whole - set(dataset.features) for dataset in datasets}
    count, where = len(set[str]().union(*lacking.values())), [name for name, lost in lacking.items() if lost]
    verb = "does" if len(where) == 1 else "do"
    return captions.said(
        "missing_values",
        evidence,
        columns=counted(len(datasets), "dataset"),
        many=len(datasets) > MAP_WITH_NUMBERS,
        complete=counted(complete, "predictor") if complete else "",
        verb="is" if complete == 1 else "are",
        not_held=f", of which {captions.joined(where)} {verb} not hold {count}" if count else "",
        without=without_predictors(evidence),
        more=counted(more, "predictor") if more > 0 else "",
    )


def _alternative(evidence: types.Evidence, known: Mapping[tuple[str, str], float]) -> str:
    site = {dataset.name: label_of(dataset) for dataset in evidence.datasets}
    # The predictors that no patient of a dataset has, each with its datasets; the rest as a number.
    where = facts.gathered((predictor, site[name]) for (name, predictor), share in known.items() if share == 1)
    texts = [f"{predictor} in {captions.joined(sites, 3)}" for predictor, sites in sorted(where.items())]
    count, lost = len(gappy(known)), texts if len(texts) <= 3 else [*texts[:3], f"{len(texts) - 3} more predictors"]
    (name, predictor), share = max(
        ((pair, share) for pair, share in known.items() if share < 1),
        key=lambda found: found[1],
        default=(("", ""), 0.0),
    )
    most = f"{predictor} in {site[name]}, {numbers.per_cent(share)}" if share > 0 else ""
    most_often = f" Most often{' elsewhere' if lost else ''}: {most}." if most else ""
    in_all = f" No patient has a value of {listing(lost)}." if lost else ""
    return f"{counted(count, 'predictor')} {'has' if count == 1 else 'have'} missing values.{in_all}{most_often}"
