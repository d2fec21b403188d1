// SPDX-License-Identifier: Apache-2.0
#include "kelvin/analysis/predictive/encode.h"

#include "kelvin/energy/likelihood.h"

namespace kelvin {
namespace {

// The network cut off behind a hidden layer, whose activation is that of its output.
ModelSettings cut_behind(std::size_t layer, ModelSettings model) {
  std::vector<long> sizes = model.layers.sizes();
  const std::size_t hidden = sizes.size() - 2;
  if (layer < 1 || layer > hidden)
    throw Error("layer {} is asked for, but the network has {} hidden layer{}, counted from 1", layer, hidden,
                hidden == 1 ? "" : "s");
  const std::vector<std::string> names = model.activation;
  model.output = names.size() > 1 ? names[layer - 1] : names.front();
  sizes.resize(layer + 1);
  model.layers = sizes;
  if (names.size() > 1) model.activation.assign(names.begin(), names.begin() + long(layer - 1));
  if (model.activation.empty()) model.activation = {"relu"};  // of no layer
  return model;
}

}  // namespace

template <class Real>
std::vector<Real> encoded(const Problem<Real>& problem, std::span<const Real> q, std::size_t layer,
                          const Dataset& data) {
  constexpr std::size_t piece = 1000;  // rows held twice
  PlacedFunction<Real> network(make_function<Real>(cut_behind(layer, problem.settings.model), data.input_shape()),
                               problem.recipe.blocks);
  const std::size_t units = network.outputs();
  std::vector<Real> out(data.rows * units);
  for (std::size_t first = 0; first < data.rows; first += piece) {
    const std::size_t count = std::min(piece, data.rows - first);
    const Inputs<Real> inputs(data.inputs, first, count, data.input_count());
    network.predict(q, inputs, std::span(out).subspan(first * units, count * units));
  }
  return out;
}

template std::vector<float> encoded(const Problem<float>&, std::span<const float>, std::size_t, const Dataset&);
template std::vector<double> encoded(const Problem<double>&, std::span<const double>, std::size_t, const Dataset&);

}  // namespace kelvin
