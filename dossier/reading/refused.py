"""What dossier does not do, refused by name: what is out of scope, and files of other kinds."""

from __future__ import annotations

from dossier.errors import Fault
from dossier.reading import signatures

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


def ending(file: str, where: str) -> Fault | None:
    """The fault of a file whose kind is not read, or None when it is."""
    if signatures.kind(file) is not None:
        return None
    endings = ", ".join(signatures.KINDS[:-1])
    fix = f"Save it as one of {endings} or {signatures.KINDS[-1]}, and name that file."
    return Fault(f"{file} is no kind of table that is read.", where, fix)
