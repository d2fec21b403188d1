// SPDX-License-Identifier: Apache-2.0
// CRC-32C, the checksum of all files of a run: by the processor's instruction where there is one, else by tables.
#pragma once
#include <cstdint>
#include <string_view>

namespace kelvin {

// Of some bytes that follow others whose checksum is `so_far`. The first are often given what they belong to instead,
// so that they fit there only.
std::uint32_t crc32c(std::string_view bytes, std::uint32_t so_far = 0);

// The same without the instruction.
std::uint32_t crc32c_by_tables(std::string_view bytes, std::uint32_t so_far = 0);

}  // namespace kelvin
