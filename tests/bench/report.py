"""The findings as a table in Markdown."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dossier.core.register import REGISTER

if TYPE_CHECKING:
    from tests.bench.coverage import Found, Tally

TARGET = (0.93, 0.97)
TEST = (0.035, 0.065)
FROM_ROWS = 500
BOUNDARY = ("ici", "e50", "e90", "emax", "ece", "eci", "advisor_value ece", "advisor_value eci")
"""At their best value, which a calibrated model has, only one side can miss."""
TIERS = ("core", "supporting", "mission", "descriptive", "caution", "")
CURVES = {"calibration_curve": "core", "decision_curve": "core"}

SAID: Mapping[str, Mapping[str, str]] = tomllib.loads(
    Path(__file__).with_name("coverage.toml").read_text(encoding="utf-8")
)
"""How the figures of measures are to be read, and why some measures have no cell."""


def table(found: tuple[Found, ...], datasets: int, seed: int, took: str, versions: str, draws: int) -> str:
    """The whole of COVERAGE.md."""
    intervals = [each for each in found if each.cell.kind == "interval"]
    tests = [each for each in found if each.cell.kind == "test"]
    far = [each for each in found if each.cell.kind == "benefit"]
    claims = [each for each in found if each.cell.kind == "claim"]
    parts = [
        "# Coverage: does every interval hold what it promises?\n",
        f"Written by `make coverage`: {datasets:,} datasets a cell, seed {seed}, {took}, {versions}. Bootstraps and "
        f"inverted tests take {draws} draws here (the balanced average accuracy 100), 1,000 in a dossier. An interval "
        "is to hold the truth in .95 of the datasets; the Monte Carlo error of a share of .95 is "
        f"{(0.95 * 0.05 / datasets) ** 0.5:.4f}.\n",
        "Truths are integrals over the population (tests/bench/population.py), not simulated. The linear predictor is "
        "normal with a standard deviation of 1.2; the prevalence is random in every dataset; the threshold equals the "
        "true prevalence. Calibrated: the risk is the chance. Miscalibrated: shifted by .4 on the logit scale, slope "
        ".7. Slight: .1 and .9. Curved: a parabola on the logit scale. The rival's predictor has a correlation of .8 "
        "with the model's.\n",
        *summary(intervals, tests, far, claims),
        "## Intervals of one hospital\n",
        "Coverage, and in brackets the share of truths below and above the interval. **Bold**: outside .93 to .97 at "
        "n >= 500, or below .95 where the truth lies on the boundary.\n",
        *(_of_tier(tier, [interval for interval in intervals if interval.cell.condition]) for tier in TIERS),
        "## Net benefit far from the prevalence\n",
        "Shifted: every risk is .5 too low on the logit scale. Coverage, and in brackets the share of truths below and "
        "above the interval, with the rarest count in the formula where less than one is expected. **Bold**: outside "
        ".925 to .975 though one or more are expected.\n",
        *(_far(measure, far) for measure in FAR_MEASURES),
        "### A gain claimed where flagging everyone or no one is better\n",
        "The share of datasets whose interval of the gain lies above 0. **Bold**: above .025 by more than twice the "
        "Monte Carlo error.\n",
        _claims(claims),
        "## Intervals of other designs\n",
        _others([interval for interval in intervals if not interval.cell.condition]),
        "## Tests where the null hypothesis is true\n",
        "The share rejected at .05; for tests of counts the size that they can attain. **Bold**: outside .035 to .065, "
        "or for a test of counts above .065 or below its attainable size by more than chance.\n",
        _tests(tests),
        "## Notes\n",
        "\n".join(f"- `{name}`: {text}" for name, text in SAID["notes"].items()),
        "\n## Without a cell\n",
        "\n".join(f"- `{name}`: {text}" for name, text in SAID["without_a_cell"].items()) + "\n",
    ]
    return "\n".join(part for part in parts if part)


def tier_of(name: str) -> str:
    """The tier of a measure of the register, or of a curve."""
    plain = name.split(",")[0].split(" ")[0]
    if plain in CURVES:
        return CURVES[plain]
    return REGISTER.metrics[plain].term.tier if plain in REGISTER.metrics else ""


def misses(found: Found, name: str) -> bool:
    """Whether an interval of one hospital misses its target by more than the printed digits."""
    tally, cell = found.tallies[name], found.cell
    if name in BOUNDARY and cell.condition == "calibrated":
        return round(tally.share, 3) < 0.95
    return cell.n >= FROM_ROWS and not TARGET[0] <= round(tally.share, 3) <= TARGET[1]


def fails(tally: Tally) -> bool:
    """Whether a test's size misses its target."""
    attainable = tally.below / tally.counted
    if attainable > 0:
        return tally.share > TEST[1] or tally.share < attainable - 3 * tally.error
    return not TEST[0] <= tally.share <= TEST[1]


