// SPDX-License-Identifier: Apache-2.0
// A run as its terminal sees it: the layers of its network, remarks, a bar, and signals that stop it.
#pragma once
#include <optional>
#include <thread>

#include "apps/cli/progress.h"
#include "kelvin/run/run.h"

namespace kelvin::cli {

class Terminal final : public Observer {
 public:
  Terminal(Run& run, bool quiet) : run_(&run), quiet_(quiet) {}
  void begin(const RunRecord& record, const Problem<float>& problem) override { start(record, problem.data.train); }
  void begin(const RunRecord& record, const Problem<double>& problem) override { start(record, problem.data.train); }
  void remark(std::string_view) override;
  void end(const RunRecord&) override { finish(); }
  void finish();  // of the bar

 private:
  void start(const RunRecord&, const Dataset& train);
  void look(std::stop_token, bool saves);

  Run* run_;
  bool quiet_;
  std::optional<Progress> progress_;
  std::jthread watch_;
};

int signal_caught();                                            // 0 if none
std::string shown(std::string_view split, const ScoreRecord&);  // "train loss 0.1"

}  // namespace kelvin::cli
