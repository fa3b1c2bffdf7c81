"""The cells of groups compared within their hospitals, of releases that accuse a group, and of membership."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logit
from scipy.stats import norm

from dossier.core import between_groups, types
from dossier.metrics.correspondence import membership_auroc
from dossier.metrics.stratified import Stratum
from dossier.metrics.within_sites import Pair
from tests.bench.population import SPREAD, line_through, of_ranks, population, truths
from tests.bench.scores import Score, held
from tests.test_within_sites import Site, accused, results_of

THRESHOLD, RARE, FLAGGED = 0.3, 0.1, 0.3


def cells() -> Iterator[tuple[str, str, int, partial[dict[str, Score]]]]:
    """Name, kind, size and simulation of each."""
    for n in (200, 500, 2000):
        for many in (3, 10):
            for auroc in (0.5, 0.65, 0.85):
                name = f"membership, {many} predictors, {n} rows a side, {auroc:g}"
                yield name, "interval", n, partial(_membership, n, many, auroc)
    for k in (3, 8):
        for n in (200, 500):
            name = f"{k} hospitals of {n}"
            for label, mixed, apart in (("alike", 0, 0), ("apart", 0, 1), ("mixed", 1, 0), ("mixed and apart", 1, 1)):
                hospitals = _hospitals(k, mixed, mixed, apart)
                yield f"patients {label}, {name}", "interval", n, partial(_groups, hospitals, n)
            for label, off, centre in (("right", 0, -0.9), ("off by hospital", 1, -0.9), ("rare", 1, -3.3)):
                yield f"release, {label}, {name}", "interval", n, partial(_accused, _hospitals(k, 1, off, 0, centre), n)


class Hospital(NamedTuple):
    """The mean of the linear predictor, by how much risks are off, the share of the group, and how that differs."""

    centre: float
    shift: float
    mix: float
    apart: float

    def chance(self, in_group: types.Floats | float, linear: types.Floats) -> types.Floats:
        """More outcomes come in a group that is apart, and its risks rank them less well."""
        slope = 1 - 0.4 * self.apart * in_group
        line = self.centre + self.shift + 0.4 * self.apart * in_group + slope * (linear - self.centre)
        return np.asarray(expit(line))


def _hospitals(k: int, mixed: float, off: float, apart: float, centre: float = -0.9) -> tuple[Hospital, ...]:
    """From the first to the last the group is larger, the outcome commoner, and the risks err from high to low."""
    steps = np.linspace(-0.5, 0.5, k).tolist()
    return tuple(Hospital(centre + mixed * at, off * at, 0.4 + 0.6 * mixed * at, apart) for at in steps)


def _drawn(rng: np.random.Generator, hospital: Hospital, n: int) -> Site:
    sex = np.where(rng.random(n) < hospital.mix, "female", "male")
    shares = np.array([hospital.mix, 0.5, 1 - hospital.mix]) / 1.5
    in_group = (sex == "female").astype(float)
    linear = rng.normal(hospital.centre, SPREAD, n)
    outcome = (rng.random(n) < hospital.chance(in_group, linear)).astype(float)
    return outcome, np.asarray(expit(linear)), {"sex": sex, "age": rng.choice(["young", "middle", "old"], n, p=shares)}


def _groups(hospitals: tuple[Hospital, ...], n: int, rng: np.random.Generator, _: int) -> dict[str, Score]:
    pairs: list[Pair] = []
    for y, p, groups in (_drawn(rng, hospital, n) for hospital in hospitals):
        ours, rest = (Stratum(y[rows], p[rows]) for rows in (groups["sex"] == sex for sex in ("female", "male")))
        pairs.append(Pair(str(len(pairs)), ours, rest))
    results = results_of(types.Subset("sex", "female"), pairs, THRESHOLD)
    found = {result.measure: result.found for result in results if "against" in result.at}
    return {name: held(found[name], truth) for name, truth in _differences(hospitals).items()}


@lru_cache(maxsize=64)
def _differences(hospitals: tuple[Hospital, ...]) -> dict[str, float]:
    """The truths: integrals over each part of a hospital, with the weights that its expected counts have."""
    parts = []
    for hospital in hospitals:
        everybody = partial(_of_everybody, hospital)
        whole = population(hospital.centre, everybody, THRESHOLD)
        both = np.vstack((np.ones_like(whole.linear), whole.linear))
        line = line_through(whole.linear, whole.share, whole.chance, both)
        recalibrated = of_ranks(hospital.centre, partial(_on_the_line, line))
        for in_group, share in ((1.0, hospital.mix), (0.0, 1 - hospital.mix)):
            chance = partial(hospital.chance, in_group)
            whole = population(hospital.centre, chance, THRESHOLD)
            known, phi = truths(whole, THRESHOLD, hospital.centre, chance), whole.mean(whole.chance)
            beyond = known["auroc"] - recalibrated["auroc"]
            sizes = share * phi, share * (1 - phi), share**2 * phi * (1 - phi), share * whole.mean(whole.risk)
            parts.append((known["sensitivity"], known["specificity"], beyond, known["oe_ratio"], *sizes))
    values = np.array(parts).reshape(len(hospitals), 2, 2, 4)
    (ours, rest), (size, other) = values.transpose(2, 1, 0, 3)
    weights = size * other / (size + other)
    means = [(weights * each).sum(axis=0) / weights.sum(axis=0) for each in (ours, rest)]
    names = "sensitivity", "specificity", "auroc_beyond_case_mix", "oe_ratio_ratio"
    return dict(zip(names, [*(means[0] - means[1])[:3].tolist(), float(means[0][3] / means[1][3])], strict=True))


def _of_everybody(hospital: Hospital, linear: types.Floats) -> types.Floats:
    """The chance whoever has the linear predictor, which is spread alike in the group and outside."""
    return hospital.mix * hospital.chance(1.0, linear) + (1 - hospital.mix) * hospital.chance(0.0, linear)


def _on_the_line(line: types.Floats, linear: types.Floats) -> types.Floats:
    return np.asarray(expit(line[0] + line[1] * linear))


def _accused(hospitals: tuple[Hospital, ...], n: int, rng: np.random.Generator, _: int) -> dict[str, Score]:
    """Whether the release says of no group that it is worse off, at all and by each measure."""
    threshold = THRESHOLD if hospitals[0].centre > -2 else RARE
    found = {look.measure for look in accused([_drawn(rng, hospital, n) for hospital in hospitals], threshold)}
    of_each = {f"no group accused by {name}": Score(float(name not in found)) for name in between_groups.TESTED}
    return {"no group accused": Score(float(not found)), **of_each}


def _membership(n: int, many: int, auroc: float, rng: np.random.Generator, number: int) -> dict[str, Score]:
    """Normal predictors with one mean shift in all, and a flag that is commoner: a logistic model is right."""
    shift, tables = _shift(auroc), []
    for moved in (0.0, shift):
        values = rng.normal(moved / (many - 1) ** 0.5, 1, (n, many - 1))
        flag = rng.random(n) < expit(logit(FLAGGED) + moved)
        tables.append([types.Feature(str(at), column) for at, column in enumerate((*values.T, flag.astype(float)))])
    return {"membership_auroc": held(membership_auroc(tables[0], tables[1], 0.95, number), auroc)}


@lru_cache(maxsize=16)
def _shift(auroc: float) -> float:
    """By how much the log odds of the best model move, so that its AUROC is the one that is asked for."""
    return float(brentq(lambda shift: _ranked(shift) - auroc, 0, 5)) if auroc > 0.5 else 0.0


def _ranked(shift: float) -> float:
    """The AUROC of the likelihood ratio, over the pairs of flags."""
    theirs, ours = ((1 - share, share) for share in (float(expit(logit(FLAGGED) + shift)), FLAGGED))
    apart = norm.cdf((shift + np.subtract.outer((0, 1), (0, 1))) / 2**0.5)
    return float((np.outer(theirs, ours) * apart).sum())
