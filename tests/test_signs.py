"""Signs of a table that is not what it says, and what is read in a way that its maker may not expect."""

from __future__ import annotations

import io
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize

from dossier import reading
from dossier.core.errors import DossierError
from dossier.core.types import Floats, Study
from dossier.reading.signs import ENOUGH_ADDED, _is_sum
from dossier.typeset.flags import flag_text
from tests.estimated import present, refused

HEAD = """[release]
model = "m"
version = "1"
owner = "o"
[outcome]
name = "event"
column = "y"
{outcome}
[prediction]
{prediction}
[thresholds]
declared = [0.2]
[[dataset]]
name = "site"
role = "{role}"
file = "{file}"
{dataset}
"""


def study(
    folder: Path,
    table: bytes | str,
    *,
    file: str = "a.csv",
    outcome: str = "",
    prediction: str = 'column = "p"',
    dataset: str = "",
    role: str = "external",
    times: int = 1,
) -> Study:
    content = table.encode() if isinstance(table, str) else table
    if file == "a.csv":
        # Of fewer than five patients nothing is shown.
        head, _, rows = content.partition(b"\n")
        content = head + b"\n" + rows * times
    (folder / file).write_bytes(content)
    text = HEAD.format(outcome=outcome, prediction=prediction, dataset=dataset, role=role, file=file)
    if role != "external":
        text += (
            HEAD[HEAD.index("[[dataset]]") :].format(role="external", file="b.csv", dataset="").replace('"site"', '"b"')
        )
        (folder / "b.csv").write_text("y,p\n" + "0,0.1\n1,0.2\n" * 5, encoding="utf-8")
    (folder / "release.toml").write_text(text, encoding="utf-8")
    return reading.study(folder)


def said(found: Study, flag: str) -> list[str]:
    return [flag_text(raised.fact) for raised in found.flags if raised.flag == flag]


def simulated(n: int = 400, seed: int = 1) -> tuple[Floats, Floats, Floats]:
    """Outcomes, their true risks, and what these depend on."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 2))
    risk = 1 / (1 + np.exp(1 - x @ [0.8, -0.5]))
    return (rng.random(n) < risk).astype(float), risk, x


def csv(head: str, *columns: Sequence[object] | NDArray[Any]) -> str:
    rows = zip(*(np.asarray(column).tolist() for column in columns), strict=True)
    return head + "\n" + "".join(",".join(map(str, row)) + "\n" for row in rows)


# ---- a model fitted on these rows -----------------------------------------------------------------------------------


def fitted(outcome: Floats, x: Floats) -> Floats:
    """The risks of a logistic model fitted on these rows, by Newton's method."""
    design = np.column_stack([np.ones(len(x)), x])
    beta = np.zeros(design.shape[1])
    for _ in range(30):
        risk = 1 / (1 + np.exp(-design @ beta))
        beta += np.linalg.solve((design.T * risk * (1 - risk)) @ design, design.T @ (outcome - risk))
    return np.asarray(1 / (1 + np.exp(-design @ beta)))


@pytest.mark.parametrize("digits", [17, 6, 4, 3])
def test_a_model_that_was_fitted_on_these_rows_is_told(tmp_path: Path, digits: int) -> None:
    outcome, _, x = simulated()
    risk = np.round(fitted(outcome, x), digits)
    assert said(study(tmp_path, csv("y,p", outcome.astype(int), risk)), "fitted_on_these_rows") == [
        "the O/E ratio and the calibration slope of site are exactly 1, as of risks that were fitted or recalibrated "
        "on these very rows: then this is apparent performance, and no external validation."
    ]


def test_so_is_a_model_that_was_recalibrated_on_them(tmp_path: Path) -> None:
    outcome, risk, _ = simulated()
    logit = np.log(risk / (1 - risk))[:, None]
    table = csv("y,p", outcome.astype(int), fitted(outcome, 0.4 * logit + 1))
    assert said(study(tmp_path, table), "fitted_on_these_rows")


