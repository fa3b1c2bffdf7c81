"""What an attacker with an integer solver is left of small counts, and how long it takes; into PROTECTION.md.

`python -m tests.bench.solver --write` draws cells of every tested hospital of the release of the tests and of knee.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from dossier import reading
from dossier.core.types import Study
from tests.attacker import SMALLEST, Attack, attacked, attacked_with_ranks
from tests.bench.protection_cost import LEFT, write
from tests.canaries import plant
from tests.test_neighbours import protected

OF_TESTS = ("own", "middle", "large")
OF_KNEE = ("internal", *(f"knee-{number}" for number in range(1, 9)))
DRAWN = {"tests": 12, "knee": None}
"""So many cells of each hospital, or all, each solved twice."""
HEAD = f"""{LEFT}

Small cells are the tails and bins of the risk, of either outcome, of all patients and of each subgroup, that hold 1 to
{SMALLEST - 1} persons; cells of nobody are exempt. Of those drawn, the range that is left to who knows every range, the
mean risks and the Brier scores; and to who has every AUROC too and knows each person of the other outcome. Where that
leaves fewer than {SMALLEST}, it is that knowledge: then it is asked how many numbers have a table that prints all the
same, for who knows nobody, up to {SMALLEST}; such cells are counted. A range is proved where the solver ended with both
ends; else its ends are the furthest tables found in time, and it is wider.

| release | hospital | small cells | of nobody | drawn | narrowest | narrowest, AUROC | by tables | proved | seconds |
|---|---|---|---|---|---|---|---|---|---|
"""


def studies(folder: Path) -> Iterator[tuple[str, Study, tuple[str, ...]]]:
    """Each release with the hospitals that are attacked."""
    plant(folder / "tests", f"[disclosure]\nminimum_cell = {SMALLEST}\n")
    yield "tests", reading.study(folder / "tests"), OF_TESTS
    yield "knee", protected("knee"), OF_KNEE


def line(release: str, study: Study, name: str) -> str:
    """What is left at a hospital."""
    attack, begun, most = Attack(study, name), time.process_time(), DRAWN[release]
    plain, ranks = (list(solve(study, name, most=most)) for solve in (attacked, attacked_with_ranks))
    took = time.process_time() - begun
    proved = sum(cell.is_exact for cell in (*plain, *ranks))
    narrowest = " | ".join(str(min(cell.values for cell in cells)) for cells in (plain, ranks))
    counts = f"{len(attack.small())} | {len(attack.nobody())} | {len(plain)}"
    by_tables = sum(cell.has_tables is not None for cell in ranks)
    shown = f"{narrowest} | {by_tables} | {proved} of {2 * len(plain)}"
    return f"| {release} | {name} | {counts} | {shown} | {took:.0f} |\n"


def main() -> None:
    """Print the table, and write it where that is asked for."""
    text = HEAD
    with tempfile.TemporaryDirectory() as folder:
        for release, study, names in studies(Path(folder)):
            for name in names:
                text += line(release, study, name)
                sys.stdout.write(text.splitlines()[-1] + "\n")
                sys.stdout.flush()
                if "--write" in sys.argv[1:]:
                    write(text)


if __name__ == "__main__":
    main()
