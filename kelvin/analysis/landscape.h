// SPDX-License-Identifier: Apache-2.0
// The energy around a run: along lines, on surfaces and grids, along its own trajectory, and its curvature. Each is a
// row of `landscapes`; to add one, write its function (landscape_*.cpp) and its row in landscape.cpp, with the options
// it takes.
#pragma once
#include "kelvin/analysis/finding.h"
#include "kelvin/analysis/readings.h"

namespace kelvin {

struct LandscapeOptions {
  std::string from = "start", to, other, at;
  std::vector<std::string> of, blocks = {"*"}, axis, exclude;
  std::string by = "all", spanned_by = "covariance", directions, split = "train", out;
  std::vector<double> scale = {1};
  double tolerance = 0.01, reach = 0;
  long intervals = 0, most = 100000, every = 1, count = 5, products = 200, probes = 10, depth = 40, seed = 1;
  bool log = false, relative = false, force = false;
  template <class Visit>
  void fields(Visit&& field) {
    field("from", from,
          "where it begins: start, start:walker, RUN (its last draw), RUN:draw, RUN:draw:walker, or a "
          ".npz or .safetensors file");
    field("to", to, "where it ends, likewise; by default the last draw of the run");
    field("other", other, "the second optimum, likewise");
    field("at", at, "the point, likewise; by default the last draw of the run");
    field("of", of, "quantities: potential, train_loss, test_accuracy, test_gradient_norm, ...");
    field("blocks", blocks, "only these blocks move, the others stay at the end; with * and ?");
    field("by", by, "one line for all blocks together, or one for each block, layer or group");
    field("intervals", intervals, "equal intervals, of an axis; by default 50 for a line, 40 for a surface");
    field("tolerance", tolerance, "rises below this share of the line's range do not count");
    field("spanned_by", spanned_by, "directions of the surface: covariance, random, optima or given");
    field("directions", directions,
          ".npz file with the arrays v0 and v1, and perhaps mean; each as long as all blocks "
          "together");
    field("scale", scale, "half-widths of the surface in units of its reach, one surface for each: 0.1,1,10");
    field("reach", reach,
          "half-width at scale 1, in lengths of the directions; by default what holds all draws, 1 for "
          "random directions");
    field("log", log, "show the logarithm to base 10");
    field("seed", seed, "of random directions and vectors");
    field("axis", axis,
          "entries and where to evaluate: \"layer1.weight[0,1]=-2:2:41\"; with * and ? an axis for each "
          "entry that matches (may be repeated)");
    field("exclude", exclude, "entries that stay at the point although an axis names them, with * and ?");
    field("relative", relative, "axes are relative to the point");
    field("most", most, "refuse grids of more points than this");
    field("out", out, "file for the numbers, .csv or .npz");
    field("force", force, "replace the file that is there");
    field("every", every, "every so many draws");
    field("split", split, "rows: train (with the prior), validation or test");
    field("count", count, "eigenvalues at either end");
    field("products", products, "at most so many products with vectors to find them");
    field("probes", probes, "random vectors for the trace and the density");
    field("depth", depth, "products for each random vector of the density");
  }
};

struct Landscape {
  std::string_view name;
  Finding (*explore)(const Scene&, const LandscapeOptions&);
  std::vector<std::string_view> takes;  // fields of the options
  std::string_view meaning;
};
std::span<const Landscape> landscapes();

Finding landscape_line(const Scene&, const LandscapeOptions&);        // landscape_line.cpp
Finding landscape_surface(const Scene&, const LandscapeOptions&);     // landscape_surface.cpp
Finding landscape_grid(const Scene&, const LandscapeOptions&);        // landscape_grid.cpp
Finding landscape_trajectory(const Scene&, const LandscapeOptions&);  // landscape_grid.cpp
Finding landscape_hessian(const Scene&, const LandscapeOptions&);     // landscape_hessian.cpp

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
