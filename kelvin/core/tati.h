// SPDX-License-Identifier: Apache-2.0
// Names of TATi, the program that Kelvin descends from, and what the same is called here (docs/tati.md).
#pragma once
#include <span>
#include <string_view>

namespace kelvin {

struct TatiName {
  std::string_view name, kind;  // kind: sampler, optimizer, option, loss, tool, analysis, method
  std::string_view here;        // what to write instead
};
std::span<const TatiName> tati_names();
const TatiName* tati_name(std::string_view);  // null if it is none of theirs

}  // namespace kelvin
