"""What `dossier init` writes: a commented release.toml and tiny simulated tables, a release that builds at once."""

from __future__ import annotations

import math
import random
import tomllib

from dossier.core.checklist import ANSWERED_BY
from dossier.core.tripod import ITEMS

SEED = 20261001
ROWS = 200

RELEASE = """\
# A release: which model was tested, on which tables, and with which settings. Change every line to your own.
# The tables beside this file are simulated. Paths are relative to this file and stay inside its folder, unless
# `outside = true` stands beside them and the command has --allow-outside.

[release]
model = "Example model"          # the name of the model
version = "1.0.0"                # the version that this release is about
date = 2026-10-01                # the printed date; nothing else depends on the clock
owner = "Who answers for the model"
level = 0.95                     # the confidence level of every interval
seed = 1                         # every random draw starts from this number
tester = "Who ran the test, and their relation to the owner"
# artifact_sha256 = "..."        # the SHA-256 of the model file that was tested
# sealed = "seal.json"           # what dossier seal wrote before the data were opened: changes since are printed
# previous = "../0.9.0/results.json" # of the previous release: what changed since; may lie outside, as above
# tested_version = "0.9.0"       # where it differs from version; say why in [statements]

[outcome]
name = "readmission"             # the outcome in words, as within a sentence
column = "outcome"               # 0 and 1, booleans, or text with `positive`
# positive = "yes"               # the value that means that the outcome happened; one other means that it did not
# classes = ["A", "B", "C"]      # more than two values of the column, in order
horizon = "within 30 days"       # until when it is counted

[prediction]
column = "risk"                  # the probability of the outcome, from 0 to 1
rival = "risk_previous"          # another model's risk on the same rows; take it out where there is none
rival_name = "version 0.9.0"     # the name of the other model
# rival_version = "0.9.0"        # where it is an earlier version of this model
# scale = "percent"              # where the columns of risks hold per cent, from 0 to 100
# columns = ["p_a", "p_b"]       # of several classes: one risk for each of [outcome] classes, in their order
# rivals = ["old_a", "old_b"]    # and those of the other model

# [[rival]]                      # one more model on the same rows, any number of them
# name = "vendor B"
# column = "risk_b"              # of several classes columns = ["b_a", "b_b"]
# version = "0.8.0"              # where it is an earlier version of this model

[thresholds]
declared = [0.3, 0.5]            # fixed before the data were seen; the first one is the primary
range = [0.1, 0.6]               # of the decision curve
rationale = "Why somebody would act from these risks on."

[[dataset]]
name = "development"             # the name in every table and file
role = "development"             # development, internal or external
file = "development.csv"         # .csv .tsv .parquet .feather .xlsx .xpt .sas7bdat .dta .sav, .csv.gz
site = "Where the model was made" # without it the name of the dataset
dates = [2024-01-01, 2024-12-31] # the first and the last day
id = "case_id"                   # checked for repeats, never printed

[[dataset]]
name = "internal"
role = "internal"
file = "internal.csv"
site = "Where the model was made"
dates = [2024-01-01, 2024-12-31]
id = "case_id"
# split = "split"                # the number of the split, where the model was refitted on each split

[[dataset]]
name = "hospital-1"
role = "external"
file = "hospital-1.csv"
site = "Another hospital"
dates = [2025-01-01, 2025-12-31]
# country = "Italy"              # printed in the table of the sites
# setting = "emergency department"
id = "case_id"
missing = { glucose = [-1] }     # values that mean missing, by column, or "*" for every column
# site_column = "hospital"       # instead of site: one dataset for each of its values
# columns = { outcome = "Died" } # renames: our name = the name in the file
# predictors = ["age", "ward"]   # without it the columns that the table shares with the development table
# categorical = ["ward"]         # predictors whose numbers are the codes of categories; text is one anyway
# rows = { ward = ["surgery"] }  # only the rows with one of these values; the others are counted
# outside = true                 # the file lies outside this folder
# sheet = "cases"                # of a workbook with several sheets
# encoding = "windows-1252"      # of a .csv that is not UTF-8; separator = ";" and decimal = "," where no rule can tell
# cluster = "patient_id"         # rows of one cluster are not independent: intervals by cluster
# weights = "w"                  # sampling weights
# strata = "region"              # what clusters or weighted rows were sampled from, each stratum for itself
# date = "seen"                  # the day of each row, as 2025-03-31: performance by calendar period
# periods = "quarter"            # or month, year
# imputation = "imp"             # the number of the imputation; 0 for the rows before anything was imputed

# [[declared_performance]]       # a published result instead of a dataset whose rows nobody may share
# name = "internal test of the owner"
# role = "internal"
# auroc = { value = 0.80, low = 0.75, high = 0.85, n = 500, events = 150 }

# [[declared_correspondence]]    # the similarity of an external dataset whose predictors nobody may share
# dataset = "elsewhere"
# averaged = 0.42                # one of the two, or both
# psi = 0.03
# n = 120                        # the patients that it rests on: psi falls with them
# source = "Who computed it, and where it stands."

# [model]                        # the formula of the model: opens the nomogram, and is held against the risks
# intercept = -4.4               # of the linear predictor
# [[model.term]]                 # one for each predictor
# predictor = "age"              # the column
# coefficient = 0.03             # of a number
# floor = 40                     # a smaller number counts as this one, and above cap a larger one as that
# cap = 90
# transform = "log"              # what is done to the number then: log, sqrt or square
# [[model.term]]
# predictor = "ward"
# levels = { surgery = 0.8 }     # or of each category; one that is not named has 0
# [[model.term]]
# predictor = "glucose"
# knots = [4, 6, 9]              # or a restricted cubic spline in Harrell's form,
# coefficients = [0.2, -0.1]     # with one coefficient fewer than knots
# segments = [5, 7]              # or piecewise linear: the slope below 5, between, and above 7 in coefficients
# [[model.term]]
# predictor = "age"
# with = "ward"                  # the product of both: a coefficient times both numbers, or here
# levels = { surgery = 0.01 }    # the coefficient of age in each category of ward

# [[readers]]                    # rows are cases, columns are raters; one table for each dataset with readers
# labels = "labels.csv"          # 0 or 1; of several classes their names, or their numbers from 0
# confidence = "confidence.csv"  # from 0 to 1: ask each rater of each case how sure they are, before the truth is known
# complexity = "complexity.csv"  # from 0 to 1: ask how hard the case is, very easy, easy, medium, hard or very hard,
#                                # and write 0, 0.25, 0.5, 0.75 or 1
# header = true                  # without it a first line of valid labels only is data
# dataset = "hospital-1"         # that of the cases, in its order, also the development table: the labels that the
#                                # model learnt from; without it the tables stand on their own
# case = "case_id"               # or linked by the first column of each table
# accuracy = 0.8                 # of the raters: one number, or one a rater
# groups = { anna = "resident", bob = "radiologist" }   # of every rater; without names by the column: 1, 2, ...
# coherence = 0.05               # how far a stated confidence may lie from the meant one
# desired_accuracy = 0.75        # against the truth: how reliable must the labels be for it?

# [reader_study]                 # decisions without and with the model
# file = "study.csv"             # reader, case, truth, unaided, aided; and, where known, group and advice
# design = "paired"              # or "parallel": a row has unaided or aided
# counts = { aie = 352, ain = 1196, ce = 367, cn = 1181 } # instead of a file: wrong and right with, without the model

# [severity]                     # how grave each kind of error is, from 0 to 1
# weights = [[0, 0.6], [0.3, 0]] # rows: predicted no, yes; columns: truly no, yes; agree on them with those who treat
#                                # and with patients, before results are known: 1 is the gravest error that there can be
# source = "TODO: a survey, a paper, a meeting" # printed with the weights; without it a flag is raised
# rationale = "TODO: why these weights"
# set_by = "TODO: who set them"
# declared_on = 2026-10-01
# [[severity.subgroup]]          # other weights for a level of a [[subgroup]]
# column = "Sex"
# level = "female"
# weights = [[0, 1.0], [0.3, 0]]

# [utility]                      # weighted utility
# relevance = "relevance"        # a column from 0 to 1, or { from = "raters" }
# gamma = [1]                    # the share of the threshold from which a risk begins to count
# tau_from = ["confidence"]      # a threshold for each case from [readers]: also persuasion, automation_bias
# cost = "cost"                  # or from the columns of what acting needlessly costs
# benefit = "benefit"            # and what acting rightly brings

# [[predictor]]                  # how a column is printed
# name = "glucose"               # the column
# label = "Blood glucose"        # its name on pages and figures
# unit = "mmol/L"
# levels = { "0" = "no", "1" = "yes" }   # the words for codes

# [[subgroup]]                   # every measure in each group of patients, beside the other patients of the site
# column = "ward"                # its own values; or levels = { "1" = "male", "0" = "female" }; or cuts = [50, 70]

# [disclosure]                   # counts are given as ranges, so that none below it is known
# minimum_cell = 10              # or in a [[dataset]]: the largest holds for all
# ledger = "released.json"       # keeps what was given, and refuses what would tell more beside it; stays with you

[h_accuracy]
priority = [0.25, 0.5, 0.75]     # of the positive class
priority_from = ["prevalence"]   # and the observed share of events
tau = [0.6, 0.75, 1.0]           # the confidence from which a prediction counts in full
# survey = { 0 = 0.37, 1 = 0.63 } # the shares of answers that put each class first, for priority_from = ["survey"]: ask
#                                # patients and staff which class they would rather have recognised, if it were one
# tau_from = ["raters"]          # the confidence of the raters of [readers] when they were right
# complexity = "complexity"      # a column from 0 to 1; or { from = "rater_errors", weighted = true, cut = [0.5] }:
#                                # raters, rater_errors (weighted: by the accuracy of each rater) or rater_confidence
# cut = [0.5, 0.33]              # the shares of cases that are called complex
# acceptable = { value = 0.8, low = 0.75, high = 0.85, n = 40, source = "A survey of our clinicians" }
#                                # the minimum acceptable accuracy: ask for it; low, high and n where they are known

# [roc]                          # parts of the ROC curve that are looked at alone
# parts = [[0, 0.2], [0.2, 1]]   # from which to which false positive rate

[resampling]
bootstrap = 1000                 # bootstrap samples
permutations = 999               # permutations

[sample]                         # the widths of the intervals that a sample is sized for
width = { oe_ratio = 0.2, calibration_slope = 0.2, auroc = 0.1, standardized_net_benefit = 0.2, brier = 0.05 }

[robustness]
minimum = { auroc = 0.7 }        # the least acceptable value, where no splits can tell
similarity = "averaged"          # or "psi": what the external performance diagram draws
utility = "standardized_net_benefit"  # or "weighted_utility"
calibration = "brier"            # or "eci"

[intended_use]                   # in words that a committee reads
for = "For whom and for what, in at most two sentences."
not_for = ["What it is not for.", "Each in a few words."]
users = "Who reads its output"
decision = "What is decided with it, and beside what"
verb = "flagged"                 # what happens to them then: "isolated", "sent to MRI"

# [report]
# leave_out = ["advice"]         # chapters that are left out; page 1 names them
#
# [care]                         # how it is watched once it is in use
# threshold_owner = "Who may change the threshold"
# monitoring = "What is measured, and how often"
# review = "When its use is looked at again"
# stop_rule = "When it is switched off"
# stop = [{ measure = "oe_ratio", at_least = 0.5, at_most = 2, periods = 2 }] # the same as limits: outside them in
#                                # two periods in a row; also auroc, net_benefit_gain, degree_of_correspondence, brier

# [model_card]                   # what no data can show; each key is printed as it stands, or as not stated
# architecture = "What kind of model it is"
# regulatory_status = "Whether and where it is cleared"
# inputs = "What goes in, and in which units"
# workflow = "Where in care it acts, and what it stands beside"
# failure_modes = "How it is known to fail, and for whom"
# out_of_distribution = "What happens with patients unlike those it knows"
# risks = "What harm it may do, and what is done against it"
# updates = "How and when it is changed"
# development_data = "What it was made from"

# [[acceptance]]                 # a criterion, declared beforehand; the build ends with exit code 3 when it is not met
# measure = "auroc"              # as results.json names it
# dataset = "each external"      # or a dataset's name, or "pooled"
# subset = { column = "ward", level = "surgery" }   # a subgroup instead of all patients, of a [[subgroup]]
# at = { threshold = 0.3 }       # where the measure needs it
# bound = "low"                  # of the interval: value, low or high
# at_least = 0.75                # the smallest number that meets it, or (of an accuracy)
#                                # at_least_from = "h_accuracy.acceptable", or
# at_most = 0.95                 # the largest, or both
# declared_on = 2026-05-01
# reason = "Why this number"
# caution_reason = "Why a measure that calls for caution is used" # printed; asked of such a measure only

# [[reply]]                      # an answer to a limitation that the run raises
# flag = "few_events"
# dataset = "hospital-1"         # without it for every dataset
# says = "The answer"

# [[signatory]]                  # who signs
# name = "A name"
# role = "Statistician"
# meaning = "I checked the analysis."

# [[revision]]                   # the earlier issues of this dossier, the latest first
# number = "1"
# date = 2026-09-04
# change = "First issue"

[statements]                     # the rows of the TRIPOD+AI checklist that a release has to answer, by item
# A text, { file = "text.md" } with the text in Markdown, or { none = "a sentence" } where there is nothing to report.
3b = "For whom the model is meant, and what is done with its risk."
4 = "What this test is to show."
18a = { none = "No funding." }
"""

