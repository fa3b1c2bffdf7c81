"""The commands whose words change a byte of a dossier, as values: the manifest holds them as text, and is no program.

A manifest is anybody's text. What it says is read into a value of these types or refused; nothing else of it is done.
"""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

if TYPE_CHECKING:
    from dossier.core.contents import Edition

Page = Literal["a4", "letter"]

Asked = Literal["regulatory", "supplement", "committee", "html", "all"]
EDITIONS: Mapping[Asked, tuple[Edition, ...]] = {
    "regulatory": ("regulatory", "supplement"),
    "supplement": ("supplement",),
    "committee": ("committee",),
    "html": ("html",),
    "all": ("regulatory", "supplement", "committee", "html"),
}
"""What is printed of a release, by what is asked for: the core is never printed without its supplement."""
PAGES: tuple[Page, ...] = ("a4", "letter")
Scale = Literal["probability", "percent", "log_odds"]
"""How risks are written: from 0 to 1, from 0 to 100, or as their logit. It is declared, and never guessed."""
SCALES: tuple[Scale, ...] = get_args(Scale)
ENCODINGS = ("utf-8", "utf-16", "latin-1", "windows-1252")
SEPARATORS, DECIMALS = (",", ";", "tab", "|"), (".", ",")
"""How a .csv or .tsv is written, as release.toml declares it, but for a tab."""
MOST_THRESHOLDS = 8
"""More do not fit the eight pages of a quick look."""
LEAST_THRESHOLD = 1e-9
"""The lowest threshold, and 1 less it the highest: nearer to 0 or 1 nothing tells it from them."""
LEAST_WISH = 0.01
"""The least sensitivity or specificity that a threshold is looked for."""
LONGEST = 10_000
"""Characters of a command; of more than a few hundred none was ever written."""


class UnknownCommandError(ValueError):
    """A text that is not the command of a build, with the reason."""


@dataclass(frozen=True)
class Build:
    """`dossier build`: every edition or some of them, from a release.

    `local_site` is the name of the external dataset that comes first in the committee edition; `seed` is None where
    that of the release holds.
    """

    edition: Asked = "all"
    page: Page = "a4"
    seed: int | None = None
    draft: bool = False
    local_site: str | None = None

    @property
    def editions(self) -> tuple[Edition, ...]:
        """What is printed."""
        return EDITIONS[self.edition]

    def __str__(self) -> str:
        """The command as the manifest holds it: without paths, workers, noise, and the seed, which results.json has."""
        words = ["dossier", "build", "--edition", self.edition, *(["--draft"] if self.draft else [])]
        words += ["--page", self.page]
        words += [] if self.local_site is None else ["--local-site", self.local_site]
        return shlex.join(words)


@dataclass(frozen=True)
class Quick:
    """`dossier quick`: a short look at one table, whose columns of the outcome and the risk it names."""

    outcome: str
    """With `time` the column of what happened when the follow-up ended."""
    risk: str
    name: str | None = None
    thresholds: tuple[float, ...] = ()
    page: Page = "a4"
    seed: int | None = None
    wishes: tuple[str, ...] = ()
    """What a threshold is looked for: "sensitivity=0.95"."""
    missing: tuple[str, ...] = ()
    positive: str | None = None
    censored: str | None = None
    competing: tuple[str, ...] = ()
    """Beside `positive`, what the column of what happened holds of those who left, and of those with another event."""
    encoding: str | None = None
    scale: Scale = "probability"
    time: str | None = None
    at: float | None = None
    site: str | None = None
    sheet: str | None = None
    separator: str | None = None
    decimal: str | None = None

    @property
    def editions(self) -> tuple[Edition, ...]:
        """What is printed."""
        return ("quick",)

    def __str__(self) -> str:
        """The command as the manifest holds it: without paths, workers, noise, and the seed, which results.json has."""
        of_outcome = ["--outcome", self.outcome]
        if self.time is not None:
            of_outcome = ["--time", self.time, "--event", self.outcome, "--at", repr(self.at)]
        words = ["dossier", "quick", *of_outcome, "--risk", self.risk]
        words += [] if self.name is None else ["--name", self.name]
        words += [word for threshold in self.thresholds for word in ("--threshold", repr(threshold))]
        words += [word for wish in self.wishes for word in ("--wish", wish)]
        words += [word for value in self.missing for word in ("--missing", value)]
        words += [word for value in self.competing for word in ("--competing", value)]
        given = {key: getattr(self, key) for key in ONCE}
        words += [w for key, value in given.items() if value not in (None, "probability") for w in (f"--{key}", value)]
        return shlex.join([*words, "--page", self.page])


