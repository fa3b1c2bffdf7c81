"""The looks of an institution: a colour that can be read, and a picture that is no more than one."""

from __future__ import annotations

import base64
import io
import re
from xml.etree import ElementTree

CONTRAST = 4.5
"""What text of 9 pt needs at least against white, by WCAG 2."""
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
