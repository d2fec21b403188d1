// SPDX-License-Identifier: Apache-2.0
#include "kelvin/report/standard.h"

#include <numeric>

namespace kelvin {

namespace {

bool has_draws(const Samples& samples) { return samples.draws > 1; }

// The energy of every draw.
Finding traces(const Samples& samples, const Remark&) {
  Finding finding{"traces", "Where the walkers went", {}, {}, {}};
  Figure energy{"potential", "Potential", "draw", "potential U", {}, {}, "", false, false, false};
  for (std::size_t w = 0; w < samples.walkers; ++w) {
    std::vector<double> draws(samples.draws);
    std::iota(draws.begin(), draws.end(), 0.0);
    energy.curves.push_back(
        {fmt::format("walker {}", w), std::move(draws), samples.statistic("potential", w), {}, {}, "line"});
  }
  energy.caption = "Walkers that have forgotten their start look alike and show no trend.";
  finding.figures.push_back(std::move(energy));
  return finding;
}

const StandardFinding rows[] = {
    {"traces", has_draws, traces, false},
};

}  // namespace

std::span<const StandardFinding> standard_findings() { return rows; }

}  // namespace kelvin
