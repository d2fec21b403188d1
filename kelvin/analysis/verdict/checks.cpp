// SPDX-License-Identifier: Apache-2.0
// The checks of a diagnosis: each judges one thing about a run, in a sentence that says what to change.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "kelvin/analysis/posterior/exchange.h"
#include "kelvin/analysis/verdict/diagnose.h"
#include "kelvin/chain/companions/no_u_turn.h"
#include "kelvin/numeric/distribution.h"

namespace kelvin {
namespace {

using enum Verdict;
using Judgements = std::vector<Judgement>;

constexpr double sure = 4;               // standard errors that a deviation must have
constexpr double matters = 0.02;         // relative deviations below this do no harm
constexpr double fewest_effective = 50;  // independent draws, or an error means nothing

bool off(const KnownMean& m, double target) {
  return std::abs(m.value - target) > sure * m.error && std::abs(m.value - target) > matters;
}
std::string percent(double value, double error) {
  return fmt::format("{:.3g} % +- {:.2g} %", 100 * std::abs(value), 100 * error);
}

// ---- of any run

Judgements finished(const Evidence& e) {
  if (e.samples.record.has_finished()) return {};
  return {{unknown, fmt::format("the run has not finished: only {} draws are judged; `kelvin resume {}` goes on",
                                e.samples.draws, e.samples.run.string())}};
}

Judgements residuals(const Evidence& e) {
  Judgements out;
  const double most = e.settings.precision == "float" ? 1e-5 : 1e-12;  // what docs/constraints.md promises
  for (const Quantity& q : e.residuals) {
    double worst = 0;
    for (const auto& x : q.chains)
      for (const double v : x) worst = std::isnan(v) ? v : std::max(worst, std::abs(v));
    out.push_back(worst <= most
                      ? Judgement{fine, fmt::format("{} is at most {:.2g}", q.name, worst)}
                      : Judgement{fault, fmt::format("{} reaches {:.2g} where {:.0e} is allowed: the constraint is not "
                                                     "held; use a smaller step, and leave `tolerance` of the "
                                                     "constraint as it is",
                                                     q.name, worst, most)});
  }
  constexpr double rare = 1e-3;  // of the steps
  for (const PartEvidence& part : e.parts) {
    if (part.fallbacks == 0) continue;
    const bool harmless = part.fallbacks < rare * part.steps;
    out.push_back({harmless ? fine : fault,
                   fmt::format("{:.0f} projections of part \"{}\" did not converge and took the nearest point "
                               "instead{}",
                               part.fallbacks, part.name, harmless ? "" : ": use a smaller step")});
  }
  constexpr double many = 0.1;
  for (const PartEvidence& part : e.parts)
    if (!std::isnan(part.at_radius))
      out.push_back(
          {part.at_radius > many ? fault : fine,
           fmt::format("{:.3g} % of the weights of part \"{}\" sit at their radius, where at temperature 0 no "
                       "force moves them{}",
                       100 * part.at_radius, part.name,
                       part.at_radius > many ? ": give a larger radius or a temperature" : "")});
  return out;
}

// ---- of sampling

Judgements divergences(const Evidence& e) {
  if (!e.proposes || e.diverging.empty()) return {};
  double count = 0;
  for (const auto& x : e.diverging) count += std::accumulate(x.begin(), x.end(), 0.0);
  if (count == 0) return {{fine, "no proposal diverged"}};
  return {
      {fault,
       fmt::format("{:.0f} of {} draws had a proposal whose energy rose by more than 1000 T: halve the step, or raise "
                   "adapt.acceptance towards 1 if it is adapted",
                   count, e.samples.draws * e.samples.walkers)}};
}

Judgements acceptance(const Evidence& e) {
  if (!e.proposes) return {};
  double lowest = 1;
  for (const auto& x : e.acceptance) lowest = std::min(lowest, mean({x}));
  constexpr double too_low = 0.4;
  if (lowest < too_low)
    return {{fault, fmt::format("only {:.0f} % of the proposals were accepted: the step is too large; halve it",
                                100 * lowest)}};
  return {{fine, fmt::format("at least {:.0f} % of the proposals of each walker were accepted", 100 * lowest)}};
}

// Of schemes without a Metropolis test whose step was learnt.
Judgements jumps(const Evidence& e) {
  double before = 0, after = 0;
  for (const LearntRecord& walker : e.samples.record.learnt) {
    before += walker.put_back.value_or(0);
    after += walker.put_back_later.value_or(0);
  }
  if (after > 0)
    return {{fault, fmt::format("the energy of walkers jumped {:.0f} times after the warm-up, and they were put back "
                                "with a smaller step: the step is too large in places; use half of adapt.disagreement, "
                                "more friction, or scheme = \"nuts\"",
                                after)}};
  if (before > 0)
    return {{fine, fmt::format("the energy of walkers jumped {:.0f} times in the warm-up, which made the step smaller, "
                               "and not after it",
                               before)}};
  return {};
}

// Walkers that learnt from the same law found much the same.
Judgements adaptation(const Evidence& e) {
  const auto& learnt = e.samples.record.learnt;
  if (learnt.empty()) return {};
  double least = INFINITY, most = 0;
  for (const LearntRecord& walker : learnt) {
    least = std::min(least, walker.pace);
    most = std::max(most, walker.pace);
  }
  std::string steps;
  for (const auto& [part, step] : learnt[0].step)
    steps += fmt::format("{}{:.3g} in part \"{}\"", steps.empty() ? "" : ", ", step, part);
  constexpr double alike = 2;
  if (most > alike * least)
    return {
        {fault, fmt::format("the warm-ups of the walkers found steps that differ by a factor of {:.2g}: they sit in "
                            "different places; make the warm-up longer",
                            most / least)}};
  return {{fine, fmt::format("the warm-up found the step {}; among walkers it differs by a factor of {:.2g}", steps,
                             most / least)}};
}

Judgements weights(const Evidence& e) {
  const auto& stored = e.samples.manifest.arrays;
  if (!stored.contains("sample_stats/log_weight")) return {};
  constexpr double too_little = 0.01;
  const double worth = e.samples.worth;
  Judgements out{{worth < too_little ? fault : fine,
                  fmt::format("draws carry weights, by which they are worth {:.3g} % of as many equal ones{}",
                              100 * worth, worth < too_little ? ": few of them stand for all; run longer" : "")}};
  if (!stored.contains("sample_stats/step_size")) return out;
  const Samples all = open_samples(e.samples.run, Which::every);
  double least = INFINITY, most = 0, sum = 0;
  for (std::size_t w = 0; w < all.walkers; ++w)
    for (const double h : all.statistic("step_size", w)) {
      least = std::min(least, h);
      most = std::max(most, h);
      sum += h;
    }
  out.push_back({fine, fmt::format("steps ran from {:.3g} to {:.3g}, {:.3g} on average", least, most,
                                   sum / double(all.walkers * all.draws))});
  return out;
}

// What Metropolis would see, without one: of p of unit length.
Judgements energy_errors(const Evidence& e) {
  if (!e.samples.manifest.arrays.contains("sample_stats/energy_error")) return {};
  double sum = 0;
  for (std::size_t w = 0; w < e.samples.walkers; ++w)
    for (const double x : e.samples.statistic("energy_error", w)) sum += x * x;
  const double each = sum / double(e.samples.walkers * e.samples.draws) / e.parts.front().freedom;
  constexpr double too_large = 1e-3;
  return {{each < too_large ? fine : fault,
           fmt::format("the energy error of a step has a mean square of {:.2g} T^2 per degree of freedom{}", each,
                       each < too_large ? "" : ": too large; set adapt.step = true or use a smaller step")}};
}

// A path that was cut short had not turned yet.
Judgements depth(const Evidence& e) {
  if (!e.samples.manifest.arrays.contains("sample_stats/tree_depth")) return {};
  double cut = 0, sum = 0;
  for (std::size_t w = 0; w < e.samples.walkers; ++w)
    for (const double d : e.samples.statistic("tree_depth", w)) {
      cut += d >= deepest_path;
      sum += d;
    }
  if (sum == 0) return {};  // of a method without paths, as Stan's tables have it
  const double draws = double(e.samples.draws * e.samples.walkers);
  if (cut > 0)
    return {
        {fault, fmt::format("{:.0f} of {:.0f} paths were cut off after {} steps before they turned: set adapt.step = "
                            "true and adapt.metric, or use a larger step",
                            cut, draws, (1 << deepest_path) - 1)}};
  return {{fine, fmt::format("paths doubled {:.1f} times on average, and all of them turned", sum / draws)}};
}

// Betancourt 2016: the energy's changes from draw to draw against its spread; low if fresh momenta cannot reach it.
Judgements energy_changes(const Evidence& e) {
  if (!e.proposes || e.energy.empty()) return {};
  double lowest = INFINITY;
  for (const auto& x : e.energy) {
    const double m = mean({x});
    double changes = 0, spread = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      spread += (x[i] - m) * (x[i] - m);
      if (i) changes += (x[i] - x[i - 1]) * (x[i] - x[i - 1]);
    }
    lowest = std::min(lowest, changes / spread);
  }
  constexpr double too_low = 0.3;
  if (!(lowest < too_low)) return {{fine, fmt::format("E-BFMI is at least {:.2f}", lowest)}};
  return {{fault, fmt::format("E-BFMI is {:.2g}, below {}: momenta do not reach all energies; reparametrise, or run "
                              "longer with more steps in a proposal",
                              lowest, too_low)}};
}

// U falls to its equilibrium and stays there: slope of a line through every walker's energies, all with one slope. Its
// variance is that for independent residuals times their autocorrelation time.
Judgements drift(const Evidence& e) {
  const double n = double(e.samples.draws), middle = (n - 1) / 2, spread = n * (n * n - 1) / 12;
  double product = 0;
  for (const auto& x : e.energy)
    for (std::size_t i = 0; i < x.size(); ++i) product += (double(i) - middle) * x[i];
  const double chains = double(e.energy.size()), slope = product / spread / chains;
  Chains rest = e.energy;
  double square = 0;
  for (auto& x : rest) {
    const double m = mean({x});
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] -= m + slope * (double(i) - middle);
      square += x[i] * x[i];
    }
  }
  const double sd = std::sqrt(square / (n * chains));
  const double tau = std::max(1.0, windowed_autocorrelation_time(rest).tau);
  const double change = slope * n / sd, error = n * std::sqrt(tau / spread / chains);
  if (!(std::isfinite(change) && n > 10 * tau)) return {};
  if (std::abs(change) > sure * error && std::abs(change) > 0.5)
    return {{fault, fmt::format("the energy {} by {:.2g} +- {:.1g} of its standard deviations over the run: it had not "
                                "settled; lengthen the warm-up",
                                change > 0 ? "rises" : "falls", std::abs(change), error)}};
  return {{fine, fmt::format("the energy does not drift ({:.2g} +- {:.1g} standard deviations over the run)", change,
                             error)}};
}

