"""The structured abstract: the thirteen lines that TRIPOD+AI asks for, written from the evidence."""

from __future__ import annotations

import re
from dataclasses import dataclass

from dossier.core import binding, checklist, claims, tripod, types
from dossier.report.chapters import classes, results, sentence, verdict
from dossier.report.chapters.chapter import chapter
from dossier.typeset.names import all_events, at_horizon, at_least, model, predicted
from dossier.typeset.numbers import TIED, in_text, threshold
from dossier.typeset.words import counted, in_words, listing, sentence_case, within_sentence
from dossier.words import entries

GAIN = "net benefit over the better of flagging everyone and no one"
MOST_LETTERS = 700
"""Letters of a declared text that a line has room for."""
MOST_NAMED = 10
"""Sites that are named; of more it gives the count."""


@dataclass(frozen=True)
class Line:
    """One line of the abstract; `open` when the release does not say what it needs."""

    label: str
    text: str
    open: bool = False
    items: tuple[str, ...] = ()
    """The rows of the checklist whose declared text stands here in full, and so in no other chapter."""


def finding(_: types.Evidence) -> sentence.Sentence:
    """Nothing: the line of results has it."""
    return sentence.NOTHING


def lines(evidence: types.Evidence) -> list[Line]:
    """The thirteen lines: computed where the run knows, declared where the release says, open where it does not."""
    release, sites = evidence.release, types.externals(evidence)
    names, at = [site.site for site in sites], evidence.release.thresholds.primary
    which = "site" if len(sites) == 1 else "sites"
    which += f": {listing(names)}" if len(names) <= MOST_NAMED else ", named in the chapter on the data"
    # How many predictors the declared formula has, and how many the tables give, which need not be the same.
    given = len({name for site in sites for name in site.features})
    used = "" if release.model is None else counted(len(release.model.predictors), "predictor")
    figures = {"used": used, "given": given, "tables": f"{given:,}" if given else "none"}
    giving, some = (sum(least <= len(site.features) for site in sites) for least in (max(given, 1), 1))
    more = f" sites, and some of them of {in_words(some - giving)} more" if some > giving else " sites"
    figures["some"] = f"{in_words(giving)} of {in_words(len(sites))}{more}" if some and giving < len(sites) else ""
    return [
        Line(
            "Kind of study", f"External validation of a prediction model for {release.outcome.name}: {model(evidence)}."
        ),
        _said(evidence, "Background", "3a"),
        _said(evidence, "Objective", "4"),
        Line("Sources of data", f"{sentence_case(in_words(len(sites)))} external {which}."),
        _said(evidence, "Setting and eligibility", "6a", "6b"),
        Line("Outcome", f"{sentence_case(predicted(evidence))}."),
        Line("Type of model", _type(evidence)),
        Line("Measures", sentence.phrase("abstract", "measures", at="" if at is None else threshold(at))),
        Line("Patients and events", f"{_size(evidence)}."),
        Line("Predictors", sentence.phrase("abstract", "predictors", **figures, named=counted(given, "predictor"))),
        Line("Results", _results(evidence)),
        _said(evidence, "Interpretation", "25"),
        _said(evidence, "Registration", "18d"),
    ]


def _said(evidence: types.Evidence, label: str, *items: str) -> Line:
    """What the release declares under rows of the checklist, or which rows wait for it."""
    said = [text for item in items if (text := in_full(evidence, item))]
    if said:
        texts = {item: evidence.statements.get(item, "") for item in items}
        whole = [item for item, text in texts.items() if not checklist.is_placeholder(text) and not _kept(text)[1]]
        return Line(label, " ".join(said), items=tuple(whole))
    asked = listing([f"{item} ({tripod.TOPICS[item].lower()})" for item in items])
    return Line(label, f"MISSING: item {asked} of the release.", open=True)


def printed_whole(evidence: types.Evidence) -> frozenset[str]:
    """The rows of the checklist whose declared text the abstract prints in full."""
    return frozenset(item for line in lines(evidence) for item in line.items)


def in_full(evidence: types.Evidence, item: str) -> str | None:
    """What the release says under a row of the checklist, without the marks of Markdown; None where it says nothing.

    A sentence that is left out may be the one that limits the use: a text that is too long says where it goes on.
    """
    text = evidence.statements.get(item, "")
    if checklist.is_placeholder(text):
        return None
    kept, shortened = _kept(text)
    goes_on = [f"(Continued: row {item} of the checklist gives the page.)"] if shortened else []
    return " ".join([*kept, *goes_on]).strip()


