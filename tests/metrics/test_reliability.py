"""Agreement of raters against R, against methods.md, and against loops over cases and pairs."""

from __future__ import annotations

import itertools
import json
import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import t as student

from dossier.core.types import Absent, Curve, Estimate, Floats
from dossier.metrics.intervals import wilson
from dossier.metrics.reliability import (
    _measured_anew,
    actual_accuracy,
    actual_accuracy_bounds,
    cohen_kappa,
    confidence_by_complexity,
    confidence_by_rater,
    confidence_complexity_correlation,
    fleiss_kappa,
    krippendorff_alpha,
    observed_agreement,
    rater_accuracy_summary,
    rater_agreement,
    raters_by_group,
    raters_one_by_one,
    reliability_for,
    reliability_nomogram,
    required_reliability,
    weighted_concordance,
)
from dossier.typeset.methods import method_text
from dossier.typeset.reasons import reason_text
from tests.estimated import absent, curved, estimated, interval_of, present
from tests.reasons import Said
from tests.reference.tables import GOLDEN, RATERS, needs_raters

AGREEMENTS = (observed_agreement, fleiss_kappa, krippendorff_alpha, cohen_kappa)
NAN = math.nan


def _value(found: Estimate | Absent) -> float:
    assert isinstance(found, Estimate), found
    if found.low is not None and found.high is not None:
        assert found.low <= found.value <= found.high
    return found.value


def _tables() -> tuple[Floats, Floats]:
    return tuple(np.loadtxt(RATERS / f"{name}.csv", delimiter=",") for name in ("preds", "confs"))  # type: ignore[return-value]


def _random_labels(seed: int, missing: float = 0.2, classes: int = 3) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    true = rng.integers(classes, size=(15, 1))
    labels = np.where(rng.random((15, 4)) < 0.6, true, rng.integers(classes, size=(15, 4))).astype(float)
    labels[rng.random(labels.shape) < missing] = np.nan
    labels[0], labels[1] = np.nan, [1, NAN, NAN, NAN]
    return labels, rng.random((15, 4))


# ---- the values of methods.md and of R ------------------------------------------------------------------------------


@needs_raters
def test_the_raters_table_has_the_values_of_the_methods() -> None:
    """427 cases, 13 raters. [Trust] prints .57, which an accuracy of .81 does not give: .584726."""
    labels, confidence = _tables()
    assert labels.shape == (427, 13)
    assert _value(observed_agreement(labels)) == pytest.approx(0.81841110, abs=6e-9)
    assert _value(fleiss_kappa(labels)) == pytest.approx(0.63163046, abs=6e-9)
    assert _value(krippendorff_alpha(labels)) == pytest.approx(0.63169683, abs=6e-9)
    found = estimated(weighted_concordance(labels, confidence, coherence=0.05))
    assert _value(found) == pytest.approx(0.616899, abs=6e-7)
    assert found.details["coherence_low"] == pytest.approx(0.570613, abs=6e-7)
    assert found.details["coherence_high"] == pytest.approx(0.653449, abs=6e-7)
    assert method_text(found.method).startswith("raters' accuracy unknown and taken as 1")
    assert found.details["accuracy_assumed"] == 1
    declared = weighted_concordance(labels, confidence, rater_accuracy=(0.81,) * 13)
    assert _value(declared) == pytest.approx(0.584726, abs=6e-7)


def _golden() -> dict[str, Any]:
    agreement: dict[str, Any] = json.loads((GOLDEN / "r.json").read_text())["agreement"]
    return agreement


def _diagnoses() -> Floats:
    table = _golden()["diagnoses"]
    return np.array([[float(label[0]) for label in table[f"rater{rater}"]] for rater in range(1, 7)]).T


def test_diagnoses_against_r() -> None:
    """irr's kappam.fleiss, kappam.light and kappa2 to 1e-10.

    `kripp_diagnoses_nominal` (.282962) is not met: without missing labels 1 - alpha = (1 - kappa_Fleiss)(1 - 1/(N m))
    holds exactly, which gives .433410 from the same file's Fleiss, and R's value breaks it. It is near what comes out
    (.286153) when rater 6, who never says "1. Depression", is coded by the four labels that he uses.
    """
    golden, labels = _golden(), _diagnoses()
    assert _value(fleiss_kappa(labels)) == pytest.approx(golden["fleiss"]["kappa"], abs=1e-10)
    alpha = 1 - (1 - golden["fleiss"]["kappa"]) * (1 - 1 / labels.size)
    assert _value(krippendorff_alpha(labels)) == pytest.approx(alpha, abs=1e-10)
    assert _value(cohen_kappa(labels)) == pytest.approx(golden["light"], abs=1e-10)
    pairs = curved(rater_agreement(labels))
    assert (pairs.columns["first"][0], pairs.columns["second"][0]) == (1, 2)
    assert pairs.columns["kappa"][0] == pytest.approx(golden["cohen_12"]["kappa"], abs=1e-10)


def test_alpha_with_missing_labels_against_r() -> None:
    """Krippendorff's own example: 12 cases, 4 raters, nominal .743421."""
    golden = _golden()
    labels = np.array(golden["kripp_matrix"], dtype=float).T
    assert labels.shape == (12, 4)
    assert _value(krippendorff_alpha(labels)) == pytest.approx(golden["kripp"]["nominal"], abs=1e-10)


def test_five_raters_against_other_packages() -> None:
    """golden/python: the packages krippendorff, statsmodels and scikit-learn on ratings_complete.csv, to 1e-12."""
    golden = json.loads((GOLDEN / "python/python_golden.json").read_text())["inter_rater"]
    labels = np.loadtxt(GOLDEN / "python/ratings_complete.csv", delimiter=",", skiprows=1)
    assert _value(krippendorff_alpha(labels)) == pytest.approx(
        golden["krippendorff_pkg_complete"]["nominal"], abs=1e-12
    )
    assert _value(fleiss_kappa(labels)) == pytest.approx(golden["fleiss_kappa_statsmodels_complete"], abs=1e-12)
    pairs = curved(rater_agreement(labels))
    assert pairs.columns["kappa"][0] == pytest.approx(golden["cohen_r1_r2"]["kappa"], abs=1e-12)


