"""Study -> Evidence: every measure on every site, then every synthesis over the sites.

A measure's parameters say what it needs. `offered.py` lists all that can be named; what a site lacks becomes an
`Absent` with its reason, without the measure being asked.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from importlib.metadata import version

import joblib

from dossier import acceptance, checklist, flags
from dossier.evaluate import changes, classes, cluster, model, pieces, reader_study, readers, sites, subgroups, withheld
from dossier.evaluate.offered import Site
from dossier.evaluate.pieces import Found, Piece
from dossier.evaluate.site import SiteEvidence
from dossier.register import fill
from dossier.types import READERS, Evidence, Study, SubgroupEvidence
from dossier.verb import makes

Progress = Callable[[str, str, int, int], None]
"""Told the stage, what was just finished, how much is done, and of how much."""

PACKAGES = ("numpy", "scipy", "pyarrow", "matplotlib", "jinja2", "markdown-it-py", "weasyprint", "pydantic")
"""The packages whose version can change a number or a page."""


def evidence(study: Study, jobs: int = 1, progress: Progress | None = None, scheduler: str | None = None) -> Evidence:
    """Everything that can be known from a study, with the reason for everything that cannot.

    Arguments: `study`; `jobs`, so many worker processes of this machine; `progress`, told what was finished;
    `scheduler`, the address of a Dask cluster that does the work instead. The answer depends on neither workers nor
    cluster: each measure draws its random numbers from the release's seed, the site and the chapter. A WorkerError
    says why the cluster cannot do the work.
    """
    fill("metrics")
    study = withheld.without_small_datasets(study)
    tell = progress or (lambda stage, name, done, total: None)
    each = []
    parts = []
    for found, part in _every_site(study, jobs, scheduler, tell):
        each.append(found)
        parts.append(part)
    site_results = tuple(found.site for found in each)
    external = tuple(site for site in site_results if site.summary.role == "external")
    internal = sites.internal_test(study.release, site_results)
    results = [result for site in site_results for result in site.results]
    results += sites.declared_results(study.release)
    results += sites.pooled_results(study.release, external)
    results += sites.syntheses(study.release, external, internal, "external")
    results += sites.syntheses(study.release, external, internal, "pooled")
    results += readers.results(study)
    results += reader_study.results(study)
    curves = [curve for site in site_results for curve in site.curves]
    curves += sites.pooled_curves(study.release, external)
    curves += readers.curves(study)
    curves += reader_study.curves(study)
    points = model.points(study)
    curves += points.curves
    summaries = tuple(site.summary for site in site_results)
    descriptions = (
        *(row for found in each for row in found.descriptions),
        *readers.descriptions(study),
        *points.descriptions,
    )
    of_subgroups = subgroups.together(study.release, parts, [site.summary.name for site in external])
    complete = Evidence(
        release=study.release,
        datasets=summaries,
        results=tuple(results),
        curves=tuple(curves),
        descriptions=descriptions,
        flags=study.flags,
        terms=classes.terms_of(study.release),
        statements=study.statements,
        inputs=study.inputs,
        versions={
            "dossier": version("validation-dossier"),
            "python": platform.python_version(),
            **{package: version(package) for package in PACKAGES},
        },
        subgroups=of_subgroups,
    )
    return _concluded(study, sites.shown(withheld.evidence(complete)))


def _concluded(study: Study, shown: Evidence) -> Evidence:
    """The evidence with what follows from it: flags, criteria and checklist, all from what may be shown."""
    found_flags = withheld.flags(study.flags, shown)
    found_flags += flags.raised(
        shown.datasets,
        shown.results,
        shown.descriptions,
        shown.subgroups.summaries,
        widths_declared=study.release.sample.is_declared,
    )
    found_flags += flags.unsaid(study.release, shown.datasets) if study.declared else ()
    concluded = replace(
        shown,
        flags=flags.answered(found_flags, study.release.reply),
        criteria=acceptance.judged(
            study.release.acceptance, shown.datasets, [*shown.results, *shown.subgroups.results]
        ),
        changes=changes.changes(study.release, study.previous, shown.datasets, shown.results, shown.terms),
    )
    return replace(concluded, checklist=checklist.rows(concluded) if study.declared else ())


def _every_site(
    study: Study, jobs: int, scheduler: str | None, tell: Progress
) -> Iterator[tuple[SiteEvidence, SubgroupEvidence]]:
    """The evidence of each dataset and of its subgroups, in the order of the release."""
    every = [pieces.of_site(site) for site in _sites(study)]
    work = [piece for of_one in every for piece in of_one]
    total, done = sum(piece.rows for piece in work), 0
    found = _found(work, jobs, scheduler)
    for of_one in every:
        answers = []
        for piece in of_one:
            answers.append(next(found))
            done += piece.rows
            tell("evaluate", f"{piece.site.dataset.name}, {piece.says}", done, total)
        yield pieces.together(of_one, answers)


def _sites(study: Study) -> list[Site]:
    """Each dataset with what its measures may ask for."""
    development = next((dataset for dataset in study.datasets if dataset.role == "development"), None)
    return [
        Site(
            dataset=dataset,
            release=study.release,
            development=development.described.predictors if development else (),
            development_rows=development.rows_analysed if development else None,
            development_sample=development.sampled.rows_analysed if development and development.sampled else None,
            readers=study.readers if study.readers and study.readers.dataset == dataset.name else None,
            readers_elsewhere=(study.readers.dataset or READERS) if study.readers else None,
        )
        for dataset in study.datasets
    ]


def _found(work: Sequence[Piece], jobs: int, scheduler: str | None) -> Iterator[Found]:
    """What each piece of the work yields, in this order, wherever it is done."""
    if scheduler is not None:
        return cluster.found(work, scheduler, PACKAGES)
    if jobs == 1 or len(work) == 1:
        return map(pieces.found, work)
    answers: Iterator[Found] = joblib.Parallel(n_jobs=jobs, return_as="generator")(
        joblib.delayed(pieces.found)(piece) for piece in work
    )
    return answers


makes(evidence)
