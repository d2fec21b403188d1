// SPDX-License-Identifier: Apache-2.0
#include "kelvin/function/function.h"

#include <algorithm>
#include <cmath>

#include "kelvin/function/bytes.h"
#include "kelvin/function/layer.h"

namespace kelvin {

template <class Real>
Inputs<Real>::Inputs(std::span<const double> values, std::size_t rows)
    : rows_(rows), width_(rows ? values.size() / rows : 0) {
  values_.resize(values.size() + widest_vector);
  std::copy(values.begin(), values.end(), values_.begin());
}

void divide_bytes(const std::uint8_t* from, std::size_t count, float white, float* to) {
  KELVIN_RETURN_BEST(divide_bytes(from, count, white, to));
}
void divide_bytes(const std::uint8_t* from, std::size_t count, double white, double* to) {
  KELVIN_RETURN_BEST(divide_bytes(from, count, white, to));
}

template <class Real>
Inputs<Real>::Inputs(const InputValues& values, std::size_t first, std::size_t rows, std::size_t width)
    : rows_(rows), width_(width), bytes_(values.bytes()), first_(first) {
  if (!bytes_) {
    *this = Inputs(std::span(values.numbers()).subspan(first * width, rows * width), rows);
    width_ = width;
    return;
  }
  period_ = values.period();
  levels_.assign(values.levels().begin(), values.levels().end());
  const Real white = Real(std::round(1 / values.levels()[1]));
  bool divided = period_ == 1;
  for (std::size_t byte = 0; byte < levels_.size(); ++byte) divided = divided && levels_[byte] == Real(byte) / white;
  if (divided) white_ = white;
}

template <class Real>
void Inputs<Real>::copy_row(std::size_t row, Real* to) const {
  if (!bytes_) {
    std::copy_n(values_.data() + row * width_, width_, to);
    return;
  }
  constexpr std::size_t byte_values = 256;
  const std::uint8_t* from = bytes_->data() + (first_ + row) * width_;
  if (white_ != 0) return divide_bytes(from, width_, white_, to);
  for (std::size_t c = 0; c < period_; ++c) {
    const Real* level = levels_.data() + c * byte_values;
    for (std::size_t j = c; j < width_; j += period_) to[j] = level[from[j]];
  }
}

template <class Real>
InputRows<Real> Inputs<Real>::copied(std::size_t first, std::size_t count, InputRoom<Real>& room) const {
  grow(room.values, count * width_ + widest_vector);
  for (std::size_t i = 0; i < count; ++i) copy_row(first + i, room.values.data() + i * width_);
  return {room.values.data(), width_, 0, count, {}};
}

// Rows lie anywhere in memory: they are asked for in good time.
template <class Real>
InputRows<Real> Inputs<Real>::copied(Batch chosen, InputRoom<Real>& room) const {
  constexpr std::size_t ahead = 4, line = 64;
  grow(room.values, chosen.size() * width_ + widest_vector);
  for (std::size_t i = room.order.size(); i < chosen.size(); ++i) room.order.push_back(std::uint32_t(i));
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    if (bytes_ && i + ahead < chosen.size())
      for (std::size_t j = 0; j < width_; j += line)
        __builtin_prefetch(bytes_->data() + (first_ + chosen[i + ahead]) * width_ + j);
    copy_row(chosen[i], room.values.data() + i * width_);
  }
  return {room.values.data(), width_, 0, chosen.size(), Batch(room.order).first(chosen.size()), true};
}

template <class Real>
void predict(Function<Real>& function, Weights<const Real> w, const Inputs<Real>& inputs, Batch rows,
             std::span<Real> out, InputRoom<Real>& room) {
  const std::size_t all = rows.empty() ? inputs.rows() : rows.size(), width = function.outputs();
  for (std::size_t first = 0; first < all; first += function.rows_at_once(all)) {
    const std::size_t count = std::min(function.rows_at_once(all), all - first);
    const InputRows<Real> x =
        rows.empty() ? inputs.some(first, count, room) : inputs.some(rows.subspan(first, count), room);
    const auto y = function.forward(w, x, {});
    std::copy_n(y.begin(), count * width, out.begin() + std::ptrdiff_t(first * width));
  }
}

template class Inputs<float>;
template class Inputs<double>;
template void predict(Function<float>&, Weights<const float>, const Inputs<float>&, Batch, std::span<float>,
                      InputRoom<float>&);
template void predict(Function<double>&, Weights<const double>, const Inputs<double>&, Batch, std::span<double>,
                      InputRoom<double>&);

}  // namespace kelvin
