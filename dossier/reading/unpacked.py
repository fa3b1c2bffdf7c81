"""Packed files: how large they become, asked before anything is unpacked in full."""

from __future__ import annotations

import gzip
import io
import zipfile
import zlib

from dossier.core.errors import Fault
from dossier.core.facts import Count
from dossier.core.faults.locations import File

MOST_BYTES = (1 << 31) - 2
"""The largest table that is read whole, unpacked: Arrow counts the bytes of a text, and one more, in 31 bits."""
SMALL = 1 << 26
"""Below this nobody asks how well it was packed."""
MOST_TIMES = 200
"""Tables shrink ten to fifty times when they are packed; what shrinks more often than this is no table."""
PIECE = 1 << 20


def gunzipped(content: bytes, file: str, faults: list[Fault]) -> bytes | None:
    """What a gzip file holds; None, and a fault, when it is none, is cut off, or holds more than a table may."""
    most = _most(len(content))
    pieces: list[bytes] = []
    size = 0
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as stream:
            while piece := stream.read(PIECE):
                size += len(piece)
                if size > most:
                    faults.append(_too_large(file, len(content), most))
                    return None
                pieces.append(piece)
    except (OSError, EOFError, zlib.error):
        faults.append(Fault("not_a_gzip_file", File(file), file=file))
        return None
    return b"".join(pieces)


def too_large_when_unzipped(content: bytes, file: str) -> Fault | None:
    """The fault of a workbook whose parts declare a size that no table has; zipfile reads no more than is declared.

    Raises zipfile.BadZipFile when the bytes are no zip archive.
    """
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        size = sum(part.file_size for part in archive.infolist())
    most = _most(len(content))
    return _too_large(file, len(content), most) if size > most else None


def _most(packed: int) -> int:
    return min(MOST_BYTES, max(SMALL, MOST_TIMES * packed))


def _too_large(file: str, packed: int, most: int) -> Fault:
    return Fault("unpacks_to_too_much", File(file), packed=Count(packed, "byte"), file=file, megabytes=most >> 20)
