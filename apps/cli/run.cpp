// SPDX-License-Identifier: Apache-2.0
// `kelvin train`, `kelvin sample` and `kelvin resume`: one loop. Training is sampling at temperature 0.
#include "apps/cli/command.h"
#include "apps/cli/machine.h"
#include "apps/cli/terminal.h"
#include "kelvin/io/json.h"
#include "kelvin/trajectory/disk.h"
#include "kelvin/trajectory/inputs.h"

namespace kelvin::cli {
namespace {

// What a command line says besides the settings.
struct RunArguments {
  RunFile file;
  std::string out, from;
  bool force = false, quiet = false, json = false, anyway = false;
  std::size_t threads = all_threads();
  long more_steps = 0, until = 0;  // of `resume`

  template <class Visit>
  void shared_fields(Visit&& field) {
    field("threads", threads, "threads for the walkers; the result does not depend on them", {.range = positive});
    field("anyway", anyway, "even if it needs more memory or disk than the machine has left");
    field("quiet", quiet, "no progress, no remarks");
    field("json", json, "print the record of the run as JSON");
  }
};

struct StartArguments : RunArguments {
  template <class Visit>
  void fields(Visit&& field) {
    file.fields(field);
    field("out", out, "directory of the run (default: runs/ and the name of the run file)");
    field("force", force, "replace the run that is there");
    field("from", from,
          "start from another run: RUN (its last draw), RUN:draw or RUN:draw:walker; each walker from its own if there "
          "are as many, else all from the first");
    shared_fields(field);
  }
};

struct ResumeArguments : RunArguments {
  template <class Visit>
  void fields(Visit&& field) {
    field("run", out, "directory of the run", argument);
    field("steps", more_steps, "so many steps more than were planned", {.range = positive, .excludes = "until"});
    field("until", until,
          "up to this step, counted from the start and warm-up included; without either: up to what was planned",
          {.range = positive});
    shared_fields(field);
  }
};

std::function<double()> stopwatch() {
  return [start = std::chrono::steady_clock::now()] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
}

void print_end(const RunRecord& record, const RunArguments& options) {
  if (options.json) return print(to_json(recorded(record), 2) + "\n");
  if (options.quiet) return;
  for (const char* split : {"train", "validation", "test"})
    if (const ScoreRecord* score = record.final ? record.final->score(split) : nullptr)
      print(shown(fmt::format("{:<10}", split), *score) + "\n");
  print(fmt::format("{} draws of {} walkers in {}; see: kelvin summary {}\n", record.draws.value_or(0),
                    record.settings.walkers, options.out, options.out));
}

// The first rank writes everything.
void go(Run& run, Disk* disk, const RunArguments& options) {
  Terminal terminal(run, options.quiet);
  run.watch(terminal);
  if (disk) run.watch(*disk);
  try {
    run.go(ranks());
  } catch (const WriteError& e) {
    terminal.finish();
    if (run.now().state == RunSnapshot::State::ready) throw;  // there is nothing to go on from
    throw Error("{}; nothing that was written before is lost: when that is mended, `kelvin resume {}`", e.what(),
                options.out);
  } catch (...) {
    terminal.finish();
    throw;
  }
  const RunSnapshot end = run.now();
  const int signal = int(ranks().most({double(signal_caught())}).front());  // it may have reached one rank only
  if (end.state == RunSnapshot::State::stopped) {
    remark(fmt::format("stopped at step {} of {}; to go on: kelvin resume {}", end.step, end.until, options.out));
    throw Exit{128 + signal};
  }
  if (ranks().first()) print_end(run.record(), options);
}

RunEnvironment environment_of(const RunArguments& options, const std::string& directory, const Disk* disk) {
  RunEnvironment environment = inputs_from(directory);
  environment.threads = options.threads;
  if (!options.anyway) environment.room = room_for(options.out);
  if (disk) environment.seconds = [disk] { return disk->seconds(); };
  return environment;
}

void start_run(StartArguments& options, const std::string& command) {
  if (options.out.empty())
    options.out = (std::filesystem::path("runs") / std::filesystem::path(options.file.path).stem()).string();
  RunSettings settings;
  std::string text;
  ranks().together([&] {
    settings = read_run_settings(options.file.value());
    text = read_file(options.file.path);
  });
  if (!options.from.empty()) settings.from = options.from;
  RunRecord about;
  about.command = command;
  about.command_line = command_line;
  about.created_at = utc("%Y-%m-%dT%H:%M:%SZ");
  about.directory = std::filesystem::current_path().string();
  about.machine = machine();
  std::optional<Disk> disk;
  if (ranks().first()) disk.emplace(options.out, stopwatch(), options.force, text);
  Disk* const writes = disk ? &*disk : nullptr;
  Run run(settings, environment_of(options, "", writes), about);
  go(run, writes, options);
}

void train_network(StartArguments& options) { start_run(options, "train"); }
void sample_posterior(StartArguments& options) { start_run(options, "sample"); }

void resume_run(ResumeArguments& options) {
  Comm& comm = ranks();
  std::optional<Disk> disk;
  comm.together([&] {
    if (comm.first()) disk.emplace(options.out, stopwatch());
  });
  Resumption from = on_all_ranks(disk ? disk->resumption() : Resumption{}, comm);
  if (from.record.has_finished() && !options.more_steps && !options.until)
    return remark(
        fmt::format("\"{}\" has finished its {} steps; --steps N adds N more", options.out, from.record.until));
  from.record.until += std::uint64_t(options.more_steps);
  if (options.until) from.record.until = std::uint64_t(options.until);
  Disk* const writes = disk ? &*disk : nullptr;
  const std::string directory = from.record.directory;
  Run run(std::move(from), environment_of(options, directory, writes));
  go(run, writes, options);
}

}  // namespace

Command train_command() {
  return {.name = "train",
          .summary = "minimise the loss (the run file's schemes at temperature 0 unless it says otherwise)",
          .footer = "Example:  kelvin train examples/fashion.toml --set steps=2000 -o runs/fashion",
          .call = calls(train_network),
          .spreads = true};
}

Command sample_command() {
  return {.name = "sample",
          .summary = "draw from the posterior",
          .footer = "Example:  kelvin sample examples/spiral.toml --seed 2 -o runs/spiral2",
          .call = calls(sample_posterior),
          .spreads = true};
}

Command resume_command() {
  return {.name = "resume",
          .summary = "go on with a run that was stopped, killed or has finished, as if it had never been interrupted",
          .footer = "Example:  kelvin resume runs/spiral --steps 10000",
          .call = calls(resume_run),
          .spreads = true};
}

}  // namespace kelvin::cli
