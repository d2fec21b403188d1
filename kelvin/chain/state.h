// SPDX-License-Identifier: Apache-2.0
// Everything the next step needs besides the settings: what a checkpoint holds of a walker. Noise and minibatches need
// no state: they are functions of it.
#pragma once
#include <map>
#include <string>

#include "kelvin/chain/reading.h"
#include "kelvin/core/pages.h"

namespace kelvin {

template <class Real>
struct ChainState {
  std::uint64_t steps = 0;
  std::uint64_t evaluations = 0;
  std::uint64_t fresh_at = 0;        // the meeting whose readers have the gradient of q
  double energy = 0;                 // U at the last evaluation
  std::uint8_t stale = 1;            // q has moved since
  std::uint32_t replica = 0;         // see Replica
  double pace = 1;                   // factor of all steps that the warm-up has found
  double friction = 1;               // likewise of all frictions
  std::uint64_t put_back = 0;        // times that the energy jumped and the walker was put back, in the warm-up
  std::uint64_t put_back_later = 0;  // and after it
  LargeArray<Real> q, p, g;          // in the coordinates of `factor`, if there are any
  std::vector<double> xi;            // of each part
  std::vector<Real> memory;          // u and v of the parts whose letters need them, one part after another
  std::vector<double> fallbacks;     // of each part's projections
  std::vector<Real> anchor;          // what the energy remembers
  std::vector<double> bias;          // what its law has learnt
  std::vector<double> factor;        // of the coordinates that q is given in
  std::map<std::string, std::string> companions;  // the fields of each, "name.field", as bytes
  Reading reading;                                // the last one: a walker that rests is still told of in the log
  template <class Visit>
  void fields(Visit&& field) {
    field(steps);
    field(evaluations);
    field(fresh_at);
    field(energy);
    field(stale);
    field(replica);
    field(pace);
    field(friction);
    field(put_back);
    field(put_back_later);
    field(q);
    field(p);
    field(g);
    field(xi);
    field(memory);
    field(fallbacks);
    field(anchor);
    field(bias);
    field(factor);
    field(companions);
    reading.fields(field);
  }
};

// What walkers at different temperatures exchange: a position and all that belongs to it. Momenta travel as those of
// the temperature set, p over the root of the walker's heat, so that they stay tangent to constraints.
template <class Real>
struct Replica {
  std::uint32_t number = 0;
  std::vector<Real> q, p, memory, anchor;  // of optimizers; of the potential
  template <class Visit>
  void fields(Visit&& field) {
    field(number);
    field(q);
    field(p);
    field(memory);
    field(anchor);
  }
};

}  // namespace kelvin
