"""A gap is never printed as 0: what a policy withholds, and what was not computed, has its sign and its reason."""

from __future__ import annotations

import dataclasses
import datetime
import re
from pathlib import Path

import pytest

from dossier import evaluate, reading
from dossier.core.facts import Fact
from dossier.core.multiplicity import better_than_the_model
from dossier.core.types import Estimate, Evidence, Gallery, Withheld, externals, find, find_curve
from dossier.record import results as record
from dossier.report import compose, unfilled
from dossier.report.chapters import acceptance, caution, description, discrimination, monitoring, results, subgroups
from dossier.report.figures import utility
from dossier.report.figures.results import calibration_results
from dossier.typeset.flags import flag_text
from dossier.typeset.numbers import plain
from tests.estimated import curved, estimated
from tests.smallest import HEAD, QUICK, SITE

POLICY = "[disclosure]\nminimum_cell = 10\n"
AT = 0.2


def _release(folder: Path, policy: str = POLICY) -> Path:
    """A hospital where nearly everybody with the outcome is flagged, so that both lie in one range."""
    folder.mkdir(exist_ok=True)
    cells = [(1, 0.7, 97), (1, 0.1, 3), (0, 0.5, 160), (0, 0.1, 140)]
    (folder / "site.csv").write_text(
        "outcome,risk\n" + "".join(f"{outcome},{risk}\n" * count for outcome, risk, count in cells)
    )
    (folder / "release.toml").write_text(HEAD + QUICK.replace("0.5", str(AT)) + policy + SITE)
    return folder


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    """That hospital under a policy."""
    return evaluate.evidence(reading.study(_release(tmp_path_factory.mktemp("gaps") / "release")))


def _benefits(evidence: Evidence) -> list[str]:
    """The net benefit of the model, that of the default and the gain, as the table has them."""
    (table,) = discrimination.at_thresholds(evidence)
    return [plain(cell.text) for cell in table.rows[-1].cells[-3:]]


def test_under_a_policy_model_default_and_gain_are_of_one_table(guarded: Evidence) -> None:
    """97 and 100 of the range 91 to 104 are 95 and 99 or 100: by hand (99 - 308/4)/407 is what flagging all gives."""
    model, default, gain = map(float, _benefits(guarded))
    assert default > 0
    assert model - default == pytest.approx(gain, abs=0.11)


def test_under_a_policy_the_figure_has_the_gain_of_its_title(guarded: Evidence) -> None:
    found, curve = (
        find(guarded, "net_benefit_gain", "site", threshold=AT),
        find_curve(guarded, "decision_curve", "site"),
    )
    _, gain = utility._at_primary(curved(curve), AT) or (0.0, 0.0)
    assert gain == pytest.approx(100 * estimated(found).value, abs=1e-9)


def _without_details(evidence: Evidence) -> Evidence:
    return dataclasses.replace(
        evidence,
        results=tuple(
            dataclasses.replace(result, found=dataclasses.replace(result.found, details={}))
            if isinstance(result.found, Estimate)
            else result
            for result in evidence.results
        ),
    )


def test_a_default_that_was_not_computed_has_its_sign_and_its_reason(guarded: Evidence) -> None:
    without = _without_details(guarded)
    assert "0.0" not in _benefits(without)[1]
    (table,) = discrimination.at_thresholds(without)
    assert any("better default was not computed" in note for note in table.footnotes)


def test_a_default_that_is_not_known_is_not_named(guarded: Evidence) -> None:
    found = estimated(find(_without_details(guarded), "net_benefit_gain", "site", threshold=AT))
    assert better_than_the_model([("site", dataclasses.replace(found, value=-0.1, high=-0.05))]) == {
        "everyone or no one": ["site"]
    }


def test_events_that_are_withheld_at_every_site_are_not_none(guarded: Evidence) -> None:
    (site,) = externals(guarded)
    why = Withheld(Fact("outcome_of_few", below=10), 10)
    hidden = dataclasses.replace(guarded, datasets=(dataclasses.replace(site, events=None, outcome_withheld=why),))
    assert "events withheld" in description.finding(hidden).lead
    assert "events withheld" in results.caption(hidden)
    assert "0 event" not in description.finding(hidden).lead


# ---- a column of days -----------------------------------------------------------------------------------------------

DAYS = 'date = "seen"\nperiods = "quarter"\n'
DECLARED = """[[acceptance]]
measure = "auroc"
dataset = "site"
at_least = 0.5
declared_on = {day}
"""


def _dated(folder: Path, rest: str = "", day: str = "2025-06-01", policy: str = "") -> Evidence:
    """The hospital of `_release` whose patients came from 2 January to 28 September 2025, a day of one missing.

    One patient came on the first day and one on the last, so that their months are told, not the days.
    """
    table = _release(folder, policy) / "site.csv"
    rows = table.read_text().splitlines()
    days = ["2025-01-02", "2025-09-28", "", *["2025-05-05"] * (len(rows) - 4)]
    table.write_text("\n".join(f"{row},{seen}" for row, seen in zip(rows, ["seen", *days], strict=True)))
    release = folder / "release.toml"
    release.write_text(release.read_text() + DAYS + rest + DECLARED.format(day=day))
    return evaluate.evidence(reading.study(folder))


def _flags(evidence: Evidence) -> set[str]:
    return {flag.flag for flag in evidence.flags}


@pytest.mark.parametrize(
    ("day", "says"),
    [
        ("2025-06-01", "not before the first patient (1 January 2025)"),
        ("2024-12-31", "before the first patient (1 January 2025)"),
        ("2026-05-01", "after all patients had come (30 September 2025)"),
    ],
)
def test_a_column_of_days_counts_as_dates(tmp_path: Path, day: str, says: str) -> None:
    evidence = _dated(tmp_path / "release", day=day)
    assert externals(evidence)[0].dates == (datetime.date(2025, 1, 1), datetime.date(2025, 9, 30))
    assert "dates_missing" not in _flags(evidence)
    assert plain(acceptance.when(evidence, "declared")).endswith(f", {says}.")


