// SPDX-License-Identifier: Apache-2.0
// Letters: the elementary flows that schemes are spelled with. To add one, write the function and its row in
// letters.simd.cpp.
#pragma once
#include <cmath>
#include <string_view>

#include "kelvin/dynamics/part.h"

namespace kelvin {

// Moves a part for a time h. z holds `normals` standard normals per element, those of element i at z[normals * i].
template <class Real>
using Flow = void (*)(const Part<Real>&, double h, std::span<const Real> z);

// At a joint letter all parts meet. What the chain does there before the letters act:
enum class Joint {
  no,        // local: parts do not meet
  wait,      // meet, nothing else
  gradient,  // evaluate U and its gradient if q has moved
  energy,    // tell the tempering variable U and the kinetic energy of the others, which is its gradient
  propose,   // remember this state
  decide,    // keep the new state or return, by Metropolis
  travel,    // follow a path of many gradients and stay at one of its points
  tempo,     // let the gradient set the pace of all parts
};

enum class Forgets { never, always, at_infinite_friction };  // whether p afterwards depends on p before

// What only some letters have or need.
struct LetterTraits {
  bool whole = false;     // needs a sum: is handed the whole part and never a slice
  bool adaptive = false;  // uses xi, sigma or eps
  bool moves_xi = false;
  int memory = 0;            // numbers per element that last from step to step: u, then v
  bool decays = false;       // applies weight_decay itself; for all others it is an energy, part of U
  bool scales = false;       // divides each entry of g by a size of its own: on a manifold g is made tangent before
  bool all_rows = false;     // means nothing with minibatches
  bool needs_noise = false;  // reads the covariance of the gradient's noise
  int piece = 0;             // the piece of U whose gradient it reads; 0 for all of it
  bool drifts = false;       // moves q along p: on a manifold, along that
  int look = 0;              // 1 begins a look ahead, -1 takes it back
  bool unit_speed = false;   // keeps |p| = 1
};

struct Letter : LetterTraits {
  char symbol;
  Joint joint;
  bool moves_q, moves_p;
  int normals;   // per element
  bool thermal;  // its noise is proportional to sqrt(T): at T = 0 none need be made
  Forgets forgets_p;
  Flow<float> flow_float;
  Flow<double> flow_double;
  std::string_view meaning;  // shown by `kelvin list letters`, and the source of docs/letters.md

  bool forgets(double friction) const {
    return forgets_p == Forgets::always || (forgets_p == Forgets::at_infinite_friction && std::isinf(friction));
  }
  bool local() const { return joint == Joint::no; }
  bool proposes() const { return joint == Joint::propose || joint == Joint::decide || joint == Joint::travel; }
  bool everywhere() const { return proposes() || joint == Joint::tempo; }  // all parts have it at the same meetings
  bool shaken(double T) const { return normals > 0 && !(thermal && T == 0); }
  bool bath() const { return local() && normals > 0 && !unit_speed; }
  void flow(const Part<float>& s, double h, std::span<const float> z) const { flow_float(s, h, z); }
  void flow(const Part<double>& s, double h, std::span<const double> z) const { flow_double(s, h, z); }
};

std::span<const Letter> letters();

}  // namespace kelvin
