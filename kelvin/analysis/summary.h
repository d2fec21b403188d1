// SPDX-License-Identifier: Apache-2.0
// What a run's draws say: moments with their standard errors.
#pragma once
#include "kelvin/core/table.h"
#include "kelvin/trajectory/samples.h"

namespace kelvin {

// Moments of one quantity over walkers x draws. Standard errors by batch means (2 cbrt(draws) batches per walker, so
// that a batch grows faster than their number; all walkers' batches pooled), nan with fewer than 100 draws in all.
struct QuantitySummary {
  double mean, deviation, mean_error;
  double square, square_error;  // <x^2>
  double low, median, high;     // 5 %, 50 % and 95 % quantiles
};
QuantitySummary summarise(const std::vector<std::vector<double>>& walkers);

// One row per statistic, then one per parameter (`every_parameter`), or one per block: the mean and spread of its
// entries.
Table summary(const Samples&, bool every_parameter);

}  // namespace kelvin
