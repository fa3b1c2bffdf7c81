"""Performance by calendar period: which rows a period has, when a stop rule is crossed, and what is said of it."""

from __future__ import annotations

import csv
import datetime
import io
import itertools
import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas
import pytest
from scipy.stats import binom

from dossier import api, evaluate, metrics, reading
from dossier.core import claims, flags, multiplicity, over_time
from dossier.core.errors import DossierError
from dossier.core.facts import Fact, Method
from dossier.core.over_time import OVER_TIME, Period, crossing, excludes, is_outside, periods
from dossier.core.register import fill
from dossier.core.release import StopRule
from dossier.core.types import PERIODS_OF_A_YEAR, Absent, Curve, Estimate, Evidence, PeriodUnit, Withheld
from dossier.evaluate import stopping
from dossier.metrics.weighted import oe_ratio
from dossier.reading import columns
from dossier.record import results, results_csv
from dossier.report.chapters import committee, monitoring, sentence, verdict
from dossier.report.chapters.committee import dangers, declared
from dossier.report.figures.monitoring import _span, performance_over_time
from dossier.typeset.flags import flag_text
from dossier.typeset.numbers import plain
from dossier.typeset.reasons import reason_text
from dossier.typeset.widths import text_width
from dossier.typeset.words import months_of, period
from dossier.typeset.words import periods as in_a_row
from tests.estimated import curved, present
from tests.smallest import HEAD, release_in

RELEASE = f"""{HEAD.replace("Readmission", "readmission")}
[thresholds]
declared = [0.3, 0.5]
[resampling]
bootstrap = 10
permutations = 19
[[dataset]]
name = "home"
role = "development"
file = "home.csv"
[[dataset]]
name = "rome"
role = "external"
file = "rome.csv"
date = "seen"
periods = "quarter"
[[dataset]]
name = "bari"
role = "external"
file = "bari.csv"
"""
STOP = '[care]\nstop_rule = "Too many cases in two quarters in a row."\nstop = [{rules}]\n'
TWICE = '{ measure = "oe_ratio", at_least = 0.5, at_most = 2.0, periods = 2 }'
SHARE = {"2025-01-15": 0.2, "2025-03-31": 0.2, "2025-04-01": 0.75, "2025-09-30": 0.8, "2026-01-01": 0.1}
"""The share of events on each day; the mean risk is 0.3 on all: O/E is above 2 in the second and third quarter."""


def rows(seed: int = 3, of_a_day: int = 120) -> list[str]:
    """Rows of every day, one that has no day, and ten of a quarter that is too small."""
    rng = np.random.default_rng(seed)
    made = []
    for day, share in [*SHARE.items(), ("", 0.5), ("2025-12-31", 0.5)]:
        number = of_a_day if day in SHARE else 1 if day == "" else 10
        happened = (np.arange(number) < round(share * number)).astype(int)
        risks = np.clip(0.3 + 0.15 * (happened - share) + rng.normal(0, 0.05, number), 0.02, 0.98)
        made += [f"{y},{r:.6f},{day},{50 + 9 * rng.normal():.1f}" for y, r in zip(happened, risks, strict=True)]
    return made


def release(folder: Path, stop: str = "", lines: list[str] | None = None, more: str = "") -> Path:
    """A release with two dated years at Rome and no days at Bari."""
    rng = np.random.default_rng(8)
    text = RELEASE + (STOP.format(rules=stop) if stop else "") + more
    (folder / "release.toml").write_text(text)
    head = "outcome,risk,seen,age"
    (folder / "rome.csv").write_text("\n".join([head, *(rows() if lines is None else lines)]) + "\n")
    others = [
        f"{int(rng.random() < 0.4)},{0.1 + 0.8 * rng.random():.4f},{50 + 9 * rng.normal():.1f}" for _ in range(150)
    ]
    for name in ("home", "bari"):
        (folder / f"{name}.csv").write_text("\n".join(["outcome,risk,age", *others]) + "\n")
    return folder


@pytest.fixture(scope="module")
def followed(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    """The evidence of the release with a rule that Rome crosses."""
    return evaluate.evidence(reading.study(release(tmp_path_factory.mktemp("followed"), TWICE)))


def curve(evidence: Evidence, measure: str, dataset: str = "rome") -> Curve:
    found = present(over_time.followed(evidence.curves, dataset, measure))
    return curved(found.found)


# ---- which period a day lies in -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("unit", "days", "same"),
    [
        ("quarter", ("2025-01-01", "2025-03-31"), True),
        ("quarter", ("2025-03-31", "2025-04-01"), False),
        ("quarter", ("2024-12-31", "2025-01-01"), False),
        ("month", ("2024-02-01", "2024-02-29"), True),
        ("month", ("2024-02-29", "2024-03-01"), False),
        ("year", ("2025-01-01", "2025-12-31"), True),
        ("year", ("2024-12-31", "2025-01-01"), False),
    ],
)
def test_a_period_begins_with_its_firstday(tmp_path: Path, unit: PeriodUnit, days: tuple[str, str], same: bool) -> None:
    text = RELEASE.replace('"quarter"', f'"{unit}"')
    (tmp_path / "home.csv").write_text("outcome,risk\n0,0.1\n1,0.5\n")
    (tmp_path / "bari.csv").write_text("outcome,risk\n0,0.1\n1,0.5\n")
    (tmp_path / "rome.csv").write_text(
        "outcome,risk,seen\n" + "".join(f"{k},0.5,{day}T09:30\n" for k, day in enumerate(days)) * 3
    )
    (tmp_path / "release.toml").write_text(text)
    found = present(next(dataset for dataset in reading.study(tmp_path).datasets if dataset.name == "rome").periods)
    first, last = map(int, found.of_row[:2])
    assert (first == last) is same
    assert last - first == (0 if same else 1)


