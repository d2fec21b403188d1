// SPDX-License-Identifier: Apache-2.0
// What storing costs: the time of a run that keeps every draw over that of the same run without a store.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <chrono>

#include "kelvin/trajectory/store.h"

namespace kelvin {
namespace {

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// The counter `ratio` is to stay below 2.
void storing_every_draw_2_100_1(benchmark::State& state) {
  const RunSettings settings = read_run_settings(
      parse_toml("model = { layers = [2, 100, 1], loss = \"binary_cross_entropy\", prior = 1.0 }\n"
                 "data = { generator = \"spiral\" }\nbatch = 20\npart.all = { step = 0.001, temperature = 0.002 }\n",
                 "bench"));
  const Problem<float> problem = make_problem<float>(settings, [](std::string_view) {});
  const Noise<float> noise;
  std::string directory = std::filesystem::temp_directory_path() / "kelvin_bench_XXXXXX";
  if (!mkdtemp(directory.data())) throw Error("no temporary directory");
  const auto timed = [&](bool stored) {
    Plan plan;
    plan.steps = 100000, plan.every = stored ? 1 : plan.steps, plan.round = plan.steps;
    std::vector<Chain<float>> walkers;
    walkers.push_back(problem.chain(0, noise));
    walkers.front().start(problem.starting_point(0, {}));
    const double start = seconds_now();
    if (stored) {
      Store<float> store(directory, problem, plan.draws(), {}, seconds_now);
      run<float>(
          walkers, plan, [&](const Draw<float>& draw) { store.keep(draw); }, [](std::uint64_t) {});
      store.finish();
    } else {
      run<float>(
          walkers, plan, [](const Draw<float>&) {}, [](std::uint64_t) {});
    }
    return seconds_now() - start;
  };
  double without = 0, with = 0;
  for (auto _ : state) {
    without += timed(false), with += timed(true);
    state.PauseTiming();
    std::filesystem::remove_all(directory);
    std::filesystem::create_directory(directory);
    state.ResumeTiming();
  }
  std::filesystem::remove_all(directory);
  state.counters["ratio"] = with / without;
  state.counters["draws_per_second"] = 100000 * double(state.iterations()) / with;
}
BENCHMARK(storing_every_draw_2_100_1)->Iterations(3)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace kelvin
