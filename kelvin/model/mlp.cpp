// SPDX-License-Identifier: Apache-2.0
#include "kelvin/model/mlp.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "kelvin/model/activation.h"
#include "kelvin/model/blocks.h"
#include "kelvin/model/gemm.h"
#include "kelvin/model/loss.h"

namespace kelvin {
namespace {

// Rows are taken this many at a time, whatever the batch: memory stays bounded and sums keep their order.
constexpr std::size_t chunk_rows = 512;

bool learns_scale(const ModelSettings& s) { return loss_named(s.loss).has_scale && s.scale == 0; }

std::vector<const Activation*> layer_activations(const ModelSettings& s) {
  const std::size_t hidden = s.layers.size() - 2;
  if (s.activation.size() != 1 && s.activation.size() != hidden)
    throw Error("model.activation names {} activations for {} hidden layers; give one for all, or one for each",
                s.activation.size(), hidden);
  std::vector<const Activation*> out;
  for (std::size_t l = 0; l < hidden; ++l)
    out.push_back(&activation_named(s.activation[s.activation.size() == 1 ? 0 : l]));
  out.push_back(&activation_named(s.output));
  return out;
}

void check_output(const Activation& output, const Loss& loss, Targets kind) {
  if (!loss.output.empty() && output.name != loss.output)
    throw Error("loss \"{}\" needs model.output = \"{}\", not \"{}\"", loss.name, loss.output, output.name);
  if (kind == Targets::minus_plus && output.lower >= 0)
    throw Error(
        "loss \"{}\" has the targets -1 and +1 here, but model.output = \"{}\" never falls below {:g}; use \"linear\"",
        loss.name, output.name, output.lower);
}

template <class Real>
struct Data {
  std::size_t rows, inputs, outputs;
  std::vector<Real> x, y;  // rows x inputs, rows x outputs
  Targets kind;
  Units units;  // of the targets; none for classes
};

template <class Real>
struct Layer {
  std::size_t inputs, outputs;
  const ActivationOn<Real>* activation;
};

template <class Real>
class Mlp final : public Network<Real> {
 public:
  Mlp(const ModelSettings& settings, std::shared_ptr<const Data<Real>> data)
      : data_(std::move(data)), loss_(loss_named(settings.loss)), blocks_(mlp_blocks(settings)) {
    const auto activations = layer_activations(settings);
    for (std::size_t l = 0; l < activations.size(); ++l)
      layers_.push_back(
          {std::size_t(settings.layers[l]), std::size_t(settings.layers[l + 1]), &activations[l]->template on<Real>()});
    if (loss_.has_scale) scales_.resize(outputs());
    if (learns_scale(settings)) log_scale_slopes_.resize(outputs());
    for (std::size_t k = 0; k < scales_.size(); ++k)
      scales_[k] = scale(std::log(settings.scale / data_->units.scale_of(k)));
    make_workspace();
  }

  std::vector<Block> blocks() const override { return blocks_; }
  void arrange(std::span<const Block> given) override { move_blocks(blocks_, given); }
  std::size_t rows() const override { return data_->rows; }
  std::size_t outputs() const override { return data_->outputs; }
  std::unique_ptr<Potential<Real>> clone() const override { return std::make_unique<Mlp>(*this); }

  double operator()(std::span<const Real> q, Batch rows, std::span<Real> g) override {
    const std::size_t n = count(rows);
    double sum = 0;
    read_scales(q);
    std::fill(log_scale_slopes_.begin(), log_scale_slopes_.end(), 0);
    for (std::size_t first = 0; first < n; first += chunk_rows) {
      const Chunk c = chunk(rows, first);
      forward(q, c);
      sum +=
          loss_.sum<Real>()({c.rows, outputs(), values_.back().data(), c.y, delta_.data(), scales_, log_scale_slopes_});
      backward(q, c, Real(1 / double(n)), g);
    }
    for (std::size_t k = 0; k < log_scale_slopes_.size(); ++k)
      g[blocks_.back().offset + k] = Real(log_scale_slopes_[k] / double(n));
    return sum / double(n);
  }

  void predict(std::span<const Real> q, Batch rows, std::span<Real> out) override {
    for (std::size_t first = 0; first < count(rows); first += chunk_rows) {
      const Chunk c = chunk(rows, first);
      forward(q, c);
      std::copy_n(values_.back().begin(), c.rows * outputs(), out.begin() + std::ptrdiff_t(first * outputs()));
    }
  }

