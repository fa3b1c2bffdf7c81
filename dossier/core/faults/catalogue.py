"""Every fault by its code: what is wrong, and how to mend it; nowhere else does a fault have words.

A sentence names the values of its fault in braces. Behind a colon stands how one is written: `short` cuts a long text,
`quoted` puts it in quotation marks, a number says how many names of a list are written before the rest is counted,
`all` writes every name as it is, `or` and `and` join them; of a number, what Python's format takes. A count is written
with its word, a fact by its phrase, None as nothing.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dossier.core.facts import Count, Fact, Value
from dossier.core.faults.wording import Voice, counted, listed, number, shortened


@dataclass(frozen=True)
class Entry:
    """The words of a fault.

    Parameters
    ----------
    what : str
        What is wrong.
    fix : str
        How to mend it.
    near : str, optional
        How to mend it where the fault knows a name that may be meant, its value `near`.
    command : str, optional
        How to mend it for `dossier quick`, which has no release.toml, where that is not `fix`.
    frame : str, optional
        How to mend it for `dossier.validate`, which has a frame and arguments, where that is not `fix`.
    """

    what: str
    fix: str
    near: str | None = None
    command: str | None = None
    frame: str | None = None

    def fix_for(self, voice: Voice) -> str:
        """How to mend it in the words of who reads it."""
        return {"command": self.command, "frame": self.frame}.get(voice) or self.fix


@dataclass(frozen=True)
class Phrase:
    """The words of a fact within a fault; those for `dossier quick` and `dossier.validate` where they are others."""

    text: str
    command: str | None = None
    frame: str | None = None


def what(fault: Fact) -> str:
    """What is wrong; of rows of one cause each case, and how many are of another."""
    entry, values = CATALOGUE[fault.code], dict(fault.values)
    cases, others = values.get("cases"), values.get("others")
    if not isinstance(cases, tuple):
        return _filled(entry.what, values)
    texts = [_filled(entry.what, {**values, **dict(case.values)}) for case in cases if isinstance(case, Fact)]
    rest = [f"And {others.number} more of this kind."] if isinstance(others, Count) and others.number else []
    return " ".join([*texts, *rest])


def fix(fault: Fact, voice: Voice = "release") -> str:
    """How to mend it, in release.toml or, where there is none, in the table, on the command line, in the arguments."""
    entry = CATALOGUE[fault.code]
    near = entry.near if fault.get("near") is not None else None
    return _filled(near or entry.fix_for(voice), dict(fault.values), voice)


def phrase(fact: Fact, voice: Voice = "release") -> str:
    """The words of a fact within a sentence."""
    words = PHRASES[fact.code]
    text = {"command": words.command, "frame": words.frame}.get(voice) or words.text
    return _filled(text, dict(fact.values), voice)


def page() -> str:
    """The catalogue as a page of the documentation."""
    cells = ((f"`{code}`", entry.what, entry.fix) for code, entry in sorted(CATALOGUE.items()))
    rows = (" | ".join(cell.replace("|", "\\|") for cell in row) for row in cells)
    plain = (f"| {row.replace('{{', '{').replace('}}', '}')} |" for row in rows)
    head = ("# Faults", "", *PAGE, "", "| code | what is wrong | how to mend it |", "|---|---|---|")
    return "\n".join([*head, *plain, ""])


def _filled(sentence: str, values: Mapping[str, Value], voice: Voice = "release") -> str:
    return _Sentence(voice).vformat(sentence, (), values)


class _Sentence(string.Formatter):
    def __init__(self, voice: Voice) -> None:
        self.voice = voice

    def format_field(self, value: Any, format_spec: str) -> str:
        """A value as its sentence asks for it."""
        if value is None:
            return ""
        if isinstance(value, Fact):
            return phrase(value, self.voice)
        if isinstance(value, Count):
            return counted(value.number, value.of)
        if isinstance(value, tuple):
            return self._of_list([self.format_field(each, "") for each in value], format_spec)
        if isinstance(value, str):
            return TEXTS[format_spec](value)
        if isinstance(value, float) and not format_spec:
            return number(value)
        return format(value, format_spec)

    def _of_list(self, names: Sequence[str], format_spec: str) -> str:
        joined = LISTS.get(format_spec)
        return joined(names) if joined is not None else listed(names, int(format_spec or 12))


def _as_in_toml(text: str) -> str:
    return f'"{text}"'


def _some(names: Sequence[str], last: str, most: int = 6) -> str:
    if len(names) > most:
        return f"{', '.join(names[:most])} {last} {len(names) - most} more"
    return f" {last} ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


TEXTS: Mapping[str, Callable[[str], str]] = {
    "": str,
    "short": shortened,
    "quoted": lambda text: _as_in_toml(shortened(text)),
}
LISTS: Mapping[str, Callable[[Sequence[str]], str]] = {
    "all": ", ".join,
    "and": " and ".join,
    "semicolons": "; ".join,
    "some and": lambda names: _some(names, "and"),
    "some or": lambda names: _some(names, "or"),
    "or": " or ".join,
    "quoted or": lambda names: " or ".join(map(_as_in_toml, names)),
    "words": lambda names: listed([name if name.isidentifier() else _as_in_toml(name) for name in names]),
}

PAGE = (
    "Every fault has a code, which `dossier check --json` gives beside its words.",
    "What stands in braces is filled in; behind a colon stands how it is written. Written by `make faults`.",
)

# ---- parts of sentences ---------------------------------------------------------------------------------------------

PHRASES: Mapping[str, Phrase] = {
    # A value of release.toml, and what it should be.
    "greater_than": Phrase("above {limit}"),
    "greater_than_equal": Phrase("at least {limit}"),
    "less_than": Phrase("below {limit}"),
    "less_than_equal": Phrase("at most {limit}"),
    "text": Phrase("text in quotes"),
    "number": Phrase("a number"),
    "whole_number": Phrase("a whole number"),
    "truth": Phrase("true or false"),
    "date": Phrase("a date such as 2026-10-01"),
    "list": Phrase("a list"),
    "table": Phrase("a table"),
    "other_kind": Phrase("a value of another kind"),
    "such_as": Phrase(' such as "{name}"'),
    "not_per_cent": Phrase(", not per cent"),
    "none": Phrase("none"),
    "core_measure": Phrase("a core measure"),
    "meant": Phrase("Did you mean {name}? "),
    # An argument of dossier.validate, and what it should be.
    "frame_of_rows": Phrase("a pandas DataFrame or a pyarrow Table"),
    "name_of_column": Phrase("the name of a column"),
    "column_or_columns": Phrase("the name of a column, or of several classes a list of names"),
    "column_by_model": Phrase("the name of a column, or a table of columns by the name of the model"),
    "value_of_outcome": Phrase("a value of the outcome"),
    "list_of_names": Phrase("a list of names"),
    "list_of_numbers": Phrase("a list of numbers"),
    "list_of_tables": Phrase("a list of tables"),
    "table_of_keys": Phrase("a table"),
    "words": Phrase("text"),
    "day": Phrase("a date"),
    # A criterion that can never be estimated, and what can.
    "ask_for_the_value": Phrase('Ask for bound = "value"'),
    "ask_of_others": Phrase("It can be asked of {datasets:some and}"),
    "ask_with_others": Phrase("It can be asked there {settings:some or}"),
    "ask_of_all_patients": Phrase("It can be asked there of all patients, without subset"),
    "ask_for_others": Phrase("There can be asked: {measures:some and}"),
    "ask_for_nothing": Phrase("Take the criterion out, or give the tables what it needs"),
    # Letters.
    "a_text": Phrase("A text"),
    "the_name": Phrase("The name"),
    "name_of_a_file": Phrase("The name of a file"),
    "name_of_the_file": Phrase("The name of the file"),
    # Files.
    "give_as_parquet": Phrase("Give it as .parquet, which is read one column at a time, or split it"),
    "texts_into_files": Phrase("Put its texts into files, and the rows of many sites into one table"),
    "fewer_words": Phrase("Say it in fewer words"),
    "unchanged_results": Phrase("Name the results.json that dossier wrote, unchanged"),
    "unchanged_ledger": Phrase("Name the ledger that dossier build wrote, unchanged"),
    "unchanged_seal": Phrase("Name the seal.json that dossier wrote, unchanged"),
    "no_file": Phrase("no file"),
    "name_or_save": Phrase("Let its name end in {right}, or save the table as {ending}"),
    "save_as_table": Phrase("Save the table as .csv or .xlsx"),
    "save_as_utf8": Phrase("Save the table as UTF-8 text"),
    "save_as_utf8_or_declare": Phrase(
        'Save the table as UTF-8 text, or declare its encoding, such as encoding = "windows-1252"',
        "Save the table as UTF-8 text, or name its encoding, such as --encoding windows-1252",
    ),
    "csv_or_tsv": Phrase("a .csv or .tsv"),
    "workbook": Phrase("a workbook"),
    "name_sheet": Phrase(
        'Name one of them, such as sheet = "{sheet}"', "Keep one sheet in the workbook, or give a .csv"
    ),
    "keep_one_sheet": Phrase("Keep one sheet in the workbook"),
    "says": Phrase('says "{text}"'),
    "names_no_schema": Phrase("names no schema"),
    # Columns and rows.
    "nearest_column": Phrase("Did you mean {name:short}?"),
    "columns_of_table": Phrase("The table has {names}."),
    "separated_by": Phrase(
        " If {sign} stands between the columns, declare separator = {separator} in the [[dataset]].",
        " If {sign} stands between the columns, save it as a .tsv.",
        " If {sign} stands between the columns, read the file with this separator.",
    ),
    "blanks": Phrase("blanks"),
    "names_first": Phrase("Let the first row hold the names of the columns: take away what stands above them"),
    "commas_between_columns": Phrase(
        "If these commas are decimal, put each such number in quotation marks, or separate the columns by another "
        "sign, such as a semicolon"
    ),
    "cells_in_every_row": Phrase(
        "Give every row {width} cells; put a text that holds the separator in quotation marks"
    ),
    "separator_at_end": Phrase("Take the separator at the end of these rows away"),
    "row_names": Phrase("Name every column in the first row; R leaves out the names of rows with row.names = FALSE"),
    # Cells.
    "risk": Phrase("risk"),
    "risk_of_rival": Phrase("the rival's risk"),
    "give_a_number": Phrase(
        "Give a number, leave the cell empty, or declare the value as missing",
        "Give a number, leave the cell empty, or name the value in --missing",
    ),
    "decimal_points": Phrase("Write decimals with a point"),
    "decimal_commas": Phrase(
        'Declare decimal = "," in the [[dataset]], or write decimals with a point{because}',
        "Write decimals with a point{because}",
    ),
    "points_elsewhere": Phrase(
        ". No comma is taken for a decimal one by itself where another column holds points: {columns:5}"
    ),
    "strange_minus": Phrase(
        "Write the minus as the hyphen-minus of the keyboard (-1), which is not the sign in the table"
    ),
    "plain_digits": Phrase("Write numbers with digits and the decimal sign only"),
    "per_cent": Phrase("This is per cent: write it as a number from 0 to 1, such as 0.17 for 17%"),
    "in_these_rows": Phrase(", in these rows only"),
    "missing": Phrase("missing"),
    "other": Phrase("{value}, not {wanted}"),
    "zero_or_more": Phrase("a number of 0 or more"),
    "zero_to": Phrase("a number from 0 to {most}"),
    "infinite": Phrase("infinite"),
    "no_measurement": Phrase("{value:g}, too large for a measurement"),
    "declare_missing": Phrase("Declare it as missing (missing = {{ {name} = [ … ] }})"),
    "numbers_or_category": Phrase("{digits}, or list {name} under categorical"),
    "not_a_category": Phrase("List the predictors without {name}, name it as id, or list it under categorical"),
    "texts": Phrase("texts"),
    "booleans": Phrase("booleans"),
    "mixed": Phrase("texts among its numbers"),
    # Classes.
    "in_rows": Phrase(" ({rows})"),
    "one_row_does": Phrase("{rows} does"),
    "rows_do": Phrase("{rows} do"),
    # Readers.
    "after": Phrase(" after {column}"),
    "without_name": Phrase("without a name"),
    "rater": Phrase("rater {names}"),
    "raters": Phrase("raters {names}"),
    "header_of_raters": Phrase("If its first line names the raters, write header = true in [readers]. "),
    "with_model": Phrase("with the model"),
    "without_model": Phrase("without the model"),
    # OUT.
    "full_disk": Phrase("Make room on the disk, or choose another folder for -o"),
    "full_quota": Phrase("Make room in your quota, or choose another folder for -o"),
    "limited_file": Phrase("Raise the limit of the size of a file, or choose another folder for -o"),
    "mounted": Phrase("A disk is mounted there: name a folder inside it with -o"),
    "another_folder": Phrase("Choose another folder"),
}

# ---- sentences ------------------------------------------------------------------------------------------------------

UNCHANGED = "Name the results.json that dossier wrote, unchanged."
ANOTHER_NAME = "Give every declared performance a name of its own, that no dataset has."
SHARES = "Give lists of {classes} shares that add up to 1, one a class in the order of classes."
SAVE_AGAIN = "Open the workbook in the program for spreadsheets and save it there, or export the sheet as .csv."
CLOSE_QUOTATION = "Close it; write a quotation mark that belongs to the text twice."
TLS = "Name them in Dask's configuration: distributed.comm.tls, with ca-file, and cert and key of the client."

CATALOGUE: Mapping[str, Entry] = {
    # release.toml as a text.
    "release_not_utf8": Entry("release.toml is not UTF-8 text.", "Save the file as UTF-8."),
    "tables_without_end": Entry(
        "release.toml holds tables in tables without end.", "Write lists and tables as dossier schema shows them."
    ),
    "number_of_many_bits": Entry(
        "release.toml holds a whole number of more than 64 bits.", "Write numbers as they are meant."
    ),
    "not_toml": Entry(
        "release.toml is not valid TOML: {problem}.",
        "Mend the line: text stands in quotes, a list in [ ], a key before =.",
    ),
    "list_of_two_forms": Entry(
        "{table} is written in two forms.",
        "Begin each of these tables with [[{table}]]; write neither [{table}] nor {table} = [ … ] beside them.",
    ),
    "table_twice": Entry("[{table}] stands a second time.", "Write all its keys under one [{table}]."),
    "key_twice": Entry("{key} stands a second time.", "Keep one of the two."),
    "backslash_in_toml": Entry(
        "release.toml is not valid TOML: {problem}.",
        "In a path write / instead of \\, as in data/site.csv; in another text write each \\ twice.",
    ),
    # One key of release.toml.
    "no_table": Entry("There is no {table}.", "Add {table}. {meaning}"),
    "unknown_table": Entry(
        "{key} is no table or key of release.toml.", "The keys are {known:30}.", near="Did you mean {near}?"
    ),
    "missing_key": Entry("{key} is missing.", "Add {key} = … {meaning}"),
    "unknown_key": Entry("{key} is not a key of {table}.", "The keys are {known:30}.", near="Did you mean {near}?"),
    "time_to_event_key": Entry(
        "{key} belongs to a time-to-event outcome, which is out of scope.",
        "Give the outcome at one horizon as 0 or 1, empty where it is unknown, and say the horizon in words.",
    ),
    "refitting_key": Entry(
        "{key} asks to refit or update the model, which is out of scope.",
        "Validate the model as it is; put the risks of an updated model in a release of their own.",
    ),
    "wrong_kind": Entry("{key} is {value}, not {wanted:or}.", "Give {wanted:or}."),
    "not_list_of_tables": Entry("{key} is {value}, not a list of tables.", "Write [[{table}]] with two brackets."),
    "beyond_bound": Entry("{key} is {value}, not {bound}.", "Give a number {bound}."),
    "not_finite": Entry("{key} is {value}, not a finite number.", "Give a number."),
    "not_a_choice": Entry(
        "{key} is {value}, not one of {choices:words}.", "Write {choices:quoted or}.", near='Did you mean "{near}"?'
    ),
    "many_values": Entry("{key} has {values}, more than {most}.", "Give at most {most}: those that matter most."),
    "wrong_number_of_values": Entry("{key} has {values}, not {wanted}.", "Give {wanted} values."),
    "value_twice": Entry("A value stands twice in the list.", "Write every value once."),
    "empty_text": Entry("{key} is empty.", "Write something; an optional key may be taken out instead."),
    "long_text": Entry(
        "{key} has {length:,} characters, more than {most:,}.",
        "Say it in fewer words; a longer statement may stand in a file.",
    ),
    "not_sha256": Entry("{key} is {value}, not a SHA-256.", "Give its 64 characters of 0 to 9 and a to f."),
    "names_no_file": Entry(
        "{key} is {value}, which cannot name files.", "Use letters, digits, dots and dashes{example}."
    ),
    "range_reversed": Entry("The range does not end above its beginning.", "Write two values, the smaller one first."),
    "dates_reversed": Entry("The dates end before they begin.", "Write the earlier day first."),
    "strange_letters": Entry(
        "{what} holds what cannot be printed: {letters:5}.",
        "Write it in letters that the fonts of dossier have (Latin and Greek), without signs that do not show.",
    ),
    # Arguments of dossier.validate.
    "unknown_argument": Entry(
        "{key} is no argument of dossier.validate, and no table of release.toml.",
        "There are {known:50}.",
        near="Did you mean {near}?",
    ),
    "argument_of_other_kind": Entry("{key} is {value}, not {wanted}.", "Give {wanted}, as {example}."),
    "column_of_several_kinds": Entry(
        "The column {column:short} holds values of several kinds, such as numbers and texts.",
        "Write every value of it in one way, such as by pandas.to_numeric.",
    ),
    # Datasets.
    "no_dataset": Entry("There is no dataset.", 'Declare one with role = "external".'),
    "many_datasets": Entry(
        "There are {number} datasets, more than {most}.",
        "Put the rows of many sites into one table, and name the column of the site in site_column.",
    ),
    "no_external_dataset": Entry(
        "There is no external dataset.",
        'Declare one with role = "external": rows that had no part in making the model.',
    ),
    "unknown_chapter": Entry(
        "No chapter is called {name}.", "Those that may be left out are {known:30}.", near="Did you mean {near}?"
    ),
    "chapter_not_left_out": Entry(
        "The chapter {name} cannot be left out: without it nobody could judge the model or check the dossier.",
        "Those that may be left out are {known:30}.",
    ),
    "several_development_datasets": Entry("There are {number} development datasets.", "Put the rows in one table."),
    "two_datasets": Entry("Two datasets are named {name}.", "Give every dataset a name of its own."),
    "datasets_alike": Entry(
        "The datasets {other} and {name} differ in capitals only.",
        "Give them names that nobody can take for each other.",
    ),
    "reserved_dataset": Entry("{name} is a name that dossier uses.", "Choose another name."),
    "split_not_internal": Entry(
        "split is for internal datasets only.", 'Take split out, or declare role = "internal".'
    ),
    "site_and_site_column": Entry(
        "There are both site and site_column.", "Take site out: the values of site_column name the sites."
    ),
    "sites_of_development": Entry(
        "A development table is not split into sites.", "Take site_column out: the development table is one."
    ),
    "key_of_development": Entry(
        "{key} is declared for a development table, whose rows are only compared and described.",
        "Take {key} out, or give the role internal or external.",
    ),
    "date_without_periods": Entry(
        "date names a column of days, and no periods are given.", 'Write periods = "quarter", or month or year.'
    ),
    "periods_without_date": Entry(
        "periods are given, and no column of days.", "Name the column with the day of each row in date."
    ),
    "date_of_other_role": Entry(
        "date and periods are given for {role} data.", "Only external datasets are followed: take date and periods out."
    ),
    "stop_rule_without_limit": Entry(
        "The rule on {measure} has neither at_least nor at_most.", "Give the limit outside of which the model stops."
    ),
    "stop_limits_reversed": Entry(
        "at_least of the rule on {measure} is not below its at_most.", "Give the smaller limit as at_least."
    ),
    "split_beside": Entry(
        "split and {key} cannot stand together.", "The spread between splits makes the intervals: take {key} out."
    ),
    "strata_alone": Entry(
        "strata is declared without cluster and without weights.",
        "Name the column of the sampled clusters or of the weights too, or take strata out.",
    ),
    "column_of_several_names": Entry(
        "The column {column:short} has {number} names: {names}.",
        "Name another column of the table for all but one of them.",
    ),
    "rows_of_every_column": Entry("rows names every column.", "Name the column whose values say which rows are meant."),
    "rows_of_no_value": Entry(
        "rows names no value of {column}.", "Write rows = {{ {column} = [ … ] }} with its values."
    ),
    "key_of_other_kind": Entry("{key} is declared for {file}, but belongs to {kind}.", "Take it out."),
    # Performances that are declared.
    "performance_of_dataset": Entry("A dataset and a declared performance are named {name}.", ANOTHER_NAME),
    "two_performances": Entry("Two declared performances are named {name}.", ANOTHER_NAME),
    "reserved_performance": Entry("A declared performance has the name {name}, which dossier uses.", ANOTHER_NAME),
    "performance_of_site": Entry(
        "A site and a declared performance are named {name}.", "Give the performance another name."
    ),
    "auroc_outside_interval": Entry(
        "The AUROC does not lie within its interval.", "Give low, value and high in this order."
    ),
    "more_events_than_rows": Entry(
        "There are as many events as rows, or more.", "Give n as all rows, events as those with the outcome."
    ),
    # Risks and rivals.
    "risk_is_outcome": Entry("The risk is the outcome itself.", "Name the column of the risks."),
    "rival_is_risk": Entry("The rival is the risk itself.", "Name another column, or take rival out."),
    "rival_is_outcome": Entry("The rival is the outcome itself.", "Name another column, or take rival out."),
    "rival_name_without_rival": Entry("There is a {key} but no rival.", "Add rival, or take {key} out."),
    "rival_of_two_forms": Entry(
        "{name} needs either column or columns.", "Give column; of several classes columns, one a class."
    ),
    "rival_twice": Entry("Two rivals are called {name}.", "Give each a name of its own."),
    "reserved_rival": Entry(
        'The rival is called "{name}".', "Give it another name: {reserved} stand for other comparisons."
    ),
    # Outcomes of several classes.
    "columns_without_classes": Entry("There are {key} but no classes.", "Add classes to [outcome], or take {key} out."),
    "priorities_of_two_classes": Entry(
        "A priority is a list, and the outcome has 2 classes.",
        "Give the priorities of the positive class, as [0.25, 0.5, 0.75].",
    ),
    "few_classes": Entry(
        "classes names {classes}, and is for three or more.",
        "Two classes are the binary form: take classes and columns out, and declare positive and column.",
    ),
    "reserved_class": Entry(
        "A class is called {name}, the name that dossier has for the mean of all classes.",
        "Call it otherwise, in release.toml and in the tables.",
    ),
    "positive_and_classes": Entry(
        "There are both positive and classes.", "Take positive out: with classes there is no positive one."
    ),
    "one_and_several_columns": Entry(
        "There are both {key} and {several}.", "Take {key} out: with classes each has a column of its own."
    ),
    "one_column_of_classes": Entry(
        "There is one {key}, and the outcome has {classes} classes.",
        "Give {several}, one column a class, in the order of classes.",
    ),
    "wrong_number_of_columns": Entry(
        "There are {number} {key}, and the outcome has {classes} classes.",
        "Give one column a class, in the order of classes.",
    ),
    "column_and_rival": Entry("{column} stands in the columns of the model and of a rival.", "Name another column."),
    "severity_of_two_classes": Entry(
        "The severity weights are for {number} classes, and the outcome has {classes}.",
        "Give two rows of two: predicted no and yes, each by truly no and yes.",
    ),
    "severity_of_classes": Entry(
        "The severity weights are for {number} classes, and the outcome has {classes}.",
        "Give {classes} rows of {classes}: a row a predicted class, a column a true one, in the order of classes.",
    ),
    "severity_not_square": Entry(
        "The severity weights are not a square table.",
        "Give one row a predicted class and one column a true class, as [[0, 0.3], [0.6, 0]].",
    ),
    "severity_twice": Entry("{subset} has severity weights twice.", "Keep one of the two."),
    "severity_of_two_columns": Entry(
        "Levels of {one} and of {other} have severity weights: who is of both would have two.",
        "Give weights to the levels of one column.",
    ),
    "severity_of_right_answer": Entry(
        "A right answer has a severity.", "Write 0 where the predicted class is the true one."
    ),
    # H-accuracy, utility, the ROC curve.
    "priority_of_two_classes": Entry(
        "The priority from {source} is for an outcome of two values, and this one has {classes} classes.",
        "Take {source} out; priority takes lists of {classes} shares, one a class.",
    ),
    "priority_not_of_classes": Entry("priority is a number, and the outcome has {classes} classes.", SHARES),
    "wrong_number_of_shares": Entry("The priority has {number} shares, and the outcome has {classes} classes.", SHARES),
    "shares_not_one": Entry("The shares of the priority add up to {total:g}, not 1.", SHARES),
    "priority_without_threshold": Entry(
        "The priority from net benefit needs a declared threshold.",
        "Declare a threshold in [thresholds], or take net_benefit out.",
    ),
    "survey_of_other_classes": Entry(
        "The survey is about {survey}, and the classes are {classes}.",
        "Give one share a class: survey = {{ {shares:all} }}.",
    ),
    "survey_of_more_than_all": Entry(
        "The shares of the survey add up to {total:g}, more than 1.",
        "Give shares of all answers; those that prefer no class may be left out.",
    ),
    "survey_of_nobody": Entry("No answer of the survey prefers a class.", "Give shares above 0, or take survey out."),
    "no_survey": Entry(
        "priority_from asks for a survey that is not there.",
        "Add survey = {{ 0 = …, 1 = … }}: the share of answers that put each class first.",
    ),
    "share_outside_interval": Entry(
        "The share does not lie within its interval.", "Give low, value and high in this order."
    ),
    "interval_of_one_end": Entry("The interval has one end.", "Give low and high, or neither."),
    "reserved_column": Entry(
        "complexity names a column {column}, which is a word of dossier's own.",
        'Rename the column, or write complexity = {{ from = "raters" }} for a source.',
    ),
    "cut_without_complexity": Entry("There is a cut but no complexity.", "Add complexity, or take cut out."),
    "cut_twice": Entry("cut stands twice.", "Keep it beside complexity, or inside it."),
    "no_readers": Entry(
        "{key} asks the raters, and there is no [readers].", "Add [readers], or take the raters out of {key}."
    ),
    "readers_of_no_tested_dataset": Entry(
        "{key} asks the raters, and [readers] names no dataset that the model is tested on.",
        "Add dataset to [readers], the cases that they judged, or a [[readers]] of an internal or external dataset.",
    ),
    "readers_twice": Entry(
        "Two tables of readers are of the dataset {dataset}.",
        "Give all raters of a dataset in one table, each a column.",
    ),
    "readers_twice_alone": Entry(
        "Two tables of readers name no dataset.", "Name the dataset of one of them, or put all raters into one table."
    ),
    "no_table_of_readers": Entry(
        "{key} asks for the raters' {table}, and [readers] names no such table.",
        "Add {table} to [readers], or take the raters out of {key}.",
    ),
    "cost_without_benefit": Entry("cost and benefit do not stand together.", "Name both columns, or neither."),
    "relevance_of_other_source": Entry(
        "The relevance has no such source.", 'Name a column, or write {{ from = "raters" }}.'
    ),
    "no_part_of_roc": Entry("There is no part of the ROC curve.", "Give ranges, as [[0, 0.2], [0.2, 1]]."),
    # The terms of the model.
    "term_without_coefficient": Entry(
        "The term of {term} has no coefficient.",
        "Give coefficient for a number, levels for categories, or coefficients with knots or segments.",
    ),
    "term_of_several_forms": Entry(
        "The term of {term} has both {forms:and}.",
        "Give coefficient for a number, levels for categories, or coefficients with knots or segments.",
    ),
    "term_of_knots_and_segments": Entry("The term of {term} has both knots and segments.", "Give one of the two."),
    "term_without_coefficients": Entry(
        "The term of {term} has no coefficients.",
        "Give coefficients together with the knots of a spline, or with segments.",
    ),
    "term_without_knots": Entry(
        "The term of {term} has no knots or segments.",
        "Give coefficients together with the knots of a spline, or with segments.",
    ),
    "term_without_category": Entry("The term of {term} names no category.", 'Write levels = {{ "category" = 0.8 }}.'),
    "key_of_numbers_for_categories": Entry(
        "The term of {term} has {key} for categories.", 'Write levels = {{ "category" = 0.8 }} without {key}.'
    ),
    "floor_above_cap": Entry(
        "The floor of {term} is not below its cap.", "Give the smaller number as floor, or only one."
    ),
    "term_with_itself": Entry(
        "{predictor} stands with itself.", 'Write transform = "square", or name the other predictor.'
    ),
    "few_knots": Entry("The knots of {term} are fewer than three.", "Give three knots or more, each above the last."),
    "knots_out_of_order": Entry(
        "The knots of {term} do not increase.", "Give three knots or more, each above the last."
    ),
    "wrong_number_of_coefficients_of_spline": Entry(
        "The spline of {term} has {knots} knots and {coefficients} coefficients.",
        "Give {wanted} coefficients: of the predictor itself, then of each curved column.",
    ),
    "segments_out_of_order": Entry(
        "The segments of {term} do not increase.",
        "Name from 1 to {most} numbers at which the slope changes, each above the last.",
    ),
    "wrong_number_of_segments": Entry(
        "The segments of {term} are {number}.",
        "Name from 1 to {most} numbers at which the slope changes, each above the last.",
    ),
    "wrong_number_of_coefficients_of_segments": Entry(
        "The segments of {term} change the slope {segments} times, and there are {coefficients} coefficients.",
        "Give {wanted} coefficients: the slope below the first number, between each two, and above the last.",
    ),
    "several_terms": Entry("{terms:all} has more than one term.", "Put all coefficients of a predictor in one term."),
    "predictor_never_known": Entry(
        "{predictor} is missing in every row of every dataset.", "Give its values in one table at least."
    ),
    "no_predictors": Entry(
        "{name} is no predictor of any dataset.",
        "No dataset has predictors: name {name} under predictors of the [[dataset]] that hold it.",
    ),
    "not_a_predictor": Entry(
        "{name} is no predictor of any dataset.",
        "The predictors are {known}; name it under predictors of a [[dataset]] that holds it.",
        near="Did you mean {near}?",
    ),
    "level_nowhere": Entry(
        "{predictor} is never {level:quoted}.", "{predictor} is {known} in the tables.", near='Did you mean "{near}"?'
    ),
    "word_in_term": Entry(
        "{predictor} is {word:quoted} in {dataset}, and its term is for numbers.",
        "Give levels = {{ {word} = … }} instead of a coefficient.",
    ),
    "word_in_product": Entry(
        "{predictor} is {word:quoted} in {dataset}, and its term is for numbers.",
        "Of a product, name the categories under with, and give levels; or give a column of 0 and 1.",
    ),
    "no_logarithm": Entry(
        "{predictor} is 0 or less in {rows} of {dataset}, which has no log.",
        "Declare such values as missing (missing = {{ {predictor} = [ … ] }}), or mend the transform.",
    ),
    "no_square_root": Entry(
        "{predictor} is less than 0 in {rows} of {dataset}, which has no sqrt.",
        "Declare such values as missing (missing = {{ {predictor} = [ … ] }}), or mend the transform.",
    ),
    # Labels.
    "labelled_twice": Entry("{column} has two [[predictor]] tables.", "Put its label and its unit in one."),
    "label_of_another": Entry('"{label}" is printed for {column} already.', "Give every column a label of its own."),
    "label_of_no_column": Entry("No table has a column {column}.", "Write the name of a column, or take it out."),
    # Subgroups.
    "subgroup_twice": Entry("{column} makes subgroups twice.", "Put all its levels or cuts in one [[subgroup]]."),
    "subgroup_of_taken_column": Entry(
        "{column} cannot make subgroups: {key} names it.", "Name a column that describes the patients."
    ),
    "levels_and_cuts": Entry("{column} has both levels and cuts.", "Give one of the two."),
    "few_levels": Entry(
        "{column} has {number} of the two levels that a comparison needs.",
        'Write at least two, as levels = {{ "1" = "male", "0" = "female" }}.',
    ),
    "levels_of_one_name": Entry('Two levels are called "{name}".', "Give every level a name of its own."),
    "cuts_out_of_order": Entry(
        "The cuts are not in rising order.", "Write each cut once, the smallest first, as cuts = [50, 70]."
    ),
    "no_cut": Entry("There is no cut.", "Write each cut once, the smallest first, as cuts = [50, 70]."),
    "cuts_of_other_kind": Entry(
        "{column} holds {kind}, and cuts need numbers.",
        "Give levels in place of cuts, or declare the texts that mean missing.",
    ),
    "infinite_value": Entry("The value is infinite.", "Give a finite number, or leave the cell empty."),
    "numbers_and_texts": Entry(
        "{name} holds numbers in {file} and texts in {other}.",
        "Code it alike in every table, or give levels for every value of both.",
    ),
    "many_numbers_of_subgroup": Entry(
        "{column} holds {values}: too many for subgroups of their own.", "Add cuts = [ … ]."
    ),
    "many_texts_of_subgroup": Entry(
        "{column} holds {values}: too many for subgroups of their own.", "Add levels = {{ … }}."
    ),
    # Criteria, replies, minima.
    "not_a_dataset": Entry(
        "{name} is not a dataset of this release.", "Name one of {known:30}.", near='Did you mean "{near}"?'
    ),
    "not_a_flag": Entry("{name} is not a flag.", "The flags are {known:60}.", near="Did you mean {near}?"),
    "not_a_measure": Entry("{name} is not a measure.", "The measures are {known:80}.", near="Did you mean {near}?"),
    "bound_outside_range": Entry(
        "{bound} is {value}, and {measure} is always {ends:and}.", "Give a number inside that range{per_cent}."
    ),
    "not_external": Entry(
        "{name} is not an external dataset of this release.", "Name one of {known:30}.", near='Did you mean "{near}"?'
    ),
    "correspondence_twice": Entry(
        "Two [[declared_correspondence]] are of the dataset {dataset}.", "Keep the one that rests on more patients."
    ),
    "correspondence_computed": Entry(
        "The similarity of {dataset} is computed from its predictors, and declared too.",
        "Take its [[declared_correspondence]] out.",
    ),
    "correspondence_without_value": Entry(
        "The [[declared_correspondence]] of {dataset} has no similarity.", "Give averaged, psi or both."
    ),
    "minimum_without_benefit": Entry(
        "The minimum of {measure} is {value}, which a model of no use reaches.",
        "Give a standardized_net_benefit of at least 0, an auroc above 0.5, a brier below 0.25.",
    ),
    "no_subgroups": Entry(
        "The release declares no subgroups, and so not {subset}.",
        "Declare its column in a [[subgroup]], or take it out.",
    ),
    "not_a_subgroup": Entry("{subset} is not a subgroup of this release.", "The subgroups are {known:30}."),
    "criterion_without_rival": Entry(
        "{measure} compares with a rival, and the release names no other model.",
        "Name the column of its risks in a [[rival]], or take the criterion out.",
    ),
    "criterion_names_no_rival": Entry(
        "{measure} does not name one of the other models: {rivals}.", 'Add at = {{ against = "{rival}" }}.'
    ),
    "not_compared": Entry(
        '{measure} is not compared with "{rival}".', "Take it out.", near="Name {near} as the measure."
    ),
    "caution_decides": Entry(
        "{measure} calls for caution and decides nothing by itself.",
        "Judge by {counterpart}, or say why in caution_reason, which is printed.",
    ),
    "criterion_of_other_tier": Entry(
        "{measure} is neither a core nor a supporting measure.",
        "Say why in reason, which is printed, or judge by a core or supporting measure.",
    ),
    "minimum_not_declared": Entry(
        "at_least_from asks for the minimum acceptable accuracy, which is not declared.",
        'Add acceptable = {{ value = …, source = "…" }} to [h_accuracy], or give at_least.',
    ),
    "at_least_twice": Entry("The criterion has both at_least and at_least_from.", "Give one of the two."),
    "minimum_of_accuracy": Entry(
        "at_least_from is an accuracy, and {measure} is not.", "Give at_least, or judge by an accuracy."
    ),
    "not_a_setting": Entry(
        "{measure} does not depend on {setting}.", "Take it out.", near="The settings of {measure} are {near}."
    ),
    "setting_missing": Entry("{measure} depends on {setting}.", "Add at = {{ {setting} = … }}."),
    "threshold_not_declared": Entry(
        "The threshold {threshold} is not declared.", "Declare it in [thresholds]; declared: {declared}."
    ),
    "no_mean_of_classes": Entry(
        "{measure} has no mean over the classes.", "Name the class that it is about, in a criterion for each."
    ),
    "no_bound": Entry("The criterion names no bound.", "Add at_least = … or at_most = … or both."),
    "bounds_crossed": Entry("at_least is {least}, above at_most, {most}.", "Write the smaller number in at_least."),
    "never_estimated": Entry("{asked} can never be estimated for {dataset}: {reasons:semicolons}.", "{mend}."),
    "measures_not_here": Entry("{measures:all} cannot stand here.", "The measures are {known:all}."),
    # Statements.
    "no_such_item": Entry("{items:all}: no such item of TRIPOD+AI.", "The items are {known:all}."),
    "statement_of_several_forms": Entry(
        "The statement is not one text, one file or one none.",
        'Write a text, {{ file = "name.md" }}, or {{ none = "a sentence" }}.',
    ),
    "statement_not_utf8": Entry("{file} is not UTF-8 text.", "Save it as UTF-8 text."),
    # The previous release.
    "previous_is_folder": Entry("{file} is a folder.", "Name the results.json in it."),
    "previous_of_other_model": Entry(
        '{file} is about "{other}", and this release about "{model}".',
        "Name the results.json of a previous release of the same model.",
    ),
    "not_a_manifest": Entry("{file} is no manifest of dossier.", "Leave it as dossier wrote it, or take it away."),
    "manifest_of_other_results": Entry(
        "{file} lists another {results} than the one beside it.",
        "Name the results.json in the folder that dossier wrote, unchanged.",
    ),
    # A results.json.
    "no_results": Entry("There is no file {file}.", UNCHANGED),
    "large_results": Entry("{file} has more than {megabytes} MB.", UNCHANGED),
    "closed_results": Entry("{file} cannot be read: {reason}.", UNCHANGED),
    "unprintable_results": Entry(
        "{file} cannot be printed as it stands ({reason}): something in it was taken out, or is of another kind.",
        "Print the file as dossier wrote it; if this is that file, report it with the versions that it names.",
    ),
    "results_of_other_schema": Entry(
        '{file} {found}; what can be read is "{readable}".', "Name a results.json that this version of dossier wrote."
    ),
    "results_not_utf8": Entry("{file} is not UTF-8 text.", UNCHANGED),
    "results_not_json": Entry("{file} is not valid JSON.", UNCHANGED),
    "results_without_end": Entry("{file} holds lists in lists without end.", UNCHANGED),
    "results_not_finite": Entry("{file} holds a number that is not finite.", UNCHANGED),
    "key_of_results_missing": Entry("{file} has no {key}.", UNCHANGED),
    "key_of_results_wrong": Entry("In {file} {key} is not what it should be.", UNCHANGED),
    # Files.
    "no_file": Entry("There is no file {file}.", "Put the file there, or mend its name.", near="Did you mean {near}?"),
    "no_file_with_backslash": Entry(
        "There is no file {file}.", "Write / instead of \\ between the folders and the name, as in data/site.csv."
    ),
    "folder_for_file": Entry("{file} is a folder, not a file.", "Name the file."),
    "closed_file": Entry("{file} cannot be opened: {reason}.", "Make the file readable."),
    "long_name_of_file": Entry("{file} cannot be opened: {reason}.", "Give the file a shorter name."),
    "device": Entry(
        "{file} is no file but a device, a pipe or a socket.", "Save what it gives as a file, and name that."
    ),
    "no_name_of_file": Entry(
        "The name of the file holds a character that no file may have.", "Name the file as it is."
    ),
    "file_outside": Entry(
        "{file} lies outside the release folder.", "Copy the file into the folder, or write outside = true beside it."
    ),
    "file_outside_not_allowed": Entry(
        "{file} lies outside the release folder.",
        "Copy the file into the folder; or add --allow-outside, if the release may read this machine's files.",
    ),
    "other_file_outside": Entry(
        "{file} lies outside the release folder, and is no {noun}.",
        "Name a file that ends in {endings}, or copy it into the folder.",
    ),
    "empty_release": Entry(
        "{file} is empty.", "Write the release into it; dossier init DIR makes an example with a comment on every key."
    ),
    "empty_file": Entry(
        "{file} is empty.", "Put the rows in it, or take it out of the release.", command="Put the rows in it."
    ),
    "large_file": Entry("{file} is larger than the {megabytes:,} MB that a {noun} may have.", "{mend}."),
    "folder_of_other_files": Entry(
        "{folder} holds {holds:3}, and not only parquet files.",
        "A folder is read as one table when it holds parquet files and nothing else.",
    ),
    "unread_kind": Entry(
        "{file} is no kind of table that is read.", "Save it as one of {endings:all} or {last}, and name that file."
    ),
    "other_kind_of_file": Entry("{file} is {kind}, although its name ends in {ending}.", "{mend}."),
    "reader_not_installed": Entry(
        "Reading {file} needs the package {package}, which is not installed.",
        "Run pip install openpyxl pyreadstat, or save the table as .csv.",
    ),
    "reading_too_long": Entry(
        "Reading {file} takes longer than {seconds}.",
        "Give it as .parquet, which is read one column at a time, or split it; write a small file again, for it is "
        "damaged.",
    ),
    "reading_too_large": Entry(
        "Reading {file} takes more memory than there is, or than {gigabytes:.0f} GB.",
        "Give it as .parquet, which is read one column at a time, or split it; write a small file again, for it is "
        "damaged.",
    ),
    "unreadable_file": Entry(
        "{file} cannot be read: what reads such files ended with {ended}.",
        "Write it again, for it seems to be damaged, or give a .csv.",
    ),
    "not_a_gzip_file": Entry("{file} is not a whole gzip file.", "Pack the table again, or give it unpacked."),
    "unpacks_to_too_much": Entry(
        "{packed} of {file} unpack to more than {megabytes} megabytes: no table does that.",
        "Give the table as it was written, or split it.",
    ),
    "not_a_workbook": Entry("{file} is not a whole workbook.", "Save it again as .xlsx, or give a .csv."),
    "not_a_whole_file": Entry("{file} is not a whole {kind}.", "Write it again, or give a .csv."),
    "not_a_feather_file": Entry("{file} is not a feather file.", "Write it again, or give a .csv."),
    "not_a_parquet_file": Entry("{file} is not a parquet file.", "Write it again, or give a .csv."),
    "many_rows": Entry(
        "{file} declares {number:,} rows, more than {most:,}.",
        "Draw that many of its rows at random, as many of each site as of any other.",
    ),
    "large_column": Entry(
        "{column} declares {bytes:,} bytes in {file}, more than {most:,}.",
        "Take the column out of the file, or write the file again.",
    ),
    "column_of_some_files": Entry(
        "{file} has no column {column}, which {other} has.", "Give every file of the folder the same columns."
    ),
    "column_of_other_kinds": Entry(
        "{file} holds {column} as {kind}, and {other_file} as {other_kind}.",
        "Write the column alike in every file of the folder.",
    ),
    "damaged_column": Entry(
        "The column {column:short} is damaged, or its text is not UTF-8.",
        "Write the file again with text in UTF-8, or give a .csv.",
    ),
    # Workbooks.
    "no_sheet": Entry('{file} has no sheet "{sheet}".', "The sheets are {known}.", near="Did you mean {near}?"),
    "several_sheets": Entry("{file} has {number} sheets: {sheets}.", "{mend}."),
    "formulas_without_values": Entry("{formulas} in {file} without a value: {cells:5}.", SAVE_AGAIN),
    "chart_for_table": Entry("{file} holds a chart where its table should be.", "Name a sheet with a table."),
    "many_cells": Entry(
        "{file} spreads over more than {most:,} cells.", "Delete what stands beside the table, or give a .csv."
    ),
    "row_twice_in_sheet": Entry("Row {row} stands twice in {file}, or one of its cells does.", SAVE_AGAIN),
    "cell_outside_sheet": Entry(
        "{file} has a cell in row {row} and column {column}, where no sheet has one.", SAVE_AGAIN
    ),
    # Texts and their rows.
    "other_encoding": Entry("{file} is not {encoding} text: byte 0x{byte:02x} cannot be read.", "{mend}."),
    "not_a_text": Entry("{file} is not a text file.", "{mend}."),
    "large_text": Entry(
        "{file} has more than {most:,} bytes as UTF-8 text.",
        "Give it as .parquet, which is read one column at a time, or split it.",
    ),
    "other_separator": Entry(
        "The columns of {file} seem to be separated by {sign}.",
        "Read are commas, semicolons, tabs and |: save it with one of them, in R by write.csv.",
    ),
    "unreadable_first_row": Entry("{file} cannot be read as a table.", "Mend the first row."),
    "unreadable_table": Entry("{file} cannot be read as a table.", "Look for a quotation mark that is not closed."),
    "quotation_over_rows": Entry("A cell in quotation marks swallows {rows}.", CLOSE_QUOTATION),
    "quotation_never_closed": Entry("The cell that a quotation mark opens is never closed.", CLOSE_QUOTATION),
    "quotation_closed_within": Entry(
        "The cell that a quotation mark opens is closed in the middle of a text.", CLOSE_QUOTATION
    ),
    "first_row_of_other_width": Entry(
        "The first row has {width}, and {rows} rows from row {first} on have {cells}.", "{mend}."
    ),
    "row_of_other_width": Entry("The row has {number}, not {width}.", "{mend}."),
    "point_of_thousands": Entry(
        '{column} is {value}, with a point, and the decimal sign is declared to be ",".',
        "Write thousands without a point, and decimals with the declared sign.",
    ),
    "title_above_table": Entry(
        "The first row names one column of {columns}: {name:short}.",
        "Let the first row hold the names of the columns: take away what stands above them.",
    ),
    "many_columns": Entry(
        "{file} has {number:,} columns, more than {most:,}.",
        "Keep the outcome, the risks, and the predictors that are to be compared.",
    ),
    "columns_of_one_name": Entry("{number} columns are named {name}.", "Give every column a name of its own."),
    "no_rows": Entry("{file} holds names of columns and no rows.", "Put the rows in it."),
    # Columns.
    "no_column": Entry(
        "There is no column {column:short}.",
        "{has}{separated} {key} names it in release.toml.",
        command="{has}{separated} {option} names it.",
        frame="{has}{separated} The argument {key} names it.",
    ),
    "column_taken": Entry(
        "{file} has a column {column} already.", "Take {column} out of columns, or rename the other column too."
    ),
    "columns_alike": Entry(
        "The columns {column} and {other} differ in capitals only.",
        "Give every column a name of its own, or take one of them out.",
    ),
    "long_column_name": Entry(
        "The name of a column has {length:,} characters: {name:short}", "Give the column a short name."
    ),
    "missing_otherwise": Entry(
        "{declared} is declared missing, and the column holds {held}.",
        "Spell it as the table does: missing = {{ {column} = [{held}] }}.",
    ),
    "no_selected_row": Entry(
        "No row of {file} has a value of each column that rows names.", "Name values that stand in one row together."
    ),
    "value_nowhere": Entry(
        "{column} is never {value} in {file}.", "{column} is {known} in the table.", near='Did you mean "{near}"?'
    ),
    # The outcome.
    "outcome_of_texts": Entry(
        "outcome holds text ({values:5}), not 0 and 1.",
        'Say in [outcome] which value means that the outcome happened, such as positive = "{last}".',
        command='Say which value means that the outcome happened, such as --positive "{last}".',
        frame='Say which value means that the outcome happened, such as positive="{last}".',
    ),
    "outcome_of_two_numbers": Entry(
        "outcome is coded {low} and {high}, not 0 and 1.",
        "Say in [outcome] which value means that the outcome happened, such as positive = {high}.",
        command="Say which value means that the outcome happened, such as --positive {high}.",
        frame="Say which value means that the outcome happened, such as positive={high}.",
    ),
    "outcome_of_durations": Entry(
        "outcome holds {number} different numbers: it looks like a duration, and time-to-event outcomes are out of "
        "scope.",
        "Give the outcome at one horizon as 0 or 1, and leave it empty where it is unknown.",
    ),
    "outcome_not_binary": Entry(
        "outcome is {value}, not 0 or 1.",
        "Give 0 or 1; declare the value as missing only where it stands for unknown.",
        command="Give 0 or 1; name the value in --missing only where it stands for unknown.",
    ),
    "positive_no_truth": Entry(
        "outcome holds true and false, and the positive value is {positive}.",
        "Say positive = true or positive = false.",
    ),
    "positive_spelled_in_several_ways": Entry(
        "The positive value is spelled in several ways: {ways}.",
        "Spell it one way in the table, the same as in [outcome] positive.",
        frame="Spell it one way in the frame, the same as in positive.",
    ),
    "outcome_of_many_values": Entry(
        "outcome holds {number} values: {values:5}.",
        "Write what did not happen in one way; declare as missing only what stands for unknown: "
        "missing = {{ {column} = [ … ] }}.",
        command="Write what did not happen in one way; name in --missing only what stands for unknown.",
    ),
    "positive_nowhere": Entry(
        "No row has the outcome {positive}; the values are {values}.",
        'Name one of the two in [outcome] positive, such as "{last}".',
        command='Name one of the two, such as --positive "{last}".',
        frame='Name one of the two, such as positive="{last}".',
    ),
    "outcome_unknown": Entry(
        "outcome is {positive} or {other}, which is written where a value is unknown.",
        "Declare it as missing: missing = {{ {column} = [{other}] }}. If it means that the outcome did not happen, "
        "write another value.",
        command="Name it in --missing. If it means that the outcome did not happen, write another value.",
    ),
    "other_outcome": Entry(
        "What did not happen is written {here} in {file} and {there} in {other_file}.",
        "Write it alike in every table; declare as missing what stands for unknown.",
    ),
    "not_a_class": Entry(
        'outcome is "{value}", which is no class{rows}.',
        "{meant}The classes of [outcome] are {classes}; write one of them, or declare the value as missing.",
    ),
    # Risks.
    "risk_not_a_number": Entry("{risk} is {value}, not a number.", "{mend}."),
    "risk_infinite": Entry("{risk} is infinite.", "Give a number from 0 to 1, or leave the cell empty."),
    "risk_outside": Entry(
        "{risk} is {value}, outside 0 to {most}.",
        "Give risks as probabilities, or declare another {key} in [prediction].",
        command="Give risks as probabilities, or name another column with --risk.",
        frame="Give risks as probabilities, or name another column as risk.",
    ),
    "risks_of_log_odds": Entry(
        "{risk} runs from {low} to {high}: it looks like log odds.",
        "Turn log odds x into probabilities: 1 / (1 + exp(-x)){only}.",
    ),
    "risks_of_scores": Entry(
        "{risk} runs from {low} to {high}: it is no risk from 0 to 1.",
        "Give the risk that belongs to each score{only}.",
    ),
    "risks_of_unclear_scale": Entry(
        "{risk} runs from {low} to {high}: it may be per cent, or log odds.",
        "Divide per cent by 100; turn log odds x into probabilities: 1 / (1 + exp(-x)){only}.",
    ),
    "risks_of_per_cent": Entry(
        "{risk} runs from {low} to {high}: it looks like per cent.",
        "Divide the column by 100{only}.",
        command="Divide the column by 100{only}; if all of it is per cent, say --scale percent.",
    ),
    "class_risks_of_per_cent": Entry(
        "The class risks add up to about {total:.0f}: they look like per cent.", "Divide the columns by 100."
    ),
    "class_risks_not_one": Entry(
        "The class risks of {rows} not add up to 1; the farthest sum is {total}.",
        "Give the probabilities of all classes of a row, with digits enough to add up to 1 within 0.000001.",
    ),
    # Columns of another role.
    "not_an_amount": Entry("{column} is {given}.", "Give {wanted} in every row, or take {key} out."),
    "cost_and_benefit_zero": Entry("cost and benefit are both 0.", "Give a cost or a benefit above 0."),
    "weights_all_zero": Entry(
        "All sampling weights are 0.", "Give the rows the weights that the sampling gave them, or take weights out."
    ),
    "not_numbered": Entry("{key} is {given}.", "Give the number of the {key} in every row."),
    "many_parts": Entry(
        "{column} tells {number:,} {key}s apart, more than {most:,}.", "Name the column with the number of the {key}."
    ),
    "no_cluster": Entry(
        "The cluster is missing.", "Name the cluster in every row; a row on its own is a cluster of one."
    ),
    "no_stratum": Entry("The stratum is missing.", "Name the stratum in every row."),
    "cluster_in_two_strata": Entry(
        "The cluster has rows in another stratum too.",
        "Give all rows of a cluster the stratum that it was sampled from.",
    ),
    "stratum_of_one": Entry(
        "The stratum has one {unit} only, whose variance nobody can tell.",
        "Give it the name of the stratum that is most like it, or take strata out.",
    ),
    "not_a_day": Entry("The day is {given}.", "Write each day as 2025-03-31, or leave the cell empty."),
    "day_outside_dates": Entry(
        "The day {given} lies outside dates.", "Correct the days, or the dates of the [[dataset]]."
    ),
    "many_periods": Entry(
        "The days span {number:,} {unit}s, more than {most:,}.",
        "Correct days that are too early or too late, or choose longer periods.",
    ),
    "no_identifier": Entry("The identifier is missing.", "Give one in every row."),
    "identifier_twice": Entry(
        "The identifier is the same as in row {row}.", "Give every row an identifier of its own, or take id out."
    ),
    "no_site": Entry("The site is missing.", "Name the site in every row."),
    "many_sites_of_column": Entry(
        "The column {column} names {number:,} sites, more than {most:,}.", "Name the column of the hospitals."
    ),
    "many_sites": Entry(
        "There are {number:,} sites, more than {most:,}.", "Name the hospitals as sites, and no part of them."
    ),
    "two_sites": Entry("Two sites are named {name}.", "Name the datasets or the sites differently."),
    "long_site_name": Entry("A site has a name of {length:,} characters: {name:quoted}.", "Give it a short name."),
    "site_without_name": Entry(
        "The site {site:quoted} gives no name of its own: {name}.", "Spell the sites so that they differ."
    ),
    # Predictors.
    "many_predictors": Entry(
        "The development table has {number:,} possible predictors, more than {most:,}.",
        "Name those that are in this [[dataset]].",
    ),
    "predictor_of_other_role": Entry(
        "{name} is no predictor: {key} names it.", "Take it out of predictors, or out of {key}."
    ),
    "numbers_and_categories": Entry(
        "{name} holds numbers in {file} and categories in {other}.",
        "Code it alike in every table, or list {name} under categorical.",
    ),
    "text_among_numbers": Entry('{name} is "{value}" among numbers.', "{mend}, or list {name} under categorical."),
    "large_number": Entry(
        "{name} is {given}.", "Give a finite number, leave the cell empty, or declare the value as missing."
    ),
    "many_texts": Entry("{name} holds {number} different texts in {rows} rows: too many for a category.", "{mend}."),
    "long_category": Entry(
        "{name} holds a text of {length:,} characters, too long for a category.",
        "List the predictors without {name}, or write categories of a few words.",
    ),
    # Imputations.
    "few_imputations": Entry(
        "{dataset} has {imputations}.", "Give two or more, numbered from 1; 0 is for the rows before it."
    ),
    "imputations_of_other_sizes": Entry(
        "Imputation {most} of {dataset} has {rows}, imputation {least} {fewer}.", "Give every imputation the same rows."
    ),
    "imputations_of_other_rows": Entry(
        "The identifiers of {dataset} in imputation {imputations:5} are not those in imputation {first}.",
        "Give every imputation the same rows.",
    ),
    "imputations_of_other_gaps": Entry(
        "The imputations of {dataset} lack the outcome or the risk in different numbers of rows.",
        "Impute them everywhere, or leave them out of every imputation.",
    ),
    # What is left of a dataset.
    "no_weight": Entry(
        "No row of {dataset} with an outcome and a risk has a sampling weight above 0.",
        "Mend the weights, or take the dataset out of the release.",
    ),
    "no_analysed_row": Entry(
        "No row of {dataset} has both an outcome and a risk.",
        "Fill the columns, or take the dataset out of the release.",
    ),
    "all_datasets_small": Entry(
        "Every external dataset has fewer than {least} analysed rows, and of so few nothing is shown.",
        "Add a dataset with more rows.",
    ),
    "rows_of_two_datasets": Entry(
        "{dataset} holds rows of {earlier} and others, and ranges of both would tell more than [disclosure] allows.",
        "Select rows that are not in both, or all of them in both.",
    ),
    # The tables of readers.
    "no_raters": Entry("{file} has no raters.", "Put a column for each rater{after}."),
    "many_raters": Entry(
        "{file} has {number:,} raters, more than {most:,}.", "Keep the columns of raters; rows are cases."
    ),
    "rater_without_name": Entry(
        "A column of {file} holds ratings and has no name.", "Name its rater, or take the column out."
    ),
    "first_column_not_case": Entry(
        "The first column of {file} is {column}, not {case}.",
        "Put the cases' identifiers first, or mend [readers] case.",
    ),
    "first_named_column_not_case": Entry(
        "The first named column of {file} is {column}, not {case}.",
        "Put the cases' identifiers first, or mend [readers] case.",
    ),
    "unclear_first_line": Entry(
        "The first line of {file} holds neither only ratings nor only names of raters.",
        "Mend the line, or write header = true or false in [readers].",
    ),
    "label_not_binary": Entry("label is {value}, not 0 or 1.", "Give 0 or 1, or leave the cell empty."),
    "label_not_class": Entry(
        "label is {value}, not one of the classes {known:5}.",
        "Give the name of a class (or its number, from 0, where no class is called by one), or leave the cell empty.",
    ),
    "cases_not_declared": Entry(
        "{column} looks like the names of the cases, and stands where the first rater should.",
        'Add case = "{column}", or take the column out of the tables.',
    ),
    "ratings_of_scale": Entry(
        "{rating} runs from {low} to {high}, not from 0 to 1.",
        "Bring it to 0 to 1 first: divide per cent by 100; of a scale from 1 to 5 write (x - 1) / 4.",
    ),
    "rating_outside": Entry(
        "{rating} is {value}, not a number from 0 to 1.", "Give a number from 0 to 1, or leave the cell empty."
    ),
    "case_without_identifier": Entry("The case's identifier is missing.", "Give one in every row."),
    "case_twice": Entry("The case is the same as in row {row}.", "Keep one row a case."),
    "ratings_of_other_size": Entry(
        "{file} has {cases} and {raters}, {labels} has {wanted_cases} and {wanted_raters}.",
        "Give every table one row a case and one column a rater.",
    ),
    "accuracy_of_other_raters": Entry(
        "accuracy has {values} for {raters}.", "Give one number for all raters, or one a rater."
    ),
    "group_of_no_rater": Entry(
        "groups names the rater {name}; {file} has {known:5}.",
        "Name each rater as the table does; where it has no names, by the number of the column, from 1.",
    ),
    "rater_without_group": Entry("groups leaves out the {lost}.", "Give every rater of the table a group."),
    "other_raters": Entry(
        "{labels} has the {lost}; {file} has {others} instead.",
        "Name each rater alike in every table; the order does not matter.",
    ),
    "case_with_other_zeros": Entry(
        "{cases_of} of {file} is in {other} with other zeros in front.",
        "Write the identifiers alike in both tables: 0007 and 7 are two.",
    ),
    "cases_with_other_zeros": Entry(
        "{cases_of} of {file} are in {other} with other zeros in front.",
        "Write the identifiers alike in both tables: 0007 and 7 are two.",
    ),
    "case_of_other_table": Entry("The case of this row is not in {other}.", "Give every table the same cases."),
    "case_of_other_dataset": Entry(
        "The case of this row is not in {other}.", "Keep the cases of the dataset only, or name another dataset."
    ),
    "no_dataset_of_readers": Entry(
        "There is no dataset {dataset}.", "Name one of the datasets: {known:all}.", near="Did you mean {near}?"
    ),
    "cases_of_other_number": Entry(
        "{file} has {cases}, {dataset} has {rows}.",
        "{header}Give one row a case in the order of the dataset, or link them with case and id.",
    ),
    "cases_not_linked": Entry(
        "The cases cannot be linked: {dataset} has no id.", "Add id = … to the dataset {dataset}."
    ),
    # A reader study.
    "reader_study_of_two_forms": Entry(
        "The reader study is not one table or one set of counts.",
        "Give file for a table, or counts = {{ aie = …, ain = …, ce = …, cn = … }} without one.",
    ),
    "no_column_of_reader_study": Entry(
        "There is no column {column}.", "{meant}A reader study has the columns {needed}."
    ),
    "no_reader_or_case": Entry("The {column} is missing.", "Give one in every row."),
    "truth_not_binary": Entry("{column} is {value}, not 0 or 1.", "Give 0 or 1."),
    "decision_not_binary": Entry("{column} is {value}, not 0 or 1.", "Give 0 or 1, or leave the cell empty."),
    "no_truth": Entry("{column} is missing.", "Give 0 or 1."),
    "paired_decision_missing": Entry(
        "{column} is missing, and the design is paired.",
        'Give both decisions in every row, or write design = "parallel".',
    ),
    "both_decisions": Entry(
        "There are both unaided and aided, and the design is parallel.",
        'Give one of them in every row, or write design = "paired".',
    ),
    "no_decision": Entry(
        "There is neither unaided nor aided.", 'Give one of them in every row, or write design = "paired".'
    ),
    "truths_of_case": Entry("truth is not what it is for the same case in row {row}.", "Give every case one truth."),
    "groups_of_reader": Entry(
        "group is not what it is for the same reader in row {row}.", "Give every reader one group."
    ),
    "no_group": Entry("The group is missing.", "Give one in every row, or take group out."),
    "decided_twice": Entry("The reader and the case are the same as in row {row}.", "Keep one row a reader and case."),
    "case_of_one_arm": Entry(
        "Nobody decides the case of this row {arm}.",
        "Give every case decisions with and without the model, or take it out.",
    ),
    # The command line.
    "threshold_outside": Entry(
        "The threshold {threshold:g} is not between 0 and 1.", "Give thresholds above 0 and below 1."
    ),
    "no_local_site": Entry(
        '"{site}" is no external dataset of this release, and no site of one.',
        "Name one of {known:30}.",
        near='Did you mean "{near}"?',
    ),
    "site_of_several_datasets": Entry(
        "{site} is the site of {number} external datasets.", "Name one of them: {datasets}."
    ),
    "local_site_withheld": Entry(
        "{dataset} has fewer than {least} analysed rows, and nothing of it may be shown.",
        "Leave --local-site out.",
    ),
    "no_release": Entry("There is no {path}.", "Name the folder or the table that the dossier was built from."),
    "no_dossier": Entry(
        "There is no dossier: no manifest.json of ours.", "Name a folder that dossier build has written."
    ),
    "worker_ended": Entry(
        "A worker process ended before its work was done.",
        "Memory may have run out: use fewer workers, such as --jobs 1, or free some.",
    ),
    "standard_output": Entry(
        "Standard output could not be written: {reason}.", "Make room where it is sent, or send it elsewhere."
    ),
    "report_in_out": Entry("{file} lies in OUT.", "Name a file outside the folder of -o."),
    "report_not_writable": Entry("{file} cannot be written.", "Name a file in a folder that is there."),
    # OUT.
    "folder_not_empty": Entry("{folder} is not an empty folder.", "Name a folder that is empty or new."),
    "out_not_written": Entry("{out} could not be written: {reason}.", "{mend}."),
    "temporary_file_not_written": Entry(
        "A file for temporary use could not be written: {reason}.", "Make room there, or name another folder in TMPDIR."
    ),
    "little_memory": Entry(
        "dossier needs {needed:g} GB of address space, and is given {given:.1f}.",
        "Raise the limit of ulimit -v, or take it away.",
    ),
    "memory_ran_out": Entry(
        "There was not enough memory for the work.", "Give this process more memory, or it fewer workers: --jobs 1."
    ),
    "out_is_link": Entry("{out} is a link.", "Name the folder itself, or a path that does not exist yet."),
    "out_is_no_folder": Entry("{out} is not a folder.", "Name the folder itself, or a path that does not exist yet."),
    "out_is_current_folder": Entry(
        "OUT would take the place of the folder that you are in.", "Name a folder inside it, such as -o dossier."
    ),
    "out_of_others": Entry(
        "{out} holds files that dossier did not write.", "Choose another folder for -o, or empty this one yourself."
    ),
    "unlisted_files": Entry(
        "{out} holds files that its manifest does not list: {files:5}.",
        "Choose another folder for -o, or empty this one yourself.",
    ),
    "altered_files": Entry(
        "{out} holds files that were altered after dossier wrote them: {files:5}.",
        "Choose another folder for -o; or keep what was altered elsewhere, and add --replace.",
    ),
    "file_above_out": Entry("{file} is a file; nothing can be written below it.", "Choose another folder for -o."),
    "folder_of_out_not_writable": Entry(
        "The folder that is to hold {out} cannot be written.", "Choose another folder for -o."
    ),
    "another_build": Entry(
        "Another build is at work on {out}.", "Wait until it has ended, or choose another folder for -o."
    ),
    "not_a_lock": Entry(
        "{file} is not the lock of a build: it holds something.", "Rename it, or choose another folder for -o."
    ),
    "name_taken": Entry(
        "{file} stands where dossier has to put its own while {out} is replaced.",
        "Rename {file}, or choose another folder for -o.",
    ),
    # A cluster.
    "no_scheduler_named": Entry(
        "The backend dask needs the address of a scheduler.",
        "Add --scheduler with the address that `dask scheduler` prints, such as tls://10.0.0.1:8786.",
    ),
    "backend_without_scheduler": Entry(
        "The backend {backend} has no scheduler.", "Add --backend dask, or leave the scheduler out."
    ),
    "scheduler_not_encrypted": Entry(
        "{scheduler} is not encrypted, and nothing shows who answers there. The scheduler and its workers see every "
        "row of the tables, and what they send back is run here as a program.",
        "Give the address of a TLS scheduler, such as tls://10.0.0.1:8786; or trust this one and its network: "
        "--trust-scheduler.",
    ),
    "no_address": Entry(
        '"{text}" is no address of a scheduler.',
        "Give the address that `dask scheduler` prints, such as tls://10.0.0.1:8786.",
    ),
    "long_text_for_address": Entry(
        "A text of {length:,} characters is no address of a scheduler.",
        "Give the address that `dask scheduler` prints, such as tls://10.0.0.1:8786.",
    ),
    "no_dask": Entry("The backend dask needs Dask, which is not installed.", "Run pip install dask distributed."),
    "certificates_not_usable": Entry("The certificates for TLS cannot be used: {reason}.", TLS),
    "no_certificates": Entry("TLS needs certificates, and Dask is configured with none.", TLS),
    "no_scheduler": Entry(
        "No Dask scheduler answers at {scheduler}.",
        "Start one with `dask scheduler`, and give the address that it prints, like tls://10.0.0.1:8786.",
    ),
    "no_workers": Entry(
        "The scheduler at {scheduler} has no workers.", "Start some with `dask worker {scheduler} --nthreads 1`."
    ),
    "workers_of_other_versions": Entry(
        "Workers at {scheduler} have other versions: {versions:all}.",
        "Install the same versions of Python and of dossier on every worker.",
    ),
    "workers_of_many_threads": Entry(
        "Workers at {scheduler} spread sums over threads, which changes their last digits.",
        "Start them with OPENBLAS_NUM_THREADS=1 in their environment.",
    ),
    "cluster_too_slow": Entry(
        "The cluster at {scheduler} has not done one piece of work in {hours} hours.",
        "See what its workers do, and build again.",
    ),
    "workers_ended": Entry(
        "Worker after worker at {scheduler} ended over the same piece of work.",
        "Memory may have run out: give each worker more of it, or one thread (--nthreads 1).",
    ),
    "worker_silent": Entry(
        "The worker at {worker} has given no sign of life for {minutes} minutes.",
        "See whether it is stopped, or its machine is gone. End it or start it again, and build again.",
    ),
    "workers_lost": Entry(
        "All workers at {scheduler} were lost.",
        "See why they ended: memory may have run out. Then start them again, and build again.",
    ),
    "scheduler_silent": Entry(
        "The scheduler at {scheduler} has stopped answering.",
        "See why it ended or hangs. Start it again with its workers, and build again.",
    ),
    # Pages.
    "attachment_in_pdf_a2": Entry("PDF/A-2 carries no attachment: {files:all}.", "Print it as pdf/a-3a."),
    "weasyprint": Entry(
        "WeasyPrint says: {message}", "Mend the template, the style sheet or the figure that it names."
    ),
    "strange_font": Entry(
        "{family} does not ship with dossier, but would print {sample}.",
        "Give the text a family of the style sheet, and use characters that its fonts have.",
    ),
    "words_without_room": Entry(
        "Page {page} has no room for {words:5}.",
        "Let them be parted, or give their column more room; until then a shorter name in the release helps.",
    ),
    "template": Entry("{message}", "Mend the template."),
    # Signing and sealing.
    "nobody_signs_as": Entry("Nobody signs as {asked:quoted}.", "The release declares in [[signatory]]: {roles:all}."),
    "meaning_of_signature": Entry(
        "The meaning of the signature is empty or too long.", "Say it in at most {most} characters."
    ),
    "nothing_is_signed": Entry(
        "Nothing is signed: {why}.", "Build it again; or look with dossier verify who changed it."
    ),
    "most_signatures": Entry("The dossier has {most} signatures.", "Sign a new build."),
    "no_timestamp": Entry(
        "No timestamp was given: {error}.", "Look at its address and at the network, or leave --tsa out."
    ),
    "key_does_not_sign": Entry("The key does not sign: {error}.", "Name a key and a certificate for signatures."),
    "no_certificate_beside_key": Entry("There is no certificate beside the key.", "Name a key with its certificate."),
    "certificate_not_valid_today": Entry(
        "The certificate is not valid today; it ends on {day}.", "Sign with a certificate that is valid today."
    ),
    "certificate_vouches_for_itself": Entry(
        "Nobody but itself vouches for the certificate.",
        "Sign with a certificate of an authority; or add --self-signed, and give yours to who is to verify.",
    ),
    "certificate_not_for_signatures": Entry(
        "The certificate is not for signatures.",
        "Sign with a certificate for signatures; this one may be for a server, or for secrets.",
    ),
    "no_key_file": Entry("There is no key file {file}.", "Name a .p12 or .pfx file."),
    "key_file_not_readable": Entry("{file} cannot be read.", "Name a file that you may read."),
    "key_file_not_opened": Entry(
        "{file} cannot be opened: the password is wrong, or it is no PKCS#12 with key and certificate.",
        "Give the right password, or another file.",
    ),
    "token_gives_no_key": Entry(
        "The token gives no key: {error}.",
        "Look at the module, --token, --key and the PIN; a wrong PIN a few times locks a card.",
    ),
    "signing_not_installed": Entry(
        "What makes and reads signatures is not installed.", 'Install what signs: pip install ".[sign]" in the clone.'
    ),
    "no_certificate_in_file": Entry(
        "{file} holds no certificate that can be read.", "Name a file of certificates in PEM."
    ),
    "certificate_of_no_authority": Entry(
        "{file} holds a certificate that is of no authority.", "Name that of the authority; or add --self-signed."
    ),
    "not_a_seal": Entry(
        "{file} is no seal of dossier.", "Name the file that dossier seal wrote for this release, unchanged."
    ),
    "seal_of_another_model": Entry(
        "{file} is the seal of another model than {model:quoted}.",
        "Name the file that dossier seal wrote for this release, unchanged.",
    ),
    "seal_altered": Entry(
        "{file} was altered after it was sealed: its hash is of something else, or it was written anew.",
        "Name the file that dossier seal wrote for this release, unchanged.",
    ),
    # The ledger of releases that protect small counts.
    "not_a_ledger": Entry(
        "{file} is no ledger of ours, or was altered.",
        "Name the ledger that dossier build wrote, unchanged, or a new file if nothing of these rows was released.",
    ),
    "ledger_not_writable": Entry("{file} cannot be written.", "Name a file in a folder that is there and yours."),
    "ledger_changed": Entry("{file} was written by another build meanwhile.", "Build again."),
    "ledger_of_frame": Entry(
        "A ledger needs a release on a disk, and a frame is none.",
        "Write the release, and build it with dossier build.",
    ),
    "ledger_other_policy": Entry(
        "{dataset} was released with ranges of {wide} for a minimum_cell of {minimum}, and would now have ranges of "
        "{now}: both together tell more than either.",
        "Declare the minimum_cell and the subgroups and predictors of that release.",
    ),
    "ledger_other_outcome": Entry(
        "{dataset} was released with the outcome {outcome}: ranges of another of the same patients tell of both.",
        "Declare that outcome, or give rows that were not released another name.",
    ),
    "ledger_other_name": Entry(
        "{file} was released as {known}, and not as {dataset}.",
        "Give its datasets the names that they had, or its new rows a file of their own.",
    ),
    "ledger_group_gone": Entry(
        "{dataset} was released with {groups}, of which this release says nothing: what both tell cannot be looked at.",
        "Declare them again, with weights and splits as they were.",
    ),
    "ledger_few_came": Entry(
        "{dataset} was released with other ranges, and for all that they show fewer than two ranges ({least}) of "
        "patients with the outcome or without it came since: what is new would tell of few.",
        "Release the rows of that release again, or wait for more; give rows that were never released another name.",
    ),
    "ledger_other_number": Entry(
        "{dataset} was released with the same range of patients and another {number}: a few of them differ.",
        "Release the rows of that release again, or wait for more; give rows that were never released another name.",
    ),
    "sealed_already": Entry(
        "{file} is there already.", "Keep it: it says what was declared then. Rename it to seal anew."
    ),
    "signed_output": Entry(
        "{out} holds signatures, which a new dossier has not.",
        "Choose another folder for -o; or keep {folder}/ elsewhere, and add --replace.",
    ),
}
