"""What changed since the previous release: what is worse, setting, data, measures, and criteria of another state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dossier.core import between_groups, claims, facts, multiplicity, over_time, types
from dossier.report.chapters import acceptance, monitoring, provenance, sentence
from dossier.report.chapters.chapter import chapter
from dossier.typeset.flags import topic
from dossier.typeset.measures import cell
from dossier.typeset.methods import method_text
from dossier.typeset.names import ALL_POOLED, label_of, measured_label, shown
from dossier.typeset.numbers import in_text, threshold, unit, value_of
from dossier.typeset.reasons import reason_text
from dossier.typeset.tables import Cell, Reasons, Row, Table, worded
from dossier.typeset.words import counted, date, how_many, in_words, listing, sentence_case, setting, within_sentence
from dossier.words import entries

if TYPE_CHECKING:
    from dossier.core.release import StopRule


def finding(evidence: types.Evidence) -> sentence.Sentence:
    """What is worse first; then which datasets came and went, and how many criteria changed state."""
    if evidence.changes is None:
        return sentence.Sentence("No previous release is named, so that nothing is compared with one.")
    changes = _changes(evidence)
    came, went = _came_and_went(evidence)
    kept = [(old, new) for old, new in _criteria(evidence) if old is not None and new is not None]
    state = sum(_standing(old) != _standing(new) for old, new in kept)
    moved = f"{counted(state, 'criterion', 'criteria')} changed state" if state else "no criterion changed state"
    datasets = f"{in_words(len(came))} dataset{'s' if len(came) > 1 else ''} came"
    datasets = f"{datasets}, {how_many(len(went))} went," if came or went else "no dataset came or went,"
    lead = f"Since version {changes.previous.version}, {datasets} and {moved}."
    rest = [_outcome(evidence), _sites(evidence), _same(evidence), _not_shown(evidence)]
    if worse := what_is_worse(evidence):
        lead, rest = worse, [lead, *rest]
    return sentence.Sentence(lead, " ".join(part for part in rest if part))


@dataclass(frozen=True)
class Worse:
    """A measure that is worse than in the previous release at a hospital, or for a group of patients over all of them,
    after all that was looked at there.
    """

    result: types.Result
    site: types.DatasetSummary | None
    """None of a group."""
    now: types.Estimate
    difference: types.Estimate
    is_sure: bool
    """Whether it holds after Holm's correction for all that was looked at."""

    @property
    def where(self) -> str:
        """At which hospital, or for whom."""
        return f"at {self.site.site}" if self.site else f"for {group_in_words(self.result)} over all sites"


def group_in_words(result: types.Result) -> str:
    """The group that a result is of."""
    return "" if result.subset is None else f"{result.subset.level} ({within_sentence(result.subset.column)})"


def _looks(evidence: types.Evidence) -> list[claims.Claim]:
    """What was looked at here, and not what a criterion asks."""
    every = claims.about(evidence, "since_last_release")
    return [claim for claim in every if claim.scope != "overall" and claim.limit_source == "default"]


def worse_ones(evidence: types.Evidence) -> list[Worse]:
    """What is worse than in the previous release, the surest first."""
    sites, found = {site.name: site for site in types.externals(evidence)}, []
    against = {
        (claim.measure, claim.dataset, claim.subset, *sorted(claim.at.items())): claim.state == "against"
        for claim in _looks(evidence)
        if "against" in (claim.state, claim.alone)
    }
    for result in evidence.changes.results if evidence.changes is not None else ():
        is_sure = against.get((result.measure, result.dataset, result.subset, *sorted(result.at.items())))
        difference, now = result.found, _value((*evidence.results, *evidence.subgroups.results), result)
        if is_sure is None or isinstance(difference, types.Absent) or not isinstance(now, types.Estimate):
            continue
        same = difference.details.get("now")
        now = now if same is None else replace(now, value=same)
        found.append(Worse(result, sites.get(result.dataset), now, difference, is_sure))
    return sorted(
        found, key=lambda each: [each.difference.details.get(name) or 0 for name in ("p_adjusted", "p_value")]
    )


