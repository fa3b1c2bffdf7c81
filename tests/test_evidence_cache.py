"""Evidence that is kept: what it depends on, that it is what is computed, and that nothing else is taken for it."""

from __future__ import annotations

import datetime
import hashlib
import importlib.metadata
import os
import tempfile
import types
import typing
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from pydantic import BaseModel

from dossier import evaluate, reading
from dossier.command_line import cli
from dossier.core.release import About, Release
from dossier.core.types import Study
from dossier.evaluate import disclosure, inputs
from dossier.record import evidence_cache, results
from dossier.record.evidence_cache import EvidenceCache
from tests.reference.built import hurried, study
from tests.smallest import HEAD, QUICK, SITE

PRINTED = {
    *("release.model", "release.version", "release.date", "release.owner", "release.artifact_sha256"),
    *("release.tested_version", "release.tester", "release.sealed", "release.previous"),
    *("outcome.name", "outcome.horizon", "thresholds.rationale"),
    *("acceptance.declared_on", "acceptance.reason", "acceptance.caution_reason"),
    *("intended_use.for_", "intended_use.not_for", "intended_use.users", "intended_use.decision", "intended_use.verb"),
    *("care.threshold_owner", "care.monitoring", "care.review", "care.stop_rule"),
    *("care.stop.measure", "care.stop.at_least", "care.stop.at_most", "care.stop.periods"),
    *("model_card.architecture", "model_card.regulatory_status", "model_card.inputs", "model_card.workflow"),
    *("model_card.failure_modes", "model_card.out_of_distribution", "model_card.risks", "model_card.updates"),
    *("model_card.development_data", "signatory.name", "signatory.role", "signatory.meaning", "signatory.date"),
    *("revision.number", "revision.date", "revision.change", "reply.flag", "reply.dataset", "reply.says"),
    *("severity.source", "severity.rationale", "severity.set_by", "severity.declared_on"),
    *("h_accuracy.acceptable.source", "statements"),
}
"""The keys that only pages depend on; a change of any other one computes everything anew."""


def models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    """The tables that the type of a key allows, in lists and beside other types."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in typing.get_args(annotation):
        yield from models_in(inner)


def keys(model: type[BaseModel], before: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every key of a table, those of tables in it included; of [statements], which has any key, its own name."""
    for name, field in model.model_fields.items():
        inner = [found for found in models_in(field.annotation) if name != "statements"]
        if inner:
            yield from (path for found in inner for path in keys(found, (*before, name)))
        else:
            yield (*before, name)


KEYS = sorted(set(keys(Release)))


def another(value: Any, annotation: Any) -> Any:
    """Another value for a key; what it is does not matter, for no table is read again."""
    if isinstance(value, datetime.date) or (value is None and datetime.date in typing.get_args(annotation)):
        return datetime.date(2001, 2, 3)
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, float):
        return value / 2 + 0.125
    if isinstance(value, tuple):
        return (*value, "another")
    if isinstance(value, (dict, types.MappingProxyType)):
        return {**value, "another": ("another",)}
    return f"{value or ''} another".strip()


def changed(table: Any, path: tuple[str, ...]) -> Any:
    """A table, or the first of a list, with another value of a key; an empty table is filled with this key alone."""
    name, *rest = path
    field = type(table).model_fields[name]
    value: Any = getattr(table, name, None)
    if not rest:
        other = "b" * 64 if name == "artifact_sha256" else another(value, field.annotation)
        return table.model_copy(update={name: other})
    kinds = [kind for kind in models_in(field.annotation) if rest[0] in kind.model_fields]
    is_list = isinstance(value, tuple)
    inner: Any = next(iter(value), None) if is_list else value
    inner = inner if type(inner) in kinds else kinds[0].model_construct()
    new = changed(inner, tuple(rest))
    return table.model_copy(update={name: (new, *value[1:]) if is_list else new})


def with_another(study: Study, path: tuple[str, ...]) -> Study:
    return replace(study, release=changed(study.release, path))


def key_of(study: Study) -> str:
    return evidence_cache.key(inputs.of(disclosure.without_what_tells(study)))


@pytest.fixture(scope="module")
def knee() -> Study:
    return study("fixtures/knee")


