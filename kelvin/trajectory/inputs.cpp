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
  const auto add = [&](std::span<const double> numbers) {
    sum = checksum({reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes()}, sum);
  };
  std::vector<double> piece;  // that of bytes is that of the numbers they stand for
  for (const Dataset* rows : {&data.train, &data.validation, &data.test}) {
    for (std::size_t first = 0; first < rows->inputs.size(); first += piece.size()) {
      piece.resize(std::min(rows->inputs.size() - first, std::size_t(1) << 16));
      rows->inputs.copy(first, piece);
      add(piece);
    }
    add(rows->targets);
  }
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
