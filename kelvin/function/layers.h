// SPDX-License-Identifier: Apache-2.0
// Layers: what a network is made of, each a row with its numbers. To add a kind, write layers/NAME.cpp with its row and
// add NAME to the list in layers.cpp. Every activation is a layer without numbers.
#pragma once
#include <optional>

#include "kelvin/core/choice.h"
#include "kelvin/function/function.h"

namespace kelvin {

struct Activation;

// A layer between the shapes of one row of its inputs and outputs. An image is channels x height x width, as PyTorch
// has it, and lies in memory channels last: the channels of a pixel are next to each other. A sequence is steps x
// numbers.
struct LayerPlan {
  Choice numbers;  // of its row, complete
  Shape input, output;
  Value label = {};                                   // that of its list, or its place there: see plan_layers
  std::vector<Block> blocks = {};                     // its own, named within the layer: "weight", "bias"
  std::vector<std::vector<LayerPlan>> branches = {};  // lists of layers that it holds; their blocks follow its own
  std::size_t kept = 0;                               // numbers that it keeps of a row besides its outputs
  double multiply_adds = 0;                           // of a forward pass of one row, those of branches aside
  std::size_t fewest_rows = 1;                        // with fewer at once it is slow
  std::uint16_t place = 0;                            // among all layers, for what is drawn at random
  // Its first block is that of this layer, counted from 0 in the list in which both stand: one block of the network.
  std::optional<std::size_t> shares = {};
  const Activation* activation = nullptr;  // that it is, and nothing else
  bool embeds = false;                     // it is no more than the embedding that its first block holds
  bool needs_outputs = false;              // its backward pass reads what its forward pass wrote
  bool takes_relu = false;   // it can take the positive part of its outputs itself, which saves a pass over them
  bool relu = false;         // and is to do so
  bool monotone = false;     // its outputs are numbers of its inputs, chosen by order: a relu may come before or behind
  bool takes_words = false;  // it can read words and do the embedding before it itself
  std::size_t words = 0;     // and is to do so: its first block is the embedding of so many words
  bool shared = false;       // such a layer has written slopes of its block before it does: it adds its own
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
  virtual void forward(Weights<const Real>, const LayerPass<Real>&, const Pass<Real>&) = 0;
  virtual void backward(Weights<const Real>, const LayerPass<Real>&, const Slopes<Real>&) = 0;  // of the last forward
  virtual std::unique_ptr<Layer> clone() const = 0;
};

// A network in which a layer of this kind stands, for the tests that every row inherits.
struct LayerSample {
  Shape input;
  std::string_view layers;  // as in a run file
  std::size_t words = 0;    // inputs are whole numbers below this; 0: any numbers
};

struct LayerRow {
  std::string_view name;
  std::span<const Parameter> parameters;  // in the order in which a text gives them: "dense 16"
  bool weighted;                          // has weights: counts as a layer of its own where layers are numbered
  // The shapes and blocks that follow from an input; refuses inputs that do not fit.
  LayerPlan (*plan)(const Choice&, const Shape& input);
  // Null for an architecture: the layers of its one branch stand in its place.
  std::unique_ptr<Layer<float>> (*make_float)(const LayerPlan&);
  std::unique_ptr<Layer<double>> (*make_double)(const LayerPlan&);
  std::string_view meaning;
  LayerSample sample;
  bool random = false;        // draws at random in training
  bool couples_rows = false;  // the outputs of a row depend on the other rows in training
  // Of an architecture: the layers that it stands for. How many of them have weights does not depend on the input.
  Value (*layers)(const Choice&, const Shape& input) = nullptr;
  // Its plan beside an earlier layer of its list whose first block it shares, and the kind of that one; `plan` then
  // says that there is none.
  LayerPlan (*plan_sharing)(const Choice&, const Shape& input, const LayerPlan& owner) = nullptr;
  std::string_view shares = {};

  template <class Real>
  auto make(const LayerPlan& plan) const {
    if constexpr (std::is_same_v<Real, float>) return make_float(plan);
    else return make_double(plan);
  }
};
std::span<const LayerRow* const> layer_rows();
const LayerRow& layer_named(const std::string& name, const std::string& where);

// What stands in model.layers for one layer: "dense 16", "dense 16 bias 0", { dense = 16, bias = 0 } or
// { name = "dense", units = 16 }; a label, as in "fc1: dense 16" or { dense = 16, label = "fc1" }, is passed over.
Choice layer_chosen(const Value&);

// The layers of such a list, each planned on the output of the one before. What PyTorch calls a block is the labels of
// the layers that it lies in, and its own name: "layer1.0.conv1.weight". Without a label that is the place in the list,
// from 0, behind `prefix`. A label may be a table: the name of a block, or what it says before its dot -> the name of
// the tensor, or of the module that has it; a list of such names, if the block is those tensors stacked.
std::vector<LayerPlan> plan_layers(const Value& list, const Shape& input, const std::string& prefix = "");
inline const Shape& output_of(const std::vector<LayerPlan>& plans, const Shape& input) {
  return plans.empty() ? input : plans.back().output;
}

// Numbers the layers that have weights, in their order, branches included, and names their blocks: "layer3.weight".
// Returns their number.
std::uint32_t number_layers(std::vector<LayerPlan>&);
std::size_t weighted_in(const Value& list);  // the same number, before anything is planned

std::size_t block_count(const LayerPlan&);                        // with those of its branches, shared ones too
void add_blocks(const LayerPlan&, std::vector<Block>& to);        // likewise, in their order
bool any_layer(const std::vector<LayerPlan>&, bool LayerRow::*);  // whether one of them, or of their branches, is so

// Numbers of a layer, checked; an Error names the layer.
std::size_t whole_number(const Choice&, std::string_view parameter, std::size_t least = 1);
// One number for both directions, or two: 3 or "3x5".
std::array<std::size_t, 2> height_and_width(const Choice&, std::string_view parameter, std::size_t least = 1);

#define KELVIN_LAYER_ROW(NAME, Type, parameters, weighted, plan, meaning, ...)                                \
  extern const LayerRow NAME##_layer_row;                                                                     \
  const LayerRow NAME##_layer_row = {                                                                         \
      #NAME,                                                                                                  \
      parameters,                                                                                             \
      weighted,                                                                                               \
      plan,                                                                                                   \
      [](const LayerPlan& p) -> std::unique_ptr<Layer<float>> { return std::make_unique<Type<float>>(p); },   \
      [](const LayerPlan& p) -> std::unique_ptr<Layer<double>> { return std::make_unique<Type<double>>(p); }, \
      meaning,                                                                                                \
      __VA_ARGS__};

}  // namespace kelvin
