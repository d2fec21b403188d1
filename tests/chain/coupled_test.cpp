// SPDX-License-Identifier: Apache-2.0
// Coupled chains: the coarse one must not notice that it is coupled.
#include "kelvin/run/coupled.h"

#include "kelvin/chain/affine_map.h"
#include "kelvin/io/problem.h"
#include "tests/dense.h"
#include "tests/files.h"
#include "tests/support.h"

namespace kelvin {
namespace {

// Words that draw noise and have a law.
std::vector<std::string> words() {
  std::vector<std::string> out = {"(BAOAB)2", "OOBAB", "ARBSO", "UOBS"};
  for (const NamedScheme& row : schemes()) {
    const Scheme scheme = parse_scheme(row.text);
    const bool reads_noise = std::ranges::any_of(scheme.moves, [](const Move& m) { return m.letter->needs_noise; });
    if (!std::isnan(row.order) && !scheme.proposes && !reads_noise) out.emplace_back(row.text);
  }
  return out;
}

Problem<double> problem_of(const Choice& toy, const PartSettings& part) {
  RunSettings settings;
  settings.model.toy = toy;
  settings.part["all"] = part;
  settings.precision = "double";
  return make_problem<double>(settings, [](std::string_view) {});
}

TEST(Coupled, WeightsKeepNormalsNormal) {
  for (const Letter& letter : letters())
    for (const double friction : {0.0, 1e-8, 0.3, 20.0, double(INFINITY)})
      for (const double h : {1e-3, 0.5}) {
        if (letter.normals == 0 || letter.memory) continue;  // memories are refused
        Part<double> constants;
        constants.gamma = friction, constants.T = 0.3, constants.m = 2;
        if (letter.symbol == 'U' && std::isinf(friction)) continue;  // which it refuses
        const Eigen::MatrixXd w = dense(shared_weights(letter, constants, h));
        EXPECT_LT((w * w.transpose() - Eigen::MatrixXd::Identity(letter.normals, letter.normals)).norm(), 1e-8)
            << letter.symbol << " at friction " << friction;
      }
}

TEST(Coupled, WeightsOfLettersThatMoveQAreThoseOfTheirExactFlow) {
  Part<double> constants;
  constants.gamma = 1.7;
  for (const Letter& letter : letters()) {
    if (!letter.normals || letter.memory) continue;
    const Matrix w = shared_weights(letter, constants, 0.4);
    if (letter.normals == 1) {
      EXPECT_NEAR(w(0, 0), std::sqrt(0.5), 1e-14) << letter.symbol;
      EXPECT_NEAR(w(0, 1), std::sqrt(0.5), 1e-14) << letter.symbol;
    } else {
      EXPECT_GT(std::abs(w(0, 1)), 0.1) << "the noise of p moves q later on";
    }
  }
}

// Normals of the coarse chain at several steps and places, as many of them as make 4 standard errors small.
TEST(Coupled, SharedNoiseIsStandardNormalAndIndependentFromPlaceToPlace) {
  constexpr std::size_t n = 100'000;
  for (const char* word : {"BAOAB", "OBABO", "UBU", "S", "BARAB", "OOBAB"}) {
    const Problem<double> problem = problem_of(gaussian({1}), moving(word, 0.3));
    const Noise<double> fine;
    const SharedNoise<double> shared(problem.recipe, 5, fine);
    std::vector<std::vector<double>> series;
    for (std::uint64_t step = 0; step < 2; ++step)
      for (std::size_t place = 0; place < problem.recipe.parts[0].scheme.moves.size(); ++place)
        if (problem.recipe.parts[0].scheme.moves[place].letter->normals)
          shared.normals({stream_key(5, "part all"), 3, step, std::uint16_t(place)}, 0, series.emplace_back(n));
    for (std::size_t a = 0; a < series.size(); ++a)
      for (std::size_t b = 0; b <= a; ++b) {
        double mean = 0, product = 0, fourth = 0;
        for (std::size_t i = 0; i < n; ++i) {
          mean += series[a][i] / n;
          product += series[a][i] * series[b][i] / n;
          fourth += std::pow(series[a][i], 4) / n;
        }
        EXPECT_NEAR(mean, 0, 4 / std::sqrt(n)) << word;
        EXPECT_NEAR(product, a == b ? 1 : 0, 4 * std::sqrt(a == b ? 2.0 : 1.0) / std::sqrt(n)) << word;
        EXPECT_NEAR(fourth, 3, 4 * std::sqrt(96.0 / n)) << word;
      }
  }
}

// 1 for one of the fine chain's normals of two steps, else 0.
struct OneOf : Noise<double> {
  std::uint64_t step = 0;
  std::uint16_t place = 0;
  std::size_t i = 0;
  void normals(const Stream& stream, std::size_t first, std::span<double> out) const override {
    for (std::size_t k = 0; k < out.size(); ++k)
      out[k] = stream.step == step && stream.place == place && first + k == i ? 1 : 0;
  }
};

// The noise of one coarse step as a function of the fine normals it is made of has the covariance, and so the coarse
// chain the stationary law, of a chain that is not coupled: to rounding, for every word.
TEST(Coupled, TheCoarseChainHasItsExactGaussianLaw) {
  for (const std::string& word : words()) {
    const Problem<double> problem = problem_of(gaussian({1.0, 2.5}), moving(word, 0.3, 0.8, 0.7));
    const AffineMap alone = affine_map(*problem.energy, problem.recipe);
    OneOf fine;
    const SharedNoise<double> shared(problem.recipe, 0, fine);
    Chain<double> chain(*problem.energy, problem.recipe, Batches({}, 0, 0, 0), shared, 0, 0);
    AffineMap coupled = alone;
    const auto& moves = problem.recipe.parts[0].scheme.moves;
    std::vector<double> columns;
    const std::vector<double> zero(2, 0);
    for (fine.step = 0; fine.step < 2; ++fine.step)
      for (fine.place = 0; fine.place < moves.size(); ++fine.place)
        for (fine.i = 0; fine.i < 2 * std::size_t(moves[fine.place].letter->normals); ++fine.i) {
          ChainState<double> at;
          at.xi = {problem.recipe.parts[0].xi};
          at.q = at.p = at.g = LargeArray<double>(2, 0);
          chain.restore(at);
          chain.step();
          columns.insert(columns.end(), {chain.q()[0], chain.q()[1], chain.p()[0], chain.p()[1]});
        }
    coupled.noise = Matrix(4, columns.size() / 4);
    coupled.noise.numbers = columns;
    const Matrix expected = stationary_covariance(alone), measured = stationary_covariance(coupled);
    EXPECT_LT((dense(expected) - dense(measured)).cwiseAbs().maxCoeff(), 1e-10) << word;
  }
}

// A free particle: U solves it exactly, so that both chains are the same path.
TEST(Coupled, FreeParticlesInTheirBathAgreeExactly) {
  const Problem<double> problem = problem_of(gaussian({1e-300}), moving("UBU", 0.5, 1.3));
  const Noise<double> noise;
  CoupledPair<double> pair(problem, 0, noise);
  pair.start(std::vector<double>{0});
  for (int n = 0; n < 50; ++n) {
    pair.step();
    EXPECT_NEAR(pair.coarse().p()[0], pair.fine().p()[0], 1e-12);
    EXPECT_NEAR(pair.coarse().q()[0], pair.fine().q()[0], 1e-11);
  }
  EXPECT_NE(pair.coarse().p()[0], 0);
  EXPECT_EQ(pair.fine().steps(), 2 * pair.coarse().steps());
}

// On a Gaussian, where words are linear, the two paths of BAOAB differ by order h^2 of their width: a quarter of it
// when h is halved.
TEST(Coupled, PathsApproachEachOtherAsStepsShrink) {
  const auto apart = [](double h) {
    const Problem<double> problem = problem_of(gaussian({1}), moving("BAOAB", h));
    const Noise<double> noise;
    CoupledPair<double> pair(problem, 0, noise);
    pair.start(std::vector<double>{0});
    double square = 0;
    for (int n = 0; n < int(4000 / h); ++n) {
      pair.step();
      square += std::pow(pair.coarse().q()[0] - pair.fine().q()[0], 2) * h / 4000;
    }
    return std::sqrt(square);
  };
  const double wide = apart(0.4), narrow = apart(0.2);
  EXPECT_LT(wide, 0.1) << "of a width of 1";
  EXPECT_NEAR(wide / narrow, 2, 0.1);
}

TEST(Coupled, RefusesWhatHasNoBias) {
  const auto refusal = [](const char* word, double temperature) {
    return error_of([&] { check_coupling(problem_of(gaussian({1}), moving(word, 0.1, 1, temperature)).recipe); });
  };
  EXPECT_EQ(refusal("BAOAB", 1), "");
  EXPECT_THAT(refusal("BAOAB", 0), testing::HasSubstr("temperature 0"));
  EXPECT_THAT(refusal("hmc", 1), testing::HasSubstr("Metropolis"));
  EXPECT_THAT(refusal("verlet", 1), testing::HasSubstr("no noise"));
  PartSettings falling = moving("BAOAB", 0.1);
  falling.step = Choice("cosine", {{"from", 0.2}, {"to", 0.1}});
  EXPECT_THAT(error_of([&] { check_coupling(problem_of(gaussian({1}), falling).recipe); }),
              testing::HasSubstr("step goes from"));
}

}  // namespace
}  // namespace kelvin
