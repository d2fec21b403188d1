// SPDX-License-Identifier: Apache-2.0
// Targets that are classes: labels, the order of the classes, and their numbers.
#pragma once
#include "kelvin/io/rows.h"

namespace kelvin {

void label(RawRows&);  // gives rows of whole numbers, or of a single 1 in one of several columns, their labels
std::vector<std::string> classes_in(const std::vector<std::string>& labels);
std::vector<std::string> kept_classes(const DataSettings&, const std::vector<std::string>& found,
                                      const std::string& file);
// Labels become 0, 1, ... Rows of classes that were not asked for go; a label unknown to the training rows is an
// error.
Dataset numbered(RawRows, const std::vector<std::string>& classes, bool some_go);

using RowList = std::vector<std::size_t>;
Dataset subset(const Dataset&, const RowList&);

}  // namespace kelvin
