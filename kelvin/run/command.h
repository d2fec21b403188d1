// SPDX-License-Identifier: Apache-2.0
// What can be asked of a run while it runs. A command is taken between rounds; one that changes what is computed is
// recorded with its step, so that the run repeats.
#pragma once
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "kelvin/core/value.h"

namespace kelvin {

struct Pause {};
struct Continue {};
struct Stop {};  // with a checkpoint, from which it can be resumed
struct Save {};  // a checkpoint now
struct MoreSteps {
  std::uint64_t steps = 0;  // than were planned
};
// Settings of some parts from the next step on, as a run file gives them in [part.NAME]; they last until the next
// phase.
struct NewPhase {
  std::map<std::string, Value> part;
};
using Command = std::variant<Pause, Continue, Stop, Save, MoreSteps, NewPhase>;

// As bytes, for other ranks.
std::string packed(const std::vector<Command>&);
std::vector<Command> unpacked_commands(std::string_view bytes);

}  // namespace kelvin
