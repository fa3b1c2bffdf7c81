"""What the committee is told of evidence made by hand: directions, places, and on how few a number rests."""

from __future__ import annotations

import dataclasses

from dossier.findings import committee
from tests.test_findings import of_net_benefit

# ---- the model against none -----------------------------------------------------------------------------------------


def test_the_committee_hears_where_it_would_be_better_to_treat_all_or_no_one() -> None:
    # By hand: 0.1 against 0.3 if all are treated; a loss against a greater loss, so that 0, no one treated, is best.
    found = {("site-0", 0.5): (0.1, 0.3), ("site-1", 0.5): (-0.1, -0.4), ("site-0", 0.2): (0.3, 0.2)}
    evidence = of_net_benefit(found | {("site-1", 0.2): (0.3, 0.2)}, 0.5, 0.2)
    assert committee.better_without(evidence) == (
        "At a threshold of 50%, to treat all would do more good than the model in Italy 1. "
        "At a threshold of 50%, to treat no one would do more good than the model in Spain."
    )
    at_home = dataclasses.replace(evidence, local_site="site-1")
    assert committee.better_without(at_home) == (
        "At a threshold of 50%, to treat no one would do more good than the model here."
    )


def test_the_committee_hears_that_nowhere_it_would_be_better_to_do_without_the_model() -> None:
    evidence = of_net_benefit({("site-0", 0.5): (0.3, 0.2), ("site-1", 0.5): (0.1, -0.2)}, 0.5)
    assert committee.better_without(evidence) == (
        "At no threshold that was set would it do more good to treat all, or no one."
    )
    everywhere = of_net_benefit({("site-0", 0.5): (0.1, 0.2), ("site-1", 0.5): (0.1, 0.2)}, 0.5)
    assert "the model in every place." in committee.better_without(everywhere)
