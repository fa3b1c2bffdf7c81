"""What changed since the previous release: setting, data, each core measure, and the criteria that changed state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dossier.core.facts import Fact
from dossier.core.types import (
    POOLED,
    Absent,
    Changes,
    Criterion,
    DatasetSummary,
    Estimate,
    Evidence,
    Predicted,
    Previous,
    PreviousManifest,
    Result,
    Term,
)
from dossier.report.chapters import acceptance
from dossier.report.chapters.chapter import Chapter
from dossier.report.chapters.provenance import grouped
from dossier.report.chapters.sentence import Sentence
from dossier.typeset.measures import cell
from dossier.typeset.names import ALL_POOLED, label_of, measured_label, shown
from dossier.typeset.numbers import in_text, number, threshold
from dossier.typeset.reasons import reason_text
from dossier.typeset.tables import Cell, Column, Reasons, Row, Table
from dossier.typeset.words import counted, date, how_many, in_words, listing, sentence_case, setting, within_sentence


def finding(evidence: Evidence) -> Sentence:
    """Which datasets came and went, how many criteria changed state, and by how much the first measure differs."""
    if evidence.changes is None:
        return Sentence("No previous release is named, so that nothing is compared with one.")
    changes = _changes(evidence)
    came, went = _came_and_went(evidence)
    state = len([one for one in _kept(evidence) if _standing(one[0]) != _standing(one[1])])
    moved = f"{counted(state, 'criterion', 'criteria')} changed state" if state else "no criterion changed state"
    datasets = f"{in_words(len(came))} dataset{'s' if len(came) > 1 else ''} came"
    datasets = f"{datasets}, {how_many(len(went))} went," if came or went else "no dataset came or went,"
    lead = f"Since version {changes.previous.version}, {datasets} and {moved}."
    return Sentence(lead, " ".join(part for part in (_outcome(evidence), _sites(evidence), _range(evidence)) if part))


def _outcome(evidence: Evidence) -> str:
    """That another outcome was predicted before; nothing where it is the same, or not known."""
    then = _changes(evidence).previous.other_outcome(evidence.release)
    if then is None:
        return ""
    now = Predicted.by(evidence.release)
    return f"Another outcome was predicted before: {then.words}; now it is {now.words}. Nothing is compared with it."


def _sites(evidence: Evidence) -> str:
    """Which datasets have their name from another site of before."""
    moved = [f"{one.name} ({before.site} before, {one.site} now)" for before, one in _of_other_sites(evidence)]
    if not moved:
        return ""
    of = "Datasets of the same name are" if len(moved) > 1 else "A dataset of the same name is"
    return f"{of} of another site and not compared: {listing(moved)}."


def _of_other_sites(evidence: Evidence) -> list[tuple[DatasetSummary, DatasetSummary]]:
    """The datasets of before and of now that have one name and two sites."""
    pairs = [(_changes(evidence).previous.elsewhere(one), one) for one in evidence.datasets]
    return [(before, now) for before, now in pairs if before is not None]


def _range(evidence: Evidence) -> str:
    """The difference of the AUROC: at the only site, or from the lowest to the highest."""
    sites = {one.name: one.site for one in evidence.datasets if one.role == "external"}
    found = [
        (sites[one.dataset], one.found)
        for one in _changes(evidence).results
        if one.measure == "auroc" and set(one.at) == {"against"} and one.dataset in sites
        if isinstance(one.found, Estimate)
    ]
    if not found:
        return ""
    found.sort(key=lambda pair: pair[1].value)
    (lowest, low), (highest, high) = found[0], found[-1]
    if len(found) == 1:
        return f"The AUROC differs by {in_text(evidence, 'auroc', low)} at {lowest}."
    digits = evidence.terms["auroc"].digits
    return (
        f"The difference of the AUROC runs from {number(low.value, digits)} ({lowest}) to "
        f"{number(high.value, digits)} ({highest})."
    )


def line(evidence: Evidence) -> str:
    """What a committee has to know of the previous release, in one sentence; nothing where none is named."""
    if evidence.changes is None:
        return ""
    came, went = _came_and_went(evidence)
    lost = [one for one in _kept(evidence) if _standing(one[0]) == "met" and _standing(one[1]) != "met"]
    then = evidence.changes.previous.other_outcome(evidence.release)
    other = "" if then is None else f" The outcome was another one then: {then.words}."
    return (
        f"Since version {evidence.changes.previous.version}: {counted(len(came), 'new hospital')}, {len(went)} no "
        f"longer here, {counted(len(lost), 'goal')} met then but not now.{other}"
    )


def _changes(evidence: Evidence) -> Changes:
    """What the chapter is about; it stays away where there is nothing."""
    if evidence.changes is None:
        raise TypeError("the chapter on changes needs a previous release")
    return evidence.changes


# ---- model, thresholds, programs ------------------------------------------------------------------------------------

NOT_STATED = "not stated"


def settings(evidence: Evidence) -> Table:
    """Everything that stands behind the numbers and is not data, where it differs; the rest is named."""
    before = _changes(evidence).previous
    every = list(_settings(evidence, before))
    rows = [Row(label, (_word(old), _word(new))) for label, old, new in every if old != new]
    same = [within_sentence(label) for label, old, new in every if old == new]
    unknown = [reason_text(before.manifest.reason)] if isinstance(before.manifest, Absent) else []
    return Table(
        name="table-changes-setting",
        title="Model, thresholds and programs.",
        note=f"Unchanged: {listing(same)}." if same else "",
        head="What",
        columns=(Column("Before", words=True), Column("Now", words=True)),
        rows=tuple(rows),
        footnotes=tuple(
            f"Model file, programs and input files of before are not known: {reason}." for reason in unknown
        ),
    )


def _settings(evidence: Evidence, before: Previous) -> Iterator[tuple[str, str, str]]:
    release, manifest = evidence.release.release, before.manifest
    yield "Version of the model", before.version, release.version
    yield "Date", date(before.date), date(release.date)
    yield from _predictions(before.predicted, Predicted.by(evidence.release))
    for old, new in _of_other_sites(evidence):
        yield f"Site of {new.name}", old.site, new.site
    yield "Thresholds", _thresholds(before.thresholds), _thresholds(evidence.release.thresholds.declared)
    yield "Level of the intervals", f"{before.level * 100:g}%", f"{release.level * 100:g}%"
    yield "Seed", str(before.seed), str(release.seed)
    if isinstance(manifest, PreviousManifest):
        yield "Model file, SHA-256", _hash(manifest.artifact_sha256), _hash(release.artifact_sha256)
        for name in dict.fromkeys((*evidence.versions, *manifest.versions)):
            yield name, manifest.versions.get(name, "not there"), evidence.versions.get(name, "not there")


def _predictions(before: Predicted | None, now: Predicted) -> Iterator[tuple[str, str, str]]:
    """What is predicted, then and now; nothing where the previous results do not record it."""
    if before is not None:
        yield "Outcome", before.outcome, now.outcome
        yield "Horizon", before.horizon or NOT_STATED, now.horizon or NOT_STATED
        yield "Column of the risk", listing(before.columns), listing(now.columns)


def _thresholds(declared: Sequence[float]) -> str:
    return ", ".join(threshold(one) for one in declared) or "none declared"


def _hash(sha256: str | None) -> str:
    return NOT_STATED if sha256 is None else grouped(sha256)


def _word(text: str) -> Cell:
    return Cell(text, kind="word")


# ---- data -----------------------------------------------------------------------------------------------------------


def _came_and_went(evidence: Evidence) -> tuple[list[DatasetSummary], list[DatasetSummary]]:
    """The datasets that only this release has, and those that only the previous one had."""
    previous = _changes(evidence).previous
    declared = {one.name for one in evidence.release.declared_performance}
    kept = {one.name for one in evidence.datasets if previous.of(one) is not None}
    came = [one for one in evidence.datasets if one.name not in kept]
    return came, [one for one in previous.datasets if one.name not in kept | declared]


def data(evidence: Evidence) -> Table:
    """Every dataset of now and of before, with its patients and events in both."""
    previous = _changes(evidence).previous
    rows = [_sizes(one, previous.of(one), one) for one in shown(evidence)]
    rows += [_sizes(one, one, None) for one in _came_and_went(evidence)[1]]
    return Table(
        name="table-changes-data",
        title="Datasets.",
        note="Patients who are analysed, and those in whom the outcome happened.",
        head="Site",
        columns=(
            *(Column("Patients before"), Column("Patients now"), Column("Events before"), Column("Events now")),
            Column("Change"),
        ),
        rows=tuple(rows),
    )


def _sizes(named: DatasetSummary, before: DatasetSummary | None, now: DatasetSummary | None) -> Row:
    sizes = [None if one is None else (one.n, one.events) for one in (before, now)]
    change = (
        "came" if before is None else "went" if now is None else "same size" if sizes[0] == sizes[1] else "other size"
    )
    counts = [None if one is None else one[place] for place in (0, 1) for one in sizes]
    cells = [Cell("" if count is None else f"{count:,}", kind="plain") for count in counts]
    return Row(label_of(named), (*cells, Cell(change, kind="plain")))


def files(evidence: Evidence) -> tuple[str, ...]:
    """Which input files came, went, or kept their name with other content; nothing where the manifest is missing."""
    manifest, own = _changes(evidence).previous.manifest, _changes(evidence).previous.file
    if isinstance(manifest, Absent):
        return ()
    beside = own.rpartition("/")[0] + "/manifest.json" if "/" in own else "manifest.json"
    old = {one.name: one.sha256 for one in manifest.inputs}
    new = {one.name: one.sha256 for one in evidence.inputs if one.name not in (own, beside)}
    kinds = {
        "Same name and same content": [name for name in new if old.get(name) == new[name]],
        "Same name, other content": [name for name in new if name in old and old[name] != new[name]],
        "Came": [name for name in new if name not in old],
        "Went": [name for name in old if name not in new],
    }
    return tuple(f"{kind}: {listing(sorted(names))}." for kind, names in kinds.items() if names)


# ---- measures -------------------------------------------------------------------------------------------------------


def measures(evidence: Evidence) -> Table:
    """Every core measure before and now, the difference with its interval, and how that was found."""
    changes, reasons = _changes(evidence), Reasons(evidence)
    groups: dict[str, list[Result]] = {}
    for one in (one for one in changes.results if _is_reported(evidence, one)):
        groups.setdefault(_group(evidence, one), []).append(one)
    rows: list[Row] = []
    for label, members in groups.items():
        rows.append(Row(label, kind="group"))
        rows += [_line(evidence, one, reasons) for one in members]
    return Table(
        name="table-changes-measures",
        title="Core measures before and now.",
        note=(
            "Now minus before, with its interval. Paired: both versions gave a risk to the same patients, the previous "
            "one as the other model; before is what the previous release printed. "
            "Independent: no patient is in both, and the two intervals are combined by square-and-add (Zou and "
            "Donner). Where neither holds, the difference has no interval and the letter says why."
        ),
        head="Site",
        columns=(
            *(Column("Before", intervals=True), Column("Now", intervals=True), Column("Difference", intervals=True)),
            Column("How", words=True),
        ),
        rows=tuple(rows),
        footnotes=reasons.footnotes(),
    )


def _is_reported(evidence: Evidence, one: Result) -> bool:
    """Whether the measure is a number now, or was one before."""
    return any(isinstance(found, Estimate) for found in (_before(evidence, one), _value(evidence.results, one)))


def _group(evidence: Evidence, one: Result) -> str:
    term = evidence.terms[one.term]
    places = [f"{name} {setting(value)}" for name, value in one.at.items() if name != "against"]
    unit = " per 100" if term.unit == "per 100" else ""
    return f"{sentence_case(term.label)}{unit}{' at ' + listing(places) if places else ''}"


def _line(evidence: Evidence, one: Result, reasons: Reasons) -> Row:
    term = evidence.terms[one.term]
    before, now = _before(evidence, one), _value(evidence.results, one)
    label = next((measured_label(site) for site in evidence.datasets if site.name == one.dataset), ALL_POOLED)
    cells = (*(_cell(found, term, reasons) for found in (before, now, one.found)), _how(one.found, reasons))
    return Row(label, cells, "total" if one.dataset == POOLED else "row")


def _before(evidence: Evidence, one: Result) -> Estimate | Absent | None:
    """The same measure before; None where it was never taken, and where it was of another site or outcome."""
    previous = _changes(evidence).previous
    elsewhere = any(now.name == one.dataset for _, now in _of_other_sites(evidence))
    if elsewhere or previous.other_outcome(evidence.release) is not None:
        return None
    return _value(previous.results, one)


def _value(results: Sequence[Result], one: Result) -> Estimate | Absent | None:
    """The same measure of the same dataset at the same settings; None where it was never taken."""
    at = {name: value for name, value in one.at.items() if name != "against"}
    return next(
        (
            other.found
            for other in results
            if (other.measure, other.dataset, other.subset) == (one.measure, one.dataset, None) and dict(other.at) == at
        ),
        None,
    )


def _cell(found: Estimate | Absent | None, term: Term, reasons: Reasons) -> Cell:
    if found is None:
        return Cell("", kind="plain")
    return cell(found, term, reasons, wordy=isinstance(found, Estimate) and (found.low or 0.0) < 0)


def _how(found: Estimate | Absent, reasons: Reasons) -> Cell:
    if isinstance(found, Absent):
        return _word("")
    if found.method.has("paired_versions"):
        return _word("paired")
    if found.low is not None:
        return _word("independent")
    return _word(f"no interval {reasons.why(found.reason or Fact('no_bounds'))}")


# ---- criteria -------------------------------------------------------------------------------------------------------

Pair = tuple[Criterion | None, Criterion | None]


def _criteria(evidence: Evidence) -> list[Pair]:
    """Each criterion of before beside the one of now about the same number; None where there is none."""
    previous, elsewhere = _changes(evidence).previous, {one.name for one, _ in _of_other_sites(evidence)}
    other = previous.other_outcome(evidence.release) is not None
    old = {(*_asks(one), other or one.dataset in elsewhere): one for one in previous.criteria}
    new = {(*_asks(one), False): one for one in evidence.criteria}
    return [(old.get(key), new.get(key)) for key in dict.fromkeys((*new, *old))]


def _kept(evidence: Evidence) -> list[Pair]:
    """The criteria that stand in both releases."""
    return [(old, new) for old, new in _criteria(evidence) if old is not None and new is not None]


def _asks(one: Criterion) -> tuple[object, ...]:
    return one.measure, one.dataset, one.subset, tuple(sorted(one.at.items())), one.bound


def _standing(one: Criterion | None) -> str:
    if one is None:
        return "not declared"
    return "not estimable" if one.met is None else "met" if one.met else "not met"


def criteria(evidence: Evidence) -> Table | None:
    """The criteria whose state or demand changed; None where none did."""
    changed = [
        (old, new)
        for old, new in _criteria(evidence)
        if _standing(old) != _standing(new) or (old and new and _bounds(old) != _bounds(new))
    ]
    if not changed:
        return None
    return Table(
        name="table-changes-criteria",
        title="Criteria that changed.",
        note="State, and what was asked.",
        head="Criterion",
        columns=(Column("Site", words=True), Column("Before", words=True), Column("Now", words=True)),
        rows=tuple(_criterion(evidence, old, new) for old, new in changed),
    )


def _bounds(one: Criterion) -> tuple[float | None, float | None]:
    return one.at_least, one.at_most


def _criterion(evidence: Evidence, old: Criterion | None, new: Criterion | None) -> Row:
    one = new or old
    if one is None:
        raise TypeError("a criterion is of now or of before")
    known = one.measure in evidence.terms
    label = acceptance.label(evidence, one) if known else sentence_case(one.measure.replace("_", " "))
    every = (*(evidence.datasets if new else ()), *_changes(evidence).previous.datasets)
    site = next((dataset.site for dataset in every if dataset.name == one.dataset), within_sentence(ALL_POOLED))
    states = [
        _word(_standing(each) + (f": {acceptance.asked(evidence, each)}" if each and known else ""))
        for each in (old, new)
    ]
    return Row(label, (_word(site), *states))


CHAPTER = Chapter(
    "changes",
    "Changes since the previous release",
    finding,
    has=lambda evidence: evidence.changes is not None,
    fill="Name the results.json of the previous release as previous in [release].",
)
