// SPDX-License-Identifier: Apache-2.0
// What recurrent layers have in common: they read a sequence step by step and hand their outputs h on to the next step,
// from h = 0 on. The inputs' products are taken for all steps at once, those of h one for each step. Equations, shapes,
// order of the gates and scale of the weights are those of PyTorch.
#pragma once
#include <algorithm>

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
  LayerPlan plan{.numbers = numbers, .input = input, .output = all ? Shape{steps, units} : Shape{units}};
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
    plan.kept += steps * units * (2 * gates + 3);
    plan.multiply_adds += double(steps) * double(out) * double(from + units);
  }
  return plan;
}

// Cell: gates, separate (W h + b is kept by itself), has_state, forward and backward of a CellStep.
template <class Cell, class Real>
class Recurrent final : public Layer<Real> {
 public:
  explicit Recurrent(const LayerPlan& plan)
      : steps_(plan.input[0]), units_(whole_number(plan.numbers, "units")), all_(plan.output.rank() == 2) {
    levels_.resize(whole_number(plan.numbers, "layers"));
    for (std::size_t l = 0; l < levels_.size(); ++l)
      levels_[l].of_x = {l == 0 ? plan.input[1] : units_, gates_of_step()};
    zeros_.assign(units_, Real(0));
    bias_.resize(gates_of_step());
  }

  void forward(Weights<const Real> w, const LayerPass<Real>& pass, const Pass<Real>&) override {
    const Real* x = pass.x;
    for (std::size_t l = 0; l < levels_.size(); ++l) {
      Level& level = levels_[l];
      grow(level.gates, pass.rows * steps_ * gates_of_step());
      if (Cell::separate) grow(level.recurrent, pass.rows * steps_ * gates_of_step());
      if (Cell::has_state) grow(level.state, pass.rows * steps_ * units_);
      grow(level.before, pass.rows * steps_ * units_);
      if (!writes_outputs(l)) grow(level.h, pass.rows * steps_ * units_);
      Real* h = writes_outputs(l) ? pass.y : level.h.data();
      read(level, weights_from(w, 4 * l), pass.rows, x, h);
      x = h;
    }
    if (!all_)
      for (std::size_t i = 0; i < pass.rows; ++i)
        std::copy_n(x + (i * steps_ + steps_ - 1) * units_, units_, pass.y + i * units_);
  }

  void backward(Weights<const Real> w, const LayerPass<Real>& pass, const Slopes<Real>& slopes) override {
    const std::size_t numbers = pass.rows * steps_ * units_;
    for (LargeArray<Real>& some : slopes_)
      if (!all_ || levels_.size() > 1) grow(some, numbers);
    grow(state_slopes_, pass.rows * units_);
    grow(sums_, gates_of_step() + units_);
    Real* dh = all_ ? pass.dy : last_step_slopes(pass);
    for (std::size_t l = levels_.size(); l-- > 0;) {
      Level& level = levels_[l];
      const bool below = pass.dx || wanted_below(l, slopes);
      Real* dx = l == 0 ? pass.dx : below ? slopes_[l % 2].data() : nullptr;
      const Real* x = l == 0 ? pass.x : levels_[l - 1].h.data();
      unroll(level, weights_from(w, 4 * l), pass.rows, dh);
      write(level, weights_from(w, 4 * l), pass.rows, x, dx, slopes_from(slopes, 4 * l, 4));
      if (!below) return;
      dh = dx;
    }
  }
  std::unique_ptr<Layer<Real>> clone() const override { return std::make_unique<Recurrent>(*this); }

 private:
  struct Level {
    Affine<Real> of_x = {0, 0};
    LargeArray<Real> gates = {}, recurrent = {};  // of each row and step; after the backward pass, their slopes
    LargeArray<Real> state = {}, before = {};     // c, and h of the step before
    LargeArray<Real> h = {};                      // outputs, unless they are those of the whole
  };
  std::size_t gates_of_step() const { return Cell::gates * units_; }
  bool writes_outputs(std::size_t l) const { return all_ && l + 1 == levels_.size(); }
  bool wanted_below(std::size_t l, const Slopes<Real>& slopes) const {
    for (std::size_t block = 0; block < 4 * l; ++block)
      if (wants(slopes, block)) return true;
    return false;
  }
  Real* last_step_slopes(const LayerPass<Real>& pass) {
    Real* dh = slopes_[levels_.size() % 2].data();
    std::fill_n(dh, pass.rows * steps_ * units_, Real(0));
    for (std::size_t i = 0; i < pass.rows; ++i)
      std::copy_n(pass.dy + i * units_, units_, dh + (i * steps_ + steps_ - 1) * units_);
    return dh;
  }