@pytest.mark.parametrize("role", ["external", "internal", "development"])
@pytest.mark.parametrize("dates", ["", "dates = [2024-12-01, 2026-02-28]\n"])
def test_days_without_periods_say_when_the_patients_came_and_no_more(tmp_path: Path, role: str, dates: str) -> None:
    text = (release(tmp_path) / "release.toml").read_text().replace('periods = "quarter"\n', dates)
    text = text.replace('"development"', '"external"').replace(
        'role = "external"\nfile = "rome', f'role = "{role}"\nfile = "rome'
    )
    found = evaluate.evidence(reading.study(release_in(tmp_path, text)))
    (days,) = (site.dates for site in found.datasets if site.name == "rome")
    asked = ("2024-12-01", "2026-02-28") if dates else ("2025-01-15", "2026-01-01")
    assert days == tuple(map(datetime.date.fromisoformat, asked))
    assert not [curve for curve in found.curves if curve.curve == OVER_TIME]
    (tmp_path / "release.toml").write_text(text.replace("2024-12-01", "2025-01-16"))
    if dates:
        with pytest.raises(DossierError, match="2025-01-15"):
            reading.study(tmp_path)


@pytest.mark.parametrize(
    ("number", "unit", "words"),
    [
        (2025 * 4 + 2, "quarter", "2025 Q3"),
        (2025 * 4, "quarter", "2025 Q1"),
        (2025 * 12 + 11, "month", "December 2025"),
        (2025, "year", "2025"),
    ],
)
def test_a_period_is_called_as_one_calls_it(number: int, unit: PeriodUnit, words: str) -> None:
    assert plain(period(number, unit)) == words


@pytest.mark.parametrize(
    ("numbers", "unit", "words"),
    [
        ((8102, 8103), "quarter", "2025 Q3 and Q4"),
        ((8101, 8102, 8103), "quarter", "2025 Q2 to Q4"),
        ((8103, 8104), "quarter", "2025 Q4 and 2026 Q1"),
        ((8103,), "quarter", "2025 Q4"),
        ((24300, 24301, 24302), "month", "January to March 2025"),
        ((24311, 24312), "month", "December 2025 and January 2026"),
        ((2024, 2025), "year", "2024 and 2025"),
        ((8100, 8101, 8103), "quarter", "2025 Q1, Q2 and Q4"),
        ((8100, 8103, 8104), "quarter", "2025 Q1, 2025 Q4 and 2026 Q1"),
    ],
)
def test_periods_in_a_row_name_their_year_once(numbers: tuple[int, ...], unit: PeriodUnit, words: str) -> None:
    assert plain(in_a_row(numbers, unit)) == words


def test_who_knows_no_quarters_is_told_months() -> None:
    assert plain(months_of((8102, 8103), "quarter")) == "July to December 2025"
    assert plain(months_of((8103, 8104), "quarter")) == "October 2025 to March 2026"
    assert plain(months_of((8103,), "quarter")) == "October to December 2025"
    assert plain(months_of((2025,), "year")) == "2025"


@pytest.mark.parametrize("text", ["2025-13-01", "2025-02-30", "1/2/2025", "45000", "2025-3-1"])
def test_what_is_no_day_is_none(text: str) -> None:
    assert columns.day(text) is None
    assert columns.day("2025-02-28") == datetime.date(2025, 2, 28)


# ---- a period -------------------------------------------------------------------------------------------------------


def test_each_period_is_the_measure_of_its_own_rows(followed: Evidence) -> None:
    """The second quarter's numbers are those of a table that holds its rows alone."""
    table = [line.split(",") for line in rows()]
    of_spring = [(float(y), float(r)) for y, r, day, _ in table if day == "2025-04-01"]
    y, r = (np.array(values) for values in zip(*of_spring, strict=True))
    for measure, alone in (("auroc", metrics.auroc(y, r)), ("oe_ratio", metrics.oe_ratio(y, r))):
        assert not isinstance(alone, Absent)
        found = curve(followed, measure)
        position = found.columns["period"].index(2025 * 4 + 1.0)
        assert found.columns["value"][position] == pytest.approx(alone.value, rel=1e-12)
        assert found.columns["low"][position] == pytest.approx(alone.low, rel=1e-12)
        assert found.columns["n"][position] == 120
        assert found.columns["events"][position] == 90


