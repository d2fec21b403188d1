// SPDX-License-Identifier: Apache-2.0
// Reading a run back: what it was, and its draws.
#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>

#include "kelvin/model/potential.h"

namespace kelvin {

struct Samples {
  std::filesystem::path run;
  nlohmann::json record;  // run.json
  std::size_t walkers = 0, draws = 0;
  std::vector<std::string> blocks, parts;

  std::vector<double> block(const std::string& name, std::size_t walker) const;      // draws x size
  std::vector<double> statistic(const std::string& name, std::size_t walker) const;  // draws, or draws x parts
};

Samples open_samples(const std::filesystem::path& run);

// Values of a block from RUN (the last draw of its first walker), RUN:draw, RUN:draw:walker, or an .npz file with that
// name.
std::vector<double> stored_block(const std::string& place, const Block&);

}  // namespace kelvin
