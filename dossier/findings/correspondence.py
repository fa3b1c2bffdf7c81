"""How much each site looks like the data that the model was made from."""

from __future__ import annotations

from dossier.bands import FEWEST_WITH_A_VALUE, LARGE_SHIFT, SIMILARITY
from dossier.findings.description import NARROW_SIDE_BY_SIDE, evenly
from dossier.findings.sentence import Sentence, estimated, named_or_counted, range_over_sites
from dossier.types import Absent, DatasetSummary, Description, Estimate, Evidence, externals, find
from dossier.typeset import Cell, Column, Row, Table, folded, in_words, listing, number

LOW_SIMILARITY = 0.4
"""Up to this averaged similarity a site is said to differ already."""

CLEARLY_APART = 0.7
"""From this membership AUROC on, with an interval above that of chance, the tables are told apart."""
CHANCE = 0.5
SMALL_P = 0.05


def band(value: float) -> str:
    """The name of the band in which a similarity lies."""
    return next(name for upper, name in SIMILARITY.items() if value <= upper)


def finding(evidence: Evidence) -> Sentence:
    """The averaged similarity of each site, .5 meaning that its rows could be rows of the development table."""
    sites = estimated(evidence, "correspondence_averaged")
    without = len(externals(evidence)) - len(sites)
    if not sites:
        return Sentence("At no external site can similarity to the development data be computed.")
    bands = list(dict.fromkeys(band(found.value) for _, found in sites))
    span = range_over_sites(evidence, "correspondence_averaged", sites, SIMILARITY)
    lead = f"Averaged similarity {span}: {listing(bands)} by the bands of its authors."
    rest = "0.50 means that the site's rows could as well be rows of the development data."
    apart = [site.site for site, found in sites if found.value > LOW_SIMILARITY and _is_told_apart(evidence, site)]
    if apart:
        rest = (
            "0.50 is that of rows of the development data, yet other measures tell "
            f"{named_or_counted(apart, 1)} apart: distances over all predictors show little of a shift in few of them."
        )
    if without:
        rest += f" {in_words(without).capitalize()} {'site gives' if without == 1 else 'sites give'} no predictors."
    return Sentence(lead, rest)


def _is_told_apart(evidence: Evidence, site: DatasetSummary) -> bool:
    """Whether the membership AUROC, clearly, or the energy test finds a difference from the development data."""
    member = find(evidence, "membership_auroc", site.name)
    energy = find(evidence, "energy_coefficient", site.name)
    p_value = None if isinstance(energy, Absent) else energy.details.get("p_value")
    told = (
        isinstance(member, Estimate)
        and member.value >= CLEARLY_APART
        and member.low is not None
        and member.low > CHANCE
    )
    return told or (p_value is not None and p_value < SMALL_P)


def by_feature(evidence: Evidence) -> tuple[Table, ...]:
    """How far each predictor lies from the development data, at each site that gives it."""
    shifts = {
        (row.dataset, _feature(row.described)): row.described
        for row in evidence.descriptions
        if row.described.statistic == "standardized_mean_difference"
    }
    holders = [site for site in externals(evidence) if any(name == site.name for name, _ in shifts)]
    features = list(dict.fromkeys(feature for _, feature in shifts))
    return tuple(
        folded(_by_feature(shifts, block, features, part))
        for part, block in enumerate(evenly(holders, NARROW_SIDE_BY_SIDE), start=1)
    )


def _feature(described: Description) -> str:
    """A predictor, or one category of it, as a row names it."""
    return described.variable if described.level is None else f"{described.variable}: {described.level}"


def _by_feature(
    shifts: dict[tuple[str, str], Description], sites: list[DatasetSummary], features: list[str], part: int
) -> Table:
    return Table(
        name=f"table-shift-{part}",
        title=f"Difference from the development data by predictor{'' if part == 1 else f', continued ({part})'}.",
        note="Standardized mean difference, site minus development; half a standard deviation or more stands out.",
        head="Predictor",
        columns=tuple(Column(name) for name in _short_names(sites)),
        rows=tuple(
            Row(feature, tuple(_by_site(shifts.get((site.name, feature))) for site in sites)) for feature in features
        ),
    )


def _short_names(sites: list[DatasetSummary]) -> list[str]:
    """The sites as narrow columns name them: up to the first comma, as long as these differ."""
    short = [site.site.split(",")[0] for site in sites]
    return short if len(set(short)) == len(sites) else [site.site for site in sites]


def _by_site(described: Description | None) -> Cell:
    """The shift of a predictor at a site, where enough patients have a value."""
    if described is not None and not has_enough(described):
        return Cell("too few to tell", kind="absent")
    return _shift(None if described is None else described.value)


def has_enough(described: Description) -> bool:
    """Whether so many patients have a value that their mean says something, as for the characteristics."""
    return not isinstance(described.n, int) or described.n >= FEWEST_WITH_A_VALUE


def _shift(value: float | None) -> Cell:
    if value is None:
        return Cell("not held", kind="absent")
    return Cell(number(value), kind="value" if abs(value) >= LARGE_SHIFT else "plain")
