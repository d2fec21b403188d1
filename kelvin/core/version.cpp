// SPDX-License-Identifier: Apache-2.0
#include "kelvin/core/version.h"

namespace kelvin {

std::string_view version() { return KELVIN_VERSION; }

}  // namespace kelvin
