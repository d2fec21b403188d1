// SPDX-License-Identifier: Apache-2.0
// A fuzz target is one function that reads hostile bytes. An Error is the right answer to most of them; anything else
// that leaves a reader (a crash, another exception, a request for much memory, a second of work) is a finding.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "kelvin/core/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace kelvin {

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// What a reader claims must be true, or the input is a finding too.
inline void must(bool claim) {
  if (!claim) __builtin_trap();
}

template <class Read>
int survives(Read&& read) {
  try {
    read();
  } catch (const Error& e) {
    must(e.what()[0] != '\0');
  }
  return 0;
}

}  // namespace kelvin
