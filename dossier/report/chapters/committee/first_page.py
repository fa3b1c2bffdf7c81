"""The first page: the answer, what the model is for, and where it worked and where not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dossier.core import bands, binding, checklist, claims, types
from dossier.core.facts import Fact, gathered
from dossier.core.multiplicity import discrimination
from dossier.report.chapters import acceptance, classes, sentence, verdict
from dossier.report.chapters.committee import better, declared, goals_met, percentages, places, plain
from dossier.report.chapters.committee.missed import worse_for
from dossier.report.chapters.committee.percentages import as_a_whole, at_risk, lines, predicted, told_of, wrong_at
from dossier.typeset import names, widths
from dossier.typeset.numbers import TIED, people
from dossier.typeset.numbers import plain as unspaced
from dossier.typeset.tables import LEAST_LABEL, Cell, Spanner
from dossier.typeset.words import counted, dates, how_many, in_words, listing, sentence_case
from dossier.words import entries

# ---- the answer -----------------------------------------------------------------------------------------------------


def answer(evidence: types.Evidence) -> str:
    """Whether it works, at our hospital or at how many of those that were tested, and what was broken or changed."""
    ours = places.local(evidence)
    changed = f"{declared.worse_than_before(evidence)} {declared.changed_since_laid_down(evidence)}".strip()
    forbidden = [declared.ruled_out_here(evidence), declared.broken_here(evidence), _too_kind(evidence)]
    # Where it is shown not to tell sick from well.
    tell = places.tells_apart(evidence).replace("tells", "tell")
    start = {"absent": f"It does not {tell}", "hardly": f"It hardly can {tell}", "reversed": REVERSED}
    sentences = []
    for kind, found in sentence.not_separating(evidence, places.in_question(evidence)).items():
        said = [f"{where} ({people(each.value)} times of 100, range {plain.between(each)})" for where, each in found]
        sentences.append(f"{start[kind]} in {plain.first_named(said)}.")
    forbidden.append(" ".join(sentences))
    if ours is None:
        # Of one hospital alone its own answer says where doing the same for all is better.
        wrong = [] if places.alone(evidence) else [*better.better_if_the_same_for_all(evidence)]
        off = [each for each in percentages.off_as_a_whole(evidence) if not each.off.is_reversed]
        # Where they are shown to be wrong, whatever its goals ask.
        also = percentages.off_by_an_open_amount(evidence)
        more = f"; off {percentages.placed(evidence, also)} too, nobody can tell yet whether by much" if also else ""
        wrong += [worse_for(evidence)]
        wrong += [f"Its percentages are wrong {percentages.named(evidence, off)}{more}."] if off else []
        parts = [*forbidden, better.another_is_better(evidence), _goals_everywhere(evidence), *wrong, changed]
        parts.append(_elsewhere(evidence))
    else:
        wrong = [*better.better_if_the_same_for_all(evidence), worse_for(evidence), _percentages_here(evidence, ours)]
        parts = [*forbidden, _found_at(evidence, ours), _goals_here(evidence, ours), *wrong]
        parts += [better.another_is_better(evidence), changed]
    return " ".join(text for text in parts if text)


def _too_kind(evidence: types.Evidence) -> str:
    """Where patients of the test seem to be some that the model was made of."""
    raised = {flag.dataset for flag in evidence.flags if flag.flag in ("fitted_on_these_rows", "shared_rows")}
    sites = [site.site for site in places.in_question(evidence) if site.name in raised]
    where = "here" if evidence.local_site else f"in {plain.few_named(sites)}"
    return f"The test is too kind {where}: the model seems to have seen patients of it before." if sites else ""


REVERSED = "The higher its percentage, the rarer the outcome: its order is reversed"
"""What a model does that ranks those with the outcome below the others."""


def approving(evidence: types.Evidence) -> str:
    """What the box of the decision says that approves: against whom, where the maker has ruled the model out."""
    # What binds at some hospitals alone forbids no other one.
    everywhere = {site.name for site in places.in_question(evidence)}
    for against, sites in (("statement", binding.ruled_out(evidence)), ("rule", binding.stopped(evidence))):
        if everywhere <= {site.name for site in sites}:
            return f"Approve against the maker's {against}"
    where = {evidence.local_site} if evidence.local_site else {claim.dataset for claim in claims.of(evidence)}
    failed = [claim for claim in claims.of(evidence) if claims.standing(evidence, claim) == "against"]
    # A rule to switch it off is no goal.
    here = {
        claim.limit_source if claim.question != "over_time" else "rule" for claim in failed if claim.dataset in where
    }
    return (
        f"Approve, though {'a goal was missed' if 'declared' in here else 'an error was shown'}" if here else "Approve"
    )


def _found_at(evidence: types.Evidence, site: types.DatasetSummary) -> str:
    """How many of 100 are found at our hospital, with the range."""
    where = f"Here in {site.site}"
    if classes.labels(evidence):
        share = classes.named_rightly(evidence, site)
        return "" if share is None else f"{where} it names {people(share)} of 100 patients rightly."
    at = evidence.release.thresholds.primary
    if at is None:
        return f"No line is set for {site.site}: whom it finds and whom it misses is not known."
    found = types.find(evidence, "sensitivity", site.name, threshold=at)
    if isinstance(found, types.Absent):
        return f"{where} too few patients were tested to say whom it finds."
    bounds = f" (range {plain.between(found)})" if plain.between(found) else ""
    found_here = f"it finds {people(found.value)}{bounds} and misses {people(1 - found.value)}"
    return f"{where}, of 100 patients {plain.with_it(evidence)}, {found_here}."


def _goals_here(evidence: types.Evidence, site: types.DatasetSummary) -> str:
    asked, missed = places.goals_at(evidence, site), places.goals_missed(evidence, site)
    if not asked:
        return "No goal was set for it before the test."
    unknown = [criterion for criterion in asked if criterion.met is None]
    if missed:
        rest = {"met": [goal for goal in asked if goal.met], "cannot tell yet": unknown}
        more = "; ".join(f"{how}: {listing(_goal_words(evidence, goals))}" for how, goals in rest.items() if goals)
        said = f"It missed {_part_of(len(missed), len(asked))} here: {listing(_goal_words(evidence, missed))}."
        return f"{said} {sentence_case(more)}." if more else said
    if unknown:
        more = f": {listing(_goal_words(evidence, unknown))}" if len(unknown) < len(asked) else ""
        why = " Too few were tested." if places.few_at(evidence, site) else ""
        return f"Nobody can tell yet whether it meets its goals here{more}.{why}"
    return f"It met its goal{'s' if len(asked) > 1 else ''} ({listing(_goal_words(evidence, asked))}) here."


def _percentages_here(evidence: types.Evidence, site: types.DatasetSummary) -> str:
    """That the percentages of our hospital are wrong, where they are: what its goals do not ask."""
    far, whole = wrong_at(evidence, site), as_a_whole(evidence, site)
    start = "But its" if places.goals_at(evidence, site) and not places.goals_missed(evidence, site) else "Its"
    labels = [label for label in classes.labels(evidence) if as_a_whole(evidence, site, classes.at(label)).is_off]
    if labels:
        return f"{start} percentages are wrong here for {listing(labels)}."
    if whole.off.turn is not None:
        said = whole.says
    elif far is not None:
        said = f"where it said {plain.risk_of(far.risk)}{names.by_first(evidence)}, "
        said += f"{people(far.value, far.among)} of {far.among:,} had it"
    elif whole.off.is_far and not isinstance(whole.ratio, types.Absent):
        said = predicted(whole.ratio)
    elif whole.is_off and not whole.off.is_reversed:
        said = whole.says
    elif not (said := "; ".join(percentages.by_further_horizons(evidence))):
        return ""
    return f"{start} percentages are wrong here: {said}."


def _part_of(count: int, among: int) -> str:
    if count == among:
        return "its goal" if among == 1 else "both goals" if among == 2 else f"all {in_words(among)} goals"
    return f"{in_words(count)} of {in_words(among)} goals"


def _goal_words(evidence: types.Evidence, goals: list[types.Criterion]) -> list[str]:
    return list(dict.fromkeys(goals_met.goal_word(evidence, goal.measure) for goal in goals))


def _goals_everywhere(evidence: types.Evidence) -> str:
    """At how many hospitals the goals were met; where none counts, whom the model found from where to where."""
    asked = [site for site in types.externals(evidence) if places.goals_at(evidence, site)]
    every_goal = acceptance.counted_ones(evidence)
    together = [goal for goal in every_goal if all(criterion.dataset == types.POOLED for criterion in goal)]
    if not asked and not together:
        return f"No goal was set before the test, so it cannot pass or fail. {_found_everywhere(evidence)}".strip()
    stands = gathered((acceptance.verdict(goal), criterion) for goal in together for criterion in goal)
    said = goals_met.STANDS.items()
    parts = [f"{how} ({listing(_goal_words(evidence, stands[state]))})" for state, how in said if state in stands]
    over_all = f"{'Its goals over' if not asked else 'Over'} all hospitals: {'; '.join(parts)}." if parts else ""
    if not asked:
        return over_all
    at_sites = [acceptance.verdict(places.goals_at(evidence, site)) for site in asked]
    every = [goal for site in asked for goal in places.goals_at(evidence, site)]
    what = f"its goals ({listing(_goal_words(evidence, every))})"
    if len(asked) == 1:
        how = {"shown": "met", "against": "did not meet"}.get(at_sites[0], "may have met")
        text = f"It {how} {what} in the one hospital that tested it."
    elif set(at_sites) == {"shown"}:
        text = f"It met {what} in {plain.all_hospitals(len(asked))}."
    else:
        counts = [f"{how} in {in_words(at_sites.count(state))}" for state, how in said if state in at_sites]
        text = f"{sentence_case(what)}, in {in_words(len(asked))} hospitals: {'; '.join(counts)}."
    return f"{text} {over_all}".strip()


def _found_everywhere(evidence: types.Evidence) -> str:
    """From where to where, of 100 with the outcome, so many are found."""
    found = ((site, places.found_share(evidence, site)) for site in types.externals(evidence))
    shares = [(site, share) for site, share in found if share is not None]
    if not shares:
        return ""
    known, few = names.ends_of_range(shares, "" if classes.labels(evidence) else "sensitivity")
    rising = sorted(known, key=lambda pair: pair[1])
    first, last = (f"{people(share)}{places.where(evidence, site)}" for site, share in (rising[0], rising[-1]))
    several = bool(classes.labels(evidence))
    start = "Of 100 patients it named" if several else f"Of 100 patients {plain.with_it(evidence)} it found"
    end = " rightly" if several else ""
    if people(rising[0][1]) == people(rising[-1][1]):
        named = f" in {plain.all_hospitals(len(rising))}" if len(rising) > 1 else places.where(evidence, rising[0][0])
        return f"{start} {people(rising[0][1])}{end}{named}{few}."
    return f"{start} from {first} to {last}{end}{few}."


def _elsewhere(evidence: types.Evidence) -> str:
    """What another hospital may expect, as far as those that were tested tell; whether it is ours nobody has said."""
    pooled = types.find(evidence, "auroc", types.POOLED)
    new = None if isinstance(pooled, types.Absent) else types.expected_range(pooled)
    if new is not None:
        low, high = (people(end) for end in new)
        what = places.tells_apart(evidence).replace("tells", "tell", 1)
        states = {claim.measure: claim.state for claim in claims.about(evidence, "new_hospital")}
        worse = "" if states.get("auroc") == "shown" else " (50: a coin toss)"
        return f"In another hospital it may {what} {low} to {high} times of 100{worse}."
    count = len(types.externals(evidence))
    enough = count >= bands.FEWEST_FOR_A_NEW_SITE
    if enough and any(flag.flag in ("wide_prediction_interval", "heterogeneity") for flag in evidence.flags):
        return "Results differed so much that those of another hospital cannot be predicted."
    who = "One hospital" if count == 1 else f"These {in_words(count)} hospitals"
    return f"{who} cannot tell what to expect in another."


# ---- what it is for -------------------------------------------------------------------------------------------------


def who_tested(evidence: types.Evidence) -> str:
    """Who ran the test, and how they stand to the maker."""
    about = evidence.release.release
    tester = plain.abridged(about.tester, plain.LINE) if about.tester else "not stated"
    return f"Tested by: {tester.rstrip('.')}."


def what_it_is(evidence: types.Evidence) -> str:
    """What the model shows, what happens then, and on whom it was tested."""
    text = _what_it_shows(evidence)
    return text if evidence.local_site else f"{text} {_tested_on(evidence)}"


def _tested_on(evidence: types.Evidence) -> str:
    """From where the patients of the test came, and when, as far as it is stated of every hospital."""
    sites = types.externals(evidence)
    spans = [site.dates for site in sites if site.dates]
    the = entries("pages")["countries"]["with_article"]
    countries = [f"{'the ' * (unspaced(site.country) in the)}{site.country}" for site in sites if site.country]
    at = f" in {listing(list(dict.fromkeys(countries)))}" if len(countries) == len(sites) else ""
    withheld = any(site.dates_withheld for site in sites)
    when = " of a time that is kept back" if withheld else "; when they came is not stated"
    if len(spans) == len(sites):
        when = f" of {dates((min(first for first, _ in spans), max(last for _, last in spans)))}"
    return f"Tested on patients{at}{when}."


def _what_it_shows(evidence: types.Evidence) -> str:
    release = evidence.release
    outcome = plain.abridged(names.predicted(evidence), plain.TWO_LINES)
    known, at = classes.labels(evidence), release.thresholds.primary
    then = f"is flagged, to be {release.intended_use.verb}" if release.intended_use.verb else "is flagged"
    if known:
        text = f"It gives each patient a percentage for each of {listing(known)}: {outcome}."
        # What the maker says of the outcome, where a line holds it: the names of classes alone may say nothing.
        said = plain.beginning(evidence.statements.get("8a", ""), plain.LINE)
        text += f" It names the one with the highest.{f' {said.text}' if said.text and not said.is_cut else ''}"
        always = " Every patient has at least one such class." if at is not None and at * len(known) <= 1 else ""
        return text if at is None else f"{text} Each class at {plain.risk_of(at)} or more {then}.{always}"
    text = f"It gives each patient a percentage: the chance of {outcome}."
    first = names.by_first(evidence)
    every = ((risk, names.by_when(evidence, by)) for by in release.each_outcome for risk in release.primary(by))
    from_on = [f"{plain.risk_of(risk)}{when or first}" for risk, when in every]
    # What the page says of a second line would come from nowhere.
    more = [plain.line(risk) for risk in release.thresholds.declared[1 : plain.MOST_NAMED]]
    too = f"; the {listing(more)} {'is' if len(more) == 1 else 'are'} looked at too" if more else ""
    text += f" From {listing(from_on)} on, a patient {then}{too}." if from_on else ""
    return f"{text} {sentence.phrase('horizons', 'without_a_time', first=first.strip())}" if first else text


@dataclass(frozen=True)
class Purpose:
    """For whom the model is and for whom not, as the maker says it."""

    whom: str
    not_for: str
    is_whole: bool
    """Whether nothing was cut."""


def purpose(evidence: types.Evidence, most: int = plain.TWO_LINES) -> Purpose:
    """For whom it is and what it is not for, in at most so many characters each."""
    whole = checklist.purpose(evidence) or f"{plain.NOT_SAID} Ask before you decide."
    said = [text.strip().rstrip(".") for text in evidence.release.intended_use.not_for]
    said = [text[:1].lower() + text[1:] for text in said]
    if not binding.is_for_nobody(evidence.release) and (out := binding.ruled_out(evidence)):
        said.append(plain.first_named([site.site for site in out]))
    without = f"{'; '.join(said)}." if said else ""
    full, short = plain.abridged(whole, most), plain.abridged(without, most)
    is_whole = (full, short) == (" ".join(whole.split()), " ".join(without.split()))
    return Purpose(plain.as_sentence(full), short, is_whole)


# ---- where it worked ------------------------------------------------------------------------------------------------

BAR, LEAST_BAR = 20.0, 9.0
"""The width of the bar of found and missed in mm, and what long names leave of it."""
COMMON, RARE = 0.9, 0.05
"""From which share on nearly every patient had the outcome, and up to which nearly nobody."""


@dataclass(frozen=True)
class Head:
    """The head of a column, and what is said once above it and its neighbours that share it."""

    label: str
    over: str = ""
    is_wide: bool = False
    """Whether it stands above words, to the left."""


@dataclass(frozen=True)
class Hospital:
    """A row of the first page: a hospital, the bar of found and missed in mm, and what stands beside it."""

    name: str
    patients: str
    found: float | None
    missed: float | None
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Hospitals:
    """The table of the first page."""

    about: str
    """What the bar is of."""
    heads: tuple[Head, ...]
    rows: tuple[Hospital, ...]
    bar: float
    """How wide the bars are in mm; 0 where there are none."""
    note: str

    @property
    def spanners(self) -> tuple[Spanner, ...]:
        """What is said once above neighbouring columns."""
        found: list[Spanner] = []
        for head in self.heads:
            cells = 1 + (found.pop().cells if found and found[-1].label == head.over else 0)
            found.append(Spanner(head.over, cells))
        return tuple(found)

    @property
    def lines(self) -> int:
        """On how many lines its names stand where the columns leave them the least."""
        return sum(widths.lines_of(row.name, LEAST_LABEL) for row in self.rows)

    @property
    def name_width(self) -> float:
        """The room in mm for a name on one line, before the other columns take what they do not need."""
        return max((widths.text_width(row.name) for row in self.rows), default=0.0)


def hospitals(evidence: types.Evidence) -> Hospitals:
    """Each hospital with whom the model found and missed there, what came of its percentages, and the goals."""
    shown = list(places.listed(evidence))
    # Long names take their room from the bars where goals stand beside, in words.
    longest = max((widths.text_width(site.site) for site in shown if _has_goals(evidence)), default=0.0)
    has_bars = any(places.found_share(evidence, site) is not None for site in types.externals(evidence))
    bar = max(LEAST_BAR, BAR - max(longest - LEAST_LABEL, 0.0)) if has_bars else 0.0
    rows = tuple(_hospital(evidence, site, bar) for site in shown)
    at = evidence.release.thresholds.primary
    about = (
        "100 patients"
        if classes.labels(evidence) or at is None
        else f"100 patients {plain.with_it(evidence)}{names.by_first(evidence)}, at the {plain.line(at)}"
    )
    return Hospitals(about, _heads(evidence, has_bars), rows, bar, _note(evidence, shown, rows))


def _heads(evidence: types.Evidence, has_bars: bool) -> tuple[Head, ...]:
    known = classes.labels(evidence)
    heads = [Head("right" if known else "found"), Head("wrong" if known else "missed")] if has_bars else []
    if known:
        over = "Of 100 with each, named rightly"
        heads += [Head(label, over) for label in _parted(known)] if len(known) <= MOST_CLASSES else []
    else:
        heads += [Head(f"false{TIED}alarms", f"Of{TIED}100 without{TIED}it")] if has_bars else []
        among = told_of(evidence)
        over = f"Of{TIED}{among:,}{TIED}had{TIED}it, when{TIED}it{TIED}said"
        heads += [Head(plain.risk_of(risk), over) for risk in _shown_lines(evidence)]
    # The word "met" of one goal would else read as leave to use the model.
    goals = (places.goals_at(evidence, site) for site in types.externals(evidence))
    every = {word for here in goals for word in _goal_words(evidence, here)}
    has_room = all(widths.lines_of(site.site, LEAST_LABEL) == 1 for site in places.listed(evidence))
    head = f"Goal: {every.pop()}" if len(every) == 1 and has_room else "Goals"
    return (*heads, *([Head(head, is_wide=True)] if _has_goals(evidence) else []))


NONE_GIVEN = "–"
"""In place of what came of a percentage that too few, or nobody, was given."""
MOST_CLASSES = 5
"""Classes that the table of the first page has columns for."""
ROOM, GAP = 70.0, 3.0
"""What the columns of classes have room for together beside the longest names, and between two of them, in mm."""


def _parted(labels: Sequence[str]) -> Sequence[str]:
    """The names of classes as heads: words are parted where the columns would be too wide together."""
    if sum(map(widths.widest_word, labels)) + GAP * len(labels) <= ROOM:
        return labels
    return [widths.parted(label, ROOM / len(labels) - GAP) for label in labels]


def _has_goals(evidence: types.Evidence) -> bool:
    return any(places.goals_at(evidence, site) for site in types.externals(evidence))


def _hospital(evidence: types.Evidence, site: types.DatasetSummary, bar: float) -> Hospital:
    share = places.found_share(evidence, site)
    cells = _shares(evidence, site, share) if bar else []
    if classes.labels(evidence):
        if len(classes.labels(evidence)) <= MOST_CLASSES:
            shares = classes.named_rightly_by_class(evidence, site)
            none = Cell.absent("kept back" if evidence.is_protected else "none")
            cells += [none if each is None else Cell.plain(people(each, in_cell=True)) for each in shares]
    else:
        cells += [_came(evidence, site, risk) for risk in _shown_lines(evidence)]
    if _has_goals(evidence):
        cells.append(_goals(evidence, site))
    marked = f"{'†' if places.few_at(evidence, site) else ''}{binding.marks(evidence, site)}"
    mark = f"{TIED}{marked}" if marked else ""
    found = None if share is None else round(bar * share, 2)
    missed = None if found is None else round(bar - found, 2)
    return Hospital(f"{site.site}{mark}", f"{site.n:,}", found, missed, tuple(cells))


def _shares(evidence: types.Evidence, site: types.DatasetSummary, share: float | None) -> list[Cell]:
    """How many of 100 are found, missed, and flagged in error."""
    at = evidence.release.thresholds.primary
    none = types.Absent(Fact("no_threshold_declared"))
    found = none if at is None else types.find(evidence, "sensitivity", site.name, threshold=at)
    if share is None:
        cells = [plain.missing(found if isinstance(found, types.Absent) else none), Cell.absent("")]
    else:
        of = found if isinstance(found, types.Estimate) else None
        cells = [Cell(people(share, in_cell=True), of=of), Cell(people(1 - share, in_cell=True), kind="plain", of=of)]
    if classes.labels(evidence) or at is None:
        return cells
    spared = types.find(evidence, "specificity", site.name, threshold=at)
    if isinstance(spared, types.Absent):
        return [*cells, plain.missing(spared)]
    return [*cells, Cell(people(1 - spared.value, in_cell=True), kind="plain", of=spared)]


def _is_kept_back(evidence: types.Evidence, site: types.DatasetSummary) -> bool:
    """Whether what came of each percentage at a hospital is known and not given out."""
    return isinstance(types.find_curve(evidence, "calibration_curve", site.name), types.Withheld)


def _shown_lines(evidence: types.Evidence) -> tuple[float, ...]:
    """The risks that the table has columns for: none where every hospital's are kept back."""
    return () if all(_is_kept_back(evidence, site) for site in types.externals(evidence)) else lines(evidence)


