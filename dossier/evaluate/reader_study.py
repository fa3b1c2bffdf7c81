"""The reader study: the measures and curves that belong to no site."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dossier.core.facts import Fact
from dossier.core.register import REGISTER
from dossier.core.types import READER_STUDY, Absent, Curve, CurveResult, Estimate, Result, Study
from dossier.evaluate.disclosure import is_asked
from dossier.evaluate.offered import ask, refuse_a_bad_curve, refuse_what_is_no_number, seed_of, settings


def _of_study(study: Study, chapter: str) -> dict[str, Any]:
    """What a measure of the reader study may name."""
    seed = seed_of(study.release, READER_STUDY, chapter)
    missing = Absent(Fact("no_reader_study"))
    return {**settings(study.release), "study": study.reader_study or missing, "seed": seed}


def results(study: Study, measures: frozenset[str] | None = None) -> Iterator[Result]:
    """Every measure that belongs to no site but to the reader study, over all readers and by their groups.

    With `measures`, these of them only. Where small counts are protected the groups are not named: that of one reader
    says who took part, and no number is given of any.
    """
    groups = sorted(set(study.reader_study.group)) if study.reader_study and not is_asked(study) else []
    for metric in (metric for metric in REGISTER.metrics.values() if not metric.roles):
        if measures is not None and metric.term.measure not in measures:
            continue
        places: list[dict[str, float | str]] = [{}]
        places += [{"group": group} for group in groups] if "group" in metric.term.at else []
        for at in places:
            found: Estimate | Absent = ask(metric, {"group": "", **_of_study(study, metric.term.chapter), **at})
            if isinstance(found, Estimate):
                refuse_what_is_no_number(metric.term.name, READER_STUDY, found)
            yield Result(metric.term.name, metric.term.measure, READER_STUDY, at, found)


def curves(study: Study) -> Iterator[CurveResult]:
    """Every curve of the reader study."""
    for maker in (maker for maker in REGISTER.curves.values() if not maker.roles):
        found: Curve | Absent = ask(maker, _of_study(study, maker.chapter))
        if isinstance(found, Curve):
            refuse_a_bad_curve(maker.name, READER_STUDY, found)
        yield CurveResult(maker.name, READER_STUDY, found)
