// SPDX-License-Identifier: Apache-2.0
// Runs that are killed go on as if they had not been: a few kinds at a few instants; resume_deep_test.cpp has more.
#include <chrono>

#include "kelvin/trajectory/samples.h"
#include "tests/layer_runs.h"
#include "tests/program.h"
#include "tests/run_contents.h"

namespace kelvin {
namespace {

const std::string small_spiral =
    "data = { generator = { name = \"spiral\", rows = 100 } }\n"
    "model = { layers = [2, 12, 1], activation = \"tanh\", loss = \"binary_cross_entropy\", prior = 1.0 }\n";
const std::string kinds[] = {
    "steps = 6000\nevery = 1\nwalkers = 3\nbatch = 7\ncheckpoint_every = 500\n" + small_spiral +
        "part.all = { step = 0.05 }\n",
    "steps = 3000\nevery = 3\nwalkers = 4\ncheckpoint_every = 400\n"
    "coupling = { method = \"halves\", blending = 100, refresh = 90 }\n" +
        small_spiral + "part.all = { step = 0.05 }\n",
    "steps = 3000\nevery = 3\nbatch = 20\ncheckpoint_every = 400\n"
    "exchange = { rungs = 3, highest = 3.0, every = 15 }\n" +
        small_spiral + "part.all = { step = 0.05 }\n",
    "steps = 1200\nevery = 4\nwalkers = 2\nbatch = 20\ncheckpoint_every = 100\npart.all.step = 0.02\n" +
        layer_runs[0].settings,
    "steps = 600\nevery = 4\nwalkers = 2\nbatch = 20\ncheckpoint_every = 50\npart.all.step = 0.02\n" +
        layer_runs[1].settings,
    "steps = 600\nevery = 4\nwalkers = 2\nbatch = 20\ncheckpoint_every = 50\npart.all.step = 0.02\n" +
        layer_runs[2].settings,
};

TEST(Killed, AtAFewInstantsARunEndsTheSame) {
  int unfinished = 0;
  for (const std::string& kind : kinds) {
    const Desk desk;
    write_layer_data(desk);
    desk.write("run.toml", kind);
    const auto start = std::chrono::steady_clock::now();
    ASSERT_EQ(desk.kelvin("sample run.toml -q -o whole --threads 1").code, 0) << desk.read(".err");
    const auto spent = std::chrono::steady_clock::now() - start;
    const std::string run = desk.path("run");
    const auto next = [&] {
      return std::filesystem::exists(run + "/run.json") ? "resume run -q" : "sample run.toml -q -o run";
    };
    for (const int share : {2, 5, 8}) {
      Process process(desk, std::string(next()) + " --threads 2");
      std::this_thread::sleep_for(spent * share / 20);
      process.send(SIGKILL);
      const int ended = process.wait();
      ASSERT_TRUE(ended == -SIGKILL || ended == 0) << process.error();
      unfinished += ended != 0;
    }
    ASSERT_EQ(desk.kelvin(next()).code, 0) << desk.read(".err");
    expect_same(contents(desk.path("whole")), contents(run), kind);
  }
  EXPECT_GT(unfinished, 7) << "kills must meet a run at work";
}

TEST(Threads, OneTwoAndFourLeaveTheSameBytesOfNetworksOfLayers) {
  for (const LayerRun& network : layer_runs) {
    const Desk desk;
    write_layer_data(desk);
    desk.write("run.toml",
               "steps = 60\nwarmup = 20\nevery = 3\nwalkers = 3\nbatch = 20\nlog_every = 20\n"
               "part.all.step = 0.02\n" +
                   network.settings);
    ASSERT_EQ(desk.kelvin("sample run.toml -q -o on1 --threads 1").code, 0) << desk.read(".err");
    for (const std::string threads : {"2", "4"}) {
      ASSERT_EQ(desk.kelvin("sample run.toml -q -o on" + threads + " --threads " + threads).code, 0);
      expect_same(contents(desk.path("on1")), contents(desk.path("on" + threads)), network.name);
    }
  }
}

}  // namespace
}  // namespace kelvin
