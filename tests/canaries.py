"""A release in which every value is one that is found nowhere else, and a search of everything that a build writes."""

from __future__ import annotations

import json
import re
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pypdf import PdfReader

from tests.smallest import HEAD

RELEASE = f"""{HEAD}
rival = "risk_previous"
rival_name = "the old rule"
[[rival]]
name = "the vendor"
column = "risk_vendor"
[severity]
weights = [[0, 0.6], [0.3, 0]]
[thresholds]
declared = [0.3, 0.6]
range = [0.1, 0.7]
rationale = "Why."
[resampling]
bootstrap = 5
permutations = 5
[[subgroup]]
column = "sex"
[[subgroup]]
column = "ward"
[readers]
labels = "labels.csv"
confidence = "confidence.csv"
dataset = "large"
case = "case_id"
"""

PEOPLE = """
[[readers]]
labels = "labels.csv"
confidence = "confidence.csv"
dataset = "large"
case = "case_id"
[[readers]]
labels = "labels_made.csv"
confidence = "confidence_made.csv"
dataset = "made"
case = "case_id"
[reader_study]
file = "study.csv"
design = "paired"
[utility]
gamma = [1, 0.5]
tau_from = ["confidence", "persuasion"]
relevance = { from = "raters" }
cost = "cost"
benefit = "benefit"
"""
"""In place of the one table of readers: readers of two datasets, a study with advice and groups, and weighted utility.

Tests that need nothing of it are built faster without.
"""

SITES = {"made": ("development", 300), "own": ("internal", 200), "large": ("external", 240), "rare": ("external", 120)}
SITES |= {"middle": ("external", 200), "tiny": ("external", 8)}


@dataclass(frozen=True)
class Canaries:
    """The values that were planted, by what they are."""

    identifiers: tuple[str, ...]
    dates: tuple[str, ...]
    predictors: tuple[str, ...]
    risks: tuple[str, ...]
    rare_words: tuple[str, ...]
    """Categories of fewer than ten patients of their dataset."""
    places: tuple[str, ...]
    """Folders of the machine."""
    readers: tuple[str, ...]
    """Who read, and the group of one reader."""

    @property
    def days(self) -> tuple[str, ...]:
        """The dates without the time."""
        return tuple(dict.fromkeys(date[:10] for date in self.dates))


def plant(folder: Path, policy: str, *, people: bool = False) -> Canaries:
    """Write the release; every number of a patient has seven decimals, more than any place on a page has.

    With `people` more of them read and decide: `PEOPLE`.
    """
    rng, of_vendor, of_people = (np.random.default_rng(seed) for seed in (20261001, 20261002, 20261003))
    folder.mkdir(parents=True)
    made: dict[str, list[str]] = {"identifiers": [], "dates": [], "predictors": [], "risks": []}
    words = ["Quokkaward", "Zebuward"]
    text = (RELEASE[: RELEASE.index("[readers]")] + PEOPLE if people else RELEASE) + policy
    for number, (name, (role, rows)) in enumerate(SITES.items()):
        text += f'[[dataset]]\nname = "{name}"\nrole = "{role}"\nfile = "{name}.csv"\nid = "case_id"\n'
        text += 'predictors = ["age", "glucose", "ward", "fever"]\n'
        text += 'date = "seen"\nperiods = "quarter"\n' if role == "external" else ""
        lines = ["case_id,seen,age,glucose,ward,fever,sex,note,outcome,risk,risk_previous,risk_vendor,cost,benefit"]
        score = rng.normal(-2.6 if name == "rare" else -0.4, 1.3, rows)
        happened = rng.random(rows) < 1 / (1 + np.exp(-score))
        if name == "rare":
            happened = np.arange(rows) % 20 == 7
        for row in range(rows):
            identifier = f"CANARY{number}X{row:05d}"
            seen = f"19{number + 10}-{row % 12 + 1:02d}-{row % 28 + 1:02d}T{row % 24:02d}:{row % 60:02d}"
            age = f"{rng.uniform(30, 90):.7f}"
            glucose = f"{rng.uniform(70, 180):.7f}"
            risk = f"{1 / (1 + np.exp(-score[row] - rng.normal(0, 0.3))):.7f}"
            rival = f"{1 / (1 + np.exp(-score[row] - rng.normal(0, 1.0))):.7f}"
            vendor = f"{1 / (1 + np.exp(-score[row] - of_vendor.normal(0, 0.6))):.7f}"
            ward = words[0] if row in (5, 50) else words[1] if row in (6, 60, 70) else ("north", "south")[row % 3 == 0]
            gap = (row % 97 == 1 and number > 0) or (row % 4 == 1 and name == "middle")
            fever = "yes" if row % 31 == 3 else "no"
            sex = "f" if row % 2 else "m" if row % 7 else ""
            outcome = "" if row % 83 == 80 and name != "tiny" else str(int(happened[row]))
            lines.append(
                f"{identifier},{seen},{age},{'' if gap else glucose},{ward},{fever},{sex},NOTE{number}{row:04d}Q,"
                f"{outcome},{risk},{rival},{vendor},{of_people.uniform(0, 1):.7f},{of_people.uniform(0, 1):.7f}"
            )
            made["identifiers"] += [identifier, f"NOTE{number}{row:04d}Q"]
            made["dates"].append(seen)
            made["predictors"] += [age] if gap else [age, glucose]
            made["risks"] += [risk, rival, vendor]
            made["predictors"] += lines[-1].split(",")[-2:]
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")
    _readers(folder, rng, "large", "")
    _readers(folder, of_people, "made", "_made")
    _study(folder, of_people)
    (folder / "release.toml").write_text(text)
    places = (str(folder), str(folder.resolve().parent), str(Path.home() / "dossier"))
    return Canaries(
        **{name: tuple(dict.fromkeys(values)) for name, values in made.items()},
        rare_words=tuple(words),
        places=places,
        readers=(*RATERS, *STUDIED, *GROUPS[1:]),
    )


