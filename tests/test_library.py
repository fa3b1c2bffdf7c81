"""The library's face: frames in, frames, plots and PDFs out; the same bytes as a build of the same release."""

from __future__ import annotations

import datetime
import inspect
import itertools
import re
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pyarrow
import pytest
from IPython.lib import pretty
from matplotlib.axes import Axes
from matplotlib.transforms import Bbox

import dossier
from dossier.api import CURVES, Record, Validation
from dossier.command_line.cli import dossier as command
from dossier.core.errors import DataError, ReleaseError
from dossier.core.facts import Fact, Method
from dossier.core.register import REGISTER, fill, measures
from dossier.core.types import Absent, Estimate, Withheld
from dossier.reading.arguments import KINDS
from dossier.record import results
from dossier.record.results import Results, read
from dossier.report.chapters import verdict
from dossier.typeset.numbers import plain
from tests.conftest import Book
from tests.estimated import estimated, present, refused

fill("metrics")
ROOT = Path(__file__).parents[1]
N = 160
SETTINGS: dict[str, Any] = {
    **dict.fromkeys(("threshold", "primary_threshold"), 0.3),
    **dict.fromkeys(("auroc_width", "brier_width"), 0.1),
    **dict.fromkeys(("oe_ratio_width", "calibration_slope_width", "standardized_net_benefit_width"), 0.2),
    **dict.fromkeys(("relevance", "complexity"), "constant"),
    "tau": 0.7,
    "priority": 0.6,
    "gamma": 0.5,
    "bootstrap": 20,
    "permutations": 19,
    "calibration": "eci",
    "group": "all",
    "fpr": (0.0, 0.5),
}
COLUMNS = {"outcome", "risk", "rival", "weights", "cluster", "strata", "truth"}


def rows() -> pandas.DataFrame:
    rng = np.random.default_rng(5)
    linear = rng.normal(-0.5, 1.2, N)
    return pandas.DataFrame(
        {
            "outcome": (rng.random(N) < 1 / (1 + np.exp(-linear))).astype(int),
            "risk": 1 / (1 + np.exp(-linear * 1.1)),
            "rival": 1 / (1 + np.exp(-linear * 0.5)),
            "hospital": rng.choice(["Bari", "Turin"], N),
            "sex": rng.choice(["f", "m"], N),
        }
    )


FRAME = rows()
OF_COLUMNS = sorted(
    name
    for name, metric in ((name, REGISTER.metrics[name]) for name in measures() if name in REGISTER.metrics)
    if "outcome" in metric.needs and not set(metric.needs) - COLUMNS - SETTINGS.keys() - {"level", "seed"}
)


def taken(name: str, of: Any) -> Estimate | Absent:
    """A measure of columns that `of` makes of a Series."""
    metric = REGISTER.metrics[name]
    known = inspect.signature(metric.function).parameters
    columns = {text: of(FRAME[text]) for text in ("outcome", "risk", "rival") if text in known}
    settings = {text: value for text, value in SETTINGS.items() if text in known}
    found: Estimate | Absent = getattr(dossier.metrics, name)(**columns, **settings)
    return found


def shuffled(column: pandas.Series[Any]) -> pandas.Series[Any]:
    """The same values in the same order, under another index."""
    return pandas.Series(column.to_numpy(), index=np.random.default_rng(1).permutation(N))


@pytest.mark.parametrize("name", OF_COLUMNS)
def test_a_measure_is_the_same_of_lists_series_and_arrow(name: str) -> None:
    expected = taken(name, lambda column: column.to_numpy(dtype=float))
    for of in (list, shuffled, lambda column: pyarrow.array(column), lambda column: pyarrow.chunked_array([column])):
        assert taken(name, of) == expected


def test_most_measures_can_be_called_with_plain_columns() -> None:
    assert len(OF_COLUMNS) > 40


GAP = (
    "has 1 value that is missing or not finite, the first in row 1. Leave these rows out of every column, or impute "
    "them."
)
CODE = "Write 1 where it happened and 0 where it did not."


