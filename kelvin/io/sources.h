// SPDX-License-Identifier: Apache-2.0
// Where training, validation and test rows come from: files, a directory of them, or a generator.
#pragma once
#include "kelvin/io/load.h"
#include "kelvin/io/sheet.h"

namespace kelvin {

Sources sources(const DataSettings&, std::uint64_t seed);

// Of a directory that holds several kinds of rows those for testing, else all it has.
Source test_rows_of_directory(const std::string& directory, const std::string& labels_file, const DataSettings&);

}  // namespace kelvin
