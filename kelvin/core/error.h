// SPDX-License-Identifier: Apache-2.0
// The one exception type, and the channel for remarks that do not stop a run. The library never prints.
#pragma once
#include <fmt/core.h>

#include <functional>
#include <stdexcept>
#include <string_view>

namespace kelvin {

// A message says what was given, what is allowed and what to do, in one sentence.
struct Error : std::runtime_error {
  template <class... Args>
  explicit Error(fmt::format_string<Args...> text, Args&&... args)
      : std::runtime_error(fmt::format(text, std::forward<Args>(args)...)) {}
};

// What is said of an exception: an Error's own words; of those of the standard library what they mean and what to do.
std::string sentence_of(const std::exception&);

using Remark = std::function<void(std::string_view)>;

}  // namespace kelvin
