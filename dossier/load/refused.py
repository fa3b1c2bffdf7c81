"""What release.toml may say but dossier does not do, refused by name: parts not built yet, and what is out of scope."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dossier.errors import Fault
from dossier.load import signatures

LATER = "Take it out of release.toml until a later version of dossier."

SECTIONS = {
    "disclosure": "[disclosure]",
}
KEYS = {
    "release": ("previous",),
}
DATASET_KEYS = ("minimum_cell",)

TIME_TO_EVENT = frozenset(
    {
        "time",
        "times",
        "time_column",
        "event",
        "event_column",
        "events",
        "status",
        "censored",
        "censoring",
        "censor",
        "survival",
        "survival_time",
        "duration",
        "follow_up",
        "followup",
        "horizon_time",
        "time_to_event",
        "start",
        "stop",
        "entry",
        "competing",
        "competing_risk",
    }
)
REFITTING = frozenset(
    {
        "update",
        "updates",
        "updating",
        "updated",
        "refit",
        "refits",
        "refitting",
        "recalibrate",
        "recalibration",
        "recalibrated",
        "retrain",
        "retraining",
        "revision",
        "model_update",
    }
)


def out_of_scope(key: str, where: str) -> Fault | None:
    """The fault of a key that asks for what dossier does not do, or None when the key is merely unknown."""
    name = key.lower()
    if name in TIME_TO_EVENT:
        return Fault(
            f"{key} belongs to a time-to-event outcome, which is out of scope.",
            where,
            "Give the outcome at one horizon as 0 or 1, empty where it is unknown, and say the horizon in words.",
        )
    if name in REFITTING:
        return Fault(
            f"{key} asks to refit or update the model, which is out of scope.",
            where,
            "Validate the model as it is; put the risks of an updated model in a release of their own.",
        )
    return None


def _later(name: str, where: str) -> Fault:
    return Fault(f"{name} is not built yet.", where, LATER)


def _of_section(raw: Mapping[str, object]) -> Iterator[Fault]:
    for section, keys in KEYS.items():
        table = raw.get(section)
        for key in keys:
            if isinstance(table, Mapping) and key in table:
                yield _later(f"[{section}] {key}", f"release.toml, [{section}] {key}")


def _of_dataset(raw: Mapping[str, object]) -> Iterator[Fault]:
    tables = raw.get("dataset")
    for number, table in enumerate(tables if isinstance(tables, tuple) else (), start=1):
        if not isinstance(table, Mapping):
            continue
        for key in DATASET_KEYS:
            if key in table:
                yield _later(f"[[dataset]] {key}", f"release.toml, [[dataset]] {number} ({table.get('name')}), {key}")


def not_built(raw: Mapping[str, object]) -> list[Fault]:
    """One fault for every key of the release whose part is not built yet."""
    sections = [_later(label, f"release.toml, {label}") for section, label in SECTIONS.items() if section in raw]
    return [*sections, *_of_section(raw), *_of_dataset(raw)]


def ending(file: str, where: str) -> Fault | None:
    """The fault of a file whose kind is not read, or None when it is."""
    if signatures.kind(file) is not None:
        return None
    endings = ", ".join(signatures.KINDS[:-1])
    fix = f"Save it as one of {endings} or {signatures.KINDS[-1]}, and name that file."
    return Fault(f"{file} is no kind of table that is read.", where, fix)
