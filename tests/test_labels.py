"""The labels of predictors stand on pages and figures; what is recorded keeps the names of the columns."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path

import pytest
from markupsafe import Markup

from dossier import reading
from dossier.core import types
from dossier.core.contents import SUBMITTED
from dossier.core.facts import Fact
from dossier.core.release import Predictor, Subgroup
from dossier.reading.declared import declared
from dossier.record.results import of as results_of
from dossier.report import compose, draw
from dossier.report.chapters import description
from dossier.typeset import names
from dossier.typeset.labels import labelled, level_of, unbroken_names, with_unit
from dossier.typeset.numbers import HYPHEN, JOINER, TIED
from tests.conftest import by_hand
from tests.estimated import refused
from tests.figures.evidence import Case
from tests.reasons import because

FOLDER = Path(__file__).parent.parent / "fixtures" / "breast"
RELEASE = (FOLDER / "release.toml").read_text()


def _labelled() -> types.Evidence:
    plain = by_hand(Case("two", ("Desio, Italy", "Bergamo, Italy")))
    release = plain.release.model_copy(
        update={
            "predictor": (Predictor(name="PLT1", label="Platelets", unit="/nL"), Predictor(name="male", label="Sex")),
            "subgroup": (Subgroup(column="male", levels={"0": "female", "1": "men"}),),
        }
    )
    sites = [dataclasses.replace(site, features=("PLT1", "male")) for site in types.externals(plain)]
    statistics: list[tuple[str, str, str | None, float]]
    statistics = [
        ("PLT1", "median", None, 200.0),
        ("PLT1", "quantile_25", None, 150.0),
        ("PLT1", "quantile_75", None, 260.0),
    ]
    statistics += [("male", "share", "0", 0.4), ("male", "share", "1", 0.6)]
    return dataclasses.replace(
        plain,
        release=release,
        datasets=tuple(sites),
        descriptions=tuple(
            types.DescriptionResult(site.name, types.Description(name, statistic, value, 100, level))
            for site in sites
            for name, statistic, level, value in statistics
        ),
    )


def test_labels_stand_in_the_table_with_their_units_and_the_words_of_the_levels() -> None:
    (table,) = description.characteristics(labelled(_labelled()))
    assert [row.label.replace(TIED, " ") for row in table.rows] == ["Platelets, /nL", "Sex: men, %"]


def test_pages_have_labels_and_results_the_columns() -> None:
    evidence = _labelled()
    for edition in SUBMITTED:
        html = compose.document(types.Gallery(evidence, {}, {}), edition).html
        assert ("Platelets, /nL" in html.replace(JOINER, "")) == (edition == "regulatory")
        assert "PLT1" not in html
    assert b"PLT1" in results_of(evidence).text()
    assert draw.gallery(evidence).evidence is evidence


def test_no_column_keeps_its_name_in_what_is_printed() -> None:
    """What a subgroup was found to be must be found under its label, or the page says that nothing was compared."""
    plain = _labelled()
    men, statistics = types.Subset("male", "1"), types.Absent(because("none"))
    several = types.SubgroupEvidence(
        (types.SubgroupSummary("site-0", "male", "1", statistics),),
        (types.Result("AUROC", "auroc", "site-0", {}, statistics, men),),
        (types.CurveResult("roc", "site-0", statistics, {"predictor": "PLT1", "with": "male"}, men),),
    )
    evidence = dataclasses.replace(plain, subgroups=several)
    printed = labelled(evidence)
    assert types.find_in_subgroup(printed, types.Subset("Sex", "1"), "auroc", "site-0") is statistics
    assert [dict(curve.at) for curve in printed.subgroups.curves] == [{"predictor": "Platelets", "with": "Sex"}]
    undeclared = plain.release.model_copy(update={"predictor": (), "subgroup": ()})
    before, after = (repr(vars(dataclasses.replace(each, release=undeclared))) for each in (evidence, printed))
    for column in ("'male'", "'PLT1'"):
        assert column in before
        assert column not in after


def test_without_labels_nothing_changes() -> None:
    plain = by_hand(Case("two", ("Desio, Italy", "Bergamo, Italy")))
    assert labelled(plain) is plain
    assert with_unit(plain, "PLT1") == "PLT1"
    assert level_of(plain, "male", "1") == "1"


def test_country_and_setting_stand_in_the_table_of_the_sites() -> None:
    evidence = _labelled()
    first, second = evidence.datasets
    placed = dataclasses.replace(first, country="Italy", setting="emergency department")
    table = description.sites(dataclasses.replace(evidence, datasets=(placed, second)))
    assert table.columns[-1].label == "Where"
    assert [row.cells[-1].text for row in table.rows] == ["Italy, emergency department", "not stated"]
    assert "Where" not in [column.label for column in description.sites(evidence).columns]


def _codes(more: str) -> list[str]:
    return [fault.code for fault in declared((RELEASE + more).encode()).faults]


def test_a_label_is_given_once_and_to_one_column() -> None:
    assert _codes("") == []
    assert _codes('\n[[predictor]]\nname = "age"\n') == ["labelled_twice"]
    assert _codes('\n[[predictor]]\nname = "other"\nlabel = "Age"\n') == ["label_of_another"]


def test_a_label_for_no_column_is_a_fault(tmp_path: Path) -> None:
    folder = tmp_path / "breast"
    shutil.copytree(FOLDER, folder)
    (folder / "release.toml").write_text(RELEASE + '\n[[predictor]]\nname = "nowhere"\nlabel = "Nowhere"\n')
    caught = refused(reading.study, folder)
    assert [(fault.code, fault["column"]) for fault in caught.faults] == [("label_of_no_column", "nowhere")]


def test_no_line_parts_a_name() -> None:
    """Names of sites, countries, model, version and outcome hold together; a name of a dataset stays a key."""
    plain = by_hand(Case("two", ("Long Beach, USA", "St-Jean")))
    held = unbroken_names(plain)
    assert [site.site for site in held.datasets] == [
        f"Long{TIED}Beach,{TIED}USA", f"St{HYPHEN}Jean",
    ]  # fmt: skip
    assert [site.name for site in held.datasets] == [site.name for site in plain.datasets]
    assert held.release.outcome.name == plain.release.outcome.name.replace("-", HYPHEN)
    assert " " not in names.tested_model(held)
    flag = types.Flag("few_events", "site-0", Fact("few_events", site="St-Jean"))
    (found,) = unbroken_names(dataclasses.replace(plain, flags=(flag,))).flags
    assert found.fact["site"] == f"St{HYPHEN}Jean"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("O/E 0.9 at H-accuracy", "O/|E 0.9 at H-|accuracy"),
        ("kg/m2, fmol/l, /min", "kg/|m2, fmol/|l, /|min"),
        ("inputs/knee.csv and https://doi.org/10.1136/bmj", "inputs/knee.csv and https://doi.org/10.1136/bmj"),
        ("table-h-accuracy", "table-h-accuracy"),
    ],
)
def test_no_line_ends_within_a_unit_or_an_abbreviation(text: str, shown: str) -> None:
    assert compose._held(text) == shown.replace("|", JOINER)
    assert compose._held(Markup(text)) == text


def test_codes_have_words_and_no_median() -> None:
    plain = _labelled()
    coded = (Predictor(name="PLT1", label="Stage", levels={"1": "early", "2": "late"}),)
    release = plain.release.model_copy(update={"predictor": coded, "subgroup": ()})
    evidence = labelled(dataclasses.replace(plain, release=release))
    assert level_of(evidence, "Stage", "2") == "late"
    assert level_of(evidence, "Stage", "3") == "3"
    (table,) = description.characteristics(evidence)
    assert [row.label for row in table.rows] == [f"male: 1,{TIED}%"]
    assert table.footnotes == ("Codes that are read as numbers have no median here: Stage.",)


def test_flags_name_labels_and_quote_the_release() -> None:
    inner = Fact("rare_in_level", column="male", level="1", rare=())
    facts = (
        Fact("constant_predictor", predictors=("PLT1", "ANC"), dataset="site-0"),
        Fact("few_in_subgroup", site="male", few=(inner,), wanted=20),
        Fact("predictor_called_otherwise", predictor="PLT1", columns=("PLT",), first="PLT", dataset="site-0"),
    )
    flags = tuple(types.Flag(fact.code, "site-0", fact) for fact in facts)
    constant, few, quoted = (flag.fact for flag in labelled(dataclasses.replace(_labelled(), flags=flags)).flags)
    assert constant["predictors"] == ("Platelets", "ANC")
    assert few == Fact(
        "few_in_subgroup", site="male", few=(Fact("rare_in_level", column="Sex", level="1", rare=()),), wanted=20
    )
    assert quoted is facts[2]
