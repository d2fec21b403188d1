// SPDX-License-Identifier: Apache-2.0
#include "kelvin/analysis/landscape.h"

namespace kelvin {

std::span<const Landscape> landscapes() {
  static const Landscape table[] = {
      {"line",
       landscape_line,
       {"from", "to", "of", "blocks", "by", "intervals", "tolerance"},
       "along the straight line between two points: barriers, plateaus, distances"},
      {"surface",
       landscape_surface,
       {"spanned_by", "of", "at", "from", "to", "other", "directions", "scale", "reach", "intervals", "log", "seed"},
       "on a plane through a point, with the draws projected onto it"},
      {"grid",
       landscape_grid,
       {"axis", "exclude", "relative", "at", "of", "most", "out", "force"},
       "on a grid over chosen parameters"},
      {"trajectory", landscape_trajectory, {"of", "every", "out", "force"}, "at the draws of the run, on any rows"},
      {"hessian",
       landscape_hessian,
       {"at", "split", "count", "products", "probes", "depth", "seed"},
       "second derivatives at a point: leading eigenvalues, trace, density, and what they say about the step"},
  };
  return table;
}

}  // namespace kelvin
