// SPDX-License-Identifier: Apache-2.0
// A network's posterior, sampled and read: a regression with a gap in its data, where the draws must disagree.
#include <cmath>
#include <cstdio>
#include <mutex>

#include "kelvin/core/toml.h"
#include "kelvin/io/problem.h"
#include "kelvin/run/run.h"
#include "kelvin/trajectory/inputs.h"

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

// Keeps the draws that a run makes; those of different walkers may come at the same time.
struct Kept : kelvin::Observer {
  std::vector<std::vector<float>> draws;
  std::mutex mutex;
  void draw(const kelvin::Draw<float>& d) override {
    const std::lock_guard lock(mutex);
    draws.emplace_back(d.q.begin(), d.q.end());
  }
};

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
  kelvin::Run run(settings, kelvin::inputs_from());
  Kept kept;
  run.watch(kept);
  run.go();

  const auto problem = kelvin::make_problem<float>(settings, [](std::string_view) {});
  const std::vector<std::vector<float>>& draws = kept.draws;
  const Prediction inside = predicted_at(2, problem, draws), gap = predicted_at(0, problem, draws);
  std::printf("%zu draws: at 2 %.2f +- %.2f, in the gap %.2f +- %.2f\n", draws.size(), inside.mean, inside.sd, gap.mean,
              gap.sd);
  return draws.size() == 2000 && gap.sd > 2 * inside.sd ? 0 : 1;
}
