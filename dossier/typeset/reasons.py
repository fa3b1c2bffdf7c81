"""Why something is absent or has no bounds, in words: the text of every code, and the one function that sets it.

A text names the values of its fact in braces. After a colon stands how a value is set: a format of Python; what joins
several, as ` or `; or two texts parted by `|`, the first for yes and for a count of one, the second for all else.
"""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from dossier.core.facts import Count, Fact
from dossier.core.types import Evidence
from dossier.typeset.words import within_sentence


@dataclass(frozen=True)
class Names:
    """What datasets and measures are called where the words are read, and which dataset is named beside them."""

    datasets: Mapping[str, str] = field(default_factory=dict)
    measures: Mapping[str, str] = field(default_factory=dict)
    beside: str | None = None
    """The dataset whose name stands beside the words already."""


DATASETS = frozenset(("dataset", "judged"))
"""The values that are names of datasets."""


def reason_text(fact: Fact, names: Names = Names()) -> str:
    """A reason as one sentence without a full stop; names of the input as they are, unless others are given."""
    short = names.beside is not None and fact.get("dataset") == names.beside
    return Words(names).vformat((BESIDE if short and fact.code in BESIDE else WORDS)[fact.code], (), dict(fact.values))


def why(evidence: Evidence, fact: Fact, beside: str | None = None) -> str:
    """A reason in which datasets and measures stand under the names that a reader knows."""
    return reason_text(fact, replace(known_names(evidence), beside=beside))


def known_names(evidence: Evidence) -> Names:
    """The sites of the datasets, and the labels of the measures whose names are no words."""
    labels = {term.measure: within_sentence(term.label) for term in evidence.terms.values() if "_" in term.measure}
    return Names({dataset.name: dataset.site for dataset in evidence.datasets}, labels)


