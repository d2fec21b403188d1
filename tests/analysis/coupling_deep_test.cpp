// SPDX-License-Identifier: Apache-2.0
// What coupled walkers sample and how fast: exact variances, and autocorrelation times against their law.
#include <numeric>

#include "kelvin/numeric/eigen.h"
#include "kelvin/numeric/statistics.h"
#include "tests/walkers.h"

namespace kelvin {
namespace {

// Two oscillators of curvature 1 and 100 at temperature 1.
struct TwoScales {
  std::vector<Chains> squares = std::vector<Chains>(2);  // curvature times q^2, of each direction and walker
  Chains slow;                                           // q of the slow direction

  TwoScales(long walkers, const std::string& coupling, std::uint64_t steps, double step = 0.05,
            const MetricMethod* method = nullptr) {
    CoupledWalkers w(
        fmt::format("steps = 1\nwalkers = {}\nmodel.toy = {{ name = \"gaussian\", stiffness = [1, 100] }}\n"
                    "part.all = {{ step = {}, temperature = 1 }}\ncoupling = {{ {} }}\n",
                    walkers, step, coupling),
        method);
    w.settle({1, 100});
    for (Chains* chains : {&squares[0], &squares[1], &slow}) chains->resize(std::size_t(walkers));
    w.run_for(steps, [&](const Draw<double>& d) {
      squares[0][d.walker].push_back(d.q[0] * d.q[0]);
      squares[1][d.walker].push_back(100 * d.q[1] * d.q[1]);
      slow[d.walker].push_back(d.q[0]);
    });
  }
  // Walkers of an ensemble are no independent chains: the error is that of their mean, draw by draw.
  Estimate ratio(std::size_t direction) const {
    std::vector<double> mean(squares[direction][0].size(), 0);
    for (const auto& walker : squares[direction])
      for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += walker[i] / double(squares[direction].size());
    return estimate(mean);
  }
};

// The variance of the mean of `length` draws is tau <q^2> / length.
double time_of(const Chains& chains, std::size_t length) {
  double sum = 0, count = 0;
  for (const auto& x : chains)
    for (std::size_t first = 0; first + length <= x.size(); first += length, ++count)
      sum += std::pow(std::accumulate(x.begin() + long(first), x.begin() + long(first + length), 0.0), 2);
  return sum / count / double(length);
}

struct Case {
  long walkers;
  double blending, tau;
  std::uint64_t steps;
};

// tau = 4 tanh(gamma h / 2) / h^2 <(1 + blending s^2)^-1> over the sample covariances of the others. Means over an
// interval of 1000 steps, 2000 of them or more, know their variance to 3 %.
TEST(CoupledWalkersSlow, AutocorrelationTimesFollowTheirLaw) {
  for (const auto& [walkers, blending, tau, steps] : {Case{4, 10, 10.36, 800000}, Case{4, 100, 2.59, 800000},
                                                      Case{16, 10, 4.41, 160000}, Case{16, 100, 0.510, 160000}}) {
    const TwoScales run(walkers, fmt::format("method = \"ensemble\", blending = {}, refresh = 1000", blending), steps);
    EXPECT_NEAR(time_of(run.slow, 1000) / tau, 1, 0.1) << walkers << " walkers, " << blending;
    for (std::size_t k = 0; k < 2; ++k) {
      const Estimate e = run.ratio(k);
      EXPECT_LT(std::abs(e.deviation(1)), 4) << walkers << ' ' << blending << ' ' << e.mean << " +- " << e.error;
      EXPECT_LT(e.error, 0.01);
    }
  }
  const TwoScales alone(4, "method = \"ensemble\", blending = 0", 400000);
  EXPECT_NEAR(windowed_autocorrelation_time(alone.slow).tau / 39.99, 1, 0.1);
}

// The control: a walker that is part of its own metric moves more where it is far out, so its slow direction comes out
// too narrow and its fast one too wide. With the others' metric alone, looked at as often, both are right.
TEST(CoupledWalkersSlow, AWalkerInItsOwnMetricIsFoundOut) {
  constexpr MetricMethod all = {"all", 1, [](std::size_t, std::size_t) { return true; }};
  const std::string coupling = "method = \"ensemble\", blending = 100, refresh = ";
  const TwoScales right(4, coupling + "30", 200000), wrong(4, coupling + "30", 200000, 0.05, &all);
  for (std::size_t k = 0; k < 2; ++k) {
    const Estimate e = right.ratio(k), off = wrong.ratio(k);
    EXPECT_LT(std::abs(e.deviation(1)), 4) << "direction " << k << ": " << e.mean << " +- " << e.error;
    EXPECT_LT(e.error, 0.01);
    EXPECT_GT((k == 0 ? -1 : 1) * (off.mean - 1), 4 * off.error + 0.01) << off.mean << " +- " << off.error;
  }
  EXPECT_NEAR(TwoScales(4, coupling + "10", 200000, 0.05, &all).ratio(0).mean, 0.87, 0.03);
}

TEST(CoupledWalkersSlow, HalvesAreExactHoweverOftenTheyChange) {
  const TwoScales halves(8, "method = \"halves\", blending = 100, refresh = 4", 200000, 0.02);
  for (std::size_t k = 0; k < 2; ++k) {
    const Estimate e = halves.ratio(k);
    EXPECT_LT(std::abs(e.mean - 1), 4 * e.error) << e.mean << " +- " << e.error;
    EXPECT_LT(e.error, 0.01);
  }
  constexpr MetricMethod moving_too = {"own", 2, [](std::size_t, std::size_t) { return true; }};
  const TwoScales wrong(8, "method = \"halves\", blending = 100, refresh = 4", 50000, 0.02, &moving_too);
  EXPECT_GT(std::abs(wrong.ratio(0).deviation(1)), 4) << wrong.ratio(0).mean;
}

// The Gaussian of the TATi paper, section 3.4.1: U = q'Cq, the eigenvalues of C equally spaced from 1 to 100;
// directions are as good as coordinates, for coupled walkers know of no axes.
struct TatiGaussian {
  std::vector<double> curvature;
  static constexpr double h = 0.125;
  explicit TatiGaussian(std::size_t n) : curvature(n) {
    for (std::size_t i = 0; i < n; ++i) curvature[i] = 2 + 198 * double(i) / double(n - 1);
  }
  static double slow_alone() { return 4 * std::tanh(h / 2) / (h * h * 2); }

