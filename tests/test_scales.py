"""The scale of risks: declared through every door, read as the same risks, and never guessed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dossier
from dossier import reading
from dossier.core.bands import last_digit
from dossier.core.types import Dataset, Feature, Floats
from dossier.core.values import risks
from dossier.metrics import nomogram
from tests.estimated import estimated, present, refused
from tests.metrics.test_nomogram import model
from tests.smallest import HEAD, release_in

RISKS = [0.05, 0.125, 0.3, 0.875] * 10
OUTCOMES = [0, 0, 1, 1] * 10
WRITTEN = {
    "probability": [f"{risk}" for risk in RISKS],
    "percent": [f"{100 * risk:g}" for risk in RISKS],
    "percent with a sign": [f"{100 * risk:g} %" for risk in RISKS],
    "percent with a comma": [f"{100 * risk:g}%".replace(".", ",") for risk in RISKS],
    "log_odds": [repr(math.log(risk / (1 - risk))) for risk in RISKS],
}


def risks_of(found: Dataset) -> Floats:
    return present(found.risk)


def compared(risk: Floats, age: Floats) -> Mapping[str, float | None]:
    """The details of the comparison with the formula -2 + 0.03 age."""
    formula = model({"predictor": "age", "coefficient": 0.03}, intercept=-2.0)
    return estimated(nomogram.formula_difference(formula, risk, (Feature("age", age),))).details


def table(folder: Path, written: str) -> Path:
    path = folder / "site.csv"
    rows = (f"{outcome};{risk}" for outcome, risk in zip(OUTCOMES, WRITTEN[written], strict=True))
    path.write_text("\n".join(["outcome;risk", *rows, ""]), encoding="utf-8")
    return path


@pytest.mark.parametrize("written", WRITTEN)
def test_every_door_reads_the_same_risks(tmp_path: Path, written: str) -> None:
    scale = written.split(" ")[0]
    path = table(tmp_path, written)
    (quick,) = reading.quick(path, "outcome", "risk", scale=scale).datasets
    head = HEAD.replace('column = "risk"', f'column = "risk"\nscale = "{scale}"')
    assert head != HEAD
    release_in(tmp_path, f'{head}[[dataset]]\nname = "site"\nrole = "external"\nfile = "site.csv"\n')
    (release,) = reading.study(tmp_path).datasets
    frame = pandas.read_csv(path, sep=";", decimal="," if "comma" in written else ".")
    (of_frame,) = dossier.validate(frame, outcome="outcome", risk="risk", scale=scale).study.datasets
    for found in (quick, release, of_frame):
        np.testing.assert_allclose(risks_of(found), RISKS, rtol=0, atol=1e-15)


def test_a_scale_of_a_horizon_is_that_of_all_horizons(tmp_path: Path) -> None:
    text = HEAD.replace('column = "risk"', 'scale = "percent"')
    text = text.replace('column = "outcome"', 'column = "status"\ntime = "days"')
    text += '[[horizon]]\nat = 30\nrisk = "by_30"\n[[horizon]]\nat = 60\nrisk = "by_60"\n'
    text += '[[dataset]]\nname = "site"\nrole = "external"\nfile = "site.csv"\n'
    rows = [f"{day},{status},{day / 2},{day}" for day in range(10, 90) for status in (0, 1)]
    release_in(tmp_path, text, site__csv="\n".join(["days,status,by_30,by_60", *rows, ""]))
    (found,) = reading.study(tmp_path).datasets
    assert risks_of(found)[-1] == 0.445
    assert present(found.further_horizons[0].risk)[-1] == 0.89
    frame = pandas.read_csv(tmp_path / "site.csv")
    (of_frame,) = dossier.validate(
        frame, time="days", event="status", at=30, risk="by_30", scale="percent"
    ).study.datasets
    assert risks_of(of_frame)[-1] == 0.445


@pytest.mark.parametrize(
    ("risk", "scale", "says"),
    [
        ("12%", "probability", "or if all of it is, say --scale percent."),
        ("112", "percent", "risk is 112, outside 0 to 100."),
        ("101.5", "log_odds", "risk is 101.5, outside -100 to 100."),
        ("inf", "log_odds", "risk is infinite."),
    ],
)
def test_what_is_none_of_a_scale_is_told(tmp_path: Path, risk: str, scale: str, says: str) -> None:
    path = tmp_path / "site.csv"
    path.write_text("outcome,risk\n" + "0,0.5\n1,0.25\n" * 20 + f"1,{risk}\n", encoding="utf-8")
    assert says in str(refused(reading.quick, path, "outcome", "risk", scale=scale))


@pytest.mark.parametrize(
    ("times", "scales"), [(100, 'scale="percent"'), (-3, 'scale="log_odds"'), (5, 'scale="percent" or "log_odds"')]
)
def test_a_frame_is_told_its_argument(times: float, scales: str) -> None:
    frame = pandas.DataFrame({"died": OUTCOMES, "risk": [times * risk for risk in RISKS]})
    (fault,) = refused(dossier.validate, frame, outcome="died", risk="risk").faults
    assert fault.fix.endswith(f"or if all of it is, say {scales}.")
    assert fault.where == "frame, column risk"


def test_an_unknown_scale_is_told_with_those_that_there_are() -> None:
    frame = pandas.DataFrame({"died": OUTCOMES, "risk": RISKS})
    (fault,) = refused(dossier.validate, frame, outcome="died", risk="risk", scale="per cent").faults
    assert fault.where == "argument scale"
    assert all(scale in fault.fix + fault.what for scale in ("probability", "percent", "log_odds"))


def test_the_rival_stays_a_probability_beside_another_scale() -> None:
    frame = pandas.DataFrame({"died": OUTCOMES, "risk": [100 * risk for risk in RISKS], "old": RISKS})
    (found,) = dossier.validate(frame, outcome="died", risk="risk", rival="old", scale="percent").study.datasets
    assert risks_of(found).tolist() == RISKS
    assert present(found.rival).tolist() == RISKS


@given(st.floats(1e-6, 1 - 1e-6))
def test_log_odds_and_per_cent_are_the_risk_again(risk: float) -> None:
    assert risks(np.array([math.log(risk / (1 - risk))]), "log_odds")[0] == pytest.approx(risk, rel=1e-12)
    assert risks(np.array([100 * risk]), "percent")[0] == pytest.approx(risk, rel=1e-12)


# ---- the precision that a file prints -------------------------------------------------------------------------------


@pytest.mark.parametrize("digits", [2, 3, 4, 5])
def test_the_last_digit_is_that_which_was_printed(digits: int) -> None:
    numbers = np.round(np.random.default_rng(digits).uniform(size=100), digits)
    assert last_digit(numbers) == pytest.approx(0.5 * 10.0**-digits, rel=1e-8)


@pytest.mark.parametrize(("wrong", "differing"), [(0.0, 0), (0.02, 300)])
@pytest.mark.parametrize("printed", ["two decimals", "log odds of one decimal"])
def test_risks_of_a_file_may_differ_from_the_formula_as_far_as_it_rounds(
    printed: str, wrong: float, differing: int
) -> None:
    age = np.random.default_rng(3).uniform(20, 80, 300)
    linear = -2 + 0.03 * age
    exact = 1 / (1 + np.exp(-linear))
    rounded = np.round(exact + wrong, 2)
    if printed != "two decimals":
        rounded = 1 / (1 + np.exp(-np.round(linear + 6 * wrong, 1)))
    found = compared(rounded, age)
    assert (found["differing"] or 0) >= 0.8 * differing
    assert found["differing"] == 0 or differing
    assert (found["tolerated"] or 0) > 0.001


def test_exact_risks_are_held_against_the_formula_as_before() -> None:
    age = np.random.default_rng(3).uniform(20, 80, 300)
    exact = 1 / (1 + np.exp(2 - 0.03 * age))
    assert compared(exact + 0.0015, age) == {"differing": 300.0, "left_out": 0.0}