@pytest.mark.parametrize(
    ("outcome", "risk", "said"),
    [
        ([0, 1], [0.1], "The columns have different lengths: outcome 2, risk 1. Give each of them one value a row."),
        ([0, 2], [0.1, 0.2], f"outcome is 2 in row 1, and may be 0 or 1. {CODE}"),
        ([0, 1], [0.1, 1.2], "risk is 1.2 in row 1, and may be from 0 to 1. Write 20% as 0.2."),
        ([0, 1], [0.1, float("nan")], f"risk {GAP}"),
        ([0, None], [0.1, 0.2], f"outcome {GAP}"),
        (["no", "yes"], [0.1, 0.2], f"outcome holds text, and needs numbers. {CODE}"),
        ([], [], "outcome is empty. Give a value for each row."),
        (None, [0.1, 0.2], "outcome has 0 dimensions, and needs one value a row. Give one column."),
        ([0, 1], None, "risk has 0 dimensions, and needs one value a row. Give one column."),
        ([[0, 1]], [0.1, 0.2], "outcome has 2 dimensions, and needs one value a row. Give one column."),
    ],
)
def test_what_no_measure_can_be_taken_of_is_told_by_name(outcome: Any, risk: Any, said: str) -> None:
    with pytest.raises(ValueError, match=r"^.*$") as caught:
        dossier.metrics.auroc(outcome, risk)
    assert str(caught.value) == said


def test_a_measure_tells_of_an_argument_that_it_has_not() -> None:
    with pytest.raises(ValueError, match=r"^bogus is no argument of youden_j\. There are outcome, risk, threshold"):
        dossier.metrics.youden_j(FRAME.outcome, FRAME.risk, 0.5, bogus=1)  # type: ignore[call-arg]


def test_a_threshold_is_above_0_and_below_1() -> None:
    with pytest.raises(ValueError, match=r"threshold is 1, and may be above 0 and below 1"):
        dossier.metrics.accuracy(FRAME.outcome, FRAME.risk, 1)


FEW = Fact("fewer_persons", below=5)


@pytest.mark.parametrize(
    ("found", "printed", "short"),
    [
        (
            Estimate(0.8123, 0.79, 0.83, 0.95, 9, Method("wald")),
            "0.81 (0.79 to 0.83)",
            "value=0.8123, low=0.79, high=0.83, n=9",
        ),
        (Estimate(0.8123, None, None, None, 9, Method("wald")), "0.81", "value=0.8123, low=None, high=None, n=9"),
        (
            Absent(Fact("no_event", rows=9)),
            "Not estimated: none of the 9 rows has the outcome.",
            "reason=Fact('no_event', rows=9)",
        ),
        (Withheld(FEW, 5), "Withheld: fewer than 5 persons.", "reason=Fact('fewer_persons', below=5)"),
    ],
)
def test_what_is_found_prints_as_a_page_says_it(found: Estimate | Absent, printed: str, short: str) -> None:
    assert (str(found), pretty.pretty(found)) == (printed, printed)
    assert repr(found) == f"{type(found).__name__}({short})"


def test_the_face_is_what_it_shows() -> None:
    assert dir(dossier) == ["Validation", "__version__", "load", "metrics", "read_results", "validate"]
    assert set(dir(dossier.metrics)) == set(measures())
    assert dossier.__version__.count(".") == 2
    with pytest.raises(AttributeError, match="no_such"):
        _ = dossier.metrics.no_such  # type: ignore[attr-defined]


# ---- a frame --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def found() -> Validation:
    return dossier.validate(
        FRAME,
        outcome="outcome",
        risk="risk",
        site="hospital",
        thresholds=[0.3],
        subgroups=["sex"],
        rival="rival",
        model="Ours",
        resampling={"bootstrap": 20, "permutations": 19},
        acceptance=[{"measure": "auroc", "dataset": "each external", "at_least": 0.5}],
    )