  // What the slowest direction's time is divided by: 1 / <((1 + blending S)^-1)_slow> over sample covariances S of the
  // others.
  double expected_gain(std::size_t others, double blending) const {
    const auto n = Eigen::Index(curvature.size()), m = Eigen::Index(others);
    constexpr std::uint32_t tries = 400;
    double sum = 0;
    for (std::uint32_t k = 0; k < tries; ++k) {
      Eigen::MatrixXd X(n, m);
      normals({stream_key(11, "covariances"), k, 0, 0}, 0, std::span(X.data(), std::size_t(X.size())));
      for (Eigen::Index i = 0; i < n; ++i) X.row(i) /= std::sqrt(curvature[std::size_t(i)]);
      X.colwise() -= X.rowwise().mean().eval();
      const Eigen::MatrixXd metric = Eigen::MatrixXd::Identity(n, n) + blending / double(m) * X * X.transpose();
      sum += metric.llt().solve(Eigen::VectorXd::Unit(n, 0))[0];
    }
    return tries / sum;
  }

  struct Times {
    double slow = 0, fast = 0, variance = 0;
    std::size_t remarks = 0;
  };
  Times run(long walkers, int runs) const {
    std::string list;
    for (const double k : curvature) list += (list.empty() ? "" : ", ") + fmt::format("{:.17g}", k);
    Times out;
    for (int seed = 1; seed <= runs; ++seed) {
      CoupledWalkers w(
          fmt::format("steps = 1\nseed = {}\nwalkers = {}\nmodel.toy = {{ name = \"gaussian\", stiffness = [{}] }}\n"
                      "part.all = {{ step = {}, temperature = 1 }}\n{}",
                      seed, walkers, list, h,
                      walkers > 1 ? "coupling = { method = \"ensemble\", blending = 10, refresh = 1000 }\n" : ""));
      w.settle(curvature);
      Chains slow(std::size_t(walkers), std::vector<double>{}), fast = slow;
      w.run_for(50000, [&](const Draw<double>& d) {
        slow[d.walker].push_back(d.q.front() * std::sqrt(curvature.front()));
        fast[d.walker].push_back(d.q.back() * std::sqrt(curvature.back()));
        out.variance += d.q.front() * d.q.front() * curvature.front() / double(runs * walkers * 50000);
      });
      out.slow += time_of(slow, 1000) / runs, out.fast += time_of(fast, 1000) / runs;
      out.remarks += w.said.size();
    }
    return out;
  }
};

// Figure 10: five runs each, so 250 intervals. Their means know tau to sqrt(2 / (250 walkers)), and the covariances of
// an interval's walkers, much the same for all of them, make it vary by sqrt(2 / (walkers - 1)).
TEST(CoupledWalkersSlow, TheGaussianOfTatiMixesAsFastAsItsLawSays) {
  for (const std::size_t n : {4u, 64u}) {
    const TatiGaussian gaussian(n);
    const double slow = TatiGaussian::slow_alone(), fast = slow / 100;
    EXPECT_NEAR(gaussian.run(1, 5).slow / slow, 1, 4 * std::sqrt(2.0 / 250));
    for (const long walkers : {4, 16, 32}) {
      if (n == 64 && walkers == 4) continue;  // is blended less, lest it blow up
      const auto coupled = gaussian.run(walkers, 5);
      const double W = double(walkers), gain = gaussian.expected_gain(std::size_t(walkers - 1), 10);
      EXPECT_NEAR(coupled.slow * gain / slow, 1, 4 * std::sqrt((2 / W + 2 / (W - 1)) / 250)) << n << ' ' << walkers;
      EXPECT_LT(gain, 6);
      EXPECT_NEAR(coupled.fast / fast, 0.97, 4 * std::sqrt(2 / W / 250) + 0.03) << "1 + blending T / 200 is 1.05";
      EXPECT_NEAR(coupled.variance, 1, 4 * std::sqrt(slow / (250000 * W))) << n << ' ' << walkers;
      EXPECT_EQ(coupled.remarks, 0u) << n << ' ' << walkers;
    }
  }
}

}  // namespace
}  // namespace kelvin
