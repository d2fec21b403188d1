// SPDX-License-Identifier: Apache-2.0
// A potential that is the mean loss of a network on a dataset, and can also predict.
#pragma once
#include <limits>
#include <string>
#include <vector>

#include "kelvin/core/choice.h"
#include "kelvin/core/error.h"
#include "kelvin/data/dataset.h"
#include "kelvin/energy/potential.h"

namespace kelvin {

// What a user wants to see, in the original units of the targets.
struct Score {
  double loss = std::numeric_limits<double>::quiet_NaN();      // mean loss without prior
  double accuracy = std::numeric_limits<double>::quiet_NaN();  // share of right classes; nan for numeric targets
  double rmse = std::numeric_limits<double>::quiet_NaN();      // nan for classes
};

template <class Real>
struct Network : Potential<Real> {
  virtual std::size_t outputs() const = 0;
  // Activated outputs, rows x outputs(), in stored units (undo with Dataset::target_units).
  virtual void predict(std::span<const Real> q, Batch rows, std::span<Real> out) = 0;
  virtual Score score(std::span<const Real> q, Batch rows) = 0;
};

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
