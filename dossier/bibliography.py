"""The sources in full, under the short names by which measures cite them.

A measure may also cite a source in full: then it needs no line here.
"""

from __future__ import annotations

from collections.abc import Mapping

SOURCES: Mapping[str, str] = {
    "Agresti 2005": "Agresti A, Min Y. Simple improved confidence intervals for comparing matched proportions. Stat "
    "Med 2005;24:729–740.",
    "Austin 2014": "Austin PC, Steyerberg EW. Graphical assessment of internal and external calibration of logistic "
    "regression models by using loess smoothers. Stat Med 2014;33:517–535.",
    "Austin 2019": "Austin PC, Steyerberg EW. The Integrated Calibration Index (ICI) and related metrics for "
    "quantifying the calibration of logistic regression models. Stat Med 2019;38:4051–4065.",
    "Bradley 2008": "Bradley AA, Schwartz SS, Hashino T. Sampling uncertainty and confidence intervals for the Brier "
    "score and Brier skill score. Weather Forecast 2008;23:992–1006.",
    "Brier 1950": "Brier GW. Verification of forecasts expressed in terms of probability. Mon Weather Rev 1950;78:1–3.",
    "Brodersen 2010": "Brodersen KH, Ong CS, Stephan KE, Buhmann JM. The balanced accuracy and its posterior "
    "distribution. Proc 20th Int Conf Pattern Recognit 2010:3121–3124.",
    "Cabitza 2019": "Cabitza F, Campagner A. Who wants accurate models? Arguing for a different metrics to take "
    "classification models seriously. arXiv:1910.09246, 2019.",
    "Cabitza 2020": "Cabitza F, Campagner A, Albano D, et al. The elephant in the machine: proposing a new metric of "
    "data reliability and its application to a medical case to assess classification reliability. Appl Sci "
    "2020;10:4014.",
    "Cabitza 2021": "Cabitza F, Campagner A, Soares F, et al. The importance of being external: methodological insights "
    "for the external validation of machine learning models in medicine. Comput Methods Programs Biomed "
    "2021;208:106288.",
    "Cameron 2011": "Cameron AC, Gelbach JB, Miller DL. Robust inference with multiway clustering. J Bus Econ Stat "
    "2011;29:238–249.",
    "Campagner 2022": "Campagner A, Sternini F, Cabitza F. Decisions are not all equal: introducing a utility metric based "
    "on case-wise raters' perceptions. Comput Methods Programs Biomed 2022;221:106930.",
    "Campagner 2023": "Campagner A, et al. A question of trust: old and new metrics for the reliable assessment of "
    "trustworthy AI. 2023.",
    "Carrington 2022": "Carrington AM, Manuel DG, Fieguth PW, et al. Deep ROC analysis and AUC as balanced average "
    "accuracy, for improved classifier selection, audit and explanation. IEEE Trans Pattern Anal Mach Intell 2022.",
    "Chuang 2000": "Chuang CS, Lai TL. Hybrid resampling methods for confidence intervals. Stat Sin 2000;10:1–50.",
    "Cochran 1977": "Cochran WG. Sampling Techniques. 3rd edition. New York: Wiley, 1977.",
    "Cohen 1960": "Cohen J. A coefficient of agreement for nominal scales. Educ Psychol Meas 1960;20:37–46.",
    "Cowan 2011": "Cowan G, Cranmer K, Gross E, Vitells O. Power-constrained limits. arXiv:1105.3166, 2011.",
    "Cox 1958": "Cox DR. Two further applications of a model for binary regression. Biometrika 1958;45:562–565.",
    "Davis 2006": "Davis J, Goadrich M. The relationship between precision-recall and ROC curves. Proc 23rd Int Conf "
    "Mach Learn 2006:233–240.",
    "Debray 2015": "Debray TPA, Vergouwe Y, Koffijberg H, et al. A new framework to enhance the interpretation of "
    "external validation studies of clinical prediction models. J Clin Epidemiol 2015;68:279–289.",
    "Debray 2017": "Debray TPA, Damen JAAG, Snell KIE, et al. A guide to systematic review and meta-analysis of "
    "prediction model performance. BMJ 2017;356:i6460.",
    "DeLong 1988": "DeLong ER, DeLong DM, Clarke-Pearson DL. Comparing the areas under two or more correlated receiver "
    "operating characteristic curves: a nonparametric approach. Biometrics 1988;44:837–845.",
    "Dinga 2019": "Dinga R, Penninx BWJH, Veltman DJ, Schmaal L, Marquand AF. Beyond accuracy: measures for assessing "
    "machine learning models, pitfalls and guidelines. bioRxiv 743138, 2019.",
    "Fagan 1975": "Fagan TJ. Nomogram for Bayes's theorem. N Engl J Med 1975;293:257.",
    "Famiglini 2023": "Famiglini L, Campagner A, Cabitza F. Towards a rigorous calibration assessment framework: "
    "advancements in metrics, methods, and use. Proc 26th Eur Conf Artif Intell 2023:645–652.",
    "Fleiss 1969": "Fleiss JL, Cohen J, Everitt BS. Large sample standard errors of kappa and weighted kappa. Psychol "
    "Bull 1969;72:323–327.",
    "Fleiss 1971": "Fleiss JL. Measuring nominal scale agreement among many raters. Psychol Bull 1971;76:378–382.",
    "Gandy 2009": "Gandy A. Sequential implementation of Monte Carlo tests with uniformly bounded resampling risk. J "
    "Am Stat Assoc 2009;104:1504–1511.",
    "Good 1952": "Good IJ. Rational decisions. J R Stat Soc B 1952;14:107–114.",
    "Haldane 1956": "Haldane JBS. The estimation and significance of the logarithm of a ratio of frequencies. Ann Hum "
    "Genet 1956;20:309–311.",
    "Hanley 1982": "Hanley JA, McNeil BJ. The meaning and use of the area under a receiver operating characteristic "
    "(ROC) curve. Radiology 1982;143:29–36.",
    "Harrell 2015": "Harrell FE. Regression Modeling Strategies. 2nd edition. Springer, 2015.",
    "Hirano 2012": "Hirano K, Porter JR. Impossibility results for nondifferentiable functionals. Econometrica "
    "2012;80:1769–1790.",
    "Jin": "Jin, et al. A hazard-aware metric for ordinal multi-class classification in pathology.",
    "Kattan 2018": "Kattan MW, Gerds TA. The index of prediction accuracy: an intuitive measure useful for evaluating "
    "risk prediction models. Diagn Progn Res 2018;2:7.",
    "Katz 1978": "Katz D, Baptista J, Azen SP, Pike MC. Obtaining confidence intervals for the risk ratio in cohort "
    "studies. Biometrics 1978;34:469–474.",
    "Kerr 2016": "Kerr KF, Brown MD, Zhu K, Janes H. Assessing the clinical impact of risk prediction models with "
    "decision curves: guidance for correct interpretation and appropriate use. J Clin Oncol 2016;34:2534–2540.",
    "Krippendorff 2011": "Krippendorff K. Computing Krippendorff's alpha-reliability. University of Pennsylvania, 2011.",
    "Light 1971": "Light RJ. Measures of response agreement for qualitative data: some generalizations and "
    "alternatives. Psychol Bull 1971;76:365–377.",
    "Mann 1947": "Mann HB, Whitney DR. On a test of whether one of two random variables is stochastically larger than "
    "the other. Ann Math Stat 1947;18:50–60.",
    "Matthews 1975": "Matthews BW. Comparison of the predicted and observed secondary structure of T4 phage lysozyme. "
    "Biochim Biophys Acta 1975;405:442–451.",
    "McNemar 1947": "McNemar Q. Note on the sampling error of the difference between correlated proportions or "
    "percentages. Psychometrika 1947;12:153–157.",
    "Nadeau 2003": "Nadeau C, Bengio Y. Inference for the generalization error. Mach Learn 2003;52:239–281.",
    "Naeini 2015": "Naeini MP, Cooper GF, Hauskrecht M. Obtaining well calibrated probabilities using Bayesian "
    "binning. Proc AAAI Conf Artif Intell 2015;29:2901–2907.",
    "Nagashima 2019": "Nagashima K, Noma H, Furukawa TA. Prediction intervals for random-effects meta-analysis: a "
    "confidence distribution approach. Stat Methods Med Res 2019;28:1689–1702.",
    "Nagelkerke 1991": "Nagelkerke NJD. A note on a general definition of the coefficient of determination. "
    "Biometrika 1991;78:691–692.",
    "Newcombe 2006": "Newcombe RG. Confidence intervals for an effect size measure based on the Mann-Whitney statistic. "
    "Part 2: asymptotic methods and evaluation. Stat Med 2006;25:559–573.",
    "Owen 2007": "Owen AB. The pigeonhole bootstrap. Ann Appl Stat 2007;1:386–411.",
    "Phipson 2010": "Phipson B, Smyth GK. Permutation P-values should never be zero: calculating exact P-values when "
    "permutations are randomly drawn. Stat Appl Genet Mol Biol 2010;9:39.",
    "Powers 2011": "Powers DMW. Evaluation: from precision, recall and F-measure to ROC, informedness, markedness and "
    "correlation. J Mach Learn Technol 2011;2:37–63.",
    "Qin 2008": "Qin G, Hotilovac L. Comparison of non-parametric confidence intervals for the area under the ROC curve "
    "of a continuous-scale diagnostic test. Stat Methods Med Res 2008;17:207–221.",
    "Riley 2021": "Riley RD, Debray TPA, Collins GS, et al. Minimum sample size for external validation of a clinical "
    "prediction model with a binary outcome. Stat Med 2021;40:4230–4251.",
    "Simel 1991": "Simel DL, Samsa GP, Matchar DB. Likelihood ratios with confidence: sample size estimation for "
    "diagnostic test studies. J Clin Epidemiol 1991;44:763–770.",
    "Spiegelhalter 1986": "Spiegelhalter DJ. Probabilistic prediction in patient management and clinical trials. Stat "
    "Med 1986;5:421–433.",
    "Steyerberg 2010": "Steyerberg EW, Vickers AJ, Cook NR, et al. Assessing the performance of prediction models: a "
    "framework for traditional and novel measures. Epidemiology 2010;21:128–138.",
    "Sun 2014": "Sun X, Xu W. Fast implementation of DeLong's algorithm for comparing the areas under correlated "
    "receiver operating characteristic curves. IEEE Signal Process Lett 2014;21:1389–1393.",
    "Szekely 2013": "Székely GJ, Rizzo ML. Energy statistics: a class of statistics based on distances. J Stat Plan "
    "Inference 2013;143:1249–1272.",
    "Tjur 2009": "Tjur T. Coefficients of determination in logistic regression models—a new proposal: the coefficient "
    "of discrimination. Am Stat 2009;63:366–372.",
    "Van Calster 2019": "Van Calster B, McLernon DJ, van Smeden M, et al. Calibration: the Achilles heel of predictive "
    "analytics. BMC Med 2019;17:230.",
    "Van Calster 2025": "Van Calster B, Collins GS, Vickers AJ, et al. Evaluation of performance measures in predictive "
    "artificial intelligence models to support medical decisions: overview and guidance. Lancet Digit Health 2025.",
    "Van Klaveren 2016": "Van Klaveren D, Gönen M, Steyerberg EW, Vergouwe Y. A new concordance measure for risk "
    "prediction models in external validation settings. Stat Med 2016;35:4136–4152.",
    "Van Rijsbergen 1979": "Van Rijsbergen CJ. Information Retrieval. 2nd edition. Butterworths, 1979.",
    "Vickers 2006": "Vickers AJ, Elkin EB. Decision curve analysis: a novel method for evaluating prediction models. "
    "Med Decis Making 2006;26:565–574.",
    "Viechtbauer 2007": "Viechtbauer W. Confidence intervals for the amount of heterogeneity in meta-analysis. Stat Med "
    "2007;26:37–52.",
    "Welch 1947": 'Welch BL. The generalization of "Student\'s" problem when several different population variances '
    "are involved. Biometrika 1947;34:28–35.",
    "Wilson 1927": "Wilson EB. Probable inference, the law of succession, and statistical inference. J Am Stat Assoc "
    "1927;22:209–212.",
    "Woolf 1955": "Woolf B. On estimating the relation between blood group and disease. Ann Hum Genet 1955;19:251–253.",
    "Youden 1950": "Youden WJ. Index for rating diagnostic tests. Cancer 1950;3:32–35.",
    "Zou 2008": "Zou GY, Donner A. Construction of confidence limits about effect measures: a general approach. Stat Med "
    "2008;27:1693–1702.",
}
