// SPDX-License-Identifier: Apache-2.0
#include "kelvin/core/json.h"

template class nlohmann::basic_json<>;
