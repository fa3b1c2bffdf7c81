"""How far the labels themselves can be trusted."""

from __future__ import annotations

from collections.abc import Iterator

from dossier.core import bands, types
from dossier.core.facts import Count, Fact
from dossier.report.chapters import sentence
from dossier.report.chapters.chapter import chapter, measured
from dossier.typeset import measures, names, numbers, words
from dossier.typeset.reasons import why
from dossier.typeset.tables import NOT_COMPUTED, Cell, Column, Reasons, Row, Table, worded


def finding(evidence: types.Evidence) -> sentence.Sentence:
    """The reliability of the readers' labels, and what it makes of the model's accuracy."""
    rho = _first(evidence, "weighted_concordance")
    learnt = _learnt(evidence)
    if isinstance(rho, types.Absent):
        return sentence.Sentence(learnt or f"Reliability cannot be estimated: {why(evidence, rho.reason)}.")
    # The reliability of the labels that the model was tested on, and then of those that it learnt from.
    value = numbers.in_text(evidence, "weighted_concordance", rho)
    lead = f"The reliability of the labels{_at_which(evidence)} is {value}{_needed(evidence)}."
    return sentence.Sentence(lead, " ".join(text for text in (_if_off(rho), _against_truth(evidence), learnt) if text))


def _at_which(evidence: types.Evidence) -> str:
    """The site of the first estimate, where readers judged the cases of several."""
    learnt = _development(evidence)
    made = types.find_all(evidence, "weighted_concordance")
    tested = [
        result.dataset for result in made if isinstance(result.found, types.Estimate) and result.dataset not in learnt
    ]
    return f" at {_place(evidence, tested[0])}" if len(tested) > 1 else ""


def _learnt(evidence: types.Evidence) -> str:
    """The reliability of the labels that the model learnt from, where readers of the development data were given."""
    for dataset in _development(evidence):
        rho = types.find(evidence, "weighted_concordance", dataset)
        if isinstance(rho, types.Estimate):
            value = numbers.in_text(evidence, "weighted_concordance", rho)
            return f"The reliability of the labels that the model learnt from is {value}. {_if_off(rho)}".rstrip()
        agreement = types.find(evidence, "observed_agreement", dataset)
        if isinstance(agreement, types.Estimate):
            value = numbers.in_text(evidence, "observed_agreement", agreement)
            return f"Readers agreed on {value} of the labels that the model learnt from."
    return ""


def _development(evidence: types.Evidence) -> list[str]:
    return [dataset.name for dataset in evidence.datasets if dataset.role == "development"]


def _against_truth(evidence: types.Evidence) -> str:
    actual = _first(evidence, "actual_accuracy")
    measured = None if isinstance(actual, types.Absent) else actual.details.get("measured_accuracy")
    if isinstance(actual, types.Absent) or measured is None:
        return ""
    return (
        f"Where the outcome itself is made of such labels, the measured accuracy of {numbers.number(measured)} stands "
        f"for {numbers.in_text(evidence, 'actual_accuracy', actual)} against the truth."
    )


def _needed(evidence: types.Evidence) -> str:
    """The reliability at which the accuracy is the one that is wished, or that none makes it so."""
    needed = _first(evidence, "required_reliability")
    if isinstance(needed, types.Estimate):
        wished = numbers.number(needed.details["desired_accuracy"] or 0)
        value = numbers.in_text(evidence, "required_reliability", needed)
        return f"; {value} is needed for the wished accuracy of {wished} against the truth"
    if not any(readers.desired_accuracy is not None for readers in evidence.release.readers):
        return ""
    return f"; which is needed cannot be said: {why(evidence, needed.reason)}"


def _if_off(rho: types.Estimate) -> str:
    """Between which values the reliability lies if the readers' confidence is off by the declared coherence."""
    low, high = rho.details.get("coherence_low"), rho.details.get("coherence_high")
    if low is None or high is None:
        return ""
    return f"It is {numbers.number(low)} to {numbers.number(high)} if confidence is off by the declared coherence."


