// SPDX-License-Identifier: Apache-2.0
#include "kelvin/dynamics/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace kelvin {
namespace {

using Numbers = std::vector<double>;

// How far along, from 0 to 1; `over` = 0 stands for the whole run.
double progress(double over, double step, const Horizon& run) {
  return std::min(1.0, step / (over > 0 ? over : run.steps));
}

double constant(const Numbers& n, double, const Horizon&) { return n[0]; }
double posterior(const Numbers& n, double, const Horizon& run) { return n[0] / run.rows; }
double linear(const Numbers& n, double step, const Horizon& run) {
  return n[0] + (n[1] - n[0]) * progress(n[2], step, run);
}
double cosine(const Numbers& n, double step, const Horizon& run) {
  return n[1] + (n[0] - n[1]) * (1 + std::cos(std::numbers::pi * progress(n[2], step, run))) / 2;
}
double exponential(const Numbers& n, double step, const Horizon& run) {
  return n[0] * std::pow(n[1] / n[0], progress(n[2], step, run));
}
double stairs(const Numbers& n, double step, const Horizon&) { return n[0] * std::pow(n[1], std::floor(step / n[2])); }
// How far along in its cycle, from 0 up to 1; `every` = 0 stands for a quarter of the run.
double in_cycle(double every, double step, const Horizon& run) {
  const double length = every > 0 ? every : std::ceil(run.steps / 4);
  return std::fmod(step, length) / length;
}
double cyclical(const Numbers& n, double step, const Horizon& run) {
  return n[1] + (n[0] - n[1]) * (1 + std::cos(std::numbers::pi * in_cycle(n[2], step, run))) / 2;
}
double cyclical_posterior(const Numbers& n, double step, const Horizon& run) {
  return in_cycle(n[2], step, run) < n[1] ? 0 : n[0] / run.rows;
}
double polynomial(const Numbers& n, double step, const Horizon&) {
  return n[3] > 0 && step >= n[3] ? 0 : n[0] * std::pow(1 + step / n[1], -n[2]);
}
double logarithmic(const Numbers& n, double step, const Horizon&) {
  return n[2] > 0 && step >= n[2] ? 0 : n[0] * std::log(2.0) / std::log(2 + step / n[1]);
}

double warmup(const Numbers& n, double step, const Horizon&) {
  return n[0] * std::min(1.0, (step + 1) / std::max(1.0, n[1]));
}
double warmup_cosine(const Numbers& n, double step, const Horizon& run) {
  if (step < n[1]) return warmup(n, step, run);
  const double share = std::min(1.0, (step - n[1]) / std::max(1.0, run.steps - n[1]));
  return n[2] + (n[0] - n[2]) * (1 + std::cos(std::numbers::pi * share)) / 2;
}

constexpr Parameter constant_takes[] = {{"value", "", "the number"}};
constexpr Parameter posterior_takes[] = {{"times", "1.0", "1 is the Bayes posterior, less is a colder one"}};
constexpr Parameter ramp_takes[] = {{"from", "", "value at the first step"},
                                    {"to", "", "value at the end"},
                                    {"over", "0.0", "steps it takes, 0 for the whole run"}};
constexpr Parameter warmup_takes[] = {{"value", "", "what it rises to"}, {"over", "", "steps it takes"}};
constexpr Parameter warmup_cosine_takes[] = {
    {"value", "", "what it rises to"}, {"over", "", "steps it takes"}, {"to", "", "value at the end of the run"}};
constexpr Parameter stairs_takes[] = {{"from", "", "value at the first step"},
                                      {"factor", "0.1", "multiplier at each drop"},
                                      {"every", "", "steps between drops"}};
constexpr Parameter cyclical_takes[] = {{"from", "", "value at the start of a cycle"},
                                        {"to", "0.0", "value at its end"},
                                        {"every", "0.0", "steps in a cycle, 0 for a quarter of the run"}};
constexpr Parameter cyclical_posterior_takes[] = {{"times", "1.0", "1 is the Bayes posterior, less is a colder one"},
                                                  {"explore", "0.8", "share of each cycle at 0"},
                                                  {"every", "0.0", "steps in a cycle, 0 for a quarter of the run"}};
constexpr Parameter polynomial_takes[] = {{"from", "", "value at the first step"},
                                          {"delay", "1.0", "steps before the decay sets in"},
                                          {"power", "0.55", "exponent of the decay"},
                                          {"until", "0.0", "steps after which it is 0; 0 for never"}};
constexpr Parameter logarithmic_takes[] = {{"from", "", "value at the first step"},
                                           {"delay", "1.0", "steps before the decay sets in"},
                                           {"until", "0.0", "steps after which it is 0; 0 for never"}};

constexpr ScheduleRow all_schedules[] = {
    {"constant", constant_takes, constant, "the same at every step; a bare number means this"},
    {"posterior", posterior_takes, posterior, "times / N, N the rows of training data (1 without data)"},
    {"linear", ramp_takes, linear, "a straight line"},
    {"cosine", ramp_takes, cosine, "half a cosine wave"},
    {"warmup", warmup_takes, warmup, "a straight line from value / over up to value, then constant"},
    {"warmup_cosine", warmup_cosine_takes, warmup_cosine, "the same, then half a cosine wave down"},
    {"exponential", ramp_takes, exponential, "a constant ratio per step"},
    {"step", stairs_takes, stairs, "from factor^floor(step / every)"},
    {"cyclical", cyclical_takes, cyclical, "half a cosine wave, begun anew every cycle"},
    {"cyclical_posterior", cyclical_posterior_takes, cyclical_posterior,
     "0 for the first part of every cycle, then times / N; draws at 0 do not count", true},
    {"polynomial", polynomial_takes, polynomial, "from (1 + step / delay)^-power"},
    {"logarithmic", logarithmic_takes, logarithmic,
     "from log 2 / log(2 + step / delay): the cooling of simulated annealing"},
};

}  // namespace

std::span<const ScheduleRow> schedules() { return all_schedules; }

Schedule::Schedule(const Choice& choice, const Horizon& horizon)
    : row_(&row_named(choice.name, schedules(), "schedule", choice.where)), horizon_(horizon) {
  const Choice full = choice.completed(row_->parameters, "schedule");
  for (const Parameter& p : row_->parameters) numbers_.push_back(full.number(p.name));
  horizon_.steps = std::max(1.0, horizon_.steps);
  horizon_.rows = std::max(1.0, horizon_.rows);
}

std::pair<double, double> Schedule::range() const {
  // All rows are monotone between their corners, and a thousand points catch the corners of cycles to within rounding.
  double low = at(0), high = low;
  for (int k = 1; k <= 1000; ++k) {
    const double x = at(std::floor(horizon_.steps * k / 1000));
    low = std::isnan(x) ? x : std::min(low, x);
    high = std::isnan(x) ? x : std::max(high, x);
  }
  return {low, high};
}

}  // namespace kelvin
