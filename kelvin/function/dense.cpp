// SPDX-License-Identifier: Apache-2.0
#include "kelvin/function/dense.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "kelvin/core/error.h"
#include "kelvin/function/activation.h"
#include "kelvin/function/gemm.h"
#include "kelvin/function/layer.h"
#include "kelvin/function/product.h"

namespace kelvin {
namespace {

std::vector<const Activation*> layer_activations(const ModelSettings& s) {
  const std::size_t hidden = s.layers.sizes().size() - 2;
  if (s.activation.size() != 1 && s.activation.size() != hidden)
    throw Error("model.activation names {} activations for {} hidden layers; give one for all, or one for each",
                s.activation.size(), hidden);
  std::vector<const Activation*> out;
  for (std::size_t l = 0; l < hidden; ++l)
    out.push_back(&activation_named(s.activation[s.activation.size() == 1 ? 0 : l]));
  out.push_back(&activation_named(s.output));
  return out;
}

// Which loops serve a layer: those of layer.h where it is narrow on one side; those of product.h where its weights stay
// in the cache, for what they do faster than BLAS: the values, and the slopes if the inputs were gathered for it; else
// BLAS.
enum class Loops { few_in, few_out, medium, wide };
constexpr std::size_t medium_bytes = std::size_t(1) << 19;

// Rows gathered, and then multiplied, at a time: few enough to stay in the cache, and many tiles of product.h.
constexpr std::size_t gathered_at_once = 42;

template <class Real>
struct DenseStage {
  std::size_t inputs, outputs;
  const ActivationOn<Real>* activation;
  bool relu;  // applied by the loops themselves where they can
  Loops loops;
  std::size_t stride;       // of the rows of its values
  LargeArray<Real> values;  // rows x stride
  LargeArray<Real> packed;  // weights as its loops want them
  LargeArray<Real> sums;    // what its activation was given, where that is asked for on the way back
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
class Dense final : public Function<Real> {
 public:
  explicit Dense(const ModelSettings& settings) : blocks_(dense_blocks(settings)) {
    const auto activations = layer_activations(settings);
    const std::vector<long> sizes = settings.layers.sizes();
    for (std::size_t l = 0; l < activations.size(); ++l) {
      const std::size_t in = std::size_t(sizes[l]), out = std::size_t(sizes[l + 1]);
      const bool last = l + 1 == activations.size();
      DenseStage<Real> layer{in,
                             out,
                             &activations[l]->template on<Real>(),
                             activations[l]->on_the_way == OnTheWay::positive_part,
                             Loops::wide,
                             last ? out : stride_for(out),
                             {},
                             {},
                             {}};
      if (out <= narrow && (last || in > narrow)) layer.loops = Loops::few_out;
      else if (in <= narrow && !last) layer.loops = Loops::few_in;
      else if (in * out * sizeof(Real) <= medium_bytes) layer.loops = Loops::medium;
      if (layer.loops == Loops::medium) layer.packed.resize(packed_size(in, out));
      else if (layer.loops != Loops::wide) layer.packed.resize((narrow + 1) * padded(std::max(in, out)));
      layers_.push_back(std::move(layer));
    }
    const auto& first = layers_.front();
    one_go_ = layers_.size() == 2 && activations[0]->on_the_way != OnTheWay::none && first.inputs <= very_narrow &&
              layers_.back().outputs <= very_narrow;
    if (one_go_) layers_.front().packed.resize((2 * very_narrow + 1) * padded(first.outputs));
  }

  const std::vector<Block>& blocks() const override { return blocks_; }
  std::size_t inputs() const override { return layers_.front().inputs; }
  std::size_t outputs() const override { return layers_.back().outputs; }
  std::unique_ptr<Function<Real>> clone() const override { return std::make_unique<Dense>(*this); }

  // The values of layer l are activation(values of layer l - 1 times weight^T + bias).
  std::span<const Real> forward(Weights<const Real> w, const InputRows<Real>& rows, const Pass<Real>&) override {
    take(rows);
    if (one_go_) {
      hidden_forward(hidden_rows(layers_.back().values.data()), hidden_weights(w));
      activate(layers_.back());
    }
    for (std::size_t l = 0; l < layers_.size() && !one_go_; ++l) layer_forward(l, w[2 * l], w[2 * l + 1]);
    return std::span<const Real>(layers_.back().values).first(count_ * outputs());
  }

  std::span<Real> output_slopes() override { return std::span(delta_).first(count_ * outputs()); }

