// SPDX-License-Identifier: Apache-2.0
// The [model] settings.
#pragma once
#include <string>
#include <vector>

#include "kelvin/core/choice.h"

namespace kelvin {

struct ModelSettings {
  std::vector<long> layers;
  std::vector<std::string> activation = {"relu"};
  std::string output = "linear";
  std::string loss = "mean_squared";
  double scale = 0;
  Choice toy;
  Choice prior = Choice("flat");
  std::vector<std::string> freeze;
  template <class Visit>
  void fields(Visit&& field) {
    field("layers", layers, "sizes from input to output, for example [2, 100, 1]");
    field("activation", activation, "of the hidden layers: one name for all, or one for each");
    field("output", output, "activation of the output layer");
    field("loss", loss, "see `kelvin list losses`");
    field("scale", scale, "standard deviation of the gaussian loss, in units of the targets; 0 learns it");
    field("toy", toy, "instead of a network: a potential with known answers, see `kelvin list toys`");
    field("prior", prior, "of every part that names no other, see `kelvin list priors`");
    field("freeze", freeze, "blocks or entries that stay put: \"*.bias\", \"layer1.weight[0,2]\", \"layer2.bias=0.5\"");
  }
};

}  // namespace kelvin
