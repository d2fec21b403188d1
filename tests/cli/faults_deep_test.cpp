// SPDX-License-Identifier: Apache-2.0
// Every call of the system that a small run makes in its directory fails once, or from then on, or writes less than it
// was given. The run ends with one sentence or goes on; what was acknowledged is there; resuming ends it as it should.
#include <set>

#include "kelvin/trajectory/verify.h"
#include "tests/disk_runs.h"
#include "tests/json.h"
#include "tests/program.h"
#include "tests/run_contents.h"

namespace kelvin {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

const std::string faulty_run =
    "steps = 60\nevery = 1\nlog_every = 20\ncheckpoint_every = 20\nmodel = { toy = \"double_well\" }\n"
    "part.all = { step = 0.2, temperature = 0.5 }\n";

struct FaultyCalls {
  const char* name;
  int number, from_then_on;
};

class Faults : public testing::Test {
 protected:
  Faults() {
    desk.write("run.toml", faulty_run);
    EXPECT_EQ(desk.kelvin("sample run.toml -q -o whole").code, 0) << desk.read(".err");
    whole = contents(desk.path("whole"));
  }
  // The program with its n-th call failing, none for 0; the file `calls` has the number of all.
  Outcome with_fault(const std::string& arguments, long n, const FaultyCalls& how) {
    return desk.shell(
        fmt::format("LD_PRELOAD='" KELVIN_FAILING_CALLS "' FAIL_UNDER=run/ FAIL_AT={} FAIL_WITH={} FAIL_ON={} "
                    "FAIL_COUNT=calls ",
                    n, how.number, how.from_then_on),
        arguments);
  }
  void expect_one_sentence(const Outcome& outcome, const std::string& what) {
    if (outcome.code == 0) return;
    EXPECT_EQ(outcome.code, 1) << what;
    EXPECT_TRUE(outcome.error.starts_with("kelvin: ")) << what << ": " << outcome.error;
    EXPECT_EQ(std::count(outcome.error.begin(), outcome.error.end(), '\n'), 1) << what << ": " << outcome.error;
    EXPECT_THAT(outcome.error, HasSubstr("run")) << what;
    for (const char* raw : {"std::", "basic_", "filesystem error", "terminate", "should not have happened"})
      EXPECT_EQ(outcome.error.find(raw), std::string::npos) << what << ": " << outcome.error;
  }
  std::string next() const {
    return fs::exists(desk.path("run/run.json")) ? "resume run -q" : "sample run.toml -q -o run";
  }
  void expect_mended(const std::string& what, std::uint64_t& most_named) {
    const std::string run = desk.path("run");
    if (fs::exists(run + "/manifest.json")) {
      const Verification found = verify(run);
      for (const Damage& damage : found.damage)
        EXPECT_EQ(int(damage.remedy), int(Remedy::rewrite)) << what << ": " << damage.sentence;
      if (!found.draws.empty()) most_named = std::max(most_named, found.draws[0]);
    }
    const Outcome ended = desk.kelvin(next());
    EXPECT_EQ(ended.code, 0) << what << ": " << ended.error;
    expect_same(whole, contents(run), what);
  }

