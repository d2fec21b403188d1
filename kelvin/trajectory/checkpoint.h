// SPDX-License-Identifier: Apache-2.0
// checkpoint/state: everything needed to go on bit for bit. A new one takes the place of the last when it is whole.
#pragma once
#include <filesystem>

#include "kelvin/ensemble/coupling.h"
#include "kelvin/trajectory/moments.h"

namespace kelvin {

// What a walker has given to the store.
struct Kept {
  std::uint64_t warmup_draws = 0, draws = 0;
  RunningMoments moments;
  template <class Visit>
  void fields(Visit&& field) {
    field(warmup_draws), field(draws);
    moments.fields(field);
  }
};

template <class Real>
struct Checkpoint {
  std::vector<ChainState<Real>> chains;
  std::vector<Kept> kept;  // as many
  std::vector<CouplingState<Real>> couplings = {};
  ExchangeState exchange = {};
};

// `settings` is a checksum of the settings: a checkpoint fits only the run that wrote it.
template <class Real>
void write_checkpoint(const std::filesystem::path& run, std::uint32_t settings, const Checkpoint<Real>&);
template <class Real>
Checkpoint<Real> read_checkpoint(const std::filesystem::path& run, std::uint32_t settings);
template <class Real>
Checkpoint<Real> unpacked_checkpoint(const std::string& bytes, const std::filesystem::path& run,
                                     std::uint32_t settings);
std::string checkpoint_bytes(const std::filesystem::path& run);  // empty if there is none
bool has_checkpoint(const std::filesystem::path& run);

}  // namespace kelvin
