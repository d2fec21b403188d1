// SPDX-License-Identifier: Apache-2.0
// The energy around a run: along lines, on surfaces and grids, along its own trajectory, and its curvature.
#pragma once
#include "kelvin/analysis/landscape/readings.h"

namespace kelvin {

// Meanings of options that several of them take.
inline constexpr std::string_view meaning_of_place =
    "where it begins: start, start:walker, RUN (its last draw), RUN:draw, RUN:draw:walker, or a .npz or .safetensors "
    "file";
inline constexpr std::string_view meaning_of_end = "where it ends, likewise; by default the last draw of the run";
inline constexpr std::string_view meaning_of_at = "the point, likewise; by default the last draw of the run";
inline constexpr std::string_view meaning_of_quantities =
    "quantities: potential, train_loss, test_accuracy, test_gradient_norm, ...";

// Options that say which blocks move.
struct MovingBlocks {
  std::vector<std::string> blocks = {"*"}, group;
  bool all() const { return group.empty() && blocks == std::vector<std::string>{"*"}; }
  template <class Visit>
  void fields(Visit&& field) {
    field("blocks", blocks, "only these blocks move; names with * and ?, or groups such as @last");
    field("group", group,
          "only these groups of them: weights, biases, gains, embeddings, statistics (`kelvin list block_groups`)");
  }
};
std::vector<const Block*> chosen_blocks(std::span<const Block>, const MovingBlocks&);

// What the values along a line look like.
inline constexpr std::string_view monotone_kind = "NB", barrier_kind = "B", plateau_kind = "P";
struct CurveShape {
  double barrier;       // highest - first
  double increase;      // largest rise from a point to a later one
  std::size_t highest;  // where
  double plateau;       // share of the points within 5 % of (chance - last) of the loss of chance; nan without one
  std::string_view kind;
};
// B: a rise above `tolerance` of the range; P: none, and a plateau of 30 % of the line; NB: neither.
CurveShape shape_of(std::span<const double> values, double tolerance, double chance);

// A random direction with every row of a weight matrix as long as that row of q (Li et al. 2018); vectors stay.
std::vector<double> filter_normalised(std::span<const Block>, std::span<const double> q, std::uint64_t seed,
                                      std::uint16_t which);

}  // namespace kelvin
