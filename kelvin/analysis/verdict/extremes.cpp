// SPDX-License-Identifier: Apache-2.0
// Draws that are no numbers, or lie so far from the others of their walker that it is on its way to infinity: means
// with errors do not show them, as both grow with them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kelvin/analysis/verdict/diagnose.h"
#include "kelvin/core/entry.h"
#include "kelvin/trajectory/zarr.h"

namespace kelvin {
namespace {

using enum Verdict;

// How far from its median, in interquartile ranges, a number may go. Energies have light tails. Coordinates such as
// those of a funnel may reach some hundreds; what trains falls by orders of magnitude.
constexpr double far_for_energy = 1e3, far_for_coordinates = 1e4, far_in_training = 1e6;

struct Bulk {
  double median, range;
  explicit Bulk(std::vector<double> x) {
    std::sort(x.begin(), x.end());
    median = quantile_of_sorted(x, 0.5);
    range = quantile_of_sorted(x, 0.75) - quantile_of_sorted(x, 0.25);
  }
  bool far(double x, double most) const { return range > 0 && std::abs(x - median) > most * range; }
};

std::vector<Judgement> not_finite(const Evidence& e) {
  std::size_t broken = 0, first = e.samples.draws;
  for (const auto& x : e.potential)
    for (std::size_t i = 0; i < x.size(); ++i)
      if (!std::isfinite(x[i])) {
        ++broken;
        first = std::min(first, i);
      }
  if (broken == 0) return {};
  return {{fault, fmt::format("the potential is not finite in {} draws, first in draw {}: the run blew up; halve the "
                              "step and run again",
                              broken, first)}};
}

std::vector<Judgement> far_energy(const Evidence& e) {
  const double most = e.training ? far_in_training : far_for_energy;
  for (std::size_t w = 0; w < e.potential.size(); ++w) {
    const auto& x = e.potential[w];
    const Bulk bulk(x);
    const auto at = std::max_element(x.begin(), x.end());
    if (bulk.far(*at, most))
      return {
          {fault, fmt::format("the potential of walker {} reaches {:.3g} in draw {}, where {:.3g} is usual: the run "
                              "blew up; halve the step and run again",
                              w, *at, at - x.begin(), bulk.median)}};
  }
  return {};
}

// The smallest and the largest of all draws of a block, number by number, and what is usual, of some of them.
struct Column {
  double least = INFINITY, most = -INFINITY;
  std::vector<double> some;
};

std::vector<Judgement> far_coordinates(const Evidence& e) {
  constexpr std::size_t most_kept = 4000000;
  const Samples& samples = e.samples;
  for (const std::string& block : samples.blocks) {
    const std::string array = "posterior/" + block;
    if (!samples.manifest.arrays.contains(array)) continue;
    const auto shape = read_zarr_metadata(samples.run / "samples.zarr" / array).each;
    const std::size_t width = width_of(samples, array), every = 1 + samples.draws * width / most_kept;
    for (std::size_t w = 0; w < samples.walkers; ++w) {
      std::vector<Column> columns(width);
      each_piece(samples, array, w, [&](std::size_t first, std::span<const double> numbers) {
        for (std::size_t i = 0; i < numbers.size(); ++i) {
          Column& c = columns[i % width];
          c.least = std::min(c.least, numbers[i]);
          c.most = std::max(c.most, numbers[i]);
          if ((first + i / width) % every == 0) c.some.push_back(numbers[i]);
        }
      });
      for (std::size_t k = 0; k < width; ++k) {
        const Bulk bulk(std::move(columns[k].some));
        for (const double x : {columns[k].least, columns[k].most})
          if (!std::isfinite(x) || bulk.far(x, far_for_coordinates))
            return {{fault, fmt::format("{} of walker {} reaches {:.3g}, where {:.3g} +- {:.2g} is usual: it left its "
                                        "bulk by orders of magnitude; use a smaller step, or a stronger prior",
                                        entry_name(block, k, shape), w, x, bulk.median, bulk.range)}};
      }
    }
  }
  return {};
}

}  // namespace

std::vector<Judgement> judge_extremes(const Evidence& e) {
  for (const auto look : {not_finite, far_energy})
    if (auto found = look(e); !found.empty()) return found;
  if (!e.training)
    if (auto found = far_coordinates(e); !found.empty()) return found;
  return {{fine, "every draw is finite, and none is orders of magnitude off the others"}};
}

}  // namespace kelvin
