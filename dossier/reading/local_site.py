"""Which of the external datasets is the hospital that the committee edition is for."""

from __future__ import annotations

from collections.abc import Mapping

from dossier.core.errors import ReleaseError
from dossier.core.faults.locations import Location, Option
from dossier.core.types import Study, folded
from dossier.reading.faults import nearest

WHERE = Option("--local-site")


def of_study(study: Study, wanted: str) -> str:
    """The name of the external dataset that is called so, or whose site is; refused where nothing of it is shown."""
    external = {dataset.name: dataset for dataset in study.datasets if dataset.role == "external"}
    found = external[local_site({name: dataset.site for name, dataset in external.items()}, wanted)]
    if found.rows_analysed < found.fewest:
        raise ReleaseError.one("local_site_withheld", WHERE, dataset=found.name, least=found.fewest)
    return found.name


def local_site(sites: Mapping[str, str], wanted: str, at: Location = WHERE) -> str:
    """The dataset that is called so, or whose site is; neither upper case nor blanks matter.

    `sites` are those of the external datasets, by the names of these.
    """
    asked = folded(wanted)
    by_name = [name for name in sites if folded(name) == asked]
    found = by_name or [name for name, site in sites.items() if folded(site) == asked]
    if len(found) == 1:
        return found[0]
    if found:
        raise ReleaseError.one("site_of_several_datasets", at, site=wanted, datasets=tuple(found), number=len(found))
    known = tuple(dict.fromkeys(name for pair in sites.items() for name in pair))
    raise ReleaseError.one("no_local_site", at, site=wanted, known=known, near=nearest(wanted, known))
