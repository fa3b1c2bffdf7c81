"""Measures that others ask for, and why nothing is judged by them here."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from dossier.core.types import Danger, DatasetSummary, Estimate, Evidence, Term, externals, find_all, of_term
from dossier.report.chapters.chapter import chapter
from dossier.report.chapters.sentence import Sentence, estimated, primary_threshold
from dossier.typeset.numbers import number, per_cent, short, threshold
from dossier.typeset.words import setting, within_sentence


def finding(evidence: Evidence) -> Sentence:
    """What these measures are for, and the prevalences that several of them depend on."""
    if evidence.release.outcome.classes:
        rest = (
            "For several classes they are means over the classes, one against the rest; each class is in results.json."
        )
        return Sentence("Nothing in this dossier is judged by the measures of this chapter.", rest)
    shares = sorted(_prevalence(site) for site in externals(evidence) if site.events is not None and site.n)
    ends = list(dict.fromkeys(map(per_cent, (shares[0], shares[-1])))) if shares else []
    where = f"Prevalence here {'runs from' if len(ends) > 1 else 'is'} {' to '.join(ends)}." if ends else ""
    return Sentence("Nothing in this dossier is judged by the measures of this chapter.", where)


def cautioned(evidence: Evidence) -> list[Term]:
    """The measures of this tier that could be estimated at an external site."""
    return [term for term in evidence.terms.values() if term.tier == "caution" and _estimated(evidence, term)]


def instead(evidence: Evidence, term: Term) -> str:
    """Which measure to read instead, as a sentence; empty where none is named."""
    counterpart = evidence.terms.get(term.counterpart)
    return "" if counterpart is None else f" Read instead: {within_sentence(counterpart.label)}."


def _estimated(evidence: Evidence, term: Term) -> bool:
    return any(isinstance(result.found, Estimate) for result in of_term(evidence, term.name))


def _prevalence(site: DatasetSummary) -> float:
    return (site.events or 0) / site.n


# ---- the danger, in the numbers of this release ---------------------------------------------------------------------


def caveat(evidence: Evidence, term: Term) -> str:
    """How the measure misleads, shown with the numbers of this release; empty where they do not say."""
    return "" if term.danger is None else CAVEATS[term.danger](evidence, term)


Placed = tuple[DatasetSummary, Estimate]


def _here(evidence: Evidence, term: Term) -> list[Placed]:
    """The external sites with a value, at the primary threshold where the measure has one."""
    if term.at == ("threshold",):
        primary = primary_threshold(evidence)
        return [] if primary is None else estimated(evidence, term.measure, threshold=primary)
    return estimated(evidence, term.measure)


def _with(pairs: list[Placed], *names: str) -> list[tuple[DatasetSummary, Estimate, dict[str, float]]]:
    """The sites whose estimate holds these details."""
    held = []
    for site, found in pairs:
        details = {name: value for name in names if (value := found.details.get(name)) is not None}
        if len(details) == len(names):
            held.append((site, found, details))
    return held


def _at(evidence: Evidence) -> str:
    return f"threshold {threshold(primary_threshold(evidence) or 0.0)}"


def _accuracy(evidence: Evidence, term: Term) -> str:
    """The site at which giving everybody the same answer fares best against the model."""
    pairs = _with(_here(evidence, term), "larger_class")
    if not pairs:
        return ""
    site, found, details = max(pairs, key=lambda pair: pair[2]["larger_class"] - pair[1].value)
    larger = details["larger_class"]
    answer = "calling everybody a case" if _prevalence(site) > 0.5 else "calling nobody a case"
    return (
        f"At {site.site}, {answer} would be right for {per_cent(larger)}, the model for {per_cent(found.value)} at "
        f"{_at(evidence)}."
    )


def _equal_weight(evidence: Evidence, term: Term) -> str:
    """The site at which its weight of a false alarm is farthest from the one that the threshold says."""
    pairs = _with(_here(evidence, term), "false_alarm_weight", "declared_weight")
    kept = [pair for pair in pairs if pair[2]["declared_weight"] > 0]
    if not kept:
        return ""
    site, found, details = max(kept, key=lambda pair: _apart(*pair[2].values()))
    return (
        f"At {site.site}, where {per_cent(_prevalence(site))} have the outcome, its value of "
        f"{short(evidence, term.name, found.value)} counts one false alarm as much as "
        f"{_missed(details['false_alarm_weight'])}; {_at(evidence)} says {_missed(details['declared_weight'])}."
    )


def _apart(first: float, other: float) -> float:
    """By which factor two positive numbers differ, whichever is larger."""
    return max(first / other, other / first)


def _missed(weight: float) -> str:
    rounded = number(weight, 0 if weight >= 9.5 or round(weight, 1) == round(weight) else 1)
    return f"{rounded} missed {'case' if rounded == '1' else 'cases'}"


def _moving(evidence: Evidence, term: Term) -> str:
    """The site whose value moves most when only the prevalence does."""
    pairs = _here(evidence, term)
    moved = [
        (site, found, per_hundred, other)
        for site, found in pairs
        for per_hundred in (10, 50)
        if (other := found.details.get(f"at_prevalence_{per_hundred}")) is not None
    ]
    if not moved:
        return ""
    site, found, per_hundred, other = max(moved, key=lambda row: abs(row[3] - row[1].value))
    return (
        f"At {site.site} it is {short(evidence, term.name, found.value)} with a prevalence of "
        f"{per_cent(_prevalence(site))}; the same sensitivity and specificity would give "
        f"{short(evidence, term.name, other)} at {per_hundred}%."
    )


def _kappa(evidence: Evidence, term: Term) -> str:
    """The site at which the margins leave it the least room."""
    pairs = _with(_here(evidence, term), "maximum")
    if not pairs:
        return ""
    site, found, details = min(pairs, key=lambda pair: pair[2]["maximum"])
    return (
        f"At {site.site} it is {short(evidence, term.name, found.value)}, and with so many flagged and so many cases "
        f"at {_at(evidence)} it could not pass {short(evidence, term.name, details['maximum'])} whoever is flagged."
    )


def _precision_recall(evidence: Evidence, term: Term) -> str:
    """What chance gives at the sites of the lowest and the highest prevalence."""
    pairs = sorted(_with(_here(evidence, term), "prevalence"), key=lambda pair: pair[2]["prevalence"])
    if not pairs:
        return ""
    said = [
        f"{short(evidence, term.name, details['prevalence'])} at {site.site}, where the model has "
        f"{short(evidence, term.name, found.value)}"
        for site, found, details in (pairs[:1] if len(pairs) == 1 else (pairs[0], pairs[-1]))
    ]
    return f"Chance alone gives {', and '.join(said)}."


def _expected_error(evidence: Evidence, term: Term) -> str:
    """What a risk without any information would get at the site where the model is worst."""
    pairs = [pair for pair in _here(evidence, term) if 0 < _prevalence(pair[0]) < 1]
    if not pairs:
        return ""
    site, found = pairs[-1]
    return (
        f"At {site.site} it is {short(evidence, term.name, found.value)}; one risk of {per_cent(_prevalence(site))} "
        f"for everybody would have 0, and tell nobody apart."
    )


def _part(evidence: Evidence, term: Term) -> str:
    """The site and part that leave out most of the AUROC."""
    sites = {site.name: site for site in externals(evidence)}
    seen = [
        (left, sites[result.dataset], str(result.at["fpr"]), result.found)
        for result in find_all(evidence, term.measure)
        if result.dataset in sites and "fpr" in result.at and isinstance(result.found, Estimate)
        if (left := result.found.details.get("left_out")) is not None
    ]
    if not seen:
        return ""
    left, site, part, found = max(seen, key=lambda row: row[0])
    ends = " to ".join(setting(float(end)) for end in part.split("-"))
    return (
        f"At {site.site} the part from {ends} has {short(evidence, term.name, found.value)} and leaves out "
        f"{short(evidence, term.name, left)} of the AUROC, the sum of the parts."
    )


CAVEATS: Mapping[Danger, Callable[[Evidence, Term], str]] = {
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
