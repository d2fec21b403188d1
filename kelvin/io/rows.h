// SPDX-License-Identifier: Apache-2.0
// Columns of a source, chosen by name or number, and the rows they make.
#pragma once
#include "kelvin/io/load.h"
#include "kelvin/io/sheet.h"

namespace kelvin {

using Columns = std::vector<std::size_t>;

Columns columns(const std::vector<Word>& wanted, const Sheet&);
Columns all_but(const Columns& left_out, const Sheet&);
Columns named(const std::vector<std::string>&, const Sheet&);  // none if one is missing

// A dataset whose targets may still be texts, and where its rows came from.
struct RawRows {
  Dataset data;
  std::vector<std::string> labels;  // instead of data.targets
  std::string file;                 // of the targets
  std::vector<std::uint32_t> lines;
  std::vector<std::pair<std::size_t, std::string>> later_files = {};  // that were appended, each with its first row
  std::string where(std::size_t row) const;
};

struct Wanted {
  Columns inputs, targets;  // no targets: the rows have none
  bool classes, texts_allowed;
  Shape shape = {};  // of a row of inputs
};

// The shape of an image that these columns are, if they are one; puts them in the order in which it lies in memory.
Shape arrange_images(Columns& inputs, const DataSettings&, const Sheet&);

void append(RawRows&, RawRows more);

RawRows rows_of(Source&, const Wanted&, const std::vector<std::string>& derived);

}  // namespace kelvin
