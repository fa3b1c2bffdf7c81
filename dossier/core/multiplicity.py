"""What several tests together say of each."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Literal

import numpy as np

from dossier.core import bands, facts, over_time
from dossier.core.types import MACRO, Absent, Estimate, Evidence, Result, State, Withheld, externals, find, find_all

LEVEL = 0.05 / 5
"""The level of each question that a release may be accused in: a page of five accuses a right model in 5 % at most."""


OF_DIFFERENCES = 0.05
"""The level of what lies side by side: groups of patients, other models, the last release."""


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """The p values of a family of tests by Holm's correction, in their order: none is wrong more often than one may be.

    Parameters
    ----------
    p_values : Sequence of float
        The raw p values of the family.

    Returns
    -------
    tuple of float
        For the i-th smallest of m, the largest (m - j + 1) p_(j) over j up to i, at most 1.

    References
    ----------
    Holm 1979.

    Examples
    --------
    >>> from dossier.core.multiplicity import holm
    >>> holm((0.01, 0.04, 0.03))
    (0.03, 0.06, 0.06)
    """
    values = np.asarray(p_values, dtype=float)
    order = np.argsort(values, kind="stable")
    stepwise = np.maximum.accumulate(values[order] * np.arange(len(values), 0, -1))
    found = np.empty(len(values))
    found[order] = np.minimum(stepwise, 1.0)
    return tuple(found.tolist())


def reach(looks: int, level: float = OF_DIFFERENCES) -> float:
    """How many standard errors a two-sided test asks for that is one of so many."""
    return NormalDist().inv_cdf(1 - level / 2 / looks)


def with_holm(given: list[Result], name: str, p_values: Mapping[int, float], **more: float) -> None:
    """Put Holm's p values of a family, by their place among the results, into the details."""
    for key, p_value in zip(p_values, holm(tuple(p_values.values())), strict=True):
        given[key] = given[key].with_details({name: p_value, **more})


def of_calibration(results: Sequence[Result], external: Set[str]) -> list[Result]:
    """The results, the tests of calibration of each external dataset, class and horizon as one family."""
    given = list(results)
    looks = {
        index: p_value
        for index, result in enumerate(given)
        if result.measure == "calibration_test"
        and result.dataset in external
        and result.subset is None
        and result.at.get("class") != MACRO
        and (p_value := _p_value(result.found, "p_value")) is not None
    }
    with_holm(given, "p_holm", looks, looks=float(len(looks)))
    # Who reads of one hospital alone has as many looks there as horizons.
    for here in facts.gathered((given[index].dataset, index) for index in looks).values():
        if any("horizon" in given[index].at for index in here):
            with_holm(given, "p_at_site", {index: looks[index] for index in here})
    return given


def of_discrimination(results: Sequence[Result], external: Set[str]) -> list[Result]:
    """The results, each AUROC of all patients of an external dataset and class with the upper limit of the family.

    As many limits hold together at the level as Bonferroni's correction asks: the AUROC of none lies above its own.
    """
    given = list(results)
    looks = [
        index
        for index, result in enumerate(given)
        if result.measure == "auroc"
        and result.dataset in external
        and result.subset is None
        and set(result.at) <= {"class"}
        and result.at.get("class") != MACRO
    ]
    for index in looks:
        found = given[index].found
        if isinstance(found, Estimate) and found.high is not None and found.level is not None:
            wider = NormalDist().inv_cdf(1 - LEVEL / len(looks)) / NormalDist().inv_cdf((1 + found.level) / 2)
            high = min(found.value + max(wider, 1.0) * (found.high - found.value), 1.0)
            given[index] = given[index].with_details({"simultaneous_high": high, "looks": float(len(looks))})
    return given


def discrimination(found: Estimate | Absent, is_own: bool = False) -> State:
    """Whether risks are shown to separate patients with the outcome from those without, or shown not to.

    Shown is an interval above chance, against an upper limit below what is of any use, corrected for all sites that
    were looked at (not where it `is_own`, the site of the reader). Few patients of either kind show neither.
    """
    if isinstance(found, Absent):
        return "untested"
    if found.events is not None and min(found.events, found.others or 0) < bands.FEW_FOR_POOLING:
        return "open"
    if is_below(found, bands.LEAST_USEFUL_AUROC, is_own):
        return "against"
    return "shown" if found.low is not None and found.low > CHANCE else "open"