ONCE = ("positive", "censored", "encoding", "scale", "site", "sheet", "separator", "decimal")
"""The options of a quick look that change a byte, stand once and are one word, in the order of the manifest."""


def read(text: object) -> Build | Quick:
    """The command that a manifest holds; whatever none of the two types writes letter by letter is refused.

    Raises UnknownCommandError, whose message says why in a part of a sentence.
    """
    words = _words(text)
    if words[:2] == ["dossier", "build"]:
        options = _options(words[2:], BUILD)
        found: Build | Quick = Build(
            edition=_last(options, "--edition", "all"),
            page=_last(options, "--page", "a4"),
            draft="--draft" in options,
            local_site=_last(options, "--local-site"),
        )
    elif words[:2] == ["dossier", "quick"]:
        options = _options(words[2:], QUICK)
        thresholds = tuple(options.get("--threshold", ()))
        if len(set(thresholds)) > MOST_THRESHOLDS:
            raise UnknownCommandError(f"has more than {MOST_THRESHOLDS} thresholds")
        by_horizon = {"--time", "--event", "--at"} & options.keys()
        if "--risk" not in options or (len(by_horizon) != 3 if by_horizon else "--outcome" not in options):
            raise UnknownCommandError("names no outcome or no risk")
        found = Quick(
            outcome=_last(options, "--event" if by_horizon else "--outcome"),
            **{key: _last(options, f"--{key}") for key in ("time", "at", "risk", "name")},
            thresholds=thresholds,
            wishes=tuple(options.get("--wish", ())),
            missing=tuple(options.get("--missing", ())),
            competing=tuple(options.get("--competing", ())),
            **{key: _last(options, f"--{key}", "probability" if key == "scale" else None) for key in ONCE},
            page=_last(options, "--page", "a4"),
        )
    else:
        raise UnknownCommandError("is neither that of dossier build nor that of dossier quick")
    if str(found) != text:
        raise UnknownCommandError("is not written as dossier writes it")
    return found


def _words(text: object) -> list[str]:
    if not isinstance(text, str):
        raise UnknownCommandError("is no text")
    if len(text) > LONGEST:
        raise UnknownCommandError(f"has more than {LONGEST:,} characters")
    try:
        return shlex.split(text)
    except ValueError as error:
        raise UnknownCommandError("has a quotation that does not end") from error


def _chosen(*values: str) -> Callable[[str], str | None]:
    return lambda word: word if word in values else None


def _below(end: float) -> Callable[[str], float | None]:
    """A number above 0 and below this one."""

    def read(word: str) -> float | None:
        try:
            value = float(word)
        except ValueError:
            return None
        return value if 0 < value < end else None

    return read


WISH = re.compile(r"(sensitivity|specificity)=(1|0\.\d{1,6})")


def wish(word: str) -> str | None:
    """What a threshold is looked for, as an option gives it; None where it is none of these."""
    found = WISH.fullmatch(word)
    return word if found is not None and float(found[2]) >= LEAST_WISH else None


Reader = Callable[[str], Any]
COMMON: dict[str, Reader] = {"--page": _chosen(*PAGES)}
BUILD: dict[str, Reader] = {**COMMON, "--edition": _chosen(*EDITIONS), "--local-site": str}
QUICK: dict[str, Reader] = {
    **COMMON,
    **dict.fromkeys(("--outcome", "--time", "--event", "--risk", "--name", "--missing", "--site", "--sheet"), str),
    **dict.fromkeys(("--positive", "--censored", "--competing"), str),
    "--separator": _chosen(*SEPARATORS),
    "--decimal": _chosen(*DECIMALS),
    "--threshold": _below(1),
    "--wish": wish,
    "--at": _below(math.inf),
    "--encoding": _chosen(*ENCODINGS),
    "--scale": _chosen(*SCALES),
}
"""What may be asked for, and how it is read; None for a value that cannot be."""


def _options(words: list[str], known: dict[str, Reader]) -> dict[str, list[Any]]:
    """Every option with its values, in their order; `--draft` has none."""
    found: dict[str, list[Any]] = {}
    rest = iter(words)
    for option in rest:
        if option == "--draft" and known is BUILD:
            found["--draft"] = [True]
            continue
        if option not in known:
            raise UnknownCommandError(f"asks for {option[:100]!r}, which is not taken from a manifest")
        word = next(rest, None)
        value = None if word is None else known[option](word)
        if value is None:
            raise UnknownCommandError(f"gives {option} no value that it can have")
        found.setdefault(option, []).append(value)
    return found


def _last(options: dict[str, list[Any]], name: str, default: Any = None) -> Any:
    return cast(Any, options.get(name, [default])[-1])
