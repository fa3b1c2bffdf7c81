# What gtsummary's tbl_summary(by = site) and add_difference() to "smd" give by their formulas, in plain R, of golden/binary.csv:
# quartiles of type 2, and standardized differences of site B from site A; of a category one for all its levels (Yang and Dalton 2012).
# Rscript summary.R > summary.json
rows <- read.csv("golden/binary.csv")
a <- rows[rows$site == "A", ]; b <- rows[rows$site == "B", ]
smd <- function(x, y) (mean(y) - mean(x)) / sqrt((var(x) + var(y)) / 2)
of_levels <- function(x, y) {
  levels <- sort(unique(c(x, y)))[-1]
  p <- sapply(levels, function(level) mean(x == level)); q <- sapply(levels, function(level) mean(y == level))
  spread <- function(p) diag(p, length(p)) - p %*% t(p)
  sqrt(drop(t(p - q) %*% solve((spread(p) + spread(q)) / 2) %*% (p - q)))
}
quartiles <- quantile(b$age, c(.25, .5, .75), type = 2, names = FALSE)
cat(sprintf('{"age": [%.10f, %.10f, %.10f], "age_smd": %.10f, "stage": [%s], "stage_smd": %.10f}\n',
  quartiles[2], quartiles[1], quartiles[3], smd(a$age, b$age),
  paste(sprintf("%.10f", prop.table(table(b$stage))), collapse = ", "), of_levels(a$stage, b$stage)))
