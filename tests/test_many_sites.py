"""From twenty hospitals on pages draw all of them, and name those where something is shown not to hold."""

from __future__ import annotations

import dataclasses
import io
import math
import re
from functools import cache

import numpy as np
import pandas
import pypdf
import pytest
from scipy.special import expit
from scipy.stats import binom

import dossier
from dossier.core import multiplicity
from dossier.core.bands import LISTED, MOST_LISTED
from dossier.core.contents import ON_PAPER
from dossier.core.register import fill
from dossier.core.release import Thresholds
from dossier.core.types import Estimate, Evidence, Floats, Result, externals
from dossier.metrics.calibration import calibration_slope, calibration_test, oe_ratio
from dossier.metrics.discrimination import npv, ppv
from dossier.metrics.utility import net_benefit_gain
from dossier.report import compose, draw, press
from dossier.report.chapters import committee, grid, results, verdict
from dossier.report.figures import funnel
from dossier.typeset import tables
from dossier.typeset.numbers import TIED
from tests.conftest import by_hand
from tests.estimated import absent, estimated, present
from tests.figures.evidence import Case

WRONG = "Ward 7"


def outcomes(rng: np.random.Generator, n: int, off: float = 0.0) -> tuple[Floats, Floats]:
    """Outcomes of so many patients and their risks, which are right, or too low by so much on the logit."""
    shown = rng.normal(rng.normal(-0.8, 0.4), 1.0, n)
    return (rng.random(n) < expit(shown + off)).astype(float), expit(shown)


@cache
def evidence(count: int) -> Evidence:
    """So many hospitals, of which one has twice as many events as its risks say."""
    rng = np.random.default_rng(34)
    parts = []
    for index in range(1, count + 1):
        outcome, risk = outcomes(rng, int(rng.integers(120, 260)), 1.4 if f"Ward {index}" == WRONG else 0.0)
        parts.append(pandas.DataFrame({"y": outcome.astype(int), "p": risk.round(6), "site": f"Ward {index}"}))
    resampling = {"bootstrap": 100, "permutations": 100}
    rows = pandas.concat(parts)
    return dossier.validate(rows, outcome="y", risk="p", site="site", thresholds=[0.3], resampling=resampling).evidence


def named(text: str) -> set[str]:
    return {f"Ward {index}" for index in range(1, 31) if f"Ward {index}" in text.replace(f"Ward {index}0", "")}


@pytest.mark.slow
def test_a_perfect_model_at_two_hundred_hospitals_has_nobody_named_in_nearly_every_release() -> None:
    """Holm's level is 1 % of releases; without it one or two of 200 hospitals would be named in most of them."""
    rng = np.random.default_rng(200)
    bare = by_hand(Case("many", tuple(f"Ward {index}" for index in range(200))))
    empty = dataclasses.replace(bare, results=(), criteria=())
    releases, accused = 40, 0
    for _ in range(releases):
        found = []
        for site in externals(bare):
            outcome, risk = outcomes(rng, int(rng.integers(60, 400)))
            test = calibration_test(outcome, risk)
            # The two others are asked only where the test may reject.
            asked = isinstance(test, Estimate) and (test.details["p_value"] or 0) < 0.05
            more = {"oe_ratio": oe_ratio, "calibration_slope": calibration_slope} if asked else {}
            made = {"calibration_test": test, **{name: measure(outcome, risk) for name, measure in more.items()}}
            found += [Result(name, name, site.name, {}, estimate) for name, estimate in made.items()]
        judged = multiplicity.of_calibration(found, {site.name for site in externals(bare)})
        accused += bool(verdict.standing_out(dataclasses.replace(empty, results=tuple(judged))))
    assert accused <= 0.05 * releases


@pytest.mark.slow
def test_flagging_everyone_is_nowhere_better_by_chance() -> None:
    """At a threshold of .05 a right model gains next to nothing: its interval lies below 0 at one hospital in 40."""
    rng = np.random.default_rng(5)
    bare = by_hand(Case("many", tuple(f"Ward {index}" for index in range(200))))
    release = bare.release.model_copy(update={"thresholds": Thresholds(declared=(0.05,), rationale="R")})
    empty = dataclasses.replace(bare, release=release, results=(), criteria=())
    names = {site.name for site in externals(bare)}
    measures = {"net_benefit_gain": net_benefit_gain, "ppv": ppv, "npv": npv}
    accused, by_interval = 0, 0
    for _ in range(10):
        found = []
        for name in names:
            rows = outcomes(rng, int(rng.integers(60, 900)))
            at = {"threshold": 0.05}
            found += [
                Result(each, each, name, at, measure(*rows, threshold=0.05)) for each, measure in measures.items()
            ]
        judged = multiplicity.of_gains(found, names)
        gains = [each.found for each in judged if each.measure == "net_benefit_gain"]
        by_interval += any(isinstance(gain, Estimate) and (gain.high or 0) < 0 for gain in gains)
        accused += bool(verdict.standing_out(dataclasses.replace(empty, results=tuple(judged))))
    assert accused <= 1
    assert by_interval == 10  # by its interval alone every one of the releases would accuse somebody


