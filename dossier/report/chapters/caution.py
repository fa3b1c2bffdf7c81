"""Measures that others ask for, and why nothing is judged by them here."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from dossier.core import types
from dossier.report.chapters import sentence
from dossier.report.chapters.chapter import chapter
from dossier.typeset import measures, numbers, words


def finding(evidence: types.Evidence) -> sentence.Sentence:
    """What these measures are for, and the prevalences that several of them depend on."""
    shares = [site.prevalence for site in types.externals(evidence) if site.prevalence is not None]
    runs = words.span(numbers.per_cent, shares) if shares else ""
    classes = evidence.release.outcome.classes
    rest = sentence.phrase("caution", "finding", classes=classes, runs=runs)
    but = ", but that other models are compared by accuracy too" if classes and evidence.release.rivals else ""
    return sentence.Sentence(f"Nothing in this dossier is judged by the measures of this chapter{but}.", rest)


def cautioned(evidence: types.Evidence) -> list[types.Term]:
    """The measures of this tier that could be estimated at an external site."""
    terms = [term for term in evidence.terms.values() if term.tier == "caution"]
    return [term for term in terms if any(map(measures.is_estimated, evidence.by_term[term.name]))]


def instead(evidence: types.Evidence, term: types.Term) -> str:
    """Which measure to read instead, as a sentence; empty where none is named."""
    counterpart = evidence.terms.get(term.counterpart)
    return "" if counterpart is None else f" Read instead: {words.within_sentence(counterpart.label)}."


# ---- the danger, in the numbers of this release ---------------------------------------------------------------------


Placed = tuple[types.DatasetSummary, types.Estimate]
Shown = tuple[types.DatasetSummary, types.Estimate, dict[str, str]] | None
"""The site that shows a danger, what was found there, and the further values of its words; None where none does."""


def caveat(evidence: types.Evidence, term: types.Term) -> str:
    """How the measure misleads, shown with the numbers of this release; empty where they do not say."""
    shown = None if term.danger is None else CAVEATS[term.danger](evidence, term)
    if term.danger is None or shown is None:
        return ""
    site, found, more = shown
    values = {
        "site": site.site,
        "value": numbers.short(evidence, term.name, found.value),
        "share": numbers.per_cent(found.value),
        "prevalence": "" if (prevalence := _share(evidence, site)) is None else numbers.per_cent(prevalence),
        "at": numbers.threshold(evidence.release.thresholds.primary or 0.0),
    }
    return sentence.phrase("caution", term.danger, **values, **more)


def _here(evidence: types.Evidence, term: types.Term) -> list[Placed]:
    """The external sites with a value, at the primary threshold where the measure has one."""
    if term.at == ("threshold",):
        primary = evidence.release.thresholds.primary
        return [] if primary is None else sentence.estimated(evidence, term.measure, threshold=primary)
    return sentence.estimated(evidence, term.measure)


def _with(pairs: list[Placed], *names: str) -> list[tuple[types.DatasetSummary, types.Estimate, dict[str, float]]]:
    """The sites whose estimate holds these details."""
    held = []
    for site, found in pairs:
        details = {name: value for name in names if (value := found.details.get(name)) is not None}
        if len(details) == len(names):
            held.append((site, found, details))
    return held


def _accuracy(evidence: types.Evidence, term: types.Term) -> Shown:
    """The site at which giving everybody the same answer fares best against the model."""
    pairs = _with(_here(evidence, term), "larger_class")
    if not pairs:
        return None
    site, found, details = max(pairs, key=lambda pair: pair[2]["larger_class"] - pair[1].value)
    share, larger = _share(evidence, site), details["larger_class"]
    return site, found, {"whom": "everybody" if (share or 0.0) > 0.5 else "nobody", "larger": numbers.per_cent(larger)}


def _share(evidence: types.Evidence, site: types.DatasetSummary) -> float | None:
    """Which share of the patients have the outcome; by a horizon, so many as are observed to."""
    observed = types.find(evidence, "observed_risk", site.name)
    return observed.value if isinstance(observed, types.Estimate) else site.prevalence


def _equal_weight(evidence: types.Evidence, term: types.Term) -> Shown:
    """The site at which its weight of a false alarm is farthest from the one that the threshold says."""
    pairs = _with(_here(evidence, term), "false_alarm_weight", "declared_weight")
    kept = [pair for pair in pairs if pair[2]["declared_weight"] > 0]
    if not kept:
        return None
    # The larger of both weights is a multiple of the other.
    site, found, details = max(kept, key=lambda pair: max(pair[2].values()) / min(pair[2].values()))
    return site, found, {name: _missed(weight) for name, weight in details.items()}


def _missed(weight: float) -> str:
    rounded = numbers.number(weight, 0 if weight >= 9.5 or round(weight, 1) == round(weight) else 1)
    return f"{rounded} missed {'case' if rounded == '1' else 'cases'}"


def _moving(evidence: types.Evidence, term: types.Term) -> Shown:
    """The site whose value moves most when only the prevalence does."""
    moved = [
        (site, found, per_hundred, other)
        for site, found in _here(evidence, term)
        for per_hundred in (10, 50)
        if (other := found.details.get(f"at_prevalence_{per_hundred}")) is not None
    ]
    if not moved:
        return None
    site, found, per_hundred, other = max(moved, key=lambda row: abs(row[3] - row[1].value))
    return site, found, {"other": numbers.short(evidence, term.name, other), "per_hundred": f"{per_hundred}"}


def _kappa(evidence: types.Evidence, term: types.Term) -> Shown:
    """The site at which the margins leave it the least room."""
    pairs = _with(_here(evidence, term), "maximum")
    if not pairs:
        return None
    site, found, details = min(pairs, key=lambda pair: pair[2]["maximum"])
    return site, found, {"maximum": numbers.short(evidence, term.name, details["maximum"])}


def _precision_recall(evidence: types.Evidence, term: types.Term) -> Shown:
    """What chance gives at the sites of the lowest and the highest prevalence."""
    pairs = sorted(_with(_here(evidence, term), "prevalence"), key=lambda pair: pair[2]["prevalence"])
    said = [
        f"{numbers.short(evidence, term.name, details['prevalence'])} at {site.site}, where the model has "
        f"{numbers.short(evidence, term.name, found.value)}"
        for site, found, details in pairs
    ]
    return (*pairs[0][:2], {"chance": ", and ".join([*said[:1], *said[1:][-1:]])}) if pairs else None


def _expected_error(evidence: types.Evidence, term: types.Term) -> Shown:
    """What a risk without any information would get at the site where the model is worst."""
    pairs = [pair for pair in _here(evidence, term) if 0 < (pair[0].prevalence or 0.0) < 1]
    return (*pairs[-1], {}) if pairs else None


def _part(evidence: types.Evidence, term: types.Term) -> Shown:
    """The site and part that leave out most of the AUROC."""
    sites = {site.name: site for site in types.externals(evidence)}
    seen = [
        (left, sites[result.dataset], str(result.at["fpr"]), result.found)
        for result in types.find_all(evidence, term.measure)
        if result.dataset in sites and "fpr" in result.at and isinstance(result.found, types.Estimate)
        if (left := result.found.details.get("left_out")) is not None
    ]
    if not seen:
        return None
    left, site, part, found = max(seen, key=lambda row: row[0])
    ends = " to ".join(words.setting(float(end)) for end in part.split("-"))
    return site, found, {"ends": ends, "left": numbers.short(evidence, term.name, left)}


CAVEATS: Mapping[types.Danger, Callable[[types.Evidence, types.Term], Shown]] = {
    "larger class": _accuracy,
    "equal weight": _equal_weight,
    "prevalence": _moving,
    "chance agreement": _kappa,
    "precision": _precision_recall,
    "one risk for all": _expected_error,
    "part of the curve": _part,
}
"""How each danger shows in the numbers of a release."""


CHAPTER = chapter("caution", finding, lambda evidence: bool(cautioned(evidence)))
