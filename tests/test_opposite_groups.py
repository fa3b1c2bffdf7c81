"""A group that is worse off at one hospital, or off in opposite ways at two, of which nothing is left over all."""

from __future__ import annotations

import numpy as np
import pandas
import pytest

import dossier
from dossier.core import claims, multiplicity, types
from dossier.core.claims import Claim
from dossier.report.chapters import subgroups
from dossier.report.chapters.committee import missed, percentages
from dossier.typeset.flags import flag_text


def _hospital(rng: np.random.Generator, name: str, off: float, n: int = 3000) -> pandas.DataFrame:
    """Patients of a hospital at which the log odds of women lie so far above what the model says."""
    said, women = rng.normal(-1, 1, n), rng.random(n) < 0.5
    truth = said + off * women
    columns = {"risk": said, "truth": truth}
    risk, chance = (1 / (1 + np.exp(-values)) for values in columns.values())
    outcome, sex = (rng.random(n) < chance).astype(int), np.where(women, "female", "male")
    return pandas.DataFrame({"hospital": name, "risk": risk, "outcome": outcome, "sex": sex})


def _evidence(off: dict[str, float], seed: int = 5) -> types.Evidence:
    rng = np.random.default_rng(seed)
    return dossier.validate(
        pandas.concat([_hospital(rng, name, by) for name, by in off.items()]),
        outcome="outcome",
        risk="risk",
        site="hospital",
        subgroups=["sex"],
        thresholds=[0.2],
        resampling={"bootstrap": 2, "permutations": 9},
    ).evidence


@pytest.fixture(scope="module")
def opposite() -> types.Evidence:
    """Women are underestimated in Aachen and overestimated in Basel."""
    return _evidence({"Aachen": 0.7, "Basel": -0.7})


def _of_ratio(evidence: types.Evidence) -> dict[str, Claim]:
    return {
        claim.dataset: claim
        for claim in claims.about(evidence, "groups", "group")
        if claim.measure == "oe_ratio_ratio" and claim.subset == types.Subset("sex", "female")
    }


def test_each_hospital_accuses_and_their_mean_does_not(opposite: types.Evidence) -> None:
    found = _of_ratio(opposite)
    assert {claim.state for name, claim in found.items() if name != types.POOLED} == {"against"}
    assert found[types.POOLED].state == "open"
    assert claims.about(opposite, "groups", "overall")[0].state == "against"
    # Two groups are one look: four measures at two hospitals.
    assert {claim.looks for name, claim in found.items() if name != types.POOLED} == {8}
    assert all((claim.p_adjusted or 0) <= multiplicity.LEVEL for name, claim in found.items() if name != types.POOLED)


def test_both_are_counted_and_said_in_both_editions(opposite: types.Evidence) -> None:
    assert [claim.state for claim in claims.counted(opposite, "groups")].count("against") == 2
    flags = [flag for flag in opposite.flags if flag.flag == "subgroup_differs"]
    told = " ".join(flag_text(flag.fact) for flag in flags)
    assert "Aachen" in told
    assert "Basel" in told
    said = subgroups.finding(opposite)
    assert "In Aachen the model underestimates the risk of the subgroup female (sex)" in said.lead
    assert "In Basel the model overestimates the risk of the subgroup female (sex)" in said.rest
    assert missed.worse_for(opposite) == (
        "The model underestimates the risk of female patients in Aachen. "
        "The model overestimates the risk of female patients in Basel."
    )
    brief = " ".join(missed.groups_in_brief(opposite))
    assert "underestimates the risk of female patients in Aachen" in brief
    assert "overestimates the risk of female patients in Basel" in brief


def test_the_mean_of_opposite_groups_is_not_printed_as_what_holds(opposite: types.Evidence) -> None:
    table = missed.groups(opposite)
    assert table is not None
    assert [row.cells[3].text for row in table.rows] == ["see below", "99"]
    assert "the percentages of the group are not alike in all hospitals" in table.note


def test_of_two_hospitals_that_are_off_in_opposite_ways_nobody_calls_the_mean_right(opposite: types.Evidence) -> None:
    of_size = claims.about(opposite, "calibration")
    assert {claim.scope: claim.state for claim in of_size} == {"overall": "open", "hospital": "open"}
    assert all(claims.is_off_by_an_open_amount(claim) for claim in of_size if claim.scope == "hospital")
    assert percentages.are_right(opposite).lead == "Not quite in Basel and Aachen; nobody can tell yet whether by much."


def test_what_holds_over_all_is_said_once() -> None:
    evidence = _evidence({"Aachen": 0.7, "Basel": 0.7, "Celle": 0.7})
    found = _of_ratio(evidence)
    assert found.pop(types.POOLED).state == "against"
    stands = {(claim.state, claim.alone, claim.reason and claim.reason.code) for claim in found.values()}
    assert stands == {("open", "against", "judged_among_all")}
    assert [flag.dataset for flag in evidence.flags if flag.flag == "subgroup_differs"] == [types.POOLED]


@pytest.mark.slow
def test_one_of_eight_is_named_and_no_other() -> None:
    names = ["Aachen", "Basel", "Celle", "Dresden", "Essen", "Freiburg", "Graz", "Halle"]
    evidence = _evidence({name: -0.9 if name == "Celle" else 0.0 for name in names}, seed=7)
    against = [claim for claim in claims.about(evidence, "groups", "group") if claim.state == "against"]
    assert {claim.dataset for claim in against} == {"data-celle"}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_right_hospitals_accuse_nobody(seed: int) -> None:
    evidence = _evidence(dict.fromkeys(["Aachen", "Basel", "Celle"], 0.0), seed)
    assert not [claim for claim in claims.about(evidence, "groups") if claim.state == "against"]
