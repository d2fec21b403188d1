// SPDX-License-Identifier: Apache-2.0
// y[o, p] = b[o] + sum over channels c and taps t of W[o, c, t] x[c, p stride - padding + t dilation].
#include "kelvin/function/convolution.h"

namespace kelvin {
namespace {

constexpr Parameter conv_parameters[] = {
    {"kernel", "", "pixels of the kernel: 3, or height x width as in \"3x5\""},
    {"channels", "", "of the outputs"},
    {"stride", "1", "pixels from one place of the kernel to the next"},
    {"padding", "0", "zeros around the image; \"same\" leaves the size of the image divided by the stride"},
    {"groups", "1", "each group of outputs sees only its group of inputs"},
    {"dilation", "1", "pixels from one number of the kernel to the next"},
    {"bias", "1", "0 leaves out b"},
};

ConvolutionPlan convolution_of(const Choice& numbers, const Shape& input) {
  ConvolutionPlan plan{.x = image_before(numbers, input), .y = {}, .windows = windows_of(numbers, true)};
  plan.y = windowed(numbers, plan.x, plan.windows, whole_number(numbers, "channels"));
  plan.groups = groups_of(numbers, plan.x.channels, plan.y.channels);
  return plan;
}

LayerPlan conv_plan(const Choice& numbers, const Shape& input) {
  const ConvolutionPlan conv = convolution_of(numbers, input);
  const std::size_t taps = conv.windows[0].size * conv.windows[1].size;
  return {.numbers = numbers,
          .input = input,
          .output = conv.y.shape(),
          .blocks = convolution_blocks(numbers, conv.weight(), conv.y.channels, conv.x.channels / conv.groups * taps,
                                       conv.y.channels / conv.groups * taps),
          .multiply_adds = conv.multiply_adds()};
}

template <class Real>
class ConvLayer final : public Layer<Real> {
 public:
  explicit ConvLayer(const LayerPlan& plan)
      : convolution_(convolution_of(plan.numbers, plan.input)), biased_(plan.blocks.size() > 1) {}

  void forward(Weights<const Real> w, const LayerPass<Real>& pass, const Pass<Real>&) override {
    convolution_.forward(w[0], biased_ ? w[1] : nullptr, pass.rows, pass.x, pass.y);
  }
  void backward(Weights<const Real> w, const LayerPass<Real>& pass, const Slopes<Real>& slopes) override {
    const ImageShape& y = convolution_.plan().y;
    if (biased_ && wants(slopes, 1)) put_bias_slopes(pass.rows * y.pixels(), y.channels, pass.dy, slopes, 1);
    if (wants(slopes, 0)) convolution_.slopes(pass.rows, pass.x, pass.dy, slopes, 0);
    if (pass.dx) convolution_.back(w[0], nullptr, pass.rows, pass.dy, pass.dx);
  }
  std::unique_ptr<Layer<Real>> clone() const override { return std::make_unique<ConvLayer>(*this); }

 private:
  Convolution<Real> convolution_;
  bool biased_;
};

}  // namespace

KELVIN_LAYER_ROW(conv, ConvLayer, conv_parameters, true, conv_plan,
                 "convolution of an image: each output sees a window of all channels, or of those of its group",
                 {{3, 6, 5},
                  "['conv 3x2 4 stride 2x1 padding 1', 'tanh', 'conv 3 6 padding same groups 2 dilation 2 bias 0', "
                  "'tanh', 'flatten', 'dense 2']"})

}  // namespace kelvin
