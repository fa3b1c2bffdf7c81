"""Results -> words: how numbers, names and sentences are written, and where results become tables.

`numbers` and `words` say one thing, `names` what the release and its datasets are called; `tables` arranges what stands
in cells, `measures` fills them from results, `notes` says how each was taken. Below stands what the templates ask for.
"""

from dossier.typeset.measures import chapter_tables
from dossier.typeset.names import foretold, model, tested_model, tested_version, tier
from dossier.typeset.numbers import level_of, threshold
from dossier.typeset.tables import (
    FEW,
    FOOT,
    HALF_MEASURE,
    LEAST_LABEL,
    NARROW,
    SHORT,
    WHOLE,
    groups_of,
    is_narrow,
    is_tight,
    label_fits,
    pages_of,
    spanners,
)
from dossier.typeset.widths import parted
from dossier.typeset.words import date, listing, sentence_case

__all__ = ["FEW", "FOOT", "HALF_MEASURE", "LEAST_LABEL", "NARROW", "SHORT", "WHOLE", "chapter_tables", "date"]
__all__ += ["foretold", "groups_of", "is_narrow", "is_tight", "label_fits", "level_of", "listing", "model", "pages_of"]
__all__ += ["parted", "sentence_case", "spanners", "tested_model", "tested_version", "threshold", "tier"]
