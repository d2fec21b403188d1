// SPDX-License-Identifier: Apache-2.0
// Two chains of one problem on the same noise: a coarse one with the given steps, and a fine one that takes two steps
// half as long in the same time. Each alone has the distribution it would have without the other; in their difference
// most of the noise cancels and the effect of the step remains.
#pragma once
#include <array>
#include <map>

#include "kelvin/numeric/linear.h"
#include "kelvin/run/problem.h"

namespace kelvin {

// The coarse chain's noise: each normal combines two of the fine chain's. A letter that occurs k times in a word occurs
// 2 k times in two fine steps; the coarse occurrence j stands for the fine ones 2 j and 2 j + 1. Any weights W with
// orthonormal rows leave the law of the coarse chain as it is; good ones keep the chains together:
// - A letter that moves q: W is read off its own flow, such that one pass over 2 h leaves the noise in (q, p) that two
//   passes over h leave: (z + z') / sqrt(2) for S, a 2 x 4 matrix for U.
// - A letter that moves p only: (z + z') / sqrt(2). A normal given to p moves q by h sqrt(m T (1 - e^-2x)) / (1 - e^-x)
// z
//   in the end, x = gamma h, so equal sums of normals take both chains equally far, up to a factor 1 + x^2 / 32.
//   Weights that make p itself agree, e^-x/2 : 1, do not, and let the chains drift apart.
template <class Real>
class SharedNoise final : public Noise<Real> {
 public:
  SharedNoise(const Recipe& coarse, std::uint64_t seed, const Noise<Real>& fine);
  void normals(const Stream&, std::size_t first, std::span<Real> out) const override;
  double uniform(const Stream& stream) const override { return fine_->uniform(stream); }

 private:
  struct Source {
    std::array<std::uint64_t, 2> late{};   // whether it lies in the second of the two fine steps
    std::array<std::uint16_t, 2> place{};  // in the word
    Matrix weights;                        // n x 2 n for a letter with n normals
  };
  std::map<std::uint64_t, std::vector<Source>> sources_;  // key of a part's noise -> one for each place in its word
  const Noise<Real>* fine_;
};

// The weights W of a letter for passes of h and 2 h, n x 2 n.
Matrix shared_weights(const Letter&, const Part<double>& constants, double h);

// Refuses what has no bias, or none that two steps could tell: schedules, temperature 0, Metropolis, words without
// noise.
void check_coupling(const Recipe&);

template <class Real>
class CoupledPair {
 public:
  CoupledPair(const Problem<Real>&, std::uint32_t walker, const Noise<Real>&);
  void start(std::span<const Real> q);  // both there, with the same momenta
  void step();
  void step_and_read();
  Chain<Real>& coarse() { return *coarse_; }
  Chain<Real>& fine() { return *fine_; }

 private:
  std::unique_ptr<SharedNoise<Real>> noise_;  // a chain keeps its address
  std::unique_ptr<Chain<Real>> coarse_, fine_;
};

}  // namespace kelvin
