"""Sampling weights: whole weights count a row as often, equal ones change nothing, and the others are refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dossier import evaluate, initial, load, record
from dossier.errors import DataError
from dossier.metrics import weighted
from dossier.register import fill
from dossier.types import Absent, Curve, Estimate, Evidence, Study

SITE = "hospital-1"


def _example(folder: Path, more: str = "", weights: list[str] | None = None) -> Study:
    for name, content in initial.files().items():
        (folder / name).write_bytes(content)
    file = 'file = "hospital-1.csv"'
    release = initial.files()["release.toml"].decode().replace(file, f"{file}\n{more}")
    (folder / "release.toml").write_text(release, encoding="utf-8")
    if weights is not None:
        head, *rows = (folder / "hospital-1.csv").read_text().splitlines()
        lines = [f"{head},w", *(f"{row},{weight}" for row, weight in zip(rows, weights, strict=True))]
        (folder / "hospital-1.csv").write_text("\n".join(lines) + "\n")
    found = load.study(folder)
    few = found.release.resampling.model_copy(update={"bootstrap": 20, "permutations": 19})
    only = tuple(one for one in found.datasets if one.name == SITE)
    return replace(found, release=found.release.model_copy(update={"resampling": few}), datasets=only)


@pytest.mark.parametrize("name", weighted.VALUES)
def test_a_whole_weight_counts_a_row_as_often(name: str) -> None:
    draw = np.random.default_rng(5)
    risk = np.round(draw.uniform(0.05, 0.95, 150), 2)
    outcome = (draw.random(150) < risk).astype(float)
    rival = np.clip(risk + draw.normal(scale=0.1, size=150), 0.02, 0.98).astype(np.float64)
    weights = draw.integers(0, 5, 150)
    rows = weighted.Rows(outcome, risk, 0.7 * weights.astype(np.float64), 0.3, rival)
    found = weighted.VALUES[name](rows)
    metric = fill("metrics").metrics[name]
    often = np.repeat(np.arange(150), weights)
    offered = {"outcome": outcome[often], "risk": risk[often], "rival": rival[often], "threshold": 0.3, "level": 0.95}
    offered |= {"permutations": 9, "seed": 1}
    plain = metric.function(**{need: offered[need] for need in metric.needs})
    assert isinstance(found, weighted.Weighted)
    assert found.value == pytest.approx(plain.value, rel=1e-9, abs=1e-12)
    for key, value in found.details.items():
        assert value == pytest.approx(plain.details[key], rel=1e-9), key


def test_equal_weights_give_every_number_of_no_weights(tmp_path: Path) -> None:
    for name in ("with", "without"):
        (tmp_path / name).mkdir()
    equal = _example(tmp_path / "with", 'weights = "w"\n', ["2.5"] * 200)
    none = _example(tmp_path / "without")
    documents = [record.document(evaluate.evidence(one)) for one in (equal, none)]
    assert documents[0]["estimates"] == documents[1]["estimates"]
    assert documents[0]["curves"] == documents[1]["curves"]


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> tuple[Evidence, Evidence]:
    """The example with weights that all but agree, and without any."""
    folder = tmp_path_factory.mktemp("weighted")
    study = _example(folder)
    (site,) = study.datasets
    weights = np.linspace(1, 1.001, 200)
    rows = replace(study, datasets=(replace(site, weights=weights),))
    return evaluate.evidence(rows), evaluate.evidence(study)


def test_nearly_equal_weights_give_nearly_the_ordinary_interval(evidence: tuple[Evidence, Evidence]) -> None:
    compared = 0
    plain = {(one.term, str(dict(one.at))): one.found for one in evidence[1].results if one.dataset == SITE}
    for result in evidence[0].results:
        if result.dataset != SITE or result.term not in weighted.VALUES:
            continue
        other = plain[result.term, str(dict(result.at))]
        assert isinstance(result.found, Estimate), result
        assert isinstance(other, Estimate)
        assert result.found.method.startswith("sampling weights; ")
        assert "jackknife leaving out 200 rows" in result.found.method
        assert result.found.low is not None
        assert result.found.high is not None
        assert other.low is not None
        assert other.high is not None
        width = other.high - other.low
        assert abs(result.found.low - other.low) < 0.13 * width, result.term
        assert abs(result.found.high - other.high) < 0.13 * width, result.term
        compared += 1
    assert compared > 30


def test_measures_and_curves_without_weights_are_refused_with_a_sentence(evidence: tuple[Evidence, Evidence]) -> None:
    refused = {one.term: one.found for one in evidence[0].results if one.dataset == SITE}
    assert refused["ici"] == Absent(f"the rows of {SITE} have sampling weights, which this measure does not honour")
    for one in evidence[0].curves:
        if one.dataset == SITE and isinstance(one.found, Curve):
            assert one.curve == "risk_distribution"


def test_the_order_of_the_rows_moves_no_weighted_interval(tmp_path: Path) -> None:
    study = _example(tmp_path)
    (site,) = study.datasets
    draw = np.random.default_rng(2)
    # More rows than groups, so that the groups are drawn.
    many = draw.integers(0, 200, 400)
    weights = draw.uniform(1, 3, 400)
    assert site.outcome is not None
    assert site.risk is not None
    found = []
    for order in (np.arange(400), draw.permutation(400)):
        place = many[order]
        rows = replace(
            site,
            rows_read=400,
            outcome=site.outcome[place],
            risk=site.risk[place],
            rival=None,
            predictors=(),
            weights=weights[order],
        )
        results = evaluate.evidence(replace(study, datasets=(rows,))).results
        found.append(next(one.found for one in results if one.term == "auroc" and one.dataset == SITE))
    first, second = found
    assert isinstance(first, Estimate)
    assert isinstance(second, Estimate)
    assert (first.low, first.high) == pytest.approx((second.low, second.high), rel=1e-12)
    assert "250 groups of 400 rows" in first.method


@pytest.mark.parametrize(
    ("weight", "what"),
    [
        ("-1", "w is -1, not a number of 0 or more."),
        ("", "w is missing."),
        ("heavy", 'w is "heavy", not a number of 0 or more.'),
        ("inf", "w is inf, not a number of 0 or more."),
    ],
)
def test_a_weight_that_is_none_is_a_fault(tmp_path: Path, weight: str, what: str) -> None:
    with pytest.raises(DataError) as caught:
        _example(tmp_path, 'weights = "w"\n', [*["1"] * 199, weight])
    assert [(fault.what, fault.where) for fault in caught.value.faults] == [(what, "hospital-1.csv, row 201, column w")]


def test_weights_that_are_all_0_are_a_fault(tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        _example(tmp_path, 'weights = "w"\n', ["0"] * 200)
    assert caught.value.faults[0].what == "All sampling weights are 0."