RATERS = ("Dr Axolotl", "Dr Bandicoot", "Dr Capybara")
STUDIED = ("Dr Dugong", "Dr Echidna", "Dr Fossa", "Dr Gharial", "Dr Hoatzin")
GROUPS = ("resident", "Numbatologist")
"""The second is that of one reader."""


def _readers(folder: Path, rng: np.random.Generator, dataset: str, suffix: str) -> None:
    cases = [line.split(",") for line in (folder / f"{dataset}.csv").read_text().splitlines()[1:]]
    for name in ("labels", "confidence"):
        lines = [",".join(("case_id", *RATERS))]
        for case in cases:
            right = case[8] or "0"
            given = [right if rng.random() < 0.8 else str(1 - int(right)) for _ in range(3)]
            sure = [f"{rng.choice([0.5, 0.75, 1.0])}" for _ in range(3)]
            lines.append(",".join([case[0], *(given if name == "labels" else sure)]))
        (folder / f"{name}{suffix}.csv").write_text("\n".join(lines) + "\n")


def _study(folder: Path, rng: np.random.Generator) -> None:
    """Each reader decides each case without and with the model, whose advice is given."""
    cases = [line.split(",") for line in (folder / "large.csv").read_text().splitlines()[1:41]]
    lines = ["reader,case,truth,unaided,aided,group,advice"]
    for reader in STUDIED:
        for case in cases:
            truth = int(case[8] or "0")
            alone, with_it, advice = (truth if rng.random() < share else 1 - truth for share in (0.7, 0.8, 0.85))
            lines.append(f"{reader},{case[0]},{truth},{alone},{with_it},{GROUPS[reader == STUDIED[-1]]},{advice}")
    (folder / "study.csv").write_text("\n".join(lines) + "\n")


# ---- the search -----------------------------------------------------------------------------------------------------


def texts(out: Path) -> dict[str, str]:
    """All that can be read in a folder: files as they are; of a PDF every stream, its pages, and its metadata."""
    found: dict[str, str] = {}
    for path in sorted(path for path in out.rglob("*") if path.is_file()):
        name = path.relative_to(out).as_posix()
        found[name] = path.read_bytes().decode("latin-1")
        if path.suffix == ".pdf":
            found |= {f"{name}: {part}": text for part, text in _of_pdf(path).items()}
    return found


def _of_pdf(path: Path) -> dict[str, str]:
    reader = PdfReader(path)
    parts = {"pages": "\n".join(page.extract_text() for page in reader.pages), "metadata": str(reader.metadata)}
    raw = path.read_bytes()
    for number, begin in enumerate(re.finditer(rb"(?<!end)stream\r?\n", raw)):
        coded = raw[begin.end() : raw.index(b"endstream", begin.end())]
        try:
            parts[f"stream {number}"] = zlib.decompress(coded).decode("latin-1")
        except zlib.error:
            # It is not compressed, and read with the file.
            parts[f"stream {number}"] = coded.decode("latin-1")
    return parts


NUMBER = re.compile(r"\d+\.\d+")


def leaks(found: dict[str, str], planted: tuple[str, ...]) -> list[str]:
    """Where any of these values stands; a number counts as a whole, not as a part of a longer one."""
    numbers = {text for text in planted if NUMBER.fullmatch(text)}
    by_start: dict[str, list[str]] = {}
    for text in planted:
        if text not in numbers:
            by_start.setdefault(text[:6], []).append(text)
    reported = []
    for name, text in found.items():
        # Thousands of words share a few beginnings: most texts hold none of them.
        words = [word for start, same in by_start.items() if start in text for word in same]
        reported += [f"{word} in {name}" for word in words if word in text]
        reported += [f"{number} in {name}" for number in numbers & set(NUMBER.findall(text))]
    return sorted(reported)


def numbers_of(document: object) -> set[float]:
    """Every number of a parsed results.json."""
    if isinstance(document, dict):
        return set().union(*map(numbers_of, document.values())) if document else set()
    if isinstance(document, list):
        return set().union(*map(numbers_of, document)) if document else set()
    return {float(document)} if isinstance(document, int | float) and not isinstance(document, bool) else set()


def results_of(out: Path) -> dict[str, object]:
    """results.json of a build."""
    found: dict[str, object] = json.loads((out / "results.json").read_text())
    return found
