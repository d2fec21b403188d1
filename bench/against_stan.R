# SPDX-License-Identifier: Apache-2.0
# Effective samples per gradient of Stan's NUTS and of ours, both with 1000 steps of warm-up and a diagonal metric.
# Needs r-cran-rstan, r-cran-posterior and libboost-dev. From the top of the tree:  Rscript bench/against_stan.R build/kelvin
suppressMessages({ library(rstan); library(posterior) })
kelvin <- commandArgs(trailingOnly = TRUE)[1]
chains <- 8
draws <- 5000

# The same three energies as our toys, in the same coordinates.
code <- "
data { int which; int n; vector[n] stiffness; }
parameters { vector[n] x; }
model {
  if (which == 1) target += -0.5 * dot_product(stiffness, x .* x);
  if (which == 2) {
    vector[8] y = [28, 8, -3, 7, -1, 1, 18, 12]';
    vector[8] s = [15, 10, 16, 11, 9, 11, 10, 18]';
    vector[8] theta = x[1] + exp(x[2]) * x[3:10];
    target += -x[1]^2 / 50 - log1p(exp(2 * x[2]) / 25) + x[2] - 0.5 * dot_self(x[3:10]) - 0.5 * dot_self((y - theta) ./ s);
  }
  if (which == 3) target += -x[1]^2 / 8 - 0.5 * (x[2] + 0.3 * x[1]^2 - 1.2)^2;
}"
# Debian keeps Boost outside R's own packages.
model <- stan_model(model_code = code, boost_lib = "/usr/include")

widths <- 10^(seq(-1, 2, length.out = 10))
cases <- list(
  gaussian = list(which = 1, n = 10, stiffness = widths,
                  toy = sprintf("{ name = 'gaussian', stiffness = [%s] }", paste(sprintf("%.15g", widths), collapse = ", "))),
  eight_schools = list(which = 2, n = 10, stiffness = rep(1, 10), toy = "'eight_schools'"),
  banana = list(which = 3, n = 2, stiffness = c(1, 1), toy = "{ name = 'banana', a = 4.0, b = 0.3 }"))

# Of an array draws x chains x coordinates: the least bulk ESS of a coordinate, and that of U, per leapfrog step.
efficiency <- function(x, lp, leaps)
  c(coordinate = min(apply(x, 3, ess_bulk)), U = ess_bulk(lp)) / sum(leaps)

for (name in names(cases)) {
  case <- cases[[name]]
  fit <- sampling(model, data = case[c("which", "n", "stiffness")], chains = chains, iter = 1000 + draws, warmup = 1000,
                  seed = 1, refresh = 0, cores = 1)
  all <- rstan::extract(fit, permuted = FALSE)
  stats <- get_sampler_params(fit, inc_warmup = FALSE)
  stan <- efficiency(all[, , 1:case$n], all[, , case$n + 1], sapply(stats, function(s) s[, "n_leapfrog__"]))

  folder <- tempfile()
  dir.create(folder)
  file <- file.path(folder, "run.toml")
  writeLines(c(sprintf("model.toy = %s", case$toy), "seed = 1", "warmup = 1000", sprintf("steps = %d", draws), "every = 1",
               sprintf("walkers = %d", chains), "[part.all]", "scheme = 'nuts'", "step = 1.0", "temperature = 1.0",
               "[adapt]", "step = true", "metric = 'diagonal'"), file)
  run <- file.path(folder, "run")
  stopifnot(system2(kelvin, c("sample", file, "-o", run, "--quiet", "--threads", "1")) == 0)
  stopifnot(system2(kelvin, c("export", run, "--to", "csv", "-o", file.path(folder, "draws.csv"), "--quiet")) == 0)
  table <- read.csv(file.path(folder, "draws.csv"))
  by_chain <- function(column) matrix(table[[column]], ncol = chains)
  x <- sapply(grep("^q", names(table)), by_chain, simplify = "array")
  ours <- efficiency(x, by_chain("lp"), table$n_steps)
  cat(sprintf("%-14s per 1000 gradients  coordinate: Stan %.1f, Kelvin %.1f (%+.0f %%)  U: Stan %.1f, Kelvin %.1f (%+.0f %%)\n",
              name, 1000 * stan[1], 1000 * ours[1], 100 * (ours[1] / stan[1] - 1), 1000 * stan[2], 1000 * ours[2],
              100 * (ours[2] / stan[2] - 1)))
}
