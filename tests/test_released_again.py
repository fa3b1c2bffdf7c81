"""The same patients released again, their risks rounded, rescaled or of another version, or a few of them gone.

The attacker reads what both releases print, knows which risks occur together and how many patients left, and owns an
integer solver; nothing of ours says what is known.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp

from dossier import evaluate, reading
from dossier.core.types import CountRange, Estimate, Evidence, Floats, Ledger, Released, Study
from dossier.evaluate import disclosure
from dossier.record import ledger
from tests.attacker import SMALLEST
from tests.smallest import HEAD, release_in

GRID = np.append(np.round(np.arange(0, 1, 0.05), 2), 0.33)
GRID.sort()
RELEASE = f"""{HEAD}
[thresholds]
declared = [0.33]
[resampling]
bootstrap = 2
permutations = 1
[disclosure]
minimum_cell = {SMALLEST}
ledger = "released.json"
[[dataset]]
name = "north"
role = "external"
file = "north.csv"
"""
MEASURES = frozenset({"auroc", "brier", "oe_ratio", "calibration_slope", "calibration_intercept", "sensitivity"})
RULES = {"brier": "mean", "oe_ratio": "ratio"}
"""The sums over all rows, of squares and of risks, by the rules of their steps: a reader sees them in the digits."""
SEEDS = (1, 4, 5)
"""Of one a few leave and no range moves; of one an update tells of few."""
GONE = -1.0
"""In place of the risk of a patient who is not in a release."""
Again = Callable[[np.random.Generator, Floats], Floats]


def _updated(rng: np.random.Generator, risk: Floats) -> Floats:
    """Another version for a rare group, which the first took for well."""
    made, low = risk.copy(), np.flatnonzero(risk < 0.05)
    made[rng.choice(low, min(len(low), int(rng.integers(3, 10))), replace=False)] = 0.97
    return made


def _fewer(rng: np.random.Generator, risk: Floats) -> Floats:
    made = risk.copy()
    made[rng.choice(len(risk), int(rng.integers(1, 10)), replace=False)] = GONE
    return made


AGAIN: dict[str, Again] = {
    "rounded to hundredths": lambda rng, risk: np.round(risk, 2),
    "rounded to tenths": lambda rng, risk: np.round(risk, 1).clip(0.01, 0.99),
    "rescaled": lambda rng, risk: risk * rng.uniform(0.85, 0.98),
    "refitted": lambda rng, risk: (risk + rng.normal(0, 0.02, len(risk))).clip(0.002, 0.998),
    "updated": _updated,
    "fewer": _fewer,
}
NAMES = {"as it was": ("Example", "north"), "another version": ("Example 2", "north"), "another name": ("", "south")}


@dataclass(frozen=True)
class Printed:
    """What a release prints of a hospital whose risks it has, and the width of its ranges."""

    risk: Floats
    wide: int
    numbers: dict[str, tuple[float, float]]
    """Sums over all rows, and in which steps they are given."""


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """A release, whose rows are put in afterwards."""
    folder = tmp_path_factory.mktemp("again")
    return reading.study(release_in(folder, RELEASE, north__csv="outcome,risk\n" + "1,0.4\n0,0.2\n" * 30))


def _study(read: Study, outcome: Floats, risk: Floats, model: str, name: str, known: Sequence[Released] = ()) -> Study:
    here = risk != GONE
    made = dataclasses.replace(
        read.datasets[0], name=name, rows_read=int(here.sum()), excluded={}, outcome=outcome[here], risk=risk[here]
    )
    return dataclasses.replace(read, datasets=(made,), ledger=Ledger("released.json", model, tuple(known)))


def _given(study: Study) -> Evidence:
    return evaluate._complete(study, evaluate._Workers(), MEASURES)


def _is_refused(study: Study) -> bool:
    """Whether a build refuses it beside its ledger, before or after its numbers are known."""
    assert study.ledger is not None
    return bool(disclosure.refused(study, evaluate._sites(study)) or ledger.after(study.ledger, _given(study))[1])


def _printed(study: Study, risk: Floats) -> Printed:
    """What stands in the results of the one hospital: the ranges, and the mean risk and Brier score in their steps."""
    found, numbers = _given(study), {}
    (dataset,), (site,) = found.datasets, evaluate._sites(study)
    of_all = disclosure._settled(site)[0].all_rows
    assert of_all is not None
    for row in found.results:
        if row.measure in RULES and row.dataset == dataset.name and isinstance(row.found, Estimate):
            mean = int(dataset.events or 0) / int(dataset.n) / row.found.value
            value = row.found.value if row.measure == "brier" else mean
            numbers[row.measure] = value, of_all.step(RULES[row.measure])
    assert isinstance(dataset.events, CountRange)
    return Printed(risk, dataset.events.high - dataset.events.low + 1, numbers)


class Solver:
    """The tables that two releases allow: a number for each outcome, with a place of the risk in each."""

    def __init__(self, outcome: Floats, releases: Sequence[Printed]) -> None:
        at = [np.searchsorted(GRID, each.risk, "right") - 1 for each in releases]
        self.kinds, of = np.unique(np.column_stack([outcome, *at]), axis=0, return_inverse=True)
        self.true = np.bincount(of.ravel())
        self.rows: list[tuple[Floats, float, float]] = []
        for number, each in enumerate(releases):
            for asked in self._tails(number):
                low = float(asked @ self.true) // each.wide * each.wide
                self.rows.append((asked, low, low + each.wide - 1))
            here = self.kinds[:, number + 1] >= 0
            adds = {"oe_ratio": each.risk, "brier": (outcome - each.risk) ** 2}
            for name, (value, step) in each.numbers.items():
                part = np.bincount(of.ravel(), adds[name]) / self.true * here
                self.rows += [(part - here * (value - step / 2), -1e-6, np.inf)]
                self.rows += [(part - here * (value + step / 2), -np.inf, 1e-6)]
            left = (~here).astype(float)
            self.rows.append((left, float(left @ self.true), float(left @ self.true)))

    def _tails(self, number: int, *, beyond: bool = True) -> Iterator[Floats]:
        for label in (0, 1):
            for place in range(len(GRID)):
                at = self.kinds[:, number + 1]
                yield ((self.kinds[:, 0] == label) & (at >= place if beyond else at == place)).astype(float)

    def _asked(self) -> Iterator[NDArray[np.generic]]:
        """Tails and parts of either release, and those whose risk is in another part in the second, or who left."""
        for number in range(self.kinds.shape[1] - 1):
            yield from self._tails(number)
            yield from self._tails(number, beyond=False)
        first, last = self.kinds[:, 1], self.kinds[:, -1]
        moved = (np.abs(last - first) > 1) & (last >= 0)
        yield from (moved, *(moved & (self.kinds[:, 0] == label) for label in (0, 1)))

    def fewest(self, most: int) -> int:
        """The fewest values of some counts of 1 to 9; as many as a range has where there is none."""
        asked = [np.asarray(each, dtype=float) for each in self._asked()]
        small = {each.tobytes(): each for each in asked if 0 < each @ self.true < SMALLEST}
        order = list(small.values())[::-1]
        known = LinearConstraint(*map(np.array, zip(*self.rows, strict=True)))
        solve = functools.partial(milp, constraints=known, integrality=np.ones(len(self.true)), bounds=Bounds(0))
        found = [SMALLEST]
        for aim in order[:most]:
            low, high = (sign * solve(sign * aim, options={"node_limit": 2000}).fun for sign in (1, -1))
            assert low <= aim @ self.true <= high
            found.append(round(high - low) + 1)
        return min(found)


def _hospital(seed: int) -> tuple[np.random.Generator, Floats, Floats]:
    rng = np.random.default_rng(20261127 + seed)
    risk = rng.beta(0.8, 2.5, int(rng.integers(250, 900))).clip(0.002, 0.998).round(3)
    return rng, (rng.random(len(risk)) < risk).astype(float), risk


@pytest.mark.parametrize("how", AGAIN)
@pytest.mark.parametrize("seed", SEEDS)
def test_what_was_released_leaves_as_many_values_beside_it_or_is_refused(read: Study, how: str, seed: int) -> None:
    rng, outcome, risk = _hospital(seed)
    again = AGAIN[how](rng, risk)
    given = _given(_study(read, outcome, risk, "Example", "north"))
    known = dataclasses.replace(given.audit[0].released, model="Example")
    refused = {as_: _is_refused(_study(read, outcome, again, *names, [known])) for as_, names in NAMES.items()}
    assert refused["another version"]
    assert refused["another name"]
    if not refused["as it was"]:
        both = [_printed(_study(read, outcome, each, "Example", "north"), each) for each in (risk, again)]
        assert Solver(outcome, both).fewest(12) >= SMALLEST


def test_without_a_ledger_both_together_tell_of_few(read: Study) -> None:
    """The control: the attacker finds what the ledger refuses."""
    fewest = []
    for seed in SEEDS:
        rng, outcome, risk = _hospital(seed)
        both = [risk, _updated(rng, risk)]
        printed = [_printed(_study(read, outcome, each, "Example", "north"), each) for each in both]
        assert Solver(outcome, printed[:1]).fewest(12) >= SMALLEST
        fewest.append(Solver(outcome, printed).fewest(12))
    assert min(fewest) < SMALLEST
