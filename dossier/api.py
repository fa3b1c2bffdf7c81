"""The library's face: a DataFrame or a release in, estimates as frames, plots and PDFs out.

    v = dossier.validate(frame, outcome="died", risk="risk", site="hospital", thresholds=[0.2])
    v.to_frame()

A frame takes the same way as a release on disk: it is written as one and read as one, so that both give the same bytes.
"""

from __future__ import annotations

import datetime
import math
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from dossier import reading
from dossier.core import claims, errors, over_time, toml_text, types, values
from dossier.core.claims import Claim
from dossier.core.command import EDITIONS, Asked, Build, Page, Quick
from dossier.core.contents import Edition
from dossier.core.faults import locations
from dossier.outputs import output, single
from dossier.reading import arguments, frames
from dossier.reading import previous as earlier
from dossier.reading.faults import not_a_choice
from dossier.record import results, results_csv
from dossier.record.results import CurveRow, Results
from dossier.report.chapters import acceptance
from dossier.report.chapters import results as chapter_of_results
from dossier.typeset import reasons, tables
from dossier.typeset.flags import flag_text

if TYPE_CHECKING:
    import pandas
    import seaborn.objects

CURVES = {"calibration": "calibration_curve", "decision": "decision_curve", "roc": "roc", "risk": "risk_distribution"}
"""The curves that have a name of one word; `curves` takes every other by the name that results.json has."""
FOUND = ("value", "low", "high", "se", "n", "events", "method", "status")
"""The last columns of a frame of estimates."""
MOST_ROWS = 16
"""Rows of a table that are shown in a terminal, which with title, head and what is left out makes at most 20 lines."""


