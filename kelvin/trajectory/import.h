// SPDX-License-Identifier: Apache-2.0
// Draws that another program made, stored as a run that has no potential and no parts: what reads draws of runs reads
// them. To read another format, write its function and its row in import.cpp.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "kelvin/io/csv.h"
#include "kelvin/trajectory/samples.h"

namespace kelvin {

// Chain after chain, draw after draw; of each draw the last index runs fastest.
struct ImportedArray {
  std::string name;
  std::vector<std::size_t> shape;  // of a draw
  std::vector<double> values;
  std::vector<std::string> dimensions =
      {};                    // the names that go with `shape`; made of the array's name if there are none
  std::size_t size() const;  // numbers in a draw
};

struct ImportedDraws {
  std::size_t chains = 0, draws = 0;  // of each chain
  std::vector<ImportedArray> blocks,
      statistics = {};  // statistics by the names of draw_statistics.h where they are the same
};

// By the end of its name: .npz, .csv, .nc.
bool is_draws_file(const std::string& file);
// Several files hold chains of the same arrays, as CmdStan writes them.
ImportedDraws read_draws(std::span<const std::string> files);

struct ImportRecord {
  std::string source, command_line, created_at, directory;
};
// `run`: a directory that is empty or not there yet. Draws without a step are counted from 1, and those with a log
// density but no potential have U = -lp.
void store_draws(const std::filesystem::path& run, ImportedDraws, const ImportRecord&);

ImportedDraws read_csv_draws(const std::string& file);     // import_csv.cpp
ImportedDraws draws_in(const Csv&);                        // a table, which is not checked yet
ImportedDraws read_netcdf_draws(const std::string& file);  // import_netcdf.cpp

}  // namespace kelvin
