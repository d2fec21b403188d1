// SPDX-License-Identifier: Apache-2.0
#include "kelvin/core/crc32c.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace kelvin {
namespace {

// The check value of the algorithm's catalogue, and those of RFC 3720, B.4: 32 bytes of zeros and of ones.
TEST(Crc32c, HasThePublishedValues) {
  for (const auto& sum : {crc32c, crc32c_by_tables}) {
    EXPECT_EQ(sum("123456789", 0), 0xe3069283u);
    EXPECT_EQ(sum(std::string(32, '\0'), 0), 0x8a9136aau);
    EXPECT_EQ(sum(std::string(32, '\xff'), 0), 0x62a8ab43u);
    EXPECT_EQ(sum("", 0), 0u);
    EXPECT_EQ(sum("", 17), 17u);
  }
}

// Lengths on both sides of what is done at once, places that are no multiples of 8; cut anywhere.
TEST(Crc32c, IsTheSameByInstructionByTablesAndInPieces) {
  std::mt19937 random(3);
  std::string bytes(20000, '\0');
  for (char& byte : bytes) byte = char(random());
  for (const std::size_t size : {1, 7, 8, 9, 63, 3071, 3072, 3073, 3080, 6143, 6144, 9999, 19990})
    for (const std::size_t from : {0, 1, 5}) {
      const std::string_view all = std::string_view(bytes).substr(from, size);
      const std::uint32_t whole = crc32c(all);
      EXPECT_EQ(whole, crc32c_by_tables(all)) << size;
      const std::size_t cut = random() % size;
      EXPECT_EQ(whole, crc32c(all.substr(cut), crc32c(all.substr(0, cut)))) << size << " cut at " << cut;
      std::string changed(all);
      changed[cut] = char(changed[cut] ^ (1 << random() % 8));
      EXPECT_NE(whole, crc32c(changed));
      EXPECT_NE(whole, crc32c(all, 1)) << "what came before counts";
    }
}

}  // namespace
}  // namespace kelvin
