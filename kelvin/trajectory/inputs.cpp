// SPDX-License-Identifier: Apache-2.0
#include "kelvin/trajectory/inputs.h"

#include "kelvin/io/load.h"
#include "kelvin/trajectory/biases.h"
#include "kelvin/trajectory/files.h"
#include "kelvin/trajectory/samples.h"

namespace kelvin {
namespace {

std::string checksum_of(const Splits& data) {
  std::uint32_t sum = 0;
  for (const Dataset* rows : {&data.train, &data.validation, &data.test})
    for (const auto* numbers : {&rows->inputs, &rows->targets})
      sum = checksum({reinterpret_cast<const char*>(numbers->data()), numbers->size() * sizeof(double)}, sum);
  return fmt::format("{:08x}", sum);
}

}  // namespace

RunEnvironment inputs_from(const std::string& directory) {
  RunEnvironment out;
  out.data = load_from(directory);
  out.block = [=](const std::string& place, const Block& block, std::size_t walker, std::size_t walkers) {
    return stored_block(found_in(directory, place), block, walker, walkers);
  };
  out.bias = [=](const std::string& run, std::size_t walker) { return stored_bias(found_in(directory, run), walker); };
  out.pilot = [=](const RunSettings& settings) {
    return with_pilot_of(found_in(directory, settings.tempering.bias_from), settings);
  };
  out.checksum = checksum_of;
  return out;
}

}  // namespace kelvin