def test_a_frame_gives_the_bytes_of_the_build_of_its_release(
    found: Validation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found.write_release(tmp_path / "release")
    found.save(tmp_path / "saved")
    monkeypatch.chdir(tmp_path)
    command.main(["build", "release", "-o", "built", "--quiet"], standalone_mode=False)
    built = {path.relative_to(tmp_path / "built"): path.read_bytes() for path in (tmp_path / "built").rglob("*.*")}
    saved = {path.relative_to(tmp_path / "saved"): path.read_bytes() for path in (tmp_path / "saved").rglob("*.*")}
    assert built == saved
    assert dossier.load("release").validate().results == found.results
    recorded = dossier.read_results("built")
    assert isinstance(recorded, Record)
    assert recorded.results == found.results
    assert recorded.pdf("committee") == built[Path("dossier-committee.pdf")]
    (fault,) = refused(lambda: recorded.pdf("committee", local_site="nowhere")).faults
    assert fault.where == "argument local_site"
    command.main(["print", "built", "-o", "screen", "--edition", "html", "--quiet"], standalone_mode=False)
    assert recorded.html() == (tmp_path / "screen" / "dossier.html").read_bytes()


@pytest.mark.parametrize(("name", "file"), [("nothing", "nothing"), ("", "results.json")])
def test_what_holds_no_results_is_a_fault_of_reading(tmp_path: Path, name: str, file: str) -> None:
    (fault,) = refused(dossier.read_results, tmp_path / name).faults
    assert (fault.what, fault.where) == (f"There is no file {file}.", str(tmp_path / file))
    assert fault.fix == "Name the results.json that dossier wrote, unchanged."


def test_a_frame_has_a_row_for_each_estimate(found: Validation) -> None:
    first = ["measure", "site", "role", "model", "subset_column", "subset_level", "threshold"]
    last = ["value", "low", "high", "se", "n", "events", "method", "status", "reason"]
    for frame in (found.to_frame(wide=True), found.to_frame()):
        assert len(frame) == len(found.results.estimates)
        assert frame.columns.is_unique
        assert list(frame.columns[: len(first)]) == first
        assert list(frame.columns[-len(last) :]) == last
        assert frame.model.notna().all()
    assert list(frame.columns[len(first) : -len(last)]) == ["at", "dataset", "level"]
    plain = frame.query("measure == 'auroc' and subset_column.isna() and model == 'Ours' and at == ''")
    assert list(plain.role) == ["external", "external", "pooled"]
    rows = FRAME[FRAME.hospital == "Bari"]
    of_site = estimated(dossier.metrics.auroc(rows.outcome, rows.risk))
    bari = plain[plain.site.str.contains("Bari")].iloc[0]
    assert (bari.value, bari.low, bari.high) == (of_site.value, of_site.low, of_site.high)
    groups = frame[frame.subset_column == "sex"]
    assert set(groups.subset_level) == {"f", "m"}
    assert set(frame.status) <= {"estimated", "absent", "withheld"}


def test_curves_are_tidy_and_drawn(found: Validation) -> None:
    for name, curve in CURVES.items():
        points = found.curves(name)
        assert set(points.columns) > {"site", "role", "subset_column"}
        known = [row for row in found.results.curves if row.curve == curve and row.columns]
        assert len(points) == sum(len(next(iter(row.columns.values()))) for row in known)
        assert found.plot(name).__class__.__module__.startswith("seaborn")


@pytest.mark.filterwarnings("ignore:The copy keyword is deprecated")
def test_a_measure_is_drawn_with_its_interval_at_each_site_of_each_model(found: Validation) -> None:
    rows = found.to_frame().query("measure == 'auroc' and status == 'estimated' and subset_column.isna() and at == ''")
    (axes,) = found.plot("auroc").plot()._figure.axes
    ends = sorted(tuple(np.sort(segment[:, 0])) for line in axes.collections for segment in _segments(line))
    assert ends == sorted(zip(rows.low, rows.high, strict=True))
    assert len(set(rows.site)) == len(axes.get_yticklabels())
    with pytest.raises(ReleaseError, match="auroc"):
        found.plot("aurocs")


@pytest.mark.filterwarnings("ignore:The copy keyword is deprecated")
def test_a_curve_of_the_supplement_is_drawn_in_its_words(found: Validation) -> None:
    points = found.curves("cumulative_risks").query("subset_column.isna()")
    figure = found.plot("cumulative_risks").plot()._figure
    assert len(figure.axes) == len(points.drop_duplicates(["site", "model"]))
    assert figure.axes[-1].get_xlabel() == "Predicted risk"
    assert {text.get_text() for legend in figure.legends for text in legend.get_texts()} == {
        "with the outcome",
        "without it",
    }


@pytest.mark.filterwarnings("ignore:The copy keyword is deprecated")
def test_a_measure_is_drawn_by_groups(found: Validation) -> None:
    rows = found.to_frame().query(
        "measure == 'auroc' and status == 'estimated' and subset_column == 'sex' and at == ''"
    )
    figure = found.plot("auroc", by="sex").plot()._figure
    (axes,) = figure.axes
    ends = sorted(tuple(np.sort(segment[:, 0])) for line in axes.collections for segment in _segments(line))
    assert ends == sorted(zip(rows.low, rows.high, strict=True))
    assert {text.get_text() for legend in figure.legends for text in legend.get_texts()} == {"f", "m"}


@pytest.mark.filterwarnings("ignore:The copy keyword is deprecated")
@pytest.mark.parametrize(
    ("name", "told_apart", "columns"),
    [
        ("over_time", ["site", "measure", "threshold"], ["value"]),
        ("confidence_by_rater", ["site", "rater"], ["share"]),
        ("complexity_distribution", ["site"], ["share"]),
    ],
)
def test_periods_and_readers_have_a_panel_each(
    books: dict[str, Book], name: str, told_apart: list[str], columns: list[str]
) -> None:
    record = Record(read(results.of(books["knee"].evidence).text()))
    points = record.curves(name)
    figure = record.plot(name).plot()._figure
    assert len(figure.axes) == len(points.drop_duplicates(told_apart))
    drawn = [line.get_ydata() for axes in figure.axes for line in axes.lines if len(line.get_ydata()) > 1]
    outlines = [patch.get_xy()[:, 1] for axes in figure.axes for patch in axes.patches]
    for _, own in points.groupby(told_apart, dropna=False):
        (column,) = columns
        known = own[column].dropna().to_numpy()
        assert any(set(known) <= set(np.asarray(line, float)) for line in [*drawn, *outlines])


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda v: v.save(None), "folder is None, not the path of a file or a folder."),
        (lambda v: v.save("out", page="a5"), 'page is "a5", not one of a4, letter.'),
        (lambda v: v.html(local_site=7), "local_site is 7, not the name of a hospital."),
        (lambda v: v.write_release(3), "folder is 3"),
        (lambda v: v.table([]), "name is a list"),
        (lambda v: v.figure({}), "name is a table"),
        (lambda v: v.curves(["roc"]), "name is a list"),
        (lambda v: v.plot("auroc", by=["sex"]), "by is a list, not one of sex"),
        (lambda v: v.to_frame([]), "of is a list, not one of estimates, claims."),
        (lambda v: v.table("key_results").save(None), "path is None"),
        (lambda v: v.figure("calibration_by_site").save("figure.png", dpi="fine"), 'dpi is "fine"'),
        (lambda _: dossier.load(None), "release is None"),  # type: ignore[arg-type]
        (lambda _: dossier.read_results(b"out"), "path is "),  # type: ignore[arg-type]
    ],
)
def test_what_is_of_another_kind_is_told_in_the_words_of_the_argument(
    found: Validation, call: Callable[[Validation], object], says: str
) -> None:
    caught = refused(call, found)
    assert str(caught).startswith(says)
    assert "where: argument" in str(caught)