def _came(evidence: types.Evidence, site: types.DatasetSummary, risk: float) -> Cell:
    """Of 100 to whom the model gave a risk, how many had the outcome; standing out where the range leaves it out."""
    found = at_risk(evidence, site, risk)
    if found is None:
        return Cell.absent(NONE_GIVEN)
    is_off = found.is_off or claims.is_off_at(evidence, site.name, risk, (found.value, found.low, found.high))
    return Cell(people(found.value, found.among, in_cell=True), kind="alert" if is_off else "plain")


MOST_GOALS = 2
"""Goals that are not met at a hospital and are named beside it."""


def _goals(evidence: types.Evidence, site: types.DatasetSummary) -> Cell:
    asked, missed = places.goals_at(evidence, site), places.goals_missed(evidence, site)
    if missed:
        which = _goal_words(evidence, missed)
        # More are named in the table of goals.
        named = ", ".join(which) if len(which) <= MOST_GOALS else f"{in_words(len(which))} of {in_words(len(asked))}"
        return Cell(f"not met: {named}", kind="alert")
    stands = acceptance.verdict(asked)
    says = "met all" if stands == "shown" and len(asked) > 1 else goals_met.STANDS[stands].split(" to ")[0]
    # Beside a rule that switches it off "met" alone would read as leave to use it.
    is_broken = stands == "shown" and "§" in binding.marks(evidence, site)
    return Cell.word(f"{says}, but must be off" if is_broken else says)


