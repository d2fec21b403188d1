# SPDX-License-Identifier: Apache-2.0
# Draws and what R's package posterior says of them, for tests/diagnostics_test.cpp.
# Usage, from the top of the tree:  Rscript tests/posterior_reference.R tests/reference
suppressMessages(library(posterior))
folder <- commandArgs(trailingOnly = TRUE)[1]
set.seed(20250101)

ar <- function(draws, chains, rho)
  sapply(seq_len(chains), function(k) as.numeric(arima.sim(list(ar = rho), draws)) * sqrt(1 - rho^2))
shifted <- ar(200, 4, 0.5)
shifted[, 3] <- shifted[, 3] + 1.5
stuck <- ar(150, 3, 0.3)
stuck[, 2] <- 0.25
wider <- ar(200, 4, 0.2)
wider[, 4] <- 3 * wider[, 4]
broken <- ar(50, 2, 0.5)
broken[7, 2] <- NaN

sets <- list(
  independent = ar(100, 4, 0.01),
  correlated = ar(400, 4, 0.9),
  shifted = shifted,
  wider = wider,
  heavy_tail = matrix(rcauchy(4 * 200), ncol = 4),
  student = matrix(rt(3 * 150, 2), ncol = 3),
  constant = matrix(3.5, nrow = 50, ncol = 4),
  ties = round(ar(200, 4, 0.6) * 2),
  two_values = matrix(rbinom(4 * 100, 1, 0.3), ncol = 4),
  antithetic = ar(200, 4, -0.7),
  odd_length = ar(201, 3, 0.5),
  single_chain = ar(333, 1, 0.7),
  stuck_walker = stuck,
  very_short = ar(7, 2, 0.2),
  too_short = ar(4, 2, 0.2),
  not_finite = broken)

number <- function(x) ifelse(is.na(x), "null", sprintf("%.15g", x))
list_of <- function(x) paste0("[", paste(x, collapse = ","), "]")
for (name in names(sets)) {
  text <- apply(sets[[name]], 2, function(x) ifelse(is.nan(x), "NaN", sprintf("%.6g", x)))
  x <- matrix(as.numeric(text), nrow = nrow(text))
  shares <- c(0.05, 0.5, 0.95)
  finite <- !anyNA(x)
  answers <- suppressWarnings(list(
    mean = mean(x), deviation = sd(x), rhat = rhat(x), ess_bulk = ess_bulk(x), ess_tail = ess_tail(x),
    ess_mean = ess_mean(x), ess_sd = ess_sd(x), mcse_mean = mcse_mean(x), mcse_sd = mcse_sd(x),
    quantile = if (finite) quantile(x, shares, names = FALSE) else rep(NA, 3),
    ess_quantile = ess_quantile(x, shares, names = FALSE),
    mcse_quantile = mcse_quantile(x, shares, names = FALSE)))
  lines <- sapply(names(answers), function(key) {
    value <- number(answers[[key]])
    paste0("  \"", key, "\": ", if (length(value) > 1) list_of(value) else value)
  })
  chains <- apply(text, 2, function(column) list_of(ifelse(column == "NaN", "null", column)))
  writeLines(c("{", paste0(lines, ","), paste0("  \"draws\": ", list_of(chains)), "}"),
             file.path(folder, paste0("posterior_", name, ".json")))
}