Judgements temperature(const Evidence& e) {
  Judgements out;
  for (const PartEvidence& part : e.parts) {
    const KnownMean kinetic = known_mean(part.kinetic);
    if (!part.warm || !part.kinetic_exact || std::isnan(kinetic.value)) continue;
    const double excess = kinetic.value - 1;
    if (!kinetic.known)
      out.push_back({unknown, fmt::format("the kinetic temperature of part \"{}\" cannot be judged: it is worth fewer "
                                          "than {:.0f} independent draws",
                                          part.name, fewest_effective)});
    else if (!off(kinetic, 1))
      out.push_back({fine, fmt::format("part \"{}\" has the temperature that was set ({:.4f} +- {:.4f} of it)",
                                       part.name, kinetic.value, kinetic.error)});
    else
      out.push_back({fault, fmt::format("temperature off: part \"{}\" is {} {} than was set; {}", part.name,
                                        percent(excess, kinetic.error), excess > 0 ? "hotter" : "colder",
                                        excess > 0 && e.minibatch
                                            ? "the noise of the minibatches heats it: use larger batches, a smaller "
                                              "step or more friction"
                                            : "lengthen the warm-up, raise the friction, use a smaller step, and see "
                                              "that parts in contact have one temperature")});
  }
  return out;
}

