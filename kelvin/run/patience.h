// SPDX-License-Identifier: Apache-2.0
// Early stopping and step reduction on a plateau, decided from the lines of the log.
#pragma once
#include "kelvin/run/record.h"

namespace kelvin {

class Patience {
 public:
  explicit Patience(const PatienceSettings& settings) : settings_(settings) {}
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
  double best_ = 0, pace_ = 1;
  long lines_ = 0, without_better_ = 0, since_reduced_ = 0;
  std::string stop_;
};

}  // namespace kelvin
