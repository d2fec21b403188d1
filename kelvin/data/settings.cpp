// SPDX-License-Identifier: Apache-2.0
#include "kelvin/data/settings.h"

#include <fmt/ranges.h>

#include "kelvin/core/settings.h"

namespace kelvin {

void assign(Word& word, const Value& v, const std::string& key) {
  double number = 0;
  if (std::holds_alternative<std::string>(v.is)) {
    assign(word.text, v, key);
  } else {
    assign(number, v, key);
    word.text = fmt::format("{}", number);
  }
}

Value as_value(const Word& word) { return word.text; }

std::string Files::text() const { return fmt::format("{}", fmt::join(names, ", ")); }

void assign(Files& files, const Value& v, const std::string& key) { assign(files.names, v, key); }

Value as_value(const Files& files) {
  if (files.names.size() > 1) return as_value(files.names);
  return files.empty() ? std::string() : files.first();
}

}  // namespace kelvin
