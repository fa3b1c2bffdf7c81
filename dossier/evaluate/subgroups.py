"""Subgroups: each measure on a part of a site's rows, beside the other patients of the site, and over all sites."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from dossier.core import between_groups, over_time, types
from dossier.core.between_groups import AGAINST
from dossier.core.facts import Fact
from dossier.core.register import REGISTER, CurveMaker, Metric, Synthesis, fill, metrics_of
from dossier.core.release import Release
from dossier.evaluate import classes, offered, strata
from dossier.evaluate.site import curve_of, measured
from dossier.metrics import intervals, stratified, within_sites

CURVES = ("calibration_curve",)
"""The curves that are drawn of subgroups."""

Bools = NDArray[np.bool_]
Found = types.Estimate | types.Absent
Key = tuple[str, tuple[tuple[str, float | str], ...]]
"""A measure at its settings."""


def of_site(site: offered.Site) -> types.SubgroupEvidence:
    """The subgroups of one dataset: how large they are, what the measures say of them, and how they differ."""
    return side_by_side([of_column(site, column) for column in columns(site)])


def columns(site: offered.Site) -> tuple[str, ...]:
    """The columns that make subgroups of this dataset."""
    if site.dataset.role == "development":
        return ()
    return tuple(dict.fromkeys(subgroup.column for subgroup in site.dataset.subgroups))


def of_column(site: offered.Site, column: str) -> types.SubgroupEvidence:
    """The subgroups that one column makes; they share what was measured on the other patients."""
    parts = _Parts(site)
    ours = [subgroup for subgroup in site.dataset.subgroups if subgroup.column == column]
    results = tuple(result for subgroup in ours for result in _results(site, subgroup, parts))
    curves = tuple(curve for subgroup in ours for curve in _curves(site, subgroup))
    return types.SubgroupEvidence(tuple(_summary(site, subgroup) for subgroup in ours), results, curves)


def side_by_side(parts: Sequence[types.SubgroupEvidence]) -> types.SubgroupEvidence:
    """The subgroups of several columns or datasets, one after the other."""
    return types.SubgroupEvidence(
        summaries=tuple(summary for part in parts for summary in part.summaries),
        results=tuple(result for part in parts for result in part.results),
        curves=tuple(curve for part in parts for curve in part.curves),
    )


def compared(metric: Metric) -> bool:
    """Whether a measure is taken of subgroups, and made of one site's rows alone."""
    return metric.by_subgroup and "development" not in metric.needs and not metric.fixed


# ---- one subgroup ---------------------------------------------------------------------------------------------------


def _summary(site: offered.Site, subgroup: types.Subgroup) -> types.SubgroupSummary:
    name, unusable = site.dataset.name, _unusable(site, subgroup)
    if unusable is not None:
        return types.SubgroupSummary(name, subgroup.column, subgroup.label, unusable)
    rows, outcome = _rows(subgroup), site.dataset.outcome
    events = None if outcome is None else int(outcome[rows].sum())
    unassigned = int((~_known(site.dataset, subgroup.column)).sum())
    counts, followed = _class_counts(site.dataset, rows), site.dataset.followed
    left = None if followed is None else int(followed.left[rows].sum())
    size = types.SubgroupSize(int(rows.sum()), events, unassigned, counts, left)
    return types.SubgroupSummary(name, subgroup.column, subgroup.label, size)


def _class_counts(dataset: types.Dataset, rows: Bools) -> dict[str, int]:
    """How many of these rows have each class; empty for an outcome of two."""
    if dataset.classes is None:
        return {}
    return {label: int((dataset.classes[rows] == index).sum()) for index, label in enumerate(dataset.class_labels)}


def _unusable(site: offered.Site, subgroup: types.Subgroup) -> types.Absent | None:
    """Why nothing at all can be said of a subgroup here, its size included."""
    name = site.dataset.name
    if site.dataset.split is not None:
        return types.Absent(Fact("refitted_splits_no_subgroups", dataset=name))
    if site.dataset.outcome is None and site.dataset.classes is None:
        return types.Absent(Fact("has_no", dataset=name, what="outcome"))
    return subgroup.rows if isinstance(subgroup.rows, types.Absent) else None


