"""The command of a manifest: read back as the value that wrote it, and refused where it is anything else."""

from __future__ import annotations

import click
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from dossier.command_line import cli
from dossier.core import command
from dossier.core.command import EDITIONS, Build, Quick, UnknownCommandError

TEXTS = st.text(max_size=40)
PAGES = st.sampled_from(command.PAGES)
BUILDS = st.builds(
    Build, edition=st.sampled_from(list(EDITIONS)), page=PAGES, draft=st.booleans(), local_site=st.none() | TEXTS
)
THRESHOLDS = st.lists(
    st.floats(0, 1, exclude_min=True, exclude_max=True), max_size=command.MOST_THRESHOLDS, unique=True
)
QUICKS = st.builds(
    Quick,
    outcome=TEXTS,
    risk=TEXTS,
    name=st.none() | TEXTS,
    thresholds=THRESHOLDS.map(tuple),
    wishes=st.sampled_from([(), ("sensitivity=0.95",), ("specificity=1", "sensitivity=0.5")]),
    page=PAGES,
)
OF_A_BUILD = "dossier build --edition all --page a4"
OF_A_LOOK = "dossier quick --outcome y --risk p --page a4"


@given(BUILDS | QUICKS)
def test_what_is_written_is_read_back_as_it_was(written: Build | Quick) -> None:
    assert command.read(str(written)) == written


@given(
    st.text() | st.lists(st.sampled_from([*OF_A_BUILD.split(), *OF_A_LOOK.split(), "--seed", "1", "'"])).map(" ".join)
)
def test_no_text_is_read_as_another_command(text: str) -> None:
    try:
        found = command.read(text)
    except UnknownCommandError:
        return
    assert str(found) == text


def test_the_words_are_those_of_the_contract() -> None:
    """Without the seed, which results.json has."""
    assert str(Build()) == OF_A_BUILD
    look = Quick("died", "the risk", "O'Neill", (0.1, 0.25), "letter", 7)
    assert str(look) == (
        "dossier quick --outcome died --risk 'the risk' --name 'O'\"'\"'Neill' --threshold 0.1 --threshold 0.25 "
        "--page letter"
    )
    assert str(Build("committee", "a4", 2, draft=True, local_site="knee 1")) == (
        "dossier build --edition committee --draft --page a4 --local-site 'knee 1'"
    )


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (None, "is no text"),
        (0, "is no text"),
        (True, "is no text"),
        (1.5, "is no text"),
        (["dossier", "build"], "is no text"),
        ({"build": "all"}, "is no text"),
        ("", "is neither that of dossier build nor that of dossier quick"),
        (" ", "is neither"),
        ("dossier", "is neither"),
        ("build --edition all --page a4", "is neither"),
        ("dossier init /tmp/x", "is neither"),
        ("dossier verify . --release .", "is neither"),
        ("dossier demo -o /tmp/x", "is neither"),
        ("dossier schema", "is neither"),
        ("dossier --help", "is neither"),
        ("python -c 'import os'", "is neither"),
        ("/bin/sh -c reboot", "is neither"),
        ("dossier build '", "has a quotation that does not end"),
        ('dossier build "--edition', "has a quotation that does not end"),
        ("dossier build \\", "has a quotation that does not end"),
        ("dossier build " + "--draft " * 10_000, "has more than 10,000 characters"),
        ("x" * 10_000_000, "has more than 10,000 characters"),
        (f"{OF_A_BUILD} --backend dask --scheduler tcp://203.0.113.9:8786", "asks for '--backend'"),
        (f"{OF_A_BUILD} --scheduler tcp://203.0.113.9:8786", "asks for '--scheduler'"),
        (f"{OF_A_BUILD} --backend=dask", "asks for '--backend=dask'"),
        (f"{OF_A_BUILD} --trust-scheduler", "asks for '--trust-scheduler'"),
        (f"{OF_A_BUILD} --allow-outside", "asks for '--allow-outside'"),
        (f"{OF_A_BUILD} -o /etc/cron.d", "asks for '-o'"),
        (f"{OF_A_BUILD} -o/etc/cron.d", "asks for '-o/etc/cron.d'"),
        (f"{OF_A_BUILD} --out /etc/cron.d", "asks for '--out'"),
        (f"{OF_A_BUILD} --release /etc", "asks for '--release'"),
        (f"{OF_A_BUILD} --replace", "asks for '--replace'"),
        (f"{OF_A_BUILD} --jobs 4000", "asks for '--jobs'"),
        (f"{OF_A_BUILD} --strict", "asks for '--strict'"),
        (f"{OF_A_BUILD} --help", "asks for '--help'"),
        (f"{OF_A_BUILD} -- /etc", "asks for '--'"),
        ("dossier build /etc --edition all --page a4", "asks for '/etc'"),
        ("dossier build ../../elsewhere", "asks for '../../elsewhere'"),
        (f"{OF_A_BUILD}; reboot", "gives --page no value that it can have"),
        (f"{OF_A_BUILD} $(reboot)", "asks for '$(reboot)'"),
        (f"{OF_A_BUILD} --threshold 0.2", "asks for '--threshold'"),
        (f"{OF_A_LOOK} --draft", "asks for '--draft'"),
        (f"{OF_A_LOOK} --local-site north", "asks for '--local-site'"),
        (f"{OF_A_LOOK} --edition all", "asks for '--edition'"),
        ("dossier build --edition quick --page a4", "gives --edition no value"),
        ("dossier build --edition all --page a0", "gives --page no value"),
        ("dossier build --edition all --page", "gives --page no value"),
        (f"{OF_A_BUILD} --seed 7", "asks for '--seed'"),
        (f"{OF_A_LOOK} --seed 7", "asks for '--seed'"),
        (f"{OF_A_BUILD} --page letter", "is not written as dossier writes it"),
        (f"{OF_A_BUILD} --local-site", "gives --local-site no value"),
        ("dossier  build --edition all --page a4", "is not written as dossier writes it"),
        ("dossier build --page a4 --edition all", "is not written as dossier writes it"),
        ("dossier build", "is not written as dossier writes it"),
        (f"{OF_A_BUILD}\n", "is not written as dossier writes it"),
        (f"{OF_A_BUILD} # --seed 1", "asks for '#'"),
        ("dossier quick --outcome y --page a4", "names no outcome or no risk"),
        ("dossier quick --outcome y --risk p --threshold 0 --page a4", "gives --threshold no value"),
        ("dossier quick --outcome y --risk p --threshold nan --page a4", "gives --threshold no value"),
        ("dossier quick --outcome y --risk p --threshold 1e-1 --page a4", "is not written as dossier writes it"),
        (
            "dossier quick --outcome y --risk p " + "".join(f"--threshold 0.{k} " for k in range(11, 20)) + "--page a4",
            "has more than 8 thresholds",
        ),
    ],
    ids=lambda value: str(value)[-40:],
)
def test_anything_else_is_refused_with_what_it_is(text: object, why: str) -> None:
    with pytest.raises(UnknownCommandError) as error:
        command.read(text)
    assert str(error.value).startswith(why)


@pytest.mark.parametrize(("name", "known"), cli.dossier.commands.items())
def test_what_is_given_once_is_refused_where_it_is_given_twice(name: str, known: click.Command) -> None:
    for option in known.params:
        if isinstance(option, click.Option) and not (option.multiple or option.is_flag):
            done = CliRunner().invoke(cli.dossier, [name, option.opts[0], "1", option.opts[-1], "2"])
            assert done.exit_code == 2
            assert f"{option.opts[-1]} is given 2 times: give it once." in done.output
