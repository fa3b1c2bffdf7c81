"""The measures with their parameters, for editors and type checkers; `make stub` writes this file."""

from collections.abc import Sequence

from numpy.typing import ArrayLike

from dossier.core.release import Model
from dossier.core.types import Absent, Estimate, Feature, ReaderStudy
from dossier.metrics.censoring import TimeToEvent
from dossier.metrics.graded_accuracy import Survey
from dossier.metrics.severity import SeverityWeights

def absolute_risk_reduction(
    study: ReaderStudy,
    level: float = 0.95,
    bootstrap: int = 1000,
    seed: int = 1,
) -> Estimate | Absent:
    """How much lower the share of wrong decisions is with the model than without it."""

def accuracy(
    outcome: ArrayLike | TimeToEvent,
    risk: ArrayLike,
    threshold: float,
    level: float = 0.95,
) -> Estimate | Absent:
    """The share of people for whom the model's answer at the threshold is right."""

def accuracy_difference(
    outcome: ArrayLike | TimeToEvent,
    risk: ArrayLike,
    rival: ArrayLike,
    threshold: float,
    level: float = 0.95,
) -> Estimate | Absent:
    """By how much the share of right answers of the model exceeds that of the other model at the same threshold."""

def actual_accuracy(
    outcome: ArrayLike | TimeToEvent,
    risk: ArrayLike,
    labels: ArrayLike,
    confidence: ArrayLike,
    primary_threshold: float,
    coherence: float | None = None,
    truth: ArrayLike | None = None,
    rater_accuracy: tuple[float, ...] | None = None,
    level: float = 0.95,
) -> Estimate | Absent:
    """The accuracy that the model would have against the truth, when the labels it was tested on are themselves
    unsure.
    """

def advisor_value(
    outcome: ArrayLike | TimeToEvent,
    risk: ArrayLike,
    calibration: str = "ece",
    level: float = 0.95,
    bootstrap: int = 1000,
    seed: int = 1,
) -> Estimate | Absent:
    """How sure the model's advice is on average, once overconfidence and underconfidence are taken off."""

def auprc(
    outcome: ArrayLike | TimeToEvent,
    risk: ArrayLike,
    level: float = 0.95,
    bootstrap: int = 1000,
    seed: int = 1,
) -> Estimate | Absent:
    """The share of cases among the people flagged, averaged over all cases as the threshold falls."""

def auroc(
    outcome: ArrayLike | TimeToEvent,
    risk: ArrayLike,
    level: float = 0.95,
) -> Estimate | Absent:
    """The probability that a randomly chosen person with the outcome has a higher risk than one without it."""

def auroc_difference(
    outcome: ArrayLike | TimeToEvent,
    risk: ArrayLike,
    rival: ArrayLike,
    level: float = 0.95,
) -> Estimate | Absent:
    """By how much the AUROC of the model exceeds that of the other model on the same people."""

def balanced_accuracy(
    outcome: ArrayLike | TimeToEvent,
    risk: ArrayLike,
    threshold: float,
    level: float = 0.95,
) -> Estimate | Absent:
    """The mean of the share of cases that are flagged and the share of non-cases that are not."""

def balanced_average_accuracy(
    outcome: ArrayLike | TimeToEvent,
    risk: ArrayLike,
    fpr: str | tuple[float, float],
    level: float = 0.95,
    bootstrap: int = 1000,
    seed: int = 1,
) -> Estimate | Absent:
    """The mean of the average sensitivity and the average specificity over a part of the ROC curve, each by its
    range.
    """

def brier(
    outcome: ArrayLike | TimeToEvent,
    risk: ArrayLike,
    level: float = 0.95,
) -> Estimate | Absent:
    """The mean squared distance between the risk and what happened."""

def brier_difference(
    outcome: ArrayLike | TimeToEvent,
    risk: ArrayLike,
    rival: ArrayLike,
    level: float = 0.95,
    permutations: int = 999,
    seed: int = 1,
) -> Estimate | Absent:
    """By how much the Brier score of the model exceeds that of the other model on the same people."""

def brier_permutation_test(
    outcome: ArrayLike | TimeToEvent,
    risk: ArrayLike,
    permutations: int = 999,
    seed: int = 1,
) -> Estimate | Absent:
    """Whether the risks lie nearer to what happened than if they had been dealt to the people at random."""

