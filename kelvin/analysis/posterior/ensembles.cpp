// SPDX-License-Identifier: Apache-2.0
#include "kelvin/analysis/posterior/ensembles.h"

#include <cmath>

#include "kelvin/ensemble/coupling.h"

namespace kelvin {

std::size_t walkers_together(const Samples& samples) {
  return walkers_together(samples.record.settings.coupling, samples.walkers);
}

std::size_t walkers_together(const Samples& samples, std::size_t chosen) {
  return chosen == samples.walkers ? walkers_together(samples) : 1;
}

std::string words_on_ensembles(std::size_t together) {
  if (together == 1) return "";
  return fmt::format("Coupled walkers are no independent chains: {} count as one, whose draw is the mean of theirs.",
                     together);
}

Chains ensemble_means(const Chains& walkers, std::size_t together) {
  if (together == 1 || walkers.empty()) return walkers;
  Chains means(walkers.size() / together, std::vector<double>(walkers.front().size(), 0));
  for (std::size_t w = 0; w < walkers.size(); ++w)
    for (std::size_t i = 0; i < walkers[w].size(); ++i) means[w / together][i] += walkers[w][i] / double(together);
  return means;
}

Convergence ensemble_convergence(const Chains& walkers, std::size_t together) {
  Convergence c = convergence(walkers);
  if (together == 1) return c;
  const Chains means = ensemble_means(walkers, together);
  c.mcse_mean = mcse_mean(means);
  c.rhat = rhat(means);
  c.ess_bulk = std::pow(c.deviation / c.mcse_mean, 2);
  c.ess_tail = INFINITY;
  for (const double end : {c.low, c.high}) {
    Chains inside = walkers;
    for (auto& x : inside)
      for (double& v : x) v = v <= end;
    c.ess_tail = std::fmin(c.ess_tail, std::pow(deviation(inside) / mcse_mean(ensemble_means(inside, together)), 2));
  }
  if (std::isnan(c.ess_bulk)) c.ess_tail = NAN;
  return c;
}

}  // namespace kelvin