def _segments(line: Any) -> Any:
    return line.get_segments() if hasattr(line, "get_segments") else []


def test_each_model_is_a_line_of_its_own(found: Validation) -> None:
    points = found.curves("decision").query("subset_column.isna()")
    lines = points.groupby(["site", "model"], sort=False)
    assert points.drop_duplicates(["site", "model"]).model.tolist() == ["Ours", "Ours", *[points.model.iloc[-1]] * 2]
    assert points.model.iloc[-1] != "Ours"
    assert all(line.threshold.is_monotonic_increasing for _, line in lines)
    frame = found.to_frame().query("measure == 'auroc'")
    assert frame.model.iloc[0] == "Ours"
    assert frame.status.iloc[0] == "estimated"
    assert (
        not found.to_frame()
        .status.eq("estimated")
        .to_numpy()[len(found.to_frame().query("status == 'estimated'")) :]
        .any()
    )


@pytest.mark.parametrize(
    "cut",
    [
        {"bins": [0, 0.3, 0.6, 1]},
        {"bins": [0, 0.3, 0.6, 1], "labels": ["low", "medium", "high"]},
        {"bins": [0, 0.3, 0.6, 1], "labels": ["low", "medium", "high"], "ordered": False},
        {"bins": [-1, 0, 0.3, 0.6, 1], "labels": ["none", "tenth", "ninth", "eighth"]},
    ],
    ids=["intervals", "words", "without order", "one that nobody has"],
)
def test_groups_of_categories_stand_in_their_order(cut: dict[str, Any]) -> None:
    rows = pandas.DataFrame({"y": np.tile([0, 1, 1, 0, 0], 60), "p": np.linspace(0.01, 0.99, 300)})
    rows["band"] = pandas.cut(rows.p, **cut)
    quick = {"bootstrap": 2, "permutations": 1}
    frame = dossier.validate(rows, outcome="y", risk="p", subgroups=["band"], resampling=quick).to_frame()
    shown = list(dict.fromkeys(frame.query("measure == 'auroc'").subset_level.dropna()))
    assert shown == [str(band) for band in rows.band.cat.categories if (rows.band == band).any()]


