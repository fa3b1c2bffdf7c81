"""What happens to 1,000 patients of one site: the counts of its own rows, by largest remainder."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dossier.core.types import Absent
from dossier.metrics import classes
from dossier.metrics.committee import CELLS, per_thousand_of_site
from tests.estimated import curved
from tests.reasons import Said


def test_the_counts_of_a_site_are_brought_to_a_thousand() -> None:
    y, p = np.array([1.0, 1.0, 0.0]), np.array([0.9, 0.1, 0.2])
    found = curved(per_thousand_of_site(y, p, (0.5,)))
    # One found, one missed, one left alone: thirds, and the first gets what is left over.
    assert [found.columns[name][0] for name in CELLS] == [334, 0, 333, 333]
    assert (found.n, found.events) == (3, 2)


def test_without_a_threshold_or_rows_there_is_no_thousand() -> None:
    assert per_thousand_of_site(np.ones(2), np.ones(2), ()) == Said("no threshold is declared")
    assert per_thousand_of_site(np.ones(0), np.ones(0), (0.5,)) == Said("there are no rows")
    assert isinstance(classes.per_thousand_of_site(np.zeros(0, dtype=np.int64), np.zeros((0, 3))), Absent)


@given(st.lists(st.tuples(st.booleans(), st.floats(0, 1)), min_size=1, max_size=60))
def test_a_loop_over_the_patients_counts_the_same(rows: list[tuple[bool, float]]) -> None:
    y, p = np.array([float(case) for case, _ in rows]), np.array([risk for _, risk in rows])
    found = curved(per_thousand_of_site(y, p, (0.3, 0.5)))
    for index, threshold in enumerate((0.3, 0.5)):
        slow = dict.fromkeys(CELLS, 0)
        for case, risk in rows:
            name = ("true" if case == (risk >= threshold) else "false") + (
                "_positive" if risk >= threshold else "_negative"
            )
            slow[name] += 1
        shares = {name: found.columns[name][index] or 0 for name in CELLS}
        assert sum(shares.values()) == 1000
        for name, count in slow.items():
            assert shares[name] == pytest.approx(1000 * count / len(rows), abs=1)


def test_the_classes_of_a_site_are_brought_to_a_thousand() -> None:
    found = curved(
        classes.per_thousand_of_site(np.array([0, 1, 2]), np.array([[0.8, 0.1, 0.1], [0.5, 0.4, 0.1], [0, 0, 1.0]]))
    )
    # Predicted rows, true columns: 0 for 0, 0 for 1, 2 for 2.
    assert found.columns["count"] == (334, 333, 0, 0, 0, 0, 0, 0, 333)