def in_return(evidence: types.Evidence, worse: Worse) -> types.Estimate | None:
    """By how much the other of sensitivity and specificity is shown to be better there: what a threshold trades."""
    of = worse.result
    if of.measure not in between_groups.AT_THRESHOLD:
        return None
    (other,) = (name for name in between_groups.AT_THRESHOLD if name != of.measure)
    for each in _changes(evidence).results:
        is_it = (each.measure, each.dataset, each.subset, each.at) == (other, of.dataset, of.subset, of.at)
        if is_it and isinstance(each.found, types.Estimate) and multiplicity.since_last_release(each.found) == "shown":
            return each.found
    return None


def stands(evidence: types.Evidence) -> dict[str, list[types.DatasetSummary]]:
    """At which hospitals it is worse in something, else better in something, where neither is shown, or the same.

    None is better that is worse in something after the correction for what was looked at there alone.
    """

    def stand(site: types.DatasetSummary) -> str:
        every = [claim for claim in _looks(evidence) if claim.dataset == site.name]
        here = {"same" if claims.is_same(claim) else claims.standing(evidence, claim) for claim in every}
        better = "open" if any(claim.alone == "against" for claim in every) else "shown"
        return next((each for each in ("against", "same", better) if each in here), "open")

    return facts.gathered((stand(site), site) for site in types.externals(evidence))


MOST_WORSE = 2
"""Measures that are worse of which a sentence gives the numbers; the table has all."""


def what_is_worse(evidence: types.Evidence) -> str:
    """What is worse than in the previous release after all that was looked at; empty where nothing is shown to be."""
    sure = [each for each in worse_ones(evidence) if each.is_sure]
    if not sure:
        return ""
    looks = next((int(each.difference.details["looks"] or 0) for each in sure if "looks" in each.difference.details), 1)
    # A measure of a place is named once, at the threshold where it is surest; all are counted.
    once: dict[object, Worse] = {}
    for each in sure:
        of = each.result
        once.setdefault((of.measure, of.dataset, of.subset, of.at.get("class")), each)
    first = sorted(sure, key=lambda each: each not in once.values())
    said = sentence.named_with_the_rest([_in_words(evidence, each) for each in first], MOST_WORSE)
    than = f"Worse than version {_changes(evidence).previous.version}"
    return f"{than}, after Holm's correction for {looks} comparisons: {said}."


def _in_words(evidence: types.Evidence, worse: Worse) -> str:
    """What a measure was, what it is, and the difference, with how that was found."""
    term, difference = evidence.terms[worse.result.term], worse.difference
    before, now = (
        value_of(each, term) for each in (replace(worse.now, value=worse.now.value - difference.value), worse.now)
    )
    how = "paired" if difference.method.has("paired_versions") else "unpaired" if difference.reason else "independent"
    by = in_text(evidence, worse.result.term, difference)
    moved = f"{before}{unit(term)} before, {now}{unit(term)} now"
    label, at = worse.result.at.get("class"), worse.result.at.get("threshold")
    what = within_sentence(term.label) + (f" of {label}" if label else "")
    if at is not None and len(evidence.release.thresholds.declared) > 1:
        what += f" at {threshold(float(at))}"
    gained, other = in_return(evidence, worse), min({*between_groups.AT_THRESHOLD} - {worse.result.measure})
    traded = "" if gained is None else f", in return {other} {in_text(evidence, worse.result.term, gained)} higher"
    return f"{what} {worse.where} {moved} (difference {by}, {how}{traded})"


def _same(evidence: types.Evidence) -> str:
    """Where every risk is that of the previous release."""
    where = [site.site for site in stands(evidence).get("same", [])]
    return f"The same risks as before: {sentence.named_with_the_rest(where, MOST_WORSE)}." if where else ""


def _not_shown(evidence: types.Evidence) -> str:
    """What looks worse but not after the correction; where nothing does, among how many."""
    looks = [result for result in _changes(evidence).results if multiplicity.since_last_release(result.found)]
    if not looks:
        return "No difference has an interval: whether it became worse is not known."
    every = worse_ones(evidence)
    others = [each for each in every if not each.is_sure]
    if not others:
        return "" if every else f"None of {counted(len(looks), 'comparison')} shows it to be worse."
    said = sentence.named_with_the_rest([_in_words(evidence, each) for each in others], 1)
    return f"Worse after the correction for the comparisons at that hospital alone, not for all: {said}."