def test_so_is_a_model_of_several_classes(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    x = np.column_stack([np.ones(300), rng.normal(size=(300, 1))])
    true = np.exp(x @ np.array([[0.0, 0.3, -0.4], [0.0, 0.7, -0.6]]))
    classes = np.array([rng.choice(3, p=row / row.sum()) for row in true])

    def shares(beta: Floats) -> Floats:
        raised = np.exp(np.column_stack([np.zeros(300), x @ beta.reshape(2, 2)]))
        return np.asarray(raised / raised.sum(axis=1, keepdims=True))

    def loss(beta: Floats) -> float:
        return float(-np.log(shares(beta)[np.arange(300), classes]).sum())

    risk = shares(minimize(loss, np.zeros(4), method="BFGS", options={"gtol": 1e-7}).x)
    for fitted_here in (True, False):
        shown = risk if fitted_here else true / true.sum(axis=1, keepdims=True)
        table = csv("y,a,b,c", [f"g{k}" for k in classes], *shown.T)
        classes_of = 'classes = ["g0", "g1", "g2"]'
        found = study(tmp_path, table, outcome=classes_of, prediction='columns = ["a", "b", "c"]')
        assert bool(said(found, "fitted_on_these_rows")) is fitted_here


def test_true_risks_are_hardly_ever_told_to_be_fitted(tmp_path: Path) -> None:
    """Two independent normal sums, each within .01 of its standard error: .008 squared, 1 in 15,700."""
    from dossier.reading.signs import _is_fitted

    alarms = 0
    for seed in range(3000):
        outcome, risk, _ = simulated(100 + seed % 400, seed)
        alarms += _is_fitted(np.column_stack([1 - outcome, outcome]), np.column_stack([1 - risk, risk]))
    assert alarms <= 2


def test_development_rows_and_few_risks_are_no_sign(tmp_path: Path) -> None:
    outcome, _, x = simulated()
    table = csv("y,p", outcome.astype(int), fitted(outcome, x))
    assert said(study(tmp_path, table, role="development"), "fitted_on_these_rows") == []
    # Two risks that are the shares of their groups: by chance in one of twelve tables of ten rows a group.
    halves = csv("y,p", [1, 1] + [0] * 8 + [1] * 7 + [0] * 3, [0.2] * 10 + [0.7] * 10)
    assert said(study(tmp_path, halves), "fitted_on_these_rows") == []


# ---- classes in the place of risks ----------------------------------------------------------------------------------


def test_classes_in_the_place_of_risks_are_told(tmp_path: Path) -> None:
    outcome, risk, _ = simulated()
    found = study(tmp_path, csv("y,p", outcome.astype(int), (risk > 0.3).astype(int)))
    assert said(found, "looks_like_classes") == [
        "every risk in site is 0 or 1: these are classes, and no risks. Calibration and thresholds say nothing of a "
        "model that gives risks."
    ]
    assert said(found, "certain_risks") == []
    near = study(tmp_path, csv("y,p", outcome.astype(int), np.where(risk > 0.3, 1, 0.01)))
    assert (said(near, "looks_like_classes"), bool(said(near, "certain_risks"))) == ([], True)


def test_so_are_those_of_several_classes(tmp_path: Path) -> None:
    table = csv("y,a,b,c", ["x", "y", "z"] * 20, [1, 0, 0] * 20, [0, 1, 1] * 20, [0, 0, 0] * 20)
    found = study(tmp_path, table, outcome='classes = ["x", "y", "z"]', prediction='columns = ["a", "b", "c"]')
    assert len(said(found, "looks_like_classes")) == 1


# ---- models that tell nobody apart ----------------------------------------------------------------------------------

BY_SITE = 'site_column = "h"'


def hospitals(*each: tuple[str, int, float, float]) -> str:
    """Hospitals of so many patients, a third with the outcome, whose risks run from one end to the other."""
    parts = [
        np.column_stack([np.arange(n) % 3 == 0, np.linspace(low, high, n), np.full(n, index)])
        for index, (_, n, low, high) in enumerate(each)
    ]
    outcome, risk, index = np.concatenate(parts).T
    return csv("y,p,h", outcome.astype(int), risk, [each[int(k)][0] for k in index])


def test_a_threshold_that_parts_nobody_is_told(tmp_path: Path) -> None:
    says = "at threshold 0.20 the model flags {} at {}: it does not separate anyone there."
    alone = study(tmp_path, hospitals(("Bari", 90, 0.2, 0.9)), dataset=BY_SITE)
    assert said(alone, "flagged_alike") == [says.format("everyone", "1 of 1\N{NO-BREAK SPACE}hospital (Bari)")]
    low = study(tmp_path, hospitals(("Bari", 90, 0.1, 0.9), ("Bern", 90, 0.01, 0.19)), dataset=BY_SITE)
    assert said(low, "flagged_alike") == [says.format("no one", "1 of 2\N{NO-BREAK SPACE}hospitals (Bern)")]
    small = hospitals(*((name, 24, 0.3, 0.9) for name in ("Bari", "Bern", "Bonn")))
    assert said(study(tmp_path, small, dataset=BY_SITE), "flagged_alike") == [
        says.format("everyone", "3 of 3\N{NO-BREAK SPACE}hospitals (Bari, Bern and Bonn)")
    ]


def test_small_hospitals_are_flagged_alike_by_chance(tmp_path: Path) -> None:
    some = [("Bari", 90, 0.1, 0.9), *((f"H{k}", 6, 0.3, 0.9) for k in range(30))]
    assert said(study(tmp_path, hospitals(*some), dataset=BY_SITE), "flagged_alike") == []
    assert said(study(tmp_path, hospitals(("Bari", 30, 0.3, 0.9)), dataset=BY_SITE), "flagged_alike") == []
    one_risk = study(tmp_path, hospitals(("Bari", 90, 0.3, 0.3)), dataset=BY_SITE)
    assert (said(one_risk, "flagged_alike"), len(said(one_risk, "constant_risk"))) == ([], 1)


def test_a_rival_that_is_the_model_is_told(tmp_path: Path) -> None:
    outcome, risk, _ = simulated()
    rivals = 'column = "p"\n[[rival]]\nname = "old"\ncolumn = "q"\n[[rival]]\nname = "older"\ncolumn = "r"'
    near = np.where(np.arange(len(risk)) == 7, risk / 2, risk)
    both = csv("y,p,q,r", outcome.astype(int), risk, near, risk)
    assert said(study(tmp_path, both, prediction=rivals), "same_as_rival") == [
        "The risks of older equal the model's in every row of site: the two are one model there, or one column was "
        "read twice."
    ]
    few = csv("y,p,q,r", outcome[:9].astype(int), risk[:9], near[:9], risk[:9])
    assert said(study(tmp_path, few, prediction=rivals), "same_as_rival") == []


# ---- patients with several rows -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "told"),
    [
        *((name, True) for name in ("patient", "Patient_ID", "PatID", "subject", "SubjectNo", "MRN", "id", "case id")),
        *((name, True) for name in ("study_patient_id", "Patientennummer", "num_paciente", "pseudonym", "person.key")),
        *((name, False) for name in ("age", "ward", "doctor_id", "patient_age", "caseload", "record_date", "hospital")),
    ],
)
def test_patients_with_several_rows_are_told_by_the_name_of_the_column(tmp_path: Path, name: str, told: bool) -> None:
    outcome, risk, _ = simulated(80)
    table = csv(f"y,p,{name}", outcome.astype(int), risk, np.repeat(np.arange(20), 4))
    found = said(study(tmp_path, table), "repeated_patients")
    assert bool(found) is told
    if told:
        assert found == [
            f"80 rows of a.csv have the same {name} as another: rows of one patient are not independent, and are "
            f'counted as if they were. If {name} tells patients apart, declare cluster = "{name}".'
        ]


