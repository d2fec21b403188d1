// SPDX-License-Identifier: Apache-2.0
#include "kelvin/trajectory/stored_arrays.h"

#include <array>
#include <cstring>

#include "kelvin/trajectory/draw_statistics.h"

namespace kelvin {
namespace {

template <class Real>
void put_numbers(const ZarrType& type, std::span<const Real> from, char* to) {
  constexpr std::string_view own = sizeof(Real) == 4 ? "<f4" : "<f8";
  if (type.name == own) std::memcpy(to, from.data(), from.size_bytes());
  else
    for (const Real x : from) type.put(double(x), to), to += type.width;
}

template <class Real>
void add_predictions(std::vector<StoredArray<Real>>& arrays, const Problem<Real>& problem) {
  const auto walkers = std::size_t(problem.settings.walkers);
  const StoreSettings& store = problem.settings.store;
  if (!store.predictions && !store.log_likelihood) return;
  PlacedLikelihood<Real>& network = problem.test ? *problem.test : *problem.train;
  auto networks = std::make_shared<std::vector<PlacedLikelihood<Real>>>();
  for (std::size_t w = 0; w < walkers; ++w) networks->push_back(network);
  const auto of = [networks](std::size_t walker) -> PlacedLikelihood<Real>& { return (*networks)[walker]; };
  const std::size_t rows = network.rows(), outputs = network.outputs();
  const Dataset& data = predicted_rows(problem);
  if (store.predictions) {
    const ZarrType& type = zarr_type(sizeof(Real) == 4 ? "<f4" : "<f8");
    const Units units = data.has_classes() ? Units() : data.target_units;
    const Loss& loss = loss_named(problem.settings.model.loss);
    auto values = std::make_shared<std::vector<std::vector<Real>>>(walkers, std::vector<Real>(rows * outputs));
    arrays.push_back({"posterior_predictive",
                      "y",
                      {walkers, 0, 1, {rows, outputs}, {"row", "output"}, &type},
                      [=, &type, &loss](const Draw<Real>& draw, char* to) {
                        auto& out = (*values)[draw.walker];
                        of(draw.walker).predict(draw.q, {}, out);
                        std::vector<double> row(outputs);
                        for (std::size_t i = 0; i < out.size(); i += outputs) {
                          for (std::size_t k = 0; k < outputs; ++k) row[k] = double(out[i + k]);
                          to_original(loss, units, row);
                          for (std::size_t k = 0; k < outputs; ++k) type.put(row[k], to + (i + k) * type.width);
                        }
                      }});
  }
  if (store.log_likelihood)
    arrays.push_back({"log_likelihood",
                      "y",
                      {walkers, 0, 1, {rows}, {"row"}, &zarr_type("<f8")},
                      [=, steps = double(network.likelihood().steps())](const Draw<Real>& draw, char* to) {
                        for (std::uint32_t row = 0; row < rows; ++row, to += sizeof(double)) {
                          const double loss = steps * of(draw.walker).score(draw.q, Batch(&row, 1)).loss;
                          std::memcpy(to, std::array{-loss}.data(), sizeof loss);
                        }
                      }});
}

}  // namespace

template <class Real>
const Dataset& predicted_rows(const Problem<Real>& problem) {
  return problem.test ? problem.data.test : problem.data.train;
}

std::vector<std::string> dimensions_of(const Block& block) {
  constexpr const char* names[Shape::most] = {"row", "column", "height", "width", "depth"};  // those of a kernel
  std::vector<std::string> dimensions;
  for (std::size_t k = 0; k < block.shape.rank(); ++k) dimensions.push_back(fmt::format("{}_{}", block.name, names[k]));
  return dimensions;
}

template <class Real>
std::vector<StoredArray<Real>> stored_arrays(const Problem<Real>& problem, const std::string& prefix,
                                             const std::function<double()>& seconds) {
  std::vector<StoredArray<Real>> arrays;
  const auto walkers = std::size_t(problem.settings.walkers);
  const Recipe& recipe = problem.recipe;
  const auto& way = row_named(problem.settings.store.weights, stored_weights(), "way to store weights");
  const std::string_view name = sizeof(Real) == 4 ? way.from_float : way.from_double;
  if (!name.empty())
    for (const Block& block : recipe.blocks) {
      if (block.slack()) continue;
      const ZarrType& type = zarr_type(name);
      arrays.push_back({prefix + "posterior",
                        block.name,
                        {walkers, 0, 1, block.shape.list(), dimensions_of(block), &type},
                        [&type, at = block.offset, size = block.size()](const Draw<Real>& draw, char* to) {
                          put_numbers(type, draw.q.subspan(at, size), to);
                        }});
    }
  for (const DrawStatistic& s : draw_statistics()) {
    if (!s.kept(recipe) || !s.asked_for(problem.settings)) continue;
    ZarrShape shape{walkers, 0, 1, {}, {}, &zarr_type(s.type)};
    if (s.per_part) shape.each.push_back(recipe.told_parts()), shape.dimensions.push_back("part");
    arrays.push_back({prefix + "sample_stats", s.name, shape,
                      [&s, seconds, rows = problem.rows(), type = shape.type, count = shape.size()](
                          const Draw<Real>& draw, char* to) {
                        for (std::size_t k = 0; k < count; ++k)
                          type->put(s.value(draw.reading, k, rows, seconds), to + k * type->width);
                      }});
  }
  if (prefix.empty()) add_predictions(arrays, problem);
  return arrays;
}

#define KELVIN_STORED_ARRAYS(Real)                                                                \
  template std::vector<StoredArray<Real>> stored_arrays(const Problem<Real>&, const std::string&, \
                                                        const std::function<double()>&);          \
  template const Dataset& predicted_rows(const Problem<Real>&);
KELVIN_STORED_ARRAYS(float)
KELVIN_STORED_ARRAYS(double)
#undef KELVIN_STORED_ARRAYS

}  // namespace kelvin
