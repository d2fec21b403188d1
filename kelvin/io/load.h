// SPDX-License-Identifier: Apache-2.0
// How the [data] settings become training, validation and test rows.
#pragma once
#include "kelvin/core/error.h"
#include "kelvin/data/dataset.h"
#include "kelvin/data/settings.h"

namespace kelvin {

// `wants_classes`: the loss is one for classes, so that whole numbers among the targets are labels. Texts always are.
Splits load(const DataSettings&, bool wants_classes, std::uint64_t seed, const Remark&);

// Rows of another file, read as the rows `like` of these settings were: the same inputs by name (by place where the
// file names none), classes and units. Without targets in it, and no labels file, the dataset has none: `targets` is
// empty. A directory stands for the test rows of MNIST in it.
Dataset load_rows(std::string file, std::string labels_file, const DataSettings&, const Dataset& like);

}  // namespace kelvin
