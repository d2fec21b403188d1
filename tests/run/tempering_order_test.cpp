// SPDX-License-Identifier: Apache-2.0
// The order of the words of continuous tempering, without sampling.
#include <gmock/gmock.h>

#include "kelvin/core/toml.h"
#include "kelvin/io/problem.h"
#include "tests/tempered.h"
#include "tests/weak_order.h"

namespace kelvin {
namespace {

using testing::DoubleNear;
using testing::Each;

// A walker on a double well, with alpha on its way up the ramp and the walls too far to be met.
Prepared prepared(const std::string& form, double h, const std::string& scheme = "BAOAB") {
  const auto settings = read_run_settings(parse_toml(
      fmt::format("model.toy = {{ name = \"double_well\", height = 0.5, tilt = 0.3 }}\n"
                  "part.all = {{ scheme = \"{}\", step = {}, temperature = 0.7, friction = 1.3 }}\n"
                  "tempering = {{ form = \"{}\", bias = \"none\", mass = 1.1, friction = 0.8, pilot = 0 }}\n",
                  scheme, h, form),
      "test"));
  Prepared made;
  const auto problem = make_problem<double>(settings, [](std::string_view) {});
  made.chain = std::make_unique<Chain<double>>(problem.chain(0, *made.noise));
  made.chain->start(std::vector{0.4, 0.9});
  made.state = made.chain->state();
  made.state.p = {-0.6, 0.5};
  return made;
}

std::vector<double> seen(Chain<double>& chain) {
  const double x = chain.q()[0], alpha = chain.q()[1], p = chain.p()[0], r = chain.p()[1];
  return {x * x, p * p, x * p, alpha, alpha * alpha, r, r * r, p * p * alpha};
}

// At this step an order is off by O(h), up to twenty times h.
std::vector<double> orders_of(const std::string& form, const std::string& scheme = "BAOAB") {
  return weak_orders([&](double h) { return prepared(form, h, scheme); }, seen, 0.002);
}

TEST(TemperingOrder, TheSymmetricWordsAreOfOrderTwo) {
  EXPECT_THAT(orders_of("potential"), Each(DoubleNear(2, 0.05)));
  EXPECT_THAT(orders_of("paper"), Each(DoubleNear(2, 0.05)));
}

TEST(TemperingOrder, EulerAndAWordThatReadsOtherwiseBackwardsAreOfOrderOne) {
  EXPECT_THAT(orders_of("euler"), Each(DoubleNear(1, 0.05)));
  EXPECT_THAT(orders_of("potential", "BAO"), Each(DoubleNear(1, 0.05)));
}

// They differ by the error of Euler's step: a wrong term in one of them would show in the first order.
TEST(TemperingOrder, EulerAndThePaperWordSolveTheSameEquations) {
  const auto difference = [](double h) {
    std::vector<double> euler = means_after(1, prepared("euler", h), seen);
    const std::vector<double> paper = means_after(1, prepared("paper", h), seen);
    for (std::size_t i = 0; i < euler.size(); ++i) euler[i] -= paper[i];
    return euler;
  };
  const std::vector<double> coarse = difference(0.002), fine = difference(0.001);
  for (std::size_t i = 0; i < fine.size(); ++i) EXPECT_NEAR(std::log2(coarse[i] / fine[i]), 2, 0.05) << i;
}

}  // namespace
}  // namespace kelvin
