// SPDX-License-Identifier: Apache-2.0
// Directories of PNG and JPEG pictures, all of one size: CLASS/*.png, or train/CLASS/*.png with test/CLASS/*.png and
// validation/CLASS/*.png where there are such; or pictures that a CSV file of labels names: a column "file", one of
// labels.
#pragma once
#include <string>

#include "kelvin/io/sheet.h"

namespace kelvin {

bool is_image_folder(const std::string& directory);
Sources read_image_folder(const std::string& directory, const DataSettings&);

// A table of two columns, the names of pictures (from the table's own directory on) and their labels.
bool is_image_list(const Csv&);
Source read_image_list(const Csv&);

}  // namespace kelvin
