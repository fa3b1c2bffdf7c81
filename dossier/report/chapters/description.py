"""How many rows came in, how many are analysed, how many had the outcome."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from dossier.core.bands import FEWEST_WITH_A_VALUE, LARGE_SHIFT, MAP_ROWS, MAP_WITH_NUMBERS
from dossier.core.types import MARGINAL, MODEL, At, DatasetSummary, Estimate, Evidence, externals, find
from dossier.report.chapters import classes, sentence
from dossier.report.chapters.chapter import chapter
from dossier.typeset import measures, names, numbers, words
from dossier.typeset.labels import coded, level_of, with_unit
from dossier.typeset.numbers import DASH, TIED, number, of_spread, per_cent
from dossier.typeset.tables import DIFFERENCE, NOT_COMPUTED, Cell, Column, Reasons, Row, Table, worded

NARROW_SIDE_BY_SIDE = 9
"""Datasets side by side where a cell holds one short number."""


def finding(evidence: Evidence) -> sentence.Sentence:
    """The size of the test, what was left out, and how prevalence, or the share of a class, differs between sites."""
    sites, known = externals(evidence), classes.labels(evidence)
    of_what = (
        f"{words.in_words(len(known))} classes" if known else f"{names.all_events(sites)}{names.at_horizon(sites)}"
    )
    lead = (
        f"{words.sentence_case(words.in_words(len(sites)))} external {'site' if len(sites) == 1 else 'sites'}, "
        f"{words.counted(sum(site.n for site in sites), 'patient')}, {of_what}."
    )
    shares = sorted((site.prevalence, site.site) for site in sites if site.prevalence is not None)
    ends = [f"{per_cent(share)} ({name})" for share, name in shares]
    spread = f" Lowest prevalence: {ends[0]}; highest: {ends[-1]}." if len(ends) > 1 else ""
    if known:
        of_each = {
            label: [site.class_counts[label] / site.n for site in sites if site.n and label in site.class_counts]
            for label in known
        }
        said = [f"{label} makes up {words.span(per_cent, found)}" for label, found in of_each.items() if found]
        spread = f" {words.sentence_case(words.listing(said))}." if said else ""
    return sentence.Sentence(lead, left_out_of(evidence) + spread)


def left_out_of(evidence: Evidence) -> str:
    """How many rows of the external datasets could not be analysed."""
    sites = externals(evidence)
    lost, least = names.lost_rows(sites)
    if least:
        below = f"count below {max(site.minimum_cell for site in sites)}"
        rows = f"{words.sentence_case(least)}{words.counted(lost, 'row')} {names.not_analysed(sites)}"
        return f"{rows}; a {'smaller count' if classes.labels(evidence) else below} is withheld."
    if not lost:
        return "Every row that was read is analysed."
    return f"{words.counted(lost, 'row')} of {sum(site.n for site in sites) + lost:,} {names.not_analysed(sites)}."


FOLLOWED, COMPETING = ("quantile_25", "median", "quantile_75"), ("follow-up", "competing")


def follow_up(evidence: Evidence) -> Table | None:
    """How long the patients of each dataset were followed, and what is known of them by the horizon."""
    of_follow_up = (row for row in evidence.descriptions if row.described.of == "follow_up")
    found = {(row.dataset, row.described.statistic): row.described.value for row in of_follow_up}
    rows, reasons = [], Reasons(evidence)
    for dataset in names.shown(evidence):
        if dataset.left is None:
            continue
        times = [found.get((dataset.name, statistic)) for statistic in FOLLOWED]
        first, middle, last = ("not reached" if time is None else f"{time:,.4g}" for time in times)
        seen = Cell.absent("too few to tell") if dataset.n < FEWEST_WITH_A_VALUE else Cell(middle, f"{first} to {last}")
        competing, hidden = found.get((dataset.name, "competing")), _hidden(evidence, dataset.name, *COMPETING)
        cells = [
            Cell.count(dataset.n),
            Cell.plain(names.events_of(dataset)),
            hidden or Cell.plain("" if competing is None else f"{competing:,.0f}"),
            Cell.plain(f"{dataset.left:,}"),
            hidden or seen,
            *(
                measures.cell(find(evidence, name, dataset.name), evidence.terms[name], reasons)
                for name in ("observed_risk", "censoring_by_risk")
            ),
        ]
        rows.append(Row(names.label_of(dataset), tuple(cells)))
    outcome, competing = evidence.release.outcome, "competing" in names.heads_at_horizon(evidence.datasets)
    notes, unit, events = reasons.footnotes(), outcome.unit or "", outcome.competing_events
    return worded("follow_up", rows, (), notes, unit=unit, events=events, competing=competing) if rows else None


def at_both_weights(evidence: Evidence) -> Table | None:
    """What is measured at weights by fifths of the risk, beside marginal weights; None where nobody left."""
    rows, reasons = list[Row](), Reasons(evidence)
    for name in ("auroc", "oe_ratio", "brier"):
        of_measure = list[Row]()
        for site in (site for site in externals(evidence) if site.left):
            found = [find(evidence, name, site.name, **at) for at in tuple[At, At](({}, MARGINAL))]
            if any(isinstance(each, Estimate) for each in found):
                cells = tuple(measures.cell(each, evidence.terms[name], reasons) for each in found)
                of_measure.append(Row(names.label_of(site), cells))
        rows += [Row(evidence.terms[name].label, kind="group"), *of_measure] if of_measure else []
    level = numbers.level_of(evidence)
    return worded("at_both_weights", rows, footnotes=reasons.footnotes(), level=level) if rows else None


def policy(evidence: Evidence) -> str:
    """What is withheld so that nobody can be recognised; empty where the release declares no policy."""
    which = ["policy", "policy_by_horizon" if evidence.release.horizon else "policy_of_rows"]
    which += ["policy_of_classes"] if classes.labels(evidence) else []
    return " ".join(sentence.phrase("data", each) for each in which) if evidence.is_protected else ""


def sites(evidence: Evidence) -> Table:
    """Every dataset: when its patients came, rows in, rows out and why."""
    reasons = list(
        dict.fromkeys(reason for dataset in evidence.datasets for reason, lost in dataset.excluded.items() if lost)
    )
    dated = any(dataset.dates is not None or dataset.dates_withheld is not None for dataset in evidence.datasets)
    placed = any(_where(dataset) for dataset in evidence.datasets)
    any_splits = any(dataset.splits for dataset in evidence.datasets)
    known = classes.labels(evidence)
    beside = names.heads_at_horizon(evidence.datasets)
    heads = (
        "Rows read",
        *(words.sentence_case(words.exclusion(reason)) for reason in reasons),
        "Analysed",
        *(() if known else ("Events", *(map(words.sentence_case, beside.values()) if beside else ["Prevalence, %"]))),
    )
    columns = [Column(label) for label in heads]
    columns += [Column(label, words=True) for label, there in (("Period", dated), ("Where", placed)) if there]

    def cells(dataset: DatasetSummary) -> Iterator[Cell]:
        yield Cell.plain(names.rows_read_of(dataset))
        yield from (Cell.plain(names.count_of(dataset.excluded.get(reason, 0))) for reason in reasons)
        yield Cell.count(dataset.n)
        if not known:
            yield Cell.plain(names.events_of(dataset))
            share = "" if dataset.prevalence is None else number(dataset.prevalence, 0, percent=True)
            yield from map(Cell.plain, names.counted_at_horizon(dataset, beside) if beside else [share])
        if dated:
            yield Cell.word(words.dates(dataset.dates) if dataset.dates_withheld is None else "withheld")
        if placed:
            yield Cell.word(_where(dataset) or "not stated")

    rows = [Row(names.label_of(dataset), tuple(cells(dataset))) for dataset in names.shown(evidence)]
    return worded("sites", rows, columns, splits=any_splits, unweighted=names.unweighted(names.shown(evidence)))


def _where(dataset: DatasetSummary) -> str:
    """The country and the setting of a dataset, as far as they are declared."""
    return ", ".join(text for text in (dataset.country, dataset.setting) if text is not None)


def characteristics(evidence: Evidence, named: Collection[DatasetSummary] | None = None) -> tuple[Table, ...]:
    """Table 1: each predictor in each dataset that holds it; none where none holds any.

    Beside each site stands how it differs from the development data. Of the external datasets those `named`, or all.
    """
    holders = [
        dataset
        for dataset in names.shown(evidence)
        if dataset.features and (named is None or dataset.role != "external" or dataset in named)
    ]
    return (_characteristics(evidence, holders),) if holders else ()


def _difference(value: float | None) -> Cell:
    """A difference: one that is large stands out."""
    if value is None:
        return NOT_COMPUTED
    return Cell(number(value), kind="value" if abs(value) >= LARGE_SHIFT else "plain")


def evenly(datasets: list[DatasetSummary], most: int) -> list[list[DatasetSummary]]:
    """The datasets in as few blocks as hold at most so many, of nearly equal size."""
    count = -(-len(datasets) // most)
    size = -(-len(datasets) // count) if count else 1
    return [datasets[start : start + size] for start in range(0, len(datasets), size)]


def _characteristics(evidence: Evidence, datasets: list[DatasetSummary]) -> Table:
    known = {
        (row.dataset, row.described.variable, row.described.statistic, row.described.level): row.described.value
        for row in evidence.descriptions
    }
    features = list(dict.fromkeys(feature for dataset in datasets for feature in dataset.features))
    # From the development data, of as many patients as a mean needs.
    differences = {
        (row.dataset, row.described.variable, row.described.level): row.described.value
        for row in evidence.descriptions
        if row.described.statistic == "standardized_mean_difference"
        and (not isinstance(row.described.n, int) or row.described.n >= FEWEST_WITH_A_VALUE)
    }
    apart = [dataset.name for dataset in datasets if dataset.name in {name for name, *_ in differences}]

    def beside(cells: Iterable[Cell], feature: str, *levels: str) -> tuple[Cell, ...]:
        """The cells of a row, beside that of each site how it differs."""
        every: list[Cell] = []
        for dataset, cell in zip(datasets, cells, strict=True):
            kinds = ((dataset.name, feature, level) for level in (*levels, None))
            own = (_difference(next((differences[kind] for kind in kinds if kind in differences), None)),)
            every += [cell, *(own if dataset.name in apart else ())]
        return tuple(every)

    rows: list[Row] = []
    for feature in features:
        levels = _levels(evidence, feature)
        # Every category on a row that names its predictor: below a head of its own nothing would end the group.
        for level in levels[-1:] if len(levels) == TWO else levels:
            cells = (
                _hidden(evidence, dataset.name, feature, "share") or _share_of(known, dataset.name, feature, levels)
                if len(levels) == TWO
                else _level(evidence, known, dataset.name, feature, level)
                for dataset in datasets
            )
            rows.append(Row(f"{feature}: {level_of(evidence, feature, level)},{TIED}%", beside(cells, feature, level)))
        if not levels and coded(evidence, feature) is None:
            spreads = (
                _hidden(evidence, dataset.name, feature, "median") or _spread(known, dataset, feature)
                for dataset in datasets
            )
            rows.append(Row(with_unit(evidence, feature), beside(spreads, feature)))
    heads = (
        column
        for dataset in datasets
        for column in (
            Column(names.label_of(dataset), intervals=True),
            *([Column(DIFFERENCE)] if dataset.name in apart else []),
        )
    )
    # Predictors that hold codes which are read as numbers, whose median says nothing.
    codes = [feature for feature in features if coded(evidence, feature) is not None and not _levels(evidence, feature)]
    without = [f"Codes that are read as numbers have no median here: {words.listing(codes)}."] if codes else []
    said = f"{names.unweighted(datasets)}{names.without_predictors(evidence)}"
    return worded("characteristics", rows, heads, without, more=said, differ=bool(differences))


Known = dict[tuple[str, str, str, str | None], float]
"""What is described, by dataset, predictor, statistic and category."""


def _level(evidence: Evidence, known: Known, dataset: str, feature: str, level: str) -> Cell:
    """The share of a category; withheld where the dataset counts some together and this one may be among them."""
    share = known.get((dataset, feature, "share", level))
    return (_hidden(evidence, dataset, feature, "share") if share is None else None) or _share(share)


def _hidden(evidence: Evidence, dataset: str, feature: str, statistic: str) -> Cell | None:
    """The word for a statistic that is withheld; None where it is not."""
    for withheld in evidence.withheld:
        if (withheld.dataset, withheld.variable, withheld.statistic) == (dataset, feature, statistic):
            return Cell.absent(f"withheld{TIED}(<{withheld.found.below})")
    held = next((each for each in evidence.datasets if each.name == dataset), None)
    known = any(row.dataset == dataset for row in evidence.by_variable[feature])
    if held is not None and held.minimum_cell and feature in held.features and not known:
        # Its counts follow from others that are given.
        return Cell.absent(f"withheld{TIED}(<{held.minimum_cell})")
    return None


TWO = 2


def _levels(evidence: Evidence, feature: str) -> list[str]:
    """The categories of a predictor, or its values where it takes two at most in all datasets; none of a number."""
    rows = [row for row in evidence.by_variable[feature] if row.dataset != MODEL]
    of_shares = [row.described.level for row in rows if row.described.statistic == "share"]
    levels = list(dict.fromkeys(level for level in of_shares if level))
    numeric = {row.dataset for row in rows if row.described.statistic == "median"}
    shared = {row.dataset for row in rows if row.described.statistic == "share"}
    if numeric and (numeric - shared or len(levels) != TWO):
        return []
    return sorted(levels, key=float) if numeric else levels


def _share_of(known: Known, dataset: str, feature: str, levels: list[str]) -> Cell:
    """The share of the second of two values; none of a dataset in which only the first one occurs."""
    shares = [known.get((dataset, feature, "share", level)) for level in levels]
    return Cell.absent("not held") if all(share is None for share in shares) else _share(shares[-1] or 0.0)


def _share(value: float | None) -> Cell:
    return Cell.absent("not held") if value is None else Cell(number(value, 0, percent=True))


def _spread(known: Known, dataset: DatasetSummary, feature: str) -> Cell:
    """Median and quartiles; of a few values there are none."""
    median = known.get((dataset.name, feature, "median", None))
    if median is None:
        missing = known.get((dataset.name, feature, "missing", None), dataset.n)
        return Cell.absent("not held" if missing == dataset.n else "too few to tell")
    low, high = (known[(dataset.name, feature, name, None)] for name in ("quantile_25", "quantile_75"))
    middle, *bounds = of_spread(median, low, high)
    return Cell(middle, (DASH if low >= 0 else " to ").join(bounds))


def missingness(evidence: Evidence, beside: bool = True) -> tuple[Table, ...]:
    """The share of missing values of each predictor that has any, in each dataset; none `beside` a map that says it."""
    counts = {
        (row.dataset, row.described.variable): row.described.value
        for row in evidence.descriptions
        if row.described.statistic == "missing"
    }
    holders = [dataset for dataset in names.shown(evidence) if dataset.features]
    features = list(dict.fromkeys(feature for dataset in holders for feature in dataset.features))
    gappy = [feature for feature in features if any(counts.get((holder.name, feature)) for holder in holders)]
    if not gappy or (beside and len(holders) <= MAP_WITH_NUMBERS and len(gappy) <= MAP_ROWS):
        return ()
    blocks = evenly(holders, NARROW_SIDE_BY_SIDE)

    def cell(feature: str, dataset: DatasetSummary) -> Cell:
        if hidden := _hidden(evidence, dataset.name, feature, "missing"):
            return hidden
        if (count := counts.get((dataset.name, feature))) is None:
            return Cell.absent("not held")
        return Cell.plain("0" if not count else number(count / dataset.n if dataset.n else 0.0, 0, percent=True))

    tables = []
    for part, block in enumerate(blocks, start=1):
        rows = [Row(feature, tuple(cell(feature, dataset) for dataset in block)) for feature in gappy]
        columns, without = [Column(names.label_of(dataset)) for dataset in block], names.without_predictors(evidence)
        tables.append(worded("missing", rows, columns, part=part, without=without))
    return tuple(tables)


def is_complete(evidence: Evidence) -> bool:
    """Whether there are datasets that give predictors, and none of them misses a value."""
    return (
        any(site.features for site in evidence.datasets)
        and not any(withheld.statistic == "missing" for withheld in evidence.withheld)
        and not any(row.described.statistic == "missing" and row.described.value for row in evidence.descriptions)
    )


CHAPTER = chapter("description", finding)
