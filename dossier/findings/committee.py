"""What a hospital's committee needs to hear, in words that ask for no statistics."""

from __future__ import annotations

from dataclasses import dataclass

from dossier.findings import classes
from dossier.findings.sentence import Sentence, estimated, primary_threshold
from dossier.types import POOLED, Absent, Estimate, Evidence, externals, find, find_curve
from dossier.typeset import Cell, Column, Row, Table, counted, in_words, level_of, listing, per_cent, sentence_case

FEW = 100
"""Patients of a class below which the committee is told that little can be said."""
LITTLE = "little can be said of them."
MOST_CLASSES = 4
"""Classes of which a table of the committee holds the intervals too."""
MOST_FLAGS = 6
"""Limitations listed for the committee; the regulatory edition holds all."""


@dataclass(frozen=True)
class Thousand:
    """What happens to 1,000 patients at the primary threshold."""

    found: int
    missed: int
    false_alarms: int
    left_alone: int

    @property
    def cases(self) -> int:
        """How many of the 1,000 have the outcome."""
        return self.found + self.missed

    @property
    def others(self) -> int:
        """How many do not."""
        return self.false_alarms + self.left_alone


@dataclass(frozen=True)
class Number:
    """A number in large type, with what it means beneath."""

    value: str
    meaning: str


def thousand(evidence: Evidence) -> Thousand | None:
    """The counts at the primary threshold; None when no threshold is declared."""
    curve = find_curve(evidence, "per_thousand", POOLED)
    at = primary_threshold(evidence)
    if at is None or isinstance(curve, Absent) or "threshold" not in curve.columns:
        return None
    row = curve.columns["threshold"].index(at)
    cell = {name: int(column[row] or 0) for name, column in curve.columns.items() if name != "threshold"}
    return Thousand(cell["true_positive"], cell["false_negative"], cell["false_positive"], cell["true_negative"])


def finding(evidence: Evidence) -> Sentence:
    """What the model does to 1,000 patients like those who were tested."""
    if classes.labels(evidence):
        return classes.committee(evidence)
    counts = thousand(evidence)
    if counts is None:
        return Sentence("No threshold is set: what the model does to patients is not shown.")
    at = primary_threshold(evidence) or 0.0
    return Sentence(
        f"In every 1,000 patients it finds {counts.found} of {counts.cases} with the outcome and misses "
        f"{counts.missed}.",
        f"The squares are patients like all those who were tested; flagged means a risk of {per_cent(at)} or more.",
    )


def what_it_is(evidence: Evidence) -> str:
    """The model in one or two sentences."""
    release = evidence.release
    horizon = f" {release.outcome.horizon}" if release.outcome.horizon else ""
    known = classes.labels(evidence)
    if known:
        return (
            f"A model that gives each patient a risk, from 0 to 100%, of each class of this outcome: "
            f"{release.outcome.name}{horizon}. The classes are {listing(known)}; the model names the one with the "
            "largest risk."
        )
    text = f"A model that gives each patient a risk, from 0 to 100%, of this outcome: {release.outcome.name}{horizon}."
    at = primary_threshold(evidence)
    return text if at is None else f"{text} A patient with a risk of {per_cent(at)} or more is flagged."


def tested(evidence: Evidence) -> str:
    """Where and on how many it was tested."""
    sites = externals(evidence)
    names = listing([site.site for site in sites]) if len(sites) <= MOST_FLAGS else f"{in_words(len(sites))} places"
    patients = sum(site.n for site in sites)
    return f"Tested on {counted(patients, 'patient')} of {names}. If your hospital is not among them: not tested here."


def numbers(evidence: Evidence) -> tuple[Number, ...]:
    """Ranking, what to expect elsewhere, and the risks against what happened."""
    asked = [_ranking(evidence), _elsewhere(evidence)]
    asked += [] if classes.labels(evidence) else [_risks(evidence)]
    return tuple(one for one in asked if one is not None)


def _overall(evidence: Evidence, measure: str) -> Estimate | None:
    """The pooled value, or that of the only site."""
    found = find(evidence, measure, POOLED)
    if isinstance(found, Estimate):
        return found
    sites = estimated(evidence, measure)
    return sites[0][1] if len(sites) == 1 else None


def _ranking(evidence: Evidence) -> Number | None:
    found = _overall(evidence, "auroc")
    if found is None or found.low is None or found.high is None:
        return None
    bounds = f"{100 * found.low:.0f} to {100 * found.high:.0f}"
    if classes.labels(evidence):
        return Number(
            f"{100 * found.value:.0f} of 100",
            f"times, of two patients, one of a class and one of another, the first has the higher risk of it, on "
            f"average over the classes ({bounds}; by chance 50)",
        )
    return Number(
        f"{100 * found.value:.0f} of 100",
        f"times, of two patients, one with the outcome and one without, the first has the higher risk "
        f"({bounds}; by chance 50)",
    )


def _elsewhere(evidence: Evidence) -> Number | None:
    found = find(evidence, "auroc", POOLED)
    if isinstance(found, Absent):
        return None
    low, high = found.details.get("prediction_low"), found.details.get("prediction_high")
    if low is None or high is None:
        return None
    return Number(
        f"{100 * low:.0f} to {100 * high:.0f}",
        f"of 100 is what a new hospital may expect of the same count ({level_of(evidence)} sure)",
    )


def _risks(evidence: Evidence) -> Number | None:
    found = _overall(evidence, "oe_ratio")
    if found is None or found.low is None or found.high is None:
        return None
    return Number(
        f"{100 * found.value:.0f} for 100",
        f"had the outcome where the risks add up to 100 ({100 * found.low:.0f} to {100 * found.high:.0f})",
    )