// <q.g> = n T holds for positions, <p.p/m> = n T for momenta: a step that is too large breaks one of them.
Judgements step(const Evidence& e) {
  Judgements out;
  for (const PartEvidence& part : e.parts) {
    if (!part.warm) continue;
    const KnownMean configurational = known_mean(part.configurational), kinetic = known_mean(part.kinetic);
    if (std::isnan(configurational.value)) {
      out.push_back(
          {unknown,
           fmt::format("part \"{}\" has no entry without a constraint, and on a manifold q.g does not "
                       "tell the temperature, so that its step is not judged; compare with a run at half of it",
                       part.name)});
      continue;
    }
    if (!part.confined) {
      out.push_back({unknown, fmt::format("part \"{}\" has no prior that can be normalised, so its configurational "
                                          "temperature says nothing about the step",
                                          part.name)});
      continue;
    }
    const bool both = part.kinetic_exact && kinetic.known;
    const KnownMean reference = both ? kinetic : KnownMean{1, 0, true};
    KnownMean difference{configurational.value - reference.value, std::hypot(configurational.error, reference.error),
                         configurational.known};
    const std::string what = both ? "kinetic and configurational temperature" : "configurational and set temperature";
    if (!difference.known)
      out.push_back({unknown, fmt::format("the configurational temperature of part \"{}\" cannot be judged: it is "
                                          "worth fewer than {:.0f} independent draws",
                                          part.name, fewest_effective)});
    else if (off(difference, 0))
      out.push_back({fault, fmt::format("step too large: {} of part \"{}\" disagree by {}; halve the step{}", what,
                                        part.name, percent(difference.value, difference.error),
                                        e.minibatch ? ", or use larger batches" : "")});
    else
      out.push_back({fine, fmt::format("{} of part \"{}\" agree ({:+.2g} % +- {:.2g} %)", what, part.name,
                                       100 * difference.value, 100 * difference.error)});
  }
  return out;
}