# ---- slow and obvious versions --------------------------------------------------------------------------------------


def _given(case: Floats) -> list[float]:
    return [float(label) for label in case if not math.isnan(label)]


def _slow_agreement(labels: Floats) -> float:
    shares = []
    for case in labels:
        pairs = list(itertools.combinations(_given(case), 2))
        if pairs:
            shares.append(sum(a == b for a, b in pairs) / len(pairs))
    return float(np.mean(shares))


def _slow_alpha(labels: Floats) -> float:
    """By the matrix of coincidences."""
    classes = sorted({label for case in labels for label in _given(case)})
    coincidences = np.zeros((len(classes), len(classes)))
    for case in labels:
        given = _given(case)
        for a, b in itertools.permutations(range(len(given)), 2):
            coincidences[classes.index(given[a]), classes.index(given[b])] += 1 / (len(given) - 1)
    n, of_class = coincidences.sum(), coincidences.sum(axis=1)
    observed = (n - np.trace(coincidences)) / n
    expected = (n**2 - (of_class**2).sum()) / (n * (n - 1))
    return float(1 - observed / expected)


def _slow_kappa(first: Floats, second: Floats) -> float | None:
    pairs = [(a, b) for a, b in zip(first, second, strict=True) if not (math.isnan(a) or math.isnan(b))]
    if not pairs:
        return None
    agreeing = sum(a == b for a, b in pairs) / len(pairs)
    chance = (
        sum(
            sum(a == label for a, _ in pairs) * sum(b == label for _, b in pairs)
            for label in {label for pair in pairs for label in pair}
        )
        / len(pairs) ** 2
    )
    return None if chance == 1 else (agreeing - chance) / (1 - chance)


def _slow_concordance(labels: Floats, confidence: Floats, accuracy: Floats, shift: float = 0.0) -> float:
    k = max(2, len(set(_given(labels.ravel()))))
    values = []
    for case, sure in zip(labels, confidence, strict=True):
        raters = [rater for rater in range(len(case)) if not math.isnan(case[rater])]
        if len(raters) == 1:
            values.append(accuracy[raters[0]])
        if len(raters) < 2:
            continue
        total, pairs = 0.0, 0
        for i, j in itertools.combinations(raters, 2):
            pairs += 1
            if case[i] == case[j]:
                weight = 1.0
                for rater in (i, j):
                    c = min(1.0, max(0.0, sure[rater] + shift))
                    weight *= c / (c + (1 - c) / k)
                right = accuracy[i] * accuracy[j]
                total += weight * right / (right + (1 - accuracy[i]) * (1 - accuracy[j]))
        values.append(total / pairs)
    return float(np.mean(values))


@pytest.mark.parametrize("seed", range(4))
def test_agreement_against_loops(seed: int) -> None:
    labels, _ = _random_labels(seed)
    assert _value(observed_agreement(labels)) == pytest.approx(_slow_agreement(labels), abs=1e-12)
    assert _value(krippendorff_alpha(labels)) == pytest.approx(_slow_alpha(labels), abs=1e-12)
    kappas = [_slow_kappa(labels[:, i], labels[:, j]) for i, j in itertools.combinations(range(4), 2)]
    known = [kappa for kappa in kappas if kappa is not None]
    found = estimated(cohen_kappa(labels))
    assert _value(found) == pytest.approx(np.mean(known), abs=1e-12)
    assert found.details["minimum"] == pytest.approx(min(known))
    assert found.details["maximum"] == pytest.approx(max(known))
    assert curved(rater_agreement(labels)).columns["kappa"] == pytest.approx(kappas)


def test_cases_that_no_pair_labelled_are_neither_counted_nor_drawn() -> None:
    labels = np.array([[0.0, 0, 1], [1, 1, math.nan], [0, 1, 0], [1, math.nan, 0], [1, 1, 1]])
    alone, nobody = [1.0, math.nan, math.nan], [math.nan] * 3
    more = np.vstack([[alone], labels[:2], [nobody, alone], labels[2:]])
    found, expected = estimated(cohen_kappa(more)), estimated(cohen_kappa(labels))
    said = "mean over 3 pairs of raters, 3 cases with fewer than two labels left out, "
    said += "jackknife over cases, Student's t on the log of 1 − value"
    assert (found.n, method_text(found.method)) == (5, said)
    assert (found.value, found.low, found.high) == (expected.value, expected.low, expected.high)
    pairs = curved(rater_agreement(more))
    assert pairs.n == 5
    assert method_text(pairs.method) == (
        "Cohen's kappa over the cases both raters labelled, 3 cases with fewer than two labels left out"
    )
    kept = curved(rater_agreement(labels))
    assert pairs.columns == kept.columns
    for measure in (cohen_kappa, rater_agreement):
        assert measure(np.array([alone, nobody])) == Said("no case was labelled by two raters")


@pytest.mark.parametrize("kind", ["of their own", "with gaps", "two alike", "a circle"])
def test_the_order_of_the_raters_moves_no_bound(kind: str) -> None:
    """Raters apart, raters who gave the same, and raters of whom each stands to the next as that one to its next."""
    rng = np.random.default_rng(8)
    labels = (rng.random((12, 4)) < [0.2, 0.4, 0.6, 0.8]).astype(float)
    if kind == "with gaps":
        labels[rng.random((12, 4)) < 0.3] = math.nan
    if kind == "two alike":
        labels[:, 3] = labels[:, 0]
    if kind == "a circle":
        labels = np.array(
            [np.roll([1.0, 0, 0, 0], k) for k in range(4)] + [np.roll([1.0, 1, 0, 0], k) for k in range(4)]
        )
    found = {repr(cohen_kappa(rng.permutation(labels[:, list(order)]))) for order in itertools.permutations(range(4))}
    assert len(found) == 1


