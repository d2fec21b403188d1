// SPDX-License-Identifier: Apache-2.0
// Stationary laws of schemes on a Gaussian, computed from the map that the running code applies. No sampling error.
#include "kelvin/chain/affine_map.h"
#include "tests/dense.h"
#include "tests/support.h"

namespace kelvin {
namespace {

struct Variances {
  double q, p;
};

// In two pieces for strings that kick by pieces.
Choice oscillator(const Scheme& scheme, double stiffness) {
  const bool pieces = std::ranges::any_of(scheme.moves, [](const Move& m) { return m.letter->piece > 0; });
  if (!pieces) return gaussian({stiffness});
  return Choice("two_scales", {{"slow", 0.3 * stiffness}, {"fast", 0.7 * stiffness}});
}

AffineMap map_of(const Recipe& recipe, double stiffness) {
  return affine_map(*make_toy<double>(oscillator(recipe.parts[0].scheme, stiffness)), recipe);
}

Recipe recipe_of(const std::string& scheme, double h, double stiffness = 1, double friction = 1) {
  return recipe_for(*make_toy<double>(gaussian({stiffness})), moving(scheme, h, friction));
}

Variances moments(const Recipe& recipe, double stiffness = 1) {
  const Matrix c = stationary_covariance(map_of(recipe, stiffness));
  return {c(0, 0), c.rows > 1 ? c(1, 1) : NAN};
}
Variances moments(const std::string& scheme, double h, double stiffness = 1, double friction = 1) {
  return moments(recipe_of(scheme, h, stiffness, friction), stiffness);
}

// The same loop of letters, cut open elsewhere: its law on step is the law at that place within the step.
Recipe cut_after(Recipe recipe, std::size_t move) {
  auto& moves = recipe.parts[0].scheme.moves;
  std::rotate(moves.begin(), moves.begin() + long(move), moves.end());
  return recipe;
}

// Half a unit in the sixth place after the point, the digits in which the values below are known.
constexpr double printed = 0.51e-6;

TEST(ExactGaussian, BaoabHasExactPositionsAndLowOnStepMomenta) {
  for (const double h : {0.5, 1.0, 1.5}) {
    const Variances m = moments("BAOAB", h);
    EXPECT_NEAR(m.q, 1, 1e-12);
    EXPECT_NEAR(m.p, 1 - h * h / 4, 1e-12);
    EXPECT_NEAR(moments(cut_after(recipe_of("BAOAB", h), 3)).p, 1, 1e-12) << "after O";
  }
}

TEST(ExactGaussian, BaoaHasBothMarginalsExact) {
  for (const double h : {0.5, 1.0, 1.5}) {
    EXPECT_NEAR(moments("BAOA", h).q, 1, 1e-12);
    EXPECT_NEAR(moments("BAOA", h).p, 1, 1e-12);
  }
}

TEST(ExactGaussian, AbobaHasExactPositionsAndHighMomenta) {
  for (const double h : {0.5, 1.0, 1.5}) {
    EXPECT_NEAR(moments("ABOBA", h).q, 1, 1e-12);
    EXPECT_NEAR(moments("ABOBA", h).p, 1 / (1 - h * h / 4), 1e-12);
  }
}

TEST(ExactGaussian, OBaboHasHighPositionsAndExactMomenta) {
  for (const double h : {0.5, 1.0, 1.5}) {
    EXPECT_NEAR(moments("OBABO", h).q, 1 / (1 - h * h / 4), 1e-12);
    EXPECT_NEAR(moments("OBABO", h).p, 1, 1e-12);
  }
}

TEST(ExactGaussian, FirstOrderSplittingsMatchTheirPublishedMoments) {
  EXPECT_NEAR(moments("BAO", 0.5, 2, 10).q, 0.334832, printed);
  EXPECT_NEAR(moments("BAO", 0.1, 2, 10).q, 0.344488, printed);
  EXPECT_NEAR(moments("BABO", 0.5, 2, 10).q, 0.571429, printed);
  EXPECT_NEAR(moments("BABO", 0.5, 2, 10).q, 0.5 / (1 - 0.125), 1e-12);
  const Variances bao = moments("BAO", 0.5), oba = moments("OBA", 0.5);
  EXPECT_NEAR(bao.q, 0.87104, 0.51e-5);
  EXPECT_NEAR(oba.q, 0.87104, 0.51e-5);
  EXPECT_NEAR(bao.q, oba.q, 1e-12);
  EXPECT_NEAR(bao.p, 1.03104, 0.51e-5);
  EXPECT_NEAR(oba.p, 1.08437, 0.51e-5);
}

TEST(ExactGaussian, UbuMatchesItsPublishedMoments) {
  EXPECT_NEAR(moments("UBU", 0.5).q, 0.958591, printed);
  EXPECT_NEAR(moments("UBU", 0.5).p, 1.021206, printed);
  EXPECT_NEAR(moments("UBU", 1).q, 0.838536, printed);
  EXPECT_NEAR(moments("UBU", 1).p, 1.090716, printed);
  EXPECT_NEAR(moments("UBU", 1.5).q, 0.6644, 0.51e-4);
  EXPECT_NEAR(moments("UBU", 1.5).p, 1.2433, 0.51e-4);
}

TEST(ExactGaussian, OverdampedSchemesMatchTheirClosedForms) {
  EXPECT_NEAR(moments("S", 0.1).q, 1.052632, printed);
  for (const double h : {0.1, 0.5, 1.0})
    for (const double a : {0.5, 1.0, 1.7}) {
      EXPECT_NEAR(moments("S", h, a).q, 1 / (a * (1 - h * a / 2)), 1e-12);
      EXPECT_NEAR(moments("BARAB", h, a).q, 1 / a, 1e-12);
      EXPECT_NEAR(moments("OBA", h, a, INFINITY).q, 1 / (a * (2 - h * h * a)), 1e-12);
    }
  EXPECT_NEAR(moments("OBA", 0.5, 1, INFINITY).q, 0.571429, printed);
}

TEST(ExactGaussian, InfiniteFrictionTurnsBaoabIntoItsLimit) {
  const AffineMap a = map_of(recipe_of("BAOAB", 0.7, 1, INFINITY), 1), b = map_of(recipe_of("BARAB", 0.7), 1);
  EXPECT_EQ(a.map.numbers, b.map.numbers);
  EXPECT_EQ(a.noise.numbers, b.noise.numbers);
}

TEST(ExactGaussian, MassLeavesPositionsAloneAndScalesMomenta) {
  for (const char* scheme : {"BAOAB", "UBU", "BARAB", "S"}) {
    PartSettings part = moving(scheme, 0.05);
    part.mass = number(3);
    const auto toy = make_toy<double>(gaussian({2}));
    const Matrix c = stationary_covariance(affine_map(*toy, recipe_for(*toy, part)));
    EXPECT_NEAR(c(0, 0), 0.5, 2e-2 * 0.5) << scheme;  // the step's own error is at most h a/2m = 1.7 %
    if (c.rows > 1) {
      EXPECT_NEAR(c(1, 1), 3, 3e-3) << scheme;
    }  // and h^2 a/4m = 0.04 %
  }
}

TEST(ExactGaussian, AutocorrelationTimesMatchTheirClosedForms) {
  struct Case {
    double h, gamma, omega, published;
  };
  for (const auto& [h, gamma, omega, published] :
       {Case{.1, 1, 1, 19.98335}, {.2, 2, 2, 4.934383}, {.05, 1, 1, 39.99167}}) {
    const AffineMap a = map_of(recipe_of("BAOAB", h, omega * omega, gamma), omega * omega);
    const Eigen::MatrixXd M = dense(a.map), c = dense(stationary_covariance(a)), one = Eigen::MatrixXd::Identity(2, 2);
    // 1 + 2 sum of M^k = (1 + M)(1 - M)^-1
    const Eigen::MatrixXd sum = (one + M) * (one - M).inverse() * c;
    EXPECT_NEAR(sum(0, 0) / c(0, 0), 4 * std::tanh(gamma * h / 2) / (h * h * omega * omega), 1e-9);
    EXPECT_NEAR(sum(0, 0) / c(0, 0), published, 0.51e-5);
  }
}

TEST(ExactGaussian, EnergyAutocorrelationMatchesItsPublishedValues) {
  for (const auto& [h, published, digits] : {std::tuple{.1, 20.00001, 0.51e-5}, {.5, 4.000843, printed}}) {
    const AffineMap a = map_of(recipe_of("BAOAB", h), 1);
    const Eigen::MatrixXd M = dense(a.map);
    Eigen::MatrixXd c = dense(stationary_covariance(a));
    double iat = -1;  // 1 + 2 sum over lags k > 0 of rho(k)^2, the correlation of squares of a Gaussian
    for (int k = 0; k < 4000; ++k, c = M * c) iat += 2 * c(0, 0) * c(0, 0);
    EXPECT_NEAR(iat, published, digits);
  }
}

TEST(ExactGaussian, EveryNamedSchemeHasTheOrderItClaims) {
  for (const NamedScheme& s : schemes()) {
    if (std::isnan(s.order) || parse_scheme(s.text).proposes) continue;  // no law; Metropolis is tested by runs
    const auto error = [&](double h) { return std::abs(moments(std::string(s.text), h).q - 1); };
    if (parse_scheme(s.text).adaptive && error(0.4) < 1e-12) continue;  // its error is the thermostat's alone: runs
    if (s.order == exact) {
      for (const double h : {0.4, 0.2, 0.1}) EXPECT_LT(error(h), 1e-12) << s.name;
    } else {
      // the slope between h and h/2 differs from the order by O(h)
      EXPECT_NEAR(std::log2(error(0.05) / error(0.025)), s.order, 0.1) << s.name;
      EXPECT_NEAR(std::log2(error(0.025) / error(0.0125)), s.order, 0.05) << s.name;
    }
  }
}

TEST(ExactGaussian, TheKineticTemperatureIsExactWhereARowSaysSo) {
  for (const NamedScheme& s : schemes()) {
    if (parse_scheme(s.text).proposes || std::isnan(s.order)) continue;
    const Scheme scheme = parse_scheme(s.name);
    if (!scheme.has_momentum || scheme.adaptive) continue;  // thermostats are tested by runs
    double worst = 0;
    for (const double h : {0.3, 0.6}) {
      const Recipe cut = cut_after(recipe_of(std::string(s.text), h), scheme.kinetic_after % scheme.moves.size());
      worst = std::max(worst, std::abs(moments(cut).p - 1));
    }
    if (scheme.kinetic_exact) EXPECT_LT(worst, 1e-12) << s.name;
    else EXPECT_GT(worst, 1e-3) << s.name << " is better than its row says";
  }
}

TEST(ExactGaussian, StringsOfDriftsAndKicksPreserveArea) {
  for (const char* text : {"AB", "BAB", "ABA", "BABAB", "(BAB)4", "A(BA)3"})
    EXPECT_NEAR(dense(map_of(recipe_of(text, 0.3), 1).map).determinant(), 1, 1e-13) << text;
}

// r-RESPA on slow q^2/2 + fast 9 q^2/2, the inner steps so many that the fast flow is exact to 3e-6: unstable just
// below h Omega = k pi, in bands known to four places.
TEST(ExactGaussian, RespaIsUnstableInItsKnownBands) {
  const auto radius = [](double h_omega) {
    PartSettings part = moving("B1(B2AB2)1000B1", h_omega / 3);
    const auto toy = make_toy<double>(Choice("two_scales"));
    return spectral_radius(affine_map(*toy, recipe_for(*toy, part)).map);
  };
  struct Band {
    double below, above, largest;
  };
  double k = 0;
  for (const auto& [below, above, largest] :
       {Band{2.8297, M_PI, 1.179}, {5.6726, 2 * M_PI, 1.385}, {8.5389, 3 * M_PI, 1.616}}) {
    ++k;
    double low = below - 0.3, high = (below + above) / 2;  // stable, unstable
    ASSERT_LT(radius(low), 1 + 1e-9);
    ASSERT_GT(radius(high), 1.01);
    for (int n = 0; n < 14; ++n) {
      const double middle = (low + high) / 2;
      (radius(middle) > 1 + 1e-6 ? high : low) = middle;
    }
    EXPECT_NEAR(low, below, 1e-4);
    double most = 0;
    for (double x = below; x < above; x += (above - below) / 40) most = std::max(most, radius(x));
    EXPECT_NEAR(most, largest, 1e-3);
    EXPECT_LT(radius(above + 1e-3 * k), 1 + 1e-9);
  }
}

TEST(ExactGaussian, LangevinRespaSamplesTheSumOfItsPieces) {
  PartSettings part = moving("B1(B2AOAB2)20B1", 0.05);
  const auto toy = make_toy<double>(Choice("two_scales"));
  const Matrix c = stationary_covariance(affine_map(*toy, recipe_for(*toy, part)));
  EXPECT_NEAR(c(0, 0), 0.1, 1e-4);  // 1/(1 + 9), up to h^2 slow/4 = 6e-4 of itself
}

TEST(ExactGaussian, AnUnstableStepIsSaidToBeOne) {
  EXPECT_THROW(moments("BAOAB", 2.1), Error);
  EXPECT_THROW(moments("BAB", 0.1), Error) << "without a bath nothing settles";
}

TEST(ExactGaussian, FivePercentMoreNoiseWouldBeSeen) {
  AffineMap a = map_of(recipe_of("BAOAB", 0.5), 1);
  for (double& x : a.noise.numbers) x *= 1.05;
  EXPECT_GT(std::abs(stationary_covariance(a)(0, 0) - 1), 0.1);
}

TEST(ExactGaussian, BaoabSamplesACorrelatedGaussianWithItsMean) {
  const Choice toy("gaussian", {{"covariance", Value::List{2.0, 0.6, 0.6, 1.0}}});
  const auto potential = make_toy<double>(toy);
  const Matrix c = stationary_covariance(affine_map(*potential, recipe_for(*potential, moving("BAOAB", 0.5))));
  EXPECT_NEAR(c(0, 0), 2, 1e-12);
  EXPECT_NEAR(c(0, 1), 0.6, 1e-12);
  EXPECT_NEAR(c(1, 1), 1, 1e-12);
}

}  // namespace
}  // namespace kelvin
