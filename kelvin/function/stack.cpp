// SPDX-License-Identifier: Apache-2.0
#include "kelvin/function/stack.h"

#include <algorithm>

namespace kelvin {
namespace {

// Appends the layers, those of an architecture in its place.
void append_layers(const std::vector<LayerPlan>& plans, std::vector<LayerPlan>& to) {
  for (const LayerPlan& plan : plans)
    if (layer_named(plan.numbers.name, "").make_float) to.push_back(plan);
    else append_layers(plan.branches.front(), to);
}

// What becomes of layers in a stack.
struct PlannedStage {
  LayerPlan plan;
  const Activation* in_place = nullptr;  // of its outputs
};

// A layer that does the embedding before it.
LayerPlan with_embedding(const LayerPlan& embedding, LayerPlan plan) {
  plan.input = embedding.input;
  plan.words = embedding.blocks[0].shape[0];
  plan.blocks.insert(plan.blocks.begin(), embedding.blocks[0]);
  return plan;
}

// Activations go to the layer before or behind them, where one can do them; others stay layers.
std::vector<PlannedStage> planned_stages(const std::vector<LayerPlan>& plans) {
  const auto activation_at = [&](std::size_t k) { return k < plans.size() ? plans[k].activation : nullptr; };
  const auto relu_at = [&](std::size_t k) {
    return activation_at(k) && activation_at(k)->on_the_way == OnTheWay::positive_part;
  };
  std::vector<PlannedStage> stages;
  for (std::size_t k = 0; k < plans.size(); ++k) {
    if (relu_at(k) && k + 1 < plans.size() && plans[k + 1].monotone) {
      stages.push_back({plans[++k]});
      stages.back().plan.relu = true;
    } else {
      stages.push_back({plans[k]});
    }
    PlannedStage& stage = stages.back();
    if (k + 1 < plans.size() && plans[k + 1].takes_words && stage.plan.embeds && !stage.plan.shared)
      stage.plan = with_embedding(stage.plan, plans[++k]);
    const Activation* behind = stage.plan.needs_outputs ? nullptr : activation_at(k + 1);
    const bool goes_on = relu_at(k + 1) && k + 2 < plans.size() && plans[k + 2].monotone;
    if (!behind || behind->in_float.needs_inputs || goes_on) continue;
    if (relu_at(k + 1) && stage.plan.takes_relu) stage.plan.relu = true;
    else stage.in_place = behind;
    ++k;
  }
  return stages;
}

}  // namespace

template <class Real>
Stack<Real>::Stack(const std::vector<LayerPlan>& plans, const Shape& input)
    : outputs_(output_of(plans, input).size()), widest_(outputs_) {
  std::vector<LayerPlan> all;
  append_layers(plans, all);
  for (const PlannedStage& stage : planned_stages(all)) {
    const LayerPlan& plan = stage.plan;
    stages_.push_back({.layer = layer_named(plan.numbers.name, "").make<Real>(plan),
                       .first_block = blocks_,
                       .blocks = block_count(plan),
                       .outputs = plan.output.size(),
                       .shared = plan.shared,
                       .activation = stage.in_place ? &stage.in_place->on<Real>() : nullptr});
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
                       .shared = stage.shared,
                       .activation = stage.activation});
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
    if (stage.activation) stage.activation->forward({stage.values.data(), rows * stage.outputs});
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
    if (const std::size_t n = rows_ * stage.outputs; stage.activation)
      stage.activation->backward({stage.values.data(), n}, {slopes_of(k).data(), n});
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
