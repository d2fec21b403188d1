// SPDX-License-Identifier: Apache-2.0
// U and its gradient at flat q: of a potential whose blocks lie one after another, or of an energy.
#pragma once
#include "kelvin/energy/energy.h"

namespace kelvin {

template <class Real>
double evaluated(Potential<Real>& U, std::type_identity_t<std::span<const Real>> q, Batch rows,
                 std::type_identity_t<std::span<Real>> g, std::span<const char> wanted = {}) {
  std::vector<Block> blocks = U.blocks();
  lay_out(blocks);
  const auto offsets = offsets_of(U.blocks(), blocks);
  return U({q.data(), offsets.data()}, {.rows = rows, .wanted = wanted}, {g.data(), offsets.data()});
}

template <class Real>
double evaluated(Energy<Real>& U, std::type_identity_t<std::span<const Real>> q, Batch rows,
                 std::type_identity_t<std::span<Real>> g) {
  return U(q, {.rows = rows}, g);
}

// A potential with terms added to it.
inline Energy<double> with_terms(std::unique_ptr<Potential<double>> data, const std::vector<BlockPrior>& priors,
                                 const std::vector<BlockPenalty>& penalties = {}) {
  Energy<double> U(std::move(data));
  const auto blocks = U.blocks();
  for (const BlockPrior& prior : priors) U.terms.add(prior, blocks);
  for (const BlockPenalty& penalty : penalties) U.terms.add(penalty, blocks);
  return U;
}

inline Energy<double> with_masks(std::unique_ptr<Potential<double>> data, const std::vector<BlockMask>& masks) {
  Energy<double> U(std::move(data));
  const auto blocks = U.blocks();
  for (const BlockMask& mask : masks) U.estimate.add(mask, blocks);
  return U;
}

}  // namespace kelvin
