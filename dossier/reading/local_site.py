"""Which of the external datasets is the hospital that the committee edition is for."""

from __future__ import annotations

from collections.abc import Mapping

from dossier.errors import ReleaseError
from dossier.reading.faults import listed, nearest
from dossier.types import Dataset, Study, folded

WHERE = "--local-site"


def of_study(study: Study, wanted: str) -> str:
    """The name of the external dataset that is called so, or whose site is; refused where nothing of it is shown."""
    external = {dataset.name: dataset for dataset in study.datasets if dataset.role == "external"}
    found = local_site({name: dataset.site for name, dataset in external.items()}, wanted)
    _refuse_a_withheld_one(external[found])
    return found


def local_site(sites: Mapping[str, str], wanted: str) -> str:
    """The dataset that is called so, or whose site is; neither upper case nor blanks matter.

    `sites` are those of the external datasets, by the names of these.
    """
    asked = folded(wanted)
    by_name = [name for name in sites if folded(name) == asked]
    found = by_name or [name for name, site in sites.items() if folded(site) == asked]
    if len(found) == 1:
        return found[0]
    if found:
        raise ReleaseError.one(
            f"{wanted} is the site of {len(found)} external datasets.", WHERE, f"Name one of them: {listed(found)}."
        )
    known = list(dict.fromkeys(name for pair in sites.items() for name in pair))
    near = nearest(wanted, known)
    fix = f'Did you mean "{near}"?' if near else f"Name one of {listed(known, most=30)}."
    raise ReleaseError.one(f'"{wanted}" is no external dataset of this release, and no site of one.', WHERE, fix)


def _refuse_a_withheld_one(dataset: Dataset) -> None:
    """Refuse a site of which nothing may be shown."""
    if dataset.rows_analysed < dataset.minimum_cell:
        what = f"{dataset.name} has fewer than {dataset.minimum_cell} analysed rows, and nothing of it may be shown."
        raise ReleaseError.one(what, WHERE, "Leave --local-site out, or lower minimum_cell.")
