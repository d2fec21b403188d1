// SPDX-License-Identifier: Apache-2.0
#include "kelvin/experiment/measure.h"

#include <algorithm>
#include <cmath>

#include "kelvin/analysis/landscape/landscape.h"
#include "kelvin/analysis/predictive/contour.h"
#include "kelvin/chain/affine_map.h"
#include "kelvin/energy/toys.h"
#include "kelvin/numeric/mean.h"

namespace kelvin {
namespace {

double score(const Snapshot& s, const char* split, double Score::*what) {
  const auto at = s.scores.find(split);
  return at == s.scores.end() ? NAN : at->second.*what;
}

bool is_weight(const Block& b) { return b.is_matrix() && b.fan_in > 0 && !b.slack(); }

// Share of weights w with |w| < 0.01.
double near_zero(const Snapshot& s) {
  std::size_t near = 0, all = 0;
  for (const Block& b : s.blocks)
    if (is_weight(b))
      for (const double w : s.q.subspan(b.offset, b.size())) {
        near += std::abs(w) < 0.01;
        ++all;
      }
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
    for (std::size_t i = b.offset; !b.slack() && i < b.offset + b.size(); ++i) {
      moved += std::pow(s.q[i] - s.start[i], 2);
      from += s.start[i] * s.start[i];
    }
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

// The map of one step. Refuses a U whose gradient is not linear: g(2a) - g(a) = g(a) - g(0).
AffineMap step_map(const Snapshot& s) {
  if (!s.problem || s.problem->train) throw Error("this measure is one of toys with a quadratic U, in double");
  Energy<double> energy = *s.problem->energy;
  std::vector<double> q(s.q.size(), 0), g0(q), g1(q), g2(q);
  energy(q, {}, g0);
  for (std::size_t i = 0; i < q.size(); ++i) q[i] = 1 + 0.1 * double(i);
  energy(q, {}, g1);
  for (double& x : q) x *= 2;
  energy(q, {}, g2);
  for (std::size_t i = 0; i < q.size(); ++i)
    if (!(std::abs(g2[i] - 2 * g1[i] + g0[i]) <= 1e-9 * (std::abs(g0[i]) + std::abs(g1[i]))))
      throw Error("toy \"{}\" has no quadratic U, so a step is no linear map", s.problem->settings.model.toy.name);
  return affine_map(*s.problem->energy, s.problem->recipe);
}

double growth(const Snapshot& s) { return spectral_radius(step_map(s).map); }

// Largest relative error of a coordinate's variance; nan where nothing settles.
double variance_error(const Snapshot& s) {
  const AffineMap map = step_map(s);
  if (!(spectral_radius(map.map) < 1 - 1e-9)) return NAN;
  const Matrix covariance = stationary_covariance(map);
  const double T = s.problem->recipe.parts.front().temperature.at(0);
  const std::vector<double> exact = exact_moments(s.problem->settings.model.toy, T).variance;
  double worst = 0;
  std::size_t k = 0;  // moments stand in the toy's own order of blocks
  for (const Block& b : s.problem->energy->blocks())
    for (std::size_t i = b.offset; i < b.offset + b.size(); ++i, ++k)
      worst = std::max(worst, std::abs(covariance(i, i) / exact[k] - 1));
  return worst;
}

// At all points where the boundary crosses a grid of 1000 x 1000, as the points come: where two nearly coincide they
// make mean, deviation and maximum large, but not the quantiles.
const std::vector<double>& curvatures(const Snapshot& s) {
  if (!s.curvatures.empty()) return s.curvatures;
  const Map map = s.classifier(1000);
  for (const Piece& piece : contours(map, 0.5))
    for (const double k : curvature(piece)) s.curvatures.push_back(k);
  std::erase_if(s.curvatures, [](double k) { return !std::isfinite(k); });
  std::sort(s.curvatures.begin(), s.curvatures.end());
  if (s.curvatures.empty()) s.curvatures = {NAN};
  return s.curvatures;
}

double curvature_quantile(const Snapshot& s, double share) {
  const auto& all = curvatures(s);
  return all[std::min(all.size() - 1, std::size_t(share * double(all.size())))];
}

double curvature_deviation(const Snapshot& s) {
  const auto& all = curvatures(s);
  return mean_of(all).error * std::sqrt(double(all.size()));
}

const Measure all_measures[] = {
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
    {"test.perplexity", [](const Snapshot& s) { return score(s, "test", &Score::perplexity); }, false,
     "exp of the mean loss of the test rows, where each step of a sequence has a class"},
    {"near_zero", near_zero, false, "share of weights, biases aside, below 0.01 in absolute value"},
    {"largest_weight", largest_weight, false, "largest absolute value of a weight"},
    {"distance", distance, false, "distance from the start over the start's length"},
    {"growth", growth, true, "of a toy with a quadratic U: largest factor by which one step can grow what grows on"},
    {"variance_error", variance_error, true, "of such a toy: largest relative error of a variance, without sampling"},
    {"curvature.mean", [](const Snapshot& s) { return mean_of(curvatures(s)).value; }, true,
     "curvature of the boundary between two classes, mean over the points where it crosses a grid of 1000 x 1000"},
    {"curvature.sd", curvature_deviation, true, "its standard deviation over them"},
    {"curvature.most", [](const Snapshot& s) { return curvatures(s).back(); }, true, "the largest of them"},
    {"curvature.median", [](const Snapshot& s) { return curvature_quantile(s, 0.5); }, true, "the middle one of them"},
    {"curvature.p99", [](const Snapshot& s) { return curvature_quantile(s, 0.99); }, true,
     "exceeded by one in a hundred of them"},
    {"barrier", barrier, true, "largest rise of the test loss along the straight line from the start, 50 intervals"},
    {"kinetic_error", [](const Snapshot& s) { return s.averages.kinetic - 1; }, false,
     "relative error of the kinetic energy at the ends of steps, averaged over all steps after the warm-up", true},
    {"virial_error", [](const Snapshot& s) { return s.averages.virial - 1; }, false,
     "relative error of the virial q.g/2, averaged over all steps after the warm-up", true},
};

}  // namespace

std::span<const Measure> measures() { return all_measures; }

}  // namespace kelvin
