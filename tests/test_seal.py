"""seal: the hash of what is declared before the data are opened, and what a later build says of it."""

from __future__ import annotations

import datetime
import json
import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from hypothesis import given, settings
from hypothesis import strategies as st

from dossier import evaluate, reading
from dossier.command_line import check, cli, initial
from dossier.core import alterations
from dossier.core.errors import OutputError, ReleaseError
from dossier.core.release import Release
from dossier.core.types import Evidence, Flag, Seal, SealChange
from dossier.record import results, seal
from dossier.report.chapters import acceptance, committee
from dossier.typeset.flags import flag_text

CRITERIA = """
[[acceptance]]
measure = "auroc"
dataset = "each external"
at_least = 0.6
declared_on = 2026-05-01

[[acceptance]]
measure = "oe_ratio"
dataset = "hospital-1"
at_least = 0.5
at_most = 2.0
declared_on = 2026-05-01

[[subgroup]]
column = "ward"
"""
STOP = '[care]\nstop = [{ measure = "oe_ratio", at_least = 0.5, at_most = 2.0, periods = 2 }]\n'
DAY = datetime.date(2026, 5, 2)


def asked(*words: str | Path) -> Result:
    return CliRunner().invoke(cli.dossier, [str(word) for word in words], standalone_mode=False)


@pytest.fixture
def release(tmp_path: Path) -> Path:
    """The example release with criteria."""
    folder = tmp_path / "release"
    folder.mkdir()
    for name, content in initial.files().items():
        (folder / name).write_bytes(content)
    edit(folder, lambda text: text.replace("\n[statements]", f"{CRITERIA}\n[statements]", 1))
    edit(folder, lambda text: re.sub(r"(bootstrap|permutations) = \d+", r"\1 = 9", text))
    return folder


def edit(folder: Path, change: Callable[[str], str]) -> None:
    path = folder / "release.toml"
    text = path.read_text()
    assert change(text) != text
    path.write_text(change(text))


def hash_of(folder: Path) -> str:
    return seal.sha256(seal.declared(study(folder)), DAY)


def sealed(folder: Path, day: datetime.date = DAY) -> Path:
    """The release with a seal of that day, named."""
    (folder / "seal.json").write_bytes(seal.text(seal.declared(study(folder)), day))
    edit(folder, lambda text: text.replace("# sealed = ", "sealed = ", 1))
    return folder


def test_the_command_prints_and_writes_the_hash_and_opens_no_table(release: Path) -> None:
    tables = sorted(release.glob("*.csv"))
    assert len(tables) == 3
    for path in tables:
        path.unlink()
    result = asked("seal", release)
    assert result.exception is None
    file, text = result.stdout.splitlines()
    assert file == str(release / "seal.json")
    written = json.loads((release / "seal.json").read_bytes())
    today = datetime.datetime.now(datetime.UTC).date()
    assert text == written["sha256"] == seal.sha256(seal.declared(study(release)), today)
    assert written["sealed_on"] == today.isoformat()
    assert {criterion["measure"] for criterion in written["declared"]["acceptance"]} == {"auroc", "oe_ratio"}