CHANCE = 0.5
"""The AUROC of who has no model at all."""


def is_below(found: Estimate, bound: float, is_own: bool = False) -> bool:
    """Whether an AUROC is shown to lie below a bound, corrected for all sites unless it `is_own`."""
    high = found.high if is_own else found.details.get("simultaneous_high", found.high)
    return high is not None and high < bound


def is_reversed(evidence: Evidence, site: str, **at: float | str) -> bool:
    """Whether at a site those with the outcome are shown to have the lower risks."""
    found, is_own = find(evidence, "auroc", site, **at), evidence.local_site == site
    return (
        discrimination(found, is_own) == "against" and isinstance(found, Estimate) and is_below(found, CHANCE, is_own)
    )


def of_gains(results: Sequence[Result], external: Set[str]) -> list[Result]:
    """The results, the gains over the better default at each external dataset, threshold and class as one family.

    Worse than flagging no one is a PPV below the threshold, worse than flagging everyone an NPV below 1 less the
    threshold: exact binomial tests, of which four times the smaller p counts, for the data choose the default. Where
    rows are no independent sample there is no such test, and a gain is judged by its interval.
    """
    given = list(results)
    better: dict[int, float] = {}
    shares = {
        (each.measure, each.dataset, *sorted(each.at.items())): each.found
        for each in given
        if each.measure in ("ppv", "npv") and each.subset is None
    }
    looks: dict[int, float] = {}
    for index, result in enumerate(given):
        is_own = result.subset is None and set(result.at) <= {"threshold", "class"}
        if result.measure == "net_benefit_gain" and result.dataset in external and is_own:
            setting = (result.dataset, *sorted(result.at.items()))
            tails = _tails(result, shares.get(("ppv", *setting)), shares.get(("npv", *setting)))
            if tails is not None:
                looks[index], better[index] = tails
    with_holm(given, "p_holm", looks, looks=float(len(looks)))
    for index, p_value in better.items():
        given[index] = given[index].with_details({"p_better": p_value})
    return given


def _tails(gain: Result, ppv: Estimate | Absent | None, npv: Estimate | Absent | None) -> tuple[float, float] | None:
    """The p values that a gain is below 0, and above it; None where rows are no independent sample.

    Worse is what either default beats, and 1 where the interval is not below 0; better is what beats both.
    """
    if isinstance(gain.found, Absent) or gain.found.method != INDEPENDENT or (ppv is None and npv is None):
        return None
    t, worse, better = float(gain.at["threshold"]), [], []
    if isinstance(ppv, Estimate) and ppv.events is not None:
        worse.append(_at_most(ppv.events, ppv.n, t))
        better.append(_at_most(ppv.n - ppv.events, ppv.n, 1 - t))
    if isinstance(npv, Estimate) and npv.events is not None:
        worse.append(_at_most(npv.n - npv.events, npv.n, 1 - t))
        better.append(_at_most(npv.events, npv.n, t))
    is_below = gain.found.high is not None and gain.found.high < 0
    return min(4 * min(worse, default=1.0), 1.0) if is_below else 1.0, max(better) if len(better) == 2 else 1.0


INDEPENDENT = facts.Method("mover")
"""How the interval of a gain is made where rows are an independent sample."""


def _at_most(count: int, n: int, chance: float) -> float:
    """The binomial probability of at most so many of n."""
    factorials = np.concatenate(([0.0], np.cumsum(np.log(np.arange(1, n + 1)))))
    k = np.arange(count + 1)
    logs = factorials[n] - factorials[k] - factorials[n - k] + k * math.log(chance) + (n - k) * math.log1p(-chance)
    return float(np.exp(logs).sum())