def test_every_quarter_from_the_first_to_the_last_stands_there(followed: Evidence) -> None:
    found = curve(followed, "oe_ratio")
    assert found.columns["period"] == tuple(float(2025 * 4 + k) for k in range(5))
    assert found.columns["n"] == (240.0, 120.0, 120.0, 10.0, 120.0)
    assert [value is None for value in found.columns["value"]] == [False, False, False, True, True]


def test_a_period_of_few_events_is_absent_with_its_reason_and_a_row_without_a_day_is_counted(
    followed: Evidence,
) -> None:
    """Q4 has 5 events of 10 rows, the first quarter of 2026 12 of 120: both below 20."""
    found = curve(followed, "auroc")
    absent = [step for step in found.method if step.code == "period_without_value"]
    assert [step["period"] for step in absent] == [2025 * 4 + 3, 2026 * 4]
    assert [reason_text(step["why"]) for step in absent if isinstance(step["why"], Fact)] == [
        "too few to tell: 5 events, 5 non-events",
        "too few to tell: 12 events, 108 non-events",
    ]
    undated = present(found.method.first("rows_without_day"))
    assert [count.number for count in undated.counts] == [1]


def test_the_flat_table_has_a_line_a_period(followed: Evidence) -> None:
    lines = list(csv.DictReader(io.StringIO(results_csv.text(results.of(followed)).decode())))
    by_period = [line for line in lines if "period=" in line["at"] and line["measure"] == "oe_ratio"]
    periods = [dict(part.split("=") for part in line["at"].split(";"))["period"] for line in by_period]
    assert periods == ["2025Q1", "2025Q2", "2025Q3", "2025Q4", "2026Q1"]
    values = curve(followed, "oe_ratio").columns["value"]
    assert [float(line["value"]) if line["value"] else None for line in by_period] == list(values)
    assert [line["status"] for line in by_period] == ["estimated"] * 3 + ["absent"] * 2
    assert by_period[3]["reason"] == "too few to tell: 5 events, 5 non-events"
    assert [line["n"] for line in by_period] == ["240", "120", "120", "10", "120"]
    assert {line["tier"] for line in by_period} == {"supporting"}


def test_a_frame_has_the_periods_by_name(followed: Evidence) -> None:
    points = api.Record(results.of(followed)).curves(OVER_TIME)
    assert list(points[points["measure"] == "auroc"]["period"]) == ["2025Q1", "2025Q2", "2025Q3", "2025Q4", "2026Q1"]


@pytest.mark.parametrize(("unit", "name"), [("month", "2025-03"), ("quarter", "2025Q1"), ("year", "2025")])
def test_a_period_by_name_is_that_of_pandas(unit: PeriodUnit, name: str) -> None:
    number = 2025 * PERIODS_OF_A_YEAR[unit] + (2 if unit == "month" else 0)
    assert over_time.code(number, unit) == name
    assert pandas.Period(name).year == 2025


@pytest.mark.parametrize(
    ("numbers", "unit", "width", "lines"),
    [
        (range(8100, 8104), "quarter", 60.0, (("2025 Q1", "2025 Q4"),)),
        (range(8100, 8104), "quarter", 24.0, (("2025 Q1", "Q4"),)),
        (range(8100, 8105), "quarter", 24.0, (("2025 Q1", ""), ("", "2026 Q1"))),
        (range(8100, 8101), "quarter", 24.0, (("2025 Q1", ""),)),
    ],
)
def test_the_names_below_a_panel_have_room(
    numbers: range, unit: PeriodUnit, width: float, lines: tuple[tuple[str, str], ...]
) -> None:
    made = _span(numbers, unit, width)
    assert tuple(tuple(map(plain, line)) for line in made) == lines
    assert all(text_width(left) + text_width(right) < width for left, right in made)


def test_where_no_rule_is_crossed_the_chapter_has_the_extremes(tmp_path: Path) -> None:
    kept = release(tmp_path, '{ measure = "oe_ratio", at_most = 9.0, periods = 3 }')
    evidence = evaluate.evidence(reading.study(kept))
    values = [value for value in curve(evidence, "oe_ratio").columns["value"] if value is not None]
    low, high = min(values), max(values)
    said = plain(monitoring.finding(evidence).rest)
    assert said.startswith(f"At Rome the O/E ratio is lowest at {low:.2f} (")
    assert f" in 2025 Q1 and highest at {high:.2f} (" in said


def test_similarity_asks_for_patients_and_not_for_events(followed: Evidence) -> None:
    values = curve(followed, "degree_of_correspondence").columns["value"]
    assert [value is None for value in values] == [False, False, False, True, False]