class Words(string.Formatter):
    """Sets the values of a fact into its text."""

    datasets = DATASETS

    def __init__(self, names: Names) -> None:
        self.names = names

    def get_value(self, key: int | str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        value = kwargs[str(key)]
        if key in self.datasets:
            if isinstance(value, tuple):
                return tuple(self.names.datasets.get(name, name) for name in value)
            return self.names.datasets.get(value, value)
        return self.names.measures.get(value, value) if key == "measure" else value

    def format_field(self, value: Any, format_spec: str) -> str:
        if "|" in format_spec:
            first, other = format_spec.split("|")
            return first if value is True or (isinstance(value, Count) and value.number == 1) else other
        if isinstance(value, tuple):
            return (format_spec or ", ").join(self.format_field(each, "") for each in value)
        if isinstance(value, Fact):
            return reason_text(value, self.names)
        if value is None:
            return ""
        number = value.number if isinstance(value, Count) else value
        text = format(number, format_spec)
        return text.replace("-", "\N{MINUS SIGN}") if isinstance(number, float) else text


BESIDE: Mapping[str, str] = {
    "has_no": "no {what}",
    "has_no_column": "no column {column}",
    "readers_judged_elsewhere": "the readers judged the cases of {judged} only",
}
"""The texts of reasons where the dataset is named beside them."""

WORDS: Mapping[str, str] = {
    "a_split_without_value": "at least one split allows no value: {reason}",
    "accuracy_not_above_one_half": "the measured accuracy is {measured:.2f}, not above one half, so no labels make it "
    "better",
    "against_the_rest": "{label} against the rest: {reason}",
    "agreement_needs_two_raters": "agreement needs two raters",
    "alarms_weigh_endlessly": "{alarms} {alarms:row|rows} without the outcome {alarms:counts|count} as an alarm at a "
    "threshold of 1, which weighs endlessly",
    "all_labels_equal": "all labels are equal, so agreement beyond chance is not defined",
    "all_readers_gain_the_same": "all readers gain the same",
    "all_risks_equal_at_every_site": "at every site the risks are the same or nearly so, so that there is no slope",
    "all_risks_equal_no_order": "every risk is the same, so that no order is estimated",
    "all_risks_equal_no_order_to_test": "every risk is the same, so that there is no order to test",
    "all_risks_equal_no_sample_size": "all risks are equal, so a slope cannot be estimated from any number of rows",
    "all_risks_certain": "every risk is 0 or 1",
    "all_risks_equal_no_slope": "every risk is the same, so that there is no slope",
    "all_risks_equal_no_slope_beside_intercept": "every risk is the same, so that there is no slope to fit beside the "
    "intercept",
    "all_squared_errors_equal": "every squared error is the same, so the formula sees no spread",
    "an_imputation_without_value": "at least one imputation allows no value: {reason}",
    "another_outcome_before": "another outcome was predicted before: {before}; now it is {now}",
    "another_site_before": "the dataset of this name was of another site before: {before}; now it is of {now}",
    "at_settings": " at {settings}",
    "auroc_without_spread": "the AUROC is exactly {auroc:g}, where the formula sees no spread",
    "before": "before: {reason}",
    "bound_not_finite": "a bound is not finite",
    "bound_of_zero_or_one": "a bound of exactly 0 or 1 implies no SE",
    "class_of_single_row_no_delong": "a class has a single row, or all rows but one, so that DeLong's variance does "
    "not exist",
    "class_of_single_row_no_variance": "a class that counts has a single row, so that its variance is not known",
    "class_without_complexity": "every row of class {label} has a complexity of 0",
    "clustered_rows": "the rows of {dataset} are clustered, and this needs independent rows",
    "clustered_rows_no_band": "the rows of {dataset} are clustered, and this band needs independent rows",
    "clustered_rows_no_interval": "the rows of {dataset} are clustered, and the interval of this measure needs "
    "independent rows",
    "clusters_in_both_groups": "some clusters of {dataset} have rows in both groups, which are then not independent",
    "column_of_many_levels": "a column of more than {most} levels has too many small counts",
    "common_slope_did_not_converge": "the fit of the common slope did not converge",
    "complexity_not_available": "a complexity from {source} is not available",
    "cell_of_few_answers": "fewer than {fewest} answers",
    "confidence_below_one_half": "the raters' confidence by this rule is {confidence:.2f}, below one half, where no "
    "model's answer lies",
    "declared_without_interval": "its interval is not declared",
    "count_of_sites_has_no_interval": "a count of sites has no interval",
    "counted_already": "its counts are sums of others that are given",
    "counts_of_classes_have_no_threshold": "the counts of an outcome of several classes have no threshold",
    "criterion_not_computed": "{measure} is not computed for {dataset}{settings}",
    "criterion_not_computed_over_all_sites": "{measure} is not computed for all sites together{settings}",
    "curve_not_computed": "{curve} was not computed for {dataset}",
    "curve_not_computed_in_subgroup": "{curve} was not computed for {subset} of {dataset}",
    "curve_shows_more": "the curve of {dataset} shows more",
    "curve_without_weights": "the rows of {dataset} have sampling weights, which this curve does not honour",
    "curves_of_classes_in_results": "the curves of subgroups class by class are in results.json; the tables hold "
    "their O/E ratios",
    "cut_offs_for_binary_outcome": "the cut-offs of its authors are for a binary outcome, not for one of several "
    "classes",
    "dates_missing": "the rows of now and of before may share patients: dates that would tell them apart are missing",
    "dates_overlap": "the rows of now and of before may share patients: their dates overlap",
    "days_of_persons": "the first and the last day tell of single persons",
    "denominator_too_small": "its denominator is too small to divide by",
    "desired_above_measured": "the desired accuracy is {desired:g}, above the measured {measured:.2f}: no reliability "
    "of the labels makes the actual accuracy exceed the measured one",
    "desired_below_one_half": "the desired accuracy is {desired:g}, below one half, which needs no reliable labels",
    "diagram_for_binary_outcome": "the bands of the diagram are for a binary outcome",
    "distance_unknown": "two rows share no predictor that both have, so their distance is unknown",
    "error_rates_equal": "the error rates with and without the model are equal, so no number of decisions is needed",
    "errors_equally_grave": "both kinds of error are equally grave, so the index can take no other value",
    "every_risk_reaches_threshold": "every risk reaches the threshold of {threshold:g}",
    "every_row_has_outcome": "every row has the outcome",
    "every_weighted_risk_reaches_threshold": "every risk that has a weight reaches the threshold of {threshold:g}",
    "every_weighted_row_has_outcome": "every row that has a weight has the outcome",
    "false_positive_weighs_infinitely": "at a threshold of 1 a false positive weighs infinitely much",
    "few_at_every_site": "under {fewest} with the outcome, or under {fewest} without, at every external site",
    "few_in_period": "too few to tell: under {fewest} patients",
    "fewer_events": "fewer than {fewest} events",
    "fewer_non_events": "fewer than {fewest} non-events",
    "fewer_persons": "fewer than {below} persons",
    "fewer_different_risks": "the model gives fewer than {least} different risks here, of which it could be worked out",
    "fewer_persons_of_either_outcome": "fewer than {least} persons with or without the outcome",
    "fewer_rows": "there are fewer than {fewest} rows",
    "fewer_rows_of_a_class": "fewer than {fewest} rows of a class",
    "fewer_than_three_calibration_curves": "fewer than three external sites have a calibration curve that can be "
    "pooled",
    "fewer_than_two_decision_curves": "fewer than two external sites have a decision curve",
    "fewer_than_two_development_rows": "fewer than two development rows have half of the predictors",
    "fewer_than_three_similarities": "fewer than three external sites have both a similarity and a performance",
    "for_one_model": "for the {model}, {reason}",
    "formula_sees_no_spread": "the formula sees no spread: no case is missed or every case is, and no other row is "
    "positive",
    "has_no": "{dataset} has no {what}",
    "has_no_column": "{dataset} has no column {column}",
    "has_outcome_of_classes": "{dataset} has an outcome of several classes",
    "has_outcome_of_two_classes": "{dataset} has an outcome of two classes",
    "hospitals_together_describe_none": "several hospitals together describe none of them",
    "imputations_in_different_bins": "the imputations are counted in different bins, of which no mean is taken",
    "imputations_share_no_range": "the curves of the imputations share no range",
    "imputations_with_different_points": "the imputations give curves with different points, of which no mean is taken",
    "imputed_not_by_period": "imputed rows ({dataset}) are not followed by calendar period",
    "internal_test_gives_no": "the internal test gives no {measure}: {reason}",
    "internal_test_gives_no_value": "the internal test gives no value",
    "interval_needs_four_sites": "an interval needs four sites",
    "interval_of_a_class_missing": "the interval of a class is missing",
    "intervals_at_other_levels": "the previous interval is at {before:g}%, the present one at {now:g}%",
    "known_at_fewer_than_two_hospitals": "it is known at fewer than two hospitals",
    "few_enough_to_be_named": "each hospital is named where there are fewer than 20, or several classes",
    "likelihood_ratio_too_large": "the risks are so far from what happened that the ratio of likelihoods is too large "
    "to print",
    "log_score_infinite": "the log score is minus infinity: {impossible} {impossible:row has|rows have} a risk of 0 "
    "with the outcome or of 1 without",
    "log_score_of_classes_infinite": "the log score is minus infinity: {impossible} {impossible:row gives|rows give} "
    "the true class a risk of 0",
    "logistic_columns_dependent": "the columns of the logistic fit are not independent",
    "logistic_fit_did_not_converge": "the logistic fit did not converge",
    "mean_risk_below_a_step": "the mean risk is less than a step of one person",
    "measure_without_weights": "the rows of {dataset} have sampling weights, which this measure does not honour",
    "minimum_below_no_benefit": "a minimum of {minimum:.2f} is no better than no model, so that reaching it "
    "shows no use",
    "more_raters_than_points": "there are {raters} raters, more than {points} points can show",
    "inputs_of_utility_protected": "small counts are protected",
    "no_advice_known": "the study says nothing of the model's advice",
    "no_decision_against_advice": "no reader first decided against advice that was {is_right:right|wrong}",
    "no_actual_accuracy_asked_for": "[readers] names no desired_accuracy, and no criterion asks for an actual_accuracy",
    "no_answer_with_truth_and": "no answer has both a truth and a {what}",
    "no_bin_with_enough_answers": "no bin of {what} holds {fewest} answers",
    "no_bound": "the interval has no {side} limit",
    "no_bounds": "it has no bounds",
    "no_answer_with_both_ratings": "no answer has both a confidence and a complexity",
    "no_case_called_complex": "the raters called no case complex",
    "no_case_labelled_by_all": "no case was labelled by every rater",
    "no_case_labelled_by_two": "no case was labelled by two raters",
    "no_case_with_complexity": "no case has a complexity",
    "no_case_with_confident_label": "no case has a label with a confidence",
    "no_case_with_relevance": "no row with the outcome has any relevance",
    "no_case_with_threshold_and_relevance": "no case has both a threshold and a relevance",
    "no_class_pooled": "the AUROC of no class could be pooled",
    "no_column_in_rows": "the rows have no column {column}",
    "no_complexity": "the raters gave no complexity",
    "no_complexity_declared": "the release declares no complexity of the cases",
    "no_confidence": "the raters gave no confidence",
    "no_costs_and_benefits": "costs and benefits are not given",
    "no_counts_at_primary_threshold": "there are no counts per 1,000 at the primary threshold",
    "no_curve_without_some_clusters": "without some clusters there is no curve: {reason}",
    "no_dataset_holds": "no dataset holds {predictors}",
    "no_decision_with_model": "no decision was made with the model",
    "no_decision_without_model": "no decision was made without the model",
    "no_development_predictors": "the release has no development table with predictors",
    "no_distribution_of_risks": "no external site has a distribution of risks",
    "no_draws_for_interval": "no draws were made for an interval",
    "no_errors": "no errors: the index is 0 by definition and has no interval",
    "no_errors_in_mean": "there are no errors, and the 0 that the index is by definition enters no mean",
    "no_event": "none of the {rows} rows has the outcome",
    "no_event_expected": "every risk is 0, so that no event is expected",
    "no_expected_pair": "by the risks no two rows can be a case and a non-case",
    "no_external_row_with_half_of_predictors": "no external row has half of the predictors",
    "no_external_site": "the release has no external site",
    "no_formula": "the release does not give the formula of the model",
    "no_h_accuracy_by_priority": "no external site has H-accuracy by priority",
    "no_internal_split_allows": "no internal split allows {measure}",
    "no_internal_standard_error": "the internal performance has no standard error",
    "no_internal_test": "the release has no internal test",
    "no_interval_of": "the {whose} allow no interval: {reason}",
    "no_label": "the raters' table holds no label",
    "no_label_with_confidence": "no label has a confidence",
    "no_local_calibration": "{name} is no way to measure local calibration",
    "no_logarithm": "a value of {value:g} has no logarithm",
    "no_logit": "a value of exactly {value:g} has no logit",
    "no_manifest": "there is no manifest.json beside the previous results",
    "no_mean_over_classes": "no mean over the classes ({label} against the rest: {reason})",
    "no_minimum_declared": "no minimum is declared for {measure} in [robustness]",
    "no_missing_value": "no predictor has a missing value",
    "no_net_benefit_at_one": "net benefit is not defined at a threshold of 1, where one false positive outweighs "
    "everything",
    "no_non_event": "all {rows} rows have the outcome",
    "no_outcome_and_no_flag": "no row has the outcome and no risk reaches the threshold of {threshold:g}",
    "nowhere_in_both_parts": "at no site can both the group and the other patients be measured",
    "no_event_in_a_part": "no event in the group or in the other patients",
    "too_few_to_rank_in_both_parts": "at no site do both the group and the others have {fewest} events and non-events",
    "no_pair_at_any_site": "at no site are there a case and another to compare",
    "no_pair_with_kappa": "no pair of raters has a kappa: none shares cases with more than one label",
    "no_part_of_enough_persons": "no part of it rests on enough persons",
    "no_patient_has_outcome": "none of the {patients:,}\N{NO-BREAK SPACE}{patients:patient|patients} has the outcome",
    "no_patient_on_this_side": "no patient {has_outcome:with|without} the outcome "
    "{is_flagged:is flagged at|stays below} the threshold of {threshold:g}",
    "no_period_with_value": "no calendar period of {dataset} has a value ({why})",
    "no_predictor_changes_risk": "no predictor of the formula changes the risk",
    "no_predictor_of_formula": "the site gives none of the formula's predictors",
    "no_similarity_of_classes": "no external site has both a similarity and a measure of a class against the rest",
    "no_profile_of_h_accuracy": "no external site has a profile of H-accuracy",
    "no_range_of_thresholds": "no range of thresholds is declared",
    "no_range_of_thresholds_or_risks": "no range of thresholds is declared, and the risks give none: nearly all are "
    "the same",
    "no_rater_of_cases": "no rater judged a case {has_outcome:with|without} the outcome",
    "no_rater_of_cases_and_non_cases": "no rater judged both cases and non-cases",
    "no_rater_with_accuracy_and_confidence": "no rater has both an accuracy and a confidence",
    "no_raters_judged": "no raters judged these cases",
    "no_reader_decided_both_ways": "no reader decided both with and without the model",
    "no_reader_of_group_decided_both_ways": "no reader of the group {group} decided both with and without the model",
    "no_reader_study": "the release has no reader study",
    "no_readers": "the release has no readers",
    "no_readers_judged": "no readers judged the cases",
    "no_readers_of_known_cases": "no readers judged cases whose outcome and risk are known",
    "no_readers_tables": "the release has no readers' tables",
    "no_reason_given": "it is {status}",
    "no_right_answer": "no answer of the raters is right",
    "no_right_answer_with_confidence": "no right answer has a confidence",
    "no_risk_reaches_threshold": "no risk reaches the threshold of {threshold:g}",
    "no_round_risk_reached": "the totals reach no round risk",
    "no_row_has_outcome": "no row has the outcome",
    "no_row_of_class": "no row is of class {labels: or }",
    "no_row_with_every_predictor": "no row has every predictor of the formula",
    "no_row_with_weight": "no row that is left has a weight",
    "no_rows": "there are no rows",
    "no_rule_for_confidence": "{name} is no rule for a confidence",
    "no_severity_weights": "the release declares no severity weights",
    "no_shared_predictor": "the external table shares no predictor with the development table",
    "no_shared_predictor_varies": "no shared predictor varies",
    "no_shared_range_of_risks": "the risks of the sites share no range",
    "no_shared_thresholds": "the sites' decision curves do not share their thresholds: declare a range in [thresholds]",
    "no_similarity_known": "the similarity to the development data is not known at any external site",
    "no_site_by_period": "no external site names its days",
    "no_site_for_correlation": "no external site has both a similarity and the measure, and a correlation needs three",
    "no_site_with_calibration_curve": "no external site has a calibration curve",
    "no_site_with_complexity": "no site has a complexity of its cases",
    "no_site_with_confusion_matrix": "no external site has a confusion matrix",
    "no_site_with_decision_curve": "no external site has a decision curve",
    "no_site_with_development_predictors": "no external site holds predictors of the development data",
    "no_site_with_roc_curve": "no external site has a ROC curve",
    "no_site_with_similarity_and_measures": "no external site has both a similarity and all three measures",
    "no_source_of_priorities": "{name} is no source of priorities",
    "no_source_of_thresholds": "{name} is no source of thresholds",
    "no_splits": "the internal test is declared, not given as rows: no splits",
    "no_splits_and_no_minimum": "the internal test is declared, not given as rows: no splits, and no minimum is "
    "declared in [robustness]",
    "no_spread": "the rows do not vary enough to estimate an interval",
    "no_spread_on_either_side": "neither performance has any spread, so the two cannot be compared",
    "no_standard_error": "no standard error",
    "no_standard_error_for_a_step": "it has no standard error to measure a step by",
    "no_standard_error_for_rubins_rules": "p-values and sample sizes of imputations are not pooled: Rubin's rules "
    "need a standard error",
    "no_standard_error_here": "the performance at this site has no standard error",
    "no_subgroup_declared": "the release declares no subgroup",
    "no_subgroup_with_enough_for_a_curve": "no subgroup has enough patients for a calibration curve",
    "no_subgroup_with_enough_patients": "no subgroup has enough patients at any external site",
    "no_survey_of_priorities": "the release declares no survey of priorities",
    "no_threshold_declared": "no threshold is declared",
    "no_threshold_for_net_benefit": "no threshold is declared, so the net benefit cannot be judged",
    "no_threshold_of_a_case": "no case has a threshold of its own",
    "no_value_without_some_clusters": "without some of the clusters there is no value: {reason}",
    "no_weighed_confusion_matrix": "no external site has a confusion matrix whose errors are weighed",
    "no_weighted_event_expected": "every risk that has a weight is 0, so that no event is expected",
    "no_weighted_patient_on_this_side": "no patient {has_outcome:with|without} the outcome that has a weight "
    "{is_flagged:is flagged at|stays below} the threshold of {threshold:g}",
    "no_weighted_risk_reaches_threshold": "no risk that has a weight reaches the threshold of {threshold:g}",
    "no_weighted_row_has_outcome": "no row that has a weight has the outcome",
    "not_compared_without_interval": "a number without an interval is not compared with that of the other patients",
    "not_computed": "{measure} was not computed for {dataset}",
    "not_computed_in_subgroup": "{measure} was not computed for {subset} of {dataset}",
    "not_estimated": "it was not estimated",
    "not_estimated_at_any_site": "{what} could not be estimated at any external site",
    "not_every_imputation_with_standard_error": "not every imputation has a standard error, which Rubin's rules need",
    "not_every_site_with_standard_error": "not every site has a standard error",
    "not_given_where_protected": "it is not given where counts below {below} are protected",
    "not_in_previous_release": "{dataset} is not in the previous release",
    "not_measured_before": "the previous release does not have this measure at these settings",
    "nothing_estimated": "nothing is estimated",
    "nothing_updated": "nothing was updated (12f)",
    "of_a_class": "{rows:,} of {label}",
    "of_the_other_patients": " of the other patients",
    "of_two_classes_only": "it is of an outcome of two classes",
    "one_case": "one case gives no interval",
    "one_class_at_every_site": "at no site do some rows have the outcome and others not",
    "one_cluster_no_band": "all rows of {dataset} are of one cluster, and a band needs two",
    "one_external_row": "one external row gives no interval",
    "one_external_site": "one external site",
    "one_reader": "one reader gives no interval",
    "one_sided_interval": "the interval of the {whose} is one-sided, and a difference needs both ends",
    "one_site_for_correlation": "one external site has both a similarity and the measure, and a correlation needs "
    "three",
    "one_split": "one split shows no spread",
    "one_unit_no_interval": "all rows are of one {units.of}, and an interval needs two",
    "other_patients_without_value": "the other patients allow no value: {reason}",
    "other_points_without_some_clusters": "without some clusters of {dataset} the curve has other points",
    "outcome_of_few": "fewer than {below} persons may have the outcome, or not have it",
    "outcomes_separated_no_common_slope": "the risks separate the outcomes or nearly so, so that no finite common "
    "slope exists",
    "outcomes_separated_no_logistic_fit": "the risks separate the outcomes or nearly so, so that no finite logistic "
    "fit exists",
    "p_value_has_no_interval": "a p-value has no interval",
    "parallel_study": "in a parallel study nobody decides the same case twice",
    "part_of_roc_out_of_range": "the part of the ROC curve from {low:g} to {high:g} does not lie in order within 0 to "
    "1",
    "part_of_roc_without_extent": "the ROC curve has no extent from {low:g} to {high:g}",
    "percentages_at_fewer_than_two_hospitals": "what came of the percentages is known at fewer than two hospitals",
    "pooled_in_both_releases": "{same_hospitals:the same hospitals|some of the same hospitals} are pooled in both "
    "releases, so that the two are not independent",
    "predictors_of_formula_missing": "the formula needs {predictors}, which the site does not give",
    "product_of_two_numbers": "{predictors: and }, of which the formula has a product, are both numbers of many values",
    "products_of_many_predictors": "products join {predictors}, and an axis shows two predictors at most",
    "rater_without_known_case": "rater {rater} labelled no case whose truth is known",
    "raters_judged_some": "the raters judged {judged} of the {judged.out_of} cases",
    "reader_study_of_counts_only": "the reader study gives counts only, not the decisions of each reader",
    "readers_judged_elsewhere": "the readers judged the cases of {judged}, not those of {dataset}",
    "ratings_do_not_vary": "every answer has the same confidence, or the same complexity",
    "readers_tables_hold_no": "the readers' tables hold no {what}",
    "readers_tables_name_no_dataset": "the readers' tables name no dataset",
    "readers_tables_need_a_dataset": "the readers' tables name no dataset, whose outcome and risks it needs",
    "refitted_splits_no_patients": "the rows of {dataset} are refitted splits, not independent patients",
    "refitted_splits_no_curve": "curves are drawn of independent patients; the rows of {dataset} are refitted splits",
    "refitted_splits_no_subgroups": "subgroups need independent patients, and the rows of {dataset} are refitted "
    "splits",
    "release_declares_no_threshold": "the release declares no threshold",
    "risk_reduction_may_be_zero": "the interval of the absolute risk reduction includes 0, so that of its inverse "
    "reaches infinity on either side",
    "rival_incomplete": "the other model has no risk in some rows of {dataset}",
    "rows_of_fit_not_known": "the number of rows that each split was fitted on is not known",
    "same_at_every_site": "similarity or performance is the same at every site",
    "same_rows_as_before": "the previous release has as many patients and events here: they are taken for the same, "
    "and two files of results cannot be paired; give the previous version's risks as rival, with its rival_version, "
    "to pair them",
    "sample_size_has_no_interval": "a sample size has no interval",
    "score_not_moved_by_chance": "every risk is 0, one half or 1, so that chance moves the score of none",
    "score_of_p_values_has_no_interval": "a score made of p-values has no interval",
    "setting_not_declared": "no {setting} is declared",
    "severity_groups_not_known": "which of several severity weights a row has is not known row by row",
    "severity_of_right_answer": "a right answer has a severity other than 0",
    "severity_of_two_scales": "the levels of {column} have severity weights of their own: their severities lie on "
    "different scales",
    "severity_outside_range": "a severity weight is outside 0 to 1",
    "severity_weights_no_table": "the severity weights are no table of {classes} rows and {classes} columns",
    "single_case_no_delong": "there is a single case or a single non-case, so that DeLong's variance does not exist",
    "single_row": "there is a single row, so that cases and non-cases cannot be compared",
    "site_not_pooled": "{dataset} ({reason})",
    "sites_not_pooled": "{sites} {sites:site|sites} ({reason})",
    "sites_on_one_line": "the sites lie on one straight line",
    "tau_below_even": "tau is {tau:g}, outside 1/{classes} to 1",
    "tau_outside_range": "tau is {tau:g}, outside 0 to 1",
    "worst_subset_is_a_draw": "without refitted splits the worst of random subsets is a matter of the draw: their 5% "
    "quantile stands instead",
    "test_statistic_has_no_interval": "a test statistic carries no interval",
    "test_too_large": "the risks are so near to 0 and 1 that the test has no printable size",
    "too_few_at_every_site": "under {fewest} patients with the outcome, and under {fewest} without, at every external "
    "site",
    "too_few_events_expected": "the expected number of events is too small to divide by",
    "too_few_of_class": "too few to tell{among}: {inside:,} of {label}, {outside:,} of the rest",
    "too_few_of_classes": "too few to tell{among}: {classes}",
    "too_few_patients": "too few to tell: {dataset} has fewer than {fewest} patients, whose own values it would be",
    "too_few_replicates_allow": "only {replicates} of {replicates.out_of} bootstrap replicates allow a value",
    "too_few_replicates_of_classes": "only {replicates} of {replicates.out_of} bootstrap replicates allow a value of "
    "every class",
    "too_few_rows_to_classify": "one of the tables has fewer than {fewest} rows, too few for a fit to half of them",
    "too_few_sites_pooled": "{usable} {usable:site|sites} can be pooled, and pooling needs three (not pooled: "
    "{not_pooled})",
    "too_few_sites_to_pool": "{usable} {usable:site|sites} can be pooled, and pooling needs three",
    "too_few_to_tell": "too few to tell{among}: {events} {events:event|events}, {non_events} "
    "{non_events:non-event|non-events}",
    "too_many_pairs_of_raters": "{raters} raters make {pairs} pairs, too many to list one by one",
    "too_many_raters": "{raters} raters are too many to list one by one",
    "too_many_readers": "there are more than {most} readers, too many to list",
    "truth_not_known": "the truth of the cases that the raters judged is not known",
    "two_classes": "the outcome has two classes",
    "two_sites_for_correlation": "two external sites have both a similarity and the measure, and a correlation needs "
    "three",
    "weighted_risks_equal_no_slope": "every risk that has a weight is the same or nearly so, so that there is no slope",
    "without_risks_of_zero_or_one": "without the {left_out:,} {left_out:risk|risks} of 0 or 1, {reason}",
}
"""The text of every code."""
