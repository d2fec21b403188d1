// SPDX-License-Identifier: Apache-2.0
#include "kelvin/dynamics/letters.h"

#include "kelvin/core/isa.h"

namespace kelvin {

KELVIN_FOR_EACH_ISA(std::span<const Letter> letters())

std::span<const Letter> letters() { KELVIN_RETURN_BEST(letters()); }

}  // namespace kelvin
