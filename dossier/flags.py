"""Limitations that the run raises by itself, each with its numbers, and the author's answers to them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dossier import between_groups
from dossier.bands import FEW_CLUSTERS, FEW_FOR_A_BAND, FEW_FOR_POOLING, FEW_ROWS, OE_TOLERATED, SAME_RISK
from dossier.types import (
    MACRO,
    NOT_SELECTED,
    POOLED,
    Absent,
    DatasetSummary,
    DescriptionResult,
    Estimate,
    Flag,
    Result,
    Seal,
    Sealed,
    SubgroupEvidence,
    SubgroupSize,
    SubgroupSummary,
    Withheld,
)
from dossier.typeset.names import count_of, lost_rows, rows_read_of
from dossier.typeset.numbers import TIED, expected_range, number, patients_needed, per_cent, threshold
from dossier.typeset.words import counted, date, listing

if TYPE_CHECKING:
    from dossier.release import Release, Reply

FLAGS: Mapping[str, str] = {
    "few_events": "Few patients of one outcome",
    "few_in_subgroup": "Few patients of one outcome in a subgroup",
    "subgroup_differs": "Model that does otherwise for a group of patients",
    "few_clusters": "Few clusters",
    "rows_excluded": "Rows not analysed",
    "rows_selected": "Rows left out by the release",
    "no_event": "No event where events were expected",
    "risks_off": "Risks too low or too high",
    "slope_off": "Risks too extreme or too cautious",
    "wrong_order": "Risks that run the wrong way",
    "never_wrong": "Outcome told without an error",
    "default_better": "Everyone or no one flagged does more good",
    "precision_missed": "Sample smaller than asked for",
    "few_sites": "Few sites",
    "wide_prediction_interval": "New hospitals hard to predict",
    "heterogeneity": "Heterogeneity",
    "prevalence_shift": "Outcome more or less common than in development",
    "case_mix_shift": "Patients more or less alike than in development",
    "missing_values": "Many missing values",
    "imputed": "Values that were imputed",
    "missing_predictor": "Predictor not recorded, or named otherwise",
    "constant_risk": "One risk for all",
    "certain_risks": "Risks of exactly 0 or 1",
    "one_class": "One class only",
    "duplicate_rows": "Equal rows",
    "shared_rows": "Rows shared with development",
    "same_table": "One table under two names",
    "rival_incomplete": "Rival without risks",
    "model_differs": "Coefficients give other risks",
    "class_missing": "Class without patients",
    "in_no_subgroup": "Patients in no subgroup",
    "sampled": "Predictors of a sample of the rows",
    "empty_subgroup": "Subgroup without patients",
    "constant_predictor": "Predictor with one value",
    "code_for_missing": "Value that looks like a code for missing",
    "other_units": "Predictor in other units",
    "other_categories": "Categories in other words",
    "rater_accuracy_assumed": "Raters of unknown accuracy",
    "threshold_without_reason": "Threshold without a reason",
    "no_threshold": "No threshold",
    "dates_missing": "Dates not stated",
    "version_differs": "Another version was tested",
    "changed_since_sealed": "Declarations changed since they were sealed",
    "criterion_not_dated": "Criterion without a date",
    "criterion_not_estimable": "Criterion that cannot be estimated",
    "dataset_withheld": "Dataset too small to be shown",
    "previous_withheld": "Previous release not compared",
    "answer_without_flag": "Answer without a flag",
}
"""What each flag is about, in a few words."""

WIDE = {"auroc": 0.1, "calibration_slope": 0.4}
"""A prediction interval that is wider is flagged."""

POOLED_MEASURES = {"auroc": "AUROC", "oe_ratio": "O/E ratio", "calibration_slope": "calibration slope"}
"""What sites are pooled in, and whose new values are foretold."""

MUCH_OF_THE_VARIANCE = 0.75
"""From this I2 on, most of what differs between sites is not chance."""

TIMES_AS_COMMON = 2.0
"""From this ratio on, an outcome is much more or much less common than in development."""

SPREAD_TOLERATED = (0.8, 1.25)
"""The spread of the linear predictor against development, outside of which case mix has shifted."""

MANY_MISSING = 0.2
"""From this share of missing values on, a predictor is flagged."""

SIZES = {
    "mss_oe": "the observed to expected ratio",
    "mss_slope": "the calibration slope",
    "mss_auroc": "the AUROC",
    "mss_snb": "the standardized net benefit",
    "mss_brier": "the Brier score",
}


@dataclass(frozen=True)
class Shown:
    """What a rule may look at: the evidence that may be shown, of its results only those of the measures it reads."""

    datasets: Sequence[DatasetSummary]
    results: Sequence[Result]
    descriptions: Sequence[DescriptionResult]
    subgroups: Sequence[SubgroupSummary]
    of_subgroups: Sequence[Result]
    widths_declared: bool = False

    @property
    def external(self) -> list[DatasetSummary]:
        """The external datasets, in the order of the release."""
        return [dataset for dataset in self.datasets if dataset.role == "external"]


@dataclass(frozen=True)
class Rule:
    """What raises one kind of flag, and the measures whose results it reads: it sees no others."""

    raises: Callable[[Shown], Iterator[Flag]]
    reads: tuple[str, ...] = ()


def raised(
    datasets: Sequence[DatasetSummary],
    results: Sequence[Result],
    descriptions: Sequence[DescriptionResult],
    subgroups: SubgroupEvidence,
    *,
    widths_declared: bool = False,
) -> tuple[Flag, ...]:
    """Every limitation that the evidence shows, kind by kind, each kind in the order of the sites."""
    of_measure, of_subgroups = _by_measure(results), _by_measure(subgroups.results)
    return tuple(
        flag
        for rule in RULES
        for flag in rule.raises(
            Shown(
                datasets,
                [result for measure in rule.reads for result in of_measure.get(measure, ())],
                descriptions,
                subgroups.summaries,
                [result for measure in rule.reads for result in of_subgroups.get(measure, ())],
                widths_declared,
            )
        )
    )


def _by_measure(results: Sequence[Result]) -> dict[str, list[Result]]:
    found: dict[str, list[Result]] = {}
    for result in results:
        found.setdefault(result.measure, []).append(result)
    return found


def answered(flags: Sequence[Flag], replies: Sequence[Reply]) -> tuple[Flag, ...]:
    """The flags with their answers; an answer without a dataset holds for every dataset; one too many is flagged."""
    given = [replace(flag, reply=_reply(flag, replies)) for flag in flags]
    idle = [one for one in replies if not any(_answers(one, flag) for flag in flags)]
    return (*given, *(_idle(one) for one in idle))


def _reply(flag: Flag, replies: Sequence[Reply]) -> str | None:
    named = (one.says for one in replies if _answers(one, flag) and one.dataset is not None)
    general = (one.says for one in replies if _answers(one, flag))
    return next(itertools.chain(named, general), None)


def _answers(reply: Reply, flag: Flag) -> bool:
    return reply.flag == flag.flag and reply.dataset in (None, flag.dataset)


def _idle(reply: Reply) -> Flag:
    where = "" if reply.dataset is None else f" for {reply.dataset}"
    return Flag(
        "answer_without_flag",
        reply.dataset or POOLED,
        f"the release answers {reply.flag}{where}, which this run did not raise.",
    )


# ---- one site -------------------------------------------------------------------------------------------------------


def _few_events(external: Sequence[DatasetSummary]) -> Iterator[Flag]:
    """Fewer events or non-events than a calibration curve needs."""
    for dataset in external:
        few = {label: count for label, count in dataset.class_counts.items() if count < FEW_FOR_A_BAND}
        if few:
            listed = ", ".join(f"{count} of {label}" for label, count in few.items())
            which = "these classes" if len(few) > 1 else "this class"
            yield Flag(
                "few_events",
                dataset.name,
                f"{dataset.site} has {listed}, and a curve asks for {FEW_FOR_A_BAND} of each class: its calibration "
                f"curve of {which} is imprecise.",
            )
        if dataset.events is None:
            continue
        others = dataset.n - dataset.events
        if min(dataset.events, others) < FEW_FOR_A_BAND:
            yield Flag(
                "few_events",
                dataset.name,
                f"{dataset.site} has {dataset.events} events and {others} non-events, and a curve asks for "
                f"{FEW_FOR_A_BAND} of each: its calibration curve is imprecise.",
            )


def _few_in_subgroup(external: Sequence[DatasetSummary], subgroups: Sequence[SubgroupSummary]) -> Iterator[Flag]:
    """Subgroups with patients, but with too few of one outcome to tell how good the model is for them."""
    for dataset in external:
        few = [
            f"{one.column} {one.label} ({_rare(one.size)})"
            for one in subgroups
            if one.dataset == dataset.name
            and not isinstance(one.size, Absent)
            and one.size.n
            and one.size.rarest < FEW_FOR_POOLING
        ]
        if few:
            of_what = "a class" if dataset.class_counts else "one outcome"
            yield Flag(
                "few_in_subgroup",
                dataset.name,
                f"{dataset.site} has fewer than {FEW_FOR_POOLING} of {of_what}, too few to tell, in {listing(few)}.",
            )


def _rare(size: SubgroupSize) -> str:
    """The outcomes of which a subgroup has too few."""
    if size.events is None:
        return ", ".join(f"{count} {label}" for label, count in size.class_counts.items() if count < FEW_FOR_POOLING)
    of_two = {"event": size.shown, "non-event": size.n - size.shown}
    return ", ".join(counted(count, noun) for noun, count in of_two.items() if count < FEW_FOR_POOLING)


def _few_clusters(external: Sequence[DatasetSummary]) -> Iterator[Flag]:
    """Fewer clusters than an interval by cluster can rest on; how many is not said, as clusters may be patients."""
    for dataset in external:
        if dataset.clusters is not None and dataset.clusters < FEW_CLUSTERS:
            yield Flag(
                "few_clusters",
                dataset.name,
                f"the rows of {dataset.site} come from fewer than {FEW_CLUSTERS} clusters: intervals by cluster are "
                "unsure there.",
            )


def _rows_lost(external: Sequence[DatasetSummary]) -> Iterator[Flag]:
    """Rows that could not be analysed."""
    for dataset in external:
        lacking = {reason: count for reason, count in dataset.excluded.items() if count and reason != NOT_SELECTED}
        lost, least = lost_rows([dataset], NOT_SELECTED)
        if lost or least:
            why = ", ".join(f"{reason}: {_in_figures(count)}" for reason, count in lacking.items())
            yield Flag(
                "rows_excluded",
                dataset.name,
                f"{least}{lost:,} of {rows_read_of(dataset)} rows of {dataset.site} are not analysed ({why}); "
                "who they are may differ from who remains.",
            )


def _rows_selected(external: Sequence[DatasetSummary]) -> Iterator[Flag]:
    """Rows that the release itself leaves out."""
    for dataset in external:
        left_out = dataset.excluded.get(NOT_SELECTED, 0)
        if left_out:
            yield Flag(
                "rows_selected",
                dataset.name,
                f"the release selects rows of {dataset.site} by their values: {_in_figures(left_out)} of "
                f"{rows_read_of(dataset)} are left out, and nothing here is about them.",
            )


def _in_figures(count: int | Withheld) -> str:
    return count_of(count) if isinstance(count, Withheld) else f"{count}"


def _imputed(external: Sequence[DatasetSummary], results: Sequence[Result]) -> Iterator[Flag]:
    """What imputing changed, or that nobody can say."""
    for dataset, label, found in _estimates(external, results, "auroc"):
        before, rows = found.details.get("complete_cases"), found.details.get("complete_cases_n")
        if dataset.imputations is None:
            continue
        what = f"AUROC of class {label}" if label else "AUROC"
        changed = (
            "the rows before imputing are not given, so that nobody can say what it changed"
            if before is None or rows is None
            else f"the {what} is {number(found.value)} over the imputations and {number(before)} in the "
            f"{counted(int(rows), 'complete case')} alone"
        )
        yield Flag(
            "imputed", dataset.name, f"{dataset.site} is analysed in {dataset.imputations} imputations: {changed}."
        )


def _estimates(
    external: Sequence[DatasetSummary], results: Sequence[Result], measure: str
) -> Iterator[tuple[DatasetSummary, str, Estimate]]:
    """A measure at each external site where it was estimated on all rows, class by class where it is taken so."""
    for dataset, at, found in _at_sites(external, results, measure, {"class"}):
        yield dataset, str(at.get("class", "")), found


def _at_sites(
    external: Sequence[DatasetSummary], results: Sequence[Result], measure: str, settings: Set[str]
) -> Iterator[tuple[DatasetSummary, Mapping[str, float | str], Estimate]]:
    """The estimates of a measure on all rows of each external site, where nothing but these settings is set."""
    site = {dataset.name: dataset for dataset in external}
    for result in results:
        if (
            result.measure == measure
            and result.dataset in site
            and result.subset is None
            and set(result.at) <= settings
            and result.at.get("class") != MACRO
            and isinstance(result.found, Estimate)
        ):
            yield site[result.dataset], result.at, result.found


def _subgroup_differs(summaries: Sequence[SubgroupSummary], results: Sequence[Result]) -> Iterator[Flag]:
    """A group of patients over all sites whose AUROC or O/E differs from that of the others, its interval without 0."""
    for one in between_groups.over_all_sites(summaries, results):
        yield Flag("subgroup_differs", POOLED, f"over all sites {one.says}.")


def _no_event(external: Sequence[DatasetSummary], results: Sequence[Result]) -> Iterator[Flag]:
    """No event at a site where the risks add up to so many that this is no chance."""
    for dataset, label, found in _estimates(external, results, "oe_ratio"):
        expected = found.details.get("expected")
        if found.events == 0 and found.high is not None and found.high < 1 and expected is not None:
            which = f"is of class {label}" if label else "had the outcome"
            yield Flag(
                "no_event",
                dataset.name,
                f"at {dataset.site} none of {counted(dataset.n, 'patient')} {which}, and the risks add up to "
                f"{number(expected, 0)} (O/E 0, interval up to {number(found.high)}): it may not have been recorded "
                "there, or the risks are far too high.",
            )


def _risks_off(external: Sequence[DatasetSummary], results: Sequence[Result]) -> Iterator[Flag]:
    """Risks whose sum is clearly off at a site that had events."""
    low, high = OE_TOLERATED
    for dataset, label, found in _estimates(external, results, "oe_ratio"):
        what = f"patients of class {label}" if label else "events"
        bounded = found.value > 0 and found.low is not None and found.high is not None
        if bounded and ((found.low or 0) > high or (found.high or 0) < low):
            yield Flag(
                "risks_off",
                dataset.name,
                f"at {dataset.site} there were {number(found.value)} times as many {what} as the risks add "
                f"up to ({number(found.low or 0)} to {number(found.high or 0)}), outside {low:g} to {high:g}.",
            )


def _slope_off(external: Sequence[DatasetSummary], results: Sequence[Result]) -> Iterator[Flag]:
    """A calibration slope whose interval does not hold 1; one wholly below 0 is another matter."""
    for dataset, label, found in _estimates(external, results, "calibration_slope"):
        if found.low is not None and found.high is not None and found.high >= 0 and not found.low <= 1 <= found.high:
            word = "too extreme" if found.value < 1 else "too cautious"
            what = f"calibration slope of class {label}" if label else "calibration slope"
            estimated = _estimated(what, dataset.site, found.value, found.low, found.high)
            yield Flag("slope_off", dataset.name, f"{estimated}: the risks are {word} there.")


def _wrong_order(external: Sequence[DatasetSummary], results: Sequence[Result]) -> Iterator[Flag]:
    """An AUROC whose interval lies below that of chance, and a calibration slope whose interval lies below 0."""
    told = {
        "auroc": (
            0.5,
            "AUROC",
            "the risks rank patients in the wrong order; the outcome or the risk may be coded the wrong way round.",
        ),
        "calibration_slope": (0.0, "calibration slope", "the risks run the wrong way there."),
    }
    for measure, (bound, name, meaning) in told.items():
        for dataset, label, found in _estimates(external, results, measure):
            if found.low is not None and found.high is not None and found.high < bound:
                what = f"{name} of class {label}" if label else name
                estimated = _estimated(what, dataset.site, found.value, found.low, found.high)
                yield Flag("wrong_order", dataset.name, f"{estimated}, below {bound:g}: {meaning}")


def _estimated(what: str, site: str, value: float, low: float, high: float) -> str:
    return f"the {what} at {site} is {number(value)} ({number(low)} to {number(high)})"


def _never_wrong(external: Sequence[DatasetSummary], results: Sequence[Result]) -> Iterator[Flag]:
    """An AUROC of exactly 1 where there are enough of each outcome that chance is no explanation."""
    for dataset, label, found in _estimates(external, results, "auroc"):
        events = dataset.class_counts.get(label) if label else dataset.events
        if found.value == 1 and events is not None and min(events, dataset.n - events) >= FEW_FOR_POOLING:
            which = f"class {label}" if label else "the outcome"
            yield Flag(
                "never_wrong",
                dataset.name,
                f"at {dataset.site} the AUROC is exactly 1: all {events:,} patients with {which} have a higher risk "
                f"than all {dataset.n - events:,} without; a predictor may hold the outcome itself.",
            )


def _default_better(external: Sequence[DatasetSummary], results: Sequence[Result]) -> Iterator[Flag]:
    """A threshold at which flagging everyone or no one has a higher net benefit than the model, 0 outside its CI."""
    worse: dict[str, list[str]] = {}
    for dataset, at, found in _at_sites(external, results, "net_benefit_gain", {"threshold"}):
        if found.high is None or found.high >= 0:
            continue
        whom = "everyone" if (found.details.get("default") or 0) > 0 else "no one"
        by, least, most = (number(-100 * end, 1) for end in (found.value, found.high, found.low or found.value))
        worse.setdefault(dataset.name, []).append(
            f"at {threshold(float(at['threshold']))} that of flagging {whom}, by {by} per 100 patients ({least} to "
            f"{most})"
        )
    for dataset in external:
        if dataset.name in worse:
            yield Flag(
                "default_better",
                dataset.name,
                f"at {dataset.site} another net benefit is higher than the model's: {listing(worse[dataset.name])}.",
            )


def _precision_missed(
    external: Sequence[DatasetSummary], results: Sequence[Result], widths_declared: bool
) -> Iterator[Flag]:
    """A sample smaller than the widths of the intervals ask for, those of the release or the usual ones."""
    needed: dict[str, list[str]] = {}
    for measure, label in SIZES.items():
        for dataset, at, found in _at_sites(external, results, measure, {"class", "threshold"}):
            if dataset.n < found.value:
                what = f"{label} of class {at['class']}" if "class" in at else label
                what += f" at a threshold of{TIED}{threshold(float(at['threshold']))}" if "threshold" in at else ""
                needed.setdefault(dataset.name, []).append(f"{what} ({patients_needed(found.value)})")
    whose = "the declared widths ask for" if widths_declared else "the usual widths of intervals ask for"
    for dataset in external:
        if dataset.name in needed:
            yield Flag(
                "precision_missed",
                dataset.name,
                f"{dataset.site} has {counted(dataset.n, 'patient')}, fewer than {whose}: "
                f"{listing(needed[dataset.name])}.",
            )


def _model_differs(external: Sequence[DatasetSummary], results: Sequence[Result]) -> Iterator[Flag]:
    """A declared formula that does not give the risks that were tested."""
    site = {dataset.name: dataset.site for dataset in external}
    for result in results:
        found = result.found
        if result.measure != "formula_difference" or result.dataset not in site or not isinstance(found, Estimate):
            continue
        differing, left_out = (int(found.details.get(name) or 0) for name in ("differing", "left_out"))
        if differing > FEW_ROWS or differing * 10 > found.n:
            without = f"; {left_out:,} with a missing predictor left out" if left_out else ""
            yield Flag(
                "model_differs",
                result.dataset,
                f"at {site[result.dataset]} the formula of [model] gives another risk than the table in {differing:,} "
                f"of {found.n:,} rows, by more than {SAME_RISK:g} and by up to {number(found.value, 4)}{without}: the "
                "nomogram is not the model that was tested.",
            )


# ---- against the development data -----------------------------------------------------------------------------------


def _prevalence_shift(datasets: Sequence[DatasetSummary], external: Sequence[DatasetSummary]) -> Iterator[Flag]:
    """An outcome that is much more or less common than where the model was made."""
    origin = next((dataset for dataset in datasets if dataset.role == "development" and dataset.events), None)
    if origin is None or origin.events is None:
        return
    before = origin.events / origin.n
    for dataset in external:
        if not dataset.events:
            continue
        here = dataset.events / dataset.n
        if max(here / before, before / here) > TIMES_AS_COMMON:
            yield Flag(
                "prevalence_shift",
                dataset.name,
                f"the outcome happened in {per_cent(here)} at {dataset.site} and in {per_cent(before)} of the "
                "development data.",
            )


def _case_mix_shift(
    datasets: Sequence[DatasetSummary], external: Sequence[DatasetSummary], descriptions: Sequence[DescriptionResult]
) -> Iterator[Flag]:
    """Predicted risks that are spread much wider or narrower than where the model was made."""
    spread = {
        row.dataset: row.described.value
        for row in descriptions
        if row.described.variable == "linear predictor" and row.described.statistic == "sd"
    }
    origin = next((spread.get(dataset.name) for dataset in datasets if dataset.role == "development"), None)
    low, high = SPREAD_TOLERATED
    for dataset in external:
        here = spread.get(dataset.name)
        if origin and here is not None and not low <= here / origin <= high:
            word = "narrower" if here < origin else "wider"
            yield Flag(
                "case_mix_shift",
                dataset.name,
                f"the linear predictor has a standard deviation of {number(here)} at {dataset.site} and of "
                f"{number(origin)} in development: the case mix is {word}.",
            )


def _missing_values(external: Sequence[DatasetSummary], descriptions: Sequence[DescriptionResult]) -> Iterator[Flag]:
    """Predictors that are often, but not always, missing."""
    for dataset in external:
        shares = [
            (row.described.variable, row.described.value / row.described.n)
            for row in descriptions
            if row.dataset == dataset.name
            and row.described.statistic == "missing"
            and isinstance(row.described.n, int)
            and row.described.n
        ]
        often = {name: f"{name} ({per_cent(share)})" for name, share in shares if MANY_MISSING < share < 1}
        if often:
            yield Flag(
                "missing_values",
                dataset.name,
                f"often missing at {dataset.site}: {listing(list(often.values()))}.",
                columns=tuple(often),
            )


# ---- over the sites -------------------------------------------------------------------------------------------------


def _few_sites(external: Sequence[DatasetSummary]) -> Iterator[Flag]:
    """Too few hospitals to say what a new one would see."""
    if len(external) < 3:
        yield Flag(
            "few_sites",
            POOLED,
            f"{len(external)} external {'site' if len(external) == 1 else 'sites'}: what to expect in a new hospital "
            "cannot be estimated from fewer than three.",
        )


def _elsewhere(results: Sequence[Result]) -> Iterator[Flag]:
    """A new hospital that is hard to predict, and sites that differ by more than chance."""
    pooled = {
        one.measure: one.found
        for one in results
        if one.dataset == POOLED and not one.at and not one.subset and isinstance(one.found, Estimate)
    }
    wide, varied = [], []
    for measure, name in POOLED_MEASURES.items():
        if measure not in pooled:
            continue
        new, share = expected_range(pooled[measure]), pooled[measure].details.get("i2")
        if new is not None and _is_wide(measure, *new):
            wide.append(f"{name} {number(new[0])} to {number(new[1])}")
        if share is not None and share > MUCH_OF_THE_VARIANCE:
            varied.append(f"{per_cent(share)} in the {name}")
    if wide:
        says = f"the expected range in a new hospital like these is wide: {listing(wide)}."
        yield Flag("wide_prediction_interval", POOLED, says)
    if varied:
        yield Flag(
            "heterogeneity",
            POOLED,
            f"sampling error does not explain {listing(varied)} of the variance between the sites (I2).",
        )


def _is_wide(measure: str, low: float, high: float) -> bool:
    """Whether a prediction interval is longer than what is tolerated; of O/E, as a ratio of its ends."""
    if measure == "oe_ratio":
        return high / low > OE_TOLERATED[1] / OE_TOLERATED[0]
    return high - low > WIDE[measure]


RULES = (
    Rule(lambda shown: _few_events(shown.external)),
    Rule(lambda shown: _few_in_subgroup(shown.external, shown.subgroups)),
    Rule(lambda shown: _subgroup_differs(shown.subgroups, shown.of_subgroups), between_groups.MEASURES),
    Rule(lambda shown: _few_clusters(shown.external)),
    Rule(lambda shown: _rows_lost(shown.external)),
    Rule(lambda shown: _rows_selected(shown.external)),
    Rule(lambda shown: _imputed(shown.external, shown.results), ("auroc",)),
    Rule(lambda shown: _no_event(shown.external, shown.results), ("oe_ratio",)),
    Rule(lambda shown: _risks_off(shown.external, shown.results), ("oe_ratio",)),
    Rule(lambda shown: _slope_off(shown.external, shown.results), ("calibration_slope",)),
    Rule(lambda shown: _wrong_order(shown.external, shown.results), ("auroc", "calibration_slope")),
    Rule(lambda shown: _never_wrong(shown.external, shown.results), ("auroc",)),
    Rule(lambda shown: _default_better(shown.external, shown.results), ("net_benefit_gain",)),
    Rule(lambda shown: _precision_missed(shown.external, shown.results, shown.widths_declared), tuple(SIZES)),
    Rule(lambda shown: _model_differs(shown.external, shown.results), ("formula_difference",)),
    Rule(lambda shown: _few_sites(shown.external)),
    Rule(lambda shown: _elsewhere(shown.results), tuple(POOLED_MEASURES)),
    Rule(lambda shown: _prevalence_shift(shown.datasets, shown.external)),
    Rule(lambda shown: _case_mix_shift(shown.datasets, shown.external, shown.descriptions)),
    Rule(lambda shown: _missing_values(shown.external, shown.descriptions)),
)
"""Every kind of flag that rests on the evidence, in the order in which they are printed."""

MEASURES = frozenset(measure for rule in RULES for measure in rule.reads)
"""The measures whose results any flag rests on: with these alone the same flags are raised as with all."""


# ---- the release ----------------------------------------------------------------------------------------------------


SEALED: Mapping[Sealed, str] = {
    "release": "what is tested, or the level",
    "outcome": "the outcome",
    "thresholds": "the thresholds",
    "acceptance": "the criteria",
    "subgroup": "the subgroups",
    "severity": "how grave each error is",
    "utility": "the settings of weighted utility",
    "intended_use": "the intended use",
}
"""What each table that is sealed holds, in words."""


def changed(seal: Seal) -> str:
    """What was changed since it was sealed, in words; empty where nothing was."""
    tables = {one.table for one in seal.changes}
    return listing([said for table, said in SEALED.items() if table in tables])


def since_sealed(seal: Seal | None) -> tuple[Flag, ...]:
    """That something was changed after it had been sealed."""
    if seal is None or not seal.changes:
        return ()
    says = f"changed after sealing on {date(seal.sealed_on)}: {changed(seal)}; results.json has each change."
    return (Flag("changed_since_sealed", POOLED, says),)


def unsaid(release: Release, datasets: Sequence[DatasetSummary]) -> tuple[Flag, ...]:
    """What the release leaves unsaid, and what it says that a reader must know."""
    return tuple(_unsaid(release, [dataset for dataset in datasets if dataset.role == "external"]))


def _unsaid(release: Release, external: Sequence[DatasetSummary]) -> Iterator[Flag]:
    about, thresholds = release.release, release.thresholds
    if not thresholds.declared:
        yield Flag("no_threshold", POOLED, "no threshold is declared: nothing is said about acting on the risks.")
    elif thresholds.rationale is None:
        at = listing([threshold(one) for one in thresholds.declared])
        yield Flag(
            "threshold_without_reason",
            POOLED,
            f"why {at} was declared, and that it was before the data were seen, is not in [thresholds] rationale.",
        )
    if about.tested_version not in (None, about.version):
        yield Flag(
            "version_differs",
            POOLED,
            f"version {about.tested_version} was tested, and version {about.version} is released.",
        )
    dateless = [dataset.site for dataset in external if dataset.dates is None]
    if dateless:
        yield Flag("dates_missing", POOLED, f"when the patients were seen is not stated for {listing(dateless)}.")
    undated = [number(place, 0) for place, one in enumerate(release.acceptance, start=1) if one.declared_on is None]
    if undated:
        what, verb = ("acceptance criterion", "was") if len(undated) == 1 else ("acceptance criteria", "were")
        yield Flag(
            "criterion_not_dated",
            POOLED,
            f"when {what} {listing(undated)} {verb} declared is not reported.",
        )