@pytest.mark.parametrize("name", ["results", "evidence", "study"])
def test_what_holds_too_much_says_how_many(found: Validation, name: str) -> None:
    shown = repr(getattr(found, name))
    assert len(shown) < 250
    assert "datasets: " in shown


def test_it_shows_its_key_results(found: Validation) -> None:
    assert "Ours not stated: external validation" in repr(found)
    assert "AUROC" in repr(found)
    page = found._repr_html_()
    assert page.count("<table") == 2
    assert "Gain at" in page
    # The sentence, the questions and the cells of page 1.
    assert plain(verdict.finding(found.evidence).lead) in unescape(page)
    assert found.table("claims").to_html() in page


def test_flags_are_known_before_anything_is_drawn(found: Validation) -> None:
    faults = found.check()
    assert list(faults.columns) == ["kind", "name", "where", "says", "reply"]
    assert set(faults.kind) == {"flag"}
    assert set(faults.name) == {flag.flag for flag in found.results.flags}


def test_a_criterion_that_can_never_be_estimated_is_a_fault_beside_the_flags() -> None:
    never = [{"measure": "membership_auroc", "dataset": "data", "at_most": 0.5}]
    reported = dossier.validate(FRAME, outcome="outcome", risk="risk", acceptance=never).check()
    faults = reported[reported.kind == "fault"]
    assert len(faults) == 1
    assert faults["where"].iloc[0] == "argument acceptance, table 1"
    assert faults.reply.iloc[0]


def test_a_previous_release_is_compared_with_by_its_path(found: Validation, tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "results.json").write_bytes(found.results.text())
    same: dict[str, Any] = {"outcome": "outcome", "risk": "risk", "model": found.results.release.model}
    old = str(tmp_path / "old" / "results.json")
    ways: list[dict[str, Any]] = [{"previous": tmp_path / "old"}, {"release": {"previous": old}}]
    for given in ways:
        later = dossier.validate(FRAME, **same, **given)
        folder = later.write_release(tmp_path / f"release-{next(iter(given))}")
        assert dossier.load(folder).study.previous == present(later.study.previous)
    with pytest.raises(ReleaseError, match="There is no file") as refused:
        dossier.validate(FRAME, **same, previous=tmp_path / "none.json")
    assert refused.value.faults[0].where == "argument previous"


def test_a_terminal_says_why_nothing_is_pooled() -> None:
    half = len(FRAME) // 2
    two = {"North": FRAME.iloc[:half], "South": FRAME.iloc[half:]}
    of_two = repr(dossier.validate(two, outcome="outcome", risk="risk"))
    assert "\nNot pooled: pooling needs three sites, and 2 can enter it" in of_two
    assert "Not pooled" not in repr(dossier.validate(FRAME, outcome="outcome", risk="risk"))


def test_a_frame_that_there_is_not_is_told_with_those_that_there_are() -> None:
    (told,) = said_of({"North": FRAME, "South": FRAME}, dataset={"Nrth": {"country": "Italy"}})
    assert told[1:] == ('the frame is "Nrth", not one of North, South.', 'Did you mean "North"?')


def test_both_doors_refuse_a_criterion_that_can_never_be_estimated(tmp_path: Path) -> None:
    never = [{"measure": "oe_ratio", "dataset": "pooled", "at_least": 0.8, "at_most": 1.25}]
    v = dossier.validate(FRAME, outcome="outcome", risk="risk", acceptance=never)
    for leave in (lambda: v.save(tmp_path / "out"), v.to_frame, lambda: v.table("criteria"), lambda: v.verdict):
        (fault,) = refused(leave).faults
        assert (fault.code, fault.where) == ("never_estimated", "argument acceptance, table 1")
    assert not (tmp_path / "out").exists()
    loaded = dossier.load(v.write_release(tmp_path / "release"))
    (fault,) = refused(lambda: loaded.validate().save(tmp_path / "out")).faults
    assert (fault.code, fault.where) == ("never_estimated", "release.toml, [[acceptance]] 1")


@pytest.mark.parametrize("method", ["plot", "curves", "pdf"])
@pytest.mark.parametrize("near", [True, False])
def test_a_name_that_is_not_there_is_told_with_those_that_are(found: Validation, method: str, near: bool) -> None:
    known = "committee" if method == "pdf" else "calibration"
    name = f"{known[:-2]}n" if near else "7%"
    (fault,) = refused(getattr(found, method), name).faults
    assert fault.where == f"argument {'edition' if method == 'pdf' else 'name'}"
    assert f'"{name}"' in fault.what
    assert known in fault.what
    assert fault.fix == f'Did you mean "{known}"?' if near else known in fault.fix


