// SPDX-License-Identifier: Apache-2.0
// Runs on several ranks: the same bytes as on one, whoever dies on the way, and one voice.
#include "tests/layer_runs.h"
#include "tests/program.h"
#include "tests/run_contents.h"

namespace kelvin {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string mpirun = KELVIN_MPIRUN " --allow-run-as-root --oversubscribe -q ";

std::string on(int ranks) { return mpirun + "-n " + std::to_string(ranks) + " "; }

std::size_t count(const std::string& text, const std::string& word) {
  std::size_t n = 0;
  for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos; ++at) ++n;
  return n;
}

bool ended(const Desk& desk) {
  return std::system(("kill -0 $(cat '" + desk.path("pid") + "') 2>/dev/null").c_str()) != 0;
}

const std::string network =
    "steps = 3000\nwarmup = 500\nevery = 7\nlog_every = 500\nstore.keep_warmup = true\ncheckpoint_every = 300\n"
    "data = { generator = { name = \"spiral\", rows = 100 } }\n"
    "model = { layers = [2, 12, 1], activation = \"tanh\", loss = \"binary_cross_entropy\", prior = 1.0 }\n"
    "part.all = { step = 0.05 }\n";

struct Kind {
  const char* name;
  std::string file;
};
const Kind kinds[] = {
    {"independent walkers, minibatches", "walkers = 5\nbatch = 10\n" + network},
    {"ensembles",
     "walkers = 8\ncoupling = { method = \"ensemble\", blending = 100, refresh = 250, ensembles = 2 }\n" + network},
    {"ladders of temperatures", "exchange = { temperatures = [1, 1.3, 1.7], every = 25, ladders = 2 }\n" + network},
    {"a ladder, minibatches",
     "batch = 20\nexchange = { rungs = 4, highest = 2.0, every = 4, batches = 3, adapt = true }\n" + network},
    {"halves",
     "walkers = 4\ncoupling = { method = \"halves\", blending = 100, refresh = 130, over = \"block\" }\n" + network},
};

TEST(Ranks, OneTwoAndFourLeaveTheSameBytes) {
  for (const Kind& kind : kinds) {
    const Desk desk;
    desk.write("run.toml", kind.file);
    ASSERT_EQ(desk.kelvin("sample run.toml -q -o one").code, 0) << desk.read(".err");
    const auto expected = contents(desk.path("one"));
    for (const int ranks : {1, 2, 4}) {
      const std::string name = "on" + std::to_string(ranks);
      ASSERT_EQ(desk.shell(on(ranks), "sample run.toml -q -o " + name + " --threads 1").code, 0) << desk.read(".err");
      expect_same(expected, contents(desk.path(name)), kind.name + (" on " + name));
    }
  }
}

TEST(Ranks, OneTwoAndFourLeaveTheSameBytesOfNetworksOfLayers) {
  for (const LayerRun& layers : layer_runs)
    for (const std::string shares : {"1", "2"}) {
      const Desk desk;
      write_layer_data(desk);
      desk.write("run.toml",
                 "steps = 60\nwarmup = 20\nevery = 3\nwalkers = 2\nbatch = 20\nlog_every = 20\nrow_shares = " + shares +
                     "\npart.all.step = 0.02\n" + layers.settings);
      ASSERT_EQ(desk.kelvin("sample run.toml -q -o one").code, 0) << desk.read(".err");
      for (const int ranks : {1, 2, 4}) {
        if (ranks > 2 && shares == "1") continue;  // of two walkers, each on one rank
        const std::string name = "on" + std::to_string(ranks);
        ASSERT_EQ(desk.shell(on(ranks), "sample run.toml -q -o " + name + " --threads 1").code, 0) << desk.read(".err");
        expect_same(contents(desk.path("one")), contents(desk.path(name)), layers.name + (" on " + name));
      }
    }
}

TEST(Ranks, ThatShareRowsLeaveTheSameBytes) {
  const Desk desk;
  desk.write("run.toml", "walkers = 1\nrow_shares = 4\n" + network);
  ASSERT_EQ(desk.kelvin("sample run.toml -q -o one").code, 0) << desk.read(".err");
  for (const int ranks : {2, 4}) {
    const std::string name = "on" + std::to_string(ranks);
    ASSERT_EQ(desk.shell(on(ranks), "sample run.toml -q -o " + name + " --threads 1").code, 0) << desk.read(".err");
    expect_same(contents(desk.path("one")), contents(desk.path(name)), name);
  }
  desk.write("two.toml", "walkers = 2\nrow_shares = 2\nbatch = 30\n" + network);
  ASSERT_EQ(desk.kelvin("sample two.toml -q -o two").code, 0) << desk.read(".err");
  ASSERT_EQ(desk.shell(on(4), "sample two.toml -q -o teams --threads 1").code, 0) << desk.read(".err");
  expect_same(contents(desk.path("two")), contents(desk.path("teams")), "two teams");
}

