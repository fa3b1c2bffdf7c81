"""How often right risks are accused of being wrong in size, and wrong ones are found: `make claims`.

A release is a set of hospitals of 100 to 2,000 patients (log-uniform), with right risks of an SD of 1 on the logit.
Each hospital is measured by the functions of dossier.metrics alone; Holm and the states are those of the record.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pandas
from scipy.optimize import brentq
from scipy.special import expit, roots_hermitenorm

import dossier
from dossier.core import claims, multiplicity
from dossier.core.bands import OE_TOLERATED
from dossier.core.types import POOLED, Absent, Estimate, Floats, Result, State
from dossier.metrics.calibration import calibration_slope, calibration_test, oe_ratio
from dossier.metrics.discrimination import auroc

RELEASES, PAGES = 1000, 200
HOSPITALS = (1, 3, 8, 20)
PREVALENCES = (0.05, 0.15, 0.4)
Found = tuple[Estimate | Absent, Estimate | Absent, Estimate | Absent]


def centre(prevalence: float, spread: float = 1.0) -> float:
    """The mean of a normal logit of the risk at which so many have the outcome."""
    nodes, weights = roots_hermitenorm(60)
    return float(
        brentq(lambda mean: np.sum(weights * expit(mean + spread * nodes)) / np.sum(weights) - prevalence, -12, 12)
    )


def measured(rng: np.random.Generator, n: int, mean: float, slope: float = 1.0) -> Found:
    """A hospital whose true risks have this slope on the logit of the model's, with the events that these ask for."""
    shown = rng.normal(mean, 1.0, n)
    # Where the slope alone is off, the true risks add up to as many events as the model's.
    truth = mean + slope * (shown - mean)
    truth += 0.0 if slope == 1 else brentq(lambda by: float(np.mean(expit(truth + by) - expit(shown))), -9, 9)
    outcome: Floats = (rng.random(n) < expit(truth)).astype(float)
    risk = expit(shown)
    return oe_ratio(outcome, risk), calibration_slope(outcome, risk), calibration_test(outcome, risk)


def states(hospitals: Sequence[Found]) -> list[State]:
    """How the size of the risks stands at each hospital of a release."""
    names = [str(index) for index in range(len(hospitals))]
    given = [
        Result("calibration_test", "calibration_test", name, {}, test)
        for name, (_, _, test) in zip(names, hospitals, strict=True)
    ]
    judged = multiplicity.of_calibration(given, set(names))
    return [
        multiplicity.calibration(ratio, slope, test.found)
        for (ratio, slope, _), test in zip(hospitals, judged, strict=True)
    ]


def accused(prevalence: float, seed: int, releases: int = RELEASES) -> dict[int, float]:
    """The share of releases of a perfect model with any accusation, by the number of hospitals."""
    rng = np.random.default_rng(seed)
    mean, most = centre(prevalence), max(HOSPITALS)
    counts = dict.fromkeys(HOSPITALS, 0)
    for _ in range(releases):
        sizes = np.exp(rng.uniform(np.log(100), np.log(2000), most)).astype(int)
        hospitals = [measured(rng, int(n), mean) for n in sizes]
        for count in HOSPITALS:
            counts[count] += "against" in states(hospitals[:count])
    return {count: found / releases for count, found in counts.items()}


def power(seed: int, releases: int = RELEASES) -> float:
    """How often a slope of .6 is found at one of eight hospitals, with 1,000 patients and about 300 events."""
    rng = np.random.default_rng(seed)
    mean = centre(0.3)
    found = 0
    for _ in range(releases):
        others = [measured(rng, int(n), mean) for n in np.exp(rng.uniform(np.log(100), np.log(2000), 7))]
        off = measured(rng, 1000, mean, 0.6)
        found += states([off, *others])[0] == "against"
    return found / releases


def pages_accused(hospitals: int, prevalence: float, seed: int, releases: int = PAGES) -> str:
    """The share of whole releases of a right model with two and three groups in which any claim is against it, by
    which question, and of a group at a single hospital.

    Hospitals differ in how common the outcome is, with an SD of .3 on the logit, and in their share of women.
    """
    rng, mean = np.random.default_rng(seed), centre(prevalence)
    accused, questions = 0, Counter[str]()
    for _ in range(releases):
        parts = []
        for hospital in range(hospitals):
            n = int(np.exp(rng.uniform(np.log(100), np.log(2000))))
            risk = expit(rng.normal(mean + rng.normal(0, 0.3), 1.0, n))
            women = rng.random(n) < rng.uniform(0.1, 0.9)
            columns = {"risk": risk, "outcome": (rng.random(n) < risk).astype(int), "woman": women.astype(str)}
            columns["age"] = rng.choice(["young", "middle", "old"], n)
            parts.append(pandas.DataFrame({"hospital": f"hospital {hospital}", **columns}))
        found = dossier.validate(
            pandas.concat(parts),
            outcome="outcome",
            risk="risk",
            site="hospital",
            subgroups=["woman", "age"],
            thresholds=[0.2],
            resampling={"bootstrap": 20, "permutations": 20},
        )
        against = [claim for claim in claims.of(found.evidence) if claim.state == "against"]
        accused += bool(against)
        questions.update({claim.question for claim in against})
        questions["at one hospital"] += any(claim.scope == "group" and claim.dataset != POOLED for claim in against)
    return f"{accused / releases:.3f} {dict(questions)}"


def main() -> None:
    """All rates, printed."""
    out = sys.stdout
    for prevalence in PREVALENCES:
        out.write(f"perfect model, prevalence {prevalence}, releases accused: {accused(prevalence, 1)}\n")
        out.flush()
    for hospitals in HOSPITALS[:3]:
        for prevalence in PREVALENCES[1:]:
            said = pages_accused(hospitals, prevalence, hospitals)
            out.write(f"right model, {hospitals} hospitals, prevalence {prevalence}, any claim against: {said}\n")
            out.flush()
    out.write(f"slope .6 at one of eight hospitals, n 1,000, 300 events, against: {power(2)}\n")
    for slope in (0.6, 1.6):
        # How often the criterion 0.8 to 1.25 is shown of a slope outside it, by the number of patients.
        rng = np.random.default_rng(3)
        least, most = OE_TOLERATED
        found = {}
        for n in (60, 300, 1000, 2000):
            held = [multiplicity.held(measured(rng, n, centre(0.3), slope)[1], least, most) for _ in range(RELEASES)]
            found[n] = held.count("shown") / RELEASES
        out.write(f"slope {slope}, shown within 0.8 to 1.25, by n: {found}\n")
    # How often a limit of .70 is refuted of an AUROC of .84, by the number of patients, a third of them events.
    rng = np.random.default_rng(4)
    apart = 1.4063  # of two normal variables, P(X > Y) = .84: sqrt(2) times its quantile
    found = {}
    for n in (12, 50, 300, 2000):
        held = []
        for _ in range(RELEASES):
            outcome = (np.arange(n) % 3 == 0).astype(float)
            held.append(multiplicity.held(auroc(outcome, expit(rng.normal(apart * outcome, 1.0))), 0.70, None))
        found[n] = held.count("against") / RELEASES
    out.write(f"AUROC .84, limit .70, against, by n: {found}\n")


if __name__ == "__main__":
    main()
