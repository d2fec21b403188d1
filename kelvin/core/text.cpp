// SPDX-License-Identifier: Apache-2.0
#include "kelvin/core/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

namespace kelvin {

std::optional<double> as_number(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  double x = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), x);
  if (text.empty() || end != text.data() + text.size() || status == std::errc::invalid_argument) return {};
  if (status == std::errc::result_out_of_range) return std::strtod(std::string(text).c_str(), nullptr);  // 0 or inf
  return x;
}

std::vector<std::string> column_names(std::size_t count, std::string_view stem, std::string_view last) {
  std::vector<std::string> names;
  for (std::size_t j = 1; j <= count; ++j) names.push_back(fmt::format("{}{}", stem, j));
  if (count > 1 && !last.empty()) names.back() = last;
  return names;
}

std::string option_name(std::string_view field) {
  std::string option = "--" + std::string(field);
  std::replace(option.begin(), option.end(), '_', '-');
  return option;
}

// In UTF-8 the controls beyond ASCII, U+0080 to U+009F, are the byte 0xc2 and one from 0x80 to 0x9f. The marks that
// turn the direction of writing, U+202A to U+202E and U+2066 to U+2069, would make a name look like another.
std::string visible(std::string_view text) {
  std::string out;
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const unsigned c = byte(i), next = byte(i + 1), last = byte(i + 2);
    const bool turns =
        c == 0xe2 && ((next == 0x80 && last >= 0xaa && last <= 0xae) || (next == 0x81 && last >= 0xa6 && last <= 0xa9));
    if (c == 0xc2 && next >= 0x80 && next <= 0x9f) {
      out += fmt::format("\\u{:04x}", next);
      ++i;
    } else if (turns) {
      out += fmt::format("\\u{:04x}", 0x2000 + ((next & 1) << 6) + (last & 0x3f));
      i += 2;
    } else if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7f) {
      out += fmt::format("\\u{:04x}", c);
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string listed(const std::vector<std::string>& names) {
  std::string list;
  for (std::size_t j = 0; j < names.size() && j < 20; ++j) list += (j ? ", " : "") + names[j];
  return names.size() > 20 ? list + ", ..." : list;
}

}  // namespace kelvin
