"""What a flag says, in words: the text of every code, and the one function that sets it.

The texts are written as those of `reasons.py`. After a colon may also stand the name of a way to set a value, which
`WAYS` lists, with what it needs: `number 1` of one digit, `counted patient` of a count with its noun.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from typing import Any

from dossier.core.bands import MANY_SITES, NAMED_OF_MANY
from dossier.core.facts import Count, Fact, Value
from dossier.core.faults import catalogue, wording
from dossier.core.types import CountRange, Sealed, unit_of
from dossier.typeset import reasons
from dossier.typeset.numbers import number, patients_needed, per_cent, threshold
from dossier.typeset.reasons import Names
from dossier.typeset.words import counted, date, exclusion, listing, periods

DATASETS = reasons.DATASETS | {"where", "earlier"}

QUANTITIES: Mapping[str, str] = {
    "auroc": "AUROC",
    "oe_ratio": "O/E ratio",
    "calibration_slope": "calibration slope",
    "net_benefit_gain": "net benefit gain",
    "degree_of_correspondence": "degree of correspondence (psi)",
    "correspondence_averaged": "averaged similarity",
    "brier": "Brier score",
    "mss_oe": "the observed to expected ratio",
    "mss_slope": "the calibration slope",
    "mss_auroc": "the AUROC",
    "mss_snb": "the standardized net benefit",
    "mss_brier": "the Brier score",
}
"""What sites are pooled in, what stop rules are on, and what samples are sized for."""

SEALED: Mapping[Sealed, str] = {
    "release": "what is tested, or the level",
    "outcome": "the outcome",
    "thresholds": "the thresholds",
    "acceptance": "the criteria",
    "subgroup": "the subgroups",
    "severity": "how grave each error is",
    "utility": "the settings of weighted utility",
    "h_accuracy": "the settings of H-accuracy",
    "intended_use": "the intended use",
    "care": "the limits that stop the model",
}
"""What each table that is sealed holds."""


def flag_text(fact: Fact, names: Names | None = None) -> str:
    """What a flag says; names of the input as they are, unless others are given."""
    return _Words(names or Names()).vformat(WORDS[fact.code], (), dict(fact.values))


def brief(fact: Fact, names: Names | None = None) -> str:
    """The number that a flag is raised for, in a few words, for a list of what is open; empty where none is short."""
    inner = fact.get("difference") if fact.code == "subgroup_differs" else fact
    if not isinstance(inner, Fact) or inner.code not in BRIEF:
        return ""
    return _Words(names or Names()).vformat(BRIEF[inner.code], (), dict(inner.values))


class _Words(reasons.Words):
    """Sets the values of a flag into its text."""

    datasets = DATASETS

    def format_field(self, value: Any, format_spec: str) -> str:
        way, _, more = format_spec.partition(" ")
        if way in WAYS:
            return WAYS[way](self._plain(value), more)
        if "|" in format_spec and isinstance(value, (tuple, Fact)):
            # A number of rows that is not given is several.
            return super().format_field(isinstance(value, tuple) and len(value) == 1, format_spec)
        if isinstance(value, Fact):
            plain = self._plain(value)
            return plain if isinstance(plain, str) else format(plain, format_spec)
        return super().format_field(value, format_spec)

    def _plain(self, value: Any) -> Any:
        """A value as Python's own: a count as its number, a range as a range, any other fact as its words."""
        if isinstance(value, tuple):
            return tuple(self._plain(each) for each in value)
        if isinstance(value, Count):
            return value.number
        if not isinstance(value, Fact):
            return value
        if value.code == "from_to":
            return CountRange(_whole(value["low"]), _whole(value["high"]))
        if value.code in WORDS:
            return flag_text(value, self.names)
        return catalogue.phrase(value) if value.code in catalogue.PHRASES else reasons.reason_text(value, self.names)


def _whole(end: Value) -> int:
    if not isinstance(end, int):
        raise ValueError("an end of a range of counts is a whole number")
    return end


def _rows(count: int | str, _: str) -> str:
    """A number of rows; of one that is not given, that there are some."""
    return f"{count} {'row' if count == 1 else 'rows'}"


def _counted(count: int | str, noun: str) -> str:
    """A count with its noun; of one that is not given, that there are some."""
    return f"{count} {noun}s" if isinstance(count, str) else counted(count, noun)


def _sites(sites: tuple[str, ...]) -> str:
    """Sites by name; of many the first."""
    left = len(sites) - NAMED_OF_MANY
    return listing(sites if len(sites) < MANY_SITES else (*sites[:NAMED_OF_MANY], f"{left:,} more"))