  // Ends at the lowest layer that is wanted.
  void backward(Weights<const Real> w, const Slopes<Real>& to) override {
    if (one_go_) {
      slope_of_activation(layers_.back(), delta_.data());
      return hidden_slopes(hidden_rows(delta_.data()), to.share, to.keep, hidden_weights(to.g));
    }
    const auto wanted = [&](std::size_t l) { return to.wanted.empty() || to.wanted[2 * l] || to.wanted[2 * l + 1]; };
    std::size_t lowest = 0;
    while (lowest + 1 < layers_.size() && !wanted(lowest)) ++lowest;
    bool through_relu = false;  // the loops of the layer above have done it already
    for (std::size_t l = layers_.size(); l-- > lowest;) {
      DenseStage<Real>& layer = layers_[l];
      const LayerRows<Real> r = rows_of(l, delta_.data());
      if (!through_relu) slope_of_activation(layer, r.y);
      through_relu = false;
      if (wanted(l)) layer_slopes(l, r, to);
      if (l == lowest) break;
      if (layer.loops == Loops::few_in) few_in_below(r, next_delta_.data());
      if (layer.loops == Loops::few_out) few_out_below(r, next_delta_.data(), through_relu = layers_[l - 1].relu);
      if (layer.loops >= Loops::medium)
        gemm(1, {r.y, count_, r.out, r.y_stride}, {w[2 * l], r.out, r.in, r.in}, 0, next_delta_.data(), r.x_stride);
      std::swap(delta_, next_delta_);
    }
  }

 private:
  // Room for as many rows as were ever taken at once.
  void make_room(std::size_t rows) {
    if (rows <= room_) return;
    room_ = rows;
    std::size_t widest = 0;
    for (auto& l : layers_) {
      l.values.resize(rows * l.stride + widest_vector);
      if (l.activation->needs_inputs) l.sums.resize(rows * l.stride);
      widest = std::max(widest, l.stride);
    }
    delta_.resize(rows * widest + widest_vector);
    next_delta_.resize(rows * widest + widest_vector);
    x_.resize(packed_size(rows, inputs()) + widest_vector);
  }

  // Rows that follow each other are used where they lie; chosen ones are gathered, those of a medium first layer by
  // its own loops.
  void take(const InputRows<Real>& rows) {
    make_room(rows.count);
    data_ = rows.inputs;
    count_ = rows.count;
    at_ = rows.chosen.empty() ? rows.inputs + rows.first * rows.width : x_.data();
    gather_ = layers_.front().loops == Loops::medium ? rows.chosen : Batch{};
    if (!rows.chosen.empty() && gather_.empty()) gather(rows.inputs, rows.width, rows.chosen, x_.data());
  }

  void layer_forward(std::size_t l, const Real* w, const Real* b) {
    DenseStage<Real>& layer = layers_[l];
    const LayerRows<Real> r = rows_of(l, layer.values.data());
    if (layer.loops == Loops::few_in) few_in_forward(r, w, b, layer.relu);
    if (layer.loops == Loops::few_out) few_out_forward(r, w, b);
    if (layer.loops == Loops::medium) medium_forward(l, w, b);
    if (layer.loops == Loops::wide) {
      for (std::size_t i = 0; i < count_; ++i) std::copy_n(b, layer.outputs, r.y + i * r.y_stride);
      gemm(1, {r.x, count_, r.in, r.x_stride}, {w, r.out, r.in, r.in, true}, 1, r.y, r.y_stride);
    }
    const bool done = layer.relu && (layer.loops == Loops::few_in || layer.loops == Loops::medium);
    if (!done) activate(layer);
  }

  void activate(DenseStage<Real>& layer) {
    const std::size_t n = count_ * layer.stride;
    if (layer.activation->needs_inputs) std::copy_n(layer.values.data(), n, layer.sums.data());
    layer.activation->forward({layer.values.data(), n});
  }
  void slope_of_activation(const DenseStage<Real>& layer, Real* dy) {
    const std::size_t n = count_ * layer.stride;
    const auto& kept = layer.activation->needs_inputs ? layer.sums : layer.values;
    layer.activation->backward({kept.data(), n}, {dy, n});
  }

  void layer_slopes(std::size_t l, const LayerRows<Real>& r, const Slopes<Real>& to) {
    const Loops loops = layers_[l].loops;
    Real *w = to.g[2 * l], *b = to.g[2 * l + 1];
    if (loops == Loops::few_in) few_in_slopes(r, to.share, to.keep, w, b);
    if (loops == Loops::few_out) few_out_slopes(r, to.share, to.keep, w, b);
    if (loops < Loops::medium) return;
    if (l == 0 && !gather_.empty())
      multiply({.rows = r.out,
                .columns = r.in,
                .depth = count_,
                .a = r.y,
                .a_row = 1,
                .a_depth = r.y_stride,
                .a_panel = panel * r.y_stride,
                .b = r.x,
                .c = w,
                .c_row = r.in,
                .share = to.share,
                .keep = to.keep});
    else gemm(to.share, {r.y, count_, r.out, r.y_stride, true}, {r.x, count_, r.in, r.x_stride}, to.keep, w, r.in);
    column_sums(r, to.share, to.keep, b);
  }