def gain(found: Estimate | Absent, is_own: bool = False) -> State:
    """How a gain over the better default stands: shown where both defaults are beaten, each by an exact test."""
    if isinstance(found, Absent):
        return "untested"
    if is_worse(found, is_own):
        return "against"
    p_better = found.details.get("p_better")
    is_above = found.low is not None and found.low > 0
    is_better = is_above if p_better is None else p_better <= (1 - (found.level or 0.95)) / 2
    return "shown" if is_better else "open"


BESIDE_RIVALS: Mapping[str, tuple[float | None, float | None]] = {
    **dict.fromkeys(("net_benefit_difference", "accuracy_difference", "auroc_difference"), (0.0, None)),
    **dict.fromkeys(("mean_severity_difference", "brier_difference"), (None, 0.0)),
}
"""What a difference from another model has to be where the model is the better one."""


def beside_rival(measure: str, found: Estimate, is_own: bool = False) -> State:
    """How a difference from another model stands after all comparisons, or at the reader's own hospital after those
    there; without a test the other one is not better.
    """
    state = better(found, *BESIDE_RIVALS[measure])
    p_adjusted = found.details.get("p_at_site" if is_own else "p_adjusted")
    is_chance = p_adjusted is None or p_adjusted > OF_DIFFERENCES
    return "open" if state == "against" and is_chance else state


def is_worse(gain: Estimate, is_own: bool = False) -> bool:
    """Whether flagging everyone or no one is shown to be better: by the interval, and after Holm where a gain has a p.

    At the site of the reader (`is_own`), that is one, the interval alone decides.
    """
    p_value = None if is_own else gain.details.get("p_holm")
    return gain.high is not None and gain.high < 0 and (p_value is None or p_value <= LEVEL)


def looks_worse(gain: Estimate, is_own: bool = False) -> bool:
    """Whether a gain lies below 0 with its whole interval, which chance may explain among all that were looked at."""
    return gain.high is not None and gain.high < 0 and not is_worse(gain, is_own)


def is_below_everyone(gain: Estimate) -> bool | None:
    """Whether a gain that is shown to lie below 0 does so against flagging everyone, else against flagging no one.

    None where that is not known.
    """
    exceeds, default = gain.details.get("everyone_exceeds"), gain.details.get("default")
    if exceeds is not None:
        return exceeds > 0.5
    return None if default is None else default > 0


def better_than_the_model(gains: Iterable[tuple[str, Estimate]]) -> dict[str, list[str]]:
    """Where a gain is shown to lie below 0: the places, by whom it is better to flag."""
    found = facts.gathered((better_to_flag(gain), where) for where, gain in gains if is_worse(gain))
    return {whom: found[whom] for whom in DEFAULTS.values() if whom in found}


def better_to_flag(gain: Estimate) -> str:
    """Whom it is better to flag where a gain lies below 0: everyone or no one, and either where that is not known."""
    return DEFAULTS[is_below_everyone(gain)]


DEFAULTS = {True: over_time.EVERYONE, False: over_time.NO_ONE, None: f"{over_time.EVERYONE} or {over_time.NO_ONE}"}


def _p_value(found: Estimate | Absent, name: str) -> float | None:
    return found.details.get(name) if isinstance(found, Estimate) else None


def since_last_release(found: Estimate | Absent, is_own: bool = False) -> State | None:
    """What a difference from the last release says, better and worse alike after all looks, or at the reader's own
    hospital after those there; None where none was had.
    """
    if isinstance(found, Absent) or "p_adjusted" not in found.details:
        return None
    adjusted = found.details.get("p_at_site" if is_own else "p_adjusted") or 0.0
    if (found.details.get("p_value") or 0.0) >= 1 - (found.level or 0.95) or adjusted > OF_DIFFERENCES:
        return "open"
    return "against" if (found.details.get("worse_by") or 0.0) > 0 else "shown"


