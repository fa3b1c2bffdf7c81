"""The sources in full, under the short names by which measures cite them: `sources.toml`.

A measure may also cite a source in full: then it needs no entry there.
"""

from __future__ import annotations

from dataclasses import dataclass

from dossier.words import entries


@dataclass(frozen=True)
class Source:
    """A source in full, and its DOI; empty where it has none, or none that was checked."""

    text: str
    doi: str = ""


def source(cited: str) -> Source:
    """The source that a measure cites by a short name, or in full."""
    return Source(**entries("sources").get(cited, {"text": cited}))
