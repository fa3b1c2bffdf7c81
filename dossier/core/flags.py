"""Limitations that the run raises by itself, each with its numbers, and the author's answers to them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace

from dossier.core import bands, between_groups, binding, multiplicity, over_time, types
from dossier.core.facts import Count, Fact, Value, gathered
from dossier.core.release import Model, Release, Reply, StopRule
from dossier.core.types import NOT_SELECTED, POOLED, Absent, DatasetSummary, Estimate, Flag, Result, Withheld, class_of

FLAGS = (
    *("few_events", "few_in_subgroup", "subgroup_differs", "few_clusters", "rows_excluded", "rows_selected"),
    *("few_followed", "censoring_by_risk", "stratum_merged", "ties", "slope_over_time", "risks_fall_with_time"),
    *("same_by_two_horizons", "event_at_start"),
    *("no_event", "risks_off", "slope_off", "wrong_order", "never_wrong", "default_better", "flagged_alike"),
    "calibration_drift",
    *("rival_better", "precision_missed", "few_sites", "wide_prediction_interval", "heterogeneity", "prevalence_shift"),
    *("case_mix_shift", "missing_values", "imputed", "missing_predictor", "constant_risk", "certain_risks"),
    *("looks_like_classes", "fitted_on_these_rows", "repeated_patients", "near_copies", "hidden_rows", "totals_row"),
    *("risks_rounded", "read_as_missing", "encoding_guessed", "one_class", "duplicate_rows", "shared_rows"),
    *("same_table", "rival_incomplete", "same_as_rival", "model_differs", "class_missing", "in_no_subgroup"),
    *("empty_subgroup", "constant_predictor", "code_for_missing", "other_units", "other_categories"),
    *("rater_accuracy_assumed", "threshold_without_reason", "no_threshold", "number_not_found", "stop_rule_crossed"),
    *("worse_than_before", "previous_outcome_differs", "model_in_use", "stop_rule_not_evaluable"),
    *("severity_without_source", "dates_missing", "version_differs"),
    *("changed_since_sealed", "criterion_not_dated", "criterion_dated_late", "criterion_not_estimable"),
    *("dataset_withheld", "previous_withheld", "declared_withheld", "answer_without_flag"),
)
"""Every kind of flag, in the order of lists of them; `words/topics.toml` says what each is about."""

WIDE = {"auroc": 0.1, "calibration_slope": 0.4}
"""A prediction interval that is wider is flagged."""

POOLED_MEASURES = ("auroc", "oe_ratio", "calibration_slope")
"""What sites are pooled in, and whose new values are foretold."""

MUCH_OF_THE_VARIANCE = 0.75
"""From this I2 on, most of what differs between sites is not chance."""

TIMES_AS_COMMON = 2.0
"""From this ratio on, an outcome is much more or much less common than in development."""

SPREAD_TOLERATED = (0.8, 1.25)
"""The spread of the linear predictor against development, outside of which case mix has shifted."""

MANY_MISSING = 0.2
"""From this share of missing values on, a predictor is flagged."""

SIZES = ("mss_oe", "mss_slope", "mss_auroc", "mss_snb", "mss_brier")
"""The measures that say how many patients a width of an interval asks for."""


@dataclass(frozen=True)
class Shown:
    """What a rule may look at: the evidence that may be shown, of its results only those of the measures it reads."""

    datasets: Sequence[DatasetSummary]
    results: Sequence[Result] = ()
    descriptions: Sequence[types.DescriptionResult] = ()
    subgroups: Sequence[types.SubgroupSummary] = ()
    of_subgroups: Sequence[Result] = ()
    widths_declared: bool = False

    @classmethod
    def of(cls, found: types.Evidence) -> Shown:
        """All that was found."""
        groups, declared = found.subgroups, found.release.sample.is_declared
        of_groups = (groups.summaries, groups.results)
        return cls(found.datasets, found.by_every_horizon, found.descriptions, *of_groups, declared)

    @property
    def external(self) -> list[DatasetSummary]:
        """The external datasets, in the order of the release."""
        return [dataset for dataset in self.datasets if dataset.role == "external"]


@dataclass(frozen=True)
class Rule:
    """What raises one kind of flag, and the measures whose results it reads: it sees no others."""

    raises: Callable[[Shown], Iterator[Flag]]
    reads: tuple[str, ...] = ()


def raised(shown: Shown) -> tuple[Flag, ...]:
    """Every limitation that the evidence shows, kind by kind, each kind in the order of the sites."""
    of_all, of_groups = (
        gathered((result.measure, result) for result in some) for some in (shown.results, shown.of_subgroups)
    )
    found: list[Flag] = []
    for rule in RULES:
        results, of_subgroups = (
            [each for name in rule.reads for each in some.get(name, ())] for some in (of_all, of_groups)
        )
        found += rule.raises(replace(shown, results=results, of_subgroups=of_subgroups))
    return tuple(found)


def answered(flags: Sequence[Flag], replies: Sequence[Reply]) -> tuple[Flag, ...]:
    """The flags with their answers; an answer without a dataset holds for every dataset; one too many is flagged."""
    own_first = sorted(replies, key=lambda reply: reply.dataset is None)
    said = [next((reply.says for reply in own_first if _answers(reply, flag)), None) for flag in flags]
    given = [replace(flag, reply=reply) for flag, reply in zip(flags, said, strict=True)]
    idle = [reply for reply in replies if not any(_answers(reply, flag) for flag in flags)]
    return (*given, *(_idle(reply) for reply in idle))


def _answers(reply: Reply, flag: Flag) -> bool:
    return reply.flag == flag.flag and reply.dataset in (None, flag.dataset)


def _idle(reply: Reply) -> Flag:
    if reply.dataset is None:
        return Flag.of(POOLED, Fact("answer_without_flag", flag=reply.flag))
    says = Fact("answer_for_dataset_without_flag", flag=reply.flag, answered=reply.dataset)
    return Flag("answer_without_flag", reply.dataset, says)


def _amount(count: int | Withheld, of: str) -> Fact | Count:
    """A count as a value of a fact: one that is protected as its range, or as below the smallest that is printed."""
    if isinstance(count, Withheld):
        return Fact("fewer_than", number=count.below)
    return Fact("from_to", low=count.low, high=count.high) if isinstance(count, types.CountRange) else Count(count, of)


def _of_class(label: str) -> Fact | None:
    """That something is of a class, where the outcome has several."""
    return Fact("of_class", label=label) if label else None


def _by_horizon(at: types.At) -> dict[str, Value]:
    """The horizon that settings name, which is a further one: the first stands without."""
    return {name: value for name, value in at.items() if name == "horizon"}


# ---- one site -------------------------------------------------------------------------------------------------------


def _few_events(shown: Shown) -> Iterator[Flag]:
    """Fewer events or non-events than a calibration curve needs."""
    for dataset in shown.external:
        few = tuple(
            Fact("class_of", number=_amount(count, "event"), label=label)
            for label, count in dataset.class_counts.items()
            if count < bands.FEW_FOR_A_BAND
        )
        if few:
            says = Fact("few_of_classes", site=dataset.site, few=few, wanted=bands.FEW_FOR_A_BAND)
            yield Flag("few_events", dataset.name, says)
        if dataset.events is None:
            continue
        others = dataset.others or 0
        if min(dataset.events, others) < bands.FEW_FOR_A_BAND:
            both = {"events": _amount(dataset.events, "event"), "others": _amount(others, "non-event")}
            yield Flag.of(dataset.name, Fact("few_events", site=dataset.site, **both, wanted=bands.FEW_FOR_A_BAND))


def _few_in_subgroup(shown: Shown) -> Iterator[Flag]:
    """Subgroups with patients, but with too few of one outcome to tell how good the model is for them."""
    for dataset in shown.external:
        few = tuple(
            Fact("rare_in_level", column=subgroup.column, level=subgroup.label, rare=_rare(subgroup.size))
            for subgroup in shown.subgroups
            if subgroup.dataset == dataset.name
            and not isinstance(subgroup.size, Absent)
            and subgroup.size.n
            and subgroup.size.is_few
        )
        if few:
            several = bool(dataset.class_counts)
            values: dict[str, Value] = {"site": dataset.site, "wanted": bands.FEW_FOR_POOLING, "few": few}
            says = Fact("few_of_class_in_subgroup" if several else "few_in_subgroup", **values)
            yield Flag("few_in_subgroup", dataset.name, says)


def _rare(size: types.SubgroupSize) -> tuple[Fact, ...]:
    """The outcomes of which a subgroup has too few."""
    if size.events is None:
        return tuple(
            Fact("rare_class", number=_amount(count, "event"), label=label)
            for label, count in size.class_counts.items()
            if count < bands.FEW_FOR_POOLING
        )
    others = size.others
    events = Fact("rare_events", number=_amount(size.shown, "event"))
    non_events = Fact("rare_non_events", number=_amount(others, "non-event"))
    return tuple(fact for count, fact in ((size.shown, events), (others, non_events)) if count < bands.FEW_FOR_POOLING)


def _few_clusters(shown: Shown) -> Iterator[Flag]:
    """Fewer clusters than an interval by cluster can rest on; how many is not said, as clusters may be patients."""
    for dataset in shown.external:
        if dataset.clusters is not None and dataset.clusters < bands.FEW_CLUSTERS:
            yield Flag.of(dataset.name, Fact("few_clusters", site=dataset.site, wanted=bands.FEW_CLUSTERS))


def _few_followed(shown: Shown) -> Iterator[Flag]:
    """Horizons near the end of follow-up; those after the first are named."""
    for dataset, at, found in _at_sites(shown, "observed_risk", {"horizon"}):
        if (share := found.details.get("followed")) is not None and share < bands.FEWEST_FOLLOWED:
            yield Flag.of(dataset.name, Fact("few_followed", site=dataset.site, share=share, **_by_horizon(at)))


def _leaving(shown: Shown) -> Iterator[Flag]:
    """Patients whose follow-up ended the earlier, or the later, by their risk, and there fifths of the risk that were
    put together; and times so coarse that it matters who comes first at one of them.
    """
    # At each site one looks: of several right ones chance alone would accuse some.
    every = list(_estimates(shown, "censoring_by_risk"))
    adjusted = multiplicity.holm([found.details.get("p_value", 1.0) or 0.0 for _, _, found in every])
    by_risk = set[str]()
    for (dataset, _, found), p_value in zip(every, adjusted, strict=True):
        says = Fact("censoring_by_risk", higher=found.value > 1, **_estimated(dataset, {}, found))
        parted = says if p_value <= multiplicity.OF_DIFFERENCES else _parted(dataset, shown, len(every))
        if parted is not None:
            by_risk.add(dataset.name)
            yield Flag("censoring_by_risk", dataset.name, parted)
    # Of nine in ten tables of 200 patients fifths are put together, which matters where leaving depends on the risk.
    for dataset, _, found in _estimates(shown, "observed_risk"):
        groups, fifths = (found.details.get(name) or 0 for name in ("groups", "fifths"))
        if dataset.name in by_risk and groups < fifths:
            yield Flag.of(dataset.name, Fact("stratum_merged", site=dataset.site, groups=Count(int(groups), "group")))
        other = found.details.get("leaving_first")
        # A share of shared times would be passed by every large table in days, where nothing hangs on it.
        if other is not None and found.se and abs(other - found.value) > found.se / 2:
            yield Flag("ties", dataset.name, Fact("tied_times", site=dataset.site, value=found.value, other=other))


def _slope_over_time(shown: Shown) -> Iterator[Flag]:
    """A slope that changes with time, by its test, or so that those of the follow-up and of the horizon part."""
    every = [each for each in _estimates(shown, "calibration_slope") if "over_follow_up" in each[2].details]
    # The test supposes rows without clusters.
    p_values = [found.details["p_of_change"] if site.clusters is None else 1.0 for site, _, found in every]
    # Both at .01: of right risks, also of eight hospitals, .01 to .02 are accused (250 to 1,000 simulated).
    wider = multiplicity.reach(max(len(every), 1), multiplicity.LEVEL) / multiplicity.reach(1)
    for (site, _, found), p_value in zip(every, multiplicity.holm([p or 0.0 for p in p_values]), strict=True):
        over, bounds = found.details["over_follow_up"] or 0.0, (found.low, found.high)
        low, high = (found.value + wider * ((found.value if end is None else end) - found.value) for end in bounds)
        if p_value <= multiplicity.LEVEL or (found.se and not low <= over <= high):
            yield Flag.of(site.name, Fact("slope_over_time", site=site.site, slope=found.value, over=over))


def _parted(dataset: DatasetSummary, shown: Shown, looks: int) -> Fact | None:
    """What marginal weights move by more than chance does at one of so many sites, the farthest."""
    found = {
        (each.measure, bool(each.at)): each.found
        for each in shown.results
        if each.dataset == dataset.name and each.subset is None and dict(each.at) in ({}, types.MARGINAL)
        if isinstance(each.found, Estimate)
    }
    apart = {
        measure: abs(found[measure, True].value - each.value) / each.se
        for (measure, is_marginal), each in found.items()
        if not is_marginal and each.se and (measure, True) in found
    }
    measure = max(apart, key=lambda name: apart[name], default="")
    if not measure or apart[measure] <= multiplicity.reach(looks) / multiplicity.reach(1):
        return None
    values = {"by_fifths": found[measure, False].value, "marginal": found[measure, True].value}
    # Where leaving has nothing to do with the risk half a standard error, as often proposed, is passed by a sixth to a
    # third of sites, one by at most a twentieth, the 1.39 of eight looks by at most .008 (400 to 1,000 simulated).
    return Fact("weights_part", site=dataset.site, quantity=measure, **values)


def _rows_lost(shown: Shown) -> Iterator[Flag]:
    """Rows that could not be analysed."""
    for dataset in shown.external:
        lacking = {reason: count for reason, count in dataset.excluded.items() if count and reason != NOT_SELECTED}
        # A range from 0 may be nobody.
        if all(isinstance(count, types.CountRange) and not count.low for count in lacking.values()):
            continue
        why = tuple(Fact("excluded_rows", why=reason, rows=_amount(count, "row")) for reason, count in lacking.items())
        lost = _amount(types.sum_known(lacking.values()), "row")
        is_least = any(isinstance(count, Withheld) for count in lacking.values())
        says = Fact("rows_excluded", is_least=is_least, lost=lost, **_rows_read(dataset), site=dataset.site, why=why)
        yield Flag("rows_excluded", dataset.name, says)


def _rows_selected(shown: Shown) -> Iterator[Flag]:
    """Rows that the release itself leaves out."""
    for dataset in shown.external:
        if left_out := dataset.excluded.get(NOT_SELECTED, 0):
            lost = _amount(left_out, "row")
            yield Flag.of(dataset.name, Fact("rows_selected", site=dataset.site, left_out=lost, **_rows_read(dataset)))


def _rows_read(dataset: DatasetSummary) -> dict[str, Value]:
    """How many rows were read, at least those that are analysed where a count of excluded ones is withheld."""
    is_more = isinstance(dataset.rows_read, Withheld)
    read = dataset.n if isinstance(dataset.rows_read, Withheld) else dataset.rows_read
    return {"read": _amount(read, "row"), "is_more": is_more}


def _imputed(shown: Shown) -> Iterator[Flag]:
    """What imputing changed, or that nobody can say."""
    for dataset, label, found in _estimates(shown, "auroc"):
        before, rows = found.details.get("complete_cases"), found.details.get("complete_cases_n")
        if dataset.imputations is None:
            continue
        site: dict[str, Value] = {"site": dataset.site, "imputations": Count(dataset.imputations, "imputation")}
        says = Fact("imputed_without_original", **site)
        if before is not None and rows is not None:
            values: dict[str, Value] = {"value": found.value, "before": before, "rows": Count(int(rows), "row")}
            says = Fact("imputed", **site, of_class=_of_class(label), **values)
        yield Flag("imputed", dataset.name, says)


def _estimates(shown: Shown, measure: str) -> Iterator[tuple[DatasetSummary, str, Estimate]]:
    """A measure at each external site where it was estimated on all rows, class by class where it is taken so."""
    return ((site, class_of(at), found) for site, at, found in _at_sites(shown, measure, {"class"}))


def _at_sites(
    shown: Shown, measure: str, settings: Set[str]
) -> Iterator[tuple[DatasetSummary, Mapping[str, float | str], Estimate]]:
    """The estimates of a measure on all rows of each external site, where nothing but these settings is set."""
    site = {dataset.name: dataset for dataset in shown.external}
    for result in shown.results:
        if (
            result.measure == measure
            and result.dataset in site
            and result.subset is None
            and set(result.at) <= settings
            and result.at.get("class") != types.MACRO
            and isinstance(result.found, Estimate)
        ):
            yield site[result.dataset], result.at, result.found


def _subgroup_differs(shown: Shown) -> Iterator[Flag]:
    """A group of patients that is shown to differ from the others of its own sites, over all of them or at one."""
    for look in between_groups.looks(shown.subgroups, shown.of_subgroups):
        if look.state == "against":
            having = between_groups.sites_with(shown.subgroups, look.column)
            sites = tuple(site.site for site in shown.external if site.name in having)
            where = Fact("over_all_sites") if len(sites) == len(shown.external) else Fact("in_sites", sites=sites)
            if (some := look.rests_on(len(sites))) < len(sites):
                where = Fact("at_some_sites", some=some, among=len(sites))
            yield Flag.of(POOLED, Fact("subgroup_differs", where=where, difference=look.fact))
    called = {site.name: site.site for site in shown.external}
    for look in between_groups.at_single_sites(shown.subgroups, shown.of_subgroups):
        where = Fact("in_sites", sites=(called[look.dataset],))
        yield Flag.of(look.dataset, Fact("subgroup_differs", where=where, difference=look.fact))


def _refuted(shown: Shown) -> frozenset[tuple[object, ...]]:
    """The sites, with the class or the further horizon, whose risks are shown to be wrong in size."""
    ratio, slope, test = (
        {(dataset.name, *at.values()): each for dataset, at, each in _at_sites(shown, measure, OUTCOMES)}
        for measure in CALIBRATION
    )
    gap = Absent(Fact("not_estimated"))
    return frozenset(
        key
        for key in {**ratio, **slope}
        if multiplicity.calibration(ratio.get(key, gap), slope.get(key, gap), test.get(key, gap)) == "against"
    )


CALIBRATION = ("oe_ratio", "calibration_slope", "calibration_test")
"""What the size of risks is judged by."""
OUTCOMES = frozenset({"class", "horizon"})
"""What it is judged of: each class, and the outcome by each horizon."""


def _no_event(shown: Shown) -> Iterator[Flag]:
    """No event at a site where the risks add up to so many that this is no chance."""
    refuted = _refuted(shown)
    for dataset, at, found in _at_sites(shown, "oe_ratio", OUTCOMES):
        expected, is_off = found.details.get("expected"), (dataset.name, *at.values()) in refuted
        if found.events == 0 and found.high is not None and is_off and expected is not None:
            values = {"patients": _amount(dataset.n, "patient"), "expected": expected, "high": found.high}
            says = Fact("no_event_recorded", site=dataset.site, **values, **_by_horizon(at))
            if "class" in at:
                says = Fact("no_event_of_class", site=dataset.site, of_class=_of_class(str(at["class"])), **values)
            yield Flag("no_event", dataset.name, says)


def _risks_off(shown: Shown) -> Iterator[Flag]:
    """Risks whose sum is clearly off at a site that had events."""
    low, high = bands.OE_TOLERATED
    refuted = _refuted(shown)
    for dataset, at, found in _at_sites(shown, "oe_ratio", OUTCOMES):
        if found.value > 0 and (dataset.name, *at.values()) in refuted and not low <= found.value <= high:
            values = {**_estimated(dataset, at, found), "least": low, "most": high}
            says = Fact("risks_of_class_off" if "class" in at else "risks_off", **values)
            yield Flag("risks_off", dataset.name, says)


def _slope_off(shown: Shown) -> Iterator[Flag]:
    """A calibration slope that is clearly off; one wholly below 0 is another matter."""
    low, high = bands.OE_TOLERATED
    refuted = _refuted(shown)
    for dataset, at, found in _at_sites(shown, "calibration_slope", OUTCOMES):
        is_off = (dataset.name, *at.values()) in refuted and not low <= found.value <= high
        is_off = is_off and multiplicity.held(found, 1, 1) == "against"
        if is_off and found.high is not None and found.high >= 0:
            yield Flag.of(dataset.name, Fact("slope_off", **_estimated(dataset, at, found), is_extreme=found.value < 1))


def _wrong_order(shown: Shown) -> Iterator[Flag]:
    """An AUROC whose interval lies below that of chance, and a calibration slope whose interval lies below 0."""
    for measure, bound in (("auroc", 0.5), ("calibration_slope", 0.0)):
        # Whom the risks rank is asked of by the first horizon.
        is_ranking = measure == "auroc"
        for dataset, at, found in _at_sites(shown, measure, {"class"} if is_ranking else OUTCOMES):
            is_below = multiplicity.is_below(found, bound)
            if is_below and (not is_ranking or multiplicity.discrimination(found) == "against"):
                values = {**_estimated(dataset, at, found), "bound": bound}
                says = Fact("ranked_in_wrong_order" if is_ranking else "risks_run_backwards", **values)
                yield Flag("wrong_order", dataset.name, says)


def _estimated(dataset: DatasetSummary, at: types.At, found: Estimate) -> dict[str, Value]:
    """Where something was estimated, of which class or by which further horizon, and with which interval."""
    where: dict[str, Value] = {"site": dataset.site, "of_class": _of_class(str(at.get("class", ""))), **_by_horizon(at)}
    return {**where, "value": found.value, "low": found.low, "high": found.high}


def _never_wrong(shown: Shown) -> Iterator[Flag]:
    """An AUROC of exactly 1 where there are enough of each outcome that chance is no explanation."""
    for dataset, label, found in _estimates(shown, "auroc"):
        events = dataset.class_counts.get(label) if label else dataset.events
        others = dataset.n - events if label and events is not None else dataset.others
        if (
            found.value == 1
            and events is not None
            and others is not None
            and min(events, others) >= bands.FEW_FOR_POOLING
        ):
            both = {"events": _amount(events, "event"), "others": _amount(others, "non-event")}
            says = Fact("never_wrong", site=dataset.site, **both)
            if label:
                says = Fact("never_wrong_of_class", site=dataset.site, label=label, **both)
            yield Flag("never_wrong", dataset.name, says)


def _default_better(shown: Shown) -> Iterator[Flag]:
    """A threshold at which flagging everyone or no one has a higher net benefit than the model: an interval below 0."""
    worse: dict[str, list[Fact]] = {}
    for dataset, at, found in _at_sites(shown, "net_benefit_gain", {"threshold"}):
        if found.high is None or not multiplicity.is_worse(found):
            continue
        by, least, most = (-100 * end for end in (found.value, found.high, found.low or found.value))
        worse.setdefault(dataset.name, []).append(
            Fact(
                "default_at_threshold",
                threshold=float(at["threshold"]),
                flags_everyone=bool(multiplicity.is_below_everyone(found)),
                by=by,
                least=least,
                most=most,
            )
        )
    for dataset in shown.external:
        if dataset.name in worse:
            yield Flag.of(dataset.name, Fact("default_better", site=dataset.site, worse=tuple(worse[dataset.name])))


def _rival_better(shown: Shown) -> Iterator[Flag]:
    """Another model that is shown to be better at a site, after all comparisons."""
    better: dict[str, list[Fact]] = {}
    for result in shown.results:
        found = result.found
        if isinstance(found, Absent) or "p_adjusted" not in found.details:
            continue
        if multiplicity.beside_rival(result.measure, found) == "against":
            by, *ends = (abs(end) for end in (found.value, found.low or 0.0, found.high or 0.0))
            says: dict[str, Value] = {"rival": str(result.at["against"]), "quantity": result.measure}
            says |= {"of_class": _of_class(class_of(result.at)), **_by_horizon(result.at)}
            says |= {"by": by, "least": min(ends), "most": max(ends)}
            better.setdefault(result.dataset, []).append(Fact("rival_better_in", **says))
    for dataset in shown.external:
        if dataset.name in better:
            says = {"site": dataset.site, "better": tuple(better[dataset.name])}
            yield Flag.of(dataset.name, Fact("rival_better", **says))


def _precision_missed(shown: Shown) -> Iterator[Flag]:
    """A sample smaller than the widths of the intervals ask for, those of the release or the usual ones."""
    needed: dict[str, list[Fact]] = {}
    for measure in SIZES:
        for dataset, at, found in _at_sites(shown, measure, {"class", "threshold"}):
            if dataset.n < found.value:
                of_class = _of_class(class_of(at))
                fact = Fact("at_threshold", threshold=float(at["threshold"])) if "threshold" in at else None
                size = Fact("size_needed", quantity=measure, of_class=of_class, at=fact, patients=found.value)
                needed.setdefault(dataset.name, []).append(size)
    for dataset in shown.external:
        if dataset.name in needed:
            says = Fact(
                "precision_missed",
                site=dataset.site,
                patients=_amount(dataset.n, "patient"),
                is_declared=shown.widths_declared,
                needed=tuple(needed[dataset.name]),
            )
            yield Flag("precision_missed", dataset.name, says)


def _model_differs(shown: Shown) -> Iterator[Flag]:
    """A declared formula that does not give the risks that were tested."""
    site = {dataset.name: dataset.site for dataset in shown.external}
    for result in shown.results:
        found = result.found
        if result.measure != "formula_difference" or result.dataset not in site or not isinstance(found, Estimate):
            continue
        differing, left_out = (int(found.details.get(name) or 0) for name in ("differing", "left_out"))
        if _differs(found):
            without = Fact("left_out_of_formula", rows=Count(left_out, "row")) if left_out else None
            says = Fact(
                "model_differs",
                site=site[result.dataset],
                differing=Count(differing, "row"),
                rows=_amount(found.n, "row"),
                tolerated=round(found.details.get("tolerated") or bands.SAME_RISK, 6),
                most=found.value,
                without=without,
            )
            yield Flag("model_differs", result.dataset, says)


def _differs(found: Estimate) -> bool:
    """Whether a declared formula does not give the risks that were tested."""
    differing = int(found.details.get("differing") or 0)
    return differing > bands.FEW_ROWS or differing * 10 > found.n


OF_PREDICTORS = ("missing_predictor", "missing_values", "code_for_missing", "other_units", "other_categories")
"""The kinds of flags that say of a predictor that the risks hang on it."""


def of_used_predictors(raised: Iterable[Flag], model: Model | None, results: Sequence[Result]) -> Iterator[Flag]:
    """The flags without the predictors that a declared formula does not use, where it gives the tested risks.

    There they decide nothing, whatever is wrong with them.
    """
    terms = () if model is None else model.term
    used = {name for term in terms for name in (term.predictor, term.with_)}
    gives = {
        result.dataset
        for result in results
        if result.measure == "formula_difference" and isinstance(result.found, Estimate) and not _differs(result.found)
    }
    for flag in raised:
        if flag.flag not in OF_PREDICTORS or flag.dataset not in gives:
            yield flag
        elif kept := tuple(name for name in flag.columns if name in used):
            # A fact that lists predictors, or what is known of each, without the others.
            values = dict(flag.fact.values)
            for name, value in flag.fact.values:
                if name in ("predictors", "often") and isinstance(value, tuple):
                    names = [each.get("predictor") if isinstance(each, Fact) else each for each in value]
                    values[name] = tuple(each for each, of in zip(value, names, strict=True) if of in kept)
            yield replace(flag, fact=Fact(flag.fact.code, **values), columns=kept)


# ---- against the development data -----------------------------------------------------------------------------------


def _prevalence_shift(shown: Shown) -> Iterator[Flag]:
    """An outcome that is much more or less common than where the model was made, among more than a few."""
    origin = next((dataset for dataset in shown.datasets if dataset.role == "development" and dataset.events), None)
    before = None if origin is None else origin.prevalence
    if before is None:
        return
    for dataset in shown.external:
        here = dataset.prevalence
        if not here or max(dataset.events or 0, dataset.n * before) < bands.FEW_FOR_POOLING:
            continue
        if max(here / before, before / here) > TIMES_AS_COMMON:
            yield Flag.of(dataset.name, Fact("prevalence_shift", here=here, site=dataset.site, before=before))


def _case_mix_shift(shown: Shown) -> Iterator[Flag]:
    """Predicted risks that are spread much wider or narrower than where the model was made."""
    spread = {
        row.dataset: row.described.value
        for row in shown.descriptions
        if row.described.of == "linear_predictor" and row.described.statistic == "sd"
    }
    origin = next((spread.get(dataset.name) for dataset in shown.datasets if dataset.role == "development"), None)
    low, high = SPREAD_TOLERATED
    for dataset in shown.external:
        here = spread.get(dataset.name)
        if origin and here is not None and not low <= here / origin <= high:
            spreads = {"here": here, "before": origin, "is_narrower": here < origin}
            yield Flag.of(dataset.name, Fact("case_mix_shift", site=dataset.site, **spreads))


def _missing_values(shown: Shown) -> Iterator[Flag]:
    """Predictors that are often, but not always, missing."""
    for dataset in shown.external:
        shares = [
            (row.described.variable, row.described.value / row.described.n)
            for row in shown.descriptions
            if row.dataset == dataset.name
            and row.described.statistic == "missing"
            and isinstance(row.described.n, int)
            and row.described.n
        ]
        if often := {name: share for name, share in shares if MANY_MISSING < share < 1}:
            each = tuple(Fact("missing_share", predictor=name, share=share) for name, share in often.items())
            says = Fact("often_missing", site=dataset.site, often=each)
            yield Flag("missing_values", dataset.name, says, columns=tuple(often))


# ---- over the sites -------------------------------------------------------------------------------------------------


def _few_sites(shown: Shown) -> Iterator[Flag]:
    """Too few hospitals to say what a new one would see."""
    if len(shown.external) < bands.FEWEST_FOR_A_NEW_SITE:
        fewest = Count(bands.FEWEST_FOR_A_NEW_SITE, "site", is_limit=True)
        yield Flag.of(POOLED, Fact("few_sites", sites=Count(len(shown.external), "site"), fewest=fewest))


def _elsewhere(shown: Shown) -> Iterator[Flag]:
    """A new hospital that is hard to predict, and sites that differ by more than chance."""
    pooled = {
        result.measure: result.found
        for result in shown.results
        if result.dataset == POOLED and not result.at and not result.subset and isinstance(result.found, Estimate)
    }
    wide, varied = [], []
    for measure in POOLED_MEASURES:
        if measure not in pooled:
            continue
        new, share = types.expected_range(pooled[measure]), pooled[measure].details.get("i2")
        if new is not None and _is_wide(measure, *new):
            wide.append(Fact("expected_range", quantity=measure, low=new[0], high=new[1]))
        if share is not None and share > MUCH_OF_THE_VARIANCE:
            varied.append(Fact("share_of_variance", share=share, quantity=measure))
    if wide:
        yield Flag.of(POOLED, Fact("wide_prediction_interval", wide=tuple(wide)))
    if varied:
        yield Flag.of(POOLED, Fact("heterogeneity", varied=tuple(varied)))


def _is_wide(measure: str, low: float, high: float) -> bool:
    """Whether a prediction interval is longer than what is tolerated; of O/E, as a ratio of its ends."""
    if measure == "oe_ratio":
        return high / low > bands.OE_TOLERATED[1] / bands.OE_TOLERATED[0]
    return high - low > WIDE[measure]


RULES = (
    Rule(_few_events),
    Rule(_few_in_subgroup),
    Rule(_subgroup_differs, between_groups.MEASURES),
    Rule(_few_clusters),
    Rule(_few_followed, ("observed_risk",)),
    Rule(_leaving, ("observed_risk", "censoring_by_risk", "auroc", "oe_ratio", "brier")),
    Rule(_slope_over_time, ("calibration_slope",)),
    Rule(_rows_lost),
    Rule(_rows_selected),
    Rule(_imputed, ("auroc",)),
    Rule(_no_event, CALIBRATION),
    Rule(_risks_off, CALIBRATION),
    Rule(_slope_off, CALIBRATION),
    Rule(_wrong_order, ("auroc", "calibration_slope")),
    Rule(_never_wrong, ("auroc",)),
    Rule(_default_better, ("net_benefit_gain", "ppv", "npv")),
    Rule(_rival_better, tuple(multiplicity.BESIDE_RIVALS)),
    Rule(_precision_missed, SIZES),
    Rule(_model_differs, ("formula_difference",)),
    Rule(_few_sites),
    Rule(_elsewhere, POOLED_MEASURES),
    Rule(_prevalence_shift),
    Rule(_case_mix_shift),
    Rule(_missing_values),
)
"""Every kind of flag that rests on the evidence, in the order in which they are printed."""

MEASURES = frozenset(measure for rule in RULES for measure in rule.reads)
"""The measures whose results any flag rests on: with these alone the same flags are raised as with all."""


# ---- stop rules -----------------------------------------------------------------------------------------------------


def worse_than_before(changes: types.Changes | None, datasets: Sequence[DatasetSummary]) -> tuple[Flag, ...]:
    """Each external dataset, and each group of patients, that is shown to have it worse than in the previous release,
    after all looks.
    """
    sites = {site.name: site.site for site in datasets if site.role == "external"}
    worse: dict[tuple[str, types.Subset | None], int] = {}
    for each in () if changes is None else changes.results:
        is_worse = multiplicity.since_last_release(each.found) == "against"
        if is_worse and (each.dataset in sites or each.subset):
            worse[each.dataset, each.subset] = worse.get((each.dataset, each.subset), 0) + 1
    version, raised = "" if changes is None else changes.previous.version, []
    for (dataset, of), count in worse.items():
        group = None if of is None else Fact("group", label=of.level, column=of.column)
        about: dict[str, Value] = {"site": sites.get(dataset), "group": group, "version": version}
        raised.append(Flag.of(dataset, Fact("worse_than_before", **about, measures=Count(count, "measure"))))
    return tuple(raised)


def previous_outcome_differs(changes: types.Changes | None, release: Release) -> tuple[Flag, ...]:
    """That nothing is compared with the previous release, since its outcome has another name, time or level."""
    then = None if changes is None else changes.previous.other_outcome(release)
    if then is None:
        return ()
    return (
        Flag.of(POOLED, Fact("previous_outcome_differs", before=then.words, now=types.Predicted.by(release).words)),
    )


def of_stop_rules(
    rules: Sequence[StopRule], datasets: Sequence[DatasetSummary], curves: Sequence[types.CurveResult]
) -> tuple[Flag, ...]:
    """Each stop rule that an external dataset crosses, and each that what is shown of none or of one cannot tell of."""
    return tuple(flag for rule in rules for flag in _of_stop_rule(rule, over_time.verdicts((rule,), datasets, curves)))


def of_turns(datasets: Sequence[DatasetSummary], curves: Sequence[types.CurveResult]) -> tuple[Flag, ...]:
    """Each external dataset whose risks are too high in some periods and too low in others."""
    found = [(site, over_time.turn(curves, site.name)) for site in datasets if site.role == "external"]
    return tuple(Flag("calibration_drift", site.name, _turned(site.site, turn)) for site, turn in found if turn)


def _turned(site: str, turn: over_time.Turn) -> Fact:
    high, low = (periods(turn.unit, tuple(period.number for period in each)) for each in (turn.too_high, turn.too_low))
    values = [period.value for period in turn.every]
    least, most = bands.OE_TOLERATED
    of_site: dict[str, Value] = {"site": site, "too_high": high, "too_low": low}
    return Fact("calibration_drift", **of_site, lowest=min(values), highest=max(values), least=least, most=most)


def _of_stop_rule(rule: StopRule, verdicts: Sequence[over_time.Verdict]) -> Iterator[Flag]:
    of_rule: dict[str, Value] = {"quantity": rule.measure, "limits": over_time.limits(rule)}
    if not verdicts:
        yield Flag("stop_rule_not_evaluable", POOLED, Fact("stop_rule_without_dates", **of_rule))
    for verdict in verdicts:
        of_site: dict[str, Value] = {"site": verdict.site.site, **of_rule}
        if verdict.crossing:
            when = periods(verdict.unit, tuple(period.number for period in verdict.crossing))
            among = {"excluding": verdict.excluding, "among": len(verdict.crossing)}
            harmful: dict[str, Value] = {"harmful": verdict.harmful, "whom": verdict.whom} if verdict.harmful else {}
            yield Flag.of(verdict.site.name, Fact("stop_rule_crossed", **of_site, periods=when, **among, **harmful))
        elif verdict.withheld is not None:
            says = Fact("stop_rule_withheld", **of_site, below=verdict.withheld.below)
            yield Flag("stop_rule_not_evaluable", verdict.site.name, says)
        elif verdict.is_open:
            says = Fact("stop_rule_of_few_periods", **of_site, shown=len(verdict.periods), wanted=rule.periods)
            yield Flag("stop_rule_not_evaluable", verdict.site.name, says)


def periods(unit: types.PeriodUnit, numbers: tuple[int, ...]) -> Fact:
    """Calendar periods in a row, under the code of their unit."""
    if unit == "year":
        return Fact("years", numbers=numbers)
    return Fact("months", numbers=numbers) if unit == "month" else Fact("quarters", numbers=numbers)


# ---- the release ----------------------------------------------------------------------------------------------------


def since_sealed(seal: types.Seal | None) -> tuple[Flag, ...]:
    """That something was changed after it had been sealed."""
    if seal is None or not seal.changes:
        return ()
    tables = tuple(dict.fromkeys(change.table for change in seal.changes))
    return (Flag.of(POOLED, Fact("changed_since_sealed", sealed_on=seal.sealed_on.isoformat(), tables=tables)),)


def unsaid(release: Release, datasets: Sequence[DatasetSummary]) -> Iterator[Flag]:
    """What the release leaves unsaid, and what it says that a reader must know."""
    about, thresholds = release.release, release.thresholds
    external = [dataset for dataset in datasets if dataset.role == "external"]
    if not thresholds.declared:
        yield Flag.of(POOLED, Fact("no_threshold"))
    elif thresholds.rationale is None:
        by_horizon = bool(release.horizon)
        yield Flag.of(POOLED, Fact("threshold_without_reason", thresholds=thresholds.declared, by_horizon=by_horizon))
    if release.care.model_in_use:
        yield Flag.of(POOLED, Fact("model_in_use"))
    if release.severity is not None and release.severity.source is None:
        yield Flag.of(POOLED, Fact("severity_without_source"))
    if about.tested_version not in (None, about.version):
        yield Flag.of(POOLED, Fact("version_differs", tested=about.tested_version, released=about.version))
    dateless = tuple(dataset.site for dataset in external if dataset.dates is None and dataset.dates_withheld is None)
    if dateless:
        yield Flag("dates_missing", POOLED, Fact("dates_not_stated", sites=dateless))
    why = [binding.uncounted(release, criterion, datasets) for criterion in release.acceptance]
    undated, late, after = (
        tuple(number for number, found in enumerate(why, start=1) if found == reason)
        for reason in ("undated", "after_dossier", "after_data")
    )
    if undated:
        says = Fact("criterion_not_dated" if len(undated) == 1 else "criteria_not_dated", numbers=undated)
        yield Flag("criterion_not_dated", POOLED, says)
    if late:
        says = Fact("criterion_dated_late" if len(late) == 1 else "criteria_dated_late", numbers=late)
        yield Flag("criterion_dated_late", POOLED, says)
    if after:
        says = Fact("criterion_after_data" if len(after) == 1 else "criteria_after_data", numbers=after)
        yield Flag("criterion_dated_late", POOLED, says)
