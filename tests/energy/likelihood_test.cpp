// SPDX-License-Identifier: Apache-2.0
// The network: gradients of every activation and loss, batches, blocks, clones, scores, refusals.
#include "kelvin/energy/likelihood.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <new>
#include <numeric>

#include "kelvin/energy/loss.h"
#include "kelvin/function/activation.h"
#include "tests/allocations.h"
#include "tests/small_network.h"

namespace kelvin {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Dataset classification(std::size_t rows, std::size_t count) {
  Dataset d = regression(rows, 1);
  for (std::size_t k = 0; k < count; ++k) d.classes.push_back("class" + std::to_string(k));
  for (std::size_t i = 0; i < rows; ++i) d.targets[i] = double((i * 7 / 3) % count);
  return d;
}

// A network and data that suit a loss: 3-4-2 for numbers, 3-4-1 for two classes, 3-4-3 for three.
std::pair<ModelSettings, Dataset> suited(const Loss& loss, std::vector<std::string> activation) {
  const std::size_t outputs = loss.targets == Targets::class_number ? 3 : loss.wants_classes() ? 1 : 2;
  const long units = long(outputs * loss.outputs_each());
  ModelSettings s = network({3, 4, units}, std::move(activation), std::string(loss.name));
  if (!loss.output.empty()) s.output = loss.output;
  if (loss.counts) {
    Dataset counts = regression(6, outputs);
    for (double& y : counts.targets) y = std::floor(4 * std::abs(y));
    return {s, counts};
  }
  return {s, loss.wants_classes() ? classification(6, std::max<std::size_t>(2, outputs)) : regression(6, outputs)};
}

template <class Real>
PlacedLikelihood<Real> placed(const Likelihood<Real>& u) {
  return {u.copy(), u.blocks()};
}

template <class U, class Real>
std::vector<Real> gradient(U& u, const std::vector<Real>& q, Batch rows = {}) {
  std::vector<Real> g(q.size(), Real(1e30));  // what was there must not matter
  evaluated(u, q, rows, g);
  return g;
}

TEST(Mlp, GradientIsRightForEveryLossAndActivation) {
  for (const Loss& loss : losses())
    for (const Activation& hidden : activations()) {
      SCOPED_TRACE(std::string(loss.name) + " with " + std::string(hidden.name));
      const auto [settings, data] = suited(loss, {std::string(hidden.name)});
      const auto u = make(settings, data);
      expect_gradient_matches(*u, some_point(dimension_of(*u), 0.7));
    }
}

TEST(Mlp, GradientIsRightForDeepNetworksWithMixedActivations) {
  for (const char* output : {"linear", "tanh", "elu", "softsign"}) {
    ModelSettings s = network({3, 5, 4, 3, 2}, {"tanh", "relu", "softplus"});
    s.output = output;
    const auto u = make(s, regression(7, 2));
    expect_gradient_matches(*u, some_point(dimension_of(*u), 0.7));
  }
}

TEST(Mlp, GradientIsRightWithoutHiddenLayersAndWithAFixedScale) {
  ModelSettings s = network({3, 2}, {"relu"}, "gaussian");
  s.scale = 0.3;
  const auto u = make(s, regression(7, 2));
  EXPECT_EQ(u->blocks().size(), 2u) << "a fixed scale is no parameter";
  expect_gradient_matches(*u, some_point(dimension_of(*u), 0.7));
}

TEST(Mlp, FloatGradientAgreesWithDouble) {
  for (const Loss& loss : losses()) {
    const auto [settings, data] = suited(loss, {"tanh"});
    const auto in_double = make(settings, data);
    const auto in_float = make<float>(settings, data);
    const std::size_t n = dimension_of(*in_double);
    const auto q = some_point<float>(n, 0.7);
    const auto g = gradient(*in_float, q);
    const auto exact = gradient(*in_double, std::vector<double>(q.begin(), q.end()));
    EXPECT_LT(distance({g.begin(), g.end()}, exact), 1e-5 * norm(exact)) << loss.name;
  }
}

TEST(Mlp, LearnsTheNumbersOfItsNoiseUnlessTheyAreFixed) {
  const auto names = [](const ModelSettings& s) {
    std::vector<std::string> out;
    const auto u = make(s, regression(5, 2));
    for (const Block& b : u->blocks())
      if (b.role == Role::scale) {
        out.push_back(b.name);
        EXPECT_EQ(b.size(), 2u) << "one for each target";
      }
    return out;
  };
  ModelSettings s = network({3, 2}, {"relu"}, "student_t");
  EXPECT_THAT(names(s), ElementsAre("noise.log_scale", "noise.log_freedom"));
  s.freedom = 4;
  EXPECT_THAT(names(s), ElementsAre("noise.log_scale"));
  expect_gradient_matches(*make(s, regression(7, 2)), some_point(10, 0.7));
  s.freedom = 0, s.scale = 0.5;
  EXPECT_THAT(names(s), ElementsAre("noise.log_freedom"));
  expect_gradient_matches(*make(s, regression(7, 2)), some_point(10, 0.7));
  s = network({3, 4}, {"relu"}, "heteroscedastic_student_t");
  EXPECT_THAT(names(s), ElementsAre("noise.log_freedom"));
}

TEST(Mlp, HasTheValueComputedByHand) {
  Dataset d = regression(1, 1);
  d.inputs = {1, 2, 3};
  d.targets = {1};
  const auto u = make(network({3, 2, 1}, {"relu"}), d);
  // hidden: 1*1 + 0*2 - 1*3 + 0.5 = -1.5 -> 0;   0.5*1 + 1*2 + 0*3 - 0.5 = 2;   output: 7*0 + 3*2 + 0.25 = 6.25
  const std::vector<double> q = {1, 0, -1, 0.5, 1, 0, 0.5, -0.5, 7, 3, 0.25};
  std::vector<double> g(q.size()), out(1);
  EXPECT_DOUBLE_EQ(evaluated(*u, q, {}, g), 5.25 * 5.25);
  placed(*u).predict(q, {}, out);
  EXPECT_DOUBLE_EQ(out[0], 6.25);
  EXPECT_THAT(g, ElementsAre(0, 0, 0, 31.5, 63, 94.5, 0, 31.5, 0, 21, 10.5));  // slope of the output 10.5
}

TEST(Mlp, BlocksAreNamedShapedAndOrderedLikePyTorch) {
  const auto blocks = make(network({3, 4, 2}, {"relu"}, "gaussian"), regression(5, 2))->blocks();
  const std::vector<std::string> names = {"layer1.weight", "layer1.bias", "layer2.weight", "layer2.bias",
                                          "noise.log_scale"};
  const std::size_t rows[] = {4, 4, 2, 2, 2}, columns[] = {3, 1, 4, 1, 1}, fan_in[] = {3, 3, 4, 4, 0};
  ASSERT_EQ(blocks.size(), names.size());
  std::size_t end = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    EXPECT_EQ(blocks[i].name, names[i]);
    EXPECT_EQ(blocks[i].rows(), rows[i]);
    EXPECT_EQ(blocks[i].columns(), columns[i]);
    EXPECT_EQ(blocks[i].fan_in, fan_in[i]);
    EXPECT_EQ(blocks[i].is_matrix(), columns[i] > 1);
    EXPECT_EQ(blocks[i].offset, end);
    end += blocks[i].size();
  }
}

