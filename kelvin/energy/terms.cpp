// SPDX-License-Identifier: Apache-2.0
#include "kelvin/energy/terms.h"

#include <algorithm>

namespace kelvin {

template <class Real>
void Terms<Real>::add(const BlockPrior& given, std::span<const Block> blocks) {
  const Block& block = block_named(given.block, blocks);
  if (std::ranges::find(seen_, given.block) != seen_.end())
    throw Error("block \"{}\" is given two priors; give it one", given.block);
  seen_.push_back(given.block);
  const PriorNumbers prior = prior_of(given.prior);
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
}

template <class Real>
double Terms<Real>::operator()(double U, std::span<const Real> q, double share, std::span<Real> g) const {
  double sum = 0;
  for (const auto& [block, prior] : priors_)
    sum += prior.row->template add<Real>()(q.subspan(block.offset, block.size()), prior.numbers.data(), share,
                                           g.subspan(block.offset, block.size()));
  U += share * sum;
  for (const auto& [block, penalty] : penalties_)
    U += penalty.row->template add<Real>()(block, q.subspan(block.offset, block.size()), penalty.numbers,
                                           g.subspan(block.offset, block.size()));
  return U;
}

template class Terms<float>;
template class Terms<double>;

}  // namespace kelvin
