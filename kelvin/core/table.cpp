// SPDX-License-Identifier: Apache-2.0
#include "kelvin/core/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kelvin/core/error.h"

namespace kelvin {

Table::Cell::Cell() = default;
Table::Cell::Cell(const Cell&) = default;
Table::Cell::Cell(Cell&&) noexcept = default;
Table::Cell& Table::Cell::operator=(const Cell&) = default;
Table::Cell& Table::Cell::operator=(Cell&&) noexcept = default;
Table::Cell::~Cell() = default;
Table::Cell::Cell(std::string x) : is(std::move(x)) {}
Table::Cell::Cell(std::string_view x) : is(std::string(x)) {}
Table::Cell::Cell(const char* x) : is(std::string(x)) {}

Table::Cell cell(double x) { return std::isfinite(x) ? Table::Cell(x) : Table::Cell(); }

Table::Cell cell(const Value& v) {
  return std::visit(
      [&]<class T>(const T& x) -> Table::Cell {
        if constexpr (std::is_same_v<T, std::monostate>) return {};
        else if constexpr (std::is_same_v<T, double>) return cell(x);
        else if constexpr (std::is_constructible_v<Table::Cell, T>) return x;
        else throw Error("{}: {} is in the place of one cell of a table", v.where, v.kind());
      },
      v.is);
}

std::optional<double> Table::Cell::number() const {
  if (const auto* x = std::get_if<double>(&is)) return *x;
  if (const auto* x = std::get_if<long>(&is)) return double(*x);
  return {};
}

std::string Table::Cell::text() const {
  return std::visit(
      []<class T>(const T& x) -> std::string {
        if constexpr (std::is_same_v<T, std::monostate>) return "-";
        else if constexpr (std::is_same_v<T, double>) return fmt::format("{:.6g}", x);
        else return fmt::format("{}", x);
      },
      is);
}

namespace {

// The first line holds the names; a cell that a row does not have is empty.
std::vector<std::vector<std::string>> laid_out(const Table& table) {
  std::vector<std::vector<std::string>> lines(1);
  auto& names = lines.front();
  for (const auto& row : table.rows)
    for (const auto& [name, cell] : row)
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  for (const auto& row : table.rows) {
    std::vector<std::string> line(lines.front().size());
    for (const auto& [name, cell] : row)
      line[std::size_t(std::find(lines.front().begin(), lines.front().end(), name) - lines.front().begin())] =
          cell.text();
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace

std::string as_text(const Table& table) {
  const auto lines = laid_out(table);
  std::vector<std::size_t> width(lines.front().size(), 0);
  for (const auto& line : lines)
    for (std::size_t c = 0; c < line.size(); ++c) width[c] = std::max(width[c], line[c].size());
  std::string text;
  for (const auto& line : lines) {
    std::string out;
    for (std::size_t c = 0; c < line.size(); ++c)
      out += fmt::format("{:<{}}", line[c], c + 1 < line.size() ? width[c] + 2 : 0);
    text += out.erase(out.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

std::string as_markdown(const Table& table) {
  std::string text;
  for (const auto& line : laid_out(table)) {
    text += "|";
    for (std::string cell : line) {
      for (std::size_t at = 0; (at = cell.find('|', at)) != std::string::npos; at += 2) cell.insert(at, 1, '\\');
      text += " " + cell + " |";
    }
    text += "\n";
    if (std::count(text.begin(), text.end(), '\n') == 1) {
      text += "|";
      for (std::size_t c = 0; c < line.size(); ++c) text += " --- |";
      text += "\n";
    }
  }
  return text;
}

Value as_value(const Table::Cell& cell) {
  return std::visit(
      []<class T>(const T& x) -> Value {
        if constexpr (std::is_same_v<T, std::monostate>) return {};
        else return x;
      },
      cell.is);
}

Value as_value(const Table& table) {
  Value::List list;
  for (const auto& row : table.rows) {
    Value::Group group;
    for (const auto& [name, cell] : row) group[name] = as_value(cell);
    list.push_back(std::move(group));
  }
  return list;
}

}  // namespace kelvin
