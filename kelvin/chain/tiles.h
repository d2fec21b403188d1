// SPDX-License-Identifier: Apache-2.0
// The constraints of one part, cut into tiles that do not depend on each other: some entries, the slack that
// belongs to them and the manifold they are on. All pending letters pass over a tile while it is in cache.
#pragma once
#include "kelvin/dynamics/recipe.h"

namespace kelvin {

template <class Real>
struct Tile {
  std::size_t first, count, slack, slack_count;
  Manifold<Real>* on;  // null: free
};

template <class Real>
class Tiling {
 public:
  Tiling() = default;
  Tiling(const PartRecipe&, std::size_t length);  // tiles of about so many entries

  bool none() const { return tiles.empty(); }
  ManifoldPoint<Real> piece(const Tile<Real>&, const Part<Real>&) const;
  std::size_t longest() const;  // entries or slack of a tile
  std::size_t room() const;     // numbers of the largest tile with its slack

  void keep_point(const Part<Real>&);                  // before a letter that moves the whole part
  void project(const Part<Real>&, ProjectionReport&);  // after it, from the point that was kept
  void tangent(const Part<Real>&);
  std::span<const Real> tangent_slopes(const Part<Real>&);                     // g made tangent
  std::span<const Real> tangent_slopes(const Tile<Real>&, const Part<Real>&);  // the same, right for one tile
  double residual(const Part<Real>&) const;                                    // largest of all
  double tangency(const Part<Real>&) const;

  std::vector<Tile<Real>> tiles;
  std::vector<char> tangent_after;  // for each move: p is made tangent after it

 private:
  std::vector<std::unique_ptr<Manifold<Real>>> manifolds_;
  std::vector<Real> kept_;    // q of the part, if some letter moves it as a whole
  std::vector<Real> from_;    // of one tile
  std::vector<Real> slopes_;  // g of the part, if some letter needs it tangent
};

// Brings a starting point onto the manifolds of all parts; tells, in a remark for each block, what had to be changed
// and what cannot move.
template <class Real>
void settle(const Recipe&, std::span<Real> q, const std::function<void(std::string_view)>& remark);

}  // namespace kelvin
