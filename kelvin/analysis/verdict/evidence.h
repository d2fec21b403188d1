// SPDX-License-Identifier: Apache-2.0
// What a diagnosis is based on: a run's settings, statistics and learning curve, read once.
#pragma once
#include <cmath>

#include "kelvin/analysis/posterior/columns.h"
#include "kelvin/run/settings.h"

namespace kelvin {

struct PartEvidence {
  std::string name;
  double freedom = 0;
  bool warm = false;           // its temperature is above 0
  bool kinetic_exact = false;  // the scheme's row vouches for the kinetic temperature
  bool confined = false;       // q.g has the mean n T: a toy, or a prior that can be normalised
  double fallbacks = 0;        // projections onto a constraint that did not converge, of all walkers
  double at_radius = NAN;      // share of its weights on circles that sit at their radius in the last draw; if cold
  double steps = 0;            // of all walkers
  Chains kinetic, configurational;  // temperatures over the one that was set at that draw; empty if not warm
};

struct JudgedQuantity {
  Quantity quantity;
  Convergence convergence;
  AutocorrelationTime time;
};

struct LearningCurve {
  std::string name;  // train, validation, test, or the potential of a toy
  std::vector<double> steps, loss;
};

struct Evidence {
  Samples samples;
  RunSettings settings;
  std::size_t together = 1;  // walkers that are coupled; what follows has one chain for each ensemble of them
  bool training = false;     // every temperature is 0 or falls to it
  bool proposes = false;     // some scheme has braces or N
  bool minibatch = false;    // gradients are noisy
  Chains potential, energy, acceptance, diverging;
  std::vector<PartEvidence> parts;
  std::vector<JudgedQuantity> judged;  // potential, predictions; parameters if they are few and no network's
  std::vector<Quantity> residuals;     // statistics that should be 0: any array of sample_stats named ..._residual
  std::vector<LearningCurve> curves;   // log.jsonl
};

Evidence evidence_of(const Samples&);
const JudgedQuantity* least_agreed(const Evidence&);  // with the largest rhat; null if none has one

}  // namespace kelvin
