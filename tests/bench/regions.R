#!/usr/bin/env Rscript
# The statistics of a release of regions as an R user takes them today, for the bench: rms, pROC, metafor, and plain R
# where no package has them. Usage: Rscript regions.R <folder of regions.py> <bootstrap> <permutations>
begin <- proc.time()
suppressMessages({library(rms); library(pROC); library(metafor)})
given <- commandArgs(TRUE); folder <- given[1]; B <- as.integer(given[2]); P <- as.integer(given[3])
parts <- list()
timed <- function(part, expr) {
  before <- sum(proc.time()[1:2]); value <- force(expr)
  parts[[part]] <<- (if (is.null(parts[[part]])) 0 else parts[[part]]) + sum(proc.time()[1:2]) - before
  value
}
set.seed(1)
predictors <- c("age", "sex", "killip", "sysbp", "pulse", "location", "height", "weight", "previous", "diabetes")
development <- timed("read", read.csv(file.path(folder, "development.csv")))
external <- timed("read", read.csv(file.path(folder, "external.csv")))
sites <- split(external, external$region)
thresholds <- c(.02, .07)
net_benefit <- function(y, p, t) sum(p >= t & y == 1) / length(y) - sum(p >= t & y == 0) / length(y) * t / (1 - t)

# ---- one site or subgroup ----
curve_of <- function(y, p) {                       # logistic on a restricted cubic spline of the logit, four knots
  lp <- qlogis(p); x <- cbind(1, rcspline.eval(lp, nk = 4, inclx = TRUE))
  abs(glm.fit(x, y, family = binomial())$fitted.values - p)
}
errors <- function(y, p) { d <- curve_of(y, p); c(ici = mean(d), e50 = median(d), e90 = quantile(d, .9), emax = max(d)) }
performance <- function(d, draws) {
  y <- d$died; p <- d$risk; lp <- qlogis(p); n <- length(y)
  r <- roc(y, p, quiet = TRUE, levels = 0:1, direction = "<")
  recalibration <- glm(y ~ lp, family = binomial); intercept <- glm(y ~ offset(lp), family = binomial)
  boot <- replicate(draws, { i <- sample.int(n, replace = TRUE); errors(y[i], p[i]) })
  brier <- (p - y)^2
  list(auroc = as.numeric(ci.auc(r)), se = sqrt(var(r)), oe = sum(y) / sum(p),
       se_oe = sd(y - sum(y) / sum(p) * p) / (sqrt(n) * mean(y)),
       intercept = c(coef(intercept), sqrt(vcov(intercept))), slope = c(coef(recalibration)[2], sqrt(vcov(recalibration)[2, 2])),
       brier = c(mean(brier), sd(brier) / sqrt(n)), scaled = 1 - mean(brier) / (mean(y) * (1 - mean(y))),
       errors = errors(y, p), bounds = apply(boot, 1, quantile, c(.025, .975)),
       nb = sapply(thresholds, function(t) net_benefit(y, p, t)))
}
against_rival <- function(d, draws) {
  y <- d$died
  a <- roc(y, d$risk, quiet = TRUE, levels = 0:1, direction = "<"); b <- roc(y, d$rival, quiet = TRUE, levels = 0:1, direction = "<")
  delong <- roc.test(a, b, method = "delong", paired = TRUE); brier <- (d$risk - y)^2 - (d$rival - y)^2
  flips <- replicate(draws, mean(brier * sample(c(-1, 1), length(y), TRUE)))
  list(delong$p.value, mean(abs(flips) >= abs(mean(brier))))
}
decision_curve <- function(d, draws) {
  grid <- seq(.01, .3, length.out = 101)
  apply(replicate(draws, { i <- sample.int(nrow(d), replace = TRUE); sapply(grid, function(t) net_benefit(d$died[i], d$risk[i], t)) }), 1, quantile, c(.025, .975))
}

