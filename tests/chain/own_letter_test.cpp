// SPDX-License-Identifier: Apache-2.0
// Letters made at run time move a chain as those of the table do.
#include <gmock/gmock.h>

#include "kelvin/chain/affine_map.h"
#include "tests/dense.h"
#include "tests/support.h"

namespace kelvin {
namespace {

// dp = -rate p dt + sqrt(2 rate T) dW, solved exactly: letter O with a friction of its own.
template <class Real>
auto bath_of(double rate) {
  return [rate](const Part<Real>& s, double h, std::span<const Real> z) {
    const double keep = std::exp(-rate * h), spread = std::sqrt(s.m * s.T * (1 - keep * keep));
    for (std::size_t i = 0; i < s.size(); ++i) s.p[i] = Real(keep * double(s.p[i]) + spread * double(z[i]));
  };
}

Letter bath_row(char symbol) {
  Letter row = {};
  row.symbol = symbol;
  row.moves_p = true;
  row.normals = 1;
  row.thermal = true;
  row.meaning = "a bath of its own friction";
  return row;
}

std::shared_ptr<OwnLetters> letters_with(double rate) {
  auto own = std::make_shared<OwnLetters>();
  own->add(bath_row('Q'), {bath_of<float>(rate), bath_of<double>(rate)});
  return own;
}

TEST(OwnLetter, FollowsTheSameMapAsThatOfTheTable) {
  const auto U = make_toy<double>(gaussian({1, 4}));
  const AffineMap known = affine_map(*U, make_recipe({{"all", moving("BAOAB", 0.3, 1.7)}}, {}, U->blocks(), {}));
  const auto with = [&](double rate) {
    return affine_map(*U, make_recipe({{"all", moving("BAQAB", 0.3)}}, {}, U->blocks(), {}, letters_with(rate)));
  };
  EXPECT_LT((dense(with(1.7).map) - dense(known.map)).cwiseAbs().maxCoeff(), 1e-14);
  EXPECT_LT((dense(with(1.7).noise) - dense(known.noise)).cwiseAbs().maxCoeff(), 1e-14);
  EXPECT_GT((dense(with(1.6).noise) - dense(known.noise)).cwiseAbs().maxCoeff(), 1e-3) << "negative control";
}

TEST(OwnLetter, OutlivesTheOneWhoMadeIt) {
  Noise<float> noise;
  const auto U = make_toy<float>(gaussian({1, 4}));
  Chain<float> chain(U->clone(), make_recipe({{"all", moving("BAQAB", 0.3)}}, {}, U->blocks(), {}, letters_with(2)),
                     Batches({}, 0, 1, 0), noise, 1, 0);
  chain.start(std::vector<float>(2, 0));
  for (int n = 0; n < 100; ++n) chain.step();
  EXPECT_NE(chain.q()[0], 0);
}

TEST(OwnLetter, MistakesAreNamed) {
  OwnLetters own;
  const auto refusal = [&](char symbol, OwnFlow flow) {
    try {
      own.add(bath_row(symbol), std::move(flow));
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_THAT(refusal('(', {bath_of<float>(1), bath_of<double>(1)}), testing::HasSubstr("another symbol"));
  EXPECT_THAT(refusal('Q', {bath_of<float>(1), {}}), testing::HasSubstr("one for double"));
  EXPECT_EQ(refusal('Q', {bath_of<float>(1), bath_of<double>(1)}), "");
}

}  // namespace
}  // namespace kelvin
