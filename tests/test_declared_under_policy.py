"""What a release declares in place of rows obeys its policy: no count of patients stands exactly in any file."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from dossier import evaluate, reading
from dossier.command_line import cli
from dossier.core.types import READER_STUDY, Absent, CountRange, Estimate, Evidence, find
from dossier.record import results
from dossier.report.figures.robustness import external_performance
from dossier.typeset.methods import method_text
from tests.canaries import texts
from tests.estimated import estimated, present, refused
from tests.smallest import HEAD, QUICK, release_in

POLICY = "[disclosure]\nminimum_cell = 10\n"
PUBLISHED = """
[[declared_performance]]
name = "published"
role = "internal"
auroc = {{ value = 0.8713, low = 0.8427, high = 0.9001, n = {n}, events = {events} }}
"""
COUNTS = "[reader_study]\ncounts = { aie = 3217, ain = 4211, ce = 5419, cn = 6421 }\n"
SURVEY = """
[h_accuracy]
priority_from = ["survey"]
survey = { "0" = { value = 0.571428, low = 0.2505, high = 0.8418 }, "1" = 0.428571 }
"""


def _release(folder: Path, declared: str, policy: str = POLICY) -> Path:
    """One hospital and what is declared beside."""
    folder.mkdir(exist_ok=True)
    rows = "".join(f"{k % 3 == 0:d},{(k * 7 % 160 + 1) / 162:.3f}\n" for k in range(160))
    (folder / "north.csv").write_text(f"outcome,risk\n{rows}")
    dataset = '[[dataset]]\nname = "north"\nrole = "external"\nfile = "north.csv"\nsite = "North"\n'
    return release_in(folder, HEAD + QUICK + policy + dataset + declared)


def _evidence(folder: Path) -> tuple[Evidence, dict[str, Any]]:
    found = evaluate.evidence(reading.study(folder))
    return found, json.loads(results.of(found).text())


def test_counts_of_a_declared_auroc_are_ranges_that_add_up(tmp_path: Path) -> None:
    found, printed = _evidence(_release(tmp_path, PUBLISHED.format(n=1217, events=307)))
    (claim,) = printed["declared"]["declared_performance"]
    assert claim["auroc"]["n"]["lo"] <= 1217 <= claim["auroc"]["n"]["hi"]
    assert claim["auroc"]["events"]["lo"] <= 307 <= claim["auroc"]["events"]["hi"]
    assert claim["auroc"]["events"]["hi"] - claim["auroc"]["events"]["lo"] >= 9
    # 307 persons: a step of .005, and an interval that is no narrower than the published one.
    assert (claim["auroc"]["value"], claim["auroc"]["low"], claim["auroc"]["high"]) == (0.87, 0.84, 0.905)
    (auroc,) = (row.found for row in found.results if (row.measure, row.dataset) == ("auroc", "published"))
    assert isinstance(auroc, Estimate)
    assert isinstance(auroc.n, CountRange)
    assert isinstance(auroc.events, CountRange)
    assert results.read(results.of(found).text()).evidence.release == found.release


@pytest.mark.parametrize(("n", "events"), [(37, 7), (1000, 992)])
def test_a_declared_auroc_of_few_is_withheld_with_a_flag(tmp_path: Path, n: int, events: int) -> None:
    found, printed = _evidence(_release(tmp_path, PUBLISHED.format(n=n, events=events)))
    assert printed["declared"]["declared_performance"] == [{"name": "published", "role": "internal", "auroc": None}]
    assert "declared_withheld" in {flag.flag for flag in found.flags}
    assert not [result for result in found.results if result.dataset == "published"]


def test_counts_of_a_reader_study_are_withheld_with_a_flag(tmp_path: Path) -> None:
    found, printed = _evidence(_release(tmp_path, COUNTS))
    assert printed["declared"].get("reader_study") is None
    assert "declared_withheld" in {flag.flag for flag in found.flags}


PSI = """
[[declared_correspondence]]
dataset = "north"
averaged = 0.4137
psi = 0.0371
n = 157
source = "The owner"
"""


def test_a_declared_psi_says_how_many_patients_a_site_has_and_is_withheld_with_a_flag(tmp_path: Path) -> None:
    found, printed = _evidence(_release(tmp_path, PSI))
    assert not printed["declared"].get("declared_correspondence")
    assert isinstance(find(found, "degree_of_correspondence", "north"), Absent)
    assert "declared_withheld" in {flag.flag for flag in found.flags}
    assert not re.search(r"\b157\b|0\.0371", json.dumps(printed))


def _of_release_file(printed: dict[str, Any]) -> tuple[str | None, int | None]:
    return next((file["sha256"], file["size"]) for file in printed["inputs"] if file["name"] == "release.toml")


def test_the_hash_of_a_release_file_is_given_only_where_all_that_it_declares_is(tmp_path: Path) -> None:
    """All else that it holds is printed, so that a number that is not could be tried until the hash is the same."""
    _, printed = _evidence(_release(tmp_path / "declared", PSI))
    assert _of_release_file(printed) == (None, None)
    for name, declared, policy in (("bare", "", POLICY), ("free", PSI, "")):
        _, printed = _evidence(_release(tmp_path / name, declared, policy))
        size = (tmp_path / name / "release.toml").stat().st_size
        assert _of_release_file(printed)[1] == size
        assert _of_release_file(printed)[0] is not None


def test_without_a_policy_a_declared_psi_is_that_of_the_site(tmp_path: Path) -> None:
    found, _ = _evidence(_release(tmp_path, PSI, policy=""))
    psi = estimated(find(found, "degree_of_correspondence", "north"))
    assert (psi.value, psi.n, psi.low) == (0.0371, 157, None)
    averaged = estimated(find(found, "correspondence_averaged", "north"))
    assert (averaged.value, averaged.n, averaged.low) == (0.4137, 157, None)
    assert method_text(psi.method) == "declared, not computed here: The owner"
    assert results.read(results.of(found).text()).evidence.release == found.release
    drawn = present(external_performance(found))
    assert "Similarity declared: North." in drawn.caption


def test_shares_of_a_survey_tell_no_number_of_answers(tmp_path: Path) -> None:
    _, printed = _evidence(_release(tmp_path, SURVEY))
    assert printed["declared"]["h_accuracy"]["survey"] == {"0": 0.57, "1": 0.42}


def test_without_a_policy_all_stands_as_it_was_declared(tmp_path: Path) -> None:
    """The control."""
    declared = PUBLISHED.format(n=37, events=7) + COUNTS + SURVEY
    _, printed = _evidence(_release(tmp_path, declared, ""))
    (claim,) = printed["declared"]["declared_performance"]
    assert claim["auroc"] == {"value": 0.8713, "low": 0.8427, "high": 0.9001, "n": 37, "events": 7}
    assert printed["declared"]["reader_study"]["counts"]["aie"] == 3217
    assert printed["declared"]["h_accuracy"]["survey"]["1"] == 0.428571


def test_a_declared_range_stays_as_it_is(tmp_path: Path) -> None:
    declared = PUBLISHED.replace("n = {n}", "n = {{ lo = 1206, hi = 1231, mid = 1218 }}")
    declared = declared.replace("events = {events}", "events = {{ lo = 299, hi = 311, mid = 305 }}").format()
    for policy in ("", POLICY):
        _, printed = _evidence(_release(tmp_path, declared, policy))
        (claim,) = printed["declared"]["declared_performance"]
        assert claim["auroc"]["events"] == {"lo": 299, "hi": 311, "mid": 305}


def _run(*words: object) -> str:
    found = CliRunner().invoke(cli.dossier, [str(word) for word in words], catch_exceptions=False)
    assert found.exit_code == 0, found.output
    return found.output


@pytest.mark.slow
def test_seal_verify_and_print_hold_and_no_file_has_a_count(tmp_path: Path) -> None:
    folder, out = _release(tmp_path / "release", PUBLISHED.format(n=1217, events=307) + COUNTS), tmp_path / "out"
    _run("seal", folder)
    text = (folder / "release.toml").read_text()
    (folder / "release.toml").write_text(text.replace("[release]\n", '[release]\nsealed = "seal.json"\n', 1))
    _run("build", folder, "-o", out, "--jobs", 1)
    _run("verify", out, "--release", folder)
    _run("print", out / "results.json", "-o", tmp_path / "again", "--jobs", 1)
    assert (tmp_path / "again/results.json").read_bytes() == (out / "results.json").read_bytes()
    assert json.loads((out / "results.json").read_text())["seal"]["changes"] == []
    exact = re.compile(r"(?<![\d.])(1,?217|3,?217|4,?211|5,?419|6,?421)(?!\d)")
    found = texts(out)
    # What is drawn holds any four digits.
    words = [name for name in found if not name.endswith((".svg", ".pdf")) and "stream" not in name]
    assert "dossier-regulatory.pdf: pages" in words
    assert not [(name, exact.findall(found[name])) for name in words if exact.search(found[name])]


MINIMUM = """
[h_accuracy]
acceptable = { value = 0.9381, low = 0.9247, high = 0.9533, n = 4217, source = "Those who were asked" }

