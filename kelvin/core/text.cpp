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

std::string listed(const std::vector<std::string>& names) {
  std::string list;
  for (std::size_t j = 0; j < names.size() && j < 20; ++j) list += (j ? ", " : "") + names[j];
  return names.size() > 20 ? list + ", ..." : list;
}

}  // namespace kelvin
