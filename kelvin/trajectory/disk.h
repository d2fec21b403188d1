// SPDX-License-Identifier: Apache-2.0
// The run directory of a run that is under way (docs/runs.md): its lock, record, log, draws and checkpoint.
#pragma once
#include "kelvin/run/run.h"
#include "kelvin/trajectory/store.h"

namespace kelvin {

class Disk final : public Observer {
 public:
  using Clock = std::function<double()>;  // seconds since the process began with the run

  // A new run, whose directory is made when everything is ready; `run_file` is kept there as run.toml.
  Disk(std::filesystem::path run, Clock, bool replace, std::string run_file);
  Disk(std::filesystem::path run, Clock);  // one to be resumed: it is locked and read
  ~Disk() override;                        // of a run that failed: what was kept is still written

  const Resumption& resumption() const { return resumption_; }
  double seconds() const { return before_ + clock_(); }  // that the run has taken, with those before it was resumed

  void begin(const RunRecord& record, const Problem<float>& problem) override { open(record, problem, floats_); }
  void begin(const RunRecord& record, const Problem<double>& problem) override { open(record, problem, doubles_); }
  void draw(const Draw<float>& draw) override { floats_->keep(draw); }
  void draw(const Draw<double>& draw) override { doubles_->keep(draw); }
  void line(const LogLine&) override;
  void checkpoint(const Checkpoint&) override;
  void steered(const RunRecord&) override;
  void end(const RunRecord&) override;

 private:
  template <class Real>
  void open(const RunRecord&, const Problem<Real>&, std::unique_ptr<Store<Real>>&);
  template <class Use>
  void with_store(Use&&);

  std::filesystem::path run_;
  Clock clock_;
  bool replace_ = false, resumed_ = false, ended_ = false;
  std::string run_file_;
  std::optional<RunLock> lock_;
  Resumption resumption_;
  std::vector<WalkerTotals> totals_;
  std::uint32_t settings_ = 0;  // their checksum
  double before_ = 0;
  std::unique_ptr<GrowingFile> log_;
  FileSum log_sum_;  // of its lines
  std::unique_ptr<Store<float>> floats_;
  std::unique_ptr<Store<double>> doubles_;
};

// What one rank has read, on all of them.
Resumption on_all_ranks(const Resumption&, Comm&);

}  // namespace kelvin