@pytest.mark.parametrize(("seed", "classes"), [(0, 2), (1, 2), (2, 3), (3, 5)])
def test_concordance_against_loops(seed: int, classes: int) -> None:
    labels, confidence = _random_labels(seed, classes=classes)
    accuracy = np.array([0.9, 0.7, 0.55, 0.8])
    found = estimated(weighted_concordance(labels, confidence, coherence=0.2, rater_accuracy=tuple(accuracy)))
    assert _value(found) == pytest.approx(_slow_concordance(labels, confidence, accuracy), abs=1e-12)
    low, high = (_slow_concordance(labels, confidence, accuracy, shift) for shift in (-0.2, 0.2))
    assert found.details["coherence_low"] == pytest.approx(low, abs=1e-12)
    assert found.details["coherence_high"] == pytest.approx(high, abs=1e-12)
    assert found.details["cases_skipped"] == np.isnan(labels).all(axis=1).sum()
    assert method_text(found.method).startswith("raters' accuracy as declared")


def test_accuracy_is_measured_against_the_truth_when_it_is_not_declared() -> None:
    labels, confidence = _random_labels(5, classes=2)
    truth = np.random.default_rng(1).integers(2, size=15).astype(float)
    accuracy = np.array(
        [np.mean([a == b for a, b in zip(labels[:, r], truth, strict=True) if not math.isnan(a)]) for r in range(4)]
    )
    found = weighted_concordance(labels, confidence, truth=truth)
    assert _value(found) == pytest.approx(_slow_concordance(labels, confidence, accuracy), abs=1e-12)
    rows = {row.statistic: row for row in rater_accuracy_summary(labels, truth)}
    assert rows["minimum"].value == pytest.approx(accuracy.min())
    assert rows["mean"].value == pytest.approx(accuracy.mean())
    assert rows["maximum"].value == pytest.approx(accuracy.max())
    assert rows["standard_deviation"].value == pytest.approx(accuracy.std(ddof=1))
    assert rows["mean"].variable == "rater accuracy, measured"


def _by_slow_jackknife(values: list[float], value: float, level: float, least: float) -> tuple[float, float]:
    """Student's interval on the log of 1 - value, from the values without each case."""
    n = len(values)
    error = math.sqrt((n - 1) / n * sum((each - sum(values) / n) ** 2 for each in values)) / (1 - value)
    step = float(student.ppf((1 + level) / 2, n - 1)) * error
    return max(least, 1 - (1 - value) * math.exp(step)), 1 - (1 - value) * math.exp(-step)


def test_the_interval_is_that_of_a_slow_jackknife_over_cases() -> None:
    labels, confidence = _random_labels(8, missing=0.1)
    labels = labels[(~np.isnan(labels)).sum(axis=1) >= 2]
    confidence, cases = confidence[: len(labels)], len(labels)
    without = [np.delete(np.arange(cases), case) for case in range(cases)]
    for found, values, least in (
        (krippendorff_alpha(labels), [_slow_alpha(labels[rows]) for rows in without], -1.0),
        (observed_agreement(labels), [_slow_agreement(labels[rows]) for rows in without], 0.0),
        (
            weighted_concordance(labels, confidence),
            [_slow_concordance(labels[rows], confidence[rows], np.ones(4)) for rows in without],
            0.0,
        ),
    ):
        ends = _by_slow_jackknife(values, estimated(found).value, 0.95, least)
        assert interval_of(estimated(found)) == pytest.approx(ends)


def test_where_all_agree_the_lower_end_is_that_of_the_exact_binomial() -> None:
    """20 cases on which three raters agree: .025^(1/20) = .832; kappa falls from there by 1/(1 - Pe)."""
    labels = np.repeat([[0.0], [1.0]], 10, axis=0) @ np.ones((1, 3))
    least = 0.025 ** (1 / 20)
    found = estimated(observed_agreement(labels))
    assert (found.value, found.low, found.high) == pytest.approx((1, least, 1))
    for measure in (fleiss_kappa, krippendorff_alpha, cohen_kappa):
        found = estimated(measure(labels))
        assert (found.value, found.low, found.high) == pytest.approx((1, 1 - (1 - least) / 0.5, 1))
        assert method_text(found.method).endswith("exact binomial lower bound, for all agree")
    # As sure of each case: the concordance would fall as a whole.
    found = estimated(weighted_concordance(labels, np.full(labels.shape, 0.8)))
    assert (found.low, found.high) == pytest.approx((found.value * least, found.value))


@pytest.mark.parametrize(("raters", "right"), [(2, 0.98), (3, 0.98), (3, 0.9), (5, 0.85)])
def test_the_interval_of_kappa_covers_it_in_small_studies(raters: int, right: float) -> None:
    """1,000 studies of 30 cases; resampled cases cover kappa in .70 to .96 of them, the less the better it is."""
    rng = np.random.default_rng(11)
    truth = rng.integers(2, size=(1000, 30, 1))
    labels = np.where(rng.random((1000, 30, raters)) < right, truth, 1 - truth).astype(float)
    agree = right**2 + (1 - right) ** 2
    held = 0
    for study in labels:
        low, high = interval_of(estimated(fleiss_kappa(study)))
        held += low <= 2 * agree - 1 <= high
    assert 0.935 <= held / 1000 <= 0.99


def test_the_order_of_cases_does_not_matter() -> None:
    labels, confidence = _random_labels(3)
    order = np.random.default_rng(0).permutation(15)
    for measure in AGREEMENTS:
        assert measure(labels[order]) == measure(labels)
    assert weighted_concordance(labels[order], confidence[order]) == weighted_concordance(labels, confidence)


def test_doubling_the_cases_keeps_the_value_and_narrows_the_interval() -> None:
    labels, confidence = _random_labels(6)
    twice = np.vstack([labels, labels])
    for first, two in (
        (observed_agreement(labels), observed_agreement(twice)),
        (cohen_kappa(labels), cohen_kappa(twice)),
        (fleiss_kappa(labels), fleiss_kappa(twice)),
        (weighted_concordance(labels, confidence), weighted_concordance(twice, np.vstack([confidence, confidence]))),
    ):
        assert estimated(two).value == pytest.approx(estimated(first).value, abs=1e-12)
        (low, high), (lower, higher) = interval_of(estimated(two)), interval_of(estimated(first))
        assert high - low < higher - lower