def _outcome(evidence: types.Evidence) -> str:
    """That another outcome was predicted before; nothing where it is the same, or not known."""
    then = _changes(evidence).previous.other_outcome(evidence.release)
    if then is None:
        return ""
    now = types.Predicted.by(evidence.release)
    return f"Another outcome was predicted before: {then.words}; now it is {now.words}. Nothing is compared with it."


def _sites(evidence: types.Evidence) -> str:
    """Which datasets have their name from another site of before."""
    moved = [f"{each.name} ({before.site} before, {each.site} now)" for before, each in _of_other_sites(evidence)]
    if not moved:
        return ""
    of = "Datasets of the same name are" if len(moved) > 1 else "A dataset of the same name is"
    return f"{of} of another site and not compared: {listing(moved)}."


def _of_other_sites(evidence: types.Evidence) -> list[tuple[types.DatasetSummary, types.DatasetSummary]]:
    """The datasets of before and of now that have one name and two sites."""
    pairs = [(_changes(evidence).previous.elsewhere(dataset), dataset) for dataset in evidence.datasets]
    return [(before, now) for before, now in pairs if before is not None]


def line(evidence: types.Evidence) -> str:
    """What a committee has to know of the previous release, in one sentence; nothing where none is named."""
    if evidence.changes is None:
        return ""
    came, went = _came_and_went(evidence)
    lost = [old for old, new in _criteria(evidence) if old and new and old.met and not new.met]
    # Whichever hospitals it was asked of: one that is no longer here takes no goal away.
    both = evidence.changes.previous.criteria, evidence.criteria
    asked, asks = ({(of[0], *of[2:]) for of in map(_asks, each)} for each in both)
    dropped = len(asked - asks)
    gone = f", {counted(dropped, 'goal')} no longer set" if dropped else ""
    then = evidence.changes.previous.other_outcome(evidence.release)
    other = "" if then is None else f" The outcome was another one then: {then.words}."
    return (
        f"Since version {evidence.changes.previous.version}: {counted(len(came), 'new hospital')}, {len(went)} no "
        f"longer here, {counted(len(lost), 'goal')} met then but not now{gone}.{other}"
    )


def _changes(evidence: types.Evidence) -> types.Changes:
    """What the chapter is about; it stays away where there is nothing."""
    if evidence.changes is None:
        raise TypeError("the chapter on changes needs a previous release")
    return evidence.changes


# ---- model, thresholds, programs ------------------------------------------------------------------------------------

NOT_STATED = "not stated"


def settings(evidence: types.Evidence) -> Table:
    """Everything that stands behind the numbers and is not data, where it differs; the rest is named."""
    before = _changes(evidence).previous
    every = list(_settings(evidence, before))
    rows = [Row(label, (Cell.word(old), Cell.word(new))) for label, old, new in every if old != new]
    same = [within_sentence(label) for label, old, new in every if old == new]
    unknown = [
        f"Model file, programs and input files of before are not known: {reason_text(absent.reason)}."
        for absent in (before.manifest,)
        if isinstance(absent, types.Absent)
    ]
    return worded("changes-setting", rows, footnotes=unknown, same=listing(same))


def _settings(evidence: types.Evidence, before: types.Previous) -> Iterator[tuple[str, str, str]]:
    release, manifest = evidence.release.release, before.manifest
    yield "Version of the model", before.version, release.version
    yield "Date", date(before.date), date(release.date)
    then, now = before.predicted, types.Predicted.by(evidence.release)
    if then is not None:
        # Nothing where the previous results do not record what is predicted.
        yield "Outcome", then.outcome, now.outcome
        yield "Horizon", then.horizon or NOT_STATED, now.horizon or NOT_STATED
        columns = [listing(each.columns) or "the declared formula" for each in (then, now)]
        yield "Column of the risk", columns[0], columns[1]
    for was, here in _of_other_sites(evidence):
        yield f"Site of {here.name}", was.site, here.site
    yield "Thresholds", _thresholds(before.thresholds), _thresholds(evidence.release.thresholds.declared)
    yield "Level of the intervals", f"{before.level * 100:g}%", f"{release.level * 100:g}%"
    yield "Seed", str(before.seed), str(release.seed)
    if isinstance(manifest, types.PreviousManifest):
        hashes = (manifest.artifact_sha256, release.artifact_sha256)
        old, new = (NOT_STATED if sha256 is None else provenance.grouped(sha256) for sha256 in hashes)
        yield "Model file, SHA-256", old, new
        for name in dict.fromkeys((*evidence.versions, *manifest.versions)):
            yield name, manifest.versions.get(name, "not there"), evidence.versions.get(name, "not there")


