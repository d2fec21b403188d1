// SPDX-License-Identifier: Apache-2.0
// Numbers and names as text.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kelvin {

std::optional<double> as_number(std::string_view);  // the whole text must be one number; nan and inf are numbers here

// x1, x2, ... - with `last` as the name of the last of several.
std::vector<std::string> column_names(std::size_t count, std::string_view stem, std::string_view last = "");

std::string option_name(std::string_view field);  // per_walker is --per-walker on the command line

// The same with control characters spelled out as JSON does, \u001b, but for line breaks and tabs: names from files
// must not command the terminal that shows them.
std::string visible(std::string_view text);

// "a, b, c" for messages; of more than twenty only the first.
std::string listed(const std::vector<std::string>& names);

}  // namespace kelvin
