// SPDX-License-Identifier: Apache-2.0
// NPY, NPZ and safetensors: the first bytes say which.
#include "kelvin/io/npy.h"

#include "fuzz/target.h"
#include "kelvin/io/safetensors.h"

namespace {

void check(const auto& array) {
  std::size_t count = 1;
  for (const std::size_t n : array.shape) count *= n;
  kelvin::must(array.values.size() == count);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kelvin;
  const std::string_view bytes = text_of(data, size);
  return survives([&] {
    if (is_npy(bytes)) return check(parse_npy(bytes, "f.npy"));
    if (is_npz(bytes))
      for (const auto& [name, array] : parse_npz(bytes, "f.npz")) check(array);
    else
      for (const auto& [name, array] : parse_safetensors(bytes, "f.safetensors")) check(array);
  });
}