def test_one_row_a_patient_a_declared_cluster_and_a_few_values_are_no_sign(tmp_path: Path) -> None:
    outcome, risk, _ = simulated(80)
    for patients, declared in (
        (np.arange(80), ""),
        (np.arange(80) // 4, 'cluster = "patient"'),
        (np.arange(80) % 2, ""),
    ):
        table = csv("y,p,patient", outcome.astype(int), risk, patients)
        assert said(study(tmp_path, table, dataset=declared), "repeated_patients") == []


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (["img_{0}.png", "img_{0}_flip.png"], True),
        (["{0}.jpg", "{0}-rot90.jpg", "{0}-rot180.jpg"], True),
        (["scan{0}", "scan{0}_aug1", "scan{0}_aug2"], True),
        (["{0}.tif", "{0} (copy).tif"], True),
        (["aug_0_img{0}.png", "aug_1_img{0}.png"], True),
        (["rotor_{0}.png"], False),
        (["img_{0}.png"], False),
        (["left_{0}.png", "right_{0}.png"], False),
        (["photocopy{0}"], False),
    ],
)
def test_altered_copies_of_images_are_told_by_their_names(tmp_path: Path, names: list[str], told: bool) -> None:
    files = [name.format(k) for k in range(30) for name in names]
    outcome, risk, _ = simulated(len(files))
    found = study(tmp_path, csv("y,p,image", outcome.astype(int), risk, files))
    assert bool(said(found, "near_copies")) is told