def calibration_intercept(
    outcome: ArrayLike | TimeToEvent,
    risk: ArrayLike,
    level: float = 0.95,
) -> Estimate | Absent:
    """How far the risks are too low or too high on average, on the scale of log odds."""

def calibration_intercept_joint(
    outcome: ArrayLike | TimeToEvent,
    risk: ArrayLike,
    level: float = 0.95,
) -> Estimate | Absent:
    """The intercept of the line that best recalibrates the risks, fitted together with the slope."""

def calibration_slope(
    outcome: ArrayLike | TimeToEvent,
    risk: ArrayLike,
    level: float = 0.95,
) -> Estimate | Absent:
    """Whether the risks are spread as they should be."""

def calibration_test(
    outcome: ArrayLike | TimeToEvent,
    risk: ArrayLike,
    cluster: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    strata: ArrayLike | None = None,
) -> Estimate | Absent:
    """Whether intercept and slope together differ from those of perfect calibration by more than chance."""

def censoring_by_risk(
    followed: TimeToEvent,
    risk: ArrayLike,
    level: float = 0.95,
    cluster: ArrayLike | None = None,
) -> Estimate | Absent:
    """How much more often people leave follow-up for each standard deviation by which their risk is higher."""

def cohen_kappa(
    labels: ArrayLike,
    level: float = 0.95,
) -> Estimate | Absent:
    """Chance-corrected agreement of two raters, on average over all pairs of raters."""

def cohen_kappa_of_model(
    outcome: ArrayLike | TimeToEvent,
    risk: ArrayLike,
    threshold: float,
    level: float = 0.95,
) -> Estimate | Absent:
    """How far the model's answers at the threshold agree with what happened, beyond what chance would give."""

def confidence_complexity_correlation(
    labels: ArrayLike,
    confidence: ArrayLike,
    rater_complexity: ArrayLike,
    level: float = 0.95,
) -> Estimate | Absent:
    """How far the raters were less sure of the cases that they found complex: -1 wholly, 0 not at all."""

def correspondence_averaged(
    development: Sequence[Feature],
    predictors: Sequence[Feature],
    level: float = 0.95,
    seed: int = 1,
) -> Estimate | Absent:
    """Similarity of the patients of this hospital to those of the development: one half when they are exchangeable."""

def cost_weighted_accuracy(
    outcome: ArrayLike | TimeToEvent,
    risk: ArrayLike,
    threshold: float,
    level: float = 0.95,
) -> Estimate | Absent:
    """The share of right answers when a case counts as much as the threshold says against a non-case."""

def decision_benefit(
    study: ReaderStudy,
    group: str = "",
    level: float = 0.95,
) -> Estimate | Absent:
    """How much more accurate a reader is with the model than without it, on average over the readers."""

def degree_of_correspondence(
    development: Sequence[Feature],
    predictors: Sequence[Feature],
    permutations: int = 999,
    seed: int = 1,
) -> Estimate | Absent:
    """The probability that a difference at least as large as the one seen arises when both groups come from one
    population.
    """

def e50(
    outcome: ArrayLike | TimeToEvent,
    risk: ArrayLike,
    level: float = 0.95,
    bootstrap: int = 1000,
    seed: int = 1,
    cluster: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    strata: ArrayLike | None = None,
) -> Estimate | Absent:
    """The distance between risk and observed frequency that half of the people stay within."""

def e90(
    outcome: ArrayLike | TimeToEvent,
    risk: ArrayLike,
    level: float = 0.95,
    bootstrap: int = 1000,
    seed: int = 1,
    cluster: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    strata: ArrayLike | None = None,
) -> Estimate | Absent:
    """The distance between risk and observed frequency that nine in ten people stay within."""

def ece(
    outcome: ArrayLike | TimeToEvent,
    risk: ArrayLike,
    level: float = 0.95,
    bootstrap: int = 1000,
    seed: int = 1,
) -> Estimate | Absent:
    """How far the average risk lies from the share with the outcome in ten bins of risk, on average over the
    people.
    """

def eci(
    outcome: ArrayLike | TimeToEvent,
    risk: ArrayLike,
    level: float = 0.95,
    bootstrap: int = 1000,
    seed: int = 1,
) -> Estimate | Absent:
    """How near the average risk lies to the share with the outcome in ten bins of risk, as a share of what is
    possible.
    """

