"""Whether the model does better than doing the same for all, and than another model."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence

from dossier.core import binding, claims
from dossier.core.facts import gathered
from dossier.core.multiplicity import DEFAULTS, better_to_flag, is_worse, looks_worse
from dossier.core.types import At, Estimate, Evidence, class_of, find, summary_of
from dossier.report.chapters import classes, comparison, sentence
from dossier.report.chapters.committee import plain
from dossier.report.chapters.committee.places import alone, in_question, is_here, tells_apart
from dossier.typeset.names import by_when
from dossier.typeset.numbers import number
from dossier.typeset.words import counted, in_words, listing, sentence_case


def than_the_same_for_all(evidence: Evidence) -> tuple[str, ...]:
    """At each line, where the model does more good than the same for all, where less, and where nobody can tell."""
    alike = gathered((_at_line(evidence, at), at) for at in evidence.release.thresholds.declared[: plain.MOST_NAMED])
    said = tuple(_in_sentences(clauses, lines) for clauses, lines in alike.items() if clauses)
    # What it is better than stands in the first sentence.
    said = (*said[:1], *(text.replace(f"the model {_is_better(evidence)}", "it is better") for text in said[1:]))
    harmed = [site.site for site in binding.harmed(evidence) if site in in_question(evidence)]
    where = "here" if evidence.local_site else f"in {plain.few_named(harmed)}"
    line = f"At the {plain.line(evidence.release.thresholds.declared[0])}, at times" if len(alike) > 1 else "At times"
    at_times = f"{line} {plain.doing(evidence, binding.better_then(evidence))} was better {where}."
    return (*said, at_times) if harmed else said


def _is_better(evidence: Evidence) -> str:
    return f"is better than {plain.doing(evidence, 'everyone or no one')}"


def _in_sentences(clauses: Sequence[str], lines: Sequence[float]) -> str:
    """What is so at these lines."""
    first, *rest = clauses
    where = listing([f"the {plain.line(at)}" for at in lines])
    return " ".join([f"At {where}, {first}.", *(f"{sentence_case(text)}." for text in rest)])


def the_same_for_everyone(evidence: Evidence) -> str:
    """What it is to do the same for everyone, in the maker's verb: the end of a question."""
    return plain.doing(evidence, "everyone")


def _at_line(evidence: Evidence, at: float) -> tuple[str, ...]:
    """Where the model is better at a line, where the same for all is, and where nobody can tell: clauses."""
    found, several = _stands(evidence, at), bool(classes.labels(evidence))
    among = sum(map(len, found.values()))
    acts = {whom: plain.doing(evidence, whom) for whom in DEFAULTS.values()}
    says = {"better": (f"the model {_is_better(evidence)}", "")}
    says |= {whom: (f"{act} would be better", "") for whom, act in acts.items()}
    says |= {f"chance {whom}": (f"{act} may be better", ", or this is coincidence") for whom, act in acts.items()}
    clauses = [
        f"{start}{_where(found[kind], among, several, evidence)}{end}"
        for kind, (start, end) in says.items()
        if kind in found
    ]
    # Where the clause before names both, "which" is enough; of one hospital the better of both is known.
    site = None if several else alone(evidence)
    gain = None if site is None else find(evidence, "net_benefit_gain", site.name, threshold=at)
    beside = better_to_flag(gain) if isinstance(gain, Estimate) else DEFAULTS[None]
    which = "which is better" if "better" in found else f"whether the model or {acts[beside]} is better"
    unclear = found.get("unclear", [])
    return (*clauses, *([_not_clear(unclear, among, several, evidence, which)] if unclear else []))


def _stands(evidence: Evidence, at: float) -> dict[str, list[str]]:
    """The places by what their gain at a line shows: the model better, all or no one, perhaps these, or nothing."""
    found: dict[str, list[str]] = {}
    harmed = binding.harmed(evidence) if at == evidence.release.thresholds.primary else ()
    for site, label in itertools.product(in_question(evidence), classes.labels(evidence) or ("",)):
        gain = find(evidence, "net_benefit_gain", site.name, threshold=at, **classes.at(label))
        is_own = site.name == evidence.local_site
        if isinstance(gain, Estimate):
            perhaps = f"chance {better_to_flag(gain)}" if looks_worse(gain, is_own) else "unclear"
            kinds = {"shown": "better", "against": better_to_flag(gain)}
            kind = kinds.get(binding.gain(evidence, site.name, at, gain, is_own), perhaps)
            # Of what holds at times alone a sentence of its own tells.
            if binding.worse_in(evidence, site.name, at) or (kind == "unclear" and site in harmed):
                kind = "at times"
            found.setdefault(kind, []).append(" in ".join(filter(None, (label, site.site))))
    return found


