// SPDX-License-Identifier: Apache-2.0
// `kelvin train` and `kelvin sample`: one loop. Training is sampling at temperature 0.
#include <cmath>
#include <fstream>
#include <numeric>
#include <thread>

#include "cli/command.h"
#include "cli/progress.h"
#include "kelvin/chain/problem.h"
#include "kelvin/core/record.h"
#include "kelvin/core/version.h"
#include "kelvin/trajectory/samples.h"
#include "kelvin/trajectory/store.h"

namespace kelvin::cli {
namespace {

// What distinguishes the two commands.
struct Mode {
  const char *name, *summary, *example;
  Choice temperature;  // of parts that name none
  long draws;          // kept if the run file does not say
};

struct Options {
  RunFile file;
  std::string out;
  bool force = false, quiet = false, json = false;
  std::size_t threads = std::max(1u, std::thread::hardware_concurrency());
};

nlohmann::json as_json(const Score& s) {
  nlohmann::json out = {{"loss", s.loss}};
  if (!std::isnan(s.accuracy)) out["accuracy"] = s.accuracy;
  if (!std::isnan(s.rmse)) out["rmse"] = s.rmse;
  return out;
}

// Mean over the walkers.
template <class Real>
Score mean_score(Network<Real>& network, std::span<Chain<Real>> walkers) {
  Score mean{0, 0, 0};
  for (Chain<Real>& chain : walkers) {
    const Score s = network.score(chain.q(), {});
    const double share = 1 / double(walkers.size());
    mean.loss += share * s.loss, mean.accuracy += share * s.accuracy, mean.rmse += share * s.rmse;
  }
  return mean;
}

std::string shown(std::string_view split, const nlohmann::json& score) {
  std::string text(split);
  for (const auto& [name, x] : score.items())
    text += name == "accuracy" ? fmt::format(" {:.2f} %", 100 * x.get<double>())
                               : fmt::format(" {} {:.4g}", name, x.get<double>());
  return text;
}

// One line of log.jsonl: where the walkers are.
template <class Real>
nlohmann::json state_of(const Problem<Real>& problem, std::span<Chain<Real>> walkers) {
  nlohmann::json line = {{"step", walkers.front().steps()}};
  double energy = 0;
  for (const auto& chain : walkers) energy += chain.reading().energy / double(walkers.size());
  line["potential"] = energy;
  for (const auto& [split, network] : {std::pair{"train", problem.train.get()},
                                       {"validation", problem.validation.get()},
                                       {"test", problem.test.get()}})
    if (network) line[split] = as_json(mean_score(*network, walkers));
  for (std::size_t k = 0; k < problem.recipe.parts.size(); ++k) {
    double kinetic = 0, configurational = 0;
    for (const auto& chain : walkers) {
      kinetic += chain.reading().parts[k].kinetic_temperature / double(walkers.size());
      configurational += chain.reading().parts[k].configurational_temperature / double(walkers.size());
    }
    auto& part = line["part"][problem.recipe.parts[k].name];
    if (!std::isnan(kinetic)) part["kinetic_temperature"] = kinetic;
    part["configurational_temperature"] = configurational;
  }
  if (walkers.front().reading().acceptance < 1) line["acceptance"] = walkers.front().reading().acceptance;
  return line;
}

// run.json: everything needed to know what was run.
template <class Real>
nlohmann::json record_of(const Problem<Real>& problem, const Mode& mode) {
  nlohmann::json record = {{"kelvin", std::string(version())},
                           {"command", mode.name},
                           {"settings", as_json(problem.settings)},
                           {"rows", problem.data.train.rows},
                           {"parameters", problem.recipe.size}};
  for (const Block& b : problem.recipe.blocks) record["blocks"].push_back(b.name);
  for (const PartRecipe& part : problem.recipe.parts) {
    record["parts"].push_back(part.name);
    const double T = part.temperature.at(0);
    record["part"][part.name] = {{"scheme", part.scheme.text},
                                 {"size", part.size},
                                 {"degrees_of_freedom", part.freedom()},
                                 {"temperature", T},
                                 {"posterior_temperature", problem.rows() * T},
                                 {"kinetic_temperature_is_exact", part.scheme.kinetic_exact}};
  }
  const auto units = [](const Units& u) { return nlohmann::json{{"mean", u.mean}, {"scale", u.scale}}; };
  record["inputs"] = {{"names", problem.data.train.input_names}, {"units", units(problem.data.train.input_units)}};
  record["targets"] = {{"names", problem.data.train.target_names},
                       {"units", units(problem.data.train.target_units)},
                       {"classes", problem.data.train.classes}};
  return record;
}

template <class Real>
void execute(RunSettings settings, const Mode& mode, const Options& options, const Remark& tell) {
  const Problem<Real> problem = make_problem<Real>(settings, tell);
  const Noise<Real> noise;
  std::vector<Chain<Real>> walkers;
  for (std::uint32_t w = 0; w < std::uint32_t(settings.walkers); ++w) {
    walkers.push_back(problem.chain(w, noise));
    walkers.back().use_threads(std::max<std::size_t>(1, options.threads / std::size_t(settings.walkers)));
    walkers.back().start(problem.starting_point(w, stored_block));
  }
  Plan plan;
  plan.warmup = std::uint64_t(settings.warmup), plan.steps = std::uint64_t(settings.steps),
  plan.threads = options.threads;
  plan.every = std::uint64_t(settings.every ? settings.every : std::max(1L, settings.steps / mode.draws));
  const std::uint64_t total = plan.warmup + plan.steps;
  const std::uint64_t log_every =
      settings.log_every ? std::uint64_t(settings.log_every) : std::max<std::uint64_t>(1, total / 20);
  plan.round =
      std::gcd(log_every, std::max<std::uint64_t>(1, log_every / 5));  // the bar moves more often than the log grows

  const std::filesystem::path out = options.out;
  make_run_directory(out, options.force);
  nlohmann::json record = record_of(problem, mode);
  std::filesystem::copy_file(options.file.path, out / "run.toml");
  write_file(out / "run.json", record.dump(2) + "\n");
  std::ofstream log(out / "log.jsonl");
  Store<Real> store(out, problem.recipe, problem.rows(), walkers.size(), plan.draws());
  for (const PartRecipe& part : problem.recipe.parts)
    tell(fmt::format(
        "part \"{}\": {} of {} numbers, step {:.4g}, temperature {:.4g}, posterior temperature N T = {:.4g}", part.name,
        part.scheme.text, part.freedom(), part.step.at(0), part.temperature.at(0),
        problem.rows() * part.temperature.at(0)));

  Progress progress(double(total), "steps", options.quiet);
  nlohmann::json line;
  try {
    run<Real>(
        walkers, plan, [&](const Draw<Real>& draw) { store.keep(draw); },
        [&](std::uint64_t done) {
          if (done % log_every == 0 || done == total) {
            line = state_of<Real>(problem, walkers);
            line["seconds"] = progress.seconds();
            if (!(log << line.dump() << std::endl))
              throw Error("cannot write \"{}\"; is the disk full?", (out / "log.jsonl").string());
          }
          progress.show(double(done), line.contains("train") ? shown("train", line["train"])
                                                             : fmt::format("U {:.4g}", walkers[0].reading().energy));
        });
  } catch (...) {
    progress.finish();
    store.finish();
    throw;
  }
  progress.finish();
  store.finish();
  record["seconds"] = progress.seconds();
  record["draws"] = plan.draws();
  record["finished"] = true;
  record["final"] = line;
  write_file(out / "run.json", record.dump(2) + "\n");

  if (options.json) return print(record.dump(2) + "\n");
  if (options.quiet) return;
  for (const char* split : {"train", "validation", "test"})
    if (line.contains(split)) print(shown(fmt::format("{:<10}", split), line[split]) + "\n");
  print(fmt::format("{} draws of {} walkers in {}; see: kelvin summary {}\n", plan.draws(), walkers.size(),
                    out.string(), out.string()));
}

void add(CLI::App& app, const Mode& mode) {
  auto options = std::make_shared<Options>();
  auto& command = *app.add_subcommand(mode.name, mode.summary);
  options->file.add_to(command);
  command.add_option("-o,--out", options->out, "directory of the run (default: runs/ and the name of the run file)");
  command.add_flag("--force", options->force, "replace the run that is there");
  command.add_option("--threads", options->threads, "threads for the walkers; the result does not depend on them")
      ->check(CLI::PositiveNumber);
  command.add_flag("-q,--quiet", options->quiet, "no progress, no remarks");
  command.add_flag("--json", options->json, "print the record of the run as JSON");
  command.footer(fmt::format("Example:  {}", mode.example));
  command.callback([options, mode] {
    const Remark tell = [quiet = options->quiet](std::string_view text) {
      if (!quiet) remark(text);
    };
    if (options->out.empty())
      options->out = (std::filesystem::path("runs") / std::filesystem::path(options->file.path).stem()).string();
    RunSettings settings = read_run_settings(options->file.value());
    for (auto& [name, part] : settings.part)
      if (!part.temperature.given()) part.temperature = mode.temperature;
    with_precision(settings, [&]<class Real>() { execute<Real>(settings, mode, *options, tell); });
  });
}

}  // namespace

void add_train(CLI::App& app) {
  add(app, {"train", "minimise the loss (the run file's schemes at temperature 0 unless it says otherwise)",
            "kelvin train examples/fashion.toml --set steps=2000 -o runs/fashion",
            Choice::number_of("constant", "value", 0), 1});
}

void add_sample(CLI::App& app) {
  add(app, {"sample", "draw from the posterior", "kelvin sample examples/spiral.toml --seed 2 -o runs/spiral2",
            Choice("posterior"), 1000});
}

}  // namespace kelvin::cli
