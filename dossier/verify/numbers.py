"""Blocks against results.json: which printed numbers are found there, which are exempt and why, which are neither.

A value with an interval must be found as one estimate: value, lower and upper bound together. A number in the row of a
site must be one of that site, or a setting. Curves do not count: among so many points every short number is found.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from dossier import material
from dossier.contents import CHAPTERS
from dossier.types import READERS
from dossier.typeset.names import ALL_POOLED
from dossier.typeset.numbers import CUT_OFFS, DASH, MINUS, TIED, number
from dossier.verify.pages import Block, Pages

NUMBER = rf"(?<![\w.,])[<{MINUS}]?\d(?:[\d,]*\d)?(?:\.\d+)?(?![\w])"
INTERVAL = re.compile(
    rf"({NUMBER})(?:%|{TIED}per{TIED}100)?[ {TIED}]\("
    rf"(?:\d+%{TIED}CI{TIED}?[ ]?)?({NUMBER})%?(?: to |{DASH})({NUMBER})%?\)"
)
BOUNDS = re.compile(rf"({NUMBER})%?(?: to |{DASH})({NUMBER})%?")
TOKEN = re.compile(NUMBER)
SCALES = (1.0, 100.0, 1000.0)
"""As it is, in per cent or per 100 patients, and per 1,000 patients."""

EXPECTED = ("100", "1,000")
"""What an interval may follow without being its value: so many came where 100 were expected."""

TABLE_OF_A_CURVE = 20
"""A curve of at most so many points may be printed as a table."""

MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
BY_FORM = (
    ("hashes", re.compile(r"\b(?=[0-9a-f ]*\d)[0-9a-f]{16}(?: [0-9a-f]{16})*")),
    ("dates", re.compile(rf"\b\d{{1,2}}\s(?:{MONTHS}|{'|'.join(month[:3] for month in MONTHS.split('|'))})\s\d{{4}}")),
    ("dates", re.compile(r"\b\d{4}-\d{2}-\d{2}\b")),
    ("names", re.compile(r"\bSHA-256\b")),
    ("settings", re.compile(r"[\d,]+ bootstrap replicates, [\d,]+ permutations")),
    ("commands", re.compile(r"^Command: dossier .*")),
    ("smallest counts that are shown", re.compile(r"<\d+(?![\d.,])")),
    ("scales of figures", re.compile(rf"Below {MINUS}?[\d.]+: not drawn")),
    ("cut-offs", re.compile(r"far off where it lies outside [\d.]+ to [\d.]+")),
    ("references", re.compile(r"\b(?:19|20)\d{2};\d+(?::\w+)?")),
    ("references", re.compile(r"(?<=[a-z] )(?:19|20)\d{2}\b")),
    ("numbers of tables and figures", re.compile(r"^(?:Table|Figure)\s\d+\.")),
)
"""Classes that are exempt wherever they stand."""

BY_CHAPTER = {
    "references": "references",
    "methods": "formulas and definitions",
    "glossary": "formulas and definitions",
    "context": "declared texts",
    "sign_off": "declared texts",
}
CHECKLISTS = ("checklist", "probast")

DECLARED_DEPTH = 3
"""The topic of a declared text stands in its own division, in that of its column and in that of all such texts."""

NAMES = {chapter.title: chapter.name for chapter in CHAPTERS}


@dataclass(frozen=True)
class Unmatched:
    """A printed number that is not in results.json, and where it stands."""

    text: str
    page: int
    around: str


@dataclass(frozen=True)
class Count:
    """How many numbers were found, how many are exempt by class, and those that are neither."""

    matched: int
    exempt: Mapping[str, int]
    unmatched: tuple[Unmatched, ...]


@dataclass
class _Tally:
    matched: int = 0
    exempt: Counter[str] = field(default_factory=Counter)
    unmatched: list[Unmatched] = field(default_factory=list)


class Pool:
    """Numbers and estimates, asked for as they are printed."""

    def __init__(self, values: Iterable[float], triples: Iterable[tuple[float, ...]]) -> None:
        self.values = frozenset(values)
        self.triples = frozenset(triples)
        self._said: dict[tuple[int, float], frozenset[str]] = {}
        self._spans: dict[tuple[tuple[int, ...], float], frozenset[tuple[str, ...]]] = {}

    def has(self, token: str) -> bool:
        """Whether some number reads like this at some scale."""
        return any(token in self._texts(_digits(token), scale) for scale in SCALES)

    def has_span(self, tokens: tuple[str, ...]) -> bool:
        """Whether some estimate reads like this: value, low, high at one scale, a bound maybe with more digits.

        The value has more digits than both bounds only where fewer would put it on a cut-off.
        """
        digits = tuple(_digits(token) for token in tokens)
        rounded = round(float(tokens[0].lstrip("<").replace(MINUS, "-").replace(",", "")), min(digits))
        return (min(digits) == digits[0] or rounded in (0, *CUT_OFFS)) and any(
            tokens in self._intervals(digits, scale) for scale in SCALES[:2]
        )

    def has_bounds(self, tokens: tuple[str, str]) -> bool:
        """Whether some estimate has these bounds: for what came of 100 expected, whose value stands elsewhere."""
        digits = (0, *(_digits(token) for token in tokens))
        return any(tokens == span[1:] for scale in SCALES[:2] for span in self._intervals(digits, scale))

    def _texts(self, digits: int, scale: float) -> frozenset[str]:
        key = (digits, scale)
        if key not in self._said:
            self._said[key] = frozenset(number(value * scale, digits) for value in self.values)
        return self._said[key]

    def _intervals(self, digits: tuple[int, ...], scale: float) -> frozenset[tuple[str, ...]]:
        key = (digits, scale)
        if key not in self._spans:
            self._spans[key] = frozenset(
                tuple(number(one * scale, own) for one, own in zip(span, digits, strict=True)) for span in self.triples
            )
        return self._spans[key]


def _digits(token: str) -> int:
    return len(token.partition(".")[2])


@dataclass(frozen=True)
class Source:
    """What results.json and the manifest hold, ready to be asked."""

    results: Mapping[str, Any]
    manifest: Mapping[str, Any]

    @cached_property
    def settings(self) -> frozenset[float]:
        """Numbers that belong to no site: levels, thresholds and the other settings, criteria, sizes of inputs."""
        release = self.results["release"]
        found = {float(release["level"]), 1 - float(release["level"]), float(release["seed"]), 0.0, 1.0}
        for one in (*self.results["estimates"], *self.results["curves"], *self.results["acceptance"]):
            found |= {float(value) for value in one["at"].values() if isinstance(value, int | float)}
        for one in (*self.results["acceptance"], *self._previous.get("acceptance", ())):
            found |= {float(one[name]) for name in ("at_least", "at_most") if one[name] is not None}
        found |= {float(one) for one in self._previous.get("thresholds", ())}
        found |= set(_numbers(self._previous))
        return frozenset(found | self.counts)

    @cached_property
    def _previous(self) -> Mapping[str, Any]:
        """What is recorded of the previous release; empty where the release names none."""
        found: Mapping[str, Any] = self.results["release"].get("previous", {})
        return found

    @cached_property
    def counts(self) -> frozenset[float]:
        """Counts that the document derives: sums over sites, numbers of sites, criteria, flags, rows, files."""
        datasets, criteria = self.results["datasets"], self.results["acceptance"]
        found = set(range(len(datasets) + 1))
        roles = ("development", "internal", "external")
        for held in (*((role,) for role in roles), ("internal", "external"), roles):
            those = [one for one in datasets if one["role"] in held]
            found |= {sum(one[name] or 0 for one in those) for name in ("n", "events", "rows_read")}
            found |= {sum(count or 0 for one in those for count in one["excluded"].values())}
            found |= {sum((one["classes"] or {}).get(label, 0) for one in those) for label in self._labels}
        counted: Counter[object] = Counter()
        for row in self.results["checklist"]:
            counted.update({row["status"], row["status"].partition(",")[0], row["status"] != "MISSING", "rows"})
        for flag in self.results["flags"]:
            counted.update({flag["flag"], flag["reply"] is None, (flag["flag"], flag["reply"] is None), "flags"})
        for one in criteria:
            counted.update({(one["measure"], one["bound"], one["met"]), (one["measure"], one["bound"]), one["met"]})
        development_only = sum("evelopment" in row["status"] for row in self.results["checklist"])
        found |= {len(self.results["checklist"]) - development_only, len(criteria), len(self.results["flags"])}
        found |= {len(one["features"]) for one in datasets} | {len(self.manifest["inputs"])}
        found |= {one["size"] for one in self.manifest["inputs"]}
        found |= set(counted.values()) | self._sizes | self._of_subgroups | self._of_a_thousand
        return frozenset(float(one) for one in found)

    @cached_property
    def _sizes(self) -> frozenset[int]:
        """Patients and events of the sites at which a measure or a curve exists: the captions name them."""
        external = {READERS, *(one["name"] for one in self.results["datasets"] if one["role"] == "external")}
        sums: Counter[tuple[str, str]] = Counter()
        held: dict[tuple[str, str, str], dict[str, Any]] = {}
        for one in (*self.results["estimates"], *self.results["curves"]):
            if one["status"] == "estimated" and one["subset"] is None:
                name = one.get("measure") or one["curve"]
                if one["dataset"] in external:
                    held[name, repr(sorted(one["at"].items())), one["dataset"]] = one
                if "raters" in one["at"]:
                    sums[name, f"answers of {one['dataset']}"] += one["n"]
        for (name, at, _), one in held.items():
            sums[name, f"patients {at}"] += one["n"]
            sums[name, f"events {at}"] += one["events"] or 0
        return frozenset(sums.values())

    @cached_property
    def _of_subgroups(self) -> frozenset[int]:
        """The patients of each subgroup over the external sites, all of them and those of each class."""
        external = {one["name"] for one in self.results["datasets"] if one["role"] == "external"}
        sums: Counter[tuple[str, str, str]] = Counter()
        for one in self.results["description"]:
            if one["dataset"] in external and one["statistic"].startswith("subgroup ") and one["value"] is not None:
                sums[one["variable"], one["level"], one["statistic"]] += int(one["value"])
        return frozenset(sums.values())

    @cached_property
    def _of_a_thousand(self) -> frozenset[int]:
        """Of 1,000 patients those with the outcome, those without, those flagged and those who are not."""
        pairs = (
            *(("true_positive", "false_negative"), ("false_positive", "true_negative")),
            *(("true_positive", "false_positive"), ("false_negative", "true_negative")),
        )
        return frozenset(
            int(a + b)
            for one in self.results["curves"]
            for left, right in pairs
            if left in one["columns"] and right in one["columns"]
            for a, b in zip(one["columns"][left], one["columns"][right], strict=True)
        )

    @cached_property
    def _labels(self) -> frozenset[str]:
        return frozenset(label for one in self.results["datasets"] for label in one["classes"] or {})

    @cached_property
    def everything(self) -> Pool:
        """Every number of every dataset."""
        return self._pool(None)

    def of(self, label: str) -> Pool:
        """The numbers of the dataset that a row names, or all of them when it names none."""
        name = self._datasets.get(label)
        if name is None:
            return self.everything
        if name not in self._pools:
            self._pools[name] = self._pool(name)
        return self._pools[name]

    @cached_property
    def _pools(self) -> dict[str, Pool]:
        return {}

    @cached_property
    def _datasets(self) -> dict[str, str]:
        """The labels under which a row may name a dataset."""
        labels: dict[str, str] = {ALL_POOLED: "pooled"}
        sites = Counter(one["site"] for one in self.results["datasets"])
        for one in self.results["datasets"]:
            if sites[one["site"]] == 1:
                role = str(one["role"]).capitalize()
                apparent = " (apparent)" if one["role"] == "development" else ""
                labels |= {
                    one["site"]: one["name"],
                    f"{role}: {one['site']}": one["name"],
                    f"{role}{apparent}: {one['site']}": one["name"],
                }
        return labels

    def _pool(self, dataset: str | None) -> Pool:
        values: set[float] = set(self.settings)
        spans: set[tuple[float, ...]] = set()
        for one in (*self.results["estimates"], *self._previous.get("estimates", ())):
            if dataset in (None, one["dataset"]):
                values |= set(_numbers(one))
                spans |= set(_spans(one))
        values |= {
            value
            for one in self._previous.get("datasets", ())
            if dataset in (None, one["name"])
            for value in _numbers(one)
        }
        for one in (*self.results["description"], *self.results["acceptance"]):
            if dataset in (None, one["dataset"]):
                values |= set(_numbers(one))
        spans |= {span for name, span in self._quartiles if dataset in (None, name)}
        for one in self.results["curves"]:
            if dataset in (None, one["dataset"]):
                short = [column for column in one["columns"].values() if len(column) <= TABLE_OF_A_CURVE]
                values |= {float(value) for column in short for value in column if value is not None}
        for one in self.results["datasets"]:
            if dataset in (None, one["name"]):
                values |= set(_numbers(one)) | set(_numbers(one["excluded"])) | set(_numbers(one["classes"] or {}))
                values |= {one["events"] / one["n"]} if one["events"] is not None and one["n"] else set()
        return Pool(values, spans)

    @cached_property
    def _quartiles(self) -> frozenset[tuple[str, tuple[float, ...]]]:
        """The median of each variable with its quartiles, by dataset."""
        held: dict[tuple[str, str, str], dict[str, float]] = {}
        for one in self.results["description"]:
            place = (one["dataset"], one["variable"], one["level"] or "")
            held.setdefault(place, {})[one["statistic"]] = one["value"]
        asked = ("median", "quantile_25", "quantile_75")
        return frozenset(
            (place[0], tuple(float(found[name]) for name in asked))
            for place, found in held.items()
            if all(found.get(name) is not None for name in asked)
        )

    @cached_property
    def names(self) -> re.Pattern[str]:
        """The names with digits in them: sites, datasets, predictors, levels, classes, the model."""
        release = self.results["release"]
        found = {f"{release['model']} {release['version']}", release["model"], release["version"]}
        found |= {f"{name}{TIED}{version}" for name, version in self.manifest["versions"].items()}
        found |= {f"{name} {version}" for name, version in self.manifest["versions"].items()}
        for one in self.results["datasets"]:
            found |= {one["name"], one["site"], one["site"].split(",")[0], *one["features"], *(one["classes"] or {})}
        for one in self.results["estimates"]:
            found |= set((one["subset"] or "").split("=", 1)) | {one["subset"] or ""}
            found |= {value for value in one["at"].values() if isinstance(value, str)}
        for one in self.results["description"]:
            found |= {one["variable"], one["level"] or ""}
        found |= {entry["name"].replace("../", "") for entry in self.manifest["inputs"]}
        found |= self._names_before
        # A name that is a bare number would hide results.
        return _any_of(name for name in found if re.search(r"\d", name) and re.search(r"[^\d.,]", name))

    @cached_property
    def _names_before(self) -> set[str]:
        """The names with which the previous release is spoken of."""
        before = self._previous
        found = {f"version {before['version']}", before["version"]} if before else set()
        found |= {one[key] for one in before.get("datasets", ()) for key in ("name", "site")}
        found |= {one["name"] for one in before.get("inputs") or ()}
        return found | set((before.get("versions") or {}).values())

    @cached_property
    def words(self) -> re.Pattern[str]:
        """The sentences of results.json that hold digits: methods, reasons, flags and the answers to them."""
        found = {one[name] for one in self.results["estimates"] for name in ("method", "reason")}
        found |= {one[name] for one in self.results["curves"] for name in ("method", "reason")}
        found |= {one[name] for one in self.results["flags"] for name in ("says", "reply")}
        found |= {one["reason"] for one in self.results["acceptance"]}
        sentences = {one.strip().rstrip(".") for one in found if one}
        # A long note may break at the end of a page.
        sentences |= {part for one in sentences for part in re.split(r"[,;] ", one) if " " in part}
        sentences = {one for one in sentences if re.search(r"\d", one)}
        return _any_of(sentences | {one[:1].upper() + one[1:] for one in sentences})

    @cached_property
    def fixed(self) -> re.Pattern[str]:
        """The words with digits that every release prints: those of the templates, and of the captions and findings."""
        found: set[str] = set()
        for path in sorted(material.templates().rglob("*.html")):
            text = re.sub(r"{[{%#].*?[#%}]}|<[^>]*>", "\0", path.read_text(encoding="utf-8"), flags=re.DOTALL)
            found |= {" ".join(run.split()) for run in text.split("\0")}
        for folder in ("figures", "findings"):
            for path in sorted((Path(__file__).parents[1] / folder).rglob("*.py")):
                tree = ast.parse(path.read_text(encoding="utf-8"))
                found |= {str(one.value) for one in ast.walk(tree) if isinstance(one, ast.Constant)}
        sentences = {one.strip(" .,:;") for text in found for one in re.split(r"(?<=[.:;,]) ", text)}
        # Two words at least: a bare number of the code must not hide a result.
        return _any_of(one for one in sentences if re.search(r"\d", one) and re.search(r"[a-z]{2}.*[a-z]", one))


def _any_of(texts: Iterable[str]) -> re.Pattern[str]:
    """Any of these texts, the longest first, with blanks of any kind between the words."""
    ordered = sorted((text for text in texts if text), key=lambda one: (-len(one), one))
    forms = [r"\s+".join(re.escape(word) for word in text.split()) for text in ordered]
    return re.compile(rf"(?<![\w-])(?:{'|'.join(forms)})(?![\w-])") if forms else re.compile(r"(?!)")


def _numbers(row: Mapping[str, Any]) -> Iterator[float]:
    return (float(one) for one in row.values() if isinstance(one, int | float) and not isinstance(one, bool))


def _spans(row: Mapping[str, Any]) -> Iterator[tuple[float, ...]]:
    low, high = row["low"], row["high"]
    if low is not None and high is not None:
        yield (row["value"], low, high)
    if row.get("prediction_low") is not None and row.get("prediction_high") is not None:
        yield (row["value"], row["prediction_low"], row["prediction_high"])


# ---- counting -------------------------------------------------------------------------------------------------------


def count(pages: Pages, source: Source) -> Count:
    """Every number of a document, matched, exempt or neither."""
    tally = _Tally()
    for group in _rows(_without_declared(pages.blocks, tally)):
        _group(group, tally, source)
    for text in pages.margins:
        tally.exempt["heads and feet of pages"] += len(TOKEN.findall(text))
    for text in pages.drawn:
        tokens = TOKEN.findall(text)
        found = sum(source.everything.has(token) for token in tokens)
        tally.matched += found
        tally.exempt["scales of figures"] += len(tokens) - found
    return Count(tally.matched, {name: n for name, n in sorted(tally.exempt.items()) if n}, tuple(tally.unmatched))


def _without_declared(blocks: Sequence[Block], tally: _Tally) -> list[Block]:
    """The blocks without those that the release declares in words: a topic beside its text, in any chapter."""
    kept: list[Block] = []
    inside = False
    for block in blocks:
        if block.path[-1] == "/H2":
            inside = block.path[1:-1].count("/Div") >= DECLARED_DEPTH and block.chapter in NAMES
        elif block.path[:3][-2:] != ("/Div", "/Div"):
            inside = False
        if inside:
            tally.exempt["declared texts"] += len(TOKEN.findall(block.text))
        else:
            kept.append(block)
    return kept


def _rows(blocks: Sequence[Block]) -> Iterator[list[Block]]:
    """The cells of a row together, every other block by itself."""
    held: list[Block] = []
    for block in blocks:
        if held and not (block.row and block.row == held[0].row):
            yield held
            held = []
        held.append(block)
    if held:
        yield held


def _group(group: Sequence[Block], tally: _Tally, source: Source) -> None:
    """The blocks of a row: a value and the cell of its interval are one, and a head names the site of what follows."""
    place = 0
    pool = source.everything
    while place < len(group):
        block = group[place]
        if block.kind == "/TH":
            pool = source.of(block.text)
        following = group[place + 1] if place + 1 < len(group) else None
        bounds = BOUNDS.fullmatch(following.text) if following and following.kind == block.kind == "/TD" else None
        if bounds and following and TOKEN.fullmatch(block.text.rstrip("%")):
            tokens = (block.text.rstrip("%"), bounds[1], bounds[2])
            if pool.has_span(tokens):
                tally.matched += 3
            else:
                _miss(tally, f"{block.text} {following.text}", block)
            place += 2
            continue
        _block(block, pool, tally, source)
        place += 1


def _block(block: Block, pool: Pool, tally: _Tally, source: Source) -> None:
    """One block: what is exempt is taken out of its text, what remains must be found."""
    chapter = NAMES.get(block.chapter, "")
    whole = _whole_class(block, chapter)
    if whole:
        tally.exempt[whole] += len(TOKEN.findall(block.text))
        return
    text = block.text
    if block.kind == "/H1" or not block.chapter:
        text = _masked(re.compile(r"^\d{1,2}(?=\s?[A-Z])"), text, tally.exempt, "numbers of chapters")
    for name, form in BY_FORM:
        text = _masked(form, text, tally.exempt, name)
    said: Counter[str] = Counter()
    text = _masked(source.words, text, said, "words")
    tally.matched += said["words"]
    text = _masked(source.fixed, text, tally.exempt, "fixed words of the page")
    text = _masked(source.names, text, tally.exempt, "names")
    for found in INTERVAL.finditer(text):
        if pool.has_span((found[1], found[2], found[3])) or (
            found[1] in EXPECTED and pool.has_bounds((found[2], found[3]))
        ):
            tally.matched += 3
        else:
            _miss(tally, found[0], block)
    text = INTERVAL.sub(" · ", text)
    for token in TOKEN.findall(text):
        if pool.has(token):
            tally.matched += 1
        elif chapter == "nomogram" and block.row:
            tally.exempt["settings"] += 1
        else:
            _miss(tally, token, block)


def _whole_class(block: Block, chapter: str) -> str:
    """The class of a block all of whose numbers are exempt."""
    if block.path[-1] == "/Page":
        return "page numbers"
    if block.kind == "/Lbl":
        return "numbers of lists"
    if chapter in CHECKLISTS and block.row:
        return "items of checklists"
    if chapter == "model_card" and block.kind in ("/LBody", "/LI"):
        return "declared texts"
    return "" if block.kind in ("/H1", "/Caption") else BY_CHAPTER.get(chapter, "")


def _masked(form: re.Pattern[str], text: str, counter: Counter[str], name: str) -> str:
    """The text without what has this form, whose numbers are counted."""

    def taken(found: re.Match[str]) -> str:
        counter[name] += max(len(TOKEN.findall(found[0])), 1)
        return "·"

    return form.sub(taken, text)


def _miss(tally: _Tally, text: str, block: Block) -> None:
    tally.unmatched.append(Unmatched(text, block.page + 1, block.text[:160]))
