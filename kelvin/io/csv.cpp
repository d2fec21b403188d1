// SPDX-License-Identifier: Apache-2.0
#include "kelvin/io/csv.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "kelvin/core/error.h"
#include "kelvin/io/bytes.h"

namespace kelvin {
namespace {

constexpr char blanks = ' ';  // as a delimiter: any run of spaces and tabs

bool ends_line(char c) { return c == '\n' || c == '\r'; }
bool blank(char c) { return c == ' ' || c == '\t'; }

// Walks over the text and writes the bare cells back into its front: they are never longer than what was read.
class Scanner {
 public:
  Scanner(std::string text, const std::string& file) : file_(file), text_(std::move(text)) {
    if (text_.starts_with("\xef\xbb\xbf")) at_ = 3;
    delimiter_ = find_delimiter();
  }

  Csv table() {
    Csv csv;
    csv.file = file_;
    std::size_t columns = 0;
    while (next_line()) {
      const std::size_t first = csv.ends.size();
      csv.lines.push_back(line_);
      do csv.ends.push_back(field());
      while (more_fields());
      const std::size_t found = csv.ends.size() - first;
      if (first == 0) columns = found;
      if (found != columns)
        throw Error("{} line {}: expected {} fields as in line {}, found {}", file_, csv.lines.back(), columns,
                    csv.lines.front(), found);
    }
    text_.resize(out_);
    csv.text = std::move(text_);
    csv.names.resize(columns);
    return csv;
  }

 private:
  bool done() const { return at_ == text_.size(); }
  char here() const { return text_[at_]; }
  bool delimits(char c) const { return delimiter_ == blanks ? blank(c) : c == delimiter_; }
  void skip_blanks() {
    while (!done() && blank(here()) && (delimiter_ == blanks || !delimits(here()))) ++at_;
  }
  void skip_line_end() {
    if (!done() && here() == '\r') ++at_;
    if (!done() && here() == '\n') ++at_;
    ++line_;
  }

  // To the first field of the next line that holds data.
  bool next_line() {
    for (;;) {
      skip_blanks();
      if (done()) return false;
      if (here() == '#')
        while (!done() && !ends_line(here())) ++at_;
      else if (!ends_line(here())) return true;
      if (!done()) skip_line_end();
    }
  }

  std::size_t field() {
    skip_blanks();
    if (!done() && here() == '"') {
      quoted();
    } else {
      std::size_t end = at_;
      while (end < text_.size() && !delimits(text_[end]) && !ends_line(text_[end])) ++end;
      std::size_t length = end - at_;
      while (length > 0 && blank(text_[at_ + length - 1])) --length;
      std::memmove(text_.data() + out_, text_.data() + at_, length);
      out_ += length;
      at_ = end;
    }
    return out_;
  }

  void quoted() {
    const std::uint32_t opened = line_;
    for (++at_;;) {
      if (done()) throw Error("{} line {}: a quote opens here and never closes; add the closing \"", file_, opened);
      const char c = text_[at_++];
      if (c == '"') {
        if (done() || here() != '"') break;
        ++at_;
      }
      line_ += c == '\n';
      text_[out_++] = c;
    }
    skip_blanks();
    if (!done() && !delimits(here()) && !ends_line(here()) && delimiter_ != blanks)
      throw Error("{} line {}: text after a closing quote; write a quote inside quotes twice", file_, line_);
  }

  // Past the delimiter, or past the end of the line.
  bool more_fields() {
    if (delimiter_ == blanks) skip_blanks();
    if (done()) return false;
    if (ends_line(here())) return skip_line_end(), false;
    if (delimiter_ != blanks) ++at_;
    return true;
  }

  char find_delimiter() {
    const std::size_t start = at_;
    const std::uint32_t line = line_;
    delimiter_ = blanks;
    std::string seen;  // the first line with data, outside quotes
    if (next_line()) {
      bool inside = false;
      for (std::size_t i = at_; i < text_.size() && (inside || !ends_line(text_[i])); ++i) {
        if (text_[i] == '"') inside = !inside;
        else if (!inside) seen += text_[i];
      }
    }
    at_ = start;
    line_ = line;
    for (const char candidate : {',', ';', '\t'})
      if (seen.find(candidate) != std::string::npos) return candidate;
    return blanks;
  }

  const std::string& file_;
  std::string text_;
  std::size_t at_ = 0, out_ = 0;
  std::uint32_t line_ = 1;
  char delimiter_ = ',';
};

bool any_number(const Csv& csv, std::size_t row) {
  for (std::size_t j = 0; j < csv.columns(); ++j)
    if (as_number(csv.cell(row, j))) return true;
  return false;
}

bool looks_like_header(const Csv& csv) {
  if (csv.rows() == 0 || any_number(csv, 0)) return false;
  for (std::size_t i = 1; i < csv.rows(); ++i)
    if (any_number(csv, i)) return true;
  return false;
}

}  // namespace

std::string_view Csv::cell(std::size_t row, std::size_t column) const {
  const std::size_t i = row * columns() + column, start = i == 0 ? 0 : ends[i - 1];
  return std::string_view(text).substr(start, ends[i] - start);
}

double Csv::number(std::size_t row, std::size_t column) const {
  const std::string_view s = cell(row, column);
  if (s.empty())
    throw Error("{} line {}: column \"{}\" is empty; fill it in or leave the row out", file, lines[row], names[column]);
  const auto x = as_number(s);
  if (!x) throw Error("{} line {}: column \"{}\" must hold numbers, not \"{}\"", file, lines[row], names[column], s);
  if (!std::isfinite(*x))
    throw Error("{} line {}: column \"{}\" holds {}; every number must be finite", file, lines[row], names[column], s);
  return *x;
}

Csv parse_csv(std::string text, const std::string& file, Header header) {
  if (text.find('\0') != std::string::npos)
    throw Error("{}: neither text nor an IDX, NPY or NPZ array; convert it to one of these", file);
  Csv csv = Scanner(std::move(text), file).table();
  csv.has_header = header == Header::yes || (header == Header::automatic && looks_like_header(csv));
  if (csv.rows() <= std::size_t(csv.has_header)) throw Error("{}: no rows of data", file);
  if (!csv.has_header) {
    csv.names = column_names(csv.columns(), "x", "y");
    return csv;
  }
  for (std::size_t j = 0; j < csv.columns(); ++j) csv.names[j] = csv.cell(0, j);
  const std::size_t length = csv.ends[csv.columns() - 1];
  csv.text.erase(0, length);
  csv.ends.erase(csv.ends.begin(), csv.ends.begin() + std::ptrdiff_t(csv.columns()));
  for (std::size_t& end : csv.ends) end -= length;
  csv.lines.erase(csv.lines.begin());
  return csv;
}

Csv read_csv(const std::string& file, Header header) { return parse_csv(read_bytes(file), file, header); }

}  // namespace kelvin
