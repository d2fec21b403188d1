// SPDX-License-Identifier: Apache-2.0
// What coupled walkers sample and how fast: exact variances, and autocorrelation times against their law.
#include <numeric>

#include "kelvin/analysis/diagnostics.h"
#include "tests/walkers.h"

namespace kelvin {
namespace {

// Two oscillators of curvature 1 and 100 at temperature 1.
struct TwoScales {
  std::vector<Chains> squares = std::vector<Chains>(2);  // curvature times q^2, of each direction and walker
  Chains slow;                                           // q of the slow direction

  TwoScales(long walkers, const std::string& coupling, std::uint64_t steps, double step = 0.05,
            const CouplingMethod* method = nullptr) {
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

// The control: a walker that is part of its own metric.
TEST(CoupledWalkersSlow, AWalkerInItsOwnMetricIsFoundOut) {
  constexpr CouplingMethod all = {"all", 1, 3, [](std::size_t, std::size_t) { return true; }, ""};
  const std::string coupling = "method = \"ensemble\", blending = 100, refresh = 10";
  const TwoScales wrong(4, coupling, 200000, 0.05, &all);
  EXPECT_NEAR(wrong.ratio(0).mean, 0.87, 0.03);
  EXPECT_LT(wrong.ratio(0).deviation(1), -10);
}

TEST(CoupledWalkersSlow, HalvesAreExactHoweverOftenTheyChange) {
  const TwoScales halves(8, "method = \"halves\", blending = 100, refresh = 4", 200000, 0.02);
  for (std::size_t k = 0; k < 2; ++k) {
    const Estimate e = halves.ratio(k);
    EXPECT_LT(std::abs(e.mean - 1), 4 * e.error) << e.mean << " +- " << e.error;
    EXPECT_LT(e.error, 0.01);
  }
  constexpr CouplingMethod moving_too = {"own", 2, 4, [](std::size_t, std::size_t) { return true; }, ""};
  const TwoScales wrong(8, "method = \"halves\", blending = 100, refresh = 4", 50000, 0.02, &moving_too);
  EXPECT_GT(std::abs(wrong.ratio(0).deviation(1)), 4) << wrong.ratio(0).mean;
}

}  // namespace
}  // namespace kelvin
