// SPDX-License-Identifier: Apache-2.0
// A run: what every front end drives. Terminal, disk and others watch it; what they ask for is posted as commands.
#pragma once
#include <memory>

#include "kelvin/run/checkpoint.h"
#include "kelvin/run/command.h"
#include "kelvin/run/problem.h"
#include "kelvin/run/rounds.h"

namespace kelvin {

// Who watches a run. What it throws ends the run. With several ranks, draws and checkpoints reach the first one only.
struct Observer {
  virtual ~Observer() = default;
  virtual void begin(const RunRecord&, const Problem<float>&) {}   // everything is ready; no step is taken yet
  virtual void begin(const RunRecord&, const Problem<double>&) {}  // likewise
  virtual void draw(const Draw<float>&) {}                         // as a Sink: from several threads at once
  virtual void draw(const Draw<double>&) {}
  virtual void line(const LogLine&) {}
  virtual void checkpoint(const Checkpoint&) {}
  virtual void steered(const RunRecord&) {}  // before the first step that a command changes
  virtual void remark(std::string_view) {}
  virtual void end(const RunRecord&) {}  // `finished` unless it was stopped
};

// What a run that was stopped or killed goes on from.
struct Resumption {
  RunRecord record;
  std::optional<Checkpoint> checkpoint;  // none: from the start
  std::optional<LogLine> line;           // the last one of the log
};

struct RunSnapshot {
  enum class State { ready, running, paused, stopped, finished };
  State state = State::ready;
  std::uint64_t step = 0, until = 0;  // step: of the first walker
  std::optional<LogLine> line;        // the last one
};

class RunControl;
class RunEngine;

class Run {
 public:
  // `about`: what the settings do not say of it (command, command_line, created_at, directory, machine), and phases
  // that were begun by commands, if a recorded run is to be repeated.
  Run(RunSettings, RunEnvironment, RunRecord about = {});
  Run(Resumption, RunEnvironment);  // up to record.until
  ~Run();

  void watch(Observer&);        // before it starts; in the order in which they are told
  void post(Command);           // from any thread
  void go();                    // to the end, or until it is stopped
  void go(Comm&);               // the same on all ranks
  bool advance(std::uint64_t);  // so many steps, or until it is paused; whether there is more to do
  RunSnapshot now() const;      // from any thread
  const RunRecord& record() const;

 private:
  void start(Comm&);
  Resumption from_;
  bool resumed_ = false;
  RunEnvironment environment_;
  std::unique_ptr<RunControl> control_;
  std::unique_ptr<Comm> alone_;
  std::unique_ptr<RunEngine> engine_;
};

}  // namespace kelvin