def risks_are_right(evidence: Evidence) -> tuple[str, ...]:
    """Whether the risks came true, place by place, in sentences."""
    if classes.labels(evidence):
        return classes.risks_are_right(evidence)
    sites = estimated(evidence, "oe_ratio")
    if not sites:
        return ("It could not be checked whether the risks came true.",)
    low = [f"{site.site} ({100 * found.value:.0f})" for site, found in sites if found.low is not None and found.low > 1]
    high = [
        f"{site.site} ({100 * found.value:.0f})" for site, found in sites if found.high is not None and found.high < 1
    ]
    neither = len(sites) - len(low) - len(high)
    texts = []
    if low:
        texts.append(f"Too low in {_few(low)}: more than 100 had the outcome for each 100 expected.")
    if high:
        texts.append(f"Too high in {_few(high)}: fewer than 100 for each 100 expected.")
    if neither:
        where = "every place" if neither == len(sites) else f"{in_words(neither)} of {in_words(len(sites))} places"
        texts.append(f"In {where} the difference may be chance.")
    return tuple(texts)


def _few(names: list[str]) -> str:
    return listing(names) if len(names) <= MOST_FLAGS else f"{in_words(len(names))} places"


def by_site(evidence: Evidence) -> Table:
    """Each place with its patients, and the model's work there in whole people."""
    if classes.labels(evidence):
        return _by_site_and_class(evidence)
    at = primary_threshold(evidence)
    heads = [Column("Patients"), Column("With the outcome"), Column("Ranked right, of 100", intervals=True)]
    heads.append(Column("Came, for 100 expected", intervals=True))
    heads += [Column("Found, of 100", intervals=True)] if at is not None else []
    rows = []
    for site in externals(evidence):
        cells = [Cell(f"{site.n:,}", kind="plain"), Cell(f"{site.events or 0:,}", kind="plain")]
        cells += [_hundred(find(evidence, measure, site.name)) for measure in ("auroc", "oe_ratio")]
        cells += [_hundred(find(evidence, "sensitivity", site.name, threshold=at))] if at is not None else []
        rows.append(Row(site.site, tuple(cells)))
    return Table(
        name="table-by-site",
        title="Place by place.",
        note=f"After each number: the range in which the true one may lie ({level_of(evidence)} interval).",
        head="Place",
        columns=tuple(heads),
        rows=tuple(rows),
    )


def _by_site_and_class(evidence: Evidence) -> Table:
    """Each place with its patients, and how well each class is ranked there; with many classes without intervals."""
    known = classes.labels(evidence)
    narrow = len(known) > MOST_CLASSES
    rows = []
    for site in externals(evidence):
        found = [_hundred(find(evidence, "auroc", site.name, **{"class": label})) for label in known]
        rows.append(Row(site.site, (Cell(f"{site.n:,}", kind="plain"), *found)))
    return Table(
        name="table-by-site",
        title="Ranked right, of 100, place by place.",
        note=""
        if narrow
        else f"After each number: the range in which the true one may lie ({level_of(evidence)} interval).",
        head="Place",
        columns=(Column("Patients"), *(Column(label, intervals=not narrow) for label in known)),
        rows=tuple(rows),
    )


def _hundred(found: Estimate | Absent) -> Cell:
    """A share or ratio as people out of a hundred."""
    if isinstance(found, Absent):
        return Cell("too few", kind="absent")
    if found.low is None or found.high is None:
        return Cell(f"{100 * found.value:.0f}")
    return Cell(f"{100 * found.value:.0f}", f"{100 * found.low:.0f}\N{EN DASH}{100 * found.high:.0f}")


def uncertain(evidence: Evidence) -> str:
    """For which places the numbers say little."""
    if classes.labels(evidence):
        rare = [
            f"{count} {'was' if count == 1 else 'were'} {label} in {site.site}"
            for site in externals(evidence)
            for label, count in site.class_counts.items()
            if count < FEW
        ]
        if not rare:
            return "Every place had at least 100 patients of each class."
        if len(rare) > MOST_FLAGS:
            return f"For {in_words(len(rare))} pairs of class and place there were fewer than 100 patients: {LITTLE}"
        return f"{sentence_case(listing(rare))}, fewer than 100 patients: {LITTLE}"
    few = [flag.dataset for flag in evidence.flags if flag.flag == "few_events"]
    names = [site.site for site in externals(evidence) if site.name in few]
    if not names:
        return "Every place had at least 100 patients with and 100 without the outcome."
    who = sentence_case(_few(names))
    return f"{who} had fewer than 100 patients with, or without, the outcome: little can be said of them."


PLAIN = {
    "risks_off": "the risks did not come true: the table above says by how much.",
    "shared_rows": "some patients had also been used to make the model: the test there is too kind.",
    "rows_excluded": "some patients could not be counted, because what came of them or their risk is not known.",
    "missing_predictor": "something that the model asks for was never recorded.",
    "duplicate_rows": "somebody may have been counted twice.",
    "one_class": "all patients had the outcome, or none had: nothing can be said of the ranking.",
    "constant_risk": "all patients got the same risk.",
}
"""What a limitation means, for who knows no statistics; the most telling come first."""


def could_go_wrong(evidence: Evidence) -> tuple[str, ...]:
    """The limitations that the run found, each kind once with its places."""
    known = {site.name: site.site for site in externals(evidence)}
    texts = []
    for kind, meaning in PLAIN.items():
        where = dict.fromkeys(
            known[flag.dataset] for flag in evidence.flags if flag.flag == kind and flag.dataset in known
        )
        if where:
            texts.append(f"{_few(list(where))}: {meaning}")
    if len(known) < 3:
        texts.append("So few places were tested that nothing can be said of a new one.")
    return tuple(sentence_case(text) for text in texts)