# ---- rows of totals, and hidden ones --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("last", "told"),
    [
        ("Total,,0.5,40,3", 'the last row of a.csv says "Total" in ward: it may hold totals, and is no patient then.'),
        ("Total général,,0.5,40,3", 'the last row of a.csv says "Total général" in ward: it may hold totals'),
        (
            "Mittelwert,0,0.31,52.5,2",
            'the last row of a.csv says "Mittelwert" in ward: it may hold totals, and is no pa',
        ),
        (
            ",0,0.3,{age_sum},{stay_sum}",
            "the last row of a.csv holds the sums or means of those above it in age, stay: ",
        ),
        (
            ",0,{risk_mean},{age_mean},2",
            "the last row of a.csv holds the sums or means of those above it in p, age: it",
        ),
        ("north,0,0.3,{age_sum},2", "the last row of a.csv holds the sums or means of those above it in age: it may"),
        ("north,0,0.3,44,2", ""),
    ],
)
def test_a_row_of_totals_is_told(tmp_path: Path, last: str, told: str) -> None:
    outcome, risk, _ = simulated(60)
    rng = np.random.default_rng(5)
    risk, age, stay = np.round(risk, 3), rng.integers(20, 90, 60), rng.integers(1, 30, 60)
    values = {"age_sum": age.sum(), "stay_sum": stay.sum(), "risk_mean": risk.mean(), "age_mean": age.mean()}
    table = csv("ward,y,p,age,stay", ["north", "south"] * 30, outcome.astype(int), risk, age, stay)
    found = said(study(tmp_path, table + last.format(**values) + "\n"), "totals_row")
    assert [text[: len(told)] for text in found] == ([told] if told else [])


def test_numbers_whose_sum_is_too_large_are_no_totals_and_warn_of_nothing(tmp_path: Path) -> None:
    outcome, risk, _ = simulated(60)
    ends = [1e308, -1e308, 1.2e308, 1.7e308] * 15
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        found = study(tmp_path, csv("y,p,a,b", outcome.astype(int), risk, ends, ends))
    assert said(found, "totals_row") == []


def test_a_last_patient_is_hardly_ever_a_total() -> None:
    """Counts that are nearly all 0 and sums of money with heavy tails: at most 1 of 100 tables."""
    rng, alarms = np.random.default_rng(2), 0
    for n in rng.integers(6, 200, 3000):
        columns = (
            *(rng.poisson(0.3, n), rng.geometric(0.3, n) - 1, rng.negative_binomial(0.2, 0.02, n)),
            *(np.round(rng.pareto(1, n) * 3), np.where(rng.random(n) < 0.8, 0, np.round(rng.lognormal(2, 2, n)))),
        )
        alarms += any(_is_sum(column.astype(float)) >= ENOUGH_ADDED for column in columns)
    assert alarms <= 30


def test_columns_of_few_ones_are_no_totals(tmp_path: Path) -> None:
    outcome, risk, _ = simulated(60)
    rare = [1] + [0] * 58 + [1]
    # The last row says "a", a letter of the word for totals, and of a ward.
    wards = [*"b" * 59, "a"]
    found = study(tmp_path, csv("y,p,a,b,ward", outcome.astype(int), risk, rare, rare, wards))
    assert said(found, "totals_row") == []


@pytest.mark.parametrize("is_hidden", [True, False])
def test_hidden_rows_of_a_workbook_are_read_and_told(tmp_path: Path, is_hidden: bool) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    page = book.active
    outcome, risk, _ = simulated(60)
    for row in [("y", "p"), *zip(outcome.tolist(), risk.tolist(), strict=True)]:
        page.append(row)
    for number in range(2, 12):
        page.row_dimensions[number].hidden = is_hidden
    page.row_dimensions[70].hidden = True
    content = io.BytesIO()
    book.save(content)
    found = study(tmp_path, content.getvalue(), file="a.xlsx")
    assert found.datasets[0].rows_analysed == 60
    says = "10 rows of a.xlsx are hidden in the workbook, by a filter or by hand: they are read and counted."
    assert said(found, "hidden_rows") == ([says] if is_hidden else [])


