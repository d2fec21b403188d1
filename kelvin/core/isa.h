// SPDX-License-Identifier: Apache-2.0
// Instruction sets. A source named *.simd.cpp is compiled once for each, into a namespace of that name, and the best
// that the machine has is chosen at run time. Such sources hold loops over plain pointers and spans and nothing that
// the linker could share with other sources, or a machine without the instructions would meet them
// (tests/house/house_rules_test.cpp).
#pragma once

namespace kelvin {

enum class Isa { portable, avx2, avx512 };

Isa best_isa();  // of this machine, or less if KELVIN_ISA in the environment says "avx2" or "portable"

// While it lives, numbers too small for full precision (below 1e-38 in float) are zero on this thread. Momenta that
// decay, as those of dead units do at temperature 0, would else end there, where arithmetic takes a hundred times as
// long. FlushToZero(false): they are what they are again, for functions of others that are called from there.
class FlushToZero {
 public:
  explicit FlushToZero(bool flush = true);
  ~FlushToZero();
  FlushToZero(const FlushToZero&) = delete;

 private:
  unsigned before_;
};

// KELVIN_FOR_EACH_ISA declares a function in every namespace; KELVIN_RETURN_BEST calls the one for this machine.
#if KELVIN_ALL_ISAS
#define KELVIN_FOR_EACH_ISA(declaration) \
  namespace portable {                   \
  declaration;                           \
  }                                      \
  namespace avx2 {                       \
  declaration;                           \
  }                                      \
  namespace avx512 {                     \
  declaration;                           \
  }
#define KELVIN_RETURN_BEST(call) \
  switch (best_isa()) {          \
    case Isa::avx512:            \
      return avx512::call;       \
    case Isa::avx2:              \
      return avx2::call;         \
    default:                     \
      return portable::call;     \
  }
#else
#define KELVIN_FOR_EACH_ISA(declaration) \
  namespace portable {                   \
  declaration;                           \
  }
#define KELVIN_RETURN_BEST(call) return portable::call
#endif

}  // namespace kelvin
