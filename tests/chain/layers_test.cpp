// SPDX-License-Identifier: Apache-2.0
// What layers with running statistics or random numbers ask of a chain and an energy.
#include "kelvin/function/layers.h"

#include <gtest/gtest.h>

#include <numeric>

#include "kelvin/chain/chain.h"
#include "kelvin/energy/likelihood.h"
#include "kelvin/energy/penalty.h"
#include "tests/finite_difference.h"
#include "tests/support.h"

namespace kelvin {
namespace {

constexpr std::size_t image_rows = 12;

Dataset images(std::size_t rows = image_rows) {
  Dataset data;
  data.rows = rows;
  data.shape = {2, 3, 3};
  data.input_names.resize(18, "x");
  data.target_names.resize(2, "y");
  data.inputs = some_point(rows * 18, 1.5, "inputs");
  data.targets = some_point(rows * 2, 1, "targets");
  return data;
}

std::unique_ptr<Likelihood<double>> network_of(const std::vector<std::string>& layers, std::size_t rows = image_rows) {
  ModelSettings settings;
  assign(settings.layers, Value(layers), "model.layers");
  return make_likelihood<double>(settings, images(rows), {});
}

const std::vector<std::string> normed = {"batch_norm", "conv 2 3",    "batch_norm", "relu",
                                         "flatten",    "dropout 0.4", "dense 2"};

struct LayersWalker {
  Noise<double> noise;
  std::unique_ptr<Likelihood<double>> network;
  Recipe recipe;
  Chain<double> chain;
  explicit LayersWalker(const std::string& batch, const std::string& scheme = "BAOAB")
      : network(network_of(normed)),
        recipe(recipe_for(*network, moving(scheme, 0.05))),
        chain(network->clone(), recipe, Batches({.size = {batch}}, image_rows, 3, 1), noise, 3, 1) {}
  void start() {
    std::vector<double> q = some_point(chain.q().size(), 0.3);
    for (const Block& b : recipe.blocks)
      if (b.role == Role::gain || b.buffer()) std::fill_n(q.begin() + long(b.offset), b.size(), b.neutral);
    chain.start(q);
  }
  std::vector<double> values(const std::string& name) {
    const Block& b = block_named(name, recipe.blocks);
    const auto mine = chain.q().subspan(b.offset, b.size());
    return {mine.begin(), mine.end()};
  }
  std::vector<double> q() { return {chain.q().begin(), chain.q().end()}; }
};

// running += momentum (statistic - running) at each evaluation, so after n of them what is left of the start is
// (1 - momentum)^n. The first layer sees the same rows each time.
TEST(LayersInAChain, RunningStatisticsFollowThoseOfTheRows) {
  LayersWalker w("full");
  w.start();
  for (int n = 0; n < 9; ++n) w.chain.step();
  const Dataset data = images();
  const double left = std::pow(0.9, double(w.chain.evaluations())), count = image_rows * 9;
  ASSERT_EQ(w.chain.evaluations(), 10u);
  for (std::size_t c = 0; c < 2; ++c) {
    double mean = 0, square = 0;
    for (std::size_t i = c; i < data.inputs.size(); i += 2) mean += data.inputs[i] / count;
    for (std::size_t i = c; i < data.inputs.size(); i += 2) square += std::pow(data.inputs[i] - mean, 2) / (count - 1);
    EXPECT_NEAR(w.values("layer1.running_mean")[c], (1 - left) * mean, 1e-14);
    EXPECT_NEAR(w.values("layer1.running_variance")[c], left + (1 - left) * square, 1e-13);
  }
  for (const double variance : w.values("layer3.running_variance")) EXPECT_NE(variance, 1);
}

// Mean and variance of a channel of some rows; 9 pixels each.
std::pair<double, double> moments_of(const Dataset& data, std::size_t channel, std::size_t first, std::size_t rows) {
  double mean = 0, square = 0;
  const double count = double(rows * 9);
  for (std::size_t i = first * 18 + channel; i < (first + rows) * 18; i += 2) mean += data.inputs[i] / count;
  for (std::size_t i = first * 18 + channel; i < (first + rows) * 18; i += 2)
    square += std::pow(data.inputs[i] - mean, 2) / (count - 1);
  return {mean, square};
}

// What one evaluation of all rows with momentum 1 leaves behind is the statistics of these rows in every layer.
TEST(LayersInAChain, StatisticsTakenAnewAreThoseOfAllRows) {
  const auto layers = [](const std::string& momentum) {
    const std::string norm = "batch_norm momentum " + momentum;
    return std::vector<std::string>{norm, "conv 2 3", norm, "relu", "flatten", "dense 2"};
  };
  const auto network = network_of(layers("0.3")), once = network_of(layers("1"));
  const auto stale = some_point(dimension_of(*network), 0.5);
  const auto offsets = offsets_of(network->blocks(), network->blocks());
  auto q = stale, lost = stale;
  network->retake_statistics({q.data(), offsets.data()});
  (*once)({stale.data(), offsets.data()}, {}, {lost.data(), offsets.data()});
  const Dataset data = images();
  std::size_t statistics = 0;
  for (std::size_t b = 0; b < network->blocks().size(); ++b) {
    const Block& block = network->blocks()[b];
    for (std::size_t i = block.offset; i < block.offset + block.size(); ++i) {
      statistics += block.buffer();
      if (block.buffer()) EXPECT_NEAR(q[i], stale[i] - lost[i], 1e-14) << block.name;
      else EXPECT_EQ(q[i], stale[i]) << block.name;
    }
  }
  EXPECT_EQ(statistics, 2 * 2 + 2 * 3u) << "mean and variance of two channels, then of three";
  for (std::size_t c = 0; c < 2; ++c) {
    const auto [mean, variance] = moments_of(data, c, 0, image_rows);
    EXPECT_NEAR(q[block_named("layer1.running_mean", network->blocks()).offset + c], mean, 1e-14);
    EXPECT_NEAR(q[block_named("layer1.running_variance", network->blocks()).offset + c], variance, 1e-13);
  }
}

TEST(LayersInAChain, StatisticsOfManyRowsAreTheMeanOverTheirChunks) {
  constexpr std::size_t many = most_rows_at_once + 77;
  const auto network = network_of({"batch_norm", "flatten", "dense 2"}, many);
  auto q = some_point(dimension_of(*network), 0.5);
  const auto offsets = offsets_of(network->blocks(), network->blocks());
  network->retake_statistics({q.data(), offsets.data()});
  const Dataset data = images(many);
  double mean = 0, variance = 0;
  for (std::size_t first = 0; first < many; first += chunk_rows) {
    const std::size_t rows = std::min(chunk_rows, many - first);
    const auto [m, v] = moments_of(data, 0, first, rows);
    mean += m * double(rows) / double(many);
    variance += v * double(rows) / double(many);
  }
  EXPECT_NEAR(q[block_named("layer1.running_mean", network->blocks()).offset], mean, 1e-14);
  EXPECT_NEAR(q[block_named("layer1.running_variance", network->blocks()).offset], variance, 1e-13);
}

TEST(LayersInAChain, AResumedChainGoesOnBitForBit) {
  for (const std::string batch : {"full", "5"}) {
    LayersWalker whole(batch), resumed(batch);
    whole.start();
    for (int n = 0; n < 7; ++n) whole.chain.step();
    resumed.chain.restore(whole.chain.state());
    for (int n = 0; n < 6; ++n) whole.chain.step();
    for (int n = 0; n < 6; ++n) resumed.chain.step();
    EXPECT_EQ(whole.q(), resumed.q()) << batch;
  }
}

// Readings may take the gradient once more, on the rows of the last evaluation: the statistics have had those.
TEST(LayersInAChain, ReadingsDoNotMoveRunningStatistics) {
  for (const std::string scheme : {"BAOAB", "B2B1AOAB1B2", "ABOBA"}) {
    LayersWalker silent("5", scheme), read("5", scheme);
    silent.start();
    read.start();
    for (int n = 0; n < 5; ++n) silent.chain.step();
    for (int n = 0; n < 5; ++n) read.chain.step_and_read();
    EXPECT_EQ(silent.values("layer1.running_mean"), read.values("layer1.running_mean")) << scheme;
    EXPECT_EQ(silent.q(), read.q()) << scheme;
  }
}

// A kernel is a matrix of outputs x the rest: 3 rows of 2 x 3 x 3 numbers for the first.
using KernelRows = std::vector<std::span<const double>>;
KernelRows rows_of(const Block& b, std::span<const double> q) {
  KernelRows out;
  for (std::size_t r = 0; r < b.rows(); ++r) out.push_back(q.subspan(b.offset + r * b.columns(), b.columns()));
  return out;
}
double product_of(std::span<const double> a, std::span<const double> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

struct HeldNetwork {
  Noise<double> noise;
  std::unique_ptr<Likelihood<double>> network = network_of({"conv 3 3", "filter_response_norm", "flatten", "dense 2"});
  Recipe recipe;
  Chain<double> chain;
  HeldNetwork(const std::string& scheme, const Choice& constraint)
      : recipe(recipe_for(*network, held(scheme, constraint))),
        chain(network->clone(), recipe, Batches({.size = {"5"}}, image_rows, 3, 1), noise, 3, 1) {
    std::vector<double> q = some_point(recipe.size, 0.3);
    settle<double>(recipe, q, [](std::string_view) {});
    chain.start(q);
  }
  static PartSettings held(const std::string& scheme, const Choice& constraint) {
    PartSettings part = moving(scheme, 0.02);
    part.constraint = constraint;
    return part;
  }
};

TEST(LayersInAChain, KernelsStayOrthogonal) {
  for (const char* scheme : {"BAOAB", "S", "adam"}) {
    HeldNetwork w(scheme, Choice("orthogonal"));
    for (int n = 0; n < 60; ++n) w.chain.step();
    for (const Block& b : w.recipe.blocks) {
      if (!b.is_matrix()) continue;
      ASSERT_LE(b.rows(), b.columns()) << "wide: its rows are orthonormal";
      const KernelRows rows = rows_of(b, w.chain.q());
      for (std::size_t i = 0; i < rows.size(); ++i)
        for (std::size_t j = 0; j < rows.size(); ++j)  // the tolerance of the constraint in double
          EXPECT_NEAR(product_of(rows[i], rows[j]), i == j, 2e-13) << b.name << " with " << scheme;
    }
  }
}

TEST(LayersInAChain, EveryNumberOfAnyBlockStaysInItsCircle) {
  constexpr double radius = 0.2;
  HeldNetwork w("BAOAB", Choice("circle", {{"radius", radius}, {"biases", true}}));
  for (int n = 0; n < 60; ++n) w.chain.step();
  std::size_t held = 0;
  for (const Block& b : w.recipe.blocks) {
    if (b.slack()) continue;
    const Block& slack = block_named(b.name + ".slack", w.recipe.blocks);
    ASSERT_EQ(slack.size(), b.size()) << b.name;
    for (std::size_t i = 0; i < b.size(); ++i, ++held) {
      const double q = w.chain.q()[b.offset + i], s = w.chain.q()[slack.offset + i];
      EXPECT_NEAR(q * q + s * s, radius * radius, 1e-15) << b.name;
    }
  }
  EXPECT_EQ(held, dimension_of(*w.network)) << "kernels, gains, thresholds and biases";
}

// The penalty of a kernel is that of its matrix.
TEST(LayersInAChain, PenaltiesTakeKernelsAsMatrices) {
  const Block kernel{.name = "kernel", .shape = {3, 2, 3, 3}, .role = Role::weight};
  const Block matrix{.name = "matrix", .shape = {3, 18}, .role = Role::weight};
  const auto q = some_point(kernel.size(), 0.4);
  const KernelRows rows = rows_of(kernel, q);
  double square = 0;
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) square += std::pow(product_of(rows[i], rows[j]) - double(i == j), 2);
  const ChosenPenalty orthogonal = penalty_of(Choice::number_of("orthogonal", "strength", 0.5));
  std::vector<double> of_kernel(q.size()), of_matrix(q.size());
  const auto add = orthogonal.row->add<double>();
  EXPECT_NEAR(add(kernel, q, orthogonal.numbers, of_kernel), square / 2, 1e-13);
  add(matrix, q, orthogonal.numbers, of_matrix);
  EXPECT_EQ(of_kernel, of_matrix);
}

// Each evaluation drops other numbers; the same evaluation drops the same ones.
TEST(LayersInAChain, DropoutIsAPureFunctionOfTheEvaluation) {
  const auto network = network_of({"flatten", "dropout 0.5", "dense 2"});
  const auto q = some_point(dimension_of(*network), 0.5);
  std::vector<double> g(q.size());
  const auto offsets = offsets_of(network->blocks(), network->blocks());
  const auto energy = [&](const Stream& stream) {
    return (*network)({q.data(), offsets.data()}, {.stream = stream}, {g.data(), offsets.data()});
  };
  const double first = energy({.key = 1, .step = 5});
  EXPECT_NE(energy({.key = 1, .step = 6}), first);
  EXPECT_NE(energy({.key = 1, .walker = 1, .step = 5}), first);
  EXPECT_EQ(energy({.key = 1, .step = 5}), first);
}

// Gradients of parts of the rows, weighted, are that of all of them, which is so only if a row is dropped out in the
// same way wherever it stands.
TEST(LayersInAChain, DropoutIsTheSameForAnySplitOfRows) {
  const auto network = network_of({"conv 2 3", "dropout 0.5", "relu", "flatten", "dropout 0.2", "dense 2"});
  const auto q = some_point(dimension_of(*network), 0.5);
  const auto offsets = offsets_of(network->blocks(), network->blocks());
  const auto gradient = [&](Batch rows, double& energy) {
    std::vector<double> g(q.size());
    const Evaluation e{.rows = rows, .stream = {.key = 7, .step = 3}};
    energy = (*network)({q.data(), offsets.data()}, e, {g.data(), offsets.data()});
    return g;
  };
  double of_all = 0, sum = 0;
  const auto all = gradient({}, of_all);
  const std::vector<std::uint32_t> rows = {11, 3, 4, 0, 1, 2, 5, 10, 9, 6, 8, 7};
  std::vector<double> total(q.size(), 0.0);
  for (const auto& [first, count] : {std::pair{0, 1}, {1, 7}, {8, 4}}) {
    double part = 0;
    const auto g = gradient(Batch(rows).subspan(std::size_t(first), std::size_t(count)), part);
    for (std::size_t i = 0; i < g.size(); ++i) total[i] += g[i] * count / double(image_rows);
    sum += part * count / double(image_rows);
  }
  EXPECT_NEAR(sum, of_all, 1e-14);
  EXPECT_LT(distance(total, all), 1e-14);
}

// About p of the numbers are dropped, and the mean is kept: of 2^16 numbers, to four standard errors.
TEST(LayersInAChain, DropoutDropsItsShareAndKeepsTheMean) {
  constexpr std::size_t n = 1 << 16;
  constexpr double p = 0.3;
  const auto plans = plan_layers(Value(std::vector<std::string>{"dropout 0.3"}), {n});
  const auto layer = layer_named("dropout", "").make<double>(plans[0]);
  std::vector<double> x(n, 1.0), y(n);
  layer->forward({}, {.rows = 1, .x = x.data(), .y = y.data()}, {.training = true, .stream = {.key = 9}});
  const double dropped = double(std::ranges::count(y, 0.0)) / n;
  EXPECT_NEAR(dropped, p, 4 * std::sqrt(p * (1 - p) / n));
  EXPECT_EQ(std::ranges::count(y, 1 / (1 - p)) + std::ranges::count(y, 0.0), long(n));
  layer->forward({}, {.rows = 1, .x = x.data(), .y = y.data()}, {});
  EXPECT_EQ(y, x) << "predictions drop nothing";
}

}  // namespace
}  // namespace kelvin