def test_the_hash_can_be_computed_by_anybody(release: Path) -> None:
    """As docs/trust.md says: JSON of `declared` and `sealed_on` with sorted keys, no blanks, UTF-8."""
    import hashlib

    written = json.loads(seal.text(seal.declared(study(release)), DAY))
    both = {key: written[key] for key in ("declared", "sealed_on")}
    plain = json.dumps(both, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    assert hashlib.sha256(plain.encode()).hexdigest() == written["sha256"]


def test_a_seal_is_not_written_over_and_a_faulty_release_not_sealed(release: Path) -> None:
    assert asked("seal", release).exception is None
    before = (release / "seal.json").read_bytes()
    assert isinstance(asked("seal", release).exception, OutputError)
    assert (release / "seal.json").read_bytes() == before
    (release / "seal.json").unlink()
    (release / "seal.json").symlink_to("/dev/null")
    assert isinstance(asked("seal", release).exception, OutputError)
    (release / "seal.json").unlink()
    edit(release, lambda text: text.replace("at_least = 0.6", 'at_least = "much"'))
    assert isinstance(asked("seal", release).exception, ReleaseError)
    assert not (release / "seal.json").exists()


SAME: dict[str, Callable[[str], str]] = {
    "a default written down": lambda text: text.replace("at_most = 2.0", 'at_most = 2.0\nbound = "value"'),
    "a number in other digits": lambda text: text.replace("at_most = 2.0", "at_most = 2"),
    "a comment": lambda text: f"# another\n{text}",
    "another seed": lambda text: re.sub(r"^seed = \d+", "seed = 7", text, flags=re.M),
    "who watches it": lambda text: f'{text}\n[care]\nmonitoring = "Every quarter."\n',
    "a text": lambda text: text.replace("No funding.", "Funded by nobody."),
}
OTHER: dict[str, tuple[Callable[[str], str], str]] = {
    "a bound": (lambda text: text.replace("at_least = 0.6", "at_least = 0.55"), "the criteria"),
    "a dataset": (lambda text: text.replace('dataset = "hospital-1"', 'dataset = "each external"'), "the criteria"),
    "a date": (
        lambda text: text.replace("at_least = 0.6\ndeclared_on", "at_least = 0.6\n# declared_on"),
        "the criteria",
    ),
    "one fewer": (lambda text: text.replace(CRITERIA[: CRITERIA.index("\n[[acc", 9)], "", 1), "the criteria"),
    "one twice": (
        lambda text: text.replace(CRITERIA, CRITERIA[: CRITERIA.index("\n[[acc", 9)] + CRITERIA),
        "the criteria",
    ),
    "cuts": (lambda text: text.replace('column = "ward"\n', 'column = "age"\ncuts = [60]\n'), "the subgroups"),
    "a threshold": (lambda text: text.replace("declared = [0.3, 0.5]", "declared = [0.3, 0.4]"), "the thresholds"),
    "their order": (lambda text: text.replace("declared = [0.3, 0.5]", "declared = [0.5, 0.3]"), "the thresholds"),
    "the use": (lambda text: text.replace("For whom and for what", "For all"), "the intended use"),
    "how grave an error is": (
        lambda text: f"{text}\n[severity]\nweights = [[0, 0.6], [0.3, 0]]\n",
        "how grave each error is",
    ),
    "the utility": (lambda text: f"{text}\n[utility]\ngamma = [0.5]\n", "the settings of weighted utility"),
    "a stop rule": (
        lambda text: f'{text}\n[care]\nstop = [{{ measure = "oe_ratio", at_most = 2.0, periods = 2 }}]\n',
        "the limits that stop the model",
    ),
    "the least accuracy": (
        lambda text: text.replace("[h_accuracy]\n", '[h_accuracy]\nacceptable = { value = 0.8, source = "S" }\n', 1),
        "the settings of H-accuracy",
    ),
    "the level": (lambda text: text.replace("level = 0.95", "level = 0.9"), "what is tested, or the level"),
    "the version": (
        lambda text: text.replace('version = "1.0.0"', 'version = "1.0.1"'),
        "what is tested, or the level",
    ),
    "the outcome": (lambda text: text.replace('name = "readmission"', 'name = "death"'), "the outcome"),
}


@pytest.mark.parametrize("kind", SAME)
def test_what_changes_nothing_leaves_the_hash(release: Path, kind: str) -> None:
    before = hash_of(release)
    edit(release, SAME[kind])
    assert hash_of(release) == before


@pytest.mark.parametrize("kind", OTHER)
def test_each_change_is_a_flag_and_evidence(release: Path, kind: str) -> None:
    change, what = OTHER[kind]
    sealed(release)
    assert reading.study(release).seal == seal.seal((release / "seal.json").read_bytes(), "seal.json", study(release))
    assert [sealed for sealed in flags(release) if sealed.flag == "changed_since_sealed"] == []
    edit(release, change)
    found = reading.study(release).seal
    assert found is not None
    assert found.sha256_now == hash_of(release) != found.sha256
    assert found.changes
    (flag,) = [sealed for sealed in flags(release) if sealed.flag == "changed_since_sealed"]
    assert plain(flag_text(flag.fact)) == (
        f"changed after sealing, as the maker says on 2 May 2026: {what}; results.json has each change."
    )


def plain(text: str) -> str:
    """A text without the ties that keep a date together."""
    return text.replace("\N{NO-BREAK SPACE}", " ")


def study(folder: Path) -> Release:
    return reading.release_alone(folder)[1]


def flags(folder: Path) -> tuple[Flag, ...]:
    found = check.check(folder)
    assert found.faults == ()
    return found.flags


def test_the_order_of_criteria_is_no_change(release: Path) -> None:
    before = hash_of(release)
    first, second = (part for part in CRITERIA.split("\n\n") if "acceptance" in part)
    edit(release, lambda text: text.replace(f"{first.strip()}\n\n{second}", f"{second}\n\n{first.strip()}"))
    assert hash_of(release) == before


STRANGE: dict[str, tuple[Callable[[dict[str, object]], object], str]] = {
    "another hash": (lambda sealed: sealed.update(sha256="0" * 64), "was altered after it was sealed"),
    "another criterion": (lambda record: record["declared"]["acceptance"].pop(), "was altered after"),  # type: ignore[index]
    "a table gone": (lambda record: record["declared"].pop("subgroup"), "was altered after"),  # type: ignore[attr-defined]
    "another schema": (lambda sealed: sealed.update(schema="dossier-seal/2"), "is no seal"),
    "a key more": (lambda sealed: sealed.update(approved=True), "is no seal"),
    "an earlier day": (lambda sealed: sealed.update(sealed_on="2026-01-02"), "was altered after it was sealed"),
    "no day": (lambda sealed: sealed.update(sealed_on="spring"), "is no seal"),
}


@pytest.mark.parametrize("kind", STRANGE)
def test_an_altered_seal_is_a_fault(release: Path, kind: str) -> None:
    change, says = STRANGE[kind]
    sealed(release)
    content = json.loads((release / "seal.json").read_bytes())
    change(content)
    (release / "seal.json").write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n")
    (fault,) = check.check(release).faults
    assert says in fault.what
    assert fault.where == "release.toml, [release] sealed"


def test_a_seal_of_another_model_and_none_at_all_are_faults(release: Path, tmp_path: Path) -> None:
    other = Path(shutil.copytree(release, tmp_path / "other"))
    edit(other, lambda text: text.replace('model = "Example model"', 'model = "Another model"'))
    sealed(release)
    (release / "seal.json").write_bytes(seal.text(seal.declared(study(other)), DAY))
    (fault,) = check.check(release).faults
    assert fault.what == 'seal.json is the seal of another model than "Example model".'
    for content in (b"", b"[]", b"\xff", b"[" * 100_000, b"null"):
        (release / "seal.json").write_bytes(content)
        assert check.check(release).faults, content
    (release / "seal.json").unlink()
    assert check.check(release).faults
    edit(release, lambda text: text.replace('"seal.json"', '"../seal.json"'))
    (tmp_path / "seal.json").write_bytes(seal.text(seal.declared(study(release)), DAY))
    assert check.check(release).faults


def evaluated(release: Path) -> Evidence:
    """The evidence as results.json holds it."""
    written = results.of(evaluate.evidence(reading.study(release))).text()
    assert results.read(written).text() == written
    return results.read(written).evidence


def test_the_dossier_says_as_sealed_or_what_was_changed(release: Path) -> None:
    assert acceptance.sealed(evaluated(release)) == ""
    sealed(release)
    same = evaluated(release)
    sentence = acceptance.finding(same)
    assert plain(acceptance.sealed(same)) == (
        "Criteria, thresholds, subgroups and intended use are as sealed, as the maker says, on 2 May 2026, after "
        "all patients had come "
        f"(31 December 2025), under SHA-256 {hash_of(release)}."
    )
    assert sentence.rest.endswith(acceptance.sealed(same))
    before = hash_of(release)
    edit(release, lambda text: text.replace("at_least = 0.6", "at_least = 0.55"))
    other = evaluated(release)
    assert plain(acceptance.sealed(other)) == (
        "Sealed, as the maker says, on 2 May 2026, after all patients had come (31 December 2025), under "
        f"SHA-256 {before}; changed since: the criteria (AUROC, each external: at_least 0.6, now 0.55)."
    )
    assert other.seal is not None
    assert [(change.table, change.then, change.now) for change in other.seal.changes] == [
        ("acceptance", 0, 1),
        ("acceptance", 1, 0),
    ]
    assert [json.loads(change.part)["at_least"] for change in other.seal.changes] == [0.55, 0.6]


def test_a_lowered_goal_is_on_the_first_page_of_the_committee_and_its_values_on_the_last(release: Path) -> None:
    sealed(release)
    assert "laid down" not in committee.answer(evaluated(release))
    edit(release, lambda text: text.replace("at_least = 0.6", "at_least = 0.55"))
    other = evaluated(release)
    assert 'Changed after it had been laid down: its goals (see "What changed?").' in committee.answer(other)
    assert plain(committee.changes(other)[0]) == (
        "Laid down on 2 May 2026, its maker says, and changed since: "
        "the goal for telling sick from well asked at least 60 and "
        "now asks 55."
    )


ALTERED = {
    "a criterion less": (
        lambda text: text.replace(CRITERIA.split("\n\n")[0], ""),
        ["the criteria (AUROC, each external dropped)"],
    ),
    "another bound of two": (
        lambda text: text.replace("at_most = 2.0\n", "at_most = 3.5\n"),
        ["the criteria (O/E, hospital-1: at_most 2.0, now 3.5)"],
    ),
    "another column": (
        lambda text: text.replace('[[subgroup]]\ncolumn = "ward"', '[[subgroup]]\ncolumn = "age"\ncuts = [50]'),
        ["the subgroups (ward dropped and age added)"],
    ),
    "another outcome": (
        lambda text: text.replace('name = "readmission"', 'name = "death"'),
        ['the outcome (name "readmission", now "death")'],
    ),
    "a limit of a rule": (
        lambda text: text.replace("periods = 2 }", "periods = 4 }"),
        ["the limits that stop the model (O/E: periods 2, now 4)"],
    ),
}


@pytest.mark.parametrize("kind", ALTERED)
def test_each_value_is_printed_as_it_was_and_as_it_is(release: Path, kind: str) -> None:
    change, said = ALTERED[kind]
    edit(release, lambda text: text.replace("\n[statements]", f"\n{STOP}\n[statements]", 1))
    sealed(release)
    edit(release, change)
    found = acceptance.sealed(evaluated(release))
    assert [part for part in said if part not in found] == [], found


def test_what_is_protected_is_said_to_be_changed_and_not_to_what() -> None:
    """A policy leaves of a changed part the key alone: `_seal` in evaluate/disclosure/declared.py."""
    part = '{"survey":null}'
    changes = (SealChange("h_accuracy", part, 1, 0), SealChange("h_accuracy", part, 0, 1))
    (found,) = alterations.since(Seal("seal.json", "0" * 64, DAY, "1" * 64, changes))
    assert (found.key, found.is_kept_back) == ("survey", True)


LEAF = (
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
)
TABLE = st.dictionaries(st.text(), LEAF | st.lists(LEAF, max_size=4), max_size=4)
JSON = LEAF | TABLE | st.lists(TABLE, max_size=3) | st.dictionaries(st.text(), TABLE, max_size=3)


@given(JSON, st.randoms(use_true_random=False))
@settings(max_examples=200, deadline=None)
def test_the_form_that_is_hashed_is_one_for_each_value(value: object, draw: random.Random) -> None:
    def shuffled(sealed: object) -> object:
        if isinstance(sealed, dict):
            keys = list(sealed)
            draw.shuffle(keys)
            return {key: shuffled(sealed[key]) for key in keys}
        return [shuffled(inner) for inner in sealed] if isinstance(sealed, list) else sealed

    text = seal.canonical(value)
    assert seal.canonical(shuffled(value)) == text
    assert json.loads(text) == value
