// SPDX-License-Identifier: Apache-2.0
#include "kelvin/analysis/posterior/columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "kelvin/trajectory/zarr.h"

namespace kelvin {
namespace {

ZarrShape shape_of(const Samples& samples, const std::string& array) { return samples.shape(array); }

}  // namespace

std::size_t width_of(const Samples& samples, const std::string& array) { return shape_of(samples, array).size(); }

void each_piece(const Samples& samples, const std::string& array, std::size_t walker,
                const std::function<void(std::size_t, std::span<const double>)>& visit) {
  const std::size_t piece = shape_of(samples, array).chunk;
  for (std::size_t first = 0; first < samples.draws; first += piece)
    visit(first, samples.array(array, walker, first, std::min(piece, samples.draws - first)));
}

std::vector<Chains> columns(const Samples& samples, const std::string& array, std::span<const std::size_t> which) {
  const std::size_t width = width_of(samples, array);
  std::vector<Chains> out(which.size(), Chains(samples.walkers, std::vector<double>(samples.draws)));
  for (std::size_t w = 0; w < samples.walkers; ++w)
    each_piece(samples, array, w, [&](std::size_t first, std::span<const double> numbers) {
      for (std::size_t k = 0; k < which.size(); ++k)
        for (std::size_t i = which[k], draw = first; i < numbers.size(); i += width) out[k][w][draw++] = numbers[i];
    });
  return out;
}

std::vector<Chains> columns(const Samples& samples, const std::string& array) {
  std::vector<std::size_t> all(width_of(samples, array));
  std::iota(all.begin(), all.end(), std::size_t(0));
  return columns(samples, array, all);
}

std::vector<Quantity> stored_predictions(const Samples& samples) {
  constexpr std::size_t most = 10;
  std::vector<Quantity> out;
  if (const std::string array = "posterior_predictive/y"; samples.manifest.arrays.contains(array)) {
    const auto each = shape_of(samples, array).each;
    const std::size_t width = width_of(samples, array), outputs = each.empty() ? 1 : each.back();
    std::vector<std::size_t> which;
    for (std::size_t k = 0; k < std::min(width, most); ++k) which.push_back(k * width / std::min(width, most));
    auto all = columns(samples, array, which);
    for (std::size_t k = 0; k < which.size(); ++k)
      out.push_back({fmt::format("prediction[{},{}]", which[k] / outputs, which[k] % outputs), std::move(all[k])});
  }
  if (const std::string array = "log_likelihood/y"; samples.manifest.arrays.contains(array)) {
    const std::size_t width = width_of(samples, array);
    Chains sums(samples.walkers, std::vector<double>(samples.draws, 0.0));
    for (std::size_t w = 0; w < samples.walkers; ++w)
      each_piece(samples, array, w, [&](std::size_t first, std::span<const double> numbers) {
        for (std::size_t i = 0; i < numbers.size(); ++i) sums[w][first + i / width] += numbers[i];
      });
    out.push_back({"log_likelihood of all rows", std::move(sums)});
  }
  return out;
}

}  // namespace kelvin
