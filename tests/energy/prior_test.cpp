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
const std::vector<Choice> examples = {choice("flat"),
                                      choice("gaussian", {{"mean", 0.3}, {"scale", 0.5}}),
                                      choice("laplace", {{"mean", 0.3}, {"scale", 0.5}}),
                                      choice("walls", {{"lower", -0.4}, {"upper", 0.6}, {"strength", 2}, {"power", 3}}),
                                      choice("fan_in", {{"scale", 0.5}}),
                                      choice("hierarchical", {{"scale", 0.5}, {"spread", 2}}),
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
  EXPECT_DOUBLE_EQ(energy(examples[6], -0.7), 2);
  EXPECT_DOUBLE_EQ(energy(choice("fan_in", {{"scale", 2}}), 4), 2);
}

TEST(Prior, SaysWhetherItCanBeNormalised) {
  const std::vector<bool> proper = {false, true, true, true, true, true, true};
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
  EXPECT_THROW(prior_of(choice("fan_in", {{"scale", 0}})), Error);
  EXPECT_THROW(prior_of(choice("hierarchical", {{"spread", 0}})), Error);
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
    if (prior_of(c).row->learned) continue;  // below
    Energy<double> u =
        with_terms(mlp(network({2, 3, 1}), line(10)), {{"layer1.weight", c}, {"layer2.bias", choice("gaussian")}});
    expect_gradient_matches(u, some_point(dimension_of(u), 0.7));
  }
}

TEST(WithPriors, WeightsAreScaledByTheirInputsAndBiasesAreNot) {
  const auto blocks = mlp(network({2, 3, 1}), line(10))->blocks();
  const Choice c = choice("fan_in", {{"scale", 3}});
  EXPECT_THAT(prior_of(c, block_named("layer1.weight", blocks)).numbers, ElementsAre(3 / std::sqrt(2.0)));
  EXPECT_THAT(prior_of(c, block_named("layer2.weight", blocks)).numbers, ElementsAre(3 / std::sqrt(3.0)));
  EXPECT_THAT(prior_of(c, block_named("layer2.bias", blocks)).numbers, ElementsAre(3));
}

// All weights and biases of a network under a hierarchical prior, as a run has it.
Energy<double> hierarchical(const Choice& c, const Dataset& data) {
  auto data_energy = mlp(network({2, 3, 1}), data);
  const auto scales = learned_scales(c, data_energy->blocks());
  Energy<double> u(std::move(data_energy));
  u.terms.learn(scales);
  const auto blocks = u.blocks();
  for (const Block& b : blocks) u.terms.add(BlockPrior{b.name, b.role == Role::scale ? prior_of_scales(c) : c}, blocks);
  u.arrange(blocks);
  return u;
}

TEST(WithPriors, ALearnedScaleForEachLayerHasTheRightGradient) {
  Energy<double> u = hierarchical(choice("hierarchical", {{"scale", 0.5}, {"spread", 2}}), line(10));
  const auto blocks = u.blocks();
  ASSERT_EQ(blocks.size(), 6u);
  EXPECT_EQ(blocks[4].name, "layer1.log_scale");
  EXPECT_EQ(blocks[5].name, "layer2.log_scale");
  EXPECT_EQ(blocks[4].layer, 1u) << "parts chosen by layer take it along";
  EXPECT_DOUBLE_EQ(blocks[4].neutral, std::log(0.5));
  expect_gradient_matches(u, some_point(dimension_of(u), 0.7));
  Energy<double> copy = u;
  expect_gradient_matches(copy, some_point(dimension_of(u), 0.4));
}

// exp(-N U_prior) is the product of normal densities of weights with their normalisation, which the scale needs: from
// one point to another U changes by the logarithm of their ratio.
TEST(WithPriors, ALearnedScaleIsThatOfANormalisedDensity) {
  const Dataset data = line(10);
  const double centre = 0.5, spread = 2;
  Energy<double> u = hierarchical(choice("hierarchical", {{"scale", centre}, {"spread", spread}}), data);
  const auto plain = mlp(network({2, 3, 1}), data);
  const auto log_normal = [](double x, double s) { return -x * x / (2 * s * s) - std::log(s); };
  const auto off = [&](const std::vector<double>& q) {
    std::vector<double> g(q.size()), of_data(q.begin(), q.begin() + 13), unused(13);
    double sum = 0;
    for (const Block& b : u.blocks())
      for (std::size_t i = 0; i < b.size(); ++i) {
        const double x = q[b.offset + i];
        if (b.role == Role::scale) sum += log_normal(x - std::log(centre), spread);
        else if (b.role == Role::bias) sum += log_normal(x, centre);
        else sum += log_normal(x, std::exp(q[b.layer == 1 ? 13 : 14]) / std::sqrt(double(b.fan_in)));
      }
    return 10 * (evaluated(u, q, {}, g) - evaluated(*plain, of_data, {}, unused)) + sum;
  };
  EXPECT_NEAR(off(some_point(15, 0.7)), off(some_point(15, 0.4, "another")), 1e-11);
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