def _rows(subgroup: types.Subgroup) -> Bools:
    if isinstance(subgroup.rows, types.Absent):
        raise TypeError(f"nobody knows who is {subgroup.subset}")
    return subgroup.rows


def _known(dataset: types.Dataset, column: str) -> Bools:
    """The rows that are in a subgroup of the column."""
    masks = [_rows(subgroup) for subgroup in dataset.subgroups if subgroup.column == column]
    return np.asarray(np.logical_or.reduce(masks), dtype=np.bool_)


class _Parts:
    """What was measured on parts of one site's rows: each part once, whoever asks for it."""

    def __init__(self, site: offered.Site) -> None:
        self.site = site
        self.made: dict[types.Subset, dict[Key, Found]] = {}

    def of(self, subset: types.Subset, rows: Bools) -> Mapping[Key, Found]:
        """Every measure on these rows, which no other subset of the site is called after."""
        if subset not in self.made:
            part = _part(self.site, subset, rows)
            self.made[subset] = {
                (result.term, tuple(sorted(result.at.items()))): result.found
                for metric in _metrics(self.site)
                for result in measured(part, metric)
            }
        return self.made[subset]

    def of_others(self, subgroup: types.Subgroup) -> tuple[Bools, types.Subset]:
        """The other patients whose value of the column is known, and the subset that they are."""
        others = _known(self.site.dataset, subgroup.column) & ~_rows(subgroup)
        for another in self.site.dataset.subgroups:
            # Where there are two levels the others are the other level, and nobody is measured twice.
            if another.column == subgroup.column and np.array_equal(_rows(another), others):
                return others, another.subset
        return others, types.Subset(f"not {subgroup.column}", subgroup.label)


def _part(site: offered.Site, subset: types.Subset, rows: Bools) -> offered.Site:
    return replace(site, dataset=offered.part_of(site.dataset, rows), readers=None, subset=subset)


def _metrics(site: offered.Site) -> list[Metric]:
    role = site.dataset.role
    asked = (metric for metric in metrics_of(site.release).values() if site.asks(metric.term.measure))
    return [metric for metric in asked if compared(metric) and role in metric.roles]


def _results(site: offered.Site, subgroup: types.Subgroup, parts: _Parts) -> Iterator[types.Result]:
    """Every measure in one subgroup of one dataset, each followed by its difference to the other patients."""
    for metric in _metrics(site):
        for at in classes.places_of(site.release, metric):
            found, apart = _both(site, subgroup, parts, metric, at)
            name, measure, dataset = metric.term.name, metric.term.measure, site.dataset.name
            yield types.Result(name, measure, dataset, at, found, subgroup.subset)
            yield types.Result(name, measure, dataset, {**at, **AGAINST}, apart, subgroup.subset)


def _both(
    site: offered.Site, subgroup: types.Subgroup, parts: _Parts, metric: Metric, at: types.At
) -> tuple[Found, ...]:
    """A measure in one subgroup, and its difference to the other patients."""
    why = _unusable(site, subgroup) or few(site.dataset, _rows(subgroup), at)
    if why:
        return why, why
    key = (metric.term.name, tuple(sorted(at.items())))
    found = parts.of(subgroup.subset, _rows(subgroup))[key]
    others, called = parts.of_others(subgroup)
    few_others = few(site.dataset, others, at, Fact("of_the_other_patients"))
    apart = few_others or of_two_scales(site.release, metric, subgroup.column) or _shared_clusters(site, subgroup)
    return found, apart or _difference(found, parts.of(called, others)[key])


def few(dataset: types.Dataset, rows: Bools, at: types.At, among: Fact | None = None) -> types.Absent | None:
    """Why these rows are too few for a measure at these settings: of the outcome, of the class, or of any class."""
    label = at.get("class", types.MACRO)
    if dataset.classes is None:
        return None if dataset.outcome is None else _too_few(dataset.outcome[rows & dataset.known], among)
    if label == types.MACRO:
        return within_sites.too_few_of_classes(_class_counts(dataset, rows), among)
    return _too_few(dataset.classes[rows] == dataset.class_labels.index(str(label)), among, str(label))


def _too_few(outcome: types.Floats | Bools, among: Fact | None, label: str = "") -> types.Absent | None:
    events = int(outcome.sum())
    return within_sites.too_few(events, len(outcome) - events, among, label)


