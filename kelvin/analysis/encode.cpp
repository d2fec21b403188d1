// SPDX-License-Identifier: Apache-2.0
#include "kelvin/analysis/encode.h"

#include "kelvin/function/block.h"
#include "kelvin/energy/mlp.h"

namespace kelvin {
namespace {

// The network cut off behind a hidden layer, whose activation is that of its output.
ModelSettings cut_behind(std::size_t layer, ModelSettings model) {
  const std::size_t hidden = model.layers.size() - 2;
  if (layer < 1 || layer > hidden)
    throw Error("layer {} is asked for, but the network has {} hidden layer{}, counted from 1", layer, hidden,
                hidden == 1 ? "" : "s");
  const std::vector<std::string> names = model.activation;
  model.output = names.size() > 1 ? names[layer - 1] : names.front();
  model.layers.resize(layer + 1);
  if (names.size() > 1) model.activation.assign(names.begin(), names.begin() + long(layer - 1));
  if (model.activation.empty()) model.activation = {"relu"};  // of no layer
  model.loss = "mean_squared", model.scale = 0;
  return model;
}

// Some rows, aimed at nothing.
Dataset some_of(const Dataset& data, std::size_t first, std::size_t count, std::size_t units) {
  Dataset out;
  out.rows = count, out.input_names = data.input_names;
  const auto from = data.inputs.begin() + long(first * data.input_count());
  out.inputs.assign(from, from + long(count * data.input_count()));
  for (std::size_t k = 0; k < units; ++k) out.target_names.push_back("unit" + std::to_string(k + 1));
  out.targets.assign(count * units, 0.0);
  return out;
}

}  // namespace

template <class Real>
std::vector<Real> encoded(const Problem<Real>& problem, std::span<const Real> q, std::size_t layer,
                          const Dataset& data) {
  constexpr std::size_t piece = 1000;  // rows held twice
  const ModelSettings model = cut_behind(layer, problem.settings.model);
  const auto units = std::size_t(model.layers.back());
  std::vector<Real> out(data.rows * units);
  for (std::size_t first = 0; first < data.rows; first += piece) {
    const std::size_t count = std::min(piece, data.rows - first);
    const auto network = make_mlp<Real>(model, some_of(data, first, count, units), [](std::string_view) {});
    std::vector<Block> places = network->blocks();
    std::size_t size = 0;
    for (const Block& b : places) size += b.size();
    std::vector<Real> mine(size);
    for (const Block& b : places)
      std::copy_n(q.begin() + long(block_named(b.name, problem.recipe.blocks).offset), b.size(),
                  mine.begin() + long(b.offset));
    network->predict(mine, {}, std::span(out).subspan(first * units, count * units));
  }
  return out;
}

template std::vector<float> encoded(const Problem<float>&, std::span<const float>, std::size_t, const Dataset&);
template std::vector<double> encoded(const Problem<double>&, std::span<const double>, std::size_t, const Dataset&);

}  // namespace kelvin
