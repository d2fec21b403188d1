// SPDX-License-Identifier: Apache-2.0
#include "bench/cases.h"

#include <fmt/ranges.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <random>
#include <vector>

#include "bench/networks.h"
#include "kelvin/analysis/posterior/columns.h"
#include "kelvin/analysis/posterior/summary.h"
#include "kelvin/analysis/predictive/predictive.h"
#include "kelvin/core/toml.h"
#include "kelvin/energy/likelihood.h"
#include "kelvin/energy/toys.h"
#include "kelvin/function/gemm.h"
#include "kelvin/io/problem.h"
#include "kelvin/run/problem.h"
#include "kelvin/run/run.h"
#include "kelvin/trajectory/store.h"

namespace kelvin::bench {
namespace {

// Rows of normals with random classes; the content does not matter, the sizes do.
Dataset random_rows(std::size_t rows, std::size_t inputs, std::size_t classes) {
  Dataset data;
  data.rows = rows;
  for (std::size_t k = 0; k < inputs; ++k) data.input_names.push_back("x" + std::to_string(k));
  data.target_names = {"y"};
  for (std::size_t k = 0; k < classes; ++k) data.classes.push_back(std::to_string(k));
  data.inputs = std::vector<double>(rows * inputs);
  normals({stream_key(1, "inputs"), 0, 0, 0}, 0, std::span(data.inputs.doubles()));
  for (std::size_t i = 0; i < rows; ++i)
    data.targets.push_back(double(below(std::uint32_t(classes), {stream_key(1, "classes"), 0, 0, 0}, i)));
  return data;
}

struct Setup {
  std::vector<long> layers;
  std::size_t rows;
  std::string batch;
  std::string scheme = "BAOAB";
  double temperature = 1e-4;
  std::uint32_t walkers = 1;
  Choice constraint = {};
  std::string activation = "relu";
};

struct Running {
  Noise<float> noise;
  std::vector<Chain<float>> chains;
};

// `walkers` chains of a network.
std::shared_ptr<Running> running(const Setup& setup) {
  ModelSettings model;
  model.layers = setup.layers;
  model.activation = {setup.activation};
  const std::size_t outputs = std::size_t(setup.layers.back());
  model.loss = outputs == 1 ? "binary_cross_entropy" : "softmax_cross_entropy";
  const auto network = make_likelihood<float>(
      model, random_rows(setup.rows, std::size_t(setup.layers.front()), outputs == 1 ? 2 : outputs), {});
  PartSettings part;
  part.scheme = setup.scheme;
  part.step = Choice::number_of("constant", "value", 1e-3);
  part.temperature = Choice::number_of("constant", "value", setup.temperature);
  part.constraint = setup.constraint;
  const Recipe recipe = make_recipe({{"all", part}}, {}, network->blocks(), {1, 1});
  BatchSettings batch;
  batch.size.text = setup.batch;
  auto out = std::make_shared<Running>();
  for (std::uint32_t w = 0; w < setup.walkers; ++w) {
    out->chains.emplace_back(network->clone(), recipe, Batches(batch, setup.rows, 1, w), out->noise, 1, w);
    std::vector<float> q(recipe.size);
    normals({stream_key(1, "start"), 0, 0, 0}, 0, std::span(q));
    for (float& x : q) x *= 0.05f;
    out->chains.back().start(q);
  }
  return out;
}

std::function<void()> steps(const Setup& setup) {
  return [r = running(setup)] { r->chains[0].step(); };
}

// 20 000 steps of each walker.
std::function<void()> walkers_on_threads(std::uint32_t walkers, std::size_t threads) {
  return [threads, r = running({{2, 100, 1}, 1000, "20", "BAOAB", 1e-4, walkers})] {
    Plan plan;
    plan.steps = r->chains[0].steps() + 20000, plan.every = plan.round = plan.steps + 1, plan.threads = threads;
    run<float>(
        r->chains, plan, [](const Draw<float>&) {}, [](std::uint64_t) {});
  };
}

// Eight walkers of 784-10, 1000 steps each, then a look at each other; or none.
std::function<void()> eight_walkers(double blending) {
  RunSettings settings;
  settings.walkers = 8;
  settings.coupling.method = Choice("ensemble");
  settings.coupling.blending = blending;
  settings.coupling.refresh = 1000;
  const auto r = running({{784, 10}, 55000, "550", "BAOAB", 1e-4, 8});
  const auto alone = std::make_shared<Comm>();
  const EnsembleSettings ensemble = ensemble_settings(settings);
  const Remark silent = [](std::string_view) {};
  const auto couplings =
      std::make_shared<Couplings<float>>(CoupledRun{ensemble, r->chains[0].recipe(), *alone, silent});
  return [r, alone, couplings] {
    Plan plan;
    plan.steps = r->chains[0].steps() + 1000, plan.every = plan.round = plan.steps + 1;
    run<float>(
        r->chains, plan, *couplings, [](const Draw<float>&) {}, [](std::uint64_t) {});
  };
}

// The matrix products of one gradient of a network with one hidden layer, and nothing else.
std::function<void()> products(int batch, int in, int hidden, int out) {
  const auto some = [](int n) {
    auto v = std::make_shared<std::vector<float>>(std::size_t(n));
    normals({stream_key(1, "products"), 0, 0, 0}, 0, std::span(*v));
    return v;
  };
  const auto x = some(batch * in), w1 = some(hidden * in), h = some(batch * hidden), w2 = some(out * hidden),
             y = some(batch * out);
  const auto g1 = some(hidden * in), g2 = some(out * hidden), d = some(batch * hidden);
  const auto matrix = [](const auto& v, int rows, int columns, bool turned = false) {
    return Factor<float>{v->data(), std::size_t(rows), std::size_t(columns), std::size_t(columns), turned};
  };
  return [=] {
    gemm(1, matrix(x, batch, in), matrix(w1, hidden, in, true), 0, h->data(), std::size_t(hidden));
    gemm(1, matrix(h, batch, hidden), matrix(w2, out, hidden, true), 0, y->data(), std::size_t(out));
    gemm(1, matrix(y, batch, out, true), matrix(h, batch, hidden), 0, g2->data(), std::size_t(hidden));
    gemm(1, matrix(y, batch, out), matrix(w2, out, hidden), 0, d->data(), std::size_t(hidden));
    gemm(1, matrix(d, batch, hidden, true), matrix(x, batch, in), 0, g1->data(), std::size_t(in));
  };
}

// A directory in memory that vanishes; on a disk, its speed would be measured: some runs make a gigabyte a second.
struct Memory {
  std::filesystem::path path;
  Memory() {
    const std::filesystem::path memory = "/dev/shm";
    std::string pattern =
        (std::filesystem::exists(memory) ? memory : std::filesystem::temp_directory_path()) / "kelvin_bench_XXXXXX";
    if (!mkdtemp(pattern.data())) throw Error("no temporary directory");
    path = pattern;
  }
  Memory(const Memory&) = delete;
  ~Memory() { std::filesystem::remove_all(path); }
};

// A run of 50 000 steps of 2-100-1, with every draw stored or none.
std::function<void()> whole_run(bool stored) {
  const auto problem = std::make_shared<Problem<float>>(
      make_problem<float>(read_run_settings(parse_toml(
                              "model = { layers = [2, 100, 1], loss = \"binary_cross_entropy\" }\nbatch = 20\n"
                              "data = { generator = \"spiral\" }\npart.all = { step = 0.001, temperature = 1e-4 }\n",
                              "bench")),
                          [](std::string_view) {}));
  return [problem, stored] {
    const Noise<float> noise;
    std::vector<Chain<float>> walkers;
    walkers.push_back(problem->chain(0, noise));
    walkers.front().start(problem->starting_point(0, {}));
    Plan plan;
    plan.steps = plan.round = 50000, plan.every = stored ? 1 : plan.steps + 1;
    if (!stored)
      return run<float>(
          walkers, plan, [](const Draw<float>&) {}, [](std::uint64_t) {});
    const Memory memory;
    Store<float> store(memory.path, *problem, plan.draws(), {.attributes = {}, .seconds = [] { return 0.0; }});
    run<float>(
        walkers, plan, [&](const Draw<float>& draw) { store.keep(draw); }, [](std::uint64_t) {});
    store.finish();
  };
}

// A stored run of 10^5 draws of 1000 parameters, 400 MB; both uses of it grow in proportion to its draws.
std::shared_ptr<Memory> stored_run() {
  static std::weak_ptr<Memory> made;
  if (auto memory = made.lock()) return memory;
  auto memory = std::make_shared<Memory>();
  const auto problem = make_problem<float>(
      read_run_settings(parse_toml("model = { toy = { name = \"gaussian\", dimension = 1000 } }\n"
                                   "part.all = { step = 0.5, temperature = 1 }\nprecision = \"float\"\n",
                                   "bench")),
      [](std::string_view) {});
  const Noise<float> noise;
  std::vector<Chain<float>> walkers;
  walkers.push_back(problem.chain(0, noise));
  walkers.front().start(problem.starting_point(0, {}));
  Plan plan;
  plan.steps = plan.round = 100'000, plan.every = 1;
  RunRecord record;
  record.settings = problem.settings;
  record.blocks = {"q"};
  record.parts = {"all"};
  record.parameters = 1000;
  write_record(memory->path, record);
  Store<float> store(memory->path, problem, plan.draws(),
                     {.attributes = {}, .seconds = [] { return 0.0; }, .identity = identity_of(record)});
  run<float>(
      walkers, plan, [&](const Draw<float>& draw) { store.keep(draw); }, [](std::uint64_t) {});
  store.finish();
  made = memory;
  return memory;
}

std::function<void()> summarised() {
  return [memory = stored_run()] { summary(open_samples(memory->path), false); };
}

std::function<void()> read_once() {
  return [memory = stored_run(), sum = std::make_shared<double>(0)] {
    const Samples samples = open_samples(memory->path);
    for (const auto& [array, fingerprint] : samples.manifest.arrays)
      each_piece(samples, array, 0, [&](std::size_t, std::span<const double> x) { *sum += x.back(); });
  };
}

// A stored run of 784-100-10 with 100 draws; a thousand take ten times as long.
struct DrawnNetwork {
  Memory memory;
  StoredRun<float> stored;
  Dataset rows = random_rows(10000, 784, 10);

