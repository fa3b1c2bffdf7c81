"""What the run itself holds against its results."""

from __future__ import annotations

from dossier.findings.sentence import Sentence
from dossier.types import Evidence, Flag
from dossier.typeset import Cell, Column, Row, Table, counted, named, sentence_case

KINDS = {
    "constant_risk": "One risk for all",
    "duplicate_rows": "Equal rows",
    "few_events": "Few events",
    "few_sites": "Few sites",
    "missing_predictor": "Predictor missing",
    "model_differs": "Another model",
    "one_class": "One class",
    "risks_off": "Risks off",
    "rival_incomplete": "Rival incomplete",
    "rows_excluded": "Rows left out",
    "shared_rows": "Rows seen before",
}
"""The name of each kind of limitation; one that is not here is called by its flag."""


def finding(evidence: Evidence) -> Sentence:
    """How many limitations were raised by the run, and at how many sites."""
    flags = evidence.flags
    if not flags:
        return Sentence("The run raised no limitation by itself.")
    return Sentence(
        f"The run raised {counted(len(flags), 'limitation')} by itself.",
        "Each stands below with its numbers.",
    )


def raised(evidence: Evidence) -> Table:
    """The limitations by kind; each sentence names its site."""
    kinds = list(dict.fromkeys(flag.flag for flag in evidence.flags))
    flags = sorted(evidence.flags, key=lambda flag: kinds.index(flag.flag))
    return Table(
        name="table-flags",
        title="Limitations raised by the run.",
        note="Each follows from the numbers of this dossier; an answer of the author will stand beside it once given.",
        head="Kind",
        columns=(Column("What was found", words=True),),
        rows=tuple(Row(_kind(flag), (Cell(sentence_case(named(evidence, flag.says)), kind="word"),)) for flag in flags),
    )


def _kind(flag: Flag) -> str:
    return KINDS.get(flag.flag, sentence_case(flag.flag.replace("_", " ")))
