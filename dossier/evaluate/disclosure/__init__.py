"""Small counts protected: each count of persons leaves once, as a range, and all else is computed from the ranges.

What rests on ranks or sums is given in steps of one person, for enough persons. A measure, a curve or a statistic that
does not say how it is protected is withheld. Pooled results, flags, criteria and pages are made afterwards, of what is
left. The scheme uses no chance and no key: two builds agree, and nobody can take a key from the pages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dossier.core import errors, facts, register, types
from dossier.core.release import PREVIOUS
from dossier.evaluate import offered, rivals
from dossier.evaluate.disclosure import audit, curves, declared, descriptions, earlier, few, left_over
from dossier.evaluate.disclosure.chains import Chain, Counts, coded, counts, grid, ranged, rows_of_a_person
from dossier.evaluate.disclosure.measures import Protected, minus, not_given, of_results, outcome_withheld
from dossier.evaluate.disclosure.shared import MOST_LEVELS, minimum_cell, of_release
from dossier.evaluate.site import SiteEvidence
from dossier.evaluate.subgroups import of_two_scales

RELEASE_FILE = "release.toml"
"""The one file that is read and holds no rows."""

Bools = NDArray[np.bool_]
Place = tuple[tuple[str, float | str], ...]


def is_asked(study: types.Study) -> bool:
    """Whether the release protects small counts."""
    return minimum_cell(study) > 0


def without_what_tells(study: types.Study) -> types.Study:
    """The study without the datasets of which not even the number of rows may be shown, with a flag that says so; where
    it asks for a policy, as that leaves it.

    Datasets go before anything is computed, so that no number over all sites holds them. Two releases of nearly the
    same rows tell of those in which they differ.
    """
    study = _under_policy(study) if is_asked(study) else study
    kept = tuple(dataset for dataset in study.datasets if dataset.rows_analysed >= dataset.fewest)
    if len(kept) == len(study.datasets):
        return study
    gone = {dataset.name for dataset in study.datasets} - {dataset.name for dataset in kept}
    several = facts.Fact("datasets_withheld", datasets=facts.Count(len(gone), "site"))
    says = facts.Fact("dataset_withheld") if len(gone) == 1 else several
    flags = tuple(flag for flag in study.flags if flag.dataset not in gone)
    return replace(study, datasets=kept, flags=(*flags, types.Flag("dataset_withheld", types.POOLED, says)))


def _under_policy(study: types.Study) -> types.Study:
    """The study under its strictest policy, without a previous release, with a flag that says so; with what it declares
    in place of rows as that may be given; and without the sizes and hashes of files that tell how many there are: those
    with rows, and a release file not all of which is given.
    """
    whole, strictest = study.release, minimum_cell(study)
    # A description of one hospital rests on the rows of another, so that the policy of one is that of all.
    study = replace(study, datasets=tuple(replace(dataset, minimum_cell=strictest) for dataset in study.datasets))
    study = _without_previous(declared.given(study, of_release(study)[0]))
    # All else that the file holds is printed: with its hash one would try number by number what it declares.
    known = {RELEASE_FILE} if study.release == whole else set()
    inputs = (file if file.name in known else replace(file, sha256=None, size=None) for file in study.inputs)
    return replace(study, inputs=tuple(inputs))


def _without_previous(study: types.Study) -> types.Study:
    """The study without the previous release and the risks of its version, with a flag that says so."""
    if study.previous is None:
        return study
    release, datasets = study.release, study.datasets
    if PREVIOUS in (model.name for model in release.beside):
        datasets = tuple(each.without_last_rival for each in datasets)
        about = release.release.model_copy(update={"previous_tables": None})
        prediction = release.prediction.model_copy(update={"previous": None})
        release = release.model_copy(update={"release": about, "prediction": prediction})
    withheld = types.Flag.of(types.POOLED, facts.Fact("previous_withheld"))
    return replace(study, release=release, datasets=datasets, previous=None, flags=(*study.flags, withheld))


# ---- one dataset ----------------------------------------------------------------------------------------------------


def of_site(
    site: offered.Site, found: SiteEvidence, groups: types.SubgroupEvidence
) -> tuple[SiteEvidence, types.SubgroupEvidence, tuple[types.Audited, ...]]:
    """What one dataset and its subgroups yield, as it may be given, and what is left of its counts; as it is where the
    release protects nothing.
    """
    if not site.dataset.minimum_cell:
        return found, groups, ()
    policy, looked = _settled(site)
    given = types.SiteResults(
        policy.summary(found.site.summary),
        tuple(policy.results(found.site.results)),
        tuple(replace(curve, found=policy.curve(curve)) for curve in found.site.curves),
    )
    look = left_over.Look.at((given.summary,))
    if look is None:
        raise TypeError("a dataset with a policy has a summary with one")
    return SiteEvidence(look.site(given), found.descriptions), look.subgroups(policy.subgroups(groups)), (looked,)


def _settled(site: offered.Site) -> tuple[_Policy, types.Audited]:
    """What may be given of a dataset, and what is left of its counts.

    Where a count would be left too few values, the columns of subgroups are taken away, the last first; then all but
    the number of rows.
    """
    asked = _Policy.of(site)
    for policy in asked.ever_less():
        left = policy.left
        if left.narrowest is None or left.narrowest >= policy.below * policy.rows_each:
            break
    policy = policy.coarsened()
    taken = tuple(sorted(policy.site.said - site.said))
    nothing = asked.all_rows is not None and policy.all_rows is None
    released = earlier.released(site, policy.ranges)
    return policy, types.Audited(site.dataset.name, left.cells, left.narrowest, left.at, taken, nothing, released)


def refused(study: types.Study, sites: Sequence[offered.Site]) -> list[errors.Fault]:
    """Why a release may not be given beside those that its ledger has."""
    ledger = study.ledger
    return [] if ledger is None else list(earlier.faults(ledger, sites, lambda site: _Policy.of(site).now))


@dataclass(frozen=True)
class _Policy:
    """One dataset with the ranges that are given of it."""

    site: offered.Site
    wide: int
    rows_each: int
    all_rows: Protected | None
    """None where nothing but its size is given: weights, imputations and splits have no ranges of risks."""
    before: tuple[types.Released, ...] = ()
    """What earlier releases gave of fewer rows."""

    @classmethod
    def of(cls, site: offered.Site) -> _Policy:
        dataset = site.dataset
        rows_each = rows_of_a_person(dataset)
        made = cls(site, site.wide * rows_each, rows_each, None)
        made = replace(made, before=earlier.given_before(site, made.now) or ())
        if dataset.classes is not None and len(dataset.classes) and not _is_special(dataset):
            return replace(made, all_rows=made.of_classes(dataset.classes))
        if dataset.outcome is None or dataset.risk is None or _is_special(dataset):
            return made
        return replace(made, all_rows=made.protected(np.ones(len(dataset.outcome), dtype=np.bool_), None))

    @property
    def below(self) -> int:
        return self.site.dataset.minimum_cell

    def ever_less(self) -> Iterator[_Policy]:
        """This policy, and what is given where some count is left too few values."""
        if self.all_rows is None or self.site.dataset.class_labels:
            yield self
            return
        site = self.site
        yield self
        known = {each.subset.column for entry in site.earlier for each in entry.ranges if each.subset}
        last_first = list(_given_columns(self.site))[::-1]
        for column in sorted(last_first, key=lambda column: column in known):
            site = replace(site, said=site.said | {column})
            yield replace(self, site=site)
        yield replace(self, site=site, all_rows=None)

    @property
    def left(self) -> audit.Left:
        """How many values small counts are left by the ranges."""
        dataset = self.site.dataset
        if self.all_rows is None or dataset.outcome is None or dataset.risk is None or dataset.class_labels:
            return audit.Left()
        given = {each.subset for each in self.ranges}
        # What was given before is known, also where it is not given today.
        given |= {each.subset for entry in self.site.earlier if entry.model == self.site.model for each in entry.ranges}
        parts = []
        for subset in [None, *(subgroup.subset for subgroup in dataset.subgroups)]:
            counts = self.now(subset, self.grid) if subset in given else None
            if counts is not None:
                before = tuple(self._before(entry, subset) for entry in self.before)
                parts.append(audit.Part(self.rows(subset), counts.chains, subset, before))
        return audit.values_left(coded(dataset), dataset.risk, parts, self.below * self.rows_each)

    def coarsened(self) -> _Policy:
        """This policy with numbers of all rows so coarse that no count is left too few values beside them."""
        rows = self.all_rows
        if rows is None or self.site.dataset.class_labels or all(rows.few("", name) for name in rows.risks):
            return self
        return replace(self, all_rows=replace(rows, coarser=audit.coarser(rows.counts, self.below * self.rows_each)))

    def _before(self, entry: types.Released, subset: types.Subset | None) -> dict[int, Chain] | None:
        """The tails of all rows or of a subgroup as an earlier release gave them: of another model the totals alone."""
        for each in entry.ranges:
            if each.subset == subset:
                most = None if entry.model == self.site.model else 1
                return {
                    label: Chain(each.grid[:most], tuple(types.CountRange(low, low + entry.wide - 1) for low in starts))
                    for label, starts in ((1, each.events[:most]), (0, each.others[:most]))
                }
        return None

    @property
    def ranges(self) -> tuple[types.ReleasedRanges, ...]:
        """The ranges of risks that are given: of all rows, and of each subgroup."""
        dataset = self.site.dataset
        if self.all_rows is None or dataset.class_labels:
            return ()
        groups = [(each.subset, self._of_group(each)) for each in dataset.subgroups]
        of_groups = [(subset, group.counts) for subset, group in groups if isinstance(group, Protected)]
        return tuple(earlier.of_counts(*each) for each in [(None, self.all_rows.counts), *of_groups])

    def rows(self, subset: types.Subset | None) -> Bools:
        """Which rows are of a subgroup; of none of one that is declared no more."""
        declared = {each.subset: each.rows for each in self.site.dataset.subgroups}
        found = declared.get(subset) if subset else np.ones(self.site.dataset.rows_analysed, dtype=np.bool_)
        return np.zeros(0, dtype=np.bool_) if found is None or isinstance(found, types.Absent) else found

    def now(self, subset: types.Subset | None, at: tuple[float, ...]) -> Counts | None:
        """The ranges of all rows, or of a subgroup, at the risks of a grid; None where they are declared no more."""
        dataset, rows = self.site.dataset, self.rows(subset)
        if dataset.outcome is None or dataset.risk is None or len(rows) != len(dataset.outcome):
            return None
        return self.counts(rows, at)

    @property
    def grid(self) -> tuple[float, ...]:
        """The risks at which tails are counted, those of earlier releases included."""
        own = [entry for entry in self.site.earlier if entry.model == self.site.model]
        known = {value for entry in own for each in entry.ranges for value in each.grid}
        return grid([*self.site.release.thresholds.declared, *known])

    def counts(self, rows: Bools, at: tuple[float, ...]) -> Counts:
        """The ranges of some of the rows."""
        dataset = self.site.dataset
        outcome, risk, followed = coded(dataset)[rows], dataset.tested[1][rows], dataset.followed is not None
        return counts(outcome, risk, at, self.wide, self.rows_each, followed)

    def protected(self, rows: Bools, subset: types.Subset | None) -> Protected:
        """All rows, or those of a subgroup, with their ranges; a measure is asked of tables, and of no other column."""
        outcome, risk = self.site.dataset.tested
        bare = types.Dataset(
            self.site.dataset.name, self.site.dataset.role, self.site.dataset.site, 0, {}, outcome, risk
        )
        bare = replace(bare, severity_group=self._severity_of(subset))
        mean = float(risk[rows].mean()) if rows.any() else 0.0
        site = replace(self.site, dataset=bare, readers=None)
        level = self.site.release.release.level
        risks = self._risks if subset is None else {}
        return Protected(site, self.counts(rows, self.grid), self.below, level, mean, risks)

    @property
    def _risks(self) -> dict[str, int]:
        """How many different risks each model gives."""
        dataset = self.site.dataset
        of_each = {name: dataset.facing(name).rival for name in rivals.names(self.site.release) or (types.RIVAL,)}
        of_each[""] = dataset.risk
        return {name: len(np.unique(risk)) for name, risk in of_each.items() if risk is not None}

    def _severity_of(self, subset: types.Subset | None) -> NDArray[np.int64] | None:
        """The one matrix that weighs the tables of these rows, which have no rows themselves; None where several may.

        The declaration says which, never the rows: where they did, a value would say that nobody else is among them.
        """
        dataset, severity = self.site.dataset, self.site.release.severity
        if dataset.severity_group is None or severity is None:
            return None
        weighed = [types.Subset(own.column, own.level) for own in severity.subgroup]
        here = {each.column for each in dataset.subgroups if not isinstance(each.rows, types.Absent)}
        column = next((own.column for own in weighed if own.column in here), None)
        if column is None:
            return np.array([0])
        if subset is None or subset.column != column:
            return None
        return np.array([1 + weighed.index(subset) if subset in weighed else 0])

    def of_classes(self, classes: NDArray[np.int64]) -> Protected:
        """All rows of an outcome of several classes: the rarest class, and the others as the sum of their ranges."""
        every = [
            ranged(int(count), self.wide)
            for count in np.bincount(classes, minlength=len(self.site.dataset.class_labels))
        ]
        rarest = min(range(len(every)), key=lambda index: int(every[index]))
        rest = sum((each for index, each in enumerate(every) if index != rarest), types.CountRange(0, 0))
        found = Counts(Chain((0.0,), (every[rarest],)), Chain((0.0,), (rest,)), self.wide, self.rows_each)
        each = self.site.dataset.class_risk
        risks = {} if each is None else {"": min(len(np.unique(column)) for column in each.T)}
        return Protected(self.site, found, self.below, self.site.release.release.level, 0.0, risks)

    def ranged(self, count: int | types.Withheld) -> int | types.Withheld:
        return count if isinstance(count, types.Withheld) else ranged(count, self.wide)

    def summary(self, dataset: types.DatasetSummary) -> types.DatasetSummary:
        """A dataset with its counts as ranges; events or others that may be nobody are withheld."""
        given = replace(
            dataset,
            # Other rows of a file may be those of another dataset, whose parts have ranges of their own.
            excluded={
                why: self.not_given if why == types.NOT_SELECTED else self.ranged(count)
                for why, count in dataset.excluded.items()
            },
            clusters=None if dataset.clusters is None else ranged(dataset.clusters, self.wide),
            dates=self.site.dataset.dates,
            dates_withheld=None
            if self.site.dataset.dates == dataset.dates
            else types.Withheld(facts.Fact("days_of_persons"), self.below),
        )
        given = self._outcome(dataset, given)
        # A range of its own beside those of its parts would tell more than they do.
        lost = [count for count in given.excluded.values() if isinstance(count, types.CountRange)]
        return replace(given, rows_read=sum(lost, given.n))

    def _outcome(self, dataset: types.DatasetSummary, given: types.DatasetSummary) -> types.DatasetSummary:
        """The rows by their outcome, whose ranges add up to that of all rows."""
        why = outcome_withheld(self.below)
        if dataset.class_counts:
            of_each = {label: ranged(count, self.wide) for label, count in dataset.class_counts.items()}
            given = replace(given, n=sum(of_each.values(), types.CountRange(0, 0)))
            if all(count.low for count in of_each.values()):
                return replace(given, class_counts=of_each)
            return replace(given, class_counts={}, outcome_withheld=why)
        if dataset.events is None:
            return replace(given, n=ranged(dataset.n, self.wide))
        events, others = ranged(dataset.events, self.wide), ranged(dataset.others or 0, self.wide)
        left = None if dataset.left is None else ranged(dataset.left, self.wide)
        given = replace(given, n=events + others + (left or 0), events=events, left=left)
        return given if events.low and others.low else replace(given, events=None, outcome_withheld=why)

    def results(self, found: Sequence[types.Result]) -> Sequence[types.Result]:
        """The results of all rows."""
        if self.all_rows is None:
            return [replace(result, found=self.not_given) for result in found]
        if not self.site.dataset.class_labels:
            return list(of_results(self.all_rows, found))
        # Of several classes there are no tables: what rests on ranks is all that is given.
        measures = register.metrics_of(self.site.release)
        ranks = iter(
            of_results(self.all_rows, [result for result in found if measures[result.term].protection == "ranks"])
        )
        return [
            next(ranks) if measures[result.term].protection == "ranks" else replace(result, found=self.not_given)
            for result in found
        ]

    @property
    def not_given(self) -> types.Withheld:
        return not_given(self.below)

    def curve(self, curve: types.CurveResult) -> types.Curve | types.Absent:
        """A curve of all rows."""
        if self.all_rows is None or self.site.dataset.class_labels:
            return self.not_given
        return curves.of_curve(self.all_rows, curve)

    # ---- subgroups ------------------------------------------------------------------------------------------------

    def subgroups(self, groups: types.SubgroupEvidence) -> types.SubgroupEvidence:
        """The subgroups of the columns that are given; a level that the table names and few have is named nowhere."""
        here = {subgroup.subset: subgroup for subgroup in self.site.dataset.subgroups}
        of_each = {subset: self._of_group(subgroup) for subset, subgroup in here.items()}
        spells = self.site.release.spells
        named = {subset for subset in here if spells(subset) or not isinstance(of_each[subset], types.Withheld)}
        results = [result for result in groups.results if result.subset in named]
        of_subset: dict[types.Subset | None, list[types.Result]] = {subset: [] for subset in named}
        for result in results:
            of_subset[result.subset].append(result)
        given = {subset: self._results(of_each[subset], of_subset[subset]) for subset in named}
        given = {subset: self._against_others(given, subset) for subset in given}
        each = {subset: iter(found) for subset, found in given.items()}
        return types.SubgroupEvidence(
            summaries=tuple(
                replace(summary, size=self._size(summary, of_each[summary.subset]))
                for summary in groups.summaries
                if summary.subset in named
            ),
            results=tuple(next(each[result.subset]) for result in results if result.subset is not None),
            curves=tuple(replace(curve, found=self.not_given) for curve in groups.curves if curve.subset in named),
        )

    def _of_group(self, subgroup: types.Subgroup) -> Protected | types.Withheld:
        """A subgroup with its ranges, or why nothing of it is given."""
        if isinstance(subgroup.rows, types.Absent) or self.all_rows is None or self.site.dataset.class_labels:
            return self.not_given
        if subgroup.column in self.site.said:
            return types.Withheld(facts.Fact("counted_already"), self.below)
        if subgroup.column not in _given_columns(self.site):
            return types.Withheld(facts.Fact("column_of_many_levels", most=MOST_LEVELS), self.below)
        made = self.protected(subgroup.rows, subgroup.subset)
        return made if made.counts.tells_outcome else outcome_withheld(self.below)

    def _size(
        self, subgroup: types.SubgroupSummary, found: Protected | types.Withheld
    ) -> types.SubgroupSize | types.Absent:
        if isinstance(subgroup.size, types.Absent):
            return subgroup.size
        if isinstance(found, types.Withheld):
            return found
        counts = found.counts
        left = None if counts.left is None else counts.left.total
        return types.SubgroupSize(counts.n, counts.events.total, self.not_given, left=left)

    def _results(self, group: Protected | types.Withheld, found: Sequence[types.Result]) -> list[types.Result]:
        if isinstance(group, types.Withheld):
            return [replace(result, found=group) for result in found]
        plain = iter(of_results(group, [result for result in found if "against" not in result.at]))
        return [result if "against" in result.at else next(plain) for result in found]

    def _against_others(
        self, given: Mapping[types.Subset, list[types.Result]], subset: types.Subset
    ) -> list[types.Result]:
        """Differences to the other patients, of the two values that are given, where the column has two levels."""
        others = [each for each in given if each.column == subset.column and each != subset]
        rest = _values(given[others[0]]) if len(others) == 1 else {}
        ours, release = _values(given[subset]), self.site.release
        measures = register.metrics_of(release)

        def apart(result: types.Result) -> types.Estimate | types.Absent:
            key = (result.term, _place(result))
            two_scales = of_two_scales(release, measures[result.term], subset.column)
            return two_scales or minus(ours.get(key), rest.get(key), self.below)

        return [
            result if "against" not in result.at else replace(result, found=apart(result)) for result in given[subset]
        ]


def _values(found: Sequence[types.Result]) -> dict[tuple[str, Place], types.Estimate | types.Absent]:
    return {(result.term, _place(result)): result.found for result in found if "against" not in result.at}


def _place(result: types.Result) -> Place:
    return tuple(sorted((name, value) for name, value in result.at.items() if name != "against"))


def _given_columns(site: offered.Site) -> dict[str, list[types.Subgroup]]:
    """The columns that make few enough subgroups, with these."""
    columns = facts.gathered((subgroup.column, subgroup) for subgroup in site.dataset.subgroups)
    return {
        column: levels for column, levels in columns.items() if column not in site.said and len(levels) <= MOST_LEVELS
    }


def _is_special(dataset: types.Dataset) -> bool:
    return dataset.weights is not None or dataset.split is not None or bool(dataset.imputations)


# ---- everything else ------------------------------------------------------------------------------------------------


def given(complete: types.Evidence, sites: Sequence[offered.Site]) -> types.Evidence:
    """The evidence with its descriptions as they may be given, and without what has no protection.

    `complete` has the results of the sites as `of_site` gives them, and what was made of these.
    """
    below = max((site.dataset.minimum_cell for site in sites), default=0)
    if not below:
        return few.without(complete)
    why = not_given(below)
    known = {dataset.name: dataset for dataset in complete.datasets}
    # The axes of the model's points end at values of patients, and leave with the readers' tables.
    kept = {*known, types.POOLED, *(claim.name for claim in complete.release.declared_performance)} - {
        types.READERS,
        types.READER_STUDY,
    }
    if complete.release.horizon:
        # What follow-up leaves open of each site is no chance, and does not become less with more of them.
        kept -= {types.POOLED}
    wide = {site.dataset.name: site.wide * rows_of_a_person(site.dataset) for site in sites}
    columns = {subgroup.column for site in sites for subgroup in site.dataset.subgroups}
    said = columns.union(*(site.said for site in sites))
    described = [description for description in complete.descriptions if description.dataset in known]
    rows, withheld = descriptions.given(described, known, said, wide)
    made = replace(
        complete,
        results=tuple(result if result.dataset in kept else replace(result, found=why) for result in complete.results),
        subgroups=replace(
            complete.subgroups,
            results=tuple(
                replace(result, found=why) if result.dataset == types.POOLED else result
                for result in complete.subgroups.results
            ),
        ),
        curves=tuple(curve if curve.dataset in kept else replace(curve, found=why) for curve in complete.curves),
        descriptions=rows,
        withheld=withheld,
    )
    return left_over.without_counts(made)


def audited(complete: types.Evidence, looked: Sequence[types.Audited]) -> types.Evidence:
    """The evidence with how much was looked at before it was given, and what is withheld why."""
    if not complete.is_protected:
        return complete
    found = [each.found for each in (*complete.results, *complete.subgroups.results)]
    drawn = [each.found for each in (*complete.curves, *complete.subgroups.curves)]
    causes = Counter(each.reason.code for each in (*found, *drawn) if isinstance(each, types.Withheld))
    disclosure = types.Disclosure(sum(each.cells for each in looked), dict(sorted(causes.items())))
    return replace(complete, disclosure=disclosure, audit=tuple(looked))


TELLING = frozenset(
    (
        *("class_missing", "constant_risk", "empty_subgroup", "fitted_on_these_rows"),
        *("event_at_start", "flagged_alike", "one_class", "other_units"),
    )
)
"""The flags of reading whose sentence, or being there at all, tells a count or a value."""


def flags(raised: Sequence[types.Flag], datasets: Sequence[types.DatasetSummary]) -> tuple[types.Flag, ...]:
    """The flags of reading, those of a number of rows without it."""
    if not any(dataset.minimum_cell for dataset in datasets):
        return tuple(raised)
    return tuple(replace(flag, fact=flag.fact.without_counts) for flag in raised if flag.flag not in TELLING)
