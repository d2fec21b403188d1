// SPDX-License-Identifier: Apache-2.0
// What recurrent layers have in common: they read a sequence step by step and hand their outputs h on to the next step,
// from h = 0 on. The inputs' products are taken for all steps at once, those of h one for each step. Inside, all rows
// of a step lie together, so that what a step reads and writes stays in the nearest cache. An embedding before such a
// layer is done by it. Equations, shapes, order of the gates and scale of the weights are those of PyTorch.
#pragma once
#include <algorithm>

#include "kelvin/function/additions.h"
#include "kelvin/function/affine.h"
#include "kelvin/function/layers/sequence.h"
#include "kelvin/function/product.h"
#include "kelvin/function/sequence_loops.h"
#include "kelvin/function/stack.h"

namespace kelvin {

inline constexpr Parameter recurrent_parameters[] = {
    {"units", "", "numbers that it hands on from step to step"},
    {"layers", "1", "such layers, each on the outputs of the one before"},
    {"output", "\"all\"", "\"all\" steps, or the \"last\" one only"},
};

template <std::size_t gates>
LayerPlan recurrent_plan(const Choice& numbers, const Shape& input) {
  const auto [steps, in] = sequence_given(numbers, input);
  const std::size_t units = whole_number(numbers, "units"), layers = whole_number(numbers, "layers");
  const bool all = is_first_word(numbers, "output", "all", "last");
  if (double(gates * units) * double(std::max(in, units)) > 2147483648.0)
    throw Error("layer \"{}\" from {} to {} has more than 2^31 weights; use fewer units", numbers.name, in, units);
  LayerPlan plan{
      .numbers = numbers, .input = input, .output = all ? Shape{steps, units} : Shape{units}, .takes_words = true};
  plan.fewest_rows = 32;  // the products of a step are as tall as there are rows
  for (std::size_t l = 0; l < layers; ++l) {
    const std::size_t from = l == 0 ? in : units, out = gates * units;
    const auto add = [&](std::string_view name, const Shape& shape, Role role) {
      plan.blocks.push_back(
          {.name = fmt::format("{}_l{}", name, l), .shape = shape, .role = role, .fan_in = units, .fan_out = units});
    };
    add("weight_ih", {out, from}, Role::weight);
    add("weight_hh", {out, units}, Role::weight);
    add("bias_ih", {out}, Role::bias);
    add("bias_hh", {out}, Role::bias);
    plan.kept += steps * (from + units * (2 * gates + 4));
    plan.multiply_adds += double(steps) * double(out) * double(from + units);
  }
  return plan;
}

// Numbers of rows x steps as steps x rows, or of steps x rows as rows x steps.
template <class Real>
void swap_rows_and_steps(std::size_t outer, std::size_t inner, std::size_t numbers, const Real* from, Real* to) {
  for (std::size_t i = 0; i < outer; ++i)
    for (std::size_t k = 0; k < inner; ++k)
      std::copy_n(from + (i * inner + k) * numbers, numbers, to + (k * outer + i) * numbers);
}

// Cell: gates, separate (W h + b is kept by itself), has_state, forward and backward of a CellStep.
template <class Cell, class Real>
class Recurrent final : public Layer<Real> {
 public:
  explicit Recurrent(const LayerPlan& plan)
      : steps_(plan.input[0]),
        words_(plan.words),
        inputs_(words_ > 0 ? plan.blocks[0].shape[1] : plan.input[1]),
        units_(whole_number(plan.numbers, "units")),
        all_(plan.output.rank() == 2) {
    levels_.resize(whole_number(plan.numbers, "layers"));
    for (std::size_t l = 0; l < levels_.size(); ++l) levels_[l].of_x = {l == 0 ? inputs_ : units_, gates_of_step()};
    bias_.resize(gates_of_step());
  }

  void forward(Weights<const Real> given, const LayerPass<Real>& pass, const Pass<Real>&) override {
    const std::size_t step = pass.rows * units_;
    const Weights<const Real> w = weights_from(given, first_block());
    read_inputs(given, pass);
    const Real* x = x_.data();
    for (std::size_t l = 0; l < levels_.size(); ++l) {
      Level& level = levels_[l];
      grow(level.gates, pass.rows * steps_ * gates_of_step());
      if (Cell::separate) grow(level.recurrent, pass.rows * steps_ * gates_of_step());
      grow(level.h, (steps_ + 1) * step);
      if (Cell::has_state) grow(level.state, (steps_ + 1) * step);
      if (Cell::has_state) grow(level.state_values, steps_ * step);
      const Weights<const Real> own = weights_from(w, 4 * l);
      for (std::size_t k = 0; k < gates_of_step(); ++k) bias_[k] = own[2][k] + (Cell::separate ? Real(0) : own[3][k]);
      if (l == 0 && by_word_) read_table(level, given[0], own, pass.rows);
      else level.of_x.forward(pass.rows * steps_, x, own[0], bias_.data(), level.gates.data());
      run_through(level, own, pass.rows);
      x = level.h.data() + step;
    }
    if (all_) swap_rows_and_steps(steps_, pass.rows, units_, x, pass.y);
    else std::copy_n(x + (steps_ - 1) * step, step, pass.y);
  }

