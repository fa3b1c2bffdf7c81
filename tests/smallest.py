"""The smallest release.toml: what every release has, and one external dataset; and what makes it quick."""

from __future__ import annotations

from pathlib import Path

ABOUT = """
[release]
model = "Example"
version = "1"
date = 2026-10-01
owner = "The owner"
"""
HEAD = f"""{ABOUT}[outcome]
name = "Readmission"
column = "outcome"
[prediction]
column = "risk"
"""
QUICK = """
[thresholds]
declared = [0.5]
[resampling]
bootstrap = 20
permutations = 19
"""
"""One threshold and few draws, where the bounds do not matter."""
SITE = '[[dataset]]\nname = "site"\nrole = "external"\nfile = "site.csv"\n'


def release_in(folder: Path, text: str, **files: str | bytes) -> Path:
    """The folder, with a release of this text and with files in it: `site__csv` is site.csv."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in {"release__toml": text, **files}.items():
        (folder / name.replace("__", ".")).write_bytes(content.encode() if isinstance(content, str) else content)
    return folder
