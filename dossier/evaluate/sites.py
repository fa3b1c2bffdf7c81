"""All sites: what is pooled over them, and what compares each with the internal test."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace

from dossier.core import bands, register, types
from dossier.core.facts import Count, Fact
from dossier.core.release import Release
from dossier.evaluate import classes, rivals, strata
from dossier.evaluate.offered import SHOWN_IN_PART, Site, ask, places, seed_of, settings
from dossier.metrics import pooled, robustness, stratified


def internal_test(release: Release, sites: Sequence[types.SiteResults]) -> types.SiteResults | None:
    """What stands for the internal test: the first internal dataset, or else what a party declared of its own."""
    from_rows = next((site for site in sites if site.summary.role == "internal"), None)
    if from_rows is not None:
        return from_rows
    declared = tuple(declared_results(release))
    if not declared:
        return None
    first = declared[0]
    events = first.found.events if isinstance(first.found, types.Estimate) else None
    n = first.found.n if isinstance(first.found, types.Estimate) else 0
    summary = types.DatasetSummary(first.dataset, "internal", first.dataset, n, events, n, {}, ())
    return types.SiteResults(summary, tuple(result for result in declared if result.dataset == first.dataset), ())


def declared_results(release: Release) -> list[types.Result]:
    """The performance that was declared without rows, its bounds read as an interval at the level of the release."""
    level, declared = release.release.level, ((each.name, each.auroc) for each in release.declared_performance)
    known = ((name, given) for name, given in declared if given is not None)
    found = (
        (name, robustness.declared_estimate(of.value, of.low, of.high, level, of.n, of.events)) for name, of in known
    )
    return [types.Result("auroc", "auroc", name, {}, estimate) for name, estimate in found]


def with_declared_similarity(release: Release, site: types.SiteResults) -> types.SiteResults:
    """The results of a site with the similarity that is declared of it in place of what its rows do not give."""
    own = (each for each in release.declared_correspondence if each.dataset == site.summary.name)
    declared = next(own, None)
    if declared is None:
        return site
    known = {
        measure: robustness.declared_similarity(form, value, declared.n, declared.source)
        for form, measure in bands.SIMILARITIES.items()
        if (value := getattr(declared, form)) is not None
    }
    results = (
        replace(result, found=known.get(result.measure, result.found))
        if isinstance(result.found, types.Absent)
        else result
        for result in site.results
    )
    return replace(site, results=tuple(results))


def shown(evidence: types.Evidence) -> types.Evidence:
    """The evidence with no more splits than are shown; what is computed from them, and withheld, knew them all."""
    curves = tuple(
        replace(curve, found=robustness.first_splits(curve.found)) if curve.curve in SHOWN_IN_PART else curve
        for curve in evidence.curves
    )
    return replace(evidence, curves=curves)


def pooled_results(
    release: Release, external: Sequence[types.SiteResults], rows: Sequence[Site]
) -> Iterator[types.Result]:
    """Each measure that has a scale for it, pooled over the external sites; beside it over all of their rows where some
    of the sites cannot be pooled.

    `external` are the results of these sites, `rows` the sites with their rows.
    """
    # Why the mean over the classes of a site is not pooled: a class that would not be pooled alone.
    few_of_a_class = {
        site.summary.name: Fact("fewer_rows_of_a_class", fewest=Count(bands.FEW_FOR_POOLING, "row", is_limit=True))
        for site in external
        if min(site.summary.class_counts.values(), default=bands.FEW_FOR_POOLING) < bands.FEW_FOR_POOLING
    }
    for metric in (each for asked in register.metrics_of(release).values() for each in rivals.each(release, asked)):
        if metric.pool is None or not all(site.asks(metric.term.measure) for site in rows):
            continue
        here = [faced for site in rows if isinstance(faced := rivals.facing(site, metric), Site)]
        for at in classes.places_of(release, metric):
            wanted = {**metric.fixed, **at}
            found = {
                site.summary.name: result.found
                for site in external
                for result in site.results
                if result.term == metric.term.name and dict(result.at) == wanted
            }
            estimates = {name: estimate for name, estimate in found.items() if isinstance(estimate, types.Estimate)}
            small = few_of_a_class if at.get("class") == types.MACRO else {}
            known = tuple(small.get(name) for name in estimates)
            together = pooled.pool(
                tuple(estimates.values()), metric.pool, release.release.level, tuple(estimates), known
            )
            name, measure = metric.term.name, metric.term.measure
            yield types.Result(name, measure, types.POOLED, wanted, together)
            beside = _over_all_rows(here, metric, wanted, estimates, together)
            if beside is not None:
                yield types.Result(name, measure, types.POOLED, {**wanted, **strata.ESTIMATOR}, beside)


def with_weights(release: Release, results: Sequence[types.Result], external: Set[str]) -> list[types.Result]:
    """The results, each that entered a mean over the sites with its weight there."""
    given, scale = list(results), {name: metric.pool for name, metric in register.metrics_of(release).items()}
    parts: dict[tuple[str, frozenset[tuple[str, object]]], list[int]] = {}
    for index, result in enumerate(given):
        if result.dataset in external and result.subset is None and isinstance(result.found, types.Estimate):
            parts.setdefault((result.term, frozenset(result.at.items())), []).append(index)
    for together in [result for result in given if result.dataset == types.POOLED]:
        on = scale.get(together.term)
        tau = None if isinstance(together.found, types.Absent) else together.found.details.get("tau")
        if on is None or tau is None or together.at.get("class") == types.MACRO:
            continue
        here = parts[together.term, frozenset(together.at.items())]
        found = [each for index in here if isinstance(each := given[index].found, types.Estimate)]
        for index, share in zip(here, pooled.shares(found, on, tau), strict=True):
            if share is not None:
                given[index] = given[index].with_details({"weight": share})
    return given


def _over_all_rows(
    sites: Sequence[Site],
    metric: register.Metric,
    at: types.At,
    estimates: Mapping[str, types.Estimate],
    together: types.Estimate | types.Absent,
) -> types.Estimate | types.Absent | None:
    """A measure over the rows of all sites; None where every site is pooled, or where there are not two."""
    entered = 0 if isinstance(together, types.Absent) else int(together.details.get("k") or 0)
    every = len(sites) if strata.is_stratified(metric, at) else len(estimates)
    if every < 2 or entered == every or at.get("class") == types.MACRO:
        return None
    if strata.is_stratified(metric, at):
        return strata.over_sites(sites, metric, at, lambda dataset: (dataset, slice(None)))
    if metric.mean_over is None or not sites:
        return None
    level = sites[0].release.release.level
    return stratified.mean_of_sites(tuple(estimates.values()), level, by_pairs=metric.mean_over == "pairs")


def syntheses(
    release: Release, external: Sequence[types.SiteResults], internal: types.SiteResults | None, each: str
) -> Iterator[types.Result]:
    """Every synthesis of this kind: at each external site, or once over all of them."""
    for entry in register.REGISTER.syntheses.values():
        if entry.each != each:
            continue
        for site in external if each == "external" else (None,):
            dataset = site.summary.name if site else types.POOLED
            for at in places(release, entry.term):
                offered = {
                    **settings(release),
                    "seed": seed_of(release, dataset, entry.term.chapter),
                    "site": site,
                    "internal": internal,
                    "sites": tuple(external),
                    **at,
                }
                yield types.Result(entry.term.name, entry.term.measure, dataset, at, ask(entry, offered, dataset))


def pooled_curves(release: Release, external: Sequence[types.SiteResults]) -> Iterator[types.CurveResult]:
    """Every curve over all external sites."""
    of_classes = {} if release.outcome.classes is None else register.REGISTER.class_curve_syntheses
    for maker in (register.REGISTER.curve_syntheses | of_classes).values():
        for at, sites in classes.by_class(release, tuple(external), maker):
            found = ask(maker, {**settings(release), "sites": sites}, types.POOLED)
            yield types.CurveResult(maker.name, types.POOLED, found, at)