def _thresholds(declared: Sequence[float]) -> str:
    return ", ".join(threshold(value) for value in declared) or "none declared"


# ---- data -----------------------------------------------------------------------------------------------------------


def _came_and_went(evidence: types.Evidence) -> tuple[list[types.DatasetSummary], list[types.DatasetSummary]]:
    """The datasets that only this release has, and those that only the previous one had."""
    previous = _changes(evidence).previous
    declared = {claim.name for claim in evidence.release.declared_performance}
    kept = {dataset.name for dataset in evidence.datasets if previous.of(dataset) is not None}
    came = [dataset for dataset in evidence.datasets if dataset.name not in kept]
    return came, [dataset for dataset in previous.datasets if dataset.name not in kept | declared]


def data(evidence: types.Evidence) -> Table:
    """Every dataset of now and of before, with its patients and events in both."""
    previous = _changes(evidence).previous
    rows = [_sizes(dataset, previous.of(dataset), dataset) for dataset in shown(evidence)]
    rows += [_sizes(dataset, dataset, None) for dataset in _came_and_went(evidence)[1]]
    return worded("changes-data", rows)


def _sizes(named: types.DatasetSummary, before: types.DatasetSummary | None, now: types.DatasetSummary | None) -> Row:
    sizes = [None if dataset is None else (dataset.n, dataset.events) for dataset in (before, now)]
    change = (
        "came" if before is None else "went" if now is None else "same size" if sizes[0] == sizes[1] else "other size"
    )
    counts = [None if size is None else size[key] for key in (0, 1) for size in sizes]
    cells = [Cell.plain("" if count is None else f"{count:,}") for count in counts]
    return Row(label_of(named), (*cells, Cell.plain(change)))


def files(evidence: types.Evidence) -> tuple[str, ...]:
    """Which input files came, went, or kept their name with other content; nothing where the manifest is missing."""
    manifest, own = _changes(evidence).previous.manifest, _changes(evidence).previous.file
    if isinstance(manifest, types.Absent):
        return ()
    beside = own.rpartition("/")[0] + "/manifest.json" if "/" in own else "manifest.json"
    old = {file.name: file.sha256 for file in manifest.inputs}
    new = {file.name: file.sha256 for file in evidence.inputs if file.name not in (own, beside)}
    kinds = {
        "Same name and same content": [name for name in new if old.get(name) == new[name]],
        "Same name, other content": [name for name in new if name in old and old[name] != new[name]],
        "Came": [name for name in new if name not in old],
        "Went": [name for name in old if name not in new],
    }
    return tuple(f"{kind}: {listing(sorted(names))}." for kind, names in kinds.items() if names)


# ---- measures -------------------------------------------------------------------------------------------------------


def measures(evidence: types.Evidence) -> Table:
    """Every measure that is compared, before and now, the difference with its interval, and how that was found."""
    return _compared(evidence, "changes-measures", [each for each in _changes(evidence).results if not each.subset])


def groups(evidence: types.Evidence) -> Table | None:
    """The same of each group of patients over all sites; None without groups."""
    found = [each for each in _changes(evidence).results if each.subset]
    return _compared(evidence, "changes-groups", found) if found else None


def _compared(evidence: types.Evidence, named: str, results: Sequence[types.Result]) -> Table:
    reasons, groups = Reasons(evidence), dict[str, list[types.Result]]()
    for result in results:
        # Of what is a number now, or was one before.
        if result.subset or any(isinstance(found, types.Estimate) for found in _before_and_now(evidence, result)):
            groups.setdefault(_group(evidence, result), []).append(result)
    # What became worse comes first, the surest before all.
    worst = [_group(evidence, each.result) for each in worse_ones(evidence)]
    rows: list[Row] = []
    for label in sorted(groups, key=lambda label: worst.index(label) if label in worst else len(worst)):
        rows += [Row(label, kind="group"), *(_line(evidence, member, reasons) for member in groups[label])]
    return worded(named, rows, footnotes=reasons.footnotes())