def _sealed(tables: tuple[str, ...]) -> str:
    return listing([words for table, words in SEALED.items() if table in tables])


WAYS: Mapping[str, Callable[[Any, str], str]] = {
    "number": lambda value, digits: number(value, int(digits or 2)),
    "per_cent": lambda share, _: per_cent(share),
    "threshold": lambda value, _: threshold(value),
    "thresholds": lambda values, _: listing([threshold(value) for value in values]),
    "listing": lambda texts, _: listing(texts),
    "sites": lambda sites, _: _sites(sites),
    "listed": lambda texts, most: wording.listed(texts, int(most or 12)),
    "typed": lambda value, _: wording.number(value),
    "all_typed": lambda values, _: wording.listed(map(wording.number, values)),
    "whole": lambda values, _: listing([number(value, 0) for value in values]),
    "classes": lambda labels, _: f"{', '.join(labels[:-1])} and {labels[-1]}",
    "counted": _counted,
    "rows": _rows,
    "patients_needed": lambda value, _: patients_needed(value),
    "quantity": lambda measure, _: QUANTITIES[measure],
    "date": lambda day, _: date(datetime.date.fromisoformat(day)),
    "exclusion": lambda code, _: exclusion(code),
    "periods": lambda numbers, unit: periods(numbers, unit_of(unit)),
    "sealed": lambda tables, _: _sealed(tables),
}
"""How values are set, by the name that a text gives."""

_VALUE = "{value:number} ({low:number} to {high:number})"

_LOWER = "at {at:threshold} is {is_lower:lower|higher} in the subgroup {group} than in the others:"
_APART = "(difference {apart:number}, {low:number} to {high:number})"

