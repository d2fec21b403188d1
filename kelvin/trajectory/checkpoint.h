// SPDX-License-Identifier: Apache-2.0
// checkpoint/state: everything needed to go on bit for bit. A new one takes the place of the last when it is whole.
#pragma once
#include <filesystem>

#include "kelvin/core/pack.h"
#include "kelvin/numeric/moments.h"
#include "kelvin/run/checkpoint.h"
#include "kelvin/run/settings.h"

namespace kelvin {

// What the store has of a walker.
struct WalkerTotals {
  std::uint64_t warmup_draws = 0, draws = 0;
  RunningMoments moments;
  template <class Visit>
  void fields(Visit&& field) {
    field(warmup_draws);
    field(draws);
    moments.fields(field);
  }
};

struct StoredCheckpoint {
  Checkpoint run;
  std::vector<WalkerTotals> totals;  // of each walker
};

// `settings` is a checksum of the settings: a checkpoint fits only the run that wrote it.
void write_checkpoint(const std::filesystem::path& run, std::uint32_t settings, const StoredCheckpoint&);
StoredCheckpoint read_checkpoint(const std::filesystem::path& run, std::uint32_t settings);
StoredCheckpoint unpacked_checkpoint(const std::string& bytes, const std::filesystem::path& run,
                                     std::uint32_t settings);
std::string checkpoint_bytes(const std::filesystem::path& run);  // empty if there is none
bool has_checkpoint(const std::filesystem::path& run);

// Between ranks.
void pack_checkpoint(Packer&, const Checkpoint&);
Checkpoint unpacked_run(Unpacker&);

std::uint32_t settings_checksum(const RunSettings&);

}  // namespace kelvin
