// SPDX-License-Identifier: Apache-2.0
// The bias that a certificate states is the one that a long run shows against the exact law.
#include "kelvin/analysis/verdict/certify.h"
#include "kelvin/io/problem.h"
#include "tests/support.h"

namespace kelvin {
namespace {

struct Case {
  const char *word, *toy;
  double step, temperature;
};

// <q^2> of a long run with another seed, less its exact value.
Estimate observed(const Case& c) {
  Walker<double> walker(Choice(c.toy), moving(c.word, c.step, 1, c.temperature), 77);
  std::vector<double> squares(2'500'000);
  for (int n = 0; n < 1000; ++n) walker.chain.step();
  for (double& x : squares) walker.chain.step(), x = walker.chain.q()[0] * walker.chain.q()[0];
  const Moments exact = exact_moments(Choice(c.toy), c.temperature);
  Estimate out = estimate(squares);
  out.mean -= exact.variance[0] + exact.mean[0] * exact.mean[0];
  return out;
}

Bias certified(const Case& c) {
  RunSettings settings;
  settings.model.toy = Choice(c.toy);
  settings.part["all"] = moving(c.word, c.step, 1, c.temperature);
  settings.precision = "double";
  const auto problem = make_problem<double>(settings, [](std::string_view) {});
  return certify(problem, {.steps = 300'000, .warmup = 1000, .pairs = 4, .threads = 1}, [](double) {}).biases.back();
}

class CertifySlow : public testing::TestWithParam<Case> {};

TEST_P(CertifySlow, TheStatedBiasIsTheTrueOne) {
  const Bias b = certified(GetParam());
  const Estimate truth = observed(GetParam());
  const double error = std::hypot(b.error, truth.error);
  EXPECT_LT(std::abs(b.bias - truth.mean), 4 * error)
      << b.bias << " +- " << b.error << " against " << truth.mean << " +- " << truth.error << ", gain " << b.gain();
  EXPECT_GT(b.gain(), 5) << "sharing the noise must pay";
  RecordProperty("certified", fmt::format("{} +- {}", b.bias, b.error));
  RecordProperty("observed", fmt::format("{} +- {}", truth.mean, truth.error));
}

INSTANTIATE_TEST_SUITE_P(Words, CertifySlow,
                         testing::Values(Case{"BAOAB", "skewed", 0.5, 1}, Case{"OBABO", "skewed", 0.3, 1},
                                         Case{"OBABO", "quartic", 0.25, 1}, Case{"UBU", "skewed", 0.4, 1},
                                         Case{"S", "skewed", 0.05, 1}, Case{"BAO", "skewed", 0.1, 1}),
                         [](const auto& info) { return fmt::format("{}_{}", info.param.word, info.param.toy); });

// A wrong order gives a wrong factor, and the test above would see it.
TEST(CertifyControl, TheFactorOfAnotherOrderIsRuledOut) {
  const Case c{"OBABO", "skewed", 0.4, 1};
  const Bias b = certified(c);
  const Estimate truth = observed(c);
  const double first_order = 2 * b.difference, error = std::hypot(2 * b.difference_error, truth.error);
  EXPECT_GT(std::abs(first_order - truth.mean), 4 * error);
}

}  // namespace
}  // namespace kelvin
