// SPDX-License-Identifier: Apache-2.0
// Early stopping and step reduction on a plateau, decided from the lines of the log.
#pragma once
#include "kelvin/run/record.h"

namespace kelvin {

class Patience {
 public:
  // Before the end of `warmup` it may take smaller steps, but does not stop: there would be no draw.
  explicit Patience(const PatienceSettings& settings, std::uint64_t warmup = 0)
      : settings_(settings), warmup_(warmup) {}
  void look(const LogLine&);                         // one more line of the log
  double pace() const { return pace_; }              // what all steps are multiplied by
  const std::string& stop() const { return stop_; }  // why the run should stop; empty if it should not

  template <class Visit>
  void fields(Visit&& field) {  // what a checkpoint keeps
    field(best_);
    field(pace_);
    field(lines_);
    field(without_better_);
    field(since_reduced_);
  }

 private:
  PatienceSettings settings_;
  std::uint64_t warmup_;
  double best_ = 0, pace_ = 1;
  long lines_ = 0, without_better_ = 0, since_reduced_ = 0;
  std::string stop_;
};

}  // namespace kelvin