# ---- what is read in a way that its maker may not expect ------------------------------------------------------------


def test_the_na_of_r_is_missing_among_numbers_and_truths(tmp_path: Path) -> None:
    table = "y,p,age,ward\nNA,0.1,50,a\n0,NA,51,NA\n1,0.3,NA,NA\n0,0.4,52,b\n1,0.5,53,b\n"
    found = study(tmp_path, table, dataset='predictors = ["age", "ward"]', times=2)
    assert found.datasets[0].excluded == {"outcome_missing": 2, "risk_missing": 2}
    assert np.isnan(found.datasets[0].predictors[0].values).tolist() == [True, False, False] * 2
    assert said(found, "read_as_missing") == ["NA or a point is read as missing in y, p, age of a.csv (6 cells)."]
    # Among texts it may be a category.
    assert [text[:10] for text in said(found, "code_for_missing")] == ['ward is "N']
    truths = study(tmp_path, "y,p\nTRUE,0.1\nFALSE,0.3\nNA,0.3\n", times=3)
    assert present(truths.datasets[0].outcome).tolist() == [1.0, 0.0] * 3


def test_the_na_of_r_is_missing_beside_two_words(tmp_path: Path) -> None:
    found = study(tmp_path, "y,p\nyes,0.1\nno,0.3\nNA,0.3\nyes,0.3\n", outcome='positive = "yes"', times=2)
    assert present(found.datasets[0].outcome).tolist() == [1.0, 0.0, 1.0] * 2
    assert said(found, "read_as_missing") == ["NA or a point is read as missing in y of a.csv (2 cells)."]


@pytest.mark.parametrize(
    "name", ["Müller", "Größe", "âge", "señal", "Temperatur °C", "µg/L", "naïve – “x”", "h\xf8yde"]
)
def test_western_texts_that_are_no_utf_8_are_read_and_told(tmp_path: Path, name: str) -> None:
    content = f"y,p,{name}\n0,0.1,1\n1,0.2,2\n".encode("cp1252")
    found = study(tmp_path, content, dataset=f'predictors = ["{name}"]', times=3)
    assert found.datasets[0].predictors[0].name == name
    says = "a.csv is no UTF-8 text, and is read as windows-1252; another encoding is declared with encoding."
    assert said(found, "encoding_guessed") == [says]
    declared = study(tmp_path, content, dataset='encoding = "windows-1252"', times=3)
    assert said(declared, "encoding_guessed") == []


@pytest.mark.parametrize(
    ("name", "encoding"),
    [
        ("возраст", "cp1251"),
        ("возраст", "koi8_r"),
        ("ηλικία", "cp1253"),
        ("年齢です", "shift_jis"),
        ("年龄", "gbk"),
        ("나이입니다", "cp949"),
        ("عمر المريض", "cp1256"),
        ("גיל", "cp1255"),
        ("อายุ", "cp874"),
    ],
)
def test_other_alphabets_are_not_taken_for_western_ones(tmp_path: Path, name: str, encoding: str) -> None:
    with pytest.raises(DossierError, match=r"a\.csv is not UTF-8 text"):
        study(tmp_path, f"y,p,{name}\n0,0.1,1\n1,0.2,2\n".encode(encoding))


@pytest.mark.parametrize("hair", [1e-7, 2**-52])
def test_risks_a_hair_beyond_their_ends_are_read_and_told(tmp_path: Path, hair: float) -> None:
    found = study(tmp_path, f"y,p\n0,{-hair!r}\n1,{1 + hair!r}\n0,0.3\n", times=2)
    assert present(found.datasets[0].risk).tolist() == [0.0, 1.0, 0.3] * 2
    assert said(found, "risks_rounded") == [
        "p lies beyond 0 or 1 in 4 rows of a.csv, by 0.000001 at most: it counts as 0 or 1."
    ]
    with pytest.raises(DossierError, match="outside 0 to 1"):
        study(tmp_path, "y,p\n0,0.2\n1,1.00001\n0,0.3\n")


