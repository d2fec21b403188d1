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

struct Measured {
  std::string name;
  double value, error;  // standard error; nan if unknown
};

// Over several runs that estimate the same: their mean, and its standard error from their scatter.
std::vector<Measured> average(const std::vector<std::vector<Measured>>&);
// b - a for measures that both have.
std::vector<Measured> difference(const std::vector<Measured>& a, const std::vector<Measured>& b);

Finding compare(const std::vector<Samples>&, const CompareOptions&);

}  // namespace kelvin
