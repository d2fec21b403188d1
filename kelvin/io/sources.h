// SPDX-License-Identifier: Apache-2.0
// Where training, validation and test rows come from: files, a directory of them, or a generator.
#pragma once
#include <optional>

#include "kelvin/io/load.h"
#include "kelvin/io/sheet.h"

namespace kelvin {

struct Sources {
  Source train;
  std::optional<Source> validation, test;
};

Sources sources(const DataSettings&, std::uint64_t seed);

// A directory stands for the four files that MNIST and its kin are shipped as.
DataSettings directory_resolved(DataSettings);

}  // namespace kelvin
