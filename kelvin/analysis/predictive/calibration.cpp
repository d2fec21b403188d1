// SPDX-License-Identifier: Apache-2.0
#include "kelvin/analysis/predictive/calibration.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace kelvin {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t usual_bins = 15;

std::vector<std::size_t> ascending(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t(0));
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  return order;
}

// Sums of a bin become means.
std::vector<Bin> averaged(const std::vector<Bin>& sums) {
  std::vector<Bin> bins;
  for (const Bin& b : sums)
    if (b.rows > 0) bins.push_back({b.confidence / double(b.rows), b.accuracy / double(b.rows), b.rows});
  return bins;
}

void add(Bin& bin, double confidence, bool right) {
  bin.confidence += confidence;
  bin.accuracy += right;
  ++bin.rows;
}

}  // namespace

MeanOf root_mean_of(std::span<const double> squares) {
  const auto [value, error] = mean_of(squares);
  const double root = std::sqrt(value);
  return {root, root > 0 ? error / (2 * root) : error};
}

MeanOf share_of(std::span<const char> yes) {
  const double n = double(yes.size()), p = double(std::count_if(yes.begin(), yes.end(), [](char c) { return c; })) / n;
  return {p, std::sqrt(p * (1 - p) / n)};
}

std::vector<Bin> equal_width_bins(std::span<const double> confidence, std::span<const char> right, std::size_t bins) {
  std::vector<Bin> sums(bins, Bin{0, 0, 0});
  for (std::size_t i = 0; i < confidence.size(); ++i)
    add(sums[std::min(bins - 1, std::size_t(confidence[i] * double(bins)))], confidence[i], right[i]);
  return averaged(sums);
}

std::vector<Bin> equal_mass_bins(std::span<const double> confidence, std::span<const char> right, std::size_t bins) {
  const auto order = ascending(confidence);
  const std::size_t n = order.size();
  std::vector<Bin> sums(1, Bin{0, 0, 0});
  for (std::size_t i = 0; i < n; ++i) {
    const bool full = i * bins >= n * sums.size(), new_value = i > 0 && confidence[order[i]] > confidence[order[i - 1]];
    if (full && new_value) {
      while (i * bins >= n * sums.size()) sums.push_back({0, 0, 0});
    }
    add(sums.back(), confidence[order[i]], right[order[i]]);
  }
  return averaged(sums);
}

double calibration_error(std::span<const Bin> bins) {
  double sum = 0, rows = 0;
  for (const Bin& b : bins) {
    sum += double(b.rows) * std::abs(b.accuracy - b.confidence);
    rows += double(b.rows);
  }
  return sum / rows;
}

// The place of a score among the others is the share of them below it, ties counting half. DeLong et al. 1988: the
// variance is that of the places of either side over its number of rows.
MeanOf auroc(std::span<const double> inside, std::span<const double> outside) {
  const auto places = [](std::span<const double> of, std::span<const double> among) {
    std::vector<double> sorted(among.begin(), among.end()), out;
    std::sort(sorted.begin(), sorted.end());
    for (const double x : of) {
      const auto [first, last] = std::equal_range(sorted.begin(), sorted.end(), x);
      out.push_back((double(first - sorted.begin()) + double(last - first) / 2) / double(sorted.size()));
    }
    return mean_of(out);
  };
  const MeanOf out = places(outside, inside), in = places(inside, outside);
  return {out.value, std::hypot(out.error, in.error)};
}

ClassScores score_classes(const Classified& c) {
  const std::size_t rows = c.labels.size();
  ClassScores out;
  std::vector<double> surprise(rows), brier(rows);
  for (std::size_t i = 0; i < rows; ++i) {
    const auto p = c.probabilities.subspan(i * c.classes, c.classes);
    const auto label = std::size_t(c.labels[i]);
    const auto top = std::max_element(p.begin(), p.end());
    out.confidence.push_back(*top);
    out.right.push_back(std::size_t(top - p.begin()) == label);
    surprise[i] = -std::log(p[label]);
    for (std::size_t k = 0; k < c.classes; ++k) brier[i] += (p[k] - double(k == label)) * (p[k] - double(k == label));
  }
  const auto add = [&](std::string_view name, MeanOf m, std::string_view meaning) {
    out.metrics.push_back({name, m.value, m.error, meaning});
  };
  add("accuracy", share_of(out.right), "share of rows whose most probable class is right");
  if (!c.votes) add("nll", mean_of(surprise), "minus log probability of the right class, mean over rows");
  add("brier", mean_of(brier), "squared distance of the probabilities from the right class, mean over rows");
  add("ece", {calibration_error(equal_width_bins(out.confidence, out.right, usual_bins)), nan},
      "|accuracy - confidence|, 15 bins of equal width");
  add("adaptive_ece", {calibration_error(equal_mass_bins(out.confidence, out.right, usual_bins)), nan},
      "the same, 15 bins with equally many rows");
  return out;
}

std::vector<Metric> score_numbers(const Regressed& r) {
  std::vector<Metric> metrics;
  const auto add = [&](std::string_view name, MeanOf m, std::string_view meaning) {
    metrics.push_back({name, m.value, m.error, meaning});
  };
  add("rmse", root_mean_of(r.square), "root mean square of target - predictive mean");
  if (r.surprise.empty()) {
    add("crps", mean_of(r.ranked), "continuous ranked probability score of the draws, without noise");
    return metrics;
  }
  add("nll", mean_of(r.surprise), "minus log density of the row's targets, mean over rows");
  add("crps", mean_of(r.ranked), "continuous ranked probability score of the mixture, mean over rows and targets");
  struct Interval {
    std::string_view name;
    double level;
  };
  constexpr Interval intervals[] = {
      {"coverage_50", 0.5}, {"coverage_80", 0.8}, {"coverage_90", 0.9}, {"coverage_95", 0.95}};
  for (const auto& [name, level] : intervals)
    add(name, coverage(r.below, level), "share of targets inside the central interval of that many per cent");
  return metrics;
}

MeanOf coverage(std::span<const double> below, double level) {
  std::vector<char> inside;
  for (const double u : below) inside.push_back(std::abs(u - 0.5) <= level / 2);
  return share_of(inside);
}

}  // namespace kelvin
