// SPDX-License-Identifier: Apache-2.0
// What the bias of a tempered run has learnt, for another run to begin with.
#pragma once
#include <filesystem>

#include "kelvin/run/settings.h"

namespace kelvin {

// Of a walker, or, if the run has fewer, of one of them. Refuses a run that has not finished or was not tempered.
std::vector<double> stored_bias(const std::filesystem::path& run, std::size_t walker);

// The settings with the pilot's numbers of that run: a bias is relative to them. Refuses a run that was tempered
// otherwise.
RunSettings with_pilot_of(const std::filesystem::path& run, const RunSettings&);

}  // namespace kelvin
