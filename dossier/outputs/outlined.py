"""Figures that look alike on every machine: as files their letters are drawn, for no font travels with an SVG.

On pages they stay text, set in the fonts of the document.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from html import unescape

from dossier.core.material import styles
from dossier.report import press

TEXT = re.compile(r"<text([^>]*)>([^<]*)</text>")
ATTRIBUTE = re.compile(r'([\w-]+)="([^"]*)"')
OF_THE_SHEET = re.compile(r' font-family="[^"]*" font-size="([^"]*)"')
"""What most texts of a figure are set in, said once at its head."""
OF_A_FONT = ("x", "y", "transform", "text-anchor", "font-family", "font-size", "font-weight", "font-style")
UNITS = 512
"""Of a letter's size, in which its shape is given: at 9 pt a hundredth of a millimetre, for small files."""


def outlined(figure: bytes) -> bytes:
    """The figure with each letter as a shape, of which a reader of screens reads the text."""
    svg = figure.decode()
    sheet = OF_THE_SHEET.search(svg)
    if sheet is None:
        return figure
    shapes: dict[str, str] = {}
    drawn = TEXT.sub(lambda text: _drawn(dict(ATTRIBUTE.findall(text[1])), text[2], sheet[1], shapes), svg)
    head, end, body = OF_THE_SHEET.sub("", drawn, count=1).partition(">\n<")
    names = ' xmlns:xlink="http://www.w3.org/1999/xlink"'
    first, start, rest = body.partition(">")
    defined = "".join(f'<path id="{name}" d="{shape}"/>' for name, shape in shapes.items())
    return f"{head}{end}{first}{names}{start}\n<defs>{defined}</defs>{rest}".encode()


def _drawn(looks: Mapping[str, str], text: str, size: str, shapes: dict[str, str]) -> str:
    """One text as uses of the shapes of its letters, which are added to those that are known."""
    heavy = int(looks.get("font-weight", 400)) > 500
    letters = _letters(heavy)
    across, uses = 0, []
    for letter in unescape(text):
        shape, advance = letters(letter)
        if shape:
            name = f"{'b' if heavy else 'r'}{ord(letter):x}"
            shapes[name] = shape
            uses.append(f'<use xlink:href="#{name}" x="{across}"/>')
        across += advance
    scale = float(looks.get("font-size", size)) / UNITS
    x = float(looks["x"]) - press.BEFORE[looks.get("text-anchor", "start")] * across * scale
    # Turned about its anchor, then moved to its start; a font counts upwards.
    turned = f"{looks['transform']} " if "transform" in looks else ""
    place = f"{turned}translate({x:.2f} {looks['y']}) scale({scale:.6f} -{scale:.6f})"
    kept = "".join(f' {name}="{value}"' for name, value in looks.items() if name not in OF_A_FONT)
    return f'<g role="img" aria-label="{text.replace(chr(34), "&quot;")}" transform="{place}"{kept}>{"".join(uses)}</g>'


@cache
def _letters(heavy: bool) -> Callable[[str], tuple[str, int]]:
    """What gives the outline and the advance of a letter."""
    from fontTools.pens.svgPathPen import SVGPathPen
    from fontTools.pens.transformPen import TransformPen
    from fontTools.ttLib import TTFont

    font = TTFont(styles() / "fonts" / f"InterTab-{600 if heavy else 400}.ttf")
    glyphs, names, finer = font.getGlyphSet(), font.getBestCmap(), UNITS / font["head"].unitsPerEm

    @cache
    def letter(character: str) -> tuple[str, int]:
        glyph = glyphs[names.get(ord(character), ".notdef")]
        pen = SVGPathPen(glyphs, ntos=lambda length: str(round(length)))
        glyph.draw(TransformPen(pen, (finer, 0, 0, finer, 0, 0)))
        return pen.getCommands(), round(glyph.width * finer)

    return letter