def emax(
    outcome: ArrayLike | TimeToEvent,
    risk: ArrayLike,
    level: float = 0.95,
    bootstrap: int = 1000,
    seed: int = 1,
    cluster: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    strata: ArrayLike | None = None,
) -> Estimate | Absent:
    """The largest distance between risk and observed frequency that anybody's risk shows."""

def energy_coefficient(
    development: Sequence[Feature],
    predictors: Sequence[Feature],
    permutations: int = 999,
    level: float = 0.95,
    bootstrap: int = 1000,
    seed: int = 1,
) -> Estimate | Absent:
    """The share of the average distance between the two groups that their own spread does not explain."""

def error_rate_aided(
    study: ReaderStudy,
    level: float = 0.95,
    bootstrap: int = 1000,
    seed: int = 1,
) -> Estimate | Absent:
    """The share of wrong decisions among those that readers made with the model."""

def error_rate_unaided(
    study: ReaderStudy,
    level: float = 0.95,
    bootstrap: int = 1000,
    seed: int = 1,
) -> Estimate | Absent:
    """The share of wrong decisions among those that readers made without the model."""

def error_severity_index(
    outcome: ArrayLike | TimeToEvent,
    risk: ArrayLike,
    threshold: float,
    severity_weights: SeverityWeights,
    level: float = 0.95,
) -> Estimate | Absent:
    """How grave the errors are on average, from 0 (harmless) to 10 (the gravest kind)."""

def f1(
    outcome: ArrayLike | TimeToEvent,
    risk: ArrayLike,
    threshold: float,
    level: float = 0.95,
) -> Estimate | Absent:
    """The harmonic mean of the share of cases flagged and the share of flagged people who are cases."""

def flagged_at_wish(
    outcome: ArrayLike | TimeToEvent,
    risk: ArrayLike,
    wish: str,
    level: float = 0.95,
) -> Estimate | Absent:
    """How many of all people the model flags at the threshold that was chosen on these data for a wish."""

def fleiss_kappa(
    labels: ArrayLike,
    level: float = 0.95,
) -> Estimate | Absent:
    """Chance-corrected agreement of all raters together: 0 is chance, 1 is full agreement."""

def formula_difference(
    model: Model,
    risk: ArrayLike,
    predictors: Sequence[Feature],
) -> Estimate | Absent:
    """The largest difference between a patient's tested risk and the risk that the model's declared formula gives."""

def h_accuracy(
    outcome: ArrayLike | TimeToEvent,
    risk: ArrayLike,
    priority: float | str,
    tau: float | str,
    complexity: ArrayLike = "constant",
    labels: ArrayLike | None = None,
    confidence: ArrayLike | None = None,
    rater_complexity: ArrayLike | None = None,
    truth: ArrayLike | None = None,
    rater_accuracy: tuple[float, ...] | None = None,
    case_complexity: ArrayLike | None = None,
    survey: Survey | None = None,
    primary_threshold: float | None = None,
    level: float = 0.95,
) -> Estimate | Absent:
    """The share of right answers, weighted by which class matters and by how sure the model was when it was right."""

def h_accuracy_risk(
    outcome: ArrayLike | TimeToEvent,
    risk: ArrayLike,
    threshold: float,
    level: float = 0.95,
) -> Estimate | Absent:
    """The share of right answers at the threshold when each missed case and each false alarm counts what it costs."""

def harrell_c(
    followed: TimeToEvent,
    risk: ArrayLike,
    level: float = 0.95,
    cluster: ArrayLike | None = None,
) -> Estimate | Absent:
    """The share of comparable pairs of people in order, as it is published elsewhere."""

def ici(
    outcome: ArrayLike | TimeToEvent,
    risk: ArrayLike,
    level: float = 0.95,
    bootstrap: int = 1000,
    seed: int = 1,
    cluster: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    strata: ArrayLike | None = None,
) -> Estimate | Absent:
    """How far the risks lie from the observed frequencies, on average over the people."""

def ici_of_update(
    outcome: ArrayLike | TimeToEvent,
    risk: ArrayLike,
    rival: ArrayLike,
    update: str,
    level: float = 0.95,
    bootstrap: int = 1000,
    seed: int = 1,
    cluster: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    strata: ArrayLike | None = None,
) -> Estimate | Absent:
    """Of an updated model: how far the risks lie from the observed frequencies, on average over the people."""