# ---- edges ----------------------------------------------------------------------------------------------------------


def test_full_agreement_is_one() -> None:
    labels = np.repeat([[0.0], [1.0], [1.0], [0.0]], 3, axis=1)
    for measure in AGREEMENTS:
        assert _value(measure(labels)) == pytest.approx(1.0)
    assert _value(weighted_concordance(labels, np.ones_like(labels))) == 1
    assert _value(weighted_concordance(labels, np.zeros_like(labels))) == 0


def test_each_gap_is_a_sentence() -> None:
    same = np.ones((5, 3))
    assert _value(observed_agreement(same)) == 1
    reason = "all labels are equal, so agreement beyond chance is not defined"
    assert fleiss_kappa(same) == krippendorff_alpha(same) == Said(reason)
    assert isinstance(cohen_kappa(same), Absent)
    for labels in (
        np.full((3, 2), NAN),
        np.empty((0, 2)),
        np.array([[1.0], [0.0]]),
        np.array([[1.0, NAN], [NAN, 0.0]]),
    ):
        for measure in AGREEMENTS:
            assert not reason_text(absent(measure(labels)).reason).endswith(".")
    empty = np.full((3, 2), NAN)
    assert weighted_concordance(empty, empty) == Said("no case has a label with a confidence")
    assert reliability_nomogram(empty) == Said("the raters' table holds no label")
    assert rater_agreement(np.ones((4, 1))) == Said("agreement needs two raters")
    assert rater_agreement(np.ones((4, 23))) == Said("23 raters make 253 pairs, too many to list one by one")
    assert weighted_concordance(np.array([[1.0, 0.0]]), np.ones((1, 2)), truth=np.array([NAN])) == Said(
        "rater 1 labelled no case whose truth is known"
    )
    assert rater_accuracy_summary(same) == ()


def test_one_case_has_a_value_without_an_interval() -> None:
    labels = np.array([[1.0, 1.0, 0.0]])
    for found in map(estimated, (observed_agreement(labels), weighted_concordance(labels, np.ones((1, 3))))):
        assert found.value == pytest.approx(1 / 3)
        assert (found.low, found.reason) == (None, Said("one case gives no interval"))


def test_one_case_has_a_kappa_without_an_interval() -> None:
    """Of the pairs 1-1, 1-0 and 1-0 a third agrees; by chance 5/9 do, or 1/3 where no label is drawn twice (alpha)."""
    labels = np.array([[1.0, 1.0, 0.0]])
    for measure, value in ((fleiss_kappa, (1 / 3 - 5 / 9) / (4 / 9)), (krippendorff_alpha, 0.0), (cohen_kappa, 0.0)):
        found = estimated(measure(labels))
        assert found.value == pytest.approx(value, abs=1e-12)
        assert (found.low, found.high, found.reason) == (None, None, Said("one case gives no interval"))
    pairs = estimated(cohen_kappa(labels))
    assert (pairs.details["pairs"], pairs.details["pairs_undefined"]) == (2, 1)


def test_two_cases_have_an_interval() -> None:
    """Of two cases, one agreed on and one not, a quarter of the resamples is the one twice, a quarter the other."""
    found = estimated(observed_agreement(np.array([[1.0, 1.0], [1.0, 0.0]])))
    assert (found.low, found.value) == (0, 0.5)
    assert found.high == pytest.approx(1, abs=0.01)
    # Both cases are agreed on, and without either one class is left, of which there is no kappa.
    for measure in (fleiss_kappa, krippendorff_alpha, cohen_kappa):
        found = estimated(measure(np.array([[1.0, 1.0], [0.0, 0.0]])))
        assert (found.value, found.high, found.reason) == (1, 1, None)
        assert found.low == pytest.approx(1 - (1 - 0.025**0.5) / 0.5)
        if measure is not krippendorff_alpha:
            assert "cases without which there is no value: 2" in method_text(found.method)


def test_complete_cases_are_named_only_where_some_are_left_out() -> None:
    found = estimated(fleiss_kappa(np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0]])))
    assert method_text(found.method) == "kappa, jackknife over cases, Student's t on the log of 1 − value"


def test_two_raters_and_twenty_two_are_listed_pair_by_pair() -> None:
    found = curved(rater_agreement(np.array([[1.0, 1.0], [0.0, 0.0], [1.0, 0.0], [1.0, 1.0]])))
    # Three of four agree; by chance 3/4 x 1/2 + 1/4 x 1/2.
    assert found.columns == {
        "first": (1.0,),
        "second": (2.0,),
        "agreement": (0.75,),
        "kappa": (pytest.approx((0.75 - 0.5) / 0.5),),
    }
    many = curved(rater_agreement(np.tile([[0.0], [1.0]], 22)))
    assert len(many.columns["kappa"]) == 22 * 21 / 2


def test_a_pair_that_shares_a_single_case_agrees_or_does_not() -> None:
    """Raters 1 and 2 differ on the one case they share, 1 and 3 agree on theirs, 2 and 3 share none."""
    found = curved(rater_agreement(np.array([[1.0, 0.0, NAN], [1.0, NAN, 1.0]])))
    assert list(found.columns["agreement"]) == [0, 1, None]
    assert list(found.columns["kappa"]) == [0, None, None]


def test_a_rater_may_have_judged_a_single_case() -> None:
    labels = np.array([[1.0, 1.0, NAN], [0.0, NAN, NAN]])
    rows = {row.statistic: row for row in rater_accuracy_summary(labels, np.array([1.0, 1.0]))}
    assert {name: row.value for name, row in rows.items()} == {
        "minimum": 0.5,
        "mean": 0.75,
        "maximum": 1.0,
        "standard_deviation": pytest.approx(math.sqrt(0.125)),
    }
    assert {row.n for row in rows.values()} == {2}, "the third labelled nothing"


