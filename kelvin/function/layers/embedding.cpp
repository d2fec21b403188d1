// SPDX-License-Identifier: Apache-2.0
// A row of the weight for each word of a sequence: y_t = E[x_t].
#include <algorithm>

#include "kelvin/function/additions.h"
#include "kelvin/function/layers/sequence.h"

namespace kelvin {
namespace {

constexpr Parameter embedding_parameters[] = {
    {"vocabulary", "", "number of words: inputs are 0 to this less one"},
    {"numbers", "", "that stand for each word"},
};

LayerPlan embedding_plan(const Choice& numbers, const Shape& input) {
  if (input.rank() != 1)
    throw Error("layer \"embedding\" takes a list of words, but what comes before it is {}; let it be the first layer",
                input.text());
  const std::size_t words = whole_number(numbers, "vocabulary"), width = whole_number(numbers, "numbers");
  if (constexpr std::size_t most = std::size_t(1) << 24; words > most || double(words) * double(width) > 2147483648.0)
    throw Error("layer \"embedding\" has {} words of {} numbers; give at most 2^24 words and 2^31 numbers in all",
                words, width);
  LayerPlan plan{.numbers = numbers, .input = input, .output = {input[0], width}, .embeds = true};
  plan.blocks.push_back(
      {.name = "weight", .shape = {words, width}, .role = Role::embedding, .fan_in = width, .fan_out = words});
  return plan;
}

template <class Real>
class EmbeddingLayer final : public Layer<Real> {
 public:
  explicit EmbeddingLayer(const LayerPlan& plan)
      : steps_(plan.input[0]), words_(plan.blocks[0].shape[0]), numbers_(plan.blocks[0].shape[1]) {}

  void forward(Weights<const Real> w, const LayerPass<Real>& pass, const Pass<Real>&) override {
    for (std::size_t at = 0; at < pass.rows * steps_; ++at)
      std::copy_n(w[0] + word(pass.x[at]) * numbers_, numbers_, pass.y + at * numbers_);
  }
  // dE[x_t] += dy_t; words have no slopes
  void backward(Weights<const Real>, const LayerPass<Real>& pass, const Slopes<Real>& slopes) override {
    if (pass.dx) std::fill_n(pass.dx, pass.rows * steps_, Real(0));
    if (!wants(slopes, 0)) return;
    Real* g = slopes.g[0];
    if (slopes.keep == 0) std::fill_n(g, words_ * numbers_, Real(0));
    else if (slopes.keep != 1) put_shares(words_ * numbers_, g, Real(0), slopes.keep, g);
    for (std::size_t at = 0; at < pass.rows * steps_; ++at)
      put_shares(numbers_, pass.dy + at * numbers_, slopes.share, Real(1), g + word(pass.x[at]) * numbers_);
  }
  std::unique_ptr<Layer<Real>> clone() const override { return std::make_unique<EmbeddingLayer>(*this); }

 private:
  std::size_t word(Real x) const { return word_in("embedding", x, words_); }
  std::size_t steps_, words_, numbers_;
};

}  // namespace

KELVIN_LAYER_ROW(embedding, EmbeddingLayer, embedding_parameters, true, embedding_plan,
                 "words (whole numbers) to numbers: a row of the weight for each",
                 {{5}, "['embedding 7 3', 'last_step', 'dense 2']", 7})

}  // namespace kelvin
