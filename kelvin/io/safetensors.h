// SPDX-License-Identifier: Apache-2.0
// The safetensors format of PyTorch and its kin: eight bytes with the length of a JSON header, the header (name ->
// type, shape, place), then the numbers, little-endian. To read another number type, add a row to `types`.
#pragma once
#include <set>

#include "kelvin/io/npy.h"

namespace kelvin {

std::map<std::string, Array> parse_safetensors(std::string_view bytes, const std::string& file);
std::map<std::string, Array> read_safetensors(const std::string& file);
// Those of the arrays that it has; only they are read, and only they must hold numbers of a known type.
std::map<std::string, Array> read_safetensors(const std::string& file, const std::set<std::string>& names);

// float as F32 and double as F64; `about` are texts that go with the file.
template <class Real>
void write_safetensors(const std::string& file, const std::map<std::string, ArrayView<Real>>&,
                       const std::map<std::string, std::string>& about);

}  // namespace kelvin