def test_declared_dates_come_before_a_column_of_days(tmp_path: Path) -> None:
    evidence = _dated(tmp_path / "release", rest="dates = [2025-01-01, 2025-12-31]\n")
    assert externals(evidence)[0].dates == (datetime.date(2025, 1, 1), datetime.date(2025, 12, 31))


def test_under_a_policy_no_day_of_a_person_is_given(tmp_path: Path) -> None:
    evidence = _dated(tmp_path / "release", policy=POLICY)
    (site,) = externals(evidence)
    assert (site.dates, site.dates_withheld) == (None, Withheld(Fact("days_of_persons"), 10))
    assert "dates_missing" not in _flags(evidence)
    assert "first patient is withheld (the first and the last day tell" in plain(acceptance.when(evidence, "declared"))
    (row,) = description.sites(evidence).rows
    assert row.cells[-1].text == "withheld"
    printed = record.of(evidence).text().decode()
    for day in ("2025-01-01", "2025-01-02", "2025-09-28", "2025-09-30"):
        assert day not in printed


def test_under_a_policy_declared_dates_are_given(tmp_path: Path) -> None:
    evidence = _dated(tmp_path / "release", rest="dates = [2025-01-01, 2025-12-31]\n", policy=POLICY)
    (site,) = externals(evidence)
    assert (site.dates, site.dates_withheld) == ((datetime.date(2025, 1, 1), datetime.date(2025, 12, 31)), None)


# ---- what a policy hides is said by the name of the policy ----------------------------------------------------------

FOLLOWED = """[care]
stop = [{ measure = "oe_ratio", at_most = 2.0, periods = 2 }]
[[subgroup]]
column = "sex"
levels = { f = "female", m = "male" }
[[subgroup]]
column = "ward"
levels = { a = "north", b = "south" }
"""


def _with_groups(folder: Path, policy: str) -> Evidence:
    table = _release(folder, policy) / "site.csv"
    first, *rows = table.read_text().splitlines()
    lines = [
        f"{row},2025-0{1 + index % 9}-05,{'fm'[index % 2]},{'ab'[index // 3 % 2]}" for index, row in enumerate(rows)
    ]
    table.write_text("\n".join([f"{first},seen,sex,ward", *lines, ",0.3,2025-03-05,f,a"]) + "\n")
    release = folder / "release.toml"
    release.write_text(release.read_text() + DAYS + FOLLOWED)
    return evaluate.evidence(reading.study(folder))


@pytest.fixture(scope="module")
def hidden(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    """A hospital with a stop rule, days, two columns of subgroups and one row without an outcome, under a policy."""
    return _with_groups(tmp_path_factory.mktemp("hidden") / "release", POLICY)


def test_a_stop_rule_that_is_not_judged_under_a_policy_names_it(hidden: Evidence) -> None:
    (flag,) = [flag for flag in hidden.flags if flag.flag == "stop_rule_not_evaluable"]
    text = flag_text(flag.fact)
    assert "results by period are not given where counts below 10 are protected" in text
    assert "can be shown" not in text


def test_a_chapter_of_named_days_is_not_asked_for_days(hidden: Evidence) -> None:
    assert unfilled.filled(hidden, monitoring.CHAPTER).fill == "It is not given where counts below 10 are protected."
    undated = dataclasses.replace(hidden, curves=())
    assert unfilled.filled(undated, monitoring.CHAPTER).fill == monitoring.CHAPTER.fill


def test_rows_that_may_be_none_are_no_finding(hidden: Evidence, tmp_path: Path) -> None:
    assert "rows_excluded" not in _flags(hidden)
    assert "rows_excluded" in _flags(_with_groups(tmp_path / "release", ""))


def test_what_is_said_of_two_columns_alike_is_said_once(hidden: Evidence) -> None:
    notes = [
        note for table in subgroups.tables(hidden) for note in table.footnotes if note.startswith("In no subgroup")
    ]
    assert notes
    assert len(notes) == len(set(notes))


def test_a_curve_that_is_withheld_gives_its_reason_in_place_of_the_picture(hidden: Evidence) -> None:
    picture = calibration_results(hidden)
    assert isinstance(picture, Withheld)
    assert picture.reason == Fact("not_given_where_protected", below=10)


# ---- what is said once ----------------------------------------------------------------------------------------------


def test_one_prevalence_is_no_range(guarded: Evidence) -> None:
    (site,) = externals(guarded)
    other = dataclasses.replace(site, name="other", events=round(0.5 * site.n))
    assert caution.finding(guarded).rest == "Prevalence here is 24%."
    both = dataclasses.replace(guarded, datasets=(site, other))
    assert caution.finding(both).rest == "Prevalence here is 24% to 50%."


def test_chapters_that_say_more_are_named_and_not_their_pages(guarded: Evidence) -> None:
    """Two chapters may begin on one page: "also page 4, 5, 5"."""
    html = compose.document(Gallery(guarded, {}, {}), "supplement").html
    (table,) = re.findall(r'<section[^>]*id="chapter-probast".*?</section>', html, re.DOTALL)
    assert "also page" not in plain(table)
    every = re.findall(r"; also (.*?)\.</th>", re.sub(r"</?a[^>]*>", "", plain(table)), re.DOTALL)
    assert every
    for named in every:
        places = re.split(", | and ", named)
        assert all(re.fullmatch(r"S\d+|core \d+", place) for place in places), places
        assert len(places) == len(set(places))
