// SPDX-License-Identifier: Apache-2.0
// The file of numbers that grids and trajectories leave: named columns, .csv or .npz.
#pragma once
#include "kelvin/trajectory/samples.h"

namespace kelvin {

// A column of a table, and the array that it is in a .npz file.
struct NumberColumn {
  std::string name;
  std::vector<double> each_row;
  std::vector<std::size_t> shape;
  std::vector<double> array;  // if empty, each_row
};

inline constexpr std::string_view meaning_of_numbers_file = "file for the numbers, .csv or .npz";
struct NumbersFile {
  std::string name;  // empty: NAME.csv among the run's analyses
  bool force = false;
};
// Before hours of work: the file may be written.
std::string numbers_file_for(const Samples&, const NumbersFile&, const std::string& name);

void write_columns(const std::string& file, const std::vector<NumberColumn>&);

}  // namespace kelvin