def test_only_the_primary_threshold_is_followed(followed: Evidence) -> None:
    asked = [
        curve.at for curve in followed.curves if curve.curve == OVER_TIME and curve.at["measure"] == "net_benefit_gain"
    ]
    assert asked == [{"measure": "net_benefit_gain", "periods": "quarter", "threshold": 0.3}]


def test_the_order_of_rows_does_not_matter(followed: Evidence, tmp_path: Path) -> None:
    lines = rows()
    order = np.random.default_rng(1).permutation(len(lines))
    other = evaluate.evidence(reading.study(release(tmp_path, TWICE, [lines[k] for k in order])))
    ours, theirs = ([curve for curve in evidence.curves if curve.curve == OVER_TIME] for evidence in (followed, other))
    assert [curve.at for curve in ours] == [curve.at for curve in theirs]
    for curve, same in zip(ours, theirs, strict=True):
        assert isinstance(curve.found, Curve)
        assert isinstance(same.found, Curve)
        assert curve.found.method == same.found.method
        for name, column in curve.found.columns.items():
            # Sums of the same numbers in another order.
            there = same.found.columns[name]
            assert [value is None for value in there] == [value is None for value in column]
            known = [value for value in column if value is not None]
            assert [value for value in there if value is not None] == pytest.approx(known, rel=1e-12)


def test_the_column_of_days_is_no_predictor(tmp_path: Path) -> None:
    folder = release(tmp_path)
    for name in ("home", "bari"):
        lines = (folder / f"{name}.csv").read_text().splitlines()
        dated = [f"{lines[0]},seen", *(f"{line},2025-01-{k % 28 + 1:02}" for k, line in enumerate(lines[1:]))]
        (folder / f"{name}.csv").write_text("\n".join(dated) + "\n")
    for dataset in reading.study(folder).datasets:
        assert [predictor.name for predictor in dataset.predictors] == ["age"]


# ---- the rule -------------------------------------------------------------------------------------------------------

RULE = StopRule(measure="oe_ratio", at_least=0.5, at_most=2.0, periods=2)


def values(*given: float) -> tuple[Period, ...]:
    return tuple(Period(k, value, value - 0.3, value + 0.3) for k, value in enumerate(given))


@pytest.mark.parametrize(
    ("given", "crossed"),
    [
        ((1.0, 2.1, 2.2, 1.0), (1, 2)),
        ((2.1, 1.0, 2.1, 1.0), ()),
        ((1.0, 2.1), ()),
        ((0.4, 2.5), (0, 1)),
        ((2.0, 2.0, 0.5, 0.5), ()),
        ((2.1, 2.1, 2.1, 1.0, 2.1, 2.1), (0, 1, 2)),
        ((1.0, 1.0, 0.1, 0.2), (2, 3)),
        ((), ()),
    ],
)
def test_a_rule_is_crossed_by_so_many_periods_in_a_row(given: tuple[float, ...], crossed: tuple[int, ...]) -> None:
    assert tuple(period.number for period in crossing(RULE, values(*given))) == crossed


def test_one_period_is_enough_where_the_rule_says_so() -> None:
    assert crossing(RULE.model_copy(update={"periods": 1}), values(2.1))


def test_a_period_without_a_value_is_passed_over() -> None:
    columns = {"period": (0.0, 1.0, 2.0), "value": (2.1, None, 2.2), "low": (1.9, None, 2.1), "high": (2.3, None, 2.4)}
    found = crossing(RULE, periods(Curve(columns, 10, Method())))
    assert [(period.number, excludes(RULE, period)) for period in found] == [(0, False), (2, True)]


@pytest.mark.parametrize(
    ("low", "high", "excluded"),
    [(2.1, 3.0, True), (2.0, 3.0, False), (1.9, 3.0, False), (0.1, 0.4, True), (0.1, 0.5, False), (None, None, False)],
)
def test_whether_the_whole_interval_lies_outside(low: float | None, high: float | None, excluded: bool) -> None:
    assert excludes(RULE, Period(0, 2.5, low, high)) is excluded


def test_a_value_on_a_limit_is_inside() -> None:
    assert [is_outside(RULE, period) for period in values(0.5, 2.0, 0.4999, 2.0001)] == [False, False, True, True]


def test_a_rule_with_one_limit_has_no_other() -> None:
    lowest = StopRule(measure="auroc", at_least=0.7, periods=1)
    assert [is_outside(lowest, period) for period in values(0.69, 0.9, 5.0)] == [True, False, False]


# ---- flags, pages, the committee ------------------------------------------------------------------------------------


def said(evidence: Evidence) -> list[tuple[str, str, str]]:
    return [
        (flag.flag, flag.dataset, plain(flag_text(flag.fact)))
        for flag in evidence.flags
        if flag.flag.startswith("stop_")
    ]


