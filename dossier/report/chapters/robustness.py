"""Whether performance holds up where the data differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from dossier.core.bands import PSI_OF_ONE_POPULATION, SIMILARITIES, SUPPORT
from dossier.core.facts import Fact
from dossier.core.types import POOLED, Absent, DatasetSummary, Estimate, Evidence, externals, find, find_all
from dossier.report.chapters.chapter import chapter, measured, predictors_on_both_sides
from dossier.report.chapters.sentence import Sentence, estimated, sites_without
from dossier.typeset import methods, names, tables, words
from dossier.typeset.numbers import level_of, number
from dossier.typeset.reasons import why


def finding(evidence: Evidence) -> Sentence:
    """How robust the AUROC is called beside that of the internal test, and who supports from outside."""
    strong = estimated(evidence, "spr", measure="auroc")
    left = sites_without(evidence, "spr", measure="auroc")
    if not strong:
        return Sentence("Potential robustness cannot be computed.", left)
    return Sentence(_strong(strong), " ".join(part for part in (_support(evidence), left) if part))


def _strong(strong: Sequence[tuple[DatasetSummary, Estimate]]) -> str:
    """The strong potential robustness, and how it is read where a site does better than the internal test."""
    strong, few = names.ends_of_range(strong)
    low, high = number(strong[0][1].value), number(strong[-1][1].value)
    runs = f"is {low}" if low == high else f"is {low} to {high}"
    return (
        f"Strong potential robustness (SPR) of the AUROC, low also where a site does better than inside, {runs}{few}."
    )


def _support(evidence: Evidence) -> str:
    """How many sites are of low similarity and acceptable all the same, by either form of similarity."""
    support = find(evidence, "externally_supported", POOLED)
    if isinstance(support, Absent):
        return ""
    chosen = evidence.release.robustness.similarity
    counts = {
        form: int(support.details.get(f"by_{form}") or 0)
        for form in sorted(SIMILARITIES, key=lambda similarity: similarity != chosen)
    }
    texts = [
        f"by {words.SIMILARITY_FORM[form]} {words.counted(count, 'site') if form == chosen else words.how_many(count)}"
        for form, count in counts.items()
    ]
    unsure = int(support.details.get("reaching_the_cut") or 0)
    reach = (
        f"; of {words.in_words(unsure)} the interval of the similarity reaches {number(SUPPORT, 1)}" if unsure else ""
    )
    return f"In the region of external support: {', '.join(texts)}{reach} (psi: {PSI_OF_ONE_POPULATION})."


def components(evidence: Evidence) -> tables.Table:
    """SPR and WPR with the probabilities that they combine, measure by measure; sites without them carry the reason."""
    reasons = tables.Reasons(evidence)
    measures = list(dict.fromkeys(str(result.at["measure"]) for result in find_all(evidence, "spr")))
    sites = _kept(evidence, measures, reasons)
    rows: list[tables.Row] = []
    pairs = {measure: [(site, *_pair(evidence, site.name, measure)) for site in sites] for measure in measures}
    for measure, found in pairs.items():
        if any(isinstance(estimate, Estimate) for _, *both in found for estimate in both):
            rows.append(tables.Row(words.setting(measure), kind="group"))
            rows += [tables.Row(site.site, _components(strong, weak, reasons)) for site, strong, weak in found]
        elif found and isinstance(found[0][1], Absent):
            reason = found[0][1].reason
            # The row that is not there names the measure, which need not be repeated.
            reason = Fact("internal_test_gives_no_value") if reason.code == "internal_test_gives_no" else reason
            reasons.leave_out(words.within_sentence(words.setting(measure)), found[0][0].name, reason)
    weak = [(measure, estimate) for measure, found in pairs.items() for _, _, estimate in found]
    minima = {measure: _minimum(estimate) for measure, estimate in weak if isinstance(estimate, Estimate)}
    is_weak = bool(minima) or not weak
    # How the bounds of an internal test are read that is declared, not given as rows.
    given = any(dataset.role == "internal" for dataset in evidence.datasets)
    is_declared = evidence.release.declared_performance and not given
    whole = tables.worded(
        "robustness",
        rows,
        footnotes=reasons.footnotes() if is_weak else (),
        similarity=words.SIMILARITY_FORM[evidence.release.robustness.similarity],
        as_declared=f", whose declared bounds are read as a {level_of(evidence)} interval" if is_declared else "",
        is_weak=is_weak,
        minima=_minima(minima, weak) + _by_quantile(evidence, sites, measures),
    )
    if not is_weak:
        gone = next(why(evidence, estimate.reason) for _, estimate in weak if isinstance(estimate, Absent))
        whole = _without_weak(whole, gone, reasons)
    whole = tables.groups_across(whole)
    # How alike the patients of a site are, which is the same for every measure, as the first column.
    strong_of = {site.site: [_pair(evidence, site.name, measure)[0] for measure in measures] for site in sites}
    known = {site: [each for each in strong if isinstance(each, Estimate)] for site, strong in strong_of.items()}
    similarity = {
        site: _probability(some[0].details.get("p_similarity")) if some else tables.NOT_COMPUTED
        for site, some in known.items()
    }
    with_it = (
        row if row.kind == "group" else replace(row, cells=(similarity[row.label], *row.cells)) for row in whole.rows
    )
    return replace(whole, columns=(tables.Column("P(s)"), *whole.columns), rows=tuple(with_it))


def _minimum(weak: Estimate) -> str:
    """What the minimum is that a weak potential robustness is against."""
    test = weak.method.first("fisher_with_one_sided_test")
    against = None if test is None else test["against"]
    return methods.method_text([against]) if isinstance(against, Fact) else ""


def _minima(minima: Mapping[str, str], weak: Sequence[tuple[str, Estimate | Absent]]) -> str:
    """What the minimum of each measure is, those that share one together, and its value."""
    alike: dict[str, list[str]] = {}
    for measure, minimum in minima.items():
        found = [
            estimate.details.get("minimum_value")
            for name, estimate in weak
            if name == measure and isinstance(estimate, Estimate)
        ]
        values = words.listing(list(dict.fromkeys(number(value) for value in found if value is not None)))
        alike.setdefault(minimum, []).append(f"{words.within_sentence(words.setting(measure))} ({values})")
    each = [f"for {words.listing(measures)}: {minimum}" for minimum, measures in alike.items()]
    return f" Minimum {'; '.join(each)}." if each else ""


def _by_quantile(evidence: Evidence, sites: Sequence[DatasetSummary], measures: Sequence[str]) -> str:
    """The weak potential robustness against the 5% quantile of the refitted splits, beside that against the worst."""
    found = {
        measure: [
            weak.value
            for site in sites
            if isinstance(weak := find(evidence, "wpr", site.name, measure=measure, minimum="quantile_05"), Estimate)
            and weak.method.has("refitted_splits")
        ]
        for measure in measures
    }
    spans = [
        f"{words.span(number, values)} ({words.within_sentence(words.setting(measure))})"
        for measure, values in found.items()
        if values
    ]
    return f" Against the 5% quantile of the splits WPR is {words.listing(spans)}." if spans else ""


def _without_weak(table: tables.Table, why: str, reasons: tables.Reasons) -> tables.Table:
    """The table without the columns of WPR, which no site has, and why."""
    reasons.forget(why)
    return replace(
        table,
        columns=table.columns[:2],
        rows=tuple(replace(row, cells=row.cells[:2]) for row in table.rows),
        footnotes=(f"WPR is not computed: {why}.", *reasons.footnotes()),
    )


def _kept(evidence: Evidence, measures: list[str], reasons: tables.Reasons) -> list[DatasetSummary]:
    """The sites with a number on at least one measure; the others are named below the table."""
    kept = []
    for site in externals(evidence):
        pairs = [_pair(evidence, site.name, measure) for measure in measures]
        if any(isinstance(estimate, Estimate) for pair in pairs for estimate in pair):
            kept.append(site)
        elif pairs and isinstance(pairs[0][0], Absent):
            reasons.leave_out(site.site, site.name, pairs[0][0].reason)
    return kept


def _pair(evidence: Evidence, site: str, measure: str) -> tuple[Estimate | Absent, Estimate | Absent]:
    """SPR, and WPR against the worst refitted split; without splits against the minimum declared for that case, and
    without that too against the 5% quantile of subsets of the internal test, whose reason stands where none is known.
    """
    ways = [
        find(evidence, "wpr", site, measure=measure, minimum=minimum)
        for minimum in ("worst_split", "declared", "quantile_05")
    ]
    # A minimum that gives no benefit is one all the same: no other takes its place, and the words are about it.
    has_minimum = (way for way in ways if isinstance(way, Estimate) or way.reason.code == "minimum_below_no_benefit")
    return find(evidence, "spr", site, measure=measure), next(has_minimum, ways[-1])


def _components(strong: Estimate | Absent, weak: Estimate | Absent, reasons: tables.Reasons) -> tuple[tables.Cell, ...]:
    first = (
        (tables.NOT_COMPUTED, reasons.cell(strong))
        if isinstance(strong, Absent)
        else (_probability(strong.details.get("p_performance")), tables.Cell(number(strong.value)))
    )
    second = (
        (tables.NOT_COMPUTED, reasons.cell(weak))
        if isinstance(weak, Absent)
        else (_probability(weak.details.get("p_acceptable")), tables.Cell(number(weak.value)))
    )
    return (*first, *second)


def _probability(value: float | None) -> tables.Cell:
    return tables.NOT_COMPUTED if value is None else tables.Cell.plain(number(value))


def similarity_and_performance(evidence: Evidence) -> str:
    """Whether performance falls with similarity over the sites, or why that cannot be said."""
    chosen = evidence.release.robustness.similarity
    found = {
        form: find(evidence, "performance_against_similarity", POOLED, measure="auroc", similarity=form)
        for form in sorted(SIMILARITIES, key=lambda form: form != chosen)
    }
    first = found[chosen]
    if isinstance(first, Absent):
        return f"Performance against similarity over the sites: {why(evidence, first.reason)}."
    parts = [f"by {words.SIMILARITY_FORM[form]} {_correlation(evidence, each)}" for form, each in found.items()]
    return f"Performance (AUROC) against similarity, Pearson r: {'; '.join(parts)}."


def _correlation(evidence: Evidence, found: Estimate | Absent) -> str:
    """A correlation over sites with its p value and on how many sites it rests."""
    if isinstance(found, Absent):
        return f"none ({why(evidence, found.reason)})"
    p_value = found.details.get("p_value")
    tested = "" if p_value is None else f"p {number(p_value)}, "
    return f"{number(found.value)} ({tested}{found.details.get('k', 0):.0f} sites)"


CHAPTER = chapter(
    "robustness",
    finding,
    measured("robustness"),
    # The performance before is known from an internal test, or as it was declared.
    is_given=lambda evidence: (
        predictors_on_both_sides(evidence)
        and bool(evidence.release.declared_performance or "internal" in {each.role for each in evidence.datasets})
    ),
)
