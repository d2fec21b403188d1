// SPDX-License-Identifier: Apache-2.0
// The run directory: what is kept comes back, what is damaged is noticed and named.
#include "kelvin/trajectory/store.h"

#include <Eigen/Core>

#include "kelvin/core/toml.h"
#include "kelvin/io/problem.h"
#include "kelvin/trajectory/samples.h"
#include "tests/files.h"
#include "tests/support.h"

namespace kelvin {
namespace {

using testing::HasSubstr;

const std::string network = R"(
warmup = 6
walkers = 2
data = { generator = { name = "gap", rows = 9 }, standardise = "both", test = 3 }
model = { layers = [1, 3, 1], activation = "tanh", loss = "gaussian", prior = 1.0 }
part.all = { step = 0.05, temperature = "posterior" }
)";

template <class Real>
Problem<Real> problem_of(const std::string& text) {
  return make_problem<Real>(read_run_settings(parse_toml(text, "test")), [](std::string_view) {});
}

// What the sink saw, and a store that was given the same.
template <class Real>
struct Trial {
  Directory directory{in_memory()};
  Problem<Real> problem;
  Noise<Real> noise;
  std::vector<Chain<Real>> walkers;
  std::vector<std::vector<std::vector<double>>> seen, warm;  // [walker][draw][entry]
  std::vector<std::vector<Reading>> readings;
  std::unique_ptr<Store<Real>> store;
  static constexpr std::size_t chunk = 7;

