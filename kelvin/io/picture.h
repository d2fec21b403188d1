// SPDX-License-Identifier: Apache-2.0
// PNG and JPEG pictures, as eight bits a channel: grey ones have one, others three. What is transparent is not.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kelvin/data/shape.h"

namespace kelvin {

struct Picture {
  Shape shape;                       // channels x height x width
  std::vector<std::uint8_t> pixels;  // channels last
};

bool is_picture(std::string_view bytes);
Picture parse_picture(std::string_view bytes, const std::string& file);

// Channels of a grey picture that is to be one in colour.
Picture in_colour(Picture);

}  // namespace kelvin
