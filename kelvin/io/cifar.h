// SPDX-License-Identifier: Apache-2.0
// The binary files of CIFAR-10 and CIFAR-100: images of 32 x 32 pixels one after another, each a label (two in
// CIFAR-100: coarse, fine), then 1024 bytes of red, of green, of blue. A file NAME.med is one of CIFAR-10 recoded to be
// packed well: all labels, then planes of G, R - G and B - G, each number less what the numbers around it foretell.
#pragma once
#include <string>
#include <string_view>

#include "kelvin/io/sheet.h"

namespace kelvin {

struct Cifar {
  std::size_t images = 0;
  std::vector<std::uint8_t> pixels;        // channels last
  std::vector<std::uint8_t> labels, fine;  // fine: of CIFAR-100
};
Cifar parse_cifar(std::string_view bytes, const std::string& file);

bool is_cifar(const std::string& file, std::string_view bytes);  // by the ending of its name and its length
Source read_cifar(std::string_view bytes, const std::string& file, const DataSettings&);

// A directory with the files as they are shipped; the names of the classes stand beside them.
bool is_cifar_directory(const std::string& directory);
Sources read_cifar_directory(const std::string& directory, const DataSettings&);

}  // namespace kelvin
