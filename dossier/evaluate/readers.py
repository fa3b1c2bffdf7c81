"""What readers tell that belongs to no site: labels of tables that name no dataset, and the decisions of a study."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from dossier.core import facts, register
from dossier.core.types import READER_STUDY, READERS, Absent, CurveResult, DescriptionResult, Result, Study
from dossier.evaluate.disclosure import is_asked
from dossier.evaluate.offered import ask, optional, readers_columns, seed_of, settings

Maker = TypeVar("Maker", register.Metric, register.CurveMaker)

NO_DATASET = Absent(facts.Fact("readers_tables_need_a_dataset"))


def of_labels(study: Study) -> Iterator[Result]:
    """Every measure of the readers' labels; one that needs a dataset as well has that for its reason."""
    for metric, offered in _of_labels(study, register.REGISTER.metrics.values()):
        yield Result(metric.term.name, metric.term.measure, READERS, {}, ask(metric, offered, READERS))


def of_decisions(study: Study, measures: frozenset[str] | None = None) -> Iterator[Result]:
    """Every measure of the reader study, over all readers and by their groups; with `measures`, these of them only.

    Where small counts are protected the groups are not named: that of one reader says who took part, and no number is
    given of any.
    """
    groups = sorted(set(study.reader_study.group)) if study.reader_study and not is_asked(study) else []
    for metric, offered in _of_decisions(study, register.REGISTER.metrics.values()):
        if measures is not None and metric.term.measure not in measures:
            continue
        places: list[dict[str, float | str]] = [{}]
        places += [{"group": group} for group in groups] if "group" in metric.term.at else []
        for at in places:
            found = ask(metric, {"group": "", **offered, **at}, READER_STUDY)
            yield Result(metric.term.name, metric.term.measure, READER_STUDY, at, found)


def curves(study: Study) -> Iterator[CurveResult]:
    """Every curve of the readers' labels, and of the reader study."""
    makers = register.REGISTER.curves.values()
    for name, asked in ((READERS, _of_labels(study, makers)), (READER_STUDY, _of_decisions(study, makers))):
        yield from (CurveResult(maker.name, name, ask(maker, offered, name)) for maker, offered in asked)


def descriptions(study: Study) -> Iterator[DescriptionResult]:
    """Every description of the readers."""
    for maker, offered in _of_labels(study, register.REGISTER.descriptions.values()):
        yield from (DescriptionResult(READERS, row) for row in ask(maker, offered, READERS))


def _of_labels(study: Study, makers: Iterable[Maker]) -> Iterator[tuple[Maker, dict[str, Any]]]:
    """What cannot do without labels, with all that it asks for: of the tables, of the release, or of a dataset."""
    alone = next((reader for reader in study.readers if reader.dataset is None), None)
    if alone is None:
        return
    own = {**readers_columns(alone), **settings(study.release)}
    for maker in makers:
        if "labels" in maker.needs and "labels" not in optional(maker.function):
            offered = {**own, "seed": _seed(study, READERS, maker)}
            yield maker, {need: offered.get(need, NO_DATASET) for need in maker.needs}


def _of_decisions(study: Study, makers: Iterable[Maker]) -> Iterator[tuple[Maker, dict[str, Any]]]:
    """What belongs to no site but to the reader study, with all that it may name."""
    own = {**settings(study.release), "study": study.reader_study or Absent(facts.Fact("no_reader_study"))}
    for maker in makers:
        if not maker.roles:
            yield maker, {**own, "seed": _seed(study, READER_STUDY, maker)}


def _seed(study: Study, name: str, maker: register.Metric | register.CurveMaker) -> int:
    return seed_of(study.release, name, maker.term.chapter if isinstance(maker, register.Metric) else maker.chapter)