def _group(evidence: types.Evidence, result: types.Result) -> str:
    term = evidence.terms[result.term]
    is_mean = result.at.get("class") == types.MACRO
    left_out = {"against", "class"} if is_mean else {"against"}
    places = [f"{name} {setting(value)}" for name, value in result.at.items() if name not in left_out]
    places += ["the mean of the classes"] if is_mean else []
    unit = " per 100" if term.unit == "per 100" else ""
    return f"{sentence_case(term.label)}{unit}{' at ' + listing(places) if places else ''}"


def _line(evidence: types.Evidence, result: types.Result, reasons: Reasons) -> Row:
    term = evidence.terms[result.term]
    label = next((measured_label(site) for site in evidence.datasets if site.name == result.dataset), ALL_POOLED)
    every = (*_before_and_now(evidence, result), result.found)
    cells = [Cell.plain("") if found is None else cell(found, term, reasons) for found in every]
    is_total = result.dataset == types.POOLED and result.subset is None
    return Row(group_in_words(result) or label, (*cells, _how(result.found, reasons)), "total" if is_total else "row")


def _before_and_now(evidence: types.Evidence, result: types.Result) -> tuple[Found, Found]:
    """The same measure before and now; before None where it was of another site or outcome."""
    previous, is_other = _changes(evidence).previous, _is_other(evidence, result.dataset)
    now = _value(types.compared((*evidence.results, *evidence.subgroups.results), evidence.terms), result)
    if isinstance(now, types.Estimate) and isinstance(result.found, types.Estimate) and "now" in result.found.details:
        pair = (result.found.details[name] or 0.0 for name in ("before", "now"))
        before, now = (replace(now, value=value, low=None, high=None) for value in pair)
        return before, now
    return None if is_other else _value(previous.results, result), now


Found = types.Estimate | types.Absent | None
"""What was found, None where it was never taken."""


def _value(results: Sequence[types.Result], result: types.Result) -> types.Estimate | types.Absent | None:
    """The same measure of the same dataset at the same settings; None where it was never taken."""
    at = {name: value for name, value in result.at.items() if name != "against"}
    return next(
        (
            other.found
            for other in results
            if (other.measure, other.dataset, other.subset) == (result.measure, result.dataset, result.subset)
            and dict(other.at) == at
        ),
        None,
    )


def _how(found: types.Estimate | types.Absent, reasons: Reasons) -> Cell:
    if isinstance(found, types.Absent):
        return Cell.word("")
    if found.method.has("paired_versions"):
        left_out = [step for step in found.method if step.code == "not_pooled"]
        return Cell.word(" ".join(("paired", *(reasons.letter(method_text([step])) for step in left_out))))
    if found.low is not None:
        return Cell.word(f"unpaired {reasons.why(found.reason)}" if found.reason else "independent")
    return Cell.word(f"no CI {reasons.why(found.reason or facts.Fact('no_bounds'))}")


# ---- criteria -------------------------------------------------------------------------------------------------------

Pair = tuple[types.Criterion | None, types.Criterion | None]


def _criteria(evidence: types.Evidence) -> list[Pair]:
    """Each criterion of before beside the one of now about the same number; None where there is none."""
    previous, elsewhere = _changes(evidence).previous, {dataset.name for dataset, _ in _of_other_sites(evidence)}
    other = previous.other_outcome(evidence.release) is not None
    old = {(*_asks(criterion), other or criterion.dataset in elsewhere): criterion for criterion in previous.criteria}
    new = {(*_asks(criterion), False): criterion for criterion in evidence.criteria}
    return [(old.get(key), new.get(key)) for key in dict.fromkeys((*new, *old))]


def _asks(criterion: types.Criterion) -> tuple[object, ...]:
    return criterion.measure, criterion.dataset, criterion.subset, tuple(sorted(criterion.at.items())), criterion.bound


def _standing(criterion: types.Criterion | None) -> str:
    return "not declared" if criterion is None else acceptance.WORDS[criterion.state]


