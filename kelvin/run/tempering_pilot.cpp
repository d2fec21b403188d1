// SPDX-License-Identifier: Apache-2.0
// The pilot run of continuous tempering.
#include <cmath>

#include "kelvin/numeric/statistics.h"
#include "kelvin/run/problem.h"
#include "kelvin/run/tempering.h"

namespace kelvin {
namespace {

// Between minibatches, at q: standard deviation of U, and mean variance of an entry of the gradient in each part.
struct BatchNoise {
  double energy = 0;
  std::vector<double> gradient;
};
template <class Real>
BatchNoise noise_of(const Problem<Real>& problem, std::span<const Real> q) {
  constexpr std::uint32_t other_walker = 1u << 30;
  constexpr std::uint64_t batches = 64;
  const auto seed = std::uint64_t(problem.settings.seed);
  Batches rows(problem.settings.batch, problem.energy->rows(), seed, other_walker);
  Energy<Real> energy = *problem.energy;
  BatchNoise noise{0, std::vector<double>(problem.recipe.parts.size(), 0.0)};
  if (rows.full() && !energy.noisy()) return noise;
  std::vector<Real> g(q.size());
  std::vector<double> means(q.size(), 0.0);
  double mean = 0, square = 0;
  for (std::uint64_t n = 0; n < batches; ++n) {
    energy.estimate.prepare({stream_key(seed, "evaluation"), other_walker, n, 0});
    const double U = energy(q, {.rows = rows(n)}, g), off = U - mean;
    mean += off / double(n + 1);
    square += off * (U - mean);
    for (std::size_t k = 0; k < noise.gradient.size(); ++k) {
      const PartRecipe& part = problem.recipe.parts[k];
      for (std::size_t i = part.offset; i < part.offset + part.size; ++i) {
        const double d = double(g[i]) - means[i];
        means[i] += d / double(n + 1);
        noise.gradient[k] += d * (double(g[i]) - means[i]) / double(part.size) / double(batches - 1);
      }
    }
  }
  noise.energy = std::sqrt(square / double(batches - 1));
  return noise;
}

// Without tempering, in the first phase that is not at temperature 0.
template <class Real>
Problem<Real> plain_problem(const RunSettings& settings, const RunEnvironment& given) {
  RunSettings plain = settings;
  plain.tempering = {};
  Problem<Real> problem;
  const auto make = [&] {
    problem = make_problem<Real>(
        plain, given.data, [](std::string_view) {}, Slack::kept, given.model);
  };
  if (settings.phase.empty()) return make(), std::move(problem);
  for (const PhaseSettings& phase : settings.phase) {
    plain.phase = {phase};
    make();
    if (problem.recipe.parts.front().temperature.at(0) > 0) break;
  }
  return problem;
}

// A bath cannot be colder than 0.
void check_room(const TemperingSettings& s, const Recipe& recipe, const Remark& remark) {
  const PartRecipe& first = recipe.parts.front();
  const double T = first.temperature.at(0), step = first.step.at(0);
  const auto check = [&](std::string_view what, double heat) {
    if (heat > T)
      remark(
          fmt::format("tempering.correct: minibatches heat {} by {:.3g}, more than T = {:.3g} that its bath can leave "
                      "out, so it stays too hot; use larger batches, more friction or a smaller step",
                      what, heat, T));
  };
  for (std::size_t k = 0; k < recipe.parts.size(); ++k) {
    const PartRecipe& part = recipe.parts[k];
    check(fmt::format("part \"{}\"", part.name),
          part.step.at(0) * s.gradient_noise[k] / (2 * part.friction.at(0) * part.mass.at(0)));
  }
  const TemperingPace pace = tempering_pace(s, T, step);
  check("alpha", step * std::pow(Ramp(s).steepest() * s.noise, 2) / (2 * pace.friction * pace.mass * T));
}

std::string remedies(const TemperingSettings& s, double budget) {
  const double strength = std::sqrt(budget / (1.6 * s.capacity * std::max(s.correlation, 1.0)));
  return fmt::format(
      "take more steps{}, temper the likelihood alone (of = \"likelihood\"), or use more friction or a larger step if "
      "U "
      "is slow to forget",
      strength < s.strength ? fmt::format(", a smaller strength (about {:.2g})", strength) : "");
}

}  // namespace

template <class Real>
RunSettings piloted(const RunSettings& settings, const RunEnvironment& environment, const Remark& remark) {
  RunSettings out = settings;
  TemperingSettings& s = out.tempering;
  if (!s.on() || s.pilot == 0 || s.capacity > 0) return out;
  const Remark silent = [](std::string_view) {};
  make_problem<Real>(settings, environment.data, silent, Slack::kept, environment.model);  // refuses before any work
  Problem<Real> problem = plain_problem<Real>(settings, environment);
  const PartRecipe& first = problem.recipe.parts.front();
  const double T = first.temperature.at(0), step = first.step.at(0);
  const Noise<Real> noise;
  Chain<Real> chain = problem.chain(0, noise);
  chain.start(problem.starting_point(
      0, [&](const std::string& place, const Block& block) { return environment.block(place, block, 0, 1); }));
  const bool heats = row_named(s.form, tempering_forms(), "form of tempering").heats,
             part = !row_named(s.of, tempering_extents(), "extent of tempering").whole;
  std::optional<Energy<Real>> likelihood;
  if (part) likelihood.emplace(problem.train->likelihood().copy()).arrange(problem.recipe.blocks);
  std::vector<Real> unused(problem.recipe.size);
  std::vector<double> energies;
  for (long n = 0; n < s.pilot; ++n) {
    chain.step_and_read();
    if (n < s.pilot / 2) continue;
    double energy = part ? (*likelihood)(chain.q(), {}, unused) : chain.reading().energy;
    for (const PartReading& read : chain.reading().parts) energy += heats ? read.kinetic_energy : 0;
    energies.push_back(energy);
  }
  const BatchNoise between = noise_of(problem, chain.q());
  s.noise = between.energy;
  s.gradient_noise = between.gradient;
  const NoisySeries found = noisy_series(energies, part ? 0 : s.noise * s.noise);
  s.reference = found.mean;
  s.capacity = found.variance / (T * T);
  s.correlation = found.tau / 2;
  const TemperingPace pace = tempering_pace(s, T, step);
  remark(fmt::format(
      "tempering: a pilot of {} steps found Var(U/T) = {:.4g}, forgotten in {:.3g} steps, and noise {:.2g} T of U; "
      "alpha has mass {:.3g} and friction {:.3g}, a round trip should take {:.3g} steps",
      s.pilot, s.capacity, s.correlation, s.noise / T, pace.mass, pace.friction, pace.round_trip));
  if (s.correct) check_room(s, problem.recipe, remark);
  const double warmup = double(settings.warmup), steps = double(settings.steps);
  if (bias_of(s).learns && s.bias_from.empty() && warmup < 20 * pace.round_trip)
    remark(fmt::format(
        "tempering: the warm-up of {} steps is shorter than 20 round trips, too short to learn the bias: {}",
        settings.warmup, remedies(s, warmup / 20)));
  else if (steps < 10 * pace.round_trip)
    remark(fmt::format("tempering: {} steps are less than 10 round trips, too few to cross barriers often: {}",
                       settings.steps, remedies(s, steps / 10)));
  return out;
}

template RunSettings piloted<float>(const RunSettings&, const RunEnvironment&, const Remark&);
template RunSettings piloted<double>(const RunSettings&, const RunEnvironment&, const Remark&);

}  // namespace kelvin
