// SPDX-License-Identifier: Apache-2.0
// Coupled walkers are not independent chains: an ensemble of them counts as one chain, whose draw is the mean of
// theirs.
#pragma once
#include "kelvin/numeric/statistics.h"
#include "kelvin/trajectory/samples.h"

namespace kelvin {

std::size_t walkers_together(const Samples&);  // in an ensemble; 1 if they are independent

// The same where an analysis takes so many of them: all, or one alone.
std::size_t walkers_together(const Samples&, std::size_t chosen);

// What to say of it; empty if they are independent.
std::string words_on_ensembles(std::size_t together);

// The mean over each `together` walkers, draw by draw.
Chains ensemble_means(const Chains& walkers, std::size_t together);

// Moments and quantiles are those of all draws; errors, ess and rhat those of ensembles. An ess is the variance, of the
// draws or of whether they lie in a tail, over that of the mean.
Convergence ensemble_convergence(const Chains& walkers, std::size_t together);

}  // namespace kelvin
