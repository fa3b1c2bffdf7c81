"""What may reach a terminal: no sign that it obeys, and none that changes the order in which others are read.

Names of files, columns and sites are anybody's. One that holds the sequence that clears the screen, or that turns the
rest of a line round, could make a refusal look like a success.
"""

from __future__ import annotations

import unicodedata
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


class Guarded:
    """A stream of text that lets through what is visible, and the ends of lines: also tracebacks and warnings."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        """Write what is visible of a text."""
        if not isinstance(text, str):
            raise TypeError(f"a text, not {type(text).__name__}")
        self.stream.write(visible(text, keep="\n\t"))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        """Whatever else a stream does; its bytes are no way round."""
        if name == "buffer":
            raise AttributeError(name)
        return getattr(self.stream, name)


def unguarded(stream: TextIO) -> TextIO:
    """The stream itself, for what draws on the terminal and guards its own texts."""
    return stream.stream if isinstance(stream, Guarded) else stream
