"""Results -> words: how numbers, names and sentences are written, and where results become tables.

`numbers` and `words` say one thing, `names` what the release and its datasets are called; `tables` arranges what stands
in cells, `measures` fills them from results, `notes` says how each was taken. Below stands what the templates ask for.
"""

from dossier.typeset import measures, names, numbers, tables, widths, words

__all__ = ["measures", "names", "numbers", "tables", "widths", "words"]
