// SPDX-License-Identifier: Apache-2.0
// Everything a run needs to go on bit for bit, besides its record.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace kelvin {

struct Checkpoint {
  std::uint64_t step = 0;                        // that all walkers have done
  std::uint64_t evaluations = 0;                 // of gradients, by all walkers
  std::uint64_t draws = 0;                       // of the first walker
  std::vector<std::string> walkers;              // the state of each, as bytes
  std::map<std::string, std::string> couplings;  // by name
  std::string patience;
  bool last = false;  // the run has ended or was stopped
};

}  // namespace kelvin
