// SPDX-License-Identifier: Apache-2.0
// Runs side by side: the same measures with their errors, what their settings differ in, and their learning curves. To
// add a measure, add it in `measured` of compare.cpp.
#pragma once
#include <functional>

#include "kelvin/analysis/finding.h"
#include "kelvin/trajectory/samples.h"

namespace kelvin {

struct CompareOptions {
  std::size_t most = 200;  // draws of a run that are scored, evenly spaced
  std::function<void(std::size_t run, double share)> progress = [](std::size_t, double) {};
};

struct Measure {
  std::string name;
  double value, error;  // standard error; nan if unknown
};

// Over several runs that estimate the same: their mean, and its standard error from their scatter.
std::vector<Measure> average(const std::vector<std::vector<Measure>>&);
// b - a for measures that both have.
std::vector<Measure> difference(const std::vector<Measure>& a, const std::vector<Measure>& b);

Finding compare(const std::vector<Samples>&, const CompareOptions&);

}  // namespace kelvin
