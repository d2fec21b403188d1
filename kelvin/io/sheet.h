// SPDX-License-Identifier: Apache-2.0
// What a data file holds, whatever its format: named columns of numbers, or of text cells. To read another format, add
// a branch to `read_file` and `read_labels`; formats are told apart by their first bytes.
#pragma once
#include <optional>

#include "kelvin/io/csv.h"
#include "kelvin/io/load.h"

namespace kelvin {

struct Sheet {
  std::string file;
  std::vector<std::string> names;
  bool names_given = false;  // by the file, not by us
  std::size_t rows = 0;
  std::optional<Csv> csv;               // cells of text, or
  InputValues values;                   // numbers, row by row
  std::vector<std::string> texts = {};  // or the only column's texts
  Shape shape = {};                     // of a row, if it is an image

  std::size_t columns() const { return names.size(); }
  double number(std::size_t row, std::size_t column) const;  // an error names the file and the place
};

// How the numbers of an image lie in a file.
enum class Layout { channels_first, channels_last };
Layout layout_of(const DataSettings&);
// Which number of an image with its channels first is each of the same image with its channels last.
std::vector<std::size_t> channels_last_order(const Shape& image);

struct Source {
  Sheet inputs;
  std::optional<Sheet> targets;  // else they are columns of `inputs`
  bool chosen = false;           // the settings inputs and targets named arrays, not columns
};

// Where training, validation and test rows come from: each from a file, or from several one after another.
struct Sources {
  std::vector<Source> train, validation, test;
};

// `targets_needed`: a file that can hold inputs only (an IDX file, one array) is refused without labels.
Source read_source(const std::string& file, const std::string& labels_file, const DataSettings&,
                   bool targets_needed = true);

}  // namespace kelvin
