"""What a release promises the next one: its answers to flags, and how the model is to be watched."""

from __future__ import annotations

from collections.abc import Iterator

from dossier.core import types
from dossier.typeset import living_text

OF_CARE = ("monitoring", "review", "stop_rule")
"""The keys of [care] whose words say what is to come."""


def promises(evidence: types.Evidence) -> Iterator[types.Promise]:
    """Each promise in its words, the numbers in them those of this release."""
    for flag in living_text.resolved(evidence).flags:
        if flag.reply is not None:
            yield types.Promise(flag.flag, flag.dataset, flag.reply)
    for name in OF_CARE:
        if says := getattr(evidence.release.care, name):
            yield types.Promise(name, None, says)
