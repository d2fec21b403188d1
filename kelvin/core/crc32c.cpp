// SPDX-License-Identifier: Apache-2.0
#include "kelvin/core/crc32c.h"

#include <array>
#include <cstddef>
#include <cstring>

namespace kelvin {
namespace {

constexpr std::uint32_t polynomial = 0x82f63b78;  // of Castagnoli; the highest power is in the lowest bit

using ByteTable = std::array<std::uint32_t, 256>;

// What the register is after a byte (its lowest) and `count` - 1 bytes of zeros, for each value of that byte.
template <std::size_t count>
constexpr std::array<ByteTable, count> tables_of_bytes() {
  std::array<ByteTable, count> out{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t sum = byte;
    for (int bit = 0; bit < 8; ++bit) sum = (sum >> 1) ^ (sum & 1 ? polynomial : 0);
    out[0][byte] = sum;
  }
  for (std::size_t k = 1; k < count; ++k)
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t before = out[k - 1][byte];
      out[k][byte] = (before >> 8) ^ out[0][before & 255];
    }
  return out;
}
constexpr auto bytes_ahead = tables_of_bytes<8>();

std::uint64_t word_at(const char* at) {
  std::uint64_t word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

std::uint32_t register_by_tables(std::uint32_t sum, const char* at, std::size_t size) {
  for (; size >= 8; at += 8, size -= 8) {
    const std::uint64_t word = word_at(at) ^ sum;
    sum = 0;
    for (std::size_t k = 0; k < 8; ++k) sum ^= bytes_ahead[7 - k][(word >> (8 * k)) & 255];
  }
  for (; size > 0; ++at, --size) sum = (sum >> 8) ^ bytes_ahead[0][(sum ^ std::uint8_t(*at)) & 255];
  return sum;
}

#if KELVIN_X86

// The instruction takes 8 bytes and has an answer three cycles later, but can begin anew in each: three stretches are
// done at a time. The register is linear in what it was before, so the sum of a stretch that follows others is that of
// the others, moved on by as many zeros, xor its own that began with 0.
constexpr std::size_t stretch = 1024;

// Moves a register on by `stretch` zeros: the sum over its four bytes of what each becomes.
constexpr std::array<ByteTable, 4> tables_of_stretch() {
  std::array<std::uint32_t, 32> moved{};  // by so many zeros, for each bit; doubled until they are a stretch
  for (std::uint32_t bit = 0; bit < 32; ++bit) {
    const std::uint32_t one = std::uint32_t(1) << bit;
    moved[bit] = (one >> 8) ^ bytes_ahead[0][one & 255];
  }
  const auto apply = [](const std::array<std::uint32_t, 32>& by, std::uint32_t sum) {
    std::uint32_t out = 0;
    for (std::size_t bit = 0; bit < 32; ++bit) out ^= (sum >> bit) & 1 ? by[bit] : 0;
    return out;
  };
  for (std::size_t zeros = 1; zeros < stretch; zeros *= 2) {
    const auto half = moved;
    for (std::uint32_t& column : moved) column = apply(half, column);
  }
  std::array<ByteTable, 4> out{};
  for (std::uint32_t k = 0; k < 4; ++k)
    for (std::uint32_t byte = 0; byte < 256; ++byte) out[k][byte] = apply(moved, byte << (8 * k));
  return out;
}
constexpr auto stretch_ahead = tables_of_stretch();

std::uint32_t moved_on(std::uint32_t sum) {
  return stretch_ahead[0][sum & 255] ^ stretch_ahead[1][(sum >> 8) & 255] ^ stretch_ahead[2][(sum >> 16) & 255] ^
         stretch_ahead[3][sum >> 24];
}

[[gnu::target("sse4.2")]] std::uint32_t register_by_instruction(std::uint32_t sum, const char* at, std::size_t size) {
  for (; size >= 3 * stretch; at += 3 * stretch, size -= 3 * stretch) {
    std::uint64_t first = sum, second = 0, third = 0;
    for (std::size_t k = 0; k < stretch; k += 8) {
      first = __builtin_ia32_crc32di(first, word_at(at + k));
      second = __builtin_ia32_crc32di(second, word_at(at + stretch + k));
      third = __builtin_ia32_crc32di(third, word_at(at + 2 * stretch + k));
    }
    sum = moved_on(moved_on(std::uint32_t(first)) ^ std::uint32_t(second)) ^ std::uint32_t(third);
  }
  for (; size >= 8; at += 8, size -= 8) sum = std::uint32_t(__builtin_ia32_crc32di(sum, word_at(at)));
  for (; size > 0; ++at, --size) sum = __builtin_ia32_crc32qi(sum, std::uint8_t(*at));
  return sum;
}

#endif

}  // namespace

std::uint32_t crc32c_by_tables(std::string_view bytes, std::uint32_t so_far) {
  return ~register_by_tables(~so_far, bytes.data(), bytes.size());
}

std::uint32_t crc32c(std::string_view bytes, std::uint32_t so_far) {
#if KELVIN_X86
  static const bool has_instruction = __builtin_cpu_supports("sse4.2");
  if (has_instruction) return ~register_by_instruction(~so_far, bytes.data(), bytes.size());
#endif
  return crc32c_by_tables(bytes, so_far);
}

}  // namespace kelvin
