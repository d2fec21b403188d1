// SPDX-License-Identifier: Apache-2.0
// Softmax regression on real images: the example reaches what it promises, and its gradient is the gradient.
#include <cmath>

#include "kelvin/core/toml.h"
#include "kelvin/io/problem.h"
#include "kelvin/run/problem.h"
#include "tests/json.h"
#include "tests/program.h"

namespace kelvin {
namespace {

const std::string example = KELVIN_SOURCE_DIR "/examples/fashion.toml";

TEST(Fashion, TheExampleReachesEightyThreePercent) {
  const Desk desk;
  const Outcome ran = desk.kelvin("train " + example + " -q -o run");
  ASSERT_EQ(ran.code, 0) << ran.error;
  const auto test = Json::parse(desk.read("run/run.json")).at("final").at("test");
  EXPECT_GE(test.at("accuracy").as<double>(), 0.83);
  EXPECT_LT(test.at("loss").as<double>(), 0.5);
}

// Of the conv net of examples/fashion_conv.toml, in a short run on 2000 images: what draws say together is better than
// what the last of them says, by many standard errors.
TEST(Fashion, TheAverageOfAPosteriorOfConvNetsBeatsItsLastDraw) {
  const Desk desk;
  const Outcome ran = desk.kelvin("sample " KELVIN_SOURCE_DIR
                                  "/examples/fashion_conv.toml -q -o run --set data.rows=2000 --set steps=2000 --set "
                                  "warmup=1000 --set every=100 --set log_every=3000");
  ASSERT_EQ(ran.code, 0) << ran.error;
  EXPECT_EQ(desk.kelvin("diagnose run").code, 0);
  const Outcome predicted = desk.kelvin("predict run --json");
  ASSERT_EQ(predicted.code, 0) << predicted.error;
  const Json found = Json::parse(predicted.out), rows = found["tables"][0]["rows"];
  for (const Json& row : rows) {
    const double average = row["average"].as<double>(), last = row["last draw"].as<double>();
    if (row["metric"] == "accuracy") {
      EXPECT_GT(average, std::max(last, 0.7));
    }
    if (row["metric"] == "nll") {
      EXPECT_LT(average, last - 4 * row["last draw +-"].as<double>());
    }
    if (row["metric"] == "adaptive_ece") {
      EXPECT_LT(average, last);
    }
  }
}

TEST(Fashion, TheGradientOnABatchOfImagesIsThatOfFiniteDifferences) {
  Value file = read_toml(example);
  override_with(file, "precision=double");
  override_with(file, "data.rows=500");
  const Problem<double> problem = make_problem<double>(read_run_settings(file), [](std::string_view) {});
  Energy<double> U(problem.train->likelihood().copy());
  U.arrange(problem.recipe.blocks);
  const auto q = problem.starting_point(0, {});
  std::vector<std::uint32_t> rows;
  for (std::uint32_t i = 0; i < 60; ++i) rows.push_back(7 * i);
  std::vector<double> g(q.size()), direction(q.size()), scratch(q.size());
  U(q, {.rows = rows}, g);
  normals({stream_key(1, "direction"), 0, 0, 0}, 0, std::span(direction));
  double slope = 0;
  for (std::size_t i = 0; i < q.size(); ++i) slope += g[i] * direction[i];
  const auto difference = [&](double e) {
    auto ahead = q, behind = q;
    for (std::size_t i = 0; i < q.size(); ++i) ahead[i] += e * direction[i], behind[i] -= e * direction[i];
    return (U(ahead, {.rows = rows}, scratch) - U(behind, {.rows = rows}, scratch)) / (2 * e);
  };
  const double coarse = std::abs(difference(1e-3) - slope), fine = std::abs(difference(5e-4) - slope);
  EXPECT_LT(coarse, 1e-3 * std::abs(slope));
  EXPECT_NEAR(coarse / fine, 4, 0.2) << "the error must fall as the square of the increment";
}

}  // namespace
}  // namespace kelvin
