// SPDX-License-Identifier: Apache-2.0
// Bytes of a PNG file.
#pragma once
#include <png.h>

#include <string>
#include <vector>

namespace kelvin {

inline std::string png_of(const std::vector<unsigned char>& pixels, unsigned width, unsigned height, unsigned format) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = width;
  image.height = height;
  image.format = format;
  png_alloc_size_t size = 0;
  png_image_write_to_memory(&image, nullptr, &size, 0, pixels.data(), 0, nullptr);
  std::vector<unsigned char> out(size);
  png_image_write_to_memory(&image, out.data(), &size, 0, pixels.data(), 0, nullptr);
  return {out.begin(), out.end()};
}

}  // namespace kelvin
