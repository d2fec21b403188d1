// SPDX-License-Identifier: Apache-2.0
// Predictions row by row, in a file with named columns. To add a format, write its function and its row in
// predictions_file.cpp; it is chosen by the ending of the file's name.
#pragma once
#include "kelvin/analysis/predictive/predictive.h"

namespace kelvin {

struct PredictionsFormat {
  std::string_view name;  // the ending
  void (*write)(const Predictive&, const std::vector<double>& levels, const std::string& file);
};
std::span<const PredictionsFormat> predictions_formats();
const PredictionsFormat& predictions_format_of(const std::string& file);

// Under another name first, so that a reader never sees half of it.
void write_predictions(const Predictive&, const std::vector<double>& levels, const std::string& file);

}  // namespace kelvin