def test_a_crossed_rule_is_a_flag_that_says_what_the_intervals_do(followed: Evidence) -> None:
    assert said(with_gains(followed, {})) == [
        (
            "stop_rule_crossed",
            "rome",
            "the stop rule is crossed at Rome: the O/E ratio lies outside 0.50 to 2.00 in 2025 Q2 and Q3; the "
            "whole interval does in 2 of 2.",
        )
    ]


def test_the_chapter_the_figure_and_the_committee_say_it(followed: Evidence) -> None:
    finding = monitoring.finding(followed)
    assert plain(finding.lead) == "A stop rule is crossed at Rome in 2025 Q2 and Q3."
    assert plain(finding.rest).startswith("O/E ratio 2.")
    assert "outside 0.50 to 2.00; the whole interval lies outside in each." in plain(finding.rest)
    picture = performance_over_time(followed)
    assert not isinstance(picture, Absent)
    assert plain(picture.message) == "O/E of Rome lies above 2.00 in 2025 Q2 and Q3."
    assert "Rome: not in 2025 Q4: too few to tell: 5 events, 5 non-events" in plain(picture.caption)
    assert "Not evaluable, without days or with too few patients in each period: Bari." in monitoring.rule(followed)
    (stop,) = [text for label, text in declared.care(followed) if label == "When to stop"]
    assert plain(stop) == (
        "Too many cases in two quarters in a row. Broken: Rome, April to September 2025; to be off from then on. "
        "Nobody could check it in one hospital."
    )
    assert "By the maker's rule it must be switched off in Rome." in committee.answer(followed)
    ours, other = (committee.answer(replace(followed, local_site=name)) for name in ("rome", "bari"))
    assert "By the maker's rule it must be switched off here." in ours
    assert "switched off" not in other


def with_ratios(evidence: Evidence, *ratios: tuple[float, float, float], of: str = "oe_ratio") -> Evidence:
    """The evidence in which O/E or the slope of Rome is this in each quarter from 2025 on, with flags made anew."""
    curves = evidence.by_curve[OVER_TIME]
    ratio = next(each for each in curves if (each.at["measure"], each.dataset) == (of, "rome"))
    ends = dict(zip(("value", "low", "high"), zip(*ratios, strict=True), strict=True))
    sizes = {"n": (120.0,) * len(ratios), "events": (40.0,) * len(ratios)}
    columns = {"period": tuple(2025.0 * 4 + index for index in range(len(ratios))), **sizes, **ends}
    other = replace(ratio, found=Curve(columns, 480, Method()))
    found = replace(evidence, curves=tuple(other if each is ratio else each for each in evidence.curves))
    rest = tuple(flag for flag in found.flags if flag.flag != "calibration_drift")
    return replace(found, flags=(*rest, *flags.of_turns(found.datasets, found.curves)))


HIGH, LOW, RIGHT, UNSURE = (0.55, 0.46, 0.66), (2.2, 2.0, 2.4), (1.0, 0.9, 1.1), (1.4, 0.9, 2.0)


@pytest.mark.parametrize(
    ("ratios", "how"),
    [
        ((HIGH, HIGH, RIGHT, LOW), "too high at first and then too low"),
        ((LOW, UNSURE, HIGH), "too low at first and then too high"),
        ((HIGH, LOW, HIGH), "too high at times and too low at others"),
        ((HIGH, UNSURE, UNSURE), ""),
        ((LOW, RIGHT, LOW), ""),
        ((RIGHT, UNSURE), ""),
    ],
)
def test_risks_that_turn_over_time_are_said_to_whatever_they_are_on_average(
    followed: Evidence, ratios: tuple[tuple[float, float, float], ...], how: str
) -> None:
    found = with_ratios(followed, *ratios)
    turn = multiplicity.misfit(found, "rome").turn
    assert (turn.how if turn else "") == how
    assert ("calibration_drift" in {flag.flag for flag in found.flags}) == bool(how)
    (claim,) = [each for each in claims.made(found) if (each.question, each.dataset) == ("calibration", "rome")]
    assert claim.state == multiplicity.size_of_risks(found, "rome")
    if how:
        assert claim.state == "against"
        assert f"{how} in Rome" in sentence.where_risks_are_off(found)
        ours = committee.answer(replace(found, local_site="rome"))
        assert f"Its percentages are wrong here: they were {how}." in ours or "must be switched off here" in ours
        assert committee.are_right(replace(found, local_site="rome")).lead == f"No: they were {how}."


def test_periods_in_which_o_e_or_the_slope_is_beyond_what_is_tolerated_are_said_without_a_rule_on_it(
    followed: Evidence,
) -> None:
    found = with_ratios(
        with_ratios(followed, RIGHT, UNSURE, LOW), RIGHT, LOW, HIGH, UNSURE, LOW, of="calibration_slope"
    )
    assert plain(monitoring.beyond(found)) == (
        "Beyond 0.80 to 1.25 with the whole interval: O/E ratio of Rome in 2025 Q3 (2.20); and calibration slope of "
        "Rome in 2025 Q2, 2025 Q3 and 2026 Q1 (0.55 to 2.20)."
    )
    assert monitoring.beyond(with_ratios(with_ratios(followed, RIGHT), UNSURE, of="calibration_slope")) == ""


