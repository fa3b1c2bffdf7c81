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
    crossed = {each.site.name for each in over_time.of_evidence(evidence) if each.crossing}
    return tuple(site for site in types.externals(evidence) if site.name in crossed)


def harmed(evidence: types.Evidence) -> tuple[types.DatasetSummary, ...]:
    """The hospitals where flagging all or none is shown to have done better while a stop rule was crossed, or in some
    periods of risks that turn.
    """
    return tuple(site for site in types.externals(evidence) if _better_to_flag(evidence, site))


def better_then(evidence: types.Evidence) -> str:
    """Whom it would have been better to flag there at these times."""
    whom = {each for site in types.externals(evidence) for each in _better_to_flag(evidence, site)}
    return whom.pop() if len(whom) == 1 else f"{over_time.EVERYONE} or {over_time.NO_ONE}"


def _better_to_flag(evidence: types.Evidence, site: types.DatasetSummary) -> list[str]:
    """Whom it was better to flag there at the first threshold at some times."""
    rules = over_time.verdicts(evidence.release.care.stop, [site], evidence.by_curve[over_time.OVER_TIME])
    whom = [each.whom for each in rules if each.is_harmful]
    for at in evidence.release.thresholds.declared[:1]:
        worse = worse_in(evidence, site.name, at)
        whom += [over_time.better_to_flag(worse, at)] if worse else []
    return whom


def worse_in(evidence: types.Evidence, dataset: str, at: float) -> tuple[over_time.Period, ...]:
    """The periods in which the gain at the first threshold lies below 0 with its whole interval, where risks turn.

    No number of all periods is then that of any. A single period is none: one of many may be chance.
    """
    curve = over_time.followed(evidence.by_curve[over_time.OVER_TIME], dataset, "net_benefit_gain")
    if curve is None or at != curve.at.get("threshold") or not is_turning(evidence, dataset):
        return ()
    worse = tuple(each for each in over_time.periods(curve.found) if each.high is not None and each.high < 0)
    return worse if len(worse) > 1 else ()


def is_turning(evidence: types.Evidence, dataset: str) -> bool:
    """Whether risks, of several classes those of any, are shown to be too high at times and too low at others."""
    return any(over_time.turn_at(evidence, dataset, at) for at in evidence.release.each_outcome)


def is_of_no_time(evidence: types.Evidence, dataset: str, measure: str | None, at: types.At, least: float) -> bool:
    """Whether risks turn, so that what is shown of all times is of none, and a calendar period does not show it too."""
    if not is_turning(evidence, dataset):
        return False
    curves, of_class = evidence.by_curve[over_time.OVER_TIME], types.class_of(at) or types.MACRO
    curve = over_time.followed(curves, dataset, str(measure), of_class)
    is_followed = curve is not None and at == {name: curve.at[name] for name in at if name in curve.at}
    every = over_time.periods(curve.found) if curve is not None and is_followed else ()
    return not every or any(each.low is None or each.low <= least for each in every)


def gain(
    evidence: types.Evidence, dataset: str, at: float, found: types.Estimate | types.Absent, is_own: bool = False
) -> types.State:
    """How a gain over the better default stands at a hospital: open where it is of no time, and shown not to hold where
    flagging all or none did better in several periods; open too where it did so by a rule.
    """
    if worse_in(evidence, dataset, at):
        return "against"
    state = multiplicity.gain(found, is_own)
    if state != "shown":
        return state
    is_harmed = at == evidence.release.thresholds.primary and _better_to_flag(evidence, evidence.by_name[dataset])
    each = ({"threshold": at, **of} for of in evidence.release.each_outcome if "horizon" not in of)
    hides = is_harmed or any(is_of_no_time(evidence, dataset, "net_benefit_gain", one, 0.0) for one in each)
    return "open" if hides else state


def turning(evidence: types.Evidence) -> tuple[types.DatasetSummary, ...]:
    """The hospitals whose risks turn over time: no number of all their patients is that of any time."""
    return tuple(site for site in types.externals(evidence) if is_turning(evidence, site.name))


MARKS = {"‡": ruled_out, "§": stopped, "¶": turning}
"""What stands beside the name of a hospital where the maker says that the model is not to be used, where their rule to
switch it off is crossed, and where risks turn over time."""


def marks(evidence: types.Evidence, site: types.DatasetSummary) -> str:
    """What of this holds at a hospital."""
    return "".join(mark for mark, where in MARKS.items() if site in where(evidence))
