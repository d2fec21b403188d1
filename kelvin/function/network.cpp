// SPDX-License-Identifier: Apache-2.0
#include "kelvin/function/network.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>

#include "kelvin/function/dense.h"
#include "kelvin/function/stack.h"

namespace kelvin {
namespace {

// What layers do for one row: numbers that they hold, multiply-adds and the weights that these go through.
struct RowWork {
  double numbers = 0, multiply_adds = 0, weights = 0;
  std::size_t fewest_rows = 1;
};
void add_work(const std::vector<LayerPlan>& plans, RowWork& to) {
  for (const LayerPlan& plan : plans) {
    to.numbers += double(plan.output.size() + plan.kept);
    to.multiply_adds += plan.multiply_adds;
    if (plan.multiply_adds > 0)
      for (const Block& block : plan.blocks) to.weights += double(block.size());
    to.fewest_rows = std::max(to.fewest_rows, plan.fewest_rows);
    for (const auto& branch : plan.branches) add_work(branch, to);
  }
}

// Rows at once, unless they depend on each other: as many as leave what all layers hold in the cache, but enough that
// weights, which each chunk of rows reads and whose slopes it adds up, cost little beside the multiply-adds.
std::size_t rows_in_cache(const std::vector<LayerPlan>& plans) {
  constexpr double cache = 1 << 18, cached_weights = 1 << 19;  // numbers
  RowWork row;
  add_work(plans, row);
  const double uses = std::max(1.0, row.multiply_adds / std::max(1.0, row.weights));  // of a weight, by a row
  const double enough = row.weights <= cached_weights ? 128 : 1024;
  const std::size_t least = std::max(row.fewest_rows, std::size_t(std::ceil(enough / uses)));
  return std::max(least, std::bit_ceil(std::size_t(cache / row.numbers)));
}

// Blocks as layers list them, one by one; those that layers share have one name.
std::vector<Block> listed_blocks(const std::vector<LayerPlan>& plans) {
  std::vector<Block> blocks;
  for (const LayerPlan& plan : plans) add_blocks(plan, blocks);
  return blocks;
}

std::vector<Block> blocks_of(const std::vector<LayerPlan>& plans) {
  std::vector<Block> blocks;
  for (const Block& block : listed_blocks(plans)) {
    const auto known = std::ranges::find(blocks, block.name, &Block::name);
    if (known == blocks.end()) blocks.push_back(block);
    else known->torch.insert(known->torch.end(), block.torch.begin(), block.torch.end());
  }
  lay_out(blocks);
  return blocks;
}

std::string kind_coupling_rows(const std::vector<LayerPlan>& plans) {
  for (const LayerPlan& plan : plans) {
    if (layer_named(plan.numbers.name, "").couples_rows) return plan.numbers.name;
    for (const auto& branch : plan.branches)
      if (std::string kind = kind_coupling_rows(branch); !kind.empty()) return kind;
  }
  return "";
}

void check_torch_names(const std::vector<LayerPlan>& plans) {
  std::set<std::string> names;
  for (const Block& block : listed_blocks(plans))
    for (const std::string& name : block.torch.front())
      if (!names.insert(name).second)
        throw Error("two blocks of model.layers would both be called \"{}\" in PyTorch; give their layers other labels",
                    name);
}

// A network of layers by name.
template <class Real>
class Layers final : public Function<Real> {
 public:
  Layers(const std::vector<LayerPlan>& plans, const Shape& input)
      : blocks_(blocks_of(plans)),
        inputs_(input.size()),
        output_(output_of(plans, input)),
        random_(any_layer(plans, &LayerRow::random)),
        stack_(plans, input) {
    const std::vector<Block> listed = listed_blocks(plans);
    if (listed.size() > blocks_.size())
      for (const Block& block : listed)
        places_.push_back(std::size_t(std::ranges::find(blocks_, block.name, &Block::name) - blocks_.begin()));
    weight_offsets_.resize(places_.size());
    slope_offsets_.resize(places_.size());
    wanted_.resize(places_.size());
    if (!any_layer(plans, &LayerRow::couples_rows)) most_rows_ = rows_in_cache(plans);
  }

  const std::vector<Block>& blocks() const override { return blocks_; }
  std::size_t inputs() const override { return inputs_; }
  std::size_t outputs() const override { return stack_.outputs(); }
  Shape output() const override { return output_; }
  bool random() const override { return random_; }
  std::size_t rows_at_once(std::size_t rows) const override { return std::min(kelvin::rows_at_once(rows), most_rows_); }
  std::unique_ptr<Function<Real>> clone() const override { return std::make_unique<Layers>(*this); }

