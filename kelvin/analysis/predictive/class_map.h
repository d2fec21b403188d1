// SPDX-License-Identifier: Apache-2.0
// Predictions of the draws of a classifier at points of the plane of its two inputs, in their original units.
#pragma once
#include <functional>

#include "kelvin/analysis/predictive/plane.h"
#include "kelvin/analysis/stored_run.h"

namespace kelvin {

// Which draws are averaged: "mean" takes `most` of them in all, evenly spaced; "last" and a number take one a walker.
struct DrawChoice {
  std::string which = "mean";
  std::size_t most = 200;
};

struct ClassMap {
  std::vector<std::string> classes;
  bool probabilities = true;                 // else outputs, for losses that are no -log probability
  double threshold = 0.5;                    // two classes: the second one above it
  std::size_t draws = 0;                     // that were averaged, over all walkers
  std::vector<double> mean;                  // points x classes; with two classes points, of the second
  std::vector<std::vector<double>> walkers;  // the same for each walker; two classes only
  std::vector<double> information;  // nats that draws disagree by: entropy of the mean less mean entropy; or empty
  bool two() const { return classes.size() == 2; }
};

// Refuses runs that do not classify points with two inputs.
template <class Real>
void check_plane(const StoredRun<Real>&);

template <class Real>
ClassMap class_map(const StoredRun<Real>&, const PlanePoints&, const DrawChoice&,
                   const std::function<void(double share)>& progress);

}  // namespace kelvin