def of_two_scales(release: Release, metric: Metric, column: str) -> types.Absent | None:
    """Why a severity is not compared between the levels of a column: they are weighed by different matrices."""
    severity = release.severity
    if severity is None or "severity_weights" not in metric.needs:
        return None
    own = [subgroup.weights for subgroup in severity.subgroup if subgroup.column == column]
    if all(weights == severity.weights for weights in own):
        return None
    return types.Absent(Fact("severity_of_two_scales", column=column))


def _shared_clusters(site: offered.Site, subgroup: types.Subgroup) -> types.Absent | None:
    """Why the two intervals cannot be combined: the difference takes the two groups as independent."""
    dataset = site.dataset
    cluster = dataset.cluster
    if cluster is None:
        return None
    both = np.intersect1d(cluster[_rows(subgroup)], cluster[_known(dataset, subgroup.column) & ~_rows(subgroup)])
    if not len(both):
        return None
    return types.Absent(Fact("clusters_in_both_groups", dataset=site.dataset.name))


def _difference(ours: Found, rest: Found) -> Found:
    if isinstance(ours, types.Absent):
        return ours
    if isinstance(rest, types.Absent):
        return types.Absent(Fact("other_patients_without_value", reason=rest.reason))
    return within_sites.difference(ours, rest)


def _curves(site: offered.Site, subgroup: types.Subgroup) -> Iterator[types.CurveResult]:
    register = fill("metrics")
    wanted = CURVES if site.measures is None else ()
    for maker in (maker for maker in register.curves.values() if maker.name in wanted):
        if site.dataset.role in maker.roles:
            for label in site.dataset.class_labels or (None,):
                yield _curve(site, subgroup, maker, {} if label is None else {"class": label})


def _curve(site: offered.Site, subgroup: types.Subgroup, maker: CurveMaker, at: types.At) -> types.CurveResult:
    why = _unusable(site, subgroup) or few(site.dataset, _rows(subgroup), at)
    if why is not None:
        return types.CurveResult(maker.name, site.dataset.name, why, subset=subgroup.subset, at=at)
    part = _part(site, subgroup.subset, _rows(subgroup))
    return replace(curve_of(classes.against_rest(part, str(at["class"])) if at else part, maker), at=at)


# ---- all sites ------------------------------------------------------------------------------------------------------

Place = tuple[str, types.Subset | None, Key]
"""A dataset, a subgroup of it, and a measure at its settings."""


def together(
    release: Release,
    parts: Sequence[types.SubgroupEvidence],
    sites: Sequence[offered.Site],
    turning: Mapping[str, over_time.Turn],
) -> types.SubgroupEvidence:
    """The subgroups of every dataset, and what the external ones say of them together, each within itself.

    What is judged of a group stands in the details of its difference to the other patients: the p value of the test,
    and that by Holm's correction over all that is looked at there. At single sites it is tested in the same way. Of
    sites whose risks turn over time the groups are compared within the times when these are too high, too low, and
    neither: who came when would else tell them apart.
    """
    every = side_by_side(parts)
    external = strata.external_sites(sites)
    found = {_place(result): result for result in every.results}
    for subset in dict.fromkeys(summary.subset for summary in every.summaries):
        of_sites = [(types.POOLED, external, turning), *((site.dataset.name, (site,), {}) for site in external)]
        made = [result for each in of_sites for result in _Group(release, subset, found, *each).results()]
        found |= {_place(result): result for result in made}
    primary = release.thresholds.primary
    return replace(every, results=between_groups.adjusted(every.summaries, tuple(found.values()), primary, turning))


def _place(result: types.Result) -> Place:
    return result.dataset, result.subset, (result.term, tuple(sorted(result.at.items())))