def test_an_average_that_is_right_is_no_claim_of_risks_that_turn(followed: Evidence) -> None:
    found = with_ratios(followed, HIGH, LOW)
    right = {"oe_ratio": (1.0, 0.9, 1.1), "calibration_slope": (1.0, 0.9, 1.1)}
    results = tuple(
        replace(each, found=Estimate(*right[each.measure], level=0.95, n=480, method=Method()))
        if (each.dataset, each.measure in right) == ("rome", True)
        else each
        for each in found.results
    )
    found = replace(found, results=results)
    (claim,) = [each for each in claims.made(found) if (each.question, each.dataset) == ("calibration", "rome")]
    assert (claim.state, claim.value, claim.limit) == ("against", LOW[0], (0.8, 1.25))
    # 40 of 120 had it in each quarter: 1/3 beside a mean risk of 1/3 / 0.55, and beside one of 1/3 / 2.2.
    assert claim.distance == pytest.approx((1 / 3 * (1 / 0.55 - 1) + 1 / 3 * (1 - 1 / 2.2)) / 2)


def test_the_limitation_says_when_and_by_how_much(followed: Evidence) -> None:
    found = with_ratios(followed, HIGH, RIGHT, LOW)
    (text,) = [plain(flag_text(flag.fact)) for flag in found.flags if flag.flag == "calibration_drift"]
    assert text == (
        "at Rome the risks are too high in 2025 Q1 and too low in 2025 Q3: O/E there is 0.55 to 2.20, each with "
        "its whole interval outside 0.80 to 1.25. What is said of all these patients together holds at no time."
    )


def with_gains(evidence: Evidence, highs: dict[int, float]) -> Evidence:
    """The evidence in which the gain of every period ends there, 2025 Q1 as 0."""
    gain = next(each for each in evidence.by_curve[OVER_TIME] if each.at["measure"] == "net_benefit_gain")
    numbers = [2025 * 4 + period for period in highs]
    columns = {
        "period": tuple(map(float, numbers)),
        "value": tuple(high - 0.1 for high in highs.values()),
        "low": tuple(high - 0.2 for high in highs.values()),
        "high": tuple(highs.values()),
    }
    other = replace(gain, found=Curve(columns, 480, Method()))
    found = replace(evidence, curves=tuple(other if each is gain else each for each in evidence.curves))
    rules = flags.of_stop_rules(found.release.care.stop, found.datasets, found.curves)
    rest = tuple(flag for flag in found.flags if not flag.flag.startswith("stop_"))
    return replace(found, flags=(*rest, *rules))


@pytest.mark.parametrize(
    ("highs", "harmful"),
    [
        ({0: 0.1, 1: 0.1, 2: 0.1}, 0),
        ({0: -0.1, 1: 0.1, 2: 0.0}, 0),
        ({0: -0.1, 1: 0.1, 2: -0.01, 4: -0.1}, 1),
        ({1: -0.3, 2: -0.1}, 2),
        ({}, 0),
    ],
)
def test_harm_while_a_rule_is_crossed_is_said_on_every_page(
    followed: Evidence, highs: dict[int, float], harmful: int
) -> None:
    # The rule is crossed in the second and third quarter; a gain of another, or an interval that holds 0, is no harm.
    # The first pages ask for as many periods as the rule: one interval of several may lie below 0 by chance.
    found = with_gains(followed, highs)
    (held,) = over_time.of_evidence(found)
    assert held.harmful == harmful
    pages = {
        "core": plain(str(verdict.finding(found).lead)),
        "monitoring": plain(monitoring.finding(found).rest),
        "committee": committee.answer(found),
        "limitations": said(found)[0][2],
        "dangers": " ".join(danger.text for danger in dangers.could_go_wrong(found)),
    }
    words = {
        "core": "A declared stop rule is crossed in Rome; flagging everyone or no one then did better.",
        "monitoring": f"with the whole interval below 0 in {harmful} of 2.",
        "committee": "off in Rome. At times flagging everyone or no one would have been better.",
        "limitations": f"flagging everyone or no one had the higher net benefit in {harmful} of 2.",
        "dangers": "off. At times flagging everyone or no one would have been better.",
    }
    for page, words_of in words.items():
        assert (words_of in pages[page]) == (harmful > (0 if page in ("monitoring", "limitations") else 1)), page


def test_limits_without_words_are_said_in_plain_ones(followed: Evidence) -> None:
    care = followed.release.care.model_copy(update={"stop_rule": None})
    quiet = replace(followed, release=followed.release.model_copy(update={"care": care}))
    assert dict(declared.care(quiet))["When to stop"].startswith(
        "The actual cases per 100 predicted outside 50 to 200 in two periods in a row."
    )


