// SPDX-License-Identifier: Apache-2.0
#include "kelvin/run/settings.h"

#include <cmath>

#include "kelvin/core/settings.h"
#include "kelvin/dynamics/preset.h"
#include "kelvin/ensemble/exchange.h"
#include "kelvin/function/network.h"

namespace kelvin {
namespace {

void at_least(long least, long given, std::string_view key) {
  if (given < least) throw Error("{} must be at least {}, not {}", key, least, given);
}

// The settings of part `name` in a run file or a phase, empty if there are none.
const Value::Group& part_in(const Value::Group& group, const std::string& name) {
  static const Value::Group none;
  const auto parts = group.find("part");
  if (parts == group.end() || !parts->second.group()) return none;
  const auto& named = std::get<Value::Group>(parts->second.is);
  const auto part = named.find(name);
  return part == named.end() || !part->second.group() ? none : std::get<Value::Group>(part->second.is);
}

// A phase says what it changes; the rest is that of the run. With a preset of its own, only the partition is.
void complete_phase(Value::Group& phase, const Value::Group& file, std::size_t layers) {
  const auto all = file.find("part");
  if (all != file.end() && all->second.group()) {
    Value& mine = phase.try_emplace("part", placed(Value::Group(), all->second.where)).first->second;
    if (!mine.group()) return;  // refused where parts are read
    auto& parts = std::get<Value::Group>(mine.is);
    for (const auto& [name, value] : std::get<Value::Group>(all->second.is)) {
      Value& part = parts.try_emplace(name, placed(Value::Group(), value.where)).first->second;
      const Value::Group& usual = part_in(file, name);
      for (const char* key : {"blocks", "prior", "penalty", "mask", "start", "weight_decay", "constraint"})
        if (const auto own = part_in(phase, name).find(key); own != part_in(phase, name).end()) {
          const auto there = usual.find(key);
          if (there == usual.end() || there->second != own->second)
            throw Error("{}: {} of part \"{}\" cannot change from phase to phase; give it in [part.{}]",
                        own->second.where, key, name, name);
        }
      for (const auto& [key, x] : usual)
        if (part.group() && (!phase.contains("preset") || key == "blocks" || key == "role"))
          std::get<Value::Group>(part.is).emplace(key, x);
    }
  }
  apply_preset(phase, layers);
}

void check_switching(const RunSettings& s) {
  if (!s.switching.used()) return;
  if (!(s.switching.highest > 1) || !std::isfinite(s.switching.highest))
    throw Error("switching.highest must be a factor above 1, or 0 for none, not {}", s.switching.highest);
  at_least(2, s.switching.nodes, "switching.nodes");
  if (s.warmup < 1000)
    throw Error("[switching] learns its weights during warm-up and needs at least 1000 steps of it, not {}", s.warmup);
}

constexpr StoredWeights ways[] = {{"full", "<f4", "<f8"}, {"half", "<f2", "<f2"}, {"none", "", ""}};

}  // namespace

std::span<const StoredWeights> stored_weights() { return ways; }

void fill_in_temperatures(RunSettings& settings, const Choice& temperature) {
  const auto fill = [&](std::map<std::string, PartSettings>& parts) {
    for (auto& [name, part] : parts)
      if (!part.temperature.given()) part.temperature = temperature;
  };
  fill(settings.part);
  for (PhaseSettings& phase : settings.phase) fill(phase.part);
}

const RunKind& run_kind(std::string_view name) {
  static const RunKind kinds[] = {{"train", Choice::number_of("constant", "value", 0), 1},
                                  {"sample", Choice("posterior"), 1000}};
  return row_named(name, std::span<const RunKind>(kinds), "kind of run");
}

void complete(RunSettings& settings, const RunKind& kind) {
  constexpr long lines = 20;  // of the log
  fill_in_temperatures(settings, kind.temperature);
  if (!settings.every) settings.every = std::max(1L, settings.steps / kind.draws);
  if (!settings.log_every) settings.log_every = std::max(1L, (settings.warmup + settings.steps) / lines);
}

EnsembleSettings ensemble_settings(const RunSettings& run) {
  EnsembleSettings out{.coupling = run.coupling,
                       .exchange = run.exchange,
                       .batch = run.batch,
                       .walkers = run.walkers,
                       .seed = run.seed,
                       .warmup = run.warmup,
                       .masked_part = {}};
  for (const auto& [name, part] : run.part)
    if (part.mask.given()) out.masked_part = name;
  return out;
}

Value as_value(const RunSettings& settings) { return as_value<RunSettings>(settings); }

RunSettings read_run_settings(const Value& given) {
  RunSettings s;
  Value file = given;
  if (auto* group = std::get_if<Value::Group>(&file.is)) {
    if (const auto model = group->find("model"); model != group->end()) read(s.model, model->second, "model");
    const std::size_t layers = weighted_layers(s.model);
    apply_preset(*group, layers);
    if (const auto phases = group->find("phase"); phases != group->end())
      if (auto* list = std::get_if<Value::List>(&phases->second.is))
        for (Value& phase : *list)
          if (phase.group()) {
            auto& settings = std::get<Value::Group>(phase.is);
            complete_phase(settings, *group, layers);
            if (!group->contains("part") && settings.contains("part")) (*group)["part"] = settings["part"];
          }
  }
  read(s, file, "");
  if (const auto* group = std::get_if<Value::Group>(&file.is); group && group->contains("tempering"))
    if (const auto* own = std::get_if<Value::Group>(&group->at("tempering").is); own && !own->contains("form"))
      s.tempering.form = tempering_forms().front().name;
  at_least(0, s.tempering.pilot, "tempering.pilot");
  bool has_preset = s.preset.given();
  for (const PhaseSettings& phase : s.phase) has_preset |= phase.preset.given();
  for (const auto& [name, part] : s.part)
    if (!part.role.empty() && !has_preset)
      throw Error("part.{}.role = \"{}\" needs a preset; see `kelvin list presets`", name, part.role);
  if (s.part.empty()) s.part["all"];
  if (!s.phase.empty()) {
    long sum = 0;
    for (PhaseSettings& phase : s.phase) {
      at_least(1, phase.steps, "phase.steps");
      sum += phase.steps;
      if (phase.part.empty()) phase.part = s.part;
    }
    if (!std::get<Value::Group>(file.is).contains("steps")) s.steps = sum - s.warmup;
  }
  at_least(0, s.batch.anchor_every, "batch.anchor_every");
  at_least(0, s.patience.stop_after, "patience.stop_after");
  at_least(0, s.patience.reduce_after, "patience.reduce_after");
  if (!(s.patience.factor > 0 && s.patience.factor < 1))
    throw Error("patience.factor must lie between 0 and 1, not {}", s.patience.factor);
  const bool toy = s.model.toy.given(), own = !s.model.own.empty();
  if (own && (toy || !s.model.layers.empty()))
    throw Error("model.own = \"{}\" takes the place of model.layers and model.toy; keep one of them", s.model.own);
  if ((toy || own) && !s.model.onnx.empty())
    throw Error("model.onnx = \"{}\" takes the place of model.toy and model.own; keep one of them", s.model.onnx);
  if (!s.model.onnx.empty() && s.model.layers.empty())
    throw Error("model.onnx = \"{}\" has not been read; a program calls with_layers_of_onnx first", s.model.onnx);
  if (toy && !s.model.layers.empty())
    throw Error("model.toy = \"{}\" and model.layers exclude each other; keep one", s.model.toy.name);
  if (!toy && !own && s.model.layers.empty())
    throw Error(
        "the model is not given; set model.layers = [inputs, ..., outputs] or model.toy (see `kelvin list toys`)");
  if (toy && (!s.data.file.empty() || s.data.generator.given()))
    throw Error("model.toy = \"{}\" takes no data; remove [data] or give model.layers", s.model.toy.name);
  if (s.precision.empty()) s.precision = toy || own ? "double" : "float";
  if (s.precision != "float" && s.precision != "double")
    throw Error("precision must be \"float\" or \"double\", not \"{}\"", s.precision);
  at_least(0, s.seed, "seed");
  at_least(1, s.steps, "steps");
  at_least(0, s.warmup, "warmup");
  at_least(0, s.every, "every");
  at_least(1, s.walkers, "walkers");
  at_least(0, s.log_every, "log_every");
  at_least(0, s.checkpoint_every, "checkpoint_every");
  if (s.row_shares < 1 || s.row_shares > 1024 || (s.row_shares & (s.row_shares - 1)) != 0)
    throw Error("row_shares must be a power of two from 1 to 1024, not {}", s.row_shares);
  if (toy && s.row_shares > 1)
    throw Error("row_shares = {} needs rows of data; model.toy = \"{}\" has none", s.row_shares, s.model.toy.name);
  s.walkers = check_exchange(s.exchange, s.walkers, std::get<Value::Group>(file.is).contains("walkers"));
  check_switching(s);
  check_couplings(s.coupling, s.walkers);
  row_named(s.store.weights, stored_weights(), "way to store weights");
  if (toy && (s.store.predictions || s.store.log_likelihood))
    throw Error("store.predictions and store.log_likelihood need a network; model.toy = \"{}\" predicts nothing",
                s.model.toy.name);
  return s;
}

}  // namespace kelvin
