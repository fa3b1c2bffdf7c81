"""The words of an institution around the pages: filled with what they may print, as long as there is room for."""

from __future__ import annotations

import re
from dataclasses import dataclass

from dossier.core import looks, types
from dossier.core.release import Templates
from dossier.typeset import names, widths, words

WIDEST_HEAD, WIDEST_FOOT, WIDEST_NAME = 126.0, 146.0, 40.0
"""A line at the head and at the foot of a page, and in them the name of whose words follow, in mm."""
SIGN = re.compile(r"([!-/:-@\[-`{-~])")
"""What Markdown may take for a sign of its own."""


@dataclass(frozen=True)
class Around:
    """What stands around the pages of an edition; nothing where the institution says nothing."""

    head: str
    foot: str = ""
    letterhead: str = ""
    imprint: str = ""


def whose(evidence: types.Evidence) -> str:
    """Whose words all of it is."""
    return evidence.release.report.organisation or evidence.release.release.owner


def around(evidence: types.Evidence, title: str, edition: str, sha256: str) -> Around:
    """The words around the pages of an edition: page 1 has a letterhead, every page a head and a foot."""
    own = evidence.release.report.templates or Templates()
    release = evidence.release.release
    values = {
        "organisation": whose(evidence),
        "title": title,
        "model": release.model,
        "version": release.version,
        "date": words.date(release.date),
        "edition": edition,
        "sha256": sha256,
    }

    def filled(text: str | None, escape: str = r"\1") -> str:
        return looks.VALUE.sub(lambda found: SIGN.sub(escape, values[found[1]]), text or "")

    name = widths.shortened([whose(evidence)], WIDEST_NAME)[0]
    head, foot, letterhead = map(filled, (own.running_head, own.running_foot, own.letterhead))
    return Around(
        names.running_head(evidence, f"{name}, {widths.cut(head, WIDEST_HEAD - WIDEST_NAME)}" if head else ""),
        # Below the name of the dossier.
        f"\n{name}: {widths.cut(foot, WIDEST_FOOT - WIDEST_NAME)}" if foot else "",
        "\n".join(widths.cut(line, WIDEST_HEAD) for line in (whose(evidence), *letterhead.split("\n")))
        if letterhead
        else "",
        filled(own.imprint, r"\\\1"),
    )