def test_one_rater_has_no_standard_deviation() -> None:
    rows = rater_accuracy_summary(np.array([[1.0], [0.0]]), np.array([1.0, 1.0]))
    assert [(row.statistic, row.value) for row in rows] == [("minimum", 0.5), ("mean", 0.5), ("maximum", 0.5)]


def test_a_label_without_a_confidence_counts_as_missing() -> None:
    labels, confidence = np.ones((1, 3)), np.array([[1.0, 1.0, NAN]])
    assert _value(weighted_concordance(labels, confidence)) == 1
    assert _value(weighted_concordance(labels[:, 1:], confidence[:, 1:], rater_accuracy=(0.7, 0.9))) == 0.7


def test_contradicting_certainties_never_count() -> None:
    """One rater is always right and the other never: agreement between them cannot be right."""
    labels = np.array([[1.0, 1.0]])
    assert _value(weighted_concordance(labels, np.ones((1, 2)), rater_accuracy=(1.0, 0.0))) == 0


def test_incomplete_cases_are_left_out_of_fleiss_and_counted() -> None:
    labels = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, NAN]])
    found = estimated(fleiss_kappa(labels))
    assert _value(found) == pytest.approx(_value(fleiss_kappa(labels[:3])))
    assert found.n == 3
    assert "1 case with a missing label left out" in method_text(found.method)


# ---- actual accuracy ------------------------------------------------------------------------------------------------


AGREED_57 = np.column_stack((np.ones(100), np.arange(100) < 57)).astype(float)
"""Labels of two raters that agree on 57 of 100 cases."""


def _model(right: int, n: int = 100) -> tuple[Floats, Floats]:
    outcome = (np.arange(n) % 2).astype(float)
    risk = outcome.copy()
    risk[right:] = 1 - risk[right:]
    return outcome, risk


def test_the_worked_example_of_the_paper() -> None:
    """rho = .57 and a measured accuracy of .90 give g = .877492 and .801993; bounds .7775 and .9775."""
    found = estimated(actual_accuracy(*_model(90), AGREED_57, np.ones((100, 2)), 0.5))
    assert found.details["rho"] == pytest.approx(0.57)
    assert found.details["measured_accuracy"] == pytest.approx(0.90)
    assert found.value == pytest.approx(0.801993, abs=6e-7)
    assert found.details["bound_low"] == pytest.approx(0.7775, abs=6e-5)
    assert found.details["bound_high"] == pytest.approx(0.9775, abs=6e-5)
    rho = estimated(weighted_concordance(AGREED_57, np.ones((100, 2))))
    # Wilson's interval of 90 in 100: .8256343 to .9447708.
    for mine, theirs, answers in ((found.low, rho.low, 0.8256343), (found.high, rho.high, 0.9447708)):
        g = (1 + math.sqrt(present(theirs))) / 2
        by_labels = (2 * 0.9 - 1) * (g - 0.877492)
        by_answers = (2 * 0.877492 - 1) * (answers - 0.9)
        assert abs(present(mine) - found.value) == pytest.approx(math.hypot(by_labels, by_answers), abs=1e-5)
    assert present(found.low) < found.value < (found.high or 0)


def test_below_one_half_the_ends_change_places() -> None:
    found = actual_accuracy(*_model(20), AGREED_57, np.ones((100, 2)), 0.5)
    assert _value(found) == pytest.approx(0.2 * 0.877492 + 0.8 * 0.122508, abs=1e-6)


def test_a_risk_on_the_threshold_is_positive() -> None:
    outcome, risk, labels = np.array([1.0, 1.0, 1.0, 0.0]), np.array([0.5, 0.6, 0.4, 0.1]), np.ones((2, 2))
    for found in (
        actual_accuracy(outcome, risk, labels, labels, 0.5),
        required_reliability(outcome, risk, labels, 0.5, 0.6),
    ):
        assert estimated(found).details["measured_accuracy"] == 0.75


def test_no_accuracy_lies_above_one() -> None:
    """A model that is never right, on labels whose reliability may be anything from 0 to 1."""
    labels = np.array([[1.0, 1.0], [1.0, 1.0], [1.0, 1.0], [1.0, 1.0], [1.0, 0.0]])
    found = estimated(actual_accuracy(np.ones(1), np.zeros(1), labels, np.ones((5, 2)), 0.5, level=0.9999))
    # g is (1 + sqrt(.8)) / 2, and only 1 - g of the answers are right.
    assert found.value == pytest.approx((1 - math.sqrt(0.8)) / 2)
    assert found.low == pytest.approx(0, abs=1e-6)
    assert found.high == 1


@pytest.mark.parametrize(
    ("truth", "declared", "said"),
    [
        (None, (0.9, 0.8), "raters' accuracy as declared"),
        (np.ones(3), (0.9, 0.8), "raters' accuracy as declared"),
        (np.ones(3), None, "raters' accuracy against the outcome"),
        (None, None, "raters' accuracy unknown and taken as 1"),
    ],
)
def test_where_the_raters_accuracy_is_from_is_said(
    truth: Floats | None, declared: tuple[float, ...] | None, said: str
) -> None:
    labels = np.array([[1.0, 1.0], [0.0, 1.0], [1.0, 1.0]])
    found = estimated(actual_accuracy(*_model(90), labels, np.ones((3, 2)), 0.5, truth=truth, rater_accuracy=declared))
    assert method_text(found.method) == f"intervals of rho and of the measured accuracy combined (MOVER), {said}"
    rho = estimated(weighted_concordance(labels, np.ones((3, 2)), truth=truth, rater_accuracy=declared))
    assert method_text(rho.method) == f"{said}, jackknife over cases, Student's t on the log of 1 − value"


def test_the_band_runs_from_one_half_to_one() -> None:
    band = curved(actual_accuracy_bounds(AGREED_57, np.ones((100, 2))))
    # rho = .57 gives g = .877492; it bends where x is g.
    g = 0.877492
    assert band.columns["measured"] == pytest.approx((0.5, g, 1), abs=1e-6)
    assert band.columns["low"] == pytest.approx((g - 0.5, 2 * g - 1, g), abs=2e-6)
    assert band.columns["high"] == pytest.approx((1.5 - g, 1, g), abs=2e-6)


