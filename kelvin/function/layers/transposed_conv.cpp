// SPDX-License-Identifier: Apache-2.0
// The slope of a convolution taken for itself: pixel p of x is spread over the pixels p stride - padding + t dilation
// of y, by the weights W[c, o, t].
#include "kelvin/function/convolution.h"

namespace kelvin {
namespace {

constexpr Parameter transposed_conv_parameters[] = {
    {"kernel", "", "pixels of the kernel: 3, or height x width as in \"3x5\""},
    {"channels", "", "of the outputs"},
    {"stride", "1", "pixels between those that neighbours of the input are spread around"},
    {"padding", "0", "pixels left out around the output"},
    {"output_padding", "0", "pixels added at the bottom and on the right; less than the stride or the dilation"},
    {"groups", "1", "each group of outputs sees only its group of inputs"},
    {"dilation", "1", "pixels from one number of the kernel to the next"},
    {"bias", "1", "0 leaves out b"},
};

// Of the convolution that leads from the outputs to the inputs.
ConvolutionPlan convolution_behind(const Choice& numbers, const Shape& input) {
  const ImageShape small = image_before(numbers, input);
  ConvolutionPlan plan{.x = {}, .y = small, .windows = windows_of(numbers, false)};
  const auto more = height_and_width(numbers, "output_padding", 0);
  const std::size_t places[] = {small.height, small.width};
  std::size_t extents[2];
  for (std::size_t k = 0; k < 2; ++k) {
    const Window& window = plan.windows[k];
    if (more[k] >= std::max(window.stride, window.dilation))
      throw layer_error(numbers, "has output_padding {}; give less than its stride {} or its dilation {}", more[k],
                        window.stride, window.dilation);
    const std::size_t all = (places[k] - 1) * window.stride + window.extent() + more[k];
    if (all <= window.before + window.after)
      throw layer_error(numbers, "would leave nothing of {} pixels with a padding of {} and {}; use less padding", all,
                        window.before, window.after);
    extents[k] = all - window.before - window.after;
  }
  plan.x = {whole_number(numbers, "channels"), extents[0], extents[1]};
  plan.groups = groups_of(numbers, plan.y.channels, plan.x.channels);
  return plan;
}

// Inputs and outputs are counted as PyTorch does, so that initialisers agree.
LayerPlan transposed_conv_plan(const Choice& numbers, const Shape& input) {
  const ConvolutionPlan conv = convolution_behind(numbers, input);
  const std::size_t taps = conv.windows[0].size * conv.windows[1].size;
  return {.numbers = numbers,
          .input = input,
          .output = conv.x.shape(),
          .blocks = convolution_blocks(numbers, conv.weight(), conv.x.channels, conv.x.channels / conv.groups * taps,
                                       conv.y.channels / conv.groups * taps),
          .multiply_adds = conv.multiply_adds()};
}

template <class Real>
class TransposedConvLayer final : public Layer<Real> {
 public:
  explicit TransposedConvLayer(const LayerPlan& plan)
      : convolution_(convolution_behind(plan.numbers, plan.input)), biased_(plan.blocks.size() > 1) {}

  void forward(Weights<const Real> w, const LayerPass<Real>& pass, const Pass<Real>&) override {
    convolution_.back(w[0], biased_ ? w[1] : nullptr, pass.rows, pass.x, pass.y);
  }
  void backward(Weights<const Real> w, const LayerPass<Real>& pass, const Slopes<Real>& slopes) override {
    const ImageShape& large = convolution_.plan().x;
    if (biased_ && wants(slopes, 1)) put_bias_slopes(pass.rows * large.pixels(), large.channels, pass.dy, slopes, 1);
    if (wants(slopes, 0)) convolution_.slopes(pass.rows, pass.dy, pass.x, slopes, 0);
    if (pass.dx) convolution_.forward(w[0], nullptr, pass.rows, pass.dy, pass.dx);
  }
  std::unique_ptr<Layer<Real>> clone() const override { return std::make_unique<TransposedConvLayer>(*this); }

 private:
  Convolution<Real> convolution_;
  bool biased_;
};

}  // namespace

KELVIN_LAYER_ROW(transposed_conv, TransposedConvLayer, transposed_conv_parameters, true, transposed_conv_plan,
                 "transposed convolution: makes images larger, by the stride",
                 {{3, 2, 3},
                  "['transposed_conv 3x2 4 stride 2 padding 1 output_padding 1', 'tanh', "
                  "'transposed_conv 3 2 groups 2 bias 0 dilation 2', 'tanh', 'flatten', 'dense 2']"})

}  // namespace kelvin