Judgements length(const Evidence& e) {
  const JudgedQuantity* worst = nullptr;
  for (const JudgedQuantity& q : e.judged)
    if (!std::isnan(q.time.tau) && (!worst || q.time.tau > worst->time.tau)) worst = &q;
  if (!worst) return {{unknown, "nothing that was stored varies, so no autocorrelation time can be told"}};
  if (worst->time.missing && e.samples.record.imported())
    return {{fault, fmt::format("too short: {} ({}); draw as many more", worst->time.refusal(), worst->quantity.name)}};
  if (worst->time.missing)
    return {{fault, fmt::format("too short: {} ({}); go on with `kelvin resume {} --steps {}`", worst->time.refusal(),
                                worst->quantity.name, e.samples.run.string(),
                                worst->time.missing * std::size_t(e.settings.every))}};
  return {{fine, fmt::format("every {} has {:.0f} autocorrelation times of {:.3g} draws ({})",
                             e.together > 1 ? "ensemble of walkers" : "walker",
                             double(worst->time.draws) / worst->time.tau, worst->time.tau, worst->quantity.name)}};
}

// ---- of training

// Means of the last tenth of a curve, and of the tenth before its last quarter.
struct Ending {
  double before, after;
};
Ending ending(const std::vector<double>& x) {
  const std::size_t tenth = std::max<std::size_t>(1, x.size() / 10), quarter = x.size() * 3 / 4;
  const auto average = [&](std::size_t end) {
    return std::accumulate(x.begin() + long(end - tenth), x.begin() + long(end), 0.0) / double(tenth);
  };
  return {average(quarter), average(x.size())};
}

const LearningCurve* curve_of(const Evidence& e, std::string_view name) {
  for (const LearningCurve& c : e.curves)
    if (c.name == name) return &c;
  return nullptr;
}

constexpr std::size_t fewest_lines = 8;