def krippendorff_alpha(
    labels: ArrayLike,
    level: float = 0.95,
) -> Estimate | Absent:
    """Chance-corrected agreement of the raters when some labels are missing: 0 is chance, 1 is full agreement."""

def likelihood_ratio_negative(
    outcome: ArrayLike | TimeToEvent,
    risk: ArrayLike,
    threshold: float,
    level: float = 0.95,
) -> Estimate | Absent:
    """How many times as often cases are left unflagged as non-cases."""

def likelihood_ratio_positive(
    outcome: ArrayLike | TimeToEvent,
    risk: ArrayLike,
    threshold: float,
    level: float = 0.95,
) -> Estimate | Absent:
    """How many times more often cases are flagged than non-cases."""

def log_score(
    outcome: ArrayLike | TimeToEvent,
    risk: ArrayLike,
    level: float = 0.95,
) -> Estimate | Absent:
    """How well the risks foretold what happened, with the heaviest penalty on confident mistakes."""

def log_score_difference(
    outcome: ArrayLike | TimeToEvent,
    risk: ArrayLike,
    rival: ArrayLike,
    level: float = 0.95,
    permutations: int = 999,
    seed: int = 1,
) -> Estimate | Absent:
    """By how much the log score of the model exceeds that of the other model on the same people."""

def log_score_permutation_test(
    outcome: ArrayLike | TimeToEvent,
    risk: ArrayLike,
    permutations: int = 999,
    seed: int = 1,
) -> Estimate | Absent:
    """Whether the risks foretell what happened better than if they had been dealt to the people at random."""

def majority_class_test(
    outcome: ArrayLike | TimeToEvent,
    risk: ArrayLike,
    threshold: float,
) -> Estimate | Absent:
    """Whether the model is right more often than by always naming the more common answer."""

def mann_whitney_u(
    outcome: ArrayLike | TimeToEvent,
    risk: ArrayLike,
) -> Estimate | Absent:
    """Whether cases are ranked above non-cases more often than chance would do it."""

def markedness(
    outcome: ArrayLike | TimeToEvent,
    risk: ArrayLike,
    threshold: float,
    level: float = 0.95,
) -> Estimate | Absent:
    """By how much the outcome is more frequent among those flagged than among those not flagged."""

def mcc(
    outcome: ArrayLike | TimeToEvent,
    risk: ArrayLike,
    threshold: float,
    level: float = 0.95,
) -> Estimate | Absent:
    """The correlation between the model's answer at the threshold and what happened."""

def mean_severity(
    outcome: ArrayLike | TimeToEvent,
    risk: ArrayLike,
    threshold: float,
    severity_weights: SeverityWeights,
    level: float = 0.95,
) -> Estimate | Absent:
    """How grave the answers are on average when a right one counts 0, from 0 to 1."""

def membership_auroc(
    development: Sequence[Feature],
    predictors: Sequence[Feature],
    level: float = 0.95,
    seed: int = 1,
) -> Estimate | Absent:
    """How well a model can tell the patients of this hospital from those of the development."""

def model_based_concordance(
    risk: ArrayLike,
    level: float = 0.95,
    bootstrap: int = 1000,
    seed: int = 1,
) -> Estimate | Absent:
    """The AUROC that the risks would have among these people if every risk were right."""

def mss_auroc(
    outcome: ArrayLike | TimeToEvent,
    risk: ArrayLike,
    auroc_width: float = 0.1,
) -> Estimate | Absent:
    """How many patients are needed to know the AUROC to within the width asked for."""

def mss_brier(
    outcome: ArrayLike | TimeToEvent,
    risk: ArrayLike,
    brier_width: float = 0.05,
) -> Estimate | Absent:
    """How many patients are needed to know the Brier score to within the width asked for."""

def mss_oe(
    outcome: ArrayLike | TimeToEvent,
    oe_ratio_width: float = 0.2,
) -> Estimate | Absent:
    """How many patients are needed to know the ratio of observed to expected events to within the width asked for."""

def mss_slope(
    outcome: ArrayLike | TimeToEvent,
    risk: ArrayLike,
    calibration_slope_width: float = 0.2,
) -> Estimate | Absent:
    """How many patients are needed to know the calibration slope to within the width asked for."""

