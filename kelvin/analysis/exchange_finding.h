// SPDX-License-Identifier: Apache-2.0
// How positions travelled between the temperatures of a run with [exchange].
#pragma once
#include "kelvin/analysis/analyses.h"
#include "kelvin/analysis/diagnose.h"

namespace kelvin {

bool has_ladders(const Samples&);
std::vector<Judgement> judge_exchange(const Evidence&);  // empty without ladders
Analysed analyse_exchange(const Samples&, const AnalysisOptions&, const Remark&);

}  // namespace kelvin
