"""What `dossier init` writes: an example with tiny simulated tables, or the release of tables that are there."""

from __future__ import annotations

import math
import random
import shutil
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

from dossier.core import checklist, errors, material, toml_text, tripod
from dossier.core.faults import locations
from dossier.core.release import Release
from dossier.outputs import output
from dossier.reading import letters
from dossier.reading.declared import declared
from dossier.reading.given_tables import Hint
from dossier.reading.predictors import slug
from dossier.words import entries

SEED = 20261001
ROWS = 200

RELEASE = (material.templates() / "init" / "release.toml").read_text(encoding="utf-8")
"""The release with a comment beside every key, but for the rows of the checklist that are open."""

TEXT, NONE = '"…"', '{ none = "…" }'
WARDS = ("medicine", "surgery", "other")


def files() -> dict[str, bytes]:
    """Every file of the example release by its name; the same bytes every time."""
    draw = random.Random(SEED)
    return {
        "release.toml": (RELEASE + "\n".join(_open_rows(set(tomllib.loads(RELEASE)["statements"]))) + "\n").encode(),
        "development.csv": _table(draw, "d", 0.0, 0.0, ""),
        "internal.csv": _table(draw, "i", 0.0, 0.0, ""),
        "hospital-1.csv": _table(draw, "h", 6.0, 0.4, "-1"),
    }


def _open_rows(stated: set[str]) -> list[str]:
    """A line for every other row that only a person can answer: filling them in is the work plan."""
    answered = stated | set(checklist.ANSWERED_BY) - {"26"}
    rows = [item for item in tripod.ITEMS if item.number not in answered and item.applies != "development"]
    width = max(len(item.number) for item in rows)
    return [
        f"# {item.number:<{width}} = {NONE if item.conditional else TEXT}  # {item.topic}: "
        f"{item.asks[:1].lower()}{item.asks[1:]}"
        for item in rows
    ]


def _table(draw: random.Random, prefix: str, older: float, sicker: float, unknown: str) -> bytes:
    """`older` shifts the age; `sicker` is what the model does not know about the place, `unknown` a missing cell."""
    rows = [_row(draw, f"{prefix}{number:03d}", older, sicker, unknown) for number in range(1, ROWS + 1)]
    return "\n".join(["case_id,age,glucose,ward,outcome,risk,risk_previous", *rows, ""]).encode()


def _row(draw: random.Random, case: str, older: float, sicker: float, unknown: str) -> str:
    age = min(95, max(18, round(draw.gauss(62 + older, 14))))
    glucose = round(max(3.0, draw.gauss(7.0, 2.0)), 1)
    ward = draw.choices(WARDS, weights=(5, 3, 2))[0]
    logit = -1.0 + 0.05 * (age - 62) + 0.3 * (glucose - 7.0) + (0.6 if ward == "medicine" else 0.0)
    outcome = int(draw.random() < _risk(logit + sicker))
    previous = _risk(0.7 * logit + draw.gauss(0.0, 0.4))
    recorded = unknown if draw.random() < 0.03 else f"{glucose:.1f}"
    return f"{case},{age},{recorded},{ward},{outcome},{_risk(logit):.4f},{previous:.4f}"


def _risk(logit: float) -> float:
    return 1.0 / (1.0 + math.exp(-logit))


# ---- of tables that are there ---------------------------------------------------------------------------------------

TODO: Mapping[str, Mapping[str, str]] = entries("pages")["to_be_filled"]
"""What is said beside a key that only a person can fill, by its table."""
NOT_GIVEN: Mapping[str, Mapping[str, str]] = entries("pages")["not_given"]
"""The line of a key that no option gives, by its table: of a known outcome, and of one by a horizon."""
ONE_EACH = ("site_column", "date", "id", "cluster")
"""The keys that name a column of a [[dataset]]."""