def _not_clear(names: Sequence[str], among: int, several: bool, evidence: Evidence, which: str) -> str:
    """Where nobody can tell which is better; that it is so everywhere is said without a "not in all"."""
    if among == 1 or len(names) < among:
        return f"{_where(names, among, several, evidence)}{',' * several} it is not clear {which}".strip()
    what = f"{plain.CHECKS}," if several else "hospitals"
    nowhere = "neither hospital" if among == 2 and not several else f"none of the {in_words(among)} {what}"
    return f"in {nowhere} is it clear {which}"


def _where(names: Sequence[str], among: int, several: bool, evidence: Evidence) -> str:
    """At which hospitals something holds, by name while they are few; of classes for how many pairs."""
    if among == 1:
        return "" if alone(evidence) is None else " here"
    if several:
        part = f"all {in_words(among)}" if len(names) == among else f"{in_words(len(names))} of {in_words(among)}"
        return f" in {part} {plain.CHECKS}"
    if len(names) == among:
        return f" in {plain.all_hospitals(among)}"
    if len(names) > plain.MOST_NAMED:
        return f" in {in_words(len(names))} of {in_words(among)} hospitals"
    return f" in {plain.few_named(names)}"


def better_defaults(evidence: Evidence, dataset: str) -> dict[str, list[float]]:
    """At which declared lines the same for all would surely be better at a hospital, by whom: everyone or no one."""
    lines: dict[str, list[float]] = {}
    for at in evidence.release.thresholds.declared:
        for label in classes.labels(evidence) or (None,):
            gain = find(evidence, "net_benefit_gain", dataset, threshold=at, **classes.at(label))
            if isinstance(gain, Estimate) and is_worse(gain, dataset == evidence.local_site):
                lines.setdefault(better_to_flag(gain), []).append(at)
    return lines


def better_if_the_same_for_all(evidence: Evidence) -> tuple[str, ...]:
    """Only where it would surely be better to do the same for all: what the first page warns of."""
    declared = evidence.release.thresholds.declared[: plain.MOST_NAMED]
    lines = gathered((text, plain.line(at)) for at in declared for text in where_the_same_is_better(evidence, at))
    return tuple(f"At the {listing(each)}, {text}." for text, each in lines.items())


def where_the_same_is_better(evidence: Evidence, at: float) -> tuple[str, ...]:
    """Where it would surely be better at a line to do the same for all: clauses."""
    stands = _stands(evidence, at)
    found = {whom: stands[whom] for whom in DEFAULTS.values() if whom in stands}
    where = {whom: "here" if alone(evidence) else f"in {plain.few_named(names)}" for whom, names in found.items()}
    return tuple(f"{plain.doing(evidence, whom)} would be better {where[whom]}" for whom in where)


# ---- another model --------------------------------------------------------------------------------------------------


MOST_MODELS = 2
"""So many other models are named; the full report has all."""


def than_the_other_model(evidence: Evidence) -> str:
    """At how many hospitals the model does better than another model, and worse; empty where none is named.

    Those that are better somewhere come first, the one that the first page names before all, and then those that are
    shown to be better most often.
    """
    better = [each for each in comparison.better_rivals(evidence) if is_here(each.dataset, evidence)]
    times = Counter(str(each.at["against"]) for each in better if each.state == "against")
    ahead = [str(each.at["against"]) for each in better]
    names = list(dict.fromkeys([*ahead, *evidence.release.rivals_by_any_horizon]))
    names[1:] = sorted(names[1:], key=lambda name: -times[name])
    left = names[MOST_MODELS:]
    so = [name for name in left if times[name]]
    too = f", of which {_in_part(so)}" if so else ""
    more = f"{sentence_case(in_words(len(left)))} more {'model' if len(left) == 1 else 'models'}{too}: full report."
    return " ".join([*(_than(evidence, name) for name in names[:MOST_MODELS]), *([more] if left else [])])


def _in_part(names: Sequence[str]) -> str:
    return f"{plain.first_named(names)} {'does' if len(names) == 1 else 'do'} better in part too"


