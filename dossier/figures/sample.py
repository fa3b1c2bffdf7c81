"""Whether there are enough patients: those there are against those that each criterion asks for, site by site."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dossier.facts import Fact
from dossier.figures.canvas import (
    ALERT,
    FULL,
    INK,
    INK_2,
    LINE,
    RULE,
    joined,
    labels,
    left_out,
    panel,
    patients,
    picture,
    primary_threshold,
    sheet,
    sites_word,
    styled,
    text_width,
    tick_text,
    ticks,
    write,
)
from dossier.register import figure
from dossier.types import Absent, DatasetSummary, Estimate, Evidence, Picture, externals, find
from dossier.typeset.numbers import number

MOST_ROWS = 44
WIDEST_NAME = 46.0
WIDEST_PANEL = 60.0
GAP = 4.2
TOP = 5.6
LEAST, MOST = 0.1, 10.0
"""The ends of the axis: a tenth of the patients needed, and ten times as many."""


@dataclass(frozen=True)
class Criterion:
    """One measure whose interval should be narrow enough: what it is called, and what its sample size depends on."""

    measure: str
    name: str
    at: Mapping[str, float] = field(default_factory=dict)


def criteria(evidence: Evidence) -> tuple[Criterion, ...]:
    """The criteria that can be checked at some site."""
    return tuple(one for one in every_criterion(evidence) if _is_known(evidence, one))


def _is_known(evidence: Evidence, criterion: Criterion) -> bool:
    found = (find(evidence, criterion.measure, site.name, **criterion.at) for site in externals(evidence))
    return any(isinstance(one, Estimate) for one in found)


def every_criterion(evidence: Evidence) -> tuple[Criterion, ...]:
    """The criteria of the release, the net benefit where a threshold is declared."""
    found = [
        Criterion("mss_auroc", "AUROC"),
        Criterion("mss_oe", "O/E"),
        Criterion("mss_slope", "Slope"),
        Criterion("mss_brier", "Brier"),
    ]
    threshold = primary_threshold(evidence)
    if threshold is not None:
        found.append(Criterion("mss_snb", "Net benefit", {"threshold": threshold}))
    return tuple(found)


def reached(evidence: Evidence, site: DatasetSummary, criterion: Criterion) -> float | Absent:
    """How many times the patients that are needed a site has."""
    needed = find(evidence, criterion.measure, site.name, **criterion.at)
    if isinstance(needed, Absent):
        return needed
    return site.n / needed.value if needed.value > 0 else Absent(Fact("no_patient_needed"))


def draw_reached(evidence: Evidence) -> Figure | Absent:
    """One row a site, one panel a criterion; a stem from what is needed to what there is."""
    sites, asked = externals(evidence), criteria(evidence)
    if not asked:
        return Absent(Fact("no_minimum_sample_size"))
    shown = sites[:MOST_ROWS]
    name = min(max(text_width(site.site) for site in sites), WIDEST_NAME)
    counts = max(text_width(f"{max(site.n for site in sites):,}"), text_width("n"))
    left = name + counts + 8.0
    width = min((FULL - left - (len(asked) - 1) * GAP - 2.6) / len(asked), WIDEST_PANEL)
    height = (len(shown) + (len(shown) < len(sites))) * LINE + 1.0
    drawn = sheet(FULL, TOP + height + 11.6)
    short = labels(evidence, name)
    write(drawn, name + counts + 3.0, 2.2, "n", ha="right", color=INK_2)
    for row, site in enumerate(shown):
        y = TOP + (row + 0.5) * LINE
        write(drawn, 0, y, short[site.name])
        write(drawn, name + counts + 3.0, y, f"{site.n:,}", ha="right", color=INK_2)
    if len(shown) < len(sites):
        rest = f"and {sites_word(len(sites) - len(shown))} more"
        write(drawn, 0, TOP + (len(shown) + 0.5) * LINE, rest, color=INK_2)
    for place, criterion in enumerate(asked):
        x = left + place * (width + GAP)
        write(drawn, x + width / 2, 2.2, criterion.name, ha="center", weight=600)
        _panel(panel(drawn, x, TOP, width, height), evidence, criterion, shown, height / LINE)
    middle = left + (len(asked) * (width + GAP) - GAP) / 2
    title = "Patients there are, in multiples of those needed"
    middle = max(middle, text_width(title) / 2 + 0.2)
    write(drawn, middle, TOP + height + 9.2, title, ha="center")
    return drawn


def _panel(axes: Axes, evidence: Evidence, criterion: Criterion, shown: Sequence[DatasetSummary], rows: float) -> None:
    axes.set_xscale("log")
    axes.minorticks_off()
    axes.set_xlim(LEAST, MOST)
    axes.set_ylim(rows, 0)
    axes.spines["left"].set_visible(False)
    places = [LEAST, 1.0, MOST]
    ticks(axes, "x", places, [tick_text(place) for place in places], inward=True)
    axes.axvline(1, color=RULE, lw=0.7, zorder=0)
    for row, site in enumerate(shown):
        share = reached(evidence, site, criterion)
        if isinstance(share, Absent):
            text = axes.text(1, row + 0.5, "absent", ha="center", va="center_baseline", color=INK_2)
            text.set_bbox({"facecolor": "white", "edgecolor": "none", "pad": 0.4})
        else:
            _mark(axes, share, row + 0.5)


def _mark(axes: Axes, share: float, row: float) -> None:
    """A filled square where there are enough, an open one where not; an arrow beyond the axis."""
    place, colour = min(max(share, LEAST), MOST), INK if share >= 1 else ALERT
    axes.plot([1, place], [row, row], color=colour, lw=1, zorder=1)
    marker = "s" if place == share else ">" if share > MOST else "<"
    face = colour if share >= 1 or marker != "s" else "white"
    axes.plot([place], [row], marker, ms=3.9, mfc=face, mec=colour, mew=0.9, color=colour, clip_on=False, zorder=2)


@figure("Patients there are against those needed")
def sample_reached(evidence: Evidence) -> Picture | Absent:
    """How many times the patients that each criterion asks for every site has."""
    with styled():
        drawn = draw_reached(evidence)
        if isinstance(drawn, Absent):
            return drawn
        return picture("sample_reached", drawn, _caption(evidence), _alternative(evidence))


def _caption(evidence: Evidence) -> str:
    sites = externals(evidence)
    threshold = primary_threshold(evidence)
    checked = criteria(evidence)
    with_benefit = threshold is not None and any(one.measure == "mss_snb" for one in checked)
    net_benefit = f" Net benefit: standardized, at {number(threshold or 0)}." if with_benefit else ""
    open_ones = [one.name for one in every_criterion(evidence) if one not in checked]
    why = "By class, in the table" if evidence.release.outcome.classes else "Not estimable at any site"
    unknown = f" {why}: {joined(open_ones)}." if open_ones else ""
    whose = "as narrow as the release asks for" if evidence.release.sample.is_declared else "of the usual width"
    return (
        f"{patients(sites)}. Needed: for a 95% interval {whose}. Filled: reached; open, in "
        f"orange: not reached; arrow: under a tenth or over ten times.{net_benefit}{unknown}"
        f"{left_out(max(0, len(sites) - MOST_ROWS), 'see the table')}"
    )


def _alternative(evidence: Evidence) -> str:
    """At how many sites each criterion is reached."""
    told = []
    for criterion in criteria(evidence):
        shares = [reached(evidence, site, criterion) for site in externals(evidence)]
        known = [share for share in shares if not isinstance(share, Absent)]
        if known:
            told.append(f"{criterion.name} in {sum(share >= 1 for share in known)} of {sites_word(len(known))}")
    return f"The patients needed are reached for {', '.join(told)}."
