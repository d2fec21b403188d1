// SPDX-License-Identifier: Apache-2.0
// The result of `kelvin predict`: scores and calibration, in words, tables and figures.
#pragma once
#include "kelvin/analysis/finding.h"
#include "kelvin/analysis/predictive/predictive.h"

namespace kelvin {

// Predictions of numbers along their only input, in its own units.
struct Band {
  std::vector<double> inputs;
  Predictive along;
};

struct Predicted {
  std::string rows_are;  // "500 test rows"
  std::string noise;     // Scatter::words; empty for classes
  double temperature;    // posterior_temperature
  Predictive rows;
  std::optional<Predictive> outside;  // other rows, unlike those of the training
  std::optional<Band> band;
};

// The rows of a band: a grid over the only input of `train`, a quarter wider than the data on either side.
Dataset band_rows(const Dataset& train, std::size_t points);

// `train`: its rows are shown with the band.
Finding predict_finding(const Predicted&, const Dataset& train);

}  // namespace kelvin
