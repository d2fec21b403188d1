// SPDX-License-Identifier: Apache-2.0
// Reading a run back, finished or still growing: what it was, and its draws.
#pragma once

#include <memory>

#include "kelvin/energy/potential.h"
#include "kelvin/trajectory/chunk_sums.h"
#include "kelvin/trajectory/log_file.h"
#include "kelvin/trajectory/zarr.h"

namespace kelvin {

// Of weighted draws, those that stand for the law that was asked for: about as many as they are worth, (sum w)^2 over
// the sum of w^2, each as often as its weight says, in their order. Draws of weight 0 and 1: those of weight 1.
std::vector<std::size_t> drawn_by_weight(std::span<const double> log_weights);

// `every` draw as it is stored, or only those that follow the law asked for.
enum class Which { asked_for, every };

struct Samples {
  std::filesystem::path run;
  RunRecord record;  // run.json
  Manifest manifest;
  std::shared_ptr<const ChunkSums> chunks;
  std::size_t walkers = 0, draws = 0;  // draws that every walker has on the disk, as far as they are looked at
  std::vector<std::size_t> stored;     // numbers of the walkers looked at: those at the temperature that was asked for
  std::vector<std::vector<std::size_t>> chosen;  // of each walker, the stored draws looked at; empty for all
  double worth = 1;                              // of a stored draw, by its weight: what share of them was chosen
  std::vector<std::string> blocks, parts;

  std::vector<double> block(const std::string& name, std::size_t walker) const;      // draws x size
  std::vector<double> statistic(const std::string& name, std::size_t walker) const;  // draws, or draws x parts
  ZarrShape shape(const std::string& array) const;  // of "posterior/layer1.weight", "moments/layer1.weight"
  // Some draws of any array, "posterior/layer1.weight"; no more than its chunks are held in memory.
  std::vector<double> array(const std::string& name, std::size_t walker, std::size_t first, std::size_t count) const;
  // Mean and variance over the draws of a walker, kept while it ran; there when a run has ended or was stopped.
  std::vector<double> running_mean(const std::string& block, std::size_t walker) const;
  std::vector<double> running_variance(const std::string& block, std::size_t walker) const;
};

RunRecord parse_record(std::string_view text, const std::string& file);
LogLine parse_log_line(std::string_view text, const std::string& file);
RunRecord read_record(const std::filesystem::path& run);  // run.json
void write_record(const std::filesystem::path& run, const RunRecord&, bool durable = true);
Samples open_samples(const std::filesystem::path& run, Which = Which::asked_for);

// Values of a block from RUN (its last draw), RUN:draw, RUN:draw:walker, or a file (state_file.h). Where no walker is
// named, it is `walker` if the run has `walkers` of them, else the first.
std::vector<double> stored_block(const std::string& place, const Block&, std::size_t walker = 0,
                                 std::size_t walkers = 1);

}  // namespace kelvin
