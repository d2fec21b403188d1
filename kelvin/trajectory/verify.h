// SPDX-License-Identifier: Apache-2.0
// Everything of a run is read and compared with what manifest.json names. What is damaged can be made again: draws are
// a pure function of the settings, so that it is taken out of the run, and resuming computes it once more.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace kelvin {

// What is to be done about a file that is damaged.
enum class Remedy {
  none,           // the settings are lost
  start_again,    // nothing tells any more which draws are there
  compute_again,  // resuming does so, from the start or from the checkpoint
  rewrite,        // resuming does so, whatever the file holds
  set_aside,      // nothing depends on it
};

struct Damage {
  std::string file;      // in the run
  std::string sentence;  // names it too
  Remedy remedy = Remedy::none;
};

struct Verification {
  std::vector<Damage> damage;
  std::vector<std::uint64_t> named, draws;  // of each walker: those that the manifest names, those that are intact
  std::vector<std::uint64_t> warmup_draws;
  std::uint64_t files = 0, bytes = 0;  // that were read
  bool intact() const { return damage.empty(); }
};

Verification verify(const std::filesystem::path& run);

// Refuses a run that must not be added to.
void check_all(const std::filesystem::path& run);

// Takes what is damaged out of the run; what is left can be resumed, or is whole. The sentences tell what was done.
std::vector<std::string> repair(const std::filesystem::path& run);

}  // namespace kelvin