def mss_snb(
    outcome: ArrayLike | TimeToEvent,
    risk: ArrayLike,
    threshold: float,
    standardized_net_benefit_width: float = 0.2,
) -> Estimate | Absent:
    """How many patients are needed to know the standardized net benefit to within the width asked for."""

def nagelkerke_r2(
    outcome: ArrayLike | TimeToEvent,
    risk: ArrayLike,
    level: float = 0.95,
    bootstrap: int = 1000,
    seed: int = 1,
) -> Estimate | Absent:
    """How much better the risks foretold what happened than the site's average, on a scale that ends at 1."""

def net_benefit(
    outcome: ArrayLike | TimeToEvent,
    risk: ArrayLike,
    threshold: float,
    level: float = 0.95,
    cluster: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    strata: ArrayLike | None = None,
) -> Estimate | Absent:
    """The share of patients rightly flagged, less those flagged in error at the exchange rate of the threshold."""

def net_benefit_difference(
    outcome: ArrayLike | TimeToEvent,
    risk: ArrayLike,
    rival: ArrayLike,
    threshold: float,
    level: float = 0.95,
    cluster: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    strata: ArrayLike | None = None,
) -> Estimate | Absent:
    """By how much the net benefit of the model exceeds that of the other at the same threshold on the same people."""

def net_benefit_gain(
    outcome: ArrayLike | TimeToEvent,
    risk: ArrayLike,
    threshold: float,
    level: float = 0.95,
    cluster: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    strata: ArrayLike | None = None,
) -> Estimate | Absent:
    """What the model adds, in net benefit, to the better of flagging everyone and flagging no one."""

def npv(
    outcome: ArrayLike | TimeToEvent,
    risk: ArrayLike,
    threshold: float,
    level: float = 0.95,
) -> Estimate | Absent:
    """The share of the unflagged people who do not have the outcome."""

def number_needed_to_decide(
    study: ReaderStudy,
    level: float = 0.95,
    bootstrap: int = 1000,
    seed: int = 1,
) -> Estimate | Absent:
    """How many decisions with the model it takes to be spared one error."""

def observed_agreement(
    labels: ArrayLike,
    level: float = 0.95,
) -> Estimate | Absent:
    """The share of pairs of raters who gave a case the same label."""

def observed_risk(
    followed: TimeToEvent,
    risk: ArrayLike,
    level: float = 0.95,
    cluster: ArrayLike | None = None,
) -> Estimate | Absent:
    """The share of people who had the outcome by the horizon, counting that some were not followed so long."""

def odds_ratio(
    study: ReaderStudy,
    level: float = 0.95,
    bootstrap: int = 1000,
    seed: int = 1,
) -> Estimate | Absent:
    """The odds of a wrong decision with the model, as a multiple of those without it; below 1 favours the model."""

def oe_ratio(
    outcome: ArrayLike | TimeToEvent,
    risk: ArrayLike,
    level: float = 0.95,
    cluster: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    strata: ArrayLike | None = None,
) -> Estimate | Absent:
    """How many people had the outcome for each one that the model expected."""

def ppv(
    outcome: ArrayLike | TimeToEvent,
    risk: ArrayLike,
    threshold: float,
    level: float = 0.95,
) -> Estimate | Absent:
    """The share of the flagged people who have the outcome."""

def reclassified(
    outcome: ArrayLike | TimeToEvent,
    risk: ArrayLike,
    rival: ArrayLike,
    threshold: float,
    level: float = 0.95,
) -> Estimate | Absent:
    """The share of the patients whom the updated model flags and the model does not, or the other way round."""

def relative_risk(
    study: ReaderStudy,
    level: float = 0.95,
    bootstrap: int = 1000,
    seed: int = 1,
) -> Estimate | Absent:
    """The share of wrong decisions with the model, as a multiple of that without it; below 1 favours the model."""

def relative_risk_reduction(
    study: ReaderStudy,
    level: float = 0.95,
    bootstrap: int = 1000,
    seed: int = 1,
) -> Estimate | Absent:
    """The share of the wrong decisions that the model spares its readers; below 0 it adds to them."""

def required_reliability(
    outcome: ArrayLike | TimeToEvent,
    risk: ArrayLike,
    labels: ArrayLike,
    primary_threshold: float,
    desired_accuracy: float,
    level: float = 0.95,
) -> Estimate | Absent:
    """How reliable the labels must be for the model's accuracy against the truth to be the one that is asked for."""

