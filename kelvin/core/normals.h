// SPDX-License-Identifier: Apache-2.0
// The loops behind noise.h, one version for each instruction set.
#pragma once
#include "kelvin/core/isa.h"
#include "kelvin/core/noise.h"

namespace kelvin {

KELVIN_FOR_EACH_ISA(void normals(const Stream&, std::size_t first, float* out, std::size_t count))
KELVIN_FOR_EACH_ISA(void normals(const Stream&, std::size_t first, double* out, std::size_t count))
// Needs room for blocks up to the next multiple of 16, of four words each.
KELVIN_FOR_EACH_ISA(void random_words(const Stream&, std::uint32_t first, std::uint32_t* out, std::size_t blocks))

}  // namespace kelvin
