// SPDX-License-Identifier: Apache-2.0
#include "kelvin/io/idx.h"

#include "fuzz/target.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kelvin;
  return survives([&] {
    const InputArray array = parse_idx(text_of(data, size), "f.idx", 255);
    std::size_t count = 1;
    for (const std::size_t n : array.shape) count *= n;
    must(array.values.size() == count && count <= size);
  });
}
