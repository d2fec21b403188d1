// SPDX-License-Identifier: Apache-2.0
// The settings of a run file for coupled walkers.
#pragma once
#include <string>
#include <vector>

#include "kelvin/core/choice.h"
#include "kelvin/data/batch.h"

namespace kelvin {

// How walkers help each other (docs/walkers.md).
struct CouplingSettings {
  static constexpr const char* shorthand = "method";
  Choice method = Choice("none");
  std::string over = "all", collapse = "never";
  double blending = 0, spread = 1e-3;
  long refresh = 1000, ensembles = 1;
  template <class Visit>
  void fields(Visit&& field) {
    field("method", method, "a row of `kelvin list couplings`");
    field("blending", blending,
          "how far the walkers' covariance stretches the directions in which they move: B B' = 1 + blending cov; about "
          "the largest curvature of U over the temperature; 0 leaves them independent");
    field("refresh", refresh, "steps between two looks at the other walkers");
    field("over", over, "what one covariance is taken over: all parameters, each part or each block");
    field("ensembles", ensembles, "sets of walkers, each coupled within itself only; two or more can be compared");
    field("collapse", collapse,
          "at each refresh, put all walkers of an ensemble at its first walker or at their mean: never, first or mean");
    field("spread", spread, "walkers that would start at the same point are moved by normals of this deviation");
  }
};

// Walkers at several temperatures that exchange positions (docs/exchange.md).
struct ExchangeSettings {
  std::vector<double> temperatures;
  long rungs = 0, every = 100, ladders = 1, batches = 0;
  double highest = 0;
  bool adapt = false;
  bool used() const { return !temperatures.empty() || rungs > 0 || highest > 0; }
  template <class Visit>
  void fields(Visit&& field) {
    field(
        "temperatures", temperatures,
        "of the walkers of a ladder, as factors of the one set, from 1 upwards: [1, 2, 4]; only the first one's draws "
        "follow the law that is asked for");
    field("rungs", rungs, "instead: so many temperatures, each the same factor above the last");
    field("highest", highest, "with rungs: the last factor");
    field("every", every, "steps between two attempts to exchange positions");
    field("ladders", ladders, "independent sets of such walkers; two or more can be compared (rhat)");
    field("adapt", adapt, "during warm-up, move the temperatures between the first and the last to equal acceptance");
    field("batches", batches,
          "losses are compared on so many minibatches, the same ones for both walkers, with a correction for what is "
          "not known of the others; 0 compares on all rows, exactly");
  }
};

// All that coupling and exchange are told of a run.
struct EnsembleSettings {
  CouplingSettings coupling;
  ExchangeSettings exchange;
  BatchSettings batch;
  long walkers = 1, seed = 1, warmup = 0;
  std::string masked_part;  // one whose weights are masked at random, if any
};

}  // namespace kelvin
