// SPDX-License-Identifier: Apache-2.0
// Moves one part through its scheme. Moves are deferred until the gradient or the state is needed, so that those of one
// step's end and the next one's beginning pass over memory together: block by block, along manifolds where there are
// any.
#pragma once
#include "kelvin/chain/state.h"
#include "kelvin/chain/tiles.h"
#include "kelvin/core/noise.h"
#include "kelvin/core/parallel.h"

namespace kelvin {

// Room that all parts of a chain share while they move, and whose noise they get.
template <class Real>
struct Workspace {
  const Noise<Real>* noise;
  std::uint32_t walker;
  std::size_t threads = 1;
  std::unique_ptr<Threads> pool;                // so many, from when a part first needs them
  std::size_t normals_each = 0, from_each = 0;  // numbers for each thread
  LargeArray<Real> normals;
  std::vector<Real> from;                 // the last point on a manifold
  std::vector<ProjectionReport> reports;  // of each thread
  bool irreversible = false;              // a drift since the last proposal cannot be retraced

  void use_threads(std::size_t count, bool retrace);
};

template <class Real>
class Mover {
 public:
  static constexpr std::size_t block_length = 1024;  // numbers that pass through all pending letters while in L1

  // Of part number k, on its slices of the state.
  Mover(const Recipe&, std::size_t k, ChainState<Real>&, std::uint64_t seed);

  Part<Real> part;
  double step = 0;     // of this pass through the string
  double beat = 0;     // the same before the tempo changes it
  double kinetic = 0;  // p.p/m where the scheme reads it
  double work = 0;     // of p of unit length, over T, since the step began

  const PartRecipe& recipe() const { return *recipe_; }
  const Tiling<Real>& tiling() const { return tiling_; }
  std::size_t most_normals() const;  // that one letter needs at once

  // The moves [first, last) of a step. Returns whether one of them moves q.
  bool put_off(std::size_t first, std::size_t last, std::uint64_t steps, Workspace<Real>&);
  void flush(Workspace<Real>&);
  void forget() { pending_.clear(); }
  void hold_frozen();     // at their present values, from now on
  void restore_frozen();  // back to those, with momentum 0
  void tangent() { tiling_.tangent(part); }
  double momentum_square() const;  // p.p/m
  double kinetic_energy() const;   // p.p/2m; for p of unit length what it has taken up by turning

 private:
  struct Pending {
    std::size_t first_move, last_move;
    Part<Real> part;  // with the constants of its step
    double step;
    std::uint64_t steps;
  };
  void move_whole(std::size_t at, std::uint64_t steps, Workspace<Real>&);
  void advance(const Tile<Real>&, std::size_t thread, Workspace<Real>&);
  void apply(const Pending&, std::size_t at, std::size_t first, Part<Real>& block, std::size_t thread,
             Workspace<Real>&) const;
  void advance_on_manifold(const Tile<Real>&, std::size_t thread, Workspace<Real>&);
  void count_fallbacks(Workspace<Real>&);

  const PartRecipe* recipe_;
  std::uint64_t begins_;  // of the recipe
  double* fallbacks_;
  std::uint64_t key_;
  std::vector<Pending> pending_;
  std::vector<Real> frozen_;  // values of the frozen entries
  Tiling<Real> tiling_;
};

}  // namespace kelvin