TEST(Ranks, ARunWhoseRankIsKilledResumesToTheSameBytes) {
  for (const Kind& kind : kinds) {
    const Desk desk;
    desk.write("run.toml", "seed = 3\n" + kind.file);
    ASSERT_EQ(desk.kelvin("sample run.toml -q -o whole --set steps=20000").code, 0) << desk.read(".err");
    const std::string start =
        "cd '" + desk.path("") + "' && { " + on(2) + KELVIN_BINARY +
        " sample run.toml -q -o run --threads 1 --set steps=20000 >.out2 2>.err2 </dev/null & echo $! >pid; }";
    ASSERT_EQ(std::system(start.c_str()), 0);
    ASSERT_TRUE(comes_true([&] {  // some of it is done
      return bytes_of(desk.path("run/log.jsonl")).find("\"step\":1500") != std::string::npos;
    })) << desk.read(".err2");
    // The second rank dies; mpirun ends the first.
    ASSERT_EQ(std::system(("cd '" + desk.path("") + "' && kill -9 $(pgrep -P $(cat pid) | tail -n 1)").c_str()), 0);
    ASSERT_TRUE(comes_true([&] { return ended(desk); }));
    ASSERT_THAT(desk.read("run/run.json"), Not(HasSubstr("\"finished\": true"))) << "it was too fast";
    ASSERT_EQ(desk.shell(on(4), "resume run -q --threads 1").code, 0) << desk.read(".err");
    expect_same(contents(desk.path("whole")), contents(desk.path("run")), kind.name);
  }
}

// A signal that reaches only the second rank stops both, and the run can go on.
TEST(Ranks, StopTogetherAtASignalToOneOfThem) {
  const Desk desk;
  desk.write("run.toml", kinds[1].file);
  ASSERT_EQ(desk.kelvin("sample run.toml -q -o whole --set steps=20000").code, 0) << desk.read(".err");
  const std::string start =
      "cd '" + desk.path("") + "' && { " + on(2) + KELVIN_BINARY +
      " sample run.toml -o run --threads 1 --set steps=20000 >.out2 2>.err2 </dev/null & echo $! >pid; }";
  ASSERT_EQ(std::system(start.c_str()), 0);
  ASSERT_TRUE(comes_true([&] { return std::filesystem::exists(desk.path("run/log.jsonl")); }));
  ASSERT_TRUE(
      comes_true([&] { return bytes_of(desk.path("run/log.jsonl")).find("\"step\":1000") != std::string::npos; }));
  ASSERT_EQ(std::system(("cd '" + desk.path("") + "' && kill -TERM $(pgrep -P $(cat pid) | tail -n 1)").c_str()), 0);
  ASSERT_TRUE(comes_true([&] { return ended(desk); }));
  EXPECT_EQ(count(desk.read(".err2"), "to go on: kelvin resume run"), 1u) << desk.read(".err2");
  EXPECT_THAT(desk.read("run/run.json"), Not(HasSubstr("\"finished\": true")));
  ASSERT_EQ(desk.kelvin("resume run -q").code, 0) << desk.read(".err");
  expect_same(contents(desk.path("whole")), contents(desk.path("run")), "stopped");
}

TEST(Ranks, SpeakWithOneVoice) {
  const Desk desk;
  desk.write("run.toml", kinds[1].file);
  const Outcome fine = desk.shell(on(4), "sample run.toml -o run");
  EXPECT_EQ(fine.code, 0);
  EXPECT_EQ(count(fine.out, "draws of 8 walkers"), 1u) << fine.out;
  EXPECT_EQ(count(fine.error, "posterior temperature"), 1u) << fine.error;
  const Outcome again = desk.shell(on(2), "sample run.toml -o run");
  EXPECT_EQ(again.code, 1);
  EXPECT_EQ(count(again.error, "kelvin: "), 1u) << again.error;
  const Outcome syntax = desk.shell(on(2), "sample run.toml --nonsense");
  EXPECT_EQ(syntax.code, 2);
  EXPECT_EQ(count(syntax.error, "--nonsense"), 1u) << syntax.error;
  const Outcome missing = desk.shell(on(2), "sample nowhere.toml");
  EXPECT_EQ(missing.code, 1);
  EXPECT_EQ(count(missing.error, "kelvin: "), 1u) << missing.error;
  const Outcome summary = desk.shell(on(2), "diagnose run");
  EXPECT_EQ(count(summary.out, "Checks"), 1u) << summary.out;
}

// One walker of four leaves every region where U is finite: all end, with its sentence.
TEST(Ranks, EndTogetherWhenAWalkerOfOneBlowsUp) {
  const Desk desk;
  desk.write("run.toml",
             "steps = 1000\nwalkers = 4\nmodel.toy = \"quartic\"\n"
             "part.all = { step = 0.6, temperature = 1, start = { name = \"gaussian\", scale = 4.0 } }\n");
  const Outcome alone = desk.kelvin("sample run.toml -q -o alone");
  const Outcome together = desk.shell(on(4), "sample run.toml -q -o together");
  ASSERT_EQ(alone.code, 1) << "the example should blow up";
  EXPECT_EQ(together.code, 1);
  EXPECT_THAT(together.error, HasSubstr("has left the region where it is finite"));
  EXPECT_EQ(count(together.error, "kelvin: "), 1u) << together.error;
}

TEST(Ranks, ThatHaveNothingToDoAreRefused) {
  const Desk desk;
  desk.write("run.toml", "walkers = 2\n" + network);
  for (const auto& [ranks, shares] : {std::pair{4, 1}, {3, 4}, {4, 1}}) {
    const Outcome o = desk.shell(on(ranks), "sample run.toml -o run --set row_shares=" + std::to_string(shares));
    EXPECT_EQ(o.code, 1);
    EXPECT_THAT(o.error, HasSubstr(std::to_string(ranks) + " ranks cannot share 2 walkers"));
    EXPECT_EQ(count(o.error, "kelvin: "), 1u) << o.error;
    EXPECT_FALSE(std::filesystem::exists(desk.path("run")));
  }
}

}  // namespace
}  // namespace kelvin
