"""Study -> Evidence: what must not matter does not, what must be said is said, and a new measure is one file."""

from __future__ import annotations

import importlib.util
import json
import math
import pickle
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dossier import api, evaluate, reading
from dossier.core import register
from dossier.core.release import Disclosure
from dossier.core.types import RIVAL, Curve, Estimate, Evidence, Study, Subgroup, find, find_curve
from dossier.evaluate import offered, pieces
from dossier.metrics import robustness
from dossier.record import results
from dossier.report.chapters import glossary, references, supporting
from dossier.report.chapters.references import Reference
from dossier.typeset import tables, words
from dossier.typeset.methods import method_text
from dossier.words.sources import Source
from tests.conftest import Book
from tests.estimated import curved, estimated, present
from tests.reasons import Said
from tests.reference.built import REPOSITORY, hurried, results_of, study
from tests.shelves import register_put_back

HEAD = (REPOSITORY / "tests" / "releases" / "three_hospitals" / "head.toml").read_text(encoding="utf-8")
ROLES = {"development": 90, "internal": 80, "large": 120, "middle": 90, "small": 70}
ORDER = tuple(ROLES)


def write(folder: Path, order: Sequence[str] = ORDER, seed: int = 1) -> Path:
    """A release whose tables do not depend on the order in which it names them."""
    text = HEAD.format(seed=seed)
    for name in order:
        rng = np.random.default_rng(ROLES[name])
        ill = rng.uniform(size=ROLES[name])
        table = pd.DataFrame(
            {
                "outcome": (rng.uniform(size=len(ill)) < ill).astype(int),
                "risk": ill.round(3).clip(0.001, 0.999),
                "rival": (0.5 * ill + 0.5 * rng.uniform(size=len(ill))).round(3).clip(0.001, 0.999),
                "age": rng.normal(60 + 3 * len(name), 10, len(ill)).round(1),
                "marker": rng.normal(0, 1, len(ill)).round(2),
            }
        )
        table.to_csv(folder / f"{name}.csv", index=False)
        role = name if name in ("development", "internal") else "external"
        text += f'[[dataset]]\nname = "{name}"\nrole = "{role}"\nfile = "{name}.csv"\n'
    (folder / "release.toml").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Study:
    return reading.study(write(tmp_path_factory.mktemp("small")))


@pytest.fixture(scope="module")
def found(small: Study) -> Evidence:
    return evaluate.evidence(small)


@pytest.fixture(scope="module")
def breast(books: dict[str, Book]) -> Evidence:
    """A release whose internal table holds refitted splits."""
    return books["breast"].evidence


Key = tuple[str, str, str]


def keyed(document: dict[str, Any]) -> dict[Key, dict[str, Any]]:
    return {
        (estimate["measure"], estimate["dataset"], json.dumps(estimate["at"], sort_keys=True)): estimate
        for estimate in document["estimates"]
    }


# ---- what must not matter -------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_number_of_workers_changes_no_byte() -> None:
    """On the release with the most in it: readers, predictors, a rival, internal rows."""
    kept = {"development", "internal", "knee-1", "knee-4", "knee-7", "knee-8"}
    whole = hurried(study("fixtures/knee"), bootstrap=20, permutations=19)
    fewer = replace(whole, datasets=tuple(dataset for dataset in whole.datasets if dataset.name in kept))
    assert len(fewer.datasets) == len(kept)
    alone, two, three = (results.of(evaluate.evidence(fewer, jobs)).text() for jobs in (1, 2, 3))
    assert alone == two
    assert alone == three


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["subgroups", "chapter"])
def test_a_new_worker_finds_the_same_whatever_it_is_given_first(tmp_path: Path, kind: str) -> None:
    """A worker is a process that knows nothing but what comes with its first piece of work."""
    small = hurried(study("fixtures/knee"), bootstrap=2, permutations=2)
    work = [piece for site in evaluate._sites(small) for piece in pieces.of_site(site)]
    piece = next(candidate for candidate in work if candidate.kind == kind and candidate.site.dataset.name == "knee-1")
    given, answer = tmp_path / "piece", tmp_path / "answer"
    given.write_bytes(pickle.dumps(piece))
    program = (
        "import pickle, sys\n"
        "from pathlib import Path\n"
        "piece = pickle.loads(Path(sys.argv[1]).read_bytes())\n"
        "from dossier.evaluate import pieces\n"
        "Path(sys.argv[2]).write_bytes(pickle.dumps(pieces.found(piece)))\n"
    )
    subprocess.run([sys.executable, "-c", program, given, answer], check=True, cwd=REPOSITORY)
    theirs, ours = pickle.loads(answer.read_bytes()), pieces.found(piece)
    assert theirs == ours


