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
  double least = INFINITY, most = -INFINITY;  // nan stays
  std::vector<double> some;
  void take(double x) {
    if (x < least) least = x;
    if (x > most || std::isnan(x)) most = x;
  }
};

// Every number of every draw; of very many draws evenly spaced pieces and the last, of very wide blocks evenly spaced
// numbers: who runs away stays away, and not alone.
std::vector<Judgement> far_coordinates(const Evidence& e) {
  constexpr std::size_t most_kept = 6400000, fewest_each = 64, most_read = 200000000;
  const Samples& samples = e.samples;
  const std::size_t all = samples.draws * samples.walkers * samples.record.parameters;
  for (const std::string& block : samples.blocks) {
    const std::string array = "posterior/" + block;
    if (!samples.manifest.arrays.contains(array)) continue;
    const ZarrShape stored = read_zarr_metadata(samples.run / "samples.zarr" / array);
    const auto& shape = stored.each;
    const std::size_t piece = stored.chunk, pieces = (samples.draws + piece - 1) / piece, step = 1 + all / most_read;
    const std::size_t width = width_of(samples, array), apart = 1 + width * fewest_each / most_kept;
    const std::size_t judged = (width + apart - 1) / apart, every = 1 + samples.draws * judged / most_kept;
    for (std::size_t w = 0; w < samples.walkers; ++w) {
      std::vector<Column> columns(judged);
      for (std::size_t k = 0; k < pieces; ++k) {
        if (k % step != 0 && k + 1 != pieces) continue;
        const std::size_t first = k * piece;
        const auto numbers = samples.array(array, w, first, std::min(piece, samples.draws - first));
        for (std::size_t i = 0; i < numbers.size(); ++i) {
          if (i % width % apart != 0) continue;
          Column& c = columns[i % width / apart];
          c.take(numbers[i]);
          if ((first + i / width) % every == 0) c.some.push_back(numbers[i]);
        }
      }
      for (std::size_t k = 0; k < judged; ++k) {
        Column& c = columns[k];
        const bool finite = std::isfinite(c.least) && std::isfinite(c.most);
        const Bulk bulk(finite ? std::move(c.some) : std::vector<double>{0});
        const double far = bulk.far(c.least, far_for_coordinates) ? c.least : c.most;
        if (finite && !bulk.far(far, far_for_coordinates)) continue;
        const std::string name = entry_name(block, k * apart, shape);
        if (!finite)
          return {{fault, fmt::format("{} of walker {} is not finite in some draw: the run blew up; halve the step and "
                                      "run again",
                                      name, w)}};
        return {{fault, fmt::format("{} of walker {} reaches {:.3g}, where {:.3g} +- {:.2g} is usual: it left its bulk "
                                    "by orders of magnitude; use a smaller step, or a stronger prior",
                                    name, w, far, bulk.median, bulk.range)}};
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
