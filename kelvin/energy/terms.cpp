// SPDX-License-Identifier: Apache-2.0
#include "kelvin/energy/terms.h"

#include <algorithm>
#include <cmath>

#include "kelvin/energy/quadratic.h"

namespace kelvin {

template <class Real>
void Terms<Real>::add(const BlockPrior& given, std::span<const Block> blocks) {
  const Block& block = block_named(given.block, blocks);
  if (std::ranges::find(seen_, given.block) != seen_.end())
    throw Error("block \"{}\" is given two priors; give it one", given.block);
  seen_.push_back(given.block);
  const PriorNumbers prior = prior_of(given.prior, block);
  if (prior.row->learned && block.role == Role::weight) {
    scaled_.push_back({block, block_named(name_of_scale(block), blocks)});
    return;
  }
  if (!prior.flat()) priors_.push_back({block, prior});
}

template <class Real>
void Terms<Real>::add(const BlockPenalty& given, std::span<const Block> blocks) {
  penalties_.push_back({block_named(given.block, blocks), penalty_of(given.penalty)});
}

template <class Real>
void Terms<Real>::arrange(std::span<const Block> given) {
  for (Priored& p : priors_) p.block = block_named(p.block.name, given);
  for (Penalised& p : penalties_) p.block = block_named(p.block.name, given);
  for (Scaled& s : scaled_) {
    s.block = block_named(s.block.name, given);
    s.scale = block_named(s.scale.name, given);
  }
  for (Block& b : own_) b = block_named(b.name, given);
}

template <class Real>
void Terms<Real>::clear_own(std::span<Real> g) const {
  for (const Block& b : own_) std::ranges::fill(g.subspan(b.offset, b.size()), Real(0));
}

template <class Real>
double Terms<Real>::operator()(double U, std::span<const Real> q, double share, std::span<Real> g) const {
  double sum = 0;
  for (const auto& [block, prior] : priors_)
    sum += prior.row->template add<Real>()(q.subspan(block.offset, block.size()), prior.numbers.data(), share,
                                           g.subspan(block.offset, block.size()));
  // n weights q of standard deviation s = e^t / sqrt(fan_in): |q|^2 / (2 s^2) + n t, with the slope n - |q|^2 / s^2 by
  // t
  for (const auto& [block, scale] : scaled_) {
    const double t = double(q[scale.offset]), n = double(block.size());
    const double stiffness = std::exp(-2 * t) * double(std::max<std::size_t>(1, block.fan_in));
    const double square = stiffness * add_springs<Real>(share * stiffness, 0, q.subspan(block.offset, block.size()),
                                                        g.subspan(block.offset, block.size()));
    sum += square / 2 + n * t;
    g[scale.offset] += Real(share * (n - square));
  }
  U += share * sum;
  for (const auto& [block, penalty] : penalties_)
    U += penalty.row->template add<Real>()(block, q.subspan(block.offset, block.size()), penalty.numbers,
                                           g.subspan(block.offset, block.size()));
  return U;
}

template class Terms<float>;
template class Terms<double>;

}  // namespace kelvin