// ---- batches

constexpr std::size_t many = 1300;  // three chunks, the last one incomplete

TEST(Mlp, ABatchIsTheMeanOfItsRows) {
  const auto u = make(network({3, 4, 2}, {"tanh"}, "gaussian"), regression(many, 2));
  const auto q = some_point(dimension_of(*u), 0.7);
  const auto mean_of_single_rows = [&](const std::vector<std::uint32_t>& rows) {
    std::pair<double, std::vector<double>> mean{0, std::vector<double>(q.size())};
    std::vector<double> g(q.size());
    for (const std::uint32_t& row : rows) {
      mean.first += evaluated(*u, q, {&row, 1}, g) / double(rows.size());
      for (std::size_t i = 0; i < g.size(); ++i) mean.second[i] += g[i] / double(rows.size());
    }
    return mean;
  };
  std::vector<std::uint32_t> all(many);
  std::iota(all.begin(), all.end(), 0);
  for (const std::vector<std::uint32_t>& rows : {{5}, {7, 3, 7, 1299, 0}, all}) {
    std::vector<double> g(q.size());
    const double value = evaluated(*u, q, rows, g);
    const auto [mean, slope] = mean_of_single_rows(rows);
    EXPECT_NEAR(value, mean, 1e-13 * std::abs(mean) * 30);  // rounding of at most 1300 terms, as a random walk
    EXPECT_LT(distance(g, slope), 1e-12 * norm(slope));
  }
}

