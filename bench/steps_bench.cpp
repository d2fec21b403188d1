// SPDX-License-Identifier: Apache-2.0
// Every case under Google Benchmark:  build/bench/steps_bench --benchmark_filter=baoab
// With --serve it reads "case seconds" lines and answers seconds per unit of work, so that compare.py can take turns
// between programs.
#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdio>
#include <iostream>
#include <map>

#include "bench/cases.h"

namespace {

using namespace kelvin::bench;

std::function<void()> prepared(const std::string& name) {
  for (const Case& c : cases())
    if (c.name == name) return c.prepare();
  std::fprintf(stderr, "no case \"%s\"\n", name.c_str());
  std::exit(2);
}

void serve() {
  std::map<std::string, std::function<void()>> ready;
  for (std::string line; std::getline(std::cin, line);) {
    const auto space = line.rfind(' ');
    const std::string name = line.substr(0, space);
    const double seconds = std::stod(line.substr(space));
    auto& work = ready[name];
    if (!work) work = prepared(name);
    const auto start = std::chrono::steady_clock::now();
    const auto spent = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
    long units = 0;
    for (long at_once = 1; spent() < seconds;
         units += at_once, at_once = spent() < seconds / 100 ? 2 * at_once : at_once)
      for (long k = 0; k < at_once; ++k) work();
    std::printf("%.17g\n", spent() / double(units));
    std::fflush(stdout);
  }
}

}  // namespace

int main(int count, char** words) {
  if (count > 1 && std::string(words[1]) == "--serve") return serve(), 0;
  for (const Case& c : cases())
    benchmark::RegisterBenchmark(c.name.c_str(), [&c](benchmark::State& state) {
      const auto work = c.prepare();
      for (auto _ : state) work();
    });
  benchmark::Initialize(&count, words);
  benchmark::RunSpecifiedBenchmarks();
}