@arguments.door
def validate(
    frame: frames.Frame | Mapping[str, frames.Frame],
    *,
    outcome: str | None = None,
    risk: str | Sequence[str] | None = None,
    time: str | None = None,
    event: str | None = None,
    at: float | None = None,
    unit: str | None = None,
    site: str | None = None,
    thresholds: Sequence[float] | Mapping[str, Any] = (),
    subgroups: Sequence[str | Mapping[str, Any]] = (),
    development: frames.Frame | None = None,
    internal: frames.Frame | None = None,
    readers: frames.Frame | Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
    predictors: Sequence[str] = (),
    rival: str | Mapping[str, str | Sequence[str]] | Sequence[Mapping[str, Any]] | None = None,
    cluster: str | None = None,
    weights: str | None = None,
    strata: str | None = None,
    positive: str | int | bool | None = None,
    censored: str | int | bool | None = None,
    competing: str | int | Sequence[str | int] = (),
    scale: str = "probability",
    classes: Sequence[str] = (),
    model: str = "model",
    version: str = "not stated",
    date: datetime.date | str | None = None,
    owner: str = "not stated",
    level: float = 0.95,
    seed: int = 1,
    previous: str | Path | None = None,
    **tables: Any,
) -> Validation:
    """Validate a model on the rows of a frame, each of them a patient of a hospital that did not make it.

    Parameters
    ----------
    frame
        The rows: a frame of pandas, whose index counts for nothing, of polars, Arrow or any other library that hands
        out Arrow's columns, or a dict of columns; of several hospitals a frame each, by the names of the hospitals.
    outcome
        The column of the outcome: 0 and 1, booleans, or text with `positive`; of several classes their names.
    risk
        The column of the risk, from 0 to 1 or as `scale` says; of several classes one column for each, in the order of
        `classes`.
    time, event, at, unit
        In place of `outcome`, of an outcome by a horizon: the column of how long each patient was followed, that of
        what happened then (0 nothing, 1 the outcome, 2 a competing event; otherwise as `censored`, `positive` and
        `competing` say), by when it counts, in the unit of `time`, and what that unit is called, as "days". Further
        horizons, or all of them without `at` and `risk`, are tables of a list: `horizon=[{"at": 2, "risk": "risk_2"}]`.
    site
        The column of the hospital; without it all rows are of one.
    thresholds
        The risks from which somebody would act, the primary one first; or a table with the keys of [thresholds].
    subgroups
        Columns whose values make subgroups, or tables with the keys of a [[subgroup]] (`column`, `levels`, `cuts`).
    development
        The rows that the model was made of, with predictors and outcome: for correspondence, robustness and Table 1.
        Its columns that the hospitals have too are the predictors, unless `predictors` names them.
    internal
        Rows of the hospital that made the model with risks that were validated there: held out, or cross-validated.
    readers
        The frame of a reader study (`reader`, `case`, `truth`, `unaided`, `aided`), or the keys of [readers], whose
        `labels`, `confidence` and `complexity` are frames.
    scale
        How the risks of the model are written: probability, percent or log_odds.
    predictors, rival, cluster, weights, strata, positive, censored, competing, classes
        As the keys of these names in release.toml; the rival is the column of another model's risk, or the columns of
        several by the names of the models, or tables with the keys of a [[rival]] (`name`, `column`, `columns`).
    model, version, date, owner, level, seed
        What is printed of the model, the level of the intervals, and the start of random draws. A date, here and in a
        table, may be text: "2026-10-01".
    previous
        The results.json of the previous release of the model, or the folder that holds it: what changed since then. It
        becomes a part of this release.
    **tables
        Any other table of release.toml under its name, such as `acceptance=[...]` or `disclosure={...}`; keys of a
        table that the arguments above fill are added to it. What names a file there may be a frame. `dataset={...}` is
        of every hospital, `dataset={"North": {...}, "development": {...}}` of one frame.

    Returns
    -------
    Validation
        Frames, plots and PDFs of what was found.

    Raises
    ------
    ReleaseError, DataError
        With every fault of the arguments and of the rows.

    Examples
    --------
    >>> import pandas, dossier
    >>> frame = pandas.DataFrame({"died": [0, 0, 1, 1] * 30, "risk": [0.1, 0.4, 0.3, 0.8] * 30})
    >>> found = dossier.validate(frame, outcome="died", risk="risk").to_frame()
    >>> aurocs = found[(found.measure == "auroc") & (found.status == "estimated")]
    >>> float(aurocs.value.iloc[0])
    0.75
    """
    given: dict[str, Any] = {name: value for name, value in locals().items() if name != "tables"}
    faults = list(arguments.faults(given, tables))
    wrong = {fault.at.name for fault in faults if isinstance(fault.at, locations.Argument)}
    # What is needed and given under a misspelled name is not here either.
    meant = {fault.get("near") for fault in faults}.intersection(name for name in given if given[name] is None)
    if (wrong | meant).intersection(arguments.NEEDED):
        raise errors.ReleaseError(faults)
    fitting = ({name: value for name, value in some.items() if name not in wrong} for some in (given, tables))
    declared, files = frames.written(_declared(*fitting))
    files |= earlier.carried(declared["release"])
    files = {"release.toml": toml_text.release(declared).encode(), **files}
    with tempfile.TemporaryDirectory() as folder:
        output.write_new(Path(folder), files)
        try:
            study = load(folder).study
        except errors.DossierError as error:
            raise type(error)(
                [*faults, *dict.fromkeys(arguments.of_frame(fault, at is not None) for fault in error.faults)]
            ) from None
        if study.ledger is not None:
            raise errors.ReleaseError.one("ledger_of_frame", locations.Argument("disclosure"))
    errors.ReleaseError.raise_for(faults)
    return Validation(study, files)