def _first(evidence: types.Evidence, measure: str) -> types.Estimate | types.Absent:
    """The measure where it is a number, but for the development data; else why there is none where readers judged."""
    learnt = _development(evidence)
    made = [result for result in types.find_all(evidence, measure) if result.dataset not in learnt]
    estimates = [result.found for result in made if isinstance(result.found, types.Estimate)]
    places = {readers.dataset or types.READERS for readers in evidence.release.readers}
    judged = [result.found for result in made if result.dataset in places]
    return next(iter((*estimates, *judged)), types.Absent(Fact("no_readers_judged")))


def accuracy_of_readers(evidence: types.Evidence) -> str:
    """The accuracy of the readers, from the least to the most accurate, mean and spread; or that it is unknown."""
    rho = _first(evidence, "weighted_concordance")
    if isinstance(rho, types.Estimate) and rho.details.get("accuracy_assumed"):
        return "How often the readers are right is unknown and taken as always: rho is the highest that it can be."
    made = [description for description in evidence.descriptions if description.described.of == "rater_accuracy"]
    places = list(dict.fromkeys(description.dataset for description in made))
    said = []
    for dataset in places:
        rows = [description.described for description in made if description.dataset == dataset]
        known = {row.statistic: numbers.number(row.value) for row in rows}
        spread = f" (standard deviation {known['standard_deviation']})" if "standard_deviation" in known else ""
        where = " (of the labels that the model learnt from)" if dataset in _development(evidence) else ""
        if not where and len(evidence.release.readers) > 1:
            where = f" at {_place(evidence, dataset)}"
        ends = f"from {known['minimum']} to {known['maximum']}, mean {known['mean']}{spread}"
        said.append(f"{words.sentence_case(rows[0].variable)}{where}: {ends}.")
    return " ".join(said)


# ---- tables ---------------------------------------------------------------------------------------------------------

MEASURES = ("observed_agreement", "fleiss_kappa", "krippendorff_alpha", "cohen_kappa", "weighted_concordance")
"""The measures of the first table: of the others the finding, the nomogram and the grid speak."""
MOST_SIDE_BY_SIDE = 3


def tables(evidence: types.Evidence) -> tuple[Table, ...]:
    """Agreement and reliability by dataset, the raters by group, and right answers by confidence and complexity."""
    return (*_agreement(evidence), *by_group(evidence), *_joint(evidence))


def _agreement(evidence: types.Evidence) -> tuple[Table, ...]:
    """The measures of agreement: of up to three datasets side by side, of more a row each."""
    terms = [evidence.terms[name] for name in MEASURES if name in evidence.terms]
    results = [result for term in terms for result in evidence.by_term[term.name]]
    found = {result.dataset for result in results if isinstance(result.found, types.Estimate)}
    judged = [*(dataset.name for dataset in names.shown(evidence) if dataset.name in found), *({types.READERS} & found)]
    if len(judged) > MOST_SIDE_BY_SIDE:
        return measures.tables_of(evidence, terms)
    reasons = Reasons(evidence)
    wordy = measures.needs_words(result.found for result in results if result.dataset in judged)
    rows = []
    for term in terms:
        values = {result.dataset: result.found for result in evidence.by_term[term.name]}
        if any(isinstance(values.get(name), types.Estimate) for name in judged):
            cells = (
                NOT_COMPUTED if estimate is None else measures.cell(estimate, term, reasons, wordy=wordy)
                for estimate in map(values.get, judged)
            )
            rows.append(Row(term.label, tuple(cells)))
    if not rows:
        return ()
    agreed = {result.dataset: result.found for result in evidence.by_term["observed_agreement"]}
    # How many cases the agreement rests on: those that two raters or more labelled.
    counts = (each.n if isinstance(each := agreed.get(name), types.Estimate) else None for name in judged)
    made = (NOT_COMPUTED if count is None else Cell.count(count) for count in counts)
    rows.append(Row("Cases with two labels", tuple(made)))
    heads = (Column(words.sentence_case(_place(evidence, name)), intervals=True) for name in judged)
    return (worded("agreement", rows, heads, reasons.footnotes(), level=numbers.level_of(evidence)),)