def criteria(evidence: types.Evidence) -> Table | None:
    """Every criterion of either release: how it stood, and how it stands; None without any."""
    rows = [_criterion(evidence, old, new) for old, new in _criteria(evidence)]
    return worded("changes-criteria", _joined(rows)) if rows else None


def _joined(rows: Sequence[Row]) -> Iterator[Row]:
    """Rows that differ in nothing but the site of their first cell, as one."""
    for same in facts.gathered(((row.label, *(each.text for each in row.cells[1:])), row) for row in rows).values():
        sites = listing(list(dict.fromkeys(row.cells[0].text for row in same)))
        yield replace(same[0], cells=(Cell.word(sites), *same[0].cells[1:]))


def _criterion(evidence: types.Evidence, old: types.Criterion | None, new: types.Criterion | None) -> Row:
    criterion = new or old
    if criterion is None:
        raise TypeError("a criterion is of now or of before")
    known = criterion.measure in evidence.terms
    label = acceptance.label(evidence, criterion) if known else sentence_case(criterion.measure.replace("_", " "))
    every = (*(evidence.datasets if new else ()), *_changes(evidence).previous.datasets)
    site = next((dataset.site for dataset in every if dataset.name == criterion.dataset), within_sentence(ALL_POOLED))
    states = [
        Cell.word(_standing(each) + (f": {acceptance.asked(evidence, each)}" if each and known else ""))
        for each in (old, new)
    ]
    is_here = criterion.dataset in (types.POOLED, *evidence.by_name) and (old, None) in _criteria(evidence)
    if is_here and known and criterion.at.get("against") is None and not _is_other(evidence, criterion.dataset):
        states[1] = Cell.word(
            f"{states[1].text}; by the numbers now {acceptance.WORDS[claims.asked_again(evidence, criterion)]}"
        )
    return Row(label, (Cell.word(site), *states))


def _is_other(evidence: types.Evidence, dataset: str) -> bool:
    """Whether nothing of before is compared with a dataset of now: it was of another site, or of another outcome."""
    elsewhere = any(now.name == dataset for _, now in _of_other_sites(evidence))
    return elsewhere or _changes(evidence).previous.other_outcome(evidence.release) is not None


# ---- what was promised ----------------------------------------------------------------------------------------------

BECAME: Mapping[str, str] = entries("pages")["became"]
CARE: Mapping[str, str] = entries("pages")["promised"]


def promised(evidence: types.Evidence) -> Table | None:
    """What the previous release answered to flags, and how it was to be watched, with what became of it; None where it
    promised nothing.
    """
    before = _changes(evidence).previous
    said = [(each.about, each.dataset, each.says, _became(evidence, each)) for each in before.promises]
    said += [("stop", None, monitoring.stop_rule(rule), _rule_now(evidence, rule)) for rule in before.stop]
    site = {each.name: each.site for each in (*before.datasets, *evidence.datasets)}
    rows = [
        Row(
            CARE[about] if dataset is None else topic(about),
            tuple(map(Cell.word, (site.get(dataset or "", ""), *text))),
        )
        for about, dataset, *text in said
    ]
    return worded("changes-promised", _joined(rows)) if rows else None


def _became(evidence: types.Evidence, promise: types.Promise) -> str:
    """What became of a promise: of an answer whether its flag is raised again, of words whether they are said again."""
    if promise.dataset is None:
        now = getattr(evidence.release.care, promise.about)
        return BECAME["again" if now == promise.says else "other" if now else "dropped"].format(says=now)
    if promise.dataset not in (types.POOLED, *evidence.by_name):
        return BECAME["not_here"]
    raised = [flag for flag in evidence.flags if (flag.flag, flag.dataset) == (promise.about, promise.dataset)]
    return BECAME["raised"].format(says=raised[0].reply or BECAME["unanswered"]) if raised else BECAME["not_raised"]


def _rule_now(evidence: types.Evidence, rule: StopRule) -> str:
    """Whether a stop rule is declared again, and where it is crossed."""
    crossed = [each.site.site for each in over_time.of_evidence(evidence) if each.rule == rule and each.crossing]
    if rule not in evidence.release.care.stop:
        return BECAME["dropped"]
    return BECAME["again"] + (BECAME["crossed"].format(sites=listing(crossed)) if crossed else "")


CHAPTER = chapter("changes", finding, lambda evidence: evidence.changes is not None)
