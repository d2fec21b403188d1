// SPDX-License-Identifier: Apache-2.0
#include "kelvin/function/layers/one_step.h"

namespace kelvin {
namespace {

template <class Real>
using LastStep = OneStep<Real, true>;

}  // namespace

KELVIN_LAYER_ROW(last_step, LastStep, {}, false, one_step_plan, "the last step of a sequence: numbers",
                 {{5, 3}, "['rnn 4', 'last_step', 'dense 2']"})

}  // namespace kelvin
