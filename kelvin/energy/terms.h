// SPDX-License-Identifier: Apache-2.0
// What is added to the energy of the data: priors, divided by the rows of data, and penalties, as they are.
#pragma once
#include "kelvin/energy/penalty.h"
#include "kelvin/energy/prior.h"

namespace kelvin {

template <class Real>
class Terms {
 public:
  void add(const BlockPrior&, std::span<const Block>);
  // Blocks that the data do not know: the scales that a prior learns.
  void learn(std::vector<Block> scales) { own_ = std::move(scales); }
  const std::vector<Block>& own_blocks() const { return own_; }
  void add(const BlockPenalty&, std::span<const Block>);
  void arrange(std::span<const Block>);
  void clear_own(std::span<Real> g) const;  // where the data write no slopes
  // Returns the sum of prior energies times `share`, and of the penalties, added to `U`; adds their slopes to g.
  double operator()(double U, std::span<const Real> q, double share, std::span<Real> g) const;

 private:
  struct Priored {
    Block block;
    PriorNumbers prior;
  };
  // Weights whose scale is learned: e^t / sqrt(fan_in), t the one number of `scale`.
  struct Scaled {
    Block block, scale;
  };
  struct Penalised {
    Block block;
    ChosenPenalty penalty;
  };
  std::vector<Priored> priors_;  // of blocks that have one, flat ones left out
  std::vector<Scaled> scaled_;
  std::vector<Block> own_;
  std::vector<std::string> seen_;
  std::vector<Penalised> penalties_;
};

}  // namespace kelvin
