// SPDX-License-Identifier: Apache-2.0
// How the [data] settings become training, validation and test rows.
#pragma once
#include "kelvin/core/error.h"
#include "kelvin/data/dataset.h"
#include "kelvin/data/settings.h"
#include "kelvin/run/environment.h"

namespace kelvin {

// `wants_classes`: the loss is one for classes, so that whole numbers among the targets are labels. Texts always are.
Splits load(const DataSettings&, bool wants_classes, std::uint64_t seed, const Remark&);

// The same, with names of files taken relative to a directory, if there still is one of that name.
LoadData load_from(const std::string& directory);
std::string found_in(const std::string& directory, const std::string& file);

// Rows of another file, read as the rows `like` of these settings were: the same inputs by name (by place where the
// file names none), classes and units. Without targets in it, and no labels file, the dataset has none: `targets` is
// empty. A directory stands for the test rows of MNIST in it.
Dataset load_rows(std::string file, std::string labels_file, const DataSettings&, const Dataset& like);

}  // namespace kelvin