  Desk desk;
  std::map<std::string, std::string> whole;
};

TEST_F(Faults, OfEveryCallOfARunLoseNothing) {
  ASSERT_EQ(with_fault("sample run.toml -q -o run", 0, {"none", 0, 0}).code, 0);
  const long all = std::stol(desk.read("calls"));
  std::uint64_t most_named = 0;
  int refused = 0, trials = 0;
  for (const auto& [how, stride] : {std::pair{FaultyCalls{"EIO", EIO, 0}, 1},
                                    {{"ENOSPC from then on", ENOSPC, 1}, 4},
                                    {{"a short write", 0, 0}, 4},
                                    {{"EMFILE", EMFILE, 0}, 7}}) {
    for (long n = 1; n <= all; n += stride, ++trials) {
      fs::remove_all(desk.path("run"));
      const std::string what = fmt::format("{} at call {}", how.name, n);
      const Outcome outcome = with_fault("sample run.toml -q -o run", n, how);
      expect_one_sentence(outcome, what);
      if (how.number == 0) {
        EXPECT_EQ(outcome.code, 0) << what << ": " << outcome.error;
      }
      refused += outcome.code != 0;
      expect_mended(what, most_named);
      if (HasFailure()) return;
    }
  }
  std::printf("%d faults, %d of them ended the run\n", trials, refused);
  EXPECT_GT(refused, 100);
  EXPECT_GT(most_named, 0u);
}

TEST_F(Faults, OfEveryCallOfAResumedRunLoseNothing) {
  desk.write("run.toml", "steps = 40\n" + faulty_run.substr(faulty_run.find('\n') + 1));
  ASSERT_EQ(desk.kelvin("sample run.toml -q -o begun").code, 0);
  std::uint64_t most_named = 0;
  const auto begin_again = [&] {
    fs::remove_all(desk.path("run"));
    fs::copy(desk.path("begun"), desk.path("run"), fs::copy_options::recursive);
  };
  begin_again();
  ASSERT_EQ(with_fault("resume run -q --until 60", 0, {"none", 0, 0}).code, 0);
  const long all = std::stol(desk.read("calls"));
  for (long n = 1; n <= all; n += 2) {
    begin_again();
    const std::string what = fmt::format("EIO at call {} of resuming", n);
    expect_one_sentence(with_fault("resume run -q --until 60", n, {"EIO", EIO, 0}), what);
    const Verification found = verify(desk.path("run"));
    for (const Damage& damage : found.damage)
      EXPECT_EQ(int(damage.remedy), int(Remedy::rewrite)) << what << ": " << damage.sentence;
    EXPECT_GE(found.draws.at(0), 40u) << what;
    most_named = std::max(most_named, found.draws[0]);
    const Outcome ended = desk.kelvin("resume run -q --until 60");
    EXPECT_EQ(ended.code, 0) << what << ": " << ended.error;
    const Samples mine = open_samples(desk.path("run")), theirs = open_samples(desk.path("whole"));
    EXPECT_EQ(mine.block("q", 0), theirs.block("q", 0)) << what;
    if (HasFailure()) return;
  }
  EXPECT_EQ(most_named, 60u);
}

TEST_F(Faults, ClosedStreamsAndBrokenPipesAreNoTrouble) {
  const auto run_as = [&](const std::string& command) {
    fs::remove_all(desk.path("run"));
    const std::string line = "cd '" + desk.path("") + "' && " + command;
    return std::system(line.c_str());
  };
  const std::string program = "'" KELVIN_BINARY "' ";
  EXPECT_EQ(run_as(program + "sample run.toml -o run <&- >&- 2>&-"), 0);
  expect_same(whole, contents(desk.path("run")), "closed streams");
  EXPECT_EQ(run_as("(" + program + "sample run.toml -o run 2>&1; echo $? >code) | head -c 1 >/dev/null"), 0);
  EXPECT_EQ(desk.read("code"), "0\n");
  expect_same(whole, contents(desk.path("run")), "nobody listens");
  EXPECT_EQ(run_as(program + "summary whole 2>.err2 | head -1 >/dev/null"), 0);
  EXPECT_EQ(desk.read(".err2"), "");
}

TEST_F(Faults, AHangUpLeavesACheckpoint) {
  desk.write("long.toml", "steps = 100000000\n" + faulty_run.substr(faulty_run.find('\n') + 1));
  Process process(desk, "sample long.toml -q -o run --anyway");
  ASSERT_TRUE(comes_true([&] { return fs::exists(desk.path("run/checkpoint/state")); }));
  process.send(SIGHUP);
  EXPECT_EQ(process.wait(), 128 + SIGHUP) << process.error();
  EXPECT_TRUE(verify(desk.path("run")).intact());
  EXPECT_EQ(desk.kelvin("verify run whole").code, 0) << desk.read(".err");
}

// Of a directory in which files are replaced. A listing may miss one of them just then, so several are taken together.
std::set<std::string> names_in(const std::string& directory) {
  std::set<std::string> names;
  for (int n = 0; n < 10; ++n) {
    std::error_code vanished;
    for (fs::recursive_directory_iterator at(directory, vanished), end; at != end; at.increment(vanished)) {
      const fs::path& file = at->path();
      if (fs::is_regular_file(file, vanished) && file.extension() != ".part")
        names.insert(file.lexically_relative(directory).string());
    }
  }
  return names;
}

// What is copied later may be newer, which is no harm.
TEST_F(Faults, ACopyOfAGrowingRunIsValid) {
  desk.write("long.toml", "steps = 100000000\n" + faulty_run.substr(faulty_run.find('\n') + 1));
  Process process(desk, "sample long.toml -q -o run --anyway");
  const std::string run = desk.path("run"), copy = desk.path("copied");
  ASSERT_TRUE(comes_true([&] { return fs::exists(run + "/manifest.json") && fs::exists(run + "/checkpoint/state"); }));
  const auto take = [&](const std::string& name) {
    fs::create_directories(fs::path(copy + "/" + name).parent_path());
    const std::string bytes = bytes_of(run + "/" + name);
    std::ofstream(copy + "/" + name, std::ios::binary) << bytes;
  };
  std::uint64_t draws = 0;
  for (int n = 0; n < 10; ++n) {
    fs::remove_all(copy);
    take("checkpoint/state");
    take("manifest.json");
    for (const std::string& name : names_in(run))
      if (name != "checkpoint/state" && name != "manifest.json") take(name);
    const Verification found = verify(copy);
    for (const Damage& damage : found.damage) EXPECT_EQ(int(damage.remedy), int(Remedy::rewrite)) << damage.sentence;
    EXPECT_GE(found.draws.at(0), draws);
    draws = found.draws[0];
  }
  EXPECT_GT(draws, 0u);
  process.send(SIGKILL);
  process.wait();
  const std::uint64_t more = draws + 10;
  const Outcome resumed = desk.kelvin(fmt::format("resume copied -q --until {} --anyway", more));
  EXPECT_EQ(resumed.code, 0) << resumed.error;
  EXPECT_EQ(open_samples(copy).draws, more);
}

TEST_F(Faults, ARunWhoseDirectoryIsMovedEndsWithASentence) {
  desk.write("long.toml", "steps = 100000000\n" + faulty_run.substr(faulty_run.find('\n') + 1));
  Process process(desk, "sample long.toml -q -o run --anyway");
  ASSERT_TRUE(comes_true([&] { return fs::exists(desk.path("run/checkpoint/state")); }));
  fs::rename(desk.path("run"), desk.path("moved"));
  EXPECT_EQ(process.wait(), 1);
  EXPECT_THAT(process.error(), HasSubstr("cannot write \"run/"));
  for (const Damage& damage : verify(desk.path("moved")).damage)
    EXPECT_EQ(int(damage.remedy), int(Remedy::rewrite)) << damage.sentence;
}

}  // namespace
}  // namespace kelvin
