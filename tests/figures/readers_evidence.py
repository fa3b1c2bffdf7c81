"""Evidence of raters, readers and severities made by hand from seeded numbers: few and many, alike and apart."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dossier.core import types
from dossier.core.facts import Method
from dossier.core.release import Release
from dossier.metrics import graded_accuracy as accuracy
from dossier.metrics import human_factors, reliability, severity
from tests.figures.evidence import bare
from tests.reasons import because

THRESHOLD = 0.5
TAUS = {"right_80": 0.6, "right_50": 0.8, "right_25": 1.0}
LONG = "University Hospital of Marienbad, ward {:04d}"


@dataclass(frozen=True)
class Kind:
    """One kind of study that every figure must bear."""

    name: str
    raters: int = 13
    readers: int = 13
    groups: tuple[str, ...] = ("radiologist", "resident")
    sites: int = 8
    agree: bool = False
    parallel: bool = False
    long: bool = False
    fine: bool = False
    """Whether confidence is stated on a fine scale."""
    classes: int = 2
    rival: bool = True
    gaps: bool = False
    """Whether what can be missing is missing."""


KINDS = (
    Kind("usual"),
    Kind("one", raters=1, readers=1, groups=(), sites=1, rival=False),
    Kind("two", raters=2, readers=2, groups=("all",), sites=2),
    Kind("forty", raters=40, readers=40, groups=("a", "b", "c", "d", "e", "f"), sites=40, fine=True),
    Kind("agree", raters=5, agree=True, groups=("x", "y")),
    Kind("long", groups=("consultant radiologist of long standing", "first-year resident on a night shift"), long=True),
    Kind("three_classes", classes=3),
    Kind("six_classes", classes=6, sites=3, long=True),
    Kind("no_groups", groups=(), fine=True),
    Kind("gaps", sites=3, gaps=True, rival=False),
)
BY_NAME = {kind.name: kind for kind in KINDS}


def release(kind: Kind) -> Release:
    """A release that declares what the figures ask for."""
    names = [
        f"grade {index} of the long scale of findings" if kind.long else f"G{index}" for index in range(kind.classes)
    ]
    rival = {"rival": "other", "rival_name": "The model that was used until last year and before"} if kind.rival else {}
    return bare(
        outcome={"name": "infection", "column": "y"} | ({"classes": tuple(names)} if kind.classes > 2 else {}),
        prediction={"column": "risk", **rival},
        thresholds={"declared": (THRESHOLD,)},
        dataset=tuple(
            {"name": f"site-{index}", "role": "external", "file": f"{index}.csv"} for index in range(kind.sites)
        ),
    )


def evidence(kind: Kind) -> types.Evidence:
    """The evidence of a kind; the same numbers every time."""
    rng = np.random.default_rng(17)
    datasets: list[types.DatasetSummary] = []
    results: list[types.Result] = []
    curves: list[types.CurveResult] = []
    for index in range(kind.sites):
        name, n = f"site-{index}", int(rng.integers(90, 900))
        title = LONG.format(index) if kind.long else f"Hospital {index + 1}"
        risk = np.round(rng.beta(1.5, 2.5, n), 3)
        outcome: types.Floats = (rng.uniform(size=n) < risk).astype(float)
        datasets.append(types.DatasetSummary(name, "external", title, n, int(outcome.sum()), n, {}, ()))
        gone = kind.gaps and index == 1
        drawn, one_class = _site_curves(kind, rng, name, outcome, risk), because(f"all rows of {name} are of one class")
        curves += [replace(curve, found=types.Absent(one_class)) if gone else curve for curve in drawn]
        results += _site_results(name, n, index == 0, kind)
        if index == 0 and not kind.gaps:
            curves += _rater_curves(kind, rng, name, outcome, risk)
    study = reader_study(kind, rng)
    curves += [
        types.CurveResult(
            "decision_benefit_by_reader", types.READER_STUDY, human_factors.decision_benefit_by_reader(study)
        ),
        types.CurveResult("changed_decisions", types.READER_STUDY, human_factors.changed_decisions(study)),
    ]
    results += study_results(study)
    survey = (("0", 0.2, None if kind.gaps else 0.12, None if kind.gaps else 0.31), ("1", 0.5, None, None))
    curves.append(types.CurveResult("survey_of_priorities", types.POOLED, accuracy.survey_of_priorities((), survey)))
    return types.Evidence(release(kind), tuple(datasets), tuple(results), tuple(curves), (), (), {}, {}, (), {})


def _site_curves(
    kind: Kind, rng: np.random.Generator, name: str, outcome: types.Floats, risk: types.Floats
) -> list[types.CurveResult]:
    weights = ((0.0, 0.6), (0.3, 0.0))
    made: list[tuple[str, types.Curve | types.Absent]] = [
        ("h_accuracy_by_priority", accuracy.h_accuracy_by_priority(outcome, risk)),
        ("accuracy_by_prevalence", accuracy.accuracy_by_prevalence(outcome, risk, THRESHOLD)),
    ]
    if kind.classes == 2:
        made.append(("confusion_matrix", severity.confusion_matrix(outcome, risk, THRESHOLD, weights)))
    else:
        made.append(("confusion_matrix", _matrix(kind.classes, rng)))
    return [types.CurveResult(curve, name, found) for curve, found in made]


def _matrix(k: int, rng: np.random.Generator) -> types.Curve:
    """A confusion matrix of several classes whose errors are the graver the farther they lie apart."""
    pairs = [(number, other) for number in range(k) for other in range(k)]
    counts = [float(rng.integers(0, 20) + 3000 * (first == other)) for first, other in pairs]
    columns = {
        "predicted": tuple(float(number) for number, _ in pairs),
        "true": tuple(float(other) for _, other in pairs),
        "count": tuple(counts),
        "severity": tuple(abs(first - other) / (k - 1) for first, other in pairs),
    }
    return types.Curve(columns, int(sum(counts)), Method("wald"))


def _site_results(name: str, n: int, with_raters: bool, kind: Kind) -> list[types.Result]:
    def one(measure: str, at: types.At, value: float, **details: float) -> types.Result:
        return types.Result(
            measure,
            measure,
            name,
            at,
            types.Estimate(value, value - 0.1, value + 0.1, 0.95, n, Method("wald"), details=details),
        )

    plain: dict[str, float | str] = {"tau": 0.5, "complexity": "constant"}
    found = [
        one("h_accuracy", {"priority": "prevalence", **plain}, 0.7, priority=0.3),
        one("h_accuracy", {"priority": "complement", **plain}, 0.71, priority=0.7),
        one("h_accuracy", {"priority": "net_benefit", **plain}, 0.72, priority=0.4),
        one("h_accuracy", {"priority": "survey", **plain}, 0.68, priority=0.6),
        one("auroc", {}, 0.8),
        one("standardized_net_benefit", {"threshold": THRESHOLD}, 0.3),
        one("h_accuracy_risk", {"threshold": THRESHOLD}, 0.75),
        one("weighted_utility", {"gamma": 1.0, "relevance": "constant", "tau": "cost_benefit"}, 0.4),
    ]
    if not with_raters or kind.gaps:
        return found if with_raters or not kind.gaps else found[:-1]
    found.append(one("h_accuracy", {"priority": "raters", **plain}, 0.69, priority=0.48))
    for rule, tau in TAUS.items():
        found.append(one("h_accuracy", {"priority": 0.5, "tau": rule, "complexity": "constant"}, 0.6, tau=tau))
    for form, cut in {"raters_two_levels": 0.52, "raters_above_mean": 0.44, "raters_top_50%": 0.46}.items():
        found.append(one("h_accuracy", {"priority": 0.5, "tau": 0.5, "complexity": form}, 0.6, cut=cut))
    for source, value in {"confidence": 0.06, "persuasion": -3.0, "automation_bias": 0.5}.items():
        found.append(one("weighted_utility", {"gamma": 1.0, "relevance": "constant", "tau": source}, value))
    return found


def _rater_curves(
    kind: Kind, rng: np.random.Generator, name: str, outcome: types.Floats, risk: types.Floats
) -> list[types.CurveResult]:
    shape = (len(outcome), kind.raters)
    skill = np.linspace(0.6, 0.95, kind.raters)
    right = rng.uniform(size=shape) < (1.0 if kind.agree else skill[None, :])
    labels = np.ones(shape) if kind.agree else np.where(right, outcome[:, None], 1 - outcome[:, None])
    confidence = np.clip(rng.normal(0.5, 0.2, shape) + 0.2 * right, 0, 1)
    confidence = confidence if kind.fine else np.round(confidence * 5) / 5
    complexity = np.round(4 * np.clip(rng.normal(0.45, 0.2, shape) - 0.1 * right, 0, 1)) / 4
    raters = (labels, confidence, complexity)
    found: dict[str, types.Curve | types.Absent] = {
        "raters_one_by_one": reliability.raters_one_by_one(labels, confidence, complexity, outcome),
        "confidence_by_rater": reliability.confidence_by_rater(labels, confidence),
        "rater_agreement": reliability.rater_agreement(labels),
        "rater_accuracy_by_confidence": accuracy.rater_accuracy_by_confidence(labels, confidence, outcome),
        "rater_accuracy_by_complexity": accuracy.rater_accuracy_by_complexity(labels, complexity, outcome),
        "confidence_of_right_answers": accuracy.confidence_of_right_answers(labels, confidence, outcome),
        "complexity_distribution": accuracy.complexity_distribution(outcome, "raters", *raters),
        "h_accuracy_surface": accuracy.h_accuracy_surface(outcome, risk, "raters", *raters),
        "h_accuracy_by_complexity": accuracy.h_accuracy_by_complexity(outcome, risk, "raters", *raters),
    }
    return [types.CurveResult(curve, name, drawn_curve) for curve, drawn_curve in found.items()]


def reader_study(kind: Kind, rng: np.random.Generator) -> types.ReaderStudy:
    """Readers on forty cases, without and with the model; in a study of readers who agree nobody is ever wrong."""
    cases = 40
    reader, case = np.repeat(np.arange(kind.readers), cases), np.tile(np.arange(cases), kind.readers)
    truth = np.tile((np.arange(cases) % 2).astype(float), kind.readers)
    size = kind.readers * cases
    skill = np.repeat(np.linspace(0.6, 0.95, kind.readers), cases)
    unaided = np.where(rng.uniform(size=size) < (1.0 if kind.agree else skill), truth, 1 - truth)
    aided = np.where(rng.uniform(size=size) < (1.0 if kind.agree else 0.9), truth, unaided)
    advice = None if kind.gaps else np.where(rng.uniform(size=size) < 0.8, truth, 1 - truth)
    wrong, without = int(np.sum(aided != truth)), int(np.sum(unaided != truth))
    counts = types.DecisionCounts(wrong, size - wrong, without, size - without)
    group = tuple(kind.groups[index % len(kind.groups)] for index in range(kind.readers)) if kind.groups else ()
    return types.ReaderStudy("paired", counts, reader, case, truth, unaided, aided, advice, group)


def study_results(study: types.ReaderStudy) -> list[types.Result]:
    """The measures of the reader study that figures show."""
    ratio = human_factors.odds_ratio(study, bootstrap=40)
    found = [types.Result("odds_ratio", "odds_ratio", types.READER_STUDY, {}, ratio)]
    for group in ("", *sorted(set(study.group))):
        at = {"group": group} if group else {}
        gain = human_factors.decision_benefit(study, group)
        found.append(types.Result("decision_benefit", "decision_benefit", types.READER_STUDY, at, gain))
    return found