  std::span<const Real> forward(Weights<const Real> w, const InputRows<Real>& rows, const Pass<Real>& pass) override {
    rows_ = rows.count;
    const bool lie_so = rows.chosen.empty() || rows.in_order;
    const Real* x = lie_so ? rows.inputs + rows.first * rows.width : gathered(rows);
    Pass<Real> own = pass;
    Slopes<Real> buffers;
    if (pass.buffers) {
      buffers = listed(*pass.buffers);
      own.buffers = &buffers;
    }
    return {stack_.forward(listed(w, weight_offsets_), rows_, x, own), rows_ * outputs()};
  }
  std::span<Real> output_slopes() override { return {stack_.output_slopes(), rows_ * outputs()}; }
  void backward(Weights<const Real> w, const Slopes<Real>& slopes) override {
    stack_.backward(listed(w, weight_offsets_), listed(slopes), nullptr);
  }

 private:
  // Weights and slopes as layers list their blocks, where some share one.
  template <class Number>
  Weights<Number> listed(Weights<Number> given, std::vector<std::size_t>& offsets) const {
    if (places_.empty()) return given;
    for (std::size_t k = 0; k < places_.size(); ++k) offsets[k] = given.offsets[places_[k]];
    return {given.base, offsets.data()};
  }
  Slopes<Real> listed(Slopes<Real> given) {
    given.g = listed(given.g, slope_offsets_);
    if (!places_.empty() && !given.wanted.empty()) {
      for (std::size_t k = 0; k < places_.size(); ++k) wanted_[k] = given.wanted[places_[k]];
      given.wanted = wanted_;
    }
    return given;
  }
  const Real* gathered(const InputRows<Real>& rows) {
    grow(gathered_, rows.count * rows.width);
    for (std::size_t i = 0; i < rows.count; ++i)
      std::copy_n(rows.inputs + rows.chosen[i] * rows.width, rows.width, gathered_.begin() + long(i * rows.width));
    return gathered_.data();
  }

  std::vector<Block> blocks_;
  std::size_t inputs_, most_rows_ = most_rows_at_once;
  Shape output_;
  bool random_;
  Stack<Real> stack_;
  std::size_t rows_ = 0;  // of the last forward pass
  LargeArray<Real> gathered_;
  std::vector<std::size_t> places_;  // in blocks_, of those that layers list; none where nothing is shared
  std::vector<std::size_t> weight_offsets_, slope_offsets_;
  std::vector<char> wanted_;
};

}  // namespace

std::vector<LayerPlan> network_plan(const ModelSettings& settings, const Shape& input) {
  std::vector<LayerPlan> plans = plan_layers(Value(settings.layers.items()), input);
  const bool alone = plans.size() == 1 && layer_named(plans.front().numbers.name, "").layers;
  if (alone && plans.front().label == Value("0")) plans.front().label = "";  // an architecture is the network itself
  if (settings.output != "linear") {
    const LayerRow& row = layer_named("activation", "");
    plans.push_back(row.plan(Choice("activation", {{"of", settings.output}}), output_of(plans, input)));
    plans.back().label = std::to_string(plans.size() - 1);
  }
  if (number_layers(plans) == 0) throw Error("model.layers has no layer with weights; give one such as \"dense 1\"");
  check_torch_names(plans);
  if (const Shape& shape = plans.back().output; shape.rank() > 2)
    throw Error("the outputs of model.layers are {} for each row; end with a layer such as \"dense 1\"", shape.text());
  return plans;
}

std::size_t weighted_layers(const ModelSettings& settings) {
  if (settings.layers.are_sizes()) return settings.layers.empty() ? 0 : settings.layers.sizes().size() - 1;
  return weighted_in(Value(settings.layers.items()));
}

template <class Real>
std::unique_ptr<Function<Real>> make_network(const ModelSettings& settings, const Shape& input) {
  if (settings.layers.are_sizes()) return make_dense<Real>(settings);
  return std::make_unique<Layers<Real>>(network_plan(settings, input), input);
}

std::string layer_coupling_rows(const ModelSettings& settings, const Shape& input) {
  return settings.layers.are_sizes() ? "" : kind_coupling_rows(network_plan(settings, input));
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
