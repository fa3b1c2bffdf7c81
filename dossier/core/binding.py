"""What binds whatever the numbers over all say: late criteria, what the maker rules out, and stop rules crossed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from dossier.core import multiplicity, over_time, types
from dossier.core.release import Acceptance, Release

Uncounted = Literal["undated", "after_dossier", "after_data"]


def uncounted(release: Release, declared: Acceptance, datasets: Sequence[types.DatasetSummary]) -> Uncounted | None:
    """Why a criterion counts for nothing; None where it counts.

    It is late where it was declared after the last patient of each dataset that it asks something of, as far as the
    dates of all of these are known, or after the dossier itself.
    """
    day, printed = declared.declared_on, release.release.date
    if day is None:
        return "undated"
    if printed is not None and day > printed:
        return "after_dossier"
    here = [dataset for dataset in datasets if dataset.name == declared.dataset]
    spans = [dataset.dates for dataset in here or datasets if here or dataset.role == "external"]
    known = [span[1] for span in spans if span is not None]
    last = max(known) if known and len(known) == len(spans) else None
    return "after_data" if last is not None and day > last else None


RULED_OUT = re.compile(r"\b(not|never) (to )?be used\b|\bdo not use\b|\b(not|unfit) for use\b", re.IGNORECASE)
"""The maker's own words that a model is not to be used."""
FOR_NOBODY = re.compile(r"(nobody|no one|no patients?)\b", re.IGNORECASE)
NOT_FOR_ANY = re.compile(r"(?i)(any|every|all) (patients?|decisions?|use|hospitals?)( about a patient)?([:;,.].*)?")
"""How a maker says for whom a model is and for whom not, where it is for nobody."""


def is_for_nobody(release: Release) -> bool:
    """Whether the maker says that the model is for no patient at all."""
    use = release.intended_use
    not_for = (text.strip(" .") for text in use.not_for)
    return bool(FOR_NOBODY.match((use.for_ or "").strip())) or any(map(NOT_FOR_ANY.fullmatch, not_for))


def ruled_out(evidence: types.Evidence) -> tuple[types.DatasetSummary, ...]:
    """The hospitals where the maker says that the model is not to be used, in its answers or for all of them."""
    said = {flag.dataset for flag in evidence.flags if flag.reply is not None and RULED_OUT.search(flag.reply)}
    everywhere = is_for_nobody(evidence.release) or types.POOLED in said
    return tuple(site for site in types.externals(evidence) if everywhere or site.name in said)


def stopped(evidence: types.Evidence) -> tuple[types.DatasetSummary, ...]:
    """The hospitals where a stop rule that the maker declared is crossed."""
    crossed = {each.site.name for each in over_time.of_evidence(evidence) if each.crossing is not None}
    return tuple(site for site in types.externals(evidence) if site.name in crossed)


def harmed(evidence: types.Evidence) -> tuple[types.DatasetSummary, ...]:
    """The hospitals where flagging all or none is shown to have done better while a stop rule was crossed."""
    worse = {each.site.name for each in over_time.of_evidence(evidence) if each.is_harmful}
    return tuple(site for site in types.externals(evidence) if site.name in worse)


def gain(
    evidence: types.Evidence, dataset: str, at: float, found: types.Estimate | types.Absent, is_own: bool = False
) -> types.State:
    """How a gain over the better default stands at a hospital: what is shown over all times is open where flagging all
    or none is shown to have done better at some, at the first threshold, of which the stop rules are.
    """
    state = multiplicity.gain(found, is_own)
    if state != "shown" or at != evidence.release.thresholds.declared[0]:
        return state
    return "open" if dataset in {each.name for each in harmed(evidence)} else state


MARKS = {"‡": ruled_out, "§": stopped}
"""What stands beside the name of a hospital where the maker says that the model is not to be used, and where their rule
to switch it off is crossed."""


def marks(evidence: types.Evidence, site: types.DatasetSummary) -> str:
    """What of this holds at a hospital."""
    return "".join(mark for mark, where in MARKS.items() if site in where(evidence))
