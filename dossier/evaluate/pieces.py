"""The work on one dataset in pieces, each of which one worker does: a chapter, or the subgroups of one column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from dossier.core import over_time, register, types
from dossier.evaluate import imputed, offered, periods, subgroups
from dossier.evaluate.site import ChapterOfSite, SiteEvidence, chapters, joined, of_chapter

Found = ChapterOfSite | types.SubgroupEvidence | tuple[SiteEvidence, types.SubgroupEvidence]
"""What a piece yields: a chapter, or the curves by calendar period, the subgroups of a column, or all of an imputed
dataset."""


@dataclass(frozen=True)
class Piece:
    """A part of the work on one dataset that needs no other part."""

    site: offered.Site
    kind: Literal["chapter", "subgroups", "periods", "imputations"]
    name: str
    """The chapter or the column."""

    @property
    def rows(self) -> int:
        """How much there is to do, as far as it is known beforehand."""
        return max(1, self.site.dataset.rows_read)

    @property
    def says(self) -> str:
        """The piece in words."""
        return f"subgroups by {self.name}" if self.kind == "subgroups" else self.name.replace("_", " ")


def of_site(site: offered.Site) -> tuple[Piece, ...]:
    """The pieces of one dataset, in an order that does not matter to what they yield."""
    days = site.dataset.periods
    by_period = () if days is None or days.unit is None else (Piece(site, "periods", "calendar periods"),)
    if site.dataset.imputations:
        return (Piece(site, "imputations", "imputations"), *by_period)
    of_chapters = [Piece(site, "chapter", chapter) for chapter in chapters(site)]
    return (*of_chapters, *(Piece(site, "subgroups", column) for column in subgroups.columns(site)), *by_period)


def found(piece: Piece) -> Found:
    """What one piece of the work yields."""
    # A new worker may get the subgroups first, and knows of no measure but those that its imports happened to bring.
    register.fill("metrics")
    if piece.kind == "imputations":
        return imputed.of_site(piece.site)
    if piece.kind == "periods":
        return ChapterOfSite({}, {over_time.OVER_TIME: periods.of_site(piece.site)})
    if piece.kind == "subgroups":
        return subgroups.of_column(piece.site, piece.name)
    return of_chapter(piece.site, piece.name)


def together(site: offered.Site, answers: Sequence[Found]) -> tuple[SiteEvidence, types.SubgroupEvidence]:
    """All of one dataset and of its subgroups, from what its pieces have yielded."""
    imputed_site = next((answer for answer in answers if isinstance(answer, tuple)), None)
    of_chapters = [answer for answer in answers if isinstance(answer, ChapterOfSite)]
    whole, groups = imputed_site or (
        joined(site, of_chapters),
        subgroups.side_by_side([answer for answer in answers if isinstance(answer, types.SubgroupEvidence)]),
    )
    by_period = [curve for answer in of_chapters for curve in answer.curves.get(over_time.OVER_TIME, ())]
    if not by_period:
        return whole, groups
    return replace(whole, site=replace(whole.site, curves=(*whole.site.curves, *by_period))), groups