FAR_MEASURES = ("net_benefit_gain", "net_benefit", "net_benefit_difference")
FAR_TARGET = (0.925, 0.975)
CLAIMED = 0.025


def _measured_at(name: str) -> tuple[str, float]:
    """The measure and the threshold of an entry."""
    measure, threshold = name.split(" at ")
    return measure, float(threshold)


def _far(measure: str, found: list[Found]) -> str:
    """A measure at many thresholds, a row each, and the sizes as columns."""
    sizes = sorted({each.cell.n for each in found})
    head = [f"`{measure}`", "prevalence", "threshold", *(f"n {n}" for n in sizes)]
    lines = [_line(head), _line(["---"] * len(head))]
    for condition, prevalence in dict.fromkeys((each.cell.condition, each.cell.prevalence) for each in found):
        by_size = {
            each.cell.n: each
            for each in found
            if (each.cell.condition, each.cell.prevalence) == (condition, prevalence)
        }
        for name in next(iter(by_size.values())).tallies:
            if _measured_at(name)[0] == measure:
                entries = [_far_entry(by_size[n], name) if n in by_size else "" for n in sizes]
                lines.append(_line([condition, f"{prevalence:g}", f"{_measured_at(name)[1]:g}", *entries]))
    return "\n".join(lines) + "\n" if len(lines) > 2 else ""


def _far_entry(found: Found, name: str) -> str:
    tally, rarest = found.tallies[name], found.cell.rarest[name]
    share = f"**{tally.share:.3f}**" if misses_far(found, name) else f"{tally.share:.3f}"
    few = f"; {rarest:.1f} expected" if rarest < 1 else ""
    return f"{share} ({tally.below / tally.counted:.3f}, {tally.above / tally.counted:.3f}{few})"


def misses_far(found: Found, name: str) -> bool:
    """Whether an interval far from the prevalence misses, though its rarest count is expected to be one or more."""
    return found.cell.rarest[name] >= 1 and not FAR_TARGET[0] <= round(found.tallies[name].share, 3) <= FAR_TARGET[1]


def overclaims(tally: Tally) -> bool:
    """Whether a gain is claimed too often where there is none."""
    return tally.share > CLAIMED + 2 * math.sqrt(CLAIMED * (1 - CLAIMED) / tally.counted)


def _claims(found: list[Found]) -> str:
    head = ["design", "prevalence", "n", "threshold", "claimed"]
    lines = [_line(head), _line(["---"] * len(head))]
    for each in found:
        for name, tally in each.tallies.items():
            share = f"**{tally.share:.4f}**" if overclaims(tally) else f"{tally.share:.4f}"
            lines.append(_line([each.cell.condition, f"{each.cell.prevalence:g}", f"{each.cell.n}", name, share]))
    return "\n".join(lines) + "\n"


def _of_far(far: list[Found], claims: list[Found]) -> Iterator[str]:
    """How many net benefits far from the prevalence miss, and how often a gain is claimed that is none."""
    for measure in FAR_MEASURES:
        pairs = [(found, name) for found in far for name in found.tallies if _measured_at(name)[0] == measure]
        asked = [(found, name) for found, name in pairs if found.cell.rarest[name] >= 1]
        if not asked:
            continue
        wrong = [
            f"{each.cell.name}, {name} {each.tallies[name].share:.3f}" for each, name in asked if misses_far(each, name)
        ]
        shares = [found.tallies[name].share for found, name in asked]
        yield (
            f"- {measure} far from the prevalence: {len(asked)} intervals whose rarest count is expected to be one or "
            f"more cover {min(shares):.3f} to {max(shares):.3f}, {len(wrong)} outside {FAR_TARGET[0]} to "
            f"{FAR_TARGET[1]}" + (f": {'; '.join(wrong)}." if wrong else ".")
        )
    if claims:
        most = max(tally.share for claim in claims for tally in claim.tallies.values())
        over = sum(overclaims(tally) for claim in claims for tally in claim.tallies.values())
        count = sum(len(claim.tallies) for claim in claims)
        text = f"{count} settings, at most in {most:.4f} of the datasets, {over} too many"
        yield f"- a gain claimed where there is none: {text}."


