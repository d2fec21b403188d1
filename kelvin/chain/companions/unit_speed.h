// SPDX-License-Identifier: Apache-2.0
// Warm-up adaptation for momenta of unit length (letters T and P): the step, from its energy error, and the length over
// which the direction of p decorrelates.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "kelvin/core/pack.h"

namespace kelvin {

// The mean square energy error of a step grows with its sixth power: a running mean of x / pace^6, where x is the
// error's square over the one wanted, gives the pace of x = 1. Errors far from it count less.
struct EnergyAveraging {
  double sum = 0, weight = 0, most = 1e9;  // most: paces above it have left the region where U is finite
  double learn(double x, double pace);     // returns the next pace; x that is no number asks for a smaller one
};

// First the root of the summed variances; then 0.4 of the way along which positions stay correlated, by the variance
// of batch means.
class LengthFinder {
 public:
  explicit LengthFinder(std::uint64_t warmup) : warmup_(warmup) {}
  std::uint64_t settled() const { return warmup_ * 4 / 5; }  // the last step at which the pace may change
  // The length found, or 0; `way` is what a step covers.
  template <class Real>
  double watch(std::uint64_t step, std::span<const Real> x, double way);
  void resize(std::size_t n);
  void fields(Archive& field) {
    field("points", points_);
    field("batches", batches_);
    field("mean", mean_);
    field("squares", squares_);
    field("batch", batch_);
    field("batch_mean", batch_mean_);
    field("batch_squares", batch_squares_);
  }

 private:
  void forget();
  std::uint64_t warmup_;
  double points_ = 0, batches_ = 0;
  std::vector<double> mean_, squares_;                      // squares: about the mean
  std::vector<double> batch_, batch_mean_, batch_squares_;  // the present batch's sum; of the means of batches
};

}  // namespace kelvin
