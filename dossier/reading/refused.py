"""What dossier does not do, refused by name."""

from __future__ import annotations

from dossier.core.errors import Fault
from dossier.core.faults.locations import Location

TIME_TO_EVENT = {"times", "time_column", "event_column", "events", "status", "censoring", "censor", "survival"}
TIME_TO_EVENT |= {
    "survival_time",
    "duration",
    "follow_up",
    "followup",
    "horizon_time",
    "time_to_event",
    "start",
    "stop",
}
TIME_TO_EVENT |= {"entry", "competing_risk"}
REFITTING = {"update", "updates", "updating", "updated", "refit", "refits", "refitting", "recalibrate", "recalibration"}
REFITTING |= {"recalibrated", "retrain", "retraining", "revision", "model_update"}
OWN_STYLE = {"css", "style", "styles", "style_sheet", "stylesheet", "theme", "template", "templates", "font", "fonts"}
OWN_STYLE |= {"typeface", "font_family", "font_size", "spacing", "background", "colour", "color"}


def out_of_scope(key: str, where: Location) -> Fault | None:
    """The fault of a key that asks for what dossier does not do, or None when the key is merely unknown."""
    code = {
        **dict.fromkeys(TIME_TO_EVENT, "time_to_event_key"),
        **dict.fromkeys(REFITTING, "refitting_key"),
        **dict.fromkeys(OWN_STYLE, "own_style_key"),
    }.get(key.lower())
    return None if code is None else Fault(code, where, key=key)
