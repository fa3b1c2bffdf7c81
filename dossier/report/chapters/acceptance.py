"""Which criteria of the release are met, and when they were declared."""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping, Sequence

from dossier.core import alterations, binding, claims, facts, multiplicity, types
from dossier.report.chapters.chapter import chapter
from dossier.report.chapters.sentence import Sentence, named_with_the_rest, phrase
from dossier.typeset import flags, names, reasons, words
from dossier.typeset.numbers import TIED, interval, short, unit, wished
from dossier.typeset.tables import Cell, Column, Reasons, Row, Table, worded
from dossier.words import entries

BOUND = {"value": "", "low": ", lower limit", "high": ", upper limit"}
MOST_NAMED = 3
"""Sites that a note below the table names before it counts them."""
SIDE_BY_SIDE = 4
"""As many criteria as stand side by side in one table."""

WORDS: Mapping[types.State, str] = entries("pages")["standing"]
"""What the interval of a number says of what was asked."""


def finding(evidence: types.Evidence) -> Sentence:
    """How many criteria are shown to be met everywhere they ask for it, and how the others stand."""
    every = counted_ones(evidence) or declared(evidence)
    met = [criteria for criteria in every if verdict(criteria) == "shown"]
    lead = f"{words.sentence_case(words.part_of(len(met), len(every)))} criteria "
    rest = ""
    if len(every) - len(met) <= 4:
        names = [(verdict(criteria), words.within_sentence(label(evidence, criteria[0]))) for criteria in every]
        others = {how: [name for state, name in names if state == how] for how in REST}
        rest = " ".join(
            f"{words.sentence_case(WORDS[how])}: {words.listing(those)}." for how, those in others.items() if those
        )
    # The days of those that the lead counts: what does not count stands on page 1, with why.
    days = when(evidence, "declared", counted_only=bool(counted_ones(evidence)))
    rest = " ".join(text for text in (rest, *not_the_better_choice(evidence, every), days, *_itself(evidence)) if text)
    if not counted_ones(evidence):
        return Sentence("No criterion counts: none was declared in time.", rest)
    # One that is asked of all hospitals together is asked at none of them.
    several = [len(criteria) > 1 for criteria in every]
    everywhere = " at every hospital" if all(several) else " wherever asked" if any(several) else ""
    if len(every) == 1:
        return Sentence(f"The criterion is {'' if met else 'not '}shown to be met{everywhere}.", rest)
    # One of them is, and so is neither of two.
    verb = "is" if len(met) == 1 or lead.startswith("Neither") else "are"
    return Sentence(f"{lead}{verb} shown to be met{everywhere}.", rest)


REST: tuple[types.State, ...] = ("against", "open", "withheld", "untested")
"""How a criterion stands that is not shown to be met, the gravest first."""


def when(evidence: types.Evidence, done: str, counted_only: bool = False) -> str:
    """When the criteria were `done`, whether that was before the data, and of how many nobody says so."""
    every = counted_ones(evidence) if counted_only else declared(evidence)
    said = [evidence.release.acceptance[criteria[0].number - 1].declared_on for criteria in every]
    known = sorted(day for day in said if day is not None)
    count = len(said) - len(known)
    which = "any of them" if count == len(said) else f"{words.in_words(count)} of them"
    unsaid = f"The date{f' of {which}' if len(said) > 1 else ''} is not stated." if count else ""
    if not known:
        return unsaid
    days = words.date(known[0]) if known[0] == known[-1] else f"{words.date(known[0])} to {words.date(known[-1])}"
    # No authority says when that was, sealed or not.
    beside = _beside_the_data(evidence, known[0], known[-1])
    return f"{words.sentence_case(done)} on {days}, as the maker says{beside}. {unsaid}".strip()


def _itself(evidence: types.Evidence) -> tuple[str, ...]:
    """How the test itself stands: whether the version on offer was tested, and all is as it was sealed."""
    why = [claim.reason for claim in claims.about(evidence, "test_itself") if claim.state in ("against", "open")]
    return (*(f"{words.sentence_case(reasons.why(evidence, each))}." for each in why if each), sealed(evidence))


def sealed(evidence: types.Evidence) -> str:
    """Whether all is as it was sealed, and whether that was before the data; empty where nothing was sealed."""
    seal = evidence.seal
    if seal is None:
        return ""
    day = f"{words.date(seal.sealed_on)}{_beside_the_data(evidence, seal.sealed_on, seal.sealed_on)}"
    # No authority says when a seal was made.
    known = f"as the maker says, on {day}, under SHA-256 {seal.sha256}"
    if not seal.changes:
        return f"Criteria, thresholds, subgroups and intended use are as sealed, {known}."
    return f"Sealed, {known}; changed since: {_changed(evidence)}."


MOST_CHANGED = 6
"""Values of each table, changed since it was sealed, that have room; results.json has all."""
LONGEST_VALUE = 80
"""Characters of such a value that have room."""


