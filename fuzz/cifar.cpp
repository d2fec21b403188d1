// SPDX-License-Identifier: Apache-2.0
#include "kelvin/io/cifar.h"

#include "fuzz/target.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kelvin;
  return survives([&] {
    const bool recoded = size > 0 && data[0] & 1;
    const Cifar cifar = parse_cifar(text_of(data, size), recoded ? "f.bin.med" : "f.bin");
    must(cifar.labels.size() == cifar.images && cifar.pixels.size() == cifar.images * 3072);
    must(cifar.pixels.size() <= size);
  });
}
