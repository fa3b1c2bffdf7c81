# Weighted, clustered and stratified standard errors of R's survey package (and of glm), for test_against_survey.py.
# Debian's r-base-core, r-cran-survey and r-cran-jsonlite; `Rscript survey.R survey.json` writes the table and R's numbers.
suppressPackageStartupMessages({library(survey); library(jsonlite)})
set.seed(24)
n <- 420
site <- rep(c("a", "b", "c"), c(210, 140, 70))
ward <- paste0(site, ceiling(seq_len(n) / 7) %% 15)            # clusters within sites
x <- rnorm(n) + rep(rnorm(60, sd = .5), each = 7)
p <- round(plogis(-1.2 + x + c(a = 0, b = .3, c = -.4)[site]), 3)
q <- round(plogis(-1 + .7 * x + rnorm(n, sd = .6)), 3)
y <- rbinom(n, 1, plogis(-.9 + .8 * x + rep(rnorm(60, sd = .4), each = 7)))
w <- round(exp(rnorm(n, sd = .6)), 2)
t <- .3
d <- data.frame(site, ward, y, p, q, w)

cell <- function(e) list(value = as.numeric(coef(e))[1], se = as.numeric(SE(e))[1])
# The weighted AUROC pair by pair, its influence by hand, and the standard error that the design gives their total.
auc <- function(y, p, w) { i <- which(y == 1); j <- which(y == 0); k <- outer(p[i], p[j], ">") + .5 * outer(p[i], p[j], "=="); sum(w[i] %o% w[j] * k) / sum(w[i]) / sum(w[j]) }
influence <- function(y, p, w) {
  i <- which(y == 1); j <- which(y == 0); k <- outer(p[i], p[j], ">") + .5 * outer(p[i], p[j], "=="); a <- auc(y, p, w); u <- numeric(length(y))
  u[i] <- (k %*% w[j] / sum(w[j]) - a) / sum(w[i]); u[j] <- (t(k) %*% w[i] / sum(w[i]) - a) / sum(w[j]); u }
expected <- function(p, w) { k <- outer(p, p, ">") + .5 * outer(p, p, "=="); m <- outer(w * p, w * (1 - p)); diag(m) <- 0; sum(m * k) / sum(m) }

of_design <- function(s, replicated) {
  s <- update(s, right = as.numeric((p >= t) == y), nb = (p >= t) * (y - (1 - y) * t / (1 - t)), nbq = (q >= t) * (y - (1 - y) * t / (1 - t)), b = (p - y)^2, bq = (q - y)^2,
    tp = (p >= t) * y, u = influence(d$y, d$p, d$w), uq = influence(d$y, d$q, d$w), l = qlogis(p))
  line <- svyglm(y ~ l, s, family = quasibinomial()); large <- svyglm(y ~ 1 + offset(l), s, family = quasibinomial())
  ratio <- svyratio(~y, ~p, s); sens <- svyratio(~tp, ~y, s); snb <- svyratio(~nb, ~y, s)
  list(brier = cell(svymean(~b, s)), net_benefit = cell(svymean(~nb, s)), accuracy = cell(svymean(~right, s)), oe_ratio = cell(ratio), sensitivity = cell(sens),
    standardized_net_benefit = cell(snb), auroc = list(value = auc(d$y, d$p, d$w), se = as.numeric(SE(svytotal(~u, s)))),
    auroc_of_rival = list(value = auc(d$y, d$q, d$w), se = as.numeric(SE(svytotal(~uq, s)))),
    auroc_difference = list(value = auc(d$y, d$p, d$w) - auc(d$y, d$q, d$w), se = as.numeric(SE(svytotal(~I(u - uq), s)))),
    net_benefit_difference = cell(svymean(~I(nb - nbq), s)), brier_difference = cell(svymean(~I(b - bq), s)),
    calibration_slope = list(value = coef(line)[[2]], se = SE(line)[[2]]), calibration_intercept_joint = list(value = coef(line)[[1]], se = SE(line)[[1]]),
    calibration_intercept = list(value = coef(large)[[1]], se = SE(large)[[1]]),
    # A second way: the AUROC and the expected one anew in every jackknife replicate.
    auroc_by_replicates = { r <- withReplicates(as.svrepdesign(s, type = "JK1"), function(w, d) auc(d$y, d$p, w)); list(value = as.numeric(r), se = as.numeric(SE(r))) },
    concordance_by_replicates = { r <- withReplicates(as.svrepdesign(s, type = "JK1"), function(w, d) expected(d$p, w)); list(value = as.numeric(r), se = as.numeric(SE(r))) })
}

