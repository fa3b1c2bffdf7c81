"""Evidence -> Gallery: every figure, as SVG at its printed size."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import joblib

from dossier.register import fill
from dossier.types import Absent, Evidence, Gallery, Picture
from dossier.verb import makes


def gallery(evidence: Evidence, jobs: int = 1) -> Gallery:
    """Every picture that the evidence allows, and the reason for each that it does not; `jobs` draw side by side."""
    names = list(fill("figures").figures)
    # Dealt out like cards: neighbours are alike, and so are the heavy ones.
    hands = [names[place::jobs] for place in range(min(jobs, len(names)))]
    drawn: dict[str, Picture | Absent] = {}
    for part in joblib.Parallel(n_jobs=len(hands))(joblib.delayed(_drawn)(hand, evidence) for hand in hands):
        drawn |= part
    pictures = {name: one for name in names if isinstance(one := drawn[name], Picture)}
    absent = {name: one.reason for name in names if isinstance(one := drawn[name], Absent)}
    return Gallery(evidence, pictures, absent)


def _drawn(names: Sequence[str], evidence: Evidence) -> dict[str, Picture | Absent]:
    makers = fill("figures").figures
    with _without_collector():
        return {name: makers[name].function(evidence) for name in names}


@contextmanager
def _without_collector() -> Iterator[None]:
    """Nobody looks for cycles meanwhile: the artists are many and short-lived, and the search takes a seventh of it."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


makes(gallery)
