// SPDX-License-Identifier: Apache-2.0
// Adaptive Langevin: the laws of xi, p and q, with clean and with noisy gradients, and what must break them.
#include "tests/support.h"

namespace kelvin {
namespace {

PartSettings adaptive(const std::string& scheme, double h, double sigma, double eps,
                      const std::string& damping = "xi") {
  PartSettings part = moving(scheme, h);
  part.sigma = number(sigma), part.eps = number(eps), part.xi = 0, part.damping = damping;
  return part;
}

Choice noisy(double noise) { return Choice("noisy", {{"noise", noise}}); }

struct Law {
  Estimate xi, xi_variance, kinetic, position;  // position: q^2 per coordinate
};

// 20 coordinates of a unit oscillator, each gradient from one row or from all of them.
Law law_of(const PartSettings& part, double noise, bool clean, int steps) {
  const auto toy = make_toy<double>(noisy(noise));
  BatchSettings batch;
  if (!clean) batch.size.text = "1", batch.order = "with_replacement";
  const Noise<double> normals;
  Chain<double> chain(toy->clone(), recipe_for(*toy, part), Batches(batch, toy->rows(), 3, 0), normals, 3, 0);
  chain.start(std::vector<double>(20, 0.0));
  for (int n = 0; n < steps / 20; ++n) chain.step();
  std::vector<double> xi, kinetic, position;
  for (int n = 0; n < steps; ++n) {
    chain.step_and_read();
    xi.push_back(chain.reading().parts[0].xi);
    kinetic.push_back(chain.reading().parts[0].kinetic_temperature);
    double square = 0;
    for (const double q : chain.q()) square += q * q / 20;
    position.push_back(square);
  }
  Law law{estimate(xi), {}, estimate(kinetic), estimate(position)};
  for (double& x : xi) x = (x - law.xi.mean) * (x - law.xi.mean);
  law.xi_variance = estimate(xi);
  return law;
}

constexpr int steps = 100000;

TEST(AdaptiveLangevin, FindsTheFrictionThatItsNoiseNeeds) {
  // xi ~ N(sigma^2/2T, eps T) and <p^2> = T, up to O(h^2) = 0.0025 of themselves at h = 0.05
  for (const char* scheme : {"BACDEDCAB", "BAFEFAB", "BAEFEAB"}) {
    const Law law = law_of(adaptive(scheme, 0.05, std::sqrt(2), 0.1), 1, true, steps);
    EXPECT_LT(std::abs(law.xi.mean - 1), 4 * law.xi.error + 0.0025) << scheme << law.xi.mean << "+-" << law.xi.error;
    EXPECT_LT(std::abs(law.xi_variance.mean - 0.1), 4 * law.xi_variance.error + 0.001)
        << scheme << law.xi_variance.mean << "+-" << law.xi_variance.error;
    EXPECT_LT(std::abs(law.kinetic.mean - 1), 4 * law.kinetic.error + 0.0025) << scheme << law.kinetic.mean;
    EXPECT_LT(std::abs(law.position.mean - 1), 4 * law.position.error + 0.0025) << scheme << law.position.mean;
    EXPECT_LT(law.xi.error, 0.02) << "too few steps to tell";
    EXPECT_LT(law.position.error, 0.02);
  }
}

TEST(AdaptiveLangevin, TheOtherConventionScalesXi) {
  // dp = -eps xi p dt: xi ~ N(sigma^2/(2 eps T), T)
  const Law law = law_of(adaptive("BACDEDCAB", 0.05, std::sqrt(2), 0.1, "eps xi"), 1, true, steps);
  EXPECT_LT(std::abs(law.xi.mean - 10), 4 * law.xi.error + 0.025) << law.xi.mean << "+-" << law.xi.error;
  EXPECT_LT(std::abs(law.xi_variance.mean - 1), 4 * law.xi_variance.error + 0.01) << law.xi_variance.mean;
  EXPECT_LT(std::abs(law.kinetic.mean - 1), 4 * law.kinetic.error + 1e-3) << law.kinetic.mean;
  EXPECT_LT(law.xi.error, 0.2);
}

TEST(AdaptiveLangevin, CuresGradientNoiseWhereLangevinHeats) {
  // <xi> = (h s + sigma^2)/2T = 2, var xi = eps T, <q^2> = 1 + O(h^2) (1.004 is known from elsewhere)
  const Law law = law_of(adaptive("BACDEDCAB", 0.1, std::sqrt(2), 0.1), 20, false, steps);
  EXPECT_LT(std::abs(law.xi.mean - 2), 4 * law.xi.error + 0.02) << law.xi.mean << "+-" << law.xi.error;
  EXPECT_LT(std::abs(law.xi_variance.mean - 0.1), 4 * law.xi_variance.error + 0.004) << law.xi_variance.mean;
  EXPECT_LT(std::abs(law.kinetic.deviation(1)), 4) << law.kinetic.mean;
  EXPECT_LT(std::abs(law.position.mean - 1), 4 * law.position.error + 0.01) << law.position.mean;
  // the exact value for BAOAB with that noise: 1 + (h^2 s/4) coth(gamma h/2)/(1 - h^2/4)
  const Law heated = law_of(moving("BAOAB", 0.1), 20, false, steps);
  EXPECT_LT(std::abs(heated.position.deviation(2.003342)), 4) << heated.position.mean << "+-" << heated.position.error;
}

// What E would be with |p| in place of p.p: then <|p|> = n T, and <p.p> = n T^2 n is 20 times too large.
template <class Real>
void norm_for_square(const Part<Real>& s, double h, std::span<const Real>) {
  double square = 0;
  for (const Real p : s.p) square += double(p) * double(p);
  *s.xi += h * s.eps * (std::sqrt(square) - s.constants->freedom * s.T);
}

TEST(AdaptiveLangevin, TheNormInPlaceOfItsSquareFailsByAFactor) {
  const auto row = std::find_if(letters().begin(), letters().end(), [](const Letter& l) { return l.symbol == 'E'; });
  Letter wrong = *row;
  wrong.symbol = '!', wrong.flow_double = norm_for_square<double>;
  const auto toy = make_toy<double>(noisy(1));
  Recipe recipe = recipe_for(*toy, adaptive("BACDEDCAB", 0.05, std::sqrt(2), 0.1));
  recipe.parts[0].scheme = parse_scheme("BACD!DCAB", std::span(&wrong, 1));
  const Noise<double> normals;
  Chain<double> chain(toy->clone(), recipe, Batches({}, 0, 3, 0), normals, 3, 0);
  chain.start(std::vector<double>(20, 0.0));
  double kinetic = 0;
  for (int n = 0; n < 20000; ++n) {
    chain.step_and_read();
    kinetic += chain.reading().parts[0].kinetic_temperature / 20000;
  }
  EXPECT_GT(kinetic, 5);
}

TEST(AdaptiveLangevin, FrozenEntriesAreNoDegreesOfFreedom) {
  const auto toy = make_toy<double>(noisy(1));
  const Recipe recipe =
      make_recipe({{"all", adaptive("BACDEDCAB", 0.05, std::sqrt(2), 0.1)}},
                  {"q[0]", "q[1]", "q[2]", "q[3]", "q[4]", "q[5]", "q[6]", "q[7]", "q[8]", "q[9]"}, toy->blocks(), {});
  const Noise<double> normals;
  Chain<double> chain(toy->clone(), recipe, Batches({}, 0, 3, 0), normals, 3, 0);
  chain.start(std::vector<double>(20, 0.0));
  std::vector<double> square;
  for (int n = 0; n < 40000; ++n) {
    chain.step_and_read();
    double sum = 0;
    for (const double p : chain.p()) sum += p * p / 10;
    square.push_back(sum);
  }
  const Estimate kinetic = estimate(square);  // counting the frozen half too would give 2
  EXPECT_LT(std::abs(kinetic.mean - 1), 4 * kinetic.error + 0.0025) << kinetic.mean << "+-" << kinetic.error;
  EXPECT_LT(kinetic.error, 0.02);
}

TEST(AdaptiveLangevin, GoesOnBitForBitFromAState) {
  const auto part = adaptive("BACDEDCAB", 0.1, 1, 0.1);
  Walker<float> a(noisy(1), part), b(noisy(1), part);
  for (int n = 0; n < 37; ++n) a.chain.step();
  b.chain.restore(a.chain.state());
  for (int n = 0; n < 20; ++n) a.chain.step(), b.chain.step_and_read();
  a.chain.step_and_read(), b.chain.step_and_read();
  EXPECT_TRUE(std::ranges::equal(a.chain.q(), b.chain.q()));
  EXPECT_EQ(a.chain.reading().parts[0].xi, b.chain.reading().parts[0].xi);
  EXPECT_NE(a.chain.reading().parts[0].xi, 0);
}

TEST(AdaptiveLangevin, MistakesAreNamed) {
  EXPECT_THROW(law_of(adaptive("BACDEDCAB", 0.05, -1, 0.1), 1, true, 20), Error);
  EXPECT_THROW(law_of(adaptive("BACDEDCAB", 0.05, 1, 0.1, "epsilon xi"), 1, true, 20), Error);
  EXPECT_THROW(parse_scheme("R{BEAEB}"), Error);
}

}  // namespace
}  // namespace kelvin
