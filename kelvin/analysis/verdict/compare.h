// SPDX-License-Identifier: Apache-2.0
// Runs side by side: the same numbers with their errors, what their settings differ in, and their learning curves. To
// add one, add it in `numbers_of` of compare.cpp.
#pragma once
#include <string>
#include <vector>

namespace kelvin {

struct ComparedNumber {
  std::string name;
  double value, error;  // standard error; nan if unknown
};

// Over several runs that estimate the same: their mean, and its standard error from their scatter.
std::vector<ComparedNumber> average(const std::vector<std::vector<ComparedNumber>>&);
// b - a for measures that both have.
std::vector<ComparedNumber> difference(const std::vector<ComparedNumber>& a, const std::vector<ComparedNumber>& b);

}  // namespace kelvin
