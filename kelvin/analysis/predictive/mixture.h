// SPDX-License-Identifier: Apache-2.0
// The predictive distribution of one number: the equally weighted mixture of the distributions that the draws predict.
#pragma once
#include <span>

#include "kelvin/energy/noise_law.h"

namespace kelvin {

// What draw i says of the number is at[i]. Without a law every draw names its centre alone.
struct Mixture {
  const NoiseLaw* law;
  std::span<const NoiseAt> at;

  double mean() const;
  double between() const;  // variance of the centres: epistemic; exactly 0 if they are equal
  double within() const;   // mean variance of the noise: aleatoric; 0 without a law
  double distribution(double x) const;
  double quantile(double level) const;  // of counts: the least number that has as much below or at it
  // Continuous ranked probability score, the integral (of counts the sum) of (distribution(z) - [z >= x])^2: to 1e-4 of
  // it, or 1e-2 where draws lie hundreds of scales apart.
  double ranked_score(double x) const;
  // The share of the law below x, evenly distributed over all x that it predicts; of counts, whose shares jump, the
  // place `within_jump` between 0 and 1 of the jump at x.
  double place(double x, double within_jump) const;

 private:
  double low() const;  // the law lies between, to 1e-12
  double high() const;
  double quantile_of_counts(double level) const;
  double distance(double x) const;     // mean |Y - x|
  double width_about(double m) const;  // the ranked score where m, amid the draws, is the number
};

double log_mean_exp(std::span<const double>);  // log of the mean of exp(x)

}  // namespace kelvin