  DrawnNetwork() {
    Problem<float> problem;
    problem.settings.model.layers = {784, 100, 10};
    problem.settings.model.loss = "softmax_cross_entropy";
    problem.data.train = random_rows(10, 784, 10);
    auto likelihood = make_likelihood<float>(problem.settings.model, problem.data.train, {});
    PartSettings part;
    part.temperature = Choice::number_of("constant", "value", 1);
    problem.recipe = make_recipe({{"all", part}}, {}, likelihood->blocks(), {});
    problem.energy.emplace(likelihood->clone());
    problem.train = std::make_unique<PlacedLikelihood<float>>(std::move(likelihood), problem.recipe.blocks);
    constexpr std::uint64_t draws = 100;
    RunRecord record;
    record.settings = problem.settings;
    record.parts = {"all"};
    write_record(memory.path, record);
    Store<float> store(memory.path, problem, draws,
                       {.attributes = {}, .seconds = [] { return 0.0; }, .identity = identity_of(record)});
    Reading reading;
    reading.parts.resize(1);
    std::vector<float> q(problem.recipe.size);
    for (std::uint64_t d = 0; d < draws; ++d) {
      normals({stream_key(1, "draws"), 0, d, 0}, 0, std::span(q));
      for (float& x : q) x *= 0.05f;
      store.keep({0, d, reading, q});
    }
    store.finish();
    stored = {open_samples(memory.path), std::move(problem)};
  }
};

std::function<void()> predictions() {
  return [run = std::make_shared<DrawnNetwork>()] { predict(run->stored, run->rows, {}); };
}

std::function<void()> forward_passes() {
  auto run = std::make_shared<DrawnNetwork>();
  auto likelihood = make_likelihood<float>(run->stored.problem.settings.model, run->rows, {});
  auto network = std::make_shared<PlacedLikelihood<float>>(std::move(likelihood), run->stored.problem.recipe.blocks);
  std::vector<std::vector<float>> points;
  run->stored.each_point(1, [&](std::size_t, std::size_t, auto q) { points.emplace_back(q.begin(), q.end()); });
  return [network, points, out = std::vector<float>(100000)]() mutable {
    for (const auto& q : points) network->predict(q, {}, out);
  };
}

constexpr std::size_t ten_million = 10'000'000;

std::function<void()> large_toy() {
  const Choice toy("gaussian", {{"dimension", long(ten_million)}});
  PartSettings part;
  part.temperature = Choice::number_of("constant", "value", 1);
  auto noise = std::make_shared<Noise<float>>();
  auto potential = make_toy<float>(toy);
  const Recipe recipe = make_recipe({{"all", part}}, {}, potential->blocks(), {});
  auto chain = std::make_shared<Chain<float>>(std::move(potential), recipe, Batches({}, 0, 1, 0), *noise, 1, 0);
  chain->start(std::vector<float>(ten_million, 0.5f));
  return [noise, chain] { chain->step(); };
}

// One pass that reads and writes q, p and g.
std::function<void()> memory_pass() {
  auto v = std::make_shared<LargeArray<float>>(3 * ten_million, 1.0f);
  return [v] {
    float *q = v->data(), *p = q + ten_million, *g = p + ten_million;
    for (std::size_t i = 0; i < ten_million; ++i) {
      const float a = q[i], b = p[i], c = g[i];
      q[i] = b, p[i] = c, g[i] = a;
    }
  };
}

std::function<void()> normals_made(std::size_t count) {
  auto z = std::make_shared<std::vector<float>>(1024);
  return [z, count, step = std::make_shared<std::uint64_t>(0)] {
    for (std::size_t first = 0; first < count; first += 1024) normals({1, 0, ++*step, 0}, first, std::span(*z));
  };
}

std::function<void()> standard_normals(std::size_t count) {
  auto generator = std::make_shared<std::mt19937>();
  auto z = std::make_shared<std::vector<float>>(1024);
  return [=] {
    std::normal_distribution<float> normal;
    for (std::size_t first = 0; first < count; first += 1024)
      for (float& x : *z) x = normal(*generator);
  };
}

std::vector<Case> all_cases() {
  std::vector<Case> out = {
      {"baoab 2-100-1 batch 20",
       [] {
         return steps({{2, 100, 1}, 1000, "20"});
       }},
      {"baoab 2-500-1 batch 20",
       [] {
         return steps({{2, 500, 1}, 1000, "20"});
       }},
      {"baoab 784-100-10 batch 550",
       [] {
         return steps({{784, 100, 10}, 55000, "550"});
       }},
      {"baoab 784-100-10 batch 55",
       [] {
         return steps({{784, 100, 10}, 55000, "55"});
       }},
      {"baoab 784-1000-10 batch 128",
       [] {
         return steps({{784, 1000, 10}, 10000, "128"});
       }},
      {"baoab 784-1000-10 batch 128 on circles",
       [] {
         return steps({{784, 1000, 10}, 10000, "128", "BAOAB", 1e-4, 1, Choice::number_of("circle", "radius", 1)});
       }},
      {"baoab 784-1000-10 batch 128 on spheres",
       [] {
         return steps({{784, 1000, 10}, 10000, "128", "BAOAB", 1e-4, 1, Choice::number_of("sphere", "radius", 3)});
       }},
      {"sgd 100-100 batch 25",
       [] {
         return steps({{100, 100}, 500, "25", "S", 0});
       }},
      {"sgd 100-100 batch 25, orthogonal",
       [] {
         return steps({{100, 100}, 500, "25", "S", 0, 1, Choice("orthogonal")});
       }},
      {"baoab 100-100 batch 25, orthogonal",
       [] {
         return steps({{100, 100}, 500, "25", "BAOAB", 1e-4, 1, Choice("orthogonal")});
       }},
      {"sgd-momentum 2-100-1 batch 20",
       [] {
         return steps({{2, 100, 1}, 1000, "20", "OBA", 0});
       }},
      {"products 784-100-10 batch 550", [] { return products(550, 784, 100, 10); }},
      {"products 784-100-10 batch 55", [] { return products(55, 784, 100, 10); }},
      {"normals", [] { return normals_made(1 << 20); }},
      {"std::normal_distribution", [] { return standard_normals(1 << 20); }},
      {"baoab 10 million harmonic coordinates", large_toy},
      {"memory pass over q, p, g of 10 million", memory_pass},
      {"normals for 10 million", [] { return normals_made(ten_million); }},
      {"run 2-100-1, nothing stored", [] { return whole_run(false); }},
      {"run 2-100-1, every draw stored", [] { return whole_run(true); }},
      {"summary of 100000 draws of 1000 parameters", summarised},
      {"reading 100000 draws of 1000 parameters", read_once},
      {"predict 784-100-10", predictions},
      {"forward passes 784-100-10", forward_passes},
      {"eight walkers of 784-10, independent", [] { return eight_walkers(0); }},
      {"eight walkers of 784-10, coupled", [] { return eight_walkers(100); }},
      {"one walker on one thread", [] { return walkers_on_threads(1, 1); }},
      {"two walkers on one thread", [] { return walkers_on_threads(2, 1); }},
      {"two walkers on two threads", [] { return walkers_on_threads(2, 2); }},
  };
  for (const long k : {1, 2, 4, 8}) {
    const auto times = [k](const char* what) { return std::string("growth ") + what + " x" + std::to_string(k); };
    out.push_back({times("hidden units of 2-100-1"), [k] { return steps({{2, 100 * k, 1}, 1000, "20"}); }});
    out.push_back({times("layers of 2-100-..-1"), [k] {
                     std::vector<long> layers = {2};
                     layers.insert(layers.end(), std::size_t(k), 100);
                     layers.push_back(1);
                     return steps({layers, 1000, "20"});
                   }});
    out.push_back({times("batch of 2-100-1"), [k] { return steps({{2, 100, 1}, 1000, std::to_string(20 * k)}); }});
    out.push_back({times("walkers of 2-100-1"), [k] {
                     return [r = running({{2, 100, 1}, 1000, "20", "BAOAB", 1e-4, std::uint32_t(k)})] {
                       for (auto& chain : r->chains) chain.step();
                     };
                   }});
  }
  for (const std::vector<long>& layers : {std::vector<long>{2, 100, 1}, {784, 100, 10}})
    for (const char* batch : {"20", "100", "500"})
      for (const char* activation : {"relu", "leaky_relu", "tanh", "gelu"})
        out.push_back({fmt::format("{} {} batch {}", activation, fmt::join(layers, "-"), batch), [=] {
                         Setup setup{layers, std::size_t(layers.front() == 2 ? 1000 : 10000), batch};
                         setup.activation = activation;
                         return steps(setup);
                       }});
  for (Case& c : network_cases()) out.push_back(std::move(c));
  return out;
}

}  // namespace

std::span<const Case> cases() {
  static const std::vector<Case> table = all_cases();
  return table;
}

}  // namespace kelvin::bench