def test_without_labels_there_is_no_actual_accuracy() -> None:
    empty = np.full((100, 2), NAN)
    assert actual_accuracy(*_model(90), empty, empty, 0.5) == Said("no case has a label with a confidence")
    nothing = np.array([])
    assert actual_accuracy(nothing, nothing, np.ones((2, 2)), np.ones((2, 2)), 0.5) == Said("there are no rows")


def test_the_band_is_that_of_the_bounds_of_the_case() -> None:
    """At the measured accuracy it ends where `actual_accuracy` puts its bounds, though that reckons them by itself."""
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, 60).astype(float)
    labels = np.abs(truth[:, None] - (rng.random((60, 4)) < 0.2))
    confidence = rng.uniform(0.6, 1.0, labels.shape)
    risk = np.clip(truth * 0.5 + rng.random(60) * 0.6, 0, 1)
    case = estimated(actual_accuracy(truth, risk, labels, confidence, 0.5, truth=truth))
    band = curved(actual_accuracy_bounds(labels, confidence, truth))
    measured = [value or 0.0 for value in band.columns["measured"]]
    for name in ("low", "high"):
        ends = [value or 0.0 for value in band.columns[name]]
        at = float(np.interp(case.details["measured_accuracy"] or 0, measured, ends))
        assert at == pytest.approx(case.details[f"bound_{name}"])
    assert actual_accuracy_bounds(np.full((3, 2), np.nan), np.full((3, 2), np.nan)) == Said(
        "no case has a label with a confidence"
    )


def test_the_nomogram_is_the_same_straight_lines() -> None:
    found = curved(reliability_nomogram(np.ones((7, 2))))
    assert list(found.columns) == [
        "measured",
        *(f"reliability_{rho}" for rho in ("0", *(f"0.{d}" for d in range(1, 10)), "1")),
    ]
    assert found.columns["measured"] == (0.5, 1.0)
    assert found.columns["reliability_0"] == (0.5, 0.5)
    assert found.columns["reliability_1"] == (0.5, 1.0)
    low, high = found.columns["reliability_0.5"]
    assert low == 0.5
    assert high == pytest.approx((1 + math.sqrt(0.5)) / 2)


# ---- the reliability that an accuracy asks for ----------------------------------------------------------------------


def test_the_required_reliability_of_the_worked_example() -> None:
    found = required_reliability(*_model(90), np.ones((3, 2)), 0.5, 0.801993)
    assert _value(found) == pytest.approx(0.57, abs=5e-6)
    assert reliability_for(0.801993, 0.9) == pytest.approx(0.57, abs=5e-6)


def test_the_required_reliability_undoes_the_actual_accuracy() -> None:
    for rho in (0.0, 0.2, 0.57, 1.0):
        for measured in (0.6, 0.75, 0.99):
            right = (1 + math.sqrt(rho)) / 2
            actual = measured * right + (1 - measured) * (1 - right)
            assert reliability_for(actual, measured) == pytest.approx(rho, abs=1e-12)


def test_the_interval_of_the_required_reliability_is_wilsons_of_the_accuracy() -> None:
    found = estimated(required_reliability(*_model(90), np.ones((3, 2)), 0.5, 0.7))
    # Wilson's interval of 90 in 100: .8256343 to .9447708.
    assert found.low == pytest.approx(((2 * 0.7 - 1) / (2 * 0.9447708 - 1)) ** 2, abs=1e-6)
    assert found.high == pytest.approx(((2 * 0.7 - 1) / (2 * 0.8256343 - 1)) ** 2, abs=1e-6)
    assert found.details == {"measured_accuracy": 0.9, "desired_accuracy": 0.7}
    hard = estimated(required_reliability(*_model(90), np.ones((3, 2)), 0.5, 0.88))
    assert hard.high == 1


@pytest.mark.parametrize(("desired", "right"), [(0.49, 90), (0.95, 90), (0.5, 50), (0.5, 40), (0.45, 45)])
def test_a_required_reliability_that_cannot_be(desired: float, right: int) -> None:
    found = absent(required_reliability(*_model(right), np.ones((3, 2)), 0.5, desired))
    assert not reason_text(found.reason).endswith(".")


def test_one_half_asks_for_no_reliability_and_the_measured_accuracy_for_all() -> None:
    assert reliability_for(0.5, 0.8) == pytest.approx(0, abs=1e-15)
    assert reliability_for(0.8, 0.8) == pytest.approx(1, abs=1e-12)
    assert isinstance(required_reliability(*_model(90), np.full((3, 2), NAN), 0.5, 0.7), Absent)
    assert isinstance(required_reliability(np.array([]), np.array([]), np.ones((3, 2)), 0.5, 0.7), Absent)


# ---- rater by rater -------------------------------------------------------------------------------------------------


def test_two_raters_have_one_kappa() -> None:
    found = curved(raters_one_by_one(np.array([[1.0, 1.0], [0.0, 0.0], [1.0, 0.0], [1.0, 1.0]])))
    assert found.columns["kappa"] == pytest.approx(((0.75 - 0.5) / 0.5,) * 2)


def test_two_raters_are_one_pair() -> None:
    found = estimated(cohen_kappa(np.array([[1.0, 1.0], [0.0, 0.0], [1.0, 0.0], [1.0, 1.0]])))
    assert method_text(found.method).startswith("mean over 1 pair of raters")


def test_two_hundred_and_fifty_raters_are_listed_and_one_more_is_not() -> None:
    found = curved(raters_one_by_one(np.tile([[0.0], [1.0]], 250)))
    assert list(found.columns["rater"]) == list(range(1, 251))
    assert raters_one_by_one(np.ones((2, 251))) == Said("251 raters are too many to list one by one")


def _counted(confidence: Floats) -> Curve:
    return curved(confidence_by_rater(np.ones_like(confidence), confidence))


