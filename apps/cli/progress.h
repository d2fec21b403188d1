// SPDX-License-Identifier: Apache-2.0
// Progress on stderr: a bar on a terminal, a plain line now and then otherwise.
#pragma once
#include <chrono>
#include <string>

namespace kelvin::cli {

class Progress {
 public:
  Progress(double total, std::string unit, bool quiet, double done = 0);
  void show(double done, const std::string& note);
  void finish();
  double seconds() const;

 private:
  double total_, before_, told_ = 0;  // before_: done when it began; told_: seconds when it was last shown
  std::string unit_;
  bool quiet_, terminal_, shown_ = false;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace kelvin::cli
