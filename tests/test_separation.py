"""Whether a model separates patients at a hospital is judged once, and both editions say it first."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas
import pytest
from scipy.special import expit

import dossier
from dossier.core import multiplicity
from dossier.core.types import Estimate, Evidence, Result
from dossier.metrics.discrimination import auroc
from dossier.report.chapters import committee, verdict
from dossier.typeset.numbers import plain


def validated(rows: pandas.DataFrame, threshold: float) -> Evidence:
    resampling = {"bootstrap": 100, "permutations": 100}
    return dossier.validate(
        rows, outcome="y", risk="p", site="site", thresholds=[threshold], resampling=resampling
    ).evidence


REVERSED = ((0.9, 500, 50), (0.7, 500, 150), (0.3, 200, 140), (0.1, 20, 18))
"""Risks with the patients who got them, and how many of these had the outcome: the higher, the rarer."""


@pytest.mark.parametrize("threshold", [0.2, 0.5])
def test_both_editions_say_first_that_the_order_of_risks_is_reversed_and_agree(threshold: float) -> None:
    here = [(int(i < events), risk) for risk, n, events in REVERSED for i in range(n)]
    rows = pandas.DataFrame([(*row, site) for site in ("Bari", "Turin", "Genoa") for row in here])
    evidence = validated(rows.set_axis(["y", "p", "site"], axis=1), threshold)
    lead = plain(verdict.finding(evidence).lead)
    assert lead.startswith("The order of risks is reversed in ")
    assert lead.endswith(": the higher the risk, the rarer the outcome.")
    assert committee.answer(evidence).startswith("The higher its percentage, the rarer the outcome")
    right = committee.are_right(evidence)
    dangers = [danger.text for danger in committee.could_go_wrong(evidence)]
    for text in (verdict.finding(evidence).rest, right.lead, right.rest, *dangers):
        assert "too low" not in text
        assert "too high" not in text


def of_hospitals(rng: np.random.Generator, *spreads: float, n: int = 1500) -> pandas.DataFrame:
    """Hospitals of right risks of these standard deviations on the logit."""
    parts = []
    for index, spread in enumerate(spreads, 1):
        risk = expit(rng.normal(-0.6, spread, n))
        outcome = (rng.random(n) < (risk if spread else 0.35)).astype(int)
        parts.append(pandas.DataFrame({"y": outcome, "p": risk, "site": f"Ward {index}"}))
    return pandas.concat(parts)


def test_a_hospital_without_discrimination_among_good_ones_is_named_first_in_both_editions() -> None:
    rows = of_hospitals(np.random.default_rng(3), 1.5, 1.5, 1.5, 1.5, 1.5)
    last = rows["site"] == "Ward 5"
    rows.loc[last, "p"] = np.random.default_rng(4).permutation(rows.loc[last, "p"].to_numpy())
    evidence = validated(rows, 0.3)
    lead = plain(verdict.finding(evidence).lead)
    assert lead.startswith("The model does not separate those with from those without the outcome in Ward 5 (AUROC 0.")
    assert "Ward 1" not in lead
    assert committee.answer(evidence).startswith("It does not tell sick from well in Ward 5 (")
    assert verdict.standing_out(evidence)[0].site == "Ward 5"
    ours = dataclasses.replace(evidence, local_site=verdict.standing_out(evidence)[0].name)
    assert committee.answer(ours).startswith("It does not tell sick from well in Ward 5 (")
    assert "Too few to tell whether" not in " ".join(committee.works_here(ours))


def judged(rng: np.random.Generator, spread: float, n: int, hospitals: int) -> list[str]:
    """How hospitals of right risks stand, judged together."""
    found = []
    for index in range(hospitals):
        risk = expit(rng.normal(-0.8, spread, n))
        found.append(Result("auroc", "auroc", str(index), {}, auroc((rng.random(n) < risk).astype(float), risk)))
    known = multiplicity.of_discrimination(found, {result.dataset for result in found})
    return [multiplicity.discrimination(result.found) for result in known]


@pytest.mark.parametrize(("n", "hospitals"), [(60, 8), (100, 8), (100, 20), (1000, 8)])
def test_a_right_model_of_an_auroc_of_about_two_thirds_is_not_accused(n: int, hospitals: int) -> None:
    """A standard deviation of .65 on the logit gives right risks an AUROC of .67; at most 2 % of releases accuse."""
    rng = np.random.default_rng(n + hospitals)
    releases = 150
    assert sum("against" in judged(rng, 0.65, n, hospitals) for _ in range(releases)) <= 0.02 * releases


def test_few_patients_show_neither() -> None:
    few = Estimate(0.2, 0.1, 0.35, 0.95, 300, multiplicity.INDEPENDENT, events=12)
    assert multiplicity.discrimination(few) == "open"
    assert multiplicity.discrimination(dataclasses.replace(few, events=120)) == "against"
