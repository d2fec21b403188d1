// SPDX-License-Identifier: Apache-2.0
// Reading a run back, finished or still growing: what it was, and its draws.
#pragma once

#include "kelvin/core/json.h"
#include "kelvin/model/potential.h"
#include "kelvin/trajectory/manifest.h"

namespace kelvin {

struct Samples {
  std::filesystem::path run;
  nlohmann::json record;  // run.json
  Manifest manifest;
  std::size_t walkers = 0, draws = 0;  // draws that every walker has on the disk
  std::vector<std::string> blocks, parts;

  std::vector<double> block(const std::string& name, std::size_t walker) const;      // draws x size
  std::vector<double> statistic(const std::string& name, std::size_t walker) const;  // draws, or draws x parts
  // Some draws of any array, "posterior/layer1.weight"; no more than its chunks are held in memory.
  std::vector<double> array(const std::string& name, std::size_t walker, std::size_t first, std::size_t count) const;
  // Mean and variance over the draws of a walker, kept while it ran; there when a run has ended or was stopped.
  std::vector<double> running_mean(const std::string& block, std::size_t walker) const;
  std::vector<double> running_variance(const std::string& block, std::size_t walker) const;
};

nlohmann::json read_record(const std::filesystem::path& run);            // run.json
std::vector<nlohmann::json> read_log(const std::filesystem::path& run);  // whole lines of log.jsonl
Samples open_samples(const std::filesystem::path& run);

// Values of a block from RUN (its last draw), RUN:draw, RUN:draw:walker, or an .npz or .safetensors file with that
// name. Where no walker is named, it is `walker` if the run has `walkers` of them, else the first.
std::vector<double> stored_block(const std::string& place, const Block&, std::size_t walker = 0,
                                 std::size_t walkers = 1);

}  // namespace kelvin