TEXT, NONE = '"…"', '{ none = "…" }'
WARDS = ("medicine", "surgery", "other")


def files() -> dict[str, bytes]:
    """Every file of the example release by its name; the same bytes every time."""
    draw = random.Random(SEED)
    return {
        "release.toml": (RELEASE + "\n".join(_open_rows()) + "\n").encode(),
        "development.csv": _table(draw, "d", 0.0, 0.0, ""),
        "internal.csv": _table(draw, "i", 0.0, 0.0, ""),
        "hospital-1.csv": _table(draw, "h", 6.0, 0.4, "-1"),
    }


def _open_rows() -> list[str]:
    """A line for every other row that only a person can answer: filling them in is the work plan."""
    answered = set(tomllib.loads(RELEASE)["statements"]) | set(ANSWERED_BY) - {"26"}
    rows = [item for item in ITEMS if item.number not in answered and item.applies != "development"]
    width = max(len(item.number) for item in rows)
    return [
        f"# {item.number:<{width}} = {NONE if item.conditional else TEXT}  # {item.topic}: "
        f"{item.asks[:1].lower()}{item.asks[1:]}"
        for item in rows
    ]


def _table(draw: random.Random, prefix: str, older: float, sicker: float, unknown: str) -> bytes:
    """`older` shifts the age; `sicker` is what the model does not know about the place, `unknown` a missing cell."""
    rows = [_row(draw, f"{prefix}{number:03d}", older, sicker, unknown) for number in range(1, ROWS + 1)]
    return "\n".join(["case_id,age,glucose,ward,outcome,risk,risk_previous", *rows, ""]).encode()


def _row(draw: random.Random, case: str, older: float, sicker: float, unknown: str) -> str:
    age = min(95, max(18, round(draw.gauss(62 + older, 14))))
    glucose = round(max(3.0, draw.gauss(7.0, 2.0)), 1)
    ward = draw.choices(WARDS, weights=(5, 3, 2))[0]
    logit = -1.0 + 0.05 * (age - 62) + 0.3 * (glucose - 7.0) + (0.6 if ward == "medicine" else 0.0)
    outcome = int(draw.random() < _risk(logit + sicker))
    previous = _risk(0.7 * logit + draw.gauss(0.0, 0.4))
    recorded = unknown if draw.random() < 0.03 else f"{glucose:.1f}"
    return f"{case},{age},{recorded},{ward},{outcome},{_risk(logit):.4f},{previous:.4f}"


def _risk(logit: float) -> float:
    return 1.0 / (1.0 + math.exp(-logit))
