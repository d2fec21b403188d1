// SPDX-License-Identifier: Apache-2.0
// y = x m / (1 - p), where each m is 0 with probability p and else 1: a pure function of the stream, the row of the
// data and the place in the row. Without training y = x.
#include <algorithm>
#include <cmath>

#include "kelvin/function/images.h"

namespace kelvin {
namespace {

constexpr Parameter dropout_parameters[] = {
    {"p", "0.5", "probability that a number is left out"},
};

LayerPlan dropout_plan(const Choice& numbers, const Shape& input) {
  if (const double p = numbers.number("p"); !(p >= 0 && p < 1))
    throw layer_error(numbers, "has p = {}; give a probability from 0 to below 1", p);
  return {.numbers = numbers, .input = input, .output = input};
}

template <class Real>
class DropoutLayer final : public Layer<Real> {
 public:
  explicit DropoutLayer(const LayerPlan& plan)
      : size_(plan.input.size()),
        place_(plan.place),
        below_(std::uint64_t(std::ldexp(plan.numbers.number("p"), 32))),
        factor_(Real(1 / (1 - plan.numbers.number("p")))),
        bits_((size_ + 1) / 2) {}

  void forward(Weights<const Real>, const LayerPass<Real>& pass, const Pass<Real>& how) override {
    masked_ = how.training;
    if (!masked_) {
      std::copy_n(pass.x, pass.rows * size_, pass.y);
      return;
    }
    factors_.resize(std::max(factors_.size(), pass.rows * size_));
    for (std::size_t i = 0; i < pass.rows; ++i) draw(how, how.row(i), factors_.data() + i * size_);
    for (std::size_t k = 0; k < pass.rows * size_; ++k) pass.y[k] = pass.x[k] * factors_[k];
  }
  void backward(Weights<const Real>, const LayerPass<Real>& pass, const Slopes<Real>&) override {
    if (!pass.dx) return;
    for (std::size_t k = 0; k < pass.rows * size_; ++k) pass.dx[k] = pass.dy[k] * (masked_ ? factors_[k] : Real(1));
  }
  std::unique_ptr<Layer<Real>> clone() const override { return std::make_unique<DropoutLayer>(*this); }

 private:
  // Each row has a stream of its own, half a word of which is a number's chance.
  void draw(const Pass<Real>& how, std::size_t row, Real* factors) {
    Stream stream = how.stream;
    stream.place = place_;
    stream.key = random_bits(stream, row);
    random_bits(stream, bits_);
    for (std::size_t k = 0; k < size_; ++k) {
      const std::uint64_t chance = k % 2 == 0 ? bits_[k / 2] >> 32 : bits_[k / 2] & 0xffffffffu;
      factors[k] = chance < below_ ? Real(0) : factor_;
    }
  }

  std::size_t size_;
  std::uint16_t place_;
  std::uint64_t below_;  // p 2^32
  Real factor_;
  bool masked_ = false;  // in the last forward pass
  std::vector<std::uint64_t> bits_;
  LargeArray<Real> factors_;  // of each number of the last forward pass
};

}  // namespace

KELVIN_LAYER_ROW(dropout, DropoutLayer, dropout_parameters, false, dropout_plan,
                 "leaves out each number with probability p and divides the others by 1 - p; does nothing in "
                 "predictions",
                 {{5}, "['dense 7', 'tanh', 'dropout 0.3', 'dense 2']"}, true)

}  // namespace kelvin
