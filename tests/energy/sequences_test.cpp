// SPDX-License-Identifier: Apache-2.0
// Layers of sequences against PyTorch, mistakes, and a target for each step.
#include <gmock/gmock.h>

#include <sstream>

#include "kelvin/core/settings.h"
#include "kelvin/energy/likelihood.h"
#include "kelvin/function/network.h"
#include "kelvin/function/stack.h"
#include "kelvin/io/npy.h"
#include "tests/allocations.h"
#include "tests/finite_difference.h"

namespace kelvin {
namespace {

using testing::HasSubstr;

// A network as tests/torch_sequences.py names it: "lstm 5 2 @ 7 3 of 4", with the shape of a row and their number.
struct Reference {
  std::string name;
  std::vector<LayerPlan> plans;
  Shape input;
  std::size_t rows;
  std::vector<double> numbers;
};

Shape shape_of(const std::vector<std::size_t>& extents) {
  if (extents.size() == 1) return {extents[0]};
  if (extents.size() == 2) return {extents[0], extents[1]};
  return {extents[2], extents[0], extents[1]};  // an image, whose channels lie last
}

std::vector<Reference> references() {
  std::vector<Reference> all;
  for (const auto& [name, array] : read_npz(KELVIN_SOURCE_DIR "/tests/reference/sequences.npz")) {
    const std::size_t at = name.find(" @ ");
    std::vector<std::string> layers;
    std::istringstream listed(name.substr(0, at));
    for (std::string layer; std::getline(listed >> std::ws, layer, ',');) layers.push_back(layer);
    std::istringstream sizes(name.substr(at + 3));
    std::vector<std::size_t> extents;
    for (std::size_t n = 0; sizes >> n;) extents.push_back(n);
    sizes.clear();
    std::string of;
    Reference one{.name = name, .plans = {}, .input = shape_of(extents), .rows = 0, .numbers = array.values};
    sizes >> of >> one.rows;
    one.plans = plan_layers(Value(layers), one.input);
    number_layers(one.plans);
    all.push_back(std::move(one));
  }
  return all;
}

template <class Real>
void expect_near(std::span<const Real> ours, std::span<const double> theirs, const std::string& what) {
  double largest = 1;
  for (const double x : theirs) largest = std::max(largest, std::abs(x));
  for (std::size_t i = 0; i < theirs.size(); ++i)
    ASSERT_NEAR(double(ours[i]), theirs[i], 1e-5 * largest) << what << " number " << i;
}

// Both are sums of at most some thousand terms of order 1, and the reference is rounded to float.
template <class Real>
void expect_agreement(const Reference& reference) {
  SCOPED_TRACE(reference.name);
  std::vector<Block> listed, blocks;
  for (const LayerPlan& plan : reference.plans) add_blocks(plan, listed);
  for (const Block& block : listed)
    if (std::ranges::find(blocks, block.name, &Block::name) == blocks.end()) blocks.push_back(block);
  lay_out(blocks);
  const std::size_t weights = parameter_count(blocks), in = reference.rows * reference.input.size();
  const std::size_t out = reference.rows * output_of(reference.plans, reference.input).size();
  const auto offsets = offsets_of(listed, blocks);
  const bool words = reference.input.rank() == 1;
  std::span<const double> left = reference.numbers;
  ASSERT_EQ(left.size(), in + 2 * weights + 2 * out + (words ? 0 : in));
  const auto next = [&](std::size_t count) {
    const auto some = left.first(count);
    left = left.subspan(count);
    return some;
  };
  const auto given_x = next(in), given_w = next(weights), y = next(out), given_dy = next(out), g = next(weights);
  const std::vector<Real> x(given_x.begin(), given_x.end()), w(given_w.begin(), given_w.end());
  const std::vector<Real> dy(given_dy.begin(), given_dy.end());
  std::vector<Real> slopes(weights, Real(NAN)), dx(in, Real(NAN));

  Stack<Real> stack(reference.plans, reference.input);
  const Weights<const Real> placed{w.data(), offsets.data()};
  const Real* outputs = stack.forward(placed, reference.rows, x.data(), {.training = true});
  expect_near<Real>({outputs, out}, y, "output");
  std::ranges::copy(dy, stack.output_slopes());
  stack.backward(placed, {.g = {slopes.data(), offsets.data()}, .wanted = {}}, dx.data());
  expect_near<Real>(slopes, g, "slope");
  if (!words) expect_near<Real>(dx, next(in), "slope of the inputs");
}

TEST(Sequences, AreThoseOfPyTorch) {
  const auto all = references();
  EXPECT_GT(all.size(), 40u);
  for (const Reference& reference : all) {
    expect_agreement<double>(reference);
    expect_agreement<float>(reference);
  }
}

ModelSettings settings_of(const std::vector<std::string>& layers) {
  ModelSettings settings;
  assign(settings.layers, Value(layers), "model.layers");
  return settings;
}

std::string refusal(const std::vector<std::string>& layers, const Shape& input) {
  try {
    network_plan(settings_of(layers), input);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(Sequences, MistakesAreNamed) {
  EXPECT_THAT(refusal({"lstm 4"}, {5}),
              HasSubstr("\"lstm\" takes a sequence (steps x numbers), but what comes before"));
  EXPECT_THAT(refusal({"lstm 4 1 first"}, {5, 3}), HasSubstr("output is \"first\"; give \"all\" or \"last\""));
  EXPECT_THAT(refusal({"attention 3"}, {5, 4}), HasSubstr("cannot share the 4 numbers of a step among 3 heads"));
  EXPECT_THAT(refusal({"transformer_block 3 8"}, {5, 4}), HasSubstr("among 3 heads"));
  EXPECT_THAT(refusal({"dense 3", "tied"}, {5, 4}),
              HasSubstr("\"tied\" shares the weight of an \"embedding\", but none"));
  EXPECT_THAT(refusal({"embedding 7 4", "dense 3", "tied"}, {5}), HasSubstr("takes steps of 4 numbers"));
  EXPECT_THAT(refusal({"embedding 7 4", "tied", "dense 4", "tied"}, {5}), HasSubstr("comes twice"));
  EXPECT_THAT(refusal({"embedding 7 4"}, {5, 3}), HasSubstr("\"embedding\" takes a list of words"));
  EXPECT_THAT(refusal({"patches 3 4"}, {1, 8, 9}), HasSubstr("cannot cut an image of 1 x 8 x 9 into patches of 3 x 3"));
  EXPECT_THAT(refusal({"patches 3 4"}, {9}), HasSubstr("takes an image"));
  EXPECT_THAT(refusal({"transformer_block 1 3 norm middle"}, {5, 4}), HasSubstr("norm is \"middle\""));
}

TEST(Sequences, CountTheirLayersBeforeTheyArePlanned) {
  const std::vector<std::pair<std::vector<std::string>, Shape>> networks = {
      {{"transformer 7 4 3 2"}, {5}},
      {{"transformer 7 4 3 2 tied 0", "last_step", "dense 2"}, {5}},
      {{"vit 2 4 2 2 3"}, {1, 4, 4}},
      {{"char_lstm 7 3 4 2"}, {5}},
      {{"dense 4", "sinusoidal", "transformer_block 1 3 norm last", "feed_forward 3"}, {5, 3}}};
  for (const auto& [layers, input] : networks) {
    const ModelSettings settings = settings_of(layers);
    std::uint32_t deepest = 0;
    for (const Block& block : network_blocks(settings, input)) deepest = std::max(deepest, block.layer);
    EXPECT_EQ(weighted_layers(settings), deepest) << layers[0];
  }
}

// Words whose class at each step is a word too.
Dataset some_words(std::size_t rows, std::size_t steps, std::size_t words) {
  Dataset data;
  data.rows = rows;
  data.steps = steps;
  for (std::size_t k = 0; k < words; ++k) data.classes.push_back(std::to_string(k));
  data.input_names.resize(steps, "x");
  data.target_names.resize(steps, "y");
  for (std::size_t i = 0; i < rows * steps; ++i) {
    data.inputs.doubles().push_back(double((i * i + i / 3) % words));
    data.targets.push_back(double((i * 5 + i / 2) % words));
  }
  return data;
}

ModelSettings language_model(const std::vector<std::string>& layers) {
  ModelSettings settings = settings_of(layers);
  settings.loss = "softmax_cross_entropy";
  return settings;
}

TEST(Sequences, WithATargetForEachStepHaveTheGradientOfFiniteDifferences) {
  for (const std::vector<std::string>& layers :
       {std::vector<std::string>{"transformer 7 4 1 2 3 activation tanh"},
        std::vector<std::string>{"transformer 7 4 1 2 3 causal 0 tied 0 activation tanh"},
        std::vector<std::string>{"char_lstm 7 2 3 2"},
        std::vector<std::string>{"embedding 7 3", "sinusoidal", "rnn 3", "tied bias 0"}}) {
    SCOPED_TRACE(layers[0]);
    for (const std::size_t steps : {1, 3}) {
      const auto network = make_likelihood<double>(language_model(layers), some_words(4, steps, 7), {});
      expect_gradient_matches(*network, some_point(dimension_of(*network), 0.5));
    }
  }
}

// How rows are shared out among chunks does not count: U and its gradient are means of those of each row by itself.
TEST(Sequences, OfManyRowsAreTakenInChunks) {
  constexpr std::size_t rows = 12;
  const Dataset data = some_words(rows, 64, 7);
  const ModelSettings settings = language_model({"transformer 7 32 1 2 activation tanh"});
  ASSERT_LT(make_network<double>(settings, data.input_shape())->rows_at_once(rows), rows);
  const auto network = make_likelihood<double>(settings, data, {});
  const auto q = some_point(dimension_of(*network), 0.1);
  std::vector<double> g(q.size()), of_row(q.size()), mean(q.size());
  const double U = evaluated(*network, q, {}, g);
  double mean_energy = 0;
  for (std::uint32_t row = 0; row < rows; ++row) {
    mean_energy += evaluated(*network, q, Batch(&row, 1), of_row) / double(rows);
    for (std::size_t i = 0; i < q.size(); ++i) mean[i] += of_row[i] / double(rows);
  }
  EXPECT_NEAR(U, mean_energy, 1e-13 * U);  // rounding of sums over a few hundred numbers, as below
  EXPECT_LT(distance(g, mean), 1e-12 * norm(mean));
}

// The block is listed once, where the embedding is; what is wanted of it is wanted of both layers.
TEST(Sequences, ShareABlockWhereTheyAreTied) {
  const auto network =
      make_likelihood<double>(language_model({"embedding 7 3", "rnn 3", "tied"}), some_words(4, 3, 7), {});
  std::vector<std::string> names;
  for (const Block& block : network->blocks()) names.push_back(block.name);
  EXPECT_EQ(std::ranges::count(names, "layer1.weight"), 1);
  EXPECT_EQ(names.back(), "layer3.bias");
  const auto q = some_point(dimension_of(*network), 0.5);
  std::vector<double> whole(q.size());
  evaluated(*network, q, {}, whole);
  for (std::size_t wanted = 0; wanted < names.size(); ++wanted) {
    std::vector<char> mask(names.size(), 0);
    mask[wanted] = 1;
    std::vector<double> part(q.size(), NAN);
    evaluated(*network, q, {}, part, mask);
    const Block& block = network->blocks()[wanted];
    for (std::size_t i = block.offset; i < block.offset + block.size(); ++i) EXPECT_EQ(part[i], whole[i]) << block.name;
  }
}

// U is the mean over all steps of all rows, whatever the batch and however it is cut.
TEST(Sequences, AreScoredStepByStep) {
  const std::size_t rows = 5, steps = 3, words = 7;
  const Dataset data = some_words(rows, steps, words);
  for (const char* loss : {"softmax_cross_entropy", "mean_squared"}) {
    ModelSettings settings = language_model({"char_lstm 7 2 3"});
    settings.loss = loss;
    const auto network = make_likelihood<double>(settings, data, {});
    EXPECT_EQ(network->observations(), rows * steps);
    const auto q = some_point(dimension_of(*network), 0.5);
    std::vector<double> g(q.size()), sum(q.size()), outputs(rows * steps * words);
    std::vector<std::size_t> offsets;
    for (const Block& block : network->blocks()) offsets.push_back(block.offset);
    const Weights<const double> placed{q.data(), offsets.data()};
    network->predict(placed, {}, outputs);
    double expected = 0, right = 0;
    for (std::size_t i = 0; i < rows * steps; ++i) {
      const double* f = outputs.data() + i * words;
      const auto label = std::size_t(data.targets[i]);
      double of_all = 0, squares = 0;
      for (std::size_t k = 0; k < words; ++k) {
        of_all += std::exp(f[k]);
        squares += (f[k] - double(k == label)) * (f[k] - double(k == label)) / double(words);
      }
      expected += settings.loss == "mean_squared" ? squares : std::log(of_all) - f[label];
      right += std::size_t(std::max_element(f, f + words) - f) == label;
    }
    expected /= double(rows * steps);
    EXPECT_NEAR(evaluated(*network, q, {}, g), expected, 1e-12);
    const Score score = network->score(placed, {});
    EXPECT_NEAR(score.loss, expected, 1e-12);
    EXPECT_NEAR(score.accuracy, right / double(rows * steps), 1e-12);
    if (settings.loss == "mean_squared") EXPECT_TRUE(std::isnan(score.perplexity));
    else EXPECT_NEAR(score.perplexity, std::exp(expected), 1e-12);
    for (const std::uint32_t row : {0u, 1u, 2u, 3u, 4u}) {
      std::vector<double> of_row(q.size());
      evaluated(*network, q, Batch(&row, 1), of_row);
      for (std::size_t k = 0; k < q.size(); ++k) sum[k] += of_row[k] / double(rows);
    }
    EXPECT_LT(distance(sum, g), 1e-13);
  }
}

TEST(Sequences, AllocateNothingAfterTheFirstCall) {
  for (const char* layers : {"transformer 7 4 1 2 3", "char_lstm 7 2 3 2"}) {
    const auto network = make_likelihood<float>(language_model({layers}), some_words(8, 3, 7), {});
    std::vector<Block> blocks = network->blocks();
    lay_out(blocks);
    const auto offsets = offsets_of(network->blocks(), blocks);
    const std::vector<float> q(parameter_count(blocks), 0.1f);
    std::vector<float> g(q.size());
    const auto evaluate = [&](Batch rows) {
      (*network)({q.data(), offsets.data()}, {.rows = rows}, {g.data(), offsets.data()});
    };
    const std::vector<std::uint32_t> some = {5, 0, 7, 2, 2};
    evaluate(some);
    const std::size_t before = allocations;
    evaluate(some);
    evaluate(Batch(some).first(3));
    EXPECT_EQ(allocations, before) << layers;
  }
}

TEST(Sequences, RefuseTargetsThatDoNotFit) {
  const auto refused = [](const std::vector<std::string>& layers, const Dataset& data) {
    try {
      const auto network = make_likelihood<double>(language_model(layers), data, {});
      std::vector<double> q(dimension_of(*network)), g(q.size());
      evaluated(*network, q, {}, g);
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  Dataset data = some_words(2, 3, 7);
  EXPECT_EQ(refused({"char_lstm 7 2 3"}, data), "");
  EXPECT_THAT(refused({"char_lstm 7 2 3", "last_step"}, data), HasSubstr("a target for each of 3 steps; end with"));
  EXPECT_THAT(refused({"char_lstm 6 2 3"}, data), HasSubstr("the last layer has 6 outputs"));
  EXPECT_THAT(refused({"embedding 5 2", "dense 7"}, data),
              HasSubstr("is given 5 as a word, but has 5 words; give whole"));
  data.targets.pop_back();
  EXPECT_THAT(refused({"char_lstm 7 2 3"}, data), HasSubstr("5 targets, but 2 rows of 3 steps need 6"));
  data = some_words(2, 3, 7);
  data.targets[4] = 7;
  EXPECT_THAT(refused({"char_lstm 7 2 3"}, data), HasSubstr("row 1 has class number 7"));
  data.steps = 0;
  EXPECT_THAT(refused({"char_lstm 7 2 3"}, data), HasSubstr("3 x 7 for each row; end with a layer such as"));
}

}  // namespace
}  // namespace kelvin
