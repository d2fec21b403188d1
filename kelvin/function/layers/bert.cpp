// SPDX-License-Identifier: Apache-2.0
// The encoder of BERT (Devlin and others 2019): x_t = W[word t] + P[t] + S[0], normalised, then blocks of attention A
// and two fully connected layers F, each added to what it is given and normalised (N) afterwards:
//   z = N(x + A(x)), y = N(z + F(z))
// S tells two sentences apart, and all words are those of the first. Names of blocks and labels are those of its state
// dicts in the library "transformers".
#include <algorithm>

#include "kelvin/function/architecture.h"
#include "kelvin/function/layers/sequence.h"

namespace kelvin {
namespace {

constexpr Parameter bert_parameters[] = {
    {"vocabulary", "", "number of words: inputs are 0 to this less one"},
    {"width", "", "numbers of a step"},
    {"depth", "", "number of blocks"},
    {"heads", "", "of each block"},
    {"units", "0", "between the fully connected layers of each block; 0: four times the width"},
    {"positions", "512", "that it has numbers for, at least as many as a row has words"},
    {"sentences", "2", "that it can tell apart"},
    {"floor", "1e-12", "added to the variance where it normalises"},
};

void add_bert_norm(Value::List& to, const std::string& within, double floor) {
  add_layer(to, "{}.LayerNorm: layer_norm {}", within, floor);
}

Value bert_layers(const Choice& c, const Shape&) {
  const std::size_t width = whole_number(c, "width"), given = whole_number(c, "units", 0);
  const double floor = c.number("floor");
  Value::List list;
  add_bert_norm(list, "embeddings", floor);
  for (std::size_t k = 0, depth = whole_number(c, "depth"); k < depth; ++k) {
    const std::string block = fmt::format("encoder.layer.{}", k);
    const Value::Group names = {{"query_key_value", std::vector<std::string>{"self.query", "self.key", "self.value"}},
                                {"output", "output.dense"}};
    const Value attention = Value::Group{{"attention", whole_number(c, "heads")}, {"label", names}};
    list.push_back(residual_block(block + ".attention", {attention}, {}));
    add_bert_norm(list, block + ".attention.output", floor);
    Value::List forward;
    add_layer(forward, "intermediate.dense: dense {}", given > 0 ? given : 4 * width);
    add_layer(forward, "gelu");
    add_layer(forward, "output.dense: dense {}", width);
    list.push_back(residual_block(block, std::move(forward), {}));
    add_bert_norm(list, block + ".output", floor);
  }
  return Value(std::move(list));
}

LayerPlan bert_plan(const Choice& numbers, const Shape& input) {
  if (input.rank() != 1)
    throw layer_error(numbers, "takes a list of words, but what comes before it is {}; let it be the first layer",
                      input.text());
  const std::size_t steps = input[0], width = whole_number(numbers, "width");
  const std::size_t positions = whole_number(numbers, "positions");
  if (positions < steps)
    throw layer_error(numbers, "has {} positions for rows of {} words; give rows of at most {}", positions, steps,
                      positions);
  const Shape embedded = {steps, width};
  LayerPlan plan{.numbers = numbers, .input = input, .output = embedded, .kept = embedded.size()};
  const auto add = [&](const char* name, const char* torch, std::size_t rows) {
    constexpr std::size_t most = std::size_t(1) << 24;
    if (rows > most || double(rows) * double(width) > 2147483648.0)
      throw layer_error(numbers, "has a table of {} x {}; give at most 2^24 rows and 2^31 numbers", rows, width);
    plan.blocks.push_back({.name = name,
                           .shape = {rows, width},
                           .role = Role::embedding,
                           .fan_in = width,
                           .fan_out = rows,
                           .torch = {{fmt::format("embeddings.{}_embeddings.weight", torch)}}});
  };
  add("word.weight", "word", whole_number(numbers, "vocabulary"));
  add("position.weight", "position", positions);
  add("sentence.weight", "token_type", whole_number(numbers, "sentences"));
  plan.branches.push_back(plan_layers(bert_layers(numbers, input), embedded));
  return plan;
}

template <class Real>
class BertLayer final : public Layer<Real> {
 public:
  explicit BertLayer(const LayerPlan& plan)
      : steps_(plan.output[0]),
        width_(plan.output[1]),
        words_(plan.blocks[0].shape[0]),
        encoder_(plan.branches[0], plan.output) {
    for (const Block& block : plan.blocks) sizes_.push_back(block.size());
  }

  void forward(Weights<const Real> w, const LayerPass<Real>& pass, const Pass<Real>& how) override {
    grow(embedded_, pass.rows * steps_ * width_);
    for_each_step(pass, [&](std::size_t at, const auto& rows) {
      Real* x = embedded_.data() + at * width_;
      for (std::size_t k = 0; k < width_; ++k) x[k] = w[0][rows[0] + k] + w[1][rows[1] + k] + w[2][rows[2] + k];
    });
    const Real* y = with_blocks(how, sizes_.size(), encoder_.blocks(), [&](const Pass<Real>& own) {
      return encoder_.forward(weights_from(w, sizes_.size()), pass.rows, embedded_.data(), own);
    });
    std::copy_n(y, pass.rows * encoder_.outputs(), pass.y);
  }

  // dW[word t] += dx_t, dP[t] += dx_t, dS[0] += dx_t; words have no slopes
  void backward(Weights<const Real> w, const LayerPass<Real>& pass, const Slopes<Real>& slopes) override {
    if (pass.dx) std::fill_n(pass.dx, pass.rows * steps_, Real(0));
    std::copy_n(pass.dy, pass.rows * encoder_.outputs(), encoder_.output_slopes());
    bool any = false;
    for (std::size_t table = 0; table < sizes_.size(); ++table) any |= wants(slopes, table);
    encoder_.backward(weights_from(w, sizes_.size()), slopes_from(slopes, sizes_.size(), encoder_.blocks()),
                      any ? embedded_.data() : nullptr);
    for (std::size_t table = 0; table < sizes_.size(); ++table) {
      if (!wants(slopes, table)) continue;
      Real* g = slopes.g[table];
      for (std::size_t k = 0; k < sizes_[table]; ++k) g[k] = slopes.keep == 0 ? Real(0) : slopes.keep * g[k];
      for_each_step(pass, [&](std::size_t at, const auto& rows) {
        const Real* dx = embedded_.data() + at * width_;
        for (std::size_t k = 0; k < width_; ++k) g[rows[table] + k] += slopes.share * dx[k];
      });
    }
  }
  std::unique_ptr<Layer<Real>> clone() const override { return std::make_unique<BertLayer>(*this); }

 private:
  // Calls each(step, where its rows of the three tables begin) for each step of all rows.
  template <class Each>
  void for_each_step(const LayerPass<Real>& pass, Each&& each) const {
    for (std::size_t at = 0; at < pass.rows * steps_; ++at)
      each(at, std::array{word_in("bert", pass.x[at], words_) * width_, at % steps_ * width_, std::size_t(0)});
  }

  std::size_t steps_, width_, words_;
  std::vector<std::size_t> sizes_;  // of the tables
  Stack<Real> encoder_;
  LargeArray<Real> embedded_;  // x of each step, then its slopes
};

}  // namespace

KELVIN_LAYER_ROW(bert, BertLayer, bert_parameters, true, bert_plan,
                 "the encoder of BERT on words, normalised last: numbers for each step",
                 {{3}, "['bert 5 4 2 2 3 positions 4', 'mean_over_steps', 'dense 2']", 5}, false, false, bert_layers)

}  // namespace kelvin
