"""What dossier does not do, refused by name."""

from __future__ import annotations

from dossier.core.errors import Fault
from dossier.core.faults.locations import Location

TIME_TO_EVENT = frozenset(
    {
        *("times", "time_column", "event_column", "events", "status", "censoring"),
        *("censor", "survival", "survival_time", "duration", "follow_up", "followup", "horizon_time"),
        *("time_to_event", "start", "stop", "entry", "competing_risk"),
    }
)
REFITTING = frozenset(
    {
        *("update", "updates", "updating", "updated", "refit", "refits", "refitting", "recalibrate"),
        *("recalibration", "recalibrated", "retrain", "retraining", "revision", "model_update"),
    }
)


def out_of_scope(key: str, where: Location) -> Fault | None:
    """The fault of a key that asks for what dossier does not do, or None when the key is merely unknown."""
    name = key.lower()
    if name in TIME_TO_EVENT:
        return Fault("time_to_event_key", where, key=key)
    if name in REFITTING:
        return Fault("refitting_key", where, key=key)
    return None