@pytest.mark.parametrize(
    ("rule", "flag", "dataset"),
    [
        ('{ measure = "oe_ratio", at_most = 9.0, periods = 3 }', None, ""),
        ('{ measure = "oe_ratio", at_most = 9.0, periods = 4 }', "stop_rule_not_evaluable", "rome"),
    ],
)
def test_a_rule_that_is_kept_raises_nothing_and_one_of_too_few_periods_says_so(
    followed: Evidence, rule: str, flag: str | None, dataset: str, tmp_path: Path
) -> None:
    found = evaluate.evidence(reading.study(release(tmp_path, rule)))
    assert [(row[0], row[1]) for row in said(found)] == ([] if flag is None else [(flag, dataset)])


def test_without_days_a_rule_cannot_be_evaluated(tmp_path: Path) -> None:
    folder = release(tmp_path, TWICE)
    text = (folder / "release.toml").read_text().replace('date = "seen"\nperiods = "quarter"\n', "")
    found = evaluate.evidence(reading.study(release_in(folder, text)))
    assert [curve for curve in found.curves if curve.curve == OVER_TIME] == []
    assert [(flag, dataset) for flag, dataset, _ in said(found)] == [("stop_rule_not_evaluable", "pooled")]
    assert dict(declared.care(found))["When to stop"].endswith("Not looked at: the test does not follow it over time.")
    assert not monitoring.CHAPTER.has(found)
    assert "the day of each patient" in monitoring.CHAPTER.fill


def test_what_check_knows_is_what_build_raises(tmp_path: Path) -> None:
    study = reading.study(release(tmp_path, f'{TWICE}, {{ measure = "auroc", at_least = 0.99, periods = 1 }}'))
    known, raised = (
        {(flag.flag, flag.dataset, flag.fact) for flag in found.flags if flag.flag.startswith("stop_")}
        for found in (evaluate.preview(study), evaluate.evidence(study))
    )
    assert known == raised
    assert len(known) == 2


def test_the_rule_is_held_against_what_is_shown_and_changes_no_number(followed: Evidence, tmp_path: Path) -> None:
    """The limits are no part of what is computed: another rule on kept numbers is judged anew."""
    other = evaluate.evidence(reading.study(release(tmp_path, '{ measure = "oe_ratio", at_most = 9.0 }')))
    assert other.curves == followed.curves
    assert said(other) == []


# ---- small counts ---------------------------------------------------------------------------------------------------


def test_a_policy_withholds_every_period_and_no_rule_is_judged(tmp_path: Path) -> None:
    folder = release(tmp_path, TWICE, more="[disclosure]\nminimum_cell = 10\n")
    found = evaluate.evidence(reading.study(folder))
    by_period = [curve for curve in found.curves if curve.curve == OVER_TIME]
    assert by_period
    assert all(isinstance(curve.found, Withheld) for curve in by_period)
    assert [(flag, dataset) for flag, dataset, _ in said(found)] == [("stop_rule_not_evaluable", "rome")]
    assert not monitoring.CHAPTER.has(found)
    assert dict(declared.care(found))["When to stop"].endswith(
        "Whether by it the model is to be off is kept back, to protect patients: ask the maker."
    )
    (danger,) = committee.could_go_wrong(only(found, "stop_rule_not_evaluable"))
    assert danger.text.endswith("whether it must be off by the maker's rule is kept back.")


def only(evidence: Evidence, kind: str) -> Evidence:
    """The evidence with the limitations of one kind alone."""
    return replace(evidence, flags=tuple(flag for flag in evidence.flags if flag.flag == kind))


def test_how_often_a_stop_rule_would_stop_a_fine_model_is_that_of_the_binomial() -> None:
    """One risk for all: O/E of a period is a count over n p, whose chance of lying outside is known."""
    n, p = 400, 0.25
    rule = StopRule(measure="oe_ratio", at_least=0.85, at_most=1.2)
    risk = np.full(n, p)
    rng = np.random.default_rng(1)

    def stopped(right: float) -> float:
        firsts = [stopping.first_crossed(rule, oe_ratio, risk, np.full(n, right), n, 0.5, rng) for _ in range(400)]
        return sum(first is not None for first in firsts) / len(firsts)

    for right in (p, 1.1 * p):
        counts = np.arange(n + 1)
        inside = (counts >= 0.85 * n * p) & (counts <= 1.2 * n * p)
        expected = 1 - float(binom.pmf(counts[inside], n, right).sum()) ** stopping.FOLLOWED
        assert stopped(right) == pytest.approx(expected, abs=4 * (0.25 / 400) ** 0.5)


def test_the_risks_that_would_be_right_have_the_slope_and_the_mean_asked_for() -> None:
    risk = np.linspace(0.02, 0.8, 50)
    right = stopping.right_risks(risk, 0.7, 0.5)
    assert right.mean() == pytest.approx(0.5, abs=1e-9)
    assert np.polyfit(np.log(risk / (1 - risk)), np.log(right / (1 - right)), 1)[0] == pytest.approx(0.7, abs=1e-9)


