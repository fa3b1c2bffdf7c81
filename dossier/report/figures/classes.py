"""Pictures of an outcome of several classes: a panel for each class at each site, drawn as those of two classes are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from matplotlib.figure import Figure

from dossier.core import bands, facts, register, types
from dossier.report.figures import calibration, canvas, captions, data, discrimination, facets, risks, roc, utility

Kind = TypeVar("Kind", types.Result, types.CurveResult)
BETWEEN = " / "
"""What parts the name of a site from that of a class."""


def panels(evidence: types.Evidence) -> types.Evidence | types.Absent:
    """The evidence as if each class at each external site were a site of its own, the class being the outcome."""
    labels = evidence.release.outcome.classes
    if not labels:
        return types.Absent(facts.Fact("two_classes"))

    def of_class(one: Kind) -> Kind:
        alone = {name: value for name, value in one.at.items() if name != "class"}
        return replace(one, dataset=f"{one.dataset}{BETWEEN}{one.at['class']}", at=alone)

    return replace(
        evidence,
        datasets=tuple(
            replace(
                site,
                name=f"{site.name}{BETWEEN}{label}",
                site=f"{site.site}, {label}",
                events=site.class_counts.get(label, 0),
                class_counts={},
            )
            for site in types.externals(evidence)
            for label in labels
        ),
        results=tuple(of_class(result) for result in evidence.results if result.at.get("class") in labels),
        curves=tuple(of_class(curve) for curve in evidence.curves if curve.at.get("class") in labels),
    )


def _drawn(
    evidence: types.Evidence,
    draw: Callable[[types.Evidence], Figure | types.Absent],
    words: Callable[[types.Evidence], str],
    alternative: Callable[[types.Evidence], str],
    width: float = canvas.FULL,
    message: Callable[[types.Evidence], str] = lambda seen: "",
) -> canvas.Drawn | types.Absent:
    """A figure of the panels, with a caption that counts every patient once."""
    seen = register.present(panels(evidence))
    drawn = register.present(draw(seen))
    more = captions.left_out(max(0, len(seen.datasets) - facets.MOST_PANELS[width]), "in results.csv")
    text = f"{captions.patients(types.externals(evidence))}; one class against the rest. {words(seen)}{more}"
    return canvas.Drawn(drawn, text, alternative(seen), message(seen))


def _broken(evidence: types.Evidence) -> str:
    """The words for curves that are drawn broken, where there are any."""
    if any(site.rarest < bands.FEW_FOR_A_BAND for site in types.externals(evidence)):
        return f" Broken: under {bands.FEW_FOR_A_BAND} patients of the class."
    return ""


@canvas.figure("Discrimination by class, pooled over the sites")
def forest_results_by_class(evidence: types.Evidence) -> canvas.Drawn | types.Absent:
    """The AUROC of every class against the rest, pooled over the sites."""
    labels = evidence.release.outcome.classes
    if not labels:
        return types.Absent(facts.Fact("two_classes"))
    sites = types.externals(evidence)
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
            for each in evidence.of_measure["auroc", types.POOLED]
            if each.at.get("class") in labels
        ),
    )
    drawn = discrimination.printed_forest(seen, discrimination.AUROC, canvas.HALF)
    if isinstance(drawn, types.Absent):
        return types.Absent(facts.Fact("no_class_pooled"))
    words = f"{captions.patients(sites)}; pooled over the sites, with {captions.level_text(evidence)} intervals."
    known = [f"{site.site} {captions.value_text(found)}" for site, found in types.estimated(seen, "auroc")]
    message = f"Pooled over {captions.sites_word(len(sites))}: AUROC of {captions.joined(known, 8)}."
    return replace(drawn, caption=words, alternative=message, message=message)


@canvas.figure("Calibration by class and site")
def calibration_by_class(evidence: types.Evidence) -> canvas.Drawn | types.Absent:
    """How often each class was found among patients of each risk of it, at every site."""
    above = f"{captions.level_text(evidence)} bands. Above the diagonal the risks of the class are too low."
    return _drawn(
        evidence,
        lambda seen: calibration.draw_calibration(seen, canvas.FULL),
        lambda seen: f"{above}{calibration.ring(seen, canvas.FULL)}{_broken(evidence)}",
        lambda seen: calibration.calibration_alternative(seen, canvas.FULL),
        message=lambda seen: calibration.said_and_seen(seen, canvas.FULL, "the class"),
    )


@canvas.figure("Calibration, by class and site")
def calibration_results_by_class(evidence: types.Evidence) -> canvas.Drawn | types.Absent:
    """How often each class was found among patients of each risk of it, in small panels."""
    return _drawn(
        evidence,
        lambda seen: calibration.draw_calibration(seen, canvas.HALF),
        lambda seen: f"{captions.level_text(evidence)} bands.{_broken(evidence)}",
        lambda seen: calibration.calibration_alternative(seen, canvas.HALF),
        canvas.HALF,
    )


@canvas.figure("ROC curve by class and site")
def roc_by_class(evidence: types.Evidence) -> canvas.Drawn | types.Absent:
    """How many patients of each class are found for how many others, as the threshold of its risk falls."""
    words = f"In each panel the AUROC with its {captions.level_text(evidence)} interval; the grey diagonal is chance."
    return _drawn(evidence, roc.draw_roc, lambda seen: f"{words}{roc.ringed(seen)}", _roc_alternative)


def _roc_alternative(seen: types.Evidence) -> str:
    known, few = data.ranked(seen, "auroc", types.externals(seen))
    if known:
        return f"ROC curves by class and site: AUROC {captions.ends(known)}{few}."
    return "The ROC curves of each class at each site; the areas under them could not be estimated."


@canvas.figure("Risks, by class and site")
def risk_results_by_class(evidence: types.Evidence) -> canvas.Drawn | types.Absent:
    """Which risks of each class the model gave to its patients, and to all others, on average."""
    return _drawn(
        evidence,
        lambda seen: risks.draw_either(seen, canvas.HALF),
        lambda seen: (
            risks.mean_risks_caption(seen, "of the class")
            if risks.has_means(seen)
            else risks.how_to_read(seen, canvas.HALF, "the patients of the class (up) and of all others (down)")
        ),
        lambda seen: risks.risk_alternative(seen, canvas.HALF),
        canvas.HALF,
    )


@canvas.figure("Decision curve by class and site")
def decision_by_class(evidence: types.Evidence) -> canvas.Drawn | types.Absent:
    """What acting on the risk of one class gains over acting for everyone or for no one, at every site."""

    def words(seen: types.Evidence) -> str:
        found = ((site, utility.site_curve(seen, site)) for site in types.externals(seen))
        drawn = utility.drawn_rivals(seen, facets.shown_sites(seen, canvas.FULL)[0])
        return f"{utility.marked(seen, facets.known(found))}{captions.models_left_out(seen, drawn)}".strip()

    return _drawn(evidence, utility.draw_decision_panels, words, utility.by_site_alternative)
