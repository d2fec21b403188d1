// SPDX-License-Identifier: Apache-2.0
// Which arrays a store writes of every draw, and how a draw is turned into their bytes.
#pragma once
#include "kelvin/run/problem.h"
#include "kelvin/run/rounds.h"
#include "kelvin/trajectory/zarr.h"

namespace kelvin {

// One array of a phase: its place, the shape of a draw, and how a draw is turned into bytes.
template <class Real>
struct StoredArray {
  std::string group, name;
  ZarrShape shape;
  std::function<void(const Draw<Real>&, char*)> put;
  std::string place() const { return group + "/" + name; }
};

// Those of the groups that begin with `prefix`: "" for sampling, "warmup_".
template <class Real>
std::vector<StoredArray<Real>> stored_arrays(const Problem<Real>&, const std::string& prefix,
                                             const std::function<double()>& seconds);

// The rows that are predicted for.
template <class Real>
const Dataset& predicted_rows(const Problem<Real>&);

std::vector<std::string> dimensions_of(const Block&);

}  // namespace kelvin
