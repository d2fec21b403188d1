// SPDX-License-Identifier: Apache-2.0
#include "kelvin/run/log.h"

#include <cmath>

#include "kelvin/core/pack.h"
#include "kelvin/core/version.h"
#include "kelvin/run/tempering.h"

namespace kelvin {
namespace {

std::optional<double> unless_nan(double x) { return std::isnan(x) ? std::nullopt : std::optional(x); }

// What the warm-up of a walker has found: factors of all steps and frictions, and the steps they lead to.
LearntRecord learnt_by(double pace, double friction, const Recipe& recipe, std::uint64_t step) {
  LearntRecord out{
      .pace = pace, .friction = friction, .step = {}, .metric = {}, .factor = {}, .put_back = {}, .put_back_later = {}};
  for (const PartRecipe& part : recipe.parts) out.step[part.name] = pace * part.step.at(double(step));
  return out;
}

// Rows that there are, and where a line of the log tells of them.
template <class Real>
struct Split {
  PlacedLikelihood<Real>* network;
  std::optional<ScoreRecord> LogLine::*score;
};

template <class Real>
std::vector<Split<Real>> splits(const Problem<Real>& problem) {
  std::vector<Split<Real>> out = {{problem.train.get(), &LogLine::train},
                                  {problem.validation.get(), &LogLine::validation},
                                  {problem.test.get(), &LogLine::test}};
  std::erase_if(out, [](const auto& split) { return !split.network; });
  return out;
}

}  // namespace

template <class Real>
std::vector<WalkerReading> walker_readings(const Problem<Real>& problem, const LocalWalkers<Real>& local) {
  Packer pack;
  local.comm.together([&] {
    for (Chain<Real>& chain : local.walkers) {
      if (!local.couplings.asked_for(chain.walker())) continue;
      WalkerReading reading{.energy = chain.reading().energy,
                            .acceptance = chain.reading().acceptance,
                            .pace = chain.learnt_pace(),
                            .friction = chain.learnt_friction(),
                            .scores = {},
                            .parts = chain.reading().parts};
      for (const Split<Real>& split : splits(problem)) reading.scores.push_back(split.network->score(chain.q(), {}));
      reading.fields(pack);
    }
  });
  std::vector<WalkerReading> all;
  for (const std::string& bytes : local.comm.everyone(pack.bytes))
    for (Unpacker unpack{bytes}; !unpack.bytes.empty();) all.emplace_back().fields(unpack);
  return all;
}

template <class Real>
std::vector<LearntRecord> all_learnt(const Recipe& recipe, std::span<Chain<Real>> mine, Comm& comm) {
  Packer pack;
  for (const Chain<Real>& chain : mine) {
    const auto factor = chain.learnt_factor();
    pack(chain.learnt_pace());
    pack(chain.learnt_friction());
    pack(chain.steps());
    pack(chain.put_back());
    pack(chain.put_back_later());
    pack(std::vector<double>(factor.begin(), factor.end()));
  }
  constexpr std::size_t few = 400;
  std::vector<LearntRecord> records;
  for (const std::string& bytes : comm.everyone(pack.bytes))
    for (Unpacker unpack{bytes}; !unpack.bytes.empty();) {
      double pace = 1, friction = 1;
      std::uint64_t steps = 0, put_back = 0, put_back_later = 0;
      std::vector<double> factor;
      unpack(pace);
      unpack(friction);
      unpack(steps);
      unpack(put_back);
      unpack(put_back_later);
      unpack(factor);
      LearntRecord& record = records.emplace_back(learnt_by(pace, friction, recipe, steps));
      if (put_back > 0) record.put_back = double(put_back);
      if (put_back_later > 0) record.put_back_later = double(put_back_later);
      if (!factor.empty()) record.metric = recipe.tuning.adapt.metric;
      if (!factor.empty() && factor.size() <= few) record.factor = std::move(factor);
    }
  return records;
}

template <class Real>
std::vector<std::vector<double>> all_biases(std::span<Chain<Real>> mine, Comm& comm) {
  Packer pack;
  for (const Chain<Real>& chain : mine)
    pack(std::vector<double>(chain.learnt_bias().begin(), chain.learnt_bias().end()));
  std::vector<std::vector<double>> biases;
  for (const std::string& bytes : comm.everyone(pack.bytes))
    for (Unpacker unpack{bytes}; !unpack.bytes.empty();) unpack(biases.emplace_back());
  return biases;
}

template <class Real>
LogLine log_line(const Problem<Real>& problem, std::uint64_t step, std::span<const WalkerReading> walkers) {
  LogLine line;
  line.step = step;
  const double share = 1 / double(walkers.size());
  double energy = 0;
  for (const WalkerReading& walker : walkers) energy += share * walker.energy;
  line.potential = energy;
  const auto known = splits(problem);
  for (std::size_t k = 0; k < known.size(); ++k) {
    Score mean{0, 0, 0, 0};
    for (const WalkerReading& walker : walkers) {
      const Score& s = walker.scores[k];
      mean.loss += share * s.loss;
      mean.accuracy += share * s.accuracy;
      mean.rmse += share * s.rmse;
      mean.perplexity += share * s.perplexity;
    }
    line.*known[k].score = ScoreRecord{.loss = mean.loss,
                                       .accuracy = unless_nan(mean.accuracy),
                                       .rmse = unless_nan(mean.rmse),
                                       .perplexity = unless_nan(mean.perplexity)};
  }
  for (std::size_t k = 0; k < problem.recipe.parts.size(); ++k) {
    double kinetic = 0, configurational = 0, xi = 0, residual = NAN, tangency = NAN, fallbacks = 0;
    for (const WalkerReading& walker : walkers) {
      const PartReading& read = walker.parts[k];
      kinetic += share * read.kinetic_temperature;
      configurational += share * read.configurational_temperature;
      xi += share * read.xi;
      residual = std::fmax(residual, read.residual);
      tangency = std::fmax(tangency, read.tangency);
      fallbacks += read.fallbacks;
    }
    PartLine& part = line.part[problem.recipe.parts[k].name];
    part.kinetic_temperature = unless_nan(kinetic);
    part.configurational_temperature = unless_nan(configurational);
    part.xi = unless_nan(xi);
    part.constraint_residual = unless_nan(residual);
    if (part.constraint_residual) part.projection_fallbacks = fallbacks;
    part.tangency_residual = unless_nan(tangency);
  }
  if (problem.recipe.tuning.learns())
    line.learnt = learnt_by(walkers.front().pace, walkers.front().friction, problem.recipe, step);
  if (walkers.front().acceptance < 1) line.acceptance = walkers.front().acceptance;
  return line;
}

template <class Real>
RunRecord record_of(const Problem<Real>& problem) {
  const Dataset& train = problem.data.train;
  RunRecord record;
  record.kelvin = version();
  record.settings = problem.settings;
  record.rows = problem.energy->rows();
  for (const Block& b : problem.recipe.blocks)
    if (!b.slack()) {
      record.blocks.push_back(b.name);
      if (!b.torch.empty()) record.pytorch[b.name] = b.torch;
      if (!b.buffer()) record.parameters += b.size();
    }
  for (const PartRecipe& part : std::span(problem.recipe.parts).first(problem.recipe.told_parts())) {
    record.parts.push_back(part.name);
    const double T = part.temperature.at(0);
    PartRecord& about = record.part[part.name];
    about.scheme = part.scheme.text;
    about.size = part.size;
    about.degrees_of_freedom = part.freedom();
    about.temperature = T;
    about.posterior_temperature = problem.rows() * T;
    about.kinetic_temperature_is_exact = part.scheme.kinetic_exact;
    if (part.scheme.adaptive) about.damping = part.damping->name;
    for (const BlockConstraint& held : part.constraints) {
      about.constraint[held.block] = held.row->name;
      about.size -= held.slack_count;
    }
  }
  for (const Recipe& phase : problem.recipe.later)
    for (const PartRecipe& part : std::span(phase.parts).first(phase.told_parts()))
      record.part[part.name].later.push_back({.from_step = phase.begins, .scheme = part.scheme.text});
  if (problem.recipe.tempered) {
    const double T = tempered_temperature(problem.recipe);
    const TemperingPace pace = tempering_pace(problem.settings.tempering, T, problem.recipe.parts.front().step.at(0));
    record.tempering = {.temperature = T,
                        .mass = pace.mass,
                        .friction = pace.friction,
                        .round_trip_steps = pace.round_trip,
                        .biases = {}};
  }
  const auto units = [](const Units& u) { return UnitsRecord{.mean = u.mean, .scale = u.scale}; };
  record.inputs = {.names = train.input_names, .units = units(train.input_units)};
  record.targets = {
      .names = train.target_names, .classes = train.classes, .steps = train.steps, .units = units(train.target_units)};
  return record;
}

#define KELVIN_LOG(Real)                                                                                \
  template std::vector<WalkerReading> walker_readings(const Problem<Real>&, const LocalWalkers<Real>&); \
  template LogLine log_line(const Problem<Real>&, std::uint64_t, std::span<const WalkerReading>);       \
  template std::vector<std::vector<double>> all_biases(std::span<Chain<Real>>, Comm&);                  \
  template std::vector<LearntRecord> all_learnt(const Recipe&, std::span<Chain<Real>>, Comm&);          \
  template RunRecord record_of(const Problem<Real>&);
KELVIN_LOG(float)
KELVIN_LOG(double)
#undef KELVIN_LOG

}  // namespace kelvin