Judgements loss(const Evidence& e) {
  const LearningCurve* train = curve_of(e, "train");
  if (!train) train = curve_of(e, "potential");
  if (!train || train->loss.size() < fewest_lines)
    return {{unknown,
             fmt::format("the learning curve has fewer than {} points; log more often (log_every)", fewest_lines)}};
  const auto [before, after] = ending(train->loss);
  if (!std::isfinite(after)) return {{fault, "the loss is not finite: halve the step and train again"}};
  const double fallen = train->loss.front() - after, share = (before - after) / fallen;
  if (after > before && (fallen <= 0 || -share > matters))
    return {{fault, fmt::format("the loss rises (from {:.4g} to {:.4g} over the last quarter): use a smaller step, or "
                                "one that decays",
                                before, after)}};
  if (share > matters)
    return {{fault, fmt::format("the loss still falls (from {:.4g} to {:.4g} over the last quarter): train longer",
                                before, after)}};
  return {{fine, fmt::format("the loss has levelled off at {:.4g}", after)}};
}

Judgements validation(const Evidence& e) {
  const LearningCurve* curve = curve_of(e, "validation");
  if (!curve || curve->loss.size() < fewest_lines) return {};
  const auto lowest = std::min_element(curve->loss.begin(), curve->loss.end());
  const double after = ending(curve->loss).after;
  if (after > *lowest * (1 + 5 * matters) && lowest < curve->loss.end() - long(curve->loss.size() / 4))
    return {{fault, fmt::format("the validation loss was lowest at step {:.0f} ({:.4g}) and has risen to {:.4g} since: "
                                "stop there, or use a stronger prior, or sample instead of training",
                                curve->steps[std::size_t(lowest - curve->loss.begin())], *lowest, after)}};
  return {{fine, fmt::format("the validation loss does not rise ({:.4g}, lowest {:.4g})", after, *lowest)}};
}

// ---- the checks, worst faults first

constexpr std::string_view set_temperatures = "the temperatures that were set";

constexpr Check all_diagnose_checks[] = {
    {"finite", Of::both, judge_extremes, "every draw is a number, and none is orders of magnitude off the others"},
    {"constraints", Of::both, residuals, "stored residuals of constraints are 0 up to rounding"},
    {"divergences", Of::sampling, divergences, "no proposal raises the energy by more than 1000 T"},
    {"acceptance", Of::sampling, acceptance, "share of accepted proposals"},
    {"depth", Of::sampling, depth, "paths of N that were cut off"},
    {"energy errors", Of::sampling, energy_errors, "of steps whose p has unit length: their mean square is small"},
    {"weights", Of::sampling, weights, "what weighted draws are worth, and the steps that a tempo made"},
    {"jumps", Of::sampling, jumps, "no walker had to be put back because its energy jumped"},
    {"adaptation", Of::both, adaptation, "what the warm-up found, and whether walkers found the same"},
    {"exchange", Of::sampling, judge_exchange, "positions travel through all temperatures of [exchange]"},
    {"step", Of::sampling, step, "q.g and p.p/m have the same mean per degree of freedom (virial, equipartition)",
     set_temperatures},
    {"temperature", Of::sampling, temperature, "p.p/m per degree of freedom is the temperature that was set",
     set_temperatures},
    {"agreement", Of::sampling, judge_agreement,
     "rank-normalised split R-hat of what the network says is below 1.01; of networks with hidden layers, that of each "
     "walker by itself below 1.1"},
    {"length", Of::sampling, length, "each walker has 50 autocorrelation times"},
    {"drift", Of::sampling, drift, "the slope of the energy over the draws is 0 within its error", "energy"},
    {"energy changes", Of::sampling, energy_changes, "E-BFMI of schemes with proposals is above 0.3"},
    {"loss", Of::training, loss, "the training loss has levelled off"},
    {"validation", Of::training, validation, "the validation loss has not begun to rise"},
    {"finished", Of::both, finished, "the run came to its end"},
};

}  // namespace

std::span<const Check> diagnose_checks() { return all_diagnose_checks; }

KnownMean known_mean(const Chains& chains) {
  if (chains.empty()) return {};
  const double error = mcse_mean(chains), effective = std::pow(deviation(chains) / error, 2);
  return {mean(chains), error, effective >= fewest_effective};
}

}  // namespace kelvin
