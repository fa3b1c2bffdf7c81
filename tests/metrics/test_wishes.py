"""A threshold for a wish: against a search of all risks, published ranks, the laws of the choice, and simulation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from dossier.core.register import fill
from dossier.core.types import Absent, Estimate, Floats
from dossier.metrics import wishes
from tests.estimated import absent, estimated, interval_of

COSTS = ("sensitivity", "specificity", "ppv", "net_benefit")


def reaches(outcome: Floats, risk: Floats, threshold: float, wish: str) -> bool:
    """Whether flagging from a threshold on reaches a wish, person by person."""
    name, share = wish.split()
    people = [
        (p >= threshold) if name == "sensitivity" else (p < threshold) for p in risk[outcome == (name[:2] == "se")]
    ]
    return bool(sum(people) / len(people) >= float(share))


def searched(outcome: Floats, risk: Floats, wish: str) -> float | None:
    """The threshold for a wish by looking at every observed risk."""
    ends = max if wish.startswith("sensitivity") else min
    return ends((float(t) for t in risk if reaches(outcome, risk, float(t), wish)), default=None)


ROWS = st.lists(st.tuples(st.booleans(), st.integers(0, 12)), min_size=2, max_size=40).filter(
    lambda rows: len({case for case, _ in rows}) == 2
)
WISHES = st.tuples(
    st.sampled_from(["sensitivity", "specificity"]), st.sampled_from(["0.05", "0.5", "0.7", "0.9", "0.95", "1"])
)


@given(ROWS, WISHES)
def test_it_is_what_a_search_of_all_risks_finds_and_the_next_one_is_none(
    rows: list[tuple[bool, int]], wished: tuple[str, str]
) -> None:
    outcome, risk = np.array([float(case) for case, _ in rows]), np.array([step / 12 for _, step in rows])
    wish = " ".join(wished)
    found, expected = wishes.threshold_for_wish(outcome, risk, wish), searched(outcome, risk, wish)
    if expected is None:
        assert isinstance(found, Absent)
        assert (found.reason.code, wished[0]) == ("wish_not_reached", "specificity")
        return
    found = estimated(found)
    assert found.value == expected
    low, high = interval_of(found)
    assert 0 <= low <= found.value <= high <= 1
    assert reaches(outcome, risk, found.value, wish)
    beyond = risk[risk > found.value] if wished[0] == "sensitivity" else risk[risk < found.value]
    assert not any(reaches(outcome, risk, float(next_one), wish) for next_one in beyond)
    # A wish that asks for more never flags fewer, or more of a specificity.
    more = wishes.threshold_for_wish(outcome, risk, f"{wished[0]} 1")
    if isinstance(more, Estimate):
        assert (more.value <= found.value) if wished[0] == "sensitivity" else (more.value >= found.value)


@given(ROWS, WISHES)
def test_the_costs_are_those_of_the_measures_at_that_threshold(
    rows: list[tuple[bool, int]], wished: tuple[str, str]
) -> None:
    outcome, risk = np.array([float(case) for case, _ in rows]), np.array([step / 12 for _, step in rows])
    wish, metrics = " ".join(wished), fill("metrics").metrics
    at = wishes.chosen(outcome, risk, wish)
    for name in COSTS:
        found = metrics[f"{name}_at_wish"].function(outcome, risk, wish)
        plain = at if isinstance(at, Absent) else metrics[name].function(outcome, risk, at)
        if isinstance(plain, Absent):
            assert isinstance(found, Absent)
            assert found.reason.code == plain.reason.code
        else:
            assert (found.value, found.low, found.high, found.n) == (plain.value, plain.low, plain.high, plain.n)
            assert found.method.steps[-1].code == "threshold_chosen_here"
    if not isinstance(at, Absent):
        assert estimated(wishes.flagged_at_wish(outcome, risk, wish)).value == np.mean(risk >= at)


@pytest.mark.parametrize(("cases", "low", "high"), [(10, 2, 9), (20, 6, 15), (30, 10, 21), (50, 18, 33)])
def test_the_interval_of_a_median_has_the_published_ranks(cases: int, low: int, high: int) -> None:
    """Campbell MJ, Gardner MJ. BMJ 1988;296:1454-6: ranks of the 95 % interval of a median."""
    risk = np.concatenate([np.arange(1, cases + 1) / 100, [0.001, 0.999]])
    for name, label in (("sensitivity", 1.0), ("specificity", 0.0)):
        outcome = np.where(np.arange(cases + 2) < cases, label, 1 - label)
        found = estimated(wishes.threshold_for_wish(outcome, risk, f"{name} 0.5"))
        # Only above an observed risk, at the next one, is it on the right side of a specificity.
        assert (found.low, found.high, found.n) == (low / 100, (high + (label == 0)) / 100, cases)


def test_few_cases_bound_it_on_one_side_only() -> None:
    """Fewer than 59 cases never tell where 95 % lie at one-sided 95 % (Wilks 1941): .95^58 > .05 >= .95^59."""
    for cases, is_bounded in ((58, False), (59, True)):
        outcome, risk = np.ones(cases + 1), np.linspace(0.2, 0.8, cases + 1)
        outcome[-1] = 0
        found = estimated(wishes.threshold_for_wish(outcome, risk, "sensitivity 0.95", level=0.9))
        assert (found.low == 0.2) is is_bounded
        assert (found.low == 0) is not is_bounded


def test_what_cannot_be_chosen_says_why() -> None:
    risk = np.array([0.1, 0.2, 0.3])
    for outcome, wish, code in (
        (np.zeros(3), "sensitivity 0.9", "no_event"),
        (np.ones(3), "specificity 0.9", "no_non_event"),
        (np.array([1.0, 0.0, 0.0]), "specificity 1", "wish_not_reached"),
        (np.array([1.0, 0.0, 0.0]), "ppv 0.9", "wish_not_known"),
        (np.array([1.0, 0.0, 0.0]), "sensitivity 0.0", "wish_not_known"),
    ):
        for measure in (wishes.threshold_for_wish, wishes.flagged_at_wish):
            assert absent(measure(outcome, risk, wish)).reason.code == code


@pytest.mark.slow
@pytest.mark.parametrize("wish", ["sensitivity 0.9", "specificity 0.8"])
@pytest.mark.parametrize("steps", [None, 20])
def test_the_intervals_hold_the_true_values_as_often_as_they_say(wish: str, steps: int | None) -> None:
    """Risks normal on the scale of the logit, or those risks in steps of one twentieth; 400 patients, 30 % cases."""
    rng, shift, prevalence, n, times = np.random.default_rng(3), 1.5, 0.3, 400, 1500
    grid = np.linspace(0, 1, 20_001)[1:-1] if steps is None else np.arange(0, steps + 1) / steps

    def true(threshold: Floats, centre: float) -> Floats:
        """The share of a class whose risk reaches a threshold."""
        edge = threshold if steps is None else np.ceil(threshold * steps - 1e-9) / steps - 0.5 / steps
        edge = np.clip(edge, 1e-12, 1 - 1e-12)
        return np.asarray(norm.sf(np.log(edge / (1 - edge)) - centre))

    name, share = wish.split()
    good = true(grid, shift) >= float(share) if name == "sensitivity" else 1 - true(grid, 0.0) >= float(share)
    right = float(grid[good].max() if name == "sensitivity" else grid[good].min())
    metrics, held = fill("metrics").metrics, dict.fromkeys(["threshold_for_wish", "flagged_at_wish"], 0)
    held |= {f"{cost}_at_wish": 0 for cost in COSTS}
    for _ in range(times):
        outcome = (rng.random(n) < prevalence).astype(float)
        risk = 1 / (1 + np.exp(-rng.normal(shift * outcome, 1)))
        risk = risk if steps is None else np.round(risk * steps) / steps
        at = wishes.chosen(outcome, risk, wish)
        assert isinstance(at, float)
        hit, alarm = float(true(np.array(at), shift)), float(true(np.array(at), 0.0))
        found, alarms = prevalence * hit, (1 - prevalence) * alarm
        truths = {"threshold_for_wish": right, "flagged_at_wish": found + alarms, "sensitivity_at_wish": hit}
        truths |= {"specificity_at_wish": 1 - alarm, "ppv_at_wish": found / (found + alarms)}
        truths["net_benefit_at_wish"] = found - alarms * at / (1 - at)
        for measure, truth in truths.items():
            each = estimated(metrics[measure].function(outcome, risk, wish))
            low, high = interval_of(each)
            held[measure] += low - 1e-9 <= truth <= high + 1e-9
    # Three standard errors of a coverage of .95; the exact interval of the threshold may hold more often.
    assert all(count / times >= 0.95 - 3 * 0.0056 for count in held.values()), held
    assert all(
        count / times <= 0.98 for measure, count in held.items() if measure in ("flagged_at_wish", "ppv_at_wish")
    )
