"""What kind of file the first bytes tell, whatever its name ends in, and how large a packed one becomes."""

from __future__ import annotations

import gzip
import io
import zipfile
import zlib

from dossier.core.errors import DataError
from dossier.core.facts import Count, Fact
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

MOST_BYTES = (1 << 31) - 2
"""The largest table that is read whole, unpacked: Arrow counts the bytes of a text, and one more, in 31 bits."""
SMALL = 1 << 26
"""Below this nobody asks how well it was packed."""
MOST_TIMES = 200
"""Tables shrink ten to fifty times when they are packed; what shrinks more often than this is no table."""
PIECE = 1 << 20


def kind(file: str) -> str | None:
    """The ending by which a table is read, in small letters; None when it is read by none."""
    name = file.lower()
    return next((ending for ending in sorted(KINDS, key=len, reverse=True) if name.endswith(ending)), None)


def refuse_another_kind(content: bytes, file: str, ending: str) -> None:
    """Refuse a file whose first bytes say another kind than its ending."""
    for signature, name, endings in SIGNATURES:
        if content.startswith(signature) and ending not in endings:
            mend = Fact("name_or_save", right=endings[0], ending=ending) if endings else Fact("save_as_table")
            raise DataError.one("other_kind_of_file", File(file), file=file, kind=name, ending=ending, mend=mend)


def gunzipped(content: bytes, file: str) -> bytes:
    """What a gzip file holds; a DataError when it is none, is cut off, or holds more than a table may."""
    pieces: list[bytes] = []
    size = 0
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as stream:
            while piece := stream.read(PIECE):
                size += len(piece)
                _refuse_too_large(file, len(content), size)
                pieces.append(piece)
    except (OSError, EOFError, zlib.error):
        raise DataError.one("not_a_gzip_file", File(file), file=file) from None
    return b"".join(pieces)


def refuse_too_large_when_unzipped(content: bytes, file: str) -> None:
    """Refuse a workbook whose parts declare a size that no table has; zipfile reads no more than is declared.

    Raises zipfile.BadZipFile when the bytes are no zip archive.
    """
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        _refuse_too_large(file, len(content), sum(part.file_size for part in archive.infolist()))


def _refuse_too_large(file: str, packed: int, size: int) -> None:
    most = min(MOST_BYTES, max(SMALL, MOST_TIMES * packed))
    if size > most:
        of = Count(packed, "byte")
        raise DataError.one("unpacks_to_too_much", File(file), packed=of, file=file, megabytes=most >> 20)