  Score score(std::span<const Real> q, Batch rows) override {
    const std::size_t n = count(rows), width = outputs();
    read_scales(q);
    std::vector<Scale> scales = scales_;
    for (std::size_t k = 0; k < scales.size(); ++k)
      scales[k] = scale(scales[k].log + std::log(data_->units.scale_of(k)));
    std::vector<double> output(width), target(width), slope(width);
    double loss = 0, right = 0, squares = 0;
    for (std::size_t first = 0; first < n; first += chunk_rows) {
      const Chunk c = chunk(rows, first);
      forward(q, c);
      for (std::size_t i = 0; i < c.rows; ++i) {
        for (std::size_t k = 0; k < width; ++k) {
          output[k] = data_->units.original(k, double(values_.back()[i * width + k]));
          target[k] = data_->units.original(k, double(c.y[i * width + k]));
          squares += (output[k] - target[k]) * (output[k] - target[k]);
        }
        loss += loss_.sum<double>()({1, width, output.data(), target.data(), slope.data(), scales, {}});
        right += class_of(output, loss_.threshold) == class_of(target, 0.5);
      }
    }
    Score s;
    s.loss = loss / double(n);
    if (data_->kind == Targets::numbers) s.rmse = std::sqrt(squares / double(n * width));
    else s.accuracy = right / double(n);
    return s;
  }

 private:
  struct Chunk {
    std::size_t first, rows;
    const Real *x, *y;
  };

  std::size_t count(Batch rows) const { return rows.empty() ? data_->rows : rows.size(); }

  static Scale scale(double log) { return {log, std::exp(-2 * log)}; }

  static std::ptrdiff_t class_of(const std::vector<double>& row, double threshold) {
    if (row.size() == 1) return row[0] > threshold;
    return std::max_element(row.begin(), row.end()) - row.begin();
  }

  void make_workspace() {
    std::size_t widest = 0;
    for (const auto& l : layers_) {
      values_.emplace_back(chunk_rows * l.outputs);
      widest = std::max(widest, l.outputs);
    }
    delta_.resize(chunk_rows * widest);
    next_delta_.resize(chunk_rows * widest);
    sums_.resize(widest);
    x_.resize(chunk_rows * data_->inputs);
    y_.resize(chunk_rows * data_->outputs);
  }

  void read_scales(std::span<const Real> q) {
    for (std::size_t k = 0; k < log_scale_slopes_.size(); ++k) scales_[k] = scale(q[blocks_.back().offset + k]);
  }

  // The rows of a batch from number `first` on; those of a full batch are used where they lie.
  Chunk chunk(Batch rows, std::size_t first) {
    const std::size_t n = std::min(chunk_rows, count(rows) - first), in = data_->inputs, out = data_->outputs;
    if (rows.empty()) return {first, n, data_->x.data() + first * in, data_->y.data() + first * out};
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t row = rows[first + i];
      std::copy_n(data_->x.data() + row * in, in, x_.data() + i * in);
      std::copy_n(data_->y.data() + row * out, out, y_.data() + i * out);
    }
    return {first, n, x_.data(), y_.data()};
  }

  // The values of layer l are activation(values of layer l - 1 times weight^T + bias).
  void forward(std::span<const Real> q, const Chunk& c) {
    const Real* below = c.x;
    for (std::size_t l = 0; l < layers_.size(); ++l) {
      const auto& [in, out, activation] = layers_[l];
      Real* values = values_[l].data();
      for (std::size_t i = 0; i < c.rows; ++i) std::copy_n(q.data() + bias(l), out, values + i * out);
      gemm(1, {below, c.rows, in}, {q.data() + weight(l), out, in, true}, 1, values);
      activation->forward({values, c.rows * out});
      below = values;
    }
  }

  // From d loss / d outputs in delta_ to `share` times the gradient: written by the first chunk, added to by the
  // others.
  void backward(std::span<const Real> q, const Chunk& c, Real share, std::span<Real> g) {
    const Real keep = c.first == 0 ? 0 : 1;
    for (std::size_t l = layers_.size(); l-- > 0;) {
      const auto& [in, out, activation] = layers_[l];
      const Factor<Real> delta{delta_.data(), c.rows, out};
      activation->backward({values_[l].data(), c.rows * out}, {delta_.data(), c.rows * out});
      const Real* below = l == 0 ? c.x : values_[l - 1].data();
      gemm(share, {delta.data, c.rows, out, true}, {below, c.rows, in}, keep, g.data() + weight(l));

      std::fill_n(sums_.begin(), out, 0);
      for (std::size_t i = 0; i < c.rows; ++i)
        for (std::size_t k = 0; k < out; ++k) sums_[k] += delta.data[i * out + k];
      Real* bias_slope = g.data() + bias(l);
      for (std::size_t k = 0; k < out; ++k) bias_slope[k] = (keep == 0 ? 0 : bias_slope[k]) + share * Real(sums_[k]);

      if (l > 0) gemm(1, delta, {q.data() + weight(l), out, in}, 0, next_delta_.data());
      std::swap(delta_, next_delta_);
    }
  }

