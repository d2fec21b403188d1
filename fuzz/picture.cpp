// SPDX-License-Identifier: Apache-2.0
#include "kelvin/io/picture.h"

#include "fuzz/target.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kelvin;
  return survives([&] {
    const Picture picture = parse_picture(text_of(data, size), "f.png");
    must(picture.pixels.size() == picture.shape.size());
    must(picture.shape[0] == 1 || picture.shape[0] == 3);
  });
}
