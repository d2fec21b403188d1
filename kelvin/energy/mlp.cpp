// SPDX-License-Identifier: Apache-2.0
#include "kelvin/energy/mlp.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kelvin/core/pages.h"
#include "kelvin/function/activation.h"
#include "kelvin/function/block.h"
#include "kelvin/function/gemm.h"
#include "kelvin/function/layer.h"
#include "kelvin/energy/loss.h"
#include "kelvin/function/product.h"

namespace kelvin {
namespace {

// More rows than this are taken so many at a time: they stay in the cache, memory stays bounded, and how a batch is cut
// is a function of its size alone.
constexpr std::size_t most_at_once = 1024, chunk_rows = 512;
std::size_t rows_at_once(std::size_t rows) { return rows <= most_at_once ? rows : chunk_rows; }

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
  LargeArray<Real> x;  // rows x inputs
  LargeArray<Real> y;  // rows x outputs
  Targets kind;
  Units units;  // of the targets; none for classes
};

// Which loops serve a layer: those of layer.h where it is narrow on one side; those of product.h where its weights stay
// in the cache, for what they do faster than BLAS: the values, and the slopes if the inputs were gathered for it; else
// BLAS.
enum class Shape { few_in, few_out, medium, wide };
constexpr std::size_t medium_bytes = std::size_t(1) << 19;

// Rows gathered, and then multiplied, at a time: few enough to stay in the cache, and many tiles of product.h.
constexpr std::size_t gathered_at_once = 42;

template <class Real>
struct Layer {
  std::size_t inputs, outputs;
  const ActivationOn<Real>* activation;
  bool relu;  // applied by the loops themselves where they can
  Shape shape;
  std::size_t stride;       // of the rows of its values
  LargeArray<Real> values;  // rows x stride
  LargeArray<Real> packed;  // weights as its loops want them
};

// Rows of n numbers, one after another. Where they are narrow a call for each would cost more than it copies.
template <class Real>
void gather(const Real* from, std::size_t n, Batch rows, Real* to) {
  const auto small = [&](auto n) {
    for (const std::uint32_t row : rows) std::memcpy(to, from + row * n, n * sizeof(Real)), to += n;
  };
  if (n == 1) return small(std::integral_constant<std::size_t, 1>());
  if (n == 2) return small(std::integral_constant<std::size_t, 2>());
  constexpr std::size_t ahead = 4;  // rows lie anywhere in memory: ask for them in good time
  for (std::size_t i = 0; i < rows.size(); ++i, to += n) {
    for (std::size_t k = 0; n > narrow && i + ahead < rows.size() && k < n; k += 64 / sizeof(Real))
      __builtin_prefetch(from + rows[i + ahead] * n + k);
    const Real* row = from + rows[i] * n;
    if (n > narrow) std::copy_n(row, n, to);
    else
      for (std::size_t k = 0; k < n; ++k) to[k] = row[k];
  }
}

// A row of n numbers into panels (product.h) that lie `apart`.
template <class Real>
void pack_row(const Real* from, std::size_t n, Real* to, std::size_t apart) {
  for (; n >= panel; n -= panel, from += panel, to += apart) std::memcpy(to, from, panel * sizeof(Real));
  std::copy_n(from, n, to);
}

template <class Real>
class Mlp final : public Network<Real> {
 public:
  Mlp(const ModelSettings& settings, std::shared_ptr<const Data<Real>> data)
      : data_(std::move(data)), loss_(loss_named(settings.loss)), blocks_(mlp_blocks(settings)) {
    const auto activations = layer_activations(settings);
    for (std::size_t l = 0; l < activations.size(); ++l) {
      const std::size_t in = std::size_t(settings.layers[l]), out = std::size_t(settings.layers[l + 1]);
      const bool last = l + 1 == activations.size();
      Layer<Real> layer{in,
                        out,
                        &activations[l]->template on<Real>(),
                        activations[l]->positive_part,
                        Shape::wide,
                        last ? out : stride_for(out),
                        {},
                        {}};
      if (out <= narrow && (last || in > narrow)) layer.shape = Shape::few_out;
      else if (in <= narrow && !last) layer.shape = Shape::few_in;
      else if (in * out * sizeof(Real) <= medium_bytes) layer.shape = Shape::medium;
      if (layer.shape == Shape::medium) layer.packed.resize(packed_size(in, out));
      else if (layer.shape != Shape::wide) layer.packed.resize((narrow + 1) * padded(std::max(in, out)));
      layers_.push_back(std::move(layer));
    }
    const auto& first = layers_.front();
    one_go_ = layers_.size() == 2 && first.relu && first.inputs <= very_narrow && layers_.back().outputs <= very_narrow;
    if (one_go_) layers_.front().packed.resize((2 * very_narrow + 1) * padded(first.outputs));
    wanted_.assign(blocks_.size(), 1);
    if (loss_.has_scale) scales_.resize(outputs());
    if (learns_scale(settings)) log_scale_slopes_.resize(outputs());
    for (std::size_t k = 0; k < scales_.size(); ++k)
      scales_[k] = scale(std::log(settings.scale / data_->units.scale_of(k)));
  }

