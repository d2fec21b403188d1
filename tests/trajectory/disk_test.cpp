// SPDX-License-Identifier: Apache-2.0
// A run and its directory, without a program around them.
#include "kelvin/trajectory/disk.h"

#include <gmock/gmock.h>

#include "tests/disk_runs.h"
#include "tests/run_contents.h"

namespace kelvin {
namespace {

using testing::HasSubstr;

const std::string spiral_run =
    "steps = 1000\nevery = 1\nwalkers = 2\ndata = { generator = { name = \"spiral\", rows = 50 } }\n"
    "model = { layers = [2, 5, 1], activation = \"tanh\", loss = \"binary_cross_entropy\", prior = 1.0 }\n"
    "part.all = { step = 0.05 }\n";

TEST(Disk, WaitsForTheDiskAtMostTenTimesInAThousandDraws) {
  const Directory directory{in_memory()};
  const std::uint64_t before = disk_waits();
  run_whole(directory.path("run"), spiral_run);
  EXPECT_LE(disk_waits() - before, 10u);
  const Samples samples = open_samples(directory.path("run"));
  EXPECT_EQ(samples.draws, 1000u);
  EXPECT_TRUE(samples.record.has_finished());
  EXPECT_EQ(samples.record.draws, 1000u);
  EXPECT_EQ(read_log(directory.path("run")).size(), 20u);
}

// It is steered, then ends as if it had been killed; another goes on, and a third one repeats what was recorded.
TEST(Disk, ASteeredRunGoesOnAndRepeatsBitForBit) {
  const Directory directory{in_memory()};
  struct Killed : std::exception {};
  {
    Disk disk(directory.path("run"), no_time, false, spiral_run);
    kelvin::Run run(read_run_settings(parse_toml("checkpoint_every = 300\n" + spiral_run, "test")),
                    environment_for(disk, 2));
    AtDraw steer(350, [&] { run.post(NewPhase{{{"all", Value::Group{{"step", 0.02}, {"scheme", "ABOBA"}}}}}); });
    AtDraw kill(500, [] { throw Killed(); });
    run.watch(disk);
    run.watch(steer);
    run.watch(kill);
    EXPECT_THROW(run.go(), Killed);
  }
  EXPECT_EQ(read_record(directory.path("run")).steered.size(), 1u) << "it is there before the first step it changes";
  {
    Disk disk(directory.path("run"), no_time);
    kelvin::Run run(disk.resumption(), environment_for(disk));
    run.watch(disk);
    run.go();
  }
  const RunRecord record = read_record(directory.path("run"));
  EXPECT_TRUE(record.has_finished());
  ASSERT_EQ(record.steered.size(), 1u);
  EXPECT_GE(record.steered[0].from_step, 350u);
  {
    RunRecord about;
    about.steered = record.steered;
    Disk disk(directory.path("again"), no_time, false, spiral_run);
    kelvin::Run run(record.settings, environment_for(disk), about);
    run.watch(disk);
    run.go();
  }
  expect_same(contents(directory.path("again")), contents(directory.path("run")), "steered");
  run_whole(directory.path("plain"), spiral_run);
  EXPECT_NE(open_samples(directory.path("plain")).block("layer1.weight", 1),
            open_samples(directory.path("run")).block("layer1.weight", 1));
}

TEST(Disk, NamesOfFilesAreRelativeToADirectoryThatIsGiven) {
  const Directory directory{in_memory()};
  directory.write("rows.csv", "x,y\n0,1\n1,2\n2,3\n3,5\n");
  const RunSettings settings = read_run_settings(
      parse_toml("steps = 10\ndata.file = \"rows.csv\"\nmodel = { layers = [1, 1], loss = \"gaussian\", prior = 1.0 }\n"
                 "part.all = { step = 0.05 }\n",
                 "test"));
  const auto before = std::filesystem::current_path();
  kelvin::Run run(settings, inputs_from(directory.path("")));
  run.go();
  EXPECT_EQ(run.record().rows, 4u);
  EXPECT_EQ(std::filesystem::current_path(), before);
  EXPECT_THAT(error_of([&] { kelvin::Run(settings, inputs_from()).go(); }), HasSubstr("rows.csv"));
}

}  // namespace
}  // namespace kelvin