def test_the_order_of_the_datasets_changes_no_number(tmp_path: Path, found: Evidence) -> None:
    """A site's numbers are the same to the bit; those over all sites are sums in another order."""
    turned = results_of(reading.study(write(tmp_path, ORDER[::-1])))
    assert [dataset["name"] for dataset in turned["datasets"]] == list(ORDER[::-1])
    before, after = keyed(json.loads(results.of(found).text())), keyed(turned)
    assert before.keys() == after.keys()
    for key, line in before.items():
        if key[1] != "pooled":
            assert after[key] == line, key
            continue
        assert {name for name, value in line.items() if value is None} == {
            name for name, value in after[key].items() if value is None
        }
        for name in ("value", "low", "high"):
            if line[name] is not None:
                assert after[key][name] == pytest.approx(line[name], rel=1e-9), key


DRAWN = {
    "degree_of_correspondence",
    "spr",
    "wpr",
    "performance_against_similarity",
    "externally_supported",
    "membership_auroc",
}
"""Measures whose value is a share of permutations, stands on one, or rests on folds that are drawn."""


BY_DRAWS = ("inverted_tests", "placements_of_both_tables")
"""Other steps of an interval that rest on draws: simulated tests, and random divisions of the rows of two tables."""


def test_the_seed_moves_what_is_resampled_and_no_value(tmp_path: Path, found: Evidence) -> None:
    before, after = (
        keyed(json.loads(results.of(found).text())),
        keyed(results_of(reading.study(write(tmp_path, seed=2)))),
    )
    assert before.keys() == after.keys()
    moved: dict[str, bool] = {}
    for key, record in before.items():
        if key[0] in DRAWN or record["status"] == "absent":
            continue
        other = after[key]
        assert other["value"] == record["value"], key
        same = (other["low"], other["high"]) == (record["low"], record["high"])
        codes = [step["code"] for step in record["method"]]
        if any(code.startswith("bootstrap") or code in BY_DRAWS for code in codes):
            moved[key[0]] = moved.get(key[0], False) or not same
        else:
            assert same, key
    assert {"ici", "e50", "e90", "correspondence_averaged", "energy_coefficient"} <= moved.keys()
    assert all(moved.values()), moved


def test_the_same_seed_gives_the_same_bytes(small: Study, found: Evidence) -> None:
    assert results.of(evaluate.evidence(small)).text() == results.of(found).text()


def test_progress_tells_every_chapter_of_every_dataset_once(small: Study) -> None:
    rows: list[tuple[str, str, int, int]] = []
    evaluate.evidence(hurried(small), progress=lambda *what: rows.append(what))
    said = [tuple(name.split(", ", 1)) for _, name, _, _ in rows]
    assert list(dict.fromkeys(name for name, _ in said)) == list(ORDER)
    assert len(set(said)) == len(said)
    assert {(name, "calibration") for name in ORDER} <= set(said)
    done = [amount for _, _, amount, _ in rows]
    assert done == sorted(set(done))
    assert {(stage, total) for stage, _, _, total in rows} == {("evaluate", done[-1])}


# ---- roles ----------------------------------------------------------------------------------------------------------


def test_development_results_are_labelled_apparent_and_no_others(found: Evidence) -> None:
    apparent = {
        result.measure
        for result in found.results
        if isinstance(result.found, Estimate) and method_text(result.found.method).endswith(", apparent")
    }
    assert {"auroc", "oe_ratio", "calibration_intercept", "calibration_slope"} <= apparent
    for result in found.results:
        if isinstance(result.found, Estimate):
            assert method_text(result.found.method).endswith(", apparent") == (result.dataset == "development"), result