  std::vector<Block> blocks() const override { return blocks_; }
  void arrange(std::span<const Block> given) override {
    move_blocks(blocks_, given);
    places_.clear();
    for (const Block& b : blocks_) places_.push_back(std::size_t(&block_named(b.name, given) - given.data()));
  }
  void want(std::span<const char> given) override {
    for (std::size_t b = 0; b < blocks_.size(); ++b) wanted_[b] = given[places_[b]];
    lowest_ = 0;
    while (lowest_ + 1 < layers_.size() && !wanted_[2 * lowest_] && !wanted_[2 * lowest_ + 1]) ++lowest_;
  }
  std::size_t rows() const override { return data_->rows; }
  std::size_t outputs() const override { return data_->outputs; }
  std::unique_ptr<Potential<Real>> clone() const override { return std::make_unique<Mlp>(*this); }

  double operator()(std::span<const Real> q, Batch rows, std::span<Real> g) override {
    const std::size_t n = count(rows), at_once = rows_at_once(n);
    double sum = 0;
    read_scales(q);
    std::fill(log_scale_slopes_.begin(), log_scale_slopes_.end(), 0);
    for (std::size_t first = 0; first < n; first += at_once) {
      const Chunk c = chunk(rows, first);
      forward(q, c);
      sum += loss_.sum<Real>()({c.rows, outputs(), values(), c.y, delta_.data(), scales_, log_scale_slopes_});
      backward(q, c, Real(1 / double(n)), g);
    }
    for (std::size_t k = 0; k < log_scale_slopes_.size(); ++k)
      g[blocks_.back().offset + k] = Real(log_scale_slopes_[k] / double(n));
    return sum / double(n);
  }