TEST(Mlp, AnEmptyBatchIsEveryRowToTheBit) {
  const auto u = make<float>(network({3, 4, 2}, {"relu"}), regression(many, 2));
  std::vector<std::uint32_t> all(many);
  std::iota(all.begin(), all.end(), 0);
  const auto q = some_point<float>(26, 0.7);
  std::vector<float> g(q.size()), h(q.size()), out(2 * many), gathered(2 * many);
  EXPECT_EQ(evaluated(*u, q, {}, g), evaluated(*u, q, all, h));
  EXPECT_EQ(g, h);
  placed(*u).predict(q, {}, out);
  placed(*u).predict(q, all, gathered);
  EXPECT_EQ(out, gathered);
}

TEST(Mlp, PredictsTheRowsOfABatchInTheirOrder) {
  const auto u = make(network({3, 4, 2}, {"tanh"}), regression(many, 2));
  const auto q = some_point(dimension_of(*u), 0.7);
  std::vector<double> all(2 * many), some(6);
  placed(*u).predict(q, {}, all);
  const std::vector<std::uint32_t> rows = {1200, 3, 600};
  placed(*u).predict(q, rows, some);
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (std::size_t k = 0; k < 2; ++k) EXPECT_NEAR(some[2 * i + k], all[2 * rows[i] + k], 1e-14);
}

// ---- layout, clones, memory

TEST(Mlp, ArrangedBlocksGiveThePermutedGradient) {
  const auto u = make(network({3, 4, 2}, {"tanh"}, "gaussian"), regression(9, 2));
  auto blocks = u->blocks();
  const auto before = blocks;
  const auto q = some_point(dimension_of(*u), 0.7);
  const auto g = gradient(*u, q);
  std::vector<double> unused(q.size());
  const double value = evaluated(*u, q, {}, unused);

  std::size_t offset = 0;
  for (const std::size_t i : {4, 2, 0, 3, 1}) {
    blocks[i].offset = offset;
    offset += blocks[i].size();
  }
  const auto permuted = [&](const std::vector<double>& x) {
    std::vector<double> out(x.size());
    for (std::size_t b = 0; b < blocks.size(); ++b)
      std::copy_n(x.begin() + long(before[b].offset), blocks[b].size(), out.begin() + long(blocks[b].offset));
    return out;
  };
  Energy<double> arranged(u->clone());
  std::reverse(blocks.begin(), blocks.end());  // found by name, not by place
  arranged.arrange(blocks);
  std::reverse(blocks.begin(), blocks.end());
  EXPECT_EQ(gradient(arranged, permuted(q)), permuted(g));
  EXPECT_EQ(arranged(permuted(q), {}, unused), value);
  blocks[0].shape = {3, 3};
  EXPECT_THROW(arranged.arrange(blocks), Error);
}

TEST(Mlp, ClonesAgreeToTheBitAndShareNothingThatChanges) {
  const auto u = make<float>(network({3, 4, 2}, {"relu"}), regression(50, 2));
  const auto v = u->clone();
  const auto q = some_point<float>(26, 0.7), elsewhere = some_point<float>(26, 1.5, "elsewhere");
  const auto g = gradient(*u, q);
  gradient(*v, elsewhere);
  EXPECT_EQ(gradient(*u, q), g);
  EXPECT_EQ(gradient(*v, q), g);
  EXPECT_EQ(v->rows(), 50u);
}

TEST(Mlp, KeepsItsOwnCopyOfTheData) {
  Dataset d = regression(10, 2);
  const auto u = make(network({3, 4, 2}, {"tanh"}), d);
  const auto q = some_point(dimension_of(*u), 0.7);
  const auto g = gradient(*u, q);
  d.inputs = std::vector<double>(d.inputs.size());
  EXPECT_EQ(gradient(*u, q), g);
}

