// SPDX-License-Identifier: Apache-2.0
#include "kelvin/run/patience.h"

namespace kelvin {
namespace {

struct Measure {
  std::string_view name;
  bool more_is_better;
};
constexpr Measure measures[] = {
    {"potential", false}, {"loss", false}, {"accuracy", true}, {"rmse", false}, {"perplexity", false}};

}  // namespace

void Patience::look(const LogLine& line) {
  if (!settings_.used()) return;
  const std::string& name = settings_.measure;
  const auto dot = name.find('.');
  const Measure& measure =
      row_named(dot == name.npos ? name : name.substr(dot + 1), std::span<const Measure>(measures), "measure");
  const std::optional<double> found = logged(line, name);
  if (!found)
    throw Error(
        "patience.measure = \"{}\" is not in the log of this run; give one of another split, such as train.loss, "
        "or set data.validation",
        name);
  const double x = *found;
  const auto better = [&](double than) { return measure.more_is_better ? x > than : x < than; };
  if (lines_++ == 0 || better(best_)) {
    best_ = x;
    without_better_ = since_reduced_ = 0;
  } else {
    ++without_better_;
    ++since_reduced_;
  }
  if (settings_.reduce_after && since_reduced_ >= settings_.reduce_after) {
    pace_ *= settings_.factor;
    since_reduced_ = 0;
  }
  if (line.step <= warmup_) return;
  if (settings_.target.given() && (better(settings_.target.number("value")) || x == settings_.target.number("value")))
    stop_ = fmt::format("{} has reached {:.6g}", name, x);
  else if (settings_.stop_after && without_better_ >= settings_.stop_after)
    stop_ = fmt::format("{} has not been better than {:.6g} for {} lines of the log", name, best_, without_better_);
}

}  // namespace kelvin