WORDS: Mapping[str, str] = {
    # ---- counts and other parts of sentences
    "some": "some",
    "fewer_than": "<{number}",
    "of_class": " of class {label}",
    # ---- one site
    "few_events": "{site} has {events} events and {others} non-events, and a curve asks for {wanted} of each: its "
    "calibration curve is imprecise.",
    "few_of_classes": "{site} has {few}, and a curve asks for {wanted} of each class: its calibration curve of "
    "{few:this class|these classes} is imprecise.",
    "class_of": "{number} of {label}",
    "few_in_subgroup": "{site} has fewer than {wanted} events or non-events in {few:listing}.",
    "few_of_class_in_subgroup": "{site} has fewer than {wanted} of a class in {few:listing}.",
    "rare_in_level": "{column} {level} ({rare})",
    "rare_events": "{number:counted event}",
    "rare_non_events": "{number:counted non-event}",
    "rare_class": "{number} {label}",
    "few_clusters": "the rows of {site} come from fewer than {wanted} clusters: intervals by cluster are unsure there.",
    "rows_excluded": "{is_least:at least\N{NO-BREAK SPACE}|}{lost:,} of {read:,}{is_more: or more|} rows of {site} are "
    "not analysed ({why}); who they are may differ from who remains.",
    "excluded_rows": "{why:exclusion}: {rows}",
    "rows_selected": "the release selects rows of {site} by their values: {left_out} of {read:,}{is_more: or more|} "
    "are left out, and nothing here is about them.",
    "imputed": "{site} is analysed in {imputations} imputations: the AUROC{of_class} is {value:number} over the "
    "imputations and {before:number} in the {rows:counted complete case} alone.",
    "imputed_without_original": "{site} is analysed in {imputations} imputations: the rows before imputing are not "
    "given, so that nobody can say what it changed.",
    "no_event_recorded": "at {site} none of {patients:counted patient} had the outcome, and the risks add up to "
    "{expected:number 0} (O/E 0, interval up to {high:number}): it may not have been recorded there, or the risks are "
    "far too high.",
    "no_event_of_class": "at {site} none of {patients:counted patient} is{of_class}, and the risks add up to "
    "{expected:number 0} (O/E 0, interval up to {high:number}): it may not have been recorded there, or the risks are "
    "far too high.",
    "risks_off": "at {site} there were {value:number} times as many events as the risks add up to ({low:number} to "
    "{high:number}), outside {least:g} to {most:g}.",
    "risks_of_class_off": "at {site} there were {value:number} times as many patients{of_class} as the risks add up to "
    "({low:number} to {high:number}), outside {least:g} to {most:g}.",
    "slope_off": f"the calibration slope{{of_class}} at {{site}} is {_VALUE}: the risks are "
    "{is_extreme:too extreme|too moderate} there.",
    "ranked_in_wrong_order": f"the AUROC{{of_class}} at {{site}} is {_VALUE}, below {{bound:g}}: the risks rank "
    "patients in the wrong order; the outcome or the risk may be coded the wrong way round.",
    "risks_run_backwards": f"the calibration slope{{of_class}} at {{site}} is {_VALUE}, below {{bound:g}}: the risks "
    "run the wrong way there.",
    "never_wrong": "at {site} the AUROC is exactly 1: all {events:,} patients with the outcome have a higher risk than "
    "all {others:,} without; a predictor may hold the outcome itself.",
    "never_wrong_of_class": "at {site} the AUROC is exactly 1: all {events:,} patients with class {label} have a "
    "higher risk than all {others:,} without; a predictor may hold the outcome itself.",
    "default_better": "at {site} another net benefit is higher than the model's: {worse:listing}.",
    "default_at_threshold": "at {threshold:threshold} that of flagging {flags_everyone:everyone|no one}, by "
    "{by:number 1} per 100 patients ({least:number 1} to {most:number 1})",
    "precision_missed": "{site} has {patients:counted patient}, fewer than {is_declared:the declared widths|the usual "
    "widths of intervals} ask for: {needed:listing}.",
    "size_needed": "{quantity:quantity}{of_class}{at} ({patients:patients_needed})",
    "at_threshold": " at a threshold of\N{NO-BREAK SPACE}{threshold:threshold}",
    "model_differs": "at {site} the formula of [model] gives another risk than the table in {differing:,} of {rows:,} "
    "rows, by more than {tolerated:g} and by up to {most:number 4}{without}: the nomogram is not the model that was "
    "tested.",
    "left_out_of_formula": "; {rows:,} with a missing predictor left out",
    # ---- against the development data
    "prevalence_shift": "the outcome happened in {here:per_cent} at {site} and in {before:per_cent} of the development "
    "data.",
    "case_mix_shift": "the linear predictor has a standard deviation of {here:number} at {site} and of "
    "{before:number} in development: the case mix is {is_narrower:narrower|wider}.",
    "often_missing": "often missing at {site}: {often:listing}.",
    "missing_share": "{predictor} ({share:per_cent})",
    # ---- over the sites
    "few_sites": "{sites} external {sites:site|sites}: what to expect in a new hospital cannot be estimated from fewer "
    "than three.",
    "wide_prediction_interval": "the expected range in a new hospital like these is wide: {wide:listing}.",
    "expected_range": "{quantity:quantity} {low:number} to {high:number}",
    "heterogeneity": "sampling error does not explain {varied:listing} of the variance between the sites (I2).",
    "share_of_variance": "{share:per_cent} in the {quantity:quantity}",
    "subgroup_differs": "{where} {difference}.",
    "over_all_sites": "over all sites",
    "in_sites": "in {sites:sites}",
    "more_events_in_group": "{is_relative:O/E is higher in|the model underestimates the risk of} the subgroup {group}"
    "{is_relative: than in the others|}: {is_relative:|O/E }{value:number} against {others:number} (ratio "
    "{apart:number}, {low:number} to {high:number})",
    "fewer_events_in_group": "{is_relative:O/E is lower in|the model overestimates the risk of} the subgroup {group}"
    "{is_relative: than in the others|}: {is_relative:|O/E }{value:number} against {others:number} (ratio "
    "{apart:number}, {low:number} to {high:number})",
    "share_in_group": f"the {{is_sensitivity:sensitivity|specificity}} {_LOWER} {{value:number}} against "
    f"{{others:number}} {_APART}",
    "ranking_in_group": "beyond case mix the AUROC is {is_lower:lower|higher} in the subgroup {group} than in the "
    "others: {value:number} against {others:number} (gap {apart:number}, {low:number} to {high:number})",
    "group": "{label} ({column})",
    "group_of_class": "{label} ({column}, {of_class} against the rest)",
    # ---- what reading finds
    "rows_of_no_dataset": "There are {rows:rows} of {file} of sites of which rows leaves out every row: no dataset "
    "counts them.",
    "same_table": "Risks and outcomes of {dataset} are those of {earlier}, row by row: the same patients count as two "
    "hospitals.",
    "one_outcome": "The outcome {happened:happened in every|happened in no} row of {dataset}: nothing that compares "
    "the two classes can be computed.",
    "one_class_of_several": "Every row of {dataset} is of one class: nothing that compares the classes can be "
    "computed.",
    "class_missing": "The class {label} has no row in {dataset}: no mean over the classes can be computed there.",
    "classes_missing": "The classes {labels:classes} have no row in {dataset}: no mean over the classes can be "
    "computed there.",
    "constant_risks": "Every row of {dataset} has the same risks: the model does not tell its patients apart.",
    "constant_risk": "Every risk in {dataset} is {risk:g}: the model does not tell its patients apart.",
    "certain_risks": "A risk is exactly 0 or 1 in {rows:rows} of {dataset}: the calibration slope and intercept are "
    "those of the others.",
    "missing_in_every_row": "{predictors} {predictors:is|are} missing in every row of {dataset}.",
    "predictor_called_otherwise": "{dataset} has no column {predictor}, but {columns:listed 3}: it may be the same. "
    'Say so with columns = {{ {predictor} = "{first}" }} in the [[dataset]].',
    "looks_like_classes": "every risk in {dataset} is 0 or 1: these are classes, and no risks. Calibration and "
    "thresholds say nothing of a model that gives risks.",
    "fitted_on_these_rows": "the O/E ratio and the calibration slope of {dataset} are exactly 1, as of risks that were "
    "fitted or recalibrated on these very rows: then this is apparent performance, and no external validation.",
    "repeated_patients": "{rows:rows} of {file} have the same {column} as another: rows of one patient are not "
    'independent, and are counted as if they were. If {column} tells patients apart, declare cluster = "{column}".',
    "copies_by_name": "{rows:rows} of {file} {rows:is|are}, by the names in {column}, altered copies of others: they "
    "are counted as patients of their own.",
    "hidden_rows": "{rows:rows} of {file} {rows:is|are} hidden in the workbook, by a filter or by hand: they are read "
    "and counted.",
    "totals_by_word": 'the last row of {file} says "{word}" in {column}: it may hold totals, and is no patient then.',
    "totals_by_sum": "the last row of {file} holds the sums or means of those above it in {columns:listed}: it may "
    "hold totals, and is no patient then.",
    "read_as_missing": "NA is read as missing in {columns:listed} of {file} ({cells} cells).",
    "read_as_western": "{file} is no UTF-8 text, and is read as windows-1252; another encoding is declared with "
    "encoding.",
    "risks_beyond_ends": "{column} lies beyond 0 or 1 in {rows:rows} of {file}, by 0.000001 at most: it counts as 0 "
    "or 1.",
    "class_risks_scaled": "the class risks {columns:listed} of {rows:rows} of {file} add up to 1 within their last "
    "digit only (the farthest sum is {total:typed}): they are divided by their sum.",
    "table_repeated": "In {dataset} {rows:rows} {rows:is|are} those before them once more, in the same order: the "
    "table may hold its patients more than once.",
    "duplicate_rows": "In {dataset} {rows:rows} {rows:is|are} equal to an earlier one in outcome, risk and every "
    "predictor.",
    "flagged_alike": "at threshold {threshold:threshold} the model flags {everyone:everyone|no one} at {alike} of "
    "{hospitals:counted hospital} ({sites:sites}): it does not separate anyone there.",
    "same_as_rival": "The risks of {rival} equal the model's in every row of {dataset}: the two are one model there, "
    "or one column was read twice.",
    "rival_without_risks": "{model} gives no risk in {rows:rows} of {dataset}, so the two are not compared there.",
    "in_no_subgroup": "In {dataset} {rows:rows} {rows:is|are} in no subgroup of {column}: the value is missing or not "
    "among its levels.",
    "name_for_missing": "{column} is {name} in {rows:rows} of {dataset}: it may stand for missing, and is counted as "
    "{counted_as}.",
    "word_for_missing": '{predictor} is "{word}" in {rows:rows} of {dataset}: it may stand for missing, and is counted '
    "as a category.",
    "number_far_from_others": "{predictor} is {number:typed} in {rows:rows} of {dataset}, far from every other value: "
    "it may be a code for missing.",
    "number_below_zero": "{predictor} is {number:typed} in {rows:rows} of {dataset}, where all but such values lie "
    "above 0: it may be a code for missing.",
    "reader_of_no_name": 'In the reader study a {what} is called "{word}": it may stand for missing, and is counted as '
    "a {what}.",
    "empty_subgroup": "No row of any dataset is in the subgroup {column} {level}.",
    "shared_by_identifier": "In {dataset} {rows:rows} {rows:is|are} also in the development table, by identifier and "
    "every shared predictor.",
    "shared_by_values": "In {dataset} {rows:rows} {rows:is|are} equal to one of the development table in all "
    "{predictors} shared predictors, many more than chance would give.",
    "constant_predictor": "{predictors:listed} {predictors:has|have} one value in {dataset}.",
    "other_units": "the median of {predictor} is {here:.4g} in {dataset} and {there:.4g} in {where}: it may be in "
    "other units.",
    "other_datasets": "the other datasets",
    "several_spellings": "{predictor} is spelled in several ways in {dataset}, each counted as a category of its own: "
    "{spellings}.",
    "spelled_alike": "{words: and }",
    "spelled_otherwise": "{predictor} is spelled otherwise in {dataset} than in {where}, and each spelling is counted "
    "as a category of its own: {spellings}.",
    "spelled_for": "{here} for {there}",
    "categories": "{known:listed 5}",
    "categories_and_rare_ones": "{known:listed 5}, and what fewer than {smallest} patients have",
    "rare_categories": "what fewer than {smallest} patients have",
    "numbers_with_another_minus": "{predictor} may be numbers in {dataset}, written with another sign than -: it is "
    "counted as {categories} categories. {mend}; list {predictor} under categorical if it is one.",
    "numbers_with_signs": "{predictor} may be numbers in {dataset}, written with signs for thousands, decimal commas, "
    "per cent signs or a unit: it is counted as {categories} categories. {mend}; list {predictor} under categorical if "
    "it is one.",
    "no_category_in_both": "{predictor} is {here} in {dataset} and {there} in {where}: no category is in both.",
    "identifiers_as_categories": "{predictor} is {here} in {dataset} and {there} in {where}: no category is in both. "
    "It may be an identifier or a place: name the predictors in the [[dataset]].",
    "coded_otherwise": "{predictor} is {here:all_typed} in {dataset} and {there:all_typed} in {where}: 1 may mean one "
    "thing here and another there.",
    "rater_accuracy_assumed": "The accuracy of the raters is neither declared nor known from an outcome, and is taken "
    "as 1: the reliability of the labels, rho, is the highest that it can be.",
    # ---- what is protected
    "previous_withheld": "small counts are protected: nothing of the previous release is shown beside this one.",
    "declared_auroc_withheld": "small counts are protected: the declared AUROC of {name} is not given, for fewer than "
    "{fewest} persons have either outcome.",
    "declared_correspondence_withheld": "small counts are protected: the declared similarity of sites is not given.",
    "declared_decisions_withheld": "small counts are protected: the declared counts of the reader study are not given.",
    "dataset_withheld": "1 dataset has fewer analysed rows than the smallest count that is printed: nothing of it is "
    "shown.",
    "datasets_withheld": "{datasets} datasets have fewer analysed rows than the smallest count that is printed: "
    "nothing of it is shown.",
    # ---- the release
    "no_threshold": "no threshold is declared: nothing is said about acting on the risks.",
    "number_not_found": "no result of this dossier is the number that the author typed: {found}.",
    "number_in_statement": "{label} {number} in statement {item}",
    "threshold_without_reason": "why {thresholds:thresholds} was declared, and that it was before the data were seen, "
    "is not in [thresholds] rationale.",
    "stop_rule_crossed": "the stop rule is crossed at {site}: the {quantity:quantity} lies outside {limits} in "
    "{periods}; the whole interval does in {excluding} of {among}.",
    "limits": "{at_least:number} to {at_most:number}",
    "least_limit": "{at_least:number} or more",
    "most_limit": "{at_most:number} or less",
    "months": "{numbers:periods month}",
    "quarters": "{numbers:periods quarter}",
    "years": "{numbers:periods year}",
    "stop_rule_without_dates": "the stop rule on the {quantity:quantity} cannot be evaluated: no external dataset "
    "names a column of days in date, with periods.",
    "stop_rule_of_few_periods": "the stop rule on the {quantity:quantity} asks for {wanted} periods in a row, and at "
    "{site} {shown} can be shown.",
    "stop_rule_withheld": "the stop rule on the {quantity:quantity} is not held against the periods of {site}: results "
    "by period are not given where counts below {below} are protected.",
    "severity_without_source": "where the severity weights come from is not in [severity] source.",
    "version_differs": "version {tested} was tested, and version {released} is released.",
    "dates_not_stated": "when the patients were seen is not stated for {sites:sites}.",
    "criterion_not_dated": "when acceptance criterion {numbers:whole} was declared is not stated.",
    "criteria_not_dated": "when acceptance criteria {numbers:whole} were declared is not stated.",
    "criterion_dated_late": "acceptance criterion {numbers:whole} was declared after the date of this dossier.",
    "criteria_dated_late": "acceptance criteria {numbers:whole} were declared after the date of this dossier.",
    "criterion_after_data": "acceptance criterion {numbers:whole} was declared after the last patient had come.",
    "criteria_after_data": "acceptance criteria {numbers:whole} were declared after the last patient had come.",
    "changed_since_sealed": "changed after sealing, according to the maker on {sealed_on:date}: {tables:sealed}; "
    "results.json has each change.",
    "criterion_not_estimable": "acceptance criterion {number} ({measure}{settings}) cannot be estimated at {site}: "
    "{reason}.",
    "criterion_settings": " at {settings:, }",
    "answer_without_flag": "the release answers {flag}, which this run did not raise.",
    "answer_for_dataset_without_flag": "the release answers {flag} for {answered}, which this run did not raise.",
}