@pytest.mark.parametrize(("events", "n", "share"), [(3, 200, 0.05), (40, 60, 0.3), (0, 25, 0.5), (700, 9000, 0.1)])
def test_a_gain_below_zero_is_tested_by_exact_binomials(events: int, n: int, share: float) -> None:
    """Of n flagged so many are events, and of 50 unflagged 20: against scipy's own tails, of six looks."""
    outcome = np.r_[np.ones(events), np.zeros(n - events), np.ones(20), np.zeros(30)]
    risk = np.r_[np.full(n, 0.9), np.full(50, 0.01)]
    names = [f"ward-{index}" for index in range(6)]
    rows = (outcome, risk)
    at = {"threshold": share}
    made = {"net_benefit_gain": net_benefit_gain, "ppv": ppv, "npv": npv}
    found = [Result(each, each, "ward-0", at, measure(*rows, threshold=share)) for each, measure in made.items()]
    well = np.r_[np.ones(60), np.zeros(60)], np.r_[np.full(60, 0.95), np.full(60, 0.005)]
    found += [
        Result(each, each, name, at, measure(*well, threshold=share))
        for each, measure in made.items()
        for name in names[1:]
    ]
    gain = estimated(multiplicity.of_gains(found, set(names))[0].found)
    p_value = 4 * min(binom.cdf(events, n, share), binom.sf(19, 50, share))
    below = gain.high is not None and gain.high < 0
    assert gain.details["p_holm"] == pytest.approx(min(6 * min(p_value, 1), 1) if below else 1.0, rel=1e-9)
    assert gain.details["looks"] == 6
    assert multiplicity.is_worse(gain) == (below and 6 * p_value <= 0.01)
    assert multiplicity.is_worse(gain, is_own=True) == below


@pytest.mark.slow
def test_of_many_hospitals_the_one_that_is_wrong_is_named_and_no_other() -> None:
    many = evidence(24)
    assert [site.site for site in verdict.standing_out(many)] == [WRONG]
    notes = grid.table(many).footnotes
    assert "At one of 24 something is shown not to hold; all stand in the chapters by name." in notes
    listed = committee.hospitals(many)
    assert [row.name.split("\N{NO-BREAK SPACE}")[0] for row in listed.rows] == [WRONG]
    assert listed.note.startswith("An error was shown in one of 24 hospitals. Page 2 draws all.")
    assert [row.label for row in committee.by_site(many).rows] == [WRONG]
    said = [results.finding(many), verdict.finding(many)]
    texts = [committee.answer(many), *committee.who_is_missed(many), *(f"{each.lead} {each.rest}" for each in said)]
    assert named(" ".join(texts)) == {WRONG}


def test_ones_own_hospital_stands_first_whether_it_is_wrong_or_not() -> None:
    own = dataclasses.replace(evidence(24), local_site=externals(evidence(24))[2].name)
    assert [site.site for site in verdict.named_ones(own)] == ["Ward 3", WRONG]
    assert [row.label for row in committee.by_site(own).rows] == ["Ward 3", WRONG]


@pytest.mark.slow
def test_beside_a_hospital_that_is_wrong_the_step_alone_says_how_many_would_show_it() -> None:
    """One hospital shows that it is right, none that it is wrong, and the others cannot tell."""
    few = evidence(19)
    first, wrong = (next(s.name for s in externals(few) if s.site == name) for name in ("Ward 1", WRONG))
    ends = {first: (0.9, 1.1), wrong: (0.5, 2.0)}

    def other(result: Result) -> Result:
        if result.dataset not in ends or not isinstance(result.found, Estimate):
            return result
        if result.measure == "calibration_test":
            details = {**result.found.details, "p_holm": 1.0}
            return dataclasses.replace(result, found=dataclasses.replace(result.found, details=details))
        if result.measure not in ("oe_ratio", "calibration_slope"):
            return result
        low, high = ends[result.dataset]
        return dataclasses.replace(result, found=dataclasses.replace(result.found, value=1.0, low=low, high=high))

    shows = "patients like these at a hospital would show that they are right, if they are."
    assert shows not in committee.are_right(few).rest
    assert any("to be sure of its percentages" in step for step in committee.steps(few))
    right = committee.are_right(dataclasses.replace(few, results=tuple(map(other, few.results))))
    assert right.lead.startswith(("Close to what happened in Ward 1; nobody can tell yet", "Nobody can tell yet: they"))
    assert shows in right.rest


