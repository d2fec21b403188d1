// SPDX-License-Identifier: Apache-2.0
// A prior that learns a scale for each layer, in a run: its blocks, their parts and starts, and what it samples.
#include <gmock/gmock.h>

#include <cmath>

#include "kelvin/core/toml.h"
#include "kelvin/io/problem.h"
#include "kelvin/run/problem.h"
#include "tests/files.h"
#include "tests/support.h"

namespace kelvin {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Problem<double> scaled_problem(const std::string& toml) {
  return make_problem<double>(read_run_settings(parse_toml(toml, "test")), [](std::string_view) {});
}

std::string run_with_prior(const std::string& prior, const std::string& parts) {
  return "precision = \"double\"\ndata = { generator = { name = \"gap\", rows = 8 } }\n"
         "model = { layers = [1, 3, 1], loss = \"gaussian\", scale = 1.0, prior = " +
         prior + " }\n" + parts;
}

const std::string learned_scales_prior = "{ name = \"hierarchical\", scale = 0.5 }";

std::vector<std::string> names_in_part(const Recipe& recipe, const std::string& part) {
  std::vector<std::string> out;
  for (const Block& b : recipe.blocks)
    if (recipe.part_of.at(b.name) == part) out.push_back(b.name);
  return out;
}

TEST(Hierarchical, ScalesAreBlocksThatMoveWithTheirLayerOrByThemselves) {
  const auto all = scaled_problem(run_with_prior(learned_scales_prior, "part.all = { temperature = 1.0 }\n"));
  EXPECT_EQ(all.recipe.blocks.size(), 6u);
  const Block& scale = block_named("layer2.log_scale", all.recipe.blocks);
  EXPECT_DOUBLE_EQ(all.starting_point(0, {})[scale.offset], std::log(0.5));
  const auto by_layer = scaled_problem(
      run_with_prior(learned_scales_prior,
                     "part.one = { blocks = [\"layer1.*\"], temperature = 1.0 }\npart.two = { blocks = [\"layer2.*\"], "
                     "temperature = 1.0 }\n"));
  EXPECT_THAT(names_in_part(by_layer.recipe, "one"), ElementsAre("layer1.weight", "layer1.bias", "layer1.log_scale"));
  const auto apart = scaled_problem(run_with_prior(
      learned_scales_prior,
      "part.scales = { blocks = [\"layer*.log_scale\"], temperature = 1.0 }\npart.others = { blocks = [\"*\", "
      "\"!layer*.log_scale\"], temperature = 1.0 }\n"));
  EXPECT_THAT(names_in_part(apart.recipe, "scales"), ElementsAre("layer1.log_scale", "layer2.log_scale"));
  EXPECT_EQ(scaled_problem(run_with_prior("1.0", "part.all = { temperature = 1.0 }\n")).recipe.blocks.size(), 4u);
}

TEST(Hierarchical, IsOfTheModelAndNotOfAPart) {
  EXPECT_THAT(error_of([] {
                scaled_problem(run_with_prior("1.0", "part.all = { temperature = 1.0, prior = \"hierarchical\" }\n"));
              }),
              HasSubstr("give it as model.prior, not in part \"all\""));
}

// With a noise of scale 1000 eight rows say nothing: log s ~ N(log 0.5, 0.5^2), and a weight over its scale is a
// standard normal. Errors are of batch means; a prior with another centre is the negative control.
TEST(Hierarchical, SamplesItsPriorWhereTheDataSayNothing) {
  const std::string toml =
      "precision = \"double\"\ndata = { generator = { name = \"gap\", rows = 8 } }\n"
      "model = { layers = [1, 3, 1], activation = \"tanh\", loss = \"gaussian\", scale = 1000.0, prior = { name = "
      "\"hierarchical\", scale = 0.5, spread = 0.5 } }\n"
      "part.all = { scheme = \"BAOAB\", step = 0.3, friction = 1.0, temperature = \"posterior\" }\n";
  const Problem<double> problem = scaled_problem(toml);
  const Noise<double> noise;
  Chain<double> chain = problem.chain(0, noise);
  chain.start(problem.starting_point(0, {}));
  const std::size_t t = block_named("layer1.log_scale", problem.recipe.blocks).offset;
  const std::size_t w = block_named("layer1.weight", problem.recipe.blocks).offset;
  std::vector<double> logs, squares, ratios;
  for (int n = 0; n < 400000; ++n) {
    chain.step();
    if (n < 1000 || n % 4) continue;
    const auto q = chain.q();
    logs.push_back(q[t]);
    squares.push_back(std::pow(q[t] - std::log(0.5), 2));
    ratios.push_back(q[w] * q[w] * std::exp(-2 * q[t]));  // one input: fan-in 1
  }
  // The step of 0.3 against sd 0.5 x 0.6 biases by some per cent.
  EXPECT_LT(std::abs(estimate(logs).mean - std::log(0.5)), 4 * estimate(logs).error + 0.03);
  EXPECT_LT(std::abs(estimate(squares).mean - 0.25), 4 * estimate(squares).error + 0.02);
  EXPECT_LT(std::abs(estimate(ratios).mean - 1), 4 * estimate(ratios).error + 0.05);
  EXPECT_GT(std::abs(estimate(logs).mean - std::log(0.8)), 4 * estimate(logs).error + 0.03) << "negative control";
}

}  // namespace
}  // namespace kelvin