  void predict(std::span<const Real> q, Batch rows, std::span<Real> out) override {
    for (std::size_t first = 0; first < count(rows); first += rows_at_once(count(rows))) {
      const Chunk c = chunk(rows, first);
      forward(q, c);
      std::copy_n(values(), c.rows * outputs(), out.begin() + std::ptrdiff_t(first * outputs()));
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
    for (std::size_t first = 0; first < n; first += rows_at_once(n)) {
      const Chunk c = chunk(rows, first);
      forward(q, c);
      for (std::size_t i = 0; i < c.rows; ++i) {
        for (std::size_t k = 0; k < width; ++k) {
          output[k] = data_->units.original(k, double(values()[i * width + k]));
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
    Batch gather;  // rows whose inputs are still to be put into x, in panels, by the first layer
  };

  std::size_t count(Batch rows) const { return rows.empty() ? data_->rows : rows.size(); }

  static Scale scale(double log) { return {log, std::exp(-2 * log)}; }

  static std::ptrdiff_t class_of(const std::vector<double>& row, double threshold) {
    if (row.size() == 1) return row[0] > threshold;
    return std::max_element(row.begin(), row.end()) - row.begin();
  }

  const Real* values() const { return layers_.back().values.data(); }  // of the outputs

  // Room for as many rows as are ever taken at once, made by the first evaluation.
  void make_room() {
    if (!delta_.empty()) return;
    const std::size_t rows = std::min(data_->rows, most_at_once);
    std::size_t widest = 0;
    for (auto& l : layers_) {
      l.values.resize(rows * l.stride + widest_vector);
      widest = std::max(widest, l.stride);
    }
    delta_.resize(rows * widest + widest_vector);
    next_delta_.resize(rows * widest + widest_vector);
    x_.resize(packed_size(rows, data_->inputs) + widest_vector);
    y_.resize(rows * data_->outputs);
  }

  void read_scales(std::span<const Real> q) {
    for (std::size_t k = 0; k < log_scale_slopes_.size(); ++k) scales_[k] = scale(q[blocks_.back().offset + k]);
  }

  // The rows of a batch from number `first` on; those of a full batch are used where they lie.
  Chunk chunk(Batch rows, std::size_t first) {
    const std::size_t all = count(rows), n = std::min(rows_at_once(all), all - first), in = data_->inputs,
                      out = data_->outputs;
    make_room();
    if (rows.empty()) return {first, n, data_->x.data() + first * in, data_->y.data() + first * out, {}};
    const Batch mine = rows.subspan(first, n);
    const bool in_panels = layers_.front().shape == Shape::medium;
    if (!in_panels) gather(data_->x.data(), in, mine, x_.data());
    gather(data_->y.data(), out, mine, y_.data());
    return {first, n, x_.data(), y_.data(), in_panels ? mine : Batch{}};
  }

  // The values of a medium layer: its inputs in rows, or, if they are still to be gathered, some rows at a time and
  // packed, while memory fetches the next ones.
  void medium_forward(std::size_t l, const Chunk& c, const Real* w, const Real* b) {
    Layer<Real>& layer = layers_[l];
    const LayerRows<Real> r = rows_of(l, c, layer.values.data());
    pack_turned(r.out, r.in, w, r.packed);
    Product<Real> p{.rows = c.rows,
                    .columns = r.out,
                    .depth = r.in,
                    .a = r.x,
                    .a_row = r.x_stride,
                    .a_depth = 1,
                    .a_panel = panel,
                    .b = r.packed,
                    .c = r.y,
                    .c_row = r.y_stride,
                    .bias = b,
                    .relu = layer.relu};
    if (l > 0 || c.gather.empty()) return multiply(p);
    p.a_row = panel, p.a_panel = c.rows * panel;
    const Real* soon[gathered_at_once];
    for (std::size_t first = 0; first < c.rows; first += gathered_at_once) {
      p.rows = std::min(gathered_at_once, c.rows - first);
      for (std::size_t i = first; i < first + p.rows; ++i)
        pack_row(row(c.gather[i]), r.in, x_.data() + i * panel, p.a_panel);
      const std::size_t next = first + p.rows, count = std::min(gathered_at_once, c.rows - next);
      for (std::size_t i = 0; i < count; ++i) soon[i] = row(c.gather[next + i]);
      p.soon = {soon, count};
      p.a = x_.data() + first * panel, p.c = r.y + first * r.y_stride;
      multiply(p);
    }
  }

  const Real* row(std::size_t i) const { return data_->x.data() + i * data_->inputs; }

  LayerRows<Real> rows_of(std::size_t l, const Chunk& c, Real* y) {
    Layer<Real>& layer = layers_[l];
    return {c.rows,
            layer.inputs,
            layer.outputs,
            l == 0 ? c.x : layers_[l - 1].values.data(),
            l == 0 ? layer.inputs : layers_[l - 1].stride,
            y,
            layer.stride,
            layer.packed.data()};
  }

  HiddenRows<Real> hidden_rows(const Chunk& c, Real* y) {
    Layer<Real>& first = layers_.front();
    return {c.rows, first.inputs, first.outputs, layers_.back().outputs, c.x, y, first.packed.data()};
  }
  template <class Number>
  HiddenWeights<Number> hidden_weights(Number* at) const {
    return {at + weight(0), at + bias(0), at + weight(1), at + bias(1)};
  }

  // The values of layer l are activation(values of layer l - 1 times weight^T + bias).
  void forward(std::span<const Real> q, const Chunk& c) {
    if (one_go_) {
      Layer<Real>& last = layers_.back();
      hidden_forward(hidden_rows(c, last.values.data()), hidden_weights(q.data()));
      return last.activation->forward({last.values.data(), c.rows * last.stride});
    }
    for (std::size_t l = 0; l < layers_.size(); ++l) {
      Layer<Real>& layer = layers_[l];
      const LayerRows<Real> r = rows_of(l, c, layer.values.data());
      const Real *w = q.data() + weight(l), *b = q.data() + bias(l);
      if (layer.shape == Shape::few_in) few_in_forward(r, w, b, layer.relu);
      if (layer.shape == Shape::few_out) few_out_forward(r, w, b);
      if (layer.shape == Shape::medium) medium_forward(l, c, w, b);
      if (layer.shape == Shape::wide) {
        for (std::size_t i = 0; i < c.rows; ++i) std::copy_n(b, layer.outputs, r.y + i * r.y_stride);
        gemm(1, {r.x, c.rows, r.in, r.x_stride}, {w, r.out, r.in, r.in, true}, 1, r.y, r.y_stride);
      }
      const bool done = layer.relu && (layer.shape == Shape::few_in || layer.shape == Shape::medium);
      if (!done) layer.activation->forward({r.y, c.rows * r.y_stride});
    }
  }

  // From d loss / d outputs in delta_ to `share` times the gradient: written by the first chunk, added to by the
  // others. Ends at the lowest layer that is wanted.
  void backward(std::span<const Real> q, const Chunk& c, Real share, std::span<Real> g) {
    const Real keep = c.first == 0 ? 0 : 1;
    if (one_go_) {
      Layer<Real>& last = layers_.back();
      last.activation->backward({last.values.data(), c.rows * last.stride}, {delta_.data(), c.rows * last.stride});
      return hidden_slopes(hidden_rows(c, delta_.data()), share, keep, hidden_weights(g.data()));
    }
    bool through_relu = false;  // the loops of the layer above have done it already
    for (std::size_t l = layers_.size(); l-- > lowest_;) {
      Layer<Real>& layer = layers_[l];
      const LayerRows<Real> r = rows_of(l, c, delta_.data());
      if (!through_relu)
        layer.activation->backward({layer.values.data(), c.rows * r.y_stride}, {r.y, c.rows * r.y_stride});
      through_relu = false;
      Real *w = g.data() + weight(l), *b = g.data() + bias(l);
      if (wanted_[2 * l] || wanted_[2 * l + 1]) {
        if (layer.shape == Shape::few_in) few_in_slopes(r, share, keep, w, b);
        if (layer.shape == Shape::few_out) few_out_slopes(r, share, keep, w, b);
        if (l == 0 && !c.gather.empty()) {
          multiply({.rows = r.out,
                    .columns = r.in,
                    .depth = c.rows,
                    .a = r.y,
                    .a_row = 1,
                    .a_depth = r.y_stride,
                    .a_panel = panel * r.y_stride,
                    .b = r.x,
                    .c = w,
                    .c_row = r.in,
                    .share = share,
                    .keep = keep});
          column_sums(r, share, keep, b);
        } else if (layer.shape >= Shape::medium) {
          gemm(share, {r.y, c.rows, r.out, r.y_stride, true}, {r.x, c.rows, r.in, r.x_stride}, keep, w, r.in);
          column_sums(r, share, keep, b);
        }
      }
      if (l == lowest_) break;
      const bool relu_below = layers_[l - 1].relu;
      if (layer.shape == Shape::few_in) few_in_below(r, next_delta_.data());
      if (layer.shape == Shape::few_out) few_out_below(r, next_delta_.data(), through_relu = relu_below);
      if (layer.shape >= Shape::medium)
        gemm(1, {r.y, c.rows, r.out, r.y_stride}, {q.data() + weight(l), r.out, r.in, r.in}, 0, next_delta_.data(),
             r.x_stride);
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

  std::vector<char> wanted_;         // per block: whether its slopes are
  std::vector<std::size_t> places_;  // of the blocks in the arranged list
  std::size_t lowest_ = 0;           // layer with a wanted block
  bool one_go_ = false;              // one hidden layer, for which layer.h has loops of its own

  LargeArray<Real> x_, y_, delta_, next_delta_;
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
  if (learns_scale(s)) add({log_scale_block, std::size_t(sizes.back()), 1, 0, 0, true});
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
  kept->x.resize(data.inputs.size() + widest_vector);  // vectors may read beyond the last row
  std::copy(data.inputs.begin(), data.inputs.end(), kept->x.begin());
  kept->y.assign(targets.values.begin(), targets.values.end());
  kept->kind = targets.kind;
  if (targets.kind == Targets::numbers) kept->units = data.target_units;
  return std::make_unique<Mlp<Real>>(settings, std::move(kept));
}

template std::unique_ptr<Network<float>> make_mlp(const ModelSettings&, const Dataset&, const Remark&);
template std::unique_ptr<Network<double>> make_mlp(const ModelSettings&, const Dataset&, const Remark&);

}  // namespace kelvin
