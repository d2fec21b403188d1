// SPDX-License-Identifier: Apache-2.0
// What is stored with every draw besides its blocks. To add a number, add a row in draw_statistics.cpp.
#pragma once
#include <functional>
#include <span>

#include "kelvin/chain/chain.h"
#include "kelvin/run/settings.h"

namespace kelvin {

using Clock = std::function<double()>;  // seconds that the run has taken

// A number per draw, or one per part.
struct DrawStatistic {
  const char *name, *type;
  bool per_part;
  double (*value)(const Reading&, std::size_t part, double rows, const Clock&);
  bool (*kept)(const Recipe&) = [](const Recipe&) { return true; };
  bool (*asked_for)(const RunSettings&) = [](const RunSettings&) { return true; };  // besides
};
std::span<const DrawStatistic> draw_statistics();

}  // namespace kelvin
