// SPDX-License-Identifier: Apache-2.0
#include "kelvin/run/engine.h"

#include <algorithm>
#include <cmath>

#include "kelvin/run/log.h"
#include "kelvin/run/tempering.h"

namespace kelvin {
namespace {

WalkerRange range_of(const Comm& comm, const RunSettings& settings) {
  const auto walkers = std::size_t(settings.walkers), shares = std::size_t(settings.row_shares);
  const std::size_t rank = comm.rank(), size = comm.size(), each = size / walkers;
  if (size <= walkers) return {rank, rank * walkers / size, (rank + 1) * walkers / size};
  if (each * walkers != size || each > shares || shares % each != 0)
    throw AgreedError(
        fmt::format("{} ranks cannot share {} walker{} with row_shares = {}; start at most as many ranks as walkers, "
                    "or 2, 4, ... up to row_shares times as many",
                    size, walkers, walkers == 1 ? "" : "s", shares));
  return {rank / each, rank / each, rank / each + 1};
}

template <class Real>
std::string bytes_of(Chain<Real>& chain) {
  Packer pack;
  chain.state().fields(pack);
  return pack.bytes;
}

}  // namespace

template <class Real>
EngineOf<Real>::EngineOf(const EngineParts& parts)
    : parts_(parts),
      settings_(parts.from.record.settings),
      patience_(settings_.patience, std::uint64_t(settings_.warmup)) {
  const RunEnvironment& environment = parts_.environment;
  const Remark tell_of = [this](std::string_view text) { remark(text); };
  Comm& comm = parts_.comm;
  if (!parts_.resumed)
    comm.together([&] {
      if (!settings_.tempering.bias_from.empty()) settings_ = environment.pilot(settings_);
      settings_ = piloted<Real>(settings_, environment, tell_of);
    });
  range_ = range_of(comm, settings_);
  team_ = comm.team(range_.team);
  comm.together([&] {
    check_size(size_of(settings_left(), 1, {}), environment.room);  // for what no rows and no network are needed
    problem_ = make_problem<Real>(settings_, checked_data(), tell_of, Slack::kept, environment.model);
    problem_.steer(parts_.from.record.steered);
    if (settings_.row_shares > 1)
      problem_.energy->estimate.share_rows(
          std::size_t(settings_.row_shares), problem_.energy->rows(),
          {team_->rank(), team_->size(), [this](const std::string& mine) { return team_->everyone(mine); }});
  });
  const std::string data = environment.checksum ? environment.checksum(problem_.data) : "";
  if (parts_.resumed) {
    record_ = parts_.from.record;
    comm.together([&] {
      if (record_.data_checksum != data)
        throw Error("the data are not those that the run was started with; put them back, or start a new run");
    });
  } else {
    const RunRecord& about = parts_.from.record;
    record_ = record_of(problem_);
    record_.command = about.command;
    record_.command_line = about.command_line;
    record_.created_at = about.created_at;
    record_.directory = about.directory;
    record_.machine = about.machine;
    record_.steered = about.steered;
    record_.until = std::uint64_t(settings_.warmup + settings_.steps);
    record_.data_checksum = data;
  }
  record_.finished.reset();
  line_ = parts_.from.line;
  const RunSize size = size_of(settings_left(), double(problem_.recipe.size), problem_.data);
  comm.together([&] { check_size(size, environment.room); });
  comm.together([&] { make_walkers(); });
  if (parts_.from.checkpoint) comm.together([&] { restore(*parts_.from.checkpoint); });
  else start_walkers();
  make_plan();
}

// The settings with the steps that are left of a resumed run.
template <class Real>
RunSettings EngineOf<Real>::settings_left() const {
  RunSettings out = settings_;
  if (!parts_.resumed) return out;
  const std::uint64_t until = parts_.from.record.until;
  out.steps = long(until - std::min(until, parts_.from.checkpoint ? parts_.from.checkpoint->step : 0));
  return out;
}

// Rows and networks are counted before they are made.
template <class Real>
LoadData EngineOf<Real>::checked_data() const {
  return [this](const DataSettings& data, bool wants_classes, std::uint64_t seed, const Remark& remark) {
    const RunEnvironment& environment = parts_.environment;
    check_generated_rows(data, environment.room);
    const auto check = [&](const Shape& input, const Splits& rows) {
      check_size(size_of(settings_left(), parameters_of(settings_.model, input), rows), environment.room);
    };
    const bool network = settings_.model.own.empty();
    if (network && settings_.model.layers.are_sizes()) check({}, planned_rows(data));
    Splits rows = environment.data(data, wants_classes, seed, remark);
    if (network) check(rows.train.input_shape(), rows);
    return rows;
  };
}

template <class Real>
void EngineOf<Real>::remark(std::string_view text) const {
  for (Observer* observer : parts_.control.observers) observer->remark(text);
}

template <class Real>
template <class Tell>
void EngineOf<Real>::tell(Tell&& what) {
  parts_.comm.together([&] {
    for (Observer* observer : parts_.control.observers) what(*observer);
  });
}

template <class Real>
LocalWalkers<Real> EngineOf<Real>::local() {
  return {walkers_, couplings_, parts_.comm, *threads_};
}

template <class Real>
LocalWalkers<Real> EngineOf<Real>::telling() {
  return {team_->first() ? std::span(walkers_) : std::span<Chain<Real>>(), couplings_, parts_.comm, *threads_};
}

// ---- walkers: new, from a checkpoint, at their start

template <class Real>
void EngineOf<Real>::make_walkers() {
  const EnsembleSettings ensemble = ensemble_settings(settings_);
  const Remark tell_of = [this](std::string_view text) { remark(text); };
  couplings_ = Couplings<Real>(CoupledRun{ensemble, problem_.recipe, parts_.comm, tell_of});
  walkers_.clear();
  const std::size_t count = range_.last - range_.first, threads = parts_.environment.threads;
  for (std::size_t w = range_.first; w < range_.last; ++w) {
    walkers_.push_back(problem_.chain(std::uint32_t(w), noise_));
    walkers_.back().use_threads(std::max<std::size_t>(1, threads / count));
  }
  couplings_.begin(walkers_);
  if (!threads_) threads_ = std::make_unique<Threads>(std::min(threads, count));
}

template <class Real>
void EngineOf<Real>::start_walkers() {
  const RunEnvironment& environment = parts_.environment;
  const auto count = std::size_t(settings_.walkers);
  std::vector<std::vector<Real>> starts;
  parts_.comm.together([&] {
    for (std::size_t w = range_.first; w < range_.last; ++w) {
      const auto read = [&](const std::string& place, const Block& block) {
        return environment.block(place, block, w, count);
      };
      const Remark of_first = [&](std::string_view text) {
        if (w == 0) remark(text);
      };
      starts.push_back(problem_.starting_point(std::uint32_t(w), read, of_first));
    }
  });
  couplings_.part_starts(starts, range_.first);
  parts_.comm.together([&] {
    for (std::size_t k = 0; k < walkers_.size(); ++k) {
      const std::string& bias = settings_.tempering.bias_from;
      if (!bias.empty()) walkers_[k].begin_with_bias(environment.bias(bias, range_.first + k));
      walkers_[k].start(starts[k]);
    }
  });
}

template <class Real>
void EngineOf<Real>::restore(const Checkpoint& checkpoint) {
  draws_ = checkpoint.draws;
  couplings_.restore(checkpoint.couplings, walkers_);
  for (Chain<Real>& chain : walkers_) {
    ChainState<Real> state;
    Unpacker unpack{checkpoint.walkers.at(chain.walker())};
    state.fields(unpack);
    chain.restore(state);
  }
  Unpacker unpack{checkpoint.patience};
  patience_.fields(unpack);
  for (Chain<Real>& chain : walkers_) chain.pace(patience_.pace());
}

template <class Real>
Checkpoint EngineOf<Real>::checkpoint() {
  Checkpoint out;
  out.step = done_;
  out.draws = draws_;
  out.couplings = couplings_.states();
  Packer pack;
  patience_.fields(pack);
  out.patience = pack.bytes;
  Packer mine;
  for (Chain<Real>& chain : telling().walkers) {
    mine(chain.evaluations());
    mine(bytes_of(chain));
  }
  for (const std::string& bytes : parts_.comm.gather(mine.bytes))
    for (Unpacker unpack{bytes}; !unpack.bytes.empty();) {
      std::uint64_t evaluations = 0;
      unpack(evaluations);
      unpack(out.walkers.emplace_back());
      out.evaluations += evaluations;
    }
  return out;
}

template <class Real>
void EngineOf<Real>::make_plan() {
  Comm& comm = parts_.comm;
  plan_.warmup = std::uint64_t(settings_.warmup);
  plan_.every = std::uint64_t(settings_.every);
  plan_.keep_warmup = settings_.store.keep_warmup;
  plan_.checkpoint = std::uint64_t(settings_.checkpoint_every);
  plan_.round = std::uint64_t(settings_.log_every);
  plan_.progress = &parts_.control.step;
  if (team_->size() == 1) plan_.interrupt = &parts_.control.interrupt;  // ranks of a team must stop at the same step
  if (comm.size() > 1) {
    constexpr std::uint64_t most_waiting = 1 << 28;  // bytes of draws that a rank keeps until the end of a round
    const std::size_t each = std::size_t(settings_.walkers) / comm.size() + 1;
    plan_.longest = plan_.every * (1 + most_waiting / (sizeof(Real) * problem_.recipe.size * each));
    buffer_ = std::make_unique<DrawBuffer<Real>>(range_.first, walkers_.size());
  }
  std::uint64_t furthest = 0;
  for (const auto& chain : walkers_) furthest = std::max(furthest, chain.steps());
  furthest = std::max(std::uint64_t(comm.most({double(furthest)}).front()), plan_.warmup);
  if (record_.until < furthest)
    throw AgreedError(fmt::format("step {} lies before step {}, which the run has reached", record_.until, furthest));
  plan_.steps = record_.until - plan_.warmup;
  done_ = steps_done(local(), plan_.total());
  logged_ = saved_ = done_;
  parts_.control.step = done_;
  parts_.control.until = plan_.total();
}

// ---- round by round

template <class Real>
void EngineOf<Real>::begin() {
  const auto readings = walker_readings<Real>(problem_, telling());
  parts_.comm.together([&] {  // refuses a measure that the log will not have
    Patience(settings_.patience).look(log_line<Real>(problem_, done_, readings));
  });
  tell([&](Observer& observer) { observer.begin(record_, problem_); });
  if (line_) parts_.control.show(*line_);
  logged_at_ = parts_.environment.seconds();
  parts_.control.state = RunSnapshot::State::running;
  if (parts_.resumed) return;
  remark_on_parts();
  save(false);
}

template <class Real>
void EngineOf<Real>::keep(const Draw<Real>& draw) {
  if (draw.walker == 0 && !draw.warmup) ++draws_;
  for (Observer* observer : parts_.control.observers) observer->draw(draw);
}

template <class Real>
void EngineOf<Real>::deliver() {
  if (buffer_) buffer_->deliver(parts_.comm, [this](const Draw<Real>& draw) { keep(draw); });
}

template <class Real>
bool EngineOf<Real>::advance(std::uint64_t limit) {
  if (ended_) return false;
  if (paused_) take_commands(false);
  if (paused_) return true;
  if (done_ < plan_.total() && !stopping_) {
    done_ = next_round<Real>(
        local(), plan_,
        [this](const Draw<Real>& draw) {
          if (!buffer_) keep(draw);
          else if (team_->first()) buffer_->add(draw);
        },
        limit);
    deliver();
    if (done_ > logged_ && (done_ % plan_.round == 0 || done_ == plan_.total())) write_line();
    if (plan_.checkpoint && done_ % plan_.checkpoint == 0 && done_ > saved_) save(false);
  }
  take_commands(false);
  return done_ < plan_.total() && !stopping_ && patience_.stop().empty();
}

template <class Real>
void EngineOf<Real>::write_line() {
  LogLine line = log_line<Real>(problem_, done_, walker_readings<Real>(problem_, telling()));
  const double now = parts_.environment.seconds();
  line.seconds = now;
  line.rate = double(done_ - logged_) / std::max(now - logged_at_, 1e-9);
  logged_ = done_;
  logged_at_ = now;
  Value told = recorded(line);
  couplings_.read(std::get<Value::Group>(told.is));
  read_recorded(line, told, "");
  line_ = line;
  parts_.control.show(line);
  tell([&](Observer& observer) { observer.line(line); });
  if (done_ % plan_.round == 0) patience_.look(line);  // not at a last line that a longer run would not have
  for (auto& chain : walkers_) chain.pace(patience_.pace());
}

template <class Real>
void EngineOf<Real>::save(bool last) {
  Checkpoint now = checkpoint();
  now.last = last;
  saved_ = done_;
  tell([&](Observer& observer) {
    if (parts_.comm.first()) observer.checkpoint(now);
  });
}

template <class Real>
void EngineOf<Real>::take_commands(bool wait) {
  Comm& comm = parts_.comm;
  const std::vector<Command> mine = parts_.control.taken(wait && comm.first());
  std::vector<Command> all;
  if (comm.size() == 1) all = mine;
  else
    for (const std::string& bytes : comm.everyone(packed(mine)))
      for (Command& command : unpacked_commands(bytes)) all.push_back(std::move(command));
  for (const Command& command : all) {
    if (std::holds_alternative<Pause>(command)) paused_ = true;
    if (std::holds_alternative<Continue>(command)) paused_ = false;
    if (std::holds_alternative<Stop>(command)) stopping_ = true;
    if (std::holds_alternative<Save>(command)) save(false);
    if (const auto* phase = std::get_if<NewPhase>(&command)) steer(*phase);
    if (const auto* more = std::get_if<MoreSteps>(&command)) {
      plan_.steps += more->steps;
      record_.until = plan_.total();
      parts_.control.until = plan_.total();
      tell([&](Observer& observer) { observer.steered(record_); });
    }
  }
  if (stopping_) paused_ = false;
  parts_.control.state = paused_ ? RunSnapshot::State::paused : RunSnapshot::State::running;
}

// Walkers may be at different steps: the phase begins where the furthest is. They go on from a checkpoint with the new
// recipe, as a run that is resumed does, so that both are the same.
template <class Real>
void EngineOf<Real>::steer(const NewPhase& phase) {
  std::uint64_t furthest = 0;
  for (const auto& chain : walkers_) furthest = std::max(furthest, chain.steps());
  furthest = std::uint64_t(parts_.comm.most({double(furthest)}).front());
  const auto before = record_.steered;
  const Recipe old = problem_.recipe;
  Checkpoint now = checkpoint();
  now.walkers.resize(std::size_t(settings_.walkers));
  for (Chain<Real>& chain : walkers_) now.walkers[chain.walker()] = bytes_of(chain);
  bool refused = false;
  try {
    std::erase_if(record_.steered, [&](const SteeredPhase& s) { return s.from_step == furthest; });
    record_.steered.push_back({furthest, changed_phase(record_, furthest, phase.part)});
    problem_.steer(record_.steered);
    make_walkers();
  } catch (const Error& e) {
    refused = true;
    record_.steered = before;
    problem_.recipe = old;
    make_walkers();
    remark(fmt::format("step {}: the new phase is refused: {}", furthest, e.what()));
  }
  restore(now);
  if (!refused) tell([&](Observer& observer) { observer.steered(record_); });
}

// ---- the end

// Where patience stopped it is worth keeping, whenever the next draw was due.
template <class Real>
void EngineOf<Real>::keep_where_it_stopped() {
  for (auto& chain : walkers_) {
    const std::uint64_t n = chain.steps();
    if (n <= plan_.warmup || (n - plan_.warmup) % plan_.every == 0) continue;
    const Draw<Real> draw{chain.walker(), (n - plan_.warmup) / plan_.every, chain.reading(), chain.q()};
    if (!buffer_) keep(draw);
    else if (team_->first()) buffer_->add(draw);
  }
  deliver();
}

template <class Real>
void EngineOf<Real>::end() {
  if (ended_) return;
  ended_ = true;
  const bool out_of_patience = !patience_.stop().empty() && !stopping_;
  if (!patience_.stop().empty()) keep_where_it_stopped();
  save(true);
  const std::uint64_t total = plan_.total();
  if (done_ < total && out_of_patience) {
    remark(fmt::format("stopped at step {} of {}: {}", done_, total, patience_.stop()));
    record_.stopped = patience_.stop();
    record_.until = done_;
  }
  const bool finished = done_ == total || out_of_patience;
  if (finished) finish_record();
  parts_.control.state = finished ? RunSnapshot::State::finished : RunSnapshot::State::stopped;
  parts_.control.step = done_;
  tell([&](Observer& observer) { observer.end(record_); });
}

template <class Real>
void EngineOf<Real>::finish_record() {
  const auto mine = telling().walkers;
  if (problem_.recipe.tuning.learns()) {
    record_.learnt = all_learnt<Real>(walkers_.front().recipe(), mine, parts_.comm);
    for (const PartRecipe& part : problem_.recipe.parts)
      remark(fmt::format("part \"{}\": the warm-up of walker 0 found step {:.4g} and friction {:.4g}", part.name,
                         walkers_.front().learnt_pace() * part.step.at(0),
                         walkers_.front().learnt_friction() * part.friction.at(0)));
    remark_on_learnt();
  }
  if (problem_.recipe.tempered) record_.tempering->biases = all_biases<Real>(mine, parts_.comm);
  if (line_) record_.exchange = line_->exchange;
  record_.seconds = parts_.environment.seconds();
  record_.draws = draws_;
  record_.finished = true;
  record_.final = line_;
}

template class EngineOf<float>;
template class EngineOf<double>;

}  // namespace kelvin
