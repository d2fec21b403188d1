// SPDX-License-Identifier: Apache-2.0
#include "kelvin/energy/likelihood.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kelvin/function/activation.h"
#include "kelvin/function/network.h"

namespace kelvin {
namespace {

bool learns_scale(const ModelSettings& s) { return loss_named(s.loss).has_scale && s.scale == 0; }
bool learns_shape(const ModelSettings& s) {
  const NoiseShape* shape = loss_named(s.loss).shape;
  return shape && s.*shape->given == 0;
}

void put_log(Scale& scale, double log) {
  scale.log = log;
  scale.precision = std::exp(-2 * log);
}

// In stored units; what is learned has no value yet.
std::vector<Scale> fixed_scales(const Loss& loss, const ModelSettings& settings, const Units& units,
                                std::size_t targets) {
  std::vector<Scale> out(loss.has_scale || loss.shape ? targets : 0);
  for (std::size_t k = 0; k < out.size(); ++k) {
    if (loss.has_scale) put_log(out[k], std::log(settings.scale / units.scale_of(k)));
    if (loss.shape) out[k].shape = settings.*loss.shape->given;
  }
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

std::ptrdiff_t class_of(const std::vector<double>& row, double threshold) {
  if (row.size() == 1) return row[0] > threshold;
  return std::max_element(row.begin(), row.end()) - row.begin();
}

std::vector<Block> with_noise(std::vector<Block> blocks, const ModelSettings& settings, std::size_t outputs) {
  const Loss& loss = loss_named(settings.loss);
  const Shape each = {loss.targets_of(outputs)};
  if (learns_scale(settings)) blocks.push_back({.name = log_scale_block, .shape = each, .role = Role::scale});
  if (learns_shape(settings))
    blocks.push_back({.name = std::string(loss.shape->block), .shape = each, .role = Role::scale});
  lay_out(blocks);
  return blocks;
}

// Refuses numbers of the noise that the loss has no use for.
void check_noise(const ModelSettings& settings, const Loss& loss) {
  if (settings.scale < 0 || !std::isfinite(settings.scale))
    throw Error("model.scale is {}; give a standard deviation above 0, or 0 to learn it", settings.scale);
  if (settings.scale != 0 && loss.own_widths)
    throw Error("model.scale is given, but with loss \"{}\" the widths are outputs; leave it out", loss.name);
  if (settings.scale != 0 && !loss.has_scale) throw Error("model.scale is given, but loss \"{}\" has none", loss.name);
  for (const Loss& other : losses()) {
    if (!other.shape) continue;
    const auto& [setting, member, lowest, block, of, slope, meaning] = *other.shape;
    const double value = settings.*member;
    if (value == 0) continue;
    if (other.shape != loss.shape)
      throw Error("model.{} is given, but loss \"{}\" has none; leave it out, or use a loss such as {}", setting,
                  loss.name, other.name);
    if (!(value > lowest) || !std::isfinite(value))
      throw Error("model.{} is {}; give {} above {:g}, or 0 to learn it", setting, value, meaning, lowest);
  }
}

// Outputs are a list, or one for each step that has a target.
void check_shape(const Shape& output, std::size_t steps) {
  if (steps == 0 && output.rank() != 1)
    throw Error("the outputs of model.layers are {} for each row; end with a layer such as \"dense 1\"", output.text());
  if (steps > 0 && (output.rank() != 2 || output[0] != steps))
    throw Error(
        "the outputs of model.layers are {} for each row, but the data have a target for each of {} steps; end with a "
        "layer that gives {} x classes, such as \"dense\" on a sequence of {} steps",
        output.text(), steps, steps, steps);
}

}  // namespace

template <class Real>
std::unique_ptr<Function<Real>> make_function(const ModelSettings& settings, const Shape& input) {
  return make_network<Real>(settings, input);
}

std::vector<Block> model_blocks(const ModelSettings& settings, const Shape& input) {
  std::vector<Block> blocks = network_blocks(settings, input);  // refuses what makes no network
  return with_noise(std::move(blocks), settings, network_outputs(settings, input));
}

NoiseOfDraws::NoiseOfDraws(const ModelSettings& settings, const Units& units, std::span<const Block> blocks,
                           std::size_t targets)
    : loss_(&loss_named(settings.loss)), fixed_(fixed_scales(*loss_, settings, units, targets)) {
  if (learns_scale(settings)) log_scale_ = block_named(log_scale_block, blocks).offset;
  if (learns_shape(settings)) shape_ = block_named(std::string(loss_->shape->block), blocks).offset;
}

template <class Real>
void NoiseOfDraws::read(std::span<const Real> q, std::span<Scale> to) const {
  std::ranges::copy(fixed_, to.begin());
  for (std::size_t k = 0; k < fixed_.size(); ++k) {
    if (log_scale_) put_log(to[k], double(q[*log_scale_ + k]));
    if (shape_) to[k].shape = loss_->shape->of(double(q[*shape_ + k]));
  }
}

template <class Real>
Likelihood<Real>::Likelihood(const ModelSettings& settings, const Dataset& data, const Remark& remark)
    : Likelihood(make_function<Real>(settings, data.input_shape()), settings, data, remark) {}

template <class Real>
Likelihood<Real>::Likelihood(std::unique_ptr<Function<Real>> function, const ModelSettings& settings,
                             const Dataset& data, const Remark& remark)
    : function_(std::move(function)), loss_(&loss_named(settings.loss)) {
  if (data.rows == 0) throw Error("a network needs data, but the dataset has no rows");
  if (function_->inputs() != data.input_count())
    throw Error("the first of model.layers is {}, but the data have {} inputs; make them equal", function_->inputs(),
                data.input_count());
  check_noise(settings, *loss_);
  check_shape(function_->output(), data.steps);
  if (data.steps > 0) steps_ = data.steps;
  width_ = outputs() / steps_;
  const Encoded targets = encode(*loss_, data, width_, remark);
  check_output(activation_named(settings.output), *loss_, targets.kind);

  auto kept = std::make_shared<Data>();
  kept->inputs = Inputs<Real>(data.inputs, 0, data.rows, data.input_count());
  kept->targets.assign(targets.values.begin(), targets.values.end());
  kept->width = targets.width;
  kept->kind = targets.kind;
  kept->of_steps = data.steps > 0;
  if (targets.kind == Targets::numbers) kept->units = data.target_units;
  data_ = std::move(kept);

  blocks_ = with_noise(function_->blocks(), settings, width_);
  scales_ = fixed_scales(*loss_, settings, data_->units, loss_->targets_of(width_));
  if (learns_scale(settings)) log_scale_slopes_.resize(scales_.size());
  if (learns_shape(settings)) shape_slopes_.resize(scales_.size());
  shape_block_ = blocks_.size() - 1;
}

template <class Real>
Likelihood<Real>::Likelihood(const Likelihood& other)
    : data_(other.data_),
      function_(other.function_->clone()),
      loss_(other.loss_),
      steps_(other.steps_),
      width_(other.width_),
      blocks_(other.blocks_),
      scales_(other.scales_),
      log_scale_slopes_(other.log_scale_slopes_),
      shape_slopes_(other.shape_slopes_),
      shape_block_(other.shape_block_),
      augmentation_(other.augmentation_) {}

// U = 1/n sum over the rows, or their steps, of loss(f(x; w), y), in chunks that stay in the cache.
template <class Real>
double Likelihood<Real>::operator()(Weights<const Real> q, const Evaluation& e, Weights<Real> g) {
  const Batch rows = e.rows;
  const std::size_t n = count(rows), at_once = function_->rows_at_once(n);
  const double observations = double(n * steps_);
  double sum = 0;
  read_scales(q);
  std::ranges::fill(log_scale_slopes_, 0);
  std::ranges::fill(shape_slopes_, 0);
  for (std::size_t first = 0; first < n; first += at_once) {
    const Chunk c = chunk_in_training(rows, first, e.stream);
    const Batch chosen = rows.empty() ? rows : rows.subspan(first, c.rows.count);
    const Slopes<Real> buffers{
        .g = g, .share = Real(double(c.rows.count) / double(n)), .keep = Real(first > 0), .wanted = {}};
    const auto y = function_->forward(
        q, c.rows, {.training = true, .stream = e.stream, .chosen = chosen, .first = first, .buffers = &buffers});
    sum += loss_->sum<Real>()({c.rows.count * steps_, width_, y.data(), c.targets, function_->output_slopes().data(),
                               scales_, log_scale_slopes_, shape_slopes_});
    function_->backward(q, {g, Real(1 / observations), Real(first > 0), e.wanted});
  }
  for (std::size_t k = 0; k < log_scale_slopes_.size(); ++k)
    g[log_scale_at()][k] = Real(log_scale_slopes_[k] / observations);
  for (std::size_t k = 0; k < shape_slopes_.size(); ++k)
    g[shape_block_][k] = Real(shape_slopes_[k] * loss_->shape->slope(double(q[shape_block_][k])) / observations);
  return sum / observations;
}

template <class Real>
void Likelihood<Real>::predict(Weights<const Real> q, Batch rows, std::span<Real> out) {
  kelvin::predict(*function_, q, data_->inputs, rows, out, room_);
}

template <class Real>
Score Likelihood<Real>::score(Weights<const Real> q, Batch rows) {
  const std::size_t n = count(rows);
  read_scales(q);
  std::vector<Scale> scales = scales_;
  for (std::size_t k = 0; k < scales.size(); ++k)
    put_log(scales[k], scales[k].log + std::log(data_->units.scale_of(k)));
  const bool of_columns = data_->kind != Targets::class_number;
  std::vector<double> output(width_), target(of_columns ? loss_->targets_of(width_) : 1), slope(width_);
  double loss = 0, right = 0, squares = 0;
  for (std::size_t first = 0; first < n; first += function_->rows_at_once(n)) {
    const Chunk c = chunk(rows, first);
    const auto y = function_->forward(q, c.rows, {});
    for (std::size_t i = 0; i < c.rows.count * steps_; ++i) {
      for (std::size_t k = 0; k < width_; ++k) output[k] = double(y[i * width_ + k]);
      to_original(*loss_, data_->units, output);
      for (std::size_t k = 0; k < target.size(); ++k) {
        target[k] = data_->units.original(k, double(c.targets[i * target.size() + k]));
        const double off = (loss_->counts ? noise_at(*loss_, {}, output, k, {}).centre : output[k]) - target[k];
        squares += off * off;
      }
      loss += loss_->sum<double>()({1, width_, output.data(), target.data(), slope.data(), scales, {}});
      right += class_of(output, loss_->threshold) == (of_columns ? class_of(target, 0.5) : std::ptrdiff_t(target[0]));
    }
  }
  const double observations = double(n * steps_);
  Score s;
  s.loss = loss / observations;
  if (data_->kind == Targets::numbers) s.rmse = std::sqrt(squares / (observations * double(target.size())));
  else s.accuracy = right / observations;
  if (data_->of_steps && loss_->template probabilities<Real>()) s.perplexity = std::exp(s.loss);
  return s;
}

template <class Real>
void Likelihood<Real>::retake_statistics(Weights<Real> q) {
  const auto& blocks = function_->blocks();
  const std::vector<std::size_t> offsets = offsets_of(blocks, blocks);
  std::vector<Real> numbers(parameter_count(blocks));
  const Weights<Real> lost{numbers.data(), offsets.data()};
  const auto put_buffers = [&](Real sign) {
    for (std::size_t b = 0; b < blocks.size(); ++b)
      for (std::size_t i = 0; blocks[b].buffer() && i < blocks[b].size(); ++i) q[b][i] = sign * lost[b][i];
  };
  put_buffers(0);
  const std::size_t n = rows();
  for (std::size_t first = 0; first < n;) {
    const Chunk c = chunk({}, first);
    const Slopes<Real> buffers{
        .g = lost, .share = Real(double(c.rows.count) / double(n)), .keep = Real(first > 0), .wanted = {}};
    function_->forward({q.base, q.offsets}, c.rows,
                       {.training = true, .first = first, .buffers = &buffers, .anew = true});
    first += c.rows.count;
  }
  put_buffers(-1);
}

template <class Real>
void Likelihood<Real>::read_scales(Weights<const Real> q) {
  for (std::size_t k = 0; k < log_scale_slopes_.size(); ++k) put_log(scales_[k], double(q[log_scale_at()][k]));
  for (std::size_t k = 0; k < shape_slopes_.size(); ++k)
    scales_[k].shape = loss_->shape->of(double(q[shape_block_][k]));
}

// The rows of a batch from number `first` on, with their targets one after another.
template <class Real>
typename Likelihood<Real>::Chunk Likelihood<Real>::chunk(Batch rows, std::size_t first) {
  const std::size_t all = count(rows), n = std::min(function_->rows_at_once(all), all - first);
  if (rows.empty()) return {data_->inputs.some(first, n, room_), targets_of({}, first, n)};
  const Batch mine = rows.subspan(first, n);
  return {data_->inputs.some(mine, room_), targets_of(mine, 0, n)};
}

// Targets of those rows, or of n rows from number `first` on: where they lie, or gathered; class numbers become columns
// where the loss takes those.
template <class Real>
const Real* Likelihood<Real>::targets_of(Batch rows, std::size_t first, std::size_t n) {
  const bool one_hot = data_->kind == Targets::one_hot;
  const std::size_t each = data_->width * steps_;  // of a row, as kept
  if (rows.empty() && !one_hot) return data_->targets.data() + first * each;
  const std::size_t needed = n * (one_hot ? steps_ * width_ : each);
  if (targets_.size() < needed) targets_.resize(needed);
  Real* to = targets_.data();
  if (!one_hot && each == 1) {  // the steps of small networks feel the loops below
    for (std::size_t i = 0; i < n; ++i) to[i] = data_->targets[rows[i]];
    return to;
  }
  if (one_hot) std::fill_n(to, needed, Real(0));
  for (std::size_t i = 0; i < n; ++i) {
    const Real* from = data_->targets.data() + (rows.empty() ? first + i : rows[i]) * each;
    for (std::size_t k = 0; k < each; ++k) {
      if (one_hot) to[std::size_t(from[k])] = 1;
      else *to = from[k];
      to += one_hot ? width_ : 1;
    }
  }
  return targets_.data();
}

// The same, its images changed.
template <class Real>
typename Likelihood<Real>::Chunk Likelihood<Real>::chunk_in_training(Batch rows, std::size_t first,
                                                                     const Stream& stream) {
  Chunk c = chunk(rows, first);
  if (augmentation_.empty()) return c;
  const Inputs<Real>& inputs = data_->inputs;
  const std::size_t n = c.rows.count;
  c.rows = rows.empty() ? inputs.copied(first, n, room_) : inputs.copied(rows.subspan(first, n), room_);
  for (std::size_t i = 0; i < n; ++i)
    augmentation_(room_.values.data() + i * inputs.width(), rows.empty() ? first + i : rows[first + i], stream);
  return c;
}

template std::unique_ptr<Function<float>> make_function(const ModelSettings&, const Shape&);
template std::unique_ptr<Function<double>> make_function(const ModelSettings&, const Shape&);
template class Likelihood<float>;
template class Likelihood<double>;
template void NoiseOfDraws::read(std::span<const float>, std::span<Scale>) const;
template void NoiseOfDraws::read(std::span<const double>, std::span<Scale>) const;

}  // namespace kelvin
