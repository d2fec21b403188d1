// SPDX-License-Identifier: Apache-2.0
// Scores and calibration of predictions. Rows are taken to be independent: standard errors are those of means over
// rows, nan where there is none.
#pragma once
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "kelvin/numeric/mean.h"

namespace kelvin {

struct Metric {
  std::string_view name;
  double value, error;
  std::string_view meaning;
};

MeanOf root_mean_of(std::span<const double>);  // of squares; the error by the derivative of the root
MeanOf share_of(std::span<const char>);        // sqrt(p (1 - p) / n)

// Rows grouped by confidence, the probability of the class that was predicted.
struct Bin {
  double confidence, accuracy;  // means over its rows
  std::size_t rows;
};
// Equal widths of confidence, those with rows in them; or equal numbers of rows, equal confidences staying together.
std::vector<Bin> equal_width_bins(std::span<const double> confidence, std::span<const char> right, std::size_t bins);
std::vector<Bin> equal_mass_bins(std::span<const double> confidence, std::span<const char> right, std::size_t bins);
double calibration_error(std::span<const Bin>);  // mean over rows of |accuracy - confidence| of their bins

// Probability that a score of `outside` exceeds one of `inside`, ties counting half; DeLong's standard error.
MeanOf auroc(std::span<const double> inside, std::span<const double> outside);

// `probabilities`: rows x classes.
struct Classified {
  std::size_t classes;
  std::span<const double> probabilities, labels;
  bool votes;  // probabilities of a single draw are 0 or 1, so their logarithm means nothing
};
struct ClassScores {
  std::vector<Metric> metrics;
  std::vector<double> confidence;
  std::vector<char> right;
};
ClassScores score_classes(const Classified&);

// Row by row: minus log density (empty: there is no noise law), squared error and ranked score (means over the
// targets), and, target by target, the predictive probability of less than the target.
struct Regressed {
  std::vector<double> surprise, square, ranked, below;
};
std::vector<Metric> score_numbers(const Regressed&);

// The share of targets inside the central interval that ought to hold `level` of them. With several targets a row the
// error takes them for independent.
MeanOf coverage(std::span<const double> below, double level);

}  // namespace kelvin