def summary(
    intervals: list[Found], tests: list[Found], far: Sequence[Found] = (), claims: Sequence[Found] = ()
) -> Iterator[str]:
    """How many miss, and which."""
    yield "## Summary\n"
    for tier in TIERS[:-1]:
        pairs = [
            (interval, name)
            for interval in intervals
            for name in interval.tallies
            if interval.cell.condition and tier_of(name) == tier and interval.tallies[name].counted
        ]
        asked = [(found, name) for found, name in pairs if found.cell.n >= FROM_ROWS]
        wrong = [(found, name) for found, name in asked if misses(found, name)]
        listed = "; ".join(f"{name} ({found.cell.name}) {found.tallies[name].share:.3f}" for found, name in wrong)
        yield f"- {tier}: {len(asked)} intervals at n >= 500, {len(wrong)} outside the target" + (
            f": {listed}." if wrong else "."
        )
    yield from _of_far(list(far), list(claims))
    several = [
        (test, name, tally) for test in tests for name, tally in test.tallies.items() if "mean value" not in name
    ]
    wrong_tests = [f"{name} ({found.cell.name}) {tally.share:.3f}" for found, name, tally in several if fails(tally)]
    yield f"- tests: {len(several)} cells, {len(wrong_tests)} outside the target" + (
        f": {'; '.join(wrong_tests)}.\n" if wrong_tests else ".\n"
    )


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _of_tier(tier: str, found: list[Found]) -> str:
    names = list(dict.fromkeys(name for each in found for name in each.tallies if tier_of(name) == tier))
    blocks = []
    for condition in dict.fromkeys(each.cell.condition for each in found):
        columns = [each for each in found if each.cell.condition == condition]
        rows = [name for name in names if any(name in column.tallies for column in columns)]
        if not rows:
            continue
        head = [condition, *(f"{column.cell.prevalence:g}, n {column.cell.n}" for column in columns)]
        lines = [_line(head), _line(["---"] * len(head))]
        lines += [_line([f"`{name}`", *(_entry(column, name) for column in columns)]) for name in rows]
        blocks.append("\n".join(lines) + "\n")
    return f"### {tier.capitalize() or 'Curves of the mission'}\n\n" + "\n".join(blocks) if blocks else ""


def _entry(found: Found, name: str) -> str:
    tally = found.tallies.get(name)
    if tally is None or not tally.counted:
        return "none"
    share = f"{tally.share:.3f}"
    text = f"**{share}**" if misses(found, name) else share
    below, above = tally.below / tally.counted, tally.above / tally.counted
    without = f", {tally.without / tally.datasets:.0%} without" if tally.without / tally.datasets >= 0.005 else ""
    return f"{text} ({below:.3f}, {above:.3f}{without})"


def _others(found: list[Found]) -> str:
    head = ["design", "interval", "coverage", "error", "below", "above"]
    lines = [_line(head), _line(["---"] * len(head))]
    for each in found:
        for name, tally in each.tallies.items():
            shares = (tally.share, tally.error, tally.below / tally.counted, tally.above / tally.counted)
            numbers = [f"{shares[0]:.3f}", f"{shares[1]:.4f}", *(f"{share:.3f}" for share in shares[2:])]
            lines.append(_line([each.cell.name, f"`{name}`", *numbers]))
    return "\n".join(lines) + "\n"


def _tests(found: list[Found]) -> str:
    head = ["design", "test", "rejected", "error", "attainable"]
    lines = [_line(head), _line(["---"] * len(head))]
    for each in found:
        for name, tally in each.tallies.items():
            share, attainable = f"{tally.share:.4f}", tally.below / tally.counted
            text = f"**{share}**" if "mean value" not in name and fails(tally) else share
            lines.append(
                _line(
                    [each.cell.name, f"`{name}`", text, f"{tally.error:.4f}", f"{attainable:.4f}" if attainable else ""]
                )
            )
    return "\n".join(lines) + "\n"
