"""Readers' tables that name no dataset: what the labels tell by themselves, of agreement and of reliability."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from dossier.core.facts import Fact
from dossier.core.register import REGISTER, CurveMaker, Metric
from dossier.core.types import READERS, Absent, Curve, CurveResult, DescriptionResult, Estimate, Result, Study
from dossier.evaluate.offered import (
    ask,
    optional,
    readers_columns,
    refuse_a_bad_curve,
    refuse_what_is_no_number,
    seed_of,
    settings,
)

Maker = TypeVar("Maker", Metric, CurveMaker)

NO_DATASET = Absent(Fact("readers_tables_need_a_dataset"))


def results(study: Study) -> Iterator[Result]:
    """Every measure of the readers' labels; one that needs a dataset as well has that for its reason."""
    for metric, offered in _of_labels(study, REGISTER.metrics.values()):
        found: Estimate | Absent = ask(metric, offered)
        if isinstance(found, Estimate):
            refuse_what_is_no_number(metric.term.name, READERS, found)
        yield Result(metric.term.name, metric.term.measure, READERS, {}, found)


def curves(study: Study) -> Iterator[CurveResult]:
    """Every curve of the readers' labels."""
    for maker, offered in _of_labels(study, REGISTER.curves.values()):
        found: Curve | Absent = ask(maker, offered)
        if isinstance(found, Curve):
            refuse_a_bad_curve(maker.name, READERS, found)
        yield CurveResult(maker.name, READERS, found)


def descriptions(study: Study) -> Iterator[DescriptionResult]:
    """Every description of the readers."""
    for maker, offered in _of_labels(study, REGISTER.descriptions.values()):
        yield from (DescriptionResult(READERS, row) for row in ask(maker, offered))


def _of_labels(study: Study, makers: Iterable[Maker]) -> Iterator[tuple[Maker, dict[str, Any]]]:
    """What cannot do without labels, with all that it asks for: of the tables, of the release, or of a dataset."""
    alone = next((reader for reader in study.readers if reader.dataset is None), None)
    if alone is None:
        return
    own = {**readers_columns(alone), **settings(study.release)}
    for maker in makers:
        if "labels" in maker.needs and "labels" not in optional(maker.function):
            chapter = maker.term.chapter if isinstance(maker, Metric) else maker.chapter
            offered = {**own, "seed": seed_of(study.release, READERS, chapter)}
            yield maker, {need: offered.get(need, NO_DATASET) for need in maker.needs}
