// SPDX-License-Identifier: Apache-2.0
// Runs that are killed, stopped, starved of disk or locked out: nothing acknowledged is lost, and the end is the same.
#include <sys/mount.h>

#include <chrono>
#include <random>

#include "kelvin/trajectory/samples.h"
#include "kelvin/trajectory/verify.h"
#include "tests/json.h"
#include "tests/layer_runs.h"
#include "tests/program.h"
#include "tests/run_contents.h"

namespace kelvin {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// The draws that the manifest of `run` names are those of the finished run, and nothing of it counts as damaged but
// metadata that a killed run had not come to write.
void expect_acknowledged_draws(const std::string& run, const Samples& whole, std::vector<std::uint64_t>& named) {
  for (const Damage& damage : verify(run).damage)
    EXPECT_EQ(int(damage.remedy), int(Remedy::rewrite)) << damage.sentence;
  const Samples now = open_samples(run, Which::every);
  for (std::size_t w = 0; w < whole.walkers; ++w) {
    EXPECT_GE(now.manifest.draws[w], named[w]) << "an acknowledged draw was taken back";
    named[w] = now.manifest.draws[w];
    for (const auto& [array, fingerprint] : now.manifest.arrays) {
      if (array.ends_with("/time") || array.starts_with("warmup_")) continue;
      const auto mine = now.array(array, w, 0, named[w]), theirs = whole.array(array, w, 0, named[w]);
      EXPECT_TRUE(std::equal(mine.begin(), mine.end(), theirs.begin(), theirs.end(), [](double x, double y) {
        return x == y || (x != x && y != y);
      })) << array;
    }
  }
}

const std::string spiral =
    "data = { generator = { name = \"spiral\", rows = 100 } }\n"
    "model = { layers = [2, 12, 1], activation = \"tanh\", loss = \"binary_cross_entropy\", "
    "prior = 1.0 }\n";

struct Kind {
  const char* name;
  int steps;  // warm-up included
  std::string file;
};
const Kind setups[] = {
    {"NUTS that adapts a dense metric", 700,
     "steps = 200\nwarmup = 500\nevery = 1\nwalkers = 2\nstore.keep_warmup = true\n" + spiral +
         "adapt = { step = true, metric = \"dense\" }\npart.all = { scheme = \"nuts\", step = 0.1, temperature = 0.01 "
         "}\n"},
    {"covariance control with control variates, diagonal metric", 4000,
     "steps = 2000\nwarmup = 2000\nevery = 2\nbatch = { size = 7, anchor_every = 40 }\n" + spiral +
         "adapt = { step = true, metric = \"diagonal\" }\npart.all = { scheme = \"ccadl\", step = 0.02 }\n"},
    {"one walker, full batch", 6000,
     "steps = 6000\nevery = 3\nlog_every = 500\n" + spiral + "part.all = { step = 0.05 }\n"},
    {"three walkers, minibatches, warm-up kept", 5000,
     "steps = 4000\nwarmup = 1000\nevery = 2\nwalkers = 3\nbatch = 7\nstore.keep_warmup = true\n" + spiral +
         "[part.a]\nblocks = [\"layer1.*\"]\nstep = 0.05\n[part.b]\nblocks = [\"layer2.*\"]\nscheme = \"ABOBA\"\n"
         "step = { name = \"linear\", from = 0.05, to = 0.01 }\n"},
    {"two walkers, Metropolis, half precision, likelihoods", 1500,
     "steps = 1500\nevery = 1\nwalkers = 2\nstore = { weights = \"half\", log_likelihood = true, predictions = true "
     "}\n" +
         spiral + "part.all = { scheme = \"R{(BAB)3}\", step = 1.2 }\n"},
    {"a toy in double precision, every draw", 120000,
     "steps = 120000\nevery = 1\nwalkers = 3\nmodel = { toy = \"double_well\" }\npart.all = { step = 0.2, temperature "
     "= "
     "0.5 }\n"},
    {"walkers coupled in halves", 4000,
     "steps = 4000\nevery = 3\nwalkers = 4\nbatch = 20\n"
     "coupling = { method = \"halves\", blending = 100, refresh = 90 }\n" +
         spiral + "part.all = { step = 0.05 }\n"},
    {"tempered, with minibatches, the bias learning for most of the time", 4000,
     "steps = 1500\nwarmup = 2500\nevery = 3\nwalkers = 2\nbatch = 20\ntempering = { pilot = 500 }\n" + spiral +
         "part.all = { step = 0.05 }\n"},
    {"two ensembles", 4000,
     "steps = 4000\nevery = 3\nwalkers = 6\n"
     "coupling = { method = \"ensemble\", blending = 10, refresh = 150, ensembles = 2, over = \"block\" }\n" +
         spiral + "part.all = { step = 0.05 }\n"},
    {"two ladders that learn their temperatures, minibatches", 4000,
     "steps = 2500\nwarmup = 1500\nevery = 3\nbatch = 20\n"
     "exchange = { rungs = 3, highest = 3.0, every = 15, ladders = 2, adapt = true, batches = 4 }\n" +
         spiral + "part.all = { step = 0.05 }\n"},
    {"infinite switch", 60000,
     "steps = 40000\nwarmup = 20000\nevery = 2\nwalkers = 2\nswitching = 5.0\nmodel = { toy = \"double_well\" }\n"
     "part.all = { step = 0.1, temperature = 0.5 }\n"},
    {layer_runs[0].name, 1500,
     "steps = 1000\nwarmup = 500\nevery = 3\nwalkers = 2\nbatch = 20\npart.all.step = 0.02\n" + layer_runs[0].settings},
    {layer_runs[1].name, 800,
     "steps = 800\nevery = 3\nwalkers = 2\nbatch = 20\npart.all.step = 0.02\n" + layer_runs[1].settings},
    {layer_runs[2].name, 800,
     "steps = 800\nevery = 3\nwalkers = 2\nbatch = 20\npart.all = { scheme = \"adam\", step = 0.002, temperature = "
     "0 }\n" +
         layer_runs[2].settings},
};

// Or as many as KELVIN_KILLS in the environment says.
TEST(Killed, AtAHundredInstantsEveryRunEndsTheSame) {
  const char* const asked = std::getenv("KELVIN_KILLS");
  const int most = asked ? std::atoi(asked) : 100;
  std::mt19937 random(4);
  const auto any = [&](int low, int high) { return std::uniform_int_distribution(low, high)(random); };
  int kills = 0, unfinished = 0;
  for (int trial = 0; kills < most; ++trial) {
    const Kind& setup = setups[std::size_t(trial) % std::size(setups)];
    const Desk desk;
    write_layer_data(desk);
    desk.write("run.toml",
               "checkpoint_every = " + std::to_string(any(setup.steps / 50, 2 * setup.steps)) + "\n" + setup.file);
    const auto start = std::chrono::steady_clock::now();
    ASSERT_EQ(desk.kelvin("sample run.toml -q -o whole --threads 1").code, 0) << desk.read(".err");
    const auto spent = std::chrono::steady_clock::now() - start;
    const auto expected = contents(desk.path("whole"));
    const Samples whole = open_samples(desk.path("whole"), Which::every);
    std::vector<std::uint64_t> named(whole.walkers, 0);
    const std::string run = desk.path("run");
    for (int n = 0; n < 5; ++n, ++kills) {
      const bool begun = fs::exists(run + "/run.json");
      Process process(desk, begun ? "resume run -q --threads 2" : "sample run.toml -q -o run --threads 2");
      std::this_thread::sleep_for(spent * any(0, 1000) / 1500);
      process.send(SIGKILL);
      const int ended = process.wait();
      ASSERT_TRUE(ended == -SIGKILL || ended == 0) << setup.name << ": " << process.error();
      unfinished += ended != 0;
      if (fs::exists(run + "/manifest.json")) expect_acknowledged_draws(run, whole, named);
    }
    const bool begun = fs::exists(run + "/run.json");
    ASSERT_EQ(desk.kelvin(begun ? "resume run -q" : "sample run.toml -q -o run").code, 0) << desk.read(".err");
    expect_acknowledged_draws(run, whole, named);
    expect_same(expected, contents(run), setup.name);
    EXPECT_TRUE(Json::parse(bytes_of(run + "/run.json")).at("finished"));
  }
  EXPECT_GT(unfinished, most * 6 / 10) << "most kills must meet a run at work";
}

// A long run: minutes, unless it is stopped.
const std::string endless =
    "steps = 100000000\nevery = 10\ncheckpoint_every = 2000\nwalkers = 2\n" + spiral + "part.all = { step = 0.05 }\n";

bool has_draws(const Desk& desk) {
  try {
    return open_samples(desk.path("run")).draws > 0;
  } catch (const Error&) {
    return false;
  }
}

TEST(Stopped, SignalsLeaveACheckpointAndTheWayToGoOn) {
  for (const auto& [signal, code] : {std::pair{SIGINT, 130}, {SIGTERM, 143}}) {
    const Desk desk;
    desk.write("run.toml", endless);
    Process process(desk, "sample run.toml -q -o run --anyway");
    ASSERT_TRUE(comes_true([&] { return has_draws(desk); })) << process.error();
    process.send(signal);
    EXPECT_EQ(process.wait(), code);
    EXPECT_THAT(process.error(), HasSubstr("to go on: kelvin resume run"));
    // some steps more than it can have come to; the run from the start must agree
    const auto line = process.error();
    const long at = std::stol(line.substr(line.find("step ") + 5)), until = at / 10 * 10 + 500;
    const Json seen = Json::parse(desk.kelvin("watch run --once --json").out);
    EXPECT_EQ(seen.at("state"), "stopped");
    ASSERT_EQ(desk.kelvin("resume run -q --until " + std::to_string(until)).code, 0) << desk.read(".err");
    ASSERT_EQ(desk.kelvin("resume run -q --steps 500").code, 0) << desk.read(".err");
    ASSERT_EQ(desk.kelvin("sample run.toml -q -o whole --set steps=" + std::to_string(until + 500)).code, 0);
    const Samples a = open_samples(desk.path("run")), b = open_samples(desk.path("whole"));
    EXPECT_EQ(a.draws, std::size_t(until + 500) / 10);
    for (std::size_t w = 0; w < 2; ++w)
      for (const std::string& block : a.blocks) EXPECT_TRUE(a.block(block, w) == b.block(block, w)) << block;
    EXPECT_EQ(desk.kelvin("resume run -q").code, 0);
    EXPECT_THAT(desk.read(".err"), HasSubstr("has finished its"));
    EXPECT_EQ(desk.kelvin("resume run -q --until 10").code, 1);
    EXPECT_THAT(desk.read(".err"), HasSubstr("lies before step"));
  }
}

TEST(Locked, ASecondProcessIsRefused) {
  const Desk desk;
  desk.write("run.toml", endless);
  Process process(desk, "sample run.toml -q -o run --anyway");
  ASSERT_TRUE(comes_true([&] { return has_draws(desk); })) << process.error();
  for (const char* second : {"resume run", "sample run.toml -o run --force", "train run.toml -o run --force"}) {
    const Outcome refused = desk.kelvin(second);
    EXPECT_EQ(refused.code, 1) << second;
    EXPECT_THAT(refused.error, HasSubstr("is being written by another process")) << second;
  }
  EXPECT_EQ(Json::parse(desk.kelvin("watch run --once --json").out).at("state"), "running");
  EXPECT_TRUE(process.running());
  process.send(SIGKILL);
  EXPECT_EQ(process.wait(), -SIGKILL);
  EXPECT_EQ(Json::parse(desk.kelvin("watch run --once --json").out).at("state"), "stopped");
  EXPECT_EQ(error_of([&] { RunLock lock(desk.path("run")); }), "") << "the lock died with its process";
}

// ---- no room, no permission

const std::string hungry =
    "steps = 20000\nevery = 1\nwalkers = 2\ncheckpoint_every = 1000\n" + spiral + "part.all = { step = 0.05 }\n";

void expect_starved_then_resumed(const Desk& desk, const std::string& run, const Outcome& starved) {
  EXPECT_EQ(starved.code, 1);
  EXPECT_THAT(starved.error, HasSubstr("cannot write"));
  EXPECT_THAT(starved.error, HasSubstr("kelvin resume"));
  EXPECT_EQ(std::count(starved.error.begin(), starved.error.end(), '\n'), 1) << starved.error;
  ASSERT_EQ(desk.kelvin("sample run.toml -q -o whole").code, 0) << desk.read(".err");
  const Samples whole = open_samples(desk.path("whole"));
  std::vector<std::uint64_t> named(whole.walkers, 0);
  expect_acknowledged_draws(run, whole, named);
  EXPECT_GT(named[0], 0u);
  EXPECT_LT(named[0], whole.draws);
}

TEST(Starved, AFileThatMayNotGrowStopsTheRunAndItGoesOnLater) {
  const Desk desk;
  desk.write("run.toml", hungry);
  const Outcome starved = desk.shell("ulimit -f 400; ", "sample run.toml -q -o run");  // 200 kB a file
  EXPECT_THAT(starved.error, HasSubstr("File too large"));
  expect_starved_then_resumed(desk, desk.path("run"), starved);
  ASSERT_EQ(desk.kelvin("resume run -q").code, 0) << desk.read(".err");
  expect_same(contents(desk.path("whole")), contents(desk.path("run")), "after a limit");
}

TEST(Starved, AFullDiskStopsTheRunAndItGoesOnLater) {
  const Desk desk;
  const std::string disk = desk.path("disk");
  fs::create_directory(disk);
  if (mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=3m") != 0) GTEST_SKIP() << "only root can make a small disk";
  desk.write("run.toml", hungry);
  const Outcome starved = desk.kelvin("sample run.toml -q -o disk/run --anyway");
  EXPECT_THAT(starved.error, HasSubstr("No space left on device"));
  expect_starved_then_resumed(desk, disk + "/run", starved);
  EXPECT_EQ(desk.kelvin("resume disk/run -q").code, 1) << "there is still no room";
  EXPECT_EQ(mount("tmpfs", disk.c_str(), "tmpfs", MS_REMOUNT, "size=100m"), 0);
  EXPECT_EQ(desk.kelvin("resume disk/run -q").code, 0) << desk.read(".err");
  expect_same(contents(desk.path("whole")), contents(disk + "/run"), "after a full disk");
  EXPECT_EQ(umount(disk.c_str()), 0);
}

TEST(Starved, ADirectoryMadeReadOnlyStopsTheRunAndItGoesOnLater) {
  const Desk desk(fs::temp_directory_path());  // on a disk: attributes of files in memory cannot be set
  desk.write("run.toml", hungry);
  Process process(desk, "sample run.toml -q -o run --anyway");
  ASSERT_TRUE(comes_true([&] { return has_draws(desk); })) << process.error();
  const std::string directory = "'" + desk.path("run/samples.zarr/posterior/layer1.weight") + "' 2>/dev/null";
  const bool root = geteuid() == 0;  // whom permissions do not stop
  if (std::system(((root ? "chattr +i " : "chmod a-w ") + directory).c_str()) != 0)
    GTEST_SKIP() << "this file system cannot forbid writing to root";
  const int code = process.wait();
  ASSERT_EQ(std::system(((root ? "chattr -i " : "chmod u+w ") + directory).c_str()), 0);
  expect_starved_then_resumed(desk, desk.path("run"), {code, "", process.error()});
  ASSERT_EQ(desk.kelvin("resume run -q").code, 0) << desk.read(".err");
  expect_same(contents(desk.path("whole")), contents(desk.path("run")), "after a read-only directory");
}

// ---- bounded memory

TEST(Memory, TenTimesAsManyDrawsTakeNoMore) {
  const Desk desk;
  desk.write("run.toml",
             "every = 1\nmodel = { toy = \"double_well\" }\npart.all = { step = 0.2, temperature = 0.5 }\n");
  const auto most = [&](const char* steps) {
    Process process(desk, std::string("sample run.toml -q --force -o run --set steps=") + steps);
    EXPECT_EQ(process.wait(), 0) << process.error();
    return process.most_memory();
  };
  const long few = most("400000"), many = most("4000000");
  EXPECT_LT(many, few + 64000) << "kilobytes: some chunks of 16 MB; the draws themselves take 400 MB more";
}

// ---- changes that a resumed run must not swallow

TEST(Resume, RefusesChangedDataSettingsAndDamage) {
  const Desk desk;
  desk.write("data.csv", "a,b\n1,2\n2,3\n3,5\n4,4\n");
  desk.write("run.toml",
             "steps = 1000\ndata = \"data.csv\"\nmodel = { layers = [1, 2, 1], prior = 1.0 }\npart.all.step = 0.01\n");
  ASSERT_EQ(desk.kelvin("sample run.toml -q -o run").code, 0);
  const auto refused = [&](const std::string& arguments = "resume run -q --steps 10") {
    const Outcome got = desk.kelvin(arguments);
    EXPECT_EQ(got.code, 1);
    return got.error;
  };
  desk.write("data.csv", "a,b\n1,2\n2,3\n3,5\n4,5\n");
  EXPECT_THAT(refused(), HasSubstr("the data are not those"));
  desk.write("data.csv", "a,b\n1,2\n2,3\n3,5\n4,4\n");
  const std::string record = desk.read("run/run.json");
  RunRecord other = read_record(desk.path("run"));
  other.settings.seed = 2;
  write_record(desk.path("run"), other);
  EXPECT_THAT(refused(), HasSubstr("run.json\" is damaged: it is not of the same run as manifest.json"));
  desk.write("run/run.json", record.substr(0, 300));
  EXPECT_THAT(refused(), HasSubstr("run.json\" is damaged"));
  desk.write("run/run.json", "[]");
  EXPECT_THAT(refused(), HasSubstr("run.json\" is damaged"));
  desk.write("run/run.json", record);
  const std::string state = desk.read("run/checkpoint/state");
  desk.write("run/checkpoint/state", state.substr(0, state.size() / 2));
  EXPECT_THAT(refused(), HasSubstr("checkpoint/state"));
  desk.write("run/checkpoint/state", state);
  EXPECT_THAT(refused("resume nowhere"), HasSubstr("is not a run"));
  EXPECT_EQ(desk.kelvin("resume run --steps 1 --until 2000").code, 2) << "one of the two";
  EXPECT_EQ(desk.kelvin("resume run -q --steps 10").code, 0) << desk.read(".err");
}

}  // namespace
}  // namespace kelvin
