// SPDX-License-Identifier: Apache-2.0
#include "kelvin/trajectory/biases.h"

#include "kelvin/core/record.h"
#include "kelvin/trajectory/samples.h"

namespace kelvin {

std::vector<double> stored_bias(const std::filesystem::path& run, std::size_t walker) {
  const auto record = read_record(run);
  const auto biases = record.value("tempering", nlohmann::json::object()).value("biases", nlohmann::json::array());
  if (biases.empty())
    throw Error("\"{}\" has no bias; it must be a run with [tempering] that has finished", run.string());
  return biases.at(walker % biases.size()).get<std::vector<double>>();
}

RunSettings with_pilot_of_bias(const RunSettings& given) {
  RunSettings out = given;
  TemperingSettings& mine = out.tempering;
  if (!mine.on() || mine.bias_from.empty()) return out;
  stored_bias(mine.bias_from, 0);
  const RunSettings theirs =
      read_run_settings(as_value(read_record(mine.bias_from).at("settings"), mine.bias_from + "/run.json"));
  const auto here = as_json(mine), there = as_json(theirs.tempering);
  for (const char* key : {"form", "of", "shape", "delta", "width", "strength", "bias"})
    if (here.at(key) != there.at(key))
      throw Error("tempering.{} is {}, but the bias of \"{}\" was learnt with {}; use the same", key,
                  here.at(key).dump(), mine.bias_from, there.at(key).dump());
  mine.reference = theirs.tempering.reference, mine.capacity = theirs.tempering.capacity;
  mine.correlation = theirs.tempering.correlation, mine.noise = theirs.tempering.noise;
  mine.gradient_noise = theirs.tempering.gradient_noise;
  return out;
}

}  // namespace kelvin
