// SPDX-License-Identifier: Apache-2.0
// y[o, p] = sum over taps t and channels c of W[o, c, t] x[c, p stride - before + t dilation], and the slopes of x and
// W that follow. A transposed convolution is the slope of x taken for itself.
#pragma once
#include <memory>

#include "kelvin/function/images.h"

namespace kelvin {

// From images x to images y.
struct ConvolutionPlan {
  ImageShape x, y;
  Windows windows;
  std::size_t groups = 1;

  // Channels of y, those of x in a group, height, width: as PyTorch has it.
  Shape weight() const { return {y.channels, x.channels / groups, windows[0].size, windows[1].size}; }
  double multiply_adds() const { return double(weight().size()) * double(y.pixels()); }
};

class OneDnnConvolution;
template <class Real>
class UnfoldedConvolution;

template <class Real>
class Convolution {
 public:
  enum class Loops { best, plain };  // plain: those that define it, whatever others there are
  explicit Convolution(const ConvolutionPlan&, Loops = Loops::best);
  Convolution(const Convolution&);
  ~Convolution();
  const ConvolutionPlan& plan() const { return plan_; }

  // y = W x + bias; null: none.
  void forward(const Real* weight, const Real* bias, std::size_t rows, const Real* x, Real* y);
  // dx = W^T dy + bias, of which a transposed convolution has one.
  void back(const Real* weight, const Real* bias, std::size_t rows, const Real* dy, Real* dx);
  // dL/dW, of a block that is wanted.
  void slopes(std::size_t rows, const Real* x, const Real* dy, const Slopes<Real>&, std::size_t block);

 private:
  ConvolutionPlan plan_;
  Loops loops_;
  LargeArray<Real> taps_;                                // weights or their slopes as the loops read them
  std::unique_ptr<OneDnnConvolution> fast_;              // in float, where it is installed
  std::unique_ptr<UnfoldedConvolution<Real>> unfolded_;  // where it pays
};

// dL/d(bias) = sum of dy over all pixels, of a block that is wanted.
template <class Real>
void put_bias_slopes(std::size_t pixels, std::size_t channels, const Real* dy, const Slopes<Real>&, std::size_t block);

// Numbers of a layer: kernel, stride, dilation and padding, which may be "same" if that is allowed.
Windows windows_of(const Choice& layer, bool allows_same);
std::size_t groups_of(const Choice& layer, std::size_t from_channels, std::size_t to_channels);
// Weight and bias, unless `bias` is 0.
std::vector<Block> convolution_blocks(const Choice& layer, const Shape& weight, std::size_t biases, std::size_t fan_in,
                                      std::size_t fan_out);

}  // namespace kelvin