def by_group(evidence: types.Evidence) -> tuple[Table, ...]:
    """The accuracy and the reliability of each group of raters, dataset by dataset."""
    found = [
        (curve.dataset, curve.found, names.groups_of_raters(evidence, curve.dataset))
        for curve in evidence.by_curve["raters_by_group"]
        if isinstance(curve.found, types.Curve) and curve.subset is None
    ]
    if not found:
        return ()
    reasons, term = Reasons(evidence), evidence.terms["weighted_concordance"]
    rows: list[Row] = []
    for dataset, curve, groups in found:
        rows += [Row(_place(evidence, dataset), kind="group")] if len(found) > 1 else []
        for index, group in enumerate(groups):
            raters, cases = (int(curve.columns[name][index] or 0) for name in ("raters", "cases"))
            cells = [Cell.plain(f"{raters}"), Cell.count(cases)]
            for name in ("accuracy", "rho"):
                value, low, high = (curve.columns[column][index] for column in (name, f"{name}_low", f"{name}_high"))
                level = evidence.release.release.level
                made = None if value is None else types.Estimate(value, low, high, level, curve.n, curve.method)
                cells.append(NOT_COMPUTED if made is None else measures.cell(made, term, reasons))
            rows.append(Row(words.sentence_case(group), tuple(cells)))
    where = "" if len(found) > 1 else _place(evidence, found[0][0])
    return (worded("raters-by-group", rows, (), reasons.footnotes(), where=where, level=numbers.level_of(evidence)),)


def _place(evidence: types.Evidence, dataset: str) -> str:
    """What readers' cases are called: by their dataset, or as those of none."""
    named = next((names.label_of(summary) for summary in evidence.datasets if summary.name == dataset), None)
    return measures.ELSEWHERE[types.READERS] if named is None else named


SURE = ("Unsure", "Half sure", "Sure")
THIRDS = ("0 to 0.33", "0.33 to 0.67", "0.67 to 1")


def _joint(evidence: types.Evidence) -> Iterator[Table]:
    """Of each dataset whose readers said both: how often answers were right, the surest first, the simplest first."""
    for curve in evidence.by_curve["confidence_by_complexity"]:
        if not isinstance(curve.found, types.Curve) or curve.subset is not None:
            continue
        reasons, columns = Reasons(evidence), curve.found.columns
        few = types.Absent(Fact("cell_of_few_answers", fewest=Count(bands.SMALLEST_GROUP, "answer", is_limit=True)))
        cells = [
            reasons.cell(few) if right is None else Cell(numbers.per_cent(right), f"of {int(answers or 0):,}")
            for right, answers in zip(columns["right"], columns["answers"], strict=True)
        ]
        # Their correlation, with what its interval says of it.
        name = "confidence_complexity_correlation"
        both = types.find(evidence, name, curve.dataset)
        rows = [
            Row(f"{name} ({third})", tuple(cells[3 * index : 3 * index + 3]))
            for index, (name, third) in enumerate(zip(SURE, THIRDS, strict=True))
        ]
        yield worded(
            "confidence-by-complexity",
            reversed(rows),
            footnotes=reasons.footnotes(),
            at=curve.dataset,
            place=_place(evidence, curve.dataset),
            related=numbers.in_text(evidence, name, both) if isinstance(both, types.Estimate) else "",
        )


CHAPTER = chapter(
    "reliability",
    finding,
    measured("reliability"),
    is_given=lambda evidence: bool(evidence.release.readers),
    continues=lambda evidence: len(tables(evidence)) > 1,
)
