// SPDX-License-Identifier: Apache-2.0
#include "kelvin/experiment/measure.h"

#include <algorithm>
#include <cmath>

#include "kelvin/analysis/landscape.h"

namespace kelvin {
namespace {

double score(const Snapshot& s, const char* split, double Score::*what) {
  const auto at = s.scores.find(split);
  return at == s.scores.end() ? NAN : at->second.*what;
}

bool is_weight(const Block& b) { return !b.vector && b.fan_in > 0 && !b.slack; }

// Share of weights w with |w| < 0.01.
double near_zero(const Snapshot& s) {
  std::size_t near = 0, all = 0;
  for (const Block& b : s.blocks)
    if (is_weight(b))
      for (const double w : s.q.subspan(b.offset, b.size())) near += std::abs(w) < 0.01, ++all;
  return all ? double(near) / double(all) : NAN;
}

double largest_weight(const Snapshot& s) {
  double most = 0;
  for (const Block& b : s.blocks)
    if (is_weight(b))
      for (const double w : s.q.subspan(b.offset, b.size())) most = std::max(most, std::abs(w));
  return most;
}

// |q - q0| / |q0|
double distance(const Snapshot& s) {
  double moved = 0, from = 0;
  for (const Block& b : s.blocks)
    for (std::size_t i = b.offset; !b.slack && i < b.offset + b.size(); ++i)
      moved += std::pow(s.q[i] - s.start[i], 2), from += s.start[i] * s.start[i];
  return std::sqrt(moved / from);
}

// Largest rise of the test loss along the straight line from the start.
double barrier(const Snapshot& s) {
  std::vector<double> at(s.q.size()), losses;
  constexpr int intervals = 50;
  for (int k = 0; k <= intervals; ++k) {
    const double a = double(k) / intervals;
    for (std::size_t i = 0; i < at.size(); ++i) at[i] = (1 - a) * s.start[i] + a * s.q[i];
    losses.push_back(s.test_loss(at));
  }
  return shape_of(losses, 0, NAN).increase;
}

const Measure table[] = {
    {"train.loss", [](const Snapshot& s) { return score(s, "train", &Score::loss); }, false,
     "mean loss of the training rows"},
    {"train.accuracy", [](const Snapshot& s) { return score(s, "train", &Score::accuracy); }, false,
     "share of right classes"},
    {"train.rmse", [](const Snapshot& s) { return score(s, "train", &Score::rmse); }, false, "in units of the targets"},
    {"validation.loss", [](const Snapshot& s) { return score(s, "validation", &Score::loss); }, false,
     "mean loss of the validation rows"},
    {"validation.accuracy", [](const Snapshot& s) { return score(s, "validation", &Score::accuracy); }, false,
     "share of right classes"},
    {"test.loss", [](const Snapshot& s) { return score(s, "test", &Score::loss); }, false,
     "mean loss of the test rows"},
    {"test.accuracy", [](const Snapshot& s) { return score(s, "test", &Score::accuracy); }, false,
     "share of right classes"},
    {"test.rmse", [](const Snapshot& s) { return score(s, "test", &Score::rmse); }, false, "in units of the targets"},
    {"near_zero", near_zero, false, "share of weights, biases aside, below 0.01 in absolute value"},
    {"largest_weight", largest_weight, false, "largest absolute value of a weight"},
    {"distance", distance, false, "distance from the start over the start's length"},
    {"barrier", barrier, true, "largest rise of the test loss along the straight line from the start, 50 intervals"},
};

}  // namespace

std::span<const Measure> measures() { return table; }

}  // namespace kelvin
