"""What dossier says: one file of data for each kind of text, `sentence` that fills one, `numbers` that writes numbers.

The files are TOML, an entry a code, so that the words can be read and mended by who writes none of the code.
"""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any


@cache
def entries(name: str) -> dict[str, Any]:
    """The entries of a file of words, read once and no earlier than a word is asked for.

    Examples
    --------
    >>> entries("sources")["Cox 1958"]["doi"]
    '10.1093/biomet/45.3-4.562'
    """
    return tomllib.loads((Path(__file__).parent / f"{name}.toml").read_text(encoding="utf-8"))
