"""An outcome by a horizon: what release.toml says of it, and what stands in its columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from dossier.core.errors import Fault
from dossier.core.faults.locations import Key, listed_table
from dossier.core.release import Horizon, Release
from dossier.core.types import Dataset, FollowUp
from dossier.reading import columns
from dossier.reading.faults import noted

KEYS: Mapping[tuple[str, str], str] = {
    ("prediction", "column"): "risk",
    ("prediction", "from"): "baseline_survival",
    ("prediction", "rival"): "rival",
    **{("thresholds", key): f"thresholds.{key}" for key in ("declared", "range", "rationale")},
}
"""Which key of a [[horizon]] gives what another release says in a key of its own."""


def as_one(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    """release.toml with its first horizon where a release of a known outcome has its risks and thresholds."""
    outcome, horizons = raw.get("outcome"), raw.get("horizon")
    if isinstance(outcome, Mapping) and "event" in outcome and "column" not in outcome:
        raw = {**raw, "outcome": {**outcome, "column": outcome["event"]}}
    if not isinstance(horizons, tuple) or not horizons or not isinstance(horizons[0], Mapping):
        return raw
    first, made = horizons[0], dict(raw)
    model, survival = raw.get("model"), first.get("baseline_survival")
    if isinstance(model, Mapping) and survival is not None and "baseline_survival" not in model:
        made["model"] = {**model, "baseline_survival": survival}
    if isinstance(given := raw.get("prediction", {}), Mapping):
        of_all = {key: value for key, value in given.items() if key not in OF_EACH}
        named = {key: first[own] for key, own in (("column", "risk"), ("rival", "rival")) if own in first}
        if isinstance(first.get("risk"), str):
            made["prediction"] = {**of_all, **named}
        elif "risk" not in first and survival is not None and "scale" not in of_all:
            made["prediction"] = {**of_all, "from": "model", **named}
    if "thresholds" not in raw and isinstance(first.get("thresholds"), Mapping):
        made["thresholds"] = first["thresholds"]
    outcome = made.get("outcome")
    if isinstance(outcome, Mapping) and "horizon" not in outcome and isinstance(first.get("says"), str):
        made["outcome"] = {**outcome, "horizon": first["says"]}
    return made


OF_EACH = frozenset({"column", "columns", "from", "rival", "rivals", "previous"})
"""What [prediction] says of a known outcome, and each horizon of its own; all else there is of every horizon."""


def is_made(location: tuple[str | int, ...], given: Mapping[str, Any]) -> bool:
    """Whether what stands there was made of the first horizon."""
    if "horizon" not in given or location[0] not in ("prediction", "thresholds"):
        return False
    here = given.get(str(location[0]), {})
    return not here or (location[0] == "prediction" and (location[-1] in OF_EACH or location[-1] not in here))


def placed(fault: Fault, raw: Mapping[str, Any]) -> Fault:
    """A fault of what the first horizon says, where release.toml says it."""
    at = fault.at
    key = KEYS.get((at.section or "", at.key or "")) if isinstance(at, Key) else None
    if key is None or "horizon" not in raw or fault.code == "beside_horizon":
        return fault
    return fault.moved(listed_table("horizon", 1).of(key))


def faults(release: Release, raw: Mapping[str, Any]) -> Iterator[Fault]:
    """The faults of a horizon without follow-up, of follow-up without one, and of what is not honoured beside it."""
    horizons, where = release.horizon, listed_table("horizon")
    if release.outcome.time is None:
        if horizons:
            yield Fault("horizon_without_time", where)
        return
    if not horizons and "horizon" not in raw:
        yield Fault("time_without_horizon", Key("outcome", "time"))
    beside = [Key("prediction", key) for key in raw.get("prediction", ()) if key in OF_EACH]
    for at in [*beside, *([Key("thresholds")] if "thresholds" in raw else [])] if horizons else ():
        own = KEYS.get((at.section or "", at.key or ""), "thresholds" if at.section == "thresholds" else None)
        yield Fault("beside_horizon", at, key=f"{at.brackets} {at.key or ''}".strip(), own=own)
    for number, horizon in enumerate(horizons[1:], start=2):
        if horizon.at in [earlier.at for earlier in horizons[: number - 1]]:
            yield Fault("horizon_twice", listed_table("horizon", number).of("at"), at=horizon.at)
        for key in ("range", "rationale", "wish"):
            if getattr(horizon.thresholds, key):
                yield Fault("of_further_horizon", listed_table("horizon", number).of(f"thresholds.{key}"), key=key)
    yield from _of_the_equation(release, raw)
    yield from _refused(release, raw)


def _of_the_equation(release: Release, raw: Mapping[str, Any]) -> Iterator[Fault]:
    """The faults of baseline survivals without a formula, and of one that stands twice."""
    given = [number for number, each in enumerate(release.horizon, start=1) if each.baseline_survival is not None]
    for number in given if "model" not in raw else ():
        if number > 1 or release.prediction.column is not None:
            yield Fault("no_equation_for_risks", listed_table("horizon", number).of("baseline_survival"))
    if release.model is not None and release.model.intercept is not None:
        further = (listed_table("horizon", number).of("baseline_survival") for number in given if number > 1)
        yield from (Fault("model_of_no_level", at) for at in further)
    if 1 in given and "baseline_survival" in raw.get("model", ()):
        yield Fault("baseline_twice", Key("model", "baseline_survival"))


def _refused(release: Release, raw: Mapping[str, Any]) -> Iterator[Fault]:
    """The faults of what is not honoured beside a horizon, and of further ranges of patients who are protected."""
    policy = release.disclosure
    is_protected = policy is not None or any(dataset.minimum_cell for dataset in release.dataset)
    more = [listed_table("horizon", k) for k in range(2, len(release.horizon) + 1) if is_protected]
    more += [Key("disclosure", "ledger")] if policy is not None and policy.ledger is not None else []
    yield from (Fault("more_ranges_by_horizon", at, key=at.key or "a further horizon") for at in more)
    for at in _not_honoured(release, raw):
        yield Fault("not_by_horizon", at, key=f"{at.brackets} {at.key or ''}".strip())


def _not_honoured(release: Release, raw: Mapping[str, Any]) -> Iterator[Key]:
    """What a release says that is not yet known of an outcome by a horizon."""
    sections = ("readers", "reader_study", "update", "severity", "utility", "h_accuracy")
    yield from (Key(section) for section in sections if section in raw)
    yield from (Key("release", key) for key in ("previous", "previous_tables") if getattr(release.release, key))
    yield from (Key("outcome", "classes") for _ in range(release.outcome.classes is not None))
    for number, dataset in enumerate(release.dataset, start=1):
        table = listed_table("dataset", number, dataset.name)
        for key in ("weights", "strata", "imputation", "split", "periods"):
            if getattr(dataset, key):
                yield table.of(key)
        if dataset.role == "internal":
            yield table.of("role")


def beyond(datasets: Iterable[Dataset], declared: Sequence[Horizon]) -> Iterator[Fault]:
    """The faults of horizons to which nobody was followed, in any external dataset; and of competing events where
    counts are protected, whose part in the bounds of a risk no range tells.
    """
    datasets = list(datasets)
    followed = [each.followed for each in datasets if each.role == "external" and each.followed is not None]
    for each in datasets:
        if each.minimum_cell and each.followed is not None and each.followed.competing.any():
            yield Fault("competing_under_policy", Key("outcome", "event"), dataset=each.name)
    longest = max((float(each.time.max()) for each in followed if len(each)), default=0.0)
    for number, horizon in enumerate(declared if followed else (), start=1):
        if longest < horizon.at:
            at = listed_table("horizon", number).of("at")
            yield Fault("horizon_beyond_follow_up", at, at=horizon.at, longest=longest)


def follow_up(table: columns.Settled, release: Release, faults: list[Fault]) -> FollowUp | None:
    """The times and events of a table; None, and faults, where some are missing or none."""
    declared = release.outcome
    time = noted(faults, columns.amounts, table, declared.time or "", "[outcome] time", None)
    event = noted(faults, columns.event, table, declared)
    if time is None or event is None or not release.horizon:
        return None
    return FollowUp(time, event, release.horizon[0].at)
