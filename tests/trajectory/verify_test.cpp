// SPDX-License-Identifier: Apache-2.0
// A damaged run: what is found, refused, taken out and made again.
#include "kelvin/trajectory/verify.h"

#include "kelvin/core/pack.h"
#include "tests/disk_runs.h"
#include "tests/run_contents.h"

namespace kelvin {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// Chunks hold as many draws as are planned: with those added later each array has three of each walker.
const std::string short_run =
    "steps = 40\nevery = 1\nwarmup = 10\nwalkers = 2\nlog_every = 10\nstore = { keep_warmup = true, predictions = true "
    "}\n"
    "data = { generator = { name = \"spiral\", rows = 30 } }\n"
    "model = { layers = [2, 3, 1], activation = \"tanh\", loss = \"binary_cross_entropy\", prior = 1.0 }\n"
    "part.all = { step = 0.05 }\n";

void make_short_run(const std::string& directory, const std::string& seed = "1") {
  run_whole(directory, "seed = " + seed + "\n" + short_run);
  resume_whole(directory, 80);
}

std::string flipped(std::string bytes) {
  bytes[bytes.size() / 2] = char(bytes[bytes.size() / 2] ^ 4);
  return bytes;
}

// As bytes: some statistics are nan.
std::string all_draws(const std::string& run) {
  const Samples samples = open_samples(run);
  Packer pack;
  for (const auto& [array, fingerprint] : samples.manifest.arrays)
    for (std::size_t w = 0; w < samples.walkers; ++w) {
      const bool warmup = array.starts_with("warmup_");
      pack(samples.array(array, w, 0, warmup ? samples.manifest.warmup_draws[w] : samples.draws));
    }
  return pack.bytes;
}

TEST(Verify, ARunIsIntactWhileItGrowsWhenItStopsAndAtItsEnd) {
  const Directory directory{in_memory()};
  const std::string run = directory.path("run");
  {
    Disk disk(run, no_time, false, short_run);
    kelvin::Run growing(settings_in("checkpoint_every = 7\n" + short_run), environment_for(disk));
    AtDraw look(25, [&] { EXPECT_THAT(verify(run).damage, testing::IsEmpty()); });
    growing.watch(disk);
    growing.watch(look);
    growing.advance(30);
    EXPECT_THAT(verify(run).damage, testing::IsEmpty());
  }
  for (const Damage& damage : verify(run).damage) ADD_FAILURE() << damage.sentence;
  resume_whole(run);
  const Verification found = verify(run);
  for (const Damage& damage : found.damage) ADD_FAILURE() << damage.sentence;
  EXPECT_EQ(found.draws, (std::vector<std::uint64_t>{40, 40}));
  EXPECT_GT(found.files, 50u);
  EXPECT_GT(found.bytes, 10000u);
}

// Each file in turn; what can be repaired ends as it was.
TEST(Verify, WhatIsDamagedIsNamedRefusedTakenOutAndMadeAgain) {
  const Directory directory{in_memory()};
  const std::string run = directory.path("run"), copy = directory.path("copy");
  make_short_run(run);
  const auto whole = contents(run);
  struct Case {
    const char* file;
    std::uint64_t intact;  // draws of walker 1
    bool resumes;          // without repair, as it writes the file anew
  };
  for (const auto& [file, intact, resumes] : {Case{"samples.zarr/posterior/layer1.weight/1.1.0.0", 40, false},
                                              {"samples.zarr/sample_stats/potential/1.0", 0, false},
                                              {"samples.zarr/warmup_posterior/layer2.bias/1.0.0", 120, false},
                                              {"samples.zarr/posterior_predictive/y/1.2.0.0", 80, false},
                                              {"samples.zarr/posterior/layer1.weight/.zarray", 120, true},
                                              {"samples.zarr/posterior/layer1.weight/.zattrs", 120, true},
                                              {"samples.zarr/posterior/draw/1", 120, true},
                                              {"samples.zarr/posterior/draw/.zarray", 120, true},
                                              {"samples.zarr/observed_data/y/0.0", 120, true},
                                              {"samples.zarr/moments/layer1.bias/1.0.0", 120, true},
                                              {"samples.zarr/.zmetadata", 120, true},
                                              {"checkpoint/state", 120, false},
                                              {"log.jsonl", 120, false},
                                              {"chunks", 120, false},
                                              {"manifest.json", 120, false},
                                              {"run.toml", 120, false}}) {
    for (const bool missing : {false, true}) {
      const std::string what = std::string(file) + (missing ? " missing" : " changed");
      fs::remove_all(copy);
      fs::copy(run, copy, fs::copy_options::recursive);
      const std::string at = copy + "/" + file;
      ASSERT_TRUE(fs::exists(at)) << what;
      if (missing) fs::remove(at);
      else std::ofstream(at, std::ios::binary) << flipped(bytes_of(run + "/" + file));
      const Verification found = verify(copy);
      ASSERT_FALSE(found.intact()) << what;
      EXPECT_EQ(found.damage.front().file, file) << what;
      EXPECT_THAT(found.damage.front().sentence, HasSubstr(file)) << what;
      const bool lost = std::string(file) == "manifest.json" || std::string(file) == "chunks";
      if (!lost) {
        const auto& draws = std::string(file).find("warmup") == std::string::npos ? found.draws : found.warmup_draws;
        EXPECT_EQ(draws[1], std::string(file).find("warmup") == std::string::npos ? intact : 0) << what;
      }
      const std::string refusal = error_of([&] { resume_whole(copy, 0); });
      if (resumes) EXPECT_EQ(refusal, "") << what;
      else EXPECT_THAT(refusal, HasSubstr(file)) << what;
      for (const std::string& sentence : repair(copy)) EXPECT_NE(sentence, "");
      if (!read_record(copy).has_finished()) resume_whole(copy);
      for (const Damage& damage : verify(copy).damage) ADD_FAILURE() << what << ": " << damage.sentence;
      expect_same(whole, contents(copy), what);
      EXPECT_TRUE(read_record(copy).has_finished()) << what;
    }
  }
}

TEST(Verify, WithoutItsSettingsARunCannotBeRepaired) {
  const Directory directory{in_memory()};
  const std::string run = directory.path("run");
  run_whole(run, short_run);
  const std::string record = run + "/run.json";
  std::string text = bytes_of(record);
  text.replace(text.find("\"seed\": 1"), 9, "\"seed\": 2");
  std::ofstream(record) << text;
  EXPECT_THAT(error_of([&] { open_samples(run); }), HasSubstr("run.json\" is damaged: its checksum does not fit"));
  EXPECT_THAT(error_of([&] { repair(run); }), HasSubstr("start it anew from its run file"));
}

// All of these are files as they were written, in a wrong place.
TEST(Verify, FilesOfOtherPlacesAndRunsAreRefused) {
  const Directory directory{in_memory()};
  const std::string run = directory.path("run"), other = directory.path("other");
  make_short_run(run);
  make_short_run(other, "2");
  const auto good = all_draws(run);
  const auto place = [&](const std::string& from, const std::string& to) {
    const std::string before = bytes_of(run + "/" + to);
    const std::string taken = bytes_of(from);
    ASSERT_NE(taken, before);
    std::ofstream(run + "/" + to, std::ios::binary) << taken;
    EXPECT_FALSE(verify(run).intact()) << to;
    const std::string refusal = error_of([&] {
      read_log(run);
      all_draws(run);
      open_samples(run).running_mean("layer1.bias", 1);
    });
    EXPECT_THAT(refusal, HasSubstr(fs::path(to).filename().string())) << to << " from " << from;
    std::ofstream(run + "/" + to, std::ios::binary) << before;
  };
  const std::string weights = "samples.zarr/posterior/layer1.weight/";
  place(run + "/" + weights + "1.0.0.0", weights + "0.0.0.0");  // of another walker
  place(run + "/" + weights + "0.1.0.0", weights + "0.0.0.0");  // of other draws
  place(run + "/samples.zarr/posterior/layer2.weight/0.0.0.0", "samples.zarr/posterior/layer1.bias/0.0.0");
  place(other + "/" + weights + "0.0.0.0", weights + "0.0.0.0");  // of another run
  place(other + "/samples.zarr/moments/layer1.bias/1.0.0", "samples.zarr/moments/layer1.bias/1.0.0");
  place(run + "/samples.zarr/moments/layer1.bias/0.0.0", "samples.zarr/moments/layer1.bias/1.0.0");
  for (const char* file : {"log.jsonl", "chunks"}) place(other + "/" + file, file);
  place(other + "/run.json", "run.json");
  EXPECT_TRUE(all_draws(run) == good) << "all is in its place again";
}

// A line that was left out, or is of another run, or has one digit changed.
TEST(Verify, EveryLineOfTheLogIsTheOneThatWasWritten) {
  const Directory directory{in_memory()};
  const std::string run = directory.path("run"), log = run + "/log.jsonl";
  run_until_killed(run, "checkpoint_every = 20\n" + short_run, 35);
  const std::string text = bytes_of(log);
  const std::size_t lines = read_log(run).size();
  ASSERT_GE(lines, 3u);
  EXPECT_EQ(last_log_line(run, read_record(run))->step, read_log(run).back().step);
  const auto refused = [&](const std::string& changed) {
    std::ofstream(log, std::ios::binary) << changed;
    return error_of([&] { read_log(run); });
  };
  const std::size_t second = text.find('\n') + 1, third = text.find('\n', second) + 1;
  EXPECT_THAT(refused(text.substr(0, second) + text.substr(third)), HasSubstr("log.jsonl\" is damaged: line 2"));
  EXPECT_THAT(refused(text.substr(second)), HasSubstr("line 1"));
  EXPECT_THAT(refused(text.substr(0, second)), HasSubstr("manifest.json names"));
  for (std::size_t i = 0; i < text.size(); ++i)
    if (std::isdigit(text[i])) {
      std::string changed = text;
      changed[i] = changed[i] == '9' ? '8' : char(changed[i] + 1);
      EXPECT_THAT(refused(changed), HasSubstr("log.jsonl\" is damaged")) << i;
    }
  EXPECT_EQ(refused(text + "{\"step\":"), "") << "a line that is not yet whole";
  EXPECT_EQ(refused(text), "");
}

// What power loss may leave behind the lines that a manifest names goes when the run is resumed.
TEST(Verify, ABrokenLineThatNoManifestNamesIsMadeAgain) {
  const Directory directory{in_memory()};
  const std::string run = directory.path("run"), whole = directory.path("whole");
  run_whole(whole, short_run);
  run_until_killed(run, short_run, 35);
  std::ofstream(run + "/log.jsonl", std::ios::app) << std::string(100, '\0') << "\n";
  EXPECT_THAT(error_of([&] { read_log(run); }), HasSubstr("log.jsonl"));
  EXPECT_TRUE(verify(run).intact());
  resume_whole(run);
  expect_same(contents(whole), contents(run), "resumed");
}

// A commit gives chunks their names before it writes the manifest. Who reads in between, or after a kill there, finds
// chunks with more draws than are named.
TEST(Verify, ChunksMayHaveMoreDrawsThanTheManifestNames) {
  const Directory directory{in_memory()};
  const std::string run = directory.path("run");
  std::string manifest, chunks;
  std::vector<double> before;
  {
    Disk disk(run, no_time, false, short_run);
    kelvin::Run growing(settings_in("checkpoint_every = 7\n" + short_run), environment_for(disk));
    growing.watch(disk);
    growing.advance(25);
    manifest = bytes_of(run + "/manifest.json");
    chunks = bytes_of(run + "/chunks");
    before = open_samples(run).block("layer1.weight", 1);
    ASSERT_GT(before.size(), 0u);
    growing.advance(10);
  }
  ASSERT_GT(open_samples(run).block("layer1.weight", 1).size(), before.size());
  std::ofstream(run + "/manifest.json", std::ios::binary) << manifest;
  EXPECT_EQ(open_samples(run).block("layer1.weight", 1), before);
  fs::remove_all(run + "/checkpoint");  // that knows of more
  const auto is_metadata = [](const Damage& damage) { return damage.remedy == Remedy::rewrite; };
  for (const Damage& damage : verify(run).damage)
    EXPECT_TRUE(is_metadata(damage) || damage.file == "checkpoint/state") << damage.sentence;
}

// The manifest may be ahead of the checkpoint: these draws are computed again, but what a reader may have seen stays,
// even the times at which they were kept.
TEST(Verify, DrawsThatWereNamedAreNotWrittenAgain) {
  const Directory directory{in_memory()};
  const std::string run = directory.path("run");
  run_until_killed(run, short_run, 35);
  const Samples before = open_samples(run);
  ASSERT_GT(before.draws, 10u);
  ASSERT_LT(before.draws, 40u);
  const std::vector<double> times = before.statistic("time", 1), potentials = before.statistic("potential", 1);
  {
    Disk disk(run, [] { return 100.0; });
    ASSERT_EQ(disk.resumption().checkpoint->step, 0u);
    kelvin::Run again(disk.resumption(), environment_for(disk));
    again.watch(disk);
    again.go();
  }
  const Samples after = open_samples(run);
  std::vector<double> now = after.statistic("time", 1), energies = after.statistic("potential", 1);
  ASSERT_EQ(now.size(), 40u);
  EXPECT_GE(now.back(), 100);
  now.resize(times.size());
  energies.resize(times.size());
  EXPECT_EQ(now, times);
  EXPECT_EQ(energies, potentials);
}

}  // namespace
}  // namespace kelvin
