// SPDX-License-Identifier: Apache-2.0
// Rows left out of linear regression, whose posterior without a row is known.
#include <cmath>

#include "kelvin/analysis/analysis.h"
#include "kelvin/core/choice.h"
#include "kelvin/core/noise.h"
#include "kelvin/energy/noise_law.h"
#include "kelvin/numeric/eigen.h"
#include "tests/made_run.h"
#include "tests/support.h"

namespace kelvin {
namespace {

const std::string few_rows = R"(
precision = "double"
walkers = 4
data = { generator = { name = "linear", rows = 25, noise = 0.5, dimension = 2 } }
model = { layers = [2, 1], loss = "gaussian", scale = 0.5, prior = { name = "gaussian", scale = 1.5 } }
batch = { size = "full" }
part.all = { scheme = "BAOAB", step = 0.5, friction = 1.0, temperature = "posterior" }
)";
constexpr double noise_scale = 0.5, prior_scale = 1.5;
constexpr std::size_t draw_count = 20000;

// N(mean, covariance) of the weights and the bias, given all rows but one.
struct Regression {
  Eigen::MatrixXd X, covariance;
  Eigen::VectorXd y, mean;
  explicit Regression(const Dataset& data, long without = -1) : X(long(data.rows), 3), y(long(data.rows)) {
    Eigen::MatrixXd precision = Eigen::MatrixXd::Identity(3, 3) / (prior_scale * prior_scale);
    Eigen::VectorXd pull = Eigen::VectorXd::Zero(3);
    for (long i = 0; i < long(data.rows); ++i) {
      X.row(i) << data.inputs[std::size_t(2 * i)], data.inputs[std::size_t(2 * i + 1)], 1;
      y(i) = data.targets[std::size_t(i)];
      if (i == without) continue;
      precision += X.row(i).transpose() * X.row(i) / (noise_scale * noise_scale);
      pull += X.row(i).transpose() * y(i) / (noise_scale * noise_scale);
    }
    covariance = precision.inverse();
    mean = covariance * pull;
  }
  double log_density(long i) const {
    const Eigen::VectorXd x = X.row(i);
    return normal_law.log_density(y(i), {x.dot(mean), std::sqrt(noise_scale * noise_scale + x.dot(covariance * x))});
  }
};

// Independent draws of the posterior of all rows.
std::vector<std::vector<double>> exact_draws(const Regression& exact) {
  const Eigen::MatrixXd root = exact.covariance.llt().matrixL();
  std::vector<double> normal(3 * draw_count);
  normals({stream_key(5, "leave one out")}, 0, normal);
  std::vector<std::vector<double>> draws;
  for (std::size_t d = 0; d < draw_count; ++d) {
    const Eigen::VectorXd q = exact.mean + root * Eigen::Map<const Eigen::VectorXd>(normal.data() + 3 * d, 3);
    draws.emplace_back(q.begin(), q.end());
  }
  return draws;
}

Found left_out_of(const Samples& samples) {
  const Analysis& row = row_named("leave_one_out", analyses(), "analysis");
  return find(row, row.ask(), subject_of(samples), [](double, double, std::string_view) {});
}

TEST(LeaveOneOut, LinearRegressionHasTheDensitiesOfThePosteriorsWithoutEachRow) {
  const Dataset train = problem_of<double>(few_rows).data.train;
  const Regression all(train);
  const MadeRun<double> run(few_rows, exact_draws(all));
  const Found found = left_out_of(run.stored.samples);
  const auto& elpd = found.arrays.at("leave_one_out.npz").at("elpd").values;
  const auto& shapes = found.arrays.at("leave_one_out.npz").at("k").values;
  ASSERT_EQ(elpd.size(), train.rows);
  double in_sample = 0, apart = 0, total = 0, variance = 0;
  for (long i = 0; i < long(train.rows); ++i) {
    const Eigen::VectorXd x = all.X.row(i);
    const double exact = Regression(train, i).log_density(i);
    // With e = (y - x.q) / s ~ N(m, h), h the row's leverage, r = 1/p is exp(e^2 / 2) up to a constant: its moments
    // are known below h = 1/2, its tail has the index 1/h. elpd is -log of its mean.
    const double h = x.dot(all.covariance * x) / (noise_scale * noise_scale);
    const double m = (all.y(i) - x.dot(all.mean)) / noise_scale;
    const double first = std::exp(m * m / (2 * (1 - h))) / std::sqrt(1 - h);
    const double second = std::exp(m * m / (1 - 2 * h)) / std::sqrt(1 - 2 * h);
    ASSERT_LT(h, 0.45);
    const double error = std::sqrt((second / (first * first) - 1) / double(draw_count));
    EXPECT_LT(std::abs(elpd[std::size_t(i)] - exact), 4 * error) << i << " of leverage " << h;
    EXPECT_NEAR(shapes[std::size_t(i)], h, 0.2) << i;
    total += exact;
    variance += error * error;
    in_sample = std::max(in_sample, std::abs(all.log_density(i) - exact) / error);
    apart += all.log_density(i) - exact;
  }
  EXPECT_GT(in_sample, 20) << "the posterior with the row would be seen";
  const Table& sums = found.finding.tables.front().table;
  EXPECT_NEAR(std::get<double>(sums.rows[0][1].second.is), total, 4 * std::sqrt(variance));
  EXPECT_NEAR(std::get<double>(sums.rows[1][1].second.is), apart, 4 * std::sqrt(variance) + 0.01);
  EXPECT_THAT(found.finding.words.back(), testing::HasSubstr("can be trusted"));
}

// A row far out moves the posterior so much that draws with it know nothing of one without.
TEST(LeaveOneOut, RowsThatMatterTooMuchAreNamed) {
  std::string three_rows = few_rows;
  three_rows.replace(three_rows.find("rows = 25"), 9, "rows = 3");
  const Dataset train = problem_of<double>(three_rows).data.train;
  const MadeRun<double> run(three_rows, exact_draws(Regression(train)));
  const Found found = left_out_of(run.stored.samples);
  const auto& shapes = found.arrays.at("leave_one_out.npz").at("k").values;
  EXPECT_GT(*std::max_element(shapes.begin(), shapes.end()), 0.7);
  EXPECT_THAT(found.finding.words.back(), testing::HasSubstr("matter too much"));
}

TEST(LeaveOneOut, RefusesTooFewDraws) {
  const Dataset train = problem_of<double>(few_rows).data.train;
  std::vector<std::vector<double>> draws = exact_draws(Regression(train));
  draws.resize(80);
  const MadeRun<double> run(few_rows, draws);
  EXPECT_THAT([&] { left_out_of(run.stored.samples); },
              testing::ThrowsMessage<Error>(testing::HasSubstr("needs at least 100 draws; there are 80")));
}

}  // namespace
}  // namespace kelvin
