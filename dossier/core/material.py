"""Where templates, styles and sample releases stand: beside the code in a checkout, inside the package in a wheel."""

from __future__ import annotations

from pathlib import Path

_HERE = Path(__file__).resolve().parents[1]
_ROOT = _HERE if (_HERE / "templates").is_dir() else _HERE.parent


def templates() -> Path:
    """The folder of the page templates."""
    return _ROOT / "templates"


def styles() -> Path:
    """The folder of the style sheets, with `fonts/` in it."""
    return _ROOT / "styles"


def fixtures() -> Path:
    """The folder of the releases that ship."""
    return _ROOT / "fixtures"
