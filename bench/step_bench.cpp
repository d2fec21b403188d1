// SPDX-License-Identifier: Apache-2.0
// The cost of a step and of its normals.
#include <benchmark/benchmark.h>

#include "kelvin/chain/problem.h"

namespace kelvin {
namespace {

template <class Real>
void normals_per_second(benchmark::State& state) {
  std::vector<Real> z(1024);
  Stream stream{stream_key(1, "bench"), 0, 0, 0};
  for (auto _ : state) {
    ++stream.step;
    normals(stream, 0, std::span(z));
    benchmark::DoNotOptimize(z.data());
  }
  state.SetItemsProcessed(state.iterations() * 1024);
}
BENCHMARK(normals_per_second<float>);
BENCHMARK(normals_per_second<double>);

void step(benchmark::State& state, const char* layers, const char* loss, const char* generator) {
  const std::string text = std::string("model = { layers = ") + layers + ", loss = \"" + loss + "\", prior = 1.0 }\n" +
                           "data = { generator = " + generator + " }\nbatch = 20\n[part.all]\nstep = 0.001\n";
  const RunSettings settings = read_run_settings(parse_toml(text, "bench"));
  const Problem<float> problem = make_problem<float>(settings, [](std::string_view) {});
  const Noise<float> noise;
  Chain<float> chain = problem.chain(0, noise);
  chain.start(problem.starting_point(0, {}));
  for (auto _ : state) chain.step();
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK_CAPTURE(step, baoab_2_100_1_batch_20, "[2, 100, 1]", "binary_cross_entropy", "\"spiral\"");
BENCHMARK_CAPTURE(step, baoab_2_500_1_batch_20, "[2, 500, 1]", "binary_cross_entropy", "\"spiral\"");

}  // namespace
}  // namespace kelvin