def test_up_to_nineteen_hospitals_each_is_named() -> None:
    few = evidence(19)
    sites = [site.site for site in externals(few)]
    assert [row.name.split("\N{NO-BREAK SPACE}")[0] for row in committee.hospitals(few).rows] == sites
    assert [row.label for row in committee.by_site(few).rows] == sites
    assert all(f"{site} (" in grid.table(few).footnotes[0] for site in sites)
    for name in ("funnel_by_site", "committee_funnel"):
        drawn = absent(fill("report.figures").figures[name].function(few))
        assert drawn.reason.code == "few_enough_to_be_named"


def test_the_funnel_draws_every_hospital_and_names_the_one_beyond_chance() -> None:
    many = evidence(24)
    points = funnel.points(many, "oe_ratio")
    assert len(points) == 24
    assert [point.of.name for point in points if point.is_out] == [
        site.name for site in externals(many) if site.site == WRONG
    ]
    # Of 24 tests one rejects: Holm's last step has 23 left. At p a chi-squared of two degrees of freedom is -2 ln p.
    reach = multiplicity.reach_of_chance(many)
    assert reach == pytest.approx(math.sqrt(2 * math.log(23 / multiplicity.LEVEL)), rel=1e-12)
    beyond = [point for point in points if abs(math.log(point.value)) > reach * point.error]
    assert [point.of.name for point in beyond] == [point.of.name for point in points if point.is_out]
    for name, width in (("funnel_by_site", 168.0), ("committee_funnel", 129.6)):
        made = present(fill("report.figures").figures[name].function(many))
        assert made.width == pytest.approx(width)
        assert f"wrong in size at 1: {WRONG}." in made.alternative or f"wrong at 1: {WRONG}." in made.alternative
        assert named(re.sub(' data-site="[^"]*"', "", made.svg.decode())) == {WRONG}


@pytest.mark.slow
def test_a_dossier_of_many_hospitals_stays_short() -> None:
    gallery = draw.gallery(evidence(24))
    pages = {}
    for edition in ON_PAPER:
        reader = pypdf.PdfReader(io.BytesIO(press.pdf(compose.document(gallery, edition))))
        pages[edition] = [page.extract_text() for page in reader.pages]
    assert len(pages["committee"]) <= 3
    assert len(pages["regulatory"]) <= 24
    first = pages["regulatory"][0]
    assert "To be settled in review" in first
    assert WRONG in first


@pytest.mark.slow
def test_of_very_many_hospitals_tables_list_who_stands_out_and_the_largest_and_say_where_all_are() -> None:
    held = evidence(44)
    listed = verdict.listed(held)
    assert len(listed) == LISTED
    largest = sorted(externals(held), key=lambda site: -site.n)[: LISTED - 1]
    assert set(listed) == {WRONG, *(site.site for site in largest)} | {listed[-1]}
    made = compose.tables(held)["performance"]
    unlisted = {row.label for row in made.rows} - {site.replace(" ", TIED) for site in listed}
    (table,) = tables.pages_of(made, unlisted=unlisted)
    assert len(unlisted) == 24
    assert [row.label for row in table.rows if row.label in unlisted] == []
    assert any("Without 24 sites, which results.csv has" in note for note in table.notes)
    # What a notebook asks for is whole.
    assert len(made.rows) == 44
    html = compose.document(draw.gallery(held), "regulatory").html
    smallest = min(externals(held), key=lambda site: site.n).site
    rows = html.replace(TIED, " ")
    assert f'<th scope="row">{smallest}</th>' not in rows
    assert f'<th scope="row">{WRONG}</th>' in rows
    assert "all stand in results.csv." in html


def test_of_fewer_each_has_its_row() -> None:
    held = evidence(24)
    assert len(externals(held)) < MOST_LISTED
    assert verdict.listed(held) == tuple(site.site for site in externals(held))
