// SPDX-License-Identifier: Apache-2.0
#include "kelvin/run/run.h"

#include <utility>

#include "kelvin/run/engine.h"

namespace kelvin {

void RunControl::post(Command command) {
  {
    const std::lock_guard lock(mutex_);
    commands_.push_back(std::move(command));
    interrupt = true;
  }
  posted_.notify_all();
}

std::vector<Command> RunControl::taken(bool wait) {
  std::unique_lock lock(mutex_);
  if (wait) posted_.wait(lock, [&] { return !commands_.empty(); });
  interrupt = false;
  return std::exchange(commands_, {});
}

void RunControl::show(const LogLine& line) {
  const std::lock_guard lock(mutex_);
  line_ = line;
}

RunSnapshot RunControl::now() const {
  const std::lock_guard lock(mutex_);
  return {.state = state, .step = step, .until = until, .line = line_};
}

Run::Run(RunSettings settings, RunEnvironment environment, RunRecord about)
    : environment_(std::move(environment)), control_(std::make_unique<RunControl>()) {
  from_.record = std::move(about);
  from_.record.settings = std::move(settings);
  if (from_.record.command.empty()) from_.record.command = "sample";
  complete(from_.record.settings, run_kind(from_.record.command));
}

Run::Run(Resumption from, RunEnvironment environment)
    : from_(std::move(from)),
      resumed_(true),
      environment_(std::move(environment)),
      control_(std::make_unique<RunControl>()) {}

Run::~Run() = default;

void Run::watch(Observer& observer) { control_->observers.push_back(&observer); }
void Run::post(Command command) { control_->post(std::move(command)); }
RunSnapshot Run::now() const { return control_->now(); }
const RunRecord& Run::record() const { return engine_ ? engine_->record() : from_.record; }

void Run::start(Comm& comm) {
  if (engine_) return;
  const EngineParts parts{from_, resumed_, environment_, *control_, comm};
  if (from_.record.settings.precision == "float") engine_ = std::make_unique<EngineOf<float>>(parts);
  else engine_ = std::make_unique<EngineOf<double>>(parts);
  engine_->begin();
}

void Run::go() {
  if (!alone_) alone_ = std::make_unique<Comm>();
  go(*alone_);
}

void Run::go(Comm& comm) {
  start(comm);
  while (engine_->advance(never))
    while (engine_->paused()) engine_->wait();
  engine_->end();
}

bool Run::advance(std::uint64_t steps) {
  if (!alone_) alone_ = std::make_unique<Comm>();
  start(*alone_);
  const std::uint64_t limit = engine_->done() + steps;
  while (engine_->advance(limit))
    if (engine_->paused() || engine_->done() >= limit) return true;
  engine_->end();
  return false;
}

}  // namespace kelvin
