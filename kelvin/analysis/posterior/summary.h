// SPDX-License-Identifier: Apache-2.0
// Summary of a run's draws: moments, quantiles, their errors, ESS and R-hat.
#pragma once
#include "kelvin/analysis/finding.h"
#include "kelvin/trajectory/samples.h"

namespace kelvin {

using Done = std::function<void(std::size_t done, std::size_t of)>;  // told now and then

// One row per statistic, some predictions and the log-likelihood if they were stored, all with their diagnostics; then
// one per block, its entries pooled, or one per parameter with diagnostics. Reads each array once (the parameters some
// columns at a time), so memory is bounded.
Finding summary(const Samples&, bool every_parameter, const Done& = {});

// Moments of a stream of numbers, some at each draw: sums, and standard errors by batch means (2 cbrt(draws) batches
// per walker, or per ensemble of `together` coupled ones, so that a batch grows faster than their number; all walkers'
// batches pooled; nan with fewer than 100
// draws in all). Quantiles are those of at most about 10^6 evenly spaced numbers.
class PooledMoments {
 public:
  PooledMoments(std::size_t walkers, std::size_t draws, std::size_t width, std::size_t together = 1);
  void add(std::size_t walker, std::size_t first_draw, std::span<const double> numbers);  // whole draws, in order

  struct Result {
    double mean, deviation, mean_error, square, square_error, low, median, high;
  };
  Result result();  // when all have been added
  bool thinned() const { return every_ > 1; }

 private:
  struct Sums {
    double count = 0, sum = 0, square = 0;  // of x - pivot
    void add(std::span<const double>, double pivot);
  };
  std::size_t draws_, width_, together_, each_, every_;
  std::vector<std::vector<Sums>> batches_;  // ensembles x batches, what is left over last
  std::vector<std::size_t> next_;           // of each walker: the number that the quantiles take next
  std::vector<double> some_;
  double pivot_ = 0;
  bool begun_ = false;
};

}  // namespace kelvin
