// SPDX-License-Identifier: Apache-2.0
// What the runs of an experiment say together: a table beside the published numbers, its claims judged, its figures.
#pragma once
#include "kelvin/analysis/finding.h"
#include "kelvin/numeric/mean.h"
#include "kelvin/experiment/experiment.h"

namespace kelvin {

// A number over the seeds of a cell, with its standard error (nan where none is known).
struct Statistic {
  std::string_view name;
  MeanOf (*of)(const std::vector<double>&);
  bool linear;  // that of a difference is the difference
};
std::span<const Statistic> statistics();

// "reproduced" beyond two standard errors, "weaker" on the right side of zero, else "not reproduced".
std::string_view verdict(double excess, double error);

Finding conclude(const Experiment&, const std::vector<Outcome>&);

}  // namespace kelvin
