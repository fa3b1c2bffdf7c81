"""Evidence -> Gallery: every figure, as SVG at its printed size."""

from __future__ import annotations

from dossier.register import fill
from dossier.types import Absent, Evidence, Gallery, Picture
from dossier.verb import makes


def gallery(evidence: Evidence) -> Gallery:
    """Every picture that the evidence allows, and the reason for each that it does not."""
    pictures: dict[str, Picture] = {}
    absent: dict[str, str] = {}
    for name, maker in fill("figures").figures.items():
        drawn: Picture | Absent = maker.function(evidence)
        if isinstance(drawn, Absent):
            absent[name] = drawn.reason
        else:
            pictures[name] = drawn
    return Gallery(evidence, pictures, absent)


makes(gallery)
