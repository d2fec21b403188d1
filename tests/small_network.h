// SPDX-License-Identifier: Apache-2.0
// Networks of three inputs on random numbers, for the tests of their values and derivatives.
#pragma once
#include "kelvin/energy/likelihood.h"
#include "tests/finite_difference.h"

namespace kelvin {

inline Dataset regression(std::size_t rows, std::size_t outputs) {
  Dataset d;
  d.rows = rows;
  d.input_names = {"a", "b", "c"};
  for (std::size_t k = 0; k < outputs; ++k) d.target_names.push_back("y" + std::to_string(k));
  d.inputs = some_point(rows * 3, 1, "inputs");
  d.targets = some_point(rows * outputs, 1, "targets");
  return d;
}

inline ModelSettings network(std::vector<long> layers, std::vector<std::string> activation,
                             std::string loss = "mean_squared") {
  ModelSettings s;
  s.layers = std::move(layers);
  s.activation = std::move(activation);
  s.loss = std::move(loss);
  return s;
}

template <class Real = double>
std::unique_ptr<Likelihood<Real>> make(const ModelSettings& settings, const Dataset& data) {
  return make_likelihood<Real>(settings, data, [](std::string_view) {});
}

}  // namespace kelvin