def another_is_better(evidence: Evidence) -> str:
    """That another model is better, after all that was looked at, by the surest difference: for the first page."""
    found = [each for each in comparison.better_rivals(evidence) if is_here(each.dataset, evidence)]
    sure = [each for each in found if claims.standing(evidence, each) == "against"]
    if not sure:
        return ""
    first = sure[0]
    alike = [str(each.at["against"]) for each in sure if comparison.is_like(each, first)]
    where = by_when(evidence, first.at) if alone(evidence) else f" in {comparison.where(evidence, first)}"
    every = [each for each in claims.counted(evidence, "comparators") if is_here(each.dataset, evidence)]
    ours = sum(map(claims.is_better_after_all_looks, every))
    hospitals = list(dict.fromkeys(summary_of(evidence, each.dataset).site for each in sure))
    among = "" if alone(evidence) else f", in {sentence.named_with_the_rest(hospitals, sentence.MOST_WITHOUT_VALUE)}"
    show = f"{in_words(len(sure))} show{'s' * (len(sure) == 1)} that one does better{among}"
    left = len(found) - len(sure)
    maybe = f"; another {in_words(left)} may too, or {'is' if left == 1 else 'are'} coincidence" if left else ""
    own = f"; {in_words(ours)} show{'s' * (ours == 1)} that this model does" if ours else ""
    beside = "other models" if len({each.at["against"] for each in every}) > 1 else "the other model"
    beside += " here alone" if evidence.local_site else ""
    so = f" Of {counted(len(every), 'comparison')} with {beside} {show}{maybe}{own}." if len(found) > 1 else ""
    names = f"{sentence.named_with_the_rest(alike, MOST_MODELS, what='model')}{' each' if len(alike) > 1 else ''}"
    named = [each for each in sure if str(each.at["against"]) in alike[:MOST_MODELS]]
    rest = list(dict.fromkeys(str(each.at["against"]) for each in sure if each.at["against"] not in alike))
    so += f" {sentence_case(_in_part(rest))}." if rest else ""
    here = [each for each in claims.about(evidence, "comparators") if is_here(each.dataset, evidence)]
    worse = gathered(((each.at["against"], each.measure), each) for each in comparison.worse_elsewhere(named, here))
    of_one = [found for (against, _), found in worse.items() if against == next(iter(worse))[0]]
    ways = [f"{_does(evidence, first.at)[str(first.measure)][1]}{_for_class(first)}" for first, *_ in of_one]
    if ways:
        # Where it is surest, and by which other measures.
        ways[0] += f" in {comparison.where(evidence, of_one[0][0])}"
        so += f" But {of_one[0][0].at['against']} {listing(ways[:MOST_MODELS])}."
    return f"Another model does better{where}: {names} {_how(evidence, first)}.{so}"


def _how(evidence: Evidence, claim: claims.Claim) -> str:
    """What another model does that is better, for which class, and by how much."""
    return f"{_does(evidence, claim.at)[str(claim.measure)][0]}{_for_class(claim)}, by {_by(evidence, claim)}"


def _for_class(claim: claims.Claim) -> str:
    """Whom it is about, where that is one class."""
    return f" for {class_of(claim.at)}" if class_of(claim.at) else ""


OF_PEOPLE, OF_PAIRS, OF_ONE = "of 1,000", "of 1,000 pairs", "of 1 (0: never wrong)"


def _does(evidence: Evidence, by: At) -> Mapping[str, tuple[str, str, str]]:
    """What a model does that is better by each measure, what one that is worse, and of what a difference is a part."""
    at, what = evidence.release.primary(by), tells_apart(evidence)
    at_line = f" at the {plain.line(at[0])}" if at else ""
    gives, happened = "gives percentages", "what happened"
    return {
        "auroc_difference": (f"{what} better", f"{what} worse", OF_PAIRS),
        "accuracy_difference": ("names more patients rightly", "names fewer patients rightly", OF_PEOPLE),
        "mean_severity_difference": ("does less harm by its mistakes", "does more harm by its mistakes", OF_ONE),
        "net_benefit_difference": (f"is better{at_line}", f"is worse{at_line}", OF_PEOPLE),
        "brier_difference": (f"{gives} closer to {happened}", f"{gives} less close to {happened}", OF_ONE),
    }


def _than(evidence: Evidence, rival: str) -> str:
    known = [claim for claim in claims.counted(evidence, "comparators") if claim.at["against"] == rival]
    here = [claim for claim in known if is_here(claim.dataset, evidence)]
    of_each = gathered((claim.at.get("horizon"), claim) for claim in here)
    declared = [at for at in (None, *(each.at for each in evidence.release.horizon[1:])) if at in of_each]
    if not declared:
        return f"It could not be compared with {rival}."
    # In full of one horizon: the first, but where the other has no risks by it.
    every = of_each[declared[0]]
    found = filter(None, (_against(evidence, measure, every) for measure in _does(evidence, every[0].at)))
    first, *rest = dict.fromkeys(found)
    by = ", by hospital" if len({claim.dataset for claim in every}) > 1 else ""
    start = f"Beside {rival}{by_when(evidence, every[0].at)}{by}: {first}"
    later = filter(None, (_in_brief(evidence, of_each[at]) for at in declared[1:]))
    return " ".join([start, *map(sentence_case, rest), *later])


