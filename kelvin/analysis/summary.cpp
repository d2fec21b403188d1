// SPDX-License-Identifier: Apache-2.0
#include "kelvin/analysis/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kelvin {
namespace {

constexpr std::size_t fewest_draws = 100;

// Standard error of the mean of f(x): the spread of batch means, batches within each walker.
template <class F>
double batch_error(const std::vector<std::vector<double>>& walkers, double mean, F&& f) {
  double square = 0;
  std::size_t batches = 0, total = 0;
  for (const auto& x : walkers) {
    total += x.size();
    const std::size_t count = std::min(x.size(), std::size_t(2 * std::cbrt(double(x.size()))));
    if (count == 0) continue;
    const std::size_t each = x.size() / count;
    for (std::size_t b = 0; b < count; ++b, ++batches) {
      double batch = 0;
      for (std::size_t i = b * each; i < (b + 1) * each; ++i) batch += f(x[i]) / double(each);
      square += (batch - mean) * (batch - mean);
    }
  }
  if (total < fewest_draws || batches < 2) return NAN;
  return std::sqrt(square / double(batches - 1) / double(batches));
}

double quantile(const std::vector<double>& sorted, double share) {
  const double at = share * double(sorted.size() - 1);
  const std::size_t i = std::min(std::size_t(at), sorted.size() - 1), j = std::min(i + 1, sorted.size() - 1);
  return sorted[i] + (at - double(i)) * (sorted[j] - sorted[i]);
}

Table::Row cells(const std::string& name, const QuantitySummary& s) {
  const auto number = [](double x) -> nlohmann::json { return std::isnan(x) ? nlohmann::json() : nlohmann::json(x); };
  return {{"quantity", name},          {"mean", number(s.mean)},          {"error", number(s.mean_error)},
          {"sd", number(s.deviation)}, {"mean_square", number(s.square)}, {"its_error", number(s.square_error)},
          {"5%", number(s.low)},       {"50%", number(s.median)},         {"95%", number(s.high)}};
}

// Column `k` of draws x width numbers.
std::vector<std::vector<double>> column(const std::vector<std::vector<double>>& walkers, std::size_t width,
                                        std::size_t k) {
  std::vector<std::vector<double>> out;
  for (const auto& x : walkers) {
    auto& mine = out.emplace_back();
    for (std::size_t i = k; i < x.size(); i += width) mine.push_back(x[i]);
  }
  return out;
}

}  // namespace

QuantitySummary summarise(const std::vector<std::vector<double>>& walkers) {
  std::vector<double> all;
  for (const auto& x : walkers) all.insert(all.end(), x.begin(), x.end());
  if (all.empty() || std::any_of(all.begin(), all.end(), [](double x) { return std::isnan(x); }))
    return {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
  const double n = double(all.size());
  double mean = 0, square = 0, spread = 0;
  for (const double x : all) mean += x / n, square += x * x / n;
  for (const double x : all) spread += (x - mean) * (x - mean);
  QuantitySummary s;
  s.mean = mean, s.square = square;
  s.deviation = n > 1 ? std::sqrt(spread / (n - 1)) : NAN;
  s.mean_error = batch_error(walkers, mean, [](double x) { return x; });
  s.square_error = batch_error(walkers, square, [](double x) { return x * x; });
  std::sort(all.begin(), all.end());
  s.low = quantile(all, 0.05), s.median = quantile(all, 0.5), s.high = quantile(all, 0.95);
  return s;
}

Table summary(const Samples& samples, bool every_parameter) {
  Table table;
  const auto read = [&](auto&& one) {
    std::vector<std::vector<double>> walkers;
    for (std::size_t w = 0; w < samples.walkers; ++w) walkers.push_back(one(w));
    return walkers;
  };
  for (const char* name : {"potential", "energy"})
    table.row(cells(name, summarise(read([&](std::size_t w) { return samples.statistic(name, w); }))));
  for (const char* name : {"kinetic_energy", "kinetic_temperature", "virial", "configurational_temperature"}) {
    const auto numbers = read([&](std::size_t w) { return samples.statistic(name, w); });
    for (std::size_t k = 0; k < samples.parts.size(); ++k)
      table.row(
          cells(fmt::format("{} of {}", name, samples.parts[k]), summarise(column(numbers, samples.parts.size(), k))));
  }
  if (samples.manifest.arrays.contains("sample_stats/xi")) {
    const auto numbers = read([&](std::size_t w) { return samples.statistic("xi", w); });
    for (std::size_t k = 0; k < samples.parts.size(); ++k)
      if (const auto s = summarise(column(numbers, samples.parts.size(), k)); !std::isnan(s.mean))
        table.row(cells(fmt::format("xi of {}", samples.parts[k]), s));
  }
  for (const std::string& block : samples.blocks) {
    const auto numbers = read([&](std::size_t w) { return samples.block(block, w); });
    const std::size_t width = samples.draws ? numbers.front().size() / samples.draws : 0;
    if (every_parameter)
      for (std::size_t k = 0; k < width; ++k)
        table.row(cells(fmt::format("{}[{}]", block, k), summarise(column(numbers, width, k))));
    else table.row(cells(fmt::format("{} ({} numbers)", block, width), summarise(numbers)));
  }
  return table;
}

}  // namespace kelvin