def test_eleven_levels_are_shown_as_they_are_and_twelve_in_bins() -> None:
    tenths = _counted(np.arange(11)[:, None] / 10)
    assert tenths.columns["confidence"] == pytest.approx([step / 10 for step in range(11)])
    assert list(tenths.columns["count"]) == [1] * 11
    assert method_text(tenths.method) == "counted at the values of the scale"
    elevenths = _counted(np.arange(12)[:, None] / 11)
    assert elevenths.columns["confidence"] == pytest.approx([(step + 0.5) / 11 for step in range(11)])
    assert list(elevenths.columns["count"]) == [1] * 10 + [2], "1 lies in the last bin"
    assert method_text(elevenths.method) == "11 equal-width bins"


def test_a_bin_holds_its_lower_end() -> None:
    """Steps of 1/22: the even ones are the lower ends of elevenths, and 1 lies in the last."""
    found = _counted(np.arange(23)[:, None] / 22)
    assert list(found.columns["count"]) == [2] * 10 + [3]
    assert sum(share or 0 for share in found.columns["share"]) == pytest.approx(1)


def test_answers_that_differ_by_rounding_are_one_level_and_counted_once() -> None:
    found = _counted(np.array([[0.3], [0.1 + 0.2], [0.5], [0.5 + 4e-13], [0.500001]]))
    assert found.columns["confidence"] == (0.3, 0.5, 0.500001)
    assert list(found.columns["count"]) == [2, 2, 1]
    assert found.n == 5


def test_a_hundred_and_twenty_five_raters_have_two_bins_each_and_one_more_has_none() -> None:
    found = _counted(np.tile([[0.2], [0.5], [0.7]], 125))
    assert found.columns["confidence"] == (0.25, 0.75) * 125
    assert list(found.columns["count"]) == [1, 2] * 125
    many = np.full((3, 126), 0.5)
    assert confidence_by_rater(many, many) == Said("126 raters are too many to list one by one")


# ---- by group -------------------------------------------------------------------------------------------------------

THREE = np.array([[1, 0, 1], [1, 1, 0], [0, 0, 0], [0, 1, 1]], dtype=float)
TRUE = np.array([1.0, 1, 0, 0])


def _by_group(labels: Floats, groups: tuple[str, ...], *more: Any, **named: Any) -> dict[str, Any]:
    return dict(curved(raters_by_group(labels, groups, *more, **named)).columns)


def test_the_accuracy_of_a_group_is_the_mean_over_its_raters() -> None:
    """By hand: 4 of 4 and 2 of 4 right make .75; the cases' parts are 0 and 1/16 a side, so 4/3 x 4/256 is the variance
    and .75 x .25 / (1/48) = 9 answers; of one rater the effective number is one less than the cases."""
    found = _by_group(THREE, ("nurse", "doctor", "nurse"), truth=TRUE)
    assert found["group"] == (0, 1)
    assert found["raters"] == (1, 2)
    assert found["cases"] == (4, 4)
    assert found["accuracy"] == (0.5, 0.75)
    for index, (hits, answers) in enumerate(((1.5, 3), (6.75, 9))):
        ends = (found["accuracy_low"][index], found["accuracy_high"][index])
        assert ends == pytest.approx(wilson(hits, answers, 0.95), abs=1e-12)
    assert found["rho"] == (None, None), "nobody said how sure they were"


def test_a_group_that_is_always_right_counts_a_case_once() -> None:
    found = _by_group(np.repeat(TRUE[:, None], 3, axis=1), ("a",) * 3, truth=TRUE)
    assert (found["accuracy"], found["accuracy_high"]) == ((1,), (1,))
    assert found["accuracy_low"][0] == pytest.approx(wilson(4, 4, 0.95)[0])


def test_gaps_leave_a_rater_of_no_known_case_out_of_the_mean() -> None:
    labels = np.column_stack((THREE, [NAN, NAN, NAN, 1.0]))
    truth = np.array([1.0, 1, 0, NAN])
    found = _by_group(labels, ("a",) * 4, truth=truth)
    assert found["accuracy"][0] == pytest.approx((1 + 2 / 3 + 2 / 3) / 3)
    assert (found["raters"], found["cases"]) == ((4,), (4,))


def test_without_a_truth_the_accuracy_is_the_declared_one_and_has_no_interval() -> None:
    found = _by_group(THREE, ("a", "b", "a"), rater_accuracy=(0.8, 0.7, 0.9))
    assert found["accuracy"] == (pytest.approx(0.85), pytest.approx(0.7))
    assert found["accuracy_low"] == found["accuracy_high"] == (None, None)
    assert _by_group(THREE, ("a", "b", "a"))["accuracy"] == (None, None)
    assert raters_by_group(np.full((3, 2), NAN), ("a", "b")) == Said("the raters' table holds no label")


@needs_raters
def test_each_group_has_the_rho_of_its_own_columns() -> None:
    """The published raters cut into 5, 7 and one alone, whose rho is its accuracy, which has no interval here."""
    labels, confidence = _tables()
    truth = np.loadtxt(RATERS / "preds.csv", delimiter=",").mean(axis=1).round()
    accuracy = tuple(0.7 + 0.02 * rater for rater in range(13))
    groups = tuple("abc"[0 if rater < 5 else 1 if rater < 12 else 2] for rater in range(13))
    found = _by_group(labels, groups, confidence, truth, accuracy)
    for index, columns in enumerate((slice(0, 5), slice(5, 12))):
        own, stated = labels[:, columns], confidence[:, columns]
        alone = estimated(weighted_concordance(own, stated, None, truth, accuracy[columns], 0.95))
        assert (found["rho"][index], found["rho_low"][index], found["rho_high"][index]) == (
            alone.value,
            alone.low,
            alone.high,
        )
    assert found["rho"][2] == pytest.approx(accuracy[12])
    assert (found["rho_low"][2], found["rho_high"][2]) == (None, None)
    whole = _by_group(labels, ("all",) * 13, confidence, truth, (0.81,) * 13)
    assert whole["rho"][0] == pytest.approx(0.584726, abs=5e-7)


