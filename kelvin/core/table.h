// SPDX-License-Identifier: Apache-2.0
// A table of named cells: what diagnostics return and commands print. A value cannot lose its name.
#pragma once
#include <concepts>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "kelvin/core/value.h"

namespace kelvin {

struct Table {
  // Nothing, a truth, a whole number, a number or a text.
  struct Cell {
    std::variant<std::monostate, bool, long, double, std::string> is;

    Cell();
    Cell(const Cell&);
    Cell(Cell&&) noexcept;
    Cell& operator=(const Cell&);
    Cell& operator=(Cell&&) noexcept;
    ~Cell();
    Cell(std::string);
    Cell(std::string_view);
    Cell(const char*);
    Cell(std::nullptr_t) = delete;  // Cell() is nothing
    Cell(std::same_as<bool> auto x) : is(x) {}
    template <std::integral Integer>
    requires(!std::same_as<Integer, bool>) Cell(Integer x) : is(long(x)) {}
    Cell(std::floating_point auto x) : is(double(x)) {}
    friend bool operator==(const Cell&, const Cell&) = default;
    std::optional<double> number() const;  // whole or not
    std::string text() const;              // as tables show it
  };
  using Row = std::vector<std::pair<std::string, Cell>>;
  std::vector<Row> rows;
  void row(Row cells) { rows.push_back(std::move(cells)); }
};

Table::Cell cell(double);        // nothing unless it is finite
Table::Cell cell(const Value&);  // of anything but lists and groups

// Aligned columns, in the order in which the rows first name them; numbers with six significant digits.
std::string as_text(const Table&);
std::string as_markdown(const Table&);
Value as_value(const Table::Cell&);
Value as_value(const Table&);  // a list of groups

}  // namespace kelvin
