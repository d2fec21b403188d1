// SPDX-License-Identifier: Apache-2.0
// Priors: slopes, shares, refusals, and when a posterior can be normalised.
#include "kelvin/energy/prior.h"

#include <gmock/gmock.h>

#include "kelvin/energy/likelihood.h"
#include "kelvin/energy/toys.h"
#include "tests/finite_difference.h"

namespace kelvin {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Choice choice(std::string name, std::initializer_list<std::pair<const char*, double>> numbers = {}) {
  Choice c(std::move(name));
  for (const auto& [key, x] : numbers) c.values[key].is = x;
  return c;
}

// One choice per row that makes every parameter matter.
const std::vector<Choice> examples = {choice("flat"), choice("gaussian", {{"mean", 0.3}, {"scale", 0.5}}),
                                      choice("laplace", {{"mean", 0.3}, {"scale", 0.5}}),
                                      choice("walls", {{"lower", -0.4}, {"upper", 0.6}, {"strength", 2}, {"power", 3}}),
                                      choice("tether", {{"center", 0.3}, {"strength", 2}, {"power", 4}})};

TEST(Prior, EveryRowHasAnExample) {
  ASSERT_EQ(examples.size(), priors().size());
  for (std::size_t i = 0; i < examples.size(); ++i) EXPECT_EQ(examples[i].name, priors()[i].name);
}

TEST(Prior, SlopesAgreeWithCentralDifferencesOfSecondOrder) {
  for (const Choice& c : examples) {
    const PriorNumbers p = prior_of(c);
    double coarse = 0, fine = 0;
    for (const double q : {-1.7, -0.9, -0.1, 0.1, 0.5, 0.9, 2.0}) {
      const auto error = [&](double e) {
        const auto u = [&](double x) { return p.row->energy(x, p.numbers.data()); };
        return (u(q + e) - u(q - e)) / (2 * e) - p.row->slope(q, p.numbers.data());
      };
      coarse += std::abs(error(0.01)), fine += std::abs(error(0.005));
    }
    EXPECT_LT(coarse, 0.05) << c.name;
    if (coarse > 1e-9) {
      EXPECT_NEAR(coarse / fine, 4, 0.1) << c.name;
    }
  }
}

TEST(Prior, HasTheEnergyOfItsFormula) {
  const auto energy = [](const Choice& c, double q) {
    const PriorNumbers p = prior_of(c);
    return p.row->energy(q, p.numbers.data());
  };
  EXPECT_DOUBLE_EQ(energy(choice("gaussian", {{"mean", 1}, {"scale", 2}}), 5), 2);
  EXPECT_DOUBLE_EQ(energy(choice("laplace", {{"mean", 1}, {"scale", 2}}), 5), 2);
  EXPECT_DOUBLE_EQ(energy(examples[3], 0.6), 0);
  EXPECT_DOUBLE_EQ(energy(examples[3], 1.6), 2);
  EXPECT_DOUBLE_EQ(energy(examples[3], -2.4), 16);
  EXPECT_DOUBLE_EQ(energy(choice("walls", {{"upper", 0}}), -1e9), 0) << "without a lower wall nothing pushes up";
  EXPECT_DOUBLE_EQ(energy(examples[4], -0.7), 2);
}

TEST(Prior, SaysWhetherItCanBeNormalised) {
  const std::vector<bool> proper = {false, true, true, true, true};
  for (std::size_t i = 0; i < examples.size(); ++i)
    EXPECT_EQ(prior_of(examples[i]).proper(), proper[i]) << examples[i].name;
  EXPECT_FALSE(prior_of(choice("walls")).proper());
  EXPECT_FALSE(prior_of(choice("walls", {{"lower", 0}})).proper());
}

TEST(Prior, ABareNumberIsTheScaleOfAGaussian) {
  const PriorNumbers p = prior_of(choice("constant", {{"value", 2.5}}));
  EXPECT_EQ(p.row->name, "gaussian");
  EXPECT_THAT(p.numbers, ElementsAre(0, 2.5));
}

TEST(Prior, RefusesNumbersWithoutMeaning) {
  EXPECT_THROW(prior_of(choice("gaussian", {{"scale", 0}})), Error);
  EXPECT_THROW(prior_of(choice("constant", {{"value", -1}})), Error);
  EXPECT_THROW(prior_of(choice("laplace", {{"scale", -1}})), Error);
  EXPECT_THROW(prior_of(choice("walls", {{"lower", 1}, {"upper", 0}})), Error);
  EXPECT_THROW(prior_of(choice("tether", {{"power", 0.5}})), Error);
  EXPECT_THROW(prior_of(choice("gausian")), Error);
  EXPECT_THROW(prior_of(choice("gaussian", {{"width", 1}})), Error);
}

// ---- inside U

Dataset line(std::size_t rows) {
  Dataset d;
  d.rows = rows;
  d.input_names = {"a", "b"};
  d.target_names = {"y"};
  d.inputs = some_point(2 * rows, 1, "inputs");
  d.targets = some_point(rows, 1, "targets");
  return d;
}

ModelSettings network(std::vector<long> layers, std::string loss = "mean_squared") {
  ModelSettings s;
  s.layers = std::move(layers);
  s.activation = {"tanh"};
  s.loss = std::move(loss);
  return s;
}

std::unique_ptr<Potential<double>> mlp(const ModelSettings& s, const Dataset& d) {
  return make_likelihood<double>(s, d, {});
}

TEST(WithPriors, GradientIsRightForEveryRow) {
  for (const Choice& c : examples) {
    Energy<double> u =
        with_terms(mlp(network({2, 3, 1}), line(10)), {{"layer1.weight", c}, {"layer2.bias", choice("gaussian")}});
    expect_gradient_matches(u, some_point(dimension_of(u), 0.7));
  }
}

TEST(WithPriors, AddsTheEnergiesOverTheNumberOfRowsWhateverTheBatch) {
  const auto plain = mlp(network({2, 3, 1}), line(10));
  Energy<double> u = with_terms(plain->clone(), {{"layer1.weight", choice("gaussian", {{"scale", 2}})}});
  const auto q = some_point(dimension_of(u), 0.7);
  double energy = 0;
  for (std::size_t i = 0; i < 6; ++i) energy += q[i] * q[i] / 8;
  const std::vector<std::uint32_t> some = {1, 4};
  for (const Batch rows : {Batch(), Batch(some)}) {
    std::vector<double> g(q.size()), h(q.size());
    EXPECT_NEAR(evaluated(u, q, rows, g) - evaluated(*plain, q, rows, h), energy / 10, 1e-15);
    for (std::size_t i = 0; i < q.size(); ++i) EXPECT_NEAR(g[i] - h[i], i < 6 ? q[i] / 40 : 0, 1e-15);
  }
  EXPECT_EQ(u.rows(), 10u);
}

TEST(WithPriors, WithoutDataTheShareIsOne) {
  Energy<double> u = with_terms(make_toy<double>(choice("quartic")), {{"q", choice("gaussian")}});
  std::vector<double> g(1);
  EXPECT_DOUBLE_EQ(u(std::vector<double>{2}, {}, g), 4 + 2);
  EXPECT_DOUBLE_EQ(g[0], 8 + 2);
}

TEST(WithPriors, FollowsItsBlockWhenArrangedAndCloned) {
  Energy<double> u =
      with_terms(mlp(network({2, 1}), line(10)), {{"layer1.bias", choice("gaussian", {{"scale", 0.1}})}});
  auto blocks = u.blocks();
  const std::vector<double> q = {0.3, -0.5, 1.1}, turned = {1.1, 0.3, -0.5};
  std::vector<double> g(3), h(3);
  const double before = u(q, {}, g);
  blocks[0].offset = 1, blocks[1].offset = 0;
  u.arrange(blocks);
  EXPECT_EQ(u(turned, {}, h), before);
  EXPECT_THAT(h, ElementsAre(g[2], g[0], g[1]));
  Energy<double> copy = u;
  EXPECT_EQ(copy(turned, {}, g), before);
  EXPECT_EQ(g, h);
}

TEST(WithPriors, RefusesUnknownAndRepeatedBlocks) {
  EXPECT_THROW(with_terms(mlp(network({2, 1}), line(5)), {{"layer3.weight", choice("gaussian")}}), Error);
  EXPECT_THROW(
      with_terms(mlp(network({2, 1}), line(5)), {{"layer1.bias", choice("gaussian")}, {"layer1.bias", choice("flat")}}),
      Error);
}

// ---- can the posterior be normalised?

std::vector<BlockPrior> on(std::initializer_list<const char*> blocks) {
  std::vector<BlockPrior> out;
  for (const char* b : blocks) out.push_back({b, choice("gaussian")});
  return out;
}

TEST(WhyImproper, HiddenLayersNeedAProperPriorOnEveryBlock) {
  const Dataset d = line(20);
  EXPECT_THAT(why_improper(network({2, 3, 1}), d, on({"layer1.weight", "layer1.bias", "layer2.weight", "layer2.bias"})),
              IsEmpty());
  EXPECT_THAT(why_improper(network({2, 3, 1}), d, {}), HasSubstr("\"layer1.weight\", \"layer1.bias\""));
  EXPECT_THAT(why_improper(network({2, 3, 1}), d, on({"layer1.weight", "layer2.weight", "layer2.bias"})),
              HasSubstr("give \"layer1.bias\" a prior"));
  EXPECT_THAT(why_improper(network({2, 3, 1}), d, {{"layer1.weight", choice("flat")}}), HasSubstr("layer1.weight"));
}

TEST(WhyImproper, TheOutputBiasAloneIsHeldByAConfiningLoss) {
  const Dataset d = line(20);
  const auto rest = on({"layer1.weight", "layer1.bias", "layer2.weight"});
  EXPECT_THAT(why_improper(network({2, 3, 1}), d, rest), IsEmpty());
  ModelSettings s = network({2, 3, 1});
  s.output = "tanh";
  EXPECT_THAT(why_improper(s, d, rest), HasSubstr("bounded"));
}

TEST(WhyImproper, FrozenBlocksDoNotMove) {
  ModelSettings s = network({2, 3, 1});
  s.freeze = {"*.bias", "layer1.weight=0.5"};
  EXPECT_THAT(why_improper(s, line(20), on({"layer2.weight"})), IsEmpty());
  s.freeze = {"*.bias", "layer1.weight[0,1]"};
  EXPECT_THAT(why_improper(s, line(20), on({"layer2.weight"})), HasSubstr("give \"layer1.weight\" a prior"));
}

TEST(WhyImproper, ALinearModelNeedsIndependentInputs) {
  Dataset d = line(20);
  EXPECT_THAT(why_improper(network({2, 1}), d, {}), IsEmpty());
  Dataset twice = d;
  for (std::size_t i = 0; i < d.rows; ++i) twice.inputs.doubles()[2 * i + 1] = 1 - 3 * twice.inputs[2 * i];
  EXPECT_THAT(why_improper(network({2, 1}), twice, {}), HasSubstr("dependent (rank 1)"));
  EXPECT_THAT(why_improper(network({2, 1}), twice, on({"layer1.bias"})), IsEmpty())
      << "dependent only with the constant";
  EXPECT_THAT(why_improper(network({2, 1}), twice, on({"layer1.weight"})), IsEmpty());
  Dataset constant = d;
  for (std::size_t i = 0; i < d.rows; ++i) constant.inputs.doubles()[2 * i + 1] = 7;
  EXPECT_THAT(why_improper(network({2, 1}), constant, {}), HasSubstr("\"b\" is constant"));
  EXPECT_THAT(why_improper(network({2, 1}), line(2), {}), HasSubstr("2 rows cannot fix 3 weights"));
}

TEST(WhyImproper, BoundedOutputsAndLossesThatDoNotConfineNeedAPrior) {
  Dataset d = line(20);
  ModelSettings s = network({2, 1});
  s.output = "tanh";
  EXPECT_THAT(why_improper(s, d, {}), HasSubstr("\"tanh\" is bounded"));
  d.classes = {"no", "yes"};
  for (std::size_t i = 0; i < d.rows; ++i) d.targets[i] = double(i % 2);
  EXPECT_THAT(why_improper(network({2, 2}, "softmax_cross_entropy"), d, {}), HasSubstr("adding one number"));
  EXPECT_THAT(why_improper(network({2, 1}, "binary_cross_entropy"), d, {}), HasSubstr("separates"));
  EXPECT_THAT(why_improper(network({2, 1}, "hinge"), d, {}), HasSubstr("may not"));
  EXPECT_THAT(why_improper(network({2, 1}, "hinge"), d, on({"layer1.weight", "layer1.bias"})), IsEmpty());
}

TEST(WhyImproper, ALearnedScaleMustNotBeAbleToShrink) {
  Dataset d = line(20);
  EXPECT_THAT(why_improper(network({2, 1}, "gaussian"), d, {}), IsEmpty());
  for (std::size_t i = 0; i < d.rows; ++i) d.targets[i] = 2 * d.inputs[2 * i] - 1;
  EXPECT_THAT(why_improper(network({2, 1}, "gaussian"), d, {}), HasSubstr("fitted exactly"));
  EXPECT_THAT(why_improper(network({2, 1}, "gaussian"), d, on({"noise.log_scale"})), IsEmpty());
  EXPECT_THAT(why_improper(network({2, 3, 1}, "gaussian"), line(20),
                           on({"layer1.weight", "layer1.bias", "layer2.weight", "layer2.bias"})),
              HasSubstr("give \"noise.log_scale\" a prior"));
}

}  // namespace
}  // namespace kelvin
