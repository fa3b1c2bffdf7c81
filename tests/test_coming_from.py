"""The page for those who come from other packages: R's numbers on it are R's, and ours are what dossier gives."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import dossier
from dossier import metrics
from tests.reference.tables import GOLDEN

PAGE = Path(__file__).resolve().parent.parent / "docs" / "coming-from.md"
PROC, GLM, VAL = "core/binary:p/pROC", "core/binary:p/glm", "core/binary:p/val_prob"
SCORE = "riskRegression_binary"
LOGIT, SLOPE = ("meta_sites/logit_auc/REML_knha/back", "meta_sites/slope/REML_knha/back")
LOESS, SPLINE = "core/binary:p/smooth/loess_interpolate", "core/binary:p/smooth/gam_tp_logit_REML"
AT = 0.2
WRITTEN = {
    "`auc(roc(y, p))`, `ci.auc`": (f"{PROC}/auc", f"{PROC}/ci_delong"),
    "`roc.test(paired = TRUE)`, of two models": ("auc less auc", "compare/binary/delong_paired/ci"),
    '`coords(x = 0.2, ret = "sensitivity")`': (f"{PROC}/coords_at/1/sensitivity",),
    '`coords(x = 0.2, ret = "ppv")`': (f"{PROC}/coords_at/1/ppv",),
    "`val.prob`: C (ROC)": (f"{VAL}/C (ROC)",),
    "`val.prob`: Slope": (f"{VAL}/Slope",),
    "`val.prob`: Intercept": (f"{VAL}/Intercept",),
    "`val.prob.ci.2`: Intercept": ("CalibrationCurves/binary/stats/Intercept",),
    "`val.prob`: Eavg, E90, Emax": (f"{VAL}/Eavg", f"{VAL}/E90", f"{VAL}/Emax"),
    "`val.prob`: Brier": (f"{VAL}/Brier",),
    "`val.prob`: R2": (f"{VAL}/R2",),
    "`val.prob`: U:Chi-sq": (f"{VAL}/U:Chi-sq",),
    "`val.prob`: S:z": (f"{VAL}/S:z",),
    "`dca(y ~ p)` at 0.2": ("net benefit of p",),
    "the same less treat all, 0.035": ("net benefit of all", "net benefit of p less all"),
    "`standardized_net_benefit()`": ("standardized",),
    "`p` less `p2`": ("net benefit of p less p2",),
    '`rma(qlogis(auc), ..., method = "REML", test = "knha")`': (f"{LOGIT}/est", f"{LOGIT}/ci"),
    "`rma(slope, ...)`, the same": (f"{SLOPE}/est", f"{SLOPE}/ci"),
    "`Score`: Brier": (f"{SCORE}/Brier/1/Brier", f"{SCORE}/Brier/1/lower", f"{SCORE}/Brier/1/upper"),
    "`Score`: IPA": (f"{SCORE}/Brier/1/IPA",),
    "`Score`: delta.AUC": tuple(f"{SCORE}/AUC_contrasts/0/{name}" for name in ("delta.AUC", "lower", "upper")),
    "AUROC, 95% lower and upper": (f"{PROC}/auc", f"{PROC}/ci_delong"),
    "brier score": (f"{VAL}/Brier",),
    "calibrationInLarge intercept": ("CalibrationCurves/binary/stats/Intercept",),
    "weak calibration gradient": (f"{VAL}/Slope",),
    "weak calibration intercept": (f"{VAL}/Intercept",),
}
"""What R wrote for a row, as paths into r.json, or as one of the differences of `_made`."""
REMARKED = {
    "`val.prob`: Slope": (f"{GLM}/slope/wald",),
    "`val.prob`: Eavg, E90, Emax": tuple(f"{at}/{name}" for at in (LOESS, SPLINE) for name in ("ICI", "E90", "Emax")),
    "`val.prob`: R2": ("CalibrationCurves/binary/stats/R2",),
}
"""What else of R's the last column of a row names."""
NUMBER = re.compile(r"(?<![\w.])-?\d+\.\d+")


def _rows(columns: int) -> Iterator[list[str]]:
    for line in PAGE.read_text().splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) == columns and cells[0] != "Your call" and not cells[0].startswith("---"):
            yield cells


COMPARED = {row[0]: row for row in _rows(4)}


@cache
def _given() -> Any:
    return json.loads((GOLDEN / "r.json").read_text())


def _at(path: str) -> list[float]:
    if path in _made():
        return [_made()[path]()]
    found = _given()
    for part in path.split("/"):
        found = found[int(part)] if isinstance(found, list) else found[part]
    return [float(number) for number in found] if isinstance(found, list) else [float(found)]


@cache
def _made() -> dict[str, Callable[[], float]]:
    def net_benefit(name: str) -> float:
        rows = _given()["dcurves"]["binary"]["dca"]
        return next(float(row["net_benefit"]) for row in rows if (row["variable"], row["threshold"]) == (name, AT))

    return {
        "auc less auc": lambda: (lambda both: both[0] - both[1])(_at("compare/binary/delong_paired/auc")),
        "net benefit of p": lambda: net_benefit("p"),
        "net benefit of all": lambda: net_benefit("all"),
        "net benefit of p less all": lambda: net_benefit("p") - net_benefit("all"),
        "net benefit of p less p2": lambda: net_benefit("p") - net_benefit("p2"),
        "standardized": lambda: net_benefit("p") / (456 / 2000),
    }