  void backward(Weights<const Real> given, const LayerPass<Real>& pass, const Slopes<Real>& of_all) override {
    const std::size_t step = pass.rows * units_;
    const Weights<const Real> w = weights_from(given, first_block());
    const Slopes<Real> slopes = slopes_from(of_all, first_block(), 4 * levels_.size());
    const bool of_inputs = words_ > 0 ? wants(of_all, 0) : pass.dx != nullptr;
    if (words_ > 0 && pass.dx) std::fill_n(pass.dx, pass.rows * steps_, Real(0));
    for (LargeArray<Real>& some : slopes_) grow(some, (steps_ + 1) * step);
    grow(state_slopes_, step);
    grow(sums_, gates_of_step());
    Real* dh = slopes_[levels_.size() % 2].data();
    std::fill_n(dh, all_ ? step : steps_ * step, Real(0));
    if (all_) swap_rows_and_steps(pass.rows, steps_, units_, pass.dy, dh + step);
    else std::copy_n(pass.dy, step, dh + steps_ * step);
    for (std::size_t l = levels_.size(); l-- > 0;) {
      Level& level = levels_[l];
      const Weights<const Real> own = weights_from(w, 4 * l);
      const Slopes<Real> of_level = slopes_from(slopes, 4 * l, 4);
      const bool below = of_inputs || wanted_below(l, slopes);
      unroll(level, own, pass.rows, slopes_[(l + 1) % 2].data());
      write_recurrent(level, pass.rows, of_level);
      if (l == 0 && by_word_) return write_table(level, given, own, of_all);
      Real* dx = !below ? nullptr : l == 0 ? x_slopes(pass.rows * steps_) : slopes_[l % 2].data() + step;
      const Real* x = l == 0 ? x_.data() : levels_[l - 1].h.data() + step;
      level.of_x.weight_slopes(pass.rows * steps_, x, level.gates.data(), of_level, 0);
      if (!below) return;
      level.of_x.input_slopes(pass.rows * steps_, level.gates.data(), own[0], dx);
      if (l > 0) std::fill_n(slopes_[l % 2].data(), step, Real(0));
    }
    if (words_ > 0) write_embedding(of_all);
    else swap_rows_and_steps(steps_, pass.rows, inputs_, x_slopes_.data(), pass.dx);
  }
  std::unique_ptr<Layer<Real>> clone() const override { return std::make_unique<Recurrent>(*this); }

 private:
  struct Level {
    Affine<Real> of_x = {0, 0};
    LargeArray<Real> gates = {}, recurrent = {};  // of each step and row; after the backward pass, their slopes
    LargeArray<Real> h = {}, state = {};          // what the first step is handed, and what each step hands on
    LargeArray<Real> state_values = {};           // tanh(c) of each step
  };
  std::size_t gates_of_step() const { return Cell::gates * units_; }
  std::size_t first_block() const { return words_ > 0 ? 1 : 0; }  // behind the embedding
  Real* x_slopes(std::size_t count) {
    grow(x_slopes_, count * inputs_);
    return x_slopes_.data();
  }

  // Words and inputs as steps x rows. Where words come more often than there are words, W E[x] + b is made once for
  // each word instead of each time that it comes.
  void read_inputs(Weights<const Real> w, const LayerPass<Real>& pass) {
    const std::size_t all = pass.rows * steps_;
    by_word_ = words_ > 0 && all >= words_;
    if (!by_word_) grow(x_, all * inputs_);
    if (words_ == 0) return swap_rows_and_steps(pass.rows, steps_, inputs_, pass.x, x_.data());
    came_.resize(all);
    for (std::size_t i = 0; i < pass.rows; ++i)
      for (std::size_t t = 0; t < steps_; ++t)
        came_[t * pass.rows + i] = std::uint32_t(word_in("embedding", pass.x[i * steps_ + t], words_));
    if (by_word_) return;
    for (std::size_t k = 0; k < all; ++k) std::copy_n(w[0] + came_[k] * inputs_, inputs_, x_.data() + k * inputs_);
  }
  void read_table(Level& level, const Real* embedding, Weights<const Real> w, std::size_t rows) {
    const std::size_t width = gates_of_step();
    grow(table_, words_ * width);
    level.of_x.forward(words_, embedding, w[0], bias_.data(), table_.data());
    for (std::size_t k = 0; k < rows * steps_; ++k)
      std::copy_n(table_.data() + came_[k] * width, width, level.gates.data() + k * width);
  }
  // From the slopes of all gates, those of the table by its words: dW = dT' E, dE = dT W.
  void write_table(Level& level, Weights<const Real> given, Weights<const Real> w, const Slopes<Real>& slopes) {
    const std::size_t width = gates_of_step();
    std::fill_n(table_.data(), words_ * width, Real(0));
    for (std::size_t k = 0; k < came_.size(); ++k)
      add_numbers(width, level.gates.data() + k * width, table_.data() + came_[k] * width);
    level.of_x.weight_slopes(words_, given[0], table_.data(), slopes, 1);
    if (!wants(slopes, 0)) return;
    level.of_x.input_slopes(words_, table_.data(), w[0], x_slopes(words_));
    write_slopes<Real>({x_slopes_.data(), words_ * inputs_}, slopes, 0);
  }
  void write_embedding(const Slopes<Real>& slopes) {
    grow(table_, words_ * inputs_);
    std::fill_n(table_.data(), words_ * inputs_, Real(0));
    for (std::size_t k = 0; k < came_.size(); ++k)
      add_numbers(inputs_, x_slopes_.data() + k * inputs_, table_.data() + came_[k] * inputs_);
    write_slopes<Real>({table_.data(), words_ * inputs_}, slopes, 0);
  }
  bool wanted_below(std::size_t l, const Slopes<Real>& slopes) const {
    for (std::size_t block = 0; block < 4 * l; ++block)
      if (wants(slopes, block)) return true;
    return false;
  }

