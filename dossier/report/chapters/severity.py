"""How grave the errors are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from dossier.core import facts, types
from dossier.report.chapters import classes, sentence
from dossier.report.chapters.chapter import chapter, measured
from dossier.typeset import measures, numbers, words
from dossier.typeset.names import label_of, shown
from dossier.typeset.tables import Cell, Column, Reasons, Row, Table, worded


def finding(evidence: types.Evidence) -> sentence.Sentence:
    """The mean severity at the primary threshold, and the severity of an error where it is gravest."""
    at, known = _setting(evidence), classes.labels(evidence)
    sites = sentence.estimated(evidence, "mean_severity", **at) if at or known else []
    if not sites:
        needs = "weights for all pairs of classes" if known else "weights and a declared threshold"
        return sentence.Sentence("The severity of errors cannot be estimated.", f"It needs {needs}.")
    where = "".join(f"At a threshold of{numbers.TIED}{numbers.threshold(value)} the" for value in at.values()) or "The"
    runs = sentence.over_sites(evidence, "mean_severity", sites, **at)
    errors = sentence.estimated(evidence, "error_severity_index", **at)
    lead = f"{where} mean severity of an answer {runs}."
    return sentence.Sentence(lead, sentence.severity_of_errors(evidence, errors))


def _setting(evidence: types.Evidence) -> dict[str, float]:
    """Where severity is taken: at the primary threshold, where there is one; of several classes at none."""
    at = evidence.release.thresholds.primary
    return {} if classes.labels(evidence) or at is None else {"threshold": at}


OURS = "This model"
ACCURACY = "accuracy"
MEASURES = ("error_severity_index", "mean_severity")


def tables(evidence: types.Evidence) -> tuple[Table, ...]:
    """The severity at each site; beside other models at the primary threshold, with how often each is right."""
    if not evidence.release.rivals:
        return measures.chapter_tables(evidence, "severity")
    shown = _by_model(sentence.at_the_primary_threshold(evidence))
    return measures.tables_of(shown, [shown.terms[name] for name in (ACCURACY, *MEASURES) if name in shown.terms])


def _by_model(evidence: types.Evidence) -> types.Evidence:
    """The evidence with only the severity of every model in it, and its accuracy where that is given beside."""
    results: list[types.Result] = []
    for result in evidence.results:
        if result.measure not in MEASURES:
            continue
        made = replace(result, term=result.measure, at={"model": result.at.get("model", OURS)})
        accuracy = result.found.details.get("accuracy") if isinstance(result.found, types.Estimate) else None
        if isinstance(result.found, types.Estimate) and accuracy is not None:
            bare = types.Estimate(accuracy, None, None, None, result.found.n, facts.Method("counted"))
            results.append(replace(made, term=ACCURACY, measure=ACCURACY, found=bare))
        results.append(made)
    where = "".join(f" at {numbers.threshold(at)}" for at in _setting(evidence).values())
    terms = {
        name: replace(evidence.terms[name], at=("model",), label=f"{evidence.terms[name].label}{where}")
        for name in (ACCURACY, *MEASURES)
        if name in evidence.terms
    }
    return replace(evidence, results=tuple(results), terms=terms)


def weights(evidence: types.Evidence) -> tuple[Table, ...]:
    """The declared severity of each kind of error: where it comes from, why, who set it and when."""
    if evidence.release.severity is None:
        return ()
    labels = evidence.release.outcome.classes or ("no", "yes")
    heads = (Column(label, over="Observed class") for label in labels)
    return (worded("severity-weights", _rows(evidence, labels), heads, origin=_origin(evidence)),)


def _rows(evidence: types.Evidence, labels: Sequence[str]) -> Iterator[Row]:
    """The matrix, and below it those of the subgroups that have their own."""
    declared = evidence.release.severity
    if declared is None:
        return
    own = [types.Subset(subgroup.column, subgroup.level) for subgroup in declared.subgroup]
    names = ["All others", *(f"{words.sentence_case(subset.column)}: {subset.level}" for subset in own)] if own else []
    for index, matrix in enumerate(declared.matrices):
        if names:
            yield Row(names[index], kind="group")
        for label, row in zip(labels, matrix, strict=True):
            yield Row(label, tuple(Cell.plain(f"{weight:g}") for weight in row))


def by_subgroup(evidence: types.Evidence) -> tuple[Table, ...]:
    """The mean severity of each level of the column whose levels have weights of their own, at each site."""
    declared = evidence.release.severity
    if declared is None or not declared.subgroup:
        return ()
    column, setting = declared.subgroup[0].column, _setting(evidence)
    subsets = [types.Subset(column, level) for level in types.subgroup_columns(evidence).get(column, ())]
    reasons, rows = Reasons(evidence), []
    for dataset in shown(evidence, ("external", "internal")):
        found = [
            types.find_in_subgroup(evidence, subset, "mean_severity", dataset.name, **setting) for subset in subsets
        ]
        sizes = [types.subgroup_sizes(evidence, column, dataset.name).get(subset.level) for subset in subsets]
        if any(isinstance(estimate, types.Estimate) for estimate in found):
            cells = (
                Cell.absent("too few")
                if size is not None and size.is_few
                else measures.cell(estimate, evidence.terms["mean_severity"], reasons)
                for size, estimate in zip(sizes, found, strict=True)
            )
            rows.append(Row(label_of(dataset), tuple(cells)))
    if not rows:
        return ()
    return (
        worded(
            "severity-by-subgroup",
            rows,
            [Column(words.sentence_case(subset.level), intervals=True) for subset in subsets],
            reasons.footnotes(),
            column=words.within_sentence(column),
            at_threshold="".join(map(numbers.threshold, setting.values())),
            level=numbers.level_of(evidence),
        ),
    )


def _origin(evidence: types.Evidence) -> str:
    """Who set the weights and when, from which source and why; what is not reported is said."""
    declared = evidence.release.severity
    if declared is None:
        raise TypeError("weights that are printed are declared")
    by = None if declared.set_by is None else f" by {declared.set_by}"
    on = None if declared.declared_on is None else f" on {words.date(declared.declared_on)}"
    said = [
        f"Source: {declared.source or 'not reported'}",
        f"Set{by or ''}{on or ''}" if by or on else "Who set them and when: not reported",
        *([] if declared.rationale is None else [declared.rationale]),
    ]
    if declared.subgroup:
        said.append("All rows together: each answer by its own matrix")
    return " ".join(f"{text.strip().removesuffix('.')}." for text in said)


CHAPTER = chapter(
    "severity", finding, measured("severity"), is_given=lambda evidence: evidence.release.severity is not None
)
