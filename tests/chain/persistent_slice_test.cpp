// SPDX-License-Identifier: Apache-2.0
#include "tests/support.h"

namespace kelvin {
namespace {

// Steps of 1.5 at stiffness 1: without a decision BAB alone would leave <q^2> at T / (1 - h^2/4) = 2.29 T.
PartSettings coarse(const std::string& scheme) { return moving(scheme, 1.5, 0.5, 0.7); }

Estimate mean_square(const std::string& scheme) {
  Walker<double> w(gaussian({1, 0.3}), coarse(scheme));
  std::vector<double> squares;
  for (int n = 0; n < 200000; ++n) {
    w.chain.step();
    squares.push_back(w.chain.q()[0] * w.chain.q()[0]);
  }
  return estimate(squares);
}

TEST(PersistentSlice, SamplesTheLawThatMetropolisDoes) {
  EXPECT_LT(std::abs(mean_square("O{BAB|O").deviation(0.7)), 4);
  EXPECT_GT(std::abs(mean_square("OBABO").deviation(0.7)), 20) << "negative control: without a decision";
}

// Where few proposals are refused, a refusal is as likely to follow another as any with fresh uniforms; with one that
// lasts it is far more likely, since v is still near 1.
TEST(PersistentSlice, RefusesInRuns) {
  const auto after_another = [](const std::string& scheme) {
    const std::vector<double> stiffness(20, 1.0);
    Walker<double> w(gaussian(stiffness), moving(scheme, 0.5, 2, 1));
    double refused = 0, again = 0;
    bool before = false;
    for (int n = 0; n < 50000; ++n) {
      const double q = w.chain.q()[0];
      w.chain.step();
      const bool now = w.chain.q()[0] == q;
      refused += now;
      again += now && before;
      before = now;
    }
    return again / refused;
  };
  EXPECT_GT(after_another("O{BAB|O"), 1.5 * after_another("O{BAB}O"));
}

TEST(PersistentSlice, GoesOnBitForBit) {
  Walker<double> a(gaussian({1, 0.3}), coarse("O{BAB|O")), b(gaussian({1, 0.3}), coarse("O{BAB|O"));
  for (int n = 0; n < 100; ++n) a.chain.step();
  b.chain.restore(a.chain.state());
  for (int n = 0; n < 100; ++n) {
    a.chain.step_and_read();
    b.chain.step_and_read();
  }
  EXPECT_EQ(a.chain.q()[0], b.chain.q()[0]);
  EXPECT_EQ(a.chain.reading().acceptance, b.chain.reading().acceptance);
  EXPECT_LT(a.chain.reading().acceptance, 1);
}

}  // namespace
}  // namespace kelvin
