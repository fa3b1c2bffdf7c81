"""How wide words are in the type of tables and figures, where they may be parted, and shorter names for long ones.

Every width is in mm and of type of 9 pt.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache, partial
from itertools import pairwise, takewhile

from dossier.core.material import styles
from dossier.typeset.numbers import SOFT_HYPHEN, plain

SIZE = 9
"""Of the type of tables and figures, in points."""
_ENDS = 3
"""Letters of a word that stay together at either end."""
_VOWELS = "aeiouyäöüáéíóúàèìòùâêîôûãõåæøœ"
_BETWEEN_SYLLABLES = re.compile(rf"(?<=[{_VOWELS}])(?=[^\W\d_{_VOWELS}][{_VOWELS}])", re.IGNORECASE)
_IS_A_NAME = re.compile(r"(?<![^\W\d])(?![IVX]+\b)[^\W\d]{3}").search


@cache
def _advances(weight: int) -> Mapping[str, float]:
    """The width of each character; of one that the font does not hold, that of its widest."""
    from fontTools.ttLib import TTFont

    with TTFont(styles() / "fonts" / f"InterTab-{600 if weight > 500 else 400}.ttf", lazy=True) as font:
        metrics, unit = font["hmtx"].metrics, SIZE / 72 * 25.4 / font["head"].unitsPerEm
        return {chr(code): metrics[name][0] * unit for code, name in font.getBestCmap().items()}


@lru_cache(maxsize=8192)
def text_width(text: str, weight: int = 400) -> float:
    """The width of a line of text; pairs of letters that are set closer are not counted as such."""
    advances = _advances(weight)
    widest = SIZE / 72 * 25.4
    return sum(advances.get(letter, widest) for letter in plain(text))


def wrapped(text: str, width: float, most: int, weight: int = 400) -> str | None:
    """The text broken into at most so many lines of a width; None when it does not fit."""
    lines: list[str] = []
    for word in text.split():
        if lines and text_width(f"{lines[-1]} {word}", weight) <= width:
            lines[-1] = f"{lines[-1]} {word}"
        else:
            lines.append(word)
    fits = len(lines) <= most and all(text_width(line, weight) <= width for line in lines)
    return "\n".join(lines) if fits else None


def lines_of(text: str, width: float, weight: int = 400) -> int:
    """On how many lines of a width a text stands, parted where it can be."""
    count, line = 1, ""
    for word in parted(text, width, weight).split():
        for joint, piece in zip([" " if line else "", *[""] * len(word)], word.split(SOFT_HYPHEN), strict=False):
            if line and text_width(line + joint + piece, weight) > width:
                count, line = count + 1, piece
            else:
                line += joint + piece
    return count


def widest_word(text: str, weight: int = 400) -> float:
    """The width of the widest word of a text, which is parted at blanks alone."""
    return max((text_width(word, weight) for word in text.split()), default=0.0)


def parted(text: str, width: float, weight: int = 400) -> str:
    """A text that lines of a width can part: at every blank and hyphen, and within a word that is wider than a line."""
    if text_width(text, weight) <= width:
        return text
    return " ".join(hyphenated(word) if text_width(word, weight) > width else word for word in plain(text).split(" "))


def hyphenated(word: str) -> str:
    """A word with a soft hyphen wherever a line may end within it: between syllables, else between any two letters."""
    points = [match.start() + _ENDS for match in _BETWEEN_SYLLABLES.finditer(word[_ENDS:-_ENDS])]
    pieces = [word[first:last] for first, last in pairwise([0, *points, len(word)])]
    return SOFT_HYPHEN.join(short for piece in pieces for short in _cut(piece))


def _cut(piece: str) -> list[str]:
    """A piece of a word in parts of twice the letters of an end; the last one has no fewer than an end."""
    cuts = (min(at, len(piece) - _ENDS) for at in range(2 * _ENDS, len(piece), 2 * _ENDS))
    return [piece[first:last] for first, last in pairwise((0, *cuts, len(piece)))]


# ---- shorter names --------------------------------------------------------------------------------------------------


LONG_WORD = 16
"""Letters of a word that is no beginning of a short name by itself."""


def shortened(names: Sequence[str], width: float, weight: int = 400, lines: int = 1) -> tuple[str, ...]:
    """Names that fit lines of a width and still differ.

    What goes first is what follows a comma, then words with which several begin, then words at the end, so long as half
    of the name is left, or before the last one, which mostly says the place; letters where no words tell names apart.
    """
    return _shortened(tuple(names), width, weight, lines)


# A report asks for the same names on every page.
@lru_cache
def _shortened(names: tuple[str, ...], width: float, weight: int, lines: int) -> tuple[str, ...]:
    room = _Room(width, weight, lines)
    short = tuple(name if room.holds(name) else name.split(",")[0] for name in names)
    if len(set(short)) == len(names):
        names = short
    # Of names that begin alike only what tells them apart is cut, and of each that does not fit the words go that they
    # share: Hospital 9, 10. What begins with "and", "of" or "der" is the end of a name, and "St" or "Dr." leans on what
    # follows.
    after = []
    for name in names:
        words = name.split()
        alike = zip(*(other.split() for other in names if other.split()[:1] == words[:1]), strict=False)
        shared = next((at for at, same in enumerate(alike) if len(set(same)) > 1), 0)
        end = " ".join(words[shared:])
        if end and not _IS_A_NAME(end):
            # A number alone names nothing: the first words stand before it where they fit, else the one next to it. A
            # long first word alone would take the room and say no more.
            tails = (tail for at in reversed(range(shared)) if not (tail := " ".join(words[at:]))[0].islower())
            begun = _cut_words(name, room, 1)
            is_one = begun.split()[1:2] == ["…"] and len(words[0]) > LONG_WORD
            end = next(filter(room.holds, ([] if is_one else [begun]) + [*tails]), end)
        leans = shared == 1 and len(words[0].rstrip(".")) <= SHORT_WORD
        after.append(name if not end or end[0].islower() or leans or room.holds(name) else end)
    names = tuple(after) if len(set(after)) == len(names) else names
    if all(map(room.holds, names)):
        return tuple(names)
    cuts: tuple[Sequence[Callable[[str, _Room], str]], ...] = (
        [partial(_cut_words, least=0.5)] * len(names),
        [partial(_cut_words, tail=1)] * len(names),
        [_cut_before_last] * len(names),
        *([partial(_cut_words, tail=tail)] * len(names) for tail in (2, 0)),
        *([partial(_cut_letters, tail=letters)] * len(names) for letters in (0, 4, 7, 10)),
        *([partial(_cut_beginning, at=at, at_word=whole) for at in _alike(names)] for whole in (True, False)),
    )
    for each in cuts:
        shorter = tuple(cut(name, room) for cut, name in zip(each, names, strict=True))
        if len(set(shorter)) == len(set(names)) == len(names) and all(map(room.holds, shorter)):
            return shorter
    return tuple(_cut_words(f"{index} {name}", room) for index, name in enumerate(names, 1))


def cut(text: str, width: float) -> str:
    """A text that fits a line: whole, or its beginning before an ellipsis."""
    return _cut_words(text, _Room(width, 400, 1))


def on_lines(names: Sequence[str], widths: Sequence[float], most: int, weight: int = 400) -> list[str]:
    """Names on at most so many lines of their widths; those that need more are shorter, and all still differ."""
    short = shortened(names, min(widths, default=0.0), weight, most)
    return [
        wrapped(name, width, most, weight) or wrapped(cut, width, most, weight) or cut
        for name, cut, width in zip(names, short, widths, strict=True)
    ]


class _Room:
    """So many lines of a width for a name."""

    def __init__(self, width: float, weight: int, lines: int) -> None:
        self.width, self.weight, self.lines = width, weight, lines

    def holds(self, text: str) -> bool:
        """Whether a name fits."""
        if self.lines == 1:
            return text_width(text, self.weight) <= self.width
        return wrapped(text, self.width, self.lines, self.weight) is not None

    def longest(self, text: str) -> int:
        """How many letters could fit at most: a name of a thousand letters is not measured a thousand times."""
        width = self.width * self.lines
        return bisect_right(range(len(text)), width, key=lambda length: text_width(text[:length], self.weight))


def _cut_words(name: str, room: _Room, tail: int = 0, least: float = 0.0) -> str:
    """The name, or as many of its first words as fit before an ellipsis and so many of its last words.

    Where less than a share of the name would be left, all of it, which does not fit; where whole words leave the room
    half empty, as many of its first letters.
    """
    words = name.split()
    # A name that was shortened before keeps its end and has one ellipsis still.
    gap = words.index("…") if "…" in words else len(words) - tail
    if room.holds(name) or tail >= len(words) or (least and "…" in words):
        return name
    end = ["…", *words[-tail:]] if tail else []
    most = room.longest(name)
    for count in range(min(gap, len(name[:most].split())), 0, -1):
        first = " ".join(words[:count]).rstrip(" ,.-")
        shorter = " ".join([first, *end]) if tail else f"{first}…"
        if _can_end(words[:count], tail) and room.holds(shorter):
            if not tail and not least and len(shorter) < most / 2:
                break
            return shorter if len(shorter) >= least * len(name) else name
    return _cut_letters(name, room) if not tail and not least else name


def _cut_before_last(name: str, room: _Room) -> str:
    """The name cut before its last word, of which no letter goes; within a word where no whole one has room.

    All of it, which does not fit, where its beginning would be a few letters, or a word that leans on the next.
    """
    by_words, by_letters = _cut_words(name, room, 1), _cut_letters(name, room, len(name.split()[-1]))
    begins = by_letters.partition("…")[0]
    says = len(begins) > _ENDS and (" " in begins.strip() or _can_end(name.split()[:1], 1))
    return by_words if room.holds(by_words) else by_letters if says else name


def _can_end(words: Sequence[str], tail: int) -> bool:
    """Whether a name may be cut behind these words: not behind "St.", "Univ." or "San", nor behind "of" at its end."""
    last = words[-1]
    is_whole = len(last) > SHORT_WORD or not last[-1:].isalpha() or (len(words) > 1 and (tail > 0 or last.isupper()))
    return is_whole and not last.endswith(".")


SHORT_WORD = 3
"""Up to so many letters a word leans on the next one: it is an article, or stands for a longer word."""


def _cut_letters(name: str, room: _Room, tail: int = 0) -> str:
    """The name, or as much of its beginning as fits before an ellipsis and its last letters."""
    if room.holds(name):
        return name
    end = ("… " if tail and " " in name[-tail - 1 : 1 - tail] else "…") + (name[-tail:].lstrip() if tail else "")
    for length in range(min(room.longest(name), len(name) - 1), 0, -1):
        shorter = name[:length].rstrip(" ,.-…") + end
        if room.holds(shorter):
            return shorter
    return end


def _cut_beginning(name: str, room: _Room, at: int, at_word: bool) -> str:
    """The name from there on behind an ellipsis, or from the beginning of the word that stands there."""
    start = name.rfind(" ", 0, at + 1) + 1 if at_word else at
    return _cut_letters(f"…{name[start:]}" if start else name, room, 0)


def _alike(names: Sequence[str]) -> list[int]:
    """How many letters of each name another one begins with."""
    order = sorted(names)
    pairs = [zip(*pair, strict=False) for pair in pairwise(order)]
    shared = [0, *(sum(1 for _ in takewhile(lambda both: both[0] == both[1], pair)) for pair in pairs), 0]
    most = {name: max(pair) for name, pair in zip(order, pairwise(shared), strict=True)}
    return [most[name] for name in names]
