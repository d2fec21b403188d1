// SPDX-License-Identifier: Apache-2.0
// An energy of one's own, sampled by BAOAB: U = (x^2 - 1)^2 + y^2 / 2 at temperature 1/2, by a run of four walkers.
#include <cstdio>

#include "kelvin/run/run.h"

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

// What is asked of the draws. A run on several threads tells of them from several at once.
struct Averages : kelvin::Observer {
  double draws = 0, right = 0, square = 0;
  void draw(const kelvin::Draw<double>& draw) override {
    ++draws;
    right += draw.q[0] > 0;
    square += draw.q[1] * draw.q[1];
  }
};

int main() {
  kelvin::RunSettings settings;
  settings.model.own = "two wells";
  settings.precision = "double";
  settings.walkers = 4;
  settings.steps = 50000;
  settings.every = 1;
  kelvin::PartSettings& part = settings.part["all"];
  part.scheme = "BAOAB";
  part.step = kelvin::Choice::number_of("constant", "value", 0.2);
  part.temperature = kelvin::Choice::number_of("constant", "value", 0.5);

  const auto model = std::make_shared<kelvin::Model>();
  model->with_double.potential = std::make_shared<TwoWells>();
  kelvin::RunEnvironment environment;
  environment.model = model;
  kelvin::Run run(settings, environment);
  Averages seen;
  run.watch(seen);
  run.go();

  const double right = seen.right / seen.draws, square = seen.square / seen.draws;
  std::printf("in the right well %.2f (exact 0.50), <y^2> %.2f (exact 0.50)\n", right, square);
  return right > 0.4 && right < 0.6 && square > 0.45 && square < 0.55 ? 0 : 1;
}
