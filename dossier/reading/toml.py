"""The bytes of release.toml as values, or what is wrong with them; called in the process that reads files."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from typing import Any

from dossier.core.errors import Fault
from dossier.core.faults.locations import RELEASE, Key, Line

TWICE = ("Cannot overwrite a value", "Cannot mutate immutable namespace", "Cannot declare")
"""How the parser's errors of a key or a table that stands twice begin."""
LARGEST = 2**63 - 1
"""The largest whole number of TOML."""
DEEPEST = 50
"""So many tables and lists within each other are far more than any key asks for."""
LISTS = (
    *("dataset", "horizon", "rival", "declared_performance", "declared_correspondence", "acceptance", "predictor"),
    *("subgroup", "reply", "signatory", "revision", "model.term", "severity.subgroup"),
)


def values(content: bytes) -> Any | Fault:
    """Tables, tuples for lists, texts, numbers and days; or the fault that keeps the text from being read."""
    # Of UTF-16 without a mark each letter is one of UTF-8, beside a zero.
    try:
        return _frozen(tomllib.loads(content.replace(b"\0", b"\xff").decode("utf-8-sig")))
    except UnicodeDecodeError as error:
        return Fault("release_not_utf8", Line(RELEASE, content[: error.start].count(b"\n") + 1))
    except tomllib.TOMLDecodeError as error:
        return _syntax(str(error), content.decode("utf-8-sig").split("\n"))
    except RecursionError:
        return Fault("tables_without_end", Key())
    except ValueError:
        # TOML has no whole number of more bits; of far too many digits Python reads none.
        return Fault("number_of_many_bits", Key())


def _frozen(value: Any, left: int = DEEPEST) -> Any:
    """The value with tuples for lists; what follows goes into it level by level, and must come to an end."""
    if left == 0:
        raise RecursionError
    if isinstance(value, list):
        return tuple(_frozen(item, left - 1) for item in value)
    if isinstance(value, dict):
        return {key: _frozen(item, left - 1) for key, item in value.items()}
    if isinstance(value, int) and not -LARGEST - 1 <= value <= LARGEST:
        raise ValueError
    return value


def _syntax(message: str, lines: Sequence[str]) -> Fault:
    found = re.search(r"\s*\(at (?:line (\d+), column (\d+)|end of document)\)", message)
    text = message[: found.start()] if found else message
    at = Line(RELEASE, int(found[1]), int(found[2])) if found and found[1] else Line(RELEASE)
    line = lines[int(found[1]) - 1] if found and found[1] else ""
    if text.startswith(TWICE):
        head, key = re.match(r"\s*\[+\s*([^]]+?)\s*]", line), re.match(r"\s*([^=]+?)\s*=", line)
        if head:
            return Fault("list_of_two_forms" if head[1] in (*LISTS, "readers") else "table_twice", at, table=head[1])
        if key:
            return Fault("key_twice", at, key=key[1])
    code = "backslash_in_toml" if re.search(r'"[^"]*\\', line) else "not_toml"
    return Fault(code, at, problem=text[:1].lower() + text[1:])
