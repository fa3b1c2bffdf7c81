"""Study -> Evidence: every measure on every site, then every synthesis over the sites.

A measure's parameters say what it needs. `offered.py` lists all that can be named; what a site lacks becomes an
`Absent` with its reason, without the measure being asked.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.metadata import version

import joblib

from dossier import acceptance, checklist, flags
from dossier.evaluate import changes, classes, imputed, model, reader_study, sites, subgroups, withheld
from dossier.evaluate.offered import Site
from dossier.evaluate.site import SiteEvidence, site_evidence
from dossier.register import fill
from dossier.types import Evidence, Study, SubgroupEvidence
from dossier.verb import makes

Progress = Callable[[str, str, int, int], None]
"""Told the stage, what was just finished, how many are done, and of how many."""

PACKAGES = ("numpy", "scipy", "pyarrow", "matplotlib", "jinja2", "markdown-it-py", "weasyprint", "pydantic")
"""The packages whose version can change a number or a page."""


def evidence(study: Study, jobs: int = 1, progress: Progress | None = None) -> Evidence:
    """Everything that can be known from a study, with the reason for everything that cannot.

    The answer does not depend on `jobs`: each measure draws its random numbers from the release's seed, the site
    and the chapter.
    """
    fill("metrics")
    study = withheld.without_small_datasets(study)
    tell = progress or (lambda stage, name, done, total: None)
    each = []
    parts = []
    for done, (found, part) in enumerate(_every_site(study, jobs), start=1):
        each.append(found)
        parts.append(part)
        tell("evaluate", found.site.summary.name, done, len(study.datasets))
    site_results = tuple(found.site for found in each)
    external = tuple(site for site in site_results if site.summary.role == "external")
    internal = sites.internal_test(study.release, site_results)
    results = [result for site in site_results for result in site.results]
    results += sites.declared_results(study.release)
    results += sites.pooled_results(study.release, external)
    results += sites.syntheses(study.release, external, internal, "external")
    results += sites.syntheses(study.release, external, internal, "pooled")
    results += reader_study.results(study)
    curves = [curve for site in site_results for curve in site.curves]
    curves += sites.pooled_curves(study.release, external)
    curves += reader_study.curves(study)
    points = model.points(study)
    curves += points.curves
    summaries = tuple(site.summary for site in site_results)
    descriptions = (*(row for found in each for row in found.descriptions), *points.descriptions)
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
    return _concluded(study, withheld.evidence(complete))


def _concluded(study: Study, shown: Evidence) -> Evidence:
    """The evidence with what follows from it: flags, criteria and checklist, all from what may be shown."""
    found_flags = withheld.flags(study.flags, shown) + flags.raised(shown.datasets, shown.results, shown.descriptions)
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


def _of_dataset(site: Site) -> tuple[SiteEvidence, SubgroupEvidence]:
    """All of one dataset: the work of one job."""
    if site.dataset.imputations:
        return imputed.of_site(site)
    return site_evidence(site), subgroups.of_site(site)


def _every_site(study: Study, jobs: int) -> Iterator[tuple[SiteEvidence, SubgroupEvidence]]:
    """The evidence of each dataset and of its subgroups, in the order of the release."""
    development = next((dataset for dataset in study.datasets if dataset.role == "development"), None)
    every = [
        Site(
            dataset=dataset,
            release=study.release,
            development=development.predictors if development else (),
            development_rows=development.rows_read - sum(development.excluded.values()) if development else None,
            readers=study.readers if study.readers and study.readers.dataset == dataset.name else None,
            readers_elsewhere=study.readers.dataset if study.readers else None,
        )
        for dataset in study.datasets
    ]
    if jobs == 1 or len(every) == 1:
        return map(_of_dataset, every)
    answers: Iterator[tuple[SiteEvidence, SubgroupEvidence]] = joblib.Parallel(n_jobs=jobs, return_as="generator")(
        joblib.delayed(_of_dataset)(site) for site in every
    )
    return answers


makes(evidence)
