// SPDX-License-Identifier: Apache-2.0
// IDX arrays, plain or gzip, as MNIST and its kin are shipped: two zero bytes, a type, the number of dimensions, each
// dimension in four bytes, then the numbers; all big-endian.
#pragma once
#include <string>
#include <string_view>

#include "kelvin/data/array.h"

namespace kelvin {

bool is_idx(std::string_view bytes);
// Unsigned bytes are divided by `white`: 255 turns the grey values of images into 0 ... 1.
InputArray parse_idx(std::string_view bytes, const std::string& file, double white = 1);
InputArray read_idx(const std::string& file, double white = 1);

}  // namespace kelvin
