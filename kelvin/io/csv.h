// SPDX-License-Identifier: Apache-2.0
// Tables of text (CSV), plain or gzip. Lines that begin with # and empty lines are skipped; a field may stand in double
// quotes and then hold delimiters, line ends and doubled quotes; blanks around a field are dropped.
// The delimiter is the first of comma, semicolon, tab that occurs in the first line, outside quotes; else blanks.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kelvin/core/text.h"

namespace kelvin {

// automatic: the first line names the columns if none of its fields is a number and some later line has a number.
enum class Header { automatic, yes, no };

struct Csv {
  std::string file;
  bool has_header = false;
  std::vector<std::string> names;    // of the header; without one x1, x2, ... and y for the last
  std::vector<std::uint32_t> lines;  // of each row, counted from 1
  std::string text;                  // all cells one after another: one block, not a string for each
  std::vector<std::size_t> ends;     // of each cell in `text`, row by row

  std::size_t rows() const { return lines.size(); }
  std::size_t columns() const { return names.size(); }
  std::string_view cell(std::size_t row, std::size_t column) const;
  double number(std::size_t row, std::size_t column) const;  // an error names file, line, column and what stands there
};

Csv parse_csv(std::string text, const std::string& file, Header = Header::automatic);
Csv read_csv(const std::string& file, Header = Header::automatic);

}  // namespace kelvin
