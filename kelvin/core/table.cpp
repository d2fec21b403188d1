// SPDX-License-Identifier: Apache-2.0
#include "kelvin/core/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kelvin {

nlohmann::json cell(double x) { return std::isfinite(x) ? nlohmann::json(x) : nlohmann::json(); }

namespace {

std::string shown(const nlohmann::json& cell) {
  if (cell.is_string()) return cell.get<std::string>();
  if (cell.is_number_float()) return fmt::format("{:.6g}", cell.get<double>());
  return cell.is_null() ? "-" : cell.dump();
}

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
          shown(cell);
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

nlohmann::json as_json(const Table& table) {
  auto list = nlohmann::json::array();
  for (const auto& row : table.rows) {
    auto object = nlohmann::json::object();
    for (const auto& [name, cell] : row) object[name] = cell;
    list.push_back(std::move(object));
  }
  return list;
}

}  // namespace kelvin