def _kept(text: str) -> tuple[list[str], bool]:
    """The sentences of a declared text that a line has room for, and whether something is left out."""
    parts = BETWEEN_PARTS.split(text.strip())
    prose = [_plain(part) for part in parts if not part.lstrip().startswith(NO_PROSE)]
    sentences = BETWEEN_SENTENCES.split(" ".join(prose))
    kept = [
        sentence
        for index, sentence in enumerate(sentences)
        if not index or len(" ".join(sentences[: index + 1])) <= MOST_LETTERS
    ]
    return kept, len(kept) < len(sentences) or len(prose) < len(parts)


BETWEEN_PARTS = re.compile(r"\n\s*\n|\n(?=\s*(?:[-+*]|\d+[.)])\s)")
BETWEEN_SENTENCES = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")
NO_PROSE = ("|", "```")
"""How a part of a declared text begins that is no sentence: a table, or a piece of code."""


def _plain(part: str) -> str:
    """A paragraph or an item of a list on one line, without its marks."""
    bare = re.sub(r"^\s*(?:[-+*]|\d+[.)]|#+)\s+|[*`]|(?<!\w)_|_(?!\w)", "", part)
    line = " ".join(re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", bare).split())
    return line if line.endswith((".", "!", "?", ":", ";", ",")) else f"{line}."


def _type(evidence: types.Evidence) -> str:
    said = evidence.release.model_card.architecture or in_full(evidence, "12c")
    return " ".join(
        ([said] if said else ["Asked of development studies only."])
        + (["The coefficients are given in this dossier."] if evidence.release.model is not None else [])
    )


def _size(evidence: types.Evidence) -> str:
    sites = types.externals(evidence)
    patients = counted(sum(site.n for site in sites), "patient")
    if labels := evidence.release.outcome.classes:
        telling = [site for site in sites if site.class_counts]
        if not telling:
            return patients
        of_each = [f"{sum(site.class_counts.get(label, 0) for site in telling):,} of {label}" for label in labels]
        least = at_least(sites)
        return f"{patients}: {listing([f'{least}{text}' for text in of_each])}"
    return f"{patients}, {all_events(sites)}{at_horizon(sites)}"


def _results(evidence: types.Evidence) -> str:
    """What page 1 says first, and all else that is shown against the model; AUROC, O/E and slope over the sites, net
    benefit at the primary threshold, and what a new site may expect.
    """
    at, turning = evidence.release.thresholds.primary, [site.site for site in binding.turning(evidence)]
    said = [
        *(text for text in verdict.leads(evidence) if text != results.finding(evidence).lead),
        *verdict.accusations(evidence),
        _also_against(evidence),
        _one(evidence, "auroc", "AUROC"),
        sentence.new_hospital(evidence),
        _one(evidence, "oe_ratio", "observed to expected ratio"),
        _one(evidence, "calibration_slope", "calibration slope"),
        sentence.not_pooled(evidence),
        "" if at is None else _one(evidence, "net_benefit_gain", f"{GAIN} at{TIED}{threshold(at)}", threshold=at),
        "" if not turning else sentence.phrase("abstract", "of_all_periods", sites=tuple(turning)),
    ]
    return " ".join(text for text in said if text)


def _also_against(evidence: types.Evidence) -> str:
    """The questions whose answer is against the model that page 1 has in its table alone."""
    asked, pages = (claim.question for claim in claims.of(evidence) if claim.state == "against"), entries("pages")
    alone = [each for each in dict.fromkeys(asked) if each in pages["in_table_alone"]["questions"]]
    named = [within_sentence(pages["question"][each]) for each in alone]
    return sentence.phrase("abstract", "also_against", questions=tuple(named)) if named else ""


def _one(evidence: types.Evidence, measure: str, label: str, /, **at: float) -> str:
    """A measure over all sites, or its range; where it has no mean over the classes, its range over these too."""
    pooled = types.find(evidence, measure, types.POOLED, **at)
    if isinstance(pooled, types.Estimate):
        # Two numbers side by side would be read as one.
        joint = ":" if label[-1].isdigit() else ""
        return f"Pooled {label}{_of(evidence)}{joint} {in_text(evidence, measure, pooled)}."
    if sites := sentence.estimated(evidence, measure, **at):
        return f"The {label}{_of(evidence)} {sentence.over_sites(evidence, measure, sites, **at)}."
    every = classes.by_class(evidence, measure, **at)
    if not every:
        return ""
    first, last = classes.ends(evidence, measure, every)
    return f"By class and site the {label} is lowest at {first} and highest at {last}."


def _of(evidence: types.Evidence) -> str:
    return ", mean of the classes," if classes.labels(evidence) else ""


CHAPTER = chapter("abstract", finding)
