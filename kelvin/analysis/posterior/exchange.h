// SPDX-License-Identifier: Apache-2.0
// How positions travelled between the temperatures of a run with [exchange].
#pragma once
#include "kelvin/analysis/verdict/diagnose.h"

namespace kelvin {

bool exchanges(const Samples&);
std::vector<Judgement> judge_exchange(const Evidence&);  // empty without [exchange]

}  // namespace kelvin