LONG = {
    "short": "H{}",
    "words": "University Hospital of the Holy Cross {} in Marlborough" + " North" * 8,
    "word": "x" * 90 + "{}",
}


# Seaborn asks pandas 3 for what pandas 4 will not have.
@pytest.mark.filterwarnings("ignore:The copy keyword is deprecated")
@pytest.mark.parametrize("kind", LONG)
@pytest.mark.parametrize("hospitals", [1, 3, 12])
def test_the_texts_of_a_plot_lie_within_it_and_on_nothing_else(hospitals: int, kind: str) -> None:
    rows = FRAME.assign(hospital=[LONG[kind].format(chr(65 + at)) for at in np.arange(N) % hospitals])
    found = dossier.validate(
        rows, outcome="outcome", risk="risk", site="hospital", thresholds=[0.3], rival={"other " * 20: "rival"}
    )
    for name in CURVES:
        figure = found.plot(name).plot()._figure
        figure.draw_without_rendering()
        points = found.curves(name).query("subset_column.isna()")
        assert len(figure.axes) == len(points.drop_duplicates(["site", "model"]))
        texts = [text for axes in figure.axes for text in _texts(axes)]
        width, height = figure.bbox.size
        assert not figure.legends
        assert all(0 <= text.x0 <= text.x1 <= width and 0 <= text.y0 <= text.y1 <= height for text in texts)
        panels = [axes.get_window_extent().shrunk(0.98, 0.98) for axes in figure.axes]
        assert not any(text.overlaps(panel) for text in texts for panel in panels)
        assert not any(text.overlaps(other) for text, other in itertools.combinations(texts, 2))
    figure = found.plot("auroc").plot()._figure
    figure.draw_without_rendering()
    (panel,) = figure.axes
    texts = [text.get_window_extent() for text in panel.get_yticklabels()]
    assert not any(text.overlaps(other) for text, other in itertools.combinations(texts, 2))
    assert all(0 <= text.x0 <= text.x1 <= panel.get_window_extent().x0 for text in texts)


def _texts(axes: Axes) -> list[Bbox]:
    """Where the texts of a panel stand that are seen."""
    found = [axes.title, axes.xaxis.label, axes.yaxis.label]
    for axis in (axes.xaxis, axes.yaxis):
        low, high = sorted(axis.get_view_interval())
        found += [tick.label1 for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]
    return [text.get_window_extent() for text in found if text.get_visible() and text.get_text()]


# Seaborn asks pandas 3 for what pandas 4 will not have.
@pytest.mark.filterwarnings("ignore:The copy keyword is deprecated")
def test_a_plot_can_be_faceted_themed_added_to_and_saved(found: Validation, tmp_path: Path) -> None:
    import seaborn.objects as so

    plot = found.plot("calibration").facet("site").add(so.Dot(), x="risk", y="observed").theme({"font.size": 8})
    plot.save(tmp_path / "plot.png")
    assert (tmp_path / "plot.png").read_bytes()[1:4] == b"PNG"


def test_of_many_sites_a_terminal_shows_twenty_lines() -> None:
    many = FRAME.assign(hospital=np.arange(N) % 30)
    wide = dossier.validate(
        many, outcome="outcome", risk="risk", site="hospital", resampling={"bootstrap": 2, "permutations": 1}
    )
    assert len(repr(wide).splitlines()) <= 20
    assert "more rows: to_frame() has them all" in repr(wide)


def test_faults_of_arguments_and_rows_are_told_at_once() -> None:
    with pytest.raises(ReleaseError, match=r"thresholds"):
        dossier.validate(FRAME, outcome="outcome", risk="risk", thresholds=[1.5])
    with pytest.raises(DataError, match="riks"):
        dossier.validate(FRAME, outcome="outcome", risk="riks")
    with pytest.raises(ReleaseError, match="frame is a list"):
        dossier.validate([1, 2], outcome="outcome", risk="risk")


def said_of(frame: Any = FRAME, **arguments: Any) -> list[tuple[str, str, str]]:
    caught = refused(dossier.validate, frame, **{"outcome": "outcome", "risk": "risk"} | arguments)
    return [(fault.where, fault.what, fault.fix) for fault in caught.faults]


