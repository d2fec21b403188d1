// SPDX-License-Identifier: Apache-2.0
// A problem whose rows come from files, named relative to a directory.
#pragma once
#include "kelvin/io/load.h"
#include "kelvin/run/problem.h"

namespace kelvin {

template <class Real>
Problem<Real> make_problem(const RunSettings& settings, const Remark& remark, Slack slack = Slack::kept,
                           const std::string& directory = "") {
  return make_problem<Real>(settings, load_from(directory), remark, slack);
}

}  // namespace kelvin
