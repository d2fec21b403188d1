// SPDX-License-Identifier: Apache-2.0
// Layers: what a network is made of, each a row with its numbers. To add a kind, write layers/NAME.cpp with its row and
// add NAME to the list in layers.cpp. Every activation is a layer without numbers.
#pragma once
#include "kelvin/core/choice.h"
#include "kelvin/function/function.h"

namespace kelvin {

// A layer between the shapes of one row of its inputs and outputs.
struct LayerPlan {
  Choice numbers;  // of its row, complete
  Shape input, output;
  std::vector<Block> blocks = {};  // named within the layer: "weight", "bias"
};

// Rows one after another: inputs and outputs of a forward pass, and the slopes of a backward pass.
template <class Real>
struct LayerPass {
  std::size_t rows;
  const Real* x;
  Real* y;
  Real* dy = nullptr;  // dL/dy; may be used for the layer's own work
  Real* dx = nullptr;  // to be written; null where nothing below is wanted
};

template <class Real>
struct Layer {
  virtual ~Layer() = default;
  virtual void forward(Weights<const Real>, const LayerPass<Real>&, const Pass&) = 0;
  virtual void backward(Weights<const Real>, const LayerPass<Real>&, const Slopes<Real>&) = 0;  // of the last forward
  virtual std::unique_ptr<Layer> clone() const = 0;
};

struct LayerRow {
  std::string_view name;
  std::span<const Parameter> parameters;  // in the order in which a text gives them: "dense 16"
  bool weighted;                          // has weights: counts as a layer of its own where layers are numbered
  // The shapes and blocks that follow from an input; refuses inputs that do not fit.
  LayerPlan (*plan)(const Choice&, const Shape& input);
  std::unique_ptr<Layer<float>> (*make_float)(const LayerPlan&);
  std::unique_ptr<Layer<double>> (*make_double)(const LayerPlan&);
  std::string_view meaning;
};
std::span<const LayerRow* const> layer_rows();
const LayerRow& layer_named(const std::string& name, const std::string& where);

// What stands in model.layers for one layer: "dense 16", "dense 16 bias 0" or { name = "dense", units = 16 }.
Choice layer_chosen(const Value&);

#define KELVIN_LAYER_ROW(NAME, Type, parameters, weighted, plan, meaning)                                     \
  extern const LayerRow NAME##_layer_row;                                                                     \
  const LayerRow NAME##_layer_row = {                                                                         \
      #NAME,                                                                                                  \
      parameters,                                                                                             \
      weighted,                                                                                               \
      plan,                                                                                                   \
      [](const LayerPlan& p) -> std::unique_ptr<Layer<float>> { return std::make_unique<Type<float>>(p); },   \
      [](const LayerPlan& p) -> std::unique_ptr<Layer<double>> { return std::make_unique<Type<double>>(p); }, \
      meaning};

}  // namespace kelvin