  CellStep<Real> step_of(Level& level, std::size_t rows, std::size_t t) const {
    const std::size_t at = t * rows * units_, next = at + rows * units_;
    CellStep<Real> step{.rows = rows, .units = units_, .gates = level.gates.data() + Cell::gates * at};
    step.recurrent = Cell::separate ? level.recurrent.data() + Cell::gates * at : nullptr;
    step.h_before = level.h.data() + at;
    step.h = level.h.data() + next;
    if (Cell::has_state) {
      step.c_before = level.state.data() + at;
      step.c = level.state.data() + next;
      step.c_value = level.state_values.data() + at;
    }
    return step;
  }

  // From W x + b of all steps, gates and h of all steps.
  void run_through(Level& level, Weights<const Real> w, std::size_t rows) {
    const std::size_t width = gates_of_step();
    grow(packed_, packed_size(units_, width));
    pack_turned(Unpacked<Real>{width, units_, units_, w[1]}, packed_.data());
    std::fill_n(level.h.data(), rows * units_, Real(0));
    if (Cell::has_state) std::fill_n(level.state.data(), rows * units_, Real(0));
    for (std::size_t t = 0; t < steps_; ++t) {
      const CellStep<Real> step = step_of(level, rows, t);
      Real* product = Cell::separate ? step.recurrent : step.gates;
      multiply_packed<Real>({rows, step.h_before, units_, product, width}, units_, width, packed_.data(),
                            Cell::separate ? w[3] : nullptr, Cell::separate ? 0 : 1);
      Cell::forward(step);
    }
  }

  // Slopes of the gates of all steps, from dh of what each step hands on, to which is added what comes from later
  // steps.
  void unroll(Level& level, Weights<const Real> w, std::size_t rows, Real* dh) {
    const std::size_t width = gates_of_step(), each = rows * units_;
    std::fill_n(state_slopes_.data(), each, Real(0));
    grow(packed_, packed_size(width, units_));
    pack(Unpacked<Real>{width, units_, units_, w[1]}, packed_.data());
    for (std::size_t t = steps_; t-- > 0;) {
      CellStep<Real> step = step_of(level, rows, t);
      step.dh = dh + (t + 1) * each;
      step.dh_before = dh + t * each;
      step.dc = state_slopes_.data();
      Cell::backward(step);
      if (t > 0)
        multiply_packed<Real>({rows, Cell::separate ? step.recurrent : step.gates, width, step.dh_before, units_},
                              width, units_, packed_.data(), nullptr, 1);
    }
  }

  // Slopes of W_hh and of both biases.
  void write_recurrent(Level& level, std::size_t rows, const Slopes<Real>& slopes) {
    const std::size_t width = gates_of_step(), all = rows * steps_;
    const Affine<Real> of_h{units_, width};
    const Real* recurrent = (Cell::separate ? level.recurrent : level.gates).data();
    of_h.weight_slopes(all, level.h.data(), recurrent, slopes, 1);
    if (!wants(slopes, 2) && !wants(slopes, 3)) return;
    sum_rows(all, width, level.gates.data(), sums_.data());
    write_slopes<Real>({sums_.data(), width}, slopes, 2);
    if (Cell::separate && wants(slopes, 3)) sum_rows(all, width, recurrent, sums_.data());
    write_slopes<Real>({sums_.data(), width}, slopes, 3);
  }

  std::size_t steps_, words_, inputs_, units_;  // words: 0 where the inputs are numbers
  bool all_;
  std::vector<Level> levels_;
  std::vector<Real> bias_;
  bool by_word_ = false;                       // W x + b of this pass was made once for each word
  std::vector<std::uint32_t> came_;            // words, step by step
  LargeArray<Real> table_;                     // W E + b of each word, then its slopes
  LargeArray<Real> x_, x_slopes_;              // inputs, step by step
  LargeArray<Real> slopes_[2], state_slopes_;  // dL/dh as h lies, of two levels in turn, and dL/dc
  LargeArray<Real> packed_;                    // W_hh of the level at hand
  LargeArray<Real> sums_;                      // of the gates of a step
};

}  // namespace kelvin
