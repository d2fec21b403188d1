// SPDX-License-Identifier: Apache-2.0
#include "kelvin/core/isa.h"

#include <cstdlib>
#include <string_view>
#if KELVIN_X86
#include <immintrin.h>
#endif

namespace kelvin {

#if KELVIN_ALL_ISAS
namespace {

Isa of_this_machine() {
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  return avx512 ? Isa::avx512 : avx2 ? Isa::avx2 : Isa::portable;
}

// KELVIN_ISA in the environment asks for less: to repeat a run of an older machine, or to test.
Isa chosen() {
  const Isa best = of_this_machine();
  const char* asked = std::getenv("KELVIN_ISA");
  const std::string_view name = asked ? asked : "";
  if (name == "portable") return Isa::portable;
  return name == "avx2" && best == Isa::avx512 ? Isa::avx2 : best;
}

}  // namespace

Isa best_isa() {
  static const Isa isa = chosen();
  return isa;
}
#else
Isa best_isa() { return Isa::portable; }
#endif

#if KELVIN_X86
// Bits 15 and 6 of the control register: flush results, and read operands, as zero.
FlushToZero::FlushToZero(bool flush) : before_(_mm_getcsr()) {
  constexpr unsigned bits = 0x8040;
  _mm_setcsr(flush ? before_ | bits : before_ & ~bits);
}
FlushToZero::~FlushToZero() { _mm_setcsr(before_); }
#else
FlushToZero::FlushToZero(bool) : before_(0) {}
FlushToZero::~FlushToZero() = default;
#endif

}  // namespace kelvin
