// SPDX-License-Identifier: Apache-2.0
// JSON, made once for all files: most of what compiling it costs is making it anew.
#pragma once
#include <nlohmann/json.hpp>

extern template class nlohmann::basic_json<>;