def _declared(given: Mapping[str, Any], tables: Mapping[str, Any]) -> dict[str, Any]:
    """The tables of release.toml that the arguments make, with frames for files; one that is not given is left out."""
    risk, rival = given.get("risk"), given.get("rival")
    names = {"model": "model", "version": "not stated", "owner": "not stated"}
    about = {key: given.get(key, names.get(key)) for key in (*names, "level", "seed", "date", "previous")}
    named, at = given["outcome"] if given.get("outcome") is not None else given.get("event"), given.get("at")
    # A list of horizons is of the further ones, or of all where no argument gives the first.
    first, *further = ({"at": at}, *tables.get("horizon", ())) if at is not None else (*tables.get("horizon", ()), {})
    name = f"{named} by {first['at']:g}" if isinstance(first.get("at"), Real) and "says" not in first else named
    column = "column" if given.get("time") is None else "event"
    outcome = {"name": name, column: named, **{key: given.get(key) for key in ("positive", "censored", "time", "unit")}}
    codes = given.get("competing", ())
    listed = {"classes": given.get("classes", ()), "competing": [codes] if isinstance(codes, str | Integral) else codes}
    outcome |= {key: list(some) or None for key, some in listed.items()}
    prediction: dict[str, Any] = {"column": risk} if isinstance(risk, str) else {"columns": list(risk or ())}
    prediction |= {"rival": rival} if isinstance(rival, str) else {}
    scale = {"scale": given["scale"]} if given.get("scale", "probability") != "probability" else {}
    rivals: Any = [] if rival is None or isinstance(rival, str) else rival
    if isinstance(rivals, Mapping):
        each = ((name, {"column": of} if isinstance(of, str) else {"columns": list(of)}) for name, of in rivals.items())
        rivals = [{"name": name, **columns} for name, columns in each]
    thresholds, readers = given.get("thresholds", ()), given.get("readers")
    datasets = frames.datasets(given)
    declared: dict[str, Any] = {
        "release": about,
        "outcome": outcome,
        "prediction": prediction | scale,
        "rival": list(rivals),
        "thresholds": thresholds if isinstance(thresholds, Mapping) else {"declared": list(thresholds)},
        "dataset": datasets,
        "subgroup": [frames.subgroup(datasets, subgroup) for subgroup in given.get("subgroups", ())],
    }
    if readers is not None:
        declared |= {"reader_study": {"file": readers}} if frames.is_frame(readers) else {"readers": readers}
    if at is not None:
        # The keys of the first horizon stand in the place of two tables.
        beside = {"thresholds": declared.pop("thresholds"), "rival": prediction.get("rival")}
        first, declared["prediction"] = {**first, "risk": risk, **beside}, scale
    elif first:
        declared["prediction"] = scale if risk is None else declared["prediction"]
        declared = {name: table for name, table in declared.items() if name != "thresholds" or given.get(name)}
    declared["horizon"] = [each for each in (first, *further) if each]
    for name, table in tables.items():
        if name == "dataset":
            frames.add(datasets, table)
        elif name != "horizon":
            declared[name] = {**declared.get(name, {}), **table} if isinstance(table, Mapping) else list(table)
    return declared


@dataclass(frozen=True)
class Loaded:
    """A release that was read and checked, with its rows."""

    study: types.Study

    @arguments.door
    def validate(self) -> Validation:
        """What the model is worth on these rows, as frames, plots and PDFs."""
        return Validation(self.study, {})


@arguments.door
def load(release: str | Path, allow_outside: bool = False) -> Loaded:
    """Read and check a release on disk with its tables.

    Parameters
    ----------
    release
        The release.toml, or the folder that holds it.
    allow_outside
        Whether it may name files outside of its folder.

    Returns
    -------
    Loaded
        `load(release).validate()` is what `validate` gives of a frame.

    Raises
    ------
    ReleaseError, DataError
        With every fault of the release and of its tables.
    """
    return Loaded(reading.study(release, allow_outside))


@arguments.door
def read_results(path: str | Path) -> Record:
    """Read the record that a results.json is: everything that was found, without a row of a patient.

    Parameters
    ----------
    path
        The file, or the folder that holds it.

    Returns
    -------
    Record
        Frames, plots and PDFs, as of a `Validation`.

    Raises
    ------
    ReleaseError
        Why it cannot be read.
    """
    return Record(results.opened(Path(path)))


