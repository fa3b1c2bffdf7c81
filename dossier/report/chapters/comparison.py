"""How the model compares with other models on the same rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from dossier.core import claims, facts, types
from dossier.core.facts import gathered
from dossier.report.chapters import sentence
from dossier.report.chapters.chapter import chapter, measured
from dossier.typeset import measures, names, numbers, words
from dossier.typeset.tables import Table
from dossier.words import entries


def finding(evidence: types.Evidence) -> sentence.Sentence:
    """How many comparisons show the model better or worse, of all that page 1 counts, and where another is better."""
    every = claims.counted(evidence, "comparators")
    if not every:
        return sentence.Sentence("At no external site can the models be compared.")
    names = evidence.release.rivals_by_any_horizon
    stands = ["same" if claims.is_same(claim) else claim.state for claim in every]
    counts = {state: stands.count(state) for state in COUNTED}
    states = [state for state in COUNTED if counts[state] or state == "against"]
    said = [f"{words.how_many(counts[state])} {COUNTED[state]}" for state in states]
    # What is said against the model has to pass a test that what is said for it has not.
    sure = sum(map(claims.is_better_after_all_looks, every))
    said[:1] = [f"{said[0]} ({words.in_words(sure)} after Holm's correction too)"] if counts["shown"] else said[:1]
    whom = names[0] if len(names) == 1 else f"{words.in_words(len(names))} other models"
    sites = sentence.estimated(evidence, "auroc_difference", against=names[0]) if len(names) == 1 else []
    apart = sentence.over_sites(evidence, "auroc_difference", sites, against=names[0]) if sites else ""
    what = "mean AUROC of the classes" if evidence.release.outcome.classes else "AUROC"
    return sentence.Sentence(
        f"Of {words.counted(len(every), 'comparison')} with {whom}, {words.listing(said)}.",
        f"{f'The difference of the {what} {apart}. ' if apart else ''}{where_better(evidence)}".strip(),
    )


COUNTED: Mapping[str, str] = entries("pages")["compared_models"]
"""What comparisons with another model found, by their state."""


def better_rivals(evidence: types.Evidence) -> list[claims.Claim]:
    """Where another model is better by its interval, after all looks first, then what matters most to patients."""
    return [
        claim
        for claim in claims.worst_first(claims.about(evidence, "comparators", "hospital"))
        if claim.limit_source == "default" and (claim.state == "against" or claims.looks_worse(claim))
    ]


def worse_elsewhere(better: Sequence[claims.Claim], among: Sequence[claims.Claim]) -> list[claims.Claim]:
    """Of the claims `among` all, where models that are better somewhere are shown to be worse, after all looks too."""
    rivals, order = {claim.at["against"] for claim in better}, [*IN_WORDS]
    of_them = [claim for claim in among if claim.measure in order and claim.at["against"] in rivals]
    worse = filter(claims.is_better_after_all_looks, of_them)
    return sorted(worse, key=lambda claim: (order.index(str(claim.measure)), claim.p_adjusted or 0.0))


def is_like(claim: claims.Claim, other: claims.Claim) -> bool:
    """Whether it is the same difference, from the same or another model."""
    one, two = ((of.measure, claims.place(of), of.value) for of in (claim, other))
    return one == two


def where(evidence: types.Evidence, claim: claims.Claim) -> str:
    """The hospital of a claim, with the further horizon."""
    return f"{types.summary_of(evidence, claim.dataset).site}{names.by_when(evidence, claim.at)}"


def where_better(evidence: types.Evidence) -> str:
    """That another model is better, by which measures, where and by how much; empty where none is."""
    found = better_rivals(evidence)
    if not found:
        return ""
    looks = found[0].looks
    sure, others = ([each for each in found if (each.state == "against") is wanted] for wanted in (True, False))
    chance = numbers.number(looks * (1 - evidence.release.release.level) / 2, 1)
    corrected = f"Holm's correction for {words.counted(looks, 'comparison')}"
    said = [f"Better than the model, after {corrected}: {_by_how_much(evidence, sure)}."] if sure else []
    worse = gathered(
        (str(each.at["against"]), each) for each in worse_elsewhere(sure, claims.about(evidence, "comparators"))
    )
    in_what = {
        rival: words.listing(list(dict.fromkeys(IN_WORDS[str(each.measure)] for each in here)))
        for rival, here in worse.items()
    }
    yet = [f"{rival} in {words.in_words(len(here))} ({in_what[rival]})" for rival, here in worse.items()]
    said += [f"Worse than it in other comparisons, by the same: {words.listing(yet)}."] if yet else []
    if others:
        kind, after = ("Not after it, but", "") if sure else ("Looks better", f", not after {corrected}")
        # Of several horizons or classes those that may be chance are counted: page 1 has no room for each.
        is_counted = sure and any({"horizon", "class"} & {*each.at} for each in others)
        by = words.counted(len(others), "comparison") if is_counted else _by_how_much(evidence, others)
        said.append(f"{kind} by the CI ({chance} expected by chance){after}: {by}.")
    return " ".join(said)


IN_WORDS: Mapping[str, str] = entries("pages")["better_in"]
"""What another model may be better in, what matters most to patients first."""


def _by_how_much(evidence: types.Evidence, found: Sequence[claims.Claim]) -> str:
    """By each measure the surest difference with the models that have it, and how many more there are."""
    said = []
    for measure, label in IN_WORDS.items():
        if here := [each for each in found if each.measure == measure]:
            first, alike = here[0], [str(each.at["against"]) for each in here if is_like(each, here[0])]
            # What is better when higher is on the model's side above 0.
            sign = 1 if first.limit[0] is None else -1
            low, high = sorted(sign * (end or 0.0) for end in (first.low, first.high))
            by = types.Estimate(sign * (first.value or 0.0), low, high, None, 0, facts.Method("as_declared"))
            left = f", the surest of {words.in_words(len(here))} comparisons" if len(here) > len(alike) else ""
            what = " of ".join(filter(None, (label, types.class_of(first.at))))
            how = f"{what} at {where(evidence, first)} by {numbers.in_text(evidence, measure, by)}{left}"
            said.append(f"{sentence.named_with_the_rest(alike, 3)} in {how}")
    return "; ".join(said)


def tables(evidence: types.Evidence) -> tuple[Table, ...]:
    """The other models' own numbers, and the differences from them at the primary threshold, horizon by horizon."""
    made = list(_tables(evidence))
    for horizon in evidence.release.horizon[1:]:
        when = words.sentence_case(names.by_when(evidence, {"horizon": horizon.at}, ""))
        # The evidence by a further horizon.
        found = (
            replace(result, at={name: value for name, value in result.at.items() if name != "horizon"})
            for result in evidence.later
            if result.at["horizon"] == horizon.at
        )
        declared = evidence.release.model_copy(update={"thresholds": horizon.thresholds})
        # Each place in a document has a name of its own.
        made += [
            replace(table, name=words.anchor(f"{table.name}-{when}"), title=f"{when}. {table.title}")
            for table in _tables(replace(evidence, results=tuple(found), later=(), release=declared))
        ]
    return tuple(made)


