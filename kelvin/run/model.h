// SPDX-License-Identifier: Apache-2.0
// What no settings can say: an energy or a function of one's own, and letters made at run time. `model.own` of the
// settings is its name; who resumes the run gives the same again.
#pragma once
#include <memory>

#include "kelvin/dynamics/letters.h"
#include "kelvin/energy/potential.h"
#include "kelvin/function/function.h"

namespace kelvin {

// One of the two; each walker moves on a clone.
template <class Real>
struct OwnModel {
  std::shared_ptr<const Potential<Real>> potential;  // U itself; [data] is not read
  std::shared_ptr<const Function<Real>> function;  // in place of model.layers: the rows of [data] and model.loss make U
};

struct Model {
  OwnModel<float> with_float;  // that of the run's precision is needed
  OwnModel<double> with_double;
  std::shared_ptr<const OwnLetters> letters;

  template <class Real>
  const OwnModel<Real>& in() const {
    if constexpr (sizeof(Real) == sizeof(float)) return with_float;
    else return with_double;
  }
};

}  // namespace kelvin
