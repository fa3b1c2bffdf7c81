"""Study -> Evidence: every measure on every site, then every synthesis over the sites.

A measure's parameters say what it needs. `offered.py` lists all that can be named; what a site lacks becomes an
`Absent` with its reason, without the measure being asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import joblib

from dossier.core import checklist, errors, flags, multiplicity, over_time, register, release, tripod, types
from dossier.evaluate import changes, cluster, disclosure, model, pieces, readers, sites, subgroups, typed_numbers
from dossier.evaluate.offered import Site
from dossier.evaluate.rivals import adjusted
from dossier.evaluate.site import SiteEvidence
from dossier.evaluate.strata import external_sites
from dossier.metrics.resampling import VALUE_ALONE
from dossier.record import acceptance, ledger, versions

Progress = Callable[[str, str, int, int], None]
"""Gets the stage, what was just finished, how much is done, and of how much."""


@dataclass(frozen=True)
class Preview:
    """What is known of a study before anything is drawn."""

    datasets: tuple[types.DatasetSummary, ...]
    """Every dataset that the build will show, with its counts as it will give them."""
    flags: tuple[types.Flag, ...]
    """Every flag that the build will raise, with the answers to them."""
    faults: tuple[errors.Fault, ...]
    """The criteria that can never be estimated, and why it may not be given beside earlier releases of its ledger."""
    missing: tuple[tripod.Item, ...]
    """The rows of the checklist that nothing answers."""


def evidence(
    study: types.Study, jobs: int = 1, progress: Progress | None = None, scheduler: str | None = None
) -> types.Evidence:
    """Everything that can be known from a study, with the reason for everything that cannot.

    Arguments: `study`; `jobs`, so many worker processes of this machine; `progress`, called with what was finished;
    `scheduler`, the address of a Dask cluster that does the work instead. The answer depends on none of them: each
    measure draws its random numbers from the release's seed, the site and the chapter. A WorkerError says why the
    cluster cannot do the work, a ReleaseError which criteria can never be estimated, before anything is drawn.
    """
    if study.release.acceptance and (never := preview(study).faults):
        raise errors.ReleaseError(never)
    study = disclosure.without_what_tells(study)
    errors.ReleaseError.raise_for(disclosure.refused(study, _sites(study)))
    computed = sites.shown(_complete(study, _Workers(jobs, progress, scheduler)))
    concluded = _with_flags(study, _since(study, _with_printed(computed, study)))
    # Criteria and checklist follow from what may be shown.
    since = () if concluded.changes is None else concluded.changes.results
    every = [*concluded.by_every_horizon, *concluded.subgroups.results, *since]
    declared = [acceptance.against_before(criterion, concluded.terms) for criterion in study.release.criteria]
    concluded = replace(concluded, criteria=acceptance.judged(declared, concluded.datasets, every))
    concluded = replace(concluded, checklist=checklist.rows(concluded) if study.declared else ())
    shown = disclosure.left_over.without_counts(concluded)
    if study.ledger is None:
        return shown
    after, others = ledger.after(study.ledger, shown)
    errors.ReleaseError.raise_for(others)
    return replace(shown, ledger=after)


def _with_printed(computed: types.Evidence, study: types.Study) -> types.Evidence:
    """What was computed from a study, with all that is printed beside it; what its first table leaves out is said."""
    about = study.release.release
    whole = type(about).model_validate(about.model_dump())
    return replace(
        computed,
        release=study.release.model_copy(update={"release": whole}),
        terms=register.terms_of(study.release),
        statements=study.statements,
        inputs=study.inputs,
        versions=versions.installed(),
        has_release_file=study.declared,
    )


OF_ROWS_ALONE = frozenset({"outcome", "risk", "level", "threshold", "design"})
"""What a measure needs that is estimated, with its interval, without readers, other tables or random draws."""


def preview(study: types.Study) -> Preview:
    """What can be known from a study without drawing its rows again: flags, criteria never judged, open rows.

    The measures that flags rest on are estimated with their intervals, for none of these is resampled. Those that
    criteria name have their values, or the reasons why they never will.
    """
    # The study with values alone where its rows would be drawn again.
    values = study.release.resampling.model_copy(update={"bootstrap": VALUE_ALONE, "permutations": 1})
    undrawn = replace(study, release=study.release.model_copy(update={"resampling": values}))
    study = disclosure.without_what_tells(undrawn)
    asked = frozenset(criterion.measure for criterion in study.release.acceptance)
    register.fill("metrics")
    # What compares the sites is made of other results, and these of others: then all are asked.
    every = asked & {entry.term.measure for entry in register.REGISTER.syntheses.values()}
    # The stop rules on measures that are estimated without drawing the rows again.
    metrics = register.metrics_of(study.release)
    drawn = {"bootstrap", "permutations"}
    rules = tuple(rule for rule in study.release.care.stop if not drawn & set(metrics[rule.measure].needs))
    # Numbers typed beside a measure of the rows alone, of which no result is drawn, are looked up too.
    others = {metric.term.measure for metric in metrics.values() if not set(metric.needs) <= OF_ROWS_ALONE}
    named = typed_numbers.named(study.release, study.statements, register.terms_of(study.release).values())
    # The interval of a mean over the classes is drawn.
    typed = frozenset() if study.release.outcome.classes else named & set(metrics) - others
    wanted = None if every else flags.MEASURES | asked | typed | {rule.measure for rule in rules}
    computed = sites.shown(_complete(study, _Workers(), wanted))
    shown = disclosure.left_over.without_counts(_with_flags(study, _with_printed(computed, study), rules, typed))
    open_rows = {row.item for row in checklist.rows(shown) if row.status == "missing"} if study.declared else set()
    missing = tuple(item for item in tripod.ITEMS if item.number in open_rows)
    faults = (*_never_estimated(shown)[0], *disclosure.refused(study, _sites(study)))
    return Preview(shown.datasets, shown.flags, faults, missing)


def _never_estimated(shown: types.Evidence) -> tuple[tuple[errors.Fault, ...], tuple[types.Flag, ...]]:
    """The criteria that no dataset allows, as faults, and those that some do not, as flags."""
    every = register.metrics_of(shown.release).values()
    drawn = {metric.term.measure for metric in every if {"bootstrap", "permutations"} & set(metric.needs)}
    # The interval of a mean over the classes is drawn, too.
    several = frozenset(metric.term.measure for metric in every) if shown.release.outcome.classes else frozenset()
    results = [*shown.by_every_horizon, *shown.subgroups.results]
    terms = shown.terms.values()
    return acceptance.never_estimated(shown.release.criteria, shown.datasets, results, terms, drawn | several)


@dataclass(frozen=True)
class _Workers:
    """Who does the work, and who hears of it."""

    jobs: int = 1
    tell: Progress | None = None
    scheduler: str | None = None


def _complete(study: types.Study, workers: _Workers, measures: frozenset[str] | None = None) -> types.Evidence:
    """The results, curves and descriptions of a study, of `measures` only where these are given; nothing withheld."""
    register.fill("metrics")
    each, parts = [], []
    left: list[types.Audited] = []
    whole = [replace(site, measures=measures) for site in _sites(study)]
    for site, (found, part) in zip(whole, _every_site(whole, workers), strict=True):
        found, part, looked = disclosure.of_site(site, found, part)
        left += looked
        each.append(found)
        parts.append(part)
    site_results = tuple(sites.with_declared_similarity(study.release, found.site) for found in each)
    external = tuple(site for site in site_results if site.summary.role == "external")
    internal = sites.internal_test(study.release, site_results)
    results = [result for site in site_results for result in site.results]
    results += sites.declared_results(study.release)
    # What is taken over the rows of all sites has no protection: it stays away where counts are protected.
    # Nor is it known where the outcome is by a horizon.
    rows = () if disclosure.is_asked(study) or study.release.horizon else external_sites(whole)
    results += sites.pooled_results(study.release, external, rows)
    if measures is None:
        results += sites.syntheses(study.release, external, internal, "external")
        results += sites.syntheses(study.release, external, internal, "pooled")
        results += readers.of_labels(study)
    results += readers.of_decisions(study, measures)
    # Of single measures those by calendar period are made, which stop rules rest on.
    curves, points = [curve for site in site_results for curve in site.curves], model.Points()
    if measures is None:
        points = model.points(study)
        curves += [*sites.pooled_curves(study.release, external), *readers.curves(study), *points.curves]
    summaries = tuple(site.summary for site in site_results)
    descriptions = (
        *(row for found in each for row in found.descriptions),
        *readers.descriptions(study),
        *points.descriptions,
    )
    hospitals = {summary.name for summary in summaries if summary.role == "external"}
    turning = {name: turn for name in hospitals if (turn := over_time.turn(curves, name)) is not None}
    of_subgroups = subgroups.together(study.release, parts, () if disclosure.is_asked(study) else whole, turning)
    # Each horizon is a further look: those after the first are judged with it, and stand apart from it.
    every = [*results, *_by_further_horizons(study, workers, measures)]
    every = multiplicity.of_calibration(adjusted(study.release, every, hospitals), hospitals)
    results = [result for result in every if "horizon" not in result.at]
    results = sites.with_weights(study.release, multiplicity.of_discrimination(results, hospitals), hospitals)
    complete = types.Evidence(
        release=study.release,
        datasets=summaries,
        # The tests are of exact counts, which are nowhere given where they are protected.
        results=tuple(
            multiplicity.of_gains(results, hospitals - {summary.name for summary in summaries if summary.minimum_cell})
        ),
        curves=tuple(curves),
        descriptions=descriptions,
        flags=(),
        terms=register.terms_of(study.release),
        statements={},
        inputs=(),
        versions={},
        subgroups=of_subgroups,
        later=tuple(result for result in every if "horizon" in result.at),
    )
    return disclosure.audited(disclosure.given(complete, whole), left)


def _by_further_horizons(
    study: types.Study, workers: _Workers, measures: frozenset[str] | None
) -> Iterator[types.Result]:
    """What is found of the models by each horizon after the first, at each site and over all of them."""
    for horizon in study.release.horizon[1:]:
        datasets = tuple(dataset.by_horizon(horizon.at) for dataset in study.datasets)
        alone = replace(study, release=study.release.by_horizon(horizon), datasets=datasets)
        known = register.metrics_of(alone.release).values()
        asked = frozenset(metric.term.measure for metric in known if metric.of_rows or metric.followed == "itself")
        asked &= asked if measures is None else measures
        for result in _complete(alone, workers, asked).results if asked else ():
            yield replace(result, at={**result.at, "horizon": horizon.at})


def _with_flags(
    study: types.Study,
    shown: types.Evidence,
    rules: Sequence[release.StopRule] | None = None,
    typed: frozenset[str] | None = None,
) -> types.Evidence:
    """The evidence with its flags, those of reading among them, and the answers to them: all of what may be shown.

    `rules` are the stop rules that are looked at, `typed` the measures beside which typed numbers are, where not all of
    the release are.
    """
    found = disclosure.flags(study.flags, shown.datasets)
    found += flags.raised(flags.Shown.of(shown))
    found = tuple(flags.of_used_predictors(found, study.release.model, shown.results))
    asked = study.release.care.stop if rules is None else rules
    found += flags.of_stop_rules(asked, shown.datasets, shown.curves)
    turns = flags.of_turns(shown.datasets, shown.curves)
    # Of risks that turn what they are on average holds at no time, nor does the slope of all of them.
    turning = {(kind, flag.dataset) for flag in turns for kind in ("risks_off", "slope_off")}
    found = (*(flag for flag in found if (flag.flag, flag.dataset) not in turning), *turns)
    found += flags.worse_than_before(shown.changes, shown.datasets)
    found += flags.previous_outcome_differs(shown.changes, study.release)
    found += tuple(flags.unsaid(study.release, shown.datasets)) if study.declared else ()
    found += flags.since_sealed(study.seal)
    found += typed_numbers.not_found(shown, typed)
    found += _never_estimated(shown)[1]
    return replace(shown, seal=study.seal, flags=flags.answered(found, study.release.reply))


def _since(study: types.Study, shown: types.Evidence) -> types.Evidence:
    """The evidence with what changed since the previous release, from what may be shown."""
    every = (*shown.results, *shown.subgroups.results)
    since = changes.changes(study.release, study.previous, shown.datasets, every, shown.terms, study.datasets)
    # What is paired with the previous version stands among the changes, and nowhere twice.
    own = tuple(result for result in shown.results if result.at.get("against") != release.PREVIOUS)
    return replace(shown, results=own, changes=since)


def _every_site(whole: Sequence[Site], workers: _Workers) -> Iterator[tuple[SiteEvidence, types.SubgroupEvidence]]:
    """The evidence of each dataset and of its subgroups, in the order of the release."""
    every = [(site, pieces.of_site(site)) for site in whole]
    work = [piece for _, of_one in every for piece in of_one]
    total, done = sum(piece.rows for piece in work), 0
    found = _found(work, workers.jobs, workers.scheduler)
    for site, of_one in every:
        answers = []
        for piece in of_one:
            answers.append(next(found))
            done += piece.rows
            if workers.tell:
                workers.tell("evaluate", f"{piece.site.dataset.name}, {piece.says}", done, total)
        yield pieces.together(site, answers)


def _sites(study: types.Study) -> list[Site]:
    """Each dataset with what its measures may ask for."""
    development = next((dataset for dataset in study.datasets if dataset.role == "development"), None)
    wide, said = disclosure.shared.of_release(study)
    known = () if study.ledger is None else study.ledger.released
    return [
        Site(
            dataset=dataset,
            release=study.release,
            development=development.predictors if development else (),
            development_rows=development.rows_analysed if development else None,
            readers=next((reader for reader in study.readers if reader.dataset == dataset.name), None),
            readers_elsewhere=tuple(reader.dataset or types.READERS for reader in study.readers),
            wide=wide,
            said=said,
            earlier=tuple(entry for entry in known if entry.dataset == dataset.name),
            model="" if study.ledger is None else study.ledger.model,
        )
        for dataset in study.datasets
    ]


def _found(work: Sequence[pieces.Piece], jobs: int, scheduler: str | None) -> Iterator[pieces.Found]:
    """What each piece of the work yields, in this order, wherever it is done."""
    if scheduler is not None:
        return cluster.found(work, scheduler, versions.NUMBERS)
    if jobs == 1 or len(work) == 1:
        return map(pieces.found, work)
    answers: Iterator[pieces.Found] = joblib.Parallel(n_jobs=jobs, return_as="generator")(
        joblib.delayed(pieces.found)(piece) for piece in work
    )
    return answers
