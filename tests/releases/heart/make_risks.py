"""How the risks in this folder were made: a logistic model developed on Cleveland, applied unchanged elsewhere.

Reads the four public files of the repository (cleveland, hungarian, switzerland, va: 14 columns each) and writes
  development.csv        Cleveland, with the risk predicted out of fold (10-fold)
  development_splits.csv 100 random 80/20 splits, the model refitted on each: split, outcome, risk of the held-out fifth
  hungarian.csv switzerland.csv va.csv   the external sites, with the risk of the model fitted on all of Cleveland
  model.json             the fitted coefficients on the predictors' own scale
Needs pandas and scikit-learn.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pandas as pd
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedShuffleSplit, cross_val_predict
from sklearn.pipeline import make_pipeline

PREDICTORS = ["age", "sex", "trestbps", "thalach", "exang", "oldpeak", "atypical", "nonanginal", "asymptomatic"]


def read(path: Path) -> pd.DataFrame:
    table = pd.read_csv(path)
    return table.drop(columns="num").assign(outcome=(table["num"] > 0).astype(int))


def design(table: pd.DataFrame) -> pd.DataFrame:
    pain = {"atypical": table["cp"] == 2, "nonanginal": table["cp"] == 3, "asymptomatic": table["cp"] == 4}
    return pd.concat([table[PREDICTORS[:6]], pd.DataFrame(pain).astype(float)], axis=1)


def main(source: Path) -> None:
    cleveland = read(source / "cleveland.csv")
    model = make_pipeline(SimpleImputer(strategy="median"), LogisticRegression(C=1e6, max_iter=10_000))
    x, y = design(cleveland), cleveland["outcome"]
    risk = cross_val_predict(model, x, y, cv=10, method="predict_proba")[:, 1]
    cleveland.assign(risk=risk.round(6)).to_csv("development.csv", index=False)
    splits = []
    for split, (fit, held) in enumerate(StratifiedShuffleSplit(100, test_size=0.2, random_state=1).split(x, y)):
        risk = model.fit(x.iloc[fit], y.iloc[fit]).predict_proba(x.iloc[held])[:, 1]
        splits.append(pd.DataFrame({"split": split, "outcome": y.iloc[held], "risk": risk.round(6)}))
    pd.concat(splits).to_csv("development_splits.csv", index=False)
    model.fit(x, y)
    for site in ("hungarian", "switzerland", "va"):
        table = read(source / f"{site}.csv")
        table.assign(risk=model.predict_proba(design(table))[:, 1].round(6)).to_csv(f"{site}.csv", index=False)
    fitted = {
        "intercept": round(float(model[-1].intercept_[0]), 6),
        "coefficients": dict(zip(PREDICTORS, model[-1].coef_[0].round(6).tolist(), strict=True)),
        "median": dict(zip(PREDICTORS, model[0].statistics_.tolist(), strict=True)),
    }
    Path("model.json").write_text(json.dumps(fitted, indent=1))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
