// SPDX-License-Identifier: Apache-2.0
#include "kelvin/function/layers/one_step.h"

namespace kelvin {
namespace {

template <class Real>
using FirstStep = OneStep<Real, false>;

}  // namespace

KELVIN_LAYER_ROW(first_step, FirstStep, {}, false, one_step_plan, "the first step of a sequence: numbers",
                 {{5, 3}, "['rnn 4', 'first_step', 'dense 2']"})

}  // namespace kelvin