TEST(Mlp, EvaluationsAfterTheFirstAllocateNothing) {
  const auto u = make<float>(network({3, 16, 2}, {"relu"}, "gaussian"), regression(many, 2));
  const auto q = some_point<float>(100, 0.7);
  std::vector<float> g(q.size());
  const std::vector<std::uint32_t> rows = {1, 2, 3};
  Energy<float> energy(u->clone());
  const auto both = [&] {
    energy(q, {.rows = rows}, g);
    energy(q, {}, g);
  };
  both();
  const std::size_t before = allocations;
  both();
  EXPECT_EQ(allocations, before);
}

// ---- scores

TEST(Score, IsInTheOriginalUnitsOfTheTargets) {
  Dataset original = regression(20, 2), stored = original;
  const double mean[] = {5, -2}, scale[] = {10, 0.5};
  stored.target_units = {{5, -2}, {10, 0.5}};
  for (std::size_t i = 0; i < stored.targets.size(); ++i)
    stored.targets[i] = (original.targets[i] - mean[i % 2]) / scale[i % 2];
  for (const char* loss : {"mean_squared", "absolute", "gaussian"}) {
    // Without hidden layers the same function in both units: rescaled weights; the noise rescales with the targets.
    const auto in_original = make(network({3, 2}, {"relu"}, loss), original);
    const auto in_stored = make(network({3, 2}, {"relu"}, loss), stored);
    const auto q = some_point(dimension_of(*in_original), 0.7);
    auto r = q;
    for (std::size_t k = 0; k < 2; ++k) {
      for (std::size_t j = 0; j < 3; ++j) r[3 * k + j] /= scale[k];
      r[6 + k] = (q[6 + k] - mean[k]) / scale[k];
      if (r.size() == 10) r[8 + k] -= std::log(scale[k]);
    }
    const Score a = placed(*in_original).score(q, {}), b = placed(*in_stored).score(r, {});
    std::vector<double> unused(q.size());
    EXPECT_NEAR(a.loss, evaluated(*in_original, q, {}, unused), 1e-13) << loss;
    EXPECT_NEAR(b.loss, a.loss, 1e-12) << loss;
    EXPECT_NEAR(b.rmse, a.rmse, 1e-12) << loss;
    EXPECT_TRUE(std::isnan(a.accuracy));
    if (std::string(loss) == "mean_squared") {
      EXPECT_NEAR(a.rmse * a.rmse, a.loss, 1e-13);
    }
  }
}

TEST(Score, AFixedScaleIsGivenInOriginalUnits) {
  Dataset stored = regression(20, 1);
  stored.target_units = {{5}, {10}};
  ModelSettings s = network({3, 1}, {"relu"}, "gaussian");
  s.scale = 20;  // two stored units
  const auto u = make(s, stored);
  const std::vector<double> q(4);
  std::vector<double> g(4);
  // The density of the stored number is `scale` times that of the original one.
  EXPECT_NEAR(evaluated(*u, q, {}, g), placed(*u).score(q, {}).loss - std::log(10), 1e-13);
  const double rmse = placed(*u).score(q, {}).rmse;
  EXPECT_NEAR(placed(*u).score(q, {}).loss, rmse * rmse / (2 * 400) + std::log(20) + std::log(2 * M_PI) / 2, 1e-13);
}

TEST(Score, CountsRightClassesBySignProbabilityOrLargestOutput) {
  Dataset d = classification(4, 2);
  d.inputs = {1, 0, 0, -1, 0, 0, 2, 0, 0, -2, 0, 0};  // the sign of the first input tells the class, but for row 3
  d.targets = {1, 0, 1, 1};
  for (const char* loss : {"binary_cross_entropy", "hinge", "log", "mean_squared"}) {
    ModelSettings s = network({3, 1}, {"relu"}, loss);
    if (std::string(loss) == "log") s.output = "sigmoid";
    const auto u = make(s, d);
    EXPECT_DOUBLE_EQ(placed(*u).score(std::vector<double>{3, 0, 0, 0}, {}).accuracy, 0.75) << loss;
    EXPECT_DOUBLE_EQ(placed(*u).score(std::vector<double>{-3, 0, 0, 0}, {}).accuracy, 0.25) << loss;
    EXPECT_TRUE(std::isnan(placed(*u).score(std::vector<double>{3, 0, 0, 0}, {}).rmse));
  }
  for (const char* loss : {"softmax_cross_entropy", "mean_squared"}) {
    const auto u = make(network({3, 2}, {"relu"}, loss), d);
    EXPECT_DOUBLE_EQ(placed(*u).score(std::vector<double>{-1, 0, 0, 1, 0, 0, 0, 0}, {}).accuracy, 0.75) << loss;
    const std::vector<std::uint32_t> wrong = {3};
    EXPECT_DOUBLE_EQ(placed(*u).score(std::vector<double>{-1, 0, 0, 1, 0, 0, 0, 0}, wrong).accuracy, 0) << loss;
  }
}