# ---- correspondence, by the same limits ----
scaled <- function(site) { every <- rbind(development[predictors], site[predictors]); sweep(as.matrix(every), 2, apply(every, 2, sd), "/") }
some <- function(rows, most) if (length(rows) > most) sort(sample(rows, most)) else rows
psi_and_energy <- function(site) {
  x <- scaled(site); a <- some(seq_len(nrow(development)), 2000); b <- some(nrow(development) + seq_len(nrow(site)), 2000)
  D <- as.matrix(dist(x[c(a, b), ])); na <- length(a); nb <- length(b); n <- na + nb
  M <- replicate(P, { m <- numeric(n); m[sample.int(n, na)] <- 1; m }); S <- D %*% M
  near <- t(apply(D, 1, function(d) order(d)[2:33]))
  statistic <- function(m, s) {
    outside <- which(m == 0); hit <- matrix(m[near[outside, ]] == 1, length(outside))
    mean(s[outside] - s[near[cbind(outside, max.col(hit, "first"))]])
  }
  first <- c(rep(1, na), numeric(nb)); t0 <- statistic(first, D %*% first)
  psi <- (1 + sum(sapply(seq_len(P), function(k) statistic(M[, k], S[, k])) >= t0)) / (P + 1)
  all <- sum(D); coefficient <- function(wa, wb, c) { c <- 2 * c / (na * nb); (c - wa / na^2 - wb / nb^2) / c }
  inside <- colSums(M * S); across <- as.vector(rowSums(D) %*% M) - inside
  A <- D[1:na, 1:na]; C <- D[1:na, -(1:na)]; E <- D[-(1:na), -(1:na)]
  observed <- coefficient(sum(A), sum(E), sum(C))
  p <- (1 + sum(coefficient(inside, all - inside - 2 * across, across) >= observed)) / (P + 1)
  wa <- rmultinom(B, na, rep(1, na)); wb <- rmultinom(B, nb, rep(1, nb))
  boot <- coefficient(colSums(wa * (A %*% wa)) * na / (na - 1), colSums(wb * (E %*% wb)) * nb / (nb - 1), colSums(wa * (C %*% wb)))
  list(psi, observed, p, quantile(boot, c(.025, .975)))
}
averaged <- function(site) {
  x <- scaled(site); a <- some(seq_len(nrow(development)), 5000); b <- some(nrow(development) + seq_len(nrow(site)), 5000)
  A <- x[a, ]; D <- as.matrix(dist(A)); s <- rowSums(D); diag(D) <- Inf; nearest <- max.col(-D, "first"); gap <- D[cbind(seq_along(a), nearest)]
  share <- apply(x[b, ], 1, function(z) {
    d <- sqrt(colSums((t(A) - z)^2)); own <- sum(d) - s[which.min(d)]
    t_j <- s + d - ifelse(d < gap, sum(d) - d, s[nearest] + d[nearest] - gap)
    (1 + sum(t_j >= own)) / (length(a) + 1)
  })
  c(mean(share), quantile(replicate(B, mean(sample(share, replace = TRUE))), c(.025, .975)))
}
membership <- function(site) {
  every <- rbind(development[predictors], site[predictors]); member <- rep(0:1, c(nrow(development), nrow(site)))
  fold <- ave(member, member, FUN = function(k) sample(seq_along(k) %% 10)); lp <- numeric(length(member)); x <- cbind(1, scale(every))
  for (k in 0:9) lp[fold == k] <- x[fold == k, ] %*% glm.fit(x[fold != k, ], member[fold != k], family = binomial())$coefficients
  as.numeric(ci.auc(roc(member, lp, quiet = TRUE, levels = 0:1, direction = "<")))
}
shifts <- function(site) lapply(predictors, function(k) suppressWarnings(c(ks.test(development[[k]], site[[k]])$statistic,
  (mean(site[[k]]) - mean(development[[k]])) / sqrt((var(site[[k]]) + var(development[[k]])) / 2))))

# ---- everything ----
groups <- list(female = function(d) d$sex == 1, male = function(d) d$sex == 0, under55 = function(d) d$age < 55,
  from55to69 = function(d) d$age >= 55 & d$age < 70, from70 = function(d) d$age >= 70,
  anterior = function(d) d$location == 1, other = function(d) d$location == 0)
found <- lapply(sites, function(d) list(
  whole = timed("performance", performance(d, B)), rival = timed("rival", against_rival(d, P)), curve = timed("decision curve", decision_curve(d, B)),
  groups = timed("subgroups", lapply(groups, function(g) performance(d[g(d), ], B))),
  permuted = timed("psi and energy", psi_and_energy(d)), averaged = timed("averaged form", averaged(d)),
  membership = timed("membership", membership(d)), shifts = timed("shifts", shifts(d))))
pooled <- timed("pooling", lapply(c("whole", names(groups)), function(name) {
  one <- lapply(found, function(f) if (name == "whole") f$whole else f$groups[[name]])
  a <- sapply(one, function(f) f$auroc[2]); se <- sapply(one, function(f) f$se)
  list(rma(yi = qlogis(a), sei = se / (a * (1 - a)), test = "knha"),
       rma(yi = log(sapply(one, function(f) f$oe)), sei = sapply(one, function(f) f$se_oe), test = "knha"),
       rma(yi = sapply(one, function(f) f$slope[1]), sei = sapply(one, function(f) f$slope[2]), test = "knha"))
}))
seconds <- sum((proc.time() - begin)[1:2])
named <- paste(sprintf('"%s": %.2f', names(parts), unlist(parts)), collapse = ", ")
cat(sprintf('{"seconds": %.2f, "parts": {%s}}\n', seconds, named))