def _in_brief(evidence: Evidence, by_then: Sequence[claims.Claim]) -> str:
    """At how many hospitals the model is worse by a further horizon, by whatever measure; empty where at none."""
    worse = {claim.dataset for claim in by_then if claims.standing(evidence, claim) == "against"}
    perhaps = {claim.dataset for claim in by_then if claims.looks_worse(claim)} - worse
    among, is_one = len({claim.dataset for claim in by_then}), alone(evidence) is not None
    where = ["" if is_one else f" in {_part(len(some), among)}" for some in (worse, perhaps)]
    more = f", and may be in {in_words(len(perhaps))} more" if perhaps else ""
    said = f"is worse{where[0]}{more}" if worse else f"may be worse{where[1]}" if perhaps else ""
    return f"{sentence_case(by_when(evidence, by_then[0].at, ''))} it {said}." if said else ""


def _against(evidence: Evidence, measure: str, every: Sequence[claims.Claim]) -> str:
    """Where the model does better than the other, where worse, and where no difference was shown, as a sentence."""
    here = [claim for claim in every if claim.measure == measure]
    if not here:
        return ""
    words, same = _does(evidence, here[0].at)[measure], [claim for claim in here if claims.is_same(claim)]
    if len(same) == len(here):
        return f"it gives the same percentages in {plain.all_hospitals(len({claim.dataset for claim in here}))}."
    stands = ["same" if claim in same else _stands_beside(evidence, claim) for claim in here]
    counts = [stands.count(state) for state in ("shown", "against")]
    if len(here) == 1:
        how = f"it {words[0]}" if counts[0] else f"it {words[1]}" if counts[1] else f"not shown that it {words[0]}"
        return f"{how}{_for_class(here[0])} (by {_by(evidence, here[0], of_rival=stands[0] == 'against')})."
    by_class, among = "class by class, " if class_of(here[0].at) else "", in_words(len(here))
    all_of, of = (f"all {among} checks", f"{among} checks") if by_class else (plain.all_hospitals(len(here)), among)
    # By its interval alone, which may be chance among so many: of the model, and of the other one.
    perhaps = [
        sum(state == "open" and is_so(claim) for claim, state in zip(here, stands, strict=True))
        for is_so in (lambda claim: claims.standing(evidence, claim) == "shown", claims.looks_worse)
    ]
    parts = []
    for how, count, unsure in zip(words[:2], counts, perhaps, strict=True):
        where = all_of if count == len(here) else f"{in_words(count)} of {of}"
        more = f", perhaps in {in_words(unsure)} more" if count and unsure else ""
        parts += [f"it {how} in {where}{more}"] if count else []
        parts += [f"perhaps it {how} in {in_words(unsure)} of {of}"] if unsure and not count else []
    parts += [f"it gives the same percentages in {in_words(len(same))}"] if same else []
    left = len(here) - sum(counts) - sum(perhaps) - len(same)
    if not parts:
        among = f"{in_words(left)} checks" if by_class else plain.counted_hospitals(left)
        return f"{by_class}it was not shown that it {words[0]} in any of {among}."
    return f"{by_class}{listing(parts)}{f'; cannot tell in {in_words(left)}' if left else ''}."


def _stands_beside(evidence: Evidence, claim: claims.Claim) -> str:
    """How a comparison stands after all that was looked at, for the model as against it."""
    state = claims.standing(evidence, claim)
    return "open" if state == "shown" and not claims.is_better_after_all_looks(claim) else state


def _part(count: int, among: int) -> str:
    return plain.all_hospitals(among) if count == among else f"{in_words(count)} of {in_words(among)}"


def _by(evidence: Evidence, found: claims.Claim, *, of_rival: bool = True) -> str:
    """By how much the other model does better, or else the model: of 1,000 people or as a score, with the range."""
    of = _does(evidence, {})[str(found.measure)][2]
    scale, digits = (1, 3) if of == OF_ONE else (1000, 0)
    # What is better when higher is on the model's side above 0.
    sign = -1 if of_rival is (found.limit[1] is None) else 1
    # Found and not paid for by false alarms.
    is_worth = found.measure == "net_benefit_difference"
    value = number(scale * sign * (found.value or 0.0), digits)
    value = f"the worth of {value} found" if is_worth else value
    if found.low is None or found.high is None:
        return f"{value} {of}"
    low, high = (number(scale * bound, digits) for bound in sorted((sign * found.low, sign * found.high)))
    return f"{value} {of}, range {low} to {high}"
