// SPDX-License-Identifier: Apache-2.0
#include "kelvin/data/settings.h"

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

}  // namespace kelvin