  explicit Trial(const std::string& text) : problem(problem_of<Real>(text)) {
    RunRecord record;
    record.kelvin = "test";
    record.settings = problem.settings;
    for (const Block& b : problem.recipe.blocks) record.blocks.push_back(b.name);
    for (const PartRecipe& p : problem.recipe.parts) record.parts.push_back(p.name);
    write_record(path(), record);
    for (std::uint32_t w = 0; w < std::uint32_t(problem.settings.walkers); ++w) {
      walkers.push_back(problem.chain(w, noise));
      walkers.back().start(problem.starting_point(w, {}));
    }
    seen.resize(walkers.size()), warm.resize(walkers.size()), readings.resize(walkers.size());
    open({});
  }
  std::filesystem::path path() const { return directory.path(""); }
  void open(std::vector<WalkerTotals> totals) {
    store.reset();
    store = std::make_unique<Store<Real>>(path(), problem, chunk,
                                          StoreOrigin{.attributes = Value::Group{{"seed", 1}},
                                                      .seconds = [] { return 2.5; },
                                                      .identity = identity_of(read_record(path())),
                                                      .totals = std::move(totals)});
  }
  void go(std::uint64_t draws) {
    Plan plan;
    plan.warmup = std::uint64_t(problem.settings.warmup), plan.steps = 2 * draws, plan.every = 2, plan.round = 5;
    plan.threads = 2, plan.keep_warmup = problem.settings.store.keep_warmup;
    run<Real>(
        walkers, plan,
        [&](const Draw<Real>& d) {
          store->keep(d);
          auto& to = (d.warmup ? warm : seen)[d.walker];
          to.resize(std::max<std::size_t>(to.size(), d.index + 1));
          to[d.index].assign(d.q.begin(), d.q.end());
          if (!d.warmup) readings[d.walker].push_back(d.reading);
        },
        [](std::uint64_t) {});
  }
};

std::vector<double> part_of(const std::vector<std::vector<double>>& draws, const Block& block) {
  std::vector<double> out;
  for (const auto& q : draws)
    out.insert(out.end(), q.begin() + long(block.offset), q.begin() + long(block.offset + block.size()));
  return out;
}

TEST(Store, EveryDrawComesBackAsItWas) {
  Trial<float> r(network);
  r.go(17);  // two whole chunks and a part of one
  r.store->finish();
  const Samples samples = open_samples(r.path());
  EXPECT_EQ(samples.draws, 17u);
  EXPECT_EQ(samples.walkers, 2u);
  for (std::size_t w = 0; w < 2; ++w) {
    for (const Block& b : r.problem.recipe.blocks) {
      EXPECT_EQ(samples.block(b.name, w), part_of(r.seen[w], b)) << b.name;
      EXPECT_EQ(samples.array("posterior/" + b.name, w, 6, 3),
                part_of(std::vector(r.seen[w].begin() + 6, r.seen[w].begin() + 9), b));
    }
    for (std::size_t n = 0; n < 17; ++n) {
      EXPECT_EQ(samples.statistic("step", w)[n], double(6 + 2 * (n + 1)));
      EXPECT_EQ(samples.statistic("potential", w)[n], r.readings[w][n].energy);
      EXPECT_EQ(samples.statistic("lp", w)[n], -6 * r.readings[w][n].energy);
      EXPECT_EQ(samples.statistic("virial", w)[n], r.readings[w][n].parts[0].virial);
      EXPECT_EQ(samples.statistic("diverging", w)[n], 0);
      EXPECT_EQ(samples.statistic("time", w)[n], 2.5);
    }
  }
}

TEST(Store, DrawsAreSeenOnceTheyAreAcknowledged) {
  Trial<float> r(network);
  EXPECT_EQ(open_samples(r.path()).draws, 0u);
  r.go(3);
  EXPECT_EQ(open_samples(r.path()).draws, 0u) << "no chunk is full";
  r.store->acknowledge();
  const auto before = open_samples(r.path()).block("layer1.bias", 1);
  EXPECT_EQ(before.size(), 3u * 3);
  r.go(4);
  r.store->acknowledge();
  const auto after = open_samples(r.path()).block("layer1.bias", 1);
  EXPECT_EQ(after.size(), 4u * 3);
  EXPECT_TRUE(std::equal(before.begin(), before.end(), after.begin())) << "the chunk was written again, with more";
}

TEST(Store, HalvesAreTheNearestOnesAndNoneIsNone) {
  Trial<double> r("precision = \"double\"\nstore.weights = \"half\"\n" + network);
  r.go(9);
  r.store->finish();
  const Block& b = r.problem.recipe.blocks.front();
  auto expected = part_of(r.seen[0], b);
  for (double& x : expected) x = double(float(Eigen::half(float(x))));
  EXPECT_EQ(open_samples(r.path()).block(b.name, 0), expected);
  EXPECT_NE(expected, part_of(r.seen[0], b)) << "negative control";

  Trial<double> none("precision = \"double\"\nstore.weights = \"none\"\n" + network);
  none.go(9);
  none.store->finish();
  const Samples samples = open_samples(none.path());
  EXPECT_THAT(error_of([&] { samples.block(b.name, 0); }), HasSubstr("store.weights = \"none\""));
  EXPECT_EQ(samples.statistic("energy", 1).size(), 9u);
  EXPECT_EQ(samples.running_mean(b.name, 0).size(), b.size());
}

// Draws of weight 0 and 1 are taken as they are; others as often as their weights say, so that means agree within one
// draw's share.
TEST(Weights, ChooseDrawsInProportion) {
  const double none = -std::numeric_limits<double>::infinity();
  EXPECT_EQ(drawn_by_weight(std::vector{none, 0.0, 0.0, none, 0.0}), (std::vector<std::size_t>{1, 2, 4}));
  EXPECT_EQ(drawn_by_weight(std::vector(1000, -3.0)).size(), 1000u);
  EXPECT_TRUE(drawn_by_weight(std::vector(3, none)).empty());
  std::vector<double> logs;
  double sum = 0, squares = 0, weighted = 0, plain = 0;
  for (int k = 0; k < 10000; ++k) {
    const double w = 1 + std::sin(0.01 * k), x = std::cos(0.01 * k + 1);
    logs.push_back(std::log(w) + 700);
    sum += w, squares += w * w, weighted += w * x, plain += x / 10000;
  }
  const auto chosen = drawn_by_weight(logs);
  EXPECT_NEAR(double(chosen.size()), sum * sum / squares, 1);
  double mean = 0;
  for (const std::size_t k : chosen) mean += std::cos(0.01 * double(k) + 1) / double(chosen.size());
  EXPECT_NEAR(mean, weighted / sum, 1e-3);
  EXPECT_GT(std::abs(plain - weighted / sum), 0.1) << "negative control: without weights";
}

// Two draws of x with weights w are as w copies of each.
TEST(Weights, OfRunningMomentsCountAsCopies) {
  const std::vector<double> a{1, 2}, b{4, -1};
  RunningMoments weighted(2), copied(2);
  weighted.add(std::span<const double>(a), 2), weighted.add(std::span<const double>(b), 3),
      weighted.add(std::span<const double>(a), 0);
  for (const auto* x : {&a, &a, &b, &b, &b}) copied.add(std::span<const double>(*x));
  EXPECT_EQ(weighted.count, 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_NEAR(weighted.mean[i], copied.mean[i], 1e-14);
    EXPECT_NEAR(weighted.squares[i], copied.squares[i], 1e-13);
    for (std::size_t j = 0; j < 2; ++j) EXPECT_NEAR(weighted.products[2 * i + j], copied.products[2 * i + j], 1e-13);
  }
}

TEST(Store, RunningMomentsAreThoseOfTheDraws) {
  Trial<double> r("precision = \"double\"\n" + network);
  r.go(40);
  r.store->finish();
  const Samples samples = open_samples(r.path());
  const auto covariance =
      read_zarr(r.path() / "samples.zarr/moments/covariance",
                read_zarr_metadata(r.path() / "samples.zarr/moments/covariance"), 1, 0, r.problem.recipe.size);
  for (const Block& b : r.problem.recipe.blocks) {
    const auto mean = samples.running_mean(b.name, 1), variance = samples.running_variance(b.name, 1);
    for (std::size_t i = 0; i < b.size(); ++i) {
      double m = 0, v = 0, c = 0, m0 = 0;
      for (const auto& q : r.seen[1]) m += q[b.offset + i] / 40, m0 += q[0] / 40;
      for (const auto& q : r.seen[1]) {
        v += (q[b.offset + i] - m) * (q[b.offset + i] - m) / 39;
        c += (q[b.offset + i] - m) * (q[0] - m0) / 39;
      }
      EXPECT_NEAR(mean[i], m, 1e-14);  // forty sums of numbers below 10
      EXPECT_NEAR(variance[i], v, 1e-13);
      EXPECT_NEAR(covariance[b.offset + i], c, 1e-13);
    }
  }
}

TEST(Store, WarmupPredictionsAndLikelihoodsAreKeptWhenAsked) {
  Trial<double> r(
      "precision = \"double\"\nstore = { keep_warmup = true, predictions = true, log_likelihood = true }\n" + network);
  r.go(10);
  r.store->finish();
  const Samples samples = open_samples(r.path());
  EXPECT_EQ(samples.manifest.warmup_draws, (std::vector<std::uint64_t>{3, 3}));
  const Block& b = r.problem.recipe.blocks.front();
  EXPECT_EQ(samples.array("warmup_posterior/" + b.name, 1, 0, 3), part_of(r.warm[1], b));
  EXPECT_EQ(samples.array("warmup_sample_stats/step", 0, 0, 3), (std::vector<double>{2, 4, 6}));
  EXPECT_EQ(samples.array("sample_stats/step", 0, 0, 1), (std::vector<double>{8}));
  const auto y = samples.array("posterior_predictive/y", 1, 9, 1), l = samples.array("log_likelihood/y", 1, 9, 1);
  std::vector<double> out(3);
  r.problem.test->predict(r.seen[1][9], {}, out);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(y.at(i), r.problem.data.test.target_units.original(0, out[i]));
  // the mean over the rows is minus the loss that every command shows
  EXPECT_NEAR((l[0] + l[1] + l[2]) / 3, -r.problem.test->score(r.seen[1][9], {}).loss, 1e-12);
}

TEST(Store, AResumedStoreEndsWithTheSameBytes) {
  const auto bytes = [](const Trial<float>& r) {
    std::map<std::string, std::string> all;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(r.path() / "samples.zarr"))
      if (entry.is_regular_file())
        all[entry.path().string().substr(r.path().string().size())] = bytes_of(entry.path().string());
    return all;
  };
  const std::string text = "store.keep_warmup = true\n" + network;
  Trial<float> whole(text), pieces(text);
  whole.go(30), whole.store->finish();
  pieces.go(5), pieces.store->acknowledge();
  std::vector<ChainState<float>> states;
  for (auto& chain : pieces.walkers) states.push_back(chain.state());
  const std::vector<WalkerTotals> totals = pieces.store->totals();
  pieces.go(22), pieces.store->acknowledge();  // beyond the checkpoint: acknowledged, and made again below
  for (std::size_t w = 0; w < 2; ++w) pieces.walkers[w].restore(states[w]);
  pieces.open(totals);
  EXPECT_EQ(open_samples(pieces.path()).draws, 22u);
  pieces.go(9), pieces.store->acknowledge();
  EXPECT_EQ(open_samples(pieces.path()).draws, 22u) << "an acknowledged draw is never taken back";
  const auto block = [](const Trial<float>& r) {
    return open_samples(r.path()).array("posterior/layer1.bias", 0, 0, 22);
  };
  EXPECT_EQ(block(pieces), block(whole));
  pieces.go(26), pieces.store->acknowledge();
  pieces.open(std::vector(pieces.store->totals()));  // within a chunk, and nothing acknowledged beyond
  pieces.go(30), pieces.store->finish();
  EXPECT_TRUE(bytes(whole) == bytes(pieces));
}

