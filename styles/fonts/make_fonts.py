"""Make the static fonts of this folder from the published ones.

    pip download --no-deps fontpkg-inter==4.1.post1 && unzip -d inter fontpkg_inter-*.whl
    npm pack source-serif@4.5.1 && tar xzf source-serif-*.tgz
    python styles/fonts/make_fonts.py inter package

needs fontTools. The sources are checked by their SHA-256; the same fontTools gives the same bytes.

Inter is published as one variable font and has no Reserved Font Name. Two weights are cut from it, the digits are
swapped for the tabular ones (the `tnum` feature would widen the hyphen as well), and the result is called "Inter Tab",
so that nobody takes it for Inter. Features that change what was typed ("3x4", "->") are left out.

Source Serif has the Reserved Font Name "Source": a changed font must not carry it. Adobe's own static fonts are
therefore copied as they are.
"""

from __future__ import annotations

import hashlib
import shutil
import sys
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont
from fontTools.varLib.instancer import instantiateVariableFont

HERE = Path(__file__).parent
INTER = Path("fontpkg_inter/files/Inter[opsz,wght].ttf")
INTER_SHA256 = "29160a80ff49ddcab2c97711247e08b1fab27a484a329ce8b813d820dc559031"
INTER_LICENCE = Path("fontpkg_inter/LICENSE")
WEIGHTS = {400: "Regular", 600: "SemiBold"}
SOURCE_SERIF = {
    "SourceSerif4-400.ttf": (
        "TTF/SourceSerif4-Regular.ttf",
        "e5a4ee6a3d87bb9024796be390c6771e2a0eb1883dae25effaf57ca01668e24b",
    ),
    "SourceSerif4-400i.ttf": (
        "TTF/SourceSerif4-It.ttf",
        "9d2950a8f1da66e21502c35d646a1d2148e79f9ea43fd2158cf02f5232e7f430",
    ),
    "SourceSerif4-600.ttf": (
        "TTF/SourceSerif4-Semibold.ttf",
        "36db62940cb5728b12b1802476dc7fcf4c6c519a7bdd476ba23a4e555fc4655f",
    ),
}
SOURCE_SERIF_LICENCE = Path("LICENSE.md")

FAMILY = "Inter Tab"
NAMES_KEPT = [0, 7, 8, 9, 11, 13, 14]
"""Copyright, trademark, makers and licence: the names that stay as they are."""
FEATURES = ["kern", "mark", "mkmk", "ccmp", "locl", "case"]
SCRIPTS = [
    (0x0020, 0x024F),  # Latin, Latin-1, Extended A and B
    (0x02B0, 0x036F),  # modifiers, combining marks
    (0x0370, 0x03FF),  # Greek
    (0x1E00, 0x1EFF),  # Latin Extended Additional
    (0x2000, 0x22FF),  # punctuation, indices, currencies, letterlike, arrows, operators
    (0x2300, 0x23FF),  # technical
    (0x25A0, 0x27BF),  # shapes, symbols, check marks
    (0xFB00, 0xFB06),  # ligatures
]


def checked(path: Path, sha256: str) -> Path:
    """The path, once its content is known to be the expected one."""
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != sha256:
        raise SystemExit(f"{path.name} has SHA-256 {found}, not {sha256}: another version of the font.")
    return path


def tabular_digits(font: TTFont) -> None:
    """Let the digits be the tabular ones by themselves."""
    glyphs = set(font.getGlyphOrder())
    for table in font["cmap"].tables:
        for code, name in list(table.cmap.items()):
            if chr(code) in "0123456789" and f"{name}.tf" in glyphs:
                table.cmap[code] = f"{name}.tf"


def only_what_is_printed(font: TTFont) -> None:
    """Drop scripts, features and hints that no page of ours uses."""
    options = subset.Options(
        layout_features=FEATURES, hinting=False, notdef_outline=True, name_IDs=NAMES_KEPT, glyph_names=False
    )
    options.drop_tables += ["STAT", "MVAR"]
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=[code for first, last in SCRIPTS for code in range(first, last + 1)])
    subsetter.subset(font)


def rename(font: TTFont, weight: str) -> None:
    """Call the font by its own family, in the way both old and new readers of font names understand."""
    regular = weight == "Regular"
    names = {
        1: FAMILY if regular else f"{FAMILY} {weight}",
        2: "Regular",
        3: f"4.001;{FAMILY} {weight}",
        4: f"{FAMILY} {weight}",
        5: "Version 4.001",
        6: f"{FAMILY.replace(' ', '')}-{weight}",
    }
    if not regular:
        names |= {16: FAMILY, 17: weight}
    for identifier, text in names.items():
        font["name"].setName(text, identifier, 3, 1, 0x409)


def inter_tab(source: Path, weight: int) -> TTFont:
    """One weight of Inter, for text sizes, with tabular digits."""
    font = TTFont(source, recalcTimestamp=False)
    instantiateVariableFont(font, {"opsz": 14, "wght": weight}, inplace=True)
    tabular_digits(font)
    only_what_is_printed(font)
    rename(font, WEIGHTS[weight])
    font["head"].modified = font["head"].created
    return font


def main(inter: Path, source_serif: Path) -> None:
    """Write the five fonts and the two licences into this folder."""
    variable = checked(inter / INTER, INTER_SHA256)
    for weight in WEIGHTS:
        inter_tab(variable, weight).save(HERE / f"InterTab-{weight}.ttf")
    shutil.copyfile(inter / INTER_LICENCE, HERE / "InterTab-LICENSE.txt")
    for name, (original, sha256) in SOURCE_SERIF.items():
        shutil.copyfile(checked(source_serif / original, sha256), HERE / name)
    shutil.copyfile(source_serif / SOURCE_SERIF_LICENCE, HERE / "SourceSerif4-LICENSE.md")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