def _same(printed: str, expected: list[float]) -> None:
    texts = NUMBER.findall(printed)
    assert len(texts) == len(expected), (texts, expected)
    for text, number in zip(texts, expected, strict=True):
        # A number that ends in 5 may be rounded either way.
        assert abs(float(text) - number) <= 0.5 * 10.0 ** -len(text.partition(".")[2]) + 1e-12, (text, number)


@pytest.fixture(scope="module")
def frames() -> dict[str, pd.DataFrame]:
    rows = pd.read_csv(GOLDEN / "binary.csv")
    said: Any = {"outcome": "y", "risk": "p", "rival": "p2", "thresholds": [AT]}
    found = {name: dossier.validate(rows, **said, **more).to_frame() for name, more in _CALLS.items()}
    return {name: frame[(frame.status == "estimated") & frame.subset_column.isna()] for name, frame in found.items()}


_CALLS: dict[str, dict[str, Any]] = {"one": {}, "pooled": {"site": "site"}}


def test_every_row_of_the_page_is_compared() -> None:
    assert COMPARED.keys() == WRITTEN.keys()


@pytest.mark.parametrize("call", sorted(WRITTEN))
def test_the_numbers_of_r_on_the_page_are_those_that_r_wrote(call: str) -> None:
    numbers = re.sub(r"`[^`]*`", "", call) if "less treat all" in call else ""
    _same(f"{numbers} {COMPARED[call][1]}", [number for path in WRITTEN[call] for number in _at(path)])
    if call in REMARKED:
        _same(COMPARED[call][3], [number for path in REMARKED[call] for number in _at(path)])


@pytest.mark.parametrize("call", sorted(WRITTEN))
def test_the_numbers_of_dossier_on_the_page_are_those_it_gives(frames: dict[str, pd.DataFrame], call: str) -> None:
    printed = COMPARED[call][2]
    pooled = "pooled" in printed
    frame = frames["pooled"][frames["pooled"].site == "pooled"] if pooled else frames["one"]
    expected: list[float] = []
    for name in re.findall(r"`(\w+)`", printed):
        (row,) = frame[(frame.measure == name) & (frame.model == "model")].itertuples()
        bounds = [row.low, row.high] if " to " in printed else []
        expected += [row.value, *(bound for bound in bounds if bound == bound)]
    _same(printed, expected)


def test_what_stands_between_the_tables_is_what_metafor_wrote() -> None:
    (between,) = re.findall(r"of four, metafor's runs from ([\d.]+ to [\d.]+)", PAGE.read_text())
    _same(between, _at(f"{LOGIT}/pi"))


def test_the_measures_beside_those_of_scikit_learn_are_measures() -> None:
    named = [re.findall(r"`(\w+)`", ours) for theirs, ours in _rows(2) if "(y, p" in theirs]
    assert [names[0] for names in named if names] == ["auroc", "auprc", "brier", "log_score", "mcc"]
    assert all(hasattr(metrics, names[0]) for names in named if names)


def test_tables_and_figures_that_the_page_names_are_there() -> None:
    rows = pd.read_csv(GOLDEN / "binary.csv")
    whole = dossier.validate(
        {"North": rows[rows.site == "A"], "South": rows[rows.site == "B"]},
        outcome="y",
        risk="p",
        development=rows[rows.site == "C"],
        predictors=["age", "crp", "sex"],
    )
    text = PAGE.read_text()
    assert set(re.findall(r'v\.table\("(\w+)"\)', text)) <= set(whole.tables)
    assert set(re.findall(r'v\.figure\("(\w+)"\)', text)) <= set(whole.figures)
    assert "SMD" in str(whole.table("characteristics").to_frame().columns)


def test_a_table_of_patients_says_what_gtsummary_says() -> None:
    rows, words = pd.read_csv(GOLDEN / "binary.csv"), PAGE.read_text().partition("of B beside those of A")[2]
    given = json.loads((GOLDEN.parent / "summary.json").read_text())
    said: Any = {"development": rows[rows.site == "A"], "resampling": {"bootstrap": 2, "permutations": 1}}
    found = dossier.validate(rows[rows.site == "B"], outcome="y", risk="p", predictors=["age", "stage"], **said)
    table = found.table("characteristics").to_frame().set_index("Predictor")
    apart = [float(text.replace("\N{MINUS SIGN}", "-")) for text in table["SMD"]]
    shares = [round(100 * share) for share in given["stage"]]
    assert table["Data"].tolist() == ["{:.1f} ({:.1f}–{:.1f})".format(*given["age"]), *map(str, shares)]
    assert apart[0] == round(given["age_smd"], 2)
    _same(words.partition("\n## ")[0], [*given["age"], apart[0], given["stage_smd"], *apart[1:]])