def _changed(evidence: types.Evidence) -> str:
    """What was changed since it was sealed, each value as it was and as it is."""
    since = alterations.since(evidence.seal)
    of_table = facts.gathered((alteration.table, _altered(evidence, alteration)) for alteration in since)
    return "; ".join(
        f"{flags.sealed(table)} ({named_with_the_rest(values, MOST_CHANGED)})" for table, values in of_table.items()
    )


def _altered(evidence: types.Evidence, alteration: alterations.Alteration) -> str:
    """One value as it was sealed and as it is, after what it belongs to."""
    entry = alteration.of
    measure = str(entry.get("measure", entry.get("column", "")))
    named = SHORTER.get(measure, evidence.terms[measure].label) if measure in evidence.terms else measure
    about = ", ".join(text for text in (named, str(entry.get("dataset", ""))) if text)
    if not alteration.key:
        return f"{about} {'added' if alteration.before is None else 'dropped'}"
    start = f"{about}: {alteration.key}" if about else alteration.key
    if alteration.is_kept_back:
        return f"{start} changed, values withheld"
    return f"{start} {_value(alteration.before)}, now {_value(alteration.after)}"


def _value(value: object) -> str:
    """A declared value as release.toml has it, in the room that there is."""
    if value is None:
        return "not declared"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 1]}…"


def _beside_the_data(evidence: types.Evidence, first: datetime.date, last: datetime.date) -> str:
    """Whether these days lie before or after the patients of every external site, as far as their dates are stated."""
    spans = [site.dates for site in types.externals(evidence) if site.dates is not None]
    if len(spans) < len(types.externals(evidence)):
        withheld = [site.dates_withheld for site in types.externals(evidence) if site.dates_withheld is not None]
        why_not = f"withheld ({reasons.why(evidence, withheld[0].reason)})" if withheld else "not stated"
        return f"; whether that was before the first patient is {why_not}"
    begin, end = min(span[0] for span in spans), max(span[1] for span in spans)
    if last < begin:
        return f", before the first patient ({words.date(begin)})"
    if first > end:
        return f", after all patients had come ({words.date(end)})"
    return f", {'not all' if first < begin else 'not'} before the first patient ({words.date(begin)})"


def declared(evidence: types.Evidence) -> list[tuple[types.Criterion, ...]]:
    """The criteria as they were declared, each with every dataset that has to meet it."""
    return list(map(tuple, facts.gathered((each.number, each) for each in evidence.criteria).values()))


def counted_ones(evidence: types.Evidence) -> list[tuple[types.Criterion, ...]]:
    """The criteria that count: declared on a day that is said, and not after the dossier itself."""
    return [criteria for criteria in declared(evidence) if not why_uncounted(evidence, criteria[0])]


def uncounted(evidence: types.Evidence) -> list[tuple[types.Criterion, ...]]:
    """The criteria that count for nothing."""
    return [criteria for criteria in declared(evidence) if why_uncounted(evidence, criteria[0])]


def why_uncounted(evidence: types.Evidence, criterion: types.Criterion) -> str:
    """Why a criterion counts for nothing, as the end of a sentence; empty where it counts."""
    declared = evidence.release.acceptance[criterion.number - 1]
    why = binding.uncounted(evidence.release, declared, evidence.datasets)
    day = "" if declared.declared_on is None else words.date(declared.declared_on)
    return "" if why is None else phrase("uncounted", why, day=day)


def verdict(everywhere: Sequence[types.Criterion]) -> types.State:
    """How a criterion stands over all datasets that it asks something of; one where it is refuted decides."""
    states = {criterion.state for criterion in everywhere}
    return next((state for state in REST if state in states), "shown")


def verdict_of_all(evidence: types.Evidence) -> types.State:
    """How the criteria that count stand together; untested where none does."""
    every = tuple(criterion for criteria in counted_ones(evidence) for criterion in criteria)
    return verdict(every) if every else "untested"


def label(evidence: types.Evidence, criterion: types.Criterion) -> str:
    """What a criterion is about: the measure, its settings, the subset, and which number of the interval."""
    places = [
        words.setting(value) if name == "threshold" else f"{name} {words.setting(value)}"
        for name, value in criterion.at.items()
        if name not in ("horizon", *WITH_PREPOSITION)
    ]
    # Another model and a class have the names that the release gives them, letter by letter.
    known = [(how, criterion.at[name]) for name, how in WITH_PREPOSITION.items() if name in criterion.at]
    at = "".join(
        [f" at {words.listing(places)}" if places else "", *(f" {how} {of}" for how, of in known if of != "previous")]
    )
    at += names.by_when(evidence, criterion.at, ", ")
    subset = f", {criterion.subset}" if criterion.subset else ""
    named = SHORTER.get(criterion.measure, evidence.terms[criterion.measure].label)
    moved = "farther from 1 than" if evidence.terms[criterion.measure].worse == "one" else "change since"
    since = f", {moved} the previous release" if criterion.at.get("against") == "previous" else ""
    return f"{words.sentence_case(named)}{at}{subset}{since}{BOUND[criterion.bound]}"


WITH_PREPOSITION: Mapping[str, str] = entries("terms")["with_preposition"]
"""What stands before the value of a setting that is no place on a scale."""
SHORTER = {"oe_ratio": "O/E"}
"""What a measure is called where its label says more than a head of a column has room for."""


