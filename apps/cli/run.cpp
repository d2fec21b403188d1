// SPDX-License-Identifier: Apache-2.0
// `kelvin train`, `kelvin sample` and `kelvin resume`: one loop. Training is sampling at temperature 0.
#include <sys/utsname.h>

#include <cmath>
#include <csignal>
#include <ctime>
#include <fstream>
#include <optional>
#include <thread>

#include "apps/cli/command.h"
#include "apps/cli/progress.h"
#include "apps/cli/run_record.h"
#include "kelvin/run/parcel.h"
#include "kelvin/run/patience.h"
#include "kelvin/run/problem.h"
#include "kelvin/run/tempering.h"
#include "kelvin/core/isa.h"
#include "kelvin/io/json.h"
#include "kelvin/core/version.h"
#include "kelvin/trajectory/biases.h"
#include "kelvin/trajectory/samples.h"
#include "kelvin/trajectory/store.h"

namespace kelvin::cli {
namespace {

// What distinguishes the two commands.
struct Mode {
  const char* name;
  Choice temperature;  // of parts that name none
  long draws;          // kept if the run file does not say
};

// What a command line says besides the settings.
struct RunArguments {
  RunFile file;
  std::string out, from;
  bool force = false, quiet = false, json = false;
  std::size_t threads = all_threads();
  long more_steps = 0, until = 0;  // of `resume`

