"""Curves and measures as plots of seaborn, for a notebook."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import pandas
import seaborn.objects as so

from dossier.core.over_time import OVER_TIME
from dossier.typeset import widths, words

PANEL = 2.6
"""The width and the height of a panel, in inches."""
LARGEST_ALONE = 5.0
MOST_ACROSS = 4
LOWEST_DRAWN = -1.0
"""Down to where a profile is drawn: as far below 0 as a perfect model lies above it."""
WIDEST_TITLE = 48.0
"""How wide the name of a panel may be, in mm in the type of the pages, which is narrower than that of seaborn."""


def _panels(points: pandas.DataFrame, **asked: Any) -> so.Plot:
    """A panel for each site, and for each model where there are several: no key is needed, and no name is covered."""
    sites, models = (_on_lines(points[of]) for of in ("site", "model"))
    is_one = len(models) == 1
    pairs = dict.fromkeys(zip(points["site"], points["model"], strict=True))
    titles = {pair: sites[pair[0]] + ("" if is_one else f"\n{models[pair[1]]}") for pair in pairs}
    order = [titles[site, model] for site in sites for model in models if (site, model) in titles]
    panel = [titles[pair] for pair in zip(points["site"], points["model"], strict=True)]
    across = min(len(order), max(MOST_ACROSS, math.isqrt(len(order))) if is_one else len(models))
    side = LARGEST_ALONE if len(order) == 1 else PANEL
    size = (across * side + 0.6, -(-len(order) // across) * (side + 0.3) + 0.4)
    plot = so.Plot(points.assign(panel=panel), **asked).facet("panel", order=order, wrap=across).layout(size=size)
    return plot.theme({"axes.titlesize": 9, "axes.labelsize": 9, "xtick.labelsize": 8, "ytick.labelsize": 8})


def _on_lines(names: pandas.Series[Any]) -> dict[str, str]:
    """Each name once, in the order of the rows, with it on as many lines as it needs."""
    each = list(dict.fromkeys(names))
    return dict(zip(each, widths.on_lines(each, [WIDEST_TITLE] * len(each), 2), strict=True))


def _calibration(points: pandas.DataFrame) -> so.Plot:
    plot = _panels(points, x="risk", y="observed").add(so.Band(), ymin="low", ymax="high").add(so.Line())
    # Of the rows of the curve itself: other data without the panels would be drawn in the first of them alone.
    plot = plot.add(so.Line(color="0.4", linestyle=":"), y="risk")
    return plot.label(x="Predicted risk", y="Observed share")


def _decision(points: pandas.DataFrame) -> so.Plot:
    default = points.assign(default=points[["treat_all", "treat_none"]].max(axis=1))
    plot = _panels(default, x="threshold", y="net_benefit").add(so.Band(), ymin="low", ymax="high").add(so.Line())
    plot = plot.add(so.Line(linestyle=":"), y="default")
    return plot.label(x="Threshold", y="Net benefit\n(dotted: the better default)")


def _risk(points: pandas.DataFrame) -> so.Plot:
    plot = _panels(points.assign(risk=(points["low"] + points["high"]) / 2), x="risk")
    plot = plot.add(so.Line(marker="o"), y="share_events")
    plot = plot.add(so.Line(marker="o", fillcolor="w", linestyle=":"), y="share_non_events")
    return plot.label(x="Predicted risk", y="Share\n(filled: events, open: non-events)")


def _lines(panel: Mapping[str, Any], mark: str = "Line") -> Callable[[pandas.DataFrame], so.Plot]:
    """A curve that the supplement draws site by site, in its words: a line or an area for each of its columns."""

    def plotted(points: pandas.DataFrame) -> so.Plot:
        lines: Mapping[str, str] = panel.get("lines") or panel["fills"]
        alone, across = len(lines) == 1, panel["across"]
        if "each" in panel:
            points = points.assign(site=points["site"] + points[panel["each"]].map(f", {panel['each']} {{:g}}".format))
        points = points.assign(**{across: points[[across, panel.get("upper", across)]].mean(axis=1)})
        parts = []
        for column, named in lines.items():
            ends = {("" if alone else f"{column}_") + end: end for end in ("low", "high")}
            kept = points[["site", "model", across, column, *(end for end in ends if end in points)]]
            parts.append(kept.rename(columns={column: "value", **ends}).assign(line=named))
        colour = {} if alone else {"color": "line"}
        drawn = pandas.concat(parts, ignore_index=True)
        plot = _panels(drawn, x=across, y="value", **colour)
        lowest = drawn[[name for name in ("value", "low") if name in drawn]].min().min()
        plot = plot.limit(y=(LOWEST_DRAWN, None)) if lowest < LOWEST_DRAWN else plot
        plot = plot.add(so.Band(), ymin="low", ymax="high") if all("low" in part for part in parts) else plot
        return plot.add(getattr(so, mark)()).label(x=panel["axis"], y=panel.get("up", "Share"), color="")

    return plotted


def _over_time(points: pandas.DataFrame) -> so.Plot:
    """A panel for each measure at each site, by the first day of each calendar period."""
    settings = [name for name in ("measure", "class", "threshold") if name in points]
    named = points[["site", *settings]].apply(lambda row: ", ".join(map(str, row.dropna())), axis=1)
    days = points["period"].map(lambda period: pandas.Period(period).start_time)
    plot = _panels(points.assign(site=named, period=days), x="period", y="value").share(y=False)
    plot = plot.add(so.Band(), ymin="low", ymax="high").add(so.Line(marker="o"))
    return plot.scale(x=so.Temporal().label(concise=True)).label(x="Period", y="Value")


CURVES: Mapping[str, Callable[[pandas.DataFrame], so.Plot]] = {
    "calibration": _calibration,
    "decision": _decision,
    "roc": _lines({"across": "fpr", "lines": {"tpr": ""}, "axis": "1 - specificity", "up": "Sensitivity"}, "Path"),
    "risk": _risk,
    OVER_TIME: _over_time,
    **{name: _lines(panel) for name, panel in words.of_curves("panels").items()},
    **{name: _lines(panel, "Area") for name, panel in words.of_curves("ridges").items() if name != "risk_distribution"},
}
"""How a curve is drawn, by the name that `Record.curves` has for it."""


def forest(label: str, rows: pandas.DataFrame) -> so.Plot:
    """A measure with its interval, a line a site; models and groups beside each other, a panel for each setting."""
    varying = [name for name in ("threshold", "at") if rows[name].nunique() > 1]
    settings = rows[varying].agg(_setting, axis=1) if varying else ""
    several = rows.groupby("site")["dataset"].transform("nunique") > 1
    beside = [name for name in ("model", "subset_level") if rows[name].nunique() > 1]
    rows = rows.assign(model=rows[beside].agg(", ".join, axis=1) if beside else "")
    shown = rows.assign(setting=settings, site=rows["site"].mask(several, rows["site"] + ", " + rows["role"]))
    at_sites = shown.loc[shown["role"] != "pooled", "setting"]
    shown = shown[shown["setting"].isin(at_sites)] if len(at_sites) else shown
    panels, (sites, models) = [*dict.fromkeys(shown["setting"])], (_on_lines(shown[of]) for of in ("site", "model"))
    shown = shown.assign(site=shown["site"].map(sites), model=shown["model"].map(models))
    plot = so.Plot(shown, x="value", y="site", **{"color": "model"} if len(models) > 1 else {})
    plot = plot.add(so.Range(), so.Dodge(), xmin="low", xmax="high", orient="y")
    plot = plot.add(so.Dot(pointsize=5), so.Dodge(), orient="y").scale(y=so.Nominal(order=[*sites.values()]))
    if len(panels) > 1:
        plot = plot.facet("setting", order=panels, wrap=min(MOST_ACROSS, len(panels)))
    across = min(MOST_ACROSS, len(panels))
    high = (0.3 * len(sites) * (1 + 0.5 * (len(models) - 1)) + 0.9) * -(-len(panels) // across)
    width = LARGEST_ALONE if across == 1 else across * PANEL
    return plot.layout(size=(width + 1.5, high)).label(x=label, y="", color="").theme({"axes.titlesize": 9})


def _setting(row: pandas.Series[Any]) -> str:
    """The settings of a row as the head of a panel, a line each."""
    threshold, at = row.get("threshold"), row.get("at")
    named = [] if threshold is None or threshold != threshold else [f"threshold {threshold:g}"]
    return "\n".join([*named, *([] if at is None or at != at else str(at).split(";"))])