def written(folder: Path, source: Path, release: Release, hints: Mapping[str, tuple[Hint, ...]]) -> Iterator[Path]:
    """Write the release of tables that lie in `source`, with copies of them; and give the path of each file."""
    # What the copy of each table is called: as the table, but for letters that no page prints and second names.
    names: dict[str, str] = {}
    for number, dataset in enumerate(release.dataset, start=1):
        path = Path(dataset.file)
        own = path.name if not letters.strange(path.name, name=True) else f"{slug(path.stem) or 'table'}{path.suffix}"
        names[dataset.file] = own if own not in names.values() else f"{path.stem}-{number}{''.join(path.suffixes[-1:])}"
    text = "\n".join(_lines(release, names, hints)).encode()
    found = declared(text)
    if found.faults:
        raise errors.ReleaseError(found.faults)
    with output.reported(folder):
        output.refuse_what_is_not_empty(folder)
        folder.mkdir(parents=True, exist_ok=True)
        for file, name in names.items():
            copied = shutil.copytree if (source / file).is_dir() else shutil.copyfile
            yield Path(copied(source / file, folder / name))
        (folder / "release.toml").write_bytes(text)
        yield folder / "release.toml"


def refuse_within(folder: Path, out: Path) -> None:
    """Refuse a place for a release that is OUT, or lies inside: OUT holds what its manifest lists, and nothing else."""
    target, inside = folder.resolve(), out.resolve()
    if inside == target or inside in target.parents or target in inside.parents:
        raise errors.ReleaseError.one("release_in_out", locations.Option("--write-release"), folder=str(folder))
    with output.reported(folder):
        output.refuse_what_is_not_empty(folder)


def _lines(release: Release, names: Mapping[str, str], hints: Mapping[str, tuple[Hint, ...]]) -> Iterator[str]:
    given = release.model_dump(by_alias=True, exclude_unset=True, exclude_none=True)
    thresholds, not_given = given.pop("thresholds", {}), NOT_GIVEN["by_horizon" if "horizon" in given else "known"]
    if "horizon" in given:
        # The keys of the first horizon stand in the place of two tables.
        given["prediction"].pop("column")
        given["outcome"]["event"] = given["outcome"].pop("column")
        given["horizon"] = [{**each, "thresholds": thresholds} for each in given["horizon"]]
    else:
        given["thresholds"] = thresholds
    yield "# Only a person can fill in what is marked TODO, and take or leave the lines behind a #. Every key that"
    yield "# there is stands in what dossier init writes without --table; dossier check says what is open."
    for name, table in given.items():
        for each in table if isinstance(table, (list, tuple)) else (table,):
            if name == "prediction" and not each:
                continue
            is_list = isinstance(table, (list, tuple))
            own = {**each, "file": names[each["file"]]} if name == "dataset" else each
            own.pop("outside", None)
            yield ""
            for line in toml_text.lines(name, own, is_list):
                todo = TODO.get(name, {}).get(line.partition(" = ")[0])
                # The name of the outcome was made of its column.
                is_open = name == "outcome" or "not stated" in line or "[]" in line
                yield f"{line}  # {todo}" if todo is not None and is_open else line
            if name in not_given:
                yield not_given[name]
            if name == "dataset":
                yield from _suggested(hints.get(each["name"], ()))
    for key in ("subgroup", "rival"):
        columns = {hint.column: hint.holds for each in hints.values() for hint in each if hint.key == key}
        for column, holds in columns.items():
            named = [f"# name = {toml_text.value(column)}"] if key == "rival" else []
            yield from ("", f"# [[{key}]]", *named, f"# column = {toml_text.value(column)}  # {holds}")
    yield from ("", "[statements]", *_open_rows(set()), "")


def _suggested(hints: tuple[Hint, ...]) -> Iterator[str]:
    """What the columns of a table may be, as lines without force."""
    for key in ONE_EACH:
        for hint in hints:
            if hint.key == key:
                yield f"# {key} = {toml_text.value(hint.column)}  # {hint.holds}"
    if free := [hint for hint in hints if hint.key == "predictors"]:
        yield f"# predictors = {toml_text.value([hint.column for hint in free])}"
        yield from (f"#   {hint.column}: {hint.holds}" for hint in free)