  std::size_t weight(std::size_t layer) const { return blocks_[2 * layer].offset; }
  std::size_t bias(std::size_t layer) const { return blocks_[2 * layer + 1].offset; }

  std::shared_ptr<const Data<Real>> data_;
  const Loss& loss_;
  std::vector<Block> blocks_;
  std::vector<Layer<Real>> layers_;
  std::vector<Scale> scales_;
  std::vector<double> log_scale_slopes_;  // empty when the scale is fixed

  std::vector<std::vector<Real>> values_;  // of each layer, for one chunk
  std::vector<Real> x_, y_, delta_, next_delta_;
  std::vector<double> sums_;
};

}  // namespace

std::vector<Block> mlp_blocks(const ModelSettings& s) {
  constexpr std::size_t most = std::size_t(1) << 31;
  const auto& sizes = s.layers;
  if (sizes.size() < 2)
    throw Error("model.layers has {} sizes; give at least two, from input to output, for example [2, 100, 1]",
                sizes.size());
  for (const long size : sizes)
    if (size < 1 || std::size_t(size) > most)
      throw Error("model.layers has a layer of size {}; sizes are 1 to 2^31", size);
  std::vector<Block> blocks;
  std::size_t end = 0;
  const auto add = [&](Block block) {
    block.offset = end;
    end += block.size();
    blocks.push_back(std::move(block));
    if (end > most)
      throw Error("model.layers = [{}] has more than 2^31 parameters; use smaller layers", fmt::join(sizes, ", "));
  };
  for (std::size_t l = 1; l < sizes.size(); ++l) {
    const std::size_t in = std::size_t(sizes[l - 1]), out = std::size_t(sizes[l]);
    add({fmt::format("layer{}.weight", l), out, in, 0, in, false});
    add({fmt::format("layer{}.bias", l), out, 1, 0, in, true});
  }
  if (learns_scale(s)) add({"noise.log_scale", std::size_t(sizes.back()), 1, 0, 0, true});
  return blocks;
}

template <class Real>
std::unique_ptr<Network<Real>> make_mlp(const ModelSettings& settings, const Dataset& data, const Remark& remark) {
  mlp_blocks(settings);  // refuses sizes that make no network
  const std::size_t inputs = std::size_t(settings.layers.front()), outputs = std::size_t(settings.layers.back());
  if (data.rows == 0) throw Error("a network needs data, but the dataset has no rows");
  if (inputs != data.input_count())
    throw Error("the first of model.layers is {}, but the data have {} inputs; make them equal", inputs,
                data.input_count());
  const Loss& loss = loss_named(settings.loss);
  if (settings.scale < 0 || !std::isfinite(settings.scale))
    throw Error("model.scale is {}; give a standard deviation above 0, or 0 to learn it", settings.scale);
  if (settings.scale != 0 && !loss.has_scale) throw Error("model.scale is given, but loss \"{}\" has none", loss.name);
  const Encoded targets = encode(loss, data, outputs, remark);
  check_output(*layer_activations(settings).back(), loss, targets.kind);

  auto kept = std::make_shared<Data<Real>>();
  kept->rows = data.rows, kept->inputs = inputs, kept->outputs = outputs;
  kept->x.assign(data.inputs.begin(), data.inputs.end());
  kept->y.assign(targets.values.begin(), targets.values.end());
  kept->kind = targets.kind;
  if (targets.kind == Targets::numbers) kept->units = data.target_units;
  return std::make_unique<Mlp<Real>>(settings, std::move(kept));
}

template std::unique_ptr<Network<float>> make_mlp(const ModelSettings&, const Dataset&, const Remark&);
template std::unique_ptr<Network<double>> make_mlp(const ModelSettings&, const Dataset&, const Remark&);

}  // namespace kelvin
