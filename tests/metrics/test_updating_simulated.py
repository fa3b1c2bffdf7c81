"""What is printed of an update is what fresh patients of the hospital would show: simulated."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

import numpy as np
import pytest
from scipy.special import expit

from dossier import metrics
from dossier.core.types import Estimate, Floats
from dossier.metrics import updating
from dossier.metrics.resampling import VALUE_ALONE
from dossier.metrics.shares import Design
from tests.estimated import estimated, interval_of, present

AT, ICI = 0.25, "ICI"
SHORT = {"closed_test": 0.9}  # So much of the ICI is printed at least of a test that is in doubt.
PATIENTS, REPEATS = 200, 2
"""Few patients, of whom an update is a guess, and fewer repeats than are printed, whose mean is the same."""


def measured(outcome: Floats, mean_type: Floats, by_outcome: Floats) -> dict[str, Estimate]:
    """What a hospital shows of risks, those of folds by outcome where a measure is conditional on it."""
    return {
        "log O/E": estimated(metrics.oe_ratio(outcome, mean_type)),
        "Brier score": estimated(metrics.brier(outcome, mean_type)),
        "log score": estimated(metrics.log_score(outcome, mean_type)),
        "gain": estimated(metrics.net_benefit_gain(outcome, mean_type, AT)),
        "sensitivity": estimated(metrics.sensitivity(outcome, by_outcome, AT)),
        "specificity": estimated(metrics.specificity(outcome, by_outcome, AT)),
    }


def truth(chance: Floats, risk: Floats) -> dict[str, float]:
    """The same of as many patients as one likes, with the chance of each."""
    flagged = risk >= AT
    benefit = float(np.mean(flagged * (chance - (1 - chance) * AT / (1 - AT))))
    everyone = float(np.mean(chance - (1 - chance) * AT / (1 - AT)))
    return {
        "log O/E": float(chance.mean() / risk.mean()),
        "Brier score": float(np.mean((risk - chance) ** 2 + chance * (1 - chance))),
        "log score": float(np.mean(chance * np.log(risk) + (1 - chance) * np.log1p(-risk))),
        "gain": benefit - max(everyone, 0.0),
        "sensitivity": float(np.sum(flagged * chance) / np.sum(chance)),
        "specificity": float(np.sum(~flagged * (1 - chance)) / np.sum(1 - chance)),
    }


def value(measure: str, found: float) -> float:
    return float(np.log(found)) if measure == "log O/E" else found


Errors = Mapping[str, Mapping[str, Floats]]


@pytest.fixture(scope="module", params=[("intercept", 0.4, 1.0), ("logistic", 0.3, 0.7), ("closed_test", 0.35, 1.0)])
def errors(request: pytest.FixtureRequest) -> Errors:
    """Of many hospitals how far the printed and the apparent values are from those of fresh patients; what is held."""
    method, intercept, slope = request.param
    rng, others = np.random.default_rng(20), np.random.default_rng(21)
    many = rng.normal(-1.2, 1.0, 20_000)
    chance, tested = expit(intercept + slope * many), expit(many)
    found: dict[str, list[tuple[float, ...]]] = defaultdict(list)
    with pytest.MonkeyPatch.context() as fewer:
        fewer.setattr(updating, "REPEATS", REPEATS)
        for seed in range(250):
            log_odds = rng.normal(-1.2, 1.0, PATIENTS)
            outcome = (rng.random(PATIENTS) < expit(intercept + slope * log_odds)).astype(float)
            risk, design = expit(log_odds), Design(PATIENTS)
            update = present(updating.fitted(outcome, risk, method))
            out, even = (
                present(updating.held_out(outcome, risk, method, design, seed, by_outcome)).risk
                for by_outcome in (False, True)
            )
            printed, fresh = measured(outcome, out, even), truth(chance, update.risk(tested))
            again = others.normal(-1.2, 1.0, PATIENTS)
            drawn = (others.random(PATIENTS) < expit(intercept + slope * again)).astype(float)
            shown = estimated(
                updating.ici_of_update(outcome, out, risk, method, bootstrap=200, seed=seed, design=design)
            )
            right_ici = float(np.mean(np.abs(update.risk(tested) - chance)))
            seen = estimated(metrics.ici(drawn, update.risk(expit(again)), bootstrap=VALUE_ALONE)).value
            low, high = interval_of(shown)
            found[ICI].append((shown.value - SHORT.get(method, 1) * seen, shown.value, low <= right_ici <= high))
            apparent = measured(outcome, update.risk(risk), update.risk(risk))
            for measure, right in fresh.items():
                low, high = interval_of(printed[measure])
                off = (value(measure, each[measure].value) - value(measure, right) for each in (printed, apparent))
                found[measure].append((*off, low <= right <= high))
    names = "printed", "apparent", "held"
    return {measure: dict(zip(names, np.array(rows).T, strict=True)) for measure, rows in found.items()}


def z(errors: Floats) -> float:
    """How many Monte Carlo errors the mean is from 0."""
    return float(errors.mean() / (errors.std(ddof=1) / np.sqrt(len(errors))))


def test_what_is_printed_is_that_of_fresh_patients(errors: Errors) -> None:
    far = {measure: round(z(each["printed"]), 1) for measure, each in errors.items() if abs(z(each["printed"])) > 3.3}
    assert far == {}


def test_what_is_apparent_is_better_than_the_truth(errors: Errors) -> None:
    """The optimism that is left out: paired with what is printed, so that what both share cancels."""
    for measure, sign in (("Brier score", 1), ("log score", -1)):
        assert z(sign * (errors[measure]["printed"] - errors[measure]["apparent"])) > 4


def test_the_intervals_hold_the_truth_of_fresh_patients(errors: Errors) -> None:
    # 250 hospitals: three Monte Carlo errors below 0.94, or of the ICI, which has more to spare, one below 0.95.
    held = {measure: each["held"].mean() for measure, each in errors.items()}
    assert {measure: each for measure, each in held.items() if each < (0.935 if measure == ICI else 0.895)} == {}
