// SPDX-License-Identifier: Apache-2.0
// The [model] settings.
#pragma once
#include <string>
#include <vector>

#include "kelvin/core/choice.h"
#include "kelvin/core/value.h"

namespace kelvin {

// What model.layers says: sizes of a fully connected network, [2, 100, 1], or layers by name, ["dense 100", "relu",
// "dense 1"], whose inputs are those of the data.
class LayerList {
 public:
  LayerList() = default;
  LayerList(std::initializer_list<long> sizes) : LayerList(std::vector<long>(sizes)) {}
  LayerList(const std::vector<long>& sizes) : items_(sizes.begin(), sizes.end()) {}
  explicit LayerList(Value::List items) : items_(std::move(items)) {}
  bool empty() const { return items_.empty(); }
  bool are_sizes() const;           // nothing but numbers
  std::vector<long> sizes() const;  // where they are; else an Error says what needs them
  const Value::List& items() const { return items_; }

 private:
  Value::List items_;
};
void assign(LayerList&, const Value&, const std::string& key);
Value as_value(const LayerList&);

struct ModelSettings {
  LayerList layers;
  std::vector<std::string> activation = {"relu"};
  std::string output = "linear";
  std::string loss = "mean_squared";
  double scale = 0, freedom = 0, dispersion = 0;
  std::string onnx;
  Choice toy;
  std::string own;
  Choice prior = Choice("flat");
  std::vector<std::string> freeze;
  template <class Visit>
  void fields(Visit&& field) {
    field("layers", layers,
          "sizes from input to output, for example [2, 100, 1], or layers by name, for example [\"dense 100\", "
          "\"relu\", \"dense 1\"]: see `kelvin list layers`");
    field("activation", activation, "of the hidden layers given by sizes: one name for all, or one for each");
    field("output", output, "activation of the output layer");
    field("loss", loss, "see `kelvin list losses`");
    field("scale", scale,
          "scale of the noise of losses gaussian (its standard deviation) and student_t, in units of the targets; 0 "
          "learns it");
    field("freedom", freedom, "degrees of freedom of Student's t, above 2; 0 learns them");
    field("dispersion", dispersion,
          "of loss negative_binomial, whose variance is mean + dispersion mean^2; 0 learns it");
    field("onnx", onnx,
          "instead of layers: a network in ONNX, whose layers these become, and whose weights it starts from unless a "
          "part has a start of its own");
    field("toy", toy, "instead of a network: a potential with known answers, see `kelvin list toys`");
    field("own", own, "instead of both: name of a model that a program gives to its run, see docs/library.md");
    field("prior", prior, "of every part that names no other, see `kelvin list priors`");
    field("freeze", freeze, "blocks or entries that stay put: \"*.bias\", \"layer1.weight[0,2]\", \"layer2.bias=0.5\"");
  }
};

}  // namespace kelvin
