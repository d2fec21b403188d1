// SPDX-License-Identifier: Apache-2.0
// JSON that ends with a checksum of all its bytes before: a digit or letter that was changed is noticed before
// anything is read. `of` is what the text belongs to (the run, the line before): elsewhere it does not fit.
#pragma once
#include <string>
#include <string_view>

#include "kelvin/core/value.h"

namespace kelvin {

std::string sealed(const Value::Group&, std::uint32_t of = 0);  // a file: one entry a line
std::string sealed_line(const Value::Group&, std::uint32_t of,
                        std::uint32_t& sum);  // with its line break; `sum` is its own

// What was sealed, without its checksum; an Error that names `file` if it is anything else.
Value unsealed(std::string_view text, const std::string& file, std::uint32_t of = 0);
Value unsealed_line(std::string_view line, const std::string& file, std::uint32_t of, std::uint32_t& sum);

// The checksum that a line says it has, if it says one: what the next line goes on from.
bool claimed_by_line(std::string_view line, std::uint32_t& sum);

}  // namespace kelvin
