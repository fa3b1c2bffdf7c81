"""Above 50,000 rows tests and replicates work on 2,000 bins of risk: against what is known of all rows."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import norm

from dossier.core.types import Floats
from dossier.metrics.calibration import nagelkerke_r2
from dossier.metrics.comparison import brier_permutation_test, dealt_cases, log_score_permutation_test, risk_cells
from dossier.metrics.once import once
from dossier.metrics.resampling import BINNED_ABOVE
from dossier.typeset.methods import method_text
from tests.estimated import estimated, present

ROWS = 60_000
PERMUTATIONS = 999


def hospital(strength: float) -> tuple[Floats, Floats]:
    """Outcomes that follow the risks as strongly as is asked, with some risks of exactly 0 and 1."""
    rng = np.random.default_rng(7)
    odds = rng.normal(-1, 1, ROWS)
    outcome = (rng.random(ROWS) < expit(-1 + strength * (odds + 1))).astype(float)
    return outcome, expit(odds)


@pytest.mark.parametrize("strength", [-0.003, 0.004, 0.01])
def test_the_p_value_on_bins_is_that_of_all_rows(strength: float) -> None:
    """The sum over so many dealt cases is normal, with the mean and variance of a sample without replacement."""
    outcome, risk = hospital(strength)
    asked = {
        "brier": (estimated(brier_permutation_test(outcome, risk, PERMUTATIONS)), risk),
        "log": (estimated(log_score_permutation_test(outcome, risk, PERMUTATIONS)), np.log(risk) - np.log1p(-risk)),
    }
    n, m = ROWS, float(outcome.sum())
    for found, score in asked.values():
        spread = math.sqrt(m * (n - m) / n * float(score.var(ddof=1)))
        expected = float(norm.sf((float(score[outcome == 1].sum()) - m * float(score.mean())) / spread))
        p_value = present(found.details["p_value"])
        assert p_value == pytest.approx(
            expected, abs=1 / 1000 + 4 * math.sqrt(expected * (1 - expected) / PERMUTATIONS)
        )
        assert "2,000 bins of risk" in method_text(found.method)


def test_the_bins_keep_the_sum_and_nearly_all_of_the_spread() -> None:
    _, risk = hospital(1)
    p = np.sort(risk)
    cells = risk_cells(p)
    means = cells.means(p)
    assert float(cells.count @ means) == pytest.approx(float(p.sum()), rel=1e-12)
    between = float(cells.count @ (means - p.mean()) ** 2)
    assert between == pytest.approx(float(((p - p.mean()) ** 2).sum()), rel=1e-4)


def test_risks_of_exactly_0_and_1_keep_cells_of_their_own() -> None:
    _, risk = hospital(1)
    risk[:7], risk[7:10] = 0, 1
    cells = risk_cells(np.sort(risk))
    assert (cells.count[0], cells.count[-1]) == (7, 3)
    dealt = next(dealt_cases(cells, 500, 20, np.random.default_rng(1)))
    assert dealt.sum(axis=1).tolist() == [500.0] * 20
    assert (dealt <= cells.count).all()


def test_up_to_50000_rows_every_row_is_dealt_on_its_own() -> None:
    cells = risk_cells(np.linspace(0, 1, BINNED_ABOVE))
    assert (len(cells.count), cells.count.max()) == (BINNED_ABOVE, 1)


def test_the_interval_of_nagelkerke_on_bins_is_that_of_all_rows() -> None:
    outcome, risk = hospital(1.2)
    found = estimated(nagelkerke_r2(outcome, risk, bootstrap=1000))
    logs = np.log(np.where(outcome == 1, risk, 1 - risk))
    rng, replicates = np.random.default_rng(3), []
    for _ in range(300):
        rows = rng.integers(0, ROWS, ROWS)
        phi = float(outcome[rows].mean())
        null = phi * math.log(phi) + (1 - phi) * math.log(1 - phi)
        replicates.append((1 - math.exp(2 * (null - float(logs[rows].mean())))) / (1 - math.exp(2 * null)))
    # The standard error of 300 replicates is itself known to 4 %, that of 1000 to 2 %.
    assert present(found.se) == pytest.approx(float(np.std(replicates, ddof=1)), rel=0.14)


def test_an_answer_is_given_once_for_the_same_rows_and_not_for_others() -> None:
    asked = []

    @once
    def total(values: Floats, more: float = 0.0) -> float:
        asked.append(len(values))
        return float(values.sum()) + more

    each = np.arange(4.0)
    assert [total(each), total(each.copy()), total(each, more=1.0), total(each[::2]), total(each.reshape(2, 2))] == [
        *(6.0, 6.0, 7.0, 2.0, 6.0)
    ]
    assert asked == [4, 4, 2, 2]