BY_NAME = "Give each argument once, by its name."
NO_ARGUMENT = "{} is no argument of dossier.validate, and no table of release.toml."


@pytest.mark.parametrize(
    ("arguments", "what", "fix"),
    [
        ({"threshold": [0.2]}, NO_ARGUMENT.format("threshold"), "Did you mean thresholds?"),
        ({"disclosure": 10}, "disclosure is 10, not a table.", 'Give a table, as disclosure={"minimum_cell": …}.'),
        (
            {"thresholds": 0.2},
            "thresholds is 0.2, not a list of numbers.",
            "Give a list of numbers, as thresholds=[0.2].",
        ),
        (
            {"subgroups": "sex"},
            'subgroups is "sex", not a list of names.',
            'Give a list of names, as subgroups=["sex"].',
        ),
        (
            {"outcome": FRAME["outcome"]},
            "outcome is a Series, not the name of a column.",
            'Give the name of a column, as outcome="died".',
        ),
        (
            {"acceptance": {"measure": "auroc"}},
            "acceptance is a table, not a list of tables.",
            'Give a list of tables, as acceptance=[{"measure": …}].',
        ),
        ({"level": 95}, "level is 95, not at most 0.9999.", "Give a number at most 0.9999."),
        (
            {"date": "day"},
            'date is "day", not a date.',
            'Give a date, as date="2026-10-01"; or dataset={"date": "day"}, where it is a column.',
        ),
        *(
            ({wrong: right, right: None}, f"{wrong} is no argument of dossier.validate.", f"Did you mean {right}?")
            for wrong, right in (("rsik", "risk"), ("risks", "risk"), ("outcom", "outcome"))
        ),
        ({"periods": "month"}, NO_ARGUMENT.format("periods"), 'Did you mean dataset={"periods": …}?'),
        ({"rival_name": "old"}, NO_ARGUMENT.format("rival_name"), 'Did you mean prediction={"rival_name": …}?'),
    ],
)
def test_a_wrong_argument_is_named_with_its_mend(arguments: dict[str, Any], what: str, fix: str) -> None:
    assert said_of(**arguments) == [(f"argument {next(iter(arguments))}", what, fix)]


@pytest.mark.parametrize(
    ("call", "what", "fix"),
    [
        (lambda v: v.plot("auroc", bogus=1), "bogus is no argument of plot.", "There are name, by."),
        (lambda v: v.plot("auroc", bye="sex"), "bye is no argument of plot.", "Did you mean by?"),
        (lambda v: v.check(bogus=1), "bogus is no argument of check.", "It takes none: leave it out."),
        (lambda v: v.table("groups").to_frame(1), "to_frame takes no argument without its name.", BY_NAME),
        (lambda v: v.plot("auroc", "sex", 3), "plot takes name, by without a name, and each once.", BY_NAME),
        (lambda v: v.plot("auroc", name="auroc"), "plot takes name, by without a name, and each once.", BY_NAME),
    ],
)
def test_every_door_tells_of_an_argument_that_it_has_not(
    found: Validation, call: Callable[[Any], object], what: str, fix: str
) -> None:
    with pytest.raises(ReleaseError) as caught:
        call(found)
    assert [(fault.what, fault.fix) for fault in caught.value.faults] == [(what, fix)]


def test_all_wrong_arguments_are_named_at_once_with_the_faults_of_the_rows() -> None:
    wrong = {"name": "North", "foo": 1, "disclosure": 10, "thresholds": 0.2, "seed": -1}
    places = [where for where, _, _ in said_of(FRAME.assign(risk=FRAME.risk * 9), **wrong)]
    assert places[:4] == ["argument thresholds", "argument name", "argument foo", "argument disclosure"]
    assert places[4] == "argument seed"
    assert places[5].startswith("frame, ")


def test_every_argument_has_a_kind() -> None:
    named = [name for name in inspect.signature(dossier.validate).parameters if name != "tables"]
    assert list(KINDS) == named


def dated(key: str, given: Any) -> dict[str, Any]:
    """The arguments that give a date under a key of release.toml."""
    signature = {"name": "A", "role": "B", "meaning": "C", "date": given}
    history = {"number": "1", "date": given, "change": "D"}
    criterion = {"measure": "auroc", "dataset": "data", "at_least": 0.5, "declared_on": given}
    severity = {"weights": [[0, 1], [1, 0]], "source": "E", "declared_on": given}
    return {
        "date": {"date": given},
        "dates": {"dataset": {"dates": (given, given)}},
        "acceptance": {"acceptance": [criterion]},
        "severity": {"severity": severity},
        "signatory": {"signatory": [signature]},
        "revision": {"revision": [history]},
    }[key]


