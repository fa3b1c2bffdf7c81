# Closed test of Vergouwe 2017 and recalibration with cross-validated evaluation, on dossier's shipped tables. Base R only.
# Rscript recalibration.R FIXTURES_BREAST recalibration.json
a <- commandArgs(TRUE); suppressPackageStartupMessages({library(jsonlite); library(pROC)})
ll <- function(y, p) sum(y * log(p) + (1 - y) * log1p(-p))
one <- function(f) {
  d <- read.csv(file.path(a[1], f)); d <- d[!is.na(d$outcome), ]; y <- d$outcome; lo <- qlogis(d$risk); n <- length(y)
  m1 <- glm(y ~ 1 + offset(lo), binomial); m2 <- glm(y ~ lo, binomial)
  # revision: the model's own terms, re-estimated (shape of the terms kept): age rcs is left out here, the six other items enter as published
  sz <- if ("size_band" %in% names(d)) d$size_band else d$size
  X <- data.frame(y, men = d$meno, s2 = sz == "20-50", s3 = sz == ">50", g3 = d$grade == 3, n = sqrt(d$nodes), p = sqrt(d$pgr), e = sqrt(d$er), a = d$age)
  m3 <- glm(y ~ ., binomial, X)
  L <- c(original = ll(y, d$risk), intercept = as.numeric(logLik(m1)), logistic = as.numeric(logLik(m2)), revision = as.numeric(logLik(m3)))
  k <- length(coef(m3)); t <- function(lr, df) list(chi2 = lr, df = df, p = pchisq(lr, df, lower.tail = FALSE))
  tests <- list(revision_vs_original = t(2 * (L[["revision"]] - L[["original"]]), k), revision_vs_intercept = t(2 * (L[["revision"]] - L[["intercept"]]), k - 1),
    revision_vs_logistic = t(2 * (L[["revision"]] - L[["logistic"]]), k - 2), joint_without_predictors = t(2 * (L[["logistic"]] - L[["original"]]), 2), slope_given_intercept = t(2 * (L[["logistic"]] - L[["intercept"]]), 1))
  pick <- if (tests[[1]]$p > .05) "original" else if (tests[[2]]$p > .05) "intercept" else if (tests[[3]]$p > .05) "logistic" else "revision"
  pick2 <- if (tests$joint_without_predictors$p > .05) "original" else if (tests$slope_given_intercept$p > .05) "intercept" else "logistic"
  fold <- (seq_len(n) - 1) %% 10; cv <- matrix(NA, n, 2)
  for (j in 0:9) { i <- fold != j; o <- !i
    b1 <- coef(glm(y ~ 1 + offset(lo), binomial, subset = i)); b2 <- coef(glm(y ~ lo, binomial, subset = i)); cv[o, 1] <- plogis(b1 + lo[o]); cv[o, 2] <- plogis(b2[1] + b2[2] * lo[o]) }
  sc <- function(p) list(oe = sum(y) / sum(p), brier = mean((y - p)^2), log_loss = -ll(y, p) / n, slope = unname(coef(glm(y ~ qlogis(p), binomial))[2]), auroc = as.numeric(auc(roc(y, p, quiet = TRUE, direction = "<"))),
    nb25 = mean(p >= .25 & y == 1) - mean(p >= .25 & y == 0) / 3)
  list(n = n, events = sum(y), loglik = as.list(L), intercept = unname(coef(m1)), logistic = unname(coef(m2)), tests = tests, closed_test = pick, closed_test_without_predictors = pick2,
    as_is = sc(d$risk), apparent = list(intercept = sc(plogis(coef(m1) + lo)), logistic = sc(fitted(m2))), cross_validated_mod10 = list(intercept = sc(cv[, 1]), logistic = sc(cv[, 2])))
}
write_json(list(rotterdam = one("rotterdam.csv"), gbsg = one("gbsg.csv")), a[2], digits = I(15), auto_unbox = TRUE, pretty = TRUE)