def _note(evidence: types.Evidence, shown: list[types.DatasetSummary], rows: tuple[Hospital, ...]) -> str:
    """What the marks mean, which hospitals are unusual, and where the ranges are that page 2 has."""
    parts, among = [], len(types.externals(evidence))
    if any(places.few_at(evidence, site) for site in shown):
        of_what = "of one class" if classes.labels(evidence) else "with or without it"
        with_enough = (site for site in shown if not places.lacking(site, bands.FEW_FOR_A_BAND, ""))
        is_beside = any(places.beside_the_line(evidence, site) for site in with_enough)
        beside = f", or {bands.FEW_FOR_POOLING} above or below the line" if is_beside else ""
        parts.append(f"† fewer than {bands.FEW_FOR_A_BAND} {of_what}{beside}: rough numbers.")
    marked = {mark for site in shown for mark in binding.marks(evidence, site)}
    parts += [says for mark, says in MARKED.items() if mark in marked]
    # Where nearly every patient had the outcome, or nearly nobody.
    far = [site for site in shown if site.prevalence is not None and not COMMON > site.prevalence > RARE]
    parts += [f"In {site.site}, {site.events:,} of {site.n:,} had it." for site in far] if len(far) <= 2 else []
    if any(cell.kind == "alert" and cell.text.isdigit() for row in rows for cell in row.cells):
        parts.append("Brown: shown to be off there.")
    if among >= bands.MANY_SITES:
        out = len(verdict.standing_out(evidence))
        most = f": the worst {in_words(bands.NAMED_OF_MANY)} stand here" if out > bands.NAMED_OF_MANY else ""
        parts.insert(0, f"An error was shown in {how_many(out)} of {among:,} hospitals{most}. Page 2 draws all.")
    if any(cell.kind == "absent" and cell.text == NONE_GIVEN for row in rows for cell in row.cells):
        kept = ", or kept back" if any(_is_kept_back(evidence, site) for site in shown) else ""
        parts.append(f"{NONE_GIVEN}: too few were given that percentage{kept}.")
    parts += [_ranged(evidence)] if evidence.is_protected else []
    parts += [_at_horizon(evidence, types.externals(evidence)).strip()]
    if any(row.found is not None for row in rows) and not classes.labels(evidence):
        at = evidence.release.thresholds.primary
        parts.append("Ranges: page 2." if at is None else f"Ranges at the {plain.line(at)}: page 2.")
    if evidence.local_site is None and among > 1 and rows:
        parts.append("If ours is above, ask for its own pages.")
    return " ".join(filter(None, parts))