// ---- damage

// Every byte replaced by some others, and every length: `read` throws an Error that names the file, or returns the
// same.
template <class Read>
void expect_damage_is_noticed(const std::string& file, const std::string& named, Read&& read) {
  const std::string whole = bytes_of(file);
  const auto good = read();
  const auto write = [&](const std::string& bytes) { std::ofstream(file, std::ios::binary) << bytes; };
  std::size_t noticed = 0, harmless = 0;
  const auto look = [&](const std::string& what) {
    try {
      EXPECT_TRUE(read() == good) << what << " of " << file << " went unnoticed";
      ++harmless;
    } catch (const Error& e) {
      EXPECT_THAT(e.what(), HasSubstr(named)) << what;
      ++noticed;
    }
  };
  for (std::size_t i = 0; i < whole.size(); ++i)
    for (const int flip : {1, 4, 0x80, 0xff}) {
      std::string bytes = whole;
      bytes[i] = char(bytes[i] ^ flip);
      write(bytes);
      look("byte " + std::to_string(i));
    }
  for (std::size_t n = 0; n < whole.size(); ++n) write(whole.substr(0, n)), look("length " + std::to_string(n));
  write(whole + "x"), look("a byte more");
  write(whole);
  EXPECT_GT(noticed, 10 * harmless) << file;
}

