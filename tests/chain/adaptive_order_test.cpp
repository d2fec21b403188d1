// SPDX-License-Identifier: Apache-2.0
// The order of adaptive Langevin, without sampling.
#include <gmock/gmock.h>

#include "tests/weak_order.h"

namespace kelvin {
namespace {

using testing::DoubleNear;
using testing::Each;

// By the means of q^2, p^2, q p and xi^2 after a step from a fixed state on the double well. At this step an order is
// off by O(h), some four times h here.
std::vector<double> orders_of(const std::string& scheme) {
  const auto prepare = [&](double h) {
    PartSettings part = moving(scheme, h);
    part.sigma = number(0.9), part.eps = number(0.7), part.xi = 0;
    const Choice toy("double_well", {{"height", 0.5}, {"tilt", 0.3}});
    Prepared made;
    made.chain = std::make_unique<Chain<double>>(make_toy<double>(toy), recipe_for(*make_toy<double>(toy), part),
                                                 Batches({}, 0, 1, 0), *made.noise, 1, 0);
    made.chain->start(std::vector{0.7});
    made.state = made.chain->state();
    made.state.p = {-0.6}, made.state.xi = {0.8};
    return made;
  };
  const auto observe = [](Chain<double>& chain) {
    const double q = chain.q()[0], p = chain.p()[0], xi = chain.state().xi[0];
    return std::vector{q * q, p * p, q * p, xi * xi};
  };
  return weak_orders(prepare, observe, 0.01);
}

TEST(AdaptiveOrder, NamedSchemesHaveTheOrderTheyClaim) {
  int adaptive = 0;
  for (const NamedScheme& s : schemes()) {
    if (!parse_scheme(s.text).adaptive || std::isnan(s.order)) continue;
    EXPECT_THAT(orders_of(std::string(s.text)), Each(DoubleNear(s.order, 0.1))) << s.text;
    ++adaptive;
  }
  EXPECT_GE(adaptive, 3);
}

TEST(AdaptiveOrder, StringsThatReadOtherwiseBackwardsHaveOrderOne) {
  const std::vector<double> orders = orders_of("BAFE");
  EXPECT_NEAR(orders[1], 1, 0.1);
  EXPECT_NEAR(orders[3], 1, 0.1);
}

}  // namespace
}  // namespace kelvin
