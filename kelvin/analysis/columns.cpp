// SPDX-License-Identifier: Apache-2.0
#include "kelvin/analysis/columns.h"

#include <algorithm>
#include <numeric>

#include "kelvin/trajectory/zarr.h"

namespace kelvin {
namespace {

ZarrShape shape_of(const Samples& samples, const std::string& array) {
  return read_zarr_metadata(samples.run / "samples.zarr" / array);
}

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

}  // namespace kelvin
