// SPDX-License-Identifier: Apache-2.0
// Linked into every program of ours: tells OpenBLAS what the processor can do, before anything loads it.
#include <cstdlib>

#include "kelvin/function/gemm.h"

namespace {

[[maybe_unused]] const bool told = [] {
  if (const char* core = kelvin::openblas_core()) setenv("OPENBLAS_CORETYPE", core, 0);
  return true;
}();

}  // namespace
