// SPDX-License-Identifier: Apache-2.0
// Layers one after another, on all rows at once: a network, or a branch of one. An activation whose slope is a function
// of its values is no stage of its own: the layer before it does it, or it is done where the outputs of that layer lie.
#pragma once
#include "kelvin/function/activation.h"
#include "kelvin/function/layers.h"

namespace kelvin {

template <class Real>
class Stack {
 public:
  Stack(const std::vector<LayerPlan>&, const Shape& input);
  Stack(const Stack&);
  Stack(Stack&&) = default;

  std::size_t blocks() const { return blocks_; }
  std::size_t outputs() const { return outputs_; }
  // Outputs of the rows, valid until the next call; x must last until the backward pass.
  const Real* forward(Weights<const Real>, std::size_t rows, const Real* x, const Pass<Real>&);
  Real* output_slopes();  // where dL/d(outputs) of the last forward pass is to be put
  // Ends at the lowest layer that is wanted, unless dx is to be written.
  void backward(Weights<const Real>, const Slopes<Real>&, Real* dx);

 private:
  struct Stage {
    std::unique_ptr<Layer<Real>> layer;
    std::size_t first_block, blocks, outputs;
    bool shared;                           // its slopes are added to those that a later layer has written
    const ActivationOn<Real>* activation;  // of its outputs, where they lie; null: none
    LargeArray<Real> values = {};          // rows x outputs
  };
  std::size_t lowest_wanted(std::span<const char> wanted) const;
  LargeArray<Real>& slopes_of(std::size_t stage) { return slopes_[stage % 2]; }

  std::vector<Stage> stages_;
  std::size_t blocks_ = 0, outputs_, widest_;
  std::size_t rows_ = 0;     // of the last forward pass
  const Real* x_ = nullptr;  // its inputs
  LargeArray<Real> slopes_[2];
};

// The slopes of some blocks only, counted from `first` on.
template <class Real>
Slopes<Real> slopes_from(Slopes<Real> all, std::size_t first, std::size_t count) {
  all.g.offsets += first;
  if (!all.wanted.empty()) all.wanted = all.wanted.subspan(first, count);
  return all;
}

// The weights that follow the first `count` blocks.
template <class Real>
Weights<Real> weights_from(Weights<Real> all, std::size_t count) {
  return {all.base, all.offsets + count};
}

// What `forward` returns for a layer, or a branch of one, that has those of the blocks.
template <class Real, class Forward>
auto with_blocks(const Pass<Real>& pass, std::size_t first, std::size_t count, Forward&& forward) {
  Pass<Real> own = pass;
  Slopes<Real> buffers;
  if (pass.buffers) {
    buffers = slopes_from(*pass.buffers, first, count);
    own.buffers = &buffers;
  }
  return forward(own);
}

}  // namespace kelvin
