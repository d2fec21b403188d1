// SPDX-License-Identifier: Apache-2.0
// A letter of one's own in a scheme: Y, the bath of Andersen (1980). Where O mixes every momentum with noise, Y gives
// each of them, with probability 1 - exp(-gamma h), a fresh one from its Gaussian.
#include <cmath>
#include <cstdio>

#include "kelvin/chain/chain.h"
#include "kelvin/energy/toys.h"

namespace {

// Two normals an entry: the fresh momentum, and what decides whether it is taken.
template <class Real>
void collide(const kelvin::Part<Real>& s, double h, std::span<const Real> z) {
  const double stays = std::exp(-s.gamma * h), sd = std::sqrt(s.m * s.T);
  for (std::size_t i = 0; i < s.size(); ++i) {
    const double uniform = std::erfc(-double(z[2 * i + 1]) / std::sqrt(2.0)) / 2;
    if (uniform > stays) s.p[i] = Real(sd * double(z[2 * i]));
  }
}

kelvin::Letter andersen() {
  kelvin::Letter y{};
  y.symbol = 'Y';
  y.joint = kelvin::Joint::no;  // parts need not meet
  y.moves_p = true;
  y.normals = 2;
  y.thermal = true;
  y.forgets_p = kelvin::Forgets::at_infinite_friction;
  y.meaning = "collide: momenta anew, each with probability 1 - exp(-gamma h)";
  return y;
}

}  // namespace

int main() {
  kelvin::Energy<double> energy(kelvin::make_toy<double>(kelvin::Choice("gaussian")));
  kelvin::PartSettings part;
  part.step = kelvin::Choice::number_of("constant", "value", 0.5);
  part.temperature = kelvin::Choice::number_of("constant", "value", 2);
  const std::size_t steps = 200000;
  part.scheme = "BAYAB";
  const auto letters = std::make_shared<kelvin::OwnLetters>();
  letters->add(andersen(), {collide<float>, collide<double>});
  const kelvin::Recipe recipe =
      kelvin::make_recipe({{"all", part}}, {}, energy.blocks(), {.steps = double(steps)}, letters);

  const kelvin::Noise<double> noise;
  const std::uint64_t seed = 1;
  kelvin::Chain<double> chain(std::move(energy), recipe, kelvin::Batches({}, 0, seed, 0), noise, seed, 0);
  chain.start(std::vector<double>{0});
  double square = 0;
  for (std::size_t n = 0; n < steps; ++n) {
    chain.step();
    square += chain.q()[0] * chain.q()[0] / double(steps);
  }
  std::printf("BAYAB at T = 2: <q^2> %.2f (exact 2.00)\n", square);
  return std::abs(square - 2) < 0.1 ? 0 : 1;
}
