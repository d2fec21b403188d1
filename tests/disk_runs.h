// SPDX-License-Identifier: Apache-2.0
// Runs and their directories, without a program around them.
#pragma once
#include "kelvin/core/toml.h"
#include "kelvin/trajectory/disk.h"
#include "kelvin/trajectory/inputs.h"
#include "kelvin/trajectory/samples.h"
#include "tests/files.h"

namespace kelvin {

inline double no_time() { return 0; }

inline RunEnvironment environment_for(const Disk& disk, std::size_t threads = 1) {
  RunEnvironment environment = inputs_from();
  environment.threads = threads;
  environment.seconds = [&disk] { return disk.seconds(); };
  return environment;
}

inline RunSettings settings_in(const std::string& run_file) { return read_run_settings(parse_toml(run_file, "test")); }

inline void run_whole(const std::string& directory, const std::string& run_file, RunRecord about = {}) {
  Disk disk(directory, no_time, false, run_file);
  kelvin::Run run(settings_in(run_file), environment_for(disk), std::move(about));
  run.watch(disk);
  run.go();
}

// To the end, or `more` steps further.
inline void resume_whole(const std::string& directory, std::uint64_t more = 0) {
  Disk disk(directory, no_time);
  Resumption from = disk.resumption();
  from.record.until += more;
  kelvin::Run run(from, environment_for(disk));
  run.watch(disk);
  run.go();
}

// Does something at a draw of the first walker.
struct AtDraw : Observer {
  std::uint64_t step;
  std::function<void()> what;
  AtDraw(std::uint64_t at, std::function<void()> then) : step(at), what(std::move(then)) {}
  void draw(const Draw<float>& draw) override {
    if (draw.walker == 0 && draw.reading.step == step) what();
  }
  void draw(const Draw<double>& draw) override {
    if (draw.walker == 0 && draw.reading.step == step) what();
  }
};

// As if the process had been killed when it kept the draw of a step; what was kept by then is written.
inline void run_until_killed(const std::string& directory, const std::string& run_file, std::uint64_t step) {
  struct Killed : std::exception {};
  Disk disk(directory, no_time, false, run_file);
  kelvin::Run run(settings_in(run_file), environment_for(disk));
  AtDraw kill(step, [] { throw Killed(); });
  run.watch(disk);
  run.watch(kill);
  EXPECT_THROW(run.go(), Killed);
}

}  // namespace kelvin
