"""Clustered rows: the interval by cluster is the ordinary one where each row is a cluster, and wider elsewhere."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import norm
from scipy.stats import t as student

from dossier import evaluate, reading
from dossier.command_line import initial
from dossier.core.facts import Method
from dossier.core.register import REGISTER
from dossier.core.types import Absent, Curve, Estimate, Evidence, Study
from dossier.evaluate import dependent
from dossier.metrics import shares
from dossier.metrics.calibration import brier, ici, oe_ratio
from dossier.metrics.discrimination import auroc
from dossier.metrics.shares import Design
from dossier.metrics.utility import net_benefit, net_benefit_gain
from dossier.report.chapters import results
from dossier.typeset.methods import method_text
from tests.estimated import curved, estimated, interval_of, present, refused
from tests.reasons import Said
from tests.reference.built import example
from tests.smallest import release_in
from tests.test_classes import RELEASE as CLASSES
from tests.test_imputations import SITE, at_the_hospital


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """The example release with 200 rows at its hospital, and few resamples."""
    return at_the_hospital(example(tmp_path_factory.mktemp("example")))


def _with(study: Study, **changes: object) -> Study:
    datasets = tuple(replace(dataset, **changes) if dataset.name == SITE else dataset for dataset in study.datasets)  # type: ignore[arg-type]
    return replace(study, datasets=datasets)


@pytest.fixture(scope="module")
def independent(study: Study) -> Evidence:
    return evaluate.evidence(study)


@pytest.fixture(scope="module")
def single(study: Study) -> Evidence:
    """Each row its own cluster."""
    return evaluate.evidence(_with(study, cluster=np.arange(200)))


def _pairs(first: Evidence, other: Evidence) -> Iterator[tuple[str, Estimate | Absent, Estimate | Absent]]:
    assert [(a.term, a.dataset, dict(a.at)) for a in first.results] == [
        (b.term, b.dataset, dict(b.at)) for b in other.results
    ]
    return ((a.term, a.found, b.found) for a, b in zip(first.results, other.results, strict=True) if a.dataset == SITE)


def test_clusters_of_one_row_give_nearly_the_ordinary_interval(independent: Evidence, single: Evidence) -> None:
    compared = 0
    for name, plain, clustered in _pairs(independent, single):
        if isinstance(plain, Absent) or isinstance(clustered, Absent) or clustered.low is None:
            continue
        assert clustered.value == plain.value, name
        (low, high), (lower, upper) = map(interval_of, (plain, clustered))
        # At 200 rows; a percentile bootstrap of 20 replicates, or a test with 20 draws, is itself no closer than this.
        allowed = 0.6 if any(word in method_text(plain.method) for word in ("bootstrap", "20 draws")) else 0.13
        assert max(abs(lower - low), abs(upper - high)) < allowed * (high - low), (name, plain, clustered)
        compared += 1
    assert compared > 40


def test_p_values_of_differences_stay_near_those_of_independent_rows(independent: Evidence, single: Evidence) -> None:
    for name, plain, clustered in _pairs(independent, single):
        if name in ("auroc_difference", "net_benefit_difference"):
            p_value, other = (present(estimated(found).details["p_value"]) for found in (plain, clustered))
            assert other == pytest.approx(p_value, abs=0.02)


def test_every_interval_says_how_it_was_made(single: Evidence) -> None:
    for result in (estimate for estimate in single.results if estimate.dataset == SITE):
        if isinstance(result.found, Estimate) and result.found.low is not None:
            made = method_text(result.found.method)
            linearized = result.term.startswith(("net_benefit", "oe_ratio", "ici", "e50", "e90", "emax"))
            assert ("linearization over" if linearized else "jackknife leaving out") + " 200 clusters" in made, (
                result.term
            )


def test_the_rival_has_its_interval_on_the_scale_of_the_model(single: Evidence) -> None:
    for term, other in (("auroc_of_rival", "auroc"), ("oe_ratio_of_rival", "oe_ratio")):
        assert REGISTER.metrics[term].scale == REGISTER.metrics[other].scale
        found = next(result.found for result in single.results if result.term == term and result.dataset == SITE)
        assert f", {REGISTER.metrics[other].scale}" in method_text(estimated(found).method)


def test_captions_name_how_the_intervals_of_clusters_were_made(independent: Evidence, single: Evidence) -> None:
    """They said DeLong, whatever had been done."""
    for found, areas in ((independent, "DeLong"), (single, "jackknife over clusters")):
        assert f"Discrimination: {areas}" in results.caption(found)


def test_tests_and_sample_sizes_of_clustered_rows_are_absent_with_a_reason(single: Evidence) -> None:
    for name in ("mss_auroc", "spiegelhalter_z", "degree_of_correspondence"):
        found = next(result.found for result in single.results if result.term == name and result.dataset == SITE)
        assert found == Said(f"the rows of {SITE} are clustered, and this needs independent rows")


def test_rows_doubled_within_their_cluster_change_no_interval(study: Study, single: Evidence) -> None:
    site = next(dataset for dataset in study.datasets if dataset.name == SITE)
    twice = np.repeat(np.arange(200), 2)
    doubled = _with(
        study,
        rows_read=400,
        outcome=present(site.outcome)[twice],
        risk=present(site.risk)[twice],
        rival=present(site.rival)[twice],
        predictors=(),
        cluster=twice,
    )
    found = {
        (result.term, str(dict(result.at))): result.found
        for result in evaluate.evidence(doubled).results
        if result.dataset == SITE
    }
    compared = 0
    for result in (estimate for estimate in single.results if estimate.dataset == SITE):
        other = found.get((result.term, str(dict(result.at))))
        # The square of a sum of squares, and pairs of two rows, do not double.
        # More rows bend the calibration curve at more knots.
        alike = result.term not in ("nagelkerke_r2", "model_based_concordance", "ici", "e50", "e90", "emax")
        if isinstance(result.found, Estimate) and result.found.low is not None and alike:
            assert isinstance(other, Estimate), result.term
            assert (other.low, other.high) == pytest.approx((result.found.low, result.found.high), rel=1e-6), (
                result.term
            )
            compared += 1
    assert compared > 40


def test_independent_copies_widen_what_ignores_the_clusters(study: Study) -> None:
    twice, own = np.repeat(np.arange(200), 4), next(each for each in study.datasets if each.name == SITE).tested
    rows, risks = (column[twice] for column in own)
    naive, right, made = estimated(auroc(rows, risks)), estimated(auroc(*own)), shares.groups(twice, 1)

    def without(group: int) -> Estimate | Absent:
        return auroc(rows[made.of_row != group], risks[made.of_row != group])

    found = estimated(shares.by_cluster(naive, without, made, 0.95, "logit"))
    assert present(naive.se) == pytest.approx(present(right.se) / 2, rel=0.02)
    assert present(found.se) == pytest.approx(present(right.se), rel=0.02)


def test_the_shares_are_the_measures_with_the_interval_of_wilson(independent: Evidence) -> None:
    metrics, seen = REGISTER.metrics, set()
    for result in independent.results:
        if isinstance(result.found, Estimate) and result.dataset == SITE and result.term in metrics:
            wilson = dependent.symmetry_of(metrics[result.term], result.at) == "wilson"
            assert wilson == (method_text(result.found.method) == "Wilson"), result.term
            seen |= {result.term} if wilson else set()
    assert seen == {"sensitivity", "specificity", "ppv", "npv", "accuracy"}


def test_more_clusters_than_are_left_out_are_linearized_whatever_the_seed(study: Study) -> None:
    outcome, risk = next(dataset for dataset in study.datasets if dataset.name == SITE).tested
    twice = np.tile(np.arange(200), 3)
    apart = np.where(np.arange(600) < 400, np.arange(600) % 200, np.arange(600))
    changed = {"outcome": outcome[twice], "risk": risk[twice], "rival": None, "predictors": ()}
    clustered = _with(study, rows_read=600, cluster=apart, **changed)
    other_seed = clustered.release.release.model_copy(update={"seed": 99})
    found = [
        {
            result.term: result.found
            for result in evaluate.evidence(read).results
            if result.dataset == SITE and not result.at
        }
        for read in (
            clustered,
            replace(clustered, release=clustered.release.model_copy(update={"release": other_seed})),
        )
    ]
    # Half of the 400 clusters have two rows, half one: the matrices of Bell and McCaffrey written out.
    sizes = np.repeat([2, 1], 200) / 600
    made = np.diag((1 - sizes) ** -0.5) @ (np.eye(400) - np.outer(sizes, np.ones(400)))
    form = made @ np.diag(sizes) @ made.T
    freedom = np.trace(form) ** 2 / np.trace(form @ form)
    assert 350 < freedom < 399
    for term in ("auroc", "brier", "oe_ratio", "calibration_slope"):
        first, other = (each[term] for each in found)
        assert isinstance(first, Estimate)
        assert first == other
        assert f"linearization over 400 clusters, t with {freedom:.1f} degrees of freedom" in method_text(first.method)
        assert first.details["df"] == pytest.approx(freedom, rel=1e-9)


def test_a_tie_between_classes_leaves_the_accuracy_its_interval(tmp_path: Path) -> None:
    """Eight clusters of three rows; the first row is a tie, whose first class is wrong."""
    right = np.array([0, 1, 1, 1, 1, 1, 0, 1, 0, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 0], dtype=float)
    risks = ["0.4,0.4,0.1,0.1", *["0.1,0.7,0.1,0.1"] * 23]
    grades = ["G1", *("G1" if each else "G0" for each in right[1:])]
    lines = [f"{grade},{risk},{k // 3}" for k, (grade, risk) in enumerate(zip(grades, risks, strict=True))]
    release_in(tmp_path, f'{CLASSES}cluster = "ward"\n', site__csv="\n".join(["grade,p0,p1,p2,p3,ward", *lines]) + "\n")
    results = evaluate.evidence(reading.study(tmp_path)).results
    found = estimated(next(result.found for result in results if (result.term, dict(result.at)) == ("accuracy", {})))
    assert (found.details["ties"], found.value) == (1, 17 / 24)
    assert method_text(found.method).startswith(
        "ties for the largest risk in 1 row, the first class taken; Wilson at the effective"
    )
    without = np.array([np.delete(right, range(3 * k, 3 * k + 3)).mean() for k in range(8)])
    se = math.sqrt(7 / 8 * float(((without - without.mean()) ** 2).sum()))
    assert found.se == pytest.approx(se)
    # Wilson's ends are where the distance is the quantile times the standard error that a share there would have.
    for end in (found.low, found.high):
        assert end is not None
        there = se * math.sqrt(end * (1 - end) / (17 / 24 * 7 / 24))
        assert abs(end - 17 / 24) == pytest.approx(student.ppf(0.975, 7) * there)


def test_a_clustered_measure_still_says_how_its_value_was_made(study: Study) -> None:
    """What the method says of the value stays before the new interval; what it said of the old interval goes."""
    site = next(dataset for dataset in study.datasets if dataset.name == SITE)
    risk = present(site.risk).copy()
    risk[0] = 0.0
    clustered, plain = (
        evaluate.evidence(_with(study, risk=risk, cluster=cluster)) for cluster in (np.arange(200) // 5, None)
    )
    methods = {
        name: [
            method_text(result.found.method)
            for evidence in (plain, clustered)
            for result in evidence.results
            if (result.term, result.dataset) == (name, SITE) and isinstance(result.found, Estimate)
        ]
        for name in ("auprc", "calibration_slope", "ici", "ece", "membership_auroc", "sensitivity")
    }
    jackknife = "jackknife leaving out 40 clusters, t with 39 degrees of freedom"
    clip, without = "logit of 1 risk clipped to 1e-12 from 0 or 1", "without risks of 0 or 1"
    assert methods["auprc"][-1] == f"average precision; {jackknife}"
    assert methods["calibration_slope"][-1] == f"{without}; {jackknife}"
    assert methods["ece"][-1] == "10 bins of equal width; value only"
    assert (
        methods["membership_auroc"][-1]
        == "logistic regression, 10 random halvings, each half by a fit to the other; value only"
    )
    assert methods["sensitivity"][-1] == f"Wilson at the effective number of rows; {jackknife}"
    smoother = methods["ici"][0].split("; bounds by")[0]
    assert smoother.endswith(clip)
    drawn = "bounds by inverting tests (hybrid resampling), 20 draws; linearization over 40 clusters, t with 39"
    assert methods["ici"][-1].startswith(f"{smoother}; {drawn} degrees of freedom")


def test_one_cluster_has_values_and_no_interval(study: Study) -> None:
    found = evaluate.evidence(_with(study, cluster=np.zeros(200, dtype=np.int64)))
    result = next(estimate.found for estimate in found.results if estimate.term == "auroc" and estimate.dataset == SITE)
    assert isinstance(result, Estimate)
    assert (result.low, result.reason) == (None, Said("all rows are of one cluster, and an interval needs two"))
    assert all(
        isinstance(curve.found, Absent)
        for curve in found.curves
        if (curve.curve, curve.dataset) == ("calibration_curve", SITE)
    )


def test_bands_of_clusters_of_one_lie_near_the_ordinary_bands(independent: Evidence, single: Evidence) -> None:
    for name in ("calibration_curve", "decision_curve", "h_accuracy_profile", "cumulative_risks"):
        plain, clustered = (
            next(curve.found for curve in found.curves if curve.curve == name and curve.dataset == SITE)
            for found in (independent, single)
        )
        assert isinstance(clustered, Curve), name
        linearized = name in ("decision_curve", "calibration_curve")
        assert ("linearization" if linearized else "jackknife") in method_text(clustered.method)
        end = "cases_low" if name == "cumulative_risks" else "low"
        ours, theirs = (np.array(curve.columns[end], dtype=float) for curve in (clustered, curved(plain)))
        assert float(np.median(np.abs(ours - theirs))) < 0.02, name


def test_the_interval_by_cluster_covers_the_truth_as_often_as_it_says() -> None:
    """A share with a random effect of the cluster: the truth is one half by symmetry."""
    draw, hits, times, naive = np.random.default_rng(11), 0, 600, 0
    for _ in range(times):
        chance = norm.cdf(draw.normal(scale=0.8, size=25))
        outcome = (draw.random((25, 12)) < chance[:, None]).astype(float)
        value = float(outcome.mean())
        made = shares.groups(np.repeat(np.arange(25), 12), 1)
        rows = outcome.ravel()
        found = shares.by_cluster(
            Estimate(value, None, None, 0.95, 300, Method("wilson")),
            lambda group, rows=rows, made=made: Estimate(  # type: ignore[misc]
                float(rows[made.of_row != group].mean()), None, None, None, 288, Method("wilson")
            ),
            made,
            0.95,
            "wilson",
        )
        low, high = interval_of(found)
        hits += low <= 0.5 <= high
        half = 1.96 * math.sqrt(value * (1 - value) / 300)
        naive += abs(value - 0.5) <= half
    assert 0.93 <= hits / times <= 0.975
    assert naive / times < 0.85


def _truth_over_hospitals(centre: float, shared: float, threshold: float) -> dict[str, float]:
    """What holds on average: over log odds around a centre and, at each, over hospitals."""
    nodes, share = np.polynomial.hermite_e.hermegauss(40)
    linear = np.linspace(centre - 8, centre + 8, 8001)
    weight = norm.pdf(linear - centre) / norm.pdf(linear - centre).sum()
    risk, event = expit(linear), expit(linear[:, None] + shared * nodes) @ share / share.sum()
    cases, others, odds = weight * event, weight * (1 - event), threshold / (1 - threshold)
    benefit = float((cases - odds * others)[risk >= threshold].sum())
    return {
        "oe": float(cases.sum() / (weight @ risk)),
        "net benefit": benefit,
        "gain": benefit - max(0.0, float((cases - odds * others).sum())),
        "brier": float(cases @ (1 - risk) ** 2 + others @ risk**2),
        "auroc": float(cases @ (np.cumsum(others) - others / 2) / (cases.sum() * others.sum())),
    }


SIZES = {"equal": (1.0, 1.0), "unequal": (1.0, 20.0)}


@pytest.mark.parametrize("kind", SIZES)
@pytest.mark.parametrize(("count", "times"), [(8, 800), (15, 400), (40, 120)])
def test_intervals_of_few_and_of_unequal_clusters_cover_what_holds_on_average(
    count: int, times: int, kind: str
) -> None:
    """Hospitals of 1 to 20 times as many patients, with a spread of their own of .6 on the logit.

    With m/(m - 1) and m - 1 degrees of freedom the unequal eight had .87 to .89.
    """
    sizes = np.geomspace(*SIZES[kind], count)
    cluster = np.repeat(np.arange(count), np.maximum(np.round(sizes / sizes.mean() * 50).astype(int), 2))
    truth, design = _truth_over_hospitals(-1.5, 0.6, 0.2), Design(len(cluster), cluster)
    rng, made, hits = np.random.default_rng(count), shares.groups(cluster, 1), dict.fromkeys(truth, 0)
    for _ in range(times):
        at = -1.5 + rng.standard_normal(len(cluster))
        p = expit(at)
        y = (rng.random(len(cluster)) < expit(at + 0.6 * rng.standard_normal(count)[cluster])).astype(float)
        found = {
            "oe": oe_ratio(y, p, 0.95, design),
            "net benefit": net_benefit(y, p, 0.2, 0.95, design),
            "gain": net_benefit_gain(y, p, 0.2, 0.95, design),
        }
        for name, measure, scale in (("auroc", auroc, "logit"), ("brier", brier, "plain")):
            found[name] = shares.by_cluster(
                estimated(measure(y, p)),
                lambda group, measure=measure, y=y, p=p: measure(y[made.of_row != group], p[made.of_row != group]),  # type: ignore[misc]
                made,
                0.95,
                scale,  # type: ignore[arg-type]
            )
        for name, estimate in found.items():
            low, high = interval_of(estimated(estimate))
            hits[name] += low <= truth[name] <= high
    chance = 3 * math.sqrt(0.05 * 0.95 / times)
    assert all(0.93 - chance <= hit / times <= 0.97 + chance for hit in hits.values()), hits


@pytest.mark.parametrize("weighted", [False, True])
def test_calibration_errors_of_dependent_rows_cover_the_true_ones(weighted: bool) -> None:
    """A curve of slope .7 shifted by .5; hospitals of unequal size, or cases drawn three times as often as others.

    Taken as independent the rows of hospitals cover in .63; clustered and weighted rows had no interval.
    """
    linear = np.linspace(-8, 6, 4001)
    density = norm.pdf(linear + 1) / norm.pdf(linear + 1).sum()
    nodes, share = np.polynomial.hermite_e.hermegauss(40)
    spread = 0.0 if weighted else 0.4
    event = expit(0.5 + 0.7 * linear[:, None] + spread * nodes) @ share / share.sum()
    truth = float(density @ np.abs(event - expit(linear)))
    rng, times, hits, naive = np.random.default_rng(21), 150, 0, 0
    sizes = np.geomspace(1, 20, 15)
    cluster = np.repeat(np.arange(15), np.round(sizes / sizes.mean() * 60).astype(int))
    for number in range(times):
        at = -1 + rng.standard_normal(1500 if weighted else len(cluster))
        own = 0.0 if weighted else spread * rng.standard_normal(15)[cluster]
        y = (rng.random(len(at)) < expit(0.5 + 0.7 * at + own)).astype(float)
        drawn = rng.random(len(at)) < np.where(y == 1, 1, 1 / 3) if weighted else np.ones(len(at), dtype=bool)
        weights = np.where(y[drawn] == 1, 1.0, 3.0) if weighted else None
        rows, risks = y[drawn], expit(at[drawn])
        for found, is_naive in (
            (ici(rows, risks, 0.95, 200, number, Design(len(rows), None if weighted else cluster, weights)), False),
            (ici(rows, risks, 0.95, 200, number), True),
        ):
            low, high = interval_of(estimated(found))
            held = low <= truth <= high
            hits, naive = hits + (held and not is_naive), naive + (held and is_naive)
    chance = 3 * math.sqrt(0.05 * 0.95 / times)
    assert 0.93 - chance <= hits / times <= 0.97 + chance
    assert naive / times < 0.93 - chance


def test_many_clusters_are_left_out_in_groups_of_whole_clusters() -> None:
    made = shares.groups(np.repeat(np.arange(1000), 3), 7)
    assert (made.count, made.clusters) == (250, 1000)
    assert all(len(set(three)) == 1 for three in made.of_row.reshape(1000, 3).tolist())
    assert np.bincount(made.of_row).tolist() == [12] * 250


def test_a_cluster_column_is_read_and_its_gaps_are_faults(tmp_path: Path) -> None:
    release = (
        initial.files()["release.toml"]
        .decode()
        .replace('file = "hospital-1.csv"', 'file = "hospital-1.csv"\ncluster = "ward"')
    )
    example(tmp_path)
    site = next(dataset for dataset in reading.study(release_in(tmp_path, release)).datasets if dataset.name == SITE)
    assert sorted(set(present(site.cluster).tolist())) == [0, 1, 2]
    assert "ward" not in [predictor.name for predictor in site.predictors]
    table = (tmp_path / "hospital-1.csv").read_text().replace("surgery", "", 1)
    (tmp_path / "hospital-1.csv").write_text(table)
    assert [fault.what for fault in refused(reading.study, tmp_path).faults] == ["The cluster is missing."]


def test_where_no_cluster_has_two_rows_they_are_independent(tmp_path: Path) -> None:
    example(tmp_path)
    release = (tmp_path / "release.toml").read_text()
    release_in(tmp_path, release.replace('file = "hospital-1.csv"', 'file = "hospital-1.csv"\ncluster = "stay"'))
    head, *rows = (tmp_path / "hospital-1.csv").read_text().splitlines()
    for shared, expected in ((False, None), (True, len(rows) - 1)):
        names = [str(number if number or not shared else 1) for number in range(len(rows))]
        lines = [f"{head},stay", *(f"{row},s{name}" for row, name in zip(rows, names, strict=True))]
        (tmp_path / "hospital-1.csv").write_text("\n".join(lines) + "\n")
        site = next(dataset for dataset in reading.study(tmp_path).datasets if dataset.name == SITE)
        assert (None if site.cluster is None else len(set(site.cluster.tolist()))) == expected


def test_strata_that_differ_narrow_the_interval_of_every_measure(study: Study) -> None:
    """Forty clusters of five rows, from strata of high and of low risk: the spread between those is no error."""
    site = next(dataset for dataset in study.datasets if dataset.name == SITE)
    by_risk = np.argsort(np.argsort(present(site.risk), kind="stable"), kind="stable")
    cluster, strata = by_risk % 4 + 4 * (by_risk // 20), by_risk // 20
    cluster = np.unique(cluster, return_inverse=True)[1]
    alone, within = (
        {
            (result.term, str(dict(result.at))): result.found
            for result in evaluate.evidence(read).results
            if result.dataset == SITE
        }
        for read in (_with(study, cluster=cluster), _with(study, cluster=cluster, strata=strata))
    )
    narrower, freedoms = {}, {}
    for key in alone:
        first, other = alone[key], within[key]
        if isinstance(first, Estimate) and isinstance(other, Estimate) and first.low is not None:
            assert other.value == first.value
            if "df" in other.details and other.low is not None and other.high is not None and first.high is not None:
                narrower[key[0]] = (other.high - other.low) / (first.high - first.low)
                freedoms[key[0]] = other.details["df"]
    assert {"auroc", "oe_ratio", "brier", "net_benefit", "calibration_slope"} <= set(narrower)
    assert set(freedoms.values()) == {30.0}
    assert narrower["net_benefit"] < 0.95


def test_strata_are_read_beside_clusters_and_weights_and_are_no_predictors(tmp_path: Path) -> None:
    example(tmp_path)
    release = (tmp_path / "release.toml").read_text()
    head, *rows = (tmp_path / "hospital-1.csv").read_text().splitlines()
    lines = [f"{head},stay,w,region", *(f"{row},s{k // 5},{1 + k % 3},r{k // 50}" for k, row in enumerate(rows))]
    (tmp_path / "hospital-1.csv").write_text("\n".join(lines) + "\n")
    file = 'file = "hospital-1.csv"'
    for keys, kept in (('cluster = "stay"', True), ('weights = "w"', True), ('cluster = "w"\nweights = "w"', None)):
        (tmp_path / "release.toml").write_text(release.replace(file, f'{file}\n{keys}\nstrata = "region"'))
        if kept is None:
            caught = refused(reading.study, tmp_path)
            assert [fault.what for fault in caught.faults] == ["The cluster has rows in another stratum too."]
            continue
        site = next(dataset for dataset in reading.study(tmp_path).datasets if dataset.name == SITE)
        assert np.bincount(present(site.strata)).tolist() == [50] * 4
        assert "region" not in [predictor.name for predictor in site.predictors]
