"""Tables as hospitals export them: each goes at the first go, or is told the option of this door that mends it."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import openpyxl
import pandas
import pyreadstat
import pytest

from dossier import reading
from dossier.command_line import initial
from dossier.core.errors import DossierError
from tests.estimated import present, refused

ROWS = 40
RISKS = [0.05, 0.125, 0.3, 0.875] * (ROWS // 4)
OUTCOMES = [0, 0, 1, 1] * (ROWS // 4)
SITES = ["Nord", "Süd"] * (ROWS // 2)


def text(
    outcomes: Sequence[Any] = OUTCOMES,
    risks: Sequence[Any] = RISKS,
    separator: str = ",",
    head: str = "",
    tail: str = "",
) -> str:
    rows = (separator.join(map(str, row)) for row in zip(SITES, outcomes, risks, strict=True))
    return head + "\n".join([separator.join(("hospital", "died", "risk")), *rows, tail])


def words(no: object, yes: object) -> list[object]:
    return [yes if outcome else no for outcome in OUTCOMES]


def of_r() -> str:
    frame = pandas.DataFrame({"hospital": SITES, "died": OUTCOMES, "risk": RISKS}, index=range(1, ROWS + 1))
    return frame.to_csv(quoting=2)


def comma(number: float) -> str:
    return str(number).replace(".", ",")


PER_CENT, COMMAS = [100 * risk for risk in RISKS], list(map(comma, RISKS))
SIGNED = [f"{risk:g}%" for risk in PER_CENT]
LOG_ODDS = [math.log(risk / (1 - risk)) for risk in RISKS]
TEXTS: dict[str, tuple[bytes, dict[str, Any]]] = {
    "R with names of rows and quotes": (of_r().encode(), {}),
    "R with NA": (text(tail="Nord,NA,0.5\nNord,1,NA\n").encode(), {}),
    "R with TRUE and FALSE": (text(words("FALSE", "TRUE"), tail="Nord,NA,0.5\n").encode(), {}),
    "SAS with points": (text(tail="Nord,.,0.5\nNord,1,.\n").encode(), {}),
    "empty cells": (text(tail="Nord,,0.5\nNord,1,\n").encode(), {}),
    "own code for missing": (text(tail="Nord,-9,0.5\n").encode(), {"missing": ("-9",)}),
    "own word for missing": (text(tail="Nord,1,unknown\n").encode(), {"missing": ("unknown",)}),
    "Excel with semicolons and commas": (text(risks=COMMAS, separator=";").encode(), {}),
    "Excel with a line for the separator": (text(separator=";", head="sep=;\n").encode(), {}),
    "Excel with blank rows below": (text(separator=";", tail=";;\n;;\n").encode(), {}),
    "Excel with a byte order mark": (text().encode("utf-8-sig"), {}),
    "Excel as Unicode text": (text(separator="\t").encode("utf-16"), {}),
    "UTF-16 without a mark": (text(separator="\t").encode("utf-16-le"), {}),
    "windows-1252": (text().encode("windows-1252"), {}),
    "windows line ends": (text().replace("\n", "\r\n").encode(), {}),
    "bars": (text(separator="|").encode(), {}),
    "yes and no": (text(words("no", "yes")).encode(), {"positive": "yes"}),
    "Yes, No and NA": (text(words("No", "Yes"), tail="Nord,NA,0.5\n").encode(), {"positive": "Yes"}),
    "ja and nein": (text(words("nein", "ja")).encode(), {"positive": "ja"}),
    "WAHR and FALSCH": (text(words("FALSCH", "WAHR")).encode(), {"positive": "WAHR"}),
    "1 and 2": (text(words(1, 2)).encode(), {"positive": "2"}),
    "per cent": (text(risks=PER_CENT).encode(), {"scale": "percent"}),
    "per cent with signs": (text(risks=SIGNED).encode(), {"scale": "percent"}),
    "per cent with signs and commas": (
        text(risks=[comma(p) + " %" for p in PER_CENT], separator=";").encode(),
        {"scale": "percent"},
    ),
    "per cent as Excel sets it, behind a blank that does not break": (
        text(risks=[comma(p) + "\u00a0%" for p in PER_CENT], separator=";").encode(),
        {"scale": "percent"},
    ),
    "per cent with a narrow blank": (text(risks=[f"{p:.1f}\u202f%" for p in PER_CENT]).encode(), {"scale": "percent"}),
    "blanks behind cells and heads, and empty columns": (
        "\n".join(f"{line} ,,".replace(",0.", " ,0.") for line in text().strip().split("\n")).encode(),
        {},
    ),
    "UTF-16 with semicolons and commas": (text(risks=COMMAS, separator=";").encode("utf-16"), {}),
    "Excel with a mark and a line for the separator": (
        ("sep=;\n" + text(risks=COMMAS, separator=";")).encode("utf-8-sig"),
        {},
    ),
    "numbers in powers of ten with commas": (
        text(risks=[f"{risk:.3E}".replace(".", ",") for risk in RISKS], separator=";").encode(),
        {},
    ),
    "numbers without a leading 0": (text(risks=[comma(risk)[1:] for risk in RISKS], separator=";").encode(), {}),
    "outcomes as 0,0 and 1,0": (text(words("0,0", "1,0"), COMMAS, ";").encode(), {}),
    "line ends of an old Mac": (text().replace("\n", "\r").encode(), {}),
    "errors of Excel": (text(tail="Nord,#N/A,0.5\nNord,1,#NV\n").encode(), {"missing": ("#N/A", "#NV")}),
    "letters of SAS for missing": (text(tail="Nord,.A,0.5\nNord,1,.Z\n").encode(), {"missing": (".A", ".Z")}),
    "nines of SPSS": (text(tail="Nord,999,0.5\n").encode(), {"missing": ("999",)}),
    "log odds": (text(risks=LOG_ODDS).encode(), {"scale": "log_odds"}),
}
"""The bytes of a .csv, and the options that it needs: each is named where it is not given."""


def holds_the_table(file: Path, **options: Any) -> None:
    found = reading.quick(file, "died", "risk", site="hospital", **options).datasets
    assert [each.site for each in found] == ["Nord", "Süd"]
    for k, each in enumerate(found):
        assert present(each.outcome).tolist() == OUTCOMES[k::2]
        assert present(each.risk).tolist() == pytest.approx(RISKS[k::2], abs=1e-12)


@pytest.mark.parametrize("export", TEXTS)
def test_export_goes_or_is_told_its_option(tmp_path: Path, export: str) -> None:
    content, options = TEXTS[export]
    file = tmp_path / "export.csv"
    file.write_bytes(content)
    for key, value in options.items():
        caught = refused(reading.quick, file, "died", "risk", site="hospital")
        told = f"--{key}" if isinstance(value, tuple) else f"--{key} {value}"
        assert told in str(caught).replace('"', "")
        assert "release.toml" not in str(caught)
    holds_the_table(file, **options)


def _excel(file: Path) -> None:
    book = openpyxl.Workbook()
    book.worksheets[0].title = "Legend"
    page = book.create_sheet("Cases")
    for row in (("hospital", "died", "risk"), *zip(SITES, OUTCOMES, RISKS, strict=True)):
        page.append(row)
    book.save(file)


def _spss(file: Path) -> None:
    frame = pandas.DataFrame({"hospital": SITES, "died": OUTCOMES, "risk": RISKS})
    pyreadstat.write_sav(frame, str(file), variable_value_labels={"died": {0: "alive", 1: "dead"}})


def _stata(file: Path) -> None:
    pyreadstat.write_dta(pandas.DataFrame({"hospital": SITES, "died": OUTCOMES, "risk": RISKS}), str(file))


@pytest.mark.parametrize(
    ("name", "write", "options", "told"),
    [
        ("export.xlsx", _excel, {"sheet": "Cases"}, "--sheet"),
        ("export.sav", _spss, {}, None),
        ("export.dta", _stata, {}, None),
    ],
)
def test_file_of_a_program_goes_or_is_told_its_option(
    tmp_path: Path, name: str, write: Callable[[Path], None], options: dict[str, Any], told: str | None
) -> None:
    write(tmp_path / name)
    if told is not None:
        with pytest.raises(DossierError, match=told):
            reading.quick(tmp_path / name, "died", "risk", site="hospital")
    holds_the_table(tmp_path / name, **options)


def test_row_of_totals_is_told(tmp_path: Path) -> None:
    (tmp_path / "export.csv").write_text(text(tail=f"Total,{sum(OUTCOMES)},{sum(RISKS)}\n"), encoding="utf-8")
    with pytest.raises(DossierError, match="row 42"):
        reading.quick(tmp_path / "export.csv", "died", "risk", site="hospital")


# ---- the look that becomes a release --------------------------------------------------------------------------------


@pytest.mark.parametrize("export", ["Yes, No and NA", "per cent with signs and commas", "log odds", "windows-1252"])
def test_release_of_a_table_is_read_as_the_table(tmp_path: Path, export: str) -> None:
    content, options = TEXTS[export]
    (tmp_path / "Export Süd.csv").write_bytes(content)
    given = [word for key, value in options.items() for word in (f"--{key}", value)]
    columns = ["--outcome", "died", "--risk", "risk", "--site", "hospital", *given]
    words = ["init", str(tmp_path / "release"), "--table", str(tmp_path / "Export Süd.csv"), *columns]
    subprocess.run([sys.executable, "-m", "dossier", *words], check=True)
    own = reading.quick(tmp_path / "Export Süd.csv", "died", "risk", site="hospital", **options).datasets
    for here, there in zip(own, reading.study(tmp_path / "release").datasets, strict=True):
        assert (here.name, here.site, here.excluded) == (there.name, there.site, there.excluded)
        assert present(here.risk).tolist() == present(there.risk).tolist()


def test_release_of_an_outcome_by_a_horizon_is_read_as_the_table(tmp_path: Path) -> None:
    rows = [f"{day},{status},{day}%" for day in range(10, 90) for status in (0, 1)]
    (tmp_path / "export.csv").write_text("\n".join(["days,status,risk", *rows, ""]), encoding="utf-8")
    options = ["--time", "days", "--event", "status", "--at", "30", "--risk", "risk", "--scale", "percent"]
    words = ["init", str(tmp_path / "release"), "--table", str(tmp_path / "export.csv"), "--threshold", "0.2", *options]
    subprocess.run([sys.executable, "-m", "dossier", *words], check=True)
    study = reading.study(tmp_path / "release")
    (own,) = reading.quick(tmp_path / "export.csv", "status", "risk", time="days", at=30.0, scale="percent").datasets
    (found,) = study.datasets
    assert present(own.risk).tolist() == present(found.risk).tolist()
    assert study.release.thresholds.declared == (0.2,)


@pytest.mark.parametrize("folder", ["out", "out/release", "."])
def test_a_release_is_not_written_into_out(tmp_path: Path, folder: str) -> None:
    caught = refused(initial.refuse_within, tmp_path / folder, tmp_path / "out")
    assert [fault.code for fault in caught.faults] == ["release_in_out"]
