// SPDX-License-Identifier: Apache-2.0
#include "kelvin/function/network.h"

#include <algorithm>

#include "kelvin/function/dense.h"

namespace kelvin {
namespace {

std::unique_ptr<Layer<float>> make_layer(const LayerRow& row, const LayerPlan& plan, float) {
  return row.make_float(plan);
}
std::unique_ptr<Layer<double>> make_layer(const LayerRow& row, const LayerPlan& plan, double) {
  return row.make_double(plan);
}

std::vector<Block> blocks_of(const std::vector<LayerPlan>& plans) {
  std::vector<Block> blocks;
  for (const LayerPlan& plan : plans) blocks.insert(blocks.end(), plan.blocks.begin(), plan.blocks.end());
  lay_out(blocks);
  return blocks;
}

// One layer after another, on all rows at once.
template <class Real>
class Sequence final : public Function<Real> {
 public:
  explicit Sequence(const std::vector<LayerPlan>& plans)
      : blocks_(blocks_of(plans)), inputs_(plans.front().input.size()) {
    std::size_t first = 0;
    for (const LayerPlan& plan : plans) {
      stages_.push_back({.layer = make_layer(layer_named(plan.numbers.name, ""), plan, Real()),
                         .first_block = first,
                         .blocks = plan.blocks.size(),
                         .outputs = plan.output.size()});
      first += plan.blocks.size();
    }
  }
  Sequence(const Sequence& other) : blocks_(other.blocks_), inputs_(other.inputs_) {
    for (const Stage& stage : other.stages_)
      stages_.push_back({.layer = stage.layer->clone(),
                         .first_block = stage.first_block,
                         .blocks = stage.blocks,
                         .outputs = stage.outputs});
  }

  const std::vector<Block>& blocks() const override { return blocks_; }
  std::size_t inputs() const override { return inputs_; }
  std::size_t outputs() const override { return stages_.back().outputs; }

  std::span<const Real> forward(Weights<const Real> w, const InputRows<Real>& rows, const Pass& pass) override {
    rows_ = rows.count;
    x_ = rows.inputs + rows.first * rows.width;
    if (!rows.chosen.empty()) gather(rows);
    const Real* x = x_;
    for (Stage& stage : stages_) {
      stage.values.resize(std::max(stage.values.size(), rows_ * stage.outputs));
      stage.layer->forward(mine(w, stage), {.rows = rows_, .x = x, .y = stage.values.data()}, pass);
      x = stage.values.data();
    }
    return {x, rows_ * outputs()};
  }

  std::span<Real> output_slopes() override {
    for (Stage& stage : stages_) stage.slopes.resize(std::max(stage.slopes.size(), rows_ * stage.outputs));
    return {stages_.back().slopes.data(), rows_ * outputs()};
  }

  void backward(Weights<const Real> w, const Slopes<Real>& slopes) override {
    const std::size_t lowest = lowest_wanted(slopes.wanted);
    for (std::size_t k = stages_.size(); k-- > lowest;) {
      Stage& stage = stages_[k];
      Slopes<Real> own = slopes;
      own.g.offsets += stage.first_block;
      if (!slopes.wanted.empty()) own.wanted = slopes.wanted.subspan(stage.first_block, stage.blocks);
      const bool below = k > lowest;
      stage.layer->backward(mine(w, stage),
                            {.rows = rows_,
                             .x = k > 0 ? stages_[k - 1].values.data() : x_,
                             .y = stage.values.data(),
                             .dy = stage.slopes.data(),
                             .dx = below ? stages_[k - 1].slopes.data() : nullptr},
                            own);
    }
  }

  std::unique_ptr<Function<Real>> clone() const override { return std::make_unique<Sequence>(*this); }

 private:
  struct Stage {
    std::unique_ptr<Layer<Real>> layer;
    std::size_t first_block, blocks, outputs;
    LargeArray<Real> values = {}, slopes = {};  // rows x outputs
  };

  Weights<const Real> mine(Weights<const Real> w, const Stage& stage) const {
    return {w.base, w.offsets + stage.first_block};
  }

  void gather(const InputRows<Real>& rows) {
    gathered_.resize(std::max(gathered_.size(), rows.count * rows.width));
    for (std::size_t i = 0; i < rows.count; ++i)
      std::copy_n(rows.inputs + rows.chosen[i] * rows.width, rows.width, gathered_.begin() + long(i * rows.width));
    x_ = gathered_.data();
  }

  // The first layer with a block whose slopes are wanted: the backward pass ends there.
  std::size_t lowest_wanted(std::span<const char> wanted) const {
    for (std::size_t k = 0; k < stages_.size(); ++k)
      for (std::size_t b = 0; b < stages_[k].blocks; ++b)
        if (wanted.empty() || wanted[stages_[k].first_block + b]) return k;
    return stages_.size();
  }

  std::vector<Block> blocks_;
  std::size_t inputs_;
  std::vector<Stage> stages_;
  std::size_t rows_ = 0;     // of the last forward pass
  const Real* x_ = nullptr;  // its inputs
  LargeArray<Real> gathered_;
};

}  // namespace

std::vector<LayerPlan> network_plan(const ModelSettings& settings, const Shape& input) {
  std::vector<LayerPlan> plans;
  Shape shape = input;
  std::uint32_t depth = 0;
  const auto add = [&](const Choice& choice) {
    const LayerRow& row = layer_named(choice.name, choice.where);
    LayerPlan plan = row.plan(choice, shape);
    if (!plan.blocks.empty()) ++depth;
    for (Block& block : plan.blocks) {
      block.name = fmt::format("layer{}.{}", depth, block.name);
      block.layer = depth;
    }
    shape = plan.output;
    plans.push_back(std::move(plan));
  };
  for (const Value& item : settings.layers.items()) add(layer_chosen(item));
  if (settings.output != "linear") add(Choice("activation", {{"of", settings.output}}));
  if (depth == 0) throw Error("model.layers has no layer with weights; give one such as \"dense 1\"");
  if (shape.rank() != 1)
    throw Error("the outputs of model.layers are {} for each row; end with a layer such as \"dense 1\"", shape.text());
  return plans;
}

std::size_t weighted_layers(const ModelSettings& settings) {
  if (settings.layers.are_sizes()) return settings.layers.empty() ? 0 : settings.layers.sizes().size() - 1;
  std::size_t count = 0;
  for (const Value& item : settings.layers.items()) count += layer_named(layer_chosen(item).name, "").weighted;
  return count;
}

template <class Real>
std::unique_ptr<Function<Real>> make_network(const ModelSettings& settings, const Shape& input) {
  if (settings.layers.are_sizes()) return make_dense<Real>(settings);
  return std::make_unique<Sequence<Real>>(network_plan(settings, input));
}

std::vector<Block> network_blocks(const ModelSettings& settings, const Shape& input) {
  return settings.layers.are_sizes() ? dense_blocks(settings) : blocks_of(network_plan(settings, input));
}

std::size_t network_outputs(const ModelSettings& settings, const Shape& input) {
  if (settings.layers.are_sizes()) return std::size_t(settings.layers.sizes().back());
  return network_plan(settings, input).back().output.size();
}

template std::unique_ptr<Function<float>> make_network(const ModelSettings&, const Shape&);
template std::unique_ptr<Function<double>> make_network(const ModelSettings&, const Shape&);

}  // namespace kelvin
