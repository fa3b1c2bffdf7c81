"""What the model is made of: its formula, its points, and whether they are those of the risks that were tested."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING

from dossier.core import bands, types
from dossier.report.chapters.chapter import chapter
from dossier.report.chapters.sentence import Sentence, estimated
from dossier.typeset.names import axis_name, points_of
from dossier.typeset.numbers import TIED, as_declared, number
from dossier.typeset.reasons import reason_text
from dossier.typeset.tables import Cell, Reasons, Row, Table, worded
from dossier.typeset.words import in_words, listing, named_or_counted, sentence_case
from dossier.words import entries

if TYPE_CHECKING:
    from dossier.core.release import Model, ModelTerm

WORDS: Mapping[str, str] = entries("pages")["updated_formula"]
TRANSFORMED = {"log": "natural logarithm", "sqrt": "square root", "square": "square"}


def finding(evidence: types.Evidence) -> Sentence:
    """How many predictors the model has, which weighs most, and whether the formula is that of the tested risks."""
    model = evidence.release.model
    # The points on each axis with what has them, from the fewest to the most.
    every: dict[str, list[tuple[float, str]]] = {}
    for group in model.groups if model is not None else ():
        for name in _axes(evidence, group):
            marks = sorted(_marks(evidence, name), key=lambda pair: pair[0])
            every |= {name: marks} if marks else {}
    if not every or model is None:
        absent = [each.found for each in evidence.by_curve["points_total"] if isinstance(each.found, types.Absent)]
        why = "".join(f"No nomogram is drawn: {reason_text(found.reason)}. " for found in absent)
        return Sentence("The formula of the model is declared.", f"{why}{_agreement(evidence)}")
    spans: dict[str, float] = {}
    for group in model.groups:
        if points := [mark for name in _axes(evidence, group) for mark, _ in every.get(name, ())]:
            spans[" with ".join(group)] = max(points) - min(points)
    widest = max(spans, key=lambda name: spans[name])
    count = len(model.predictors)
    predictors = "One predictor makes" if count == 1 else f"{sentence_case(in_words(count))} predictors make"
    return Sentence(f"{predictors} the points; {widest} has the widest effect.", _agreement(evidence))


def _axes(evidence: types.Evidence, group: tuple[str, ...]) -> list[str]:
    """The axes of a predictor, or of two whose product stands in the formula, in their order."""
    of_numbers = [
        axis_name(curve.at)
        for curve in evidence.by_curve["points"]
        if {str(curve.at[name]) for name in ("predictor", "with") if name in curve.at} == {*group}
    ]
    return of_numbers or [name for name in (" × ".join(group),) if points_of(evidence, name)]


def _marks(evidence: types.Evidence, name: str) -> list[tuple[float, str]]:
    """What is marked on an axis, in the order of its values; categories from the fewest points to the most."""
    for curve in evidence.by_curve["points"]:
        if axis_name(curve.at) == name and isinstance(curve.found, types.Curve):
            return _marks_of(curve.found, evidence.release.model, str(curve.at["predictor"]))
    return sorted(((level.value, level.level or "") for level in points_of(evidence, name)), key=lambda pair: pair[0])


def _marks_of(curve: types.Curve, model: Model | None, predictor: str) -> list[tuple[float, str]]:
    floor, cap = (None, None) if model is None else model.reach(predictor)
    rows = list(zip(*(curve.columns[name] for name in ("points", "value", "marked")), strict=True))
    found = [(points or 0.0, as_declared(value or 0.0)) for points, value, marked in rows if marked]
    if rows[0][1] == floor:
        found[0] = (found[0][0], f"{found[0][1]} or less")
    if rows[-1][1] == cap:
        found[-1] = (found[-1][0], f"{found[-1][1]} or more")
    return found


def fitted(model: Model) -> tuple[str, ...]:
    """Where an updated formula was fitted, and that it was tested elsewhere only by other patients."""
    if model.fitted is None:
        return ()
    known, number_of = dict(model.fitted), model.fitted.patients
    ends = (number_of,) if isinstance(number_of, int) else (number_of["lo"], number_of["hi"])
    said = {"method": WORDS[model.fitted.method], "patients": " to ".join(f"{end:,}" for end in ends)}
    return (WORDS["fitted"].format(**{**known, **said}),)


def _agreement(evidence: types.Evidence) -> str:
    """Whether the formula gives the tested risks, site by site."""
    model = evidence.release.model
    if model is not None and evidence.release.prediction.from_ == "model":
        return (
            " ".join(fitted(model))
            or "The tested risks were computed from it here: whether it is the model of the paper nobody has tested."
        )
    compared = types.estimated(evidence, "formula_difference")
    if not compared:
        return "At no site can the tested risks be recomputed from it."
    flagged = {flag.dataset for flag in evidence.flags if flag.flag == "model_differs"}
    if off := [site.site for site, _ in compared if site.name in flagged]:
        who = named_or_counted(off, 4)
        return f"The formula does not give the risks that were tested in {who}: it is not the model of this dossier."
    largest = max(found.value for _, found in compared)
    where = f"At {compared[0][0].site}" if len(compared) == 1 else f"At {in_words(len(compared))} sites"
    return f"{where} the formula gives the risks that were tested (largest difference {number(largest, 4)})."


def formula(evidence: types.Evidence) -> Table:
    """The terms as they are declared."""
    model = evidence.release.model
    if model is None:
        raise TypeError("the chapter stands on a declared model")
    level = (("Intercept", model.intercept), ("Baseline survival", model.baseline_survival), ("Centre", model.centre))
    later = ((f"Baseline survival {at.says or at.at}", at.baseline_survival) for at in evidence.release.horizon[1:])
    rows = [
        Row(name, (Cell.word("Constant"), Cell.word(as_declared(value))))
        for name, value in (*level, *later)
        if value is not None
    ]
    rows += [
        Row(term.name, (Cell.word(sentence_case(_enters(term))), Cell.word(_coefficients(term)))) for term in model.term
    ]
    return worded("formula", rows, footnotes=fitted(model), survival=model.baseline_survival)


def _enters(term: ModelTerm) -> str:
    """How the number or the categories of a predictor enter the formula."""
    if term.levels is not None and term.with_ is None:
        return "categories; one that is not named adds 0"
    words = [f"at least {as_declared(term.floor)}"] if term.floor is not None else []
    words += [f"at most {as_declared(term.cap)}"] if term.cap is not None else []
    words += [TRANSFORMED[term.transform]] if term.transform else []
    if term.knots is not None:
        words.append(f"restricted cubic spline, knots at {listing([as_declared(knot) for knot in term.knots])}")
    if term.segments is not None:
        words.append(f"piecewise linear, slope changes at {listing([as_declared(change) for change in term.segments])}")
    of_levels = f"in each category of {term.with_}; one that is not named adds 0"
    if term.with_ is not None:
        words.append(of_levels if term.levels is not None else f"times {term.with_}")
    return ", ".join(words) or "as it is"


def _coefficients(term: ModelTerm) -> str:
    if term.levels is not None:
        return "; ".join(f"{level}:{TIED}{as_declared(value)}" for level, value in term.levels.items())
    if term.segments is not None:
        marks = [as_declared(change) for change in term.segments]
        where = [f"below {marks[0]}", *(f"{low} to {high}" for low, high in pairwise(marks)), f"above {marks[-1]}"]
        slopes = zip(where, term.coefficients or (), strict=True)
        return "; ".join(f"{segment}:{TIED}{as_declared(slope)}" for segment, slope in slopes)
    return "; ".join(as_declared(value) for value in term.coefficients or (term.coefficient or 0.0,))


def agreement(evidence: types.Evidence) -> Table:
    """The tested risks against those of the formula, site by site."""
    reasons = Reasons(evidence)
    flagged = {flag.dataset for flag in evidence.flags if flag.flag == "model_differs"}
    rows, tolerated = [], []
    for site in types.externals(evidence):
        found = types.find(evidence, "formula_difference", site.name)
        if isinstance(found, types.Absent):
            reasons.leave_out(site.site, site.name, found.reason)
            continue
        tolerated.append(found.details.get("tolerated") or bands.SAME_RISK)
        differing = f"{int(found.details.get('differing') or 0):,}"
        rows.append(
            Row(
                site.site,
                (
                    Cell.count(found.n),
                    Cell.count(int(found.details.get("left_out") or 0)),
                    Cell(f"{differing}, flagged", kind="alert") if site.name in flagged else Cell.plain(differing),
                    Cell(number(found.value, 4)),
                ),
            )
        )
    ends = tuple(dict.fromkeys(f"{most:.3g}" for most in (min(tolerated), max(tolerated)))) if tolerated else ()
    return worded("formula-difference", rows, (), reasons.footnotes(), same_risk=" to ".join(ends))


def compared(evidence: types.Evidence) -> bool:
    """Whether any site allows the comparison."""
    return bool(estimated(evidence, "formula_difference"))


CHAPTER = chapter("nomogram", finding, lambda evidence: evidence.release.model is not None)
