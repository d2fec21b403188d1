// SPDX-License-Identifier: Apache-2.0
// Schedules: a number as a function of the step. To add one, write its function and its row in schedule.cpp.
#pragma once
#include "kelvin/core/choice.h"

namespace kelvin {

// What a schedule may refer to: the length of the run and the number of rows of data.
struct Horizon {
  double steps = 1, rows = 1;
};

struct ScheduleRow {
  std::string_view name;
  std::span<const Parameter> parameters;
  double (*value)(const std::vector<double>& numbers, double step,
                  const Horizon&);  // numbers in the order of `parameters`
  std::string_view meaning;
  bool rests = false;  // is 0 at times: as a temperature, draws then are none of the law
};
std::span<const ScheduleRow> schedules();

class Schedule {
 public:
  Schedule(const Choice&, const Horizon&);
  double at(double step) const { return row_->value(numbers_, step, horizon_); }
  // The smallest and largest value over the run: what a setting's range is checked against.
  std::pair<double, double> range() const;
  bool rests() const { return row_->rests; }

 private:
  const ScheduleRow* row_;
  std::vector<double> numbers_;
  Horizon horizon_;
};

}  // namespace kelvin
