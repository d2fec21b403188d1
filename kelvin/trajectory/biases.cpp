// SPDX-License-Identifier: Apache-2.0
#include "kelvin/trajectory/biases.h"

#include "kelvin/io/json.h"
#include "kelvin/trajectory/samples.h"

namespace kelvin {

std::vector<double> stored_bias(const std::filesystem::path& run, std::size_t walker) {
  const RunRecord record = read_record(run);
  if (!record.tempering || record.tempering->biases.empty())
    throw Error("\"{}\" has no bias; it must be a run with [tempering] that has finished", run.string());
  return record.tempering->biases[walker % record.tempering->biases.size()];
}

RunSettings with_pilot_of(const std::filesystem::path& run, const RunSettings& given) {
  RunSettings out = given;
  TemperingSettings& mine = out.tempering;
  if (!mine.on()) return out;
  stored_bias(run, 0);
  const RunSettings theirs = read_record(run).settings;
  const Value here = as_value(mine), there = as_value(theirs.tempering);
  for (const char* key : {"form", "of", "shape", "delta", "width", "strength", "bias"})
    if (here.at(key) != there.at(key))
      throw Error("tempering.{} is {}, but the bias of \"{}\" was learnt with {}; use the same", key,
                  to_json(here.at(key)), mine.bias_from, to_json(there.at(key)));
  mine.reference = theirs.tempering.reference;
  mine.capacity = theirs.tempering.capacity;
  mine.correlation = theirs.tempering.correlation;
  mine.noise = theirs.tempering.noise;
  mine.gradient_noise = theirs.tempering.gradient_noise;
  return out;
}

}  // namespace kelvin