BRIEF: Mapping[str, str] = {
    "few_events": "{site} ({events} events, {others} non-events)",
    "rows_excluded": "{site} ({is_least:at least |}{lost:,} of {read:,})",
    "risks_off": "{site} (O/E {value:number})",
    "risks_of_class_off": "{site} (O/E {value:number}{of_class})",
    "slope_off": "{site} (slope {value:number}{of_class})",
    "prevalence_shift": "{site} ({here:per_cent}, {before:per_cent} in development)",
    "precision_missed": "{site} ({patients:counted patient})",
    "wide_prediction_interval": "{wide:listing}",
    "heterogeneity": "I2 {varied:listing}",
    "more_events_in_group": "O/E in {group}",
    "fewer_events_in_group": "O/E in {group}",
    "share_in_group": "{is_sensitivity:sensitivity|specificity} in {group} {value:number} against {others:number}",
    "ranking_in_group": "AUROC in {group}",
    "duplicate_rows": "{dataset} ({rows:rows})",
    "version_differs": "{tested} tested, {released} released",
}
"""The number that a flag is raised for, after what it is about."""

CONSEQUENCES: Mapping[str, str] = {
    "few_in_subgroup": "No measure is given for these subgroups there.",
    "subgroup_differs": "One threshold may not act alike on all patients.",
    "few_clusters": "These intervals may be too narrow.",
    "risks_off": "The risks cannot be shown as probabilities there without recalibration.",
    "slope_off": "High and low risks mislead in opposite directions there until recalibrated.",
    "wrong_order": "No number of such a site can be used before this is settled.",
    "stop_rule_crossed": "By the declared rule the model is switched off there.",
    "stop_rule_not_evaluable": "Whether it is crossed is not known from this dossier.",
    "default_better": "At these thresholds the model should not decide there.",
    "precision_missed": "Intervals are wider than asked for there.",
    "few_sites": "Nothing here says what to expect in another hospital.",
    "wide_prediction_interval": "A local validation is needed before use in another hospital.",
    "heterogeneity": "A pooled value describes no single hospital.",
    "prevalence_shift": "PPV, NPV and net benefit do not carry over between these populations.",
    "case_mix_shift": "The AUROC differs for that reason alone.",
    "missing_values": "How missing values are handled decides the risk of these patients.",
    "missing_predictor": "How the model was run without it decides these results.",
    "duplicate_rows": "If they are the same patients, intervals are too narrow.",
    "shared_rows": "Performance there is optimistic.",
    "repeated_patients": "Intervals are too narrow.",
    "near_copies": "Intervals are too narrow.",
    "same_table": "Heterogeneity and pooled values count these patients twice.",
    "model_differs": "The formula must not be used until the difference is explained.",
    "version_differs": "These results may not hold for the released version.",
    "code_for_missing": "If so, the risks of these patients are wrong.",
    "other_units": "If so, the risks there are wrong.",
    "other_categories": "If so, the risks of these patients are wrong.",
    "dates_missing": "Whether the model was tested on patients after its development is unknown.",
    "criterion_not_dated": "The verdict leaves that out.",
    "criterion_dated_late": "The verdict leaves that out.",
    "number_not_found": "It was typed, not computed here.",
    "threshold_without_reason": "The threshold may have been chosen after the results were known.",
}
"""What a flag means for who uses the results, where its own sentence does not say so; each is said once."""
