"""The smallest release.toml: what every release has, and one external dataset."""

from __future__ import annotations

HEAD = """
[release]
model = "Example"
version = "1"
date = 2026-10-01
owner = "The owner"
[outcome]
name = "Readmission"
column = "outcome"
[prediction]
column = "risk"
"""
SITE = '[[dataset]]\nname = "site"\nrole = "external"\nfile = "site.csv"\n'
