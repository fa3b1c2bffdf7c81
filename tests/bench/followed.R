#!/usr/bin/env Rscript
# AUC(t) and Brier(t) with standard errors by riskRegression::Score, for the bench: of the table that bench.py writes, by
# five years, at marginal weights. Usage: Rscript followed.R <followed.csv>
suppressMessages({library(riskRegression); library(survival); library(prodlim)})
rows <- read.csv(commandArgs(TRUE)[1])
begin <- proc.time()
found <- Score(list(model = rows$risk), formula = Hist(time, event) ~ 1, data = rows, times = 5, metrics = c("auc", "brier"),
               se.fit = TRUE, null.model = FALSE, summary = NULL)
seconds <- sum((proc.time() - begin)[1:2])
auc <- found$AUC$score; brier <- found$Brier$score[found$Brier$score$model == "model", ]
cat(sprintf('{"seconds": %.3f, "parts": {"auroc": %.15g, "auroc_se": %.15g, "brier": %.15g, "brier_se": %.15g}}\n',
            seconds, auc$AUC, auc$se, brier$Brier, brier$se))
