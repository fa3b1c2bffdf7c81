"""What a release declares before its data are opened, under one hash; and what of it was changed since.

Sealed are the criteria, the thresholds, the subgroups, the intended use, what weighs errors and benefits and the
limits that stop the model, and what they speak of: the model, its version, the outcome and the level of the intervals.
A value that is as it is without being declared is left out, so that to write a default down changes nothing; neither
does the order of criteria and subgroups.
"""

from __future__ import annotations

import datetime
import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from dossier.core.errors import ReleaseError
from dossier.core.faults.locations import Key
from dossier.core.release import Release
from dossier.core.types import Seal, SealChange, Sealed

SEAL = "seal.json"
WHERE = Key("release", "sealed")
SCHEMA: Literal["dossier-seal/1"] = "dossier-seal/1"
LISTS: tuple[Sealed, ...] = ("acceptance", "subgroup")
TABLES: tuple[Sealed, ...] = get_args(Sealed)
OF_THE_MODEL = ("model", "version", "level")


class SealFile(BaseModel):
    """A seal as its file holds it."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

    schema_: Literal["dossier-seal/1"] = Field(alias="schema")
    sealed_on: datetime.date
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    declared: Mapping[str, JsonValue]


def declared(release: Release) -> dict[str, Any]:
    """What of a release is sealed, as JSON holds it."""
    plain = release.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    whole = release.release.model_dump(mode="json")
    return {
        "release": {name: whole[name] for name in OF_THE_MODEL},
        "outcome": {"name": release.outcome.name},
        "thresholds": plain.get("thresholds", {}),
        **{name: plain.get(name, {}) for name in ("severity", "utility", "h_accuracy", "intended_use")},
        "care": {name: value for name, value in plain.get("care", {}).items() if name == "stop"},
        **{name: sorted(plain.get(name, ()), key=canonical) for name in LISTS},
    }


def canonical(value: object) -> str:
    """A value in the one way of JSON in which it is hashed: keys in order, no blanks, UTF-8."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def sha256(sealed: Mapping[str, Any], day: datetime.date) -> str:
    """The hash of what is sealed and of the day, so that neither can be another under the same hash."""
    return hashlib.sha256(canonical({"declared": sealed, "sealed_on": day.isoformat()}).encode()).hexdigest()


def text(sealed: Mapping[str, Any], day: datetime.date) -> bytes:
    """The file of a seal that is set on a day."""
    content = {"schema": SCHEMA, "sealed_on": day.isoformat(), "sha256": sha256(sealed, day), "declared": sealed}
    return (json.dumps(content, ensure_ascii=False, allow_nan=False, indent=1) + "\n").encode()


def seal(content: bytes, name: str, release: Release) -> Seal:
    """The seal that a file holds, held against a release; a ReleaseError says why it is none of it."""
    try:
        found = SealFile.model_validate_json(content)
    except ValidationError:
        raise ReleaseError.one("not_a_seal", WHERE, file=name) from None
    if set(found.declared) != set(TABLES) or content != text(found.declared, found.sealed_on):
        raise ReleaseError.one("seal_altered", WHERE, file=name)
    about = found.declared["release"]
    model = about.get("model") if isinstance(about, Mapping) else None
    if model != release.release.model:
        raise ReleaseError.one("seal_of_another_model", WHERE, file=name, model=release.release.model)
    now = declared(release)
    return Seal(name, found.sha256, found.sealed_on, sha256(now, found.sealed_on), tuple(_changes(found.declared, now)))


def _changes(then: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[SealChange]:
    for name in TABLES:
        before, after = _parts(then[name]), _parts(now[name])
        for part in sorted({*before, *after}):
            if before[part] != after[part]:
                yield SealChange(name, part, before[part], after[part])


def _parts(table: object) -> Counter[str]:
    """What a table consists of, each with how often: a key with its value, or an entry of a list."""
    if isinstance(table, Mapping):
        return Counter(canonical({key: value}) for key, value in table.items())
    return Counter(canonical(record) for record in table) if isinstance(table, list) else Counter([canonical(table)])
