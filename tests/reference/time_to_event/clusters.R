#!/usr/bin/env Rscript
# Standard errors where patients belong to wards of eight, in the order of gbsg_survival.csv: R's package survival sums
# what the patients of a ward contribute (robust variance, without a correction for few wards), five years, times in
# days. Usage: Rscript clusters.R gbsg_survival.csv > clusters.json
suppressMessages(library(survival))
d <- read.csv(commandArgs(TRUE)[1]); d$ward <- (seq_len(nrow(d)) - 1) %/% 8; t <- 1826.25
x <- log(-log(1 - d$risk_5y)); x <- (x - mean(x)) / sd(x)
seen <- pmin(d$days, t); left <- as.numeric(d$event == 0 & d$days < t); had <- as.numeric(d$event == 1 & d$days <= t)
leaving <- coxph(Surv(seen, left) ~ x, cluster = d$ward, ties = "efron")
c_of <- function(w) concordance(Surv(seen, had) ~ d$risk_5y, cluster = d$ward, reverse = TRUE, timewt = w)
h <- c_of("n"); u <- c_of("n/G2")
km <- survfit(Surv(seen, had) ~ 1, cluster = ward, data = data.frame(seen, had, ward = d$ward), robust = TRUE)
at <- summary(km, times = t)
cat(sprintf(paste0('{"wards": %d, "leaving": {"log_hazard_ratio": %.12g, "se": %.12g}, "harrell_c": {"value": %.12g, "se": %.12g}, ',
  '"uno_c": {"value": %.12g, "se": %.12g}, "observed_risk": {"value": %.12g, "se": %.12g}}\n'),
  length(unique(d$ward)), coef(leaving), sqrt(leaving$var[1]), h$concordance, sqrt(h$var), u$concordance, sqrt(u$var), 1 - at$surv, at$std.err))
