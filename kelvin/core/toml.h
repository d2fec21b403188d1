// SPDX-License-Identifier: Apache-2.0
// Run files, and the settings of a command line: TOML as a tree of values with their places.
#pragma once
#include "kelvin/core/value.h"

namespace kelvin {

Value parse_toml(std::string_view text, const std::string& source);
Value read_toml(const std::string& path);

// "part.hidden.step=0.1" puts 0.1 at part.hidden.step; a right-hand side that is not TOML is taken as text. Entries of
// a list are counted from 1: "phase.2.steps=500".
void override_with(Value& root, const std::string& assignment);

}  // namespace kelvin
