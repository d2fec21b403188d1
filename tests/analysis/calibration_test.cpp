// SPDX-License-Identifier: Apache-2.0
#include "kelvin/analysis/predictive/calibration.h"

#include <gtest/gtest.h>

#include <cmath>

namespace kelvin {
namespace {

const Metric& named(std::string_view name, const std::vector<Metric>& metrics) {
  for (const Metric& m : metrics)
    if (m.name == name) return m;
  throw std::runtime_error("no metric " + std::string(name));
}

TEST(Calibration, BinsOfEqualWidthAreThoseComputedByHand) {
  const std::vector<double> confidence = {0.05, 0.15, 0.55, 0.58, 0.95, 1.0};
  const std::vector<char> right = {0, 1, 1, 0, 1, 1};
  const auto bins = equal_width_bins(confidence, right, 10);
  ASSERT_EQ(bins.size(), 4u) << "bins without rows are left out, 1.0 falls into the last";
  EXPECT_NEAR(bins[2].confidence, 0.565, 1e-12);
  EXPECT_NEAR(bins[2].accuracy, 0.5, 1e-12);
  EXPECT_EQ(bins[3].rows, 2u);
  // (1 |0 - 0.05| + 1 |1 - 0.15| + 2 |0.5 - 0.565| + 2 |1 - 0.975|) / 6
  EXPECT_NEAR(calibration_error(bins), (0.05 + 0.85 + 0.13 + 0.05) / 6, 1e-12);
}

TEST(Calibration, BinsOfEqualMassHoldEquallyManyRowsAndKeepTiesTogether) {
  const std::vector<double> confidence = {0.9, 0.5, 0.6, 0.7, 0.8, 0.4};
  const std::vector<char> right = {1, 0, 1, 0, 1, 1};
  const auto bins = equal_mass_bins(confidence, right, 3);
  ASSERT_EQ(bins.size(), 3u);
  for (const Bin& b : bins) EXPECT_EQ(b.rows, 2u);
  EXPECT_NEAR(bins[0].confidence, 0.45, 1e-12);
  // two rows each: |0.5 - 0.45|, |0.5 - 0.65|, |1 - 0.85|
  EXPECT_NEAR(calibration_error(bins), (0.05 + 0.15 + 0.15) / 3, 1e-12);

  const std::vector<double> tied = {0.9, 0.9, 0.9, 0.9, 0.95, 0.99};
  const auto fewer = equal_mass_bins(tied, right, 3);
  ASSERT_EQ(fewer.size(), 2u) << "four equal confidences fill two bins of two";
  EXPECT_EQ(fewer[0].rows, 4u);
}

TEST(Calibration, AurocWithTiesIsTheCountOverPairs) {
  const std::vector<double> inside = {0.1, 0.2, 0.2, 0.3, 0.5, 0.7, 0.2}, outside = {0.2, 0.3, 0.9, 0.5, 0.5};
  double pairs = 0;
  std::vector<double> place_out(outside.size()), place_in(inside.size());
  for (std::size_t i = 0; i < inside.size(); ++i)
    for (std::size_t j = 0; j < outside.size(); ++j) {
      const double won = outside[j] > inside[i] ? 1 : outside[j] == inside[i] ? 0.5 : 0;
      pairs += won;
      place_out[j] += won / double(inside.size()), place_in[i] += won / double(outside.size());
    }
  const double exact = pairs / double(inside.size() * outside.size());
  const auto variance = [&](const std::vector<double>& x) {
    double sum = 0;
    for (const double v : x) sum += (v - exact) * (v - exact);
    return sum / double(x.size() - 1) / double(x.size());
  };
  const MeanOf got = auroc(inside, outside);
  EXPECT_NEAR(got.value, exact, 1e-14);
  EXPECT_NEAR(got.error, std::sqrt(variance(place_out) + variance(place_in)), 1e-14);
  EXPECT_DOUBLE_EQ(auroc(inside, inside).value, 0.5);
  EXPECT_DOUBLE_EQ(auroc(std::vector<double>{1, 2}, std::vector<double>{3, 4}).value, 1);
  EXPECT_DOUBLE_EQ(auroc(std::vector<double>{3, 4}, std::vector<double>{1, 2}).value, 0);
}

TEST(Calibration, ClassMetricsAreThoseComputedByHand) {
  const std::vector<double> p = {0.7, 0.2, 0.1, 0.3, 0.3, 0.4, 0.1, 0.8, 0.1}, labels = {0, 1, 1};
  const ClassScores got = score_classes({3, p, labels, false});
  EXPECT_EQ(got.right, (std::vector<char>{1, 0, 1}));
  EXPECT_EQ(got.confidence, (std::vector<double>{0.7, 0.4, 0.8}));
  EXPECT_NEAR(named("accuracy", got.metrics).value, 2.0 / 3, 1e-14);
  EXPECT_NEAR(named("accuracy", got.metrics).error, std::sqrt(2.0 / 27), 1e-14);
  const double a = -std::log(0.7), b = -std::log(0.3), c = -std::log(0.8), mean = (a + b + c) / 3;
  EXPECT_NEAR(named("nll", got.metrics).value, mean, 1e-14);
  EXPECT_NEAR(named("nll", got.metrics).error,
              std::sqrt(((a - mean) * (a - mean) + (b - mean) * (b - mean) + (c - mean) * (c - mean)) / 2 / 3), 1e-14);
  // 0.09 + 0.04 + 0.01, 0.09 + 0.49 + 0.16, 0.01 + 0.04 + 0.01
  EXPECT_NEAR(named("brier", got.metrics).value, (0.14 + 0.74 + 0.06) / 3, 1e-14);
  EXPECT_TRUE(std::isnan(named("ece", got.metrics).error));
  // 15 bins of equal width: 0.7 is alone, 0.4 is alone, 0.8 is alone
  EXPECT_NEAR(named("ece", got.metrics).value, (0.3 + 0.4 + 0.2) / 3, 1e-14);
}

TEST(Calibration, VotesHaveNoLogarithm) {
  const std::vector<double> p = {1, 0, 0, 1}, labels = {0, 0};
  for (const Metric& m : score_classes({2, p, labels, true}).metrics) EXPECT_NE(m.name, "nll");
}

TEST(Calibration, NumberMetricsAreThoseComputedByHand) {
  const Regressed r = {{1, 2, 6}, {1, 4, 4}, {0.5, 0.5, 2}, {0.5, 0.26, 0.98}};
  const auto got = score_numbers(r);
  EXPECT_NEAR(named("rmse", got).value, std::sqrt(3.0), 1e-14);
  EXPECT_NEAR(named("rmse", got).error, 1 / (2 * std::sqrt(3.0)), 1e-14) << "squares 1, 4, 4: mean 3 +- 1";
  EXPECT_NEAR(named("nll", got).value, 3, 1e-14);
  EXPECT_NEAR(named("crps", got).value, 1, 1e-14);
  EXPECT_NEAR(named("coverage_50", got).value, 2.0 / 3, 1e-14) << "between 0.25 and 0.75";
  EXPECT_NEAR(named("coverage_95", got).value, 2.0 / 3, 1e-14) << "0.98 lies beyond 0.975";
  EXPECT_NEAR(named("coverage_80", got).error, std::sqrt(2.0 / 27), 1e-14);
  const auto without_noise = score_numbers({{}, {1}, {1}, {}});
  EXPECT_EQ(without_noise.size(), 2u) << "rmse and crps only";
}

}  // namespace
}  // namespace kelvin