DECLARED = """
[[acceptance]]
measure = "auroc"
dataset = "site"
at_least = 0.5
[severity]
weights = [[0, 0.6], [0.3, 0]]
[h_accuracy]
acceptable = { value = 0.75, source = "A survey" }
[intended_use]
for = "Adults."
[care]
review = "Every year."
stop = [{ measure = "oe_ratio", at_least = 0.5, at_most = 2.0, periods = 2 }]
[model_card]
risks = "None known."
[[reply]]
flag = "few_sites"
dataset = "pooled"
says = "It is the only one."
[[signatory]]
name = "A. Name"
role = "statistician"
meaning = "I checked it."
[[revision]]
number = "0"
date = 2020-01-01
change = "The first."
[statements]
3a = "Why."
"""


def folder_of(folder: Path, text: str = "", rows: int = 80) -> Path:
    """A release of one site."""
    rng = np.random.default_rng(7)
    risk = rng.uniform(0.05, 0.95, rows).round(3)
    outcome = (rng.uniform(size=rows) < risk).astype(int)
    lines = [f"{first},{other}" for first, other in zip(risk, outcome, strict=True)]
    (folder / "site.csv").write_text("\n".join(["risk,outcome", *lines]) + "\n")
    (folder / "release.toml").write_text(HEAD + QUICK + SITE + text)
    return folder


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Study:
    return hurried(reading.study(folder_of(tmp_path_factory.mktemp("small"), DECLARED)))


@pytest.fixture(scope="module")
def filled(small: Study, tmp_path_factory: pytest.TempPathFactory) -> EvidenceCache:
    """The cache after the small release was evaluated once."""
    cache = EvidenceCache(tmp_path_factory.mktemp("cache") / "dossier")
    evaluate.evidence(small, cache=cache)
    return cache


def text_of(study: Study, cache: EvidenceCache | None = None) -> bytes:
    return results.of(evaluate.evidence(study, cache=cache)).text()


