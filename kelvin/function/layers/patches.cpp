// SPDX-License-Identifier: Apache-2.0
// Squares of an image, row after row, each as a step of numbers: y_t = W x_t + b. W is that of PyTorch's convolution,
// numbers x channels x height x width, while the channels of a pixel lie next to each other in memory.
#include <algorithm>

#include "kelvin/function/affine.h"
#include "kelvin/function/layers.h"

namespace kelvin {
namespace {

constexpr Parameter patches_parameters[] = {
    {"size", "", "height and width of a patch: 4, or \"4x2\""},
    {"numbers", "", "that stand for each patch"},
};

LayerPlan patches_plan(const Choice& numbers, const Shape& input) {
  if (input.rank() != 3)
    throw Error(
        "layer \"patches\" takes an image (channels x height x width), but what comes before it is {}; give the data "
        "such a shape",
        input.text());
  const auto [height, width] = height_and_width(numbers, "size");
  if (input[1] % height != 0 || input[2] % width != 0)
    throw Error("layer \"patches\" cannot cut an image of {} into patches of {} x {}; give sizes that divide {} and {}",
                input.text(), height, width, input[1], input[2]);
  const std::size_t steps = (input[1] / height) * (input[2] / width), out = whole_number(numbers, "numbers");
  const std::size_t in = input[0] * height * width;
  LayerPlan plan{.numbers = numbers,
                 .input = input,
                 .output = {steps, out},
                 .kept = input.size(),
                 .multiply_adds = double(steps) * double(in) * double(out)};
  plan.blocks.push_back(
      {.name = "weight", .shape = {out, input[0], height, width}, .role = Role::weight, .fan_in = in, .fan_out = out});
  plan.blocks.push_back({.name = "bias", .shape = {out}, .role = Role::bias, .fan_in = in, .fan_out = out});
  return plan;
}

template <class Real>
class PatchesLayer final : public Layer<Real> {
 public:
  explicit PatchesLayer(const LayerPlan& plan)
      : steps_(plan.output[0]),
        affine_{plan.blocks[0].columns(), plan.output[1]},
        pixels_(plan.input.size()),
        places_(pixels_) {
    const std::size_t channels = plan.input[0], wide = plan.input[2];
    const std::size_t height = plan.blocks[0].shape[2], width = plan.blocks[0].shape[3], across = wide / width;
    auto place = places_.begin();
    for (std::size_t t = 0; t < steps_; ++t)
      for (std::size_t c = 0; c < channels; ++c)
        for (std::size_t i = 0; i < height; ++i)
          for (std::size_t j = 0; j < width; ++j)
            *place++ = ((t / across * height + i) * wide + t % across * width + j) * channels + c;
  }

  void forward(Weights<const Real> w, const LayerPass<Real>& pass, const Pass<Real>&) override {
    grow(patches_, pass.rows * pixels_);
    for (std::size_t i = 0; i < pass.rows; ++i)
      for (std::size_t k = 0; k < pixels_; ++k) patches_[i * pixels_ + k] = pass.x[i * pixels_ + places_[k]];
    affine_.forward(pass.rows * steps_, patches_.data(), w[0], w[1], pass.y);
  }
  void backward(Weights<const Real> w, const LayerPass<Real>& pass, const Slopes<Real>& slopes) override {
    const std::size_t rows = pass.rows * steps_;
    affine_.weight_slopes(rows, patches_.data(), pass.dy, slopes, 0);
    affine_.bias_slopes(rows, pass.dy, slopes, 1);
    if (!pass.dx) return;
    affine_.input_slopes(rows, pass.dy, w[0], patches_.data());
    for (std::size_t i = 0; i < pass.rows; ++i)
      for (std::size_t k = 0; k < pixels_; ++k) pass.dx[i * pixels_ + places_[k]] = patches_[i * pixels_ + k];
  }
  std::unique_ptr<Layer<Real>> clone() const override { return std::make_unique<PatchesLayer>(*this); }

 private:
  std::size_t steps_;
  Affine<Real> affine_;
  std::size_t pixels_;               // numbers of an image
  std::vector<std::size_t> places_;  // in the image, of each number of the patches
  LargeArray<Real> patches_;
};

}  // namespace

KELVIN_LAYER_ROW(patches, PatchesLayer, patches_parameters, true, patches_plan,
                 "an image cut into patches: a sequence of numbers for each",
                 {{2, 4, 6}, "['patches 2x3 3', 'mean_over_steps', 'dense 2']"})

}  // namespace kelvin