MARKED: dict[str, str] = entries("pages")["marks_of_committee"]
"""What the marks beside a hospital say."""


# ---- our own hospital -----------------------------------------------------------------------------------------------


def works_here(evidence: types.Evidence) -> tuple[str, ...]:
    """Whom the model finds in the one hospital that these pages are of; empty where they are of several."""
    site = places.alone(evidence)
    if site is None:
        return ()
    sick = "" if site.events is None else f", {site.events:,} of them {plain.with_it(evidence)}"
    few = places.few_at(evidence, site)
    warned = f" There were {few}: the numbers are rough." if few else ""
    ranged = f" {_ranged(evidence)}" if evidence.is_protected else ""
    parts = [f"Tested on {counted(site.n, 'patient')}{sick}.{_at_horizon(evidence, [site])}{ranged}{warned}"]
    at = evidence.release.thresholds.primary
    ours = () if evidence.local_site else ("If this hospital is ours, ask for its own pages.",)
    if classes.labels(evidence):
        return (*parts, *classes.in_sentences(evidence, site), *ours)
    if at is not None and isinstance(
        spared := types.find(evidence, "specificity", site.name, threshold=at), types.Estimate
    ):
        hit = types.find(evidence, "sensitivity", site.name, threshold=at)
        found = "too few to say how many" if isinstance(hit, types.Absent) else people(hit.value)
        wrong = f"Of 100 without, {people(1 - spared.value)} are {plain.acted_on(evidence)} in error."
        parts.append(f"At the {plain.line(at)} it finds {found} of 100 patients {plain.with_it(evidence)}. {wrong}")
    ranked = types.find(evidence, "auroc", site.name)
    if isinstance(ranked, types.Estimate) and discrimination(ranked, evidence.local_site == site.name) == "open":
        parts.append(
            f"Too few to tell how often it {places.tells_apart(evidence)} "
            f"(range {plain.between(ranked)} of 100, 50: a coin toss)."
        )
    elif isinstance(ranked, types.Estimate):
        parts.append(
            f"It {places.tells_apart(evidence)} {people(ranked.value)} times of 100"
            f"{f' (range {plain.between(ranked)})' if plain.between(ranked) else ''}: 100 is perfect, 50 a coin toss."
        )
    return (*parts, *ours)


def _at_horizon(evidence: types.Evidence, sites: Sequence[types.DatasetSummary]) -> str:
    """To how many something else happened first, of how many it is not known, and how both are counted."""
    return names.at_horizon(sites, "told_at_horizon", evidence.release.outcome.competing_events)


def _ranged(evidence: types.Evidence) -> str:
    """Why no count is exact where small ones are protected, and of classes little else known; page 1 says it once."""
    kept = " Most numbers of classes are kept back." if classes.labels(evidence) else ""
    return f"Counts are given as ranges, to protect patients.{kept}"