  // The values of a medium layer: its inputs in rows, or, if they are still to be gathered, some rows at a time and
  // packed, while memory fetches the next ones.
  void medium_forward(std::size_t l, const Real* w, const Real* b) {
    DenseStage<Real>& layer = layers_[l];
    const LayerRows<Real> r = rows_of(l, layer.values.data());
    pack_turned(Unpacked<Real>{r.out, r.in, r.in, w}, r.packed);
    Product<Real> p{.rows = count_,
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
    if (l > 0 || gather_.empty()) return multiply(p);
    p.a_row = panel;
    p.a_panel = count_ * panel;
    const Real* soon[gathered_at_once];
    for (std::size_t first = 0; first < count_; first += gathered_at_once) {
      p.rows = std::min(gathered_at_once, count_ - first);
      for (std::size_t i = first; i < first + p.rows; ++i)
        pack_row(row(gather_[i]), r.in, x_.data() + i * panel, p.a_panel);
      const std::size_t next = first + p.rows, count = std::min(gathered_at_once, count_ - next);
      for (std::size_t i = 0; i < count; ++i) soon[i] = row(gather_[next + i]);
      p.soon = {soon, count};
      p.a = x_.data() + first * panel;
      p.c = r.y + first * r.y_stride;
      multiply(p);
    }
  }

  const Real* row(std::size_t i) const { return data_ + i * inputs(); }

  LayerRows<Real> rows_of(std::size_t l, Real* y) {
    DenseStage<Real>& layer = layers_[l];
    return {count_,
            layer.inputs,
            layer.outputs,
            l == 0 ? at_ : layers_[l - 1].values.data(),
            l == 0 ? layer.inputs : layers_[l - 1].stride,
            y,
            layer.stride,
            layer.packed.data()};
  }

  HiddenRows<Real> hidden_rows(Real* y) {
    DenseStage<Real>& first = layers_.front();
    return {count_,
            first.inputs,
            first.outputs,
            layers_.back().outputs,
            at_,
            y,
            first.packed.data(),
            first.relu ? nullptr : first.values.data()};
  }
  template <class Number>
  static HiddenWeights<Number> hidden_weights(Weights<Number> w) {
    return {w[0], w[1], w[2], w[3]};
  }

  std::vector<Block> blocks_;
  std::vector<DenseStage<Real>> layers_;
  bool one_go_ = false;  // one hidden layer, for which layer.h has loops of its own

  // Of the last forward pass.
  const Real *data_ = nullptr, *at_ = nullptr;  // row 0 of all inputs; the rows taken, one after another
  Batch gather_;                                // rows that the first layer has yet to gather, or gathered in panels
  std::size_t count_ = 0, room_ = 0;
  LargeArray<Real> x_, delta_, next_delta_;
};

}  // namespace

std::vector<Block> dense_blocks(const ModelSettings& s) {
  constexpr std::size_t most = std::size_t(1) << 31;
  const std::vector<long> sizes = s.layers.sizes();
  if (sizes.size() < 2)
    throw Error("model.layers has {} sizes; give at least two, from input to output, for example [2, 100, 1]",
                sizes.size());
  for (const long size : sizes)
    if (size < 1 || std::size_t(size) > most)
      throw Error("model.layers has a layer of size {}; sizes are 1 to 2^31", size);
  std::vector<Block> blocks;
  std::size_t count = 0;
  for (std::uint32_t l = 1; l < sizes.size(); ++l) {
    const std::size_t in = std::size_t(sizes[l - 1]), out = std::size_t(sizes[l]);
    count += (in + 1) * out;
    if (count > most)
      throw Error("model.layers = [{}] has more than 2^31 parameters; use smaller layers", fmt::join(sizes, ", "));
    const std::uint32_t place = 2 * (l - 1);  // in a list of layers, the activations between them counting
    blocks.push_back({.name = fmt::format("layer{}.weight", l),
                      .shape = {out, in},
                      .role = Role::weight,
                      .layer = l,
                      .fan_in = in,
                      .fan_out = out,
                      .torch = {{fmt::format("{}.weight", place)}}});
    blocks.push_back({.name = fmt::format("layer{}.bias", l),
                      .shape = {out},
                      .role = Role::bias,
                      .layer = l,
                      .fan_in = in,
                      .fan_out = out,
                      .torch = {{fmt::format("{}.bias", place)}}});
  }
  lay_out(blocks);
  return blocks;
}

template <class Real>
std::unique_ptr<Function<Real>> make_dense(const ModelSettings& settings) {
  return std::make_unique<Dense<Real>>(settings);
}

template std::unique_ptr<Function<float>> make_dense(const ModelSettings&);
template std::unique_ptr<Function<double>> make_dense(const ModelSettings&);

}  // namespace kelvin
