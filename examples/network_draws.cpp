// SPDX-License-Identifier: Apache-2.0
// A network's posterior, sampled and read: a regression with a gap in its data, where the draws must disagree.
#include <cmath>
#include <cstdio>

#include "kelvin/run/problem.h"
#include "kelvin/run/run.h"

namespace {

const char* const run_file = R"(
steps = 20000
warmup = 2000
every = 20
walkers = 2
data = { generator = { name = "gap", rows = 100 } }
model = { layers = [1, 20, 1], activation = "tanh", loss = "gaussian", scale = 0.1, prior = "gaussian" }
part.all = { scheme = "BAOAB", step = 0.05, temperature = "posterior" }
)";

struct Prediction {
  double mean = 0, sd = 0;
};

Prediction predicted_at(double x, const kelvin::Problem<float>& problem, const std::vector<std::vector<float>>& draws) {
  const kelvin::Inputs<float> inputs(std::vector<double>{x}, 1);
  kelvin::PlacedFunction<float> network = problem.function();
  double sum = 0, squares = 0;
  for (const std::vector<float>& q : draws) {
    std::vector<float> y(1);
    network.predict(q, inputs, y);
    sum += y[0];
    squares += double(y[0]) * y[0];
  }
  const double n = double(draws.size()), mean = sum / n;
  return {mean, std::sqrt(squares / n - mean * mean)};
}

}  // namespace

int main() {
  const kelvin::RunSettings settings = kelvin::read_run_settings(kelvin::parse_toml(run_file, "example"));
  const auto problem = kelvin::make_problem<float>(settings, [](std::string_view) {});
  const kelvin::Noise<float> noise;
  std::vector<kelvin::Chain<float>> walkers;
  for (std::uint32_t w = 0; w < settings.walkers; ++w) {
    walkers.push_back(problem.chain(w, noise));
    walkers.back().start(problem.starting_point(w, {}));
  }
  kelvin::Plan plan;
  plan.warmup = std::uint64_t(settings.warmup);
  plan.steps = std::uint64_t(settings.steps);
  plan.every = std::uint64_t(settings.every);
  plan.round = plan.total();
  std::vector<std::vector<float>> draws;
  kelvin::run<float>(
      walkers, plan, [&](const kelvin::Draw<float>& d) { draws.emplace_back(d.q.begin(), d.q.end()); },
      [](std::uint64_t) {});

  const Prediction inside = predicted_at(2, problem, draws), gap = predicted_at(0, problem, draws);
  std::printf("%zu draws: at 2 %.2f +- %.2f, in the gap %.2f +- %.2f\n", draws.size(), inside.mean, inside.sd, gap.mean,
              gap.sd);
  return draws.size() == 2000 && gap.sd > 2 * inside.sd ? 0 : 1;
}
