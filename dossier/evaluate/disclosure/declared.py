"""What a release declares in place of rows, as it may be given: a published AUROC and bare counts count patients."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import replace

from dossier.core.facts import Fact
from dossier.core.release import DeclaredAuroc, DeclaredPerformance, ReadersTables, SurveyShare, survey_shares
from dossier.core.types import POOLED, CountRange, Flag, SealChange, Study
from dossier.evaluate.disclosure import chains, measures


def given(study: Study, wide: int) -> Study:
    """The study with what it declares in place of rows as it may be given, and a flag for each part that is not.

    Of a published AUROC the counts become ranges, the rest is in steps of one person; it stays away where too few have
    either outcome. Bare counts of a reader study stay away: a person has several decisions, and nobody says how many.
    Shares of a survey, the minimum acceptable accuracy and the accuracy of raters are in hundredths and without an
    interval, which would tell how many answered. Groups of raters stay away: a group may be one person.
    """
    release = study.release
    published = tuple(_performance(claim, wide) for claim in release.declared_performance)
    update: dict[str, object] = {"declared_performance": published, "readers": tuple(map(_readers, release.readers))}
    survey = None if release.h_accuracy.survey is None else _survey(release.h_accuracy.survey)
    # Upwards, so that nothing reaches the minimum that would not reach the declared one.
    minimum = release.h_accuracy.acceptable
    hundredths = None if minimum is None else math.ceil(minimum.value * 100 - 1e-9) / 100
    bare = {"value": hundredths, "low": None, "high": None, "n": None}
    acceptable = None if minimum is None else minimum.model_copy(update=bare)
    hidden = {name: value for name, value in (("survey", survey), ("acceptable", acceptable)) if value is not None}
    update["h_accuracy"] = release.h_accuracy.model_copy(update=hidden)
    flags = [
        Flag("declared_withheld", POOLED, Fact("declared_auroc_withheld", name=before.name, fewest=measures.FEWEST))
        for before, after in zip(release.declared_performance, published, strict=True)
        if before.auroc is not None and after.auroc is None
    ]
    decided = study.reader_study
    if release.reader_study is not None and release.reader_study.counts is not None:
        update["reader_study"], decided = None, None
        flags.append(Flag("declared_withheld", POOLED, Fact("declared_decisions_withheld")))
    if release.declared_correspondence:
        # It says how many patients the site has.
        update["declared_correspondence"] = ()
        flags.append(Flag("declared_withheld", POOLED, Fact("declared_correspondence_withheld")))
    made = release.model_copy(update={name: value for name, value in update.items() if value != getattr(release, name)})
    # The seal without what was asked of people before and now: that it changed, and not from what to what.
    sealed = None if study.seal is None else replace(study.seal, changes=tuple(map(_change, study.seal.changes)))
    return replace(study, release=made, reader_study=decided, flags=(*study.flags, *flags), seal=sealed)


def _change(change: SealChange) -> SealChange:
    if change.table != "h_accuracy":
        return change
    return replace(change, part=json.dumps(dict.fromkeys(json.loads(change.part)), separators=(",", ":")))


def _performance(claim: DeclaredPerformance, wide: int) -> DeclaredPerformance:
    return claim if claim.auroc is None else claim.model_copy(update={"auroc": _auroc(claim.auroc, wide)})


def _auroc(claim: DeclaredAuroc, wide: int) -> DeclaredAuroc | None:
    """The AUROC in steps of a person, its interval wider by what the steps take, its counts as ranges."""
    events = claim.events if isinstance(claim.events, CountRange) else chains.ranged(claim.events, wide)
    rest = claim.n - claim.events
    others = rest if isinstance(rest, CountRange) else chains.ranged(rest, wide)
    persons = min(int(events), int(others))
    if persons < measures.FEWEST:
        return None
    step = measures.step_of(persons)
    return claim.model_copy(
        update={
            "value": measures.in_steps(claim.value, step),
            "low": max(measures.in_steps(math.floor(claim.low / step) * step, step), 0.0),
            "high": min(measures.in_steps(math.ceil(claim.high / step) * step, step), 1.0),
            "n": events + others,
            "events": events,
        }
    )


def _survey(survey: Mapping[str, float | SurveyShare]) -> dict[str, float]:
    """The shares of answers in hundredths, or in the first digits that leave something of them, never more than all."""
    shares = survey_shares(survey)
    digits = next(digits for digits in range(2, 20) if any(_floor(share, digits) for share in shares.values()))
    return {name: _floor(share, digits) for name, share in shares.items()}


def _floor(share: float, digits: int) -> float:
    whole: int = 10**digits
    return math.floor(share * whole + 1e-9) / whole


def _readers(tables: ReadersTables) -> ReadersTables:
    """The raters' accuracy in hundredths, and no groups: who is alone in one would be named."""
    tables = tables if tables.groups is None else tables.model_copy(update={"groups": None})
    if tables.accuracy is None:
        return tables
    several = isinstance(tables.accuracy, tuple)
    each = tables.accuracy if isinstance(tables.accuracy, tuple) else (tables.accuracy,)
    rounded = tuple(round(accuracy, 2) for accuracy in each)
    return tables.model_copy(update={"accuracy": rounded if several else rounded[0]})