def _tables(evidence: types.Evidence) -> tuple[Table, ...]:
    return measures.chapter_tables(_without_threshold(sentence.at_the_primary_threshold(evidence)), "comparison")


def _without_threshold(evidence: types.Evidence) -> types.Evidence:
    """The evidence with the one threshold that is left in the label of its measure instead of its settings."""
    at = evidence.release.thresholds.primary
    measure = "net_benefit_difference"
    if at is None or measure not in evidence.terms:
        return evidence
    term = evidence.terms[measure]
    left = tuple(name for name in term.at if name != "threshold")
    terms = {**evidence.terms, measure: replace(term, at=left, label=f"{term.label} at {numbers.threshold(at)}")}
    results = tuple(
        replace(result, at={name: value for name, value in result.at.items() if name != "threshold"})
        if result.term == measure
        else result
        for result in evidence.results
    )
    return replace(evidence, terms=terms, results=results)


def _has_rival(evidence: types.Evidence) -> bool:
    """Whether the release names another model."""
    return bool(evidence.release.rivals_by_any_horizon)


CHAPTER = chapter(
    "comparison",
    finding,
    lambda evidence: _has_rival(evidence) and measured("comparison")(evidence),
    is_given=_has_rival,
    continues=lambda evidence: len(tables(evidence)) > 1,
)
