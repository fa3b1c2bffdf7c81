"""Measures that others ask for, and why nothing is judged by them here."""

from __future__ import annotations

from dataclasses import replace

from dossier.findings.sentence import Sentence
from dossier.types import MACRO, Estimate, Evidence, Term, externals
from dossier.typeset import Table, is_against_chance, per_cent, tables_of


def finding(evidence: Evidence) -> Sentence:
    """What these measures are for, and the prevalences that several of them depend on."""
    if evidence.release.outcome.classes:
        rest = (
            "For several classes they are means over the classes, one against the rest; each class is in results.json."
        )
        return Sentence("Nothing in this dossier is judged by the measures of this chapter.", rest)
    shares = sorted(site.events / site.n for site in externals(evidence) if site.events is not None and site.n)
    where = f"Prevalence here runs from {per_cent(shares[0])} to {per_cent(shares[-1])}." if shares else ""
    return Sentence("Nothing in this dossier is judged by the measures of this chapter.", where)


def cautioned(evidence: Evidence) -> list[Term]:
    """The measures of this tier that could be estimated at an external site."""
    return [term for term in evidence.terms.values() if term.tier == "caution" and _estimated(evidence, term)]


def tables(evidence: Evidence) -> tuple[Table, ...]:
    """Each measure beside the one that should be read instead, at the same threshold."""
    terms = cautioned(evidence)
    beside = list(dict.fromkeys(term.counterpart for term in terms if term.counterpart in evidence.terms))
    return tables_of(_means_only(evidence), [*terms, *(evidence.terms[name] for name in beside)])


def _means_only(evidence: Evidence) -> Evidence:
    """The evidence without the single classes: of measures that nothing is judged by, the means over them suffice."""
    kept = tuple(one for one in evidence.results if one.at.get("class", MACRO) == MACRO)
    return replace(evidence, results=kept)


def chance(evidence: Evidence) -> tuple[Table, ...]:
    """The tests against chance."""
    tests = [term for term in evidence.terms.values() if is_against_chance(evidence, term)]
    return tables_of(evidence, [term for term in tests if _estimated(evidence, term)])


def _estimated(evidence: Evidence, term: Term) -> bool:
    return any(one.term == term.name and isinstance(one.found, Estimate) for one in evidence.results)
