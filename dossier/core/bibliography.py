"""The sources in full, under the short names by which measures cite them.

A measure may also cite a source in full: then it needs no line here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Source:
    """A source in full, and its DOI; empty where it has none, or none that was checked."""

    text: str
    doi: str = ""


def source(cited: str) -> Source:
    """The source that a measure cites by a short name, or in full."""
    return SOURCES.get(cited, Source(cited))


SOURCES: Mapping[str, Source] = {
    "Agresti 2005": Source(
        "Agresti A, Min Y. Simple improved confidence intervals for comparing matched proportions. Stat Med "
        "2005;24:729–740.",
        "10.1002/sim.1781",
    ),
    "Austin 2014": Source(
        "Austin PC, Steyerberg EW. Graphical assessment of internal and external calibration of logistic "
        "regression models by using loess smoothers. Stat Med 2014;33:517–535.",
        "10.1002/sim.5941",
    ),
    "Austin 2019": Source(
        "Austin PC, Steyerberg EW. The Integrated Calibration Index (ICI) and related metrics for quantifying the"
        " calibration of logistic regression models. Stat Med 2019;38:4051–4065.",
        "10.1002/sim.8281",
    ),
    "Bradley 2008": Source(
        "Bradley AA, Schwartz SS, Hashino T. Sampling uncertainty and confidence intervals for the Brier score "
        "and Brier skill score. Weather Forecast 2008;23:992–1006.",
        "10.1175/2007WAF2007049.1",
    ),
    "Brier 1950": Source(
        "Brier GW. Verification of forecasts expressed in terms of probability. Mon Weather Rev 1950;78:1–3.",
        "10.1175/1520-0493(1950)078<0001:VOFEIT>2.0.CO;2",
    ),
    "Brodersen 2010": Source(
        "Brodersen KH, Ong CS, Stephan KE, Buhmann JM. The balanced accuracy and its posterior distribution. Proc"
        " 20th Int Conf Pattern Recognit 2010:3121–3124.",
        "10.1109/ICPR.2010.764",
    ),
    "Cabitza 2019": Source(
        "Cabitza F, Campagner A. Who wants accurate models? Arguing for a different metrics to take "
        "classification models seriously. arXiv:1910.09246, 2019.",
        "10.48550/arXiv.1910.09246",
    ),
    "Cabitza 2020": Source(
        "Cabitza F, Campagner A, Albano D, et al. The elephant in the machine: proposing a new metric of data "
        "reliability and its application to a medical case to assess classification reliability. Appl Sci "
        "2020;10:4014.",
        "10.3390/app10114014",
    ),
    "Cabitza 2021": Source(
        "Cabitza F, Campagner A, Soares F, et al. The importance of being external: methodological insights for "
        "the external validation of machine learning models in medicine. Comput Methods Programs Biomed "
        "2021;208:106288.",
        "10.1016/j.cmpb.2021.106288",
    ),
    "Cameron 2011": Source(
        "Cameron AC, Gelbach JB, Miller DL. Robust inference with multiway clustering. J Bus Econ Stat "
        "2011;29:238–249.",
        "10.1198/jbes.2010.07136",
    ),
    "Campagner 2022": Source(
        "Campagner A, Sternini F, Cabitza F. Decisions are not all equal: introducing a utility metric based on "
        "case-wise raters' perceptions. Comput Methods Programs Biomed 2022;221:106930.",
        "10.1016/j.cmpb.2022.106930",
    ),
    "Campagner 2023": Source(
        "Campagner A, et al. A question of trust: old and new metrics for the reliable assessment of trustworthy "
        "AI. 2023.",
    ),
    "Carrington 2022": Source(
        "Carrington AM, Manuel DG, Fieguth PW, et al. Deep ROC analysis and AUC as balanced average accuracy, for"
        " improved classifier selection, audit and explanation. IEEE Trans Pattern Anal Mach Intell 2022.",
        "10.1109/TPAMI.2022.3145392",
    ),
    "Chuang 2000": Source(
        "Chuang CS, Lai TL. Hybrid resampling methods for confidence intervals. Stat Sin 2000;10:1–50.",
    ),
    "Cochran 1977": Source(
        "Cochran WG. Sampling Techniques. 3rd edition. New York: Wiley, 1977.",
    ),
    "Cohen 1960": Source(
        "Cohen J. A coefficient of agreement for nominal scales. Educ Psychol Meas 1960;20:37–46.",
        "10.1177/001316446002000104",
    ),
    "Cowan 2011": Source(
        "Cowan G, Cranmer K, Gross E, Vitells O. Power-constrained limits. arXiv:1105.3166, 2011.",
        "10.48550/arXiv.1105.3166",
    ),
    "Cox 1958": Source(
        "Cox DR. Two further applications of a model for binary regression. Biometrika 1958;45:562–565.",
        "10.1093/biomet/45.3-4.562",
    ),
    "Davis 2006": Source(
        "Davis J, Goadrich M. The relationship between precision-recall and ROC curves. Proc 23rd Int Conf Mach "
        "Learn 2006:233–240.",
        "10.1145/1143844.1143874",
    ),
    "Debray 2015": Source(
        "Debray TPA, Vergouwe Y, Koffijberg H, et al. A new framework to enhance the interpretation of external "
        "validation studies of clinical prediction models. J Clin Epidemiol 2015;68:279–289.",
        "10.1016/j.jclinepi.2014.06.018",
    ),
    "Debray 2017": Source(
        "Debray TPA, Damen JAAG, Snell KIE, et al. A guide to systematic review and meta-analysis of prediction "
        "model performance. BMJ 2017;356:i6460.",
        "10.1136/bmj.i6460",
    ),
    "DeLong 1988": Source(
        "DeLong ER, DeLong DM, Clarke-Pearson DL. Comparing the areas under two or more correlated receiver "
        "operating characteristic curves: a nonparametric approach. Biometrics 1988;44:837–845.",
        "10.2307/2531595",
    ),
    "Dinga 2019": Source(
        "Dinga R, Penninx BWJH, Veltman DJ, Schmaal L, Marquand AF. Beyond accuracy: measures for assessing "
        "machine learning models, pitfalls and guidelines. bioRxiv 743138, 2019.",
        "10.1101/743138",
    ),
    "Fagan 1975": Source(
        "Fagan TJ. Nomogram for Bayes's theorem. N Engl J Med 1975;293:257.",
        "10.1056/NEJM197507312930513",
    ),
    "Famiglini 2023": Source(
        "Famiglini L, Campagner A, Cabitza F. Towards a rigorous calibration assessment framework: advancements "
        "in metrics, methods, and use. Proc 26th Eur Conf Artif Intell 2023:645–652.",
        "10.3233/FAIA230327",
    ),
    "Fleiss 1969": Source(
        "Fleiss JL, Cohen J, Everitt BS. Large sample standard errors of kappa and weighted kappa. Psychol Bull "
        "1969;72:323–327.",
        "10.1037/h0028106",
    ),
    "Fleiss 1971": Source(
        "Fleiss JL. Measuring nominal scale agreement among many raters. Psychol Bull 1971;76:378–382.",
        "10.1037/h0031619",
    ),
    "Gandy 2009": Source(
        "Gandy A. Sequential implementation of Monte Carlo tests with uniformly bounded resampling risk. J Am "
        "Stat Assoc 2009;104:1504–1511.",
        "10.1198/jasa.2009.tm08368",
    ),
    "Good 1952": Source(
        "Good IJ. Rational decisions. J R Stat Soc B 1952;14:107–114.",
        "10.1111/j.2517-6161.1952.tb00104.x",
    ),
    "Haldane 1956": Source(
        "Haldane JBS. The estimation and significance of the logarithm of a ratio of frequencies. Ann Hum Genet "
        "1956;20:309–311.",
        "10.1111/j.1469-1809.1955.tb01285.x",
    ),
    "Hanley 1982": Source(
        "Hanley JA, McNeil BJ. The meaning and use of the area under a receiver operating characteristic (ROC) "
        "curve. Radiology 1982;143:29–36.",
        "10.1148/radiology.143.1.7063747",
    ),
    "Harrell 2015": Source(
        "Harrell FE. Regression Modeling Strategies. 2nd edition. Springer, 2015.",
        "10.1007/978-3-319-19425-7",
    ),
    "Hirano 2012": Source(
        "Hirano K, Porter JR. Impossibility results for nondifferentiable functionals. Econometrica 2012;80:1769–1790.",
        "10.3982/ECTA8681",
    ),
    "Jin": Source(
        "Jin, et al. A hazard-aware metric for ordinal multi-class classification in pathology.",
    ),
    "Kattan 2018": Source(
        "Kattan MW, Gerds TA. The index of prediction accuracy: an intuitive measure useful for evaluating risk "
        "prediction models. Diagn Progn Res 2018;2:7.",
        "10.1186/s41512-018-0029-2",
    ),
    "Katz 1978": Source(
        "Katz D, Baptista J, Azen SP, Pike MC. Obtaining confidence intervals for the risk ratio in cohort "
        "studies. Biometrics 1978;34:469–474.",
        "10.2307/2530610",
    ),
    "Kerr 2016": Source(
        "Kerr KF, Brown MD, Zhu K, Janes H. Assessing the clinical impact of risk prediction models with decision"
        " curves: guidance for correct interpretation and appropriate use. J Clin Oncol 2016;34:2534–2540.",
        "10.1200/JCO.2015.65.5654",
    ),
    "Krippendorff 2011": Source(
        "Krippendorff K. Computing Krippendorff's alpha-reliability. University of Pennsylvania, 2011.",
    ),
    "Light 1971": Source(
        "Light RJ. Measures of response agreement for qualitative data: some generalizations and alternatives. "
        "Psychol Bull 1971;76:365–377.",
        "10.1037/h0031643",
    ),
    "MacKinnon 1985": Source(
        "MacKinnon JG, White H. Some heteroskedasticity-consistent covariance matrix estimators with improved finite "
        "sample properties. J Econom 1985;29:305–325.",
        "10.1016/0304-4076(85)90158-7",
    ),
    "Mann 1947": Source(
        "Mann HB, Whitney DR. On a test of whether one of two random variables is stochastically larger than the "
        "other. Ann Math Stat 1947;18:50–60.",
        "10.1214/aoms/1177730491",
    ),
    "Mantel 1959": Source(
        "Mantel N, Haenszel W. Statistical aspects of the analysis of data from retrospective studies of disease. "
        "J Natl Cancer Inst 1959;22:719–748.",
        "10.1093/jnci/22.4.719",
    ),
    "Matthews 1975": Source(
        "Matthews BW. Comparison of the predicted and observed secondary structure of T4 phage lysozyme. Biochim "
        "Biophys Acta 1975;405:442–451.",
        "10.1016/0005-2795(75)90109-9",
    ),
    "McNemar 1947": Source(
        "McNemar Q. Note on the sampling error of the difference between correlated proportions or percentages. "
        "Psychometrika 1947;12:153–157.",
        "10.1007/BF02295996",
    ),
    "Nadeau 2003": Source(
        "Nadeau C, Bengio Y. Inference for the generalization error. Mach Learn 2003;52:239–281.",
        "10.1023/A:1024068626366",
    ),
    "Naeini 2015": Source(
        "Naeini MP, Cooper GF, Hauskrecht M. Obtaining well calibrated probabilities using Bayesian binning. Proc"
        " AAAI Conf Artif Intell 2015;29:2901–2907.",
        "10.1609/aaai.v29i1.9602",
    ),
    "Nagashima 2019": Source(
        "Nagashima K, Noma H, Furukawa TA. Prediction intervals for random-effects meta-analysis: a confidence "
        "distribution approach. Stat Methods Med Res 2019;28:1689–1702.",
        "10.1177/0962280218773520",
    ),
    "Nagelkerke 1991": Source(
        "Nagelkerke NJD. A note on a general definition of the coefficient of determination. Biometrika "
        "1991;78:691–692.",
        "10.1093/biomet/78.3.691",
    ),
    "Newcombe 2006": Source(
        "Newcombe RG. Confidence intervals for an effect size measure based on the Mann-Whitney statistic. Part "
        "2: asymptotic methods and evaluation. Stat Med 2006;25:559–573.",
        "10.1002/sim.2324",
    ),
    "Owen 2007": Source(
        "Owen AB. The pigeonhole bootstrap. Ann Appl Stat 2007;1:386–411.",
        "10.1214/07-AOAS122",
    ),
    "Phipson 2010": Source(
        "Phipson B, Smyth GK. Permutation P-values should never be zero: calculating exact P-values when "
        "permutations are randomly drawn. Stat Appl Genet Mol Biol 2010;9:39.",
        "10.2202/1544-6115.1585",
    ),
    "Powers 2011": Source(
        "Powers DMW. Evaluation: from precision, recall and F-measure to ROC, informedness, markedness and "
        "correlation. J Mach Learn Technol 2011;2:37–63.",
    ),
    "Qin 2008": Source(
        "Qin G, Hotilovac L. Comparison of non-parametric confidence intervals for the area under the ROC curve "
        "of a continuous-scale diagnostic test. Stat Methods Med Res 2008;17:207–221.",
        "10.1177/0962280207087173",
    ),
    "Rao 1984": Source(
        "Rao JNK, Scott AJ. On chi-squared tests for multiway contingency tables with cell proportions estimated from "
        "survey data. Ann Stat 1984;12:46–60.",
        "10.1214/aos/1176346391",
    ),
    "Riley 2021": Source(
        "Riley RD, Debray TPA, Collins GS, et al. Minimum sample size for external validation of a clinical "
        "prediction model with a binary outcome. Stat Med 2021;40:4230–4251.",
        "10.1002/sim.9025",
    ),
    "Simel 1991": Source(
        "Simel DL, Samsa GP, Matchar DB. Likelihood ratios with confidence: sample size estimation for diagnostic"
        " test studies. J Clin Epidemiol 1991;44:763–770.",
        "10.1016/0895-4356(91)90128-V",
    ),
    "Spiegelhalter 1986": Source(
        "Spiegelhalter DJ. Probabilistic prediction in patient management and clinical trials. Stat Med "
        "1986;5:421–433.",
        "10.1002/sim.4780050506",
    ),
    "Steyerberg 2010": Source(
        "Steyerberg EW, Vickers AJ, Cook NR, et al. Assessing the performance of prediction models: a framework "
        "for traditional and novel measures. Epidemiology 2010;21:128–138.",
        "10.1097/EDE.0b013e3181c30fb2",
    ),
    "Sun 2014": Source(
        "Sun X, Xu W. Fast implementation of DeLong's algorithm for comparing the areas under correlated receiver"
        " operating characteristic curves. IEEE Signal Process Lett 2014;21:1389–1393.",
        "10.1109/LSP.2014.2337313",
    ),
    "Szekely 2013": Source(
        "Székely GJ, Rizzo ML. Energy statistics: a class of statistics based on distances. J Stat Plan Inference"
        " 2013;143:1249–1272.",
        "10.1016/j.jspi.2013.03.018",
    ),
    "Tjur 2009": Source(
        "Tjur T. Coefficients of determination in logistic regression models—a new proposal: the coefficient of "
        "discrimination. Am Stat 2009;63:366–372.",
        "10.1198/tast.2009.08210",
    ),
    "Van Calster 2019": Source(
        "Van Calster B, McLernon DJ, van Smeden M, et al. Calibration: the Achilles heel of predictive analytics."
        " BMC Med 2019;17:230.",
        "10.1186/s12916-019-1466-7",
    ),
    "Van Calster 2025": Source(
        "Van Calster B, Collins GS, Vickers AJ, et al. Evaluation of performance measures in predictive "
        "artificial intelligence models to support medical decisions: overview and guidance. Lancet Digit Health "
        "2025.",
        "10.1016/j.landig.2025.100916",
    ),
    "Van Klaveren 2016": Source(
        "Van Klaveren D, Gönen M, Steyerberg EW, Vergouwe Y. A new concordance measure for risk prediction models"
        " in external validation settings. Stat Med 2016;35:4136–4152.",
        "10.1002/sim.6997",
    ),
    "Van Rijsbergen 1979": Source(
        "Van Rijsbergen CJ. Information Retrieval. 2nd edition. Butterworths, 1979.",
    ),
    "Vickers 2006": Source(
        "Vickers AJ, Elkin EB. Decision curve analysis: a novel method for evaluating prediction models. Med "
        "Decis Making 2006;26:565–574.",
        "10.1177/0272989X06295361",
    ),
    "Viechtbauer 2007": Source(
        "Viechtbauer W. Confidence intervals for the amount of heterogeneity in meta-analysis. Stat Med 2007;26:37–52.",
        "10.1002/sim.2514",
    ),
    "Welch 1947": Source(
        'Welch BL. The generalization of "Student\'s" problem when several different population variances are '
        "involved. Biometrika 1947;34:28–35.",
        "10.1093/biomet/34.1-2.28",
    ),
    "Wilson 1927": Source(
        "Wilson EB. Probable inference, the law of succession, and statistical inference. J Am Stat Assoc "
        "1927;22:209–212.",
        "10.1080/01621459.1927.10502953",
    ),
    "Woolf 1955": Source(
        "Woolf B. On estimating the relation between blood group and disease. Ann Hum Genet 1955;19:251–253.",
        "10.1111/j.1469-1809.1955.tb01348.x",
    ),
    "Youden 1950": Source(
        "Youden WJ. Index for rating diagnostic tests. Cancer 1950;3:32–35.",
        "10.1002/1097-0142(1950)3:1<32::AID-CNCR2820030106>3.0.CO;2-3",
    ),
    "Zou 2008": Source(
        "Zou GY, Donner A. Construction of confidence limits about effect measures: a general approach. Stat Med "
        "2008;27:1693–1702.",
        "10.1002/sim.3095",
    ),
}