TEST(Damage, OfChunksMetadataAndManifestIsNoticed) {
  Trial<float> r(network);
  r.go(7);
  r.store->finish();
  Samples opened = open_samples(r.path());  // its record is read once: thousands of damaged files are read below
  const auto read = [&] {
    opened.manifest = read_manifest(r.path());
    return std::pair(opened.block("layer1.bias", 0), opened.manifest.draws);
  };
  const std::string zarr = r.directory.path("samples.zarr/posterior/layer1.bias/");
  expect_damage_is_noticed(zarr + "0.0.0", "layer1.bias/0.0.0", read);
  expect_damage_is_noticed(r.directory.path("manifest.json"), "manifest.json", read);
  // JSON forgives white space, so more of its damage is harmless; a wrong number is not
  const std::string about = bytes_of(zarr + ".zarray");
  const auto good = read();
  for (std::size_t i = 0; i < about.size(); ++i)
    for (const char byte : {'\0', ' ', '"', ',', '0', '1', '9', '[', 'e', 'x', '}', '\xff'}) {
      std::string bytes = about;
      bytes[i] = byte;
      std::ofstream(zarr + ".zarray", std::ios::binary) << bytes;
      try {
        EXPECT_TRUE(read() == good) << i << " " << int(byte);
      } catch (const Error& e) {
        EXPECT_THAT(e.what(), HasSubstr("layer1.bias"));
      }
    }
}

