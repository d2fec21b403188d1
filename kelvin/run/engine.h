// SPDX-License-Identifier: Apache-2.0
// What drives a run in one precision: from settings or a checkpoint to walkers, round by round, to the record at its
// end.
#pragma once
#include <condition_variable>
#include <mutex>

#include "kelvin/run/draw_buffer.h"
#include "kelvin/run/patience.h"
#include "kelvin/run/run.h"

namespace kelvin {

// What a run shares with those who watch and steer it.
class RunControl {
 public:
  std::vector<Observer*> observers;
  std::atomic<bool> interrupt = false;
  std::atomic<std::uint64_t> step = 0, until = 0;
  std::atomic<RunSnapshot::State> state = RunSnapshot::State::ready;

  void post(Command);
  std::vector<Command> taken(bool wait);  // all that were posted; `wait`: until there is one
  void show(const LogLine&);
  RunSnapshot now() const;

 private:
  mutable std::mutex mutex_;
  std::condition_variable posted_;
  std::vector<Command> commands_;
  std::optional<LogLine> line_;
};

class RunEngine {
 public:
  virtual ~RunEngine() = default;
  virtual void begin() = 0;
  virtual bool advance(std::uint64_t limit) = 0;  // one round, no further than that; whether there is more to do
  virtual bool paused() const = 0;
  virtual void wait() = 0;  // while it is paused, for commands
  virtual void end() = 0;
  const RunRecord& record() const { return record_; }
  std::uint64_t done() const { return done_; }  // steps of all walkers

 protected:
  RunRecord record_;
  std::uint64_t done_ = 0;
};

struct EngineParts {
  const Resumption& from;
  bool resumed;
  const RunEnvironment& environment;
  RunControl& control;
  Comm& comm;
};

// Which walkers a rank has: some of its own, or one together with the other ranks of its team.
struct WalkerRange {
  std::size_t team, first, last;
};

template <class Real>
class EngineOf final : public RunEngine {
 public:
  explicit EngineOf(const EngineParts&);
  void begin() override;
  bool advance(std::uint64_t limit) override;
  bool paused() const override { return paused_; }
  void wait() override { take_commands(true); }
  void end() override;

 private:
  RunSettings settings_left() const;
  LoadData checked_data() const;
  void remark(std::string_view) const;
  void make_walkers();
  void start_walkers();
  void restore(const Checkpoint&);
  void make_plan();
  LocalWalkers<Real> local();
  LocalWalkers<Real> telling();  // walkers that this rank tells of: one rank of a team does
  template <class Tell>
  void tell(Tell&&);  // all observers, on every rank
  void keep(const Draw<Real>&);
  void deliver();
  void write_line();
  Checkpoint checkpoint();
  void save(bool last);
  void take_commands(bool wait);
  void steer(const NewPhase&);
  void keep_where_it_stopped();
  void remark_on_parts() const;
  void remark_on_learnt() const;
  void finish_record();

  EngineParts parts_;
  RunSettings settings_;
  WalkerRange range_{};
  std::unique_ptr<Comm> team_;
  Problem<Real> problem_;
  Noise<Real> noise_;
  std::vector<Chain<Real>> walkers_;  // of this rank
  Couplings<Real> couplings_;
  std::unique_ptr<Threads> threads_;
  std::unique_ptr<DrawBuffer<Real>> buffer_;  // with several ranks
  Plan plan_;
  Patience patience_;
  std::optional<LogLine> line_;
  std::uint64_t logged_ = 0, saved_ = 0, draws_ = 0;  // draws_: of the first walker
  double logged_at_ = 0;
  bool paused_ = false, stopping_ = false, ended_ = false;
};

}  // namespace kelvin
