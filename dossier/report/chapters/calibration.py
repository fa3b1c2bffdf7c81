"""Whether the risks mean what they say."""

from __future__ import annotations

from dossier.core.multiplicity import size_of_risks
from dossier.core.types import Evidence, externals
from dossier.report.chapters import classes, sentence
from dossier.report.chapters.chapter import chapter, measured
from dossier.typeset.words import how_many, in_words, listing


def finding(evidence: Evidence) -> sentence.Sentence:
    """How many sites have an interval of O/E that holds 1, and what the slopes say."""
    if classes.labels(evidence):
        return classes.calibration(evidence)
    ratios = sentence.estimated(evidence, "oe_ratio")
    if not ratios:
        return sentence.Sentence("At no external site can calibration be estimated.")
    lead = f"Observed over expected events (O/E) {sentence.over_sites(evidence, 'oe_ratio', ratios)}."
    slopes = sentence.estimated(evidence, "calibration_slope")
    parts = sentence.slopes_off(evidence, lambda sites: f"in {_who(sites, len(slopes))}")
    few = len(externals(evidence)) - len(ratios)
    if few:
        parts.append(f"At {in_words(few)} {'site' if few == 1 else 'sites'} O/E cannot be estimated.")
    no_slope = [site.site for site, _ in ratios if site not in [dataset for dataset, _ in slopes]]
    if no_slope:
        parts.append(f"In {_who(no_slope, len(ratios))} no slope can be estimated.")
    return sentence.Sentence(lead, " ".join([*parts, *_unsure(evidence)]))


def _unsure(evidence: Evidence) -> list[str]:
    """Where it is open, and how many patients would show good calibration."""
    sites = [site for site in externals(evidence) if size_of_risks(evidence, site.name) == "open"]
    needed, names = sentence.to_show_calibration(evidence, sites), [site.site for site in sites]
    if not needed:
        return []
    return [f"This is open in {_who(names, len(externals(evidence)))}: {needed} patients would show a right model."]


def _who(sites: list[str], among: int) -> str:
    """The sites by name when they are few, by count when they are many."""
    if len(sites) <= 4:
        return listing(sites)
    return f"{how_many(len(sites))} of {in_words(among)} sites"


CHAPTER = chapter("calibration", finding, measured("calibration"))
