"""Whether the risks mean what they say."""

from __future__ import annotations

from dossier.core.types import Evidence, externals
from dossier.report.chapters import classes, sentence
from dossier.report.chapters.chapter import chapter, measured
from dossier.typeset.words import in_words, named_or_counted


def finding(evidence: Evidence) -> sentence.Sentence:
    """Where risks are shown to be off, O/E over the sites, and how the calibration of each stands."""
    if classes.labels(evidence):
        return classes.calibration(evidence)
    ratios = sentence.estimated(evidence, "oe_ratio")
    if not ratios:
        return sentence.Sentence("At no external site can calibration be estimated.")
    over_all = f"Observed over expected events (O/E) {sentence.over_sites(evidence, 'oe_ratio', ratios)}."
    horizons = len(evidence.release.each_outcome)
    among, what = len(externals(evidence)) * horizons, "sites" if horizons == 1 else "sites and horizons"
    stands = sentence.calibration_by_state(evidence, over_all, lambda names: named_or_counted(names, 4, among, what))
    parts = [stands.rest]
    if few := len(externals(evidence)) - len(ratios):
        parts.append(f"At {in_words(few)} {'site' if few == 1 else 'sites'} O/E cannot be estimated.")
    known = [site.name for site, _ in sentence.estimated(evidence, "calibration_slope")]
    if no_slope := [site.site for site, _ in ratios if site.name not in known]:
        parts.append(f"In {named_or_counted(no_slope, 4, len(ratios))} no slope can be estimated.")
    return sentence.Sentence(stands.lead, " ".join(filter(None, parts)))


CHAPTER = chapter("calibration", finding, measured("calibration"))
