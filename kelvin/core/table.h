// SPDX-License-Identifier: Apache-2.0
// A table of named cells: what diagnostics return and commands print. A value cannot lose its name.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "kelvin/core/json.h"

namespace kelvin {

struct Table {
  using Row = std::vector<std::pair<std::string, nlohmann::json>>;
  std::vector<Row> rows;
  void row(Row cells) { rows.push_back(std::move(cells)); }
};

nlohmann::json cell(double);  // null unless it is finite

// Aligned columns, in the order in which the rows first name them; numbers with six significant digits.
std::string as_text(const Table&);
std::string as_markdown(const Table&);
nlohmann::json as_json(const Table&);  // a list of objects

}  // namespace kelvin
