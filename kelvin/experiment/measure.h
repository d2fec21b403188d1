// SPDX-License-Identifier: Apache-2.0
// What is measured of a run at some step. To add a measure, add a row in measure.cpp.
#pragma once
#include <span>
#include <string_view>

#include "kelvin/analysis/finding.h"
#include "kelvin/run/problem.h"

namespace kelvin {

// Means over the steps after the warm-up so far, each in units of what it is for the exact law: kinetic energy p.p/2m
// at the end of steps over n T/2, virial q.g/2 over n T/2. Parts count by their degrees of freedom n.
struct Averages {
  std::uint64_t steps = 0;
  double kinetic = NAN, virial = NAN;
};

// A run at some step, in double whatever its precision.
struct Snapshot {
  std::map<std::string, Score> scores;  // by split: train, validation, test
  std::span<const double> q, start;
  std::span<const Block> blocks;
  const Reading* reading = nullptr;
  std::function<double(std::span<const double>)> test_loss;  // of any parameters
  const Problem<double>* problem = nullptr;                  // in double only: toys
  // Probabilities of the second class on a square of so many points along each side.
  std::function<Map(std::size_t side)> classifier = nullptr;
  mutable std::vector<double> curvatures = {};  // of its boundary, ascending; made when a measure asks
  Averages averages = {};                       // if a measure is one of them
};

struct Measure {
  std::string_view name;
  double (*of)(const Snapshot&);
  bool costly;  // taken at the tabled steps only
  std::string_view meaning;
  bool averages = false;  // over all steps after the warm-up
};
std::span<const Measure> measures();

}  // namespace kelvin