@pytest.mark.parametrize("key", ["date", "dates", "acceptance", "severity", "signatory", "revision"])
def test_a_date_may_be_text_or_what_pandas_and_numpy_make_of_it(key: str) -> None:
    def read(given: Any) -> Any:
        return dossier.validate(FRAME, outcome="outcome", risk="risk", **dated(key, given)).study.release

    day = datetime.date(2025, 3, 1)
    forms = ["2025-03-01", pandas.Timestamp(day), pandas.Timestamp(day).to_pydatetime(), np.datetime64(day)]
    assert [read(given) == read(day) for given in forms] == [True] * 4
    for wrong in ("March", "2025-02-30", pandas.NaT, 20250301, pandas.Timestamp("2025-03-01T09:00")):
        (*_, (where, _, fix)) = said_of(**dated(key, wrong))
        assert where.startswith(f"argument {'dataset' if key == 'dates' else key}")
        assert '"2026-10-01"' in fix


@pytest.mark.parametrize("given", [np.float64(0.2), np.array(0.2), np.bool_(True), {0.2}])
@pytest.mark.parametrize("name", [name for name, kind in KINDS.items() if kind[1].startswith("list")])
def test_what_is_no_list_is_told(name: str, given: Any) -> None:
    assert said_of(**{name: given})[0][0] == f"argument {name}"


def test_numbers_and_arrays_of_numpy_are_written_as_numbers() -> None:
    of_numpy: dict[str, Any] = {"thresholds": np.array([0.3]), "positive": np.int64(1), "seed": np.int64(2)}
    validation = dossier.validate(FRAME, outcome="outcome", risk="risk", **of_numpy)
    assert (validation.study.release.thresholds.declared, validation.study.release.release.seed) == ((0.3,), 2)


def test_a_release_of_a_disk_is_not_written_again(found: Validation, tmp_path: Path) -> None:
    folder = found.write_release(tmp_path / "release")
    with pytest.raises(ValueError, match="where it lies already"):
        dossier.load(folder).validate().write_release(tmp_path / "again")


@pytest.mark.parametrize("page", ["README.md", "docs/library.md"])
def test_the_example_of_the_docs_runs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    example = "".join(re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL))
    (tmp_path / "fixtures").symlink_to(ROOT / "fixtures")
    cases = pandas.read_csv(ROOT / "fixtures" / "breast" / "gbsg.csv").rename(columns={"outcome": "died"})
    cases[["died", "risk"]].to_csv(tmp_path / "predictions.csv", index=False)
    monkeypatch.chdir(tmp_path)
    exec(compile(example, page, "exec"), {})
    assert (tmp_path / "out" / "dossier-regulatory.pdf").is_file()
    assert len(re.findall(r"\S+", (ROOT / "README.md").read_text(encoding="utf-8"))) <= 900


def test_an_arrow_table_is_a_frame(found: Validation, tmp_path: Path) -> None:
    table = pyarrow.Table.from_pandas(FRAME.drop(columns="rival"))
    validation = dossier.validate(table, outcome="outcome", risk="risk", resampling={"bootstrap": 2, "permutations": 1})
    assert isinstance(validation.results, Results)
    assert read(validation.results.text()) == validation.results


def test_clusters_and_their_strata_of_a_frame_are_those_of_a_measure() -> None:
    rng = np.random.default_rng(1)
    risk = rng.uniform(0.05, 0.9, 400)
    frame = pandas.DataFrame({"y": rng.uniform(size=400) < risk, "risk": risk, "ward": np.arange(400) // 10})
    frame["region"], frame["y"] = frame["ward"] // 10, frame["y"].astype(int)
    few: dict[str, Any] = {"resampling": {"bootstrap": 2, "permutations": 1}}
    evidence = dossier.validate(frame, outcome="y", risk="risk", cluster="ward", strata="region", **few).evidence
    (found,) = [row.found for row in evidence.results if (row.term, row.dataset) == ("oe_ratio", "data")]
    assert found == dossier.metrics.oe_ratio(frame["y"], frame["risk"], cluster=frame["ward"], strata=frame["region"])
    assert found != dossier.metrics.oe_ratio(frame["y"], frame["risk"], cluster=frame["ward"])
