"""How much each site looks like the data that the model was made from."""

from __future__ import annotations

from dossier.bands import SIMILARITY
from dossier.findings.sentence import Sentence, estimated
from dossier.types import Evidence, externals
from dossier.typeset import in_words, number


def band(value: float) -> str:
    """The name of the band in which a similarity lies."""
    return next(name for upper, name in SIMILARITY.items() if value <= upper)


def finding(evidence: Evidence) -> Sentence:
    """The averaged similarity of each site, .5 meaning that its rows could be rows of the development table."""
    sites = estimated(evidence, "correspondence_averaged")
    without = len(externals(evidence)) - len(sites)
    if not sites:
        return Sentence("At no external site can similarity to the development data be computed.")
    if len(sites) == 1:
        site, found = sites[0]
        lead = f"The averaged similarity of {site.site} is {number(found.value)} ({band(found.value)} band)."
    else:
        low, high = sites[0], sites[-1]
        lead = (
            f"Averaged similarity runs from {number(low[1].value)} ({low[0].site}) to "
            f"{number(high[1].value)} ({high[0].site})."
        )
    rest = "0.50 means that the site's rows could as well be rows of the development data."
    if without:
        rest += f" {in_words(without).capitalize()} {'site gives' if without == 1 else 'sites give'} no predictors."
    return Sentence(lead, rest)