def calibration(
    ratio: Estimate | Absent,
    slope: Estimate | Absent,
    test: Estimate | Absent,
    is_own: bool = False,
    limits: Sequence[tuple[float | None, float | None]] = (bands.OE_TOLERATED, bands.OE_TOLERATED),
) -> State:
    """Whether risks are shown to be right in size at a site, or shown not to be.

    Shown is what lies within what is tolerated with both whole intervals. Against is what the likelihood-ratio test
    rejects, corrected for all sites that were looked at (not where it `is_own`, the site of the reader: that is one),
    where an estimate lies outside; where there is no p value, what lies outside with a whole interval. `limits` are
    those of the ratio and of the slope.
    """
    known = [
        (found, bounds) for found, bounds in zip((ratio, slope), limits, strict=True) if isinstance(found, Estimate)
    ]
    if not known:
        return "untested"
    states = [held(found, *bounds) for found, bounds in known]
    p_value = _p_value(test, "p_holm")
    if is_own:
        at_site = _p_value(test, "p_at_site")
        p_value = _p_value(test, "p_value") if at_site is None else at_site
    is_refuted = "against" in states if p_value is None else p_value <= LEVEL
    if is_refuted and any(bands.is_outside(found.value, found.value, *bounds) for found, bounds in known):
        return "against"
    return "shown" if states == ["shown", "shown"] else "open"


def held(found: Estimate | Absent, least: float | None, most: float | None) -> State:
    """What the interval of an estimate says of limits; open where it has none."""
    if isinstance(found, Absent):
        return "withheld" if isinstance(found, Withheld) else "untested"
    if bands.is_outside(found.low, found.high, least, most):
        return "against"
    above = least is None or (found.low is not None and found.low >= least)
    below = most is None or (found.high is not None and found.high <= most)
    return "shown" if above and below else "open"


def than_before(found: Estimate | Absent) -> Estimate | Absent:
    """A difference from the previous release as a criterion sees it: of what is best at 1, how much farther it lies."""
    if isinstance(found, Absent) or "worse_high" not in found.details:
        return found
    value, low, high = (found.details[name] for name in ("worse_by", "worse_low", "worse_high"))
    return replace(found, value=value or 0.0, low=low, high=high)


def better(found: Estimate | Absent, least: float | None, most: float | None) -> State:
    """What `held` says of a limit that is no difference, or chance: what equals it in every sample is no better."""
    state = held(found, least, most)
    is_equal = isinstance(found, Estimate) and found.value in (least, most)
    return "open" if state == "shown" and is_equal else state


def size_of_risks(evidence: Evidence, site: str, **at: float | str) -> State:
    """Whether the risks of a site, of a class or by a further horizon, are shown to be right in size, or not to be."""
    ratio, slope, test = (
        find(evidence, measure, site, **at) for measure in ("oe_ratio", "calibration_slope", "calibration_test")
    )
    if over_time.turn_at(evidence, site, at):
        return "against"
    return calibration(ratio, slope, test, evidence.local_site == site and "class" not in at)


def of_site(evidence: Evidence, found: Estimate, site: str, **at: float | str) -> State:
    """How an O/E or a slope of a site stands: within what is tolerated, part of why its risks are refuted, or open."""
    if held(found, *bands.OE_TOLERATED) == "shown":
        return "shown"
    is_off = bands.is_outside(found.value, found.value, *bands.OE_TOLERATED)
    return "against" if is_off and size_of_risks(evidence, site, **at) == "against" else "open"


def sites_against(evidence: Evidence, measure: str) -> frozenset[str]:
    """The external sites that are found against by what a measure is part of, however few their patients are."""
    sites = [site.name for site in externals(evidence)]
    if measure == "net_benefit_gain":
        gains = find_all(evidence, measure)
        own = evidence.local_site
        return frozenset(each.dataset for each in gains if gain(each.found, each.dataset == own) == "against")
    if measure in ("oe_ratio", "calibration_slope"):
        # The numbers of pages are by the first horizon.
        each = [at for at in evidence.release.each_outcome if "horizon" not in at]
        return frozenset(site for site in sites if any(size_of_risks(evidence, site, **at) == "against" for at in each))
    return frozenset()


@dataclass(frozen=True)
class Misfit:
    """How risks that are shown to be wrong in size are off, as a whole and in their spread; empty where not."""

    level: Literal["", "too low", "too high"] = ""
    is_far: bool = False
    """Whether the whole interval of O/E lies outside what is tolerated."""
    spread: Literal["", "below 0", "below 1", "above 1"] = ""
    """Where the slope lies."""
    is_reversed: bool = False
    """Whether those with the outcome are shown to have the lower risks."""
    turn: over_time.Turn | None = None
    """When they are shown to be too high, and when too low, where they are both."""


