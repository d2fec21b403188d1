// SPDX-License-Identifier: Apache-2.0
// An energy of one's own, sampled by BAOAB: U = (x^2 - 1)^2 + y^2 / 2 at temperature 1/2.
#include <cstdio>

#include "kelvin/chain/chain.h"

// U of two blocks of parameters, and its gradient.
struct TwoWells : kelvin::Potential<double> {
  std::vector<kelvin::Block> parameters = {{.name = "x"}, {.name = "y"}};

  const std::vector<kelvin::Block>& blocks() const override { return parameters; }
  double operator()(kelvin::Weights<const double> q, const kelvin::Evaluation&, kelvin::Weights<double> g) override {
    const double x = *q[0], y = *q[1], well = x * x - 1;
    *g[0] = 4 * x * well;
    *g[1] = y;
    return well * well + y * y / 2;
  }
  std::unique_ptr<Potential> clone() const override { return std::make_unique<TwoWells>(*this); }
};

int main() {
  kelvin::Energy<double> energy(std::make_unique<TwoWells>());
  kelvin::PartSettings part;
  part.scheme = "BAOAB";
  part.step = kelvin::Choice::number_of("constant", "value", 0.2);
  part.temperature = kelvin::Choice::number_of("constant", "value", 0.5);
  const std::size_t steps = 200000;
  const kelvin::Recipe recipe = kelvin::make_recipe({{"all", part}}, {}, energy.blocks(), {.steps = double(steps)});

  const kelvin::Noise<double> noise;
  const std::uint64_t seed = 1;
  kelvin::Chain<double> chain(std::move(energy), recipe, kelvin::Batches({}, 0, seed, 0), noise, seed, 0);
  chain.start(std::vector<double>{1, 0});
  double right = 0, square = 0;
  for (std::size_t n = 0; n < steps; ++n) {
    chain.step();
    const auto q = chain.q();
    right += (q[0] > 0) / double(steps);
    square += q[1] * q[1] / double(steps);
  }
  std::printf("in the right well %.2f (exact 0.50), <y^2> %.2f (exact 0.50)\n", right, square);
  return right > 0.4 && right < 0.6 && square > 0.45 && square < 0.55 ? 0 : 1;
}
