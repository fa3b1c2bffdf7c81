"""The looks of an institution: colours that can be read, a picture that is no more than one, words that only say."""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Iterator
from xml.etree import ElementTree

from dossier.core import living_text

CONTRAST, OF_A_LINE = 4.5, 3.0
"""What text of 9 pt and what a line needs at least against white, by WCAG 2."""
PALEST_WORDS = "#4d535a"
"""The palest words that stand on a coloured band: the heads of tables."""
PNG, MOST_DOTS = b"\x89PNG\r\n\x1a\n", 4000
DRAWN = {"svg", "g", "path", "rect", "circle", "ellipse", "line", "polyline", "polygon", "defs", "title", "desc"}
DRAWN |= {"clipPath", "linearGradient", "radialGradient", "stop"}
"""The elements of an SVG that only draw: none runs, links, loads, or asks for a font."""
UNSAFE = re.compile(r"^(?:href|on|src)|url\((?!#)|@|\\", re.IGNORECASE)
"""What an attribute runs or fetches with."""
LOGO = re.compile(r"data:image/(?:png|svg\+xml);base64,([A-Za-z0-9+/]+=*)")


def contrast(colour: str) -> float:
    """How a colour such as #14507f stands out from white; 0 of what is none."""
    if not re.fullmatch("#[0-9a-fA-F]{6}", colour):
        return 0.0
    shares = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares)
    return 1.05 / (0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05)


def is_pale(colour: str) -> bool:
    """Whether words in the ink of the heads of tables can be read on a colour."""
    own = contrast(colour)
    return own > 0 and contrast(PALEST_WORDS) / own >= CONTRAST


def only_draws(content: bytes) -> bool:
    """Whether a file is a PNG, or an SVG of shapes alone that fetches nothing."""
    from PIL import Image

    try:
        if content.startswith(PNG):
            with Image.open(io.BytesIO(content), formats=["PNG"]) as picture:
                picture.load()
                return max(picture.size) <= MOST_DOTS
        text = content.decode()
        elements = [] if re.search(r"<!(?!--)|<\?xml-", text) else list(ElementTree.fromstring(text).iter())
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError):
        return False
    tags = [element.tag.rpartition("}")[2] for element in elements]
    looks = [f"{key.rpartition('}')[2]}={value}" for element in elements for key, value in element.attrib.items()]
    return tags[:1] == ["svg"] and DRAWN.issuperset(tags) and not any(map(UNSAFE.search, looks))


def embedded(content: bytes) -> str:
    """A picture as results.json and pages hold it."""
    kind = "png" if content.startswith(PNG) else "svg+xml"
    return f"data:image/{kind};base64,{base64.b64encode(content).decode()}"


def logo(text: str) -> str:
    """A picture that a results.json holds, or none; a ValueError where it is something else."""
    found = LOGO.fullmatch(text)
    if text and (found is None or not only_draws(base64.b64decode(found[1]))):
        raise ValueError("the logo is no picture that only draws")
    return text


# ---- words around the pages -----------------------------------------------------------------------------------------

VALUES = ("organisation", "title", "model", "version", "date", "edition", "sha256")
"""What words around the pages may print of a dossier, each in two braces."""
FILES = {"letterhead.txt": "letterhead", "running_head.txt": "running_head", "running_foot.txt": "running_foot"}
FILES |= {"imprint.md": "imprint"}
"""The files of such words, each with its key."""
VALUE = re.compile(rf"\{{\{{ *({'|'.join(VALUES)}) *\}}\}}")
NOT_WORDS = re.compile(r"</?[A-Za-z][^>\n]*>?|<[!?][^>\n]*>?|\{\{?[^{}\n]*\}?\}?|\}")
"""The mark-up of pages and what a language of templates would run, closed or not."""
WIDE = 100
"""Letters of a line of text on a page."""


def strange(text: str) -> Iterator[str]:
    """What of words around the pages is no word: mark-up, and braces that hold no value and no number by its name."""
    return (found[0] for found in NOT_WORDS.finditer(living_text.PLACE.sub("", VALUE.sub("", text))))


def lines(text: str) -> int:
    """How many lines of a page a text takes, about."""
    return sum(-(-len(line) // WIDE) or 1 for line in text.split("\n"))
