// SPDX-License-Identifier: Apache-2.0
// NumPy's array files: NPY holds one array, NPZ several by name. To read another number type, add a row to `types`.
#pragma once
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "kelvin/data/array.h"

namespace kelvin {

bool is_npy(std::string_view bytes);
bool is_npz(std::string_view bytes);
InputArray parse_npy(std::string_view bytes, const std::string& file);
std::map<std::string, InputArray> parse_npz(std::string_view bytes, const std::string& file);
Array read_npy(const std::string& file);
std::map<std::string, Array> read_npz(const std::string& file);

// What is written, float as f4 and double as f8; the same arrays always give the same bytes.
template <class Real>
struct ArrayView {
  std::vector<std::size_t> shape;
  std::span<const Real> values;  // the last index runs fastest
};
template <class Real>
void write_npy(const std::string& file, const ArrayView<Real>&);
template <class Real>
void write_npz(const std::string& file, const std::map<std::string, ArrayView<Real>>&);

}  // namespace kelvin
