"""What kind of file the first bytes tell, whatever its name ends in."""

from __future__ import annotations

from dossier.core.errors import Fault
from dossier.core.facts import Fact
from dossier.core.faults.locations import File

PACKED = (".csv.gz", ".tsv.gz")
TEXTS = (".csv", ".tsv", *PACKED)
KINDS = (*TEXTS, ".parquet", ".feather", ".xlsx", ".xpt", ".sas7bdat", ".dta", ".sav")
"""The endings of the tables that are read."""

SIGNATURES: tuple[tuple[bytes, str, tuple[str, ...]], ...] = (
    (b"\x1f\x8b", "a gzip file", PACKED),
    (b"PK\x03\x04", "a workbook or a zip archive", (".xlsx",)),
    (b"\xd0\xcf\x11\xe0", "an old or locked Office file", ()),
    (b"PAR1", "a parquet file", (".parquet",)),
    (b"ARROW1", "a feather file", (".feather",)),
    (b"FEA1", "a feather file of the first version", (".feather",)),
    (b"HEADER RECORD*******LIB", "a SAS transport file", (".xpt",)),
    (b"$FL2", "an SPSS file", (".sav",)),
    (b"$FL3", "an SPSS file", (".sav",)),
    (b"<stata_dta>", "a Stata file", (".dta",)),
    (b"%PDF", "a PDF", ()),
    (b"<!DOCTYPE", "a web page", ()),
    (b"<html", "a web page", ()),
    (b"<?xml", "an XML file", ()),
    (b"{\\rtf", "a text with formatting", ()),
    (b"SQLite format 3\0", "a database", ()),
)


def kind(file: str) -> str | None:
    """The ending by which a table is read, in small letters; None when it is read by none."""
    name = file.lower()
    return next((ending for ending in sorted(KINDS, key=len, reverse=True) if name.endswith(ending)), None)


def another_kind(content: bytes, file: str, ending: str) -> Fault | None:
    """The fault of a file whose first bytes say another kind than its ending."""
    for signature, name, endings in SIGNATURES:
        if content.startswith(signature) and ending not in endings:
            mend = Fact("name_or_save", right=endings[0], ending=ending) if endings else Fact("save_as_table")
            return Fault("other_kind_of_file", File(file), file=file, kind=name, ending=ending, mend=mend)
    return None
