"""Faults of `dossier quick`: what a release would declare is named by its option, or mended in the table."""

from __future__ import annotations

import re
from dataclasses import replace

from dossier.errors import Fault

INSTEAD = (
    (r"\[outcome\] column names it in release\.toml", "--outcome names it"),
    (r"\[prediction\] column names it in release\.toml", "--risk names it"),
    (r"or declare another column in \[prediction\]", "or name another column with --risk"),
    (r"Say in \[outcome\] .*", "Write 1 where the outcome happened, and 0 where it did not."),
    (r", leave the cell empty, or declare the value as missing", ", or leave the cell empty"),
    (r", or declare its encoding.*", "."),
    (r"Name one of them, such as sheet = .*", "Keep one sheet in the workbook, or give a .csv."),
    (r"(If .* stands between the columns), declare separator = .* in the \[\[dataset\]\]", r"\1, save it as a .tsv"),
    (r'Declare decimal = "," in the \[\[dataset\]\], or write', "Write"),
    (r", or take it out of the release", ""),
)
"""What a fix asks of a release, as patterns, and what can be done without one."""
OF_A_RELEASE = r"release\.toml|\[\w+\]|\b(missing|sheet|separator|decimal|encoding|categorical) = |under categorical"
"""What is left of them, and cannot be done without one."""


def of_the_command(fault: Fault) -> Fault:
    """The fault with what the command line names, where a release would name it."""
    fix = fault.fix
    for pattern, instead in INSTEAD:
        fix = re.sub(pattern, instead, fix)
    if re.search(OF_A_RELEASE, fix):
        fix = f"Mend the table; or make a release of it, as dossier init shows, in which you can do this: {fix}"
    of_the_table = fault.where.startswith("release.toml, [[dataset]]")
    return replace(fault, where="TABLE" if of_the_table else fault.where, fix=fix)
