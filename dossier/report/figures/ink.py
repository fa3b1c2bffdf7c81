"""The colours and strokes of the style guide."""

INK, INK_2, MID, RULE, HAIR = "#16181b", "#4d535a", "#858c94", "#aeb4ba", "#d9dcdf"
TINTS = ("#eff1f3", "#dfe4e8", "#cbd2d8")
BLUE, BAND = "#14507f", "#c6d7e4"
ALERT, ORANGE = "#9c3f0c", "#e08a4f"
BROKEN = (0, (3, 2))
BROKEN_CURVE = (0, (2.2, 1.2))
