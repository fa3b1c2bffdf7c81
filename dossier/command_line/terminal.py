"""What may reach a terminal: no sign that it obeys, and none that changes the order in which others are read.

Names of files, columns and sites are anybody's. One that holds the sequence that clears the screen, or that turns the
rest of a line round, could make a refusal look like a success.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO

BLANKS = "Zs"
"""The category of the blanks that are no control characters, such as the one that ties a number to its unit."""


def visible(text: str, keep: str = "") -> str:
    r"""The text with every character spelled out that is not seen as itself, as \x1b, \n or \u202e, but for `keep`."""
    if text.isprintable():
        return text
    return "".join(
        sign
        if sign.isprintable() or sign in keep or unicodedata.category(sign) == BLANKS
        else sign.encode("unicode_escape").decode()
        for sign in text
    )


class Lasting:
    """A stream of text whose reader may go and whose disk may be full: what cannot be written is written nowhere.

    `refused` is called once, with the reason.
    """

    def __init__(self, stream: TextIO, refused: Callable[[OSError], None]) -> None:
        self.stream, self.refused = stream, refused

    def write(self, text: str) -> int:
        """Write a text."""
        with self._outlived():
            self.stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Hand over what was written."""
        with self._outlived():
            self.stream.flush()

    @contextmanager
    def _outlived(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            # Python would try again at the end, and fail.
            os.dup2(os.open(os.devnull, os.O_WRONLY), self.stream.fileno())
            self.refused(error)

    def __getattr__(self, name: str) -> Any:
        """Whatever else a stream does; its bytes are no way round."""
        if name == "buffer":
            raise AttributeError(name)
        return getattr(self.stream, name)


class Guarded(Lasting):
    """One that lets through what is visible, and the ends of lines: also tracebacks and warnings."""

    def write(self, text: str) -> int:
        """Write what is visible of a text."""
        if not isinstance(text, str):
            raise TypeError(f"a text, not {type(text).__name__}")
        super().write(visible(text, keep="\n\t"))
        return len(text)


def unguarded(stream: Any) -> Any:
    """The stream for what draws on the terminal and guards its own texts."""
    return Lasting(stream.stream, stream.refused) if isinstance(stream, Guarded) else stream