TEST(Damage, OfCheckpointsIsNoticed) {
  Trial<double> r("precision = \"double\"\n" + network);
  r.go(3);
  StoredCheckpoint c;
  c.run.walkers = {"the state of one", "and of another"};
  c.run.couplings = {{"exchange", "some bytes"}};
  c.run.patience = "best";
  c.run.step = 12;
  c.run.evaluations = 99;
  c.totals = r.store->totals();
  write_checkpoint(r.path(), 77, c);
  const auto read = [&] {
    const auto back = read_checkpoint(r.path(), 77);
    return std::tuple(back.run.walkers, back.run.couplings, back.run.patience, back.run.step, back.run.evaluations,
                      back.totals[1].draws, back.totals[0].moments.mean);
  };
  EXPECT_EQ(std::get<0>(read()), c.run.walkers);
  EXPECT_EQ(std::get<1>(read()), c.run.couplings);
  EXPECT_EQ(std::get<5>(read()), 3u);
  expect_damage_is_noticed(r.directory.path("checkpoint/state"), "checkpoint/state", read);
  EXPECT_THAT(error_of([&] { read_checkpoint(r.path(), 78); }), HasSubstr("other settings"));
  std::string earlier = checkpoint_bytes(r.path());
  ++earlier[8];  // the length of its fields
  EXPECT_THAT(error_of([&] { unpacked_checkpoint(earlier, r.path(), 77); }),
              HasSubstr("another version of kelvin; the run can be read, but not resumed"));
}

TEST(Damage, AMissingChunkIsNamed) {
  Trial<float> r(network);
  r.go(7);
  r.store->finish();
  std::filesystem::remove(r.path() / "samples.zarr/posterior/layer1.bias/1.0.0");
  EXPECT_THAT(error_of([&] { open_samples(r.path()).block("layer1.bias", 1); }), HasSubstr("layer1.bias/1.0.0"));
}

// ---- the state of a chain, and the lock

TEST(ChainState, GoesOnBitForBit) {
  for (const char* scheme : {"BAOAB", "ABOBA", "OBA", "BARAB", "S", "UBU", "R{(BAB)3}", "O{BAB}O"})
    for (const int taken : {0, 1, 13}) {
      const auto part = moving(scheme, 0.9, 0.5);
      Walker<double> whole(gaussian({1, 4}), part), other(gaussian({1, 4}), part);
      for (int n = 0; n < taken; ++n) whole.chain.step();
      other.chain.restore(whole.chain.state());
      for (int n = 0; n < 20; ++n) whole.chain.step_and_read(), other.chain.step_and_read();
      const auto a = whole.chain.state(), b = other.chain.state();
      EXPECT_EQ(a.q, b.q) << scheme;
      EXPECT_EQ(a.p, b.p) << scheme;
      EXPECT_EQ(a.evaluations, b.evaluations) << scheme;
      EXPECT_EQ(whole.chain.reading().energy, other.chain.reading().energy) << scheme;
      EXPECT_EQ(whole.chain.reading().acceptance, other.chain.reading().acceptance) << scheme;
    }
}

TEST(RunLock, HoldsForOneAtATime) {
  const Directory d;
  {
    const RunLock mine(d.path(""));
    EXPECT_TRUE(RunLock::held(d.path("")));
    EXPECT_THAT(error_of([&] { RunLock second(d.path("")); }), HasSubstr("another process"));
  }
  EXPECT_FALSE(RunLock::held(d.path("")));
  const RunLock again(d.path(""));
}

// Many chunks and statistics of two walkers are as many files; the disk is waited for a few times in all.
TEST(Store, WaitsForTheDiskOnceForAllFilesOfACommit) {
  Trial<float> r(network);
  const std::uint64_t before = disk_waits();
  r.go(17);
  EXPECT_EQ(disk_waits(), before) << "chunks that are full wait for the next commit";
  r.store->finish();
  EXPECT_EQ(disk_waits() - before, 3u) << "chunks and moments, the manifest, its name";
  EXPECT_EQ(open_samples(r.path()).draws, 17u);
}

}  // namespace
}  // namespace kelvin
