// SPDX-License-Identifier: Apache-2.0
// Presets: names for the partitioned schemes of the papers. A preset is a set of part settings, used where the run file
// gives none; any partition can use it. To add one, add a row in preset.cpp.
#pragma once
#include <span>

#include "kelvin/core/value.h"

namespace kelvin {

enum class Layers {
  everything,
  all_but_last,
  last,
  each,
  first,
  all_but_first,
  inner,
  ends
};  // each: one part for every layer

// What one kind of part does, and which layers it has if the run file names no parts.
struct PresetRole {
  std::string_view name;
  Layers layers;
  std::string_view settings;  // as in a run file
};

struct Preset {
  std::string_view name;
  std::span<const PresetRole> roles;
  std::string_view usual;  // settings of every part, unless the run file says otherwise
  std::string_view meaning;
};
std::span<const Preset> presets();

// Fills in the settings of `part` that the run file's `preset` stands for. What a part says itself comes first, then
// its role, then what stands beside the preset's name, then what is usual.
void apply_preset(Value::Group& file, std::size_t layers);

}  // namespace kelvin
