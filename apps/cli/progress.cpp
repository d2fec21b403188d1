// SPDX-License-Identifier: Apache-2.0
#include "apps/cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace kelvin::cli {
namespace {

std::string clock(double seconds) {
  const long s = long(seconds + 0.5);
  return s < 3600 ? fmt::format("{}:{:02}", s / 60, s % 60)
                  : fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
}

std::string rate_text(double rate) {
  return rate >= 1e6   ? fmt::format("{:.1f}M", rate / 1e6)
         : rate >= 1e3 ? fmt::format("{:.1f}k", rate / 1e3)
                       : fmt::format("{:.1f}", rate);
}

}  // namespace

Progress::Progress(double total, std::string unit, bool quiet, double done)
    : total_(total), before_(done), unit_(std::move(unit)), quiet_(quiet), terminal_(isatty(STDERR_FILENO)) {}

double Progress::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void Progress::show(double done, const std::string& note) {
  if (quiet_) return;
  const double share = done / total_, spent = seconds(), rate = (done - before_) / std::max(spent, 1e-9);
  if (!terminal_ && spent < told_ + 30) return;  // seconds: a file wants a sign of life of long work only
  told_ = spent;
  shown_ = true;
  const std::string state = fmt::format("{:3.0f}%  {} {}/s  {} left  {}", 100 * share, rate_text(rate), unit_,
                                        clock(rate > 0 ? (total_ - done) / rate : 0), note);
  constexpr int width = 24;
  const std::string bar =
      std::string(std::size_t(width * share), '#') + std::string(std::size_t(width) - std::size_t(width * share), '.');
  if (terminal_) fmt::print(stderr, "\r[{}] {}\033[K", bar, state);
  else fmt::print(stderr, "{}\n", state);
  std::fflush(stderr);
}

void Progress::finish() {
  if (shown_ && terminal_) fmt::print(stderr, "\n");
}

}  // namespace kelvin::cli
