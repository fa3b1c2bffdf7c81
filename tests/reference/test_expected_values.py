"""The real releases, built whole, against the numbers that methods.md prints for them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from tests import reasons
from tests.reference.built import hurried, methods, results_of, row, simulation_error, study

Read = Callable[[dict[str, Any], str], float]


def _dataset(key: str) -> Read:
    def read(document: dict[str, Any], site: str) -> float:
        (found,) = (dataset for dataset in document["datasets"] if dataset["name"] == site)
        return float(found[key])

    return read


def _estimate(measure: str, key: str = "value", **at: float | str) -> Read:
    return lambda document, site: float(row(document, measure, site, **at)[key])


def _h_accuracy(tau: float) -> Read:
    return _estimate("h_accuracy", priority=0.5, tau=tau, complexity="constant")


COLUMNS: dict[str, Read] = {
    "n": _dataset("n"),
    "events": _dataset("events"),
    "auroc": _estimate("auroc"),
    "DeLong SE": _estimate("auroc", "se"),
    "brier": _estimate("brier"),
    "log": _estimate("log_score"),
    "O/E": _estimate("oe_ratio"),
    "intercept": _estimate("calibration_intercept"),
    "slope": _estimate("calibration_slope"),
    "sens": _estimate("sensitivity", threshold=0.5),
    "spec": _estimate("specificity", threshold=0.5),
    "sNB": _estimate("standardized_net_benefit", threshold=0.5),
    "NB25": _estimate("net_benefit", threshold=0.25),
    "Ha .6": _h_accuracy(0.6),
    "Ha .75": _h_accuracy(0.75),
    "Ha 1": _h_accuracy(1.0),
    "MCC": _estimate("mcc", threshold=0.5),
    "ECE": _estimate("ece"),
    "ECI": _estimate("eci"),
    "AdV(ECE)": _estimate("advisor_value", calibration="ece"),
}
"""How each column of the table is read from results.json."""

SIGNIFICANT = 7
"""The table prints seven significant digits, without trailing zeros."""

SITES = ("brazil-1", "brazil-3", "italy-1", "ethiopia", "spain")
PREDICTORS = ("italy-1", "italy-2")
DECLARED = {
    "brazil-1": (0.341, 1301),
    "brazil-2": (0.447, 2335),
    "brazil-3": (0.348, 345),
    "italy-3": (0.444, 224),
    "ethiopia": (0.323, 429),
    "spain": (0.315, 120),
}
"""The averaged similarity and the n that the release declares of sites without predictors."""
NO_PREDICTORS = tuple(DECLARED)
PERMUTATIONS = 999


def expected() -> dict[str, dict[str, float]]:
    """The table "Expected values on real sites": by site, the number of each column."""
    lines = methods().partition("## Expected values on real sites")[2].splitlines()
    cells = [[cell.strip() for cell in line.strip("| ").split("|")] for line in lines if line.startswith("|")]
    head, body = cells[0], cells[2:]
    return {part[0]: {name: float(cell) for name, cell in zip(head[1:], part[1:], strict=True)} for part in body}


def correspondence() -> dict[str, tuple[float, float, float]]:
    """By site: T, the averaged correspondence and the energy coefficient."""
    text = methods().partition("- Reference (T; averaged; energy):")[2].partition("\n- ")[0]
    found = re.findall(r"([a-z][a-z0-9-]*) (\d+\.\d+); (\.\d+); (\.\d+)", text)
    return {name: (float(t), float(averaged), float(energy)) for name, t, averaged, energy in found}


def sample_sizes() -> dict[str, tuple[float, float, float]]:
    """By site: the sizes for AUROC, standardized net benefit at .5 and Brier score."""
    text = methods().partition("(auroc / sNB at .5 / Brier):")[2].partition(". So")[0]
    found = re.findall(r"([a-z]+(?:-\d)?) (\d+)/([\d.]+)/([\d.]+)", text)
    return {name: (float(auroc), float(snb), float(brier)) for name, auroc, snb, brier in found}


@pytest.fixture(scope="module")
def covid() -> dict[str, Any]:
    # Nothing that is compared here comes from the bootstrap; psi does come from permutations.
    return results_of(hurried(study("tests/releases/covid"), permutations=PERMUTATIONS))


@pytest.fixture(scope="module")
def heart() -> dict[str, Any]:
    return results_of(hurried(study("tests/releases/heart"), permutations=PERMUTATIONS))


# ---- the table ------------------------------------------------------------------------------------------------------


def test_every_column_of_the_table_is_compared() -> None:
    table = expected()
    assert tuple(table) == SITES
    for site in SITES:
        assert table[site].keys() == COLUMNS.keys()


@pytest.mark.parametrize("site", SITES)
@pytest.mark.parametrize("column", COLUMNS)
def test_expected_value(covid: dict[str, Any], site: str, column: str) -> None:
    value = COLUMNS[column](covid, site)
    assert float(f"{value:.{SIGNIFICANT}g}") == expected()[site][column]


# ---- sample sizes ---------------------------------------------------------------------------------------------------


def needed(document: dict[str, Any], site: str) -> list[float]:
    found = (
        row(document, "mss_auroc", site),
        row(document, "mss_snb", site, threshold=0.5),
        row(document, "mss_brier", site),
    )
    return [record["value"] for record in found]


@pytest.mark.parametrize("site", SITES)
def test_sample_sizes(covid: dict[str, Any], site: str) -> None:
    """Printed to two decimals."""
    assert sample_sizes().keys() == set(SITES)
    assert [round(size, 2) for size in needed(covid, site)] == list(sample_sizes()[site])


def test_spain_fails_all_three_and_brazil_3_two(covid: dict[str, Any]) -> None:
    rows_of = {dataset["name"]: dataset["n"] for dataset in covid["datasets"]}
    failed = {site: sum(size > rows_of[site] for size in needed(covid, site)) for site in SITES}
    assert failed == {"spain": 3, "brazil-3": 2, "italy-1": 0, "brazil-1": 0, "ethiopia": 0}


# ---- correspondence -------------------------------------------------------------------------------------------------


def test_the_page_has_reference_values_for_five_sites() -> None:
    assert correspondence().keys() == {*PREDICTORS, "hungarian", "switzerland", "va"}


def assert_correspondence(document: dict[str, Any], site: str) -> None:
    """To the six decimals printed; the averaged form is less by what halving the ties takes off.

    How many ties there are is counted in tests/metrics/test_correspondence.py.
    """
    statistic = row(document, "degree_of_correspondence", site)["statistic"]
    averaged = row(document, "correspondence_averaged", site)["value"]
    energy = row(document, "energy_coefficient", site)["value"]
    printed = correspondence()[site]
    assert (round(statistic, 6), round(energy, 6)) == (printed[0], printed[2])
    alone = 1 / (2 * (row(document, "correspondence_averaged", site)["development_n"] + 1))
    assert alone - 1e-6 < printed[1] - averaged < 0.1


@pytest.mark.parametrize("site", PREDICTORS)
def test_correspondence_of_covid(covid: dict[str, Any], site: str) -> None:
    assert_correspondence(covid, site)
    found = row(covid, "correspondence_averaged", site)
    # No two of its rows are alike.
    halved = correspondence()[site][1] - 1 / (2 * (found["development_n"] + 1))
    assert found["value"] == pytest.approx(halved, abs=1e-6)
    assert row(covid, "degree_of_correspondence", site)["features"] == 20


@pytest.mark.parametrize(
    ("site", "compared", "psi"), [("hungarian", 294, 0.73), ("switzerland", 122, 0.03), ("va", 147, 0.33)]
)
def test_correspondence_of_heart(heart: dict[str, Any], site: str, compared: int, psi: float) -> None:
    """Rows with less than half their features are left out: 122 of 123 and 147 of 200 remain."""
    assert_correspondence(heart, site)
    found = row(heart, "degree_of_correspondence", site)
    (size,) = (dataset["n"] for dataset in heart["datasets"] if dataset["name"] == site)
    assert size - found["external_left_out"] == compared
    assert f"psi {psi:.2f}".replace("0.", ".") in methods()
    assert found["value"] == pytest.approx(psi, abs=simulation_error(psi, PERMUTATIONS))


@pytest.mark.parametrize("site", NO_PREDICTORS)
def test_without_predictors_there_is_no_correspondence(covid: dict[str, Any], site: str) -> None:
    for measure in ("degree_of_correspondence", "energy_coefficient"):
        found = row(covid, measure, site)
        assert (found["status"], found["value"], reasons.read(found["reason"])) == (
            "absent",
            None,
            f"{site} has no predictors",
        )


@pytest.mark.parametrize("site", DECLARED)
def test_a_declared_similarity_stands_where_none_is_computed_and_says_by_whom(covid: dict[str, Any], site: str) -> None:
    found = row(covid, "correspondence_averaged", site)
    assert (found["status"], found["value"], found["n"], found["low"]) == ("estimated", *DECLARED[site], None)
    (step,) = found["method"]
    assert step["code"] == "declared_by"
    assert "Campagner 2023" in step["source"]


# ---- robustness -----------------------------------------------------------------------------------------------------


def test_spr_exists_where_predictors_and_the_declared_auroc_do(covid: dict[str, Any]) -> None:
    known = (*PREDICTORS, *DECLARED)
    for site in known:
        found = row(covid, "spr", site, measure="auroc")
        assert found["status"] == "estimated"
        assert found["internal_value"] == 0.87
        assert found["p_similarity"] == row(covid, "correspondence_averaged", site)["value"]
    others = [
        estimate
        for estimate in covid["estimates"]
        if estimate["measure"] == "spr" and estimate["status"] == "estimated"
    ]
    assert {(record["dataset"], record["at"]["measure"]) for record in others} == {(site, "auroc") for site in known}


def test_wpr_is_absent_with_its_reason(covid: dict[str, Any]) -> None:
    """The internal AUROC is declared, nobody refitted the model, and the release declares no minimum."""
    found = [estimate for estimate in covid["estimates"] if estimate["measure"] == "wpr"]
    assert {record["dataset"] for record in found} == {*PREDICTORS, *NO_PREDICTORS}
    assert all(record["status"] == "absent" and record["value"] is None for record in found)
    no_splits = "the internal test is declared, not given as rows: no splits, and no minimum is declared"
    for site in (*PREDICTORS, *DECLARED):
        for minimum in ("worst_split", "quantile_05"):
            assert reasons.read(row(covid, "wpr", site, measure="auroc", minimum=minimum)["reason"]) == no_splits
        declared = row(covid, "wpr", site, measure="auroc", minimum="declared")
        assert reasons.read(declared["reason"]) == "no minimum is declared for auroc"
