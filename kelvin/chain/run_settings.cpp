// SPDX-License-Identifier: Apache-2.0
#include "kelvin/chain/run_settings.h"

#include "kelvin/dynamics/preset.h"

namespace kelvin {
namespace {

void at_least(long least, long given, std::string_view key) {
  if (given < least) throw Error("{} must be at least {}, not {}", key, least, given);
}

constexpr StoredWeights ways[] = {{"full", "<f4", "<f8"}, {"half", "<f2", "<f2"}, {"none", "", ""}};

}  // namespace

std::span<const StoredWeights> stored_weights() { return ways; }

RunSettings read_run_settings(const Value& given) {
  RunSettings s;
  Value file = given;
  if (auto* group = std::get_if<Value::Group>(&file.is)) {
    if (const auto model = group->find("model"); model != group->end()) read(s.model, model->second, "model");
    apply_preset(*group, s.model.layers.empty() ? 0 : s.model.layers.size() - 1);
  }
  read(s, file, "");
  for (const auto& [name, part] : s.part)
    if (!part.role.empty() && !s.preset.given())
      throw Error("part.{}.role = \"{}\" needs a preset; see `kelvin list presets`", name, part.role);
  if (s.part.empty()) s.part["all"];
  const bool toy = s.model.toy.given();
  if (toy && !s.model.layers.empty())
    throw Error("model.toy = \"{}\" and model.layers exclude each other; keep one", s.model.toy.name);
  if (!toy && s.model.layers.empty())
    throw Error(
        "the model is not given; set model.layers = [inputs, ..., outputs] or model.toy (see `kelvin list toys`)");
  if (toy && (!s.data.file.empty() || s.data.generator.given()))
    throw Error("model.toy = \"{}\" takes no data; remove [data] or give model.layers", s.model.toy.name);
  if (s.precision.empty()) s.precision = toy ? "double" : "float";
  if (s.precision != "float" && s.precision != "double")
    throw Error("precision must be \"float\" or \"double\", not \"{}\"", s.precision);
  at_least(0, s.seed, "seed");
  at_least(1, s.steps, "steps");
  at_least(0, s.warmup, "warmup");
  at_least(0, s.every, "every");
  at_least(1, s.walkers, "walkers");
  at_least(0, s.log_every, "log_every");
  at_least(0, s.checkpoint_every, "checkpoint_every");
  row_named(s.store.weights, stored_weights(), "way to store weights");
  if (toy && (s.store.predictions || s.store.log_likelihood))
    throw Error("store.predictions and store.log_likelihood need a network; model.toy = \"{}\" predicts nothing",
                s.model.toy.name);
  return s;
}

}  // namespace kelvin