// ---- refusals

std::string refusal(const ModelSettings& settings, const Dataset& data) {
  try {
    make(settings, data);
    return "";
  } catch (const Error& e) {
    return e.what();
  }
}

TEST(Mlp, RefusesSizesThatDoNotFit) {
  const Dataset d = regression(5, 2);
  EXPECT_EQ(refusal(network({3, 4, 2}, {"tanh"}), d), "");
  EXPECT_THAT(refusal(network({4, 4, 2}, {"tanh"}), d), HasSubstr("is 4, but the data have 3 inputs"));
  EXPECT_THAT(refusal(network({3, 4, 1}, {"tanh"}), d), HasSubstr("has 1 outputs, but loss \"mean_squared\" needs 2"));
  EXPECT_THAT(refusal(network({3}, {"tanh"}), d), HasSubstr("at least two"));
  EXPECT_THAT(refusal(network({3, 0, 2}, {"tanh"}), d), HasSubstr("size 0"));
  EXPECT_THAT(refusal(network({3, -5, 2}, {"tanh"}), d), HasSubstr("size -5"));
  EXPECT_THAT(refusal(network({3, 100000, 100000, 2}, {"tanh"}), d), HasSubstr("2^31 parameters"));
  EXPECT_THAT(refusal(network({3, 4, 4, 4, 2}, {"tanh", "relu"}), d), HasSubstr("2 activations for 3 hidden layers"));
  EXPECT_THAT(refusal(network({3, 4, 2}, {"tanh"}), Dataset()), HasSubstr("no rows"));
}

TEST(Mlp, RefusesOutputsThatDoNotSuitTheLoss) {
  const Dataset d = classification(6, 2);
  const auto with_output = [&](std::string loss, std::string output, long outputs) {
    ModelSettings s = network({3, outputs}, {"relu"}, std::move(loss));
    s.output = std::move(output);
    return refusal(s, d);
  };
  EXPECT_THAT(with_output("binary_cross_entropy", "sigmoid", 1), HasSubstr("needs model.output = \"linear\""));
  EXPECT_THAT(with_output("softmax_cross_entropy", "tanh", 2), HasSubstr("needs model.output = \"linear\""));
  EXPECT_THAT(with_output("log", "linear", 1), HasSubstr("needs model.output = \"sigmoid\""));
  EXPECT_THAT(with_output("hinge", "sigmoid", 1), HasSubstr("never falls below 0"));
  EXPECT_EQ(with_output("hinge", "tanh", 1), "");
}

TEST(Mlp, RefusesAScaleThatMeansNothing) {
  ModelSettings s = network({3, 2}, {"relu"});
  s.scale = 1;
  EXPECT_THAT(refusal(s, regression(5, 2)), HasSubstr("has none"));
  s.loss = "gaussian";
  s.scale = -1;
  EXPECT_THAT(refusal(s, regression(5, 2)), HasSubstr("above 0"));
  s = network({3, 4}, {"relu"}, "heteroscedastic_gaussian");
  s.scale = 1;
  EXPECT_THAT(refusal(s, regression(5, 2)), HasSubstr("the widths are outputs; leave it out"));
  s = network({3, 2}, {"relu"}, "gaussian");
  s.freedom = 4;
  EXPECT_THAT(refusal(s, regression(5, 2)), HasSubstr("model.freedom is given, but loss \"gaussian\" has none"));
  s.loss = "student_t";
  EXPECT_EQ(refusal(s, regression(5, 2)), "");
  s.freedom = 2;
  EXPECT_THAT(refusal(s, regression(5, 2)), HasSubstr("give degrees of freedom above 2, or 0 to learn it"));
  s.freedom = 0, s.dispersion = 1;
  EXPECT_THAT(refusal(s, regression(5, 2)), HasSubstr("model.dispersion is given"));
}

}  // namespace
}  // namespace kelvin
