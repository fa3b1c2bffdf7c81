"""A release as good as the last is rarely called worse, in groups and classes too; a worse one mostly is: simulated."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

from dossier import evaluate, reading
from dossier.core import claims
from dossier.record import results
from tests.bench.versions import alike, too_extreme, worse
from tests.smallest import HEAD

WISHED = 0.05
ABOUT = HEAD.replace('column = "risk"', "{risk}").replace("[outcome]", "{previous}[outcome]{classes}")
SITES = "".join(
    f'[[dataset]]\nname = "{name}"\nrole = "external"\nfile = "{name}.csv"\npredictors = []\ndates = SINCE\n'
    for name in ("a", "b")
)
GROUPS = '[[subgroup]]\ncolumn = "ward"\n'
DRAWS = "[thresholds]\ndeclared = [0.3]\n[resampling]\nbootstrap = 2\npermutations = 9\n"


def most(times: int) -> int:
    """So many of these are called worse by chance once in a thousand simulations, of a release that is as good."""
    return int(binom.ppf(0.999, times, WISHED))


@pytest.mark.parametrize("others", [False, True])
def test_a_release_as_good_as_the_last_is_rarely_called_worse(others: bool) -> None:
    rng, times, called = np.random.default_rng(41), 80, 0
    for _ in range(times):
        sizes = rng.integers(150, 900, 2)
        now = [alike(rng, int(n), -1.2) for n in sizes]
        called += bool(worse(now, [alike(rng, int(n), -1.2) for n in sizes] if others else None)[0])
    assert called <= most(times)


def test_a_slope_of_seven_tenths_is_mostly_found_among_a_thousand_of_the_same_patients() -> None:
    rng, times = np.random.default_rng(42), 150
    found = sum("calibration_slope" in worse([too_extreme(rng, 1000, -1.0)], None)[0] for _ in range(times))
    assert found >= binom.ppf(0.001, times, 0.9)


def _table(rng: np.random.Generator, n: int, classes: int) -> str:
    """Patients with two risks of noise of their own, and a ward that neither knows."""
    truth = rng.normal(-0.5, 1, (n, classes - 1))
    chances = [
        np.column_stack([np.ones(n), np.exp(truth + rng.normal(0, noise, truth.shape))]) for noise in (0, 0.5, 0.5)
    ]
    right, now, then = (each / each.sum(axis=1, keepdims=True) for each in chances)
    outcome = (right.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)
    names = [f"{version}{k}" for version in ("now", "then") for k in range(classes)]
    rows = np.column_stack([outcome, now, then])
    ward = rng.choice(["east", "west"], n)
    lines = (
        ",".join([f"{row[0]:.0f}", w, *(f"{each:.6f}" for each in row[1:])]) for row, w in zip(rows, ward, strict=True)
    )
    return "\n".join([",".join(["outcome", "ward", *names]), *lines]) + "\n"


def _is_called_worse(folder: Path, rng: np.random.Generator, classes: int, others: bool) -> bool:
    """Whether anything of a release as good as the last, of `others` or not, is called worse, by its files."""
    columns = {version: [f"{version}{k}" for k in range(classes)] for version in ("now", "then")}
    tables, found = {name: _table(rng, 300, classes) for name in ("a", "b")}, None
    for version, previous in (("then", ""), ("now", 'previous = "results.json"\n')):
        risk = f"columns = {columns[version]}" if classes > 2 else f'column = "{version}1"'
        if previous and others:
            tables = {name: _table(rng, 300, classes) for name in tables}
        elif previous:
            risk += f"\nprevious = {columns['then'] if classes > 2 else repr('then1')}"
        of = '\nclasses = ["0", "1", "2"]' if classes > 2 else ""
        for name, table in tables.items():
            (folder / f"{name}.csv").write_text(table, encoding="utf-8")
        text = ABOUT.format(risk=risk, previous=previous, classes=of) + DRAWS + GROUPS + SITES
        text = text.replace("SINCE", "[2026-01-01, 2026-06-30]" if previous and others else "[2025-01-01, 2025-06-30]")
        (folder / "release.toml").write_text(text.replace("'", '"'), encoding="utf-8")
        found = evaluate.evidence(reading.study(folder))
        (folder / "results.json").write_bytes(results.of(found).text())
    assert found is not None
    every = claims.about(found, "since_last_release")
    assert any(claim.scope == "group" for claim in every)
    assert (classes == 2) or any(claim.at.get("class") for claim in every)
    return any(claim.state == "against" for claim in every)


@pytest.mark.parametrize(("classes", "others"), [(2, False), (3, False), (2, True)])
def test_neither_are_its_groups_and_classes(tmp_path: Path, classes: int, others: bool) -> None:
    rng, times = np.random.default_rng(43), 30
    assert sum(_is_called_worse(tmp_path, rng, classes, others) for _ in range(times)) <= most(times)