# All rows of several sites, each a stratum: the observed over the expected number, a slope and an intercept that leave every site its own.
strata <- function(d) {
  s <- svydesign(ids = ~1, strata = ~site, weights = ~1, data = d); l <- qlogis(d$p); r <- svyratio(~y, ~p, s)
  slope <- glm(y ~ 0 + site + l, binomial, d, control = glm.control(epsilon = 1e-14)); part <- split(d, d$site)
  m <- sapply(part, function(x) sum(x$y) * sum(1 - x$y)); a <- sapply(part, function(x) auc(x$y, x$p, rep(1, nrow(x))))
  v <- sapply(part, function(x) { i <- x$y == 1; k <- outer(x$p[i], x$p[!i], ">") + .5 * outer(x$p[i], x$p[!i], "=="); var(rowMeans(k)) / sum(i) + var(colMeans(k)) / sum(!i) })
  large <- glm(y ~ 1 + offset(l), binomial, d, control = glm.control(epsilon = 1e-14))
  list(n = nrow(d), events = sum(d$y), oe_ratio = list(value = coef(r)[[1]], se = SE(r)[[1]]),
    calibration_slope = list(value = coef(slope)[["l"]], se = sqrt(vcov(slope)["l", "l"])),
    calibration_intercept = list(value = coef(large)[[1]], se = sqrt(vcov(large)[1, 1])),
    auroc = list(value = sum(m * a) / sum(m), se = sqrt(sum((m / sum(m))^2 * v))))
}

# The same with weights, whose mean at each site is 1, and with wards within sites.
strata_weighted <- function(d, ids) {
  d$w <- d$w / ave(d$w, d$site); d$l <- qlogis(d$p); s <- svydesign(ids = ids, strata = ~site, weights = ~w, data = d); r <- svyratio(~y, ~p, s)
  slope <- svyglm(y ~ 0 + site + l, s, family = quasibinomial()); large <- svyglm(y ~ 1 + offset(l), s, family = quasibinomial())
  part <- split(seq_len(nrow(d)), d$site); m <- sapply(part, function(i) sum(d$w[i] * d$y[i]) * sum(d$w[i] * (1 - d$y[i])))
  a <- sapply(part, function(i) auc(d$y[i], d$p[i], d$w[i])); u <- numeric(nrow(d))
  for (k in seq_along(part)) { i <- part[[k]]; u[i] <- m[k] / sum(m) * influence(d$y[i], d$p[i], d$w[i]) }
  list(oe_ratio = list(value = coef(r)[[1]], se = SE(r)[[1]]), calibration_slope = list(value = coef(slope)[["l"]], se = SE(slope)[["l"]]),
    calibration_intercept = list(value = coef(large)[[1]], se = SE(large)[[1]]),
    auroc = list(value = sum(m * a) / sum(m), se = as.numeric(SE(svytotal(~u, update(s, u = u))))))
}

out <- list(R = R.version.string, packages = list(survey = as.character(packageVersion("survey"))), threshold = t, rows = d,
  weighted = of_design(svydesign(ids = ~1, weights = ~w, data = d)), weighted_clustered = of_design(svydesign(ids = ~ward, weights = ~w, data = d)),
  stratified = strata(d), stratified_weighted = strata_weighted(d, ~1), stratified_clustered = strata_weighted(d, ~ward), stratified_of_few = strata(d[c(1:210, which(d$site == "b")[1:30], which(d$site == "c")[1:25]), ]))
writeLines(toJSON(out, auto_unbox = TRUE, digits = 14, dataframe = "columns"), commandArgs(TRUE)[1])