class Record:
    """What a results.json holds, as frames, plots and pages.

    A name or an argument that is none of those that there are is a ReleaseError, which lists them.
    """

    _found: types.Evidence | None = None
    """What was found of the rows, where they were at hand."""

    def __init__(self, results: Results) -> None:
        self._results = results

    @property
    def results(self) -> Results:
        """The rows of results.json, typed."""
        return self._results

    @cached_property
    def evidence(self) -> types.Evidence:
        """The evidence that pages and figures are printed from."""
        return self.results.evidence

    @arguments.door
    def to_frame(self, of: Literal["estimates", "claims"] = "estimates", *, wide: bool = False) -> pandas.DataFrame:
        """One row an estimate: of which model, where and of whom, its value and interval, and how it was made.

        Parameters
        ----------
        of
            estimates, or claims: what they say to each question that is always asked, the gravest first.
        wide
            Of estimates, whether each further setting and each detail has a column of its own, most of which are empty
            in most rows.

        Returns
        -------
        pandas.DataFrame
            `measure`, `site`, `role` (pooled of all sites together), `model`, `subset_column`, `subset_level`,
            `threshold`; then `at`, the further settings as `name=value` joined by semicolons, `dataset` and `level`,
            or if wide `horizon`, `dataset`, a column for each other setting (`at_tau` where a detail is called tau),
            `level` and a column for each detail; and last `value`, `low`, `high`, `se`, `n`, `events`, `method`,
            `status` (estimated, absent, withheld) and `reason`. Rows of the model stand first, then those of its
            rivals, then what is absent. Of claims: `question`, `scope` (overall, hospital, group), `state` (shown,
            against, open, untested), `harm` (1 the gravest; 7 open, 8 untested, 9 shown), `site`, `subset_column`,
            `subset_level`, `measure`, `threshold`, `at`, `value`, `low`, `high`, `at_least`, `at_most`,
            `limit_source` (default, declared, maker), `looks`, `p_adjusted`, `p_of` (the measure that it is
            of), `worst`, `needs_n`, `alone`, `distance` (of risks from what happened), `period` (that the number is of)
            and `reason`.
        """
        import pandas

        if _chosen("of", of, ["estimates", "claims"]) == "claims":
            return self._claims()
        rows = self.results.in_order(self.results.estimates)
        details = sorted({name for row in rows for name in row.details}) if wide else []
        settings = self._settings(details) if wide else {"threshold": "threshold"}
        made = [
            {
                "measure": row.measure,
                **self.results.where(row),
                **{column: row.at.get(name) for name, column in settings.items()},
                "at": results_csv.settings({name: value for name, value in row.at.items() if name != "threshold"}),
                **{name: getattr(row, name) for name in ("level", *FOUND)},
                "method": row.method_text,
                "reason": None if row.reason is None else reasons.reason_text(row.reason),
                **{name: row.details.get(name) for name in details},
            }
            for row in rows
        ]
        first = [name for name in WHERE if name != "dataset"]
        at = [*settings.values()] if wide else ["threshold", "at"]
        columns = ["measure", *first, *at[:2], "dataset", *at[2:], "level", *details, *FOUND, "reason"]
        numbers = dict.fromkeys(("threshold", "value", "low", "high", "se"), "float64")
        return pandas.DataFrame(made, columns=columns).astype(numbers)

    @property
    def claims(self) -> tuple[Claim, ...]:
        """What the numbers say to each question that is always asked, the gravest first, as values."""
        return claims.of(self.evidence)

    @property
    def verdict(self) -> types.State:
        """How the criteria that count stand, the worst deciding: shown, against, open; untested where none counts."""
        return acceptance.verdict_of_all(self.evidence)

    def _claims(self) -> pandas.DataFrame:
        import pandas

        sites = {dataset.name: dataset.site for dataset in self.results.datasets}
        plain = ("question", "scope", "state", "harm")
        numbers = ("value", "low", "high")
        rest = ("limit_source", "looks", "p_adjusted", "p_of", "worst", "needs_n", "alone", "distance")
        made = [
            {
                **{name: getattr(row, name) for name in plain},
                "site": sites.get(row.about.dataset, row.about.dataset),
                "subset_column": None if row.about.subset is None else row.about.subset.column,
                "subset_level": None if row.about.subset is None else row.about.subset.level,
                "measure": row.measure,
                "threshold": row.about.at.get("threshold"),
                "at": results_csv.settings({name: at for name, at in row.about.at.items() if name != "threshold"}),
                **{name: getattr(row, name) for name in numbers},
                **dict(zip(("at_least", "at_most"), row.limit, strict=True)),
                **{name: getattr(row, name) for name in rest},
                "period": None if row.period is None else flag_text(row.period),
                "reason": None if row.reason is None else reasons.reason_text(row.reason),
            }
            for row in self.results.claims
        ]
        columns = ("threshold", *numbers, "at_least", "at_most", "p_adjusted", "needs_n", "distance")
        return pandas.DataFrame(made).astype(dict.fromkeys(columns, "float64"))

    def _settings(self, details: Sequence[str]) -> dict[str, str]:
        """Every setting but the model, with its column: of another name where a detail has the same."""
        taken = {"measure", *WHERE, *FOUND, "level", "reason", *details}
        known = sorted({name for row in self.results.estimates for name in row.at} - {"threshold", "horizon", "model"})
        return {name: f"at_{name}" if name in taken else name for name in ("threshold", "horizon", *known)}

    @arguments.door
    def curves(self, name: str) -> pandas.DataFrame:
        """The points of a curve at every site, one row a point.

        Parameters
        ----------
        name
            calibration, decision, roc or risk, or the name of a curve in results.json.

        Returns
        -------
        pandas.DataFrame
            `dataset`, `site`, `role`, `model`, `subset_column`, `subset_level`, the further settings, and the columns
            of the curve, those of the model first; `period` of over_time as pandas.Period reads it: 2025-03, 2025Q3,
            2025.
        """
        import pandas

        known = [row for row in self.results.in_order(self.results.curves) if row.columns]
        names = sorted({row.curve for row in known})
        curve = CURVES.get(_chosen("name", name, [*(each for each in CURVES if CURVES[each] in names), *names]), name)
        rows = [row for row in known if row.curve == curve]
        parts = [pandas.DataFrame({**row.at, **self.results.where(row), **_columns(row)}) for row in rows]
        points = pandas.concat(parts, ignore_index=True)
        return points[[*WHERE, *(name for name in points.columns if name not in WHERE)]]

    @arguments.door
    def plot(self, name: str, by: str | None = None) -> seaborn.objects.Plot:
        """A curve of every site, or a measure as a forest, as a plot of seaborn to which marks and scales can be added.

        Parameters
        ----------
        name
            calibration, decision, roc or risk; over_time; a curve that the supplement draws site by site, such as
            cumulative_risks or confidence_by_rater; or a measure of `to_frame`, such as auroc.
        by
            Of a measure, the column of subgroups whose groups stand in place of all patients.

        Returns
        -------
        seaborn.objects.Plot
            Of a curve one panel a site, and a model where there are several; of a measure a line a site with its
            interval, a colour a model or group and a panel a threshold or other setting. `facet`, `add`, `theme`,
            `scale` and `save` work as on any other.
        """
        from dossier.outputs import plots

        rows = self.to_frame()
        rows = rows[rows["status"] == "estimated"]
        columns = rows["subset_column"]
        if by is not None:
            _chosen("by", by, list(dict.fromkeys(columns.dropna())))
        rows = rows[columns.isna() if by is None else columns == by]
        if _chosen("name", name, [*plots.CURVES, *dict.fromkeys(rows["measure"])]) in plots.CURVES:
            points = self.curves(name)
            return plots.CURVES[name](points[points["subset_column"].isna()])
        return plots.forest(self.evidence.terms[name].label, rows[rows["measure"] == name])

    @cached_property
    def _tables(self) -> Mapping[str, tables.Table]:
        from dossier.report import compose

        return compose.tables(self.evidence)

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of the tables: key_results, then those of the pages in their order, which `table` gives."""
        return tuple(self._tables)

    @arguments.door
    def table(self, name: str) -> single.PrintedTable:
        """A table of the pages, with the very cells of the page.

        Parameters
        ----------
        name
            key_results, claims (page 1), criteria, groups, performance, thresholds, pooled ..., as `tables` lists them.

        Returns
        -------
        dossier.outputs.single.PrintedTable
            `to_frame`, `to_html`, `to_latex`, `to_docx`; shown as a table in a notebook.
        """
        return single.PrintedTable(self._tables[_chosen("name", name, self.tables)])

    @cached_property
    def figures(self) -> tuple[str, ...]:
        """The names of the figures that these results allow, which `figure` gives; all are drawn for it."""
        return tuple(single.figures(self.evidence))

    @arguments.door
    def figure(self, name: str) -> single.PrintedFigure:
        """A figure of the pages, as it is printed.

        Parameters
        ----------
        name
            external_performance, calibration_results, forest_results ..., as `figures` lists them.

        Returns
        -------
        dossier.outputs.single.PrintedFigure
            Drawn in a notebook; `save("figure.png", dpi=300)` (also .pdf, .svg, .tiff), `picture` with its words.

        Raises
        ------
        ReleaseError
            With the names that there are, or with the reason why these results allow none.
        """
        return single.figure(self.evidence, name, locations.Argument("name"))

    @arguments.door
    def pdf(self, edition: Edition = "regulatory", *, page: Page = "a4", local_site: str | None = None) -> bytes:
        """One edition as PDF.

        Parameters
        ----------
        edition
            regulatory (the core), supplement or committee; quick where the record is that of `dossier quick`, which has
            no other.
        page
            a4 or letter.
        local_site
            The site that stands first in the committee edition.

        Returns
        -------
        bytes
            The file, with the same bytes as that of `dossier build`.
        """
        asked: Asked = "committee" if isinstance(edition, str) and edition == "committee" else "regulatory"
        _, files = self._printed(Build(edition=asked, page=page, local_site=local_site))
        known = ["quick"] if "dossier-quick.pdf" in files else [name for name in EDITIONS["all"] if name != "html"]
        return files[f"dossier-{_chosen('edition', edition, known)}.pdf"]

    @arguments.door
    def html(self, *, local_site: str | None = None) -> bytes:
        """Every edition in one file for the screen, which asks for nothing from a network; the PDF is the record.

        Parameters
        ----------
        local_site
            As for `pdf`.

        Returns
        -------
        bytes
            The file, with the same bytes as that of `dossier build --edition html`; `dossier quick` has none.
        """
        _, files = self._printed(Build(edition="html", local_site=local_site))
        _chosen("edition", "html", ["html"] if "dossier.html" in files else ["quick"])
        return files["dossier.html"]

    @arguments.door
    def save(self, folder: str | Path, *, page: Page = "a4", local_site: str | None = None) -> tuple[Path, ...]:
        """Write the dossier: editions, figures, results and manifest, the same bytes as `dossier build`.

        Parameters
        ----------
        folder
            Where it goes. It is complete or untouched afterwards.
        page, local_site
            As for `pdf`.

        Returns
        -------
        tuple of pathlib.Path
            What was written, a disclosure report beside it included where small counts are protected.

        Raises
        ------
        OutputError
            Where the folder holds anything but an unaltered dossier.
        """
        from dossier.outputs import printing

        path = Path(folder)
        with output.reserved(path):
            evidence, files = self._printed(Build(page=page, local_site=local_site))
            if self._found is None:
                return output.write(path, files)
            if self._found.ledger is not None:
                output.refuse_as_ledger(Path(self._found.ledger.path), path)
            _, beside = printing.beside(path, evidence, self._found, files["results.json"], page)
            return output.write(path, files, beside=beside)

    def _printed(self, asked: Build) -> tuple[types.Evidence, dict[str, bytes]]:
        from dossier.outputs import printing

        _chosen("page", asked.page, ["a4", "letter"])
        command: Build | Quick = printing.command_for(self.evidence, asked, locations.Argument("local_site"))
        return printing.printed(self.results, command)

    def __repr__(self) -> str:
        about = self.results.release
        title = f"{about.model} {about.version}: external validation"
        table = single.PrintedTable(chapter_of_results.essentials(self.evidence)).to_frame()
        more = len(table) - MOST_ROWS
        rest = f"\n... and {more} more rows: to_frame() has them all" if more > 0 else ""
        together = types.find(self.evidence, "auroc", types.POOLED)
        if len(types.externals(self.evidence)) > 1 and isinstance(together, types.Absent):
            rest += f"\nNot pooled: {reasons.why(self.evidence, together.reason)}."
        return f"{title}\n{table.head(MOST_ROWS).to_string(index=False, line_width=None)}{rest}"

    def _repr_html_(self) -> str:
        return single.first_look(self.evidence)


class Validation(Record):
    """A model held against rows: what was found, and the release that says what was asked."""

    def __init__(self, study: types.Study, files: Mapping[str, bytes]) -> None:
        """`files` are the release's own, by name; none where it lies on a disk."""
        self.study = study
        self._files = dict(files)

    @cached_property
    def results(self) -> Results:
        """The rows of results.json, typed; what takes long is done when they are first asked for."""
        from dossier import evaluate

        try:
            self._found = evaluate.evidence(self.study)
        except errors.ReleaseError as error:
            raise errors.ReleaseError(self._reported(error.faults)) from None
        return results.read(results.of(self._found).text())

    def _reported(self, faults: Sequence[errors.Fault]) -> Sequence[errors.Fault]:
        """The faults of the release in the words of the door that was used."""
        return [arguments.of_frame(fault) for fault in faults] if self._files else faults

    @arguments.door
    def check(self) -> pandas.DataFrame:
        """Every fault and flag that a build would find, without drawing rows again.

        Returns
        -------
        pandas.DataFrame
            `kind` (fault: a build refuses it, flag: it is printed as a limitation), `name` of the flag, `where` (the
            dataset, or the place in the release), `says`, and `reply`: the answer of the release, or how to mend it.
            Printed, it has every word.
        """
        from dossier import evaluate
        from dossier.outputs.checked import Checked

        found = evaluate.preview(self.study)
        faults = [("fault", None, fault.where, fault.what, fault.fix) for fault in self._reported(found.faults)]
        rows = [*faults, *(("flag", flag.flag, flag.dataset, flag_text(flag.fact), flag.reply) for flag in found.flags)]
        return Checked(rows, columns=["kind", "name", "where", "says", "reply"])

    @arguments.door
    def write_release(self, folder: str | Path) -> Path:
        """Write release.toml and the table, of which `dossier build` gives the same bytes.

        Parameters
        ----------
        folder
            A new or empty folder.

        Returns
        -------
        pathlib.Path
            The folder.

        Raises
        ------
        ValueError
            Where the release was read from a disk: it lies there already.
        """
        if not self._files:
            raise ValueError("The release was read from a folder, where it lies already.")
        path = Path(folder)
        output.write_new(path, self._files)
        return path


# ---- a frame as a release -------------------------------------------------------------------------------------------

WHERE = ("dataset", "site", "role", "model", "subset_column", "subset_level")


def _chosen(argument: str, value: Any, choices: Sequence[str]) -> Any:
    """The value where it is one of those that there are; a ReleaseError names them."""
    if not isinstance(value, str) or value not in choices:
        raise not_a_choice(locations.Argument(argument), argument, value, choices)
    return value


def _columns(row: CurveRow) -> dict[str, Sequence[float | str | None]]:
    """The columns of a curve, of numbers also where a site has none; its calendar periods by name."""
    columns: dict[str, Sequence[float | str | None]] = {
        name: [math.nan if value is None else value for value in column] for name, column in row.columns.items()
    }
    if row.curve == over_time.OVER_TIME:
        unit = values.unit_of(row.at["periods"])
        columns["period"] = [over_time.code(int(number or 0), unit) for number in row.columns["period"]]
    return columns
