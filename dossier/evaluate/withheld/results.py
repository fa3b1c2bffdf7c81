"""Which results are withheld: those that rest on a small count, and those that would tell one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from dossier.bands import FEW_FOR_POOLING
from dossier.evaluate.classes import metrics_of
from dossier.evaluate.withheld.tables import (
    HALF,
    Policy,
    external_names,
    is_few,
    is_pooled,
    place_of,
    splits_few,
)
from dossier.register import REGISTER, Metric
from dossier.types import (
    POOLED,
    READER_STUDY,
    READERS,
    Absent,
    DatasetSummary,
    Estimate,
    Evidence,
    Result,
    SubgroupSize,
    Subset,
    Withheld,
)

OF_THE_OUTCOME = frozenset(("outcome", "classes"))
"""The columns that make a measure one of the outcome."""

COUNTED = re.compile(r"\b(\d[\d,]*) (?:rows?|risks?|patients?|cases?|events?|non-events?|decisions?|clusters?)\b")
OF_A_CLASS = re.compile(r"(?:[,:] )(\d[\d,]*) of (?!the )")
"""A count of those of a class, in a sentence on classes with too few."""
PART_OF = re.compile(r"\b(\d[\d,]*) of the (\d[\d,]*)\b")


def shown(evidence: Evidence, policy: Policy) -> tuple[Result, ...]:
    """The results of whole datasets, of all sites and of the reader study, as they may be shown."""
    measures = metrics_of(evidence.release)
    sizes = {one.name: one for one in evidence.datasets}
    first = [
        one
        if is_pooled(one) or one.term in REGISTER.syntheses
        else replace(one, found=_found(one, policy, measures, sizes, evidence))
        for one in evidence.results
    ]
    first = _reader_study(first, measures)
    second = [_synthesis(one, first, evidence, policy) for one in first]
    return tuple(_together(one, evidence.results, second, evidence, policy, measures) for one in second)


def shown_of_subgroups(evidence: Evidence, policy: Policy) -> tuple[Result, ...]:
    """The results of subgroups as they may be shown."""
    sizes = {(one.dataset, one.subset): one.size for one in evidence.subgroups.summaries}
    measures = metrics_of(evidence.release)
    each = [
        one
        if is_pooled(one)
        else replace(one, found=_of_subgroup(one, one.subset, policy, measures, sizes.get((one.dataset, one.subset))))
        for one in evidence.subgroups.results
        if one.subset is not None
    ]
    return tuple(_together(one, evidence.subgroups.results, each, evidence, policy, measures) for one in each)


def _found(
    one: Result,
    policy: Policy,
    measures: Mapping[str, Metric],
    sizes: Mapping[str, DatasetSummary],
    evidence: Evidence,
) -> Estimate | Absent:
    metric, dataset = measures.get(one.term), sizes.get(one.dataset)
    below = policy.smallest[one.dataset]
    if metric is None or (dataset is None and one.dataset not in (READERS, READER_STUDY)):
        return one.found
    if dataset is not None and OF_THE_OUTCOME & set(metric.needs):
        place = place_of(one.dataset, None, one.at)
        at = one.at.get("threshold")
        declared = evidence.release.thresholds.declared
        primary = declared[0] if declared and "primary_threshold" in metric.needs else None
        withheld = (
            policy.outcomes.get(one.dataset)
            or policy.threshold(place, at)
            or policy.threshold(place, primary)
            or (policy.halves.get(place) if metric.reveals == "table at one half" else None)
            or (policy.threshold(place, HALF) if metric.reveals == "table at one half" else None)
        )
        if withheld is not None:
            return withheld
    rows = dataset.n if dataset is not None and "threshold" not in one.at else None
    return of_counts(metric, one.found, below, rows)


def of_counts(metric: Metric | None, found: Estimate | Absent, below: int, rows: int | None) -> Estimate | Absent:
    """A result, or why it is withheld for the counts that it states itself."""
    why = Withheld(f"a count below {below} could be told from it", below)
    if isinstance(found, Absent):
        return why if names_few(found.reason, below) else found
    if names_few(f"{found.method}; {found.reason or ''}", below) or is_few(found.n, below):
        return why
    # Rows left to chance tell nothing of any patient; those that were left out before the draw do.
    before_the_draw = found.details.get("external_of") or found.n
    if rows is not None and is_few(rows - before_the_draw, below):
        return Withheld(f"fewer than {below} rows are left out of it", below)
    if metric is None:
        return found
    shares_few = metric.reveals == "count of rows" and splits_few(found.value * found.n, found.n, below)
    return why if shares_few or any(is_few(found.details.get(name) or 0.0, below) for name in metric.counts) else found


def names_few(text: str, below: int) -> bool:
    """Whether a sentence counts patients and the count is small."""
    found = COUNTED.findall(text) + (OF_A_CLASS.findall(text) if "too few to tell" in text else [])
    counts = [int(count.replace(",", "")) for count in found]
    parts = [(int(part.replace(",", "")), int(whole.replace(",", ""))) for part, whole in PART_OF.findall(text)]
    return any(is_few(count, below) for count in counts) or any(splits_few(part, whole, below) for part, whole in parts)


def _of_subgroup(
    one: Result,
    subset: Subset,
    policy: Policy,
    measures: Mapping[str, Metric],
    size: SubgroupSize | Absent | None,
) -> Estimate | Absent:
    withheld = policy.subgroups.get((one.dataset, subset)) or policy.threshold(
        (one.dataset, subset, None), one.at.get("threshold")
    )
    if withheld is not None:
        return withheld
    rows = size.n if isinstance(size, SubgroupSize) and not {"threshold", "against"} & set(one.at) else None
    return of_counts(measures.get(one.term), one.found, policy.smallest[one.dataset], rows)


def _reader_study(results: Sequence[Result], measures: Mapping[str, Metric]) -> list[Result]:
    """All of the reader study is worked out from four counts: where one is small, all of it is withheld."""
    shares = {name for name, metric in measures.items() if metric.reveals == "count of rows"}
    rates = [one.found for one in results if one.dataset == READER_STUDY and one.term in shares]
    withheld = next((found for found in rates if isinstance(found, Withheld)), None)
    if withheld is None:
        return list(results)
    return [replace(one, found=withheld) if one.dataset == READER_STUDY else one for one in results]


def _synthesis(one: Result, known: Iterable[Result], evidence: Evidence, policy: Policy) -> Result:
    """A comparison of sites is withheld with any result that it is made from."""
    if one.term not in REGISTER.syntheses:
        return one
    sites = external_names(evidence) if is_pooled(one) else [one.dataset]
    internal = [dataset.name for dataset in evidence.datasets if dataset.role == "internal"]
    made_from = {str(one.at["measure"])} if "measure" in one.at else {"auroc", "brier", "standardized_net_benefit"}
    declared = evidence.release.thresholds.declared
    for source in known:
        of_these = source.dataset in {*sites, *internal[:1]} and source.measure in {
            *made_from,
            "degree_of_correspondence",
        }
        here = source.at.get("threshold") in (None, *declared[:1])
        if of_these and here and isinstance(source.found, Withheld):
            return replace(one, found=source.found)
    return one


def _together(
    one: Result,
    complete: Sequence[Result],
    shown: Sequence[Result],
    evidence: Evidence,
    policy: Policy,
    measures: Mapping[str, Metric],
) -> Result:
    """What all sites say together, withheld with any of them that it holds."""
    if not is_pooled(one) or isinstance(one.found, Absent):
        return one
    if one.subset is None and "estimator" not in one.at:
        return _pooled(one, complete, shown, evidence, policy)
    hidden = next(filter(None, (_hidden(one, name, policy) for name in external_names(evidence))), None)
    if hidden is not None:
        # It holds the rows of every site: those of one that is withheld could be told from the others.
        return replace(
            one, found=Withheld(f"a site of it is withheld, with a count below {hidden.below}", hidden.below)
        )
    counted = of_counts(measures.get(one.term), one.found, policy.smallest[POOLED], None)
    return (
        _pooled(one, complete, shown, evidence, policy)
        if isinstance(counted, Estimate)
        else replace(one, found=counted)
    )


def _hidden(one: Result, dataset: str, policy: Policy) -> Withheld | None:
    """Why what a dataset has of a result over all sites is withheld, if it is."""
    subgroup = None if one.subset is None else policy.subgroups.get((dataset, one.subset))
    at_threshold = policy.threshold(place_of(dataset, one.subset, one.at), one.at.get("threshold"))
    return policy.outcomes.get(dataset) or subgroup or at_threshold


def _pooled(
    one: Result, complete: Sequence[Result], shown: Sequence[Result], evidence: Evidence, policy: Policy
) -> Result:
    """A pooled result is withheld with any result that was pooled into it."""
    if not is_pooled(one) or one.term in REGISTER.syntheses or isinstance(one.found, Absent):
        return one
    external = set(external_names(evidence))
    for before, after in zip(complete, shown, strict=True):
        same = (before.term, before.subset, dict(before.at)) == (one.term, one.subset, dict(one.at))
        if same and before.dataset in external and isinstance(after.found, Withheld) and was_pooled(before.found):
            why = f"a site of it is withheld, with a count below {after.found.below}"
            return replace(one, found=Withheld(why, after.found.below))
    return one


def was_pooled(found: Estimate | Absent) -> bool:
    """Whether a site's result may have been pooled: sites with few events never are."""
    if isinstance(found, Absent):
        return False
    return found.events is None or min(found.events, found.n - found.events) >= FEW_FOR_POOLING
