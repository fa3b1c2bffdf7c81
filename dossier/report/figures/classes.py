"""Pictures of an outcome of several classes: a panel for each class at each site, drawn as those of two classes are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from matplotlib.figure import Figure

from dossier.core import bands
from dossier.core.facts import Fact
from dossier.core.register import figure
from dossier.core.types import POOLED, Absent, Curve, DatasetSummary, Estimate, Evidence, Picture, externals, find
from dossier.report.figures.calibration import calibration_alternative, draw_calibration, ring, said_and_seen
from dossier.report.figures.canvas import (
    FULL,
    HALF,
    MOST_PANELS,
    few,
    joined,
    left_out,
    level_text,
    patients,
    picture,
    sites_word,
    styled,
    value_text,
)
from dossier.report.figures.discrimination import AUROC, printed_forest
from dossier.report.figures.risks import (
    draw_mean_risks,
    draw_risks,
    has_means,
    how_to_read,
    mean_risks_caption,
    risk_alternative,
)
from dossier.report.figures.roc import draw_roc, ringed
from dossier.report.figures.utility import by_site_alternative, draw_decision_panels, marked, site_curve
from dossier.typeset.numbers import number

BETWEEN = " / "
"""What parts the name of a site from that of a class."""


def panels(evidence: Evidence) -> Evidence | Absent:
    """The evidence as if each class at each external site were a site of its own, the class being the outcome."""
    labels = evidence.release.outcome.classes
    if not labels:
        return Absent(Fact("two_classes"))
    return replace(
        evidence,
        datasets=tuple(_panel(site, label) for site in externals(evidence) for label in labels),
        results=tuple(
            replace(result, dataset=f"{result.dataset}{BETWEEN}{result.at['class']}", at=_alone(result.at))
            for result in evidence.results
            if result.at.get("class") in labels
        ),
        curves=tuple(
            replace(curve, dataset=f"{curve.dataset}{BETWEEN}{curve.at['class']}", at=_alone(curve.at))
            for curve in evidence.curves
            if curve.at.get("class") in labels
        ),
    )


def _panel(site: DatasetSummary, label: str) -> DatasetSummary:
    return replace(
        site,
        name=f"{site.name}{BETWEEN}{label}",
        site=f"{site.site}, {label}",
        events=site.class_counts.get(label, 0),
        class_counts={},
    )


def _alone(at: object) -> dict[str, float | str]:
    return {name: value for name, value in dict(at).items() if name != "class"}  # type: ignore[call-overload]


def _drawn(
    name: str,
    evidence: Evidence,
    draw: Callable[[Evidence], Figure | Absent],
    words: str | Callable[[Evidence], str],
    alternative: Callable[[Evidence], str],
    width: float = FULL,
    message: Callable[[Evidence], str] = lambda seen: "",
) -> Picture | Absent:
    """A figure of the panels, with a caption that counts every patient once."""
    seen = panels(evidence)
    if isinstance(seen, Absent):
        return seen
    with styled():
        drawn = draw(seen)
        if isinstance(drawn, Absent):
            return drawn
        said = words if isinstance(words, str) else words(seen)
        text = f"{patients(externals(evidence))}; one class against the rest. {said}"
        more = max(0, len(seen.datasets) - MOST_PANELS[width])
        return picture(name, drawn, text + left_out(more, "see the tables"), alternative(seen), message(seen))


def _broken(evidence: Evidence) -> str:
    """The words for curves that are drawn broken, where there are any."""
    if any(few(site, bands.FEW_FOR_A_BAND) for site in externals(evidence)):
        return f" Broken: under {bands.FEW_FOR_A_BAND} patients of the class."
    return ""


@figure("Discrimination by class, pooled over the sites")
def forest_results_by_class(evidence: Evidence) -> Picture | Absent:
    """The AUROC of every class against the rest, pooled over the sites."""
    labels = evidence.release.outcome.classes
    if not labels:
        return Absent(Fact("two_classes"))
    sites = externals(evidence)
    seen = replace(
        evidence,
        datasets=tuple(
            replace(
                sites[0],
                name=label,
                site=label,
                n=sum(site.n for site in sites),
                events=sum(site.class_counts.get(label, 0) for site in sites),
                class_counts={},
            )
            for label in labels
        ),
        results=tuple(
            replace(each, dataset=str(each.at["class"]), at={})
            for each in evidence.of_measure.get(("auroc", POOLED), ())
            if each.at.get("class") in labels
        ),
    )
    drawn = printed_forest("forest_results_by_class", seen, AUROC, HALF)
    if isinstance(drawn, Absent):
        return Absent(Fact("no_class_pooled"))
    words = f"{patients(sites)}; pooled over the sites, with {level_text(evidence)} intervals."
    message = f"Pooled over {sites_word(len(sites))}: {_by_class(seen)}."
    return replace(drawn, caption=words, alternative=message, message=message)


def _by_class(seen: Evidence) -> str:
    """The AUROC of every class in words."""
    found = [(find(seen, "auroc", site.name), site.site) for site in externals(seen)]
    known = [f"{name} {value_text(estimate)}" for estimate, name in found if isinstance(estimate, Estimate)]
    return f"AUROC of {joined(known, 8)}"


@figure("Calibration by class and site")
def calibration_by_class(evidence: Evidence) -> Picture | Absent:
    """How often each class was found among patients of each risk of it, at every site."""
    above = "Above the diagonal the risks of the class are too low."
    words = f"{level_text(evidence)} bands. {above}{ring(evidence)}{_broken(evidence)}"
    return _drawn(
        "calibration_by_class",
        evidence,
        lambda seen: draw_calibration(seen, FULL),
        words,
        lambda seen: calibration_alternative(seen, FULL, "for every class at every site"),
        message=lambda seen: said_and_seen(seen, FULL, "the class"),
    )


@figure("Calibration, by class and site")
def calibration_results_by_class(evidence: Evidence) -> Picture | Absent:
    """How often each class was found among patients of each risk of it, in small panels."""
    return _drawn(
        "calibration_results_by_class",
        evidence,
        lambda seen: draw_calibration(seen, HALF),
        f"{level_text(evidence)} bands.{_broken(evidence)}",
        lambda seen: calibration_alternative(seen, HALF),
        HALF,
    )


@figure("ROC curve by class and site")
def roc_by_class(evidence: Evidence) -> Picture | Absent:
    """How many patients of each class are found for how many others, as the threshold of its risk falls."""
    words = f"In each panel the AUROC with its {level_text(evidence)} interval; the grey diagonal is chance."
    return _drawn("roc_by_class", evidence, draw_roc, lambda seen: f"{words}{ringed(seen)}", _roc_alternative)


def _roc_alternative(seen: Evidence) -> str:
    found = [(find(seen, "auroc", site.name), site.site) for site in externals(seen)]
    known = sorted((estimate.value, name) for estimate, name in found if not isinstance(estimate, Absent))
    if not known:
        return "The ROC curves of each class at each site; the areas under them could not be estimated."
    (low, first), (high, last) = known[0], known[-1]
    return f"ROC curves by class and site: AUROC runs from {number(low)} ({first}) to {number(high)} ({last})."


@figure("Risks, by class and site")
def risk_results_by_class(evidence: Evidence) -> Picture | Absent:
    """Which risks of each class the model gave to its patients, and to all others, on average."""
    return _drawn(
        "risk_results_by_class",
        evidence,
        lambda seen: draw_mean_risks(seen) if has_means(seen) else draw_risks(seen, HALF),
        lambda seen: (
            mean_risks_caption(seen, "of the class")
            if has_means(seen)
            else how_to_read(seen, HALF, "the patients of the class (up) and of all others (down)")
        ),
        lambda seen: risk_alternative(seen, HALF),
        HALF,
    )


@figure("Decision curve by class and site")
def decision_by_class(evidence: Evidence) -> Picture | Absent:
    """What acting on the risk of one class gains over acting for everyone or for no one, at every site."""
    return _drawn("decision_by_class", evidence, draw_decision_panels, _decision_words, _decision_alternative)


def _decision_words(seen: Evidence) -> str:
    known = [curve for site in externals(seen) if isinstance(curve := site_curve(seen, site), Curve)]
    return marked(seen, known).strip()


def _decision_alternative(seen: Evidence) -> str:
    return by_site_alternative(seen)
