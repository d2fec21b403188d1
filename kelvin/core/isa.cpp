// SPDX-License-Identifier: Apache-2.0
#include "kelvin/core/isa.h"

namespace kelvin {

Isa best_isa() {
#if KELVIN_X86
  static const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  static const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                             __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  static const Isa best = avx512 ? Isa::avx512 : avx2 ? Isa::avx2 : Isa::portable;
  return best;
#else
  return Isa::portable;
#endif
}

}  // namespace kelvin
