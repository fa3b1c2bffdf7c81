"""A threshold for a wish through a whole release: where it stands, where it is withheld, and what never asks for it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import dossier
from dossier import evaluate, reading
from dossier.command_line import cli
from dossier.core.types import Absent, Estimate, Evidence, Withheld, find
from dossier.report.chapters import utility
from dossier.typeset.reasons import reason_text
from tests.estimated import absent, estimated
from tests.smallest import HEAD, QUICK, SITE, release_in

COSTS = ("flagged", "sensitivity", "specificity", "ppv", "net_benefit")
MEASURES, WISH = ("threshold_for_wish", *(f"{cost}_at_wish" for cost in COSTS)), "sensitivity 0.9"
RELEASE = HEAD + QUICK.replace("[0.5]", "[0.5]\nwish = { sensitivity = 0.9 }") + SITE


def evidence(folder: Path, text: str = RELEASE) -> Evidence:
    rng = np.random.default_rng(2)
    risk = np.round(rng.beta(2, 3, 300), 3)
    dead, left = rng.random(300) < risk, rng.random(300) < 0.2
    head = "outcome,risk,ward,weight,time,event\n"
    days, happened = np.where(left, 1, 5), (dead & ~left).astype(int)
    rows = [f"{int(dead[k])},{risk[k]},w{k % 30},{1 + k % 3},{days[k]},{happened[k]}" for k in range(300)]
    return evaluate.evidence(reading.study(release_in(folder, text, site__csv=head + "\n".join(rows) + "\n")))


def found(shown: Evidence) -> dict[str, Estimate | Absent]:
    return {measure: find(shown, measure, "site", wish=WISH) for measure in MEASURES}


def test_it_stands_with_its_costs_and_judges_nothing(tmp_path: Path) -> None:
    shown = evidence(tmp_path)
    assert all(isinstance(each, Estimate) and each.low is not None for each in found(shown).values())
    assert not any(name in str(shown.criteria) for name in MEASURES)
    assert shown.release.thresholds.declared == (0.5,)
    table = utility.wishes(shown)
    assert "chosen on these data" in table.title
    assert [row.label for row in table.rows] == ["Sensitivity 0.9", "Site"]


@pytest.mark.parametrize(
    ("more", "says"), [('weights = "weight"\n', "weights"), ("[disclosure]\nminimum_cell = 10\n", "")]
)
def test_it_is_absent_by_name_where_it_is_not_known(tmp_path: Path, more: str, says: str) -> None:
    for each in found(evidence(tmp_path, RELEASE + more)).values():
        assert isinstance(each, Absent)
        assert says in reason_text(each.reason)
        assert isinstance(each, Withheld) is ("disclosure" in more)


@pytest.mark.slow
def test_rows_in_clusters_have_values_without_intervals(tmp_path: Path) -> None:
    plain, clustered = found(evidence(tmp_path)), found(evidence(tmp_path, RELEASE + 'cluster = "ward"\n'))
    for measure, each in clustered.items():
        own = estimated(plain[measure])
        assert isinstance(each, Estimate)
        assert (each.value, each.low) == (own.value, None)


def test_an_outcome_by_a_horizon_has_none(tmp_path: Path) -> None:
    text = RELEASE.replace('column = "outcome"', 'column = "event"\ntime = "time"')
    text = text.replace('[prediction]\ncolumn = "risk"', "[prediction]").replace(QUICK.splitlines()[1], "")
    text = text.replace("declared = [0.5]\nwish = { sensitivity = 0.9 }", "")
    horizon = '[[horizon]]\nat = 3\nrisk = "risk"\nthresholds = { declared = [0.5], wish = { sensitivity = 0.9 } }\n'
    for each in found(evidence(tmp_path, text + horizon)).values():
        assert absent(each).reason.code == "measure_without_follow_up"


def test_a_frame_may_wish_too(tmp_path: Path) -> None:
    evidence(tmp_path)
    frame = pd.read_csv(tmp_path / "site.csv", usecols=["outcome", "risk"])
    thresholds = {"declared": [0.5], "wish": {"sensitivity": 0.9}}
    v = dossier.validate(frame, outcome="outcome", risk="risk", thresholds=thresholds, resampling={"bootstrap": 20})
    table = v.to_frame()
    assert set(MEASURES) <= set(table["measure"])
    own = table.set_index("measure").loc["threshold_for_wish"]
    expected = estimated(dossier.metrics.threshold_for_wish(frame["outcome"], frame["risk"], WISH))
    assert (own["value"], own["low"], own["high"]) == (expected.value, expected.low, expected.high)


def test_a_quick_look_may_wish_and_writes_what_it_wished(tmp_path: Path) -> None:
    evidence(tmp_path)
    words = ["quick", str(tmp_path / "site.csv"), "--outcome", "outcome", "--risk", "risk", "--wish"]
    out, release = tmp_path / "out", tmp_path / "release"
    made = CliRunner().invoke(cli.dossier, [*words, "sensitivity=0.9", "-o", str(out), "--write-release", str(release)])
    assert made.exit_code == 0, made.output
    assert dossier.read_results(out).table("wishes").to_frame().shape[0] == 1
    assert "--wish sensitivity=0.9" in (out / "manifest.json").read_text()
    assert reading.study(release).release.thresholds.wish == {"sensitivity": 0.9}
    refused = CliRunner().invoke(cli.dossier, [*words, "ppv=0.9", "-o", str(tmp_path / "no")])
    assert refused.exit_code == 2
    assert "sensitivity=0.95" in refused.output
    twice = [*words, "sensitivity=0.9", "--wish", "sensitivity=0.8", "-o", str(tmp_path / "no")]
    assert "at most one sensitivity" in CliRunner().invoke(cli.dossier, twice).output
