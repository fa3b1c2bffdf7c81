"""What `check` of the library finds: a frame that prints every row and every word."""

from __future__ import annotations

import pandas


class Checked(pandas.DataFrame):
    """A row a fault or flag; pandas cuts texts where a line of a terminal ends: what is cut may be how to mend."""

    def __repr__(self) -> str:
        """Each row as `dossier check` writes it: what it is, where, what it says, and the answer or the mend."""
        rows = self.itertuples(index=False, name=None)
        return "\n".join(
            f"{' '.join(filter(None, (kind, name)))}, {where}: {says}{f' {reply}' if reply else ''}"
            for kind, name, where, says, reply in rows
        )

    def _repr_html_(self) -> str:
        with pandas.option_context("display.max_colwidth", None, "display.max_rows", None):
            return self.to_html()