  // Where a row's step lies in the arrays of a level.
  CellStep<Real> step_of(Level& level, std::size_t row, std::size_t t) const {
    const std::size_t at = row * steps_ + t;
    CellStep<Real> step{.units = units_, .gates = level.gates.data() + at * gates_of_step()};
    step.recurrent = Cell::separate ? level.recurrent.data() + at * gates_of_step() : nullptr;
    step.h_before = level.before.data() + at * units_;
    if (Cell::has_state) {
      step.c = level.state.data() + at * units_;
      step.c_before = t == 0 ? zeros_.data() : step.c - units_;
    }
    return step;
  }

  void read(Level& level, Weights<const Real> w, std::size_t rows, const Real* x, Real* h) {
    const std::size_t width = gates_of_step();
    for (std::size_t k = 0; k < width; ++k) bias_[k] = w[2][k] + (Cell::separate ? Real(0) : w[3][k]);
    level.of_x.forward(rows * steps_, x, w[0], bias_.data(), level.gates.data());
    grow(packed_, packed_size(units_, width));
    pack_turned(width, units_, w[1], packed_.data());
    for (std::size_t t = 0; t < steps_; ++t) {
      Real* product = (Cell::separate ? level.recurrent : level.gates).data() + t * width;
      if (Cell::separate)
        for (std::size_t i = 0; i < rows; ++i) std::copy_n(w[3], width, product + i * steps_ * width);
      if (t > 0)
        multiply_packed<Real>({rows, h + (t - 1) * units_, steps_ * units_, product, steps_ * width}, units_, width,
                              packed_.data(), nullptr, 1);
      for (std::size_t i = 0; i < rows; ++i) {
        CellStep<Real> step = step_of(level, i, t);
        if (t == 0) std::fill_n(level.before.data() + i * steps_ * units_, units_, Real(0));
        step.h = h + (i * steps_ + t) * units_;
        Cell::forward(step);
        if (t + 1 < steps_) std::copy_n(step.h, units_, level.before.data() + (i * steps_ + t + 1) * units_);
      }
    }
  }

  // Slopes of the gates of all steps, from dh of all steps, to which is added what comes from later steps.
  void unroll(Level& level, Weights<const Real> w, std::size_t rows, Real* dh) {
    const std::size_t width = gates_of_step();
    std::fill_n(state_slopes_.data(), rows * units_, Real(0));
    grow(packed_, packed_size(width, units_));
    pack(width, units_, w[1], packed_.data());
    for (std::size_t t = steps_; t-- > 0;) {
      for (std::size_t i = 0; i < rows; ++i) {
        CellStep<Real> step = step_of(level, i, t);
        Real* at = dh + (i * steps_ + t) * units_;
        step.dh = at;
        step.dh_before = t == 0 ? sums_.data() + width : at - units_;
        step.dc = state_slopes_.data() + i * units_;
        Cell::backward(step);
      }
      const Real* slopes = (Cell::separate ? level.recurrent : level.gates).data() + t * width;
      if (t > 0)
        multiply_packed<Real>({rows, slopes, steps_ * width, dh + (t - 1) * units_, steps_ * units_}, width, units_,
                              packed_.data(), nullptr, 1);
    }
  }

  void write(Level& level, Weights<const Real> w, std::size_t rows, const Real* x, Real* dx,
             const Slopes<Real>& slopes) {
    const std::size_t width = gates_of_step(), all = rows * steps_;
    Affine<Real>& of_x = level.of_x;
    const Affine<Real> of_h{units_, width};
    const Real* recurrent = (Cell::separate ? level.recurrent : level.gates).data();
    of_x.weight_slopes(all, x, level.gates.data(), slopes, 0);
    of_h.weight_slopes(all, level.before.data(), recurrent, slopes, 1);
    if (wants(slopes, 2) || wants(slopes, 3)) {
      sum_rows(all, width, level.gates.data(), sums_.data());
      write_slopes<Real>({sums_.data(), width}, slopes, 2);
      if (Cell::separate && wants(slopes, 3)) sum_rows(all, width, recurrent, sums_.data());
      write_slopes<Real>({sums_.data(), width}, slopes, 3);
    }
    if (dx) of_x.input_slopes(all, level.gates.data(), w[0], dx);
  }

  std::size_t steps_, units_;
  bool all_;
  std::vector<Level> levels_;
  std::vector<Real> zeros_, bias_;
  LargeArray<Real> slopes_[2], state_slopes_;
  LargeArray<Real> packed_;  // W_hh of the level at hand
  LargeArray<Real> sums_;    // of the gates of a step, and what a first step has nobody to hand to
};

}  // namespace kelvin