def asked(evidence: types.Evidence, criterion: types.Criterion) -> str:
    """What was asked of the number, as it stands after its name: 0.80 to 1.25, or a sign and a bound."""
    term = evidence.terms[criterion.measure]
    low, high = (None if bound is None else wished(bound, term) for bound in (criterion.at_least, criterion.at_most))
    if low is not None and high is not None:
        return f"{low} to {high}{unit(term)}"
    return f"≥{TIED}{low}{unit(term)}" if low is not None else f"≤{TIED}{high}{unit(term)}"


def _site(evidence: types.Evidence, dataset: str) -> str:
    return (
        words.within_sentence(names.ALL_POOLED) if dataset == types.POOLED else types.summary_of(evidence, dataset).site
    )


def detailed(evidence: types.Evidence) -> tuple[Table, ...]:
    """The criteria: the observed number at every dataset, and how it stands.

    One that is asked of a single dataset and does not count is a sentence of the first page.
    """
    counting = counted_ones(evidence)
    every = [criteria for criteria in declared(evidence) if len(criteria) > 1 or criteria in counting]
    blocks = [every[start : start + SIDE_BY_SIDE] for start in range(0, len(every), SIDE_BY_SIDE)]
    return tuple(_block(evidence, block, number) for number, block in enumerate(blocks, start=1))


def _block(evidence: types.Evidence, block: Sequence[tuple[types.Criterion, ...]], part: int) -> Table:
    reasons = Reasons(evidence)
    tried = {criterion.dataset for everywhere in block for criterion in everywhere}
    rows = [
        Row(names.measured_label(dataset), _cells(evidence, block, dataset.name, reasons))
        for dataset in names.shown(evidence)
        if dataset.name in tried
    ]
    if types.POOLED in tried:
        rows.append(Row(names.ALL_POOLED, _cells(evidence, block, types.POOLED, reasons), "total"))
    heads = (Column(f"{label(evidence, row[0])} {asked(evidence, row[0])}", intervals=True) for row in block)
    return worded("criteria", rows, heads, reasons.footnotes(), part)


def not_the_better_choice(evidence: types.Evidence, block: Sequence[tuple[types.Criterion, ...]]) -> tuple[str, ...]:
    """Where a criterion of net benefit is met, and flagging everyone or no one has a higher one all the same."""
    return tuple(
        f"{words.sentence_case(label(evidence, everywhere[0]))} is met, yet flagging {whom} has the higher net benefit "
        f"at {words.named_or_counted(names, MOST_NAMED)}."
        for everywhere in block
        for whom, names in _better_defaults(evidence, everywhere).items()
    )


def _better_defaults(evidence: types.Evidence, everywhere: tuple[types.Criterion, ...]) -> dict[str, list[str]]:
    """Where a net benefit meets its criterion and a default does more good: the sites, by which default."""
    if everywhere[0].measure != "net_benefit" or everywhere[0].subset is not None:
        return {}
    return multiplicity.better_than_the_model(
        (_site(evidence, each.dataset), gain)
        for each in everywhere
        if each.met
        if isinstance(gain := types.find(evidence, "net_benefit_gain", each.dataset, **each.at), types.Estimate)
    )


def _cells(
    evidence: types.Evidence, block: Sequence[tuple[types.Criterion, ...]], dataset: str, reasons: Reasons
) -> tuple[Cell, ...]:
    here = [next((criterion for criterion in everywhere if criterion.dataset == dataset), None) for everywhere in block]
    return tuple(Cell.plain("") if criterion is None else _cell(evidence, criterion, reasons) for criterion in here)


def _cell(evidence: types.Evidence, criterion: types.Criterion, reasons: Reasons) -> Cell:
    if criterion.observed is None:
        why = reasons.why(criterion.reason or facts.Fact("not_estimated"))
        return Cell.absent(f"{WORDS[criterion.state]}{TIED}{why}")
    observed = short(evidence, criterion.measure, criterion.observed)
    found = claims.of_criterion(evidence, criterion) if criterion.bound == "value" else None
    whole = found if isinstance(found, types.Estimate) else None
    bounds = f"{interval(whole, evidence.terms[criterion.measure])}{TIED}" if whole else ""
    return Cell(observed, f"{bounds}{criterion.state}", "alert" if criterion.state == "against" else "value", of=whole)


def declarations(evidence: types.Evidence) -> list[tuple[str, str]]:
    """Why each criterion was declared, on which day, and why a measure that calls for caution was used."""
    said = []
    for everywhere in declared(evidence):
        criterion = evidence.release.acceptance[everywhere[0].number - 1]
        when = "" if criterion.declared_on is None else f"Declared on {criterion.declared_on.isoformat()}. "
        if why := " ".join(text for text in (criterion.reason, criterion.caution_reason) if text):
            said.append((label(evidence, everywhere[0]), f"{when}{why}".strip()))
    return said


CHAPTER = chapter("acceptance", finding, lambda evidence: bool(evidence.criteria))
