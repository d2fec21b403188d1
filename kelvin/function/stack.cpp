// SPDX-License-Identifier: Apache-2.0
#include "kelvin/function/stack.h"

#include <algorithm>

namespace kelvin {

template <class Real>
Stack<Real>::Stack(const std::vector<LayerPlan>& plans, const Shape& input)
    : outputs_(output_of(plans, input).size()), widest_(outputs_) {
  for (const LayerPlan& plan : plans) {
    stages_.push_back({.layer = layer_named(plan.numbers.name, "").make<Real>(plan),
                       .first_block = blocks_,
                       .blocks = block_count(plan),
                       .outputs = plan.output.size(),
                       .shared = plan.shared});
    blocks_ += stages_.back().blocks;
    widest_ = std::max(widest_, stages_.back().outputs);
  }
}

template <class Real>
Stack<Real>::Stack(const Stack& other) : blocks_(other.blocks_), outputs_(other.outputs_), widest_(other.widest_) {
  for (const Stage& stage : other.stages_)
    stages_.push_back({.layer = stage.layer->clone(),
                       .first_block = stage.first_block,
                       .blocks = stage.blocks,
                       .outputs = stage.outputs,
                       .shared = stage.shared});
}

template <class Real>
const Real* Stack<Real>::forward(Weights<const Real> w, std::size_t rows, const Real* x, const Pass<Real>& pass) {
  rows_ = rows;
  x_ = x;
  for (Stage& stage : stages_) {
    grow(stage.values, rows * stage.outputs);
    x = with_blocks(pass, stage.first_block, stage.blocks, [&](const Pass<Real>& own) {
      stage.layer->forward(weights_from(w, stage.first_block), {.rows = rows, .x = x, .y = stage.values.data()}, own);
      return stage.values.data();
    });
  }
  return x;
}

template <class Real>
Real* Stack<Real>::output_slopes() {
  for (LargeArray<Real>& slopes : slopes_) grow(slopes, rows_ * widest_);
  return slopes_of(stages_.empty() ? 0 : stages_.size() - 1).data();
}

template <class Real>
void Stack<Real>::backward(Weights<const Real> w, const Slopes<Real>& slopes, Real* dx) {
  if (stages_.empty() && dx) std::copy_n(slopes_of(0).data(), rows_ * outputs_, dx);
  const std::size_t lowest = dx ? 0 : lowest_wanted(slopes.wanted);
  for (std::size_t k = stages_.size(); k-- > lowest;) {
    Stage& stage = stages_[k];
    Slopes<Real> own = slopes_from(slopes, stage.first_block, stage.blocks);
    if (stage.shared) own.keep = 1;
    stage.layer->backward(weights_from(w, stage.first_block),
                          {.rows = rows_,
                           .x = k > 0 ? stages_[k - 1].values.data() : x_,
                           .y = stage.values.data(),
                           .dy = slopes_of(k).data(),
                           .dx = k > lowest ? slopes_of(k - 1).data() : dx},
                          own);
  }
}

// The first layer with a block whose slopes are wanted.
template <class Real>
std::size_t Stack<Real>::lowest_wanted(std::span<const char> wanted) const {
  for (std::size_t k = 0; k < stages_.size(); ++k)
    for (std::size_t b = 0; b < stages_[k].blocks; ++b)
      if (wanted.empty() || wanted[stages_[k].first_block + b]) return k;
  return stages_.size();
}

template class Stack<float>;
template class Stack<double>;

}  // namespace kelvin
