// SPDX-License-Identifier: Apache-2.0
#include "bench/networks.h"

#include <algorithm>
#include <memory>

#include "kelvin/energy/likelihood.h"
#include "kelvin/run/problem.h"

namespace kelvin::bench {
namespace {

constexpr std::size_t vocabulary = 65, sequence_steps = 64, sequence_batch = 32;

// A network on rows of that shape: images with a class each, or words with a class for each of them.
struct LayeredSetup {
  std::vector<std::string> layers;
  Shape shape;
  std::size_t classes, rows, batch;
  bool of_words = false;
};

void fill_whole_numbers(const char* place, std::size_t below_this, std::vector<double>& to) {
  for (std::size_t i = 0; i < to.size(); ++i)
    to[i] = double(below(std::uint32_t(below_this), {stream_key(1, place), 0, 0, 0}, i));
}

// The content does not matter, the sizes do.
Dataset shaped_rows(const LayeredSetup& setup) {
  Dataset data;
  data.rows = setup.rows;
  data.shape = setup.shape;
  const std::size_t steps = setup.of_words ? setup.shape.size() : 1;
  for (std::size_t k = 0; k < setup.shape.size(); ++k) data.input_names.push_back("x" + std::to_string(k));
  for (std::size_t k = 0; k < steps; ++k) data.target_names.push_back("y" + std::to_string(k));
  for (std::size_t k = 0; k < setup.classes; ++k) data.classes.push_back(std::to_string(k));
  std::vector<double> inputs(setup.rows * setup.shape.size());
  if (setup.of_words) fill_whole_numbers("words", setup.classes, inputs);
  else normals({stream_key(1, "images"), 0, 0, 0}, 0, std::span(inputs));
  data.inputs = std::move(inputs);
  data.targets.resize(setup.rows * steps);
  fill_whole_numbers("labels", setup.classes, data.targets);
  if (setup.of_words) data.steps = steps;
  return data;
}

std::function<void()> layered_steps(const LayeredSetup& setup) {
  ModelSettings model;
  model.layers = LayerList(Value::List(setup.layers.begin(), setup.layers.end()));
  model.loss = "softmax_cross_entropy";
  auto network = make_likelihood<float>(model, shaped_rows(setup), {});
  PartSettings part;
  part.scheme = "BAOAB";
  part.step = Choice::number_of("constant", "value", 1e-3);
  part.temperature = Choice::number_of("constant", "value", 1e-4);
  const Recipe recipe = make_recipe({{"all", part}}, {}, network->blocks(), {1, 1});
  BatchSettings batch;
  batch.size.text = std::to_string(setup.batch);
  const auto noise = std::make_shared<Noise<float>>();
  std::vector<float> q(recipe.size);
  normals({stream_key(1, "start"), 0, 0, 0}, 0, std::span(q));
  for (float& x : q) x *= 0.05f;
  for (const Block& block : recipe.blocks)
    if (block.neutral != 0) std::fill_n(q.begin() + long(block.offset), block.size(), float(block.neutral));
  const auto chain =
      std::make_shared<Chain<float>>(std::move(network), recipe, Batches(batch, setup.rows, 1, 0), *noise, 1, 0);
  chain->start(q);
  return [noise, chain] { chain->step(); };
}

LayeredSetup on_words(std::string layers) {
  return {{std::move(layers)}, {sequence_steps}, vocabulary, 1024, sequence_batch, true};
}

LayeredSetup on_images(std::vector<std::string> layers, std::size_t channels, std::size_t side, std::size_t batch) {
  return {std::move(layers), {channels, side, side}, 10, 1024, batch};
}

}  // namespace

std::vector<Case> network_cases() {
  const std::vector<std::pair<const char*, LayeredSetup>> setups = {
      {"baoab small conv net",
       on_images({"conv 3x3 16", "relu", "max_pool 2", "conv 3x3 32", "relu", "max_pool 2", "flatten", "dense 10"}, 1,
                 28, 32)},
      {"baoab lstm 32", on_words("char_lstm 65 32 32")},
      {"baoab 2 x lstm 128", on_words("char_lstm 65 128 128 layers 2")},
      {"baoab transformer 32", on_words("transformer 65 32 2 4 tied 0")},
      {"baoab transformer 128", on_words("transformer 65 128 2 4 tied 0")},
      {"baoab resnet 18 width 16", on_images({"resnet 18 10 width 16"}, 3, 32, 128)},
      {"baoab resnet 18 width 64", on_images({"resnet 18 10"}, 3, 32, 32)},
  };
  std::vector<Case> out;
  for (const auto& [name, setup] : setups) out.push_back({name, [setup = setup] { return layered_steps(setup); }});
  return out;
}

}  // namespace kelvin::bench