@pytest.mark.parametrize("written", ["{:.4f}", "{:.3f}", "{:.2f}", "{:.4g}"])
def test_class_risks_are_accepted_within_their_last_digit(tmp_path: Path, written: str) -> None:
    risks = np.random.default_rng(4).dirichlet([1, 2, 3, 0.05], 200)
    texts = [[written.format(value) for value in row] for row in risks]
    table = csv("y,a,b,c,d", ["g0", "g1", "g2", "g3"] * 50, *zip(*texts, strict=True))
    given: dict[str, Any] = {"outcome": 'classes = ["g0", "g1", "g2", "g3"]'}
    given["prediction"] = 'columns = ["a", "b", "c", "d"]'
    found = study(tmp_path, table, **given)
    assert np.abs(present(found.datasets[0].class_risk).sum(axis=1) - 1).max() < 2e-6
    (says,) = said(found, "risks_rounded")
    assert says.endswith("they are divided by their sum.")
    # A row that is off by more than its digits allow is none that was rounded.
    texts[7][1] = written.format(float(texts[7][1]) + 0.05)
    with pytest.raises(DossierError, match=r"(do|does) not add up to 1"):
        study(tmp_path, csv("y,a,b,c,d", ["g0", "g1", "g2", "g3"] * 50, *zip(*texts, strict=True)), **given)


# ---- outcomes of two numbers, and per cent --------------------------------------------------------------------------


@pytest.mark.parametrize(("low", "high"), [(-1, 1), (1, 2), (0, 2), (5, 7), (0.5, 1.5)])
def test_nobody_is_advised_to_drop_those_without_the_outcome(tmp_path: Path, low: float, high: float) -> None:
    (fault,) = refused(study, tmp_path, f"y,p\n{low},0.1\n{high},0.3\n{low},0.3\n").faults
    assert fault.what == f"outcome is coded {low} and {high}, not 0 and 1."
    assert fault.fix == f"Say in [outcome] which value means that the outcome happened, such as positive = {high}."
    found = study(tmp_path, f"y,p\n{low},0.1\n{high},0.3\n{low},0.3\n", outcome=f"positive = {high}", times=2)
    assert present(found.datasets[0].outcome).tolist() == [0.0, 1.0, 0.0] * 2


@pytest.mark.parametrize("code", [9, -9, 99, 999])
def test_a_code_for_unknown_is_no_second_outcome(tmp_path: Path, code: int) -> None:
    with pytest.raises(DossierError, match="declare the value as missing only where it stands for unknown"):
        study(tmp_path, f"y,p\n{code},0.1\n1,0.3\n{code},0.3\n")


def test_risks_in_per_cent_are_divided_to_the_digit(tmp_path: Path) -> None:
    found = study(tmp_path, "y,p\n0,16.7\n1,70\n0,0.3\n", prediction='column = "p"\nscale = "percent"', times=2)
    assert present(found.datasets[0].risk).tolist() == [0.167, 0.7, 0.003] * 2


def test_what_is_beyond_100_per_cent_is_told_as_it_is_written(tmp_path: Path) -> None:
    with pytest.raises(DossierError, match=r"risk is 245\.7, outside 0 to 100"):
        study(tmp_path, "y,p\n0,16.7\n1,245.7\n0,0.3\n", prediction='column = "p"\nscale = "percent"')


def test_quick_takes_tables_as_they_are(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    rows = "ja;16,7\nnein;80,5\nk.A.;3,5\nnein;1,0\n" * 2
    file.write_bytes(f"tot;Risiko für Müller\n{rows}".encode("cp1252"))
    assert [fault.fix for fault in refused(reading.quick, file, "tot", "Risiko für Müller").faults] == [
        'Say which value means that the outcome happened, such as --positive "ja".',
        "Divide the column by 100, or if all of it is, say --scale percent.",
    ]
    found = reading.quick(
        file, "tot", "Risiko für Müller", positive="ja", missing=("k.A.",), encoding="latin-1", scale="percent"
    )
    assert present(found.datasets[0].risk).tolist() == [0.167, 0.805, 0.01] * 2
    assert found.datasets[0].excluded == {"outcome_missing": 2, "risk_missing": 0}
