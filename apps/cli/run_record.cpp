// SPDX-License-Identifier: Apache-2.0
#include "apps/cli/run_record.h"

#include <cmath>

#include "apps/cli/command.h"
#include "kelvin/run/tempering.h"
#include "kelvin/core/pack.h"
#include "kelvin/core/record.h"
#include "kelvin/core/version.h"

namespace kelvin::cli {
namespace {

nlohmann::json as_json(const Score& s) {
  nlohmann::json out = {{"loss", s.loss}};
  if (!std::isnan(s.accuracy)) out["accuracy"] = s.accuracy;
  if (!std::isnan(s.rmse)) out["rmse"] = s.rmse;
  return out;
}

// What the warm-up of a walker has found: factors of all steps and frictions, and the steps they lead to.
nlohmann::json learnt_by(double pace, double friction, const Recipe& recipe, std::uint64_t step) {
  nlohmann::json out = {{"pace", pace}, {"friction", friction}};
  for (const PartRecipe& part : recipe.parts) out["step"][part.name] = pace * part.step.at(double(step));
  return out;
}

template <class Real>
std::vector<std::pair<const char*, Likelihood<Real>*>> splits(const Problem<Real>& problem) {
  std::vector<std::pair<const char*, Likelihood<Real>*>> out = {
      {"train", problem.train.get()}, {"validation", problem.validation.get()}, {"test", problem.test.get()}};
  std::erase_if(out, [](const auto& split) { return !split.second; });
  return out;
}

}  // namespace

std::string shown(std::string_view split, const nlohmann::json& score) {
  std::string text(split);
  for (const auto& [name, x] : score.items())
    text += name == "accuracy" ? fmt::format(" {:.2f} %", 100 * x.get<double>())
                               : fmt::format(" {} {:.4g}", name, x.get<double>());
  return text;
}

template <class Real>
std::vector<WalkerState> walker_states(const Problem<Real>& problem, std::span<Chain<Real>> mine, Comm& comm) {
  Packer pack;
  const std::size_t rungs = rungs_of(problem.settings.exchange).size();
  comm.together([&] {
    for (Chain<Real>& chain : mine) {
      if (chain.walker() % rungs != 0) continue;
      WalkerState state{
          chain.reading().energy, chain.reading().acceptance, chain.learnt_pace(), chain.learnt_friction(), {},
          chain.reading().parts};
      for (const auto& [name, network] : splits(problem)) state.scores.push_back(network->score(chain.q(), {}));
      state.fields(pack);
    }
  });
  std::vector<WalkerState> all;
  for (const std::string& bytes : comm.everyone(pack.bytes))
    for (Unpacker unpack{bytes}; !unpack.bytes.empty();) all.emplace_back().fields(unpack);
  return all;
}

template <class Real>
nlohmann::json all_learnt(std::span<Chain<Real>> mine, Comm& comm) {
  constexpr std::size_t few = 400;
  auto lines = nlohmann::json::array(), all = nlohmann::json::array();
  for (const Chain<Real>& chain : mine) {
    auto& line =
        lines.emplace_back(learnt_by(chain.learnt_pace(), chain.learnt_friction(), chain.recipe(), chain.steps()));
    const auto factor = chain.learnt_factor();
    if (!factor.empty()) line["metric"] = chain.recipe().tuning.adapt.metric;
    if (!factor.empty() && factor.size() <= few) line["factor"] = std::vector<double>(factor.begin(), factor.end());
  }
  for (const std::string& text : comm.everyone(lines.dump()))
    for (auto& line : nlohmann::json::parse(text)) all.push_back(std::move(line));
  return all;
}

template <class Real>
nlohmann::json all_biases(std::span<Chain<Real>> mine, Comm& comm) {
  auto lines = nlohmann::json::array(), all = nlohmann::json::array();
  for (const Chain<Real>& chain : mine)
    lines.push_back(std::vector<double>(chain.learnt_bias().begin(), chain.learnt_bias().end()));
  for (const std::string& text : comm.everyone(lines.dump()))
    for (auto& line : nlohmann::json::parse(text)) all.push_back(std::move(line));
  return all;
}

template <class Real>
nlohmann::json state_of(const Problem<Real>& problem, std::uint64_t step, std::span<const WalkerState> walkers) {
  nlohmann::json line = {{"step", step}};
  const double share = 1 / double(walkers.size());
  double energy = 0;
  for (const WalkerState& walker : walkers) energy += share * walker.energy;
  line["potential"] = energy;
  const auto known = splits(problem);
  for (std::size_t k = 0; k < known.size(); ++k) {
    Score mean{0, 0, 0};
    for (const WalkerState& walker : walkers) {
      const Score& s = walker.scores[k];
      mean.loss += share * s.loss, mean.accuracy += share * s.accuracy, mean.rmse += share * s.rmse;
    }
    line[known[k].first] = as_json(mean);
  }
  for (std::size_t k = 0; k < problem.recipe.parts.size(); ++k) {
    double kinetic = 0, configurational = 0, xi = 0, residual = NAN, tangency = NAN, fallbacks = 0;
    for (const WalkerState& walker : walkers) {
      const PartReading& read = walker.parts[k];
      kinetic += share * read.kinetic_temperature, configurational += share * read.configurational_temperature;
      xi += share * read.xi;
      residual = std::fmax(residual, read.residual), tangency = std::fmax(tangency, read.tangency);
      fallbacks += read.fallbacks;
    }
    auto& part = line["part"][problem.recipe.parts[k].name];
    if (!std::isnan(kinetic)) part["kinetic_temperature"] = kinetic;
    if (!std::isnan(configurational)) part["configurational_temperature"] = configurational;
    if (!std::isnan(xi)) part["xi"] = xi;
    if (!std::isnan(residual)) part["constraint_residual"] = residual, part["projection_fallbacks"] = fallbacks;
    if (!std::isnan(tangency)) part["tangency_residual"] = tangency;
  }
  if (problem.recipe.tuning.learns())
    line["learnt"] = learnt_by(walkers.front().pace, walkers.front().friction, problem.recipe, step);
  if (walkers.front().acceptance < 1) line["acceptance"] = walkers.front().acceptance;
  return line;
}

nlohmann::json as_json(const ExchangeState& s) {
  nlohmann::json out = {{"temperatures", s.rungs}, {"attempts", s.counted}, {"round_trips", s.trips}};
  for (std::size_t k = 0; k < s.tries.size(); ++k)
    out["acceptance"].push_back(s.tries[k] > 0 ? s.chance[k] / s.tries[k] : 0);
  for (std::size_t k = 0; k < s.rising.size(); ++k)
    out["rising"].push_back(s.headed[k] > 0 ? s.rising[k] / s.headed[k] : 0);
  return out;
}

std::string note_of(const nlohmann::json& line, const Reading& reading) {
  std::string note = line.contains("train") ? shown("train", line["train"]) : fmt::format("U {:.4g}", reading.energy);
  for (const PartReading& part : reading.parts)
    if (!std::isnan(part.xi)) note += fmt::format(" xi {:.3g}", part.xi);
  return note;
}

template <class Real>
nlohmann::json record_of(const Problem<Real>& problem, const std::string& command) {
  nlohmann::json record = {{"kelvin", std::string(version())}, {"command", command},
                           {"command_line", command_line},     {"settings", as_json(problem.settings)},
                           {"rows", problem.data.train.rows},  {"parameters", 0}};
  std::size_t parameters = 0;
  for (const Block& b : problem.recipe.blocks)
    if (!b.slack()) record["blocks"].push_back(b.name), parameters += b.size();
  record["parameters"] = parameters;
  for (const PartRecipe& part : std::span(problem.recipe.parts).first(problem.recipe.told_parts())) {
    record["parts"].push_back(part.name);
    const double T = part.temperature.at(0);
    record["part"][part.name] = {{"scheme", part.scheme.text},
                                 {"size", part.size},
                                 {"degrees_of_freedom", part.freedom()},
                                 {"temperature", T},
                                 {"posterior_temperature", problem.rows() * T},
                                 {"kinetic_temperature_is_exact", part.scheme.kinetic_exact}};
    if (part.scheme.adaptive) record["part"][part.name]["damping"] = part.damping->name;
    for (const HeldConstraint& held : part.constraints) {
      record["part"][part.name]["constraint"][held.block] = held.row->name;
      record["part"][part.name]["size"] = record["part"][part.name]["size"].get<std::size_t>() - held.slack_count;
    }
  }
  for (const Recipe& phase : problem.recipe.later)
    for (const PartRecipe& part : std::span(phase.parts).first(phase.told_parts()))
      record["part"][part.name]["later"].push_back({{"from_step", phase.begins}, {"scheme", part.scheme.text}});
  if (problem.recipe.tempered) {
    const double T = tempered_temperature(problem.recipe);
    const TemperingPace pace = tempering_pace(problem.settings.tempering, T, problem.recipe.parts.front().step.at(0));
    record["tempering"] = {
        {"temperature", T}, {"mass", pace.mass}, {"friction", pace.friction}, {"round_trip_steps", pace.round_trip}};
  }
  const auto units = [](const Units& u) { return nlohmann::json{{"mean", u.mean}, {"scale", u.scale}}; };
  record["inputs"] = {{"names", problem.data.train.input_names}, {"units", units(problem.data.train.input_units)}};
  record["targets"] = {{"names", problem.data.train.target_names},
                       {"units", units(problem.data.train.target_units)},
                       {"classes", problem.data.train.classes}};
  return record;
}

#define KELVIN_RECORD(Real)                                                                             \
  template std::vector<WalkerState> walker_states(const Problem<Real>&, std::span<Chain<Real>>, Comm&); \
  template nlohmann::json state_of(const Problem<Real>&, std::uint64_t, std::span<const WalkerState>);  \
  template nlohmann::json all_biases(std::span<Chain<Real>>, Comm&);                                    \
  template nlohmann::json all_learnt(std::span<Chain<Real>>, Comm&);                                    \
  template nlohmann::json record_of(const Problem<Real>&, const std::string&);
KELVIN_RECORD(float)
KELVIN_RECORD(double)

}  // namespace kelvin::cli
