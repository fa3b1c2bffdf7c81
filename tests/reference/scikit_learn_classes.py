"""What scikit-learn says of fixtures/biopsy/graft-1.csv, written to scikit_learn_classes.json.

Run by hand, with scikit-learn installed, when the table changes: python tests/reference/scikit_learn_classes.py. The
tests read the file alone, so that scikit-learn is needed by nobody else. Made with scikit-learn 1.9.1.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
from sklearn.metrics import accuracy_score, confusion_matrix, log_loss, roc_auc_score

HERE = Path(__file__).resolve().parent
GRADES = ("G0", "G1", "G2", "G3")


def main() -> None:
    """Write the numbers."""
    table = HERE.parent.parent / "fixtures" / "biopsy" / "graft-1.csv"
    with table.open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    truth = np.array([GRADES.index(row["grade"]) for row in rows])
    risk = np.array([[float(row[f"risk_{grade}"]) for grade in GRADES] for row in rows])
    rival = np.array([[float(row[f"clinical_{grade}"]) for grade in GRADES] for row in rows])
    found = {
        "n": len(truth),
        "auroc": [float(roc_auc_score(truth == k, risk[:, k])) for k in range(len(GRADES))],
        "auroc_macro": float(roc_auc_score(truth, risk, multi_class="ovr", average="macro")),
        "auroc_macro_rival": float(roc_auc_score(truth, rival, multi_class="ovr", average="macro")),
        "log_loss": float(log_loss(truth, risk)),
        "accuracy": float(accuracy_score(truth, risk.argmax(axis=1))),
        "confusion_true_by_predicted": confusion_matrix(truth, risk.argmax(axis=1)).tolist(),
    }
    (HERE / "scikit_learn_classes.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