def test_neither_the_order_of_cases_nor_of_raters_moves_a_group() -> None:
    rng = np.random.default_rng(3)
    truth = rng.integers(2, size=40).astype(float)
    labels = np.where(rng.random((40, 6)) < 0.8, truth[:, None], 1 - truth[:, None])
    labels[rng.random(labels.shape) < 0.1] = NAN
    confidence, groups = np.round(rng.random((40, 6)), 1), np.array(list("aababb"))
    cases, raters = rng.permutation(40), rng.permutation(6)
    each = _by_group(labels, tuple(groups), confidence, truth)
    moved = (labels[cases][:, raters], tuple(groups[raters]), confidence[cases][:, raters], truth[cases])
    other = _by_group(*moved)
    for name in each:
        # With an accuracy that is measured anew, raters are drawn for in the order of the table.
        if name not in ("rho_low", "rho_high"):
            assert each[name] == pytest.approx(other[name], abs=1e-12)
    alike = _by_group(labels[cases], tuple(groups), confidence[cases], truth[cases])
    assert alike == each


# ---- confidence and complexity --------------------------------------------------------------------------------------


def test_answers_fall_into_thirds_of_either_scale() -> None:
    """By hand: 0 and just below 1/3 are low, 1/3 and .5 middle, 2/3 and 1 high; a cell of four answers says nothing."""
    sure = np.array([[0.0] * 5, [0.33] * 5, [1 / 3] * 5, [0.5] * 5, [2 / 3] * 5, [1.0] * 5])
    hard = np.array([[0.0] * 5, [0.1] * 5, [1.0] * 5, [2 / 3] * 5, [0.5] * 5, [0.5, 0.5, 0.5, 0.5, 0.9]])
    labels = np.ones((6, 5))
    labels[0, :2] = 0
    hard[2, 0] = NAN
    found = curved(confidence_by_complexity(labels, sure, hard, np.ones(6)))
    columns: dict[str, Any] = dict(found.columns)
    assert columns["confidence"] == (0, 0, 0, *(1 / 3,) * 3, *(2 / 3,) * 3)
    assert columns["complexity"] == (0, 1 / 3, 2 / 3) * 3
    assert columns["answers"] == (10, 0, 0, 0, 0, 9, 0, 9, 1)
    assert columns["right"] == (0.8, None, None, None, None, 1, None, 1, None)
    assert sum(answer or 0 for answer in columns["answers"]) == 29
    edge = curved(confidence_by_complexity(labels[:, :4], sure[:, :4], hard[:, :4], np.r_[1, np.full(5, NAN)]))
    assert edge.columns["right"] == (None,) * 9, "four answers"
    none = confidence_by_complexity(labels, np.full_like(sure, NAN), hard, np.ones(6))
    assert none == Said("no answer has both a confidence and a complexity")


def test_confidence_goes_with_complexity_as_pearson_says() -> None:
    rng = np.random.default_rng(8)
    sure, hard = rng.random((2, 30, 4))
    labels = np.where(rng.random((30, 4)) < 0.9, 1.0, NAN)
    hard[:3, 1] = NAN
    both = ~np.isnan(labels) & ~np.isnan(hard)
    found = estimated(confidence_complexity_correlation(labels, sure, hard))
    assert _value(found) == pytest.approx(np.corrcoef(sure[both], hard[both])[0, 1], abs=1e-12)
    low, high = interval_of(found)
    assert low < found.value < high
    turned = confidence_complexity_correlation(labels, 1 - sure, hard)
    assert _value(turned) == pytest.approx(-found.value)


def test_ratings_that_never_vary_have_no_correlation() -> None:
    ones, apart = np.ones((4, 2)), np.arange(8.0).reshape(4, 2) / 8
    reason = "every answer has the same confidence, or the same complexity"
    assert confidence_complexity_correlation(ones, ones, apart) == Said(reason)
    assert confidence_complexity_correlation(ones, apart, ones) == Said(reason)
    nothing = np.full_like(ones, NAN)
    missing = "no answer has both a confidence and a complexity"
    assert confidence_complexity_correlation(nothing, apart, apart) == Said(missing)
    assert _value(confidence_complexity_correlation(ones, apart, 1 - apart)) == pytest.approx(-1)
    alone = estimated(confidence_complexity_correlation(ones[:1], apart[:1], apart[:1]))
    assert (alone.low, alone.high) == (None, None)


def test_an_accuracy_that_is_measured_is_measured_anew_in_each_replicate() -> None:
    """The parts are the values of tables without a case, with the accuracy of their own."""
    rng = np.random.default_rng(1)
    truth = rng.integers(2, size=50).astype(float)
    labels = np.where(rng.random((50, 5)) < 0.8, truth[:, None], 1 - truth[:, None])
    labels[rng.random(labels.shape) < 0.2] = NAN
    truth[:4] = NAN
    confidence = rng.random(labels.shape)
    confidence[rng.random(labels.shape) < 0.1] = NAN
    tables = [np.delete(np.arange(50), case) for case in range(50)]
    again = [weighted_concordance(labels[table], confidence[table], None, truth[table]) for table in tables]
    found = estimated(weighted_concordance(labels, confidence, None, truth, None, 0.9))
    ends = _by_slow_jackknife([_value(estimate) for estimate in again], found.value, 0.9, 0.0)
    assert (found.low, found.high) == pytest.approx(ends, abs=1e-9)
    declared = estimated(weighted_concordance(labels, confidence, None, truth, (0.8,) * 5, 0.9))
    assert declared.low != found.low


def test_a_replicate_without_a_case_that_counts_has_no_concordance() -> None:
    """Of four cases one has confidence, and both raters were right of it: 1 with it, nothing without it."""
    labels, truth = np.array([[0.0, 0.0], [1.0, 1.0], [1.0, 0.0], [0.0, 1.0]]), np.array([0.0, 1.0, 1.0, 0.0])
    confidence = np.full((4, 2), np.nan)
    confidence[0] = 1.0
    found = _measured_anew(labels, confidence, truth, 2)
    assert np.isnan(found).any()
    assert found[~np.isnan(found)] == pytest.approx(1.0)
