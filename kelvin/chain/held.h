// SPDX-License-Identifier: Apache-2.0
// The constraints of one part, cut into stretches that do not depend on each other: some entries, the slack that
// belongs to them and the manifold they are on. All pending letters pass over a stretch while it is in cache.
#pragma once
#include "kelvin/dynamics/recipe.h"

namespace kelvin {

template <class Real>
struct Stretch {
  std::size_t first, count, slack, slack_count;
  Manifold<Real>* on;  // null: free
};

template <class Real>
class Held {
 public:
  Held() = default;
  Held(const PartRecipe&, std::size_t length);  // stretches of about so many entries

  bool none() const { return stretches.empty(); }
  ManifoldPoint<Real> piece(const Stretch<Real>&, const Part<Real>&) const;
  std::size_t longest() const;  // entries or slack of a stretch
  std::size_t room() const;     // numbers of the largest stretch with its slack

  void keep_point(const Part<Real>&);       // before a letter that moves the whole part
  void project(const Part<Real>&, Tally&);  // after it, from the point that was kept
  void tangent(const Part<Real>&);
  std::span<const Real> tangent_slopes(const Part<Real>&);                        // g made tangent
  std::span<const Real> tangent_slopes(const Stretch<Real>&, const Part<Real>&);  // the same, right for one stretch
  double residual(const Part<Real>&) const;                                       // largest of all
  double tangency(const Part<Real>&) const;

  std::vector<Stretch<Real>> stretches;
  std::vector<char> tangent_after;  // for each move: p is made tangent after it

 private:
  std::vector<std::unique_ptr<Manifold<Real>>> manifolds_;
  std::vector<Real> kept_;    // q of the part, if some letter moves it as a whole
  std::vector<Real> from_;    // of one stretch
  std::vector<Real> slopes_;  // g of the part, if some letter needs it tangent
};

// Brings a starting point onto the manifolds of all parts; tells, in a remark for each block, what had to be changed
// and what cannot move.
template <class Real>
void settle(const Recipe&, std::span<Real> q, const std::function<void(std::string_view)>& remark);

}  // namespace kelvin