def test_a_rule_on_the_gain_is_simulated_by_the_gain() -> None:
    """Of risks that all lie above the threshold the gain over flagging everyone is 0, however high the net benefit."""
    measure = present(fill("metrics").metrics["net_benefit_gain"].of_rows)
    risk, rng = np.linspace(0.3, 0.8, 200), np.random.default_rng(2)
    for at_least, first in ((0.001, 1), (-0.001, None)):
        rule = StopRule(measure="net_benefit_gain", at_least=at_least)
        assert stopping.first_crossed(rule, measure, risk, risk, 200, 0.1, rng) == first


@pytest.mark.parametrize(
    ("rule", "says"),
    [
        (
            "at_least = 0.001, at_most = 99.0",
            ("in 0.0% of 200 courses", "in 0.0% one with a slope", "in 0.0% one with an O/E"),
        ),
        (
            "at_least = 1.0, at_most = 1.000001",
            ("in 100.0% of 200 courses", "slope of 0.7 (half by quarter 1)", "in 100.0%"),
        ),
    ],
)
def test_a_rule_that_stops_nothing_or_everything_says_so(rule: str, says: tuple[str, ...], tmp_path: Path) -> None:
    stop = f'{{ measure = "oe_ratio", {rule}, periods = 1 }}'
    text = monitoring.rule(evaluate.evidence(reading.study(release(tmp_path, stop))))
    assert [each for each in says if each not in text] == [], text


def test_the_printed_shares_of_courses_are_those_of_another_simulation(tmp_path: Path) -> None:
    stop = '{ measure = "oe_ratio", at_least = 0.8, at_most = 1.25, periods = 1 }'
    study, rng = reading.study(release(tmp_path, stop)), np.random.default_rng(5)
    risk = present(next(each.risk for each in study.datasets if each.name == "rome"))
    odds, steps = np.log(risk / (1 - risk)), np.linspace(-5, 5, 20_001)[:, None]
    printed = re.findall(r"in ([\d.]+)% ", monitoring.rule(evaluate.evidence(study)).replace("of 200 courses ", ""))
    for (slope, ratio), share in zip([(1.0, 1.0), (0.7, 1.0), (1.0, 1.5)], printed, strict=True):
        means = (1 / (1 + np.exp(-slope * odds[None, ::8] - steps))).mean(axis=1)
        added = float(steps[np.abs(means - ratio * risk[::8].mean()).argmin(), 0])
        rows = rng.integers(0, len(risk), (1000, stopping.FOLLOWED, 120))
        events = (rng.random(rows.shape) < 1 / (1 + np.exp(-slope * odds[rows] - added))).sum(axis=2)
        far = np.abs(np.log(events / risk[rows].sum(axis=2))) > np.log(1.25)
        stopped = (far & (events >= 20) & (events <= 100)).any(axis=1).mean()
        assert float(share) / 100 == pytest.approx(stopped, abs=4 * (0.25 / 200 + 0.25 / 1000) ** 0.5)


def test_a_rule_that_few_patients_keep_from_being_looked_at_says_so(tmp_path: Path) -> None:
    """Not every period of 75 patients has 20 with the outcome and 20 without: the binomial, term by term."""
    evidence = evaluate.evidence(reading.study(release(tmp_path, TWICE, rows(of_a_day=75))))
    fact = next(step for step in curve(evidence, "oe_ratio").method if step.code == "stop_simulated")
    mean = np.mean([float(line.split(",")[1]) for line in rows(of_a_day=75) if line.split(",")[2]])
    among = sum(math.comb(75, k) * mean**k * (1 - mean) ** (75 - k) for k in range(20, 56))
    assert fact["n"] == 75
    assert fact["judged"] == pytest.approx(among, abs=0.01)
    assert f"Only {fact['judged']:.0%} of such quarters have the 20 patients with the outcome" in monitoring.rule(
        evidence
    )


def test_a_rule_that_is_always_looked_at_does_not_say_so(followed: Evidence) -> None:
    assert "of such quarters" not in monitoring.rule(followed)


@pytest.mark.parametrize(("stopped", "says"), [(100, "in 50.0% of 200 courses"), (99, "in 49.5% of 200 courses")])
def test_half_of_the_courses_are_stopped_by_the_period_that_is_printed(
    stopped: int, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 200 courses so many are stopped in period 3: half by period 3 where they are half, else by none."""
    firsts = itertools.cycle([3] * stopped + [None] * (stopping.REPLICATES - stopped))
    monkeypatch.setattr(stopping, "first_crossed", lambda *_: next(firsts))
    text = monitoring.rule(evaluate.evidence(reading.study(release(tmp_path, TWICE))))
    assert says in text, text
    assert ("(half by quarter 3)" in text) == (stopped == 100)