@pytest.fixture
def never_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing may be computed."""

    def refuse(*what: object) -> None:
        raise AssertionError("computed")

    monkeypatch.setattr(evaluate, "_complete", refuse)


# ---- what evidence depends on ---------------------------------------------------------------------------------------


def test_every_printed_key_is_a_key() -> None:
    assert {".".join(path) for path in KEYS} >= PRINTED


@pytest.mark.parametrize("path", KEYS, ids=".".join)
def test_every_key_that_is_not_only_printed_makes_everything_anew(knee: Study, path: tuple[str, ...]) -> None:
    other = with_another(knee, path)
    assert other.release != knee.release
    assert (key_of(other) == key_of(knee)) == (".".join(path) in PRINTED)


@pytest.mark.parametrize("path", [path for path in KEYS if ".".join(path) in PRINTED], ids=".".join)
def test_a_printed_key_gives_the_bytes_that_are_computed_without_a_cache(
    small: Study, filled: EvidenceCache, path: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    if path == ("statements",):
        other = replace(small, statements={**small.statements, "3a": "Why, in other words."})
    else:
        other = with_another(small, path)
    expected = text_of(other)
    monkeypatch.setattr(evaluate, "_complete", None)
    found = text_of(other, filled)
    assert found == expected


def test_what_measures_see_holds_no_printed_text(knee: Study) -> None:
    # Else a measure could depend on a text that is not in the key.
    seen = inputs.of(knee)
    assert (seen.inputs, seen.flags, seen.statements, seen.previous, seen.tables, seen.seal) == (
        (),
        (),
        {},
        None,
        (),
        None,
    )
    assert seen.release.release == About(model="-", version="-", owner="-", level=0.95, seed=knee.release.release.seed)


def test_one_number_in_a_table_makes_everything_anew(small: Study) -> None:
    table = small.datasets[0]
    assert table.risk is not None
    bent = table.risk.copy()
    bent[3] = np.nextafter(bent[3], 1)
    assert key_of(replace(small, datasets=(replace(table, risk=bent),))) != key_of(small)


@pytest.mark.parametrize("name", ["record/evidence_cache.py", "metrics/calibration.py"])
def test_another_line_of_our_code_makes_everything_anew(
    small: Study, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = key_of(small)
    read = Path.read_bytes

    def with_a_line(path: Path) -> bytes:
        return read(path) + (b"#" if path.as_posix().endswith(f"dossier/{name}") else b"")

    monkeypatch.setattr(Path, "read_bytes", with_a_line)
    evidence_cache._program.cache_clear()
    try:
        assert key_of(small) != before
    finally:
        monkeypatch.undo()
        evidence_cache._program.cache_clear()
    assert key_of(small) == before


def test_another_version_of_any_package_makes_everything_anew(small: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    before = key_of(small)
    known = list(importlib.metadata.distributions())

    class Another:
        name, version = "numpy", "0.0"

    monkeypatch.setattr(evidence_cache, "distributions", lambda: [*known[1:], Another()])
    evidence_cache._program.cache_clear()
    try:
        assert key_of(small) != before
    finally:
        evidence_cache._program.cache_clear()


def test_values_that_look_alike_are_not_taken_for_each_other() -> None:
    alike: list[Any] = [
        *(1, 1.0, True, "1", None, "None", ("1",), ("1", ()), (("1",), ()), {"1": ()}),
        *(np.array([1.0]), np.array([1]), np.array([[1.0]]), np.array([-0.0]), np.array([0.0]), np.zeros(0)),
    ]
    seen = set()
    for value in alike:
        parts = bytearray()
        evidence_cache._add(value, parts.extend)
        seen.add(bytes(parts))
    assert len(seen) == len(alike)


def test_a_kind_of_value_that_nobody_thought_of_is_refused() -> None:
    with pytest.raises(TypeError, match="set is nothing"):
        evidence_cache._add({1}, lambda part: None)
    with pytest.raises(TypeError, match="objects"):
        evidence_cache._add(np.array([None]), lambda part: None)


# ---- what is kept ---------------------------------------------------------------------------------------------------


def entries(cache: EvidenceCache) -> list[Path]:
    return sorted(cache.folder.glob("*.json"))


def own(cache: EvidenceCache, folder: Path) -> EvidenceCache:
    """A copy of a cache, to be damaged."""
    copy = EvidenceCache(folder / "dossier")
    copy.folder.mkdir(mode=0o700)
    for path in entries(cache):
        target = copy.folder / path.name
        target.write_bytes(path.read_bytes())
        target.chmod(0o600)
    return copy


def test_nothing_is_computed_twice(small: Study, filled: EvidenceCache, never_computed: None) -> None:
    pairs: list[tuple[str, str]] = []
    evaluate.evidence(small, progress=lambda stage, name, done, total: pairs.append((stage, name)), cache=filled)
    assert pairs == [("evaluate", "kept from an earlier build")]


def test_it_is_a_results_json_that_nobody_else_may_read(filled: EvidenceCache) -> None:
    (path,) = entries(filled)
    assert results.read(path.read_bytes()).release.model == "-"
    assert path.stat().st_mode & 0o777 == 0o600
    assert filled.folder.stat().st_mode & 0o777 == 0o700


def test_what_is_protected_is_not_kept(tmp_path: Path) -> None:
    policy = "[disclosure]\nminimum_cell = 10\n"
    protected = hurried(reading.study(folder_of(tmp_path, policy, 60)))
    cache = EvidenceCache(tmp_path / "cache")
    shown = results.of(evaluate.evidence(protected, cache=cache))
    (path,) = entries(cache)
    kept = results.read(path.read_bytes())
    assert kept.estimates == shown.estimates
    assert kept.curves == shown.curves
    assert kept.description == shown.description
    assert any(row.status == "withheld" for row in kept.estimates)


def damage(how: str, path: Path) -> None:
    """Make an entry one that is not to be taken."""
    content = path.read_bytes()
    if how == "a digit":
        position = content.index(b'"value": 0.') + len(b'"value": 0.')
        path.write_bytes(
            content[:position] + (b"7" if content[position : position + 1] != b"7" else b"6") + content[position + 1 :]
        )
    elif how == "half":
        path.write_bytes(content[: len(content) // 2])
    elif how == "readable":
        path.chmod(0o644)
    elif how == "link":
        path.rename(path.with_suffix(".elsewhere"))
        path.symlink_to(path.with_suffix(".elsewhere"))
    elif how == "folder":
        path.unlink()
        path.mkdir()
    elif how == "pipe":
        path.unlink()
        os.mkfifo(path, 0o600)
    elif how == "no results":
        path.unlink()
        foreign = b'{"schema": "another"}\n'
        key = path.stem.partition("-")[0]
        other = path.with_name(f"{key}-{hashlib.sha256(foreign).hexdigest()}.json")
        other.write_bytes(foreign)
        other.chmod(0o600)
    elif how == "folder of all":
        path.parent.chmod(0o755)


@pytest.mark.parametrize(
    "how", ["a digit", "half", "readable", "link", "folder", "pipe", "no results", "folder of all"]
)
def test_what_is_damaged_or_of_others_is_computed_again(
    small: Study, filled: EvidenceCache, tmp_path: Path, how: str
) -> None:
    cache = own(filled, tmp_path)
    key = key_of(small)
    assert cache.found(key) is not None
    damage(how, entries(cache)[0])
    assert cache.found(key) is None
    assert text_of(small, cache) == text_of(small)


def test_what_belongs_to_another_user_is_computed_again(
    small: Study, filled: EvidenceCache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = own(filled, tmp_path)
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    assert cache.found(key_of(small)) is None


def test_a_damaged_entry_is_replaced(small: Study, filled: EvidenceCache, tmp_path: Path) -> None:
    cache = own(filled, tmp_path)
    damage("half", entries(cache)[0])
    text_of(small, cache)
    assert cache.found(key_of(small)) is not None


@pytest.mark.parametrize("error", [PermissionError(), OSError(28, "No space left on device")])
def test_a_cache_that_cannot_be_written_costs_nothing(
    small: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: OSError
) -> None:
    def refuse(*what: object, **more: object) -> None:
        raise error

    monkeypatch.setattr(tempfile, "mkstemp", refuse)
    cache = EvidenceCache(tmp_path / "cache")
    assert text_of(small, cache) == text_of(small)
    assert not list(cache.folder.iterdir())


def test_a_file_in_its_place_costs_nothing(small: Study, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")
    assert text_of(small, EvidenceCache(tmp_path / "cache")) == text_of(small)


def test_the_newest_are_kept(filled: EvidenceCache, small: Study, tmp_path: Path) -> None:
    cache = EvidenceCache(tmp_path / "cache")
    evidence = filled.found(key_of(small))
    assert evidence is not None
    broken = cache.folder / ".broken.part"
    names = [f"{position:064}" for position in range(evidence_cache.MOST_ENTRIES + 3)]
    for position, name in enumerate(names):
        cache.keep(name, evidence)
        for path in cache.folder.glob(f"{name}-*"):
            os.utime(path, (position, position))
        if not position:
            broken.touch()
            os.utime(broken, (0, 0))
    assert {path.name[:64] for path in cache.folder.iterdir()} == set(names[3:])


def test_no_more_bytes_are_kept_than_may(
    filled: EvidenceCache, small: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    evidence = filled.found(key_of(small))
    assert evidence is not None
    monkeypatch.setattr(evidence_cache, "MOST_BYTES", int(2.5 * len(results.of(evidence).text())))
    cache = EvidenceCache(tmp_path / "cache")
    for position in range(4):
        cache.keep(f"{position:064}", evidence)
        for path in cache.folder.glob(f"{position:064}-*"):
            os.utime(path, (position, position))
    assert [path.name[63] for path in entries(cache)] == ["2", "3"]


# ---- where it is ----------------------------------------------------------------------------------------------------


def test_it_is_in_the_users_cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert evidence_cache.of_user() == EvidenceCache(tmp_path / "dossier")
    monkeypatch.setenv("XDG_CACHE_HOME", "here")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert evidence_cache.of_user() == EvidenceCache(tmp_path / ".cache" / "dossier")


def test_a_user_without_a_home_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    assert evidence_cache.of_user() is None


# ---- the command ----------------------------------------------------------------------------------------------------


def built(release: Path, out: Path, *words: str, cache: Path) -> dict[str, bytes]:
    """The files of a build."""
    surroundings = {"XDG_CACHE_HOME": str(cache), "DOSSIER_NO_CACHE": None}
    command = ["build", str(release), "-o", str(out), "--edition", "committee", "--jobs", "1", "--quiet", *words]
    done = CliRunner().invoke(cli.dossier, command, env=surroundings, standalone_mode=False)
    assert done.exception is None
    return {path.relative_to(out).as_posix(): path.read_bytes() for path in out.rglob("*") if path.is_file()}


@pytest.mark.slow
def test_a_changed_statement_is_printed_and_nothing_computed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    release = folder_of(tmp_path, DECLARED)
    cache = tmp_path / "caches"
    cache.mkdir()
    alone = built(release, tmp_path / "alone", "--no-cache", cache=cache)
    assert not (cache / "dossier").exists()
    assert built(release, tmp_path / "first", cache=cache) == alone
    file = release / "release.toml"
    file.write_text(file.read_text().replace('"Why."', '"Why not."'))
    expected = built(release, tmp_path / "other alone", "--no-cache", cache=cache)
    assert expected != alone
    monkeypatch.setattr(EvidenceCache, "keep", None)
    assert built(release, tmp_path / "other", cache=cache) == expected
