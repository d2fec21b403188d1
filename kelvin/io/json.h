// SPDX-License-Identifier: Apache-2.0
// JSON, read into values and written from them.
#pragma once
#include <string>
#include <string_view>

#include "kelvin/core/value.h"

namespace kelvin {

// `source` is what the text was read from; it is the place of every value and is named in errors.
Value parse_json(std::string_view text, const std::string& source);

// Keys in order, each on a line of its own if `indent` is not below 0; numbers that are not finite are null.
std::string to_json(const Value&, int indent = -1);

}  // namespace kelvin