def test_neither_development_nor_internal_rows_are_pooled(found: Evidence) -> None:
    for measure in ("auroc", "oe_ratio", "calibration_slope"):
        pooled = estimated(find(found, measure, "pooled"))
        assert (pooled.details["k"], pooled.n) == (3, ROLES["large"] + ROLES["middle"] + ROLES["small"])


def test_a_column_that_a_site_lacks_is_a_reason_and_not_a_fault(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("y,p\n" + "0,0.2\n1,0.7\n0,0.4\n1,0.3\n" * 10, encoding="utf-8")
    evidence = evaluate.evidence(reading.quick(tmp_path / "table.csv", "y", "p"))
    assert find(evidence, "auroc_difference", "table", against=RIVAL) == Said("table has no risk of a rival")
    no_development = Said("the release has no development table with predictors")
    assert find(evidence, "degree_of_correspondence", "table") == no_development
    assert find(evidence, "fleiss_kappa", "table") == Said("the release has no readers' tables")
    assert find(evidence, "sensitivity", "table") == Said("no threshold is declared")


def test_a_rival_with_gaps_is_not_told_to_be_none(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("y,p\n" + "0,0.2\n1,0.7\n0,0.4\n1,0.3\n" * 10, encoding="utf-8")
    quick = reading.quick(tmp_path / "table.csv", "y", "p")
    gappy = replace(quick, datasets=(replace(quick.datasets[0], rival_is_incomplete=True),))
    found = find(evaluate.evidence(gappy), "auroc_difference", "table", against=RIVAL)
    assert found == Said("the other model has no risk in some rows of table")


# ---- refitted splits ------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_every_value_on_splits_is_a_mean_over_them(breast: Evidence) -> None:
    estimates = [
        result.found for result in breast.results if result.dataset == "internal" and isinstance(result.found, Estimate)
    ]
    assert len(estimates) > 20
    assert {method_text(estimate.method).partition(",")[0] for estimate in estimates} == {
        "mean over 100 refitted splits"
    }


def test_the_mean_and_the_spread_over_splits(breast: Evidence) -> None:
    """[Nadeau and Bengio]: SE^2 = (1/J + n_test/n_train) var over splits; the model is fitted on the other rows."""
    table = pd.read_csv(REPOSITORY / "fixtures/breast/splits.csv")
    scores = ((table["risk"] - table["outcome"]) ** 2).groupby(table["split"]).mean()
    by_split = table.groupby("split")
    ratios = by_split["outcome"].sum() / by_split["risk"].sum()
    (development,) = (dataset for dataset in breast.datasets if dataset.role == "development")
    n_test = len(table) / len(scores)
    factor = 1 / len(scores) + n_test / (development.n - n_test)
    for measure, values in (("brier", scores), ("oe_ratio", ratios)):
        found = estimated(find(breast, measure, "internal"))
        assert found.value == pytest.approx(values.mean(), abs=1e-12)
        assert found.se == pytest.approx(math.sqrt(factor * values.var(ddof=1)), abs=1e-12)
        assert found.n == len(table)


def test_no_curve_of_patients_is_drawn_of_splits(breast: Evidence) -> None:
    reason = "curves are drawn of independent patients; the rows of internal are refitted splits"
    curves = {curve.curve: curve.found for curve in breast.curves if curve.dataset == "internal"}
    assert isinstance(curves.pop("split_performance"), Curve)
    assert len(curves) > 4
    assert all(found == Said(reason) for found in curves.values())


def test_the_splits_that_are_not_shown_count_for_the_minimum(monkeypatch: pytest.MonkeyPatch) -> None:
    """The splits are numbered by their Brier score, so that the highest score is that of a split that is not shown."""
    table, whole = pd.read_csv(REPOSITORY / "fixtures/breast/splits.csv"), hurried(study("fixtures/breast"))
    table = table[few := table["split"].isin(table["split"].unique()[:25])]
    scores = ((table["risk"] - table["outcome"]) ** 2).groupby(table["split"]).mean()
    roles = ("internal", "development", "external")
    internal, *kept = (next(each for each in whole.datasets if each.role == role) for role in roles)
    internal = offered.part_of(internal, few.to_numpy())
    ranks = scores.rank(method="first").to_numpy().astype(np.int64)
    monkeypatch.setattr(robustness, "LONGEST_CURVE", 10)
    found = evaluate.evidence(replace(whole, datasets=(*kept, replace(internal, split=ranks[present(internal.split)]))))
    splits = curved(find_curve(found, "split_performance", "internal"))
    assert splits.columns["brier"] == pytest.approx(scores.sort_values().iloc[:10])
    for minimum, bound in (("worst_split", scores.max()), ("quantile_05", scores.quantile(0.95))):
        weak = find(found, "wpr", kept[-1].name, measure="brier", minimum=minimum)
        # Where the prevalence of the site alone does as well as the minimum, the reason has its value.
        value = weak.details["minimum_value"] if isinstance(weak, Estimate) else weak.reason.get("minimum")
        assert value == pytest.approx(bound)


def test_splits_are_no_independent_patients_to_a_paired_test(breast: Evidence) -> None:
    found = find(breast, "auroc_difference", "internal", against=breast.release.rival_label)
    assert found == Said("internal has no risk of a rival")
    whole = hurried(study("fixtures/breast"))
    internal = next(dataset for dataset in whole.datasets if dataset.role == "internal")
    alone = replace(whole, datasets=(replace(internal, rival=internal.risk),))
    found = find(evaluate.evidence(alone), "auroc_difference", "internal", against=breast.release.rival_label)
    assert found == Said("the rows of internal are refitted splits, not independent patients")


# ---- a measure of one's own -----------------------------------------------------------------------------------------

THROWN_AWAY = '''
from dossier.core.facts import Method
from dossier.core.register import metric, of_rivals
from dossier.core.types import Absent, Estimate
from dossier.metrics.weighted import Mean

HIGH = Mean(lambda rows: (rows.risk >= 0.5).astype(float))
axes = {"weighted": HIGH, "protection": "mean", "against_rest": "by class and mean", "breaks": ("one class is absent",)}
words = {"label": "Throw-away share", "digits": 3, "range": (0, 1), "cites": ["Nobody 1900"], "formula": "of p ≥ ½"}


@metric(words=words, **axes)
def thrown_away(outcome, risk, level):
    """The share of rows with a risk of a half or more, for no purpose but this test."""
    return Estimate(float((risk >= 0.5).mean()), 0.0, 1.0, level, len(risk), Method("wald"), se=0.1)
'''


def imported(folder: Path, text: str) -> ModuleType:
    """A file of measures, as the chapter on discrimination would hold it."""
    (folder / "discrimination.py").write_text(text, encoding="utf-8")
    specification = importlib.util.spec_from_file_location("elsewhere.discrimination", folder / "discrimination.py")
    assert specification is not None
    module = importlib.util.module_from_spec(specification)
    present(specification.loader).exec_module(module)
    return module


@pytest.fixture
def table(tmp_path: Path) -> Study:
    """One table of forty rows, ten of them at or above a half."""
    (tmp_path / "table.csv").write_text("y,p\n" + "0,0.2\n1,0.7\n0,0.4\n1,0.3\n" * 10, encoding="utf-8")
    return reading.quick(tmp_path / "table.csv", "y", "p", (0.5,))


@pytest.fixture
def borrowed() -> Iterator[None]:
    register.fill("metrics")
    with register_put_back():
        yield


@pytest.mark.usefixtures("borrowed")
def test_a_measure_in_one_file_reaches_every_place(tmp_path: Path, table: Study) -> None:
    imported(tmp_path, THROWN_AWAY)
    evidence = evaluate.evidence(table)
    assert estimated(find(evidence, "thrown_away", "table")).value == 0.25
    # On a page, and not only among the measures that a chapter may show.
    heads = [column.label for each in supporting.tables(evidence) for column in each.columns]
    rows = [row.label for each in supporting.tables(evidence) for row in each.rows]
    assert "Throw-away share" in heads + rows
    assert "Throw-away share" in [term.label for term in glossary.used(evidence, ["discrimination"])]
    assert Reference(Source("Nobody 1900")) in references.cited(evidence, ["discrimination"])
    (row,) = (
        estimate
        for estimate in json.loads(results.of(evidence).text())["estimates"]
        if estimate["measure"] == "thrown_away"
    )
    assert (row["value"], row["n"], row["tier"], row["status"]) == (0.25, 40, "supporting", "estimated")


OF_RIVALS = 'of_rivals("thrown_away", module=__name__, chapter="comparison", words={"formula": "of q ≥ ½"})'


@pytest.mark.usefixtures("borrowed")
def test_a_measure_in_one_file_is_taken_along_every_axis(tmp_path: Path, table: Study) -> None:
    assert len((THROWN_AWAY + OF_RIVALS).splitlines()) < 40
    imported(tmp_path, THROWN_AWAY + OF_RIVALS)
    rows = replace(offered.part_of(table.datasets[0], np.arange(160) % 40), rows_read=160, rival=np.full(160, 0.5))
    halves = tuple(Subgroup("half", str(half), np.arange(160) // 80 == half) for half in (0, 1))
    policy = table.release.model_copy(update={"disclosure": Disclosure(minimum_cell=5)})

    def found(*at: str, release: Any = table.release, **other: Any) -> Any:
        one = replace(table, release=release, datasets=(replace(rows, **other),))
        made = evaluate._complete(one, evaluate._Workers(), frozenset({"thrown_away"}))
        every = [each for each in (*made.results, *made.subgroups.results) if each.dataset == "table"]
        return next(each.found for each in every if (*each.at.values(), *(each.subset or ())) == at)

    assert found(weights=np.where(rows.outcome == 1, 3.0, 1.0)).value == 0.375
    assert found(cluster=np.arange(160) // 23).method.has("jackknife")
    other = table.release.prediction.model_copy(update={"rival": "rival"})
    declared = table.release.model_copy(update={"prediction": other})
    assert (found(RIVAL, release=declared).value, found("complement", "half", "1", subgroups=halves).value) == (1, 0)
    assert found(release=policy, minimum_cell=5, risk=np.linspace(0.1, 0.9, 160)).method.has("in_steps_of_persons")
    of_classes = evaluate._complete(study("fixtures/biopsy"), evaluate._Workers(), frozenset({"thrown_away"}))
    assert str(find(of_classes, "thrown_away", "internal", **{"class": "G1"})).startswith("0.00 (")


@pytest.mark.usefixtures("borrowed")
def test_an_axis_of_one_line_reaches_the_record_the_frame_and_a_table(
    tmp_path: Path, table: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A setting of its own, here the scanner, is a list to run over and a word: no measure or chapter knows of it."""
    grid = offered._grid
    monkeypatch.setattr(offered, "_grid", lambda release: {**grid(release), "scanner": ("north", "south")})
    monkeypatch.setitem(words.SETTING, "scanner", "Scanner")
    text = THROWN_AWAY.replace("@metric(words=words,", '@metric(words=words, at=("scanner",),')
    imported(tmp_path, text.replace("(outcome, risk, level)", "(outcome, risk, scanner, level)"))
    evidence = evaluate.evidence(table)
    made = [each for each in json.loads(results.of(evidence).text())["estimates"] if each["measure"] == "thrown_away"]
    assert [each["at"] for each in made] == [{"scanner": "north"}, {"scanner": "south"}]
    frame = api.Record(results.of(evidence)).to_frame(wide=True)
    assert list(frame[frame["measure"] == "thrown_away"]["scanner"]) == ["north", "south"]
    heads = [spanner.label for each in supporting.tables(evidence) for spanner in tables.spanners(each)]
    assert [head for head in heads if "Scanner" in head] == ["Scanner north", "Scanner south"]


def test_what_was_borrowed_is_put_back(tmp_path: Path) -> None:
    before = set(register.fill("metrics").metrics)
    with register_put_back() as shelves:
        imported(tmp_path, THROWN_AWAY)
        assert set(shelves.metrics) - before == {"thrown_away"}
    assert set(register.REGISTER.metrics) == before


@pytest.mark.usefixtures("borrowed")
@pytest.mark.parametrize(
    "answer",
    [
        'Estimate(float("nan"), None, None, level, 40, Method("wald"))',
        'Estimate(float("inf"), None, None, level, 40, Method("wald"))',
        'Estimate(0.5, 0.1, float("nan"), level, 40, Method("wald"))',
        'Estimate(0.5, 0.1, 0.9, level, 40, Method("wald"), se=float("nan"))',
        'Estimate(0.5, 0.1, 0.9, level, 40, Method("wald"), details={"p_value": float("nan")})',
    ],
)
def test_what_is_no_number_goes_no_further(tmp_path: Path, table: Study, answer: str) -> None:
    text = THROWN_AWAY[: THROWN_AWAY.index("    return ")] + f"    return {answer}\n"
    imported(tmp_path, text)
    with pytest.raises(ArithmeticError, match="thrown_away at table is not a number"):
        evaluate.evidence(table)


@pytest.mark.usefixtures("borrowed")
def test_a_parameter_that_nothing_gives_is_named(tmp_path: Path, table: Study) -> None:
    imported(tmp_path, THROWN_AWAY.replace("(outcome, risk, level)", "(outcome, risk, wether, level)"))
    with pytest.raises(TypeError, match="thrown_away asks for wether, which is neither a column nor a setting"):
        evaluate.evidence(table)


BAD_CURVE = '''
from dossier.core.facts import Method
from dossier.core.register import curve
from dossier.core.types import Curve


@curve(words={"label": "Throw-away curve"})
def thrown_curve(outcome):
    """A line for no purpose but this test."""
    return Curve({"x": %s, "y": %s}, len(outcome), Method("counted"))
'''


@pytest.mark.usefixtures("borrowed")
@pytest.mark.parametrize(
    ("x", "y"), [("(0.0, 1.0)", "(0.0,)"), ("(0.0,) * 251", "(0.0,) * 251"), ("(0.0,)", '(float("nan"),)')]
)
def test_a_bad_curve_goes_no_further(tmp_path: Path, table: Study, x: str, y: str) -> None:
    """Uneven columns; so many points that a patient might be read from them; what is no number."""
    imported(tmp_path, BAD_CURVE % (x, y))
    with pytest.raises(ArithmeticError, match="the curve thrown_curve at table"):
        evaluate.evidence(table)


@pytest.mark.usefixtures("borrowed")
def test_a_good_curve_is_found_again(tmp_path: Path, table: Study) -> None:
    imported(tmp_path, BAD_CURVE % ("(0.0, 1.0)", "(0.5, None)"))
    found = curved(find_curve(evaluate.evidence(table), "thrown_curve", "table"))
    assert found.columns == {"x": (0.0, 1.0), "y": (0.5, None)}


@pytest.mark.usefixtures("borrowed")
@pytest.mark.parametrize("given", ["", ', "formula": ""'])
def test_a_measure_without_a_formula_is_refused(tmp_path: Path, given: str) -> None:
    without = THROWN_AWAY.replace(', "formula": "of p ≥ ½"', given)
    with pytest.raises(TypeError, match=r"^thrown_away needs a label and a formula in words/measures.toml$"):
        imported(tmp_path, without)


def test_what_was_imported_first_does_not_show() -> None:
    """A register filled from other files first is put back into the order of the files."""
    with register_put_back() as shelves:
        order = list(register.fill("metrics").metrics)
        turned = sorted(shelves.metrics.items(), key=lambda entry: register._file(entry[1]), reverse=True)
        shelves.metrics.clear()
        shelves.metrics.update(turned)
        register.fill("metrics")
        assert list(shelves.metrics) == order
