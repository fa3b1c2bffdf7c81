"""The first page's table: every question that is always asked, how it stands over all, by hospital, and at worst."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from dossier.core import bands, between_groups, binding, claims, facts, multiplicity, over_time, types
from dossier.core.facts import gathered
from dossier.report.chapters import acceptance, sentence, verdict
from dossier.typeset import labels, methods, names, numbers, reasons
from dossier.typeset.flags import flag_text
from dossier.typeset.numbers import TIED
from dossier.typeset.tables import Cell, Row, Table, worded
from dossier.typeset.words import listing, sentence_case, setting, within_sentence
from dossier.words import entries

QUESTION: Mapping[str, str] = entries("pages")["question"]
BY_LETTER: tuple[claims.Question, ...] = ("benefit", "calibration", "discrimination", "over_time", "population")
"""The questions that each hospital answers once, so that its letter says how."""


def table(evidence: types.Evidence) -> Table:
    """A row a question, the gravest first; what nobody tested is one line below it."""
    rows, untested = [], list[tuple[str, str]]()
    of_question = _asked(evidence)
    for question in of_question:
        if any(claim.state != "untested" for claim in of_question[question]):
            rows.append(_row(evidence, question, of_question[question]))
        else:
            why = next((claim.reason for claim in of_question[question] if claim.reason), None)
            because = f" ({reasons.why(evidence, why, '')})" if why else ""
            untested.append((because, within_sentence(QUESTION[question])))
    # What a policy keeps back was tested: its reason says so beside those that were not.
    called = "Untested or not given" if evidence.is_protected else "Untested"
    said = [listing(questions) + because for because, questions in gathered(untested).items()]
    notes = [f"{called}: {'; '.join(said)}."] if untested else []
    at, (lowest, highest) = evidence.release.thresholds.declared[:1], map(numbers.number, bands.OE_TOLERATED)
    return worded(
        "claims",
        rows,
        footnotes=(*_legend(evidence), *notes, *_beside(evidence)),
        level=numbers.level_of(evidence),
        line=numbers.threshold(at[0]) if at else "",
        others=len(evidence.release.thresholds.declared) > 1,
        few=isinstance(types.find(evidence, "auroc", types.POOLED), types.Absent),
        turn=bool(binding.turning(evidence)),
        beside=any(claim.value is not None for claim in claims.counted(evidence, "comparators")),
        periods=bool(over_time.shown(evidence)),
        level_of_risks=multiplicity.LEVEL,
        level_of_differences=multiplicity.OF_DIFFERENCES,
        lowest=lowest,
        highest=highest,
    )


def behind(evidence: types.Evidence) -> Iterator[tuple[str, str, Sequence[tuple[str, str, types.State]]]]:
    """Behind each question that was tested its chapter and its claims, the worst first: of whom, the number, and how it
    stands."""
    for question, every in _asked(evidence).items():
        known = [claim for claim in claims.worst_first(every) if claim.state != "untested"]
        if lines := [(_said(evidence, claim), _named(evidence, claim.state), claim.state) for claim in known]:
            yield QUESTION[question], claims.ASKED[question].chapter, list(dict.fromkeys(lines))


def _said(evidence: types.Evidence, claim: claims.Claim) -> str:
    """The number of a claim and what a criterion or the maker says; of whom it is also where that is all of them."""
    said = _number(evidence, claim)
    if claim.scope == "overall" and claim.measure:
        said = f"Over all{names.by_when(evidence, claim.at)}: {said}".rstrip(": ")
    rules_out = f": {within_sentence(MARKED['‡'])}".rstrip(".") if claim.limit_source == "maker" else ""
    return f"{sentence_case(said)}{_limit(evidence, claim)}{rules_out}"


def _asked(evidence: types.Evidence) -> Mapping[claims.Question, Sequence[claims.Claim]]:
    """What is claimed of each question, the gravest first; what its maker rules out stands elsewhere."""
    found = {question: claims.about(evidence, question) for question in claims.QUESTIONS}

    def order(asked: tuple[claims.Question, Sequence[claims.Claim]]) -> tuple[int, bool, int]:
        own = [claim for claim in asked[1] if claim.limit_source != "maker"]
        # Of equals that first which is graver over all.
        overall = min(claim.harm for claim in own if claim.scope == "overall")
        return min(claim.harm for claim in own), not any(map(_is_asked, own)), overall

    return dict(sorted(found.items(), key=order))


def chapters(evidence: types.Evidence) -> tuple[str, ...]:
    """The chapters of the questions in the order of the rows."""
    return tuple(claims.ASKED[question].chapter for question in _asked(evidence))


def _row(evidence: types.Evidence, question: claims.Question, known: Sequence[claims.Claim]) -> Row:
    overall = min((claim for claim in known if claim.scope == "overall"), key=lambda claim: claim.state == "untested")
    every = claims.counted(evidence, question)
    ordered = claims.worst_first(every, claims.few(evidence))
    worst = next((claim for claim in ordered if claim.value is not None), overall)
    # The number of a period stands in the chapter of periods.
    asked = claims.ASKED["over_time" if worst.period is not None else question].chapter
    # Where no criterion is declared the chapter of them is not there.
    is_unasked = question == "test_itself" and not evidence.criteria
    return Row(
        f"{QUESTION[question]}{_limit(evidence, worst)}",
        (
            Cell(overall.state if _is_asked(overall) else "described", kind=_tint([overall])),
            Cell(_letters(evidence, every) if question in BY_LETTER else _counts(evidence, every), kind=_tint(every))
            if _is_asked(overall)
            else Cell.word(""),
            Cell(_number(evidence, worst), kind="word", of=_found(evidence, worst)),
            Cell("", kind="plain", link="provenance" if is_unasked else asked),
        ),
    )


def _found(evidence: types.Evidence, claim: claims.Claim) -> types.Estimate | None:
    """The number of a claim, as results.json has it."""
    since = () if evidence.changes is None else evidence.changes.results
    place = claim.measure or "", claim.dataset
    every = (*evidence.of_measure[place], *evidence.subgroups.by_measure[claim.measure or ""], *since)
    subject = *place, claim.subset, claim.at
    found = next((each.found for each in every if (each.measure, each.dataset, each.subset, each.at) == subject), None)
    return found if isinstance(found, types.Estimate) else None


def _is_asked(claim: claims.Claim) -> bool:
    """Whether a number was held against anything."""
    return claim.reason is None or claim.reason.code != "no_limit_declared"


def _tint(every: Sequence[claims.Claim]) -> Literal["alert", "word"]:
    """What stands out: where something is shown not to hold."""
    return "alert" if any(claim.state == "against" for claim in every) else "word"


def _counts(evidence: types.Evidence, every: Sequence[claims.Claim]) -> str:
    """How many stand how."""
    stands = [claim.state for claim in every]
    known: tuple[types.State, ...] = ("shown", "against", "open", "untested")
    return ", ".join(f"{stands.count(state)}{TIED}{_named(evidence, state)}" for state in known if state in stands)


def _has_letters(evidence: types.Evidence) -> bool:
    """Whether each hospital has a letter: they are few enough to stand by name."""
    return 1 < len(types.externals(evidence)) < bands.MANY_SITES


def _letters(evidence: types.Evidence, every: Sequence[claims.Claim]) -> str:
    """By state the letters of the hospitals, the gravest state of each, or of its classes; of many how many."""
    if not _has_letters(evidence):
        return _counts(evidence, every)
    stands = {claim.dataset: claim.state for claim in reversed(claims.worst_first(every))}
    letter = labels.letters(evidence)
    parts = []
    for state in ("against", "open", "shown", "untested"):
        here = [letter[name] for name in letter if stands.get(name) == state]
        parts += [f"{_named(evidence, state)}{TIED}{TIED.join(here)}"] if here else []
    return "; ".join(parts)


def _named(evidence: types.Evidence, state: types.State) -> str:
    """What a state is called: what a policy keeps back was tested, and what was not stands in the note."""
    return "not given" if state == "untested" and evidence.is_protected else state


def _legend(evidence: types.Evidence) -> list[str]:
    """Which letter is which hospital, with the patients and events that it was tested on."""
    if not _has_letters(evidence):
        return []
    parts = []
    for name, letter in labels.letters(evidence).items():
        site = types.summary_of(evidence, name)
        events = "" if site.class_counts else f", {names.all_events([site])}"
        parts.append(f"{letter}{TIED}{binding.marks(evidence, site)}{site.site} ({site.n:,}{events})")
    return [f"{'; '.join(parts)}."]


MARKED: Mapping[str, str] = entries("pages")["marks"]
"""What the marks beside a hospital say."""


def _beside(evidence: types.Evidence) -> Iterator[str]:
    """What the marks say, where of many hospitals most are not named, and of criteria what a reader has to know."""
    marked = {mark for site in types.externals(evidence) for mark in binding.marks(evidence, site)}
    yield from (f"{mark}{TIED}{says}" for mark, says in MARKED.items() if mark in marked)
    sites = types.externals(evidence)
    if len(sites) > 1 and any(site.setting for site in sites):
        yield sentence.phrase("data", "counted_as_one")
    left = sentence.not_among_pooled(evidence)
    yield from filter(None, [verdict.only_some(evidence), f"Over all is without {left}." if left else ""])
    if acceptance.counted_ones(evidence):
        yield f"Criteria: {within_sentence(acceptance.when(evidence, 'declared', counted_only=True))}"
    yield from acceptance.not_the_better_choice(evidence, acceptance.counted_ones(evidence))
    for everywhere in acceptance.uncounted(evidence):
        criterion, found = everywhere[0], claims.of_criterion(evidence, everywhere[0])
        what = f"{acceptance.label(evidence, criterion)} {acceptance.asked(evidence, criterion)}"
        stands = [acceptance.WORDS[acceptance.verdict(everywhere)]]
        if len(everywhere) == 1 and isinstance(found, types.Estimate):
            stands.append(numbers.in_text(evidence, criterion.measure, found))
        why = acceptance.why_uncounted(evidence, criterion)
        yield f"Not counted, for it {why}: {within_sentence(what)}, {', '.join(stands)}."


def _limit(evidence: types.Evidence, claim: claims.Claim) -> str:
    """What a criterion asks, behind the question; our own limits stand in the note."""
    if claim.measure is None or claim.limit_source != "declared":
        return ""
    term = evidence.terms[claim.measure]
    what = acceptance.SHORTER.get(claim.measure, within_sentence(term.label))
    at = f" at{TIED}{setting(claim.at['threshold'])}" if "threshold" in claim.at else ""
    at += names.by_when(evidence, claim.at)
    low, high = (bound if bound is None else numbers.wished(bound, term) for bound in claim.limit)
    asked = f"{low} to {high}" if low and high else f"≥{TIED}{low}" if low else f"≤{TIED}{high}"
    other = {"oe_ratio": "; slope too", "calibration_slope": "; O/E too"}.get(claim.measure, "")
    return f" ({what}{at} {asked}{numbers.unit(term)}{other if claim.question == 'calibration' else ''})"


def _number(evidence: types.Evidence, claim: claims.Claim) -> str:
    """Of whom the number of a claim is, and the number with its interval."""
    site = next((names.label_of(site) for site in evidence.datasets if site.name == claim.dataset), "")
    if claim.value is None or claim.measure is None:
        return site if claim.reason is None else reasons.why(evidence, claim.reason, claim.dataset)
    site += names.by_when(evidence, claim.at) if site else ""
    rival = str(claim.at.get("against", "")) if claim.question == "comparators" else ""
    group = "" if claim.subset is None else f"{claim.subset.level} ({claim.subset.column})"
    at, primary = claim.at.get("threshold"), evidence.release.thresholds.declared[:1]
    site += "" if claim.question != "benefit" or at is None or at in primary else f" at{TIED}{setting(at)}"
    site += "" if claim.period is None else f" in {flag_text(claim.period)}"
    update = entries("pages")["update"].get(str(claim.at.get("model", "")).removeprefix(types.UPDATED), "").lower()
    among = listing(list(filter(None, (group, types.class_of(claim.at)))))
    who = " at ".join(filter(None, (", ".join(filter(None, (rival, among))), site)))
    words = {"groups": "compared_in", "comparators": "better_in"}.get(claim.question)
    what = "" if words is None else within_sentence(entries("pages")[words].get(claim.measure, ""))
    what = "slope" if claim.measure == "calibration_slope" else "O/E" if claim.measure == "oe_ratio" else what
    what = f"{what} after {update}" if update else what
    found = types.Estimate(claim.value, claim.low, claim.high, None, 0, facts.Method("as_declared"))
    term = evidence.terms[claim.measure]
    # What is foretold of a new hospital may be of any measure.
    what = within_sentence(term.label) if claim.question == "new_hospital" and not what else what
    bounds = numbers.interval(found, term, wordy=True)
    value = f"{numbers.value_of(found, term)}{numbers.unit(term)}"
    if claim.question == "groups" and claim.limit_source == "default":
        # A difference of two shares is no share.
        margins = between_groups.MARGINS.get(claim.measure, ())
        value, *ends = (
            numbers.number(each, numbers.showing_the_side(each, 2, margins))
            for each in (claim.value, claim.low, claim.high)
            if each is not None
        )
        bounds = " to ".join(ends)
    why = "" if claim.reason is None or not _is_asked(claim) else f", {reasons.why(evidence, claim.reason, '')}"
    held = _found(evidence, claim)
    source = None if held is None else held.method.first("declared_by")
    why += f", {methods.method_text([source], in_kind=True)}" if source else ""
    said = f"{what} {value}{f' ({bounds})' if bounds else ''}{why}".lstrip()
    return f"{sentence_case(who)}: {said}" if who else sentence_case(said)