def misfit(evidence: Evidence, site: str, **at: float | str) -> Misfit:
    """How the risks of a site, of one of its classes or by a further horizon, are off."""
    ratio, slope = (find(evidence, measure, site, **at) for measure in ("oe_ratio", "calibration_slope"))
    found = Misfit(is_reversed=is_reversed(evidence, site, **at), turn=over_time.turn_at(evidence, site, at))
    if isinstance(ratio, Estimate) and of_site(evidence, ratio, site, **at) == "against":
        is_far = held(ratio, *bands.OE_TOLERATED) == "against"
        found = replace(found, level="too high" if ratio.value < 1 else "too low", is_far=is_far)
    is_off = isinstance(slope, Estimate) and of_site(evidence, slope, site, **at) == held(slope, 1, 1) == "against"
    if isinstance(slope, Estimate) and is_off:
        is_backwards = slope.high is not None and slope.high < 0
        found = replace(found, spread="below 0" if is_backwards else "below 1" if slope.value < 1 else "above 1")
    return found


def is_farthest_off(found: tuple[float, float], others: Iterable[tuple[float, float]]) -> bool:
    """Whether a risk and what came of it lie farther apart than any of the others."""
    return all(abs(found[1] - found[0]) > abs(value - risk) for risk, value in others)


def at_risk(risk: float, value: float, low: float, high: float) -> tuple[Literal["", "too low", "too high"], bool]:
    """Which way a risk is off by what came of it, if its range leaves it out, and whether by more than is tolerated."""
    way: Literal["", "too low", "too high"] = "too low" if low > risk else "too high" if high < risk else ""
    least, most = bands.OE_TOLERATED
    return way, bool(way) and not least <= value / risk <= most


def separation(evidence: Evidence, site: str, **at: float | str) -> Literal["", "reversed", "absent", "hardly"]:
    """How the risks of a site, or of a class, are shown not to separate patients; empty where they are not."""
    found = find(evidence, "auroc", site, **at)
    if isinstance(found, Absent) or discrimination(found, evidence.local_site == site) != "against":
        return ""
    if is_reversed(evidence, site, **at):
        return "reversed"
    return "hardly" if found.low is not None and found.low > CHANCE else "absent"


def is_short_of(needed: Estimate, n: int) -> bool:
    """Whether so many patients are fewer than a number of patients that is asked for."""
    return n < needed.value


CLEARLY_APART, SMALL_P = 0.7, 0.05
"""From this membership AUROC on, and up to this P of the energy test, a site is unlike the development data."""


def told_apart(evidence: Evidence, site: str) -> Literal["", "classifier", "distances"]:
    """What clearly tells the patients of a site from those of the development."""
    member, energy = (find(evidence, measure, site) for measure in ("membership_auroc", "energy_coefficient"))
    if isinstance(member, Estimate) and member.value >= CLEARLY_APART and (member.low or 0.0) > CHANCE:
        return "classifier"
    p_value = _p_value(energy, "p_value")
    return "distances" if p_value is not None and p_value < SMALL_P else ""


def reach_of_chance(evidence: Evidence) -> float:
    """How many standard errors the log of an O/E may lie from 0 before the joint test of its site rejects by it alone.

    The test has two degrees of freedom, of which O/E is one: at its p value p the log likelihood gains -ln p, that is
    z^2 / 2. Holm's last step leaves p at the level over the sites that are not rejected.
    """
    p_values = [
        found.details["p_holm"] or 0.0
        for site, at in itertools.product(externals(evidence), evidence.release.each_outcome)
        if isinstance(found := find(evidence, "calibration_test", site.name, **at), Estimate)
        if "p_holm" in found.details
    ]
    left = sum(p_value > LEVEL for p_value in p_values)
    return math.sqrt(-2 * math.log(LEVEL / max(left, 1)))
