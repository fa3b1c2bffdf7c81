"""updated-model.toml: the formula as each update leaves it at each hospital, with where it was fitted.

A next release may name the file and an entry in its [model], and its own dossier then tests it. Nothing here was
applied to a patient.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dossier.core import release, toml_text, types
from dossier.core.bands import SAME_RISK

UPDATED_MODEL = "updated-model.toml"
HEAD = (
    "# The formula as each update leaves it at each hospital. None was applied to a patient, and each holds for its",
    "# own hospital alone. [model] of a next release may name this file with a dataset and a method; its own dossier",
    "# then tests that formula.",
)


def _formulas(evidence: types.Evidence) -> Iterator[Mapping[str, Any]]:
    """Every updated formula, with where it was fitted and what was done: to the log odds `intercept_added` was added,
    after they were multiplied by `slope`.

    None where the release has no formula, or one that does not give the tested risks.
    """
    about, model = evidence.release.release, evidence.release.model
    if model is None or model.intercept is None:
        return
    for site in types.externals(evidence):
        apart = types.find(evidence, "formula_difference", site.name)
        is_tested = isinstance(apart, types.Estimate) and apart.value <= (apart.details.get("tolerated") or SAME_RISK)
        for name in evidence.release.updates if is_tested or evidence.release.prediction.from_ else ():
            added = types.find(evidence, "updated_intercept", site.name, model=name)
            slope = types.find(evidence, "updated_slope", site.name, model=name)
            by = slope.value if isinstance(slope, types.Estimate) else 1.0
            is_known = isinstance(slope, types.Estimate) or slope.reason.code == "not_changed_by_update"
            if isinstance(added, types.Estimate) and is_known:
                fitted = {"of": about.model, "version": about.version, "method": name.removeprefix(types.UPDATED)}
                fitted |= {"dataset": site.name, "hospital": site.site}
                numbers = {"patients": release.written_count(site.n), "intercept_added": added.value, "slope": by}
                yield {**fitted, **numbers, "model": _updated(model, added.value, by)}


def _updated(model: release.Model, intercept: float, slope: float) -> release.Model:
    """The formula whose log odds are intercept + slope times those of this one."""
    times: Mapping[str, Any] = {
        "coefficient": lambda given: slope * given,
        "coefficients": lambda given: tuple(slope * each for each in given),
        "levels": lambda given: {name: slope * each for name, each in given.items()},
    }
    every = ({name: getattr(term, name) for name in times} for term in model.term)
    new = [{name: times[name](given) for name, given in each.items() if given is not None} for each in every]
    terms = [term.model_copy(update=each) for term, each in zip(model.term, new, strict=True)]
    return release.Model(intercept=intercept + slope * model.constant, term=tuple(terms))


def text(evidence: types.Evidence) -> bytes | None:
    """The file to the byte; None where there is no updated formula."""
    found = tuple(_formulas(evidence))
    if not found:
        return None
    return "\n".join([*HEAD, *(line for each in found for line in _entry(each)), ""]).encode()


def _entry(found: Mapping[str, Any]) -> Iterator[str]:
    model: release.Model = found["model"]
    yield from ("", "[[updated]]")
    yield from (f"{key} = {toml_text.value(value)}" for key, value in found.items() if key != "model")
    yield from ("[updated.model]", f"intercept = {toml_text.value(model.constant)}")
    for term in model.term:
        given = term.model_dump(mode="json", by_alias=True, exclude_none=True)
        yield "[[updated.model.term]]"
        yield from (f"{key} = {toml_text.value(value)}" for key, value in given.items())