def right_advice_resisted(
    study: ReaderStudy,
    group: str = "",
    level: float = 0.95,
    bootstrap: int = 1000,
    seed: int = 1,
) -> Estimate | Absent:
    """How often readers kept a wrong decision against right advice, where they had first decided against it."""

def scaled_brier(
    outcome: ArrayLike | TimeToEvent,
    risk: ArrayLike,
    level: float = 0.95,
) -> Estimate | Absent:
    """How much nearer the risks are to what happened than if everyone had been given the site's average."""

def sensitivity(
    outcome: ArrayLike | TimeToEvent,
    risk: ArrayLike,
    threshold: float,
    level: float = 0.95,
) -> Estimate | Absent:
    """The share of the people with the outcome whom the model flags at the threshold."""

def specificity(
    outcome: ArrayLike | TimeToEvent,
    risk: ArrayLike,
    threshold: float,
    level: float = 0.95,
) -> Estimate | Absent:
    """The share of the people without the outcome whom the model leaves unflagged at the threshold."""

def spiegelhalter_z(
    outcome: ArrayLike | TimeToEvent,
    risk: ArrayLike,
) -> Estimate | Absent:
    """Whether the squared errors of the risks are larger or smaller than right risks would make by chance."""

def standardized_net_benefit(
    outcome: ArrayLike | TimeToEvent,
    risk: ArrayLike,
    threshold: float,
    level: float = 0.95,
) -> Estimate | Absent:
    """The net benefit as a share of the highest that a perfect model could reach at this site."""

def threshold_for_wish(
    outcome: ArrayLike | TimeToEvent,
    risk: ArrayLike,
    wish: str,
    level: float = 0.95,
) -> Estimate | Absent:
    """The threshold that reaches a wished sensitivity or specificity here, chosen on these data."""

def tjur_r2(
    outcome: ArrayLike | TimeToEvent,
    risk: ArrayLike,
    level: float = 0.95,
) -> Estimate | Absent:
    """How much higher the average risk is among those with the outcome than among those without."""

def uno_c(
    followed: TimeToEvent,
    risk: ArrayLike,
    level: float = 0.95,
    cluster: ArrayLike | None = None,
) -> Estimate | Absent:
    """Of two people of whom one had the outcome by the horizon and before the other, how often that one had the
    higher risk.
    """

def updated_coefficients(
    outcome: ArrayLike | TimeToEvent,
    rival: ArrayLike,
    update: str,
    seed: int = 1,
    cluster: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    strata: ArrayLike | None = None,
) -> Estimate | Absent:
    """How many coefficients an update changes: none, the intercept, or the intercept and the slope."""

def weighted_concordance(
    labels: ArrayLike,
    confidence: ArrayLike,
    coherence: float | None = None,
    truth: ArrayLike | None = None,
    rater_accuracy: tuple[float, ...] | None = None,
    level: float = 0.95,
    class_labels: tuple[str, ...] = (),
) -> Estimate | Absent:
    """How far the labels can be relied on: the agreement of the raters, weighted by how sure and how good they are."""

def weighted_utility(
    outcome: ArrayLike | TimeToEvent,
    risk: ArrayLike,
    tau: float | str,
    gamma: float = 1.0,
    relevance: str = "constant",
    labels: ArrayLike | None = None,
    confidence: ArrayLike | None = None,
    rater_complexity: ArrayLike | None = None,
    case_relevance: ArrayLike | None = None,
    cost: ArrayLike | None = None,
    benefit: ArrayLike | None = None,
    level: float = 0.95,
) -> Estimate | Absent:
    """What the model is worth when each case has its own threshold and its own importance, as a share of the most."""

def wrong_advice_followed(
    study: ReaderStudy,
    group: str = "",
    level: float = 0.95,
    bootstrap: int = 1000,
    seed: int = 1,
) -> Estimate | Absent:
    """How often readers gave up a right decision for wrong advice, where they had first decided against it."""

def youden_j(
    outcome: ArrayLike | TimeToEvent,
    risk: ArrayLike,
    threshold: float,
    level: float = 0.95,
) -> Estimate | Absent:
    """By how much the share of cases flagged exceeds the share of non-cases flagged."""
