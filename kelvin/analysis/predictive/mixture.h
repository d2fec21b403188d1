// SPDX-License-Identifier: Apache-2.0
// The predictive distribution of one number: the equally weighted mixture of the distributions that the draws predict.
#pragma once
#include <span>

#include "kelvin/energy/noise_law.h"

namespace kelvin {

// Draw i says: the number scatters about centres[i] with scales[i]. Without a law every draw names its centre alone.
struct Mixture {
  const NoiseLaw* law;
  std::span<const double> centres, scales;

  double mean() const;
  double between() const;  // variance of the centres: epistemic; exactly 0 if they are equal
  double within() const;   // mean variance of the noise: aleatoric; 0 without a law
  double distribution(double x) const;
  double quantile(double level) const;
  // Continuous ranked probability score, the integral of (distribution(z) - [z >= x])^2: mean |Y - x|, in closed form,
  // minus the spread.
  double ranked_score(double x) const;
  // Half the mean of |Y - Y'|, the integral of F (1 - F), by the trapezoid rule: to 1e-4 of it, or 1/500 of the range
  // of draws that lie hundreds of scales apart, where the number of nodes ends.
  double spread() const;

 private:
  double low() const;  // the law lies between, to 1e-12
  double high() const;
};

double log_mean_exp(std::span<const double>);  // log of the mean of exp(x)

}  // namespace kelvin