@dataclass(frozen=True)
class _Group:
    """A group of patients beside the others, over some sites: all external ones, or one of them."""

    release: Release
    subset: types.Subset
    found: Mapping[Place, types.Result]
    """What was found at the sites."""
    name: str
    sites: Sequence[offered.Site]
    turning: Mapping[str, over_time.Turn]
    """When the risks of which of them are too high, and when too low."""
    rows: dict[tuple[object, int], tuple[list[within_sites.Pair], list[str]]] = field(default_factory=dict)
    """The rows by class and imputation, which every measure asks for."""

    def results(self) -> Iterator[types.Result]:
        """Each measure over the sites with its difference to the others; of one site the tests alone."""
        for metric in metrics_of(self.release).values():
            if compared(metric) and metric.clustered == "jackknife" and self._asked(metric.term.measure):
                for at in classes.places_of(self.release, metric):
                    yield from self._of_measure(metric, at) if self.name == types.POOLED else self._tested(metric, at)
        for entry in REGISTER.syntheses.values():
            if entry.each == "groups" and self._asked(between_groups.MADE_OF[entry.term.measure]):
                for label in self.release.outcome.classes or (None,):
                    at = dict(AGAINST) if label is None else {"class": label, **AGAINST}
                    yield self._result(entry.term, at, self._alone(entry, at))

    def _asked(self, measure: str) -> bool:
        return all(site.asks(measure) for site in self.sites)

    def _result(self, term: types.Term, at: types.At, found: Found) -> types.Result:
        return types.Result(term.name, term.measure, self.name, at, found, self.subset)

    def _of_measure(self, metric: Metric, at: types.At) -> Iterator[types.Result]:
        undeclared = next((name for name in metric.term.at if name not in at), None)
        lacking = None if undeclared is None else types.Absent(Fact("setting_not_declared", setting=undeclared))
        few, few_others = (lacking or self._few(at, side) for side in (0, 1))
        both = (few, few) if few else self._over_sites(metric, at)
        yield self._result(metric.term, at, both[0])
        yield self._result(metric.term, {**at, **AGAINST}, few_others or self._shared() or both[1])

    def _tested(self, metric: Metric, at: types.At) -> Iterator[types.Result]:
        """The difference at the one site, which is there already, with the test of it."""
        known = self.found.get((self.name, self.subset, (metric.term.name, tuple(sorted({**at, **AGAINST}.items())))))
        is_tested = metric.term.name in within_sites.SCORES or (
            bool(self.release.horizon) and metric.of_rows is not None
        )
        if not is_tested or known is None or not isinstance(known.found, types.Estimate):
            return
        apart = self._over_sites(metric, at)[1]
        if isinstance(apart, types.Estimate):
            names = ("p_value", "p_beyond", "expected", "expected_complement")
            tested = {name: apart.details[name] for name in names if name in apart.details}
            yield known.with_details(tested)

    def _is_of_all_classes(self, at: types.At) -> bool:
        """Whether a measure is of several classes together: no outcome of one class tells what its rows contribute."""
        return bool(self.release.outcome.classes) and at.get("class", types.MACRO) == types.MACRO

    def _few(self, at: types.At, side: int) -> types.Absent | None:
        """Why the group (0) or the others (1) are too few: over all sites they are held to what one site is held to."""
        if self._is_of_all_classes(at):
            return None
        outcome = np.concatenate([np.empty(0), *(pair.parts[side].known for pair in self._pairs(at, 0)[0])])
        return _too_few(outcome, Fact("of_the_other_patients") if side else None, str(at.get("class", "")))

    def _shared(self) -> types.Absent | None:
        ours = (
            _shared_clusters(site, subgroup)
            for site in self.sites
            for subgroup in site.dataset.subgroups
            if subgroup.subset == self.subset and not isinstance(subgroup.rows, types.Absent)
        )
        return next(filter(None, ours), None)

    def _pairs(self, at: types.At, number: int) -> tuple[list[within_sites.Pair], list[str]]:
        """The rows of the group and of the others at each site that tells both; and the sites with next to none."""
        key = (at.get("class"), number)
        if key not in self.rows:
            self.rows[key] = self._cut(at, number)
        return self.rows[key]

    def _cut(self, at: types.At, number: int) -> tuple[list[within_sites.Pair], list[str]]:
        pairs, few = [], []
        for site, when in ((each, when) for each in self.sites for when in self._times(each)):
            ours, rest = (
                strata.stratum(site, at, _members(self.subset, others, when), number) for others in (False, True)
            )
            if ours is None or rest is None:
                continue
            if min(len(ours.outcome), len(rest.outcome)) < types.FEWEST_PATIENTS:
                few.append(site.dataset.name)
            else:
                pairs.append(within_sites.Pair(site.dataset.name, ours, rest))
        return pairs, [name for name in few if name not in {pair.name for pair in pairs}]

    def _times(self, site: offered.Site) -> Sequence[When]:
        """The times within which the groups of a site are compared: one, or three where its risks turn."""
        turn = self.turning.get(site.dataset.name)
        if turn is None:
            return (None,)
        high, low = ([period.number for period in side] for side in (turn.too_high, turn.too_low))
        return (high, True), (low, True), ([*high, *low], False)

    def _each(self, at: types.At) -> list[tuple[list[within_sites.Pair], list[str]]]:
        """The rows in each imputation."""
        return [self._pairs(at, number) for number in strata.imputations_of(self.sites)]

    def _over_sites(self, metric: Metric, at: types.At) -> tuple[Found, Found]:
        """A measure in the group and its difference to the others, within the sites."""
        name, level = metric.term.name, self.release.release.level
        form = metric.of_rows if self.release.horizon else metric.weighted
        if self._is_of_all_classes(at) or not within_sites.is_known(name, form):
            return self._of_estimates(metric, at)
        scale: intervals.Scale = "plain" if metric.scale == "wilson" else metric.scale
        # Where it has no threshold, rows on either side of one are not counted on their own.
        threshold = float(at["threshold"]) if "threshold" in at else None if self.release.horizon else 0.5
        ours, apart = [], []
        for pairs, few in self._each(at):
            found = within_sites.compared(name, form, pairs, level, scale, metric.term.range, threshold)
            if isinstance(found, types.Absent):
                return found, found
            ours.append(strata.naming(found.ours, few, tuple(self.turning)))
            apart.append(strata.naming(found.apart, few, tuple(self.turning)))
        return strata.over_imputations(ours, scale, level), strata.over_imputations(apart, "plain", level)

    def _of_estimates(self, metric: Metric, at: types.At) -> tuple[Found, Found]:
        """The same of a measure whose rows do not tell what they contribute: from its values at the sites, by rows."""
        name, level = metric.term.name, self.release.release.level
        both = [(self._at_site(site, name, at), self._at_site(site, name, {**at, **AGAINST})) for site in self.sites]
        known = [
            (ours, apart)
            for ours, apart in both
            if isinstance(ours, types.Estimate) and isinstance(apart, types.Estimate)
        ]
        counts = [ours.n * (apart.details.get("complement_n") or 0.0) / apart.n for ours, apart in known]
        ours = stratified.mean_of_sites([each for each, _ in known], level, counts=counts)
        apart = stratified.mean_of_sites([each for _, each in known], level, counts=counts)
        if isinstance(ours, types.Absent) or isinstance(apart, types.Absent):
            return within_sites.NOWHERE, within_sites.NOWHERE
        return ours, replace(apart, details={**apart.details, "complement": ours.value - apart.value})

    def _at_site(self, site: offered.Site, name: str, at: types.At) -> Found | None:
        known = self.found.get((site.dataset.name, self.subset, (name, tuple(sorted(at.items())))))
        return None if known is None else known.found

    def _alone(self, entry: Synthesis, at: types.At) -> Found:
        """A comparison that is no difference of a measure."""
        why = self._few(at, 0) or self._few(at, 1) or self._shared()
        if why is not None:
            return why
        level = self.release.release.level
        made = [strata.naming(entry.function(pairs, level), few, tuple(self.turning)) for pairs, few in self._each(at)]
        return strata.over_imputations(made, "log" if entry.term.best == "one" else "plain", level)


When = tuple[list[int], bool] | None
"""Periods, and whether they are meant or all others; None is any time."""


def _members(subset: types.Subset, others: bool, when: When) -> strata.Chosen:
    """The rows of a subgroup at a time, or those of the other patients whose value of the column is known."""

    def chosen(dataset: types.Dataset) -> tuple[types.Dataset, Bools] | None:
        of_column = [subgroup for subgroup in dataset.subgroups if subgroup.column == subset.column]
        if not of_column or any(isinstance(subgroup.rows, types.Absent) for subgroup in of_column):
            return None
        rows = next(_rows(subgroup) for subgroup in of_column if subgroup.subset == subset)
        rows = _known(dataset, subset.column) & ~rows if others else rows
        if when is not None and dataset.periods is not None:
            rows = rows & (np.isin(dataset.periods.of_row, when[0]) == when[1])
        return dataset, rows

    return chosen