  template <class Visit>
  void shared_fields(Visit&& field) {
    field("threads", threads, "threads for the walkers; the result does not depend on them", {.range = positive});
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

// A run to be resumed.
struct Resumed {
  std::optional<RunLock> lock;  // held by the first rank
  RunRecord record;
};

// ---- signals: the walkers finish their step, then the run is checkpointed

Requests requests;
std::atomic<int> caught = 0;

void on_signal(int signal) {
  caught = signal;
  requests.stop = true;
  requests.pause = true;
}

void catch_signals() {
  struct sigaction action = {};
  action.sa_handler = on_signal;
  action.sa_flags = int(SA_RESETHAND);  // a second one ends the program at once
  for (const int signal : {SIGINT, SIGTERM}) sigaction(signal, &action, nullptr);
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error of writing, with a message
}

// ---- the files of a run besides its draws

std::uint32_t checksum_of(const Splits& data) {
  std::uint32_t sum = 0;
  for (const Dataset* rows : {&data.train, &data.validation, &data.test})
    for (const auto* numbers : {&rows->inputs, &rows->targets})
      sum = checksum({reinterpret_cast<const char*>(numbers->data()), numbers->size() * sizeof(double)}, sum);
  return sum;
}

// What the speed of a run, and the last place of its numbers, may depend on.
std::string machine() {
  utsname system = {};
  uname(&system);
  constexpr const char* instructions[] = {"portable", "AVX2", "AVX-512"};
  return fmt::format("{} {}, {} threads, {} instructions", system.sysname, system.machine,
                     std::thread::hardware_concurrency(), instructions[int(best_isa())]);
}

// Leaves the lines up to `step`, which a resumed run will not write again; returns them.
std::vector<LogLine> trim_log(const std::filesystem::path& run, std::uint64_t step) {
  auto lines = read_log(run);
  std::erase_if(lines, [&](const LogLine& line) { return line.step > step; });
  std::string text;
  for (const LogLine& line : lines) text += to_json(recorded(line)) + "\n";
  write_file(run / "log.jsonl", text);
  return lines;
}

// ---- the run

// Which walkers a rank has: some of its own, or one together with the other ranks of its team.
struct Seat {
  std::size_t team, first, last;
};

Seat seat_of(const Comm& comm, const RunSettings& settings) {
  const auto walkers = std::size_t(settings.walkers), shares = std::size_t(settings.row_shares);
  const std::size_t rank = comm.rank(), size = comm.size(), each = size / walkers;
  if (size <= walkers) return {rank, rank * walkers / size, (rank + 1) * walkers / size};
  if (each * walkers != size || each > shares || shares % each != 0)
    throw AgreedError(
        fmt::format("{} ranks cannot share {} walker{} with row_shares = {}; start at most as many ranks as walkers, "
                    "or 2, 4, ... up "
                    "to row_shares times as many",
                    size, walkers, walkers == 1 ? "" : "s", shares));
  return {rank / each, rank / each, rank / each + 1};
}

template <class Real>
void execute(const RunSettings& given, const Mode& mode, const RunArguments& options, const Remark& tell,
             std::optional<Resumed> resumed) {
  Comm& comm = ranks();
  RunSettings settings = given;
  if (!resumed)
    comm.together([&] {
      settings = piloted<Real>(
          with_pilot_of_bias(given),
          [&](const std::string& place, const Block& block) { return stored_block(place, block, 0, 1); }, tell);
    });
  const auto count = std::uint32_t(settings.walkers);
  const Seat seat = seat_of(comm, settings);
  const std::unique_ptr<Comm> team = comm.team(seat.team);
  Problem<Real> problem;
  comm.together([&] {
    problem = make_problem<Real>(settings, tell);
    if (settings.row_shares > 1)
      problem.energy->estimate.share_rows(
          std::size_t(settings.row_shares), problem.energy->rows(),
          {team->rank(), team->size(), [&](const std::string& mine) { return team->everyone(mine); }});
  });
  const std::filesystem::path out = options.out;
  RunRecord record = resumed ? resumed->record : record_of(problem, mode.name);
  const std::uint32_t fits = checksum(to_json(as_value(record.settings)));
  const std::string data = fmt::format("{:08x}", checksum_of(problem.data));
  comm.together([&] {
    if (resumed && record.data_checksum != data)
      throw Error("the data are not those that \"{}\" was started with; put them back, or start a new run",
                  out.string());
  });

  const Noise<Real> noise;
  std::vector<Chain<Real>> walkers;  // of this rank
  std::vector<Kept> kept;
  const std::size_t first = seat.first, last = seat.last;
  std::optional<Ensembles<Real>> ensembles;
  const std::string stored = resumed ? comm.from_first(comm.first() ? checkpoint_bytes(out) : "") : "";
  comm.together([&] {
    ensembles.emplace(ensemble_settings(settings), problem.recipe, comm, tell);
    for (std::size_t w = first; w < last; ++w) {
      walkers.push_back(problem.chain(std::uint32_t(w), noise));
      walkers.back().use_threads(std::max<std::size_t>(1, options.threads / (last - first)));
    }
    if (ensembles->exchange()) ensembles->exchange()->heat(walkers);
  });
  if (!stored.empty()) {
    comm.together([&] {
      auto checkpoint = unpacked_checkpoint<Real>(stored, out, fits);
      ensembles->restore(std::move(checkpoint.couplings), walkers);
      if (ensembles->exchange()) ensembles->exchange()->restore(std::move(checkpoint.exchange), walkers);
      for (auto& chain : walkers) chain.restore(checkpoint.chains.at(chain.walker()));
      kept = std::move(checkpoint.kept);
    });
  } else {
    std::vector<std::vector<Real>> starts;
    comm.together([&] {
      for (std::size_t w = first; w < last; ++w)
        starts.push_back(problem.starting_point(
            std::uint32_t(w),
            [&](const std::string& place, const Block& block) { return stored_block(place, block, w, count); },
            w == 0 ? tell : [](std::string_view) {}));
    });
    ensembles->part_starts(starts, first, std::uint64_t(settings.seed));
    comm.together([&] {
      for (std::size_t w = first; w < last; ++w) {
        if (!settings.tempering.bias_from.empty())
          walkers[w - first].begin_with_bias(stored_bias(settings.tempering.bias_from, w));
        walkers[w - first].start(starts[w - first]);
      }
    });
  }
  const auto told = team->first() ? std::span(walkers) : std::span<Chain<Real>>();  // by one rank of a team
  std::uint64_t before = walkers.front().steps(), furthest = before;
  for (const auto& chain : walkers)
    before = std::min(before, chain.steps()), furthest = std::max(furthest, chain.steps());
  before = comm.least({before}).front(), furthest = std::uint64_t(comm.most({double(furthest)}).front());

  Plan plan;
  plan.warmup = std::uint64_t(settings.warmup), plan.steps = std::uint64_t(settings.steps);
  const std::uint64_t planned_draws = plan.steps / std::uint64_t(settings.every);
  if (resumed) {
    std::uint64_t until = record.until;
    if (options.more_steps) until += std::uint64_t(options.more_steps);
    if (options.until) until = std::uint64_t(options.until);
    if (until < furthest || until < plan.warmup)
      throw AgreedError(fmt::format("--until {} lies before step {}, which the run has reached", until,
                                    std::max(furthest, plan.warmup)));
    plan.steps = until - plan.warmup;
  }
  plan.threads = options.threads, plan.every = std::uint64_t(settings.every);
  plan.keep_warmup = settings.store.keep_warmup;
  plan.checkpoint = std::uint64_t(settings.checkpoint_every);
  Requests at_rounds;  // ranks of a team must not pause at different steps
  plan.requests = team->size() > 1 ? &at_rounds : &requests;
  const std::uint64_t total = plan.total(), log_every = std::uint64_t(settings.log_every);
  plan.round = log_every;

  constexpr std::uint64_t most_waiting = 1 << 28;  // bytes of draws that a rank keeps until the end of a round
  if (comm.size() > 1)
    plan.longest = plan.every * (1 + most_waiting / (sizeof(Real) * problem.recipe.size * (count / comm.size() + 1)));

  const auto at_start = walker_states<Real>(problem, told, comm);
  std::optional<RunLock> lock;
  comm.together([&] {
    Patience(settings.patience)
        .look(state_of(problem, before, at_start));  // refuses a measure that the log will not have
    if (!comm.first()) return;
    if (resumed) lock.emplace(std::move(*resumed->lock));
    else lock.emplace(make_run_directory(out, options.force));
  });
  record.until = total;
  record.data_checksum = data;
  record.finished.reset();
  if (!resumed) {
    record.created_at = utc("%Y-%m-%dT%H:%M:%SZ");
    record.directory = std::filesystem::current_path().string();
    record.machine = machine();
  }
  LogLine line;
  Patience judge(settings.patience);
  const auto look = [&](const LogLine& at) {  // not at a last line that a longer run would not have
    if (at.step % log_every == 0) judge.look(at);
  };
  std::ofstream log;
  double earlier = 0;
  Progress progress(double(total), "steps", options.quiet || !comm.first(), double(before));
  const auto seconds = [&] { return earlier + progress.seconds(); };
  std::optional<Store<Real>> store;  // the first rank writes everything
  std::vector<LogLine> lines;
  comm.together([&] {
    if (!comm.first()) return;
    write_record(out, record, bool(resumed));  // a new one is on the disk with the first checkpoint
    if (!resumed) write_file(out / "run.toml", read_file(options.file.path), false);
    if (resumed) lines = trim_log(out, before);
    log.open(out / "log.jsonl", std::ios::app);
    if (std::filesystem::exists(out / "manifest.json")) earlier = read_manifest(out).seconds;
    store.emplace(out, problem, planned_draws,
                  Value::Group{{"inference_library", "kelvin"},
                               {"inference_library_version", record.kelvin},
                               {"seed", settings.seed},
                               {"command", record.command_line},
                               {"created_at", record.created_at}},
                  seconds, std::move(kept));
  });
  read_recorded(lines, parse_json(comm.from_first(to_json(recorded(lines))), "the log of the first rank"), "");
  for (const LogLine& one : lines) {
    look(one);
    line = one;
  }
  for (auto& chain : walkers) chain.pace(judge.pace());
  const auto save = [&](bool at_end) {
    Checkpoint<Real> checkpoint{gathered_states<Real>(comm, told), {}, ensembles->state()};
    if (ensembles->exchange()) checkpoint.exchange = ensembles->exchange()->state();
    comm.together([&] {
      if (!comm.first()) return;
      at_end ? store->finish() : store->acknowledge();
      checkpoint.kept = store->kept();
      write_checkpoint(out, fits, checkpoint);
    });
  };
  if (!resumed)
    for (const PartRecipe& part : problem.recipe.parts)
      tell(fmt::format(
               "part \"{}\": {} of {} numbers, step {:.4g}, temperature {:.4g}, posterior temperature N T = {:.4g}{}",
               part.name, part.scheme.text, part.freedom(), part.step.at(0), part.temperature.at(0),
               problem.rows() * part.temperature.at(0),
               part.scheme.adaptive ? fmt::format(", friction {} with sigma {:.4g} and eps {:.4g}", part.damping->name,
                                                  part.sigma.at(0), part.eps.at(0))
                                    : "") +
           (part.constraints.empty() ? "" : fmt::format(", constraint {}", part.constraints.front().row->name)));

  catch_signals();
  constexpr std::chrono::seconds patience(
      30);  // between checkpoints, if the settings do not say; no result depends on it
  std::jthread timer;
  if (!plan.checkpoint)
    timer = std::jthread([patience](std::stop_token stop) {
      std::mutex mutex;
      std::condition_variable_any never;
      for (std::unique_lock held(mutex); !stop.stop_requested(); requests.pause = true)
        never.wait_for(held, stop, patience, [] { return false; });
    });
  std::uint64_t logged = before;
  double logged_at = 0, saved_at = 0;
  try {
    if (!resumed) save(false);
    Parcel<Real> parcel(first, walkers.size());
    const Sink<Real> keep = [&](const Draw<Real>& draw) { store->keep(draw); };
    const Sink<Real> wait = [&](const Draw<Real>& draw) {
      if (team->first()) parcel.add(draw);
    };
    run<Real>(walkers, plan, *ensembles, comm.size() > 1 ? wait : keep, [&](std::uint64_t done) {
      if (comm.size() > 1) parcel.deliver(comm, keep);
      if (done > logged && (done % log_every == 0 || done == total)) {
        line = state_of<Real>(problem, done, walker_states<Real>(problem, told, comm));
        if (const auto blending = ensembles->blending(); !blending.empty()) line.blending = blending;
        if (ensembles->exchange()) line.exchange = record_of(ensembles->exchange()->state());
        line.seconds = seconds();
        line.rate = double(done - logged) / std::max(progress.seconds() - logged_at, 1e-9);
        logged = done, logged_at = progress.seconds();
        comm.together([&] {
          if (comm.first() && !(log << to_json(recorded(line)) << std::endl))
            throw WriteError("cannot write \"{}\"; is the disk full?", (out / "log.jsonl").string());
        });
        line = parse_log_line(comm.from_first(to_json(recorded(line))), "the log of the first rank");
        look(line);
        for (auto& chain : walkers) chain.pace(judge.pace());
        if (!judge.stop().empty()) requests.stop = true;
      }
      const bool late = progress.seconds() - saved_at > patience.count() - 1;
      if (plan.checkpoint ? done % plan.checkpoint == 0 : comm.from_first(late ? "late" : "") == "late") {
        save(false);
        saved_at = progress.seconds();
      }
      at_rounds.stop = bool(requests.stop);
      progress.show(double(done), note_of(line, walkers[0].reading()));
    });
    if (!judge.stop().empty()) {  // where it stopped is worth keeping, whenever the next draw was due
      for (auto& chain : walkers)
        if (const auto n = chain.steps(); n > plan.warmup && (n - plan.warmup) % plan.every != 0)
          (comm.size() > 1 ? wait : keep)({chain.walker(), (n - plan.warmup) / plan.every, chain.reading(), chain.q()});
      if (comm.size() > 1) parcel.deliver(comm, keep);
    }
    save(true);
  } catch (const WriteError& e) {
    progress.finish();
    throw Error("{}; nothing that was written before is lost: when that is mended, `kelvin resume {}`", e.what(),
                out.string());
  } catch (...) {
    progress.finish();
    if (store) store->finish();
    throw;
  }
  progress.finish();
  std::uint64_t done = total;
  for (const auto& chain : walkers) done = std::min(done, chain.steps());
  done = comm.least({done}).front();
  caught = int(comm.most({double(caught)}).front());  // a signal may have reached one rank only
  if (done < total && !caught) {
    tell(fmt::format("stopped at step {} of {}: {}", done, total, judge.stop()));
    record.stopped = judge.stop();
    record.until = done;
    plan.steps = done > plan.warmup ? done - plan.warmup : 0;
  } else if (done < total) {
    remark(fmt::format("stopped at step {} of {}; to go on: kelvin resume {}", done, total, out.string()));
    throw Exit{128 + caught};
  }
  if (problem.recipe.tuning.learns()) record.learnt = all_learnt<Real>(told, comm);
  if (problem.recipe.tempered) record.tempering->biases = all_biases<Real>(told, comm);
  if (!comm.first()) return;
  if (problem.recipe.tuning.learns())
    for (const PartRecipe& part : problem.recipe.parts)
      tell(fmt::format("part \"{}\": the warm-up of walker 0 found step {:.4g} and friction {:.4g}", part.name,
                       walkers.front().learnt_pace() * part.step.at(0),
                       walkers.front().learnt_friction() * part.friction.at(0)));
  if (ensembles->exchange()) record.exchange = record_of(ensembles->exchange()->state());
  record.seconds = seconds();
  record.draws = store->kept().front().draws;
  record.finished = true;
  record.final = line;
  write_record(out, record);

  if (options.json) return print(to_json(recorded(record), 2) + "\n");
  if (options.quiet) return;
  for (const char* split : {"train", "validation", "test"})
    if (const ScoreRecord* score = line.score(split)) print(shown(fmt::format("{:<10}", split), *score) + "\n");
  print(fmt::format("{} draws of {} walkers in {}; see: kelvin summary {}\n", store->kept().front().draws, count,
                    out.string(), out.string()));
}

Remark teller(bool quiet) {
  return [quiet](std::string_view text) {
    if (!quiet) remark(text);
  };
}

void start_run(StartArguments& options, const Mode& mode) {
  if (options.out.empty())
    options.out = (std::filesystem::path("runs") / std::filesystem::path(options.file.path).stem()).string();
  RunSettings settings;
  ranks().together([&] { settings = read_run_settings(options.file.value()); });
  fill_in_temperatures(settings, mode.temperature);
  if (!options.from.empty()) settings.from = options.from;
  const long total = settings.warmup + settings.steps;
  if (!settings.every) settings.every = std::max(1L, settings.steps / mode.draws);
  if (!settings.log_every) settings.log_every = std::max(1L, total / 20);
  with_precision(settings, [&]<class Real>() { execute<Real>(settings, mode, options, teller(options.quiet), {}); });
}

void train_network(StartArguments& options) {
  start_run(options, {.name = "train", .temperature = Choice::number_of("constant", "value", 0), .draws = 1});
}

void sample_posterior(StartArguments& options) {
  start_run(options, {.name = "sample", .temperature = Choice("posterior"), .draws = 1000});
}

// Back to where it was started, if that is still there: the names of its files are relative to it.
void go_to_directory_of(const RunRecord& record) {
  std::error_code ignored;
  if (!record.directory.empty()) std::filesystem::current_path(record.directory, ignored);
}

void resume_run(ResumeArguments& options) {
  Comm& comm = ranks();
  Resumed resumed;
  RunSettings settings;
  Mode mode{};
  std::string command, record;
  const std::string name = (std::filesystem::path(options.out) / "run.json").string();
  comm.together([&] {
    if (!comm.first()) return;
    read_record(options.out);  // refuses what is no run before a lock is put there
    resumed.lock.emplace(options.out);
    record = to_json(recorded(read_record(options.out)));
  });
  record = comm.from_first(record);
  comm.together([&] {
    resumed.record = parse_record(record, name);
    settings = resumed.record.settings;
    command = resumed.record.command;
  });
  if (resumed.record.has_finished() && !options.more_steps && !options.until)
    return remark(fmt::format("\"{}\" has finished its {} steps; --steps N adds N more", options.out,
                              resumed.record.until));
  mode.name = command.c_str();
  options.out = std::filesystem::absolute(options.out).string();
  go_to_directory_of(resumed.record);
  with_precision(settings, [&]<class Real>() {
    execute<Real>(settings, mode, options, teller(options.quiet), std::move(resumed));
  });
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