[[acceptance]]
measure = "balanced_accuracy"
dataset = "north"
at = { threshold = 0.5 }
at_least_from = "h_accuracy.acceptable"
caution_reason = "The clinic knows this number."
"""


def test_a_minimum_of_accuracy_is_given_in_hundredths_and_does_not_tell_how_many_answered(tmp_path: Path) -> None:
    """Upwards: what meets the printed bound meets the declared one too."""
    found, printed = _evidence(_release(tmp_path, MINIMUM))
    given = present(found.release.h_accuracy.acceptable)
    assert (given.value, given.low, given.high, given.n) == (0.94, None, None, None)
    (criterion,) = found.criteria
    assert criterion.at_least == 0.94
    text = json.dumps(printed)
    assert not [secret for secret in ("0.9381", "0.9247", "0.9533", "4217") if secret in text]


def test_a_declared_performance_cannot_lend_its_name_to_the_reader_study(tmp_path: Path) -> None:
    """What is declared is given by its name, and so would be the decisions of single readers."""
    decided = "".join(f"{reader},{k},{k % 2},{k % 3 % 2},{k % 2}\n" for reader in ("ann", "bob") for k in range(20))
    declared = PUBLISHED.format(n=1217, events=307) + '[reader_study]\nfile = "study.csv"\n'
    folder = _release(tmp_path, declared)
    (folder / "study.csv").write_text(f"reader,case,truth,unaided,aided\n{decided}")
    study = reading.study(folder)
    (claim,) = study.release.declared_performance
    named = study.release.model_copy(
        update={"declared_performance": (claim.model_copy(update={"name": READER_STUDY}),)}
    )
    found = evaluate.evidence(dataclasses.replace(study, release=named))
    of_study: list[object] = [result.found for result in found.results if result.dataset == READER_STUDY]
    of_study += [curve.found for curve in found.curves if curve.dataset == READER_STUDY]
    assert len(of_study) > 10
    assert not [made for made in of_study if not isinstance(made, Absent)]
    text = (folder / "release.toml").read_text().replace('"published"', f'"{READER_STUDY}"')
    (folder / "release.toml").write_text(text)
    assert [fault.code for fault in refused(reading.study, folder).faults] == ["reserved_performance"]


@pytest.mark.parametrize("policy", [POLICY, ""])
def test_a_minimum_that_is_another_than_sealed_tells_neither_under_a_policy(tmp_path: Path, policy: str) -> None:
    folder = _release(tmp_path / "release", MINIMUM, policy)
    _run("seal", folder)
    text = (folder / "release.toml").read_text().replace("4217", "4231")
    (folder / "release.toml").write_text(text.replace("[release]\n", '[release]\nsealed = "seal.json"\n', 1))
    _, printed = _evidence(folder)
    assert {change["table"] for change in printed["seal"]["changes"]} == {"h_accuracy"}
    assert sorted(re.findall("42(?:17|31)", json.dumps(printed["seal"]["changes"]))) == (
        [] if policy else ["4217", "4231"]
    )


def test_without_a_policy_a_minimum_stands_as_it_was_declared(tmp_path: Path) -> None:
    found, _ = _evidence(_release(tmp_path, MINIMUM, policy=""))
    given = present(found.release.h_accuracy.acceptable)
    assert (given.value, given.low, given.high, given.n) == (0.9381, 0.9247, 0.9533, 4217)
    (criterion,) = found.criteria
    assert criterion.at_least == 0.9381
    assert criterion.met is False
